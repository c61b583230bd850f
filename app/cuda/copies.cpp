// Copies and fills: of bytes, of rows, of boxes, from and to arrays.
#include <algorithm>
#include <cstring>

#include "app/cuda/connection.h"
#include "app/cuda/graphs.h"
#include "app/cuda/guard.h"
#include "app/cuda/memory.h"

namespace tilescope::standin {
namespace {

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

// `tilescope` tells it: a program may not look at what is answered.
CUresult refused(const char* what, std::uint64_t address, std::uint64_t bytes) {
  Question(Call::copy_refused).with_text(what).with(address).with(bytes).ask();
  return CUDA_ERROR_INVALID_VALUE;
}
constexpr const char *into = "a copy from the host", *out_of = "a copy to the host",
                     *within = "a copy on the device";

// Whether so much is there: before the host's side is read, which may be as small as it should be.
CUresult is_there(const Rows& to) {
  constexpr std::uint64_t small = 4096;
  const std::uint64_t all = to.bytes * to.rows * to.planes;
  const bool mapped = to.address >= wire::mapped_begin && to.address < wire::mapped_end;
  if (all <= small || mapped || !is_one_piece(to)) return CUDA_SUCCESS;
  std::uint64_t begin = 0, bytes = 0;
  if (const auto wrong = Question(Call::find).with(to.address).ask(&begin, &bytes)) {
    return wrong == CUDA_ERROR_INVALID_VALUE ? refused(into, to.address, all) : wrong;
  }
  return all <= begin + bytes - to.address ? CUDA_SUCCESS : refused(into, to.address, all);
}

// The host's side of a copy.
bool is_pinned(const Rows& host) {
  return host_block(host.address).has_value();
}

// The host's side of a copy that it has not waited for.
void guard_host(const Rows& host, Work::Kind kind) {
  if (is_one_piece(host)) {
    guard(host.address, host.address + host.bytes * host.rows * host.planes, {kind});
  } else {
    each_row(host, [&](std::uint64_t at) { guard(at, at + host.bytes, {kind}); });
  }
}

CUresult copy_in(const Rows& to, const Rows& from, std::uint64_t stream, bool waits) {
  if (const CUresult wrong = is_there(to)) return wrong;
  Question question(Call::copy_in);
  question.with(to).with(stream).with(waits).with(is_pinned(from));
  const std::uint64_t all = from.bytes * from.rows * from.planes;
  if (is_one_piece(from)) {
    question.with_bytes(reinterpret_cast<const void*>(from.address), all);
  } else {
    question.with(all);
    each_row(from, [&](std::uint64_t at) {
      question.operands().bytes.append(reinterpret_cast<const char*>(at), from.bytes);
    });
  }
  const CUresult result = question.ask();
  print(question.results().text());
  if (!result && !waits) guard_host(from, Work::Kind::copy_in);
  return result;
}

CUresult copy_out(const Rows& to, const Rows& from, std::uint64_t stream, bool waits) {
  Question question(Call::copy_out);
  question.with(from).with(stream).with(waits).with(is_pinned(to));
  if (const CUresult result = question.ask()) return result;
  const std::string_view bytes = question.results().text();
  if (bytes.size() != to.bytes * to.rows * to.planes) return CUDA_ERROR_OPERATING_SYSTEM;
  std::size_t done = 0;
  each_row(to, [&](std::uint64_t at) {
    std::memcpy(reinterpret_cast<void*>(at), bytes.data() + done, to.bytes);
    done += to.bytes;
  });
  print(question.results().text());
  if (!waits) guard_host(to, Work::Kind::copy_out);
  return CUDA_SUCCESS;
}

// `waits`: the call comes back when the copy is done. One into the host's memory always does, but
// where that is pinned (CUDA Driver API, "API synchronization behavior").
CUresult do_copy(const Rows& to, const Rows& from, CUstream on, bool waits) {
  if (to.bytes * to.rows * to.planes == 0) return CUDA_SUCCESS;
  const std::uint64_t stream = number_of(on);
  // Who copies is not the program.
  each_row(to, [&](std::uint64_t at) { let_in(at, at + to.bytes); });
  each_row(from, [&](std::uint64_t at) { let_in(at, at + from.bytes); });
  const bool into = is_on_device(to.address), out_of = is_on_device(from.address);
  if (out_of && !into && !is_pinned(to)) waits = true;
  if (waits) let_in();
  if (into && out_of) {
    return Question(Call::copy_within).with(to).with(from).with(stream).ask();
  }
  if (into) return copy_in(to, from, stream, waits);
  if (out_of) return copy_out(to, from, stream, waits);
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
  if (const CUresult wrong = waits_for_captured(stream)) return wrong;
  return waits && is_behind(stream) ? catch_up(stream) : CUDA_SUCCESS;
}

// What lies in the host's memory may be another's when its stream's turn comes, but where that is
// pinned: the copy is done before the call comes back.
bool may_be_late(std::uint64_t address) {
  return is_on_device(address) || host_block(address);
}
template <class Copy>
CUresult do_in_turn(CUstream stream, std::uint64_t to, std::uint64_t from, Copy how) {
  if (!is_behind(stream)) return how(stream);
  if (!may_be_late(to) || !may_be_late(from)) {
    if (const CUresult wrong = catch_up(stream)) return wrong;
    return how(stream);
  }
  const CUstream own = own_stream(stream);
  do_later(own, [how, own] { return how(own); });
  return CUDA_SUCCESS;
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
  return do_in_turn(stream, to, from,
                    [=](CUstream on) { return do_copy(to, from, bytes, on, waits); });
}

// Whether a device's address is one: of its own memory, or of what it shares with the host.
bool is_devices(std::uint64_t address) {
  return wire::on_device(address) || host_block(address);
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
    let_in(to, to + (rows - 1) * pitch + count * width);
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

TILESCOPE_CUDA cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return copy(to, from, bytes, stream, false);
}
TILESCOPE_CUDA cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t bytes,
                                    CUstream stream) {
  if (!is_devices(to)) return refused(into, to, bytes);
  return copy(to, address_of(from), bytes, stream, false);
}
TILESCOPE_CUDA cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t bytes,
                                    CUstream stream) {
  if (!is_devices(from)) return refused(out_of, from, bytes);
  return copy(address_of(to), from, bytes, stream, false);
}
TILESCOPE_CUDA cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes,
                                    CUstream stream) {
  if (!is_devices(to)) return refused(within, to, bytes);
  if (!is_devices(from)) return refused(within, from, bytes);
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
    if (!is_devices(to)) return refused(into, to, bytes);                                       \
    return copy(to, address_of(from), bytes, stream, true);                                     \
  }                                                                                             \
  TILESCOPE_CUDA cuMemcpyDtoH_v2##ending(void* to, CUdeviceptr from, std::size_t bytes) {       \
    if (!is_devices(from)) return refused(out_of, from, bytes);                                 \
    return copy(address_of(to), from, bytes, stream, true);                                     \
  }                                                                                             \
  TILESCOPE_CUDA cuMemcpyDtoD_v2##ending(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) { \
    if (!is_devices(to)) return refused(within, to, bytes);                                     \
    if (!is_devices(from)) return refused(within, from, bytes);                                 \
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
  if (copies && side.type == memory_device && !is_devices(begin)) return CUDA_ERROR_INVALID_VALUE;
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
  return do_in_turn(stream, to.address, from.address,
                    [=, box = *how](CUstream on) { return do_copy(box, on, waits); });
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
// As from and to one device, which is all that there is: the contexts stand where others have
// nothing (CUDA_MEMCPY3D_PEER).
TILESCOPE_CUDA cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D* how, CUstream stream) {
  return copy_box(how, stream, false);
}

// CUmemcpyAttributes: when the source is read; hints, which change nothing here.
struct BatchAttributes {
  int order;
  int hints[4];
  unsigned flags;
};
static_assert(sizeof(BatchAttributes) == 24);
// One after the other, each by the attributes of the last `first` that is not behind it.
TILESCOPE_CUDA cuMemcpyBatchAsync_v2(CUdeviceptr* to, CUdeviceptr* from, std::size_t* bytes,
                                     std::size_t count, BatchAttributes* attributes,
                                     std::size_t* first, std::size_t attribute_count,
                                     CUstream stream) {
  constexpr int stream_order = 1, any_order = 3;  // CUmemcpySrcAccessOrder
  if (!to || !from || !bytes || !attributes || !first || count == 0 || attribute_count == 0 ||
      attribute_count > count || first[0] != 0 || !stream || stream == stream_legacy()) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  for (std::size_t i = 0; i < attribute_count; ++i) {
    const bool ascends = i == 0 || (first[i] > first[i - 1] && first[i] < count);
    const int order = attributes[i].order;
    if (!ascends || order < stream_order || order > any_order) return CUDA_ERROR_INVALID_VALUE;
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (bytes[i] == 0) return CUDA_ERROR_INVALID_VALUE;
  }
  if (is_captured(stream)) return not_supported("cuMemcpyBatchAsync in a captured stream");
  for (std::size_t i = 0; i < count; ++i) {
    if (const CUresult wrong = copy(to[i], from[i], bytes[i], stream, false)) return wrong;
  }
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuMemcpyBatchAsync(CUdeviceptr* to, CUdeviceptr* from, std::size_t* bytes,
                                  std::size_t count, BatchAttributes* attributes,
                                  std::size_t* first, std::size_t attribute_count,
                                  std::size_t* failed, CUstream stream) {
  if (failed) *failed = ~std::size_t{0};  // which one is not told
  return cuMemcpyBatchAsync_v2(to, from, bytes, count, attributes, first, attribute_count, stream);
}

#define IN_DEFAULT_STREAM(ending, stream)                                                  \
  TILESCOPE_CUDA cuMemcpy3DPeer##ending(const CUDA_MEMCPY3D* how) {                        \
    return copy_box(how, stream, true);                                                    \
  }                                                                                        \
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
