#include "app/course_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/compiler.h"
#include "app/process.h"
#include "viz/scene/command_text.h"

namespace tilescope {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr int kSchedules = 10;

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> out;
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

// How one run ended: an empty kind is right.
struct RunEnd {
  std::string kind, sentence, where;
  double seconds = 0;
};

class Judge {
 public:
  Judge(const CourseExercise& exercise, const std::string& file, const CourseLimits& limits,
        const CourseWatch& watch)
      : exercise_(exercise), file_(file), limits_(limits), watch_(watch) {}

  Outcome<CourseVerdict> judge() {
    if (const auto nvcc = find_nvcc(); !nvcc) return nvcc.error();
    if (right()) {
      verdict_.right = true;
      if (safe()) verdict_.safe = true, time();
    }
    if (refused_) return *refused_;
    return std::move(verdict_);
  }

 private:
  bool right() {
    for (const std::string& shape : exercise_.shapes) {
      if (!passes(shape)) return false;
    }
    return true;
  }

  bool safe() {
    for (const std::string& shape : exercise_.shapes) {
      if (!passes(shape + " --lazy")) return false;
    }
    for (int seed = 1; seed <= kSchedules; ++seed) {
      if (!passes(fmt::format("{} --schedule {}", exercise_.shapes.front(), seed))) return false;
    }
    return true;
  }

  void time() {
    const std::string options = exercise_.shapes.back() + " --predict";
    const auto mine = run(options, true), ours = run(options, false);
    if (!mine || !ours) return;
    verdict_.seconds = mine->seconds;
    verdict_.ours = ours->seconds;
    verdict_.fast = 100 * mine->seconds <= static_cast<double>(exercise_.percent) * ours->seconds;
    if (verdict_.fast) return;
    tell({"slow",
          fmt::format("It takes {:.2f} us, and ours {:.2f} us: {:.0f}%, where {}% is the "
                      "limit.",
                      mine->seconds * 1e6, ours->seconds * 1e6, 100 * mine->seconds / ours->seconds,
                      exercise_.percent),
          "", 0},
         exercise_.shapes.back(), "why");
  }

  bool passes(const std::string& options) {
    const auto end = run(options + " --strict", true);
    if (!end) return false;
    verdict_.built = end->kind != "unbuilt";
    if (end->kind.empty()) return true;
    tell(*end, options,
         end->kind == "deadlock"    ? "why"
         : end->kind == "different" ? "diff"
                                    : "source");
    return false;
  }

  void tell(const RunEnd& end, const std::string& options, std::string_view view) {
    verdict_.kind = end.kind;
    verdict_.sentence = end.sentence;
    verdict_.where = end.where;
    verdict_.options = options;
    verdict_.told = mistake_told(exercise_, end.kind, end.sentence);
    if (end.kind == "too_long" || end.kind == "stopped") return;
    std::string open = fmt::format("open {} --source {}", exercise_.kernel, quoted_word(file_));
    for (const std::string& word : words_of(options)) {  // the window takes `--lazy on`
      open += fmt::format(" {}{}", word, word == "--lazy" ? " on" : "");
    }
    verdict_.show = {std::move(open)};
    if (end.kind == "unbuilt") {  // it is compiled where its source is looked at
      verdict_.show.emplace_back("select source");
      return;
    }
    verdict_.show.emplace_back("run");
    verdict_.show.push_back(fmt::format("select {}", view));
  }

  // Nothing where it cannot be judged at all: refused_ says why.
  std::optional<RunEnd> run(const std::string& options, bool theirs) {
    std::error_code failed;
    const std::string self = std::filesystem::read_symlink("/proc/self/exe", failed).string();
    ProcessPlan plan;
    plan.words = {self, "run", exercise_.kernel};
    for (const std::string& word : words_of(options)) plan.words.push_back(word);
    if (theirs) plan.words.insert(plan.words.end(), {"--source", file_});
    plan.words.insert(plan.words.end(), {"--threads", "1", "--json"});
    plan.megabytes = limits_.megabytes;
    plan.limit = std::size_t{4} << 20;
    ++verdict_.runs;
    const auto all = 2 * static_cast<std::int64_t>(exercise_.shapes.size()) + kSchedules + 2;
    if (watch_.tell) watch_.tell({verdict_.runs, all, options});
    const auto begun = Clock::now();
    bool late = false;
    const auto ended = run_process(plan, [&] {
      late = std::chrono::duration<double>(Clock::now() - begun).count() > limits_.seconds;
      return !late && (!watch_.keep_on || watch_.keep_on());
    });
    if (late) {
      return RunEnd{"too_long", fmt::format("It was stopped after {} seconds.", limits_.seconds),
                    "", 0};
    }
    if (!ended) {
      refused_ = ended.error();
      return {};
    }
    return end_of(*ended);
  }

  std::optional<RunEnd> end_of(const ProcessEnd& ended) {
    const std::size_t begin = ended.said.find("{\n");
    const std::size_t end = ended.said.rfind("\n}");
    const Json document =
        begin == ended.said.npos || end == ended.said.npos
            ? Json(Json::value_t::discarded)
            : Json::parse(ended.said.substr(begin, end + 2 - begin), nullptr, false);
    if (document.is_discarded()) {
      return RunEnd{
          "stopped",
          fmt::format("The run ended with exit code {} and said nothing that can be read{}.",
                      ended.exit_code,
                      limits_.megabytes ? "; it may have wanted more memory than it may "
                                          "have"
                                        : ""),
          "", 0};
    }
    RunEnd out;
    if (document.contains("predicted")) out.seconds = document["predicted"]["seconds"];
    if (ended.exit_code == 0) return out;
    const Json error = document.value("error", Json::object());
    out.sentence = error.value("sentence", "");
    out.where =
        error.contains("where") && error["where"].is_string() ? error.value("where", "") : "";
    if (ended.exit_code == 3) {
      // The last report that is more than a note: a fault, or with --strict a hazard.
      for (const Json& report : document.value("reports", Json::array())) {
        if (report.value("weight", "") == "note") continue;
        out.kind = report.value("kind", "");
        out.sentence = report.value("sentence", "");
      }
      if (out.kind.empty()) out.kind = "fault";
    } else if (ended.exit_code == 1) {
      out.kind = "different";
      for (const Json& output : document.value("outputs", Json::array())) {
        for (const Json& pattern : output.value("patterns", Json::array())) {
          out.sentence += fmt::format(" {}.", pattern.value("name", ""));
        }
      }
    } else if (error.value("kind", "") == "unsupported") {
      out.kind = "unbuilt";
    } else {
      refused_ = Error{ErrorKind::mismatch, out.sentence, out.where};
      return {};
    }
    return out;
  }

  const CourseExercise& exercise_;
  const std::string& file_;
  const CourseLimits& limits_;
  const CourseWatch& watch_;
  CourseVerdict verdict_;
  std::optional<Error> refused_;
};

std::string_view mark(bool passed) {
  return passed ? "yes" : "no";
}

}  // namespace

Outcome<CourseVerdict> judge_course(const CourseExercise& exercise, const std::string& file,
                                    const CourseLimits& limits, const CourseWatch& watch) {
  return Judge(exercise, file, limits, watch).judge();
}

std::string see(const CourseVerdict& verdict) {
  if (verdict.show.empty()) return "";
  std::string out = "tilescope gui";
  for (const std::string& line : verdict.show) out += fmt::format(" --do {}", shell_word(line));
  return out;
}

std::string text(const CourseVerdict& v, const CourseExercise& exercise) {
  std::string out = fmt::format("right: {}\nsafe:  {}\n", mark(v.right), mark(v.safe));
  out += fmt::format("fast:  {}{}\n", v.ours > 0 ? fmt::format("{}, ", mark(v.fast)) : "",
                     time_words(v, exercise));
  if (v.passed()) return out + fmt::format("Passed, in {} runs.\n", v.runs);
  out += fmt::format("\n{} {}: {}\n", exercise.kernel, v.options, v.sentence);
  if (!v.where.empty()) out += fmt::format("  at {}\n", v.where);
  if (!v.told.empty()) out += fmt::format("\n{}\n", v.told);
  if (const std::string line = see(v); !line.empty()) {
    out += fmt::format("\nTo see it: {}\n", line);
  }
  return out;
}

Json to_json(const CourseVerdict& v) {
  Json out = {{"passed", v.passed()}, {"built", v.built}, {"right", v.right},
              {"safe", v.safe},       {"fast", v.fast},   {"runs", v.runs}};
  if (v.ours > 0) {
    out["seconds"] = v.seconds;
    out["ours"] = v.ours;
  }
  if (!v.kind.empty()) {
    out["wrong"] = {{"kind", v.kind},   {"options", v.options}, {"sentence", v.sentence},
                    {"where", v.where}, {"told", v.told},       {"see", see(v)}};
  }
  return out;
}

}  // namespace tilescope
