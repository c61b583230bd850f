#include "app/cuda/handshake.h"

#include <cstring>
#include <vector>

namespace tilescope::standin {
namespace {

using Block = std::array<unsigned char, 16>;

// RFC 1319, 3.2: a permutation made of the digits of pi.
constexpr unsigned char pi[256] = {
    41,  46,  67,  201, 162, 216, 124, 1,   61,  54,  84,  161, 236, 240, 6,   19,  98,  167, 5,
    243, 192, 199, 115, 140, 152, 147, 43,  217, 188, 76,  130, 202, 30,  155, 87,  60,  253, 212,
    224, 22,  103, 66,  111, 24,  138, 23,  229, 18,  190, 78,  196, 214, 218, 158, 222, 73,  160,
    251, 245, 142, 187, 47,  238, 122, 169, 104, 121, 145, 21,  178, 7,   63,  148, 194, 16,  137,
    11,  34,  95,  33,  128, 127, 93,  154, 90,  144, 50,  39,  53,  62,  204, 231, 191, 247, 151,
    3,   255, 25,  48,  179, 72,  165, 181, 209, 215, 94,  146, 42,  172, 86,  170, 198, 79,  184,
    56,  210, 150, 164, 125, 182, 118, 252, 107, 226, 156, 116, 4,   241, 69,  157, 112, 89,  100,
    113, 135, 32,  134, 91,  207, 101, 230, 45,  168, 2,   27,  96,  37,  173, 174, 176, 185, 246,
    28,  70,  97,  105, 52,  64,  126, 15,  85,  71,  163, 35,  221, 81,  175, 58,  195, 92,  249,
    206, 186, 197, 234, 38,  44,  83,  13,  110, 133, 40,  132, 9,   211, 223, 205, 244, 65,  129,
    77,  82,  106, 220, 55,  200, 108, 193, 171, 250, 36,  225, 123, 8,   12,  189, 177, 74,  120,
    136, 149, 139, 227, 99,  232, 109, 233, 203, 213, 254, 59,  0,   29,  57,  242, 239, 183, 14,
    102, 88,  208, 228, 166, 119, 114, 248, 235, 117, 75,  10,  49,  68,  80,  180, 143, 237, 31,
    26,  219, 153, 141, 51,  159, 17,  131, 20,
};

class Md2 {
 public:
  void add(const unsigned char* from, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      block_[filled_++] = from[i];
      if (filled_ == block_.size()) take();
    }
  }
  Block end() {
    const auto pad = static_cast<unsigned char>(block_.size() - filled_);
    for (unsigned i = 0; i < pad; ++i) add(&pad, 1);
    const Block checksum = checksum_;
    add(checksum.data(), checksum.size());
    Block out;
    std::memcpy(out.data(), state_, out.size());
    return out;
  }

 private:
  void take() {
    filled_ = 0;
    unsigned char last = checksum_[15];
    for (std::size_t i = 0; i < 16; ++i) {
      state_[16 + i] = block_[i];
      state_[32 + i] = state_[i] ^ block_[i];
      last = checksum_[i] ^= pi[block_[i] ^ last];
    }
    unsigned char t = 0;
    for (unsigned round = 0; round < 18; ++round) {
      for (unsigned char& byte : state_) t = byte ^= pi[t];
      t = static_cast<unsigned char>(t + round);
    }
  }

  unsigned char state_[48] = {};
  Block checksum_{}, block_{};
  std::size_t filled_ = 0;
};

// What every driver signs with (ZLUDA, dark_api/src/lib.rs).
constexpr Block key = {0x14, 0x6a, 0xdd, 0xae, 0x53, 0xa9, 0xa7, 0x52,
                       0xaa, 0x08, 0x41, 0x36, 0x0b, 0xf5, 0x5a, 0x9f};

Block hmac(const unsigned char* from, std::size_t count) {
  const auto with_key = [](unsigned char mask, const unsigned char* bytes, std::size_t n) {
    Md2 md2;
    for (const unsigned char byte : key) {
      const auto masked = static_cast<unsigned char>(byte ^ mask);
      md2.add(&masked, 1);
    }
    md2.add(bytes, n);
    return md2.end();
  };
  const Block inner = with_key(0x36, from, count);
  return with_key(0x5c, inner.data(), inner.size());
}

}  // namespace

std::array<unsigned char, 16> md2(const unsigned char* from, std::size_t count) {
  Md2 md2;
  md2.add(from, count);
  return md2.end();
}

Signature sign(const Signed& what, const SignedDevice& device) {
  std::vector<unsigned char> bytes;
  const auto add = [&](const auto& value) {
    const auto* const from = reinterpret_cast<const unsigned char*>(&value);
    bytes.insert(bytes.end(), from, from + sizeof value);
  };
  add(what.driver_version), add(what.runtime_version), add(what.process), add(what.thread);
  add(what.runtime_table), add(what.own_table), add(what.function), add(what.seconds);
  bytes.insert(bytes.end(), device.uuid.begin(), device.uuid.end());
  add(device.domain), add(device.bus), add(device.device);
  const Block hash = hmac(bytes.data(), bytes.size());
  Signature out;
  std::memcpy(out.data(), hash.data(), hash.size());
  return out;
}

}  // namespace tilescope::standin
