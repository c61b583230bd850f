// Issues st.async and red.async (PTX ISA 9.7.9.12, 9.7.13.7): each lane's value goes to shared
// memory of the cluster, where an mbarrier is told when it is there; or with .release to global
// memory, where nobody is told. What they do when is core/sim/async's matter.
//
// Code: a and immediate the address, elements: the `count` registers of the value, `width` bytes
// each; then of the mbarrier's address its register, whether that has 32 bits, and the two halves
// of its offset.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/sim/async/copies.h"
#include "core/sim/async/stores.h"
#include "core/sim/lanes/lanes.h"
#include "core/sim/lanes/services.h"
#include "core/sim/lanes/units.h"
#include "core/sim/machine/model.h"

namespace tilescope::sim {
namespace {

using base::lane_array;
using ptx::Field;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

u64 address_of(const Core& x, Reference r, bool narrow, u64 offset, int lane) {
  if (r == nothing) return offset;
  if (narrow) return static_cast<u32>(lane_array<u32>(x, r)[lane] + offset);
  return lane_array<u64>(x, r)[lane] + offset;
}

u64 target_of(const Core& x, const Code& c, int lane) {
  return address_of(x, c.a, c.narrow_address, c.immediate, lane);
}

u64 mbarrier_of(const Core& x, const Code& c, int lane) {
  const Reference* m = x.elements + c.target + c.count;
  return address_of(x, m[0], m[1], u64{m[2]} | u64{m[3]} << 32, lane);
}

// What an element of memory is taken for. Sums of s64 are those of u64.
DType dtype_of(ptx::Type type) {
  if (ptx::bits_of(type) == 64) return DType::u64;
  return type == ptx::Type::s32 ? DType::i32 : DType::u32;
}

bool adds(const Core& x) {
  return x.machine->program().code[x.pc].op == ptx::Op::red;
}

// The lane's value, and which of its bytes are undefined.
void take_value(const Core& x, const Code& c, int lane, const std::uint8_t* undefined,
                AsyncOperation& o) {
  const ptx::Program& program = x.machine->program();
  const ptx::Operand& value = program.operands_of(program.code[x.pc])[1];
  o.bytes.resize(std::size_t{c.count} * c.width);
  for (u32 e = 0; e < c.count; ++e) {
    const ptx::Operand& part = program.elements[value.index + e];
    // A byte lies in 16 bits, and a register may be wider than what is stored.
    const bool in_register = part.kind == ptx::Operand::Kind::reg;
    const int width =
        in_register ? ptx::bytes_of(program.registers[part.index].type) : int{c.width};
    const Reference r = x.elements[c.target + e];
    const std::byte* from = x.bank[r >> 31] + (r & ~constant_bit);
    std::memcpy(&o.bytes[std::size_t{e} * c.width], from + lane * std::max(2, width), c.width);
  }
  if (!undefined) return;
  const std::uint8_t* mine = undefined + static_cast<std::size_t>(lane) * o.bytes.size();
  o.undefined.assign(mine, mine + o.bytes.size());
}

bool refuse(Core& x, int lane, std::string sentence, const char* expected, std::string found) {
  x.reports->fault(x, lane, "bad_async_store", std::move(sentence), expected, std::move(found));
  return false;
}

// 9.7.9.12: both in one block of a cluster of several; 9.7.13.7: of another one than the thread's.
bool check_blocks(Core& x, int lane, const Block& to, const Block& at) {
  const std::string_view name = opcode_text(x.machine->program().code[x.pc].text);
  if (&to != &at) {
    return refuse(
        x, lane,
        fmt::format(
            "the bytes of this {} go to CTA {} of the cluster, but its mbarrier is in CTA {}", name,
            to.rank, at.rank),
        "an mbarrier in the same CTA as the destination",
        fmt::format("an mbarrier in CTA {}", at.rank));
  }
  if (x.machine->cluster_size == 1) {
    return refuse(x, lane, fmt::format("this {} is executed in a cluster of one CTA", name),
                  "a cluster of two CTAs or more", "a cluster of one CTA");
  }
  if (!adds(x) || &to != x.block) return true;
  return refuse(x, lane, fmt::format("this {} adds to shared memory of its own CTA", name),
                "shared memory of another CTA of the cluster (PTX ISA 9.7.13.7)",
                fmt::format("CTA {}", to.rank));
}

bool issue_to_shared(Core& x, const Code& c, int lane, AsyncStore s, AsyncOperation value) {
  Block *to = nullptr, *at = nullptr;
  u32 offset = 0, mbarrier = 0;
  const auto bytes = static_cast<u32>(value.bytes.size());
  if (!cluster_offset(x, c, c.space, Access::store, lane, target_of(x, c, lane), bytes, bytes, to,
                      offset) ||
      !cluster_offset(x, c, c.space, Access::atomic, lane, mbarrier_of(x, c, lane), 8, 8, at,
                      mbarrier) ||
      !check_blocks(x, lane, *to, *at)) {
    return false;
  }
  if (to->ended) return true;  // lost: told where it was looked for
  s.to = offset;
  AsyncOperation o = store_to_shared(s, bytes);
  o.bytes = std::move(value.bytes);
  o.undefined = std::move(value.undefined);
  o.mbarrier = mbarrier;
  o.transactions = bytes;
  return x.machine->flights.issue(x, lane, *to, std::move(o));
}

bool issue_to_global(Core& x, const Code& c, int lane, AsyncStore s, AsyncOperation value) {
  s.to = target_of(x, c, lane);
  const auto bytes = static_cast<u32>(value.bytes.size());
  Region* region = find_region(x, s.to);
  const u64 offset = region ? s.to - region->base() : 0;
  if (!region || region->size() - offset < bytes || s.to % bytes || region->read_only) {
    Code global = c;
    global.space = ptx::Space::global;
    refuse_access(x, global, adds(x) ? Access::atomic : Access::store, lane, s.to, bytes);
    return false;
  }
  u64 offsets[lanes];
  offsets[lane] = offset;
  watch_access(x, c, adds(x) ? Shadow::Kind::atomic : Shadow::Kind::write, *region, Mask{1} << lane,
               offsets, bytes);
  AsyncOperation o = store_to_global(s);
  o.bytes = std::move(value.bytes);
  o.undefined = std::move(value.undefined);
  return x.machine->flights.issue(x, lane, std::move(o));
}

template <bool told>
Flow store(Core& x, const Code& c, Mask m) {
  const ptx::Modifiers& how = x.machine->program().code[x.pc].modifiers;
  std::uint8_t room[32 * 32];
  const std::uint8_t* undefined =
      x.warp->undefined_registers ? undefined_for_store(x, c, m, room) : nullptr;
  AsyncStore s;
  s.how = how.operation();
  s.dtype = dtype_of(how.type());
  for (Mask rest = m; rest; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    AsyncOperation value;
    take_value(x, c, lane, undefined, value);
    const bool good = told ? issue_to_shared(x, c, lane, s, std::move(value))
                           : issue_to_global(x, c, lane, s, std::move(value));
    if (!good) return Flow::fault;
  }
  return Flow::next;
}

}  // namespace

Handler async_store_handler(const ptx::Instruction& i) {
  return i.modifiers.has(Field::completion) ? store<true> : store<false>;
}

}  // namespace tilescope::sim
