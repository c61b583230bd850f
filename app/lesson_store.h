// Lessons as the program carries them, and the learner's progress on disk.
//
// Progress lies in tilescope/progress.json of the state folder (app/files.h).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "viz/scene/lesson_progress.h"

namespace tilescope {

// Names of lessons/NAME.md, embedded and of TILESCOPE_ASSETS.
std::vector<std::string> lesson_names();
Outcome<std::string> lesson_text(std::string_view name);

// Nothing done yet where there is no file. Refused: a file that is none of ours.
Outcome<LessonProgress> saved_progress();
std::optional<Error> write_progress(const std::string& text);

}  // namespace tilescope
