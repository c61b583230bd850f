// What colours and letters of a timeline stand for.
#include <algorithm>

#include "viz/scene/palette.h"
#include "viz/scene/timeline_paint.h"

namespace tilescope {
namespace {

using sim::Stall;
using sim::Unit;

// Places of Okabe and Ito's colours in palette.h.
enum Hue { orange, sky, green, yellow, blue, vermilion, purple, grey };

Hue hue_of(Unit unit) {
  switch (unit) {
    case Unit::warp:
      return green;
    case Unit::copy_in:
    case Unit::async_copy:
      return orange;
    case Unit::copy_out:
      return sky;
    case Unit::tensor:
    case Unit::tensor_copy:
    case Unit::commit:
      return blue;
    case Unit::tensor_load:
    case Unit::tensor_store:
      return yellow;
    case Unit::remote:
      return vermilion;
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
      return doing.unit == Unit::count_ ? purple : hue_of(doing.unit);
    case Stall::barrier:
    case Stall::cluster:
    case Stall::pair:
      return purple;
    case Stall::products:
      return blue;
    case Stall::tmem:
    case Stall::columns:
      return yellow;
    case Stall::global:
    case Stall::group:
      return sky;
    case Stall::shared:
      return vermilion;
    default:
      return grey;
  }
}

}  // namespace

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

Rgba phase_colour(std::uint32_t phase, const Theme& theme) {
  return mix(theme.paper, category(purple, theme.dark), phase % 2 == 0 ? 0.55 : 0.25);
}

std::vector<std::vector<LegendEntry>> legend_of(const TimelineViews& views, double width) {
  std::vector<LegendEntry> all;
  std::vector<Doing> doings;
  bool units = false, phases = false, reports = false;
  for (const TimelineView* view : views) {
    doings.insert(doings.end(), view->doings().begin(), view->doings().end());
    const auto& tracks = view->record().tracks;
    phases = phases || std::any_of(tracks.begin(), tracks.end(),
                                   [](const sim::Track& t) { return hue_of(t.unit) == purple; });
    reports = reports || !view->record().reports.empty();
  }
  std::sort(doings.begin(), doings.end());
  doings.erase(std::unique(doings.begin(), doings.end()), doings.end());
  for (const Doing doing : doings) {
    LegendEntry entry{LegendEntry::Kind::solid, doing, "", text(doing)};
    if (doing.waits()) {
      entry.kind = LegendEntry::Kind::hatched;
      entry.letter = std::string(1, sim::letter_of(doing.stall));
    }
    units = units || (!doing.waits() && doing.unit != Unit::warp);
    all.push_back(std::move(entry));
  }
  if (units) all.push_back({LegendEntry::Kind::flight, {Unit::tensor, Stall::none}, "", "issued"});
  if (phases) {
    all.push_back({LegendEntry::Kind::phase, {Unit::mbarrier, Stall::none}, "", "phases"});
  }
  if (reports) {
    all.push_back({LegendEntry::Kind::report, {}, "", "fault or hazard"});
  }
  std::vector<std::vector<LegendEntry>> lines(1);
  double x = 0;
  for (LegendEntry& entry : all) {
    const double wide =
        swatch_width + inside + text_width(entry.text, small_text, Family::sans) + between;
    if (x + wide > width && x > 0) {
      lines.emplace_back();
      x = 0;
    }
    x += wide;
    lines.back().push_back(std::move(entry));
  }
  return lines;
}

}  // namespace tilescope
