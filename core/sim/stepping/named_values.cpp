#include "core/sim/stepping/named_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/numeric/small_float.h"
#include "core/sim/machine/model.h"
#include "core/sim/stepping/find_block.h"

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using Place = ptx::DebugVariable::Place;
using Kind = ptx::DebugVariable::Kind;

class Finder {
 public:
  Finder(const Machine& machine, const Registers& registers, u64 block, u32 warp, std::size_t split)
      : machine_(machine),
        program_(machine.program()),
        registers_(registers),
        block_(*find_block(machine, block)),
        warp_(block_.warps[warp]),
        split_(split) {
    const u32 pc = warp_.splits[split].pc;
    line_ = program_.code[pc].line;
    const auto next = std::upper_bound(program_.routines.begin(), program_.routines.end(), pc,
                                       [](u32 at, const ptx::Routine& r) { return at < r.first; });
    routine_ = &*std::prev(next);
  }

  u32 line() const { return line_; }
  std::string_view function() const { return routine_->name; }

  NamedValue find(const ptx::DebugVariable& variable, const Place& place) const {
    NamedValue out;
    out.variable = &variable;
    out.place = place;
    out.value.name = variable.name;
    if (place.of == Place::Of::reg) {
      out.where = place.name;
      const auto value = registers_.find(machine_, block_.number, warp_.index, place.name, split_);
      if (!value) return out;
      out.known = value->alive;
      out.value = *value;
      out.value.name = variable.name;
      out.bytes = static_cast<u32>(std::max(1, ptx::bytes_of(value->type)));
      if (value->type == ptx::Type::pred) out.bytes = 1;
      return out;
    }
    out.bytes = static_cast<u32>(std::min<u64>(16, variable.bytes));
    if (place.of == Place::Of::local) {
      out.where = fmt::format("local+{}", place.offset);
      read_local(place, out);
    } else {
      out.where = place.name;
      read_parameter(place, out);
    }
    return out;
  }

 private:
  void read(const Region& from, u64 at, u32 lane, NamedValue& out) const {
    for (u32 b = 0; b < out.bytes; ++b) {
      const auto byte = static_cast<u64>(from.data()[at + b]);
      (b < 8 ? out.value.low : out.value.high)[lane] |= byte << 8 * (b % 8);
      if (from.is_undefined(at + b)) {
        out.value.undefined[lane] = static_cast<std::uint16_t>(out.value.undefined[lane] | 1u << b);
      }
    }
  }

  // From the function's frame, which lies where each lane's hidden register says.
  void read_local(const Place& place, NamedValue& out) const {
    u64 depot = 0;
    const auto known =
        std::find_if(program_.local.begin(), program_.local.end(), [&](const ptx::Placed& p) {
          return place.name.empty() ? p.variable.name.starts_with("__local_depot") &&
                                          p.variable.line > routine_->function->line
                                    : p.variable.name == place.name;
        });
    if (known == program_.local.end() || out.bytes == 0) return;
    depot = known->address + place.offset;
    const u64 each = machine_.model().local_bytes();
    if (place.offset + out.bytes > known->variable.bytes) return;
    out.known = true;
    for (u32 lane = 0; lane < 32; ++lane) {
      if (!(warp_.splits[split_].mask >> lane & 1)) continue;
      const u64 at = u64{warp_.index * 32 + lane} * each + frame_of(lane) + depot;
      if (at + out.bytes > block_.local.size()) {
        out.known = false;
        return;
      }
      read(block_.local, at, lane, out);
    }
  }

  u64 frame_of(u32 lane) const {
    if (routine_->frame == ptx::no_register) return 0;
    const ptx::Register& reg = program_.registers[routine_->frame];
    if (reg.place == ptx::no_register) return 0;
    const auto width = static_cast<std::size_t>(std::max(2, ptx::bytes_of(reg.type)));
    u64 out = 0;
    std::memcpy(&out,
                block_.registers.settled() + warp_.index * machine_.model().register_stride() +
                    reg.place + lane * width,
                std::min<std::size_t>(8, width));
    return out >= ptx::local_base ? out - ptx::local_base : out;
  }

  void read_parameter(const Place& place, NamedValue& out) const {
    if (routine_ != program_.routines.data()) return;
    const Region& all = machine_.model().regions[0];
    for (const ptx::Parameter& p : program_.entry.parameters) {
      if (p.name != place.name) continue;
      if (out.bytes == 0) out.bytes = std::min<u32>(16, p.bytes);
      if (out.bytes > p.bytes || u64{p.offset} + out.bytes > all.size()) return;
      out.known = true;
      for (u32 lane = 0; lane < 32; ++lane) read(all, p.offset, lane, out);
    }
  }

  const Machine& machine_;
  const ptx::Program& program_;
  const Registers& registers_;
  const Block& block_;
  const Warp& warp_;
  std::size_t split_;
  u32 line_ = 0;
  const ptx::Routine* routine_ = nullptr;
};

std::string bytes_text(const NamedValue& named, u32 lane) {
  const RegisterValue& v = named.value;
  if (named.bytes > 8) {
    return fmt::format("0x{:0{}x}{:016x}", v.high[lane], 2 * (named.bytes - 8), v.low[lane]);
  }
  return fmt::format("0x{:0{}x}", v.low[lane], 2 * std::max(1u, named.bytes));
}

// `each` bytes from byte `at` on; empty: no number that is read so.
std::string scalar_text(const NamedValue& named, u32 lane, u64 at, u64 each) {
  if (each > 8 || (at < 8 && at + each > 8)) return {};
  const u64 all = (at < 8 ? named.value.low : named.value.high)[lane] >> 8 * (at % 8);
  const u64 unused = 64 - 8 * each, bits = all << unused >> unused;
  switch (named.variable->kind) {
    case Kind::boolean:
      return bits & 1 ? "true" : "false";
    case Kind::integer:
      return fmt::format("{}", static_cast<std::int64_t>(bits << unused) >> unused);
    case Kind::natural:
      return fmt::format("{}", bits);
    case Kind::floating:
      if (each == 2) return fmt::format("{:.6g}", decode(format_f16, static_cast<u32>(bits)));
      if (each == 4) return fmt::format("{:.6g}", std::bit_cast<float>(static_cast<u32>(bits)));
      if (each == 8) return fmt::format("{:.6g}", std::bit_cast<double>(bits));
      return {};
    case Kind::pointer:
      return fmt::format("0x{:x}", bits);
    default:
      return {};
  }
}

}  // namespace

std::vector<NamedValue> named_values(const Machine& machine, const Registers& registers,
                                     const ptx::DebugNames& names, u64 block, u32 warp,
                                     std::size_t split) {
  std::vector<NamedValue> out;
  const Block* const b = find_block(machine, block);
  if (names.empty() || !b || warp >= b->warps.size() || split >= b->warps[warp].splits.size())
    return out;
  const Finder finder(machine, registers, block, warp, split);
  for (const ptx::DebugVariable& variable : names.variables) {
    if (!variable.function.empty() && variable.function != finder.function()) continue;
    const Place* const place = variable.at(finder.line());
    if (place) out.push_back(finder.find(variable, *place));
  }
  std::stable_sort(out.begin(), out.end(), [](const NamedValue& a, const NamedValue& b) {
    return a.variable->line < b.variable->line;
  });
  return out;
}

std::string value_text(const NamedValue& named, u32 lane) {
  if (!named.known) return "not kept here";
  if (named.value.undefined[lane]) return "undefined";
  const ptx::DebugVariable& of = *named.variable;
  const u64 elements = std::max<u64>(1, of.elements);
  const u64 each = of.bytes ? std::min<u64>(of.bytes / elements, named.bytes) : named.bytes;
  std::string out;
  for (u64 at = 0; each > 0 && at + each <= named.bytes && at / each < elements; at += each) {
    const std::string one = scalar_text(named, lane, at, each);
    if (one.empty()) return bytes_text(named, lane);
    out += (at ? ", " : "") + one;
  }
  return elements * each > named.bytes ? out + " ..." : out;
}

}  // namespace tilescope::sim
