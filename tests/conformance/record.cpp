#include "tests/conformance/record.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <set>

#include "core/sim/machine/device.h"
#include "kernels/gpu/device.h"
#include "tests/conformance/cases.h"
#include "tests/conformance/compare.h"

namespace tilescope::conformance {
namespace {

Outcome<std::unique_ptr<gpu::GpuDevice>> open_chip() {
  const char* library = std::getenv("TILESCOPE_CUDA_DRIVER");
  return gpu::GpuDevice::open(library ? library : "");
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
  return text;
}

// What a driver says about text that it refuses, from its first error on.
std::string refusal(const Error& error) {
  std::string text = error.sentence;
  const std::size_t at = text.find("error   : ");
  if (at != std::string::npos) text = text.substr(at + 10, text.find("; ", at) - at - 10);
  for (char& c : text) {
    if (c == '\n' || c == '\t') c = ' ';
  }
  return text.substr(0, 80);
}

// What is written to the parent for each case: a line of the vectors with a mark before it.
namespace mark {
constexpr char equal = 'e', differs = 'd', refused = 'r', about = 'h';
}

// A fault takes the process's device with it: the next case is another child's.
constexpr int device_lost = 77;
// A child that tells nothing for so long is ended, and the case that it was at is told as refused.
constexpr int longest_case_ms = 60'000;

// One case on both devices; differences go to stdout. `lost`: by a fault on the chip.
std::string asked(gpu::GpuDevice& chip, const Case& c, bool& lost) {
  sim::SimDevice simulator;
  const std::string key = c.spelling.key();
  const auto answer = run(chip, *c.kernel);
  if (!answer) {
    lost = answer.error().kind == ErrorKind::fault;
    if (lost) fmt::print("{}: a fault on the chip: {}\n", key, answer.error().sentence);
    return mark::refused + line_of(key, {'-', {}, "", refusal(answer.error())});
  }
  const std::string line =
      line_of(key, answer_of(*c.kernel, *answer, bound_of(c.spelling) != nullptr));
  const auto simulated = run(simulator, *c.kernel);
  if (!simulated) {
    fmt::print("{}: the chip runs it, the simulator does not: {}\n", key,
               simulated.error().sentence);
    return mark::differs + line;
  }
  const Differences differences = compare(c.spelling, *c.kernel, *answer, *simulated);
  if (differences.lanes == 0) return mark::equal + line;
  fmt::print("{}: {} lanes differ\n", key, differences.lanes);
  for (const std::string& one : differences.first) fmt::print("    {}\n", one);
  return mark::differs + line;
}

// In a child: the cases from `from` on, one line each into the pipe.
int ask(const std::vector<Case>& cases, std::size_t from, std::FILE* pipe) {
  const auto chip = open_chip();
  if (!chip) {
    fmt::print(stderr, "{}\n", chip.error().sentence);
    return exit_code(chip.error().kind);
  }
  fmt::print(pipe, "{}{}, driver for CUDA {}\n", mark::about, (*chip)->chip().text(),
             (*chip)->driver().version_text());
  for (std::size_t i = from; i < cases.size(); ++i) {
    bool lost = false;
    fmt::print(pipe, "{}", asked(**chip, cases[i], lost));
    std::fflush(pipe);
    if (lost) return device_lost;
  }
  return 0;
}

struct Ended {
  bool crashed = false, silent = false;
  int exit_code = 0;
};

// Runs ask() in a child and hands its lines on.
template <class Take>
Ended in_child(const std::vector<Case>& cases, std::size_t from, Take take) {
  int ends[2];
  if (pipe(ends) != 0) return {false, false, 2};
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    std::FILE* out = fdopen(ends[1], "w");
    const int code = ask(cases, from, out);
    std::fclose(out);
    std::fflush(stdout);
    _exit(code);  // the driver's own ending is not waited for
  }
  close(ends[1]);
  std::string line;
  bool silent = false;
  for (char part[4096];;) {
    pollfd waited{ends[0], POLLIN, 0};
    if (poll(&waited, 1, longest_case_ms) == 0) {
      silent = true;
      kill(child, SIGKILL);
      break;
    }
    const ssize_t count = ::read(ends[0], part, sizeof part);
    if (count <= 0) break;
    for (const char c : std::string_view(part, static_cast<std::size_t>(count))) {
      line += c;
      if (c != '\n') continue;
      take(line);
      line.clear();
    }
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return {!WIFEXITED(status), silent, WIFEXITED(status) ? WEXITSTATUS(status) : 0};
}

int record_cases(const std::vector<Case>& cases, const std::string& file,
                 const std::string& commit) {
  std::size_t next = 0, equal = 0, differing = 0, refused = 0, crashed = 0;
  std::string chip, lines;
  const auto take = [&](const std::string& line) {
    if (line[0] == mark::about) {
      chip = line.substr(1, line.size() - 2);
      return;
    }
    ++(line[0] == mark::equal ? equal : line[0] == mark::differs ? differing : refused);
    lines += line.substr(1);
    ++next;
  };
  while (next < cases.size()) {
    const Ended ended = in_child(cases, next, take);
    if (ended.exit_code == device_lost) continue;
    if (!ended.crashed && ended.exit_code != 0) {
      if (next == 0) return ended.exit_code;
      fmt::print("no GPU any more: {} of {} are told\n", next, cases.size());
      break;
    }
    if (!ended.crashed) break;
    ++crashed;
    const char* why = ended.silent ? "no end after 60 s" : "the assembler crashes";
    if (ended.silent) fmt::print("{}: {}\n", cases[next].spelling.key(), why);
    lines += line_of(cases[next++].spelling.key(), {'-', {}, "", why});
  }
  fmt::print("{} equal, {} differ, {} refused by the chip's assembler, {} crash it\n", equal,
             differing, refused, crashed);
  // Read and written again, sorted and with the refusals together.
  Outcome<Vectors> kept = read_vectors(write({chip, today(), commit, {}}) + lines);
  std::ofstream out(file);
  if (kept) out << write(*kept);
  return !kept || !out ? 2 : differing ? 1 : 0;
}

}  // namespace

int record(const std::string& file, const std::string& commit, const std::string& part) {
  std::vector<Case> cases;
  each_case(part, [&](Case c) {
    if (c.kernel) cases.push_back(std::move(c));
  });
  return record_cases(cases, file, commit);
}

int record_missing(const std::string& file, const std::string& commit,
                   const std::vector<std::string>& known) {
  std::set<std::string, std::less<>> answered;
  for (const std::string& name : known) {
    const Outcome<Vectors> vectors = vectors_in(name);
    if (!vectors) {
      fmt::print(stderr, "{}: {}\n", name, vectors.error().sentence);
      return 2;
    }
    for (const auto& [key, answer] : vectors->answers) answered.insert(key);
  }
  std::vector<Case> cases;
  each_case("", [&](Case c) {
    if (c.kernel && answered.count(c.spelling.key()) == 0) cases.push_back(std::move(c));
  });
  return record_cases(cases, file, commit);
}

int answers(const std::string& part) {
  const auto chip = open_chip();
  if (!chip) {
    fmt::print(stderr, "{}\n", chip.error().sentence);
    return exit_code(chip.error().kind);
  }
  each_case(part, [&](const Case& c) {
    const auto answer = c.kernel ? run(**chip, *c.kernel)
                                 : Error{ErrorKind::unsupported, "there is no kernel for it", ""};
    if (!answer) {
      fmt::print("{}: {}\n", c.spelling.key(), answer.error().sentence);
      return;
    }
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      fmt::print("{}", c.spelling.key());
      for (std::size_t i = 0; i < c.kernel->operands.size(); ++i) {
        fmt::print(" {:#x}", operand(c.kernel->key, c.kernel->operands, i, lane));
      }
      fmt::print(" ->");
      for (const std::uint64_t v : c.kernel->values(*answer, lane)) fmt::print(" {:#x}", v);
      fmt::print("\n");
    }
  });
  return 0;
}

}  // namespace tilescope::conformance
