// Graphs that are executed.
//
// A graph that is made to run is a list of nodes, children's in their place, in an order that the
// edges allow. It falls into lanes: a node goes on where a node that it is behind was the last one,
// or in a lane all of whose nodes it is behind. So nodes of one lane are in the order that the
// edges say, and what else they say is said by events; nodes of two lanes that no edge leads
// between are in none, and `tilescope` sees what they do to the same bytes. One lane is the stream
// that the graph is launched in.
#include <algorithm>
#include <map>

#include "app/cuda/graphs.h"

namespace {

struct ExecNode {
  CUgraphNode of = nullptr;  // the node that it was made of
  tilescope::standin::NodeKind kind{};
  tilescope::standin::NodeWork work;
  bool enabled = true;
  std::vector<std::size_t> behind;
  bool programmatic = false;  // may begin before the one before it in its lane has ended
  std::size_t lane = 0;
  CUevent done = nullptr;  // where a node of another lane waits for it
};

}  // namespace

struct CUgraphExec_st {
  std::vector<ExecNode> nodes;
  std::size_t lanes = 0;
  bool is_ready = false;          // from the first launch on, where there are several:
  std::vector<CUstream> streams;  // of the lanes
  CUevent here = nullptr;         // where the lanes begin, and where each ends
  CUstream last = nullptr;        // that it was launched in
  bool was_launched = false;
  bool is_late = false;  // the last launch waits for its turn, or did
  unsigned long long flags = 0;
  std::uint64_t number = 0;
  tilescope::standin::UserObjects objects;  // of its graph
};

using ExecNodes = std::vector<ExecNode>;

namespace tilescope::standin {
namespace {

constexpr unsigned long long auto_free = 1;  // CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH
// Those, uploading, device launches, and priorities of nodes.
constexpr unsigned long long known_flags = 15, device_launch = 4;

void join(std::vector<std::size_t>& to, const std::vector<std::size_t>& from) {
  for (const std::size_t each : from) {
    if (std::find(to.begin(), to.end(), each) == to.end()) to.push_back(each);
  }
}

// The nodes of `graph` behind `entry`; what is behind all of them. False: the edges go around.
bool flatten(const CUgraph_st& graph, const std::vector<std::size_t>& entry,
             std::vector<ExecNode>& out, std::vector<std::size_t>& ends) {
  std::map<CUgraphNode, std::vector<std::size_t>> done;  // what one waits for who is behind it
  while (done.size() < graph.nodes.size()) {
    const std::size_t before = done.size();
    for (const auto& node : graph.nodes) {
      if (done.count(node.get())) continue;
      if (!std::all_of(node->behind.begin(), node->behind.end(),
                       [&](const Edge& e) { return done.count(e.from) > 0; })) {
        continue;
      }
      std::vector<std::size_t> behind;
      bool programmatic = false;
      for (const Edge& e : node->behind) {
        join(behind, done[e.from]);
        programmatic = programmatic || e.data.type == EdgeData::programmatic;
      }
      if (node->behind.empty()) behind = entry;
      if (node->child) {
        std::vector<std::size_t> last;
        if (!flatten(*node->child, behind, out, last)) return false;
        done[node.get()] = last.empty() ? behind : last;
        continue;
      }
      ExecNode made;
      made.of = node.get();
      made.kind = node->kind;
      made.work = node->work;
      made.behind = std::move(behind);
      made.programmatic = programmatic && made.behind.size() == 1;
      done[node.get()] = {out.size()};
      out.push_back(std::move(made));
    }
    if (done.size() == before) return false;
  }
  std::set<CUgraphNode> before_others;
  for (const auto& node : graph.nodes) {
    for (const Edge& e : node->behind) before_others.insert(e.from);
  }
  for (const auto& node : graph.nodes) {
    if (!before_others.count(node.get())) join(ends, done[node.get()]);
  }
  return true;
}

// Which lane each goes in.
void lay_out(CUgraphExec_st& exec) {
  std::vector<std::vector<std::size_t>> behind;  // of each node: how many of each lane
  std::vector<std::size_t> lengths, last;        // of each lane
  for (std::size_t n = 0; n < exec.nodes.size(); ++n) {
    ExecNode& node = exec.nodes[n];
    std::vector<std::size_t> own(lengths.size());
    for (const std::size_t each : node.behind) {
      for (std::size_t lane = 0; lane < behind[each].size(); ++lane) {
        own[lane] = std::max(own[lane], behind[each][lane]);
      }
    }
    node.lane = lengths.size();
    for (std::size_t lane = lengths.size(); lane-- > 0;) {
      if (own[lane] == lengths[lane]) node.lane = lane;
    }
    for (const std::size_t each : node.behind) {
      if (last[exec.nodes[each].lane] == each) {
        node.lane = exec.nodes[each].lane;
        break;
      }
    }
    if (node.lane == lengths.size()) lengths.push_back(0), last.push_back(0), own.push_back(0);
    own[node.lane] = ++lengths[node.lane];
    last[node.lane] = n;
    behind.push_back(std::move(own));
  }
  exec.lanes = lengths.size();
}

CUresult record(CUevent event, CUstream stream) {
  return Question(Call::event_record).with(number_of(event)).with(number_of(stream)).ask();
}
CUresult wait(CUstream stream, CUevent event) {
  return Question(Call::event_wait).with(number_of(event)).with(number_of(stream)).ask();
}
CUresult make_event(CUevent& event) {
  std::uint64_t number = 0;
  const CUresult result = Question(Call::event_create).with(disable_timing).ask(&number);
  event = handle_of<CUevent>(number);
  return result;
}

// The streams and events of the lanes.
CUresult prepare(CUgraphExec_st& exec) {
  if (exec.lanes < 2 || exec.is_ready) return CUDA_SUCCESS;
  if (!exec.here) {
    if (const CUresult wrong = make_event(exec.here)) return wrong;
  }
  while (exec.streams.size() < exec.lanes) {
    std::uint64_t number = 0;
    const CUresult result = Question(Call::stream_create)
                                .with(wire::graph_lane)
                                .with(static_cast<int>(exec.number))
                                .ask(&number);
    if (result) return result;
    exec.streams.push_back(handle_of<CUstream>(number));
  }
  for (const ExecNode& node : exec.nodes) {
    for (const std::size_t each : node.behind) {
      ExecNode& before = exec.nodes[each];
      if (before.lane == node.lane || before.done) continue;
      if (const CUresult wrong = make_event(before.done)) return wrong;
    }
  }
  exec.is_ready = true;
  return CUDA_SUCCESS;
}

void end(CUgraphExec_st& exec) {
  for (const CUstream each : exec.streams) {
    Question(Call::stream_destroy).with(number_of(each)).ask();
  }
  if (exec.here) Question(Call::event_destroy).with(number_of(exec.here)).ask();
  for (const ExecNode& node : exec.nodes) {
    if (node.done) Question(Call::event_destroy).with(number_of(node.done)).ask();
  }
}

CUresult do_node(const ExecNode& node, CUstream stream) {
  if (!node.enabled) return CUDA_SUCCESS;
  if (!node.programmatic || node.kind != NodeKind::kernel) {
    return do_work(node.kind, node.work, stream);
  }
  KernelWork early = std::get<KernelWork>(node.work);
  early.how.programmatic = 1;
  return early(stream);
}

CUresult do_lanes(CUgraphExec_st& exec, const ExecNodes& nodes, CUstream stream) {
  if (const CUresult wrong = record(exec.here, stream)) return wrong;
  for (const CUstream lane : exec.streams) {
    if (const CUresult wrong = wait(lane, exec.here)) return wrong;
  }
  for (const ExecNode& node : nodes) {
    const CUstream lane = exec.streams[node.lane];
    for (const std::size_t each : node.behind) {
      const ExecNode& before = nodes[each];
      if (before.lane == node.lane) continue;
      if (const CUresult wrong = wait(lane, before.done)) return wrong;
    }
    if (const CUresult wrong = do_node(node, lane)) return wrong;
    if (!node.done) continue;
    if (const CUresult wrong = record(node.done, lane)) return wrong;
  }
  for (const CUstream lane : exec.streams) {
    if (const CUresult wrong = record(exec.here, lane)) return wrong;
    if (const CUresult wrong = wait(stream, exec.here)) return wrong;
  }
  return CUDA_SUCCESS;
}

// A graph whose memory nobody has given back since its last launch is not launched again, unless it
// was made to give it back then (CUDA C++ Programming Guide, "Graph Memory Nodes").
CUresult look_at_memory(const CUgraphExec_st& exec, const ExecNodes& nodes, CUstream stream) {
  for (const ExecNode& node : nodes) {
    const auto* const memory = std::get_if<AllocationNode>(&node.work);
    if (!memory) continue;
    std::uint64_t begin = 0, bytes = 0;
    const bool is_there =
        Question(Call::find).with(std::uint64_t{memory->address}).ask(&begin, &bytes) ==
        CUDA_SUCCESS;
    if (!is_there) continue;
    if (!(exec.flags & auto_free)) return CUDA_ERROR_INVALID_VALUE;
    const CUresult wrong = do_work(NodeKind::release, ReleaseNode{memory->address}, stream);
    if (wrong) return wrong;
  }
  return CUDA_SUCCESS;
}

// Behind all its launches, the last of which was in `before` (CUDA Driver API, cuGraphLaunch).
CUresult launch(CUgraphExec_st& exec, const ExecNodes& nodes, CUstream stream, CUstream before) {
  if (const CUresult wrong = look_at_memory(exec, nodes, stream)) return wrong;
  if (before != stream) {
    CUevent event = nullptr;
    if (const CUresult wrong = make_event(event)) return wrong;
    if (record(event, before) == CUDA_SUCCESS) wait(stream, event);
    Question(Call::event_destroy).with(number_of(event)).ask();
  }
  if (exec.lanes > 1) return do_lanes(exec, nodes, stream);
  for (const ExecNode& node : nodes) {
    if (const CUresult wrong = do_node(node, stream)) return wrong;
  }
  return CUDA_SUCCESS;
}

// As a graph, for one that it becomes part of.
CUgraph graph_of(const CUgraphExec_st& exec) {
  const CUgraph out = new_graph();
  for (const ExecNode& node : exec.nodes) {
    std::vector<Edge> behind;
    for (const std::size_t each : node.behind) behind.push_back({out->nodes[each].get(), {}});
    add_node(out, node.enabled ? node.kind : NodeKind::empty, node.enabled ? node.work : NodeWork{},
             std::move(behind));
  }
  out->is_child = true;
  return out;
}

ExecNode* node_in(CUgraphExec exec, CUgraphNode node) {
  if (!is_known(exec)) return nullptr;
  const auto found = std::find_if(exec->nodes.begin(), exec->nodes.end(),
                                  [&](const ExecNode& each) { return each.of == node; });
  return found == exec->nodes.end() ? nullptr : &*found;
}

// CUgraphExecUpdateResult
enum class Update : int { success = 0, error = 1, topology = 2, kind = 3 };

// What `fresh` does from now on what `own` does, in the same places.
Update compare(const std::vector<ExecNode>& own, const std::vector<ExecNode>& fresh,
               std::size_t& where) {
  if (own.size() != fresh.size()) return where = fresh.size(), Update::topology;
  for (where = 0; where < own.size(); ++where) {
    if (own[where].behind != fresh[where].behind) return Update::topology;
    if (own[where].kind != fresh[where].kind) return Update::kind;
  }
  return Update::success;
}

}  // namespace

NodeWork* work_in(CUgraphExec exec, CUgraphNode node, NodeKind kind) {
  ExecNode* const own = node_in(exec, node);
  return own && own->kind == kind ? &own->work : nullptr;
}

// Kernels, copies and fills can be switched off (CUDA Driver API, cuGraphNodeSetEnabled).
bool* enabled_in(CUgraphExec exec, CUgraphNode node) {
  ExecNode* const own = node_in(exec, node);
  return own && own->kind <= NodeKind::fill ? &own->enabled : nullptr;
}

bool update_child(CUgraphExec exec, CUgraphNode node, const CUgraph_st& graph) {
  std::vector<ExecNode> before, fresh;
  std::vector<std::size_t> ends;
  std::size_t where = 0;
  if (!flatten(*node->child, {}, before, ends) || !flatten(graph, {}, fresh, ends) ||
      compare(before, fresh, where) != Update::success) {
    return false;
  }
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    ExecNode* const own = node_in(exec, before[i].of);
    if (!own) return false;
    own->work = std::move(fresh[i].work);
  }
  return true;
}

TILESCOPE_CUDA cuGraphInstantiateWithFlags(CUgraphExec* out, CUgraph graph,
                                           unsigned long long flags) {
  static std::uint64_t number = 0;
  const GraphsLock lock(graphs_mutex);
  if (!out || !is_known(graph) || graph->is_child || flags > known_flags) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (flags & device_launch) return not_supported("graphs that are launched from the device");
  auto made = std::make_unique<CUgraphExec_st>();
  std::vector<std::size_t> ends;
  if (!flatten(*graph, {}, made->nodes, ends)) return CUDA_ERROR_INVALID_VALUE;
  made->objects = graph->objects;
  lay_out(*made);
  made->flags = flags;
  made->number = ++number;
  *out = *all_of<CUgraphExec_st>().insert(made.release()).first;
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
  if (!how) return CUDA_ERROR_INVALID_VALUE;
  const CUresult result = cuGraphInstantiateWithFlags(exec, graph, how->flags);
  how->wrong_node = nullptr, how->result = result != CUDA_SUCCESS;
  return result;
}
TILESCOPE_CUDA cuGraphExecGetFlags(CUgraphExec exec, std::uint64_t* flags) {
  const GraphsLock lock(graphs_mutex);
  if (!flags || !is_known(exec)) return CUDA_ERROR_INVALID_VALUE;
  *flags = exec->flags;
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuGraphExecDestroy(CUgraphExec exec) {
  {
    const GraphsLock lock(graphs_mutex);
    if (!all_of<CUgraphExec_st>().erase(exec)) return CUDA_ERROR_INVALID_VALUE;
  }
  if (exec->is_late) catch_up_all();
  end(*exec);
  delete exec;
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuGraphUpload(CUgraphExec exec, CUstream) {
  const GraphsLock lock(graphs_mutex);
  return is_known(exec) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
// In a captured stream it becomes part of the graph that is made there.
TILESCOPE_CUDA cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  {
    const GraphsLock lock(graphs_mutex);
    if (!is_known(exec)) return CUDA_ERROR_INVALID_VALUE;
    if (is_captured(stream)) return take_down_child(stream, graph_of(*exec));
  }
  if (exec->is_late && is_behind(exec->last)) {
    if (const CUresult wrong = catch_up(exec->last)) return wrong;
  }
  if (const CUresult wrong = prepare(*exec)) return wrong;
  const bool may_wait =
      std::any_of(exec->nodes.begin(), exec->nodes.end(),
                  [](const ExecNode& node) { return may_wait_for_host(node.kind); });
  exec->is_late = may_wait || is_behind(stream);
  if (in_host_function()) return CUDA_ERROR_NOT_PERMITTED;
  const CUstream own = own_stream(stream);
  const CUstream before = exec->was_launched ? exec->last : own;
  exec->was_launched = true;
  exec->last = own;
  if (!exec->is_late) return launch(*exec, exec->nodes, own, before);
  // As it is now, whatever becomes of it.
  do_later(own, [=, nodes = exec->nodes] { return launch(*exec, nodes, own, before); });
  return CUDA_SUCCESS;
}

struct UpdateResult {  // CUgraphExecUpdateResultInfo
  int result;
  CUgraphNode node, from;
};
// Of the same nodes in the same order; else the program makes it anew.
TILESCOPE_CUDA cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, UpdateResult* out) {
  const GraphsLock lock(graphs_mutex);
  if (!is_known(exec) || !is_known(graph)) return CUDA_ERROR_INVALID_VALUE;
  std::vector<ExecNode> fresh;
  std::vector<std::size_t> ends;
  std::size_t where = 0;
  const Update result =
      flatten(*graph, {}, fresh, ends) ? compare(exec->nodes, fresh, where) : Update::error;
  if (out) {
    const bool named = result == Update::kind;
    *out = {static_cast<int>(result), named ? fresh[where].of : nullptr, nullptr};
  }
  if (result != Update::success) {
    return static_cast<CUresult>(910);  // CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE
  }
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    exec->nodes[i].work = std::move(fresh[i].work);
    exec->nodes[i].programmatic = fresh[i].programmatic;
  }
  return CUDA_SUCCESS;
}

TILESCOPE_CUDA cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode* node, int* result) {
  UpdateResult out{};
  const CUresult error = cuGraphExecUpdate_v2(exec, graph, &out);
  if (node) *node = out.node;
  if (result) *result = out.result;
  return error;
}

}  // namespace tilescope::standin
