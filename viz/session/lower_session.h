// The lowering of the open layout. Commands are in viz/commands/commands_lower.cpp.
#pragma once

#include "core/error.h"
#include "viz/lower/lower_scene.h"

namespace tilescope {

struct Session;

// Of the expression as it was opened: slices and partitions in it are lowered as such. Refused
// where it is none that can be, as a swizzle.
Outcome<lowering::Lowering> lowering_of(const Session& session);
// Without the PTX that may be below it.
Outcome<lowering::Lowering> lowering_to_llvm(const Session& session);

}  // namespace tilescope
