// Sums by fused multiply-add: a block of them stays in registers while k goes by, enough that none
// need wait for the one before it. Compiled into a namespace for each set of vector instructions
// (TILESCOPE_STEPS).
#include <cmath>

#include "core/numeric/tile_vectors.h"

namespace tilescope::TILESCOPE_STEPS {
namespace {

inline Floats fused(const Floats& a, const Floats& b, const Floats& c) {
#ifdef __FMA__
  return a * b + c;  // one instruction: this file is compiled with -ffp-contract=fast
#else
  Floats out;
  for (int i = 0; i < width; ++i) out[i] = std::fmaf(a[i], b[i], c[i]);
  return out;
#endif
}

// ---- D in rows: `rows` of them, two vectors of columns of a unit ----

template <int rows>
inline void row_tile(int k, const float* a, const float* b, std::uint32_t* c, int stride) {
  Floats sum[rows][2];
  for (int i = 0; i < rows; ++i) {
    for (int v = 0; v < 2; ++v) sum[i][v] = loaded<Floats>(c + i * stride + v * width);
  }
  for (int p = 0; p < k; ++p) {
    const auto left = loaded<Floats>(b + p * tile_lanes);
    const auto right = loaded<Floats>(b + p * tile_lanes + width);
    for (int i = 0; i < rows; ++i) {
      const Floats x = splat(a[i * k + p]);
      sum[i][0] = fused(x, left, sum[i][0]);
      sum[i][1] = fused(x, right, sum[i][1]);
    }
  }
  for (int i = 0; i < rows; ++i) {
    for (int v = 0; v < 2; ++v) store(c + i * stride + v * width, sum[i][v]);
  }
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

// `across` registers of neighbouring columns (a: of the same rows), `vectors` of lanes of each.
template <int across, int vectors>
inline void register_tile(int k, const float* a, const float* b, std::uint32_t* const* c,
                          int lane) {
  Floats sum[across][vectors];
  for (int q = 0; q < across; ++q) {
    for (int v = 0; v < vectors; ++v) sum[q][v] = loaded<Floats>(c[q] + lane + v * width);
  }
  for (int p = 0; p < k; ++p) {
    Floats rows[vectors];
    for (int v = 0; v < vectors; ++v)
      rows[v] = loaded<Floats>(a + p * tile_lanes + lane + v * width);
    for (int q = 0; q < across; ++q) {
      const Floats columns = four_repeated(b + p * tile_lanes + 4 * q);
      for (int v = 0; v < vectors; ++v) sum[q][v] = fused(rows[v], columns, sum[q][v]);
    }
  }
  for (int q = 0; q < across; ++q) {
    for (int v = 0; v < vectors; ++v) store(c[q] + lane + v * width, sum[q][v]);
  }
}

void add_to_registers(const TilePanels& p, const TileSums& d) {
  constexpr int most = width == 16 ? 8 : 4;  // quads of columns
  const int k = p.k, quads = p.n / 4;
  for (int q = 0; q < quads;) {
    const int across = quads - q >= most && q % 8 + most <= 8 ? most : 2;
    const float* b = p.b_values + q / 8 * k * tile_lanes + q % 8 * 4;
    for (int g = 0; g < p.m / 8; ++g) {
      std::uint32_t* c[most];
      for (int e = 0; e < across; ++e) c[e] = d.registers[tile_register(p.n, g, q + e)];
      const float* a = p.a_values + g * k * tile_lanes;
      for (int lane = 0; lane < tile_lanes; lane += 2 * width) {
        across == most ? register_tile<most, 2>(k, a, b, c, lane)
                       : register_tile<2, 2>(k, a, b, c, lane);
      }
    }
    q += across;
  }
}

}  // namespace

void add_fused(const TilePanels& panels, const TileSums& d) {
  panels.registers ? add_to_registers(panels, d) : add_to_rows(panels, d);
}

}  // namespace tilescope::TILESCOPE_STEPS
