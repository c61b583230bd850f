// Graphs: work that is taken down and done later, as often as the program likes.
//
// A node is done by the same calls as work that is not taken down. Nodes of a graph go one after
// the other, in an order that their edges allow, in the stream that the graph is launched in.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "app/cuda/api.h"
#include "app/cuda/wire.h"

namespace tilescope::standin {

// CUgraphNodeType
enum class NodeKind : int {
  kernel = 0,
  copy = 1,
  fill = 2,
  host = 3,
  child = 4,
  empty = 5,
  event_wait = 6,
  event_record = 7,
  allocate = 10,
  release = 11,
};

using Work = std::function<CUresult(CUstream stream)>;

// Whether work of this stream is being taken down.
bool is_captured(CUstream stream);
void take_down(CUstream stream, NodeKind kind, Work work);

// Does it now, or takes it down.
template <class Do>
CUresult give(CUstream stream, NodeKind kind, Do&& work) {
  if (!is_captured(stream)) return work(stream);
  take_down(stream, kind, std::forward<Do>(work));
  return CUDA_SUCCESS;
}

// A captured stream's event: who waits for it is captured as well (CUDA C++ Programming Guide,
// "Cross-stream Dependencies and Events"). False: the event has no part in a capture.
bool record_captured(CUevent event, CUstream stream);
bool wait_captured(CUstream stream, CUevent event);

// What a kernel's node is made of.
struct KernelWork {
  wire::Launch how;
  std::string parameters;
  CUresult operator()(CUstream stream) const;
};
// From what a program hands over; launches.cpp.
CUresult kernel_work(const wire::Launch& how, CUfunction function, void** parameters, void** extra,
                     KernelWork& out);
// Copies and fills; memory.cpp.
CUresult copy_now(const CUDA_MEMCPY3D& how, CUstream stream);
CUresult fill_now(CUdeviceptr to, std::uint64_t pitch, std::uint32_t value, std::uint32_t width,
                  std::uint64_t count, std::uint64_t rows, CUstream stream);

}  // namespace tilescope::standin
