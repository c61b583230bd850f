// tilescope run KERNEL | F.ptx --launch F.toml
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "app/commands.h"
#include "app/comparisons.h"
#include "app/descriptions.h"
#include "app/devices.h"
#include "app/files.h"
#include "app/kernel_options.h"
#include "app/output_differences.h"
#include "app/output_files.h"
#include "app/predictions.h"
#include "app/profiles.h"
#include "app/proofs.h"
#include "app/reports.h"
#include "app/run_results.h"
#include "app/runs.h"
#include "app/searches.h"
#include "app/workers.h"
#include "core/diff/diff.h"
#include "core/io/npy.h"
#include "core/io/suppressions_file.h"
#include "kernels/catalog/catalog.h"

namespace tilescope {
namespace {

constexpr std::uint64_t most_threads = 1024;

struct Options {
  std::string kernel, launch, on = "sim", against, output, numerics, schedule, device;
  std::vector<std::string> linked;         // other PTX files
  KernelOptions own;                       // the kernel's: {"m", "300"}
  std::optional<std::int64_t> m, n, k, l;  // of these, as they are typed
  KernelOptions words;                     // those that only some kernels have
  std::uint64_t search = 0;                // orders to try
  bool prove = false;
  std::string within = "60s";        // is its time
  std::optional<std::int64_t> most;  // PTX instructions by warps
  std::uint64_t threads = std::max(1u, std::thread::hardware_concurrency());
  std::string a, b, grid;
  std::optional<double> rtol, atol;
  RunOptions run;
  Order order;
  ProfileOptions profile;
  bool strict = false, json = false, predict = false, allow_outside = false;
  Telling telling;
  std::vector<std::string> suppressions;  // files
  // By the clock, so that a chip with times is needed.
  bool timed() const { return predict || profile.wanted(); }
};

// A CUDA file in the kernel's place is compiled first, and once.
std::optional<Error> build_source(Options& options) {
  RunOptions& run = options.run;
  if (run.source.empty() || run.built || !run.ptx.empty()) return std::nullopt;
  watch_for_interrupt();
  auto built = build_for(options.kernel, run, [] { return !interrupted(); });
  if (!built) return built.error();
  run.built = std::move(*built);
  return std::nullopt;
}

// The kernel's own options by their names; of a kernel of the catalog they are read.
std::optional<Error> name_options(Options& options) {
  const auto number = [&](const char* name, const std::optional<std::int64_t>& value) {
    if (value) options.own[name] = std::to_string(*value);
  };
  const auto word = [&](const char* name, const std::string& value) {
    if (!value.empty()) options.own[name] = value;
  };
  number("m", options.m), number("n", options.n), number("k", options.k), number("l", options.l);
  for (const auto& [name, value] : options.words) word(name.c_str(), value);
  word("a", options.a), word("b", options.b), word("grid", options.grid);
  word("dtype", options.run.dtype), word("ptx", options.run.ptx);
  word("source", options.run.source);
  const Outcome<const CatalogEntry*> entry = find_kernel(options.kernel);
  if (!entry) return {};  // a file, or told where it is run
  Outcome<RunOptions> run = run_options(**entry, options.own);
  if (!run) return run.error();
  run->seed = options.run.seed;
  run->processors = options.run.processors;
  run->built = options.run.built;
  run->keep_on = [] {
    watch_for_interrupt();
    return !interrupted();
  };
  options.run = std::move(*run);
  return {};
}

// The catalog's kernel with the command line's words, or a PTX file with its launch file.
Outcome<PreparedRun> prepare(Options& options) {
  const bool is_file = options.kernel.ends_with(".ptx");
  if (is_file != !options.launch.empty()) {
    return Error{ErrorKind::usage,
                 is_file ? fmt::format("{} needs a launch file that says grid, block, buffers and "
                                       "arguments: --launch F.toml.",
                                       options.kernel)
                         : "--launch goes with a PTX file: tilescope run F.ptx --launch F.toml.",
                 ""};
  }
  if (auto error = name_options(options)) return *error;
  if (is_file && (!options.own.empty() || !options.output.empty() ||
                  (!options.against.empty() && options.against != "gpu"))) {
    return Error{ErrorKind::usage,
                 "Sizes, inputs, a kernel's own options, --dtype, --grid, --ptx, --source, --out "
                 "and --against FILE are "
                 "for kernels of the catalog; for a PTX file the launch file has them.",
                 ""};
  }
  if (auto error = build_source(options)) return *error;
  if (!is_file && !options.linked.empty()) {
    return Error{ErrorKind::usage,
                 fmt::format("{} is a kernel of the catalog, and {} cannot be linked with it: only "
                             "PTX files are linked with each other, `tilescope run A.ptx B.ptx "
                             "--launch F.toml`.",
                             options.kernel, options.linked[0]),
                 ""};
  }
  Outcome<PreparedRun> run = is_file
                                 ? prepare_launch(options.kernel, options.launch, options.linked)
                                 : prepare_run(options.kernel, options.run);
  if (!run) return run;
  if (is_file) {
    if (auto error = wrong_outputs(*run, options.launch, options.allow_outside)) return *error;
    const std::pair<const char*, const std::string*> files[] = {
        {"--record", &options.profile.record},
        {"--trace", &options.profile.trace},
        {"--timeline", &options.profile.timeline}};
    for (const auto& [option, file] : files) {
      if (auto error = wrong_file(*run, options.launch, option, *file)) return *error;
    }
  } else if (options.allow_outside) {
    return Error{ErrorKind::usage,
                 "--allow-outside is about the `out` files of a launch file: use it with --launch.",
                 ""};
  }
  for (Output& output : run->outputs) {
    if (!options.output.empty()) output.file = options.output;
    if (!options.against.empty() && options.against != "reference" && options.against != "gpu") {
      output.want = options.against;
    }
    if (options.rtol) output.tolerance.rtol = *options.rtol;
    if (options.atol) output.tolerance.atol = *options.atol;
  }
  return run;
}

// Instructions that a run may execute; 0: no limit.
std::uint64_t limit_of(const Options& options) {
  return static_cast<std::uint64_t>(options.most.value_or(0));
}

std::optional<Error> wrong_words(const Options& options) {
  if (!options.numerics.empty() && options.numerics != "exact" && options.numerics != "fast") {
    return Error{ErrorKind::unknown,
                 fmt::format("--numerics {}: exact (as the chip adds) or fast.", options.numerics),
                 ""};
  }
  if (options.on != "sim" && options.on != "gpu" && options.on != "both") {
    return Error{
        ErrorKind::unknown,
        fmt::format("--on {}: there is no such device; there are sim, gpu and both.", options.on),
        ""};
  }
  if (options.threads < 1 || options.threads > most_threads) {
    return Error{ErrorKind::usage,
                 fmt::format("--threads {}: a number from 1 to {}.", options.threads, most_threads),
                 ""};
  }
  if (options.most && *options.most < 1) {
    return Error{ErrorKind::usage,
                 fmt::format("--max-instructions {}: a number from 1 on; without it there is no "
                             "limit.",
                             *options.most),
                 ""};
  }
  if (options.most && options.on == "gpu") {
    return Error{ErrorKind::usage,
                 "--max-instructions counts instructions of the simulator: use it with --on sim or "
                 "--on both.",
                 ""};
  }
  if (options.profile.wanted() && options.on == "gpu") {
    return Error{
        ErrorKind::usage,
        "--stats, --timeline, --trace and --record show a run of the simulator: use them with "
        "--on sim or --on both.",
        ""};
  }
  if ((options.search || options.prove) && options.on == "gpu") {
    return Error{
        ErrorKind::usage,
        fmt::format("--{} tries schedules of the simulator: use it with --on sim or --on both.",
                    options.search ? "search" : "prove"),
        ""};
  }
  if (options.search && options.prove) {
    return Error{ErrorKind::usage,
                 "--prove searches orders itself where it has to: use it without --search.", ""};
  }
  if (!seconds_of(options.within)) {
    return Error{ErrorKind::usage,
                 fmt::format("--within {} is no time: 90, 90s or 2m.", options.within), ""};
  }
  if (options.against == "gpu" && options.on == "gpu") {
    return Error{ErrorKind::usage,
                 "--on gpu --against gpu compares the GPU with itself; use --on sim --against gpu, "
                 "or --on both.",
                 ""};
  }
  return std::nullopt;
}

// The chip that is simulated, and that a kernel of the catalog is launched for.
std::optional<Error> choose_device(Options& options) {
  if (options.device.empty()) return std::nullopt;
  if (options.on == "gpu") {
    return Error{ErrorKind::usage,
                 "--device says which chip the simulator is: use it with --on sim or --on both.",
                 ""};
  }
  const Outcome<DeviceDescription> device = device_described(options.device);
  if (!device) return device.error();
  options.order.device = *device;
  options.order.device_named = true;
  options.run.processors = device->processors;
  return std::nullopt;
}

// Rules from files, in the order in which these are named.
std::optional<Error> read_suppressions(Options& options) {
  for (const std::string& path : options.suppressions) {
    const Outcome<std::string> text = read_text(path);
    if (!text) return text.error();
    const Outcome<std::vector<Suppression>> rules = parse_suppressions(*text, path);
    if (!rules) return rules.error();
    options.telling.rules.insert(options.telling.rules.end(), rules->begin(), rules->end());
  }
  return std::nullopt;
}

// What the window's command `open` is given for the same run, but for the order.
std::string opened_by(const Options& options) {
  std::string out = options.kernel;
  if (!options.launch.empty()) out += " --launch " + options.launch;
  for (const auto& [name, value] : options.own) out += fmt::format(" --{} {}", name, value);
  if (!options.device.empty()) out += " --device " + options.device;
  return out;
}

// Of one's own choice, where nobody says.
void choose_device_for(Options& options, const PreparedRun& run) {
  const auto usual = usual_device_for(run.job.program.ptx);
  if (!usual) return;
  options.order.device = *usual;
  options.run.processors = usual->processors;
}

std::optional<Error> same_file(const ProfileOptions& profile) {
  const std::pair<const char*, const std::string*> files[] = {
      {"record", &profile.record}, {"trace", &profile.trace}, {"timeline", &profile.timeline}};
  for (const auto& [name, file] : files) {
    for (const auto& [other, same] : files) {
      if (name == other || file->empty() || *file != *same) continue;
      return Error{ErrorKind::usage,
                   fmt::format("--{} and --{} both write {}: give them different names.", name,
                               other, *file),
                   ""};
    }
  }
  return std::nullopt;
}

// What is not calculated cannot be compared, and only a chip's own order has a time.
std::optional<Error> wrong_prediction(const Options& options) {
  const Order& order = options.order;
  if (const auto error = same_file(options.profile)) return error;
  if (order.warm && !options.timed()) {
    return Error{ErrorKind::usage,
                 "--warm is about time: use it with --predict, --stats, --timeline, --trace or "
                 "--record.",
                 ""};
  }
  if (!options.predict) {
    if (!order.waves) return std::nullopt;
    return Error{ErrorKind::usage,
                 "--waves leaves CTAs of the grid out, so that only the time has a meaning: use it "
                 "with --predict.",
                 ""};
  }
  if (order.lazy || !options.schedule.empty() || options.search || options.prove) {
    return Error{ErrorKind::usage,
                 "--predict uses the chip's timing; --lazy, --schedule, --search and --prove have "
                 "none: use one of them.",
                 ""};
  }
  if (options.on != "sim" || !options.output.empty() || !options.against.empty() ||
      options.strict || !options.numerics.empty()) {
    return Error{ErrorKind::usage,
                 "--predict calculates nothing, so there is no result: leave out --on, --out, "
                 "--against, --numerics and --strict.",
                 ""};
  }
  return std::nullopt;
}

// The run is recorded: by the clock, where its order is not drawn.
Outcome<sim::RecordLimits> record_run(Options& options, const PreparedRun& run) {
  const Outcome<sim::RecordLimits> limits = limits_of(options.profile, run.job.launch);
  if (!limits || !options.timed()) return limits;
  const Order& order = options.order;
  const bool drawn = order.lazy || !order.schedule.is_usual();
  if (!drawn && !order.device.times.known()) {
    return Error{
        ErrorKind::mismatch,
        fmt::format("{} does not say how long things take on {}, so there is no time to "
                    "record: add its [times] (assets/devices/b200.toml has them), or name "
                    "another chip with --device.",
                    options.device.empty() ? "The device file" : options.device, order.device.name),
        ""};
  }
  options.order.clocked = !drawn;
  return limits;
}

// Writes what is asked for of the record, and answers its figures where these are.
Outcome<std::optional<sim::Statistics>> profile(const Options& options, const PreparedRun& run,
                                                sim::Recorder& recorder, Terminal& terminal) {
  const sim::Record record = take_record(recorder, run, options.order.device);
  if (const auto error = write_profiles(record, options.profile, terminal)) return *error;
  if (!options.profile.stats) return std::optional<sim::Statistics>();
  return std::optional<sim::Statistics>(sim::statistics_of(record));
}

// In the order in which they run; the GPU comes last.
Outcome<std::vector<OpenDevice>> devices_of(const Options& options) {
  std::vector<OpenDevice> out;
  if (options.on != "gpu") out.push_back(open_simulator(options.order));
  if (options.on != "sim" || options.against == "gpu") {
    Outcome<OpenDevice> gpu = open_gpu();
    if (!gpu) return gpu.error();
    out.push_back(std::move(*gpu));
  }
  return out;
}

// Writes the outputs that have a file, from the first device.
std::optional<Error> write_outputs(const PreparedRun& run, const Execution& execution) {
  for (const Output& output : run.outputs) {
    if (!output.file) continue;
    const std::vector<std::byte> npy = write_npy(execution.buffers()[output.buffer]);
    if (auto error = write_file(*output.file, std::span(npy))) return error;
  }
  return std::nullopt;
}

// Where two devices run, what they leave is compared though the launch file names no outputs.
void look_at_all(PreparedRun& run) {
  if (!run.outputs.empty()) return;
  for (std::size_t i = 0; i < run.job.buffers.size(); ++i) {
    run.outputs.push_back({i, {}, {}, tolerance_for(run.job.buffers[i].dtype)});
  }
}

int run_kernel(Options options, Terminal& terminal) {
  if (const auto error = wrong_words(options)) return terminal.fail(*error);
  if (const auto error = wrong_prediction(options)) return terminal.fail(*error);
  if (const auto error = choose_device(options)) return terminal.fail(*error);
  if (const auto error = read_suppressions(options)) return terminal.fail(*error);
  Outcome<PreparedRun> run = prepare(options);
  if (!run) return terminal.fail(run.error());
  std::vector<Suppression>& rules = options.telling.rules;
  rules.insert(rules.end(), run->known.begin(), run->known.end());
  if (options.device.empty() && !run->device.empty() && options.on != "gpu") {
    options.device = run->device;
    if (const auto error = choose_device(options)) return terminal.fail(*error);
  }
  if (!options.device.empty()) {
    const auto target = target_for(options.order.device, run->job.program.ptx);
    if (!target) return terminal.fail(target.error());
  }
  if (options.device.empty() && options.timed()) {
    const std::int64_t processors = options.run.processors;
    choose_device_for(options, *run);
    if (options.run.processors != processors) run = prepare(options);  // it is launched otherwise
    if (!run) return terminal.fail(run.error());
  }
  options.order.exact =
      options.numerics.empty() ? exact_by_default(*run) : options.numerics == "exact";
  if (!options.schedule.empty()) {
    Outcome<sim::Schedule> schedule = schedule_in(options.schedule);
    if (!schedule) return terminal.fail(schedule.error());
    options.order.schedule = std::move(*schedule);
  }
  const Outcome<sim::RecordLimits> limits = record_run(options, *run);
  if (!limits) return terminal.fail(limits.error());
  if (options.predict)
    return predict(*run, options.order, options.profile, *limits, options.telling.verbose,
                   limit_of(options), terminal);
  Order search_order = options.order;  // other orders are not recorded
  search_order.clocked = false;
  sim::Recorder recorder(*limits);
  if (options.profile.wanted()) options.order.recorder = &recorder;
  std::optional<Workers> workers;
  if (options.threads > 1 && options.on != "gpu") {
    options.order.executor = search_order.executor = &workers.emplace(options.threads - 1);
    // How far one thread comes is what --max-instructions asks for.
    if (!limit_of(options)) options.order.beside = static_cast<std::uint32_t>(options.threads - 1);
    search_order.beside = static_cast<std::uint32_t>(options.threads - 1);
  }
  const Outcome<std::vector<OpenDevice>> devices = devices_of(options);
  if (!devices) return terminal.fail(devices.error());
  const bool with_gpu = devices->size() > 1, gpu_alone_judges = options.against == "gpu";
  if (with_gpu) look_at_all(*run);
  Outcome<std::vector<Compared>> compared = expectations(*run, devices->size());
  if (!compared) return terminal.fail(compared.error());
  for (Compared& c : *compared) {
    if (gpu_alone_judges) c.want.reset(), c.by_reference = false;
  }
  std::optional<PendingReference> reference;
  for (const Compared& c : *compared) {
    if (c.by_reference && !reference) reference.emplace(*run, options.threads);
  }

  Outcome<std::vector<Ran>> ran = start_on(*devices, run->job);
  if (!ran) return terminal.fail(ran.error());
  RunResults results{*run, options.on,
                     options.on == "gpu" || !has_products(*run) ? ""
                     : options.order.exact                      ? "exact"
                                                                : "fast",
                     options.telling};
  results.opened = opened_by(options);
  results.proves = options.prove;
  for (Ran& one : *ran) {
    RunLimits most{one.traces() ? limit_of(options) : 0, {}};
    if (options.prove && one.traces()) most.within = options.within;
    if (const auto error = finish(one, run->kernel, terminal, most)) return terminal.fail(*error);
    if (options.profile.wanted() && &one == &ran->front()) {
      Outcome<std::optional<sim::Statistics>> figures = profile(options, *run, recorder, terminal);
      if (!figures) return terminal.fail(figures.error());
      results.stats = std::move(*figures);
    }
    if (one.state == RunState::fault)
      return tell_fault(results, one.execution->reports(), terminal);
  }
  if (options.search) {
    Outcome<Searched> found = search_orders(*run, search_order, options.search, terminal);
    if (!found) return terminal.fail(found.error());
    results.searched = std::move(*found);
    if (const auto& failing = results.searched->found) {
      return tell_fault(results, failing->reports, terminal);
    }
  }
  if (options.prove) {
    Outcome<Proved> shown = prove_orders(*run, search_order, *seconds_of(options.within), terminal);
    if (!shown) return terminal.fail(shown.error());
    results.proved = std::move(*shown);
  }
  if (reference) {
    const Outcome<Buffer> want = reference->take();
    if (!want) return terminal.fail(want.error());
    for (Compared& c : *compared) {
      if (c.by_reference) c.want = *want;
    }
  }
  const std::optional<std::size_t> gpu = with_gpu ? std::optional<std::size_t>(1) : std::nullopt;
  if (const auto error = compare(*compared, *ran, gpu)) return terminal.fail(*error);

  Outcome<std::vector<DiffReport>> variables = compare_variables(*run, *ran->front().execution);
  if (!variables) return terminal.fail(variables.error());
  results.variables = std::move(*variables);

  std::vector<Report> in_others;
  if (results.searched) {
    for (const auto& h : results.searched->hazards) in_others.push_back(h.report);
  }
  const bool hazardous =
      options.strict && (has_hazard(ran->front().execution->reports(), options.telling) ||
                         has_hazard(in_others, options.telling));
  bool equal = true;
  for (const Compared& c : *compared) equal = equal && (!c.diff || c.diff->ok());
  for (const DiffReport& diff : results.variables) equal = equal && diff.ok();
  if (!hazardous) {
    if (const auto error = write_outputs(*run, *ran->front().execution)) {
      return terminal.fail(*error);
    }
  }
  using Verdict = sim::Proof::Verdict;
  const Verdict verdict = results.proved ? results.proved->proof.verdict() : Verdict::proved;
  const bool ok = equal && !hazardous && verdict == Verdict::proved;
  tell_results(results, *ran, *compared, ok, terminal);
  if (hazardous || verdict == Verdict::fails) return exit_code(ErrorKind::fault);
  return ok ? 0 : 1;
}

}  // namespace

Action define_run(CommandOptions& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("KERNEL", options->kernel,
                 "a kernel's name (`tilescope list kernels`), or a PTX file with --launch")
      .required();
  app.add_option("LINKED", options->linked,
                 "other PTX files that define what the first declares .extern (nvcc -rdc=true)")
      .type_name("F.ptx");
  app.add_option("--launch", options->launch,
                 "how a PTX file is run: grid, block, buffers, arguments")
      .type_name("F.toml");
  app.add_option(
         "--on", options->on,
         "sim: the CPU simulator; gpu: a GPU through the CUDA driver; both: one after the other, "
         "compared")
      .type_name("sim|gpu|both");
  app.add_option("--m", options->m, "rows (default: from the files)").type_name("M");
  app.add_option("--n", options->n, "columns (default: from the files)").type_name("N");
  app.add_option("--k", options->k, "depth K of a matrix product (default: from the files)")
      .type_name("K");
  app.add_option("--l", options->l, "how many products, a batch (default: from the files, or 1)")
      .type_name("L");
  app.add_option("--a", options->a, "the first input (default: random)").type_name("A.npy");
  app.add_option("--b", options->b, "the second input (default: random)").type_name("B.npy");
  app.add_option("--c", options->words["c"],
                 "what the output has before, where the kernel adds to it (default: random)")
      .type_name("C.npy");
  for (const CatalogEntry& entry : catalog()) {
    for (const OptionParameter& own : entry.options) {
      if (options->words.count(own.name)) continue;
      app.add_option("--" + own.name, options->words[own.name],
                     fmt::format("{} only: {}", entry.name, own.help))
          .type_name(own.form);
    }
  }
  app.add_option("--out", options->output, "where the result goes").type_name("D.npy");
  app.add_option("--against", options->against, "what to compare with: reference, gpu, or a file")
      .type_name("reference|gpu|F.npy");
  app.add_option("--rtol", options->rtol, "relative tolerance (default: the catalog's)");
  app.add_option("--atol", options->atol, "absolute tolerance (default: the catalog's)");
  app.add_option("--seed", options->run.seed, "seed of random inputs (default 0)");
  app.add_option("--grid", options->grid,
                 "CTAs to launch, up to three numbers: 2,2,1 (default: as many as the kernel "
                 "needs, or as the chip has room for)")
      .type_name("N");
  app.add_option("--ptx", options->run.ptx,
                 "another build of the kernel, compared with the same reference")
      .type_name("F.ptx");
  app.add_option("--source", options->run.source,
                 "a CUDA file instead of the kernel, compiled by the nvcc here; it may include "
                 "what the kernels do, such as kernels/device/tma.h")
      .type_name("F.cu");
  app.add_option("--dtype", options->run.dtype, "element type (default: from the files)")
      .type_name("TYPE");
  app.add_option("--schedule", options->schedule,
                 "a randomised schedule, by its seed (0: the default schedule), or one with a warp "
                 "held: 0.4@1250 holds warp 4 of CTA 0 after 1250 instructions; refuse-waits: each "
                 "wait for an mbarrier is told no the first time; refuse-grants: "
                 "clusterlaunchcontrol cancels nothing; or a file with these")
      .type_name("N|B.W@N|FILE");
  app.add_option(
         "--search", options->search,
         "tries up to N schedules that hold warps where they meet others, for one that faults")
      .type_name("N");
  app.add_flag(
      "--prove", options->prove,
      "shows that every order of the warps and of what is in flight does the same, or finds "
      "one that fails, or says which steps could change places");
  app.add_option("--within", options->within, "the time for --prove: 90s, 2m (default 60s)")
      .type_name("TIME");
  app.add_flag("--lazy", options->order.lazy,
               "asynchronous operations complete as late as PTX allows");
  app.add_flag("--first-columns", options->order.first_columns,
               "with --schedule, tcgen05.alloc still takes the first free columns of TMEM");
  app.add_option("--numerics", options->numerics,
                 "how the simulator's tensor cores add: exact, as the chip does (the default up to "
                 "m * n * k of 1024^3), or fast, by fused multiply-add")
      .type_name("exact|fast");
  app.add_option("--device", options->device,
                 "the simulated chip (`tilescope list devices`), or a device file: its SMs, their "
                 "limits, and times (default b200)")
      .type_name("NAME|F.toml");
  app.add_option("--threads", options->threads,
                 "threads of this machine to use (default: all); the result and the reports are "
                 "the same bytes with any number")
      .type_name("N");
  app.add_flag("--stats", options->profile.stats,
               "where the time went: predicted time, busy units, warp roles, stalls, bytes, the "
               "lines with most stalls");
  app.add_option("--timeline", options->profile.timeline,
                 "the timeline of the run as a page for a browser, in one file")
      .type_name("F.html");
  app.add_option("--trace", options->profile.trace,
                 "a trace of the run for https://ui.perfetto.dev or chrome://tracing")
      .type_name("F.json");
  app.add_option("--record", options->profile.record,
                 "the record of the run, for `tilescope compare`")
      .type_name("F.tsr");
  app.add_option("--record-limit", options->profile.limit,
                 "room for recorded events (default 512MiB); older events are aggregated")
      .type_name("BYTES");
  app.add_option("--record-block", options->profile.block,
                 "records the events of this CTA and its cluster only; all others are aggregated")
      .type_name("N|X,Y,Z");
  app.add_option("--record-time", options->profile.time,
                 "records the events of these cycles only; all others are aggregated")
      .type_name("FROM:TO");
  app.add_flag("--predict", options->predict,
               "only the time, by the chip's description: nothing is calculated or compared");
  app.add_option(
         "--waves", options->order.waves,
         "with --predict: simulates N waves of CTAs and says how far off that may be (0: all)")
      .type_name("N");
  app.add_flag("--warm", options->order.warm,
               "what the run reads is in L2 already, if it fits, as when a benchmark repeats it");
  app.add_option("--max-instructions", options->most,
                 "ends a run that wants to execute more PTX instructions by warps than N: exit 2 "
                 "(default: no limit)")
      .type_name("N");
  app.add_flag("--allow-outside", options->allow_outside,
               "lets a launch file write its `out` files outside of its folder");
  app.add_flag("--strict", options->strict, "a hazard is a failure: exit 3");
  app.add_option("--suppressions", options->suppressions,
                 "silences the hazards and notes that a file of rules names, each with its reason; "
                 "may repeat")
      .type_name("F.toml");
  app.add_flag("--generate-suppressions", options->telling.writes_rules,
               "prints a rule for each hazard and note that is told, to be put into such a file");
  app.add_flag("--verbose", options->telling.verbose,
               "every report in full, not one for each source line and kind");
  app.add_flag("--json", options->json, "one JSON document on stdout");
  return [options](Terminal& terminal) { return run_kernel(*options, terminal); };
}

}  // namespace tilescope
