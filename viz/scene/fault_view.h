// A fault opens at its moment, with the view that explains it.
#pragma once

#include "viz/scene/session.h"

namespace tilescope {

// The barrier and who is missing; the bytes that two met in; columns of TMEM; else the line.
ViewName view_of_fault(const Report& report);
// Looks at the warp and lane that a report is about, where the machine stands, in that view.
void show_report(Choices& choices, const Report& report);
// The fault that the run ended with.
void show_fault(Choices& choices);
// The first position at which the machine has told its report `number`, counted from 0: looked for
// between the copies of the machine on its way. Nothing: it tells no such report.
std::optional<std::uint64_t> position_of_report(sim::Stepper& stepper, std::size_t number);

}  // namespace tilescope
