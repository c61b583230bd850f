// Pictures of MMA atoms and of what is tiled with them: A, B and C as they meet.
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

constexpr std::array<OperandName, 3> operand_names{OperandName::a, OperandName::b, OperandName::c};

// What is written over an operand: what runs down and across, and of what and where it is.
LayoutView::Operand headed(OperandName x, const MmaOperand& operand) {
  LayoutView::Operand out;
  out.title = x == OperandName::a ? "A" : x == OperandName::b ? "B" : "C";
  const char* down_across = x == OperandName::a   ? "M down, K across"
                            : x == OperandName::b ? "K down, N across"
                                                  : "M down, N across";
  out.axes =
      fmt::format("{} in {}; {}", name_of(operand.type), words_for(operand.memory), down_across);
  out.turned = x == OperandName::b;
  out.shared = operand.memory == Memory::smem;
  if (out.shared && operand.major != Major::none) {  // elsewhere a major says nothing of the order
    const char* major = operand.major == Major::k ? "K" : x == OperandName::a ? "M" : "N";
    out.axes.insert(out.axes.find(';'), fmt::format(", {}-major", major));
  }
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

ThreadNames names_of(const Layout& threads) {
  ThreadNames out;
  for (std::int64_t i = 0; i < *size(threads); ++i) {
    out.push_back(static_cast<std::int32_t>(threads(i)));
  }
  return out;
}

// Of C, for the threads of `thr_layout_vmnk` in its order: those along K all hold the same
// elements, as their partition_C has it. CuTe's layout_C_TV has no mode for them (mma_atom.hpp,
// get_layoutC_TV) and sends them beyond the tile.
Result<Layout> among_all_along_k(const TiledMma& mma, const std::array<std::int64_t, 3>& extent) {
  const Result<Layout> tile = make_layout(make_tuple_of(extent[0], extent[1]));
  if (!tile) return tile;
  const Result<Layout> held = thrfrg(mma, OperandName::c, *tile);
  if (!held) return held;
  const Result<std::int64_t> k = size(Layout(mma.thr_layout_vmnk.modes.mode(3)));
  if (!k) return k.refusal;
  // ((ThrV,(ThrM,ThrN)),(FrgV,(RestM,RestN))): the threads, and as many more along K that stay.
  Layout out;
  Tree<Mode> threads;
  threads.push(held->modes.mode(0));
  threads.push(Tree<Mode>(Mode{*k, 0}));
  out.modes.push(threads);
  out.modes.push(held->modes.mode(1));
  return out;
}

}  // namespace

std::string_view words_for(Memory memory) {
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

LayoutView::Operand LayoutView::operand_of(const MmaAtom& atom, OperandName x) {
  const MmaOperand& operand = x == OperandName::a ? atom.a : x == OperandName::b ? atom.b : atom.c;
  Operand out = headed(x, operand);
  out.layout = operand.tv;
  out.tile = make_tuple_of(atom.extent(x == OperandName::b ? 1 : 0),
                           atom.extent(x == OperandName::c ? 1 : 2));
  if (!takes_all(atom.thr_id)) out.threads = names_of(atom.thr_id);
  return out;
}

Outcome<LayoutView> LayoutView::of_operand(const MmaAtom& atom, OperandName x, std::string title) {
  return operands({operand_of(atom, x)}, Placing::free, std::move(title),
                  std::string(thread_mark(atom)));
}

Outcome<LayoutView> LayoutView::of_atom(const MmaAtom& atom, std::string title) {
  std::vector<Operand> all;
  for (const OperandName x : operand_names) all.push_back(operand_of(atom, x));
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
  const bool split = x == OperandName::c && *size(Layout(mma.thr_layout_vmnk.modes.mode(3))) > 1;
  Result<Layout> tv = split ? among_all_along_k(mma, extent) : layout_tv(mma, x);
  if (tv && split) {
    out.threads = names_of(mma.thr_layout_vmnk);
    out.remark =
        fmt::format("each element is held {} times, by threads along K: a part of its sum.",
                    *size(Layout(mma.thr_layout_vmnk.modes.mode(3))));
  } else if (tv && !takes_all(mma.thr_layout_vmnk)) {
    tv = among(mma.thr_layout_vmnk, *tv);
    out.threads = names_of(mma.thr_layout_vmnk);
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

}  // namespace tilescope
