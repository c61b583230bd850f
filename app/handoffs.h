// `explain handoffs` and `explain why`: they run a kernel by a chip's clock, or read a record, and
// tell who hands what on to whom (core/profile/handoffs.h), or what the run's time was spent on
// (core/profile/critical_path.h).
#pragma once

#include <cstdint>
#include <string>

#include "app/terminal.h"
#include "core/profile/run_graph.h"
#include "viz/machine/run_result.h"

namespace tilescope {

struct HandoffsOptions {
  std::string of;      // a kernel, a PTX file or a record
  std::string launch;  // of a PTX file
  std::string device;  // a name or a device file; empty: one that the PTX is for
  std::string ptx;     // another build of the kernel, as `run` has it
  KernelOptions own;   // the kernel's own options: {"m", "512"}
  std::uint64_t block = 0;
  std::uint64_t uses = 12;  // of each ring in the ledger
  sim::WhatIf what;         // `why`
};

// The record of such a run, or a file's. `wants_cause`: of a deadlock its cause is told, and not
// what was handed on until then.
Outcome<sim::Record> recorded(const HandoffsOptions& options, Terminal& terminal,
                              bool wants_cause = false);

// Answers the exit code.
int explain_handoffs(const HandoffsOptions& options, Terminal& terminal);
int explain_why(const HandoffsOptions& options, Terminal& terminal);

}  // namespace tilescope
