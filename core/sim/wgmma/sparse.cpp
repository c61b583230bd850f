#include "core/sim/wgmma/sparse.h"

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

Sparsity sparsity_of(const GroupForm& form) {
  return form.a == ElementType::tf32 ? Sparsity::one_of_two : Sparsity::two_of_four;
}

}  // namespace

std::optional<BadChunk> find_bad_chunk(const GroupForm& form, const u32* words) {
  const Sparsity sparsity = sparsity_of(form);
  for (u32 row = 0; row < warp_rows; ++row) {
    for (u32 c = 0; c < form.k / chunk_of(sparsity); ++c) {
      const u32 bits = chunk_bits(form, words, row, c);
      if (!is_meaningful(sparsity, bits)) return BadChunk{row, c, bits};
    }
  }
  return std::nullopt;
}

StoredPlaces stored_places(const GroupForm& form, const Metadata& metadata) {
  return stored_places(sparsity_of(form), group_rows, form.k / 2, [&](u32 row, u32 chunk) {
    return chunk_bits(form, metadata[row / warp_rows], row % warp_rows, chunk);
  });
}

}  // namespace tilescope::sim
