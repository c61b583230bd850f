// Device files that are not right: a sentence with its place.
#include <gtest/gtest.h>

#include <string>

#include "core/io/device_file.h"

namespace tilescope {
namespace {

const std::string good =
    "name = \"a chip\"\n"
    "compute_capability = \"12.1\"\n"
    "processors = 7\n"
    "[processor]\nblocks = 3\nthreads = 2\nshared = 400\n"
    "[block]\nshared = 300\nshared_reserved = 0\n";

std::string with(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

// "3:1 sentence"
std::string refusal(const std::string& text) {
  const Outcome<DeviceDescription> device = parse_device_file(text, "chip.toml");
  if (device) return "it was taken";
  EXPECT_EQ(device.error().kind, ErrorKind::unreadable);
  return device.error().where.substr(std::string("chip.toml:").size()) + " " +
         device.error().sentence;
}

TEST(DeviceFile, SaysWhatAChipHas) {
  const Outcome<DeviceDescription> device = parse_device_file(good, "chip.toml");
  ASSERT_TRUE(device.ok()) << device.error().sentence;
  EXPECT_EQ(device->name, "a chip");
  EXPECT_EQ(device->major, 12);
  EXPECT_EQ(device->minor, 1);
  EXPECT_EQ(device->processors, 7u);
  EXPECT_EQ(device->blocks, 3u);
  EXPECT_EQ(device->threads, 2u);
  EXPECT_EQ(device->shared, 400u);
  EXPECT_EQ(device->block_shared, 300u);
  EXPECT_EQ(device->reserved, 0u);
}

TEST(BrokenDevice, EachKeyIsNeeded) {
  for (const std::string key : {"name", "compute_capability", "processors", "blocks", "threads",
                                "shared", "shared_reserved"}) {
    SCOPED_TRACE(key);
    const std::size_t from = good.find(key + " =");
    const std::string less = good.substr(0, from) + good.substr(good.find('\n', from) + 1);
    EXPECT_NE(refusal(less).find(key + " is missing; " + key + " = "), std::string::npos)
        << refusal(less);
  }
  EXPECT_EQ(refusal("name = \"a\"\ncompute_capability = \"1.0\"\nprocessors = 1\n"),
            "1:1 The device file has no table [processor].");
}

TEST(BrokenDevice, ValuesThatMakeNoSense) {
  EXPECT_NE(refusal(with(good, "\"12.1\"", "\"twelve\"")).find("\"10.0\" would work"),
            std::string::npos);
  EXPECT_NE(refusal(with(good, "\"12.1\"", "\"99999999999.1\"")).find("\"10.0\" would work"),
            std::string::npos);
  EXPECT_NE(refusal(with(good, "processors = 7", "processors = 0")).find("processors"),
            std::string::npos);
  EXPECT_NE(refusal(with(good, "processors = 7", "processors = \"7\"")).find("processors"),
            std::string::npos);
  EXPECT_NE(refusal(with(good, "shared = 300", "shared = 500")).find("but a processor has 400"),
            std::string::npos);
  EXPECT_NE(refusal(with(good, "blocks", "bloks")).find("bloks"), std::string::npos);
  EXPECT_NE(refusal("name = ").find("1:"), std::string::npos);
}

}  // namespace
}  // namespace tilescope
