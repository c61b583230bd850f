// Arrays, textures and surfaces, as a program asks the driver for them; what answers are right,
// answers_textures.cu has from a chip.
#include <map>

#include "tests/exec/standin.h"

namespace tilescope {
namespace {

constexpr unsigned floats = 0x20, bytes_unsigned = 0x01;  // CUarray_format
constexpr unsigned wrap = 0, clamp = 1, normalized = 2;   // CUaddress_mode; CU_TRSF_...

// One block of a thread for each element of a row of `to`; a row for each block.
constexpr const char* kernels = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry sample(.param .u64 handle, .param .u64 to, .param .f32 x0, .param .f32 y0) {
  .reg .b32 %r<6>;
  .reg .f32 %f<8>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [handle];
  ld.param.u64 %rd2, [to];
  ld.param.f32 %f1, [x0];
  ld.param.f32 %f2, [y0];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  cvt.rn.f32.u32 %f3, %r1;
  cvt.rn.f32.u32 %f4, %r2;
  add.f32 %f3, %f3, %f1;
  add.f32 %f4, %f4, %f2;
  tex.2d.v4.f32.f32 {%f5, %f6, %f7, %f1}, [%rd1, {%f3, %f4}];
  mad.lo.u32 %r4, %r2, %r3, %r1;
  mul.wide.u32 %rd3, %r4, 4;
  add.u64 %rd4, %rd2, %rd3;
  st.global.f32 [%rd4], %f5;
  ret;
}
.visible .entry fetch(.param .u64 handle, .param .u64 to, .param .u32 first) {
  .reg .b32 %r<4>;
  .reg .f32 %f<5>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [handle];
  ld.param.u64 %rd2, [to];
  ld.param.u32 %r1, [first];
  mov.u32 %r2, %tid.x;
  add.u32 %r1, %r1, %r2;
  tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1}];
  mul.wide.u32 %rd3, %r2, 4;
  add.u64 %rd4, %rd2, %rd3;
  st.global.f32 [%rd4], %f1;
  ret;
}
.visible .entry number(.param .u64 handle, .param .u32 value) {
  .reg .b32 %r<6>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [handle];
  ld.param.u32 %r1, [value];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mad.lo.u32 %r5, %r3, %r4, %r2;
  add.u32 %r5, %r5, %r1;
  cvt.rn.f32.u32 %r5, %r5;
  shl.b32 %r2, %r2, 2;
  sust.b.2d.b32.trap [%rd1, {%r2, %r3}], %r5;
  ret;
}
)";

class Textures : public StandIn {
 protected:
  void begin() {
    StandIn::begin();
    CUmodule module = nullptr;
    ASSERT_EQ(call("cuModuleLoadData", &module, static_cast<const void*>(kernels)), CUDA_SUCCESS);
    for (auto& [name, function] : functions_) {
      ASSERT_EQ(call("cuModuleGetFunction", &function, module, name), CUDA_SUCCESS) << name;
    }
  }
  CUarray array(std::size_t width, std::size_t height, std::size_t depth = 0,
                unsigned format = floats) {
    CUarray out = nullptr;
    const CUDA_ARRAY3D_DESCRIPTOR how{width, height, depth, format, 1, 2};
    EXPECT_EQ(call("cuArray3DCreate_v2", &out, &how), CUDA_SUCCESS);
    return out;
  }
  // Rows of floats from the host.
  CUresult fill(CUarray to, const float* from, std::size_t width, std::size_t height,
                std::size_t x = 0, std::size_t y = 0) {
    CUDA_MEMCPY2D how{};
    how.srcMemoryType = memory_host, how.srcHost = from;
    how.dstMemoryType = memory_array, how.dstArray = to, how.dstXInBytes = x * 4, how.dstY = y;
    how.WidthInBytes = width * 4, how.Height = height;
    return call("cuMemcpy2D_v2", static_cast<const CUDA_MEMCPY2D*>(&how));
  }
  CUtexObject texture(const CUDA_RESOURCE_DESC& of, unsigned mode = clamp, unsigned filter = 0,
                      unsigned flags = 0, CUresult wanted = CUDA_SUCCESS) {
    CUtexObject out = 0;
    CUDA_TEXTURE_DESC how{};
    for (unsigned& each : how.modes) each = mode;
    how.filter = filter, how.flags = flags;
    EXPECT_EQ(call("cuTexObjectCreate", &out, &of, static_cast<const CUDA_TEXTURE_DESC*>(&how),
                   static_cast<const CUDA_RESOURCE_VIEW_DESC*>(nullptr)),
              wanted);
    return out;
  }
  static CUDA_RESOURCE_DESC of(CUarray array) {
    CUDA_RESOURCE_DESC out{};
    out.type = resource_array, out.array = array;
    return out;
  }
  static CUDA_RESOURCE_DESC of(CUdeviceptr memory, std::size_t bytes) {
    CUDA_RESOURCE_DESC out{};
    out.type = resource_linear, out.linear = {memory, floats, 1, bytes};
    return out;
  }
  template <class... T>
  CUresult run(const char* name, unsigned blocks, unsigned threads, CUstream stream, T... values) {
    void* each[] = {&values...};
    return call("cuLaunchKernel", functions_.at(name), blocks, 1u, 1u, threads, 1u, 1u, 0u, stream,
                static_cast<void**>(each), static_cast<void**>(nullptr));
  }
  CUdeviceptr room(std::size_t bytes) {
    CUdeviceptr out = 0;
    EXPECT_EQ(call("cuMemAlloc_v2", &out, bytes), CUDA_SUCCESS);
    return out;
  }
  std::vector<float> floats_at(CUdeviceptr from, std::size_t count) {
    std::vector<float> out(count, -1);
    EXPECT_EQ(call("cuMemcpyDtoH_v2", static_cast<void*>(out.data()), from, count * 4),
              CUDA_SUCCESS);
    return out;
  }
  static std::vector<float> counted(std::size_t count) {
    std::vector<float> out(count);
    for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<float>(i * i % 31);
    return out;
  }
  // What was found, of the last fault.
  const std::string& sentence() { return device().reports().back().sentence; }
  // A launch that samples by this handle ends in a fault, of which these words are a part.
  void is_refused(std::uint64_t handle, const char* words) {
    EXPECT_EQ(run("sample", 1, 1, nullptr, handle, room(4), 0.f, 0.f), CUDA_SUCCESS);
    EXPECT_NE(call("cuCtxSynchronize"), CUDA_SUCCESS);
    EXPECT_NE(sentence().find(words), std::string::npos) << sentence();
  }

  std::map<const char*, CUfunction> functions_{
      {"sample", nullptr}, {"fetch", nullptr}, {"number", nullptr}};
};

TEST_F(Textures, AKernelReadsAnArrayThroughATexture) {
  begin();
  const std::vector<float> image = counted(8 * 4);
  const CUarray array = this->array(8, 4);
  ASSERT_EQ(fill(array, image.data(), 8, 4), CUDA_SUCCESS);
  const CUtexObject plain = texture(of(array)), smooth = texture(of(array), clamp, 1);
  const CUdeviceptr to = room(32 * 4);
  ASSERT_EQ(run("sample", 4, 8, nullptr, plain, to, 0.5f, 0.5f), CUDA_SUCCESS);
  EXPECT_EQ(floats_at(to, 32), image);
  // In the middle of four elements is their mean.
  ASSERT_EQ(run("sample", 4, 8, nullptr, smooth, to, 1.0f, 1.0f), CUDA_SUCCESS);
  const std::vector<float> got = floats_at(to, 32);
  for (std::size_t y = 0; y < 4; ++y) {
    for (std::size_t x = 0; x < 8; ++x) {
      const std::size_t right = std::min<std::size_t>(x + 1, 7),
                        below = std::min<std::size_t>(y + 1, 3);
      const float mean = (image[y * 8 + x] + image[y * 8 + right] + image[below * 8 + x] +
                          image[below * 8 + right]) /
                         4;
      EXPECT_EQ(got[y * 8 + x], mean) << x << ", " << y;
    }
  }
  EXPECT_FALSE(device().faulted());
  EXPECT_TRUE(device().reports().empty());
}

TEST_F(Textures, ModesAreOfEachDimension) {
  begin();
  const std::vector<float> image = counted(8 * 4);
  const CUarray array = this->array(8, 4);
  ASSERT_EQ(fill(array, image.data(), 8, 4), CUDA_SUCCESS);
  CUDA_TEXTURE_DESC how{};
  how.modes[0] = wrap, how.modes[1] = clamp, how.flags = normalized;
  CUtexObject handle = 0;
  const CUDA_RESOURCE_DESC what = of(array);
  ASSERT_EQ(call("cuTexObjectCreate", &handle, &what, static_cast<const CUDA_TEXTURE_DESC*>(&how),
                 static_cast<const CUDA_RESOURCE_VIEW_DESC*>(nullptr)),
            CUDA_SUCCESS);
  const CUdeviceptr to = room(2 * 4);
  // The blocks lie a whole texture below each other: the second is clamped to the last row.
  ASSERT_EQ(run("sample", 2, 1, nullptr, handle, to, 1.0f + 3.5f / 8, 0.25f), CUDA_SUCCESS);
  EXPECT_EQ(floats_at(to, 2), (std::vector<float>{image[8 + 3], image[24 + 3]}));
}

TEST_F(Textures, LinearMemoryIsZeroOutside) {
  begin();
  const CUdeviceptr memory = room(1024);
  const std::vector<float> values = counted(256);
  ASSERT_EQ(
      call("cuMemcpyHtoD_v2", memory, static_cast<const void*>(values.data()), std::size_t{1024}),
      CUDA_SUCCESS);
  const CUtexObject handle = texture(of(memory, 32), wrap);
  const CUdeviceptr to = room(12 * 4);
  ASSERT_EQ(run("fetch", 1, 12, nullptr, handle, to, -2), CUDA_SUCCESS);
  const std::vector<float> got = floats_at(to, 12);
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(got[i], i < 2 || i >= 10 ? 0 : values[i - 2]) << i;
  }
  EXPECT_FALSE(device().faulted());
}

TEST_F(Textures, ASurfaceIsWrittenAndItsArrayRead) {
  begin();
  const CUarray array = this->array(8, 4);
  CUsurfObject surface = 0;
  const CUDA_RESOURCE_DESC what = of(array);
  ASSERT_EQ(call("cuSurfObjectCreate", &surface, &what), CUDA_SUCCESS);
  ASSERT_EQ(run("number", 4, 8, nullptr, surface, 100u), CUDA_SUCCESS);
  float rows[2][6] = {};
  CUDA_MEMCPY3D how{};
  how.srcMemoryType = memory_array, how.srcArray = array, how.srcXInBytes = 8, how.srcY = 1;
  how.dstMemoryType = memory_host, how.dstHost = rows;
  how.WidthInBytes = sizeof rows[0], how.Height = 2, how.Depth = 1;
  ASSERT_EQ(call("cuMemcpy3D_v2", static_cast<const CUDA_MEMCPY3D*>(&how)), CUDA_SUCCESS);
  EXPECT_EQ(rows[0][0], 110);
  EXPECT_EQ(rows[1][5], 123);
  how.Height = 4;
  EXPECT_EQ(call("cuMemcpy3D_v2", static_cast<const CUDA_MEMCPY3D*>(&how)),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_FALSE(device().faulted());
  // One row too many.
  EXPECT_EQ(run("number", 5, 8, nullptr, surface, 0u), CUDA_SUCCESS);
  EXPECT_EQ(call("cuCtxSynchronize"), static_cast<CUresult>(700));
  EXPECT_NE(sentence().find("the surface is accessed at 4 along dimension 1"), std::string::npos)
      << sentence();
}

TEST_F(Textures, ArraysAreCopiedToEachOtherAndToMemory) {
  begin();
  const std::vector<float> image = counted(4 * 3 * 2);
  const CUarray box = array(4, 3, 2), line = array(16, 0);
  CUDA_MEMCPY3D how{};
  how.srcMemoryType = memory_host, how.srcHost = image.data(), how.srcHeight = 3;
  how.dstMemoryType = memory_array, how.dstArray = box;
  how.WidthInBytes = 16, how.Height = 3, how.Depth = 2;
  ASSERT_EQ(call("cuMemcpy3D_v2", static_cast<const CUDA_MEMCPY3D*>(&how)), CUDA_SUCCESS);
  const CUdeviceptr memory = room(1024);
  ASSERT_EQ(call("cuMemcpyAtoD_v2", memory, box, std::size_t{4}, std::size_t{12}), CUDA_SUCCESS);
  ASSERT_EQ(call("cuMemcpyDtoA_v2", line, std::size_t{16}, memory, std::size_t{12}), CUDA_SUCCESS);
  ASSERT_EQ(call("cuMemcpyAtoA_v2", line, std::size_t{0}, line, std::size_t{16}, std::size_t{12}),
            CUDA_SUCCESS);
  float back[3] = {};
  ASSERT_EQ(
      call("cuMemcpyAtoH_v2", static_cast<void*>(back), line, std::size_t{0}, std::size_t{12}),
      CUDA_SUCCESS);
  EXPECT_EQ(back[0], image[1]);
  EXPECT_EQ(back[2], image[3]);
  // An array gives back its first row alone so.
  EXPECT_EQ(call("cuMemcpyAtoH_v2", static_cast<void*>(back), box, std::size_t{8}, std::size_t{12}),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(call("cuMemcpyHtoA_v2", line, std::size_t{0}, static_cast<const void*>(nullptr),
                 std::size_t{12}),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(call("cuArrayDestroy", line), CUDA_SUCCESS);
  EXPECT_EQ(call("cuArrayDestroy", line), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(call("cuMemcpyAtoH_v2", static_cast<void*>(back), line, std::size_t{0}, std::size_t{4}),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Textures, AGraphCopiesArrays) {
  begin();
  std::vector<float> values = counted(8);
  const CUarray array = this->array(8, 0);
  CUstream stream = nullptr;
  ASSERT_EQ(call("cuStreamCreate", &stream, 1u), CUDA_SUCCESS);
  ASSERT_EQ(call("cuStreamBeginCapture_v2", stream, 0), CUDA_SUCCESS);
  ASSERT_EQ(call("cuMemcpyHtoAAsync_v2", array, std::size_t{0},
                 static_cast<const void*>(values.data()), std::size_t{32}, stream),
            CUDA_SUCCESS);
  CUgraph graph = nullptr;
  ASSERT_EQ(call("cuStreamEndCapture", stream, &graph), CUDA_SUCCESS);
  struct CUgraphExec_st* exec = nullptr;
  ASSERT_EQ(call("cuGraphInstantiateWithFlags", &exec, graph, 0ull), CUDA_SUCCESS);
  values[3] = 99;
  ASSERT_EQ(call("cuGraphLaunch", exec, stream), CUDA_SUCCESS);
  ASSERT_EQ(call("cuStreamSynchronize", stream), CUDA_SUCCESS);
  float back[8] = {};
  ASSERT_EQ(
      call("cuMemcpyAtoH_v2", static_cast<void*>(back), array, std::size_t{0}, std::size_t{32}),
      CUDA_SUCCESS);
  EXPECT_EQ(back[3], 99);
}

TEST_F(Textures, DescriptionsAreThoseThatWereGiven) {
  begin();
  const CUarray array = this->array(8, 4, 0, bytes_unsigned);
  const CUtexObject handle = texture(of(array), wrap, 1, normalized);
  CUDA_RESOURCE_DESC what{};
  CUDA_TEXTURE_DESC how{};
  ASSERT_EQ(call("cuTexObjectGetResourceDesc", &what, handle), CUDA_SUCCESS);
  ASSERT_EQ(call("cuTexObjectGetTextureDesc", &how, handle), CUDA_SUCCESS);
  EXPECT_EQ(what.type, resource_array);
  EXPECT_EQ(what.array, array);
  EXPECT_EQ(how.flags, normalized);
  EXPECT_EQ(how.filter, 1u);
  CUDA_ARRAY3D_DESCRIPTOR about{};
  ASSERT_EQ(call("cuArray3DGetDescriptor_v2", &about, array), CUDA_SUCCESS);
  EXPECT_EQ(about.Width, 8u);
  EXPECT_EQ(about.Depth, 0u);
  EXPECT_EQ(about.Format, bytes_unsigned);
  EXPECT_EQ(call("cuSurfObjectGetResourceDesc", &what, handle), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(call("cuTexObjectDestroy", handle), CUDA_SUCCESS);
  EXPECT_EQ(call("cuTexObjectGetTextureDesc", &how, handle), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Textures, WhatIsNotThereIsSaid) {
  begin();
  CUarray array = nullptr;
  CUDA_ARRAY3D_DESCRIPTOR depths{8, 4, 0, floats, 1, 0x10};
  EXPECT_EQ(call("cuArray3DCreate_v2", &array, &depths), CUDA_ERROR_NOT_SUPPORTED);
  CUDA_ARRAY3D_DESCRIPTOR blocks{8, 4, 0, 0x91, 1, 0};
  EXPECT_EQ(call("cuArray3DCreate_v2", &array, &blocks), CUDA_ERROR_NOT_SUPPORTED);
  CUDA_ARRAY3D_DESCRIPTOR vast{16384, 16384, 16384, floats, 4, 0};
  EXPECT_EQ(call("cuArray3DCreate_v2", &array, &vast), CUDA_ERROR_OUT_OF_MEMORY);
  CUDA_RESOURCE_DESC levels{};
  levels.type = resource_mipmapped_array;
  texture(levels, clamp, 0, 0, CUDA_ERROR_NOT_SUPPORTED);
  texture(of(this->array(8, 4)), clamp, 0, 0x10, CUDA_ERROR_NOT_SUPPORTED);  // sRGB
  texture(of(this->array(8, 4)), clamp, 0, 0x40, CUDA_ERROR_NOT_SUPPORTED);  // over a cube's edges
}

// As an H200's driver takes them and refuses them (answers_layers.cu); what is read of them needs
// nvcc.
TEST_F(Textures, LayersAndCubesHaveTheirShapes) {
  begin();
  constexpr unsigned layered = 1, cube = 4;
  CUarray made = nullptr;
  const auto create = [&](std::size_t width, std::size_t height, std::size_t depth,
                          unsigned flags) {
    const CUDA_ARRAY3D_DESCRIPTOR how{width, height, depth, floats, 1, flags};
    return call("cuArray3DCreate_v2", &made, &how);
  };
  EXPECT_EQ(create(8, 0, 0, layered), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(create(8, 4, 0, layered), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(create(8, 0, 2049, layered), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(create(32769, 0, 1, layered), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(create(8, 0, 3, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(create(8, 4, 6, cube), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(create(8, 8, 5, cube), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(create(8, 8, 12, cube), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(create(8, 8, 13, cube | layered), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(create(8, 8, 6, cube), CUDA_SUCCESS);
  EXPECT_EQ(create(8, 8, 12, cube | layered), CUDA_SUCCESS);
  EXPECT_EQ(create(8, 0, 3, layered), CUDA_SUCCESS);
  CUDA_ARRAY3D_DESCRIPTOR got{};
  EXPECT_EQ(call("cuArray3DGetDescriptor_v2", &got, made), CUDA_SUCCESS);
  EXPECT_EQ(got.Width, 8u);
  EXPECT_EQ(got.Height, 0u);
  EXPECT_EQ(got.Depth, 3u);
  EXPECT_EQ(got.Flags, layered);
  // tex.1d is for one row, not for layers of them.
  is_refused(texture(of(made)), "but the launch gives layers of 1 dimension");
}

// A handle that is none ends the launch as a launch file's does.
TEST_F(Textures, AHandleThatWasDestroyedIsAFault) {
  begin();
  const CUarray array = this->array(8, 4);
  const CUtexObject handle = texture(of(array));
  ASSERT_EQ(call("cuTexObjectDestroy", handle), CUDA_SUCCESS);
  is_refused(handle, "has been destroyed");
  EXPECT_EQ(device().reports().back().kind, "bad_descriptor");
}

TEST_F(Textures, AnArrayThatWasDestroyedIsAFault) {
  begin();
  const CUarray array = this->array(8, 4);
  const CUtexObject handle = texture(of(array));
  ASSERT_EQ(call("cuArrayDestroy", array), CUDA_SUCCESS);
  is_refused(handle, "has been released");
}

TEST_F(Textures, ASurfaceIsNoTexture) {
  begin();
  const CUarray array = this->array(8, 4);
  CUsurfObject surface = 0;
  const CUDA_RESOURCE_DESC what = of(array);
  ASSERT_EQ(call("cuSurfObjectCreate", &surface, &what), CUDA_SUCCESS);
  is_refused(surface, "is a surface, and no texture");
}

// The driver takes what is larger than the memory; who reads there is told.
TEST_F(Textures, ATextureLargerThanItsMemoryIsAFaultWhereItIsRead) {
  begin();
  const CUdeviceptr memory = room(1024), to = room(4);
  ASSERT_EQ(call("cuMemsetD32_v2", memory, 0u, std::size_t{256}), CUDA_SUCCESS);
  const CUtexObject handle = texture(of(memory, 1 << 20));
  ASSERT_EQ(run("fetch", 1, 1, nullptr, handle, to, 255), CUDA_SUCCESS);
  EXPECT_EQ(call("cuCtxSynchronize"), CUDA_SUCCESS);
  ASSERT_EQ(run("fetch", 1, 1, nullptr, handle, to, 256), CUDA_SUCCESS);
  EXPECT_EQ(call("cuCtxSynchronize"), static_cast<CUresult>(700));
  EXPECT_EQ(device().reports().back().kind, "out_of_bounds");
}

// What nobody has written stays undefined on its way through a texture.
TEST_F(Textures, WhatNobodyHasWrittenIsToldWhereTheHostGetsIt) {
  begin();
  const std::vector<float> image = counted(8);
  const CUarray array = this->array(8, 2);
  ASSERT_EQ(fill(array, image.data(), 8, 1), CUDA_SUCCESS);
  const CUtexObject handle = texture(of(array));
  const CUdeviceptr to = room(16 * 4);
  ASSERT_EQ(run("sample", 1, 8, nullptr, handle, to, 0.f, 0.f), CUDA_SUCCESS);
  floats_at(to, 8);
  EXPECT_EQ(told("undefined_copied"), 0u);
  ASSERT_EQ(run("sample", 2, 8, nullptr, handle, to, 0.f, 0.f), CUDA_SUCCESS);
  floats_at(to, 16);
  EXPECT_EQ(told("undefined_copied"), 1u);
}

TEST_F(Textures, StreamsInNoOrderThatShareAnArrayAreAHazard) {
  begin();
  CUstream a = nullptr, b = nullptr;
  ASSERT_EQ(call("cuStreamCreate", &a, 1u), CUDA_SUCCESS);
  ASSERT_EQ(call("cuStreamCreate", &b, 1u), CUDA_SUCCESS);
  const CUarray array = this->array(8, 4);
  const std::vector<float> image = counted(32);
  ASSERT_EQ(fill(array, image.data(), 8, 4), CUDA_SUCCESS);
  const CUtexObject handle = texture(of(array));
  CUsurfObject surface = 0;
  const CUDA_RESOURCE_DESC what = of(array);
  ASSERT_EQ(call("cuSurfObjectCreate", &surface, &what), CUDA_SUCCESS);
  const CUdeviceptr to = room(32 * 4);
  ASSERT_EQ(run("sample", 4, 8, a, handle, to, 0.f, 0.f), CUDA_SUCCESS);
  ASSERT_EQ(run("sample", 4, 8, b, handle, room(32 * 4), 0.f, 0.f), CUDA_SUCCESS);
  EXPECT_EQ(told("stream_race"), 0u) << "both read";
  ASSERT_EQ(run("number", 4, 8, b, surface, 1u), CUDA_SUCCESS);
  EXPECT_EQ(told("stream_race"), 1u);
  ASSERT_EQ(call("cuStreamSynchronize", b), CUDA_SUCCESS);
  ASSERT_EQ(run("sample", 4, 8, a, handle, to, 0.f, 0.f), CUDA_SUCCESS);
  EXPECT_EQ(device().reports().size(), 1u) << "the host has waited in between";
}

}  // namespace
}  // namespace tilescope
