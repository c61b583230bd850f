#include "core/sim/matrix/product_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "core/sim/matrix/descriptor_fields.h"
#include "core/sim/matrix/fragments.h"

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s32 = std::int32_t;

const Mma& form_of(const ProductSeen& p) {
  return mma_forms()[p.form];
}

bool of_warp(const ProductSeen& p) {
  return p.issue.unit == ProductUnit::warp;
}

// ---- numbers ----

struct Format {
  enum class Is : std::uint8_t { narrow, f64, signed_integer, unsigned_integer, bit } is{};
  FloatFormat as = format_f32;
  int bits = 32;
};

double value(const Format& f, u64 pattern) {
  switch (f.is) {
    case Format::Is::f64:
      return std::bit_cast<double>(pattern);
    case Format::Is::signed_integer: {
      const int up = 64 - f.bits;
      return static_cast<double>(static_cast<std::int64_t>(pattern << up) >> up);
    }
    case Format::Is::unsigned_integer:
    case Format::Is::bit:
      return static_cast<double>(pattern);
    default:
      return decode(f.as, static_cast<u32>(pattern));
  }
}

Format format_of_type(ptx::Type type) {
  using ptx::Type;
  switch (type) {
    case Type::f64:
      return {Format::Is::f64, {}, 64};
    case Type::f16:
      return {Format::Is::narrow, format_f16, 16};
    case Type::bf16:
      return {Format::Is::narrow, format_bf16, 16};
    case Type::tf32:
      return {Format::Is::narrow, format_tf32, 19};
    case Type::e4m3:
      return {Format::Is::narrow, format_e4m3, 8};
    case Type::e5m2:
      return {Format::Is::narrow, format_e5m2, 8};
    case Type::e3m2:
      return {Format::Is::narrow, format_e3m2, 6};
    case Type::e2m3:
      return {Format::Is::narrow, format_e2m3, 6};
    case Type::e2m1:
      return {Format::Is::narrow, format_e2m1, 4};
    case Type::s8:
      return {Format::Is::signed_integer, {}, 8};
    case Type::s4:
      return {Format::Is::signed_integer, {}, 4};
    case Type::u8:
      return {Format::Is::unsigned_integer, {}, 8};
    case Type::u4:
      return {Format::Is::unsigned_integer, {}, 4};
    case Type::b1:
      return {Format::Is::bit, {}, 1};
    case Type::s32:
      return {Format::Is::signed_integer, {}, 32};
    default:
      return {Format::Is::narrow, format_f32, 32};
  }
}

// The pattern of an element from what a register holds of it.
u64 held(const Mma& mma, ptx::Type type, u64 pattern) {
  if (type == ptx::Type::tf32) return pattern >> 13;
  if (mma.kind == WarpKind::none || mma.kind == WarpKind::mxf4 || mma.kind == WarpKind::mxf4nvf4) {
    return pattern;
  }
  if (type == ptx::Type::e2m1) return pattern >> 2 & 15;
  return ptx::bits_of(type) == 6 ? pattern & 63 : pattern;
}

Format format_of_element(ElementType type) {
  switch (type) {
    case ElementType::u8:
      return {Format::Is::unsigned_integer, {}, 8};
    case ElementType::s8:
      return {Format::Is::signed_integer, {}, 8};
    case ElementType::b1:
      return {Format::Is::bit, {}, 1};
    default:
      return {Format::Is::narrow, format_of(type), bits_of(type)};
  }
}

// Of A's or B's bytes: the pattern of element k of a row.
u64 pattern_in(const ProductSeen& p, ElementType type, const std::vector<std::byte>& bytes, u32 row,
               u32 k) {
  const std::size_t elements = p.sum.k;
  if (type == ElementType::b1) {
    const auto byte = static_cast<u32>(bytes[row * (elements / 8) + k / 8]);
    return byte >> k % 8 & 1;
  }
  if (p.sum.scales.packed) {
    const auto byte = static_cast<u32>(bytes[row * (elements / 2) + k / 2]);
    return byte >> k % 2 * 4 & 15;
  }
  const u32 width = width_of(type);
  u32 word = 0;
  std::memcpy(&word, &bytes[(row * elements + k) * width], width);
  return type == ElementType::tf32 ? word >> 13 : word;
}

// The factor by which a row is scaled at k; 1 where there are none.
double scale_at(const ProductSeen& p, const std::vector<std::byte>& factors, u32 row, u32 k) {
  const u32 block = p.sum.scales.block;
  if (!block) return 1;
  const auto field = static_cast<u32>(factors[row * (p.sum.k / block) + k / block]);
  return decode(p.sum.scales.format, static_cast<std::uint8_t>(field));
}

// ---- steps ----

struct Numbers {
  std::vector<s32> significand, exponent;
  Numbers(FloatFormat format, const std::vector<u32>& patterns)
      : significand(patterns.size()), exponent(patterns.size()) {
    take_apart(format, patterns.data(), static_cast<int>(patterns.size()), significand.data(),
               exponent.data());
  }
  Factors factors() const { return {significand.data(), exponent.data()}; }
};

std::string products_and(int count, std::string_view with) {
  return fmt::format("{} product{} and {}, at once", count, count == 1 ? "" : "s", with);
}

// As core/numeric tells them. `ks`: which k each of the products is of.
void add_steps(const StepRule& rule, const std::vector<StepTrace>& told,
               const std::vector<double>& a, const std::vector<double>& b,
               const std::vector<u32>& ks, std::string_view with, ElementTrace& out) {
  const FloatFormat format = rule.half_accumulator ? format_f16 : format_f32;
  for (const StepTrace& t : told) {
    TracedStep& step = out.steps.emplace_back();
    step.what = products_and(static_cast<int>(t.kept.size()), with);
    step.aligned = !t.special;
    step.special = t.special;
    step.largest = t.largest;
    step.unit = t.unit;
    step.bits = rule.half_accumulator ? 11 : rule.significant;
    step.before = t.before;
    step.after = t.after;
    step.before_value = step.accumulator = decode(format, t.before);
    step.after_value = decode(format, t.after);
    step.kept = std::ldexp(static_cast<double>(t.accumulator), t.unit);
    step.sum = step.kept;
    for (std::size_t i = 0; i < t.kept.size(); ++i) {
      const std::size_t k = static_cast<std::size_t>(t.first) + i;
      const double kept = std::ldexp(static_cast<double>(t.kept[i]), t.unit);
      step.terms.push_back({ks[k], a[k], b[k], kept});
      step.sum += kept;
    }
  }
}

constexpr std::string_view aligned_rule =
    "products are exact; all terms of a step are aligned to the largest exponent among them and "
    "cut off, towards zero, below its last bit; the sum is cut to the accumulator's bits";
constexpr std::string_view half_rule =
    "products are exact; all terms of a step are aligned to the largest exponent among them and "
    "cut off below its last bit; the sum is rounded to the nearest f16, ties to even";

// A row and a column of tcgen05 and wgmma.
ElementTrace trace_wide(const ProductSeen& p, u32 row, u32 column, ElementTrace out) {
  const SumOfProducts& s = p.sum;
  if (p.row_by_row) {
    out.rule = "a sparse A whose rows meet infinities or NaN of B: not told one by one";
    return out;
  }
  std::vector<double> a, b;
  std::vector<u32> ks;
  std::vector<u32> a_patterns, b_patterns;
  const Format a_format = format_of_element(s.a), b_format = format_of_element(s.b);
  for (u32 k = 0; k < s.k; ++k) {
    u64 x = pattern_in(p, s.a, p.a, row, k), y = pattern_in(p, s.b, p.b, column, k);
    if (s.negate_a && a_format.is == Format::Is::narrow) x ^= a_format.as.sign_bit();
    if (s.negate_b && b_format.is == Format::Is::narrow) y ^= b_format.as.sign_bit();
    a_patterns.push_back(static_cast<u32>(x));
    b_patterns.push_back(static_cast<u32>(y));
    a.push_back(value(a_format, x) * scale_at(p, p.a_scales, row, k));
    b.push_back(value(b_format, y) * scale_at(p, p.b_scales, column, k));
    ks.push_back(k);
  }
  const auto whole_step = [&](std::string what) {
    TracedStep& step = out.steps.emplace_back();
    step.what = std::move(what);
    step.before = p.accumulate ? out.before : 0;
    step.after = out.after;
    step.before_value = step.accumulator = step.kept = p.accumulate ? out.before_value : 0;
    step.after_value = out.after_value;
    step.sum = step.kept;
    for (std::size_t i = 0; i < ks.size(); ++i) {
      step.terms.push_back({ks[i], a[i], b[i], a[i] * b[i]});
      step.sum += a[i] * b[i];
    }
  };
  if (s.d == SumType::s32) {
    out.state = TraceState::exact;
    out.rule = s.saturate ? "integers: exact, and the sum stops at the largest and the least of 32 "
                            "bits"
                          : "integers: exact, and the sum wraps to 32 bits";
    out.source = "PTX ISA 9.7.16.10: integers have one right sum";
    whole_step(fmt::format("{} products and the accumulator, exact", s.k));
    return out;
  }
  if (!p.exact) {
    out.state = TraceState::fused;
    out.rule =
        "--numerics fast: every product is added by a fused multiply-add in f32, in the order of "
        "k; no tensor core does that";
    out.source = "core/numeric/tile_product.h";
    whole_step(fmt::format("{} fused multiply-adds", s.k));
    return out;
  }
  if (s.scales.packed) {
    out.rule =
        "products of 16 neighbours are summed exactly and multiplied by both scale factors; these "
        "groups and the accumulator are aligned to the largest exponent and cut off below its 36th "
        "bit; the sum is cut to 24 bits";
    out.source =
        "MMA-Sim (arXiv 2511.10909), not asked of a chip here; groups are not told one by one";
    whole_step(fmt::format("{} products and the accumulator", s.k));
    return out;
  }
  out.state = TraceState::exact;
  out.rule = s.d == SumType::f16 ? half_rule : aligned_rule;
  const bool hopper = p.issue.unit == ProductUnit::wgmma;
  out.source =
      hopper ? s.a == ElementType::tf32
                   ? "published bits of mma.sync on an H200; wgmma's own tf32 was not tried"
                   : "measured on H200: wgmma's bits, and 500,000 elements of mma.sync"
      : s.scales.block
          ? "MMA-Sim (arXiv 2511.10909), whose authors compared it with a Blackwell chip; none "
            "was asked here"
          : "presumed: what was published of a B200's mma.sync (Khattak, Mikaitis, 2025); no "
            "Blackwell was asked here";
  Numbers left(a_format.as, a_patterns), right(b_format.as, b_patterns);
  if (s.scales.block) {
    const auto scaled = [&](Numbers& n, const std::vector<std::byte>& factors, u32 of) {
      for (u32 k = 0; k < s.k; ++k) {
        const auto field =
            static_cast<s32>(factors[of * (s.k / s.scales.block) + k / s.scales.block]);
        const u32 nan = format_bf16.canonical_nan(), none = 0;
        s32 significand = 0, special = 0, zero_significand = 0, zero = 0;
        take_apart(format_bf16, &nan, 1, &significand, &special);
        take_apart(format_bf16, &none, 1, &zero_significand, &zero);
        s32& exponent = n.exponent[k];
        if (field == 255) {
          n.significand[k] = significand;
          exponent = special;
        } else if (exponent != special && exponent != zero) {
          exponent += field - 127;
        }
      }
    };
    scaled(left, p.a_scales, row);
    scaled(right, p.b_scales, column);
  }
  u32 c = p.accumulate ? static_cast<u32>(out.before) : 0;
  if (p.accumulate && p.scale) {
    const FloatFormat format = s.d == SumType::f16 ? format_f16 : format_f32;
    c = encode(format, std::ldexp(decode(format, c), -p.scale));
  }
  std::vector<StepTrace> told;
  const u32 end = multiply_add_traced(s.rule, static_cast<int>(s.k), a_format.as, left.factors(),
                                      b_format.as, right.factors(), c, told);
  add_steps(s.rule, told, a, b, ks, p.accumulate ? "the accumulator" : "zero", out);
  out.agrees = end == out.after;
  return out;
}

// ---- mma.sync ----

void conversion(ElementTrace& out, std::string what, u64 before, double before_value, u64 after,
                double after_value, int bits) {
  TracedStep& step = out.steps.emplace_back();
  step.what = std::move(what);
  step.before = before;
  step.after = after;
  step.accumulator = step.kept = step.sum = step.before_value = before_value;
  step.after_value = after_value;
  step.bits = bits;
}

ElementTrace trace_warp(const ProductSeen& p, u32 row, u32 column, ElementTrace out) {
  const Mma& mma = form_of(p);
  const Format a_format = format_of_type(mma.a), b_format = format_of_type(mma.b);
  const u32 depth = static_cast<u32>(mma.shape.k), n = static_cast<u32>(mma.columns_of_b());
  out.source = "measured on H200 and H100, mma.sync compiled by ptxas 13.0";
  if (mma.sparse || mma.kind != WarpKind::none || mma.a == ptx::Type::b1) {
    out.rule = "how this form adds inside is not told here one by one";
    conversion(out, "the whole product", out.before, out.before_value, out.after, out.after_value,
               0);
    if (mma.sparse) return out;
  }
  std::vector<double> a, b;
  std::vector<u32> a_patterns, b_patterns, ks;
  const u32 place = row * p.n + column;
  const u32 column_of_b = mma.four ? static_cast<u32>(mma.column(static_cast<int>(place))) : column;
  for (u32 k = 0; k < depth; ++k) {
    const u64 x = held(mma, mma.a, p.a_patterns[row * depth + k]);
    const u64 y = held(mma, mma.b, p.b_patterns[k * n + column_of_b]);
    a_patterns.push_back(static_cast<u32>(x));
    b_patterns.push_back(static_cast<u32>(y));
    a.push_back(value(a_format, x));
    b.push_back(value(b_format, y));
    ks.push_back(k);
  }
  if (!out.steps.empty()) {
    for (u32 k = 0; k < depth; ++k) {
      out.steps.front().terms.push_back({k, a[k], b[k], a[k] * b[k]});
      out.steps.front().sum += a[k] * b[k];
    }
    return out;
  }
  const FloatFormat d_format = mma.d == ptx::Type::f16 ? format_f16 : format_f32;
  if (mma.a == ptx::Type::f64) {
    out.state = TraceState::exact;
    out.rule = "each product is added by itself, in the order of k, by a fused multiply-add of f64";
    double sum = out.before_value;
    for (u32 k = 0; k < depth; ++k) {
      TracedStep& step = out.steps.emplace_back();
      step.what = "fma.rn.f64";
      step.before = std::bit_cast<u64>(sum);
      step.before_value = step.accumulator = step.kept = sum;
      step.terms = {{k, a[k], b[k], a[k] * b[k]}};
      step.sum = a[k] * b[k] + sum;
      sum = fused(a[k], b[k], sum);
      step.after = std::bit_cast<u64>(sum);
      step.after_value = sum;
      step.bits = 53;
    }
    out.agrees = std::bit_cast<u64>(sum) == out.after;
    return out;
  }
  if (mma.d == ptx::Type::s32) {
    out.state = TraceState::exact;
    out.rule = "integers: exact; the sum wraps to 32 bits, or stops at their ends (.satfinite)";
    conversion(out, fmt::format("{} products and the accumulator, exact", depth), out.before,
               out.before_value, out.after, out.after_value, 32);
    for (u32 k = 0; k < depth; ++k) {
      out.steps.back().terms.push_back({k, a[k], b[k], a[k] * b[k]});
      out.steps.back().sum += a[k] * b[k];
    }
    return out;
  }
  StepRule rule = step_rule_of(mma);
  if (mma.four) {
    rule.block = 4;
    rule.fraction = 23;
    rule.half_accumulator = mma.d == ptx::Type::f16;
    out.source = "as a V100 adds (Khattak, Mikaitis, 2025)";
  }
  out.state = TraceState::exact;
  out.rule = rule.half_accumulator ? half_rule : aligned_rule;
  std::vector<StepTrace> told;
  if (is_float8(mma)) {
    // As f16, in two steps from zero; C is added afterwards.
    std::vector<u32> left(depth), right(depth), order(depth);
    std::vector<double> a_order(depth), b_order(depth);
    for (u32 k = 0; k < depth; ++k) {
      const auto to =
          static_cast<u32>(place_in_steps(static_cast<int>(k), static_cast<int>(depth)));
      left[to] = encode(format_f16, a[k]);
      right[to] = encode(format_f16, b[k]);
      order[to] = k;
      a_order[to] = a[k];
      b_order[to] = b[k];
    }
    const Numbers x(format_f16, left), y(format_f16, right);
    const u32 products = multiply_add_traced(rule, static_cast<int>(depth), format_f16, x.factors(),
                                             format_f16, y.factors(), 0, told);
    add_steps(rule, told, a_order, b_order, order, "zero", out);
    const u32 end = added(d_format, products, static_cast<u32>(out.before));
    conversion(out, "C is added, rounded to the nearest", products, decode(d_format, products), end,
               decode(d_format, end), d_format.mantissa_bits + 1);
    TracedStep& last = out.steps.back();
    last.accumulator = last.kept = out.before_value;
    last.sum = last.before_value + out.before_value;
    last.terms = {{0, decode(d_format, products), 1, decode(d_format, products)}};
    out.agrees = end == out.after;
    return out;
  }
  u32 c = static_cast<u32>(out.before);
  if (mma.c == ptx::Type::f16 && !rule.half_accumulator) {
    const u32 wide = encode(format_f32, out.before_value);
    conversion(out, "C becomes f32, which is exact", c, out.before_value, wide, out.before_value,
               24);
    c = wide;
  }
  const Numbers x(a_format.as, a_patterns), y(b_format.as, b_patterns);
  u32 end = multiply_add_traced(rule, static_cast<int>(depth), a_format.as, x.factors(),
                                b_format.as, y.factors(), c, told);
  add_steps(rule, told, a, b, ks, "the accumulator", out);
  if (mma.d == ptx::Type::f16 && !rule.half_accumulator) {
    const double wide = decode(format_f32, end);
    const u32 narrow = encode(format_f16, wide);
    conversion(out, "D becomes f16, rounded to the nearest", end, wide, narrow,
               decode(format_f16, narrow), 11);
    end = narrow;
  }
  out.agrees = end == out.after;
  return out;
}

}  // namespace

double TracedStep::lost() const {
  double exact = accumulator;
  for (const TracedTerm& t : terms) exact += t.a * t.b;
  return exact - after_value;
}

namespace {

// Does the instruction leave the element as it was?
bool is_disabled(const ProductSeen& p, u32 row, u32 column) {
  for (std::size_t i = 0; i < p.parts.size() && i < p.cells.size(); ++i) {
    const SumPart& part = p.parts[i];
    if (row - part.row >= part.rows || column - part.column >= part.columns) continue;
    const u32 lane = p.cells[i].lane + row - part.row;
    return p.disabled[lane / 64 % 2] >> lane % 64 & 1;
  }
  return false;
}

}  // namespace

ElementTrace trace_of(const ProductSeen& p, u32 row, u32 column, std::optional<u64> before) {
  ElementTrace out;
  const std::size_t at = std::size_t{row} * p.n + column;
  out.before = before ? *before : p.before[at];
  out.after = p.after[at];
  if (of_warp(p)) {
    const Mma& mma = form_of(p);
    out.before_value = value(format_of_type(mma.c), out.before);
    out.after_value = value(format_of_type(mma.d), out.after);
    return trace_warp(p, row, column, std::move(out));
  }
  out.before_value = value_in(p, out.before);
  out.after_value = value_in(p, out.after);
  if (is_disabled(p, row, column)) {
    out.rule = "its lane of TMEM is left as it was (disable-output-lane)";
    out.agrees = out.before == out.after;
    return out;
  }
  return trace_wide(p, row, column, std::move(out));
}

double value_in(const ProductSeen& p, u64 pattern) {
  if (of_warp(p)) return value(format_of_type(form_of(p).d), pattern);
  switch (p.sum.d) {
    case SumType::f16:
      return decode(format_f16, static_cast<u32>(pattern));
    case SumType::s32:
      return static_cast<s32>(pattern);
    default:
      return decode(format_f32, static_cast<u32>(pattern));
  }
}

double element_of_a(const ProductSeen& p, u32 row, u32 k) {
  if (of_warp(p)) {
    const Mma& mma = form_of(p);
    const auto stored = static_cast<u32>(mma.stored());
    return value(format_of_type(mma.a), held(mma, mma.a, p.a_patterns[row * stored + k]));
  }
  return value(format_of_element(p.sum.a), pattern_in(p, p.sum.a, p.a, row, k));
}

double element_of_b(const ProductSeen& p, u32 column, u32 k) {
  if (of_warp(p)) {
    const Mma& mma = form_of(p);
    const auto n = static_cast<u32>(mma.columns_of_b());
    return value(format_of_type(mma.b), held(mma, mma.b, p.b_patterns[k * n + column]));
  }
  return value(format_of_element(p.sum.b), pattern_in(p, p.sum.b, p.b, column, k));
}

std::string_view a_type(const ProductSeen& p) {
  return of_warp(p) ? ptx::name_of(form_of(p).a) : name_of(p.sum.a);
}

std::string_view b_type(const ProductSeen& p) {
  return of_warp(p) ? ptx::name_of(form_of(p).b) : name_of(p.sum.b);
}

std::string_view d_type(const ProductSeen& p) {
  if (of_warp(p)) return ptx::name_of(form_of(p).d);
  return p.sum.d == SumType::f16 ? "f16" : p.sum.d == SumType::s32 ? "s32" : "f32";
}

}  // namespace tilescope::sim
