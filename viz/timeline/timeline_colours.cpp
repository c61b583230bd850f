// What colours and letters of a timeline stand for.
#include <fmt/format.h>

#include <algorithm>

#include "viz/scene/palette.h"
#include "viz/timeline/timeline_paint.h"

namespace tilescope {
namespace {

using sim::Stall;
using sim::Unit;

// Places of Okabe and Ito's colours in palette.h; brown is the darker orange.
enum Hue { orange, sky, green, yellow, blue, vermilion, purple, grey, brown = 16 };

Hue hue_of(Unit unit) {
  switch (unit) {
    case Unit::warp:
      return green;
    case Unit::copy_in:
    case Unit::async_copy:
      return orange;
    case Unit::copy_out:
      return brown;
    case Unit::tensor:
    case Unit::tensor_copy:
      return blue;
    case Unit::tensor_load:
    case Unit::tensor_store:
      return yellow;
    case Unit::remote:
      return sky;
    case Unit::barrier:
    case Unit::mbarrier:
    case Unit::cluster:
      return purple;
    default:
      return grey;
  }
}

Hue hue_of(Doing doing) {
  switch (doing.stall) {
    case Stall::none:
      return hue_of(doing.unit);
    case Stall::mbarrier:
      // What a commit tells is that products are done: these are waited for.
      if (doing.unit == Unit::commit) return blue;
      return doing.unit == Unit::count_ ? purple : hue_of(doing.unit);
    case Stall::barrier:
    case Stall::cluster:
      return purple;
    case Stall::products:
      return blue;
    case Stall::pair:
    case Stall::tmem:
    case Stall::columns:
      return yellow;
    case Stall::group:
      return doing.unit == Unit::async_copy ? orange : brown;
    case Stall::global:
    case Stall::shared:
      return vermilion;
    default:
      return grey;
  }
}

}  // namespace

bool is_fault(const sim::Record& record, const sim::Event& report) {
  return report.object >= record.reports.size() ||
         record.reports[report.object].weight == Weight::fault;
}

Rgba colour_of(Doing doing, const Theme& theme) {
  const Hue hue = hue_of(doing);
  return hue == grey ? theme.quiet : category(hue, theme.dark);
}

Rgba ground_of(Doing doing, const Theme& theme) {
  return mix(theme.paper, colour_of(doing, theme), theme.dark ? 0.22 : 0.18);
}

Rgba stripe_of(Doing doing, const Theme& theme) {
  return mix(theme.paper, colour_of(doing, theme), 0.75);
}

Hatch hatch_of(Doing doing) {
  switch (doing.stall) {
    case Stall::mbarrier:
      return doing.unit == Unit::count_ ? Hatch::upright : Hatch::rising;
    case Stall::group:
    case Stall::products:
    case Stall::columns:
    case Stall::cluster:
    case Stall::registers:
      return Hatch::falling;
    case Stall::pair:
    case Stall::pipe:
    case Stall::shared:
    case Stall::fence:
      return Hatch::upright;
    default:
      return Hatch::rising;
  }
}

Rgba phase_colour(std::uint32_t phase, const Theme& theme) {
  return mix(theme.paper, category(purple, theme.dark), phase % 2 == 0 ? 0.55 : 0.25);
}

double LegendEntry::width() const {
  const double swatch = kind == Kind::more ? 0 : swatch_width + inside;
  return swatch + text_width(text, small_text, Family::sans) + between;
}

namespace {

// All that is seen in the lanes, with its colour.
std::vector<LegendEntry> entries_of(const TimelineViews& views) {
  std::vector<LegendEntry> all;
  std::vector<Doing> doings;
  bool units = false, phases = false, faults = false, hazards = false, commits = false,
       timed = false;
  for (const TimelineView* view : views) {
    doings.insert(doings.end(), view->doings().begin(), view->doings().end());
    const auto& tracks = view->record().tracks;
    phases = phases || std::any_of(tracks.begin(), tracks.end(),
                                   [](const sim::Track& t) { return hue_of(t.unit) == purple; });
    commits = commits || std::any_of(tracks.begin(), tracks.end(),
                                     [](const sim::Track& t) { return t.unit == Unit::commit; });
    if (!view->record().reports.empty()) {  // those that have a flag
      sim::EventFilter filter;
      filter.kinds = sim::bit(sim::EventKind::report);
      for (const auto id : view->timeline().find(filter, 0, sim::never_ends, 64)) {
        (is_fault(view->record(), view->record().events[id]) ? faults : hazards) = true;
      }
    }
    timed = timed || view->known_time();
  }
  // Those of which only the moment is known took no time in any row.
  if (commits) doings.push_back({Unit::commit, Stall::none});
  std::sort(doings.begin(), doings.end());
  doings.erase(std::unique(doings.begin(), doings.end()), doings.end());
  for (const Doing doing : doings) {
    LegendEntry entry{LegendEntry::Kind::solid, doing, "", text(doing), ""};
    if (doing == Doing{Unit::warp, Stall::none} && timed) {
      entry.text += fmt::format(", with stalls under {} cycles", sim::least_wait);
    }
    if (doing.waits()) {
      entry.kind = LegendEntry::Kind::hatched;
      entry.letter = std::string(1, letter_of(doing));
    }
    units = units || (!doing.waits() && doing.unit != Unit::warp);
    all.push_back(std::move(entry));
  }
  const auto other = [&](LegendEntry::Kind kind, Doing doing, const char* text) {
    all.push_back({kind, doing, "", text, ""});
  };
  if (units) other(LegendEntry::Kind::flight, {Unit::commit, Stall::none}, "issued");
  if (phases) other(LegendEntry::Kind::phase, {Unit::mbarrier, Stall::none}, "phases");
  if (faults) other(LegendEntry::Kind::report, {}, "fault");
  if (hazards) other(LegendEntry::Kind::hazard, {}, "hazard");
  return all;
}

double width_of(const std::vector<LegendEntry>& line) {
  double out = 0;
  for (const LegendEntry& entry : line) out += entry.width();
  return out;
}

// Leaves so many lines; the last one ends with how many entries it leaves out.
void cut_to(std::vector<std::vector<LegendEntry>>& lines, std::size_t most, double width) {
  if (lines.size() <= most) return;
  std::vector<LegendEntry> left_out;
  for (std::size_t i = most; i < lines.size(); ++i) {
    left_out.insert(left_out.end(), lines[i].begin(), lines[i].end());
  }
  lines.resize(most);
  std::vector<LegendEntry>& last = lines.back();
  LegendEntry more{LegendEntry::Kind::more, {}, "", "", ""};
  const auto count = [&] { more.text = "and " + std::to_string(left_out.size()) + " more"; };
  for (count(); last.size() > 1 && width_of(last) + more.width() > width; count()) {
    left_out.insert(left_out.begin(), last.back());
    last.pop_back();
  }
  for (const LegendEntry& entry : left_out) {
    if (!more.hint.empty()) more.hint += ", ";
    if (!entry.letter.empty()) more.hint += entry.letter + " ";
    more.hint += entry.text;
  }
  last.push_back(std::move(more));
}

}  // namespace

std::vector<std::vector<LegendEntry>> legend_of(const TimelineViews& views, Size size) {
  const double width = size.width - 2 * timeline_margin;
  std::vector<std::vector<LegendEntry>> lines(1);
  for (LegendEntry& entry : entries_of(views)) {
    if (!lines.back().empty() && width_of(lines.back()) + entry.width() > width) {
      lines.emplace_back();
    }
    lines.back().push_back(std::move(entry));
  }
  cut_to(lines, static_cast<std::size_t>(std::max(1.0, size.height / 4 / legend_line)), width);
  return lines;
}

double legend_height(const TimelineViews& views, Size size) {
  return static_cast<double>(legend_of(views, size).size()) * legend_line;
}

}  // namespace tilescope
