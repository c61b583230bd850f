#include "core/sim/wgmma/sparse.h"

#include <cstring>

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;

// The four bits of a chunk of a warp's row: two positions of two bits each, or of tf32 where the
// one element is. Of each group of four lanes
//
//   16 bits, tf32   a pair of lanes (the selector says which) holds rows g and g + 8 of the warp:
//                   lane 0 of the pair has the lower half of the row's chunks, lane 1 the upper;
//                   the low 16 bits of a lane are row g's, the high ones row g + 8's
//   8 bits          lanes 0 and 1 have rows g and g + 8 of the first 32 columns, lanes 2 and 3 of
//   the
//                   others
//
// (figures 176, 178, 180 and 181, which are pictures; CuTe's ElementE layouts; measured on an
// H100).
u32 chunk_bits(const GroupForm& form, const u32* words, u32 row, u32 chunk) {
  const u32 group = row % 8 * 4, high = row / 8;
  if (bits_of(form.a) == 8) {
    // 16 chunks of four columns: eight in each lane's word, rows by lane.
    const u32 lane = group + chunk / 8 * 2 + high;
    return words[lane] >> (chunk % 8 * 4) & 15;
  }
  const u32 half = chunk / 4;
  const u32 lane = group + form.selector * 2 + half;
  return words[lane] >> (high * 16 + chunk % 4 * 4) & 15;
}

// Calls say(stored, place) for each stored element of a row of A: of which it is in the whole row.
template <class Say>
void each_stored(const GroupForm& form, const Metadata& metadata, u32 row, Say say) {
  const u32* words = metadata[row / warp_rows];
  if (form.a == ElementType::tf32) {  // 1 of 2
    for (u32 c = 0; c < form.k / 2; ++c) {
      say(c, 2 * c + (chunk_bits(form, words, row % warp_rows, c) == 0b1110 ? 1 : 0));
    }
    return;
  }
  for (u32 c = 0; c < form.k / 4; ++c) {
    const u32 bits = chunk_bits(form, words, row % warp_rows, c);
    for (u32 e = 0; e < 2; ++e) say(2 * c + e, 4 * c + (bits >> (2 * e) & 3));
  }
}

// What a chunk may say: two places that differ; of tf32 the one of two.
bool is_meaningful(const GroupForm& form, u32 bits) {
  if (form.a == ElementType::tf32) return bits == 0b1110 || bits == 0b0100;
  return (bits & 3) != (bits >> 2);
}

}  // namespace

std::optional<BadChunk> find_bad_chunk(const GroupForm& form, const u32* words) {
  const u32 chunks = form.a == ElementType::tf32 ? form.k / 2 : form.k / 4;
  for (u32 row = 0; row < warp_rows; ++row) {
    for (u32 c = 0; c < chunks; ++c) {
      const u32 bits = chunk_bits(form, words, row, c);
      if (!is_meaningful(form, bits)) return BadChunk{row, c, bits};
    }
  }
  return std::nullopt;
}

OperandBytes spread(const GroupForm& form, const Metadata& metadata, const OperandBytes& packed) {
  const u32 width = width_of(form.a), stored = form.a_bytes(), whole = form.k * width;
  OperandBytes out;
  out.bytes.resize(std::size_t{group_rows} * whole);
  out.undefined = packed.undefined;
  for (u32 row = 0; row < group_rows; ++row) {
    const std::byte* from = &packed.bytes[row * stored];
    each_stored(form, metadata, row, [&](u32 s, u32 at) {
      std::memcpy(&out.bytes[row * whole + at * width], from + s * width, width);
    });
  }
  return out;
}

std::vector<std::byte> chosen(const GroupForm& form, const Metadata& metadata, u32 row,
                              const std::vector<std::byte>& b) {
  const u32 width = width_of(form.b), whole = form.b_bytes();
  std::vector<std::byte> out(b.size() / 2);
  each_stored(form, metadata, row, [&](u32 s, u32 at) {
    for (u32 n = 0; n < form.n; ++n) {
      std::memcpy(&out[n * whole / 2 + s * width], &b[n * whole + at * width], width);
    }
  });
  return out;
}

bool has_specials(ElementType type, const std::vector<std::byte>& elements) {
  if (type == ElementType::s8 || type == ElementType::u8) return false;
  const FloatFormat format = format_of(type);
  const u32 width = width_of(type), shift = type == ElementType::tf32 ? 13 : 0;
  const u32 least = format.finite_only ? format.canonical_nan() : format.infinity();
  for (std::size_t at = 0; at < elements.size(); at += width) {
    u32 v = 0;
    std::memcpy(&v, &elements[at], width);
    if ((v >> shift & (format.sign_bit() - 1)) >= least) return true;
  }
  return false;
}

}  // namespace tilescope::sim
