// Launches of PTX: a Module, what it is given, and what came of it.
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <mutex>

#include "app/captures.h"
#include "app/files.h"
#include "app/python/arguments.h"
#include "app/python/arrays.h"
#include "app/python/cuda_source.h"
#include "app/python/replay.h"
#include "app/python/settings.h"
#include "app/python/values.h"
#include "core/run/fit_launch.h"
#include "core/sim/machine/module.h"
#include "core/sim/memory/device_memory.h"
#include "core/sim/time/costs.h"

namespace tilescope::python {
namespace {

// As under `exec`: of many launches each should cost little beside what it does.
sim::Options options_for(const Order& order) {
  sim::Options options = simulator_options(order);
  options.both_ways_bytes = std::uint64_t{1} << 20;
  return options;
}

// PTX that is parsed once. Its variables stay from launch to launch, as on a chip.
struct LoadedModule {
  std::string name;
  std::string entry;         // that a launch takes where it names none; empty: the only one
  sim::DeviceMemory memory;  // its variables, and nothing else between launches
  std::shared_ptr<sim::Module> module;
  // One launch at a time; never waited for with the GIL. A run that is gone through once more has
  // it, too.
  std::shared_ptr<std::mutex> mutex = std::make_shared<std::mutex>();

  std::string_view ptx() const { return *module->text().text; }
};

std::shared_ptr<LoadedModule> load(std::string name, std::string ptx) {
  auto out = std::make_shared<LoadedModule>();
  out->name = std::move(name);
  out->module = taken(sim::Module::load({out->name, std::move(ptx)}, out->memory));
  return out;
}

bool is_ptx(std::string_view text) {
  return text.find(".version") != text.npos || text.find(".entry") != text.npos;
}

std::shared_ptr<LoadedModule> load_cuda(const CudaSource& source) {
  MadePtx made = ptx_of_cuda(source);
  return load(std::move(made.name), std::move(made.ptx));
}

// PTX or CUDA C++ as text, or the path of a file that has it; `source`: how CUDA is compiled.
std::shared_ptr<LoadedModule> module_of(nb::handle kernel, CudaSource source = {}) {
  std::string text;
  if (PyUnicode_Check(kernel.ptr())) {
    text = text_in(kernel);
    if (is_cuda(text)) {
      source.text = std::move(text);
      return load_cuda(source);
    }
    if (is_ptx(text)) return load("PTX", std::move(text));
    if (!text.ends_with(".ptx") && !text.ends_with(".cu")) {
      refuse(fmt::format(
          "{} is neither PTX nor the path of a .ptx file, nor CUDA C++ (a text with a __global__ "
          "function, or the path of a .cu file). A kernel of the catalog is run by ts.run(name, "
          "m=..., n=...); ts.kernels() lists them.",
          about(kernel)));
    }
  } else if (nb::hasattr(kernel, "__fspath__")) {
    text = path_of(kernel);
  } else {
    refuse(fmt::format(
        "{} is no kernel: PTX or CUDA C++ as text, the path of a .ptx or .cu file, or a Module.",
        about(kernel)));
  }
  if (!text.ends_with(".cu")) return load(text, taken(read_text(text)));
  source.path = text;
  source.text = taken(read_text(text));
  return load_cuda(source);
}

std::vector<std::string> words_in(nb::handle object, const char* what) {
  std::vector<std::string> out;
  if (!PyList_Check(object.ptr()) && !PyTuple_Check(object.ptr())) {
    refuse(fmt::format("{}={}: a list of the compiler's own words is needed, [\"-DN=4\"].", what,
                       about(object)));
  }
  for (const nb::handle each : nb::iter(object)) {
    if (!PyUnicode_Check(each.ptr())) {
      refuse(fmt::format("{}: {} is no text.", what, about(each)));
    }
    out.emplace_back(text_in(each));
  }
  return out;
}

std::shared_ptr<LoadedModule> compile_module(nb::handle kernel, const std::string& arch,
                                             std::optional<std::string> entry, nb::handle options,
                                             std::optional<std::string> compiler) {
  CudaSource source;
  source.arch = arch;
  source.options = words_in(options, "options");
  source.compiler = compiler.value_or("");
  const bool is_path = nb::hasattr(kernel, "__fspath__");
  if (!is_path && !PyUnicode_Check(kernel.ptr())) {
    refuse(fmt::format("{} is no CUDA source: the text of one or the path of a .cu file is needed.",
                       about(kernel)));
  }
  const std::string text = is_path ? path_of(kernel) : std::string(text_in(kernel));
  if (!text.ends_with(".cu") && (is_path || !is_cuda(text))) {
    refuse(
        fmt::format("{} is no CUDA source: a text with a __global__ function or the path of a "
                    ".cu file is needed; ts.Module takes PTX.",
                    about(kernel)));
  }
  std::shared_ptr<LoadedModule> out = module_of(kernel, std::move(source));
  if (entry) out->entry = std::string(taken(out->module->entry(*entry))->name);
  return out;
}

Dim3 dim_of(nb::handle object, const char* what) {
  const Tuple sides = tuple_of(object);
  std::uint32_t side[3] = {1, 1, 1};
  bool fits = sides.leaves >= 1 && sides.leaves <= 3 && sides.depth() <= 1;
  for (int i = 0; fits && i < sides.leaves; ++i) {
    const Int& n = sides.leaf[i];
    fits = n.known() && n.axis.none() && n.value >= 1 && n.value <= 0x7fffffff;
    if (fits) side[i] = static_cast<std::uint32_t>(n.value);
  }
  if (!fits) {
    refuse(fmt::format("{}={}: a number of 1 or more, or up to three of them, (x, y, z).", what,
                       about(object)));
  }
  return {side[0], side[1], side[2]};
}

// What a kernel has made of memory or registers that nobody had written, and the host now has: as
// `exec` tells it.
void note_undefined(const HostMemory& host, const sim::Machine& machine,
                    const sim::DeviceMemory& memory, std::vector<Report>& reports) {
  for (const HostMemory::Stretch& stretch : host.stretches()) {
    const sim::Region* const region = memory.find(stretch.address);
    if (!region || !region->undefined_bits()) continue;
    std::uint64_t at = 0;
    while (at < region->size() && !region->is_undefined(at)) ++at;
    if (at == region->size()) continue;
    Report r;
    r.weight = Weight::hazard;
    r.kind = "undefined_copied";
    if (region->writer(at)) r.site = machine.site_of(region->writer(at));
    r.sentence = fmt::format(
        "byte {} of {} is copied to the host, and the kernel made it of memory, registers or lanes "
        "that "
        "nobody had written",
        at, stretch.name);
    r.expected = "a defined value";
    r.found = "one that could be any";
    reports.push_back(std::move(r));
  }
}

struct LaunchRequest {
  Launch launch;
  Settings settings;
  Order order;
  nb::object memory;  // arrays that are reached by pointers in others; or None
};

// Arrays that no parameter points to, but what a kernel loads from memory does: a list, or by name
// a dict, whose arrays are outputs, too.
void add_reached(HostMemory& host, nb::handle memory, nb::dict outputs) {
  if (memory.is_none()) return;
  const auto add = [&](nb::handle object, const std::string& name) {
    std::optional<HostArray> array = HostArray::of(object);
    if (!array) refuse(fmt::format("{}={}: an array is needed.", name, about(object)));
    host.add(std::move(*array), name, true);
  };
  if (PyDict_Check(memory.ptr())) {
    for (const auto& [name, object] : nb::borrow<nb::dict>(memory)) {
      if (!PyUnicode_Check(name.ptr()))
        refuse(fmt::format("memory={{{}: ...}}: an array's name is a text.", about(name)));
      add(object, std::string(text_in(name)));
      outputs[name] = object;
    }
    return;
  }
  if (!PyTuple_Check(memory.ptr()) && !PyList_Check(memory.ptr())) {
    refuse(fmt::format(
        "memory={}: a list or tuple of arrays, or a dict of names and arrays, is needed.",
        about(memory)));
  }
  std::size_t i = 0;
  for (const nb::handle each : nb::iter(memory)) add(each, fmt::format("memory[{}]", i++));
}

// Does the order in which threads add floating point numbers up at one place change the sum?
bool adds_floats(const ptx::Program& program) {
  return std::any_of(program.code.begin(), program.code.end(), [](const ptx::Instruction& i) {
    const bool atomic = i.op == ptx::Op::atom || i.op == ptx::Op::red || i.op == ptx::Op::cp;
    return atomic && i.modifiers.operation() == ptx::Operation::add &&
           ptx::class_of(i.modifiers.type()) == ptx::Class::floating;
  });
}

// The arrays and the module's variables are still as they were before the launch.
std::optional<OrderVerdict> other_orders(LoadedModule& loaded, const LaunchRequest& request,
                                         const Parameters& parameters, HostMemory& host,
                                         const sim::DeviceMemory& first, Run& run) {
  sim::DeviceMemory memory;
  bool rounds = false;
  const auto again = [&](const Order& order) {
    memory = loaded.memory;
    if (const auto error = host.copy_in(memory)) refuse(*error);
    sim::Machine machine = taken(sim::Machine::load(*loaded.module, memory, request.launch,
                                                    parameters.bytes(), options_for(order)));
    rounds = adds_floats(machine.program());
    Run other;
    other.kernel = run.kernel;
    other.device = run.device;
    const RunState state = simulate(machine, request.settings, run.kernel);
    machine.give_back(memory);
    tell(other, machine, request.settings);
    return std::pair(state, std::move(other));
  };
  return try_orders(request.settings, request.order, run,
                    {again, [&] { return host.difference(first, memory, rounds); }});
}

// `memory`: before the launch.
std::shared_ptr<const Replay> replay_of(const LoadedModule& loaded, const LaunchRequest& request,
                                        const std::vector<std::byte>& parameters,
                                        const sim::DeviceMemory& memory) {
  struct Kept {
    std::shared_ptr<std::mutex> mutex;
    std::shared_ptr<sim::Module> module;
    sim::DeviceMemory memory;
    Launch launch;
    std::vector<std::byte> parameters;
    Order order;
    std::string words;  // for the window
  };
  const auto kept =
      std::make_shared<Kept>(Kept{loaded.mutex, loaded.module, memory, request.launch, parameters,
                                  request.order, window_words(request.settings)});
  kept->order.recorder = nullptr;
  kept->order.executor = nullptr;
  auto out = std::make_shared<Replay>();
  out->machine = [kept] {
    std::unique_lock<std::mutex> alone(*kept->mutex, std::defer_lock);
    {
      const nb::gil_scoped_release released;
      alone.lock();
    }
    sim::DeviceMemory again = kept->memory;
    return taken(sim::Machine::load(*kept->module, again, kept->launch, kept->parameters,
                                    options_for(kept->order)));
  };
  out->window = [kept](const std::string& folder) {
    if (const auto error = write_capture(folder, {.module = *kept->module,
                                                  .memory = kept->memory,
                                                  .launch = kept->launch,
                                                  .parameters = kept->parameters,
                                                  .device = {}})) {
      refuse(*error);
    }
    return fmt::format("open \"{}/kernel.ptx\" --launch \"{}/launch.toml\"{}", folder, folder,
                       kept->words);
  };
  return out;
}

nb::object launch_on(LoadedModule& loaded, LaunchRequest request, nb::handle given) {
  const ptx::Function* const entry = taken(loaded.module->entry(request.launch.entry));
  request.launch.entry = std::string(entry->name);
  HostMemory host;
  Parameters parameters(*entry, host);
  parameters.take(given);
  const auto workers = workers_for(request.settings, loaded.ptx());
  std::optional<sim::Recorder> recorder;
  if (request.settings.record) {
    request.order.recorder = &recorder.emplace(sim::RecordLimits{});
  }
  request.order.executor = workers.get();
  Run run;
  run.kernel = request.launch.entry;
  run.device = request.order.device.name;
  nb::dict outputs = parameters.arrays();
  add_reached(host, request.memory, outputs);
  run.outputs = outputs;
  std::optional<OrderVerdict> verdict;
  RunState state = RunState::running;
  {
    std::unique_lock<std::mutex> alone(*loaded.mutex, std::defer_lock);
    {
      const nb::gil_scoped_release released;
      alone.lock();
    }
    // Taken up again where the launch ends as it should; else the variables are as they were.
    sim::DeviceMemory memory = loaded.memory;
    if (const auto error = host.copy_in(memory)) refuse(*error);
    if (request.settings.record)
      run.replay = replay_of(loaded, request, parameters.bytes(), memory);
    sim::Machine machine = taken(sim::Machine::load(
        *loaded.module, memory, request.launch, parameters.bytes(), options_for(request.order)));
    state = simulate(machine, request.settings, run.kernel);
    std::vector<Report> undefined;
    machine.give_back(memory);
    if (state == RunState::done) note_undefined(host, machine, memory, undefined);
    tell(run, machine, request.settings);
    for (Report& r : sift(undefined, request.settings.rules).kept)
      run.reports.push_back(std::move(r));
    if (state == RunState::done)
      verdict = other_orders(loaded, request, parameters, host, memory, run);
    if (const auto error = host.copy_out(memory)) refuse(*error);
    std::vector<sim::Region> regions = memory.take();
    std::erase_if(regions,
                  [](const sim::Region& r) { return r.kind() != sim::Region::Kind::variable; });
    loaded.memory.put_back(std::move(regions));
  }
  if (recorder) {
    run.record = recorder->take();
    run.record->kernel = run.kernel;
    run.record->device = request.order.device;
  }
  return judged(std::move(run), state, request.settings, std::move(verdict));
}

nb::object launch(LoadedModule& loaded, nb::handle grid, nb::handle block, nb::handle args,
                  nb::dict words) {
  LaunchRequest request;
  const auto take = [&](const char* name) {
    nb::object value = words.contains(name) ? nb::object(words[name]) : nb::object(nb::none());
    if (words.contains(name)) nb::del(words[name]);
    return value;
  };
  request.launch.grid = dim_of(grid, "grid");
  request.launch.block = dim_of(block, "block");
  if (const nb::object cluster = take("cluster"); !cluster.is_none())
    request.launch.cluster = dim_of(cluster, "cluster");
  if (const nb::object bytes = take("dynamic_smem"); !bytes.is_none()) {
    const std::int64_t n = number_of(bytes);
    if (n < 0 || n > INT32_MAX) refuse(fmt::format("dynamic_smem={}: bytes, 0 or more.", n));
    request.launch.dynamic_shared = static_cast<std::uint32_t>(n);
  }
  if (const nb::object meets = take("cooperative"); !meets.is_none()) {
    if (!PyBool_Check(meets.ptr()))
      refuse(fmt::format("cooperative={}: True or False is needed.", about(meets)));
    request.launch.cooperative = nb::cast<bool>(meets);
  }
  request.launch.entry = loaded.entry;
  if (const nb::object entry = take("entry"); !entry.is_none()) {
    if (!PyUnicode_Check(entry.ptr()))
      refuse(fmt::format("entry={}: a kernel's name is needed.", about(entry)));
    request.launch.entry = text_in(entry);
  }
  request.memory = take("memory");
  request.settings = take_settings(words);
  if (words.size() != 0) {
    const std::string name = str_of(words.keys()[0]);
    refuse(fmt::format(
        "launch() has no {}=; it takes cluster, dynamic_smem, cooperative, entry, memory, strict, "
        "device, schedule, "
        "lazy, numerics, threads, max_instructions, suppressions, record and search.",
        name));
  }
  request.order = order_of(request.settings, loaded.ptx());
  return launch_on(loaded, std::move(request), args);
}

// Who is asked in place of a launch: the pytest plugin, while a test runs.
nb::object& watcher() {
  static auto* const held = new nb::object(nb::none());
  return *held;
}

nb::object launch_any(nb::handle kernel, nb::handle grid, nb::handle block, nb::handle args,
                      nb::dict words) {
  LoadedModule* known = nullptr;
  if (nb::try_cast(kernel, known) && known)
    return launch(*known, grid, block, args, std::move(words));
  CudaSource source;
  if (const nb::object device = words.get("device", nb::none()); PyUnicode_Check(device.ptr()))
    source.arch = arch_of_device(std::string(text_in(device)));
  return launch(*module_of(kernel, std::move(source)), grid, block, args, std::move(words));
}

nb::object launch_watched(nb::handle kernel, nb::handle grid, nb::handle block, nb::handle args,
                          nb::dict words) {
  if (!is_watched()) return launch_any(kernel, grid, block, args, std::move(words));
  const nb::object function = nb::module_::import_("tilescope._tilescope").attr("_launch");
  return watched(function, nb::make_tuple(kernel, grid, block, args), std::move(words));
}

std::string launch_signature(const char* begin) {
  return fmt::format(
      "{}grid: int | tuple, block: int | tuple, args: Sequence[Any] = (), *, cluster: int | tuple "
      "| "
      "None = None, dynamic_smem: int = 0, cooperative: bool = False, entry: str | None = None, "
      "memory: Sequence[Any] | "
      "dict[str, Any] | None = None, {}) -> Run",
      begin, settings_signature);
}

std::string launch_help(const char* begin) {
  return fmt::format(
      "{}\n\n"
      "grid, block, cluster: CTAs, threads and CTAs of a cluster, (x, y, z) or fewer.\n"
      "cooperative: its CTAs may wait for each other (grid.sync()).\n"
      "args: one for each parameter. Arrays (NumPy, or what has DLPack or the buffer protocol, on "
      "the CPU)\n"
      "are pointers to their first element, and are written in place. Numbers become what the "
      "parameter is;\n"
      "None is a null pointer, bytes are a struct, a TensorMap is one.\n"
      "entry: which kernel of the PTX, its name or a unique part of it.\n"
      "memory: arrays that the kernel reaches by pointers it loads: it has them at their own "
      "addresses. A dict\n"
      "gives them names, for reports and for run.outputs.\n"
      "{}\n\n"
      "Fault: the kernel faulted; arrays are as they were at that moment. Error: what does not "
      "fit.",
      begin, settings_help);
}

}  // namespace

bool is_watched() {
  return !watcher().is_none();
}

nb::object watched(const nb::object& function, const nb::tuple& arguments, nb::dict words) {
  const nb::object asked = watcher();  // which may be another one before this has ended
  return asked(function, arguments, std::move(words));
}

void define_launches(nb::module_& module) {
  define_run(module);
  define_tensor_map(module);
  static const std::string method = launch_signature("def launch(self, ");
  static const std::string method_help = launch_help("Runs one of its kernels on the simulator.");
  static const std::string function =
      launch_signature("def launch(kernel: str | os.PathLike | Module, ");
  static const std::string function_help = launch_help(
      "Runs a kernel on the simulator: PTX or CUDA C++ as text, the path of a .ptx or .cu file, or "
      "a "
      "Module, which is parsed once. CUDA is compiled for the device, or sm_90a.\n\n"
      ">>> import array, tilescope as ts\n"
      ">>> ptx = '''.version 8.0\n"
      "... .target sm_80\n"
      "... .address_size 64\n"
      "... .visible .entry twice(.param .u64 x) {\n"
      "...   .reg .b64 %a; .reg .b32 %t; .reg .b64 %o; .reg .f32 %f;\n"
      "...   ld.param.u64 %a, [x];\n"
      "...   mov.u32 %t, %tid.x;\n"
      "...   mul.wide.u32 %o, %t, 4;\n"
      "...   add.s64 %a, %a, %o;\n"
      "...   ld.global.f32 %f, [%a];\n"
      "...   add.f32 %f, %f, %f;\n"
      "...   st.global.f32 [%a], %f;\n"
      "...   ret;\n"
      "... }'''\n"
      ">>> x = array.array('f', [1, 2, 3, 4])\n"
      ">>> run = ts.launch(ptx, 1, 4, [x])\n"
      ">>> list(x), run.reports\n"
      "([2.0, 4.0, 6.0, 8.0], [])");
  nb::class_<LoadedModule>(
      module, "Module",
      "PTX that is parsed once and launched often. Its .global variables stay as a launch leaves "
      "them, as on a chip.")
      .def(nb::new_([](nb::handle kernel) { return module_of(kernel); }), nb::arg("ptx").none(),
           "Of PTX as text, or the path of a .ptx file; of CUDA C++ as compile() makes it. Error: "
           "it is not understood; the sentence "
           "has the line.")
      .def_prop_ro(
          "entries",
          [](const LoadedModule& self) {
            nb::list out;
            for (const std::string_view name : self.module->entries())
              out.append(nb::str(name.data(), name.size()));
            return out;
          },
          nb::sig("def entries(self) -> list[str]"), "The names of its kernels.")
      .def(
          "parameters",
          [](const LoadedModule& self, const std::string& entry) {
            return parameters_of(*taken(self.module->entry(entry)));
          },
          nb::arg("entry") = "",
          nb::sig("def parameters(self, entry: str = '') -> list[tuple[str, str, int]]"),
          "Name, type and bytes of each parameter of a kernel.")
      .def(
          "registers",
          [](const LoadedModule& self, const std::string& entry, std::uint32_t threads) {
            const sim::Module& loaded = *self.module;
            const std::shared_ptr<const ptx::Module> text(self.module, &loaded.text());
            return sim::registers_of(
                taken(ptx::decode(text, *taken(loaded.entry(entry)), loaded.variables_at())),
                threads);
          },
          nb::arg("entry") = "", nb::arg("threads") = 128,
          nb::sig("def registers(self, entry: str = '', threads: int = 128) -> int"),
          "Registers of a thread that the assembler may be expected to take, in CTAs of so many "
          "threads: those that are alive together.")
      .def(
          "launch",
          [](nb::handle self, nb::handle grid, nb::handle block, nb::handle args,
             nb::kwargs words) { return launch_watched(self, grid, block, args, nb::dict(words)); },
          nb::arg("grid"), nb::arg("block"), nb::arg("args") = nb::make_tuple(), nb::arg("words"),
          nb::sig(method.c_str()), method_help.c_str())
      .def("__repr__",
           [](const LoadedModule& self) { return fmt::format("<Module {}>", self.name); });
  module.def(
      "compile", &compile_module, nb::arg("source"), nb::arg("arch") = "sm_90a",
      nb::arg("entry") = nb::none(), nb::arg("options") = nb::make_tuple(), nb::kw_only(),
      nb::arg("compiler") = nb::none(),
      nb::sig("def compile(source: str | os.PathLike, arch: str = 'sm_90a', entry: str | None = "
              "None, options: Sequence[str] = (), *, compiler: str | None = None) -> Module"),
      "Compiles CUDA C++, as text or of a .cu file, by nvcc or else NVRTC: a GPU is not needed. "
      "Reports name its lines;\na text is called kernel.cu, and finds headers in the folder that "
      "Python runs in.\n\n"
      "arch: what it is for, sm_80, sm_90a, sm_100a...\n"
      "entry: the kernel that launches take where they name none, or a unique part of its name.\n"
      "options: the compiler's own words, such as \"-DN=4\" and \"--use_fast_math\".\n"
      "compiler: \"nvcc\" or \"nvrtc\"; None: the first of these that is here.\n\n"
      "Error: it does not compile, with the compiler's words; or there is no compiler.");
  module.def(
      "launch",
      [](nb::handle kernel, nb::handle grid, nb::handle block, nb::handle args, nb::kwargs words) {
        return launch_watched(kernel, grid, block, args, nb::dict(words));
      },
      nb::arg("kernel").none(), nb::arg("grid"), nb::arg("block"),
      nb::arg("args") = nb::make_tuple(), nb::arg("words"), nb::sig(function.c_str()),
      function_help.c_str());
  module.def(
      "_launch",
      [](nb::handle kernel, nb::handle grid, nb::handle block, nb::handle args, nb::kwargs words) {
        return launch_any(kernel, grid, block, args, nb::dict(words));
      },
      nb::arg("kernel").none(), nb::arg("grid"), nb::arg("block"), nb::arg("args"),
      nb::arg("words"));
  module.def(
      "_watch", [](nb::object each) { return std::exchange(watcher(), std::move(each)); },
      nb::arg("each").none());
}

}  // namespace tilescope::python
