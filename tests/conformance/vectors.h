// What a chip answered, kept: one line a spelling, under a header that says where from.
//
//   tilescope-conformance 1
//   chip NVIDIA H200, compute capability 9.0, driver for CUDA 13.0
//   date 2026-11-21
//   commit 0123abcd
//   = add.rn.f32 HASH... RAW...     bit for bit: a hash of each batch of lanes, and some lanes
//   whole ~ ex2.approx.f32 RAW...         approximate: those lanes alone
//   - add.rn.sat.f64;... WHY        the chip's assembler refuses these
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "core/error.h"
#include "tests/conformance/kernel.h"

namespace tilescope::conformance {

constexpr std::uint32_t batches = 8, batch_lanes = lanes / batches;
// The lanes that are kept whole: each its own pair of special values.
constexpr std::array<std::uint32_t, 8> kept_lanes = {0, 67, 134, 201, 268, 335, 402, 469};

struct Answer {
  char kind = '=';
  std::array<std::uint32_t, batches> hashes{};
  std::string raw;      // hex of every value of each of kept_lanes
  std::string refusal;  // of kind '-'
};

struct Vectors {
  std::string chip, date, commit;                      // chip: with its driver
  std::map<std::string, Answer, std::less<>> answers;  // by Spelling::key()
};

// Not of a wgmma or wmma, which have up to 128 results a lane: their hashes must do.
inline bool keeps_raw(const Kernel& kernel) {
  return kernel.key.rfind("wgmma", 0) != 0 && kernel.key.rfind("wmma", 0) != 0;
}
// The buffers of a run of this kernel, made short.
Answer answer_of(const Kernel& kernel, const std::vector<Buffer>& buffers, bool approximate);
// What lane kept_lanes[i] gave.
std::vector<std::uint64_t> kept(const Kernel& kernel, const Answer& answer, std::size_t i);

std::string line_of(const std::string& keys, const Answer& answer);
std::string write(const Vectors& vectors);
Outcome<Vectors> read_vectors(const std::string& text);
Outcome<Vectors> vectors_in(const std::string& file);

}  // namespace tilescope::conformance
