// Sums by fused multiply-add: a block of them stays in registers while k goes by, enough that none
// need wait for the one before it. Compiled into a namespace for each set of vector instructions
// (TILESCOPE_STEPS).
#include <cmath>
#include <type_traits>
#include <utility>

#include "core/numeric/tile_vectors.h"

namespace tilescope::TILESCOPE_STEPS {
namespace {

inline Floats fused(const Floats& a, const Floats& b, const Floats& c) {
#if defined(__AVX512F__)
  return _mm512_fmadd_ps(a, b, c);
#elif defined(__FMA__)
  return _mm256_fmadd_ps(a, b, c);
#else
  Floats out;
  for (int i = 0; i < width; ++i) out[i] = std::fmaf(a[i], b[i], c[i]);
  return out;
#endif
}

// f(0), f(1), ... f(count - 1), each written out: what they index stays in registers.
template <class F, int... i>
inline void each_of(std::integer_sequence<int, i...>, F f) {
  (f(std::integral_constant<int, i>{}), ...);
}
template <int count, class F>
inline void each(F f) {
  each_of(std::make_integer_sequence<int, count>{}, f);
}

// ---- D in rows: `rows` of them, two vectors of columns of a unit ----

template <int rows>
inline void row_tile(int k, const float* a, const float* b, std::uint32_t* c, int stride) {
  Floats left[rows], right[rows];
  each<rows>([&](auto i) {
    left[i] = loaded<Floats>(c + i * stride);
    right[i] = loaded<Floats>(c + i * stride + width);
  });
  for (int p = 0; p < k; ++p) {
    const auto x = loaded<Floats>(b + p * tile_lanes);
    const auto y = loaded<Floats>(b + p * tile_lanes + width);
    each<rows>([&](auto i) {
      const Floats row = splat(a[i * k + p]);
      left[i] = fused(row, x, left[i]);
      right[i] = fused(row, y, right[i]);
    });
  }
  each<rows>([&](auto i) {
    store(c + i * stride, left[i]);
    store(c + i * stride + width, right[i]);
  });
}

constexpr int most_rows = width == 16 ? 8 : 6;  // of 32 and of 16 registers

void row_unit(int m, int k, const float* a, const float* b, std::uint32_t* c, int stride) {
  for (int at = 0; at < tile_lanes; at += 2 * width) {
    int i = 0;
    const auto some = [&](auto tile, int rows) {
      for (; i + rows <= m; i += rows) tile(k, a + i * k, b + at, c + i * stride + at, stride);
    };
    some(row_tile<most_rows>, most_rows);
    some(row_tile<4>, 4);
    some(row_tile<1>, 1);
  }
}

void add_to_rows(const TilePanels& p, const TileSums& d) {
  const int whole = p.n / tile_lanes * tile_lanes, k = p.k;
  for (int j = 0; j < whole; j += tile_lanes) {
    row_unit(p.m, k, p.a_values, p.b_values + j * k, d.cells + j, d.stride);
  }
  // Of the last columns, which are no whole unit, a copy is added to.
  const std::size_t bytes = static_cast<std::size_t>(p.n - whole) * 4;
  for (int i = 0; bytes && i < p.m; ++i) {
    std::uint32_t copy[tile_lanes] = {};
    std::uint32_t* row = d.cells + i * d.stride + whole;
    std::memcpy(copy, row, bytes);
    row_unit(1, k, p.a_values + i * k, p.b_values + whole * k, copy, tile_lanes);
    std::memcpy(row, copy, bytes);
  }
}

// ---- D in registers: a register holds eight rows of four columns ----

// `across` registers of the same rows, two vectors of each; b: the columns of each.
template <int across>
inline void register_tile(int k, const float* a, const float* const* b, std::uint32_t* const* c,
                          int lane) {
  Floats upper[across], lower[across];
  each<across>([&](auto q) {
    upper[q] = loaded<Floats>(c[q] + lane);
    lower[q] = loaded<Floats>(c[q] + lane + width);
  });
  for (int p = 0; p < k; ++p) {
    const auto x = loaded<Floats>(a + p * tile_lanes + lane);
    const auto y = loaded<Floats>(a + p * tile_lanes + lane + width);
    each<across>([&](auto q) {
      const Floats columns = four_repeated(b[q] + p * tile_lanes);
      upper[q] = fused(x, columns, upper[q]);
      lower[q] = fused(y, columns, lower[q]);
    });
  }
  each<across>([&](auto q) {
    store(c[q] + lane, upper[q]);
    store(c[q] + lane + width, lower[q]);
  });
}

constexpr int most_across = width == 16 ? 8 : 6;

// The registers from the q-th four columns on.
template <int across>
void register_columns(const TilePanels& p, const TileSums& d, int q) {
  const float* b[across];
  std::uint32_t* c[across];
  for (int e = 0; e < across; ++e) {
    b[e] = p.b_values + (q + e) / 8 * p.k * tile_lanes + (q + e) % 8 * 4;
  }
  for (int g = 0; g < p.m / 8; ++g) {
    for (int e = 0; e < across; ++e) c[e] = d.registers[tile_register(p.n, g, q + e)];
    const float* a = p.a_values + g * p.k * tile_lanes;
    for (int lane = 0; lane < tile_lanes; lane += 2 * width) {
      register_tile<across>(p.k, a, b, c, lane);
    }
  }
}

void add_to_registers(const TilePanels& p, const TileSums& d) {
  const int quads = p.n / 4;
  int q = 0;
  for (; q + most_across <= quads; q += most_across) register_columns<most_across>(p, d, q);
  for (; q + 4 <= quads; q += 4) register_columns<4>(p, d, q);
  for (; q < quads; q += 2) register_columns<2>(p, d, q);
}

}  // namespace

void add_fused(const TilePanels& panels, const TileSums& d) {
  panels.registers ? add_to_registers(panels, d) : add_to_rows(panels, d);
}

}  // namespace tilescope::TILESCOPE_STEPS
