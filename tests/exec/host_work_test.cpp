// Host functions, which have a thread of their own, and values that streams write and wait for.
#include <fstream>
#include <mutex>
#include <sstream>

#include "tests/exec/standin.h"

namespace tilescope {
namespace {

using Node = struct CUgraphNode_st*;
using Exec = struct CUgraphExec_st*;

constexpr unsigned at_least = 0, equal = 1, some_bits = 2, not_all_bits = 3;  // CU_STREAM_WAIT_...

class HostWork : public StandIn {
 protected:
  void SetUp() override { begin(); }
  CUstream stream(unsigned flags = 1) {
    CUstream out = nullptr;
    EXPECT_EQ(call("cuStreamCreate", &out, flags), CUDA_SUCCESS);
    return out;
  }
  CUevent event() {
    CUevent out = nullptr;
    EXPECT_EQ(call("cuEventCreate", &out, 0u), CUDA_SUCCESS);
    return out;
  }
  CUresult synchronize(CUstream of) { return call("cuStreamSynchronize", of); }
  template <class T>
  CUresult run(CUstream in, void (*function)(void*), T& data) {
    return call("cuLaunchHostFunc", in, static_cast<CUhostFn>(function), static_cast<void*>(&data));
  }
  int* pinned(int count) {
    void* out = nullptr;
    EXPECT_EQ(call("cuMemHostAlloc", &out, static_cast<std::size_t>(count) * 4, 0u), CUDA_SUCCESS);
    pinned_.push_back(out);
    return static_cast<int*>(out);
  }
  // Another test of this process has its memory there.
  void TearDown() override {
    for (void* each : pinned_) EXPECT_EQ(call("cuMemFreeHost", each), CUDA_SUCCESS);
  }
  std::vector<void*> pinned_;
};

// As on an H200: in another thread, behind what came before, and before what comes behind, though
// the calling thread goes on at once.
TEST_F(HostWork, AFunctionMayWaitForWhatTheCallerDoesLater) {
  struct Facts {
    std::atomic<bool> go{false};
    const int* seen = nullptr;
    int first = 0;
    std::thread::id thread;
  } facts;
  const CUdeviceptr data = words(64);
  int* const host = pinned(64);
  facts.seen = host;
  const CUstream one = stream(), other = stream();
  const CUevent done = event();
  EXPECT_EQ(launch(data, 64, 1, one), CUDA_SUCCESS);
  EXPECT_EQ(call("cuMemcpyDtoHAsync_v2", static_cast<void*>(host), data, std::size_t{256}, one),
            CUDA_SUCCESS);
  EXPECT_EQ(run(
                one,
                [](void* at) {
                  Facts& f = *static_cast<Facts*>(at);
                  while (!f.go) std::this_thread::yield();
                  f.first = f.seen[0];
                  f.thread = std::this_thread::get_id();
                },
                facts),
            CUDA_SUCCESS);
  EXPECT_EQ(launch(data, 64, 10, one), CUDA_SUCCESS);
  EXPECT_EQ(call("cuMemcpyDtoHAsync_v2", static_cast<void*>(host), data, std::size_t{256}, one),
            CUDA_SUCCESS);
  EXPECT_EQ(call("cuEventRecord", done, one), CUDA_SUCCESS);
  EXPECT_EQ(call("cuStreamWaitEvent", other, done, 0u), CUDA_SUCCESS);
  EXPECT_EQ(launch(data, 64, 100, other), CUDA_SUCCESS);
  EXPECT_EQ(host[0], 1) << "what is behind the function is not done yet";
  EXPECT_EQ(call("cuStreamQuery", one), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(call("cuStreamQuery", other), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(call("cuEventQuery", done), CUDA_ERROR_NOT_READY);
  facts.go = true;
  EXPECT_EQ(call("cuEventSynchronize", done), CUDA_SUCCESS);
  EXPECT_EQ(host[0], 11);
  EXPECT_EQ(facts.first, 1) << "the function saw what was before it, and nothing behind";
  EXPECT_NE(facts.thread, std::this_thread::get_id());
  EXPECT_EQ(synchronize(other), CUDA_SUCCESS);
  EXPECT_EQ(read(data, 1)[0], 111);
  EXPECT_EQ(told("stream_race"), 0u) << "all of it was in order";
  EXPECT_EQ(call("cuEventQuery", done), CUDA_SUCCESS);
  EXPECT_EQ(call("cuStreamQuery", one), CUDA_SUCCESS);
}

// By whom it is told: the host, which nothing else has told that the first stream is done.
TEST_F(HostWork, WhatTheHostAsksForBehindItIsBehindItsStream) {
  std::atomic<bool> done{false};
  const CUdeviceptr data = words(64);
  const CUstream one = stream(), other = stream();
  EXPECT_EQ(launch(data, 64, 1, one), CUDA_SUCCESS);
  EXPECT_EQ(run(
                one, [](void* at) { *static_cast<std::atomic<bool>*>(at) = true; }, done),
            CUDA_SUCCESS);
  while (!done) std::this_thread::yield();
  EXPECT_EQ(launch(data, 64, 1, other), CUDA_SUCCESS);
  EXPECT_EQ(told("stream_race"), 0u);
  EXPECT_EQ(launch(data, 64, 1, one), CUDA_SUCCESS);
  EXPECT_GT(told("stream_race"), 0u) << "nobody has told of the second";
}

TEST_F(HostWork, WhatEndsWaitsForWhatIsBehind) {
  const CUdeviceptr data = words(64);
  int* const host = pinned(64);
  const CUstream one = stream();
  std::atomic<bool> go{false};
  const auto wait = [](void* at) {
    while (!*static_cast<std::atomic<bool>*>(at)) std::this_thread::yield();
  };
  const auto behind = [&] {
    go = false;
    EXPECT_EQ(run(one, wait, go), CUDA_SUCCESS);
    EXPECT_EQ(launch(data, 64, 1, one), CUDA_SUCCESS);
    EXPECT_EQ(call("cuMemcpyDtoHAsync_v2", static_cast<void*>(host), data, std::size_t{256}, one),
              CUDA_SUCCESS);
    return std::thread([&] {
      ::usleep(20000);
      go = true;
    });
  };
  std::thread later = behind();
  CUdeviceptr other = words(1);
  EXPECT_EQ(call("cuMemFree_v2", other), CUDA_SUCCESS);
  EXPECT_EQ(host[0], 1);
  later.join();
  later = behind();
  EXPECT_EQ(call("cuModuleUnload", module_), CUDA_SUCCESS);
  EXPECT_EQ(host[0], 2) << "the kernel was there";
  later.join();
}

TEST_F(HostWork, AFunctionMayTakeWhatTheCallerHolds) {
  std::mutex mutex;
  const CUstream one = stream();
  {
    const std::lock_guard lock(mutex);
    EXPECT_EQ(run(
                  one, [](void* at) { std::lock_guard own(*static_cast<std::mutex*>(at)); }, mutex),
              CUDA_SUCCESS);
  }
  EXPECT_EQ(synchronize(one), CUDA_SUCCESS);
}

// CUDA Driver API, "Stream synchronization behavior": the legacy default stream waits for those
// that block, and they for it; others go on.
TEST_F(HostWork, OtherStreamsComeBehindItWhereTheyWouldWait) {
  std::atomic<bool> go{false};
  const auto wait = [](void* at) {
    while (!*static_cast<std::atomic<bool>*>(at)) std::this_thread::yield();
  };
  const CUdeviceptr data = words(64), free = words(64);
  const CUstream blocking = stream(0), apart = stream(1);
  int* const host = pinned(64);
  EXPECT_EQ(run(blocking, wait, go), CUDA_SUCCESS);
  EXPECT_EQ(launch(data, 64, 1), CUDA_SUCCESS) << "in the default stream";
  EXPECT_EQ(call("cuStreamQuery", CUstream{}), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(launch(free, 64, 5, apart), CUDA_SUCCESS);
  EXPECT_EQ(call("cuMemcpyDtoHAsync_v2", static_cast<void*>(host), free, std::size_t{256}, apart),
            CUDA_SUCCESS);
  EXPECT_EQ(synchronize(apart), CUDA_SUCCESS);
  EXPECT_EQ(host[0], 5);
  go = true;
  EXPECT_EQ(call("cuCtxSynchronize"), CUDA_SUCCESS);
  EXPECT_EQ(read(data, 1)[0], 1);
}

// As an H200 answers: in a callback its stream is not ready.
TEST_F(HostWork, ACallbackIsToldThatItsStreamIsNotReady) {
  static CUresult (*query)(CUstream) = nullptr;
  static std::atomic<int> answered{-1};
  query = reinterpret_cast<decltype(query)>(::dlsym(library_, "cuStreamQuery"));
  const CUstreamCallback callback = [](CUstream of, CUresult, void*) { answered = query(of); };
  const CUstream one = stream();
  EXPECT_EQ(call("cuStreamAddCallback", one, callback, static_cast<void*>(nullptr), 0u),
            CUDA_SUCCESS);
  EXPECT_EQ(synchronize(one), CUDA_SUCCESS);
  EXPECT_EQ(answered, CUDA_ERROR_NOT_READY);
}

// The graph may be changed and end meanwhile: what was launched is what it was.
TEST_F(HostWork, AFunctionInAGraphWaitsAsWell) {
  struct HostParams {  // CUDA_HOST_NODE_PARAMS
    CUhostFn function;
    void* data;
  };
  std::atomic<int> step{0};
  CUgraph graph = nullptr;
  Exec exec = nullptr;
  Node node = nullptr;
  const HostParams how{[](void* at) {
                         auto& own = *static_cast<std::atomic<int>*>(at);
                         while (own == 0) std::this_thread::yield();
                         ++own;
                       },
                       &step};
  ASSERT_EQ(call("cuGraphCreate", &graph, 0u), CUDA_SUCCESS);
  ASSERT_EQ(call("cuGraphAddHostNode", &node, graph, static_cast<const Node*>(nullptr),
                 std::size_t{0}, &how),
            CUDA_SUCCESS);
  ASSERT_EQ(call("cuGraphInstantiateWithFlags", &exec, graph, 0ull), CUDA_SUCCESS);
  const CUstream one = stream();
  EXPECT_EQ(call("cuGraphLaunch", exec, one), CUDA_SUCCESS);
  EXPECT_EQ(step, 0);
  step = 1;
  EXPECT_EQ(call("cuGraphExecDestroy", exec), CUDA_SUCCESS);
  EXPECT_EQ(synchronize(one), CUDA_SUCCESS);
  EXPECT_EQ(step, 2);
}

// ---- values -------------------------------------------------------------------------------------

TEST_F(HostWork, AStreamWaitsUntilAnotherHasWritten) {
  const CUdeviceptr data = words(64), flag = words(4);
  const CUstream one = stream(), other = stream();
  EXPECT_EQ(call("cuStreamWaitValue32_v2", one, flag, 7u, equal), CUDA_SUCCESS);
  EXPECT_EQ(launch(data, 64, 1, one), CUDA_SUCCESS);
  EXPECT_EQ(call("cuStreamQuery", one), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(launch(data, 64, 10, other), CUDA_SUCCESS);
  EXPECT_EQ(call("cuStreamWriteValue32_v2", other, flag, 7u, 0u), CUDA_SUCCESS);
  EXPECT_EQ(synchronize(one), CUDA_SUCCESS);
  EXPECT_EQ(read(data, 1)[0], 11);
  EXPECT_EQ(told("stream_race"), 0u) << "the value has put the one behind the other";
  // And without it there is no order.
  EXPECT_EQ(launch(data, 64, 1, other), CUDA_SUCCESS);
  EXPECT_EQ(launch(data, 64, 1, one), CUDA_SUCCESS);
  EXPECT_GT(told("stream_race"), 0u);
}

TEST_F(HostWork, AStreamWaitsUntilTheHostHasWritten) {
  int* const flag = pinned(4);
  const CUdeviceptr at = reinterpret_cast<CUdeviceptr>(flag);
  const CUstream one = stream();
  flag[0] = 0;
  flag[1] = flag[2] = 0;
  EXPECT_EQ(call("cuStreamWaitValue32_v2", one, at, 3u, at_least), CUDA_SUCCESS);
  EXPECT_EQ(call("cuStreamWriteValue64_v2", one, at + 8, 1ull << 40, 0u), CUDA_SUCCESS);
  EXPECT_EQ(call("cuStreamQuery", one), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(flag[3], 0);
  std::atomic_ref(flag[0]).store(4);
  EXPECT_EQ(call("cuStreamWaitValue64_v2", one, at + 8, 1ull << 40, equal), CUDA_SUCCESS);
  EXPECT_EQ(synchronize(one), CUDA_SUCCESS);
  EXPECT_EQ(flag[3], 1 << 8);
}

// CUDA Driver API, CUstreamWaitValue_flags; each is met by 5.
TEST_F(HostWork, ConditionsAreTheDrivers) {
  const CUdeviceptr flag = words(4);
  const CUstream one = stream();
  const auto waits = [&](unsigned value, unsigned how) {
    EXPECT_EQ(call("cuStreamWriteValue32_v2", one, flag, 5u, 0u), CUDA_SUCCESS);
    EXPECT_EQ(call("cuStreamWaitValue32_v2", one, flag, value, how), CUDA_SUCCESS);
    const bool out = call("cuStreamQuery", one) == CUDA_ERROR_NOT_READY;
    // Whatever it waits for, one of these is it.
    for (const unsigned end : {value, ~value, 0u, ~0u}) {
      call("cuStreamWriteValue32_v2", CUstream{}, flag, end, 0u);
      for (int i = 0; i < 100 && call("cuStreamQuery", one) != CUDA_SUCCESS; ++i) ::usleep(1000);
      if (call("cuStreamQuery", one) == CUDA_SUCCESS) break;
    }
    EXPECT_EQ(synchronize(one), CUDA_SUCCESS);
    return out;
  };
  EXPECT_FALSE(waits(5, equal));
  EXPECT_TRUE(waits(6, equal));
  EXPECT_FALSE(waits(5, at_least));
  EXPECT_TRUE(waits(6, at_least));
  EXPECT_FALSE(waits(0xffff'fff0, at_least)) << "they go around";
  EXPECT_FALSE(waits(4, some_bits));
  EXPECT_TRUE(waits(2, some_bits));
  EXPECT_FALSE(waits(0xffff'fff0, not_all_bits));
  EXPECT_TRUE(waits(0xffff'fffa, not_all_bits));
}

// What an H200 answered (driver 580.159, CUDA 13.0).
TEST_F(HostWork, WhatIsNoValueToWriteOrToWaitForIsRefused) {
  const CUdeviceptr flag = words(4);
  const CUstream one = stream();
  const auto write32 = [&](CUdeviceptr at, unsigned flags) {
    return call("cuStreamWriteValue32_v2", one, at, 5u, flags);
  };
  const auto wait32 = [&](CUdeviceptr at, unsigned flags) {
    return call("cuStreamWaitValue32_v2", one, at, 0u, flags);
  };
  EXPECT_EQ(write32(flag + 2, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(call("cuStreamWriteValue64_v2", one, flag + 4, 5ull, 0u), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(wait32(flag + 2, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(write32(0, 0), CUDA_ERROR_INVALID_VALUE);
  int here = 0;
  EXPECT_EQ(write32(reinterpret_cast<CUdeviceptr>(&here), 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(write32(flag, 8), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(write32(flag, 1), CUDA_ERROR_INVALID_VALUE) << "NO_MEMORY_BARRIER";
  EXPECT_EQ(wait32(flag, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(wait32(flag, 32), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(wait32(flag, 1u << 30), CUDA_ERROR_NOT_SUPPORTED) << "FLUSH";
  CUdeviceptr managed = 0;
  ASSERT_EQ(call("cuMemAllocManaged", &managed, std::size_t{64}, 1u), CUDA_SUCCESS);
  EXPECT_EQ(write32(managed, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(call("cuMemFree_v2", managed), CUDA_SUCCESS);
}

TEST_F(HostWork, ABatchIsDoneInItsOrderAlsoAsANode) {
  const CUdeviceptr flag = words(4);
  const CUstream one = stream();
  std::vector<CUstreamBatchMemOpParams> all(300);
  all[0].operation = write_value_32, all[0].address = flag, all[0].value = 11;
  all[1].operation = wait_value_32, all[1].address = flag, all[1].value = 11;
  all[1].flags = equal;
  all[2].operation = memory_barrier;
  const auto batch = [&](unsigned count, unsigned flags = 0) {
    return call("cuStreamBatchMemOp_v2", one, count, all.data(), flags);
  };
  EXPECT_EQ(batch(3), CUDA_SUCCESS);
  EXPECT_EQ(batch(0), CUDA_SUCCESS);
  EXPECT_EQ(batch(3, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(batch(256), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(synchronize(one), CUDA_SUCCESS);
  EXPECT_EQ(read(flag, 1)[0], 11);
  auto wrong = all[0];
  wrong.operation = static_cast<CUstreamBatchMemOpType>(77);
  EXPECT_EQ(call("cuStreamBatchMemOp_v2", one, 1u, &wrong, 0u), CUDA_ERROR_INVALID_VALUE);

  CUgraph graph = nullptr;
  Exec exec = nullptr;
  Node node = nullptr;
  std::size_t nodes = 1;
  int type = 0;
  EXPECT_EQ(call("cuMemsetD32_v2", flag, 0u, std::size_t{1}), CUDA_SUCCESS);
  ASSERT_EQ(call("cuStreamBeginCapture_v2", one, 0), CUDA_SUCCESS);
  EXPECT_EQ(batch(2), CUDA_SUCCESS);
  ASSERT_EQ(call("cuStreamEndCapture", one, &graph), CUDA_SUCCESS);
  EXPECT_EQ(read(flag, 1)[0], 0);
  ASSERT_EQ(call("cuGraphGetNodes", graph, &node, &nodes), CUDA_SUCCESS);
  EXPECT_EQ(call("cuGraphNodeGetType", node, &type), CUDA_SUCCESS);
  EXPECT_EQ(type, 12);
  ASSERT_EQ(call("cuGraphInstantiateWithFlags", &exec, graph, 0ull), CUDA_SUCCESS);
  EXPECT_EQ(call("cuGraphLaunch", exec, one), CUDA_SUCCESS);
  EXPECT_EQ(synchronize(one), CUDA_SUCCESS);
  EXPECT_EQ(read(flag, 1)[0], 11);
}

// What an H200's driver wrote of such a graph, but for the graph's number.
TEST_F(HostWork, AGraphIsPrintedAsADriverPrintsIt) {
  struct FillParams {  // CUDA_MEMSET_NODE_PARAMS
    CUdeviceptr to;
    std::size_t pitch;
    unsigned value, width;
    std::size_t count, rows;
  };
  struct HostParams {
    CUhostFn function;
    void* data;
  };
  CUgraph graph = nullptr;
  Node empty = nullptr, fill = nullptr, host = nullptr;
  CUcontext context = nullptr;
  const FillParams filling{words(4), 0, 0, 4, 4, 1};
  const HostParams function{[](void*) {}, nullptr};
  ASSERT_EQ(call("cuGraphCreate", &graph, 0u), CUDA_SUCCESS);
  ASSERT_EQ(
      call("cuGraphAddEmptyNode", &empty, graph, static_cast<const Node*>(nullptr), std::size_t{0}),
      CUDA_SUCCESS);
  ASSERT_EQ(call("cuGraphAddMemsetNode", &fill, graph, static_cast<const Node*>(&empty),
                 std::size_t{1}, &filling, context),
            CUDA_SUCCESS);
  ASSERT_EQ(call("cuGraphAddHostNode", &host, graph, static_cast<const Node*>(&fill),
                 std::size_t{1}, &function),
            CUDA_SUCCESS);
  const std::string path = (scratch_.folder() / "graph.dot").string();
  EXPECT_EQ(call("cuGraphDebugDotPrint", graph, path.c_str(), 0u), CUDA_SUCCESS);
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(),
            "digraph dot {\nsubgraph cluster_1 {\nlabel=\"graph_1\" graph[style=\"dashed\"];\n"
            "\"graph_1_node_0\"[style=\"solid\" shape=\"rectangle\" label=\"0\nEMPTY\n\"];\n\n"
            "\"graph_1_node_1\"[style=\"solid\" shape=\"invtrapezium\" label=\"1\nMEMSET\n(0,16)\n"
            "\"];\n\n"
            "\"graph_1_node_2\"[style=\"solid\" shape=\"rectangle\" label=\"2\nHOST\n\"];\n\n"
            "\"graph_1_node_0\" -> \"graph_1_node_1\";\n\"graph_1_node_1\" -> \"graph_1_node_2\";\n"
            "}\n}\n");
  EXPECT_EQ(call("cuGraphDebugDotPrint", graph, "/nonexistent/a.dot", 0u),
            CUDA_ERROR_OPERATING_SYSTEM);
}

}  // namespace
}  // namespace tilescope
