// Kernels of the catalog, by name.
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <filesystem>
#include <functional>
#include <span>

#include "app/files.h"
#include "app/kernel_options.h"
#include "app/output_differences.h"
#include "app/profiles.h"
#include "app/python/arrays.h"
#include "app/python/launch_paths.h"
#include "app/python/replay.h"
#include "app/python/settings.h"
#include "app/python/values.h"
#include "core/io/npy.h"
#include "core/sim/machine/device.h"
#include "kernels/catalog/catalog.h"

namespace tilescope::python {
namespace {

// "a-dtype" of a_dtype.
std::string option_named(nb::handle name) {
  std::string out(text_in(name));
  for (char& c : out) c = c == '_' ? '-' : c;
  return out;
}

Buffer buffer_of(const HostArray& array, const std::string& name) {
  const std::optional<DType> type = array.dtype();
  if (!type) {
    refuse(fmt::format(
        "{} is {}: an array with a dtype of NumPy's or torch's that a kernel has is needed.", name,
        array.text()));
  }
  Buffer out;
  out.name = name;
  out.dtype = *type;
  out.shape = array.shape();
  out.bytes = array.packed();
  return out;
}

// The tensor that an option gives: "a" is A, an input; null: none is.
const TensorSpec* input_named(const CatalogEntry& entry, const std::string& option) {
  for (const TensorSpec& tensor : entry.tensors) {
    if (tensor.role != TensorRole::output && option_of(tensor) == option) return &tensor;
  }
  return nullptr;
}

// `named`: what is said in words, for who says it again.
RunOptions options_in(const CatalogEntry& entry, nb::dict words, KernelOptions& named) {
  std::map<std::string, Buffer, std::less<>> inputs;
  for (const auto& [key, value] : words) {
    if (value.is_none()) continue;
    const std::string option = option_named(key);
    const TensorSpec* const tensor = input_named(entry, option);
    std::optional<HostArray> array;
    if (tensor) array = HostArray::of(value);
    if (array) {
      inputs.emplace(tensor->name, buffer_of(*array, option));
    } else {
      named[option] = str_of(value);
    }
  }
  RunOptions out = taken_of_words(run_options(entry, named));
  out.inputs = std::move(inputs);
  return out;
}

// Its bytes move into a NumPy array.
nb::object array_of(Buffer buffer) {
  auto* const bytes = new std::vector<std::byte>(std::move(buffer.bytes));
  const nb::capsule owner(
      bytes, [](void* held) noexcept { delete static_cast<std::vector<std::byte>*>(held); });
  std::vector<std::size_t> shape(buffer.shape.begin(), buffer.shape.end());
  return nb::cast(nb::ndarray<nb::numpy>(bytes->data(), shape.size(), shape.data(), owner, nullptr,
                                         element_of(buffer.dtype)));
}

// An output of the run, and what its file says that it should be; nothing: the reference does.
struct Expected {
  const Output* output = nullptr;
  std::optional<Buffer> want;
};

// What cannot be compared is said before the run, not after it.
std::vector<Expected> expected_of(const PreparedRun& run) {
  std::vector<Expected> out;
  for (const Output& output : run.outputs) {
    std::optional<Buffer> want = taken(wanted_from_file(run, output));
    if (!want && !run.entry) continue;  // it is only written
    if (want) (void)taken(Differ::start(run.job.buffers[output.buffer], *want, {}));
    out.push_back({&output, std::move(want)});
  }
  return out;
}

// Without the GIL; Ctrl-C ends it.
std::vector<Difference> compared(const PreparedRun& run, std::vector<Expected> expected,
                                 const Execution& execution) {
  bool interrupted = false;
  const auto keep_on = [&] {
    const nb::gil_scoped_acquire held;
    interrupted = interrupted || PyErr_CheckSignals() != 0;
    return !interrupted;
  };
  const auto compare_all = [&]() -> Outcome<std::vector<Difference>> {
    std::vector<Difference> out;
    for (Expected& each : expected) {
      if (!each.want) {
        Outcome<Buffer> want = expected_output(run, {keep_on});
        if (!want) return want.error();
        each.want = std::move(*want);
      }
      Outcome<OutputDifference> found = compare_output(execution, *each.output, *each.want, true);
      if (!found) return found.error();
      out.push_back({std::move(found->diff), std::move(found->patterns)});
    }
    Outcome<std::vector<DiffReport>> variables = compare_variables(run, execution);
    if (!variables) return variables.error();
    for (DiffReport& each : *variables) out.push_back({std::move(each), {}});
    return out;
  };
  Outcome<std::vector<Difference>> out = Error{};
  {
    const nb::gil_scoped_release released;
    out = compare_all();
  }
  if (interrupted) throw nb::python_error();
  return taken(std::move(out));
}

// How diff() compares the buffers: those that are looked at first.
void describe_outputs(const PreparedRun& prepared, Run& run) {
  const auto how = [&](std::size_t buffer) {
    const Buffer& b = prepared.job.buffers[buffer];
    return DiffHow{.name = b.name, .dtype = b.dtype, .tile = b.tile};
  };
  for (const Output& output : prepared.outputs) {
    run.results.push_back(how(output.buffer));
    run.results.back().tolerance = output.tolerance;
  }
  run.results_known = run.results.size();
  for (std::size_t i = 0; i < prepared.job.buffers.size(); ++i) run.results.push_back(how(i));
}

// What another order left otherwise than the first one; empty: nothing.
std::string difference(const std::vector<Buffer>& first, const std::vector<Buffer>& other) {
  for (std::size_t i = 0; i < first.size(); ++i) {
    const DiffReport report = taken(diff(other[i], first[i], {}));
    if (report.ok()) continue;
    const Mismatch& m = report.first.front();
    return fmt::format(
        "of {}, {} of {} elements differ, the first at {}: {} here, and {} in the "
        "first order",
        first[i].name, report.wrong, report.compared, index_text(m.index, first[i].shape),
        m.got_text, m.want_text);
  }
  return "";
}

std::optional<OrderVerdict> other_orders(const PreparedRun& prepared, const Settings& settings,
                                         const Order& order, const std::vector<Buffer>& first,
                                         Run& run) {
  std::vector<Buffer> left;
  const auto again = [&](const Order& other_order) {
    sim::Machine machine = taken(sim::Machine::load(prepared.job, simulator_options(other_order)));
    Run other;
    other.kernel = run.kernel;
    other.device = run.device;
    const RunState state = simulate(machine, settings, run.kernel);
    tell(other, machine, settings);
    left = machine.buffers();
    return std::pair(state, std::move(other));
  };
  return try_orders(settings, order, run, {again, [&] { return difference(first, left); }});
}

using WindowCommand = std::function<std::string(const std::string& folder)>;

std::shared_ptr<const Replay> replay_of(const PreparedRun& prepared, Order order,
                                        WindowCommand window) {
  order.recorder = nullptr;
  order.executor = nullptr;
  auto out = std::make_shared<Replay>();
  out->machine = [job = std::make_shared<const Job>(prepared.job), order] {
    return taken(sim::Machine::load(*job, simulator_options(order)));
  };
  out->window = std::move(window);
  return out;
}

// `window`: what the window opens the run by (app/python/replay.h).
nb::object run_prepared(const PreparedRun& prepared, Order order, Settings settings, bool check,
                        WindowCommand window) {
  settings.rules.insert(settings.rules.end(), prepared.known.begin(), prepared.known.end());
  order.exact = settings.exact.value_or(exact_by_default(prepared));
  const auto workers = workers_for(settings, prepared.job.program.ptx);
  order.executor = workers.get();
  std::optional<sim::Recorder> recorder;
  std::shared_ptr<const Replay> replay;
  if (settings.record) {
    replay = replay_of(prepared, order, std::move(window));
    order.recorder = &recorder.emplace(sim::RecordLimits{});
  }
  std::vector<Expected> expected;
  if (check) expected = expected_of(prepared);
  sim::Machine machine = taken(sim::Machine::load(prepared.job, simulator_options(order)));
  Run run;
  run.kernel = prepared.entry ? prepared.kernel : std::string(machine.program().entry.name);
  run.device = order.device.name;
  run.replay = std::move(replay);
  const RunState state = simulate(machine, settings, run.kernel);
  tell(run, machine, settings);
  if (recorder) run.record = take_record(*recorder, prepared, order.device);
  const sim::SimExecution execution(std::move(machine));
  const std::vector<Buffer>& left = execution.buffers();
  std::optional<OrderVerdict> verdict;
  if (state == RunState::done) {
    if (check) run.differences = compared(prepared, std::move(expected), execution);
    run.compared = !run.differences.empty();
    verdict = other_orders(prepared, settings, order, left, run);
  }
  nb::dict outputs;
  for (const Buffer& each : left) outputs[nb::str(each.name.c_str())] = array_of(each);
  run.outputs = std::move(outputs);
  describe_outputs(prepared, run);
  return judged(std::move(run), state, settings, std::move(verdict));
}

// With its options as they were said, and arrays as files.
WindowCommand window_command(const CatalogEntry& entry, const KernelOptions& named,
                             std::map<std::string, Buffer, std::less<>> inputs,
                             const Settings& settings) {
  std::string line = fmt::format("open {}", entry.name);
  for (const auto& [option, value] : named) line += fmt::format(" --{} \"{}\"", option, value);
  line += window_words(settings);
  std::vector<std::pair<std::string, std::vector<std::byte>>> files;
  for (const auto& [name, buffer] : inputs) {
    for (const TensorSpec& tensor : entry.tensors) {
      if (tensor.name == name) files.emplace_back(option_of(tensor), write_npy(buffer));
    }
  }
  return [line, files](const std::string& folder) {
    std::string out = line;
    for (const auto& [option, bytes] : files) {
      const std::string file = fmt::format("{}/{}.npy", folder, option);
      if (const auto error = write_file(file, std::span(bytes))) refuse(*error);
      out += fmt::format(" --{} \"{}\"", option, file);
    }
    return out;
  };
}

nb::object run_kernel(const std::string& name, nb::dict words) {
  const CatalogEntry& entry = *taken(find_kernel(name));
  Settings settings = take_settings(words);
  const bool check = take_flag(words, "check", true);
  KernelOptions named;
  RunOptions options = options_in(entry, words, named);
  if (settings.device) options.processors = order_of(settings, "").device.processors;
  PreparedRun prepared = taken_of_words(prepare_run(name, options));
  const Order order = order_of(settings, prepared.job.program.ptx);
  if (order.device.processors != options.processors) {  // it is launched otherwise
    options.processors = order.device.processors;
    prepared = taken_of_words(prepare_run(name, options));
  }
  return run_prepared(prepared, order, settings, check,
                      window_command(entry, named, options.inputs, settings));
}

// A PTX file and its launch file; as `tilescope run F.ptx --launch F.toml`, but that outputs are
// arrays, and no file is written.
nb::object run_files(const std::string& path, nb::dict words) {
  Settings settings = take_settings(words);
  const bool check = take_flag(words, "check", true);
  const LaunchPaths paths = launch_paths(path, words);
  const PreparedRun prepared = taken(prepare_launch(paths.ptx, paths.launch));
  if (!settings.device && !prepared.device.empty()) settings.device = prepared.device;
  const auto window = [paths, words = window_words(settings)](const std::string&) {
    return fmt::format("open \"{}\" --launch \"{}\"{}",
                       std::filesystem::absolute(paths.ptx).string(),
                       std::filesystem::absolute(paths.launch).string(), words);
  };
  return run_prepared(prepared, order_of(settings, prepared.job.program.ptx), settings, check,
                      window);
}

nb::object run_any(nb::handle kernel, nb::dict words) {
  if (!PyUnicode_Check(kernel.ptr())) return run_files(path_of(kernel), std::move(words));
  const std::string name(text_in(kernel));
  return is_launch_path(name) ? run_files(name, std::move(words))
                              : run_kernel(name, std::move(words));
}

nb::object run_watched(nb::handle kernel, nb::kwargs words) {
  if (!is_watched()) return run_any(kernel, nb::dict(words));
  const nb::object function = nb::module_::import_("tilescope._tilescope").attr("_run");
  return watched(function, nb::make_tuple(kernel), nb::dict(words));
}

}  // namespace

void define_kernels(nb::module_& module) {
  module.def(
      "kernels",
      [] {
        nb::dict out;
        for (const CatalogEntry& entry : catalog())
          out[nb::str(entry.name.c_str())] = nb::str(entry.help.c_str());
        return out;
      },
      nb::sig("def kernels() -> dict[str, str]"),
      R"doc(The kernels of the catalog, each with a line about it.

>>> import tilescope as ts
>>> "hgemm_v3" in ts.kernels()
True)doc");
  static const std::string signature = fmt::format(
      "def run(kernel: str | os.PathLike, *, check: bool = True, {}, **options: Any) -> Run",
      settings_signature);
  static const std::string help = fmt::format(
      "Runs a kernel of the catalog, as `tilescope run` does, and compares it with its "
      "reference.\n\n"
      ">>> import tilescope as ts\n"
      ">>> run = ts.run(\"elementwise_add\", m=32, n=128)\n"
      ">>> run.wrong, run.reports\n"
      "(0, [])\n"
      ">>> run.outputs[\"C\"].shape\n"
      "(32, 128)\n\n"
      "Or a launch that files describe: a folder that `tilescope exec --capture` or `capture` has "
      "written; a launch\n"
      "file, with ptx= where its PTX is not kernel.ptx, of its own name or the only one beside it; "
      "or "
      "a .ptx file,\n"
      "with launch=. It is compared with what the file expects; outputs are arrays, no file is "
      "written.\n\n"
      "options: its sizes m, n, k, l; inputs a, b, c (arrays, or names of .npy files; else random, "
      "by seed); its own,\n"
      "such as a_dtype=\"bf16\"; grid, ptx, source, dtype, seed.\n"
      "check: compare with the reference, or with what the launch file expects.\n"
      "{}\n\n"
      "Fault: the kernel faulted. Error: there is no such kernel or option, or sizes that it "
      "cannot do.",
      settings_help);
  module.def(
      "_run", [](nb::handle kernel, nb::kwargs words) { return run_any(kernel, nb::dict(words)); },
      nb::arg("kernel"), nb::arg("options"));
  module.def("run", &run_watched, nb::arg("kernel"), nb::arg("options"), nb::sig(signature.c_str()),
             help.c_str());
}

}  // namespace tilescope::python
