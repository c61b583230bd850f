#include "core/numeric/tile_groups.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "core/numeric/tile_steps.h"

namespace tilescope {
namespace {

struct GroupLoops {
  decltype(&base::pack_rows) pack_rows;
  decltype(&base::pack_columns) pack_columns;
  decltype(&base::add_groups) add_groups;
  decltype(&base::add_fused) add_fused;
};

const GroupLoops& group_loops(TileVectors vectors) {
  static constexpr GroupLoops base{base::pack_rows, base::pack_columns, base::add_groups,
                                   base::add_fused};
#ifdef TILESCOPE_NUMERIC_AVX2
  static constexpr GroupLoops avx2{avx2::pack_rows, avx2::pack_columns, avx2::add_groups,
                                   avx2::add_fused};
  static constexpr GroupLoops avx512{avx512::pack_rows, avx512::pack_columns, avx512::add_groups,
                                     avx512::add_fused};
  if (vectors == TileVectors::avx512) return avx512;
  if (vectors == TileVectors::avx2) return avx2;
#endif
  (void)vectors;
  return base;
}

// A byte for each element.
std::vector<std::byte> unpacked(const std::byte* elements, std::size_t count) {
  std::vector<std::byte> out(count);
  for (std::size_t i = 0; i < count / 2; ++i) {
    out[2 * i] = elements[i] & std::byte{15};
    out[2 * i + 1] = elements[i] >> 4;
  }
  return out;
}

constexpr std::uint8_t ue8m0_nan = 0xff, ue4m3_size = 0x7f;

// significand * 2^exponent; of numbers below the normal ones the exponent is that of the least
// normal one, and a zero has -126 (as MMA-Sim takes them apart).
void split_scale(ScaleFormat format, std::uint8_t pattern, float& significand,
                 std::int32_t& exponent) {
  significand = 1;
  if (format == ScaleFormat::ue8m0) {
    exponent = pattern == ue8m0_nan ? scale_nan : pattern - 127;
    return;
  }
  const std::uint8_t size = pattern & ue4m3_size;
  const int field = size >> 3, mantissa = size & 7;
  significand = static_cast<float>(mantissa + (field ? 8 : 0)) / 8;
  exponent = format_e4m3.is_nan(size) ? scale_nan
             : size == 0              ? -126
                                      : (field ? field : 1) - format_e4m3.bias();
}

}  // namespace

double decode(ScaleFormat format, std::uint8_t pattern) {
  float significand = 0;
  std::int32_t exponent = 0;
  split_scale(format, pattern, significand, exponent);
  return exponent == scale_nan ? std::numeric_limits<double>::quiet_NaN()
                               : std::ldexp(significand, exponent);
}

TileGroups::TileGroups(ScaleFormat format, int k, int block, TileProduct::Sums sums,
                       TileVectors vectors)
    : format_(format), sums_(sums), k_(k), block_(block), vectors_(vectors) {}

bool TileGroups::fuses(ScaleFormat format, const std::byte* scales, std::size_t count) {
  return std::all_of(scales, scales + count, [&](std::byte pattern) {
    float significand = 0;
    std::int32_t exponent = 0;
    split_scale(format, static_cast<std::uint8_t>(pattern), significand, exponent);
    return significand == 0 || std::abs(exponent) <= most_fused;
  });
}

void TileGroups::take_scales(const std::byte* scales, int rows, Factors& out) const {
  const int groups = k_ / group, blocks = k_ / block_;
  out.significand.resize(static_cast<std::size_t>(rows) * groups);
  out.exponent.resize(out.significand.size());
  for (int i = 0; i < rows; ++i) {
    for (int g = 0; g < groups; ++g) {
      const auto pattern = static_cast<std::uint8_t>(scales[i * blocks + g * group / block_]);
      const auto at = static_cast<std::size_t>(i * groups + g);
      split_scale(format_, pattern, out.significand[at], out.exponent[at]);
    }
  }
}

void TileGroups::take_a(const ScaledOperand& a, int m) {
  const auto count = static_cast<std::size_t>(m) * static_cast<std::size_t>(k_);
  const std::vector<std::byte> bytes = unpacked(a.elements, count);
  a_ = AlignedArray<float>(count);
  group_loops(vectors_).pack_rows({format_e2m1, bytes.data(), a.negate}, m, k_, a_.data());
  take_scales(a.scales, m, a_factors_);
  for (int g = 0; fused() && g < m * k_ / group; ++g) {
    const auto at = static_cast<std::size_t>(g);
    const float factor = a_factors_.significand[at] * power_of_two(a_factors_.exponent[at]);
    for (int p = 0; p < group; ++p) a_.data()[g * group + p] *= factor;
  }
}

void TileGroups::take_b(const ScaledOperand& b, int n) {
  const int units = (n + tile_lanes - 1) / tile_lanes, groups = k_ / group;
  n_ = n;
  const std::vector<std::byte> bytes =
      unpacked(b.elements, static_cast<std::size_t>(n) * static_cast<std::size_t>(k_));
  b_ = AlignedArray<float>(static_cast<std::size_t>(units * tile_lanes * k_));
  group_loops(vectors_).pack_columns({format_e2m1, bytes.data(), b.negate}, n, k_, false,
                                     b_.data());
  Factors factors;
  take_scales(b.scales, n, factors);
  const auto count = static_cast<std::size_t>(units * tile_lanes * groups);
  b_scales_ = AlignedArray<float>(count);
  b_exponents_ = AlignedArray<std::int32_t>(count);
  for (int j = 0; j < units * tile_lanes; ++j) {
    for (int g = 0; g < groups; ++g) {
      const int to = (j / tile_lanes * groups + g) * tile_lanes + j % tile_lanes;
      const auto from = static_cast<std::size_t>(j * groups + g);
      b_scales_.data()[to] = j < n ? factors.significand[from] : 0;
      b_exponents_.data()[to] = j < n ? factors.exponent[from] : 0;
    }
  }
  for (int g = 0; fused() && g < units * groups; ++g) {
    float row[tile_lanes];
    const int first = g * tile_lanes;
    for (int c = 0; c < tile_lanes; ++c) {
      row[c] = b_scales_.data()[first + c] * power_of_two(b_exponents_.data()[first + c]);
    }
    float* unit = b_.data() + g * group * tile_lanes;
    for (int p = 0; p < group; ++p, unit += tile_lanes) {
      for (int c = 0; c < tile_lanes; ++c) unit[c] *= row[c];
    }
  }
}

void TileGroups::add(int row, int rows, std::uint32_t* cells, int stride) const {
  if (fused()) {
    const TilePanels panels{a_.data() + row * k_, b_.data(), nullptr, nullptr, rows, n_, k_};
    return group_loops(vectors_).add_fused(panels, {cells, stride, nullptr});
  }
  const int groups = k_ / group;
  GroupPanels panels;
  panels.a = a_.data() + row * k_;
  panels.b = b_.data();
  panels.a_scales = a_factors_.significand.data() + row * groups;
  panels.a_exponents = a_factors_.exponent.data() + row * groups;
  panels.b_scales = b_scales_.data();
  panels.b_exponents = b_exponents_.data();
  panels.m = rows;
  panels.n = n_;
  panels.k = k_;
  panels.unit_scales = format_ == ScaleFormat::ue8m0;
  group_loops(vectors_).add_groups(panels, cells, stride);
}

}  // namespace tilescope
