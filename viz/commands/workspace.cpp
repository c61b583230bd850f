#include "viz/commands/workspace.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "viz/commands/commands.h"
#include "viz/commands/rebuild.h"
#include "viz/commands/share.h"
#include "viz/session/settings.h"

namespace tilescope {
namespace {

Error broken_workspace(std::string why) {
  return {ErrorKind::unreadable, fmt::format("This is no workspace that can be opened: {}", why),
          ""};
}

using Words = std::vector<std::string>;

// The strings of a member; nothing where it is something else.
std::optional<std::vector<std::string>> lines_in(const Json& document, const char* member) {
  std::vector<std::string> lines;
  const auto found = document.find(member);
  if (found == document.end()) return lines;
  if (!found->is_array()) return {};
  for (const Json& line : *found) {
    if (!line.is_string()) return {};
    lines.push_back(line.get<std::string>());
  }
  return lines;
}

// Version 0: {"tilescope": "workspace", "version": 0, "view": "tilescope:..."}
std::optional<Error> migrate(Json& document, int version) {
  if (version > 0) return {};
  const auto view = document.find("view");
  if (view == document.end() || !view->is_string()) {
    return broken_workspace("its member \"view\" is no share string.");
  }
  const auto lines = read_share(view->get<std::string>());
  if (!lines) return lines.error();
  *view = *lines;
  return {};
}

// The document as one of today's version, or why it cannot be.
Outcome<Json> read(std::string_view text) {
  Json document = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded()) return broken_workspace("it is not JSON, or was cut off.");
  if (!document.is_object()) {
    return broken_workspace(
        "it is JSON, but no object with a member \"tilescope\": \"workspace\".");
  }
  const auto kind = document.find("tilescope");
  if (kind == document.end() || *kind != "workspace") {
    return broken_workspace("a member \"tilescope\": \"workspace\" is missing.");
  }
  const auto version = document.find("version");
  if (version == document.end() || !version->is_number_integer()) {
    return broken_workspace("its version is missing.");
  }
  const auto number = version->get<std::int64_t>();
  if (number > workspace_version || number < 0) {
    return broken_workspace(
        fmt::format("it has version {}, and this Tilescope reads up to {}. A newer Tilescope "
                    "opens it.",
                    number, workspace_version));
  }
  if (auto error = migrate(document, static_cast<int>(number))) return *error;
  return document;
}

}  // namespace

std::string workspace_text(const Session& session, const Backend& backend) {
  Json out = {{"tilescope", "workspace"}, {"version", workspace_version}};
  out["view"] = rebuilding(session, backend, Extent::all);
  out["settings"] = settings_lines(session.state.settings);
  out["tour"] = session.tour_seen ? "seen" : "new";
  for (const auto& [name, lines] : session.kept) out["kept"][name] = lines;
  return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

namespace {

// The commands that make its view, as today's.
std::optional<Words> view_in(const Json& document) {
  auto lines = lines_in(document, "view");
  if (!lines) return {};
  for (std::string& line : *lines) line = migrated(std::move(line), 1);
  return Words(std::move(*lines));
}

// The settings that the document's lines make; in a session of their own, so that a refusal changes
// nothing.
Outcome<WindowSettings> settings_in(const Json& document, Backend& backend) {
  const auto lines = lines_in(document, "settings");
  if (!lines) return broken_workspace("its settings must be a list of commands.");
  Session fresh;
  for (const std::string& line : *lines) {
    const auto answer = is_setting(line) ? execute(fresh, backend, line)
                                         : Outcome<std::string>(broken_workspace(fmt::format(
                                               "`{}` is no setting of the window.", line)));
    if (!answer) return answer.error();
  }
  return fresh.state.settings;
}

void take_kept(Session& session, const Json& document) {
  if (const auto kept = document.find("kept"); kept != document.end() && kept->is_object()) {
    for (const auto& each : kept->items()) {
      if (auto lines = lines_in(*kept, each.key().c_str())) session.kept[each.key()] = *lines;
    }
  }
  const auto tour = document.find("tour");
  session.tour_seen = session.tour_seen || (tour != document.end() && *tour == "seen");
}

}  // namespace

Outcome<std::string> open_workspace_text(Session& session, Backend& backend,
                                         std::string_view text) {
  const Outcome<Json> document = read(text);
  if (!document) return document.error();
  const auto view = view_in(*document);
  if (!view) return broken_workspace("its view must be a list of commands.");
  const Outcome<WindowSettings> settings = settings_in(*document, backend);
  if (!settings) return settings.error();
  const auto answer = rebuild(session, backend, *view);
  if (!answer) return answer.error();
  session.state.settings = *settings;
  take_kept(session, *document);
  return std::string("Opened the workspace.");
}

Outcome<std::string> restore_workspace_text(Session& session, Backend& backend,
                                            std::string_view text) {
  const Outcome<Json> document = read(text);
  if (!document) return document.error();
  std::vector<std::string> refused;
  Session fresh;
  for (const std::string& line : lines_in(*document, "settings").value_or(Words{})) {
    if (!is_setting(line)) {
      refused.push_back(fmt::format("`{}` is no setting of the window.", line));
    } else if (const auto answer = execute(fresh, backend, line); !answer) {
      refused.push_back(fmt::format("`{}`: {}", line, answer.error().sentence));
    }
  }
  const auto view = view_in(*document);
  if (!view) refused.emplace_back("Its view is no list of commands.");
  const std::vector<std::string> of_view =
      rebuild_what_can_be(session, backend, view.value_or(Words{}));
  refused.insert(refused.end(), of_view.begin(), of_view.end());
  session.state.settings = fresh.state.settings;
  take_kept(session, *document);
  if (refused.empty()) return std::string();
  // The first says why; what stands behind it mostly follows from it.
  const std::string more =
      refused.size() == 1 ? ""
                          : fmt::format(" ({} more could not be done either)", refused.size() - 1);
  return fmt::format("Not all is as you left it{}. {}", more, refused.front());
}

std::optional<Error> remember_workspace_text(Session& session, Backend& backend,
                                             std::string_view text) {
  const Outcome<Json> document = read(text);
  if (!document) return document.error();
  const Outcome<WindowSettings> settings = settings_in(*document, backend);
  if (!settings) return settings.error();
  session.state.settings = *settings;
  take_kept(session, *document);
  return {};
}

}  // namespace tilescope
