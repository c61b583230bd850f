// What the CUDA runtime wants signed, by the sums that RFC 1319 (A.5) gives.
#include "app/cuda/handshake.h"

#include <gtest/gtest.h>

#include <string>

namespace tilescope::standin {
namespace {

std::string md2_of(const std::string& text) {
  std::string out;
  for (const unsigned char byte :
       md2(reinterpret_cast<const unsigned char*>(text.data()), text.size())) {
    out += {"0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]};
  }
  return out;
}

TEST(Handshake, Md2IsThatOfTheRfc) {
  EXPECT_EQ(md2_of(""), "8350e5a3e24c153df2275c9f80692773");
  EXPECT_EQ(md2_of("a"), "32ec01ec4a6dac72c0ab96fb34c0b5d1");
  EXPECT_EQ(md2_of("abc"), "da853b0d3f88d99b30283a69e6ded6bb");
  EXPECT_EQ(md2_of("message digest"), "ab4f496bfb2a530b219ff33031fe06b0");
  EXPECT_EQ(md2_of("1234567890123456789012345678901234567890123456789012345678901234567890123456789"
                   "0"),
            "d5976f79d83d3a0dc9806c3c66f3efd8");
}

TEST(Handshake, EveryFieldCounts) {
  const Signed what{13000, 13002, 17, 18, 1, 2, 3, 4};
  const Signature own = sign(what, {});
  Signed other = what;
  other.seconds = 5;
  EXPECT_NE(sign(other, {}), own);
  other = what, other.own_table = 9;
  EXPECT_NE(sign(other, {}), own);
  SignedDevice device;
  device.bus = 1;
  EXPECT_NE(sign(what, device), own);
  EXPECT_EQ(sign(what, {}), own);
}

}  // namespace
}  // namespace tilescope::standin
