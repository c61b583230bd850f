// The device model: runs a grid of a decoded PTX entry, as the chip would, and says what is wrong.
//
//   Outcome<Machine> m = Machine::load(std::move(job));
//   while (m->run(1'000'000) == RunState::running) show(m->progress());
//
// run() executes about as many warp instructions as it is given and comes back: no thread, no
// callback. Calling it again goes on; not calling it again cancels. Everything that a run has
// become is in the Machine, by value: a copy of it is a checkpoint, and continuing a copy gives the
// same run, bit for bit.
//
// How it goes. Blocks start in order and stay resident until their threads have exited; a block
// that has used up its turn lets the next one go on, or start. Inside a block warps take turns,
// inside a warp its splits (core/sim/machine/state.h). Of the splits of a warp that are ready, the
// one that is furthest behind runs, so that they meet again (core/ptx/flow.cpp); but none waits for
// ever while another spins: every Options::split_turn instructions the one that waited longest
// runs. Nothing ready in a block whose threads have not all exited is a deadlock, and a fault.
//
// Asynchronous work (core/sim/async). Copies and products that go on by themselves are operations
// of their block with moments of their own; a warp's turn ends where one begins, so that moments
// come when they are due. Where all warps wait, the next one comes at once.
//
// Undefined values. A byte that nobody wrote is undefined, in registers and memory, and what is
// computed from it is, or what is written or not by it. That is no fault until it decides
// something: whether what others see happens, an address, which lanes take part; or until it lies
// in a buffer at the end.
//
// This is what others than the simulator's own files need: a run goes on, stops, is copied and says
// what has become of it. What is inside is a Model (core/sim/machine/model.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/ptx/program.h"
#include "core/run/job.h"
#include "core/sim/machine/options.h"
#include "core/sim/machine/stops.h"

namespace tilescope::sim {

class AccessLog;
class DeviceMemory;
class Model;
class Module;
class Region;
class SideBySide;
class BothWays;
struct Writer;

class Machine {
 public:
  // Reads and decodes the PTX, fits the launch and its arguments to the entry, lays out memory.
  static Outcome<Machine> load(Job job, Options options = {});
  // An entry of a module on the memory that the module lies in, which the machine has for itself
  // until it gives it back. `parameters`: the bytes of all of the entry's, each at its offset. What
  // is refused leaves the memory as it is.
  static Outcome<Machine> load(Module& module, DeviceMemory& memory, const Launch& launch,
                               std::vector<std::byte> parameters, Options options = {});
  // The memory as it is now; the machine has none from then on, and only says what has become of
  // it: reports, what was printed, time. `as`: what later launches call this one ("launch 3"),
  // where they read what it has left undefined.
  void give_back(DeviceMemory& memory, std::string_view as = "an earlier launch");
  // With Options::logs_accesses: what it has read and written so far; nothing is kept of it.
  AccessLog take_accesses();

  // A value: a copy goes on by itself, and is the same, bit for bit.
  Machine(const Machine& other);
  Machine(Machine&& other) noexcept;
  Machine& operator=(const Machine& other);
  Machine& operator=(Machine&& other) noexcept;
  ~Machine();

  RunState run(std::uint64_t budget);

  // ---- what has become of it ----
  RunState state() const;
  bool faulted() const { return state() == RunState::fault; }
  Progress progress() const;
  const std::vector<Report>& reports() const;
  // The buffers of the job with their bytes of now.
  std::vector<Buffer> buffers() const;
  // What the kernel printed (vprintf), in the order in which its lanes did.
  const std::string& printed() const;
  std::uint64_t instructions() const;
  std::uint64_t bytes() const;  // that a copy takes, about
  // Of a run that is over: how many threads ran its clusters (core/sim/machine/side_by_side.h).
  std::size_t threads() const;

  // ---- what runs ----
  const ptx::Program& program() const;
  const Launch& launch() const;
  const Options& options() const;
  const BarrierNames& barrier_names() const;
  // The job's buffers without their bytes, and where these are.
  const std::vector<Buffer>& shells() const;
  const Region& buffer(std::size_t index) const;

  // ---- where it stops besides (core/sim/machine/stops.h) ----
  void stop_at(StopAt at);
  Stops& stops();
  const Stops& stops() const;
  // Counts what a run is made of: instructions, moments of operations in flight, and that it is
  // done.
  std::uint64_t position() const;
  const Executed& last_executed() const;
  // Was it an instruction that brought the machine to its position?
  bool is_behind_instruction() const;

  // ---- time ----
  // Cycles since the launch, of the moment at hand; without a clock, instructions.
  double now() const;
  // The same once all blocks have exited: when the run was over, a little behind its last moment,
  // as its record has it.
  double end() const;
  // Whether all that comes before this cycle has happened. Clusters are behind each other by up to
  // a turn of the clock, and warps by some cycles: of what comes behind it some has, too.
  bool all_have_reached(double cycle) const;
  // What the run takes on the chip, launch and all; 0 without a clock.
  double seconds() const;
  // The share of that in which the device's memory is busy, 0 to 1.
  double memory_share() const;
  // From its beginning, in seconds: until a launch behind it may begin
  // (griddepcontrol.launch_dependents, by all CTAs; none: when it has ended), and until it first
  // waits for the one before it (griddepcontrol.wait; its end where it does not).
  std::optional<double> lets_begin_after() const;
  double waits_after() const;
  const DeviceTimes* times() const;  // of the chip whose clock it goes by; null: by none

  // ---- blocks and who did what ----
  const std::vector<Block>& blocks() const;  // the resident ones (core/sim/machine/state.h)
  // A block of the cluster of `block`, by its rank; null: there is none.
  const Block* member(const Block& block, std::uint32_t rank) const;
  std::uint32_t cluster_size() const;
  std::uint64_t wave() const;  // how many blocks there is room for at once
  // The cluster that a block of the grid belongs to, counted as the blocks of a grid of clusters
  // are; and whether all threads of a cluster's blocks have exited.
  std::uint64_t cluster_number(std::uint64_t block) const;
  bool has_exited(std::uint64_t cluster) const;
  // The block whose thread issued an operation that is in flight in `block`.
  const Block& issuer(const Block& block, const AsyncOperation& operation) const;
  Site site(const Block& block, std::uint32_t thread, std::uint32_t pc) const;
  Site site_of(Writer writer) const;
  // Who wrote this byte of this buffer last.
  std::optional<Site> writer(std::size_t buffer, std::size_t byte) const;

  // For files of core/sim.
  Model& model() { return *model_; }
  const Model& model() const { return *model_; }

 private:
  explicit Machine(std::unique_ptr<Model> model);
  RunState run_once(std::uint64_t budget);

  std::unique_ptr<Model> model_;
  // While clusters run side by side: the model stands at its start. A copy starts there.
  std::unique_ptr<SideBySide> beside_;
  // The start is kept, or something undefined has decided and is looked into.
  std::unique_ptr<BothWays> both_ways_;
};

// "ld.global.f32" of "@%p1 ld.global.f32 %f1, [%rd4];"
std::string_view opcode_text(std::string_view text);
// "lanes 0-3, 8"
std::string lanes_text(std::uint32_t lanes);

}  // namespace tilescope::sim
