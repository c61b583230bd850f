// Which blocks of the grid are resident, on which processor, and how one starts: its threads'
// special registers, undefined registers and memory. Blocks start in order, as far as the
// processors have room for them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/sim/machine/code.h"

namespace tilescope::sim {

class Dispatcher {
 public:
  explicit Dispatcher(Model& model) : model_(&model) {}
  Dispatcher(Model& model, const Dispatcher& other) : Dispatcher(other) { model_ = &model; }

  void begin();                                         // the launch is known
  std::uint64_t resident() const { return resident_; }  // blocks that there is room for
  std::uint64_t total() const { return total_; }        // of the grid
  std::uint64_t finished() const { return finished_; }  // exited or cancelled
  // Blocks that have begun or been cancelled, or are to begin next: all before the next in order.
  std::uint64_t started() const { return started_; }
  std::uint64_t waiting() const;  // for room

  // Blocks that one processor has room for, and what keeps it from having more.
  struct Room {
    std::uint64_t blocks = 0;
    std::string_view limited_by;
  };
  Room room_of_processor() const;

  bool can_start() const { return started_ < until_ || !to_begin_.empty(); }
  void start_cluster(std::size_t first);  // into Grid::blocks [first] and those behind it
  void end_block() { ++finished_; }
  // Only these clusters from now on, and no others but those that have exited already: a share of
  // the grid (core/sim/machine/side_by_side.h).
  void take(std::uint64_t first_cluster, std::uint64_t clusters);
  bool is_share() const { return is_share_; }
  // Blocks have exited, as many as it was to run: all, or its share.
  bool is_over() const { return finished_ == end_; }
  // All have.
  void finish() { started_ = finished_ = end_ = total_; }
  // The last of its threads exits: its SM has room.
  void leave(const Block& block) { --on_processor_[block.processor]; }
  // Whether all threads of a cluster's blocks have exited (Grid::cluster_number()).
  bool has_exited(std::uint64_t cluster) const;
  // A cluster of the grid that has not begun, which never will: its first block. Nothing: there is
  // none left (launch_control.cpp).
  std::optional<Dim3> cancel_cluster();

 private:
  Dispatcher(const Dispatcher&) = default;
  std::uint64_t room() const;  // for blocks, on all processors together
  std::uint32_t least_busy_processor(const Block& block) const;
  void place_in_grid(Block& block, std::uint64_t number) const;
  void start_block(Block& block, std::uint64_t number);

  Model* model_;
  std::uint64_t resident_ = 0, started_ = 0, finished_ = 0, total_ = 0;
  // The block behind the last to start, and how many will have exited then.
  std::uint64_t until_ = 0, end_ = 0;
  bool is_share_ = false;
  std::vector<std::uint32_t> on_processor_;  // blocks with live threads, by SM
  // Of the clusters that have started those that a chip would have begun by now, and that have not
  // yet, by the number of their first block.
  std::vector<std::uint64_t> to_begin_;
};

}  // namespace tilescope::sim
