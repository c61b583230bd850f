// tilescope exec [OPTIONS] -- PROGRAM ARGS...
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "app/descriptions.h"
#include "app/exec_server.h"
#include "app/files.h"
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
  std::optional<std::int64_t> most;
  ExecOptions exec;
  bool json = false;
};

std::optional<Error> read_options(Options& options) {
  ExecOptions& exec = options.exec;
  const auto wrong = [](std::string sentence) {
    return Error{ErrorKind::usage, std::move(sentence), ""};
  };
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
  return {};
}

nlohmann::ordered_json to_json(const ExecCalls& program) {
  nlohmann::ordered_json kernels = nlohmann::ordered_json::array();
  for (const auto& [name, sum] : program.device().kernels()) {
    kernels.push_back({{"kernel", name},
                       {"launches", sum.launches},
                       {"unchecked", sum.unchecked},
                       {"warp_instructions", sum.instructions},
                       {"predicted_seconds", sum.seconds},
                       {"faults", sum.faults},
                       {"hazards", sum.hazards},
                       {"notes", sum.notes}});
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

// What is said when the program has ended, and with which code.
int finish(const Options& options, const ExecServer& server, int status, Terminal& terminal) {
  bool failed = false;
  for (const auto& program : server.programs()) {
    const SimulatedDevice& device = program->device();
    failed = failed || device.faulted() || (options.exec.strict && device.hazardous());
    if (device.launches() > 0 && !terminal.json()) terminal.say(device.summary());
  }
  if (server.programs().empty()) {
    terminal.say(fmt::format(
        "tilescope: {} asked for no CUDA device: it is none that calls the CUDA driver, or it "
        "found another driver first.",
        options.words[0]));
  }
  const auto [own, ended] = end_of(options.words[0], status);
  if (!ended.empty()) terminal.say(ended);
  const int code = failed ? exit_code(ErrorKind::fault) : own;
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
  const Outcome<std::string> folder = library_folder("cuda", "The stand-in for the CUDA driver");
  if (!folder) return terminal.fail(folder.error());
  const Scratch scratch;
  const Outcome<std::unique_ptr<ExecServer>> server =
      ExecServer::open((scratch.folder() / "device").string(), options.exec, terminal);
  if (!server) return terminal.fail(server.error());
  watch_for_interrupt();
  StartPlan plan{options.words, *folder};
  // Machine code is of no use here: who can compile for one chip or to PTX is asked for PTX.
  plan.variables = {{wire::socket_variable, (scratch.folder() / "device").string()},
                    {"CUPY_COMPILE_WITH_PTX", "1"}};
  plan.stdout_is_ours = options.json;
  const Outcome<pid_t> child = start(plan);
  if (!child) return terminal.fail(child.error());
  const std::optional<int> status = (*server)->serve(*child);
  if (!status) {
    ::kill(*child, SIGINT);
    return terminal.fail(
        {ErrorKind::interrupted, fmt::format("{} was interrupted.", options.words[0]), ""});
  }
  return finish(options, **server, *status, terminal);
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
