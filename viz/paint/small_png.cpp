#include "viz/paint/small_png.h"

#include <algorithm>
#include <array>
#include <map>

namespace tilescope {
namespace {

// Bits go into bytes from the low end (RFC 1951, 3.1.1).
class Bits {
 public:
  explicit Bits(std::string& out) : out_(out) {}
  void put(std::uint32_t value, int count) {
    held_ |= static_cast<std::uint64_t>(value) << used_;
    used_ += count;
    while (used_ >= 8) {
      out_ += static_cast<char>(held_ & 0xff);
      held_ >>= 8;
      used_ -= 8;
    }
  }
  // Huffman codes go in from their high end.
  void code(std::uint32_t value, int count) {
    std::uint32_t turned = 0;
    for (int i = 0; i < count; ++i) turned |= ((value >> i) & 1) << (count - 1 - i);
    put(turned, count);
  }
  void finish() {
    if (used_ > 0) put(0, 8 - used_);
  }

 private:
  std::string& out_;
  std::uint64_t held_ = 0;
  int used_ = 0;
};

// The fixed codes of literals and lengths (3.2.6).
void put_symbol(Bits& bits, int symbol) {
  const std::uint32_t s = static_cast<std::uint32_t>(symbol);
  if (symbol < 144) {
    bits.code(0x30 + s, 8);
  } else if (symbol < 256) {
    bits.code(0x190 + s - 144, 9);
  } else if (symbol < 280) {
    bits.code(s - 256, 7);
  } else {
    bits.code(0xc0 + s - 280, 8);
  }
}

// Lengths 3 to 258 and distances 1 to 32768 as a symbol and extra bits (3.2.5).
constexpr std::array<int, 29> length_base{3,  4,  5,  6,   7,   8,   9,   10,  11, 13,
                                          15, 17, 19, 23,  27,  31,  35,  43,  51, 59,
                                          67, 83, 99, 115, 131, 163, 195, 227, 258};
constexpr std::array<int, 29> length_extra{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                           2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
void put_match(Bits& bits, int length, int distance) {
  const auto symbol = static_cast<std::size_t>(
      std::upper_bound(length_base.begin(), length_base.end(), length) - length_base.begin() - 1);
  put_symbol(bits, 257 + static_cast<int>(symbol));
  bits.put(static_cast<std::uint32_t>(length - length_base[symbol]), length_extra[symbol]);
  int code = distance - 1, extra = 0;
  if (distance > 4) {
    // Two codes for each power of two.
    int high = 0;
    while ((distance - 1) >> (high + 1) != 0) ++high;
    extra = high - 1;
    code = 2 * high + (((distance - 1) >> extra) & 1);
  }
  bits.code(static_cast<std::uint32_t>(code), 5);
  bits.put(static_cast<std::uint32_t>((distance - 1) & ((1 << extra) - 1)), extra);
}

std::string deflated(const std::string& data) {
  constexpr std::size_t window = 32768, longest = 258;
  std::string out;
  Bits bits(out);
  bits.put(1, 1);  // the last block
  bits.put(1, 2);  // fixed codes
  std::vector<std::int64_t> seen(1 << 16, -1);
  const auto hash = [&](std::size_t i) {
    std::uint32_t h = 0;
    for (std::size_t k = 0; k < 4; ++k)
      h = h * 0x9E3779B1u + static_cast<std::uint8_t>(data[i + k]);
    return static_cast<std::size_t>(h >> 16);
  };
  for (std::size_t i = 0; i < data.size();) {
    std::size_t length = 0, distance = 0;
    if (i + 4 <= data.size()) {
      const std::size_t h = hash(i);
      if (const std::int64_t at = seen[h]; at >= 0 && i - static_cast<std::size_t>(at) <= window) {
        distance = i - static_cast<std::size_t>(at);
        const std::size_t most = std::min(longest, data.size() - i);
        while (length < most && data[i + length] == data[i - distance + length]) ++length;
      }
      seen[h] = static_cast<std::int64_t>(i);
    }
    if (length >= 4) {
      put_match(bits, static_cast<int>(length), static_cast<int>(distance));
      i += length;
    } else {
      put_symbol(bits, static_cast<std::uint8_t>(data[i]));
      ++i;
    }
  }
  put_symbol(bits, 256);
  bits.finish();
  return out;
}

void put_number(std::string& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 0xff);
}

std::string zlib(const std::string& data) {
  std::uint32_t a = 1, b = 0;
  for (const char c : data) {
    a = (a + static_cast<std::uint8_t>(c)) % 65521;
    b = (b + a) % 65521;
  }
  std::string out = "\x78\x01" + deflated(data);
  put_number(out, b << 16 | a);
  return out;
}

std::uint32_t crc(const std::string& data) {
  static const std::array<std::uint32_t, 256> table = [] {
    std::array<std::uint32_t, 256> t{};
    for (std::uint32_t n = 0; n < 256; ++n) {
      std::uint32_t c = n;
      for (int k = 0; k < 8; ++k) c = c & 1 ? 0xedb88320u ^ (c >> 1) : c >> 1;
      t[n] = c;
    }
    return t;
  }();
  std::uint32_t c = 0xffffffffu;
  for (const char byte : data) c = table[(c ^ static_cast<std::uint8_t>(byte)) & 0xff] ^ (c >> 8);
  return ~c;
}

void put_chunk(std::string& out, const std::string& type, const std::string& data) {
  put_number(out, static_cast<std::uint32_t>(data.size()));
  out += type + data;
  put_number(out, crc(type + data));
}

std::uint32_t packed(Rgba c) {
  return static_cast<std::uint32_t>(c.r) << 24 | static_cast<std::uint32_t>(c.g) << 16 |
         static_cast<std::uint32_t>(c.b) << 8 | c.a;
}

}  // namespace

std::string small_png(const Image& image) {
  // The palette in order of first use; given up with the 257th colour.
  std::map<std::uint32_t, std::uint8_t> index;
  std::string colours, alphas;
  bool indexed = true;
  for (const Rgba c : image.rgba) {
    if (index.count(packed(c)) != 0) continue;
    indexed = index.size() < 256;
    if (!indexed) break;
    index[packed(c)] = static_cast<std::uint8_t>(index.size());
    colours += {static_cast<char>(c.r), static_cast<char>(c.g), static_cast<char>(c.b)};
    alphas += static_cast<char>(c.a);
  }
  std::string raw;
  std::uint32_t last = 0;
  std::uint8_t last_index = 0;
  for (std::size_t i = 0; i < image.rgba.size(); ++i) {
    if (i % static_cast<std::size_t>(image.columns) == 0) raw += '\0';  // no filter
    const Rgba c = image.rgba[i];
    if (!indexed) {
      raw += {static_cast<char>(c.r), static_cast<char>(c.g), static_cast<char>(c.b),
              static_cast<char>(c.a)};
      continue;
    }
    if (i == 0 || packed(c) != last) last_index = index[packed(c)];
    last = packed(c);
    raw += static_cast<char>(last_index);
  }
  std::string out("\x89PNG\r\n\x1a\n", 8), header;
  put_number(header, static_cast<std::uint32_t>(image.columns));
  put_number(header, static_cast<std::uint32_t>(image.rows));
  header += {8, static_cast<char>(indexed ? 3 : 6), 0, 0, 0};
  put_chunk(out, "IHDR", header);
  if (indexed) {
    put_chunk(out, "PLTE", colours);
    put_chunk(out, "tRNS", alphas);
  }
  put_chunk(out, "IDAT", zlib(raw));
  put_chunk(out, "IEND", {});
  return out;
}

std::string base64(const std::string& bytes) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8 | (i + k < bytes.size() ? static_cast<std::uint8_t>(bytes[i + k]) : 0u);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      out += i + k <= bytes.size() ? digits[group >> (18 - 6 * k) & 63] : '=';
    }
  }
  return out;
}

}  // namespace tilescope
