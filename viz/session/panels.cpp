// What stands above the view: the field's meaning, tabs, choices, sizes.
#include "viz/session/panels.h"

#include <fmt/format.h>

#include "viz/scene/number_words.h"
#include "viz/session/diff_panel.h"
#include "viz/session/memory_panels.h"
#include "viz/session/open.h"
#include "viz/session/result_view.h"
#include "viz/session/start_card.h"

namespace tilescope {
namespace {

// The modes of a grid with more than two, as its rows and as its columns.
void add_modes(const Session& session, std::vector<Choice>& out) {
  const LayoutView& view = *session.state.layout;
  const SliceChoice& now = session.state.study.slice;
  const int grid = now.grid >= 0 ? now.grid : sliced_grid(view);
  if (grid < 0) return;
  const int rank = view.panels()[static_cast<std::size_t>(grid)].layout.rank();
  for (const bool rows : {true, false}) {
    const char* word = rows ? "rows" : "columns";
    Choice choice{rows ? "Rows" : "Columns", {}};
    for (int mode = 0; mode < rank; ++mode) {
      choice.options.push_back({fmt::format("{}", mode),
                                fmt::format("slice {} {} grid {}", word, mode, grid),
                                mode == (rows ? now.rows : now.columns)});
    }
    out.push_back(std::move(choice));
  }
}

// The layouts that the open kernel is written in.
void add_own_layouts(const Session& session, std::vector<Choice>& out) {
  const ViewState& state = session.state;
  if (!state.kernel) return;
  Choice own{"Of " + state.kernel->name, {}};
  bool any = false;
  for (const KernelCard::OwnLayout& each : state.kernel->layouts) {
    const bool current = !any && state.layout_text == each.expression;
    any = any || current;
    own.options.push_back({each.name, "open layout " + each.expression, current});
  }
  if (!own.options.empty()) out.push_back(std::move(own));
}

}  // namespace

Meaning meaning_of_field(const Session& session) {
  const ViewState& state = session.state;
  if (!shows_layout(state.view)) {
    if (!state.kernel && state.matrices) return {state.matrices->matrices()[0].detail, false};
    return {state.kernel ? state.kernel->help : "", false};
  }
  if (!state.layout || state.layout->panels().empty()) return {};
  if (!state.study.beside.empty()) return {"beside " + state.study.beside, true};
  const Panel& result = state.layout->panels().back();
  if (result.formula != state.layout_text) return {"= " + result.formula, true};
  const Result<std::int64_t> elements = size(result.layout), reach = reach_of(session);
  if (!elements || !reach) return {};
  return {fmt::format("{} elements, offsets below {}", grouped(std::uint64_t(*elements)),
                      grouped(std::uint64_t(*reach))),
          false};
}

Assistance assistance(const Session& session, const Backend& backend) {
  Assistance out{offered(session, backend), signature(session), false};
  out.unfinished = session.problem && session.problem->end >= session.editor.caret;
  return out;
}

bool offers_legend(const Session& session) {
  return view_of(session.state.view).legend && !shows_start(session) &&
         !shows_own_layouts(session) && !emptiness(session);
}

std::vector<Tab> tabs(const Session& session) {
  const ViewState& state = session.state;
  std::vector<Tab> out;
  if (!state.kernel && state.diff) {  // two files
    return {{"Matrix", "select matrices", state.view == ViewName::matrices},
            {"Difference", "select diff", state.view == ViewName::diff}};
  }
  if (!state.kernel) return out;
  for (const View* view : views()) {
    const bool current = state.view == view->id;
    const bool offered = !view->offered || view->offered(session);
    if (view->tab.empty() || (!offered && !current)) continue;
    out.push_back({std::string(view->tab), fmt::format("select {}", view->name), current});
  }
  return out;
}

std::vector<Choice> view_choices(const Session& session) {
  const ViewState& state = session.state;
  std::vector<Choice> out;
  if (state.view == ViewName::layout && state.layout) {
    const ColourBy shown = state.layout->colour(layout_choice(session));
    Choice colour{"Colour", {}};
    for (ColourBy by : state.layout->colours()) {
      colour.options.push_back(
          {std::string(name_of(by)), fmt::format("colour {}", name_of(by)), by == shown});
    }
    out.push_back(std::move(colour));
    out.push_back({"Label",
                   {{"contents", "label contents", !state.coordinates},
                    {"coordinates", "label coordinates", state.coordinates}}});
    add_modes(session, out);
    add_own_layouts(session, out);
  }
  if (state.view == ViewName::timeline && state.timeline) {
    const bool arrows = state.timeline_choice.arrows;
    out.push_back(
        {"Arrows",
         {{"selected", "timeline arrows off", !arrows}, {"all", "timeline arrows on", arrows}}});
    const bool steps = state.timeline_choice.steps;
    if (session.timeline_steps && !session.timeline_steps->empty()) {
      out.push_back(
          {"Colour",
           {{"unit", "timeline colour unit", !steps}, {"step", "timeline colour step", steps}}});
    }
    if (state.baseline == state.result || !state.baseline_timeline) {
      const bool pinned = state.baseline && state.baseline == state.result;
      out.push_back(
          {"Baseline", {{"none", "baseline off", !state.baseline}, {"this", "baseline", pinned}}});
    } else {
      const bool beside = state.beside_baseline;
      out.push_back(
          {"Baseline",
           {{"hidden", "timeline beside off", !beside}, {"above", "timeline beside on", beside}}});
    }
  }
  for (Choice& each : comparison_choices(session)) out.push_back(std::move(each));
  add_memory_choices(session, out);
  return out;
}

std::vector<SizeField> size_fields(const Session& session) {
  std::vector<SizeField> out;
  const ViewState& state = session.state;
  const bool of_kernel = !shows_layout(state.view) && state.view != ViewName::course;
  if (!state.kernel || !of_kernel) return out;
  for (const KernelCard::Size& size : state.kernel->sizes) out.push_back({size.name, size.value});
  return out;
}

std::string with_size(const ViewState& state, const std::string& name, const std::string& value) {
  ViewState changed = state;
  changed.options[name] = value;
  return "open " + kernel_words(changed);
}

}  // namespace tilescope
