#include "core/sim/stepping/products.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "core/sim/machine/model.h"
#include "core/sim/matrix/fragments.h"

namespace tilescope::sim {
namespace {

constexpr std::uint64_t piece = 200'000;  // instructions between two questions

Cycle cycles(double time) {
  return static_cast<Cycle>(std::max(0.0, time));
}

// Whose products are told apart by their order: CTA, instruction, warpgroup.
using Line = std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>;

std::uint32_t group_of(const Record& record, EventId event) {
  for (const MemoryUse& use : uses_of(record.uses, event)) {
    if (use.of == MemoryUse::Of::registers) return use.row / 4;
  }
  return 0;
}

class Events : public ProductWatch {
 public:
  explicit Events(const WantedProducts& wanted) : wanted_(wanted) {
    const Record& record = *wanted.record;
    for (const EventId id : wanted.events) {
      const Event e = record.events[id];
      times_.emplace_back(record.tracks[e.track].block, e.pc, e.begin, e.end);
    }
    if (record.timed) return;
    std::map<Line, std::uint64_t> count;
    for (EventId id = 0; id < record.events.size(); ++id) {
      const Event e = record.events[id];
      if (e.kind != EventKind::operation || record.tracks[e.track].unit != Unit::tensor) continue;
      const Line line{record.tracks[e.track].block, e.pc, group_of(record, id)};
      const std::uint64_t number = count[line]++;
      if (std::find(wanted.events.begin(), wanted.events.end(), id) != wanted.events.end()) {
        numbers_.emplace_back(line, number);
      }
    }
  }

  bool wants(const ProductIssue& p) override {
    if (p.unit == ProductUnit::warp) return false;
    if (p.block != wanted_.block) return false;
    if (!wanted_.record->timed) {
      const Line line{p.home, p.pc, p.group};
      const std::pair<Line, std::uint64_t> own(line, count_[line]++);
      return std::find(numbers_.begin(), numbers_.end(), own) != numbers_.end();
    }
    return std::any_of(times_.begin(), times_.end(), [&](const auto& t) {
      const auto& [home, pc, begin, end] = t;
      return home == p.home && pc == p.pc && end == std::max(begin, cycles(p.end)) &&
             begin >= cycles(p.begin);
    });
  }
  void seen(ProductSeen&& product) override { out.push_back(std::move(product)); }
  bool all() const { return out.size() >= wanted_.events.size(); }

  std::vector<ProductSeen> out;

 private:
  const WantedProducts& wanted_;
  std::vector<std::tuple<std::uint64_t, std::uint32_t, Cycle, Cycle>> times_;
  std::vector<std::pair<Line, std::uint64_t>> numbers_;
  std::map<Line, std::uint64_t> count_;
};

class OfWarp : public ProductWatch {
 public:
  OfWarp(std::uint64_t block, std::uint32_t warp, std::size_t most)
      : block_(block), warp_(warp), most_(most) {}
  bool wants(const ProductIssue& p) override {
    return p.unit == ProductUnit::warp && p.block == block_ && p.warp == warp_ &&
           out.size() < most_;
  }
  void seen(ProductSeen&& product) override { out.push_back(std::move(product)); }
  bool all() const { return out.size() >= most_; }

  std::vector<ProductSeen> out;

 private:
  std::uint64_t block_;
  std::uint32_t warp_;
  std::size_t most_;
};

template <class Watch>
std::vector<ProductSeen> run(Machine machine, Watch watch, std::uint64_t cluster,
                             const std::function<bool()>& keep_on) {
  machine.stop_at({});
  machine.model().options.products = &watch;
  while (!watch.all() && machine.run(piece) == RunState::running) {
    if (machine.has_exited(cluster) || (keep_on && !keep_on())) break;
  }
  machine.model().options.products = nullptr;
  return std::move(watch.out);
}

bool is_zero(const std::vector<std::uint64_t>& patterns) {
  return std::all_of(patterns.begin(), patterns.end(), [](std::uint64_t p) { return p == 0; });
}

bool same_place(const ProductSeen& a, const ProductSeen& b) {
  return a.issue.unit == b.issue.unit && a.issue.block == b.issue.block &&
         a.issue.group == b.issue.group && a.m == b.m && a.n == b.n && a.cells == b.cells &&
         (a.issue.unit != ProductUnit::warp || a.issue.warp == b.issue.warp);
}

// Does `later` add to what `earlier` has left?
bool goes_on(const ProductSeen& earlier, const ProductSeen& later) {
  if (!later.accumulate || !same_place(earlier, later) || earlier.after != later.before)
    return false;
  // Zeros are the same wherever they come from: a sum in registers that begins with them is new.
  return later.issue.unit == ProductUnit::tcgen05 || !is_zero(later.before);
}

}  // namespace

const Machine& machine_before(const Stepper& stepper, const WantedProducts& wanted) {
  const Checkpoints::Map& all = stepper.checkpoints().all();
  const Machine* out = &all.begin()->second.machine;
  if (!wanted.record->timed) return *out;
  Cycle first = never_ends;
  for (const EventId id : wanted.events) first = std::min(first, wanted.record->events[id].begin);
  // Clusters are behind each other by a turn of the clock, and warps ahead by some cycles.
  const double slack = 4 * out->options().clock_turn + 512;
  for (const auto& [position, checkpoint] : all) {
    if (checkpoint.machine.now() + slack < static_cast<double>(first)) out = &checkpoint.machine;
  }
  return *out;
}

std::vector<ProductSeen> seen_products(Machine from, const WantedProducts& wanted,
                                       const std::function<bool()>& keep_on) {
  const std::uint64_t cluster = from.cluster_number(wanted.block);
  return run(std::move(from), Events(wanted), cluster, keep_on);
}

std::vector<ProductSeen> seen_products(Machine from, std::uint64_t block, std::uint32_t warp,
                                       std::size_t most, const std::function<bool()>& keep_on) {
  const std::uint64_t cluster = from.cluster_number(block);
  return run(std::move(from), OfWarp(block, warp, most), cluster, keep_on);
}

std::shared_ptr<const ptx::Program> program_of(const Machine& machine) {
  const auto& image = machine.model().image;
  return {image, &machine.program()};
}

bool multiplies_in_warps(const ptx::Program& program) {
  return std::any_of(program.code.begin(), program.code.end(), [](const ptx::Instruction& i) {
    return i.unit == ptx::Unit::matrix && multiplies(i);
  });
}

std::vector<std::size_t> sum_of(const std::vector<ProductSeen>& all, std::size_t one) {
  std::vector<std::size_t> out = {one};
  for (std::size_t i = one; i-- > 0;) {
    if (goes_on(all[i], all[out.front()])) out.insert(out.begin(), i);
  }
  for (std::size_t i = one + 1; i < all.size(); ++i) {
    if (goes_on(all[out.back()], all[i])) out.push_back(i);
  }
  return out;
}

}  // namespace tilescope::sim
