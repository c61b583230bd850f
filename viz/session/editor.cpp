#include "viz/session/editor.h"

#include <algorithm>

#include "viz/layout/presets.h"
#include "viz/session/backend.h"
#include "viz/session/session.h"

namespace tilescope {

namespace {

const std::string kOpened = "expressions";

}  // namespace

const std::vector<std::string>& opened_before(const Session& session) {
  static const std::vector<std::string> none;
  const auto found = session.kept.find(kOpened);
  return found == session.kept.end() ? none : found->second;
}

Completions offered(const Session& session, const Backend& backend) {
  const Editor& editor = session.editor;
  if (!editor.active || editor.dismissed) return {};
  const std::string_view text = session.field;
  Completions out = completions(text, editor.caret);
  const std::size_t caret = std::min(editor.caret, text.size());
  const std::size_t first = text.find_first_not_of(' ');
  if (first == text.npos) return out;
  const std::string_view begun = text.substr(first, caret - std::min(first, caret));
  std::vector<Completion> whole;
  for (const Preset& preset : presets()) {
    const std::string name = "preset " + std::string(preset.name);
    if (matches(name, begun).any || matches(preset.name, begun).any) {
      whole.push_back({Completion::Kind::preset, name, std::string(preset.title)});
    }
  }
  for (const KernelName& kernel : backend.kernels()) {
    if (!matches(kernel.name, begun).any) continue;
    whole.push_back({Completion::Kind::kernel, kernel.name, kernel.help});
  }
  if (whole.empty()) return out;
  // These stand for the whole text, so the words of the language are offered only beside them.
  if (out.begin != first) out.all.clear();
  out.begin = first;
  out.all.insert(out.all.end(), whole.begin(), whole.end());
  return out;
}

std::optional<Signature> signature(const Session& session) {
  if (!session.editor.active) return std::nullopt;
  return signature_at(session.field, session.editor.caret);
}

std::string completed(std::string_view text, const Completions& from, std::size_t which,
                      std::size_t& caret) {
  const Completion& choice = from.all[which];
  std::string word = choice.text;
  const bool call = choice.kind == Completion::Kind::function;
  const bool open = from.end < text.size() && text[from.end] == '(';
  if (call && !open) word += "(";
  caret = from.begin + word.size() + (call && open ? 1 : 0);
  return std::string(text.substr(0, from.begin)) + word + std::string(text.substr(from.end));
}

std::optional<std::string> recalled(Session& session, bool back) {
  Editor& editor = session.editor;
  const std::vector<std::string>& history = opened_before(session);
  if (history.empty()) return std::nullopt;
  if (!editor.recalled) {
    if (!back) return std::nullopt;
    editor.draft = session.field;
    editor.recalled = history.size();
    // What is in the field already is not recalled once more.
    if (history.back() == session.field && history.size() > 1) {
      editor.recalled = history.size() - 1;
    }
  }
  const std::size_t at = *editor.recalled;
  if (back && at == 0) return std::nullopt;
  if (!back && at + 1 >= history.size()) {
    editor.recalled.reset();
    return editor.draft;
  }
  editor.recalled = back ? at - 1 : at + 1;
  return history[*editor.recalled];
}

void remember(Session& session, std::string_view text) {
  constexpr std::size_t most = 200;
  std::vector<std::string>& all = session.kept[kOpened];
  all.erase(std::remove(all.begin(), all.end(), text), all.end());
  all.emplace_back(text);
  if (all.size() > most) all.erase(all.begin());
  session.editor.recalled.reset();
}

}  // namespace tilescope
