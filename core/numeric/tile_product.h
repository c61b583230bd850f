// D += A * B with operands as a tensor core reads them, in f32: what wgmma and tcgen05 are
// simulated by. Two ways to add:
//
//   fused   every element is a chain of fmaf in the order of k: as fast as the processor can, what
//           `--numerics fast` takes. Not what the chip gives.
//   exact   as the chip does (core/numeric/tensor_core.h), step by step in the order of k.
//
// Law: the same bits whatever the processor, with and without vector instructions, and wherever D
// is; exact sums are multiply_add()'s.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "core/numeric/tensor_core.h"

namespace tilescope {

// Rows of k elements, one after the other; an element has 1, 2 or 4 bytes (those of 4 and 6 bits
// one of their own, tf32 four, of which the low 13 bits do not count). Rows have a multiple of 32
// bytes. `negate`: with the other sign.
struct TileOperand {
  FloatFormat format{};
  const std::byte* bytes = nullptr;
  bool negate = false;
};

// Powers of two by which the rows of an operand are multiplied, one each: exponents, or scale_nan
// (ue8m0 has such a number). What they do to the sum is what MMA-Sim found of .kind::mxf8f6f4
// (arXiv 2511.10909, github.com/microsoft/MMA-Sim): a product's exponent is the sum of those of its
// operands and of their scale factors.
inline constexpr std::int16_t scale_nan = 8192;
inline constexpr std::int16_t most_fused = 40;  // powers that f32 has of scaled elements' products
struct TileScales {
  const std::int16_t *a = nullptr, *b = nullptr;  // of all rows of A, and of all columns of B
};

// Where D is, f32 patterns:
//
//   rows        element (i, j) in cells[i * stride + j]
//   registers   as a warpgroup holds it (PTX ISA 9.7.15.5.1), 16 rows a warp: register r of warp w
//               is registers[w * n / 2 + r], 32 lanes. m is a multiple of 16.
struct TileSums {
  std::uint32_t* cells = nullptr;
  int stride = 0;
  std::uint32_t* const* registers = nullptr;
};

// Vector instructions to take: what the processor has, or fewer (for tests).
enum class TileVectors : std::uint8_t { base, avx2, avx512 };
TileVectors best_vectors();

// Numbers on a cache line's beginning; what they are when made is not said.
template <class T>
class AlignedArray {
 public:
  AlignedArray() = default;
  explicit AlignedArray(std::size_t count)
      : numbers_(static_cast<T*>(::operator new(count * sizeof(T), alignment))) {}
  T* data() { return numbers_.get(); }
  const T* data() const { return numbers_.get(); }

 private:
  static constexpr std::align_val_t alignment{64};
  struct Free {
    void operator()(T* p) const { ::operator delete(p, alignment); }
  };
  std::unique_ptr<T, Free> numbers_;
};

// Of a product m x n x k: packs each operand when it is given, then adds. D is in rows or in
// registers throughout.
class TileProduct {
 public:
  enum class Sums : std::uint8_t { fused, exact };
  enum class Where : std::uint8_t { rows, registers };
  // k: of whole steps, where sums are exact.
  TileProduct(Sums sums, Where where, int k, TileVectors vectors = best_vectors());

  void take_a(const TileOperand& a, int m);
  void take_b(const TileOperand& b, int n);  // n: a multiple of 8
  // Adds the products of rows [row, row + rows) of A with all columns of B. `row` and `rows` are
  // multiples of 16 where D is in registers. Exact ones by `rule`, which does() has to know.
  void add(int row, int rows, const StepRule& rule, const TileSums& d) const;
  // The same with scale factors, where D is in rows; fused ones take none beyond most_fused.
  void add(int row, int rows, const StepRule& rule, const TileSums& d,
           const TileScales& scales) const;

  // The rules that this can add by: of f32 sums, and steps whose sums fit 32 bits.
  static bool does(const StepRule& rule, FloatFormat a, FloatFormat b);

 private:
  bool exact() const { return sums_ == Sums::exact; }
  bool registers() const { return where_ == Where::registers; }

  Sums sums_;
  Where where_;
  TileVectors vectors_;
  int k_ = 0, n_ = 0;
  FloatFormat a_format_{}, b_format_{};
  AlignedArray<float> a_, b_;
  AlignedArray<std::int16_t> a_exponents_, b_exponents_;
};

}  // namespace tilescope
