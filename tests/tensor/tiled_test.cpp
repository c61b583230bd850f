// Tiled operations: what all threads have together is the tensor, and each has what the
// thread/value layouts say.
#include <gtest/gtest.h>

#include <set>

#include "core/layout/text.h"
#include "core/tensor/catalog.h"
#include "core/tensor/fragment.h"
#include "core/tensor/tiled_copy.h"
#include "tests/tensor/offsets.h"

namespace tilescope {
namespace {

using test::at;
using test::counts_through;
using test::offsets;

MmaAtom mma_atom(std::string_view name) {
  return std::get<MmaAtom>(*atom_named(name));
}
CopyAtom copy_atom(std::string_view name) {
  return std::get<CopyAtom>(*atom_named(name));
}
Layout shaped(const Tuple& shape) {
  return *make_layout(shape);
}

struct Case {
  const char* atom;
  Layout threads;
  Tiler tiler;
};

std::vector<Case> cases() {
  Tiler reordered;
  reordered.push(Tiler::number(64));
  reordered.push(Tiler(make_layout_of(Layout(8, 1), Layout(2, 16), Layout(2, 8))));
  reordered.push(Tiler::number(16));
  return {{"SM80_16x8x16_F32F16F16F32_TN", shaped(make_tuple_of(2, 2, 1)), {}},
          {"SM80_16x8x16_F32F16F16F32_TN", shaped(make_tuple_of(4, 2)), reordered},
          {"SM70_8x8x4_F32F16F16F32_NT", make_layout_of(Layout(2, 2), Layout(2, 1)), {}},
          {"SM80_8x8x4_F64F64F64F64_TN", shaped(make_tuple_of(1, 2, 2)), {}},
          {"UniversalFMA<f32>", make_layout_of(Layout(8, 4), Layout(4, 1)), {}},
          {"SM90_64x24x16_F16F16F16_RS<K,K>", shaped(make_tuple_of(2, 1, 1)), {}},
          {"SM100_MMA_F16BF16_2x1SM_SS<f16,f16,f32,128,64,K,K>", Layout(1, 0), {}}};
}

// The threads of an MMA: those that thread_coordinate() does not refuse.
std::vector<std::int64_t> threads_of(const TiledMma& mma) {
  std::vector<std::int64_t> out;
  for (std::int64_t t = 0; t < cosize(mma.thr_layout_vmnk).value; ++t) {
    if (thread_coordinate(mma.thr_layout_vmnk, t)) out.push_back(t);
  }
  return out;
}

TEST(TiledMmas, AllThreadsTogetherHaveEachElementEquallyOften) {
  for (const Case& c : cases()) {
    const Result<TiledMma> mma = make_tiled_mma(mma_atom(c.atom), c.threads, c.tiler);
    ASSERT_TRUE(mma.ok()) << c.atom << sentence(mma.refusal);
    for (const OperandName x : {OperandName::a, OperandName::b, OperandName::c}) {
      const auto [first, second] = detail::extents_of(x);
      const std::int64_t rows = 2 * *tile_size(*mma, first), columns = *tile_size(*mma, second);
      const Layout tensor = shaped(make_tuple_of(rows, columns));
      std::vector<std::int64_t> all;
      for (const std::int64_t t : threads_of(*mma)) {
        const Result<Slice> part = partition(*mma, x, t, tensor);
        ASSERT_TRUE(part.ok()) << c.atom << sentence(part.refusal);
        for (const std::int64_t o : offsets(part->layout)) {
          all.push_back(o + part->offset.offset().value);
        }
      }
      const std::int64_t each = static_cast<std::int64_t>(all.size()) / (rows * columns);
      EXPECT_GE(each, 1) << c.atom;
      EXPECT_TRUE(counts_through(all, rows * columns, each)) << c.atom;
    }
  }
}

TEST(TiledMmas, PartitionsOfOneTileAreTheThreadValueLayouts) {
  for (const Case& c : cases()) {
    const Result<TiledMma> mma = make_tiled_mma(mma_atom(c.atom), c.threads, c.tiler);
    for (const OperandName x : {OperandName::a, OperandName::b, OperandName::c}) {
      const auto [first, second] = detail::extents_of(x);
      const Layout tile = shaped(make_tuple_of(*tile_size(*mma, first), *tile_size(*mma, second)));
      const bool adds_up = size(Layout(mma->thr_layout_vmnk.modes.mode(3))).value > 1;
      if (x == OperandName::c && adds_up) continue;  // see layout_tv()
      const Result<Layout> tv = layout_tv(*mma, x);
      ASSERT_TRUE(tv.ok()) << c.atom << sentence(tv.refusal);
      const std::vector<std::int64_t> threads = threads_of(*mma);
      for (std::size_t i = 0; i < threads.size(); ++i) {
        const Result<Slice> part = partition(*mma, x, threads[i], tile);
        ASSERT_TRUE(part.ok());
        const std::int64_t values = size(part->layout).value;
        ASSERT_EQ(values, size(Layout(tv->modes.mode(1))).value) << c.atom;
        // Threads that take no part leave gaps in the numbers, not in the layout.
        for (std::int64_t v = 0; v < values; ++v) {
          EXPECT_EQ(part->layout(v) + part->offset.offset().value,
                    at(*tv, static_cast<std::int64_t>(i), v))
              << c.atom << " thread " << threads[i];
        }
      }
    }
  }
}

// A kernel's thread is not known while it is compiled: what it has is what every thread has, and
// its offset is a multiple of what divides theirs.
TEST(TiledMmas, AnUnknownThreadHasWhatEveryThreadHas) {
  int divided = 0;
  for (const Case& c : cases()) {
    const Result<TiledMma> mma = make_tiled_mma(mma_atom(c.atom), c.threads, c.tiler);
    for (const OperandName x : {OperandName::a, OperandName::b, OperandName::c}) {
      const auto [first, second] = detail::extents_of(x);
      const std::int64_t columns = *tile_size(*mma, second);
      const Layout tensor =
          make_layout_of(Layout(2 * *tile_size(*mma, first), columns), Layout(columns, 1));
      for (const std::int64_t divisor : {1, 2, 32}) {
        const Result<Slice> any = partition(*mma, x, Int::unknown(divisor), tensor);
        ASSERT_TRUE(any.ok()) << c.atom << sentence(any.refusal);
        divided += any->offset.offset().value > 1;
        for (const std::int64_t t : threads_of(*mma)) {
          if (t % divisor != 0) continue;
          const Slice known = *partition(*mma, x, t, tensor);
          EXPECT_EQ(any->layout, known.layout) << c.atom;
          const Int is = known.offset.offset(), may_be = any->offset.offset();
          EXPECT_TRUE(may_be.known() ? is == may_be : is.value % may_be.value == 0)
              << c.atom << " thread " << t << ": " << text(*any);
        }
      }
    }
  }
  EXPECT_GT(divided, 10);
}

TEST(TiledMmas, FragmentsAreAsLargeAsTheirPartsAndWithoutGaps) {
  const TiledMma mma =
      *make_tiled_mma(mma_atom("SM80_16x8x16_F32F16F16F32_TN"), shaped(make_tuple_of(2, 2, 1)));
  const Layout tensor = make_layout_of(Layout(128, 64), Layout(64, 1));
  for (const OperandName x : {OperandName::a, OperandName::b, OperandName::c}) {
    const Result<Layout> kept = fragment(mma, x, 5, tensor);
    ASSERT_TRUE(kept.ok()) << sentence(kept.refusal);
    EXPECT_EQ(kept->shape(), partition(mma, x, 5, tensor)->layout.shape());
    EXPECT_TRUE(counts_through(offsets(*kept), size(*kept).value));
  }
}

TEST(TiledMmas, AccumulatorsInTensorMemoryDoNotMeet) {
  for (const char* name : {"SM100_MMA_F16BF16_SS<f16,f16,f32,64,64,K,K>",
                           "SM100_MMA_F16BF16_TS<f16,f16,f32,64,64,K,K>",
                           "SM100_MMA_F16BF16_2x1SM_SS<f16,f16,f16,128,64,K,K>",
                           "SM100_MMA_F16BF16_SS<f16,f16,f32,128,128,K,K>"}) {
    const TiledMma mma = *make_tiled_mma(mma_atom(name));
    const Tuple two_tiles = make_tuple_of(2 * *tile_size(mma, 0), 2 * *tile_size(mma, 1));
    const Result<Layout> kept = fragment(mma, OperandName::c, 0, shaped(two_tiles));
    ASSERT_TRUE(kept.ok()) << name << sentence(kept.refusal);
    const std::vector<std::int64_t> all = offsets(*kept);
    EXPECT_EQ(std::set<std::int64_t>(all.begin(), all.end()).size(), all.size()) << name;
  }
}

// A quad-pair is threads 0 to 3 and 16 to 19 of a warp; the values are CuTe's.
TEST(TiledMmas, ThreadsBetweenQuadPairsDoAsOthersDo) {
  const TiledMma mma = *make_tiled_mma(mma_atom("SM70_8x8x4_F32F16F16F32_TN"));
  const Layout tensor = shaped(make_tuple_of(8, 8));
  for (const auto& [between, other] : {std::pair{5, 1}, {12, 0}, {20, 16}, {31, 19}}) {
    EXPECT_EQ(partition(mma, OperandName::c, between, tensor)->offset,
              partition(mma, OperandName::c, other, tensor)->offset)
        << between;
  }
}

TEST(TiledMmas, RefusesWhatHasNoAnswer) {
  const TiledMma mma = *make_tiled_mma(mma_atom("SM70_8x8x4_F32F16F16F32_TN"));
  const Layout tensor = shaped(make_tuple_of(8, 8));
  using Rule = Refusal::Rule;
  EXPECT_EQ(partition(mma, OperandName::c, 32, tensor).refusal.rule, Rule::no_such_thread);
  EXPECT_EQ(partition(mma, OperandName::c, -1, tensor).refusal.rule, Rule::no_such_thread);
  EXPECT_EQ(partition(mma, OperandName::c, 0, Layout(8, 1)).refusal.rule, Rule::rank_too_small);
  const Result<TiledMma> same =
      make_tiled_mma(mma_atom("UniversalFMA<f32>"), make_layout_of(Layout(2, 0), Layout(2, 1)));
  EXPECT_EQ(partition(*same, OperandName::c, 0, tensor).refusal.rule,
            Rule::thread_layout_broadcasts);
}

TEST(TiledCopies, AllThreadsTogetherMoveTheTensorOnce) {
  const TiledCopy copy =
      *make_tiled_copy(copy_atom("UniversalCopy<u128,f16>"),
                       make_layout_of(Layout(16, 8), Layout(8, 1)), shaped(make_tuple_of(1, 8)));
  const Layout tensor = make_layout_of(Layout(48, 128), Layout(128, 1));
  for (const Side side : {Side::source, Side::destination}) {
    std::vector<std::int64_t> all;
    for (int t = 0; t < 128; ++t) {
      const Result<Slice> part = partition(copy, side, t, tensor);
      ASSERT_TRUE(part.ok()) << sentence(part.refusal);
      for (const std::int64_t o : offsets(part->layout)) {
        all.push_back(o + part->offset.offset().value);
      }
    }
    EXPECT_TRUE(counts_through(all, 48 * 128));
  }
}

// ldmatrix: lane l names row l % 8 of matrix l / 8, and gets elements 2 * (l % 4) and the next of
// row l / 4 of each matrix (PTX ISA, ldmatrix).
TEST(TiledCopies, LdmatrixReadsRowsAndHandsOutPairs) {
  const TiledMma mma = *make_tiled_mma(mma_atom("SM80_16x8x16_F32F16F16F32_TN"));
  const TiledCopy copy = *make_tiled_copy(copy_atom("SM75_U32x4_LDSM_N"), mma, OperandName::a);
  const Layout tensor = make_layout_of(Layout(16, 16), Layout(16, 1));  // row-major
  for (int lane = 0; lane < 32; ++lane) {
    const Slice row = *partition(copy, Side::source, lane, tensor);
    const int matrix = lane / 8;
    EXPECT_EQ(row.offset.offset().value, (lane % 8 + 8 * (matrix % 2)) * 16 + 8 * (matrix / 2));
    for (int v = 0; v < 8; ++v) EXPECT_EQ(row.layout(v), v);
    const Slice pairs = *partition(copy, Side::destination, lane, tensor);
    EXPECT_EQ(pairs.offset.offset().value, lane / 4 * 16 + 2 * (lane % 4));
  }
}

TEST(TiledCopies, RetilingKeepsEveryRegister) {
  const TiledMma mma =
      *make_tiled_mma(mma_atom("SM80_16x8x16_F32F16F16F32_TN"), shaped(make_tuple_of(2, 2, 1)));
  const TiledCopy copy = *make_tiled_copy(copy_atom("SM75_U32x4_LDSM_N"), mma, OperandName::a);
  const Layout kept =
      *fragment(mma, OperandName::a, 0, make_layout_of(Layout(128, 64), Layout(64, 1)));
  const Result<Layout> again = retile(copy, kept);
  ASSERT_TRUE(again.ok()) << sentence(again.refusal);
  EXPECT_EQ(again->shape(), make_tuple_of(make_tuple_of(8, 1), 4, 4));
  EXPECT_TRUE(counts_through(offsets(*again), size(kept).value));
}

TEST(TiledCopies, RefusesAtomsThatDoNotFit) {
  using Rule = Refusal::Rule;
  EXPECT_EQ(make_tiled_copy(copy_atom("UniversalCopy<u128,f16>"), Layout(32, 1), Layout(4, 1))
                .refusal.rule,
            Rule::copy_values);
  EXPECT_EQ(
      make_tiled_copy(copy_atom("SM75_U32x1_LDSM_N"), Layout(16, 1), Layout(2, 1)).refusal.rule,
      Rule::copy_threads);
}

// The value needs no heap and no type per shape: it is there at compile time.
constexpr bool at_compile_time() {
  MmaAtom atom;
  atom.shape_mnk = make_tuple_of(1, 1, 1);
  atom.thr_id = Layout(1, 0);
  const Layout one = make_layout_of(Layout(1, 0), Layout(1, 0));
  atom.a.tv = atom.b.tv = atom.c.tv = one;
  const Result<TiledMma> mma = make_tiled_mma(atom, make_layout_of(Layout(2, 1), Layout(2, 2)));
  const Result<Slice> part =
      partition(*mma, OperandName::c, 3, make_layout_of(Layout(4, 1), Layout(4, 4)));
  return part.ok() && part->offset.offset().is(5);
}
static_assert(at_compile_time());

}  // namespace
}  // namespace tilescope
