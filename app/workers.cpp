#include "app/workers.h"

namespace tilescope {
namespace {

// Tasks that wait for a thread: enough to be always busy, few enough that what they hold (some
// 20 KiB of operands each) does not matter.
constexpr std::size_t most_waiting = 128;

}  // namespace

Workers::Workers(std::size_t threads) {
  for (std::size_t i = 0; i < threads; ++i) {
    workers_.push_back(std::make_unique<Worker>());
    Worker& worker = *workers_.back();
    worker.thread = std::thread([&worker] { worker.run(); });
  }
}

Workers::~Workers() {
  for (const auto& worker : workers_) {
    {
      const std::lock_guard lock(worker->mutex);
      worker->ends = true;
    }
    worker->work.notify_one();
    worker->thread.join();
  }
}

std::uint64_t Workers::submit(std::size_t line, Task task) {
  Worker& worker = of(line);
  std::uint64_t number;
  {
    std::unique_lock lock(worker.mutex);
    worker.progress.wait(lock, [&] { return worker.tasks.size() < most_waiting; });
    worker.tasks.push_back(std::move(task));
    number = ++worker.submitted;
  }
  worker.work.notify_one();
  return number;
}

void Workers::wait(std::size_t line, std::uint64_t task) {
  Worker& worker = of(line);
  std::unique_lock lock(worker.mutex);
  worker.progress.wait(lock, [&] { return worker.done >= task; });
}

void Workers::Worker::run() {
  std::unique_lock lock(mutex);
  for (;;) {
    work.wait(lock, [this] { return ends || !tasks.empty(); });
    if (tasks.empty()) return;
    const Task task = std::move(tasks.front());
    lock.unlock();
    task();
    lock.lock();
    tasks.pop_front();
    ++done;
    progress.notify_one();
  }
}

}  // namespace tilescope
