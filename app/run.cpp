// tilescope run KERNEL | F.ptx --launch F.toml
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "app/files.h"
#include "app/reports.h"
#include "app/runs.h"
#include "core/diff/diff.h"
#include "core/io/npy.h"

namespace tilescope {
namespace {

struct Options {
  std::string kernel, launch, on = "sim", against, output;
  std::optional<std::int64_t> m, n;
  std::string a, b;
  std::optional<double> rtol, atol;
  RunOptions run;
  bool strict = false, json = false;
};

struct Ended {
  RunState state = RunState::running;
  double seconds = 0;
};

// Advances in pieces, so that progress shows and Ctrl-C is answered within one.
Outcome<Ended> finish(Execution& execution, std::string_view name, Terminal& terminal) {
  constexpr std::uint64_t piece = 200'000;  // warp instructions
  const auto begun = std::chrono::steady_clock::now();
  Ended out;
  watch_for_interrupt();
  while (out.state == RunState::running) {
    out.state = execution.advance(piece);
    const Progress progress = execution.progress();
    if (progress.total > 0) {
      terminal.progress(name,
                        static_cast<double>(progress.done) / static_cast<double>(progress.total));
    }
    if (interrupted()) {
      terminal.end_progress();
      return Error{ErrorKind::interrupted,
                   fmt::format("Interrupted after {} of {} blocks; nothing was written.",
                               progress.done, progress.total),
                   ""};
    }
  }
  terminal.end_progress();
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  return out;
}

// Ends with the reports; under --json they are in the error document.
int faulted(const Execution& execution, const PreparedRun& run, Terminal& terminal) {
  const Report& fault = execution.reports().back();
  if (terminal.json()) {
    terminal.document({{"ok", false},
                       {"error",
                        {{"kind", name_of(ErrorKind::fault)},
                         {"sentence", fault.sentence},
                         {"where", text(fault.site)}}},
                       {"kernel", run.kernel},
                       {"reports", to_json(execution.reports())}});
  } else {
    terminal.say(text_of_reports(execution.reports()));
  }
  return exit_code(ErrorKind::fault);
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
  if (options.m) options.run.sizes["m"] = *options.m;
  if (options.n) options.run.sizes["n"] = *options.n;
  if (!options.a.empty()) options.run.files["A"] = options.a;
  if (!options.b.empty()) options.run.files["B"] = options.b;
  const bool inputs_named =
      !options.run.sizes.empty() || !options.run.files.empty() || !options.run.dtype.empty();
  if (is_file && (inputs_named || !options.output.empty() || !options.against.empty())) {
    return Error{
        ErrorKind::usage,
        "Sizes, inputs, --dtype, --out and --against belong to kernels of the catalog; for "
        "a PTX file the launch file says them.",
        ""};
  }
  Outcome<PreparedRun> run = is_file ? prepare_launch(options.kernel, options.launch)
                                     : prepare_run(options.kernel, options.run);
  if (!run) return run;
  for (Output& output : run->outputs) {
    if (!options.output.empty()) output.file = options.output;
    if (!options.against.empty() && options.against != "reference") output.want = options.against;
    if (options.rtol) output.tolerance.rtol = *options.rtol;
    if (options.atol) output.tolerance.atol = *options.atol;
  }
  return run;
}

// An output after the run, beside what it should be.
struct Compared {
  const Output* output;
  std::optional<Buffer> want;
  std::optional<DiffReport> diff;
};

// What cannot be compared is said before the run, not after it.
Outcome<std::vector<Compared>> expectations(const PreparedRun& run) {
  std::vector<Compared> out;
  for (const Output& output : run.outputs) {
    Outcome<std::optional<Buffer>> want = wanted(run, output);
    if (!want) return want.error();
    if (*want) {
      const auto check =
          Differ::start(run.job.buffers[output.buffer], **want, {.tolerance = output.tolerance});
      if (!check) return check.error();
    }
    out.push_back({&output, std::move(*want), {}});
  }
  return out;
}

std::optional<Error> compare(std::vector<Compared>& outputs, const Execution& execution) {
  for (Compared& c : outputs) {
    if (!c.want) continue;
    const std::size_t buffer = c.output->buffer;
    Outcome<DiffReport> diff =
        tilescope::diff(execution.buffers()[buffer], *c.want, {.tolerance = c.output->tolerance});
    if (!diff) return diff.error();
    name_writers(*diff, execution, buffer);
    c.diff = std::move(*diff);
  }
  return std::nullopt;
}

void report(const Options& options, const PreparedRun& run, const Execution& execution,
            const std::vector<Compared>& outputs, double seconds, bool ok, Terminal& terminal) {
  const Progress progress = execution.progress();
  if (!terminal.json()) {
    if (!execution.reports().empty()) terminal.say(text_of_reports(execution.reports()));
    terminal.print(fmt::format("{} on {}: {}\n", run.kernel, options.on, describe(run)));
    for (const Compared& c : outputs) {
      if (c.diff) terminal.print(text(*c.diff));
      if (c.output->file) terminal.say(fmt::format("wrote {}", *c.output->file));
    }
    terminal.say(fmt::format("{} warp instructions in {:.3f} s", progress.instructions, seconds));
    return;
  }
  nlohmann::ordered_json each = nlohmann::ordered_json::array();
  for (const Compared& c : outputs) {
    each.push_back({{"buffer", run.job.buffers[c.output->buffer].name},
                    {"file", c.output->file ? nlohmann::ordered_json(*c.output->file) : nullptr},
                    {"diff", c.diff ? to_json(*c.diff) : nullptr}});
  }
  terminal.document({{"ok", ok},
                     {"kernel", run.kernel},
                     {"device", options.on},
                     {"blocks", progress.total},
                     {"warp_instructions", progress.instructions},
                     {"seconds", seconds},
                     {"reports", to_json(execution.reports())},
                     {"outputs", each}});
}

int run_kernel(Options options, Terminal& terminal) {
  if (options.on != "sim" && options.on != "gpu" && options.on != "both") {
    return terminal.fail({ErrorKind::unknown,
                          fmt::format("--on {}: there is no such device; there are sim, gpu and "
                                      "both.",
                                      options.on),
                          ""});
  }
  if (options.on != "sim") {
    return terminal.fail({ErrorKind::no_device,
                          fmt::format("--on {}: this version runs kernels on the simulator alone; "
                                      "use --on sim.",
                                      options.on),
                          ""});
  }
  const Outcome<PreparedRun> run = prepare(options);
  if (!run) return terminal.fail(run.error());
  Outcome<std::vector<Compared>> outputs = expectations(*run);
  if (!outputs) return terminal.fail(outputs.error());

  const std::unique_ptr<Device> device = make_simulator();
  const Outcome<std::unique_ptr<Execution>> execution = device->start(run->job);
  if (!execution) return terminal.fail(execution.error());
  const Outcome<Ended> ended = finish(**execution, run->kernel, terminal);
  if (!ended) return terminal.fail(ended.error());
  if (ended->state == RunState::fault) return faulted(**execution, *run, terminal);
  if (const auto error = compare(*outputs, **execution)) return terminal.fail(*error);

  const bool hazardous = options.strict && has_hazard((*execution)->reports());
  bool equal = true;
  for (const Compared& c : *outputs) {
    equal = equal && (!c.diff || c.diff->ok());
    if (!c.output->file || hazardous) continue;
    const std::vector<std::byte> npy = write_npy((*execution)->buffers()[c.output->buffer]);
    if (const auto error = write_file(*c.output->file, std::span(npy)))
      return terminal.fail(*error);
  }
  report(options, *run, **execution, *outputs, ended->seconds, equal && !hazardous, terminal);
  if (hazardous) return exit_code(ErrorKind::fault);
  return equal ? 0 : 1;
}

}  // namespace

Action define_run(CommandOptions& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("KERNEL", options->kernel,
                 "a kernel's name (`tilescope list kernels`), or a PTX file with --launch")
      .required();
  app.add_option("--launch", options->launch,
                 "how a PTX file is run: grid, block, buffers, arguments")
      .type_name("F.toml");
  app.add_option("--on", options->on, "sim: the CPU simulator").type_name("DEVICE");
  app.add_option("--m", options->m, "rows; from the files where left out").type_name("M");
  app.add_option("--n", options->n, "columns; from the files where left out").type_name("N");
  app.add_option("--a", options->a, "the first input; random where left out").type_name("A.npy");
  app.add_option("--b", options->b, "the second input; random where left out").type_name("B.npy");
  app.add_option("--out", options->output, "where the result goes").type_name("D.npy");
  app.add_option("--against", options->against, "what to compare with: reference, or a file")
      .type_name("reference|F.npy");
  app.add_option("--rtol", options->rtol, "relative tolerance; the catalog's where left out");
  app.add_option("--atol", options->atol, "absolute tolerance; the catalog's where left out");
  app.add_option("--seed", options->run.seed, "of random inputs; 0 where left out");
  app.add_option("--dtype", options->run.dtype, "element type; from the files where left out")
      .type_name("TYPE");
  app.add_flag("--strict", options->strict, "a hazard is a failure: exit 3");
  app.add_flag("--json", options->json, "one JSON document on stdout");
  return [options](Terminal& terminal) { return run_kernel(*options, terminal); };
}

}  // namespace tilescope
