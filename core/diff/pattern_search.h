// What the searches for patterns share: which elements are wrong, and a few of them to look at.
// Private to core/diff.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/diff/patterns.h"

namespace tilescope::patterns {

struct Place {
  std::int64_t row = 0, column = 0;
};

inline constexpr std::size_t fewest = 8;  // wrong elements, below which nothing is said
inline constexpr std::size_t looked_at = 512;
inline constexpr double holds = 0.9;  // the share of elements that a pattern is to explain

class Search {
 public:
  Search(const Buffer& got, const Buffer& want, const DiffOptions& options);

  std::int64_t rows() const { return shape_.rows; }
  std::int64_t columns() const { return shape_.cols; }
  std::uint64_t wrong() const { return wrong_; }
  bool is_wrong(Place at) const { return bits_[index(at)] != 0; }
  const std::vector<std::uint8_t>& bits() const { return bits_; }  // row-major, 1: wrong
  const std::vector<std::uint64_t>& in_row() const { return in_row_; }
  const std::vector<std::uint64_t>& in_column() const { return in_column_; }
  // The smallest rectangle that holds all wrong elements.
  const MatrixRect& box() const { return box_; }
  // Wrong elements, and right ones, spread evenly over all of them; row-major.
  const std::vector<Place>& sample() const { return sample_; }
  const std::vector<Place>& right_sample() const { return right_; }

  bool inside(Place at) const {
    return at.row >= 0 && at.row < rows() && at.column >= 0 && at.column < columns();
  }
  std::int64_t number(Place at) const { return at.row * columns() + at.column; }
  double got(Place at) const { return load_element(got_->dtype, byte_of(*got_, at)); }
  double want(Place at) const { return load_element(got_->dtype, byte_of(*want_, at)); }
  // Is what came out here what should be there?
  bool is_value_of(Place here, Place there) const;
  // Is what came out here this number, as far as the type and the tolerance tell?
  bool is_about(Place here, double value) const;
  DType dtype() const { return got_->dtype; }
  const Tolerance& tolerance() const { return options_->tolerance; }

  Pattern pattern(Pattern::Kind kind, std::string name, std::string evidence) const;

 private:
  std::size_t index(Place at) const { return static_cast<std::size_t>(number(at)); }
  const std::byte* byte_of(const Buffer& buffer, Place at) const {
    return buffer.bytes.data() + index(at) * bytes_of(buffer.dtype);
  }

  const Buffer* got_;
  const Buffer* want_;
  const DiffOptions* options_;
  MatrixShape shape_;
  std::vector<std::uint8_t> bits_;
  std::vector<std::uint64_t> in_row_, in_column_;
  MatrixRect box_;
  std::uint64_t wrong_ = 0;
  std::vector<Place> sample_, right_;
};

// "12 of 512 wrong elements looked at", or "all 12 wrong elements".
std::string share_text(std::size_t held, std::size_t of, std::uint64_t wrong);

void find_places(const Search& search, const PatternHints& hints, std::vector<Pattern>& out);
void find_writers(const Search& search, const PatternHints& hints, std::vector<Pattern>& out);
void find_values(const Search& search, const PatternHints& hints, std::vector<Pattern>& out);
void find_stages(const Search& search, const PatternHints& hints, std::vector<Pattern>& out);

}  // namespace tilescope::patterns
