// tilescope exec [OPTIONS] -- PROGRAM ARGS...
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
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
#include "app/process.h"
#include "app/reports.h"
#include "app/scratch.h"
#include "app/searches.h"
#include "core/io/suppressions_file.h"

extern char** environ;

namespace tilescope {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::vector<std::string> words;  // the program and its arguments
  std::string device = "b200", numerics = "exact", kernel, launches, schedule;
  std::vector<std::string> suppressions;
  std::string time = "chip";
  std::optional<std::int64_t> most, samples;
  ExecOptions exec;
  bool json = false, preflight = false, gui = false;
};

// "3:5": launches 3 and 4, counted from 1; "3:" all from there on; "3" that one.
bool read_launches(std::string_view text, ExecOptions& out) {
  const auto number = [](std::string_view digits, std::uint64_t& value) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc() && end == digits.data() + digits.size() && value > 0;
  };
  const std::size_t colon = text.find(':');
  std::uint64_t first = 1, end = 0;
  if (colon == std::string_view::npos) {
    if (!number(text, first)) return false;
    end = first + 1;
  } else {
    const std::string_view a = text.substr(0, colon), b = text.substr(colon + 1);
    if (!a.empty() && !number(a, first)) return false;
    if (b.empty()) {
      end = ~std::uint64_t{0};
    } else if (!number(b, end) || end <= first) {
      return false;
    }
  }
  out.first = first - 1;
  out.end = end == ~std::uint64_t{0} ? end : end - 1;
  return true;
}

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
  if (!options.launches.empty() && !read_launches(options.launches, exec)) {
    return wrong(
        fmt::format("--launches {}: FIRST:END, counted from 1; 3:5 is the third and the "
                    "fourth.",
                    options.launches));
  }
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

// Where the stand-in for the driver lies: beside the program that was built, or as it was
// installed.
Outcome<std::string> standin_folder() {
  std::error_code error;
  const fs::path own = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& folder : {own / "cuda", own / TILESCOPE_STANDIN_FOLDER}) {
    if (fs::exists(folder / "libcuda.so.1", error)) return folder.lexically_normal().string();
  }
  return Error{ErrorKind::unreadable,
               fmt::format("The stand-in for the CUDA driver, libcuda.so.1, is not in {}: this "
                           "tilescope is not whole. Build or install it anew.",
                           (own / "cuda").string()),
               ""};
}

Outcome<pid_t> start(const Options& options, const std::string& folder, const std::string& socket) {
  const std::string& name = options.words[0];
  const std::string path = name.find('/') == std::string::npos ? on_path(name) : name;
  if (path.empty()) {
    return Error{ErrorKind::unknown,
                 fmt::format("There is no program {} in the folders of PATH; one in this folder is "
                             "./{}.",
                             name, name),
                 name};
  }
  std::vector<std::string> variables;
  std::string libraries = "LD_LIBRARY_PATH=" + folder;
  for (char** each = environ; *each; ++each) {
    const std::string_view line = *each;
    if (line.starts_with("LD_LIBRARY_PATH=")) {
      libraries += ":" + std::string(line.substr(line.find('=') + 1));
    } else if (!line.starts_with(std::string(wire::socket_variable) + "=")) {
      variables.emplace_back(line);
    }
  }
  variables.push_back(libraries);
  variables.push_back(fmt::format("{}={}", wire::socket_variable, socket));
  // Machine code is of no use here: who can compile for one chip or to PTX is asked for PTX.
  variables.push_back("CUPY_COMPILE_WITH_PTX=1");
  const auto pointers = [](std::vector<std::string>& lines) {
    std::vector<char*> out;
    for (std::string& line : lines) out.push_back(line.data());
    out.push_back(nullptr);
    return out;
  };
  std::vector<std::string> words = options.words;
  posix_spawn_file_actions_t files;
  posix_spawnattr_t how;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&how);
  // Under --json stdout is the document's.
  if (options.json) posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
  sigset_t none, usual;
  sigemptyset(&none);
  sigemptyset(&usual);
  for (int signal : {SIGINT, SIGPIPE, SIGTERM}) sigaddset(&usual, signal);
  posix_spawnattr_setsigmask(&how, &none);
  posix_spawnattr_setsigdefault(&how, &usual);
  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t process = 0;
  const int failed = posix_spawn(&process, path.c_str(), &files, &how, pointers(words).data(),
                                 pointers(variables).data());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&how);
  if (failed) {
    return Error{ErrorKind::unreadable,
                 fmt::format("{} cannot be started: {}.", path, std::strerror(failed)), path};
  }
  return process;
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

// What is said when the program has ended, and with which code.
int finish(const Options& options, const ExecServer& server, int status, Terminal& terminal) {
  bool failed = false;
  for (const auto& program : server.programs()) {
    const SimulatedDevice& device = program->device();
    failed = failed || device.faulted() || (options.exec.strict && device.hazardous());
    if (device.launches() > 0 && !terminal.json()) {
      terminal.say(device.summary() + figures_text(device));
    }
  }
  const std::optional<Error> unwritten = write_records(options, server, terminal);
  if (server.programs().empty()) {
    terminal.say(fmt::format(
        "tilescope: {} asked for no CUDA device: it is none that calls the CUDA driver, or it "
        "found another driver first.",
        options.words[0]));
  }
  const int own = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (WIFSIGNALED(status)) {
    terminal.say(fmt::format("tilescope: {} was ended by signal {}, {}.", options.words[0],
                             WTERMSIG(status), strsignal(WTERMSIG(status))));
  }
  // What a program makes of launches that were ended early is no verdict.
  const int code = failed                   ? exit_code(ErrorKind::fault)
                   : unwritten              ? exit_code(unwritten->kind)
                   : options.exec.estimates ? 0
                                            : own;
  if (unwritten && !(terminal.json() && !failed)) {
    terminal.say("tilescope: " + unwritten->sentence);
  }
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
    } else if (unwritten) {
      document["error"] = to_json(*unwritten);
    } else if (code != 0) {
      document["error"] = {{"kind", "program"},
                           {"sentence", fmt::format("{} ended with {}.", options.words[0], own)},
                           {"where", ""}};
    }
    document["program_exit"] = own;
    document["programs"] = std::move(programs);
    terminal.document(std::move(document));
  }
  return code;
}

int exec(Options options, Terminal& terminal) {
  if (const auto error = read_options(options)) return terminal.fail(*error);
  if (options.preflight) return preflight(options.words, options.exec.order.device, terminal);
  const Outcome<std::string> folder = standin_folder();
  if (!folder) return terminal.fail(folder.error());
  const Scratch scratch;
  if (options.gui) options.exec.failing = scratch.folder().string();
  const Outcome<std::unique_ptr<ExecServer>> server =
      ExecServer::open((scratch.folder() / "device").string(), options.exec, terminal);
  if (!server) return terminal.fail(server.error());
  watch_for_interrupt();
  const Outcome<pid_t> child = start(options, *folder, (scratch.folder() / "device").string());
  if (!child) return terminal.fail(child.error());
  const std::optional<int> status = (*server)->serve(*child);
  if (!status) {
    ::kill(*child, SIGINT);
    return terminal.fail(
        {ErrorKind::interrupted, fmt::format("{} was interrupted.", options.words[0]), ""});
  }
  const int code = finish(options, **server, *status, terminal);
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
  app.add_option("--kernel", options->kernel,
                 "checks and times kernels whose names match alone; all others run as well")
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
               "prints a rule for each hazard and note that is told");
  app.add_flag("--quiet", options->exec.quiet, "no line for each launch");
  app.add_flag("--verbose", options->exec.telling.verbose, "every report in full");
  app.add_flag("--json", options->json,
               "one JSON document on stdout at the end; what the program prints goes to stderr");
  return [options](Terminal& terminal) { return exec(*options, terminal); };
}

}  // namespace tilescope
