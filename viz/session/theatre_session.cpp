#include "viz/session/theatre_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "viz/scene/number_words.h"
#include "viz/session/seek.h"

namespace tilescope {

std::shared_ptr<const TheatreView> theatre_of(const Session& session) {
  const ViewState& state = session.state;
  if (!state.timeline) return nullptr;
  const sim::Record& record = state.timeline->record();
  const std::uint64_t cluster = sim::cluster_of(record.launch, state.spot.block);
  TheatreCache& cache = session.theatre;
  if (cache.of != state.timeline || cache.cluster != cluster) {
    cache.of = state.timeline;
    cache.cluster = cluster;
    cache.view = std::make_shared<const TheatreView>(state.timeline->shared_record(),
                                                     state.timeline->shared_timeline(),
                                                     state.timeline->roles(), cluster);
  }
  return cache.view->pipeline().blocks.empty() ? nullptr : cache.view;
}

std::optional<Emptiness> no_cluster(const Session& session) {
  if (theatre_of(session)) return {};
  return Emptiness{
      fmt::format("The record of {} has no events of CTA {}: it keeps those of the first CTAs.",
                  session.state.kernel->name, session.state.spot.block),
      "look block 0", "Look at CTA 0"};
}

std::uint8_t theatre_rank(const Session& session, const TheatreView& view) {
  const auto& blocks = view.pipeline().blocks;
  const auto at = std::find(blocks.begin(), blocks.end(), session.state.spot.block);
  return at == blocks.end() ? 0 : static_cast<std::uint8_t>(at - blocks.begin());
}

double theatre_time(const Session& session, const TheatreView& view) {
  const ViewState& state = session.state;
  if (state.theatre.at) return *state.theatre.at;
  const sim::Machine* machine = machine_of(session);
  const bool on_its_way = machine && machine->position() > 0 && machine->state() != RunState::done;
  return on_its_way ? std::min(time_of(*machine), view.end()) : view.opening();
}

namespace {

// Names of the source for registers, and what they hold where the machine stands at this time.
void add_registers(const ViewState& state, double at, TheatreShown& shown) {
  const std::shared_ptr<const LiveRun> live = state.live;
  const sim::Machine& machine = live->stepper.machine();
  if (!live->names.empty()) {
    shown.variable = [live](std::uint32_t pc, const std::string& name) -> std::string {
      const ptx::Program& program = live->stepper.machine().program();
      if (pc >= program.code.size()) return "";
      const std::uint32_t behind = program.code[pc].line + 1;
      for (const ptx::DebugVariable& variable : live->names.variables) {
        const ptx::DebugVariable::Place* const place = variable.at(behind);
        if (place && place->of == ptx::DebugVariable::Place::Of::reg && place->name == name) {
          return variable.name;
        }
      }
      return "";
    };
  }
  const bool stands = machine.position() > 0 && machine.state() != RunState::done &&
                      std::abs(time_of(machine) - at) < 1;
  if (!stands) return;
  using Key = std::pair<std::size_t, std::string>;
  const auto known = std::make_shared<std::map<Key, std::optional<sim::RegisterValue>>>();
  const std::uint64_t block = state.spot.block;
  const auto warps =
      std::make_shared<const std::vector<sim::WarpState>>(sim::warps_of(machine, block));
  shown.value = [live, known, warps, block](std::uint32_t warp, const std::string& name,
                                            std::uint32_t lane) -> std::string {
    if (warp >= warps->size() || (*warps)[warp].splits.empty()) return "";
    const std::size_t split = sim::split_of_lane((*warps)[warp], lane);
    const auto [at, fresh] = known->try_emplace({warp * 64 + split, name});
    if (fresh) {
      at->second = live->registers.find(live->stepper.machine(), block, warp, name, split);
    }
    if (!at->second || !at->second->alive) return "";
    const sim::RegisterValue& value = *at->second;
    if (value.undefined[lane]) return "undefined";
    const std::uint64_t bits = value.low[lane];
    if (value.type == ptx::Type::f32) {
      return fmt::format("{:.6g}", std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    }
    if (value.type == ptx::Type::f64) return fmt::format("{:.6g}", std::bit_cast<double>(bits));
    return fmt::format("0x{:x}", bits);
  };
}

}  // namespace

TheatreShown theatre_shown(const Session& session, const TheatreView& view, const TheatreNow& now) {
  const ViewState& state = session.state;
  TheatreShown shown{view, now, session.theme()};
  shown.rank = theatre_rank(session, view);
  shown.warp = state.spot.warp;
  shown.playing = session.theatre.playing;
  shown.follow = state.theatre.follow;
  shown.source = [&state](const std::string& file, std::uint32_t line) -> std::string {
    if (!state.live) return "";
    const auto lines = state.live->sources.find(file);
    if (lines == state.live->sources.end() || line < 1 || line > lines->second.size()) return "";
    return lines->second[line - 1];
  };
  if (state.live) add_registers(state, now.at, shown);
  return shown;
}

bool play_theatre(Session& session, double seconds) {
  TheatreCache& play = session.theatre;
  if (!play.playing) return false;
  const auto view = session.state.view == ViewName::theatre ? theatre_of(session) : nullptr;
  if (!view) {
    play.playing = false;
    return true;
  }
  // A frame that took long moves no further than a short one would have been seen to.
  double at = theatre_time(session, *view) + play.speed * std::min(seconds, 0.1);
  if (at >= view->end()) {
    at = play.loops ? view->begin() : view->end();
    play.playing = play.loops;
  }
  session.state.theatre.at = at;
  return true;
}

bool drags_time(const Picture& picture, Point from) {
  return picture.theatre && picture.theatre->strip.grown(6).contains(from);
}

Film theatre_film(const Session& session, const TheatreView& view, Size size, std::size_t most) {
  constexpr double cycles_a_frame = 50;  // a copy takes ten to twenty of these
  const ViewState& state = session.state;
  const double length = std::max(1.0, view.end() - view.begin());
  const auto wanted = static_cast<std::size_t>(length / cycles_a_frame);
  const std::size_t count = std::clamp<std::size_t>(wanted, std::min<std::size_t>(60, most), most);
  Film film;
  film.title = fmt::format("{}: the pipeline of CTA {}", view.record().kernel, state.spot.block);
  film.unit = view.record().timed ? "cycle" : "instruction";
  for (std::size_t i = 0; i < count; ++i) {
    const double share =
        static_cast<double>(i) / static_cast<double>(std::max<std::size_t>(1, count - 1));
    const TheatreNow now =
        theatre_at(view, view.begin() + length * share, theatre_rank(session, view));
    const TheatreShown shown = theatre_shown(session, view, now);
    FilmFrame frame;
    draw_theatre(frame.scene, shown, size);
    frame.time = now.at;
    frame.label = fmt::format("{} {}", film.unit, grouped(static_cast<std::uint64_t>(now.at)));
    frame.state = describe_theatre(shown).dump();
    film.frames.push_back(std::move(frame));
  }
  return film;
}

void inspect_theatre(const Session& session, std::vector<InspectorSection>& out) {
  const auto view = theatre_of(session);
  if (!view) return;
  const TheatreNow now =
      theatre_at(*view, theatre_time(session, *view), theatre_rank(session, *view));
  const TheatreShown shown = theatre_shown(session, *view, now);
  const sim::Record& record = view->record();
  const sim::Pipeline& p = view->pipeline();
  InspectorSection moment{"This moment", {}, ""};
  moment.lines.emplace_back(record.timed ? "cycle" : "instruction",
                            grouped(static_cast<std::uint64_t>(std::max(0.0, now.at))));
  const auto count = [&](bool out_of) {
    return std::count_if(now.copies.begin(), now.copies.end(),
                         [&](const TheatreCopy& copy) { return copy.out == out_of; });
  };
  if (record.timed) {
    moment.links.push_back({"go", "bring the machine here",
                            fmt::format("go {}", std::llround(std::max(0.0, now.at))), false});
  }
  if (view->moves_by_threads()) {
    const LanesNow lanes =
        lanes_at(record, view->lanes(), p.blocks[shown.rank], shown.warp, now.at);
    moment.lines.emplace_back("loads under way", fmt::format("{}", lanes.loads));
    moment.lines.emplace_back("stores under way", fmt::format("{}", lanes.stores));
    moment.lines.emplace_back("sectors", fmt::format("{}", lanes.sectors.size()));
    moment.lines.emplace_back("bytes that L2 lacks", grouped(lanes.from_memory));
    out.push_back(std::move(moment));
    return;
  }
  moment.lines.emplace_back("copies in flight", fmt::format("{}", count(false)));
  if (count(true)) moment.lines.emplace_back("copies out", fmt::format("{}", count(true)));
  moment.lines.emplace_back("products under way", fmt::format("{}", now.products.size()));
  if (now.queued) moment.lines.emplace_back("products queued", fmt::format("{}", now.queued));
  out.push_back(std::move(moment));

  const TheatreFollow& follow = session.state.theatre.follow;
  if (follow.what != TheatreFollow::What::nothing) {
    InspectorSection followed{"Followed", {}, ""};
    if (follow.number < p.stages.size()) {
      followed.lines.emplace_back("place", stage_text(*view, follow.number));
      const sim::RingStage& stage = p.stages[follow.number];
      if (follow.what == TheatreFollow::What::tile && follow.filling < stage.fillings.size()) {
        const sim::Filling& f = stage.fillings[follow.filling];
        const auto time = [&](std::string_view name, sim::Cycle at) {
          if (at != sim::never_ends) {
            followed.links.push_back(
                {std::string(name), grouped(at), fmt::format("theatre at {}", at), false});
          }
        };
        followed.lines.emplace_back("what", parts_text(record, f.parts));
        followed.lines.emplace_back("k-step", fmt::format("{}", f.step));
        time("issued", f.issued);
        time("under way", f.begin);
        time("landed", f.landed);
        time("waited for", f.awaited);
        time("there", f.full);
        time("first read", f.read_begin);
        time("last read", f.read_end);
        time("free", f.freed);
        for (const sim::Accumulator& a : p.accumulators) {
          for (const sim::Accumulation& sum : a.sums) {
            if (sum.number != f.sum) continue;
            time("sum complete", sum.complete);
            time("sum read", sum.read_end);
            if (!sum.tile || view->outputs().empty()) continue;
            sim::MemoryUse tile = *sum.tile;
            tile.buffer = view->outputs().front();
            followed.lines.emplace_back("goes into", part_text(record, tile));
          }
        }
      } else {
        followed.lines.emplace_back("uses", fmt::format("{}", stage.fillings.size()));
      }
    }
    followed.links.push_back({"", "follow nothing", "theatre follow none", false});
    out.push_back(std::move(followed));
  }

  InspectorSection barriers{"mbarriers", {}, "No mbarrier is used in this CTA."};
  for (std::size_t i = 0; i < p.barriers.size(); ++i) {
    const sim::BarrierPhases& of = p.barriers[i];
    if (of.rank != shown.rank || of.unit != sim::Unit::mbarrier) continue;
    const TheatreBarrier& b = now.barriers[i];
    std::string text = fmt::format("phase {}", b.phase);
    if (b.over) {
      text += ", not begun";
    } else if (b.arrivals_of) {
      text += fmt::format(", {} of {} arrived", b.arrivals, b.arrivals_of);
    } else if (b.arrivals) {
      text += fmt::format(", {} arrived", b.arrivals);
    }
    if (b.bytes_of) {
      text += fmt::format(", {} of {} bytes", grouped(b.bytes), grouped(b.bytes_of));
    }
    if (!b.waiting.empty()) text += fmt::format(", {} waiting", b.waiting.size());
    barriers.lines.emplace_back(barrier_text(record, of, shown.rank), std::move(text));
  }
  out.push_back(std::move(barriers));
}

Strip theatre_strip(const Session& session) {
  Strip out;
  const auto view = theatre_of(session);
  const double now = view ? theatre_time(session, *view) : 0;
  // What leads nowhere from this time is not offered.
  if (!view || view->previous(TheatreStep::any, now)) {
    out.actions.push_back({"Back", "theatre back any", false});
  }
  if (!view || view->next(TheatreStep::any, now)) {
    out.actions.push_back({"Next", "theatre next any", false});
  }
  out.actions.push_back(session.theatre.playing ? Tab{"Pause", "theatre pause", false}
                                                : Tab{"Play", "theatre play", false});
  for (const TheatreStep step :
       {TheatreStep::copy, TheatreStep::product, TheatreStep::phase, TheatreStep::load}) {
    if (view && !view->next(step, now)) continue;
    out.actions.push_back({fmt::format("Next {}", name_of(step)),
                           fmt::format("theatre next {}", name_of(step)), false});
  }
  return out;
}

std::vector<std::string> theatre_lines(const ViewState& state) {
  std::vector<std::string> out;
  if (!state.timeline) return out;
  const TheatreChoice& choice = state.theatre;
  if (choice.at) out.push_back(fmt::format("theatre at {}", *choice.at));
  const TheatreFollow& f = choice.follow;
  if (f.what == TheatreFollow::What::stage) {
    out.push_back(fmt::format("theatre follow stage {}", f.number));
  } else if (f.what == TheatreFollow::What::tile) {
    out.push_back(fmt::format("theatre follow tile {} {}", f.number, f.filling));
  }
  return out;
}

}  // namespace tilescope
