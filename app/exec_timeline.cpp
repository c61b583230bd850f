#include "app/exec_timeline.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "app/demangle.h"
#include "app/files.h"
#include "app/terminal.h"
#include "core/io/trace_file.h"

namespace tilescope {
namespace {

std::uint64_t nanoseconds_of(double seconds) {
  return seconds > 0 ? static_cast<std::uint64_t>(std::llround(seconds * 1e9)) : 0;
}

std::string microseconds(std::uint64_t nanoseconds) {
  return fmt::format("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000);
}

std::string stream_name(std::uint64_t stream) {
  constexpr std::uint64_t per_thread = 2;  // CU_STREAM_PER_THREAD
  if (stream == 0) return "default stream";
  return stream == per_thread ? "default stream of a thread" : fmt::format("stream {}", stream);
}

}  // namespace

ExecTimeline::ExecTimeline(std::string path, std::string device)
    : path_(std::move(path)),
      device_(std::move(device)),
      events_(scratch_.folder() / "events", std::ios::binary) {}

std::uint32_t ExecTimeline::add_program(std::string_view name) {
  const std::uint32_t number = ++numbers_;
  put(fmt::format(
      "{}\n{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{},\"args\":{{\"name\":{}}}}},"
      "\n{{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":{},\"args\":{{\"sort_index\":"
      "{}}}}}",
      number == 1 ? "" : ",", number, quoted_for_trace(fmt::format("{} of {}", device_, name)),
      number, number - 1));
  return number;
}

std::uint32_t ExecTimeline::row(std::uint32_t program, std::uint64_t stream) {
  const auto [found, fresh] = rows_.try_emplace({program, stream}, numbers_ + 1);
  if (!fresh) return found->second;
  const std::uint32_t number = ++numbers_;
  put(fmt::format(
      ",\n{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":"
      "{}}}}},\n{{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":{},\"tid\":{},"
      "\"args\":{{\"sort_index\":{}}}}}",
      program, number, quoted_for_trace(stream_name(stream)), program, number, number));
  return number;
}

void ExecTimeline::add(const Work& work) {
  const std::uint32_t thread = row(work.program, work.stream);
  const std::uint64_t begin = nanoseconds_of(work.begin), end = nanoseconds_of(work.end);
  put(fmt::format(
      ",\n{{\"ph\":\"X\",\"pid\":{},\"tid\":{},\"ts\":{},\"dur\":{},\"name\":{},\"args\":{{"
      "{}}}}}",
      work.program, thread, microseconds(begin), microseconds(end > begin ? end - begin : 0),
      quoted_for_trace(readable(work.name)), work.facts));
  ++works_;
}

void ExecTimeline::add_record(const sim::Record& record, std::uint64_t launch, double begin) {
  TracePlace place{nanoseconds_of(begin), numbers_, flows_, fmt::format("launch {}: ", launch)};
  write_trace_events(record, place, [&](std::string_view piece) {
    put(piece);
    return true;
  });
  numbers_ = place.numbers;
  flows_ = place.flows;
}

std::optional<Error> ExecTimeline::write() {
  events_.flush();
  std::ifstream events(scratch_.folder() / "events", std::ios::binary);
  if (!events_ || !events) {
    return Error{ErrorKind::unreadable,
                 fmt::format("{} was not written: there is no room for its events in {}.", path_,
                             scratch_.folder().string()),
                 path_};
  }
  return write_pieces(path_, [&](const Taker& take) {
    if (!take(
            fmt::format("{{\"displayTimeUnit\":\"ns\",\"otherData\":{{\"device\":{},\"time\":{}}},"
                        "\"traceEvents\":[",
                        quoted_for_trace(device_),
                        quoted_for_trace("of the chip, predicted; copies between host and device "
                                         "take none"))))
      return false;
    std::vector<char> piece(std::size_t{1} << 20);
    while (events.read(piece.data(), static_cast<std::streamsize>(piece.size())),
           events.gcount() > 0) {
      const auto bytes = static_cast<std::size_t>(events.gcount());
      if (!take({piece.data(), bytes}) || interrupted()) return false;
    }
    return take("\n]}\n");
  });
}

}  // namespace tilescope
