#include "core/sim/matrix/sums.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/numeric/fused_product.h"

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;
using s32 = std::int32_t;

// The patterns of a matrix, each in 32 bits, with signs changed where the product asks for it.
void patterns(ElementType type, bool negate, const std::byte* bytes, u32 count, u32* out) {
  const u32 flip = negate ? format_of(type).sign_bit() : 0;
  switch (width_of(type)) {
    case 1:
      for (u32 i = 0; i < count; ++i) out[i] = static_cast<u32>(bytes[i]) ^ flip;
      return;
    case 2:
      for (u32 i = 0; i < count; ++i) {
        std::uint16_t v;
        std::memcpy(&v, bytes + i * 2, 2);
        out[i] = v ^ flip;
      }
      return;
    default:  // tf32: the low 13 bits of its word do not count
      for (u32 i = 0; i < count; ++i) {
        std::memcpy(&out[i], bytes + i * 4, 4);
        out[i] = out[i] >> 13 ^ flip;
      }
  }
}

float as_float(u32 bits) {
  float f;
  std::memcpy(&f, &bits, sizeof f);
  return f;
}

std::array<float, 256> small_values(FloatFormat format) {
  std::array<float, 256> out{};
  for (u32 i = 0; i < 1u << format.bits(); ++i) out[i] = static_cast<float>(decode(format, i));
  return out;
}

const std::array<float, 256>& small_values(ElementType type) {
  static const std::array<float, 256> tables[] = {
      small_values(format_e4m3), small_values(format_e5m2), small_values(format_e2m3),
      small_values(format_e3m2), small_values(format_e2m1)};
  return tables[static_cast<int>(type) - static_cast<int>(ElementType::e4m3)];
}

// f16 to f32, exactly: the exponent's bias grows by 112, which a product does for subnormals too;
// infinities and NaN keep an exponent of all ones.
float half_value(u32 h) {
  const u32 size = (h & 0x7fff) << 13, sign = (h & 0x8000) << 16;
  const float finite = as_float(size) * 0x1p112f;
  u32 bits;
  std::memcpy(&bits, &finite, sizeof bits);
  bits = size >= 0x0f800000 ? size | 0x7f800000 : bits;
  return as_float(bits | sign);
}

void values(ElementType type, const u32* patterns, u32 count, float* out) {
  switch (type) {
    case ElementType::f16:
      for (u32 i = 0; i < count; ++i) out[i] = half_value(patterns[i]);
      return;
    case ElementType::bf16:
      for (u32 i = 0; i < count; ++i) out[i] = as_float(patterns[i] << 16);
      return;
    case ElementType::tf32:
      for (u32 i = 0; i < count; ++i) out[i] = as_float(patterns[i] << 13);
      return;
    default:
      for (u32 i = 0; i < count; ++i) out[i] = small_values(type)[patterns[i]];
  }
}

// Columns [first, first + columns) of B, K by columns.
template <class T>
std::vector<T> transposed(const T* rows, u32 first, u32 columns, u32 k) {
  std::vector<T> out(std::size_t{columns} * k);
  for (u32 j = 0; j < columns; ++j) {
    for (u32 p = 0; p < k; ++p) out[p * columns + j] = rows[(first + j) * k + p];
  }
  return out;
}

ProductShape shape_of(const SumPart& part, u32 k) {
  return {static_cast<int>(part.rows), static_cast<int>(part.columns), static_cast<int>(k)};
}

class Adder {
 public:
  Adder(const SumOfProducts& sum, const std::byte* a, const std::byte* b) : s_(sum) {
    a_.resize(std::size_t{s_.m} * s_.k);
    b_.resize(std::size_t{s_.n} * s_.k);
    patterns(s_.a, s_.negate_a, a, s_.m * s_.k, a_.data());
    patterns(s_.b, s_.negate_b, b, s_.n * s_.k, b_.data());
  }

  void run(bool exact, const std::vector<SumPart>& parts) {
    if (s_.d == SumType::s32) return integers(parts);
    exact ? chip(parts) : fused(parts);
  }

 private:
  void chip(const std::vector<SumPart>& parts) {
    const FloatFormat a_format = format_of(s_.a), b_format = format_of(s_.b);
    std::vector<s32> significand(a_.size()), exponent(a_.size());
    take_apart(a_format, a_.data(), static_cast<int>(a_.size()), significand.data(),
               exponent.data());
    std::vector<s32> right(b_.size()), right_exponent(b_.size());
    u32 prepared = ~0u;
    for (const SumPart& part : parts) {
      if (part.column != prepared) {
        const std::vector<u32> b = transposed(b_.data(), part.column, part.columns, s_.k);
        take_apart(b_format, b.data(), static_cast<int>(b.size()), right.data(),
                   right_exponent.data());
        prepared = part.column;
      }
      const std::size_t first = std::size_t{part.row} * s_.k;
      multiply_add(s_.rule, shape_of(part, s_.k), a_format,
                   {significand.data() + first, exponent.data() + first}, b_format,
                   {right.data(), right_exponent.data()}, part.cells, static_cast<int>(part.pitch));
    }
  }

  void fused(const std::vector<SumPart>& parts) {
    std::vector<float> a(a_.size()), b(b_.size()), right;
    values(s_.a, a_.data(), s_.m * s_.k, a.data());
    values(s_.b, b_.data(), s_.n * s_.k, b.data());
    u32 prepared = ~0u;
    for (const SumPart& part : parts) {
      if (part.column != prepared) {
        right = transposed(b.data(), part.column, part.columns, s_.k);
        prepared = part.column;
      }
      const float* left = a.data() + std::size_t{part.row} * s_.k;
      if (s_.d == SumType::f16) {
        fused_half(part, left, right.data());
      } else {
        // The cells are the sums themselves.
        multiply_fused(shape_of(part, s_.k), left, right.data(),
                       reinterpret_cast<float*>(part.cells), static_cast<int>(part.pitch));
      }
    }
  }

  // f16 sums: added in f32, rounded once.
  void fused_half(const SumPart& part, const float* a, const float* b) {
    std::vector<float> sum(std::size_t{part.rows} * part.columns);
    for (u32 i = 0; i < part.rows; ++i) {
      const u32* row = part.cells + i * part.pitch;
      for (u32 j = 0; j < part.columns; ++j) sum[i * part.columns + j] = half_value(row[j]);
    }
    multiply_fused(shape_of(part, s_.k), a, b, sum.data(), static_cast<int>(part.columns));
    for (u32 i = 0; i < part.rows; ++i) {
      u32* row = part.cells + i * part.pitch;
      for (u32 j = 0; j < part.columns; ++j) {
        row[j] = encode(format_f16, static_cast<double>(sum[i * part.columns + j]));
      }
    }
  }

  static std::int64_t integer(ElementType type, u32 pattern) {
    return type == ElementType::s8 ? static_cast<std::int8_t>(pattern)
                                   : static_cast<std::int64_t>(pattern);
  }

  // Exact; the sum wraps, or stops at the largest and the least (table 42, bit 3).
  void integers(const std::vector<SumPart>& parts) {
    for (const SumPart& part : parts) {
      for (u32 i = 0; i < part.rows; ++i) {
        u32* row = part.cells + i * part.pitch;
        for (u32 j = 0; j < part.columns; ++j) {
          std::int64_t sum = static_cast<s32>(row[j]);
          const u32* a = &a_[(part.row + i) * s_.k];
          const u32* b = &b_[(part.column + j) * s_.k];
          for (u32 k = 0; k < s_.k; ++k) sum += integer(s_.a, a[k]) * integer(s_.b, b[k]);
          if (s_.saturate) sum = std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX);
          row[j] = static_cast<u32>(sum);
        }
      }
    }
  }

  const SumOfProducts& s_;
  std::vector<u32> a_, b_;  // patterns, row after row
};

// Of two rows of bits, how many are set in both.
u32 common_bits(const std::byte* a, const std::byte* b, u32 bytes) {
  u32 out = 0;
  for (u32 at = 0; at < bytes; at += 8) {
    std::uint64_t x, y;
    std::memcpy(&x, a + at, 8);
    std::memcpy(&y, b + at, 8);
    out += static_cast<u32>(__builtin_popcountll(x & y));
  }
  return out;
}

void add_bits(const SumOfProducts& s, const std::byte* a, const std::byte* b,
              const std::vector<SumPart>& parts) {
  const u32 bytes = s.k / 8;
  for (const SumPart& part : parts) {
    for (u32 i = 0; i < part.rows; ++i) {
      u32* row = part.cells + i * part.pitch;
      for (u32 j = 0; j < part.columns; ++j) {
        row[j] += common_bits(a + (part.row + i) * bytes, b + (part.column + j) * bytes, bytes);
      }
    }
  }
}

}  // namespace

int bits_of(ElementType type) {
  switch (type) {
    case ElementType::b1:
      return 1;
    case ElementType::f16:
    case ElementType::bf16:
      return 16;
    case ElementType::tf32:
      return 32;
    case ElementType::e2m3:
    case ElementType::e3m2:
      return 6;
    case ElementType::e2m1:
      return 4;
    default:
      return 8;
  }
}

FloatFormat format_of(ElementType type) {
  switch (type) {
    case ElementType::bf16:
      return format_bf16;
    case ElementType::tf32:
      return format_tf32;
    case ElementType::e4m3:
      return format_e4m3;
    case ElementType::e5m2:
      return format_e5m2;
    case ElementType::e2m3:
      return format_e2m3;
    case ElementType::e3m2:
      return format_e3m2;
    case ElementType::e2m1:
      return format_e2m1;
    default:
      return format_f16;
  }
}

u32 width_of(ElementType type) {
  return static_cast<u32>(std::max(8, bits_of(type))) / 8;
}

void add_products(const SumOfProducts& sum, const std::byte* a, const std::byte* b, bool exact,
                  const std::vector<SumPart>& parts) {
  if (sum.a == ElementType::b1) return add_bits(sum, a, b, parts);
  Adder(sum, a, b).run(exact, parts);
}

}  // namespace tilescope::sim
