// clusterlaunchcontrol (PTX ISA 9.7.13.17, 9.7.13.18): asks for a cluster that has not begun, whose
// work the block then does in its stead; and reads the response, 16 bytes that only query_cancel
// understands. Here they are the first block's x, y and z, and a word that says which it is.
//
// Which cluster it is, is decided when the request is issued (core/sim/machine/launch_control.cpp);
// when the response arrives, and its mbarrier is told, the schedule says.
//
// Code: of try_cancel elements as of a bulk copy: the address of the response and the mbarrier's;
// of query_cancel d or p or elements the answer, b the response.
#include <fmt/format.h>

#include <array>
#include <cstring>

#include "core/sim/lanes/lanes.h"
#include "core/sim/lanes/services.h"
#include "core/sim/lanes/units.h"
#include "core/sim/machine/cluster.h"
#include "core/sim/machine/model.h"

namespace tilescope::sim {
namespace {

using base::lane_array;
using ptx::Field;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr u32 response_bytes = 16;
constexpr u32 cancelled = 0xc1c00001u, nothing_left = 0xc1c00000u;
using Response = std::array<u32, 4>;

// ---- try_cancel ----

bool write_response(Model& machine, Block& block, AsyncOperation& o) {
  block.shared.write(o.words[0], o.bytes.data(), nullptr, response_bytes,
                     Writer::of(machine.issuer(block, o).number, o.thread, o.pc));
  return true;
}

constexpr Work response_work{"clusterlaunchcontrol.try_cancel", nullptr, write_response};

u64 address_of(const Core& x, const Reference* at, int lane) {
  const u64 offset = u64{at[2]} | u64{at[3]} << 32;
  if (at[0] == nothing) return offset;
  if (at[1]) return static_cast<u32>(lane_array<u32>(x, at[0])[lane] + offset);
  return lane_array<u64>(x, at[0])[lane] + offset;
}

// "If the executing CTA has already observed the completion of a try_cancel as failed, then ... a
// subsequent [one] is undefined."
void look_for_failure(Core& x, int lane) {
  const Block& b = *x.block;
  if (!b.cancelled_nothing) return;
  x.reports->hazard(x, lane, "cancel_after_failure", b.cancelled_at, [&] {
    Report r;
    r.sentence = fmt::format(
        "this CTA has already seen a failed request (at {}): the result of another one is "
        "undefined",
        text(x.machine->site(b, b.cancelled_by, b.cancelled_at)));
    r.expected = "no request after one that failed (PTX ISA 9.7.13.17)";
    r.found = "another request";
    return r;
  });
}

// Whoever else asks may have got the last one, and a chip may begin more of them itself.
bool is_refused(Model& machine) {
  const Options& options = machine.options;
  return options.grants_fail || (options.schedule && machine.draws.drawn(4) == 0);
}

Response request(Model& machine) {
  std::optional<Dim3> first;
  if (!is_refused(machine)) first = machine.dispatcher.cancel_cluster();
  if (first) return {first->x, first->y, first->z, cancelled};
  return {0, 0, 0, nothing_left};
}

bool ask_one(Core& x, const Code& c, int lane) {
  const ptx::Modifiers& how = x.machine->program().code[x.pc].modifiers;
  const Reference* operands = x.elements + c.target;
  Code own = c;
  own.space = how.space();
  u32 offset = 0, mbarrier = 0;
  if (!shared_offset(x, own, own.space, Access::store, lane, address_of(x, operands, lane),
                     response_bytes, response_bytes, offset) ||
      !shared_offset(x, own, own.space, Access::atomic, lane, address_of(x, operands + 4, lane), 8,
                     8, mbarrier)) {
    return false;
  }
  look_for_failure(x, lane);
  const Response response = request(*x.machine);
  const bool everywhere = how.has(Field::multicast_all);
  for (u32 rank = 0; rank < x.machine->cluster_size; ++rank) {
    if (!everywhere && rank != x.block->rank) continue;
    Block* to = reach(x, lane, rank);
    if (!to) return false;
    AsyncOperation o;
    o.work = &response_work;
    o.words[0] = offset;
    o.writes.push_back({offset, offset + response_bytes});
    o.bytes.resize(response_bytes);
    std::memcpy(o.bytes.data(), response.data(), response_bytes);
    o.mbarrier = mbarrier;
    o.transactions = response_bytes;
    if (!x.machine->flights.issue(x, lane, *to, std::move(o))) return false;
  }
  return true;
}

Flow ask(Core& x, const Code& c, Mask m) {
  for (Mask rest = m; rest; rest &= rest - 1) {
    if (!ask_one(x, c, __builtin_ctz(rest))) return Flow::fault;
  }
  return Flow::next;
}

// ---- query_cancel ----

// CUTLASS ends its pipeline of responses with zeros that it stores itself, and goes by their being
// none of a CTA (sm100_tile_scheduler.hpp, make_invalid_response): chips are seen to take them so.
void note_zeros(Core& x, int lane) {
  x.reports->hazard(x, lane, "bad_response", x.pc, [] {
    Report r;
    r.sentence =
        "these 16 bytes of zero are no response of clusterlaunchcontrol.try_cancel: they are taken "
        "to say that nothing was cancelled, as chips are seen to do";
    r.expected = "the 16 bytes that try_cancel wrote: what they look like is not said";
    r.found = "zeros";
    return r;
  });
}

bool read_response(Core& x, const Code& c, int lane, Response& out) {
  std::memcpy(out.data(), lane_array<std::byte>(x, c.b) + lane * int{response_bytes},
              response_bytes);
  if (out[3] == nothing_left && !x.block->cancelled_nothing) {
    x.block->cancelled_nothing = true;
    x.block->cancelled_at = x.pc;
    x.block->cancelled_by = x.warp->index * 32 + static_cast<u32>(lane);
  }
  if (out[3] == cancelled || out[3] == nothing_left) return true;
  if (out == Response{}) {
    note_zeros(x, lane);
    out[3] = nothing_left;
    return true;
  }
  x.reports->fault(x, lane, "bad_response",
                   "the register holds no response of clusterlaunchcontrol.try_cancel",
                   "the 16 bytes that try_cancel wrote, after a wait for its mbarrier",
                   fmt::format("{:08x} {:08x} {:08x} {:08x}", out[0], out[1], out[2], out[3]));
  return false;
}

Flow is_cancelled(Core& x, const Code& c, Mask m) {
  Mask yes = 0;
  for (Mask rest = m; rest; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    Response r;
    if (!read_response(x, c, lane, r)) return Flow::fault;
    if (r[3] == cancelled) yes |= Mask{1} << lane;
  }
  if (c.p) x.predicates[c.p] = (x.predicates[c.p] & ~m) | yes;
  return Flow::next;
}

void note_no_block(Core& x, int lane) {
  x.reports->hazard(x, lane, "nothing_cancelled", x.pc, [&] {
    Report r;
    r.sentence =
        "get_first_ctaid of a response that says that nothing was cancelled: what it gives is "
        "undefined";
    r.expected = "query_cancel.is_canceled first, and this only where it is true";
    r.found = "a request that failed";
    return r;
  });
}

// `registers` for x, y, z and one that means nothing; the first `count` of them from `dim` on.
Flow first_block(Core& x, const Code& c, Mask m, const Reference* registers, u32 count, u32 dim) {
  Mask none = 0;
  for (Mask rest = m; rest; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    Response r;
    if (!read_response(x, c, lane, r)) return Flow::fault;
    if (r[3] != cancelled) none |= Mask{1} << lane;
    r[3] = 0;
    for (u32 i = 0; i < count; ++i) {
      if (registers[i] != nothing) lane_array<u32>(x, registers[i])[lane] = r[dim + i];
    }
  }
  if (none) note_no_block(x, __builtin_ctz(none));
  return Flow::next;
}

Flow all_dims(Core& x, const Code& c, Mask m) {
  return first_block(x, c, m, x.elements + c.target, 4, 0);
}

template <u32 dim>
Flow one_dim(Core& x, const Code& c, Mask m) {
  return first_block(x, c, m, &c.d, 1, dim);
}

}  // namespace

Handler launch_handler(const ptx::Instruction& i) {
  if (i.modifiers.launch_step() == ptx::LaunchStep::try_cancel) return ask;
  constexpr Handler answers[] = {nullptr,    is_cancelled, all_dims,
                                 one_dim<0>, one_dim<1>,   one_dim<2>};  // words of Field::answer
  return answers[i.modifiers[Field::answer]];
}

}  // namespace tilescope::sim
