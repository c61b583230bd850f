#include "core/profile/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "core/profile/statistics_sum.h"
#include "core/record/line_counters.h"

namespace tilescope::sim {

void add(LineCounters& sum, const LineCounters& one) {
  sum.issued += one.issued;
  sum.lanes += one.lanes;
  for (std::size_t i = 0; i < sum.stalled.size(); ++i) sum.stalled[i] += one.stalled[i];
  sum.shared_bytes += one.shared_bytes;
  sum.global_bytes += one.global_bytes;
  sum.memory_bytes += one.memory_bytes;
  sum.tensor_bytes += one.tensor_bytes;
  sum.wavefronts += one.wavefronts;
  sum.ideal_wavefronts += one.ideal_wavefronts;
  sum.sectors += one.sectors;
  sum.ideal_sectors += one.ideal_sectors;
}

namespace {

std::uint64_t stalls_of(const LineCounters& counters) {
  std::uint64_t sum = 0;
  for (std::size_t i = 1; i < counters.stalled.size(); ++i) sum += counters.stalled[i];
  return sum;
}

bool silent(const LineCounters& c) {
  return c.issued == 0 && stalls_of(c) == 0 && c.shared_bytes == 0 && c.global_bytes == 0 &&
         c.tensor_bytes == 0;
}

void add_lines(const Record& record, Statistics& out) {
  using Place = std::tuple<bool, std::uint32_t, std::uint32_t>;  // source known, file, line
  std::map<Place, LineUse> lines;
  std::map<Place, std::uint64_t> worst;
  const std::size_t pcs = std::min(record.lines.size(), record.counters.size());
  for (std::size_t pc = 0; pc < pcs; ++pc) {
    const LineCounters& counters = record.counters[pc];
    if (silent(counters)) continue;
    const RecordedLine& line = record.lines[pc];
    // What was inlined counts for the line that calls it: everything waits in the same wrappers.
    const bool called = line.caller_line != 0 && line.caller_file < record.sources.size();
    const std::uint32_t file = called ? line.caller_file : line.file;
    const std::uint32_t number = called ? line.caller_line : line.line;
    const bool source = number != 0 && file < record.sources.size();
    const Place place = source ? Place{true, file, number} : Place{false, 0, line.ptx_line};
    LineUse& use = lines[place];
    if (source) use.file = record.sources[file], use.line = number;
    if (use.ptx_line == 0 || line.ptx_line < use.ptx_line) use.ptx_line = line.ptx_line;
    const std::uint64_t stalls = stalls_of(counters);
    if (use.ptx.empty() || stalls > worst[place]) use.ptx = text(line), worst[place] = stalls;
    use.stalls += stalls;
    add(use.counters, counters);
    add(out.sum, counters);
  }
  for (auto& [place, use] : lines) out.lines.push_back(std::move(use));
  worst_first(out.lines);
}

}  // namespace

void worst_first(std::vector<LineUse>& lines) {
  std::stable_sort(lines.begin(), lines.end(), [](const LineUse& a, const LineUse& b) {
    return std::pair(a.stalls, a.counters.issued) > std::pair(b.stalls, b.counters.issued);
  });
}

void add_stalls(Statistics& out) {
  out.stalls.clear();
  out.stalled = stalls_of(out.sum);
  for (std::size_t i = 1; i < out.sum.stalled.size(); ++i) {
    if (out.sum.stalled[i] == 0) continue;
    out.stalls.push_back(
        {{static_cast<Stall>(i), Unit::count_},
         static_cast<double>(out.sum.stalled[i]) / static_cast<double>(out.stalled)});
  }
  std::stable_sort(out.stalls.begin(), out.stalls.end(),
                   [](const Waited& a, const Waited& b) { return a.share > b.share; });
}

namespace {

void add_pipes(const Record& record, double scale, Statistics& out) {
  for (std::size_t i = 0; i < record.pipes.size(); ++i) {
    const PipeCounters& pipe = record.pipes[i];
    if (!(pipe.busy > 0) || !(pipe.copies > 0) || record.end == 0) continue;
    const double cycles = scale * pipe.busy / pipe.copies;
    const double share = cycles / static_cast<double>(record.end);
    out.pipes.push_back({static_cast<Pipe>(i), std::min(1.0, share), cycles});
  }
  std::stable_sort(out.pipes.begin(), out.pipes.end(),
                   [](const PipeUse& a, const PipeUse& b) { return a.busy > b.busy; });
}

// What the tensor cores multiply, by the first product that was executed.
ProductType product_of(const Record& record) {
  const std::size_t pcs = std::min(record.lines.size(), record.counters.size());
  for (std::size_t pc = 0; pc < pcs; ++pc) {
    const ProductType product = record.lines[pc].product;
    if (record.counters[pc].issued != 0 && product != ProductType::none) return product;
  }
  return ProductType::none;
}

void add_rates(const Record& record, double scale, Statistics& out) {
  const DeviceTimes& times = record.device.times;
  const auto cycles = static_cast<double>(record.end);
  const auto processors = static_cast<double>(record.device.processors);
  const ProductType product = product_of(record);
  const bool multiplies = product != ProductType::none;
  const double macs = multiplies ? rate_of(times, product) : times.floating.lanes;
  out.peak_of = multiplies ? fmt::format("{} MMAs", name_of(product)) : "f32 arithmetic";
  // Tensor cores that are kept busy lower the clock.
  const bool slower = multiplies && times.tensor_clock > 0;
  out.peak = 2 * macs * processors * (slower ? times.tensor_clock : times.clock) * 1e9;
  if (record.seconds > 0) out.rate = record.work / record.seconds;

  out.shared.limit = times.shared_bytes;
  // Where power lowers the processors' clock, L2 and memory do more in a cycle of it.
  const double slowed = times.power_limit > 0 && out.clock > 0 ? times.clock / out.clock : 1;
  out.l2.limit = times.l2_bytes * slowed;
  out.memory.limit = times.clock > 0 ? times.memory_bandwidth / times.clock * slowed : 0;
  out.tensor.limit = times.tensor_load_bytes + times.tensor_store_bytes;
  if (cycles <= 0) return;
  const auto rate = [&](Traffic& traffic, double copies) {
    traffic.rate = scale * static_cast<double>(traffic.bytes) / cycles / copies;
  };
  if (processors > 0) rate(out.shared, processors), rate(out.tensor, processors);
  rate(out.l2, 1);
  rate(out.memory, 1);
}

// What sets how many blocks an SM has, as far as launch and device say it.
std::string limit_of(const Record& record, const Statistics& s) {
  if (s.resident_blocks == 0) return "";
  const DeviceDescription& d = record.device;
  const std::uint64_t threads = std::uint64_t{32} * s.warps;
  const std::uint64_t shared = std::uint64_t{record.launch.dynamic_shared} + d.reserved;
  if (s.blocks <= std::uint64_t{s.processors} * s.resident_blocks) return "the size of the grid";
  if (threads && d.threads / threads == s.resident_blocks) return "threads";
  if (d.blocks == s.resident_blocks) return "CTAs per SM";
  if (shared && d.shared / shared == s.resident_blocks) return "shared memory";
  return "shared memory or registers";
}

}  // namespace

std::string text(const WaitKey& key) {
  if (key.stall == Stall::mbarrier) {
    switch (key.by) {
      case Unit::copy_in:
      case Unit::async_copy:
        return "copies in (mbarrier)";
      case Unit::commit:
        return "MMAs (mbarrier)";
      case Unit::warp:
        return "other warps (mbarrier)";
      case Unit::remote:
        return "other CTAs (mbarrier)";
      default:
        return "an mbarrier";
    }
  }
  if (key.stall == Stall::siblings && key.by == Unit::warp) return "nanosleep";
  const std::string_view name = name_of(key.stall), waits = "waits for ";
  return std::string(name.substr(name.starts_with(waits) ? waits.size() : 0));
}

std::string text(const RecordedLine& line) {
  std::string out;
  for (const char c : line.text) {
    if (c != ' ' && c != '\t') {
      out += c;
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
  }
  return out;
}

const PipeUse* find(const Statistics& statistics, Pipe pipe) {
  for (const PipeUse& use : statistics.pipes) {
    if (use.pipe == pipe) return &use;
  }
  return nullptr;
}

const UnitUse* find(const Statistics& statistics, Unit unit) {
  for (const UnitUse& use : statistics.units) {
    if (use.unit == unit) return &use;
  }
  return nullptr;
}

Statistics statistics_of(const Record& record) {
  Statistics out;
  out.kernel = record.kernel;
  out.what = record.what;
  out.device = record.device.name;
  out.known_time = record.timed;
  out.blocks = record.launch.grid.count();
  out.blocks_simulated = record.blocks_simulated ? record.blocks_simulated : out.blocks;
  out.warps = static_cast<std::uint32_t>((record.launch.block.count() + 31) / 32);
  out.end = record.end;
  out.uncertain = record.uncertain;
  const RunTime time = run_time_of(record);
  out.seconds = time.seconds;
  out.clock = time.clock;
  out.launch = time.launch;
  out.work = record.work;
  out.resident_blocks = record.resident_blocks;
  out.resident_warps = record.resident_warps;
  out.warps_at_most = record.device.threads / 32;
  out.limited_by = record.limited_by;
  out.processors = record.device.processors;
  for (const Report& report : record.reports) {
    if (report.weight == Weight::fault) ++out.faults;
    if (report.weight == Weight::hazard) ++out.hazards;
  }
  // Counters are of what was simulated, and the time is that of the whole grid.
  const double scale = out.blocks_simulated > 0 ? static_cast<double>(out.blocks) /
                                                      static_cast<double>(out.blocks_simulated)
                                                : 1;
  add_lines(record, out);
  add_stalls(out);
  out.shared.bytes = out.sum.shared_bytes;
  out.l2.bytes = out.sum.global_bytes;
  out.memory.bytes = out.sum.memory_bytes;
  out.tensor.bytes = out.sum.tensor_bytes;
  if (record.timed) {
    add_pipes(record, scale, out);
    add_rates(record, scale, out);
  }
  look_at_events(record, out);
  if (out.limited_by.empty()) out.limited_by = limit_of(record, out);
  out.verdict = verdict_of(out);
  return out;
}

}  // namespace tilescope::sim
