#include "app/workspace_file.h"

#include <fmt/format.h>

#include <filesystem>

#include "app/files.h"
#include "viz/commands/workspace.h"

namespace tilescope {
namespace {

namespace fs = std::filesystem;

}  // namespace

WorkspaceFile::WorkspaceFile() {
  const std::string folder = state_folder();
  if (!folder.empty()) path_ = folder + "/tilescope/workspace.json";
}

bool WorkspaceFile::restore(Session& session, Backend& backend) {
  std::error_code error;
  if (path_.empty() || !fs::exists(path_, error)) return false;
  const Outcome<std::string> text = read_text(path_);
  if (!text) {
    session.message = {fmt::format("The last workspace is not opened: {}", text.error().sentence),
                       true};
    return true;
  }
  const Message before = session.message;
  const Outcome<std::string> missing = restore_workspace_text(session, backend, *text);
  if (missing) {
    session.message = {*missing, true};
    if (missing->empty()) session.message = {"Everything is as you left it.", false};
    if (missing->empty() && before.failed) session.message = before;
    kept_ = workspace_text(session, backend);
    return true;
  }
  const std::string aside = fs::path(path_).replace_extension(".broken.json").string();
  fs::rename(path_, aside, error);
  session.message = {fmt::format("The last workspace could not be opened and was renamed to {}. {}",
                                 aside, missing.error().sentence),
                     true};
  return true;
}

void WorkspaceFile::remember(Session& session, Backend& backend) {
  const Outcome<std::string> text = read_text(path_);
  if (text) (void)remember_workspace_text(session, backend, *text);
}

bool WorkspaceFile::keep(Session& session, const Backend& backend) {
  if (!session.script.lines.empty()) return false;  // a view that is half opened
  const auto tell = [&](const std::string& why) {
    if (told_) return false;
    told_ = true;
    session.message = {fmt::format("The workspace is not saved: {}", why), true};
    return true;
  };
  if (path_.empty()) return tell("neither XDG_STATE_HOME nor HOME names a folder.");
  std::string text = workspace_text(session, backend);
  if (text == kept_) return false;
  std::error_code error;
  fs::create_directories(fs::path(path_).parent_path(), error);
  const std::optional<Error> refused = write_file(path_, text);
  kept_ = std::move(text);
  return refused ? tell(refused->sentence) : false;
}

}  // namespace tilescope
