// The comparison: against what, what of it is shown, from wrong element to wrong element.
#include "viz/commands/command_table.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "viz/matrix/diff_histogram.h"
#include "viz/scene/command_text.h"
#include "viz/scene/number_words.h"
#include "viz/scene/site_words.h"
#include "viz/session/comparison.h"
#include "viz/session/files.h"
#include "viz/session/open.h"

namespace tilescope {
namespace {

// What is compared: the output of the run, or the values of the open file.
struct Got {
  std::shared_ptr<const Buffer> values;
  std::string name;  // "hgemm_v7: D"
  DiffOptions options;
  PatternHints hints;
};

Outcome<Got> got_of(const ViewState& state) {
  Got out;
  if (!state.file.empty() && state.matrices) {
    out.values = state.matrices->matrices().front().values;
    out.name = file_name(state.file);
    out.options.tolerance = tolerance_for(out.values->dtype);
    return out;
  }
  if (!state.kernel) {
    return usage_error(
        "There is nothing to compare: `open A.npy`, or open a kernel and `run` it; then `diff "
        "against F.npy`.");
  }
  const auto& result = state.result;
  if (!result || result->end != RunResult::End::done || result->output >= result->matrices.size()) {
    return usage_error(
        fmt::format("{} has no result to compare: `run` it to its end first.", state.kernel->name));
  }
  const RunResult::Matrix& output = result->matrices[result->output];
  out.values = output.values;
  out.name = fmt::format("{}: {}", result->kernel.name, output.name);
  if (result->diff) {
    out.options = result->diff->options;
  } else {
    out.options.tolerance = tolerance_for(output.values->dtype);
  }
  out.hints = hints_of(result);
  return out;
}

// Its field says what is open.
void show_diff(Session& session) {
  session.state.view = ViewName::diff;
  show_in_field(session);
}

void show_comparison(Session& session, std::shared_ptr<const Comparison> comparison,
                     std::string against) {
  ViewState& state = session.state;
  state.compare.comparison = std::move(comparison);
  state.compare.against = std::move(against);
  state.compare.marks.reset();
  state.diff = state.compare.comparison->view(state.compare.measured);
  show_diff(session);
}

std::string outcome(const Comparison& comparison, std::string_view with) {
  const DiffReport& report = comparison.report;
  if (report.ok()) {
    return fmt::format("All {} elements agree with {}.", grouped(report.compared), with);
  }
  return fmt::format("{} of {} elements differ from {}.", grouped(report.wrong),
                     grouped(report.compared), with);
}

Answer against_reference(Session& session) {
  ViewState& state = session.state;
  if (!state.result) {
    return usage_error("The reference is computed with a run: open a kernel and `run` it first.");
  }
  auto comparison = comparison_of(state.result);
  if (!comparison) {
    return usage_error(
        fmt::format("Nothing says what the result of {} should be: a launch file names it with "
                    "`expect`, and `diff against F.npy` compares with any file.",
                    state.result->kernel.name));
  }
  show_comparison(session, std::move(comparison), "");
  return outcome(*state.compare.comparison, "the reference");
}

// The output of the run that is pinned.
Outcome<std::shared_ptr<const Buffer>> of_baseline(const ViewState& state) {
  if (!state.baseline) {
    return usage_error(
        "No run is pinned: `baseline` pins the open one, then `run` another to compare with it.");
  }
  const RunResult& pinned = *state.baseline;
  if (pinned.end != RunResult::End::done || pinned.output >= pinned.matrices.size()) {
    return usage_error("The pinned run has no result: it did not come to its end.");
  }
  return pinned.matrices[pinned.output].values;
}

Answer against(Session& session, Backend& backend, const std::string& what) {
  ViewState& state = session.state;
  if (what == "reference") return against_reference(session);
  const bool gpu = what == "gpu", pinned = what == "baseline";
  if (!gpu && !pinned && !names_file(what)) {
    return usage_error(fmt::format(
        "`diff against` takes reference, baseline, gpu or a .npy file; `{}` is none of these.",
        what));
  }
  auto got = got_of(state);
  if (!got) return got.error();
  if (gpu && !state.kernel) {
    return usage_error("A GPU runs kernels: `open` one, not a file, to compare with it.");
  }
  auto want = pinned ? of_baseline(state)
              : gpu  ? backend.on_gpu(*state.kernel, state.options)
                     : backend.matrix(what, got->values->dtype);
  if (!want) return want.error();
  const std::string name = gpu ? "the GPU" : pinned ? "the baseline" : file_name(what);
  auto comparison = compare(fmt::format("{} against {}", got->name, name), got->values, *want,
                            got->options, std::move(got->hints));
  if (!comparison) return comparison.error();
  show_comparison(session, *comparison, what);
  return outcome(**comparison, name);
}

Answer run_diff(Session& session, Backend& backend, std::string_view arguments) {
  const std::vector<std::string> words = split_words(arguments);
  if (words.size() != 2 || words[0] != "against") {
    return usage_error(
        "`diff` takes with what the result is compared: `diff against reference`, `diff against "
        "baseline`, `diff against gpu` or `diff against F.npy`.");
  }
  return against(session, backend, words[1]);
}

// ---- what is shown ----

Answer show_measure(Session& session, Measured what) {
  ViewState& state = session.state;
  state.compare.measured = what;
  state.compare.marks.reset();  // its range is of another measure
  if (state.compare.comparison) {
    state.diff = state.compare.comparison->view(what);
    show_diff(session);
  }
  return fmt::format("Showing {}.", words_of(what));
}

Answer run_show(Session& session, Backend&, std::string_view arguments) {
  ViewState& state = session.state;
  if (const auto what = measured_named(arguments)) return show_measure(session, *what);
  if (arguments == "wrong" || arguments == "all") {
    state.only_wrong = arguments == "wrong";
    return std::string(state.only_wrong ? "Only wrong elements are coloured."
                                        : "All differences are coloured.");
  }
  if (arguments == "map" || arguments == "table") {
    state.compare.as_table = arguments == "table";
    session.scrolls.erase(ViewName::diff);
    if (state.diff) show_diff(session);
    return std::string(state.compare.as_table ? "The worst elements first."
                                              : "The difference as a map.");
  }
  return usage_error(fmt::format(
      "`show` takes wrong or all; difference, absolute, relative, ulp, got or want; map or table. "
      "`{}` is none of these.",
      arguments));
}

// A number as `mark` takes it: all of the word.
std::optional<double> real_in(const std::string& word) {
  char* end = nullptr;
  const double value = std::strtod(word.c_str(), &end);
  if (word.empty() || end != word.c_str() + word.size() || std::isnan(value)) return {};
  return value;
}

Answer run_mark(Session& session, Backend&, std::string_view arguments) {
  ViewState& state = session.state;
  if (arguments == "nothing") {
    state.compare.marks.reset();
    return std::string("Nothing is marked.");
  }
  if (!state.diff) {
    return usage_error("There is no comparison to mark elements of: `run` a kernel first.");
  }
  const std::vector<std::string> words = split_words(arguments);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::optional<MarkedRange> range;
  if (arguments == "zero") range = MarkedRange{0, 0};
  if (arguments == "infinite") range = MarkedRange{infinity, infinity};
  if (words.size() == 2) {
    const auto low = real_in(words[0]), high = real_in(words[1]);
    if (low && high && *low >= 0 && *low < *high) range = MarkedRange{*low, *high};
  }
  if (!range) {
    return usage_error(
        "`mark` takes a range of what is shown, from the smaller number up to the larger, which is "
        "left out (`mark 0.001 0.01`), zero, infinite, or nothing.");
  }
  state.compare.marks = std::make_shared<const DiffMarks>(*state.diff, *range);
  show_diff(session);
  return fmt::format("Marked {}: {} right, {} wrong.", range_words(*range),
                     grouped(state.compare.marks->right_count()),
                     grouped(state.compare.marks->wrong_count()));
}

// ---- from wrong element to wrong element ----

std::optional<Element> worst_of(const ViewState& state) {
  if (!state.compare.comparison) return {};
  const std::vector<Mismatch>& worst = state.compare.comparison->worst(state.compare.measured);
  if (worst.empty()) return {};
  const std::int64_t columns = state.diff->source().columns();
  return Element{worst.front().index / columns, worst.front().index % columns};
}

Answer run_wrong(Session& session, Backend&, std::string_view where) {
  ViewState& state = session.state;
  if (where != "next" && where != "previous" && where != "first" && where != "worst") {
    return usage_error("`wrong` takes next, previous, first or worst.");
  }
  if (!state.diff) {
    return usage_error("There is no comparison to look for wrong elements in: `run` a kernel.");
  }
  const DiffView& view = *state.diff;
  if (view.wrong_count() == 0) return std::string("No element is wrong.");
  std::optional<Element> to;
  if (where == "worst") {
    to = worst_of(state);
  } else if (where == "previous") {
    to = view.wrong_before(state.element);
  } else {
    to = view.wrong_after(where == "first" ? std::nullopt : state.element);
  }
  if (!to) {
    return usage_error(fmt::format("There is no {} wrong element: this is the {}.",
                                   where == "next" ? "further" : "earlier",
                                   where == "next" ? "last" : "first"));
  }
  state.element = to;
  session.scrolls.erase(ViewName::diff);  // its row of the table comes into view
  show_diff(session);
  return fmt::format("Selected element ({}, {}): wrong {} of {}.", to->row, to->column,
                     grouped(static_cast<std::uint64_t>(view.wrong_index(*to) + 1)),
                     grouped(static_cast<std::uint64_t>(view.wrong_count())));
}

std::vector<Suggestion> suggest_against(const Session&, const Backend&) {
  return {{"against reference", "what the catalog or the launch file says"},
          {"against baseline", "the result of the run that is pinned"},
          {"against gpu", "what a GPU computes"}};
}

constexpr std::array kDiffCommands = {
    WindowCommand{"diff", "against reference | baseline | gpu | F.npy",
                  "compares the result, or the open file, with something else",
                  "diff against reference", "", run_diff, suggest_against, true},
    WindowCommand{"show",
                  "all | wrong | difference | absolute | relative | ulp | got | want | map | table",
                  "chooses what of the comparison is shown, and which elements are coloured",
                  "show wrong", "", run_show, nullptr, true},
    WindowCommand{"wrong", "next | previous | first | worst",
                  "selects a wrong element: by place, or by what is shown", "wrong worst",
                  "Ctrl+E next, Ctrl+Shift+E previous", run_wrong, nullptr, true},
    WindowCommand{"mark", "LOW HIGH | zero | infinite | nothing",
                  "marks the elements whose error or value is in a range", "mark 0.001 0.01", "",
                  run_mark, nullptr, true},
};

}  // namespace

std::span<const WindowCommand> diff_commands() {
  return kDiffCommands;
}

}  // namespace tilescope
