// The catalog of atoms: every one is a whole, names are CuTe's, and what is none is said so.
#include <gtest/gtest.h>

#include <set>

#include "core/layout/text.h"
#include "core/tensor/catalog.h"
#include "core/tensor/text.h"
#include "tests/tensor/offsets.h"

namespace tilescope {
namespace {

using test::at;
using test::counts_through;
using test::offsets;

MmaAtom mma(std::string_view name) {
  const Outcome<Atom> atom = atom_named(name);
  EXPECT_TRUE(atom.ok()) << (atom.ok() ? "" : atom.error().sentence);
  return atom.ok() ? std::get<MmaAtom>(*atom) : MmaAtom{};
}

std::string refusal(std::string_view name) {
  const Outcome<Atom> atom = atom_named(name);
  return atom.ok() ? "" : atom.error().sentence;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// Every element once; and an operand in shared memory, which each thread of a warpgroup describes
// whole, once for each of them.
void expect_whole(const MmaAtom& atom, const MmaOperand& operand, std::int64_t elements) {
  const std::vector<std::int64_t> all = offsets(operand.tv);
  const bool described = operand.memory == Memory::smem && atom.thr_id == Layout(128, 1);
  EXPECT_TRUE(counts_through(all, elements, described ? 128 : 1)) << atom.name.view();
}

TEST(Atoms, EveryMmaHoldsEachElementOfItsOperandsOnce) {
  int seen = 0;
  for (const AtomFamily& family : atom_families()) {
    const Outcome<Atom> found = atom_named(family.example);
    ASSERT_TRUE(found.ok()) << found.error().sentence;
    const MmaAtom* atom = std::get_if<MmaAtom>(&*found);
    if (atom == nullptr) continue;
    const std::int64_t m = atom->extent(0), n = atom->extent(1), k = atom->extent(2);
    expect_whole(*atom, atom->a, m * k);
    expect_whole(*atom, atom->b, n * k);
    expect_whole(*atom, atom->c, m * n);
    ++seen;
  }
  EXPECT_GT(seen, 100);
}

TEST(Atoms, EveryCopyMovesTheSameBitsIntoItsDestination) {
  int seen = 0;
  for (const AtomFamily& family : atom_families()) {
    const Outcome<Atom> found = atom_named(family.example);
    const CopyAtom* atom = found.ok() ? std::get_if<CopyAtom>(&*found) : nullptr;
    if (atom == nullptr) continue;
    const std::vector<std::int64_t> from = offsets(atom->src), to = offsets(atom->dst);
    const std::set<std::int64_t> sources(from.begin(), from.end());
    // tcgen05.cp of few rows writes copies of what it reads (warpx2, warpx4).
    for (const std::int64_t value : from) EXPECT_GE(value, 0);
    if (atom->to != Memory::tmem || atom->from != Memory::smem) {
      EXPECT_EQ(sources, std::set<std::int64_t>(to.begin(), to.end())) << family.example;
    }
    ++seen;
  }
  EXPECT_GT(seen, 50);
}

TEST(Atoms, EveryNameWithoutArgumentsIsAnAtomOrSaysWhatItTakes) {
  for (const std::string& name : atom_names()) {
    const Outcome<Atom> atom = atom_named(name);
    EXPECT_TRUE(atom.ok() || has(atom.error().sentence, "takes")) << name;
  }
}

TEST(Atoms, EveryAtomNamesItsHeaderAndItsInstruction) {
  for (const AtomFamily& family : atom_families()) {
    const Outcome<Atom> atom = atom_named(family.example);
    ASSERT_TRUE(atom.ok());
    const std::string source =
        std::visit([](const auto& each) { return std::string(each.source); }, *atom);
    EXPECT_EQ(source.rfind("cute/", 0), 0u) << family.example;
  }
}

// PTX ISA, fragments of mma.m16n8k16 with 16-bit elements: groupID = lane / 4, thread in group =
// lane % 4; a0,a1,a4,a5 lie in row groupID, the others 8 below; i >= 4 lie 8 columns further.
TEST(Atoms, M16n8k16LiesAsThePtxIsaSays) {
  const MmaAtom atom = mma("SM80_16x8x16_F32F16F16F32_TN");
  for (int lane = 0; lane < 32; ++lane) {
    const int group = lane / 4, in_group = lane % 4;
    for (int i = 0; i < 8; ++i) {
      const int row = group + (i < 2 || (i >= 4 && i < 6) ? 0 : 8);
      const int column = in_group * 2 + (i & 1) + (i >= 4 ? 8 : 0);
      EXPECT_EQ(at(atom.a.tv, lane, i), row + 16 * column);
    }
    for (int i = 0; i < 4; ++i) {
      const int k = in_group * 2 + (i & 1) + (i >= 2 ? 8 : 0);
      EXPECT_EQ(at(atom.b.tv, lane, i), group + 8 * k);
      EXPECT_EQ(at(atom.c.tv, lane, i), group + (i >= 2 ? 8 : 0) + 16 * (in_group * 2 + (i & 1)));
    }
  }
}

// PTX ISA, wgmma's accumulators: row 16 * warp + lane / 4 + 8 * ((i / 2) % 2), column 8 * (i / 4) +
// 2 * (lane % 4) + i % 2.
TEST(Atoms, WgmmaAccumulatorsLieAsThePtxIsaSays) {
  const MmaAtom atom = mma("SM90_64x40x32_F32E4M3E5M2_RS_TN");
  EXPECT_EQ(atom.shape_mnk, make_tuple_of(64, 40, 32));
  for (int thread = 0; thread < 128; ++thread) {
    for (int i = 0; i < 20; ++i) {
      const int row = 16 * (thread / 32) + thread % 32 / 4 + 8 * ((i / 2) % 2);
      const int column = 8 * (i / 4) + 2 * (thread % 4) + i % 2;
      EXPECT_EQ(at(atom.c.tv, thread, i), row + 64 * column);
    }
  }
}

TEST(Atoms, APairOfCtasHalvesRowsOfAAndB) {
  const MmaAtom atom = mma("SM100_MMA_F16BF16_2x1SM_SS<bf16,bf16,f32,256,128,K,MN>");
  EXPECT_EQ(at(atom.a.tv, 1, 0), 128);
  EXPECT_EQ(at(atom.b.tv, 1, 0), 64);
  EXPECT_EQ(at(atom.c.tv, 1, 0), 128);
  EXPECT_EQ(size(Layout(atom.c.tv.modes.mode(1))).value, 128 * 128);
  EXPECT_EQ(atom.b.major, Major::mn);
}

// What scales the accumulator moves no element.
TEST(Atoms, ScaledFormsLieAsTheOthers) {
  const std::pair<const char*, const char*> pairs[] = {
      {"SM100_MMA_F16BF16_SS_SCALED<f16,f16,f32,64,72,K,MN,3>",
       "SM100_MMA_F16BF16_SS<f16,f16,f32,64,72,K,MN>"},
      {"SM100_MMA_F16BF16_2x1SM_TS_SCALED<bf16,bf16,f32,256,64,K,K,0>",
       "SM100_MMA_F16BF16_2x1SM_TS<bf16,bf16,f32,256,64,K,K>"},
      {"SM100_MMA_TF32_TS_SCALED<tf32,tf32,f32,128,48,K,K,15>",
       "SM100_MMA_TF32_TS<tf32,tf32,f32,128,48,K,K>"}};
  for (const auto& [scaled, plain] : pairs) {
    const MmaAtom a = mma(scaled), b = mma(plain);
    EXPECT_EQ(a.a.tv, b.a.tv) << scaled;
    EXPECT_EQ(a.b.tv, b.b.tv) << scaled;
    EXPECT_EQ(a.c.tv, b.c.tv) << scaled;
    EXPECT_EQ(a.a.memory, b.a.memory) << scaled;
  }
  EXPECT_EQ(mma("SM100_2x1x1_F32F32F32F32").shape_mnk, make_tuple_of(2, 1, 1));
  EXPECT_EQ(at(mma("SM100_1x2x1_F32F32F32F32").b.tv, 0, 1), 1);
}

TEST(Atoms, CuteSpellingOfArgumentsIsUnderstood) {
  EXPECT_EQ(mma("SM90_64x64x16_F32F16F16_SS<GMMA::Major::MN,GMMA::Major::K>").a.major, Major::mn);
  EXPECT_EQ(mma("UniversalFMA<float>").c.type, ElementType::f32);
  EXPECT_EQ(mma("cute::SM80_8x8x4_F64F64F64F64_TN").a.type, ElementType::f64);
  EXPECT_EQ(mma("SM90_64x32x32_F32E4M3E4M3_SS_TN<>").extent(1), 32);
}

TEST(Atoms, IllegalNamesSayWhatIsLegal) {
  EXPECT_TRUE(has(refusal("SM90_64x60x16_F32F16F16_SS<K,K>"), "8, 16 .. 256"));
  EXPECT_TRUE(has(refusal("SM90_64x40x32_S32S8S8_SS_TN"), "from 32 in steps of 16"));
  EXPECT_TRUE(has(refusal("SM90_64x64x8_F32TF32TF32_SS_TN<MN,K>"), "K-major only"));
  EXPECT_TRUE(has(refusal("SM90_64x64x16_F32F16F16_RS<MN,K>"), "A in registers is K-major"));
  EXPECT_TRUE(has(refusal("SM90_64x64x16_F32F16F16_SS_TN"), "<K,K>"));
  EXPECT_TRUE(has(refusal("SM100_MMA_F16BF16_SS<f16,f16,f32,96,64,K,K>"), "64 or 128"));
  EXPECT_TRUE(has(refusal("SM100_MMA_F16BF16_2x1SM_SS<f16,f16,f32,256,24,K,K>"), "16, 32 .. 256"));
  EXPECT_TRUE(has(refusal("SM100_MMA_S8_SS<s8,s8,s32,128,24,K,K>"), "8, 16, 32 .. 256"));
  EXPECT_TRUE(has(refusal("SM100_MMA_TF32_TS<tf32,tf32,f32,128,64,MN,K>"), "K-major"));
  EXPECT_TRUE(has(refusal("SM100_MMA_F16BF16_SS<f16,f32,f32,128,64,K,K>"), "legal are f16 bf16"));
  EXPECT_TRUE(has(refusal("SM100_MMA_F16BF16_SS<bf16,bf16,f16,128,128,K,K>"), "both are f16 then"));
  EXPECT_TRUE(has(refusal("SM100_MMA_F16BF16_SS_SCALED<f16,f16,f32,128,64,K,K>"), "8 arguments"));
  EXPECT_TRUE(has(refusal("SM100_MMA_TF32_TS_SCALED<tf32,tf32,f32,128,64,K,K,16>"), "0 to 15"));
  EXPECT_TRUE(has(refusal("SM100_MMA_S8_SS_SCALED<s8,s8,s32,128,64,K,K,1>"), "no such atom"));
  EXPECT_TRUE(has(refusal("SM80_CP_ASYNC_CACHEGLOBAL<u32,f16>"), "128 at once"));
  EXPECT_TRUE(has(refusal("SM75_U32x4_LDSM_N<u64>"), "torn apart"));
  EXPECT_TRUE(has(refusal("SM100_TMEM_LOAD_16dp256b64x"), "32"));
  EXPECT_TRUE(has(refusal("SM100_TMEM_LOAD_32dp32b3x"), "1, 2, 4"));
  EXPECT_TRUE(has(refusal("SM90_TMA_LOAD<f16,4,8>"), "16"));
  EXPECT_TRUE(has(refusal("SM80_16x8x16_F32F16F16F32_NT"), "SM80_16x8x16_F32F16F16F32_TN"));
}

TEST(Atoms, ValuesOfAnotherWidthAreTheSameBits) {
  const Outcome<Atom> halves = atom_named("SM75_U32x4_LDSM_N");
  const Outcome<Atom> words = atom_named("SM75_U32x4_LDSM_N<f32>");
  ASSERT_TRUE(halves.ok() && words.ok());
  const CopyAtom& narrow = std::get<CopyAtom>(*halves);
  const CopyAtom& wide = std::get<CopyAtom>(*words);
  for (int lane = 0; lane < 32; ++lane) {
    for (int value = 0; value < 4; ++value) {
      EXPECT_EQ(at(narrow.dst, lane, 2 * value), 2 * at(wide.dst, lane, value));
    }
  }
}

// What CuTe's headers (CUTLASS release 4.7, MMA_Traits) say of them, without underscores.
TEST(Atoms, SparseAndNarrowOnesAreAsCuTePrintsThem) {
  struct Row {
    const char *name, *thr_id, *shape, *a, *b, *c;
  };
  const Row rows[] = {
      {"SM120_16x8x32_TN<e4m3,e5m2,f32>", "32:1", "(16,8,32)",
       "((4,8),(4,2,2)):((64,1),(16,8,256))", "((4,8),(4,2)):((32,1),(8,128))",
       "((4,8),(2,2)):((32,1),(16,8))"},
      {"SM120_16x8x64_TN_VS<e2m1,e2m1,f32,ue4m3,16>", "32:1", "(16,8,64)",
       "((4,8),(8,2,2)):((128,1),(16,8,512))", "((4,8),(8,2)):((64,1),(8,256))",
       "((4,8),(2,2)):((32,1),(16,8))"},
      {"SM120_SPARSE_16x8x64_TN<e4m3,e5m2,f32>", "32:1", "(16,8,64)",
       "((4,8),(8,2,2)):((128,1),(16,8,512))", "((4,8),(4,4)):((32,1),(8,128))",
       "((4,8),(2,2)):((32,1),(16,8))"},
      {"SM120_SPARSE_16x8x128_TN_VS<e2m1,e2m1,f32,ue4m3,32>", "32:1", "(16,8,128)",
       "((4,8),(16,2,2)):((256,1),(16,8,1024))", "((4,8),(8,4)):((64,1),(8,256))",
       "((4,8),(2,2)):((32,1),(16,8))"},
      {"SM90_SPARSE_64x8x32_F16F16F16_RS<K,K>", "128:1", "(64,8,32)",
       "((4,8,4),(4,2,2)):((256,1,16),(64,8,1024))", "(128,(8,32)):(0,(1,8))",
       "((4,8,4),(2,2,1)):((128,1,16),(64,8,512))"},
      {"SM90_SPARSE_64x16x16_F32TF32TF32_RS_TN", "128:1", "(64,16,16)",
       "((4,8,4),(2,2,2)):((128,1,16),(64,8,512))", "(128,(16,16)):(0,(1,16))",
       "((4,8,4),(2,2,2)):((128,1,16),(64,8,512))"},
      {"SM90_SPARSE_64x96x64_S32S8U8_SS_TN", "128:1", "(64,96,64)", "(128,(64,64)):(0,(1,64))",
       "(128,(96,64)):(0,(1,96))", "((4,8,4),(2,2,12)):((128,1,16),(64,8,512))"},
      {"SM100_MMA_F16BF16_2x1SM_SS_SPARSE<f16,f16,f32,256,256,K,K>", "2:1", "(256,256,32)",
       "(2,(128,32)):(128,(1,256))", "(2,(128,32)):(128,(1,256))", "(2,(128,256)):(128,(1,256))"},
      {"SM100_MMA_MXF4NVF4_SS_SPARSE<e2m1,e2m1,f32,ue4m3,128,64,32,K,K>", "1:0", "(128,64,128)",
       "(1,(128,128)):(0,(1,128))", "(1,(64,128)):(0,(1,64))", "(1,(128,64)):(0,(1,128))"},
      {"SM103_MXF4_ULTRA_2x1SM_SS_VS<e2m1,e2m1,f32,ue8m0,128,64,32,K,K>", "2:1", "(128,64,96)",
       "(2,(64,96)):(64,(1,128))", "(2,(32,96)):(32,(1,64))", "(2,(64,64)):(64,(1,128))"},
  };
  for (const Row& row : rows) {
    const MmaAtom atom = mma(row.name);
    EXPECT_EQ(text(atom.thr_id), row.thr_id) << row.name;
    EXPECT_EQ(text(atom.shape_mnk), row.shape) << row.name;
    EXPECT_EQ(text(atom.a.tv), row.a) << row.name;
    EXPECT_EQ(text(atom.b.tv), row.b) << row.name;
    EXPECT_EQ(text(atom.c.tv), row.c) << row.name;
  }
}

TEST(Atoms, SparseAndNarrowOnesSayWhatIsLegal) {
  EXPECT_TRUE(has(refusal("SM80_SPARSE_16x8x32_F32F16F16F32_TN"), "SM90_SPARSE_64x64x32"));
  EXPECT_TRUE(has(refusal("SM90_SPARSE_64x64x16_F32F16F16_SS<K,K>"), "64 bytes of f16 are 32"));
  EXPECT_TRUE(has(refusal("SM120_16x8x32_TN<f16,f16,f32>"), "e4m3 e5m2 e2m3 e3m2 e2m1"));
  EXPECT_TRUE(has(refusal("SM120_16x8x32_TN<e4m3,e4m3>"), "it takes 3 arguments"));
  EXPECT_TRUE(has(refusal("SM120_16x8x64_TN_VS<e2m1,e2m1,f32,ue4m3,32>"), "ue4m3,16"));
  EXPECT_TRUE(has(refusal("SM100_MMA_F8F6F4_2x1SM_SS_SPARSE<e4m3,e4m3,f32,256,48,K,K>"), "32, 64"));
  EXPECT_TRUE(has(refusal("SM100_MMA_TF32_TS_INTERLEAVED_CF32CTF32CTF32CF32_TN<128,64,K,K>"),
                  "interleaved"));
  EXPECT_TRUE(
      has(refusal("SM103_MXF4_ULTRA_SS_VS<e2m1,e2m1,f32,ue4m3,128,64,32,K,K>"), "VS 32 goes with"));
  EXPECT_TRUE(has(refusal("SM100_MMA_MXF4NVF4_SS<e2m1,e2m1,f32,ue4m3,128,64,32,K,K>"), "no such"));
}

// CuTe's Copy_Atom<OPERATION, TYPE> and MMA_Atom<OPERATION>: the same atoms by their whole name.
TEST(Atoms, AreKnownByTheirWholeNames) {
  for (const auto& [whole, name] :
       {std::pair{"Copy_Atom<SM75_U32x4_LDSM_N,f32>", "SM75_U32x4_LDSM_N<f32>"},
        std::pair{"Copy_Atom<UniversalCopy<cute::uint128_t>, cute::half_t>",
                  "UniversalCopy<u128,f16>"},
        std::pair{"cute::Copy_Atom<cute::SM80_CP_ASYNC_CACHEALWAYS<uint128_t>, float>",
                  "SM80_CP_ASYNC_CACHEALWAYS<u128,f32>"}}) {
    const Outcome<Atom> a = atom_named(whole), b = atom_named(name);
    ASSERT_TRUE(a.ok() && b.ok()) << whole << (a.ok() ? "" : a.error().sentence);
    EXPECT_EQ(text(std::get<CopyAtom>(*a)), text(std::get<CopyAtom>(*b))) << whole;
  }
  EXPECT_EQ(text(mma("MMA_Atom<SM80_16x8x16_F32F16F16F32_TN>")),
            text(mma("SM80_16x8x16_F32F16F16F32_TN")));
  EXPECT_EQ(mma("MMA_Atom<UniversalFMA<f32>>").name.view(), "UniversalFMA<f32>");
  EXPECT_TRUE(has(refusal("Copy_Atom<SM75_U32x4_LDSM_N>"), "Copy_Atom<SM75_U32x4_LDSM_N,f16>"));
  EXPECT_TRUE(has(refusal("MMA_Atom<>"), "MMA_Atom<SM80_16x8x16"));
  EXPECT_TRUE(has(refusal("Copy_Atom<SM75_U32x4_LDSM,f16>"), "SM75_U32x4_LDSM_N"));
}

}  // namespace
}  // namespace tilescope
