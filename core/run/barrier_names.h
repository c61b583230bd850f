// What the mbarriers of a kernel are called. PTX knows them by their bytes of shared memory alone;
// who wrote the kernel knows that bytes 98304 and 98312 are full[0] and full[1]. Our
// kernels say so in their PTX (core/run/manifest.h), a job hands it on, and a machine and its
// record keep it: everything that tells of an mbarrier asks here.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilescope {

// By their byte of shared memory, counted as the machine does: from the block's first. One that has
// no name goes by its byte.
using BarrierNames = std::map<std::uint32_t, std::string>;

// As a struct declares them, `Barrier full[2], empty[2], done;`, from a byte on: {"full", 2},
// {"empty", 2}, {"done", 0}. A count of 0: no array.
struct DeclaredBarrier {
  std::string name;
  std::uint32_t count = 0;
};
BarrierNames barriers_from(std::uint32_t byte, const std::vector<DeclaredBarrier>& declared);

// "full[1]"; "mbarrier 98312" where it has no name.
std::string barrier_name(const BarrierNames& names, std::uint32_t byte);
// "full[1] (byte 98312)"; "mbarrier 98312".
std::string barrier_text(const BarrierNames& names, std::uint32_t byte);
// What a reader calls one: "full[1]" in any case, or "98312". Nothing: neither.
std::optional<std::uint32_t> barrier_in(const BarrierNames& names, std::string_view text);

}  // namespace tilescope
