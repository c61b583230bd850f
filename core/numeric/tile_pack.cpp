// Operands' bytes as f32 in the order in which the loops take them (core/numeric/tile_steps.h).
// Compiled into a namespace for each set of vector instructions (TILESCOPE_STEPS).
#include <algorithm>

#include "core/numeric/tile_vectors.h"

namespace tilescope::TILESCOPE_STEPS {
namespace {

constexpr int eight = 8;
typedef std::int32_t EightInts __attribute__((vector_size(32)));

// Patterns as f32, exactly; infinities and NaN are what they were.
class Widener {
 public:
  Widener(FloatFormat format, bool negate)
      : as_wide_(format.exponent_bits == 8),
        left_(23 - format.mantissa_bits),
        sign_left_(32 - format.bits()),
        size_(static_cast<std::int32_t>(format.sign_bit() - 1)),
        hidden_(1 << format.mantissa_bits),
        beyond_(static_cast<std::int32_t>(format.beyond())),
        up_((127 - format.bias()) << 23),
        least_(as_float((127 + 1 - format.bias() - format.mantissa_bits) << 23)),
        flip_(negate ? ~0x7fffffff : 0) {}

  // A pattern of fewer than 32 bits in each word.
  Eight operator()(const EightInts& pattern) const {
    const EightInts size = pattern & size_;
    EightInts bits = size << left_;
    if (!as_wide_) {
      const auto small = as<EightInts>(__builtin_convertvector(size, Eight) * least_);
      const EightInts special = bits | 0x7f800000;
      bits += up_;
      bits = size < hidden_ ? small : bits;
      bits = size >= beyond_ ? special : bits;
    }
    return as<Eight>(bits | (((pattern << sign_left_) & ~0x7fffffff) ^ flip_));
  }

 private:
  static float as_float(std::int32_t bits) {
    float f;
    std::memcpy(&f, &bits, sizeof f);
    return f;
  }

  bool as_wide_;  // its exponents are f32's
  int left_, sign_left_;
  std::int32_t size_, hidden_, beyond_, up_;
  float least_;  // of the subnormal numbers
  std::int32_t flip_;
};

#ifdef __AVX512VL__
// Of f16, by the instruction for it.
class HalfWidener {
 public:
  explicit HalfWidener(bool negate) : flip_(negate ? ~0x7fffffff : 0) {}
  Eight operator()(const EightInts& pattern) const {
    const __m128i halves = _mm256_cvtepi32_epi16(reinterpret_cast<__m256i>(pattern));
    const auto value = reinterpret_cast<EightInts>(_mm256_maskz_cvtph_ps(0xff, halves));
    return as<Eight>(value ^ flip_);
  }

 private:
  std::int32_t flip_;
};
#endif

// Has f(widener) for the operand.
template <class F>
inline void widening(const TileOperand& o, F f) {
#ifdef __AVX512VL__
  if (o.format.exponent_bits == 5 && o.format.mantissa_bits == 10) return f(HalfWidener(o.negate));
#endif
  f(Widener(o.format, o.negate));
}

int bytes_of(FloatFormat format) {
  return format.bits() <= 8 ? 1 : format.bits() <= 16 ? 2 : 4;
}
// Where a pattern begins in its bytes.
int low_bit(FloatFormat format) {
  return bytes_of(format) == 4 ? 13 : 0;
}

// Eight rows of eight words become eight columns.
inline void transpose(EightInts* r) {
  EightInts t[8], u[8];
  for (int i = 0; i < 8; i += 2) {
    t[i] = __builtin_shufflevector(r[i], r[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    t[i + 1] = __builtin_shufflevector(r[i], r[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
  }
  for (int i = 0; i < 8; i += 4) {
    for (int h = 0; h < 2; ++h) {
      u[i + 2 * h] = __builtin_shufflevector(t[i + h], t[i + 2 + h], 0, 1, 8, 9, 4, 5, 12, 13);
      u[i + 2 * h + 1] =
          __builtin_shufflevector(t[i + h], t[i + 2 + h], 2, 3, 10, 11, 6, 7, 14, 15);
    }
  }
  for (int i = 0; i < 4; ++i) {
    r[i] = __builtin_shufflevector(u[i], u[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    r[i + 4] = __builtin_shufflevector(u[i], u[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

// Eight rows, `order` apart from the first: say(k, the rows' numbers at k).
template <class W, class Say>
inline void each_column(const TileOperand& o, const std::byte* first, const int* order, int k,
                        const W& widened, Say say) {
  const int bytes = bytes_of(o.format), row = k * bytes, in_word = 4 / bytes;
  const int low = low_bit(o.format);
  for (int at = 0; at < row; at += 32) {
    EightInts words[eight];
    for (int i = 0; i < eight; ++i) words[i] = loaded<EightInts>(first + order[i] * row + at);
    transpose(words);
    for (int w = 0; w < eight; ++w) {
      for (int s = 0; s < in_word; ++s) {
        const int shift = s * 8 * bytes + low;
        say((at / 4 + w) * in_word + s, widened(as<EightInts>(as<EightWords>(words[w]) >> shift)));
      }
    }
  }
}

constexpr int in_order[eight] = {0, 1, 2, 3, 4, 5, 6, 7};
constexpr int even_first[eight] = {0, 2, 4, 6, 1, 3, 5, 7};

template <class T, class W>
inline void widen_row(const W& widened, int low, const std::byte* bytes, int count, float* out) {
  typedef T Patterns __attribute__((vector_size(sizeof(T) * eight)));
  for (int i = 0; i < count; i += eight) {
    const auto patterns = loaded<Patterns>(bytes + static_cast<std::size_t>(i) * sizeof(T));
    store(out + i, widened(__builtin_convertvector(patterns, EightInts) >> low));
  }
}

}  // namespace

void pack_rows(const TileOperand& a, int m, int k, float* out) {
  widening(a, [&](const auto& widened) {
    switch (bytes_of(a.format)) {
      case 1:
        return widen_row<std::uint8_t>(widened, 0, a.bytes, m * k, out);
      case 2:
        return widen_row<std::uint16_t>(widened, 0, a.bytes, m * k, out);
      default:
        return widen_row<std::int32_t>(widened, low_bit(a.format), a.bytes, m * k, out);
    }
  });
}

void pack_registers(const TileOperand& a, int m, int k, float* out) {
  const int row = k * bytes_of(a.format);
  widening(a, [&](const auto& widened) {
    for (int i = 0; i < m; i += eight) {
      float* unit = out + i / eight * k * tile_lanes;
      each_column(a, a.bytes + i * row, in_order, k, widened, [&](int at, const Eight& rows) {
        float* to = unit + at * tile_lanes;
        store(to, __builtin_shufflevector(rows, rows, 0, 0, 0, 0, 1, 1, 1, 1));
        store(to + 8, __builtin_shufflevector(rows, rows, 2, 2, 2, 2, 3, 3, 3, 3));
        store(to + 16, __builtin_shufflevector(rows, rows, 4, 4, 4, 4, 5, 5, 5, 5));
        store(to + 24, __builtin_shufflevector(rows, rows, 6, 6, 6, 6, 7, 7, 7, 7));
      });
    }
  });
}

void pack_columns(const TileOperand& b, int n, int k, bool registers, float* out) {
  const int row = k * bytes_of(b.format);
  const auto unit = [&](int j) { return out + j / tile_lanes * k * tile_lanes + j % tile_lanes; };
  widening(b, [&](const auto& widened) {
    for (int j = 0; j < n; j += eight) {
      float* to = unit(j);
      each_column(b, b.bytes + j * row, registers ? even_first : in_order, k, widened,
                  [&](int at, const Eight& columns) { store(to + at * tile_lanes, columns); });
    }
  });
  for (int j = n; j % tile_lanes != 0; j += eight) {
    for (int at = 0; at < k; ++at) store(unit(j) + at * tile_lanes, Eight{});
  }
}

void find_exponents(FloatFormat format, const float* values, int count, int bias, bool twice,
                    std::int16_t* out) {
  const std::int32_t least = 1 - format.bias() + 127;
  for (int i = 0; i < count; i += eight) {
    const EightInts size = loaded<EightInts>(values + i) & 0x7fffffff;
    const EightInts field = size >> 23;
    EightInts e = (field > least ? field : EightInts{} + least) + (bias - 127);
    e = size == 0 ? EightInts{} + tile_zero : e;
    e = field == 255 ? EightInts{} + tile_special : e;
    if (twice) {
      store(out + 2 * i, e << 16 | (e & 0xffff));
    } else {
      typedef std::int16_t EightShorts __attribute__((vector_size(16)));
      store(out + i, __builtin_convertvector(e, EightShorts));
    }
  }
}

}  // namespace tilescope::TILESCOPE_STEPS
