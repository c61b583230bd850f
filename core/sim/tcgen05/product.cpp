#include "core/sim/tcgen05/product.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "core/numeric/fused_product.h"
#include "core/numeric/tensor_core.h"

namespace tilescope::sim {
namespace {

using u8 = std::uint8_t;
using u32 = std::uint32_t;
using s32 = std::int32_t;

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

// Bytes of an element as it lies in a row of operand_row bytes.
u32 width_of(ElementType type) {
  return static_cast<u32>(std::max(8, bits_of(type))) / 8;
}

// Elements in a piece of 16 bytes. Those of 4 and 6 bits lie 16 to a piece, packed from its first
// bit on, and the rest of it is padding (figures 202 and 203).
u32 elements_of_piece(ElementType type) {
  return 16 / width_of(type);
}

// Element e of a piece, into the bytes that it gets.
void take_element(ElementType type, const std::byte* piece, u32 e, std::byte* out) {
  const int bits = bits_of(type);
  if (bits >= 8) {
    const u32 width = width_of(type);
    std::memcpy(out, piece + e * width, width);
    return;
  }
  const u32 first = e * static_cast<u32>(bits);
  std::uint16_t two = 0;
  std::memcpy(&two, piece + first / 8, 2);  // bit 15 * 6 + 5 of 16 bytes: byte 12 at most
  *out = static_cast<std::byte>(two >> first % 8 & ((1 << bits) - 1));
}

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

MatrixShape shape_of(const MatrixPart& part, u32 k) {
  return {static_cast<int>(part.rows), static_cast<int>(part.columns), static_cast<int>(k)};
}

u32* cells(const MatrixPart& part, u32* rows) {
  return rows + part.at.lane * TensorMemory::pitch + part.at.column;
}

class Multiplication {
 public:
  // `rows`: TMEM from lane 0 on, TensorMemory::pitch apart.
  Multiplication(const Product& product, const std::byte* a, const std::byte* b, u32* rows)
      : product_(product), s_(product.shape), rows_(rows) {
    a_.resize(std::size_t{s_.m} * s_.k);
    b_.resize(std::size_t{s_.n} * s_.k);
    patterns(s_.a, s_.negate_a, a, s_.m * s_.k, a_.data());
    patterns(s_.b, s_.negate_b, b, s_.n * s_.k, b_.data());
  }

  void run(bool exact) {
    const std::vector<MatrixPart> parts = product_.parts();
    for (const MatrixPart& part : parts) prepare(part);
    if (product_.kind == MmaKind::i8) return integers(parts);
    exact ? chip(parts) : fused(parts);
  }

 private:
  // D before it is added to: zeros, or scaled.
  void prepare(const MatrixPart& part) {
    if (product_.accumulate && product_.scale == 0) return;
    for (u32 i = 0; i < part.rows; ++i) {
      u32* row = row_of(part, i);
      for (u32 j = 0; j < part.columns; ++j) row[j] = product_.accumulate ? scaled(row[j]) : 0;
    }
  }

  u32* row_of(const MatrixPart& part, u32 i) const {
    return cells(part, rows_) + i * TensorMemory::pitch;
  }

  u32 scaled(u32 pattern) const {
    const FloatFormat format = s_.d == SumType::f16 ? format_f16 : format_f32;
    return encode(format, std::ldexp(decode(format, pattern), -product_.scale));
  }

  void chip(const std::vector<MatrixPart>& parts) {
    const FloatFormat a_format = format_of(s_.a), b_format = format_of(s_.b);
    StepRule rule = step_rule(TensorChip::blackwell, a_format, static_cast<int>(s_.k));
    if (product_.kind == MmaKind::f8f6f4) rule.block = 32;
    rule.half_accumulator = s_.d == SumType::f16;
    std::vector<s32> significand(a_.size()), exponent(a_.size());
    take_apart(a_format, a_.data(), static_cast<int>(a_.size()), significand.data(),
               exponent.data());
    std::vector<s32> right(b_.size()), right_exponent(b_.size());
    u32 prepared = ~0u;
    for (const MatrixPart& part : parts) {
      if (part.column != prepared) {
        const std::vector<u32> b = transposed(b_.data(), part.column, part.columns, s_.k);
        take_apart(b_format, b.data(), static_cast<int>(b.size()), right.data(),
                   right_exponent.data());
        prepared = part.column;
      }
      const std::size_t first = std::size_t{part.row} * s_.k;
      multiply_add(rule, shape_of(part, s_.k), a_format,
                   {significand.data() + first, exponent.data() + first}, b_format,
                   {right.data(), right_exponent.data()}, cells(part, rows_),
                   static_cast<int>(TensorMemory::pitch));
    }
  }

  void fused(const std::vector<MatrixPart>& parts) {
    std::vector<float> a(a_.size()), b(b_.size()), right;
    values(s_.a, a_.data(), s_.m * s_.k, a.data());
    values(s_.b, b_.data(), s_.n * s_.k, b.data());
    u32 prepared = ~0u;
    for (const MatrixPart& part : parts) {
      if (part.column != prepared) {
        right = transposed(b.data(), part.column, part.columns, s_.k);
        prepared = part.column;
      }
      const float* left = a.data() + std::size_t{part.row} * s_.k;
      if (s_.d == SumType::f16) {
        fused_half(part, left, right.data());
      } else {
        // TMEM's cells are the sums themselves.
        multiply_fused(shape_of(part, s_.k), left, right.data(),
                       reinterpret_cast<float*>(cells(part, rows_)),
                       static_cast<int>(TensorMemory::pitch));
      }
    }
  }

  // f16 sums: added in f32, rounded once.
  void fused_half(const MatrixPart& part, const float* a, const float* b) {
    std::vector<float> sum(std::size_t{part.rows} * part.columns);
    for (u32 i = 0; i < part.rows; ++i) {
      const u32* row = row_of(part, i);
      for (u32 j = 0; j < part.columns; ++j) sum[i * part.columns + j] = half_value(row[j]);
    }
    multiply_fused(shape_of(part, s_.k), a, b, sum.data(), static_cast<int>(part.columns));
    for (u32 i = 0; i < part.rows; ++i) {
      u32* row = row_of(part, i);
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
  void integers(const std::vector<MatrixPart>& parts) {
    for (const MatrixPart& part : parts) {
      for (u32 i = 0; i < part.rows; ++i) {
        u32* row = row_of(part, i);
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

  const Product& product_;
  const MmaShape& s_;
  u32* rows_;
  std::vector<u32> a_, b_;  // patterns, row after row
};

// Which elements of D are undefined now: those of an undefined row of A or of B, and those that
// were and are added to. Of an f16 sum the upper half of the cell means nothing (9.7.16.10.4.1).
void mark(const Product& product, const u8* a_undefined, const u8* b_undefined,
          TensorMemory& memory) {
  const u8 defined = product.shape.d == SumType::f16 ? 0xc : 0;
  const u8* b_end = b_undefined + product.shape.n;
  const bool column = std::any_of(b_undefined, b_end, [](u8 v) { return v != 0; });
  for (const MatrixPart& part : product.parts()) {
    for (u32 i = 0; i < part.rows; ++i) {
      const u32 lane = part.at.lane + i;
      const bool row = a_undefined[part.row + i];
      const bool before =
          product.accumulate && memory.any_undefined(lane, part.at.column, part.columns);
      if (!row && !column && !before) {
        if (!product.accumulate && !defined) memory.define(lane, part.at.column, part.columns);
        if (!defined) continue;
      }
      for (u32 j = 0; j < part.columns; ++j) {
        const u32 at = part.at.column + j;
        const bool own = product.accumulate && (memory.undefined(lane, at) & ~defined & 0xf);
        const bool bad = row || own || b_undefined[part.column + j];
        memory.set_undefined(lane, at, bad ? 0xf : defined);
      }
    }
  }
}

// The lanes that must stay as they are, as they were.
class Kept {
 public:
  Kept(const Product& product, TensorMemory& memory) : memory_(memory) {
    if (!product.disabled[0] && !product.disabled[1]) return;
    for (const MatrixPart& part : product.parts()) {
      for (u32 lane = part.at.lane; lane < part.at.lane + part.rows; ++lane) {
        if (product.disabled[lane / 64] >> lane % 64 & 1) keep(lane, part);
      }
    }
  }
  ~Kept() {
    for (const Row& row : rows_) {
      std::copy(row.cells.begin(), row.cells.end(), memory_.row(row.lane) + row.column);
      for (u32 j = 0; j < row.undefined.size(); ++j) {
        memory_.set_undefined(row.lane, row.column + j, row.undefined[j]);
      }
    }
  }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;

 private:
  struct Row {
    u32 lane = 0, column = 0;
    std::vector<u32> cells;
    std::vector<u8> undefined;
  };
  void keep(u32 lane, const MatrixPart& part) {
    Row row{lane, part.at.column, {}, {}};
    const u32* from = memory_.row(lane) + part.at.column;
    row.cells.assign(from, from + part.columns);
    for (u32 j = 0; j < part.columns; ++j) {
      row.undefined.push_back(memory_.undefined(lane, part.at.column + j));
    }
    rows_.push_back(std::move(row));
  }

  TensorMemory& memory_;
  std::vector<Row> rows_;
};

}  // namespace

std::vector<MatrixPart> Product::parts() const {
  const u32 m = shape.m, n = shape.n;
  if (halves) {
    return {{0, 64, 0, n / 2, d}, {64, 64, n / 2, n / 2, {d.lane + 64, d.column}}};
  }
  if (m == 128) return {{0, m, 0, n, d}};
  std::vector<MatrixPart> out;
  if (!ws) {
    for (u32 i = 0; i < 4; ++i) out.push_back({16 * i, 16, 0, n, {d.lane + 32 * i, d.column}});
    return out;
  }
  const u32 count = 128 / m, columns = n / count;
  for (u32 i = 0; i < count; ++i) {
    out.push_back({0, m, i * columns, columns, {d.lane + m * i, d.column}});
  }
  return out;
}

std::vector<u32> pieces(const SharedMatrix& matrix, u32 rows, ElementType type) {
  std::vector<u32> out;
  const u32 lines = matrix.k_major ? rows : operand_row / width_of(type);
  const u32 count = matrix.k_major ? operand_row / 16 : rows / elements_of_piece(type);
  out.reserve(std::size_t{lines} * count);
  for (u32 l = 0; l < lines; ++l) {
    for (u32 p = 0; p < count; ++p) out.push_back(matrix.piece(l, p));
  }
  return out;
}

OperandBytes read_operand(const SharedMatrix& matrix, u32 rows, ElementType type,
                          const std::byte* memory, const u8* undefined_bits) {
  OperandBytes out;
  out.bytes.resize(std::size_t{rows} * operand_row);
  out.undefined.resize(rows);
  const u32 elements = elements_of_piece(type), width = width_of(type);
  const u32 lines = matrix.k_major ? rows : operand_row / width;
  const u32 count = matrix.k_major ? operand_row / 16 : rows / elements;
  for (u32 l = 0; l < lines; ++l) {
    for (u32 p = 0; p < count; ++p) {
      const u32 at = matrix.piece(l, p);
      const bool bad = undefined_bits && (undefined_bits[at / 8] | undefined_bits[at / 8 + 1]);
      if (matrix.k_major && bits_of(type) >= 8) {
        std::memcpy(&out.bytes[l * operand_row + p * 16], memory + at, 16);
        out.undefined[l] |= bad;
        continue;
      }
      for (u32 e = 0; e < elements; ++e) {
        const u32 row = matrix.k_major ? l : p * elements + e;
        const u32 k = matrix.k_major ? p * elements + e : l;
        take_element(type, memory + at, e, &out.bytes[row * operand_row + k * width]);
        out.undefined[row] |= bad;
      }
    }
  }
  return out;
}

OperandBytes read_operand(const Product& product, TensorAddress a, const TensorMemory& memory) {
  OperandBytes out;
  out.bytes.resize(std::size_t{product.shape.m} * operand_row);
  out.undefined.resize(product.shape.m);
  for (const MatrixPart& part : product.parts()) {
    for (u32 i = 0; i < part.rows; ++i) {
      const u32 lane = part.at.lane - product.d.lane + a.lane + i, row = part.row + i;
      std::memcpy(&out.bytes[row * operand_row], memory.row(lane) + a.column, operand_row);
      out.undefined[row] = memory.any_undefined(lane, a.column, operand_row / 4);
    }
  }
  return out;
}

void multiply(const Product& product, const std::byte* a, const u8* a_undefined, const std::byte* b,
              const u8* b_undefined, Sums sums, TensorMemory& memory, Executor* executor,
              std::shared_ptr<const void> keeps) {
  const bool masked = product.disabled[0] || product.disabled[1];
  const Kept kept(product, memory);
  if (sums == Sums::none) return mark(product, a_undefined, b_undefined, memory);
  // Marked first: what was undefined is asked for before it is written.
  mark(product, a_undefined, b_undefined, memory);
  memory.calculate(masked ? nullptr : executor,
                   [product, a, b, sums, keeps = std::move(keeps)](u32* rows) {
                     Multiplication(product, a, b, rows).run(sums == Sums::exact);
                   });
}

}  // namespace tilescope::sim
