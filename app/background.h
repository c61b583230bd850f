// One piece of work in a thread of its own, which the window looks in on: asked to stop, waited
// for, and its result taken once.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "core/run/catalog_entry.h"

namespace tilescope {

template <class Result>
class Background {
 public:
  // Asks `keep_on` often, and ends soon when that says no.
  using Work = std::function<Result(const KeepOn& keep_on)>;

  explicit Background(Work work) : work_(std::move(work)), thread_([this] { run(); }) {}
  // Stops the work, and waits until it is gone.
  ~Background() {
    cancel();
    thread_.join();
  }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  double seconds() const {  // since it began
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
  }
  void cancel() { cancelled_ = true; }
  void wait() {
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [this] { return finished_; });
  }
  std::optional<Result> take() {  // once, after the end
    const std::lock_guard lock(mutex_);
    std::optional<Result> out = std::move(result_);
    result_.reset();
    return out;
  }

 private:
  void run() {
    Result result = work_([this] { return !cancelled_; });
    {
      const std::lock_guard lock(mutex_);
      result_.emplace(std::move(result));
      finished_ = true;
    }
    ended_.notify_all();
  }

  const Work work_;
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  std::atomic<bool> cancelled_{false};
  std::mutex mutex_;
  std::condition_variable ended_;
  bool finished_ = false;
  std::optional<Result> result_;
  std::thread thread_;  // last: starts when all else is there
};

}  // namespace tilescope
