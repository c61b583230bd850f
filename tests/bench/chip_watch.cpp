#include "tests/bench/chip_watch.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

namespace tilescope::bench {
namespace {

using Status = int;  // nvmlReturn_t; 0: success
using Handle = void*;
constexpr int sm_clock = 1, memory_clock = 2;  // nvmlClockType_t
constexpr int of_chip = 0;                     // nvmlTemperatureSensors_t
constexpr unsigned power_instant = 186;        // NVML_FI_DEV_POWER_INSTANT, mW
constexpr auto pause = std::chrono::milliseconds(3);

struct FieldValue {  // nvmlFieldValue_t
  unsigned field, scope;
  long long time, latency;
  int type;
  Status status;
  union {
    unsigned u32;
    unsigned long long u64;
    double f64;
  } value;
};

}  // namespace

struct ChipWatch::Library {
  Status (*initialise)();
  Status (*shut_down)();
  Status (*by_bus)(const char* id, Handle*);
  Status (*by_index)(unsigned index, Handle*);
  Status (*clock)(Handle, int type, unsigned* megahertz);
  Status (*power)(Handle, unsigned* milliwatts);
  Status (*temperature)(Handle, int sensor, unsigned* degrees);
  Status (*fields)(Handle, int count, FieldValue*);  // null in old ones
  Handle chip = nullptr;

  bool find(void* from) {
    const auto get = [&](auto*& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(from, name));
      return function != nullptr;
    };
    get(fields, "nvmlDeviceGetFieldValues");
    return get(initialise, "nvmlInit_v2") && get(shut_down, "nvmlShutdown") &&
           get(by_bus, "nvmlDeviceGetHandleByPciBusId_v2") &&
           get(by_index, "nvmlDeviceGetHandleByIndex_v2") && get(clock, "nvmlDeviceGetClockInfo") &&
           get(power, "nvmlDeviceGetPowerUsage") && get(temperature, "nvmlDeviceGetTemperature");
  }

  // At this moment; what nvmlDeviceGetPowerUsage tells is the mean of a second.
  std::optional<double> watts() const {
    FieldValue value{};
    value.field = power_instant;
    if (fields && fields(chip, 1, &value) == 0 && value.status == 0 && value.value.u32 > 0) {
      return value.value.u32 * 1e-3;
    }
    unsigned milliwatts = 0;
    return power(chip, &milliwatts) == 0 ? std::optional(milliwatts * 1e-3) : std::nullopt;
  }

  ChipState sample() const {
    ChipState out;
    const auto ask = [&](auto* function, int which) -> std::optional<double> {
      unsigned value = 0;
      return function(chip, which, &value) == 0 ? std::optional<double>(value) : std::nullopt;
    };
    out.samples = 1;
    out.sm_clock = out.least_sm_clock = ask(clock, sm_clock);
    out.memory_clock = ask(clock, memory_clock);
    out.temperature = ask(temperature, of_chip);
    out.power = watts();
    return out;
  }
};

void ChipState::include(const ChipState& other) {
  const auto mean = [&](std::optional<double>& mine, const std::optional<double>& others) {
    if (!others) return;
    mine = mine && samples > 0
               ? (*mine * samples + *others * other.samples) / (samples + other.samples)
               : others;
  };
  if (other.samples == 0) return;
  mean(sm_clock, other.sm_clock);
  mean(memory_clock, other.memory_clock);
  mean(power, other.power);
  mean(temperature, other.temperature);
  if (other.least_sm_clock) {
    least_sm_clock =
        std::min(least_sm_clock.value_or(*other.least_sm_clock), *other.least_sm_clock);
  }
  samples += other.samples;
}

std::string ChipState::text() const {
  std::string out;
  const auto say = [&](const std::optional<double>& value, const char* unit) {
    if (value) out += fmt::format("{}{:.0f} {}", out.empty() ? "" : "  ", *value, unit);
  };
  say(sm_clock, "MHz");
  say(power, "W");
  say(temperature, "C");
  return out;
}

nlohmann::ordered_json to_json(const ChipState& state) {
  nlohmann::ordered_json out;
  const auto put = [&](const char* name, const std::optional<double>& value) {
    if (value) out[name] = *value;
  };
  out["samples"] = state.samples;
  put("sm_mhz", state.sm_clock);
  put("least_sm_mhz", state.least_sm_clock);
  put("memory_mhz", state.memory_clock);
  put("watts", state.power);
  put("celsius", state.temperature);
  return out;
}

Outcome<std::unique_ptr<ChipWatch>> ChipWatch::open(const std::string& library,
                                                    const std::string& bus) {
  const std::string file = library.empty() ? "libnvidia-ml.so.1" : library;
  // Never closed, as the driver is not.
  void* const from = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  auto found = std::make_unique<Library>();
  const auto no = [](std::string sentence) {
    return Error{ErrorKind::no_device, std::move(sentence), ""};
  };
  if (!from || !found->find(from)) {
    return no(
        fmt::format("Clocks, power and temperature are not told: there is no {} of NVIDIA's "
                    "driver here.",
                    file));
  }
  if (found->initialise() != 0) {
    return no(fmt::format("Clocks, power and temperature are not told: {} does not start.", file));
  }
  const Status status =
      bus.empty() ? found->by_index(0, &found->chip) : found->by_bus(bus.c_str(), &found->chip);
  if (status != 0) {
    found->shut_down();
    return no(
        fmt::format("Clocks, power and temperature are not told: {} does not know the GPU {}.",
                    file, bus.empty() ? "0" : bus));
  }
  return std::unique_ptr<ChipWatch>(new ChipWatch(std::move(found)));
}

ChipWatch::ChipWatch(std::unique_ptr<Library> library) : library_(std::move(library)) {
  thread_ = std::thread([this] { work(); });
}

ChipWatch::~ChipWatch() {
  ends_ = true;
  thread_.join();
  library_->shut_down();
}

void ChipWatch::work() {
  while (!ends_) {
    if (samples_) {
      const ChipState now = library_->sample();
      const std::lock_guard lock(mutex_);
      if (samples_) seen_.include(now);
    }
    std::this_thread::sleep_for(pause);
  }
}

void ChipWatch::begin() {
  const std::lock_guard lock(mutex_);
  seen_ = {};
  samples_ = true;
}

ChipState ChipWatch::take() {
  const std::lock_guard lock(mutex_);
  samples_ = false;
  // On a busy machine the other thread may not have had a turn.
  if (seen_.samples == 0) seen_.include(library_->sample());
  return seen_;
}

}  // namespace tilescope::bench
