// Streams whose work is taken down as a graph.
//
// Of each captured stream is known behind which nodes its next one comes: the last one, and those
// that it has waited for (CUDA C++ Programming Guide, "Stream Capture").
#include <algorithm>
#include <map>
#include <thread>

#include "app/cuda/graphs.h"
#include "app/cuda/streams.h"

namespace tilescope::standin {
namespace {

constexpr auto illegal_state = static_cast<CUresult>(401);
constexpr auto unsupported = static_cast<CUresult>(900);  // CUDA_ERROR_STREAM_CAPTURE_...
constexpr auto invalidated = static_cast<CUresult>(901);
constexpr auto merge = static_cast<CUresult>(902);
constexpr auto unmatched = static_cast<CUresult>(903);
constexpr auto unjoined = static_cast<CUresult>(904);
constexpr auto isolation = static_cast<CUresult>(905);
constexpr auto implicit = static_cast<CUresult>(906);
constexpr auto captured_event = static_cast<CUresult>(907);
constexpr auto wrong_thread = static_cast<CUresult>(908);
// CU_STREAM_CAPTURE_MODE_...; and what the calling thread lets itself be kept from.
constexpr int of_thread = 1, relaxed = 2;
thread_local int own_mode = 0;

struct Capture {
  CUgraph graph = nullptr;
  bool owns_graph = true;
  CUstream origin = nullptr;
  std::uint64_t id = 0;
  int mode = 0;
  std::thread::id thread;
  bool spoiled = false, over = false;
};

struct Place {
  std::shared_ptr<Capture> capture;
  std::vector<CUgraphNode> last;  // what comes next is behind these
  std::vector<EdgeData> edges;    // as a program is told of them: none is of any kind
};

std::map<CUstream, Place>& streams() {
  static auto* const all = new std::map<CUstream, Place>;
  return *all;
}
std::map<CUevent, Place>& events() {
  static auto* const all = new std::map<CUevent, Place>;
  return *all;
}

Place* place_of(CUstream stream) {
  const auto found = streams().find(own_stream(stream));
  return found == streams().end() ? nullptr : &found->second;
}

CUresult spoil(Capture& capture, CUresult result) {
  capture.spoiled = true;
  return result;
}

void join(std::vector<CUgraphNode>& to, const std::vector<CUgraphNode>& from) {
  for (const CUgraphNode each : from) {
    if (std::find(to.begin(), to.end(), each) == to.end()) to.push_back(each);
  }
}

// These, and all that come before them.
std::set<CUgraphNode> with_all_before(std::vector<CUgraphNode> open) {
  std::set<CUgraphNode> out;
  while (!open.empty()) {
    const CUgraphNode node = open.back();
    open.pop_back();
    if (!out.insert(node).second) continue;
    for (const Edge& e : node->behind) open.push_back(e.from);
  }
  return out;
}

bool is_legacy(CUstream stream) {
  return own_stream(stream) == nullptr;
}

CUgraphNode put(Place& place, NodeKind kind, NodeWork work) {
  std::vector<Edge> behind;
  const auto* const kernel = std::get_if<KernelWork>(&work);
  for (const CUgraphNode each : place.last) {
    EdgeData data;
    if (kernel && kernel->how.programmatic && each->kind == NodeKind::kernel) {
      data.type = EdgeData::programmatic, data.from_port = 1;
    }
    behind.push_back({each, data});
  }
  const CUgraphNode node = add_node(place.capture->graph, kind, std::move(work), std::move(behind));
  place.last = {node};
  return node;
}

}  // namespace

bool is_captured(CUstream stream) {
  const GraphsLock lock(graphs_mutex);
  return !streams().empty() && place_of(stream) != nullptr;
}

CUresult take_down(CUstream stream, NodeKind kind, NodeWork work) {
  const GraphsLock lock(graphs_mutex);
  Place* const place = place_of(stream);
  if (!place) return CUDA_ERROR_INVALID_VALUE;
  if (place->capture->spoiled) return invalidated;
  put(*place, kind, std::move(work));
  return CUDA_SUCCESS;
}

CUresult waits_for_captured(CUstream stream) {
  const GraphsLock lock(graphs_mutex);
  if (streams().empty() || !is_legacy(stream)) return CUDA_SUCCESS;
  CUresult result = CUDA_SUCCESS;
  for (auto& [other, place] : streams()) {
    if (is_blocking(other)) result = spoil(*place.capture, implicit);
  }
  return result;
}

CUresult take_down_child(CUstream stream, CUgraph graph) {
  const GraphsLock lock(graphs_mutex);
  Place* const place = place_of(stream);
  if (!place) return CUDA_ERROR_INVALID_VALUE;
  if (place->capture->spoiled) return invalidated;
  put(*place, NodeKind::child, {})->child = graph;
  return CUDA_SUCCESS;
}

bool record_captured(CUevent event, CUstream stream, bool as_node, CUresult& result) {
  const GraphsLock lock(graphs_mutex);
  Place* const place = place_of(stream);
  if (!place) {
    events().erase(event);
    return false;
  }
  result = place->capture->spoiled ? invalidated : CUDA_SUCCESS;
  if (result) return true;
  if (as_node) {
    put(*place, NodeKind::event_record, EventNode{event});
  } else {
    events()[event] = *place;
  }
  return true;
}

bool wait_captured(CUstream stream, CUevent event, bool as_node, CUresult& result) {
  const GraphsLock lock(graphs_mutex);
  Place* const place = place_of(stream);
  const auto found = events().find(event);
  if (!place && (found == events().end() || as_node)) return false;
  result = CUDA_SUCCESS;
  if (place && place->capture->spoiled) {
    result = invalidated;
  } else if (place && as_node) {
    put(*place, NodeKind::event_wait, EventNode{event});
  } else if (found == events().end()) {
    if (was_recorded(event)) result = spoil(*place->capture, isolation);
  } else if (found->second.capture->over) {
    result = place                            ? spoil(*place->capture, isolation)
             : found->second.capture->spoiled ? CUDA_ERROR_INVALID_VALUE
                                              : captured_event;
  } else if (found->second.capture->spoiled) {
    result = invalidated;
  } else if (!place) {
    if (is_legacy(stream)) {
      result = spoil(*found->second.capture, implicit);
    } else {
      streams()[own_stream(stream)] = found->second;
    }
  } else if (place->capture != found->second.capture) {
    spoil(*found->second.capture, merge);
    result = spoil(*place->capture, merge);
  } else {
    join(place->last, found->second.last);
  }
  return true;
}

void forget_event(CUevent event) {
  const GraphsLock lock(graphs_mutex);
  events().erase(event);
}

CUresult spoil_capture(CUstream stream) {
  const GraphsLock lock(graphs_mutex);
  Place* const place = place_of(stream);
  if (!place) return CUDA_SUCCESS;
  return spoil(*place->capture, unsupported);
}

CUresult spoil_capture(CUevent event) {
  const GraphsLock lock(graphs_mutex);
  const auto found = events().find(event);
  if (found == events().end()) return CUDA_SUCCESS;
  Capture& capture = *found->second.capture;
  if (capture.over && capture.spoiled) return CUDA_ERROR_INVALID_VALUE;
  return spoil(capture, captured_event);
}

CUresult waits_for_all() {
  const GraphsLock lock(graphs_mutex);
  for (auto& [stream, place] : streams()) spoil(*place.capture, unsupported);
  return streams().empty() ? CUDA_SUCCESS : unsupported;
}

CUresult unsafe_in_captures() {
  const GraphsLock lock(graphs_mutex);
  CUresult result = CUDA_SUCCESS;
  if (own_mode == relaxed) return result;
  for (auto& [stream, place] : streams()) {
    Capture& capture = *place.capture;
    const bool own = capture.thread == std::this_thread::get_id();
    const bool others = own_mode != of_thread && capture.mode != of_thread;
    if (capture.mode != relaxed && (own || others)) result = spoil(capture, unsupported);
  }
  return result;
}

// ---- what programs call -------------------------------------------------------------------------

namespace {

CUresult begin(CUstream stream, CUgraph graph, std::vector<CUgraphNode> last, int mode) {
  static std::uint64_t next = 1;
  if (mode < 0 || mode > relaxed) return CUDA_ERROR_INVALID_VALUE;
  if (is_legacy(stream)) return unsupported;
  if (place_of(stream)) return illegal_state;
  auto capture = std::make_shared<Capture>();
  capture->owns_graph = !graph;
  capture->graph = graph ? graph : new_graph();
  capture->origin = own_stream(stream);
  capture->id = next++;
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  streams()[own_stream(stream)] = {std::move(capture), std::move(last), {}};
  return CUDA_SUCCESS;
}

}  // namespace

TILESCOPE_CUDA cuStreamBeginCapture_v2(CUstream stream, int mode) {
  const GraphsLock lock(graphs_mutex);
  return begin(stream, nullptr, {}, mode);
}

TILESCOPE_CUDA cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph,
                                           const CUgraphNode* behind, const EdgeData* data,
                                           std::size_t count, int mode) {
  const GraphsLock lock(graphs_mutex);
  std::vector<Edge> edges;
  if (!is_known(graph)) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult wrong = edges_from(graph, behind, data, count, edges)) return wrong;
  return begin(stream, graph, {behind, behind + count}, mode);
}

TILESCOPE_CUDA cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  const GraphsLock lock(graphs_mutex);
  const Place* const place = place_of(stream);
  if (!graph) return CUDA_ERROR_INVALID_VALUE;
  if (!place) return illegal_state;
  const std::shared_ptr<Capture> capture = place->capture;
  if (capture->origin != own_stream(stream)) return spoil(*capture, unmatched);
  const bool elsewhere = capture->mode != relaxed && capture->thread != std::this_thread::get_id();
  CUresult result = elsewhere ? wrong_thread : capture->spoiled ? invalidated : CUDA_SUCCESS;
  const std::set<CUgraphNode> joined = with_all_before(place->last);
  for (const auto& [other, at] : streams()) {
    if (at.capture != capture || result) continue;
    const bool all = std::all_of(at.last.begin(), at.last.end(),
                                 [&](CUgraphNode node) { return joined.count(node) > 0; });
    if (!all) result = unjoined;
  }
  capture->over = true;
  std::erase_if(streams(), [&](const auto& each) { return each.second.capture == capture; });
  *graph = result ? nullptr : capture->graph;
  if (result && capture->owns_graph) end_graph(capture->graph);
  return result;
}

TILESCOPE_CUDA cuStreamIsCapturing(CUstream stream, int* status) {
  if (!status) return CUDA_ERROR_INVALID_VALUE;
  const GraphsLock lock(graphs_mutex);
  const Place* const place = place_of(stream);
  *status = !place ? 0 : place->capture->spoiled ? 2 : 1;  // CU_STREAM_CAPTURE_STATUS_...
  return CUDA_SUCCESS;
}

TILESCOPE_CUDA cuStreamGetCaptureInfo_v3(CUstream stream, int* status, std::uint64_t* id,
                                         CUgraph* graph, const CUgraphNode** nodes,
                                         const EdgeData** edges, std::size_t* count) {
  if (const CUresult wrong = cuStreamIsCapturing(stream, status)) return wrong;
  const GraphsLock lock(graphs_mutex);
  Place* const place = place_of(stream);
  if (!place || place->capture->spoiled) return CUDA_SUCCESS;
  place->edges.assign(place->last.size(), {});
  if (id) *id = place->capture->id;
  if (graph) *graph = place->capture->graph;
  if (nodes) *nodes = place->last.data();
  if (edges) *edges = place->edges.data();
  if (count) *count = place->last.size();
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

TILESCOPE_CUDA cuStreamUpdateCaptureDependencies_v2(CUstream stream, const CUgraphNode* nodes,
                                                    const EdgeData* data, std::size_t count,
                                                    unsigned flags) {
  const GraphsLock lock(graphs_mutex);
  Place* const place = place_of(stream);
  if (flags > 1) return CUDA_ERROR_INVALID_VALUE;
  if (!place) return illegal_state;
  if (place->capture->spoiled) return invalidated;
  std::vector<Edge> edges;
  if (const CUresult wrong = edges_from(place->capture->graph, nodes, data, count, edges)) {
    return wrong;
  }
  if (flags == 1) place->last.clear();  // CU_STREAM_SET_CAPTURE_DEPENDENCIES
  join(place->last, {nodes, nodes + count});
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuStreamUpdateCaptureDependencies(CUstream stream, const CUgraphNode* nodes,
                                                 std::size_t count, unsigned flags) {
  return cuStreamUpdateCaptureDependencies_v2(stream, nodes, nullptr, count, flags);
}

// The thread's mode; what it was goes back.
TILESCOPE_CUDA cuThreadExchangeStreamCaptureMode(int* mode) {
  if (!mode) return CUDA_ERROR_INVALID_VALUE;
  std::swap(own_mode, *mode);  // any number, as an H200's driver takes it
  return CUDA_SUCCESS;
}

}  // namespace tilescope::standin
