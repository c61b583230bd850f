// The references in core/layout/README.md and core/tensor/README.md: their examples are evaluated,
// and nothing is missing.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "core/language/language.h"
#include "core/layout/text.h"

namespace tilescope {
namespace {

const std::string folder = std::string(TILESCOPE_SOURCE_DIR) + "/core/layout/";

struct Reference {
  std::vector<std::pair<std::string, std::string>> examples;  // expression, value
  std::string headings, pictures;
};

void read(const std::string& path, Reference& out) {
  std::ifstream file(path);
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line == "```") inside = !inside;
    if (line.rfind("### ", 0) == 0) out.headings += " " + line.substr(4) + ",";
    if (line.rfind("![", 0) == 0) out.pictures += line + "\n";
    const std::size_t arrow = line.find(" -> ");
    if (inside && arrow != line.npos) {
      out.examples.emplace_back(line.substr(0, arrow), line.substr(arrow + 4));
    }
  }
}

Reference reference() {
  Reference out;
  read(folder + "README.md", out);
  read(folder + "../tensor/README.md", out);
  return out;
}

// An atom has several lines; a reference has them on one.
std::string on_one_line(const std::string& text) {
  std::string out, word;
  for (std::istringstream words(text); words >> word;) out += (out.empty() ? "" : " ") + word;
  return out;
}

TEST(Reference, ItsExamplesAreTrue) {
  const Reference all = reference();
  EXPECT_GT(all.examples.size(), 70u);
  for (const auto& [expression, value] : all.examples) {
    const Evaluated result = evaluate(expression);
    const Problem* problem = std::get_if<Problem>(&result);
    if (value == "refused") {
      EXPECT_TRUE(problem && problem->refused) << expression;
    } else {
      EXPECT_EQ(problem ? problem->sentence : on_one_line(text(std::get<Value>(result))), value)
          << expression;
    }
  }
}

TEST(Reference, HasEveryFunction) {
  const Reference all = reference();
  for (const FunctionHelp& f : functions()) {
    EXPECT_NE(all.headings.find(" " + std::string(f.name) + ","), std::string::npos) << f.name;
    bool shown = false;
    for (const auto& [expression, value] : all.examples) {
      shown = shown || expression.rfind(std::string(f.name) + "(", 0) == 0;
    }
    EXPECT_TRUE(shown) << f.name << " has no example";
  }
}

// A picture's title is the expression that `./dev docs` draws.
TEST(Reference, ItsPicturesAreThereAndHaveAnExpression) {
  std::istringstream lines(reference().pictures);
  int pictures = 0;
  for (std::string line; std::getline(lines, line); ++pictures) {
    const std::size_t path = line.find("](") + 2, title = line.find(" \"", path);
    ASSERT_NE(title, line.npos) << line;
    EXPECT_TRUE(std::filesystem::exists(folder + line.substr(path, title - path))) << line;
    const std::string expression = line.substr(title + 2, line.rfind('"') - title - 2);
    EXPECT_TRUE(std::holds_alternative<Value>(evaluate(expression))) << expression;
  }
  EXPECT_GE(pictures, 10);
}

}  // namespace
}  // namespace tilescope
