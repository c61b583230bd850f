// A fault or a hazard opens at its moment, with the view that explains it.
//
//   view      what is told                                   what is seen there
//   barriers  nobody can go on; an mbarrier is used as it    the barrier, its phase, who came, who
//             must not be                                    waits, who is missing, the bytes to
//                                                            come and what in flight brings them
//             TMEM that a product still uses, and somebody   the barrier waited at, and for which
//             waited for an earlier phase than its commit    phase that was
//   memory    two meet in a block's shared memory            the bytes of both, who they are
//   tmem      two meet in TMEM; columns that are not the     the cells of both, and whose the
//             block's; lanes that are not the warp's         columns are
//   matrices  two meet in global memory; an element of the   the element
//             result is undefined, missing or made twice
//   source    all else: an instruction that cannot be        its line, and what it should have been
//             done, with nothing but itself to show
//
// What was of a block that has exited meanwhile opens in source, too.
// In all of them is who has a part in it, a line each: who, where in the source, since when.
// A run that ends with a wrong result opens in the diff, which nothing here decides.
#pragma once

#include "viz/session/session.h"

namespace tilescope {

ViewName view_of_report(const Report& report);
// Looks at the places that report `number` is about, in that view.
void show_report(ViewState& state, const Report& report, std::size_t number);
// The fault that the run ended with.
void show_fault(ViewState& state);

// Where a click on the status line leads: to the fault or hazard that it tells; empty: it tells
// none.
std::string command_of_message(const Session& session);

}  // namespace tilescope
