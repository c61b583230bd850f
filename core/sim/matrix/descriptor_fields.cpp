#include "core/sim/matrix/descriptor_fields.h"

#include <fmt/format.h>

#include <array>

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

// Fields of one value, in the order in which they are asked for.
struct Reader {
  u64 bits = 0;
  std::vector<BitField> fields;

  u64 get(int low, int count) const { return bits >> low & ((u64{1} << count) - 1); }
  void add(int low, int count, std::string_view name, std::string meaning) {
    fields.push_back({low, count, std::string(name), get(low, count), std::move(meaning)});
  }
  void reserved(int low, int count) {
    if (get(low, count)) add(low, count, "in no field", "PTX has nothing here: 0 is meant");
  }
};

// What a stride is depends on the swizzle, and on what is contiguous.
void address_and_strides(Reader& r, SwizzleMode mode) {
  r.add(0, 14, "address >> 4",
        fmt::format("0x{:x} in the shared window (its low 18 bits)", r.get(0, 14) << 4));
  r.reserved(14, 2);
  const u32 width = swizzle_width(mode);
  const auto stride = [&](int low, std::string_view name, const std::string& k_major,
                          const std::string& mn_major) {
    r.add(
        low, 14, name,
        fmt::format("{} bytes; K-major: {}; MN-major: {}", r.get(low, 14) << 4, k_major, mn_major));
  };
  if (width == 0) {
    stride(16, "leading stride >> 4", "from 16 bytes of K to the next", "from 8 of K to the next");
    r.reserved(30, 2);
    stride(32, "stride >> 4", "from 8 rows to the next", "from 16 bytes of rows to the next");
  } else {
    stride(16, "leading stride >> 4", "not read",
           fmt::format("from {} bytes of rows to the next", width));
    r.reserved(30, 2);
    stride(32, "stride >> 4", "from 8 rows to the next",
           fmt::format("from {} of K to the next", mode == SwizzleMode::bytes_128_by_32 ? 4 : 8));
  }
}

void base_offset(Reader& r) {
  const u64 offset = r.get(49, 3);
  r.add(49, 3, "base offset",
        offset ? fmt::format("the swizzle's pattern begins {} bytes behind a multiple of its size",
                             offset * 128)
               : "the swizzle's pattern begins at multiples of its size, where TMA lays it");
}

std::string_view swizzle_text(SwizzleMode mode) {
  switch (mode) {
    case SwizzleMode::bytes_128_by_32:
      return "128 bytes, by 32: for transposed tf32";
    case SwizzleMode::bytes_128:
      return "128 bytes: pieces of 16 bytes XOR address bits 7 to 9, a pattern of 1,024 bytes";
    case SwizzleMode::bytes_64:
      return "64 bytes: pieces of 16 bytes XOR address bits 7 and 8, a pattern of 512 bytes";
    case SwizzleMode::bytes_32:
      return "32 bytes: pieces of 16 bytes XOR address bit 7, a pattern of 256 bytes";
    default:
      return "none";
  }
}

// The types that kinds know a number by, "0 is f16 (kind::f16), e4m3 (kind::f8f6f4) ...".
std::string element_text(u64 code, MmaKind kind) {
  struct Row {
    MmaKind kind;
    std::array<std::string_view, 8> types;
  };
  static constexpr Row rows[] = {
      {MmaKind::f16, {"f16", "bf16"}},
      {MmaKind::tf32, {"", "", "tf32"}},
      {MmaKind::f8f6f4, {"e4m3", "e5m2", "", "e2m3", "e3m2", "e2m1"}},
      {MmaKind::i8, {"u8", "s8"}},
      {MmaKind::mxf8f6f4, {"e4m3", "e5m2", "", "e2m3", "e3m2", "e2m1"}},
      {MmaKind::mxf4, {"", "e2m1"}},
      {MmaKind::mxf4nvf4, {"", "e2m1"}},
  };
  std::string out;
  for (const Row& row : rows) {
    const std::string_view type = row.types[code];
    if (kind == MmaKind::none ? is_block_scaled(row.kind) : row.kind != kind) continue;
    if (type.empty()) continue;
    if (kind != MmaKind::none) return std::string(type);
    out += fmt::format("{}{} (kind::{})", out.empty() ? "" : ", ", type, name_of(row.kind));
  }
  return out.empty() ? "no type" : out;
}

std::string yes(u64 bit, std::string_view what, std::string_view not_that) {
  return std::string(bit ? what : not_that);
}

}  // namespace

std::vector<BitField> wgmma_matrix_fields(u64 bits) {
  constexpr SwizzleMode modes[] = {SwizzleMode::none, SwizzleMode::bytes_128, SwizzleMode::bytes_64,
                                   SwizzleMode::bytes_32};
  Reader r{bits, {}};
  const SwizzleMode mode = modes[r.get(62, 2)];
  address_and_strides(r, mode);
  r.reserved(46, 3);
  base_offset(r);
  r.reserved(52, 10);
  r.add(62, 2, "swizzle", std::string(swizzle_text(mode)));
  return r.fields;
}

std::vector<BitField> tcgen05_matrix_fields(u64 bits) {
  constexpr std::optional<SwizzleMode> modes[] = {
      SwizzleMode::none,      SwizzleMode::bytes_128_by_32,
      SwizzleMode::bytes_128, std::nullopt,
      SwizzleMode::bytes_64,  std::nullopt,
      SwizzleMode::bytes_32,  std::nullopt};
  Reader r{bits, {}};
  const std::optional<SwizzleMode> mode = modes[r.get(61, 3)];
  address_and_strides(r, mode.value_or(SwizzleMode::none));
  r.add(46, 3, "constant", r.get(46, 3) == 1 ? "as it has to be" : "has to be 0b001");
  base_offset(r);
  r.add(52, 1, "leading stride mode",
        yes(r.get(52, 1), "the leading stride's field is an address (K 96 on sm_103a)",
            "the leading stride is a stride"));
  r.reserved(53, 8);
  r.add(61, 3, "swizzle", mode ? std::string(swizzle_text(*mode)) : "no swizzle has this number");
  return r.fields;
}

std::vector<BitField> instruction_fields(u32 bits, MmaKind kind) {
  Reader r{bits, {}};
  const bool scaled = is_block_scaled(kind), packed = is_packed(kind);
  if (scaled) {
    r.reserved(0, 2);
  } else {
    r.add(0, 2, "sparsity selector", "which metadata of .sp is meant");
  }
  r.add(2, 1, "sparse", yes(r.get(2, 1), "half of A is zeros (.sp)", "A is dense"));
  if (scaled) {
    r.reserved(3, 1);
    r.add(4, 2, "ID of B's factors", "the byte of a cell of TMEM where they begin");
  } else {
    r.add(3, 1, "saturate", yes(r.get(3, 1), "integers stop at their limits", "no"));
    constexpr std::string_view sums[] = {"f16", "f32", "s32", "no type"};
    r.add(4, 2, "type of D", std::string(sums[r.get(4, 2)]));
  }
  r.reserved(6, 1);
  r.add(7, 3, "type of A", element_text(r.get(7, 3), kind));
  r.add(10, packed ? 2 : 3, "type of B", element_text(r.get(10, packed ? 2 : 3), kind));
  if (packed) r.reserved(12, 1);
  r.add(13, 1, "negate A", yes(r.get(13, 1), "-A", "no"));
  r.add(14, 1, "negate B", yes(r.get(14, 1), "-B", "no"));
  r.add(15, 1, "transpose A", yes(r.get(15, 1), "M-major", "K-major"));
  r.add(16, 1, "transpose B", yes(r.get(16, 1), "N-major", "K-major"));
  r.add(17, 6, "N >> 3", fmt::format("N = {}", r.get(17, 6) << 3));
  if (scaled) {
    r.add(23, 1, "type of the factors", yes(r.get(23, 1), "ue8m0", "ue4m3"));
    r.reserved(24, 3);
    r.add(27, 2, "M >> 7", fmt::format("M = {}", r.get(27, 2) << 7));
    r.add(29, 2, "ID of A's factors", "the byte of a cell of TMEM where they begin");
    if (packed) {
      r.add(31, 1, "K", yes(r.get(31, 1), "96 (sm_103a)", "64"));
    } else {
      r.reserved(31, 1);
    }
    return r.fields;
  }
  r.reserved(23, 1);
  r.add(24, 5, "M >> 4", fmt::format("M = {}", r.get(24, 5) << 4));
  r.reserved(29, 1);
  constexpr std::string_view shifts[] = {"no shift", "up to 8", "up to 16", "up to 32"};
  r.add(30, 2, "largest shift of .ws", std::string(shifts[r.get(30, 2)]));
  return r.fields;
}

std::string otherwise(const BitField& f, const SharedMatrix& m) {
  const u32 width = swizzle_width(m.swizzle);
  if (f.name == "address >> 4") {
    return "other bytes are multiplied, without a word: one more is 16 bytes further, in K-major "
           "the "
           "next 8 elements of f16; the k-steps of a swizzled row differ in nothing but this";
  }
  if (f.name == "leading stride >> 4") {
    if (m.k_major && width && !m.absolute)
      return "nothing: a swizzled K-major matrix does not read it";
    return m.k_major ? "the second 16 bytes of every row come from elsewhere: half of K is wrong"
           : width   ? fmt::format("rows {} and on come from elsewhere", width)
                     : "k 8 and on come from elsewhere: half of K is wrong";
  }
  if (f.name == "stride >> 4") {
    if (m.k_major) {
      return "rows 0 to 7 are right; every further 8 rows come from elsewhere, so that rows of D "
             "repeat, or are another tile's";
    }
    return width ? "the first lines of k are right; those of the next group come from elsewhere"
                 : "the first 16 bytes of rows are right; the others come from elsewhere";
  }
  if (f.name == "constant") return "the simulator refuses it; PTX says nothing of what a chip does";
  if (f.name == "base offset") {
    return "the swizzle counts rows from another place: pieces of 16 bytes change places within "
           "rows (measured on an H100: all 512 elements of a product wrong)";
  }
  if (f.name == "leading stride mode") return "the leading stride would be taken for an address";
  if (f.name == "swizzle") {
    return "pieces of 16 bytes are looked for where they are not: row 0 of every 8 is right, the "
           "others have their k in another order, so that D is nearly right only where B is "
           "constant";
  }
  return "nothing is there: PTX wants 0";
}

std::string otherwise(const BitField& f) {
  if (f.name == "sparse") return "the instruction and its descriptor would not agree";
  if (f.name == "sparsity selector") return "other metadata; of a dense A it is not read";
  if (f.name == "type of D") {
    return "cells of TMEM would hold f16 (one each, in the lower half) where f32 is read, or the "
           "reverse: noise";
  }
  if (f.name == "type of A" || f.name == "type of B") {
    return "the same bytes as another format: right signs, wrong sizes (f16 and bf16 are the usual "
           "mistake)";
  }
  if (f.name == "negate A" || f.name == "negate B") return "D has the other sign";
  if (f.name == "transpose A" || f.name == "transpose B") {
    return "the other canonical layout is read: neighbours along K are taken for neighbours along "
           "rows";
  }
  if (f.name == "N >> 3")
    return "fewer columns of D stay as they were, more run into what is beside";
  if (f.name == "M >> 4" || f.name == "M >> 7") {
    return "another organisation of D in TMEM: of M 64 the rows are in every second group of 16 "
           "lanes";
  }
  if (f.name == "saturate") return "sums of integers wrap, or stop at their limits";
  if (f.name == "largest shift of .ws") return "of .ws alone: columns of B may be shifted";
  if (f.name == "type of the factors") return "scale factors read as the other format";
  if (f.name == "ID of A's factors" || f.name == "ID of B's factors") {
    return "another byte of the cells: the factors of another k-step";
  }
  if (f.name == "K") return "96 is for sm_103a alone";
  return "nothing is there: PTX wants 0";
}

std::string_view name_of(MmaKind kind) {
  constexpr std::string_view names[] = {"",   "f16",      "tf32", "f8f6f4",
                                        "i8", "mxf8f6f4", "mxf4", "mxf4nvf4"};
  return names[static_cast<std::size_t>(kind)];
}

std::string_view name_of(ElementType type) {
  constexpr std::string_view names[] = {"f16",  "bf16", "tf32", "e4m3", "e5m2", "e2m3",
                                        "e3m2", "e2m1", "u8",   "s8",   "b1"};
  return names[static_cast<std::size_t>(type)];
}

std::string layout_expression(const SharedMatrix& m, u32 rows, u32 row_bytes, u32 element_bits) {
  if (m.absolute) return "";
  const u32 piece = 128 / element_bits;  // elements of 16 bytes
  const auto elements = [&](u32 bytes) { return bytes * 8 / element_bits; };
  const u32 width = swizzle_width(m.swizzle);
  std::string plain;
  if (m.k_major && width == 0) {
    plain = fmt::format("((8,{}),({},{})):(({},{}),(1,{}))", rows / 8, piece, row_bytes / 16,
                        elements(16), elements(m.stride), elements(m.leading));
  } else if (m.k_major) {
    plain = fmt::format("((8,{}),{}):(({},{}),1)", rows / 8, elements(row_bytes), elements(width),
                        elements(m.stride));
  } else {
    // Lines are along K; 8 of them, of 16 bytes or of a swizzle's width of rows.
    const u32 lines = m.swizzle == SwizzleMode::bytes_128_by_32 ? 4 : 8;
    const u32 k = elements(row_bytes), across = width ? width : 16;
    const u32 along_k = width ? m.stride : m.leading, along_rows = width ? m.leading : m.stride;
    plain = fmt::format("(({},{}),({},{})):((1,{}),({},{}))", elements(across),
                        std::max(rows / elements(across), 1u), lines, std::max(k / lines, 1u),
                        elements(along_rows), elements(across), elements(along_k));
  }
  // Swizzle<B,4,3> (by 32: <2,5,2>) of bytes, its base less the bits that an element has.
  int base = 4, bits = width == 128 ? 3 : width == 64 ? 2 : 1, shift = 3;
  if (m.swizzle == SwizzleMode::bytes_128_by_32) base = 5, bits = 2, shift = 2;
  for (u32 b = element_bits; b > 8; b /= 2) --base;
  return width ? fmt::format("Sw<{},{},{}> o {}", bits, base, shift, plain) : plain;
}

}  // namespace tilescope::sim
