#include "viz/machine/comparison_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/profile/verdict.h"
#include "viz/scene/items.h"
#include "viz/scene/number_words.h"

namespace tilescope {
namespace {

// Beyond so many pairs of lines, texts are told apart as a whole.
constexpr std::size_t most_pairs = 16'000'000;

// Behind the point, of two figures and their difference: so many that these fit together.
int digits_of(double a, double b) {
  const auto whole = [](double value) { return value == std::round(value); };
  const double larger = std::max(std::abs(a), std::abs(b));
  return larger >= 100 || (whole(a) && whole(b)) ? 0 : larger >= 1 ? 2 : 4;
}

std::string figure(double value, int digits) {
  if (digits > 0) return fmt::format("{:.{}f}", value, digits);
  const std::string text = grouped(static_cast<std::uint64_t>(std::llround(std::abs(value))));
  return value < 0 ? "-" + text : text;
}

std::string percent(double a, double b) {
  if (a == 0 || a == b) return "";
  return fmt::format("{:+.1f}%", 100 * (b - a) / a);
}

TableRow heading(std::string text) {
  TableRow row;
  row.heading = true;
  row.cells = {{std::move(text), Role::quiet, {}}};
  return row;
}

// Less is better for all of these, but nothing here says so by colour alone: the sign does.
TableRow pair_row(std::string name, double a, double b) {
  const int digits = digits_of(a, b);
  const std::string before = figure(a, digits), now = figure(b, digits);
  const std::string change = figure(b - a, digits);
  const bool same = before == now;
  TableRow row;
  row.cells = {{std::move(name), Role::text, {}},
               {before, Role::text, {}},
               {now, Role::text, {}},
               {same    ? "same"
                : b > a ? "+" + change
                        : change,
                same ? Ink(Role::quiet) : Ink(Role::text),
                {}},
               {same ? "" : percent(a, b), Role::quiet, {}}};
  return row;
}

void add_pairs(Table& table, const std::string& title, const std::vector<sim::Pair>& pairs) {
  if (pairs.empty()) return;
  table.rows.push_back(heading(title));
  for (const sim::Pair& each : pairs) table.rows.push_back(pair_row(each.name, each.a, each.b));
}

// "busy cycles, mean of 148 SMs; 4 have work, now 2"
std::string busy_heading(const sim::Difference& d) {
  if (d.a.processors != d.b.processors) return "busy cycles, mean of all SMs";
  const std::uint32_t before = d.a.processors_used, now = d.b.processors_used;
  std::string out = fmt::format("busy cycles, mean of {} SMs", d.b.processors);
  if (before && now) out += fmt::format("; {} {} work", before, before == 1 ? "has" : "have");
  if (before && now && before != now) out += fmt::format(", now {}", now);
  return out;
}

Table figures(const ComparisonView& view) {
  const sim::Difference& d = view.difference();
  Table table;
  table.name = "figures";
  table.columns = {{"", Across::left, Family::sans, 0, true},
                   {"baseline", Across::right, Family::mono},
                   {"now", Across::right, Family::mono},
                   {"change", Across::right, Family::mono},
                   {"in %", Across::right, Family::mono}};
  table.columns[0].least = 160;  // its words before a share that the numbers give
  table.columns[4].spared = 2;
  table.columns[3].spared = 1;
  table.rows.push_back(heading("the run"));
  if (d.known_time) {
    table.rows.push_back(
        pair_row("predicted time with its launch, ns", d.a.seconds * 1e9, d.b.seconds * 1e9));
    table.rows.push_back(
        pair_row("cycles", static_cast<double>(d.a.end), static_cast<double>(d.b.end)));
  }
  if (d.a.sum.issued && d.b.sum.issued) {
    const auto issued = [](const sim::Statistics& s) { return static_cast<double>(s.sum.issued); };
    const auto aside = [&](const RunResult& run, const sim::Statistics& s) {
      return std::max(0.0, static_cast<double>(run.progress.instructions) - issued(s));
    };
    table.rows.push_back(pair_row("instructions issued", issued(d.a), issued(d.b)));
    table.rows.push_back(
        pair_row("without an issue slot", aside(view.baseline(), d.a), aside(view.now(), d.b)));
  }
  add_pairs(table, busy_heading(d), d.pipes);
  for (const sim::PairTable& role : d.roles) {
    std::vector<sim::Pair> rows = role.rows;
    for (sim::Pair& each : rows) {
      if (each.name != "runs") each.name = "waits for " + each.name;
    }
    add_pairs(table, fmt::format("a warp of role {}, cycles", role.name), rows);
  }
  add_pairs(table, "stalls of all warps, cycles", d.stalls);
  add_pairs(table, "traffic", d.traffic);
  if (!d.lines.empty())
    table.rows.push_back(heading("lines by what they stall, cycles of all warps"));
  constexpr std::size_t most = 40;
  for (std::size_t i = 0; i < std::min(most, d.lines.size()); ++i) {
    const sim::LinePair& line = d.lines[i];
    table.rows.push_back(pair_row(line.b.empty() ? line.a : line.b, line.a_stalls, line.b_stalls));
  }
  return table;
}

Table source(const ComparisonView& view) {
  Table table;
  table.name = "source";
  const double number = text_width("0000", small_text, Family::mono);
  table.columns = {{"was", Across::right, Family::mono, number},
                   {"now", Across::right, Family::mono, number},
                   {"", Across::left, Family::mono, 8},
                   {"source", Across::left, Family::mono, 0, true, 1e9, true}};
  const auto& lines = view.source();
  table.when_empty = "The sources of both are not available.";
  table.count = lines.size();
  const bool cuda = is_cuda_file(view.now().kernel.source);
  table.row = [&lines, cuda](std::size_t i) {
    const DifferentLine& line = lines[i];
    const bool gone = !line.after, fresh = !line.before;
    TableRow row;
    row.cells = {{line.before ? fmt::format("{}", *line.before) : "", Role::quiet, {}},
                 {line.after ? fmt::format("{}", *line.after) : "", Role::quiet, {}},
                 {gone    ? "-"
                  : fresh ? "+"
                          : "",
                  Role::text,
                  {}},
                 {line.text, gone ? Ink(Role::quiet) : Ink(Role::text), {}}};
    if (fresh) row.cells[3].fill = Ink(Role::accent, 0.14);
    if (gone) row.cells[3].fill = Ink(Role::line, 0.6);
    bool inside = false;  // what is between two that differ is not here: a line speaks for itself
    if (!gone && cuda) row.cells[3].spans = cuda_spans(line.text, inside);
    return row;
  };
  for (std::size_t i = 0; i < lines.size() && !table.focus; ++i) {
    if (!lines[i].before || !lines[i].after) table.focus = i;
  }
  return table;
}

}  // namespace

std::vector<DifferentLine> different_lines(const std::vector<std::string>& before,
                                           const std::vector<std::string>& after) {
  std::vector<DifferentLine> out;
  const std::size_t n = before.size(), m = after.size();
  const auto number = [](std::size_t i) { return static_cast<std::uint32_t>(i + 1); };
  std::size_t i = 0, j = 0;
  if (n * m <= most_pairs) {
    // common[i][j]: the longest common subsequence of what begins at line i and at line j.
    std::vector<std::uint32_t> common((n + 1) * (m + 1), 0);
    const auto at = [&](std::size_t a, std::size_t b) -> std::uint32_t& {
      return common[a * (m + 1) + b];
    };
    for (std::size_t a = n; a-- > 0;) {
      for (std::size_t b = m; b-- > 0;) {
        at(a, b) =
            before[a] == after[b] ? at(a + 1, b + 1) + 1 : std::max(at(a + 1, b), at(a, b + 1));
      }
    }
    while (i < n && j < m) {
      if (before[i] == after[j]) {
        out.push_back({number(i), number(j), after[j]});
        ++i, ++j;
      } else if (at(i + 1, j) >= at(i, j + 1)) {
        out.push_back({number(i), {}, before[i]});
        ++i;
      } else {
        out.push_back({{}, number(j), after[j]});
        ++j;
      }
    }
  }
  for (; i < n; ++i) out.push_back({number(i), {}, before[i]});
  for (; j < m; ++j) out.push_back({{}, number(j), after[j]});
  return out;
}

ComparisonView::ComparisonView(std::shared_ptr<const RunResult> baseline,
                               std::shared_ptr<const RunResult> now)
    : baseline_(std::move(baseline)),
      now_(std::move(now)),
      difference_(sim::difference_of(sim::statistics_of(*baseline_->record),
                                     sim::statistics_of(*now_->record))) {
  const auto &a = baseline_->source, &b = now_->source;
  if (!a.empty() && !b.empty()) source_ = different_lines(a, b);
  for (const DifferentLine& line : source_) {
    if (line.before && line.after) before_[*line.after] = *line.before;
  }
  const auto list = [](const std::vector<sim::LineUse>& lines, Uses& out) {
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (!lines[i].file.empty()) out[{lines[i].file, lines[i].line}] = i;
    }
  };
  list(difference_.a.lines, uses_before_);
  list(difference_.b.lines, uses_now_);
}

std::optional<ComparisonView::LineOfBoth> ComparisonView::line_of_both(const std::string& file,
                                                                       std::uint32_t line) const {
  const auto find = [](const Uses& uses, const std::vector<sim::LineUse>& lines,
                       const std::string& of, std::uint32_t number) {
    const auto found = uses.find({of, number});
    return found == uses.end() ? nullptr : &lines[found->second];
  };
  LineOfBoth out;
  out.now = find(uses_now_, difference_.b.lines, file, line);
  std::string there = file;  // what both include is the same file
  if (file == now_->kernel.source) {
    const auto same = before_.find(line);
    if (same == before_.end()) return {};
    line = same->second;
    there = baseline_->kernel.source;
  }
  out.before = find(uses_before_, difference_.a.lines, there, line);
  return out;
}

std::string ComparisonView::named(const RunResult& run) const {
  return baseline_->kernel.name == now_->kernel.name ? with_options(run) : run.kernel.name;
}

std::string ComparisonView::with_options(const RunResult& run) {
  std::string out = run.kernel.name;
  for (const auto& [option, value] : run.options) out += fmt::format(" --{} {}", option, value);
  return out;
}

namespace {

constexpr std::string_view link_text = "timelines on one scale";

// Right of what it is about: to both timelines.
void draw_link(Scene& scene, Point right) {
  const double wide = text_width(link_text, small_text, Family::sans);
  Text link;
  link.at = right;
  link.across = Across::right;
  link.text = link_text;
  link.ink = Role::accent;
  scene.add(link);
  const Box box{right.x - wide - 4, right.y - 11, wide + 8, 22};
  scene.targets.push_back(
      {box, "timeline beside on", "draws both timelines, one above the other, on one scale"});
}

}  // namespace

double draw_comparison(Scene& scene, const ComparisonView& view, const Box& room, Scroll& scroll,
                       bool has_timelines, Box& source_room, double& most_of_source) {
  // Beside each other where figures with their names have room so, else one above the other.
  constexpr double least = 900, row = 22;
  const bool beside = room.width >= least;
  const double width = room.width - 2 * between;
  const std::string names[] = {
      fmt::format("Baseline: {}.", ComparisonView::with_options(view.baseline())),
      fmt::format("Now: {}.", ComparisonView::with_options(view.now()))};
  const double link = has_timelines ? text_width(link_text, small_text, Family::sans) + between : 0;
  const auto fits = [&](const std::string& text) {
    return text_width(text, small_text, Family::sans, FontWeight::bold) <= width - link;
  };
  double y = room.y + row;
  const auto write = [&](const std::string& text, double most, Ink ink, FontWeight weight) {
    scene.add(words({room.x + between, y}, fitted(text, most, small_text, Family::sans, weight),
                    ink, weight));
    y += row;
  };
  scene.begin("comparison");
  if (has_timelines) draw_link(scene, {room.right() - between, y});
  if (const std::string both = names[0] + "  " + names[1]; fits(both)) {
    write(both, width - link, Role::text, FontWeight::bold);
  } else {
    write(names[0], width - link, Role::text, FontWeight::bold);
    write(names[1], width, Role::text, FontWeight::bold);
  }
  y += 4;
  const std::string verdict = sim::verdict_of(view.difference(), "the baseline", "this run");
  for (const std::string& line : wrapped(verdict, width, 5)) {
    write(line, width, Role::quiet, FontWeight::regular);
  }
  scene.end();
  const double head = y + 2 - room.y;
  const Box below{room.x, room.y + head, room.width, std::max(0.0, room.height - head)};
  Box left = below, rest = below;
  Line line;
  if (beside) {
    left.width = std::round(room.width * 0.46);
    rest.x = left.right() + 1;
    rest.width = below.right() - rest.x;
    line.points = {{rest.x - 0.5, rest.y}, {rest.x - 0.5, rest.bottom()}};
  } else {
    left.height = std::round(below.height * 0.55);
    rest.y = left.bottom() + 1;
    rest.height = below.bottom() - rest.y;
    line.points = {{rest.x, rest.y - 0.5}, {rest.right(), rest.y - 0.5}};
  }
  line.stroke = {Role::line, 1, false};
  scene.add(line);
  const double most = draw_table(scene, figures(view), left, scroll);
  Scroll of_source{scroll.beside, scroll.beside_by_hand};
  most_of_source = draw_table(scene, source(view), rest, of_source);
  scroll.beside = of_source.at;
  source_room = rest;
  return most;
}

}  // namespace tilescope
