// Launches of which some blocks stand for all (`exec --sample-blocks`, `--estimate`), and what is
// not known of memory since.
//
// What a block that was left out would have written nobody knows. So whatever the launch may have
// written is unknown from then on, and so is what later launches make of that; once the host has
// seen some of it, everything is. A launch that can reach what is unknown is no right launch to
// judge: what is found there is told as notes. In a launch whose memory is known, a block can wait
// for one that was left out; all else that is found is found in the whole launch as well.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "app/captures.h"
#include "core/sim/machine/machine.h"

namespace tilescope {

class ExecSamples {
 public:
  // `blocks`: that run of a launch; 0: all do.
  explicit ExecSamples(std::uint64_t blocks) : blocks_(blocks) {}

  // What is known before a launch, while the memory is not yet a machine's.
  struct Before {
    bool samples = false;            // not all of its blocks are to run
    bool doubted = false;            // it can reach what is unknown
    std::set<std::uint64_t> within;  // where the regions begin that it can reach; none: unasked
  };
  // `whole`: its blocks meet each other, so that all have to run. Sets how many do.
  Before begin(const CapturedLaunch& launch, bool whole, sim::Options& options) const;
  // Behind it, while the machine still has the memory.
  void end(const Before& before, const sim::Machine& machine);

  // The host writes [address, address + bytes) of a region, all of it or a part; a region is copied
  // into another; the host gets some of it. `memory`: which it is.
  void host_writes(const sim::DeviceMemory& memory, std::uint64_t address, std::uint64_t bytes);
  void copies(const sim::DeviceMemory& memory, std::uint64_t to, std::uint64_t from);
  // Whether it gets what is unknown.
  bool host_reads(const sim::DeviceMemory& memory, std::uint64_t address);

 private:
  bool is_unknown(const sim::DeviceMemory& memory, std::uint64_t address) const;

  std::uint64_t blocks_ = 0;
  std::set<std::uint64_t> unknown_;  // where regions begin
  bool everything_ = false;
};

// What is found where it cannot be judged, as notes with the reason.
void doubt(std::span<Report> reports, std::string_view why);
// Whether a block that ended so may have waited for one that was left out.
bool may_wait_for_others(std::string_view kind);

// How long a launch takes here, from the blocks that were run of launches of the same shape.
class ExecEstimates {
 public:
  using Shape = std::tuple<std::string, std::uint64_t, std::uint64_t, std::uint32_t>;
  static Shape shape_of(const Launch& launch);
  // Seconds that all of such a launch takes, where enough of them were measured; 0: run it.
  double known(const Shape& shape) const;
  void measured(const Shape& shape, double seconds);

 private:
  struct Sum {
    std::uint64_t count = 0;
    double seconds = 0;
  };
  std::map<Shape, Sum> sums_;
};

}  // namespace tilescope
