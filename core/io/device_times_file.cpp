#include "core/io/device_times_file.h"

#include <cmath>

namespace tilescope {
namespace {

// Which chips have a part.
enum class Chips : std::uint8_t {
  all,
  f8,      // 8.9 and later
  copies,  // 9.0 and later: TMA, clusters
  wide,    // 9.x, 10.x, 11.x: products by wgmma or tcgen05
  memory,  // 10.x, 11.x: TMEM
  f4,      // 10.0 and later
  some,    // where it has been measured
};

bool has(const DeviceDescription& device, Chips chips) {
  const int capability = 10 * device.major + device.minor;
  switch (chips) {
    case Chips::all:
      return true;
    case Chips::f8:
      return capability >= 89;
    case Chips::copies:
      return device.major >= 9;
    case Chips::wide:
      return device.major >= 9 && device.major <= 11;
    case Chips::memory:
      return device.major == 10 || device.major == 11;
    case Chips::f4:
      return device.major >= 10;
    case Chips::some:
      return false;
  }
  return true;
}

// A key, where it goes, what it must be at least, a value that would work, and at most.
struct Figure {
  std::string_view key;
  double DeviceTimes::*member;
  double least, example;
  Chips chips = Chips::all;
  double most = 1e9;
  bool whole = false;
};

struct Table {
  std::string_view key;
  Chips chips;
  std::vector<Figure> figures;
};

// Rates are above zero, for something divides by them, and so far that a run does not take for
// ever; latencies may be zero.
constexpr double rate = 0.01, latency = 0;

const std::vector<Table>& tables() {
  using T = DeviceTimes;
  static const std::vector<Table> all = {
      {"clock",
       Chips::all,
       {{"frequency", &T::clock, rate, 1.98},
        {"tensor", &T::tensor_clock, rate, 1.55},
        {"launch", &T::launch, latency, 2},
        {"block_start", &T::block_start, latency, 300}}},
      {"power",
       Chips::some,
       {{"limit", &T::power_limit, rate, 700},
        {"idle", &T::power_idle, latency, 250},
        {"tensor", &T::power_tensor, latency, 5},
        {"l2", &T::power_l2, latency, 7}}},
      {"issue",
       Chips::all,
       {{"schedulers", &T::schedulers, 1, 4, Chips::all, 4, true},
        {"branch", &T::branch, latency, 10}}},
      {"waiting",
       Chips::all,
       {{"barrier", &T::barrier, latency, 13},
        {"barrier_warp", &T::barrier_warp, latency, 2},
        {"mbarrier", &T::mbarrier, latency, 30},
        {"arrive", &T::arrive, latency, 17},
        {"fence", &T::fence, latency, 280},
        {"remote", &T::remote, latency, 170, Chips::copies},
        {"cluster", &T::cluster, latency, 80, Chips::copies}}},
      {"memory",
       Chips::all,
       {{"shared_latency", &T::shared_latency, latency, 23},
        {"shared_bytes", &T::shared_bytes, rate, 128},
        {"l1_latency", &T::l1_latency, latency, 33},
        {"l1_bytes", &T::l1_bytes, rate, 128},
        {"l1_lanes", &T::l1_lanes, rate, 32},
        {"l1_size", &T::l1_size, latency, 262144},
        {"l2_latency", &T::l2_latency, latency, 260},
        {"l2_port", &T::l2_port, rate, 64},
        {"l2_bytes", &T::l2_bytes, rate, 5120},
        {"l2_size", &T::l2_size, latency, 52428800},
        {"memory_latency", &T::memory_latency, latency, 600},
        {"memory_bandwidth", &T::memory_bandwidth, rate, 4000},
        {"atomic", &T::atomic, latency, 1.5},
        {"atomic_float", &T::atomic_float, latency, 3.5},
        {"shared_float", &T::shared_float, latency, 95}}},
      {"host",
       Chips::some,
       {{"in", &T::host_in, rate, 55},
        {"out", &T::host_out, rate, 55},
        {"pageable_in", &T::pageable_in, rate, 6, Chips::some},
        {"pageable_out", &T::pageable_out, rate, 9, Chips::some},
        {"latency", &T::host_latency, latency, 2}}},
      {"copies",
       Chips::copies,
       {{"issue", &T::copy_issue, latency, 50},
        {"latency", &T::copy_latency, latency, 100},
        {"bytes", &T::copy_bytes, rate, 128}}},
      {"tensor",
       Chips::all,
       {{"tf32", &T::tensor_tf32, rate, 1024},
        {"f16", &T::tensor_f16, rate, 2048},
        {"f8", &T::tensor_f8, rate, 4096, Chips::f8},
        {"i8", &T::tensor_i8, rate, 4096},
        {"f4", &T::tensor_f4, rate, 16384, Chips::f4},
        {"f64", &T::tensor_f64, rate, 128},
        {"mma_share", &T::mma_share, rate, 0.6},
        {"mma_latency", &T::mma_latency, latency, 33},
        {"issue", &T::tensor_issue, latency, 16, Chips::wide},
        {"latency", &T::tensor_latency, latency, 64, Chips::wide},
        {"commit", &T::commit, latency, 16, Chips::memory}}},
      {"tensor_memory",
       Chips::memory,
       {{"load_bytes", &T::tensor_load_bytes, rate, 512},
        {"store_bytes", &T::tensor_store_bytes, rate, 256},
        {"load_latency", &T::tensor_load_latency, latency, 12},
        {"store_latency", &T::tensor_store_latency, latency, 28}}}};
  return all;
}

// Units of an SM that warps issue to: tables in [issue].
struct Pipe {
  std::string_view key;
  PipeTimes DeviceTimes::*member;
};
constexpr Pipe pipes[] = {{"integer", &DeviceTimes::integer},
                          {"floating", &DeviceTimes::floating},
                          {"half", &DeviceTimes::half},
                          {"wide", &DeviceTimes::wide},
                          {"special", &DeviceTimes::special},
                          {"conversion", &DeviceTimes::conversion},
                          {"load_store", &DeviceTimes::load_store},
                          {"shuffle", &DeviceTimes::shuffle}};

class Reader {
 public:
  Reader(TomlReader& toml, DeviceDescription& device) : toml_(toml), device_(device) {}

  void table(const toml::table& root, const Table& form) {
    const std::string what = fmt::format("[{}]", form.key);
    const toml::table* table = root.get_as<toml::table>(form.key);
    if (!table) {
      if (root.contains(form.key)) {
        return toml_.fail(root.get(form.key)->source(), fmt::format("{} is not a table.", what));
      }
      if (!has(device_, form.chips)) return;
      return toml_.fail(root.source(),
                        fmt::format("The device file has times but no table {}; compute capability "
                                    "{}.{} needs it. A device file without any times is fine, too.",
                                    what, device_.major, device_.minor));
    }
    std::vector<std::string_view> keys;
    for (const Figure& figure : form.figures) keys.push_back(figure.key);
    if (form.key == "issue") {
      for (const Pipe& pipe : pipes) keys.push_back(pipe.key);
    }
    toml_.only(*table, keys, what);
    for (const Figure& figure : form.figures) {
      const bool needed =
          figure.chips != Chips::some &&
          (form.chips == Chips::some || (has(device_, form.chips) && has(device_, figure.chips)));
      const auto value = number(*table, figure, what, needed);
      if (value) device_.times.*figure.member = *value;
    }
    if (form.key != "issue") return;
    for (const Pipe& pipe : pipes) unit(*table, pipe);
  }

 private:
  // integer = { lanes = 64, latency = 4 }
  void unit(const toml::table& issue, const Pipe& pipe) {
    const std::string what = fmt::format("{} of [issue]", pipe.key);
    const toml::table* table = issue.get_as<toml::table>(pipe.key);
    if (!table) {
      const bool other = issue.contains(pipe.key);
      return toml_.fail(other ? issue.get(pipe.key)->source() : issue.source(),
                        fmt::format("{} is {}; {} = {{ lanes = 64, latency = 4 }} would work.",
                                    what, other ? "not a table" : "missing", pipe.key));
    }
    toml_.only(*table, {"lanes", "latency"}, what);
    PipeTimes& times = device_.times.*pipe.member;
    times.lanes = number(*table, {"lanes", nullptr, rate, 64}, what, true).value_or(1);
    times.latency = number(*table, {"latency", nullptr, latency, 4}, what, true).value_or(0);
  }

  std::optional<double> number(const toml::table& table, const Figure& figure,
                               std::string_view what, bool needed) {
    const auto [key, member, least, example, chips, most, whole] = figure;
    const auto value = toml_.number(table, key, what);
    if (!table.contains(key)) {
      if (needed) {
        toml_.fail(table.source(), fmt::format("In {} {} is missing; {} = {} would work.", what,
                                               key, key, example));
      }
      return std::nullopt;
    }
    // Not a number is no less than anything.
    if (value && !(*value >= least && *value <= most && (!whole || *value == std::floor(*value)))) {
      toml_.fail(table.get(key)->source(),
                 fmt::format("{} of {} is {}, but must be {}from {} to {}; {} would work.", key,
                             what, *value, whole ? "whole, " : "", least, most, example));
      return std::nullopt;
    }
    return value;
  }

  TomlReader& toml_;
  DeviceDescription& device_;
};

}  // namespace

const std::vector<std::string_view>& tables_of_times() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> out;
    for (const Table& table : tables()) out.push_back(table.key);
    return out;
  }();
  return names;
}

std::vector<std::pair<std::string, double*>> figures_of(DeviceTimes& times) {
  std::vector<std::pair<std::string, double*>> out;
  for (const Table& table : tables()) {
    for (const Figure& figure : table.figures) {
      out.emplace_back(fmt::format("{}.{}", table.key, figure.key), &(times.*figure.member));
    }
  }
  for (const Pipe& pipe : pipes) {
    PipeTimes& unit = times.*pipe.member;
    out.emplace_back(fmt::format("issue.{}.lanes", pipe.key), &unit.lanes);
    out.emplace_back(fmt::format("issue.{}.latency", pipe.key), &unit.latency);
  }
  return out;
}

void read_times(TomlReader& toml, const toml::table& root, DeviceDescription& device) {
  bool any = false;
  for (const Table& table : tables()) any = any || root.contains(table.key);
  if (!any) return;
  for (const Table& table : tables()) Reader(toml, device).table(root, table);
  DeviceTimes& times = device.times;
  if (times.pageable_in == 0) times.pageable_in = times.host_in;
  if (times.pageable_out == 0) times.pageable_out = times.host_out;
}

}  // namespace tilescope
