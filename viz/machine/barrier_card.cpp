#include "viz/machine/barrier_card.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

#include "core/run/deadlock_cause.h"
#include "core/sim/stepping/find_block.h"
#include "core/sim/time/wait.h"
#include "viz/scene/items.h"
#include "viz/scene/number_words.h"
#include "viz/scene/site_words.h"

namespace tilescope {
namespace {

using u32 = std::uint32_t;
using CardLines = std::vector<BarrierCard::Line>;

constexpr double row = 20, bar_height = 16, label_width = 96;
constexpr std::size_t most_lines = 4;  // of those who came, or wait, or are missing

std::string look_at_line(std::uint64_t block, u32 warp, const Site& site) {
  const RunCursor::SourceLine line =
      site.caller_line   ? RunCursor::SourceLine{site.caller, site.caller_line}
      : site.source_line ? RunCursor::SourceLine{site.source, site.source_line}
                         : RunCursor::SourceLine{"", site.ptx_line};
  return fmt::format("look block {} warp {} line {} in source", block, warp, text(line));
}

std::string lanes_words(u32 mask) {
  if (mask == ~0u) return "all lanes";
  std::vector<u32> lanes;
  for (u32 lane = 0; lane < 32; ++lane) {
    if (mask >> lane & 1) lanes.push_back(lane);
  }
  return fmt::format("{} {}", lanes.size() == 1 ? "lane" : "lanes", numbers_text(lanes));
}

// No more than a few of a kind; how many others there are stands in the last.
void add_some(CardLines& out, CardLines some) {
  const std::size_t all = some.size();
  if (all > most_lines) some.resize(most_lines - 1);
  for (std::size_t i = 1; i < some.size(); ++i) some[i].label.clear();
  for (BarrierCard::Line& line : some) out.push_back(std::move(line));
  if (all > most_lines) {
    out.push_back({"", fmt::format("and {} more", all - most_lines + 1), "", false});
  }
}

// ---- mbarriers ----

BarrierCard::Line attendance_line(const sim::Machine& machine, const sim::Block& block,
                                  const sim::Attendance& who, std::string label,
                                  bool waits = false) {
  const sim::Block* home = machine.member(block, who.rank);
  const sim::Block& of = home && !waits ? *home : block;
  const Site site = machine.site(of, who.warp * 32, who.pc);
  std::string text =
      fmt::format("warp {}, {}, at {}", who.warp, lanes_words(who.mask), place_words(site));
  if (of.number != block.number) text += fmt::format(", of CTA {}", of.number);
  if (waits) text += fmt::format(", for phase {}", who.phase);
  return {std::move(label), std::move(text), look_at_line(of.number, who.warp, site), false};
}

// Who came in the phase before, and not in this one.
std::vector<sim::Attendance> absent(const sim::MbarrierState& b) {
  std::vector<sim::Attendance> out;
  for (sim::Attendance before : b.arrived_before) {
    for (const sim::Attendance& now : b.arrived) {
      if (now.warp == before.warp && now.rank == before.rank) before.mask &= ~now.mask;
    }
    if (before.mask) out.push_back(before);
  }
  return out;
}

// Of the run that nobody goes on with: what its cause says of this mbarrier. Null: nothing.
const DeadlockCause::WaitedFor* told_of(const sim::Machine& machine, const sim::Block& block,
                                        const sim::MbarrierState& b) {
  using Of = DeadlockCause::WaitedFor::Of;
  const auto& reports = machine.reports();
  if (reports.empty() || !reports.back().deadlock) return nullptr;
  for (const auto& each : reports.back().deadlock->barriers) {
    const bool same = each.of == Of::mbarrier && each.block == block.number &&
                      each.object == b.offset && each.phase == b.phase;
    if (same) return &each;
  }
  return nullptr;
}

// Who could have arrived, and why they did not.
CardLines could_have_come(const sim::Machine& machine, const sim::Block& block,
                          const DeadlockCause::WaitedFor& told) {
  const DeadlockCause& cause = *machine.reports().back().deadlock;
  CardLines out;
  for (const DeadlockCause::Source& source : told.sources) {
    for (const DeadlockCause::NotCome& why : source.not_come) {
      if (!source.arrives) continue;
      const sim::Block* home = machine.member(block, why.warps.rank);
      const auto warp = static_cast<u32>(std::countr_zero(why.warps.mask | std::uint64_t{1} << 63));
      out.push_back({"",
                     fmt::format("{} by {}, at {}: {}", source.opcode, warps_text(cause, why),
                                 place_words(source.site), why_text(cause, why)),
                     look_at_line((home ? *home : block).number, warp, source.site), false});
    }
  }
  return out;
}

// `lacks`: they are what keeps the run from going on.
void add_missing(const sim::Machine& machine, const sim::Block& block, const sim::MbarrierState& b,
                 bool lacks, CardLines& out) {
  if (b.pending == 0) return;
  const std::vector<sim::Attendance> who = absent(b);
  std::string text = fmt::format("{} of {} arrivals", b.pending, std::max(b.pending, b.expected));
  const auto* told = who.empty() ? told_of(machine, block, b) : nullptr;
  CardLines some;
  if (told) some = could_have_come(machine, block, *told);
  if (!some.empty()) {
    text += ", which could come by:";
  } else if (who.empty()) {
    text += b.phase == 0 ? ": it is the first phase, so nothing is known of who arrives"
                         : ": all who came in the phase before have come";
  } else {
    text += fmt::format("; who came in phase {}, but not in this one:", b.phase - 1);
  }
  out.push_back({lacks ? "missing" : "to come", std::move(text), "", lacks});
  for (const sim::Attendance& each : who) {
    some.push_back(attendance_line(machine, block, each, ""));
    some.back().wrong = lacks;
  }
  add_some(out, std::move(some));
}

// Operations of the cluster that are to complete on it.
CardLines bringing(const sim::Machine& machine, const sim::Block& block, u32 offset) {
  CardLines out;
  for (u32 rank = 0; rank < machine.cluster_size(); ++rank) {
    const sim::Block* home = machine.member(block, rank);
    if (!home) continue;
    for (const sim::AsyncOperation& o : home->flight.operations) {
      if (o.mbarrier != offset || o.stage == sim::Stage::complete || o.leader != sim::no_leader ||
          !o.arrives_at(block.rank, rank)) {
        continue;
      }
      const sim::Block& by = machine.issuer(*home, o);
      const Site site = machine.site(by, o.thread, o.pc);
      std::string text =
          fmt::format("{} of warp {}, at {}", o.work->name, o.thread / 32, place_words(site));
      if (o.transactions) {
        text += fmt::format(": {} bytes", grouped(std::uint64_t{o.transactions}));
      }
      out.push_back(
          {"in flight", std::move(text), look_at_line(by.number, o.thread / 32, site), false});
    }
  }
  return out;
}

void add_bytes(const sim::MbarrierState& b, bool any_in_flight, CardLines& out) {
  if (b.bytes > 0) {
    out.push_back(
        {"bytes",
         fmt::format("{} are still to come{}", grouped(static_cast<std::uint64_t>(b.bytes)),
                     any_in_flight ? "" : ", and nothing in flight brings them"),
         "", !any_in_flight});
  } else if (b.bytes < 0) {
    out.push_back({"bytes",
                   fmt::format("{} arrived that were not expected",
                               grouped(static_cast<std::uint64_t>(-b.bytes))),
                   "", true});
  }
}

// For which phase who is at fault has waited here. A later one may have been meant, or the product
// has begun too early: red is what cannot have been meant, a wait for nothing.
void add_passed(const sim::Machine& machine, const sim::Block& block, const sim::MbarrierState& b,
                const Report* report, CardLines& out) {
  if (!report || report->kind != "tmem_in_use" || report->evidence.mbarrier != b.offset) return;
  const u32 warp = report->site.warp;
  if (warp >= block.warps.size()) return;
  for (const sim::Split& s : block.warps[warp].splits) {
    if (s.mbarrier != b.offset || !(s.mask >> report->site.lane & 1)) continue;
    const bool first = s.phase + 1 == 0;
    out.push_back(
        {"passed",
         fmt::format("warp {} waited here last, for {}", warp,
                     first ? "the phase before the first, which is over from the beginning"
                           : fmt::format("phase {}, which was complete", s.phase)),
         look_at_line(block.number, warp, machine.site(block, warp * 32, s.pc)), first});
  }
}

BarrierCard card_of(const sim::Machine& machine, const sim::Block& block,
                    const sim::MbarrierState& b, const Report* report) {
  const bool lacks = report && report->kind == "deadlock";
  BarrierCard card;
  card.lacks = lacks;
  card.expected = std::max(b.pending, b.expected);
  card.came = card.expected - b.pending;
  card.title = fmt::format("{}, phase {}: {} of {} arrivals have come", readable(b.name), b.phase,
                           card.came, card.expected);
  card.title.front() = 'T';
  CardLines came;
  for (const sim::Attendance& each : b.arrived) {
    came.push_back(attendance_line(machine, block, each, "came"));
  }
  if (lacks) add_missing(machine, block, b, lacks, card.lines);
  add_some(card.lines, std::move(came));
  if (!lacks) add_missing(machine, block, b, lacks, card.lines);
  CardLines flight = bringing(machine, block, b.offset);
  add_bytes(b, !flight.empty(), card.lines);
  add_some(card.lines, std::move(flight));
  CardLines waiting;
  for (const sim::Attendance& each : b.waiting) {
    waiting.push_back(attendance_line(machine, block, each, "waiting", true));
  }
  add_some(card.lines, std::move(waiting));
  add_passed(machine, block, b, report, card.lines);
  return card;
}

// ---- barriers of threads ----

// What a warp does that is not there.
std::string elsewhere(const sim::WarpState& warp) {
  if (!warp.live || warp.splits.empty()) return "has exited";
  const sim::SplitState& split = *sim::speaking_split(warp.splits);
  if (!split.why.empty()) return fmt::format("waits at {}: {}", place_words(split.site), split.why);
  return "is at " + place_words(split.site);
}

void add_warps(const sim::Machine& machine, std::uint64_t block, const std::set<u32>& there,
               CardLines& out) {
  CardLines came, missing;
  for (const sim::WarpState& warp : sim::warps_of(machine, block)) {
    const bool is_there = there.count(warp.index) != 0;
    const Site site = warp.splits.empty() ? Site{} : warp.splits.front().site;
    std::string text = fmt::format("warp {} of CTA {}", warp.index, block);
    text += is_there ? " at " + place_words(site) : " " + elsewhere(warp);
    CardLines& to = is_there ? came : missing;
    to.push_back({is_there ? "there" : "not there", std::move(text),
                  warp.splits.empty() ? "" : look_at_line(block, warp.index, site), !is_there});
  }
  add_some(out, std::move(came));
  add_some(out, std::move(missing));
}

BarrierCard card_of(const sim::Machine& machine, std::uint64_t block, const sim::BarrierState& b) {
  BarrierCard card;
  card.came = b.arrived;
  card.expected = b.expected;
  card.title = fmt::format("Barrier {} of the CTA's threads: {} of {} are there", b.number,
                           b.arrived, b.expected);
  add_warps(machine, block, {b.waiting.begin(), b.waiting.end()}, card.lines);
  return card;
}

std::optional<BarrierCard> cluster_card(const sim::Machine& machine, const sim::Block& block) {
  BarrierCard card;
  for (u32 rank = 0; rank < machine.cluster_size(); ++rank) {
    const sim::Block* each = machine.member(block, rank);
    if (!each) continue;
    std::set<u32> there;
    for (const sim::Warp& warp : each->warps) {
      card.expected += static_cast<u32>(__builtin_popcount(warp.live));
      card.came += static_cast<u32>(__builtin_popcount(warp.live & warp.cluster_arrived));
      if (warp.live && (warp.live & ~warp.cluster_arrived) == 0) there.insert(warp.index);
    }
    add_warps(machine, each->number, there, card.lines);
  }
  if (card.came == 0) return {};
  card.title = fmt::format("The barrier of the cluster's threads: {} of {} are there", card.came,
                           card.expected);
  return card;
}

// How many came, and how many are missing, as a bar in so many parts.
void draw_bar(Scene& scene, const BarrierCard& card, const Box& room) {
  const u32 missing = card.expected - std::min(card.came, card.expected);
  const double part = room.width / std::max(1u, card.expected);
  const auto piece = [&](u32 from, u32 count, const std::optional<Ink>& fill, const Stroke& edge) {
    if (count == 0) return;
    scene.add(Rectangle{{room.x + from * part, room.y, count * part, room.height}, fill, edge, 0});
  };
  piece(0, card.came, Ink(Role::accent, 0.5), {Role::accent, 1, false});
  const Role edge = card.lacks ? Role::wrong : Role::quiet;
  piece(card.came, missing, Ink(edge, 0.12), {edge, 1, true});
  Segments between_parts;
  between_parts.stroke = {Role::paper, 1, false};
  for (u32 i = 1; part >= 6 && i < card.expected; ++i) {
    const double x = room.x + i * part;
    between_parts.lines.push_back({{x, room.y}, {x, room.bottom()}});
  }
  scene.add(std::move(between_parts));
}

}  // namespace

std::string readable(std::string name) {
  const std::size_t open = name.find("(_Z");
  if (open == std::string::npos) return name;
  const std::size_t end = std::min(name.find('+', open), name.find(')', open));
  if (end == std::string::npos) return name;
  // The last identifier stands behind its length: "6shared".
  for (std::size_t at = open + 3; at < end; ++at) {
    const std::size_t begin = name.find_first_not_of("0123456789", at);
    if (begin == at || begin >= end) continue;
    if (name.substr(at, begin - at) == fmt::format("{}", end - begin)) {
      return name.erase(open + 1, begin - open - 1);
    }
  }
  return name;
}

std::string numbers_text(const std::vector<u32>& numbers) {
  std::string out;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    out += out.empty() ? "" : ", ";
    out += last > i + 1 ? fmt::format("{} to {}", numbers[i], numbers[last])
                        : fmt::format("{}", numbers[i]);
    if (last > i + 1) i = last;
  }
  return out;
}

namespace {

// Who is not there yet may still come: nothing is wrong before the machine has stopped with it.
BarrierCard quietly(BarrierCard card, const sim::Machine& machine) {
  if (machine.faulted()) return card;
  card.lacks = false;
  for (BarrierCard::Line& line : card.lines) line.wrong = false;
  return card;
}

}  // namespace

std::optional<BarrierCard> barrier_card(const MachineShown& shown) {
  const sim::Machine& machine = shown.machine();
  const sim::Block* block = sim::find_block(machine, shown.spot.block);
  if (!block) return {};
  const Report* report = report_looked_at(shown.run, shown.spot);
  if (shown.spot.barrier) {
    for (const sim::MbarrierState& b : sim::mbarriers_of(machine, block->number)) {
      if (b.offset == *shown.spot.barrier) return card_of(machine, *block, b, report);
    }
  }
  const bool named = report && report->evidence.place.of == Evidence::Place::Of::barrier;
  for (const sim::BarrierState& b : sim::barriers_of(machine, block->number)) {
    if (!named || b.number == report->evidence.place.begin) {
      return quietly(card_of(machine, block->number, b), machine);
    }
  }
  std::optional<BarrierCard> card = cluster_card(machine, *block);
  if (card) *card = quietly(std::move(*card), machine);
  return card;
}

double height_of(const BarrierCard& card) {
  return static_cast<double>(card.lines.size()) * row + row + bar_height + 3 * inside;
}

void draw(Scene& scene, const BarrierCard& card, const Box& room) {
  scene.begin("barrier looked at", room);
  Line edge;
  edge.points = {{room.x, room.y + 0.5}, {room.right(), room.y + 0.5}};
  edge.stroke = {Role::line, 1, false};
  scene.add(edge);
  const double x = room.x + between, width = room.width - 2 * between;
  double y = room.y + inside + row / 2;
  scene.add(words({x, y}, fitted(card.title, width, small_text, Family::sans, FontWeight::bold),
                  Role::text, FontWeight::bold));
  y = room.y + inside + row + 4;
  draw_bar(scene, card, {x, y, std::min(width, 480.0), bar_height});
  y += bar_height + 4;
  for (const BarrierCard::Line& line : card.lines) {
    const Box at{room.x, y, room.width, row};
    scene.add(words({x, y + row / 2}, line.label, Role::quiet));
    scene.add(words({x + label_width, y + row / 2},
                    begin_of(line.text, width - label_width, Family::sans),
                    line.wrong ? Role::wrong : Role::text));
    if (!line.command.empty()) {
      scene.targets.push_back({at, line.command, "shows the line of the source"});
    }
    y += row;
  }
  scene.end();
}

}  // namespace tilescope
