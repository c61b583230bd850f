#include "core/sim/machine/spin_loop.h"

#include <algorithm>
#include <utility>

#include "core/ptx/definitions.h"

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr u32 longest = 24;  // instructions of such a loop

u64 narrow(u64 value, ptx::Type type) {
  const int bits = ptx::bits_of(type);
  return bits >= 64 ? value : value & ((u64{1} << bits) - 1);
}

std::int64_t with_sign(u64 value, ptx::Type type) {
  const int unused = 64 - std::min(64, ptx::bits_of(type));
  return static_cast<std::int64_t>(value << unused) >> unused;
}

// Of whole numbers; none: a comparison that is not followed.
std::optional<bool> compared(ptx::Compare how, ptx::Type type, u64 a, u64 b) {
  const ptx::Class of = ptx::class_of(type);
  a = narrow(a, type);
  b = narrow(b, type);
  if (how == ptx::Compare::eq) return a == b;
  if (how == ptx::Compare::ne) return a != b;
  if (of != ptx::Class::signed_integer && of != ptx::Class::unsigned_integer) return {};
  const bool is_signed = of == ptx::Class::signed_integer;
  const bool less = is_signed ? with_sign(a, type) < with_sign(b, type) : a < b;
  switch (how) {
    case ptx::Compare::lt:
    case ptx::Compare::lo:
      return less;
    case ptx::Compare::ge:
    case ptx::Compare::hs:
      return !less;
    case ptx::Compare::le:
    case ptx::Compare::ls:
      return less || a == b;
    case ptx::Compare::gt:
    case ptx::Compare::hi:
      return !less && a != b;
    default:
      return {};
  }
}

bool is_whole(ptx::Type type) {
  const ptx::Class of = ptx::class_of(type);
  return of == ptx::Class::signed_integer || of == ptx::Class::unsigned_integer ||
         of == ptx::Class::bits;
}

}  // namespace

bool waits_for_phase(const ptx::Instruction& i) {
  const ptx::Step step = i.modifiers.step();
  return i.op == ptx::Op::mbarrier && (step == ptx::Step::test_wait || step == ptx::Step::try_wait);
}

SpinLoop::SpinLoop(const ptx::Program& program, u32 ask, Held held)
    : program_(program), ask_(ask), held_(std::move(held)) {}

bool SpinLoop::goes_round(u64 again, u64 other) {
  const Way back = follow(again);
  if (!back.back) return false;
  const auto writes = [&](u32 reg) {
    return std::any_of(back.written.begin(), back.written.end(),
                       [&](const auto& w) { return w.second == reg; });
  };
  // It asks the same, by the same registers.
  bool same = true;
  ptx::each_read(program_, program_.code[ask_], [&](u32 reg) { same = same && !writes(reg); });
  if (!same || std::any_of(back.held.begin(), back.held.end(), writes)) return false;
  // What both do, whatever the answer, whoever leaves has done last.
  const Way out = follow(other);
  const auto fork = static_cast<std::size_t>(
      std::mismatch(back.at.begin(), back.at.end(), out.at.begin(), out.at.end()).first -
      back.at.begin());
  const auto writes_too = [&](const auto& w) {
    return w.first < fork &&
           std::find(out.written.begin(), out.written.end(), w) != out.written.end();
  };
  return std::all_of(back.written.begin(), back.written.end(),
                     [&](const auto& w) { return writes_too(w) || !is_read(w.second); });
}

bool SpinLoop::is_read(u32 reg) const {
  bool read = false;
  for (const ptx::Instruction& i : program_.code) {
    ptx::each_read(program_, i, [&](u32 r) { read = read || r == reg; });
    if (read) return true;
  }
  return false;
}

SpinLoop::Way SpinLoop::follow(u64 answer) {
  Way way;
  known_.clear();
  ptx::each_written(program_, program_.code[ask_], [&](u32 reg) { known_[reg] = answer; });
  u32 pc = ask_ + 1;
  for (u32 steps = 0; steps < longest && pc < program_.code.size(); ++steps) {
    if (pc == ask_) {
      way.back = true;
      return way;
    }
    const ptx::Instruction& i = program_.code[pc];
    way.at.push_back(pc);
    std::optional<u64> holds = 1;
    if (i.guarded) {
      holds = value(i.guard, way);
      if (holds && i.guard_negated) holds = !*holds;
    }
    if (!holds) return way;
    if (!*holds) {
      ++pc;
    } else if (i.op == ptx::Op::bra) {
      pc = program_.operands_of(i)[0].index;
    } else if (execute(i, way)) {
      ++pc;
    } else {
      return way;
    }
  }
  return way;
}

std::optional<u64> SpinLoop::value(u32 reg, Way& way) const {
  const auto at = known_.find(reg);
  if (at != known_.end()) return at->second;
  if (!held_) return std::nullopt;
  way.held.push_back(reg);
  return held_(reg);
}

std::optional<u64> SpinLoop::value(const ptx::Operand& o, Way& way) const {
  if (o.kind == ptx::Operand::Kind::constant) return o.value;
  if (o.kind != ptx::Operand::Kind::reg && o.kind != ptx::Operand::Kind::predicate) return {};
  if (o.index == ptx::no_register) return {};
  const auto v = value(o.index, way);
  return v && o.negated ? std::optional<u64>(!*v) : v;
}

bool SpinLoop::execute(const ptx::Instruction& i, Way& way) {
  const ptx::Operand* o = program_.operands_of(i);
  const ptx::Type type = i.modifiers.type();
  std::optional<u64> out;
  switch (i.op) {
    case ptx::Op::nanosleep:
      return true;
    case ptx::Op::mov:
      out = value(o[1], way);
      break;
    case ptx::Op::selp: {
      const auto by = value(o[3], way);
      if (by) out = value(*by ? o[1] : o[2], way);
      break;
    }
    case ptx::Op::not_:
      if (ptx::class_of(type) != ptx::Class::predicate) return false;
      if (const auto v = value(o[1], way)) out = !*v;
      break;
    case ptx::Op::setp: {
      // With the second predicate left out, and nothing that the result is combined with.
      if (i.count != 4 || o[1].kind != ptx::Operand::Kind::none || !is_whole(type)) return false;
      const auto a = value(o[2], way), b = value(o[3], way);
      if (a && b) out = compared(i.modifiers.compare(), type, *a, *b);
      break;
    }
    default:
      return false;
  }
  if (!out || !o[0].written || o[0].index == ptx::no_register) return false;
  if (o[0].kind != ptx::Operand::Kind::reg && o[0].kind != ptx::Operand::Kind::predicate) {
    return false;
  }
  known_[o[0].index] = *out;
  way.written.push_back({way.at.size() - 1, o[0].index});
  return true;
}

bool SpinLoop::may_be_one(const ptx::Program& program, u32 load) {
  const ptx::Instruction& i = program.code[load];
  constexpr std::uint8_t acquire = 3;  // word of Field::order
  if (i.op != ptx::Op::ld || i.modifiers[ptx::Field::order] != acquire) return false;
  const int bits = ptx::bits_of(i.modifiers.type());
  if ((bits != 32 && bits != 64) || i.modifiers.has(ptx::Field::vector)) return false;
  if (!is_whole(i.modifiers.type())) return false;
  const u32 end = std::min(load + longest, static_cast<u32>(program.code.size()));
  for (u32 pc = load + 1; pc < end; ++pc) {
    const ptx::Instruction& b = program.code[pc];
    if (b.op != ptx::Op::bra) continue;
    const u32 to = program.operands_of(b)[0].index;
    if (to <= load && load - to < longest) return true;
  }
  return false;
}

}  // namespace tilescope::sim
