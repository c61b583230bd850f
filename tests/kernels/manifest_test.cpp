// What a kernel's PTX says of its memory is read of the entry that is meant, and is what a job is
// launched with.
#include "core/run/manifest.h"

#include <gtest/gtest.h>

#include "tests/kernels/shipped.h"

namespace tilescope {
namespace {

constexpr std::string_view two_entries = R"(
.visible .entry first_bf16(
	.param .u64 first_bf16_param_0
)
{
	// begin inline asm
	// tilescope: shared 512
	// end inline asm
}
.visible .entry first(
	.param .u64 first_param_0
)
{
	// tilescope: shared 197632
	// tilescope: barrier full 196608 2
	// tilescope: barrier done 196624 0
	// tilescope: barrier full 196608 2
	// tilescope: barrier broken here 1
	// tilescope: barrier many 0 4000000000
	// tilescope: colour 7
	// tilescope: shared
	ret;
}
.entry last
(
)
{
}
)";

TEST(Manifest, IsOfTheEntryWithThatVeryName) {
  EXPECT_EQ(manifest_in(two_entries, "first_bf16").shared, 512u);
  EXPECT_TRUE(manifest_in(two_entries, "first_bf16").barriers.empty());
  EXPECT_EQ(manifest_in(two_entries, "first").shared, 197632u);
  EXPECT_FALSE(manifest_in(two_entries, "last").shared);
  EXPECT_FALSE(manifest_in(two_entries, "fir").shared);
  EXPECT_FALSE(manifest_in("", "first").shared);
}

TEST(Manifest, NamesBarriersByTheirBytes) {
  EXPECT_EQ(manifest_in(two_entries, "first").barriers,
            (BarrierNames{{196608, "full[0]"}, {196616, "full[1]"}, {196624, "done"}}));
}

// Both types of a kernel of the ladders, and the shared memory that their pictures show.
TEST(Manifest, IsWhatShippedKernelsAreLaunchedWith) {
  for (const DType type : {DType::f16, DType::bf16}) {
    Request request;
    request.dtype = type;
    const auto bytes = [&](const std::string& kernel) {
      return make_job(**find_kernel(kernel), request, test::shipped_ptx(kernel))
          ->launch.dynamic_shared;
    };
    EXPECT_EQ(bytes("wgmma_v1"), 0u) << "its tiles are not dynamic";
    EXPECT_EQ(bytes("wgmma_v2"), 40960u + 1024);
    EXPECT_EQ(bytes("wgmma_v8"), 4 * 49152u + 32768 + 1024);
    EXPECT_EQ(bytes("hgemm_v3"), 0u);
    EXPECT_EQ(bytes("hgemm_v4"), 32768u + 32768 + 1024);
    EXPECT_EQ(bytes("hgemm_v10"), (4 * 3 + 2) * 16384u + 1024);
  }
}

// A comment costs nothing: what nvcc writes between its marks of inline assembly is this line
// alone.
TEST(Manifest, IsNoInstruction) {
  std::istringstream lines(test::shipped_ptx("hgemm_v10"));
  std::size_t said = 0;
  for (std::string line, before; std::getline(lines, line); before = line) {
    if (line.find("// tilescope: ") == std::string::npos) continue;
    ++said;
    EXPECT_EQ(before, "\t// begin inline asm");
    std::getline(lines, before);
    EXPECT_EQ(before, "\t// end inline asm");
  }
  EXPECT_EQ(said, 2u * 5) << "of two entries";
}

}  // namespace
}  // namespace tilescope
