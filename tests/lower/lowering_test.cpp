// The notes' kernel, elementwise_add, letter by letter; what became of what; the check's own eyes.
#include "tests/lower/lowered.h"

#include <algorithm>

namespace tilescope::lowering::testing {
namespace {

const std::string notes =
    "partition_S(make_tiled_copy(UniversalCopy<f32>, (4,32):(32,1), (4,4):(4,1)), ?, "
    "slice(((_,_),?), gmem<f32> o ((16,128),(?,?)):((?,1),(?{div=16},128))))";

TEST(Notes, TheFormsComeOutLetterByLetter) {
  const Lowering l = lowered(notes);
  ASSERT_EQ(l.levels.size(), 5u);
  EXPECT_EQ(type_lines(l),
            (std::vector<std::string>{
                "!copy_simt = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f32>, "
                "layout_copy_tv = <\"((32,4),(4,4)):((64,4),(16,1))\">, tiler_mn = "
                "<\"[16:1;128:1]\">>",
                "!memref_gmem_f32 = !cute.memref<f32, gmem, "
                "\"((16,128),(?,?)):((?,1),(?{div=16},128))\">",
                "!memref_gmem_f32_1 = !cute.memref<f32, gmem, \"(16,128):(?,1)\">",
                "!memref_gmem_f32_2 = !cute.memref<f32, gmem, "
                "\"((1,(4,4)),1,1):((0,(1,?)),0,0)\">"}));
  EXPECT_TRUE(has(lines(l, 0),
                  "%slice = cute.slice(%arg0, %coord) : !memref_gmem_f32, "
                  "!cute.coord<\"((_,_),?)\">"));
  EXPECT_TRUE(has(lines(l, 0),
                  "%src_partitioned = cute.tiled.copy.partition_S(%2, %slice, %coord_0) : "
                  "(!copy_simt, !memref_gmem_f32_1, !cute.coord<\"?\">) -> !memref_gmem_f32_2"));
  EXPECT_EQ(partition_formula(l), "(tid mod 32) * 4 + (tid / 32) * (? * 4)");
  expect_right(l, notes);
}

TEST(Notes, ASliceIsALayoutAndAnOffset) {
  const std::vector<std::string> found = lines(lowered(notes), 1);
  const std::vector<std::string> expected = {
      "%lay = cute.get_layout(%arg0) : !memref_gmem_f32",
      "%slice = cute.slice(%lay, %coord) : "
      "!cute.layout<\"((16,128),(?,?)):((?,1),(?{div=16},128))\">, !cute.coord<\"((_,_),?)\">",
      "%idx = cute.crd2idx(%coord, %lay) : (!cute.coord<\"((_,_),?)\">, "
      "!cute.layout<\"((16,128),(?,?)):((?,1),(?{div=16},128))\">) -> "
      "!cute.int_tuple<\"?{div=16}\">",
      "%iter = cute.get_iter(%arg0) : !memref_gmem_f32",
      "%ptr = cute.add_offset(%iter, %idx) : (!cute.ptr<f32, gmem>, "
      "!cute.int_tuple<\"?{div=16}\">) -> !cute.ptr<f32, gmem>",
      "%view = cute.make_view(%ptr, %slice) : !memref_gmem_f32_1"};
  EXPECT_NE(std::search(found.begin(), found.end(), expected.begin(), expected.end()), found.end());
}

TEST(Notes, ThePartitionIsArithmetic) {
  const std::vector<std::string> found = lines(lowered(notes), 2);
  const std::vector<std::string> expected = {
      "%iter_2 = cute.get_iter(%view) : !memref_gmem_f32_1",
      "%lay_3 = cute.get_layout(%view) : !memref_gmem_f32_1",
      "%3 = cute.get_scalars(%lay_3) <{only_dynamic}> : !cute.layout<\"(16,128):(?,1)\">",
      "%4 = cute.get_scalars(%coord_1) <{only_dynamic}> : !cute.coord<\"?\">",
      "%c4_i32 = arith.constant 4 : i32",
      "%5 = arith.muli %3, %c4_i32 overflow<nsw> : i32",
      "%c32_i32 = arith.constant 32 : i32",
      "%6 = arith.divsi %4, %c32_i32 : i32",
      "%c32_i32_4 = arith.constant 32 : i32",
      "%7 = arith.remsi %4, %c32_i32_4 : i32",
      "%c4_i32_5 = arith.constant 4 : i32",
      "%8 = arith.muli %7, %c4_i32_5 overflow<nsw> : i32",
      "%9 = arith.muli %6, %5 overflow<nsw> : i32",
      "%10 = arith.addi %8, %9 overflow<nsw> : i32",
      "%iv = cute.assume(%10) : (i32) -> !cute.i32<divby 4>",
      "%int_tuple = cute.make_int_tuple(%iv) : (!cute.i32<divby 4>) -> "
      "!cute.int_tuple<\"?{div=4}\">",
      "%ptr_6 = cute.add_offset(%iter_2, %int_tuple) : (!cute.ptr<f32, gmem>, "
      "!cute.int_tuple<\"?{div=4}\">) -> !cute.ptr<f32, gmem>",
      "%shape_7 = cute.make_shape() : () -> !cute.shape<\"((1,(4,4)),1,1)\">",
      "%stride_8 = cute.make_stride(%3) : (i32) -> !cute.stride<\"((0,(1,?)),0,0)\">",
      "%lay_9 = cute.make_layout(%shape_7, %stride_8) : "
      "!cute.layout<\"((1,(4,4)),1,1):((0,(1,?)),0,0)\">",
      "%view_10 = cute.make_view(%ptr_6, %lay_9) : !memref_gmem_f32_2"};
  EXPECT_NE(std::search(found.begin(), found.end(), expected.begin(), expected.end()), found.end());
  EXPECT_TRUE(has(found,
                  "%1:4 = cute.get_scalars(%lay) <{only_dynamic}> : "
                  "!cute.layout<\"((16,128),(?,?)):((?,1),(?{div=16},128))\">"));
  EXPECT_TRUE(has(found, "%stride = cute.make_stride(%1#2) : (i32) -> !cute.stride<\"(?,1)\">"));
}

TEST(Notes, ATensorIsAStructOfWhatIsNotKnown) {
  const Lowering l = lowered("gmem<f32> o (?,?):(?,1)");
  const std::string type = "!llvm.struct<(ptr<1>, struct<(struct<(i32, i32)>, i32)>)>";
  const std::vector<std::string> found = lines(l, 3);
  EXPECT_EQ(found[0], "%arg0: " + type);
  EXPECT_EQ(found[1], "%0 = llvm.extractvalue %arg0[0] : " + type);
  EXPECT_EQ(found[2], "%1 = llvm.extractvalue %arg0[1] : " + type);
  EXPECT_EQ(found[3], "%2 = llvm.extractvalue %1[0] : !llvm.struct<(struct<(i32, i32)>, i32)>");
  EXPECT_EQ(
      lines(l, 0)[3],
      "%0 = cute.get_shape(%lay) : (!cute.layout<\"(?,?):(?,1)\">) -> !cute.shape<\"(?,?)\">");
  expect_right(l, "(?,?):(?,1)");
}

TEST(Lowering, ChangesOnAllLevelsWithTheLayout) {
  std::string other = notes;
  other.replace(other.find("(4,32):(32,1)"), 13, "(8,16):(16,1)");
  other.replace(other.find("(16,128)"), 8, "(32,64)");
  other.replace(other.find("?{div=16},128"), 13, "?{div=32},64");
  const Lowering a = lowered(notes), b = lowered(other);
  for (std::size_t level = 1; level < 5; ++level) {
    EXPECT_NE(lines(a, level), lines(b, level)) << a.levels[level].title;
  }
  EXPECT_EQ(partition_formula(b), "(tid mod 16) * 4 + (tid / 16) * (? * 4)");
  expect_right(b, other);
}

TEST(Lowering, SaysWhatBecameOfWhat) {
  const Lowering l = lowered(notes);
  const auto of = [&](std::size_t level, Op op) {
    for (std::size_t i = 0; i < l.levels[level].statements.size(); ++i) {
      if (l.levels[level].statements[i].op == op) return static_cast<int>(i);
    }
    return -1;
  };
  // The slice: six statements, then the layout by its parts, then LLVM's division by an extent.
  EXPECT_EQ(became(l, 0, of(0, Op::slice), 1).size(), 6u);
  EXPECT_EQ(became(l, 0, of(0, Op::slice), 2).size(), 9u);
  const std::vector<int> end = became(l, 0, of(0, Op::slice), 4);
  EXPECT_TRUE(std::any_of(end.begin(), end.end(), [&](int s) {
    return l.levels[4].statements[static_cast<std::size_t>(s)].op == Op::div;
  }));
  // Back: the last address is the partition's, with its atom and its tiled copy.
  const int last = static_cast<int>(l.levels[4].statements.size()) - 1;
  ASSERT_EQ(l.levels[4].statements.back().op, Op::address);
  const std::vector<int> source = became(l, 4, last, 0);
  ASSERT_FALSE(source.empty());
  EXPECT_EQ(source.back(), of(0, Op::partition));
  EXPECT_EQ(source.front(), of(0, Op::make_atom));
  EXPECT_EQ(became(l, 2, 5, 2), std::vector<int>{5});
  // From the second level on, nothing comes from nowhere.
  for (std::size_t level = 1; level < 5; ++level) {
    for (const Statement& s : l.levels[level].statements) EXPECT_FALSE(s.from.empty());
  }
}

// Each kind of mistake in the numbers of a level is found, so the check is no formality.
TEST(Check, FindsAWrongConstantAWrongPathAndAWrongOperand) {
  const Lowering right = lowered(notes);
  ASSERT_TRUE(check(right));
  int tried = 0;
  for (const std::size_t level : {2u, 3u, 4u}) {
    for (std::size_t i = 0; i < right.levels[level].statements.size(); ++i) {
      Lowering wrong = right;
      Statement& s = wrong.levels[level].statements[i];
      if (s.op == Op::constant) {
        s.number *= 2;
      } else if (s.op == Op::div) {
        s.op = Op::rem;
      } else if (s.op == Op::address || s.op == Op::add) {
        s.uses[1] = s.uses[0];
      } else {
        continue;
      }
      ++tried;
      EXPECT_FALSE(check(wrong)) << right.levels[level].title << " "
                                 << text(right, right.levels[level], static_cast<int>(i));
    }
  }
  EXPECT_GE(tried, 20);
}

TEST(Check, AnAssumptionThatDoesNotHoldIsRefused) {
  Lowering wrong = lowered(notes);
  for (Statement& s : wrong.levels[2].statements) {
    if (s.op == Op::assume) s.type.divisible = 8;
  }
  const Outcome<Checked> checked = check(wrong);
  ASSERT_FALSE(checked);
  EXPECT_NE(checked.error().sentence.find("is no multiple of 8"), std::string::npos)
      << checked.error().sentence;
}

}  // namespace
}  // namespace tilescope::lowering::testing
