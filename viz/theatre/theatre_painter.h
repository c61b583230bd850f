// Draws the theatre, part by part (theatre_scene.h); for the files here alone.
#pragma once

#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

#include "viz/theatre/theatre_registers.h"
#include "viz/theatre/theatre_scene.h"

namespace tilescope {

// The copies of a filling in the order in which their tiles are drawn: by matrix, then by place in
// it, so that a tile stands at one place whichever copy came first.
std::vector<std::size_t> order_of_tiles(const sim::Filling& filling);

class TheatrePainter {
 public:
  TheatrePainter(Scene& scene, const TheatreShown& shown, Size size)
      : scene_(scene),
        s_(shown),
        record_(shown.view.record()),
        p_(shown.view.pipeline()),
        size_(size) {
    ranks_ = s_.view.ranks_with(s_.rank);
    std::erase_if(ranks_, [&](std::uint8_t rank) { return rank >= p_.blocks.size(); });
    for (const std::uint32_t buffer : s_.view.inputs()) {
      has_l2_ = has_l2_ || s_.view.cached(buffer);
    }
  }
  TheatreFrame paint();

 private:
  // Space at the edges, of a row of warps; of a row of stages, what
  // it has where there is little room and at most.
  static constexpr double edge = 16, head = 64, warp_row = 26, row = 84, tall_row = 150;

  // where everything is
  void place_columns(const Box& all);
  void draw_heading(const Box& column, const std::string& text);
  Box part_of(const Box& column, std::size_t rank_index) const;
  std::string cta(std::uint8_t rank) const { return fmt::format("CTA {}", p_.blocks[rank]); }

  // head
  void draw_head();
  std::string follow_text() const;
  const sim::Filling* followed_filling() const;
  bool follows(std::size_t stage, const sim::Filling* filling) const;
  void draw_nothing();

  // mbarriers
  // A dial: how much of what its phase waits for has come; in it the parity.
  void draw_dial(std::size_t barrier, Point at, std::uint8_t rank, bool name_left);

  // shared memory
  void draw_stages();
  bool draws(const std::optional<std::size_t>& barrier, std::uint8_t rank) const;
  std::vector<std::size_t> loose_barriers(std::uint8_t rank) const;
  void draw_operands(std::uint8_t rank, const Box& room);
  void draw_stage(std::size_t number, const Box& row);

  // sums
  void draw_sums();
  void draw_sum(std::size_t number, const Box& box);
  std::string tile_text(const sim::MemoryUse& tile) const;

  // matrices in global memory
  Box part_box(const Box& tensor, const sim::RecordedBuffer& buffer,
               const sim::MemoryUse& part) const;
  Box place_tensor(const Box& room, const sim::RecordedBuffer& buffer);
  void draw_tensors();
  // What L2 holds, and what it had of all that was asked for (theatre_l2.cpp).
  void draw_share(const Box& room, const std::string& of);
  void draw_l2();
  void draw_held(const sim::CachedBuffer& cached, const Box& box);
  std::vector<Point> way_in(const TheatreCopy& copy, Point target) const;
  std::string shape_of(const sim::RecordedBuffer& buffer) const;
  void draw_list(const std::vector<std::uint32_t>& buffers, const Box& room, bool output);
  // What of it is in a stage, and strongly what is on its way.
  void draw_input(std::uint32_t buffer, const Box& box);
  void draw_output(std::uint32_t buffer, const Box& box);
  bool is_shown(std::uint8_t rank) const;
  // Where warps take sums to, on their way out.
  void draw_registers();

  // kernels that move data by threads (theatre_memory.cpp)
  Rgba colour_of_warp(std::uint32_t warp) const;
  void draw_memory(const Box& all);
  void draw_global(const Box& box, const LanesNow& now);
  void draw_touched(const LaneAccesses::Touched& touched, const Box& bar, const LanesNow& now);
  void draw_line(const Box& row, std::uint64_t line,
                 const std::vector<const SectorOnItsWay*>& sectors);
  void draw_banks(const Box& box, const LanesNow& now);
  double draw_access(const Box& box, const LanesNow::Shared& one);
  void draw_shuffle(const Box& box, std::uint32_t number);
  // What lanes of the warp looked at have in registers, and the rows of shared memory with who
  // wrote and who reads them (theatre_lane_panels.cpp).
  void draw_lane_registers(const Box& box, const std::vector<LaneRegister>& registers);
  void draw_shared_rows(const Box& box, const LanesNow::Shared& read);

  // tensor core
  void draw_core();
  void draw_core_of(const Box& box, std::uint8_t rank, bool pair);
  void draw_readers(const Box& box, std::uint8_t rank);  // threads, where no product is recorded
  void link(Point from, Point to, Rgba colour);

  // what moves
  void draw_tokens();
  double token_width(const std::string& label) const;
  void token(Point at, const std::string& label, Rgba colour, bool queued);
  void draw_token_in(const TheatreCopy& copy);
  void draw_token_out(const TheatreCopy& copy);
  // Of shared memory, all that copies out read in the run. Empty: there are none.
  std::vector<sim::ByteSpan> leaving_bytes(std::uint8_t rank) const;
  void draw_result(std::uint8_t rank, const std::vector<sim::ByteSpan>& bytes, const Box& box);

  // warps
  struct RoleShown {
    std::string name;
    std::vector<std::size_t> warps;  // of Pipeline::warps
  };
  std::vector<RoleShown> roles_shown() const;
  void place_warps(const Box& room);
  // The warp that is looked at is tied to the mbarrier that it waits for.
  void draw_ties();
  void draw_warps();
  void count_warps();
  void draw_chip(std::size_t warp, const Box& box);
  // What the warp that is looked at does, else the first that waits for a barrier, else the first.
  std::string role_text(const RoleShown& role) const;

  // time
  TheatreFrame draw_strip(const Box& room);
  // When the tile that is followed was on its way, waited, was read.
  void draw_life(const sim::Filling& f, const TheatreFrame& frame, double y);

  Scene& scene_;
  const TheatreShown& s_;
  const sim::Record& record_;
  const sim::Pipeline& p_;
  Size size_;
  std::vector<std::uint8_t> ranks_;
  bool wide_ = true;
  double dial_ = 10;    // the radius of one
  double lane_ = 13;    // the height of one of the strip of time
  bool brief_ = false;  // warps have no room for a row each
  bool has_l2_ = false;
  Box inputs_, l2_, shared_, core_, sums_, outputs_, warps_, registers_;
  std::vector<RoleShown> roles_;
  std::map<std::size_t, Box> boxes_, sum_boxes_;   // of stages, of accumulators
  std::map<std::uint32_t, Box> tensors_, cached_;  // in global memory; in L2
  std::map<std::uint8_t, Box> results_;            // by rank
  std::map<std::pair<std::uint8_t, sim::MemoryUse::Operand>, Box> operand_boxes_;
  std::map<std::size_t, Box> chips_;
  std::map<std::size_t, Point> dials_;
};

}  // namespace tilescope
