#include "app/comparisons.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/npy_files.h"
#include "core/sim/machine/device.h"
#include "core/sim/machine/model.h"

namespace tilescope {
namespace {

std::vector<Pattern> patterns_of(const Compared& c, const DiffReport& diff, const Ran& ran) {
  const Buffer& got = ran.execution->buffers()[c.output->buffer];
  PatternHints hints;
  if (!got.tile.empty()) {
    hints.tile = {got.tile.size() > 1 ? got.tile[got.tile.size() - 2] : 1, got.tile.back()};
  }
  if (ran.traces()) {
    hints.writer = [&, width = bytes_of(got.dtype)](std::int64_t element) {
      return ran.execution->writer(c.output->buffer, static_cast<std::size_t>(element) * width);
    };
  }
  return find_patterns(got, *c.want, diff.options, hints);
}

// With several devices an output is told with its device: "C on sim".
std::optional<Error> compare_one(Compared& c, const std::vector<Ran>& ran) {
  const Execution& execution = *ran[c.ran].execution;
  const std::size_t buffer = c.output->buffer;
  Outcome<DiffReport> diff =
      tilescope::diff(execution.buffers()[buffer], *c.want, {.tolerance = c.output->tolerance});
  if (!diff) return diff.error();
  if (ran[c.ran].traces()) name_writers(*diff, execution, buffer);
  if (!diff->ok()) c.patterns = patterns_of(c, *diff, ran[c.ran]);
  if (ran.size() > 1) diff->got_name += fmt::format(" on {}", ran[c.ran].device);
  c.diff = std::move(*diff);
  return std::nullopt;
}

}  // namespace

Outcome<std::vector<Compared>> expectations(const PreparedRun& run, std::size_t devices) {
  std::vector<Compared> out;
  for (const Output& output : run.outputs) {
    Outcome<std::optional<Buffer>> want = wanted_from_file(run, output);
    if (!want) return want.error();
    if (*want) {
      const auto check =
          Differ::start(run.job.buffers[output.buffer], **want, {.tolerance = output.tolerance});
      if (!check) return check.error();
    }
    for (std::size_t d = 0; d < devices; ++d) {
      out.push_back({&output, d, run.entry && !output.want, *want});
    }
  }
  return out;
}

PendingReference::PendingReference(const PreparedRun& run, std::uint64_t threads)
    : run_(run),
      result_(std::async(threads > 1 ? std::launch::async : std::launch::deferred,
                         [this] { return calculate(); })) {}

PendingReference::~PendingReference() {
  given_up_ = true;
}

Outcome<Buffer> PendingReference::calculate() const {
  return expected_output(run_, [this] { return !given_up_ && !interrupted(); });
}

Outcome<Buffer> PendingReference::take() {
  Outcome<Buffer> out = result_.get();
  if (!out && out.error().kind == ErrorKind::interrupted) {
    return Error{ErrorKind::interrupted,
                 "Interrupted after the run, before its result could be compared; nothing was "
                 "written.",
                 ""};
  }
  return out;
}

std::optional<Error> compare(std::vector<Compared>& compared, const std::vector<Ran>& ran,
                             std::optional<std::size_t> gpu) {
  const std::size_t outputs = compared.size();
  for (std::size_t i = 0; gpu && i < outputs; ++i) {
    if (compared[i].ran == *gpu) continue;
    Compared with_chip{compared[i].output, compared[i].ran, {}, {}};
    with_chip.want = ran[*gpu].execution->buffers()[with_chip.output->buffer];
    with_chip.want->name += " on gpu";
    compared.push_back(std::move(with_chip));
  }
  for (Compared& c : compared) {
    if (!c.want) continue;
    if (auto error = compare_one(c, ran)) return error;
  }
  return std::nullopt;
}

Outcome<std::vector<DiffReport>> compare_variables(const PreparedRun& run, const Ran& ran) {
  std::vector<DiffReport> out;
  const auto* const execution = dynamic_cast<const sim::SimExecution*>(ran.execution.get());
  if (!execution) return out;  // a chip's are not looked at
  for (const ExpectedVariable& expected : run.variables) {
    const auto& regions = execution->machine().model().regions;
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
