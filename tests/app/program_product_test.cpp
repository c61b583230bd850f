// `explain product`, and the same in the window.
#include <cstring>

#include "tests/app/program.h"

namespace tilescope::test {
namespace {

using nlohmann::json;

class OpenedProduct : public Program {
 protected:
  OpenedProduct() { draws(); }
};

const std::vector<std::string> small_sizes = {"--m", "256", "--n", "256", "--k", "256"};

std::vector<std::string> product_of(const std::string& kernel, std::vector<std::string> more = {}) {
  std::vector<std::string> out = {"explain", "product", kernel};
  out.insert(out.end(), small_sizes.begin(), small_sizes.end());
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

TEST_F(OpenedProduct, OfTcgen05GoesFromDescriptorsToTheLane) {
  const auto [code, d] = run_json(product_of("hgemm_v7", {"--product", "5", "--element", "37,90"}));
  ASSERT_EQ(code, 0);
  EXPECT_EQ(d["instruction"], "tcgen05.mma");
  EXPECT_EQ(d["of"], 16);
  ASSERT_EQ(d["descriptors"].size(), 3u);
  EXPECT_EQ(d["descriptors"][2]["value"], "0x08200010");  // f16, 128 x 128
  for (const json& descriptor : d["descriptors"]) {
    for (const json& field : descriptor["fields"]) EXPECT_FALSE(field["otherwise"].empty());
  }
  EXPECT_EQ(d["place"]["tmem"], (json{{"lane", 37}, {"column", 90}}));
  EXPECT_EQ(d["place"]["warp"], 1);
  EXPECT_EQ(d["place"]["lane"], 5);
  ASSERT_EQ(d["sum"].size(), 16u);  // 256 / 16
  double last = 0;
  for (const json& one : d["sum"]) {
    EXPECT_EQ(one["before"].get<double>(), last);
    EXPECT_TRUE(one["agrees"]);
    EXPECT_EQ(one["how"], "exact");
    ASSERT_EQ(one["steps"].size(), 1u);
    EXPECT_EQ(one["steps"][0]["terms"].size(), 16u);
    last = one["after"];
  }
}

TEST_F(OpenedProduct, OfWgmmaIsInRegisters) {
  const auto [code, d] = run_json(product_of("wgmma_v5", {"--element", "21,33"}));
  ASSERT_EQ(code, 0);
  EXPECT_EQ(d["instruction"], "wgmma.mma_async");
  EXPECT_EQ(d["descriptors"].size(), 2u);
  EXPECT_EQ(d["place"]["lane"], 20);  // (21 % 8) * 4 + (33 % 8) / 2
  EXPECT_EQ(d["place"]["warp"].get<int>() % 4, 1);
  EXPECT_EQ(d["place"]["register"].get<std::string>().front(), '%');
}

// The event and the cycle of a product lead to it.
TEST_F(OpenedProduct, IsFoundByItsCycle) {
  const auto [code, d] = run_json(product_of("hgemm_v7", {"--product", "7"}));
  ASSERT_EQ(code, 0);
  const auto [again, at] =
      run_json(product_of("hgemm_v7", {"--at", std::to_string(d["begin"].get<std::uint64_t>())}));
  ASSERT_EQ(again, 0);
  EXPECT_EQ(at["product"], 7);
  EXPECT_EQ(at["sum"][7]["after_bits"], d["sum"][7]["after_bits"]);
}

// A warp multiplies twice: the second product adds to what the first has left.
constexpr const char* two_products = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry twice(.param .u64 a, .param .u64 b, .param .u64 d)
{
	.reg .b32 t, o, x<4>, y<2>;
	.reg .f32 s<4>, z;
	.reg .b64 p, q, r, w;
	ld.param.u64 p, [a];
	ld.param.u64 q, [b];
	ld.param.u64 r, [d];
	mov.u32 t, %tid.x;
	mov.f32 z, 0f00000000;
	mul.wide.u32 w, t, 16;
	add.u64 p, p, w;
	add.u64 r, r, w;
	mul.wide.u32 w, t, 8;
	add.u64 q, q, w;
	ld.global.v4.u32 {x0, x1, x2, x3}, [p];
	ld.global.v2.u32 {y0, y1}, [q];
	mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {s0, s1, s2, s3}, {x0, x1, x2, x3}, {y0, y1}, {z, z, z, z};
	ld.global.v4.u32 {x0, x1, x2, x3}, [p+512];
	ld.global.v2.u32 {y0, y1}, [q+256];
	mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {s0, s1, s2, s3}, {x0, x1, x2, x3}, {y0, y1}, {s0, s1, s2, s3};
	st.global.v4.f32 [r], {s0, s1, s2, s3};
	ret;
}
)";
constexpr const char* launch_of_two = R"(
grid = [1, 1, 1]
block = [32, 1, 1]
[[buffer]]
name = "A"
dtype = "f16"
shape = [512]
random = 7
[[buffer]]
name = "B"
dtype = "f16"
shape = [256]
random = 8
[[buffer]]
name = "D"
dtype = "f32"
shape = [32, 4]
poison = true
out = "d.npy"
[[arg]]
buffer = "A"
[[arg]]
buffer = "B"
[[arg]]
buffer = "D"
)";

TEST_F(OpenedProduct, OfAWarpIsWhatItStored) {
  write("twice.ptx", two_products);
  write("launch.toml", launch_of_two);
  ASSERT_EQ(run({"run", "twice.ptx", "--launch", "launch.toml"}).exit_code, 0);
  const std::vector<float> stored = npy_values(read("d.npy"), 32, 4);
  // Row g = lane / 4, columns 2 (lane % 4) and the next; then row g + 8 (PTX ISA 9.7.14.5.8).
  for (const auto& [row, column] : {std::pair(3, 5), std::pair(12, 0), std::pair(15, 7)}) {
    const auto [code, d] =
        run_json({"explain", "product", "twice.ptx", "--launch", "launch.toml", "--product", "1",
                  "--element", std::to_string(row) + "," + std::to_string(column)});
    ASSERT_EQ(code, 0);
    EXPECT_EQ(d["instruction"], "mma.sync");
    EXPECT_EQ(d["of"], 2);
    ASSERT_EQ(d["sum"].size(), 2u);
    const int lane = row % 8 * 4 + column / 2, reg = row / 8 * 2 + column % 2;
    EXPECT_EQ(d["place"]["lane"], lane);
    EXPECT_EQ(d["place"]["register"], "s" + std::to_string(reg));
    EXPECT_EQ(static_cast<float>(d["sum"][1]["after"].get<double>()), stored[lane * 4 + reg]);
    EXPECT_EQ(d["sum"][0]["after"], d["sum"][1]["before"]);
  }
  const Ended window =
      run({"gui", "--headless", "--do",
           "open twice.ptx --launch launch.toml; run; select product; product element 12 0",
           "--describe", "F.json"});
  EXPECT_EQ(window.exit_code, 0) << window.err;
  EXPECT_TRUE(has(read("F.json"), "mma.sync, product 1 of 0 to 1 of warp 0 of CTA 0"));
}

TEST_F(OpenedProduct, SaysWhatItCannotDo) {
  const auto refused = [&](const std::vector<std::string>& words, const char* what) {
    const Ended ended = run(words);
    EXPECT_EQ(ended.exit_code, 2) << what;
    EXPECT_TRUE(has(ended.err, what)) << ended.err;
  };
  refused({"explain", "product", "elementwise_add"}, "no tcgen05.mma");
  refused(product_of("hgemm_v7", {"--product", "16"}), "there are 16");
  refused(product_of("hgemm_v7", {"--element", "128,0"}), "D is 128 x 128");
  refused(product_of("hgemm_v7", {"--element", "5"}), "--element 5,9");
  refused(product_of("hgemm_v7", {"--event", "0"}), "is no product");
  refused(product_of("hgemm_v7", {"--block", "99"}), "--block 99");
  refused({"explain", "product", "run.tsr"}, "has no numbers");
}

TEST_F(OpenedProduct, InTheWindowGoesAlongTheSum) {
  const auto described = [&](const std::string& commands) {
    const Ended ended =
        run({"gui", "--headless", "--do", "open hgemm_v7 --m 256 --n 256 --k 256; run; " + commands,
             "--describe", "F.json"});
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    return json::parse(read("F.json"));
  };
  const json d = described("product 3; product next; product element 5 9");
  const std::string text = d.dump();
  EXPECT_NE(text.find("\"product\":4"), std::string::npos);
  EXPECT_NE(text.find("tcgen05.mma, product 4 of 0 to 15"), std::string::npos);
  EXPECT_NE(text.find("TMEM lane 5, column 9"), std::string::npos);
  // What the theatre shows is what is opened.
  const json at = described("theatre next product; theatre next product; select product");
  EXPECT_NE(at.dump().find("tcgen05.mma, product"), std::string::npos);
}

}  // namespace
}  // namespace tilescope::test
