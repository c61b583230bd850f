// What is recorded of the launches of one program's device, and what becomes of it: figures by
// kernel, a file for each launch, its part of the timeline.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "app/exec_timeline.h"
#include "app/profiles.h"
#include "core/profile/statistics_sum.h"
#include "core/record/recorder.h"

namespace tilescope {

class ExecRecords {
 public:
  // `timeline`: of all programs; null where none is asked for.
  ExecRecords(ProfileOptions options, std::shared_ptr<ExecTimeline> timeline,
              DeviceDescription device, std::string program);

  // Before a launch that is looked at: who records it; null where nobody asks.
  sim::Recorder* begin(const Launch& launch);
  // Behind it. `number`: from 1 on; `from`, `to`: seconds of its stream.
  void end(std::string_view kernel, std::uint64_t number, double from, double to);
  // A launch, a copy or a memset, of the timeline alone.
  void work(std::uint64_t stream, double from, double to, std::string name, std::string facts);

  // By kernel, over its launches.
  const std::map<std::string, sim::StatisticsSum, std::less<>>& figures() const { return figures_; }
  std::uint64_t written() const { return written_; }
  // The first file that could not be written.
  const std::optional<Error>& failure() const { return failure_; }

 private:
  ProfileOptions options_;
  std::shared_ptr<ExecTimeline> timeline_;
  DeviceDescription device_;
  std::string program_;
  std::uint32_t number_ = 0;  // in the timeline
  std::optional<sim::Recorder> recorder_;
  std::map<std::string, sim::StatisticsSum, std::less<>> figures_;
  std::uint64_t written_ = 0;
  std::optional<Error> failure_;
};

// Reads --record, --trace, --record-limit: what cannot be has a sentence, and the folder for
// records is made. `one`: a single launch is chosen.
std::optional<Error> check_record_options(const ProfileOptions& options, bool one);
// A file that is made for each launch, "0003_scale": its name without what no file may have in it.
std::string launch_file_name(std::uint64_t launch, std::string_view kernel);

}  // namespace tilescope
