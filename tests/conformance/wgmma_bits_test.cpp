// wgmma against what an H100 answered (vectors/h100_wgmma.txt): every form of every N, with
// operands in shared memory by all swizzles and majors or A in registers, and all lanes of all
// blocks, bit for bit. WGMMA_STEP: of so many forms one is tried.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "core/sim/machine/device.h"
#include "tests/conformance/cases.h"
#include "tests/conformance/compare.h"

namespace tilescope::conformance {
namespace {

constexpr int forms = 2148;

TEST(Wgmma, GivesTheChipsBits) {
  std::ostringstream text;
  text << std::ifstream(TILESCOPE_TESTS_DIR "/vectors/h100_wgmma.txt").rdbuf();
  const Outcome<Vectors> chip = read_vectors(text.str());
  ASSERT_TRUE(chip.ok()) << chip.error().sentence;
  EXPECT_NE(chip->chip.find("H100"), std::string::npos);
  EXPECT_EQ(chip->answers.size(), forms);
  sim::SimDevice simulator;
  int number = 0, tried = 0;
  each_case("wgmma.mma_async", [&](const Case& c) {
    if (number++ % WGMMA_STEP) return;
    ++tried;
    const auto answer = chip->answers.find(c.spelling.key());
    ASSERT_NE(answer, chip->answers.end()) << c.spelling.key();
    const auto simulated = run(simulator, *c.kernel);
    ASSERT_TRUE(simulated.ok()) << c.spelling.key() << ": " << simulated.error().sentence;
    const Differences d = compare(c.spelling, *c.kernel, answer->second, *simulated);
    EXPECT_EQ(d.lanes, 0u) << c.spelling.key();
  });
  EXPECT_EQ(number, forms);
  EXPECT_EQ(tried, (forms + WGMMA_STEP - 1) / WGMMA_STEP);
}

}  // namespace
}  // namespace tilescope::conformance
