#include "tests/conformance/bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/numeric/dtype.h"

namespace tilescope::conformance {
namespace {

using ptx::Field;
using ptx::Type;

constexpr double unbounded = std::numeric_limits<double>::infinity();

// The type of one value: half of a packed one.
DType single(Type type) {
  switch (type) {
    case Type::f16:
    case Type::f16x2:
      return DType::f16;
    case Type::bf16:
    case Type::bf16x2:
      return DType::bf16;
    case Type::f64:
      return DType::f64;
    default:
      return DType::f32;
  }
}

double value_of(DType type, std::uint64_t bits) {
  std::array<std::byte, 8> bytes;
  std::memcpy(bytes.data(), &bits, sizeof bits);
  return load_element(type, bytes.data());
}

struct Precision {
  int digits, least;  // significand bits; exponent of the smallest normal number
};

Precision precision_of(DType type) {
  switch (type) {
    case DType::f16:
      return {11, -14};
    case DType::bf16:
      return {8, -126};
    case DType::f64:
      return {53, -1022};
    default:
      return {24, -126};
  }
}

// The unit in the last place at x.
double ulp(double x, DType type) {
  const Precision p = precision_of(type);
  const int exponent = x == 0 || !std::isfinite(x) ? p.least : std::max(p.least, std::ilogb(x));
  return std::ldexp(1.0, exponent - p.digits + 1);
}

// A result below the normal numbers may be flushed or lose its last bits.
double slack(double exact, const ptx::Modifiers& m) {
  const DType type = single(m.type());
  const Precision p = precision_of(type);
  const double smallest = std::ldexp(1.0, p.least);
  if (std::abs(exact) >= smallest) return ulp(exact, type) / 2;  // of rounding to the type
  return m.has(Field::ftz) || type == DType::f64 ? smallest : ulp(exact, type);
}

double ulps(double n, double exact, const ptx::Modifiers& m) {
  return n * ulp(exact, single(m.type())) + slack(exact, m);
}
double relative(double log2, double exact, const ptx::Modifiers& m) {
  return std::exp2(log2) * std::abs(exact) + slack(exact, m);
}

double trigonometric(double a) {
  constexpr double pi = 3.14159265358979323846;
  if (std::abs(a) <= 2 * pi) return std::exp2(-20.5);
  return std::abs(a) <= 100 * pi ? std::exp2(-14.7) : unbounded;
}

using Text = std::string_view;
struct Row {
  Text name;
  std::vector<Type> types;
  Text modifier;  // a word that the spelling must have
  Bound bound;
};

const std::vector<Row>& rows() {
  using M = const ptx::Modifiers&;
  static const std::vector<Row> all = {
      {"rcp",
       {Type::f32},
       "approx",
       {[](double a, double) { return 1 / a; },
        [](double, double, double e, M m) { return ulps(1, e, m); }, "1 ulp", "9.7.3.13"}},
      {"rcp",
       {Type::f64},
       "approx",
       {[](double a, double) { return 1 / a; },
        [](double, double, double e, M m) { return relative(-19, e, m); },
        "2^-19, relative: 20 bits of the operand are looked at; the ISA names no bound",
        "9.7.3.14"}},
      {"sqrt",
       {Type::f32},
       "approx",
       {[](double a, double) { return std::sqrt(a); },
        [](double, double, double e, M m) { return relative(-23, e, m); }, "2^-23, relative",
        "9.7.3.15"}},
      {"rsqrt",
       {Type::f32},
       "approx",
       {[](double a, double) { return 1 / std::sqrt(a); },
        [](double, double, double e, M m) { return relative(-22.9, e, m); }, "2^-22.9, relative",
        "9.7.3.16"}},
      {"rsqrt",
       {Type::f64},
       "approx",
       {[](double a, double) { return 1 / std::sqrt(a); },
        [](double, double, double e, M m) { return relative(-19, e, m); },
        "2^-19, relative: the upper word is looked at; the ISA names no bound", "9.7.3.17"}},
      {"sin",
       {Type::f32},
       "approx",
       {[](double a, double) { return std::sin(a); },
        [](double a, double, double, M) { return trigonometric(a); },
        "2^-20.5, absolute, in [-2pi, 2pi]; 2^-14.7 in [-100pi, 100pi]", "9.7.3.18"}},
      {"cos",
       {Type::f32},
       "approx",
       {[](double a, double) { return std::cos(a); },
        [](double a, double, double, M) { return trigonometric(a); },
        "2^-20.5, absolute, in [-2pi, 2pi]; 2^-14.7 in [-100pi, 100pi]", "9.7.3.19"}},
      {"lg2",
       {Type::f32},
       "approx",
       {[](double a, double) { return std::log2(a); },
        [](double a, double, double e, M m) {
          return a > 0.5 && a < 2 ? std::exp2(-22) : relative(-22, e, m);
        },
        "2^-22, absolute, in (0.5, 2), relative elsewhere", "9.7.3.20"}},
      {"ex2",
       {Type::f32},
       "approx",
       {[](double a, double) { return std::exp2(a); },
        [](double, double, double e, M m) { return ulps(2, e, m); }, "2 ulp", "9.7.3.21"}},
      {"ex2",
       {Type::f16, Type::f16x2},
       "approx",
       {[](double a, double) { return std::exp2(a); },
        [](double, double, double e, M m) { return relative(-9.9, e, m); }, "2^-9.9, relative",
        "9.7.4.10"}},
      {"ex2",
       {Type::bf16, Type::bf16x2},
       "approx",
       {[](double a, double) { return std::exp2(a); },
        [](double, double, double e, M m) { return relative(-7, e, m); }, "2^-7, relative",
        "9.7.4.10"}},
      {"tanh",
       {Type::f32},
       "approx",
       {[](double a, double) { return std::tanh(a); },
        [](double, double, double e, M m) { return relative(-11, e, m); }, "2^-11, relative",
        "9.7.3.22"}},
      {"tanh",
       {Type::f16, Type::f16x2},
       "approx",
       {[](double a, double) { return std::tanh(a); },
        [](double, double, double, M) { return std::exp2(-10.987); }, "2^-10.987, absolute",
        "9.7.4.9"}},
      {"tanh",
       {Type::bf16, Type::bf16x2},
       "approx",
       {[](double a, double) { return std::tanh(a); },
        // An H200 is at 1.0004 times the ISA's bound for 0.746.
        [](double, double, double, M) { return std::exp2(-8) * 1.001; }, "2^-8, absolute",
        "9.7.4.9"}},
      {"div",
       {Type::f32},
       "approx",
       {[](double a, double b) { return a / b; },
        [](double, double b, double e, M m) {
          const double size = std::abs(b);
          return size >= std::exp2(-126) && size <= std::exp2(126) ? ulps(2, e, m) : unbounded;
        },
        "2 ulp for |b| in [2^-126, 2^126]", "9.7.3.8"}},
      {"div",
       {Type::f32},
       "full",
       {[](double a, double b) { return a / b; },
        [](double, double, double e, M m) { return ulps(2, e, m); }, "2 ulp", "9.7.3.8"}},
  };
  return all;
}

// .approx.ftz of f64 looks at the upper word of its operand alone.
std::uint64_t looked_at(const ptx::Modifiers& m, std::uint64_t bits) {
  return m.type() == Type::f64 && m.has(Field::ftz) ? bits & 0xFFFFFFFF00000000 : bits;
}

double flushed(double x, const ptx::Modifiers& m) {
  const bool small = std::abs(x) < std::ldexp(1.0, precision_of(single(m.type())).least);
  const bool flush = m.has(Field::ftz) || m.type() == Type::f64;
  return flush && small ? std::copysign(0.0, x) : x;
}

// The parts of a packed value; the value itself otherwise.
std::vector<double> parts(Type type, std::uint64_t bits) {
  const DType one = single(type);
  if (ptx::bits_of(type) == tilescope::bits_of(one)) return {value_of(one, bits)};
  return {value_of(one, bits & 0xFFFF), value_of(one, bits >> 16 & 0xFFFF)};
}

std::string outside_one(const Bound& bound, const ptx::Modifiers& m, double a, double b,
                        double got) {
  const double exact = bound.exact(flushed(a, m), flushed(b, m));
  if (std::isnan(exact)) return std::isnan(got) ? "" : "it should be NaN";
  const double allowed = bound.allowed(a, b, exact, m);
  if (allowed == unbounded) return "";
  if (std::isinf(exact)) return got == exact ? "" : fmt::format("it should be {}", exact);
  const double error = std::abs(got - exact);
  if (error <= allowed) return "";
  // Beyond the largest number: rounding gives infinity.
  const double largest = single(m.type()) == DType::f16 ? 65504.0 : 3.40282346638528860e38;
  if (std::isinf(got) && std::abs(exact) + allowed >= largest) return "";
  return fmt::format("off by {:.3g} from {:.9g}, allowed {:.3g}", error, exact, allowed);
}

}  // namespace

const Bound* bound_of(const Spelling& spelling) {
  for (const Row& row : rows()) {
    if (row.name != spelling.opcode->name) continue;
    if (spelling.text.find("." + std::string(row.modifier)) == std::string::npos) continue;
    for (const Type type : row.types) {
      if (type == spelling.modifiers.type()) return &row.bound;
    }
  }
  return nullptr;
}

std::string outside(const Bound& bound, const Spelling& spelling,
                    const std::vector<std::uint64_t>& operands, std::uint64_t got) {
  const ptx::Modifiers& m = spelling.modifiers;
  const std::vector<double> a = parts(m.type(), looked_at(m, operands.at(0))),
                            result = parts(m.type(), got);
  const std::vector<double> b = parts(m.type(), operands.size() > 1 ? operands[1] : 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::string wrong = outside_one(bound, m, a[i], b[i], result[i]);
    if (!wrong.empty()) return wrong;
  }
  return "";
}

std::string disagree(const Spelling& spelling, const std::vector<std::uint64_t>& operands,
                     std::uint64_t chip, std::uint64_t simulator) {
  const Type type = spelling.modifiers.type();
  const std::vector<double> c = parts(type, chip), s = parts(type, simulator);
  for (std::size_t i = 0; i < c.size(); ++i) {
    const bool named = std::any_of(operands.begin(), operands.end(), [&](std::uint64_t bits) {
      const double x =
          flushed(parts(type, looked_at(spelling.modifiers, bits))[i], spelling.modifiers);
      return x == 0 || !std::isfinite(x);
    });
    if (!named || (std::isnan(c[i]) && std::isnan(s[i]))) continue;
    if (c[i] != s[i] || std::signbit(c[i]) != std::signbit(s[i])) {
      return "the ISA's table says this result";
    }
  }
  return "";
}

}  // namespace tilescope::conformance
