#include "app/exec_waves.h"

#include <algorithm>

#include "core/sim/machine/textures.h"

namespace tilescope {
namespace {

// Instructions of warps. What executes fewer is timed as a whole, as quickly.
constexpr std::uint64_t worth_while = 5'000'000;
// In the waves that are timed: what takes longer may be waiting for what never comes.
constexpr std::uint64_t most = 400'000'000;

// Whether it looks at the time, or other launches or clusters that are to begin hang on its own.
// (A CTA that waits for others waits for earlier ones, as on a chip, and these are timed.)
bool hangs_on_time(const ptx::Program& program) {
  const auto hangs = [&](const ptx::Instruction& i) {
    if (i.op == ptx::Op::griddepcontrol || i.op == ptx::Op::clusterlaunchcontrol) return true;
    const ptx::Operand* const operands = program.operands_of(i);
    return std::any_of(operands, operands + i.count,
                       [](const ptx::Operand& o) { return o.kind == ptx::Operand::Kind::special; });
  };
  return std::any_of(program.code.begin(), program.code.end(), hangs);
}

}  // namespace

std::optional<WaveTime> time_of_waves(
    sim::Module& module, const CapturedLaunch& launch, sim::Options options, std::uint64_t waves,
    const std::function<RunState(sim::Machine& machine, std::uint64_t most)>& run) {
  if (!waves || !options.clocked || options.recorder || launch.launch.cooperative) return {};
  const std::uint64_t blocks = launch.launch.grid.count();
  if (waves >= blocks) return {};
  // No chip has room for fewer than one CTA an SM: this asks for no copy of the memory.
  if (blocks <= 2 * waves * options.processors) return {};
  options.waves = static_cast<std::uint32_t>(std::min<std::uint64_t>(waves, 1u << 20));
  options.calculates = options.races = options.logs_accesses = false;
  sim::DeviceMemory memory = launch.memory;
  Outcome<sim::Machine> machine =
      sim::Machine::load(module, memory, launch.launch, launch.parameters, options);
  if (!machine || hangs_on_time(machine->program())) return {};
  const std::uint64_t wave = machine->wave(), timed = waves * wave;
  if (blocks <= 2 * timed) return {};
  if (launch.textures) sim::give_textures(*machine, *launch.textures);
  if (run(*machine, most) != RunState::done) return {};
  const double all = static_cast<double>(blocks) / static_cast<double>(timed);
  if (static_cast<double>(machine->instructions()) * all < worth_while) return {};
  return WaveTime{machine->seconds(), machine->memory_share(), waves, (blocks + wave - 1) / wave};
}

}  // namespace tilescope
