// The CUDA driver's own bytes of tensor maps, as an H100's driver made them (h100_maps.tsv).
#include "core/run/driver_map.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace tilescope {
namespace {

std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, by);) out.push_back(part);
  return out;
}

template <class Number>
std::vector<Number> numbers(const std::string& text) {
  std::vector<Number> out;
  if (text == "-") return out;
  for (const std::string& one : split(text, ',')) {
    out.push_back(static_cast<Number>(std::stoll(one)));
  }
  return out;
}

std::array<std::byte, map_bytes> bytes_of(const std::string& hex) {
  std::array<std::byte, map_bytes> out{};
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<std::byte>(std::stoi(hex.substr(2 * i, 2), nullptr, 16));
  }
  return out;
}

template <class Values>
void expect_first(const Values& values, const std::vector<std::uint64_t>& wanted,
                  std::size_t from = 0) {
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_EQ(static_cast<std::uint64_t>(values[i + from]), wanted[i]) << i;
  }
}

TEST(DriverMap, IsReadAsTheArgumentsItWasMadeOf) {
  std::ifstream file(TILESCOPE_SOURCE_DIR "/tests/sim/h100_maps.tsv");
  int rows = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    SCOPED_TRACE(line);
    const std::vector<std::string> row = split(line, '\t');
    ASSERT_EQ(row.size(), 12u);
    const auto map = decode_driver_map(bytes_of(row[11]));
    ASSERT_TRUE(map);
    const MapFields& m = map->fields;
    EXPECT_EQ(m.address, std::stoull(row[0], nullptr, 16));
    EXPECT_EQ(name_of(m.dtype), row[1]);
    EXPECT_EQ(rounds(m.floats), row[2].starts_with("tf32"));
    EXPECT_EQ(flushes(m.floats), row[2].ends_with("ftz"));
    const auto dims = numbers<std::uint64_t>(row[3]);
    ASSERT_EQ(m.rank, dims.size());
    expect_first(m.dims, dims);
    expect_first(m.strides, numbers<std::uint64_t>(row[4]), 1);
    const auto box = split(row[5], ';');
    ASSERT_EQ(m.pixels.has_value(), box.size() == 4);
    if (m.pixels) {
      const auto lower = numbers<std::int32_t>(box[0]), upper = numbers<std::int32_t>(box[1]);
      for (std::size_t i = 0; i < lower.size(); ++i) {
        EXPECT_EQ(m.pixels->lower[i], lower[i]);
        EXPECT_EQ(m.pixels->upper[i], upper[i]);
      }
      EXPECT_EQ(std::to_string(m.pixels->channels), box[2]);
      EXPECT_EQ(std::to_string(m.pixels->column), box[3]);
    } else {
      expect_first(m.box, numbers<std::uint64_t>(row[5]));
    }
    expect_first(m.steps, numbers<std::uint64_t>(row[6]));
    constexpr std::string_view leaves[] = {"none", "16B", "32B"};
    EXPECT_EQ(leaves[static_cast<std::size_t>(m.interleave)], row[7]);
    EXPECT_EQ(name_of(m.swizzle), row[8]);
    constexpr std::string_view promotions[] = {"none", "64", "128", "256"};
    EXPECT_EQ(promotions[static_cast<std::size_t>(map->promotion)], row[9]);
    EXPECT_EQ(m.nan_fill, row[10] == "nan");
    EXPECT_EQ(objection(m).value_or(""), "");  // the driver took it
    ++rows;
  }
  EXPECT_EQ(rows, 85);
}

TEST(DriverMap, BytesWithBitsThatNoMapHasAreNone) {
  EXPECT_FALSE(decode_driver_map(bytes_of(std::string(256, 'f'))));
  std::ifstream file(TILESCOPE_SOURCE_DIR "/tests/sim/h100_maps.tsv");
  std::string line;
  while (std::getline(file, line) && line.starts_with('#')) {
  }
  std::array<std::byte, map_bytes> bytes = bytes_of(split(line, '\t')[11]);
  ASSERT_TRUE(decode_driver_map(bytes));
  for (const std::size_t at : {11u, 31u, 54u, 62u, 127u}) {
    auto other = bytes;
    other[at] = std::byte{0x80};
    EXPECT_FALSE(decode_driver_map(other)) << at;
  }
}

// Bits 19 and 20 of the second word: seen in maps that CuTeDSL 4.8's host code writes for sm_100.
TEST(DriverMap, SaysWhatASwizzleKeepsTogether) {
  std::ifstream file(TILESCOPE_SOURCE_DIR "/tests/sim/h100_maps.tsv");
  int rows = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    auto bytes = bytes_of(split(line, '\t')[11]);
    const MapSwizzle plain = decode_driver_map(bytes)->fields.swizzle;
    const auto with = [&](unsigned atom) {
      bytes[10] = (bytes[10] & std::byte{0xe7}) | std::byte(atom << 3);
      const auto map = decode_driver_map(bytes);
      return map ? std::optional(map->fields.swizzle) : std::nullopt;
    };
    if (plain == MapSwizzle::bytes128) {
      EXPECT_EQ(with(1), MapSwizzle::bytes128_atom32);
      EXPECT_EQ(with(3), MapSwizzle::bytes128_atom64);
      ++rows;
    } else {
      EXPECT_FALSE(with(1));
    }
  }
  EXPECT_GE(rows, 5);
}

}  // namespace
}  // namespace tilescope
