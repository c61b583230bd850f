#include "viz/session/memory_views.h"

#include <fmt/format.h>

#include <algorithm>

#include "viz/scene/number_words.h"
#include "viz/session/matrices_sums.h"
#include "viz/session/pipeline_session.h"
#include "viz/session/result_view.h"
#include "viz/session/seek.h"
#include "viz/session/session.h"

namespace tilescope {
namespace {

// The views at the moment that is shown; null where there is none.
MemoryViews* views_now(const Session& session, const sim::Machine*& machine) {
  machine = machine_of(session);
  if (!machine) return nullptr;
  MemoryViews& views = session.memory;
  const ViewState& state = session.state;
  const bool same = views.run.lock() == state.live && views.position == machine->position() &&
                    views.block == state.spot.block && views.record == state.timeline;
  if (same) return &views;
  views.run = state.live;
  views.position = machine->position();
  views.block = state.spot.block;
  views.record = state.timeline;
  views.pipeline.reset();
  views.memory.reset();
  views.tensor.reset();
  views.matrices.reset();
  views.output.reset();
  views.memory_rasters = views.tensor_rasters = {};
  return &views;
}

// Elements that are looked through anew for each moment.
constexpr std::int64_t most_elements = std::int64_t{1} << 20;

// What the kernel writes, as it is now.
std::optional<MatricesView::Matrix> output_now(const sim::Machine& machine, std::size_t buffer) {
  const Buffer& shell = machine.shells()[buffer];
  if (shell.shape.size() != 2 || shell.shape[0] * shell.shape[1] > most_elements) return {};
  const sim::Region& region = machine.buffer(buffer);
  const auto width = static_cast<std::uint64_t>(bytes_of(shell.dtype));
  auto values = std::make_shared<Buffer>();
  values->name = shell.name;
  values->dtype = shell.dtype;
  values->shape = shell.shape;
  values->bytes.assign(region.data(), region.data() + region.size());
  MatricesView::Matrix out;
  out.name = shell.name;
  out.rows = shell.shape[0];
  out.columns = shell.shape[1];
  out.missing.resize(static_cast<std::size_t>(out.rows * out.columns));
  out.undefined.resize(out.missing.size());
  std::size_t there = 0, undefined = 0;
  for (std::size_t i = 0; i < out.missing.size(); ++i) {
    const bool written = static_cast<bool>(region.writer(i * width));
    out.undefined[i] = written && region.any_undefined(i * width, width);
    out.missing[i] = !written || out.undefined[i];
    there += written;
    undefined += out.undefined[i];
  }
  out.result = true;
  out.detail = fmt::format("{} {}, {} of {} elements written", name_of(shell.dtype),
                           shape_text(shell.shape), grouped(there), grouped(out.missing.size()));
  if (undefined) out.detail += fmt::format(", {} undefined", grouped(undefined));
  out.values = std::move(values);
  return out;
}

std::shared_ptr<const MatricesView> with_output(const LiveRun& run, std::uint64_t block,
                                                const MatricesView& inputs) {
  const sim::Machine& machine = run.stepper.machine();
  std::vector<MatricesView::Matrix> all = inputs.matrices();
  bool more = false;
  for (std::size_t i = 0; i < machine.shells().size(); ++i) {
    const std::string& name = machine.shells()[i].name;
    const auto shown = std::find_if(all.begin(), all.end(), [&](const MatricesView::Matrix& each) {
      return each.name == name;
    });
    if (!is_output(machine.shells()[i])) continue;
    auto output = output_now(machine, i);
    if (!output) continue;
    more = true;
    output->sums = register_sums(run, block, &inputs, i);
    if (shown == all.end()) {
      all.push_back(std::move(*output));
    } else {
      *shown = std::move(*output);
    }
  }
  if (!more) return nullptr;
  std::string title = inputs.title();
  const std::size_t colon = title.rfind(": inputs");
  if (colon != std::string::npos) title.resize(colon);
  return std::make_shared<const MatricesView>(title + ": now", std::move(all));
}

}  // namespace

bool is_output(const Buffer& shell) {
  return shell.undefined || !shell.tile.empty();
}

std::shared_ptr<const MatricesView> matrices_now(const Session& session) {
  const ViewState& state = session.state;
  const sim::Machine* machine = nullptr;
  const bool done = state.result && state.result->end == RunResult::End::done;
  // Where the machine stands at the run's end, its result; before, what is there by then.
  const bool at_end = done && state.moment == state.result->moment;
  if (!state.matrices || at_end || !state.kernel) return state.matrices;
  MemoryViews* views = views_now(session, machine);
  if (!views) return state.matrices;
  if (!views->matrices || views->inputs != state.matrices) {
    views->inputs = state.matrices;
    const auto inputs = done ? matrices_of(*state.kernel) : state.matrices;
    views->matrices = inputs ? with_output(*state.live, views->block, *inputs) : nullptr;
    if (!views->matrices) views->matrices = state.matrices;
  }
  return views->matrices;
}

Element pointed_output(const Session& session) {
  const Element at = session.hovered.element.value_or(Element{});
  const auto view = session.state.view == ViewName::matrices ? matrices_now(session) : nullptr;
  const auto& matrix = session.hovered.matrix;
  if (!view || !matrix || *matrix >= view->matrices().size()) return at;
  return view->output_of(*matrix, at, session.state.element.value_or(Element{}));
}

std::shared_ptr<const MemoryNow> shared_memory_of(const Session& session) {
  const sim::Machine* machine = nullptr;
  MemoryViews* views = views_now(session, machine);
  if (!views) return nullptr;
  if (!views->memory) {
    views->memory = memory_now(*machine, views->block);
    const auto pipeline = pipeline_now(session);
    if (pipeline && !pipeline->stages.empty()) {
      auto marked = std::make_shared<MemoryNow>(*views->memory);
      mark_steps(*marked, *pipeline);
      views->memory = std::move(marked);
    }
  }
  return views->memory;
}

const PipelineNow* pipeline_of_moment(const Session& session) {
  const sim::Machine* machine = nullptr;
  MemoryViews* views = views_now(session, machine);
  if (!views) return nullptr;
  if (!views->pipeline)
    views->pipeline =
        std::make_shared<const PipelineNow>(pipeline_now(session).value_or(PipelineNow{}));
  return views->pipeline.get();
}

std::shared_ptr<const TensorNow> tensor_memory_of(const Session& session) {
  const sim::Machine* machine = nullptr;
  MemoryViews* views = views_now(session, machine);
  if (!views) return nullptr;
  if (!views->tensor) views->tensor = tensor_now(*machine, views->block);
  return views->tensor;
}

}  // namespace tilescope
