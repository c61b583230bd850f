// Which global memory a program may write: by where the addresses of its stores come from.
#include "core/ptx/written.h"

#include <gtest/gtest.h>

namespace tilescope::ptx {
namespace {

using Offsets = std::vector<std::uint64_t>;

Program program_of(const std::string& target, const std::string& body) {
  const std::string text = ".version 8.6\n.target " + target +
                           "\n.address_size 64\n.global .align 8 .b64 counter;\n.visible .entry "
                           "k(.param .u64 a, .param .u64 "
                           "b, .param .align 64 .b8 map[128], .param .align 8 .b8 many[32])\n{\n"
                           "\t.reg .b32 %r<9>;\n\t.reg .b64 %rd<20>;\n\t.reg .pred "
                           "%p<3>;\n\t.shared .align 128 .b8 s[256];\n" +
                           body + "\n\tret;\n}\n";
  Outcome<Module> m = parse_module("test.ptx", text);
  EXPECT_TRUE(m.ok()) << (m.ok() ? "" : m.error().sentence);
  if (!m.ok()) return {};
  const auto shared = std::make_shared<const Module>(std::move(*m));
  Outcome<Program> p = decode(shared, **shared->entry(""));
  EXPECT_TRUE(p.ok()) << (p.ok() ? "" : p.error().sentence);
  return p.ok() ? std::move(*p) : Program{};
}

WrittenMemory written(const std::string& body, const std::string& target = "sm_90a") {
  return written_memory(program_of(target, body));
}

TEST(WrittenMemory, IsWhatAPointerOfTheParametersLeadsTo) {
  const WrittenMemory w = written(R"(
	ld.param.u64 %rd1, [a];
	ld.param.u64 %rd2, [b];
	cvta.to.global.u64 %rd3, %rd1;
	cvta.to.global.u64 %rd4, %rd2;
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd5, %r1, 4;
	add.s64 %rd6, %rd3, %rd5;
	add.s64 %rd7, %rd4, %rd5;
	ld.global.u32 %r2, [%rd6];
	st.global.u32 [%rd7+16], %r2;)");
  EXPECT_EQ(w.parameters, Offsets{8});
  EXPECT_FALSE(w.anywhere);
  EXPECT_FALSE(w.by_any_parameter);
  EXPECT_FALSE(w.by_any_map);
  EXPECT_TRUE(w.addresses.empty());
}

TEST(WrittenMemory, FollowsAPointerRoundALoopAndThroughAChoice) {
  const WrittenMemory w = written(R"(
	ld.param.u64 %rd1, [a];
	ld.param.u64 %rd2, [b];
	setp.eq.u64 %p1, %rd1, 0;
	selp.b64 %rd3, %rd1, %rd2, %p1;
	mov.u32 %r1, 0;
AGAIN:
	st.global.u32 [%rd4], %r1;
	mov.b64 %rd4, %rd5;
	add.s64 %rd5, %rd3, 4;
	add.u32 %r1, %r1, 1;
	setp.lt.u32 %p1, %r1, 4;
	@%p1 bra AGAIN;)");
  EXPECT_EQ(w.parameters, (Offsets{0, 8}));
  EXPECT_FALSE(w.anywhere);
}

TEST(WrittenMemory, IsAnywhereWhereTheAddressComesOutOfMemory) {
  const char* const by_pointer = R"(
	ld.param.u64 %rd1, [a];
	ld.global.u64 %rd2, [%rd1];
	red.global.add.u32 [%rd2+4], 1;)";
  EXPECT_TRUE(written(by_pointer).anywhere);
  EXPECT_TRUE(written(by_pointer).parameters.empty());
  const char* const by_index = R"(
	ld.param.u64 %rd1, [a];
	ld.param.u64 %rd3, [b];
	ld.global.u32 %r1, [%rd1];
	mul.wide.u32 %rd2, %r1, 4;
	add.s64 %rd4, %rd3, %rd2;
	st.global.u32 [%rd4], 1;)";
  EXPECT_FALSE(written(by_index).anywhere);
  EXPECT_EQ(written(by_index).parameters, Offsets{8});
  const char* const by_halves = R"(
	ld.param.u64 %rd1, [a];
	ld.global.v2.u32 {%r1, %r2}, [%rd1];
	mov.b64 %rd2, {%r1, %r2};
	st.global.u32 [%rd2], 1;)";
  EXPECT_TRUE(written(by_halves).anywhere);
}

// As LLVM takes the address of a parameter: by a number of 32 bits. And a map that is no parameter
// says where only as the kernel runs.
TEST(WrittenMemory, FollowsTensorMapsToWhereTheyLie) {
  const WrittenMemory w = written(R"(
	mov.b32 %r1, many;
	cvt.u64.u32 %rd1, %r1;
	cvta.param.u64 %rd2, %rd1;
	mov.u32 %r2, 0;
	cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd2, {%r2, %r2}], [%r2];)");
  ASSERT_EQ(w.maps.size(), 1u);
  EXPECT_FALSE(w.by_any_map);
  EXPECT_FALSE(w.anywhere);
  EXPECT_TRUE(written(R"(
	ld.param.u64 %rd1, [a];
	add.s64 %rd2, %rd1, 128;
	mov.u32 %r2, 0;
	cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd2, {%r2, %r2}], [%r2];)")
                  .anywhere);
}

TEST(WrittenMemory, KnowsVariablesVectorsAndPointersAmongOtherParameters) {
  const WrittenMemory w = written(R"(
	mov.u64 %rd1, counter;
	atom.global.add.u64 %rd2, [%rd1], 1;
	st.global.u64 [counter], 5;
	ld.param.v2.u64 {%rd3, %rd4}, [many+16];
	st.global.u32 [%rd4], 0;)");
  EXPECT_EQ(w.addresses.size(), 1u);
  EXPECT_EQ(w.parameters, Offsets{8 + 8 + 48 + 128 + 24});
  EXPECT_FALSE(w.anywhere);
  const WrittenMemory through = written(R"(
	mov.b64 %rd1, many;
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd2, %r1, 8;
	add.s64 %rd3, %rd1, %rd2;
	ld.param.u64 %rd4, [%rd3];
	st.u32 [%rd4], 0;)");
  EXPECT_TRUE(through.by_any_parameter);
  EXPECT_FALSE(through.anywhere);
}

TEST(WrittenMemory, KnowsTheTensorMapsOfStores) {
  const char* const text = R"(
	mov.b64 %rd1, map;
	cvta.param.u64 %rd2, %rd1;
	mov.u32 %r1, s;
	cp.async.bulk.tensor.1d.OP
	st.shared.u32 [s], 1;)";
  const auto by = [&](std::string form) {
    std::string all = text;
    return written(all.replace(all.find("OP"), 2, form));
  };
  const WrittenMemory stores = by("global.shared::cta.tile.bulk_group [%rd2, {%r2}], [%r1];");
  EXPECT_EQ(stores.maps, Offsets{64});
  EXPECT_FALSE(stores.by_any_map);
  EXPECT_FALSE(stores.anywhere);
  const WrittenMemory loads =
      by("shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%rd2, {%r2}], [%r3];");
  EXPECT_TRUE(loads.maps.empty());
  EXPECT_FALSE(loads.by_any_map);
}

TEST(WrittenMemory, SharedMemoryIsNone) {
  const WrittenMemory w = written(R"(
	mov.u64 %rd1, s;
	cvta.shared.u64 %rd2, %rd1;
	st.u32 [%rd2+4], 1;
	st.shared.u32 [s], 2;)");
  EXPECT_TRUE(w.addresses.empty());
  EXPECT_TRUE(w.parameters.empty());
  EXPECT_FALSE(w.anywhere);
}

}  // namespace
}  // namespace tilescope::ptx
