// Memory: the device's, and the host's that it can reach. What goes to and fro: copies.cpp.
#include "app/cuda/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "app/cuda/callers.h"
#include "app/cuda/connection.h"
#include "app/cuda/contexts.h"
#include "app/cuda/graphs.h"
#include "app/cuda/guard.h"
#include "app/cuda/pools.h"

namespace tilescope::standin {
namespace {

std::mutex blocks_mutex;
std::map<std::uint64_t, HostBlock>& blocks() {  // by their first address
  static auto* const all = new std::map<std::uint64_t, HostBlock>;
  return *all;
}

constexpr std::uint64_t page = 4096;
constexpr std::uint64_t round_up(std::uint64_t bytes) {
  return (bytes + page - 1) / page * page;
}

// Forgets the block that begins so; what the program has there stays where it is only `kept`.
bool forget(std::uint64_t address, bool kept) {
  const std::lock_guard lock(blocks_mutex);
  const auto found = blocks().find(address);
  if (found == blocks().end()) return false;
  if (!kept) ::munmap(reinterpret_cast<void*>(address), round_up(found->second.bytes));
  blocks().erase(found);
  return true;
}

// What nodes of graphs have allocated and nobody has given back yet, by address; and what a driver
// says of it (an H200, CUDA 13.0): it has memory for them in pieces of 32 MiB, which count as used
// and as reserved, given back or not, until it is trimmed.
struct GraphMemory {
  std::map<std::uint64_t, std::uint64_t> there;
  std::uint64_t live = 0;                                  // bytes
  std::uint64_t held = 0, most = 0, most_of_reserved = 0;  // bytes

  std::uint64_t needed() const {
    constexpr std::uint64_t piece = std::uint64_t{32} << 20;
    return (live + piece - 1) / piece * piece;
  }
  void add(std::uint64_t address, std::uint64_t bytes) {
    there[address] = bytes;
    live += bytes;
    held = std::max(held, needed());
    most = std::max(most, held), most_of_reserved = std::max(most_of_reserved, held);
  }
  void remove(std::uint64_t address) {
    const auto found = there.find(address);
    if (found == there.end()) return;
    live -= found->second;
    there.erase(found);
  }
};
std::mutex graph_memory_mutex;
GraphMemory& graph_memory() {
  static auto* const all = new GraphMemory;
  return *all;
}

CUresult release(std::uint64_t address, CUstream stream, wire::Turn turn) {
  const bool waits = turn == wire::Turn::waits;
  if (waits) {
    if (catch_up_all() == CUDA_ERROR_NOT_PERMITTED) return CUDA_ERROR_NOT_PERMITTED;
  }
  if (const auto block = host_block(address)) let_in(block->begin, block->begin + block->bytes);
  forget(address, false);
  gave_to_pool(address);
  {
    const std::lock_guard lock(graph_memory_mutex);
    graph_memory().remove(address);
  }
  return Question(Call::release).with(address).with(number_of(stream)).with(turn).ask();
}

// Memory in a file that `tilescope` shares: at its own address on the device, or in the place of
// what is there (`at`: a page's beginning), with its bytes.
CUresult share(std::uint64_t& address, std::uint64_t bytes, std::uint64_t at, bool managed,
               unsigned flags) {
  Question question(Call::allocate_host);
  question.with(bytes).with(at).with(static_cast<std::uint8_t>(managed)).with_text(callers());
  if (const CUresult result = question.ask(&address)) return result;
  const int file = question.file();
  bool good = file >= 0;
  const auto map = [&] {
    for (std::uint64_t done = 0; good && at && done < bytes;) {
      const ssize_t n = ::pwrite(file, reinterpret_cast<const void*>(at + done), bytes - done,
                                 static_cast<off_t>(done));
      good = n > 0;
      done += static_cast<std::uint64_t>(std::max<ssize_t>(n, 0));
    }
    if (!good) return;
    const int place = at ? MAP_FIXED : MAP_FIXED_NOREPLACE;
    good = ::mmap(reinterpret_cast<void*>(address), round_up(bytes), PROT_READ | PROT_WRITE,
                  MAP_SHARED | place, file, 0) == reinterpret_cast<void*>(address);
  };
  // The pages may be those of our own stack: somebody else puts others in their place.
  if (at) {
    std::thread(map).join();
  } else {
    map();
  }
  if (file >= 0) ::close(file);
  if (!good) {
    release(address, nullptr, wire::Turn::none);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  const std::lock_guard lock(blocks_mutex);
  const CUcontext context = current_context();
  blocks()[address] = {address, bytes, managed, flags, context ? context->id : 0};
  return CUDA_SUCCESS;
}

}  // namespace

CUresult share_variable(std::uint64_t address, std::uint64_t bytes, int file) {
  const bool known = host_block(address).has_value();
  const bool good =
      known || (file >= 0 && ::mmap(reinterpret_cast<void*>(address), round_up(bytes),
                                    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, file,
                                    0) == reinterpret_cast<void*>(address));
  if (file >= 0) ::close(file);
  if (!good) return CUDA_ERROR_OUT_OF_MEMORY;
  const std::lock_guard lock(blocks_mutex);
  if (!known) blocks()[address] = {address, bytes, true, 1, 0};  // CU_MEM_ATTACH_GLOBAL
  return CUDA_SUCCESS;
}
void forget_variable(std::uint64_t address) {
  forget(address, false);
}

std::optional<HostBlock> host_block(std::uint64_t address) {
  const std::lock_guard lock(blocks_mutex);
  auto after = blocks().upper_bound(address);
  if (after == blocks().begin()) return {};
  const HostBlock& block = (--after)->second;
  if (address - block.begin >= block.bytes) return {};
  return block;
}

bool is_on_device(std::uint64_t address) {
  return wire::on_device(address) && !host_block(address);
}

// ---- to have and to give back -------------------------------------------------------------------

namespace {
CUresult allocate(CUdeviceptr* address, std::uint64_t bytes, CUstream stream,
                  wire::Turn turn = wire::Turn::none) {
  return Question(Call::allocate)
      .with(bytes)
      .with(std::uint64_t{0})
      .with(number_of(stream))
      .with(turn)
      .with_text(callers())
      .ask(address);
}
}  // namespace

// Addresses are never given out twice: one that was given back is free for a node.
CUresult address_for(std::uint64_t bytes, CUdeviceptr& address) {
  if (const CUresult wrong = allocate(&address, bytes, nullptr)) return wrong;
  return release(address, nullptr, wire::Turn::none);
}
CUresult allocate_there(const AllocationNode& node, CUstream stream) {
  std::uint64_t address = 0;
  const CUresult result = Question(Call::allocate)
                              .with(node.bytes)
                              .with(std::uint64_t{node.address})
                              .with(number_of(stream))
                              .with(wire::Turn::of_stream)
                              .with_text("")
                              .ask(&address);
  if (result) return result;
  const std::lock_guard lock(graph_memory_mutex);
  graph_memory().add(address, node.bytes);
  return CUDA_SUCCESS;
}
CUresult release_now(const ReleaseNode& node, CUstream stream) {
  return release(node.address, stream, wire::Turn::of_stream);
}

// CUgraphMem_attribute, from 0: used now and at most, reserved now and at most.
TILESCOPE_CUDA cuDeviceGetGraphMemAttribute(CUdevice device, int which, void* value) {
  if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
  if (!value || which < 0 || which > 3) return CUDA_ERROR_INVALID_VALUE;
  const std::lock_guard lock(graph_memory_mutex);
  const GraphMemory& memory = graph_memory();
  const std::uint64_t all[] = {memory.held, memory.most, memory.held, memory.most_of_reserved};
  std::memcpy(value, &all[which], sizeof all[which]);
  return CUDA_SUCCESS;
}
// The most can be set back, to what there is now, and nothing else be set.
TILESCOPE_CUDA cuDeviceSetGraphMemAttribute(CUdevice device, int which, const void* value) {
  std::uint64_t asked = 0;
  if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
  if (!value || (which != 1 && which != 3)) return CUDA_ERROR_INVALID_VALUE;
  std::memcpy(&asked, value, sizeof asked);
  if (asked) return CUDA_ERROR_INVALID_VALUE;
  const std::lock_guard lock(graph_memory_mutex);
  GraphMemory& memory = graph_memory();
  (which == 1 ? memory.most : memory.most_of_reserved) = memory.held;
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuDeviceGraphMemTrim(CUdevice device) {
  if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
  const std::lock_guard lock(graph_memory_mutex);
  graph_memory().held = graph_memory().needed();
  return CUDA_SUCCESS;
}

TILESCOPE_CUDA cuMemAllocFromPoolAsync(CUdeviceptr* address, std::size_t bytes, CUmemoryPool pool,
                                       CUstream stream) {
  if (!address || !is_pool(pool)) return CUDA_ERROR_INVALID_VALUE;
  if (bytes == 0) return *address = 0, CUDA_SUCCESS;
  if (!is_of_device(pool)) return not_supported("an allocation from a pool of the host's memory");
  if (!is_captured(stream)) {
    if (const CUresult wrong = waits_for_captured(stream)) return wrong;
    if (!has_room(pool, bytes)) return CUDA_ERROR_OUT_OF_MEMORY;
    if (const CUresult wrong = allocate(address, bytes, stream, wire::Turn::of_stream))
      return wrong;
    took_from_pool(pool, *address, bytes);
    return CUDA_SUCCESS;
  }
  AllocationNode node{bytes, 0};
  if (const CUresult wrong = address_for(bytes, node.address)) return wrong;
  if (const CUresult wrong = take_down(stream, NodeKind::allocate, node)) return wrong;
  *address = node.address;
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuMemAlloc_v2(CUdeviceptr* address, std::size_t bytes) {
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult wrong = unsafe_in_captures()) return wrong;
  return allocate(address, bytes, nullptr);
}
TILESCOPE_CUDA cuMemAllocAsync(CUdeviceptr* address, std::size_t bytes, CUstream stream) {
  return cuMemAllocFromPoolAsync(address, bytes, current_pool(), stream);
}
TILESCOPE_CUDA cuMemAllocPitch_v2(CUdeviceptr* address, std::size_t* pitch, std::size_t width,
                                  std::size_t height, unsigned) {
  constexpr std::size_t grain = 512;  // CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT
  if (!pitch || width == 0 || height == 0) return CUDA_ERROR_INVALID_VALUE;
  *pitch = (width + grain - 1) / grain * grain;
  return cuMemAlloc_v2(address, *pitch * height);
}
TILESCOPE_CUDA cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  return address ? give(stream, NodeKind::release, ReleaseNode{address}) : CUDA_SUCCESS;
}
TILESCOPE_CUDA cuMemFree_v2(CUdeviceptr address) {
  const auto block = host_block(address);
  if (block && !block->managed) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult wrong = unsafe_in_captures()) return wrong;
  return address ? release(address, nullptr, wire::Turn::waits) : CUDA_SUCCESS;
}
TILESCOPE_CUDA cuMemGetAddressRange_v2(CUdeviceptr* begin, std::size_t* bytes,
                                       CUdeviceptr address) {
  CUdeviceptr at = 0;
  std::size_t size = 0;
  const CUresult result = Question(Call::find).with(std::uint64_t{address}).ask(&at, &size);
  if (result) return result;
  if (begin) *begin = at;
  if (bytes) *bytes = size;
  return CUDA_SUCCESS;
}

TILESCOPE_CUDA cuMemHostAlloc(void** memory, std::size_t bytes, unsigned flags) {
  constexpr unsigned all_flags = 7;  // CU_MEMHOSTALLOC_...
  if (!memory || bytes == 0 || flags > all_flags) return CUDA_ERROR_INVALID_VALUE;
  std::uint64_t address = 0;
  const CUresult result = share(address, bytes, 0, false, flags);
  if (result == CUDA_SUCCESS) *memory = reinterpret_cast<void*>(address);
  return result;
}
// Nothing is nothing to this one, as measured on an H200.
TILESCOPE_CUDA cuMemAllocHost_v2(void** memory, std::size_t bytes) {
  if (memory && bytes == 0) return *memory = nullptr, CUDA_SUCCESS;
  return cuMemHostAlloc(memory, bytes, 0);
}
TILESCOPE_CUDA cuMemFreeHost(void* memory) {
  if (!memory) return CUDA_SUCCESS;
  const auto block = host_block(address_of(memory));
  if (!block || block->managed) return CUDA_ERROR_INVALID_VALUE;
  return release(address_of(memory), nullptr, wire::Turn::waits);
}
TILESCOPE_CUDA cuMemHostGetDevicePointer_v2(CUdeviceptr* address, void* memory, unsigned flags) {
  if (!address || flags || !host_block(address_of(memory))) return CUDA_ERROR_INVALID_VALUE;
  *address = address_of(memory);
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuMemHostGetFlags(unsigned* flags, void* memory) {
  const auto block = host_block(address_of(memory));
  if (!flags || !block) return CUDA_ERROR_INVALID_VALUE;
  *flags = block->flags;
  return CUDA_SUCCESS;
}

// ---- memory of the program's own: its whole pages become shared ones, with the same bytes at the
// same addresses; pages that two pieces have in common are shared once
// -----------------------------

namespace {

struct Registered {
  std::uint64_t end = 0;
  unsigned flags = 0;
};
std::map<std::uint64_t, Registered>& registered() {  // by where it begins
  static auto* const all = new std::map<std::uint64_t, Registered>;
  return *all;
}
bool is_registered(std::uint64_t begin, std::uint64_t end) {
  return std::any_of(registered().begin(), registered().end(),
                     [&](const auto& each) { return each.first < end && begin < each.second.end; });
}

std::uint64_t end_of_block(const HostBlock& block) {
  return block.begin + block.bytes;
}

constexpr auto already_registered = static_cast<CUresult>(712);
constexpr auto not_registered = static_cast<CUresult>(713);

}  // namespace

// The program's own memory stays where it is, and is the device's no more.
void forget_memory_of(unsigned long long context) {
  std::vector<HostBlock> all;
  {
    const std::lock_guard lock(blocks_mutex);
    for (const auto& [begin, block] : blocks()) {
      if (block.context == context) all.push_back(block);
    }
  }
  for (const HostBlock& block : all) {
    const bool own = is_registered(block.begin, end_of_block(block));
    std::erase_if(registered(), [&](const auto& each) {
      return each.first < end_of_block(block) && block.begin < each.second.end;
    });
    forget(block.begin, own);
  }
}

TILESCOPE_CUDA cuMemHostRegister_v2(void* memory, std::size_t bytes, unsigned flags) {
  constexpr unsigned all_flags = 15;  // CU_MEMHOSTREGISTER_...
  if (!memory || bytes == 0 || flags > all_flags) return CUDA_ERROR_INVALID_VALUE;
  if (is_on_device(address_of(memory))) return CUDA_ERROR_INVALID_VALUE;
  const std::uint64_t begin = address_of(memory), end = begin + bytes;
  if (host_block(begin) && !is_registered(begin / page * page, round_up(end))) {
    return CUDA_ERROR_INVALID_VALUE;  // pinned already
  }
  if (is_registered(begin, end)) return already_registered;
  std::uint64_t from = begin / page * page, to = round_up(end), address = 0;
  while (from < to && host_block(from)) from += page;
  while (from < to && host_block(to - page)) to -= page;
  if (from < to) {
    if (const CUresult result = share(address, to - from, from, false, flags)) return result;
  }
  registered()[begin] = {end, flags};
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuMemHostUnregister(void* memory) {
  const auto found = registered().find(address_of(memory));
  if (found == registered().end()) return not_registered;
  catch_up_all();
  const std::uint64_t begin = found->first / page * page, end = round_up(found->second.end);
  registered().erase(found);
  for (std::uint64_t at = begin; at < end;) {
    const auto block = host_block(at);
    at = block ? block->begin + block->bytes : at + page;
    if (!block || is_registered(block->begin, block->begin + block->bytes)) continue;
    forget(block->begin, true);
    if (const CUresult result = release(block->begin, nullptr, wire::Turn::waits)) return result;
  }
  return CUDA_SUCCESS;
}

TILESCOPE_CUDA cuMemAllocManaged(CUdeviceptr* address, std::size_t bytes, unsigned flags) {
  constexpr unsigned global = 1, host = 2;  // CU_MEM_ATTACH_...
  if (!address || bytes == 0 || (flags != global && flags != host)) return CUDA_ERROR_INVALID_VALUE;
  std::uint64_t at = 0;
  const CUresult result = share(at, bytes, 0, true, flags);
  if (result == CUDA_SUCCESS) *address = at;
  return result;
}
}  // namespace tilescope::standin
