// The rows of the window's command table, a theme a file (viz/commands/commands_THEME.cpp); and
// what the functions in those rows share.
//
// A new command is a row in the file of its theme. A new theme is a file with one function more
// here, and its group in viz/commands/commands.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "viz/commands/commands.h"
#include "viz/scene/command_text.h"

namespace tilescope {

std::span<const WindowCommand> open_commands();
std::span<const WindowCommand> view_commands();
std::span<const WindowCommand> layout_commands();
std::span<const WindowCommand> derivation_commands();
std::span<const WindowCommand> access_commands();
std::span<const WindowCommand> slice_commands();
std::span<const WindowCommand> lower_commands();
std::span<const WindowCommand> editor_commands();
std::span<const WindowCommand> kernel_commands();
std::span<const WindowCommand> edit_commands();
std::span<const WindowCommand> diff_commands();
std::span<const WindowCommand> walk_commands();
std::span<const WindowCommand> break_commands();
std::span<const WindowCommand> theatre_commands();
std::span<const WindowCommand> why_commands();
std::span<const WindowCommand> product_commands();
std::span<const WindowCommand> timeline_commands();
std::span<const WindowCommand> compare_commands();
std::span<const WindowCommand> memory_commands();
std::span<const WindowCommand> lesson_commands();
std::span<const WindowCommand> course_commands();
std::span<const WindowCommand> history_commands();
std::span<const WindowCommand> share_commands();
std::span<const WindowCommand> settings_commands();
std::span<const WindowCommand> shell_commands();

using Answer = Outcome<std::string>;

// Whether `course WORD` does something; else the word is an exercise's name.
bool is_course_word(std::string_view word);

}  // namespace tilescope
