// The course as a picture: at the left the exercises with where one stands, beside them what the
// chosen one asks, the file that is worked on, what its judge said, and hints. One below the other
// where it is narrow.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/lesson/course.h"
#include "viz/scene/describe.h"
#include "viz/scene/scene.h"

namespace tilescope {

struct CourseRow {
  std::string name, title;
  CourseStanding standing = CourseStanding::fresh;
  bool current = false;
};

struct CourseShown {
  std::vector<CourseRow> rows;  // one is current, and is:
  const CourseExercise& exercise;
  std::string file;                        // that is worked on; empty: none
  bool there = false;                      // it is on the disk
  bool changed = false;                    // since the verdict
  const CourseVerdict* verdict = nullptr;  // null: none yet
  std::size_t hints = 0;                   // that were given
  std::string checking;                    // "run 3 of 18: --k 192"; empty: nothing is checked
};

// Where the parts are, in pixels of the page from its top.
struct CourseFrame {
  double scroll = 0;  // how far the exercise can be scrolled
  Box beside;         // the list, where it is scrolled by itself
  double scroll_beside = 0;
  struct Part {
    double begin = 0, end = 0;
  };
  Part verdict, hints;
};

CourseFrame draw_course(Scene& scene, const CourseShown& shown, Size size, double scrolled,
                        double scrolled_beside);

Json describe_course(const CourseShown& shown);

}  // namespace tilescope
