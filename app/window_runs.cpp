#include "app/window_runs.h"

#include <fmt/format.h>

#include "app/assets.h"
#include "app/descriptions.h"
#include "app/devices.h"
#include "app/files.h"
#include "app/kernel_options.h"
#include "app/profiles.h"
#include "app/searches.h"
#include "core/lesson/course.h"
#include "kernels/catalog/catalog.h"

namespace tilescope {
namespace {

// Copies of the machine that one may go back to: a window may hold several machines.
constexpr sim::CheckpointLimits kCopies{std::uint64_t{256} << 20};

// The order of the run; nothing is said yet of the chip.
Outcome<Order> order_of(const KernelOptions& options) {
  Order order;
  for (const auto& [option, value] : options) {
    if (option == "schedule") {
      Outcome<sim::Schedule> schedule = schedule_in(value);
      if (!schedule) return schedule.error();
      order.schedule = std::move(*schedule);
    } else if (option == "lazy") {
      if (value != "on" && value != "off") {
        return Error{ErrorKind::usage, fmt::format("--lazy takes on or off, not `{}`.", value), ""};
      }
      order.lazy = value == "on";
    } else if (option == "numerics" && value != "exact" && value != "fast") {
      return Error{ErrorKind::usage,
                   fmt::format("--numerics takes exact or fast, not `{}`.", value), ""};
    }
  }
  return order;
}

Outcome<PreparedRun> prepare_file(std::string_view name, const KernelOptions& options) {
  const KernelOptions own = without_order(options);
  const auto launch = own.find("launch");
  if (launch == own.end() || own.size() != 1) {
    return Error{ErrorKind::usage,
                 fmt::format("{} needs a launch file, and takes --device, --schedule, --lazy and "
                             "--numerics besides: open {} --launch F.toml.",
                             name, name),
                 ""};
  }
  return prepare_launch(std::string(name), launch->second);
}

Outcome<PreparedRun> prepare(std::string_view name, const KernelOptions& options,
                             const std::shared_ptr<const Build>& built, std::int64_t processors) {
  if (name.ends_with(".ptx")) return prepare_file(name, options);
  const Outcome<const CatalogEntry*> entry = entry_named(name);
  if (!entry) return entry.error();
  Outcome<RunOptions> run = run_options(**entry, options);
  if (!run) return run.error();
  run->processors = processors;
  if (built) {
    run->built = built;
  } else if (run->ptx.empty()) {
    run->source.clear();
  }
  return prepare_run(name, *run);
}

// A kernel's own source, or one that lies where the PTX says.
std::optional<std::vector<std::string>> source_of(const std::string& file) {
  if (const Outcome<Asset> asset = load_asset(file)) {
    return lines_of_text(without_marks(asset->text()));
  }
  if (const Outcome<std::string> text = read_text(file)) return lines_of_text(*text);
  return {};
}

void add_sources(LiveRun& live, const PreparedRun& run) {
  if (run.built) live.sources = run.built->sources;
  const ptx::Module& module = *live.stepper.machine().program().module;
  live.sources[""] = lines_of_text(*module.text);
  for (const auto& [number, name] : module.files) {
    const std::string file(name);
    if (live.sources.count(file)) continue;
    if (auto lines = source_of(file)) live.sources[file] = std::move(*lines);
  }
}

std::shared_ptr<LiveRun> live_of(sim::Machine machine, const PreparedRun& run) {
  auto live = std::make_shared<LiveRun>(sim::Stepper(std::move(machine), kCopies));
  add_sources(*live, run);
  return live;
}

Outcome<sim::Machine> load(const WindowRun& run, sim::Recorder* recorder) {
  sim::Options options = simulator_options(run.order);
  options.recorder = recorder;
  options.remember_writers = true;
  if (!recorder) options.both_ways_bytes = 0;
  return sim::Machine::load(run.run.job, options);
}

// Where a launch file names no outputs, what begins as poison is one: nobody but the kernel can
// have written there.
void take_poison_for_outputs(PreparedRun& run) {
  if (!run.outputs.empty()) return;
  for (std::size_t i = 0; i < run.job.buffers.size(); ++i) {
    const Buffer& buffer = run.job.buffers[i];
    if (buffer.undefined) run.outputs.push_back({i, {}, {}, tolerance_for(buffer.dtype)});
  }
}

}  // namespace

Outcome<const CatalogEntry*> entry_named(std::string_view name) {
  Outcome<const CatalogEntry*> entry = find_kernel(name);
  if (entry) return entry;
  Error error = entry.error();
  error.sentence += " A layout is opened with `open layout EXPR`.";
  return error;
}

Outcome<WindowRun> prepare_window_run(std::string_view name, const KernelOptions& options,
                                      const std::shared_ptr<const Build>& built) {
  Outcome<Order> order = order_of(options);
  if (!order) return order.error();
  const auto asked = options.find("device");
  Outcome<DeviceDescription> device =
      device_described(asked == options.end() ? "b200" : asked->second);
  if (!device) return device.error();
  Outcome<PreparedRun> run = prepare(name, options, built, device->processors);
  if (!run) return run.error();
  if (asked == options.end()) {
    const std::int64_t processors = device->processors;
    if (auto usual = usual_device_for(run->job.program.ptx)) device = std::move(*usual);
    if (device->processors != processors) run = prepare(name, options, built, device->processors);
    if (!run) return run.error();
  } else if (const auto target = target_for(*device, run->job.program.ptx); !target) {
    return target.error();
  }
  take_poison_for_outputs(*run);
  // Seed 0 is in turn, as on the command line.
  const bool drawn = order->lazy || options.count("schedule") != 0;
  order->device = std::move(*device);
  order->device_named = asked != options.end();
  order->clocked = !drawn && order->device.times.known();
  const auto numerics = options.find("numerics");
  order->exact = numerics == options.end() ? exact_by_default(*run) : numerics->second == "exact";
  return WindowRun{std::move(*run), std::move(*order)};
}

Outcome<std::shared_ptr<LiveRun>> live_run(const WindowRun& run) {
  Outcome<sim::Machine> machine = load(run, nullptr);
  if (!machine) return machine.error();
  return live_of(std::move(*machine), run.run);
}

Outcome<std::shared_ptr<const Buffer>> output_of_gpu(const PreparedRun& run) {
  if (run.outputs.empty()) {
    return Error{
        ErrorKind::usage,
        fmt::format("{} names no output that could be compared: a line `out = \"F.npy\"` or "
                    "`poison = true` makes a [[buffer]] of the launch file one.",
                    run.kernel),
        ""};
  }
  Outcome<OpenDevice> gpu = open_gpu();
  if (!gpu) return gpu.error();
  auto execution = gpu->device->start(run.job);
  if (!execution) return execution.error();
  RunState state = RunState::running;
  while (state == RunState::running) state = (*execution)->advance(std::uint64_t{1} << 20);
  if (state != RunState::done) {
    const std::vector<Report>& reports = (*execution)->reports();
    return Error{ErrorKind::fault,
                 reports.empty() ? fmt::format("{} did not finish on the GPU.", run.kernel)
                                 : reports.back().sentence,
                 ""};
  }
  auto out = std::make_shared<Buffer>((*execution)->buffers()[run.outputs.front().buffer]);
  out->name += " on gpu";
  return std::shared_ptr<const Buffer>(std::move(out));
}

Outcome<std::unique_ptr<RecordedRun>> RecordedRun::start(const WindowRun& run) {
  std::unique_ptr<RecordedRun> out(new RecordedRun);
  Outcome<sim::Machine> machine = load(run, out->recorder_.get());
  if (!machine) return machine.error();
  out->device_ = run.order.device;
  out->live_ = live_of(std::move(*machine), run.run);
  out->live_->stepper.to_the_end();
  return out;
}

RunState RecordedRun::advance(std::uint64_t budget) {
  if (live_->stepper.go_on(budget) == sim::Arrival::going) return RunState::running;
  return machine().state();
}

const std::vector<Buffer>& RecordedRun::buffers() const {
  if (buffers_.empty()) buffers_ = machine().buffers();
  return buffers_;
}

sim::Record RecordedRun::take_record(const PreparedRun& run) {
  live_->stepper.stop_recording();
  return tilescope::take_record(*recorder_, run, device_);
}

}  // namespace tilescope
