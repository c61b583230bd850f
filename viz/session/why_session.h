// Why the run took so long, in the window's session. Commands are in commands_why.cpp.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "viz/session/session.h"

namespace tilescope {

// Of the run that is open. Null: there is no record.
std::shared_ptr<const WhyView> why_of(const Session& session);
// The answer to what is asked now.
const WhyAnswer& why_answer(const Session& session, const WhyView& view);
// The commands that ask the same again.
std::vector<std::string> why_lines(const ViewState& state);

}  // namespace tilescope
