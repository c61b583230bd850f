// The language's functions of tiled operations: making them, their thread/value layouts, and what
// a thread has of a tensor.
#include <fmt/format.h>

#include <array>

#include "core/language/explain.h"
#include "core/language/functions.h"
#include "core/tensor/fragment.h"
#include "core/tensor/scale_factors.h"
#include "core/tensor/sparse_metadata.h"
#include "core/tensor/tmem.h"

namespace tilescope::language {
namespace {

constexpr char extent_letter[] = {'M', 'N', 'K'};

// A tile is a whole number of atoms in M, N and K; what is wrong, or empty. CuTe divides by the
// atom's shape in thrfrg_A, _B and _C (include/cute/atom/mma_atom.hpp), where a remainder has no
// threads.
std::string tile_problem(const TiledMma& mma) {
  for (const int extent : {0, 1, 2}) {
    const Result<std::int64_t> tile = tile_size(mma, extent);
    const std::int64_t atom = mma.atom.extent(extent);
    if (!tile || *tile % atom == 0) continue;
    return fmt::format(
        "A tile of {} along {}: the atom has {} there, and a tile is a whole number "
        "of atoms; {} would do.",
        *tile, extent_letter[extent], atom, (*tile / atom + 1) * atom);
  }
  return {};
}

Answer make_tiled_mma_call(const Arguments& a) {
  const Layout threads = a.size() > 1 ? a[1].layout : Layout(1, 0);
  if (!threads.plain()) return Refusal{Refusal::Rule::has_swizzle, -1, 1, 0, 0};
  for (int i = 0; i < threads.leaves(); ++i) {
    const Mode& m = threads.modes.leaf[i];
    if (m.stride.is(0) && !m.shape.is(1)) {
      return Refusal{Refusal::Rule::thread_layout_broadcasts, static_cast<std::int8_t>(i), 1, 0, 0};
    }
  }
  const Result<TiledMma> mma =
      make_tiled_mma(a[0].mma->atom, threads, a.size() > 2 ? a[2].tiler : Tiler{});
  if (!mma) return mma.refusal;
  if (std::string problem = tile_problem(*mma); !problem.empty()) return Reason{std::move(problem)};
  return shared(mma);
}

Answer make_tiled_copy_call(const Arguments& a) {
  return shared(
      make_tiled_copy(*a[0].copy_atom, a[1].layout, a.size() > 2 ? a[2].layout : Layout(1, 0)));
}

template <OperandName x>
Answer make_tiled_copy_as_mma(const Arguments& a) {
  return shared(make_tiled_copy(*a[0].copy_atom, *a[1].mma, x));
}

template <Side side>
Answer make_tiled_copy_as_copy(const Arguments& a) {
  return shared(make_tiled_copy(*a[0].copy_atom, *a[1].copy, side));
}

template <OperandName x>
Answer operand_tv(const Arguments& a) {
  return answer(layout_tv(*a[0].mma, x));
}

template <Side side>
Answer side_tv(const Arguments& a) {
  return answer(layout_tv(*a[0].copy, side));
}

// A part of a tensor is a tensor: its elements lie where they lay. A part of a slice begins as far
// behind the slice's own beginning.
Answer part_of(const Argument& whole, const Result<Slice>& part) {
  if (!part || !whole.tensor) return from(whole.origin, answer(part));
  Tensor out = *whole.tensor;
  out.layout = part->layout;
  if (const Refusal r = out.offset.add(part->offset)) return r;
  return Value(out);
}

template <OperandName x>
Answer partition_operand(const Arguments& a) {
  return part_of(a[2], partition(*a[0].mma, x, a[1].index, a[2].layout));
}

template <Side side>
Answer partition_side(const Arguments& a) {
  return part_of(a[2], partition(*a[0].copy, side, a[1].index, a[2].layout));
}

Answer local_tile_call(const Arguments& a) {
  return part_of(
      a[0], local_tile(a[0].layout, a[1].tiler, a[2].tuple, a.size() > 3 ? a[3].tuple : Tuple{}));
}

Answer local_partition_call(const Arguments& a) {
  return part_of(a[0], local_partition(a[0].layout, a[1].layout, a[2].index,
                                       a.size() > 3 ? a[3].tuple : Tuple{}));
}

Answer make_fragment_like_call(const Arguments& a) {
  const Result<Layout> layout = make_fragment_like(a[0].layout);
  if (!layout || !a[0].tensor) return answer(layout);
  return Value(Tensor{Memory::rmem, a[0].tensor->type, *layout, Place(Int(0))});
}

template <OperandName x>
Answer fragment_operand(const Arguments& a) {
  return answer(fragment(*a[0].mma, x, a[1].index, a[2].layout));
}

// Every thread's fragment is retiled alike; the thread is only checked.
Answer retile_call(const Arguments& a) {
  const Result<std::int64_t> threads = detail::mode_size(a[0].copy->layout_tv, 0);
  if (!threads) return threads.refusal;
  if (const Refusal r = detail::needs_thread(a[1].index, *threads)) return r;
  const Result<Layout> retiled = retile(*a[0].copy, a[2].layout);
  if (a[2].tensor) return with_engine(*a[2].tensor, answer(retiled));
  return from(a[2].origin, answer(retiled));
}

Answer tiler_mn_call(const Arguments& a) {
  return a[0].mma ? answer(tiler_mn(*a[0].mma)) : Answer(Value(a[0].copy->tiler));
}

Answer tile_shape(const Arguments& a) {
  Tuple out;
  for (const int extent : {0, 1, 2}) {
    const Result<std::int64_t> n = tile_size(*a[0].mma, extent);
    if (!n) return n.refusal;
    out.push(Tuple(*n));
  }
  return Value(out);
}

Answer get_slice(const Arguments& a) {
  return answer(thread_coordinate(a[0].mma->thr_layout_vmnk, a[1].index));
}

Answer tmem_fragment_call(const Arguments& a) {
  if (a.size() > 1 && a[1].number == 0) {  // the library's 0 is no split
    return Reason{
        "A split of 0 columns would put both halves into the same ones; without a split they are "
        "side by side."};
  }
  return answer(tmem_fragment(*a[0].copy_atom, a.size() > 1 ? a[1].number : 0));
}

template <AccumulatorKind kind>
Answer tmem_accumulator_call(const Arguments& a) {
  return answer(tmem_accumulator(a[0].number, a[1].number, a.size() > 2 ? a[2].number : 1, kind));
}

// PTX ISA 9.7.16.10.7.1: a factor for 16 or for 32 elements.
Answer scale_factors_call(const Arguments& a) {
  const std::int64_t vector = a.size() > 2 ? a[2].number : 32;
  if (vector != 16 && vector != 32) {
    return Reason{fmt::format("Scale factors for {} elements each; 16 and 32 are.", vector)};
  }
  return answer(scale_factors(a[0].number, a[1].number, vector));
}

Answer tmem_scale_factors_call(const Arguments& a) {
  const std::int64_t halves = a.size() > 2 ? a[2].number : 0;
  if (halves != 0 && halves != 1) {
    return Reason{
        fmt::format("Whether both halves of the lanes differ is {}; 0 and 1 are.", halves)};
  }
  return shared(tmem_scale_factors(a[0].number, a.size() > 1 ? a[1].number : 1, halves == 1));
}

std::optional<Reason> no_width(std::int64_t width) {
  if (width == 4 || width == 8 || width == 16 || width == 32) return std::nullopt;
  return Reason{fmt::format("Elements of A of {} bits; 4, 8, 16 and 32 (tf32) are.", width)};
}

Answer register_metadata_call(const Arguments& a) {
  const std::int64_t width = a[0].number, k = a[1].number;
  const std::int64_t rows = a.size() > 2 ? a[2].number : 16;
  if (auto wrong = no_width(width)) return *wrong;
  if (rows != 16 && rows != 64) {
    return Reason{fmt::format("{} rows; mma.sp has 16, wgmma.mma_async.sp 64.", rows)};
  }
  const std::int64_t chunk = metadata_chunk(width), least = width <= 8 ? 8 : 4;
  if (k != least * chunk && k != 2 * least * chunk) {
    return Reason{fmt::format("K of {} for elements of {} bits; {} and {} are.", k, width,
                              least * chunk, 2 * least * chunk)};
  }
  return answer(register_metadata(width, k, rows));
}

Answer tmem_metadata_call(const Arguments& a) {
  const std::int64_t rows = a.size() > 1 ? a[1].number : 128;
  if (auto wrong = no_width(a[0].number)) return *wrong;
  if (rows != 128 && rows != 64 && rows != 32) {
    return Reason{fmt::format("{} rows; 128 are, and with .ws 64 and 32.", rows)};
  }
  return shared(tmem_metadata(a[0].number, rows));
}

// Each explanation takes the operands of its row.
void tiled_mma_steps(const Arguments& a, Derivation& steps) {
  const Layout threads = a.size() > 1 ? a[1].layout : Layout(1, 0);
  const Result<TiledMma> mma =
      make_tiled_mma(a[0].mma->atom, threads, a.size() > 2 ? a[2].tiler : Tiler{});
  if (mma) explain_tiled_mma(*mma, steps);
}
void tiled_copy_steps(const Arguments& a, Derivation& steps) {
  const Layout values = a.size() > 2 ? a[2].layout : Layout(1, 0);
  explain_thread_value(a[1].layout, values, steps);
  const Result<TiledCopy> copy = make_tiled_copy(*a[0].copy_atom, a[1].layout, values);
  if (copy) explain_tiled_copy(*copy, steps);
}
template <OperandName x>
void copy_as_mma_steps(const Arguments& a, Derivation& steps) {
  const Result<TiledCopy> copy = make_tiled_copy(*a[0].copy_atom, *a[1].mma, x);
  if (copy) explain_tiled_copy(*copy, steps);
}
template <OperandName x>
void operand_steps(const Arguments& a, Derivation& steps) {
  explain_operand(*a[0].mma, x, steps);
}
template <Side side>
void side_steps(const Arguments& a, Derivation& steps) {
  explain_side(*a[0].copy, side, steps);
}
template <OperandName x>
void partition_operand_steps(const Arguments& a, Derivation& steps) {
  explain_partition(*a[0].mma, x, a[1].index, a[2].layout, steps);
}
template <Side side>
void partition_side_steps(const Arguments& a, Derivation& steps) {
  explain_partition(*a[0].copy, side, a[1].index, a[2].layout, steps);
}
template <OperandName x>
void fragment_steps(const Arguments& a, Derivation& steps) {
  explain_fragment(*a[0].mma, x, a[1].index, a[2].layout, steps);
}
void retile_steps(const Arguments& a, Derivation& steps) {
  explain_retile(*a[0].copy, a[2].layout, steps);
}
void local_tile_steps(const Arguments& a, Derivation& steps) {
  explain_local_tile(a[0].layout, a[1].tiler, a[2].tuple, a.size() > 3 ? a[3].tuple : Tuple{},
                     steps);
}
void local_partition_steps(const Arguments& a, Derivation& steps) {
  explain_local_partition(a[0].layout, a[1].layout, a[2].index, a.size() > 3 ? a[3].tuple : Tuple{},
                          steps);
}

const std::array table = {
    Function{{"local_tile", "(T, TILER, COORDINATE[, PROJECTION])",
              "the tile at a coordinate of tiles; `_` keeps all along a mode"},
             "HTSj",
             local_tile_call,
             local_tile_steps},
    Function{{"local_partition", "(T, THREADS, THREAD[, PROJECTION])",
              "what a thread has when THREADS is laid over T again and again"},
             "HKIj",
             local_partition_call,
             local_partition_steps},
    Function{{"make_fragment_like", "(T)", "T's shape without gaps, in registers"},
             "H",
             make_fragment_like_call},
    Function{{"make_tiled_mma", "(ATOM[, THREADS[, TILER]])",
              "an MMA atom repeated over threads (M,N,K); TILER orders and sizes the tile"},
             "Akt",
             make_tiled_mma_call,
             tiled_mma_steps},
    Function{{"make_tiled_copy", "(ATOM, THREADS[, VALUES])",
              "a copy atom repeated over threads (M,N) and the values of each"},
             "PKk",
             make_tiled_copy_call,
             tiled_copy_steps},
    Function{{"make_tiled_copy_A", "(ATOM, MMA)", "a copy by the threads that hold A"},
             "PM",
             make_tiled_copy_as_mma<OperandName::a>,
             copy_as_mma_steps<OperandName::a>},
    Function{{"make_tiled_copy_B", "(ATOM, MMA)", "a copy by the threads that hold B"},
             "PM",
             make_tiled_copy_as_mma<OperandName::b>,
             copy_as_mma_steps<OperandName::b>},
    Function{{"make_tiled_copy_C", "(ATOM, MMA)", "a copy by the threads that hold C"},
             "PM",
             make_tiled_copy_as_mma<OperandName::c>,
             copy_as_mma_steps<OperandName::c>},
    Function{{"make_tiled_copy_S", "(ATOM, COPY)", "a copy as COPY's source sees its tile"},
             "PC",
             make_tiled_copy_as_copy<Side::source>},
    Function{{"make_tiled_copy_D", "(ATOM, COPY)", "a copy as COPY's destination sees its tile"},
             "PC",
             make_tiled_copy_as_copy<Side::destination>},
    Function{{"thr_layout_vmnk", "(MMA)", "(thread of the atom, atom along M, N, K) to thread"},
             "M",
             [](const Arguments& a) { return Answer(Value(a[0].mma->thr_layout_vmnk)); }},
    Function{{"layout_A_TV", "(MMA)", "(thread, value) to the element of A's tile"},
             "M",
             operand_tv<OperandName::a>,
             operand_steps<OperandName::a>},
    Function{{"layout_B_TV", "(MMA)", "(thread, value) to the element of B's tile"},
             "M",
             operand_tv<OperandName::b>,
             operand_steps<OperandName::b>},
    Function{{"layout_C_TV", "(MMA)", "(thread, value) to the element of C's tile"},
             "M",
             operand_tv<OperandName::c>,
             operand_steps<OperandName::c>},
    Function{{"layout_TV", "(COPY)", "(thread, value) to the element of the tile"},
             "C",
             [](const Arguments& a) { return Answer(Value(a[0].copy->layout_tv)); }},
    Function{{"layout_S_TV", "(COPY)", "(thread, value) to the tile, as the source sees it"},
             "C",
             side_tv<Side::source>,
             side_steps<Side::source>},
    Function{{"layout_D_TV", "(COPY)", "(thread, value) to the tile, as the destination sees it"},
             "C",
             side_tv<Side::destination>,
             side_steps<Side::destination>},
    Function{
        {"tiler_mn", "(X)", "the tile's rows and columns: of C, or of a copy"}, "X", tiler_mn_call},
    Function{{"tile_shape", "(MMA)", "the tile's M, N and K"}, "M", tile_shape},
    Function{{"get_slice", "(MMA, THREAD)", "a thread's (V,M,N,K)"},
             "MI",
             get_slice,
             [](const Arguments& a, Derivation& steps) {
               explain_thread(*a[0].mma, a[1].index, steps);
             }},
    Function{{"partition_A", "(MMA, THREAD, L)", "what a thread has of A's layout, and where"},
             "MIH",
             partition_operand<OperandName::a>,
             partition_operand_steps<OperandName::a>},
    Function{{"partition_B", "(MMA, THREAD, L)", "what a thread has of B's layout, and where"},
             "MIH",
             partition_operand<OperandName::b>,
             partition_operand_steps<OperandName::b>},
    Function{{"partition_C", "(MMA, THREAD, L)", "what a thread has of C's layout, and where"},
             "MIH",
             partition_operand<OperandName::c>,
             partition_operand_steps<OperandName::c>},
    Function{{"partition_S", "(COPY, THREAD, L)", "what a thread copies from L, and where"},
             "CIH",
             partition_side<Side::source>,
             partition_side_steps<Side::source>},
    Function{{"partition_D", "(COPY, THREAD, L)", "what a thread copies to L, and where"},
             "CIH",
             partition_side<Side::destination>,
             partition_side_steps<Side::destination>},
    Function{{"fragment_A", "(MMA, THREAD, L)", "the layout of a thread's own copy of A's part"},
             "MIH",
             fragment_operand<OperandName::a>,
             fragment_steps<OperandName::a>},
    Function{{"fragment_B", "(MMA, THREAD, L)", "the layout of a thread's own copy of B's part"},
             "MIH",
             fragment_operand<OperandName::b>,
             fragment_steps<OperandName::b>},
    Function{{"fragment_C", "(MMA, THREAD, L)", "the layout of a thread's accumulators"},
             "MIH",
             fragment_operand<OperandName::c>,
             fragment_steps<OperandName::c>},
    Function{{"retile_S", "(COPY, THREAD, L)", "a fragment in the values of the copy's atom"},
             "CIH",
             retile_call,
             retile_steps},
    Function{{"retile_D", "(COPY, THREAD, L)", "a fragment in the values of the copy's atom"},
             "CIH",
             retile_call,
             retile_steps},
    Function{{"tmem_fragment", "(ATOM[, SPLIT])",
              "(thread, register) of tcgen05.ld or .st to lane and column of TMEM"},
             "Pn",
             tmem_fragment_call},
    Function{{"tmem_accumulator", "(M, N[, CTAS])",
              "(m, n) of tcgen05.mma's result to CTA, lane and column of TMEM"},
             "NNn",
             tmem_accumulator_call<AccumulatorKind::dense>},
    Function{{"tmem_accumulator_sparse", "(M, N[, CTAS])", "the same for a sparse A (.sp)"},
             "NNn",
             tmem_accumulator_call<AccumulatorKind::sparse>},
    Function{{"tmem_accumulator_ws", "(M, N)", "the same for tcgen05.mma.ws (weight-stationary)"},
             "NN",
             tmem_accumulator_call<AccumulatorKind::weight_stationary>},
    Function{
        {"scale_factors", "(ROWS, K[, VS])",
         "(row, k) to its scale factor in memory, as CUTLASS lays them; VS elements share one"},
        "NNn",
        scale_factors_call},
    Function{{"tmem_scale_factors", "(ROWS[, CELLS[, HALVES]])",
              "(row, cell of four factors) to the lanes of TMEM where tcgen05.mma wants them"},
             "Nnn",
             tmem_scale_factors_call},
    Function{{"register_metadata", "(WIDTH, K[, ROWS])",
              "(row, chunk, selector) of a sparse A to the lane and bits of its metadata: mma.sp; "
              "64 rows: wgmma"},
             "NNn",
             register_metadata_call},
    Function{{"tmem_metadata", "(WIDTH[, ROWS])",
              "(row, chunk, selector) of a sparse A to TMEM: where tcgen05.mma.sp finds it"},
             "Nn",
             tmem_metadata_call},
};

}  // namespace

Answer tensor_of(const Tensor& place, const Value& right) {
  // A tensor's layout goes through a tiler, and the elements stay where they are (CuTe,
  // include/cute/tensor_impl.hpp, composition).
  if (!place.alone()) return with_engine(place, compose(Value(place.layout), right));
  if (const Slice* slice = std::get_if<Slice>(&right)) {
    Tensor out = place;
    out.layout = slice->layout;
    if (const Refusal r = out.offset.add(slice->offset)) return r;
    return Value(out);
  }
  const Layout* layout = std::get_if<Layout>(&right);
  if (!layout) {
    return Reason{fmt::format("The elements of a tensor are where a layout says, and this is {}.{}",
                              kind_of(right), advice_for(right, "a layout"))};
  }
  Tensor out = place;
  out.layout = *layout;
  return Value(out);
}

Answer with_engine(const Tensor& whole, Answer answer) {
  Answer placed = from(Place(), std::move(answer));
  const Value* value = std::get_if<Value>(&placed);
  const Layout* layout = value ? std::get_if<Layout>(value) : nullptr;
  const Slice* slice = value ? std::get_if<Slice>(value) : nullptr;
  if (!layout && !slice) return placed;
  Tensor out = whole;
  out.layout = slice ? slice->layout : *layout;
  if (slice) {
    if (const Refusal r = out.offset.add(slice->offset)) return r;
  }
  return Value(out);
}

Answer moved(Tensor tensor, const Value& offset) {
  const Tuple* number = std::get_if<Tuple>(&offset);
  const Place* place = std::get_if<Place>(&offset);
  if (!place && !(number && number->scalar())) {
    return Reason{
        fmt::format("A tensor begins at an offset or a place, and this is {}.", kind_of(offset))};
  }
  const Refusal r = place ? tensor.offset.add(*place) : tensor.offset.add(number->leaf[0]);
  if (r) return r;
  return Value(tensor);
}

std::span<const Function> functions_tensor() {
  return table;
}

}  // namespace tilescope::language
