// What a fault or hazard tells, under the view that shows it.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "core/run/deadlock_cause.h"
#include "viz/machine/barrier_card.h"
#include "viz/machine/fault_scene.h"
#include "viz/scene/items.h"
#include "viz/scene/number_words.h"
#include "viz/scene/site_words.h"
#include "viz/scene/time_words.h"

namespace tilescope {
namespace {

constexpr double report_row = 20, above = 14, label_width = 72;
constexpr std::size_t most_lines = 4;  // of a long sentence

// "warp 4 lane 0 of block 1"; `shortly`: without the lane.
std::string who_text(const Evidence::Party& party, const sim::Machine& machine, bool shortly) {
  const Dim3& grid = machine.launch().grid;
  const Dim3& at = party.site.block;
  std::string out = fmt::format("warp {}", party.site.warp);
  if (!shortly) out += fmt::format(" lane {}", party.site.lane);
  if (grid.count() > 1) {
    out += fmt::format(" of CTA {}",
                       at.x + std::uint64_t{grid.x} * (at.y + std::uint64_t{grid.y} * at.z));
  }
  return out;
}

// "tcgen05.ld reads", of "tcgen05.ld.sync.aligned.32x32b.x32.b32 reads": without what says how.
std::string short_does(const std::string& does) {
  const std::size_t blank = std::min(does.find(' '), does.size());
  for (const std::string_view how :
       {".sync", ".cta_group", ".parity", ".acquire", ".release", ".relaxed", ".v2", ".v4",
        ".aligned", ".b32", ".u32", ".b64", "::1", "::2", ".mbarrier::complete_tx::bytes", ".tile",
        ".shared::cluster.global", ".shared::cta.global", ".2d"}) {
    const std::size_t at = does.find(how);
    if (at < blank) return short_does(does.substr(0, at) + does.substr(blank));
  }
  return does;
}

// What the heading says already is left out: which memory, whose, which barrier.
std::string short_place(const Evidence::Place& place, const sim::Machine& machine) {
  using Of = Evidence::Place::Of;
  if (place.of == Of::mbarrier || place.of == Of::barrier) return "";
  std::string out = place_words(place, machine);
  for (const std::string_view rest : {" of shared memory", " of TMEM"}) {
    out.resize(std::min(out.size(), out.find(rest)));
  }
  return out.empty() ? out : " " + out;
}

// "in flight since cycle 1,839", with seconds by this clock (GHz; 0: without). A unit may have
// taken it for later. `shortly`: an edge that is dashed says that it is in flight, too.
std::string when_text(const Evidence::Party& party, const sim::Machine& machine, double clock,
                      bool shortly) {
  const bool known = party.since >= 0;
  std::string cycle =
      known ? fmt::format("cycle {}", grouped(static_cast<std::uint64_t>(party.since))) : "";
  if (known && clock > 0) cycle += fmt::format(" ({})", seconds_text(party.since, clock));
  if (!party.in_flight) return cycle;
  if (!known) return "in flight";
  if (party.since > time_of(machine) + 0.5) return "issued, begins at " + cycle;
  return (shortly ? "since " : "in flight since ") + cycle;
}

std::string rest_text(const Evidence::Party& party, const sim::Machine& machine, double clock,
                      bool shortly) {
  std::string out = who_text(party, machine, shortly) + ", " + place_words(party.site);
  const std::string when = when_text(party, machine, clock, shortly);
  return when.empty() ? out : out + ", " + when;
}

std::string source_command(const Evidence::Party& party, const sim::Machine& machine) {
  const Dim3& grid = machine.launch().grid;
  const Site& site = party.site;
  const std::uint64_t block =
      site.block.x + std::uint64_t{grid.x} * (site.block.y + std::uint64_t{grid.y} * site.block.z);
  const RunCursor::SourceLine line =
      site.caller_line   ? RunCursor::SourceLine{site.caller, site.caller_line}
      : site.source_line ? RunCursor::SourceLine{site.source, site.source_line}
                         : RunCursor::SourceLine{"", site.ptx_line};
  return fmt::format("look block {} warp {} lane {} line {} in source", block, site.warp, site.lane,
                     text(line));
}

std::string with_capital(std::string sentence) {
  const bool opcode = sentence.find('.') < sentence.find(' ');
  const bool small = sentence.front() >= 'a' && sentence.front() <= 'z';
  if (small && !opcode) sentence.front() = static_cast<char>(sentence.front() - 'a' + 'A');
  return sentence;
}

// Behind who meets whom: how an operation could be in flight though somebody waited for it.
std::string why_in_flight(const Report& report) {
  constexpr std::string_view before = "it is still in flight; ";
  const std::size_t at = report.sentence.find(before);
  if (at == std::string::npos) return "";
  const std::string why = with_capital(report.sentence.substr(at + before.size()));
  return why.substr(0, why.find(", by the "));  // who did is too long for here
}

// Of an address past the end of a matrix: the row and column that it would be.
std::string element_words(const Report& report, const sim::Machine& machine) {
  const std::size_t at = report.sentence.find(" at 0x");
  if (report.kind != "out_of_bounds" || at == std::string::npos) return "";
  const std::uint64_t address = std::strtoull(report.sentence.c_str() + at + 4, nullptr, 16);
  for (std::size_t i = 0; i < machine.shells().size(); ++i) {
    const Buffer& shell = machine.shells()[i];
    const sim::Region& region = machine.buffer(i);
    const bool meant = report.sentence.find("buffer " + shell.name) != std::string::npos;
    if (!meant || shell.shape.size() != 2 || shell.shape[1] <= 0 || address < region.base()) {
      continue;
    }
    const std::uint64_t flat = (address - region.base()) / bytes_of(shell.dtype);
    const auto length = static_cast<std::uint64_t>(shell.shape[1]);
    return fmt::format(": {} [{}, {}] of {} x {}", shell.name, flat / length, flat % length,
                       shell.shape[0], length);
  }
  return "";
}

// What it should have been; and what there is, where no two meet.
struct Said {
  std::string label;
  std::vector<std::string> lines;
};
std::vector<Said> said(const Report& report, const sim::Machine& machine, double width) {
  std::vector<Said> out;
  const double room = width - 2 * between - label_width;
  // Where nobody has a part in it, its sentence alone says what there is; of who waits for whom the
  // view says more.
  if (report.evidence.parties.empty() && report.kind != "deadlock") {
    out.push_back({"what", wrapped(readable(with_capital(report.sentence)), room, most_lines)});
    const Evidence::Party who{"", {}, {}, report.site};
    if (report.site.ptx_line || report.site.source_line) {
      out.push_back(
          {"who", wrapped(rest_text(who, machine, 0, false) + element_words(report, machine), room,
                          most_lines)});
    }
  }
  if (const std::string why = why_in_flight(report); !why.empty()) {
    out.push_back({"why", wrapped(readable(why), room, most_lines)});
  }
  const bool known = report.deadlock && !report.deadlock->sentence.empty();
  if (known) out.push_back({"why", wrapped(report.deadlock->sentence, room, most_lines)});
  if (!report.expected.empty() && !known)
    out.push_back({"expected", wrapped(readable(report.expected), room, most_lines)});
  // Where its sentence ends with what was found, that has been told.
  const bool told = report.evidence.parties.empty() && report.kind != "deadlock" &&
                    report.sentence.find(report.found) != std::string::npos;
  const bool found = !known && !report.found.empty() && report.evidence.parties.size() < 2 && !told;
  if (found) out.push_back({"found", wrapped(readable(report.found), room, most_lines)});
  return out;
}

// What has happened, and where; on two lines where one is too short.
std::vector<std::string> title_lines(const Report& report, const sim::Machine& machine,
                                     double width) {
  const double room = width - 2 * between - label_width;
  const auto cut = [&](const std::string& text) {
    return fitted(text, room, small_text, Family::sans, FontWeight::bold);
  };
  const std::string title(title_of(report));
  const std::string place = place_words(report.evidence.place, machine);
  if (place.empty()) return {cut(title)};
  const std::string both = title + ": " + place;
  if (text_width(both, small_text, Family::sans, FontWeight::bold) <= room) return {both};
  return {cut(title + ":"), cut(place)};
}

double draw_party(Scene& scene, const LiveRun& run, const Evidence& evidence, std::size_t number,
                  const Box& line) {
  const sim::Machine& machine = run.stepper.machine();
  const Evidence::Party& party = evidence.parties[number];
  const double y = line.centre().y;
  draw_party_number(scene, number, {line.x + between, y - 8});
  const std::string what = short_does(party.does) + short_place(party.place, machine);
  const double x = line.x + between + 24, right = line.right() - between;
  const double all = right - x - between;
  const double first_width = text_width(what, small_text, Family::sans);
  // Seconds where there is room, and less than that where there is little; under the pointer all
  // is told always.
  const std::string full = rest_text(party, machine, clock_of(run), false);
  const std::string plain = rest_text(party, machine, 0, false);
  const std::string brief = rest_text(party, machine, 0, true);
  const auto fits = [&](const std::string& text) {
    return first_width + text_width(text, small_text, Family::sans) <= all;
  };
  const std::string rest = fits(full) ? full : fits(plain) ? plain : brief;
  const double rest_width = std::min(text_width(rest, small_text, Family::sans), (right - x) * 0.6);
  const std::string first =
      fitted(what, right - x - rest_width - between, small_text, Family::sans);
  scene.add(words({x, y}, first, Role::text));
  scene.add(words({right, y}, fitted(rest, rest_width + 1, small_text, Family::sans), Role::quiet,
                  FontWeight::regular, Across::right));
  scene.targets.push_back({line, source_command(party, machine), "shows its line of the source"});
  scene.hints.push_back({line, what + "; " + full});
  return line.bottom();
}

}  // namespace

Stroke stroke_of_party(const Evidence& evidence, std::size_t party) {
  const bool flies = party < evidence.parties.size() && evidence.parties[party].in_flight;
  return {party == 0 ? Role::wrong : Role::text, 2, flies};
}

void draw_party_number(Scene& scene, std::size_t party, Point corner) {
  Rectangle chip;
  chip.box = {corner.x, corner.y, 16, 16};
  chip.radius = 4;
  chip.fill = Ink(party == 0 ? Role::wrong : Role::text);
  scene.add(chip);
  scene.add(words(chip.box.centre(), fmt::format("{}", party + 1), Role::paper, FontWeight::bold,
                  Across::centre));
}

double report_height(const LiveRun& run, const RunCursor& spot, double width) {
  const Report* report = report_looked_at(run, spot);
  if (!report) return 0;
  std::size_t lines =
      title_lines(*report, run.stepper.machine(), width).size() + report->evidence.parties.size();
  for (const Said& each : said(*report, run.stepper.machine(), width)) lines += each.lines.size();
  return static_cast<double>(lines) * report_row + above;
}

void draw_report(Scene& scene, const LiveRun& run, const RunCursor& spot, const Box& room) {
  const Report* report = report_looked_at(run, spot);
  if (!report) return;
  const sim::Machine& machine = run.stepper.machine();
  scene.begin("report", room);
  Rectangle back;
  back.box = room;
  back.fill = Ink(Role::panel);
  scene.add(back);
  Line edge;
  edge.points = {{room.x, room.y + 0.5}, {room.right(), room.y + 0.5}};
  edge.stroke = {report->weight == Weight::note ? Role::line : Role::wrong, 1, false};
  scene.add(edge);
  double y = room.y + above / 2;
  std::string weight(name_of(report->weight));
  weight.front() = static_cast<char>(weight.front() - 'a' + 'A');
  const double x = room.x + between;
  scene.add(words({x, y + report_row / 2}, weight,
                  report->weight == Weight::note ? Role::quiet : Role::wrong, FontWeight::bold));
  const double from = x + label_width;
  for (const std::string& line : title_lines(*report, machine, room.width)) {
    scene.add(words({from, y + report_row / 2}, line, Role::text, FontWeight::bold));
    y += report_row;
  }
  for (std::size_t i = 0; i < report->evidence.parties.size(); ++i) {
    y = draw_party(scene, run, report->evidence, i, {room.x, y, room.width, report_row});
  }
  for (const Said& each : said(*report, machine, room.width)) {
    scene.add(words({x, y + report_row / 2}, each.label, Role::quiet));
    for (const std::string& line : each.lines) {
      scene.add(words({from, y + report_row / 2}, line, Role::text));
      y += report_row;
    }
  }
  scene.end();
}

}  // namespace tilescope
