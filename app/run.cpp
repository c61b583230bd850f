// tilescope run KERNEL
#include <fmt/format.h>

#include <chrono>
#include <memory>

#include "app/commands.h"
#include "app/files.h"
#include "app/reports.h"
#include "app/runs.h"
#include "core/diff/diff.h"
#include "core/io/npy.h"

namespace tilescope {
namespace {

struct Options {
  std::string kernel, on = "sim", against = "reference", output;
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

// What the result is compared with: the reference, or a file.
Outcome<Buffer> wanted(const Options& options, const PreparedRun& run) {
  if (options.against == "reference") return expected_output(run);
  const Outcome<std::vector<std::byte>> bytes = read_file(options.against);
  if (!bytes) return bytes.error();
  return read_npy(*bytes, options.against, run.variant.dtypes[run.output]);
}

// Ends with a sentence and, under --json, with the reports in the error document.
int faulted(const Execution& execution, const PreparedRun& run, Terminal& terminal) {
  const Report& fault = execution.reports().back();
  if (terminal.json()) {
    terminal.document({{"ok", false},
                       {"error",
                        {{"kind", name_of(ErrorKind::fault)},
                         {"sentence", fault.sentence},
                         {"where", text(fault.site)}}},
                       {"kernel", run.entry->name},
                       {"reports", to_json(execution.reports())}});
  } else {
    terminal.say(text_of_reports(execution.reports()));
  }
  return exit_code(ErrorKind::fault);
}

int report(const Options& options, const PreparedRun& run, const Execution& execution,
           const DiffReport& diff, const Ended& ended, bool failed_strict, Terminal& terminal) {
  if (terminal.json()) {
    const Progress progress = execution.progress();
    terminal.document({{"ok", diff.ok() && !failed_strict},
                       {"kernel", run.entry->name},
                       {"device", options.on},
                       {"blocks", progress.total},
                       {"warp_instructions", progress.instructions},
                       {"seconds", ended.seconds},
                       {"reports", to_json(execution.reports())},
                       {"diff", to_json(diff)}});
  } else {
    if (!execution.reports().empty()) terminal.say(text_of_reports(execution.reports()));
    terminal.print(fmt::format("{} on {}: {}\n", run.entry->name, options.on, describe(run)));
    terminal.print(text(diff));
    terminal.say(fmt::format("{} warp instructions in {:.3f} s", execution.progress().instructions,
                             ended.seconds));
  }
  if (failed_strict) return exit_code(ErrorKind::fault);
  return diff.ok() ? 0 : 1;
}

int run_kernel(Options options, Terminal& terminal) {
  if (options.on != "sim") {
    return terminal.fail({ErrorKind::no_device,
                          fmt::format("--on {}: this version runs kernels on the simulator alone; "
                                      "use --on sim.",
                                      options.on),
                          ""});
  }
  if (options.m) options.run.sizes["m"] = *options.m;
  if (options.n) options.run.sizes["n"] = *options.n;
  if (!options.a.empty()) options.run.files["A"] = options.a;
  if (!options.b.empty()) options.run.files["B"] = options.b;

  Outcome<PreparedRun> run = prepare_run(options.kernel, options.run);
  if (!run) return terminal.fail(run.error());
  const Outcome<Buffer> want = wanted(options, *run);
  if (!want) return terminal.fail(want.error());
  DiffOptions how;
  how.tolerance = {options.rtol.value_or(run->variant.rtol),
                   options.atol.value_or(run->variant.atol)};
  // What cannot be compared is said before the run, not after it.
  if (const auto check = Differ::start(run->job.buffers[run->output], *want, how); !check) {
    return terminal.fail(check.error());
  }

  const std::unique_ptr<Device> device = make_simulator();
  Outcome<std::unique_ptr<Execution>> execution = device->start(run->job);
  if (!execution) return terminal.fail(execution.error());
  const Outcome<Ended> ended = finish(**execution, run->entry->name, terminal);
  if (!ended) return terminal.fail(ended.error());
  if (ended->state == RunState::fault) return faulted(**execution, *run, terminal);

  const Buffer& got = (*execution)->buffers()[run->output];
  Outcome<DiffReport> compared = diff(got, *want, how);
  if (!compared) return terminal.fail(compared.error());
  name_writers(*compared, **execution, run->output);
  const bool failed_strict = options.strict && has_hazard((*execution)->reports());
  if (!options.output.empty() && !failed_strict) {
    if (const auto error = write_file(options.output, std::span<const std::byte>(write_npy(got)))) {
      return terminal.fail(*error);
    }
  }
  return report(options, *run, **execution, *compared, *ended, failed_strict, terminal);
}

}  // namespace

Action define_run(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("KERNEL", options->kernel, "a kernel's name; `tilescope list kernels`")
      ->required();
  app.add_option("--on", options->on, "sim: the CPU simulator")->type_name("DEVICE");
  app.add_option("--m", options->m, "rows; from the files where left out")->type_name("M");
  app.add_option("--n", options->n, "columns; from the files where left out")->type_name("N");
  app.add_option("--a", options->a, "the first input; random where left out")->type_name("A.npy");
  app.add_option("--b", options->b, "the second input; random where left out")->type_name("B.npy");
  app.add_option("--out", options->output, "where the result goes")->type_name("D.npy");
  app.add_option("--against", options->against, "what to compare with: reference, or a file")
      ->type_name("reference|F.npy");
  app.add_option("--rtol", options->rtol, "relative tolerance; the catalog's where left out");
  app.add_option("--atol", options->atol, "absolute tolerance; the catalog's where left out");
  app.add_option("--seed", options->run.seed, "of random inputs; 0 where left out");
  app.add_option("--dtype", options->run.dtype, "element type; from the files where left out")
      ->type_name("TYPE");
  app.add_flag("--strict", options->strict, "a hazard is a failure: exit 3");
  app.add_flag("--json", options->json, "one JSON document on stdout");
  return [options](Terminal& terminal) { return run_kernel(*options, terminal); };
}

}  // namespace tilescope
