#include "app/course_checks.h"

#include <utility>

namespace tilescope {

BackgroundCheck::BackgroundCheck(CourseExercise exercise, std::string file, CourseLimits limits)
    : work_([told = told_, exercise = std::move(exercise), file = std::move(file),
             limits](const KeepOn& keep_on) {
        CourseWatch watch;
        watch.keep_on = keep_on;
        watch.tell = [&told](const CourseProgress& progress) {
          const std::lock_guard lock(told->mutex);
          told->progress = progress;
        };
        return judge_course(exercise, file, limits, watch);
      }) {}

CourseProgress BackgroundCheck::progress() const {
  const std::lock_guard lock(told_->mutex);
  return told_->progress;
}

}  // namespace tilescope
