#include "core/io/trace_file.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "core/io/trace_plan.h"
#include "core/profile/statistics.h"

namespace tilescope {
namespace {

using sim::Event;
using sim::EventKind;
using sim::Unit;

class Writer {
 public:
  Writer(const sim::Record& record, TracePlace place, const Sink& sink)
      : record_(record), place_(std::move(place)), sink_(sink), plan_(plan_trace(record)) {}

  bool write() {
    put(R"({{"displayTimeUnit":"ns","otherData":{{"kernel":{},"what":{},"device":{},"time":{}}},)",
        quoted_for_trace(record_.kernel), quoted_for_trace(record_.what),
        quoted_for_trace(record_.device.name),
        quoted_for_trace(record_.timed ? "predicted"
                                       : "none: an instruction of the grid is a nanosecond"));
    put(R"("traceEvents":[)");
    if (!write_events(false)) return false;
    put("\n]}}\n");
    return flush();
  }

  // `others`: some stand before them.
  bool write_events(bool others) {
    name_all(others);
    describe_lines();
    for (const TraceItem& item : plan_.items) {
      if (item.kind == TraceKind::slice) slice(item);
      if (item.kind == TraceKind::instant) instant(item);
      if (item.kind == TraceKind::flow) flow(item);
      if (item.kind == TraceKind::counter) counter(item);
      if (piece_.size() > piece_size && !flush()) return false;
    }
    return flush();
  }

  void take_numbers(TracePlace& place) const {
    place.numbers += static_cast<std::uint32_t>(plan_.processes.size() + plan_.threads.size());
    place.flows += static_cast<std::uint32_t>(plan_.arrives.size());
  }

 private:
  static constexpr std::size_t piece_size = std::size_t{1} << 20;

  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(fmt::appender(piece_), format, std::forward<Args>(args)...);
  }

  bool flush() {
    const bool more = sink_({piece_.data(), piece_.size()});
    piece_.clear();
    return more;
  }

  // Processes and threads are numbered from 1, each number used once.
  std::uint32_t pid(std::uint32_t process) const { return place_.numbers + process + 1; }
  std::uint32_t tid(std::uint32_t thread) const {
    return place_.numbers + static_cast<std::uint32_t>(plan_.processes.size()) + thread + 1;
  }

  void name_all(bool others) {
    const char* comma = others ? "," : "";
    for (std::uint32_t p = 0; p < plan_.processes.size(); ++p) {
      put("{}\n{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{},\"args\":{{\"name\":{}}}}}",
          comma, pid(p), quoted_for_trace(place_.name + plan_.processes[p]));
      comma = ",";
      put(",\n{{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":{},\"args\":{{\"sort_index\":{"
          "}}}}}",
          pid(p), pid(p) - 1);
    }
    for (std::uint32_t t = 0; t < plan_.threads.size(); ++t) {
      put(",\n{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":{}}"
          "}}}",
          pid(plan_.threads[t].process), tid(t), quoted_for_trace(plan_.threads[t].name));
      put(",\n{{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":{},\"tid\":{},\"args\":{{"
          "\"sort_index\":{}}}}}",
          pid(plan_.threads[t].process), tid(t), t);
    }
  }

  // What stands in the args of everything that an instruction did.
  void describe_lines() {
    for (const sim::RecordedLine& line : record_.lines) {
      std::string args = fmt::format("\"ptx\":{},\"PTX line\":{}",
                                     quoted_for_trace(sim::text(line)), line.ptx_line);
      if (line.line != 0 && line.file < record_.sources.size()) {
        args += fmt::format(",\"source\":{}", quoted_for_trace(fmt::format(
                                                  "{}:{}", record_.sources[line.file], line.line)));
      }
      lines_.push_back(std::move(args));
    }
  }

  // By the trace's own time.
  void time(std::string_view name, std::uint64_t nanoseconds) {
    nanoseconds += place_.begin;
    put(",\"{}\":{}.{:03}", name, nanoseconds / 1000, nanoseconds % 1000);
  }
  void span(std::uint64_t nanoseconds) {
    put(",\"dur\":{}.{:03}", nanoseconds / 1000, nanoseconds % 1000);
  }
  std::uint64_t ns(sim::Cycle cycle) const { return nanoseconds(record_, cycle); }

  void place(std::uint32_t thread) {
    put(",\"pid\":{},\"tid\":{}", pid(plan_.threads[thread].process), tid(thread));
  }

  void line_of(std::uint32_t pc) {
    if (pc < lines_.size()) put(",{}", lines_[pc]);
  }

  std::string_view name_of_operation(Unit unit) const {
    switch (unit) {
      case Unit::copy_in:
        return "copy in";
      case Unit::copy_out:
        return "copy out";
      case Unit::tensor:
        return "MMA";
      case Unit::tensor_copy:
        return "TMEM copy";
      case Unit::tensor_load:
        return "TMEM load";
      case Unit::tensor_store:
        return "TMEM store";
      case Unit::commit:
        return "commit";
      default:
        return sim::name_of(unit);
    }
  }

  void slice(const TraceItem& item) {
    const Event e = record_.events[item.event];
    const sim::Track& track = record_.tracks[e.track];
    const sim::Cycle end = end_in_trace(e, plan_.last);
    put(",\n{{\"ph\":\"X\"");
    place(plan_.thread_of[item.event]);
    time("ts", ns(e.begin));
    span(ns(end) - ns(e.begin));
    switch (e.kind) {
      case EventKind::run:
        put(",\"name\":\"runs\",\"args\":{{\"instructions\":{}", e.amount);
        line_of(e.pc);
        if (e.until != e.pc && e.until < record_.lines.size()) {
          put(",\"until PTX line\":{}", record_.lines[e.until].ptx_line);
        }
        break;
      case EventKind::wait:
        put(",\"name\":\"{}\",\"args\":{{\"stall\":\"{}\"", sim::name_of(e.stall),
            sim::letter_of(e.stall));
        if (e.stall == sim::Stall::mbarrier) {
          put(",\"mbarrier\":\"{:#x}\",\"phase\":{}", e.object, e.phase);
        } else if (e.stall == sim::Stall::barrier) {
          put(",\"barrier\":{},\"phase\":{}", e.object, e.phase);
        }
        line_of(e.pc);
        break;
      case EventKind::operation:
        put(",\"name\":\"{}\",\"args\":{{\"{}\":{}", name_of_operation(track.unit),
            e.bytes ? "bytes" : "amount", e.amount);
        if (track.unit == Unit::copy_in || track.unit == Unit::commit) {
          put(",\"mbarrier\":\"{:#x}\",\"phase\":{}", e.object, e.phase);
        }
        time("issued (us)", ns(e.issue));
        line_of(e.pc);
        break;
      case EventKind::phase:
        put(",\"name\":\"phase {}\",\"args\":{{\"phase\":{}", e.phase, e.phase);
        break;
      default:
        put(",\"name\":\"aggregated: {} events\",\"args\":{{\"events\":{},\"cycles "
            "run\":{},\"cycles waited\":{}",
            e.amount, e.amount, e.until, e.pc);
    }
    put(",\"begin\":{},\"end\":{}", e.begin, end);
    if (e.end == sim::never_ends) put(",\"goes on\":true");
    put("}}}}");
  }

  void instant(const TraceItem& item) {
    const Event e = record_.events[item.event];
    put(",\n{{\"ph\":\"i\",\"s\":\"t\"");
    place(plan_.thread_of[item.event]);
    time("ts", ns(e.begin));
    if (e.kind == EventKind::report && e.object < record_.reports.size()) {
      const Report& report = record_.reports[e.object];
      put(",\"name\":{},\"args\":{{\"sentence\":{},\"place\":{}",
          quoted_for_trace(fmt::format("{}: {}", name_of(report.weight), report.kind)),
          quoted_for_trace(report.sentence), quoted_for_trace(text(report.site)));
    } else {
      put(",\"name\":\"{}\",\"args\":{{\"{}\":{}", e.bytes ? "bytes arrive" : "arrival",
          e.bytes ? "bytes" : "arrivals", e.amount);
    }
    put(",\"at\":{}}}}}", e.begin);
  }

  void flow(const TraceItem& item) {
    const char* name = plan_.arrives[item.flow] ? "arrive" : "issue";
    put(",\n{{\"ph\":\"{}\",\"id\":{},\"name\":\"{}\",\"cat\":\"{}\"", item.ends ? 'f' : 's',
        place_.flows + item.flow + 1, name, name);
    place(plan_.thread_of[item.event]);
    time("ts", ns(item.at));
    put("{}}}", item.ends ? ",\"bp\":\"e\"" : "");
  }

  void counter(const TraceItem& item) {
    const TraceCounter& of = plan_.counters[item.event];
    put(",\n{{\"ph\":\"C\",\"name\":\"{}\",\"pid\":{}", of.name, pid(of.process));
    time("ts", ns(item.at));
    put(",\"args\":{{\"{}\":{}}}}}", of.series[item.flow], item.value);
  }

  const sim::Record& record_;
  const TracePlace place_;
  const Sink& sink_;
  const TracePlan plan_;
  std::vector<std::string> lines_;  // by pc
  fmt::memory_buffer piece_;
};

}  // namespace

// Records come from files: anything may be in their text.
std::string quoted_for_trace(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\', out += c;
    } else if (byte < 0x20 || byte >= 0x7f) {
      out += fmt::format("\\u{:04x}", byte);  // other bytes as Latin-1, which is valid at least
    } else {
      out += c;
    }
  }
  return out += '"';
}

bool write_trace(const sim::Record& record, const Sink& sink) {
  TracePlace place;
  return Writer(record, place, sink).write();
}

bool write_trace_events(const sim::Record& record, TracePlace& place, const Sink& sink) {
  Writer writer(record, place, sink);
  if (!writer.write_events(true)) return false;
  writer.take_numbers(place);
  return true;
}

}  // namespace tilescope
