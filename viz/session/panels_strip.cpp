// The strip: where in the derivation, in the run or in time one is.
#include "viz/session/panels.h"

#include <fmt/format.h>

#include "viz/scene/number_words.h"
#include "viz/session/build_scene.h"
#include "viz/session/comparison.h"
#include "viz/session/machine_inspector.h"
#include "viz/session/product_session.h"
#include "viz/session/result_view.h"
#include "viz/session/theatre_session.h"

namespace tilescope {
namespace {

std::string compared_words(const ViewState& state) {
  if (!state.compare.comparison) return "not yet";
  const DiffReport& report = state.compare.comparison->report;
  return report.ok()
             ? fmt::format("all {} agree", grouped(report.compared))
             : fmt::format("{} of {} wrong", grouped(report.wrong), grouped(report.compared));
}

// "64 CTAs"; of a run that did not come to its end: "0 of 1 CTA ended"
std::string ctas_words(const RunResult& result) {
  if (result.end == RunResult::End::fault) return ended_words(result.progress);
  return fmt::format("{} CTA{}", grouped(result.progress.done),
                     result.progress.done == 1 ? "" : "s");
}

// As `--stats` prints it; empty: it has not run, did not come to its end, or by no clock.
std::string run_time_words(const ViewState& state) {
  if (!state.timeline || !state.result || state.result->end == RunResult::End::fault) return "";
  const sim::RunTime time = state.timeline->statistics().time();
  if (!(time.seconds > 0)) return "";
  return sim::time_text(time.seconds) + (time.launch > 0 ? " with its launch" : "");
}

Strip run_strip(const Session& session, const Backend& backend) {
  const ViewState& state = session.state;
  Strip out;
  if (!state.kernel) {
    const bool compared = state.compare.comparison != nullptr;
    if (!state.file.empty()) out.steps.push_back({"File", state.file, !compared});
    if (compared) out.steps.push_back({"Compare", compared_words(state), true});
    return out;
  }
  const RunResult* result = state.result.get();
  out.steps.push_back({"Inputs", state.kernel->launch, !result && !session.running});
  if (session.running) {
    const RunProgress now = backend.progress();
    out.share = now.total ? double(now.done) / double(now.total) : 0;
    out.progress = now.total ? fmt::format("{} of {} CTAs, {}", grouped(now.done),
                                           grouped(now.total), duration(now.seconds))
                             : "making the inputs";
    out.steps.push_back({"Run", "running", true});
  } else {
    out.steps.push_back(
        {"Run",
         result ? fmt::format("{}, {} PTX instructions{}", ctas_words(*result),
                              grouped(result->progress.instructions),
                              session.show_times ? ", " + duration(result->progress.seconds) : "")
                : "not yet",
         result && !result->diff});
  }
  if (const std::string time = run_time_words(state); !time.empty() && !session.running) {
    out.steps.push_back({"Time", time, false, "select timeline"});
  }
  out.steps.push_back(
      {"Compare", compared_words(state), state.compare.comparison && !session.running});
  return out;
}

Strip with_edit(Strip strip, const Session& session, const Backend& backend) {
  add_edit(session, backend, strip);
  return strip;
}

// A tiled copy or product is told in several lines, for which the strip has no room.
std::string in_one_line(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool blank = c == '\n' || c == ' ';
    if (!blank) out += c;
    if (blank && !out.empty() && out.back() != ' ') out += ' ';
  }
  return out;
}

// Which slice is shown, where one is.
void add_slice(const Session& session, Strip& out) {
  const SliceChoice& slice = session.state.study.slice;
  if (slice.grid < 0 || slice.at < 0) return;
  const Panel& panel = session.state.layout->panels()[static_cast<std::size_t>(slice.grid)];
  out.steps.push_back(
      {"Slice",
       fmt::format("{}, {} of {}", slice_text(panel, slice), slice.at + 1, slices_of(panel, slice)),
       true, "slice all"});
  if (!out.actions.empty()) return;  // those of a derivation
  out.actions = {{"Previous", "slice previous", false}, {"Next", "slice next", false}};
}

Strip derivation_strip(const Session& session) {
  Strip out;
  const LayoutStudy& study = session.state.study;
  out.actions = {
      {"Back", "derive back", false},
      {"Next", "derive next", false},
      session.playing ? Tab{"Stop", "derive stop", false} : Tab{"Play", "derive play", false}};
  for (std::size_t i = 1; i <= study.steps(); ++i) {
    const DerivationStep& step = (*study.derivation)[i];
    std::string value = step.operands;
    if (!step.result.empty()) value += (value.empty() ? "= " : " = ") + step.result;
    out.steps.push_back({fmt::format("{} {}", i, step.operation), in_one_line(value),
                         study.step == i, fmt::format("derive {}", i)});
  }
  out.steps.push_back(
      {"Result", in_one_line(study.derivation->front().result), study.step == 0, "derive result"});
  add_slice(session, out);
  return out;
}

// What is wrong with the run that is open, in all views of it: a button that leads there.
void add_alarm(const Session& session, Strip& out) {
  const ViewState& state = session.state;
  if (!state.result || !state.live || session.running || session.seek) return;
  if (shows_layout(state.view)) return;
  const RunResult& result = *state.result;
  const auto told = hazards_of(result);
  const bool fault = result.end == RunResult::End::fault && !result.reports.empty();
  if (!fault && !told) return;
  const std::size_t report = fault ? result.reports.size() - 1 : told->first;
  Tab button{fault ? "Fault" : text(*told), fmt::format("go report {}", report),
             state.spot.report == report};
  button.alarm = true;
  out.actions.insert(out.actions.begin(), std::move(button));
}

Strip strip_of_view(const Session& session, const Backend& backend);

}  // namespace

Strip strip(const Session& session, const Backend& backend) {
  Strip out = strip_of_view(session, backend);
  add_alarm(session, out);
  return out;
}

namespace {

Strip strip_of_view(const Session& session, const Backend& backend) {
  const ViewState& state = session.state;
  if (state.view == ViewName::course) return course_strip(session);
  // The matrices are of a moment where the machine stands elsewhere than at the run's end.
  const std::uint64_t end = state.result ? state.result->moment : 0;
  const bool on_its_way = state.live && state.moment != end;
  if (state.view == ViewName::theatre && state.timeline && !session.running) {
    return with_edit(theatre_strip(session), session, backend);
  }
  if (state.view == ViewName::product && state.timeline && !session.running) {
    return with_edit(product_strip(session), session, backend);
  }
  const bool stands = shows_machine(state.view) ||
                      (state.view == ViewName::timeline && state.live != nullptr) ||
                      (state.view == ViewName::diff && state.live != nullptr && !state.result &&
                       state.moment > 0) ||
                      (state.view == ViewName::matrices && on_its_way);
  if (stands && !session.running) return with_edit(machine_strip(session), session, backend);
  if (!shows_layout(state.view) || session.running) {
    return with_edit(run_strip(session, backend), session, backend);
  }
  Strip out;
  if (!state.layout) return out;
  if (state.study.steps() > 0) return derivation_strip(session);
  out.apart = !state.study.beside.empty() || state.layout->kind() == LayoutView::Kind::thread_value;
  const std::vector<Panel>& panels = state.layout->panels();
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const Panel& panel = panels[i];
    const bool current =
        session.hovered.cell && static_cast<std::size_t>(session.hovered.cell->panel) == i;
    out.steps.push_back({panel.title.empty() ? "Layout" : panel.title, panel.formula, current});
  }
  add_slice(session, out);
  return out;
}

}  // namespace

}  // namespace tilescope
