// What is asked as text, what each operation becomes, and what is refused with which sentence.
#include "tests/lower/lowered.h"

namespace tilescope::lowering::testing {
namespace {

TEST(Request, OperationsOneInTheOtherAndNames) {
  const std::string copy = "make_tiled_copy(UniversalCopy<f32>, (4,32):(32,1), (4,4):(4,1))";
  const std::string at_once =
      "partition_S(" + copy + ", ?, slice(((_,_),?), zipped_divide((?,?):(?,1), (16,128))))";
  const std::string by_names = "L = zipped_divide((?,?):(?,1), (16,128)); C = " + copy +
                               "; B = slice(((_,_),?), L); partition_S(C, ?, B)";
  const std::string applied =
      "# a comment\nL = zipped_divide((?,?):(?,1), (16,128)); partition_S(" + copy +
      ", ?, L((_,_),?))";
  for (std::size_t level = 0; level < 5; ++level) {
    EXPECT_EQ(lines(lowered(at_once), level), lines(lowered(by_names), level));
    EXPECT_EQ(lines(lowered(at_once), level), lines(lowered(applied), level));
  }
}

TEST(Request, StraightforwardOperations) {
  const Lowering leaves = lowered("get_leaves(get_shape((?,(4,?)):(1,(?,?))))");
  EXPECT_EQ(lines(leaves, 0)[3],
            "%e0, %e1, %e2 = cute.get_leaves(%0) : !cute.shape<\"(?,(4,?))\">");
  expect_right(leaves, "get_leaves");
  const Lowering some = lowered("get_scalars((?,8):(1,?{div=4}), only_dynamic)");
  EXPECT_EQ(lines(some, 0)[2],
            "%0:2 = cute.get_scalars(%lay) <{only_dynamic}> : "
            "!cute.layout<\"(?,8):(1,?{div=4})\">");
  EXPECT_TRUE(has(lines(some, 4), "llvm.extractvalue %arg0[1, 1] : "));
  const Lowering all = lowered("get_scalars((?,8):(1,?{div=4}))");
  EXPECT_EQ(lines(all, 0)[2].substr(0, 4), "%0:4");
  expect_right(all, "get_scalars");
  // The shape of what a thread has is that of the notes.
  const Lowering shape = lowered(
      "get_shape(partition_D(make_tiled_copy(UniversalCopy<f32>, (4,32):(32,1), (4,4):(4,1)), ?, "
      "(16,?):(?,1)))");
  EXPECT_TRUE(has(lines(shape, 0), "-> !cute.shape<\"((1,(4,4)),1,?)\">"));
  EXPECT_TRUE(has(lines(shape, 2), "arith.ceildivsi %1#0"));
  expect_right(shape, "get_shape");
}

TEST(Request, AnIndexIsQuotientsRemaindersAndProducts) {
  const Lowering l = lowered("crd2idx(?, (?,?):(?,1))");
  ASSERT_EQ(l.levels[4].outcome.size(), 1u);
  EXPECT_EQ(formula(l.levels[4], l.levels[4].outcome[0]),
            "(bid mod [1,0,0]) * [1,1] + bid / [1,0,0]");
  const Lowering two = lowered("crd2idx((3,?), (?,?):(?,1))");
  EXPECT_EQ(formula(two.levels[4], two.levels[4].outcome[0]), "[1,1] * 3 + bid");
  const Lowering known = lowered("crd2idx((3,2), (4,8):(1,16))");
  EXPECT_EQ(formula(known.levels[4], known.levels[4].outcome[0]), "35");
  for (const Lowering& each : {l, two, known}) expect_right(each, "crd2idx");
}

TEST(Request, AKnownThreadAndAKnownBlock) {
  const Lowering l = lowered(
      "partition_S(make_tiled_copy(UniversalCopy<f32>, (4,32):(32,1), (4,4):(4,1)), 37, "
      "slice(((_,_),(1,2)), zipped_divide((64,512):(512,1), (16,128))))");
  // 37 is row 1, column 5: (1 * 4) * 512 + 5 * 4; the block is 16 rows and 256 columns on.
  EXPECT_TRUE(has(lines(l, 4), "[2068] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32"));
  EXPECT_TRUE(has(lines(l, 4), "[8448] : (!llvm.ptr<1>)"));
  expect_right(l, "known");
}

TEST(Request, MemoriesAndTypesHaveTheirNames) {
  EXPECT_EQ(lines(lowered("get_iter(smem<e4m3> o (?,8):(8,1))"), 3)[0],
            "%arg0: !llvm.struct<(ptr<3>, struct<(i32, struct<()>)>)>");
  EXPECT_TRUE(
      has(lines(lowered("slice((?,_), smem<e4m3> o (?,8):(8,1))"), 4), "-> !llvm.ptr<3>, i8"));
  EXPECT_EQ(type_lines(lowered("get_iter(smem<e4m3> o (?,8):(8,1))"))[0],
            "!memref_smem_f8E4M3FN = !cute.memref<f8E4M3FN, smem, \"(?,8):(8,1)\">");
}

TEST(Request, RefusalsSayWhatIsWrong) {
  const auto refuses = [](const std::string& expression, const std::string& part) {
    EXPECT_NE(why_not(expression).find(part), std::string::npos)
        << expression << ": " << why_not(expression);
  };
  refuses("", "Nothing to lower");
  refuses("slice((_,?), )", "An argument is missing");
  refuses("slice((_,?))", "slice takes 2 arguments; here are 1");
  refuses("get_iter(3)", "a tensor or a layout can be lowered");
  refuses("Sw<3,3,3> o 0 o (8,64):(64,1)", "has a swizzle");
  refuses("(4,5):(1@0,1@1)", "strides on axes");
  refuses("gmem<e2m1> o (8,8):(8,1)", "less than a byte");
  refuses("tmem<f32> o (8,8):(8,1)", "gmem, smem and rmem");
  refuses("slice((1,2), (8,8):(8,1))", "keeps nothing");
  refuses("slice((_,_,1), (8,8):(8,1))", "3");
  refuses("slice((?,?,?,?,_), (8,8,8,8,8):(1,8,64,512,4096))", "a fourth `?`");
  refuses("partition_S(4, ?, (8,8):(8,1))", "wants a tiled copy");
  refuses("get_leaves(get_iter((8,8):(8,1)))", "get_leaves wants");
  refuses("get_scalars((8,8):(8,1), only_dynamic)", "all of it is known");
  refuses("(4,5:(1", "(4,5:(1");
  refuses(
      "partition_S(make_tiled_copy(UniversalCopy<f32>, (4,32):(32,1), (4,4):(4,1)), 128, "
      "(16,128):(128,1))",
      "128");
  refuses("(8,8):(5000000000,1)", "more than 32 bits");
}

}  // namespace
}  // namespace tilescope::lowering::testing
