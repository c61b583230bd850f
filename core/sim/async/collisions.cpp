// Who gets in the way of an operation in flight: others, and threads that touch what it uses.
#include "core/sim/async/collisions.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/sim/async/flights.h"
#include "core/sim/checks/around.h"
#include "core/sim/checks/evidence.h"
#include "core/sim/machine/cluster.h"
#include "core/sim/machine/model.h"
#include "core/sim/tcgen05/multiplication.h"

namespace tilescope::sim {

using u32 = std::uint32_t;

std::string range_text(const Range& r) {
  return fmt::format("bytes {} to {} of shared memory", r.begin, r.end - 1);
}

bool is_store(const AsyncOperation& o) {
  return o.group != no_group && o.writes.empty() && o.mbarrier == no_mbarrier;
}

void add_mbarrier(Evidence& evidence, const Block& block, const AsyncOperation& o) {
  if (o.mbarrier != no_mbarrier && o.arrives_at(block.rank, block.rank)) {
    evidence.mbarrier = o.mbarrier;
  }
}

namespace {

// Why an operation that somebody should have waited for may be in flight although he did.
std::string too_late_text(const Model& machine, const Block& block, const AsyncOperation& o) {
  std::string out;
  if (o.mbarrier == no_mbarrier || o.transactions == 0) return out;
  for (u32 rank = 0; rank < machine.cluster_size && out.empty(); ++rank) {
    if (!o.arrives_at(rank, block.rank)) continue;
    out = unexpected_story(machine, *machine.member(block, rank), o.mbarrier);
  }
  return out;
}

// Where the wait for an operation is missing, which is in flight in `block`: where its own warps
// waited for such last, or on which mbarrier it completes and where that was waited for; and what
// stands on either side of the gap.
std::string gap_behind(const Core& x, const Block& block, const AsyncOperation& o) {
  const Model& machine = *x.machine;
  const Block& issuer = machine.issuer(block, o);
  const Done done{&issuer, o.thread, o.pc};
  std::string out = o.mbarrier == no_mbarrier ? waited_text(machine, done) : "";
  u32 mbarrier = o.mbarrier;
  const AsyncOperation* by = &o;
  for (const AsyncOperation& later : issuer.flight.operations) {
    if (mbarrier != no_mbarrier || !is_multiplication(o)) break;
    if (later.work != &commit_work || later.thread != o.thread || later.number < o.number) continue;
    mbarrier = later.mbarrier;
    by = &later;
  }
  if (mbarrier != no_mbarrier) {
    const bool own = by->arrives_at(x.block->rank, by == &o ? block.rank : issuer.rank);
    if (own) out += unheard_text(x, mbarrier);
  }
  return out + gap_text(x, done);
}

const Range* meeting(const std::vector<Range>& ranges, const Range& with) {
  for (const Range& r : ranges) {
    if (r.meets(with)) return &r;
  }
  return nullptr;
}

}  // namespace

// The same bytes, from where another in flight copies them to the same place: each warp of a CTA
// does so in CuTeDSL's split-K products. Whichever writes last, it is the same.
bool Flights::is_same_copy(const AsyncOperation& o, const AsyncOperation& other) {
  return other.work == o.work && o.work->read && other.issuer == o.issuer &&
         other.words == o.words && !o.writes.empty() && !other.writes.empty();
}

void Flights::tell_copied_twice(Core& x, const Block& block, const AsyncOperation& o,
                                const AsyncOperation& other) {
  model_->reports.hazard_at(*x.block, o.thread, o.pc, "operand_overwritten", other.pc, [&] {
    const Range &mine = o.writes.front(), &theirs = other.writes.front();
    Report r;
    r.sentence = fmt::format(
        "{} writes {}, as the {} at {} does, which is still in flight; both copy the same bytes, "
        "so it is the same whichever comes last",
        o.work->name, range_text(mine), other.work->name,
        text(model_->site(model_->issuer(block, other), other.thread, other.pc)));
    r.expected = "one thread that copies them";
    r.found = "the same copy in flight";
    r.evidence = collision(operation_at_issue(*model_, block, o, "writes", place_of(block, mine)),
                           operation_in(*model_, block, other, "writes", place_of(block, theirs)));
    add_mbarrier(r.evidence, block, other);
    return r;
  });
}

// An operation that begins: does another in flight write what it uses, or use what it writes? Is
// what it touches ordered after what threads did, and has the async proxy been told of what they
// wrote?
bool Flights::check_operands(Core& x, int lane, Block& block, AsyncOperation& o) {
  const auto collides = [&](const AsyncOperation& other, const std::vector<Range>& mine,
                            const std::vector<Range>& theirs, const char* does, const char* did) {
    for (const Range& r : mine) {
      const Range* with = meeting(theirs, r);
      if (!with) continue;
      const Site site = model_->site(model_->issuer(block, other), other.thread, other.pc);
      model_->reports.fault_at(
          *x.block, o.thread, o.pc, "operand_overwritten",
          fmt::format("{} {} {}, which the {} at {} {}: it is still in flight{}", o.work->name,
                      does, range_text(r), other.work->name, text(site), did,
                      too_late_text(*model_, block, other)),
          "a wait for the earlier operation first",
          "the earlier one in flight" + gap_behind(x, block, other));
      Evidence evidence =
          collision(operation_at_issue(*model_, block, o, does, place_of(block, r)),
                    operation_in(*model_, block, other, did, place_of(block, *with)));
      add_mbarrier(evidence, block, other);
      model_->reports.explain(std::move(evidence));
      return true;
    }
    return false;
  };
  for (const AsyncOperation& other : block.flight.operations) {
    if ((o.pipe && other.pipe == o.pipe) || (o.work->adds && other.work->adds)) continue;
    if (is_same_copy(o, other)) {
      tell_copied_twice(x, block, o, other);
      continue;
    }
    if (collides(other, o.writes, other.writes, "writes", "writes") ||
        collides(other, o.writes, other.reads, "writes", "reads") ||
        collides(other, o.reads, other.writes, "reads", "writes")) {
      return false;
    }
  }
  for (const Range& r : o.writes) spoil_mbarriers(block, r, o.thread, o.pc);
  for (const Range& r : o.reads) {
    if (!model_->order_log) break;
    const auto at = block.mbarriers.lower_bound(r.begin < 8 ? 0 : r.begin - 7);
    if (at != block.mbarriers.end() && at->first < r.end) {
      model_->order_log->blind("it reads the bits of an mbarrier");
    }
  }
  if (block.order.on()) watch_operation(x, lane, block, o);
  return true;
}

// A warp writes what a store in flight is to read, and knows nothing of the store: whoever issued
// it has been nowhere with it since. Then its thread may have waited for the reading, and what is
// missing is a barrier behind that wait: a race, which either may win (CuTeDSL's dense GEMM for
// sm_120 relies on the store; in tests/sim/programs/bulk_source_overwritten_unheard_hazard.ptx an
// H100 stored the new bytes). Where the warp does know of the store, nobody has waited for it.
bool Flights::is_race_with_store(Core& x, const Block& block, const AsyncOperation& o) {
  return is_store(o) && o.issuer == block.rank &&
         !observer(x).has_seen(block.order.of(o.thread / 32).me(), o.since);
}

void Flights::let_store_read(Block& block, const AsyncOperation& o) {
  const auto index = static_cast<std::size_t>(&o - block.flight.operations.data());
  if (!model_->options.lazy && o.stage == Stage::issued && !held_up(block, o))
    advance(block, index);
}

// A thread touches shared memory of a block: may it, with what is in flight there?
void Flights::check_access(Core& x, Block& block, const MemoryAccess& access) {
  const bool writes = access.kind != Shadow::Kind::read;
  Range all{~0u, 0};  // that the warp touches
  for (Mask rest = access.mask; rest; rest &= rest - 1) {
    const auto begin = static_cast<u32>(access.offsets[__builtin_ctz(rest)]);
    all = {std::min(all.begin, begin), std::max(all.end, begin + access.bytes)};
  }
  for (const AsyncOperation& o : block.flight.operations) {
    if (o.work->adds && access.kind == Shadow::Kind::atomic) continue;
    for (const bool written : {true, false}) {
      if (!written && !writes) continue;
      for (const Range& r : written ? o.writes : o.reads) {
        if (r.meets(all) && collides(x, block, access, o, r, written)) return;
      }
    }
  }
}

// The first lane that touches a range of an operation is at fault.
bool Flights::collides(Core& x, Block& block, const MemoryAccess& access, const AsyncOperation& o,
                       const Range& r, bool written) {
  for (Mask rest = access.mask; rest; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    const auto begin = static_cast<u32>(access.offsets[lane]);
    if (!r.meets({begin, begin + access.bytes})) continue;
    const bool race = !written && is_race_with_store(x, block, o);
    const bool has_read = !written && is_store(o) && o.stage != Stage::issued;
    const bool reads = access.kind == Shadow::Kind::read;
    const std::string_view name = ptx::opcode(model_->program().code[x.pc].op).name;
    Report told;
    told.sentence =
        fmt::format("{} {} byte {} of shared memory, but the {} at {} {} {}, and {}{}", name,
                    reads ? "reads" : "writes", std::max(begin, r.begin), o.work->name,
                    text(model_->site(model_->issuer(block, o), o.thread, o.pc)),
                    written ? "writes" : "reads", range_text(r),
                    race       ? "nothing orders the two"
                    : has_read ? "nobody has waited for it, though it has read them by now"
                               : "nobody has waited for it",
                    too_late_text(*model_, block, o));
    told.expected =
        race      ? "a barrier between them: before the store is issued, or behind a wait for it"
        : written ? "a wait for the operation before its result is touched"
                  : "a wait until the operation has read its source";
    told.found = "an operation in flight" + gap_behind(x, block, o);
    told.evidence = collision(
        lane_at(x, lane, fmt::format("{} {}", name, reads ? "reads" : "writes"),
                place_of(block, Range{begin, begin + access.bytes})),
        operation_in(*model_, block, o, written ? "writes" : "reads", place_of(block, r)));
    add_mbarrier(told.evidence, block, o);
    if (race || has_read) {
      model_->reports.hazard(x, lane, "operand_overwritten", o.pc, [&] { return told; });
      let_store_read(block, o);
      return false;
    }
    model_->reports.fault(x, lane, "operand_overwritten", told.sentence, told.expected, told.found);
    model_->reports.explain(std::move(told.evidence));
    x.limit = 0;
    return true;
  }
  return false;
}

}  // namespace tilescope::sim
