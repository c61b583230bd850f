#include "core/diff/diff.h"

#include <fmt/format.h>

#include <bit>

#include "core/numeric/number_text.h"

namespace tilescope {
namespace {

// What a run of elements adds to the totals, but for where its extremes lie.
struct RunSummary {
  double sum_absolute;  // in: of all elements before
  double max_absolute = 0, max_relative = 0;
  std::uint64_t max_ulp = 0, wrong = 0, exact = 0;
};

// The summary of finite f32 elements, without a branch in the loop; false where one is not finite.
// Says the same as measure(): a double holds the difference of most floats exactly, and rounds it
// as measure() does where not.
bool summarise_f32(const std::byte* got, const std::byte* want, std::int64_t count,
                   Tolerance tolerance, RunSummary& out) {
  constexpr std::int32_t magnitude = 0x7fffffff, infinity = 0x7f800000;
  RunSummary s = out;
  std::int32_t largest = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    std::int32_t a, b;
    std::memcpy(&a, got + 4 * i, sizeof a);
    std::memcpy(&b, want + 4 * i, sizeof b);
    const std::int32_t ma = a & magnitude, mb = b & magnitude;
    largest = std::max(largest, std::max(ma, mb));
    // Patterns as integers in the order of the values: with the sign, a magnitude m is -m.
    const std::int64_t ordered_a = (ma ^ (a >> 31)) - std::int64_t{a >> 31};
    const std::int64_t ordered_b = (mb ^ (b >> 31)) - std::int64_t{b >> 31};
    const auto ulp = static_cast<std::uint64_t>(std::llabs(ordered_a - ordered_b));
    const double size = std::fabs(double{std::bit_cast<float>(b)});
    const double absolute = std::fabs(double{std::bit_cast<float>(a)} - std::bit_cast<float>(b));
    const double relative = absolute > 0 ? absolute / size : 0;
    s.sum_absolute += absolute;
    s.max_absolute = std::max(s.max_absolute, absolute);
    s.max_relative = std::max(s.max_relative, relative);
    s.max_ulp = std::max(s.max_ulp, ulp);
    s.wrong += !(absolute <= tolerance.atol + tolerance.rtol * size);
    s.exact += absolute == 0;
  }
  if (largest >= infinity) return false;
  out = s;
  return true;
}

bool same(const Measure& m) {
  return m.absolute == 0 && !m.wrong;
}

Error mismatch(std::string sentence) {
  return {ErrorKind::mismatch, std::move(sentence), ""};
}

std::optional<Error> objection(const Buffer& got, const Buffer& want, const DiffOptions& options) {
  const auto described = [](const Buffer& b) {
    return fmt::format("{} is {} {}", b.name, name_of(b.dtype), shape_text(b.shape));
  };
  if (got.dtype != want.dtype || got.shape != want.shape) {
    return mismatch(fmt::format("{}, but {}: only tensors of one type and shape can be compared.",
                                described(got), described(want)));
  }
  for (const Buffer* b : {&got, &want}) {
    const std::size_t needed = static_cast<std::size_t>(b->elements()) * bytes_of(b->dtype);
    if (b->bytes.size() != needed) {
      return mismatch(fmt::format("{}, which needs {} bytes, but it has {}.", described(*b), needed,
                                  b->bytes.size()));
    }
  }
  const auto usable = [](double t) { return t >= 0 && std::isfinite(t); };
  if (!usable(options.tolerance.rtol) || !usable(options.tolerance.atol)) {
    return mismatch(
        fmt::format("A tolerance of rtol {}, atol {} was asked for; each must be a "
                    "number of 0 or more, like 1e-5.",
                    options.tolerance.rtol, options.tolerance.atol));
  }
  return std::nullopt;
}

template <class T>
void raise(Extreme<T>& extreme, T value, std::int64_t index) {
  if (extreme.index < 0 || value > extreme.value) extreme = {value, index};
}

void put_in_bin(HeatBin& bin, const Measure& m) {
  bin.wrong += m.wrong;
  bin.max_absolute = std::max(bin.max_absolute, m.absolute);
  bin.max_relative = std::max(bin.max_relative, m.relative);
  bin.max_ulp = std::max(bin.max_ulp, m.ulp);
}

}  // namespace

Tolerance tolerance_for(DType type) {
  switch (type) {
    case DType::f64:
      return {1e-7, 1e-7};
    case DType::f32:
      return {1.3e-6, 1e-5};
    case DType::f16:
      return {1e-3, 1e-5};
    case DType::bf16:
      return {1.6e-2, 1e-5};
    case DType::e4m3:
      return {0.125, 0x1p-9};  // one ulp, and the smallest denormal
    case DType::e5m2:
      return {0.25, 0x1p-16};
    default:
      return {};
  }
}

Outcome<Differ> Differ::start(const Buffer& got, const Buffer& want, DiffOptions options) {
  if (const std::optional<Error> error = objection(got, want, options)) return *error;
  return Differ(got, want, options);
}

Differ::Differ(const Buffer& got, const Buffer& want, DiffOptions options)
    : got_(&got), want_(&want), total_(got.elements()) {
  report_.got_name = got.name;
  report_.want_name = want.name;
  report_.dtype = got.dtype;
  report_.shape = got.shape;
  report_.options = options;
  const MatrixShape matrix = as_matrix(got.shape);
  report_.heat = HeatMap({0, 0, matrix.rows, matrix.cols}, options.heat_rows, options.heat_cols);
}

// Runs of elements that lie in one row and one bin.
bool Differ::advance(std::int64_t count) {
  const std::int64_t end = next_ + std::min(std::max<std::int64_t>(count, 1), total_ - next_);
  HeatMap& heat = report_.heat;
  const std::int64_t cols = heat.area.cols;
  while (next_ < end) {
    const std::int64_t row = next_ / cols, row_end = std::min(end, (row + 1) * cols);
    std::int64_t c = next_ % cols / heat.col_step;
    while (next_ < row_end) {
      const std::int64_t bin_end = row * cols + (c + 1) * heat.col_step;
      compare_run(std::min(row_end, bin_end), heat.bin(row / heat.row_step, c));
      ++c;
    }
  }
  return next_ == total_;
}

void Differ::compare_run(std::int64_t end, HeatBin& bin) {
  const auto run = static_cast<std::uint64_t>(end - next_);
  report_.compared += run;
  bin.compared += run;
  if (report_.dtype == DType::f32 && add_summary(end, bin)) {
    next_ = end;
    return;
  }
  const std::size_t width = bytes_of(report_.dtype);
  for (; next_ < end; ++next_) {
    const std::size_t at = static_cast<std::size_t>(next_) * width;
    const Measure m = measure(report_.dtype, got_->bytes.data() + at, want_->bytes.data() + at,
                              report_.options.tolerance, report_.options.nan_equal);
    if (same(m)) {
      ++report_.exact;
    } else {
      record(next_, m, bin);
    }
  }
}

// The fast way for a run of f32: its summary is enough, unless the run holds a new extreme or an
// element for one of the lists, which soon becomes rare.
bool Differ::add_summary(std::int64_t end, HeatBin& bin) {
  RunSummary s{sum_absolute_};
  const std::size_t at = static_cast<std::size_t>(next_) * 4;
  if (!summarise_f32(got_->bytes.data() + at, want_->bytes.data() + at, end - next_,
                     report_.options.tolerance, s)) {
    return false;
  }
  const bool differs = s.max_ulp > 0;
  const bool new_extreme = s.max_absolute > report_.max_absolute.value ||
                           s.max_relative > report_.max_relative.value ||
                           s.max_ulp > report_.max_ulp.value;
  const bool for_a_list =
      s.wrong && (first_.size() < report_.options.first || worst_.size() < report_.options.worst ||
                  (!worst_.empty() && s.max_absolute > worst_.front().absolute));
  if (differs && (report_.max_ulp.index < 0 || new_extreme || for_a_list)) return false;
  sum_absolute_ = s.sum_absolute;
  report_.wrong += s.wrong;
  report_.exact += s.exact;
  bin.merge({0, s.wrong, s.max_absolute, s.max_relative, s.max_ulp});
  return true;
}

void Differ::record(std::int64_t index, const Measure& m, HeatBin& bin) {
  raise(report_.max_absolute, m.absolute, index);
  raise(report_.max_relative, m.relative, index);
  raise(report_.max_ulp, m.ulp, index);
  if (std::isfinite(m.absolute)) {
    sum_absolute_ += m.absolute;
  } else {
    ++report_.not_finite;
  }
  put_in_bin(bin, m);
  if (m.wrong) remember(index, m);
}

bool Differ::worse(const Candidate& a, const Candidate& b) {
  return a.absolute > b.absolute || (a.absolute == b.absolute && a.index < b.index);
}

void Differ::remember(std::int64_t index, const Measure& m) {
  ++report_.wrong;
  if (first_.size() < report_.options.first) first_.push_back(index);
  const Candidate candidate{m.absolute, index};
  if (worst_.size() < report_.options.worst) {
    worst_.push_back(candidate);
    std::push_heap(worst_.begin(), worst_.end(), worse);
  } else if (!worst_.empty() && worse(candidate, worst_.front())) {
    std::pop_heap(worst_.begin(), worst_.end(), worse);
    worst_.back() = candidate;
    std::push_heap(worst_.begin(), worst_.end(), worse);
  }
}

DiffReport Differ::report() const {
  DiffReport report = report_;
  const std::uint64_t finite = report.compared - report.not_finite;
  report.mean_absolute = finite ? sum_absolute_ / static_cast<double>(finite) : 0;
  for (const std::int64_t index : first_)
    report.first.push_back(mismatch_at(*got_, *want_, report.options, index));
  std::vector<Candidate> worst = worst_;
  std::sort(worst.begin(), worst.end(), worse);
  for (const Candidate& candidate : worst)
    report.worst.push_back(mismatch_at(*got_, *want_, report.options, candidate.index));
  return report;
}

Outcome<DiffReport> diff(const Buffer& got, const Buffer& want, DiffOptions options) {
  Outcome<Differ> differ = Differ::start(got, want, options);
  if (!differ) return differ.error();
  differ->advance(differ->total());
  return differ->report();
}

Mismatch mismatch_at(const Buffer& got, const Buffer& want, const DiffOptions& options,
                     std::int64_t index) {
  const std::size_t at = static_cast<std::size_t>(index) * bytes_of(got.dtype);
  const std::byte* a = got.bytes.data() + at;
  const std::byte* b = want.bytes.data() + at;
  Mismatch m;
  m.index = index;
  m.got = load_element(got.dtype, a);
  m.want = load_element(got.dtype, b);
  m.got_text = element_text(got.dtype, a);
  m.want_text = element_text(got.dtype, b);
  m.error = measure(got.dtype, a, b, options.tolerance, options.nan_equal);
  return m;
}

void name_writers(DiffReport& report, const Execution& execution, std::size_t buffer) {
  const auto fill = [&](std::vector<Mismatch>& mismatches) {
    for (Mismatch& m : mismatches) {
      m.writer =
          execution.writer(buffer, static_cast<std::size_t>(m.index) * bytes_of(report.dtype));
    }
  };
  fill(report.first);
  fill(report.worst);
  report.traced = true;
}

}  // namespace tilescope
