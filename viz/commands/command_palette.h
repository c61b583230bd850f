// The palette: what a few typed letters may mean, best first, and what Enter does with it.
//
//     "dark"          theme dark             a literal argument is found like a command
//     "volta"         open preset Volta ...  so is what there is to open
//     "isolate t"     isolate thread N, isolate tile N: Enter completes, then takes the number
//     "pick 3 5"      as it is typed
//
// Letters match a command's name and literal arguments in order, gaps allowed, or are as they are
// in its help. Beginnings win over middles, and these over scattered letters; ties stay in the
// table's order.
//
// Law: whatever the text, the same session gives the same entries; an entry that asks for nothing
// more is a line that execute() takes or refuses with a sentence.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "viz/session/backend.h"
#include "viz/session/session.h"

namespace tilescope {

struct PaletteEntry {
  std::string line;       // what Enter does, or writes into the palette's line
  std::string arguments;  // what is still to be said, as help writes it; empty: Enter does it
  std::string help;
  std::string keys;              // "Ctrl+Z"
  std::vector<std::size_t> lit;  // bytes of the line that the text was found in
  bool runs = true;              // Enter does the line; else it completes it
};

// At most `most` of them; for an empty text every command once, in the table's order.
std::vector<PaletteEntry> palette_entries(const Session& session, const Backend& backend,
                                          std::string_view text, std::size_t most = 200);

// Opens it with this text.
void open_palette(Session& session, std::string_view text);
// The text has changed; the first entry is chosen again.
void type_palette(Session& session, std::string_view text);
// The choice moves, round the ends.
void move_palette(Session& session, const Backend& backend, int by);
// Tab: the chosen entry becomes the line, to be gone on with.
void complete_palette(Session& session, const Backend& backend);
// Enter: does the chosen entry and closes the palette, or completes its line. What is refused
// leaves the palette open with the sentence in it.
void enter_palette(Session& session, Backend& backend);

}  // namespace tilescope
