// Two tensors side by side, and all that is known of where they differ: what the diff view, its
// table and the inspector show. Immutable; what is costly is made when it is asked for, once.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "core/diff/patterns.h"
#include "core/diff/ranking.h"
#include "viz/matrix/diff_view.h"

namespace tilescope {

struct RunResult;

struct Comparison {
  std::string title;  // "hgemm_v7: D against reference"
  std::shared_ptr<const Buffer> got, want;
  DiffReport report;
  PatternHints hints;
  std::vector<Pattern> patterns;  // of what is wrong

  // The map of one measure. The same one each time.
  std::shared_ptr<const DiffView> view(Measured what) const;
  // The worst wrong elements by it; at most so many, with their writers where they are known.
  static constexpr std::size_t most_worst = 500;
  const std::vector<Mismatch>& worst(Measured by) const;

 private:
  mutable std::array<std::shared_ptr<const DiffView>, kMeasured.size()> views_;
  mutable std::array<std::shared_ptr<const std::vector<Mismatch>>, kMeasured.size()> worst_;
};

// Refused: other shapes or types, with both. The name of each is in its buffer.
Outcome<std::shared_ptr<const Comparison>> compare(std::string title,
                                                   std::shared_ptr<const Buffer> got,
                                                   std::shared_ptr<const Buffer> want,
                                                   const DiffOptions& options, PatternHints hints);
// The output of a run against what it was compared with; null where it was not.
std::shared_ptr<const Comparison> comparison_of(const std::shared_ptr<const RunResult>& result);
// What is known of how the output came to be: tiles, writers, operands.
PatternHints hints_of(const std::shared_ptr<const RunResult>& result);

// The inputs that an element of the output was made from, in words: those at the same place, or the
// row of A and the column of B that its product is of.
Lines inputs_of(const RunResult& result, Element element);

// "3 of 131,072 wrong", largest errors, tolerance: the totals of a comparison.
Lines totals(const DiffReport& report);

}  // namespace tilescope
