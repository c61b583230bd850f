// Pictures of MMA atoms and of what is tiled with them: A, B and C as they meet.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/layout/text.h"
#include "core/tensor/tmem.h"
#include "viz/layout/layout_view.h"

namespace tilescope {
namespace {

constexpr std::array<OperandName, 3> operand_names{OperandName::a, OperandName::b, OperandName::c};

// A "thread" of tcgen05.mma is a CTA: one thread issues it, and the CTA's memory holds the
// operands.
std::string_view mark_of_threads(const MmaAtom& atom) {
  return atom.c.memory == Memory::tmem ? "CTA" : "T";
}

// The arguments in an atom's name, SM120_16x8x32_TN<e4m3,e4m3,f32>.
std::vector<std::string> arguments_of(const MmaAtom& atom) {
  const std::string_view name = atom.name.view();
  std::vector<std::string> out;
  const std::size_t open = name.find('<');
  if (open == name.npos) return out;
  out.emplace_back();
  for (const char c : name.substr(open + 1)) {
    if (c == ',')
      out.emplace_back();
    else if (c != '>' && c != ' ')
      out.back() += c;
  }
  return out;
}

// How many of how many neighbours along K a sparse A keeps (PTX ISA 9.7.14.6, 9.7.15.6 and
// 9.7.16.10): 1:2 of 32 bits, 4:8 in pairs of the mxf4 kinds, else 2:4. Empty for a dense A.
std::string_view kept_of(const MmaAtom& atom) {
  if (atom.a.sparsity == 1) return {};
  const std::string_view name = atom.name.view();
  const bool mxf4 = name.find("MXF4") != name.npos || name.find("16x8x128_TN_VS") != name.npos;
  return bits_of(atom.a.type) == 32 || atom.a.type == ElementType::tf32 ? "1:2"
         : mxf4                                                         ? "4:8"
                                                                        : "2:4";
}

std::string sparse_remark(const MmaAtom& atom) {
  const std::string_view kept = kept_of(atom);
  const bool pairs = kept == "4:8";
  return fmt::format(
      "A is sparse {}: of {} neighbours along K {} kept, the others are 0. The grid has all of K, "
      "{} "
      "half of it; metadata in {} say which.",
      kept, kept.back(),
      pairs           ? "two pairs are"
      : kept == "1:2" ? "1 is"
                      : "2 are",
      atom.a.memory == Memory::rmem ? "registers hold" : "shared memory holds",
      atom.c.memory == Memory::tmem ? "TMEM" : "a register");
}

// Of block-scaled kinds: SCALE and VS in the name's arguments (core/tensor/mma_tcgen05.cpp and
// mma_sm120.cpp say where they stand). MXF8F6F4 has no VS, it is 32 (PTX ISA 9.7.16.10.7).
std::optional<std::string> scale_remark(const MmaAtom& atom) {
  const std::string_view name = atom.name.view();
  const bool warp = name.substr(0, 5) == "SM120";
  const bool scaled = warp ? name.find("_VS<") != name.npos : name.find("_MXF") != name.npos;
  const std::vector<std::string> arguments = arguments_of(atom);
  if (!scaled || arguments.size() < 5) return std::nullopt;
  const std::string vs = warp                                 ? arguments[4]
                         : name.find("MXF8F6F4") != name.npos ? "32"
                                                              : arguments[6];
  return fmt::format(
      "A and B have scale factors, one {} for each {} elements along K of a row; they are in {} "
      "and "
      "not in this picture.",
      arguments[3], vs, warp ? "registers" : "TMEM");
}

// Where an accumulator is in TMEM. Its panel shows which CTA has an element, by CuTe's
// layout of C; lanes and columns are the hardware's (tmem_accumulator has the source).
std::optional<std::string> lanes_remark(const MmaAtom& atom) {
  if (atom.c.memory != Memory::tmem) return std::nullopt;
  const std::int64_t m = atom.extent(0), n = atom.extent(1), ctas = *size(atom.thr_id);
  const bool sparse = atom.a.sparsity > 1;
  const Result<Layout> map =
      tmem_accumulator(m, n, ctas, sparse ? AccumulatorKind::sparse : AccumulatorKind::dense);
  if (!map) return std::nullopt;
  const auto leaves_on = [](const Tree<Mode>& mode, Axis axis) {
    std::vector<Mode> out;
    for (int i = 0; i < mode.leaves; ++i) {
      if (mode.leaf[i].stride.axis == axis) out.push_back(mode.leaf[i]);
    }
    return out;
  };
  const std::vector<Mode> down = leaves_on(map->modes.mode(0), axis_lane);
  const std::vector<Mode> across = leaves_on(map->modes.mode(1), axis_lane);
  std::string rows = fmt::format("rows are in lanes 0-{}", down[0].shape.value - 1);
  if (down.size() > 1) {
    rows = fmt::format("each {} rows are in lanes {} apart, from lane 0", down[0].shape.value,
                       down[1].stride.value);
  }
  std::string columns = fmt::format("columns 0-{}", n - 1);
  if (!across.empty()) {
    const std::int64_t half = n / across[0].shape.value, upper = across[0].stride.value;
    rows = fmt::format("n below {} is in lanes 0-{}, n from {} on in lanes {}-{}", half, upper - 1,
                       half, upper, 2 * upper - 1);
    columns = fmt::format("columns 0-{}", half - 1);
  }
  return fmt::format("C in TMEM{}: {}, {}; tmem_accumulator{}({},{}{}) draws it.",
                     ctas > 1 ? " of each CTA" : "", rows, columns, sparse ? "_sparse" : "", m, n,
                     ctas > 1 ? ",2" : "");
}

void remark_on(LayoutView& view, const MmaAtom& atom) {
  if (atom.a.sparsity > 1) view.remark(sparse_remark(atom));
  if (auto scales = scale_remark(atom)) view.remark(std::move(*scales));
}

// "f16", or "e4m3 as u8" where an atom stores narrow types in another (sm_120a's).
std::string type_words(OperandName x, const MmaAtom& atom, const MmaOperand& operand) {
  const std::string stored(name_of(operand.type));
  if (x == OperandName::c || atom.name.view().substr(0, 5) != "SM120") return stored;
  const std::vector<std::string> arguments = arguments_of(atom);
  const std::size_t i = x == OperandName::a ? 0 : 1;
  if (i >= arguments.size() || arguments[i] == stored) return stored;
  return fmt::format("{} as {}", arguments[i], stored);
}

// What is written over an operand: what runs down and across, and of what and where it is.
LayoutView::Operand headed(OperandName x, const MmaAtom& atom, const MmaOperand& operand) {
  LayoutView::Operand out;
  out.title = x == OperandName::a ? "A" : x == OperandName::b ? "B" : "C";
  const char* down_across = x == OperandName::a   ? "M down, K across"
                            : x == OperandName::b ? "K down, N across"
                                                  : "M down, N across";
  out.axes = fmt::format("{} in {}{}; {}", type_words(x, atom, operand), words_for(operand.memory),
                         operand.sparsity > 1 ? fmt::format(", sparse {}", kept_of(atom)) : "",
                         down_across);
  out.turned = x == OperandName::b;
  out.shared = operand.memory == Memory::smem;
  out.element_bits = bits_of(operand.type);
  if (out.shared && operand.major != Major::none) {  // elsewhere a major says nothing of the order
    const char* major = operand.major == Major::k ? "K" : x == OperandName::a ? "M" : "N";
    out.axes.insert(out.axes.find(';'), fmt::format(", {}-major", major));
  }
  return out;
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
      return "TMEM";
    case Memory::gmem:
      return "global memory";
    case Memory::coordinate:
      return "coordinates";
  }
  return "";
}

LayoutView::Operand LayoutView::operand_of(const MmaAtom& atom, OperandName x) {
  const MmaOperand& operand = x == OperandName::a ? atom.a : x == OperandName::b ? atom.b : atom.c;
  Operand out = headed(x, atom, operand);
  out.layout = operand.tv;
  out.tile = make_tuple_of(atom.extent(x == OperandName::b ? 1 : 0),
                           atom.extent(x == OperandName::c ? 1 : 2));
  if (!takes_all(atom.thr_id)) out.threads = names_of(atom.thr_id);
  return out;
}

Outcome<LayoutView> LayoutView::of_operand(const MmaAtom& atom, OperandName x, std::string title) {
  return operands({operand_of(atom, x)}, Placing::free, std::move(title),
                  std::string(mark_of_threads(atom)));
}

Outcome<LayoutView> LayoutView::of_atom(const MmaAtom& atom, std::string title) {
  std::vector<Operand> all;
  for (const OperandName x : operand_names) all.push_back(operand_of(atom, x));
  Outcome<LayoutView> view =
      operands(all, Placing::product, std::move(title), std::string(mark_of_threads(atom)));
  if (!view) return view;
  if (auto where = lanes_remark(atom)) view->remark(std::move(*where));
  remark_on(*view, atom);
  return view;
}

Result<LayoutView::Operand> LayoutView::operand_of(const TiledMma& mma, OperandName x) {
  std::array<std::int64_t, 3> extent{};
  for (int i = 0; i < 3; ++i) {
    const Result<std::int64_t> n = tile_size(mma, i);
    if (!n) return n.refusal;
    extent[static_cast<std::size_t>(i)] = *n;
  }
  Operand out = headed(x, mma.atom, mma.operand(x));
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
  if (!one) return refused(sentence(one.refusal));
  return operands({*one}, Placing::free, std::move(title), std::string(mark_of_threads(mma.atom)));
}

Outcome<LayoutView> LayoutView::of_tiled(const TiledMma& mma, std::string title) {
  std::vector<Operand> all;
  for (const OperandName x : operand_names) {
    const Result<Operand> operand = operand_of(mma, x);
    if (!operand) return refused(sentence(operand.refusal));
    all.push_back(*operand);
  }
  Outcome<LayoutView> view =
      operands(all, Placing::product, std::move(title), std::string(mark_of_threads(mma.atom)));
  if (view) remark_on(*view, mma.atom);
  return view;
}

}  // namespace tilescope
