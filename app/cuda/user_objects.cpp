// Objects of a program that graphs keep alive: each has a count, and ends when nobody refers to it
// any more (CUDA C++ Programming Guide, "CUDA User Objects").
#include "app/cuda/user_objects.h"

#include "app/cuda/connection.h"
#include "app/cuda/contexts.h"
#include "app/cuda/graphs.h"

struct CUuserObject_st {
  void* data = nullptr;
  CUhostFn end = nullptr;
  std::uint64_t count = 0;
};

namespace tilescope::standin {

void UserObjects::add(CUuserObject object, std::uint64_t count) {
  all_[object] += count;
}
bool UserObjects::remove(CUuserObject object, std::uint64_t count) {
  const auto found = all_.find(object);
  if (found == all_.end() || found->second < count) return false;
  found->second -= count;
  if (found->second == 0) all_.erase(found);
  release(object, count);
  return true;
}
UserObjects::UserObjects(const UserObjects& other) : all_(other.all_) {
  for (const auto& [object, count] : all_) object->count += count;
}
UserObjects& UserObjects::operator=(UserObjects other) {
  all_.swap(other.all_);
  return *this;
}
UserObjects::~UserObjects() {
  for (const auto& [object, count] : all_) release(object, count);
}

// What ends it may call nothing of CUDA, as a host function.
void UserObjects::release(CUuserObject object, std::uint64_t count) {
  object->count -= count;
  if (object->count) return;
  all_of<CUuserObject_st>().erase(object);
  const bool before = in_host_function();
  set_in_host_function(true);
  object->end(object->data);
  set_in_host_function(before);
  delete object;
}

TILESCOPE_CUDA cuUserObjectCreate(CUuserObject* object, void* data, CUhostFn end, unsigned count,
                                  unsigned flags) {
  constexpr unsigned no_destructor_sync = 1;  // CU_USER_OBJECT_NO_DESTRUCTOR_SYNC: must be said
  if (!object || !end || count == 0 || count > 0x7fffffff || flags != no_destructor_sync) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const GraphsLock lock(graphs_mutex);
  *object = new CUuserObject_st{data, end, count};
  all_of<CUuserObject_st>().insert(*object);
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuUserObjectRetain(CUuserObject object, unsigned count) {
  const GraphsLock lock(graphs_mutex);
  if (!is_known(object) || count == 0) return CUDA_ERROR_INVALID_VALUE;
  object->count += count;
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuUserObjectRelease(CUuserObject object, unsigned count) {
  const GraphsLock lock(graphs_mutex);
  if (!is_known(object) || count == 0 || count > object->count) return CUDA_ERROR_INVALID_VALUE;
  UserObjects::release(object, count);
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned count,
                                       unsigned flags) {
  constexpr unsigned move = 1;  // CU_GRAPH_USER_OBJECT_MOVE: the caller's become the graph's
  const GraphsLock lock(graphs_mutex);
  if (!is_known(graph) || !is_known(object) || count == 0 || flags > move) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (flags != move) object->count += count;
  graph->objects.add(object, count);
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned count) {
  const GraphsLock lock(graphs_mutex);
  if (!is_known(graph) || !is_known(object) || count == 0) return CUDA_ERROR_INVALID_VALUE;
  return graph->objects.remove(object, count) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace tilescope::standin
