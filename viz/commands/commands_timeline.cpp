// The timeline: what of time and rows is seen, what is added up, what is looked for.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "viz/commands/command_table.h"
#include "viz/scene/command_text.h"
#include "viz/scene/number_words.h"
#include "viz/session/timeline_session.h"
#include "viz/timeline/timeline_search.h"
#include "viz/timeline/timeline_words.h"

namespace tilescope {
namespace {

Error no_timeline() {
  return usage_error(
      "There is no timeline: `open` a kernel and `run` it; what it did is drawn here.");
}

// `end`: of what can be seen.
Outcome<CycleRange> range_in(const TimelineView& view, double end, std::string_view name,
                             std::string_view arguments) {
  const auto [first, second] = first_word(arguments);
  if (first.empty() || second.empty()) {
    return usage_error(fmt::format(
        "`timeline {}` takes two times, in cycles or as 1.2us: `timeline {} 1200 3400`.", name,
        name));
  }
  const auto from = cycles_in(view, first), to = cycles_in(view, second);
  if (!from) return from.error();
  if (!to) return to.error();
  if (!(*to > *from)) {
    return usage_error(fmt::format("`timeline {} {}` ends before it begins.", name, arguments));
  }
  if (*from >= end) {
    return Error{ErrorKind::mismatch,
                 fmt::format("The run has ended by then: it takes {}.", cycles_text(view, end)),
                 ""};
  }
  return CycleRange{*from, std::min(*to, end)};
}

Answer show_range(Session& session, std::string_view arguments) {
  const auto range = range_in(*session.state.timeline, timeline_span(session), "range", arguments);
  if (!range) return range.error();
  const TimelineView& view = *session.state.timeline;
  session.timeline_viewport = showing(view, timeline_frame(session), *range);
  return fmt::format("Shown: {}.", range_text(view, session.timeline_viewport.range));
}

Answer zoom(Session& session, std::string_view how) {
  if (how == "fit") {
    session.timeline_viewport.range = {};
    return std::string("All of the run is shown.");
  }
  if (how != "in" && how != "out") return usage_error("`timeline zoom` takes in, out or fit.");
  return timeline_zoom(session, how == "in" ? 1.5 : 1 / 1.5);
}

Answer pan(Session& session, std::string_view where) {
  const TimelineView& view = *session.state.timeline;
  const TimelineFrame frame = timeline_frame(session);
  const double across = frame.lanes.width / 5, down = 4 * timeline_row_height;
  Point by;
  if (where == "left") {
    by.x = across;
  } else if (where == "right") {
    by.x = -across;
  } else if (where == "up") {
    by.y = down;
  } else if (where == "down") {
    by.y = -down;
  } else {
    return usage_error("`timeline pan` takes left, right, up or down.");
  }
  session.timeline_viewport = panned(view, frame, by.x, by.y);
  return fmt::format("Shown: {}.", range_text(view, session.timeline_viewport.range));
}

Outcome<TimelinePlace> place_named(const TimelineView& view, std::string_view name,
                                   std::string_view command) {
  if (const auto place = view.find_place(name)) return *place;
  const auto rows = view.rows({});
  std::string some;
  for (std::size_t i = 0; i < rows.size() && i < 6; ++i) {
    some += fmt::format("{}{}", some.empty() ? "" : ", ", view.name_of(rows[i].place));
  }
  return Error{ErrorKind::unknown,
               fmt::format("`timeline {} {}`: there is no such row. There are {} and others.",
                           command, name, some),
               ""};
}

// Whose rows a command is about: "baseline block 3" is a row of the run above.
struct Whose {
  const TimelineView* view = nullptr;
  TimelineChoice* choice = nullptr;
  std::string_view of;    // "baseline ", or nothing
  std::string_view name;  // of the row
};
Outcome<Whose> whose(ViewState& state, std::string_view name) {
  if (name.substr(0, of_baseline.size()) != of_baseline) {
    return Whose{state.timeline.get(), &state.timeline_choice, "", name};
  }
  if (!state.baseline_timeline) return no_baseline_timeline();
  return Whose{state.baseline_timeline.get(), &state.baseline_rows, of_baseline,
               trimmed(name.substr(of_baseline.size()))};
}

Answer fold(Session& session, std::string_view command, std::string_view name) {
  const auto rows = whose(session.state, name);
  if (!rows) return rows.error();
  const TimelineView& view = *rows->view;
  TimelineChoice& choice = *rows->choice;
  const bool shut = command == "fold";
  if (rows->name == "all") {
    choice.turned.clear();
    for (std::uint32_t g = 0; g < view.groups().size(); ++g) {
      if (view.groups()[g].open == shut) choice.turned.push_back(g);
    }
    return fmt::format("All groups{} are {}.", rows->of.empty() ? "" : " of the baseline",
                       shut ? "folded" : "open");
  }
  const auto place = place_named(view, rows->name, command);
  if (!place) return place.error();
  if (!place->group) {
    return usage_error(
        fmt::format("`{}` is one row: CTAs, roles and barriers fold.", view.title_of(*place)));
  }
  choice = view.folded(choice, place->index, shut);
  return fmt::format("{}{} is {}.", rows->of, view.title_of(*place), shut ? "folded" : "open");
}

Answer pin(Session& session, std::string_view command, std::string_view name) {
  const auto rows = whose(session.state, name);
  if (!rows) return rows.error();
  const TimelineView& view = *rows->view;
  std::vector<TimelinePlace>& pinned = rows->choice->pinned;
  if (command == "unpin" && rows->name == "all") {
    pinned.clear();
    return std::string("No row is pinned.");
  }
  const auto place = place_named(view, rows->name, command);
  if (!place) return place.error();
  const auto at = std::find(pinned.begin(), pinned.end(), *place);
  if (command == "unpin") {
    if (at == pinned.end()) {
      return usage_error(fmt::format("{} is not pinned.", view.title_of(*place)));
    }
    pinned.erase(at);
    return fmt::format("{}{} scrolls again.", rows->of, view.title_of(*place));
  }
  if (at == pinned.end()) pinned.push_back(*place);
  return fmt::format("{}{} stays on top.", rows->of, view.title_of(*place));
}

// The baseline above the run, on one scale.
Answer put_beside(Session& session, std::string_view how) {
  ViewState& state = session.state;
  if (how != "on" && how != "off") return usage_error("`timeline beside` takes on or off.");
  if (how == "off") {
    state.beside_baseline = false;
    return std::string("The run is drawn alone.");
  }
  if (!state.baseline) return no_baseline_timeline();
  if (!state.baseline_timeline) {
    return Error{ErrorKind::mismatch, "The run of the baseline left no timeline.", ""};
  }
  state.beside_baseline = true;
  state.view = ViewName::timeline;
  if (std::string why = why_apart(state); !why.empty()) return why;
  if (state.baseline == state.result) {
    return std::string("This run is the baseline: the next one is drawn below it.");
  }
  return fmt::format("{} is drawn above this run, on one scale.", state.baseline->kernel.name);
}

Answer add_up(Session& session, std::string_view arguments) {
  std::optional<CycleRange>& totals = session.state.timeline_choice.totals;
  if (arguments == "off") {
    totals.reset();
    return std::string("No range is added up.");
  }
  const auto range = range_in(*session.state.timeline, timeline_span(session), "totals", arguments);
  if (!range) return range.error();
  totals = CycleRange{std::round(range->from), std::round(range->to)};
  return fmt::format("Added up: {}.", range_text(*session.state.timeline, *totals));
}

Answer run_timeline(Session& session, Backend&, std::string_view arguments) {
  if (!session.state.timeline) return no_timeline();
  const auto [what, rest] = first_word(arguments);
  if (what == "range") return show_range(session, rest);
  if (what == "zoom") return zoom(session, rest);
  if (what == "pan") return pan(session, rest);
  if (what == "fold" || what == "unfold") return fold(session, what, rest);
  if (what == "pin" || what == "unpin") return pin(session, what, rest);
  if (what == "totals") return add_up(session, rest);
  if (what == "beside") return put_beside(session, rest);
  if (what == "arrows" && (rest == "on" || rest == "off")) {
    session.state.timeline_choice.arrows = rest == "on";
    return std::string(rest == "on" ? "All arrows in view are drawn."
                                    : "The selected event's arrows are drawn.");
  }
  if (what == "colour" && (rest == "unit" || rest == "step")) {
    session.state.timeline_choice.steps = rest == "step";
    return std::string(rest == "step" ? "Copies and products have the hue of their step of K."
                                      : "Colours are units, and what is waited for.");
  }
  return usage_error(
      "`timeline` takes range, zoom, pan, fold, unfold, pin, unpin, totals, arrows, colour or "
      "beside: "
      "`timeline range 1200 3400`, `timeline unfold block 1`, `timeline beside on`.");
}

Answer go_to_hit(Session& session, const sim::EventFilter& filter, sim::EventId id,
                 std::string_view none) {
  const TimelineView& view = *session.state.timeline;
  if (id == sim::no_event) return Error{ErrorKind::unknown, std::string(none), ""};
  const auto said = pick_event(session, fmt::format("{}", id));
  if (!said) return said.error();
  const CycleRange range = timeline_frame(session).viewport.range;
  const std::size_t hits = hits_in(view, filter, range);
  return fmt::format("{} {}{} in view.", *said, grouped(hits), hits == most_hits ? " or more" : "");
}

Answer run_find(Session& session, Backend&, std::string_view arguments) {
  if (!session.state.timeline) return no_timeline();
  const TimelineView& view = *session.state.timeline;
  TimelineChoice& choice = session.state.timeline_choice;
  if (arguments == "nothing" || arguments.empty()) {
    choice.search.clear();
    return std::string("Nothing is looked for.");
  }
  const bool next = arguments == "next", previous = arguments == "previous";
  const double from = timeline_frame(session).viewport.range.from;
  if (next || previous) {
    if (choice.search.empty()) {
      return usage_error("Nothing is looked for: `find wait`, `find tma`, `find line 100`.");
    }
    const auto filter = search_of(view, choice.search);
    if (!filter) return filter.error();
    const sim::EventId id = next ? next_hit(view, *filter, choice.selected, from)
                                 : previous_hit(view, *filter, choice.selected, from);
    return go_to_hit(
        session, *filter, id,
        fmt::format("There is no `{}` {} this one.", choice.search, next ? "after" : "before"));
  }
  const auto [first, rest] = first_word(arguments);
  const bool mark = first == "mark" && !rest.empty();
  const std::string text(unquoted(mark ? rest : arguments));
  const auto filter = search_of(view, text);
  if (!filter) return filter.error();
  if (mark) {
    choice.search = text;
    const std::size_t hits = hits_in(view, *filter, timeline_frame(session).viewport.range);
    return fmt::format("{}{} in view.", grouped(hits), hits == most_hits ? " or more" : "");
  }
  // Of the CTA that is looked at, where it has any.
  sim::EventFilter own = *filter;
  if (!own.block) own.block = session.state.spot.block;
  sim::EventId id = sim::no_event;
  for (const sim::EventFilter& each : {own, *filter}) {
    if (id == sim::no_event) id = next_hit(view, each, sim::no_event, from);
    if (id == sim::no_event) id = next_hit(view, each, sim::no_event, 0);
  }
  const Answer out =
      go_to_hit(session, *filter, id, fmt::format("Nothing of this run is `{}`.", text));
  if (out) choice.search = text;
  return out;
}

std::vector<Suggestion> suggest_timeline(const Session& session, const Backend&) {
  std::vector<Suggestion> out{{"zoom fit", "all of the run"},
                              {"zoom in", "half as much time"},
                              {"zoom out", "twice as much time"},
                              {"fold all", "one row a CTA"},
                              {"unfold all", "every row"},
                              {"arrows on", "which event caused which, of all in view"},
                              {"arrows off", "of the selected event alone"},
                              {"colour step", "copies and products by their step of K"},
                              {"colour unit", "what works, and what is waited for"},
                              {"totals off", "nothing is added up"}};
  if (session.state.baseline) {
    out.push_back({"beside on", "the baseline above the run, on one scale"});
    out.push_back({"beside off", "the run alone"});
  }
  if (!session.state.timeline) return out;
  const TimelineView& view = *session.state.timeline;
  constexpr std::size_t most = 40;
  for (const TimelineRow& row : view.rows(session.state.timeline_choice)) {
    if (out.size() >= most) break;
    const std::string name = view.name_of(row.place);
    if (row.place.group) {
      out.push_back({fmt::format("{} {}", row.open ? "fold" : "unfold", name), ""});
    } else {
      out.push_back({fmt::format("pin {}", name), "keep it on top"});
    }
  }
  return out;
}

std::vector<Suggestion> suggest_find(const Session&, const Backend&) {
  return {{"wait", "waits of warps"},
          {"wait barrier", "waits for barriers of all kinds"},
          {"run", "stretches in which warps run"},
          {"warp 0", "what a warp did, in all CTAs"},
          {"copies", "copies of all kinds"},
          {"barrier", "phases of barriers, and arrivals at them"},
          {"tma", "copies into shared memory"},
          {"copies out", "copies out of it"},
          {"tensor core", "MMAs"},
          {"phase", "phases of barriers"},
          {"report", "faults and hazards"},
          {"next", "after the selected one"},
          {"previous", "before the selected one"},
          {"nothing", "no marks"}};
}

constexpr std::array kTimelineCommands = {
    WindowCommand{
        "timeline",
        "range FROM TO | zoom in | zoom out | zoom fit | pan left | pan right | pan up | "
        "pan down | fold GROUP | unfold GROUP | fold all | unfold all | pin ROW | unpin "
        "ROW | totals FROM TO | totals off | arrows on | arrows off | colour unit | colour step | "
        "beside on | beside off",
        "shows a time range, folds its rows, sums what they did", "timeline range 1200 3400",
        "W zoom in, S zoom out, A pan left, D pan right", run_timeline, suggest_timeline, true},
    WindowCommand{"find", "TEXT | mark TEXT | next | previous | nothing",
                  "looks for events: by kind, unit, role, warp, barrier, line or instruction",
                  "find tma", "N next, Shift+N previous", run_find, suggest_find, true},
};

}  // namespace

std::span<const WindowCommand> timeline_commands() {
  return kTimelineCommands;
}

}  // namespace tilescope
