// Operations in flight (core/sim/async/operation.h): from their issue through their moments to
// their end. Keeps nothing: they are in the Flight of their block.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/sim/machine/code.h"

namespace tilescope::sim {

class Flights {
 public:
  explicit Flights(Model& model) : model_(&model) {}

  // ---- for handlers ----
  // Puts an operation in flight for a lane of the warp at hand; false: it must not begin, which was
  // reported. The turn ends behind this instruction.
  bool issue(Core& x, int lane, AsyncOperation operation);
  // The same in flight in another block of the cluster, whose memory it writes.
  bool issue(Core& x, int lane, Block& block, AsyncOperation operation);
  // The same, using memory of a further block of the cluster, as `guard` says.
  bool issue(Core& x, int lane, Block& block, AsyncOperation operation, Block& other,
             AsyncOperation guard);
  // A thread waits for its bulk groups with numbers below `limit`. False: they are not far enough.
  bool await_groups(Block& block, std::uint32_t thread, std::uint32_t limit, bool reads_only);
  // A thread accesses a block's shared memory while something is in flight there: a fault where
  // they collide.
  void check_access(Core& x, Block& block, const MemoryAccess& access);
  void spoil_mbarriers(Block& block, const Range& bytes, std::uint32_t thread, std::uint32_t pc);
  // The warp's turn ends behind this instruction: it can but try again.
  void end_turn(Core& x);
  // Whether the first of a pair to come to a step of both waits for the other one there.
  bool waits_for_pair();
  // Whether a try_wait answers at once that it is not complete: with --schedule some do.
  bool gives_up_waiting();
  // The rest of an operation's moments come now, as the obvious order has it. False: they may not:
  // it is held up, or it is to be late (--lazy).
  bool finish(Block& block, std::uint64_t number);
  // What an operation used is free again, for those who have seen `by` up to `epoch`.
  void settle(AsyncOperation& operation, Agent by, std::uint32_t epoch, bool reads_only = false);

  // ---- for who goes on next ----
  // An instruction that issues is executed, and counted: from now on goes the time of its
  // operations.
  void begin_delays(Block& block);
  std::uint64_t until_due(const Block& block) const;  // instructions; at least 1
  // All moments whose time has come, or those up to where the run is to stop. False: a fault.
  bool come_due(Block& block);
  // The next moment of an operation. False: a fault.
  bool advance(Block& block, std::size_t operation);
  bool is_held_up(const Block& block, const AsyncOperation& operation) const;
  // Nobody can go on: the next moment comes now. False: there is none, or a fault was reported.
  bool hasten(Block& block);
  bool hasten_wanted(Block& block);
  // The time limits of those in a try_wait are over. False: nobody is, or it did not help.
  bool time_out(Block& block);
  // The block's threads have all exited. False: something is in flight that needs them.
  bool land(Block& block);

 private:
  std::uint64_t delay(const Block& block, const AsyncOperation& operation);
  bool check_operands(Core& x, int lane, Block& block, AsyncOperation& operation);
  bool collides(Core& x, Block& block, const MemoryAccess& access, const AsyncOperation& operation,
                const Range& range, bool written);
  static bool is_same_copy(const AsyncOperation& operation, const AsyncOperation& other);
  void tell_copied_twice(Core& x, const Block& block, const AsyncOperation& operation,
                         const AsyncOperation& other);
  static bool is_race_with_store(Core& x, const Block& block, const AsyncOperation& operation);
  void let_store_read(Block& block, const AsyncOperation& operation);
  bool arrives_too_late(const Block& by, const AsyncOperation& operation, std::uint32_t rank);
  void end_guards(Block& block, AsyncOperation& operation);
  bool signal_completion(Block& block, const AsyncOperation& operation);
  bool leave_to_peer(const Block& block, const AsyncOperation& operation);
  void settle_there(Block& block, AsyncOperation& operation);
  static void wake_groups(Block& block, std::uint32_t warp);

  Model* model_;
};

}  // namespace tilescope::sim
