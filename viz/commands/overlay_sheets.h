// What is over the view as lists: the commands, the steps, the words that lessons explain.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "viz/scene/describe.h"
#include "viz/session/overlay.h"

namespace tilescope {

struct Session;
class Backend;

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
Json describe_overlay(const Session& session, const Backend& backend);

}  // namespace tilescope
