// Nodes of graphs by what they do: each kind is added, asked for and changed by functions of its
// own, in the graph and in what was made of it to run; cuGraphAddNode and its like do for all.
#include <algorithm>
#include <cstring>

#include "app/cuda/graphs.h"
#include "app/cuda/modules.h"

namespace tilescope::standin {
namespace {

struct KernelNode {  // CUDA_KERNEL_NODE_PARAMS_v2; the first one ends before `kernel`
  CUfunction function;
  unsigned grid[3], block[3], shared;
  void **parameters, **extra;
  CUkernel kernel;
  CUcontext context;
};
static_assert(sizeof(KernelNode) == 72);
struct CopyNode {  // CUDA_MEMCPY_NODE_PARAMS
  int flags, reserved;
  CUcontext context;
  CUDA_MEMCPY3D how;
};
struct ChildNode {  // CUDA_CHILD_GRAPH_NODE_PARAMS
  CUgraph graph;
  int ownership;
};
struct MemoryNode {  // CUDA_MEM_ALLOC_NODE_PARAMS
  CUmemPoolProps pool;
  const void* access;
  std::size_t accesses, bytes;
  CUdeviceptr address;
};
struct AnyNode {  // CUgraphNodeParams
  int type, reserved[3];
  union {
    KernelNode kernel;
    CopyNode copy;
    FillNode fill;
    HostNode host;
    ChildNode child;
    EventNode event;
    MemoryNode memory;
    CUdeviceptr released;
    long long bytes[29];
  };
  long long reserved2;
};
static_assert(sizeof(AnyNode) == 256);

CUresult work_of(const KernelNode& node, bool knows_kernels, NodeWork& out) {
  wire::Launch how;
  std::copy_n(node.grid, 3, how.grid);
  std::copy_n(node.block, 3, how.block);
  how.dynamic_shared = node.shared;
  const CUfunction function = node.function   ? node.function
                              : knows_kernels ? reinterpret_cast<CUfunction>(node.kernel)
                                              : nullptr;
  KernelWork work;
  if (const CUresult wrong = kernel_work(how, function, node.parameters, node.extra, work)) {
    return wrong;
  }
  // What was said of the node stays.
  if (const auto* const before = std::get_if<KernelWork>(&out)) {
    for (const CUlaunchAttribute& each : before->attributes) {
      tell_attribute(work, each.id, each.value);
    }
  }
  out = std::move(work);
  return CUDA_SUCCESS;
}
CUresult work_of(const CUDA_MEMCPY3D& how, NodeWork& out) {
  if (how.WidthInBytes == 0 || how.Height == 0 || how.Depth == 0) return CUDA_ERROR_INVALID_VALUE;
  out = how;
  return CUDA_SUCCESS;
}
CUresult work_of(const FillNode& how, NodeWork& out) {
  const bool good = how.width == 1 || how.width == 2 || how.width == 4;
  if (!good || !how.to || how.count == 0 || how.rows == 0) return CUDA_ERROR_INVALID_VALUE;
  out = how;
  return CUDA_SUCCESS;
}
CUresult work_of(const HostNode& how, NodeWork& out) {
  if (!how.function) return CUDA_ERROR_INVALID_VALUE;
  out = how;
  return CUDA_SUCCESS;
}
CUresult work_of(const EventNode& how, NodeWork& out) {
  if (!how.event) return CUDA_ERROR_INVALID_VALUE;
  out = how;
  return CUDA_SUCCESS;
}

CUresult add(CUgraphNode* out, CUgraph graph, const CUgraphNode* behind, const EdgeData* data,
             std::size_t count, NodeKind kind, NodeWork work) {
  const GraphsLock lock(graphs_mutex);
  std::vector<Edge> edges;
  if (!out || !is_known(graph)) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult wrong = edges_from(graph, behind, data, count, edges)) return wrong;
  *out = add_node(graph, kind, std::move(work), std::move(edges));
  return CUDA_SUCCESS;
}

template <class Node>
CUresult add(CUgraphNode* out, CUgraph graph, const CUgraphNode* behind, std::size_t count,
             NodeKind kind, const Node* node) {
  NodeWork work;
  if (!node) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult wrong = work_of(*node, work)) return wrong;
  return add(out, graph, behind, nullptr, count, kind, std::move(work));
}

// What a node of this kind does; null: it is none.
NodeWork* work_in(CUgraphNode node, NodeKind kind) {
  return is_known(node) && node->kind == kind ? &node->work : nullptr;
}

template <class Node>
CUresult get(CUgraphNode node, NodeKind kind, Node* out) {
  const GraphsLock lock(graphs_mutex);
  const NodeWork* const work = work_in(node, kind);
  if (!work || !out) return CUDA_ERROR_INVALID_VALUE;
  *out = std::get<Node>(*work);
  return CUDA_SUCCESS;
}
template <class Node>
CUresult set(NodeWork* work, const Node* node) {
  return work && node ? work_of(*node, *work) : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

// ---- kernels ------------------------------------------------------------------------------------

TILESCOPE_CUDA cuGraphAddKernelNode_v2(CUgraphNode* out, CUgraph graph, const CUgraphNode* behind,
                                       std::size_t count, const KernelNode* node) {
  NodeWork work;
  if (!node) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult wrong = work_of(*node, true, work)) return wrong;
  return add(out, graph, behind, nullptr, count, NodeKind::kernel, std::move(work));
}
TILESCOPE_CUDA cuGraphAddKernelNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* behind,
                                    std::size_t count, const KernelNode* node) {
  NodeWork work;
  if (!node) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult wrong = work_of(*node, false, work)) return wrong;
  return add(out, graph, behind, nullptr, count, NodeKind::kernel, std::move(work));
}

namespace {
CUresult set_kernel(NodeWork* work, const KernelNode* node, bool knows_kernels) {
  return work && node ? work_of(*node, knows_kernels, *work) : CUDA_ERROR_INVALID_VALUE;
}
}  // namespace

TILESCOPE_CUDA cuGraphKernelNodeSetParams_v2(CUgraphNode node, const KernelNode* how) {
  const GraphsLock lock(graphs_mutex);
  return set_kernel(work_in(node, NodeKind::kernel), how, true);
}
TILESCOPE_CUDA cuGraphKernelNodeSetParams(CUgraphNode node, const KernelNode* how) {
  const GraphsLock lock(graphs_mutex);
  return set_kernel(work_in(node, NodeKind::kernel), how, false);
}
TILESCOPE_CUDA cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                                 const KernelNode* how) {
  const GraphsLock lock(graphs_mutex);
  return set_kernel(work_in(exec, node, NodeKind::kernel), how, true);
}
TILESCOPE_CUDA cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                              const KernelNode* how) {
  const GraphsLock lock(graphs_mutex);
  return set_kernel(work_in(exec, node, NodeKind::kernel), how, false);
}

namespace {
// The pointers are the node's, as long as it is not changed.
CUresult get_kernel(CUgraphNode node, KernelNode* out, std::size_t bytes) {
  const GraphsLock lock(graphs_mutex);
  NodeWork* const work = work_in(node, NodeKind::kernel);
  if (!work || !out) return CUDA_ERROR_INVALID_VALUE;
  auto& kernel = std::get<KernelWork>(*work);
  KernelNode all{};
  all.function = handle_of<CUfunction>(kernel.how.function);
  all.kernel = reinterpret_cast<decltype(all.kernel)>(all.function);
  all.context = current_context() ? current_context() : primary_context();
  std::copy_n(kernel.how.grid, 3, all.grid);
  std::copy_n(kernel.how.block, 3, all.block);
  all.shared = kernel.how.dynamic_shared;
  node->pointers.clear();
  if (const auto facts = facts_of(all.function)) {
    for (const wire::Parameter& p : facts->parameters) {
      node->pointers.push_back(kernel.parameters.data() + p.offset);
    }
  }
  all.parameters = node->pointers.empty() ? nullptr : node->pointers.data();
  std::memcpy(static_cast<void*>(out), &all, bytes);
  return CUDA_SUCCESS;
}
}  // namespace

TILESCOPE_CUDA cuGraphKernelNodeGetParams_v2(CUgraphNode node, KernelNode* out) {
  return get_kernel(node, out, sizeof *out);
}
TILESCOPE_CUDA cuGraphKernelNodeGetParams(CUgraphNode node, KernelNode* out) {
  return get_kernel(node, out, offsetof(KernelNode, kernel));
}

TILESCOPE_CUDA cuGraphKernelNodeSetAttribute(CUgraphNode node, int id,
                                             const CUlaunchAttributeValue* value) {
  const GraphsLock lock(graphs_mutex);
  NodeWork* const work = work_in(node, NodeKind::kernel);
  if (!work || !value) return CUDA_ERROR_INVALID_VALUE;
  tell_attribute(std::get<KernelWork>(*work), id, *value);
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuGraphKernelNodeGetAttribute(CUgraphNode node, int id,
                                             CUlaunchAttributeValue* value) {
  const GraphsLock lock(graphs_mutex);
  const NodeWork* const work = work_in(node, NodeKind::kernel);
  if (!work || !value) return CUDA_ERROR_INVALID_VALUE;
  const auto& all = std::get<KernelWork>(*work).attributes;
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const CUlaunchAttribute& a) { return a.id == id; });
  *value = found == all.end() ? CUlaunchAttributeValue{} : found->value;
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from) {
  const GraphsLock lock(graphs_mutex);
  NodeWork* const mine = work_in(to, NodeKind::kernel);
  const NodeWork* const theirs = work_in(from, NodeKind::kernel);
  if (!mine || !theirs) return CUDA_ERROR_INVALID_VALUE;
  for (const CUlaunchAttribute& each : std::get<KernelWork>(*theirs).attributes) {
    tell_attribute(std::get<KernelWork>(*mine), each.id, each.value);
  }
  return CUDA_SUCCESS;
}

// ---- copies, fills, the host --------------------------------------------------------------------

TILESCOPE_CUDA cuGraphAddMemcpyNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* behind,
                                    std::size_t count, const CUDA_MEMCPY3D* how, CUcontext) {
  return add(out, graph, behind, count, NodeKind::copy, how);
}
TILESCOPE_CUDA cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D* out) {
  return get(node, NodeKind::copy, out);
}
TILESCOPE_CUDA cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D* how) {
  const GraphsLock lock(graphs_mutex);
  return set(work_in(node, NodeKind::copy), how);
}
TILESCOPE_CUDA cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                              const CUDA_MEMCPY3D* how, CUcontext) {
  const GraphsLock lock(graphs_mutex);
  return set(work_in(exec, node, NodeKind::copy), how);
}

TILESCOPE_CUDA cuGraphAddMemsetNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* behind,
                                    std::size_t count, const FillNode* how, CUcontext) {
  return add(out, graph, behind, count, NodeKind::fill, how);
}
TILESCOPE_CUDA cuGraphMemsetNodeGetParams(CUgraphNode node, FillNode* out) {
  return get(node, NodeKind::fill, out);
}
TILESCOPE_CUDA cuGraphMemsetNodeSetParams(CUgraphNode node, const FillNode* how) {
  const GraphsLock lock(graphs_mutex);
  return set(work_in(node, NodeKind::fill), how);
}
TILESCOPE_CUDA cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                              const FillNode* how, CUcontext) {
  const GraphsLock lock(graphs_mutex);
  return set(work_in(exec, node, NodeKind::fill), how);
}

TILESCOPE_CUDA cuGraphAddHostNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* behind,
                                  std::size_t count, const HostNode* how) {
  return add(out, graph, behind, count, NodeKind::host, how);
}
TILESCOPE_CUDA cuGraphHostNodeGetParams(CUgraphNode node, HostNode* out) {
  return get(node, NodeKind::host, out);
}
TILESCOPE_CUDA cuGraphHostNodeSetParams(CUgraphNode node, const HostNode* how) {
  const GraphsLock lock(graphs_mutex);
  return set(work_in(node, NodeKind::host), how);
}
TILESCOPE_CUDA cuGraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                            const HostNode* how) {
  const GraphsLock lock(graphs_mutex);
  return set(work_in(exec, node, NodeKind::host), how);
}

TILESCOPE_CUDA cuGraphAddEmptyNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* behind,
                                   std::size_t count) {
  return add(out, graph, behind, nullptr, count, NodeKind::empty, {});
}

// ---- events -------------------------------------------------------------------------------------

#define EVENT_NODES(name, which)                                                      \
  TILESCOPE_CUDA cuGraphAdd##name##Node(CUgraphNode* out, CUgraph graph,              \
                                        const CUgraphNode* behind, std::size_t count, \
                                        CUevent event) {                              \
    const EventNode node{event};                                                      \
    return add(out, graph, behind, count, which, &node);                              \
  }                                                                                   \
  TILESCOPE_CUDA cuGraph##name##NodeGetEvent(CUgraphNode node, CUevent* out) {        \
    EventNode found{};                                                                \
    if (!out) return CUDA_ERROR_INVALID_VALUE;                                        \
    const CUresult result = get(node, which, &found);                                 \
    *out = found.event;                                                               \
    return result;                                                                    \
  }                                                                                   \
  TILESCOPE_CUDA cuGraph##name##NodeSetEvent(CUgraphNode node, CUevent event) {       \
    const GraphsLock lock(graphs_mutex);                                              \
    const EventNode how{event};                                                       \
    return set(work_in(node, which), &how);                                           \
  }                                                                                   \
  TILESCOPE_CUDA cuGraphExec##name##NodeSetEvent(CUgraphExec exec, CUgraphNode node,  \
                                                 CUevent event) {                     \
    const GraphsLock lock(graphs_mutex);                                              \
    const EventNode how{event};                                                       \
    return set(work_in(exec, node, which), &how);                                     \
  }
EVENT_NODES(EventRecord, NodeKind::event_record)
EVENT_NODES(EventWait, NodeKind::event_wait)
#undef EVENT_NODES

// ---- graphs in graphs ---------------------------------------------------------------------------

namespace {

CUresult add_child(CUgraphNode* out, CUgraph graph, const CUgraphNode* behind, const EdgeData* data,
                   std::size_t count, CUgraph child) {
  const GraphsLock lock(graphs_mutex);
  if (!is_known(child) || child == graph) return CUDA_ERROR_INVALID_VALUE;
  const CUresult wrong = add(out, graph, behind, data, count, NodeKind::child, {});
  if (wrong) return wrong;
  (*out)->child = clone_of(*child);  // of its own: the one that was handed over may go
  (*out)->child->is_child = true;
  return CUDA_SUCCESS;
}

}  // namespace

TILESCOPE_CUDA cuGraphAddChildGraphNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* behind,
                                        std::size_t count, CUgraph child) {
  return add_child(out, graph, behind, nullptr, count, child);
}
TILESCOPE_CUDA cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph* out) {
  const GraphsLock lock(graphs_mutex);
  if (!out || !work_in(node, NodeKind::child)) return CUDA_ERROR_INVALID_VALUE;
  *out = node->child;
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuGraphExecChildGraphNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                  CUgraph graph) {
  const GraphsLock lock(graphs_mutex);
  if (!is_known(exec) || !work_in(node, NodeKind::child) || !is_known(graph)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return update_child(exec, node, *graph) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// ---- memory -------------------------------------------------------------------------------------

namespace {

CUresult add_memory(CUgraphNode* out, CUgraph graph, const CUgraphNode* behind,
                    const EdgeData* data, std::size_t count, MemoryNode* how) {
  if (!how || !out || how->bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  AllocationNode node{how->bytes, 0};
  if (const CUresult wrong = address_for(node.bytes, node.address)) return wrong;
  const CUresult result = add(out, graph, behind, data, count, NodeKind::allocate, node);
  if (result == CUDA_SUCCESS) how->address = node.address;
  return result;
}
CUresult add_release(CUgraphNode* out, CUgraph graph, const CUgraphNode* behind,
                     const EdgeData* data, std::size_t count, CUdeviceptr address) {
  if (!address) return CUDA_ERROR_INVALID_VALUE;
  return add(out, graph, behind, data, count, NodeKind::release, ReleaseNode{address});
}

}  // namespace

TILESCOPE_CUDA cuGraphAddMemAllocNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* behind,
                                      std::size_t count, MemoryNode* how) {
  return add_memory(out, graph, behind, nullptr, count, how);
}
TILESCOPE_CUDA cuGraphMemAllocNodeGetParams(CUgraphNode node, MemoryNode* out) {
  AllocationNode found{};
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult wrong = get(node, NodeKind::allocate, &found)) return wrong;
  *out = {};
  out->pool.allocType = 1;      // CU_MEM_ALLOCATION_TYPE_PINNED
  out->pool.location_type = 1;  // CU_MEM_LOCATION_TYPE_DEVICE
  out->bytes = found.bytes, out->address = found.address;
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuGraphAddMemFreeNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* behind,
                                     std::size_t count, CUdeviceptr address) {
  return add_release(out, graph, behind, nullptr, count, address);
}
TILESCOPE_CUDA cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr* out) {
  ReleaseNode found{};
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  const CUresult result = get(node, NodeKind::release, &found);
  *out = found.address;
  return result;
}

// ---- any of them --------------------------------------------------------------------------------

namespace {

// Those whose node is made of nothing but this.
CUresult work_of(const AnyNode& node, NodeWork& out) {
  switch (static_cast<NodeKind>(node.type)) {
    case NodeKind::kernel:
      return work_of(node.kernel, true, out);
    case NodeKind::copy:
      if (node.copy.flags || node.copy.reserved) return CUDA_ERROR_INVALID_VALUE;
      return work_of(node.copy.how, out);
    case NodeKind::fill:
      return work_of(node.fill, out);
    case NodeKind::host:
      return work_of(node.host, out);
    case NodeKind::event_wait:
    case NodeKind::event_record:
      return work_of(node.event, out);
    case NodeKind::empty:
      return CUDA_SUCCESS;
    default:
      return not_supported("graph nodes of type " + std::to_string(node.type));
  }
}

}  // namespace

TILESCOPE_CUDA cuGraphAddNode_v2(CUgraphNode* out, CUgraph graph, const CUgraphNode* behind,
                                 const EdgeData* data, std::size_t count, AnyNode* node) {
  if (!node) return CUDA_ERROR_INVALID_VALUE;
  switch (static_cast<NodeKind>(node->type)) {
    case NodeKind::child:
      if (node->child.ownership) return not_supported("graph nodes that take a graph over");
      return add_child(out, graph, behind, data, count, node->child.graph);
    case NodeKind::allocate:
      return add_memory(out, graph, behind, data, count, &node->memory);
    case NodeKind::release:
      return add_release(out, graph, behind, data, count, node->released);
    default:
      break;
  }
  NodeWork work;
  if (const CUresult wrong = work_of(*node, work)) return wrong;
  return add(out, graph, behind, data, count, static_cast<NodeKind>(node->type), std::move(work));
}
TILESCOPE_CUDA cuGraphAddNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* behind,
                              std::size_t count, AnyNode* node) {
  return cuGraphAddNode_v2(out, graph, behind, nullptr, count, node);
}
TILESCOPE_CUDA cuGraphNodeSetParams(CUgraphNode node, const AnyNode* how) {
  const GraphsLock lock(graphs_mutex);
  if (!how) return CUDA_ERROR_INVALID_VALUE;
  NodeWork* const work = work_in(node, static_cast<NodeKind>(how->type));
  return work ? work_of(*how, *work) : CUDA_ERROR_INVALID_VALUE;
}
TILESCOPE_CUDA cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node, const AnyNode* how) {
  if (!how) return CUDA_ERROR_INVALID_VALUE;
  if (static_cast<NodeKind>(how->type) == NodeKind::child) {
    return cuGraphExecChildGraphNodeSetParams(exec, node, how->child.graph);
  }
  const GraphsLock lock(graphs_mutex);
  NodeWork* const work = work_in(exec, node, static_cast<NodeKind>(how->type));
  return work ? work_of(*how, *work) : CUDA_ERROR_INVALID_VALUE;
}

// ---- switched off -------------------------------------------------------------------------------

TILESCOPE_CUDA cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode node, unsigned enabled) {
  const GraphsLock lock(graphs_mutex);
  bool* const own = enabled_in(exec, node);
  if (!own) return CUDA_ERROR_INVALID_VALUE;
  *own = enabled != 0;
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuGraphNodeGetEnabled(CUgraphExec exec, CUgraphNode node, unsigned* enabled) {
  const GraphsLock lock(graphs_mutex);
  const bool* const own = enabled_in(exec, node);
  if (!own || !enabled) return CUDA_ERROR_INVALID_VALUE;
  *enabled = *own;
  return CUDA_SUCCESS;
}

}  // namespace tilescope::standin
