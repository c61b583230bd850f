#include "core/profile/statistics_sum.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "core/record/line_counters.h"

namespace tilescope::sim {
namespace {

// What `a` is of `a_weight`, and `b` of `b_weight`, is this of both.
double mean(double a, double a_weight, double b, double b_weight) {
  const double all = a_weight + b_weight;
  return all > 0 ? (a * a_weight + b * b_weight) / all : 0;
}

void mix(std::vector<Waited>& sum, double weight, const std::vector<Waited>& one,
         double one_weight) {
  for (Waited& w : sum) w.share = mean(w.share, weight, 0, one_weight);
  for (const Waited& w : one) {
    const double share = mean(0, weight, w.share, one_weight);
    const auto known = std::find_if(sum.begin(), sum.end(),
                                    [&](const Waited& other) { return other.key == w.key; });
    if (known == sum.end()) {
      sum.push_back({w.key, share});
    } else {
      known->share += share;
    }
  }
  std::stable_sort(sum.begin(), sum.end(),
                   [](const Waited& a, const Waited& b) { return a.share > b.share; });
}

void add_pipes(Statistics& sum, const Statistics& one) {
  for (const PipeUse& p : one.pipes) {
    const auto known = std::find_if(sum.pipes.begin(), sum.pipes.end(),
                                    [&](const PipeUse& other) { return other.pipe == p.pipe; });
    if (known == sum.pipes.end()) {
      sum.pipes.push_back(p);
    } else {
      known->cycles += p.cycles;
    }
  }
  const auto end = static_cast<double>(sum.end);
  for (PipeUse& p : sum.pipes) p.busy = end > 0 ? std::min(1.0, p.cycles / end) : 0;
  std::stable_sort(sum.pipes.begin(), sum.pipes.end(),
                   [](const PipeUse& a, const PipeUse& b) { return a.busy > b.busy; });
}

void add_roles(Statistics& sum, const Statistics& one) {
  for (const Role& r : one.roles) {
    const auto known = std::find_if(sum.roles.begin(), sum.roles.end(), [&](const Role& other) {
      return other.name == r.name && other.warps == r.warps;
    });
    if (known == sum.roles.end()) {
      sum.roles.push_back(r);
      continue;
    }
    known->running = mean(known->running, known->cycles, r.running, r.cycles);
    mix(known->waits, known->cycles, r.waits, r.cycles);
    known->instructions += r.instructions;
    known->cycles += r.cycles;
  }
}

// `before`: cycles of the launches that are in the sum already.
void add_units(Statistics& sum, const Statistics& one, double before) {
  const auto cycles = static_cast<double>(one.end);
  const auto add = [&](UnitUse& to, const UnitUse& u) {
    to.busy = mean(to.busy, before, u.busy, cycles);
    to.in_flight = mean(to.in_flight, before, u.in_flight, cycles);
    to.outside = mean(to.outside, before, u.outside, cycles);
    to.idle_running = mean(to.idle_running, before, u.idle_running, cycles);
    mix(to.idle, before, u.idle, cycles);
    const auto had = static_cast<double>(to.operations), has = static_cast<double>(u.operations);
    to.queued = mean(to.queued, had, u.queued, has);
    to.worked = mean(to.worked, had, u.worked, has);
    to.operations += u.operations;
    to.amount += u.amount;
  };
  for (UnitUse& to : sum.units) {
    const UnitUse* const u = find(one, to.unit);
    UnitUse none;
    none.outside = 1;
    add(to, u ? *u : none);
  }
  for (const UnitUse& u : one.units) {
    if (find(sum, u.unit)) continue;
    UnitUse fresh;
    fresh.unit = u.unit;
    fresh.bytes = u.bytes;
    fresh.outside = 1;
    add(fresh, u);
    sum.units.push_back(std::move(fresh));
  }
}

void add_traffic(Traffic& sum, double before, const Traffic& one, double cycles) {
  sum.bytes += one.bytes;
  sum.rate = mean(sum.rate, before, one.rate, cycles);
  sum.limit = mean(sum.limit, before, one.limit, cycles);
}

void add_lines(Statistics& sum, const Statistics& one) {
  const auto place = [](const LineUse& line) {
    return std::tuple(line.file, line.file.empty() ? line.ptx_line : line.line);
  };
  std::map<std::tuple<std::string, std::uint32_t>, std::size_t> known;
  for (std::size_t i = 0; i < sum.lines.size(); ++i) known[place(sum.lines[i])] = i;
  for (const LineUse& line : one.lines) {
    const auto found = known.find(place(line));
    if (found == known.end()) {
      sum.lines.push_back(line);
      continue;
    }
    LineUse& to = sum.lines[found->second];
    to.ptx_line = std::min(to.ptx_line, line.ptx_line);
    to.stalls += line.stalls;
    sim::add(to.counters, line.counters);
  }
  worst_first(sum.lines);
}

}  // namespace

void StatisticsSum::add(const Statistics& one) {
  launching_ += one.launch;
  if (launches_++ == 0) {
    sum_ = one;
    longest_ = one.end;
    return;
  }
  Statistics& sum = sum_;
  const auto before = static_cast<double>(sum.end), cycles = static_cast<double>(one.end);
  if (one.end > longest_) {
    longest_ = one.end;
    sum.warps = one.warps;
    sum.resident_blocks = one.resident_blocks;
    sum.resident_warps = one.resident_warps;
    sum.limited_by = one.limited_by;
  }
  sum.known_time = sum.known_time && one.known_time;
  sum.blocks += one.blocks;
  sum.blocks_simulated += one.blocks_simulated;
  sum.uncertain = mean(sum.uncertain, before, one.uncertain, cycles);
  sum.clock = mean(sum.clock, before, one.clock, cycles);
  sum.end += one.end;
  sum.seconds += one.seconds;
  sum.work += one.work;
  sum.rate = sum.seconds > 0 ? sum.work / sum.seconds : 0;
  sum.processors_used = std::max(sum.processors_used, one.processors_used);
  sum.occupied = mean(sum.occupied, before, one.occupied, cycles);
  sum.blocks_looked_at += one.blocks_looked_at;
  sum.kept_from.reset();  // of one launch
  sum.folded += one.folded;
  sum.faults += one.faults;
  sum.hazards += one.hazards;
  sim::add(sum.sum, one.sum);
  add_stalls(sum);
  add_pipes(sum, one);
  add_roles(sum, one);
  add_units(sum, one, before);
  add_traffic(sum.shared, before, one.shared, cycles);
  add_traffic(sum.l2, before, one.l2, cycles);
  add_traffic(sum.memory, before, one.memory, cycles);
  add_traffic(sum.tensor, before, one.tensor, cycles);
  add_lines(sum, one);
}

Statistics StatisticsSum::take() const {
  Statistics out = sum_;
  if (launches_ < 2) return out;
  out.launch = 0;
  out.verdict = verdict_of(out);
  return out;
}

}  // namespace tilescope::sim
