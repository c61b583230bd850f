// Accesses of shared memory that nothing orders.
#include <fmt/format.h>

#include <cstring>

#include "core/sim/checks/evidence.h"
#include "core/sim/checks/unread.h"
#include "core/sim/machine/model.h"

namespace tilescope::sim {
namespace {

const char* verb_of(Shadow::Kind kind) {
  switch (kind) {
    case Shadow::Kind::read:
      return "reads";
    case Shadow::Kind::atomic:
      return "updates";
    default:
      return "writes";
  }
}

}  // namespace

namespace {

// What an access is unordered with.
struct Conflict {
  std::uint32_t lane = 0;  // of the access
  std::uint64_t offset = 0;
  Shadow::Touch other;
  bool pending = false;          // a cp.async that is not waited for
  bool fenced_too_late = false;  // by fence.proxy.async
  const Doubtful* by = nullptr;  // what orders the two on chips, and is too weak
  bool is_likely = false;        // likewise, where it is not known by what
};

// The block of the cluster of `block` whose thread did it.
const Block& home_of(const Model& machine, const Block& block, const Shadow::Touch& touch) {
  for (std::uint32_t rank = 0; rank < machine.cluster_size; ++rank) {
    const Block* b = machine.member(block, rank);
    if (b && b->number == touch.home.block) return *b;
  }
  return block;
}

std::string place_text(const Model& machine, const Block& block, const Conflict& c) {
  return place_text(machine.site(home_of(machine, block, c.other), c.other.thread, c.other.pc));
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
Evidence::Party earlier(const Core& x, const Block& block, const Conflict& c,
                        std::string_view verb) {
  const Model& machine = *x.machine;
  const std::string_view name = opcode_text(machine.program().code[c.other.pc].text);
  const std::uint32_t bytes = bytes_accessed(name);
  const auto begin = static_cast<std::uint32_t>(c.offset) / bytes * bytes;
  Evidence::Party out =
      thread_at(machine, home_of(machine, block, c.other), c.other.thread, c.other.pc,
                fmt::format("{} {}", name, verb), place_of(block, Range{begin, begin + bytes}));
  out.in_flight = c.pending;
  return out;
}

const char* text_of(Scope scope) {
  static const char* const texts[] = {".cta", ".cluster", ".gpu", ".sys"};
  return texts[static_cast<std::size_t>(scope)];
}

std::string deed_text(const Core& x, const Block& block, const Deed& by) {
  Shadow::Touch touch;
  touch.home.block = by.block;
  const Block& home = home_of(*x.machine, block, touch);
  return fmt::format("the {} of warp {}{} at {}",
                     opcode_text(x.machine->program().code[by.pc].text), by.thread / 32,
                     &home == x.block ? "" : fmt::format(" of CTA {} of the cluster", home.rank),
                     place_text(x.machine->site(home, by.thread, by.pc)));
}

// What is to be changed where the two were ordered, but in a way that PTX does not promise.
std::string too_weak(const Core& x, const Block& block, const Conflict& c) {
  if (!c.by) return "";
  const std::string release = deed_text(x, block, c.by->release);
  const std::string acquire = deed_text(x, block, c.by->acquire);
  switch (c.by->why) {
    case Doubt::release_scope:
      return fmt::format(
          ": {} has a scope that does not include who waits (.cta is the default), and must have "
          ".release.cluster to be one (PTX ISA 8.5, 9.7.13.15.13)",
          release);
    case Doubt::acquire_scope:
      return fmt::format(
          ": {} has a scope that does not include {} (.cta is the default), and must have "
          ".acquire.cluster to be one (PTX ISA 8.5, 9.7.13.15.16)",
          acquire, release);
    case Doubt::relaxed_release:
      return fmt::format(": {} releases nothing; it needs .release, or a fence before it (8.8)",
                         release);
    case Doubt::relaxed_acquire:
      return fmt::format(": {} acquires nothing; it needs .acquire, or a fence behind it (8.8)",
                         acquire);
    default:
      return "";
  }
}

// What was asked of `block`'s shared memory, and what of it this conflicts with.
Conflict conflict_of(const Core& x, const Observer& who, const Shadow::Touch& other,
                     std::uint64_t offset) {
  Conflict c;
  c.other = other;
  c.offset = offset;
  const Completions& completions = x.machine->completions;
  Agent agent = other.agent;
  std::uint32_t epoch = other.epoch;
  if (other.operation) {
    c.pending = completions.in_flight(other.operation);
    agent = completions.on(other.operation);
    epoch = completions.epoch(other.operation);
  }
  if (!c.pending) c.by = who.doubtful(agent, epoch);
  c.is_likely = !c.pending && who.may_have_seen(agent, epoch);
  return c;
}

// Is what was there before used up: read, or brought by an operation that is complete? Then a later
// write, behind a way of telling that chips keep though PTX does not promise it, spoils nothing. So
// free their stages kernels that release in the scope of their own CTA, as CUTLASS's multicast ones
// do, or by a relaxed barrier.cluster. Who tells by another relaxed operation has left something
// out.
bool is_used_up(const Core& x, const Conflict& c, Shadow::Kind kind) {
  if (!c.is_likely || kind == Shadow::Kind::read) return false;
  if (c.other.kind != Shadow::Kind::read && !c.other.async) return false;
  if (!c.by) return true;
  const bool relaxed = c.by->why == Doubt::relaxed_release || c.by->why == Doubt::relaxed_acquire;
  return !relaxed || x.machine->program().code[c.by->release.pc].op == ptx::Op::barrier;
}

// That is worth knowing, once for what tells so.
void note_weak_order(Core& x, const Block& block, int lane, std::string_view name,
                     Shadow::Kind kind, const Range& mine, const Conflict& c) {
  Model& machine = *x.machine;
  const auto tell = [&] {
    Report r;
    r.evidence = collision(
        lane_at(x, lane, fmt::format("{} {}", name, verb_of(kind)), place_of(block, mine)),
        earlier(x, block, c, verb_of(c.other.kind)));
    r.sentence = fmt::format(
        "{} at {} {} byte {} of {}shared memory behind what {} it at {}, only because {} tells so, "
        "and PTX does not promise that order; chips keep it",
        name, place_text(machine.site(*x.block, x.warp->index * 32, x.pc)), verb_of(kind), c.offset,
        whose_memory(x, block), verb_of(c.other.kind), place_text(machine, block, c),
        c.by ? deed_text(x, block, c.by->release) : "another warp");
    r.expected = "a release and an acquire that include each other" + too_weak(x, block, c);
    r.found = "memory that is used again, which nobody reads any more";
    return r;
  };
  if (!c.by) return machine.reports.note(x, lane, "weak_order", c.other.pc, tell);
  Shadow::Touch by;
  by.home.block = c.by->release.block;
  machine.reports.note_at(home_of(machine, block, by), c.by->release.thread, c.by->release.pc,
                          "weak_order", c.by->acquire.pc, tell);
}

// What lane `lane` of the current warp does by `name`, in `mine`, and what it is unordered with.
void tell_unordered(Core& x, const Block& block, int lane, std::string_view name, Shadow::Kind kind,
                    const Range& mine, const Conflict& c) {
  Model& machine = *x.machine;
  if (is_used_up(x, c, kind)) return note_weak_order(x, block, lane, name, kind, mine, c);
  machine.reports.hazard(x, lane, c.pending ? "copy_not_awaited" : "shared_race", c.other.pc, [&] {
    const std::string where = place_text(machine, block, c);
    Report r;
    r.evidence = collision(
        lane_at(x, lane, fmt::format("{} {}", name, verb_of(kind)), place_of(block, mine)),
        earlier(x, block, c, c.pending ? "writes" : verb_of(c.other.kind)));
    if (c.pending) {
      r.sentence = fmt::format(
          "{} {} byte {} of shared memory, where the cp.async at {} of warp {} may still be "
          "writing: it was not waited for",
          name, verb_of(kind), c.offset, where, c.other.thread / 32);
      r.expected = "cp.async.wait_group or wait_all by the thread that copies, then a barrier";
      r.found = "a copy in flight";
      return r;
    }
    const Block& home = home_of(machine, block, c.other);
    const char* did = verb_of(c.other.kind);
    const std::string other =
        &home != x.block ? fmt::format("CTA {} of the cluster {} at {}", home.rank, did, where)
        : c.other.async  ? fmt::format("the asynchronous operation issued at {} {}", where, did)
                         : fmt::format("warp {} {} at {}", c.other.thread / 32, did, where);
    r.sentence = fmt::format("{} {} byte {} of {}shared memory, which {}, with no barrier between",
                             name, verb_of(kind), c.offset, whose_memory(x, block), other);
    r.expected = "a barrier, or atomics that order the two" + too_weak(x, block, c);
    r.found = c.is_likely ? "an order that chips are seen to keep, and PTX does not promise"
                          : "either could be first";
    // Without source lines an unrolled loop has nothing else that holds its places together.
    const auto& code = machine.program().code;
    if (!code[x.pc].source_line) {
      r.pair = fmt::format("{}, then {}", ptx::opcode(code[c.other.pc].op).name, name);
    }
    return r;
  });
}

}  // namespace

namespace {

// Does a store leave what another warp's store has left there?
bool stores_the_same(const Block& block, const MemoryAccess& access, const Conflict& c) {
  if (access.kind != Shadow::Kind::write || c.other.kind != Shadow::Kind::write) return false;
  if (!access.values || c.other.async || c.other.home.block != block.number) return false;
  const std::uint64_t begin = access.offsets[c.lane];
  return !block.shared.any_undefined(begin, access.bytes) &&
         std::memcmp(block.shared.data() + begin, access.values + c.lane * access.bytes,
                     access.bytes) == 0;
}

// Triton's warps set the state of their roles so, each of them, at one word: told once for the
// place, whichever instructions they are.
void tell_same_value(Core& x, const Block& block, const MemoryAccess& access, const Conflict& c) {
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
        begin, whose_memory(x, block), c.other.thread / 32, place_text(*x.machine, block, c));
    r.expected = "one warp that writes it, or a barrier between";
    r.found = "the same value by several warps";
    return r;
  });
}

// Lanes from `first` on that lie side by side with the one before; or at the same place, `step` 0.
std::uint32_t together(const MemoryAccess& a, std::uint32_t first, std::uint64_t& step) {
  std::uint32_t end = first + 1;
  step = a.bytes;
  if (end < 32 && (a.mask >> end & 1) && a.offsets[end] == a.offsets[first]) step = 0;
  while (end < 32 && (a.mask >> end & 1) && a.offsets[end] == a.offsets[end - 1] + step) ++end;
  return end;
}

Shadow::Touch touch_of(Core& x, const MemoryAccess& access) {
  const Observer& me = observer(x);
  Shadow::Touch t;
  t.kind = access.kind;
  t.strong = access.strong;
  t.scope = access.scope;
  t.agent = me.me();
  t.home = me.home();
  t.epoch = me.epoch();
  t.operation = access.operation;
  t.thread = access.warp * 32 + static_cast<std::uint32_t>(__builtin_ctz(access.mask));
  t.pc = access.pc;
  return t;
}

// Notes it. Answers whether it is unordered with what was before.
bool note(Core& x, Block& owner, const MemoryAccess& a, Conflict& out) {
  const Observer& me = observer(x);
  Shadow::Pass pass(owner.order.shared, me, x.machine->completions, touch_of(x, a));
  bool races = false;
  if (a.run) {
    races = pass.touch(a.offsets[0], a.offsets[0] + std::uint64_t{a.bytes} * 32);
  } else {
    for (std::uint32_t first = 0, end = 0; first < 32; first = end) {
      end = first + 1;
      if (!(a.mask >> first & 1)) continue;
      std::uint64_t step = 0;
      end = together(a, first, step);
      const std::uint64_t begin = a.offsets[first];
      races |= pass.touch(begin, begin + (step ? step * (end - first) : a.bytes));
    }
  }
  if (!races) return false;
  out = conflict_of(x, me, pass.other(), pass.at());
  for (Mask rest = a.mask; rest; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(__builtin_ctz(rest));
    if (a.offsets[lane] > out.offset || out.offset >= a.offsets[lane] + a.bytes) continue;
    out.lane = lane;
    break;
  }
  return true;
}

}  // namespace

// Shared memory that two warps touch, and nothing says in which order.
void watch_in(Core& x, Block& block, const MemoryAccess& access) {
  Model& machine = *x.machine;
  if (!block.flight.operations.empty()) machine.flights.check_access(x, block, access);
  if (!block.mbarriers.empty() && access.kind != Shadow::Kind::read) {
    for (Mask rest = access.mask; rest; rest &= rest - 1) {
      const int lane = __builtin_ctz(rest);
      const auto begin = static_cast<std::uint32_t>(access.offsets[lane]);
      machine.flights.spoil_mbarriers(block, {begin, begin + access.bytes},
                                      access.warp * 32 + static_cast<std::uint32_t>(lane), x.pc);
    }
  }
  Conflict c;
  if (!note(x, block, access, c)) return;
  if (machine.stops.asked()) x.limit = 0;  // it is told, and to stop there may be wanted
  if (stores_the_same(block, access, c)) return tell_same_value(x, block, access, c);
  const auto begin = static_cast<std::uint32_t>(access.offsets[c.lane]);
  tell_unordered(x, block, static_cast<int>(c.lane),
                 ptx::opcode(machine.program().code[x.pc].op).name, access.kind,
                 {begin, begin + access.bytes}, c);
}

void watch(Core& x, const MemoryAccess& access) {
  watch_in(x, *x.block, access);
}

namespace {

// The first byte of [begin, end) that was written through the generic proxy, and of which the async
// proxy has not been told on the way to `who`.
bool find_untold(const Model& machine, const Block& block, const Observer& who, std::uint64_t begin,
                 std::uint64_t end, Conflict& out) {
  const auto untold = [&](std::uint64_t first, std::uint64_t last, const Shadow::Touch& written) {
    if (written.async) return false;
    // Who writes over an mbarrier is told so where it is used. By which proxy tcgen05.alloc writes
    // its address the ISA does not say (9.7.16.7.1), and Triton lets TMA use the place again.
    const ptx::Op op = machine.program().code[written.pc].op;
    if (op == ptx::Op::mbarrier || op == ptx::Op::tcgen05) return false;
    Agent agent = written.agent;
    std::uint32_t epoch = written.epoch;
    if (written.operation) {
      if (machine.completions.in_flight(written.operation)) return false;
      agent = machine.completions.on(written.operation);
      epoch = machine.completions.epoch(written.operation);
    }
    if (who.is_told(agent, epoch)) return false;
    const Observer& writer = home_of(machine, block, written).order.of(written.thread / 32);
    const std::uint32_t until = agent == who.me() ? who.epoch() : who.sure().seen.of(agent);
    for (std::uint64_t at = first; at < last; at += 4 - at % 4) {
      const Writer by = block.shared.writer(at);
      const bool known =
          by && by.block() == written.home.block && by.thread() / 32 == written.thread / 32;
      const Mask lane = known ? Mask{1} << by.thread() % 32 : 0;
      if (writer.has_fenced(lane, epoch, until)) continue;
      out.offset = at;
      out.other = written;
      out.fenced_too_late = writer.has_fenced(known ? lane : ~Mask{0}, epoch, writer.epoch());
      return true;
    }
    return false;
  };
  return block.order.shared.any_writer(begin, end, untold);
}

// The first byte of [begin, end) that a thread reads through the generic proxy and may not have, as
// it told others before it used what it read, and nobody told the async proxy.
bool find_unread(Model& machine, const Block& block, const Observer& who, std::uint64_t begin,
                 std::uint64_t end, Conflict& out) {
  return block.order.shared.any_read(begin, end, [&](std::uint64_t at, const Shadow::Touch& read) {
    if (read.async || read.operation || who.is_told(read.agent, read.epoch)) return false;
    const Observer& reader = home_of(machine, block, read).order.of(read.thread / 32);
    if (reader.has_fenced(~Mask{0}, read.epoch, who.sure().seen.of(read.agent))) return false;
    const auto [known, fresh] = machine.told_before_use.try_emplace(read.pc, false);
    if (fresh) known->second = tells_before_use(machine.program(), read.pc);
    if (!known->second) return false;
    out.offset = at;
    out.other = read;
    return true;
  });
}

void tell_unread(Core& x, int lane, const Block& block, const AsyncOperation& o, const Range& r,
                 const Conflict& c) {
  x.reports->note(x, lane, "read_overtaken", c.other.pc, [&] {
    const Block& home = home_of(*x.machine, block, c.other);
    Report report;
    report.sentence = fmt::format(
        "{} writes byte {} of {}shared memory through the async proxy, which {} reads at {} and "
        "says "
        "to be done with before it has used the value, with no fence.proxy.async since: the new "
        "bytes may be read",
        o.work->name, c.offset, whose_memory(x, block),
        &home != x.block ? fmt::format("CTA {} of the cluster", home.rank)
                         : fmt::format("warp {}", c.other.thread / 32),
        place_text(*x.machine, block, c));
    report.expected =
        "fence.proxy.async.shared::cta between the read and what tells of it, or a use of the "
        "value "
        "before";
    report.found = "a load that may still be under way (seen on an H200)";
    Evidence::Party mine =
        lane_at(x, lane, fmt::format("{} writes", o.work->name), place_of(block, r));
    add_pieces(mine, o.writes);
    report.evidence = collision(std::move(mine), earlier(x, block, c, "reads"));
    return report;
  });
}

}  // namespace

bool is_untold(const Model& machine, const Block& block, const AsyncOperation& o,
               std::uint32_t begin, std::uint32_t end) {
  Conflict c;
  const Observer& who = machine.issuer(block, o).order.of(o.thread / 32);
  return find_untold(machine, block, who, begin, end, c);
}

// The same of what an operation is going to read and write. It does so through the async proxy,
// which is told of a thread's own writes only by its fence.proxy.async (9.7.9.25.2).
void watch_operation(Core& x, int lane, Block& block, AsyncOperation& o) {
  const Observer& who = observer(x);
  o.order = x.machine->completions.begin();
  Shadow::Touch touch;
  touch.async = true;
  touch.home = who.home();
  touch.operation = o.order;
  touch.thread = x.warp->index * 32 + static_cast<std::uint32_t>(lane);
  touch.pc = x.pc;
  const auto pass_over = [&](const Range& r, Shadow::Kind kind) {
    touch.kind = kind;
    touch.strong = kind == Shadow::Kind::atomic;
    touch.scope = Scope::gpu;  // of reductions (9.7.9.25.4.2)
    Shadow::Pass pass(block.order.shared, who, x.machine->completions, touch);
    if (!pass.touch(r.begin, r.end)) return false;
    tell_unordered(x, block, lane, o.work->name, kind, r,
                   conflict_of(x, who, pass.other(), pass.at()));
    return true;
  };
  const auto tell_untold = [&](const Range& r, const Conflict& c, bool reads) {
    x.reports->hazard(x, lane, "missing_proxy_fence", c.other.pc, [&] {
      const Block& home = home_of(*x.machine, block, c.other);
      const char* verb = reads ? "reads" : "writes";
      Report report;
      report.sentence = fmt::format(
          "{} {} byte {} of {}shared memory through the async proxy, but {} wrote it at {} "
          "and executed {}: the old bytes may be {}",
          o.work->name, verb, c.offset, whose_memory(x, block),
          &home != x.block ? fmt::format("CTA {} of the cluster", home.rank)
                           : fmt::format("warp {}", c.other.thread / 32),
          place_text(*x.machine, block, c),
          c.fenced_too_late ? "its fence.proxy.async only behind what was waited for"
                            : "no fence.proxy.async since",
          reads ? "read" : "the last");
      report.expected =
          "fence.proxy.async.shared::cta by the threads that write, then a barrier; or behind it, "
          "by the thread that issues this";
      report.found = "no fence between";
      Evidence::Party mine =
          lane_at(x, lane, fmt::format("{} {}", o.work->name, verb), place_of(block, r));
      add_pieces(mine, reads ? o.reads : o.writes);
      report.evidence = collision(std::move(mine), earlier(x, block, c, "writes"));
      return report;
    });
  };
  // st.async and red.async go the generic way (9.7.9.25.2 names bulk copies alone).
  const ptx::Op op = x.machine->program().code[x.pc].op;
  const bool generic = op == ptx::Op::st || op == ptx::Op::red;
  for (const Range& r : o.writes) {
    Conflict c;
    Conflict unread;
    const bool untold = !generic && find_untold(*x.machine, block, who, r.begin, r.end, c);
    const bool is_unread = !generic && find_unread(*x.machine, block, who, r.begin, r.end, unread);
    const bool races = pass_over(r, o.work->adds ? Shadow::Kind::atomic : Shadow::Kind::write);
    if (untold && !races) tell_untold(r, c, false);
    if (is_unread && !races) tell_unread(x, lane, block, o, r, unread);
  }
  for (const Range& r : o.reads) {
    Conflict c;
    if (pass_over(r, Shadow::Kind::read)) continue;
    if (find_untold(*x.machine, block, who, r.begin, r.end, c)) tell_untold(r, c, true);
  }
}

}  // namespace tilescope::sim
