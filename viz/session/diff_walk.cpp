#include "viz/session/diff_walk.h"

#include <fmt/format.h>

#include "core/sim/stepping/inspect.h"
#include "viz/session/comparison.h"
#include "viz/session/seek.h"
#include "viz/session/timeline_spot.h"

namespace tilescope {
namespace {

// The bytes of an element of the output, where the machine has them.
struct Bytes {
  std::size_t buffer = 0;
  std::uint64_t index = 0;  // element
  sim::Watch watch;
};

std::optional<Bytes> bytes_of_element(const ViewState& state, const sim::Machine& machine) {
  if (!state.element || !state.result) return {};
  const RunResult::Matrix& matrix = state.result->matrices[state.result->output];
  const Buffer& output = *matrix.values;
  const MatrixShape shape = as_matrix(output.shape);
  const Element at = *state.element;
  if (at.row >= shape.rows || at.column >= shape.cols) return {};
  Bytes out;
  const std::vector<Buffer>& all = machine.shells();
  while (out.buffer < all.size() && all[out.buffer].name != matrix.name) ++out.buffer;
  if (out.buffer == all.size()) return {};
  out.index = static_cast<std::uint64_t>(at.row * shape.cols + at.column);
  const std::uint64_t width = tilescope::bytes_of(output.dtype);
  out.watch.where = sim::Watch::Where::global;
  out.watch.begin = machine.buffer(out.buffer).base() + out.index * width;
  out.watch.end = out.watch.begin + width;
  return out;
}

bool same_bytes(const sim::Watch& a, const sim::Watch& b) {
  return a.where == b.where && a.begin == b.begin && a.end == b.end;
}

Error not_there(std::string sentence) {
  return {ErrorKind::usage, std::move(sentence), ""};
}

}  // namespace

Outcome<std::string> go_to_write(Session& session, Backend& backend, bool next) {
  ViewState& state = session.state;
  if (!state.result) {
    return not_there(
        "`go write` goes to the write that made the selected element: run a kernel first, then "
        "`pick ROW COLUMN` (or `wrong first`).");
  }
  if (!state.element) {
    return not_there("No element is selected: `pick ROW COLUMN`, or `wrong first`, says which.");
  }
  const auto live = live_run(session, backend);
  if (!live) return live.error();
  const sim::Machine& machine = (*live)->stepper.machine();
  const auto bytes = bytes_of_element(state, machine);
  if (!bytes) {
    return not_there(fmt::format("({}, {}) is no element of the output of {}.", state.element->row,
                                 state.element->column, state.kernel->name));
  }
  sim::Step step;
  step.by = sim::StepBy::write;
  step.back = !next;
  step.watch = bytes->watch;
  const std::optional<sim::Happened>& reason = (*live)->stepper.reason();
  const bool there = reason && reason->what == sim::Happening::write && state.live == *live &&
                     session.watched && same_bytes(*session.watched, bytes->watch);
  const bool from_end = !next && !there;
  session.watched = bytes->watch;
  // The moment is told by the machine's views: source shows it with its line.
  const ViewName before = state.view;
  if (!shows_machine(state.view)) state.view = ViewName::source;
  const char* line = next ? "go write next" : "go write";
  const auto walk = [step](sim::Stepper& s) { s.step(step); };
  auto answer = from_end
                    ? begin_seek(
                          session, backend, line, [](sim::Stepper& s) { s.to_the_end(); }, walk)
                    : begin_seek(session, backend, line, walk);
  if (!answer) state.view = before;
  return answer;
}

std::optional<std::string> look_at_writer(Session& session) {
  ViewState& state = session.state;
  if (!state.live || !session.watched) return {};
  const sim::Stepper& stepper = state.live->stepper;
  const std::optional<sim::Happened>& reason = stepper.reason();
  if (!reason || reason->what != sim::Happening::write) return {};
  const sim::Machine& machine = stepper.machine();
  const auto bytes = bytes_of_element(state, machine);
  if (!bytes || !same_bytes(bytes->watch, *session.watched)) return {};
  const auto element = sim::element(machine, bytes->buffer, bytes->index);
  if (!element || !element->writer) return {};
  const Site& site = *element->writer;
  const Dim3& grid = machine.launch().grid;
  RunCursor& spot = state.spot;
  spot.block =
      site.block.x + std::uint64_t{grid.x} * (site.block.y + std::uint64_t{grid.y} * site.block.z);
  spot.warp = site.warp;
  spot.lane = site.lane;
  if (site.caller_line) {  // as the kernel's own file has it
    spot.line = RunCursor::SourceLine{site.caller, site.caller_line};
  } else if (site.source_line) {
    spot.line = RunCursor::SourceLine{site.source, site.source_line};
  } else if (site.ptx_line) {
    spot.line = RunCursor::SourceLine{"", site.ptx_line};
  }
  select_write(session, site);
  return fmt::format(
      "Element ({}, {}) has just become {:.6g}, written by CTA ({},{},{}), warp {}, lane {} at {}; "
      "{}.",
      state.element->row, state.element->column, element->value, site.block.x, site.block.y,
      site.block.z, site.warp, site.lane, place_text(site), moment_text(*state.live));
}

}  // namespace tilescope
