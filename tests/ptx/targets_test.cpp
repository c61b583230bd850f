// Which chips have which instructions (PTX ISA, "Target ISA Notes").
#include <gtest/gtest.h>

#include <algorithm>

#include "core/ptx/modifiers.h"
#include "core/ptx/targets.h"

namespace tilescope::ptx {
namespace {

TEST(Targets, AreReadAsTheyAreWritten) {
  EXPECT_EQ(target_named("sm_90a")->capability, 90);
  EXPECT_EQ(target_named("sm_90a")->suffix, 'a');
  EXPECT_EQ(target_named("compute_100f")->suffix, 'f');
  EXPECT_EQ(target_named("sm_101a")->capability, 110);  // its later name
  for (const char* wrong : {"", "sm_", "sm_90b", "sm_90aa", "90", "texmode_unified"}) {
    EXPECT_FALSE(target_named(wrong)) << wrong;
  }
}

TEST(Targets, HaveWhatEarlierOnesHaveUnlessItIsTheirsAlone) {
  Modifiers none;
  const auto has = [&](const char* target, Op op) {
    return missing_on(target, "9.0", op, none, 0).empty();
  };
  for (const char* target : {"sm_90", "sm_90a", "sm_100", "sm_100f", "sm_120a"}) {
    EXPECT_TRUE(has(target, Op::elect)) << target;
  }
  EXPECT_FALSE(has("sm_89", Op::elect));
  for (const char* target : {"sm_100a", "sm_100f", "sm_103a", "sm_103f", "sm_110a", "sm_101a"}) {
    EXPECT_TRUE(has(target, Op::tcgen05)) << target;
  }
  for (const char* target : {"sm_90a", "sm_100", "sm_103", "sm_120a", "sm_120f", "sm_121a"}) {
    EXPECT_FALSE(has(target, Op::tcgen05)) << target;
  }
  EXPECT_TRUE(has("sm_90a", Op::setmaxnreg));
  EXPECT_TRUE(has("sm_121f", Op::setmaxnreg));
  EXPECT_FALSE(has("sm_90", Op::setmaxnreg));
}

TEST(Targets, ComeWithAVersion) {
  EXPECT_EQ(missing_target("sm_90a", "8.0"), "");
  EXPECT_NE(missing_target("sm_90a", "7.8"), "");
  EXPECT_EQ(missing_target("sm_101a", "8.6"), "");
  EXPECT_NE(missing_target("sm_110a", "8.6"), "");
  EXPECT_NE(missing_target("sm_80a", "9.0"), "");  // there is none
  EXPECT_NE(missing_target("", "9.0"), "");
  EXPECT_EQ(missing_target("sm_100", "8.10"), "");  // behind 8.9
}

// A row that no form can meet says nothing.
TEST(Targets, RowsAreOfFormsThatThereAre) {
  for (const Opcode& row : opcodes()) {
    for (const TargetRule& rule : row.targets) {
      const std::vector<ModifierRule> wanted = modifier_rules(rule.forms);
      bool together = wanted.empty();
      for (std::size_t f = 0; f < row.forms.size(); ++f) {
        std::size_t count = 0;
        for (const ModifierRule& w : wanted) {
          for (const ModifierRule& has : modifiers_of(row, static_cast<int>(f))) {
            if (has.field != w.field) continue;
            for (const std::uint8_t v : w.values) {
              if (std::count(has.values.begin(), has.values.end(), v)) {
                ++count;
                break;
              }
            }
          }
        }
        together = together || count == wanted.size();
      }
      EXPECT_TRUE(together) << row.name << " " << rule.forms;
      for (const ModifierRule& w : wanted) {
        EXPECT_NE(w.field, Field::count_) << row.name << " " << rule.forms;
        EXPECT_EQ(std::count(w.values.begin(), w.values.end(), 0), 0) << row.name << rule.forms;
      }
    }
  }
}

}  // namespace
}  // namespace tilescope::ptx
