#include "viz/why/deadlock_scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "viz/scene/items.h"
#include "viz/scene/number_words.h"
#include "viz/scene/site_words.h"

namespace tilescope {
namespace {

using Cause = DeadlockCause;
using Why = DeadlockCause::Why;

constexpr double line = 18, gap = 12, edge_room = 40;
constexpr std::size_t most_sources = 4, most_reasons = 3;

// The columns: who waits, for what, who could have brought it; and the edge for lines between rows.
struct Columns {
  Box waiters, barriers, sources;
  double edge = 0;
};
Columns columns_of(const Box& room) {
  const double all = room.width - 2 * between - edge_room;
  const double arrows = std::min(48.0, all * 0.06);
  const double rest = all - 2 * arrows;
  Columns out;
  out.waiters = {room.x + between, room.y, rest * 0.27, room.height};
  out.barriers = {out.waiters.right() + arrows, room.y, rest * 0.23, room.height};
  out.sources = {out.barriers.right() + arrows, room.y, rest * 0.5, room.height};
  out.edge = out.sources.right();
  return out;
}

// "look block 0 warp 4 line kernels/a.cu:52 in source"
std::string look_command(std::uint64_t block, std::uint32_t warp, const Site& site) {
  const std::string at = site.caller_line   ? fmt::format("{}:{}", site.caller, site.caller_line)
                         : site.source_line ? fmt::format("{}:{}", site.source, site.source_line)
                                            : fmt::format("ptx:{}", site.ptx_line);
  return fmt::format("look block {} warp {} line {} in source", block, warp, at);
}

std::uint32_t first_warp(const Cause::Warps& warps) {
  return warps.mask ? static_cast<std::uint32_t>(__builtin_ctzll(warps.mask)) : 0;
}

// Opcodes without what says how: "tcgen05.commit", "mbarrier.arrive.expect_tx".
std::string short_opcode(const std::string& opcode) {
  const std::size_t end =
      std::min({opcode.find("::"), opcode.find(".shared"), opcode.find(".cta_group"),
                opcode.find(".release"), opcode.find(".relaxed"), opcode.find(".b64")});
  std::string out = opcode.substr(0, end);
  if (opcode.rfind("cp.async.bulk.tensor", 0) == 0) return "cp.async.bulk.tensor";
  return out;
}

struct Words {
  std::string text;
  Role role = Role::text;
  bool bold = false, mono = false;
};
struct Card {
  std::vector<Words> lines;
  std::string command, hint;
  bool wrong = false;
  double height() const { return static_cast<double>(lines.size()) * line + 12; }
};

void add_wrapped(Card& card, const std::string& text, double width, Role role, std::size_t most) {
  for (std::string& each : wrapped(text, width - 2 * inside, most)) {
    card.lines.push_back({std::move(each), role, false, false});
  }
}

// The same as why_text(), with places as short as views have them.
std::string short_why(const Cause& cause, const Cause::NotCome& n) {
  const std::string who = warps_text(cause, n);
  const bool one = is_one(n);
  const std::string done =
      n.phases ? fmt::format(", after {} executed it in {} phase{}", one ? "it" : "they", n.phases,
                             n.phases == 1 ? "" : "s")
               : "";
  switch (n.why) {
    case Why::waits:
      return fmt::format(
          "{} {} at {}{}{}", who, one ? "waits itself" : "wait themselves", place_words(n.site),
          n.waits_for == Cause::none ? std::string()
                                     : fmt::format(" for {}", cause.barriers[n.waits_for].name),
          done);
    case Why::branch:
      return fmt::format("{}: the branch at {} {}{}{}", who, place_words(n.site),
                         n.phases || n.been ? "led on from there" : "went the other way",
                         n.detail.empty() ? "" : ", " + n.detail, done);
    case Why::predicate:
      return fmt::format("{}: {}{}", who, n.detail, done);
    case Why::left:
      if (n.been && !n.phases && n.detail != "exited") {
        return fmt::format("{} {} executed it before", who, one ? "has" : "have");
      }
      return fmt::format("{} {} {}{}", who, one ? "has" : "have",
                         n.detail == "exited" ? "exited" : "gone past it", done);
    case Why::elsewhere:
      return fmt::format("{}: executed on {}", who, n.detail);
    case Why::skipped:
      return fmt::format("{} left it out in its turn, for {}{}", who, n.detail, done);
    case Why::came:
      return fmt::format("{} came in this phase", who);
    default:
      return who + ": why could not be told";
  }
}

Card waiter_card(const Cause& cause, const Cause::Waiting& w, double width) {
  Card out;
  out.lines.push_back({warps_text(cause, w.warps), Role::text, true, false});
  out.lines.push_back({place_words(w.site), Role::quiet, false, false});
  if (!w.words.empty()) add_wrapped(out, short_opcode(w.opcode) + w.words, width, Role::text, 3);
  out.hint = place_text(w.site);
  return out;
}

Card barrier_card(const Cause::WaitedFor& b, bool in_cycle, double width) {
  Card out;
  const bool mbarrier = b.of == Cause::WaitedFor::Of::mbarrier;
  const std::size_t of_another = b.name.find(" of ");
  out.lines.push_back({b.name.substr(0, of_another), Role::text, true, true});
  if (of_another != std::string::npos) {
    out.lines.push_back({b.name.substr(of_another + 1), Role::text, false, false});
  }
  if (mbarrier) {
    out.lines.push_back(
        {fmt::format("phase {}, parity {}", b.phase, b.phase % 2), Role::quiet, false, false});
  }
  if (b.pending) {
    add_wrapped(out,
                fmt::format("lacks {} of {} {}{}", b.pending, b.count,
                            mbarrier ? "arrival" : "thread", b.count == 1 ? "" : "s"),
                width, Role::wrong, 2);
  }
  if (b.bytes > 0) {
    add_wrapped(out, fmt::format("lacks {} bytes", grouped(static_cast<std::uint64_t>(b.bytes))),
                width, Role::wrong, 2);
  }
  if (b.bytes < 0) {
    add_wrapped(out,
                fmt::format("{} bytes too many", grouped(static_cast<std::uint64_t>(-b.bytes))),
                width, Role::wrong, 2);
  }
  out.wrong = in_cycle;
  if (b.made.ptx_line || b.made.source_line) {
    out.hint = "mbarrier.init at " + place_text(b.made);
    out.command = look_command(b.block, b.made.warp, b.made);
  }
  return out;
}

// Of an unrolled loop, one place of the source is several instructions: " (copy 2 of 4)".
std::string copy_words(const Cause::WaitedFor& b, const Cause::Source& s) {
  std::size_t number = 0, all = 0;
  for (const Cause::Source& other : b.sources) {
    if (other.opcode != s.opcode || place_words(other.site) != place_words(s.site)) continue;
    ++all;
    if (other.pc <= s.pc) ++number;
  }
  return all > 1 ? fmt::format(" (copy {} of {})", number, all) : std::string();
}

Card source_card(const Cause& cause, const Cause::WaitedFor& b, const Cause::Source& s,
                 double width) {
  Card out;
  std::string head = fmt::format("{}, {}", short_opcode(s.opcode), place_words(s.site));
  head += copy_words(b, s);
  if (s.bytes) head += fmt::format(": {} bytes", grouped(s.bytes));
  out.lines.push_back({head, Role::text, true, false});
  for (std::size_t i = 0; i < std::min(s.not_come.size(), most_reasons); ++i) {
    const Cause::NotCome& n = s.not_come[i];
    add_wrapped(out, short_why(cause, n), width, n.why == Why::came ? Role::quiet : Role::text, 3);
  }
  if (s.not_come.size() > most_reasons) {
    out.lines.push_back(
        {fmt::format("and {} more", s.not_come.size() - most_reasons), Role::quiet, false, false});
  }
  out.hint = s.opcode + " at " + place_text(s.site);
  const std::uint32_t warp = s.not_come.empty() ? 0 : first_warp(s.not_come.front().warps);
  out.command = look_command(b.block, warp, s.site);
  return out;
}

struct Row {
  std::vector<Card> waiters, sources;
  std::vector<const Cause::Source*> of;  // of each of `sources`; null: it is of several or none
  std::optional<Card> barrier;
  double height = 0;
};

// "hgemm_v8.cu:78, hgemm_v8.cu:79 (2)": a place each, with how many instructions it has.
std::string places_of(const std::vector<const Cause::Source*>& sources) {
  std::vector<std::pair<std::string, int>> places;
  for (const Cause::Source* source : sources) {
    const std::string place = place_words(source->site);
    const auto known =
        std::find_if(places.begin(), places.end(), [&](const auto& p) { return p.first == place; });
    if (known == places.end()) {
      places.emplace_back(place, 1);
    } else {
      ++known->second;
    }
  }
  std::string out;
  for (const auto& [place, count] : places) {
    out += fmt::format("{}{}{}", out.empty() ? "" : ", ", place,
                       count > 1 ? fmt::format(" ({})", count) : "");
  }
  return out;
}

// It was on other barriers: that says more than that it may be on this one.
bool was_elsewhere(const Cause::Source& source) {
  return std::any_of(source.not_come.begin(), source.not_come.end(),
                     [](const Cause::NotCome& n) { return n.why == Why::elsewhere; });
}

void add_sources(Row& row, const Cause& cause, const Cause::WaitedFor& b, double width) {
  const auto sentence = [&](const std::string& text, Role role) {
    Card card;
    add_wrapped(card, text, width, role, 4);
    row.sources.push_back(std::move(card));
    row.of.push_back(nullptr);
  };
  const bool certain = std::any_of(b.sources.begin(), b.sources.end(),
                                   [](const Cause::Source& source) { return source.certain; });
  if (!certain) {
    sentence(b.sources.empty()
                 ? "No instruction that was executed, or is still ahead of a warp, arrives here."
                 : "No instruction is known to arrive here.",
             Role::wrong);
  }
  std::vector<const Cause::Source*> more;
  for (const Cause::Source& source : b.sources) {
    if ((source.certain || was_elsewhere(source)) && row.sources.size() < most_sources) {
      row.sources.push_back(source_card(cause, b, source, width));
      row.of.push_back(&source);
    } else {
      more.push_back(&source);
    }
  }
  if (more.empty()) return;
  if (certain) {
    sentence(fmt::format("and {} more: {}", more.size(), places_of(more)), Role::quiet);
  } else {
    sentence(fmt::format("These may, as their address could not be told: {}", places_of(more)),
             Role::quiet);
  }
}

double stack_height(const std::vector<Card>& cards) {
  double out = 0;
  for (const Card& card : cards) out += card.height() + (out > 0 ? gap : 0);
  return out;
}

bool in_cycle(const Cause& cause, std::size_t barrier) {
  return std::count(cause.cycle.begin(), cause.cycle.end(), barrier) != 0;
}

std::vector<Row> rows_of(const Cause& cause, const Columns& columns) {
  std::vector<Row> out;
  for (std::size_t i = 0; i < cause.barriers.size(); ++i) {
    const Cause::WaitedFor& b = cause.barriers[i];
    Row row;
    row.barrier = barrier_card(b, in_cycle(cause, i), columns.barriers.width);
    for (const Cause::Waiting& w : cause.waiting) {
      if (w.waits_for != i) continue;
      row.waiters.push_back(waiter_card(cause, w, columns.waiters.width));
      row.waiters.back().command = look_command(b.block, first_warp(w.warps), w.site);
    }
    add_sources(row, cause, b, columns.sources.width);
    row.height =
        std::max({row.barrier->height(), stack_height(row.waiters), stack_height(row.sources)});
    out.push_back(std::move(row));
  }
  Row others;  // who waits for something else
  for (const Cause::Waiting& w : cause.waiting) {
    if (w.waits_for == Cause::none)
      others.waiters.push_back(waiter_card(cause, w, columns.sources.width));
  }
  others.height = stack_height(others.waiters);
  if (!others.waiters.empty()) out.push_back(std::move(others));
  return out;
}

Box draw_card(Scene& scene, const Card& card, Point at, double width) {
  Rectangle back;
  back.box = {at.x, at.y, width, card.height()};
  back.radius = 4;
  back.fill = Ink(Role::panel);
  back.stroke = {card.wrong ? Role::wrong : Role::line, card.wrong ? 2.0 : 1.0, false};
  scene.add(back);
  double y = at.y + 6 + line / 2;
  for (const Words& w : card.lines) {
    const Family family = w.mono ? Family::mono : Family::sans;
    const FontWeight weight = w.bold && !w.mono ? FontWeight::bold : FontWeight::regular;
    scene.add(words({at.x + inside, y},
                    fitted(w.text, width - 2 * inside, small_text, family, weight), w.role, family,
                    weight));
    y += line;
  }
  if (!card.command.empty()) scene.targets.push_back({back.box, card.command, "shows its line"});
  if (!card.hint.empty()) scene.hints.push_back({back.box, card.hint});
  return back.box;
}

// Cards one below the other, in the middle of the row.
std::vector<Box> draw_stack(Scene& scene, const std::vector<Card>& cards, double x, double width,
                            double y, double height) {
  std::vector<Box> out;
  double at = y + (height - stack_height(cards)) / 2;
  for (const Card& card : cards) {
    out.push_back(draw_card(scene, card, {x, at}, width));
    at = out.back().bottom() + gap;
  }
  return out;
}

void arrow(Scene& scene, Point from, Point to, Role role, bool dashed, double width = 1.5) {
  Line l;
  l.points = {from, to};
  l.stroke = {role, width, dashed};
  l.arrow = true;
  scene.add(l);
}

// From the sources of one barrier to the barriers that their warps wait for, along the right edge.
void draw_links(Scene& scene, const Cause& cause, const std::vector<Row>& rows,
                const std::vector<std::vector<Box>>& sources, const std::vector<Box>& barriers,
                const Columns& columns) {
  std::size_t lane = 0;
  for (std::size_t b = 0; b < sources.size() && b < cause.barriers.size(); ++b) {
    std::vector<std::size_t> seen;  // one line from a barrier to another is enough
    for (std::size_t s = 0; s < sources[b].size(); ++s) {
      if (!rows[b].of[s]) continue;
      for (const Cause::NotCome& n : rows[b].of[s]->not_come) {
        if (n.why != Why::waits || n.waits_for >= barriers.size()) continue;
        if (std::count(seen.begin(), seen.end(), n.waits_for)) continue;
        seen.push_back(n.waits_for);
        const bool round = in_cycle(cause, b) && in_cycle(cause, n.waits_for);
        const double x = columns.edge + 10 + 6 * static_cast<double>(lane++ % 5);
        const Box& from = sources[b][s];
        const Box& to = barriers[n.waits_for];
        const bool down = n.waits_for > b;
        const double y = down ? to.y - 6 : to.bottom() + 6;
        const double into = to.centre().x + 20 + 8 * static_cast<double>(lane % 3);
        Line l;
        l.points = {{from.right(), from.centre().y},
                    {x, from.centre().y},
                    {x, y},
                    {into, y},
                    {into, down ? to.y : to.bottom()}};
        l.stroke = {round ? Role::wrong : Role::quiet, round ? 2.0 : 1.0, false};
        l.arrow = true;
        scene.add(l);
      }
    }
  }
}

void draw_headings(Scene& scene, const Columns& c, double y) {
  for (const auto& [box, text] :
       {std::pair(c.waiters, "who waits"), std::pair(c.barriers, "for what"),
        std::pair(c.sources, "what has not come, and why")}) {
    scene.add(words({box.x, y}, fitted(text, box.width, small_text, Family::sans), Role::quiet));
  }
}

}  // namespace

double deadlock_height(const Cause& cause, double width) {
  double out = 32;
  for (const Row& row : rows_of(cause, columns_of({0, 0, width, 0})))
    out += row.height + between_groups;
  return out;
}

void draw_deadlock(Scene& scene, const Cause& cause, const Box& room, double scrolled) {
  const Columns columns = columns_of(room);
  scene.begin("why nobody goes on", room);
  double y = room.y - scrolled + 16;
  draw_headings(scene, columns, y);
  y += 16;
  std::vector<Box> barriers;
  std::vector<std::vector<Box>> sources;
  Scene cards;  // over the lines between the rows
  const std::vector<Row> rows = rows_of(cause, columns);
  for (const Row& row : rows) {
    if (!row.barrier) {
      draw_stack(cards, row.waiters, columns.waiters.x, columns.sources.width, y, row.height);
      y += row.height + between_groups;
      continue;
    }
    cards.begin(row.barrier->lines.front().text);
    const std::vector<Box> waiters =
        draw_stack(cards, row.waiters, columns.waiters.x, columns.waiters.width, y, row.height);
    const Box barrier =
        draw_stack(cards, {*row.barrier}, columns.barriers.x, columns.barriers.width, y, row.height)
            .front();
    sources.push_back(
        draw_stack(cards, row.sources, columns.sources.x, columns.sources.width, y, row.height));
    barriers.push_back(barrier);
    const auto inner = [&](double at) {
      return std::clamp(at, barrier.y + 8, barrier.bottom() - 8);
    };
    for (const Box& w : waiters) {
      arrow(cards, {w.right(), w.centre().y}, {barrier.x, inner(w.centre().y)}, Role::text, false);
    }
    for (const Box& s : sources.back()) {
      arrow(cards, {s.x, s.centre().y}, {barrier.right(), inner(s.centre().y)}, Role::quiet, true);
    }
    cards.end();
    y += row.height + between_groups;
  }
  scene.begin("who waits for whom");
  draw_links(scene, cause, rows, sources, barriers, columns);
  scene.end();
  for (Item& item : cards.items) scene.add(std::move(item));
  scene.targets.insert(scene.targets.end(), cards.targets.begin(), cards.targets.end());
  scene.hints.insert(scene.hints.end(), cards.hints.begin(), cards.hints.end());
  scene.end();
}

Json describe_deadlock(const Cause& cause) {
  Json barriers = Json::array();
  for (const Cause::WaitedFor& b : cause.barriers) {
    Json sources = Json::array();
    for (const Cause::Source& s : b.sources) {
      Json reasons = Json::array();
      for (const Cause::NotCome& n : s.not_come)
        reasons.push_back(warps_text(cause, n) + " " + why_text(cause, n));
      sources.push_back(
          {{"instruction", s.opcode + " at " + place_text(s.site)}, {"why", std::move(reasons)}});
    }
    barriers.push_back({{"name", b.name},
                        {"phase", b.phase},
                        {"pending", b.pending},
                        {"bytes", b.bytes},
                        {"sources", std::move(sources)}});
  }
  return {{"sentence", cause.sentence},
          {"round", cycle_text(cause)},
          {"barriers", std::move(barriers)}};
}

}  // namespace tilescope
