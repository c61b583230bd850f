// The launch file: how a PTX file is to be run, in TOML. Nothing here opens a file.
//
//     entry = "mm"                   grid = [4, 1, 1]      block = [128, 1, 1]
//     cluster = [1, 1, 1]            dynamic_smem = 131120
//     cooperative = true             its blocks may wait for each other: grid.sync() traps without
//     it link = ["scale.ptx"]           other PTX files that define what the first declares .extern
//     device = "h100"                the simulated chip, where the command line names none
//     [[buffer]]                     a tensor in global memory
//     name = "A"                     dtype = "f16"         shape = [256, 256]   (row-major)
//     file = "a.npy"                 or random = SEED, zeros = true, poison = true, or of u64
//     pointers = [{ buffer = "A", offset = 512 }, { null = true }], or in a file at these bytes:
//     file = "a.npy", pointers = [{ at = 64, buffer = "A", offset = 512 }]
//     out = "c.npy"                  written after the run
//     expect = "ref.npy"             compared after the run: rtol, atol
//     tile = [128, 128]              what one block computes of it: each tile once (Buffer::tile)
//     address = 0x7f0000000000       where it has to be: a captured launch has addresses among its
//     unwritten = [[0, 64], ...]     bytes; and stretches of bytes that nobody has written
//     variables_at = 0x050000200000  where those of the PTX begin (before the tables)
//     [[variable]]                   what a .global or .const variable holds, for its initial value
//     name = "counter"               file = "counter.npy" (u8), expect = "counter_after.npy"
//     [[arg]]                        the kernel's parameters in order, each one of
//     buffer = "A"                   a pointer; offset = BYTES
//     i32 = 256                      u8 i8 u16 i16 u32 i32 u64 i64 f16 bf16 f32 f64
//     null = true                    an 8-byte zero
//     bytes = "00ff"                 hexadecimal
//     size = 64, at = [{ offset = 0, buffer = "A", plus = 512 }, ...]   a struct; what is not named
//       is zero
//     tensormap = { buffer = "A", box = [64, 128], swizzle = "128B" }      innermost first; also
//       dims, strides (bytes), dtype, offset, interleave, oob = "zero"|"nan", element_strides,
//       size; for im2col in place of the box lower = [-1, -1], upper = [-1, -1], channels = 64,
//       pixels = 128
//
// Reading goes in two steps, because core opens no files: parse_launch_file says which files are
// wanted, and make_job completes the job from their bytes.
// Errors: unreadable, with file:line:column; mismatch where a .npy file is not what the launch file
// says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/run/job.h"

namespace tilescope {

enum class Fill : std::uint8_t { file, random, zeros, poison, pointers };

struct PlannedBuffer {
  std::string name;
  DType dtype = DType::f32;
  std::optional<std::vector<std::int64_t>> shape;  // may be left out only where a file is given
  Fill fill = Fill::zeros;
  std::string file;                       // Fill::file: relative to the launch file
  std::uint64_t seed = 0;                 // Fill::random: normal, core/numeric/random.h, stream 0
  std::vector<Buffer::Pointer> pointers;  // Fill::pointers
  std::optional<std::string> out, expect;
  std::optional<double> rtol, atol;
  std::vector<std::int64_t> tile;  // empty: not said
  std::uint64_t address = 0;       // 0: not said
  std::vector<std::pair<std::uint64_t, std::uint64_t>> unwritten;
  std::string where;  // "run.toml:7:1"
};

struct PlannedVariable {
  std::string name, file;             // u8, relative to the launch file
  std::optional<std::string> expect;  // likewise: what it holds afterwards
  std::string where;
};

struct LaunchFile {
  std::string name;
  std::string device;  // empty: not said
  Launch launch;
  std::vector<std::string> link;       // PTX files: relative to the launch file
  std::vector<PlannedBuffer> buffers;  // in the order of Job::buffers
  std::vector<Argument> arguments;
  std::vector<PlannedVariable> variables;
  std::uint64_t variables_at = 0;  // 0: not said
};

// `name` is what sentences call the file.
Outcome<LaunchFile> parse_launch_file(std::string_view text, std::string_view name);

// The paths whose bytes make_job needs, in its order. `expect` files are not among them: they are
// read after the run, with read_npy and the buffer's dtype.
std::vector<std::string> wanted_files(const LaunchFile& launch);

// Whether all buffers together fit into a run, told before any is read or allocated. `file_bytes`:
// the bytes of data of each of wanted_files().
std::optional<Error> too_large(const LaunchFile& launch,
                               const std::vector<std::uint64_t>& file_bytes);

Outcome<Job> make_job(const LaunchFile& launch, Program program,
                      const std::vector<std::vector<std::byte>>& files);

}  // namespace tilescope
