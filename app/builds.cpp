#include "app/builds.h"

#include "app/compiler.h"

namespace tilescope {

BackgroundBuild::BackgroundBuild(std::string path, std::string architecture, Defines defines,
                                 Check wrong)
    : path_(std::move(path)),
      architecture_(std::move(architecture)),
      defines_(std::move(defines)),
      wrong_(std::move(wrong)),
      thread_([this] { work(); }) {}

BackgroundBuild::~BackgroundBuild() {
  cancel();
  thread_.join();
}

double BackgroundBuild::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
}

void BackgroundBuild::work() {
  Outcome<Build> build = compile(path_, architecture_, defines_, [this] { return !cancelled_; });
  Result result =
      build ? Result(std::make_shared<const Build>(std::move(*build))) : Result(build.error());
  if (result && (*result)->compiled()) {
    if (auto error = wrong_(*result)) result = *error;
  }
  {
    const std::lock_guard lock(mutex_);
    result_ = std::move(result);
    finished_ = true;
  }
  ended_.notify_all();
}

void BackgroundBuild::wait() {
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [this] { return finished_; });
}

std::optional<BackgroundBuild::Result> BackgroundBuild::take() {
  const std::lock_guard lock(mutex_);
  std::optional<Result> out = std::move(result_);
  result_.reset();
  return out;
}

}  // namespace tilescope
