#include "core/io/record_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "core/io/bytes.h"
#include "core/io/device_times_file.h"
#include "core/io/record_cause.h"
#include "core/io/record_events.h"

namespace tilescope {
namespace {

using sim::Record;

constexpr unsigned char magic[] = {0x89, 'T', 'S', 'R', '\r', '\n', 0x1a, '\n'};
constexpr std::size_t header_bytes = sizeof magic + 8, section_bytes = 20;
constexpr std::string_view section_names[] = {"RUN ", "CODE", "RPRT", "TRAK", "EVNT", "CNTR",
                                              "PIPE", "USES", "LANE", "CAUS", "L2  "};

// Those that a record of this version has.
std::size_t sections_of(std::uint32_t version) {
  return std::size(section_names) - (version < 4 ? 4 : version < 5 ? 3 : version < 6 ? 2 : 0);
}

// ---- What both directions go through: with a ByteWriter it writes, with a ByteReader it reads
// ----

struct Write {
  ByteWriter& out;
  void operator()(const std::string& value) { out.text(value); }
  void operator()(double value) { out.f64(value); }
  void operator()(bool value) { out.u8(value); }
  void operator()(std::uint64_t value) { out.varint(value); }
  void operator()(std::uint32_t value) { out.varint(value); }
  void operator()(int value) { out.varint(static_cast<std::uint32_t>(value)); }
};

struct Read {
  ByteReader& in;
  void operator()(std::string& value) { value = in.text(); }
  void operator()(double& value) { value = in.f64(); }
  void operator()(bool& value) {
    const std::uint8_t byte = in.u8();
    if (byte > 1) in.fail();
    value = byte;
  }
  void operator()(std::uint64_t& value) { value = in.varint(); }
  void operator()(std::uint32_t& value) { value = in.number(); }
  void operator()(int& value) { value = static_cast<int>(in.number()); }
};

template <class Each, class Dimensions>
void dimensions(Each each, Dimensions& d) {
  each(d.x);
  each(d.y);
  each(d.z);
}

template <class Each, class Of>
void run_section(Each each, Of& record) {
  each(record.kernel);
  each(record.what);
  each(record.launch.entry);
  dimensions(each, record.launch.grid);
  dimensions(each, record.launch.block);
  each(record.launch.dynamic_shared);
  auto& device = record.device;
  each(device.name);
  each(device.major);
  each(device.minor);
  for (auto* value : {&device.processors, &device.blocks, &device.threads, &device.shared,
                      &device.block_shared, &device.reserved, &device.registers}) {
    each(*value);
  }
  each(record.timed);
  each(record.work);
  each(record.end);
  each(record.seconds);
  each(record.blocks_simulated);
  each(record.uncertain);
  each(record.resident_blocks);
  each(record.resident_warps);
  each(record.limited_by);
}

template <class Each, class Of>
void line(Each each, Of& of) {
  each(of.text);
  each(of.ptx_line);
  each(of.file);
  each(of.line);
  each(of.caller_file);
  each(of.caller_line);
}

template <class Each, class Of>
void report(Each each, Of& of) {
  each(of.kind);
  each(of.sentence);
  each(of.expected);
  each(of.found);
  each(of.count);
  auto& site = of.site;
  each(site.kernel);
  each(site.source);
  each(site.source_line);
  each(site.caller);
  each(site.caller_line);
  each(site.ptx_line);
  dimensions(each, site.block);
  each(site.warp);
  each(site.lane);
}

template <class Each, class Of>
void counters(Each each, Of& of) {
  each(of.issued);
  each(of.lanes);
  for (auto& cycles : of.stalled) each(cycles);
  for (auto* value : {&of.shared_bytes, &of.global_bytes, &of.memory_bytes, &of.tensor_bytes,
                      &of.wavefronts, &of.ideal_wavefronts, &of.sectors, &of.ideal_sectors}) {
    each(*value);
  }
}

// ---- Writing
// -------------------------------------------------------------------------------------

void section(ByteWriter& out, std::string_view name, const ByteWriter& content) {
  for (const char c : name) out.u8(static_cast<std::uint8_t>(c));
  out.u64(content.bytes.size());
  out.u64(record_checksum(content.bytes));
  out.bytes.insert(out.bytes.end(), content.bytes.begin(), content.bytes.end());
}

ByteWriter run_bytes(const Record& record) {
  ByteWriter out;
  Write each{out};
  run_section(each, record);
  each(record.launch.cluster.has_value());
  if (record.launch.cluster) dimensions(each, *record.launch.cluster);
  // By name: descriptions of chips get more figures.
  DeviceTimes times = record.device.times;
  const auto figures = figures_of(times);
  out.varint(figures.size());
  for (const auto& [name, value] : figures) {
    out.text(name);
    out.f64(*value);
  }
  // Names that a file of an earlier program does not have.
  if (record.barriers.empty()) return out;
  out.varint(record.barriers.size());
  for (const auto& [byte, barrier] : record.barriers) {
    out.varint(byte);
    out.text(barrier);
  }
  return out;
}

// ---- Reading
// -------------------------------------------------------------------------------------

class Reader {
 public:
  Reader(std::span<const std::byte> file, std::string_view name) : file_(file), name_(name) {}

  Outcome<Record> read() {
    if (!header()) return error_;
    for (std::size_t i = 0; i < sections_of(version_); ++i) {
      if (!section(section_names[i])) return error_;
    }
    if (at_ != file_.size()) {
      return refuse(at_, fmt::format("goes on for {} bytes after its last section: it is not one "
                                     "record alone",
                                     file_.size() - at_));
    }
    return std::move(record_);
  }

 private:
  bool header() {
    if (file_.empty()) {
      refuse(0, "is empty; tilescope run KERNEL --record F.tsr writes a record");
      return false;
    }
    for (std::size_t i = 0; i < sizeof magic; ++i) {
      if (i == file_.size()) return cut_short("its first eight bytes");
      if (static_cast<unsigned char>(file_[i]) == magic[i]) continue;
      refuse(i, i < 4 ? "is not the record of a run (it does not begin with \\x89TSR); tilescope "
                        "run KERNEL --record F.tsr writes one"
                      : "was changed as if it were text (its line ends differ): copy it again, as "
                        "binary");
      return false;
    }
    if (file_.size() < header_bytes) return cut_short("its version");
    ByteReader in(file_, sizeof magic);
    version_ = in.u32();
    const std::uint32_t sections = in.u32();
    if (version_ < oldest_record_version || version_ > record_version) {
      refuse(sizeof magic, fmt::format("is a record of version {}, and this program reads versions "
                                       "{} to {}: record the run again",
                                       version_, oldest_record_version, record_version));
      return false;
    }
    if (sections != sections_of(version_)) {
      refuse(sizeof magic + 4, fmt::format("has {} sections, and a record of version {} has {}",
                                           sections, version_, sections_of(version_)));
      return false;
    }
    at_ = header_bytes;
    return true;
  }

  bool section(std::string_view name) {
    if (file_.size() - at_ < section_bytes) {
      return cut_short(fmt::format("the head of its section '{}'", name));
    }
    for (std::size_t i = 0; i < name.size(); ++i) {
      if (static_cast<char>(file_[at_ + i]) == name[i]) continue;
      refuse(at_, fmt::format("has something else where its section '{}' should begin", name));
      return false;
    }
    ByteReader head(file_.subspan(0, at_ + section_bytes), at_ + 4);
    const std::uint64_t length = head.u64(), checksum = head.u64();
    at_ += section_bytes;
    if (length > file_.size() - at_) {
      return cut_short(
          fmt::format("its section '{}', {} bytes from byte {} on", name, length, at_));
    }
    const auto size = static_cast<std::size_t>(length);
    if (record_checksum(file_.subspan(at_, size)) != checksum) {
      refuse(at_, fmt::format("is damaged: the checksum of its section '{}' ({} bytes) is not that "
                              "of what it holds",
                              name, size));
      return false;
    }
    ByteReader in(file_.subspan(0, at_ + size), at_);
    std::string wrong = content(name, in);
    if (wrong.empty() && in.failed()) wrong = "a number or text that is cut off";
    if (wrong.empty() && in.left()) wrong = fmt::format("{} bytes too many", in.left());
    if (!wrong.empty()) {
      refuse(in.at(), fmt::format("has a broken section '{}': {}", name, wrong));
      return false;
    }
    at_ += size;
    return true;
  }

  std::string content(std::string_view name, ByteReader& in) {
    if (name == "RUN ") return run(in);
    if (name == "CODE") return code(in);
    if (name == "RPRT") return reports(in);
    if (name == "TRAK") return tracks(in);
    if (name == "EVNT") return read_events(in, record_);
    if (name == "CNTR") return line_counters(in);
    if (name == "PIPE") return pipes(in);
    if (name == "LANE") return accesses(in);
    if (name == "CAUS") return read_causes(in, record_.reports);
    if (name == "L2  ") return cached(in);
    return uses(in);
  }

  std::string run(ByteReader& in) {
    Read each{in};
    run_section(each, record_);
    bool clusters = false;
    each(clusters);
    if (clusters) {
      record_.launch.cluster.emplace();
      dimensions(each, *record_.launch.cluster);
    }
    const std::size_t count = in.count(9);
    const auto figures = figures_of(record_.device.times);
    for (std::size_t i = 0; i < count; ++i) {
      const std::string figure = in.text();
      const double value = in.f64();
      for (const auto& [known, member] : figures) {
        if (figure == known) *member = value;
      }
    }
    const std::size_t names = in.left() ? in.count(2) : 0;
    for (std::size_t i = 0; i < names; ++i) {
      const std::uint32_t byte = in.number();
      record_.barriers[byte] = in.text();
    }
    return {};
  }

  std::string code(ByteReader& in) {
    Read each{in};
    record_.sources.resize(in.count(1));
    for (std::string& source : record_.sources) each(source);
    record_.lines.resize(in.count(7));
    for (sim::RecordedLine& of : record_.lines) {
      line(each, of);
      const std::uint8_t product = in.u8();
      if (product >= static_cast<std::uint8_t>(ProductType::count_))
        return "an instruction has a product of no known type";
      of.product = static_cast<ProductType>(product);
      for (const auto& [file, at] :
           {std::pair(of.file, of.line), std::pair(of.caller_file, of.caller_line)}) {
        if (at == 0 || file < record_.sources.size()) continue;
        return fmt::format("an instruction is of source {}, of {}", file, record_.sources.size());
      }
    }
    return {};
  }

  std::string reports(ByteReader& in) {
    Read each{in};
    record_.reports.resize(in.count(15));
    for (Report& of : record_.reports) {
      const std::uint8_t weight = in.u8();
      if (weight > static_cast<std::uint8_t>(Weight::fault)) return "a report of no known weight";
      of.weight = static_cast<Weight>(weight);
      report(each, of);
    }
    return {};
  }

  std::string tracks(ByteReader& in) {
    record_.tracks.resize(in.count(4));
    std::uint64_t block = 0;
    for (sim::Track& track : record_.tracks) {
      track.block = block += unzigzag(in.varint());
      const std::uint8_t unit = in.u8();
      if (unit >= static_cast<std::uint8_t>(sim::Unit::count_)) return "a track of no known unit";
      track.unit = static_cast<sim::Unit>(unit);
      track.index = in.number();
      track.processor = in.number();
    }
    return {};
  }

  std::string line_counters(ByteReader& in) {
    record_.counters.resize(in.count(10));
    if (!in.failed() && record_.counters.size() < record_.lines.size()) {
      return fmt::format("counters for {} instructions, of {}", record_.counters.size(),
                         record_.lines.size());
    }
    Read each{in};
    for (sim::LineCounters& of : record_.counters) counters(each, of);
    return {};
  }

  std::string pipes(ByteReader& in) {
    if (const std::uint64_t count = in.varint(); count != record_.pipes.size()) {
      return fmt::format("{} units, and there are {}", count, record_.pipes.size());
    }
    for (sim::PipeCounters& pipe : record_.pipes) {
      pipe.busy = in.f64();
      pipe.copies = in.f64();
    }
    return {};
  }

  std::string uses(ByteReader& in) {
    Read each{in};
    record_.buffers.resize(in.count(3));
    for (sim::RecordedBuffer& of : record_.buffers) {
      each(of.name);
      const std::uint8_t type = in.u8();
      if (type > static_cast<std::uint8_t>(DType::i64)) return "a buffer of no known type";
      of.dtype = static_cast<DType>(type);
      of.shape.resize(in.count(1));
      for (std::int64_t& extent : of.shape) extent = static_cast<std::int64_t>(in.varint());
    }
    record_.uses.resize(in.count(8));
    std::uint64_t event = 0;
    for (sim::MemoryUse& of : record_.uses) {
      event += in.varint();
      if (event >= record_.events.size()) return "a use of an event that is not there";
      of.event = static_cast<sim::EventId>(event);
      if (std::string wrong = use(in, of); !wrong.empty()) return wrong;
    }
    return {};
  }

  // What lanes of warps access.
  std::string accesses(ByteReader& in) {
    using sim::WarpAccess;
    record_.lane_offsets.resize(in.count(1));
    for (std::uint32_t& offset : record_.lane_offsets) offset = in.number();
    record_.accesses.resize(in.count(14));
    std::uint64_t begin = 0;
    for (WarpAccess& of : record_.accesses) {
      const std::uint8_t kind = in.u8();
      if ((kind & 15) >= static_cast<std::uint8_t>(WarpAccess::Kind::count_) ||
          kind >> 4 >= static_cast<std::uint8_t>(WarpAccess::Of::count_)) {
        return "an access of no known kind";
      }
      of.kind = static_cast<WarpAccess::Kind>(kind & 15);
      of.of = static_cast<WarpAccess::Of>(kind >> 4);
      of.bytes = in.u8();
      of.track = in.number();
      if (of.track >= record_.tracks.size()) return "an access of a track that is not there";
      begin += unzigzag(in.varint());
      of.begin = begin;
      of.end = begin + in.varint();
      of.pc = in.number();
      of.mask = in.number();
      const std::uint32_t buffer = in.number(), offsets = in.number();
      if (buffer > record_.buffers.size()) return "an access of a buffer that is not there";
      if (offsets > record_.lane_offsets.size() / 32)
        return "an access of lanes that are not there";
      of.buffer = buffer ? buffer - 1 : WarpAccess::none;
      of.offsets = offsets ? (offsets - 1) * 32 : WarpAccess::none;
      of.first = in.varint();
      of.step = static_cast<std::int32_t>(unzigzag(in.varint()));
      for (auto* value : {&of.passes, &of.ideal, &of.from_l2, &of.from_memory}) {
        *value = in.number();
      }
    }
    return {};
  }

  std::string use(ByteReader& in, sim::MemoryUse& of) {
    using sim::MemoryUse;
    const std::uint8_t kind = in.u8();
    const std::uint8_t where = kind & 15, operand = kind >> 4 & 7;
    if (where >= static_cast<std::uint8_t>(MemoryUse::Of::count_) ||
        operand >= static_cast<std::uint8_t>(MemoryUse::Operand::count_)) {
      return "a use of no known kind";
    }
    of.of = static_cast<MemoryUse::Of>(where);
    of.operand = static_cast<MemoryUse::Operand>(operand);
    of.writes = kind >> 7;
    of.rank = in.u8();
    for (auto* value : {&of.buffer, &of.row, &of.rows, &of.column, &of.columns}) {
      *value = in.number();
    }
    const bool global = of.of == MemoryUse::Of::global;
    if (global && of.buffer >= record_.buffers.size()) {
      return fmt::format("a use of buffer {}, of {}", of.buffer, record_.buffers.size());
    }
    return {};
  }

  // What L2 had when.
  std::string cached(ByteReader& in) {
    Read{in}(record_.cache_overflowed);
    record_.cached.resize(in.count(4));
    for (sim::CachedBuffer& of : record_.cached) {
      of.buffer = in.number();
      of.rows = in.number();
      of.columns = in.number();
      if (of.buffer >= record_.buffers.size()) return "cells of a buffer that is not there";
      const std::size_t cells = in.count(1);
      if (of.rows == 0 || of.columns == 0 || cells != std::uint64_t{of.rows} * of.columns) {
        return "a buffer in L2 with another number of cells than its rows and columns";
      }
      of.since.resize(cells);
      std::uint64_t last = 0;
      for (sim::Cycle& since : of.since) {
        const std::uint64_t value = in.varint();  // 0: never
        since = value ? last += unzigzag(value - 1) : sim::never_ends;
      }
    }
    for (sim::MemoryUse& of : record_.uses) {
      if (of.of != sim::MemoryUse::Of::global) continue;
      of.asked = in.number();
      of.missed = in.number();
    }
    return {};
  }

  bool cut_short(std::string_view inside) {
    refuse(file_.size(),
           fmt::format("is cut short: it ends inside {}. Copy it again, or record the "
                       "run again",
                       inside));
    return false;
  }

  Error refuse(std::size_t at, std::string_view what) {
    return error_ = {ErrorKind::unreadable, fmt::format("{} {}.", name_, what),
                     fmt::format("{}, byte {}", name_, at)};
  }

  std::span<const std::byte> file_;
  std::string_view name_;
  std::size_t at_ = 0;
  std::uint32_t version_ = record_version;
  Record record_;
  Error error_;
};

}  // namespace

// Eight bytes at a time: a multiplication by an odd number and a shift are undone by no other
// content of the same length that differs in one word, and rarely by one that differs in more.
std::uint64_t record_checksum(std::span<const std::byte> bytes) {
  std::uint64_t sum = bytes.size() + 0x9e3779b97f4a7c15u;
  const auto mix = [&](std::uint64_t word) {
    sum = (sum ^ word) * 0xff51afd7ed558ccdu;
    sum ^= sum >> 32;
  };
  std::size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    std::uint64_t word = 0;
    for (std::size_t b = 0; b < 8; ++b) {
      word |= std::uint64_t{static_cast<std::uint8_t>(bytes[i + b])} << 8 * b;
    }
    mix(word);
  }
  std::uint64_t rest = 0;
  for (std::size_t b = 0; i + b < bytes.size(); ++b) {
    rest |= std::uint64_t{static_cast<std::uint8_t>(bytes[i + b])} << 8 * b;
  }
  mix(rest);
  return sum;
}

std::vector<std::byte> write_record(const Record& record) {
  ByteWriter out;
  for (const unsigned char c : magic) out.u8(c);
  out.u32(record_version);
  out.u32(static_cast<std::uint32_t>(std::size(section_names)));
  section(out, "RUN ", run_bytes(record));

  ByteWriter code;
  Write to_code{code};
  code.varint(record.sources.size());
  for (const std::string& source : record.sources) to_code(source);
  code.varint(record.lines.size());
  for (const sim::RecordedLine& of : record.lines) {
    line(to_code, of);
    code.u8(static_cast<std::uint8_t>(of.product));
  }
  section(out, "CODE", code);

  ByteWriter reports;
  reports.varint(record.reports.size());
  for (const Report& of : record.reports) {
    reports.u8(static_cast<std::uint8_t>(of.weight));
    report(Write{reports}, of);
  }
  section(out, "RPRT", reports);

  ByteWriter tracks;
  tracks.varint(record.tracks.size());
  std::uint64_t block = 0;
  for (const sim::Track& track : record.tracks) {
    tracks.varint(zigzag(track.block - block));
    tracks.u8(static_cast<std::uint8_t>(track.unit));
    tracks.varint(track.index);
    tracks.varint(track.processor);
    block = track.block;
  }
  section(out, "TRAK", tracks);

  ByteWriter events;
  write_events(events, record.events, record.tracks.size());
  section(out, "EVNT", events);

  ByteWriter lines;
  lines.varint(record.counters.size());
  for (const sim::LineCounters& of : record.counters) counters(Write{lines}, of);
  section(out, "CNTR", lines);

  ByteWriter pipes;
  pipes.varint(record.pipes.size());
  for (const sim::PipeCounters& pipe : record.pipes) {
    pipes.f64(pipe.busy);
    pipes.f64(pipe.copies);
  }
  section(out, "PIPE", pipes);

  ByteWriter uses;
  uses.varint(record.buffers.size());
  for (const sim::RecordedBuffer& buffer : record.buffers) {
    uses.text(buffer.name);
    uses.u8(static_cast<std::uint8_t>(buffer.dtype));
    uses.varint(buffer.shape.size());
    for (const std::int64_t extent : buffer.shape) {
      uses.varint(static_cast<std::uint64_t>(extent));
    }
  }
  uses.varint(record.uses.size());
  sim::EventId event = 0;
  for (const sim::MemoryUse& of : record.uses) {
    uses.varint(of.event - event);
    event = of.event;
    uses.u8(static_cast<std::uint8_t>(static_cast<unsigned>(of.of) |
                                      static_cast<unsigned>(of.operand) << 4 |
                                      (of.writes ? 128u : 0u)));
    uses.u8(of.rank);
    for (const std::uint32_t value : {of.buffer, of.row, of.rows, of.column, of.columns}) {
      uses.varint(value);
    }
  }
  section(out, "USES", uses);

  ByteWriter lanes;
  lanes.varint(record.lane_offsets.size());
  for (const std::uint32_t offset : record.lane_offsets) lanes.varint(offset);
  lanes.varint(record.accesses.size());
  std::uint64_t begin = 0;
  for (const sim::WarpAccess& of : record.accesses) {
    lanes.u8(static_cast<std::uint8_t>(static_cast<unsigned>(of.kind) | static_cast<unsigned>(of.of)
                                                                            << 4));
    lanes.u8(of.bytes);
    lanes.varint(of.track);
    lanes.varint(zigzag(of.begin - begin));
    begin = of.begin;
    lanes.varint(of.end - of.begin);
    lanes.varint(of.pc);
    lanes.varint(of.mask);
    lanes.varint(of.buffer == sim::WarpAccess::none ? 0 : of.buffer + 1);
    lanes.varint(of.offsets == sim::WarpAccess::none ? 0 : of.offsets / 32 + 1);
    lanes.varint(of.first);
    lanes.varint(zigzag(static_cast<std::uint64_t>(std::int64_t{of.step})));
    for (const std::uint32_t value : {of.passes, of.ideal, of.from_l2, of.from_memory}) {
      lanes.varint(value);
    }
  }
  section(out, "LANE", lanes);

  ByteWriter causes;
  write_causes(causes, record.reports);
  section(out, "CAUS", causes);

  ByteWriter cached;
  cached.u8(record.cache_overflowed);
  cached.varint(record.cached.size());
  for (const sim::CachedBuffer& of : record.cached) {
    cached.varint(of.buffer);
    cached.varint(of.rows);
    cached.varint(of.columns);
    cached.varint(of.since.size());
    std::uint64_t last = 0;
    for (const sim::Cycle since : of.since) {
      cached.varint(since == sim::never_ends ? 0 : zigzag(since - last) + 1);
      if (since != sim::never_ends) last = since;
    }
  }
  for (const sim::MemoryUse& of : record.uses) {
    if (of.of != sim::MemoryUse::Of::global) continue;
    cached.varint(of.asked);
    cached.varint(of.missed);
  }
  section(out, "L2  ", cached);
  return std::move(out.bytes);
}

Outcome<Record> read_record(std::span<const std::byte> file, std::string_view name) {
  return Reader(file, name).read();
}

}  // namespace tilescope
