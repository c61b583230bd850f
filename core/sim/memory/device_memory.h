// The memory of a device: what a program has allocated, and the variables of the modules that it
// has loaded. It outlives launches: a machine takes it for as long as it runs, and gives it back.
//
// Addresses stay what they are, and none is given out twice: who uses memory that was released is
// told so. Allocations begin on 256 bytes as cudaMalloc's do, a megabyte or more from each other,
// so that an address past an end is nearest to the allocation that it came from. Bytes are
// undefined until somebody writes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/sim/memory/memory.h"

namespace tilescope::sim {

class DeviceMemory {
 public:
  // Where allocations begin.
  static constexpr std::uint64_t first_address = 0x0000'7f00'0000'0000;
  static constexpr std::uint64_t gap = std::uint64_t{1} << 20;
  // Where the one after `bytes` at `address` begins.
  static constexpr std::uint64_t behind(std::uint64_t address, std::uint64_t bytes) {
    return (address + bytes + 2 * gap - 1) / gap * gap;
  }

  // All of it together; an allocation that asks for more gets nothing. 0: no limit. `first`: where
  // allocations begin, with room for a terabyte; who places a region elsewhere moves none.
  explicit DeviceMemory(std::uint64_t limit = 0, std::uint64_t first = first_address)
      : limit_(limit), first_(first), next_(first) {}

  // Undefined bytes; nothing where there is no room, or none are asked for. `alignment`: a power
  // of 2, at most `gap`.
  std::optional<std::uint64_t> allocate(std::uint64_t bytes, std::string name,
                                        std::uint64_t alignment = 256);
  // Of one's own bytes, behind all others.
  std::uint64_t allocate(std::vector<std::byte> bytes, std::string name);
  // At a place of one's own: false where something else lies there.
  bool place(Region region);
  // What an allocation begins with; false: none does.
  bool release(std::uint64_t address);

  // Memory that is not always somewhere: counted from claim() to disclaim(), and between them put
  // in its place and taken from there, with its bytes (CUDA Driver API, "Virtual Memory
  // Management").
  bool claim(std::uint64_t bytes);
  void disclaim(std::uint64_t bytes) { used_ -= bytes; }
  bool attach(Region region);
  std::optional<Region> detach(std::uint64_t address);  // by where it begins

  // The host's side; false where [address, address + bytes) is not all within allocations that
  // follow each other without a gap, and nothing is changed then. Only what was attached does.
  bool holds(std::uint64_t address, std::uint64_t bytes) const;
  bool copy_in(std::uint64_t address, const std::byte* from, std::uint64_t bytes);
  bool copy_out(std::uint64_t address, std::byte* to, std::uint64_t bytes) const;
  // From one place to another; what is undefined stays so.
  bool copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes);
  // `count` elements of `width` bytes, 1, 2 or 4, from the lowest bits of `value`.
  bool fill(std::uint64_t address, std::uint64_t count, std::uint32_t value, std::uint32_t width);

  // What holds [address, address + bytes); null: no one allocation does.
  const Region* find(std::uint64_t address, std::uint64_t bytes = 1) const;
  Region* find(std::uint64_t address, std::uint64_t bytes = 1);
  // What was released: as it is now.
  std::shared_ptr<const AllFreed> freed() const { return freed_; }
  // Whose memory lies where no allocation does ("the stack of vectorAdd, on the host"), as who uses
  // this one knows; empty: nothing is known to.
  using Outside = std::function<std::string(std::uint64_t address)>;
  void set_outside(Outside outside) { outside_ = std::make_shared<Outside>(std::move(outside)); }
  std::shared_ptr<const Outside> outside() const { return outside_; }

  std::uint64_t used() const { return used_; }  // bytes
  std::uint64_t limit() const { return limit_; }
  const std::vector<Region>& regions() const { return regions_; }  // by ascending address

  // For Machine: what it runs on, and gives back.
  std::vector<Region> take() { return std::exchange(regions_, {}); }
  void put_back(std::vector<Region> regions) { regions_ = std::move(regions); }

 private:
  bool insert(Region region);
  void remove(Region* region);

  std::vector<Region> regions_;
  std::shared_ptr<AllFreed> freed_ = std::make_shared<AllFreed>();
  std::shared_ptr<const Outside> outside_;  // null: nobody knows
  std::uint64_t limit_ = 0, used_ = 0;
  std::uint64_t first_ = first_address, next_ = first_address;
};

}  // namespace tilescope::sim
