#include "viz/machine/machine_line.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/record/line_counters.h"
#include "viz/machine/access_words.h"
#include "viz/scene/number_words.h"

namespace tilescope {
namespace {

// "256 where 64 would do"
std::string with_ideal(std::uint64_t count, std::uint64_t ideal) {
  return ideal && ideal < count
             ? fmt::format("{} where {} would do", grouped(count), grouped(ideal))
             : grouped(count);
}

bool is_of_line(const LiveRun& run, std::uint32_t pc, const RunCursor::SourceLine& line) {
  if (line.file.empty()) return run.stepper.machine().program().code[pc].line == line.line;
  const SourcePlaces::Place& place = run.places.of[pc];
  return place.line == line.line && run.places.files[place.file] == line.file;
}

}  // namespace

sim::LineCounters counters_of(const sim::Record& record, const LiveRun& run,
                              const RunCursor::SourceLine& line) {
  sim::LineCounters sum;
  const ptx::Program& program = run.stepper.machine().program();
  if (record.counters.size() != program.code.size()) return sum;
  for (std::uint32_t pc = 0; pc < program.code.size(); ++pc) {
    if (is_of_line(run, pc, line)) sim::add(sum, record.counters[pc]);
  }
  return sum;
}

std::string accesses_of(const LiveRun& run, const RunCursor::SourceLine& line) {
  const ptx::Program& program = run.stepper.machine().program();
  std::vector<std::string> all;
  for (std::uint32_t pc = 0; pc < program.code.size(); ++pc) {
    if (!is_of_line(run, pc, line)) continue;
    std::string each = access_words(program.code[pc].text);
    if (!each.empty() && std::find(all.begin(), all.end(), each) == all.end()) {
      all.push_back(std::move(each));
    }
  }
  std::string out;
  for (const std::string& each : all) out += (out.empty() ? "" : ", ") + each;
  return out;
}

Lines inspect(const sim::LineCounters& c, bool known_time) {
  Lines out;
  out.emplace_back("issued", fmt::format("{} times by warps", grouped(c.issued)));
  if (c.issued) {
    out.emplace_back(
        "lanes active",
        fmt::format("{:.3g} of 32", static_cast<double>(c.lanes) / static_cast<double>(c.issued)));
  }
  std::vector<std::size_t> causes;
  for (std::size_t i = 0; i < c.stalled.size(); ++i) {
    if (c.stalled[i]) causes.push_back(i);
  }
  std::sort(causes.begin(), causes.end(),
            [&](std::size_t a, std::size_t b) { return c.stalled[a] > c.stalled[b]; });
  for (const std::size_t cause : causes) {
    const auto stall = static_cast<sim::Stall>(cause);
    out.emplace_back(
        fmt::format("{} {}", sim::letter_of(stall), sim::name_of(stall)),
        fmt::format("{} {}", grouped(c.stalled[cause]), known_time ? "cycles" : "instructions"));
  }
  const auto moved = [&](const char* name, std::uint64_t bytes) {
    if (bytes) out.emplace_back(name, fmt::format("{} bytes", grouped(bytes)));
  };
  moved("shared memory", c.shared_bytes);
  moved("global memory", c.global_bytes);
  moved("from memory", c.memory_bytes);
  moved("TMEM", c.tensor_bytes);
  if (c.wavefronts) out.emplace_back("wavefronts", with_ideal(c.wavefronts, c.ideal_wavefronts));
  if (c.sectors) out.emplace_back("sectors", with_ideal(c.sectors, c.ideal_sectors));
  return out;
}

std::optional<RunCursor::SourceLine> line_looked_at(const LiveRun& run, const RunCursor& spot) {
  if (spot.line) return spot.line;
  for (const sim::WarpState& warp : sim::warps_of(run.stepper.machine(), spot.block)) {
    if (warp.index != spot.warp) continue;
    if (warp.splits.empty()) continue;
    const std::uint32_t pc = warp.splits[sim::split_of_lane(warp, spot.lane)].pc;
    if (pc >= run.places.of.size()) continue;
    const SourcePlaces::Place& place = run.places.of[pc];
    if (!place.line)
      return RunCursor::SourceLine{"", run.stepper.machine().program().code[pc].line};
    return RunCursor::SourceLine{run.places.files[place.file], place.line};
  }
  return {};
}

}  // namespace tilescope
