// The open kernel on one page.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/profile/pipeline.h"
#include "core/profile/run_time.h"
#include "core/sim/stepping/products.h"
#include "viz/machine/kernel_card.h"
#include "viz/scene/number_words.h"
#include "viz/session/kernel_page.h"
#include "viz/session/open.h"
#include "viz/session/result_view.h"
#include "viz/session/session.h"
#include "viz/session/start_card.h"
#include "viz/session/theatre_session.h"
#include "viz/session/view_rows.h"

namespace tilescope {
namespace {

// "A, B: 2 stages of 32 KiB; full: full[0] to full[1]; free: empty[0] to empty[1]"
std::string ring_text(const TheatreView& theatre, const sim::Ring& ring) {
  const sim::Pipeline& p = theatre.pipeline();
  const std::size_t count = ring.stages.size();
  std::string out = fmt::format("{}: {} stage{} of {}", ring.holds, count, count == 1 ? "" : "s",
                                bytes_words(p.stages[ring.stages.front()].bytes()));
  const auto named = [&](std::string_view what, auto which) {
    const auto first = which(p.stages[ring.stages.front()]);
    if (!first) return;
    out += fmt::format("; {}: {}", what,
                       sim::barrier_text(theatre.record(), p.barriers[*first], ring.rank));
    const auto last = which(p.stages[ring.stages.back()]);
    if (!last || last == first) return;
    out += fmt::format(" to {}", sim::barrier_text(theatre.record(), p.barriers[*last], ring.rank));
  };
  const sim::RingStage& first = p.stages[ring.stages.front()];
  if (first.groups) {
    out += "; full: " + sim::full_text(theatre.record(), p, first);
  } else {
    named("full", [](const sim::RingStage& stage) { return stage.full; });
  }
  named("free", [](const sim::RingStage& stage) { return stage.free; });
  return out;
}

void add_stages(const Session& session, KernelRun& out) {
  const auto theatre = theatre_of(session);
  if (!theatre) return;
  for (const sim::Ring& ring : theatre->pipeline().rings) {
    if (!ring.stages.empty() && ring.rank == 0) out.stages.push_back(ring_text(*theatre, ring));
  }
}

void add_writers(const RunResult& result, KernelRun& out) {
  if (!result.writer || result.output >= result.matrices.size()) return;
  const std::vector<std::int64_t>& extents = result.matrices[result.output].values->shape;
  const auto [rows, columns] = parts_of_output(result.kernel);
  const MatrixShape shape = as_matrix(extents);
  if (rows == 0 || shape.rows < rows || shape.cols < columns) return;
  out.rows = rows;
  out.columns = columns;
  const std::vector<std::int64_t>& tile = result.kernel.tile;
  // The middle of a tile, of the last ones as far as the matrix goes.
  const auto middle = [&](std::int64_t i, std::int64_t parts, std::int64_t extent,
                          std::size_t along) {
    const std::int64_t size = tile.size() >= 2 ? tile[tile.size() - 2 + along] : 0;
    const bool whole = size > 0 && (extent + size - 1) / size == parts;
    const std::int64_t from = whole ? i * size : i * extent / parts;
    const std::int64_t to = whole ? std::min(extent, from + size) : (i + 1) * extent / parts;
    return (from + to) / 2;
  };
  const Dim3 grid = result.kernel.grid;
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) {
      const auto site = result.writer(middle(r, rows, shape.rows, 0) * shape.cols +
                                      middle(c, columns, shape.cols, 1));
      out.writers.push_back(site ? site->block.x + std::int64_t{site->block.y} * grid.x +
                                       std::int64_t{site->block.z} * grid.x * grid.y
                                 : -1);
    }
  }
}

// "It stopped at cycle 6,658; 0 of 1 CTA ended."
std::string stopped_text(const Session& session, const RunResult& result) {
  std::string out = "It stopped";
  if (session.state.timeline && session.state.timeline->known_time()) {
    out += fmt::format(" at cycle {}", grouped(session.state.timeline->record().end));
  }
  return out + "; " + ended_words(result.progress) + ".";
}

KernelRun run_of(const Session& session, const RunResult& result) {
  KernelRun out;
  const bool fault = result.end == RunResult::End::fault;
  out.wrong = is_bad(result);
  out.right = is_right(result);
  out.sentence = outcome_of(result, false);
  // The page has the file's whole name below.
  const std::string& name = result.kernel.name;
  if (const std::size_t folder = name.rfind('/'); folder != std::string::npos) {
    if (out.sentence.rfind(name, 0) == 0) out.sentence.erase(0, folder + 1);
  }
  if (fault) out.time = stopped_text(session, result);
  // What a run that did not come to its end would take nobody knows.
  if (session.state.timeline) {
    const sim::Statistics& statistics = session.state.timeline->statistics();
    if (!fault) out.verdict = statistics.verdict;
    if (statistics.seconds > 0 && !fault) {
      out.time =
          fmt::format("Predicted: {}, on {}", sim::text(statistics.time()), statistics.device);
    }
    for (const sim::Role& role : statistics.roles) out.roles.push_back({role.warps, role.name});
    add_stages(session, out);
  }
  if (!fault) add_writers(result, out);
  return out;
}

// Products of tensor cores that can be opened.
bool has_products(const Session& session) {
  const auto theatre = theatre_of(session);
  if (!theatre || !session.state.live) return false;
  return !theatre->pipeline().products.empty() ||
         sim::multiplies_in_warps(session.state.live->stepper.machine().program());
}

double page(const Session& session, Scene& scene, Size size, double scrolled) {
  return draw_kernel_card(scene, {*session.state.kernel, kernel_run(session), next_steps(session)},
                          size, scrolled);
}

void draw_kernel_view(Session& session, Picture& out, const Drawing& how) {
  Scroll& scroll = session.scrolls[ViewName::kernel];
  Scene tried;
  tried.theme = out.scene.theme;
  out.scroll = page(session, tried, how.size, 0);
  scroll.at = how.stands_alone ? 0 : std::clamp(scroll.at, 0.0, *out.scroll);
  page(session, out.scene, how.size, scroll.at);
  if (!how.stands_alone) draw_place_in_page(out.scene, how.size, scroll.at, *out.scroll);
}

// As high as all of it is.
Scene kernel_for_file(Session& quiet, const Session&) {
  Scene out;
  out.theme = quiet.theme();
  out.size = {1280, 800};
  Scene tried = out;
  out.size.height += page(quiet, tried, out.size, 0);
  page(quiet, out, out.size, 0);
  return out;
}

}  // namespace

const KernelRun* kernel_run(const Session& session) {
  const ViewState& state = session.state;
  if (!state.result || session.running) return nullptr;
  KernelPage& page = session.page;
  if (page.of != state.result) {
    page.run = std::make_shared<const KernelRun>(run_of(session, *state.result));
    page.of = state.result;
  }
  return page.run.get();
}

std::vector<KernelStep> next_steps(const Session& session) {
  const ViewState& state = session.state;
  std::vector<KernelStep> out;
  if (session.running) {
    out.push_back({"Stop", "cancel"});
  } else if (!state.result) {
    out.push_back({"Run", "run"});
  } else {
    const ViewName view = view_after_run(state);
    const bool fault = state.result->end == RunResult::End::fault;
    const auto hazards = hazards_of(*state.result);
    if (!fault && hazards && state.live) {
      out.push_back({hazards->count == 1 ? "Show the hazard" : "Show the first hazard",
                     fmt::format("go report {}", hazards->first)});
    }
    if (fault && state.live && !state.result->reports.empty()) {
      out.push_back(
          {"Show the fault", fmt::format("go report {}", state.result->reports.size() - 1)});
    } else if (view != ViewName::kernel) {
      out.push_back({view == ViewName::theatre ? "Watch it" : "See the difference",
                     fmt::format("select {}", name_of(view))});
    }
    if (state.timeline) {
      out.push_back({"Timeline", "select timeline"});
      out.push_back({"Why", "select why"});
      out.push_back({"Handoffs", "select handoffs"});
    }
    if (has_products(session)) out.push_back({"Product", "select product"});
  }
  out.push_back({"Source", "select source"});
  if (state.matrices) out.push_back({"Matrices", "select matrices"});
  const std::string& lesson = state.kernel->lesson;
  out.push_back(lesson.empty() ? KernelStep{"Lessons", "lesson layouts"}
                               : KernelStep{"Its lesson", "lesson " + lesson});
  return out;
}

const View kernel_view = {
    .id = ViewName::kernel,
    .name = "kernel",
    .tab = "Kernel",
    .list = true,
    .draw = draw_kernel_view,
    .for_file = kernel_for_file,
};

}  // namespace tilescope
