// Fat binaries: as nvcc's tools write them, and as nobody should.
#include "core/io/fatbin.h"

#include <gtest/gtest.h>
#include <lz4.h>
#include <zstd.h>

#include <fstream>
#include <iterator>

namespace tilescope {
namespace {

using Kind = FatbinEntry::Kind;
constexpr std::uint64_t lz4 = 0x2000, zstd = 0x8000;

std::span<const std::byte> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

void put(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> 8 * i & 255);
}

// An entry by the fields of its header (core/io/fatbin.h).
struct Entry {
  int kind = 1, chip = 90;
  std::string payload;
  std::uint64_t flags = 0, unpacked = 0, header = 64, version = 0x101;
  std::string name = {};

  std::string text() const {
    std::string out;
    const std::size_t padded = (payload.size() + 7) / 8 * 8;
    put(out, static_cast<std::uint64_t>(kind), 2), put(out, version, 2);
    put(out, header + name.size(), 4), put(out, padded, 8);
    put(out, flags & (lz4 | zstd) ? payload.size() : 0, 4), put(out, 0, 4);
    put(out, 0, 4), put(out, static_cast<std::uint64_t>(chip), 4);
    put(out, name.empty() ? 0 : header, 4), put(out, name.size(), 4);
    put(out, flags, 8), put(out, 0, 8), put(out, unpacked, 8);
    return out + name + payload + std::string(padded - payload.size(), '\0');
  }
};

std::string fatbin(const std::vector<Entry>& entries) {
  std::string body;
  for (const Entry& entry : entries) body += entry.text();
  std::string out;
  put(out, 0xBA55ED50, 4), put(out, 1, 2), put(out, 16, 2), put(out, body.size(), 8);
  return out + body;
}

std::string by_lz4(const std::string& text) {
  std::string out(static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(text.size()))), '\0');
  const int n = LZ4_compress_default(text.data(), out.data(), static_cast<int>(text.size()),
                                     static_cast<int>(out.size()));
  out.resize(static_cast<std::size_t>(n));
  return out;
}

std::string by_zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

std::vector<FatbinEntry> read(const std::string& file) {
  auto entries = read_fatbin(bytes_of(file), "x.fatbin");
  if (entries) return std::move(*entries);
  ADD_FAILURE() << entries.error().sentence;
  return {};
}

std::string refusal(const std::string& file) {
  const auto entries = read_fatbin(bytes_of(file), "x.fatbin");
  return entries ? "none" : entries.error().sentence;
}

std::string file_of(const std::string& name) {
  std::ifstream in(std::string(TILESCOPE_SOURCE_DIR "/tests/fuzz/corpus/fatbin/") + name,
                   std::ios::binary);
  EXPECT_TRUE(in.good()) << name;
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// Written by the fatbinary of CUDA 13.0 with --compress-mode none, speed and size.
TEST(Fatbin, NvccsToolsWriteTheSameTextInThreeWays) {
  const auto plain = read(file_of("plain.fatbin"));
  ASSERT_EQ(plain.size(), 1u);
  EXPECT_EQ(plain[0].kind, Kind::ptx);
  EXPECT_EQ(plain[0].chip, 90u);
  EXPECT_NE(plain[0].text.find(".entry twice("), std::string::npos);
  EXPECT_EQ(plain[0].text.find('\0'), std::string::npos);
  for (const char* name : {"lz4.fatbin", "zstd.fatbin"}) {
    const auto packed = read(file_of(name));
    ASSERT_EQ(packed.size(), 1u) << name;
    EXPECT_EQ(packed[0].text, plain[0].text) << name;
  }
}

TEST(Fatbin, EntriesComeInTheirOrderWithWhatTheyAre) {
  const std::string code =
                        "\x7f"
                        "ELF and so on",
                    text(5000, 'p');
  const auto entries = read(fatbin(
      {{.kind = 2, .chip = 80, .payload = code},
       {.chip = 100, .payload = by_lz4(text), .flags = lz4, .unpacked = 5000, .name = "a.cu"},
       {.chip = 120, .payload = by_zstd(text), .flags = zstd | 2, .unpacked = 5000},
       {.kind = 8, .chip = 90, .payload = "something else"},
       {.chip = 75, .payload = "plain"}}));
  ASSERT_EQ(entries.size(), 5u);
  EXPECT_EQ(entries[0].kind, Kind::machine_code);
  EXPECT_EQ(entries[0].chip, 80u);
  EXPECT_EQ(entries[0].text, "");
  EXPECT_EQ(entries[1].text, text);
  EXPECT_EQ(entries[1].name, "a.cu");
  EXPECT_FALSE(entries[1].for_debugger);
  EXPECT_EQ(entries[2].text, text);
  EXPECT_TRUE(entries[2].for_debugger);
  EXPECT_EQ(entries[3].kind, Kind::other);
  EXPECT_EQ(entries[4].text, "plain");
}

TEST(Fatbin, MoreBytesThanTheFirstTwo) {
  const std::string file = fatbin({{.payload = "text"}});
  EXPECT_EQ(fatbin_bytes(bytes_of(file)), file.size());
  // What follows the last byte that it says is somebody else's.
  EXPECT_EQ(read(file + std::string(100, 'x')).size(), 1u);
  EXPECT_EQ(fatbin_bytes(bytes_of(file.substr(0, 15))), 0u);
  EXPECT_EQ(fatbin_bytes(bytes_of("something that is no fat binary")), 0u);
}

TEST(Fatbin, WhatIsBrokenIsNamed) {
  const std::string text(5000, 'p'), good = fatbin({{.payload = "text"}});
  EXPECT_NE(refusal("short").find("does not begin as a fat binary"), std::string::npos);
  EXPECT_NE(refusal(good.substr(0, 60)).find("it says that it has 72 bytes"), std::string::npos);
  EXPECT_NE(refusal(fatbin({{.payload = "text", .version = 0x100}})).find("version 0x100"),
            std::string::npos);
  std::string long_entry = good;
  long_entry[24] = 100;  // its payload's bytes
  EXPECT_NE(refusal(long_entry).find("the entry has 164 bytes and 72 are left"), std::string::npos);
  EXPECT_NE(refusal(fatbin({{.payload = text, .flags = lz4, .unpacked = 5000}})).find("not LZ4's"),
            std::string::npos);
  EXPECT_NE(refusal(fatbin({{.payload = by_lz4(text), .flags = lz4, .unpacked = 6000}}))
                .find("ends too early"),
            std::string::npos);
  EXPECT_NE(refusal(fatbin({{.payload = by_lz4(text), .flags = lz4, .unpacked = 100000}}))
                .find("cannot hold that much"),
            std::string::npos);
  EXPECT_NE(refusal(fatbin({{.payload = by_zstd(text), .flags = zstd, .unpacked = 6000}}))
                .find("ends too early"),
            std::string::npos);
  EXPECT_NE(refusal(fatbin({{.payload = text, .flags = zstd, .unpacked = 5000}}))
                .find("cannot be unpacked"),
            std::string::npos);
  EXPECT_NE(refusal(fatbin({{.payload = text, .flags = zstd, .unpacked = 1u << 30}}))
                .find("more than 256 MiB"),
            std::string::npos);
}

// Each length that a file may be cut to gets an answer.
TEST(Fatbin, EveryCutIsRefused) {
  const std::string text(300, 'p');
  const std::string file =
      fatbin({{.payload = by_lz4(text), .flags = lz4, .unpacked = 300}, {.payload = "text"}});
  for (std::size_t n = 0; n < file.size(); ++n) {
    EXPECT_NE(refusal(file.substr(0, n)), "none") << n;
  }
}

}  // namespace
}  // namespace tilescope
