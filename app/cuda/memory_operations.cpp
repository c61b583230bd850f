// Stream memory operations: a stream writes a value, or waits for one.
//
// A wait for what is there already takes no time; for what is not, it is done like a host function
// (host_work.h): the stream is behind until another one, or the host, has written it.
#include <atomic>
#include <chrono>
#include <thread>

#include "app/cuda/connection.h"
#include "app/cuda/graphs.h"
#include "app/cuda/guard.h"
#include "app/cuda/memory.h"

namespace tilescope::standin {
namespace {

using Operation = CUstreamBatchMemOpParams;

// CU_STREAM_WAIT_VALUE_...
enum Condition : unsigned { at_least = 0, equal = 1, some_bits = 2, not_all_bits = 3 };
constexpr unsigned condition_bits = 3, flush = 1u << 30;
// As an H200's driver answered (580.159): of 256 operations it takes none.
constexpr unsigned most_operations = 255;

bool is_wait(const Operation& o) {
  return o.operation == wait_value_32 || o.operation == wait_value_64;
}
unsigned width_of(const Operation& o) {
  return o.operation == wait_value_32 || o.operation == write_value_32 ? 4 : 8;
}

// Managed memory is none for them, as measured on an H200.
bool is_for_them(std::uint64_t address, unsigned width) {
  if (!address || address % width) return false;
  const auto block = host_block(address);
  return block ? !block->managed : wire::on_device(address);
}

CUresult look_at(const Operation& o) {
  switch (o.operation) {
    case wait_value_32:
    case wait_value_64:
      if (o.flags & flush) return CUDA_ERROR_NOT_SUPPORTED;  // of remote writes: as an H200 answers
      if (o.flags & ~condition_bits) return CUDA_ERROR_INVALID_VALUE;
      break;
    case write_value_32:
    case write_value_64:
      if (o.flags) return CUDA_ERROR_INVALID_VALUE;
      break;
    case memory_barrier:
      return o.barrier > 1 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
  return is_for_them(o.address, width_of(o)) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult value_at(const Operation& o, unsigned long long& value) {
  const unsigned width = width_of(o);
  if (!host_block(o.address)) {
    return Question(Call::value_read).with(std::uint64_t{o.address}).with(width).ask(&value);
  }
  let_in(o.address, o.address + width);
  value = width == 4 ? std::atomic_ref(*reinterpret_cast<std::uint32_t*>(o.address)).load()
                     : std::atomic_ref(*reinterpret_cast<unsigned long long*>(o.address)).load();
  return CUDA_SUCCESS;
}

// CUDA Driver API, CUstreamWaitValue_flags: comparisons go around.
template <class Unsigned, class Signed>
bool holds(unsigned condition, Unsigned value, Unsigned asked) {
  switch (condition) {
    case at_least:
      return static_cast<Signed>(value - asked) >= 0;
    case equal:
      return value == asked;
    case some_bits:
      return (value & asked) != 0;
    default:
      return static_cast<Unsigned>(~(value | asked)) != 0;
  }
}
CUresult is_met(const Operation& o, bool& met) {
  unsigned long long value = 0;
  if (const CUresult wrong = value_at(o, value)) return wrong;
  met = width_of(o) == 4
            ? holds<std::uint32_t, std::int32_t>(o.flags, static_cast<std::uint32_t>(value),
                                                 static_cast<std::uint32_t>(o.value))
            : holds<unsigned long long, long long>(o.flags, value, o.value);
  return CUDA_SUCCESS;
}

CUresult write(const Operation& o, CUstream stream) {
  unsigned width = width_of(o);
  if (host_block(o.address)) {
    let_in(o.address, o.address + width);
    if (width == 4) {
      std::atomic_ref(*reinterpret_cast<std::uint32_t*>(o.address))
          .store(static_cast<std::uint32_t>(o.value));
    } else {
      std::atomic_ref(*reinterpret_cast<unsigned long long*>(o.address)).store(o.value);
    }
    width = 0;
  }
  return Question(Call::value_write)
      .with(std::uint64_t{o.address})
      .with(std::uint64_t{o.value})
      .with(width)
      .with(number_of(stream))
      .ask();
}

// Until it is met.
CUresult wait(const Operation& o, CUstream stream) {
  for (bool met = false;;) {
    if (const CUresult wrong = is_met(o, met)) return wrong;
    if (met) break;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  return Question(Call::value_wait).with(std::uint64_t{o.address}).with(number_of(stream)).ask();
}

// How many of them can be done now.
CUresult do_what_is_met(const std::vector<Operation>& all, CUstream stream, std::size_t& done) {
  for (done = 0; done < all.size(); ++done) {
    const Operation& o = all[done];
    bool met = true;
    if (is_wait(o)) {
      if (const CUresult wrong = is_met(o, met)) return wrong;
    }
    if (!met) break;
    if (const CUresult wrong = BatchWork{{o}}(stream)) return wrong;
  }
  return CUDA_SUCCESS;
}

CUresult give_batch(CUstream stream, std::vector<Operation> all) {
  if (!is_connected()) return CUDA_ERROR_NOT_INITIALIZED;
  for (const Operation& o : all) {
    if (const CUresult wrong = look_at(o)) return wrong;
  }
  if (is_captured(stream)) return take_down(stream, NodeKind::batch, BatchWork{std::move(all)});
  if (const CUresult wrong = waits_for_captured(stream)) return wrong;
  if (in_host_function()) return CUDA_ERROR_NOT_PERMITTED;
  const CUstream own = own_stream(stream);
  if (!is_behind(own)) {
    std::size_t done = 0;
    if (const CUresult wrong = do_what_is_met(all, own, done)) return wrong;
    all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(done));
    if (all.empty()) return CUDA_SUCCESS;
  }
  do_later(own, [own, batch = BatchWork{std::move(all)}] { return batch(own); });
  return CUDA_SUCCESS;
}

Operation operation(CUstreamBatchMemOpType type, CUdeviceptr address, unsigned long long value,
                    unsigned flags) {
  Operation out{};
  out.operation = type, out.address = address, out.value = value, out.flags = flags;
  return out;
}

struct BatchNode {  // CUDA_BATCH_MEM_OP_NODE_PARAMS
  CUcontext context;
  unsigned count;
  Operation* operations;
  unsigned flags;
};
CUresult work_of(const BatchNode* node, NodeWork& out) {
  if (!node || node->flags || node->count > most_operations || (node->count && !node->operations)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  BatchWork work{{node->operations, node->operations + node->count}};
  for (const Operation& o : work.operations) {
    if (const CUresult wrong = look_at(o)) return wrong;
  }
  out = std::move(work);
  return CUDA_SUCCESS;
}
bool is_batch(CUgraphNode node) {
  return is_known(node) && node->kind == NodeKind::batch;
}

}  // namespace

CUresult BatchWork::operator()(CUstream stream) const {
  for (const Operation& o : operations) {
    if (o.operation == memory_barrier) continue;  // each is seen by what comes behind it
    if (const CUresult wrong = is_wait(o) ? wait(o, stream) : write(o, stream)) return wrong;
  }
  return CUDA_SUCCESS;
}

TILESCOPE_CUDA cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, unsigned value,
                                      unsigned flags) {
  return give_batch(stream, {operation(wait_value_32, address, value, flags)});
}
TILESCOPE_CUDA cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr address,
                                      unsigned long long value, unsigned flags) {
  return give_batch(stream, {operation(wait_value_64, address, value, flags)});
}
TILESCOPE_CUDA cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, unsigned value,
                                       unsigned flags) {
  return give_batch(stream, {operation(write_value_32, address, value, flags)});
}
TILESCOPE_CUDA cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr address,
                                       unsigned long long value, unsigned flags) {
  return give_batch(stream, {operation(write_value_64, address, value, flags)});
}
TILESCOPE_CUDA cuStreamBatchMemOp_v2(CUstream stream, unsigned count, Operation* operations,
                                     unsigned flags) {
  if (flags || count > most_operations || (count && !operations)) return CUDA_ERROR_INVALID_VALUE;
  return give_batch(stream, {operations, operations + count});
}

// ---- as nodes of graphs -------------------------------------------------------------------------

TILESCOPE_CUDA cuGraphAddBatchMemOpNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* behind,
                                        std::size_t count, const BatchNode* node) {
  const GraphsLock lock(graphs_mutex);
  NodeWork work;
  std::vector<Edge> edges;
  if (!out || !is_known(graph)) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult wrong = work_of(node, work)) return wrong;
  if (const CUresult wrong = edges_from(graph, behind, nullptr, count, edges)) return wrong;
  *out = add_node(graph, NodeKind::batch, std::move(work), std::move(edges));
  return CUDA_SUCCESS;
}
// The operations are the node's, as long as it is not changed.
TILESCOPE_CUDA cuGraphBatchMemOpNodeGetParams(CUgraphNode node, BatchNode* out) {
  const GraphsLock lock(graphs_mutex);
  if (!out || !is_batch(node)) return CUDA_ERROR_INVALID_VALUE;
  auto& own = std::get<BatchWork>(node->work).operations;
  *out = {current_context(), static_cast<unsigned>(own.size()), own.data(), 0};
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuGraphBatchMemOpNodeSetParams(CUgraphNode node, const BatchNode* how) {
  const GraphsLock lock(graphs_mutex);
  return is_batch(node) ? work_of(how, node->work) : CUDA_ERROR_INVALID_VALUE;
}
TILESCOPE_CUDA cuGraphExecBatchMemOpNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                  const BatchNode* how) {
  const GraphsLock lock(graphs_mutex);
  NodeWork* const own = work_in(exec, node, NodeKind::batch);
  return own ? work_of(how, *own) : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace tilescope::standin
