// tilescope exec [OPTIONS] -- PROGRAM ARGS...
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "app/descriptions.h"
#include "app/exec_server.h"
#include "app/files.h"
#include "app/gui.h"
#include "app/preflight.h"
#include "app/reports.h"
#include "app/scratch.h"
#include "app/searches.h"
#include "app/start_program.h"
#include "core/io/suppressions_file.h"

namespace tilescope {
namespace {

struct Options {
  std::vector<std::string> words;  // the program and its arguments
  std::string device = "b200", numerics = "exact", kernel, launches, schedule;
  std::vector<std::string> suppressions;
  std::string time = "chip";
  std::optional<std::int64_t> most, samples, waves;
  ExecOptions exec;
  bool json = false, preflight = false, gui = false, trusts_host = false;
};

Error wrong(std::string sentence) {
  return {ErrorKind::usage, std::move(sentence), ""};
}

// What is recorded, sampled and estimated, as far as it goes together.
std::optional<Error> read_views(Options& options) {
  ExecOptions& exec = options.exec;
  if (options.time != "chip" && options.time != "wall") {
    return wrong(fmt::format(
        "--time {}: chip (what is predicted of it) or wall (the clock of this machine).",
        options.time));
  }
  exec.wall_time = options.time == "wall";
  if (options.samples && *options.samples < 1) {
    return wrong(fmt::format("--sample-blocks {}: a number from 1 on.", *options.samples));
  }
  exec.samples = static_cast<std::uint64_t>(options.samples.value_or(0));
  if (options.waves && *options.waves < 0) {
    return wrong(fmt::format("--waves {}: a number from 0 (all) on.", *options.waves));
  }
  if (options.waves) exec.waves = static_cast<std::uint64_t>(*options.waves);
  const bool records = exec.profile.wanted() || !exec.capture.empty() || options.gui;
  if (exec.estimates && (records || exec.samples || exec.strict)) {
    return wrong(
        "--estimate runs a few blocks of each launch to see how long all would take: use it "
        "without "
        "--sample-blocks, --stats, --record, --trace, --capture, --gui and --strict.");
  }
  if (exec.samples && exec.profile.wanted()) {
    return wrong(
        "--sample-blocks leaves CTAs out, so that there is no time: use it without --stats, "
        "--record "
        "and --trace.");
  }
  if (options.gui && !has_display()) {
    return Error{ErrorKind::no_device,
                 "--gui opens the window where a launch fails, and there is no display here: "
                 "--capture DIR keeps the launch, for `tilescope run` or a window elsewhere.",
                 ""};
  }
  if (auto error = check_record_options(exec.profile, exec.end - exec.first == 1)) return error;
  if (!exec.capture.empty()) {
    std::error_code failed;
    std::filesystem::create_directories(exec.capture, failed);
    if (failed) {
      return Error{ErrorKind::unreadable,
                   fmt::format("--capture {}: the folder cannot be made: {}.", exec.capture,
                               failed.message()),
                   exec.capture};
    }
  }
  if (!exec.profile.trace.empty()) {
    exec.timeline = std::make_shared<ExecTimeline>(exec.profile.trace, exec.order.device.name);
  }
  return {};
}

std::optional<Error> read_options(Options& options) {
  ExecOptions& exec = options.exec;
  const Outcome<DeviceDescription> device = device_described(options.device);
  if (!device) return device.error();
  exec.order.device = *device;
  exec.device = options.device;
  if (options.numerics != "exact" && options.numerics != "fast") {
    return wrong(fmt::format("--numerics {}: exact (as the chip adds) or fast.", options.numerics));
  }
  exec.order.exact = options.numerics == "exact";
  if (!options.schedule.empty()) {
    Outcome<sim::Schedule> schedule = schedule_in(options.schedule);
    if (!schedule) return schedule.error();
    exec.order.schedule = std::move(*schedule);
  }
  if (!options.launches.empty() && !read_launches(options.launches, exec.first, exec.end)) {
    return wrong(
        fmt::format("--launches {}: FIRST:END, counted from 1; 3:5 is the third and the "
                    "fourth.",
                    options.launches));
  }
  const auto choose = [&](std::string_view option, const std::string& what) {
    if (what.empty()) return;
    exec.chosen += fmt::format("{}{} {}", exec.chosen.empty() ? "" : " ", option, what);
  };
  choose("--kernel", options.kernel);
  choose("--launches", options.launches);
  if (options.most && *options.most < 1) {
    return wrong(
        fmt::format("--max-instructions {}: a number from 1 on; without it there is no "
                    "limit.",
                    *options.most));
  }
  exec.most_instructions = static_cast<std::uint64_t>(options.most.value_or(0));
  if (!options.kernel.empty()) {
    try {
      exec.only.emplace(options.kernel);
    } catch (const std::regex_error&) {
      return wrong(fmt::format("--kernel {} is no regular expression.", options.kernel));
    }
  }
  for (const std::string& path : options.suppressions) {
    const Outcome<std::string> text = read_text(path);
    if (!text) return text.error();
    const Outcome<std::vector<Suppression>> rules = parse_suppressions(*text, path);
    if (!rules) return rules.error();
    auto& all = exec.telling.rules;
    all.insert(all.end(), rules->begin(), rules->end());
  }
  return read_views(options);
}

nlohmann::ordered_json to_json(const ExecCalls& program) {
  nlohmann::ordered_json kernels = nlohmann::ordered_json::array();
  const auto& figures = program.device().records().figures();
  for (const auto& [name, sum] : program.device().kernels()) {
    kernels.push_back({{"kernel", name},
                       {"launches", sum.launches},
                       {"unchecked", sum.unchecked},
                       {"warp_instructions", sum.instructions},
                       {"predicted_seconds", sum.seconds},
                       {"least_seconds_unchecked", sum.least},
                       {"launches_timed_by_waves", sum.by_waves},
                       {"faults", sum.faults},
                       {"hazards", sum.hazards},
                       {"notes", sum.notes},
                       {"blocks", sum.blocks},
                       {"blocks_run", sum.blocks_run},
                       {"not_judged", sum.doubted}});
    if (sum.here > 0) kernels.back()["seconds_to_simulate"] = sum.here;
    if (const auto stats = figures.find(name); stats != figures.end()) {
      kernels.back()["stats"] = json_of(stats->second.take());
    }
  }
  return {{"program", program.program()},
          {"launches", program.device().launches()},
          {"kernels", std::move(kernels)},
          {"reports", to_json(program.device().reports())}};
}

const Report* first_of(const ExecServer& server, Weight weight) {
  for (const auto& program : server.programs()) {
    for (const Report& report : program->device().reports()) {
      if (report.weight == weight) return &report;
    }
  }
  return nullptr;
}

// Of each kernel where its time went, all its launches together.
std::string figures_text(const SimulatedDevice& device) {
  std::string out;
  for (const auto& [name, sum] : device.records().figures()) {
    const std::string launching =
        sum.launches() > 1 && sum.launching() > 0
            ? fmt::format(", of whose time launching takes {}", sim::time_text(sum.launching()))
            : "";
    out +=
        fmt::format("\n\n{}: {} launch{}{}\n{}", name, sum.launches(),
                    sum.launches() == 1 ? "" : "es", launching, sim::text(sum.take(), source_line));
  }
  return out;
}

// Writes what was recorded on the way; nothing where all of it is there.
std::optional<Error> write_records(const Options& options, const ExecServer& server,
                                   Terminal& terminal) {
  std::uint64_t written = 0;
  for (const auto& program : server.programs()) {
    const ExecRecords& records = program->device().records();
    if (records.failure()) return records.failure();
    written += records.written();
  }
  const ProfileOptions& profile = options.exec.profile;
  if (!profile.record.empty()) {
    terminal.say(
        fmt::format("tilescope: wrote {} record{} to {}, for `tilescope compare` and "
                    "`tilescope explain`",
                    written, written == 1 ? "" : "s", profile.record));
  }
  if (const auto& timeline = options.exec.timeline) {
    if (auto error = timeline->write()) return error;
    terminal.say(
        fmt::format("tilescope: wrote {}: {} launches and copies, for "
                    "https://ui.perfetto.dev",
                    profile.trace, timeline->works()));
  }
  return {};
}

// The window before the launch that failed, in the order in which it did.
void open_failing(const Options& options, const ExecServer& server, Terminal& terminal) {
  for (const auto& program : server.programs()) {
    const std::string& folder = program->device().failing();
    if (folder.empty()) continue;
    GuiOptions gui;
    gui.open = fmt::format("{0}/kernel.ptx --launch {0}/launch.toml", folder);
    if (!options.schedule.empty()) gui.open += " --schedule " + options.schedule;
    if (options.exec.order.lazy) gui.open += " --lazy on";
    if (!options.exec.order.exact) gui.open += " --numerics fast";
    gui.commands = {"run"};
    open_window(gui, terminal);
    return;
  }
}

// What would silence all that was told.
std::string rules_of(const ExecServer& server) {
  std::vector<Report> all;
  for (const auto& program : server.programs()) {
    const auto& reports = program->device().reports();
    all.insert(all.end(), reports.begin(), reports.end());
  }
  return rules_for(all);
}

// What is not known of what the program and those that it started did; empty: all is.
std::string unknown_text(const Options& options, const ExecServer& server, bool others_ended) {
  for (const auto& program : server.programs()) {
    if (!program->is_lost()) continue;
    return fmt::format(
        "{} closed its connection to the device while it ran, as who closes files that are not its "
        "own does: what it asked for afterwards is not known.",
        program->program());
  }
  for (const auto& program : server.programs()) {
    if (const std::string& undone = program->device().undone(); !undone.empty()) return undone;
  }
  if (others_ended) return "";
  return fmt::format(
      "Processes that {} started go on after its end, and are not waited for: what they do on the "
      "device is not known.",
      options.words[0]);
}

// Which rules were needed, of all programs together.
nlohmann::ordered_json silenced_of(const ExecServer& server,
                                   const std::vector<Suppression>& rules) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < rules.size(); ++i) {
    std::uint64_t count = 0;
    for (const auto& program : server.programs()) {
      const auto& counts = program->device().silenced();
      count += i < counts.size() ? counts[i] : 0;
    }
    if (!count) continue;
    out.push_back({{"rule", rules[i].place}, {"reason", rules[i].reason}, {"count", count}});
  }
  return out;
}

// What is said when the program has ended, and with which code.
int finish(const Options& options, const ExecServer& server, int status, bool others_ended,
           Terminal& terminal) {
  bool failed = false;
  const std::string unknown = unknown_text(options, server, others_ended);
  for (const auto& program : server.programs()) {
    const SimulatedDevice& device = program->device();
    failed = failed || (device.faulted() && device.undone().empty()) ||
             (options.exec.strict && device.hazardous());
    if (device.launches() > 0 && !terminal.json()) {
      terminal.say(device.summary() + figures_text(device));
    }
  }
  // Not on stdout, which is the program's; names stay as a rule must have them.
  if (options.exec.telling.writes_rules && !terminal.json())
    fmt::print(stderr, "{}", rules_of(server));
  const std::optional<Error> unwritten = write_records(options, server, terminal);
  if (server.programs().empty()) {
    terminal.say(fmt::format(
        "tilescope: {} asked for no CUDA device: {}", options.words[0],
        std::getenv("CUDA_VISIBLE_DEVICES")
            ? fmt::format(
                  "it calls no CUDA driver, found another one first, or CUDA_VISIBLE_DEVICES={} "
                  "leaves it none.",
                  std::getenv("CUDA_VISIBLE_DEVICES"))
            : "it is none that calls the CUDA driver, or it found another driver first."));
  }
  const auto [own, ended] = end_of(options.words[0], status);
  if (!ended.empty()) terminal.say(ended);
  // What a program makes of launches that were ended early is no verdict.
  const int code = failed                   ? exit_code(ErrorKind::fault)
                   : !unknown.empty()       ? exit_code(ErrorKind::unsupported)
                   : unwritten              ? exit_code(unwritten->kind)
                   : options.exec.estimates ? 0
                                            : own;
  if (unwritten && !(terminal.json() && !failed)) {
    terminal.say("tilescope: " + unwritten->sentence);
  }
  if (!unknown.empty()) terminal.say("tilescope: " + unknown);
  if (terminal.json()) {
    nlohmann::ordered_json programs = nlohmann::ordered_json::array();
    for (const auto& program : server.programs()) programs.push_back(to_json(*program));
    nlohmann::ordered_json document = {{"ok", code == 0}};
    if (failed) {
      const Report* report = first_of(server, Weight::fault);
      if (!report) report = first_of(server, Weight::hazard);
      document["error"] = {{"kind", report ? name_of(report->weight) : "fault"},
                           {"sentence", report ? report->sentence : "A launch did not end."},
                           {"where", report ? text(report->site) : ""}};
    } else if (!unknown.empty()) {
      document["error"] = to_json(Error{ErrorKind::unsupported, unknown, ""});
    } else if (unwritten) {
      document["error"] = to_json(*unwritten);
    } else if (code != 0) {
      document["error"] = {{"kind", "program"},
                           {"sentence", fmt::format("{} ended with {}.", options.words[0], own)},
                           {"where", ""}};
    }
    document["program_exit"] = own;
    document["programs"] = std::move(programs);
    const auto& rules = options.exec.telling.rules;
    if (!rules.empty()) document["suppressed"] = silenced_of(server, rules);
    if (options.exec.telling.writes_rules) document["suppressions"] = rules_of(server);
    terminal.document(std::move(document));
  }
  return code;
}

int exec(Options options, Terminal& terminal) {
  if (const auto error = read_options(options)) return terminal.fail(*error);
  if (options.preflight) return preflight(options.words, options.exec.order.device, terminal);
  const Outcome<std::string> folder = library_folder("cuda", "The stand-in for the CUDA driver");
  if (!folder) return terminal.fail(folder.error());
  const Scratch scratch;
  if (options.gui) options.exec.failing = scratch.folder().string();
  const Outcome<std::unique_ptr<ExecServer>> server =
      ExecServer::open((scratch.folder() / "device").string(), options.exec, terminal);
  if (!server) return terminal.fail(server.error());
  watch_for_interrupt();
  StartPlan plan{options.words, *folder};
  // Machine code is of no use here: who can compile for one chip or to PTX is asked for PTX.
  std::string auditors = *folder + "/libtilescope_compilers.so";
  if (const char* others = std::getenv("LD_AUDIT")) auditors += std::string(":") + others;
  plan.variables = {{wire::socket_variable, (scratch.folder() / "device").string()},
                    {"LD_AUDIT", auditors},
                    {"CUPY_COMPILE_WITH_PTX", "1"}};
  // CuPy brings CUB as machine code, and as PTX for chips from 12.0 on; without it, it writes its
  // own kernels. What is set already stays.
  if (options.exec.order.device.major < 12 && !std::getenv("CUPY_ACCELERATORS")) {
    plan.variables.emplace_back("CUPY_ACCELERATORS", "");
  }
  if (options.trusts_host) plan.variables.emplace_back(wire::trusts_host_variable, "1");
  plan.stdout_is_ours = options.json;
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const Outcome<pid_t> child = start(plan);
  if (!child) return terminal.fail(child.error());
  const std::optional<int> status = (*server)->serve(*child);
  if (!status) {
    ::kill(*child, SIGINT);
    return terminal.fail(
        {ErrorKind::interrupted, fmt::format("{} was interrupted.", options.words[0]), ""});
  }
  // Whoever the program leaves behind is a child of this process, and so is the verdict on it.
  constexpr int soon = 50, patience = 3000;
  bool others_ended = (*server)->serve_others(soon);
  if (!others_ended && !interrupted()) {
    terminal.say(
        fmt::format("tilescope: {} has ended, and processes that it started go on: they "
                    "are waited for.",
                    options.words[0]));
    others_ended = (*server)->serve_others(patience);
  }
  const int code = finish(options, **server, *status, others_ended, terminal);
  if (options.gui) open_failing(options, **server, terminal);
  return code;
}

}  // namespace

Action define_exec(CommandOptions& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("PROGRAM", options->words,
                 "the program and its arguments, after -- so that its options are its own")
      .required();
  app.add_option("--device", options->device,
                 "the chip that it finds: a name (`tilescope list devices`) or a device file "
                 "(default b200)")
      .type_name("NAME|F.toml");
  app.add_flag("--strict", options->exec.strict, "a hazard is a failure: exit 3");
  app.add_option(
         "--kernel", options->kernel,
         "checks and times kernels whose names, mangled or not, match alone; all others run "
         "as well")
      .type_name("REGEX");
  app.add_option("--launches", options->launches,
                 "checks and times these launches alone, counted from 1: 3:5 is the third and the "
                 "fourth; all others run as well")
      .type_name("FIRST:END");
  app.add_option("--schedule", options->schedule,
                 "a randomised schedule, by its seed (0: the default schedule)")
      .type_name("N");
  app.add_flag("--lazy", options->exec.order.lazy,
               "asynchronous operations complete as late as PTX allows");
  app.add_option("--numerics", options->numerics,
                 "how tensor cores add: exact, as the chip does (default), or fast")
      .type_name("exact|fast");
  app.add_option("--max-instructions", options->most,
                 "ends a launch that wants to execute more PTX instructions by warps than N "
                 "(default: no limit)")
      .type_name("N");
  app.add_option(
         "--capture", options->exec.capture,
         "writes each checked launch as a folder of this one, which `tilescope run` and the "
         "window open")
      .type_name("DIR");
  app.add_flag("--stats", options->exec.profile.stats,
               "where the time went, of each kernel over its checked launches: busy units, stalls, "
               "bytes, the lines with most stalls");
  app.add_option("--trace", options->exec.profile.trace,
                 "all launches and copies of all streams in one timeline, with the trace of each "
                 "checked launch at its place, for https://ui.perfetto.dev or chrome://tracing")
      .type_name("F.json");
  app.add_option("--record", options->exec.profile.record,
                 "the record of each checked launch into a folder, or of one (--launches N) into a "
                 "file")
      .type_name("DIR|F.tsr");
  app.add_option("--record-limit", options->exec.profile.limit,
                 "room for the recorded events of a launch (default 64MiB); older events are "
                 "aggregated")
      .type_name("BYTES");
  app.add_option("--time", options->time,
                 "what events tell: the time that is predicted of the chip (default), or the time "
                 "that passes here")
      .type_name("chip|wall");
  app.add_option("--waves", options->waves,
                 "of a large launch N waves of CTAs are timed, as many as are on the chip at once "
                 "(0: all CTAs of every launch; 2 where nobody says)")
      .type_name("N");
  app.add_flag("--trust-host", options->trusts_host,
               "does not look for a host that uses managed or pinned memory before it has waited "
               "for what works on it, for which pages are protected");
  app.add_flag("--preflight", options->preflight,
               "runs nothing: which kernels the program and its libraries hold, and which of them "
               "run here; exit 1 where not all do");
  app.add_flag("--estimate", options->exec.estimates,
               "runs a few blocks of each launch, and says how long all would take; results mean "
               "nothing");
  app.add_option("--sample-blocks", options->samples,
                 "runs N blocks of each checked launch, as whole clusters from the first to the "
                 "last, for what they show; results mean nothing")
      .type_name("N");
  app.add_flag("--gui", options->gui,
               "opens the window on the first launch that faults (with --strict: or has a hazard)");
  app.add_option("--suppressions", options->suppressions,
                 "silences the hazards and notes that a file of rules names; may repeat")
      .type_name("F.toml");
  app.add_flag("--generate-suppressions", options->exec.telling.writes_rules,
               "prints a rule for each hazard and note that is told, at the end, to stderr");
  app.add_flag("--quiet", options->exec.quiet, "no line for each launch");
  app.add_flag("--verbose", options->exec.telling.verbose, "every report in full");
  app.add_flag("--json", options->json,
               "one JSON document on stdout at the end; what the program prints goes to stderr");
  return [options](Terminal& terminal) { return exec(*options, terminal); };
}

}  // namespace tilescope
