#include "app/workspace_file.h"

#include <fmt/format.h>

#include <filesystem>

#include "app/files.h"
#include "viz/scene/workspace.h"

namespace tilescope {
namespace {

namespace fs = std::filesystem;

}  // namespace

WorkspaceFile::WorkspaceFile() {
  const std::string folder = state_folder();
  if (!folder.empty()) path_ = folder + "/tilescope/workspace.json";
}

bool WorkspaceFile::restore(Session& session, Workshop& workshop) {
  std::error_code error;
  if (path_.empty() || !fs::exists(path_, error)) return false;
  const Outcome<std::string> text = read_text(path_);
  const Outcome<std::string> answer =
      text ? open_workspace_text(session, workshop, *text) : Outcome<std::string>(text.error());
  if (answer) {
    session.message = {"Everything is as you left it.", false};
    kept_ = workspace_text(session);
    return true;
  }
  const std::string aside = fs::path(path_).replace_extension(".broken.json").string();
  fs::rename(path_, aside, error);
  session.message = {fmt::format("The last workspace could not be opened, and was put aside as {}. "
                                 "{}",
                                 aside, answer.error().sentence),
                     true};
  return true;
}

void WorkspaceFile::remember(Session& session, Workshop& workshop) {
  const Outcome<std::string> text = read_text(path_);
  if (text) (void)remember_workspace_text(session, workshop, *text);
}

void WorkspaceFile::keep(Session& session) {
  if (path_.empty() || !session.script.lines.empty()) return;  // a view that is half opened
  std::string text = workspace_text(session);
  if (text == kept_) return;
  std::error_code error;
  fs::create_directories(fs::path(path_).parent_path(), error);
  const std::optional<Error> refused = write_file(path_, text);
  kept_ = std::move(text);
  if (!refused || told_) return;
  told_ = true;
  session.message = {fmt::format("The workspace is not kept: {}", refused->sentence), true};
}

}  // namespace tilescope
