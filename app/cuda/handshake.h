// What the CUDA runtime asks a driver to sign before it works with it.
#pragma once

#include <array>
#include <cstdint>

namespace tilescope::standin {

using Signature = std::array<std::uint64_t, 2>;

// Of what the runtime knows and will compute by itself: its version, the time that it chose, and
// where in this process things are.
struct Signed {
  std::uint32_t driver_version = 0, runtime_version = 0;
  std::uint32_t process = 0, thread = 0;
  std::uint64_t runtime_table = 0, own_table = 0, function = 0;
  std::uint64_t seconds = 0;
};
// One of the devices.
struct SignedDevice {
  std::array<unsigned char, 16> uuid{};
  std::int32_t domain = 0, bus = 0, device = 0;
};

// HMAC (RFC 2104) with MD2 (RFC 1319), by the key that the runtime has.
Signature sign(const Signed& what, const SignedDevice& device);

// MD2 of some bytes: for the test.
std::array<unsigned char, 16> md2(const unsigned char* from, std::size_t count);

}  // namespace tilescope::standin
