// Threads that calculate for the simulator (core/sim/machine/executor.h).
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "core/sim/machine/executor.h"

namespace tilescope {

class Workers : public sim::Executor {
 public:
  explicit Workers(std::size_t threads);  // one or more, besides the caller's
  ~Workers() override;                    // after all tasks
  Workers(const Workers&) = delete;

  // Lines are dealt to the threads in turn.
  std::size_t new_line() override { return lines_++; }
  std::uint64_t submit(std::size_t line, Task task) override;
  void wait(std::size_t line, std::uint64_t task) override;

 private:
  // A thread and what it has to do.
  struct Worker {
    std::mutex mutex;
    std::condition_variable work, progress;
    std::deque<Task> tasks;  // the first of them is in hand
    std::uint64_t submitted = 0, done = 0;
    bool ends = false;
    std::thread thread;  // last: starts when all else is there

    void run();
  };
  Worker& of(std::size_t line) { return *workers_[line % workers_.size()]; }

  std::vector<std::unique_ptr<Worker>> workers_;
  std::size_t lines_ = 0;
};

}  // namespace tilescope
