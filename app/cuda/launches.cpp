// Launches, and what a stream is given to do besides.
#include <cstring>

#include "app/cuda/connection.h"
#include "app/cuda/contexts.h"
#include "app/cuda/gather.h"
#include "app/cuda/graphs.h"
#include "app/cuda/guard.h"
#include "app/cuda/modules.h"

namespace tilescope::standin {

TILESCOPE_CUDA cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags);
TILESCOPE_CUDA cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags);

namespace {

wire::Launch shape(const unsigned (&grid)[3], const unsigned (&block)[3], unsigned shared) {
  wire::Launch how;
  std::memcpy(how.grid, grid, sizeof how.grid);
  std::memcpy(how.block, block, sizeof how.block);
  how.dynamic_shared = shared;
  return how;
}

// What its stream was given before a host function is done, and what that printed comes first.
CUresult begin_host_function(CUstream stream) {
  Question question(Call::host_runs);
  const CUresult result = question.with(number_of(stream)).ask();
  print(question.results().text());
  return result;
}

template <class F>
void as_host_function(F function) {
  set_in_host_function(true);
  function();
  set_in_host_function(false);
}

}  // namespace

CUresult KernelWork::operator()(CUstream stream) const {
  wire::Launch now = how;
  now.stream = number_of(stream);
  Question question(Call::launch);
  const CUresult result = question.with(now).with_text(parameters).ask();
  print(question.results().text());
  if (result) return result;
  // One that tells the host itself also tells what was done before it.
  wire::Reader& in = question.results();
  const bool tells = in.get<bool>();
  if (tells || launches_wait()) let_in();
  const auto number = in.get<std::uint64_t>();
  for (auto left = in.get<std::uint32_t>(); left && !launches_wait(); --left) {
    const auto begin = in.get<std::uint64_t>();
    guard(begin, in.get<std::uint64_t>(), {Work::Kind::launch, number});
  }
  return CUDA_SUCCESS;
}

CUresult do_work(NodeKind kind, const NodeWork& work, CUstream stream) {
  struct Do {
    NodeKind kind;
    CUstream stream;
    CUresult operator()(std::monostate) const { return CUDA_SUCCESS; }
    CUresult operator()(const KernelWork& w) const { return w(stream); }
    CUresult operator()(const CUDA_MEMCPY3D& w) const { return copy_now(w, stream); }
    CUresult operator()(const FillNode& w) const { return fill_now(w, stream); }
    // Nobody is told of an error here: the function does not run then.
    CUresult operator()(const HostNode& w) const {
      if (begin_host_function(stream) == CUDA_SUCCESS)
        as_host_function([&] { w.function(w.data); });
      return CUDA_SUCCESS;
    }
    CUresult operator()(const EventNode& w) const {
      return kind == NodeKind::event_wait ? cuStreamWaitEvent(stream, w.event, 0)
                                          : cuEventRecordWithFlags(w.event, stream, 0);
    }
    CUresult operator()(const AllocationNode& w) const { return allocate_there(w, stream); }
    CUresult operator()(const ReleaseNode& w) const { return release_now(w, stream); }
    CUresult operator()(const BatchWork& w) const { return w(stream); }
  };
  return std::visit(Do{kind, stream}, work);
}

CUresult kernel_work(const wire::Launch& how, CUfunction function, void** parameters, void** extra,
                     KernelWork& out) {
  const auto facts = facts_of(function);
  if (!facts) return is_connected() ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_NOT_INITIALIZED;
  out.how = how;
  out.how.function = number_of(function);
  return gather(facts->parameters, facts->parameter_bytes, parameters, extra, out.parameters);
}

void tell_attribute(KernelWork& work, int id, const CUlaunchAttributeValue& value) {
  switch (id) {
    case attribute_cooperative:
      work.how.cooperative = value.number != 0;
      break;
    case attribute_cluster_dimension:
      std::memcpy(work.how.cluster, value.cluster, sizeof work.how.cluster);
      break;
    case attribute_programmatic_stream_serialization:
      work.how.programmatic = value.number != 0;
      break;
    default:  // hints: priorities, domains, windows of L2
      break;
  }
  for (CUlaunchAttribute& each : work.attributes) {
    if (each.id != id) continue;
    each.value = value;
    return;
  }
  CUlaunchAttribute fresh{};
  fresh.id = id, fresh.value = value;
  work.attributes.push_back(fresh);
}

namespace {

CUresult launch(const wire::Launch& how, CUfunction function, void** parameters, void** extra,
                CUstream stream, const CUlaunchAttribute* attributes, unsigned count) {
  KernelWork work;
  if (const CUresult wrong = kernel_work(how, function, parameters, extra, work)) return wrong;
  for (unsigned i = 0; i < count; ++i) {
    tell_attribute(work, attributes[i].id, attributes[i].value);
  }
  if (const CUresult wrong = give(stream, NodeKind::kernel, std::move(work))) return wrong;
  // Events that the kernel's blocks set off together, at the latest at its end, which is when they
  // are recorded here.
  for (unsigned i = 0; i < count; ++i) {
    if (attributes[i].id != attribute_programmatic_event &&
        attributes[i].id != attribute_launch_completion_event) {
      continue;
    }
    const CUresult wrong = cuEventRecordWithFlags(attributes[i].value.event.event, stream, 0);
    if (wrong) return wrong;
  }
  return CUDA_SUCCESS;
}

}  // namespace

TILESCOPE_CUDA cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                              unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                              unsigned shared, CUstream stream, void** parameters, void** extra) {
  return launch(shape({grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared), function,
                parameters, extra, stream, nullptr, 0);
}

TILESCOPE_CUDA cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                         unsigned grid_z, unsigned block_x, unsigned block_y,
                                         unsigned block_z, unsigned shared, CUstream stream,
                                         void** parameters) {
  CUlaunchAttribute cooperative{};
  cooperative.id = attribute_cooperative, cooperative.value.number = 1;
  return launch(shape({grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared), function,
                parameters, nullptr, stream, &cooperative, 1);
}

namespace {
CUresult launch_in(const CUlaunchConfig* config, CUfunction function, void** parameters,
                   void** extra, CUstream stream) {
  if (!config || (config->numAttrs && !config->attrs)) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    if (config->attrs[i].id != attribute_access_policy_window) continue;
    if (const CUresult wrong = window_wrong(config->attrs[i].value.window)) return wrong;
  }
  return launch(shape(config->grid, config->block, config->sharedMemBytes), function, parameters,
                extra, stream, config->attrs, config->numAttrs);
}
}  // namespace

TILESCOPE_CUDA cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function,
                                void** parameters, void** extra) {
  return launch_in(config, function, parameters, extra, config ? config->hStream : nullptr);
}
// Its stream stands in `config`.
TILESCOPE_CUDA cuLaunchKernelEx_ptsz(const CUlaunchConfig* config, CUfunction function,
                                     void** parameters, void** extra) {
  return launch_in(config, function, parameters, extra,
                   config && config->hStream ? config->hStream : stream_per_thread());
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
  question.with(std::uint64_t{config->sharedMemBytes}).with(std::uint8_t{1});
  return question.with(config->grid).ask(&largest, clusters);
}
TILESCOPE_CUDA cuOccupancyMaxPotentialClusterSize(int* largest, CUfunction function,
                                                  const CUlaunchConfig* config) {
  if (!largest || !config) return CUDA_ERROR_INVALID_VALUE;
  const std::uint32_t cluster[3] = {1, 1, 1};
  Question question(Call::clusters);
  question.with(number_of(function)).with(cluster);
  question.with(config->block[0] * config->block[1] * config->block[2]);
  int active = 0;
  question.with(std::uint64_t{config->sharedMemBytes}).with(std::uint8_t{0});
  return question.with(config->grid).ask(largest, &active);
}

// All that came before has been done.
TILESCOPE_CUDA cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  if (!is_connected()) return CUDA_ERROR_NOT_INITIALIZED;
  if (!function) return CUDA_ERROR_INVALID_VALUE;
  return give(stream, NodeKind::host, HostNode{function, data});
}
// It is told of an error of what came before.
TILESCOPE_CUDA cuStreamAddCallback(CUstream stream, CUstreamCallback function, void* data,
                                   unsigned flags) {
  if (!function || flags) return CUDA_ERROR_INVALID_VALUE;
  if (in_host_function()) return CUDA_ERROR_NOT_PERMITTED;
  if (const CUresult wrong = spoil_capture(stream)) return wrong;
  if (!is_connected()) return CUDA_ERROR_NOT_INITIALIZED;
  const CUstream own = own_stream(stream);
  do_later(own, [=] {
    const CUresult before = begin_host_function(own);
    as_host_function([&] { function(stream, before, data); });
    return CUDA_SUCCESS;
  });
  return CUDA_SUCCESS;
}

}  // namespace tilescope::standin
