// What lies over the view for a moment because the reader asked for it: the palette, the list of
// commands, the list of steps, the words that lessons explain. One at a time; Esc, or a click
// beside it, puts it away. It is no choice: undo knows nothing of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "viz/scene/describe.h"

namespace tilescope {

struct Session;
class Workshop;

struct Overlay {
  enum class Kind : std::uint8_t { none, palette, commands, history, words };
  Kind kind = Kind::none;
  std::string text;        // palette: its line; words: the one that was asked for
  std::size_t chosen = 0;  // palette: which entry Enter takes
  std::string problem;     // palette: why the line could not be done

  bool open() const { return kind != Kind::none; }
};
std::string_view name_of(Overlay::Kind kind);

// A list under headings, each row with what a click does: the commands, the steps.
struct SheetRow {
  std::string left, middle, right;
  std::string command;  // empty: a heading
  bool current = false;
  bool quiet = false;  // a step that was taken back
};
struct Sheet {
  enum class Kind : std::uint8_t { commands, steps, words };
  Kind kind = Kind::commands;
  std::string title, hint;
  std::vector<SheetRow> rows;
};
// Every command by theme: name and arguments, help, keys. A click opens the palette with it.
Sheet commands_sheet();
// Every step, oldest first, those that were taken back after the present one. A click goes there.
Sheet history_sheet(const Session& session);

// Every word of the lessons with its meaning, by name; `word` is marked. A click goes to the step
// that explains it.
Sheet words_sheet(const Session& session);
// The list that the overlay is, where it is one.
Sheet sheet_of(const Session& session);

// What is to be read in it, for --describe.
Json describe_overlay(const Session& session, const Workshop& workshop);

}  // namespace tilescope
