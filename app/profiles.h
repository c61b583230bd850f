// What `run` records, and the views of a record that it prints and writes: --stats, --timeline,
// --trace, --record.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "app/runs.h"
#include "app/terminal.h"
#include "core/profile/difference.h"
#include "core/profile/statistics.h"
#include "core/record/recorder.h"

namespace tilescope {

// As the command line says them.
struct ProfileOptions {
  bool stats = false;
  std::string record, trace, timeline;  // files
  std::string limit, block, time;       // "512MiB", "3" or "3,0,0", "1000:5000"
  bool wanted() const { return stats || !record.empty() || !trace.empty() || !timeline.empty(); }
};

// Refused where they cannot be read, or ask for what the launch does not have.
Outcome<sim::RecordLimits> limits_of(const ProfileOptions& options, const Launch& launch);

// What a machine has recorded, with what only the program knows of it.
sim::Record take_record(sim::Recorder& recorder, const PreparedRun& run,
                        const DeviceDescription& device);

// Writes the files that are asked for, each whole or not at all, and says so.
std::optional<Error> write_profiles(const sim::Record& record, const ProfileOptions& options,
                                    Terminal& terminal);

// A line of one of the program's own kernels; empty where it is not one of theirs.
std::string source_line(const std::string& file, std::uint32_t line);

nlohmann::ordered_json json_of(const sim::Statistics& statistics);
nlohmann::ordered_json json_of(const sim::Difference& difference);

}  // namespace tilescope
