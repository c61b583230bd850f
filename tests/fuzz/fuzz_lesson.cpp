// Lessons: any text gets a lesson or a sentence with its line; what was read can be posed with
// other numbers, answered with anything, and asked for its solution.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/lesson/glossary.h"
#include "core/lesson/pose.h"

namespace {

using namespace tilescope;

void check(const LessonStep& step) {
  for (std::uint64_t round = 0; round < 3; ++round) {
    const auto posed = pose(step, round);
    if (!posed) {
      if (posed.error().sentence.empty()) std::abort();
      continue;
    }
    if (!posed->exercise) continue;
    for (const std::string_view answer : {"", "3", "(1,2)", "(2,2):(1,7)", "yes", "4:-1"}) {
      if (judge(*posed->exercise, answer, {}).sentence.empty()) std::abort();
    }
    const auto right = solution(*posed->exercise, {});
    if (!right) continue;
    if (judge(*posed->exercise, *right, {}).is == Judgement::Is::wrong) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Outcome<Lesson> lesson = read_lesson(text, "fuzz");
  if (!lesson) {
    const Error& error = lesson.error();
    if (error.sentence.empty() || !std::string_view(error.where).starts_with("fuzz.md:")) {
      std::abort();
    }
    return 0;
  }
  for (const LessonStep& step : lesson->steps) {
    if (step.words > most_words || step.commands.empty()) std::abort();
    check(step);
  }
  (void)early_words({&*lesson, 1});
  return 0;
}
