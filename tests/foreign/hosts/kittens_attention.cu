// ThunderKittens' attention, forward, without PyTorch. -DKIND: 1: mha_h100; 2: mha_h100_lcf, of the
// prototype's pipeline; 3: bf16_b300_mha_*. The files' own main, which wants a text file of
// numbers, becomes a template that nobody uses.
#include <chrono>  // mha_h100_lcf.cu uses it and does not include it
#include <fstream>
#include <iostream>

#include "attention.h"

#define main(...)         \
  unused_of_the_file = 0; \
  template <class Unused> \
  int main_of_the_file(__VA_ARGS__)
#include SOURCE
#undef main

int main() {
#if KIND == 3
  const check::Attention attention{1, 1, 1, LENGTH, LENGTH, 192, 128, CAUSAL};
#else
  const check::Attention attention{1, 2, KIND == 1 ? 1 : 2, LENGTH, LENGTH, DIM, DIM, CAUSAL, true};
#endif
  const auto q = check::random<bf16>(attention.q_size(), 1),
             k = check::random<bf16>(attention.k_size(), 2),
             v = check::random<bf16>(attention.v_size(), 3);
  bf16 *dq = check::upload(q), *dk = check::upload(k), *dv = check::upload(v),
       *o = check::room<bf16>(attention.o_size());
  float* sums = check::room<float>(attention.batches * attention.heads * LENGTH);
  const unsigned batches = attention.batches, heads = attention.heads,
                 kv_heads = attention.kv_heads;
#if KIND == 1
  using Globals = fwd_globals<DIM>;
  Globals given{{dq, batches, heads, LENGTH, DIM},
                {dk, batches, kv_heads, LENGTH, DIM},
                {dv, batches, kv_heads, LENGTH, DIM},
                {sums, batches, heads, 1U, LENGTH},
                {o, batches, heads, LENGTH, DIM},
                LENGTH,
                int(heads / kv_heads)};
  const auto kernel = fwd_attend_ker<DIM, CAUSAL>;
  const int shared = MAX_SHARED_MEMORY - 1024;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
  kernel<<<dim3(LENGTH / (CONSUMER_WARPGROUPS * 64), heads, batches), 32 * NUM_WORKERS, shared>>>(
      given);
#elif KIND == 2
  using Template = attn_fwd_template<DIM>;
  using Layout = Template::layout;
  Layout::globals given{{o, batches, heads, LENGTH, nullptr},
                        {dq, batches, heads, LENGTH, nullptr},
                        {dk, batches, heads, LENGTH, nullptr},
                        {dv, batches, heads, LENGTH, nullptr}};
  const auto kernel = prototype::lcf::kernel<Template>;
  const int shared = MAX_SHARED_MEMORY - 2000;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
  kernel<<<4, prototype::detail::NUM_THREADS_v<Template>, shared>>>(given);
#else
  const int b = batches, h = heads;
  CALL({dq, {b, LENGTH, h, 192}}, {dk, {b, LENGTH, h, 192}}, {dv, {b, LENGTH, h, 128}},
       {o, {b, LENGTH, h, 128}}, {sums, {b, h, 1, LENGTH}});
#endif
  check::compare("O", check::download(o, attention.o_size()), attention(q, k, v), 0.01);
  return check::verdict();
}
