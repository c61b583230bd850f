// Levels run with numbers: what each answers for a thread and a block, and whether that is what
// core's algebra says of the same layout with the numbers filled in.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "core/lower/lowering.h"

namespace tilescope::lowering {

// What a kernel knows when it runs.
struct Inputs {
  std::vector<std::int64_t> unknowns;  // of %arg0's layout: shape, then stride
  std::int64_t thread = 0;
  std::array<std::int64_t, 3> block{};
};

// The numbers that a level answers: a pointer's offset in elements, then what is not known of its
// type. Statement by statement, each by its own rule; a number that is assumed to be divisible and
// is not, is refused.
Outcome<std::vector<std::int64_t>> evaluate(const Lowering& lowering, const Level& level,
                                            const Inputs& inputs);

// What each statement of a level comes to: a number, or a pointer's offset in elements; nothing for
// what is more than one number.
Outcome<std::vector<std::optional<std::int64_t>>> values(const Lowering& lowering,
                                                         const Level& level, const Inputs& inputs);

// The layout with its unknown numbers filled in, shape before stride.
Layout filled(const Layout& layout, const std::vector<std::int64_t>& unknowns);

struct Checked {
  std::int64_t inputs = 0;    // choices of the unknown numbers and of the block
  std::int64_t threads = 0;   // of each
  std::int64_t elements = 0;  // offsets compared, of all
  int levels = 0;
};
// Runs every level for every thread (one where none is asked for) with several choices of the
// unknown numbers and blocks. All levels must answer the same, and where that is a tensor, it must
// have each element where the program's own operations have it on the layout with its numbers. A
// disagreement is an error that names level, thread and numbers.
Outcome<Checked> check(const Lowering& lowering);

}  // namespace tilescope::lowering
