// How much each lane of a load or store moves, of instructions as they stand in PTX.
#include <gtest/gtest.h>

#include "viz/machine/access_words.h"

namespace tilescope {
namespace {

TEST(AccessWords, SayHowMuchALaneMoves) {
  EXPECT_EQ(access_words("ld.global.nc.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1]"), "16 bytes a lane");
  EXPECT_EQ(access_words("\t@%p1 st.shared.u8 [%r1], %rs2;"), "1 byte a lane");
  EXPECT_EQ(access_words("ld.shared::cluster.v2.u64 {%rd1, %rd2}, [%r1]"), "16 bytes a lane");
  EXPECT_EQ(access_words("st.global.b128 [%rd1], %rq1"), "16 bytes a lane");
  EXPECT_EQ(access_words("red.relaxed.gpu.global.add.f16x2 [%rd1], %r1"), "4 bytes a lane");
  EXPECT_EQ(access_words("ld.global.v8.b32 {%r1}, [%rd1]"), "32 bytes a lane");
}

TEST(AccessWords, OfCopiesAndMatrices) {
  EXPECT_EQ(access_words("cp.async.cg.shared.global [%r1], [%rd1], 16;"), "16 bytes a lane");
  EXPECT_EQ(access_words("cp.async.ca.shared.global.L2::128B [%r1+4], [%rd1], 8, %r2;"),
            "8 bytes a lane");
  EXPECT_EQ(access_words("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1}, [%r5]"),
            "16 bytes a lane");
  EXPECT_EQ(access_words("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r1}, [%r5]"),
            "4 bytes a lane");
}

// Nothing is said of what does not load or store for its lane, or the same for all of them.
TEST(AccessWords, AreSilentElsewhere) {
  for (const char* text :
       {"add.f32 %f1, %f2, %f3", "ld.param.u64 %rd1, [_Z1kPf_param_0]", "bra L3", "",
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile [%r1], [%rd1, {%r2, %r3}], [%r4]",
        "cp.async.wait_group 0", "cp.async.commit_group",
        "st.async.shared::cluster.b64 [%r1], %rd1"}) {
    EXPECT_EQ(access_words(text), "") << text;
  }
}

}  // namespace
}  // namespace tilescope
