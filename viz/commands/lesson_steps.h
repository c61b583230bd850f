// Going through a lesson: opening it, its steps, answers and hints. What passes of the open step is
// in LessonState (viz/session/lesson_state.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "viz/session/session.h"

namespace tilescope {

// Other numbers than these are asked by none.
inline constexpr std::uint64_t most_rounds = 1'000'000;

// Each answers the sentence for the status line, and is refused where there is no such lesson or
// step, or where a command of the step is. The step's commands and the place are one change. Law: a
// step's view depends on the step and its numbers alone, not on what was open before.
// Without a step, where the learner left off.
Outcome<std::string> open_lesson(Session& session, Backend& backend, std::string_view name,
                                 std::optional<std::size_t> step = {}, std::uint64_t round = 0);
// The step is opened, and the view stays as it is: for a view that comes from elsewhere.
Outcome<std::string> lay_out_step(Session& session, Backend& backend, std::string_view name,
                                  std::size_t step, std::uint64_t round);
Outcome<std::string> go_to_step(Session& session, Backend& backend, std::size_t step,
                                std::uint64_t round);

// The verdict is kept too. Refused where there is no exercise.
Outcome<std::string> answer_exercise(Session& session, Backend& backend, std::string_view answer);
// The first hint, the second, then the answer.
Outcome<std::string> give_hint(Session& session, Backend& backend);

}  // namespace tilescope
