// Accumulators: which products add to which sum, what of the tensors they take, who reads it.
#include <algorithm>
#include <tuple>

#include "core/profile/pipeline_parts.h"

namespace tilescope::sim::pipeline_parts {
namespace {

using u8 = std::uint8_t;
using u32 = std::uint32_t;

// What of a tensor an operand of a product is from: the part of the first copy that brought some
// of it, and the rows and columns that it takes of all of them.
struct Part {
  const MemoryUse* copied = nullptr;  // null: not known
  u32 row = 0, rows = 0, column = 0, columns = 0;
};
// The parts that a product takes from the CTA whose sum it is; and of a pair those of the other.
struct Operands {
  Part a, b, other_a, other_b;
};

// Rows of a copy are at one pitch in shared memory, so that the operand's bytes say which it
// takes.
void take(Part& out, const MemoryUse& part, const MemoryUse& copied, const MemoryUse& operand) {
  u32 row = part.row, rows = part.rows;
  if (part.rows > 0 && copied.columns % part.rows == 0) {
    const u32 pitch = copied.columns / part.rows;
    const u32 begin = std::max(operand.column, copied.column) - copied.column;
    const u32 end =
        std::min(operand.column + operand.columns, copied.column + copied.columns) - copied.column;
    row += begin / pitch;
    rows = (end + pitch - 1) / pitch - begin / pitch;
  }
  if (!out.copied) {
    out = {&part, row, rows, part.column, part.columns};
    return;
  }
  if (out.copied->buffer != part.buffer) return;
  const u32 last_row = std::max(out.row + out.rows, row + rows);
  const u32 last_column = std::max(out.column + out.columns, part.column + part.columns);
  out.row = std::min(out.row, row);
  out.rows = last_row - out.row;
  out.column = std::min(out.column, part.column);
  out.columns = last_column - out.column;
}

// And the fillings that brought it.
Part part_of(Finding& f, const Event& e, const MemoryUse& operand, std::vector<Filling*>& from) {
  Part out;
  if (operand.of != MemoryUse::Of::shared) return out;
  for (RingStage& stage : f.out.stages) {
    if (!stage.meets(operand)) continue;
    Filling* filling = Finding::filling_for(stage, e.issue);
    if (!filling) continue;
    from.push_back(filling);
    for (const EventId copy : filling->copies) {
      // What is read stands before what is written from it.
      const MemoryUse* part = nullptr;
      for (const MemoryUse& use : uses_of(f.record.uses, copy)) {
        if (use.of == MemoryUse::Of::global && !use.writes) part = &use;
        if (use.writes && use.meets(operand) && part) take(out, *part, use, operand);
      }
    }
  }
  return out;
}

bool same(const MemoryUse* a, const MemoryUse* b) {
  return a && b ? a->buffer == b->buffer && a->row == b->row && a->column == b->column : a == b;
}
bool goes_back(const MemoryUse* from, const MemoryUse* to) {
  return from && to && (to->row < from->row || to->column < from->column);
}

// Has the sum been read since its last product, and before this one?
bool was_read(const Finding& f, const Accumulator& accumulator, const Event& product) {
  const Cycle from = accumulator.sums.back().end;
  const auto first = std::partition_point(f.out.loads.begin(), f.out.loads.end(),
                                          [&](EventId id) { return f.event(id).begin < from; });
  for (auto at = first; at != f.out.loads.end() && f.event(*at).begin < product.issue; ++at) {
    for (const MemoryUse& use : uses_of(f.record.uses, *at)) {
      if (accumulator.where.meets(use)) return true;
    }
  }
  return false;
}

// Of D: the rows are those of A and the columns those of B which stay as K goes on. Where there
// was one step alone, the tensors' last index is taken for K.
std::optional<MemoryUse> tile_of(const Operands& first, const Operands& now) {
  if (!first.a.copied || !first.b.copied || !now.a.copied || !now.b.copied) return {};
  // What of `a` stays on the way to `b`, with that of the pair's other part where it is beside
  // it.
  const auto stays = [](const Part& a, const Part& b, const Part& other) {
    const bool along_rows = a.copied->row != b.copied->row;
    const auto of = [&](const Part& part) {
      return along_rows ? std::pair(part.column, part.columns) : std::pair(part.row, part.rows);
    };
    auto [begin, count] = of(a);
    if (!other.copied) return std::pair(begin, count);
    const auto [second, more] = of(other);
    if (second == begin + count) count += more;
    if (second + more == begin) begin = second, count += more;
    return std::pair(begin, count);
  };
  MemoryUse out;
  out.of = MemoryUse::Of::global;
  out.writes = true;
  std::tie(out.row, out.rows) = stays(first.a, now.a, now.other_a);
  std::tie(out.column, out.columns) = stays(first.b, now.b, now.other_b);
  return out;
}

void add_products(Finding& f) {
  struct Last {
    Operands first, before;
    std::size_t load = 0;  // the first in f.out.loads that is not behind it
  };
  std::vector<Last> last;
  std::size_t numbers = 0;
  for (const EventId id : f.out.products) {
    const Event e = f.event(id);
    Operands operands;
    std::optional<MemoryUse> d;
    std::vector<Filling*> from;
    const u8 home = f.rank_of(f.record.tracks[e.track].block);
    for (const MemoryUse& use : uses_of(f.record.uses, id)) {
      if (use.rank != home) {
        const Part part = part_of(f, e, use, from);
        if (use.operand == MemoryUse::Operand::a) operands.other_a = part;
        if (use.operand == MemoryUse::Operand::b) operands.other_b = part;
        continue;
      }
      if (use.operand == MemoryUse::Operand::a) operands.a = part_of(f, e, use, from);
      if (use.operand == MemoryUse::Operand::b) operands.b = part_of(f, e, use, from);
      if (use.operand != MemoryUse::Operand::d) continue;
      if (!d) {
        d = use;
        continue;
      }
      const u32 row = std::min(d->row, use.row), column = std::min(d->column, use.column);
      d->rows = std::max(d->row + d->rows, use.row + use.rows) - row;
      d->columns = std::max(d->column + d->columns, use.column + use.columns) - column;
      d->row = row;
      d->column = column;
    }
    if (!d) continue;
    d->event = no_event;
    auto at = std::find_if(f.out.accumulators.begin(), f.out.accumulators.end(),
                           [&](const Accumulator& a) { return a.where == *d; });
    if (at == f.out.accumulators.end()) {
      at = f.out.accumulators.insert(f.out.accumulators.end(), Accumulator{});
      at->where = *d;
      last.emplace_back();
    }
    Last& before = last[static_cast<std::size_t>(at - f.out.accumulators.begin())];
    bool fresh = at->sums.empty();
    if (!fresh) {
      const bool a = same(before.before.a.copied, operands.a.copied),
                 b = same(before.before.b.copied, operands.b.copied);
      const bool known = operands.a.copied && operands.b.copied;
      fresh = goes_back(before.before.a.copied, operands.a.copied) ||
              goes_back(before.before.b.copied, operands.b.copied) || (known && a != b) ||
              was_read(f, *at, e);
    }
    if (fresh) {
      at->sums.emplace_back();
      at->sums.back().number = numbers++;
      before.first = before.before = operands;
    }
    Accumulation& sum = at->sums.back();
    if (!fresh && !(same(before.before.a.copied, operands.a.copied) &&
                    same(before.before.b.copied, operands.b.copied))) {
      ++sum.last_step;
    }
    before.before = operands;
    sum.begin = std::min(sum.begin, e.begin);
    sum.end = std::max(sum.end, f.end_of(e));
    sum.products.push_back(id);
    sum.steps.push_back(sum.last_step);
    for (Filling* filling : from) {
      if (filling->sum != Filling::no_sum) continue;
      filling->step = sum.last_step;
      filling->sum = sum.number;
    }
    sum.tile = tile_of(before.first, operands);
  }
}

void add_loads(Finding& f) {
  for (const EventId id : f.out.loads) {
    const Event e = f.event(id);
    for (const MemoryUse& use : uses_of(f.record.uses, id)) {
      for (Accumulator& accumulator : f.out.accumulators) {
        if (!accumulator.where.meets(use)) continue;
        Accumulation* sum = nullptr;
        for (Accumulation& s : accumulator.sums) {
          if (s.begin <= e.begin) sum = &s;
        }
        if (!sum) continue;
        sum->loads.push_back(id);
        sum->read_begin = std::min(sum->read_begin, e.begin);
        sum->read_end =
            sum->read_end == never_ends ? f.end_of(e) : std::max(sum->read_end, f.end_of(e));
      }
    }
  }
}

}  // namespace

void find_sums(Finding& f) {
  add_products(f);
  add_loads(f);
  std::stable_sort(f.out.accumulators.begin(), f.out.accumulators.end(),
                   [](const Accumulator& a, const Accumulator& b) {
                     return std::tie(a.where.rank, a.where.row, a.where.column) <
                            std::tie(b.where.rank, b.where.row, b.where.column);
                   });
}

}  // namespace tilescope::sim::pipeline_parts
