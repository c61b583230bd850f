// What came of a run, as text for people and as JSON: reports of the machine, and the difference.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "app/runs.h"
#include "core/diff/patterns.h"
#include "core/run/job.h"
#include "core/run/suppressions.h"

namespace tilescope {

// "A (300,200) f32, B (300,200) f32 -> C (300,200) f32; 38 CTAs of 128 threads"
std::string describe(const PreparedRun& run);

// How reports are told.
struct Telling {
  bool verbose = false;              // each of them
  std::vector<Suppression> rules{};  // but those
  bool writes_rules = false;         // and with a rule that would silence it
};

// What shows the rest of what a text leaves out: each report of a group, and all about a deadlock.
struct Elsewhere {
  std::string_view each = "--verbose shows each";
  std::string_view all = "--verbose, or tilescope explain why";
};

// With its site, what was expected and what was found: the first report of each line and kind, with
// how many there are (core/run/report_groups.h); verbose: each report. Faults last, as they came.
std::string text_of_reports(const std::vector<Report>& reports, bool verbose,
                            const Elsewhere& elsewhere = {});

nlohmann::ordered_json to_json(const std::vector<Report>& reports);
nlohmann::ordered_json to_json(const DiffReport& diff);
nlohmann::ordered_json to_json(const std::vector<Pattern>& patterns);

bool has_hazard(const std::vector<Report>& reports);
// That no rule silences.
bool has_hazard(const std::vector<Report>& reports, const Telling& telling);

}  // namespace tilescope
