// What happens, as the record has it (core/record), and when phases were complete: the clock needs
// that too. Of machines that have neither a clock nor a record nothing is kept.
#pragma once

#include <cstdint>
#include <vector>

#include "core/record/own_recorder.h"
#include "core/record/record.h"
#include "core/sim/machine/code.h"
#include "core/sim/tcgen05/tensor_memory.h"

namespace tilescope::sim {

struct Copy;
struct RecordedCopies;

class Recording {
 public:
  explicit Recording(Model& model) : model_(&model) {}
  Recording(Model& model, const Recording& other) : Recording(other) { model_ = &model; }

  void begin(Recorder* to) { recorder_ = to; }
  Recorder* recorder() const { return recorder_; }
  // Who does what happens now: of the record.
  void is_by(EventId actor) { actor_ = actor; }

  // ---- the run, its blocks and their warps ----
  void begin_record();
  void finish_record();
  void start_time(Block& block);
  void begin_run(Block& block, Warp& warp, std::uint32_t pc);
  void end_run(Block& block, Warp& warp);
  void end_wait(Block& block, Warp& warp);
  void record_turn_begin(Block& block, Warp& warp);
  void record_turn_end(Block& block, Warp& warp);
  // What a warp was stalled by, and what it moves from or to TMEM.
  void record_stall(Block& block, Warp& warp, Stall stall, std::uint32_t pc, double from,
                    double to);
  void record_move(const Core& x, Unit unit, std::uint64_t bytes,
                   const std::vector<CellRange>& cells, double from, double to);

  // What lanes of a warp access; of global memory and of shared memory by their addresses.
  bool keeps_accesses(const Core& x) const;
  void record_access(const Core& x, WarpAccess access, const std::uint64_t* addresses, double from,
                     double to);
  void record_shuffle(const Core& x, const Code& c, Mask m, double from, double to);

  // ---- cp.async (recorded_copies.cpp) ----
  // Lanes of a warp begin a copy; what they have begun is a group of this number; and they have
  // waited for all groups of lower numbers than this.
  void record_copy(Core& x, const Copy& copy);
  void record_group(Core& x, std::uint32_t number);
  void record_group_wait(Core& x, std::uint32_t below);

  // ---- phases ----
  static std::uint64_t phase_key(Unit unit, std::uint32_t object);
  // A phase of a barrier of the block is complete now, and those who wait know it `later`; a warp
  // has found an mbarrier's phase complete.
  void note_phase(Block& block, Unit unit, std::uint32_t object, double later);
  void note_mbarrier_phase(Block& block, std::uint32_t offset, bool by_operation, bool remote);
  void know_phase(Core& x, std::uint32_t mbarrier);
  // Arrivals or bytes that come to the current phase of an mbarrier.
  void record_arrivals(Block& block, std::uint32_t offset, std::uint32_t pc, std::uint32_t arrivals,
                       std::uint32_t bytes);

  // ---- operations, reports ----
  void record_issue(Core& x, Block& block, AsyncOperation& operation);
  void record_end(AsyncOperation& operation);
  void record_report(const Block& block, std::uint32_t thread, std::uint32_t pc);

 private:
  Recording(const Recording&) = default;
  bool keeps_time() const;
  TrackId track_of(Block& block, Unit unit, std::uint32_t index);
  TrackId track_of_unit(Block& block, Unit unit);
  EventId group_at(const RecordedCopies& copies, double there) const;

  Model* model_;
  OwnRecorder recorder_;  // Options::recorder
  EventId actor_ = no_event;
};

}  // namespace tilescope::sim
