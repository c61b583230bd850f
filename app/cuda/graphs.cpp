#include "app/cuda/graphs.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "app/cuda/connection.h"
#include "app/cuda/modules.h"

struct CUgraphNode_st {
  tilescope::standin::NodeKind kind{};
  tilescope::standin::Work work;
  tilescope::standin::KernelWork kernel;  // of a kernel, in place of `work`
  std::vector<CUgraphNode_st*> behind;    // that come before it
  CUgraph child = nullptr;
  CUgraphNode_st* of = nullptr;  // in an executable graph: the node that it was made of
  bool enabled = true;

  CUresult run(CUstream stream) const {
    if (!enabled) return CUDA_SUCCESS;
    if (kind == tilescope::standin::NodeKind::kernel) return kernel(stream);
    return work ? work(stream) : CUDA_SUCCESS;
  }
};
using CUgraphNode = CUgraphNode_st*;

struct CUgraph_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
};

// An order that the edges allow, with copies of the nodes.
struct CUgraphExec_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
};
using CUgraphExec = CUgraphExec_st*;

namespace tilescope::standin {
namespace {

constexpr auto illegal_state = static_cast<CUresult>(401);  // CUDA_ERROR_ILLEGAL_STATE

struct Capture {
  CUgraph graph = nullptr;
  CUstream origin = nullptr;
  std::uint64_t id = 0;
};

std::recursive_mutex graphs_mutex;
using Lock = std::lock_guard<std::recursive_mutex>;

template <class T>
std::set<T*>& all_of() {
  static auto* const all = new std::set<T*>;
  return *all;
}
template <class T>
bool is_known(T* what) {
  return all_of<T>().count(what) > 0;
}

std::map<CUstream, std::shared_ptr<Capture>>& captured_streams() {
  static auto* const all = new std::map<CUstream, std::shared_ptr<Capture>>;
  return *all;
}
std::map<CUevent, std::shared_ptr<Capture>>& captured_events() {
  static auto* const all = new std::map<CUevent, std::shared_ptr<Capture>>;
  return *all;
}

CUgraph new_graph() {
  return *all_of<CUgraph_st>().insert(new CUgraph_st).first;
}

CUgraphNode add(CUgraph graph, NodeKind kind, const CUgraphNode* behind, std::size_t count) {
  graph->nodes.push_back(std::make_unique<CUgraphNode_st>());
  const CUgraphNode node = graph->nodes.back().get();
  node->kind = kind;
  if (count) node->behind.assign(behind, behind + count);
  return node;
}

// The nodes of `graph` in an order that the edges allow, those without one as they were added;
// a child's nodes in its place. False: the edges go around.
bool put_in_order(const CUgraph_st& graph, std::vector<std::unique_ptr<CUgraphNode_st>>& out) {
  std::set<const CUgraphNode_st*> done;
  while (done.size() < graph.nodes.size()) {
    const std::size_t before = done.size();
    for (const auto& node : graph.nodes) {
      if (done.count(node.get())) continue;
      const bool ready = std::all_of(node->behind.begin(), node->behind.end(),
                                     [&](CUgraphNode other) { return done.count(other) > 0; });
      if (!ready) continue;
      done.insert(node.get());
      if (node->child) {
        if (!put_in_order(*node->child, out)) return false;
        continue;
      }
      out.push_back(std::make_unique<CUgraphNode_st>(*node));
      out.back()->of = node.get();
    }
    if (done.size() == before) return false;
  }
  return true;
}

CUgraphNode node_in(CUgraphExec exec, CUgraphNode node) {
  for (const auto& each : exec->nodes) {
    if (each->of == node) return each.get();
  }
  return nullptr;
}

std::shared_ptr<Capture> capture_of(CUstream stream) {
  const auto found = captured_streams().find(stream);
  return found == captured_streams().end() ? nullptr : found->second;
}

}  // namespace

// ---- taking down --------------------------------------------------------------------------------

bool is_captured(CUstream stream) {
  const Lock lock(graphs_mutex);
  return !captured_streams().empty() && capture_of(stream) != nullptr;
}

// What is taken down goes behind all that was: one of the orders that the streams allow.
void take_down(CUstream stream, NodeKind kind, Work work) {
  const Lock lock(graphs_mutex);
  const CUgraph graph = capture_of(stream)->graph;
  const CUgraphNode last = graph->nodes.empty() ? nullptr : graph->nodes.back().get();
  const CUgraphNode node = add(graph, kind, &last, last ? 1 : 0);
  if (const auto* kernel = work.target<KernelWork>()) {
    node->kernel = *kernel;
  } else {
    node->work = std::move(work);
  }
}

bool record_captured(CUevent event, CUstream stream) {
  const Lock lock(graphs_mutex);
  captured_events().erase(event);
  const auto capture = capture_of(stream);
  if (!capture) return false;
  captured_events()[event] = capture;
  return true;
}

bool wait_captured(CUstream stream, CUevent event) {
  const Lock lock(graphs_mutex);
  const auto found = captured_events().find(event);
  if (found == captured_events().end()) return false;
  captured_streams()[stream] = found->second;
  return true;
}

TILESCOPE_CUDA cuStreamBeginCapture_v2(CUstream stream, int) {
  const Lock lock(graphs_mutex);
  static std::uint64_t next = 1;
  if (capture_of(stream)) return illegal_state;
  captured_streams()[stream] = std::make_shared<Capture>(Capture{new_graph(), stream, next++});
  return CUDA_SUCCESS;
}

TILESCOPE_CUDA cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  const Lock lock(graphs_mutex);
  const auto capture = capture_of(stream);
  if (!graph) return CUDA_ERROR_INVALID_VALUE;
  if (!capture || capture->origin != stream) return illegal_state;
  *graph = capture->graph;
  std::erase_if(captured_streams(), [&](const auto& each) { return each.second == capture; });
  std::erase_if(captured_events(), [&](const auto& each) { return each.second == capture; });
  return CUDA_SUCCESS;
}

TILESCOPE_CUDA cuStreamIsCapturing(CUstream stream, int* status) {
  if (!status) return CUDA_ERROR_INVALID_VALUE;
  *status = is_captured(stream);  // CU_STREAM_CAPTURE_STATUS_ACTIVE
  return CUDA_SUCCESS;
}

TILESCOPE_CUDA cuStreamGetCaptureInfo_v3(CUstream stream, int* status, std::uint64_t* id,
                                         CUgraph* graph, const CUgraphNode** nodes,
                                         const void** edges, std::size_t* count) {
  if (const CUresult wrong = cuStreamIsCapturing(stream, status)) return wrong;
  const Lock lock(graphs_mutex);
  const auto capture = capture_of(stream);
  if (!capture) return CUDA_SUCCESS;
  static thread_local CUgraphNode last;
  last = capture->graph->nodes.empty() ? nullptr : capture->graph->nodes.back().get();
  if (id) *id = capture->id;
  if (graph) *graph = capture->graph;
  if (nodes) *nodes = &last;
  if (edges) *edges = nullptr;
  if (count) *count = last ? 1 : 0;
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuStreamGetCaptureInfo_v2(CUstream stream, int* status, std::uint64_t* id,
                                         CUgraph* graph, const CUgraphNode** nodes,
                                         std::size_t* count) {
  return cuStreamGetCaptureInfo_v3(stream, status, id, graph, nodes, nullptr, count);
}
TILESCOPE_CUDA cuStreamGetCaptureInfo(CUstream stream, int* status, std::uint64_t* id) {
  return cuStreamGetCaptureInfo_v2(stream, status, id, nullptr, nullptr, nullptr);
}
TILESCOPE_CUDA cuThreadExchangeStreamCaptureMode(int* mode) {
  return mode ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// ---- building -----------------------------------------------------------------------------------

TILESCOPE_CUDA cuGraphCreate(CUgraph* graph, unsigned) {
  if (!graph) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock(graphs_mutex);
  *graph = new_graph();
  return CUDA_SUCCESS;
}

TILESCOPE_CUDA cuGraphDestroy(CUgraph graph) {
  const Lock lock(graphs_mutex);
  if (!all_of<CUgraph_st>().erase(graph)) return CUDA_ERROR_INVALID_VALUE;
  delete graph;
  return CUDA_SUCCESS;
}

namespace {

CUresult add_node(CUgraphNode* out, CUgraph graph, const CUgraphNode* behind, std::size_t count,
                  NodeKind kind, Work work) {
  const Lock lock(graphs_mutex);
  if (!out || !is_known(graph) || (count && !behind)) return CUDA_ERROR_INVALID_VALUE;
  *out = add(graph, kind, behind, count);
  (*out)->work = std::move(work);
  return CUDA_SUCCESS;
}

struct KernelNode {  // CUDA_KERNEL_NODE_PARAMS_v2
  CUfunction function;
  unsigned grid[3], block[3], shared;
  void **parameters, **extra;
  CUkernel kernel;
  CUcontext context;
};
static_assert(sizeof(KernelNode) == 72);

CUresult work_of(const KernelNode& node, KernelWork& out) {
  wire::Launch how;
  std::copy_n(node.grid, 3, how.grid);
  std::copy_n(node.block, 3, how.block);
  how.dynamic_shared = node.shared;
  const CUfunction function =
      node.function ? node.function : reinterpret_cast<CUfunction>(node.kernel);
  return kernel_work(how, function, node.parameters, node.extra, out);
}

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

Work work_of(const FillNode& f) {
  return [f](CUstream s) { return fill_now(f.to, f.pitch, f.value, f.width, f.count, f.rows, s); };
}
Work work_of(const CUDA_MEMCPY3D& how) {
  return [how](CUstream stream) { return copy_now(how, stream); };
}
Work work_of(const HostNode& host) {
  return [host](CUstream) {
    host.function(host.data);
    return CUDA_SUCCESS;
  };
}

}  // namespace

TILESCOPE_CUDA cuGraphAddKernelNode_v2(CUgraphNode* out, CUgraph graph, const CUgraphNode* behind,
                                       std::size_t count, const KernelNode* node) {
  KernelWork work;
  if (!node) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult wrong = work_of(*node, work)) return wrong;
  if (const CUresult wrong = add_node(out, graph, behind, count, NodeKind::kernel, {}))
    return wrong;
  (*out)->kernel = std::move(work);
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuGraphKernelNodeSetParams_v2(CUgraphNode node, const KernelNode* how) {
  const Lock lock(graphs_mutex);
  if (!node || !how || node->kind != NodeKind::kernel) return CUDA_ERROR_INVALID_VALUE;
  return work_of(*how, node->kernel);
}
TILESCOPE_CUDA cuGraphAddMemcpyNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* behind,
                                    std::size_t count, const CUDA_MEMCPY3D* how, CUcontext) {
  if (!how) return CUDA_ERROR_INVALID_VALUE;
  return add_node(out, graph, behind, count, NodeKind::copy, work_of(*how));
}
TILESCOPE_CUDA cuGraphAddMemsetNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* behind,
                                    std::size_t count, const FillNode* how, CUcontext) {
  if (!how) return CUDA_ERROR_INVALID_VALUE;
  return add_node(out, graph, behind, count, NodeKind::fill, work_of(*how));
}
TILESCOPE_CUDA cuGraphAddHostNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* behind,
                                  std::size_t count, const HostNode* how) {
  if (!how || !how->function) return CUDA_ERROR_INVALID_VALUE;
  return add_node(out, graph, behind, count, NodeKind::host, work_of(*how));
}
TILESCOPE_CUDA cuGraphAddEmptyNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* behind,
                                   std::size_t count) {
  return add_node(out, graph, behind, count, NodeKind::empty, {});
}
TILESCOPE_CUDA cuGraphAddChildGraphNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* behind,
                                        std::size_t count, CUgraph child) {
  const Lock lock(graphs_mutex);
  if (!is_known(child)) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult wrong = add_node(out, graph, behind, count, NodeKind::child, {})) return wrong;
  // Of its own: the one that was handed over may go.
  (*out)->child = new_graph();
  std::map<CUgraphNode, CUgraphNode> copies;
  for (const auto& node : child->nodes) {
    (*out)->child->nodes.push_back(std::make_unique<CUgraphNode_st>(*node));
    copies[node.get()] = (*out)->child->nodes.back().get();
  }
  for (const auto& node : (*out)->child->nodes) {
    for (CUgraphNode& other : node->behind) other = copies[other];
  }
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuGraphAddDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                      std::size_t count) {
  const Lock lock(graphs_mutex);
  if (!is_known(graph) || (count && (!from || !to))) return CUDA_ERROR_INVALID_VALUE;
  for (std::size_t i = 0; i < count; ++i) to[i]->behind.push_back(from[i]);
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode* from,
                                         const CUgraphNode* to, const void*, std::size_t count) {
  return cuGraphAddDependencies(graph, from, to, count);
}

// As many as there is room for; how many there are, or were given.
namespace {
CUresult list(const std::vector<CUgraphNode>& all, CUgraphNode* nodes, std::size_t* count) {
  if (!count) return CUDA_ERROR_INVALID_VALUE;
  if (nodes) std::copy_n(all.begin(), std::min(*count, all.size()), nodes);
  *count = nodes ? std::min(*count, all.size()) : all.size();
  return CUDA_SUCCESS;
}
}  // namespace

TILESCOPE_CUDA cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, std::size_t* count) {
  const Lock lock(graphs_mutex);
  if (!is_known(graph)) return CUDA_ERROR_INVALID_VALUE;
  std::vector<CUgraphNode> all;
  for (const auto& node : graph->nodes) all.push_back(node.get());
  return list(all, nodes, count);
}
TILESCOPE_CUDA cuGraphGetRootNodes(CUgraph graph, CUgraphNode* nodes, std::size_t* count) {
  const Lock lock(graphs_mutex);
  if (!is_known(graph)) return CUDA_ERROR_INVALID_VALUE;
  std::vector<CUgraphNode> all;
  for (const auto& node : graph->nodes) {
    if (node->behind.empty()) all.push_back(node.get());
  }
  return list(all, nodes, count);
}
TILESCOPE_CUDA cuGraphNodeGetType(CUgraphNode node, int* kind) {
  if (!node || !kind) return CUDA_ERROR_INVALID_VALUE;
  *kind = static_cast<int>(node->kind);
  return CUDA_SUCCESS;
}

// ---- running ------------------------------------------------------------------------------------

TILESCOPE_CUDA cuGraphInstantiateWithFlags(CUgraphExec* exec, CUgraph graph, unsigned long long) {
  const Lock lock(graphs_mutex);
  if (!exec || !is_known(graph)) return CUDA_ERROR_INVALID_VALUE;
  auto made = std::make_unique<CUgraphExec_st>();
  if (!put_in_order(*graph, made->nodes)) return CUDA_ERROR_INVALID_VALUE;
  *exec = *all_of<CUgraphExec_st>().insert(made.release()).first;
  return CUDA_SUCCESS;
}
struct InstantiateParams {  // CUDA_GRAPH_INSTANTIATE_PARAMS
  std::uint64_t flags;
  CUstream upload;
  CUgraphNode wrong_node;
  int result;
};
TILESCOPE_CUDA cuGraphInstantiateWithParams(CUgraphExec* exec, CUgraph graph,
                                            InstantiateParams* how) {
  const CUresult result = cuGraphInstantiateWithFlags(exec, graph, how ? how->flags : 0);
  if (how) how->wrong_node = nullptr, how->result = result != CUDA_SUCCESS;
  return result;
}
TILESCOPE_CUDA cuGraphExecDestroy(CUgraphExec exec) {
  const Lock lock(graphs_mutex);
  if (!all_of<CUgraphExec_st>().erase(exec)) return CUDA_ERROR_INVALID_VALUE;
  delete exec;
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuGraphUpload(CUgraphExec exec, CUstream) {
  const Lock lock(graphs_mutex);
  return is_known(exec) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
// In a captured stream it becomes part of the graph that is made there.
TILESCOPE_CUDA cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  {
    const Lock lock(graphs_mutex);
    if (!is_known(exec)) return CUDA_ERROR_INVALID_VALUE;
  }
  return give(stream, NodeKind::child, [exec](CUstream on) {
    for (const auto& node : exec->nodes) {
      if (const CUresult result = node->run(on)) return result;
    }
    return CUDA_SUCCESS;
  });
}
TILESCOPE_CUDA cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                                 const KernelNode* how) {
  const Lock lock(graphs_mutex);
  if (!is_known(exec) || !how) return CUDA_ERROR_INVALID_VALUE;
  const CUgraphNode own = node_in(exec, node);
  if (!own || own->kind != NodeKind::kernel) return CUDA_ERROR_INVALID_VALUE;
  return work_of(*how, own->kernel);
}
TILESCOPE_CUDA cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                              const CUDA_MEMCPY3D* how, CUcontext) {
  const Lock lock(graphs_mutex);
  const CUgraphNode own = is_known(exec) ? node_in(exec, node) : nullptr;
  if (!own || !how) return CUDA_ERROR_INVALID_VALUE;
  own->work = work_of(*how);
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                              const FillNode* how, CUcontext) {
  const Lock lock(graphs_mutex);
  const CUgraphNode own = is_known(exec) ? node_in(exec, node) : nullptr;
  if (!own || !how) return CUDA_ERROR_INVALID_VALUE;
  own->work = work_of(*how);
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode node, unsigned enabled) {
  const Lock lock(graphs_mutex);
  const CUgraphNode own = is_known(exec) ? node_in(exec, node) : nullptr;
  if (!own) return CUDA_ERROR_INVALID_VALUE;
  own->enabled = enabled != 0;
  return CUDA_SUCCESS;
}
struct UpdateResult {  // CUgraphExecUpdateResultInfo
  int result;
  CUgraphNode node, from;
};
// Of the same nodes in the same order; else the program makes it anew.
TILESCOPE_CUDA cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, UpdateResult* out) {
  const Lock lock(graphs_mutex);
  if (!is_known(exec) || !is_known(graph)) return CUDA_ERROR_INVALID_VALUE;
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
  bool same = put_in_order(*graph, nodes) && nodes.size() == exec->nodes.size();
  for (std::size_t i = 0; same && i < nodes.size(); ++i) {
    same = nodes[i]->kind == exec->nodes[i]->kind;
  }
  if (out) *out = {same ? 0 : 2, nullptr, nullptr};  // ..._ERROR_TOPOLOGY_CHANGED
  if (!same) return static_cast<CUresult>(910);      // CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    nodes[i]->of = exec->nodes[i]->of;  // by which the program names them
    exec->nodes[i] = std::move(nodes[i]);
  }
  return CUDA_SUCCESS;
}

TILESCOPE_CUDA cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode* node, int* result) {
  UpdateResult out{};
  const CUresult error = cuGraphExecUpdate_v2(exec, graph, &out);
  if (node) *node = nullptr;
  if (result) *result = out.result;
  return error;
}

}  // namespace tilescope::standin
