#include "core/diff/patterns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/diff/pattern_search.h"

namespace tilescope {
namespace patterns {

Search::Search(const Buffer& got, const Buffer& want, const DiffOptions& options)
    : got_(&got), want_(&want), options_(&options), shape_(as_matrix(got.shape)) {
  const std::size_t width = bytes_of(got.dtype), count = static_cast<std::size_t>(got.elements());
  bits_.assign(count, 0);
  in_row_.assign(static_cast<std::size_t>(rows()), 0);
  in_column_.assign(static_cast<std::size_t>(columns()), 0);
  std::int64_t top = rows(), bottom = -1, left = columns(), right = -1;
  for (std::int64_t row = 0; row < rows(); ++row) {
    for (std::int64_t column = 0; column < columns(); ++column) {
      const Place at{row, column};
      const std::byte *a = byte_of(got, at), *b = byte_of(want, at);
      if (options.nan_equal && std::memcmp(a, b, width) == 0) continue;
      if (!measure(got.dtype, a, b, options.tolerance, options.nan_equal).wrong) continue;
      bits_[index(at)] = 1;
      ++wrong_;
      ++in_row_[static_cast<std::size_t>(row)];
      ++in_column_[static_cast<std::size_t>(column)];
      top = std::min(top, row), bottom = std::max(bottom, row);
      left = std::min(left, column), right = std::max(right, column);
    }
  }
  if (wrong_ == 0) return;
  box_ = {top, left, bottom - top + 1, right - left + 1};
  const std::uint64_t good = count - wrong_;
  // Not every n-th exactly, which a period of the matrix could meet: a step that drifts.
  std::uint64_t nth_wrong = 0, nth_right = 0;
  const auto taken = [](std::uint64_t nth, std::uint64_t all, std::size_t have) {
    if (all <= looked_at) return true;
    const double place = (static_cast<double>(have) + 0.5 * std::fmod(0.618 * double(have), 1.0)) *
                         static_cast<double>(all) / static_cast<double>(looked_at);
    return have < looked_at && static_cast<double>(nth) >= place;
  };
  for (std::size_t i = 0; i < count; ++i) {
    const auto n = static_cast<std::int64_t>(i);
    const Place at{n / columns(), n % columns()};
    if (bits_[i] != 0) {
      if (taken(nth_wrong++, wrong_, sample_.size())) sample_.push_back(at);
    } else if (taken(nth_right++, good, right_.size())) {
      right_.push_back(at);
    }
  }
}

bool Search::is_value_of(Place here, Place there) const {
  return !measure(got_->dtype, byte_of(*got_, here), byte_of(*want_, there), options_->tolerance,
                  options_->nan_equal)
              .wrong;
}

bool Search::is_about(Place here, double value) const {
  if (!std::isfinite(value)) return false;
  std::byte bytes[8]{};
  store_element(got_->dtype, bytes, value);
  return !measure(got_->dtype, byte_of(*got_, here), bytes, options_->tolerance,
                  options_->nan_equal)
              .wrong;
}

Pattern Search::pattern(Pattern::Kind kind, std::string name, std::string evidence) const {
  return {kind, std::move(name), std::move(evidence), number(sample_.front())};
}

std::string share_text(std::size_t held, std::size_t of, std::uint64_t wrong) {
  if (held == of && of == wrong) return fmt::format("all {} wrong elements", wrong);
  return fmt::format("{} of {} wrong elements{}", held, of, of == wrong ? "" : " looked at");
}

}  // namespace patterns

std::string_view name_of(Pattern::Kind kind) {
  constexpr std::string_view names[] = {"everything", "tile",  "rows",  "columns", "rectangle",
                                        "writer",     "moved", "value", "stage"};
  return names[static_cast<std::size_t>(kind)];
}

std::vector<Pattern> find_patterns(const Buffer& got, const Buffer& want,
                                   const DiffOptions& options, const PatternHints& hints) {
  std::vector<Pattern> out;
  if (got.elements() == 0) return out;
  const patterns::Search search(got, want, options);
  if (search.wrong() < patterns::fewest) return out;
  patterns::find_places(search, hints, out);
  patterns::find_writers(search, hints, out);
  patterns::find_values(search, hints, out);
  patterns::find_stages(search, hints, out);
  return out;
}

}  // namespace tilescope
