// `explain handoffs` and `explain why`: they run a kernel by a chip's clock, or read a record, and
// tell who hands what on to whom (core/profile/handoffs.h), or what the run's time was spent on
// (core/profile/critical_path.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/runs.h"
#include "app/terminal.h"
#include "core/profile/run_graph.h"
#include "core/record/record.h"
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

// A run by a chip's clock, and its record; of a record's file the record alone. A fault is told,
// and what came until then is there.
struct ExplainedRun {
  sim::Record record;
  std::optional<PreparedRun> run;
  Order order;  // without a recorder
};
// `wants_cause`: of a deadlock its cause is told, and not what was handed on until then.
Outcome<ExplainedRun> explained_run(const HandoffsOptions& options, Terminal& terminal,
                                    bool wants_cause = false);

// Answers the exit code.
int explain_handoffs(const HandoffsOptions& options, Terminal& terminal);
int explain_why(const HandoffsOptions& options, Terminal& terminal);

}  // namespace tilescope
