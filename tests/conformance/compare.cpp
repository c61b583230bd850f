#include "tests/conformance/compare.h"

#include <fmt/format.h>

#include <algorithm>

namespace tilescope::conformance {
namespace {

constexpr std::size_t told = 3;  // differences of one kernel

std::vector<std::uint64_t> operands_of(const Kernel& kernel, std::uint32_t lane) {
  std::vector<std::uint64_t> out;
  for (std::size_t i = 0; i < kernel.operands.size(); ++i) {
    out.push_back(operand(kernel.key, kernel.operands, i, lane));
  }
  return out;
}

// One lane: what is wrong with the simulator's values beside the chip's; empty where nothing is.
std::string wrong(const Spelling& spelling, const Kernel& kernel, std::uint32_t lane,
                  const std::vector<std::uint64_t>& chip,
                  const std::vector<std::uint64_t>& simulator) {
  const Bound* bound = bound_of(spelling);
  if (!bound) return chip == simulator ? "" : "the bits differ";
  const std::vector<std::uint64_t> operands = operands_of(kernel, lane);
  std::string why = outside(*bound, spelling, operands, simulator.at(0));
  if (!why.empty()) return "the simulator's is out of bounds: " + why;
  why = outside(*bound, spelling, operands, chip.at(0));
  if (!why.empty()) return "the chip's is out of bounds: " + why;
  return disagree(spelling, operands, chip.at(0), simulator.at(0));
}

void add(Differences& out, std::string sentence) {
  ++out.lanes;
  if (out.first.size() < told) out.first.push_back(std::move(sentence));
}

}  // namespace

Outcome<std::vector<Buffer>> run(Device& device, const Kernel& kernel, std::vector<Report>* told) {
  Outcome<std::unique_ptr<Execution>> execution = device.start(kernel.job());
  if (!execution) return execution.error();
  RunState state = RunState::running;
  while (state == RunState::running) state = (*execution)->advance(1u << 20);
  if (state == RunState::fault) {
    const Report& fault = (*execution)->reports().back();
    return Error{ErrorKind::fault, fault.sentence, text(fault.site)};
  }
  if (told) *told = (*execution)->reports();
  return (*execution)->buffers();
}

std::string difference(const Kernel& kernel, std::uint32_t lane,
                       const std::vector<std::uint64_t>& chip,
                       const std::vector<std::uint64_t>& simulator) {
  std::string out = fmt::format("lane {}:", lane);
  const std::vector<std::uint64_t> operands = operands_of(kernel, lane);
  for (std::size_t i = 0; i < operands.size(); ++i) out += fmt::format(" {:#x}", operands[i]);
  const auto list = [](const std::vector<std::uint64_t>& values) {
    std::string text;
    for (const std::uint64_t v : values) text += fmt::format(" {:#x}", v);
    return text;
  };
  return out + fmt::format(": the chip gives{}, the simulator{}", list(chip), list(simulator));
}

Differences compare(const Spelling& spelling, const Kernel& kernel, const std::vector<Buffer>& chip,
                    const std::vector<Buffer>& simulator) {
  Differences out;
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    const std::vector<std::uint64_t> a = kernel.values(chip, lane);
    const std::vector<std::uint64_t> b = kernel.values(simulator, lane);
    const std::string why = wrong(spelling, kernel, lane, a, b);
    if (!why.empty()) add(out, fmt::format("{}; {}", difference(kernel, lane, a, b), why));
  }
  return out;
}

Differences compare(const Spelling& spelling, const Kernel& kernel, const Answer& chip,
                    const std::vector<Buffer>& simulator) {
  Differences out;
  for (std::size_t i = 0; keeps_raw(kernel) && i < kept_lanes.size(); ++i) {
    const std::uint32_t lane = kept_lanes[i];
    const std::vector<std::uint64_t> a = kept(kernel, chip, i);
    const std::vector<std::uint64_t> b = kernel.values(simulator, lane);
    const std::string why =
        a.size() == b.size() ? wrong(spelling, kernel, lane, a, b) : "it has other results now";
    if (!why.empty()) add(out, fmt::format("{}; {}", difference(kernel, lane, a, b), why));
  }
  if (const Bound* bound = bound_of(spelling)) {
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      const std::vector<std::uint64_t> b = kernel.values(simulator, lane);
      const std::string why = outside(*bound, spelling, operands_of(kernel, lane), b.at(0));
      if (!why.empty()) add(out, fmt::format("lane {}: {:#x}: {}", lane, b.at(0), why));
    }
    return out;
  }
  const Answer now = answer_of(kernel, simulator, false);
  for (std::uint32_t batch = 0; batch < batches; ++batch) {
    if (now.hashes[batch] == chip.hashes[batch]) continue;
    add(out, fmt::format("some of lanes {} to {} differ; `conformance record` on a chip names them",
                         batch * batch_lanes, (batch + 1) * batch_lanes - 1));
  }
  return out;
}

}  // namespace tilescope::conformance
