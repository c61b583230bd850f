#include "viz/theatre/theatre_registers.h"

#include <fmt/format.h>

#include <algorithm>

#include "viz/scene/number_words.h"

namespace tilescope {
namespace {

using sim::Record;
using sim::WarpAccess;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr std::size_t most_looked_at = 2048;  // accesses before a time
constexpr u32 lines_nearby = 96;              // instructions

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == ';')) {
    text.remove_suffix(1);
  }
  return text;
}

// Behind a guard: "@%p1 ld.global...".
std::string_view unguarded(std::string_view text) {
  text = trimmed(text);
  if (text.empty() || text.front() != '@') return text;
  return trimmed(text.substr(std::min(text.find_first_of(" \t"), text.size())));
}

std::string_view opcode_in(std::string_view text) {
  text = unguarded(text);
  return text.substr(0, text.find_first_of(" \t"));
}

// As one line without tabs.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : unguarded(text)) {
    const char plain = c == '\t' ? ' ' : c;
    if (plain != ' ' || (!out.empty() && out.back() != ' ')) out += plain;
  }
  return out;
}

bool has(const std::vector<std::string_view>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Does it write what its first operand names? Stores, barriers and branches do not.
bool writes_first(std::string_view opcode) {
  for (const std::string_view no : {"st", "red", "bar", "bra", "ret", "exit", "call", "cp", "fence",
                                    "membar", "mbarrier", "prefetch", "nanosleep"}) {
    if (opcode.substr(0, opcode.find('.')) == no) return false;
  }
  return true;
}

std::string last_that_writes(const Record& record, u32 pc, std::string_view name) {
  for (u32 i = pc; i-- > 0 && pc - i <= lines_nearby;) {
    const std::string& text = record.lines[i].text;
    const auto operands = operands_in(text);
    if (operands.empty() || !writes_first(opcode_in(text))) continue;
    if (has(names_in(operands.front()), name)) return plain(text);
  }
  return {};
}

std::string next_that_reads(const Record& record, u32 pc, std::string_view name) {
  const u32 end = std::min<u32>(static_cast<u32>(record.lines.size()), pc + 1 + lines_nearby);
  for (u32 i = pc + 1; i < end; ++i) {
    const std::string& text = record.lines[i].text;
    const auto operands = operands_in(text);
    const bool writes = writes_first(opcode_in(text));
    for (std::size_t o = writes ? 1 : 0; o < operands.size(); ++o) {
      if (has(names_in(operands[o]), name)) return plain(text);
    }
    // Written anew before anybody reads it here.
    if (writes && !operands.empty() && has(names_in(operands.front()), name)) return {};
  }
  return {};
}

// The registers that an access fills or takes, by its instruction.
std::vector<std::string_view> registers_of(const Record& record, const WarpAccess& access,
                                           bool& loads) {
  if (access.pc >= record.lines.size()) return {};
  const auto operands = operands_in(record.lines[access.pc].text);
  if (operands.size() < 2) return {};
  using Kind = WarpAccess::Kind;
  loads = access.kind == Kind::load || access.kind == Kind::shuffle;
  if (access.kind == Kind::copy) return {};
  const bool address_first = operands.front().front() == '[';
  if (access.kind == Kind::atomic) loads = !address_first;
  auto out = names_in(loads ? operands.front() : operands.back());
  if (access.kind == Kind::shuffle && out.size() > 1) out.resize(1);  // %r5|%p1: and whether
  return out;
}

std::string place_of(const Record& record, const WarpAccess& access, u64 byte, u64 bytes) {
  if (access.of == WarpAccess::Of::shared) return fmt::format("shared byte {}", byte);
  if (access.buffer >= record.buffers.size()) return "global memory";
  const sim::RecordedBuffer& buffer = record.buffers[access.buffer];
  const u64 width = std::max<u64>(1, static_cast<u64>(bytes_of(buffer.dtype)));
  const u64 element = byte / width, count = std::max<u64>(1, bytes / width);
  const auto columns = static_cast<u64>(std::max<std::int64_t>(1, buffer.columns()));
  const u64 column = element % columns;
  std::string last = count == 1 ? fmt::format("{}", column)
                                : fmt::format("{}:{}", column, std::min(columns, column + count));
  if (buffer.rows() <= 1 || buffer.shape.size() < 2) {
    return fmt::format("{} [{}]", buffer.name, last);
  }
  return fmt::format("{} [{}, {}]", buffer.name, element / columns, last);
}

}  // namespace

std::vector<std::string_view> operands_in(std::string_view text) {
  text = unguarded(text);
  text = trimmed(text.substr(std::min(text.find_first_of(" \t"), text.size())));
  std::vector<std::string_view> out;
  int depth = 0;
  std::size_t from = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const bool ends = i == text.size();
    const char c = ends ? ',' : text[i];
    if (c == '{' || c == '[' || c == '(') ++depth;
    if (c == '}' || c == ']' || c == ')') --depth;
    if (c != ',' || (depth > 0 && !ends)) continue;
    const std::string_view one = trimmed(text.substr(from, i - from));
    if (!one.empty()) out.push_back(one);
    from = i + 1;
  }
  return out;
}

std::vector<std::string_view> names_in(std::string_view operand) {
  std::vector<std::string_view> out;
  while (!operand.empty()) {
    const std::size_t end = std::min(operand.find_first_of("{}[]()|,+ \t;!"), operand.size());
    const std::string_view name = operand.substr(0, end);
    const bool number =
        !name.empty() && (name.front() == '-' || (name.front() >= '0' && name.front() <= '9'));
    if (!name.empty() && !number && name != "_") out.push_back(name);
    operand.remove_prefix(std::min(end + 1, operand.size()));
  }
  return out;
}

std::vector<LaneRegister> registers_at(const Record& record, const LaneAccesses& accesses,
                                       u64 block, u32 warp, double at, std::size_t most) {
  std::vector<LaneRegister> out;
  const auto& all = accesses.all();
  auto from = std::upper_bound(all.begin(), all.end(), at, [&](double time, u32 i) {
    return time < static_cast<double>(record.accesses[i].begin);
  });
  for (std::size_t seen = 0; from != all.begin() && seen < most_looked_at && out.size() < most;
       ++seen) {
    const WarpAccess& access = record.accesses[*--from];
    const sim::Track& track = record.tracks[access.track];
    if (track.block != block || track.index != warp) continue;
    bool loads = false;
    const auto names = registers_of(record, access, loads);
    for (std::size_t part = 0; part < names.size() && out.size() < most; ++part) {
      const bool known = std::any_of(
          out.begin(), out.end(), [&](const LaneRegister& of) { return of.name == names[part]; });
      if (known) continue;
      LaneRegister of;
      of.name = names[part];
      of.access = *from;
      of.part = static_cast<u32>(part);
      of.parts = static_cast<u32>(names.size());
      of.loads = loads;
      of.on_its_way = at < static_cast<double>(access.end);
      of.instruction = loads ? next_that_reads(record, access.pc, names[part])
                             : last_that_writes(record, access.pc, names[part]);
      out.push_back(std::move(of));
    }
  }
  return out;
}

std::string content_text(const Record& record, const LaneRegister& of, u32 lane) {
  const WarpAccess& access = record.accesses[of.access];
  if (!(access.mask >> lane & 1)) return {};
  const u64 at = access.at(lane, record.lane_offsets);
  if (access.of == WarpAccess::Of::lanes) return fmt::format("lane {}", at);
  const u64 bytes = std::max<u64>(1, access.bytes / std::max(1u, of.parts));
  return place_of(record, access, at + of.part * bytes, bytes);
}

std::string way_text(const Record& record, const LaneRegister& of) {
  const WarpAccess& access = record.accesses[of.access];
  const auto lane = static_cast<u32>(__builtin_ctz(access.mask ? access.mask : 1));
  std::string out = content_text(record, of, lane);
  const bool several = (access.mask & (access.mask - 1)) != 0;
  if (several) out += " ...";
  if (access.of == WarpAccess::Of::global && of.loads) {
    out += access.from_memory ? ", from memory" : access.from_l2 ? ", from L2" : ", from L1";
  }
  if (of.on_its_way) {
    out += fmt::format(", {} {}", of.loads ? "there at" : "taken at", grouped(access.end));
  }
  return (of.loads ? "= " : "to ") + out;
}

SharedRows shared_rows(const Record& record, const LaneAccesses& accesses, u64 block, u32 number) {
  SharedRows out;
  constexpr u64 most_words = u64{1} << 18;  // more than a CTA's shared memory has
  std::vector<u32> place;                   // of a row in out.rows, and 1
  const auto word_at = [&](u64 byte) -> SharedRows::Word* {
    const u64 word = byte / 4, row = word / 32;
    if (word >= most_words) return nullptr;
    if (row >= place.size()) place.resize(row + 1);
    if (!place[row]) {
      out.rows.emplace_back();
      out.rows.back().number = static_cast<u32>(row);
      place[row] = static_cast<u32>(out.rows.size());
    }
    return &out.rows[place[row] - 1].words[word % 32];
  };
  const auto each_word = [&](const WarpAccess& access, auto f) {
    for (u32 lane = 0; lane < 32; ++lane) {
      if (!(access.mask >> lane & 1)) continue;
      const u64 first = access.at(lane, record.lane_offsets);
      for (u64 byte = first / 4 * 4; byte < first + std::max<u64>(1, access.bytes); byte += 4) {
        if (SharedRows::Word* const word = word_at(byte)) f(lane, *word);
      }
    }
  };
  const WarpAccess& reader = record.accesses[number];
  const bool reads = reader.kind == WarpAccess::Kind::load;
  if (reads) each_word(reader, [](u32, SharedRows::Word& word) { word.read = true; });
  const auto& all = accesses.all();
  auto from = std::upper_bound(all.begin(), all.end(), reader.begin, [&](sim::Cycle time, u32 i) {
    return time < record.accesses[i].begin;
  });
  for (std::size_t seen = 0; from != all.begin() && seen < most_looked_at; ++seen) {
    const u32 i = *--from;
    const WarpAccess& access = record.accesses[i];
    if (access.of != WarpAccess::Of::shared || access.kind == WarpAccess::Kind::load) continue;
    if (record.tracks[access.track].block != block) continue;
    each_word(access, [&](u32 lane, SharedRows::Word& word) {
      if (word.writer != WarpAccess::none) return;
      word.writer = i;
      word.lane = static_cast<std::uint8_t>(lane);
    });
  }
  std::sort(out.rows.begin(), out.rows.end(),
            [](const auto& a, const auto& b) { return a.number < b.number; });
  for (SharedRows::Row& row : out.rows) {
    for (const SharedRows::Word& word : row.words) {
      row.read = row.read || word.read;
      if (!word.read) continue;
      if (word.writer == WarpAccess::none) {
        ++out.unknown;
        continue;
      }
      const u32 warp = record.tracks[record.accesses[word.writer].track].index;
      if (!std::count(out.writers.begin(), out.writers.end(), warp)) out.writers.push_back(warp);
    }
  }
  std::sort(out.writers.begin(), out.writers.end());
  return out;
}

std::string warps_in_words(const std::vector<u32>& warps) {
  if (warps.empty()) return "no warp";
  if (warps.size() == 1) return fmt::format("warp {}", warps.front());
  if (warps.back() - warps.front() + 1 == warps.size()) {
    return fmt::format("warps {}-{}", warps.front(), warps.back());
  }
  std::string out = "warps ";
  for (std::size_t i = 0; i < warps.size(); ++i) {
    out += fmt::format("{}{}", i ? ", " : "", warps[i]);
  }
  return out;
}

}  // namespace tilescope
