#include "viz/session/lower_session.h"

#include "core/lower/request.h"
#include "viz/layout/presets.h"
#include "viz/scene/command_text.h"
#include "viz/session/session.h"

namespace tilescope {

Outcome<lowering::Lowering> lowering_of(const Session& session) {
  if (const auto& code = session.state.study.code) return code->lowering;
  return lowering_to_llvm(session);
}

Outcome<lowering::Lowering> lowering_to_llvm(const Session& session) {
  std::string what = session.state.layout_text;
  if (const auto [word, name] = first_word(what); word == "preset") {
    const Outcome<Preset> preset = preset_named(name);
    if (!preset) return preset.error();
    std::string expression = expression_of(*preset);
    if (expression.empty()) return refused("This preset is no layout in memory to be lowered.");
    what = std::move(expression);
  }
  const Outcome<lowering::Request> request = lowering::request_of(what);
  if (!request) return request.error();
  return lowering::lower(*request);
}

}  // namespace tilescope
