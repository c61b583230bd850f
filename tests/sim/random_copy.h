// Tensor copies with parameters drawn at random: the job that makes one, and by a model of its own,
// element by element, what memory must hold then.
//
// A job has two buffers: the tensor, and 16 KiB that shared memory holds before a copy out of it,
// or after a copy into it. A copy is a function of its number, so that a chip and the simulator can
// be asked about the same.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/run/job.h"

namespace tilescope::test {

struct RandomCopy {
  enum class Way : std::uint8_t { load, store, reduce };
  enum class Mode : std::uint8_t { tile, four_rows, im2col };
  Way way = Way::load;
  Mode mode = Mode::tile;
  std::string operation;               // of a reduction: "add"
  TensorMap map;                       // over buffer 0; nothing left out
  std::vector<std::int32_t> start;     // coordinates as the instruction has them
  std::vector<std::uint16_t> offsets;  // of W, H, D
  std::uint32_t shared = 0;            // where it begins in shared memory
  std::uint64_t number = 0;
};

// What there is on every chip with tensor maps, and what only Blackwell has: other atoms of
// swizzles, four rows at a time.
enum class Generation : std::uint8_t { hopper, blackwell };

RandomCopy random_copy(std::uint64_t number, Generation generation);
// Of interleaved tensors: boxes and im2col, on every chip with tensor maps.
RandomCopy random_interleaved_copy(std::uint64_t number);
Job job_of(const RandomCopy& copy);
// Whether a store or reduction reaches a row's end that is no multiple of 16 bytes.
bool writes_behind_rows(const RandomCopy& c);

// Both buffers of the job, after it.
std::vector<std::vector<std::byte>> expected(const RandomCopy& copy, const Job& job);
std::string text(const RandomCopy& copy);

}  // namespace tilescope::test
