// The module that a program's files make together.
#pragma once

#include "core/ptx/module.h"
#include "core/run/job.h"

namespace tilescope {

Outcome<ptx::Module> module_of(Program program);

}  // namespace tilescope
