#include "tests/bench/product_kind.h"

#include <fmt/format.h>

#include <algorithm>

namespace tilescope::bench {
namespace {

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> all) {
  return std::find(all.begin(), all.end(), word) != all.end();
}

}  // namespace

bool ProductKind::is_plain() const {
  return a == b && a == c && is_one_of(a, {"f16", "bf16"}) && !a_across && !b_across &&
         alpha == 1 && beta == 0;
}

std::string ProductKind::name() const {
  const ProductKind usual = *product_kind(a == b ? a : a + "x" + b);
  std::string out = a == b ? a : a + " x " + b;
  if (c != usual.c) out += " -> " + c;
  if (a_across) out += ", A m-major";
  if (b_across) out += ", B n-major";
  if (alpha != 1) out += fmt::format(", alpha {}", alpha);
  if (beta != 0) out += fmt::format(", beta {}", beta);
  return out;
}

Choices ProductKind::choices() const {
  return {{"a-dtype", a},
          {"b-dtype", b},
          {"c-dtype", c},
          {"a-major", a_across ? "m" : "k"},
          {"b-major", b_across ? "n" : "k"},
          {"alpha", fmt::format("{}", alpha)},
          {"beta", fmt::format("{}", beta)}};
}

std::int64_t ProductKind::step() const {
  return 16 / static_cast<std::int64_t>(bytes_of(*stored_as(a)));
}

double ProductKind::bytes(const Sizes& s) const {
  const auto of = [](const std::string& type, std::int64_t rows, std::int64_t columns) {
    return static_cast<double>(bytes_of(*stored_as(type))) * static_cast<double>(rows) *
           static_cast<double>(columns);
  };
  return of(a, s.m, s.k) + of(b, s.n, s.k) + of(c, s.m, s.n);
}

Outcome<ProductKind> product_kind(std::string_view text) {
  const std::string_view operands = text.substr(0, text.find(':'));
  const std::size_t x = operands.find('x');
  ProductKind out;
  out.a = operands.substr(0, x);
  out.b = x == operands.npos ? out.a : std::string(operands.substr(x + 1));
  out.c = out.a == "tf32" ? "f32" : out.a[0] == 'e' ? "f16" : out.a;
  if (operands.size() < text.size()) out.c = text.substr(operands.size() + 1);
  const bool known = is_one_of(out.a, {"f16", "bf16", "tf32", "e4m3", "e5m2"}) &&
                     is_one_of(out.b, {"f16", "bf16", "tf32", "e4m3", "e5m2"}) &&
                     is_one_of(out.c, {"f16", "bf16", "f32", "e4m3"});
  if (known && (out.a == out.b || (out.a[0] == 'e' && out.b[0] == 'e'))) return out;
  return Error{
      ErrorKind::usage,
      fmt::format("--types {}: an operand is f16, bf16, tf32, e4m3 or e5m2, both are alike "
                  "or of 8 bits, and C is f16, bf16, f32 or e4m3; written f16, e4m3xe5m2 "
                  "or e4m3:f32.",
                  text),
      ""};
}

Outcome<std::vector<ProductKind>> product_kinds(std::string_view text) {
  std::vector<ProductKind> out;
  for (;;) {
    const std::size_t comma = text.find(',');
    const Outcome<ProductKind> one = product_kind(text.substr(0, comma));
    if (!one) return one.error();
    out.push_back(*one);
    if (comma == text.npos) return out;
    text.remove_prefix(comma + 1);
  }
}

std::optional<std::string> no_baseline(const ProductKind& kind) {
  const std::string what = kind.a == kind.b ? kind.a : kind.a + " x " + kind.b;
  if (kind.a == "e5m2" && kind.b == "e5m2") {
    return "cublasLt multiplies no e5m2 by e5m2, so that there is nothing to compare with.";
  }
  if (kind.eight_bits() && (kind.a_across || kind.b_across)) {
    return "cublasLt multiplies 8-bit types only where K is contiguous in A and B.";
  }
  const bool fits = kind.eight_bits()  ? true
                    : kind.a == "tf32" ? kind.c == "f32"
                                       : kind.c == kind.a || kind.c == "f32";
  if (fits) return std::nullopt;
  return fmt::format("cublasLt has no {} with {} as the result.", what, kind.c);
}

}  // namespace tilescope::bench
