// Broken launch files: each mistake gets a sentence and the line and column where it stands.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/io/launch_file.h"
#include "core/io/npy.h"

namespace tilescope {
namespace {

const std::string launch = "grid = [4]\nblock = [128]\n";  // two lines
const std::string buffer_a =
    "[[buffer]]\nname = \"A\"\ndtype = \"f32\"\nshape = [4]\nzeros = true\n";

// "line:column sentence"
std::string said(const std::string& text) {
  const Outcome<LaunchFile> file = parse_launch_file(text, "run.toml");
  if (file.ok()) return "accepted";
  const std::string& where = file.error().where;
  EXPECT_EQ(where.substr(0, 9), "run.toml:");
  return where.substr(std::min<std::size_t>(9, where.size())) + " " + file.error().sentence;
}

TEST(BrokenLaunch, TheGoodFilesAreAccepted) {
  EXPECT_EQ(said(launch), "accepted");
  EXPECT_EQ(said(launch + buffer_a), "accepted");
}

TEST(BrokenLaunch, WhatIsNotToml) {
  EXPECT_EQ(said("grid = [4").substr(0, 32), "1:10 This is not TOML: Error whi");
  EXPECT_EQ(said("grid = [4]\ngrid = [4]\n").substr(0, 22), "2:8 This is not TOML: ");
  // Keys that toml++ 3.3 asserts on.
  EXPECT_EQ(said("[{arg]]").substr(0, 21), "1:2 This is not TOML:");
  std::string dotted = "grid = [1]\n";
  for (int i = 0; i < 100000; ++i) dotted += "a.";
  EXPECT_EQ(
      said(dotted + "a = 1"),
      "2:402 This line has more than 200 dots outside of quotes; keys nested that deep are not "
      "read.");
  EXPECT_EQ(said("a = " + std::string(100000, '[')).substr(0, 2), "1:");
}

TEST(BrokenLaunch, LettersBeyondAsciiBelongInDoubleQuotesAndComments) {
  EXPECT_EQ(said("\xef\xbb\xbf" + launch + "# \u00e9 \" '\nentry = \"\u00e9\\\"\" # \u4e2d"),
            "accepted");
  EXPECT_EQ(said(launch + "\u00e9 = 1"),
            "3:1 Non-ASCII letters are allowed in quotes and comments only.");
  EXPECT_EQ(said(launch + "entry = \"\u00e9\" \u00e9"),
            "3:13 Non-ASCII letters are allowed in quotes and comments only.");
  EXPECT_EQ(said(launch + "entry = '\u00e9'"),
            "3:10 Letters beyond ASCII are read in double quotes only; \"...\" would work.");
  EXPECT_EQ(said(launch + "entry = \"\"\"mm\"\"\""),
            "3:9 A text over several lines (three quotes) is not read; one line would work.");
  for (const char* bytes :
       {"\xff", "\x80", "\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80"}) {
    EXPECT_NE(said(launch + "entry = \"" + bytes + "\"").find("is not UTF-8"), std::string::npos);
    EXPECT_NE(said(launch + "# " + bytes).find("is not UTF-8"), std::string::npos);
  }
}

TEST(BrokenLaunch, LettersBeyondAsciiComeThroughAndMoveNoColumn) {
  const auto file = parse_launch_file(launch +
                                          "buffer = [{ name = \"\u00e9\u4e2d\U0001f600\", dtype = "
                                          "\"f32\", file = \"d\u00e9.npy\" }]",
                                      "run.toml");
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->buffers[0].name, "\u00e9\u4e2d\U0001f600");
  EXPECT_EQ(wanted_files(*file), std::vector<std::string>{"d\u00e9.npy"});
  EXPECT_EQ(
      said(launch + "buffer = [{ name = \"\u00e9\u4e2d\U0001f600\", dtype = 3 }]"),
      "3:35 dtype of [[buffer]] \"\u00e9\u4e2d\U0001f600\" must be a text in quotes, but it is "
      "an integer.");
}

TEST(BrokenLaunch, TheLaunch) {
  EXPECT_EQ(said(""), "1:1 The launch file has no grid; grid = [1, 1, 1] would work.");
  EXPECT_EQ(said("grid = [1]"),
            "1:1 The launch file has no block; block = [128, 1, 1] would work.");
  EXPECT_EQ(said("grid = [4]\nblock = [0]\n"),
            "2:10 block of the launch file holds 0, but takes numbers from 1 to 2147483647.");
  EXPECT_EQ(said("grid = 4\nblock = [1]"),
            "1:8 grid of the launch file must be a list of integers like [4, 1, 1], but it is an "
            "integer.");
  EXPECT_EQ(said("grid = [1, 2, 3, 4]\nblock = [1]"),
            "1:8 grid has 4 numbers; one to three (x, y, z) would work.");
  EXPECT_EQ(said("grid = [1, 2.5]\nblock = [1]"),
            "1:12 an item of grid of the launch file must be an integer, but it is a number with a "
            "point.");
  EXPECT_EQ(
      said(launch + "gird = 3"),
      "3:1 the launch file has no key \"gird\"; its keys are entry, link, grid, block, cluster, "
      "cooperative, dynamic_smem, device, variables_at, buffer, arg, variable.");
  EXPECT_EQ(said(launch + "dynamic_smem = -1"),
            "3:16 dynamic_smem of the launch file is -1, but must be from 0 to 2147483647.");
  EXPECT_EQ(said(launch + "entry = 3"),
            "3:9 entry of the launch file must be a text in quotes, but it is an integer.");
  EXPECT_EQ(
      said(launch + "buffer = 3"),
      "3:10 buffer of the launch file must be a list of tables, written [[buffer]] or [{...}], "
      "but it is an integer.");
  EXPECT_EQ(said(launch + "arg = [3]"),
            "3:8 an item of arg of the launch file must be a table, but it is an integer.");
}

TEST(BrokenLaunch, Buffers) {
  const auto buffer = [](const std::string& lines) {
    return said(launch + "[[buffer]]\nname = \"A\"\n" + lines);
  };
  EXPECT_EQ(said(launch + "[[buffer]]\ndtype = \"f32\"\n"), "3:1 [[buffer]] 1 has no name.");
  EXPECT_EQ(said(launch + "[[buffer]]\nname = \"\"\n"), "4:8 name of [[buffer]] 1 is empty.");
  EXPECT_EQ(
      buffer("shape = [1]\nzeros = true\n"),
      "3:1 [[buffer]] \"A\" has no dtype; one of f16 bf16 f32 f64 e4m3 e5m2 u8 i8 u16 i16 u32 "
      "i32 u64 i64 would work.");
  EXPECT_EQ(
      buffer("dtype = \"float\"\n"),
      "5:9 [[buffer]] \"A\" has the dtype \"float\", which does not exist; one of f16 bf16 f32 "
      "f64 e4m3 e5m2 u8 i8 u16 i16 u32 i32 u64 i64 would work.");
  EXPECT_EQ(
      buffer("dtype = \"f32\"\nzeros = true\n"),
      "3:1 [[buffer]] \"A\" has no shape; it may be left out only where a file is given. shape "
      "= [256, 256] would work.");
  EXPECT_EQ(buffer("dtype = \"f32\"\nshape = [-4]\nzeros = true\n"),
            "6:10 shape of [[buffer]] \"A\" holds -4, but takes numbers from 0 to "
            "9223372036854775807.");
  EXPECT_EQ(buffer("dtype = \"f32\"\nshape = [4]\n"),
            "3:1 [[buffer]] \"A\" has none of file, random, zeros, poison and pointers; exactly "
            "one says what "
            "it holds.");
  EXPECT_EQ(
      buffer("dtype = \"f32\"\nshape = [4]\nrandom = 1\npoison = true\n"),
      "3:1 [[buffer]] \"A\" has more than one of file, random, zeros, poison and pointers; exactly "
      "one says what it holds.");
  EXPECT_EQ(buffer("dtype = \"f32\"\nshape = [4]\nzeros = \"yes\"\n"),
            "7:9 zeros of [[buffer]] \"A\" must be true or false, but it is a text.");
  EXPECT_EQ(buffer("dtype = \"f32\"\nshape = [4]\nzeros = true\nrtol = -1\n"),
            "8:8 rtol of [[buffer]] \"A\" is -1, but must be a number of 0 or more, like 1e-3.");
  EXPECT_EQ(buffer("dtype = \"f32\"\npointers = [{ buffer = \"A\" }]\n"),
            "3:1 [[buffer]] \"A\" has pointers and the dtype f32; addresses are u64.");
  EXPECT_EQ(
      buffer("dtype = \"u64\"\npointers = [{ buffer = \"B\" }]\n"),
      "6:24 pointer 0 of [[buffer]] \"A\" points to a buffer \"B\", which does not exist; the "
      "buffers are A.");
  EXPECT_EQ(buffer("dtype = \"u64\"\npointers = [{ offset = 8 }]\n"),
            "6:13 pointer 0 of [[buffer]] \"A\" has to have one of buffer and null = true.");
  EXPECT_EQ(
      buffer("dtype = \"u64\"\nshape = [1]\npointers = [{ null = true }, { buffer = \"A\" }]\n"),
      "3:1 [[buffer]] \"A\" has 2 pointers, but its shape (1,) has room for 1.");
  EXPECT_EQ(buffer("dtpye = \"f32\"\n"),
            "5:1 [[buffer]] \"A\" has no key \"dtpye\"; its keys are name, dtype, shape, file, "
            "random, zeros, poison, pointers, out, expect, rtol, atol, tile, address, unwritten.");
  EXPECT_EQ(said(launch + buffer_a + buffer_a), "8:1 There are two buffers named \"A\".");
}

TEST(BrokenLaunch, Arguments) {
  const auto arg = [](const std::string& lines) { return said(launch + "[[arg]]\n" + lines); };
  EXPECT_EQ(
      arg("buffer = \"A\""),
      "4:10 [[arg]] 1 points to a buffer \"A\", which does not exist; there is no [[buffer]] in "
      "the file.");
  EXPECT_EQ(said(launch + buffer_a + "[[arg]]\nbuffer = \"B\""),
            "9:10 [[arg]] 1 points to a buffer \"B\", which does not exist; the buffers are A.");
  EXPECT_EQ(arg("i32 = 2147483648"),
            "4:7 i32 of [[arg]] 1 is 2147483648, but must be from -2147483648 to 2147483647.");
  EXPECT_EQ(arg("u8 = -1"), "4:6 u8 of [[arg]] 1 is -1, but must be from 0 to 255.");
  EXPECT_EQ(arg("i32 = 1.5"),
            "4:7 i32 of [[arg]] 1 must be an integer, but it is a number with a point.");
  EXPECT_EQ(arg("f32 = \"1\""), "4:7 f32 of [[arg]] 1 must be a number, but it is a text.");
  EXPECT_EQ(arg("f32 = 1\ni32 = 1"),
            "3:1 [[arg]] 1 has both i32 and f32; it takes exactly one of buffer, null, bytes, "
            "tensormap, texture, surface, u8, i8, u16, i16, u32, i32, u64, i64, f16, bf16, f32, "
            "f64.");
  EXPECT_EQ(arg("int = 1"),
            "3:1 [[arg]] 1 has no value; it takes exactly one of buffer, null, bytes, tensormap, "
            "texture, surface, u8, i8, u16, i16, u32, i32, u64, i64, f16, bf16, f32, f64.");
  EXPECT_EQ(said(launch + buffer_a +
                 "[[arg]]\ntexture = { buffer = \"A\", width = 4, filter = "
                 "\"cubic\" }"),
            "9:47 the texture of [[arg]] 1 has the filter \"cubic\"; point or linear would work.");
  EXPECT_EQ(
      said(launch + buffer_a +
           "[[arg]]\ntexture = { buffer = \"A\", width = 4, address = \"round\" }"),
      "9:48 the texture of [[arg]] 1 has the address \"round\"; wrap, clamp, mirror or border "
      "would work, or a list with one of them for each dimension.");
  EXPECT_EQ(said(launch + buffer_a +
                 "[[arg]]\ntexture = { buffer = \"A\", width = 4, address = [\"wrap\", 1] }"),
            "9:48 the texture of [[arg]] 1 has another address than these; wrap, clamp, mirror or "
            "border would work, or a list with one of them for each dimension.");
  EXPECT_EQ(said(launch + buffer_a +
                 "[[arg]]\ntexture = { buffer = \"A\", width = 4, depth = 2, layers = 2 }"),
            "9:58 the texture of [[arg]] 1 has layers and a depth; one of them would work.");
  EXPECT_EQ(said(launch + buffer_a + "[[arg]]\nsurface = { buffer = \"A\", filter = \"point\" }"),
            "9:27 the surface of [[arg]] 1 has no key \"filter\"; its keys are buffer, offset, "
            "width, height, depth, layers, cube, pitch, format.");
  EXPECT_EQ(arg("i32 = 1\noffset = 4"), "5:1 [[arg]] 1 has no key \"offset\"; its keys are i32.");
  EXPECT_EQ(arg("null = false"),
            "4:8 null of [[arg]] 1 is false; null = true gives a null pointer.");
  for (const char* digits : {"0", "0g", "0x01", "00 11"}) {
    EXPECT_EQ(
        arg("bytes = \"" + std::string(digits) + "\""),
        "4:9 bytes of [[arg]] 1 is not hexadecimal: two digits a byte and nothing else, up to "
        "32764 bytes, like \"00ff\".");
  }
}

TEST(BrokenLaunch, Structs) {
  const auto arg = [](const std::string& lines) {
    return said(launch + buffer_a + "[[arg]]\n" + lines);
  };
  EXPECT_EQ(
      arg("at = [{ offset = 0, i32 = 1 }]"),
      "8:1 [[arg]] 1 is a struct (it has \"at\") without a size; size = BYTES says how large it "
      "is.");
  EXPECT_EQ(arg("size = 8\nat = [{ i32 = 1 }]"),
            "10:7 A part of [[arg]] 1 has no offset; offset = 0 is its first byte.");
  EXPECT_EQ(
      arg("size = 8\nat = [{ offset = 4, buffer = \"A\" }]"),
      "10:7 the part at offset 4 of [[arg]] 1 reaches to byte 12, but the struct's size is 8.");
  EXPECT_EQ(arg("size = 8\nat = [{ offset = 0, i32 = 1 }, { offset = 3, u8 = 1 }]"),
            "10:32 the part at offset 3 of [[arg]] 1 overlaps another part at byte 3.");
  EXPECT_EQ(
      arg("size = 8\nat = [{ offset = 0, i32 = 1, size = 4 }]"),
      "10:30 the part at offset 0 of [[arg]] 1 has no key \"size\"; its keys are i32, offset.");
  EXPECT_EQ(arg("size = 40000"), "9:8 size of [[arg]] 1 is 40000, but must be from 1 to 32764.");
  EXPECT_EQ(arg("size = 8\ni32 = 1"),
            "10:1 [[arg]] 1, a struct, has no key \"i32\"; its keys are size, at.");
  EXPECT_EQ(
      arg("size = 30000\n[[arg]]\nsize = 3000"),
      "10:1 With [[arg]] 2 the kernel's parameters are 33000 bytes; up to 32764 can be passed.");
}

TEST(BrokenLaunch, TensorMapsThatSayTooLittleOrTheWrongWords) {
  const auto map = [](const std::string& inside) {
    return said(launch + buffer_a + "[[arg]]\ntensormap = { " + inside + " }\n");
  };
  const std::string what = "the tensormap of [[arg]] 1";
  EXPECT_NE(map("box = [4]").find(what + " has no buffer"), std::string::npos);
  EXPECT_NE(map("buffer = \"A\"").find(what + " has no box"), std::string::npos);
  EXPECT_NE(map("buffer = \"Z\", box = [4]").find("points to a buffer \"Z\""), std::string::npos);
  EXPECT_NE(map("buffer = \"A\", box = [4], swizzle = \"128\"")
                .find(what + " has the swizzle \"128\"; none, 32B, 64B, 128B"),
            std::string::npos);
  EXPECT_NE(map("buffer = \"A\", box = [4], oob = \"one\"").find("zero or nan"), std::string::npos);
  EXPECT_NE(map("buffer = \"A\", channels = 8, lower = [-1], upper = [-1]")
                .find(what + " is for im2col and has no pixels"),
            std::string::npos);
  EXPECT_NE(map("buffer = \"A\", box = [4], channels = 8, pixels = 4, lower = [0], upper = [0]")
                .find(what + " has a box, and pixels for im2col"),
            std::string::npos);
  EXPECT_NE(map("buffer = \"A\", box = [4], boxes = 1").find("has no key \"boxes\""),
            std::string::npos);
}

TEST(BrokenLaunch, TexturesThatSayTooLittleOrTheWrongWords) {
  const auto made = [](const std::string& key, const std::string& inside) {
    return said(launch + buffer_a + "[[arg]]\n" + key + " = { " + inside + " }\n");
  };
  const std::string of = " of [[arg]] 1";
  EXPECT_NE(made("texture", "width = 4").find("the texture" + of + " has no buffer"),
            std::string::npos);
  EXPECT_NE(made("surface", "width = 4").find("the surface" + of + " has no buffer"),
            std::string::npos);
  EXPECT_NE(made("texture", "buffer = \"Z\", width = 4").find("points to a buffer \"Z\""),
            std::string::npos);
  EXPECT_NE(made("texture", "buffer = \"A\", width = 4, format = \"f32x3\"")
                .find("has the format \"f32x3\"; f32x1, f16x2"),
            std::string::npos);
  EXPECT_NE(made("texture", "buffer = \"A\", width = 4, address = \"round\"")
                .find("has the address \"round\"; wrap, clamp"),
            std::string::npos);
  EXPECT_NE(made("surface", "buffer = \"A\", width = 4, filter = \"linear\"")
                .find("has no key \"filter\""),
            std::string::npos);
  EXPECT_NE(made("texture", "buffer = \"A\", layers = 2, depth = 3")
                .find("has layers and a depth; one of them would work"),
            std::string::npos);
  EXPECT_NE(made("texture", "buffer = \"A\", border = [1, 2, 3, 4, 5]")
                .find("is no list of up to four numbers"),
            std::string::npos);
}

// ---- files that do not fit the launch file ----

std::string completed(const std::string& text, const std::vector<std::vector<std::byte>>& files) {
  const auto file = parse_launch_file(launch + text, "run.toml");
  if (!file.ok()) return file.error().sentence;
  const Outcome<Job> job = make_job(*file, {}, files);
  return job.ok() ? "accepted" : job.error().where + " " + job.error().sentence;
}

TEST(BrokenLaunch, FilesAreCheckedAgainstTheBuffer) {
  const std::string from_file =
      "[[buffer]]\nname = \"A\"\ndtype = \"f32\"\nshape = [2, 3]\nfile = \"a.npy\"\n";
  const auto npy = [](DType type, std::vector<std::int64_t> shape) {
    Buffer b{"", type, std::move(shape), {}, false};
    b.bytes.resize(static_cast<std::size_t>(b.elements()) * bytes_of(type));
    return write_npy(b);
  };
  EXPECT_EQ(completed(from_file, {npy(DType::f32, {2, 3})}), "accepted");
  EXPECT_EQ(
      completed(from_file, {npy(DType::f32, {3, 2})}),
      "run.toml:3:1 [[buffer]] \"A\" has the shape (2, 3), but a.npy is (3, 2); leave the shape "
      "out, or give the file's.");
  EXPECT_EQ(
      completed(from_file, {npy(DType::f64, {2, 3})}),
      "a.npy a.npy holds f64 ('<f8'), but f32 was asked for; convert it with astype in NumPy, "
      "or ask for f64.");
  EXPECT_EQ(completed(from_file, {{}}),
            "a.npy a.npy is empty; a .npy file as np.save writes it would work.");
  EXPECT_EQ(
      completed(from_file, {}),
      "run.toml:3:1 [[buffer]] \"A\" needs the contents of a.npy, which were not handed over.");
}

TEST(BrokenLaunch, BuffersBeyondMemoryAreRefusedBeforeAnythingIsAllocated) {
  const auto shaped = [](const std::string& shape) {
    return completed(
        "[[buffer]]\nname = \"A\"\ndtype = \"f32\"\nshape = " + shape + "\nrandom = 0\n", {});
  };
  EXPECT_EQ(shaped("[65536, 65536]"),
            "run.toml:3:1 The buffers need 16 GiB together, the largest, [[buffer]] \"A\" of f32 "
            "(65536, 65536), 16 GiB; up to 4 GiB work in one run.");
  EXPECT_EQ(shaped("[9223372036854775807, 9223372036854775807]").substr(0, 29),
            "run.toml:3:1 The buffers need");
  EXPECT_EQ(shaped("[9223372036854775807, 9223372036854775807, 0]"), "accepted");
  EXPECT_EQ(shaped("[0, 9223372036854775807]"), "accepted");
  // Each fits, all together do not: named is the largest, and files are counted too.
  const auto buffer = [](const std::string& name, const std::string& rest) {
    return "[[buffer]]\nname = \"" + name + "\"\ndtype = \"u8\"\n" + rest + "\n";
  };
  const std::string three = buffer("A", "shape = [1500000000]\nzeros = true") +
                            buffer("B", "shape = [2000000000]\npoison = true") +
                            buffer("C", "shape = [1000000000]\nrandom = 0");
  EXPECT_EQ(completed(three, {}),
            "run.toml:8:1 The buffers need 4.19 GiB together, the largest, [[buffer]] \"B\" of u8 "
            "(2000000000,), 1.86 GiB; up to 4 GiB work in one run.");
  const Outcome<LaunchFile> file =
      parse_launch_file("grid = [1]\nblock = [1]\n" + buffer("A", "file = \"a.npy\"") +
                            buffer("B", "file = \"b.npy\""),
                        "run.toml");
  ASSERT_TRUE(file.ok());
  EXPECT_FALSE(too_large(*file, {std::uint64_t{2} << 30, std::uint64_t{2} << 30}));
  const auto refused = too_large(*file, {std::uint64_t{2} << 30, std::uint64_t{3} << 30});
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->sentence,
            "The buffers need 5 GiB together, the largest, [[buffer]] \"B\" of b.npy, 3 GiB; up to "
            "4 GiB work in one run.");
}

}  // namespace
}  // namespace tilescope
