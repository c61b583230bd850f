// Two runs side by side: how texts are told apart.
#include <gtest/gtest.h>

#include <random>

#include "viz/machine/comparison_view.h"

namespace tilescope {
namespace {

using Lines = std::vector<std::string>;

// The longest common subsequence by trying everything.
std::size_t longest(const Lines& a, std::size_t i, const Lines& b, std::size_t j) {
  if (i == a.size() || j == b.size()) return 0;
  std::size_t best = std::max(longest(a, i + 1, b, j), longest(a, i, b, j + 1));
  if (a[i] == b[j]) best = std::max(best, 1 + longest(a, i + 1, b, j + 1));
  return best;
}

TEST(DifferentLines, HoldsBothTextsInOrderAndAsMuchInCommonAsThereIs) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const auto drawn = [&] {
      Lines out(random() % 7);
      for (std::string& line : out) line = std::string(1, static_cast<char>('a' + random() % 3));
      return out;
    };
    const Lines before = drawn(), after = drawn();
    Lines old_text, new_text;
    std::size_t common = 0;
    for (const DifferentLine& line : different_lines(before, after)) {
      if (line.before) {
        ASSERT_EQ(*line.before, old_text.size() + 1);
        old_text.push_back(line.text);
      }
      if (line.after) {
        ASSERT_EQ(*line.after, new_text.size() + 1);
        new_text.push_back(line.text);
      }
      common += line.before && line.after;
    }
    ASSERT_EQ(old_text, before);
    ASSERT_EQ(new_text, after);
    ASSERT_EQ(common, longest(before, 0, after, 0));
  }
}

TEST(DifferentLines, LongTextsAreToldApartAsAWhole) {
  const Lines before(5000, "a"), after(5000, "b");
  EXPECT_EQ(different_lines(before, after).size(), 10000u);
}

}  // namespace
}  // namespace tilescope
