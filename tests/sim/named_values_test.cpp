// What variables of the source hold where a warp stands, of a program that nvcc -G made: its source
// and what it computes stand at the head of the file.
#include "core/sim/stepping/named_values.h"

#include <gtest/gtest.h>

#include "core/sim/stepping/stepper.h"
#include "tests/sim/program.h"

namespace tilescope::sim {
namespace {

class NamedValues : public testing::Test {
 protected:
  NamedValues()
      : stepper_(load()),
        registers_(stepper_.machine().program()),
        names_(ptx::debug_names(*stepper_.machine().program().module)) {}

  static Stepper load() {
    const test::SimProgram program =
        test::read_program(std::string(TILESCOPE_TESTS_DIR) + "/programs/named_variables.ptx");
    EXPECT_EQ(program.mistake, "");
    Outcome<Stepper> s = Stepper::load(program.job);
    EXPECT_TRUE(s.ok());
    return std::move(*s);
  }

  // To the n-th time that the warp stands before an instruction with these words.
  void go_before(std::string_view words, int times = 1) {
    Step one;
    for (int i = 0; i < 1000; ++i) {
      const auto warps = warps_of(stepper_.machine(), 0);
      const bool here = !warps.empty() && !warps[0].splits.empty() &&
                        warps[0].splits[0].text.find(words) != std::string_view::npos;
      if (here && --times == 0) return;
      stepper_.step(one);
      stepper_.arrive();
    }
    FAIL() << words << " never comes";
  }

  std::string text(std::string_view name, std::uint32_t lane) {
    for (const NamedValue& v : named_values(stepper_.machine(), registers_, names_, 0, 0)) {
      if (v.variable->name == name) return v.where + ": " + value_text(v, lane);
    }
    return "nowhere";
  }

  Stepper stepper_;
  Registers registers_;
  ptx::DebugNames names_;
};

TEST_F(NamedValues, InRegistersAndParameters) {
  go_before("not.pred");
  EXPECT_EQ(text("index", 0), "%r1: 0");
  EXPECT_EQ(text("index", 3), "%r1: 3");
  EXPECT_EQ(text("count", 2), "named_variables_param_2: 4");
  EXPECT_EQ(text("sum", 2), "nowhere");  // not yet
}

// The pair {index, in[index]} as bytes; the sum after two of three turns: in * (0 + 1).
TEST_F(NamedValues, InLocalMemoryAndWhereTheyMoveTo) {
  go_before("setp.lt.s32", 3);
  EXPECT_EQ(text("step", 1), "%r3: 2");
  EXPECT_EQ(text("sum", 1), "%f2: 2");
  EXPECT_EQ(text("sum", 3), "%f2: 4");
  EXPECT_EQ(text("pair", 1), "local+0: 0x4000000000000001");
}

// A function that was called has its own frame.
TEST_F(NamedValues, InAFunctionThatWasCalled) {
  go_before("mul.f32", 3);
  EXPECT_EQ(text("kept", 1), "local+0: 2, 2");
  EXPECT_EQ(text("kept", 3), "local+0: 4, 2");
  EXPECT_EQ(text("index", 3), "nowhere");  // the caller's
}

TEST_F(NamedValues, NobodyIsThere) {
  EXPECT_TRUE(named_values(stepper_.machine(), registers_, names_, 7, 0).empty());
  EXPECT_TRUE(named_values(stepper_.machine(), registers_, names_, 0, 7).empty());
}

}  // namespace
}  // namespace tilescope::sim
