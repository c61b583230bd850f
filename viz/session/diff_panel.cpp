#include "viz/session/diff_panel.h"

#include <fmt/format.h>

#include "viz/matrix/diff_histogram.h"
#include "viz/session/comparison.h"

namespace tilescope {

std::vector<InspectorSection> comparison_sections(const Session& session) {
  const ViewState& state = session.state;
  std::vector<InspectorSection> out;
  if (state.view != ViewName::diff || !state.compare.comparison) return out;
  const Comparison& comparison = *state.compare.comparison;
  if (!state.compare.against.empty()) {
    out.push_back({"Compared", totals(comparison.report), ""});
  }
  const std::int64_t columns = as_matrix(comparison.got->shape).cols;
  for (const Pattern& pattern : comparison.patterns) {
    InspectorSection section{
        fmt::format("Pattern: {}", pattern.name), {{"evidence", pattern.evidence}}, ""};
    const std::int64_t row = pattern.first / columns, column = pattern.first % columns;
    section.links.push_back({"first", fmt::format("({}, {})", row, column),
                             fmt::format("pick {} {}", row, column),
                             state.element == Element{row, column}});
    out.push_back(std::move(section));
  }
  if (comparison.patterns.empty() && comparison.report.wrong > 0) {
    out.push_back({"Pattern", {}, "None is seen in what is wrong."});
  }
  return out;
}

std::vector<Choice> comparison_choices(const Session& session) {
  const ViewState& state = session.state;
  const DiffStudy& study = state.compare;
  std::vector<Choice> out;
  if (state.view != ViewName::diff || !state.diff) return out;
  out.push_back(
      {"As",
       {{"map", "show map", !study.as_table}, {"worst first", "show table", study.as_table}}});
  Choice measure{"Measure", {}};
  for (const Measured each : kMeasured) {
    measure.options.push_back({std::string(name_of(each)), fmt::format("show {}", name_of(each)),
                               each == study.measured});
  }
  out.push_back(std::move(measure));
  out.push_back(
      {"Show",
       {{"all", "show all", !state.only_wrong}, {"only wrong", "show wrong", state.only_wrong}}});
  if (study.marks) {
    out.push_back({"Marked",
                   {{range_words(study.marks->range()), mark_command(study.marks->range()), true},
                    {"nothing", "mark nothing", false}}});
  }
  return out;
}

}  // namespace tilescope
