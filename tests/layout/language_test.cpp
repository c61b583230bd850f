// The language: what CuTe prints, what we print, and what is said about mistakes.
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "core/language/language.h"
#include "core/layout/text.h"
#include "tests/layout/constexpr_check.h"
#include "tests/layout/generate.h"

namespace tilescope {
namespace {

std::string value_of(std::string_view expression) {
  const Evaluated result = evaluate(expression);
  if (const Problem* problem = std::get_if<Problem>(&result)) return "error: " + problem->sentence;
  return text(std::get<Value>(result));
}

Problem problem_of(std::string_view expression) {
  const Evaluated result = evaluate(expression);
  const Problem* problem = std::get_if<Problem>(&result);
  EXPECT_TRUE(problem) << expression << " has a value: " << value_of(expression);
  return problem ? *problem : Problem{};
}

TEST(Language, AnswersWhatCuTePrints) {
  std::ifstream file(std::string(TILESCOPE_TESTS_DIR) + "/cute.tsv");
  int rows = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::size_t tab = line.find('\t');
    ASSERT_NE(tab, line.npos) << line;
    EXPECT_EQ(value_of(line.substr(0, tab)), line.substr(tab + 1)) << line;
    ++rows;
  }
  EXPECT_GT(rows, 150);
}

TEST(Language, PrintsLayoutsAsTheyAreWritten) {
  for (const char* same :
       {"9:59", "(9,(4,8)):(59,(13,1))", "(2):(1)", "((1),4):((2),16)",
        "Sw<3,4,3> o 0 o (8,64):(64,1)", "Sw<2,0,-3> o 5 o 4:1", "(16,128):(1@0,1@1)",
        "(128,512):(1@TLane,1@TCol)", "4:2@1@0", "(?,?{div=16}):(?{div=4},1)", "<3:3,(2,4):(1,8)>",
        "<4,_>", "(1,(2,3))", "_", "7"}) {
    EXPECT_EQ(value_of(same), same);
  }
  EXPECT_EQ(value_of("UniversalFMA<float>{}"), value_of("UniversalFMA<f32>"));
  EXPECT_EQ(value_of(" ( _2 , _4 ) : ( _1 , 2 ) # as CuTe prints"), "(2,4):(1,2)");
}

TEST(Language, PrintingThenParsingIsTheIdentity) {
  testing::Layouts layouts(21);
  for (int round = 0; round < 2000; ++round) {
    const Layout a = layouts.any(static_cast<int>(layouts.number(1, 8)));
    const Evaluated back = evaluate(text(a));
    ASSERT_TRUE(std::holds_alternative<Value>(back)) << text(a);
    ASSERT_EQ(std::get<Layout>(std::get<Value>(back)), a) << text(a);
  }
}

TEST(Language, CompileTimeIsRunTime) {
  constexpr Layout divided = must(zipped_divide(compile_time::input, compile_time::tiler));
  EXPECT_EQ(text(divided), value_of("zipped_divide((9,(4,8)):(59,(13,1)), <3:3,(2,4):(1,8)>)"));
  EXPECT_EQ("(" + text(compile_time::tv.tiler) + "," + text(compile_time::tv.layout) + ")",
            value_of("make_layout_tv((4,32):(32,1), (4,4):(4,1))"));
}

TEST(Language, AMarkInATilerLeavesAModeWhole) {
  EXPECT_EQ(value_of("zipped_divide((8,6):(6,1), <4,_>)"), "((4,6),(2,1)):((6,1),(24,0))");
  EXPECT_EQ(value_of("composition((8,6):(6,1), <4,_>)"), "(4,6):(6,1)");
  // The swizzle of the left side stays in front.
  EXPECT_EQ(value_of("zipped_divide(Sw<2,0,2> o 0 o (4,4):(4,1), <2,_>)"),
            "Sw<2,0,2> o 0 o ((2,4),(2,1)):((4,1),(8,0))");
}

TEST(Language, ATilersOneIsOneZeroWhereItCuts) {
  EXPECT_EQ(value_of("zipped_divide((2,4):(1,2), <1,2>)"), "((1,2),(2,2)):((0,2),(1,4))");
  EXPECT_EQ(value_of("zipped_divide((2,4):(1,2), <1:1,2>)"), "((1,2),(2,2)):((1,2),(1,4))");
  EXPECT_EQ(value_of("composition((2,4):(1,2), <1,2>)"), "(1,2):(1,2)");
}

TEST(Language, AListThatIsTooLongIsRefused) {
  EXPECT_NE(problem_of("indices(2097152:1)").sentence.find("counted out"), std::string::npos);
}

TEST(Language, BindingsLiveInTheirScope) {
  Scope scope;
  EXPECT_EQ(text(std::get<Value>(*scope.evaluate("A = (8,8):(8,1)"))), "(8,8):(8,1)");
  EXPECT_EQ(text(std::get<Value>(*scope.evaluate("B = get(A, 0); size(B)"))), "8");
  EXPECT_EQ(text(std::get<Value>(*scope.evaluate("zipped_divide(A, <4,4>)"))),
            "((4,4),(2,2)):((8,1),(32,4))");
  EXPECT_FALSE(scope.evaluate("  # nothing here").has_value());
  // A line with a problem binds nothing, not even what stood before the problem.
  EXPECT_TRUE(std::holds_alternative<Problem>(*scope.evaluate("C = 4:1; size(D)")));
  EXPECT_TRUE(std::holds_alternative<Problem>(*scope.evaluate("C")));
  EXPECT_TRUE(std::holds_alternative<Problem>(*scope.evaluate("size = 4:1")));
}

TEST(Language, CoordinatesOffsetsAndSlices) {
  EXPECT_EQ(value_of("crd2idx((3,5), (8,8):(8,1))"), "29");
  EXPECT_EQ(value_of("idx2crd(5, (2,(2,2)))"), "(1,(0,1))");
  EXPECT_EQ(value_of("coordinates(29, (8,8):(8,1))"), "(3,5)");
  EXPECT_EQ(value_of("coordinates(0, (2,2):(1,0))"), "(0,0) (0,1)");
  EXPECT_EQ(value_of("coordinates(99, (8,8):(8,1))"), "none");
  EXPECT_EQ(value_of("A = (8,8):(8,1); A(3,5)"), "29");
  EXPECT_EQ(value_of("A = (8,8):(8,1); A(3,_)"), "(8):(1) off 24");
  EXPECT_EQ(value_of("slice(((_,1),_), ((2,4),3):((1,2),8))"), "(2,3):(1,8)");
  EXPECT_EQ(value_of("indices((2,3):(3,1))"), "0,3,1,4,2,5");
}

// CuTe's Step is a tuple of 1s and of X, its name for `_`; elsewhere X is a name like any other.
TEST(Language, AProjectionIsWrittenAsCuTesStep) {
  const std::string tile = "local_tile((128,64):(64,1), (32,8,16), (1,3,_), ";
  for (const char* step :
       {"(1,X,1))", "<1,_,1>)", "<1,X,1>)", "Step<_1,X,_1>)", "Step<_1, X,_1>{})"}) {
    EXPECT_EQ(value_of(tile + step), "(32,16,4):(64,1,16) off 2048") << step;
  }
  EXPECT_EQ(value_of("local_partition((8,8):(8,1), (2,2,2), 5, Step<_1,X,_1>{})"),
            value_of("local_partition((8,8):(8,1), (2,2,2), 5, (1,_,1))"));
  EXPECT_EQ(value_of("X = (1,_,1); " + tile + "X)"), "(32,16,4):(64,1,16) off 2048");
  EXPECT_FALSE(problem_of(tile + "<1,2:1,1>)").sentence.empty());
  EXPECT_FALSE(problem_of(tile + "Step)").sentence.empty());
  EXPECT_FALSE(problem_of("size(X)").sentence.empty());
}

// What is made of a tile, a partition or a slice begins where that begins: worked out by hand from
// the offset of the element's coordinate in the whole.
TEST(Language, WhatIsMadeOfASliceBeginsWhereItDoes) {
  const std::string mma = "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN)";
  const std::string tile =
      "A = (64,64):(64,1); T = local_tile(A, <32,32>, (1,0)); ";                    // from (32,0)
  EXPECT_EQ(value_of("A = (32,16):(16,1); T = zipped_divide(A, <16,8>)((_,_),1); "  // from (16,0)
                     "partition_C(" +
                     mma + ", 5, T)"),
            "((2,2),1,1):((1,128),0,0) off 274");  // 16*16 + thread 5's (1,2)
  EXPECT_EQ(value_of(tile + "local_tile(T, <16,16>, (1,1))"), "(16,16):(64,1) off 3088");
  EXPECT_EQ(value_of(tile + "local_partition(T, (8,4), 5)"), "(4,8):(512,4) off 2368");
  EXPECT_EQ(value_of(tile + "crd2idx((0,0), T)"), "2048");
  EXPECT_EQ(value_of(tile + "T(1,2)"), "2114");
  EXPECT_EQ(value_of(tile + "indices(get(local_tile(T, <2,2>, (0,1)), 0))"), "2050,2114");
  EXPECT_EQ(value_of(tile + "coordinates(2114, T)"), "(1,2)");
  EXPECT_EQ(value_of(tile + "zipped_divide(T, <16,16>)"),
            "((16,16),(2,2)):((64,1),(1024,16)) off 2048");
  EXPECT_EQ(value_of(tile + "zipped_divide(T, <16,16>)((_,_),(1,1))"), "(16,16):(64,1) off 3088");
  EXPECT_EQ(value_of(tile + "T o <4,8>"), "(4,8):(64,1) off 2048");
  EXPECT_EQ(value_of(tile + "5 o T"), "(32,32):(64,1) off 2053");
  EXPECT_EQ(value_of(tile + "Sw<3,4,3> o T"), "Sw<3,4,3> o 2048 o (32,32):(64,1)");
  EXPECT_EQ(value_of(tile + "coalesce(T)"), "(32,32):(64,1) off 2048");
  EXPECT_EQ(value_of(tile + "upcast(T, 8)"), "(32,4):(8,1) off 256");
  EXPECT_EQ(value_of(tile + "max_common_vector(T, T)"),
            value_of("max_common_vector((32,32):(64,1), (32,32):(64,1))"));
  EXPECT_EQ(value_of(tile + "to_tirx(T)"), "S[(32,32):(1,64)] + 2048");
  EXPECT_EQ(value_of(tile + "smem<f16> o T"), "smem<f16>+2048 o (32,32):(64,1)");
  EXPECT_EQ(value_of(tile + "make_fragment_like(T)"), "(32,(32)):(1,(32))") << "memory of its own";
}

// The same on axes, where a slice begins at a coordinate or in tensor memory.
TEST(Language, ASliceOnAxesBeginsAtItsPlace) {
  const std::string mma = "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN)";
  const std::string tile = "A = make_identity_layout((32,32)); T = local_tile(A, <16,16>, (1,0)); ";
  EXPECT_EQ(value_of(tile + "partition_A(" + mma + ", 7, T)"),
            "((2,2,2),1,1):((1@1,8@0,8@1),0,0) off (17,6)");
  EXPECT_EQ(value_of(tile + "crd2idx((2,3), T)"), "(18,3)");
  EXPECT_EQ(value_of(tile + "T(2,_)(3)"), "(18,3)");
  EXPECT_EQ(value_of(tile + "indices(local_tile(T, <2,1>, (0,1)))"), "(16,1) (17,1)");
  EXPECT_EQ(value_of("A = (64,64):(1@TLane,1@TCol); T = local_tile(A, <32,32>, (1,1)); "
                     "local_tile(T, <16,16>, (1,0))"),
            "(16,16):(1@TLane,1@TCol) off 48@TLane+32@TCol");
}

TEST(Language, ASliceOfASliceIsASlice) {
  const std::string b = "A = (4,(2,3)):(1,(4,8)); B = A(_,3); ";  // column 3 is (1,1), 12 on
  EXPECT_EQ(value_of(b + "B"), "(4):(1) off 12");
  EXPECT_EQ(value_of(b + "B(2)"), "14");
  EXPECT_EQ(value_of(b + "B(_)"), "(4):(1) off 12");
  EXPECT_EQ(value_of("A = (4,(2,3)):(1,(4,8)); A(_,(1,_))(2,_)"), "(3):(8) off 6");
}

struct Mistake {
  const char* expression;
  const char* sentence;  // a part of it
  const char* at;        // the text that is marked
};

TEST(Language, MistakesGetASentenceAndAPlace) {
  const Mistake mistakes[] = {
      {"(3,4):(1", "Expected `)` or `,` in a tuple, found the end", ""},
      {"zipped_dvide(4:1, 2)", "did you mean `zipped_divide`", "zipped_dvide"},
      {"foo", "neither a function nor a name", "foo"},
      {"(3,4):(1,2,3)", "differ in structure", "(3,4):(1,2,3)"},
      {"coalesce((2,4))", "Did you mean make_layout((2,4))", "(2,4)"},
      {"flatten(4:1, 5)", "called with 2 arguments", "flatten(4:1, 5)"},
      {"complement((4,4):(1,3), 24)", "visits an offset twice", "(4,4):(1,3)"},
      {"0:1", "extents are 1 or more", "0:1"},
      {"99999999999999999999:1", "does not fit in 64 bits", "99999999999999999999"},
      {"(4611686018427387904,4):(1,1)", "does not fit in 64 bits", "(4611686018427387904,4):(1,1)"},
      {"4:1 5", "Expected an operator or the end, found `5`", "5"},
      {"4:1 @", "Expected an axis", ""},
      {"Sw<3,4,1> o 0 o 8:1", "source and target overlap", "Sw<3,4,1>"},
      {"composition((8,2):(2,1), (6,2):(1,6))", "runs over its end", "(8,2):(2,1)"},
      {"(1,2):3", "differ in structure", "(1,2):3"},
      {"((1,2),3):(1,2,3)", "nested differently", "((1,2),3):(1,2,3)"},
      {"composition((4,8):(8,1), SM75_U32x4_LDSM_N)", "right side of a composition is a copy atom",
       "composition"},
      {"make_layout(4:1, SM75_U32x4_LDSM_N)", "this is a copy atom", "make_layout"},
      {"idx2crd(_, (4,8))", "argument 1 is `_`", "_"},
      {"rank(SM75_U32x4_LDSM_N)", "has no modes", "rank"},
      {"smem<f16> o 4:1 o SM75_U32x4_LDSM_N", "is a copy atom", "4:1"},
      {"logical_product(smem<f16> o 4:1, 2)", "layout(T) is the layout", "smem<f16> o 4:1"},
      {"4:1 o (smem<f16> o 4:1)", "layout(T) is the layout", "4:1 o (smem<f16> o 4:1)"},
      {"((((((((((1))))))))))", "Nested deeper than 8", "((((((((1))))))))"},
      {"<4,8", "Expected `>` or `,` in a tiler", ""},
      {"get(4:1, 3)", "There is no mode 3", "get(4:1, 3)"},
      {"1@nowhere", "Expected an axis", "nowhere"},
      {"(4:1, 5:1)", "make_layout(A, B) joins layouts", "4:1"},
      {"injective(?:1)", "needs a known number", "injective(?:1)"},
      {"(4@0):(1)", "only strides are on an axis", "(4@0):(1)"},
      {"A = 4:1; A(1@0)", "coordinates are numbers without an axis", "A(1@0)"},
      {"complement((4,8):(1@TLane,1))", "the axis @TLane is none", "complement"},
      {"4:1 + 5", "A place is a number", "4:1"},
      {"zipped_divide((4,4):(4,1), <2,2,2>)", "A tiler of rank 3", "zipped_divide"},
      {"upcast((8,4):(3,1), 2)", "one must divide the other", "(8,4):(3,1)"},
      {"downcast(8:2, 2)", "No mode has stride 1", "downcast"},
      {"tile_to_shape((3,4):(4,1), (8,8))", "does not fill a target of 8", "(3,4):(4,1)"},
      {"take((2,3):(1,2), 1, 1)", "that is none", "take"},
      {"select((2,3):(1,2), 0, 2)", "There is no mode 2", "select"},
      {"append((2,3):(1,2), 1)", "cannot become one of rank 1", "append"},
      {"(2,6):(6,1) o (Sw<1,0,1> o 0 o 4:1)", "keep the swizzle's bits together", "(2,6)"},
      {"Sw<1,0,1> o Sw<1,1,1>", "together are not one swizzle", "Sw<1,0,1>"},
      {"8:1 o Sw<1,0,1> o 4 o 8:1", "An offset of 4 is between", "8:1"},
      {"bank_conflicts(33:1, 4)", "a warp has 32", "33:1"},
      {"bank_conflicts(32:1, 16, 2)", "not aligned to its 16 bytes", "bank_conflicts"},
      {"to_matrix((4,2):(1,3))", "is not the XOR", "to_matrix"},
      {"surjective((65536,65536):(1,65536))", "would have to be counted out", "surjective"},
      {"injectve(4:1)", "did you mean `injective`", "injectve"},
      {"right_inverse(((8,8):(1,8))(_,1))", "make_layout(shape(T), stride(T))", "right_inverse"},
      {"A = (8,8):(1,8); complement(A(_,1))", "make_layout(shape(T), stride(T))", "complement"},
      {"A = make_identity_layout((8,8)); injective(A(_,1))", "begins at (0,1)", "A(_,1)"},
      {"make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN, (2,2):(0,0))", "stride 0", "(2,2):(0,0)"},
      {"make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN, (1,1), <31,32,16>)",
       "A tile of 31 along M: the atom has 16 there", "make_tiled_mma"},
      {"tmem_fragment(SM100_TMEM_LOAD_16dp32b4x, 0)", "into the same ones", "tmem_fragment"},
  };
  for (const Mistake& m : mistakes) {
    const Problem problem = problem_of(m.expression);
    EXPECT_NE(problem.sentence.find(m.sentence), std::string::npos)
        << m.expression << " says: " << problem.sentence;
    const std::string_view all = m.expression;
    if (*m.at) {
      const std::string_view marked = all.substr(problem.begin, problem.end - problem.begin);
      EXPECT_EQ(marked.substr(0, std::string_view(m.at).size()), m.at) << m.expression;
    } else {
      EXPECT_EQ(problem.begin, all.size()) << m.expression;
    }
  }
}

TEST(Language, TheCaretStandsUnderThePlace) {
  EXPECT_EQ(caret("size(4:1, 5)", {false, "", 5, 8}), "size(4:1, 5)\n     ^~~");
  EXPECT_EQ(caret("(3,4", {false, "", 4, 5}), "(3,4\n    ^");
  EXPECT_EQ(caret("A = 4:1\nB = (", {false, "", 13, 14}), "B = (\n     ^");
}

// Letters of several bytes take a column each, and none is cut.
TEST(Language, TheCaretCountsLetters) {
  const std::string text = "4:1 \u00e9\u20ac";  // an e with an accent, a Euro sign
  const Problem problem = problem_of(text);
  EXPECT_NE(problem.sentence.find("found `\u00e9`"), std::string::npos) << problem.sentence;
  EXPECT_EQ(caret(text, problem), text + "\n    ^");
  EXPECT_EQ(caret(text, {false, "", 6, 9}), text + "\n     ^");
  EXPECT_EQ(caret(text, {false, "", 4, 9}), text + "\n    ^~");
  EXPECT_EQ(caret(text, {false, "", 5, 9}), text + "\n    ^~") << "inside a letter";
  std::string wide;
  for (int i = 0; i < 300; ++i) wide += "\u20ac";
  const std::string cut = caret(wide, {false, "", 450, 453});
  const std::size_t line = cut.find('\n');
  EXPECT_EQ(line, 3u * 100) << "100 letters, none of them cut";
  EXPECT_EQ(cut.substr(line + 1), std::string(40, ' ') + "^");
}

TEST(Language, SomeValuesKnowHowWideTheirElementsAre) {
  const std::pair<const char*, std::optional<int>> expected[] = {
      {"smem<f16> o (8,64):(64,1)", 16},
      {"gmem<e2m1> o 8:1", 4},
      {"A = smem<f64> o (8,64):(64,1); A(3,_)", 64},
      {"make_tiled_copy(UniversalCopy<u128,f16>, (32,8):(8,1), (1,8))", 16},
      {"SM75_U32x4_LDSM_N", 16},
      {"tma_shared_layout(e4m3, 64B, (64,128))", 8},
      {"unpack(tma_shared_layout(f16, 128B, (64,64)), 2)", 8},
      {"S[8,64]", std::nullopt},
      {"(8,64):(64,1)", std::nullopt},
      {"SM80_16x8x16_F32F16F16F32_TN", std::nullopt},
  };
  for (const auto& [expression, bits] : expected) {
    const std::optional<Evaluated> result = Scope().evaluate(expression);
    ASSERT_TRUE(result && std::holds_alternative<Value>(*result)) << expression;
    EXPECT_EQ(element_bits(std::get<Value>(*result)), bits) << expression;
  }
}

// As CuTe's tensors (include/cute/tensor_impl.hpp): a divide, a composition, a coalesced one has
// the same elements, from the same beginning.
TEST(Language, WhatIsMadeOfATensorIsATensor) {
  const std::string tensor = "T = smem<f16>+64 o (8,64):(64,1); ";
  for (const auto& [expression, value] :
       {std::pair{"zipped_divide(T, <4,16>)", "smem<f16>+64 o ((4,16),(2,4)):((64,1),(256,16))"},
        std::pair{"logical_divide(T, <4,16>)", "smem<f16>+64 o ((4,2),(16,4)):((64,256),(1,16))"},
        std::pair{"tiled_divide(T, <4,16>)", "smem<f16>+64 o ((4,16),2,4):((64,1),256,16)"},
        std::pair{"flat_divide(T, <4,16>)", "smem<f16>+64 o (4,16,2,4):(64,1,256,16)"},
        std::pair{"zipped_divide(T, <4,16>)((_,_),(1,2))", "smem<f16>+352 o (4,16):(64,1)"},
        std::pair{"composition(T, <4,2:8>)", "smem<f16>+64 o (4,2):(64,8)"},
        std::pair{"T o <4,8>", "smem<f16>+64 o (4,8):(64,1)"},
        std::pair{"coalesce(smem<f16> o (8,64):(1,8))", "smem<f16> o 512:1"},
        std::pair{"filter(smem<f16> o (8,64):(1,0))", "smem<f16> o 8:1"},
        std::pair{"flatten(smem<f16> o (8,(2,4)):(1,(8,16)))", "smem<f16> o (8,2,4):(1,8,16)"},
        std::pair{"group(T, 0, 2)", "smem<f16>+64 o ((8,64)):((64,1))"},
        std::pair{"take(T, 1, 2)", "smem<f16>+64 o (64):(1)"},
        std::pair{"get(T, 1)", "smem<f16>+64 o 64:1"},
        std::pair{"layout(T)", "(8,64):(64,1)"},
        std::pair{"layout(T, 1)", "64:1"},
        std::pair{"shape(T)", "(8,64)"},
        std::pair{"stride(T)", "(64,1)"},
        std::pair{"size(T)", "512"},
        std::pair{"rank(T)", "2"},
        std::pair{"slice((1,_), T)", "smem<f16>+128 o (64):(1)"},
        std::pair{"T(1,2)", "130"},
        std::pair{"crd2idx((1,2), T)", "130"},
        std::pair{"indices(take(T, 0, 1))", "64,128,192,256,320,384,448,512"},
        std::pair{"max_common_vector(T, T)", "512"},
        std::pair{"max_common_vector(T, gmem<f32> o (8,64):(64,1))", "0"}}) {
    EXPECT_EQ(value_of(tensor + expression), value) << expression;
  }
  EXPECT_EQ(value_of("S = smem<f16> o Sw<3,3,3> o 0 o (64,64):(64,1); S(9,_)"),
            "smem<f16>+584 o ((8,2,4)):((1,-8,16))");
}

// CuTe's max_common_vector of swizzled layouts (include/cute/swizzle_layout.hpp).
TEST(Language, ASwizzleLeavesNeighboursSideBySide) {
  const std::string plain = "(8,64):(64,1)", rows = "Sw<3,3,3> o 0 o (8,64):(64,1)";
  EXPECT_EQ(value_of("max_common_vector(" + rows + ", " + plain + ")"), "8");
  EXPECT_EQ(value_of("max_common_layout(" + plain + ", " + rows + ")"), "8:8");
  EXPECT_EQ(value_of("max_common_vector(" + rows + ", " + rows + ")"), "512");
  EXPECT_EQ(value_of("max_common_vector(" + rows + ", Sw<3,2,3> o 0 o (8,64):(64,1))"), "4");
}

TEST(Language, EveryFunctionIsKnownByItsName) {
  for (const FunctionHelp& f : functions()) {
    const Problem problem = problem_of(std::string(f.name) + "()");
    EXPECT_NE(problem.sentence.find("called with 0 arguments"), std::string::npos) << f.name;
    EXPECT_FALSE(f.help.empty());
  }
}

TEST(Language, DeepAndLongTextIsRefusedNotCrashed) {
  EXPECT_NE(problem_of(std::string(100000, '(')).sentence, "");
  EXPECT_NE(problem_of(std::string(100000, '<')).sentence, "");
  std::string wide = "(1";
  for (int i = 0; i < 40; ++i) wide += ",1";
  EXPECT_NE(problem_of(wide + ")").sentence.find("more than 32 leaves"), std::string::npos);
}

}  // namespace
}  // namespace tilescope
