// `tilescope explain`: the bits of descriptors and tensor maps.
#include "tests/app/program.h"

namespace tilescope::test {
namespace {

using Explain = Program;
using nlohmann::json;

json field(const json& document, const std::string& name) {
  for (const json& f : document["fields"]) {
    if (f["name"] == name) return f;
  }
  ADD_FAILURE() << "no field " << name << " in " << document["fields"].dump(1);
  return {};
}

json reading(const json& document, const std::string& as) {
  for (const json& r : document["readings"]) {
    if (r["as"] == as) return r;
  }
  ADD_FAILURE() << "no reading " << as << " in " << document["readings"].dump(1);
  return {};
}

TEST_F(Explain, AMatrixOfTcgen05HasItsFields) {
  // 128-byte swizzle (2), the constant, 1,024 bytes from 8 rows to 8, at 0x100.
  const auto [code, d] = run_json({"explain", "desc", "0x4000404000010010"});
  EXPECT_EQ(code, 0);
  EXPECT_EQ(d["arch"], "sm_100a");
  EXPECT_EQ(field(d, "address >> 4")["value"], 0x10);
  EXPECT_EQ(field(d, "leading stride >> 4")["value"], 1);
  EXPECT_EQ(field(d, "stride >> 4")["value"], 64);
  EXPECT_EQ(field(d, "constant")["value"], 1);
  EXPECT_EQ(field(d, "swizzle")["value"], 2);
  EXPECT_EQ(field(d, "swizzle")["low"], 61);
  EXPECT_TRUE(reading(d, "K-major, 16 bits")["good"]);
  EXPECT_FALSE(reading(d, "MN-major, 32 bits")["good"]);
}

TEST_F(Explain, WhoseItIsComesOfTheConstantOrIsSaid) {
  EXPECT_EQ(run_json({"explain", "desc", "0x4000004000010000"}).second["arch"], "sm_90a");
  EXPECT_EQ(run_json({"explain", "desc", "0x4000004000010000", "--arch", "sm_100a"}).second["arch"],
            "sm_100a");
  const auto [code, d] = run_json({"explain", "desc", "0x4000004000010000"});
  EXPECT_EQ(field(d, "swizzle")["low"], 62);
  EXPECT_EQ(field(d, "swizzle")["value"], 1);
}

// What the expression says is what the PTX ISA's canonical layouts say, reckoned here.
TEST_F(Explain, TheLayoutIsTheOneOfPtx) {
  struct Case {
    const char *bits, *as;
    unsigned width, stride, leading, element_bytes;
    bool k_major;
  };
  const Case cases[] = {
      {"0x4000404000010000", "K-major, 16 bits", 128, 1024, 0, 2, true},
      {"0x8000402000010000", "K-major, 16 bits", 64, 512, 0, 2, true},
      {"0xc000401000010000", "K-major, 8 bits", 32, 256, 0, 1, true},
      {"0x0000401000080000", "K-major, 16 bits", 0, 256, 128, 2, true},
      {"0x4000404000010000", "K-major, 32 bits", 128, 1024, 0, 4, true},
      {"0x4000404001000000", "MN-major, 16 bits", 128, 1024, 4096, 2, false},
      {"0x0000401000080000", "MN-major, 16 bits", 0, 256, 128, 2, false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(std::string(c.bits) + " " + c.as);
    const json r = reading(run_json({"explain", "desc", c.bits}).second, c.as);
    ASSERT_TRUE(r.contains("layout")) << r.dump();
    const std::string layout = r["layout"];
    for (const auto& [row, k] : {std::pair{0u, 0u}, {1u, 3u}, {7u, 9u}, {13u, 2u}, {42u, 15u}}) {
      const unsigned b = k * c.element_bytes;  // bytes along K, or below along the rows
      unsigned at = 0;
      if (c.k_major && c.width) {
        at = row % 8 * c.width + row / 8 * c.stride + b;
      } else if (c.k_major) {
        at = row % 8 * 16 + row / 8 * c.stride + b / 16 * c.leading + b % 16;
      } else {
        const unsigned a = row * c.element_bytes;
        at = c.width ? k % 8 * c.width + k / 8 * c.stride + a % c.width + a / c.width * c.leading
                     : k % 8 * 16 + k / 8 * c.leading + a / 16 * c.stride + a % 16;
      }
      const unsigned mask = c.width == 128 ? 0x70 : c.width == 64 ? 0x30 : c.width == 32 ? 0x10 : 0;
      at ^= at >> 3 & mask;
      const Ended value =
          run({"eval", "(" + layout + ")(" + std::to_string(row) + "," + std::to_string(k) + ")"});
      EXPECT_EQ(value.out, std::to_string(at / c.element_bytes) + "\n")
          << layout << row << "," << k;
    }
  }
}

TEST_F(Explain, AnInstructionDescriptorIsReadByEachKind) {
  // M 128, N 256, f32 += f16 x f16.
  const auto [code, d] = run_json({"explain", "idesc", "0x08400010"});
  EXPECT_EQ(code, 0);
  EXPECT_EQ(field(d, "M >> 4")["meaning"], "M = 128");
  EXPECT_EQ(field(d, "N >> 3")["meaning"], "N = 256");
  EXPECT_EQ(field(d, "type of D")["meaning"], "f32");
  EXPECT_EQ(field(d, "type of A")["meaning"],
            "f16 (kind::f16), e4m3 (kind::f8f6f4), u8 (kind::i8)");
  EXPECT_TRUE(has(reading(d, "kind::f16")["comes_to"],
                  "M 128 N 256 K 16, f32 += f16 (K-major) x f16 (K-major)"));
  EXPECT_TRUE(has(reading(d, "kind::f8f6f4")["comes_to"], "K 32, f32 += e4m3"));
  EXPECT_FALSE(reading(d, "kind::tf32")["good"]);
  EXPECT_TRUE(has(reading(d, "kind::i8")["comes_to"], "type of D"));
  const auto [pair, of_two] =
      run_json({"explain", "idesc", "0x10400010", "--pair", "--kind", "f16"});
  EXPECT_TRUE(has(reading(of_two, "kind::f16")["comes_to"], "M 256 N 256"));
  EXPECT_FALSE(reading(run_json({"explain", "idesc", "0x10400010", "--kind", "f16"}).second,
                       "kind::f16")["good"]);
}

TEST_F(Explain, AMapOfArgumentsTellsWhatACopyBrings) {
  const auto [code, d] = run_json({"explain", "map", "--dtype", "f16", "--dims", "4096,1024",
                                   "--box", "64,128", "--swizzle", "128B"});
  EXPECT_EQ(code, 0);
  EXPECT_EQ(d["bytes"], 64 * 128 * 2);
  EXPECT_EQ(d["good"], true);
  EXPECT_EQ(d["layout"], "Sw<3,3,3> o (128,64):(64,1)");
  EXPECT_EQ(d["fields"]["strides"], "8192 bytes");
  const auto [same, wide] = run_json({"explain", "map", "--dtype", "f16", "--dims", "4096,1024",
                                      "--box", "128,128", "--swizzle", "128B"});
  EXPECT_EQ(wide["good"], false);
  EXPECT_TRUE(has(wide["fields"]["the driver"], "refuses it")) << wide.dump(1);
}

TEST_F(Explain, ADriversMapIsReadFromItsBytes) {
  // What cuTensorMapEncodeTiled made of f16, 4096 x 1024, box 64 x 128, 128 bytes, on an H100.
  const std::string words[] = {"000000de957f0000", "1063040000020000", "0000000000000000",
                               "0000000000000000", "ff0f0000ff030000", "0000000000000000",
                               "000000000000003f", "7f00000000000000", "0040000000000000",
                               "0004000000000000"};
  std::string hex;
  for (const std::string& word : words) hex += word + " ";
  for (int i = 0; i < 6; ++i) hex += "0000000000000000 ";
  const auto [code, d] = run_json({"explain", "map", hex});
  EXPECT_EQ(code, 0);
  EXPECT_EQ(d["fields"]["address"], "0x7f95de000000");
  EXPECT_EQ(d["fields"]["extents"], "4096, 1024, innermost first");
  EXPECT_EQ(d["fields"]["box"], "64, 128");
  EXPECT_EQ(d["fields"]["L2 promotion"], "128 bytes");
  EXPECT_EQ(d["bytes"], 16384);
}

TEST_F(Explain, WhatIsNoneIsASentence) {
  for (const std::vector<std::string>& bad : std::vector<std::vector<std::string>>{
           {"explain", "desc"},
           {"explain", "desc", "0x12345678901234567"},
           {"explain", "desc", "hello"},
           {"explain", "idesc", "0x123456789"},
           {"explain", "idesc", "4294967296"},
           {"explain", "map"},
           {"explain", "map", "00ff"},
           {"explain", "map", std::string(256, 'f')},
           {"explain", "map", "--dims", "64,64", "--box", "64"},
           {"explain", "map", "--dims", "1,2,3,4,5,6", "--box", "1,1,1,1,1,1"},
           {"explain", "map", "--dims", "64,x", "--box", "64,64"},
           {"explain", "map", "--dims", "64,64", "--box", "64,64", "--dtype", "f17"},
           {"explain", "map", "--dims", "64,64", "--box", "64,64", "--swizzle", "96B"},
           {"explain", "other", "1"}}) {
    const Ended ended = run(bad);
    EXPECT_EQ(ended.exit_code, 2) << bad.back();
    EXPECT_GT(ended.err.size(), 20u) << bad.back();
    EXPECT_EQ(ended.out, "") << bad.back();
  }
}

}  // namespace
}  // namespace tilescope::test
