#include "app/runs.h"

#include <fmt/format.h>

#include "app/assets.h"
#include "app/files.h"
#include "core/io/npy.h"
#include "core/sim/sim_device.h"
#include "kernels/catalog/catalog.h"

namespace tilescope {
namespace {

Outcome<Request> request_of(const RunOptions& options) {
  Request request;
  request.sizes = options.sizes;
  request.seed = options.seed;
  if (!options.dtype.empty()) {
    request.dtype = dtype_named(options.dtype);
    if (!request.dtype) {
      return Error{
          ErrorKind::usage,
          fmt::format("--dtype {}: there are f16, bf16, f32, f64, e4m3, e5m2, u8, i8, u16, "
                      "i16, u32, i32, u64 and i64.",
                      options.dtype),
          ""};
    }
  }
  for (const auto& [tensor, path] : options.files) {
    const Outcome<std::vector<std::byte>> bytes = read_file(path);
    if (!bytes) return bytes.error();
    Outcome<Buffer> read = read_npy(*bytes, path, request.dtype);
    if (!read) return read.error();
    request.inputs.emplace(tensor, std::move(*read));
  }
  return request;
}

}  // namespace

Outcome<PreparedRun> prepare_run(std::string_view kernel, const RunOptions& options) {
  const Outcome<const CatalogEntry*> entry = find_kernel(kernel);
  if (!entry) return entry.error();
  Outcome<Request> request = request_of(options);
  if (!request) return request.error();
  const auto fitted = fit(**entry, *request);
  if (!fitted) return fitted.error();
  const Outcome<Asset> ptx = load_asset((*entry)->ptx);
  if (!ptx) return ptx.error();
  Outcome<Job> job = make_job(**entry, std::move(*request), std::string(ptx->text()));
  if (!job) return job.error();

  PreparedRun run{*entry, fitted->sizes, (*entry)->variants[fitted->variant], std::move(*job), 0};
  while ((*entry)->tensors[run.output].role != TensorRole::output) ++run.output;
  return run;
}

Outcome<Buffer> expected_output(const PreparedRun& run) {
  Outcome<std::vector<Buffer>> outputs = run.entry->reference(run.job);
  if (!outputs) return outputs.error();
  return std::move(outputs->front());
}

std::unique_ptr<Device> make_simulator() {
  return std::make_unique<SimDevice>();
}

}  // namespace tilescope
