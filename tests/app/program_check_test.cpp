// `tilescope check`: what a PTX file is, what of it would be refused, and a launch file to begin
// with.
#include <algorithm>
#include <cstring>
#include <sstream>

#include "tests/app/program.h"

namespace tilescope::test {
namespace {

using Check = Program;
using nlohmann::json;

// Two pointers, a struct with a pointer in it, a number; a mangled name; a block of 32x2 threads.
constexpr const char* scale = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry _Z5scalePfPKtf(
	.param .u64 out, .param .u64 in, .param .f32 by, .param .align 8 .b8 more[24]
)
.reqntid 32, 2, 1
.maxnreg 64
{
	.shared .align 8 .b8 bar[8];
	.reg .b16 %h<2>;
	.reg .b32 %r<9>;
	.reg .f32 %f<4>;
	.reg .b64 %d<9>;
	.reg .pred %p, %q;
	ld.param.u64 %d0, [out];
	cvta.to.global.u64 %d0, %d0;
	ld.param.u64 %d1, [in];
	ld.param.f32 %f0, [by];
	ld.param.u64 %d2, [more+8];
	mov.u32 %r0, %tid.x;
	mad.wide.u32 %d3, %r0, 4, %d0;
	mad.wide.u32 %d4, %r0, 2, %d1;
	mad.wide.u32 %d5, %r0, 8, %d2;
	mov.u32 %r1, %tid.y;
	or.b32 %r1, %r1, %r0;
	setp.eq.u32 %p, %r1, 0;
	@%p mbarrier.init.shared::cta.b64 [bar], 1;
	setp.ne.u32 %q, %r1, %r0;
	@%q bra DONE;
	ld.global.u16 %h0, [%d4];
	cvt.rn.f32.u16 %f1, %h0;
	mul.f32 %f1, %f1, %f0;
	st.global.f32 [%d3], %f1;
	ld.global.s64 %d6, [%d5];
DONE:
	bar.sync 0;
	ret;
}
)";

// Three places that are refused, one of them in a function, and an entry without any.
constexpr const char* refused = R"(.version 8.0
.target sm_80
.address_size 64
.func helper(.param .b32 a)
{
	.reg .b32 %r<3>;
	frobnicate.b32 %r0, %r1;
	ret;
}
.visible .entry bad(.param .u64 out)
{
	.reg .b32 %r<3>;
	.reg .f32 %f<8>;
	.reg .b64 %d<3>;
	.param .b32 given;
	neg.sat.s32 %r0, %r1;
	tex.level.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%d0, {%f4, %f5}], %f6;
	st.param.b32 [given], %r0;
	call helper, (given);
	ret;
}
.visible .entry good()
{
	ret;
}
)";

json entry_of(const json& document, std::size_t number) {
  return document["entries"][number];
}

TEST_F(Check, TellsWhatAnEntryAsksFor) {
  write("scale.ptx", scale);
  const auto [code, document] = run_json({"check", "scale.ptx"});
  EXPECT_EQ(code, 0);
  EXPECT_EQ(document["ok"], true);
  EXPECT_EQ(document["version"], "8.0");
  EXPECT_EQ(document["target"], "sm_90");
  EXPECT_EQ(document["chips"].front(), 90);
  const json k = entry_of(document, 0);
  EXPECT_EQ(k["name"], "_Z5scalePfPKtf");
  EXPECT_EQ(k["demangled"], "scale(float*, unsigned short const*, float)");
  EXPECT_EQ(k["reqntid"], json({32, 2, 1}));
  EXPECT_EQ(k["maxnreg"], 64);
  EXPECT_EQ(k["shared_bytes"], 8);
  EXPECT_EQ(k["mbarriers"], 1);
  EXPECT_EQ(k["instructions"], json({{"mbarriers", 1}, {"barriers", 1}}));
  std::vector<std::string> uses;
  for (const json& p : k["parameters"]) uses.push_back(p["use"]);
  EXPECT_EQ(uses, (std::vector<std::string>{"pointer", "pointer", "number", "struct"}));
  EXPECT_EQ(k["parameters"][3]["offset"], 24);
  EXPECT_EQ(k["parameters"][3]["bytes"], 24);
}

TEST_F(Check, TheLaunchFileRuns) {
  write("scale.ptx", scale);
  const Ended made = run({"check", "scale.ptx", "-o", "scale.toml"});
  EXPECT_EQ(made.exit_code, 0) << made.err;
  const std::string launch = read("scale.toml");
  EXPECT_TRUE(has(launch, "block = [32, 2, 1]")) << launch;
  EXPECT_TRUE(has(launch, "dtype = \"u16\"")) << "of what is loaded there";
  EXPECT_TRUE(has(launch, "at = [{ offset = 8, buffer = ")) << launch;
  const Ended ended = run({"run", "scale.ptx", "--launch", "scale.toml"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err << launch;
}

TEST_F(Check, TellsAllThatIsRefusedWithItsPlaceAndText) {
  write("refused.ptx", refused);
  const Ended ended = run({"check", "refused.ptx"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_TRUE(has(ended.out, "refused.ptx:16: neg.sat.s32 %r0, %r1: this form of 'neg'"))
      << ended.out;
  EXPECT_TRUE(has(ended.out, "none has .sat")) << ended.out;
  EXPECT_TRUE(has(ended.out, "refused.ptx:17: tex.level.2d.v4.f32.f32")) << ended.out;
  EXPECT_TRUE(has(ended.out, "refused.ptx:7: frobnicate.b32 %r0, %r1: the opcode")) << ended.out;
  EXPECT_TRUE(has(ended.err, "3 places are refused")) << ended.err;
  const Ended one = run({"check", "refused.ptx", "--entry", "good"});
  EXPECT_EQ(one.exit_code, 0) << one.err;
}

TEST_F(Check, AnEntryWhoseBodyCannotBeReadKeepsItsParameters) {
  write("body.ptx",
        ".version 8.0\n.target sm_80\n.address_size 64\n"
        ".visible .entry k(.param .u64 a, .param .u32 n)\n{\nmov.u32 ^, 1;\nret;\n}\n");
  const Ended ended = run({"check", "body.ptx"});
  EXPECT_EQ(ended.exit_code, 2) << ended.err;
  EXPECT_TRUE(has(ended.out, "parameter 1  u32")) << ended.out;
  EXPECT_TRUE(has(ended.out, "refused: body.ptx:6")) << ended.out;
  const auto [code, document] = run_json({"check", "body.ptx"});
  EXPECT_EQ(code, 2);
  EXPECT_EQ(entry_of(document, 0)["parameters"].size(), 2u);
}

TEST_F(Check, RefusalsAreOneDocument) {
  write("refused.ptx", refused);
  const auto [code, document] = run_json({"check", "refused.ptx"});
  EXPECT_EQ(code, 2);
  EXPECT_EQ(document["ok"], false);
  EXPECT_EQ(document["error"]["kind"], "unsupported");
  EXPECT_EQ(document["refused"], 3);
  EXPECT_EQ(entry_of(document, 0)["refused"].size(), 3u);
  EXPECT_EQ(entry_of(document, 1)["refused"].size(), 0u);
}

TEST_F(Check, WhatIsNoPtxIsASentence) {
  write("words.ptx", "hello");
  EXPECT_EQ(run({"check", "words.ptx"}).exit_code, 2);
  EXPECT_EQ(run({"check", "absent.ptx"}).exit_code, 2);
  write("refused.ptx", refused);
  EXPECT_EQ(run({"check", "refused.ptx", "--entry", "other"}).exit_code, 2);
  const Ended two = run({"check", "refused.ptx", "-o", "two.toml"});
  EXPECT_EQ(two.exit_code, 2);
  EXPECT_TRUE(has(two.err, "bad good")) << two.err;
  EXPECT_FALSE(exists("two.toml"));
}

// Parameters in one struct, as CUTLASS passes them: a tensor map at byte 64, another at 256.
TEST_F(Check, TensorMapsInAStructAreSeen) {
  write("maps.ptx", R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u32 n, .param .align 64 .b8 params[384])
{
	.reg .b32 %r<8>;
	.reg .b64 %d<8>;
	.shared .align 128 .b8 tile[8192];
	.shared .align 8 .b64 bar;
	mov.b64 %d0, params;
	cvta.param.u64 %d1, %d0;
	add.s64 %d2, %d1, 256;
	mov.u32 %r0, tile;
	mov.u32 %r1, bar;
	mov.u32 %r2, 0;
	prefetch.param.tensormap [params+64];
	add.s64 %d3, %d1, 64;
	cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r0], [%d3, {%r2, %r2}], [%r1];
	cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r0], [%d2, {%r2, %r2}], [%r1];
	ret;
}
)");
  const Ended ended = run({"check", "maps.ptx", "-o", "maps.toml"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_TRUE(has(ended.out, "with tensor maps at bytes 64, 256")) << ended.out;
  const std::string launch = read("maps.toml");
  EXPECT_TRUE(has(launch, "offset = 64, tensormap = {")) << launch;
  EXPECT_TRUE(has(launch, "offset = 256, tensormap = {")) << launch;
  const auto [code, document] = run_json({"check", "maps.ptx"});
  EXPECT_EQ(entry_of(document, 0)["parameters"][1]["tensor_maps"], json({64, 256}));
}

// A list of matrices, as a grouped GEMM has it: each thread follows the pointer of its group.
TEST_F(Check, ABufferOfPointersIsFollowed) {
  write("groups.ptx", R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 list, .param .u64 out)
{
	.reg .b32 %r<4>;
	.reg .b64 %d<8>;
	.reg .pred %p;
	ld.param.u64 %d0, [list];
	ld.param.u64 %d1, [out];
	mov.u32 %r0, %tid.x;
	mad.wide.u32 %d2, %r0, 8, %d0;
	ld.global.u64 %d3, [%d2];
	mov.u32 %r1, 77;
	setp.eq.u64 %p, %d3, 0;
	@!%p ld.global.u32 %r1, [%d3];
	mad.wide.u32 %d4, %r0, 4, %d1;
	st.global.u32 [%d4], %r1;
	ret;
}
)");
  std::string bytes = npy(1, 4, {1, 2, 3, 4});
  bytes.replace(bytes.find("<f4"), 3, "<u4");
  write("a.npy", bytes);
  write("groups.toml",
        "grid = [1]\nblock = [3]\n[[buffer]]\nname = \"list\"\ndtype = \"u64\"\n"
        "pointers = [{ buffer = \"A\", offset = 12 }, { null = true }, { buffer = \"A\" }]\n"
        "[[buffer]]\nname = \"A\"\ndtype = \"u32\"\nfile = \"a.npy\"\n"
        "[[buffer]]\nname = \"out\"\ndtype = \"u32\"\nshape = [1, 3]\npoison = true\n"
        "out = \"out.npy\"\n[[arg]]\nbuffer = \"list\"\n[[arg]]\nbuffer = \"out\"\n");
  const Ended ended = run({"run", "groups.ptx", "--launch", "groups.toml"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  std::string out = read("out.npy");
  ASSERT_NE(out.find("<u4"), std::string::npos);
  const auto word = [&](std::size_t i) {
    std::uint32_t v = 0;
    std::memcpy(&v, out.data() + out.size() - 12 + 4 * i, sizeof v);
    return v;
  };
  const auto bits = [](float f) {
    std::uint32_t v = 0;
    std::memcpy(&v, &f, sizeof v);
    return v;
  };
  EXPECT_EQ(word(0), bits(4));
  EXPECT_EQ(word(1), 77u);
  EXPECT_EQ(word(2), bits(1));
}

// For people; --json has the names as the file has them.
TEST_F(Check, MangledNamesAreReadableInSentences) {
  write("scale.ptx", scale);
  write("wide.toml",
        "grid = [1, 1, 1]\nblock = [64, 1, 1]\n[[buffer]]\nname = \"A\"\ndtype = \"f32\"\n"
        "shape = [64]\nzeros = true\n[[arg]]\nbuffer = \"A\"\n[[arg]]\nbuffer = \"A\"\n"
        "[[arg]]\nf32 = 1.0\n[[arg]]\nsize = 24\nat = [{ offset = 8, buffer = \"A\" }]\n");
  const Ended ended = run({"run", "scale.ptx", "--launch", "wide.toml"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_TRUE(
      has(ended.err, "scale(float*, unsigned short const*, float) asks for CTAs of (32,2,1)"))
      << ended.err;
  EXPECT_TRUE(has(ended.err, "block = [32, 2, 1] would fit")) << ended.err;
  const auto [code, document] = run_json({"run", "scale.ptx", "--launch", "wide.toml"});
  EXPECT_TRUE(has(document["error"]["sentence"], "_Z5scalePfPKtf"));
  // A name that no C++ library reads is told by its beginning.
  std::string odd = scale;
  for (std::size_t at; (at = odd.find("_Z5scalePfPKtf")) != std::string::npos;) {
    odd.replace(at, 14, "_ZN7library6kernelIJ9unfinished");
  }
  write("odd.ptx", odd);
  const auto [fine, told] = run_json({"check", "odd.ptx"});
  EXPECT_EQ(fine, 0);
  EXPECT_EQ(told["entries"][0]["demangled"], "library::kernel<...>");
  // Names that are to be typed stay as they are.
  const Ended typed = run({"check", "scale.ptx", "--entry", "other"});
  EXPECT_TRUE(has(typed.err, "_Z5scalePfPKtf")) << typed.err;
}

}  // namespace
}  // namespace tilescope::test
