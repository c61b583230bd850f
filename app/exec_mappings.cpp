// Virtual memory of a program under `tilescope exec`: addresses that it has reserved, memory that
// it has made, and what of it lies where (CUDA Driver API, "Virtual Memory Management").
//
// Memory is in its place while somebody may access it there; else its bytes wait.
#include <fmt/format.h>

#include <algorithm>

#include "app/exec_calls.h"

namespace tilescope {
namespace {

constexpr std::uint64_t grain = wire::mapped_grain;
constexpr std::uint32_t reads = 1;  // CU_MEM_ACCESS_FLAGS_PROT_READ

// The same bytes at another address.
sim::Region moved(const sim::Region& from, std::uint64_t base) {
  sim::Region out(from.kind(), from.name(), base, {from.data(), from.data() + from.size()});
  out.about = from.about;
  for (std::uint64_t at = 0; from.undefined_bits() && at < from.size();) {
    std::uint64_t end = at;
    while (end < from.size() && from.is_undefined(end)) ++end;
    if (end > at) out.make_undefined(at, end - at);
    at = end + 1;
  }
  return out;
}

}  // namespace

// Each range is followed by one that is nobody's, so that who goes beyond it meets nothing.
DriverResult ExecCalls::reserve(wire::Reader& in, CallAnswer& answer) {
  const auto bytes = in.get<std::uint64_t>(), asked = in.get<std::uint64_t>();
  const auto at = in.get<std::uint64_t>();
  const std::uint64_t alignment = std::max(asked, grain);
  if (bytes == 0 || bytes % grain || (alignment & (alignment - 1))) {
    return DriverResult::invalid_value;
  }
  if (bytes > wire::mapped_end - wire::mapped_begin) return DriverResult::out_of_memory;
  const auto is_free = [&](std::uint64_t begin) {
    if (begin < wire::mapped_begin || begin > wire::mapped_end - bytes) return false;
    const auto next = reserved_.lower_bound(begin);
    if (next != reserved_.end() && next->first < begin + bytes) return false;
    return next == reserved_.begin() || std::prev(next)->first + std::prev(next)->second <= begin;
  };
  std::uint64_t address = at;
  if (at % alignment || !is_free(at)) {
    address = wire::mapped_begin;
    for (const auto& [begin, size] : reserved_) {
      if (address + bytes + grain <= begin) break;
      address = (begin + size + grain + alignment - 1) / alignment * alignment;
    }
    if (!is_free(address)) return DriverResult::out_of_memory;
  }
  reserved_[address] = bytes;
  answer.out.put(address);
  return DriverResult::success;
}

// The mappings within [address, address + bytes), where they fill it and none goes beyond it; else
// none.
std::vector<std::uint64_t> ExecCalls::mapped_in(std::uint64_t address, std::uint64_t bytes) const {
  std::vector<std::uint64_t> out;
  std::uint64_t at = address;
  for (auto each = mapped_.find(address);
       each != mapped_.end() && each->first == at && at - address < bytes; ++each) {
    out.push_back(at);
    at += each->second.bytes;
  }
  if (bytes == 0 || at - address != bytes) out.clear();
  return out;
}

DriverResult ExecCalls::unreserve(wire::Reader& in, CallAnswer&) {
  const auto address = in.get<std::uint64_t>(), bytes = in.get<std::uint64_t>();
  const auto found = reserved_.find(address);
  if (found == reserved_.end() || found->second != bytes) return DriverResult::invalid_value;
  const auto next = mapped_.lower_bound(address);
  if (next != mapped_.end() && next->first < address + bytes) return DriverResult::invalid_value;
  reserved_.erase(found);
  return DriverResult::success;
}

DriverResult ExecCalls::physical_create(wire::Reader& in, CallAnswer& answer) {
  const auto bytes = in.get<std::uint64_t>();
  const auto handles = in.get<std::uint32_t>();
  if (bytes == 0 || bytes % grain) return DriverResult::invalid_value;
  if (!device_.memory().claim(bytes)) return no_room(bytes);
  Physical made;
  made.bytes = bytes, made.handles = handles;
  sim::Region region(sim::Region::Kind::buffer, std::to_string(++allocations_), 0,
                     std::vector<std::byte>(bytes));
  region.make_undefined();
  region.about = "mapped memory";
  made.waiting = std::move(region);
  const std::uint64_t handle = new_handle();
  physical_[handle] = std::move(made);
  answer.out.put(handle);
  return DriverResult::success;
}

// It goes when nobody holds it and it lies nowhere.
void ExecCalls::end_physical(std::uint64_t handle) {
  const auto found = physical_.find(handle);
  if (found->second.uses || found->second.mapped) return;
  device_.memory().disclaim(found->second.bytes);
  physical_.erase(found);
}

DriverResult ExecCalls::physical_release(wire::Reader& in, CallAnswer&) {
  const auto found = physical_.find(in.get<std::uint64_t>());
  if (found == physical_.end() || !found->second.uses) return DriverResult::invalid_value;
  --found->second.uses;
  end_physical(found->first);
  return DriverResult::success;
}

DriverResult ExecCalls::physical_find(wire::Reader& in, CallAnswer& answer) {
  const auto found = physical_.find(in.get<std::uint64_t>());
  if (found == physical_.end() || !found->second.uses) return DriverResult::invalid_value;
  answer.out.put(found->second.bytes).put(found->second.handles);
  return DriverResult::success;
}

DriverResult ExecCalls::map(wire::Reader& in, CallAnswer&) {
  const auto address = in.get<std::uint64_t>(), bytes = in.get<std::uint64_t>();
  const auto memory = physical_.find(in.get<std::uint64_t>());
  if (memory == physical_.end() || !memory->second.uses) return DriverResult::invalid_value;
  if (address % grain || bytes % grain || bytes != memory->second.bytes) {
    return DriverResult::invalid_value;
  }
  const auto range = reserved_.upper_bound(address);
  if (range == reserved_.begin() ||
      address + bytes > std::prev(range)->first + std::prev(range)->second) {
    return DriverResult::invalid_value;
  }
  const auto next = mapped_.lower_bound(address);
  if (next != mapped_.end() && next->first < address + bytes) return DriverResult::invalid_value;
  if (next != mapped_.begin() && std::prev(next)->first + std::prev(next)->second.bytes > address) {
    return DriverResult::invalid_value;
  }
  if (memory->second.mapped) {
    terminal_.say(fmt::format(
        "tilescope: {} maps the same memory to a second address, 0x{:x}: that is not there, and "
        "answered CUDA_ERROR_NOT_SUPPORTED. Unmapped from the first it can be mapped anew.",
        program_, address));
    return DriverResult::not_supported;
  }
  memory->second.mapped = true;
  mapped_[address] = {bytes, memory->first, 0};
  return DriverResult::success;
}

void ExecCalls::give_access(std::uint64_t address, std::uint32_t flags) {
  Mapping& mapping = mapped_.at(address);
  Physical& memory = physical_.at(mapping.memory);
  if (!mapping.access && flags) {
    device_.memory().attach(moved(*memory.waiting, address));
    memory.waiting.reset();
  }
  if (mapping.access && !flags) memory.waiting = device_.memory().detach(address);
  if (flags) device_.memory().find(address)->read_only = flags == reads;
  mapping.access = flags;
}

DriverResult ExecCalls::unmap(wire::Reader& in, CallAnswer&) {
  const auto address = in.get<std::uint64_t>(), bytes = in.get<std::uint64_t>();
  const std::vector<std::uint64_t> all = mapped_in(address, bytes);
  if (all.empty()) return DriverResult::invalid_value;
  for (const std::uint64_t each : all) {
    give_access(each, 0);
    const std::uint64_t memory = mapped_.at(each).memory;
    mapped_.erase(each);
    physical_.at(memory).mapped = false;
    end_physical(memory);
  }
  return DriverResult::success;
}

DriverResult ExecCalls::access_set(wire::Reader& in, CallAnswer&) {
  const auto address = in.get<std::uint64_t>(), bytes = in.get<std::uint64_t>();
  const auto flags = in.get<std::uint32_t>();
  const std::vector<std::uint64_t> all = mapped_in(address, bytes);
  if (all.empty()) return DriverResult::invalid_value;
  for (const std::uint64_t each : all) give_access(each, flags);
  return DriverResult::success;
}

namespace {

// What lies at this address, of a map by where things begin.
template <class Mappings>
auto mapping_at(Mappings& all, std::uint64_t address) {
  auto found = all.upper_bound(address);
  if (found == all.begin()) return all.end();
  --found;
  return address - found->first < found->second.bytes ? found : all.end();
}

}  // namespace

DriverResult ExecCalls::access_get(wire::Reader& in, CallAnswer& answer) {
  const auto found = mapping_at(mapped_, in.get<std::uint64_t>());
  if (found == mapped_.end()) return DriverResult::invalid_value;
  answer.out.put(found->second.access);
  return DriverResult::success;
}

DriverResult ExecCalls::retain(wire::Reader& in, CallAnswer& answer) {
  const auto found = mapping_at(mapped_, in.get<std::uint64_t>());
  if (found == mapped_.end()) return DriverResult::invalid_value;
  ++physical_.at(found->second.memory).uses;
  answer.out.put(found->second.memory);
  return DriverResult::success;
}

}  // namespace tilescope
