// The steps of an operation: they lead to its value, and a refusal has the steps before it.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/language/language.h"
#include "core/layout/text.h"
#include "tests/layout/generate.h"

namespace tilescope {
namespace {

struct Explained {
  Derivation steps;
  Evaluated result;
};
Explained explained(std::string_view expression) {
  Explained out;
  out.result = *Scope().explain(expression, out.steps);
  return out;
}

const DerivationStep* find(const Derivation& steps, std::string_view operation) {
  const auto found = std::find_if(steps.begin(), steps.end(), [&](const DerivationStep& s) {
    return s.operation == operation;
  });
  return found == steps.end() ? nullptr : &*found;
}

TEST(Explain, ACompositionGoesLeafByLeafThroughTheDigits) {
  const Explained e = explained("composition((6,2):(8,2), (4,3):(3,1))");
  ASSERT_FALSE(e.steps.empty());
  EXPECT_EQ(e.steps[0].operation, "composition");
  EXPECT_EQ(e.steps[0].level, 0);
  EXPECT_EQ(e.steps[0].result, "((2,2),3):((24,2),8)");
  const DerivationStep* digit = find(e.steps, "digit 0");
  ASSERT_TRUE(digit);
  EXPECT_EQ(digit->operands, "6:8");
  EXPECT_EQ(digit->result, "2:24");
  const DerivationStep* last = find(e.steps, "last mode");
  ASSERT_TRUE(last);
  EXPECT_EQ(last->result, "2:2");
  ASSERT_TRUE(last->layout);
  EXPECT_EQ(text(*last->layout), "2:2");
}

TEST(Explain, ADivideSaysItsComplementAndItsComposition) {
  const Explained e = explained("zipped_divide((9,(4,8)):(59,(13,1)), <3:3,(2,4):(1,8)>)");
  const DerivationStep* rest = find(e.steps, "complement");
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest->operands, "3:3, 9");
  EXPECT_EQ(rest->result, "3:1");
  const DerivationStep* both = find(e.steps, "composition");
  ASSERT_TRUE(both);
  EXPECT_EQ(both->result, "(3,3):(177,59)");
  EXPECT_TRUE(find(e.steps, "mode 1"));
}

TEST(Explain, ACoordinateGoesThroughTheModesOfItsAxes) {
  const Explained e = explained("composition((4,5):(5,1), (2,5):(2@0,1@1))");
  const DerivationStep* axis = find(e.steps, "axis @1");
  ASSERT_TRUE(axis);
  EXPECT_EQ(axis->result, "5:1");
  EXPECT_FALSE(find(e.steps, "left side"));
}

TEST(Explain, UnknownNumbersAreNamedWithTheirDivisors) {
  const Explained e = explained("zipped_divide((?,?{div=8}):(1,?), <128,64>)");
  const DerivationStep* rest = find(e.steps, "complement");
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest->operands, "128:1, ?");
  EXPECT_EQ(rest->result, "?:128");
}

TEST(Explain, ARefusalHasTheStepsThatLeadThere) {
  const Explained e = explained("composition((8,2):(2,1), (6,2):(1,6))");
  EXPECT_TRUE(std::holds_alternative<Problem>(e.result));
  ASSERT_FALSE(e.steps.empty());
  EXPECT_EQ(e.steps[0].result, "");
  EXPECT_NE(e.steps[0].sentence.find("runs over its end"), std::string::npos);
  EXPECT_TRUE(find(e.steps, "leaf 1")) << "the leaf whose sum with the first one carries";
}

TEST(Explain, AFillOfTheComplementIsNamed) {
  const Explained e = explained("complement((2,2):(1,6), 24)");
  std::vector<std::string> fills;
  for (const DerivationStep& step : e.steps) {
    if (step.operation == "gap" || step.operation == "rest") fills.push_back(step.result);
  }
  EXPECT_EQ(fills, (std::vector<std::string>{"1:1", "3:2", "2:12"}));
}

// What coalescing merges, and what a composition puts together, leads to the value itself.
TEST(Explain, TheLastStepsOfACoalesceAreItsModes) {
  testing::Layouts layouts(61);
  for (int round = 0; round < 500; ++round) {
    const Layout a = layouts.any(static_cast<int>(layouts.number(1, 5)));
    const Explained e = explained("coalesce(" + text(a) + ")");
    const Layout value = std::get<Layout>(std::get<Value>(e.result));
    std::vector<Mode> modes;  // a merge stands for the mode it merged with
    for (std::size_t i = 1; i < e.steps.size(); ++i) {
      const DerivationStep& step = e.steps[i];
      if (!step.layout) continue;
      if (step.sentence.rfind("Goes on", 0) == 0) modes.pop_back();
      modes.push_back(step.layout->modes.leaf[0]);
    }
    if (modes.empty()) continue;  // all modes were 1
    ASSERT_EQ(static_cast<int>(modes.size()), value.leaves()) << text(a);
    for (int i = 0; i < value.leaves(); ++i) {
      ASSERT_EQ(value.modes.leaf[i], modes[static_cast<std::size_t>(i)]) << text(a);
    }
  }
}

// What is printed over several lines stands in the operands by its name.
// The tile, the atom's layout, who has what, the thread's coordinate, what is kept and where.
TEST(Explain, APartitionGoesFromTheTileToTheThread) {
  const Explained e = explained(
      "partition_A(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN, (2,2)), 37, (128,64):(64,1))");
  const std::pair<const char*, const char*> expected[] = {
      {"tile", "((32,4),(16,4)):((64,2048),(1,16))"},
      {"atoms", "((16,16),(8,4)):((64,1),(1024,16))"},
      {"composition", "(((4,8),(2,2,2)),(8,4)):(((2,64),(1,512,8)),(1024,16))"},
      {"deal out", "(((4,8),(2,1)),((2,2,2),(4,4))):(((2,64),(1024,0)),((1,512,8),(2048,16)))"},
      {"kept", "((2,2,2),4,4):((1,512,8),2048,16)"}};
  for (const auto& [operation, result] : expected) {
    const DerivationStep* step = find(e.steps, operation);
    ASSERT_TRUE(step) << operation;
    EXPECT_EQ(step->result, result) << operation;
  }
  EXPECT_NE(find(e.steps, "thread")->sentence.find("(5,1,0,0)"), std::string::npos);
  EXPECT_NE(find(e.steps, "at 5")->sentence.find("It is (1,1) there, and moves by 66"),
            std::string::npos);
  EXPECT_NE(find(e.steps, "at 1")->sentence.find("1024"), std::string::npos);
  EXPECT_NE(find(e.steps, "kept")->sentence.find("They begin at 1090."), std::string::npos);
}

TEST(Explain, ASwizzledPartitionSaysWhatStaysInside) {
  const std::string swizzled = "Sw<3,3,3> o 0 o (128,64):(64,1)";
  const Explained kept = explained("local_tile(" + swizzled + ", <32,16>, (1,1))");
  EXPECT_NE(find(kept.steps, "kept")
                ->sentence.find(
                    "Of 2064, what meets the swizzle stays inside: 16; 2048 is added after it."),
            std::string::npos);
  const Explained plain =
      explained("partition_S(make_tiled_copy(UniversalCopy<u128,f16>, (32,8):(8,1), (1,8)), 9, " +
                swizzled + ")");
  EXPECT_EQ(find(plain.steps, "source")->result, "((8,32),(8,1)):((256,1),(32,0))");
  EXPECT_NE(find(plain.steps, "kept")->sentence.find("72 is swizzled to 64"), std::string::npos);
}

TEST(Explain, ASliceSaysWhatItsNumbersMove) {
  for (const char* expression : {"slice_and_offset(((1,_),5), ((2,4),(2,3)):((1,2),(8,16)))",
                                 "A = ((2,4),(2,3)):((1,2),(8,16)); A((1,_),5)"}) {
    const Explained e = explained(expression);
    ASSERT_TRUE(find(e.steps, "at 5")) << expression;
    EXPECT_EQ(find(e.steps, "at 5")->sentence, "It is (1,2) there, and moves by 40.");
    EXPECT_EQ(find(e.steps, "at 1")->sentence, "It moves by 1.");
    EXPECT_EQ(find(e.steps, "kept")->result, "(4):(2)");
    EXPECT_NE(find(e.steps, "kept")->sentence.find("They begin at 41."), std::string::npos);
  }
}

TEST(Explain, EveryTiledOperationHasSteps) {
  const std::string mma = "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN, (2,2))";
  const std::string copy = "make_tiled_copy_A(SM75_U32x4_LDSM_N, " + mma + ")";
  for (const std::string& call :
       {mma, copy, "get_slice(" + mma + ", 37)", "layout_A_TV(" + mma + ")",
        "layout_C_TV(" + mma + ")", "layout_S_TV(" + copy + ")",
        "partition_D(" + copy + ", 3, (128,64):(64,1))",
        "fragment_A(" + mma + ", 0, (128,64):(64,1))",
        "retile_D(" + copy + ", 0, ((2,2,2),4,4):((1,2,4),32,8))",
        std::string("local_tile((128,64):(64,1), <32,8,16>, (1,3,_), (1,_,1))"),
        std::string("local_partition((128,64):(64,1), (8,4):(4,1), 5)")}) {
    const Explained e = explained(call);
    ASSERT_TRUE(std::holds_alternative<Value>(e.result)) << call;
    const std::string name = call.substr(0, call.find('('));
    const auto at = std::find_if(e.steps.begin(), e.steps.end(),
                                 [&](const DerivationStep& s) { return s.operation == name; });
    ASSERT_NE(at, e.steps.end()) << call;
    ASSERT_NE(at + 1, e.steps.end()) << call;
    EXPECT_EQ((at + 1)->level, 1) << call;
  }
}

TEST(Explain, OperandsStandOnOneLine) {
  const Explained e = explained(
      "X = make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN, (2,2)); partition_A(X, ?, (64,64):(64,1))");
  const DerivationStep *made = find(e.steps, "make_tiled_mma"),
                       *part = find(e.steps, "partition_A");
  ASSERT_TRUE(made && part);
  EXPECT_EQ(made->operands, "SM80_16x8x16_F32F16F16F32_TN, (2,2)");
  EXPECT_EQ(part->operands, "TiledMMA of SM80_16x8x16_F32F16F16F32_TN, ?, (64,64):(64,1)");
}

TEST(Explain, ExplainingChangesNoAnswer) {
  for (const char* expression :
       {"A = (8,8):(8,1); zipped_divide(A, <4,_>)", "logical_product((2,2):(1,2), (3,4):(1,3))",
        "raked_product((4,2):(2,1), 2:1)", "Sw<3,3,3> o 0 o (8,64):(64,1)",
        "right_inverse((4,8):(8,1))", "left_inverse((4,4):(1,8))", "injective((4,4):(1,3))",
        "find_swizzle((64,64):(64,1), 16, 2, 32:1)", "to_matrix((8,8):(8,1))",
        "composition((8,8):(8,1), <4,2>)", "upcast((8,4):(3,1), 2)", "size(4:1, 5)", "4:1 @"}) {
    const Explained e = explained(expression);
    const Evaluated plain = *Scope().evaluate(expression);
    ASSERT_EQ(e.result.index(), plain.index()) << expression;
    if (const Value* value = std::get_if<Value>(&plain)) {
      EXPECT_EQ(text(std::get<Value>(e.result)), text(*value)) << expression;
      EXPECT_FALSE(e.steps.empty()) << expression;
    }
    for (const DerivationStep& step : e.steps)
      EXPECT_FALSE(step.sentence.empty() && step.result.empty());
  }
}

}  // namespace
}  // namespace tilescope
