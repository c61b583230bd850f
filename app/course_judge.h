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
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/error.h"
#include "core/lesson/course.h"
#include "core/run/catalog_entry.h"

namespace tilescope {

struct CourseLimits {
  double seconds = 60;          // of one run, by our clock
  std::uint64_t megabytes = 0;  // of memory, of one run; 0: as much as there is
};

struct CourseWatch {
  std::function<void(const CourseProgress&)> tell;  // before each run; may be empty
  KeepOn keep_on;                                   // asked often; no: it is given up
};

// Refused: no nvcc, no such file; and interrupted, where `keep_on` said no.
Outcome<CourseVerdict> judge_course(const CourseExercise& exercise, const std::string& file,
                                    const CourseLimits& limits, const CourseWatch& watch);

// A command line that shows what is wrong; empty: there is none.
std::string see(const CourseVerdict& verdict);
// For people, several lines.
std::string text(const CourseVerdict& verdict, const CourseExercise& exercise);
nlohmann::ordered_json to_json(const CourseVerdict& verdict);

}  // namespace tilescope
