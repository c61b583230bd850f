// FlashAttention's forward kernels of CUDA C++, without PyTorch. -DVERSION=2: csrc/flash_attn, for
// sm_80; 3: hopper, for sm_90. -DDIM, -DCAUSAL, -DTYPE, -DLEN_Q, -DLEN_KV, -DHEADS, -DKV_HEADS.
#include "attention.h"

#if VERSION == 2
#include "flash_fwd_launch_template.h"
#else
#include "flash_fwd_launch_template.h"
// Only products of varying lengths call it.
void prepare_varlen_num_blocks(Flash_fwd_params&, cudaStream_t, bool, int, int, bool) {}
#endif

#if VERSION == 2
using flash::Flash_fwd_params;
#endif

int main() {
  using T = cutlass::TYPE;
  using Number = std::conditional_t<std::is_same_v<T, cutlass::half_t>, __half, nv_bfloat16>;
  const check::Attention attention{2, HEADS, KV_HEADS, LEN_Q, LEN_KV, DIM, DIM, CAUSAL};
  const auto q = check::random<Number>(attention.q_size(), 1),
             k = check::random<Number>(attention.k_size(), 2),
             v = check::random<Number>(attention.v_size(), 3);
  Number *dq = check::upload(q), *dk = check::upload(k), *dv = check::upload(v),
         *o = check::room<Number>(attention.o_size());

  Flash_fwd_params given{};
  given.q_ptr = dq, given.k_ptr = dk, given.v_ptr = dv, given.o_ptr = o;
  given.q_row_stride = given.o_row_stride = HEADS * DIM;
  given.k_row_stride = given.v_row_stride = KV_HEADS * DIM;
  given.q_head_stride = given.k_head_stride = given.v_head_stride = given.o_head_stride = DIM;
  given.q_batch_stride = given.o_batch_stride = LEN_Q * HEADS * DIM;
  given.k_batch_stride = given.v_batch_stride = LEN_KV * KV_HEADS * DIM;
  given.b = attention.batches, given.h = HEADS, given.h_k = KV_HEADS;
  given.seqlen_q = LEN_Q, given.seqlen_k = LEN_KV, given.d = DIM;
  given.scale_softmax = 1 / std::sqrt(float(DIM));
  given.softmax_lse_ptr = check::room<float>(attention.batches * HEADS * LEN_Q);
  given.is_causal = CAUSAL;
  given.window_size_left = -1, given.window_size_right = CAUSAL ? 0 : -1;
  given.num_splits = 1;

#if VERSION == 2
  // The instantiation that run_flash_fwd of this head dimension takes for these lengths.
  using Traits = Flash_fwd_kernel_traits<DIM, 128,
                                         DIM == 64 ? 128
                                         : CAUSAL  ? 64
                                                   : 32,
                                         4, false, false, T>;
  constexpr bool even = LEN_Q % Traits::kBlockM == 0 && LEN_KV % Traits::kBlockN == 0;
  given.h_h_k_ratio = HEADS / KV_HEADS;
  given.seqlen_q_rounded = (LEN_Q + 127) / 128 * 128;
  given.seqlen_k_rounded = (LEN_KV + 127) / 128 * 128;
  given.d_rounded = DIM;
  given.scale_softmax_log2 = given.scale_softmax * float(M_LOG2E);
  given.p_dropout = 1, given.p_dropout_in_uint8_t = 255, given.rp_dropout = 1;
  given.scale_softmax_rp_dropout = given.scale_softmax;
  const auto kernel =
      flash::flash_fwd_kernel<Traits, false, CAUSAL, false, false, even, true, false, false>;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Traits::kSmemSize);
  kernel<<<dim3((LEN_Q + Traits::kBlockM - 1) / Traits::kBlockM, attention.batches, HEADS),
           Traits::kNThreads, Traits::kSmemSize>>>(given);
#else
  given.v_dim_stride = 1, given.dv = DIM;
  given.num_sm = 8, given.arch = 90;
  given.b_k = attention.batches;
  given.tile_count_semaphore = check::upload(std::vector<int>(1));
  constexpr int rows = std::get<0>(tile_size_fwd_sm90(DIM, DIM, CAUSAL, false, sizeof(T)));
  // A cluster of two shares K and V, where run_mha_fwd_ takes one.
  constexpr int cluster = DIM >= 128 && !CAUSAL && (LEN_Q + rows - 1) / rows % 2 == 0 ? 2 : 1;
  run_flash_fwd<90, DIM, DIM, cluster, T, T, CAUSAL, false, false, false, false, false, false,
                false, false, false>(given, nullptr);
#endif
  check::compare("O", check::download(o, attention.o_size()), attention(q, k, v), 0.01);
  return check::verdict();
}
