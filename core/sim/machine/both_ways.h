// Whether a predicate that hangs on something undefined decides anything.
//
// Such a predicate may be true or false, and what it decides is followed as undefined. That is more
// than a kernel may be accused of: one that reads past the end of what it has (a merge that looks
// at the next key), and goes on so that it comes to nothing, is right (thrust::set_intersection).
// So where such a predicate decides what others see, the launch is run again from its start in
// several ways: each such predicate as its bits are, the other way round, always true, always
// false, and drawn, true in a few to nearly all. If each run comes to its end, all leave the same
// bytes, and none has a hazard that the first has not, then the launch is what the first of them
// is, with a note; else it is what it was, and the report stands.
//
// These are not all ways, of which there are too many: so the note stays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "core/record/recorder.h"
#include "core/run/job.h"
#include "core/sim/machine/options.h"

namespace tilescope::sim {

class Model;

class BothWays {
 public:
  // Whether the start of this launch, which has not begun, is worth keeping: somebody could ask for
  // it, and what it takes (a copy of each buffer that is written) is little.
  static bool fits(const Model& start);
  // Whether what became of it hangs on such a predicate, and on nothing else.
  static bool asks(const Model& ran);

  explicit BothWays(const Model& start);
  ~BothWays();
  BothWays(const BothWays&) = delete;

  // Behind the run from that start.
  void begin(const Model& ran);
  bool begun() const { return begun_; }

  enum class Outcome : std::uint8_t { running, same, differ };
  // Of all of them together about so many instructions.
  Outcome run(std::uint64_t budget);
  // With `same`: what the launch is takes the place of what it was. That is kept, as somebody may
  // refer to it.
  void take_place(std::unique_ptr<Model>& of);

  std::uint64_t bytes() const;  // that it holds, about

 private:
  std::unique_ptr<Model> from_start(std::size_t way) const;
  bool is_same() const;  // what the way at hand has left, and the first

  std::unique_ptr<Model> start_;
  Recorder* recorder_ = nullptr;
  std::unique_ptr<Recorder> record_;  // as it was then
  bool begun_ = false;
  std::uint64_t most_ = 0;  // instructions of each
  Report cause_;
  std::size_t way_ = 0;
  std::unique_ptr<Model> first_, now_;  // ways, without the clock
  std::unique_ptr<Model> last_;         // the first way, with all that was asked for
};

}  // namespace tilescope::sim
