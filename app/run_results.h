// What came of `tilescope run`: on stdout and stderr, or as the one document of --json.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/comparisons.h"
#include "app/devices.h"
#include "app/proofs.h"
#include "app/reports.h"
#include "app/runs.h"
#include "app/searches.h"
#include "app/terminal.h"
#include "core/profile/statistics.h"

namespace tilescope {

struct RunResults {
  const PreparedRun& run;
  std::string on;        // "sim", "gpu", "both"
  std::string numerics;  // "exact", "fast"; empty where nothing is added up
  const Telling& telling;
  std::string opened{};  // by the window's command `open`: "hgemm_v1 --m 256"
  std::optional<Searched> searched{};
  std::optional<Proved> proved{};
  bool proves = false;  // it was asked for
  std::optional<sim::Statistics> stats{};
  std::vector<DiffReport> variables{};  // those of which something is expected
};

// A fault: ends with the reports; under --json they are in the error document, and so is the search
// that came upon them. Answers the exit code.
int tell_fault(const RunResults& results, const std::vector<Report>& reports, Terminal& terminal);

// A run that ended; `ok`: nothing is wrong.
void tell_results(const RunResults& results, const std::vector<Ran>& ran,
                  const std::vector<Compared>& compared, bool ok, Terminal& terminal);

}  // namespace tilescope
