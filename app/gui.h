// The window, or pictures of it without a display.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/terminal.h"

namespace tilescope {

struct GuiOptions {
  std::string open;  // what `open` takes; empty: nothing, or the 9x32 example for commands
  std::vector<std::string> commands;  // --do, in order; each may hold several
  bool headless = false;
  std::string screenshot, describe;  // files; empty: none
  int width = 1600, height = 1000;
  bool dark = false;
  int frames = 0;  // draw so many frames, then say how long they took
};

// The exit code. Headless: each command finishes before the next; one that fails ends with its
// code and no file is written.
int open_window(const GuiOptions& options, Terminal& terminal);
int draw_headless(const GuiOptions& options, Terminal& terminal);

// Whether a window can be opened at all.
bool has_display();

}  // namespace tilescope
