// Copies of parts of tensors against a model of their own, element by element: every type, rank,
// swizzle, mode and reduction, with boxes over every edge.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "core/sim/machine/device.h"
#include "tests/sim/random_copy.h"

namespace tilescope::test {
namespace {

std::vector<Buffer> after(const RandomCopy& copy, const Job& job, const sim::Options& options) {
  sim::SimDevice device(options);
  auto run = device.start(job);
  if (!run) {
    ADD_FAILURE() << text(copy) << "\n" << run.error().sentence;
    return {};
  }
  const RunState state = (*run)->advance(1'000'000);
  bool tails = false;
  for (const Report& r : (*run)->reports()) {
    if (r.kind == "row_tail_written") {
      tails = true;
      continue;
    }
    ADD_FAILURE() << text(copy) << "\n" << r.kind << ": " << r.sentence;
  }
  EXPECT_EQ(state, RunState::done) << text(copy);
  EXPECT_EQ(tails, writes_behind_rows(copy)) << text(copy);
  return (*run)->buffers();
}

void expect_as_the_model(const RandomCopy& copy, const sim::Options& options) {
  const Job job = job_of(copy);
  const std::vector<Buffer> found = after(copy, job, options);
  const auto wanted = expected(copy, job);
  for (std::size_t b = 0; b < found.size(); ++b) {
    const auto at = std::mismatch(wanted[b].begin(), wanted[b].end(), found[b].bytes.begin()).first;
    if (at == wanted[b].end()) continue;
    const auto byte = static_cast<std::size_t>(at - wanted[b].begin());
    ADD_FAILURE() << text(copy) << "\nbyte " << byte << " of " << found[b].name << " is "
                  << std::to_integer<int>(found[b].bytes[byte]) << ", not "
                  << std::to_integer<int>(wanted[b][byte]);
  }
}

TEST(TensorCopies, AreWhatAModelOfEachElementSays) {
  for (std::uint64_t number = 0; number < 1500; ++number) {
    expect_as_the_model(random_copy(number, Generation::blackwell), {});
    if (HasFailure()) return;
  }
}

TEST(TensorCopies, AreTheSameInAnyOrder) {
  for (std::uint64_t number = 0; number < 100; ++number) {
    sim::Options options;
    options.schedule = 1 + number % 5;
    options.lazy = number % 2 != 0;
    expect_as_the_model(random_copy(number, Generation::hopper), options);
    if (HasFailure()) return;
  }
}

TEST(TensorCopies, OfInterleavedTensorsAreWhatAModelSays) {
  for (std::uint64_t number = 0; number < 1000; ++number) {
    sim::Options options;
    options.schedule = number % 4;
    options.lazy = number % 7 == 0;
    expect_as_the_model(random_interleaved_copy(number), options);
    if (HasFailure()) return;
  }
}

// What the drawing promises: no way, type, rank, swizzle or mode is left out.
TEST(TensorCopies, AreOfEveryKind) {
  std::map<std::string, int> seen;
  for (std::uint64_t number = 0; number < 1500; ++number) {
    const RandomCopy c = random_copy(number, Generation::blackwell);
    ++seen["way " + std::to_string(static_cast<int>(c.way)) + " mode " +
           std::to_string(static_cast<int>(c.mode)) + " rank " + std::to_string(c.map.dims.size())];
    ++seen["way " + std::to_string(static_cast<int>(c.way)) + " swizzle " +
           std::string(name_of(c.map.swizzle))];
    ++seen["type " + std::string(name_of(*c.map.dtype)) + " " + c.operation];
  }
  EXPECT_EQ(seen.size(), 3 * 5 + 3 * 3 + 2 + 3 * 6 + 10 + 8 + 6 + 6 + 2 + 1 + 3 + 3);
  for (const auto& [kind, count] : seen) EXPECT_GE(count, 3) << kind;
}

}  // namespace
}  // namespace tilescope::test
