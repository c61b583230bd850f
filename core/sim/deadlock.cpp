// Nothing in a block can go on: who waits at what, and for whom.
#include <fmt/format.h>

#include <algorithm>

#include "core/sim/machine.h"

namespace tilescope::sim {

std::string lanes_text(Mask m) {
  std::string out = __builtin_popcount(m) == 1 ? "lane " : "lanes ";
  bool first = true;
  for (int l = 0; l < lanes; ++l) {
    if (!(m >> l & 1)) continue;
    int end = l;
    while (end + 1 < lanes && (m >> (end + 1) & 1)) ++end;
    if (!first) out += ", ";
    out += end > l ? fmt::format("{}-{}", l, end) : fmt::format("{}", l);
    first = false;
    l = end;
  }
  return out;
}

namespace {

// Where a waiting split stands. One that has arrived at a barrier is behind it already.
std::uint32_t waiting_at(const Split& s) {
  return s.wait == Wait::barrier ? s.pc - 1 : s.pc;
}

bool is_barrier(Wait wait) {
  return wait == Wait::barrier || wait == Wait::mbarrier;
}

}  // namespace

void Machine::report_deadlock(const Block& block) {
  const auto& code = program().code;
  constexpr std::size_t most_told = 8;
  std::string story;
  std::size_t told = 0, untold = 0;
  std::vector<std::uint32_t> explained;  // mbarriers
  bool divergent = false, missing = false, on_mbarrier = false;
  const Warp* first_warp = nullptr;
  const Split* first_split = nullptr;
  for (const Warp& w : block.warps) {
    for (const Split& s : w.splits) {
      // What explains a deadlock best: lanes of one warp at different aligned instructions, then
      // lanes that others do not join, then barriers.
      const bool better = !first_split ||
                          (s.wait == Wait::aligned && first_split->wait != Wait::aligned) ||
                          (s.wait == Wait::others && is_barrier(first_split->wait)) ||
                          (s.wait == Wait::mbarrier && first_split->wait == Wait::barrier);
      if (better) first_warp = &w, first_split = &s;
      divergent = divergent || s.wait == Wait::aligned;
      missing = missing || s.wait == Wait::others;
      on_mbarrier = on_mbarrier || s.wait == Wait::mbarrier;
      if (told == most_told) {
        ++untold;
        continue;
      }
      ++told;
      if (!story.empty()) story += "; ";
      const std::uint32_t pc = waiting_at(s);
      story += fmt::format("warp {} {} at PTX line {} ({}", w.index, lanes_text(s.mask),
                           code[pc].line, ptx::opcode(code[pc].op).name);
      if (s.wait == Wait::barrier) {
        const Barrier& b = block.barriers[s.barrier];
        story += fmt::format(" {}: {} of {} threads are there)", s.barrier, b.arrived,
                             b.expected ? b.expected : block.live_threads);
      } else if (s.wait == Wait::mbarrier) {
        story += fmt::format(", for phase {} of {}", s.phase, mbarrier_name(*this, s.mbarrier));
        const bool known = std::count(explained.begin(), explained.end(), s.mbarrier);
        story += known ? ")" : fmt::format(": {})", mbarrier_story(*this, block, s.mbarrier));
        explained.push_back(s.mbarrier);
      } else if (s.wait == Wait::columns) {
        story += ", for columns of TMEM that resident blocks have)";
      } else if (s.wait == Wait::group) {
        story += ", for its bulk groups)";
      } else {
        story += fmt::format(", for {})", lanes_text(s.wanted & ~s.mask & w.live));
      }
    }
  }
  if (untold) story += fmt::format("; and {} more", untold);
  Report r;
  r.kind = divergent ? "divergent_barrier" : "deadlock";
  r.sentence =
      divergent     ? "lanes of one warp wait at different instructions that need all of them: "
      : missing     ? "lanes wait for lanes that will not come: "
      : on_mbarrier ? "the block's threads wait for what nobody will do, and nothing is in flight: "
                    : "the block's threads wait at a barrier that nobody else will reach: ";
  r.sentence += story;
  r.expected = divergent ? "all live lanes of the warp at the same instruction"
                         : "everybody whom the others wait for";
  r.found = "nobody in the block can go on";
  r.site = site(
      block, first_warp->index * 32 + static_cast<std::uint32_t>(__builtin_ctz(first_split->mask)),
      waiting_at(*first_split));
  reports_.push_back(std::move(r));
  state_ = RunState::fault;
}

}  // namespace tilescope::sim
