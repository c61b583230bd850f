#include "app/python/examples.h"

#include <algorithm>

namespace tilescope::python {
namespace {

struct Example {
  std::string_view function, text;
};

// By name. tests/python runs them, and wants one for each function.
constexpr Example examples[] = {
    {"ComposeLayout", R"py(>>> ts.ComposeLayout(3, 2, 4, "S[8,64]")
<TileLayout Sw<2,3,4> o S[(8,64):(64,1)]>)py"},
    {"append", R"py(>>> ts.append(ts.Layout(2, 1), 3)
Layout("(2,1,1):(1,0,0)"))py"},
    {"bank_conflicts", R"py(>>> ts.bank_conflicts(ts.Layout(32, 33), 4)
{'wavefronts': 1, 'ideal': 1, 'excess': 0, 'worst_bank': 0, 'worst_phase': 0, 'worst_words': 1})py"},
    {"blocked_product",
     R"py(>>> ts.blocked_product(ts.Layout((2, 2), (2, 1)), ts.Layout((2, 3), (1, 2)))
Layout("((2,2),(2,3)):((2,4),(1,8))"))py"},
    {"broadcast", R"py(>>> ts.broadcast(ts.Layout((4, 2), (1, 0)))
{'coordinates': 8, 'offsets': 4, 'least_owners': 2, 'most_owners': 2})py"},
    {"canonicalize", R"py(>>> ts.canonicalize("S[(8,1,64):(64,64,1)]")
<TileLayout S[512:1]>)py"},
    {"coalesce", R"py(>>> ts.coalesce(ts.Layout((2, (1, 6)), (1, (6, 2))))
Layout("12:1"))py"},
    {"coalescing", R"py(>>> ts.coalescing(ts.Layout(32, 2), 4)
{'sectors': 8, 'ideal': 4, 'excess': 4, 'lines': 2, 'bytes': 128})py"},
    {"compact", R"py(>>> ts.compact(ts.Layout((4, 4), (4, 1)))
<Verdict true>)py"},
    {"complement", R"py(>>> ts.complement(ts.Layout(4, 2))
Layout("2:1"))py"},
    {"composition", R"py(>>> ts.composition(ts.Layout((6, 2), (8, 2)), ts.Layout((4, 3), (3, 1)))
Layout("((2,2),3):((24,2),8)"))py"},
    {"contiguous", R"py(>>> ts.contiguous(ts.Layout((4, 4), (4, 1)))
<Verdict false>)py"},
    {"coordinates", R"py(>>> ts.coordinates(0, ts.Layout((2, 2), (1, 0)))
[(0, 0), (0, 1)])py"},
    {"cosize", R"py(>>> ts.cosize(ts.Layout((4, 2), (1, 10)))
14)py"},
    {"crd2idx", R"py(>>> ts.crd2idx((3, 5), ts.Layout((8, 8), (8, 1)))
29)py"},
    {"depth", R"py(>>> ts.depth(ts.Layout((4, (2, 3)), (6, (3, 1))))
2)py"},
    {"direct_sum", R"py(>>> ts.direct_sum("S[32:1@TLane] + R[4:32@TLane]", "S[2:4@TCol]", 2)
<TileLayout S[(2,32):(4@TCol,1@TLane)] + R[4:32@TLane]>)py"},
    {"downcast", R"py(>>> ts.downcast(ts.Layout((8, 16), (1, 8)), 4)
Layout("(32,16):(1,32)"))py"},
    {"filter", R"py(>>> ts.filter(ts.Layout((2, 4, 8), (0, 1, 0)))
Layout("4:1"))py"},
    {"filter_zeros", R"py(>>> ts.filter_zeros(ts.Layout((2, 4, 8), (0, 1, 0)))
Layout("(1,4,1):(0,1,0)"))py"},
    {"find_swizzle", R"py(>>> ts.find_swizzle(ts.Layout((64, 64), (64, 1)), 16, 2, ts.Layout(32, 1))
<Swizzle Sw<3,3,3>>)py"},
    {"flat_divide", R"py(>>> ts.flat_divide(ts.Layout((4, 6), (6, 1)), (2, 3))
Layout("(2,3,2,2):(6,1,12,3)"))py"},
    {"flat_product", R"py(>>> ts.flat_product(ts.Layout((2, 2), (1, 2)), ts.Layout((3, 4), (1, 3)))
Layout("(2,2,3,4):(1,2,4,12)"))py"},
    {"flatten", R"py(>>> ts.flatten(ts.Layout((9, (4, 8)), (59, (13, 1))))
Layout("(9,4,8):(59,13,1)"))py"},
    {"fragment_A",
     R"py(>>> ts.fragment_A("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN, (2,2))", 0, ts.Layout((128, 64), (64, 1)))
Layout("((2,2,2),4,4):((1,2,4),32,8)"))py"},
    {"fragment_B",
     R"py(>>> ts.fragment_B("make_tiled_mma(SM90_64x64x16_F32F16F16_SS<K,K>)", 0, ts.Layout(((8, 8), (8, 8)), ((8, 512), (1, 64))))
Layout("(1,1,4):(0,0,16)"))py"},
    {"fragment_C",
     R"py(>>> ts.fragment_C("make_tiled_mma(SM100_MMA_F16BF16_SS<f16,f16,f32,128,256,K,K>)", 0, (128, 256))
Layout("((128,256),1,1):((65536,1),0,0)"))py"},
    {"from_matrix", R"py(>>> ts.from_matrix((1, 2, 4, 9))
Layout("Sw<1,0,3> o 0 o 16:1"))py"},
    {"get", R"py(>>> ts.get(ts.Layout((2, (3, 4)), (1, (2, 6))), 1)
Layout("(3,4):(2,6)"))py"},
    {"get_slice", R"py(>>> ts.get_slice("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN, (2,2))", 37)
(5, 1, 0, 0))py"},
    {"group", R"py(>>> ts.group(ts.Layout((2, 3, 4), (1, 2, 6)), 0, 2)
Layout("((2,3),4):((1,2),6)"))py"},
    {"idx2crd", R"py(>>> ts.idx2crd(5, (2, (2, 2)))
(1, (0, 1)))py"},
    {"in_shape", R"py(>>> ts.in_shape("S[64:1]", (8, 8))
<TileLayout S[64:1]>)py"},
    {"indices", R"py(>>> ts.indices(ts.Layout((2, 3), (3, 1)))
[0, 3, 1, 4, 2, 5])py"},
    {"injective", R"py(>>> ts.injective(ts.Layout((4, 4), (1, 3)))
<Verdict false>)py"},
    {"layout", R"py(>>> ts.layout("smem<f16>+64 o (8,64):(64,1)")
Layout("(8,64):(64,1)"))py"},
    {"layout_A_TV", R"py(>>> ts.layout_A_TV("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN, (2,2))")
Layout("((4,8,2,2),((2,2,2),(1,1))):((64,1,16,0),((32,8,256),(0,0)))"))py"},
    {"layout_B_TV", R"py(>>> ts.layout_B_TV("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN, (2,2))")
Layout("((4,8,2,2),((2,2),(1,1))):((32,1,0,8),((16,128),(0,0)))"))py"},
    {"layout_C_TV",
     R"py(>>> ts.layout_C_TV("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN, (1,1), <16,(2,4,2):(1,4,2),16>)")
Layout("((4,8),((2,2),(1,2))):((64,1),((16,8),(0,32)))"))py"},
    {"layout_D_TV",
     R"py(>>> ts.layout_D_TV("make_tiled_copy_A(SM75_U32x4_LDSM_N, make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN))")
Layout("((4,8),((2,2,2),1)):((32,1),((16,8,128),0))"))py"},
    {"layout_S_TV",
     R"py(>>> ts.layout_S_TV("make_tiled_copy_A(SM75_U32x4_LDSM_N, make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN))")
Layout("((16,2),(8,1)):((1,128),(16,0))"))py"},
    {"layout_TV",
     R"py(>>> ts.layout_TV("make_tiled_copy(UniversalCopy<u128,f16>, (4,8):(8,1), (1,8))")
Layout("((8,4),8):((32,1),4)"))py"},
    {"left_inverse", R"py(>>> ts.left_inverse(ts.Layout(4, 3))
Layout("(3,4):(0,1)"))py"},
    {"local_partition",
     R"py(>>> ts.local_partition(ts.Layout((128, 64), (64, 1)), ts.Layout((8, 4), (4, 1)), 5)
<Slice (16,16):(512,4) off 65>)py"},
    {"local_tile", R"py(>>> ts.local_tile(ts.Layout((128, 64), (64, 1)), (32, 16), (1, 2))
<Slice (32,16):(64,1) off 2080>)py"},
    {"logical_divide", R"py(>>> ts.logical_divide(ts.Layout((4, 6), (6, 1)), (2, 3))
Layout("((2,2),(3,2)):((6,12),(1,3))"))py"},
    {"logical_product",
     R"py(>>> ts.logical_product(ts.Layout((2, 2), (1, 2)), ts.Layout((3, 4), (1, 3)))
Layout("((2,2),(3,4)):((1,2),(4,12))"))py"},
    {"make_fragment_like",
     R"py(>>> ts.make_fragment_like(ts.Layout(((2, 2, 2), 4, 4), ((1, 512, 8), 2048, 16)))
Layout("((2,2,2),4,4):((1,2,4),32,8)"))py"},
    {"make_identity_layout", R"py(>>> ts.make_identity_layout((4, (2, 3)))
Layout("(4,(2,3)):(1@0,(1@0@1,1@1@1))"))py"},
    {"make_identity_tensor", R"py(>>> ts.make_identity_tensor((4, 5))
Layout("(4,5):(1@0,1@1)"))py"},
    {"make_layout", R"py(>>> ts.make_layout((2, 3))
Layout("(2,3):(1,2)"))py"},
    {"make_layout_like", R"py(>>> ts.make_layout_like(ts.Layout((2, 4, 8), (64, 0, 2)))
Layout("(2,4,8):(8,0,1)"))py"},
    {"make_layout_tv",
     R"py(>>> ts.make_layout_tv(ts.Layout((4, 32), (32, 1)), ts.Layout((4, 4), (4, 1)))
<ThreadValue ((16,128),((32,4),(4,4)):((64,4),(16,1)))>)py"},
    {"make_ordered_layout", R"py(>>> ts.make_ordered_layout((4, 32), (1, 0))
Layout("(4,32):(32,1)"))py"},
    {"make_tiled_copy",
     R"py(>>> ts.layout_TV(ts.make_tiled_copy("UniversalCopy<u128,f16>", ts.Layout((32, 8), (8, 1)), (1, 8)))
Layout("((8,32),8):((256,1),32)"))py"},
    {"make_tiled_copy_A",
     R"py(>>> ts.layout_TV(ts.make_tiled_copy_A("SM75_U32x4_LDSM_N", "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN, (2,2))"))
Layout("((4,8,2,2),((2,2,2),(1,1))):((64,1,16,0),((32,8,256),(0,0)))"))py"},
    {"make_tiled_copy_B",
     R"py(>>> ts.layout_TV(ts.make_tiled_copy_B("SM75_U32x2_LDSM_N", "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN)"))
Layout("((4,8),((2,2),(1,1))):((16,1),((8,64),(0,0)))"))py"},
    {"make_tiled_copy_C",
     R"py(>>> ts.layout_TV(ts.make_tiled_copy_C("SM90_U32x2_STSM_N", "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN)"))
Layout("((4,8),((2,2),(1,1))):((32,1),((16,8),(0,0)))"))py"},
    {"make_tiled_copy_D",
     R"py(>>> ts.layout_TV(ts.make_tiled_copy_D("UniversalCopy<u32,f16>", "make_tiled_copy_A(SM75_U32x4_LDSM_N, make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN))"))
Layout("((4,8),((2,2,2),1)):((32,1),((16,8,128),0))"))py"},
    {"make_tiled_copy_S",
     R"py(>>> ts.layout_TV(ts.make_tiled_copy_S("UniversalCopy<u128,f16>", "make_tiled_copy_A(SM75_U32x4_LDSM_N, make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN))"))
Layout("((16,2),(8,1)):((1,128),(16,0))"))py"},
    {"make_tiled_mma",
     R"py(>>> ts.tile_shape(ts.make_tiled_mma("SM80_16x8x16_F32F16F16F32_TN", (2, 2)))
(32, 16, 16))py"},
    {"max_alignment", R"py(>>> ts.max_alignment(ts.Layout((8, 4), (1, 16)))
8)py"},
    {"max_common_layout",
     R"py(>>> ts.max_common_layout(ts.Layout((4, 8), (8, 1)), ts.Layout((4, 8), (8, 1)))
Layout("(8,4):(4,1)"))py"},
    {"max_common_vector",
     R"py(>>> ts.max_common_vector(ts.Layout((4, 8), (8, 1)), ts.Layout((4, 8), (8, 1)))
32)py"},
    {"mma_shared_layout", R"py(>>> ts.mma_shared_layout("e4m3", "64B", (2, 64, 128))
<TileLayout Sw<2,4,3> o S[(2,64,2,64):(8192,64,4096,1)]>)py"},
    {"nullspace", R"py(>>> ts.nullspace(ts.Layout((2, 4, 8), (1, 0, 2)))
Layout("4:2"))py"},
    {"owners", R"py(>>> ts.owners("S[64:1]", (3, 4), (8, 8))
[28])py"},
    {"pack", R"py(>>> ts.pack("S[8,64]", 2)
<TileLayout S[(8,32):(32,1)]>)py"},
    {"partition_A",
     R"py(>>> ts.partition_A("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN, (2,2))", 37, ts.Layout((128, 64), (64, 1)))
<Slice ((2,2,2),4,4):((1,512,8),2048,16) off 1090>)py"},
    {"partition_B",
     R"py(>>> ts.partition_B("make_tiled_mma(SM100_MMA_F16BF16_2x1SM_SS<f16,f16,f32,256,256,K,K>)", 1, ts.Layout((256, 64), (64, 1)))
<Slice ((128,16),1,4):((64,1),0,16) off 8192>)py"},
    {"partition_C",
     R"py(>>> ts.partition_C("SM80_16x8x16_F32F16F16F32_TN", 5, ts.Layout((128, 128), (128, 1)))
<Slice ((2,2),8,16):((1,1024),2048,8) off 130>)py"},
    {"partition_D",
     R"py(>>> ts.partition_D("make_tiled_copy(UniversalCopy<u128,f16>, (32,8):(8,1), (1,8))", 9, ts.Layout((128, 64), (64, 1)))
<Slice ((8,1),4,1):((1,0),2048,0) off 72>)py"},
    {"partition_S",
     R"py(>>> ts.partition_S("make_tiled_copy_A(SM75_U32x4_LDSM_N, make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN, (2,2)))", 0, ts.Layout((128, 64), (64, 1)))
<Slice ((8,1),4,4):((1,0),2048,16) off 0>)py"},
    {"permute_dims", R"py(>>> ts.permute_dims("S[8,4]", (1, 0))
<TileLayout S[(4,8):(1,4)]>)py"},
    {"prepend", R"py(>>> ts.prepend(ts.Layout(2, 1), ts.Layout(3, 2))
Layout("(3,2):(2,1)"))py"},
    {"raked_product",
     R"py(>>> ts.raked_product(ts.Layout((2, 2), (2, 1)), ts.Layout((2, 3), (1, 2)))
Layout("((2,2),(3,2)):((4,2),(8,1))"))py"},
    {"rank", R"py(>>> ts.rank(ts.Layout((4, (2, 3)), (6, (3, 1))))
2)py"},
    {"recast", R"py(>>> ts.recast(ts.Layout((8, 16), (16, 1)), 8, 16)
Layout("(8,8):(8,1)"))py"},
    {"recast_layout", R"py(>>> ts.recast_layout(ts.Layout((8, 16), (16, 1)), 16, 8)
Layout("(8,32):(32,1)"))py"},
    {"register_metadata", R"py(>>> ts.register_metadata(16, 32)
Layout("((8,2),(4,2),2):((4@laneid,16@vid),(4@vid,1@laneid),2@laneid)"))py"},
    {"replace", R"py(>>> ts.replace(ts.Layout((2, 3), (1, 2)), 0, ts.Layout(4, 9))
Layout("(4,3):(9,2)"))py"},
    {"retile_D",
     R"py(>>> ts.retile_D("make_tiled_copy_A(SM75_U32x4_LDSM_N, make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN, (2,2)))", 0, ts.Layout(((2, 2, 2), 4, 4), ((1, 2, 4), 32, 8)))
Layout("((8,1),4,4):((1,0),32,8)"))py"},
    {"retile_S",
     R"py(>>> ts.retile_S("make_tiled_copy_C(SM90_U32x2_STSM_N, make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN))", 0, ((2, 2), 4, 8))
Layout("((4,1),4,8):((1,0),4,16)"))py"},
    {"right_inverse", R"py(>>> ts.right_inverse(ts.Layout((4, 8), (8, 1)))
Layout("(8,4):(4,1)"))py"},
    {"scale_factors", R"py(>>> ts.scale_factors(128, 128)
Layout("(((32,4),1),((32,4),1)):(((16,4),0),((0,1),0))"))py"},
    {"select", R"py(>>> ts.select(ts.Layout((2, 3, 4), (1, 2, 6)), 2, 0)
Layout("(4,2):(6,1)"))py"},
    {"shape", R"py(>>> ts.shape(ts.Layout((4, (2, 3)), (6, (3, 1))), 1)
(2, 3))py"},
    {"size", R"py(>>> ts.size(ts.Layout((4, (2, 3)), (6, (3, 1))))
24)py"},
    {"slice", R"py(>>> ts.slice((3, ts._), ts.Layout((8, 8), (8, 1)))
Layout("(8):(1)"))py"},
    {"slice_and_offset", R"py(>>> ts.slice_and_offset((3, ts._), ts.Layout((8, 8), (8, 1)))
<Slice (8):(1) off 24>)py"},
    {"span", R"py(>>> ts.span("S[(32,16):(1@TLane,1@TCol)] + R[4:32@TLane]")
<Place 128@TLane+16@TCol>)py"},
    {"storage", R"py(>>> ts.storage("S[(128,64):(1@tid_in_wg,1)]")
<TileLayout S[64:1]>)py"},
    {"stride", R"py(>>> ts.stride(ts.Layout((4, (2, 3)), (6, (3, 1))))
(6, (3, 1)))py"},
    {"surjective", R"py(>>> ts.surjective(ts.Layout((4, 4), (1, 3)))
<Verdict true>)py"},
    {"take", R"py(>>> ts.take(ts.Layout((2, 3, 4), (1, 2, 6)), 1, 3)
Layout("(3,4):(2,6)"))py"},
    {"thr_layout_vmnk",
     R"py(>>> ts.thr_layout_vmnk("make_tiled_mma(SM70_8x8x4_F32F16F16F32_TN, (2,2):(2,1))")
Layout("((4,2),2,2,1):((1,16),8,4,0)"))py"},
    {"tile", R"py(>>> ts.tile("S[8,64]", "S[2,4]", (2, 4))
<TileLayout S[(2,8,4,64):(2048,64,512,1)]>)py"},
    {"tile_shape",
     R"py(>>> ts.tile_shape("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN, (2,2), <32,32,16>)")
(32, 32, 16))py"},
    {"tile_to", R"py(>>> ts.tile_to("tile_to(ComposeLayout(3, 3, 3, S[8,64]), (64,64))", (64, 256))
<TileLayout Sw<3,3,3> o S[(64,4,64):(64,4096,1)]>)py"},
    {"tile_to_shape", R"py(>>> ts.tile_to_shape(ts.Layout((4, 8), (8, 1)), (32, 64), (2, 1))
Layout("((4,8),(8,8)):((8,256),(1,32))"))py"},
    {"tiled_divide", R"py(>>> ts.tiled_divide(ts.Layout((4, 6), (6, 1)), (2, 3))
Layout("((2,3),2,2):((6,1),12,3)"))py"},
    {"tiled_product",
     R"py(>>> ts.tiled_product(ts.Layout((2, 2), (1, 2)), ts.Layout((3, 4), (1, 3)))
Layout("((2,2),3,4):((1,2),4,12)"))py"},
    {"tiler_mn",
     R"py(>>> ts.tiler_mn("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN, (2,2), <32,32,16>)")
(32, 32))py"},
    {"tma_shared_layout", R"py(>>> ts.tma_shared_layout("f16", "128B", (64, 256))
<TileLayout Sw<3,3,3> o S[(64,4,64):(64,4096,1)]>)py"},
    {"tmem_accumulator", R"py(>>> ts.tmem_accumulator(64, 128)
Layout("((16,4),128):((1@TLane,32@TLane),1@TCol)"))py"},
    {"tmem_accumulator_sparse", R"py(>>> ts.tmem_accumulator_sparse(128, 128, 2)
Layout("((16,4,2),128):((1@TLane,32@TLane,1@cbx),1@TCol)"))py"},
    {"tmem_accumulator_ws", R"py(>>> ts.tmem_accumulator_ws(64, 128)
Layout("(64,(64,2)):(1@TLane,(1@TCol,64@TLane))"))py"},
    {"tmem_datapath_layout", R"py(>>> ts.tmem_datapath_layout("D", 128, 256)
<TileLayout S[(128,256):(1@TLane,1@TCol)]>)py"},
    {"tmem_fragment", R"py(>>> ts.tmem_fragment("SM100_TMEM_LOAD_32dp32b8x")
Layout("(32,8):(1@TLane,1@TCol)"))py"},
    {"tmem_metadata", R"py(>>> ts.tmem_metadata(8)
<TileLayout S[(128,2,8):(1@TLane,1@TCol,4@vid)]>)py"},
    {"tmem_scale_factors", R"py(>>> ts.tmem_scale_factors(128)
<TileLayout S[(4,32):(1@TCol,1@TLane)] + R[4:32@TLane]>)py"},
    {"to_cute", R"py(>>> ts.to_cute("S[(64,4,64):(64,4096,1)]")
Layout("(64,4,64):(1,4096,64)"))py"},
    {"to_matrix", R"py(>>> ts.to_matrix(ts.Layout((8, 8), (8, 1)))
(8, 16, 32, 1, 2, 4))py"},
    {"to_tirx", R"py(>>> ts.to_tirx(ts.Layout((4, 8), (1, 4)))
<TileLayout S[(8,4):(4,1)]>)py"},
    {"unflatten", R"py(>>> ts.unflatten(ts.Layout((2, 3, 4), (1, 2, 6)), (1, (1, 1)))
Layout("(2,(3,4)):(1,(2,6))"))py"},
    {"unpack", R"py(>>> ts.unpack("S[8:1]", 4)
<TileLayout S[(8,4):(4,1)]>)py"},
    {"upcast", R"py(>>> ts.upcast(ts.Layout((8, 16), (1, 8)), 2)
Layout("(4,16):(1,4)"))py"},
    {"vector", R"py(>>> ts.vector(ts.Layout((8, 8), (8, 1)), 16)
{'elements': 8, 'bits': 128, 'along': '8:8'})py"},
    {"wg_local_layout", R"py(>>> ts.wg_local_layout(64)
<TileLayout S[(128,64):(1@tid_in_wg,1)]>)py"},
    {"zip", R"py(>>> ts.zip(ts.Layout((2, 3), (1, 2)), ts.Layout((4, 5), (6, 24)))
Layout("((2,4),(3,5)):((1,6),(2,24))"))py"},
    {"zipped_divide", R"py(>>> ts.zipped_divide(ts.Layout((8, 6), (6, 1)), (4, ts._))
Layout("((4,6),(2,1)):((6,1),(24,0))"))py"},
    {"zipped_product", R"py(>>> ts.zipped_product(ts.Layout((2, 2), (1, 2)), ts.Layout(3, 1))
Layout("((2,2),3):((1,2),4)"))py"},
};

}  // namespace

std::string_view example_of(std::string_view function) {
  const auto found = std::find_if(std::begin(examples), std::end(examples),
                                  [&](const Example& each) { return each.function == function; });
  return found == std::end(examples) ? std::string_view() : found->text;
}

}  // namespace tilescope::python
