// Whose record a machine writes: its own alone. A copy of the machine writes none, so that what is
// simulated again from a checkpoint is not recorded twice.
#pragma once

#include <utility>

namespace tilescope::sim {

class Recorder;

class OwnRecorder {
 public:
  OwnRecorder(Recorder* to = nullptr) : to_(to) {}  // NOLINT: as a pointer
  OwnRecorder(const OwnRecorder&) {}
  OwnRecorder(OwnRecorder&& other) noexcept : to_(std::exchange(other.to_, nullptr)) {}
  OwnRecorder& operator=(const OwnRecorder& other) {
    if (this != &other) to_ = nullptr;
    return *this;
  }
  OwnRecorder& operator=(OwnRecorder&& other) noexcept {
    to_ = std::exchange(other.to_, nullptr);
    return *this;
  }

  Recorder* operator->() const { return to_; }
  operator Recorder*() const { return to_; }  // NOLINT: as a pointer

 private:
  Recorder* to_ = nullptr;
};

}  // namespace tilescope::sim
