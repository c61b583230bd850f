// Several PTX files as one program (`nvcc -rdc=true -ptx`): what a file declares .extern another
// one defines; what it keeps to itself is its own.
#include <algorithm>
#include <cstring>

#include "tests/app/program.h"

namespace tilescope::test {
namespace {

// OUT[i] = scaled(i) + twice(i) + table[i % 2] + counter, with a helper of its own that adds 1.
constexpr const char* main_text = R"(.version 8.0
.target sm_90
.address_size 64
.extern .func (.param .b32 result) scaled (.param .b32 x);
.extern .global .align 4 .u32 counter;
.extern .const .align 4 .b8 table[8];
.weak .func (.param .b32 result) twice (.param .b32 x)
{
	.reg .b32 %r<4>;
	ld.param.b32 %r0, [x];
	add.u32 %r1, %r0, %r0;
	st.param.b32 [result], %r1;
	ret;
}
.func (.param .b32 result) helper (.param .b32 x)
{
	.reg .b32 %r<4>;
	ld.param.b32 %r0, [x];
	add.u32 %r1, %r0, 1;
	st.param.b32 [result], %r1;
	ret;
}
.visible .entry k(.param .u64 out)
{
	.reg .b32 %r<20>;
	.reg .b64 %d<8>;
	mov.u32 %r0, %tid.x;
	{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r0; call.uni (y), scaled, (x); ld.param.b32 %r1, [y]; }
	{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r0; call.uni (y), twice, (x); ld.param.b32 %r2, [y]; }
	{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r2; call.uni (y), helper, (x); ld.param.b32 %r2, [y]; }
	add.u32 %r1, %r1, %r2;
	ld.global.u32 %r3, [counter];
	add.u32 %r1, %r1, %r3;
	and.b32 %r4, %r0, 1;
	mov.u64 %d0, table;
	mul.wide.u32 %d1, %r4, 4;
	add.u64 %d0, %d0, %d1;
	ld.const.u32 %r5, [%d0];
	add.u32 %r1, %r1, %r5;
	ld.param.u64 %d2, [out];
	mad.wide.u32 %d3, %r0, 4, %d2;
	st.global.u32 [%d3], %r1;
	ret;
}
)";

// scaled(x) = 10 * helper(x), whose helper is another one: x + 100.
constexpr const char* scale_text = R"(.version 8.0
.target sm_90
.address_size 64
.visible .global .align 4 .u32 counter = 7;
.visible .const .align 4 .b8 table[8] = {1, 0, 0, 0, 0, 1, 0, 0};
.weak .func (.param .b32 result) twice (.param .b32 x)
{
	trap;
}
.func (.param .b32 result) helper (.param .b32 x)
{
	.reg .b32 %r<4>;
	ld.param.b32 %r0, [x];
	add.u32 %r1, %r0, 100;
	st.param.b32 [result], %r1;
	ret;
}
.visible .func (.param .b32 result) scaled (.param .b32 x)
{
	.reg .b32 %r<4>;
	ld.param.b32 %r0, [x];
	{ .param .b32 p; .param .b32 q; st.param.b32 [p], %r0; call.uni (q), helper, (p); ld.param.b32 %r1, [q]; }
	mul.lo.u32 %r1, %r1, 10;
	st.param.b32 [result], %r1;
	ret;
}
)";

constexpr const char* launch_text = R"(grid = [1]
block = [32]
[[buffer]]
name = "OUT"
dtype = "u32"
shape = [32]
poison = true
out = "out.npy"
[[arg]]
buffer = "OUT"
)";

class Link : public Program {
 protected:
  Link() {
    write("main.ptx", main_text);
    write("scale.ptx", scale_text);
    write("launch.toml", launch_text);
  }
  void expect_results() {
    const std::string npy = read("out.npy");
    ASSERT_GE(npy.size(), 128u);
    for (std::uint32_t i = 0; i < 32; ++i) {
      std::uint32_t got = 0;
      std::memcpy(&got, npy.data() + npy.size() - 128 + 4 * i, 4);
      EXPECT_EQ(got, 10 * (i + 100) + 2 * i + 1 + (i % 2 ? 256 : 1) + 7) << i;
    }
  }
};

std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST_F(Link, FilesOfOneLineRunAsOneProgram) {
  const Ended r = run({"run", "main.ptx", "scale.ptx", "--launch", "launch.toml"});
  ASSERT_EQ(r.exit_code, 0) << r.err;
  expect_results();
}

TEST_F(Link, TheLaunchFileMayNameThem) {
  write("linked.toml", "link = [\"scale.ptx\"]\n" + std::string(launch_text));
  const Ended r = run({"run", "main.ptx", "--launch", "linked.toml"});
  ASSERT_EQ(r.exit_code, 0) << r.err;
  expect_results();
}

TEST_F(Link, WhatNobodyDefinesIsNamed) {
  const Ended r = run({"run", "main.ptx", "--launch", "launch.toml"});
  EXPECT_EQ(r.exit_code, 2);
  EXPECT_NE(r.err.find("scaled is called, but only declared here (.extern): run the file that "
                       "defines it together with this one, `tilescope run main.ptx OTHER.ptx"),
            std::string::npos)
      << r.err;
  write("scale.ptx", with(scale_text, ".visible .global .align 4 .u32 counter = 7;\n", ""));
  const Ended variable = run({"run", "main.ptx", "scale.ptx", "--launch", "launch.toml"});
  EXPECT_EQ(variable.exit_code, 2);
  EXPECT_NE(variable.err.find("the variable counter is only declared here"), std::string::npos)
      << variable.err;
}

TEST_F(Link, ANameThatTwoFilesDefineIsRefusedAtBothPlaces) {
  write("main.ptx", with(main_text, ".extern .global .align 4 .u32 counter;",
                         ".visible .global .align 4 .u32 counter = 1;"));
  const Ended r = run({"run", "main.ptx", "scale.ptx", "--launch", "launch.toml"});
  EXPECT_EQ(r.exit_code, 2);
  EXPECT_NE(r.err.find("counter is defined here and at main.ptx:5"), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("scale.ptx:4"), std::string::npos) << r.err;
}

TEST_F(Link, AVariableOfAnotherSizeIsRefused) {
  write("main.ptx", with(main_text, "table[8];", "table[16];"));
  const Ended r = run({"run", "main.ptx", "scale.ptx", "--launch", "launch.toml"});
  EXPECT_EQ(r.exit_code, 2);
  EXPECT_NE(r.err.find("table is declared with 16 bytes in .const, and has 8 bytes in .const at "
                       "scale.ptx:5"),
            std::string::npos)
      << r.err;
}

// Lines are those of each file, of what is refused at load and of what goes wrong in the run.
TEST_F(Link, PlacesAreOfTheirOwnFiles) {
  write("scale.ptx", with(scale_text, "mul.lo.u32 %r1, %r1, 10;", "frob.u32 %r1, %r1, 10;"));
  const Ended refused = run({"run", "main.ptx", "scale.ptx", "--launch", "launch.toml"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("scale.ptx:23"), std::string::npos) << refused.err;
  write("scale.ptx", with(scale_text, "mul.lo.u32 %r1, %r1, 10;", "ld.global.u32 %r1, [16];"));
  const Ended fault = run({"run", "main.ptx", "scale.ptx", "--launch", "launch.toml"});
  EXPECT_EQ(fault.exit_code, 3);
  EXPECT_NE((fault.out + fault.err).find("at k, scale.ptx:23"), std::string::npos)
      << fault.out << fault.err;
}

TEST_F(Link, CheckTakesThemToo) {
  const Ended alone = run({"check", "main.ptx"});
  EXPECT_EQ(alone.exit_code, 2);
  const Ended linked = run({"check", "main.ptx", "scale.ptx"});
  EXPECT_EQ(linked.exit_code, 0) << linked.err;
}

TEST_F(Link, OnlyFilesAreLinked) {
  const Ended r = run({"run", "elementwise_add", "scale.ptx", "--m", "3", "--n", "5"});
  EXPECT_EQ(r.exit_code, 2);
  EXPECT_NE(r.err.find("only PTX files are linked with each other"), std::string::npos) << r.err;
}

// What was inlined or called: the line in the kernel's own file first, then where it leads.
TEST_F(Link, ReportsNameTheUsersLineFirst) {
  const std::string located = R"(.version 8.0
.target sm_90
.address_size 64
.func put (.param .b64 p)
{
	.reg .b64 %d<2>;
	.reg .b32 %r<2>;
	.loc 2 7 3
	ld.param.u64 %d0, [p];
	mov.b32 %r0, 1;
	st.global.u32 [%d0+4096], %r0;
	ret;
}
.visible .entry k(.param .u64 out)
{
	.reg .b64 %d<2>;
	.reg .b32 %r<2>;
	.loc 1 20 1
	ld.param.u64 %d0, [out];
	mov.b32 %r0, 1;
	PLACE
}
.file 1 "user.py"
.file 2 "library.h"
)";
  write("a.ptx", with(located, "PLACE",
                      ".loc 2 7 3, function_name $L, inlined_at 1 31 5\n"
                      "st.global.u32 [%d0+4096], %r0;\nret;"));
  const Ended inlined = run({"run", "a.ptx", "--launch", "launch.toml"});
  EXPECT_EQ(inlined.exit_code, 3);
  EXPECT_NE((inlined.out + inlined.err).find("at k, user.py:31, through library.h:7 (PTX line 22)"),
            std::string::npos)
      << inlined.out << inlined.err;
  write("b.ptx", with(located, "PLACE",
                      ".loc 1 44 5\n{ .param .b64 p; st.param.b64 [p], %d0; call.uni put, (p); }\n"
                      "ret;"));
  const Ended called = run({"run", "b.ptx", "--launch", "launch.toml"});
  EXPECT_EQ(called.exit_code, 3);
  EXPECT_NE((called.out + called.err).find("at k, user.py:44, through library.h:7 (PTX line 11)"),
            std::string::npos)
      << called.out << called.err;
}

}  // namespace
}  // namespace tilescope::test
