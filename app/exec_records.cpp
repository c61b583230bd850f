#include "app/exec_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/demangle.h"
#include "app/files.h"
#include "core/io/record_file.h"

namespace tilescope {
namespace {

namespace fs = std::filesystem;

bool is_one_file(const std::string& record) {
  return record.ends_with(".tsr");
}

}  // namespace

std::string launch_file_name(std::uint64_t launch, std::string_view kernel) {
  std::string name = plain_name(kernel);
  std::erase_if(name, [](char c) {
    return !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             c == '_' || c == '$' || c == '.' || c == '-');
  });
  return fmt::format("{:04}_{}", launch, name.substr(0, 100));
}

std::optional<Error> check_record_options(const ProfileOptions& options, bool one) {
  const Outcome<sim::RecordLimits> limits = limits_of(options, Launch{});
  if (!limits) return limits.error();
  if (!options.record.empty()) {
    if (is_one_file(options.record) && !one) {
      return Error{ErrorKind::usage,
                   fmt::format("--record {} is a file, which has room for one launch: choose that "
                               "with --launches N, or name a folder, which gets a file for each.",
                               options.record),
                   ""};
    }
    std::error_code failed;
    if (!is_one_file(options.record)) fs::create_directories(options.record, failed);
    if (failed) {
      return Error{
          ErrorKind::unreadable,
          fmt::format("The folder {} cannot be made: {}.", options.record, failed.message()),
          options.record};
    }
  }
  for (const std::string& file : {options.trace, options.record}) {
    const fs::path folder = fs::path(file).parent_path();
    std::error_code ignored;
    if (folder.empty() || fs::is_directory(folder, ignored)) continue;
    return Error{
        ErrorKind::unreadable,
        fmt::format("There is no folder {}, so {} could not be written.", folder.string(), file),
        file};
  }
  return {};
}

ExecRecords::ExecRecords(ProfileOptions options, std::shared_ptr<ExecTimeline> timeline,
                         DeviceDescription device, std::string program)
    : options_(std::move(options)),
      timeline_(std::move(timeline)),
      device_(std::move(device)),
      program_(std::move(program)) {}

sim::Recorder* ExecRecords::begin(const Launch& launch) {
  if (!options_.wanted()) return nullptr;
  ProfileOptions options = options_;
  if (options.limit.empty()) options.limit = "64MiB";  // there are many
  const Outcome<sim::RecordLimits> limits = limits_of(options, launch);
  recorder_.emplace(limits ? *limits : sim::RecordLimits());
  return &*recorder_;
}

void ExecRecords::end(std::string_view kernel, std::uint64_t number, double from, double to) {
  if (!recorder_) return;
  sim::Record record = recorder_->take();
  recorder_.reset();
  record.kernel = short_name(kernel);
  record.what = fmt::format("launch {} of {}", number, program_);
  record.device = device_;
  if (options_.stats) {
    auto sum = figures_.find(kernel);
    if (sum == figures_.end()) sum = figures_.emplace(kernel, sim::StatisticsSum()).first;
    sum->second.add(sim::statistics_of(record));
  }
  if (!options_.record.empty()) {
    const std::vector<std::byte> bytes = write_record(record);
    const std::string path =
        is_one_file(options_.record)
            ? options_.record
            : (fs::path(options_.record) / (launch_file_name(number, kernel) + ".tsr")).string();
    std::optional<Error> error = write_file(path, std::span(bytes));
    if (!error) ++written_;
    if (error && !failure_) failure_ = std::move(error);
  }
  // What a launch costs besides is drawn before its first cycle.
  const double cost = std::min(to - from, sim::run_time_of(record).launch);
  if (timeline_) timeline_->add_record(record, number, from + std::max(0.0, cost));
}

void ExecRecords::work(std::uint64_t stream, double from, double to, std::string name,
                       std::string facts) {
  if (!timeline_) return;
  if (!number_) number_ = timeline_->add_program(program_);
  timeline_->add({number_, stream, from, to, std::move(name), std::move(facts)});
}

}  // namespace tilescope
