// PTX's axioms allow of each file's test what the file says, and find the races that it names.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/litmus/axioms.h"

namespace tilescope::litmus {
namespace {

const char* const folder = TILESCOPE_TESTS_DIR "/files";

class Litmus : public testing::TestWithParam<std::string> {};

TEST_P(Litmus, AxiomsSayWhatTheFileSays) {
  const Outcome<litmus::Test> read = read_file(GetParam());
  ASSERT_TRUE(read.ok()) << read.error().where << ": " << read.error().sentence;
  const litmus::Test& test = *read;
  const Verdict verdict = judge(test);
  ASSERT_EQ(verdict.mistake, "");
  for (const Values& v : verdict.allowed) {
    EXPECT_TRUE(test.allowed.count(v)) << "PTX allows " << text(test, v) << ", the file does not";
  }
  for (const Values& v : test.allowed) {
    EXPECT_TRUE(verdict.allowed.count(v))
        << "the file allows " << text(test, v) << ", PTX does not";
  }
  for (const Race& r : verdict.races) {
    EXPECT_TRUE(test.races.count(r)) << "PTX has a race that the file has not: " << text(test, r);
  }
  for (const Race& r : test.races) {
    EXPECT_TRUE(verdict.races.count(r))
        << "the file has a race that PTX has not: " << text(test, r);
  }
}

std::string label(const testing::TestParamInfo<std::string>& file) {
  std::string name = std::filesystem::path(file.param).stem().string();
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Files, Litmus, testing::ValuesIn(files_in(folder)), label);

}  // namespace
}  // namespace tilescope::litmus
