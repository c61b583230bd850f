// Memory of a program under `tilescope exec`: the device's, and what it shares with the host.
#include <sys/mman.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "app/exec_calls.h"
#include "core/ptx/written.h"
#include "core/run/tensor_map.h"
#include "core/sim/async/map_bits.h"

namespace tilescope {
namespace {

using wire::Rows;

constexpr std::uint64_t page_bytes = 4096;
// What one copy may be: the stand-in sends larger ones in pieces.
constexpr std::uint64_t most_copied = std::uint64_t{1} << 30;

// Bytes of a box; nothing where it is larger than any copy.
std::optional<std::uint64_t> bytes_of(const Rows& r) {
  if (r.bytes > most_copied || r.rows > most_copied || r.planes > most_copied) return {};
  const std::uint64_t plane = r.bytes * r.rows;
  if (plane > most_copied || plane * r.planes > most_copied) return {};
  return plane * r.planes;
}

// Whether each of its rows lies within allocations.
bool is_there(const sim::DeviceMemory& memory, const Rows& r, std::uint64_t row_bytes) {
  for (std::uint64_t plane = 0; plane < r.planes; ++plane) {
    for (std::uint64_t row = 0; row < r.rows; ++row) {
      if (!memory.holds(r.at(row, plane), row_bytes)) return false;
    }
  }
  return true;
}

bool same_shape(const Rows& a, const Rows& b) {
  return a.bytes == b.bytes && a.rows == b.rows && a.planes == b.planes;
}

}  // namespace

// ---- memory that host and device share ----------------------------------------------------------

std::unique_ptr<SharedMemory> SharedMemory::make(std::uint64_t address, std::uint64_t bytes) {
  std::unique_ptr<SharedMemory> out(new SharedMemory);
  out->address_ = address, out->size_ = bytes;
  out->file_ = ::memfd_create("tilescope", MFD_CLOEXEC);
  if (out->file_ < 0 || ::ftruncate(out->file_, static_cast<off_t>(bytes)) != 0) return nullptr;
  void* const mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, out->file_, 0);
  if (mapped == MAP_FAILED) return nullptr;
  out->bytes_ = static_cast<std::byte*>(mapped);
  return out;
}

void SharedMemory::set(const std::byte* from) {
  std::memcpy(bytes_, from, size_);
}

SharedMemory::~SharedMemory() {
  if (bytes_) ::munmap(bytes_, size_);
  if (file_ >= 0) ::close(file_);
}

// The file has pages from the first time on that somebody touches them: what lies in others nobody
// has written. So nothing here may touch a page that it finds missing, but to write it.
SharedMemory::Extent SharedMemory::pages_from(std::uint64_t at) const {
  const off_t begin = ::lseek(file_, static_cast<off_t>(at), SEEK_DATA);
  if (begin < 0) return {size_, size_};  // there are no more
  const off_t end = ::lseek(file_, begin, SEEK_HOLE);
  return {static_cast<std::uint64_t>(begin),
          end < 0 ? size_ : std::min(size_, static_cast<std::uint64_t>(end))};
}

// Page by page, so that of what the host leaves as it is the device still knows who wrote it. A
// page that the host has touched is written, all of it: that a byte of it is what it was says
// nothing.
void SharedMemory::to_device(sim::DeviceMemory& memory) const {
  const sim::Region* const region = memory.find(address_);
  if (!region) return;
  for (Extent there = pages_from(0); there.begin < size_; there = pages_from(there.end)) {
    for (std::uint64_t at = there.begin; at < there.end; at += page_bytes) {
      const std::uint64_t n = std::min(page_bytes, size_ - at);
      if (region->any_undefined(at, n) || std::memcmp(region->data() + at, bytes_ + at, n) != 0) {
        memory.copy_in(address_ + at, bytes_ + at, n);
      }
    }
    if (there.end >= size_) break;
  }
}

// Only a launch writes here, and it is known where: what lies beside that on a page another thread
// of the host may be writing meanwhile.
void SharedMemory::to_host(const sim::DeviceMemory& memory) const {
  static constexpr std::byte zeros[page_bytes] = {};
  const sim::Region* const region = memory.find(address_);
  if (!region) return;
  Extent there = pages_from(0);
  region->each_written([&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t at = begin; at < end;) {
      const std::uint64_t n = std::min(end, (at / page_bytes + 1) * page_bytes) - at;
      if (at >= there.end && there.end < size_) there = pages_from(at / page_bytes * page_bytes);
      const std::byte* const now = at >= there.begin ? bytes_ + at : zeros;
      if (std::memcmp(region->data() + at, now, n) != 0) {
        std::memcpy(bytes_ + at, region->data() + at, n);
      }
      at += n;
    }
  });
}

void ExecCalls::shared_to_device() {
  for (const auto& [address, block] : shared_) block->to_device(device_.memory());
}
void ExecCalls::shared_to_host() {
  for (const auto& [address, block] : shared_) block->to_host(device_.memory());
}

void SharedMemory::put_written(const sim::DeviceMemory& memory, std::size_t most,
                               std::vector<Extent>& out) const {
  const sim::Region* const region = memory.find(address_);
  if (!region || region->changes() == 0) return;
  Extent run;
  const auto take = [&] {
    const std::uint64_t begin = (run.begin + page_bytes - 1) / page_bytes * page_bytes;
    const std::uint64_t end = run.end == size_ ? size_ : run.end / page_bytes * page_bytes;
    if (begin < end && out.size() < most) out.push_back({address_ + begin, address_ + end});
  };
  region->each_written([&](std::uint64_t begin, std::uint64_t end) {
    if (begin != run.end) {
      take();
      run.begin = begin;
    }
    run.end = end;
  });
  take();
}

void ExecCalls::put_written(const Function& function, wire::Writer& out) {
  constexpr std::size_t most = 200;  // no more does the stand-in guard (app/cuda/guard.cpp)
  std::vector<SharedMemory::Extent> written;
  const ptx::Program* const program =
      shared_.empty() ? nullptr : device_.program(function.module, *function.entry);
  const bool tells = program && ptx::tells_system(*program);
  for (const auto& [address, block] : shared_) {
    if (!tells) block->put_written(device_.memory(), most, written);
  }
  const std::uint64_t number = device_.launches();
  if (!written.empty()) launched_[number] = function.entry->name;
  out.put(tells).put(number).put(static_cast<std::uint32_t>(written.size()));
  for (const SharedMemory::Extent& each : written) out.put(each.begin).put(each.end);
}

// ---- to have and to give back -------------------------------------------------------------------

DriverResult ExecCalls::allocate(wire::Reader& in, CallAnswer& answer) {
  const auto bytes = in.get<std::uint64_t>(), at = in.get<std::uint64_t>();
  const auto on = stream(in.get<std::uint64_t>());
  const auto turn = in.get<wire::Turn>();
  const std::string_view callers = in.text();
  if (!on) return DriverResult::invalid_handle;
  if (bytes == 0) return DriverResult::invalid_value;
  sim::DeviceMemory& memory = device_.memory();
  std::optional<std::uint64_t> address = at;
  const std::string name = std::to_string(++allocations_);
  if (!at) {
    address = memory.allocate(bytes, name);
  } else if (memory.claim(bytes)) {
    sim::Region region(sim::Region::Kind::buffer, name, at, std::vector<std::byte>(bytes));
    region.make_undefined();
    if (!memory.attach(std::move(region))) {
      memory.disclaim(bytes);
      return DriverResult::invalid_value;
    }
  } else {
    address.reset();
  }
  if (!address) return no_room(bytes);
  memory.find(*address)->about = "device memory";
  device_.note_maker(name, callers);
  owners_[*address] = context_;
  if (turn == wire::Turn::of_stream) {
    order(*on);
    device_.change(*on, SimulatedDevice::allocation, *address, bytes);
  }
  answer.out.put(*address);
  return DriverResult::success;
}

DriverResult ExecCalls::allocate_host(wire::Reader& in, CallAnswer& answer) {
  const auto bytes = in.get<std::uint64_t>();
  std::uint64_t address = in.get<std::uint64_t>();
  const bool managed = in.get<std::uint8_t>();
  const std::string_view callers = in.text();
  if (in.failed() || bytes == 0 || address % page_bytes) return DriverResult::invalid_value;
  sim::DeviceMemory& memory = device_.memory();
  const std::string name = std::to_string(++allocations_);
  if (!address) {
    const auto own = memory.allocate(bytes, name, page_bytes);
    if (!own) return no_room(bytes);
    address = *own;
  } else {
    if (memory.limit() && (bytes > memory.limit() || memory.used() > memory.limit() - bytes)) {
      return no_room(bytes);
    }
    std::vector<std::byte> nothing(bytes);
    if (!memory.place(sim::Region(sim::Region::Kind::buffer, name, address, std::move(nothing)))) {
      return static_cast<DriverResult>(712);  // CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED
    }
  }
  memory.find(address)->about = managed ? "managed memory" : "host memory";
  device_.note_maker(name, callers);
  auto block = SharedMemory::make(address, bytes);
  if (!block) {
    memory.release(address);
    return DriverResult::out_of_memory;
  }
  answer.out.put(address);
  answer.file = block->file();
  shared_[address] = std::move(block);
  owners_[address] = context_;
  return DriverResult::success;
}

DriverResult ExecCalls::release(wire::Reader& in, CallAnswer&) {
  const auto address = in.get<std::uint64_t>();
  const auto on = stream(in.get<std::uint64_t>());
  const auto turn = in.get<wire::Turn>();
  if (turn == wire::Turn::waits) device_.order().host_waited_for_all();
  if (turn == wire::Turn::of_stream && on) {
    const sim::Region* const region = device_.memory().find(address);
    order(*on);
    if (region && region->base() == address) {
      device_.change(*on, SimulatedDevice::release, address, region->size());
    }
  }
  if (mapped_.count(address)) return DriverResult::invalid_value;  // it is unmapped
  shared_.erase(address);
  owners_.erase(address);
  sim::DeviceMemory& memory = device_.memory();
  const std::shared_ptr<const sim::AllFreed> freed = memory.freed();
  if (memory.release(address)) return DriverResult::success;
  // A program that looks at no answer would never know.
  const sim::Region* const there = memory.find(address);
  const sim::Freed* const before = sim::freed_at(*freed, address);
  device_.call_was_refused(
      fmt::format("0x{:x} was not freed: {}", address,
                  there ? fmt::format("it is byte {} of buffer {}, and its beginning is what "
                                      "cudaFree takes",
                                      address - there->base(), there->name())
                  : before
                      ? fmt::format("buffer {}, which was there, was freed before", before->name)
                      : "nothing was allocated there"),
      "what cudaMalloc gave, once");
  return DriverResult::invalid_value;
}

DriverResult ExecCalls::find(wire::Reader& in, CallAnswer& answer) {
  const sim::Region* const region = device_.memory().find(in.get<std::uint64_t>());
  if (!region) return DriverResult::invalid_value;
  answer.out.put(region->base()).put(region->size());
  return DriverResult::success;
}

void ExecCalls::use(std::uint64_t stream, const char* what, const Rows& rows,
                    std::uint64_t row_bytes, bool writes) {
  for (std::uint64_t plane = 0; plane < rows.planes; ++plane) {
    for (std::uint64_t row = 0; row < rows.rows; ++row) {
      device_.use(stream, what, rows.at(row, plane), row_bytes, writes);
    }
  }
}

// ---- copies -------------------------------------------------------------------------------------

namespace {
std::string count_text(std::uint64_t bytes) {
  return fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s");
}
}  // namespace

// A program that looks at no answer would never know.
DriverResult ExecCalls::refuse(std::string_view what, const Rows& rows, std::uint64_t row_bytes) {
  const sim::DeviceMemory& memory = device_.memory();
  Rows bad = rows;
  for (std::uint64_t plane = 0; plane < rows.planes; ++plane) {
    for (std::uint64_t row = 0; row < rows.rows; ++row) {
      bad.address = rows.at(row, plane);
      if (memory.holds(bad.address, row_bytes)) continue;
      plane = rows.planes - 1;
      break;
    }
  }
  const sim::Region* const region = memory.find(bad.address);
  const sim::Freed* const freed = sim::freed_at(*memory.freed(), bad.address);
  const std::string there =
      region  ? fmt::format("buffer {} has {} from there on", region->name(),
                            count_text(region->base() + region->size() - bad.address))
      : freed ? fmt::format("buffer {}, which was there, was freed before", freed->name)
              : "there is no memory of the device";
  device_.call_was_refused(fmt::format("{} of {} at 0x{:x} was refused: {}", what,
                                       count_text(row_bytes), bad.address, there),
                           "memory of the device, as many bytes as there are");
  return DriverResult::invalid_value;
}

DriverResult ExecCalls::copy_refused(wire::Reader& in, CallAnswer&) {
  const std::string_view what = in.text();
  Rows rows;
  rows.address = in.get<std::uint64_t>();
  rows.bytes = in.get<std::uint64_t>();
  return in.failed() ? DriverResult::invalid_value : refuse(what, rows, rows.bytes);
}

DriverResult ExecCalls::copy_in(wire::Reader& in, CallAnswer& answer) {
  const auto to = in.get<Rows>();
  const auto on = stream(in.get<std::uint64_t>());
  const bool waits = in.get<bool>();
  const bool pinned = in.get<bool>();
  const std::string_view bytes = in.text();
  if (!on) return DriverResult::invalid_handle;
  if (bytes_of(to) != bytes.size() || !is_there(device_.memory(), to, to.bytes)) {
    return refuse("a copy from the host", to, to.bytes);
  }
  const auto* from = reinterpret_cast<const std::byte*>(bytes.data());
  for (std::uint64_t plane = 0; plane < to.planes; ++plane) {
    for (std::uint64_t row = 0; row < to.rows; ++row, from += to.bytes) {
      device_.memory().copy_in(to.at(row, plane), from, to.bytes);
    }
  }
  order(*on);
  use(*on, "a copy from the host", to, to.bytes, true);
  device_.did(*on, pinned ? SimulatedDevice::Way::to_device : SimulatedDevice::Way::from_pageable,
              "copy from the host", bytes.size());
  if (waits) host_waited(*on);
  if (waits) answer.out.put_text(device_.take_printed());
  return DriverResult::success;
}

DriverResult ExecCalls::copy_out(wire::Reader& in, CallAnswer& answer) {
  const auto from = in.get<Rows>();
  const auto on = stream(in.get<std::uint64_t>());
  const bool waits = in.get<bool>();
  const bool pinned = in.get<bool>();
  if (!on) return DriverResult::invalid_handle;
  const auto bytes = bytes_of(from);
  if (!bytes || !is_there(device_.memory(), from, from.bytes)) {
    return refuse("a copy to the host", from, from.bytes);
  }
  std::string out(*bytes, '\0');
  auto* to = reinterpret_cast<std::byte*>(out.data());
  for (std::uint64_t plane = 0; plane < from.planes; ++plane) {
    for (std::uint64_t row = 0; row < from.rows; ++row, to += from.bytes) {
      device_.memory().copy_out(from.at(row, plane), to, from.bytes);
    }
  }
  order(*on);
  use(*on, "a copy to the host", from, from.bytes, false);
  device_.did(*on, pinned ? SimulatedDevice::Way::from_device : SimulatedDevice::Way::to_pageable,
              "copy to the host", *bytes);
  for (std::uint64_t plane = 0; plane < from.planes; ++plane) {
    for (std::uint64_t row = 0; row < from.rows; ++row) {
      device_.hand_over(from.at(row, plane), from.bytes);
    }
  }
  if (waits) host_waited(*on);
  answer.out.put_text(out).put_text(waits ? device_.take_printed() : std::string());
  return DriverResult::success;
}

DriverResult ExecCalls::copy_within(wire::Reader& in, CallAnswer&) {
  const auto to = in.get<Rows>();
  const auto from = in.get<Rows>();
  const auto on = stream(in.get<std::uint64_t>());
  if (!on) return DriverResult::invalid_handle;
  const auto bytes = bytes_of(to);
  sim::DeviceMemory& memory = device_.memory();
  if (!bytes || !same_shape(to, from)) return DriverResult::invalid_value;
  for (const Rows& rows : {to, from}) {
    if (!is_there(memory, rows, rows.bytes)) {
      return refuse("a copy on the device", rows, rows.bytes);
    }
  }
  order(*on);
  use(*on, "a copy on the device", from, from.bytes, false);
  use(*on, "a copy on the device", to, to.bytes, true);
  for (std::uint64_t plane = 0; plane < to.planes; ++plane) {
    for (std::uint64_t row = 0; row < to.rows; ++row) {
      memory.copy(to.at(row, plane), from.at(row, plane), to.bytes);
      device_.copied(to.at(row, plane), from.at(row, plane), to.bytes);
    }
  }
  device_.copied(to.address, from.address);
  device_.did(*on, SimulatedDevice::Way::within, "copy on the device", *bytes);
  return DriverResult::success;
}

// `to.bytes` are elements of a row.
DriverResult ExecCalls::fill(wire::Reader& in, CallAnswer&) {
  const auto to = in.get<Rows>();
  const auto value = in.get<std::uint32_t>();
  const auto width = in.get<std::uint32_t>();
  const auto on = stream(in.get<std::uint64_t>());
  if (!on) return DriverResult::invalid_handle;
  if ((width != 1 && width != 2 && width != 4) || to.bytes > (~std::uint64_t{0} >> 2) ||
      to.rows > most_copied || to.planes != 1) {
    return DriverResult::invalid_value;
  }
  if (!is_there(device_.memory(), to, to.bytes * width)) {
    return refuse("a memset", to, to.bytes * width);
  }
  order(*on);
  use(*on, "a memset", to, to.bytes * width, true);
  for (std::uint64_t row = 0; row < to.rows; ++row) {
    device_.memory().fill(to.at(row, 0), to.bytes, value, width);
  }
  device_.did(*on, SimulatedDevice::Way::fills, "memset", to.rows * to.bytes * width);
  return DriverResult::success;
}

// ---- values that streams write and wait for (CUDA Driver API, "Stream Memory Operations")
// --------

DriverResult ExecCalls::value_write(wire::Reader& in, CallAnswer&) {
  Rows to;
  to.address = in.get<std::uint64_t>();
  const auto value = in.get<std::uint64_t>();
  to.bytes = in.get<std::uint32_t>();
  const auto on = stream(in.get<std::uint64_t>());
  if (!on) return DriverResult::invalid_handle;
  if (to.bytes > sizeof value || (to.bytes && !is_there(device_.memory(), to, to.bytes))) {
    return DriverResult::invalid_value;
  }
  order(*on);
  if (to.bytes) {
    use(*on, "a value that a stream writes", to, to.bytes, true);
    device_.memory().copy_in(to.address, reinterpret_cast<const std::byte*>(&value), to.bytes);
  }
  const auto [written, fresh] = values_.try_emplace(to.address);
  if (fresh) written->second.event = new_handle();
  written->second.time = device_.clock().time_of(*on);
  device_.order().record(written->second.event, *on);
  return DriverResult::success;
}

DriverResult ExecCalls::value_read(wire::Reader& in, CallAnswer& answer) {
  Rows from;
  from.address = in.get<std::uint64_t>();
  from.bytes = in.get<std::uint32_t>();
  std::uint64_t value = 0;
  if (from.bytes > sizeof value || !is_there(device_.memory(), from, from.bytes)) {
    return DriverResult::invalid_value;
  }
  device_.memory().copy_out(from.address, reinterpret_cast<std::byte*>(&value), from.bytes);
  answer.out.put(value);
  return DriverResult::success;
}

// What is there it has found. Who wrote it is known where that was a stream.
DriverResult ExecCalls::value_wait(wire::Reader& in, CallAnswer&) {
  const auto written = values_.find(in.get<std::uint64_t>());
  const auto on = stream(in.get<std::uint64_t>());
  if (!on) return DriverResult::invalid_handle;
  if (written == values_.end()) return DriverResult::success;
  device_.clock().wait(*on, written->second.time);
  device_.order().wait(*on, written->second.event);
  return DriverResult::success;
}

// ---- tensor maps --------------------------------------------------------------------------------

namespace {

struct MapType {
  DType dtype;
  MapPacking packing = MapPacking::none;
  MapFloat floats = MapFloat::f32;
};
// CUtensorMapDataType, from 0.
constexpr MapType map_types[] = {{DType::u8},
                                 {DType::u16},
                                 {DType::u32},
                                 {DType::i32},
                                 {DType::u64},
                                 {DType::i64},
                                 {DType::f16},
                                 {DType::f32},
                                 {DType::f64},
                                 {DType::bf16},
                                 {DType::f32, MapPacking::none, MapFloat::f32_ftz},
                                 {DType::f32, MapPacking::none, MapFloat::tf32},
                                 {DType::f32, MapPacking::none, MapFloat::tf32_ftz},
                                 {DType::u8, MapPacking::b4x16},
                                 {DType::u8, MapPacking::b4x16_p64},
                                 {DType::u8, MapPacking::b6x16_p32}};

std::optional<MapFields> fields_of(const wire::TensorMap& how) {
  if (how.type >= std::size(map_types) || how.rank < 1 || how.rank > most_map_dims) return {};
  if (how.interleave > 2 || how.swizzle > 6 || how.fill > 1) return {};
  MapFields out;
  out.address = how.address;
  out.dtype = map_types[how.type].dtype;
  out.packing = map_types[how.type].packing;
  out.floats = map_types[how.type].floats;
  out.rank = how.rank;
  out.interleave = static_cast<MapInterleave>(how.interleave);
  out.swizzle = static_cast<MapSwizzle>(how.swizzle);
  out.nan_fill = how.fill == 1;
  for (std::uint32_t i = 0; i < how.rank; ++i) {
    out.dims[i] = how.extent[i];
    out.strides[i] = i == 0 ? out.element_bytes() : how.strides[i - 1];
    out.box[i] = how.box[i];
    out.steps[i] = how.element_strides[i];
  }
  if (how.im2col) {
    PixelColumns pixels;
    for (std::uint32_t i = 0; i + 2 < how.rank; ++i) {
      pixels.lower[i] = how.lower[i], pixels.upper[i] = how.upper[i];
    }
    pixels.channels = how.channels, pixels.column = how.pixels;
    out.pixels = pixels;
  }
  return out;
}

}  // namespace

DriverResult ExecCalls::tensor_map(wire::Reader& in, CallAnswer& answer) {
  const auto fields = fields_of(in.get<wire::TensorMap>());
  if (!fields) return DriverResult::invalid_value;
  if (const auto wrong = objection(*fields)) {
    terminal_.say("tilescope: a tensor map was not made: " + *wrong);
    return DriverResult::invalid_value;
  }
  const sim::MapBits bits = sim::encode(*fields);
  answer.out.put_bytes(bits.data(), bits.size());
  return DriverResult::success;
}

}  // namespace tilescope
