// Pictures of copies: what an atom moves from where to where, and both sides of a tiled copy.
//
//     ldmatrix, cp.async...    rows of what one thread of the reference side holds at once
//     TMA                      the box: dimension 0 across, 1 down, slice by slice
//     tcgen05.ld, .st          lanes and columns of tensor memory, and whose register each is
//     tcgen05.cp               rows of shared memory, and the lanes that each goes to
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "core/layout/text.h"
#include "core/tensor/tmem.h"
#include "viz/layout/layout_axes.h"
#include "viz/layout/layout_view.h"

namespace tilescope {
namespace {

std::string heading(const CopyAtom& atom, Memory memory) {
  return fmt::format("{} in {}", name_of(atom.value), words_for(memory));
}

// The extents of a TMA's box, innermost first, as its name has them: SM90_TMA_LOAD<f16,64,128>.
// Empty for other atoms.
Tuple box_of(const CopyAtom& atom) {
  std::string_view name = atom.name.view();
  const std::size_t open = name.find('<');
  if (name.find("_TMA_") == std::string_view::npos || open == std::string_view::npos) return {};
  Tuple out;
  std::size_t comma = name.find(',', open);
  while (comma != std::string_view::npos) {
    const std::size_t digits = name.find_first_of("0123456789", comma);
    if (digits == std::string_view::npos) break;
    std::int64_t extent = 0;
    std::from_chars(name.data() + digits, name.data() + name.size(), extent);
    out.push(Tuple(extent));
    comma = name.find(',', digits);
  }
  return out;
}

// A row of more than 64 elements that has nothing below it is folded into rows of 128 bytes, once
// around the banks; of others the width stays.
std::int64_t folded(std::int64_t wide, std::int64_t all, ElementType value) {
  constexpr std::int64_t longest = 64, line_bits = 128 * 8;
  const std::int64_t line = line_bits / bits_of(value);
  return wide == all && wide > longest && wide % line == 0 ? line : wide;
}

// Rows of shared memory and the lanes of tensor memory that each goes to (PTX ISA, tcgen05.cp:
// .multicast shapes put a row into several lanes). A lane's row is found by its first bit.
struct RowsToLanes {
  std::int64_t rows = 0, lanes = 0, bits = 0;  // bits of a lane
  ThreadNames row_of_lane;
};
RowsToLanes rows_to_lanes(const CopyAtom& atom) {
  constexpr std::int64_t lane_bits = 1 << 21;  // CuTe's TMEM::DP_b
  const Layout from(atom.src_bits.modes.mode(1)), to(atom.dst_bits.modes.mode(1));
  std::map<std::int64_t, std::int64_t> source_of_lane;  // its first bit's
  std::map<std::int64_t, std::int32_t> row_of_source;
  RowsToLanes out;
  for (std::int64_t i = 0; i < *size(to); ++i) {
    const std::int64_t address = atom.tmem_bits(to(i));
    out.bits = std::max(out.bits, address % lane_bits + 1);
    if (address % lane_bits != 0) continue;
    source_of_lane[address / lane_bits] = from(i);
    row_of_source[from(i)] = 0;
  }
  for (auto& [source, row] : row_of_source) row = static_cast<std::int32_t>(out.rows++);
  out.lanes = source_of_lane.rbegin()->first + 1;
  out.row_of_lane.assign(static_cast<std::size_t>(out.lanes), -1);
  for (const auto& [lane, source] : source_of_lane) {
    out.row_of_lane[static_cast<std::size_t>(lane)] = row_of_source[source];
  }
  return out;
}

// ldmatrix and stmatrix move matrices of 8 rows of 16 bytes (PTX ISA 9.7.14.5.15), which stand one
// below the other; those of bytes with .trans have 16 rows.
constexpr std::int64_t matrix_rows = 8;
bool moves_matrices(const CopyAtom& atom) {
  const std::string_view name = atom.name.view();
  const bool matrix = name.find("LDSM") != name.npos || name.find("STSM") != name.npos;
  return matrix && bits_of(atom.value) == 16;
}

}  // namespace

Outcome<LayoutView> LayoutView::of_copy(const CopyAtom& atom, std::string title) {
  const bool tmem = !atom.tmem_bits.modes.empty();
  if (tmem && atom.from != Memory::smem) {
    const Result<Layout> fragment = tmem_fragment(atom);
    if (!fragment) return refused(sentence(fragment.refusal));
    return of_fragment(atom, *fragment, std::move(title));
  }
  if (tmem) return of_refresh(atom, std::move(title));
  if (const Tuple box = box_of(atom); !box.empty()) return of_box(atom, box, std::move(title));
  return of_rows(atom, std::move(title));
}

// What an atom moves has no shape of its own: it is drawn in rows of what one thread of the
// reference side holds at once, ldmatrix in rows of 16 bytes.
Outcome<LayoutView> LayoutView::of_rows(const CopyAtom& atom, std::string title) {
  const Result<std::int64_t> source = cosize(atom.src), destination = cosize(atom.dst);
  if (!source) return refused(sentence(source.refusal));
  if (!destination) return refused(sentence(destination.refusal));
  const std::int64_t all = std::max(*source, *destination);
  std::int64_t wide = 1;
  for (const Layout* side : {&atom.src, &atom.dst}) {
    const Result<std::int64_t> values = size(Layout(side->modes.mode(1)));
    if (values && all % *values == 0) wide = std::max(wide, *values);
  }
  wide = folded(wide, all, atom.value);
  Operand from, to;
  from.title = "Source", to.title = "Destination";
  from.axes = heading(atom, atom.from);
  to.axes = heading(atom, atom.to);
  from.layout = atom.src, to.layout = atom.dst;
  from.element_bits = to.element_bits = bits_of(atom.value);
  from.tile = to.tile = make_tuple_of(wide, all / wide);
  from.turned = to.turned = true;
  Outcome<LayoutView> view = operands({from, to}, Placing::free, std::move(title));
  if (!view || !moves_matrices(atom)) return view;
  for (Panel& panel : view->panels_) panel.row_divisions.push_back({matrix_rows, 1});
  return view;
}

// One thread moves a whole box, of a pair of CTAs each one of its own: the values are numbered as
// they lie in the box.
Outcome<LayoutView> LayoutView::of_box(const CopyAtom& atom, const Tuple& box, std::string title) {
  const Result<std::int64_t> ctas = size(atom.thr_id);
  if (!ctas) return refused(sentence(ctas.refusal));
  Operand one;
  one.title = "Box";
  one.axes =
      fmt::format("{}, {} to {}; dimension 0 across{}", name_of(atom.value), words_for(atom.from),
                  words_for(atom.to), box.rank() > 1 ? ", 1 down" : "");
  one.layout = atom.src;
  one.tile = box;
  if (*ctas > 1) {
    if (box.rank() == 1) one.tile.push(Tuple(1));
    one.tile.push(Tuple(*ctas));
    one.axes += "; a slice for each CTA";
  }
  one.turned = true;
  Outcome<LayoutView> view = operands({one}, Placing::free, std::move(title), "CTA");
  if (view) {
    // Of a pair the labels are CTAs, so that there is no V to speak of.
    view->remark(fmt::format(
        "{} in shared memory without a swizzle. With one its rows are where "
        "tma_shared_layout({}, 128B, ...) has them.",
        *ctas > 1 ? "Each CTA's box is stored row by row" : "V counts in the box's order",
        name_of(atom.value)));
  }
  return view;
}

// The threads of this picture are the rows of shared memory, their values the elements of a row.
Outcome<LayoutView> LayoutView::of_refresh(const CopyAtom& atom, std::string title) {
  const RowsToLanes moved = rows_to_lanes(atom);
  const std::int64_t wide = moved.bits / bits_of(atom.value);
  Operand from, to;
  from.title = "Shared memory", to.title = "TMEM";
  from.axes = fmt::format("rows of {} bits down, {} across", moved.bits, name_of(atom.value));
  to.axes = fmt::format("lanes down, {} across: the row that it comes from", name_of(atom.value));
  from.tile = make_tuple_of(moved.rows, wide);
  from.layout = make_layout_of(Layout(moved.rows, 1), Layout(wide, moved.rows));
  to.tile = make_tuple_of(moved.lanes, wide);
  to.layout = make_layout_of(Layout(moved.lanes, 1), Layout(wide, moved.lanes));
  to.threads = moved.row_of_lane;
  Outcome<LayoutView> view = operands({from, to}, Placing::free, std::move(title), "R");
  if (!view) return view;
  view->panels_[0].formula = text(atom.src);
  view->panels_[1].formula = text(atom.dst);
  const auto reached = std::count_if(moved.row_of_lane.begin(), moved.row_of_lane.end(),
                                     [](std::int32_t row) { return row >= 0; });
  if (reached > moved.rows) {
    view->remark(
        fmt::format("Each of the {} rows goes to {} lanes.", moved.rows, reached / moved.rows));
  }
  if (*size(atom.thr_id) > 1) view->remark("Each CTA of the pair does the same in its own memory.");
  return view;
}

Result<LayoutView::Operand> LayoutView::operand_of(const TiledCopy& copy, Side side) {
  const Result<Layout> tv = layout_tv(copy, side);
  if (!tv) return tv.refusal;
  const bool source = side == Side::source;
  Operand out;
  out.title = source ? "Source" : "Destination";
  out.axes = fmt::format("{} in {}", name_of(copy.atom.value),
                         words_for(source ? copy.atom.from : copy.atom.to));
  out.layout = *tv;
  out.tile = copy.tiler;
  out.element_bits = bits_of(copy.atom.value);
  return out;
}

Outcome<LayoutView> LayoutView::of_side(const TiledCopy& copy, Side side, std::string title) {
  const Result<Operand> one = operand_of(copy, side);
  if (!one) return refused(sentence(one.refusal));
  return operands({*one}, Placing::free, std::move(title));
}

Outcome<LayoutView> LayoutView::of_tiled(const TiledCopy& copy, std::string title) {
  std::vector<Operand> both;
  for (const Side side : {Side::source, Side::destination}) {
    const Result<Operand> operand = operand_of(copy, side);
    if (!operand) return refused(sentence(operand.refusal));
    both.push_back(*operand);
  }
  return operands(both, Placing::free, std::move(title));
}

}  // namespace tilescope
