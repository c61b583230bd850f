// Graphs as a program builds, captures, copies and changes them, and what their edges order.
#include "tests/exec/standin.h"

namespace tilescope {
namespace {

using Node = struct CUgraphNode_st*;
using Exec = struct CUgraphExec_st*;

struct KernelParams {  // CUDA_KERNEL_NODE_PARAMS_v2
  CUfunction function;
  unsigned grid[3], block[3], shared;
  void **parameters, **extra;
  CUkernel kernel;
  CUcontext context;
};
struct FillParams {  // CUDA_MEMSET_NODE_PARAMS
  CUdeviceptr to;
  std::size_t pitch;
  unsigned value, width;
  std::size_t count, rows;
};
struct HostParams {  // CUDA_HOST_NODE_PARAMS
  CUhostFn function;
  void* data;
};
struct MemoryParams {  // CUDA_MEM_ALLOC_NODE_PARAMS
  CUmemPoolProps pool;
  const void* access;
  std::size_t accesses, bytes;
  CUdeviceptr address;
};

constexpr auto unjoined = static_cast<CUresult>(904), invalidated = static_cast<CUresult>(901),
               unsupported = static_cast<CUresult>(900), merge = static_cast<CUresult>(902),
               isolation = static_cast<CUresult>(905), implicit = static_cast<CUresult>(906),
               captured_event = static_cast<CUresult>(907),
               illegal_state = static_cast<CUresult>(401),
               update_failed = static_cast<CUresult>(910);

class Graphs : public StandIn {
 protected:
  void SetUp() override {
    begin();
    ASSERT_EQ(call("cuGraphCreate", &graph_, 0u), CUDA_SUCCESS);
  }
  // add(data, n, value) over n threads or so.
  KernelParams kernel(CUdeviceptr& data, unsigned& n, unsigned& value) {
    pointers_ = {&data, &n, &value};
    return {add_,   {(n + 63) / 64, 1, 1}, {64, 1, 1}, 0, pointers_.data(), nullptr, nullptr,
            nullptr};
  }
  Node add_kernel(CUdeviceptr data, unsigned n, unsigned value, std::vector<Node> behind = {}) {
    Node out = nullptr;
    const KernelParams how = kernel(data, n, value);
    EXPECT_EQ(call("cuGraphAddKernelNode_v2", &out, graph_, static_cast<const Node*>(behind.data()),
                   behind.size(), &how),
              CUDA_SUCCESS);
    return out;
  }
  Node add_fill(CUdeviceptr data, unsigned count, unsigned value, std::vector<Node> behind = {}) {
    Node out = nullptr;
    const FillParams how{data, 0, value, 4, count, 1};
    EXPECT_EQ(call("cuGraphAddMemsetNode", &out, graph_, static_cast<const Node*>(behind.data()),
                   behind.size(), &how, CUcontext{}),
              CUDA_SUCCESS);
    return out;
  }
  Exec instantiate(CUgraph graph, unsigned long long flags = 0) {
    Exec out = nullptr;
    EXPECT_EQ(call("cuGraphInstantiateWithFlags", &out, graph, flags), CUDA_SUCCESS);
    return out;
  }
  CUresult run(Exec exec, CUstream stream = nullptr) { return call("cuGraphLaunch", exec, stream); }
  CUstream stream() {
    CUstream out = nullptr;
    EXPECT_EQ(call("cuStreamCreate", &out, 1u), CUDA_SUCCESS);
    return out;
  }
  CUevent event() {
    CUevent out = nullptr;
    EXPECT_EQ(call("cuEventCreate", &out, 2u), CUDA_SUCCESS);
    return out;
  }

  CUgraph graph_ = nullptr;
  std::vector<void*> pointers_;
};

TEST_F(Graphs, NodesWithoutAnEdgeAreInNoOrder) {
  const CUdeviceptr a = words(64), b = words(64);
  const Node first = add_kernel(a, 64, 1);
  add_kernel(b, 64, 1);
  add_kernel(a, 64, 1, {first});
  const Exec right = instantiate(graph_);
  EXPECT_EQ(run(right), CUDA_SUCCESS);
  EXPECT_EQ(run(right), CUDA_SUCCESS);
  EXPECT_EQ(told("stream_race"), 0u);
  EXPECT_EQ(read(a, 64)[63], 67);
  EXPECT_EQ(read(b, 64)[63], 65);
  add_kernel(b, 64, 1);  // beside the other one
  EXPECT_EQ(run(instantiate(graph_)), CUDA_SUCCESS);
  ASSERT_EQ(told("stream_race"), 1u);
  EXPECT_EQ(device().reports().back().expected,
            "an edge of the graph that leads from one to the other");
}

TEST_F(Graphs, WhatComesBehindAGraphIsBehindAllOfIt) {
  const CUdeviceptr a = words(64), b = words(64), c = words(64);
  add_kernel(a, 64, 1), add_kernel(b, 64, 1), add_kernel(c, 64, 1);
  const Exec exec = instantiate(graph_);
  const CUstream one = stream(), other = stream();
  EXPECT_EQ(launch(c, 64, 1, one), CUDA_SUCCESS);
  EXPECT_EQ(run(exec, one), CUDA_SUCCESS);
  EXPECT_EQ(launch(a, 64, 1, one), CUDA_SUCCESS);
  EXPECT_EQ(launch(b, 64, 1, one), CUDA_SUCCESS);
  EXPECT_EQ(told("stream_race"), 0u);
  // A graph's launches are behind each other, whichever streams they are in (what else is in the
  // first stream comes before, too).
  EXPECT_EQ(run(exec, other), CUDA_SUCCESS);
  EXPECT_EQ(told("stream_race"), 0u);
  EXPECT_EQ(launch(c, 64, 1, one), CUDA_SUCCESS);
  EXPECT_EQ(told("stream_race"), 1u);
}

TEST_F(Graphs, ADiamondIsOrderedByItsEdges) {
  const CUdeviceptr a = words(64), b = words(64);
  const Node top = add_fill(a, 64, 5);
  const Node left = add_kernel(a, 64, 1, {top}), right = add_fill(b, 64, 7, {top});
  add_kernel(a, 64, 1, {left, right});
  const Node below = add_kernel(b, 64, 1, {right});
  const Node last = add_kernel(b, 64, 1, {left, right, below});
  EXPECT_EQ(run(instantiate(graph_)), CUDA_SUCCESS);
  EXPECT_EQ(told("stream_race"), 0u);
  EXPECT_EQ(read(a, 1)[0], 7);
  EXPECT_EQ(read(b, 1)[0], 9);
  // Without the one edge between the two that write b.
  EXPECT_EQ(call("cuGraphRemoveDependencies", graph_, &below, &last, std::size_t{1}), CUDA_SUCCESS);
  EXPECT_EQ(call("cuGraphRemoveDependencies", graph_, &below, &last, std::size_t{1}),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(run(instantiate(graph_)), CUDA_SUCCESS);
  EXPECT_EQ(told("stream_race"), 1u);
}

TEST_F(Graphs, CapturedStreamsAreOrderedByTheirEvents) {
  const CUdeviceptr a = words(64), b = words(64);
  const CUstream one = stream(), other = stream();
  const CUevent fork = event(), join = event();
  const auto capture = [&](CUdeviceptr second) {
    CUgraph graph = nullptr;
    EXPECT_EQ(call("cuStreamBeginCapture_v2", one, 0), CUDA_SUCCESS);
    EXPECT_EQ(call("cuMemsetD32Async", a, 5u, std::size_t{64}, one), CUDA_SUCCESS);
    EXPECT_EQ(call("cuEventRecord", fork, one), CUDA_SUCCESS);
    EXPECT_EQ(call("cuStreamWaitEvent", other, fork, 0u), CUDA_SUCCESS);
    EXPECT_EQ(launch(a, 64, 1, one), CUDA_SUCCESS);
    EXPECT_EQ(launch(second, 64, 1, other), CUDA_SUCCESS);
    EXPECT_EQ(call("cuEventRecord", join, other), CUDA_SUCCESS);
    EXPECT_EQ(call("cuStreamWaitEvent", one, join, 0u), CUDA_SUCCESS);
    EXPECT_EQ(launch(second, 64, 1, one), CUDA_SUCCESS);
    EXPECT_EQ(call("cuStreamEndCapture", one, &graph), CUDA_SUCCESS);
    return graph;
  };
  const CUgraph right = capture(b);
  EXPECT_EQ(run(instantiate(right), one), CUDA_SUCCESS);
  EXPECT_EQ(told("stream_race"), 0u);
  EXPECT_EQ(call("cuStreamSynchronize", one), CUDA_SUCCESS);
  EXPECT_EQ(read(a, 1)[0], 6);
  std::size_t nodes = 0, edges = 0;
  EXPECT_EQ(call("cuGraphGetNodes", right, static_cast<Node*>(nullptr), &nodes), CUDA_SUCCESS);
  EXPECT_EQ(nodes, 4u);
  EXPECT_EQ(call("cuGraphGetEdges", right, static_cast<Node*>(nullptr), static_cast<Node*>(nullptr),
                 &edges),
            CUDA_SUCCESS);
  EXPECT_EQ(edges, 4u);
  EXPECT_EQ(run(instantiate(capture(a)), one), CUDA_SUCCESS);
  EXPECT_EQ(told("stream_race"), 1u);
}

TEST_F(Graphs, ACaptureThatGoesWrongIsOver) {
  const CUdeviceptr a = words(64);
  const CUstream one = stream(), other = stream();
  const CUevent fork = event(), before = event();
  CUgraph graph = nullptr;
  int status = 0;
  // A stream that never comes back.
  ASSERT_EQ(call("cuStreamBeginCapture_v2", one, 0), CUDA_SUCCESS);
  EXPECT_EQ(call("cuStreamBeginCapture_v2", one, 0), illegal_state);
  EXPECT_EQ(call("cuEventRecord", fork, one), CUDA_SUCCESS);
  EXPECT_EQ(call("cuStreamWaitEvent", other, fork, 0u), CUDA_SUCCESS);
  EXPECT_EQ(launch(a, 64, 1, other), CUDA_SUCCESS);
  EXPECT_EQ(call("cuStreamEndCapture", one, &graph), unjoined);
  EXPECT_EQ(graph, nullptr);
  EXPECT_EQ(call("cuStreamIsCapturing", other, &status), CUDA_SUCCESS);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(call("cuStreamEndCapture", one, &graph), illegal_state);
  // Who asks for what is not done yet.
  ASSERT_EQ(call("cuStreamBeginCapture_v2", one, 0), CUDA_SUCCESS);
  EXPECT_EQ(call("cuStreamSynchronize", one), unsupported);
  EXPECT_EQ(call("cuStreamIsCapturing", one, &status), CUDA_SUCCESS);
  EXPECT_EQ(status, 2);
  EXPECT_EQ(launch(a, 64, 1, one), invalidated);
  EXPECT_EQ(call("cuStreamEndCapture", one, &graph), invalidated);
  // An event of before, one of the capture, and two captures that meet.
  EXPECT_EQ(call("cuEventRecord", before, other), CUDA_SUCCESS);
  ASSERT_EQ(call("cuStreamBeginCapture_v2", one, 0), CUDA_SUCCESS);
  EXPECT_EQ(call("cuStreamWaitEvent", one, before, 0u), isolation);
  EXPECT_EQ(call("cuStreamEndCapture", one, &graph), invalidated);
  ASSERT_EQ(call("cuStreamBeginCapture_v2", one, 0), CUDA_SUCCESS);
  EXPECT_EQ(call("cuEventRecord", fork, one), CUDA_SUCCESS);
  EXPECT_EQ(call("cuEventQuery", fork), captured_event);
  EXPECT_EQ(call("cuStreamEndCapture", one, &graph), invalidated);
  ASSERT_EQ(call("cuStreamBeginCapture_v2", one, 0), CUDA_SUCCESS);
  ASSERT_EQ(call("cuStreamBeginCapture_v2", other, 0), CUDA_SUCCESS);
  EXPECT_EQ(call("cuEventRecord", fork, one), CUDA_SUCCESS);
  EXPECT_EQ(call("cuStreamWaitEvent", other, fork, 0u), merge);
  EXPECT_EQ(call("cuStreamEndCapture", one, &graph), invalidated);
  EXPECT_EQ(call("cuStreamEndCapture", other, &graph), invalidated);
  // The default stream takes no part, and would wait for those that block.
  CUstream blocking = nullptr;
  ASSERT_EQ(call("cuStreamCreate", &blocking, 0u), CUDA_SUCCESS);
  EXPECT_EQ(call("cuStreamBeginCapture_v2", CUstream{}, 0), unsupported);
  ASSERT_EQ(call("cuStreamBeginCapture_v2", one, 0), CUDA_SUCCESS);
  EXPECT_EQ(launch(a, 64, 1), CUDA_SUCCESS);
  EXPECT_EQ(call("cuStreamEndCapture", one, &graph), CUDA_SUCCESS);
  ASSERT_EQ(call("cuStreamBeginCapture_v2", blocking, 0), CUDA_SUCCESS);
  EXPECT_EQ(launch(a, 64, 1), implicit);
  EXPECT_EQ(call("cuStreamEndCapture", blocking, &graph), invalidated);
  EXPECT_EQ(call("cuStreamBeginCapture_v2", one, 3), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Graphs, ACloneIsAGraphOfItsOwn) {
  const CUdeviceptr a = words(64);
  const Node first = add_fill(a, 64, 5), second = add_kernel(a, 64, 1, {first});
  CUgraph clone = nullptr;
  ASSERT_EQ(call("cuGraphClone", &clone, graph_), CUDA_SUCCESS);
  EXPECT_EQ(call("cuGraphClone", static_cast<CUgraph*>(nullptr), graph_), CUDA_ERROR_INVALID_VALUE);
  Node found = nullptr, other = nullptr;
  EXPECT_EQ(call("cuGraphNodeFindInClone", &found, second, clone), CUDA_SUCCESS);
  EXPECT_NE(found, second);
  int kind = -1;
  EXPECT_EQ(call("cuGraphNodeGetType", found, &kind), CUDA_SUCCESS);
  EXPECT_EQ(kind, 0);
  EXPECT_EQ(call("cuGraphNodeFindInClone", &other, found, clone), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(call("cuGraphDestroyNode", second), CUDA_SUCCESS);
  EXPECT_EQ(call("cuGraphDestroyNode", second), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(call("cuGraphDestroy", graph_), CUDA_SUCCESS);
  EXPECT_EQ(run(instantiate(clone)), CUDA_SUCCESS);
  EXPECT_EQ(read(a, 64)[63], 6);
  EXPECT_EQ(told("stream_race"), 0u);
}

TEST_F(Graphs, NodesAreAskedForAndChanged) {
  CUdeviceptr a = words(64);
  unsigned n = 64, value = 1;
  const Node fill = add_fill(a, 64, 5), add = add_kernel(a, n, value, {fill});
  // A fill.
  FillParams filled{};
  EXPECT_EQ(call("cuGraphMemsetNodeGetParams", fill, &filled), CUDA_SUCCESS);
  EXPECT_EQ(filled.to, a);
  EXPECT_EQ(filled.value, 5u);
  EXPECT_EQ(call("cuGraphMemsetNodeGetParams", add, &filled), CUDA_ERROR_INVALID_VALUE);
  filled.value = 10;
  EXPECT_EQ(call("cuGraphMemsetNodeSetParams", fill, &filled), CUDA_SUCCESS);
  filled.width = 3;
  EXPECT_EQ(call("cuGraphMemsetNodeSetParams", fill, &filled), CUDA_ERROR_INVALID_VALUE);
  filled.width = 4;
  // A kernel.
  KernelParams kernels{};
  EXPECT_EQ(call("cuGraphKernelNodeGetParams_v2", add, &kernels), CUDA_SUCCESS);
  EXPECT_EQ(kernels.function, add_);
  EXPECT_NE(kernels.kernel, nullptr);  // the runtime asks for it
  EXPECT_NE(kernels.context, nullptr);
  EXPECT_EQ(kernels.block[0], 64u);
  ASSERT_NE(kernels.parameters, nullptr);
  EXPECT_EQ(*static_cast<unsigned*>(kernels.parameters[2]), 1u);
  value = 2;
  KernelParams changed = kernel(a, n, value);
  EXPECT_EQ(call("cuGraphKernelNodeSetParams_v2", add, &changed), CUDA_SUCCESS);
  EXPECT_EQ(call("cuGraphKernelNodeSetParams_v2", fill, &changed), CUDA_ERROR_INVALID_VALUE);
  const Exec exec = instantiate(graph_);
  EXPECT_EQ(run(exec), CUDA_SUCCESS);
  EXPECT_EQ(read(a, 1)[0], 12);
  // The same of what runs.
  value = 3;
  filled.value = 20;
  EXPECT_EQ(call("cuGraphExecMemsetNodeSetParams", exec, fill, &filled, CUcontext{}), CUDA_SUCCESS);
  EXPECT_EQ(call("cuGraphExecKernelNodeSetParams_v2", exec, add, &changed), CUDA_SUCCESS);
  EXPECT_EQ(call("cuGraphExecKernelNodeSetParams_v2", exec, fill, &changed),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(run(exec), CUDA_SUCCESS);
  EXPECT_EQ(read(a, 1)[0], 23);
  // Switched off.
  unsigned enabled = 9;
  EXPECT_EQ(call("cuGraphNodeSetEnabled", exec, add, 0u), CUDA_SUCCESS);
  EXPECT_EQ(call("cuGraphNodeGetEnabled", exec, add, &enabled), CUDA_SUCCESS);
  EXPECT_EQ(enabled, 0u);
  EXPECT_EQ(run(exec), CUDA_SUCCESS);
  EXPECT_EQ(read(a, 1)[0], 20);
  // All of it from a graph that is made alike, and from one that is not.
  EXPECT_EQ(call("cuGraphNodeSetEnabled", exec, add, 1u), CUDA_SUCCESS);
  struct {
    int result;
    Node node, from;
  } update{};
  EXPECT_EQ(call("cuGraphExecUpdate_v2", exec, graph_, &update), CUDA_SUCCESS);
  EXPECT_EQ(update.result, 0);
  EXPECT_EQ(run(exec), CUDA_SUCCESS);
  EXPECT_EQ(read(a, 1)[0], 12);
  add_kernel(a, 64, 1, {add});
  EXPECT_EQ(call("cuGraphExecUpdate_v2", exec, graph_, &update), update_failed);
  EXPECT_EQ(update.result, 2);
}

TEST_F(Graphs, TheHostAndEventsHaveNodes) {
  const CUdeviceptr a = words(64);
  int calls = 0;
  const HostParams count{[](void* to) { *static_cast<int*>(to) += 1; }, &calls};
  const HostParams nothing{nullptr, nullptr};
  const CUevent done = event();
  Node host = nullptr, record = nullptr, wait = nullptr, none = nullptr;
  const Node add = add_kernel(a, 64, 1);
  EXPECT_EQ(call("cuGraphAddHostNode", &host, graph_, &add, std::size_t{1}, &count), CUDA_SUCCESS);
  EXPECT_EQ(call("cuGraphAddHostNode", &none, graph_, &add, std::size_t{1}, &nothing),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(call("cuGraphAddEventRecordNode", &record, graph_, &host, std::size_t{1}, done),
            CUDA_SUCCESS);
  EXPECT_EQ(call("cuGraphAddEventWaitNode", &wait, graph_, static_cast<const Node*>(nullptr),
                 std::size_t{0}, done),
            CUDA_SUCCESS);
  EXPECT_EQ(call("cuGraphAddEventWaitNode", &none, graph_, static_cast<const Node*>(nullptr),
                 std::size_t{0}, CUevent{}),
            CUDA_ERROR_INVALID_VALUE);
  CUevent found = nullptr;
  EXPECT_EQ(call("cuGraphEventRecordNodeGetEvent", record, &found), CUDA_SUCCESS);
  EXPECT_EQ(found, done);
  EXPECT_EQ(call("cuGraphEventRecordNodeGetEvent", wait, &found), CUDA_ERROR_INVALID_VALUE);
  const CUstream one = stream(), other = stream();
  EXPECT_EQ(run(instantiate(graph_), one), CUDA_SUCCESS);
  EXPECT_EQ(call("cuStreamSynchronize", one), CUDA_SUCCESS);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(call("cuStreamWaitEvent", other, done, 0u), CUDA_SUCCESS);
  EXPECT_EQ(launch(a, 64, 1, other), CUDA_SUCCESS);
  EXPECT_EQ(told("stream_race"), 0u);
}

TEST_F(Graphs, AGraphInAGraphIsACopy) {
  const CUdeviceptr a = words(64);
  add_fill(a, 64, 5);
  CUgraph parent = nullptr, own = nullptr;
  ASSERT_EQ(call("cuGraphCreate", &parent, 0u), CUDA_SUCCESS);
  Node child = nullptr, behind = nullptr;
  EXPECT_EQ(call("cuGraphAddChildGraphNode", &child, parent, static_cast<const Node*>(nullptr),
                 std::size_t{0}, graph_),
            CUDA_SUCCESS);
  EXPECT_EQ(call("cuGraphAddChildGraphNode", &behind, parent, static_cast<const Node*>(nullptr),
                 std::size_t{0}, parent),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(call("cuGraphDestroy", graph_), CUDA_SUCCESS);
  graph_ = parent;
  add_kernel(a, 64, 1, {child});
  EXPECT_EQ(call("cuGraphChildGraphNodeGetGraph", child, &own), CUDA_SUCCESS);
  EXPECT_EQ(call("cuGraphDestroy", own), CUDA_ERROR_INVALID_VALUE);
  const Exec exec = instantiate(parent);
  EXPECT_EQ(run(exec), CUDA_SUCCESS);
  EXPECT_EQ(read(a, 1)[0], 6);
  EXPECT_EQ(told("stream_race"), 0u);
  // What the child does is changed; one that is made otherwise does not fit.
  CUgraph fresh = nullptr;
  ASSERT_EQ(call("cuGraphCreate", &fresh, 0u), CUDA_SUCCESS);
  graph_ = fresh;
  add_fill(a, 64, 8);
  EXPECT_EQ(call("cuGraphExecChildGraphNodeSetParams", exec, child, fresh), CUDA_SUCCESS);
  EXPECT_EQ(run(exec), CUDA_SUCCESS);
  EXPECT_EQ(read(a, 1)[0], 9);
  add_fill(a, 64, 8);
  EXPECT_EQ(call("cuGraphExecChildGraphNodeSetParams", exec, child, fresh),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Graphs, EdgesAreAskedForAndGuarded) {
  const CUdeviceptr a = words(64);
  const Node one = add_fill(a, 64, 1), two = add_fill(a, 64, 2), three = add_fill(a, 64, 3);
  EXPECT_EQ(call("cuGraphAddDependencies", graph_, &one, &two, std::size_t{1}), CUDA_SUCCESS);
  EXPECT_EQ(call("cuGraphAddDependencies", graph_, &one, &two, std::size_t{1}),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(call("cuGraphAddDependencies", graph_, &two, &two, std::size_t{1}),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(call("cuGraphAddDependencies", graph_, &two, &three, std::size_t{1}), CUDA_SUCCESS);
  Node found[2] = {one, one};
  std::size_t count = 2;
  EXPECT_EQ(call("cuGraphNodeGetDependencies", two, static_cast<Node*>(found), &count),
            CUDA_SUCCESS);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(found[0], one);
  EXPECT_EQ(found[1], nullptr);
  count = 2;
  EXPECT_EQ(call("cuGraphNodeGetDependentNodes", two, static_cast<Node*>(found), &count),
            CUDA_SUCCESS);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(found[0], three);
  EXPECT_EQ(run(instantiate(graph_)), CUDA_SUCCESS);
  EXPECT_EQ(read(a, 1)[0], 3);
  // Around.
  EXPECT_EQ(call("cuGraphAddDependencies", graph_, &three, &one, std::size_t{1}), CUDA_SUCCESS);
  Exec none = nullptr;
  EXPECT_EQ(call("cuGraphInstantiateWithFlags", &none, graph_, 0ull), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Graphs, MemoryOfAGraphIsThereFromNodeToNode) {
  MemoryParams how{};
  how.pool.allocType = 1, how.pool.location_type = 1;
  how.bytes = 256;
  Node memory = nullptr, gone = nullptr;
  ASSERT_EQ(call("cuGraphAddMemAllocNode", &memory, graph_, static_cast<const Node*>(nullptr),
                 std::size_t{0}, &how),
            CUDA_SUCCESS);
  ASSERT_NE(how.address, 0u);
  const Node fill = add_fill(how.address, 64, 4, {memory});
  const Node add = add_kernel(how.address, 64, 1, {fill});
  CUgraph clone = nullptr;
  EXPECT_EQ(call("cuGraphClone", &clone, graph_), CUDA_ERROR_NOT_SUPPORTED);
  // Nobody gives it back.
  const Exec keeps = instantiate(graph_);
  EXPECT_EQ(run(keeps), CUDA_SUCCESS);
  EXPECT_EQ(read(how.address, 64)[63], 5);
  EXPECT_EQ(run(keeps), CUDA_ERROR_INVALID_VALUE);
  std::uint64_t used = 0;
  EXPECT_EQ(call("cuDeviceGetGraphMemAttribute", 0, 0, static_cast<void*>(&used)), CUDA_SUCCESS);
  EXPECT_EQ(used, std::uint64_t{32} << 20);
  EXPECT_EQ(call("cuMemFree_v2", how.address), CUDA_SUCCESS);
  EXPECT_EQ(run(keeps), CUDA_SUCCESS);
  const Exec frees = instantiate(graph_, 1);  // AUTO_FREE_ON_LAUNCH
  EXPECT_EQ(run(frees), CUDA_SUCCESS);
  EXPECT_EQ(run(frees), CUDA_SUCCESS);
  EXPECT_EQ(call("cuMemFree_v2", how.address), CUDA_SUCCESS);
  // The graph does.
  ASSERT_EQ(call("cuGraphAddMemFreeNode", &gone, graph_, &add, std::size_t{1}, how.address),
            CUDA_SUCCESS);
  const Exec whole = instantiate(graph_);
  EXPECT_EQ(run(whole), CUDA_SUCCESS);
  EXPECT_EQ(run(whole), CUDA_SUCCESS);
  EXPECT_EQ(call("cuMemFree_v2", how.address), CUDA_ERROR_INVALID_VALUE);
  EXPECT_FALSE(device().faulted());
}

TEST_F(Graphs, MemoryOfACapturedStreamIsAGraphs) {
  const CUstream one = stream();
  CUdeviceptr data = 0;
  CUgraph graph = nullptr;
  ASSERT_EQ(call("cuStreamBeginCapture_v2", one, 0), CUDA_SUCCESS);
  EXPECT_EQ(call("cuMemAllocAsync", &data, std::size_t{256}, one), CUDA_SUCCESS);
  EXPECT_EQ(call("cuMemsetD32Async", data, 5u, std::size_t{64}, one), CUDA_SUCCESS);
  EXPECT_EQ(launch(data, 64, 1, one), CUDA_SUCCESS);
  EXPECT_EQ(call("cuMemFreeAsync", data, one), CUDA_SUCCESS);
  ASSERT_EQ(call("cuStreamEndCapture", one, &graph), CUDA_SUCCESS);
  int byte = 0;
  EXPECT_EQ(call("cuMemcpyDtoH_v2", static_cast<void*>(&byte), data, std::size_t{1}),
            CUDA_ERROR_INVALID_VALUE);
  const Exec exec = instantiate(graph);
  EXPECT_EQ(run(exec, one), CUDA_SUCCESS);
  EXPECT_EQ(run(exec, one), CUDA_SUCCESS);
  EXPECT_EQ(device().launches(), 2u);
  EXPECT_FALSE(device().faulted());
}

TEST_F(Graphs, AGraphMayBeCapturedIntoAnother) {
  const CUdeviceptr a = words(64);
  add_kernel(a, 64, 1, {add_fill(a, 64, 5)});
  const Exec inner = instantiate(graph_);
  const CUstream one = stream();
  CUgraph outer = nullptr;
  ASSERT_EQ(call("cuStreamBeginCapture_v2", one, 0), CUDA_SUCCESS);
  EXPECT_EQ(run(inner, one), CUDA_SUCCESS);
  EXPECT_EQ(launch(a, 64, 1, one), CUDA_SUCCESS);
  ASSERT_EQ(call("cuStreamEndCapture", one, &outer), CUDA_SUCCESS);
  EXPECT_EQ(device().launches(), 0u);
  EXPECT_EQ(call("cuGraphExecDestroy", inner), CUDA_SUCCESS);
  EXPECT_EQ(run(instantiate(outer), one), CUDA_SUCCESS);
  EXPECT_EQ(call("cuStreamSynchronize", one), CUDA_SUCCESS);
  EXPECT_EQ(read(a, 1)[0], 7);
}

// CUDA C++ Programming Guide, "CUDA User Objects".
TEST_F(StandIn, AnObjectLivesAsLongAsWhatRefersToIt) {
  begin();
  static int ended = 0;
  ended = 0;
  const CUhostFn end = [](void*) { ++ended; };
  void *object = nullptr, *nothing = nullptr;
  CUgraph graph = nullptr, clone = nullptr;
  void* exec = nullptr;
  ASSERT_EQ(call("cuGraphCreate", &graph, 0u), CUDA_SUCCESS);
  EXPECT_EQ(call("cuUserObjectCreate", &object, nothing, end, 1u, 0u), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(call("cuUserObjectCreate", &object, nothing, end, 1u, 1u), CUDA_SUCCESS);
  ASSERT_EQ(call("cuGraphRetainUserObject", graph, object, 1u, 1u), CUDA_SUCCESS);
  ASSERT_EQ(call("cuGraphClone", &clone, graph), CUDA_SUCCESS);
  ASSERT_EQ(call("cuGraphInstantiateWithFlags", &exec, graph, 0ull), CUDA_SUCCESS);
  EXPECT_EQ(call("cuGraphDestroy", graph), CUDA_SUCCESS);
  EXPECT_EQ(call("cuGraphDestroy", clone), CUDA_SUCCESS);
  EXPECT_EQ(ended, 0) << "what executes the graph keeps it";
  EXPECT_EQ(call("cuGraphExecDestroy", exec), CUDA_SUCCESS);
  EXPECT_EQ(ended, 1);
  EXPECT_EQ(call("cuUserObjectRelease", object, 1u), CUDA_ERROR_INVALID_VALUE) << "it is gone";
  ASSERT_EQ(call("cuUserObjectCreate", &object, nothing, end, 2u, 1u), CUDA_SUCCESS);
  EXPECT_EQ(call("cuUserObjectRetain", object, 1u), CUDA_SUCCESS);
  EXPECT_EQ(call("cuUserObjectRelease", object, 3u), CUDA_SUCCESS);
  EXPECT_EQ(ended, 2);
}

}  // namespace
}  // namespace tilescope
