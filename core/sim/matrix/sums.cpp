#include "core/sim/matrix/sums.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "core/numeric/tile_product.h"

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

// Columns [first, first + columns) of B, K by columns.
template <class T>
std::vector<T> transposed(const T* rows, u32 first, u32 columns, u32 k) {
  std::vector<T> out(std::size_t{columns} * k);
  for (u32 j = 0; j < columns; ++j) {
    for (u32 p = 0; p < k; ++p) out[p * columns + j] = rows[(first + j) * k + p];
  }
  return out;
}

// By steps that TileProduct cannot do: sums of f16, and longer steps.
class Chip {
 public:
  Chip(const SumOfProducts& sum, const std::byte* a, const std::byte* b) : s_(sum) {
    a_.resize(std::size_t{s_.m} * s_.k);
    b_.resize(std::size_t{s_.n} * s_.k);
    patterns(s_.a, s_.negate_a, a, s_.m * s_.k, a_.data());
    patterns(s_.b, s_.negate_b, b, s_.n * s_.k, b_.data());
  }

  void run(const std::vector<SumPart>& parts) {
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
      const ProductShape shape{static_cast<int>(part.rows), static_cast<int>(part.columns),
                               static_cast<int>(s_.k)};
      multiply_add(s_.rule, shape, a_format, {significand.data() + first, exponent.data() + first},
                   b_format, {right.data(), right_exponent.data()}, part.cells,
                   static_cast<int>(part.pitch));
    }
  }

 private:
  const SumOfProducts& s_;
  std::vector<u32> a_, b_;  // patterns, row after row
};

bool in_tiles(const SumOfProducts& s, bool exact) {
  return !exact || TileProduct::does(s.rule, format_of(s.a), format_of(s.b));
}

TileProduct tile_product(const SumOfProducts& s, const std::byte* a, bool exact,
                         TileProduct::Where where) {
  TileProduct out(exact ? TileProduct::Sums::exact : TileProduct::Sums::fused, where,
                  static_cast<int>(s.k));
  out.take_a({format_of(s.a), a, s.negate_a}, static_cast<int>(s.m));
  return out;
}

// Sums of f16, by fused multiply-add: added in f32, rounded once.
void add_halves(const TileProduct& product, const SumPart& part) {
  std::vector<u32> sums(std::size_t{part.rows} * part.columns);
  for (u32 i = 0; i < part.rows; ++i) {
    const u32* row = part.cells + i * part.pitch;
    for (u32 j = 0; j < part.columns; ++j) {
      const auto value = static_cast<float>(decode(format_f16, row[j] & 0xffff));
      std::memcpy(&sums[i * part.columns + j], &value, sizeof value);
    }
  }
  product.add(static_cast<int>(part.row), static_cast<int>(part.rows), {},
              {sums.data(), static_cast<int>(part.columns), nullptr});
  for (u32 i = 0; i < part.rows; ++i) {
    u32* row = part.cells + i * part.pitch;
    for (u32 j = 0; j < part.columns; ++j) {
      float value;
      std::memcpy(&value, &sums[i * part.columns + j], sizeof value);
      row[j] = encode(format_f16, static_cast<double>(value));
    }
  }
}

void add_tiles(const SumOfProducts& s, const std::byte* a, const std::byte* b, bool exact,
               const std::vector<SumPart>& parts) {
  TileProduct product = tile_product(s, a, exact, TileProduct::Where::rows);
  u32 taken = ~0u;
  for (const SumPart& part : parts) {
    if (part.column != taken) {
      const std::byte* columns = b + std::size_t{part.column} * s.k * width_of(s.b);
      product.take_b({format_of(s.b), columns, s.negate_b}, static_cast<int>(part.columns));
      taken = part.column;
    }
    if (s.d == SumType::f16) {
      add_halves(product, part);
    } else {
      product.add(static_cast<int>(part.row), static_cast<int>(part.rows), s.rule,
                  {part.cells, static_cast<int>(part.pitch), nullptr});
    }
  }
}

// ---- scale factors of blocks ----

void add_groups(const SumOfProducts& s, const std::byte* a, const std::byte* b, bool exact,
                const std::vector<SumPart>& parts) {
  const u32 row = s.k / 2, factors = s.k / s.scales.block;  // bytes
  const bool fused = !exact &&
                     TileGroups::fuses(s.scales.format, s.scales.a, std::size_t{s.m} * factors) &&
                     TileGroups::fuses(s.scales.format, s.scales.b, std::size_t{s.n} * factors);
  TileGroups product(s.scales.format, static_cast<int>(s.k), static_cast<int>(s.scales.block),
                     fused ? TileProduct::Sums::fused : TileProduct::Sums::exact);
  product.take_a({a, s.scales.a, s.negate_a}, static_cast<int>(s.m));
  u32 taken = ~0u;
  for (const SumPart& part : parts) {
    if (part.column != taken) {
      const std::size_t first = part.column;
      product.take_b({b + first * row, s.scales.b + first * factors, s.negate_b},
                     static_cast<int>(part.columns));
      taken = part.column;
    }
    product.add(static_cast<int>(part.row), static_cast<int>(part.rows), part.cells,
                static_cast<int>(part.pitch));
  }
}

std::vector<std::int16_t> exponents_of(const std::byte* ue8m0, u32 count) {
  std::vector<std::int16_t> out(count);
  for (u32 i = 0; i < count; ++i) {
    const auto field = static_cast<std::int16_t>(ue8m0[i]);
    out[i] = field == 255 ? scale_nan : static_cast<std::int16_t>(field - 127);
  }
  return out;
}

// Of a factor a row: K is one block.
void add_scaled(const SumOfProducts& s, const std::byte* a, const std::byte* b, bool exact,
                const std::vector<SumPart>& parts) {
  const std::vector<std::int16_t> rows = exponents_of(s.scales.a, s.m),
                                  columns = exponents_of(s.scales.b, s.n);
  const auto fits = [](std::int16_t e) { return std::abs(e) <= most_fused; };
  const bool fused = !exact && std::all_of(rows.begin(), rows.end(), fits) &&
                     std::all_of(columns.begin(), columns.end(), fits);
  TileProduct product = tile_product(s, a, !fused, TileProduct::Where::rows);
  u32 taken = ~0u;
  for (const SumPart& part : parts) {
    const std::int16_t* up = columns.data() + part.column;
    if (part.column != taken) {
      const std::byte* first = b + std::size_t{part.column} * s.k;
      product.take_b({format_of(s.b), first, s.negate_b}, static_cast<int>(part.columns));
      taken = part.column;
    }
    product.add(static_cast<int>(part.row), static_cast<int>(part.rows), s.rule,
                {part.cells, static_cast<int>(part.pitch), nullptr}, {rows.data(), up});
  }
}

std::int64_t integer(ElementType type, std::byte b) {
  return type == ElementType::s8 ? static_cast<std::int8_t>(b) : static_cast<std::int64_t>(b);
}

// Exact; the sum wraps, or stops at the largest and the least (table 42, bit 3).
void add_integers(const SumOfProducts& s, const std::byte* a, const std::byte* b,
                  const std::vector<SumPart>& parts) {
  for (const SumPart& part : parts) {
    for (u32 i = 0; i < part.rows; ++i) {
      u32* row = part.cells + i * part.pitch;
      const std::byte* left = a + (part.row + i) * s.k;
      for (u32 j = 0; j < part.columns; ++j) {
        std::int64_t sum = static_cast<s32>(row[j]);
        const std::byte* right = b + (part.column + j) * s.k;
        for (u32 k = 0; k < s.k; ++k) sum += integer(s.a, left[k]) * integer(s.b, right[k]);
        if (s.saturate) sum = std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX);
        row[j] = static_cast<u32>(sum);
      }
    }
  }
}

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
  if (sum.d == SumType::s32) return add_integers(sum, a, b, parts);
  if (sum.scales.block) {
    return sum.scales.packed ? add_groups(sum, a, b, exact, parts)
                             : add_scaled(sum, a, b, exact, parts);
  }
  if (in_tiles(sum, exact)) return add_tiles(sum, a, b, exact, parts);
  Chip(sum, a, b).run(parts);
}

bool add_in_registers(const SumOfProducts& sum, bool exact) {
  return sum.d == SumType::f32 && in_tiles(sum, exact);
}

void add_products(const SumOfProducts& sum, const std::byte* a, const std::byte* b, bool exact,
                  std::uint32_t* const* registers) {
  TileProduct product = tile_product(sum, a, exact, TileProduct::Where::registers);
  product.take_b({format_of(sum.b), b, sum.negate_b}, static_cast<int>(sum.n));
  product.add(0, static_cast<int>(sum.m), sum.rule, {nullptr, 0, registers});
}

}  // namespace tilescope::sim
