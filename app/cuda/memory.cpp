// Memory: the device's, and the host's that it can reach.
#include "app/cuda/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>

#include "app/cuda/connection.h"
#include "app/cuda/graphs.h"

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

// What nodes of graphs have allocated and nobody has given back yet, by address.
struct GraphMemory {
  std::map<std::uint64_t, std::uint64_t> there;
  std::uint64_t used = 0, most = 0;               // bytes
  std::uint64_t reserved = 0, reserved_most = 0;  // kept for later launches, until it is trimmed
};
std::mutex graph_memory_mutex;
GraphMemory& graph_memory() {
  static auto* const all = new GraphMemory;
  return *all;
}

CUresult release(std::uint64_t address, CUstream stream, bool waits) {
  forget(address, false);
  {
    const std::lock_guard lock(graph_memory_mutex);
    GraphMemory& memory = graph_memory();
    const auto found = memory.there.find(address);
    if (found != memory.there.end()) {
      memory.used -= found->second;
      memory.there.erase(found);
    }
  }
  return Question(Call::release).with(address).with(number_of(stream)).with(waits).ask();
}

// Memory in a file that `tilescope` shares: at its own address on the device, or in the place of
// what is there (`at`: a page's beginning), with its bytes.
CUresult share(std::uint64_t& address, std::uint64_t bytes, std::uint64_t at, bool managed,
               unsigned flags) {
  Question question(Call::allocate_host);
  question.with(bytes).with(at).with(static_cast<std::uint8_t>(managed));
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
    release(address, nullptr, false);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  const std::lock_guard lock(blocks_mutex);
  blocks()[address] = {address, bytes, managed, flags};
  return CUDA_SUCCESS;
}

// ---- copies -------------------------------------------------------------------------------------

using wire::Rows;

bool is_one_piece(const Rows& r) {
  return (r.rows == 1 || r.pitch == r.bytes) &&
         (r.planes == 1 || r.plane_pitch == r.bytes * r.rows);
}

template <class Row>
void each_row(const Rows& r, Row row) {
  for (std::uint64_t plane = 0; plane < r.planes; ++plane) {
    for (std::uint64_t i = 0; i < r.rows; ++i) row(r.at(i, plane));
  }
}

CUresult copy_in(const Rows& to, const Rows& from, std::uint64_t stream, bool waits) {
  Question question(Call::copy_in);
  question.with(to).with(stream).with(waits);
  const std::uint64_t all = from.bytes * from.rows * from.planes;
  if (is_one_piece(from)) {
    question.with_bytes(reinterpret_cast<const void*>(from.address), all);
  } else {
    question.with(all);
    each_row(from, [&](std::uint64_t at) {
      question.operands().bytes.append(reinterpret_cast<const char*>(at), from.bytes);
    });
  }
  return question.ask();
}

CUresult copy_out(const Rows& to, const Rows& from, std::uint64_t stream, bool waits) {
  Question question(Call::copy_out);
  if (const CUresult result = question.with(from).with(stream).with(waits).ask()) return result;
  const std::string_view bytes = question.results().text();
  if (bytes.size() != to.bytes * to.rows * to.planes) return CUDA_ERROR_OPERATING_SYSTEM;
  std::size_t done = 0;
  each_row(to, [&](std::uint64_t at) {
    std::memcpy(reinterpret_cast<void*>(at), bytes.data() + done, to.bytes);
    done += to.bytes;
  });
  print(question.results().text());
  return CUDA_SUCCESS;
}

// `waits`: the call comes back when the copy is done. One into the host's memory always does, but
// where that is pinned (CUDA Driver API, "API synchronization behavior").
CUresult do_copy(const Rows& to, const Rows& from, CUstream on, bool waits) {
  if (to.bytes * to.rows * to.planes == 0) return CUDA_SUCCESS;
  const std::uint64_t stream = number_of(on);
  const bool into = is_on_device(to.address), out_of = is_on_device(from.address);
  if (into && out_of) {
    return Question(Call::copy_within).with(to).with(from).with(stream).ask();
  }
  if (into) return copy_in(to, from, stream, waits);
  if (out_of) return copy_out(to, from, stream, waits || !host_block(to.address));
  for (std::uint64_t plane = 0; plane < to.planes; ++plane) {
    for (std::uint64_t i = 0; i < to.rows; ++i) {
      std::memmove(reinterpret_cast<void*>(to.at(i, plane)),
                   reinterpret_cast<const void*>(from.at(i, plane)), to.bytes);
    }
  }
  // Also one within the host tells of an error that is there.
  return Question(Call::synchronize).with(stream).ask();
}

// In pieces, so that no message is larger than that.
CUresult do_copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes, CUstream stream,
                 bool waits) {
  constexpr std::uint64_t most = std::uint64_t{64} << 20;
  for (std::uint64_t done = 0; done < bytes; done += most) {
    Rows a, b;
    a.address = to + done, b.address = from + done;
    a.bytes = b.bytes = std::min(most, bytes - done);
    if (const CUresult result = do_copy(a, b, stream, waits)) return result;
  }
  return CUDA_SUCCESS;
}

// One that waits is never taken down: who waits for what will be done later would wait for ever.
CUresult may_copy(CUstream stream, bool waits) {
  if (waits) {
    if (const CUresult wrong = spoil_capture(stream)) return wrong;
  }
  return waits_for_captured(stream);
}

CUresult copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes, CUstream stream,
              bool waits) {
  if (bytes > 0 && (!to || !from)) return CUDA_ERROR_INVALID_VALUE;
  if (!is_connected()) return CUDA_ERROR_NOT_INITIALIZED;
  if (bytes > 0 && !waits && is_captured(stream)) {
    CUDA_MEMCPY3D how{};
    how.srcMemoryType = is_on_device(from) ? memory_device : memory_host;
    how.dstMemoryType = is_on_device(to) ? memory_device : memory_host;
    how.srcHost = reinterpret_cast<const void*>(from), how.srcDevice = from;
    how.dstHost = reinterpret_cast<void*>(to), how.dstDevice = to;
    how.WidthInBytes = bytes, how.Height = how.Depth = 1;
    return take_down(stream, NodeKind::copy, how);
  }
  if (const CUresult wrong = may_copy(stream, waits)) return wrong;
  return do_copy(to, from, bytes, stream, waits);
}

std::uint64_t address_of(const void* at) {
  return reinterpret_cast<std::uint64_t>(at);
}

std::uint64_t base(CUmemorytype type, const void* host, CUdeviceptr device) {
  return type == memory_host ? address_of(host) : device;
}

CUresult do_fill(CUdeviceptr to, std::uint64_t pitch, std::uint32_t value, std::uint32_t width,
                 std::uint64_t count, std::uint64_t rows, CUstream stream) {
  if (count == 0 || rows == 0) return CUDA_SUCCESS;
  if (to % width || (rows > 1 && (pitch % width || pitch / width < count))) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (!is_on_device(to)) {
    if (!host_block(to)) return CUDA_ERROR_INVALID_VALUE;
    for (std::uint64_t row = 0; row < rows; ++row) {
      for (std::uint64_t i = 0; i < count; ++i) {
        std::memcpy(reinterpret_cast<void*>(to + row * pitch + i * width), &value, width);
      }
    }
    return CUDA_SUCCESS;
  }
  Rows r;
  r.address = to, r.bytes = count, r.rows = rows, r.pitch = pitch;
  return Question(Call::fill).with(r).with(value).with(width).with(number_of(stream)).ask();
}

}  // namespace

CUresult fill_now(const FillNode& f, CUstream stream) {
  return do_fill(f.to, f.pitch, f.value, f.width, f.count, f.rows, stream);
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
CUresult allocate(CUdeviceptr* address, std::uint64_t bytes, CUstream stream) {
  return Question(Call::allocate)
      .with(bytes)
      .with(std::uint64_t{0})
      .with(number_of(stream))
      .ask(address);
}
}  // namespace

// Addresses are never given out twice: one that was given back is free for a node.
CUresult address_for(std::uint64_t bytes, CUdeviceptr& address) {
  if (const CUresult wrong = allocate(&address, bytes, nullptr)) return wrong;
  return release(address, nullptr, false);
}
CUresult allocate_there(const AllocationNode& node, CUstream stream) {
  std::uint64_t address = 0;
  const CUresult result = Question(Call::allocate)
                              .with(node.bytes)
                              .with(std::uint64_t{node.address})
                              .with(number_of(stream))
                              .ask(&address);
  if (result) return result;
  const std::lock_guard lock(graph_memory_mutex);
  GraphMemory& memory = graph_memory();
  memory.there[address] = node.bytes;
  memory.used += node.bytes;
  memory.most = std::max(memory.most, memory.used);
  memory.reserved = std::max(memory.reserved, memory.used);
  memory.reserved_most = std::max(memory.reserved_most, memory.reserved);
  return CUDA_SUCCESS;
}
CUresult release_now(const ReleaseNode& node, CUstream stream) {
  return release(node.address, stream, false);
}

// CUgraphMem_attribute, from 0: used now and at most, reserved now and at most.
TILESCOPE_CUDA cuDeviceGetGraphMemAttribute(CUdevice device, int which, void* value) {
  if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
  if (!value || which < 0 || which > 3) return CUDA_ERROR_INVALID_VALUE;
  const std::lock_guard lock(graph_memory_mutex);
  const GraphMemory& memory = graph_memory();
  const std::uint64_t all[] = {memory.used, memory.most, memory.reserved, memory.reserved_most};
  std::memcpy(value, &all[which], sizeof all[which]);
  return CUDA_SUCCESS;
}
// The most can be set back to nothing, and nothing else be set.
TILESCOPE_CUDA cuDeviceSetGraphMemAttribute(CUdevice device, int which, const void* value) {
  std::uint64_t asked = 0;
  if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
  if (!value || (which != 1 && which != 3)) return CUDA_ERROR_INVALID_VALUE;
  std::memcpy(&asked, value, sizeof asked);
  if (asked) return CUDA_ERROR_INVALID_VALUE;
  const std::lock_guard lock(graph_memory_mutex);
  GraphMemory& memory = graph_memory();
  if (which == 1) memory.most = memory.used;
  if (which == 3) memory.reserved_most = memory.reserved;
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuDeviceGraphMemTrim(CUdevice device) {
  if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
  const std::lock_guard lock(graph_memory_mutex);
  graph_memory().reserved = graph_memory().used;
  return CUDA_SUCCESS;
}

TILESCOPE_CUDA cuMemAllocAsync(CUdeviceptr* address, std::size_t bytes, CUstream stream) {
  if (!address || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  if (!is_captured(stream)) {
    if (const CUresult wrong = waits_for_captured(stream)) return wrong;
    return allocate(address, bytes, stream);
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
TILESCOPE_CUDA cuMemAllocFromPoolAsync(CUdeviceptr* address, std::size_t bytes, CUmemoryPool,
                                       CUstream stream) {
  return cuMemAllocAsync(address, bytes, stream);
}
TILESCOPE_CUDA cuMemAllocPitch_v2(CUdeviceptr* address, std::size_t* pitch, std::size_t width,
                                  std::size_t height, unsigned) {
  constexpr std::size_t grain = 512;  // CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT
  if (!pitch || width == 0 || height == 0) return CUDA_ERROR_INVALID_VALUE;
  *pitch = (width + grain - 1) / grain * grain;
  return cuMemAlloc_v2(address, *pitch * height);
}
TILESCOPE_CUDA cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  return give(stream, NodeKind::release, ReleaseNode{address});
}
TILESCOPE_CUDA cuMemFree_v2(CUdeviceptr address) {
  return address ? release(address, nullptr, true) : CUDA_SUCCESS;
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
  if (!memory || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  std::uint64_t address = 0;
  const CUresult result = share(address, bytes, 0, false, flags);
  if (result == CUDA_SUCCESS) *memory = reinterpret_cast<void*>(address);
  return result;
}
TILESCOPE_CUDA cuMemAllocHost_v2(void** memory, std::size_t bytes) {
  return cuMemHostAlloc(memory, bytes, 0);
}
TILESCOPE_CUDA cuMemFreeHost(void* memory) {
  if (!memory) return CUDA_SUCCESS;
  if (!host_block(address_of(memory))) return CUDA_ERROR_INVALID_VALUE;
  return release(address_of(memory), nullptr, true);
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

constexpr auto already_registered = static_cast<CUresult>(712);
constexpr auto not_registered = static_cast<CUresult>(713);

}  // namespace

TILESCOPE_CUDA cuMemHostRegister_v2(void* memory, std::size_t bytes, unsigned flags) {
  if (!memory || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
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
  const std::uint64_t begin = found->first / page * page, end = round_up(found->second.end);
  registered().erase(found);
  for (std::uint64_t at = begin; at < end;) {
    const auto block = host_block(at);
    at = block ? block->begin + block->bytes : at + page;
    if (!block || is_registered(block->begin, block->begin + block->bytes)) continue;
    forget(block->begin, true);
    if (const CUresult result = release(block->begin, nullptr, true)) return result;
  }
  return CUDA_SUCCESS;
}

TILESCOPE_CUDA cuMemAllocManaged(CUdeviceptr* address, std::size_t bytes, unsigned flags) {
  if (!address || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  std::uint64_t at = 0;
  const CUresult result = share(at, bytes, 0, true, flags);
  if (result == CUDA_SUCCESS) *address = at;
  return result;
}
// Advice: where managed memory should be.
namespace {
CUresult is_managed(CUdeviceptr address) {
  const auto block = host_block(address);
  return block && block->managed ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
}  // namespace
TILESCOPE_CUDA cuMemAdvise(CUdeviceptr address, std::size_t, int, CUdevice) {
  return is_managed(address);
}
struct CUmemLocation {
  int type, id;
};
TILESCOPE_CUDA cuMemAdvise_v2(CUdeviceptr address, std::size_t, int, CUmemLocation) {
  return is_managed(address);
}
TILESCOPE_CUDA cuMemPrefetchAsync(CUdeviceptr address, std::size_t, CUdevice, CUstream) {
  return is_managed(address);
}
TILESCOPE_CUDA cuMemPrefetchAsync_v2(CUdeviceptr address, std::size_t, CUmemLocation, unsigned,
                                     CUstream) {
  return is_managed(address);
}

// ---- copies -------------------------------------------------------------------------------------

TILESCOPE_CUDA cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return copy(to, from, bytes, stream, false);
}
TILESCOPE_CUDA cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t bytes,
                                    CUstream stream) {
  return copy(to, address_of(from), bytes, stream, false);
}
TILESCOPE_CUDA cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t bytes,
                                    CUstream stream) {
  return copy(address_of(to), from, bytes, stream, false);
}
TILESCOPE_CUDA cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes,
                                    CUstream stream) {
  return copy(to, from, bytes, stream, false);
}
TILESCOPE_CUDA cuMemcpyPeerAsync(CUdeviceptr to, void*, CUdeviceptr from, void*, std::size_t bytes,
                                 CUstream stream) {
  return copy(to, from, bytes, stream, false);
}

// Those that wait are in the default stream: which one that is says the program's compiler.
#define IN_DEFAULT_STREAM(ending, stream)                                                       \
  TILESCOPE_CUDA cuMemcpy##ending(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {        \
    return copy(to, from, bytes, stream, true);                                                 \
  }                                                                                             \
  TILESCOPE_CUDA cuMemcpyHtoD_v2##ending(CUdeviceptr to, const void* from, std::size_t bytes) { \
    return copy(to, address_of(from), bytes, stream, true);                                     \
  }                                                                                             \
  TILESCOPE_CUDA cuMemcpyDtoH_v2##ending(void* to, CUdeviceptr from, std::size_t bytes) {       \
    return copy(address_of(to), from, bytes, stream, true);                                     \
  }                                                                                             \
  TILESCOPE_CUDA cuMemcpyDtoD_v2##ending(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) { \
    return copy(to, from, bytes, stream, true);                                                 \
  }                                                                                             \
  TILESCOPE_CUDA cuMemcpyPeer##ending(CUdeviceptr to, void*, CUdeviceptr from, void*,           \
                                      std::size_t bytes) {                                      \
    return copy(to, from, bytes, stream, true);                                                 \
  }
IN_DEFAULT_STREAM(, nullptr)
IN_DEFAULT_STREAM(_ptds, stream_per_thread())
#undef IN_DEFAULT_STREAM

namespace {

// Whether [at, at + count) lies in an extent, of which 0 is one.
bool lies_in(std::uint64_t at, std::uint64_t count, std::uint64_t extent) {
  extent = std::max<std::uint64_t>(extent, 1);
  return at <= extent && count <= extent - at;
}

// One side of a copy. What does not lie in an array is refused; parts of its elements are copied as
// bytes, as a driver was seen to.
struct CopySide {
  CUmemorytype type;
  std::uint64_t address;
  CUarray array;
  std::uint64_t x, y, z, pitch, height;
};
CUresult box(const CUDA_MEMCPY3D& how, const CopySide& side, Rows& out) {
  out.bytes = how.WidthInBytes, out.rows = how.Height, out.planes = how.Depth;
  if (side.type < memory_host || side.type > memory_unified) return CUDA_ERROR_INVALID_VALUE;
  std::uint64_t begin = side.address;
  out.pitch = side.pitch ? side.pitch : out.bytes;
  out.plane_pitch = out.pitch * (side.height ? side.height : out.rows);
  if (side.type == memory_array) {
    wire::Array array;
    if (find_array(side.array, array, begin)) return CUDA_ERROR_INVALID_VALUE;
    out.pitch = array.width * array.element_bytes;
    out.plane_pitch = out.pitch * std::max<std::uint64_t>(array.height, 1);
    if (!lies_in(side.x, out.bytes, out.pitch) || !lies_in(side.y, out.rows, array.height) ||
        !lies_in(side.z, out.planes, array.depth)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
  }
  const bool copies = out.bytes && out.rows && out.planes;
  if (copies && !begin) return CUDA_ERROR_INVALID_VALUE;
  out.address = begin + side.x + side.y * out.pitch + side.z * out.plane_pitch;
  return out.pitch >= out.bytes ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult boxes(const CUDA_MEMCPY3D& how, Rows& to, Rows& from) {
  const CopySide into{how.dstMemoryType, base(how.dstMemoryType, how.dstHost, how.dstDevice),
                      how.dstArray,      how.dstXInBytes,
                      how.dstY,          how.dstZ,
                      how.dstPitch,      how.dstHeight};
  const CopySide out_of{how.srcMemoryType, base(how.srcMemoryType, how.srcHost, how.srcDevice),
                        how.srcArray,      how.srcXInBytes,
                        how.srcY,          how.srcZ,
                        how.srcPitch,      how.srcHeight};
  if (const CUresult wrong = box(how, into, to)) return wrong;
  return box(how, out_of, from);
}

CUresult do_copy(const CUDA_MEMCPY3D& how, CUstream stream, bool waits) {
  Rows to, from;
  if (const CUresult wrong = boxes(how, to, from)) return wrong;
  if (to.rows == 1 && to.planes == 1) {
    return do_copy(to.address, from.address, to.bytes, stream, waits);
  }
  return do_copy(to, from, stream, waits);
}

CUresult copy_box(const CUDA_MEMCPY3D* how, CUstream stream, bool waits) {
  Rows to, from;
  if (!how) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult wrong = boxes(*how, to, from)) return wrong;
  if (!waits && is_captured(stream)) return take_down(stream, NodeKind::copy, *how);
  if (const CUresult wrong = may_copy(stream, waits)) return wrong;
  return do_copy(*how, stream, waits);
}

CUresult copy_rectangle(const CUDA_MEMCPY2D* how, CUstream stream, bool waits) {
  if (!how) return CUDA_ERROR_INVALID_VALUE;
  CUDA_MEMCPY3D all{};
  all.srcXInBytes = how->srcXInBytes, all.srcY = how->srcY;
  all.srcMemoryType = how->srcMemoryType, all.srcHost = how->srcHost;
  all.srcDevice = how->srcDevice, all.srcPitch = how->srcPitch, all.srcArray = how->srcArray;
  all.dstXInBytes = how->dstXInBytes, all.dstY = how->dstY;
  all.dstMemoryType = how->dstMemoryType, all.dstHost = how->dstHost;
  all.dstDevice = how->dstDevice, all.dstPitch = how->dstPitch, all.dstArray = how->dstArray;
  all.WidthInBytes = how->WidthInBytes, all.Height = how->Height, all.Depth = 1;
  return copy_box(&all, stream, waits);
}

// From or to a place in an array's first row: `offset` bytes.
struct RowEnd {
  CUmemorytype type;
  std::uint64_t address;
  CUarray array;
  std::size_t offset;
};
RowEnd in_array(CUarray array, std::size_t offset) {
  return {memory_array, 0, array, offset};
}
RowEnd at_host(const void* address) {
  return {memory_host, address_of(address), nullptr, 0};
}
RowEnd at_device(CUdeviceptr address) {
  return {memory_device, address, nullptr, 0};
}
CUresult copy_row(const RowEnd& to, const RowEnd& from, std::size_t bytes, CUstream stream,
                  bool waits) {
  CUDA_MEMCPY3D how{};
  how.srcMemoryType = from.type, how.srcArray = from.array, how.srcXInBytes = from.offset;
  how.srcHost = reinterpret_cast<const void*>(from.address), how.srcDevice = from.address;
  how.dstMemoryType = to.type, how.dstArray = to.array, how.dstXInBytes = to.offset;
  how.dstHost = reinterpret_cast<void*>(to.address), how.dstDevice = to.address;
  how.WidthInBytes = bytes, how.Height = how.Depth = 1;
  return copy_box(&how, stream, waits);
}

}  // namespace

TILESCOPE_CUDA cuMemcpyHtoAAsync_v2(CUarray to, std::size_t offset, const void* from,
                                    std::size_t bytes, CUstream stream) {
  return copy_row(in_array(to, offset), at_host(from), bytes, stream, false);
}
TILESCOPE_CUDA cuMemcpyAtoHAsync_v2(void* to, CUarray from, std::size_t offset, std::size_t bytes,
                                    CUstream stream) {
  return copy_row(at_host(to), in_array(from, offset), bytes, stream, false);
}
TILESCOPE_CUDA cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* how, CUstream stream) {
  return copy_box(how, stream, false);
}
TILESCOPE_CUDA cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* how, CUstream stream) {
  return copy_rectangle(how, stream, false);
}
#define IN_DEFAULT_STREAM(ending, stream)                                                  \
  TILESCOPE_CUDA cuMemcpyHtoA_v2##ending(CUarray to, std::size_t offset, const void* from, \
                                         std::size_t bytes) {                              \
    return copy_row(in_array(to, offset), at_host(from), bytes, stream, true);             \
  }                                                                                        \
  TILESCOPE_CUDA cuMemcpyAtoH_v2##ending(void* to, CUarray from, std::size_t offset,       \
                                         std::size_t bytes) {                              \
    return copy_row(at_host(to), in_array(from, offset), bytes, stream, true);             \
  }                                                                                        \
  TILESCOPE_CUDA cuMemcpyDtoA_v2##ending(CUarray to, std::size_t offset, CUdeviceptr from, \
                                         std::size_t bytes) {                              \
    return copy_row(in_array(to, offset), at_device(from), bytes, stream, true);           \
  }                                                                                        \
  TILESCOPE_CUDA cuMemcpyAtoD_v2##ending(CUdeviceptr to, CUarray from, std::size_t offset, \
                                         std::size_t bytes) {                              \
    return copy_row(at_device(to), in_array(from, offset), bytes, stream, true);           \
  }                                                                                        \
  TILESCOPE_CUDA cuMemcpyAtoA_v2##ending(CUarray to, std::size_t to_offset, CUarray from,  \
                                         std::size_t offset, std::size_t bytes) {          \
    return copy_row(in_array(to, to_offset), in_array(from, offset), bytes, stream, true); \
  }                                                                                        \
  TILESCOPE_CUDA cuMemcpy3D_v2##ending(const CUDA_MEMCPY3D* how) {                         \
    return copy_box(how, stream, true);                                                    \
  }                                                                                        \
  TILESCOPE_CUDA cuMemcpy2D_v2##ending(const CUDA_MEMCPY2D* how) {                         \
    return copy_rectangle(how, stream, true);                                              \
  }                                                                                        \
  TILESCOPE_CUDA cuMemcpy2DUnaligned_v2##ending(const CUDA_MEMCPY2D* how) {                \
    return copy_rectangle(how, stream, true);                                              \
  }
IN_DEFAULT_STREAM(, nullptr)
IN_DEFAULT_STREAM(_ptds, stream_per_thread())
#undef IN_DEFAULT_STREAM

CUresult copy_now(const CUDA_MEMCPY3D& how, CUstream stream) {
  return do_copy(how, stream, false);
}

// ---- fills --------------------------------------------------------------------------------------

namespace {
CUresult fill(CUdeviceptr to, std::uint64_t pitch, std::uint32_t value, std::uint32_t width,
              std::uint64_t count, std::uint64_t rows, CUstream stream) {
  return give(stream, NodeKind::fill, FillNode{to, pitch, value, width, count, rows});
}
}  // namespace

#define FILL(bits, type)                                                                 \
  TILESCOPE_CUDA cuMemsetD##bits##Async(CUdeviceptr to, type value, std::size_t count,   \
                                        CUstream stream) {                               \
    return fill(to, 0, value, bits / 8, count, 1, stream);                               \
  }                                                                                      \
  TILESCOPE_CUDA cuMemsetD2D##bits##Async(CUdeviceptr to, std::size_t pitch, type value, \
                                          std::size_t width, std::size_t height,         \
                                          CUstream stream) {                             \
    return fill(to, pitch, value, bits / 8, width, height, stream);                      \
  }
#define FILL_IN_DEFAULT_STREAM(bits, type, ending, stream)                                     \
  TILESCOPE_CUDA cuMemsetD##bits##_v2##ending(CUdeviceptr to, type value, std::size_t count) { \
    return fill(to, 0, value, bits / 8, count, 1, stream);                                     \
  }                                                                                            \
  TILESCOPE_CUDA cuMemsetD2D##bits##_v2##ending(CUdeviceptr to, std::size_t pitch, type value, \
                                                std::size_t width, std::size_t height) {       \
    return fill(to, pitch, value, bits / 8, width, height, stream);                            \
  }
#define ALL_FILLS(bits, type)                   \
  FILL(bits, type)                              \
  FILL_IN_DEFAULT_STREAM(bits, type, , nullptr) \
  FILL_IN_DEFAULT_STREAM(bits, type, _ptds, stream_per_thread())
ALL_FILLS(8, unsigned char)
ALL_FILLS(16, unsigned short)
ALL_FILLS(32, unsigned)
#undef ALL_FILLS
#undef FILL_IN_DEFAULT_STREAM
#undef FILL

}  // namespace tilescope::standin
