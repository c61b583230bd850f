// Sums as the chip adds them, of 32 elements at a time. Compiled into a namespace for each set of
// vector instructions (TILESCOPE_STEPS).
//
// All in f32 and 32-bit integers. Products of these formats are exact as f32, and so are their
// multiples of a power of two; the conversion to integers truncates what is below the least bit
// that counts. The largest exponents are found first, in 16 bits. What does not fit (elements with
// infinities or NaN among their terms, or whose largest exponent is beyond what f32 can scale) is
// told by the exponents and the sum, and those elements are added one by one.
#include "core/numeric/tile_vectors.h"

namespace tilescope::TILESCOPE_STEPS {
namespace {

// Of f32's bias, as all exponents here: between them f32 holds products, their multiples, and sums.
constexpr int least_exponent = tile_bias - 100, most_exponent = tile_bias + 120;

// The largest exponents of the products of one step, of a unit's elements.
template <int block, bool registers>
inline void largest_exponents(const std::int16_t* a, const std::int16_t* b, std::int16_t* out) {
  constexpr int shorts = 2 * width, vectors = tile_lanes / shorts;
  Shorts largest[vectors];
  for (Shorts& l : largest) l = Shorts{} + static_cast<std::int16_t>(2 * tile_zero);
  for (int p = 0; p < block; ++p) {
    for (int v = 0; v < vectors; ++v) {
      const int at = p * tile_lanes + v * shorts;
      const Shorts rows = registers ? loaded<Shorts>(a + at) : two_repeated(a + 2 * p);
      const Shorts columns = registers ? four_repeated(b + p * tile_lanes) : loaded<Shorts>(b + at);
      largest[v] = larger(largest[v], rows + columns);
    }
  }
  for (int v = 0; v < vectors; ++v) store(out + v * shorts, largest[v]);
}

inline Ints truncated(const Floats& v) {
  return __builtin_convertvector(v, Ints);
}

// The first product of each element of a unit.
struct Terms {
  const float *a, *b;
  const std::int16_t *a_exponents, *b_exponents;
  int a_scale = 0;                         // where A's rows and B's columns are scaled: of the row,
  const std::int16_t* b_scales = nullptr;  // and of the unit's columns
};

// One step of a unit's elements, 32 neighbouring words.
template <int block, bool registers, bool scaled = false>
inline void step(const StepRule& rule, const TilePanels& panels, const Terms& t, std::uint32_t* c) {
  std::int16_t product_exponents[tile_lanes];
  largest_exponents<block, registers>(t.a_exponents, t.b_exponents, product_exponents);
  const std::int32_t kept_bits = -(1 << (24 - rule.significant));
  for (int v = 0; v < parts; ++v) {
    typedef std::int16_t Half __attribute__((vector_size(2 * width)));
    const Ints unscaled =
        __builtin_convertvector(loaded<Half>(product_exponents + v * width), Ints);
    Ints up{};  // the exponents of their scale factors
    if constexpr (scaled) {
      up = __builtin_convertvector(loaded<Half>(t.b_scales + v * width), Ints) + t.a_scale;
    }
    const Ints of_products = unscaled + up;
    const Ints old = loaded<Ints>(c + v * width);
    const Ints largest = larger(larger(of_products, old >> 23 & 255), Ints{} + least_exponent);
    // 2^(fraction - largest), and its reciprocal.
    const auto scale_bits = as<Words>((2 * tile_bias + rule.fraction - largest) << 23);
    const auto scale = as<Floats>(scale_bits);
    const auto back = as<Floats>((2u * tile_bias << 23) - scale_bits);
    // The same of products before they are scaled; beyond f32's exponents all are far too small, or
    // zero.
    Floats product_scale = scale;
    if constexpr (scaled) {
      const Ints exponent = 2 * tile_bias + rule.fraction - largest + up;
      product_scale = as<Floats>(larger(Ints{}, -larger(Ints{} - 254, -exponent)) << 23);
    }

    // Two sums of half of the terms each: all of them would not fit 32 bits with a sign. Those that
    // are added one by one below may run over.
    Words even = as<Words>(truncated(as<Floats>(old) * scale)), odd{};
    const auto product = [&](int p) {
      const int at = p * tile_lanes + v * width;
      const Floats x = registers ? loaded<Floats>(t.a + at) : splat(t.a[p]);
      const Floats y = registers ? four_repeated(t.b + p * tile_lanes) : loaded<Floats>(t.b + at);
      return as<Words>(truncated(x * y * product_scale));
    };
    for (int p = 0; p < block; p += 2) {
      even += product(p);
      odd += product(p + 1);
    }
    const Words total = even + odd;
    const Ints sign =
        as<Ints>((even & odd) | ((even | odd) & total)) >> 31;  // of the sum, were it to fit
    const auto size = as<Ints>((total ^ as<Words>(sign)) - as<Words>(sign));
    const Ints bits = as<Ints>(cut_to_float(size)) & kept_bits;
    store(c + v * width, as<Ints>(as<Floats>(bits) * back) | (sign & ~0x7fffffff));

    const Ints beyond = (largest - (least_exponent + 1)) | (most_exponent - largest) | size;
    if (!any(beyond & ~0x7fffffff)) continue;
    for (int q = 0; q < width; ++q) {
      const int lane = v * width + q;
      const bool zeros =
          unscaled[q] < tile_zero / 2 && up[q] < scale_nan / 2 && (old[q] & 0x7fffffff) == 0;
      if (beyond[q] >= 0 || zeros) continue;
      const float* a = registers ? t.a + lane : t.a;
      const float* b = registers ? t.b + lane % 4 : t.b + lane;
      c[lane] = single_step(rule, panels, a, registers ? tile_lanes : 1, b, tile_lanes,
                            static_cast<std::uint32_t>(old[q]), up[q]);
    }
  }
}

template <int block, bool scaled>
void add_to_rows(const StepRule& rule, const TilePanels& s, const TileSums& d) {
  for (int j = 0; j < s.n; j += tile_lanes) {
    const std::size_t bytes = static_cast<std::size_t>(s.n - j) * 4;
    const bool whole = s.n - j >= tile_lanes;
    for (int i = 0; i < s.m; ++i) {
      std::uint32_t copy[tile_lanes] = {};  // of columns that are no whole unit
      std::uint32_t* row = d.cells + i * d.stride + j;
      if (!whole) std::memcpy(copy, row, bytes);
      for (int k = 0; k < s.k; k += block) {
        const int a = i * s.k + k, b = j * s.k + k * tile_lanes;
        Terms terms{s.a_values + a, s.b_values + b, s.a_exponents + 2 * a, s.b_exponents + b};
        if constexpr (scaled) {
          terms.a_scale = s.a_scales[i];
          terms.b_scales = s.b_scales + j;
        }
        step<block, false, scaled>(rule, s, terms, whole ? row : copy);
      }
      if (!whole) std::memcpy(row, copy, bytes);
    }
  }
}

template <int block>
void add_to_registers(const StepRule& rule, const TilePanels& s, const TileSums& d) {
  for (int q = 0; q < s.n / 4; ++q) {
    for (int g = 0; g < s.m / 8; ++g) {
      std::uint32_t* c = d.registers[tile_register(s.n, g, q)];
      for (int k = 0; k < s.k; k += block) {
        const int a = (g * s.k + k) * tile_lanes, b = (q / 8 * s.k + k) * tile_lanes + q % 8 * 4;
        const Terms terms{s.a_values + a, s.b_values + b, s.a_exponents + a, s.b_exponents + b};
        step<block, true>(rule, s, terms, c);
      }
    }
  }
}

template <int block>
void add(const StepRule& rule, const TilePanels& s, const TileSums& d) {
  if (s.registers) return add_to_registers<block>(rule, s, d);
  s.a_scales ? add_to_rows<block, true>(rule, s, d) : add_to_rows<block, false>(rule, s, d);
}

}  // namespace

void add_exact(const StepRule& rule, const TilePanels& panels, const TileSums& d) {
  switch (rule.block) {
    case 32:
      return add<32>(rule, panels, d);
    case 16:
      return add<16>(rule, panels, d);
    case 8:
      return add<8>(rule, panels, d);
    default:
      return add<4>(rule, panels, d);
  }
}

}  // namespace tilescope::TILESCOPE_STEPS
