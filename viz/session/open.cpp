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

void show_layout(Session& session, LayoutView view, std::string text, std::string origin,
                 LayoutStudy study) {
  Choices& choices = session.choices;
  if (!shows_layout(choices.view)) choices.view = ViewName::layout;
  choices.layout = std::make_shared<const LayoutView>(std::move(view));
  choices.layout_text = std::move(text);
  choices.layout_origin = std::move(origin);
  choices.study = std::move(study);
  session.playing = false;
  // What was chosen for another layout means nothing for this one.
  choices.colour.reset();
  choices.isolate = {};
  choices.selected.reset();
  session.hovered.cell.reset();
  session.layout_lens = {};
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

// The kernel whose own layout this expression is; empty if none is open or it has none such.
std::string origin_of(const Choices& choices, std::string_view expression) {
  if (!choices.kernel) return "";
  for (const KernelCard::OwnLayout& own : choices.kernel->layouts) {
    if (own.expression == expression) return choices.kernel->name;
  }
  return "";
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

std::string open_expression(const Choices& choices) {
  const auto [what, name] = first_word(choices.layout_text);
  if (what != "preset") return choices.layout_text;
  const auto preset = preset_named(name);
  return preset ? expression_of(*preset) : "";
}

std::optional<Error> show_study(Session& session, const LayoutStudy& asked) {
  Choices& choices = session.choices;
  LayoutStudy study = asked;
  // Grids that a step brings or takes have other numbers.
  const bool other_grids = study.step != choices.study.step || study.beside != choices.study.beside;
  if (other_grids) study.slice = {};
  const SliceChoice before = choices.study.slice;
  const auto [what, name] = first_word(choices.layout_text);
  const auto preset = what == "preset" ? preset_named(name) : Outcome<Preset>(Error{});
  auto view = preset ? view_of(*preset, study) : study_view(choices.layout_text, study);
  if (!view) return view.error();
  const bool from_elsewhere = !shows_layout(choices.view);
  choices.view = ViewName::layout;
  if (from_elsewhere) show_in_field(session);
  choices.layout = std::make_shared<const LayoutView>(sliced(std::move(*view), study.slice));
  choices.study = study;
  // Grids that stand elsewhere now are pointed at anew.
  const bool turned = before.rows != study.slice.rows || before.columns != study.slice.columns;
  if (turned || (choices.selected && !choices.layout->exists(*choices.selected))) {
    choices.selected.reset();
  }
  session.hovered.cell.reset();
  const bool goes_on = !other_grids && !turned && before.at >= 0 && study.slice.at >= 0;
  if (!goes_on) session.layout_lens = {};
  session.layout_rasters = {};
  return {};
}

Outcome<std::string> open_layout(Session& session, std::string_view expression) {
  if (trimmed(expression).empty()) {
    return Error{ErrorKind::usage,
                 "There is no expression: try `open layout zipped_divide((8,8):(8,1), <4,4>)`.",
                 ""};
  }
  LayoutStudy study = study_of(expression, session.choices.study);
  auto view = study_view(expression, study);
  if (!view) return view.error();
  const std::string origin = origin_of(session.choices, expression);
  show_layout(session, std::move(*view), std::string(expression), origin, std::move(study));
  return fmt::format("Opened {}.", expression);
}

Outcome<std::string> open_preset_named(Session& session, std::string_view name) {
  const auto preset = preset_named(name);
  if (!preset) return preset.error();
  LayoutStudy study = study_of(expression_of(*preset), session.choices.study);
  auto view = view_of(*preset, study);
  if (!view) return view.error();
  show_layout(session, std::move(*view), fmt::format("preset {}", preset->name), "",
              std::move(study));
  return fmt::format("Opened the preset {}.", preset->name);
}

Outcome<std::string> open_kernel(Session& session, Workshop& workshop, std::string_view words) {
  const std::vector<std::string> all = split_words(words);
  auto options = options_in(all);
  if (!options) return options.error();
  auto card = workshop.kernel(all.front(), *options);
  if (!card) return card.error();
  if (session.edit.building) workshop.cancel_build();
  session.edit.building.reset();
  session.edit.failed.reset();
  session.edit.changed.clear();
  // The editor goes with its kernel; what was not saved there is kept.
  const KernelCard* before = session.choices.kernel.get();
  if (!before || before->name != card->name) session.edit.edit = {};
  show_kernel(session, std::move(*card), std::move(*options));
  const Choices& choices = session.choices;
  if (is_compiled(choices.options)) {
    const std::string file = source_file(session);
    return begin_build(session, workshop,
                       {choices.kernel->name, file, choices.options, true, false});
  }
  return fmt::format("Opened {}: {}.", choices.kernel->name, choices.kernel->launch);
}

void show_kernel(Session& session, KernelCard card, KernelOptions options) {
  Choices& choices = session.choices;
  choices.kernel = std::make_shared<const KernelCard>(std::move(card));
  choices.file.clear();
  choices.options = std::move(options);
  choices.result.reset();
  choices.diff.reset();
  choices.compare = {nullptr, "", choices.compare.measured, nullptr, choices.compare.as_table};
  choices.element.reset();
  choices.timeline.reset();
  choices.timeline_choice = {};
  session.hovered.event = session.hovered.baseline = sim::no_event;
  session.hovered.idle.reset();
  session.timeline_lens = {};
  session.timeline_rasters = session.baseline_rasters = {};
  choices.comparison.reset();
  choices.live.reset();
  choices.moment = 0;
  choices.spot = {};
  choices.breakpoints.clear();
  session.way.reset();
  choices.matrices = matrices_of(*choices.kernel);
  choices.view = ViewName::matrices;
  session.hovered.element.reset();
  session.matrices_lens = session.diff_lens = {};
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

bool may_name_kernel(const Workshop& workshop, std::string_view text) {
  const std::string_view word = first_word(text).first;
  const std::vector<std::string> words = split_words(text);
  if (!words.empty() && names_file(words[0])) return true;
  if (word.find('/') != std::string_view::npos) return true;  // a path that is being typed
  const auto begins = [&](std::string_view name) { return name.substr(0, word.size()) == word; };
  if (word.size() >= 3 && begins("preset")) return true;
  for (const KernelName& kernel : workshop.kernels()) {
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

std::string kernel_words(const Choices& choices) {
  return choices.kernel ? words_of(choices.kernel->name, choices.options) : "";
}

std::string kernel_words(const RunResult& run) {
  return words_of(run.kernel.name, run.options);
}

namespace {

std::string quoted_file(const Choices& choices) {
  return choices.file.empty() ? "" : quoted_word(choices.file);
}

}  // namespace

void show_in_field(Session& session) {
  const Choices& choices = session.choices;
  session.field = shows_layout(choices.view) ? choices.layout_text
                  : choices.kernel           ? kernel_words(choices)
                                             : quoted_file(choices);
  session.problem.reset();
}

void show_result(Session& session, FinishedRun run) {
  Choices& choices = session.choices;
  choices.result = std::move(run.result);
  choices.matrices = std::move(run.matrices);
  choices.compare = {run.comparison, "", choices.compare.measured, nullptr,
                     choices.compare.as_table};
  choices.diff = run.comparison ? run.comparison->view(choices.compare.measured) : nullptr;
  choices.timeline = std::move(run.timeline);
  choices.timeline_choice = {};
  session.hovered.event = session.hovered.baseline = sim::no_event;
  session.hovered.idle.reset();
  session.timeline_lens = {};
  session.timeline_rasters = session.baseline_rasters = {};
  choices.live = std::move(run.live);
  choices.moment = choices.live ? choices.live->stepper.position() : 0;
  session.way.reset();
  session.matrices_rasters = session.diff_rasters = {};
  session.diff_lens = {};
  // Who looks at the timeline goes on looking at it.
  if (choices.view != ViewName::timeline || !choices.timeline) {
    choices.view = choices.diff ? ViewName::diff : ViewName::matrices;
  }
  if (choices.result->end == RunResult::End::fault) show_fault(choices);
  show_in_field(session);
}

}  // namespace tilescope
