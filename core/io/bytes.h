// Numbers and text as bytes, little endian, one after the other. A reader never goes beyond what is
// there: from then on it has failed, says where, and answers zeros.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilescope {

// Small magnitudes as small numbers: 0, -1, 1, -2 ... are 0, 1, 2, 3 ...
constexpr std::uint64_t zigzag(std::uint64_t difference) {
  return difference << 1 ^ (difference >> 63 ? ~std::uint64_t{0} : 0);
}
constexpr std::uint64_t unzigzag(std::uint64_t value) {
  return value >> 1 ^ (value & 1 ? ~std::uint64_t{0} : 0);
}

class ByteWriter {
 public:
  std::vector<std::byte> bytes;

  void u8(std::uint8_t value) { bytes.push_back(static_cast<std::byte>(value)); }
  void u32(std::uint32_t value) { fixed(value, 4); }
  void u64(std::uint64_t value) { fixed(value, 8); }
  void f64(double value) { fixed(std::bit_cast<std::uint64_t>(value), 8); }
  // Seven bits a byte, the lowest first; a byte of 128 and more is followed by another.
  void varint(std::uint64_t value) {
    while (value >= 128) {
      u8(static_cast<std::uint8_t>(value | 128));
      value >>= 7;
    }
    u8(static_cast<std::uint8_t>(value));
  }
  void text(std::string_view value) {
    varint(value.size());
    for (const char c : value) u8(static_cast<std::uint8_t>(c));
  }

 private:
  void fixed(std::uint64_t value, int count) {
    for (int i = 0; i < count; ++i) u8(static_cast<std::uint8_t>(value >> 8 * i));
  }
};

class ByteReader {
 public:
  ByteReader(std::span<const std::byte> bytes, std::size_t at) : bytes_(bytes), at_(at) {}

  bool failed() const { return failed_; }
  std::size_t at() const { return at_; }
  std::size_t left() const { return bytes_.size() - at_; }
  void fail() { failed_ = true; }

  std::uint8_t u8() {
    if (left() == 0) failed_ = true;
    if (failed_) return 0;
    return static_cast<std::uint8_t>(bytes_[at_++]);
  }
  std::uint32_t u32() { return static_cast<std::uint32_t>(fixed(4)); }
  std::uint64_t u64() { return fixed(8); }
  double f64() { return std::bit_cast<double>(fixed(8)); }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const std::uint8_t byte = u8();
      // The tenth has the one bit that is left.
      if (shift == 63 && byte > 1) failed_ = true;
      value |= std::uint64_t{byte & 127u} << shift;
      if (byte < 128) return value;
    }
    failed_ = true;
    return 0;
  }
  // A varint of 32 bits.
  std::uint32_t number() {
    const std::uint64_t value = varint();
    if (value > ~std::uint32_t{0}) failed_ = true;
    return static_cast<std::uint32_t>(value);
  }
  std::string text() {
    const std::uint64_t size = varint();
    if (size > left()) failed_ = true;
    if (failed_) return {};
    std::string out(static_cast<std::size_t>(size), '\0');
    if (size) std::memcpy(out.data(), bytes_.data() + at_, out.size());
    at_ += out.size();
    return out;
  }
  // How many things of at least so many bytes each follow: never more than there is room for.
  std::size_t count(std::size_t bytes_each) {
    const std::uint64_t value = varint();
    if (value > left() / bytes_each) failed_ = true;
    return failed_ ? 0 : static_cast<std::size_t>(value);
  }

 private:
  std::uint64_t fixed(std::size_t count) {
    if (left() < count) failed_ = true;
    if (failed_) return 0;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      value |= std::uint64_t{static_cast<std::uint8_t>(bytes_[at_ + i])} << 8 * i;
    }
    at_ += count;
    return value;
  }

  std::span<const std::byte> bytes_;
  std::size_t at_;
  bool failed_ = false;
};

}  // namespace tilescope
