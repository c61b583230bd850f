// Runs every program of tests/sim/programs and compares what became of it with what its text says.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "core/record/recorder.h"
#include "core/run/deadlock_cause.h"
#include "core/sim/machine/device.h"
#include "tests/sanitized.h"
#include "tests/sim/chip_times.h"
#include "tests/sim/program.h"
#include "tests/sim/sound_record.h"

namespace tilescope {
namespace {

std::vector<std::string> programs() {
  std::vector<std::string> out;
  for (const auto& file :
       std::filesystem::recursive_directory_iterator(TILESCOPE_TESTS_DIR "/programs")) {
    if (file.path().extension() == ".ptx") {
      out.push_back(
          std::filesystem::relative(file.path(), TILESCOPE_TESTS_DIR "/programs").string());
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

// A program, and how it runs: as usual; on the handlers for any processor; by the clock.
enum class Way : std::uint8_t { usual, plain, clocked };
class Program : public testing::TestWithParam<std::tuple<std::string, Way>> {};

void compare(const Buffer& buffer, const test::Expectation& expected) {
  const std::size_t width = bytes_of(buffer.dtype);
  for (std::size_t at = 0; at < expected.bytes.size(); at += width) {
    const std::byte* found = buffer.bytes.data() + at;
    const std::byte* wanted = expected.bytes.data() + at;
    std::uint64_t found_bits = 0, wanted_bits = 0;
    std::memcpy(&found_bits, found, width);
    std::memcpy(&wanted_bits, wanted, width);
    EXPECT_EQ(found_bits, wanted_bits)
        << std::hex << "bits 0x" << found_bits << ", wanted 0x" << wanted_bits << std::dec << "; "
        << buffer.name << "[" << at / width << "] is " << load_element(buffer.dtype, found)
        << ", wanted " << load_element(buffer.dtype, wanted);
    if (testing::Test::HasFailure()) return;
  }
}

TEST_P(Program, DoesWhatItsTextSays) {
  test::SimProgram p =
      test::read_program(std::string(TILESCOPE_TESTS_DIR "/programs/") + std::get<0>(GetParam()));
  ASSERT_EQ(p.mistake, "");
  ASSERT_FALSE(p.memory.empty() && p.fault.empty() && p.error.empty()) << "it expects nothing";
  sim::Options options;
  options.plain_handlers = std::get<1>(GetParam()) == Way::plain;
  sim::Recorder recorder;
  const bool by_the_clock = std::get<1>(GetParam()) == Way::clocked;
  if (by_the_clock) {
    options.clocked = true;
    options.times = test::chip_times();
    options.recorder = &recorder;
  }
  if (p.resident) options.resident_blocks = p.resident;
  sim::SimDevice device(options);
  Outcome<std::unique_ptr<Execution>> run = device.start(p.job);
  if (!p.error.empty()) {
    ASSERT_FALSE(run.ok()) << "it should have been refused";
    EXPECT_EQ(name_of(run.error().kind), p.error);
    EXPECT_NE(run.error().sentence.find(p.error_text), std::string::npos) << run.error().sentence;
    EXPECT_NE(run.error().where.find(p.error_where), std::string::npos) << run.error().where;
    return;
  }
  ASSERT_TRUE(run.ok()) << run.error().where << ": " << run.error().sentence;
  Execution& execution = **run;
  RunState state = RunState::running;
  const std::uint64_t budget = p.step ? p.step : 20'000'000;
  for (std::uint64_t used = 0; state == RunState::running && used < 20'000'000; used += budget) {
    state = execution.advance(budget);
  }
  ASSERT_NE(state, RunState::running) << "it does not end";
  const std::vector<Report>& reports = execution.reports();
  if (p.fault.empty()) {
    ASSERT_EQ(state, RunState::done)
        << reports.back().kind << ": " << reports.back().sentence << " [" << reports.back().expected
        << " | " << reports.back().found << "] " << text(reports.back().site);
  } else {
    ASSERT_EQ(state, RunState::fault);
    EXPECT_EQ(reports.back().kind, p.fault);
    EXPECT_NE(reports.back().sentence.find(p.fault_text), std::string::npos)
        << reports.back().sentence;
    EXPECT_NE(text(reports.back().site).find(p.site), std::string::npos)
        << text(reports.back().site);
    // Where nobody goes on, it is said why.
    const auto& cause = reports.back().deadlock;
    ASSERT_EQ(cause != nullptr, !p.why.empty());
    if (cause) {
      EXPECT_NE(cause->sentence.find(p.why), std::string::npos) << cause->sentence;
    }
  }
  // A hazard that no text expects is a false one.
  for (const Report& r : reports) {
    if (r.weight != Weight::hazard) continue;
    const auto is_it = [&](const test::SimProgram::Hazard& h) {
      return r.kind == h.kind && r.sentence.find(h.text) != std::string::npos &&
             std::to_string(r.count) == h.count;
    };
    EXPECT_TRUE(std::any_of(p.hazards.begin(), p.hazards.end(), is_it))
        << r.kind << " | " << r.sentence << " | " << r.count;
  }
  for (const test::SimProgram::Hazard& h : p.hazards) {
    EXPECT_TRUE(std::any_of(reports.begin(), reports.end(),
                            [&](const Report& r) {
                              return r.weight == Weight::hazard && r.kind == h.kind &&
                                     r.sentence.find(h.text) != std::string::npos;
                            }))
        << h.kind << " | " << h.text << " was not told";
  }
  for (const std::string& text : p.found) {
    std::string all;
    for (const Report& r : reports) all += r.found + "\n";
    EXPECT_NE(all.find(text), std::string::npos) << all;
  }
  if (!p.note.empty()) {
    std::string all;
    const bool is_there = std::any_of(reports.begin(), reports.end(), [&](const Report& r) {
      all += r.kind + ": " + r.sentence + "\n";
      return r.kind == p.note && r.sentence.find(p.note_text) != std::string::npos;
    });
    EXPECT_TRUE(is_there) << p.note << " | " << p.note_text << " is not among\n" << all;
  }
  EXPECT_EQ(execution.printed(), p.printed);
  for (const test::Expectation& expected : p.memory) {
    for (const Buffer& b : execution.buffers()) {
      if (b.name == expected.buffer) compare(b, expected);
    }
  }
  if (by_the_clock) test::expect_sound(recorder.take());
}

std::string label(const testing::TestParamInfo<Program::ParamType>& test) {
  const std::string& file = std::get<0>(test.param);
  std::string name = file.substr(0, file.size() - 4);
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  constexpr const char* ways[] = {"", "_plain", "_clocked"};
  return name + ways[static_cast<std::size_t>(std::get<1>(test.param))];
}

// Whoever goes on next: what a program promises holds in every order.
class Schedules : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Schedules, ChangeNoResult) {
  for (const std::string& file : programs()) {
    test::SimProgram p = test::read_program(std::string(TILESCOPE_TESTS_DIR "/programs/") + file);
    if (!p.error.empty() || !p.fault.empty() || !p.hazards.empty()) continue;
    SCOPED_TRACE(file);
    sim::Options options;
    options.schedule = GetParam();
    options.lazy = GetParam() % 2;
    if (p.resident) options.resident_blocks = p.resident;
    Outcome<std::unique_ptr<Execution>> run = sim::SimDevice(options).start(p.job);
    ASSERT_TRUE(run.ok());
    RunState state = RunState::running;
    for (int i = 0; i < 100 && state == RunState::running; ++i) state = (*run)->advance(1'000'000);
    ASSERT_EQ(state, RunState::done);
    for (const Report& r : (*run)->reports()) EXPECT_NE(r.weight, Weight::hazard) << r.sentence;
    for (const test::Expectation& expected : p.memory) {
      for (const Buffer& b : (*run)->buffers()) {
        if (b.name == expected.buffer) compare(b, expected);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Schedules, Schedules,
                         testing::Range<std::uint64_t>(1, test::sanitized ? 5 : 21));

// By the clock those whose outcome does not depend on who comes first.
std::vector<std::string> programs_by_the_clock() {
  std::vector<std::string> out;
  for (const std::string& file : programs()) {
    const std::string path = std::string(TILESCOPE_TESTS_DIR "/programs/") + file;
    if (test::sanitized && file == "no_race.ptx") continue;  // a minute
    if (!test::read_program(path).in_turns) out.push_back(file);
  }
  return out;
}

INSTANTIATE_TEST_SUITE_P(Clocked, Program,
                         testing::Combine(testing::ValuesIn(programs_by_the_clock()),
                                          testing::Values(Way::clocked)),
                         label);

INSTANTIATE_TEST_SUITE_P(Programs, Program,
                         testing::Combine(testing::ValuesIn(programs()),
                                          testing::Values(Way::usual, Way::plain)),
                         label);

}  // namespace
}  // namespace tilescope
