// The barrier that is looked at, all of it: who came, who is missing, who waits, which bytes are to
// come and what in flight brings them. It is under the list of barriers.
#pragma once

#include "viz/machine/machine_scene.h"

namespace tilescope {

struct BarrierCard {
  std::string title;
  std::uint32_t came = 0, expected = 0;  // of the phase: arrivals, or threads
  bool lacks = true;                     // those who have not come keep the run from going on
  struct Line {
    std::string label, text;
    std::string command;  // a click; empty: nothing
    bool wrong = false;   // it is what is missing
  };
  std::vector<Line> lines;
};

// Of the mbarrier looked at, else of the barrier of the block's or of the cluster's threads that
// somebody waits at. Nothing: there is none.
std::optional<BarrierCard> barrier_card(const MachineShown& shown);
double height_of(const BarrierCard& card);
void draw(Scene& scene, const BarrierCard& card, const Box& room);

// Of a variable's name in an mbarrier's the identifier alone: "(shared+32768)" of
// "(_ZZN9tilescope6deviceE6shared+32768)".
std::string readable(std::string mbarrier);

// "0, 4 to 7"
std::string numbers_text(const std::vector<std::uint32_t>& numbers);

}  // namespace tilescope
