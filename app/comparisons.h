// What the outputs of a run are compared with: the reference or a file, and with two devices also
// one with the other.
#pragma once

#include <atomic>
#include <future>
#include <optional>
#include <vector>

#include "app/devices.h"
#include "app/runs.h"
#include "core/diff/patterns.h"

namespace tilescope {

// An output of one device, beside what it should be.
struct Compared {
  const Output* output = nullptr;
  std::size_t ran = 0;         // the device
  bool by_reference = false;   // what it should be is calculated
  std::optional<Buffer> want;  // nothing: it is only written, or not yet calculated
  std::optional<DiffReport> diff = std::nullopt;
  std::vector<Pattern> patterns = {};  // of what is wrong
};

// One for each output and device, with what its file says. What cannot be compared is said before
// the run, not after it.
Outcome<std::vector<Compared>> expectations(const PreparedRun& run, std::size_t devices);

// The reference of a run of the catalog: it is calculated while the run goes on, by a thread of its
// own, or with one thread when it is asked for.
class PendingReference {
 public:
  PendingReference(const PreparedRun& run, std::uint64_t threads);
  PendingReference(const PendingReference&) = delete;
  ~PendingReference();  // gives up what is not asked for any more
  // Waits for it. Once; an error where it cannot be had, or where the user does not want to wait.
  Outcome<Buffer> take();

 private:
  Outcome<Buffer> calculate() const;

  const PreparedRun& run_;
  const unsigned threads_;  // half of them: the simulator has the same ones
  std::atomic<bool> given_up_{false};
  std::future<Outcome<Buffer>> result_;
};

// After the runs: fills in the differences. With `gpu`, the device with that place, every output of
// the other devices is compared with its as well.
std::optional<Error> compare(std::vector<Compared>& compared, const std::vector<Ran>& ran,
                             std::optional<std::size_t> gpu);

}  // namespace tilescope
