// One element of a product, term by term: every a * b, what of it counted, and where the sum was
// rounded. It is added by the same code that adds all elements of all runs (core/numeric/
// tensor_core.h), which tells its steps on the way; nothing is reckoned a second time.
//
//     ProductSeen (product_watch.h)  -> trace_of(product, row, column) -> steps -> the last `after`
//
// Law: where steps are known, `after` of the last is what the machine has written, bit for bit.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/sim/matrix/product_watch.h"

namespace tilescope::sim {

struct TracedTerm {
  std::uint32_t k = 0;
  double a = 0, b = 0;  // as they count: with the signs and scale factors that they get
  double kept = 0;      // of a * b; all of it, where nothing is aligned
};

// One rounding: of products and the accumulator together, or of a conversion.
struct TracedStep {
  std::string what;  // "16 products and the accumulator, at once"
  std::vector<TracedTerm> terms;
  bool aligned = false;       // terms are multiples of 2^unit; below that they are cut off
  int largest = 0, unit = 0;  // the exponent that they are aligned to
  bool special = false;       // infinities or NaN among them
  double accumulator = 0;     // before; and what of it counted
  double kept = 0;
  double sum = 0;  // of what was kept, exact; where it is no number, see `special`
  std::uint64_t before = 0, after = 0;  // patterns of the accumulator
  double before_value = 0, after_value = 0;
  int bits = 0;         // significant ones of a sum: 24, of f32
  double lost() const;  // by all cuts: exact sum of the terms less `after`, as a double has it
};

enum class TraceState : std::uint8_t {
  exact,     // as the chip adds, step by step
  fused,     // --numerics fast: a chain of fused multiply-adds, which no tensor core does
  one_step,  // how this form adds inside is not told: before and after alone
};

struct ElementTrace {
  TraceState state = TraceState::one_step;
  std::vector<TracedStep> steps;
  std::uint64_t before = 0, after = 0;  // D's element, as the machine had it
  double before_value = 0, after_value = 0;
  bool agrees = true;             // the steps end in what the machine wrote
  std::string_view rule, source;  // how sums are rounded, in a sentence; and where that is from
};

// Of element (row, column) of D of the product, which are below m and n. `before`: what it was
// before, where the product does not keep that.
ElementTrace trace_of(const ProductSeen& product, std::uint32_t row, std::uint32_t column,
                      std::optional<std::uint64_t> before = {});

// How D's patterns are numbers.
double value_in(const ProductSeen& product, std::uint64_t pattern);
// Elements of A and of B as they are stored, before signs and scale factors.
double element_of_a(const ProductSeen& product, std::uint32_t row, std::uint32_t k);
double element_of_b(const ProductSeen& product, std::uint32_t column, std::uint32_t k);
std::string_view a_type(const ProductSeen& product);  // "f16"
std::string_view b_type(const ProductSeen& product);
std::string_view d_type(const ProductSeen& product);  // "f32"

}  // namespace tilescope::sim
