#include "app/profiles.h"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <vector>

#include "app/assets.h"
#include "app/files.h"
#include "app/timeline_page.h"
#include "core/io/record_file.h"
#include "core/io/trace_file.h"
#include "core/lesson/course.h"

namespace tilescope {
namespace {

// A number from the front of `text`, which loses it; nothing where there is none.
std::optional<std::uint64_t> take_number(std::string_view& text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

std::optional<std::uint64_t> bytes_of(std::string_view text) {
  const auto number = take_number(text);
  if (!number) return std::nullopt;
  int shift = -1;
  if (text.empty() || text == "B") shift = 0;
  if (text == "K" || text == "KiB") shift = 10;
  if (text == "M" || text == "MiB") shift = 20;
  if (text == "G" || text == "GiB") shift = 30;
  if (shift < 0 || *number > (~std::uint64_t{0} >> shift)) return std::nullopt;
  return *number << shift;
}

// "3" or "3,0,0" as a block's number.
std::optional<std::uint64_t> block_of(std::string_view text, const Dim3& grid) {
  std::vector<std::uint64_t> numbers;
  while (true) {
    const auto number = take_number(text);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
    if (text.empty()) break;
    if (text.front() != ',' || numbers.size() == 3) return std::nullopt;
    text.remove_prefix(1);
  }
  if (numbers.size() == 1) {
    return numbers[0] < grid.count() ? std::optional(numbers[0]) : std::nullopt;
  }
  numbers.resize(3);
  if (numbers[0] >= grid.x || numbers[1] >= grid.y || numbers[2] >= grid.z) return std::nullopt;
  return numbers[0] + numbers[1] * grid.x + numbers[2] * grid.x * grid.y;
}

Error usage(std::string sentence) {
  return {ErrorKind::usage, std::move(sentence), ""};
}

// "M = 1024, N = 1024, K = 1024, f16"
std::string what_of(const PreparedRun& run) {
  std::string out;
  const auto add = [&](std::string_view name, std::int64_t size) {
    if (size > 0) out += fmt::format("{}{} = {}", out.empty() ? "" : ", ", name, size);
  };
  add("M", run.fit.sizes.m);
  add("N", run.fit.sizes.n);
  add("K", run.fit.sizes.k);
  add("L", run.fit.sizes.l);
  if (run.entry && !run.job.buffers.empty()) {
    out += fmt::format("{}{}", out.empty() ? "" : ", ", name_of(run.job.buffers.front().dtype));
  }
  return out;
}

}  // namespace

Outcome<sim::RecordLimits> limits_of(const ProfileOptions& options, const Launch& launch) {
  sim::RecordLimits limits;
  if (!options.wanted() &&
      !(options.limit.empty() && options.block.empty() && options.time.empty())) {
    return usage(
        "--record-limit, --record-block and --record-time say what is kept of a record: use them "
        "with --record F.tsr, --timeline F.html, --trace F.json or --stats.");
  }
  constexpr std::uint64_t least = std::uint64_t{1} << 20;
  if (!options.limit.empty()) {
    const auto bytes = bytes_of(options.limit);
    if (!bytes || *bytes < least) {
      return usage(fmt::format(
          "--record-limit {}: the room that a record's events may take, such as 512MiB; at least "
          "1MiB.",
          options.limit));
    }
    limits.bytes = *bytes;
  }
  if (!options.block.empty()) {
    limits.block = block_of(options.block, launch.grid);
    if (!limits.block) {
      return usage(fmt::format(
          "--record-block {}: the grid is ({},{},{}); a block is its number, from 0 to {}, or "
          "x,y,z.",
          options.block, launch.grid.x, launch.grid.y, launch.grid.z, launch.grid.count() - 1));
    }
  }
  if (!options.time.empty()) {
    std::string_view text = options.time;
    const auto from = take_number(text);
    const bool range = from && text.starts_with(':');
    if (range) text.remove_prefix(1);
    const auto to = range ? take_number(text) : std::nullopt;
    if (!to || !text.empty() || *to <= *from) {
      return usage(fmt::format("--record-time {}: two cycles, such as 1000:5000.", options.time));
    }
    limits.from = *from;
    limits.to = *to;
  }
  return limits;
}

sim::Record take_record(sim::Recorder& recorder, const PreparedRun& run,
                        const DeviceDescription& device) {
  sim::Record record = recorder.take();
  record.kernel = run.kernel;
  record.what = what_of(run);
  record.device = device;
  if (run.fit.sizes.k > 0) {
    record.work = 2.0 * static_cast<double>(run.fit.sizes.m) *
                  static_cast<double>(run.fit.sizes.n) * static_cast<double>(run.fit.sizes.k) *
                  static_cast<double>(std::max<std::int64_t>(1, run.fit.sizes.l));
  }
  return record;
}

std::optional<Error> write_profiles(const sim::Record& record, const ProfileOptions& options,
                                    Terminal& terminal) {
  if (!options.record.empty()) {
    const std::vector<std::byte> file = write_record(record);
    if (const auto error = write_file(options.record, std::span(file))) return error;
    terminal.say(fmt::format("wrote {}: {} events; tilescope compare {} OTHER.tsr", options.record,
                             record.events.size(), options.record));
  }
  if (!options.timeline.empty()) {
    const Outcome<TimelinePage> page = timeline_page(record);
    if (!page) return page.error();
    if (const auto error = write_file(options.timeline, page->html)) return error;
    terminal.say(
        fmt::format("wrote {}: {} events, for a browser", options.timeline, record.events.size()));
  }
  if (!options.trace.empty()) {
    const auto error = write_pieces(options.trace, [&](const Taker& take) {
      return write_trace(record,
                         [&](std::string_view piece) { return take(piece) && !interrupted(); });
    });
    if (error) return error;
    terminal.say(fmt::format("wrote {}: {} events, for https://ui.perfetto.dev", options.trace,
                             record.events.size()));
  }
  return std::nullopt;
}

std::string source_line(const std::string& file, std::uint32_t line) {
  static std::map<std::string, std::vector<std::string>> files;
  auto found = files.find(file);
  if (found == files.end()) {
    found = files.emplace(file, std::vector<std::string>{}).first;
    if (const Outcome<Asset> asset = load_asset(file)) {
      const std::string shown = without_marks(asset->text());
      std::string_view text = shown;
      while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        found->second.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
      }
    }
  }
  return line >= 1 && line <= found->second.size() ? found->second[line - 1] : std::string();
}

}  // namespace tilescope
