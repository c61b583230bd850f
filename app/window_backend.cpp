#include "app/window_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/assets.h"
#include "app/compiled_files.h"
#include "app/compiler.h"
#include "app/files.h"
#include "app/films.h"
#include "app/kernel_cards.h"
#include "app/kernel_options.h"
#include "app/lesson_store.h"
#include "app/lesson_trial.h"
#include "app/lower_code.h"
#include "app/npy_files.h"
#include "app/pictures.h"
#include "app/window_runs.h"
#include "core/lesson/course.h"
#include "kernels/catalog/catalog.h"
#include "viz/session/result_view.h"

namespace tilescope {
namespace {

// A CUDA file must be there, and a compiler for it; what it compiles to is seen later.
std::optional<Error> wrong_source(const KernelOptions& options) {
  const auto source = options.find("source");
  if (source == options.end()) return {};
  if (options.count("ptx")) {
    return Error{ErrorKind::usage,
                 "--ptx and --source both say what runs in the kernel's place: leave one out.", ""};
  }
  const auto files = cuda_files(source->second);
  if (!files) return files.error();
  const auto nvcc = find_nvcc();
  return nvcc ? std::nullopt : std::optional(nvcc.error());
}

// What stands in the kernel's place is refused before it is opened, not when it is to run.
std::optional<Error> wrong_program(const CatalogEntry& entry, const Fit& fitted,
                                   const RunOptions& options) {
  if (options.ptx.empty() && !options.built) return {};
  const Outcome<Program> program = program_of(entry, fitted, options);
  if (!program) return program.error();
  return not_understood(*program, fitted.variant.entry);
}

// Inputs of more elements than this are not made before the run: opening answers at once.
constexpr std::int64_t kMostShown = std::int64_t{1} << 22;

// The card of a catalog kernel whose sizes are said in words; nothing where files say them.
Outcome<std::optional<KernelCard>> large_card(std::string_view name, const KernelOptions& options) {
  const Outcome<const CatalogEntry*> entry = entry_named(name);
  if (!entry) return entry.error();
  const Outcome<RunOptions> run = run_options(**entry, options);
  if (!run) return run.error();
  if (!run->files.empty() || !run->dtype.empty()) return std::optional<KernelCard>();
  Request request;
  request.sizes = run->sizes;
  request.choices = run->choices;
  const Outcome<Fit> fitted = fit(**entry, request);
  if (!fitted) return fitted.error();
  std::int64_t most = 0;
  for (const TensorSpec& tensor : fitted->tensors) {
    std::int64_t elements = 1;
    for (std::int64_t extent : shape_of(tensor, fitted->sizes)) elements *= extent;
    most = std::max(most, elements);
  }
  if (most <= kMostShown) return std::optional<KernelCard>();
  if (auto error = wrong_program(**entry, *fitted, *run)) return *error;
  return std::optional<KernelCard>(catalog_card(**entry, *fitted, options));
}

// A text may compile and not be this kernel.
std::optional<Error> wrong_build(std::string_view name, const KernelOptions& options,
                                 const std::shared_ptr<const Build>& build) {
  const Outcome<const CatalogEntry*> entry = entry_named(name);
  if (!entry) return entry.error();
  Outcome<RunOptions> run = run_options(**entry, options);
  if (!run) return run.error();
  run->built = build;
  const Outcome<Fit> fitted = fit_for(**entry, *run);
  if (!fitted) return fitted.error();
  return wrong_program(**entry, *fitted, *run);
}

// Who wrote an element, asked of a copy of the machine at the end.
std::function<std::optional<Site>(std::int64_t)> writer_of(
    const std::shared_ptr<const sim::Machine>& machine, std::size_t buffer) {
  return [machine, buffer](std::int64_t element) {
    const std::size_t width = bytes_of(machine->shells()[buffer].dtype);
    return machine->writer(buffer, static_cast<std::size_t>(element) * width);
  };
}

// The first output beside what it should be, where something says what that is.
std::optional<Error> compare(const PreparedRun& run, const Execution& execution,
                             RunResult& result) {
  const Output& output = run.outputs.front();
  Outcome<std::optional<Buffer>> want = wanted(run, output);
  if (!want) return want.error();
  if (!*want) return {};
  const Buffer& got = execution.buffers()[output.buffer];
  DiffOptions options;
  options.tolerance = output.tolerance;
  Outcome<DiffReport> report = diff(got, **want, options);
  if (!report) return report.error();
  name_writers(*report, execution, output.buffer);
  result.diff = std::move(*report);
  result.reference = result.matrices.size();
  const std::string name = output.want ? *output.want : "reference";
  result.matrices.push_back({name, std::make_shared<const Buffer>(std::move(**want))});
  return {};
}

// With the record of the run, and its machine where it ended.
FinishedRun with_machine(const PreparedRun& run, RecordedRun& recorded,
                         std::shared_ptr<RunResult> result) {
  result->moment = recorded.position();
  result->record = std::make_shared<const sim::Record>(recorded.take_record(run));
  auto live = recorded.take_live();
  const auto source = live->sources.find(result->kernel.source);
  if (source != live->sources.end()) result->source = source->second;
  FinishedRun out = finished(std::move(result));
  out.live = std::move(live);
  return out;
}

BackgroundRun::Result result_of(const PreparedRun& run, const KernelCard& card,
                                const KernelOptions& options, BackgroundRun::Ended ended) {
  auto result = std::make_shared<RunResult>();
  const std::shared_ptr<Execution> execution = std::move(ended.execution);
  auto& recorded = static_cast<RecordedRun&>(*execution);  // as `start` made it
  result->end = ended.end;
  result->kernel = card;
  result->options = options;
  result->progress = ended.progress;
  result->reports = execution->reports();
  for (std::size_t i = 0; i < execution->buffers().size(); ++i) {
    // Shares the run's own memory: a large matrix is not copied again.
    const Buffer& values = execution->buffers()[i];
    result->matrices.push_back({values.name, std::shared_ptr<const Buffer>(execution, &values)});
    if (!is_output(run, i) && run.entry) result->elementwise_inputs.push_back(i);
  }
  if (run.outputs.empty()) return with_machine(run, recorded, std::move(result));
  result->output = run.outputs.front().buffer;
  result->writer =
      writer_of(std::make_shared<const sim::Machine>(recorded.machine()), result->output);
  if (result->end == RunResult::End::done) {
    if (auto error = compare(run, *execution, *result)) return *error;
  }
  return with_machine(run, recorded, std::move(result));
}

}  // namespace

std::vector<KernelName> AppBackend::kernels() const {
  std::vector<KernelName> names;
  for (const CatalogEntry& entry : catalog()) names.push_back({entry.name, entry.help});
  return names;
}

Outcome<KernelCard> AppBackend::kernel(std::string_view name, const KernelOptions& options) {
  if (!name.ends_with(".ptx")) {
    if (auto error = wrong_source(options)) return *error;
    Outcome<std::optional<KernelCard>> large = large_card(name, options);
    if (!large) return large.error();
    if (*large) {
      const Outcome<std::string> ptx = carried_ptx(name);
      if (ptx) add_of_ptx(**large, *ptx);
      return std::move(**large);
    }
  }
  const Outcome<WindowRun> prepared = prepare_window_run(name, options);
  if (!prepared) return prepared.error();
  const PreparedRun* run = &prepared->run;
  if (!run->entry || options.count("ptx")) {
    if (auto error = not_understood(run->job.program, run->job.launch.entry)) return *error;
  }
  KernelCard card;
  if (run->entry) {
    card = catalog_card(*run->entry, run->fit, options);
  } else {
    card = file_card(*run);
  }
  add_of_ptx(card, run->job.program.ptx);
  add_inputs(card, *run);
  return card;
}

std::optional<Error> AppBackend::start(const KernelCard& kernel, const KernelOptions& options) {
  // Files are read, inputs made and PTX decoded by the run's own thread.
  const auto run = std::make_shared<PreparedRun>();
  BackgroundRun::Steps steps;
  steps.start = [run, kernel, options]() -> Outcome<std::unique_ptr<Execution>> {
    Outcome<WindowRun> prepared = prepare_window_run(kernel.name, options, kernel.built);
    if (!prepared) return prepared.error();
    auto started = RecordedRun::start(*prepared);
    // The job stays with us too: the reference is computed from its inputs.
    *run = std::move(prepared->run);
    if (!started) return started.error();
    return std::unique_ptr<Execution>(std::move(*started));
  };
  steps.finish = [run, kernel, options](BackgroundRun::Ended ended) {
    return result_of(*run, kernel, options, std::move(ended));
  };
  run_.reset();  // an earlier one is stopped before the next begins
  run_ = std::make_unique<BackgroundRun>(std::move(steps));
  return {};
}

Outcome<std::shared_ptr<LiveRun>> AppBackend::live(const KernelCard& kernel,
                                                   const KernelOptions& options) {
  Outcome<WindowRun> prepared = prepare_window_run(kernel.name, options, kernel.built);
  if (!prepared) return prepared.error();
  return tilescope::live_run(*prepared);
}

std::optional<Error> AppBackend::start_build(const KernelCard& kernel,
                                             const KernelOptions& options) {
  const Outcome<std::string> ours = carried_ptx(kernel.name);
  if (!ours) return ours.error();
  const Outcome<const CatalogEntry*> entry = entry_named(kernel.name);
  if (!entry) return entry.error();
  const Outcome<RunOptions> run = run_options(**entry, options);
  if (!run) return run.error();
  Outcome<Defines> defines = defines_for(kernel.name, *run);
  if (!defines) return defines.error();
  build_.reset();  // an earlier compiler is stopped before the next begins
  const auto check = [name = kernel.name, options](const std::shared_ptr<const Build>& build) {
    return wrong_build(name, options, build);
  };
  build_ = std::make_unique<BackgroundBuild>(options.at("source"), architecture_of(*ours),
                                             std::move(*defines), check);
  return {};
}

double AppBackend::build_seconds() const {
  return build_ ? build_->seconds() : 0;
}

void AppBackend::cancel_build() {
  if (build_) build_->cancel();
}

void AppBackend::wait_build() {
  if (build_) build_->wait();
}

std::optional<Outcome<std::shared_ptr<const Build>>> AppBackend::take_build() {
  if (!build_) return {};
  return build_->take();
}

Outcome<std::string> AppBackend::kernel_source(std::string_view kernel) {
  const Outcome<const CatalogEntry*> entry = entry_named(kernel);
  if (!entry) return entry.error();
  const Outcome<Asset> text = load_asset((*entry)->source);
  if (!text) return text.error();
  return without_marks(text->text());
}

Outcome<lowering::Code> AppBackend::code_below(const std::string& of,
                                               const lowering::Lowering& lowering) {
  return code_below_of(of, lowering);
}

std::uint64_t AppBackend::stamp(const std::string& path) const {
  return file_stamp(path);
}

RunProgress AppBackend::progress() const {
  return run_ ? run_->progress() : RunProgress{};
}

void AppBackend::cancel() {
  if (run_) run_->cancel();
}

std::optional<Outcome<FinishedRun>> AppBackend::take_result() {
  if (!run_) return {};
  return run_->take();
}

void AppBackend::wait() {
  if (run_) run_->wait();
}

Outcome<std::shared_ptr<const Buffer>> AppBackend::matrix(const std::string& path,
                                                          std::optional<DType> as) {
  Outcome<Buffer> values = read_npy_file(path, as);
  if (!values) return values.error();
  if (values->elements() == 0) {
    return Error{ErrorKind::mismatch, fmt::format("{} has no elements to show.", path), ""};
  }
  return std::make_shared<const Buffer>(std::move(*values));
}

Outcome<std::shared_ptr<const Buffer>> AppBackend::on_gpu(const KernelCard& kernel,
                                                          const KernelOptions& options) {
  Outcome<WindowRun> prepared = prepare_window_run(kernel.name, options, kernel.built);
  if (!prepared) return prepared.error();
  return output_of_gpu(prepared->run);
}

std::vector<std::string> AppBackend::beside(const std::string& path, std::string_view end) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path same = fs::path(path).replace_extension(end);
  if (fs::exists(same, error)) return {same.string()};
  std::vector<std::string> found;
  const fs::path folder = fs::path(path).parent_path();
  for (const auto& each : fs::directory_iterator(folder.empty() ? "." : folder, error)) {
    if (each.path().extension() == end) found.push_back((folder / each.path().filename()).string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::optional<Error> AppBackend::export_text(const LayoutView& view, const LayoutChoice& choice,
                                             const Theme& theme, const std::string& path) {
  return write_file(path, text_for(view, choice, theme, path));
}

std::string AppBackend::whole_path(const std::string& path) const {
  // PTX that the program carries lies in no folder.
  if (path.ends_with(".ptx") && carries(path)) return path;
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(path, error);
  return error ? path : whole.lexically_normal().string();
}

Outcome<std::string> AppBackend::read_text(const std::string& path) {
  return tilescope::read_text(path);
}

std::optional<Error> AppBackend::write_text(const std::string& path, std::string_view text) {
  return write_file(path, text);
}

std::optional<Error> AppBackend::export_picture(const Scene& scene, const std::string& path) {
  const auto bytes = paint_for_file(scene, path);
  if (!bytes) return bytes.error();
  return write_file(path, std::span<const std::byte>(*bytes));
}

std::optional<Error> AppBackend::export_film(const Film& film, const std::string& path) {
  return write_film(film, path);
}

std::vector<std::string> AppBackend::lesson_names() const {
  return tilescope::lesson_names();
}

Outcome<std::string> AppBackend::lesson_text(std::string_view name) const {
  return tilescope::lesson_text(name);
}

Outcome<std::string> AppBackend::lesson_file(std::string_view name) const {
  return tilescope::lesson_file(name);
}

Outcome<Trial> AppBackend::try_kernel(std::string_view kernel) {
  return tilescope::try_kernel(kernel);
}

Outcome<Trial> AppBackend::try_program(std::string_view ptx, std::string_view launch) {
  return tilescope::try_program(ptx, launch);
}

CourseIndex AppBackend::course_exercises() const {
  return tilescope::course_exercises();
}

Outcome<std::string> AppBackend::course_source(const CourseExercise& exercise) const {
  return tilescope::course_source(exercise);
}

std::optional<Error> AppBackend::start_check(const CourseExercise& exercise,
                                             const std::string& file) {
  if (const auto nvcc = find_nvcc(); !nvcc) return nvcc.error();
  check_.reset();  // an earlier judge is stopped before the next begins
  check_ = std::make_unique<BackgroundCheck>(exercise, file, CourseLimits{});
  return {};
}

CourseProgress AppBackend::check_progress() const {
  return check_ ? check_->progress() : CourseProgress{};
}

void AppBackend::cancel_check() {
  if (check_) check_->cancel();
}

void AppBackend::wait_check() {
  if (check_) check_->wait();
}

std::optional<Outcome<CourseVerdict>> AppBackend::take_check() {
  if (!check_) return {};
  return check_->take();
}

// A place that cannot be written is no reason to stop a lesson.
std::optional<Error> AppBackend::keep_progress(const std::string& text) {
  return keeps_progress_ ? write_progress(text) : std::nullopt;
}

}  // namespace tilescope
