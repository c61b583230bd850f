// One change of synchronisation or data movement in a PTX text: an instruction dropped, executed
// twice or moved past its neighbour; another count, parity, number of bytes, barrier, place, box,
// mask or descriptor. The same text and seed: the same change.
//
// No line comes or goes, so what a report says of a line holds for both texts. Only one entry is
// changed. Lines are taken one instruction each, as compilers and our programs write them; a
// wait in a loop (try_wait and the branch back to it) is one.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tilescope::test {

// The instructions that a Mutator changes; longer names before those that they begin with.
extern const std::vector<std::string> mutated_instructions;

struct Mutation {
  std::string kind;        // what is done to which instruction: "drop wgmma.fence"
  std::uint32_t line = 0;  // the instruction's, counted from 1
  std::uint32_t also = 0;  // where it went, or the neighbour that it went past; 0: nowhere
  std::string sentence;    // "PTX line 287: wgmma.wait_group 1 dropped"
  std::vector<std::pair<std::uint32_t, std::string>> edits;  // lines with what stands there now
  bool drawn = true;  // by a seed; some are only there to be asked for
};

class Mutator {
 public:
  // `entry`: which is changed; empty: the first.
  explicit Mutator(const std::string& ptx, const std::string& entry = "");

  // All that can be done to the text, in the order of its lines.
  const std::vector<Mutation>& all() const { return all_; }
  // One of them: of each kind as often, and of its instructions each.
  const Mutation& of_seed(std::uint64_t seed) const;
  // Number `n` of a kind, counted from 0; null: there are fewer.
  const Mutation* of(const std::string& kind, std::size_t n) const;
  // Several at once: "drop barrier.cluster.arrive #0,2 & drop barrier.cluster.wait #0,2"; "#*" is
  // all of a kind, and a kind without numbers has `n`. No edits: one of them is not there.
  Mutation together(const std::string& kinds, std::size_t n) const;

  std::string apply(const Mutation& mutation) const;

 private:
  std::vector<std::string> lines_;
  std::vector<Mutation> all_;
  std::vector<std::vector<std::size_t>> kinds_;  // indices into all_, kind by kind
};

}  // namespace tilescope::test
