// Device files that are not right: a sentence with its place.
#include <gtest/gtest.h>

#include <string>

#include "core/io/device_file.h"

namespace tilescope {
namespace {

const std::string good =
    "name = \"a chip\"\n"
    "compute_capability = \"12.1\"\n"
    "sms = 7\n"
    "[sm]\nblocks = 3\nthreads = 2\nshared = 400\n"
    "[block]\nshared = 300\nshared_reserved = 0\n";

// What a chip of compute capability 10.0 needs.
const std::string times =
    "[clock]\nfrequency = 2\ntensor = 1.75\nlaunch = 1.5\nblock_start = 100\n"
    "[issue]\nschedulers = 4\nbranch = 0\ninteger = { lanes = 64, latency = 4 }\n"
    "floating = { lanes = 128, latency = 5 }\nhalf = { lanes = 32, latency = 6 }\n"
    "wide = { lanes = 2, latency = 40 }\nspecial = { lanes = 16, latency = 20 }\n"
    "conversion = { lanes = 8, latency = 9 }\nload_store = { lanes = 31, latency = 0 }\n"
    "shuffle = { lanes = 30, latency = 25 }\n"
    "[waiting]\nbarrier = 8\nbarrier_warp = 9\nfence = 10\nmbarrier = 12\narrive = 13\nremote = "
    "14\ncluster = 15\n"
    "[memory]\nshared_latency = 16\nshared_bytes = 17\nl1_latency = 18\nl1_bytes = 19\nl1_lanes = "
    "11\n"
    "l1_size = 20\nl2_latency = 21\nl2_port = 22\nl2_bytes = 23\nl2_size = 24\n"
    "memory_latency = 25\nmemory_bandwidth = 26\n"
    "atomic = 44\natomic_float = 45\nshared_float = 46\n"
    "[copies]\nissue = 27\nlatency = 28\nbytes = 29\n"
    "[tensor]\ntf32 = 30\nf16 = 31\nf8 = 32\ni8 = 33\nf4 = 34\nf64 = 35\nmma_share = 0.25\n"
    "mma_latency = 36\nissue = 37\nlatency = 38\ncommit = 39\n"
    "[tensor_memory]\nload_bytes = 40\nstore_bytes = 41\nload_latency = 42\nstore_latency = 43\n";

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

TEST(DeviceFile, TimesAreNotKnownWhereItHasNone) {
  const Outcome<DeviceDescription> device = parse_device_file(good, "chip.toml");
  ASSERT_TRUE(device.ok()) << device.error().sentence;
  EXPECT_FALSE(device->times.known());
}

// Of the link to the host nothing need be said; what is said is whole.
TEST(DeviceFile, SaysHowLongCopiesToTheHostTake) {
  const std::string chip = with(good, "12.1", "10.0") + times;
  const Outcome<DeviceDescription> device =
      parse_device_file(chip + "[host]\nin = 50\nout = 40\nlatency = 2\n", "chip.toml");
  ASSERT_TRUE(device.ok()) << device.error().where << device.error().sentence;
  EXPECT_EQ(device->times.host_in, 50);
  EXPECT_EQ(device->times.host_out, 40);
  EXPECT_EQ(device->times.host_latency, 2);
  EXPECT_EQ(device->times.pageable_in, 50);  // as pinned memory, where nothing is said
  EXPECT_EQ(device->times.pageable_out, 40);
  const std::string pageable = chip + "[host]\nin = 50\nout = 40\nlatency = 2\npageable_in = 5\n";
  EXPECT_EQ(parse_device_file(pageable, "chip.toml")->times.pageable_in, 5);
  EXPECT_EQ(parse_device_file(chip, "chip.toml")->times.host_in, 0);
  EXPECT_FALSE(parse_device_file(chip + "[host]\nin = 50\n", "chip.toml").ok());
}

TEST(DeviceFile, SaysHowLongThingsTake) {
  const Outcome<DeviceDescription> device =
      parse_device_file(with(good, "12.1", "10.0") + times, "chip.toml");
  ASSERT_TRUE(device.ok()) << device.error().where << device.error().sentence;
  const DeviceTimes& t = device->times;
  EXPECT_TRUE(t.known());
  EXPECT_EQ(t.clock, 2);
  EXPECT_EQ(t.tensor_clock, 1.75);
  EXPECT_EQ(t.launch, 1.5);
  EXPECT_EQ(t.block_start, 100);
  EXPECT_EQ(t.integer.lanes, 64);
  EXPECT_EQ(t.floating.latency, 5);
  EXPECT_EQ(t.half.lanes, 32);
  EXPECT_EQ(t.wide.latency, 40);
  EXPECT_EQ(t.special.latency, 20);
  EXPECT_EQ(t.conversion.lanes, 8);
  EXPECT_EQ(t.load_store.lanes, 31);
  EXPECT_EQ(t.shuffle.latency, 25);
  // All others, each once.
  const double all[] = {t.barrier,
                        t.barrier_warp,
                        t.fence,
                        t.l1_lanes,
                        t.mbarrier,
                        t.arrive,
                        t.remote,
                        t.cluster,
                        t.shared_latency,
                        t.shared_bytes,
                        t.l1_latency,
                        t.l1_bytes,
                        t.l1_size,
                        t.l2_latency,
                        t.l2_port,
                        t.l2_bytes,
                        t.l2_size,
                        t.memory_latency,
                        t.memory_bandwidth,
                        t.copy_issue,
                        t.copy_latency,
                        t.copy_bytes,
                        t.tensor_tf32,
                        t.tensor_f16,
                        t.tensor_f8,
                        t.tensor_i8,
                        t.tensor_f4,
                        t.tensor_f64,
                        t.mma_latency,
                        t.tensor_issue,
                        t.tensor_latency,
                        t.commit,
                        t.tensor_load_bytes,
                        t.tensor_store_bytes,
                        t.tensor_load_latency,
                        t.tensor_store_latency,
                        t.atomic,
                        t.atomic_float,
                        t.shared_float};
  double next = 8;
  for (const double figure : all) EXPECT_EQ(figure, next++);
  EXPECT_EQ(t.mma_share, 0.25);
}

// A key for each of the parts that only some chips have.
TEST(BrokenDevice, TimesAreWholeForTheChipOrNotThere) {
  const auto refused = [](const std::string& capability, const std::string& key) {
    const std::size_t from = times.find("\n" + key + " =") + 1;
    const std::string less = times.substr(0, from) + times.substr(times.find('\n', from) + 1);
    return refusal(with(good, "12.1", capability) + less);
  };
  for (const std::string key : {"frequency", "branch", "l2_bytes", "mbarrier", "f16", "f4",
                                "remote", "tf32", "load_bytes"}) {
    EXPECT_NE(refused("10.0", key).find(key + " is missing; " + key + " = "), std::string::npos)
        << refused("10.0", key);
  }
  EXPECT_NE(refused("10.0", "half").find("half of [issue] is missing"), std::string::npos);
  for (const std::string key : {"f8", "f4", "remote", "cluster", "commit"}) {
    EXPECT_EQ(refused("8.0", key), "it was taken") << key;
  }
  EXPECT_EQ(refused("9.0", "commit"), "it was taken");
  EXPECT_EQ(refused("12.0", "store_bytes"), "it was taken");
  EXPECT_EQ(refused("8.9", "f8").find("it was taken"), std::string::npos);
}

TEST(BrokenDevice, AMissingTableOfTimes) {
  const std::string ten = with(good, "12.1", "10.0");
  const std::string without = times.substr(0, times.find("[tensor_memory]"));
  EXPECT_EQ(refusal(ten + without),
            "1:1 The device file has times but no table [tensor_memory]; compute capability 10.0 "
            "needs it. A device file without any times is fine, too.");
  EXPECT_EQ(refusal(with(good, "12.1", "9.0") + without), "it was taken");
  EXPECT_NE(refusal(ten + "[copies]\nissue = 1\n").find("no table [clock]"), std::string::npos);
  EXPECT_NE(refusal("clock = 1\n" + ten).find("[clock] is not a table"), std::string::npos);
}

// Power is known of few chips: as a whole, or not.
TEST(BrokenDevice, HalfATableOfPower) {
  const std::string ten = with(good, "12.1", "10.0") + times;
  EXPECT_EQ(refusal(ten + "[power]\nlimit = 700\nidle = 200\ntensor = 5\nl2 = 7\n"),
            "it was taken");
  EXPECT_NE(refusal(ten + "[power]\nlimit = 700\nidle = 200\nl2 = 7\n")
                .find("In [power] tensor is missing; tensor = 5 would work."),
            std::string::npos);
}

TEST(BrokenDevice, TimesThatMakeNoSense) {
  const std::string whole = with(good, "12.1", "10.0") + times;
  for (const std::string value : {"0", "-1", "nan", "inf", "1e300"}) {
    SCOPED_TRACE(value);
    EXPECT_NE(refusal(with(whole, "l2_bytes = 23", "l2_bytes = " + value))
                  .find("l2_bytes of [memory] is "),
              std::string::npos);
    EXPECT_NE(refusal(with(whole, "lanes = 64", "lanes = " + value)).find("lanes of integer of"),
              std::string::npos);
  }
  EXPECT_EQ(refusal(with(whole, "l2_latency = 21", "l2_latency = 0")), "it was taken");
  for (const std::string value : {"0", "2.5", "5"}) {
    EXPECT_NE(refusal(with(whole, "schedulers = 4", "schedulers = " + value))
                  .find("must be whole, from 1 to 4"),
              std::string::npos);
  }
  EXPECT_NE(refusal(with(whole, "l2_latency = 21", "l2_latency = -1")).find("must be from 0"),
            std::string::npos);
  EXPECT_NE(refusal(with(whole, "launch = 1.5", "launch = \"short\"")).find("must be a number"),
            std::string::npos);
  EXPECT_NE(refusal(with(whole, "launch", "lunch")).find("has no key \"lunch\""),
            std::string::npos);
  EXPECT_NE(refusal(with(whole, "{ lanes = 64, latency = 4 }", "64")).find("is not a table"),
            std::string::npos);
  EXPECT_NE(refusal(with(whole, "lanes = 64", "lans = 64")).find("has no key \"lans\""),
            std::string::npos);
}

TEST(BrokenDevice, EachKeyIsNeeded) {
  for (const std::string key :
       {"name", "compute_capability", "sms", "blocks", "threads", "shared", "shared_reserved"}) {
    SCOPED_TRACE(key);
    const std::size_t from = good.find(key + " =");
    const std::string less = good.substr(0, from) + good.substr(good.find('\n', from) + 1);
    EXPECT_NE(refusal(less).find(key + " is missing; " + key + " = "), std::string::npos)
        << refusal(less);
  }
  EXPECT_EQ(refusal("name = \"a\"\ncompute_capability = \"1.0\"\nsms = 1\n"),
            "1:1 The device file has no table [sm].");
}

// `processors` and [processor] are what these keys were called before.
TEST(DeviceFile, ReadsTheOldWordsToo) {
  const std::string old = with(with(good, "sms", "processors"), "[sm]", "[processor]");
  const Outcome<DeviceDescription> device = parse_device_file(old, "chip.toml");
  ASSERT_TRUE(device.ok()) << device.error().sentence;
  EXPECT_EQ(device->processors, 7u);
  EXPECT_EQ(device->threads, 2u);
  EXPECT_NE(refusal(with(good, "sms = 7\n", "sms = 7\nprocessors = 7\n")).find("processors"),
            std::string::npos);
}

TEST(BrokenDevice, ValuesThatMakeNoSense) {
  EXPECT_NE(refusal(with(good, "\"12.1\"", "\"twelve\"")).find("\"10.0\" would work"),
            std::string::npos);
  EXPECT_NE(refusal(with(good, "\"12.1\"", "\"99999999999.1\"")).find("\"10.0\" would work"),
            std::string::npos);
  EXPECT_NE(refusal(with(good, "sms = 7", "sms = 0")).find("sms"), std::string::npos);
  EXPECT_NE(refusal(with(good, "sms = 7", "sms = \"7\"")).find("sms"), std::string::npos);
  EXPECT_NE(refusal(with(good, "shared = 300", "shared = 500")).find("but an SM has 400"),
            std::string::npos);
  EXPECT_NE(refusal(with(good, "blocks", "bloks")).find("bloks"), std::string::npos);
  EXPECT_NE(refusal("name = ").find("1:"), std::string::npos);
}

}  // namespace
}  // namespace tilescope
