// DeepGEMM's kernels, one a program (KERNEL): its own host compiles them at run time and needs
// PyTorch. Tiles of 128 x 128, inputs in K order, 128-byte swizzle, as its heuristics choose them.
#include <cuda.h>

#include "check.h"

#define SM90_BF16 1
#define SM90_FP8 2
#define SM90_FP8_CONTIGUOUS 3
#define SM90_FP8_MASKED 4
#define SM100_BF16 5
#define SM100_FP8 6

#if KERNEL == SM90_BF16
#include <deep_gemm/impls/sm90_bf16_gemm.cuh>
#elif KERNEL == SM100_BF16
#include <deep_gemm/impls/sm100_bf16_gemm.cuh>
#elif KERNEL == SM100_FP8
#include <deep_gemm/impls/sm100_fp8_fp4_gemm_1d1d.cuh>
#else
#include <deep_gemm/impls/sm90_fp8_gemm_1d2d.cuh>
#endif

constexpr int blocks = 4, stages = 4, tile = 128, shared = 200 << 10;
constexpr auto k_major = cute::UMMA::Major::K;

CUtensorMap map_of(void* at, CUtensorMapDataType type, int bytes, std::uint64_t inner,
                   std::uint64_t outer, std::uint32_t box_inner, std::uint32_t box_outer,
                   bool swizzle = true) {
  CUtensorMap map;
  const cuuint64_t dims[] = {inner, outer}, strides[] = {inner * bytes};
  const cuuint32_t box[] = {box_inner, box_outer}, steps[] = {1, 1};
  const CUresult result = cuTensorMapEncodeTiled(
      &map, type, 2, at, dims, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
      swizzle ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_NONE,
      CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS)
    std::printf("the driver refuses a tensor map: %d\n", result), check::verdict() = 1;
  return map;
}

template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), int threads, Arguments... arguments) {
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
  kernel<<<blocks, threads, shared>>>(arguments...);
}

int main() {
  constexpr bool grouped = KERNEL == SM90_FP8_CONTIGUOUS || KERNEL == SM90_FP8_MASKED;
  constexpr bool narrow = KERNEL != SM90_BF16 && KERNEL != SM100_BF16;
  constexpr int groups = grouped ? 3 : 1, m = grouped ? 256 : 384, n = 256, k = 512;
  constexpr int rows = m * groups;  // of A and D, of all groups
  using T = std::conditional_t<narrow, __nv_fp8_e4m3, nv_bfloat16>;
  using deep_gemm::GemmType;
  const auto a = check::random<T>(rows * k, 1), b = check::random<T>(groups * n * k, 2);
  // A factor for 128 elements of K: of each row of A and 128 rows of B (of each of B on sm_100,
  // where factors are powers of two, four exponents a word).
  constexpr int scales = k / 128;
  std::mt19937 engine(3);
  std::vector<float> sa(rows * scales, 1), sb(groups * n * scales, 1);
  if (narrow) {
    for (float& s : sa) s = std::ldexp(1.0f, static_cast<int>(engine() % 5) - 2);
    for (float& s : sb) s = std::ldexp(1.0f, static_cast<int>(engine() % 5) - 2);
#if KERNEL != SM100_FP8
    for (float& s : sb) s *= 1.25f;
    for (int i = 0; i < groups * n; ++i) {
      for (int l = 0; l < scales; ++l) sb[i * scales + l] = sb[i / 128 * 128 * scales + l];
    }
#endif
  }
  // Rows of each group that are to be computed.
  const std::vector<int> valid =
      KERNEL == SM90_FP8_MASKED ? std::vector<int>{256, 100, 17} : std::vector<int>(groups, m);
  std::vector<float> expected(rows * n);
  for (int i = 0; i < rows; ++i) {
    if (i % m >= valid[i / m]) continue;
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      const int column = i / m * n + j;
      for (int l = 0; l < k; ++l) {
        sum += double(float(a[i * k + l])) * float(b[column * k + l]) * sa[i * scales + l / 128] *
               sb[column * scales + l / 128];
      }
      expected[i * n + j] = float(sum);
    }
  }
  T *da = check::upload(a), *db = check::upload(b);
  nv_bfloat16* d = check::upload(std::vector<nv_bfloat16>(rows * n, nv_bfloat16(0.0f)));
  constexpr auto type = narrow ? CU_TENSOR_MAP_DATA_TYPE_UINT8 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  constexpr int deep = narrow ? 128 : 64;  // elements of 128 bytes
  const auto map_a = map_of(da, type, sizeof(T), k, rows, deep, tile),
             map_b = map_of(db, type, sizeof(T), k, groups * n, deep, tile);
  const auto map_d = map_of(d, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, n, rows, 64, tile);
#if KERNEL == SM90_BF16
  launch(deep_gemm::sm90_bf16_gemm_impl<k_major, k_major, 0, n, k, 1, tile, tile, 64, 128, 128, 128,
                                        stages, 128, 256, 1, false, blocks, GemmType::Normal, false,
                                        cutlass::bfloat16_t>,
         384, nullptr, m, n, k, map_a, map_b, map_d);
#elif KERNEL == SM100_BF16
  launch(deep_gemm::sm100_bf16_gemm_impl<k_major, k_major, 0, n, k, tile, tile, 64, 1, 128, 128,
                                         128, stages, 128, 128, 1, false, blocks, 64, false, false,
                                         GemmType::Normal, false, cutlass::bfloat16_t, 100>,
         256, nullptr, m, n, k, map_a, map_b, map_d);
#elif KERNEL == SM100_FP8
  const auto exponents = [&](const std::vector<float>& s, int count) {
    std::vector<int> words(count * scales / 4);
    for (int i = 0; i < count; ++i) {
      for (int l = 0; l < scales; ++l)
        words[l / 4 * count + i] |= (std::ilogb(s[i * scales + l]) + 127) << l % 4 * 8;
    }
    return check::upload(words);
  };
  const auto map_sa =
      map_of(exponents(sa, m), CU_TENSOR_MAP_DATA_TYPE_INT32, 4, m, scales / 4, tile, 1, false);
  const auto map_sb =
      map_of(exponents(sb, n), CU_TENSOR_MAP_DATA_TYPE_INT32, 4, n, scales / 4, tile, 1, false);
  launch(deep_gemm::sm100_fp8_fp4_gemm_1d1d_impl<
             k_major, k_major, 128, 128, 128, 0, n, k, tile, tile, 128, 1, 128, 128, 128, stages,
             128, 128, 1, false, blocks, false, false, GemmType::Normal, false,
             cutlass::float_e4m3_t, cutlass::float_e4m3_t, cutlass::bfloat16_t,
             deep_gemm::epilogue::transform::EpilogueIdentity>,
         256, nullptr, m, n, k, map_a, map_b, map_sa, map_sb, map_d);
#else
  constexpr auto kind = KERNEL == SM90_FP8              ? GemmType::Normal
                        : KERNEL == SM90_FP8_CONTIGUOUS ? GemmType::MGroupedContiguous
                                                        : GemmType::MGroupedMasked;
  std::vector<float> columns(sa.size()), of_blocks(groups * n / 128 * scales);
  // Of a masked product each group has its own factors, one K block after another.
  const int together = kind == GemmType::MGroupedMasked ? m : rows;
  for (int i = 0; i < rows; ++i) {
    for (int l = 0; l < scales; ++l)
      columns[(i / together * scales + l) * together + i % together] = sa[i * scales + l];
  }
  for (int i = 0; i < groups * n / 128; ++i) {
    for (int l = 0; l < scales; ++l) of_blocks[i * scales + l] = sb[i * 128 * scales + l];
  }
  std::vector<int> layout = valid;
  if (kind == GemmType::MGroupedContiguous) {
    layout.clear();
    for (int i = 0; i < rows; ++i) layout.push_back(i / m);
  }
  const auto map_sa = map_of(check::upload(columns), CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, together,
                             rows / together * scales, tile, 1, false);
  const int shape_m = kind == GemmType::MGroupedMasked ? m : rows;
  launch(deep_gemm::sm90_fp8_gemm_1d2d_impl<
             k_major, 0, n, k, groups, tile, tile, 128, 128, 128, 128, stages, 128, 256, 1, false,
             blocks, kind, cutlass::bfloat16_t, deep_gemm::epilogue::transform::EpilogueIdentity>,
         384, check::upload(of_blocks), check::upload(layout), shape_m, n, k, map_a, map_b, map_d,
         map_sa);
#endif
  auto found = check::download(d, rows * n);
  for (int i = 0; i < rows * n; ++i) {  // a masked group's last tile is written whole
    if (i / n % m >= valid[i / n / m]) found[i] = nv_bfloat16(0.0f);
  }
  check::compare("D", found, expected, 0.01);
  return check::verdict();
}
