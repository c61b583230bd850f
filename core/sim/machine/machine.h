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
// computed from it is. That is no fault until it decides something: whether an instruction
// executes, an address, which lanes take part; or until it lies in a buffer at the end.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/ptx/program.h"
#include "core/record/own_recorder.h"
#include "core/run/job.h"
#include "core/sim/async/proxies.h"
#include "core/sim/machine/code.h"
#include "core/sim/machine/options.h"
#include "core/sim/machine/state.h"
#include "core/sim/machine/stops.h"
#include "core/sim/time/clock.h"

namespace tilescope::sim {

// Where a warp is about to do something that orders it with others, when it has executed so many
// instructions.
struct MeetingPoint {
  Hold place;
  std::uint32_t pc = 0;
};

class Machine {
 public:
  // Reads and decodes the PTX, fits the launch and its arguments to the entry, lays out memory.
  static Outcome<Machine> load(Job job, Options options = {});

  // A value: a copy goes on by itself, and is the same, bit for bit. (Made in machine.cpp: they
  // are large.)
  Machine(const Machine& other);
  Machine(Machine&& other) noexcept;
  Machine& operator=(const Machine& other);
  Machine& operator=(Machine&& other) noexcept;
  ~Machine();

  RunState run(std::uint64_t budget);

  Progress progress() const;
  const std::vector<Report>& reports() const { return reports_; }
  // The buffers of the job with their bytes of now.
  std::vector<Buffer> buffers() const;
  // What the kernel printed (vprintf), in the order in which its lanes did.
  const std::string& printed() const { return printed_; }
  // Who wrote this byte of this buffer last.
  std::optional<Site> writer(std::size_t buffer, std::size_t byte) const;

  const ptx::Program& program() const { return image_->program; }
  const Launch& launch() const { return launch_; }
  const BarrierNames& barrier_names() const { return image_->barriers; }
  const std::vector<Block>& blocks() const { return blocks_; }  // the resident ones

  // Where run() stops besides, and what happened (core/sim/machine/stops.h). The position counts
  // what a run is made of: instructions, moments of operations in flight, and that it is done.
  void stop_at(StopAt at);
  Stops& stops() { return stops_; }
  const Stops& stops() const { return stops_; }
  std::uint64_t position() const {
    return instructions_ + moments_ + (state_ == RunState::done ? 1 : 0);
  }
  // The last instruction that was executed, and by whom; and how many moments were past then.
  struct Executed {
    std::uint64_t block = 0;
    std::uint32_t warp = 0, pc = 0;
    Mask mask = 0;  // 0: nobody has executed anything
    std::uint64_t moments = 0;
  };
  const Executed& last_executed() const { return last_; }
  // Was it an instruction that brought the machine to its position?
  bool is_behind_instruction() const { return last_.mask && last_.moments == moments_; }
  RunState state() const { return state_; }
  std::uint64_t bytes() const;  // that a copy takes, about

  // For handlers.
  Flow fault(const Core& x, int lane, std::string kind, std::string sentence, std::string expected,
             std::string found);
  // The same where no instruction is executing: of a thread and an instruction. Answers false.
  bool fault_at(const Block& block, std::uint32_t thread, std::uint32_t pc, std::string kind,
                std::string sentence, std::string expected, std::string found);
  // To the report that was told last: what it is about (core/sim/checks/evidence.h).
  void explain(Evidence evidence) { reports_.back().evidence = std::move(evidence); }
  // A hazard at x.pc, in which instruction `other_pc` has a part: told once, then counted.
  void hazard(const Core& x, int lane, std::string kind, std::uint32_t other_pc,
              const std::function<Report()>& tell);
  // The same where no instruction is executing: of a thread and an instruction.
  void hazard_at(const Block& block, std::uint32_t thread, std::uint32_t pc, std::string kind,
                 std::uint32_t other_pc, const std::function<Report()>& tell);
  // A hazard that is only worth knowing.
  void note(const Core& x, int lane, std::string kind, std::uint32_t other_pc,
            const std::function<Report()>& tell);
  Site site(const Block& block, std::uint32_t thread, std::uint32_t pc) const;
  // The region of the grid nearest to an address; null where there is none.
  const Region* nearest_region(std::uint64_t address) const;
  const std::vector<Region>& regions() const { return regions_; }
  // The job's buffers without their bytes, and where these are.
  const std::vector<Buffer>& shells() const { return shells_; }
  const Region& buffer(std::size_t index) const { return regions_[first_buffer_ + index]; }
  Site site_of(Writer writer) const;
  std::size_t register_stride() const;  // bytes of one warp's registers in Block::registers
  void finish_barriers(Block& block);   // after arrivals and exits
  // The instruction at hand stores undefined bytes: where they come from is told at the end, should
  // they lie in a result.
  void note_undefined_store(const Core& x);
  // How many instructions, of how many blocks, did so.
  std::size_t undefined_stores() const { return undefined_stores_.size(); }
  std::uint64_t instructions() const { return instructions_; }
  // Cycles since the launch, of the moment at hand; without a clock, instructions.
  double now() const;
  // The same once all blocks have exited: when the run was over, a little behind its last moment,
  // as its record has it.
  double end() const { return state_ == RunState::done ? ended_ : now(); }
  // Whether all that comes before this cycle has happened. Clusters are behind each other by up to
  // a turn of the clock, and warps by some cycles: of what comes behind it some has, too.
  bool all_have_reached(double cycle) const;
  // What the run takes on the chip, launch and all; 0 without a clock.
  double seconds() const;
  bool faulted() const { return state_ == RunState::fault; }
  // From now on it is asked what would be (core/sim/time/what_if.h): where nobody can go on it asks
  // no further.
  void suppose() { supposes_ = true; }

  // Another order, before the first run(): Options::holds.
  void hold(std::vector<Hold> holds) { options_.holds = std::move(holds); }
  // Whether to note from now on where warps come to instructions that others may wait for or that
  // wait for others; and what was noted.
  void note_meeting_points(bool yes) { notes_meetings_ = yes; }
  const std::vector<MeetingPoint>& meeting_points() const { return meeting_points_; }
  std::size_t points_before_last_hold() const { return points_before_hold_; }
  // The cluster that a block of the grid belongs to, counted as the blocks of a grid of clusters
  // are; and whether all threads of a cluster's blocks have exited.
  std::uint64_t cluster_number(std::uint64_t block) const;
  bool has_exited(std::uint64_t cluster) const;

  // Operations in flight (core/sim/async). Puts one in flight for a lane of the warp at hand;
  // false: it must not begin, which was reported. The turn ends behind this instruction.
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
  void check_access(Core& x, Block& block, const Races::Access& access);
  // The block whose thread issued an operation that is in flight in `block`.
  const Block& issuer(const Block& block, const AsyncOperation& operation) const;
  void spoil_mbarriers(Block& block, const Range& bytes, std::uint32_t thread, std::uint32_t pc);
  // The warp's turn ends behind this instruction: it can but try again.
  void end_turn(Core& x);
  // Whether the first of a pair to come to a step of both waits for the other one there.
  bool waits_for_pair();
  // Whether a try_wait answers at once that it is not complete: with --schedule some do.
  bool gives_up_waiting();
  // What an operation used is free again, for those who wait for what its pipe completes.
  void settle_by_agent(Block& block, AsyncOperation& operation);

  // By the clock (core/sim/time). A phase of a barrier of the block is complete now, and those who
  // wait know it `later`; a warp has found an mbarrier's phase complete. What is recorded: arrivals
  // or bytes that come to the current phase of an mbarrier, what a warp was stalled by, and what it
  // moves from or to TMEM.
  void note_phase(Block& block, Unit unit, std::uint32_t object, double later);
  void note_mbarrier_phase(Block& block, std::uint32_t offset, bool by_operation, bool remote);
  void know_phase(Core& x, std::uint32_t mbarrier);
  void record_arrivals(Block& block, std::uint32_t offset, std::uint32_t pc, std::uint32_t arrivals,
                       std::uint32_t bytes);
  void record_stall(Block& block, Warp& warp, Stall stall, std::uint32_t pc, double from,
                    double to);
  void record_move(const Core& x, Unit unit, std::uint64_t bytes, double from, double to);
  // %clock and %globaltimer of a warp.
  std::uint64_t clock_of(const Core& x, ptx::Special special) const;
  const Clock* clock() const { return clock_ ? &*clock_ : nullptr; }

  // Global memory and the other ways to it (core/sim/async/global.cpp). Lanes m tell the async
  // proxy, or the proxy of tensor maps, of what they wrote; a lane that uses a map asks for it.
  void fence_global(Core& x, Mask m, Proxy proxy);
  void acquire_map(Core& x, std::uint64_t address);
  void watch_map(Core& x, int lane, std::uint64_t address);
  // A thread accesses global memory that an operation in flight uses.
  void watch_global(Core& x, const Races::Access& access, const Region& region);
  // Was this byte written by a thread that has not told the async proxy since?
  bool is_untold(const Region& region, std::uint64_t offset) const;

  // Clusters (core/sim/machine/cluster.cpp). A block of the cluster of `block`, by its rank; null:
  // there is none. All of them are resident together, and stay until the last of their threads has
  // exited.
  std::uint32_t cluster_size() const { return cluster_size_; }
  Block* member(const Block& block, std::uint32_t rank);
  const Block* member(const Block& block, std::uint32_t rank) const;
  // May the warp at hand reach the shared memory of the block of this rank now? Null after a fault,
  // which says why not.
  Block* reach(Core& x, int lane, std::uint32_t rank);
  // Its block, seen by those of the others who wait for something that it does to one of theirs.
  void release_to_cluster(Core& x);
  void finish_cluster_barrier(Block& block);  // after arrivals and exits
  // What an operation of a block has done is seen by those of the others who ask.
  void release_operations(Block& block, std::uint32_t warp);
  // Lanes m tell the async proxy of what they wrote into the memory of the others.
  void tell_cluster(Core& x, Mask m);

  // A cluster of the grid that has not begun, which never will: its first block. Nothing: there is
  // none left (core/sim/machine/launch_control.cpp).
  std::optional<Dim3> cancel_cluster();

  // Columns of TMEM (core/sim/tcgen05/allocation.cpp): where so many are free on the block's
  // processor; and those who wait for some may look again.
  std::optional<std::uint32_t> free_columns(const Block& block, std::uint32_t columns,
                                            const Block* peer = nullptr);
  void columns_are_free(const Block& block);
  // The region of the grid that holds an address, or null.
  Region* region_of(std::uint64_t address);
  std::uint32_t local_bytes() const;  // of one thread
  void print(std::string_view text) { printed_ += text; }
  const Options& options() const { return options_; }

 private:
  Machine();

  // What never changes while a program runs.
  struct Image {
    ptx::Program program;
    std::vector<Bound> bound;  // for each rank in a cluster
    BarrierNames barriers;     // the job's
  };

  // launch.cpp
  bool check_launch(Error& error) const;
  bool place_memory(std::vector<Buffer> buffers, Error& error);
  bool place_variables(Error& error);
  bool place_arguments(const std::vector<Argument>& arguments, Error& error);

  std::uint32_t least_busy_processor(const Block& block) const;
  // Blocks that one processor has room for, and what keeps it from having more.
  struct Room {
    std::uint64_t blocks = 0;
    std::string_view limited_by;
  };
  Room room_of_processor() const;
  std::uint64_t room() const;  // for blocks, on all processors together
  bool may_get_columns(const Block& block);

  // blocks.cpp
  void place_in_grid(Block& block, std::uint64_t number) const;
  void start_block(Block& block, std::uint64_t number);
  void start_cluster(std::size_t first);  // into blocks_[first] and those behind it
  bool can_start() const { return started_ < total_ || !to_begin_.empty(); }
  bool cluster_goes_on(const Block& block);
  void next_member();
  void fill_specials(Block& block, Warp& warp);

  // schedule.cpp
  void next_turn();
  void end_block();
  RunState run_block(Block& block, std::uint64_t& budget);
  std::uint64_t run_warp(Block& block, Warp& warp, std::uint64_t budget);
  std::uint64_t run_split(Core& x, std::uint64_t limit, bool stop_at_block_end, bool& ended);
  bool choose_split(Warp& warp);
  bool behind(const Warp& warp, const Split& a, const Split& b) const;
  Core core_of(Block& block, Warp& warp);

  std::uint64_t drawn(std::uint64_t below);  // at random, by the schedule's seed
  std::uint64_t turn_length(std::uint64_t longest);
  void draw_slowness(Block& block);
  std::uint64_t next_hold(const Block& block, std::uint32_t warp, std::uint64_t from) const;
  bool is_held_back(Block& block, Warp& warp);
  void note_meeting_point(const Core& x, std::uint64_t executed);
  void tire_of_slowness(Block& block, bool in_vain);
  bool asks_in_vain(const Block& block) const;
  bool let_the_slow_of_cluster_go_on(const Block& block);
  bool end_warp_turn(Block& block, bool in_vain);
  bool let_the_slow_go_on(Block& block);
  bool bring_something_about(Block& block);

  // time/clocked.cpp
  void start_clock();
  RunState run_by_clock(std::uint64_t budget);
  void watch_wait(Block& block, Warp& warp);
  void pass_barrier(Block& block, std::uint32_t id);
  double when_it_goes_on(const Block& block, const WarpTime& t) const;
  double find_turn(ClockTurn& turn);
  bool choose_turn();
  std::uint64_t run_split_by_clock(Core& x, std::uint64_t limit, bool stop_at_block_end,
                                   bool& ended);
  std::uint64_t run_warp_by_clock(Block& block, Warp& warp, std::uint64_t budget);
  std::uint64_t simulated_blocks() const;  // of the grid: all, or some waves
  void end_sample();
  bool bring_about_by_clock();
  bool end_block_by_clock(Block& block);
  bool is_held_up(const Block& block, const AsyncOperation& operation) const;

  // time/recording.cpp
  static std::uint64_t phase_key(Unit unit, std::uint32_t object);
  TrackId track_of(Block& block, Unit unit, std::uint32_t index);
  void start_time(Block& block);
  void begin_run(Block& block, Warp& warp, std::uint32_t pc);
  void end_run(Block& block, Warp& warp);
  void end_wait(Block& block, Warp& warp);
  bool keeps_time() const { return clock_ || recorder_; }
  void record_end(AsyncOperation& operation);
  void record_turn_begin(Block& block, Warp& warp);
  void record_turn_end(Block& block, Warp& warp);
  void record_issue(Core& x, Block& block, AsyncOperation& operation);
  void record_report(const Block& block, std::uint32_t thread, std::uint32_t pc);
  void begin_record();
  void finish_record();

  // async/flight.cpp
  std::uint64_t delay(const Block& block, const AsyncOperation& operation);
  void begin_delays(Block& block);
  bool check_operands(Core& x, int lane, Block& block, const AsyncOperation& operation);
  bool collides(Core& x, const Block& block, const Races::Access& access,
                const AsyncOperation& operation, const Range& range, bool written);
  bool arrives_too_late(const Block& by, const AsyncOperation& operation, std::uint32_t rank);
  bool advance(Block& block, std::size_t operation);
  void end_guards(Block& block, AsyncOperation& operation);
  bool signal_completion(Block& block, const AsyncOperation& operation);

  // async/global.cpp
  void enter_global(Core& x, int lane, AsyncOperation& operation);
  void leave_global(AsyncOperation& operation);
  void watch_untold(Core& x, int lane, const AsyncOperation& operation);
  void watch_others(Core& x, int lane, const AsyncOperation& operation);
  bool was_told(Writer writer, std::uint32_t time, Proxy proxy) const;
  std::string undefined_story(Writer writer) const;
  static std::uint32_t agent(Block& block, const AsyncOperation& operation);
  static void settle(Block& block, AsyncOperation& operation, std::uint32_t warp);
  static void wake_groups(Block& block, std::uint32_t warp);
  std::uint64_t until_due(const Block& block) const;  // instructions; at least 1
  bool come_due(Block& block);
  bool hasten(Block& block);
  bool hasten_wanted(Block& block);
  bool land(Block& block);
  bool leave_to_peer(const Block& block, const AsyncOperation& operation);
  bool time_out(Block& block);

  // stops.cpp
  void settle_stops();
  Region* watched(const Watch& watch);
  void watch_nothing();
  void watch_regions();
  void note_write(std::uint32_t number, const Block& by, std::uint32_t warp, std::uint32_t pc);
  void note_touched(const Block& by, std::uint32_t warp, std::uint32_t pc);
  void look_for_stop(const Block& block, const Warp& warp, std::uint32_t pc, Mask mask);
  void look_for_stop(const Block& block, const AsyncOperation& operation, Stage from,
                     std::uint32_t guards);

  // endless.cpp
  template <class F>
  bool each_piece(const Block& block, const Warp& warp, F f) const;
  std::vector<std::byte> moment(const Block& block, const Warp& warp) const;
  bool is_moment(const Block& block, const Warp& warp) const;  // the one remembered
  std::uint64_t changes_for(const Block& block) const;
  void compare_stores();
  bool goes_round(const Block& block, const Warp& warp) const;
  std::string waits_text(const Block& block) const;
  void look_for_endless_loop(Block& block, Warp& warp);

  // hazards.cpp
  void tell_once(Weight weight, const Block& block, std::uint32_t thread, std::uint32_t pc,
                 std::string kind, std::uint32_t other_pc, const std::function<Report()>& tell);

  // machine.cpp, tiles.cpp
  void finish_grid();
  bool find_missing_tile(std::size_t buffer);
  void tell_of_tiles_written_twice(std::size_t buffer);

  // deadlock.cpp
  void report_deadlock(const Block& last);

  std::shared_ptr<const Image> image_;
  std::string kernel_;
  Launch launch_;
  Options options_;
  OwnRecorder recorder_;         // Options::recorder
  std::vector<Buffer> shells_;   // the job's buffers without their bytes
  std::vector<Region> regions_;  // parameters, variables, buffers: by ascending address
  std::size_t first_buffer_ = 0;

  Dim3 cluster_;
  std::uint32_t cluster_size_ = 1;
  std::uint64_t resident_ = 0;  // blocks that there is room for
  std::uint32_t idle_members_ =
      0;                       // of the cluster at hand that could not go on, one after another
  std::vector<Block> blocks_;  // clusters one after the other, their blocks by rank
  // Blocks that have begun or been cancelled, or are to begin next: all before the next in order.
  std::uint64_t started_ = 0;
  // Of these the clusters that a chip would have begun by now, by the number of their first block.
  std::vector<std::uint64_t> to_begin_;
  std::uint64_t finished_ = 0, total_ = 0;  // finished: exited or cancelled
  std::size_t current_ = 0;                 // resident block whose turn it is
  std::uint64_t turn_left_ = 0;
  std::uint64_t instructions_ = 0, moments_ = 0;
  Executed last_;
  Stops stops_;
  std::uint64_t choices_ = 0;  // of choices between splits
  std::uint64_t fruitless_turns_ =
      0;  // of blocks that wait for columns of TMEM, one after the other
  std::vector<Report> reports_;
  std::map<std::tuple<std::string, std::uint32_t, std::uint32_t>, std::size_t> hazards_;
  bool compares_stores_ = false;
  // By block and instruction.
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::string> undefined_stores_;
  Proxies proxies_;
  bool watches_proxies_ = false;  // the program goes through several
  bool notes_meetings_ = false;
  std::vector<MeetingPoint> meeting_points_;
  std::size_t points_before_hold_ = 0;
  std::uint64_t random_ = 0;
  std::string printed_;
  std::optional<Clock> clock_;
  double ended_ = 0;          // when the run was over
  EventId actor_ = no_event;  // of the record: who does what happens now
  enum class Pause : std::uint8_t { none, look, turn };
  Pause pause_ = Pause::none;  // why a warp's turn ended: something was issued; it wants no more
  RunState state_ = RunState::running;
  bool supposes_ = false;
};

// Whether a program has bulk copies, or others that read or write through the async proxy.
bool goes_through_async_proxy(const ptx::Program& program);
// "ld.global.f32" of "@%p1 ld.global.f32 %f1, [%rd4];"
std::string_view opcode_text(std::string_view text);
// "lanes 0-3, 8"
std::string lanes_text(Mask m);

}  // namespace tilescope::sim
