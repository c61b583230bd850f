// Whose turn it is, and how far it goes: blocks of the grid, warps of a block, splits of a warp,
// and the loop that executes instructions (split_loop.h).
//
// In order, or as a schedule draws (scheduler.cpp): a block has a turn, in it a warp, in that a
// split. By the clock (core/sim/time/clocked.cpp): whoever of a cluster is earliest.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/sim/machine/code.h"
#include "core/sim/machine/options.h"
#include "core/sim/time/clock.h"

namespace tilescope::sim {

// Where a warp is about to do something that orders it with others, when it has executed so many
// instructions.
struct MeetingPoint {
  Hold place;
  std::uint32_t pc = 0;
};

class Scheduler {
 public:
  explicit Scheduler(Model& model) : model_(&model) {}
  Scheduler(Model& model, const Scheduler& other) : Scheduler(other) { model_ = &model; }

  // Executes about as many instructions as it is given.
  RunState run(std::uint64_t budget);

  // ---- who is slow, or held back ----
  // Whether to note from now on where warps come to instructions that others may wait for or that
  // wait for others; and what was noted.
  void note_meeting_points(bool yes) { notes_meetings_ = yes; }
  const std::vector<MeetingPoint>& meeting_points() const { return meeting_points_; }
  std::size_t points_before_last_hold() const { return points_before_hold_; }
  // When a warp that has executed `from` instructions is held next.
  std::uint64_t next_hold(const Block& block, std::uint32_t warp, std::uint64_t from) const;
  // False: no warp was held back.
  bool let_the_slow_go_on(Block& block);

  // ---- by the clock ----
  void start_clock();
  // Whether all that comes before this cycle has happened. Clusters are behind each other by up to
  // a turn of the clock, and warps by some cycles: of what comes behind it some has, too.
  bool all_have_reached(double cycle) const;
  // A warp stands, or goes on again, since the clock last looked.
  void watch_wait(Block& block, Warp& warp);
  void watch_wait(Block& block, Warp& warp, bool is_ready);
  // All who stand at a barrier of the block go on, the last to arrive among them.
  void pass_barrier(Block& block, std::uint32_t id);

 private:
  Scheduler(const Scheduler&) = default;

  // The ways to run (split_loop.h).
  struct InOrder;
  struct ByClock;
  template <class Way>
  std::uint64_t run_warp(Block& block, Warp& warp, Way way, std::uint64_t budget);
  template <class Way>
  std::uint64_t run_split(Core& x, Way way, std::uint64_t limit, bool stop_at_block_end,
                          bool& ended);

  RunState run_block(Block& block, std::uint64_t& budget);
  bool choose_split(Warp& warp);
  bool behind(const Warp& warp, const Split& a, const Split& b) const;

  void next_turn();
  void end_block();
  void log_end();
  void next_member();
  bool cluster_goes_on(const Block& block);
  bool end_warp_turn(Block& block, bool in_vain);
  bool bring_something_about(Block& block);
  bool lets_others_go_first(Block& block);
  bool may_get_columns(const Block& block);

  void draw_slowness(Block& block);
  bool is_held_back(Block& block, Warp& warp);
  void note_meeting_point(const Core& x);
  void tire_of_slowness(Block& block, bool in_vain);
  bool asks_in_vain(const Block& block) const;
  bool let_the_slow_of_cluster_go_on(const Block& block);

  // time/clocked.cpp
  RunState run_by_clock(std::uint64_t budget);
  double when_it_goes_on(const Block& block, const WarpTime& t) const;
  double look_at(Block& block, Warp& warp);
  void look_at_cluster(std::size_t number);
  void note_cluster(std::size_t number);
  double find_turn(ClockTurn& turn);
  void fetch_ahead(std::size_t number) const;
  bool choose_turn();
  std::uint64_t simulated_blocks() const;  // of the grid: all, or some waves
  void end_sample();
  bool bring_about_by_clock();
  bool end_block_by_clock(Block& block);

  Model* model_;
  std::size_t current_ = 0;  // resident block whose turn it is
  std::uint64_t turn_left_ = 0;
  std::uint32_t idle_members_ =
      0;  // of the cluster at hand that could not go on, one after another
  std::uint32_t member_turns_ = 0;     // of the cluster at hand, since another one had its turn
  std::uint64_t choices_ = 0;          // of choices between splits
  std::uint64_t fruitless_turns_ = 0;  // of blocks that wait for columns of TMEM, one after another
  bool notes_meetings_ = false;
  std::vector<MeetingPoint> meeting_points_;
  std::size_t points_before_hold_ = 0;
};

}  // namespace tilescope::sim
