// A planted bug in a window: its kernel is opened, and its machine goes to what it is told for.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "tests/kernels/bugs.h"
#include "tests/sim/chip_times.h"
#include "tests/viz/ui_backend.h"
#include "viz/commands/commands.h"
#include "viz/session/seek.h"
#include "viz/session/session.h"

namespace tilescope::test {

// A backend whose one kernel is the bug's, in the order in which the bug shows.
class BugWorkshop : public FakeBackend {
 public:
  BugWorkshop(const Bug& bug, Job job, sim::Options options)
      : bug_(bug), job_(std::move(job)), options_(std::move(options)) {}

  std::vector<KernelName> kernels() const override { return {{bug_.kernel, "with a bug"}}; }
  Outcome<KernelCard> kernel(std::string_view, const KernelOptions&) override {
    KernelCard card;
    card.name = bug_.kernel;
    for (const Buffer& each : job_.buffers) {
      const bool input = each.tile.empty() && !each.undefined;
      card.tensors.push_back({each.name, std::string(name_of(each.dtype)), "the test",
                              input ? std::make_shared<const Buffer>(each) : nullptr});
    }
    return card;
  }
  Outcome<std::shared_ptr<LiveRun>> live(const KernelCard&, const KernelOptions&) override {
    auto stepper = sim::Stepper::load(job_, options_);
    if (!stepper) return stepper.error();
    auto live = std::make_shared<LiveRun>(std::move(*stepper));
    for (const auto& [number, name] : live->stepper.machine().program().module->files) {
      std::istringstream text(text_in(std::string(TILESCOPE_SOURCE_DIR) + "/" + std::string(name)));
      for (std::string line; std::getline(text, line);) {
        live->sources[std::string(name)].push_back(line);
      }
    }
    return live;
  }

  // A run is over at once, as the window's is when its result is taken.
  std::optional<Error> start(const KernelCard& kernel, const KernelOptions&) override {
    running_ = kernel;
    return {};
  }
  RunProgress progress() const override {
    return {running_ ? RunProgress::State::finished : RunProgress::State::idle, 1, 1, 1, 0};
  }
  void wait() override {}
  std::optional<Outcome<FinishedRun>> take_result() override {
    if (!running_) return {};
    const KernelCard kernel = *running_;
    running_.reset();
    auto at_end = live(kernel, {});
    if (!at_end) return Outcome<FinishedRun>(at_end.error());
    (*at_end)->stepper.to_the_end();
    (void)(*at_end)->stepper.arrive();
    auto result = std::make_shared<RunResult>();
    result->kernel = kernel;
    result->end = RunResult::End::fault;
    result->reports = (*at_end)->stepper.machine().reports();
    for (const Buffer& each : (*at_end)->stepper.machine().buffers()) {
      result->matrices.push_back({each.name, std::make_shared<const Buffer>(each)});
    }
    result->output = result->matrices.size() - 1;
    FinishedRun out = finished(std::move(result));
    out.live = *at_end;
    return Outcome<FinishedRun>(std::move(out));
  }

 private:
  std::optional<KernelCard> running_;
  Bug bug_;
  Job job_;
  sim::Options options_;
};

// The order in which a bug shows: by a chip's clock, as the window runs, where that shows it.
inline std::vector<sim::Options> orders_of(const Bug& bug) {
  std::vector<sim::Options> out;
  for (std::uint64_t seed = bug.first_seed; seed <= bug.last_seed; ++seed) {
    out.emplace_back();
    out.back().lazy = bug.lazy;
    out.back().schedule = seed;
    out.back().exact = false;
  }
  const bool clocked = !bug.lazy && bug.last_seed == 0 && !bug.unseen_by_the_clock;
  out.front().clocked = clocked;
  if (clocked) out.front().times = chip_times();
  return out;
}

// A window that stands where the bug is told.
struct BugOpened {
  std::unique_ptr<BugWorkshop> backend;
  std::unique_ptr<Session> session = std::make_unique<Session>();
  std::size_t number = 0;  // of the report

  const sim::Machine& machine() const { return session->state.live->stepper.machine(); }
  const Report& report() const { return machine().reports()[number]; }
  // Each command is done to its end.
  std::string act(std::string_view line) {
    const auto answer = execute(*session, *backend, line);
    if (!answer) return answer.error().sentence;
    while (seeking(*session)) seek_on(*session, *backend, 1000);
    return session->message.text;
  }
};

// Opens it, and goes to its first report that counts. Nothing: none is told in this order.
inline std::optional<BugOpened> opened_at_report(const Bug& bug, Job job,
                                                 const sim::Options& order) {
  BugOpened out;
  out.backend = std::make_unique<BugWorkshop>(bug, std::move(job), order);
  out.act("open " + bug.kernel);
  const std::string wanted = (order.clocked ? bug.by_the_clock : bug.expected).front().weight;
  for (out.number = 0;; ++out.number) {
    out.act("go report " + std::to_string(out.number));
    const auto& told = out.machine().reports();
    if (out.number >= told.size()) return {};
    const Report& report = told[out.number];
    const auto is_known = [&](const Suppression& rule) { return matches(rule, report); };
    if (std::any_of(bug.known.begin(), bug.known.end(), is_known)) continue;
    if (name_of(report.weight) == wanted) return out;
  }
}

inline std::optional<BugOpened> opened_at_report(const Bug& bug, const sim::Options& order) {
  Outcome<Job> job = job_of(bug);
  if (!job) {
    ADD_FAILURE() << job.error().sentence;
    return {};
  }
  return opened_at_report(bug, std::move(*job), order);
}

inline std::optional<BugOpened> opened_at_report(const Bug& bug) {
  for (const sim::Options& order : orders_of(bug)) {
    auto out = opened_at_report(bug, order);
    if (out) return out;
  }
  return {};
}

}  // namespace tilescope::test
