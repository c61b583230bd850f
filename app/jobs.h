// A run in the background: a thread that advances an Execution in pieces, so that the window never
// waits for it, shows how far it is, and stops it within one piece.
//
// The worker owns the execution while it runs; nobody else touches it. Progress goes out through
// atomics, the result through a mutex, once.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "core/run/job.h"
#include "viz/session/backend.h"

namespace tilescope {

class BackgroundRun {
 public:
  using Result = Outcome<FinishedRun>;
  // What was left when the run ended.
  struct Ended {
    std::unique_ptr<Execution> execution;
    RunResult::End end = RunResult::End::done;
    RunProgress progress;
  };
  struct Steps {
    // Both run on the worker's thread.
    std::function<Outcome<std::unique_ptr<Execution>>()> start;
    std::function<Result(Ended)> finish;
  };

  explicit BackgroundRun(Steps steps);
  ~BackgroundRun();  // cancels, and waits for the piece in hand
  BackgroundRun(const BackgroundRun&) = delete;
  BackgroundRun& operator=(const BackgroundRun&) = delete;

  RunProgress progress() const;
  void cancel() { cancelled_ = true; }
  void wait();
  std::optional<Result> take();  // once, after the end

 private:
  void work();
  RunResult::End advance(Execution& execution);
  double seconds() const;  // since the first instruction

  Steps steps_;
  using Clock = std::chrono::steady_clock;
  std::atomic<Clock::rep> begun_{0};  // 0: not yet
  std::atomic<bool> cancelled_{false}, finished_{false};
  std::atomic<std::uint64_t> done_{0}, total_{0}, instructions_{0};
  std::atomic<double> final_seconds_{0};
  std::mutex mutex_;
  std::condition_variable ended_;
  std::optional<Result> result_;
  std::thread thread_;  // last: starts when all else is there
};

}  // namespace tilescope
