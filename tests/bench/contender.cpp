#include "tests/bench/contender.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/assets.h"
#include "app/runs.h"
#include "kernels/catalog/catalog.h"

namespace tilescope::bench {

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

double Contender::median() const {
  return median_of(seconds);
}

namespace {

// The arguments of each launch, with the addresses of its set, made when its turn first comes.
struct Sets {
  std::shared_ptr<gpu::Launcher> launcher;
  Job job;
  const Matrices* matrices;
  std::vector<std::vector<Argument>> arguments;  // of each; empty: not yet

  gpu::Result enqueue(std::size_t set) {
    std::vector<Argument>& mine = arguments[set];
    if (mine.empty()) {
      mine = job.arguments;
      const std::vector<gpu::CUdeviceptr> at = {matrices->a(set), matrices->b(set),
                                                matrices->c(set)};
      if (launcher->place(mine, job.buffers, at)) return gpu::Result::invalid_value;
    }
    return launcher->enqueue(job.launch, mine);
  }
};

Request request_of(const Sizes& s, const gpu::GpuDevice& device) {
  Request out;
  out.sizes = {{"m", s.m}, {"n", s.n}, {"k", s.k}};
  out.processors = device.chip().multiprocessors;
  return out;
}

}  // namespace

Outcome<Contender> Shelf::on(const CatalogEntry& entry, const Fit& fit, const Matrices& matrices) {
  const std::string& image = fit.variant.image.empty() ? entry.ptx : fit.variant.image;
  Loaded& loaded = loaded_[image + " " + fit.variant.entry];
  if (loaded.ptx.empty()) {
    if (!compiles_ && !carries(image)) {
      return Error{ErrorKind::unsupported,
                   fmt::format("The program does not carry {}, and none is compiled: nvcc is not "
                               "here, or --carried is asked for.",
                               image),
                   ""};
    }
    Outcome<Program> program = program_of(entry, fit, {});
    if (!program) return program.error();
    loaded.ptx = std::move(program->ptx);
  }
  // Of the matrices only the shapes are wanted.
  Request request;
  request.processors = device_.chip().multiprocessors;
  for (const TensorSpec& tensor : fit.tensors) request.inputs[tensor.name] = {};
  Job job = make_job(entry, fit, std::move(request), loaded.ptx);
  if (!loaded.launcher) {
    Outcome<std::unique_ptr<gpu::Launcher>> launcher = device_.load(job);
    if (!launcher) return launcher.error();
    loaded.launcher = std::move(*launcher);
  }
  auto sets = std::make_shared<Sets>(Sets{loaded.launcher, std::move(job), &matrices, {}});
  sets->arguments.resize(matrices.sets());
  Contender out;
  out.kernel = entry.name;
  out.enqueue = [sets](std::size_t set) { return sets->enqueue(set); };
  return out;
}

Outcome<Contender> Shelf::kernel(const CatalogEntry& entry, const ProductKind& kind,
                                 const Sizes& sizes, const Matrices& matrices) {
  Request request = request_of(sizes, device_);
  request.dtype = stored_as(kind.a);
  const Outcome<Fit> fits = fit(entry, request);
  if (!fits) return fits.error();
  return on(entry, *fits, matrices);
}

Outcome<Contender> Shelf::dense(const ProductKind& kind, const Sizes& sizes,
                                const std::optional<DenseTile>& tile, const Matrices& matrices) {
  Request request = request_of(sizes, device_);
  request.choices = tile ? choices_of(kind, *tile) : kind.choices();
  const CatalogEntry& entry = **find_kernel("dense_gemm");
  const Outcome<Fit> fits = fit(entry, request);
  if (!fits) return fits.error();
  Outcome<Contender> out = on(entry, *fits, matrices);
  if (out) out->form = text(tile_of(*fits));
  return out;
}

}  // namespace tilescope::bench
