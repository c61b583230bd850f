// Launches that end otherwise in another order, most of them one that none of the runs that a proof
// makes takes: by what is followed of their steps, or by what is known to be beyond it, none of
// them may be called proved. A row `proved` says what is not seen yet: it fails on the day that it
// is.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/io/launch_file.h"
#include "core/sim/machine/prove.h"

namespace tilescope {
namespace {

const std::filesystem::path folder = TILESCOPE_TESTS_DIR;

struct Row {
  std::string name, says, why;
};
void PrintTo(const Row& row, std::ostream* out) {
  *out << row.name;
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::vector<Row> rows() {
  std::vector<Row> out;
  std::ifstream file(folder / "programs.tsv");
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream fields(line);
    Row row;
    std::getline(fields, row.name, '\t');
    std::getline(fields, row.says, '\t');
    std::getline(fields, row.why);
    out.push_back(row);
  }
  return out;
}

class NotProved : public testing::TestWithParam<Row> {};

TEST_P(NotProved, IsTheSameInEveryOrder) {
  const Row& row = GetParam();
  const std::filesystem::path here = folder / row.name;
  const Outcome<LaunchFile> launch =
      parse_launch_file(text_of(here / "launch.toml"), "launch.toml");
  ASSERT_TRUE(launch.ok()) << launch.error().sentence;
  Outcome<Job> job = make_job(*launch, {"kernel.ptx", text_of(here / "kernel.ptx")}, {});
  ASSERT_TRUE(job.ok()) << job.error().sentence;
  Outcome<sim::Proof> proof = sim::Proof::begin(std::move(*job), {});
  ASSERT_TRUE(proof.ok()) << proof.error().sentence;
  for (int i = 0; i < 200 && proof->verdict() == sim::Proof::Verdict::running && !proof->searches();
       ++i) {
    ASSERT_TRUE(proof->advance(100'000).ok());
  }
  EXPECT_EQ(proof->verdict() == sim::Proof::Verdict::proved ? "proved" : "open", row.says)
      << row.why;
}

INSTANTIATE_TEST_SUITE_P(Programs, NotProved, testing::ValuesIn(rows()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace tilescope
