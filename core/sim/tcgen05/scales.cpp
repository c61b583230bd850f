#include "core/sim/tcgen05/scales.h"

#include <fmt/format.h>

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;

constexpr u32 quarter_lanes = 32, lane_quarters = TensorMemory::lanes / quarter_lanes;

// Rows that lie in `count` quarters of the lanes from `first` on.
void add_cells(u32 column, u32 rows, u32 first, u32 count, std::vector<CellRange>& out) {
  const u32 whole = rows / quarter_lanes, rest = rows % quarter_lanes;
  if (whole) out.push_back({first * quarter_lanes, count * quarter_lanes, column, whole});
  for (u32 q = first; rest && q < first + count; ++q) {
    out.push_back({q * quarter_lanes, rest, column + whole, 1});
  }
}

// A row's factors, as they are in so many quarters of the lanes.
ScaleState read_row(const ScaleFactors& f, const TensorMemory& memory, u32 row, u32 first,
                    u32 count, std::byte* bytes) {
  ScaleState out = ScaleState::fine;
  for (u32 k = 0; k < f.count; ++k) {
    const u32 at = f.id + k, column = f.column + row / quarter_lanes + at / 4 * f.chunk;
    for (u32 q = first; q < first + count; ++q) {
      const u32 lane = q * quarter_lanes + row % quarter_lanes;
      if (memory.undefined(lane, column) >> at % 4 & 1) return ScaleState::undefined;
      const auto byte = static_cast<std::byte>(memory.row(lane)[column] >> 8 * (at % 4));
      if (q == first) bytes[k] = byte;
      if (byte != bytes[k]) out = ScaleState::different;
    }
  }
  return out;
}

}  // namespace

std::vector<CellRange> ScaleFactors::cells() const {
  std::vector<CellRange> out;
  for (u32 at = 0; at * 4 < id + count; ++at) {
    const u32 from = column + at * chunk;
    if (!halves) {
      add_cells(from, rows, 0, lane_quarters, out);
      continue;
    }
    add_cells(from, rows / 2, 0, lane_quarters / 2, out);
    add_cells(from, rows / 2, lane_quarters / 2, lane_quarters / 2, out);
  }
  return out;
}

std::optional<u32> ScaleFactors::row_in(TensorAddress cell) const {
  const u32 part = halves ? rows / 2 : rows, wide = (part + quarter_lanes - 1) / quarter_lanes;
  for (u32 at = 0; at * 4 < id + count; ++at) {
    const u32 from = column + at * chunk;
    if (cell.column < from || cell.column >= from + wide) continue;
    const u32 row = (cell.column - from) * quarter_lanes + cell.lane % quarter_lanes;
    if (row >= part) continue;
    return halves && cell.lane >= TensorMemory::lanes / 2 ? part + row : row;
  }
  return {};
}

std::optional<DescriptorError> decode_scale_address(u32 address, u32 id, const char* whose,
                                                    ScaleFactors& out) {
  const u32 upper = address >> 30;
  if (upper && upper != id) {
    return DescriptorError{
        fmt::format("the address 0x{:08x} of the scale factors of {} has {} in its upper two bits, "
                    "and their ID in the instruction descriptor is {}: which of them counts is not "
                    "known",
                    address, whose, upper, id),
        "0 there, or the same as the ID", fmt::format("{}", upper)};
  }
  const TensorAddress at = TensorAddress::of(address & 0x3fffffff);
  if (at.lane != 0) {
    return DescriptorError{
        fmt::format("the scale factors of {} begin at lane {} of TMEM", whose, at.lane),
        "lane 0: they are in all four quarters of the lanes (PTX ISA 9.7.16.10.7)",
        fmt::format("lane {}", at.lane)};
  }
  out.column = at.column;
  out.id = id;
  return std::nullopt;
}

OperandBytes read_scales(const ScaleFactors& f, const TensorMemory& memory) {
  OperandBytes out;
  out.bytes.resize(std::size_t{f.rows} * f.count);
  out.undefined.resize(f.rows);
  const u32 part = f.halves ? f.rows / 2 : f.rows,
            count = f.halves ? lane_quarters / 2 : lane_quarters;
  for (u32 r = 0; r < f.rows; ++r) {
    out.undefined[r] = static_cast<std::uint8_t>(read_row(
        f, memory, r % part, r / part * count, count, &out.bytes[std::size_t{r} * f.count]));
  }
  return out;
}

}  // namespace tilescope::sim
