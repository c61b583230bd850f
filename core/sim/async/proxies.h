// What other proxies have been told of global memory. Threads load and store through the generic
// proxy, bulk copies go through the async proxy, and tensor maps are read through one of their own;
// what one has written another sees only after a proxy fence (PTX ISA 8.6, 9.7.13.4).
//
// Time is the number of such fences so far: a Region remembers when each of its bytes was written
// (Region::set_time), and here is when each thread, in the whole launch, last told a proxy. A fence
// tells of what its own thread wrote before.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>

namespace tilescope::sim {

enum class Proxy : std::uint8_t { async, tensor_map };

class Proxies {
 public:
  std::uint32_t now() const { return now_; }

  // Lanes m of a warp of a block tell a proxy. What they write from now on is later.
  void tell(Proxy proxy, std::uint64_t block, std::uint32_t warp, std::uint32_t m);
  // Whether a thread has told since a time; threads are counted in their block.
  bool has_told(Proxy proxy, std::uint64_t block, std::uint32_t thread, std::uint32_t since) const;

  // A thread of a block asks for the tensor map at an address; whether one has since a time.
  void ask(std::uint64_t block, std::uint64_t address) { asked_[{block, address}] = ++now_; }
  bool has_asked(std::uint64_t block, std::uint64_t address, std::uint32_t since) const;

 private:
  std::uint32_t now_ = 1;
  // By block * 32 + warp: when all of its lanes told; and when each did, where not all together.
  struct Told {
    std::unordered_map<std::uint64_t, std::uint32_t> warps;
    std::unordered_map<std::uint64_t, std::array<std::uint32_t, 32>> lanes;
  };
  std::array<Told, 2> told_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t> asked_;  // by block and address
};

}  // namespace tilescope::sim
