#include "app/lesson_trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "app/files.h"
#include "app/scratch.h"
#include "app/window_backend.h"
#include "core/profile/run_time.h"
#include "core/run/deadlock_cause.h"
#include "viz/commands/commands.h"
#include "viz/session/result_view.h"

namespace tilescope {
namespace {

// What is wrong with a run, in a sentence; empty where nothing is.
std::string problem_of(const RunResult& result) {
  for (const Weight weight : {Weight::fault, Weight::hazard}) {
    for (const Report& report : result.reports) {
      if (report.weight == weight) {
        if (report.deadlock && !report.deadlock->sentence.empty()) return report.deadlock->sentence;
        return fmt::format("{} ({})", report.sentence, place_text(report.site));
      }
    }
  }
  if (result.end != RunResult::End::done) return "The run was stopped before its end.";
  return !result.diff || result.diff->ok() ? "" : outcome_of(result, false);
}

}  // namespace

Outcome<Trial> try_kernel(std::string_view kernel) {
  Session session;
  AppBackend backend;
  if (auto opened = execute(session, backend, fmt::format("open {}", kernel)); !opened) {
    return opened.error();
  }
  if (auto begun = execute(session, backend, "run"); !begun) return begun.error();
  backend.wait();
  take_result(session, backend);
  if (session.run_error) return *session.run_error;
  const RunResult* result = session.state.result.get();
  if (!result) return Error{ErrorKind::mismatch, "It left no result.", ""};
  Trial out;
  out.problem = problem_of(*result);
  out.right = out.problem.empty();
  if (result->record) out.seconds = sim::run_time_of(*result->record).seconds;
  return out;
}

Outcome<Trial> try_program(std::string_view ptx, std::string_view launch) {
  const Scratch scratch;
  if (scratch.folder().empty()) {
    return Error{ErrorKind::unreadable, "There is no place for temporary files.", ""};
  }
  const std::string program = (scratch.folder() / "program.ptx").string();
  const std::string about = (scratch.folder() / "program.toml").string();
  if (const auto error = write_file(program, ptx)) return *error;
  if (const auto error = write_file(about, launch)) return *error;
  const std::string opened = fmt::format("{} --launch {}", program, about);
  Outcome<Trial> usual = try_kernel(opened);
  if (!usual || !usual->right) return usual;
  Outcome<Trial> late = try_kernel(opened + " --lazy on");
  if (!late || late->right) return usual;
  late->problem = fmt::format(
      "It is right only as long as copies are quick. Where they come as "
      "late as they may: {}",
      late->problem);
  return late;
}

}  // namespace tilescope
