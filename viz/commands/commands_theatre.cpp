// The theatre: which time of the run is shown, whether it goes on, what is followed.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "viz/commands/command_table.h"
#include "viz/scene/command_text.h"
#include "viz/scene/number_words.h"
#include "viz/session/theatre_session.h"
#include "viz/timeline/timeline_words.h"

namespace tilescope {
namespace {

constexpr double kSlowest = 1, kFastest = 1e7;

std::string time_text(const Session& session, double at) {
  return fmt::format("{} {}", session.state.timeline->known_time() ? "Cycle" : "Instruction",
                     grouped(static_cast<std::uint64_t>(std::max(0.0, at))));
}

Answer show(Session& session, const TheatreView& view, double at) {
  session.state.view = ViewName::theatre;
  session.state.theatre.at = std::clamp(at, 0.0, view.end());
  return fmt::format("{}. {}", time_text(session, at),
                     theatre_at(view, at, theatre_rank(session, view)).sentence);
}

Answer go_to(Session& session, const TheatreView& view, std::string_view time) {
  const auto at = cycles_in(*session.state.timeline, time);
  if (!at) return at.error();
  if (*at > view.end()) {
    return Error{ErrorKind::mismatch,
                 fmt::format("Nothing goes on by then: the last event of {} ends at {} {}.",
                             view.pipeline().blocks.size() > 1 ? "these CTAs" : "this CTA",
                             session.state.timeline->known_time() ? "cycle" : "instruction",
                             grouped(static_cast<std::uint64_t>(view.end()))),
                 ""};
  }
  return show(session, view, *at);
}

Answer step(Session& session, const TheatreView& view, bool forward, std::string_view what) {
  if (what.empty()) what = "any";
  for (const TheatreStep each : {TheatreStep::copy, TheatreStep::product, TheatreStep::phase,
                                 TheatreStep::load, TheatreStep::any}) {
    if (what != name_of(each)) continue;
    const double now = theatre_time(session, view);
    const auto at = forward ? view.next(each, now) : view.previous(each, now);
    if (!at) {
      return Error{ErrorKind::mismatch,
                   fmt::format("There is no {} {} of this CTA.", forward ? "later" : "earlier",
                               each == TheatreStep::any ? "event" : name_of(each)),
                   ""};
    }
    session.theatre.playing = false;
    return show(session, view, *at);
  }
  return usage_error(
      fmt::format("`theatre {}` takes copy, product, phase, load or any; `{}` is none of them.",
                  forward ? "next" : "back", what));
}

Answer set_speed(Session& session, std::string_view text) {
  const auto number = number_in(text);
  if (!number || static_cast<double>(*number) < kSlowest ||
      static_cast<double>(*number) > kFastest) {
    return usage_error(
        "`theatre speed` takes cycles for a second, 1 to 10000000: `theatre speed 600`.");
  }
  session.theatre.speed = static_cast<double>(*number);
  return fmt::format("{} cycles pass in a second.", grouped(static_cast<std::uint64_t>(*number)));
}

Answer follow(Session& session, const TheatreView& view, std::string_view arguments) {
  const std::vector<std::string> words = split_words(arguments);
  TheatreFollow& now = session.state.theatre.follow;
  const auto number = [&](std::size_t i) -> std::optional<std::size_t> {
    const auto value = i < words.size() ? number_in(words[i]) : std::nullopt;
    if (!value || *value < 0) return {};
    return static_cast<std::size_t>(*value);
  };
  if (words.size() == 1 && words[0] == "none") {
    now = {};
    return std::string("Nothing is followed.");
  }
  const auto& p = view.pipeline();
  if (words.size() == 2 && words[0] == "warp" && number(1)) {
    const bool there = std::any_of(p.warps.begin(), p.warps.end(),
                                   [&](const auto& warp) { return warp.index == *number(1); });
    if (!there) {
      return Error{ErrorKind::mismatch, fmt::format("There is no warp {}.", words[1]), ""};
    }
    session.state.spot.warp = static_cast<std::uint32_t>(*number(1));
    return fmt::format("Warp {} is looked at.", words[1]);
  }
  const bool stage = words.size() == 2 && words[0] == "stage" && number(1);
  const bool tile = words.size() == 3 && words[0] == "tile" && number(1) && number(2);
  if (!stage && !tile) {
    return usage_error(
        "`theatre follow` takes stage N, tile STAGE USE, warp N, or none: `theatre follow tile 1 "
        "0` is what came first into stage 1.");
  }
  if (*number(1) >= p.stages.size()) {
    return Error{ErrorKind::mismatch,
                 fmt::format("There is no stage {}: this cluster has {}, counted from 0.", words[1],
                             p.stages.size()),
                 ""};
  }
  if (stage) {
    now = {TheatreFollow::What::stage, *number(1), 0};
    return fmt::format("{} is followed.", stage_text(view, *number(1)));
  }
  const auto& fillings = p.stages[*number(1)].fillings;
  if (*number(2) >= fillings.size()) {
    return Error{ErrorKind::mismatch,
                 fmt::format("{} is used {} times, counted from 0.", stage_text(view, *number(1)),
                             fillings.size()),
                 ""};
  }
  now = {TheatreFollow::What::tile, *number(1), *number(2)};
  return fmt::format("{}: {}.", parts_text(view.record(), fillings[*number(2)].parts),
                     life_of(fillings[*number(2)]));
}

Answer run_theatre(Session& session, Backend&, std::string_view arguments) {
  const auto view = theatre_of(session);
  if (!view) {
    return usage_error(
        session.state.timeline
            ? "The record has no events of this CTA: `look block 0` looks at the first."
            : "There is nothing to play: `open` a kernel and `run` it.");
  }
  const auto [what, how] = first_word(arguments);
  if (what == "at" && !how.empty()) return go_to(session, *view, how);
  if (what == "next" || what == "back") return step(session, *view, what == "next", how);
  if (what == "speed") return set_speed(session, how);
  if (what == "follow") return follow(session, *view, how);
  if (what == "play" && how.empty()) {
    session.state.view = ViewName::theatre;
    if (theatre_time(session, *view) >= view->end()) session.state.theatre.at = view->begin();
    session.theatre.playing = true;
    return std::string("Playing.");
  }
  if (what == "pause" && how.empty()) {
    session.theatre.playing = false;
    return std::string("Paused.");
  }
  if (what == "loop" && (how == "on" || how == "off")) {
    session.theatre.loops = how == "on";
    return std::string(how == "on" ? "It begins again at its end." : "It stops at its end.");
  }
  return usage_error(
      "`theatre` takes at TIME, next or back with copy, product, phase, load or any, play, pause, "
      "speed N, loop on or off, or follow: `theatre at 1200`.");
}

constexpr std::array kTheatreCommands = {
    WindowCommand{"theatre",
                  "at TIME | next KIND | back KIND | play | pause | speed N | loop on | loop off | "
                  "follow stage N | follow tile STAGE USE | follow warp N | follow none",
                  "plays a run's pipeline, and follows a stage, a tile or a warp through it",
                  "theatre next product", "", run_theatre, nullptr, true},
};

}  // namespace

std::span<const WindowCommand> theatre_commands() {
  return kTheatreCommands;
}

}  // namespace tilescope
