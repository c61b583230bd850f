// A compilation in the background: a thread that waits for nvcc, so that the window does not.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "app/compiled_files.h"
#include "core/error.h"
#include "viz/machine/build.h"

namespace tilescope {

class BackgroundBuild {
 public:
  using Result = Outcome<std::shared_ptr<const Build>>;

  // `wrong`: what is wrong with a text that compiles, if anything.
  using Check = std::function<std::optional<Error>(const std::shared_ptr<const Build>&)>;

  BackgroundBuild(std::string path, std::string architecture, Defines defines, Check wrong);
  ~BackgroundBuild();  // stops the compiler, and waits until it is gone
  BackgroundBuild(const BackgroundBuild&) = delete;
  BackgroundBuild& operator=(const BackgroundBuild&) = delete;

  double seconds() const;  // since it began
  void cancel() { cancelled_ = true; }
  void wait();
  std::optional<Result> take();  // once, after the end

 private:
  void work();

  const std::string path_, architecture_;
  const Defines defines_;
  const Check wrong_;
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  std::atomic<bool> cancelled_{false};
  std::mutex mutex_;
  std::condition_variable ended_;
  bool finished_ = false;
  std::optional<Result> result_;
  std::thread thread_;  // last: starts when all else is there
};

}  // namespace tilescope
