// Workspaces: any text is opened or refused with a sentence; one that is refused changes nothing,
// and our own of yesterday is taken up as far as it goes. What was opened is written as a workspace
// that opens.
//
// An input is read as it is, and then as the lines of a good workspace's view and settings.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "tests/viz/ui_backend.h"
#include "viz/commands/workspace.h"

namespace {

using namespace tilescope;

constexpr std::size_t most_lines = 24;

void read(std::string_view text) {
  test::FakeBackend backend;
  {
    Session session;
    const ViewState before = session.state;
    const Outcome<std::string> opened = open_workspace_text(session, backend, text);
    if (!opened && (opened.error().sentence.empty() || !(session.state == before))) std::abort();
    if (opened) {
      const std::string written = workspace_text(session, backend);
      Session other;
      test::FakeBackend fresh;
      fresh.texts = backend.texts;
      if (!open_workspace_text(other, fresh, written)) std::abort();
    }
  }
  {
    Session session;
    const Outcome<std::string> missing = restore_workspace_text(session, backend, text);
    if (!missing && missing.error().sentence.empty()) std::abort();
  }
  Session session;
  const auto wrong = remember_workspace_text(session, backend, text);
  if (wrong && wrong->sentence.empty()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read(text);
  nlohmann::json view = nlohmann::json::array(), settings = nlohmann::json::array();
  for (std::size_t at = 0; at < size && view.size() + settings.size() < most_lines;) {
    const std::size_t end = std::min(text.find('\n', at), size);
    const std::string line(text.substr(at, end - at));
    const bool setting = line.rfind("set ", 0) == 0;  // "set font 125"
    (setting ? settings : view).push_back(setting ? line.substr(4) : line);
    at = end + 1;
  }
  const nlohmann::json whole = {{"tilescope", "workspace"},
                                {"version", workspace_version},
                                {"view", view},
                                {"settings", settings}};
  read(whole.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  return 0;
}
