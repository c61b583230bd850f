#include "viz/session/matrices_sums.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/sim/stepping/find_block.h"
#include "viz/machine/live_run.h"
#include "viz/session/memory_views.h"

namespace tilescope {
namespace {

using u32 = std::uint32_t;
using From = MatricesView::From;
using sim::GroupAccumulator;

// Where the rows of one operand come from: all of one buffer.
struct OperandRows {
  std::size_t buffer = 0;
  std::vector<std::optional<Element>> at;
};

std::optional<OperandRows> operand_rows(const sim::Machine& machine,
                                        const std::vector<std::uint64_t>& from) {
  OperandRows out;
  out.at.resize(from.size());
  std::optional<std::size_t> buffer;
  for (std::size_t r = 0; r < from.size(); ++r) {
    if (from[r] == 0) continue;
    for (std::size_t i = 0; i < machine.shells().size(); ++i) {
      const sim::Region& region = machine.buffer(i);
      if (from[r] < region.base() || from[r] - region.base() >= region.size()) continue;
      const Buffer& shell = machine.shells()[i];
      if (shell.shape.size() != 2 || (buffer && *buffer != i)) return {};
      buffer = i;
      const auto flat = static_cast<std::int64_t>(
          (from[r] - region.base()) / static_cast<std::uint64_t>(bytes_of(shell.dtype)));
      out.at[r] = Element{flat / shell.shape[1], flat % shell.shape[1]};
    }
  }
  if (!buffer) return {};
  out.buffer = *buffer;
  return out;
}

// Which index of its tensor numbers the rows of an operand: 0 or 1, the one that goes by one from
// row to row while the other stays, as it is the same term of all sums.
std::optional<int> numbered_by(const OperandRows& operand) {
  std::optional<std::size_t> first;
  std::optional<int> out;
  for (std::size_t r = 0; r < operand.at.size(); ++r) {
    if (!operand.at[r]) continue;
    if (!first) {
      first = r;
      continue;
    }
    const auto by = static_cast<std::int64_t>(r - *first);
    const std::int64_t down = operand.at[r]->row - operand.at[*first]->row;
    const std::int64_t across = operand.at[r]->column - operand.at[*first]->column;
    if (!out && down == by && across == 0) out = 0;
    if (!out && across == by && down == 0) out = 1;
    if (!out || (*out == 0 ? across : down) != 0) return {};
  }
  return out;
}

// Whether an operand's index numbers the output's rows or its columns, by the names of the sizes.
std::optional<From> goes_into(const sim::Machine& machine, const MatricesView* inputs,
                              const OperandRows& operand, int index) {
  if (!inputs) return {};
  for (const MatricesView::Matrix& each : inputs->matrices()) {
    if (each.name != machine.shells()[operand.buffer].name) continue;
    const bool named = each.rows_from != From::row || each.columns_from != From::column;
    const From from = index == 0 ? each.rows_from : each.columns_from;
    if (named && from != From::all) return from;
  }
  return {};
}

// The same by the extents: both factors have the output's, one each, and share the other. Where
// both ways are possible the buffer that comes first is A.
std::optional<From> by_extents(const sim::Machine& machine, std::size_t output,
                               const OperandRows& a, int of_a, const OperandRows& b, int of_b) {
  const auto& d = machine.shells()[output].shape;
  const auto extent = [&](const OperandRows& operand, int index) {
    return machine.shells()[operand.buffer].shape[static_cast<std::size_t>(index)];
  };
  if (extent(a, 1 - of_a) != extent(b, 1 - of_b)) return {};
  const std::int64_t tall = extent(a, of_a), wide = extent(b, of_b);
  const bool straight = tall == d[0] && wide == d[1], turned = tall == d[1] && wide == d[0];
  if (straight && turned) return a.buffer <= b.buffer ? From::row : From::column;
  if (straight) return From::row;
  if (turned) return From::column;
  return {};
}

std::vector<std::int64_t> numbers_of(const OperandRows& operand, int index, std::int64_t extent) {
  std::vector<std::int64_t> out;
  for (const std::optional<Element>& at : operand.at) {
    const std::int64_t number = !at ? -1 : index == 0 ? at->row : at->column;
    out.push_back(number < extent ? number : -1);
  }
  return out;
}

// The first and the last of those that are known.
struct Ends {
  std::int64_t first = -1, last = -1;
};
Ends ends_of(const std::vector<std::int64_t>& numbers) {
  Ends out;
  for (const std::int64_t each : numbers) {
    if (each < 0) continue;
    out.first = out.first < 0 ? each : std::min(out.first, each);
    out.last = std::max(out.last, each);
  }
  return out;
}

}  // namespace

std::optional<std::size_t> output_buffer(const sim::Machine& machine) {
  for (std::size_t i = 0; i < machine.shells().size(); ++i) {
    if (is_output(machine.shells()[i]) && machine.shells()[i].shape.size() == 2) return i;
  }
  return {};
}

std::optional<Element> AccumulatorPlace::element(u32 row, u32 column) const {
  if (row >= rows.size() || column >= columns.size()) return {};
  if (rows[row] < 0 || columns[column] < 0) return {};
  return turned ? Element{columns[column], rows[row]} : Element{rows[row], columns[column]};
}

std::optional<AccumulatorPlace> place_of(const sim::Machine& machine, const MatricesView* inputs,
                                         const GroupAccumulator& accumulator) {
  const auto output = output_buffer(machine);
  const auto a = operand_rows(machine, accumulator.rows_from);
  const auto b = operand_rows(machine, accumulator.columns_from);
  if (!output || !a || !b) return {};
  const auto of_a = numbered_by(*a), of_b = numbered_by(*b);
  if (!of_a || !of_b) return {};
  auto way = goes_into(machine, inputs, *a, *of_a);
  if (way) {
    const auto other = goes_into(machine, inputs, *b, *of_b);
    if (!other || *other == *way) return {};
  } else {
    way = by_extents(machine, *output, *a, *of_a, *b, *of_b);
  }
  if (!way) return {};
  const auto& shape = machine.shells()[*output].shape;
  AccumulatorPlace out;
  out.output = *output;
  out.turned = *way == From::column;
  out.rows = numbers_of(*a, *of_a, shape[out.turned ? 1 : 0]);
  out.columns = numbers_of(*b, *of_b, shape[out.turned ? 0 : 1]);
  return out;
}

std::string output_element(const sim::Machine& machine, const AccumulatorPlace& place, u32 row,
                           u32 column) {
  const auto at = place.element(row, column);
  if (!at) return "";
  return fmt::format("{} [{}, {}]", machine.shells()[place.output].name, at->row, at->column);
}

std::string output_extent(const sim::Machine& machine, const AccumulatorPlace& place) {
  const Ends down = ends_of(place.turned ? place.columns : place.rows);
  const Ends across = ends_of(place.turned ? place.rows : place.columns);
  if (down.first < 0 || across.first < 0) return "";
  return fmt::format("{} [{}:{}, {}:{}]", machine.shells()[place.output].name, down.first,
                     down.last + 1, across.first, across.last + 1);
}

std::shared_ptr<const RegisterSums> register_sums(const LiveRun& run, std::uint64_t block,
                                                  const MatricesView* inputs, std::size_t output) {
  const sim::Machine& machine = run.stepper.machine();
  const sim::Block* b = sim::find_block(machine, block);
  if (!b || output_buffer(machine) != output) return nullptr;
  const Buffer& shell = machine.shells()[output];
  const sim::Region& region = machine.buffer(output);
  const auto width = static_cast<std::uint64_t>(bytes_of(shell.dtype));
  auto out = std::make_shared<RegisterSums>();
  for (u32 warp = 0; warp + 4 <= b->warps.size(); warp += 4) {
    for (const GroupAccumulator& d : run.registers.accumulators(machine, block, warp)) {
      const auto place = place_of(machine, inputs, d);
      if (!place) continue;
      const auto names = static_cast<u32>(out->names.size());
      Ends down, across;
      for (u32 row = 0; row < GroupAccumulator::rows; ++row) {
        for (u32 column = 0; column < d.columns; ++column) {
          const GroupAccumulator::Element& e = d.at(row, column);
          const auto at = e.held && !e.changed ? place->element(row, column) : std::nullopt;
          if (!at) continue;
          const auto flat = static_cast<std::uint64_t>(at->row * shell.shape[1] + at->column);
          if (region.writer(flat * width)) continue;
          if (out->at.empty()) {
            out->at.assign(static_cast<std::size_t>(shell.shape[0] * shell.shape[1]), -1);
          }
          if (out->at[flat] >= 0) continue;  // another warpgroup has a part of the same sum
          out->at[flat] = static_cast<std::int32_t>(out->all.size());
          out->all.push_back({e.value, e.undefined, e.byte,
                              static_cast<std::uint16_t>(warp + e.warp), e.lane, names + e.reg});
          down = {down.first < 0 ? at->row : std::min(down.first, at->row),
                  std::max(down.last, at->row)};
          across = {across.first < 0 ? at->column : std::min(across.first, at->column),
                    std::max(across.last, at->column)};
        }
      }
      if (down.first < 0) continue;
      out->names.insert(out->names.end(), d.registers.begin(), d.registers.end());
      out->parts.push_back({down.first, across.first, down.last - down.first + 1,
                            across.last - across.first + 1, warp, d.registers.front()});
    }
  }
  return out->all.empty() ? nullptr : out;
}

}  // namespace tilescope
