#include "app/products.h"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "core/profile/statistics.h"
#include "viz/product/product_text.h"

namespace tilescope {
namespace {

Error mismatch(std::string sentence) {
  return {ErrorKind::mismatch, std::move(sentence), ""};
}

struct ElementOfD {
  std::uint32_t row = 0, column = 0;
};
std::optional<ElementOfD> element_in(const std::string& text) {
  ElementOfD out;
  const char* end = text.data() + text.size();
  const auto row = std::from_chars(text.data(), end, out.row);
  if (row.ec != std::errc() || row.ptr == end || *row.ptr != ',') return {};
  const auto column = std::from_chars(row.ptr + 1, end, out.column);
  if (column.ec != std::errc() || column.ptr != end) return {};
  return out;
}

Outcome<std::size_t> number_of(const ProductOptions& options, const ProductIndex& index,
                               const sim::Record& record) {
  if (options.number) {
    if (static_cast<std::uint64_t>(*options.number) < index.size())
      return static_cast<std::size_t>(*options.number);
    return mismatch(
        fmt::format("--product {}: there are {}, counted from 0.", *options.number, index.size()));
  }
  if (options.event) {
    const auto number = index.number_of(static_cast<sim::EventId>(*options.event));
    if (number) return *number;
    return mismatch(
        fmt::format("--event {} is no product of CTA {}.", *options.event, index.block));
  }
  return options.at ? index.at(record, static_cast<double>(*options.at)) : 0;
}

}  // namespace

int explain_product(const ProductOptions& options, Terminal& terminal) {
  const std::optional<ElementOfD> element = element_in(options.element);
  if (!element) {
    return terminal.fail(
        {ErrorKind::usage,
         fmt::format("--element {} is no row and column of D: --element 5,9 is.", options.element),
         ""});
  }
  if (options.of.of.ends_with(".tsr")) {
    return terminal.fail({ErrorKind::usage,
                          "A product is opened by running it again, and a record has no numbers: "
                          "name the kernel, or a PTX file with --launch.",
                          ""});
  }
  const Outcome<ExplainedRun> run = explained_run(options.of, terminal);
  if (!run) return terminal.fail(run.error());
  const sim::Record& record = run->record;
  const std::uint64_t blocks = record.launch.grid.count(), block = options.of.block;
  if (block >= blocks) {
    return terminal.fail(mismatch(fmt::format("--block {}: the launch has {} CTA{}, 0 to {}.",
                                              block, blocks, blocks == 1 ? "" : "s", blocks - 1)));
  }
  const sim::Timeline timeline(record);
  const sim::Pipeline pipeline = sim::pipeline_of(timeline, sim::statistics_of(record).roles,
                                                  sim::cluster_of(record.launch, block));
  const Outcome<sim::Stepper> stepper =
      sim::Stepper::load(run->run->job, simulator_options(run->order));
  if (!stepper) return terminal.fail(stepper.error());
  const ProductIndex index = products_of(
      record, pipeline, block, static_cast<std::uint32_t>(options.warp), stepper->machine());
  if (index.size() == 0) {
    const bool in_warps = sim::multiplies_in_warps(stepper->machine().program());
    return terminal.fail(mismatch(
        in_warps ? fmt::format("Warp {} of CTA {} executed no mma.sync: --warp and --block name "
                               "others.",
                               options.warp, block)
                 : fmt::format("No product of {} is in CTA {}: it has no tcgen05.mma, "
                               "wgmma.mma_async or mma.sync there.",
                               record.kernel, block)));
  }
  const Outcome<std::size_t> number = number_of(options, index, record);
  if (!number) return terminal.fail(number.error());
  const auto view = open_product(record, pipeline, index, *number, *stepper);
  if (!view) return terminal.fail(view.error());
  const sim::ProductSeen& p = (*view)->seen();
  if (element->row >= p.m || element->column >= p.n) {
    return terminal.fail(mismatch(
        fmt::format("--element {}: D is {} x {}, counted from 0.", options.element, p.m, p.n)));
  }
  const std::vector<sim::ElementTrace> traces = (*view)->traces(element->row, element->column);
  const ProductShown shown{**view, traces, light_theme(), element->row, element->column};
  if (terminal.json()) {
    Json out = {{"ok", true}, {"kernel", record.kernel}};
    out.update(product_json(shown, true));
    terminal.document(std::move(out));
  } else {
    terminal.print(product_text(shown));
  }
  return 0;
}

}  // namespace tilescope
