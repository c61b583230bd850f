#include "core/numeric/random.h"

#include <bit>
#include <cmath>

namespace tilescope {
namespace {

constexpr double ln2 = 0.69314718055994530942;
constexpr double sqrt2 = 1.41421356237309504880;
constexpr double pi = 3.14159265358979323846;

// ln of a positive normal number: x = 2^e m with m in [sqrt(1/2), sqrt(2)), and
// ln m = 2 atanh(s) = 2 (s + s^3/3 + s^5/5 + ...), s = (m - 1)/(m + 1), |s| < 0.172.
double logarithm(double x) {
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
  int exponent = static_cast<int>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0xfffffffffffff) | 0x3ff0000000000000);
  if (m > sqrt2) m *= 0.5, ++exponent;
  const double s = (m - 1) / (m + 1), s2 = s * s;
  double series = 0;
  for (int n = 21; n >= 1; n -= 2) series = series * s2 + 1.0 / n;
  return exponent * ln2 + 2 * s * series;
}

struct Turn {
  double cosine, sine;
};

// cos and sin of a full turn times (word + 1/2) / 2^32. The two top bits, rounded, say which
// quarter; what is left is an angle of at most an eighth of a turn, where Taylor's series is short.
Turn turn(std::uint32_t word) {
  const std::uint32_t quarter = (word + 0x20000000u) >> 30;
  const auto rest = static_cast<std::int32_t>(word - (quarter << 30));
  const double x = (rest + 0.5) * (2 * pi / 4294967296.0), x2 = x * x;
  double cosine = 1, sine = 1;
  for (int n = 18; n >= 2; n -= 2) {
    cosine = 1 - cosine * x2 * (1.0 / (n * (n - 1)));
    sine = 1 - sine * x2 * (1.0 / (n * (n + 1)));
  }
  sine *= x;
  switch (quarter & 3) {
    case 0:
      return {cosine, sine};
    case 1:
      return {-sine, cosine};
    case 2:
      return {-cosine, -sine};
    default:
      return {sine, -cosine};
  }
}

}  // namespace

std::array<std::uint32_t, 4> philox4x32_10(std::array<std::uint32_t, 4> counter,
                                           std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t q = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {
        static_cast<std::uint32_t>(q >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(q),
        static_cast<std::uint32_t>(p >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(p)};
    key = {key[0] + 0x9E3779B9u, key[1] + 0xBB67AE85u};
  }
  return counter;
}

std::array<double, 4> normals(std::uint64_t seed, std::uint64_t stream, std::uint64_t block) {
  const auto low = [](std::uint64_t v) { return static_cast<std::uint32_t>(v); };
  const auto high = [](std::uint64_t v) { return static_cast<std::uint32_t>(v >> 32); };
  const std::array<std::uint32_t, 4> words =
      philox4x32_10({low(block), high(block), low(stream), high(stream)}, {low(seed), high(seed)});
  std::array<double, 4> out{};
  for (std::size_t pair = 0; pair < 4; pair += 2) {
    const double u = (words[pair] + 0.5) / 4294967296.0;
    const double radius = std::sqrt(-2 * logarithm(u));
    const Turn angle = turn(words[pair + 1]);
    out[pair] = radius * angle.cosine;
    out[pair + 1] = radius * angle.sine;
  }
  return out;
}

std::vector<std::byte> random_elements(DType type, std::uint64_t seed, std::uint64_t stream,
                                       std::size_t count) {
  const std::size_t width = bytes_of(type);
  std::vector<std::byte> bytes(count * width);
  for (std::size_t block = 0; 4 * block < count; ++block) {
    const std::array<double, 4> z = normals(seed, stream, block);
    for (std::size_t i = 0; i < 4 && 4 * block + i < count; ++i) {
      double value = z[i];
      if (!is_float(type)) {
        value = std::floor(8 * value + 0.5);
        if (!is_signed_integer(type)) value = std::fabs(value);
      }
      store_element(type, bytes.data() + (4 * block + i) * width, value);
    }
  }
  return bytes;
}

}  // namespace tilescope
