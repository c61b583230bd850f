// The field as an editor: what is typed where the caret is, what it may become, what was opened
// before. The window draws this and keeps the caret; `type`, `complete` and `recall` do the same
// without a window.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/language/completion.h"

namespace tilescope {

struct Session;
class Backend;

struct Editor {
  bool active = false;     // the keyboard's
  std::size_t caret = 0;   // in bytes of the field's text
  std::size_t chosen = 0;  // of the completions
  bool dismissed = false;  // the list of completions, until the text changes
  // Where Up and Down are in what was opened before.
  std::optional<std::size_t> recalled;
  std::string draft;  // what stood in the field before the first Up
};

// What the field offers at the caret: nothing while it is not being typed in. Presets and kernels
// are offered as the first word.
Completions offered(const Session& session, const Backend& backend);
std::optional<Signature> signature(const Session& session);

// The text with the word replaced; `caret` goes after it, and after the `(` of a function.
std::string completed(std::string_view text, const Completions& from, std::size_t which,
                      std::size_t& caret);

// One further back (or forward) in what was opened, as the field's text; nothing at the end.
std::optional<std::string> recalled(Session& session, bool back);
// What was opened, the latest last, each once. Workspaces keep it.
const std::vector<std::string>& opened_before(const Session& session);
// Notes what was opened.
void remember(Session& session, std::string_view text);

}  // namespace tilescope
