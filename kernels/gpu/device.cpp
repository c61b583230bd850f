#include "kernels/gpu/device.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/ptx/module.h"
#include "core/run/fit_launch.h"
#include "core/run/modules.h"
#include "kernels/gpu/execution.h"
#include "kernels/gpu/resources.h"

namespace tilescope::gpu {

Outcome<std::unique_ptr<GpuDevice>> GpuDevice::open(const std::string& path) {
  Outcome<std::shared_ptr<const Driver>> driver = load_driver(path);
  if (!driver) return driver.error();
  Outcome<std::vector<Chip>> found = chips(**driver);
  if (!found) return found.error();
  return std::unique_ptr<GpuDevice>(new GpuDevice(*driver, found->front()));
}

// One context for all runs, until one faults in it.
Outcome<std::shared_ptr<Context>> GpuDevice::context() {
  if (!context_ || context_->lost || context_->endless) {
    context_.reset();
    Outcome<std::shared_ptr<Context>> fresh = Context::retain(driver_, chip_);
    if (!fresh) return fresh;
    context_ = std::move(*fresh);
  }
  return context_;
}

Outcome<std::unique_ptr<Execution>> GpuDevice::start(Job job) {
  auto run = prepare(std::move(job));
  if (!run) return run.error();
  return std::unique_ptr<Execution>(std::move(*run));
}

struct GpuDevice::Fitting {
  ptx::Module module;
  const ptx::Function* entry;
  std::shared_ptr<Context> context;
};

Outcome<GpuDevice::Fitting> GpuDevice::fitting(const Job& job) {
  Outcome<ptx::Module> module = module_of(job.program);
  if (!module) return module.error();
  const Outcome<const ptx::Function*> entry = module->entry(job.launch.entry);
  if (!entry) return entry.error();
  const std::string where = module->place((*entry)->line);
  if (auto error = misfit(**entry, job.launch, where)) return *error;
  if (auto error = misfit(**entry, job.arguments, job.buffers.size(), where)) return *error;
  const bool is_placed = job.variables_at || !job.variables.empty() ||
                         std::any_of(job.buffers.begin(), job.buffers.end(),
                                     [](const Buffer& b) { return b.address; });
  if (is_placed) {
    return Error{ErrorKind::mismatch,
                 "This launch was captured: it has addresses of its own, and variables with their "
                 "contents, which a GPU gives out itself. Use --on sim.",
                 where};
  }
  if (const auto why = unfit(module->parts[(*entry)->part].target, chip_)) {
    return Error{ErrorKind::no_device,
                 fmt::format("{} {}, but the GPU here is {}. Use --on sim.", (*entry)->name, *why,
                             chip_.text()),
                 where};
  }
  Outcome<std::shared_ptr<Context>> here = context();
  if (!here) return here.error();
  const ptx::Function* const found = *entry;  // moves with the module's vector
  return Fitting{std::move(*module), found, std::move(*here)};
}

Outcome<std::unique_ptr<GpuExecution>> GpuDevice::prepare(Job job) {
  Outcome<Fitting> fits = fitting(job);
  if (!fits) return fits.error();
  return GpuExecution::prepare(fits->context, chip_, fits->module, *fits->entry, std::move(job));
}

Outcome<std::unique_ptr<Launcher>> GpuDevice::load(const Job& job) {
  Outcome<Fitting> fits = fitting(job);
  if (!fits) return fits.error();
  Outcome<Launcher> out =
      Launcher::load(fits->context, chip_, fits->module, *fits->entry, job.program, job.launch);
  if (!out) return out.error();
  return std::make_unique<Launcher>(std::move(*out));
}

Outcome<Memory> GpuDevice::allocate(std::size_t bytes) {
  Outcome<std::shared_ptr<Context>> here = context();
  if (!here) return here.error();
  (*here)->enter();
  Memory out;
  const Result result = gpu::allocate(*here, bytes, out);
  if (result == Result::success) return out;
  return Error{
      ErrorKind::mismatch,
      fmt::format("{} has no room for {} bytes: {}.", chip_.name, bytes, driver_->name_of(result)),
      ""};
}

Outcome<double> GpuDevice::seconds_of(const std::function<Result()>& enqueue) {
  Outcome<std::shared_ptr<Context>> here = context();
  if (!here) return here.error();
  (*here)->enter();
  Event begin, end;
  Result result = create(*here, begin);
  const auto then = [&](auto&& call) {
    if (result == Result::success) result = call();
  };
  then([&] { return create(*here, end); });
  then([&] { return driver_->cuEventRecord(begin.get(), nullptr); });
  then(enqueue);
  then([&] { return driver_->cuEventRecord(end.get(), nullptr); });
  then([&] {
    Result query = Result::not_ready;
    while (query == Result::not_ready) query = driver_->cuEventQuery(end.get());
    return query;
  });
  float milliseconds = 0;
  then([&] { return driver_->cuEventElapsedTime(&milliseconds, begin.get(), end.get()); });
  if (result == Result::success) return static_cast<double>(milliseconds) * 1e-3;
  (*here)->lost = true;
  return Error{ErrorKind::fault,
               fmt::format("{} could not be measured: {}.", chip_.name, driver_->name_of(result)),
               ""};
}

Outcome<std::vector<double>> GpuDevice::time(Job job, int launches) {
  const Outcome<std::unique_ptr<Execution>> run = start(std::move(job));
  if (!run) return run.error();
  auto& execution = static_cast<GpuExecution&>(**run);
  std::vector<double> seconds;
  for (int i = 0; i <= launches; ++i) {
    double one = 0;
    if (execution.measure(one) != Result::success) {
      return Error{ErrorKind::fault, execution.reports().back().sentence, ""};
    }
    if (i > 0) seconds.push_back(one);
  }
  return seconds;
}

}  // namespace tilescope::gpu
