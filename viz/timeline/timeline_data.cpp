#include "viz/timeline/timeline_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/record/text.h"
#include "viz/scene/describe.h"
#include "viz/scene/stage_items.h"
#include "viz/timeline/timeline_paint.h"
#include "viz/timeline/timeline_steps.h"
#include "viz/timeline/timeline_words.h"

namespace tilescope {
namespace {

using sim::Cycle;
using sim::Event;
using sim::EventId;
using sim::EventKind;
using sim::Stall;
using sim::TrackId;
using sim::Unit;

constexpr std::uint32_t nowhere = ~std::uint32_t{0};

// What a page shows as one event: one of the record, or several too short for themselves.
struct Shown {
  EventId id = sim::no_event;  // several: none
  Event event;
};

// Different texts, each with its number.
class Texts {
 public:
  std::uint32_t of(const std::string& text) {
    const auto [at, added] = numbers_.try_emplace(text, static_cast<std::uint32_t>(texts_.size()));
    if (added) texts_.push_back(text);
    return at->second;
  }
  const std::vector<std::string>& all() const { return texts_; }

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<std::string> texts_;
};

class Doings {
 public:
  std::uint32_t of(Doing doing) {
    const auto at = std::find(all_.begin(), all_.end(), doing);
    if (at != all_.end()) return static_cast<std::uint32_t>(at - all_.begin());
    all_.push_back(doing);
    return static_cast<std::uint32_t>(all_.size() - 1);
  }
  const std::vector<Doing>& all() const { return all_; }

 private:
  std::vector<Doing> all_;
};

// ---- Which events there is room for -------------------------------------------------------------

// Of a track that has no room for all: what is short is taken together, and reports stay.
std::vector<Shown> spans_of(const TimelineView& view, TrackId track, std::uint32_t pixels) {
  const sim::Timeline& timeline = view.timeline();
  const Cycle end = timeline.end() + 1;
  std::vector<Shown> out;
  for (const sim::Span& span : timeline.spans(track, 0, end, pixels)) {
    if (span.event != sim::no_event) {
      out.push_back({span.event, view.record().events[span.event]});
      continue;
    }
    if (span.report) {
      sim::EventFilter reports;
      reports.kinds = sim::bit(EventKind::report);
      reports.track = track;
      for (const EventId id : timeline.find(reports, span.begin, span.end + 1, 64)) {
        out.push_back({id, view.record().events[id]});
      }
    }
    const sim::Totals totals =
        timeline.totals(track, span.begin, std::max(span.end, span.begin + 1));
    Event event;
    event.kind = EventKind::folded;
    event.track = track;
    event.begin = span.begin;
    event.end = std::max(span.end, span.begin + 1);
    event.amount = span.count;
    event.until = static_cast<std::uint32_t>(totals.busy + totals.folded_busy);
    Cycle waited = totals.folded_stalled, most = 0;
    for (std::size_t i = 1; i < totals.stalled.size(); ++i) {
      waited += totals.stalled[i];
      if (totals.stalled[i] <= most) continue;
      most = totals.stalled[i];
      event.stall = static_cast<Stall>(i);
    }
    event.pc = static_cast<std::uint32_t>(waited);
    out.push_back({sim::no_event, event});
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Shown& a, const Shown& b) { return a.event.begin < b.event.begin; });
  return out;
}

// By track.
std::vector<std::vector<Shown>> shown_of(const TimelineView& view, std::size_t most) {
  const sim::Record& record = view.record();
  const std::size_t tracks = record.tracks.size();
  std::vector<bool> whole(tracks, record.events.size() <= most);
  std::size_t left = most / 2, others = 0;
  if (record.events.size() > most) {
    for (const TrackId track : view.tracks()) {
      const std::size_t events = view.timeline().events_of(track);
      whole[track] = events <= left && others == 0;
      if (whole[track]) left -= events;
      if (!whole[track]) ++others;
    }
  }
  std::vector<std::vector<Shown>> out(tracks);
  EventId id = 0;
  for (const Event& event : record.events) {
    if (whole[event.track]) out[event.track].push_back({id, event});
    ++id;
  }
  const std::size_t pixels = (most / 2 + left) / std::max<std::size_t>(others, 1);
  for (TrackId track = 0; track < tracks; ++track) {
    if (!whole[track]) {
      out[track] = spans_of(view, track,
                            static_cast<std::uint32_t>(std::clamp<std::size_t>(pixels, 4, 4096)));
      continue;
    }
    std::sort(out[track].begin(), out[track].end(), [](const Shown& a, const Shown& b) {
      return std::pair(a.event.begin, a.id) < std::pair(b.event.begin, b.id);
    });
  }
  return out;
}

// ---- Events as columns --------------------------------------------------------------------------

class Columns {
 public:
  enum Name {
    begin,
    length,
    kind,
    doing,
    text,
    amount,
    pc,
    until,
    a,
    b,
    cause,
    carried,
    issue,
    lane,
    on,
    step,
    count
  };
  void add(Name name, std::int64_t value) {
    std::string& column = columns_[name];
    if (!column.empty()) column += ',';
    fmt::format_to(std::back_inserter(column), "{}", value);
  }
  std::string json() const {
    static constexpr const char* names[count] = {
        "begin", "length", "kind",  "doing",   "text",  "amount", "pc", "until",
        "a",     "b",      "cause", "carried", "issue", "lane",   "on", "step"};
    std::string out = "{";
    for (std::size_t i = 0; i < count; ++i) {
      out += fmt::format("{}\"{}\":[{}]", i ? "," : "", names[i], columns_[i]);
    }
    return out + "}";
  }

 private:
  std::array<std::string, count> columns_;
};

class Writer {
 public:
  Writer(const TimelineView& view, std::size_t most)
      : view_(view), record_(view.record()), shown_(shown_of(view, most)) {
    names_.barriers = view.barriers();
    texts_.of("");
    // Numbers of events on the page.
    places_.assign(record_.events.size(), nowhere);
    std::uint32_t place = 0;
    for (const auto& track : shown_) {
      for (const Shown& each : track) {
        if (each.id != sim::no_event) places_[each.id] = place;
        ++place;
      }
    }
    taken_together_ = record_.events.size() -
                      static_cast<std::size_t>(std::count_if(places_.begin(), places_.end(),
                                                             [](auto p) { return p != nowhere; }));
    for (const Doing each : view.doings()) doings_.of(each);
  }

  // Of the first clusters, which are looked at closely.
  void find_steps() {
    constexpr std::size_t clusters = 8;
    std::vector<std::uint64_t> known;
    for (const sim::TrackGroup& group : view_.timeline().groups()) {
      if (group.block == sim::many_blocks || known.size() == clusters) break;
      if (std::count(known.begin(), known.end(), group.cluster)) continue;
      known.push_back(group.cluster);
      add_steps(sim::pipeline_of(view_.timeline(), view_.roles(), group.cluster), steps_);
    }
  }

  std::string document() {
    find_steps();
    for (const auto& track : shown_) add_track(track);
    Json out;
    out["version"] = 1;
    out["title"] = view_.title();
    out["about"] = totals_line(view_);
    out["unit"] = view_.known_time() ? "cycle" : "instruction";
    out["clock"] = view_.clock();
    out["end"] = static_cast<std::uint64_t>(view_.end());
    out["least_wait"] = sim::least_wait;
    out["together"] = taken_together_;
    out["tail"] = has_tail();
    out["themes"] = {{"light", theme_json(light_theme())}, {"dark", theme_json(dark_theme())}};
    out["tracks"] = tracks_json();
    out["groups"] = groups_json();
    out["rows"] = rows_json();
    out["overview"] = overview_json();
    out["reports"] = reports_json();
    out["legend"] = legend_json();
    out["lines"] = lines_json();  // before doings: all of theirs are known
    out["doings"] = doings_json();
    out["kinds"] = kinds_json();
    out["barriers"] = barriers_;
    out["texts"] = texts_.all();
    std::string text = out.dump(-1, ' ', false, Json::error_handler_t::replace);
    text.pop_back();
    text += ",\"events\":" + columns_.json() + "}";
    return text;
  }

 private:
  void add_track(const std::vector<Shown>& track) {
    Cycle before = 0;
    for (const Shown& each : track) {
      add_event(each, before);
      before = each.event.begin;
    }
  }

  void add_event(const Shown& shown, Cycle before) {
    const Event& event = shown.event;
    const Unit unit = record_.tracks[event.track].unit;
    const auto add = [&](Columns::Name name, auto value) {
      columns_.add(name, static_cast<std::int64_t>(value));
    };
    add(Columns::begin, event.begin - before);
    const bool open = event.end == sim::never_ends;
    columns_.add(Columns::length, open ? -1 : static_cast<std::int64_t>(event.end - event.begin));
    add(Columns::kind, event.kind);
    add(Columns::doing, doings_.of(doing_of(event)));
    add(Columns::text, texts_.of(sim::description(record_, event, names_)));
    add(Columns::amount, event.amount);
    const bool has_pc = event.kind == EventKind::run || event.kind == EventKind::wait ||
                        event.kind == EventKind::operation;
    columns_.add(Columns::pc, has_pc ? static_cast<std::int64_t>(line_of(event.pc)) : -1);
    std::int64_t until = -1, a = 0, b = 0;
    switch (event.kind) {
      case EventKind::run:
        until = line_of(event.until);
        a = event.object;
        b = event.phase;
        break;
      case EventKind::folded:
        a = event.until;
        b = event.pc;
        break;
      case EventKind::report:
        a = event.object;
        break;
      default:
        a = event.phase;
        b = event.bytes ? 1 : 0;
    }
    columns_.add(Columns::until, until);
    columns_.add(Columns::a, a);
    columns_.add(Columns::b, b);
    add_cause(shown);
    add(Columns::issue, event.begin - std::min(event.issue, event.begin));
    add(Columns::lane, shown.id == sim::no_event ? 0 : view_.lane_of(shown.id));
    add(Columns::on, barrier_of(event, unit));
    const auto step = steps_.find(shown.id);
    columns_.add(Columns::step, step == steps_.end() ? 0 : std::int64_t{step->second} + 1);
  }

  // The colour of an event; of a run and of folded ones, what most of its waits were for.
  Doing doing_of(const Event& event) const {
    const bool stalls = event.kind == EventKind::run || event.kind == EventKind::folded;
    if (!stalls) return view_.doing(event);
    if (event.stall == Stall::none) return {record_.tracks[event.track].unit, Stall::none};
    if (event.kind == EventKind::folded && event.stall == Stall::group) {
      return {view_.unit_of_groups(), event.stall};
    }
    if (event.kind == EventKind::folded && event.stall == Stall::mbarrier) {
      return {view_.usual_of(event.track), event.stall};
    }
    return {Unit::count_, event.stall};
  }

  void add_cause(const Shown& shown) {
    const std::uint32_t cause = shown.id != sim::no_event && shown.event.cause < places_.size()
                                    ? places_[shown.event.cause]
                                    : nowhere;
    if (cause == nowhere) {
      columns_.add(Columns::cause, 0);
      columns_.add(Columns::carried, 0);
      return;
    }
    const std::int64_t step = std::int64_t{cause} - cause_before_;
    columns_.add(Columns::cause, step >= 0 ? step + 1 : step);
    cause_before_ = cause;
    columns_.add(Columns::carried, texts_.of(carried_text(view_, shown.event.cause, shown.id)));
  }

  // The place of an instruction in the table of lines.
  std::uint32_t line_of(std::uint32_t pc) {
    const auto [at, added] =
        line_places_.try_emplace(pc, static_cast<std::uint32_t>(line_places_.size()));
    if (added) line_pcs_.push_back(pc);
    return at->second;
  }

  // The barrier of an event that is not on its row: a place in `barriers`, from 1 on.
  std::uint32_t barrier_of(const Event& event, Unit unit) {
    if (event.kind == EventKind::wait && event.stall == Stall::barrier) {
      return named(fmt::format("barrier {}", event.object),
                   name_of_barrier(view_, Unit::barrier, event.object));
    }
    const bool on_mbarrier =
        (event.kind == EventKind::wait && event.stall == Stall::mbarrier) ||
        (event.kind == EventKind::operation && event.object) ||
        ((event.kind == EventKind::phase || event.kind == EventKind::arrival) &&
         unit == Unit::mbarrier);
    if (on_mbarrier) {
      return named(barrier_name(view_.barriers(), event.object),
                   name_of_barrier(view_, Unit::mbarrier, event.object));
    }
    const bool on_row = event.kind == EventKind::phase || event.kind == EventKind::arrival;
    if (on_row && (unit == Unit::barrier || unit == Unit::cluster)) {
      const std::string name = name_of_barrier(view_, unit, event.object);
      return named(name, name);
    }
    return 0;
  }
  std::uint32_t named(const std::string& name, const std::string& whole) {
    const auto [at, added] = barrier_places_.try_emplace(whole, barriers_.size() + 1);
    if (added) barriers_.push_back({name, whole});
    return static_cast<std::uint32_t>(at->second);
  }

  // ---- What is not events ----

  // At the end of a whole run what was stored is still on its way.
  bool has_tail() const {
    const bool faulted = !record_.reports.empty() && record_.reports.back().weight == Weight::fault;
    return record_.timed && record_.blocks_simulated == record_.launch.grid.count() && !faulted;
  }

  static Json theme_json(const Theme& theme) {
    Json steps = Json::array();
    for (std::uint32_t step = 0; step < 21; ++step) {  // then they repeat
      const Rgba colour = step_colour(step, theme);
      steps.push_back({hex_of(colour), hex_of(text_on(colour))});
    }
    return {
        {"steps", steps},
        {"other", hex_of(mix(theme.paper, theme.quiet, 0.45))},
        {"faint", hex_of(mix(theme.paper, theme.quiet, 0.25))},
        {"grey_phases",
         {hex_of(mix(theme.paper, theme.quiet, 0.2)), hex_of(mix(theme.paper, theme.quiet, 0.1))}},
        {"paper", hex_of(theme.paper)},
        {"panel", hex_of(theme.panel)},
        {"line", hex_of(theme.line)},
        {"text", hex_of(theme.text)},
        {"quiet", hex_of(theme.quiet)},
        {"accent", hex_of(theme.accent)},
        {"on_accent", hex_of(text_on(theme.accent))},
        {"wrong", hex_of(theme.wrong)},
        {"on_wrong", hex_of(text_on(theme.wrong))},
        {"on_text", hex_of(text_on(theme.text))},
        {"phases", {hex_of(phase_colour(0, theme)), hex_of(phase_colour(1, theme))}}};
  }

  static Json colours_json(Doing doing, const Theme& theme) {
    return {{"solid", hex_of(colour_of(doing, theme))},
            {"ground", hex_of(ground_of(doing, theme))},
            {"stripe", hex_of(stripe_of(doing, theme))},
            {"flight", hex_of(mix(theme.paper, colour_of(doing, theme), 0.5))},
            {"ink", hex_of(text_on(colour_of(doing, theme)))}};
  }

  Json doings_json() const {
    Json out = Json::array();
    for (const Doing doing : doings_.all()) {
      Json each{{"text", text(doing)},
                {"unit", static_cast<int>(doing.unit)},
                {"light", colours_json(doing, light_theme())},
                {"dark", colours_json(doing, dark_theme())}};
      if (doing.waits()) {
        each["what"] = sim::text(sim::WaitKey{doing.stall, doing.unit});
        each["letter"] = std::string(1, letter_of(doing));
        each["hatch"] = static_cast<int>(hatch_of(doing));
      }
      out.push_back(std::move(each));
    }
    return out;
  }

  Json tracks_json() {
    Json out = Json::array();
    for (TrackId t = 0; t < record_.tracks.size(); ++t) {
      const TimelinePlace place{false, t};
      const Unit unit = record_.tracks[t].unit;
      out.push_back({{"unit", std::string(sim::name_of(unit))},
                     {"does", doings_.of({unit, Stall::none})},
                     {"events", shown_[t].size()},
                     {"lanes", view_.lanes_of(t)},
                     {"queue", view_.longest_queue(t)},
                     {"label", view_.label_of(place)},
                     {"detail", view_.detail_of(place)},
                     {"name", row_name(view_, t)}});
    }
    return out;
  }

  Json groups_json() const {
    Json out = Json::array();
    for (std::uint32_t g = 0; g < view_.groups().size(); ++g) {
      const TimelineView::Group& group = view_.groups()[g];
      const TimelinePlace place{true, g};
      out.push_back({{"label", view_.label_of(place)},
                     {"detail", view_.detail_of(place)},
                     {"name", view_.title_of(place)},
                     {"kind", static_cast<int>(group.kind)},
                     {"open", group.open},
                     {"stripes", view_.has_stripes(g)},
                     {"begin", group.begin},
                     {"end", group.end},
                     {"first", group.first},
                     {"count", group.count}});
    }
    return out;
  }

  // With everything open: [group, place, level] after one another; then the tracks in their order.
  Json rows_json() const {
    TimelineChoice open;
    for (std::uint32_t g = 0; g < view_.groups().size(); ++g) {
      if (!view_.groups()[g].open) open.turned.push_back(g);
    }
    Json out = Json::array();
    for (const TimelineRow& row : view_.rows(open)) {
      out.push_back(row.place.group ? 1 : 0);
      out.push_back(row.place.index);
      out.push_back(row.level);
    }
    return {{"all", out}, {"tracks", view_.tracks()}};
  }

  Json overview_json() {
    Json out = Json::array();
    for (const OverviewLane& lane : view_.overview()) {
      Json shares = Json::array();
      for (const float share : lane.share) {
        // What is there at all is seen.
        shares.push_back(share > 0 ? std::max(1, static_cast<int>(share * 100)) : 0);
      }
      out.push_back({{"doing", doings_.of(lane.doing)}, {"share", std::move(shares)}});
    }
    return out;
  }

  Json reports_json() const {
    std::vector<std::int64_t> first(record_.reports.size(), -1);
    std::int64_t place = 0;
    for (const auto& track : shown_) {
      for (const Shown& each : track) {
        const std::uint32_t number = each.event.object;
        if (each.event.kind == EventKind::report && number < first.size() && first[number] < 0) {
          first[number] = place;
        }
        ++place;
      }
    }
    Json out = Json::array();
    for (std::size_t i = 0; i < record_.reports.size(); ++i) {
      const Report& report = record_.reports[i];
      out.push_back({{"weight", std::string(name_of(report.weight))},
                     {"kind", report.kind},
                     {"sentence", report.sentence},
                     {"expected", report.expected},
                     {"found", report.found},
                     {"site", text(report.site)},
                     {"count", report.count},
                     {"event", first[i]}});
    }
    return out;
  }

  Json legend_json() {
    static constexpr const char* kinds[] = {"solid",  "hatched", "phase", "flight",
                                            "report", "hazard",  "more"};
    Json out = Json::array();
    for (const auto& line : legend_of({&view_}, {1e9, 1e9})) {
      for (const LegendEntry& entry : line) {
        out.push_back({{"kind", kinds[static_cast<std::size_t>(entry.kind)]},
                       {"doing", doings_.of(entry.doing)},
                       {"letter", entry.letter},
                       {"text", entry.text}});
      }
    }
    return out;
  }

  Json lines_json() const {
    Json out = Json::array();
    for (const std::uint32_t pc : line_pcs_) {
      Json each{{"lines", Json::array()}};
      for (const auto& [name, value] : place_lines(view_, pc))
        each["lines"].push_back({name, value});
      if (pc < record_.lines.size()) {
        const sim::RecordedLine& line = record_.lines[pc];
        each["line"] = line.caller_line ? line.caller_line : line.line;
      }
      out.push_back(std::move(each));
    }
    return out;
  }

  static Json kinds_json() {
    Json out = Json::array();
    for (int i = 0; i <= static_cast<int>(EventKind::folded); ++i) {
      out.push_back(std::string(sim::name_of(static_cast<EventKind>(i))));
    }
    return out;
  }

  const TimelineView& view_;
  const sim::Record& record_;
  std::vector<std::vector<Shown>> shown_;
  sim::TextChoice names_;
  std::vector<std::uint32_t> places_;  // by EventId
  TimelineSteps steps_;
  std::size_t taken_together_ = 0;  // events of the record that have no place
  Texts texts_;
  Doings doings_;
  Columns columns_;
  std::int64_t cause_before_ = 0;
  std::unordered_map<std::uint32_t, std::uint32_t> line_places_;
  std::vector<std::uint32_t> line_pcs_;
  std::unordered_map<std::string, std::size_t> barrier_places_;
  Json barriers_ = Json::array();
};

}  // namespace

std::string timeline_data(const TimelineView& view, std::size_t most) {
  return Writer(view, std::max<std::size_t>(most, 1000)).document();
}

}  // namespace tilescope
