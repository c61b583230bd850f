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

std::optional<std::uint64_t> DeviceMemory::allocate(std::uint64_t bytes, std::string name,
                                                    std::uint64_t alignment) {
  if (bytes == 0) return {};
  const bool fits = limit_ == 0 || bytes <= limit_ - std::min(limit_, used_);
  if (!fits) return {};
  next_ = round_up(next_, std::max<std::uint64_t>(alignment, 256));
  Region region(Region::Kind::buffer, std::move(name), next_, std::vector<std::byte>(bytes));
  region.make_undefined();
  const std::uint64_t address = next_;
  place(std::move(region));
  return address;
}

std::uint64_t DeviceMemory::allocate(std::vector<std::byte> bytes, std::string name) {
  const std::uint64_t address = next_;
  place(Region(Region::Kind::buffer, std::move(name), address, std::move(bytes)));
  return address;
}

bool DeviceMemory::place(Region region) {
  const std::uint64_t begin = region.base(), end = begin + region.size();
  const auto next =
      std::upper_bound(regions_.begin(), regions_.end(), begin,
                       [](std::uint64_t at, const Region& r) { return at < r.base(); });
  if (next != regions_.end() && next->base() < end) return false;
  if (next != regions_.begin() && (next - 1)->base() + (next - 1)->size() > begin) return false;
  used_ += region.size();
  if (begin >= first_ && begin - first_ < room) {
    next_ = std::max(next_, behind(begin, region.size()));
  }
  regions_.insert(next, std::move(region));
  return true;
}

bool DeviceMemory::release(std::uint64_t address) {
  Region* const region = find(address);
  if (!region || region->base() != address) return false;
  used_ -= region->size();
  if (freed_.use_count() > 1) freed_ = std::make_shared<AllFreed>(*freed_);
  (*freed_)[address] = {address + region->size(), region->name()};
  regions_.erase(regions_.begin() + (region - regions_.data()));
  return true;
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

bool DeviceMemory::copy_in(std::uint64_t address, const std::byte* from, std::uint64_t bytes) {
  if (bytes == 0) return true;
  Region* const region = find(address, bytes);
  if (!region) return false;
  region->set(address - region->base(), from, bytes);
  return true;
}

bool DeviceMemory::copy_out(std::uint64_t address, std::byte* to, std::uint64_t bytes) const {
  if (bytes == 0) return true;
  const Region* const region = find(address, bytes);
  if (!region) return false;
  std::memcpy(to, region->data() + (address - region->base()), bytes);
  return true;
}

bool DeviceMemory::copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
  if (bytes == 0) return true;
  Region* const target = find(to, bytes);
  const Region* const source = find(from, bytes);
  if (!target || !source) return false;
  const std::uint64_t offset = from - source->base();
  const std::vector<std::byte> values(source->data() + offset, source->data() + offset + bytes);
  std::vector<std::uint64_t> undefined;  // bytes of the source, where it has such
  if (source->undefined_bits()) {
    for (std::uint64_t i = 0; i < bytes; ++i) {
      if (source->is_undefined(offset + i)) undefined.push_back(i);
    }
  }
  target->set(to - target->base(), values.data(), bytes);
  for (const std::uint64_t i : undefined) target->make_undefined(to - target->base() + i, 1);
  return true;
}

bool DeviceMemory::fill(std::uint64_t address, std::uint64_t count, std::uint32_t value,
                        std::uint32_t width) {
  const std::uint64_t bytes = count * width;
  if (bytes == 0) return true;
  if (count > ~std::uint64_t{0} / width || !find(address, bytes)) return false;
  std::vector<std::byte> values(bytes);
  for (std::uint64_t i = 0; i < count; ++i) std::memcpy(&values[i * width], &value, width);
  return copy_in(address, values.data(), bytes);
}

}  // namespace tilescope::sim
