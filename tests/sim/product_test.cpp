// Random products of tcgen05.mma: whatever the PTX ISA allows (tables 39, 42, 51 to 54), from where
// it may lie, against the chip's rule in core/numeric and against sums in f64.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "core/numeric/small_float.h"
#include "core/numeric/tensor_core.h"
#include "core/sim/tcgen05/multiplication.h"

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

struct Draw {
  std::mt19937 bits;
  u32 below(u32 n) { return static_cast<u32>(bits() % n); }
  bool flip() { return below(2) != 0; }
};

FloatFormat float_format(ElementType type) {
  constexpr FloatFormat formats[] = {format_f16,  format_bf16, format_tf32, format_e4m3,
                                     format_e5m2, format_e2m3, format_e3m2, format_e2m1};
  return formats[static_cast<int>(type)];
}

// One instruction, as its two descriptors and its modifiers say.
struct Request {
  MmaKind kind = MmaKind::f16;
  u32 a = 0, b = 0, d = 1;  // codes of the types (table 42)
  u32 m = 128, n = 64;
  bool ws = false, transpose_a = false, transpose_b = false, negate_a = false, negate_b = false;
  bool saturate = false, accumulate = false, a_in_tmem = false;
  u32 lane = 0, scale = 0;

  u32 instruction() const {
    return u32{saturate} << 3 | d << 4 | a << 7 | b << 10 | u32{negate_a} << 13 |
           u32{negate_b} << 14 | u32{transpose_a} << 15 | u32{transpose_b} << 16 | (n >> 3) << 17 |
           (m >> 4) << 24;
  }
};

Request draw_request(Draw& draw) {
  constexpr u32 narrow[] = {0, 1, 3, 4, 5};
  Request r;
  r.kind = static_cast<MmaKind>(1 + draw.below(4));
  const bool integers = r.kind == MmaKind::i8;
  const auto type = [&] {
    return r.kind == MmaKind::tf32     ? 2
           : r.kind == MmaKind::f8f6f4 ? narrow[draw.below(5)]
                                       : draw.below(2);
  };
  r.a = type();
  r.b = type();
  const bool halves = r.kind == MmaKind::f8f6f4 || (r.kind == MmaKind::f16 && !r.a && !r.b);
  r.d = integers ? 2 : halves ? draw.below(2) : 1;
  r.ws = draw.below(4) == 0;
  r.m = 32u << (r.ws ? draw.below(3) : 1 + draw.below(2));
  r.n = r.ws       ? 64u << draw.below(3)
        : integers ? 16 * (1 + draw.below(16))
                   : 8 * (1 + draw.below(32));
  r.a_in_tmem = draw.flip() && (!r.ws || r.m == 128) && (r.kind != MmaKind::f8f6f4 || r.a < 2);
  r.transpose_a = !r.a_in_tmem && draw.flip();
  const bool bytes = integers || r.kind == MmaKind::f8f6f4;
  r.transpose_b = (!bytes || r.n % 16 == 0) && draw.flip();
  r.negate_a = !integers && draw.flip();
  r.negate_b = !integers && draw.flip();
  r.saturate = integers && draw.flip();
  r.accumulate = draw.flip();
  const bool scales = r.kind == MmaKind::f16 || r.kind == MmaKind::tf32;
  r.scale = scales && r.accumulate && draw.flip() ? draw.below(16) : 0;
  r.lane = r.m == 64 && !r.ws ? 16 * draw.below(2) : 0;
  return r;
}

// 128 bytes swizzled; of transposed tf32 by 32 (9.7.16.10.1).
// Of an offset in the block's own shared memory, which begins behind the system's.
u64 descriptor(u32 address, bool by_32) {
  return (address + ptx::system_shared) >> 4 | u64{4096 >> 4} << 16 |
         u64{by_32 ? 512u >> 4 : 1024u >> 4} << 32 | u64{1} << 46 | u64{by_32 ? 1u : 2u} << 61;
}

// An operand: patterns, row after row, and what they are worth.
struct Operand {
  std::vector<u32> patterns;
  std::vector<double> values;
};

Operand draw_operand(Draw& draw, ElementType type, u32 rows, u32 k) {
  Operand out;
  for (u32 i = 0; i < rows * k; ++i) {
    if (type == ElementType::u8 || type == ElementType::s8) {
      const u32 p = draw.below(256);
      out.patterns.push_back(p);
      out.values.push_back(type == ElementType::u8
                               ? static_cast<double>(p)
                               : static_cast<double>(static_cast<std::int8_t>(p)));
      continue;
    }
    // Below 4, which every type holds.
    const double v = std::ldexp(1 + draw.below(4096) / 4096.0, static_cast<int>(draw.below(5)) - 4);
    const FloatFormat format = float_format(type);
    const u32 p = encode(format, draw.flip() ? v : -v);
    out.patterns.push_back(p);
    out.values.push_back(decode(format, p));
  }
  return out;
}

// Element e of 16 bytes, as it lies in shared memory: those of 4 and 6 bits 16 to a piece, packed.
void put(ElementType type, u32 pattern, u32 e, std::byte* piece) {
  const u32 bits = static_cast<u32>(bits_of(type));
  const u32 v = type == ElementType::tf32 ? pattern << 13 : pattern;
  for (u32 b = 0; b < bits; ++b) {
    const u32 at = e * bits + b;
    if (v >> b & 1) piece[at / 8] |= std::byte{1} << at % 8;
  }
}

void place(const SharedMatrix& matrix, ElementType type, const Operand& operand, u32 rows, u32 k,
           std::vector<std::byte>& memory) {
  const u32 elements = std::min(16u, 128 / static_cast<u32>(bits_of(type)));
  for (u32 i = 0; i < rows; ++i) {
    for (u32 p = 0; p < k; ++p) {
      const u32 along = matrix.k_major ? p : i, line = matrix.k_major ? i : p;
      put(type, operand.patterns[i * k + p], along % elements,
          &memory[matrix.piece(line, along / elements)]);
    }
  }
}

// Where row m and column n of D are (9.7.16.10.5).
TensorAddress cell_of(const Request& r, u32 m, u32 n) {
  if (r.m == 128) return {m, n};
  if (!r.ws) return {r.lane + m / 16 * 32 + m % 16, n};
  const u32 parts = 128 / r.m, columns = r.n / parts;
  return {m + r.m * (n / columns), n % columns};
}

constexpr u32 a_column = 384;  // behind D's at most 256

// A in TMEM: row m where D has it, K along the columns.
void place_in_tmem(const Request& r, ElementType type, const Operand& a, u32 k,
                   TensorMemory& memory) {
  for (u32 m = 0; m < r.m; ++m) {
    std::byte row[operand_row] = {};
    const u32 elements = 128 / static_cast<u32>(bits_of(type));
    for (u32 p = 0; p < k; ++p)
      put(type, a.patterns[m * k + p], p % elements, row + p / elements * 16);
    const u32 lane = cell_of(r, m, 0).lane;
    std::memcpy(memory.row(lane) + a_column, row, operand_row);
    memory.define(lane, a_column, operand_row / 4);
  }
}

class RandomProduct {
 public:
  explicit RandomProduct(u32 seed) : draw_{std::mt19937(seed)}, r_(draw_request(draw_)) {}

  void run() {
    MultiplicationWords w;
    w.form.kind = r_.kind;
    w.form.ws = r_.ws;
    w.d = r_.lane << 16;
    w.instruction = r_.instruction();
    w.a_in_tensor_memory = r_.a_in_tmem;
    const bool wide = r_.kind == MmaKind::tf32;
    w.a = r_.a_in_tmem ? r_.lane << 16 | a_column : descriptor(0, wide && r_.transpose_a);
    w.b = descriptor(0x10000, wide && r_.transpose_b);
    w.accumulate = r_.accumulate;
    w.scale = static_cast<std::uint8_t>(r_.scale);
    const auto error = decode(w, m_);
    ASSERT_FALSE(error) << error->sentence << " " << error->expected;
    k_ = m_.product.shape.k;
    a_ = draw_operand(draw_, m_.product.shape.a, r_.m, k_);
    b_ = draw_operand(draw_, m_.product.shape.b, r_.n, k_);
    if (!r_.a_in_tmem) place(m_.a, m_.product.shape.a, a_, r_.m, k_, shared_);
    place(m_.b, m_.product.shape.b, b_, r_.n, k_, shared_);
    for (u32 i = 0; i < r_.m * r_.n; ++i) c_.push_back(draw_sum());
    if (r_.kind == MmaKind::i8) return integers(multiplied(true));
    const std::vector<u32> exact = multiplied(true);
    EXPECT_EQ(exact, by_the_rule());
    near(exact);
    near(multiplied(false));
  }

  std::string text() const {
    return "kind " + std::to_string(static_cast<int>(r_.kind)) + ", instruction " +
           std::to_string(r_.instruction()) + (r_.ws ? ", ws" : "") +
           (r_.a_in_tmem ? ", A in TMEM" : "") + ", scale " + std::to_string(r_.scale);
  }

 private:
  FloatFormat sum_format() const { return r_.d == 0 ? format_f16 : format_f32; }

  u32 draw_sum() {
    if (r_.kind == MmaKind::i8) {
      return draw_.below(4) ? draw_.bits() >> 8 : 0x7fffff00u + draw_.below(256);
    }
    return encode(sum_format(), (draw_.below(2001) - 1000.0) / 16);
  }

  std::vector<u32> multiplied(bool exact) {
    TensorMemory tensor;
    tensor.allocate({0, 512, 0, 0});
    for (u32 m = 0; m < r_.m; ++m) {
      for (u32 n = 0; n < r_.n; ++n) {
        const TensorAddress at = cell_of(r_, m, n);
        tensor.row(at.lane)[at.column] = c_[m * r_.n + n];
        tensor.set_undefined(at.lane, at.column, 0);
      }
    }
    if (r_.a_in_tmem) place_in_tmem(r_, m_.product.shape.a, a_, k_, tensor);
    const MmaShape& s = m_.product.shape;
    const OperandBytes a = r_.a_in_tmem ? read_operand(m_.product, m_.a_cells, tensor)
                                        : read_operand(m_.a, r_.m, s.a, shared_.data(), nullptr);
    const OperandBytes b = read_operand(m_.b, r_.n, s.b, shared_.data(), nullptr);
    multiply(m_.product, a.bytes.data(), a.undefined.data(), b.bytes.data(), b.undefined.data(),
             exact ? Sums::exact : Sums::fast, tensor);
    std::vector<u32> out;
    for (u32 m = 0; m < r_.m; ++m) {
      for (u32 n = 0; n < r_.n; ++n) {
        const TensorAddress at = cell_of(r_, m, n);
        EXPECT_EQ(tensor.undefined(at.lane, at.column) & (r_.d == 0 ? 3 : 15), 0);
        out.push_back(tensor.row(at.lane)[at.column]);
      }
    }
    return out;
  }

  // What is added to.
  double before(u32 i) const {
    return r_.accumulate ? std::ldexp(decode(sum_format(), c_[i]), -static_cast<int>(r_.scale)) : 0;
  }

  static std::vector<u32> negated(const Operand& o, FloatFormat format, bool negate) {
    std::vector<u32> out = o.patterns;
    for (u32& p : out) p ^= negate ? format.sign_bit() : 0;
    return out;
  }

  std::vector<u32> by_the_rule() const {
    const MmaShape& s = m_.product.shape;
    const FloatFormat fa = float_format(s.a), fb = float_format(s.b);
    StepRule rule = step_rule(TensorChip::blackwell, fa, static_cast<int>(k_));
    if (r_.kind == MmaKind::f8f6f4) rule.block = 32;
    rule.half_accumulator = r_.d == 0;
    const std::vector<u32> a = negated(a_, fa, r_.negate_a), rows = negated(b_, fb, r_.negate_b);
    std::vector<u32> b(rows.size()), c(c_.size());
    for (u32 n = 0; n < r_.n; ++n) {
      for (u32 p = 0; p < k_; ++p) b[p * r_.n + n] = rows[n * k_ + p];
    }
    for (u32 i = 0; i < c.size(); ++i) c[i] = encode(sum_format(), before(i));
    std::vector<std::int32_t> sa(a.size()), ea(a.size()), sb(b.size()), eb(b.size());
    take_apart(fa, a.data(), static_cast<int>(a.size()), sa.data(), ea.data());
    take_apart(fb, b.data(), static_cast<int>(b.size()), sb.data(), eb.data());
    multiply_add_plain(rule, {static_cast<int>(r_.m), static_cast<int>(r_.n), static_cast<int>(k_)},
                       fa, {sa.data(), ea.data()}, fb, {sb.data(), eb.data()}, c.data());
    return c;
  }

  // Sums in f64, which hold these products exactly: off by no more than the terms' own size and the
  // bits that a sum keeps allow.
  void near(const std::vector<u32>& got) const {
    const double unit = r_.d == 0 ? 0x1p-10 : 0x1p-20;
    const double sign = r_.negate_a != r_.negate_b ? -1 : 1;
    for (u32 m = 0; m < r_.m; ++m) {
      for (u32 n = 0; n < r_.n; ++n) {
        const u32 i = m * r_.n + n;
        double sum = before(i), size = std::abs(sum);
        for (u32 p = 0; p < k_; ++p) {
          const double term = sign * a_.values[m * k_ + p] * b_.values[n * k_ + p];
          sum += term;
          size += std::abs(term);
        }
        ASSERT_NEAR(decode(sum_format(), got[i]), sum, size * unit) << m << ' ' << n;
      }
    }
  }

  void integers(const std::vector<u32>& got) const {
    for (u32 m = 0; m < r_.m; ++m) {
      for (u32 n = 0; n < r_.n; ++n) {
        const u32 i = m * r_.n + n;
        std::int64_t sum = r_.accumulate ? static_cast<std::int32_t>(c_[i]) : 0;
        for (u32 p = 0; p < k_; ++p) {
          sum += static_cast<std::int64_t>(a_.values[m * k_ + p] * b_.values[n * k_ + p]);
        }
        if (r_.saturate) sum = std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX);
        ASSERT_EQ(got[i], static_cast<u32>(sum)) << m << ' ' << n;
      }
    }
  }

  Draw draw_;
  Request r_;
  Multiplication m_;
  u32 k_ = 0;
  Operand a_, b_;
  std::vector<u32> c_;
  std::vector<std::byte> shared_ = std::vector<std::byte>(128 * 1024);
};

TEST(Tcgen05, RandomProductsAreTheChips) {
  for (u32 seed = 0; seed < 300; ++seed) {
    RandomProduct product(seed);
    SCOPED_TRACE(product.text());
    product.run();
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace tilescope::sim
