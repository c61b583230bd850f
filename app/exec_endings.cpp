#include "app/exec_endings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <vector>

#include "core/sim/machine/machine.h"

namespace tilescope {
namespace {

struct FaultAnswer {
  std::string_view kind;
  DriverResult result;
};

// What chips were seen to answer (docs/faults), and what the driver's names say; launch_failed for
// every other one.
constexpr FaultAnswer fault_answers[] = {
    {"assert", DriverResult::assert_failed},
    {"bad_branch", DriverResult::invalid_pc},
    {"bad_call", DriverResult::invalid_pc},
    {"bad_space", DriverResult::invalid_address_space},
    {"deadlock", DriverResult::launch_timeout},
    {"endless_loop", DriverResult::launch_timeout},
    {"misaligned", DriverResult::misaligned_address},
    {"out_of_bounds", DriverResult::illegal_address},
    {"read_only", DriverResult::illegal_address},
    {"stack_overflow", DriverResult::illegal_address},  // measured on an H200
    {"undefined_address", DriverResult::illegal_address},
};

}  // namespace

DriverResult result_of(std::string_view kind) {
  const auto found = std::find_if(std::begin(fault_answers), std::end(fault_answers),
                                  [&](const FaultAnswer& m) { return m.kind == kind; });
  return found == std::end(fault_answers) ? DriverResult::launch_failed : found->result;
}

std::string assertion_text(const Report& report, const Dim3& block) {
  constexpr std::string_view middle = ": assertion `", end = "` failed";
  const std::string& s = report.sentence;
  const std::size_t at = s.find(middle), to = s.rfind(end);
  if (at == s.npos || to == s.npos || to < at + middle.size()) return s;
  const std::uint32_t thread = report.site.warp * 32 + report.site.lane;
  const Dim3& b = report.site.block;
  return fmt::format("{}: block: [{},{},{}], thread: [{},{},{}] Assertion `{}` failed.",
                     s.substr(0, at), b.x, b.y, b.z, thread % block.x, thread / block.x % block.y,
                     thread / block.x / block.y,
                     s.substr(at + middle.size(), to - at - middle.size()));
}

bool may_wait_for_host(const Report& report, const ptx::Program& program,
                       const CapturedLaunch& launch) {
  unsigned first = 0, last = 0;
  const std::size_t at = report.sentence.find("between PTX lines ");
  if (report.kind != "endless_loop" || at == std::string::npos ||
      std::sscanf(report.sentence.c_str() + at, "between PTX lines %u and %u", &first, &last) !=
          2) {
    return false;
  }
  const auto reads = [&](const ptx::Instruction& i) {
    if (i.line < first || i.line > last) return false;
    const std::string_view name = sim::opcode_text(i.text);
    const bool own = name.find(".shared") != name.npos || name.find(".local") != name.npos ||
                     name.find(".param") != name.npos || name.find(".const") != name.npos;
    return !own && (name.substr(0, 3) == "ld." || name.substr(0, 5) == "atom.");
  };
  if (std::none_of(program.code.begin(), program.code.end(), reads)) return false;
  const std::vector<const sim::Region*> reached = reachable(launch);
  return std::any_of(reached.begin(), reached.end(), [](const sim::Region* r) {
    return r->about == "host memory" || r->about == "managed memory";
  });
}

}  // namespace tilescope
