#include "app/searches.h"

#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/files.h"
#include "app/heartbeat.h"
#include "app/reports.h"

namespace tilescope {

Outcome<Searched> search_orders(const PreparedRun& run, const Order& order, std::uint64_t runs,
                                Terminal& terminal) {
  Pieces pieces;
  Outcome<sim::Machine> machine = sim::Machine::load(run.job, simulator_options(order));
  if (!machine) return machine.error();
  sim::Search search(std::move(*machine), {.runs = runs});
  watch_for_interrupt();
  const auto advance = [&] {
    const auto from = std::chrono::steady_clock::now();
    const RunState state = search.advance(pieces.next());
    pieces.took(pieces.next(), std::chrono::steady_clock::now() - from);
    return state;
  };
  while (advance() == RunState::running) {
    const auto [tried, known, points, holds] = search.progress();
    terminal.progress(fmt::format("schedule {} of {}", tried + 1, known),
                      static_cast<double>(tried) / static_cast<double>(known));
    if (interrupted()) {
      terminal.end_progress();
      return Error{
          ErrorKind::interrupted,
          fmt::format(
              "Interrupted after {} of {} schedules, none of which faulted; nothing was written.",
              tried, known),
          ""};
    }
  }
  terminal.end_progress();
  return Searched{search.progress(), order.schedule.seed, search.cut_short(), search.found(),
                  search.hazards()};
}

Outcome<sim::Schedule> schedule_in(const std::string& text) {
  Outcome<sim::Schedule> schedule = sim::parse_schedule(text);
  if (schedule.ok() || file_stamp(text) == 0) return schedule;
  constexpr std::uint64_t most = 1 << 20;
  const Outcome<std::string> file = read_text(text, most);
  if (!file.ok()) return file.error();
  Outcome<sim::Schedule> read = sim::parse_schedule(sim::words_of_schedule(*file));
  if (read.ok()) return read;
  return Error{ErrorKind::unreadable, read.error().sentence, text};
}

std::string schedule_of(const Searched& searched) {
  return sim::schedule_text({searched.seed, searched.found->holds});
}

std::string schedule_of(const Searched& searched, const sim::Search::Hazard& hazard) {
  return sim::schedule_text({searched.seed, hazard.holds});
}

std::string text(const Searched& searched) {
  const auto& p = searched.progress;
  if (!searched.found) {
    const auto number = [](std::uint64_t n, std::string_view what) {
      return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
    };
    return fmt::format("search: no fault in {}, holding warps at {}{}\n",
                       number(p.tried, "schedule"), number(p.points, "meeting point"),
                       searched.cut_short ? "; there are more schedules: --search N" : "");
  }
  return fmt::format("search: schedule {} faults; again with --schedule {}\n", p.tried,
                     schedule_of(searched));
}

nlohmann::ordered_json to_json(const Searched& searched) {
  nlohmann::ordered_json out = {{"tried", searched.progress.tried},
                                {"points", searched.progress.points},
                                {"all", !searched.cut_short && !searched.found},
                                {"schedule", nullptr}};
  if (searched.found) {
    out["schedule"] = schedule_of(searched);
    out["reports"] = to_json(searched.found->reports);
  }
  for (const sim::Search::Hazard& h : searched.hazards) {
    out["hazards"].push_back(
        {{"schedule", schedule_of(searched, h)}, {"report", to_json(std::vector{h.report})[0]}});
  }
  return out;
}

}  // namespace tilescope
