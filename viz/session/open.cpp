#include "viz/session/open.h"

#include <fmt/format.h>

#include "viz/layout/layout_derivation.h"
#include "viz/layout/presets.h"
#include "viz/scene/command_text.h"
#include "viz/session/comparison.h"
#include "viz/session/fault_view.h"
#include "viz/session/files.h"
#include "viz/session/result_view.h"

namespace tilescope {
namespace {

void show_layout(Session& session, LayoutView view, std::string text, LayoutStudy study) {
  ViewState& state = session.state;
  if (!shows_layout(state.view)) state.view = ViewName::layout;
  state.layout = std::make_shared<const LayoutView>(std::move(view));
  state.layout_text = std::move(text);
  state.study = std::move(study);
  session.playing = false;
  // What was chosen for another layout means nothing for this one.
  state.colour.reset();
  state.isolate = {};
  state.selected.reset();
  session.hovered.cell.reset();
  session.layout_viewport = {};
  session.layout_rasters = {};
  show_in_field(session);
}

// "--m 300 --n=200" after the kernel's name.
Outcome<KernelOptions> options_in(const std::vector<std::string>& words) {
  KernelOptions options;
  for (std::size_t i = 1; i < words.size(); ++i) {
    std::string name = words[i];
    if (name.substr(0, 2) != "--" || name.size() == 2) {
      return Error{
          ErrorKind::usage,
          fmt::format("`{}` is no option of a kernel; options are written --NAME VALUE.", name),
          ""};
    }
    name.erase(0, 2);
    const std::size_t equals = name.find('=');
    if (equals != std::string::npos) {
      options[name.substr(0, equals)] = name.substr(equals + 1);
    } else if (i + 1 < words.size()) {
      options[name] = words[++i];
    } else {
      return Error{ErrorKind::usage, fmt::format("The option --{} needs a value.", name), ""};
    }
  }
  return options;
}

// What is kept of how another layout was studied: the width of elements, no step.
LayoutStudy study_of(std::string_view expression, const LayoutStudy& before) {
  LayoutStudy out;
  out.element_bytes = before.element_bytes;
  out.walk = before.walk;
  out.access_bytes = before.access_bytes;
  Derivation steps = derivation_of(expression);
  if (!steps.empty()) out.derivation = std::make_shared<const Derivation>(std::move(steps));
  return out;
}

Outcome<LayoutView> view_of(const Preset& preset, const LayoutStudy& study) {
  const bool expression = study.derivation || !study.beside.empty();
  Outcome<LayoutView> view =
      expression ? study_view(expression_of(preset), study) : open_preset(preset);
  if (view && study.beside.empty()) view->retitle(std::string(preset.title));
  return view;
}

}  // namespace

std::optional<Error> show_study(Session& session, const LayoutStudy& asked) {
  ViewState& state = session.state;
  LayoutStudy study = asked;
  // Grids that a step brings or takes have other numbers.
  const bool other_grids = study.step != state.study.step || study.beside != state.study.beside;
  if (other_grids) study.slice = {};
  const SliceChoice before = state.study.slice;
  const auto [what, name] = first_word(state.layout_text);
  const auto preset = what == "preset" ? preset_named(name) : Outcome<Preset>(Error{});
  auto view = preset ? view_of(*preset, study) : study_view(state.layout_text, study);
  if (!view) return view.error();
  const bool from_elsewhere = !shows_layout(state.view);
  state.view = ViewName::layout;
  if (from_elsewhere) show_in_field(session);
  state.layout = std::make_shared<const LayoutView>(sliced(std::move(*view), study.slice));
  state.study = study;
  // Grids that stand elsewhere now are pointed at anew.
  const bool turned = before.rows != study.slice.rows || before.columns != study.slice.columns;
  if (turned || (state.selected && !state.layout->exists(*state.selected))) {
    state.selected.reset();
  }
  // So is what was isolated, where these grids have no such thing.
  const Focus& only = state.isolate;
  const bool counted =
      only.on != Focus::On::nothing && only.on != Focus::On::offset && only.on != Focus::On::phase;
  if (counted && only.number >= state.layout->categories(colour_telling(only.on))) {
    state.isolate = {};
  }
  session.hovered.cell.reset();
  const bool goes_on = !other_grids && !turned && before.at >= 0 && study.slice.at >= 0;
  if (!goes_on) session.layout_viewport = {};
  session.layout_rasters = {};
  return {};
}

Outcome<std::string> open_layout(Session& session, std::string_view expression) {
  if (trimmed(expression).empty()) {
    return Error{ErrorKind::usage,
                 "There is no expression: try `open layout zipped_divide((8,8):(8,1), <4,4>)`.",
                 ""};
  }
  LayoutStudy study = study_of(expression, session.state.study);
  auto view = study_view(expression, study);
  if (!view) return view.error();
  show_layout(session, std::move(*view), std::string(expression), std::move(study));
  return fmt::format("Opened {}.", expression);
}

Outcome<std::string> open_preset_named(Session& session, std::string_view name) {
  const auto preset = preset_named(name);
  if (!preset) return preset.error();
  LayoutStudy study = study_of(expression_of(*preset), session.state.study);
  auto view = view_of(*preset, study);
  if (!view) return view.error();
  show_layout(session, std::move(*view), fmt::format("preset {}", preset->name), std::move(study));
  return fmt::format("Opened the preset {}.", preset->name);
}

Outcome<std::string> open_kernel(Session& session, Backend& backend, std::string_view words) {
  const std::vector<std::string> all = split_words(words);
  auto options = options_in(all);
  if (!options) return options.error();
  auto card = backend.kernel(all.front(), *options);
  if (!card) return card.error();
  if (session.edit.building) backend.cancel_build();
  session.edit.building.reset();
  session.edit.failed.reset();
  session.edit.changed.clear();
  // The editor goes with its kernel; what was not saved there is kept.
  const KernelCard* before = session.state.kernel.get();
  if (!before || before->name != card->name) session.edit.edit = {};
  show_kernel(session, std::move(*card), std::move(*options));
  const ViewState& state = session.state;
  if (is_compiled(state.options)) {
    const std::string file = source_file(session);
    return begin_build(session, backend, {state.kernel->name, file, state.options, true, false});
  }
  return fmt::format("Opened {}: {}.", state.kernel->name, state.kernel->launch);
}

void forget_run(Session& session) {
  ViewState& state = session.state;
  state.result.reset();
  state.diff.reset();
  state.compare = {nullptr, "", state.compare.measured, nullptr, state.compare.as_table};
  state.element.reset();
  state.timeline.reset();
  state.timeline_choice = {};
  state.theatre = {};
  state.why = {};
  state.product = {};
  session.product = {};
  session.hovered.event = session.hovered.baseline = sim::no_event;
  session.hovered.idle.reset();
  session.timeline_viewport = {};
  session.timeline_rasters = session.baseline_rasters = {};
  state.comparison.reset();
  state.live.reset();
  state.moment = 0;
  state.spot = {};
  state.breakpoints.clear();
  session.seek.reset();
  session.stands_at_end = false;
}

void show_kernel(Session& session, KernelCard card, KernelOptions options) {
  ViewState& state = session.state;
  forget_run(session);
  state.kernel = std::make_shared<const KernelCard>(std::move(card));
  state.file.clear();
  state.options = std::move(options);
  state.matrices = matrices_of(*state.kernel);
  state.view = ViewName::kernel;
  session.hovered.element.reset();
  session.matrices_viewport = session.diff_viewport = {};
  session.matrices_rasters = session.diff_rasters = {};
  show_in_field(session);
}

std::optional<FieldProblem> problem_in(std::string_view expression) {
  Scope scope;
  const std::optional<Evaluated> result = scope.evaluate(expression);
  if (!result) return {};
  const Problem* problem = std::get_if<Problem>(&*result);
  if (!problem) return {};
  return FieldProblem{problem->sentence, problem->begin, problem->end};
}

bool may_name_kernel(const Backend& backend, std::string_view text) {
  const std::string_view word = first_word(text).first;
  const std::vector<std::string> words = split_words(text);
  if (!words.empty() && names_file(words[0])) return true;
  if (word.find('/') != std::string_view::npos) return true;  // a path that is being typed
  const auto begins = [&](std::string_view name) { return name.substr(0, word.size()) == word; };
  if (word.size() >= 3 && begins("preset")) return true;
  for (const KernelName& kernel : backend.kernels()) {
    if (kernel.name == word || (word.size() >= 3 && begins(kernel.name))) return true;
  }
  return false;
}

namespace {

std::string words_of(const std::string& kernel, const KernelOptions& options) {
  std::string words = quoted_word(kernel);
  for (const auto& [name, value] : options) {
    words += fmt::format(" --{} {}", name, quoted_word(value));
  }
  return words;
}

}  // namespace

std::string kernel_words(const ViewState& state) {
  return state.kernel ? words_of(state.kernel->name, state.options) : "";
}

std::string kernel_words(const RunResult& run) {
  return words_of(run.kernel.name, run.options);
}

namespace {

std::string quoted_file(const ViewState& state) {
  return state.file.empty() ? "" : quoted_word(state.file);
}

}  // namespace

void show_in_field(Session& session) {
  const ViewState& state = session.state;
  session.field = shows_layout(state.view) && (state.layout || !state.kernel) ? state.layout_text
                  : state.kernel                                              ? kernel_words(state)
                                                                              : quoted_file(state);
  session.problem.reset();
}

ViewName view_after_run(const ViewState& state) {
  const ViewName result = state.diff     ? ViewName::diff
                          : state.kernel ? ViewName::kernel
                                         : ViewName::matrices;
  const bool wrong = state.compare.comparison && !state.compare.comparison->report.ok();
  const sim::Record* record = state.timeline ? &state.timeline->record() : nullptr;
  const bool plays = record && (!record->uses.empty() || !record->accesses.empty());
  return plays && !wrong ? ViewName::theatre : result;
}

void show_result(Session& session, FinishedRun run) {
  ViewState& state = session.state;
  state.result = std::move(run.result);
  state.matrices = std::move(run.matrices);
  state.compare = {run.comparison, "", state.compare.measured, nullptr, state.compare.as_table};
  state.diff = run.comparison ? run.comparison->view(state.compare.measured) : nullptr;
  state.timeline = std::move(run.timeline);
  state.timeline_choice = {};
  state.theatre = {};
  state.why = {};
  state.product = {};
  session.product = {};
  session.hovered.event = session.hovered.baseline = sim::no_event;
  session.hovered.idle.reset();
  session.timeline_viewport = {};
  session.timeline_rasters = session.baseline_rasters = {};
  state.live = std::move(run.live);
  if (state.live && state.timeline) state.live->clock = state.timeline->clock();
  state.moment = state.live ? state.live->stepper.position() : 0;
  session.seek.reset();
  session.matrices_rasters = session.diff_rasters = {};
  session.diff_viewport = {};
  // Who looks at something of the run goes on looking at it; the page of a kernel that was opened,
  // and a layout, give way to what the run made.
  const bool first = state.view == ViewName::kernel || shows_layout(state.view);
  if (first && state.view == session.view_at_run) state.view = view_after_run(state);
  // What was not promised is said first: a run that goes by it is not watched as a good one is.
  const bool plays = first && state.view == ViewName::theatre;
  if (plays && state.kernel && hazards_of(*state.result)) state.view = ViewName::kernel;
  session.stands_at_end = state.result->end != RunResult::End::fault;
  if (state.result->end == RunResult::End::fault) show_fault(state);
  show_in_field(session);
}

}  // namespace tilescope
