// Which addresses are whose: a program hands over both kinds, and in a unified copy does not say.
#pragma once

#include <cstdint>
#include <optional>

#include "app/cuda/api.h"
#include "app/cuda/wire.h"

namespace tilescope::standin {

// Memory that host and device have at one address: pinned, registered, or managed.
struct HostBlock {
  std::uint64_t begin = 0, bytes = 0;
  bool managed = false;
  unsigned flags = 0;
  unsigned long long context = 0;  // whose it is; 0: nobody's
};
std::optional<HostBlock> host_block(std::uint64_t address);

// Of a context that ends.
void forget_memory_of(unsigned long long context);
// A variable in a file that `tilescope` shares, at its own address; closes the file.
CUresult share_variable(std::uint64_t address, std::uint64_t bytes, int file);
void forget_variable(std::uint64_t address);

// An array, and where its elements are; what the driver answers where there is none.
CUresult find_array(CUarray array, wire::Array& out, std::uint64_t& address);

inline std::uint64_t address_of(const void* at) {
  return reinterpret_cast<std::uint64_t>(at);
}

// Whether only the device can reach it.
bool is_on_device(std::uint64_t address);

}  // namespace tilescope::standin
