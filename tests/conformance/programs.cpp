// The text programs of tests/sim/programs on a chip: what they promise was worked out by hand or by
// other programs, so a chip that keeps it confirms the text, and the simulator with it.
#include "tests/conformance/programs.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include "core/ptx/module.h"
#include "kernels/gpu/device.h"
#include "tests/sim/program.h"

namespace tilescope::conformance {
namespace {

using Clock = std::chrono::steady_clock;

// lost: the process of it came to no end of its own.
enum Told : int { equal, different, refused, other_chip, no_gpu, lost, told_kinds };

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> out;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().extension() == ".ptx") out.push_back(file.path().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

// The first elements that differ, and how many there are; empty where all is as the text says.
std::string difference(const test::SimProgram& p, const std::vector<Buffer>& buffers) {
  constexpr int listed = 4;
  std::string out;
  int differ = 0;
  for (const test::Expectation& e : p.memory) {
    for (const Buffer& b : buffers) {
      if (b.name != e.buffer) continue;
      const std::size_t width = bytes_of(b.dtype);
      for (std::size_t i = 0; i < e.bytes.size() / width; ++i) {
        std::uint64_t wanted = 0, found = 0;
        std::memcpy(&wanted, e.bytes.data() + i * width, width);
        std::memcpy(&found, b.bytes.data() + i * width, width);
        if (wanted == found || ++differ > listed) continue;
        out += fmt::format("; {}[{}] is 0x{:x}, the text says 0x{:x}", b.name, i, found, wanted);
      }
    }
  }
  return differ == 0 ? "" : fmt::format("{} elements differ{}", differ, out);
}

// One program and what became of it.
struct Try {
  std::string name;
  test::SimProgram program;
  Told told = lost;
  std::string text;
  pid_t child = -1;
  int output = -1;
  Clock::time_point since;
  bool killed = false;
};

std::string short_of(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text.substr(0, 200);
}

// In a child: what it prints is for the parent.
Told try_one(const test::SimProgram& p) {
  const char* library = std::getenv("TILESCOPE_CUDA_DRIVER");
  auto device = gpu::GpuDevice::open(library ? library : "");
  if (!device) {
    fmt::print("{}", device.error().sentence);
    return no_gpu;
  }
  const auto module = ptx::parse_module(p.job.program.name, p.job.program.ptx);
  if (module && gpu::unfit(module->parts.front().target, (*device)->chip())) return other_chip;
  auto execution = (*device)->start(p.job);
  if (!execution) {
    fmt::print("{}", short_of(execution.error().sentence));
    return refused;
  }
  RunState state = RunState::running;
  while (state == RunState::running) state = (*execution)->advance(1'000'000);
  if (state != RunState::done) {
    fmt::print("a fault: {}", (*execution)->reports().back().kind);
    return different;
  }
  const std::string found = difference(p, (*execution)->buffers());
  fmt::print("{}", found);
  return found.empty() ? equal : different;
}

// In a process of its own: what one program does to the driver is no matter of the next.
void start(Try& one) {
  int ends[2];
  if (pipe(ends) != 0) return;
  std::fflush(nullptr);
  one.since = Clock::now();
  one.child = fork();
  if (one.child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    const Told told = try_one(one.program);
    std::fflush(nullptr);
    _exit(told);  // the driver's own ending is not waited for
  }
  close(ends[1]);
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  one.output = ends[0];
}

// What it holds by now: a process that the driver began may keep it open.
std::string read_all(int from) {
  std::string out;
  char part[4096];
  for (ssize_t count = 0; (count = ::read(from, part, sizeof part)) > 0;) {
    out.append(part, static_cast<std::size_t>(count));
  }
  return out;
}

// Whether it has come to an end. What a chip does not come to the end of is killed after `seconds`,
// and what does not die of that within five more is left behind.
bool ended(Try& one, int seconds) {
  int status = 0;
  const pid_t found = one.child < 0 ? one.child : waitpid(one.child, &status, WNOHANG);
  const auto taken = Clock::now() - one.since;
  if (found == 0 && taken < std::chrono::seconds(seconds)) return false;
  if (found == 0 && !one.killed) {
    one.killed = true;
    kill(one.child, SIGKILL);
    return false;
  }
  if (found == 0 && taken < std::chrono::seconds(seconds + 5)) return false;
  if (found == one.child && WIFEXITED(status)) {
    one.told = static_cast<Told>(WEXITSTATUS(status));
    one.text = read_all(one.output);
  } else {
    one.told = one.killed ? different : lost;
    one.text = one.killed ? fmt::format("no end after {} s", seconds) : "the driver crashed";
  }
  if (one.output >= 0) close(one.output);
  return true;
}

// Some at once: most of the time goes into the driver's beginning. Each is told as it ends, so that
// what is known is told whatever becomes of the rest. How many differ; -1: no GPU.
int try_all(const std::string& what, std::vector<Try> all, int seconds) {
  constexpr std::size_t most_at_once = 8;
  const std::size_t at_once =
      std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, most_at_once);
  std::size_t count[told_kinds] = {};
  const auto over = [&](Try* one) {
    if (!ended(*one, seconds)) return false;
    if (one->told != equal && one->told != other_chip && count[no_gpu] == 0) {
      fmt::print(one->told == no_gpu ? stderr : stdout, "{}: {}\n", one->name, one->text);
    }
    ++count[one->told];
    return true;
  };
  std::vector<Try*> running;
  for (std::size_t next = 0; next < all.size() || !running.empty();) {
    if (count[no_gpu]) next = all.size();
    while (running.size() < at_once && next < all.size()) {
      start(all[next]);
      running.push_back(&all[next++]);
    }
    running.erase(std::remove_if(running.begin(), running.end(), over), running.end());
    usleep(10'000);
  }
  if (count[no_gpu]) return -1;
  const std::size_t differ = count[different] + count[lost];
  fmt::print("{}: {} as their texts say, {} differ, {} refused, {} for another chip\n", what,
             count[equal], differ, count[refused], count[other_chip]);
  return static_cast<int>(differ);
}

}  // namespace

int programs(const std::string& folder, const std::string& part) {
  std::vector<Try> sound, unsound;
  for (const std::string& file : files_in(folder)) {
    Try one;
    one.name = std::filesystem::path(file).filename().string();
    if (one.name.find(part) == std::string::npos) continue;
    one.program = test::read_program(file);
    const test::SimProgram& p = one.program;
    if (p.memory.empty() || !p.fault.empty() || !p.error.empty()) continue;
    (p.hazards.empty() && !p.in_turns ? sound : unsound).push_back(std::move(one));
  }
  const int differ = try_all("programs", std::move(sound), 20);
  if (differ < 0) return 4;
  // What these leave in memory is the simulator's own order, which a chip need not have.
  if (try_all("with hazards, or in an order of their own", std::move(unsound), 8) < 0) return 4;
  return differ ? 1 : 0;
}

int memory(const std::string& file) {
  const test::SimProgram p = test::read_program(file);
  const char* library = std::getenv("TILESCOPE_CUDA_DRIVER");
  auto device = gpu::GpuDevice::open(library ? library : "");
  if (!device) {
    fmt::print(stderr, "{}\n", device.error().sentence);
    return 4;
  }
  auto execution = (*device)->start(p.job);
  if (!execution) {
    fmt::print("{}: {}\n", file, execution.error().sentence);
    return 2;
  }
  RunState state = RunState::running;
  while (state == RunState::running) state = (*execution)->advance(1'000'000);
  for (const Report& r : (*execution)->reports()) fmt::print("{}\n", r.sentence);
  const Buffer& b = (*execution)->buffers().back();
  const std::size_t width = bytes_of(b.dtype);
  fmt::print("// expect: {} =", b.name);
  for (std::size_t at = 0; at < b.bytes.size(); at += width) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, b.bytes.data() + at, width);
    fmt::print(" 0x{:x}", bits);
  }
  fmt::print("\n");
  return state == RunState::done ? 0 : 3;
}

}  // namespace tilescope::conformance
