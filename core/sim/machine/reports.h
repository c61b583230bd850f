// What a run has to tell: faults, which end it, and hazards and notes, which let it go on and are
// told once a site, with a count.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/run/job.h"
#include "core/sim/machine/code.h"

namespace tilescope::sim {

class Reports {
 public:
  explicit Reports(Model& model) : model_(&model) {}
  Reports(Model& model, const Reports& other) : Reports(other) { model_ = &model; }

  const std::vector<Report>& all() const { return reports_; }
  void add(Report report) { reports_.push_back(std::move(report)); }

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
  // The same of whatever instructions do it at one place of shared memory: told once for the place.
  void note_of_place(const Core& x, int lane, std::string kind, std::uint32_t offset,
                     const std::function<Report()>& tell);
  void note_at(const Block& block, std::uint32_t thread, std::uint32_t pc, std::string kind,
               std::uint32_t other_pc, const std::function<Report()>& tell);

  // The instruction at hand stores undefined bytes: where they come from is told at the end, should
  // they lie in a result.
  void note_undefined_store(const Core& x);
  // Whether any did so, one of which more is not known, too.
  bool stored_undefined() const { return stored_undefined_; }
  // How many instructions, of how many blocks, did so.
  std::size_t undefined_stores() const { return undefined_stores_.size(); }
  // Where the undefined bytes came from that `writer` stored; empty: not known.
  std::string undefined_story(Writer writer) const;

 private:
  Reports(const Reports&) = default;
  using Key = std::tuple<std::string, std::uint32_t, std::uint32_t>;
  void tell_once(Weight weight, const Block& block, std::uint32_t thread, std::uint32_t pc, Key key,
                 const std::function<Report()>& tell);

  Model* model_;
  std::vector<Report> reports_;
  // By kind and the two instructions, which report it is.
  std::map<Key, std::size_t> hazards_;
  // By block and instruction.
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::string> undefined_stores_;
  bool stored_undefined_ = false;
};

}  // namespace tilescope::sim
