// What a GPU does while it is measured: clocks, power and temperature by NVIDIA's management
// library, asked every few milliseconds by a thread of its own.
//
// Types and constants are written down as nvml.h documents them; nothing here needs CUDA to build.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <thread>

#include "core/error.h"

namespace tilescope::bench {

// Means of what was asked; what the chip does not tell is absent.
struct ChipState {
  int samples = 0;
  std::optional<double> sm_clock, memory_clock;  // MHz
  std::optional<double> least_sm_clock;
  std::optional<double> power;           // W
  std::optional<double> temperature;     // degrees Celsius
  std::string text() const;              // "1410 MHz  693 W  61 C"; empty where nothing is known
  void include(const ChipState& other);  // the samples of both
};
nlohmann::ordered_json to_json(const ChipState& state);

class ChipWatch {
 public:
  // The GPU at this place on the PCI bus, "0000:1B:00.0"; of an empty one the first. `library`: its
  // file, or empty for libnvidia-ml.so.1. no_device: there is none, or it does not know the GPU.
  static Outcome<std::unique_ptr<ChipWatch>> open(const std::string& library,
                                                  const std::string& bus);
  ~ChipWatch();

  // Samples from now on, until take() gives what came.
  void begin();
  ChipState take();

 private:
  struct Library;
  explicit ChipWatch(std::unique_ptr<Library> library);
  void work();

  std::unique_ptr<Library> library_;
  std::mutex mutex_;
  ChipState seen_;  // since begin()
  std::atomic<bool> samples_{false}, ends_{false};
  std::thread thread_;
};

}  // namespace tilescope::bench
