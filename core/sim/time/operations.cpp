// What asynchronous operations take: copies, products of tensor cores, and arrivals.
#include <algorithm>
#include <string_view>

#include "core/sim/machine/model.h"
#include "core/sim/tcgen05/multiplication.h"
#include "core/sim/time/clock.h"
#include "core/sim/time/costs.h"
#include "core/sim/wgmma/product.h"

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

u64 bytes_of(const std::vector<Range>& ranges) {
  u64 all = 0;
  for (const Range& r : ranges) all += r.end - r.begin;
  return all;
}

// Multiply-adds of one SM in a cycle.
double rate_of(const DeviceTimes& times, MmaKind kind) {
  switch (kind) {
    case MmaKind::tf32:
      return times.tensor_tf32;
    case MmaKind::i8:
      return times.tensor_i8;
    case MmaKind::f8f6f4:
    case MmaKind::mxf8f6f4:
      return times.tensor_f8;
    case MmaKind::mxf4:
    case MmaKind::mxf4nvf4:
      return times.tensor_f4;
    default:
      return times.tensor_f16;
  }
}

}  // namespace

Unit unit_of(const AsyncOperation& o) {
  const std::string_view name = o.work->name;
  const auto is = [&](std::string_view s) { return name == s; };
  if (is("tcgen05.mma") || is_group_product(o)) return Unit::tensor;
  if (is("tcgen05.commit")) return Unit::commit;
  if (is("tcgen05.cp") || is("tcgen05.shift")) return Unit::tensor_copy;
  if (is("cp.async.mbarrier.arrive")) return Unit::async_copy;
  if (is("clusterlaunchcontrol.try_cancel")) return Unit::launch;
  if (is("st.async") || is("red.async")) return Unit::remote;
  return o.work->global == GlobalUse::reads || !o.writes.empty() ? Unit::copy_in : Unit::copy_out;
}

const AsyncOperation* awaited_by_commit(const Block& block, u32 pipe) {
  const AsyncOperation* last = nullptr;
  for (const AsyncOperation& o : block.flight.operations) {
    if (o.pipe != pipe || o.stage == Stage::complete || unit_of(o) == Unit::commit) continue;
    if (!last || o.times[3] >= last->times[3]) last = &o;
  }
  return last;
}

void Clock::schedule(Model& machine, const Core& x, Block& block, AsyncOperation& o) {
  const double from = now_;
  const auto at_once = [&](double latency) {
    o.times = {from, from + latency, from + latency, from + latency};
  };
  switch (unit_of(o)) {
    case Unit::tensor:
      schedule_product(machine, block, o, from);
      break;
    case Unit::tensor_copy:
      schedule_tensor_copy(block, o, from);
      break;
    case Unit::commit: {
      const AsyncOperation* last = awaited_by_commit(block, o.pipe);
      const double done = std::max(from, last ? last->times[3] : 0) + times_->commit;
      o.times = {done, done, done, done};
      break;
    }
    case Unit::async_copy: {
      const WarpTime& t = x.block->time.warps[x.warp->index];
      double done = std::max(from, t.open_copies);
      for (const auto& copy : t.copies) done = std::max(done, copy.second);
      o.times = {from, done, done, done};
      break;
    }
    case Unit::copy_in:
    case Unit::copy_out:
      schedule_copy(x, block, o, from);
      break;
    default:
      at_once(times_->remote);
  }
}

// Where an operation goes through global memory: bytes, and of these what L2 does not have.
Clock::Fetched Clock::look_up(const AsyncOperation& o, double from) {
  Fetched out;
  if (!o.work->pieces) return out;
  o.work->pieces(o, [&](const GlobalRange& piece) {
    for (u64 at = piece.begin; at < piece.end;) {
      const u64 end = std::min(piece.end, (at / line_bytes + 1) * line_bytes);
      out.bytes += end - at;
      const u64 first = at % line_bytes / 32, last = (end - 1) % line_bytes / 32;
      const auto wanted = static_cast<u32>((2u << last) - (1u << first));
      look_up(at / line_bytes, wanted, o.work->global == GlobalUse::reads, from, out);
      at = end;
    }
    return true;
  });
  return out;
}

// An engine takes copies one after the other and asks L2 for their lines; what comes goes through
// the port into shared memory. A copy that another block has issued comes with its own (multicast):
// L2 sends it once.
void Clock::schedule_copy(const Core& x, Block& block, AsyncOperation& o, double from) {
  const bool global = o.work->global != GlobalUse::none;
  const bool in = !o.writes.empty();
  const u64 inside = bytes_of(in ? o.writes : o.reads);
  Processor& p = processor_of(block);
  const auto bytes = static_cast<double>(inside);
  const double work =
      std::max(times_->copy_issue, times_->copy_bytes > 0 ? bytes / times_->copy_bytes : 0);
  const double begins = processor_of(*x.block).copies.take(from, work) - work;
  const Fetched what = look_up(o, begins + times_->copy_latency);
  LineCounters& count = *counters(o.pc);
  count.shared_bytes += inside;
  count.global_bytes += what.bytes;
  count.memory_bytes += what.missed;
  o.asked = static_cast<u32>(what.bytes);
  o.missed = static_cast<u32>(std::min(what.bytes, what.missed));
  if (!global) {  // between blocks of a cluster
    const double done = p.shared.take(p.in.take(begins, bytes), bytes) + times_->remote;
    o.times = {begins, done, done, done};
  } else if (in) {
    const double start = begins + times_->copy_latency;
    const bool shares = &block != x.block;
    const double there =
        shares ? p.in.take(start, bytes) + times_->l2_latency : fetch(p, what, start);
    const double done = std::max(there, p.shared.take(there - times_->l2_latency / 2, bytes));
    o.times = {begins, done, done, done};
  } else {
    const double read = p.shared.take(begins + times_->shared_latency, bytes);
    const double written = write_back(p, what, read) + times_->l2_latency / 2;
    o.times = {begins, read, written, written + times_->l2_latency / 2};
  }
}

// A warpgroup's product takes the tensor cores of all four schedulers for N / 2 cycles, or shared
// memory for as long as A and B are read, 128 bytes a cycle. So it is on an H100, 256 products of
// one warpgroup or of two in a row, for f16, tf32, e4m3, s8 and b1 alike: N 8 18.3 cycles each,
// 32 24.4, 64 32.4, 128 64.4, 256 128.4; .sp of f16, two warpgroups, N 256 143.9. With A in
// registers that stay as they are: N 8 to 24 13.5 cycles each, of one warpgroup or of two, 32 16.3,
// 64 32.3, 256 128.4.
constexpr double least_of_product = 13.4;

void Clock::schedule_group_product(const Model& machine, Block& block, AsyncOperation& o,
                                   double from) {
  const ptx::Instruction& i = machine.program().code[o.pc];
  const GroupForm form = group_form(machine.program(), i);
  // A row of A is 32 bytes whatever the type, and takes as long; of bits no device file has a rate.
  const bool bits = form.a == ElementType::b1;
  const double rate = bits ? 16 * times_->tensor_f16 : rate_of(*times_, product_of(i));
  const auto all = static_cast<double>(o.products) / (form.sparse ? 2 : 1);
  const double cycles = std::max(rate > 0 ? all / rate : 1, least_of_product);
  const auto operands = static_cast<double>(bytes_of(o.reads));
  Processor& p = processor_of(block);
  const double begin = std::max(from + times_->tensor_issue, pipe_of(block, o.pipe));
  const double end = std::max(p.tensor.take(begin, cycles), p.shared.take(begin, operands));
  pipe_of(block, o.pipe) = end;
  counters(o.pc)->shared_bytes += static_cast<u64>(operands);
  const double done = end + times_->tensor_latency;
  o.times = {std::max(begin, end - cycles), end, done, done};
}

// As many cycles as the multiply-adds take, or as shared memory takes to hand out A and B. The
// products of a thread follow one another; each is done a latency after its last cycle.
void Clock::schedule_product(Model& machine, Block& block, AsyncOperation& o, double from) {
  if (is_group_product(o)) return schedule_group_product(machine, block, o, from);
  Multiplication m;
  decode(MultiplicationWords::of(o), m);
  const MmaShape& s = m.product.shape;
  // Of a sparse A only what is stored is multiplied.
  const double rate = rate_of(*times_, m.product.kind) * (s.sparse ? 2 : 1);
  const double all = static_cast<double>(s.m) * s.n * s.k;
  // Half of the lanes of a small M do nothing.
  const double lanes_used = m.product.halves ? 2 : s.m >= 128 || m.product.ws ? 1 : s.m / 128.0;
  const double cycles = rate > 0 ? all / (rate * lanes_used) : 1;
  const auto operands = static_cast<double>(bytes_of(o.reads));
  double begin = std::max(from + times_->tensor_issue, pipe_of(block, o.pipe));
  double end = begin;
  const auto work = [&](Block& b) {
    Processor& p = processor_of(b);
    const double done = p.tensor.take(begin, cycles);
    end = std::max({end, done, p.shared.take(begin, operands)});
  };
  work(block);
  if (m.pair) {
    if (Block* peer = machine.member(block, block.rank ^ 1)) work(*peer);
  }
  begin = std::max(begin, end - cycles);
  pipe_of(block, o.pipe) = end;
  LineCounters& count = *counters(o.pc);
  count.shared_bytes += static_cast<u64>(operands) * (m.pair ? 2 : 1);
  o.products = static_cast<u64>(all) * (m.pair ? 2 : 1);
  const double done = end + times_->tensor_latency;
  o.times = {begin, end, done, done};
}

void Clock::schedule_tensor_copy(Block& block, AsyncOperation& o, double from) {
  Processor& p = processor_of(block);
  const auto bytes = static_cast<double>(bytes_of(o.reads));
  const double begin = std::max(from + times_->tensor_issue, pipe_of(block, o.pipe));
  const double end = std::max(p.shared.take(begin, bytes), p.tensor_in.take(begin, bytes));
  pipe_of(block, o.pipe) = end;
  counters(o.pc)->tensor_bytes += static_cast<u64>(bytes);
  const double done = end + times_->tensor_store_latency;
  o.times = {begin, end, done, done};
}

}  // namespace tilescope::sim
