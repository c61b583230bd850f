#include "tests/bench/product_bound.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <random>

namespace tilescope::bench {
namespace {

// Half a unit in the last place of a type: of a number, and of the smallest ones.
struct HalfUnit {
  double relative, least;
};
HalfUnit half_unit(const std::string& type) {
  if (type == "bf16") return {std::ldexp(1, -8), 0};
  if (type == "f16") return {std::ldexp(1, -11), std::ldexp(1, -25)};
  if (type == "e4m3") return {std::ldexp(1, -4), std::ldexp(1, -10)};
  return {std::ldexp(1, -24), 0};
}

const std::vector<float>* table_of(DType type) {
  static std::map<DType, std::vector<float>> tables;
  const std::size_t width = bytes_of(type);
  if (width > 2) return nullptr;
  std::vector<float>& table = tables[type];
  if (table.empty()) {
    table.resize(std::size_t{1} << (8 * width));
    for (std::size_t i = 0; i < table.size(); ++i) {
      std::byte bytes[2] = {std::byte(i & 0xff), std::byte(i >> 8)};
      table[i] = static_cast<float>(load_element(type, bytes));
    }
  }
  return &table;
}

double over(double error, double allowed) {
  if (!std::isfinite(error)) return std::numeric_limits<double>::infinity();
  if (error == 0) return 0;
  return allowed > 0 ? error / allowed : std::numeric_limits<double>::infinity();
}

}  // namespace

ErrorBound bound_of(const ProductKind& kind, std::int64_t k) {
  const bool f8 = kind.eight_bits(), tf32 = kind.a == "tf32";
  const double root = std::sqrt(static_cast<double>(k)), u = std::ldexp(1, f8 ? -13 : -23);
  const double additions = static_cast<double>(k) / (f8 ? 32 : tf32 ? 8 : 16);
  const HalfUnit half = half_unit(kind.c);
  const double alpha = std::fabs(static_cast<double>(kind.alpha));
  ErrorBound out;
  out.absolute = alpha * u * 2 * root * (additions + 4 * root) + half.least;
  out.relative = half.relative + std::ldexp(1, -22);  // alpha and beta are multiplied in f32
  out.mean = u * (additions / 2 + root) + out.relative;
  return out;
}

void Rightness::include(const Rightness& other) {
  worst = std::max(worst, other.worst);
  mean = std::max(mean, other.mean);
}

std::string Rightness::text() const {
  if (std::isinf(worst)) return "an element is no number";
  if (worst > 1) return fmt::format("an element is off by {:.3g} times what is allowed", worst);
  return fmt::format("all together are off by {:.3g} times what is allowed", mean);
}

Values::Values(std::string_view type, std::span<const std::byte> bytes)
    : width_(bytes_of(*stored_as(type))),
      bytes_(bytes.data()),
      table_(table_of(*stored_as(type))) {}

double Values::operator[](std::size_t i) const {
  if (width_ == 1) return (*table_)[std::to_integer<std::size_t>(bytes_[i])];
  if (width_ == 2) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, bytes_ + 2 * i, sizeof bits);
    return (*table_)[bits];
  }
  float value = 0;
  std::memcpy(&value, bytes_ + 4 * i, sizeof value);
  return value;
}

Rightness between(std::span<const std::byte> got, std::span<const std::byte> want, DType type,
                  const ErrorBound& bound) {
  const Values x(name_of(type), got), y(name_of(type), want);
  const std::size_t count = want.size() / bytes_of(type);
  Rightness out;
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double u = x[i], v = y[i], off = std::fabs(u - v);
    const double allowed = 2 * bound.absolute + bound.relative * (std::fabs(u) + std::fabs(v));
    if (!(off <= out.worst * allowed)) out.worst = std::max(out.worst, over(off, allowed));
    difference += off * off;
    size += v * v;
  }
  out.mean = over(std::sqrt(difference), 2 * bound.mean * std::sqrt(size));
  return out;
}

double HostProduct::exact(std::int64_t row, std::int64_t column) const {
  const Values x(kind.a, a), y(kind.b, b);
  const auto at = [](bool across, std::int64_t i, std::int64_t k, std::int64_t rows,
                     std::int64_t columns) {
    return static_cast<std::size_t>(across ? k * rows + i : i * columns + k);
  };
  double sum = 0;
  for (std::int64_t k = 0; k < sizes.k; ++k) {
    sum += x[at(kind.a_across, row, k, sizes.m, sizes.k)] *
           y[at(kind.b_across, column, k, sizes.n, sizes.k)];
  }
  sum *= static_cast<double>(kind.alpha);
  if (kind.beta == 0) return sum;
  const Values before(kind.c, c);
  return sum +
         static_cast<double>(kind.beta) * before[static_cast<std::size_t>(row * sizes.n + column)];
}

Rightness sampled(std::span<const std::byte> got, const HostProduct& product,
                  const ErrorBound& bound, int count) {
  const Values values(product.kind.c, got);
  const std::int64_t m = product.sizes.m, n = product.sizes.n;
  std::mt19937_64 draw(1);
  const auto below = [&](std::int64_t end) {
    return static_cast<std::int64_t>(draw() % static_cast<std::uint64_t>(end));
  };
  Rightness out;
  for (int i = 0; i < count; ++i) {
    const bool last_row = i < 4 ? i & 1 : i % 8 == 0, last_column = i < 4 ? i & 2 : i % 8 == 1;
    const std::int64_t row = last_row ? m - 1 : i < 4 ? 0 : below(m);
    const std::int64_t column = last_column ? n - 1 : i < 4 ? 0 : below(n);
    const double want = product.exact(row, column);
    const double off = std::fabs(values[static_cast<std::size_t>(row * n + column)] - want);
    out.worst =
        std::max(out.worst, over(off, bound.absolute + bound.relative * std::fabs(want) * 1.01));
  }
  return out;
}

}  // namespace tilescope::bench
