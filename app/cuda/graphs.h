// Graphs: work that is taken down and done later, as often as the program likes.
//
// A node is done by the same calls as work that is not taken down. Nodes of a graph are ordered by
// its edges alone (CUDA C++ Programming Guide, "CUDA Graphs"): nodes that no edges lead between are
// done in streams that the program does not see, as captured work was taken from streams that it
// does.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "app/cuda/api.h"
#include "app/cuda/connection.h"
#include "app/cuda/contexts.h"
#include "app/cuda/host_work.h"
#include "app/cuda/user_objects.h"
#include "app/cuda/wire.h"

using CUgraphNode = struct CUgraphNode_st*;
using CUgraphExec = struct CUgraphExec_st*;

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
  batch = 12,
};

// ---- what nodes are made of: the driver's own structures, where there is one --------------------

struct KernelWork {
  wire::Launch how;
  std::string parameters;
  std::vector<CUlaunchAttribute> attributes;  // that `how` has been told
  CUresult operator()(CUstream stream) const;
};
struct FillNode {  // CUDA_MEMSET_NODE_PARAMS
  CUdeviceptr to;
  std::size_t pitch;
  unsigned value, width;
  std::size_t count, rows;
};
struct HostNode {  // CUDA_HOST_NODE_PARAMS
  CUhostFn function;
  void* data;
};
struct EventNode {
  CUevent event;
};
// At the address that it is given with the node, from one launch of the node to its release.
struct AllocationNode {
  std::uint64_t bytes;
  CUdeviceptr address;
};
struct ReleaseNode {
  CUdeviceptr address;
};
struct BatchWork {  // memory_operations.cpp
  std::vector<CUstreamBatchMemOpParams> operations;
  CUresult operator()(CUstream stream) const;
};
using NodeWork = std::variant<std::monostate, KernelWork, CUDA_MEMCPY3D, FillNode, HostNode,
                              EventNode, AllocationNode, ReleaseNode, BatchWork>;
// Whether it may have to wait for what the calling thread does later.
inline bool may_wait_for_host(NodeKind kind) {
  return kind == NodeKind::host || kind == NodeKind::batch;
}

// Does it now.
CUresult do_work(NodeKind kind, const NodeWork& work, CUstream stream);

// From what a program hands over; launches.cpp.
CUresult kernel_work(const wire::Launch& how, CUfunction function, void** parameters, void** extra,
                     KernelWork& out);
// An attribute of a launch: `how` and the list learn it.
void tell_attribute(KernelWork& work, int id, const CUlaunchAttributeValue& value);
// Copies and fills; memory.cpp.
CUresult copy_now(const CUDA_MEMCPY3D& how, CUstream stream);
CUresult fill_now(const FillNode& how, CUstream stream);
// Memory of a node: where it will be; and there it is; memory.cpp.
CUresult address_for(std::uint64_t bytes, CUdeviceptr& address);
CUresult allocate_there(const AllocationNode& node, CUstream stream);
CUresult release_now(const ReleaseNode& node, CUstream stream);

// ---- taking down --------------------------------------------------------------------------------

// Whether work of this stream is being taken down.
bool is_captured(CUstream stream);
CUresult take_down(CUstream stream, NodeKind kind, NodeWork work);
CUresult take_down_child(CUstream stream, CUgraph graph);
// The default stream would wait for captured ones, which do nothing now: refused, and they are
// over.
CUresult waits_for_captured(CUstream stream);

// Does it now, takes it down, or does it once that is its turn.
template <class Work>
CUresult give(CUstream stream, NodeKind kind, Work&& work) {
  if (is_captured(stream)) return take_down(stream, kind, std::forward<Work>(work));
  if (const CUresult wrong = waits_for_captured(stream)) return wrong;
  const CUstream own = own_stream(stream);
  if (!may_wait_for_host(kind) && !is_behind(own)) {
    return do_work(kind, std::forward<Work>(work), stream);
  }
  if (in_host_function()) return CUDA_ERROR_NOT_PERMITTED;
  do_later(own, [kind, own, later = NodeWork(std::forward<Work>(work))] {
    return do_work(kind, later, own);
  });
  return CUDA_SUCCESS;
}

// A captured stream's event: who waits for it is captured as well (CUDA C++ Programming Guide,
// "Cross-stream Dependencies and Events"). False: the event has no part in a capture.
bool record_captured(CUevent event, CUstream stream, bool as_node, CUresult& result);
bool wait_captured(CUstream stream, CUevent event, bool as_node, CUresult& result);
// Who asks whether a captured stream or its event is done: nothing of it is, and the capture is
// over. Success: it has no part in one.
CUresult spoil_capture(CUstream stream);
CUresult spoil_capture(CUevent event);
// The whole device is waited for: no stream may be captured then.
CUresult waits_for_all();
// What may wait for other work, as an allocation does, is kept from who captures by the captures'
// mode and the calling thread's.
CUresult unsafe_in_captures();
void forget_event(CUevent event);

// ---- graphs, their nodes, and what executes them ------------------------------------------------

struct EdgeData {  // CUgraphEdgeData
  unsigned char from_port = 0, to_port = 0, type = 0, reserved[5] = {};
  static constexpr unsigned char programmatic = 1;
};
struct Edge {
  CUgraphNode from = nullptr;
  EdgeData data;
};

}  // namespace tilescope::standin

struct CUgraphNode_st {
  tilescope::standin::NodeKind kind{};
  CUgraph graph = nullptr;
  tilescope::standin::NodeWork work;
  std::vector<tilescope::standin::Edge> behind;  // those that come before it
  CUgraph child = nullptr;                       // of its own
  CUgraphNode copy_of = nullptr;                 // in a clone
  std::vector<void*> pointers;                   // to a kernel's parameters, where it was asked
};

struct CUgraph_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;  // in the order in which they were added
  bool is_child = false;                               // belongs to a node
  tilescope::standin::UserObjects objects;
};

namespace tilescope::standin {

extern std::recursive_mutex graphs_mutex;
using GraphsLock = std::lock_guard<std::recursive_mutex>;

template <class T>
std::set<T*>& all_of() {
  static auto* const all = new std::set<T*>;
  return *all;
}
template <class T>
bool is_known(T* what) {
  return all_of<T>().count(what) > 0;
}

CUgraph new_graph();
void end_graph(CUgraph graph);
CUgraph clone_of(const CUgraph_st& graph);
CUgraphNode add_node(CUgraph graph, NodeKind kind, NodeWork work, std::vector<Edge> behind);
// What a program hands over as the nodes before a new one; invalid where one is of another graph.
CUresult edges_from(CUgraph graph, const CUgraphNode* nodes, const EdgeData* data,
                    std::size_t count, std::vector<Edge>& out);
// The node of an executable graph that was made of this one. Null: there is none.
NodeWork* work_in(CUgraphExec exec, CUgraphNode node, NodeKind kind);
bool* enabled_in(CUgraphExec exec, CUgraphNode node);
// A child of an executable graph does from now on what this graph does; false: it is another one.
bool update_child(CUgraphExec exec, CUgraphNode node, const CUgraph_st& graph);

}  // namespace tilescope::standin
