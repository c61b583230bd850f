#include "viz/commands/script.h"

#include "viz/commands/commands.h"
#include "viz/session/seek.h"

namespace tilescope {
namespace {

std::optional<Error> go_on(Session& session, Backend& backend) {
  while (!busy(session) && !session.script.lines.empty()) {
    const std::string line = session.script.lines.front();
    session.script.lines.pop_front();
    const std::size_t steps = session.past.size();
    const bool joins = session.script.joins;  // a line may have others follow, as part of its step
    const auto answer = execute(session, backend, line);
    if (joins && session.past.size() > steps) session.past.pop_back();
    if (answer) continue;
    session.script = {};
    return answer.error();
  }
  // A run that the last line began still belongs to it.
  if (session.script.lines.empty() && !busy(session)) session.script = {};
  return {};
}

}  // namespace

Outcome<std::string> start_script(Session& session, Backend& backend,
                                  std::vector<std::string> lines) {
  session.script = {{lines.begin(), lines.end()}, false};
  if (auto error = go_on(session, backend)) return *error;
  return session.message.text;
}

bool continue_script(Session& session, Backend& backend) {
  if (busy(session)) return false;
  if (session.script.lines.empty()) {
    session.script = {};
    return false;
  }
  (void)go_on(session, backend);
  return true;
}

std::optional<Error> finish_commands(Session& session, Backend& backend) {
  constexpr double piece = 1000;  // milliseconds
  while (session.running || seeking(session) || !session.script.lines.empty()) {
    if (session.running) {
      backend.wait();
      take_result(session, backend);
    } else if (seeking(session)) {
      seek_on(session, backend, piece);
    } else if (session.edit.building) {  // lines wait for it
      backend.wait_build();
      take_build(session, backend);
    }
    if (auto error = go_on(session, backend)) return error;
  }
  return {};
}

}  // namespace tilescope
