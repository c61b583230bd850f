#include "app/output_differences.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/npy_files.h"
#include "core/sim/machine/device.h"
#include "core/sim/machine/model.h"

namespace tilescope {

Outcome<OutputDifference> compare_output(const Execution& execution, const Output& output,
                                         const Buffer& want, bool traces) {
  const std::size_t buffer = output.buffer;
  const Buffer& got = execution.buffers()[buffer];
  Outcome<DiffReport> found = tilescope::diff(got, want, {.tolerance = output.tolerance});
  if (!found) return found.error();
  OutputDifference out{std::move(*found), {}};
  if (traces) name_writers(out.diff, execution, buffer);
  if (out.diff.ok()) return out;
  PatternHints hints;
  if (!got.tile.empty()) {
    hints.tile = {got.tile.size() > 1 ? got.tile[got.tile.size() - 2] : 1, got.tile.back()};
  }
  if (traces) {
    hints.writer = [&, width = bytes_of(got.dtype)](std::int64_t element) {
      return execution.writer(buffer, static_cast<std::size_t>(element) * width);
    };
  }
  out.patterns = find_patterns(got, want, out.diff.options, hints);
  return out;
}

Outcome<std::vector<DiffReport>> compare_variables(const PreparedRun& run,
                                                   const Execution& execution) {
  std::vector<DiffReport> out;
  const auto* const simulated = dynamic_cast<const sim::SimExecution*>(&execution);
  if (!simulated) return out;  // a chip's are not looked at
  for (const ExpectedVariable& expected : run.variables) {
    const auto& regions = simulated->machine().model().regions;
    const auto found = std::find_if(regions.begin(), regions.end(), [&](const sim::Region& r) {
      return r.kind() == sim::Region::Kind::variable && r.name() == expected.name;
    });
    Outcome<Buffer> want = read_npy_file(expected.file, DType::u8);
    if (!want) return want.error();
    if (found == regions.end()) {
      return Error{ErrorKind::mismatch,
                   fmt::format("The launch expects something of the variable {}, which the PTX "
                               "does not define.",
                               expected.name),
                   expected.file};
    }
    Buffer got;
    got.name = expected.name;
    got.dtype = DType::u8;
    got.shape = {static_cast<std::int64_t>(found->size())};
    got.bytes.assign(found->data(), found->data() + found->size());
    Outcome<DiffReport> diff = tilescope::diff(got, *want, {});
    if (!diff) return diff.error();
    out.push_back(std::move(*diff));
  }
  return out;
}

}  // namespace tilescope
