#include "tests/bench/contender.h"

#include <algorithm>

#include "app/runs.h"
#include "kernels/catalog/catalog.h"

namespace tilescope::bench {

double Contender::median() const {
  std::vector<double> sorted = seconds;
  std::sort(sorted.begin(), sorted.end());
  return sorted.empty() ? 0 : sorted[sorted.size() / 2];
}

Outcome<Contender> Shelf::on(const CatalogEntry& entry, Request request, const Matrices& matrices) {
  request.processors = device_.chip().multiprocessors;
  const Outcome<Fit> fits = fit(entry, request);
  if (!fits) return fits.error();
  const std::string& image = fits->variant.image.empty() ? entry.ptx : fits->variant.image;
  Loaded& loaded = loaded_[image + " " + fits->variant.entry];
  if (loaded.ptx.empty()) {
    Outcome<Program> program = program_of(entry, *fits, {});
    if (!program) return program.error();
    loaded.ptx = std::move(program->ptx);
  }
  // Of the matrices only the shapes are wanted.
  for (const TensorSpec& tensor : fits->tensors) request.inputs[tensor.name] = {};
  const Job job = make_job(entry, *fits, request, loaded.ptx);
  if (!loaded.launcher) {
    Outcome<std::unique_ptr<gpu::Launcher>> launcher = device_.load(job);
    if (!launcher) return launcher.error();
    loaded.launcher = std::move(*launcher);
  }
  const std::shared_ptr<gpu::Launcher> launcher = loaded.launcher;
  auto sets = std::make_shared<std::vector<std::vector<Argument>>>();
  for (std::size_t set = 0; set < matrices.sets(); ++set) {
    std::vector<Argument> arguments = job.arguments;
    if (auto error = launcher->place(arguments, job.buffers,
                                     {matrices.a(set), matrices.b(set), matrices.c(set)})) {
      return *error;
    }
    sets->push_back(std::move(arguments));
  }
  Contender out;
  out.kernel = entry.name;
  out.enqueue = [launcher, sets, launch = job.launch](std::size_t set) {
    return launcher->enqueue(launch, (*sets)[set]);
  };
  return out;
}

Outcome<Contender> Shelf::kernel(const CatalogEntry& entry, const ProductKind& kind, const Sizes& s,
                                 const Matrices& matrices) {
  Request request;
  request.sizes = {{"m", s.m}, {"n", s.n}, {"k", s.k}};
  request.dtype = stored_as(kind.a);
  return on(entry, std::move(request), matrices);
}

Outcome<Contender> Shelf::dense(const ProductKind& kind, const Sizes& s, const DenseTile& tile,
                                const Matrices& matrices) {
  Request request;
  request.sizes = {{"m", s.m}, {"n", s.n}, {"k", s.k}};
  request.choices = choices_of(kind, tile);
  Outcome<Contender> out = on(**find_kernel("dense_gemm"), std::move(request), matrices);
  if (!out) return out;
  out->tile = tile;
  out->form = text(tile);
  return out;
}

}  // namespace tilescope::bench
