#include "viz/machine/pipeline_now.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viz/scene/items.h"

namespace tilescope {
namespace {

constexpr double least_room = 320;  // below it the view needs all of its height
constexpr double stage_row = 72, dial_row = 52, sum_row = 64;
constexpr double dial_radius = 9, beside_stage = 26, widest_stage = 220, narrowest_stage = 40;
constexpr double least_dial = 116, widest_dial = 168, widest_sum = 320;
constexpr std::size_t most_dial_rows = 2;

bool meets(const std::vector<sim::ByteSpan>& spans, std::uint32_t byte) {
  return std::any_of(spans.begin(), spans.end(), [&](const sim::ByteSpan& span) {
    return byte >= span.begin && byte < span.end;
  });
}

void draw_barrier(Scene& scene, const BarrierDial& barrier, Point at) {
  draw_dial(scene, barrier.dial, at, dial_radius);
  const Box box{at.x - dial_radius, at.y - dial_radius, 2 * dial_radius, 2 * dial_radius};
  scene.hints.push_back({box.grown(3), barrier.hint});
  scene.targets.push_back(
      {box.grown(3), fmt::format("look mbarrier {}", barrier.offset), barrier.hint});
}

std::size_t dials_across(const Box& room) {
  return std::max<std::size_t>(1,
                               static_cast<std::size_t>((room.width - 2 * between) / least_dial));
}

}  // namespace

std::optional<std::uint32_t> PipelineNow::step_at(std::uint32_t byte) const {
  for (const StageNow& stage : stages) {
    if (stage.contents.state != StageState::empty && meets(stage.spans, byte)) {
      return stage.contents.step;
    }
  }
  return {};
}

const SumNow* PipelineNow::sum_at(std::uint32_t lane, std::uint32_t column) const {
  for (const SumNow& sum : sums) {
    const sim::MemoryUse& w = sum.where;
    if (lane >= w.row && lane < w.row + w.rows && column >= w.column &&
        column < w.column + w.columns) {
      return &sum;
    }
  }
  return nullptr;
}

void mark_steps(MemoryNow& now, const PipelineNow& pipeline) {
  for (MemoryPart& part : now.parts) {
    if (part.kind == MemoryPart::Kind::tile) part.step = pipeline.step_at(part.begin);
    // Hues are of steps: what belongs to none is grey.
    if (!part.step) part.category = -1;
    if (part.kind != MemoryPart::Kind::tile || part.coming) continue;
    for (const StageNow& stage : pipeline.stages) {
      const StageState state = stage.contents.state;
      if (!meets(stage.spans, part.begin)) continue;
      if (state == StageState::read || state == StageState::used) {
        part.state += fmt::format(", {}", name_of(state));
      }
    }
  }
}

double stage_strip_height(const PipelineNow* pipeline, const Box& room) {
  return pipeline && !pipeline->stages.empty() && room.height >= least_room ? stage_row : 0;
}

double dial_strip_height(std::size_t dials, const Box& room) {
  if (dials == 0 || room.height < least_room) return 0;
  const std::size_t across = dials_across(room);
  const std::size_t rows = std::min((dials + across - 1) / across, most_dial_rows);
  return static_cast<double>(rows) * dial_row + inside;
}

double sum_strip_height(const PipelineNow* pipeline, const Box& room) {
  return pipeline && !pipeline->sums.empty() && room.height >= least_room ? sum_row : 0;
}

void draw_stage_strip(Scene& scene, const PipelineNow& pipeline, std::optional<std::uint32_t> byte,
                      const Box& room) {
  scene.begin("stages", room);
  const double each =
      std::min(widest_stage + 2 * beside_stage,
               (room.width - 2 * between) / static_cast<double>(pipeline.stages.size()));
  const bool dials = each >= narrowest_stage + 2 * beside_stage + inside;
  const double side = dials ? beside_stage : 2;
  double x = room.x + between;
  for (const StageNow& stage : pipeline.stages) {
    const Box box{x + side, room.y + 26, each - 2 * side - inside, stage_row - 32};
    const std::string name = fmt::format("{}: {}", stage.name, name_of(stage.contents.state));
    scene.begin(stage.name);
    scene.add(words({box.x, room.y + 13},
                    fitted(name, each - inside - side, small_text, Family::sans), Role::quiet));
    draw_stage(scene, stage.contents, box, box.width < narrowest_stage);
    if (byte && meets(stage.spans, *byte)) draw_selection(scene, box);
    scene.hints.push_back({box, stage.hint});
    if (!stage.spans.empty()) {
      scene.targets.push_back(
          {box, fmt::format("look byte {}", stage.spans.front().begin), "shows it alone"});
    }
    const double y = box.centre().y;
    if (dials && stage.full) draw_barrier(scene, *stage.full, {box.x - 13, y});
    if (dials && stage.free) draw_barrier(scene, *stage.free, {box.right() + 13, y});
    scene.end();
    x += each;
  }
  scene.end();
}

void draw_dial_strip(Scene& scene, const std::vector<BarrierDial>& dials,
                     std::optional<std::uint32_t> selected, const Box& room) {
  scene.begin("dials", room);
  const std::size_t across = dials_across(room);
  const double dial_width =
      std::min(widest_dial,
               (room.width - 2 * between) / static_cast<double>(std::min(across, dials.size())));
  for (std::size_t i = 0; i < dials.size(); ++i) {
    const std::size_t row = i / across;
    if (row >= most_dial_rows) break;
    const BarrierDial& barrier = dials[i];
    const Box box{room.x + between + static_cast<double>(i % across) * dial_width,
                  room.y + static_cast<double>(row) * dial_row + 4, dial_width - inside,
                  dial_row - 8};
    const Point at{box.x + dial_radius + 6, box.centre().y};
    const double text = at.x + dial_radius + 8, wide = box.right() - text - 2;
    // What has no room for all is in the list below.
    const std::size_t left = dials.size() - i;
    if (row + 1 == most_dial_rows && i % across + 1 == across && left > 1) {
      scene.add(
          words({box.x, box.centre().y}, fmt::format("and {} more below", left), Role::quiet));
      break;
    }
    scene.begin(barrier.name);
    draw_dial(scene, barrier.dial, at, dial_radius + 2);
    scene.add(words({text, at.y - 9}, fitted(barrier.name, wide, small_text, Family::sans)));
    const bool waited = !barrier.waiting.empty();
    scene.add(words({text, at.y + 9},
                    fitted(waited ? barrier.waiting : fmt::format("phase {}", barrier.dial.phase),
                           wide, small_text, Family::sans),
                    waited ? Role::accent : Role::quiet));
    if (selected == barrier.offset) draw_selection(scene, box);
    scene.hints.push_back({box, barrier.hint});
    scene.targets.push_back(
        {box, fmt::format("look mbarrier {}", barrier.offset), "looks at this mbarrier"});
    scene.end();
  }
  scene.end();
}

void draw_sum_strip(Scene& scene, const PipelineNow& pipeline, const Box& room) {
  scene.begin("sums", room);
  const double each =
      std::min(widest_sum, (room.width - 2 * between) / static_cast<double>(pipeline.sums.size()));
  double x = room.x + between;
  for (const SumNow& sum : pipeline.sums) {
    const Box box{x, room.y + 26, each - inside, 16};
    const sim::MemoryUse& w = sum.where;
    const std::string name =
        fmt::format("columns {} to {}: {}", w.column, w.column + w.columns - 1, sum.state);
    scene.begin(fmt::format("columns {} to {}", w.column, w.column + w.columns - 1));
    scene.add(words({box.x, room.y + 14}, fitted(name, box.width, small_text, Family::sans),
                    FontWeight::bold));
    scene.add(Rectangle{box, Ink(Role::panel), {Role::line, 1, false}, 0});
    // A stripe for each product that was added, in the hue of its step.
    const std::size_t stripes =
        std::min<std::size_t>(sum.products, static_cast<std::size_t>(std::max(1.0, box.width / 2)));
    for (std::size_t i = 0; i < stripes; ++i) {
      const std::size_t product = i * sum.products / stripes;
      if (product >= sum.added.size()) break;
      const std::uint32_t step = sum.added[product];
      const double wide = box.width / static_cast<double>(stripes);
      const Ink ink =
          sum.read ? faint_step(step, scene.theme) : Ink(step_colour(step, scene.theme));
      scene.add(Rectangle{
          {box.x + wide * static_cast<double>(i), box.y, wide + 0.5, box.height}, ink, {}, 0});
    }
    const std::string tile = fmt::format("{} of {} products{}{}", sum.added.size(), sum.products,
                                         sum.tile.empty() ? "" : ", for ", sum.tile);
    scene.add(words({box.x, room.y + 52}, fitted(tile, box.width, small_text, Family::sans),
                    Role::quiet));
    scene.hints.push_back({box, name + "; " + tile});
    scene.targets.push_back(
        {box, fmt::format("look cell {},{}", w.row, w.column), "looks at its first cell"});
    scene.end();
    x += each;
  }
  scene.end();
}

}  // namespace tilescope
