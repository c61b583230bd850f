// mma.sync of what few chips or few kernels have (PTX ISA 9.7.14.5.14, 9.7.14.6.3): m8n8k4 of f16,
// bits, a sparse A, and sm_120's pairs of narrow elements, with scale factors or without.
//
// How they add. Integers and bits are exact. A sparse A of f16, bf16 and tf32 is multiplied as
// wgmma's is: those elements that are stored, all in one step, each with the element of B that
// belongs to it. Of f8, ptxas 13.0 makes f16 of it for sm_90 and takes two steps, as of a dense A
// (mma.cpp). m8n8k4 of f16 adds as a V100, whose instruction it is: four products and C, with no
// bit more than f32 has (Khattak, Mikaitis, "Accurate Models of NVIDIA Tensor Cores", 2025); what
// ptxas 13.0 makes of it for sm_80 and later is no product of matrices. How sm_120 adds was not
// measured: here all products of an instruction and C in one step, as a B200 adds its f8; a scale
// factor's exponent adds to that of what it scales, and its significand multiplies it exactly.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "core/sim/lanes/units.h"
#include "core/sim/machine/model.h"
#include "core/sim/matrix/fragments.h"

namespace tilescope::sim {
namespace {

using ptx::Field;
using ptx::Type;
using u32 = std::uint32_t;

constexpr int most_results = 32 * 8;

const u32* word_lanes(const Core& x, Reference r) {
  return reinterpret_cast<const u32*>(x.bank[r >> 31] + (r & ~constant_bit));
}

// ---- m8n8k4 of f16: four products ----

Flow four_products(Core& x, const Code& code, Mask m) {
  const Flow flow = whole_warp(x, m);
  if (flow != Flow::next) return flow;
  const Mma& mma = mma_forms()[code.immediate];
  const MmaOperands o(x, code, mma);
  constexpr int rows = 8, columns = 8, depth = 4, all = 32;
  u32 a[all * depth], b[depth * all], c[most_results];
  gather(x, o.a, mma.a_fragment, a);
  gather(x, o.b, mma.b_fragment, b);
  gather(x, o.c, mma.c_fragment, c);
  if (mma.c == Type::f16 && mma.d == Type::f32) {
    for (u32& v : c) v = encode(format_f32, decode(format_f16, v));
  }
  std::int32_t a_size[all * depth], a_exponent[all * depth], b_size[depth * all],
      b_exponent[depth * all];
  StepRule rule;
  rule.block = depth;
  rule.fraction = 23;
  rule.half_accumulator = mma.d == Type::f16;
  take_apart(format_f16, a, all * depth, a_size, a_exponent);
  for (int product = 0; product < 4; ++product) {
    u32 own[depth * columns];
    for (int k = 0; k < depth; ++k) {
      std::copy_n(b + k * all + product * columns, columns, own + k * columns);
    }
    take_apart(format_f16, own, depth * columns, b_size, b_exponent);
    const int first = product * rows * depth;
    multiply_add(rule, {rows, columns, depth}, format_f16, {a_size + first, a_exponent + first},
                 format_f16, {b_size, b_exponent}, c + product * rows * columns);
  }
  scatter(x, o.d, mma.d_fragment, c);
  return Flow::next;
}

// ---- bits ----

template <bool both>
Flow bit_product(Core& x, const Code& code, Mask m) {
  const Flow flow = whole_warp(x, m);
  if (flow != Flow::next) return flow;
  const Mma& mma = mma_forms()[code.immediate];
  const MmaOperands o(x, code, mma);
  const auto [rows, columns, depth] = mma.shape;
  std::vector<u32> a(static_cast<std::size_t>(rows * depth)),
      b(static_cast<std::size_t>(depth * columns));
  u32 c[most_results];
  gather(x, o.a, mma.a_fragment, a.data());
  gather(x, o.b, mma.b_fragment, b.data());
  gather(x, o.c, mma.c_fragment, c);
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      for (int k = 0; k < depth; ++k) {
        const u32 p = a[static_cast<std::size_t>(i * depth + k)],
                  q = b[static_cast<std::size_t>(k * columns + j)];
        c[i * columns + j] += both ? p & q : p ^ q;
      }
    }
  }
  scatter(x, o.d, mma.d_fragment, c);
  return Flow::next;
}

// ---- a sparse A ----

// How many stored elements a chunk has, and of how many columns: 1 of 2 (tf32), 2 of 4, or two
// pairs of four.
struct SparseChunk {
  int stored = 2, columns = 4, apart = 1;
};
SparseChunk chunk_of(const Mma& mma) {
  if (mma.a == Type::tf32) return {1, 2, 1};
  return mma.a_fragment.bits == 4 ? SparseChunk{4, 8, 2} : SparseChunk{2, 4, 1};
}

}  // namespace

// Of each group of four lanes, 4 bits a chunk:
//
//   16 bits, tf32   as many lanes as are needed, the selector says which; a lane's low 16 bits are
//                   row g's, the high ones row g + 8's; a second lane has the later chunks
//   8 and 4 bits    a pair of lanes has rows g and g + 8; a second pair has the later chunks
//
// (figures 119, 122, 129, 136 and 137, which are pictures; wgmma's, which an H100 has alike.)
u32 metadata_bits(const Mma& mma, const u32* metadata, int selector, int row, int chunk) {
  const int chunks = mma.shape.k / chunk_of(mma).columns;
  const int group = row % 8 * 4, high = row / 8;
  if (mma.a_fragment.bits <= 8) {
    const int first = chunks > 8 ? chunk / 8 * 2 : selector * 2;
    return metadata[group + first + high] >> (chunk % 8 * 4) & 15;
  }
  const int lanes_of_it = chunks / 4;
  return metadata[group + selector * lanes_of_it + chunk / 4] >> (high * 16 + chunk % 4 * 4) & 15;
}

namespace {

// Calls say(stored, column) for each stored element of a row of A: which column it is of.
template <class Say>
void each_stored_element(const Mma& mma, const u32* metadata, int selector, int row, Say say) {
  const SparseChunk chunk = chunk_of(mma);
  for (int c = 0; c < mma.shape.k / chunk.columns; ++c) {
    const u32 bits = metadata_bits(mma, metadata, selector, row, c);
    if (chunk.stored == 1) {
      say(c, 2 * c + (bits == 0b1110 ? 1 : 0));
      continue;
    }
    for (int e = 0; e < chunk.stored; ++e) {
      const int place = static_cast<int>(bits >> (e / chunk.apart * 2) & 3);
      say(chunk.stored * c + e, chunk.columns * c + place * chunk.apart + e % chunk.apart);
    }
  }
}

bool means_places(const Mma& mma, u32 bits) {
  if (mma.a == Type::tf32) return bits == 0b1110 || bits == 0b0100;
  return (bits & 3) != (bits >> 2);
}

// 9.7.14.6.1: what else metadata say means nothing.
void look_at_metadata(Core& x, const Mma& mma, const u32* metadata, int selector) {
  const SparseChunk chunk = chunk_of(mma);
  for (int row = 0; row < 16; ++row) {
    for (int c = 0; c < mma.shape.k / chunk.columns; ++c) {
      const u32 bits = metadata_bits(mma, metadata, selector, row, c);
      if (means_places(mma, bits)) continue;
      x.reports->hazard(x, row % 8 * 4, "bad_metadata", x.pc, [&] {
        const bool one = chunk.stored == 1;
        Report r;
        r.sentence = fmt::format(
            "the metadata of row {}, columns {} to {} of A are 0b{:04b}: {}", row,
            c * chunk.columns, (c + 1) * chunk.columns - 1, bits,
            one ? "no place of one in two" : "the two that are stored would have the same place");
        r.expected = one ? "0b0100 (the first) or 0b1110 (the second) (PTX ISA 9.7.14.6.1)"
                         : "two bits for each of two different places (PTX ISA 9.7.14.6.1)";
        r.found = fmt::format("0b{:04b}", bits);
        return r;
      });
      return;
    }
  }
}

// A row of A as it is stored, and the elements of B that belong to it.
struct StoredRow {
  std::vector<u32> a, b;
};

// Calls multiply(row, stored row, the row of C) for each row of A.
template <class Multiply>
Flow by_rows(Core& x, const Code& code, Mask m, Multiply multiply) {
  const Flow flow = whole_warp(x, m);
  if (flow != Flow::next) return flow;
  const Mma& mma = mma_forms()[code.immediate];
  const MmaOperands o(x, code, mma);
  const int rows = mma.shape.m, columns = mma.shape.n, depth = mma.shape.k;
  const int stored = mma.stored();
  std::vector<u32> a(static_cast<std::size_t>(rows * stored)),
      b(static_cast<std::size_t>(depth * columns));
  u32 c[most_results];
  gather(x, o.a, mma.a_fragment, a.data());
  gather(x, o.b, mma.b_fragment, b.data());
  gather(x, o.c, mma.c_fragment, c);
  const u32* metadata = mma.sparse ? word_lanes(x, code.e) : nullptr;
  if (mma.sparse) look_at_metadata(x, mma, metadata, code.width);
  StoredRow row;
  row.b.resize(static_cast<std::size_t>(stored * columns));
  for (int i = 0; i < rows; ++i) {
    row.a.assign(a.begin() + i * stored, a.begin() + (i + 1) * stored);
    if (mma.sparse) {
      each_stored_element(mma, metadata, code.width, i, [&](int s, int column) {
        std::copy_n(b.begin() + column * columns, columns, row.b.begin() + s * columns);
      });
    } else {
      row.b = b;
    }
    multiply(mma, o, i, row, c + i * columns);
  }
  scatter(x, o.d, mma.d_fragment, c);
  return Flow::next;
}

// Numbers taken apart.
struct Numbers {
  std::vector<std::int32_t> significand, exponent;
  Numbers(FloatFormat format, const std::vector<u32>& patterns)
      : significand(patterns.size()), exponent(patterns.size()) {
    take_apart(format, patterns.data(), static_cast<int>(patterns.size()), significand.data(),
               exponent.data());
  }
  Factors factors() const { return {significand.data(), exponent.data()}; }
};

FloatFormat narrow_format(Type type) {
  switch (type) {
    case Type::f16:
      return format_f16;
    case Type::bf16:
      return format_bf16;
    case Type::tf32:
      return format_tf32;
    case Type::e4m3:
      return format_e4m3;
    case Type::e5m2:
      return format_e5m2;
    case Type::e3m2:
      return format_e3m2;
    case Type::e2m3:
      return format_e2m3;
    default:
      return format_e2m1;
  }
}

Flow sparse_float(Core& x, const Code& code, Mask m) {
  return by_rows(x, code, m, [](const Mma& mma, const MmaOperands&, int, StoredRow& row, u32* c) {
    const FloatFormat format = narrow_format(mma.a);
    if (mma.a == Type::tf32) {
      for (u32& v : row.a) v >>= 13;
      for (u32& v : row.b) v >>= 13;
    }
    StepRule rule = step_rule(TensorChip::hopper, format, mma.stored());
    rule.half_accumulator = mma.d == Type::f16;
    multiply_add(rule, {1, mma.shape.n, mma.stored()}, format, Numbers(format, row.a).factors(),
                 format, Numbers(format, row.b).factors(), c);
  });
}

Flow sparse_float8(Core& x, const Code& code, Mask m) {
  return by_rows(x, code, m, [](const Mma& mma, const MmaOperands&, int, StoredRow& row, u32* c) {
    const int depth = mma.stored(), columns = mma.shape.n;
    const auto half = [](Type type, u32 v) {
      return encode(format_f16, decode(narrow_format(type), v));
    };
    std::vector<u32> a(row.a.size()), b(row.b.size());
    for (int k = 0; k < depth; ++k) {
      const int to = place_in_steps(k, depth);
      a[static_cast<std::size_t>(to)] = half(mma.a, row.a[static_cast<std::size_t>(k)]);
      for (int j = 0; j < columns; ++j) {
        b[static_cast<std::size_t>(to * columns + j)] =
            half(mma.b, row.b[static_cast<std::size_t>(k * columns + j)]);
      }
    }
    StepRule rule;
    rule.block = depth / 2;
    rule.half_accumulator = mma.d == Type::f16;
    u32 products[8] = {};
    multiply_add(rule, {1, columns, depth}, format_f16, Numbers(format_f16, a).factors(),
                 format_f16, Numbers(format_f16, b).factors(), products);
    const FloatFormat format = rule.half_accumulator ? format_f16 : format_f32;
    for (int j = 0; j < columns; ++j) {
      c[j] = encode(format, decode(format, products[j]) + decode(format, c[j]));
    }
  });
}

std::int64_t extended_narrow(Type type, u32 v) {
  const u32 sign = type == Type::s4 ? 8 : type == Type::s8 ? 0x80 : 0;
  return static_cast<std::int32_t>((v ^ sign) - sign);
}

template <bool satfinite>
Flow sparse_integer(Core& x, const Code& code, Mask m) {
  return by_rows(x, code, m, [](const Mma& mma, const MmaOperands&, int, StoredRow& row, u32* c) {
    constexpr std::int64_t least = std::numeric_limits<std::int32_t>::min(),
                           most = std::numeric_limits<std::int32_t>::max();
    for (int j = 0; j < mma.shape.n; ++j) {
      std::int64_t sum = static_cast<std::int32_t>(c[j]);
      for (int k = 0; k < mma.stored(); ++k) {
        sum += extended_narrow(mma.a, row.a[static_cast<std::size_t>(k)]) *
               extended_narrow(mma.b, row.b[static_cast<std::size_t>(k * mma.shape.n + j)]);
      }
      c[j] = static_cast<u32>(satfinite ? std::clamp(sum, least, most) : sum);
    }
  });
}

// ---- sm_120's kinds ----

// An element from the byte that holds it: of e2m1 the middle four bits, of six bits the lower ones.
u32 element_in(const Mma& mma, Type type, u32 held) {
  if (mma.kind == WarpKind::mxf4 || mma.kind == WarpKind::mxf4nvf4) return held;
  if (type == Type::e2m1) return held >> 2 & 15;
  return ptx::bits_of(type) == 6 ? held & 63 : held;
}

// The scale factors of a row of A, or a column of B: one for each of `count` blocks of k.
struct Scales {
  std::vector<std::int32_t> significand, exponent;
};

// 9.7.14.3: for A a pair of lanes of each four, the first for row g, the second for row g + 8; for
// B one of the four lanes.
u32 scale_word(const Core& x, Reference data, const Reference* chooser, bool of_a, int line) {
  const auto lane_chosen = [&](int l) {
    std::uint16_t v = 0;
    std::memcpy(&v, x.bank[chooser[1] >> 31] + (chooser[1] & ~constant_bit) + l * 2, 2);
    return int{v};
  };
  const int group = line % 8 * 4;
  const int lane =
      of_a ? group + lane_chosen(group) % 2 * 2 + line / 8 : group + lane_chosen(group) % 4;
  std::uint16_t byte = 0;
  std::memcpy(&byte, x.bank[chooser[0] >> 31] + (chooser[0] & ~constant_bit) + lane * 2, 2);
  return word_lanes(x, data)[lane] >> (byte % 4 * 8);
}

Scales scales_of(Type type, u32 word, int count) {
  Scales out;
  for (int i = 0; i < count; ++i) {
    const u32 v = word >> (8 * i) & 0xff;
    std::int32_t significand = 1, exponent = static_cast<std::int32_t>(v) - 127;
    if (type == Type::ue4m3) {
      const u32 size = v & 0x7f;
      take_apart(format_e4m3, &size, 1, &significand, &exponent);
    } else if (v == 0xff) {  // NaN
      const u32 nan = format_bf16.canonical_nan();
      take_apart(format_bf16, &nan, 1, &significand, &exponent);
    }
    out.significand.push_back(significand);
    out.exponent.push_back(exponent);
  }
  return out;
}

// Element p of `numbers`, times a scale factor. What is special (NaN, infinity) stays so.
void scale(Numbers& numbers, std::size_t p, const Scales& by, std::size_t block) {
  const u32 nan = format_bf16.canonical_nan();
  std::int32_t nan_significand = 0, special = 0;
  take_apart(format_bf16, &nan, 1, &nan_significand, &special);
  if (by.exponent[block] == special) {
    numbers.significand[p] = nan_significand;
    numbers.exponent[p] = special;
  } else if (numbers.exponent[p] != special && numbers.significand[p] != 0) {
    numbers.significand[p] *= by.significand[block];
    numbers.exponent[p] += by.exponent[block];
    if (numbers.significand[p] == 0) {
      const u32 zero = 0;
      take_apart(format_bf16, &zero, 1, &numbers.significand[p], &numbers.exponent[p]);
    }
  }
}

// How many scale factors a row has; 0: none.
int scale_count(const Mma& mma, const ptx::Modifiers& how) {
  if (!how.has(Field::scaled)) return 0;
  const std::uint8_t said = how[Field::scale_vector];  // 1X, 2X, 4X
  if (said) return 1 << (said - 1);
  return mma.kind == WarpKind::mxf8f6f4 ? 1 : 2;
}

// With `sparse` the block of a stored element is that of its column.
Flow narrow_kind(Core& x, const Code& code, Mask m) {
  const ptx::Modifiers& how = x.machine->program().code[x.pc].modifiers;
  const Mma& form = mma_forms()[code.immediate];
  const int count = scale_count(form, how);
  const Type scale_type = how.type5();
  return by_rows(
      x, code, m, [&](const Mma& mma, const MmaOperands& o, int i, StoredRow& row, u32* c) {
        const int depth = mma.stored(), columns = mma.shape.n;
        for (u32& v : row.a) v = element_in(mma, mma.a, v);
        for (u32& v : row.b) v = element_in(mma, mma.b, v);
        const FloatFormat a_format = narrow_format(mma.a), b_format = narrow_format(mma.b);
        Numbers a(a_format, row.a), b(b_format, row.b);
        std::vector<int> block(static_cast<std::size_t>(depth), 0);
        if (count > 1) {
          const int wide = mma.shape.k / count;
          for (int k = 0; k < depth; ++k) block[static_cast<std::size_t>(k)] = k / wide;
          if (mma.sparse) {
            each_stored_element(mma, word_lanes(x, code.e), code.width, i, [&](int s, int column) {
              block[static_cast<std::size_t>(s)] = column / wide;
            });
          }
        }
        if (count) {
          const Scales of_a =
              scales_of(scale_type, scale_word(x, code.a, o.scales, true, i), count);
          for (int k = 0; k < depth; ++k) {
            const auto p = static_cast<std::size_t>(k);
            scale(a, p, of_a, static_cast<std::size_t>(block[p]));
          }
          for (int j = 0; j < columns; ++j) {
            const Scales of_b =
                scales_of(scale_type, scale_word(x, code.b, o.scales + 2, false, j), count);
            for (int k = 0; k < depth; ++k) {
              scale(b, static_cast<std::size_t>(k * columns + j), of_b,
                    static_cast<std::size_t>(block[static_cast<std::size_t>(k)]));
            }
          }
        }
        const int more = scale_type == Type::ue4m3 ? format_e4m3.mantissa_bits : 0;
        StepRule rule;
        rule.block = depth;
        rule.half_accumulator = mma.d == Type::f16;
        // Eight bits of exponent: these numbers may be as large and as small as f32's.
        const auto wide = [&](FloatFormat f) {
          return FloatFormat{count ? 8 : f.exponent_bits, f.mantissa_bits + more};
        };
        multiply_add(rule, {1, columns, depth}, wide(a_format), a.factors(), wide(b_format),
                     b.factors(), c);
      });
}

}  // namespace

Handler narrow_mma_handler(const ptx::Instruction& i, const Mma& mma) {
  const bool satfinite = i.modifiers.has(Field::satfinite);
  if (mma.four) return told<four_products>;
  if (mma.kind != WarpKind::none) return told<narrow_kind>;
  switch (mma.a) {
    case Type::b1:
      return i.modifiers.logic() == ptx::Logic::and_ ? told<bit_product<true>>
                                                     : told<bit_product<false>>;
    case Type::s8:
    case Type::u8:
    case Type::s4:
    case Type::u4:
      if (!mma.sparse) return nullptr;
      return satfinite ? told<sparse_integer<true>> : told<sparse_integer<false>>;
    case Type::e4m3:
    case Type::e5m2:
      return mma.sparse ? told<sparse_float8> : nullptr;
    default:
      return mma.sparse ? told<sparse_float> : nullptr;
  }
}

}  // namespace tilescope::sim
