#include "app/predictions.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "app/devices.h"
#include "app/reports.h"

namespace tilescope {
namespace {

// "12.34 us with its launch, 10.68 us without, on NVIDIA B200, predicted: 1113 TFLOP/s, 49% of its
// peak"
std::string text_of(const sim::Statistics& s, const PreparedRun& run) {
  std::string out = fmt::format("{}: {}\n{}, on {}, predicted", run.kernel, describe(run),
                                text(s.time()), s.device);
  if (s.rate > 0) out += fmt::format(": {:.1f} TFLOP/s", s.rate * 1e-12);
  if (s.rate > 0 && s.peak > 0) out += fmt::format(", {:.0f}% of its peak", 100 * s.rate / s.peak);
  out += '\n';
  if (s.blocks_simulated < s.blocks) {
    out += fmt::format("from {} of {} CTAs; error up to {:.0f}%\n", s.blocks_simulated, s.blocks,
                       std::ceil(100 * s.uncertain));
  }
  return out;
}

nlohmann::ordered_json json_of_prediction(const sim::Statistics& s) {
  return {{"device", s.device},
          {"seconds", s.seconds},
          {"cycles", s.end},
          {"tflops", s.rate > 0 ? nlohmann::ordered_json(s.rate * 1e-12) : nullptr},
          {"blocks", s.blocks},
          {"blocks_simulated", s.blocks_simulated},
          {"uncertain", s.uncertain}};
}

}  // namespace

int predict(const PreparedRun& run, Order order, const ProfileOptions& profile,
            const sim::RecordLimits& limits, bool verbose, std::uint64_t most, Terminal& terminal) {
  sim::Recorder recorder(limits);
  order.calculates = false;
  order.recorder = &recorder;
  std::vector<OpenDevice> simulator;
  simulator.push_back(open_simulator(order));
  Outcome<std::vector<Ran>> ran = start_on(simulator, run.job);
  if (!ran) return terminal.fail(ran.error());
  Ran& one = ran->front();
  if (const auto error = finish(one, run.kernel, terminal, {most, {}}))
    return terminal.fail(*error);
  const sim::Record record = take_record(recorder, run, order.device);
  if (const auto error = write_profiles(record, profile, terminal)) return terminal.fail(*error);
  const sim::Statistics statistics = sim::statistics_of(record);
  const std::vector<Report>& reports = one.execution->reports();
  const bool faulted = one.state == RunState::fault;
  if (terminal.json()) {
    nlohmann::ordered_json document = {{"ok", !faulted}};
    if (faulted) {
      document["error"] = {{"kind", name_of(ErrorKind::fault)},
                           {"sentence", reports.back().sentence},
                           {"where", text(reports.back().site)}};
    }
    document["kernel"] = run.kernel;
    if (!faulted) document["predicted"] = json_of_prediction(statistics);
    document["reports"] = to_json(reports);
    if (profile.stats) document["stats"] = json_of(statistics);
    terminal.document(std::move(document));
    return faulted ? exit_code(ErrorKind::fault) : 0;
  }
  if (!reports.empty()) terminal.say(text_of_reports(reports, verbose));
  if (!faulted) terminal.print(text_of(statistics, run));
  if (profile.stats) terminal.print("\n" + text(statistics, source_line));
  return faulted ? exit_code(ErrorKind::fault) : 0;
}

}  // namespace tilescope
