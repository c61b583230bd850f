// Pictures of atoms and of what is tiled with them: A, B and C of a product as they meet, source
// and destination of a copy side by side.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/layout/text.h"
#include "viz/scene/layout_view.h"

namespace tilescope {
namespace {

Error refused(const Refusal& why) {
  return {ErrorKind::refused, sentence(why), {}};
}

std::string_view where(Memory memory) {
  switch (memory) {
    case Memory::rmem:
      return "registers";
    case Memory::smem:
      return "shared memory";
    case Memory::tmem:
      return "tensor memory";
    case Memory::gmem:
      return "global memory";
    case Memory::coordinate:
      return "coordinates";
  }
  return "";
}

constexpr std::array<OperandName, 3> operand_names{OperandName::a, OperandName::b, OperandName::c};

// What is written over an operand: what runs down and across, and of what and where it is.
LayoutView::Operand headed(OperandName x, const MmaOperand& operand) {
  LayoutView::Operand out;
  out.title = x == OperandName::a ? "A" : x == OperandName::b ? "B" : "C";
  const char* down_across = x == OperandName::a   ? "M down, K across"
                            : x == OperandName::b ? "K down, N across"
                                                  : "M down, N across";
  out.axes = fmt::format("{} in {}; {}", name_of(operand.type), where(operand.memory), down_across);
  out.turned = x == OperandName::b;
  out.shared = operand.memory == Memory::smem;
  return out;
}

// A "thread" of tcgen05.mma is a CTA: one thread issues it, and the CTA's memory holds the
// operands.
std::string_view thread_mark(const MmaAtom& atom) {
  return atom.c.memory == Memory::tmem ? "CTA" : "T";
}

bool takes_all(const Layout& threads) {
  const Result<std::int64_t> count = size(threads), reach = cosize(threads);
  return count && reach && *count == *reach;
}

// (thread, value) -> element for the threads of `thr_layout_vmnk` alone, in its order: a warp with
// holes, such as Volta's quad-pair, leaves the others out.
Result<Layout> among(const Layout& threads, const Layout& tv) {
  Tiler tiler;
  tiler.push(Tiler(threads));
  tiler.push(Tiler(Layout(Tree<Mode>(Mode{Int::all(), 0}))));
  return composition(tv, tiler);
}

}  // namespace

Outcome<LayoutView> LayoutView::of_atom(const MmaAtom& atom, std::string title) {
  std::vector<Operand> all;
  for (const OperandName x : operand_names) {
    const MmaOperand& operand = x == OperandName::a   ? atom.a
                                : x == OperandName::b ? atom.b
                                                      : atom.c;
    Operand out = headed(x, operand);
    out.layout = operand.tv;
    out.tile = make_tuple_of(atom.extent(x == OperandName::b ? 1 : 0),
                             atom.extent(x == OperandName::c ? 1 : 2));
    if (!takes_all(atom.thr_id)) out.threads = atom.thr_id;
    all.push_back(out);
  }
  return operands(all, Placing::product, std::move(title), std::string(thread_mark(atom)));
}

Result<LayoutView::Operand> LayoutView::operand_of(const TiledMma& mma, OperandName x) {
  std::array<std::int64_t, 3> extent{};
  for (int i = 0; i < 3; ++i) {
    const Result<std::int64_t> n = tile_size(mma, i);
    if (!n) return n.refusal;
    extent[static_cast<std::size_t>(i)] = *n;
  }
  Operand out = headed(x, mma.operand(x));
  Result<Layout> tv = layout_tv(mma, x);
  if (tv && !takes_all(mma.thr_layout_vmnk)) {
    tv = among(mma.thr_layout_vmnk, *tv);
    out.threads = mma.thr_layout_vmnk;
  }
  if (!tv) return tv.refusal;
  out.layout = *tv;
  out.tile =
      make_tuple_of(extent[x == OperandName::b ? 1 : 0], extent[x == OperandName::c ? 1 : 2]);
  return out;
}

Outcome<LayoutView> LayoutView::of_operand(const TiledMma& mma, OperandName x, std::string title) {
  const Result<Operand> one = operand_of(mma, x);
  if (!one) return refused(one.refusal);
  return operands({*one}, Placing::free, std::move(title), std::string(thread_mark(mma.atom)));
}

Outcome<LayoutView> LayoutView::of_tiled(const TiledMma& mma, std::string title) {
  std::vector<Operand> all;
  for (const OperandName x : operand_names) {
    const Result<Operand> operand = operand_of(mma, x);
    if (!operand) return refused(operand.refusal);
    all.push_back(*operand);
  }
  return operands(all, Placing::product, std::move(title), std::string(thread_mark(mma.atom)));
}

// What an atom moves has no shape of its own: it is drawn in rows of what one thread of the
// reference side holds at once, ldmatrix in rows of 16 bytes.
Outcome<LayoutView> LayoutView::of_copy(const CopyAtom& atom, std::string title) {
  const Result<std::int64_t> source = cosize(atom.src), destination = cosize(atom.dst);
  if (!source) return refused(source.refusal);
  if (!destination) return refused(destination.refusal);
  const std::int64_t all = std::max(*source, *destination);
  std::int64_t wide = 1;
  for (const Layout* side : {&atom.src, &atom.dst}) {
    const Result<std::int64_t> values = size(Layout(side->modes.mode(1)));
    if (values && all % *values == 0) wide = std::max(wide, *values);
  }
  Operand from, to;
  from.title = "Source", to.title = "Destination";
  from.axes = fmt::format("{} in {}", name_of(atom.value), where(atom.from));
  to.axes = fmt::format("{} in {}", name_of(atom.value), where(atom.to));
  from.layout = atom.src, to.layout = atom.dst;
  from.tile = to.tile = make_tuple_of(wide, all / wide);
  from.turned = to.turned = true;
  return operands({from, to}, Placing::free, std::move(title));
}

Result<LayoutView::Operand> LayoutView::operand_of(const TiledCopy& copy, Side side) {
  const Result<Layout> tv = layout_tv(copy, side);
  if (!tv) return tv.refusal;
  const bool source = side == Side::source;
  Operand out;
  out.title = source ? "Source" : "Destination";
  out.axes = fmt::format("{} in {}", name_of(copy.atom.value),
                         where(source ? copy.atom.from : copy.atom.to));
  out.layout = *tv;
  out.tile = copy.tiler;
  return out;
}

Outcome<LayoutView> LayoutView::of_side(const TiledCopy& copy, Side side, std::string title) {
  const Result<Operand> one = operand_of(copy, side);
  if (!one) return refused(one.refusal);
  return operands({*one}, Placing::free, std::move(title));
}

Outcome<LayoutView> LayoutView::of_tiled(const TiledCopy& copy, std::string title) {
  std::vector<Operand> both;
  for (const Side side : {Side::source, Side::destination}) {
    const Result<Operand> operand = operand_of(copy, side);
    if (!operand) return refused(operand.refusal);
    both.push_back(*operand);
  }
  return operands(both, Placing::free, std::move(title));
}

}  // namespace tilescope
