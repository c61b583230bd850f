// The machine where it is: source, registers, mbarriers, shared memory, TMEM.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "viz/machine/fault_scene.h"
#include "viz/machine/machine_scene.h"
#include "viz/machine/memory_view.h"
#include "viz/machine/tensor_view.h"
#include "viz/scene/number_words.h"
#include "viz/session/build_scene.h"
#include "viz/session/look.h"
#include "viz/session/matrices_sums.h"
#include "viz/session/result_view.h"
#include "viz/session/seek.h"
#include "viz/session/session.h"
#include "viz/session/theatre_session.h"
#include "viz/session/timeline_session.h"
#include "viz/session/timeline_spot.h"
#include "viz/session/view_rows.h"

namespace tilescope {
namespace {

// Before the first block begins and when the last one has ended there is only source to see.
std::optional<Emptiness> nobody_resident(const Session& session) {
  const sim::Machine& machine = *machine_of(session);
  const bool resident = std::any_of(machine.blocks().begin(), machine.blocks().end(),
                                    [](const sim::Block& block) { return !block.ended; });
  const ViewState& state = session.state;
  if (resident || state.view == ViewName::source) return {};
  const std::string& name = state.kernel->name;
  if (machine.position() == 0) {
    return Emptiness{fmt::format("{} is before its first instruction: no CTA has started.", name),
                     "step", "Step"};
  }
  const auto event = selected_event(session);
  if (event && !event->command.empty()) {
    return Emptiness{fmt::format("All CTAs have exited. Selected in the timeline is {}; {}.",
                                 event->sentence, event->when),
                     event->command, "Go there"};
  }
  // Where what the CTA looked at did is known, its middle has something to see.
  if (const auto theatre = theatre_of(session); theatre && theatre->record().timed) {
    const auto at = static_cast<std::uint64_t>(theatre->opening());
    return Emptiness{
        fmt::format("All CTAs of {} have exited. In the middle of CTA {}, at cycle {}, "
                    "there is something to see.",
                    name, state.spot.block, grouped(at)),
        fmt::format("go {}", at), "Go there"};
  }
  return Emptiness{
      fmt::format("All CTAs of {} have exited. Step back to where one was resident.", name),
      "step back", "Step back"};
}

// Why there is no machine to show.
std::optional<Emptiness> no_machine(const Session& session) {
  const std::string& name = session.state.kernel->name;
  if (shows_build(session)) return {};
  if (const auto missing = not_built(session)) {
    if (session.edit.building) return Emptiness{missing->sentence, "cancel", "Stop"};
    return Emptiness{missing->sentence, "rebuild", "Compile it"};
  }
  if (machine_of(session)) return nobody_resident(session);
  if (seeking(session)) {
    return Emptiness{fmt::format("{} is stepping.", name), "cancel", "Stop here"};
  }
  return Emptiness{
      fmt::format("{} is before its first instruction. What its warps see appears here.", name),
      "go start", "Load it"};
}

// The viewport for this size, zoomed as a command asked since.
template <class FrameOf>
FrameOf framed_in(const FrameOf& frame, Session& session, Viewport& viewport, const auto& again) {
  if (session.pending_zoom == 1) return frame;
  const Size size = viewport.size;
  viewport = zoomed(frame, {size.width / 2, size.height / 2}, session.pending_zoom);
  session.pending_zoom = 1;
  return again();
}

// Where a warpgroup's accumulator goes to, found once for each of a picture's.
auto output_of_sums(const Session& session) {
  struct Known {
    const sim::GroupAccumulator* of = nullptr;
    std::optional<AccumulatorPlace> place;
  };
  return [&session, known = std::make_shared<Known>()](const sim::GroupAccumulator& d,
                                                       MachineShown::Place at) -> std::string {
    const sim::Machine& machine = session.state.live->stepper.machine();
    if (known->of != &d) *known = {&d, place_of(machine, session.state.matrices.get(), d)};
    if (!known->place) return "";
    return at ? output_element(machine, *known->place, at->first, at->second)
              : output_extent(machine, *known->place);
  };
}

// What all views of the machine have: whose it is at the top, what is told at the foot, and between
// them room for `inside`, which answers how far it can be scrolled. A text that does not compile,
// or is edited, stands there instead of the machine.
template <class Inside>
void draw_machine(Session& session, Picture& out, const Drawing& how, const Inside& inside) {
  const Size size = how.size;
  if (shows_build(session)) {
    out.scroll = draw_build_of(session, out.scene, size);
    return;
  }
  Scene& scene = out.scene;
  const ViewState& state = session.state;
  const MachineShown shown{*state.live,
                           state.spot,
                           state.result ? state.result->record.get() : nullptr,
                           session.theme(),
                           state.breakpoints,
                           state.comparison.get(),
                           selected_event(session),
                           output_of_sums(session),
                           pipeline_of_moment(session),
                           how.legend};
  scene.size = size;
  scene.theme = session.theme();
  draw_whose(scene, shown, size.width);
  const double told = report_height(shown.run, shown.spot, size.width);
  const Box room{0, whose_height, size.width, std::max(0.0, size.height - whose_height - told)};
  draw_report(scene, shown.run, shown.spot, {0, room.bottom(), size.width, told});
  out.scroll = inside(shown, room, session.scrolls[state.view]);
}

using Scrolled = std::optional<double>;

void draw_source_view(Session& session, Picture& out, const Drawing& how) {
  draw_machine(session, out, how, [&](const MachineShown& shown, const Box& room, Scroll& at) {
    return Scrolled(draw_source(out.scene, shown, room, at, out.beside, out.scroll_beside));
  });
}

void draw_registers_view(Session& session, Picture& out, const Drawing& how) {
  draw_machine(session, out, how, [&](const MachineShown& shown, const Box& room, Scroll& at) {
    Viewport& viewport = session.memory.accumulator_viewport;
    viewport.legend = how.legend;
    out.accumulator = arrange_accumulators(shown, room, viewport);
    if (out.accumulator && !out.accumulator->values.empty() && session.pending_zoom != 1) {
      viewport = zoomed(*out.accumulator, out.accumulator->values.centre(), session.pending_zoom);
      out.accumulator->viewport = viewport;
    }
    session.pending_zoom = 1;
    const AccumulatorFrame* accumulator = out.accumulator ? &*out.accumulator : nullptr;
    return Scrolled(draw_registers(out.scene, shown, room, accumulator, at));
  });
}

void draw_barriers_view(Session& session, Picture& out, const Drawing& how) {
  draw_machine(session, out, how, [&](const MachineShown& shown, const Box& room, Scroll& at) {
    return Scrolled(draw_barriers(out.scene, shown, room, at));
  });
}

void draw_memory_view(Session& session, Picture& out, const Drawing& how) {
  draw_machine(session, out, how, [&](const MachineShown& shown, const Box& room, Scroll&) {
    const ViewState& state = session.state;
    MemoryViews& views = session.memory;
    const auto now = shared_memory_of(session);
    const double strip = now->parts.empty() ? 0 : stage_strip_height(shown.pipeline, room);
    if (strip > 0) {
      draw_stage_strip(out.scene, *shown.pipeline, state.spot.byte,
                       {room.x, room.y, room.width, strip});
    }
    const Box below{room.x, room.y + strip, room.width, room.height - strip};
    const auto place = [&] {
      return arrange(now, state.spot, state.memory, below, views.memory_viewport);
    };
    views.memory_viewport.size = out.scene.size;
    views.memory_viewport.legend = how.legend;
    out.memory = framed_in(place(), session, views.memory_viewport, place);
    draw_memory(out.scene, *out.memory, shown, state.memory, session.hovered.byte,
                views.memory_rasters);
    return Scrolled();
  });
}

void draw_tmem_view(Session& session, Picture& out, const Drawing& how) {
  draw_machine(session, out, how, [&](const MachineShown& shown, const Box& room, Scroll&) {
    const ViewState& state = session.state;
    MemoryViews& views = session.memory;
    const auto now = tensor_memory_of(session);
    const double strip = now->allocations.empty() ? 0 : sum_strip_height(shown.pipeline, room);
    if (strip > 0) {
      draw_sum_strip(out.scene, *shown.pipeline, {room.x, room.y, room.width, strip});
    }
    const Box below{room.x, room.y + strip, room.width, room.height - strip};
    const auto place = [&] { return arrange(now, below, views.tensor_viewport); };
    views.tensor_viewport.size = out.scene.size;
    views.tensor_viewport.legend = how.legend;
    out.tensor = framed_in(place(), session, views.tensor_viewport, place);
    draw_tensor_memory(out.scene, *out.tensor, shown, state.memory, session.hovered.tmem,
                       views.tensor_rasters);
    return Scrolled();
  });
}

void zoom_registers(Session& session, const Picture& picture, Point at, double factor) {
  if (!picture.accumulator) return;
  session.memory.accumulator_viewport = zoomed(*picture.accumulator, at, factor);
}

void pan_registers(Session& session, const Picture& picture, double dx, double dy,
                   std::optional<Point>) {
  if (!picture.accumulator) return;
  session.memory.accumulator_viewport = panned(*picture.accumulator, dx, dy);
}

Viewport& viewport_of_registers(Session& session) {
  return session.memory.accumulator_viewport;
}

void point_at_memory(const Session&, const Picture& picture, Point at, Hovered& out) {
  if (picture.memory) out.byte = byte_at(*picture.memory, at);
}

void zoom_memory(Session& session, const Picture& picture, Point at, double factor) {
  if (picture.memory) session.memory.memory_viewport = zoomed(*picture.memory, at, factor);
}

void pan_memory(Session& session, const Picture& picture, double dx, double dy,
                std::optional<Point>) {
  if (picture.memory) session.memory.memory_viewport = panned(*picture.memory, dx, dy);
}

Viewport& viewport_of_memory(Session& session) {
  return session.memory.memory_viewport;
}

void point_at_tmem(const Session&, const Picture& picture, Point at, Hovered& out) {
  if (picture.tensor) out.tmem = cell_at(*picture.tensor, at);
}

void zoom_tmem(Session& session, const Picture& picture, Point at, double factor) {
  if (picture.tensor) session.memory.tensor_viewport = zoomed(*picture.tensor, at, factor);
}

void pan_tmem(Session& session, const Picture& picture, double dx, double dy,
              std::optional<Point>) {
  if (picture.tensor) session.memory.tensor_viewport = panned(*picture.tensor, dx, dy);
}

Viewport& viewport_of_tmem(Session& session) {
  return session.memory.tensor_viewport;
}

// Where the kernel has any.
bool has_tmem(const Session& session) {
  const ViewState& state = session.state;
  return state.kernel->tensor_memory ||
         (state.live && state.live->stepper.machine().program().cta_group != 0);
}

Json source_json(const Session& session, const Picture& picture) {
  const bool edited = shows_build(session) && session.edit.edit.open();
  return edited ? describe_build(session) : describe(picture.scene);
}

}  // namespace

const View source_view = {
    .id = ViewName::source,
    .name = "source",
    .tab = "Source",
    .of = View::Of::machine,
    .legend = true,
    .list = true,
    .empty = no_machine,
    .draw = draw_source_view,
    .json = source_json,
};

const View registers_view = {
    .id = ViewName::registers,
    .name = "registers",
    .tab = "Registers",
    .of = View::Of::machine,
    .legend = true,
    .list = true,
    .empty = no_machine,
    .draw = draw_registers_view,
    .viewport = viewport_of_registers,
    .zoom = zoom_registers,
    .pan = pan_registers,
};

const View barriers_view = {
    .id = ViewName::barriers,
    .name = "barriers",
    .tab = "Barriers",
    .of = View::Of::machine,
    .list = true,
    .empty = no_machine,
    .draw = draw_barriers_view,
};

const View memory_view = {
    .id = ViewName::memory,
    .name = "memory",
    .tab = "Memory",
    .of = View::Of::machine,
    .legend = true,
    .empty = no_machine,
    .draw = draw_memory_view,
    .viewport = viewport_of_memory,
    .point = point_at_memory,
    .zoom = zoom_memory,
    .pan = pan_memory,
};

const View tmem_view = {
    .id = ViewName::tmem,
    .name = "tmem",
    .tab = "TMEM",
    .said = "TMEM",
    .of = View::Of::machine,
    .legend = true,
    .offered = has_tmem,
    .empty = no_machine,
    .draw = draw_tmem_view,
    .viewport = viewport_of_tmem,
    .point = point_at_tmem,
    .zoom = zoom_tmem,
    .pan = pan_tmem,
};

}  // namespace tilescope
