// What goes between a CUDA program and `tilescope exec`, over a Unix socket: the program asks one
// call, and waits for its answer.
//
//   question   Head{call, bytes of operands}, operands
//   answer     Head{CUresult, bytes of results}, results
//
// Numbers stand as they lie in memory: both ends are on one machine. Texts and bytes have their
// count (64 bits) before them. Each call says its operands -> results below.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace tilescope::wire {

// In the program's environment: the path of the socket.
inline constexpr const char* socket_variable = "TILESCOPE_EXEC_SOCKET";
// There too: the host's accesses are not looked at (app/cuda/guard.h).
inline constexpr const char* trusts_host_variable = "TILESCOPE_EXEC_TRUSTS_HOST";
inline constexpr std::uint32_t version = 1;

// Where the addresses of a device are; nothing of the host lies there.
inline constexpr std::uint64_t device_begin = 0x0000'7000'0000'0000;
inline constexpr std::uint64_t device_end = 0x0000'7100'0000'0000;
// Where a program reserves addresses and maps memory to.
inline constexpr std::uint64_t mapped_begin = 0x0000'6000'0000'0000;
inline constexpr std::uint64_t mapped_end = 0x0000'6100'0000'0000;
inline constexpr std::uint64_t variables_begin = 0x0000'0500'0000'0000;
inline constexpr std::uint64_t variables_end = 0x0000'0600'0000'0000;
inline constexpr std::uint64_t mapped_grain = std::uint64_t{2} << 20;
constexpr bool on_device(std::uint64_t address) {
  return (address >= device_begin && address < device_end) ||
         (address >= mapped_begin && address < mapped_end) ||
         (address >= variables_begin && address < variables_end);
}

// Streams are numbers: 0 is the legacy default stream, and the per-thread default streams, which
// nobody makes, are numbered from here on.
inline constexpr std::uint64_t first_thread_stream = std::uint64_t{1} << 32;
constexpr bool is_thread_stream(std::uint64_t stream) {
  return stream >= first_thread_stream && stream < 2 * first_thread_stream;
}
// stream_create: a lane of a graph's nodes. Its priority is the number of the graph.
inline constexpr std::uint32_t graph_lane = 0x8000'0000;

// `waits`: when the call comes back, the host knows that its stream's work is over.
enum class Call : std::uint32_t {
  hello,    // version u32, process u64 -> nothing
  missing,  // name -> nothing: a function that is asked for and is not there
  lost,     // -> nothing: another connection of this process was closed, and not by its end

  // ---- the device ----
  device_name,       // -> text
  device_attribute,  // CUdevice_attribute i32 -> i32
  device_memory,     // -> free u64, all of it u64
  context_current,   // context u64 (0: none) -> nothing: what is made from now on is this one's
  context_end,       // context u64 -> printed text: what it has is gone
  synchronize,       // stream u64 (all: ~0) -> printed text
  printed,           // -> printed text
  host_runs,         // stream u64 -> printed text: a host function begins, behind what it was given
  host_early,        // address u64, Work u8, of a launch its number u64, writes u8, where text ->
                     // nothing: the host was there before it had waited for that work
  copy_refused,      // what text, address u64, bytes u64 -> an invalid value: it is told

  // ---- modules ----
  module_load,       // name, is the context's u8, count u32, images (bytes: PTX, a fat binary)
                     // -> module u64, log text, printed text
  module_unload,     // module u64 -> printed text
  link_check,        // all of it u8, count u32, images -> log text: whether a linker takes them
  module_function,   // module u64, name -> Function
  module_functions,  // module u64 -> count u32, names
  module_variable,   // module u64, name -> address u64, bytes u64, managed u8; and the file that
                     // is it where it is managed
  function_get,      // function u64, CUfunction_attribute i32 -> i32
  function_set,      // function u64, CUfunction_attribute i32, i32 -> nothing
  occupancy,         // function u64, threads i32, dynamic shared u64 -> blocks of an SM i32
  clusters,  // function u64, cluster u32 x 3, threads u32, dynamic shared u64 -> largest i32,
             // active i32

  // ---- launches ----
  launch,  // Launch, parameters bytes -> printed text: of those before it; tells the host itself
           // u8, its number u64, count u32, (begin u64, end u64): what it wrote of memory that the
           // host reaches, where it does not

  // ---- memory ----
  allocate,  // bytes u64, at u64 (0: anywhere), stream u64, Turn u8, callers text -> address u64
  allocate_host,  // bytes u64, at u64 (0: anywhere), managed u8, callers text -> address u64, and
                  // the file that is it
  release,        // address u64, stream u64, waits u8 -> nothing
  find,           // address u64 -> begin u64, bytes u64
  copy_in,        // Rows to, stream u64, waits u8, pinned u8, bytes -> printed text
  copy_out,       // Rows from, stream u64, waits u8, pinned u8 -> bytes, printed text
  copy_within,    // Rows to, Rows from, stream u64 -> nothing
  fill,           // Rows to (bytes: elements of a row), value u32, width u32, stream u64 -> nothing

  // ---- addresses, memory, and what lies where ----
  reserve,           // bytes u64, alignment u64, at u64 (0: anywhere) -> address u64
  unreserve,         // address u64, bytes u64 -> nothing
  physical_create,   // bytes u64, kinds of handles u32 -> memory u64
  physical_release,  // memory u64 -> nothing
  physical_find,     // memory u64 -> bytes u64, kinds of handles u32
  map,               // address u64, bytes u64, memory u64 -> nothing
  unmap,             // address u64, bytes u64 -> nothing
  access_set,        // address u64, bytes u64, CUmemAccess_flags u32 -> nothing
  access_get,        // address u64 -> CUmemAccess_flags u32
  retain,            // address u64 -> memory u64

  // ---- streams and events ----
  stream_create,   // flags u32, priority i32 -> stream u64
  stream_destroy,  // stream u64 -> nothing
  event_create,    // flags u32 -> event u64
  event_destroy,   // event u64 -> nothing
  event_record,    // event u64, stream u64 -> nothing
  event_wait,      // event u64, stream u64 -> nothing
  event_elapsed,   // begin u64, end u64 -> milliseconds f32
  event_query,     // event u64 -> nothing
  // A value of memory that streams write and wait for: width 4 or 8, or 0 where the host's side has
  // written it; who waits for it comes behind who wrote it last.
  value_write,  // address u64, value u64, width u32, stream u64 -> nothing
  value_read,   // address u64, width u32 -> value u64
  value_wait,   // address u64, stream u64 -> nothing

  tensor_map,  // TensorMap -> 128 bytes

  // ---- arrays, textures, surfaces ----
  array_create,     // Array -> array u64
  array_destroy,    // array u64 -> nothing
  array_find,       // array u64 -> Array, address u64
  texture_create,   // Texture -> handle u64
  texture_destroy,  // handle u64, is a surface u8 -> nothing
  texture_find,     // handle u64, is a surface u8 -> Texture
  count
};

// host_early: what the host had not waited for.
enum class Work : std::uint8_t { launch, copy_out, copy_in, count };

// allocate, release: at once, when the turn of the stream comes, or when the host has waited for
// all.
enum class Turn : std::uint8_t { none, of_stream, waits };

struct Head {
  std::uint32_t what = 0;  // Call, or CUresult
  std::uint32_t zero = 0;
  std::uint64_t bytes = 0;
};

// A box of bytes: `planes` of `rows` of `bytes`.
struct Rows {
  std::uint64_t address = 0, bytes = 0, rows = 1, planes = 1;
  std::uint64_t pitch = 0, plane_pitch = 0;  // bytes from one to the next
  std::uint64_t at(std::uint64_t row, std::uint64_t plane) const {
    return address + row * pitch + plane * plane_pitch;
  }
};

struct Launch {
  std::uint64_t function = 0, stream = 0;
  std::uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  std::uint32_t cluster[3] = {0, 0, 0};  // 0: not said
  std::uint32_t dynamic_shared = 0;
  std::uint32_t cooperative = 0, programmatic = 0;
};

// A tensor map, as cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col are told.
struct TensorMap {
  std::uint32_t im2col = 0, type = 0, rank = 0;
  std::uint32_t interleave = 0, swizzle = 0, promotion = 0, fill = 0;
  std::uint32_t channels = 0, pixels = 0;
  std::uint32_t box[5] = {}, element_strides[5] = {};
  std::int32_t lower[3] = {}, upper[3] = {};
  std::uint64_t address = 0, extent[5] = {}, strides[4] = {};
};

// A CUDA array, as cuArray3DCreate is told. Its elements lie in the device's memory, row after row
// without a gap.
struct Array {
  std::uint64_t width = 0, height = 0, depth = 0;  // elements; 0: the dimension is not there
  std::uint32_t format = 0, channels = 0;          // CUarray_format
  std::uint32_t flags = 0, element_bytes = 0;      // array_find says these bytes
};

// A texture or surface object, as cuTexObjectCreate and cuSurfObjectCreate are told.
struct Texture {
  std::uint32_t surface = 0;
  std::uint32_t type = 0;                // CUresourcetype
  std::uint64_t array = 0;               // of this type; of the others:
  std::uint64_t address = 0, bytes = 0;  // linear
  std::uint64_t width = 0, height = 0, pitch = 0;
  std::uint32_t format = 0, channels = 0;
  // CUDA_TEXTURE_DESC
  std::uint32_t modes[3] = {};
  std::uint32_t filter = 0, flags = 0, anisotropy = 0, mip_filter = 0;
  float mip[3] = {};  // bias, least and largest level
  float border[4] = {};
};

// What of a parameter a launch must know.
struct Parameter {
  std::uint32_t offset = 0, bytes = 0;
};
// The answer of module_function: function u64, count u32, Parameter x count, all bytes u32

class Writer {
 public:
  std::string bytes;

  template <class T>
  Writer& put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>);
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Writer& put_bytes(const void* from, std::uint64_t count) {
    put(count);
    bytes.append(static_cast<const char*>(from), static_cast<std::size_t>(count));
    return *this;
  }
  Writer& put_text(std::string_view text) { return put_bytes(text.data(), text.size()); }
};

// Never goes beyond what is there: from then on it has failed and answers zeros.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  bool failed() const { return failed_; }
  std::size_t left() const { return bytes_.size() - at_; }

  template <class T>
  T get() {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>);
    T value{};
    const std::string_view from = take(sizeof value);
    if (!failed_) std::memcpy(&value, from.data(), sizeof value);
    return value;
  }
  std::string_view text() { return take(get<std::uint64_t>()); }

 private:
  std::string_view take(std::uint64_t count) {
    if (failed_ || count > left()) {
      failed_ = true;
      return {};
    }
    const std::string_view out = bytes_.substr(at_, static_cast<std::size_t>(count));
    at_ += out.size();
    return out;
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

}  // namespace tilescope::wire
