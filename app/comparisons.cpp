#include "app/comparisons.h"

#include <fmt/format.h>

#include "app/output_differences.h"

namespace tilescope {
namespace {

// With several devices an output is told with its device: "C on sim".
std::optional<Error> compare_one(Compared& c, const std::vector<Ran>& ran) {
  Outcome<OutputDifference> found =
      compare_output(*ran[c.ran].execution, *c.output, *c.want, ran[c.ran].traces());
  if (!found) return found.error();
  if (ran.size() > 1) found->diff.got_name += fmt::format(" on {}", ran[c.ran].device);
  c.diff = std::move(found->diff);
  c.patterns = std::move(found->patterns);
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
      threads_(static_cast<unsigned>((threads + 1) / 2)),
      result_(std::async(threads > 1 ? std::launch::async : std::launch::deferred,
                         [this] { return calculate(); })) {}

PendingReference::~PendingReference() {
  given_up_ = true;
}

Outcome<Buffer> PendingReference::calculate() const {
  return expected_output(run_, {[this] { return !given_up_ && !interrupted(); }, threads_});
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

}  // namespace tilescope
