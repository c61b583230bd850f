// Asynchronous operations and the accesses before them: unordered ones, and those that the async
// proxy has not been told of.
#include <fmt/format.h>

#include "core/sim/async/collisions.h"
#include "core/sim/checks/evidence.h"
#include "core/sim/checks/unordered.h"
#include "core/sim/checks/unread.h"
#include "core/sim/machine/early.h"
#include "core/sim/machine/model.h"

namespace tilescope::sim {
namespace {

// The block of the cluster of `block` whose thread did it.
const Block& home_of(const Model& machine, const Block& block, const Shadow::Touch& touch) {
  for (std::uint32_t rank = 0; rank < machine.cluster_size; ++rank) {
    const Block* b = machine.member(block, rank);
    if (b && b->number == touch.home.block) return *b;
  }
  return block;
}

// The first byte of [begin, end) that was written through the generic proxy, and of which the async
// proxy has not been told on the way to `who`.
// `issues`: the lane of `who`.
bool find_untold(const Model& machine, const Block& block, const Observer& who,
                 std::uint32_t issues, std::uint64_t begin, std::uint64_t end, Conflict& out) {
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
    if (who.is_told(agent, epoch, issues)) return false;
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
      out.fenced_by_lane = who.is_told(agent, epoch);
      out.fenced_too_late = writer.has_fenced(known ? lane : ~Mask{0}, epoch, writer.epoch());
      return true;
    }
    return false;
  };
  return block.order.shared.any_writer(begin, end, untold);
}

// The first byte of [begin, end) that a thread reads through the generic proxy and may not have, as
// it told others before it used what it read, and nobody told the async proxy.
bool find_unread(Model& machine, Block& block, const Observer& who, std::uint64_t begin,
                 std::uint64_t end, Conflict& out) {
  return block.order.shared.any_read(begin, end, [&](std::uint64_t at, const Shadow::Touch& read) {
    if (read.async || read.operation || who.is_told(read.agent, read.epoch)) return false;
    const Observer& reader = home_of(machine, block, read).order.of(read.thread / 32);
    const std::uint32_t until =
        read.agent == who.me() ? who.epoch() : who.sure().seen.of(read.agent);
    if (reader.has_fenced(~Mask{0}, read.epoch, until)) return false;
    if (!may_be_overtaken(machine, read.pc)) return false;
    out.offset = at;
    out.other = read;
    return true;
  });
}

// "no fence behind warp 0's last st, at a.cu:12 (PTX line 40)": of what its warp wrote to this
// shared memory before it next told others of anything, the last in the program.
std::string unfenced_text(const Core& x, const Block& block, const Conflict& c) {
  const Model& machine = *x.machine;
  const Block& home = home_of(machine, block, c.other);
  std::uint32_t last = c.other.pc;
  block.order.shared.any_writer(
      0, block.shared.size(), [&](std::uint64_t, std::uint64_t, const Shadow::Touch& t) {
        const bool same = !t.async && t.agent == c.other.agent && t.epoch == c.other.epoch &&
                          t.operation == c.other.operation;
        if (same) last = std::max(last, t.pc);
        return false;
      });
  return fmt::format("no fence behind {}'s last {}, at {}", who_text(x, c.other),
                     ptx::opcode(machine.program().code[last].op).name,
                     place_text(machine.site(home, c.other.thread, last))) +
         gap_text(x, Done{&home, c.other.thread, last});
}

void tell_unread(Core& x, int lane, const Block& block, const AsyncOperation& o, const Range& r,
                 const Conflict& c) {
  x.reports->note(x, lane, "read_overtaken", c.other.pc, [&] {
    Report report;
    report.sentence = fmt::format(
        "{} writes {} through the async proxy, which {} reads at {} and says to be done with "
        "before "
        "it has used the value, with no fence.proxy.async since: the new bytes may be read",
        o.work->name, byte_text(x, {&block, nullptr}, c.offset), who_text(x, c.other),
        place_text(*x.machine, c.other));
    report.expected =
        "fence.proxy.async.shared::cta between the read and what tells of it, or a use of the "
        "value "
        "before";
    report.found = "a load that may still be under way (seen on an H200)";
    Evidence::Party mine =
        lane_at(x, lane, fmt::format("{} writes", o.work->name), place_of(block, r));
    add_pieces(mine, o.writes);
    report.evidence = collision(std::move(mine), earlier(x, {&block, nullptr}, c, "reads"));
    return report;
  });
}

}  // namespace

bool is_untold(const Model& machine, const Block& block, const AsyncOperation& o,
               std::uint32_t begin, std::uint32_t end) {
  Conflict c;
  const Observer& who = machine.issuer(block, o).order.of(o.thread / 32);
  return find_untold(machine, block, who, o.thread % 32, begin, end, c);
}

namespace {

// A store of what nobody has defined: should that lie in a result, it is told where it came from.
void note_undefined_source(Core& x, int lane, const Block& block, const AsyncOperation& o) {
  for (const Range& r : o.reads) {
    if (!block.shared.any_undefined(r.begin, r.end - r.begin)) continue;
    std::uint64_t at = r.begin;
    while (!block.shared.is_undefined(at)) ++at;
    const Origin before = x.warp->origin;
    x.warp->origin = {true, x.pc, static_cast<std::uint32_t>(lane), at, block.shared.kind(), 0};
    x.reports->note_undefined_store(x);
    x.warp->origin = before;
    return;
  }
}

// Another lane of the warp touched the same before, and the lane that issues this has not met it
// since: the operation is that lane's alone.
void tell_other_lane(Core& x, const Accessed& memory, const AsyncOperation& o, bool writes,
                     std::uint64_t begin, std::uint64_t end, const Shadow::LaneRace& race) {
  const auto lane = static_cast<int>(race.lane);
  x.reports->hazard(x, lane, "lane_race", race.other.pc, [&] {
    const char* verb = writes ? "writes" : "reads";
    Conflict c;
    c.lane = race.lane;
    c.offset = race.at;
    c.other = race.other;
    const std::string_view did = verb_of(c.other.kind);
    Report r;
    r.sentence = fmt::format(
        "{} of lane {} {} {}, which lane {} of the same warp {} at {}, and the two have not met "
        "since: lanes of a warp have no order of their own",
        o.work->name, race.lane, verb, byte_text(x, memory, race.at), c.other.thread % 32, did,
        place_text(*x.machine, c.other));
    r.expected = "bar.warp.sync (__syncwarp()), or a barrier, by both lanes between the two";
    r.found = "an order that this run has, and PTX does not promise";
    r.evidence = evidence_of(x, memory, lane, o.work->name, verb, begin, end, c);
    return r;
  });
}

// Is the operation that of one lane, whatever others of its warp are here? Those of a warpgroup are
// all lanes'.
bool is_of_one_lane(const Core& x) {
  return x.machine->program().code[x.pc].op != ptx::Op::wgmma;
}

}  // namespace

// The same of what an operation is going to read and write. It does so through the async proxy,
// which is told of a thread's own writes only by its fence.proxy.async (9.7.9.25.2).
void watch_operation(Core& x, int lane, Block& block, AsyncOperation& o) {
  if (is_store(o) && &block == x.block) note_undefined_source(x, lane, block, o);
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
    tell_unordered(x, {&block, nullptr}, lane, o.work->name, kind, r.begin, r.end,
                   conflict_of(*x.machine, who, pass.other(), pass.at()));
    return true;
  };
  // Before it is noted, and told where nothing else is: other warps tell of the same gap.
  const auto other_lane = [&](const Range& r, bool writes) {
    std::optional<Shadow::LaneRace> out(std::in_place);
    const bool found = &block == x.block && is_of_one_lane(x) &&
                       block.order.shared.find_other_lane(who, static_cast<std::uint32_t>(lane),
                                                          writes, r.begin, r.end, *out);
    return found ? out : std::nullopt;
  };
  const auto tell_untold = [&](const Range& r, const Conflict& c, bool reads) {
    x.reports->hazard(x, lane, "missing_proxy_fence", c.other.pc, [&] {
      const char* verb = reads ? "reads" : "writes";
      Report report;
      report.sentence = fmt::format(
          "{} {} {} through the async proxy, but {} wrote it at {} and {}: the old bytes may be {}",
          o.work->name, verb, byte_text(x, {&block, nullptr}, c.offset), who_text(x, c.other),
          place_text(*x.machine, c.other),
          c.fenced_by_lane
              ? "the fence.proxy.async since is another lane's than the one that issues this, and "
                "the two have not met behind it"
          : c.fenced_too_late ? "executed its fence.proxy.async only behind what was waited for"
                              : "executed no fence.proxy.async since",
          reads ? "read" : "the last");
      report.expected =
          "fence.proxy.async.shared::cta by the threads that write, then a barrier; or behind it, "
          "by the thread that issues this";
      report.found = unfenced_text(x, block, c);
      Evidence::Party mine =
          lane_at(x, lane, fmt::format("{} {}", o.work->name, verb), place_of(block, r));
      add_pieces(mine, reads ? o.reads : o.writes);
      report.evidence = collision(std::move(mine), earlier(x, {&block, nullptr}, c, "writes"));
      return report;
    });
  };
  // st.async and red.async go the generic way (9.7.9.25.2 names bulk copies alone).
  const ptx::Op op = x.machine->program().code[x.pc].op;
  const bool generic = op == ptx::Op::st || op == ptx::Op::red;
  for (const Range& r : o.writes) {
    const auto near = other_lane(r, true);
    Conflict c;
    Conflict unread;
    const bool untold =
        !generic && find_untold(*x.machine, block, who, o.thread % 32, r.begin, r.end, c);
    const bool is_unread = !generic && find_unread(*x.machine, block, who, r.begin, r.end, unread);
    const bool races = pass_over(r, o.work->adds ? Shadow::Kind::atomic : Shadow::Kind::write);
    if (near && !races) tell_other_lane(x, {&block, nullptr}, o, true, r.begin, r.end, *near);
    if (untold && !races) tell_untold(r, c, false);
    if (is_unread && !races) tell_unread(x, lane, block, o, r, unread);
  }
  for (const Range& r : o.reads) {
    const auto near = other_lane(r, false);
    Conflict c;
    if (pass_over(r, Shadow::Kind::read)) continue;
    if (near) tell_other_lane(x, {&block, nullptr}, o, false, r.begin, r.end, *near);
    if (find_untold(*x.machine, block, who, o.thread % 32, r.begin, r.end, c))
      tell_untold(r, c, true);
  }
}

namespace {

// The first byte of [begin, end) that a bulk copy or reduction of another CTA has written, which is
// over for this warp, with no fence.proxy.async on the way here. Accesses through one proxy are in
// order by what orders their threads only within a CTA (8.9.5, "Proxy-preserved base causality
// order"). A write behind a read is let be: nobody reads what comes later.
bool find_copied(const Core& x, Shadow& accesses, std::uint64_t begin, std::uint64_t end,
                 Shadow::Kind kind, Conflict& out) {
  const Observer& who = x.block->order.of(x.warp->index);
  const Completions& all = x.machine->completions;
  const auto untold = [&](std::uint64_t at, const Shadow::Touch& by) {
    if (!by.async || !by.operation || by.home.block == who.home().block) return false;
    if (all.in_flight(by.operation) || !all.is_seen(by.operation, who)) return false;
    if (who.is_told_of_global(all.on(by.operation), all.epoch(by.operation))) return false;
    out.offset = at;
    out.other = by;
    return true;
  };
  return accesses.any_writer(begin, end,
                             [&](std::uint64_t first, std::uint64_t, const Shadow::Touch& by) {
                               return untold(first, by);
                             }) ||
         (kind != Shadow::Kind::atomic &&
          accesses.any_other(begin, end, [&](std::uint64_t at, const Shadow::Touch& by) {
            return by.kind == Shadow::Kind::atomic && untold(at, by);
          }));
}

void tell_copied(Core& x, int lane, const Region& region, const AsyncOperation& o,
                 const GlobalRange& piece, const Conflict& c) {
  x.reports->hazard(x, lane, "missing_proxy_fence", c.other.pc, [&] {
    const Accessed memory{nullptr, &region};
    const bool reads = o.work->global == GlobalUse::reads;
    const std::uint64_t begin = piece.begin - region.base(), end = piece.end - region.base();
    Report r;
    r.sentence = fmt::format(
        "{} {} {} through the async proxy, which {} {} through it at {}, with no fence.proxy.async "
        "on the way: of two CTAs' copies the old bytes may be {}",
        o.work->name, reads ? "reads" : "writes", byte_text(x, memory, c.offset),
        who_text(x, c.other), verb_of(c.other.kind), place_text(*x.machine, c.other),
        reads ? "read" : "the last");
    r.expected =
        "fence.proxy.async or fence.proxy.async.global behind the wait for the one, by whoever "
        "waits, or before the other (PTX ISA 8.9.5)";
    r.found = "a release and an acquire, which order the generic proxy alone";
    r.evidence =
        evidence_of(x, memory, lane, o.work->name, reads ? "reads" : "writes", begin, end, c);
    return r;
  });
}

}  // namespace

// One that nobody can wait for is not followed.
void watch_operation(Core& x, int lane, Region& region, AsyncOperation& o) {
  const GlobalUse use = o.work->global;
  if (x.machine->access_log) {
    const auto how = use == GlobalUse::reads     ? AccessLog::How::read
                     : use == GlobalUse::reduces ? AccessLog::How::strong_write
                                                 : AccessLog::How::write;
    const bool early = is_early(x);
    o.work->pieces(o, [&](const GlobalRange& piece) {
      x.machine->access_log->add(how, piece.begin, piece.end, early);
      return true;
    });
  }
  if (o.group == no_group && o.mbarrier == no_mbarrier) return;
  const Observer& who = observer(x);
  o.global_order = x.machine->completions.begin();
  Shadow::Touch touch;
  touch.kind = use == GlobalUse::reads     ? Shadow::Kind::read
               : use == GlobalUse::reduces ? Shadow::Kind::atomic
                                           : Shadow::Kind::write;
  touch.strong = touch.kind == Shadow::Kind::atomic;
  touch.scope = Scope::gpu;  // of reductions (9.7.9.25.4.2)
  touch.async = true;
  touch.home = who.home();
  touch.operation = o.global_order;
  touch.thread = x.warp->index * 32 + static_cast<std::uint32_t>(lane);
  touch.pc = x.pc;
  Shadow& accesses = x.machine->accesses_of(region);
  const bool writes = use != GlobalUse::reads;
  Shadow::LaneRace race;
  o.work->pieces(o, [&](const GlobalRange& piece) {
    const std::uint64_t begin = piece.begin - region.base(), end = piece.end - region.base();
    if (!accesses.find_other_lane(who, static_cast<std::uint32_t>(lane), writes, begin, end, race))
      return true;
    tell_other_lane(x, {nullptr, &region}, o, writes, begin, end, race);
    return false;
  });
  if (x.machine->global_watch.watches_proxies() && region.was_written()) {
    Conflict c;
    o.work->pieces(o, [&](const GlobalRange& piece) {
      if (!find_copied(x, accesses, piece.begin - region.base(), piece.end - region.base(),
                       touch.kind, c)) {
        return true;
      }
      tell_copied(x, lane, region, o, piece, c);
      return false;
    });
  }
  Shadow::Pass pass(accesses, who, x.machine->completions, touch);
  bool told = false;
  o.work->pieces(o, [&](const GlobalRange& piece) {
    const std::uint64_t begin = piece.begin - region.base(), end = piece.end - region.base();
    if (x.machine->order_log && use != GlobalUse::reads) {
      x.machine->order_log->use_region(region.base(), begin, end, true);
    }
    if (!pass.touch(begin, end) || told) return true;
    told = true;
    tell_unordered(x, {nullptr, &region}, lane, o.work->name, touch.kind, begin, end,
                   conflict_of(*x.machine, who, pass.other(), pass.at()));
    return true;
  });
}

void watch_map_use(Core& x, int lane, Region& region, std::uint64_t offset,
                   const AsyncOperation& o) {
  constexpr std::uint64_t bytes = 128;
  const Observer& who = observer(x);
  Shadow::Touch touch;
  touch.home = who.home();
  touch.operation = o.order;
  touch.thread = x.warp->index * 32 + static_cast<std::uint32_t>(lane);
  touch.pc = x.pc;
  Shadow::Pass pass(x.machine->accesses_of(region), who, x.machine->completions, touch);
  if (!pass.touch(offset, offset + bytes)) return;
  tell_unordered(x, {nullptr, &region}, lane, o.work->name, touch.kind, offset, offset + bytes,
                 conflict_of(*x.machine, who, pass.other(), pass.at()));
}

}  // namespace tilescope::sim
