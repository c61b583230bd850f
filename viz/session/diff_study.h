// What the reader chose of a comparison: with what, what of it is shown, and how.
#pragma once

#include <memory>
#include <string>

#include "core/diff/measured.h"
#include "viz/matrix/diff_marks.h"

namespace tilescope {

struct Comparison;  // viz/session/comparison.h

struct DiffStudy {
  std::shared_ptr<const Comparison> comparison;  // null where nothing is compared
  std::string against;                           // as `diff against` takes it; empty: as it was run
  Measured measured = Measured::difference;
  std::shared_ptr<const DiffMarks> marks;  // null: none
  bool as_table = false;                   // the worst elements as a table, instead of the map

  // What is compared shows in ViewState::diff.
  friend bool operator==(const DiffStudy& a, const DiffStudy& b) {
    const bool same_marks =
        a.marks && b.marks ? a.marks->range() == b.marks->range() : a.marks == b.marks;
    return a.against == b.against && a.measured == b.measured && same_marks &&
           a.as_table == b.as_table;
  }
};

}  // namespace tilescope
