// Launch files: what each key means for the job.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "core/io/launch_file.h"
#include "core/io/npy.h"
#include "core/numeric/random.h"

namespace tilescope {
namespace {

LaunchFile parsed(const std::string& text) {
  const Outcome<LaunchFile> file = parse_launch_file(text, "run.toml");
  if (!file.ok()) {
    ADD_FAILURE() << file.error().where << " " << file.error().sentence;
    return {};
  }
  return *file;
}

Job job_of(const LaunchFile& file, const std::vector<std::vector<std::byte>>& files = {}) {
  const Outcome<Job> job = make_job(file, {"k.ptx", "text"}, files);
  if (!job.ok()) {
    ADD_FAILURE() << job.error().sentence;
    return {};
  }
  return *job;
}

const std::string launch = "grid = [4, 2, 1]\nblock = [128]\n";

std::string hex(const std::vector<std::byte>& bytes) {
  std::string out;
  for (const std::byte b : bytes) {
    out += "0123456789abcdef"[std::to_integer<int>(b) >> 4];
    out += "0123456789abcdef"[std::to_integer<int>(b) & 15];
  }
  return out;
}

TEST(LaunchFile, TheLaunchItself) {
  const LaunchFile file = parsed(
      "entry = \"mm\"\ngrid = [4, 3, 2]\nblock = [128, 2]\ncluster = [2, 1, 1]\n"
      "dynamic_smem = 131120\ncooperative = true\n");
  EXPECT_EQ(file.launch.entry, "mm");
  EXPECT_EQ(file.launch.grid, (Dim3{4, 3, 2}));
  EXPECT_EQ(file.launch.block, (Dim3{128, 2, 1}));
  EXPECT_EQ(file.launch.cluster, (Dim3{2, 1, 1}));
  EXPECT_EQ(file.launch.dynamic_shared, 131120u);
  EXPECT_TRUE(file.launch.cooperative);
  EXPECT_FALSE(parsed(launch).launch.cooperative);
  EXPECT_FALSE(parsed(launch).launch.cluster);
  EXPECT_EQ(parsed(launch).launch.entry, "");
}

TEST(LaunchFile, ABufferHoldsAddressesOfOthers) {
  const LaunchFile file = parsed(launch + R"(
[[buffer]]
name = "table"
dtype = "u64"
pointers = [{ buffer = "B", offset = 8 }, { null = true }, { buffer = "table" }]
[[buffer]]
name = "B"
dtype = "f32"
shape = [4]
zeros = true
)");
  const Job job = job_of(file);
  ASSERT_EQ(job.buffers.size(), 2u);
  EXPECT_EQ(job.buffers[0].shape, std::vector<std::int64_t>{3});
  const std::vector<Buffer::Pointer>& pointers = job.buffers[0].pointers;
  ASSERT_EQ(pointers.size(), 2u);
  EXPECT_EQ(pointers[0].at, 0u);
  EXPECT_EQ(pointers[0].buffer, 1u);
  EXPECT_EQ(pointers[0].offset, 8);
  EXPECT_EQ(pointers[1].at, 16u);
  EXPECT_EQ(pointers[1].buffer, 0u);
}

TEST(LaunchFile, AddressesStandAmongWhatAFileHolds) {
  const std::string pointers = R"(
[[buffer]]
name = "params"
dtype = "u8"
file = "params.npy"
pointers = [{ at = 8, buffer = "params", offset = 4 }]
)";
  const auto bytes_of_file = [](std::int64_t count) {
    return write_npy(
        {"", DType::u8, {count}, std::vector<std::byte>(static_cast<std::size_t>(count)), false});
  };
  const LaunchFile file = parsed(launch + pointers);
  const Job job = job_of(file, {bytes_of_file(16)});
  ASSERT_EQ(job.buffers[0].pointers.size(), 1u);
  EXPECT_EQ(job.buffers[0].pointers[0].at, 8u);
  EXPECT_EQ(job.buffers[0].pointers[0].offset, 4);
  const Outcome<Job> small = make_job(file, {}, {bytes_of_file(15)});
  ASSERT_FALSE(small);
  EXPECT_EQ(small.error().sentence,
            "[[buffer]] \"params\" has 15 bytes, so an address cannot stand at byte 8; it has 8.");
}

TEST(LaunchFile, AStructPointsIntoABuffer) {
  const LaunchFile file = parsed(launch + R"(
[[buffer]]
name = "A"
dtype = "u8"
shape = [64]
zeros = true
[[arg]]
size = 16
at = [{ offset = 8, buffer = "A", plus = 32 }]
)");
  ASSERT_EQ(file.arguments[0].addresses.size(), 1u);
  EXPECT_EQ(file.arguments[0].addresses[0].at, 8u);
  EXPECT_EQ(file.arguments[0].addresses[0].offset, 32);
}

TEST(LaunchFile, BuffersAreFilledAsTheySay) {
  const LaunchFile file = parsed(launch + R"(
[[buffer]]
name = "A"
dtype = "f32"
file = "data/a.npy"
[[buffer]]
name = "B"
dtype = "f16"
shape = [2, 3]
random = 7
[[buffer]]
name = "Z"
dtype = "u8"
shape = [5]
zeros = true
[[buffer]]
name = "C"
dtype = "f16"
shape = [2, 3]
poison = true
out = "c.npy"
expect = "ref.npy"
rtol = 1e-3
atol = 1
tile = [1, 3]
)");
  EXPECT_EQ(wanted_files(file), std::vector<std::string>{"data/a.npy"});
  Buffer a{"", DType::f32, {2, 2}, random_elements(DType::f32, 1, 0, 4), false};
  const Job job = job_of(file, {write_npy(a)});
  ASSERT_EQ(job.buffers.size(), 4u);
  EXPECT_EQ(job.program.ptx, "text");
  EXPECT_EQ(job.buffers[0].name, "A");
  EXPECT_EQ(job.buffers[0].shape, a.shape);
  EXPECT_EQ(job.buffers[0].bytes, a.bytes);
  EXPECT_EQ(job.buffers[1].bytes, random_elements(DType::f16, 7, 0, 6));
  EXPECT_EQ(job.buffers[2].bytes, std::vector<std::byte>(5));
  EXPECT_FALSE(job.buffers[2].undefined);
  EXPECT_TRUE(job.buffers[3].undefined);
  EXPECT_EQ(job.buffers[3].bytes.size(), 12u);
  EXPECT_EQ(file.buffers[3].out, "c.npy");
  EXPECT_EQ(file.buffers[3].expect, "ref.npy");
  EXPECT_EQ(file.buffers[3].rtol, 1e-3);
  EXPECT_EQ(file.buffers[3].atol, 1.0);
  EXPECT_FALSE(file.buffers[0].out);
  EXPECT_EQ(job.buffers[3].tile, (std::vector<std::int64_t>{1, 3}));
  EXPECT_TRUE(job.buffers[2].tile.empty());
}

TEST(LaunchFile, AFileOfRawBitsHasTheBuffersType) {
  const LaunchFile file = parsed(
      launch + "[[buffer]]\nname = \"A\"\ndtype = \"bf16\"\nshape = [2]\nfile = \"a.npy\"\n");
  Buffer bits{"", DType::u16, {2}, random_elements(DType::bf16, 1, 0, 2), false};
  EXPECT_EQ(job_of(file, {write_npy(bits)}).buffers[0].dtype, DType::bf16);
}

TEST(LaunchFile, ScalarArgumentsAreTheirBytes) {
  struct Case {
    const char *toml, *bytes;
  };
  for (const Case c :
       {Case{"u8 = 255", "ff"}, Case{"i8 = -1", "ff"}, Case{"u16 = 258", "0201"},
        Case{"i16 = -2", "feff"}, Case{"u32 = 4294967295", "ffffffff"},
        Case{"i32 = 256", "00010000"}, Case{"i64 = -1", "ffffffffffffffff"},
        Case{"u64 = 9223372036854775807", "ffffffffffffff7f"}, Case{"f16 = 1", "003c"},
        Case{"bf16 = 1.0", "803f"}, Case{"f32 = -2.5", "000020c0"}, Case{"f32 = inf", "0000807f"},
        Case{"f64 = 1", "000000000000f03f"}, Case{"null = true", "0000000000000000"},
        Case{"bytes = \"00fFa1\"", "00ffa1"}}) {
    const LaunchFile file = parsed(launch + "[[arg]]\n" + c.toml + "\n");
    ASSERT_EQ(file.arguments.size(), 1u) << c.toml;
    EXPECT_EQ(hex(file.arguments[0].bytes), c.bytes) << c.toml;
    EXPECT_TRUE(file.arguments[0].addresses.empty()) << c.toml;
  }
}

const std::string two_buffers =
    "[[buffer]]\nname = \"A\"\ndtype = \"f32\"\nshape = [4]\nzeros = true\n"
    "[[buffer]]\nname = \"B\"\ndtype = \"f32\"\nshape = [4]\nzeros = true\n";

TEST(LaunchFile, PointersNameABufferAndAnOffset) {
  const LaunchFile file = parsed(launch + "[[arg]]\nbuffer = \"B\"\noffset = 8\n" + two_buffers +
                                 "[[arg]]\nbuffer = \"A\"\n");
  ASSERT_EQ(file.arguments.size(), 2u);
  EXPECT_EQ(file.arguments[0].bytes.size(), 8u);
  EXPECT_EQ(file.arguments[0].addresses.at(0).buffer, 1u);
  EXPECT_EQ(file.arguments[0].addresses.at(0).offset, 8);
  EXPECT_EQ(file.arguments[1].addresses.at(0).buffer, 0u);
}

TEST(LaunchFile, StructsPlaceTheirParts) {
  const LaunchFile file = parsed(launch + two_buffers + R"(
[[arg]]
size = 24
at = [{ offset = 8, buffer = "B" }, { offset = 0, i32 = 258 }, { offset = 22, u16 = 65535 }]
)");
  ASSERT_EQ(file.arguments.size(), 1u);
  EXPECT_EQ(hex(file.arguments[0].bytes), "02010000000000000000000000000000000000000000ffff");
  ASSERT_EQ(file.arguments[0].addresses.size(), 1u);
  EXPECT_EQ(file.arguments[0].addresses[0].at, 8u);
  EXPECT_EQ(file.arguments[0].addresses[0].buffer, 1u);
}

TEST(LaunchFile, TensorMapsStandAloneOrInStructs) {
  const LaunchFile file = parsed(launch + two_buffers + R"(
[[arg]]
tensormap = { buffer = "B", box = [4] }
[[arg]]
size = 512
at = [{ offset = 0, buffer = "A" }, { offset = 128, tensormap = { buffer = "A", offset = 16, dtype = "u16", dims = [8, 4], strides = [0], box = [8, 2], element_strides = [1, 2], swizzle = "32B", oob = "zero", interleave = "none" } }]
[[arg]]
tensormap = { buffer = "B", box = [4], oob = "nan", size = 256 }
[[arg]]
tensormap = { buffer = "B", box = [4], dtype = "tf32" }
)");
  ASSERT_EQ(file.arguments.size(), 4u);
  EXPECT_EQ(file.arguments[0].bytes.size(), 128u);
  EXPECT_EQ(file.arguments[0].maps.at(0).at, 0u);
  EXPECT_EQ(file.arguments[0].maps[0].map.buffer, 1u);
  EXPECT_EQ(file.arguments[1].bytes.size(), 512u);
  ASSERT_EQ(file.arguments[1].maps.size(), 1u);
  EXPECT_EQ(file.arguments[1].maps[0].at, 128u);
  const TensorMap& map = file.arguments[1].maps[0].map;
  EXPECT_EQ(map.offset, 16);
  EXPECT_EQ(map.dtype, DType::u16);
  EXPECT_EQ(map.dims, (std::vector<std::uint64_t>{8, 4}));
  EXPECT_EQ(map.strides, (std::vector<std::uint64_t>{0}));
  EXPECT_EQ(map.box, (std::vector<std::uint32_t>{8, 2}));
  EXPECT_EQ(map.element_strides, (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(map.swizzle, MapSwizzle::bytes32);
  EXPECT_EQ(file.arguments[2].bytes.size(), 256u);
  EXPECT_TRUE(file.arguments[2].maps[0].map.nan_fill);
  EXPECT_EQ(file.arguments[2].maps[0].map.floats, MapFloat::f32);
  EXPECT_EQ(file.arguments[3].maps[0].map.floats, MapFloat::tf32);
}

// W, H, slices and N: of a buffer's shape without the channels of a slice.
TEST(LaunchFile, AnInterleavedMapCountsSlices) {
  const LaunchFile file = parsed(launch + two_buffers + R"(
[[arg]]
tensormap = { buffer = "A", box = [8, 1, 1, 1], interleave = "16B" }
[[arg]]
tensormap = { buffer = "A", dims = [64, 6, 5, 2], lower = [-1], upper = [1], channels = 64, wide = "w128", swizzle = "128B" }
)");
  ASSERT_EQ(file.arguments.size(), 2u);
  const Buffer buffer{"A", DType::f16, {2, 3, 5, 10, 8}, {}, false};
  const Outcome<MapFields> fields = complete(file.arguments[0].maps.at(0).map, buffer, 4096);
  ASSERT_TRUE(fields.ok()) << fields.error().sentence;
  EXPECT_EQ(fields->dims, (std::array<std::uint64_t, 5>{10, 5, 3, 2, 0}));
  EXPECT_EQ(fields->strides, (std::array<std::uint64_t, 5>{2, 160, 800, 2400, 0}));
  const Buffer other{"A", DType::f16, {2, 3, 5, 10, 4}, {}, false};
  EXPECT_FALSE(complete(file.arguments[0].maps.at(0).map, other, 4096).ok());
  const Outcome<MapFields> wide = complete(file.arguments[1].maps.at(0).map, buffer, 4096);
  ASSERT_TRUE(wide.ok()) << wide.error().sentence;
  EXPECT_EQ(wide->pixels->wide, MapWide::w128);
}

TEST(LaunchFile, TexturesAndSurfacesAreHandles) {
  const LaunchFile file = parsed(launch + two_buffers + R"(
[[arg]]
texture = { buffer = "B", width = 8, height = 4, filter = "linear", address = "mirror", normalized = true, format = "u8x4", read = "normalized" }
[[arg]]
size = 16
at = [{ offset = 8, surface = { buffer = "A", width = 8, format = "s16x2", pitch = 64 } }]
)");
  ASSERT_EQ(file.arguments.size(), 2u);
  EXPECT_EQ(file.arguments[0].bytes.size(), 8u);
  const Texture& t = file.arguments[0].handles.at(0).texture;
  EXPECT_EQ(t.buffer, 1u);
  EXPECT_TRUE(t.linear && t.normalized && t.as_float && !t.surface);
  EXPECT_EQ(t.address[2], TextureAddress::mirror);
  EXPECT_EQ(t.texel_bytes(), 4u);
  EXPECT_EQ(t.bytes(), 128u);
  EXPECT_FALSE(objection(t, 128).has_value());
  EXPECT_TRUE(objection(t, 127).has_value());
  const Argument::Handle& h = file.arguments[1].handles.at(0);
  EXPECT_EQ(h.at, 8u);
  EXPECT_TRUE(h.texture.surface);
  EXPECT_EQ(h.texture.row_bytes(), 64u);
}

TEST(LaunchFile, ATextureHasAModeForEachDimensionAndABorderForEachComponent) {
  const LaunchFile file = parsed(launch + two_buffers + R"(
[[arg]]
texture = { buffer = "B", width = 4, height = 4, address = ["wrap", "border"], normalized = true, border = [1.5, 2] }
[[arg]]
texture = { buffer = "B", width = 4, format = "u32x1", address = "border", border = 7 }
)");
  const Texture& t = file.arguments[0].handles.at(0).texture;
  EXPECT_EQ(t.address,
            (std::array{TextureAddress::wrap, TextureAddress::border, TextureAddress::border}));
  EXPECT_EQ(t.border, (std::array{1.5f, 2.0f, 0.0f, 0.0f}));
  // Of integers it has the bits.
  const Texture& whole = file.arguments[1].handles.at(0).texture;
  std::uint32_t bits = 0;
  std::memcpy(&bits, &whole.border[3], sizeof bits);
  EXPECT_EQ(bits, 7u);
}

// For im2col corners and pixels stand in place of the box.
TEST(LaunchFile, AMapForIm2colHasCorners) {
  const LaunchFile file = parsed(launch + two_buffers + R"(
[[arg]]
tensormap = { buffer = "A", dims = [8, 6, 5, 2], strides = [16, 96, 480], lower = [-1, -2], upper = [1, 0], channels = 8, pixels = 32 }
)");
  ASSERT_EQ(file.arguments.size(), 1u);
  const Buffer buffer{"A", DType::f16, {480}, {}, false};
  const Outcome<MapFields> fields = complete(file.arguments[0].maps.at(0).map, buffer, 4096);
  ASSERT_TRUE(fields.ok()) << fields.error().sentence;
  ASSERT_TRUE(fields->pixels);
  EXPECT_EQ(fields->pixels->lower, (std::array<std::int32_t, 3>{-1, -2, 0}));
  EXPECT_EQ(fields->pixels->upper, (std::array<std::int32_t, 3>{1, 0, 0}));
  EXPECT_EQ(fields->pixels->channels, 8u);
  EXPECT_EQ(fields->pixels->column, 32u);
}

// What cuTensorMapEncodeIm2col does not take (CUDA Driver API).
TEST(LaunchFile, AMapForIm2colHasLimits) {
  const Buffer buffer{"A", DType::f16, {2, 5, 6, 8}, {}, false};
  TensorMap good;
  good.lower = {-1, -1};
  good.upper = {-1, -1};
  good.channels = 8;
  good.pixels = 1024;
  const auto sentence = [&](auto change) {
    TensorMap map = good;
    change(map);
    const Outcome<MapFields> fields = complete(map, buffer, 4096);
    return fields.ok() ? std::string("accepted") : fields.error().sentence;
  };
  EXPECT_EQ(sentence([](TensorMap&) {}), "accepted");
  const std::string no = "A tensor map over buffer A is not possible: ";
  EXPECT_EQ(sentence([](TensorMap& m) { m.pixels = 1025; }),
            no + "a column has 1025 pixels; from 1 to 1024 would work.");
  EXPECT_EQ(sentence([](TensorMap& m) { m.channels = 264; }),
            no + "a pixel has 264 channels; from 1 to 256 would work.");
  EXPECT_EQ(sentence([](TensorMap& m) { m.channels = 4; }),
            no + "a pixel has 8 bytes (4 elements of f16); a multiple of 16 would work.");
  EXPECT_EQ(sentence([](TensorMap& m) { m.upper[1] = 128; }),
            no + "a corner of dimension 2 is 128; from -128 to 127 would work.");
  EXPECT_EQ(sentence([](TensorMap& m) { m.upper[0] = -7; }),
            no + "the corners of dimension 1 leave nothing of its 6 elements: from -1 to -2.");
  EXPECT_EQ(sentence([](TensorMap& m) { m.lower = {-1}; }),
            no + "its corners [-1] and [-1, -1] have 1 and 2 numbers, but the tensor [8, 6, 5, 2] "
                 "has 2 dimensions between channels and images.");
}

// What the file leaves out, the buffer says: its shape innermost first, packed.
TEST(LaunchFile, ATensorMapTakesTheBuffersShape) {
  const Buffer buffer{"A", DType::f16, {3, 5, 16}, {}, false};
  TensorMap map;
  map.box = {8, 2, 1};
  const Outcome<MapFields> fields = complete(map, buffer, 4096);
  ASSERT_TRUE(fields.ok());
  EXPECT_EQ(fields->rank, 3u);
  EXPECT_EQ(fields->dims, (std::array<std::uint64_t, 5>{16, 5, 3, 0, 0}));
  EXPECT_EQ(fields->strides, (std::array<std::uint64_t, 5>{2, 32, 160, 0, 0}));
  EXPECT_EQ(fields->address, 4096u);
  map.box = {8, 2};
  EXPECT_NE(complete(map, buffer, 0)
                .error()
                .sentence.find("its box [8, 2] has 2 numbers, but the tensor [16, 5, 3] has 3"),
            std::string::npos);
}

}  // namespace
}  // namespace tilescope
