// A backend without a simulator, a catalog or a disk: one kernel, `add`, whose runs end when the
// test says so and whose result is wrong in the elements that the test chooses.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/sim/record/synthetic_record.h"
#include "tests/viz/small_machine.h"
#include "viz/session/backend.h"
#include "viz/session/result_view.h"

namespace tilescope::test {

// What a run leaves behind: of another kernel, a pipeline, so that there is a lot to see.
inline std::shared_ptr<const sim::Record> small_record(const sim::SyntheticPipeline& of = {}) {
  auto record = std::make_shared<sim::Record>(sim::synthetic_record(of));
  record->timed = true;
  record->seconds = 0;
  record->device.times.clock = 2;
  return record;
}

class FakeBackend : public Backend {
 public:
  std::set<std::int64_t> wrong;                                // elements of C that are off by one
  bool faults = false;                                         // the next run does
  std::shared_ptr<const sim::Record> record = small_record();  // of the next run
  bool leaves_machine = false;  // a run does, where it ended, as the program's do
  bool slow = false;            // runs go on until finish() or cancel()
  int starts = 0, cancels = 0;
  std::vector<std::string> exported;  // the names of the files

  void finish() { finished_ = true; }

  std::vector<KernelName> kernels() const override { return {{"add", "C = A + B"}}; }

  Outcome<KernelCard> kernel(std::string_view name, const KernelOptions& options) override {
    if (name != "add" && name != "hgemm_v8") {  // the other one is for `compare`
      return Error{ErrorKind::unknown, "There is no kernel `" + std::string(name) + "`.", ""};
    }
    KernelCard card;
    card.name = name;
    card.help = "C = A + B";
    card.source = "kernels/add.cu";
    card.launch = "1 block of 32 threads";
    card.sizes = {{"m", 4}, {"n", 8}};
    for (const auto& option : options) {
      if (option.first == "source") {
        if (!has_compiler) return Error{ErrorKind::unsupported, "There is no nvcc here.", ""};
        if (!texts.count(option.second)) return read_text(option.second).error();
        card.source = option.second;
        continue;
      }
      if (option.first == "ptx") {
        if (!texts.count(option.second)) return read_text(option.second).error();
        continue;
      }
      const auto size =
          std::find_if(card.sizes.begin(), card.sizes.end(),
                       [&](const KernelCard::Size& s) { return s.name == option.first; });
      if (size == card.sizes.end()) {
        return Error{ErrorKind::usage, "add has no option --" + option.first + ".", ""};
      }
      const std::string& text = option.second;
      const auto [end, error] =
          std::from_chars(text.data(), text.data() + text.size(), size->value);
      if (error != std::errc() || end != text.data() + text.size()) {
        return Error{ErrorKind::usage, "--" + option.first + " takes a number.", ""};
      }
    }
    for (const char* tensor : {"A", "B"}) {
      card.tensors.push_back({tensor, "f32", "random, seed 0", counting(card, 1)});
    }
    card.tensors.push_back({"C", "f32", "written by the kernel", nullptr});
    card.layouts = {{"matrix", "(4,8):(8,1)", "row-major"},
                    {"tiles", "zipped_divide((4,8):(8,1), <2,4>)", "one column a block"}};
    return card;
  }

  std::optional<Error> start(const KernelCard& kernel, const KernelOptions&) override {
    ++starts;
    running_ = kernel;
    finished_ = !slow;
    cancelled_ = false;
    return {};
  }
  Outcome<std::shared_ptr<LiveRun>> live(const KernelCard&, const KernelOptions&) override {
    return small_machine();
  }
  // A compiler that takes every text that has no `@` in it, and gives the small machine's PTX. With
  // `slow_compiler` it goes on until finish_build() or cancel_build().
  bool has_compiler = true, slow_compiler = false;
  int builds = 0, build_cancels = 0;
  std::optional<Error> start_build(const KernelCard&, const KernelOptions& options) override {
    ++builds;
    building_ = options.at("source");
    built_ = !slow_compiler;
    build_stopped_ = false;
    return {};
  }
  void finish_build() { built_ = true; }
  void cancel_build() override {
    ++build_cancels;
    build_stopped_ = built_ = true;
  }
  void wait_build() override { built_ = true; }
  std::optional<Outcome<std::shared_ptr<const Build>>> take_build() override {
    if (building_.empty() || !built_) return {};
    auto build = std::make_shared<Build>();
    build->file = build->name = std::exchange(building_, "");
    build->files = {build->file};
    const std::string& text = texts[build->file];
    build->sources[build->name] = lines_of_text(text);
    if (build_stopped_) {
      return Outcome<std::shared_ptr<const Build>>(
          Error{ErrorKind::interrupted, "nvcc was stopped.", ""});
    }
    const auto& lines = build->sources[build->name];
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (lines[i].find('@') == std::string::npos) continue;
      build->complaints.push_back({Complaint::Weight::error, build->name,
                                   static_cast<std::uint32_t>(i + 1), "unrecognized token"});
    }
    if (build->complaints.empty()) build->ptx = small_ptx;
    for (std::uint32_t i = 0; i < lines.size(); ++i) {  // "unused" is a warning
      if (lines[i].find("unused") == std::string::npos) continue;
      build->complaints.push_back(
          {Complaint::Weight::warning, build->name, i + 1, "variable was declared but never used"});
    }
    return Outcome<std::shared_ptr<const Build>>(std::shared_ptr<const Build>(build));
  }
  Outcome<std::string> kernel_source(std::string_view kernel) override {
    return "// " + std::string(kernel) + "\nvoid add() {\n}\n";
  }
  // CuTeDSL's elementwise_add stands for every kernel.
  Outcome<lowering::Code> code_below(const std::string& of, const lowering::Lowering&) override {
    if (of != "elementwise_add") return Error{ErrorKind::unknown, "There is no PTX of " + of, ""};
    std::ifstream file(std::string(TILESCOPE_SOURCE_DIR) + "/tests/lower/cutedsl_add_open.ptx");
    Outcome<ptx::Module> parsed = ptx::parse_module(
        "add.ptx", {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()});
    if (!parsed) return parsed.error();
    const auto module = std::make_shared<const ptx::Module>(std::move(*parsed));
    Outcome<ptx::Program> program = ptx::decode(module, module->functions.at(0));
    if (!program) return program.error();
    lowering::Code out;
    out.program = std::make_shared<const ptx::Program>(std::move(*program));
    return out;
  }
  // Of a file: how often it was written.
  std::map<std::string, std::uint64_t> writes;
  std::uint64_t stamp(const std::string& path) const override {
    const auto found = writes.find(path);
    return found == writes.end() ? texts.count(path) : found->second + 1;
  }
  // As another program does.
  void put(const std::string& path, const std::string& text) {
    texts[path] = text;
    ++writes[path];
  }

  RunProgress progress() const override {
    if (!running_) return {};
    return {finished_ ? RunProgress::State::finished : RunProgress::State::running, 3, 10, 1234,
            0.5};
  }
  void cancel() override {
    ++cancels;
    cancelled_ = finished_ = true;
  }
  void wait() override { finished_ = true; }

  std::optional<Outcome<FinishedRun>> take_result() override {
    if (!running_ || !finished_) return {};
    auto result = std::make_shared<RunResult>();
    result->kernel = *running_;
    running_.reset();
    result->progress = {RunProgress::State::finished, 10, 10, 4321, 0.5};
    const auto want = counting(result->kernel, 2);
    auto got = std::make_shared<Buffer>(*want);
    for (std::int64_t element : wrong) add_one(*got, element);
    result->matrices = {{"A", counting(result->kernel, 1)},
                        {"B", counting(result->kernel, 1)},
                        {"C", got},
                        {"reference", want}};
    result->output = 2;
    result->record = record;
    result->reference = 3;
    result->elementwise_inputs = {0, 1};
    result->writer = [](std::int64_t element) {
      Site site;
      site.source = "kernels/add.cu";
      site.source_line = 42;
      site.lane = static_cast<std::uint32_t>(element % 32);
      return std::optional<Site>(site);
    };
    if (cancelled_) {
      result->end = RunResult::End::cancelled;
    } else if (faults) {
      result->end = RunResult::End::fault;
      Report report;
      report.kind = "out_of_bounds";
      report.sentence = "A load of 4 bytes lies 4 bytes behind the end of A.";
      result->reports.push_back(report);
    } else {
      result->diff = *diff(*got, *want, {});
    }
    if (!leaves_machine || cancelled_ || faults) {
      return Outcome<FinishedRun>(finished(std::move(result)));
    }
    const auto machine = small_machine();
    (*machine)->stepper.to_the_end();
    (*machine)->stepper.arrive();
    result->moment = (*machine)->stepper.position();
    FinishedRun run = finished(std::move(result));
    run.live = *machine;
    return run;
  }

  Outcome<std::shared_ptr<const Buffer>> matrix(const std::string& path,
                                                std::optional<DType>) override {
    if (path.find("nosuch") != std::string::npos) {
      return Error{ErrorKind::unreadable, path + " cannot be read.", ""};
    }
    KernelCard card;
    std::int64_t rows = 1;
    for (std::size_t i = 0; i + 1 < shape.size(); ++i) rows *= shape[i];
    card.sizes = {{"m", rows}, {"n", shape.back()}};
    const std::shared_ptr<Buffer> values = counting(card, 2);
    values->shape = shape;
    return std::shared_ptr<const Buffer>(values);
  }
  bool has_gpu = false;
  Outcome<std::shared_ptr<const Buffer>> on_gpu(const KernelCard& kernel,
                                                const KernelOptions&) override {
    if (!has_gpu) return Error{ErrorKind::no_device, "There is no GPU here.", ""};
    return std::shared_ptr<const Buffer>(counting(kernel, 2));
  }
  std::vector<std::int64_t> shape = {5, 7};  // of every .npy
  std::string folder;                        // the working directory
  std::string whole_path(const std::string& path) const override {
    return path.front() == '/' ? path : folder + path;
  }
  std::vector<std::string> neighbours;  // of every file
  std::vector<std::string> beside(const std::string&, std::string_view end) override {
    std::vector<std::string> found;
    for (const std::string& each : neighbours) {
      if (each.ends_with(end)) found.push_back(each);
    }
    return found;
  }
  std::optional<Error> export_text(const LayoutView& view, const LayoutChoice&, const Theme&,
                                   const std::string& path) override {
    texts[path] = view.panels().front().formula;
    return {};
  }

  std::map<std::string, std::string> texts;  // files
  Outcome<std::string> read_text(const std::string& path) override {
    const auto found = texts.find(path);
    if (found != texts.end()) return found->second;
    return Error{ErrorKind::unreadable, path + " cannot be read: there is no such file.", ""};
  }
  std::optional<Error> write_text(const std::string& path, std::string_view text) override {
    put(path, std::string(text));
    return {};
  }

  // Three exercises; the kernel of the last one is not to be found. Their judge gives `verdict`, or
  // `judge_fails`; with `slow_judge` it goes on until finish_check() or cancel_check().
  CourseVerdict verdict;
  std::optional<Error> judge_fails;
  bool slow_judge = false;
  std::vector<std::string> checked;  // "loop in loop.cu"
  CourseIndex course_exercises() const override {
    CourseIndex out;
    for (const char* name : {"tiles", "loop", "last"}) {
      CourseExercise each;
      each.name = name;
      each.title = "Title of " + each.name;
      each.kernel = each.name == "last" ? "none" : "add";
      each.lesson = each.name == "loop" ? "layouts" : "";
      each.number = static_cast<int>(out.exercises.size()) + 1;
      each.shapes = {"--m 4", "--m 8 --n 16"};
      each.percent = 120;
      each.statement = {"Write it.", "- with `code` in it"};
      if (each.name != "last") each.hints = {"Which?", "That."};
      out.exercises.push_back(std::move(each));
    }
    out.problems = {{ErrorKind::unreadable, "It has no title.", "broken.md:3"}};
    return out;
  }
  Outcome<std::string> course_source(const CourseExercise& exercise) const override {
    if (exercise.kernel != "add") {
      return Error{ErrorKind::unknown, "There is no kernel `" + exercise.kernel + "`.", ""};
    }
    return std::string("void add() {  // [exercise\n  the_answer();\n}  // exercise]\n");
  }
  std::optional<Error> start_check(const CourseExercise& exercise,
                                   const std::string& file) override {
    if (!has_compiler) return Error{ErrorKind::unsupported, "There is no nvcc here.", ""};
    checked.push_back(exercise.name + " in " + file);
    judging_ = true;
    judged_ = !slow_judge;
    check_stopped_ = false;
    return {};
  }
  CourseProgress check_progress() const override { return {3, 16, "--m 4 --lazy"}; }
  void finish_check() { judged_ = true; }
  void cancel_check() override { check_stopped_ = judged_ = true; }
  void wait_check() override { judged_ = true; }
  std::optional<Outcome<CourseVerdict>> take_check() override {
    if (!judging_ || !judged_) return {};
    judging_ = false;
    if (check_stopped_) {
      return Outcome<CourseVerdict>(Error{ErrorKind::interrupted, "It was stopped.", ""});
    }
    if (judge_fails) return Outcome<CourseVerdict>(*judge_fails);
    return Outcome<CourseVerdict>(verdict);
  }

  // Two small lessons, and what a learner's progress was told to be.
  std::string kept;
  bool full_disk = false;  // progress cannot be kept
  std::vector<std::string> lesson_names() const override { return {"second", "layouts", "broken"}; }
  Outcome<std::string> lesson_text(std::string_view name) const override {
    if (name == "broken") return std::string("# Broken\n");
    if (name == "second") {
      return std::string(
          "# Second\n```lesson\nnumber: 2\nabout: another\n```\n## Only step\nText.\n"
          "```do\nopen add\nrun\nselect diff\n```\n```exercise\nquestion: Which is wrong?\n"
          "seed: 1\nchecker: wrong_element()\nhint: Look.\nhint: Look again.\n```\n");
    }
    return std::string(
        "# First\n```lesson\nnumber: 1\nabout: how it begins\n```\n"
        "## A grid\nA `layout` and **more**.\n```term\nstride, strides: how far.\n```\n"
        "```term\nTV layout, TV layouts: who has what.\n```\n"
        "```do\nopen layout (4,8):(8,1)\ncolour offset\npick 1 2\n```\n"
        "## A question\nSee this stride.\n```draw\n(2,2):(1,2)\ncolour offset\n```\n"
        "```do\nopen layout ({m},8):(8,1)\nlabel coordinates\n```\n"
        "```exercise\nquestion: Offset of ({i},3) in ({m},8):(8,1)?\nseed: 5\n"
        "numbers: m = 3..6; i = 1..m-1\nchecker: offset_of(({m},8):(8,1), ({i},3))\n"
        "hint: First.\nhint: Second with {i}.\nmistake: {i+30} => That slip.\n```\n");
  }
  std::optional<Error> keep_progress(const std::string& text) override {
    if (full_disk) return Error{ErrorKind::unreadable, "The disk is full.", "progress.json"};
    kept = text;
    return {};
  }

  std::optional<Error> export_picture(const Scene& scene, const std::string& path) override {
    if (scene.items.empty()) return Error{ErrorKind::usage, "Nothing is drawn.", ""};
    exported.push_back(path);
    return {};
  }

 private:
  // f32 m x n with 0, step, 2 step...
  static std::shared_ptr<Buffer> counting(const KernelCard& card, float step) {
    auto buffer = std::make_shared<Buffer>();
    buffer->shape = {card.sizes[0].value, card.sizes[1].value};
    buffer->bytes.resize(static_cast<std::size_t>(buffer->elements()) * 4);
    for (std::int64_t i = 0; i < buffer->elements(); ++i) {
      const float value = static_cast<float>(i) * step;
      std::memcpy(buffer->bytes.data() + i * 4, &value, 4);
    }
    return buffer;
  }
  static void add_one(Buffer& buffer, std::int64_t element) {
    float value = 0;
    std::memcpy(&value, buffer.bytes.data() + element * 4, 4);
    value += 1;
    std::memcpy(buffer.bytes.data() + element * 4, &value, 4);
  }

  std::optional<KernelCard> running_;
  bool finished_ = false, cancelled_ = false;
  std::string building_;  // the file
  bool built_ = false, build_stopped_ = false;
  bool judging_ = false, judged_ = false, check_stopped_ = false;
};

}  // namespace tilescope::test
