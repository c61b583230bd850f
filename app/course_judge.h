// Judges a text that was written for an exercise (core/lesson/course.h): right, safe, fast.
//
//   right   it compiles, and at every shape all elements agree with the reference, without fault or
//           hazard
//   safe    the same where asynchronous work is delivered as late as is legal (--lazy), and in ten
//           schedules
//   fast    its predicted time at the last shape, beside our kernel's, is within the limit
//
// Each run is a process of its own, `tilescope run`, so that one that takes too long or too much
// memory harms nobody.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "app/terminal.h"
#include "core/error.h"
#include "core/lesson/course.h"

namespace tilescope {

struct CourseLimits {
  double seconds = 60;          // of one run, by our clock
  std::uint64_t megabytes = 0;  // of memory, of one run; 0: as much as there is
};

struct CourseVerdict {
  bool built = false, right = false, safe = false, fast = false;
  bool passed() const { return built && right && safe && fast; }
  // Where it did not pass: the kind (core/lesson/course.h), the options of the run that showed it,
  // what the program said and where, and what the exercise has to say of it; empty: nothing.
  std::string kind, options, sentence, where, told;
  std::string see;  // a command line that shows it; empty: there is none
  std::int64_t runs = 0;
  double seconds = 0, ours = 0;  // predicted; 0: not asked
};

// Refused: no nvcc, no such file; and interrupted.
Outcome<CourseVerdict> judge_course(const CourseExercise& exercise, const std::string& file,
                                    const CourseLimits& limits, Terminal& terminal);

// For people, several lines.
std::string text(const CourseVerdict& verdict, const CourseExercise& exercise);
nlohmann::ordered_json to_json(const CourseVerdict& verdict);

}  // namespace tilescope
