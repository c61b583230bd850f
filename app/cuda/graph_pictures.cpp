// A graph as text for Graphviz (CUDA Driver API, cuGraphDebugDotPrint). Names, shapes and order are
// those that an H200's driver wrote (580.159) of empty nodes, fills and host functions; of the
// other kinds their names are those of CUgraphNodeType, in the shape of an empty node.
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <map>
#include <string>

#include "app/cuda/graphs.h"
#include "app/cuda/modules.h"

namespace tilescope::standin {
namespace {

constexpr unsigned verbose = 1;  // CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE

__attribute__((format(printf, 1, 2))) std::string text(const char* format, ...) {
  char out[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(out, sizeof out, format, arguments);
  va_end(arguments);
  return out;
}

std::string name_of(NodeKind kind) {
  switch (kind) {
    case NodeKind::kernel:
      return "KERNEL";
    case NodeKind::copy:
      return "MEMCPY";
    case NodeKind::fill:
      return "MEMSET";
    case NodeKind::host:
      return "HOST";
    case NodeKind::child:
      return "GRAPH";
    case NodeKind::empty:
      return "EMPTY";
    case NodeKind::event_wait:
      return "EVENT_WAIT";
    case NodeKind::event_record:
      return "EVENT_RECORD";
    case NodeKind::allocate:
      return "MEM_ALLOC";
    case NodeKind::release:
      return "MEM_FREE";
    case NodeKind::batch:
      return "BATCH_MEM_OP";
  }
  return "";
}

std::string quoted(const std::string& plain) {
  std::string out;
  for (const char c : plain) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

// What stands below the kind; lines.
std::string details(const CUgraphNode_st& node, bool all) {
  std::string out;
  if (const auto* const kernel = std::get_if<KernelWork>(&node.work)) {
    const auto facts = facts_of(handle_of<CUfunction>(kernel->how.function));
    const auto& how = kernel->how;
    out += (facts ? quoted(facts->name) : "") +
           text("\\<\\<\\<(%u,%u,%u),(%u,%u,%u),%u\\>\\>\\>\n", how.grid[0], how.grid[1],
                how.grid[2], how.block[0], how.block[1], how.block[2], how.dynamic_shared);
  } else if (const auto* const fill = std::get_if<FillNode>(&node.work)) {
    // Bytes.
    out += text("(%u,%zu)\n", fill->value, fill->count * fill->width * fill->rows);
    if (all) {
      out += text("dptr: 0x%016llX\npitch: %zu\nelementSize: %u\nwidth: %zu\nheight: %zu\n",
                  fill->to, fill->pitch, fill->width, fill->count, fill->rows);
    }
  } else if (const auto* const copy = std::get_if<CUDA_MEMCPY3D>(&node.work)) {
    out += text("(%zu,%zu,%zu)\n", copy->WidthInBytes, copy->Height, copy->Depth);
  } else if (const auto* const host = std::get_if<HostNode>(&node.work); host && all) {
    out += text("fn: %p\nuserData: %p\n", reinterpret_cast<void*>(host->function), host->data);
  } else if (const auto* const memory = std::get_if<AllocationNode>(&node.work)) {
    out += text("%llu bytes\n", static_cast<unsigned long long>(memory->bytes));
  }
  return out;
}

// The graphs that are its nodes' stand behind it.
void write(std::FILE* to, const CUgraph_st& graph, bool all, int& number) {
  const int own = ++number;
  std::map<CUgraphNode, std::size_t> numbers;
  std::fprintf(to, "subgraph cluster_%d {\nlabel=\"graph_%d\" graph[style=\"dashed\"];\n", own,
               own);
  for (const auto& node : graph.nodes) {
    const std::size_t n = numbers.size();
    numbers[node.get()] = n;
    const char* const shape = node->kind == NodeKind::fill ? "invtrapezium" : "rectangle";
    std::fprintf(to, "\"graph_%d_node_%zu\"[style=\"solid\" shape=\"%s\" label=\"%zu\n%s\n", own, n,
                 shape, n, name_of(node->kind).c_str());
    if (all) std::fprintf(to, "node handle: %p\n", static_cast<void*>(node.get()));
    std::fprintf(to, "%s\"];\n\n", details(*node, all).c_str());
  }
  for (const auto& node : graph.nodes) {
    for (const Edge& edge : node->behind) {
      std::fprintf(to, "\"graph_%d_node_%zu\" -> \"graph_%d_node_%zu\"%s;\n", own,
                   numbers[edge.from], own, numbers[node.get()], all ? " [headlabel=0]" : "");
    }
  }
  std::fprintf(to, "}\n");
  for (const auto& node : graph.nodes) {
    if (node->child) write(to, *node->child, all, number);
  }
}

}  // namespace

TILESCOPE_CUDA cuGraphDebugDotPrint(CUgraph graph, const char* path, unsigned flags) {
  const GraphsLock lock(graphs_mutex);
  if (!is_known(graph) || !path) return CUDA_ERROR_INVALID_VALUE;
  std::FILE* const to = std::fopen(path, "w");
  if (!to) return CUDA_ERROR_OPERATING_SYSTEM;  // as measured where there is no such folder
  int number = 0;
  std::fprintf(to, "digraph dot {\n");
  write(to, *graph, (flags & verbose) != 0, number);
  std::fprintf(to, "}\n");
  return std::fclose(to) ? CUDA_ERROR_OPERATING_SYSTEM : CUDA_SUCCESS;
}

}  // namespace tilescope::standin
