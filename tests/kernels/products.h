// Matrix products of the catalog on the simulator: run, free of reports, and right.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "core/diff/diff.h"
#include "core/sim/machine/machine.h"
#include "tests/kernels/shipped.h"
#include "tests/sanitized.h"

namespace tilescope::test {

inline Request request_of(Sizes s, DType type) {
  Request request;
  request.sizes = {{"m", s.m}, {"n", s.n}, {"k", s.k}};
  request.dtype = type;
  return request;
}

// Runs it, and expects no report at all and a product within the kernel's tolerance.
inline void expect_right(const std::string& kernel, Sizes shape, const sim::Options& options = {},
                         DType type = DType::f16) {
  SCOPED_TRACE(kernel + " " + std::to_string(shape.m) + " x " + std::to_string(shape.n) + " x " +
               std::to_string(shape.k) + ", schedule " + std::to_string(options.schedule) +
               (options.lazy ? ", lazy" : "") + (options.exact ? "" : ", fast"));
  const auto entry = find_kernel(kernel);
  ASSERT_TRUE(entry.ok());
  const Outcome<Job> job = make_job(**entry, request_of(shape, type), shipped_ptx(kernel));
  ASSERT_TRUE(job.ok()) << job.error().sentence;
  Outcome<sim::Machine> machine = sim::Machine::load(*job, options);
  ASSERT_TRUE(machine.ok()) << machine.error().sentence;
  const RunState state = machine->run(~std::uint64_t{0});
  for (const Report& r : machine->reports()) {
    // Stages are given back by a relaxed barrier.cluster.
    if (r.weight == Weight::note && r.kind == "weak_order") continue;
    const auto is_known = [&](const Suppression& rule) { return matches(rule, r); };
    if (std::any_of((*entry)->known.begin(), (*entry)->known.end(), is_known)) continue;
    ADD_FAILURE() << r.sentence << "\n" << text(r.site);
  }
  ASSERT_EQ(state, RunState::done);
  const auto want = (*entry)->reference(*job, {}, {});
  ASSERT_TRUE(want.ok());
  const Variant& variant = (*entry)->variants[type == DType::f16 ? 0 : 1];
  DiffOptions how;
  how.tolerance = {variant.rtol, variant.atol};
  const auto compared = diff(machine->buffers()[2], want->front(), how);
  ASSERT_TRUE(compared.ok()) << compared.error().sentence;
  EXPECT_TRUE(compared->ok()) << text(*compared);
}

inline sim::Options with(std::uint64_t schedule, bool lazy, bool exact = true) {
  sim::Options options;
  options.schedule = schedule;
  options.lazy = lazy;
  options.exact = exact;
  return options;
}

// Under sanitizers fewer orders, with TILESCOPE_WHOLE (./dev test --whole) more.
inline const bool whole = std::getenv("TILESCOPE_WHOLE") != nullptr;
inline const std::uint64_t orders = sanitized ? 1 : whole ? 20 : 8;

// Of what runs the same code with other values, every `step`th; with TILESCOPE_WHOLE all.
inline bool is_sampled(std::size_t number, std::size_t step) {
  return whole || number % step == 0;
}

// What make_job says of a shape; "accepted" where it takes it.
inline std::string objection(const std::string& kernel, Sizes shape) {
  const auto entry = find_kernel(kernel);
  const auto job = make_job(**entry, request_of(shape, DType::f16), "");
  return job.ok() ? std::string("accepted") : job.error().sentence;
}

}  // namespace tilescope::test
