// A text that is judged in the background: a thread that waits for the judge's runs, so that the
// window does not.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "app/background.h"
#include "app/course_judge.h"

namespace tilescope {

class BackgroundCheck {
 public:
  BackgroundCheck(CourseExercise exercise, std::string file, CourseLimits limits);

  CourseProgress progress() const;
  void cancel() { work_.cancel(); }
  void wait() { work_.wait(); }
  std::optional<Outcome<CourseVerdict>> take() { return work_.take(); }

 private:
  // Outlives the thread that tells it.
  struct Told {
    std::mutex mutex;
    CourseProgress progress;
  };
  std::shared_ptr<Told> told_ = std::make_shared<Told>();
  Background<Outcome<CourseVerdict>> work_;
};

}  // namespace tilescope
