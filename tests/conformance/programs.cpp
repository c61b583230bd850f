// The text programs of tests/sim/programs on a chip: what they promise was worked out by hand or by
// other programs, so a chip that keeps it confirms the text, and the simulator with it.
#include "tests/conformance/programs.h"

#include <fmt/format.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "kernels/gpu/device.h"
#include "tests/sim/program.h"

namespace tilescope::conformance {
namespace {

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> out;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().extension() == ".ptx") out.push_back(file.path().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

// Empty where everything is as the text says.
std::string difference(const test::SimProgram& p, const std::vector<Buffer>& buffers) {
  for (const test::Expectation& e : p.memory) {
    for (const Buffer& b : buffers) {
      if (b.name != e.buffer) continue;
      const auto at = std::mismatch(e.bytes.begin(), e.bytes.end(), b.bytes.begin()).first;
      if (at == e.bytes.end()) continue;
      const std::size_t width = bytes_of(b.dtype);
      const std::size_t element = static_cast<std::size_t>(at - e.bytes.begin()) / width;
      std::uint64_t wanted = 0, found = 0;
      std::memcpy(&wanted, e.bytes.data() + element * width, width);
      std::memcpy(&found, b.bytes.data() + element * width, width);
      return fmt::format("element {} of {}: the chip gives 0x{:x}, the text says 0x{:x}", element,
                         b.name, found, wanted);
    }
  }
  return "";
}

enum Told : int { equal, different, refused, no_gpu };

Told try_one(const test::SimProgram& p, const std::string& name) {
  const char* library = std::getenv("TILESCOPE_CUDA_DRIVER");
  auto device = gpu::GpuDevice::open(library ? library : "");
  if (!device) {
    fmt::print(stderr, "{}\n", device.error().sentence);
    return no_gpu;
  }
  auto execution = (*device)->start(p.job);
  if (!execution) {
    fmt::print("{}: {}\n", name, execution.error().sentence.substr(0, 300));
    return refused;
  }
  RunState state = RunState::running;
  while (state == RunState::running) state = (*execution)->advance(1'000'000);
  const std::string found =
      state == RunState::done ? difference(p, (*execution)->buffers()) : "a fault";
  if (found.empty()) return equal;
  fmt::print("{}: {}\n", name, found);
  return different;
}

// In a process of its own: what one program does to the driver is no matter of the next.
Told try_apart(const test::SimProgram& p, const std::string& name) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    const Told outcome = try_one(p, name);
    std::fflush(nullptr);
    _exit(outcome);
  }
  int status = 0;
  // What a chip does not come to the end of is not waited for.
  for (int waited = 0; child > 0 && waitpid(child, &status, WNOHANG) == 0; ++waited) {
    constexpr int most = 200;  // tenths of a second
    if (waited == most) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      fmt::print("{}: no end after {} s\n", name, most / 10);
      return different;
    }
    usleep(100'000);
  }
  if (child < 0 || !WIFEXITED(status)) {
    fmt::print("{}: the driver crashed\n", name);
    return refused;
  }
  return static_cast<Told>(WEXITSTATUS(status));
}

}  // namespace

int programs(const std::string& folder, const std::string& part) {
  std::size_t count[4] = {};
  for (const std::string& file : files_in(folder)) {
    if (std::filesystem::path(file).filename().string().find(part) == std::string::npos) continue;
    const test::SimProgram p = test::read_program(file);
    if (p.memory.empty() || !p.fault.empty() || !p.error.empty()) continue;
    const Told outcome = try_apart(p, std::filesystem::path(file).filename().string());
    if (outcome == no_gpu) return 4;
    ++count[outcome];
  }
  fmt::print("{} programs as their texts say, {} differ, {} not for this chip\n", count[equal],
             count[different], count[refused]);
  return count[different] ? 1 : 0;
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
