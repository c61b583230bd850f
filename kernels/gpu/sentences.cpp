#include "kernels/gpu/sentences.h"

#include <fmt/format.h>

namespace tilescope::gpu {
namespace {

// The lines of the log that say what is wrong, on one line.
std::string errors_of(const std::string& log) {
  std::string out;
  std::size_t at = 0;
  while (at < log.size() && out.size() < 600) {
    const std::size_t end = std::min(log.size(), log.find('\n', at));
    const std::string line = log.substr(at, end - at);
    if (line.find_first_not_of(" \t\r") != std::string::npos) {
      out += (out.empty() ? "" : "; ") + line;
    }
    at = end + 1;
  }
  return out;
}

// What happened, and its stable name; `known` is false for a result that has no sentence here.
struct Fault {
  const char* kind;
  const char* sentence;
};

Fault fault_named(Result result) {
  switch (result) {
    case Result::illegal_address:
      return {"out_of_bounds", "a load or store went to an address where there is nothing"};
    case Result::misaligned_address:
      return {"misaligned", "a load or store went to an address that is no multiple of its size"};
    case Result::assert_failed:
      return {"assert", "an assertion of the kernel does not hold"};
    case Result::illegal_instruction:
      return {"illegal_instruction",
              "the kernel stopped at trap, or at an instruction that the chip does not execute so"};
    case Result::invalid_address_space:
      return {"wrong_space", "an instruction for one memory got an address in another"};
    case Result::invalid_pc:
      return {"invalid_pc", "a branch went to where there is no instruction"};
    case Result::hardware_stack_error:
      return {"stack_overflow", "the stack of a thread overflowed or is corrupt"};
    case Result::launch_timeout:
      return {"timeout", "the kernel ran for longer than the system lets one"};
    case Result::launch_failed:
      return {"launch_failed", "the kernel stopped at trap or at an exception of the chip"};
    case Result::launch_out_of_resources:
      return {"out_of_resources", "a CTA needs more registers or shared memory than an SM has"};
    case Result::invalid_cluster_size:
      return {"cluster_size", "the chip cannot run clusters of this size"};
    default:
      return {"launch_failed", "the kernel did not run to its end"};
  }
}

}  // namespace

Error not_loaded(const Driver& driver, const Chip& chip, const std::string& program, Result result,
                 const std::string& log) {
  const std::string said = errors_of(log);
  const std::string why =
      fmt::format("{}{}{}", driver.name_of(result), said.empty() ? "" : ": ", said);
  if (result == Result::unsupported_ptx_version) {
    return {ErrorKind::no_device,
            fmt::format("The CUDA driver (CUDA {}) is too old for the PTX version of {}: {}. "
                        "Install a newer driver, or use --on sim.",
                        driver.version_text(), program, why),
            program};
  }
  if (result == Result::no_binary_for_gpu || result == Result::jit_compiler_not_found) {
    return {ErrorKind::no_device,
            fmt::format("{} cannot be made into code for {}: {}.", program, chip.text(), why),
            program};
  }
  return {ErrorKind::unsupported, fmt::format("The CUDA driver refuses {}: {}.", program, why),
          program};
}

Report fault_of(const Driver& driver, const std::string& kernel, Result result) {
  const Fault fault = fault_named(result);
  Report report;
  report.kind = fault.kind;
  report.sentence = fmt::format(
      "On the GPU {}: {}. A GPU does not tell where; --on sim names the instruction and the thread",
      fault.sentence, driver.name_of(result));
  report.site.kernel = kernel;
  return report;
}

}  // namespace tilescope::gpu
