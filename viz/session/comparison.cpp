#include "viz/session/comparison.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "core/numeric/number_text.h"
#include "viz/scene/number_words.h"
#include "viz/session/backend.h"

namespace tilescope {
namespace {

const std::byte* at(const Buffer& buffer, std::int64_t index) {
  return buffer.bytes.data() + static_cast<std::size_t>(index) * bytes_of(buffer.dtype);
}

// What is not zero stays so in a float.
float as_float(double value) {
  const auto out = static_cast<float>(value);
  if (out != 0 || value == 0) return out;
  return value < 0 ? -std::numeric_limits<float>::denorm_min()
                   : std::numeric_limits<float>::denorm_min();
}

// The compared tensors as DiffView asks for them: any rank as a matrix.
class TensorDifference : public DifferenceSource {
 public:
  TensorDifference(std::shared_ptr<const Buffer> got, std::shared_ptr<const Buffer> want,
                   DiffOptions options)
      : got_(std::move(got)),
        want_(std::move(want)),
        options_(options),
        shape_(as_matrix(got_->shape)) {}

  std::int64_t rows() const override { return shape_.rows; }
  std::int64_t columns() const override { return shape_.cols; }

  void values(Measured what, std::int64_t row, std::int64_t column, std::span<float> out,
              std::span<std::uint8_t> wrong) const override {
    const std::int64_t first = row * shape_.cols + column;
    const std::size_t width = bytes_of(got_->dtype);
    const std::byte *got = at(*got_, first), *want = at(*want_, first);
    const bool errors = is_error(what);
    for (std::size_t i = 0; i < out.size(); ++i, got += width, want += width) {
      // Most are: the same bits are the same value, but for NaN where two are not equal.
      if (options_.nan_equal && std::memcmp(got, want, width) == 0) {
        wrong[i] = 0;
        out[i] = errors ? 0 : as_float(load_element(got_->dtype, got));
        continue;
      }
      const Measure m = measured(what, got, want);
      wrong[i] = m.wrong;
      out[i] = value_of(what, m, got, want);
    }
  }
  std::string got(std::int64_t row, std::int64_t column) const override {
    return element_text(got_->dtype, at(*got_, row * shape_.cols + column));
  }
  std::string want(std::int64_t row, std::int64_t column) const override {
    return element_text(want_->dtype, at(*want_, row * shape_.cols + column));
  }

 private:
  // The distance in ulp of f32 decides nothing elsewhere, so it is not computed there.
  Measure measured(Measured what, const std::byte* got, const std::byte* want) const {
    if (got_->dtype != DType::f32 || what == Measured::ulp) {
      return measure(got_->dtype, got, want, options_.tolerance, options_.nan_equal);
    }
    float a = 0, b = 0;
    std::memcpy(&a, got, sizeof a);
    std::memcpy(&b, want, sizeof b);
    return measure_floats(double{a}, double{b}, 0, options_.tolerance, options_.nan_equal);
  }
  float value_of(Measured what, const Measure& m, const std::byte* got,
                 const std::byte* want) const {
    switch (what) {
      case Measured::absolute:
        return as_float(m.absolute);
      case Measured::relative:
        return as_float(m.relative);
      case Measured::ulp:
        return m.ulp == std::numeric_limits<std::uint64_t>::max()
                   ? std::numeric_limits<float>::infinity()
                   : static_cast<float>(m.ulp);
      case Measured::got:
        return as_float(load_element(got_->dtype, got));
      case Measured::want:
        return as_float(load_element(want_->dtype, want));
      case Measured::difference:
        break;
    }
    if (m.absolute == 0) return 0;
    if (std::isinf(m.absolute)) return std::numeric_limits<float>::quiet_NaN();
    const bool less = load_element(got_->dtype, got) < load_element(want_->dtype, want);
    return as_float(less ? -m.absolute : m.absolute);
  }

  std::shared_ptr<const Buffer> got_, want_;
  DiffOptions options_;
  MatrixShape shape_;
};

std::string where_largest(const auto& extreme, const std::vector<std::int64_t>& shape) {
  if (extreme.index < 0) return "0";
  return fmt::format("{:.3g} at {}", static_cast<double>(extreme.value),
                     index_text(extreme.index, shape));
}

// ---- of which operands an output is the product ----

struct Operand {
  const Buffer* values = nullptr;
  bool k_in_rows = false;  // of A (k, m), of B (k, n); else (m, k), (n, k)

  std::int64_t k() const { return values->shape[k_in_rows ? 0 : 1]; }
  double at(std::int64_t outer, std::int64_t k) const {
    const std::int64_t row = k_in_rows ? k : outer, column = k_in_rows ? outer : k;
    return load_element(values->dtype, tilescope::at(*values, row * values->shape[1] + column));
  }
};
struct Product {
  std::string a_name, b_name;
  Operand a, b;
};

// As far as numbers tell: an element or two are the sums that they should be.
bool is_product(const Product& p, const Buffer& output) {
  const std::int64_t m = output.shape[0], n = output.shape[1];
  for (const auto& [row, column] : {std::pair(std::int64_t{0}, n - 1), std::pair(m / 2, n / 3)}) {
    double sum = 0, scale = 0;
    for (std::int64_t k = 0; k < p.a.k(); ++k) {
      sum += p.a.at(row, k) * p.b.at(column, k);
      scale += std::fabs(p.a.at(row, k) * p.b.at(column, k));
    }
    const double found = load_element(output.dtype, at(output, row * n + column));
    if (!(std::fabs(sum - found) <=
          1e-2 * std::fabs(sum) + 1e-3 * scale / std::sqrt(double(p.a.k())))) {
      return false;
    }
  }
  return true;
}

// The two inputs whose product the reference is.
std::optional<Product> product_of(const RunResult& result) {
  if (result.elementwise_inputs.size() < 2 || !result.diff) return {};
  const RunResult::Matrix& a = result.matrices[result.elementwise_inputs[0]];
  const RunResult::Matrix& b = result.matrices[result.elementwise_inputs[1]];
  const Buffer& want = *result.matrices[result.reference].values;
  for (const Buffer* each : {a.values.get(), b.values.get(), &want}) {
    if (each->shape.size() != 2 || each->elements() == 0 || each->bytes.empty()) return {};
  }
  for (const bool a_turned : {false, true}) {
    for (const bool b_turned : {false, true}) {
      const Product p{a.name, b.name, {a.values.get(), a_turned}, {b.values.get(), b_turned}};
      const bool fits = p.a.k() == p.b.k() && a.values->shape[a_turned ? 1 : 0] == want.shape[0] &&
                        b.values->shape[b_turned ? 1 : 0] == want.shape[1];
      if (fits && is_product(p, want)) return p;
    }
  }
  return {};
}

std::string operand_words(const Operand& operand, std::int64_t outer) {
  std::string out = fmt::format("{} {}:", operand.k_in_rows ? "column" : "row", outer);
  for (std::int64_t k = 0; k < std::min<std::int64_t>(operand.k(), 3); ++k) {
    out += fmt::format(" {:.4g}", operand.at(outer, k));
  }
  return operand.k() > 3 ? fmt::format("{} ... ({})", out, operand.k()) : out;
}

}  // namespace

std::shared_ptr<const DiffView> Comparison::view(Measured what) const {
  auto& out = views_[static_cast<std::size_t>(what)];
  if (!out) {
    out = std::make_shared<const DiffView>(
        std::make_shared<const TensorDifference>(got, want, report.options), title, totals(report),
        what);
  }
  return out;
}

const std::vector<Mismatch>& Comparison::worst(Measured by) const {
  auto& out = worst_[static_cast<std::size_t>(by)];
  if (!out) {
    std::vector<Mismatch> all = tilescope::worst(*got, *want, report.options, by, most_worst);
    for (Mismatch& each : all) {
      if (hints.writer) each.writer = hints.writer(each.index);
    }
    out = std::make_shared<const std::vector<Mismatch>>(std::move(all));
  }
  return *out;
}

Outcome<std::shared_ptr<const Comparison>> compare(std::string title,
                                                   std::shared_ptr<const Buffer> got,
                                                   std::shared_ptr<const Buffer> want,
                                                   const DiffOptions& options, PatternHints hints) {
  auto report = diff(*got, *want, options);
  if (!report) return report.error();
  auto out = std::make_shared<Comparison>();
  out->title = std::move(title);
  if (!report->ok()) out->patterns = find_patterns(*got, *want, options, hints);
  out->got = std::move(got);
  out->want = std::move(want);
  out->report = std::move(*report);
  out->hints = std::move(hints);
  return std::shared_ptr<const Comparison>(std::move(out));
}

PatternHints hints_of(const std::shared_ptr<const RunResult>& result) {
  PatternHints out;
  const std::vector<std::int64_t>& tile = result->matrices[result->output].values->tile;
  if (!tile.empty()) out.tile = {tile.size() > 1 ? tile[tile.size() - 2] : 1, tile.back()};
  out.writer = result->writer;
  if (const auto product = product_of(*result)) {
    out.operands = [result, product = *product](std::int64_t row, std::int64_t column,
                                                std::vector<double>& a, std::vector<double>& b) {
      a.clear(), b.clear();
      for (std::int64_t k = 0; k < product.a.k(); ++k) {
        a.push_back(product.a.at(row, k));
        b.push_back(product.b.at(column, k));
      }
      return true;
    };
  }
  return out;
}

std::shared_ptr<const Comparison> comparison_of(const std::shared_ptr<const RunResult>& result) {
  if (!result || !result->diff) return nullptr;
  auto out = std::make_shared<Comparison>();
  const RunResult::Matrix& got = result->matrices[result->output];
  const RunResult::Matrix& want = result->matrices[result->reference];
  out->title = fmt::format("{}: {} against {}", result->kernel.name, got.name, want.name);
  out->got = got.values;
  out->want = want.values;
  out->report = *result->diff;
  if (!out->report.ok()) {
    out->hints = hints_of(result);
    out->patterns = find_patterns(*got.values, *want.values, out->report.options, out->hints);
  }
  return out;
}

Lines inputs_of(const RunResult& result, Element element) {
  Lines lines;
  if (const auto product = product_of(result)) {
    lines.emplace_back(fmt::format("from {}", product->a_name),
                       operand_words(product->a, element.row));
    lines.emplace_back(fmt::format("from {}", product->b_name),
                       operand_words(product->b, element.column));
    return lines;
  }
  const Buffer& output = *result.matrices[result.output].values;
  const std::int64_t index = element.row * as_matrix(output.shape).cols + element.column;
  for (const std::size_t input : result.elementwise_inputs) {
    const RunResult::Matrix& matrix = result.matrices[input];
    if (matrix.values->shape != output.shape) continue;
    lines.emplace_back(fmt::format("from {}", matrix.name),
                       element_text(matrix.values->dtype, at(*matrix.values, index)));
  }
  return lines;
}

Lines totals(const DiffReport& report) {
  Lines lines;
  lines.emplace_back("compared", grouped(report.compared));
  lines.emplace_back("wrong", grouped(report.wrong));
  lines.emplace_back("exact", grouped(report.exact));
  lines.emplace_back("largest absolute error", where_largest(report.max_absolute, report.shape));
  lines.emplace_back("largest relative error", where_largest(report.max_relative, report.shape));
  lines.emplace_back("largest error in ulp", where_largest(report.max_ulp, report.shape));
  lines.emplace_back("mean absolute error", fmt::format("{:.3g}", report.mean_absolute));
  const Tolerance& tolerance = report.options.tolerance;
  lines.emplace_back("tolerance",
                     fmt::format("{:g} + {:g} |want|", tolerance.atol, tolerance.rtol));
  return lines;
}

}  // namespace tilescope
