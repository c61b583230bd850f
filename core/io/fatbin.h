// What nvcc puts into a program: a fat binary, which holds one kernel file in several forms, as PTX
// and as machine code of chips.
//
// The container is not documented. Its fields are as the programs that read it have them (ZLUDA's
// cuda_types/src/dark_api.rs), held against what nvcc 13.0 writes:
//
//   header   u32 magic 0xBA55ED50, u16 version 1, u16 header bytes, u64 bytes that follow
//   an entry u16 kind, u16 version 0x101, u32 header bytes, u64 bytes that follow (padded),
//            u32 packed bytes, u32 where its options are (0: none), u16 minor, u16 major (of PTX),
//            u32 chip (90), u32 where its name is, u32 the name's bytes, u64 flags, u64 zero,
//            u64 unpacked bytes
//   flags    1 64 bits, 2 for a debugger, 0x2000 packed by LZ4 (one block), 0x8000 by zstd
//
// Places are counted from the beginning of the entry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace tilescope {

inline constexpr std::uint32_t fatbin_magic = 0xBA55ED50;
inline constexpr std::size_t fatbin_header_bytes = 16;

struct FatbinEntry {
  enum class Kind : std::uint8_t { ptx, machine_code, other };
  Kind kind = Kind::other;
  std::uint32_t chip = 0;  // 90 of sm_90 and of sm_90a: only the PTX tells these apart
  bool for_debugger = false;
  std::string name;  // of the source file; mostly empty
  std::string text;  // of PTX: unpacked, without the zeros at its end
  // Of machine code: false where it has no function. What nvcc's linker for devices adds to each
  // program is such.
  bool has_functions = true;
};

// Unreadable, with what is wrong and where: it is no fat binary, ends too early, cannot be
// unpacked, or holds more than 256 MiB of PTX. Machine code is listed, and unpacked no further than
// to see whether there is any.
Outcome<std::vector<FatbinEntry>> read_fatbin(std::span<const std::byte> bytes,
                                              std::string_view name);

// Bytes of the fat binary that begins so, with its header; 0: it is none.
std::uint64_t fatbin_bytes(std::span<const std::byte> begin);

}  // namespace tilescope
