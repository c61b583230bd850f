#include "core/sim/memory/device_memory.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tilescope::sim {
namespace {

constexpr std::uint64_t room = std::uint64_t{1} << 40;

constexpr std::uint64_t round_up(std::uint64_t at, std::uint64_t to) {
  return (at + to - 1) / to * to;
}

}  // namespace

bool DeviceMemory::claim(std::uint64_t bytes) {
  if (limit_ != 0 && bytes > limit_ - std::min(limit_, used_)) return false;
  used_ += bytes;
  return true;
}

std::optional<std::uint64_t> DeviceMemory::allocate(std::uint64_t bytes, std::string name,
                                                    std::uint64_t alignment) {
  if (bytes == 0 || !claim(bytes)) return {};
  next_ = round_up(next_, std::max<std::uint64_t>(alignment, 256));
  Region region(Region::Kind::buffer, std::move(name), next_, std::vector<std::byte>(bytes));
  region.make_undefined();
  const std::uint64_t address = next_;
  insert(std::move(region));
  return address;
}

std::uint64_t DeviceMemory::allocate(std::vector<std::byte> bytes, std::string name) {
  const std::uint64_t address = next_;
  place(Region(Region::Kind::buffer, std::move(name), address, std::move(bytes)));
  return address;
}

bool DeviceMemory::insert(Region region) {
  const std::uint64_t begin = region.base(), end = begin + region.size();
  const auto next =
      std::upper_bound(regions_.begin(), regions_.end(), begin,
                       [](std::uint64_t at, const Region& r) { return at < r.base(); });
  if (next != regions_.end() && next->base() < end) return false;
  if (next != regions_.begin() && (next - 1)->base() + (next - 1)->size() > begin) return false;
  if (begin >= first_ && begin - first_ < room) {
    next_ = std::max(next_, behind(begin, region.size()));
  }
  regions_.insert(next, std::move(region));
  return true;
}

void DeviceMemory::remove(Region* region) {
  if (freed_.use_count() > 1) freed_ = std::make_shared<AllFreed>(*freed_);
  (*freed_)[region->base()] = {region->base() + region->size(), region->name()};
  regions_.erase(regions_.begin() + (region - regions_.data()));
}

bool DeviceMemory::place(Region region) {
  const std::uint64_t bytes = region.size();
  if (!insert(std::move(region))) return false;
  used_ += bytes;
  return true;
}

bool DeviceMemory::release(std::uint64_t address) {
  Region* const region = find(address);
  if (!region || region->base() != address) return false;
  used_ -= region->size();
  remove(region);
  return true;
}

bool DeviceMemory::attach(Region region) {
  return insert(std::move(region));
}

std::optional<Region> DeviceMemory::detach(std::uint64_t address) {
  Region* const region = find(address);
  if (!region || region->base() != address) return {};
  Region out = *region;
  remove(region);
  return out;
}

const Region* DeviceMemory::find(std::uint64_t address, std::uint64_t bytes) const {
  const auto next =
      std::upper_bound(regions_.begin(), regions_.end(), address,
                       [](std::uint64_t at, const Region& r) { return at < r.base(); });
  if (next == regions_.begin()) return nullptr;
  const Region& r = *(next - 1);
  const std::uint64_t offset = address - r.base();
  return offset < r.size() && bytes <= r.size() - offset ? &r : nullptr;
}

Region* DeviceMemory::find(std::uint64_t address, std::uint64_t bytes) {
  return const_cast<Region*>(std::as_const(*this).find(address, bytes));
}

namespace {

// The pieces of [address, address + bytes): piece(region, offset in it, bytes, bytes before it).
// False: some byte of it is in no allocation.
template <class Memory, class Piece>
bool each_piece(Memory& memory, std::uint64_t address, std::uint64_t bytes, Piece piece) {
  for (std::uint64_t done = 0; done < bytes;) {
    auto* const region = memory.find(address + done);
    if (!region) return false;
    const std::uint64_t offset = address + done - region->base();
    const std::uint64_t n = std::min(bytes - done, region->size() - offset);
    piece(*region, offset, n, done);
    done += n;
  }
  return true;
}

}  // namespace

bool DeviceMemory::holds(std::uint64_t address, std::uint64_t bytes) const {
  if (bytes > ~std::uint64_t{0} - address) return false;
  return each_piece(*this, address, bytes,
                    [](const Region&, std::uint64_t, std::uint64_t, std::uint64_t) {});
}

bool DeviceMemory::copy_in(std::uint64_t address, const std::byte* from, std::uint64_t bytes) {
  if (!holds(address, bytes)) return false;
  return each_piece(*this, address, bytes,
                    [&](Region& r, std::uint64_t at, std::uint64_t n, std::uint64_t done) {
                      r.set(at, from + done, n);
                    });
}

bool DeviceMemory::copy_out(std::uint64_t address, std::byte* to, std::uint64_t bytes) const {
  if (!holds(address, bytes)) return false;
  return each_piece(*this, address, bytes,
                    [&](const Region& r, std::uint64_t at, std::uint64_t n, std::uint64_t done) {
                      std::memcpy(to + done, r.data() + at, n);
                    });
}

bool DeviceMemory::copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
  if (!holds(to, bytes) || !holds(from, bytes)) return false;
  std::vector<std::byte> values(bytes);
  copy_out(from, values.data(), bytes);
  // Bytes of the source, where it has such, and who left them so.
  std::vector<std::pair<std::uint64_t, std::shared_ptr<const std::string>>> undefined;
  each_piece(std::as_const(*this), from, bytes,
             [&](const Region& r, std::uint64_t at, std::uint64_t n, std::uint64_t done) {
               for (std::uint64_t i = 0; r.undefined_bits() && i < n; ++i) {
                 if (r.is_undefined(at + i)) {
                   undefined.emplace_back(done + i, r.undefined_by(at + i));
                 }
               }
             });
  copy_in(to, values.data(), bytes);
  for (auto& [i, by] : undefined) {
    Region* const target = find(to + i);
    target->make_undefined(to + i - target->base(), 1);
    if (by) target->note_undefined(to + i - target->base(), 1, std::move(by));
  }
  return true;
}

bool DeviceMemory::fill(std::uint64_t address, std::uint64_t count, std::uint32_t value,
                        std::uint32_t width) {
  const std::uint64_t bytes = count * width;
  if (bytes == 0) return true;
  if (count > ~std::uint64_t{0} / width || !holds(address, bytes)) return false;
  std::vector<std::byte> values(bytes);
  std::memcpy(values.data(), &value, width);
  for (std::uint64_t done = width; done < bytes; done *= 2) {
    std::memcpy(values.data() + done, values.data(), std::min(done, bytes - done));
  }
  return copy_in(address, values.data(), bytes);
}

}  // namespace tilescope::sim
