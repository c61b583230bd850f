// What wrong elements have in common: the pattern is the name of the mistake.
//
//     for (const Pattern& p : find_patterns(got, want, options, hints)) say(p.name, p.evidence);
//
// Three questions, each with an answer only where the numbers leave no doubt:
//
//   where    everything, one tile or several whole ones, every k-th row or column (or the same few
//            of every k, as a warp's rows of an accumulator), a rectangle, the edge
//   who      one warp, one lane, one block, one line of the source wrote all wrong elements and
//            none of the right ones
//   what     the right values in another place (transposed, shifted, a swizzle that was not taken
//            back), a constant factor or offset, zeros, NaN; of a product: a stage of K that is
//            missing, comes twice, or is another one's
//
// Law: a pattern holds for at least nine of ten wrong elements (of those looked at: up to 512,
// spread evenly), and what moves values must explain four times more than the same map of other
// elements does; so wrong elements that are random have none, and nothing is said of a handful.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/diff/diff.h"

namespace tilescope {

struct Pattern {
  enum class Kind : std::uint8_t {
    everything,
    tile,
    rows,
    columns,
    rectangle,
    writer,
    moved,
    value,
    stage
  };
  Kind kind = Kind::everything;
  std::string name;        // "a whole tile", "every 4th row", "transposed"
  std::string evidence;    // a sentence with the numbers
  std::int64_t first = 0;  // a wrong element that it holds for: the first, row-major
};
std::string_view name_of(Pattern::Kind kind);

// What is known of the kernel, each of it optional.
struct PatternHints {
  MatrixShape tile{0, 0};  // what one block computes of the result
  // Who wrote an element last, by its row-major index.
  std::function<std::optional<Site>(std::int64_t)> writer;
  // Where an element is the sum of a[k] * b[k]: its two operands. False: it is not known.
  std::function<bool(std::int64_t row, std::int64_t column, std::vector<double>& a,
                     std::vector<double>& b)>
      operands;
};

// The tensors must be fit for Differ::start. In order: where, who, what.
std::vector<Pattern> find_patterns(const Buffer& got, const Buffer& want,
                                   const DiffOptions& options, const PatternHints& hints = {});

}  // namespace tilescope
