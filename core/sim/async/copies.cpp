#include "core/sim/async/copies.h"

#include <algorithm>
#include <cstring>

#include "core/sim/async/map_bits.h"
#include "core/sim/machine/model.h"

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr u32 chunk = 16;  // what every swizzle keeps together

// ---- an operation's words ----

AsyncOperation with_span(const Work& work, const Span& s) {
  AsyncOperation o;
  o.work = &work;
  o.words[0] = s.global;
  o.words[1] = s.shared;
  o.words[2] = s.bytes;
  o.words[3] = static_cast<u64>(s.how);
  o.words[4] = static_cast<u64>(s.dtype);
  o.words[5] = s.mask;
  return o;
}

Span span_in(const AsyncOperation& o) {
  return {o.words[0],
          static_cast<u32>(o.words[1]),
          static_cast<u32>(o.words[2]),
          static_cast<ptx::Operation>(o.words[3]),
          static_cast<DType>(o.words[4]),
          static_cast<std::uint16_t>(o.words[5])};
}

constexpr std::size_t map_at = 8;  // word

AsyncOperation with_box(const Work& work, const Box& box) {
  AsyncOperation o;
  o.work = &work;
  o.words[0] = box.shared;
  o.words[1] = static_cast<u64>(box.how) | static_cast<u64>(box.walk) << 8;
  for (std::size_t d = 0; d < box.offsets.size(); ++d) {
    o.words[7] |= u64{box.offsets[d]} << 16 * d;
  }
  for (std::size_t d = 0; d < most_map_dims; ++d) {
    o.words[2 + d] = static_cast<u64>(static_cast<std::int64_t>(box.start[d]));
  }
  const MapBits bits = encode(box.map);
  static_assert(sizeof bits + 8 * map_at <= sizeof o.words);
  std::memcpy(&o.words[map_at], bits.data(), sizeof bits);
  return o;
}

Box box_in(const AsyncOperation& o) {
  MapBits bits;
  std::memcpy(bits.data(), &o.words[map_at], sizeof bits);
  Box box;
  box.map = *decode_map(bits);
  box.shared = static_cast<u32>(o.words[0]);
  box.how = static_cast<ptx::Operation>(o.words[1] & 0xff);
  box.walk = static_cast<Walk>(o.words[1] >> 8);
  for (std::size_t d = 0; d < box.offsets.size(); ++d) {
    box.offsets[d] = static_cast<std::uint16_t>(o.words[7] >> 16 * d);
  }
  for (std::size_t d = 0; d < most_map_dims; ++d) {
    box.start[d] = static_cast<std::int32_t>(o.words[2 + d]);
  }
  return box;
}

// ---- bytes between memory and the operation ----

Writer writer_of(const Block& block, const AsyncOperation& o) {
  return Writer::of(block.number, o.thread, o.pc);
}

void take(const Region& from, u64 offset, u32 bytes, AsyncOperation& o, u64 at) {
  std::memcpy(o.bytes.data() + at, from.data() + offset, bytes);
  if (!from.undefined_bits() || !from.any_undefined(offset, bytes)) return;
  if (o.undefined.empty()) o.undefined.assign(o.bytes.size(), 0);
  for (u32 k = 0; k < bytes; ++k) o.undefined[at + k] = from.is_undefined(offset + k) ? 0xff : 0;
}

void give(Region& to, u64 offset, u32 bytes, const AsyncOperation& o, u64 at, Writer writer) {
  to.write(offset, o.bytes.data() + at, o.undefined.empty() ? nullptr : o.undefined.data() + at,
           bytes, writer);
}

// From global memory. Of what threads of this launch wrote without fence.proxy.async since, the
// async proxy may not know: with --lazy it does not.
void take_global(Model& machine, const Block& block, const Region& from, u64 offset, u32 bytes,
                 AsyncOperation& o, u64 at) {
  take(from, offset, bytes, o, at);
  if (!machine.options.lazy || !from.was_written()) return;
  for (u32 k = 0; k < bytes; ++k) {
    if (!machine.global_watch.is_untold(from, offset + k) ||
        machine.global_watch.is_told_on_the_way(machine.issuer(block, o).order, o.thread / 32, from,
                                                offset + k)) {
      continue;
    }
    if (o.undefined.empty()) o.undefined.assign(o.bytes.size(), 0);
    o.undefined[at + k] = 0xff;
  }
}

// From shared memory. Of what threads wrote without fence.proxy.async since, nothing says that the
// async proxy sees it: with --lazy it does not, and those bytes mean nothing.
void take_shared(const Model& machine, const Block& block, u32 offset, u32 bytes, AsyncOperation& o,
                 u64 at) {
  take(block.shared, offset, bytes, o, at);
  if (!machine.options.lazy || !block.order.on()) return;
  for (u32 k = 0; k < bytes; k += 4) {
    if (!is_untold(machine, block, o, offset + k, offset + k + 4)) continue;
    if (o.undefined.empty()) o.undefined.assign(o.bytes.size(), 0);
    std::fill_n(o.undefined.begin() + static_cast<std::ptrdiff_t>(at + k), 4, std::uint8_t{0xff});
  }
}

// Element by element: memory = reduction(memory, what was read).
void combine(Region& to, u64 offset, u32 bytes, const AsyncOperation& o, u64 at, Writer writer,
             ptx::Operation how, DType dtype, bool flushes = false) {
  const Reduction reduce = reduction_of(how, dtype, flushes);
  const auto width = static_cast<u32>(bytes_of(dtype));
  for (u32 k = 0; k < bytes; k += width) {
    std::byte element[8];
    std::uint8_t hidden[8] = {};
    std::memcpy(element, to.data() + offset + k, width);
    reduce(element, o.bytes.data() + at + k);
    bool undefined = to.any_undefined(offset + k, width);
    for (u32 i = 0; i < width && !o.undefined.empty(); ++i) {
      undefined = undefined || o.undefined[at + k + i];
    }
    std::memset(hidden, 0xff, sizeof hidden);
    to.write_atomically(offset + k, element, undefined ? hidden : nullptr, width, writer);
  }
}

// ---- bytes side by side ----

bool read_global(Model& machine, Block& block, AsyncOperation& o) {
  const Span s = span_in(o);
  const Region* from = machine.region_of(s.global);
  o.bytes.resize(s.bytes);
  take_global(machine, block, *from, s.global - from->base(), s.bytes, o, 0);
  return true;
}

bool read_shared(Model& machine, Block& block, AsyncOperation& o) {
  const Span s = span_in(o);
  o.bytes.resize(s.bytes);
  take_shared(machine, block, s.shared, s.bytes, o, 0);
  return true;
}

bool read_issuer(Model& machine, Block& block, AsyncOperation& o) {
  const Span s = span_in(o);
  o.bytes.resize(s.bytes);
  take_shared(machine, machine.issuer(block, o), static_cast<u32>(s.global), s.bytes, o, 0);
  return true;
}

bool write_shared(Model&, Block& block, AsyncOperation& o) {
  const Span s = span_in(o);
  give(block.shared, s.shared, s.bytes, o, 0, writer_of(block, o));
  return true;
}

bool write_global(Model& machine, Block& block, AsyncOperation& o) {
  const Span s = span_in(o);
  Region* to = machine.region_of(s.global);
  const u64 offset = s.global - to->base();
  const Writer writer = writer_of(block, o);
  if (s.mask == 0xffff) {
    give(*to, offset, s.bytes, o, 0, writer);
    return true;
  }
  for (u32 at = 0; at < s.bytes; ++at) {
    if (s.mask >> at % chunk & 1) give(*to, offset + at, 1, o, at, writer);
  }
  return true;
}

bool reduce_global(Model& machine, Block& block, AsyncOperation& o) {
  const Span s = span_in(o);
  Region* to = machine.region_of(s.global);
  combine(*to, s.global - to->base(), s.bytes, o, 0, writer_of(block, o), s.how, s.dtype);
  return true;
}

bool combine_shared(Model& machine, Block& block, AsyncOperation& o) {
  const Span s = span_in(o);
  combine(block.shared, s.shared, s.bytes, o, 0, writer_of(machine.issuer(block, o), o), s.how,
          s.dtype);
  return true;
}

void span_pieces(const AsyncOperation& o, const Visit& f) {
  const Span s = span_in(o);
  f({s.global, s.global + s.bytes});
}

constexpr Work bulk_load{"cp.async.bulk", read_global,      write_shared,
                         nullptr,         GlobalUse::reads, span_pieces};
constexpr Work bulk_send{"cp.async.bulk", read_issuer, write_shared};
constexpr Work bulk_send_sum{
    "cp.reduce.async.bulk", read_issuer, combine_shared, nullptr, GlobalUse::none, nullptr, true};
constexpr Work bulk_store{"cp.async.bulk", read_shared,       write_global,
                          nullptr,         GlobalUse::writes, span_pieces};
constexpr Work bulk_reduce{"cp.reduce.async.bulk", read_shared, reduce_global, nullptr,
                           GlobalUse::reduces,     span_pieces};

// ---- boxes ----

// What the fill for NaN leaves, whatever the type: 0x7ff7 again and again (seen on an H200 for f16,
// f32 and f64).
void fill(const MapFields& map, std::vector<std::byte>& bytes) {
  for (std::size_t i = 0; map.nan_fill && i < bytes.size(); ++i) {
    bytes[i] = i % 2 ? std::byte{0x7f} : std::byte{0xf7};
  }
}

// Hands the chunks of a box to f: where each lies in the box, and where in shared memory.
template <class F>
void for_chunks(const Box& box, F f) {
  const u32 row = box.row_bytes();
  for (u32 at = 0; at < box.rows() * row; at += chunk) {
    f(at, swizzled(box.map.swizzle, box.shared + at / row * box.pitch() + at % row));
  }
}

// Sixteen elements to 16 bytes each; what is behind them in these nobody initialises.
void take_packed(Model& machine, const Block& block, const Box& box, const BoxRow& row,
                 AsyncOperation& o) {
  const auto group = static_cast<u32>(box.map.global_bytes(16));
  const Region* from = machine.region_of(row.address);
  for (u32 e = row.first; e < row.end; e += 16) {
    const u64 at = u64{row.number} * box.row_bytes() + e;
    take_global(machine, block, *from, row.address - from->base() + (e - row.first) / 16 * group,
                group, o, at);
    if (o.undefined.empty()) o.undefined.assign(o.bytes.size(), 0);
    for (u32 i = group; i < 16; ++i) o.undefined[at + i] = 0xff;
  }
}

// f32 to tf32 as a copy does it: MapFloat (core/run/tensor_map.h).
void round_to_tf32(std::byte* at, u32 elements) {
  for (u32 i = 0; i < elements; ++i, at += sizeof(u32)) {
    u32 bits;
    std::memcpy(&bits, at, sizeof bits);
    const bool finite = (bits & 0x7f800000) != 0x7f800000;
    if (finite) bits = (bits + 0xfff + (bits >> 13 & 1)) & ~u32{0x1fff};
    if (!finite && bits & 0x7fffff) bits = 0x7fffe000;
    std::memcpy(at, &bits, sizeof bits);
  }
}

bool read_box(Model& machine, Block& block, AsyncOperation& o) {
  const Box box = box_in(o);
  const u32 width = box.map.element_bytes(), pitch = box.row_bytes();
  o.bytes.assign(u64{box.rows()} * pitch, std::byte{0});
  fill(box.map, o.bytes);
  for_rows(box, [&](const BoxRow& row) {
    if (row.first >= row.end) return true;
    if (box.packed()) return take_packed(machine, block, box, row, o), true;
    const Region* from = machine.region_of(row.address);
    const u64 at = u64{row.number} * pitch + u64{row.first} * width;
    take_global(machine, block, *from, row.address - from->base(), (row.end - row.first) * width, o,
                at);
    if (rounds(box.map.floats)) round_to_tf32(o.bytes.data() + at, row.end - row.first);
    return true;
  });
  return true;
}

// The chunks in their places in shared memory, where rows are as wide as the swizzle's span.
template <class T>
void into_places(const Box& box, std::vector<T>& bytes) {
  std::vector<T> out(bytes.size());
  for_chunks(box, [&](u32 at, u32 offset) {
    std::memcpy(out.data() + (offset - box.shared), bytes.data() + at, chunk);
  });
  bytes.swap(out);
}

// What lies in shared memory now, or was taken from there, is that tile.
SharedTile tile_of(const AsyncOperation& o, const Box& box, bool stored) {
  SharedTile out{box, o.number, o.thread, o.issuer, o.pc, stored};
  if (!stored && o.mbarrier != no_mbarrier) out.mbarrier = o.mbarrier;
  return out;
}

bool write_box_to_shared(Model&, Block& block, AsyncOperation& o) {
  const Box box = box_in(o);
  block.tiles.put(tile_of(o, box, false));
  const Writer writer = writer_of(block, o);
  if (box.row_bytes() != box.pitch() || box.shared_bytes() != o.bytes.size()) {
    for_chunks(box, [&](u32 at, u32 offset) { give(block.shared, offset, chunk, o, at, writer); });
    return true;
  }
  if (box.map.swizzle != MapSwizzle::none) {
    into_places(box, o.bytes);
    if (!o.undefined.empty()) into_places(box, o.undefined);
  }
  give(block.shared, box.shared, static_cast<u32>(o.bytes.size()), o, 0, writer);
  return true;
}

bool read_box_from_shared(Model& machine, Block& block, AsyncOperation& o) {
  const Box box = box_in(o);
  block.tiles.put(tile_of(o, box, true));
  o.bytes.resize(u64{box.rows()} * box.row_bytes());
  for_chunks(box, [&](u32 at, u32 offset) { take_shared(machine, block, offset, chunk, o, at); });
  return true;
}

// Elements of 6 bits, a byte each, side by side: .b6p2x16 (5.5.1.1).
void give_packed(Region& to, u64 offset, const AsyncOperation& o, u64 at, u32 elements,
                 Writer writer) {
  constexpr u32 group = 12;  // bytes of sixteen
  for (u32 e = 0; e < elements; e += 16, offset += group) {
    std::byte bytes[group] = {};
    std::uint8_t hidden[group] = {};
    for (u32 i = 0; i < 16; ++i) {
      const u64 from = at + e + i;
      const u32 bits = std::to_integer<u32>(o.bytes[from]) & 0x3f, first = i * 6;
      const bool undefined = !o.undefined.empty() && o.undefined[from];
      const u32 placed = bits << first % 8;
      bytes[first / 8] |= static_cast<std::byte>(placed);
      if (undefined) hidden[first / 8] = hidden[(first + 5) / 8] = 0xff;
      if (first % 8 > 2) bytes[first / 8 + 1] |= static_cast<std::byte>(placed >> 8);
    }
    to.write(offset, bytes, o.undefined.empty() ? nullptr : hidden, group, writer);
  }
}

template <bool reduces>
bool write_box(Model& machine, Block& block, AsyncOperation& o) {
  const Box box = box_in(o);
  const u32 width = box.map.element_bytes(), pitch = box.row_bytes();
  const Writer writer = writer_of(block, o);
  for_rows(box, [&](const BoxRow& row) {
    if (row.first >= row.end) return true;
    Region* to = machine.region_of(row.address);
    const u64 offset = row.address - to->base();
    if (box.packed()) {
      give_packed(*to, offset, o, u64{row.number} * pitch + row.first, row.end - row.first, writer);
      return true;
    }
    // What is written behind the buffer's end is nobody's.
    const u64 room = (to->size() - offset) / width * width;
    const auto bytes = static_cast<u32>(std::min<u64>(written_bytes(box, row), room));
    const u64 at = u64{row.number} * pitch + u64{row.first} * width;
    if (reduces) {
      combine(*to, offset, bytes, o, at, writer, box.how, box.map.dtype, flushes(box.map.floats));
    } else {
      give(*to, offset, bytes, o, at, writer);
    }
    return true;
  });
  return true;
}

// A row each.
void box_pieces(const AsyncOperation& o, const Visit& f) {
  const Box box = box_in(o);
  for_rows(box, [&](const BoxRow& row) {
    if (row.first >= row.end) return true;
    return f({row.address, row.address + box.map.global_bytes(row.end - row.first)});
  });
}

constexpr Work tensor_load{"cp.async.bulk.tensor", read_box,  write_box_to_shared, nullptr,
                           GlobalUse::reads,       box_pieces};
constexpr Work tensor_store{"cp.async.bulk.tensor", read_box_from_shared,
                            write_box<false>,       nullptr,
                            GlobalUse::writes,      box_pieces};
constexpr Work tensor_reduce{"cp.reduce.async.bulk.tensor",
                             read_box_from_shared,
                             write_box<true>,
                             nullptr,
                             GlobalUse::reduces,
                             box_pieces};

}  // namespace

u64 SharedTile::origin(u32 byte) const {
  const u32 flat = swizzled(box.map.swizzle, byte);
  if (byte < begin() || byte >= end() || flat < box.shared) return 0;
  const u32 line = (flat - box.shared) / box.pitch(), at = (flat - box.shared) % box.pitch();
  if (line >= box.rows() || at >= box.row_bytes()) return 0;
  const BoxRow row = row_of(box, line);
  const u32 width = box.map.element_bytes(), element = at / width;
  if (element < row.first || element >= row.end) return 0;
  if (!box.packed()) return row.address + u64{element - row.first} * width;
  const u64 group = box.map.global_bytes(16);
  return element % 16 < group ? row.address + (element - row.first) / 16 * group + element % 16 : 0;
}

void SharedTiles::put(const SharedTile& tile) {
  const auto overlaps = [&](const SharedTile& other) {
    return other.begin() < tile.end() && tile.begin() < other.end();
  };
  all_.erase(std::remove_if(all_.begin(), all_.end(), overlaps), all_.end());
  if (all_.size() == most) all_.erase(all_.begin());
  all_.push_back(tile);
}

std::optional<SharedTile> tile_of(const AsyncOperation& o) {
  const bool load = o.work == &tensor_load;
  if (!load && o.work != &tensor_store && o.work != &tensor_reduce) return {};
  return tile_of(o, box_in(o), !load);
}

AsyncOperation bulk_copy(Way way, const Span& span) {
  const Range range{span.shared, span.shared + span.bytes};
  AsyncOperation o = with_span(way == Way::load    ? bulk_load
                               : way == Way::store ? bulk_store
                                                   : bulk_reduce,
                               span);
  (way == Way::load ? o.writes : o.reads).push_back(range);
  return o;
}

AsyncOperation copy_between_blocks(const Span& span) {
  const bool adds = span.how != ptx::Operation::none;
  AsyncOperation o = with_span(adds ? bulk_send_sum : bulk_send, span);
  o.writes.push_back({span.shared, span.shared + span.bytes});
  o.guards_until = Stage::read;
  return o;
}

AsyncOperation source_between_blocks(const Span& span) {
  const bool adds = span.how != ptx::Operation::none;
  AsyncOperation o = with_span(adds ? bulk_send_sum : bulk_send, span);
  const auto from = static_cast<u32>(span.global);
  o.reads.push_back({from, from + span.bytes});
  return o;
}

AsyncOperation tensor_copy(Way way, const Box& box) {
  const Range range{box.shared, box.shared + box.shared_bytes()};
  AsyncOperation o = with_box(way == Way::load    ? tensor_load
                              : way == Way::store ? tensor_store
                                                  : tensor_reduce,
                              box);
  (way == Way::load ? o.writes : o.reads).push_back(range);
  return o;
}

}  // namespace tilescope::sim
