// What goes between a CUDA program on a machine with a GPU and `tilescope capture`, over a Unix
// socket: the shim asks, `tilescope` answers (Head, Writer and Reader of app/cuda/wire.h). It tells
// of each launch, and of a chosen one all that its kernel can reach, before it and after it:
//
//   launch (unknown_image: image, and launch again), then, if it is wanted,
//   variable, region, bytes ..., given      what the kernel is given
//   bytes ..., left                         what it left
//
// Launches of one process come one after the other.
#pragma once

#include "app/cuda/wire.h"

namespace tilescope::wire {

// In the program's environment: the path of the socket, and the driver that is the real one.
inline constexpr const char* capture_socket_variable = "TILESCOPE_CAPTURE_SOCKET";
inline constexpr const char* capture_driver_variable = "TILESCOPE_CAPTURE_DRIVER";

// Bytes travel in pieces of so many.
inline constexpr std::uint64_t piece_bytes = std::uint64_t{16} << 20;
// Below, no driver puts memory; so that small numbers are no addresses.
inline constexpr std::uint64_t least_address = std::uint64_t{1} << 32;

enum class Ask : std::uint32_t {
  hello,   // version u32, process u64 -> nothing
  launch,  // CapturedShape, name, device's name -> Wanted u32, and where it is wanted: count u32,
           // Parameter x count, all bytes u32, count u32 of variables, their names
  image,   // image u64, count u32, images (bytes: PTX, a fat binary) -> nothing

  // ---- of the launch that is wanted ----
  parameters,  // bytes -> nothing
  variable,    // name, address u64, bytes u64 -> nothing
  region,      // address u64, bytes u64 -> nothing; another result: there is no room for it
  bytes,       // address u64, bytes -> nothing
  given,       // -> nothing: all that the kernel is given has been told
  left,        // CUresult i32, its name -> nothing: what it left has been told, or why not

  skipped,  // Skipped u32, name of the kernel, of the error -> nothing
};

enum class Wanted : std::uint32_t { no, yes, unknown_image };

// Why a launch is none that can be captured.
enum class Skipped : std::uint32_t {
  graph,         // a graph is launched
  recorded,      // it is recorded into a graph
  unseen,        // where its function comes from has not been seen
  device_error,  // the device answers an error already
  too_large,     // what it reaches has no room
  unreadable,    // its memory cannot be read
};

struct CapturedShape {
  std::uint64_t image = 0;
  std::uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  std::uint32_t cluster[3] = {0, 0, 0};  // 0: not said
  std::uint32_t dynamic_shared = 0, cooperative = 0;
  std::int32_t major = 0, minor = 0;  // the device's compute capability
};

}  // namespace tilescope::wire
