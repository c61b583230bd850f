// mma.sync and wmma.mma (PTX ISA 9.7.14.5.14, 9.7.14.4.5): fragments are gathered into matrices,
// multiplied, and the result is scattered again.
//
// Products and sums of f16, bf16 and tf32 are the tensor cores' own (core/numeric/tensor_core.h).
// Those of f8 are not: for sm_90 and sm_100 ptxas 13.0 converts f8 to f16, which is exact, sums the
// products in two steps that start from zero (first those of the lower two elements of each
// register, then those of the upper two), and adds C afterwards as any sum of f32 or f16 is. All of
// it gave an H200's bits (2026-11-21).
//
// Of wmma with C of f16 and D of f32, C is made wider first; with C of f32 and D of f16 the sums of
// f32 are rounded (ptxas 13.0 compiles them so). A sparse A, elements narrower than 8 bits and the
// kinds of sm_120 are in mma_narrow.cpp.
//
// wmma's m16n16k8 of tf32 takes two steps of k = 4, in that order, where mma's m16n8k8 takes one of
// 8: ptxas 13.0 makes HMMA.1684 of the one, HMMA.1688 of the other, and so are an H100's bits
// (2026-11-25).
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/sim/lanes/units.h"
#include "core/sim/matrix/fragments.h"

namespace tilescope::sim {
namespace {

using ptx::Type;
using u32 = std::uint32_t;

const u32* lanes_of(const Core& x, Reference r) {
  return reinterpret_cast<const u32*>(x.bank[r >> 31] + (r & ~constant_bit));
}

}  // namespace

void gather(const Core& x, const Reference* registers, const Fragment& f, u32* out) {
  const u32 mask = f.bits == 32 ? ~u32{0} : (u32{1} << f.bits) - 1;
  const std::uint16_t* place = f.place.data();
  for (int r = 0; r < f.registers; ++r) {
    const u32* from = lanes_of(x, registers[r]);
    for (int shift = 0; shift < 32; shift += f.bits) {
      for (int l = 0; l < lanes; ++l) out[*place++] = from[l] >> shift & mask;
    }
  }
}

void scatter(Core& x, const Reference* registers, const Fragment& f, const u32* from) {
  const std::uint16_t* place = f.place.data();
  for (int r = 0; r < f.registers; ++r) {
    if (registers[r] == nothing) {
      place += f.in_register * lanes;
      continue;
    }
    u32 packed[lanes] = {};
    for (int shift = 0; shift < 32; shift += f.bits) {
      for (int l = 0; l < lanes; ++l) packed[l] |= from[*place++] << shift;
    }
    std::memcpy(x.bank[0] + registers[r], packed, sizeof packed);
  }
}

namespace {

constexpr int most_a = 32 * 16, most_b = 32 * 16, most_c = 32 * 8;  // elements
constexpr int most_narrow_a = 16 * 64, most_narrow_b = 64 * 8;      // of 4 and 8 bits

// A matrix ready to be multiplied.
template <int most>
struct Taken {
  std::int32_t significand[most], exponent[most];
  Taken(FloatFormat format, const u32* patterns, int count) {
    take_apart(format, patterns, count, significand, exponent);
  }
  Factors factors() const { return {significand, exponent}; }
};

FloatFormat format_of(Type type) {
  return type == Type::f16 ? format_f16 : type == Type::bf16 ? format_bf16 : format_tf32;
}

// Products in one step of a form's k.
int deep_in_one_step(const Mma& mma) {
  return mma.name == ptx::Shape::m16n16k8 ? 4 : mma.shape.k;
}

}  // namespace

bool is_float8(const Mma& mma) {
  return mma.kind == WarpKind::none && (mma.a == Type::e4m3 || mma.a == Type::e5m2);
}

StepRule step_rule_of(const Mma& mma) {
  StepRule rule;
  if (is_float8(mma)) {
    rule.block = mma.shape.k / 2;
    rule.half_accumulator = mma.d == Type::f16;
    return rule;
  }
  rule = step_rule(TensorChip::hopper, format_of(mma.a), deep_in_one_step(mma));
  rule.half_accumulator = mma.d == Type::f16 && mma.c == Type::f16;
  return rule;
}

namespace {

Flow mma_float(Core& x, const Code& code, Mask m) {
  const Flow flow = whole_warp(x, m);
  if (flow != Flow::next) return flow;
  const Mma& mma = mma_forms()[code.immediate];
  const MmaOperands o(x, code, mma);
  u32 a[most_a], b[most_b], c[most_c];
  gather(x, o.a, mma.a_fragment, a);
  gather(x, o.b, mma.b_fragment, b);
  gather(x, o.c, mma.c_fragment, c);
  const FloatFormat format = format_of(mma.a);
  if (mma.a == Type::tf32) {  // the low 13 bits of the register do not matter
    for (int i = 0; i < mma.shape.m * mma.shape.k; ++i) a[i] >>= 13;
    for (int i = 0; i < mma.shape.k * mma.shape.n; ++i) b[i] >>= 13;
  }
  const Taken<most_a> left(format, a, mma.shape.m * mma.shape.k);
  const Taken<most_b> right(format, b, mma.shape.k * mma.shape.n);
  const StepRule rule = step_rule_of(mma);
  const int results = mma.shape.m * mma.shape.n;
  if (mma.c == Type::f16 && !rule.half_accumulator) {
    for (int i = 0; i < results; ++i) c[i] = encode(format_f32, decode(format_f16, c[i]));
  }
  multiply_add(rule, mma.shape, format, left.factors(), format, right.factors(), c);
  if (mma.d == Type::f16 && !rule.half_accumulator) {
    for (int i = 0; i < results; ++i) c[i] = encode(format_f16, decode(format_f32, c[i]));
  }
  scatter(x, o.d, mma.d_fragment, c);
  return Flow::next;
}

// Every f8 value as f16: each is exact, but the NaNs, which become the canonical one.
std::array<u32, 256> as_halves(FloatFormat format) {
  std::array<u32, 256> out;
  for (u32 i = 0; i < 256; ++i) out[i] = encode(format_f16, decode(format, i));
  return out;
}

const std::array<u32, 256>& halves_of(Type type) {
  static const std::array<u32, 256> e4m3 = as_halves(format_e4m3), e5m2 = as_halves(format_e5m2);
  return type == Type::e4m3 ? e4m3 : e5m2;
}

}  // namespace

// Of four neighbours in a register, two belong to the first step and two to the second: where k
// comes to stand among all of `depth`.
int place_in_steps(int k, int depth) {
  return k / 2 % 2 * (depth / 2) + k / 4 * 2 + k % 2;
}

// As add.rn does: a NaN is the canonical one. In double the sum of two f32 may be rounded, but then
// rounding it again to f32 gives what rounding once gives (53 >= 2 * 24 + 2 bits).
u32 added(FloatFormat format, u32 a, u32 b) {
  return encode(format, decode(format, a) + decode(format, b));
}

namespace {

Flow mma_float8(Core& x, const Code& code, Mask m) {
  const Flow flow = whole_warp(x, m);
  if (flow != Flow::next) return flow;
  const Mma& mma = mma_forms()[code.immediate];
  const MmaOperands o(x, code, mma);
  const auto [rows, columns, depth] = mma.shape;
  u32 a[most_a], b[most_b], c[most_c], products[most_c] = {}, left[most_a], right[most_b];
  gather(x, o.a, mma.a_fragment, a);
  gather(x, o.b, mma.b_fragment, b);
  gather(x, o.c, mma.c_fragment, c);
  const std::array<u32, 256>&a_halves = halves_of(mma.a), &b_halves = halves_of(mma.b);
  for (int k = 0; k < depth; ++k) {
    const int to = place_in_steps(k, depth);
    for (int i = 0; i < rows; ++i) left[i * depth + to] = a_halves[a[i * depth + k]];
    for (int j = 0; j < columns; ++j) right[to * columns + j] = b_halves[b[k * columns + j]];
  }
  const Taken<most_a> a_taken(format_f16, left, rows * depth);
  const Taken<most_b> b_taken(format_f16, right, depth * columns);
  const StepRule rule = step_rule_of(mma);
  multiply_add(rule, mma.shape, format_f16, a_taken.factors(), format_f16, b_taken.factors(),
               products);
  const FloatFormat format = rule.half_accumulator ? format_f16 : format_f32;
  for (int i = 0; i < rows * columns; ++i) c[i] = added(format, products[i], c[i]);
  scatter(x, o.d, mma.d_fragment, c);
  return Flow::next;
}

void extend(Type type, u32* patterns, int count) {
  if (type == Type::u8 || type == Type::u4) return;
  const u32 sign = type == Type::s4 ? 0x8 : 0x80;
  for (int i = 0; i < count; ++i) patterns[i] = (patterns[i] ^ sign) - sign;
}

// Exact, then wrapped or limited to 32 bits.
template <bool satfinite>
Flow mma_integer(Core& x, const Code& code, Mask m) {
  const Flow flow = whole_warp(x, m);
  if (flow != Flow::next) return flow;
  const Mma& mma = mma_forms()[code.immediate];
  const MmaOperands o(x, code, mma);
  const auto [rows, columns, depth] = mma.shape;
  u32 a[most_narrow_a], b[most_narrow_b], c[most_c];
  gather(x, o.a, mma.a_fragment, a);
  gather(x, o.b, mma.b_fragment, b);
  gather(x, o.c, mma.c_fragment, c);
  extend(mma.a, a, rows * depth);
  extend(mma.b, b, depth * columns);
  constexpr std::int64_t least = std::numeric_limits<std::int32_t>::min(),
                         most = std::numeric_limits<std::int32_t>::max();
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      u32 products = 0;  // 64 products of 8 bits fit
      for (int k = 0; k < depth; ++k) products += a[i * depth + k] * b[k * columns + j];
      u32& sum = c[i * columns + j];
      const std::int64_t exact =
          std::int64_t{static_cast<std::int32_t>(products)} + static_cast<std::int32_t>(sum);
      sum = static_cast<u32>(satfinite ? std::max(least, std::min(most, exact)) : exact);
    }
  }
  scatter(x, o.d, mma.d_fragment, c);
  return Flow::next;
}

void gather(const Core& x, const Reference* registers, const Fragment& f, double* out) {
  for (int r = 0; r < f.registers; ++r) {
    double from[lanes];
    std::memcpy(from, lanes_of(x, registers[r]), sizeof from);
    for (int l = 0; l < lanes; ++l) out[f.place[static_cast<std::size_t>(r * lanes + l)]] = from[l];
  }
}

}  // namespace

// fma.rn of f64. Of several NaNs the sum's own stays, then a's, then b's, made quiet; one that
// comes of numbers has its sign set. An H200 agrees on 114,678 of 114,688 results; the ten are NaNs
// with the other sign, where a NaN came of numbers and an operand is NaN further on: which of the
// two it takes there is not known.
double fused(double a, double b, double sum) {
  for (const double operand : {sum, a, b}) {
    if (operand != operand) return operand + operand;
  }
  const double result = std::fma(a, b, sum);
  return result == result ? result : -std::numeric_limits<double>::quiet_NaN();
}

namespace {

// Of f64, each product is added by itself, in the order of k.
Flow mma_double(Core& x, const Code& code, Mask m) {
  const Flow flow = whole_warp(x, m);
  if (flow != Flow::next) return flow;
  const Mma& mma = mma_forms()[code.immediate];
  const MmaOperands o(x, code, mma);
  const auto [rows, columns, depth] = mma.shape;
  double a[16 * 16], b[16 * 8], c[most_c];
  gather(x, o.a, mma.a_fragment, a);
  gather(x, o.b, mma.b_fragment, b);
  gather(x, o.c, mma.c_fragment, c);
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      double& sum = c[i * columns + j];
      for (int k = 0; k < depth; ++k) sum = fused(a[i * depth + k], b[k * columns + j], sum);
    }
  }
  for (int r = 0; r < mma.d_fragment.registers; ++r) {
    if (o.d[r] == nothing) continue;
    double to[lanes];
    const std::uint16_t* place = &mma.d_fragment.place[static_cast<std::size_t>(r * lanes)];
    for (int l = 0; l < lanes; ++l) to[l] = c[place[l]];
    std::memcpy(x.bank[0] + o.d[r], to, sizeof to);
  }
  return Flow::next;
}

Handler mma_handler(const ptx::Instruction& i) {
  if (mma_form(i) == mma_forms().size()) return nullptr;
  const Mma& mma = mma_forms()[mma_form(i)];
  if (Handler narrow = narrow_mma_handler(i, mma)) return narrow;
  switch (mma.a) {
    case Type::f16:
    case Type::bf16:
    case Type::tf32:
      return told<mma_float>;
    case Type::e4m3:
    case Type::e5m2:
      return told<mma_float8>;
    case Type::s8:
    case Type::u8:
    case Type::s4:
    case Type::u4:
      return i.modifiers.has(ptx::Field::satfinite) ? told<mma_integer<true>>
                                                    : told<mma_integer<false>>;
    case Type::f64:
      return told<mma_double>;
    default:
      return nullptr;
  }
}

}  // namespace

// Of moves.cpp and wmma.cpp.
Handler matrix_move_handler(const ptx::Instruction& i);
Handler wmma_access_handler(const ptx::Instruction& i);

Handler matrix_handler(const ptx::Instruction& i) {
  if (multiplies(i)) return mma_handler(i);
  return i.op == ptx::Op::wmma ? wmma_access_handler(i) : matrix_move_handler(i);
}

}  // namespace tilescope::sim
