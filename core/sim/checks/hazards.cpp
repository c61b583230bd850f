// Accesses of shared memory that nothing orders.
#include <fmt/format.h>

#include <cstring>

#include "core/sim/checks/evidence.h"
#include "core/sim/machine/model.h"

namespace tilescope::sim {
namespace {

const char* verb_of(Races::Kind kind) {
  switch (kind) {
    case Races::Kind::read:
      return "reads";
    case Races::Kind::atomic:
      return "updates";
    default:
      return "writes";
  }
}

}  // namespace

namespace {

std::string place_text(const Model& machine, const Block& block, const Races::Conflict& c) {
  return place_text(machine.site(block, c.warp * 32, c.pc));
}

// "block 2's ": where it is not the memory of the current block.
std::string whose_memory(const Core& x, const Block& block) {
  return &block == x.block ? "" : fmt::format("CTA {}'s ", block.rank);
}

// Bytes that a lane accesses by an instruction, as its text says: ".v4.u32" is 16. Of others the
// word that races are kept for.
std::uint32_t bytes_accessed(std::string_view opcode) {
  constexpr std::uint32_t word = 4;
  std::uint32_t elements = 1, bits = 0;
  for (std::size_t at = opcode.find('.'); at != opcode.npos; at = opcode.find('.', at + 1)) {
    const std::string_view part = opcode.substr(at + 1, opcode.find('.', at + 1) - at - 1);
    const auto number = [](std::string_view digits) {
      std::uint32_t out = 0;
      for (const char c : digits) {
        if (c < '0' || c > '9') return 0u;
        out = out * 10 + static_cast<std::uint32_t>(c - '0');
      }
      return out;
    };
    if (part.size() < 2) continue;
    if (part[0] == 'v') elements = std::max(1u, number(part.substr(1)));
    if (std::string_view("busf").find(part[0]) != std::string_view::npos) {
      if (const std::uint32_t own = number(part.substr(1))) bits = own;
    }
  }
  const std::uint32_t bytes = elements * bits / 8;
  return bytes && (bytes & (bytes - 1)) == 0 ? std::max(bytes, word) : word;
}

// What touched it before, and its bytes: an access is aligned to as many as it has (9.7.9.8, ld).
Evidence::Party earlier(const Core& x, const Block& block, const Races::Conflict& c,
                        std::string_view verb) {
  const Model& machine = *x.machine;
  const std::string_view name = opcode_text(machine.program().code[c.pc].text);
  const std::uint32_t bytes = bytes_accessed(name);
  const auto begin = static_cast<std::uint32_t>(c.offset) / bytes * bytes;
  const std::optional<std::uint32_t> rank = block.races.rank_of(c.warp);
  const Block& home = rank ? *machine.member(block, *rank) : block;
  const bool agent = block.races.is_agent(c.warp);
  Evidence::Party out =
      thread_at(machine, home, agent ? 0 : c.warp * 32, c.pc, fmt::format("{} {}", name, verb),
                place_of(block, Range{begin, begin + bytes}));
  out.in_flight = c.pending;
  return out;
}

// Where the phase that the current split waited for last was completed with an arrival of the other
// block whose scope did not reach it: what is to be changed.
std::string narrow_arrival(const Core& x, const Block& block, const Races::Conflict& c) {
  const Model& machine = *x.machine;
  const auto b = x.block->mbarriers.find(x.warp->splits[x.split].mbarrier);
  if (b == x.block->mbarriers.end()) return "";
  const Actor& by = b->second.narrow_before;
  const std::uint32_t rank =
      &block == x.block ? block.races.rank_of(c.warp).value_or(Actor::here) : block.rank;
  if (by.pc == Mbarrier::no_instruction || by.rank != rank) return "";
  return fmt::format(
      ": the mbarrier.arrive of CTA {} of the cluster at {} has the scope .cta, which is its "
      "default, and must have .release.cluster to be one (PTX ISA 8.5, 9.7.13.15.13)",
      by.rank, place_text(machine.site(*machine.member(block, by.rank), by.thread, by.pc)));
}

// What lane `lane` of the current warp does by `name`, in `mine`, and what it is unordered with.
void tell_unordered(Core& x, const Block& block, int lane, std::string_view name, Races::Kind kind,
                    const Range& mine, const Races::Conflict& c) {
  Model& machine = *x.machine;
  machine.reports.hazard(x, lane, c.pending ? "copy_not_awaited" : "shared_race", c.pc, [&] {
    const std::string where = place_text(machine, block, c);
    Report r;
    r.evidence = collision(
        lane_at(x, lane, fmt::format("{} {}", name, verb_of(kind)), place_of(block, mine)),
        earlier(x, block, c, c.pending ? "writes" : verb_of(c.other)));
    if (c.pending) {
      r.sentence = fmt::format(
          "{} {} byte {} of shared memory, where the cp.async at {} of warp {} may still be "
          "writing: it was not waited for",
          name, verb_of(kind), c.offset, where, c.warp);
      r.expected = "cp.async.wait_group or wait_all by the thread that copies, then a barrier";
      r.found = "a copy in flight";
      return r;
    }
    const std::optional<std::uint32_t> rank = block.races.rank_of(c.warp);
    const std::string other =
        rank ? fmt::format("CTA {} of the cluster {} at {}", *rank, verb_of(c.other), where)
        : block.races.is_agent(c.warp)
            ? fmt::format("the asynchronous operation issued at {} {}", where, verb_of(c.other))
            : fmt::format("warp {} {} at {}", c.warp, verb_of(c.other), where);
    r.sentence = fmt::format("{} {} byte {} of {}shared memory, which {}, with no barrier between",
                             name, verb_of(kind), c.offset, whose_memory(x, block), other);
    r.expected = "a barrier, or atomics that order the two" + narrow_arrival(x, block, c);
    r.found = "either could be first";
    // Without source lines an unrolled loop has nothing else that holds its places together.
    const auto& code = machine.program().code;
    if (!code[x.pc].source_line) {
      r.pair = fmt::format("{}, then {}", ptx::opcode(code[c.pc].op).name, name);
    }
    return r;
  });
}

}  // namespace

namespace {

// Does a store leave what another warp's store has left there?
bool stores_the_same(const Block& block, const Races::Access& access, const Races::Conflict& c) {
  if (access.kind != Races::Kind::write || c.other != Races::Kind::write || c.pending) return false;
  if (!access.values || block.races.is_agent(c.warp)) return false;
  const std::uint64_t begin = access.offsets[c.lane];
  return !block.shared.any_undefined(begin, access.bytes) &&
         std::memcmp(block.shared.data() + begin, access.values + c.lane * access.bytes,
                     access.bytes) == 0;
}

// Triton's warps set the state of their roles so, each of them, at one word: told once for the
// place, whichever instructions they are.
void tell_same_value(Core& x, const Block& block, const Races::Access& access,
                     const Races::Conflict& c) {
  const auto lane = static_cast<int>(c.lane);
  const auto begin = static_cast<std::uint32_t>(access.offsets[c.lane]);
  x.machine->reports.hazard_of_place(x, lane, "shared_race", begin, [&] {
    Report r;
    const Range mine{begin, begin + access.bytes};
    r.evidence = collision(lane_at(x, lane, "st writes", place_of(block, mine)),
                           earlier(x, block, c, "writes"));
    r.sentence = fmt::format(
        "st writes byte {} of {}shared memory, which warp {} writes at {}, with no barrier "
        "between; "
        "both write the same value, so it is the same whoever comes last",
        begin, whose_memory(x, block), c.warp, place_text(*x.machine, block, c));
    r.expected = "one warp that writes it, or a barrier between";
    r.found = "the same value by several warps";
    return r;
  });
}

// Shared memory that two warps touch, and nothing says in which order.
void watch_in(Core& x, Block& block, const Races::Access& access) {
  Model& machine = *x.machine;
  if (!block.flight.operations.empty()) machine.flights.check_access(x, block, access);
  if (!block.mbarriers.empty() && access.kind != Races::Kind::read) {
    for (Mask rest = access.mask; rest; rest &= rest - 1) {
      const int lane = __builtin_ctz(rest);
      const auto begin = static_cast<std::uint32_t>(access.offsets[lane]);
      machine.flights.spoil_mbarriers(block, {begin, begin + access.bytes},
                                      access.warp * 32 + static_cast<std::uint32_t>(lane), x.pc);
    }
  }
  Races::Conflict c;
  if (!block.races.access(access, c)) return;
  if (machine.stops.asked()) x.limit = 0;  // it is told, and to stop there may be wanted
  if (stores_the_same(block, access, c)) return tell_same_value(x, block, access, c);
  const auto begin = static_cast<std::uint32_t>(access.offsets[c.lane]);
  tell_unordered(x, block, static_cast<int>(c.lane),
                 ptx::opcode(machine.program().code[x.pc].op).name, access.kind,
                 {begin, begin + access.bytes}, c);
}

}  // namespace

void watch(Core& x, const Races::Access& access) {
  watch_in(x, *x.block, access);
}

void watch_peer(Core& x, Block& peer, Races::Access access) {
  access.warp = peer.races.agent_of_rank(x.block->rank, access.warp);
  watch_in(x, peer, access);
}

// The same of what an operation is going to read and write. It does so through the async proxy,
// which is told of a thread's own writes only by its fence.proxy.async (9.7.9.25.2).
void watch_operation(Core& x, int lane, Block& block, const AsyncOperation& o) {
  Races& races = block.races;
  const std::uint32_t warp =
      &block == x.block ? x.warp->index : races.agent_of_rank(x.block->rank, x.warp->index);
  Races::Conflict c;
  for (const Range& r : o.writes) {
    if (races.unordered(warp, r.begin, r.end, true, c)) {
      tell_unordered(x, block, lane, o.work->name, Races::Kind::write, r, c);
    }
  }
  for (const Range& r : o.reads) {
    c = {};
    if (races.unordered(warp, r.begin, r.end, false, c)) {
      tell_unordered(x, block, lane, o.work->name, Races::Kind::read, r, c);
      continue;
    }
    if (!races.unfenced(warp, r.begin, r.end, block.shared, c)) continue;
    x.reports->hazard(x, lane, "missing_proxy_fence", c.pc, [&] {
      const std::optional<std::uint32_t> rank = races.rank_of(c.warp);
      Report report;
      report.sentence = fmt::format(
          "{} reads byte {} of shared memory through the async proxy, but {} wrote it at {} "
          "and executed {}: the old bytes may be read",
          o.work->name, c.offset,
          rank ? fmt::format("CTA {} of the cluster", *rank) : fmt::format("warp {}", c.warp),
          place_text(*x.machine, block, c),
          c.fenced_too_late ? "its fence.proxy.async only behind what was waited for"
                            : "no fence.proxy.async since");
      report.expected =
          "fence.proxy.async.shared::cta by the threads that write, then a barrier; or behind it, "
          "by the thread that issues this";
      report.found = "no fence between";
      Evidence::Party reads =
          lane_at(x, lane, fmt::format("{} reads", o.work->name), place_of(block, r));
      add_pieces(reads, o.reads);
      report.evidence = collision(std::move(reads), earlier(x, block, c, "writes"));
      return report;
    });
  }
}

}  // namespace tilescope::sim
