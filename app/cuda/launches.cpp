// Launches, and what a stream is given to do besides.
#include <cstring>

#include "app/cuda/connection.h"
#include "app/cuda/gather.h"
#include "app/cuda/graphs.h"
#include "app/cuda/modules.h"

namespace tilescope::standin {
namespace {

CUresult launch(const wire::Launch& how, CUfunction function, void** parameters, void** extra) {
  KernelWork work;
  if (const CUresult wrong = kernel_work(how, function, parameters, extra, work)) return wrong;
  return give(handle_of<CUstream>(how.stream), NodeKind::kernel, work);
}

wire::Launch shape(const unsigned (&grid)[3], const unsigned (&block)[3], unsigned shared,
                   CUstream stream) {
  wire::Launch how;
  std::memcpy(how.grid, grid, sizeof how.grid);
  std::memcpy(how.block, block, sizeof how.block);
  how.dynamic_shared = shared;
  how.stream = number_of(stream);
  return how;
}

}  // namespace

CUresult KernelWork::operator()(CUstream stream) const {
  wire::Launch now = how;
  now.stream = number_of(stream);
  return Question(Call::launch).with(now).with_text(parameters).ask();
}

CUresult kernel_work(const wire::Launch& how, CUfunction function, void** parameters, void** extra,
                     KernelWork& out) {
  const auto facts = facts_of(function);
  if (!facts) return is_connected() ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_NOT_INITIALIZED;
  out.how = how;
  out.how.function = number_of(function);
  return gather(facts->parameters, facts->parameter_bytes, parameters, extra, out.parameters);
}

TILESCOPE_CUDA cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                              unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                              unsigned shared, CUstream stream, void** parameters, void** extra) {
  return launch(shape({grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared, stream),
                function, parameters, extra);
}

TILESCOPE_CUDA cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                         unsigned grid_z, unsigned block_x, unsigned block_y,
                                         unsigned block_z, unsigned shared, CUstream stream,
                                         void** parameters) {
  wire::Launch how = shape({grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared, stream);
  how.cooperative = 1;
  return launch(how, function, parameters, nullptr);
}

TILESCOPE_CUDA cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function,
                                void** parameters, void** extra) {
  if (!config || (config->numAttrs && !config->attrs)) return CUDA_ERROR_INVALID_VALUE;
  wire::Launch how = shape(config->grid, config->block, config->sharedMemBytes, config->hStream);
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const CUlaunchAttribute& attribute = config->attrs[i];
    switch (attribute.id) {
      case attribute_cooperative:
        how.cooperative = attribute.value.number != 0;
        break;
      case attribute_cluster_dimension:
        std::memcpy(how.cluster, attribute.value.cluster, sizeof how.cluster);
        break;
      case attribute_programmatic_stream_serialization:
        how.programmatic = attribute.value.number != 0;
        break;
      default:  // hints: priorities, domains, windows of L2
        break;
    }
  }
  return launch(how, function, parameters, extra);
}

TILESCOPE_CUDA cuOccupancyMaxActiveClusters(int* clusters, CUfunction function,
                                            const CUlaunchConfig* config) {
  if (!clusters || !config) return CUDA_ERROR_INVALID_VALUE;
  std::uint32_t cluster[3] = {1, 1, 1};
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    if (config->attrs[i].id == attribute_cluster_dimension) {
      std::memcpy(cluster, config->attrs[i].value.cluster, sizeof cluster);
    }
  }
  Question question(Call::clusters);
  question.with(number_of(function)).with(cluster);
  question.with(config->block[0] * config->block[1] * config->block[2]);
  int largest = 0;
  return question.with(std::uint64_t{config->sharedMemBytes}).ask(&largest, clusters);
}
TILESCOPE_CUDA cuOccupancyMaxPotentialClusterSize(int* largest, CUfunction function,
                                                  const CUlaunchConfig* config) {
  if (!largest || !config) return CUDA_ERROR_INVALID_VALUE;
  const std::uint32_t cluster[3] = {1, 1, 1};
  Question question(Call::clusters);
  question.with(number_of(function)).with(cluster);
  question.with(config->block[0] * config->block[1] * config->block[2]);
  int active = 0;
  return question.with(std::uint64_t{config->sharedMemBytes}).ask(largest, &active);
}

// All that came before has been done.
TILESCOPE_CUDA cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  if (!function) return CUDA_ERROR_INVALID_VALUE;
  return give(stream, NodeKind::host, [=](CUstream) {
    function(data);
    return CUDA_SUCCESS;
  });
}
TILESCOPE_CUDA cuStreamAddCallback(CUstream stream, CUstreamCallback function, void* data,
                                   unsigned) {
  if (!function) return CUDA_ERROR_INVALID_VALUE;
  function(stream, CUDA_SUCCESS, data);
  return CUDA_SUCCESS;
}

}  // namespace tilescope::standin
