// The simulator runs each file's test as PTX: no outcome that PTX forbids, and a hazard or fault if
// and only if there is a race; one of them at an instruction that races. Where it does otherwise
// differs.tsv says so, exactly.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "core/sim/machine/device.h"
#include "core/sim/machine/prove.h"
#include "tests/litmus/reader.h"
#include "tests/litmus/to_ptx.h"

namespace tilescope::litmus {
namespace {

const char* const folder = TILESCOPE_TESTS_DIR "/files";

Buffer words(const char* name, const std::vector<std::uint32_t>& values) {
  Buffer b;
  b.name = name;
  b.dtype = DType::u32;
  b.shape = {static_cast<std::int64_t>(values.size())};
  b.bytes.resize(4 * values.size());
  std::memcpy(b.bytes.data(), values.data(), b.bytes.size());
  return b;
}

std::vector<std::uint32_t> words_of(const Buffer& b) {
  std::vector<std::uint32_t> out(b.bytes.size() / 4);
  std::memcpy(out.data(), b.bytes.data(), b.bytes.size());
  return out;
}

struct Found {
  std::set<std::string> reports;  // kinds of faults and hazards
  bool named = false;             // one of them is told at an instruction that races
  std::set<Values> outcomes;      // of the runs that came to their end
  std::string mistake;
};

Job job_of(const litmus::Test& test, const Kernel& kernel) {
  Job job;
  job.program = {test.name + ".ptx", kernel.ptx};
  job.launch.entry = "litmus";
  job.launch.grid.x = kernel.ctas;
  job.launch.block.x = kernel.block;
  job.launch.cluster = Dim3{kernel.cluster, 1, 1};
  job.buffers = {words("memory", initial_memory(test)),
                 words("results", std::vector<std::uint32_t>(kernel.results))};
  job.arguments = {Argument::pointer(0), Argument::pointer(1)};
  return job;
}

void run_once(const litmus::Test& test, const Kernel& kernel, const sim::Options& options,
              Found& found) {
  Outcome<std::unique_ptr<Execution>> run = sim::SimDevice(options).start(job_of(test, kernel));
  if (!run.ok()) {
    found.mistake = run.error().where + ": " + run.error().sentence;
    return;
  }
  RunState state = RunState::running;
  for (int i = 0; i < 10 && state == RunState::running; ++i) state = (*run)->advance(100'000);
  if (state == RunState::running) found.mistake = "it does not end";
  for (const Report& r : (*run)->reports()) {
    // That an order is not promised, where chips keep it, is a note.
    const bool of_order = r.kind == "weak_order" || r.kind == "read_overtaken";
    if (r.weight == Weight::note && !of_order) continue;
    found.reports.insert(r.kind);
    std::set<std::uint32_t> lines{r.site.ptx_line};
    for (const Evidence::Party& party : r.evidence.parties) lines.insert(party.site.ptx_line);
    for (const Race& race : test.races) {
      found.named = found.named || lines.count(kernel.lines.at(race.first)) ||
                    lines.count(kernel.lines.at(race.second));
    }
  }
  if (state != RunState::done) return;
  const auto memory = words_of((*run)->buffers()[0]), results = words_of((*run)->buffers()[1]);
  found.outcomes.insert(outcome_of(test, memory.data(), results.data()));
}

// The default order, the same with late asynchronous work, and 20 others, every second one so too.
Found run_all(const litmus::Test& test) {
  Found found;
  const Kernel kernel = to_ptx(test);
  for (std::uint64_t schedule = 0; schedule <= 20; ++schedule) {
    sim::Options options;
    options.schedule = schedule;
    options.lazy = schedule % 2;
    run_once(test, kernel, options, found);
  }
  sim::Options lazy;
  lazy.lazy = true;
  run_once(test, kernel, lazy, found);
  return found;
}

// What it says that is not right; empty: nothing.
std::string wrong(const litmus::Test& test, const Found& found) {
  std::string out;
  const auto add = [&](const std::string& s) { out += (out.empty() ? "" : ", ") + s; };
  if (test.races.empty()) {
    for (const std::string& kind : found.reports) add(kind);
  } else if (found.reports.empty()) {
    add("nothing");
  } else if (!found.named) {
    for (const std::string& kind : found.reports) add(kind + " elsewhere");
  }
  for (const Values& v : found.outcomes) {
    if (!test.allowed.count(v)) add(text(test, v));
  }
  return out;
}

std::string right(const litmus::Test& test) {
  if (test.races.empty()) return "no race";
  std::string out;
  for (const Race& r : test.races) out += (out.empty() ? "race: " : ", ") + text(test, r);
  return out;
}

struct Row {
  std::string says, right;
};

std::map<std::string, Row> differences() {
  std::map<std::string, Row> out;
  std::ifstream file(TILESCOPE_TESTS_DIR "/differs.tsv");
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::size_t first = line.find('\t'), second = line.find('\t', first + 1);
    if (second == line.npos) continue;
    const std::size_t third = std::min(line.find('\t', second + 1), line.size());
    out[line.substr(0, first)] = {line.substr(first + 1, second - first - 1),
                                  line.substr(second + 1, third - second - 1)};
  }
  return out;
}

class Simulator : public testing::TestWithParam<std::string> {};

// What it says that is not right is what the table has for `name`, which is mostly nothing.
void expect_row(const litmus::Test& test, const std::string& name, const std::string& says) {
  static const std::map<std::string, Row> table = differences();
  const auto row = table.find(name);
  if (row == table.end()) {
    EXPECT_EQ(says, "") << "right is: " << right(test) << ". A row for differs.tsv:\n"
                        << name << '\t' << says << '\t' << right(test);
    return;
  }
  EXPECT_EQ(says, row->second.says)
      << (says.empty() ? "the simulator is right now: take its row out of differs.tsv"
                       : "its row in differs.tsv says otherwise");
  EXPECT_EQ(row->second.right, right(test));
}

TEST_P(Simulator, DoesWhatPtxAllowsAndNamesRaces) {
  const Outcome<litmus::Test> read = read_file(GetParam());
  ASSERT_TRUE(read.ok()) << read.error().where << ": " << read.error().sentence;
  const Found found = run_all(*read);
  ASSERT_EQ(found.mistake, "");
  expect_row(*read, read->name, wrong(*read, found));
}

// What is proved to do the same in every order has no race and one outcome, by PTX's axioms.
TEST(Proof, ProvesOnlyWhatHasOneOutcome) {
  std::size_t proved = 0, could = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const Outcome<litmus::Test> test = read_file(entry.path().string());
    ASSERT_TRUE(test.ok()) << entry.path();
    Outcome<sim::Proof> proof = sim::Proof::begin(job_of(*test, to_ptx(*test)), {});
    ASSERT_TRUE(proof.ok()) << test->name << ": " << proof.error().sentence;
    for (int i = 0;
         i < 20 && proof->verdict() == sim::Proof::Verdict::running && !proof->searches(); ++i) {
      ASSERT_TRUE(proof->advance(100'000).ok());
    }
    const bool one = test->races.empty() && test->allowed.size() == 1;
    could += one;
    if (proof->verdict() != sim::Proof::Verdict::proved) continue;
    if (!one && differences().count(test->name)) continue;  // a race that is not seen
    ++proved;
    EXPECT_TRUE(one) << test->name << " has " << test->allowed.size() << " outcomes and "
                     << test->races.size() << " races";
  }
  // Of those that have one outcome all but so many: a number that only falls.
  constexpr std::size_t missed = 3;
  EXPECT_EQ(proved + missed, could);
}

// The form for a chip, a few runs of it in one launch: each run's outcome is one that PTX allows,
// and where there is no race none is told, in what stands around the test neither.
TEST_P(Simulator, RunsTheFormForAChip) {
  const Outcome<litmus::Test> read = read_file(GetParam());
  ASSERT_TRUE(read.ok());
  const litmus::Test& test = *read;
  if (!test.on_chip) return;
  constexpr std::uint32_t instances = 2, iterations = 3, runs = instances * iterations;
  const Kernel kernel = to_stress_ptx(test);
  const std::vector<std::uint32_t> initial = initial_memory(test);
  std::vector<std::uint32_t> memory;
  for (std::uint32_t r = 0; r < runs; ++r)
    memory.insert(memory.end(), initial.begin(), initial.end());
  Found found;
  for (std::uint64_t schedule = 0; schedule < 2; ++schedule) {
    Job job;
    job.program = {test.name + ".ptx", kernel.ptx};
    job.launch.entry = "stress";
    job.launch.grid.x = (instances + 1) * kernel.ctas;
    job.launch.block.x = kernel.block;
    job.launch.cluster = Dim3{kernel.cluster, 1, 1};
    job.buffers = {words("memory", memory),
                   words("results", std::vector<std::uint32_t>(runs * kernel.results, 1u << 31)),
                   words("counters", std::vector<std::uint32_t>(instances)),
                   words("scratch", std::vector<std::uint32_t>(1u << 20))};
    for (std::uint32_t b = 0; b < 4; ++b) job.arguments.push_back(Argument::pointer(b));
    job.arguments.push_back(Argument::i32(iterations));
    job.arguments.push_back(Argument::i32(instances));
    job.arguments.push_back(Argument::i32(7));
    sim::Options options;
    options.schedule = schedule;
    Outcome<std::unique_ptr<Execution>> run = sim::SimDevice(options).start(std::move(job));
    ASSERT_TRUE(run.ok()) << run.error().where << ": " << run.error().sentence;
    RunState state = RunState::running;
    for (int i = 0; i < 100 && state == RunState::running; ++i) state = (*run)->advance(100'000);
    for (const Report& r : (*run)->reports()) {
      if (r.weight != Weight::note) found.reports.insert(r.kind);
    }
    if (!test.races.empty() && state == RunState::fault) continue;
    ASSERT_EQ(state, RunState::done);
    const auto left = words_of((*run)->buffers()[0]), results = words_of((*run)->buffers()[1]);
    for (std::uint32_t r = 0; r < runs; ++r) {
      const Values v =
          outcome_of(test, left.data() + r * initial.size(), results.data() + r * kernel.results);
      found.outcomes.insert(v);
    }
  }
  if (!test.races.empty()) {  // whether it names them is asked above
    found.reports.insert("");
    found.named = true;
  }
  expect_row(test, test.name + " stress", wrong(test, found));
}

TEST(SimulatorDiffers, EveryRowIsOfAFile) {
  for (const auto& row : differences()) {
    const std::string name = row.first.substr(0, row.first.find(' '));
    EXPECT_TRUE(std::filesystem::exists(std::string(folder) + "/" + name + ".litmus")) << name;
  }
}

std::string label(const testing::TestParamInfo<std::string>& file) {
  std::string name = std::filesystem::path(file.param).stem().string();
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Files, Simulator, testing::ValuesIn(files_in(folder)), label);

}  // namespace
}  // namespace tilescope::litmus
