// tcgen05.cp and tcgen05.shift as operations in flight (PTX ISA 9.7.16.9): what their words mean,
// which cells of TMEM they touch, and which operations of their thread they come after.
//
// tcgen05.cp copies lines of 16 or 32 bytes of a K-major matrix in shared memory, as
// core/sim/matrix/shared_matrix.h finds them, into lanes of TMEM from the address's column on:
//
//   128x256b, 128x128b           line l to lane l
//   4x256b                       line l to lane 32 l + the address's lane
//   64x128b .warpx2::02_13       line l to lanes l and l + 64
//   64x128b .warpx2::01_23       line l to lanes l + l / 32 * 32 and 32 after it
//   32x128b .warpx4              line l to lanes l, l + 32, l + 64, l + 96
//
// (The ISA gives the shapes, and says which warps form a pair; which line goes where is as CuTe's
// Copy_Traits<SM100_UTCCP_...> have it, copy_traits_sm100.hpp.)
//
// tcgen05.shift.down moves 32 bytes of each lane of a warp's 32 one lane down, "except the last":
// lane l gets what lane l + 1 held, and the last keeps what it had, which is what tcgen05.cp.4x256b
// then refreshes (CuTe: "to refresh the last 4 lanes of each tmem subpartition"). The ISA's words
// leave the direction open; CuTeDSL says it of .ashift, which shifts likewise ("observed on B200",
// experimental/primitives, tcgen05_mma).
#pragma once

#include <cstdint>
#include <vector>

#include "core/sim/async/operation.h"
#include "core/sim/matrix/shared_matrix.h"
#include "core/sim/tcgen05/in_flight.h"

namespace tilescope::sim {

// The words of Field::copied, Field::warps and Field::from_format.
enum class CopyShape : std::uint8_t { none, x128x256b, x4x256b, x128x128b, x64x128b, x32x128b };
enum class CopyWarps : std::uint8_t { none, pairs_02_13, pairs_01_23, all };
enum class Packed : std::uint8_t { none, six_bits, four_bits };

struct TensorCopy {
  CopyShape shape = CopyShape::none;
  CopyWarps warps = CopyWarps::none;
  Packed packed = Packed::none;
  bool pair = false;  // both blocks of a pair copy, each from its own shared memory
  TensorAddress to;
  SharedMatrix from;

  std::uint32_t lines() const;
  std::uint32_t pieces() const;  // of 16 bytes in a line
  std::vector<std::uint32_t> lanes_of(std::uint32_t line) const;
  std::vector<CellRange> cells() const;
};

// 16 elements of 4 or 6 bits, packed from the first bit on, each into a byte of its own
// (9.7.16.9.1): 6 bits as the lower 6; 4 bits as bits 2 to 5, so that they are an E2M3 with two
// bits of 0 behind. (The ISA shows the bits in figures 195, 197 and 198. Those of 4 are said in
// words by Cutlass, mma_traits_sm120.hpp: "MMA F8F6F4 expects the four-bit data to be in the
// middle".) Undefined bytes likewise: an element is undefined where one of its bytes is.
void unpack(Packed format, const std::byte* from, const std::uint8_t* from_undefined, std::byte* to,
            std::uint8_t* to_undefined);

AsyncOperation copy_operation(const TensorCopy& copy);
TensorCopy copy_in(const AsyncOperation& operation);
AsyncOperation shift_operation(TensorAddress at, bool pair);
TensorAddress shifted(const AsyncOperation& operation);
std::vector<CellRange> written_by_shift(TensorAddress at);
std::vector<CellRange> read_by_shift(TensorAddress at);

// When it was issued, in events of the block (core/sim/tcgen05/unit.h); of cp and shift.
void set_issued_at(AsyncOperation& operation, std::uint64_t event);
std::uint64_t issued_at(const AsyncOperation& operation);

// Of a pair, an operation is in flight in the block that issued it, and guards what it uses of the
// other one: a guard has the same words.
extern const Work tensor_copy_work, tensor_shift_work, tensor_copy_guard, tensor_shift_guard;
bool is_tensor_copy(const AsyncOperation& operation);   // or a guard
bool is_tensor_shift(const AsyncOperation& operation);  // or a guard

}  // namespace tilescope::sim
