#include "app/jobs.h"

namespace tilescope {
namespace {

// Warp instructions in a piece: a few milliseconds of the simulator, so that cancelling is prompt
// and progress is smooth, and far more than a call costs.
constexpr std::uint64_t kPiece = 200'000;

}  // namespace

BackgroundRun::BackgroundRun(Steps steps) : steps_(std::move(steps)), thread_([this] { work(); }) {}

BackgroundRun::~BackgroundRun() {
  cancel();
  thread_.join();
}

double BackgroundRun::seconds() const {
  const Clock::rep begun = begun_;
  if (begun == 0) return 0;
  return std::chrono::duration<double>(Clock::now().time_since_epoch() - Clock::duration(begun))
      .count();
}

RunProgress BackgroundRun::progress() const {
  const bool finished = finished_;
  return {finished ? RunProgress::State::finished : RunProgress::State::running, done_, total_,
          instructions_, finished ? final_seconds_.load() : seconds()};
}

RunResult::End BackgroundRun::advance(Execution& execution) {
  for (;;) {
    const RunState state = execution.advance(kPiece);
    const Progress now = execution.progress();
    done_ = now.done;
    total_ = now.total;
    instructions_ = now.instructions;
    if (state == RunState::done) return RunResult::End::done;
    if (state == RunState::fault) return RunResult::End::fault;
    if (cancelled_) return RunResult::End::cancelled;
  }
}

void BackgroundRun::work() {
  std::optional<Result> result;
  auto execution = steps_.start();
  if (execution) {
    begun_ = Clock::now().time_since_epoch().count();
    Ended ended;
    ended.end = advance(**execution);
    final_seconds_ = seconds();
    ended.execution = std::move(*execution);
    ended.progress = {RunProgress::State::finished, done_, total_, instructions_, final_seconds_};
    result = steps_.finish(std::move(ended));
  } else {
    result = Result(execution.error());
  }
  {
    const std::lock_guard lock(mutex_);
    result_ = std::move(result);
    finished_ = true;
  }
  ended_.notify_all();
}

void BackgroundRun::wait() {
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [this] { return finished_.load(); });
}

std::optional<BackgroundRun::Result> BackgroundRun::take() {
  const std::lock_guard lock(mutex_);
  std::optional<Result> out = std::move(result_);
  result_.reset();
  return out;
}

}  // namespace tilescope
