// Where the simulator reads the metadata of a sparse A: bit by bit the places that the layouts of
// core/tensor/sparse_metadata.h name, and no others.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/layout/tile_algebra.h"
#include "core/sim/matrix/fragments.h"
#include "core/sim/tcgen05/metadata.h"
#include "core/sim/wgmma/sparse.h"
#include "core/tensor/sparse_metadata.h"
#include "core/tensor/tmem.h"

namespace tilescope::test {
namespace {

using I = std::int64_t;
using u32 = std::uint32_t;
using sim::ElementType;

constexpr Axis warp_axis{128 + 13}, thread_axis{128 + 14}, bit_axis{128 + 19};

struct Bits {
  I warp = 0, lane = 0, column = 0, bit = 0;
  auto operator<=>(const Bits&) const = default;
};

Bits in_registers(const Layout& layout, I row, I chunk, I selector) {
  const Result<Place> at = place_of(make_tuple_of(row, chunk, selector), layout);
  EXPECT_TRUE(at.ok()) << row << ' ' << chunk << ' ' << selector;
  return {at->on(warp_axis).value, at->on(thread_axis).value, 0, at->on(bit_axis).value};
}

I extent(const Layout& layout, int mode) {
  return *size(Layout(layout.modes.mode(mode)));
}

TEST(SparseMetadata, OfMmaSpAreReadWhereTheLayoutSays) {
  std::set<std::pair<I, I>> seen;
  for (const sim::Mma& mma : sim::mma_forms()) {
    if (!mma.sparse) continue;
    const I width = mma.a == ptx::Type::tf32 ? 32 : mma.a_fragment.bits;
    // Elements of 4 and 6 bits with .kind::f8f6f4 are in bytes: two of four of them.
    const Layout layout = *register_metadata(width, mma.shape.k);
    seen.insert({width, mma.shape.k});
    for (I selector = 0; selector < extent(layout, 2); ++selector) {
      for (I row = 0; row < 16; ++row) {
        for (I chunk = 0; chunk < extent(layout, 1); ++chunk) {
          const Bits at = in_registers(layout, row, chunk, selector);
          u32 words[32];
          std::fill_n(words, 32, 0xffffffffu);
          words[at.lane] = ~(0xfu << at.bit) | 0x6u << at.bit;
          EXPECT_EQ(sim::metadata_bits(mma, words, static_cast<int>(selector),
                                       static_cast<int>(row), static_cast<int>(chunk)),
                    6u)
              << "width " << width << " K " << mma.shape.k << " row " << row << " chunk " << chunk
              << " selector " << selector;
        }
      }
    }
  }
  EXPECT_EQ(seen, (std::set<std::pair<I, I>>{
                      {4, 64}, {4, 128}, {8, 32}, {8, 64}, {16, 16}, {16, 32}, {32, 8}, {32, 16}}));
}

TEST(SparseMetadata, OfWgmmaAreReadWhereTheLayoutSays) {
  const std::tuple<ElementType, I, u32> kinds[] = {
      {ElementType::f16, 16, 32}, {ElementType::tf32, 32, 16}, {ElementType::e4m3, 8, 64}};
  for (const auto& [type, width, k] : kinds) {
    const Layout layout = *register_metadata(width, k, 64);
    const bool one = width == 32;
    for (u32 selector = 0; selector < extent(layout, 2); ++selector) {
      sim::GroupForm form;
      form.a = type;
      form.k = k;
      form.sparse = true;
      form.selector = selector;
      for (I row = 0; row < 64; ++row) {
        for (I chunk = 0; chunk < extent(layout, 1); ++chunk) {
          const Bits at = in_registers(layout, row, chunk, selector);
          // All chunks say one thing, this one another.
          const u32 common = one ? 0x44444444 : 0x99999999, other = one ? 0xe : 0x6;
          u32 words[4][32];
          for (auto& warp : words) std::fill_n(warp, 32, common);
          words[at.warp][at.lane] = (common & ~(0xfu << at.bit)) | other << at.bit;
          const sim::Metadata metadata{words[0], words[1], words[2], words[3]};
          const sim::StoredPlaces places = sim::stored_places(form, metadata);
          for (u32 r = 0; r < 64; ++r) {
            for (u32 c = 0; c < extent(layout, 1); ++c) {
              const bool its = r == row && c == chunk;
              const u32 first = one ? c : 2 * c;
              ASSERT_EQ(places.row(r)[first] - c * (one ? 2 : 4),
                        one ? (its ? 1u : 0u) : (its ? 2u : 1u))
                  << "width " << width << " row " << row << " chunk " << chunk << ": " << r << ' '
                  << c;
            }
          }
        }
      }
    }
  }
}

TEST(SparseMetadata, OfTcgen05AreReadWhereTheLayoutSays) {
  struct Kind {
    sim::MmaKind kind;
    ElementType type;
    I width;
    u32 k;
  };
  const Kind kinds[] = {{sim::MmaKind::f16, ElementType::f16, 16, 32},
                        {sim::MmaKind::tf32, ElementType::tf32, 32, 16},
                        {sim::MmaKind::f8f6f4, ElementType::e4m3, 8, 64}};
  for (const Kind& kind : kinds) {
    for (const u32 rows : {128u, 64u, 32u}) {
      const TileLayout layout = *tmem_metadata(kind.width, rows);
      const u32 chunks = kind.width >= 16 ? 8 : 16;
      for (u32 selector = 0; selector < (kind.width >= 16 ? 2u : 1u); ++selector) {
        sim::MmaShape shape;
        shape.m = rows;
        shape.k = kind.k;
        shape.a = shape.b = kind.type;
        shape.sparse = true;
        shape.selector = selector;
        sim::SparseMetadata read;
        ASSERT_FALSE(sim::decode_metadata(64, shape, kind.kind, rows < 128, false, rows, read));
        ASSERT_EQ(read.chunks, chunks);
        sim::TensorMemory memory;
        memory.allocate({0, 128, 0, 0, 0});
        for (u32 row = 0; row < rows; ++row) {
          for (u32 chunk = 0; chunk < chunks; ++chunk) {
            const auto places = kind.width >= 16
                                    ? *owners(layout, make_tuple_of(I{row}, I{chunk}, I{selector}))
                                    : *owners(layout, make_tuple_of(I{row}, I{chunk}));
            ASSERT_EQ(places.size(), 128 / rows);
            for (u32 lane = 0; lane < 128; ++lane) {
              for (u32 c = 0; c < 2; ++c) memory.row(lane)[64 + c] = 0xffffffff;
            }
            for (const auto& at : places) {
              const auto bit = static_cast<u32>(at.on(bit_axis).value);
              memory.row(static_cast<u32>(at.on(axis_lane).value))[64 + at.on(axis_column).value] =
                  ~(0xfu << bit) | 0x6u << bit;
            }
            EXPECT_EQ(read.bits(memory, row, chunk), 6u)
                << "width " << kind.width << " rows " << rows << " row " << row << " chunk "
                << chunk;
            // Defined, and the same in all copies: so no row counts as undefined.
            for (u32 lane = 0; lane < 128; ++lane) memory.define(lane, 64, 2);
            for (const std::uint8_t undefined : sim::undefined_rows(read, memory)) {
              ASSERT_EQ(undefined, 0);
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace tilescope::test
