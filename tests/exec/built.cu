// Programs that nvcc builds, in one: those of the six answers*.cu, and one for each
// of what a driver does with a program's images. `built WHICH`.
#define main answers_main
#include "answers.cu"
#undef main
#define main answers_textures_main
#include "answers_textures.cu"
#undef main
#define main answers_contexts_main
#include "answers_contexts.cu"
#undef main
#define main answers_calls_main
#include "answers_calls.cu"
#undef main
#define main answers_layers_main
#include "answers_layers.cu"
#undef main
#define main answers_rest_main
#include "answers_rest.cu"
#undef main

// ---- of another file (built_part.cu), linked by nvcc --------------------------------------------

extern __device__ int factor;
__device__ int scaled(int x);
__global__ void scale(int* data) {
  data[threadIdx.x] = scaled(static_cast<int>(threadIdx.x)) + factor;
}

// ---- a tensor map, as the driver encodes it -----------------------------------------------------

constexpr int side = 32, reach = 8;
__global__ void take_tile(const __grid_constant__ CUtensorMap map, int* out, int x, int y) {
  __shared__ alignas(128) int tile[reach * reach];
  __shared__ alignas(8) unsigned long long full;
  const auto at = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  const auto barrier = static_cast<unsigned>(__cvta_generic_to_shared(&full));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier));
    asm volatile("fence.mbarrier_init.release.cluster;");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier),
                 "r"(static_cast<unsigned>(sizeof tile)));
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3}], [%4];" ::"r"(at),
        "l"(&map), "r"(x), "r"(y), "r"(barrier)
        : "memory");
  }
  __syncthreads();
  unsigned done = 0;
  while (!done) {
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, "
        "p; }"
        : "=r"(done)
        : "r"(barrier)
        : "memory");
  }
  out[threadIdx.x] = tile[threadIdx.x];
}

namespace {

void parts() {
  int* const data = buffer();
  scale<<<1, 32>>>(data);
  int got[32] = {};
  D(cudaMemcpy(got, data, sizeof got, cudaMemcpyDeviceToHost));
  std::printf("%d %d\n", got[0], got[31]);
}

const char* user_text =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".extern .func (.param .b32 result) ten_times (.param .b32 x);\n"
    ".visible .entry ask(.param .u64 to) {\n"
    "  .reg .b64 %rd<2>;\n  .reg .b32 %r<2>;\n  .param .b32 in;\n  .param .b32 out;\n"
    "  ld.param.u64 %rd1, [to];\n"
    "  st.param.b32 [in], 7;\n"
    "  call.uni (out), ten_times, (in);\n"
    "  ld.param.b32 %r1, [out];\n"
    "  st.global.u32 [%rd1], %r1;\n  ret;\n}\n";
const char* giver_text =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .func (.param .b32 result) ten_times (.param .b32 x) {\n"
    "  .reg .b32 %r<3>;\n"
    "  ld.param.b32 %r1, [x];\n  mul.lo.u32 %r2, %r1, 10;\n"
    "  st.param.b32 [result], %r2;\n  ret;\n}\n";

void add_text(CUlinkState state, const char* text, const char* name) {
  D(cuLinkAddData(state, CU_JIT_INPUT_PTX, const_cast<char*>(text), std::strlen(text) + 1, name, 0,
                  nullptr, nullptr));
}

void linked() {
  int* const data = buffer();
  CUlinkState state = nullptr;
  D(cuLinkCreate(0, nullptr, nullptr, &state));
  D(cuLinkAddData(state, CU_JIT_INPUT_PTX, nullptr, 0, "none", 0, nullptr, nullptr));
  add_text(state, user_text, "user.ptx");
  add_text(state, giver_text, "giver.ptx");
  void* image = nullptr;
  std::size_t bytes = 0;
  D(cuLinkComplete(state, &image, &bytes));
  CUmodule module = nullptr;
  CUfunction ask = nullptr;
  D(cuModuleLoadData(&module, image));
  D(cuLinkDestroy(state));
  D(cuModuleGetFunction(&ask, module, "ask"));
  void* arguments[] = {const_cast<int**>(&data)};
  D(cuLaunchKernel(ask, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  int got = 0;
  D(cudaMemcpy(&got, data, 4, cudaMemcpyDeviceToHost));
  std::printf("%d\n", got);
}

void image(const char* file) {
  buffer();
  CUmodule module = nullptr;
  D(cuModuleLoad(&module, file));
}

void mapped() {
  int* const matrix = buffer(side * side * sizeof(int));
  int* const out = buffer();
  std::vector<int> values(side * side);
  for (int i = 0; i < side * side; ++i) values[static_cast<std::size_t>(i)] = i;
  D(cudaMemcpy(matrix, values.data(), values.size() * sizeof(int), cudaMemcpyHostToDevice));
  CUtensorMap map{};
  cuuint64_t extent[] = {side, side};
  cuuint64_t strides[] = {side * sizeof(int)}, crooked_strides[] = {side * sizeof(int) + 4};
  cuuint32_t shape[] = {reach, reach}, large[] = {reach, 512}, steps[] = {1, 1};
  const auto encode = [&](const cuuint64_t* pitch, const cuuint32_t* of, int* from) {
    return cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, from, extent, pitch, of,
                                  steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                                  CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  };
  D(encode(crooked_strides, shape, matrix));
  D(encode(strides, large, matrix));
  D(encode(strides, shape, matrix + 1));
  D(encode(strides, shape, matrix));
  take_tile<<<1, reach * reach>>>(map, out, 4, 28);  // half of it is beyond the last row
  int got[reach * reach] = {};
  D(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
  std::printf("%d %d %d %d\n", got[0], got[reach - 1], got[3 * reach], got[4 * reach]);
}

}  // namespace

int main(int count, char** words) {
  const std::string what = count > 1 ? words[1] : "";
  if (what == "parts") return parts(), 0;
  if (what == "linked") return linked(), 0;
  if (what == "image") return image(words[2]), 0;
  if (what == "mapped") return mapped(), 0;
  for (const char* const each : {"arrays", "pieces", "textures", "sampled", "driver_arrays"}) {
    if (what == each) return answers_textures_main(count, words);
  }
  for (const char* const each : {"arrays_of_layers", "layers", "cubes", "layer_surfaces"}) {
    if (what == each) return answers_layers_main(count, words);
  }
  for (const char* each :
       {"ends", "two_contexts", "texts", "pools_and_advice", "refused", "managed_variables"}) {
    if (what == each) return answers_contexts_main(count, words);
  }
  if (what.rfind("calls_of_", 0) == 0) return answers_calls_main(count, words);
  if (what.rfind("rest_", 0) == 0) return answers_rest_main(count, words);
  return answers_main(count, words);
}
