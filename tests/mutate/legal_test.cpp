// The ladders' kernels written otherwise (legal.h): a right kernel is never accused, however it
// says what it says. Every fourth variant runs in one order, another from one to the next; with
// TILESCOPE_WHOLE (./dev test --whole) all of them do, and `./dev mutate --legal` runs each in all
// orders.
#include <gtest/gtest.h>

#include <string>

#include "tests/kernels/products.h"
#include "tests/mutate/legal.h"
#include "tests/mutate/trial.h"

namespace tilescope {
namespace {

using namespace test;

TEST(LegalVariants, AreNotAccusedAndRight) {
  std::size_t variants = 0, tried = 0;
  for (const std::string& name : case_names()) {
    if (name.rfind("hgemm_v", 0) != 0 && name.rfind("wgmma_v", 0) != 0) continue;
    const Outcome<Case> c = case_named(name);
    ASSERT_TRUE(c.ok()) << name << ": " << c.error().sentence;
    for (const Mutation& m : legal_variants(*c)) {
      const std::size_t number = variants++;
      if (!is_sampled(number, 4)) continue;
      SCOPED_TRACE(name + ", " + m.kind + ": " + m.sentence);
      const auto& order = tried_orders()[number / (whole ? 1 : 4) % tried_orders().size()];
      ++tried;
      const Trial t = try_here(*c, m, {order}, long_patience);
      EXPECT_TRUE(t.verdict == Verdict::unchanged || t.verdict == Verdict::noted)
          << name_of(t.verdict) << " " << t.order << ": " << t.report << " at PTX line " << t.line
          << ": " << t.sentence;
    }
  }
  EXPECT_GE(variants, 500u);
  EXPECT_GE(tried, 125u);
}

}  // namespace
}  // namespace tilescope
