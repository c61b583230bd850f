// Changing the text of the editor by commands, and taking that back.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "viz/scene/command_text.h"
#include "viz/session/edit_state.h"
#include "viz/session/session.h"

namespace tilescope {
namespace {

Error no_such_line(const std::string& path, std::size_t line, std::size_t count) {
  return {ErrorKind::mismatch,
          fmt::format("{} has {} line{}, and {} is none of them: `edit insert {} TEXT` puts a line "
                      "after the last one.",
                      path, count, count == 1 ? "" : "s", line, count + 1),
          ""};
}

std::string what_was_done(const std::string& path, std::size_t from, std::size_t to,
                          std::size_t added) {
  const bool one = from == to || (to < from && added == 1);
  const std::string where = one ? fmt::format("line {} of {}", from, path)
                            : to < from
                                ? fmt::format("lines {} to {} of {}", from, from + added - 1, path)
                                : fmt::format("lines {} to {} of {}", from, to, path);
  if (to < from) return fmt::format("Put in {}: `rebuild` saves and compiles it.", where);
  return fmt::format("{} {}: `rebuild` saves and compiles it.", added ? "Changed" : "Took out",
                     where);
}

}  // namespace

Outcome<std::string> change_lines(Session& session, Backend& backend, std::size_t from,
                                  std::size_t to, const std::vector<std::string>& lines) {
  if (auto opened = begin_edit(session, backend, ""); !opened) return opened;
  SourceEdit& edit = session.edit.edit;
  std::vector<std::string> all = lines_with_ends(edit.text);
  const bool inserts = to < from;
  if (from < 1 || from > all.size() + (inserts ? 1 : 0)) {
    return no_such_line(edit.path, from, all.size());
  }
  if (!inserts && to > all.size()) return no_such_line(edit.path, to, all.size());
  const bool dos = !all.empty() && all[0].size() > 1 && all[0][all[0].size() - 2] == '\r';
  const std::string end = dos ? "\r\n" : "\n";
  if (from == all.size() + 1 && !all.empty() && all.back().back() != '\n') all.back() += end;
  const auto at = all.begin() + static_cast<std::ptrdiff_t>(from - 1);
  const auto behind = inserts ? at : all.begin() + static_cast<std::ptrdiff_t>(to);
  std::string text;
  for (auto i = all.begin(); i != at; ++i) text += *i;
  for (const std::string& line : lines) text += line + end;
  for (auto i = behind; i != all.end(); ++i) text += *i;
  session.edit.change = std::make_shared<const TextChange>(TextChange{edit.path, edit.text, text});
  type_edit(session, backend, std::move(text));
  edit.line = static_cast<std::uint32_t>(from);
  return what_was_done(edit.path, from, to, lines.size());
}

std::optional<Error> change_back(Session& session, Backend& backend, const TextChange& change,
                                 bool before) {
  SourceEdit& edit = session.edit.edit;
  if (edit.path != change.path) {
    if (auto opened = begin_edit(session, backend, change.path); !opened) return opened.error();
  }
  if (edit.text != (before ? change.after : change.before)) {
    return Error{
        ErrorKind::mismatch,
        fmt::format("The text of {} has changed since, so it stays as it is.", change.path), ""};
  }
  type_edit(session, backend, before ? change.before : change.after);
  return {};
}

}  // namespace tilescope
