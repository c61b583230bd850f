// Work on something that an executor has, and that is not known to be done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/sim/machine/executor.h"

namespace tilescope::sim {

// Of the one that keeps the something, before it: a copy waits for the original's work, and has
// nothing to wait for itself. The keeper waits before what is worked on goes away.
class Pending {
 public:
  Pending() = default;
  Pending(const Pending& other) { other.settle(); }
  Pending(Pending&& other) noexcept { swap(other); }
  Pending& operator=(Pending other) noexcept {
    swap(other);
    return *this;
  }
  ~Pending() { settle(); }

  // After earlier work; by the executor, or at once where there is none.
  void calculate(Executor* executor, Executor::Task work) {
    if (!executor || executor != executor_) settle();
    if (!executor) return work();
    if (executor != executor_) line_ = executor->new_line();
    executor_ = executor;
    task_ = executor->submit(line_, std::move(work));
  }
  void settle() const {
    if (!task_) return;
    executor_->wait(line_, task_);
    task_ = 0;
  }

 private:
  void swap(Pending& other) noexcept {
    std::swap(executor_, other.executor_);
    std::swap(line_, other.line_);
    std::swap(task_, other.task_);
  }

  Executor* executor_ = nullptr;
  std::size_t line_ = 0;
  mutable std::uint64_t task_ = 0;
};

}  // namespace tilescope::sim
