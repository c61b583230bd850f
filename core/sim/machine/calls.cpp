#include "core/sim/machine/calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/sim/checks/late_reads.h"
#include "core/sim/checks/undefined.h"
#include "core/sim/machine/model.h"
#include "core/sim/machine/together.h"
#include "core/sim/wgmma/rows.h"

namespace tilescope::sim {
namespace {

using ptx::Routine;
using ptx::Slot;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

std::size_t at(int lane) {
  return static_cast<std::size_t>(lane);
}

// Where the frame of a lane's current function begins.
u32 frame_of(const Warp& w, int lane) {
  const u32 depth = w.calls.depth[at(lane)];
  return depth ? w.calls.levels[depth - 1].frame[at(lane)] : 0;
}

// From one place of a thread's local memory to another, with what is undefined of it.
void copy(Core& x, int lane, u32 from, u32 to, u32 bytes) {
  Region& local = x.block->local;
  const u64 source = local_offset(x, lane, from);
  const std::vector<std::byte> data(local.data() + source, local.data() + source + bytes);
  std::vector<std::uint8_t> undefined(bytes);
  for (u32 k = 0; k < bytes; ++k) undefined[k] = local.undefined_bits_at(source + k);
  local.write(local_offset(x, lane, to), data.data(), undefined.data(), bytes, {});
}

// The register or constant that an operand of the call is.
struct Value {
  Reference place = nothing;
  u32 width = 0;
};
Value value_of(const Core& x, const ptx::Operand& o) {
  const ptx::Program& p = x.machine->program();
  if (o.kind == ptx::Operand::Kind::constant) return {o.index | constant_bit, 8};
  if (o.kind != ptx::Operand::Kind::reg) return {};
  const ptx::Register& r = p.registers[o.index];
  return {r.place, static_cast<u32>(std::max(2, ptx::bytes_of(r.type)))};
}

void pass_value(Core& x, int lane, const Value& v, u32 to, u32 bytes) {
  std::byte data[16] = {};
  std::uint8_t undefined[16] = {};
  const std::size_t from = at(lane) * v.width, count = std::min({bytes, v.width, 16u});
  std::memcpy(data, x.bank[v.place >> 31] + (v.place & ~constant_bit) + from, count);
  if (!(v.place & constant_bit) && has_undefined(x, v.place, static_cast<int>(v.width))) {
    std::memcpy(undefined, shadow(x, v.place) + from, count);
  }
  x.block->local.write(local_offset(x, lane, to), data, undefined, std::min(bytes, 16u), {});
}

void take_value(Core& x, int lane, u32 from, const Value& v, u32 bytes) {
  if (v.place == nothing) return;
  const Region& local = x.block->local;
  const u64 source = local_offset(x, lane, from);
  const std::size_t count = std::min(bytes, v.width);
  std::memcpy(x.bank[0] + v.place + at(lane) * v.width, local.data() + source, count);
  const Mask me = Mask{1} << lane;
  if (local.any_undefined(source, count)) {
    undefine(x, v.place, static_cast<int>(v.width), me);
  } else {
    define(x, v.place, static_cast<int>(v.width), me);
  }
}

class Caller {
 public:
  Caller(Core& x, const ptx::Call& call, Mask m)
      : x_(x), program_(x.machine->program()), call_(call), m_(m), w_(*x.warp) {}

  // The routine that the lanes of m call; of an indirect call those of the first lane, and m is cut
  // to them. Null: that is no function that could be called so, and it has been reported.
  const Routine* callee(const Code& c, u32& number) {
    number = call_.routine;
    if (number != ptx::Call::indirect) return &program_.routines[number];
    const int first = __builtin_ctz(m_);
    u64 address[32];
    std::memcpy(address, x_.bank[c.a >> 31] + (c.a & ~constant_bit), sizeof address);
    for (Mask rest = m_; rest; rest &= rest - 1) {
      const int lane = __builtin_ctz(rest);
      if (address[lane] != address[first]) m_ &= ~(Mask{1} << lane);
    }
    number = program_.routine_at(address[first]);
    if (number == 0) {
      x_.reports->fault(x_, first, "bad_call", "an indirect call goes to no function of this file",
                        "the address of a function", fmt::format("0x{:x}", address[first]));
      return nullptr;
    }
    const Routine& r = program_.routines[number];
    if (r.parameters.size() != call_.arguments.size() || r.results.size() < call_.results.size()) {
      x_.reports->fault(
          x_, first, "bad_call",
          fmt::format("an indirect call passes {} values to {} and wants {} back",
                      call_.arguments.size(), r.name, call_.results.size()),
          fmt::format("{} parameters and {} results", r.parameters.size(), r.results.size()),
          fmt::format("{} and {}", call_.arguments.size(), call_.results.size()));
      return nullptr;
    }
    return &r;
  }

  Mask lanes() const { return m_; }

  bool has_room(const Routine& r) {
    for (Mask rest = m_; rest; rest &= rest - 1) {
      const int lane = __builtin_ctz(rest);
      const u32 top = w_.calls.top[at(lane)];
      if (top + r.frame_bytes <= x_.local_bytes) continue;
      x_.reports->fault(
          x_, lane, "stack_overflow",
          fmt::format("calls nest {} deep, and {} finds no room on the thread's stack for its {} "
                      "bytes",
                      w_.calls.depth[at(lane)] + 1, r.name, r.frame_bytes),
          fmt::format("at most {} bytes of local memory a thread", x_.local_bytes),
          fmt::format("{} bytes", top + r.frame_bytes));
      return false;
    }
    return true;
  }

  void pass_arguments(const Routine& r) {
    const ptx::Operand* o = program_.operands_of(program_.code[x_.pc]);
    for (Mask rest = m_; rest; rest &= rest - 1) {
      const int lane = __builtin_ctz(rest);
      const u32 frame = w_.calls.top[at(lane)], mine = frame_of(w_, lane);
      x_.block->local.make_undefined(local_offset(x_, lane, frame), r.frame_bytes);
      for (std::size_t k = 0; k < r.parameters.size(); ++k) {
        const ptx::Call::Actual& a = call_.arguments[k];
        const Slot& slot = r.parameters[k];
        if (a.in_frame) {
          copy(x_, lane, mine + a.slot.offset, frame + slot.offset,
               std::min(slot.bytes, a.slot.bytes));
        } else {
          pass_value(x_, lane, value_of(x_, o[a.operand]), frame + slot.offset, slot.bytes);
        }
      }
    }
  }

  // For lanes whose frame of `r` begins at frame[lane], and that are back in the caller.
  void take_results(const Routine& r, const u32* frame) {
    const ptx::Instruction& i = program_.code[x_.pc];
    for (Mask rest = m_; rest; rest &= rest - 1) {
      const int lane = __builtin_ctz(rest);
      for (std::size_t k = 0; k < call_.results.size(); ++k) {
        const ptx::Call::Actual& a = call_.results[k];
        const Slot& slot = r.results[k];
        if (a.in_frame) {
          copy(x_, lane, frame[lane] + slot.offset, frame_of(w_, lane) + a.slot.offset,
               std::min(slot.bytes, a.slot.bytes));
        } else {
          take_value(x_, lane, frame[lane] + slot.offset,
                     value_of(x_, program_.operands_of(i)[a.operand]), slot.bytes);
        }
      }
    }
  }

  void enter(const Routine& r, u32 number) {
    CallStack& stack = w_.calls;
    const Reference frame = program_.registers[r.frame].place;
    for (Mask rest = m_; rest; rest &= rest - 1) {
      const int lane = __builtin_ctz(rest);
      const u32 level = stack.depth[at(lane)]++;
      if (stack.levels.size() <= level) stack.levels.emplace_back();
      CallStack::Level& here = stack.levels[level];
      here.back[at(lane)] = x_.pc + 1;
      here.routine[at(lane)] = number;
      here.frame[at(lane)] = stack.top[at(lane)];
      if (r.recursive) save(here, r, lane);
      if (frame != ptx::no_register) {
        const u64 begin = stack.top[at(lane)];
        std::memcpy(x_.bank[0] + frame + at(lane) * sizeof begin, &begin, sizeof begin);
      }
      stack.top[at(lane)] += r.frame_bytes;
    }
    if (frame != ptx::no_register) define(x_, frame, sizeof(u64), m_);
    undefine_registers(x_, r, m_);
  }

 private:
  void save(CallStack::Level& level, const Routine& r, int lane);

  Core& x_;
  const ptx::Program& program_;
  const ptx::Call& call_;
  Mask m_;
  Warp& w_;
};

// Walks over the registers of a routine: of `lane` the bytes from `begin`, or a predicate.
template <class Bytes, class Predicate>
void each_register(const ptx::Program& p, const Routine& r, int lane, Bytes bytes,
                   Predicate predicate) {
  for (u32 k = r.first_register; k < r.end_register; ++k) {
    const ptx::Register& reg = p.registers[k];
    if (reg.place == ptx::no_register) continue;
    if (reg.type == ptx::Type::pred) {
      predicate(reg.place);
      continue;
    }
    const auto width = static_cast<std::size_t>(std::max(2, ptx::bytes_of(reg.type)));
    bytes(reg.place, width, reg.place + at(lane) * width);
  }
}

void set_bit(u32& mask, int lane, bool value) {
  mask = (mask & ~(1u << lane)) | static_cast<u32>(value) << lane;
}

void Caller::save(CallStack::Level& level, const Routine& r, int lane) {
  const ptx::Program& p = program_;
  x_.block->registers.settle();
  level.registers.resize(p.register_bytes);
  level.undefined.resize(p.register_bytes);
  level.predicates.resize(p.predicate_count);
  level.undefined_predicates.resize(p.predicate_count);
  const bool shadows = !x_.block->undefined.empty();
  const u32* hidden = nullptr;
  if (shadows) {
    hidden = x_.block->undefined_predicates.data() + (x_.predicates - x_.block->predicates.data());
  }
  each_register(
      p, r, lane,
      [&](u32, std::size_t width, std::size_t begin) {
        std::memcpy(&level.registers[begin], x_.bank[0] + begin, width);
        std::memset(&level.undefined[begin], 0, width);
        if (shadows) std::memcpy(&level.undefined[begin], shadow(x_, 0) + begin, width);
      },
      [&](u32 place) {
        set_bit(level.predicates[place], lane, x_.predicates[place] >> lane & 1);
        set_bit(level.undefined_predicates[place], lane, hidden && (hidden[place] >> lane & 1));
      });
}

void restore(Core& x, const CallStack::Level& level, const Routine& r, int lane) {
  x.block->registers.settle();
  forget_rows(*x.block, *x.warp);
  const Mask me = Mask{1} << lane;
  each_register(
      x.machine->program(), r, lane,
      [&](u32 place, std::size_t width, std::size_t begin) {
        std::memcpy(x.bank[0] + begin, &level.registers[begin], width);
        if (x.block->undefined.empty()) return;
        std::memcpy(shadow(x, 0) + begin, &level.undefined[begin], width);
        recount(x, place, static_cast<int>(width));
      },
      [&](u32 place) {
        set_bit(x.predicates[place], lane, level.predicates[place] >> lane & 1);
        if (x.block->undefined.empty()) return;
        undefine_predicate(x, place, level.undefined_predicates[place] & me, me);
      });
}

// The lanes of the split that are not in m stay behind: those that the guard let through are to
// execute this instruction still, the others the next. The split's own lanes are m from now on, and
// go on at `pc`.
Flow go(Core& x, Mask guarded, Mask m, u32 pc) {
  Warp& w = *x.warp;
  const Mask all = w.splits[x.split].mask;
  w.splits[x.split].mask = m;
  w.splits[x.split].pc = pc;
  for (auto [mask, next] : {std::pair<Mask, u32>{guarded & ~m, x.pc}, {all & ~guarded, x.pc + 1}}) {
    if (!mask) continue;
    Split rest;
    rest.pc = next;
    rest.mask = mask;
    w.splits.push_back(rest);
  }
  return m == all ? Flow::moved : Flow::yield;
}

}  // namespace

u64 local_offset(const Core& x, int lane, u32 offset) {
  return u64{x.warp->index * 32 + static_cast<u32>(lane)} * x.local_bytes + offset;
}

Flow call(Core& x, const Code& c, Mask m) {
  drop_late_reads(x, m);
  Caller caller(x, x.machine->program().calls[c.target], m);
  u32 number = 0;
  const Routine* r = caller.callee(c, number);
  if (!r || !caller.has_room(*r)) return Flow::fault;
  caller.pass_arguments(*r);
  if (r->builtin == ptx::Builtin::none) {
    caller.enter(*r, number);
    return go(x, m, caller.lanes(), r->first);
  }
  u32 frame[32];
  std::copy(x.warp->calls.top.begin(), x.warp->calls.top.end(), frame);
  const Flow flow = run_builtin(x, *r, caller.lanes(), frame);
  if (flow != Flow::next) return flow;
  caller.take_results(*r, frame);
  return go(x, m, caller.lanes(), x.pc + 1);
}

Flow leave(Core& x, const Code&, Mask m) {
  drop_late_reads(x, m);
  CallStack& stack = x.warp->calls;
  const ptx::Program& p = x.machine->program();
  const int first = __builtin_ctz(m);
  Mask ends = 0;
  for (Mask rest = m; rest; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    if (stack.depth[at(lane)] == 0) ends |= Mask{1} << lane;
  }
  if (ends == m) return end_lanes(x, m);
  if (stack.depth[at(first)] == 0)
    return go(x, m, m & ~ends, x.pc);  // these first, then look again
  const u32 back = stack.levels[stack.depth[at(first)] - 1].back[at(first)];
  Mask group = 0;
  u32 frame[32] = {};
  const Routine* r = nullptr;
  for (Mask rest = m & ~ends; rest; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    CallStack::Level& level = stack.levels[stack.depth[at(lane)] - 1];
    if (level.back[at(lane)] != back) continue;
    group |= Mask{1} << lane;
    r = &p.routines[level.routine[at(lane)]];
    frame[lane] = level.frame[at(lane)];
    stack.top[at(lane)] = frame[lane];
    --stack.depth[at(lane)];
    if (r->recursive) restore(x, level, *r, lane);
  }
  const u32 here = x.pc;
  x.pc = back - 1;
  Caller(x, p.calls[x.code[back - 1].target], group).take_results(*r, frame);
  x.pc = here;
  return go(x, m, group, back);
}

}  // namespace tilescope::sim
