#include "app/python/settings.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "app/descriptions.h"
#include "app/files.h"
#include "app/heartbeat.h"
#include "app/python/values.h"
#include "core/io/suppressions_file.h"

namespace tilescope::python {
namespace {

constexpr std::int64_t most_threads = 1024;

// A word's value, which `words` loses; nothing where it is not there or None.
std::optional<nb::object> take(nb::dict& words, const char* name) {
  if (!words.contains(name)) return std::nullopt;
  nb::object value = words[name];
  nb::del(words[name]);
  if (value.is_none()) return std::nullopt;
  return value;
}

std::optional<std::string> word(nb::dict& words, const char* name) {
  const auto value = take(words, name);
  if (!value) return std::nullopt;
  if (!PyUnicode_Check(value->ptr())) {
    refuse(fmt::format("{}={}: a name as text is needed.", name, about(*value)));
  }
  return std::string(text_in(*value));
}

std::optional<std::int64_t> count(nb::dict& words, const char* name, std::int64_t most) {
  const auto value = take(words, name);
  if (!value) return std::nullopt;
  const std::int64_t number = number_of(*value);
  if (number < 1 || number > most) {
    refuse(fmt::format("{}={}: a number from 1 to {}.", name, number, most));
  }
  return number;
}

constexpr std::int64_t most_orders = 1'000'000;

// What the package has itself, by a compiler's name: tilescope/suppressions/triton.toml.
std::string shipped_rules(const std::string& name) {
  namespace fs = std::filesystem;
  const fs::path folder =
      fs::path(path_of(nb::module_::import_("tilescope._tilescope").attr("__file__")))
          .parent_path() /
      "suppressions";
  const fs::path file = folder / (name + ".toml");
  std::error_code ignored;
  if (fs::is_regular_file(file, ignored)) return file.string();
  std::vector<std::string> known;
  for (const auto& each : fs::directory_iterator(folder, ignored))
    known.push_back(each.path().stem().string());
  std::sort(known.begin(), known.end());
  refuse(
      fmt::format("suppressions=\"{}\": the package has rules for {}; a file of one's own ends "
                  "in .toml.",
                  name, fmt::join(known, ", ")));
}

void read_rules(const std::string& given, std::vector<Suppression>& rules) {
  const bool is_file = given.find_first_of("./") != given.npos;
  const std::string path = is_file ? given : shipped_rules(given);
  const std::string text = taken(read_text(path));
  for (Suppression& rule : taken(parse_suppressions(text, path))) rules.push_back(std::move(rule));
}

}  // namespace

bool take_flag(nb::dict& words, const char* name, bool usual) {
  const auto value = take(words, name);
  if (!value) return usual;
  if (!PyBool_Check(value->ptr())) {
    refuse(fmt::format("{}={}: True or False.", name, about(*value)));
  }
  return value->ptr() == Py_True;
}

Settings take_settings(nb::dict& words) {
  Settings out;
  out.strict = take_flag(words, "strict", false);
  out.record = take_flag(words, "record", false);
  out.lazy = take_flag(words, "lazy", false);
  out.device = word(words, "device");
  if (const auto numerics = word(words, "numerics")) {
    if (*numerics != "exact" && *numerics != "fast") {
      refuse(fmt::format("numerics=\"{}\": exact (as the chip adds) or fast.", *numerics));
    }
    out.exact = *numerics == "exact";
  }
  if (const auto schedule = take(words, "schedule")) {
    out.schedule = taken_of_words(sim::parse_schedule(str_of(*schedule)));
  }
  out.threads = static_cast<std::uint64_t>(count(words, "threads", most_threads).value_or(0));
  out.most_instructions =
      static_cast<std::uint64_t>(count(words, "max_instructions", INT64_MAX).value_or(0));
  if (const auto orders = take(words, "search")) {
    const std::int64_t number = number_of(*orders);
    if (number < 0 || number > most_orders) {
      refuse(fmt::format("search={}: a number of orders, from 0 to {}.", number, most_orders));
    }
    out.search = static_cast<std::uint64_t>(number);
  }
  if (const auto files = take(words, "suppressions")) {
    if (PyList_Check(files->ptr()) || PyTuple_Check(files->ptr())) {
      for (const nb::handle each : nb::iter(*files)) read_rules(path_of(each), out.rules);
    } else {
      read_rules(path_of(*files), out.rules);
    }
  }
  return out;
}

std::string window_words(const Settings& settings) {
  std::string out;
  if (settings.device) out += fmt::format(" --device \"{}\"", *settings.device);
  if (!settings.schedule.is_usual()) {
    out += fmt::format(" --schedule \"{}\"", sim::schedule_text(settings.schedule));
  }
  if (settings.lazy) out += " --lazy on";
  if (settings.exact) out += fmt::format(" --numerics {}", *settings.exact ? "exact" : "fast");
  return out;
}

Order order_of(const Settings& settings, std::string_view ptx) {
  Order order;
  order.schedule = settings.schedule;
  order.lazy = settings.lazy;
  order.exact = settings.exact.value_or(true);
  if (settings.device) {
    order.device = taken_of_words(device_described(*settings.device));
    order.device_named = true;
    if (const auto target = target_for(order.device, ptx); !target) refuse(target.error());
  } else if (const auto usual = usual_device_for(ptx)) {
    order.device = *usual;
  }
  // An order of one's own has no time.
  order.clocked = !order.lazy && order.schedule.is_usual();
  return order;
}

RunState simulate(sim::Machine& machine, const Settings& settings, const std::string& kernel) {
  const nb::gil_scoped_release released;
  Pieces pieces;
  for (;;) {
    const std::uint64_t before = machine.progress().instructions;
    const std::uint64_t most = settings.most_instructions;
    if (most != 0 && before >= most) {
      const nb::gil_scoped_acquire held;
      refuse(
          fmt::format("{} has executed {} PTX instructions by warps, and max_instructions allows "
                      "{}; {} of {} CTAs have ended, and no array was written.",
                      kernel, before, most, machine.progress().done, machine.progress().total));
    }
    const auto from = std::chrono::steady_clock::now();
    const std::uint64_t piece = pieces.next();
    const RunState state = machine.run(most != 0 ? std::min(piece, most - before) : piece);
    pieces.took(machine.progress().instructions - before, std::chrono::steady_clock::now() - from);
    if (state == RunState::done || state == RunState::fault) return state;
    const nb::gil_scoped_acquire held;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }
}

std::unique_ptr<Workers> workers_for(const Settings& settings, std::string_view ptx) {
  const std::uint64_t threads =
      settings.threads ? settings.threads : std::max(1u, std::thread::hardware_concurrency());
  if (threads < 2 || ptx.find("mma.") == std::string_view::npos) return nullptr;
  return std::make_unique<Workers>(threads - 1);
}

void tell(Run& run, const sim::Machine& machine, const Settings& settings) {
  run.reports = sift(machine.reports(), settings.rules).kept;
  run.seconds = machine.seconds();
  run.instructions = machine.instructions();
  run.blocks = machine.progress().done;
  run.printed = machine.printed();
}

namespace {

std::vector<Report> reports_of(const std::vector<Report>& reports, Weight weight) {
  std::vector<Report> out;
  std::copy_if(reports.begin(), reports.end(), std::back_inserter(out),
               [&](const Report& r) { return r.weight == weight; });
  return out;
}

bool same_finding(const Report& a, const Report& b) {
  return a.kind == b.kind && a.site.kernel == b.site.kernel && a.site.ptx_line == b.site.ptx_line;
}

}  // namespace

std::optional<OrderVerdict> try_orders(const Settings& settings, Order order, Run& first,
                                       const OtherOrders& others) {
  order.recorder = nullptr;
  order.clocked = false;
  for (std::uint64_t n = 1; n <= settings.search; ++n) {
    order.schedule.seed = settings.schedule.seed + n;
    const std::string name = fmt::format("schedule=\"{}\"{}", sim::schedule_text(order.schedule),
                                         settings.lazy ? ", lazy=True" : "");
    auto [state, run] = others.again(order);
    const bool fault = state == RunState::fault;
    if (fault || settings.strict) {
      const std::vector<Report> worst =
          reports_of(run.reports, fault ? Weight::fault : Weight::hazard);
      if (!worst.empty()) {
        return OrderVerdict{fault,
                            fmt::format("in another order, {} ({} of {}): {}", name, n,
                                        settings.search, text_of_reports(worst, false, in_the_run)),
                            std::move(run)};
      }
    }
    if (const std::string difference = others.difference(); !difference.empty()) {
      return OrderVerdict{false,
                          fmt::format("in another order, {} ({} of {}), the result is another "
                                      "one: {}",
                                      name, n, settings.search, difference),
                          std::move(run)};
    }
    for (Report& report : run.reports) {
      if (std::none_of(first.reports.begin(), first.reports.end(),
                       [&](const Report& known) { return same_finding(known, report); })) {
        report.sentence += fmt::format(" (seen with {})", name);
        first.reports.push_back(std::move(report));
      }
    }
  }
  return std::nullopt;
}

nb::object judged(Run run, RunState state, const Settings& settings) {
  std::vector<Report> worst;
  if (state == RunState::fault || settings.strict) {
    worst = reports_of(run.reports, state == RunState::fault ? Weight::fault : Weight::hazard);
  }
  nb::object object = nb::cast(std::move(run));
  if (worst.empty()) return object;
  raise_with_run(state == RunState::fault, text_of_reports(worst, false, in_the_run),
                 std::move(object));
}

nb::object judged(Run run, RunState state, const Settings& settings,
                  std::optional<OrderVerdict> verdict) {
  nb::object answer = judged(std::move(run), state, settings);
  if (!verdict) return answer;
  raise_with_run(verdict->fault, verdict->sentence, nb::cast(std::move(verdict->run)));
}

}  // namespace tilescope::python
