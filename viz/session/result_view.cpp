#include "viz/session/result_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "viz/scene/number_words.h"
#include "viz/session/comparison.h"

namespace tilescope {
namespace {

MatricesView::Matrix matrix(std::string name, std::string detail,
                            std::shared_ptr<const Buffer> values) {
  const MatrixShape shape = as_matrix(values->shape);
  return {std::move(name), std::move(detail), std::move(values), shape.rows, shape.cols};
}

// By the names of its extents: A (m, k) has the rows of D (m, n), and all of k goes into each.
void say_where_from(MatricesView::Matrix& matrix, const KernelCard& kernel) {
  const KernelCard::Tensor* own = nullptr;
  const KernelCard::Tensor* output = nullptr;
  for (const KernelCard::Tensor& each : kernel.tensors) {
    if (each.name == matrix.name) own = &each;
    if (each.output && !output) output = &each;
  }
  if (!own || !output || own->axes.size() != 2 || output->axes.size() != 2) return;
  const auto from = [&](const std::string& axis) {
    return axis == output->axes[0]   ? MatricesView::From::row
           : axis == output->axes[1] ? MatricesView::From::column
                                     : MatricesView::From::all;
  };
  matrix.rows_from = from(own->axes[0]);
  matrix.columns_from = from(own->axes[1]);
}

std::shared_ptr<const MatricesView> view_of(std::string title,
                                            std::vector<MatricesView::Matrix> matrices) {
  if (matrices.empty()) return nullptr;
  return std::make_shared<const MatricesView>(std::move(title), std::move(matrices));
}

void add_writer(Lines& lines, const std::optional<Site>& writer) {
  if (!writer) {
    lines.emplace_back("written by", "nobody");
    return;
  }
  const Site& site = *writer;
  lines.emplace_back("CTA", fmt::format("({},{},{})", site.block.x, site.block.y, site.block.z));
  lines.emplace_back("warp", fmt::format("{}", site.warp));
  lines.emplace_back("lane", fmt::format("{}", site.lane));
  lines.emplace_back("thread", fmt::format("{}", site.warp * 32 + site.lane));
  if (site.source_line && site.caller_line) {
    lines.emplace_back("source", fmt::format("{}:{}", site.caller, site.caller_line));
    lines.emplace_back("in", fmt::format("{}:{}", site.source, site.source_line));
  } else if (site.source_line) {
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
    say_where_from(matrices.back(), kernel);
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
    say_where_from(matrices.back(), result.kernel);
    const auto number = static_cast<std::size_t>(&each - result.matrices.data());
    matrices.back().result = number == result.output || (result.diff && number == result.reference);
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

std::optional<HazardsTold> hazards_of(const RunResult& result) {
  std::optional<HazardsTold> out;
  for (std::size_t i = 0; i < result.reports.size(); ++i) {
    if (result.reports[i].weight != Weight::hazard) continue;
    if (!out) out = HazardsTold{0, i};
    ++out->count;
  }
  return out;
}

std::string ended_words(const RunProgress& progress) {
  return fmt::format("{} of {} CTA{} ended", grouped(progress.done), grouped(progress.total),
                     progress.total == 1 ? "" : "s");
}

std::string text(const HazardsTold& told) {
  return fmt::format("{} hazard{}", grouped(told.count), told.count == 1 ? "" : "s");
}

bool is_right(const RunResult& result) {
  return result.end == RunResult::End::done && result.diff && result.diff->ok() &&
         !hazards_of(result);
}

bool is_bad(const RunResult& result) {
  return result.end == RunResult::End::fault || (result.diff && !result.diff->ok()) ||
         hazards_of(result);
}

namespace {

std::string end_of(const RunResult& result, bool with_time) {
  const std::string& name = result.kernel.name;
  if (result.end == RunResult::End::cancelled) {
    return fmt::format("{} was stopped after {} of {} CTAs.", name, grouped(result.progress.done),
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

}  // namespace

std::string outcome_of(const RunResult& result, bool with_time) {
  const auto told = hazards_of(result);
  const std::string ended = end_of(result, with_time);
  if (!told || result.end == RunResult::End::fault) return ended;
  return fmt::format("{}: {}. {}", text(*told), result.reports[told->first].sentence, ended);
}

FinishedRun finished(std::shared_ptr<const RunResult> result) {
  FinishedRun out;
  out.matrices = matrices_of(*result);
  out.comparison = comparison_of(result);
  if (out.comparison) out.diff = out.comparison->view(Measured::difference);
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
  for (auto& line : inputs_of(result, element)) lines.push_back(std::move(line));
  return lines;
}

}  // namespace tilescope
