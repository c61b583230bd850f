#include "core/sim/tcgen05/product.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/numeric/tensor_core.h"
#include "core/sim/matrix/sparse.h"

namespace tilescope::sim {
namespace {

using u8 = std::uint8_t;
using u32 = std::uint32_t;

// The sum's parts, in TMEM's rows from lane 0 on.
std::vector<SumPart> sum_parts(const Product& product, u32* rows) {
  std::vector<SumPart> out;
  for (const MatrixPart& part : product.parts()) {
    out.push_back({part.row, part.rows, part.column, part.columns,
                   rows + part.at.lane * TensorMemory::pitch + part.at.column,
                   TensorMemory::pitch});
  }
  return out;
}

u32 scaled(SumType type, int scale, u32 pattern) {
  const FloatFormat format = type == SumType::f16 ? format_f16 : format_f32;
  return encode(format, std::ldexp(decode(format, pattern), -scale));
}

// D before it is added to: zeros, or scaled.
void prepare(const Product& product, const SumPart& part) {
  if (product.accumulate && product.scale == 0) return;
  for (u32 i = 0; i < part.rows; ++i) {
    u32* row = part.cells + i * part.pitch;
    for (u32 j = 0; j < part.columns; ++j) {
      row[j] = product.accumulate ? scaled(product.shape.d, product.scale, row[j]) : 0;
    }
  }
}

// How the chip adds, of floats.
StepRule rule_of(const Product& product) {
  const MmaShape& s = product.shape;
  if (product.kind == MmaKind::i8) return {};
  const u32 stored = s.sparse ? s.k / 2 : s.k;
  StepRule rule = step_rule(TensorChip::blackwell, format_of(s.a), static_cast<int>(stored));
  if (product.kind == MmaKind::f8f6f4 || product.kind == MmaKind::mxf8f6f4) rule.block = 32;
  rule.half_accumulator = s.d == SumType::f16;
  return rule;
}

// A sparse A's rows one by one, each with the elements of B that its stored ones meet: where B's
// others would count, being no numbers; and where elements of 4 bits are summed by 16 neighbours.
void add_row_by_row(SumOfProducts sum, const u8* stored, const std::byte* a, const std::byte* b,
                    bool exact, const std::vector<SumPart>& parts) {
  const bool packed = sum.scales.packed;
  const u32 factors = sum.scales.block ? sum.k / sum.scales.block : 0, m = sum.m, n = sum.n;
  const u32 width = packed ? 1 : width_of(sum.a), whole = packed ? sum.k / 2 : sum.k;
  const std::byte* a_scales = sum.scales.a;
  sum.m = 1;
  sum.k /= 2;
  sum.scales.block /= 2;
  for (u32 r = 0; r < m; ++r) {
    const u8* row = stored + r * (whole / 2);
    const std::vector<std::byte> mine = chosen(row, whole / 2, width, 1, a + r * whole * width),
                                 theirs = chosen(row, whole / 2, width, n, b);
    if (a_scales) sum.scales.a = a_scales + r * factors;
    std::vector<SumPart> of_row;
    for (const SumPart& part : parts) {
      if (r < part.row || r >= part.row + part.rows) continue;
      of_row.push_back(
          {0, 1, part.column, part.columns, part.cells + (r - part.row) * part.pitch, part.pitch});
    }
    add_products(sum, mine.data(), theirs.data(), exact, of_row);
  }
}

void calculate(const Product& product, const std::byte* a, const std::byte* b, bool exact,
               u32* rows) {
  const MmaShape& s = product.shape;
  const std::vector<SumPart> parts = sum_parts(product, rows);
  for (const SumPart& part : parts) prepare(product, part);
  SumOfProducts sum = sum_of(product);
  if (!s.sparse) return add_products(sum, a, b, exact, parts);
  const bool packed = is_packed(product.kind);
  if (packed || has_specials(s.b, b, std::size_t{s.n} * s.row_bytes())) {
    if (!packed) sum.rule.block /= 2;
    return add_row_by_row(sum, product.stored, a, b, exact, parts);
  }
  add_products(sum, a, b, exact, parts);
}

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

SumOfProducts sum_of(const Product& product) {
  const MmaShape& s = product.shape;
  SumOfProducts out{
      s.m,
      s.n,
      s.k,
      s.a,
      s.b,
      s.d,
      s.saturate,
      s.negate_a,
      s.negate_b,
      rule_of(product),
      {s.scale_format, s.scale_block, is_packed(product.kind), product.a_scales, product.b_scales}};
  // Of a sparse A: the zeros between the stored elements add nothing.
  if (s.sparse && !is_packed(product.kind)) out.rule.block *= 2;
  return out;
}

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

namespace {

// An element alone, from the byte that it has in TMEM.
void take_from_bytes(ElementType type, std::vector<std::byte>& bytes) {
  const int bits = bits_of(type);
  for (std::byte& b : bytes) {
    b = bits == 4 ? b >> 2 & std::byte{0x0f} : b & std::byte{0x3f};
  }
}

}  // namespace

OperandBytes read_operand(const Product& product, TensorAddress a, const TensorMemory& memory) {
  OperandBytes out;
  const u32 row_bytes = product.shape.a_row_bytes();
  out.bytes.resize(std::size_t{product.shape.m} * row_bytes);
  out.undefined.resize(product.shape.m);
  for (const MatrixPart& part : product.parts()) {
    for (u32 i = 0; i < part.rows; ++i) {
      const u32 lane = part.at.lane - product.d.lane + a.lane + i, row = part.row + i;
      std::memcpy(&out.bytes[row * row_bytes], memory.row(lane) + a.column, row_bytes);
      out.undefined[row] = memory.any_undefined(lane, a.column, row_bytes / 4);
    }
  }
  if (!is_packed(product.kind) && bits_of(product.shape.a) < 8) {
    take_from_bytes(product.shape.a, out.bytes);
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
                     calculate(product, a, b, sums == Sums::exact, rows);
                   });
}

}  // namespace tilescope::sim
