#include "app/cuda/graphs.h"

#include <algorithm>
#include <map>

#include "app/cuda/modules.h"

namespace tilescope::standin {

std::recursive_mutex graphs_mutex;

CUgraph new_graph() {
  return *all_of<CUgraph_st>().insert(new CUgraph_st).first;
}

void end_graph(CUgraph graph) {
  for (const auto& node : graph->nodes) {
    if (node->child) end_graph(node->child);
    all_of<CUgraphNode_st>().erase(node.get());
  }
  all_of<CUgraph_st>().erase(graph);
  delete graph;
}

CUgraphNode add_node(CUgraph graph, NodeKind kind, NodeWork work, std::vector<Edge> behind) {
  graph->nodes.push_back(std::make_unique<CUgraphNode_st>());
  const CUgraphNode node = graph->nodes.back().get();
  node->kind = kind;
  node->graph = graph;
  node->work = std::move(work);
  node->behind = std::move(behind);
  all_of<CUgraphNode_st>().insert(node);
  return node;
}

CUgraph clone_of(const CUgraph_st& graph) {
  const CUgraph out = new_graph();
  out->objects = graph.objects;
  std::map<CUgraphNode, CUgraphNode> copies;
  for (const auto& node : graph.nodes) {
    const CUgraphNode copy = add_node(out, node->kind, node->work, node->behind);
    copy->copy_of = node.get();
    if (node->child) {
      copy->child = clone_of(*node->child);
      copy->child->is_child = true;
    }
    copies[node.get()] = copy;
  }
  for (const auto& node : out->nodes) {
    for (Edge& edge : node->behind) edge.from = copies[edge.from];
  }
  return out;
}

CUresult edges_from(CUgraph graph, const CUgraphNode* nodes, const EdgeData* data,
                    std::size_t count, std::vector<Edge>& out) {
  if (count && !nodes) return CUDA_ERROR_INVALID_VALUE;
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_known(nodes[i]) || nodes[i]->graph != graph) return CUDA_ERROR_INVALID_VALUE;
    const auto same = [&](const Edge& e) { return e.from == nodes[i]; };
    if (std::any_of(out.begin(), out.end(), same)) return CUDA_ERROR_INVALID_VALUE;
    out.push_back({nodes[i], data ? data[i] : EdgeData{}});
  }
  return CUDA_SUCCESS;
}

TILESCOPE_CUDA cuGraphCreate(CUgraph* graph, unsigned flags) {
  if (!graph || flags) return CUDA_ERROR_INVALID_VALUE;
  const GraphsLock lock(graphs_mutex);
  *graph = new_graph();
  return CUDA_SUCCESS;
}

TILESCOPE_CUDA cuGraphDestroy(CUgraph graph) {
  const GraphsLock lock(graphs_mutex);
  if (!is_known(graph) || graph->is_child) return CUDA_ERROR_INVALID_VALUE;
  end_graph(graph);
  return CUDA_SUCCESS;
}

TILESCOPE_CUDA cuGraphClone(CUgraph* clone, CUgraph graph) {
  const GraphsLock lock(graphs_mutex);
  if (!clone || !is_known(graph)) return CUDA_ERROR_INVALID_VALUE;
  const bool has_memory = std::any_of(
      graph->nodes.begin(), graph->nodes.end(), [](const std::unique_ptr<CUgraphNode_st>& node) {
        return node->kind == NodeKind::allocate || node->kind == NodeKind::release;
      });
  // CUDA C++ Programming Guide, "Graph Memory Nodes": such a graph cannot be cloned.
  if (has_memory) return CUDA_ERROR_NOT_SUPPORTED;
  *clone = clone_of(*graph);
  return CUDA_SUCCESS;
}

TILESCOPE_CUDA cuGraphNodeFindInClone(CUgraphNode* found, CUgraphNode node, CUgraph clone) {
  const GraphsLock lock(graphs_mutex);
  if (!found || !is_known(clone)) return CUDA_ERROR_INVALID_VALUE;
  for (const auto& each : clone->nodes) {
    if (each->copy_of != node) continue;
    *found = each.get();
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

// ---- nodes and edges ----------------------------------------------------------------------------

TILESCOPE_CUDA cuGraphDestroyNode(CUgraphNode node) {
  const GraphsLock lock(graphs_mutex);
  if (!is_known(node)) return CUDA_ERROR_INVALID_VALUE;
  if (node->kind == NodeKind::allocate || node->kind == NodeKind::release) {
    return CUDA_ERROR_NOT_SUPPORTED;  // CUDA C++ Programming Guide, "Graph Memory Nodes"
  }
  auto& nodes = node->graph->nodes;
  for (const auto& other : nodes) {
    std::erase_if(other->behind, [&](const Edge& e) { return e.from == node; });
  }
  if (node->child) end_graph(node->child);
  all_of<CUgraphNode_st>().erase(node);
  std::erase_if(nodes, [&](const auto& each) { return each.get() == node; });
  return CUDA_SUCCESS;
}

TILESCOPE_CUDA cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode* from,
                                         const CUgraphNode* to, const EdgeData* data,
                                         std::size_t count) {
  const GraphsLock lock(graphs_mutex);
  if (!is_known(graph) || (count && (!from || !to))) return CUDA_ERROR_INVALID_VALUE;
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_known(to[i]) || to[i]->graph != graph || from[i] == to[i]) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    const CUresult wrong = edges_from(graph, &from[i], data ? &data[i] : nullptr, 1, to[i]->behind);
    if (wrong) return wrong;
  }
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuGraphAddDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                      std::size_t count) {
  return cuGraphAddDependencies_v2(graph, from, to, nullptr, count);
}

TILESCOPE_CUDA cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode* from,
                                            const CUgraphNode* to, const EdgeData*,
                                            std::size_t count) {
  const GraphsLock lock(graphs_mutex);
  if (!is_known(graph) || (count && (!from || !to))) return CUDA_ERROR_INVALID_VALUE;
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_known(to[i]) || to[i]->graph != graph) return CUDA_ERROR_INVALID_VALUE;
    const auto gone =
        std::erase_if(to[i]->behind, [&](const Edge& e) { return e.from == from[i]; });
    if (!gone) return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode* from,
                                         const CUgraphNode* to, std::size_t count) {
  return cuGraphRemoveDependencies_v2(graph, from, to, nullptr, count);
}

namespace {

// As many as there is room for; how many there are, or were given. What is beyond is null
// (CUDA Driver API, cuGraphGetNodes).
template <class T>
void hand_over(const std::vector<T>& all, T* to, std::size_t room) {
  if (!to) return;
  for (std::size_t i = 0; i < room; ++i) to[i] = i < all.size() ? all[i] : T{};
}
CUresult list(const std::vector<CUgraphNode>& all, CUgraphNode* nodes, std::size_t* count) {
  if (!count) return CUDA_ERROR_INVALID_VALUE;
  hand_over(all, nodes, *count);
  *count = nodes ? std::min(*count, all.size()) : all.size();
  return CUDA_SUCCESS;
}

// Edges from here or to here; null: of no node in particular.
struct Edges {
  std::vector<CUgraphNode> from, to;
  std::vector<EdgeData> data;

  Edges(CUgraph graph, CUgraphNode only_from, CUgraphNode only_to) {
    for (const auto& node : graph->nodes) {
      if (only_to && node.get() != only_to) continue;
      for (const Edge& edge : node->behind) {
        if (only_from && edge.from != only_from) continue;
        from.push_back(edge.from), to.push_back(node.get()), data.push_back(edge.data);
      }
    }
  }
  CUresult give(CUgraphNode* froms, CUgraphNode* tos, EdgeData* datas, std::size_t* count) const {
    if (!count) return CUDA_ERROR_INVALID_VALUE;
    const bool asked = froms || tos;
    hand_over(from, froms, *count);
    hand_over(to, tos, *count);
    hand_over(data, asked ? datas : nullptr, *count);
    *count = asked ? std::min(*count, from.size()) : from.size();
    return CUDA_SUCCESS;
  }
};

}  // namespace

TILESCOPE_CUDA cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, std::size_t* count) {
  const GraphsLock lock(graphs_mutex);
  if (!is_known(graph)) return CUDA_ERROR_INVALID_VALUE;
  std::vector<CUgraphNode> all;
  for (const auto& node : graph->nodes) all.push_back(node.get());
  return list(all, nodes, count);
}
TILESCOPE_CUDA cuGraphGetRootNodes(CUgraph graph, CUgraphNode* nodes, std::size_t* count) {
  const GraphsLock lock(graphs_mutex);
  if (!is_known(graph)) return CUDA_ERROR_INVALID_VALUE;
  std::vector<CUgraphNode> all;
  for (const auto& node : graph->nodes) {
    if (node->behind.empty()) all.push_back(node.get());
  }
  return list(all, nodes, count);
}
TILESCOPE_CUDA cuGraphGetEdges_v2(CUgraph graph, CUgraphNode* from, CUgraphNode* to, EdgeData* data,
                                  std::size_t* count) {
  const GraphsLock lock(graphs_mutex);
  if (!is_known(graph) || !from != !to) return CUDA_ERROR_INVALID_VALUE;
  return Edges(graph, nullptr, nullptr).give(from, to, data, count);
}
TILESCOPE_CUDA cuGraphGetEdges(CUgraph graph, CUgraphNode* from, CUgraphNode* to,
                               std::size_t* count) {
  return cuGraphGetEdges_v2(graph, from, to, nullptr, count);
}
TILESCOPE_CUDA cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode* nodes, EdgeData* data,
                                             std::size_t* count) {
  const GraphsLock lock(graphs_mutex);
  if (!is_known(node)) return CUDA_ERROR_INVALID_VALUE;
  return Edges(node->graph, nullptr, node).give(nodes, nullptr, data, count);
}
TILESCOPE_CUDA cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode* nodes,
                                          std::size_t* count) {
  return cuGraphNodeGetDependencies_v2(node, nodes, nullptr, count);
}
TILESCOPE_CUDA cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode* nodes, EdgeData* data,
                                               std::size_t* count) {
  const GraphsLock lock(graphs_mutex);
  if (!is_known(node)) return CUDA_ERROR_INVALID_VALUE;
  return Edges(node->graph, node, nullptr).give(nullptr, nodes, data, count);
}
TILESCOPE_CUDA cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode* nodes,
                                            std::size_t* count) {
  return cuGraphNodeGetDependentNodes_v2(node, nodes, nullptr, count);
}
TILESCOPE_CUDA cuGraphNodeGetType(CUgraphNode node, int* kind) {
  const GraphsLock lock(graphs_mutex);
  if (!is_known(node) || !kind) return CUDA_ERROR_INVALID_VALUE;
  *kind = static_cast<int>(node->kind);
  return CUDA_SUCCESS;
}

}  // namespace tilescope::standin
