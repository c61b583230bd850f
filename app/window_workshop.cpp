#include "app/window_workshop.h"

#include <fmt/format.h>

#include <charconv>

#include "app/files.h"
#include "app/pictures.h"
#include "kernels/catalog/catalog.h"

namespace tilescope {
namespace {

template <class Number>
std::optional<Error> read_number(const std::string& option, const std::string& text, Number& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error == std::errc() && end == text.data() + text.size()) return {};
  return Error{ErrorKind::usage,
               fmt::format("--{} takes a number, and `{}` is none.", option, text), ""};
}

std::string lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

// The option's place in the entry: a size, an input tensor, or what every kernel takes.
std::optional<Error> put(const CatalogEntry& entry, const std::string& option,
                         const std::string& value, RunOptions& out) {
  for (const SizeParameter& size : entry.sizes) {
    if (size.name == option) return read_number(option, value, out.sizes[size.name]);
  }
  for (const TensorSpec& tensor : entry.tensors) {
    if (tensor.role == TensorRole::input && lower(tensor.name) == option) {
      out.files[tensor.name] = value;
      return {};
    }
  }
  if (option == "seed") return read_number(option, value, out.seed);
  if (option == "dtype") {
    out.dtype = value;
    return {};
  }
  std::string known;
  for (const SizeParameter& size : entry.sizes) known += fmt::format("--{}, ", size.name);
  for (const TensorSpec& tensor : entry.tensors) {
    if (tensor.role == TensorRole::input) known += fmt::format("--{}, ", lower(tensor.name));
  }
  return Error{ErrorKind::usage,
               fmt::format("{} has no option --{}; it takes {}--seed and --dtype.", entry.name,
                           option, known),
               ""};
}

// A kernel of the catalog with its options, or a PTX file with `--launch F.toml`.
Outcome<PreparedRun> prepare(std::string_view name, const KernelOptions& options) {
  if (name.ends_with(".ptx")) {
    const auto launch = options.find("launch");
    if (launch == options.end() || options.size() != 1) {
      return Error{ErrorKind::usage,
                   fmt::format("{} needs a launch file and nothing else: open {} --launch F.toml.",
                               name, name),
                   ""};
    }
    return prepare_launch(std::string(name), launch->second);
  }
  const Outcome<const CatalogEntry*> entry = find_kernel(name);
  if (!entry) {
    Error error = entry.error();
    error.sentence += " A layout is opened with `open layout EXPR`.";
    return error;
  }
  RunOptions run;
  for (const auto& [option, value] : options) {
    if (auto error = put(**entry, option, value, run)) return *error;
  }
  return prepare_run(name, run);
}

std::string shape_text(const Buffer& buffer) {
  std::string shape;
  for (std::int64_t extent : buffer.shape) {
    shape += fmt::format("{}{}", shape.empty() ? "" : ",", extent);
  }
  return fmt::format("{} ({})", name_of(buffer.dtype), shape);
}

bool is_output(const PreparedRun& run, std::size_t buffer) {
  for (const Output& output : run.outputs) {
    if (output.buffer == buffer) return true;
  }
  return false;
}

std::string where_from(const PreparedRun& run, std::size_t buffer, const KernelOptions& options) {
  if (is_output(run, buffer)) return "written by the kernel";
  if (!run.entry) return "from the launch file";
  const auto file = options.find(lower(run.job.buffers[buffer].name));
  if (file != options.end()) return file->second;
  const auto seed = options.find("seed");
  return fmt::format("random, seed {}", seed == options.end() ? "0" : seed->second);
}

KernelCard card_of(const PreparedRun& run, const KernelOptions& options) {
  KernelCard card;
  card.name = run.kernel;
  const Launch& launch = run.job.launch;
  card.launch = fmt::format("{} block{} of {} threads", launch.grid.count(),
                            launch.grid.count() == 1 ? "" : "s", launch.block.count());
  if (run.entry) {
    card.help = run.entry->help;
    card.source = run.entry->source;
    for (const SizeParameter& size : run.entry->sizes) {
      card.sizes.push_back({size.name, run.sizes.*size.member});
    }
    for (const NamedLayout& own : run.entry->layouts(run.sizes)) {
      card.layouts.push_back({own.name, own.expression, own.help});
    }
  } else {
    card.help = "PTX with a launch file";
    card.source = run.kernel;
  }
  for (std::size_t i = 0; i < run.job.buffers.size(); ++i) {
    const Buffer& buffer = run.job.buffers[i];
    const bool known = !is_output(run, i) && !buffer.undefined;
    card.tensors.push_back({buffer.name, shape_text(buffer), where_from(run, i, options),
                            known ? std::make_shared<const Buffer>(buffer) : nullptr});
  }
  return card;
}

// Who wrote an element, asked of the execution that the result keeps.
std::function<std::optional<Site>(std::int64_t)> writer_of(
    const std::shared_ptr<const Execution>& execution, std::size_t buffer) {
  return [execution, buffer](std::int64_t element) {
    const std::size_t width = bytes_of(execution->buffers()[buffer].dtype);
    return execution->writer(buffer, static_cast<std::size_t>(element) * width);
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

BackgroundRun::Result result_of(const PreparedRun& run, const KernelCard& card,
                                BackgroundRun::Ended ended) {
  auto result = std::make_shared<RunResult>();
  const std::shared_ptr<const Execution> execution = std::move(ended.execution);
  result->end = ended.end;
  result->kernel = card;
  result->progress = ended.progress;
  result->reports = execution->reports();
  for (std::size_t i = 0; i < execution->buffers().size(); ++i) {
    // Shares the execution's own memory: a large matrix is not copied.
    const Buffer& values = execution->buffers()[i];
    result->matrices.push_back({values.name, std::shared_ptr<const Buffer>(execution, &values)});
    if (!is_output(run, i) && run.entry) result->elementwise_inputs.push_back(i);
  }
  if (run.outputs.empty()) return std::shared_ptr<const RunResult>(std::move(result));
  result->output = run.outputs.front().buffer;
  result->writer = writer_of(execution, result->output);
  if (result->end == RunResult::End::done) {
    if (auto error = compare(run, *execution, *result)) return *error;
  }
  return std::shared_ptr<const RunResult>(std::move(result));
}

}  // namespace

std::vector<KernelName> AppWorkshop::kernels() const {
  std::vector<KernelName> names;
  for (const CatalogEntry& entry : catalog()) names.push_back({entry.name, entry.help});
  return names;
}

Outcome<KernelCard> AppWorkshop::kernel(std::string_view name, const KernelOptions& options) {
  const Outcome<PreparedRun> run = prepare(name, options);
  if (!run) return run.error();
  return card_of(*run, options);
}

std::optional<Error> AppWorkshop::start(const KernelCard& kernel, const KernelOptions& options) {
  Outcome<PreparedRun> prepared = prepare(kernel.name, options);
  if (!prepared) return prepared.error();
  const auto run = std::make_shared<PreparedRun>(std::move(*prepared));
  BackgroundRun::Steps steps;
  // The job stays with us too: the reference is computed from its inputs.
  steps.start = [run] { return make_simulator()->start(run->job); };
  steps.finish = [run, kernel](BackgroundRun::Ended ended) {
    return result_of(*run, kernel, std::move(ended));
  };
  run_.reset();  // an earlier one is stopped before the next begins
  run_ = std::make_unique<BackgroundRun>(std::move(steps));
  return {};
}

RunProgress AppWorkshop::progress() const {
  return run_ ? run_->progress() : RunProgress{};
}

void AppWorkshop::cancel() {
  if (run_) run_->cancel();
}

std::optional<Outcome<std::shared_ptr<const RunResult>>> AppWorkshop::take_result() {
  if (!run_) return {};
  return run_->take();
}

void AppWorkshop::wait() {
  if (run_) run_->wait();
}

std::optional<Error> AppWorkshop::export_picture(const Scene& scene, const std::string& path) {
  const auto bytes = paint_for_file(scene, path);
  if (!bytes) return bytes.error();
  return write_file(path, std::span<const std::byte>(*bytes));
}

}  // namespace tilescope
