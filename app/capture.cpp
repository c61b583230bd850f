// tilescope capture [OPTIONS] -- PROGRAM ARGS...
#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/capture_calls.h"
#include "app/commands.h"
#include "app/scratch.h"
#include "app/start_program.h"

namespace tilescope {
namespace {

struct CaptureWords {
  std::vector<std::string> program;  // and its arguments
  std::string kernel, launches, driver;
  CaptureOptions capture;
  bool json = false;
};

// Of those that nobody has chosen: a program may launch for hours.
constexpr std::uint64_t most_unchosen = 100;

std::optional<Error> read_words(CaptureWords& words) {
  const auto wrong = [](std::string sentence) {
    return Error{ErrorKind::usage, std::move(sentence), ""};
  };
  CaptureOptions& capture = words.capture;
  if (words.launches.empty()) {
    capture.most = most_unchosen;
  } else if (!read_launches(words.launches, capture.first, capture.end)) {
    return wrong(
        fmt::format("--launches {}: FIRST:END, counted from 1; 3:5 is the third and the "
                    "fourth.",
                    words.launches));
  }
  if (!words.kernel.empty()) {
    try {
      capture.only.emplace(words.kernel);
    } catch (const std::regex_error&) {
      return wrong(fmt::format("--kernel {} is no regular expression.", words.kernel));
    }
  }
  return {};
}

// The driver that the program would find: by its path, as another of its name will be in front.
Outcome<std::string> real_driver(const std::string& named) {
  const std::string name = named.empty() ? "libcuda.so.1" : named;
  void* const library = ::dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
  link_map* map = nullptr;
  if (!library || ::dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 || !map) {
    const char* const why = ::dlerror();
    return Error{ErrorKind::no_device,
                 fmt::format("There is no CUDA driver to capture from: {}. On a machine without a "
                             "GPU `tilescope exec --capture DIR -- PROGRAM` runs the kernels on "
                             "the simulator.",
                             why ? why : name),
                 ""};
  }
  std::error_code error;
  const auto path = std::filesystem::canonical(map->l_name, error);
  return error ? std::string(map->l_name) : path.string();
}

nlohmann::ordered_json to_json(const Captures::Captured& one) {
  return {{"launch", one.number},
          {"kernel", one.kernel},
          {"folder", one.folder},
          {"returned", one.came_back},
          {"error", one.result}};
}

int finish(const CaptureWords& words, const Captures& captures, int status, Terminal& terminal) {
  const std::string& program = words.program[0];
  const auto [own, ended] = end_of(program, status);
  if (!ended.empty()) terminal.say(ended);
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  const Captures::Captured* first = nullptr;
  std::size_t count = 0;
  for (const Captures::Captured& one : captures.all) {
    if (one.dropped) continue;
    ++count;
    if (!first) first = &one;
    list.push_back(to_json(one));
    if (one.came_back) continue;
    terminal.say(
        fmt::format("tilescope: launch {}, {}, was captured as it began; it did not come "
                    "back.",
                    one.number, one.kernel));
  }
  if (captures.programs == 0) {
    terminal.say(
        fmt::format("tilescope: {} launched nothing: it is none that calls the CUDA "
                    "driver, or it found another driver first.",
                    program));
  } else if (!terminal.json()) {
    terminal.say(fmt::format("tilescope: {} of {} launch{} captured{}", count, captures.launches,
                             captures.launches == 1 ? "" : "es",
                             first ? fmt::format(" in {}; one of them runs with\n"
                                                 "  tilescope run {}/kernel.ptx --launch "
                                                 "{}/launch.toml",
                                                 words.capture.folder, first->folder, first->folder)
                                   : ""));
  }
  if (terminal.json()) {
    nlohmann::ordered_json document = {{"ok", own == 0}};
    if (own != 0) {
      document["error"] = {{"kind", "program"},
                           {"sentence", fmt::format("{} ended with {}.", program, own)},
                           {"where", ""}};
    }
    document["program_exit"] = own;
    document["launches"] = captures.launches;
    document["captured"] = std::move(list);
    terminal.document(std::move(document));
  }
  return own;
}

int capture(CaptureWords words, Terminal& terminal) {
  if (const auto error = read_words(words)) return terminal.fail(*error);
  const Outcome<std::string> folder =
      library_folder("cuda_capture", "What stands in front of the CUDA driver");
  if (!folder) return terminal.fail(folder.error());
  const Outcome<std::string> driver = real_driver(words.driver);
  if (!driver) return terminal.fail(driver.error());
  const Scratch scratch;
  const std::string socket = (scratch.folder() / "captures").string();
  Captures captures(words.capture, terminal);
  std::vector<std::unique_ptr<CaptureCalls>> processes;
  const Outcome<std::unique_ptr<SocketServer>> server =
      SocketServer::open(socket, [&](SocketServer::Peer peer) -> SocketServer::Answer {
        processes.push_back(std::make_unique<CaptureCalls>(std::move(peer.name), captures));
        return [calls = processes.back().get()](std::uint32_t what, std::string_view operands) {
          return calls->answer(what, operands);
        };
      });
  if (!server) return terminal.fail(server.error());
  watch_for_interrupt();
  StartPlan plan{words.program, *folder};
  plan.variables = {{wire::capture_socket_variable, socket},
                    {wire::capture_driver_variable, *driver},
                    {"CUPY_COMPILE_WITH_PTX", "1"}};
  plan.stdout_is_ours = words.json;
  const Outcome<pid_t> child = start(plan);
  if (!child) return terminal.fail(child.error());
  const std::optional<int> status = (*server)->serve(*child);
  if (!status) {
    ::kill(*child, SIGINT);
    return terminal.fail(
        {ErrorKind::interrupted, fmt::format("{} was interrupted.", words.program[0]), ""});
  }
  return finish(words, captures, *status, terminal);
}

}  // namespace

Action define_capture(CommandOptions& app) {
  const auto words = std::make_shared<CaptureWords>();
  app.add_option("PROGRAM", words->program,
                 "the program and its arguments, after -- so that its options are its own")
      .required();
  app.add_option("-o,--output", words->capture.folder,
                 "the folder that gets one for each launch (default captured)")
      .type_name("DIR");
  app.add_option("--kernel", words->kernel, "captures kernels whose names match alone")
      .type_name("REGEX");
  app.add_option("--launches", words->launches,
                 "captures these launches alone, counted from 1: 3:5 is the third and the fourth "
                 "(default: the first 100)")
      .type_name("FIRST:END");
  app.add_option("--driver", words->driver,
                 "the CUDA driver's library (default: the one that the program would find)")
      .type_name("FILE");
  app.add_flag("--quiet", words->capture.quiet, "no line for each launch");
  app.add_flag("--json", words->json,
               "one JSON document on stdout at the end; what the program prints goes to stderr");
  return [words](Terminal& terminal) { return capture(*words, terminal); };
}

}  // namespace tilescope
