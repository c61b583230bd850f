#include "viz/scene/result_view.h"

#include <fmt/format.h>

#include <cstring>
#include <limits>

#include "core/numeric/number_text.h"
#include "viz/scene/number_words.h"

namespace tilescope {
namespace {

const std::byte* at(const Buffer& buffer, std::int64_t index) {
  return buffer.bytes.data() + static_cast<std::size_t>(index) * bytes_of(buffer.dtype);
}

// The compared tensors as DiffView asks for them: any rank as a matrix, NaN where one of them is
// not finite and they are not the same.
class ResultDifference : public DifferenceSource {
 public:
  explicit ResultDifference(std::shared_ptr<const RunResult> result)
      : result_(std::move(result)),
        got_(*result_->matrices[result_->output].values),
        want_(*result_->matrices[result_->reference].values),
        shape_(as_matrix(got_.shape)) {}

  std::int64_t rows() const override { return shape_.rows; }
  std::int64_t columns() const override { return shape_.cols; }

  void read(std::int64_t row, std::int64_t column, std::span<float> difference,
            std::span<std::uint8_t> wrong) const override {
    const std::int64_t first = row * shape_.cols + column;
    if (got_.dtype == DType::f32) {
      read_f32(first, difference, wrong);
      return;
    }
    const DiffOptions& options = result_->diff->options;
    for (std::size_t i = 0; i < difference.size(); ++i) {
      const std::int64_t index = first + static_cast<std::int64_t>(i);
      const Measure m = measure(got_.dtype, at(got_, index), at(want_, index), options.tolerance,
                                options.nan_equal);
      const double got = load_element(got_.dtype, at(got_, index));
      const double want = load_element(want_.dtype, at(want_, index));
      difference[i] = signed_error(m, got, want);
      wrong[i] = m.wrong;
    }
  }
  std::string got(std::int64_t row, std::int64_t column) const override {
    return element_text(got_.dtype, at(got_, row * shape_.cols + column));
  }
  std::string want(std::int64_t row, std::int64_t column) const override {
    return element_text(want_.dtype, at(want_, row * shape_.cols + column));
  }

 private:
  static float signed_error(const Measure& m, double got, double want) {
    if (m.absolute == 0) return 0;
    if (!(m.absolute < std::numeric_limits<double>::infinity())) {
      return std::numeric_limits<float>::quiet_NaN();
    }
    return static_cast<float>(got < want ? -m.absolute : m.absolute);
  }
  void read_f32(std::int64_t first, std::span<float> difference,
                std::span<std::uint8_t> wrong) const {
    const DiffOptions& options = result_->diff->options;
    for (std::size_t i = 0; i < difference.size(); ++i) {
      float got = 0, want = 0;
      std::memcpy(&got, at(got_, first + static_cast<std::int64_t>(i)), sizeof got);
      std::memcpy(&want, at(want_, first + static_cast<std::int64_t>(i)), sizeof want);
      if (got == want) {
        difference[i] = 0;
        wrong[i] = 0;
        continue;
      }
      // The distance in ulp decides nothing here, so it is not computed.
      const Measure m =
          measure_floats(double{got}, double{want}, 0, options.tolerance, options.nan_equal);
      difference[i] = signed_error(m, double{got}, double{want});
      wrong[i] = m.wrong;
    }
  }

  std::shared_ptr<const RunResult> result_;
  const Buffer& got_;
  const Buffer& want_;
  MatrixShape shape_;
};

MatricesView::Matrix matrix(std::string name, std::string detail,
                            std::shared_ptr<const Buffer> values) {
  const MatrixShape shape = as_matrix(values->shape);
  return {std::move(name), std::move(detail), std::move(values), shape.rows, shape.cols};
}

std::shared_ptr<const MatricesView> view_of(std::string title,
                                            std::vector<MatricesView::Matrix> matrices) {
  if (matrices.empty()) return nullptr;
  return std::make_shared<const MatricesView>(std::move(title), std::move(matrices));
}

std::string where_largest(const auto& extreme, const std::vector<std::int64_t>& shape) {
  if (extreme.index < 0) return "0";
  return fmt::format("{:.3g} at {}", static_cast<double>(extreme.value),
                     index_text(extreme.index, shape));
}

void add_writer(Lines& lines, const std::optional<Site>& writer) {
  if (!writer) {
    lines.emplace_back("written by", "nobody");
    return;
  }
  const Site& site = *writer;
  lines.emplace_back("block", fmt::format("({},{},{})", site.block.x, site.block.y, site.block.z));
  lines.emplace_back("warp", fmt::format("{}", site.warp));
  lines.emplace_back("lane", fmt::format("{}", site.lane));
  lines.emplace_back("thread", fmt::format("{}", site.warp * 32 + site.lane));
  if (site.source_line) {
    lines.emplace_back("source", fmt::format("{}:{}", site.source, site.source_line));
  }
  if (site.ptx_line) lines.emplace_back("PTX line", fmt::format("{}", site.ptx_line));
}

}  // namespace

std::shared_ptr<const MatricesView> matrices_of(const KernelCard& kernel) {
  std::vector<MatricesView::Matrix> matrices;
  for (const KernelCard::Tensor& tensor : kernel.tensors) {
    if (!tensor.values) continue;
    matrices.push_back(
        matrix(tensor.name, fmt::format("{}, {}", tensor.shape, tensor.from), tensor.values));
  }
  return view_of(fmt::format("{}: inputs", kernel.name), std::move(matrices));
}

std::shared_ptr<const MatricesView> matrices_of(const RunResult& result) {
  std::vector<MatricesView::Matrix> matrices;
  for (const RunResult::Matrix& each : result.matrices) {
    std::string from = fmt::format("what {} should be", result.matrices[result.output].name);
    for (const KernelCard::Tensor& tensor : result.kernel.tensors) {
      if (tensor.name == each.name) from = fmt::format("{}, {}", tensor.shape, tensor.from);
    }
    matrices.push_back(matrix(each.name, from, each.values));
  }
  return view_of(fmt::format("{}: inputs and result", result.kernel.name), std::move(matrices));
}

std::shared_ptr<const MatricesView> matrices_of(const std::string& path,
                                                std::shared_ptr<const Buffer> values) {
  const std::string name = path.substr(path.find_last_of('/') + 1);
  const std::string detail =
      fmt::format("{} {}", name_of(values->dtype), shape_text(values->shape));
  return view_of(name, {matrix("values", detail, std::move(values))});
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

std::string outcome_of(const RunResult& result, bool with_time) {
  const std::string& name = result.kernel.name;
  if (result.end == RunResult::End::cancelled) {
    return fmt::format("{} was stopped after {} of {} blocks.", name, grouped(result.progress.done),
                       grouped(result.progress.total));
  }
  if (result.end == RunResult::End::fault) {
    return fmt::format("{} faulted: {}", name,
                       result.reports.empty() ? "" : result.reports.back().sentence);
  }
  const std::string took =
      with_time ? fmt::format("; simulated in {}", duration(result.progress.seconds)) : "";
  if (!result.diff) return fmt::format("{} ran to its end{}.", name, took);
  const std::string& against = result.matrices[result.reference].name;
  const std::string reference = against == "reference" ? "the reference" : against;
  if (result.diff->ok()) {
    return fmt::format("{}: all {} elements agree with {}{}.", name, grouped(result.diff->compared),
                       reference, took);
  }
  return fmt::format("{}: {} of {} elements differ from {}{}.", name, grouped(result.diff->wrong),
                     grouped(result.diff->compared), reference, took);
}

std::shared_ptr<const DiffView> diff_of(std::shared_ptr<const RunResult> result) {
  if (!result || !result->diff) return nullptr;
  const std::string title =
      fmt::format("{}: {} against {}", result->kernel.name, result->matrices[result->output].name,
                  result->matrices[result->reference].name);
  Lines lines = totals(*result->diff);
  auto source = std::make_shared<const ResultDifference>(std::move(result));
  return std::make_shared<const DiffView>(std::move(source), title, std::move(lines));
}

FinishedRun finished(std::shared_ptr<const RunResult> result) {
  FinishedRun out;
  out.matrices = matrices_of(*result);
  out.diff = diff_of(result);
  if (result->record && !result->record->events.empty()) {
    out.timeline = std::make_shared<const TimelineView>(
        result->record, std::make_shared<const sim::Timeline>(*result->record));
  }
  out.result = std::move(result);
  return out;
}

Lines provenance(const RunResult& result, Element element) {
  Lines lines;
  const Buffer& output = *result.matrices[result.output].values;
  const MatrixShape shape = as_matrix(output.shape);
  if (element.row >= shape.rows || element.column >= shape.cols) return lines;
  const std::int64_t index = element.row * shape.cols + element.column;
  if (result.writer) add_writer(lines, result.writer(index));
  for (std::size_t input : result.elementwise_inputs) {
    const RunResult::Matrix& matrix = result.matrices[input];
    lines.emplace_back(fmt::format("from {}", matrix.name),
                       element_text(matrix.values->dtype, at(*matrix.values, index)));
  }
  return lines;
}

}  // namespace tilescope
