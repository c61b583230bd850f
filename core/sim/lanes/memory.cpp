// ld and st (PTX ISA 9.7.9.8 to 9.7.9.11), in every space and vector width.
//
// The lanes that fall into one region are served together. Most accesses are one of three kinds: 32
// lanes side by side, which is one copy; all at one place, which is one value; or anything else
// within one region, whose bounds and alignment are checked for all lanes at once before the lanes
// are served one by one. Loads of the first two kinds take a shorter way: quick_load(),
// quick_shared_load().
#include <type_traits>

#include "core/sim/lanes/lanes.h"
#include "core/sim/lanes/services.h"
#include "core/sim/lanes/units.h"
#include "core/sim/machine/heap.h"

namespace tilescope::sim::TILESCOPE_LANES {
namespace {

using ptx::Op;
using ptx::Space;
using ptx::Type;
using u64 = std::uint64_t;

// The lanes of an access that one region serves.
struct Group {
  Region* region = nullptr;
  Mask mask = 0;
  u64 offset[32];    // in the region
  bool run = false;  // all 32 lanes, side by side
};

inline void addresses(const Core& x, const Code& c, u64* out) {
  if (c.a == nothing) {
    TILESCOPE_FOR_LANES(l) out[l] = c.immediate;
  } else if (c.narrow_address) {
    // Offsets of a 32-bit address are 32-bit: they wrap.
    const auto* a = lane_array<std::uint32_t>(x, c.a);
    const auto add = static_cast<std::uint32_t>(c.immediate);
    TILESCOPE_FOR_LANES(l) out[l] = a[l] + add;
  } else {
    const auto* a = lane_array<u64>(x, c.a);
    const u64 add = c.immediate;
    TILESCOPE_FOR_LANES(l) out[l] = a[l] + add;
  }
}

constexpr bool in_window(u64 address, u64 base) {
  return address - base < ptx::window_bytes;
}

// Where `address` of lane `lane` lies: the region, the address of its first byte for this lane,
// how many bytes are the lane's, and how far into the region those begin.
struct Place {
  Region* region = nullptr;
  u64 base = 0, size = 0, skip = 0;
};

inline Place place_of(Core& x, Space space, u64 address, int lane) {
  if (space == Space::generic) {  // 5.1: windows of the generic address space
    if (in_window(address, ptx::shared_base)) {
      Place p = place_of(x, Space::shared, address - ptx::shared_base, lane);
      p.base += ptx::shared_base;
      return p;
    }
    if (in_window(address, ptx::local_base)) {
      Place p = place_of(x, Space::local, 0, lane);
      p.base = ptx::local_base;
      return p;
    }
    if (in_window(address, ptx::parameters_base)) {
      return {x.parameters, ptx::parameters_base, x.parameters->size(), 0};
    }
    if (in_window(address, ptx::parameters_base + ptx::frame_parameters)) {
      Place p = place_of(x, Space::local, 0, lane);
      p.base = ptx::parameters_base + ptx::frame_parameters;
      return p;
    }
    space = Space::global;
  }
  switch (space) {
    case Space::shared: {
      Region& own = x.block->shared;
      if (address - x.window < own.size()) return {&own, x.window, own.size(), 0};
      Region* peer = peer_region(x, lane, address);
      if (!peer) return {};
      const u64 window = address >> ptx::rank_shift << ptx::rank_shift;
      return {peer, window + x.machine->program().shared_start, peer->size(), 0};
    }
    case Space::param:
      if (address >= ptx::frame_parameters) {  // of a function: in its frame
        Place p = place_of(x, Space::local, 0, lane);
        p.base = ptx::frame_parameters;
        return p;
      }
      return {x.parameters, 0, x.parameters->size(), 0};
    case Space::local:
      return {&x.block->local, 0, x.local_bytes,
              u64{x.warp->index * 32 + static_cast<std::uint32_t>(lane)} * x.local_bytes};
    default: {
      Region* region = find_region(x, address);
      return region ? Place{region, region->base(), region->size(), 0} : Place{};
    }
  }
}

// Those of lanes `m` that access what malloc gave.
[[gnu::noinline]] Mask in_pieces(const Group& g, Mask m, std::uint32_t bytes) {
  Mask out = 0;
  for (Mask rest = m; rest; rest &= rest - 1) {
    const int l = __builtin_ctz(rest);
    if (is_in_pieces(*g.region, g.offset[l], bytes)) out |= lane_bit[l];
  }
  return out;
}

// The lanes of m that go where its first lane goes. False if that lane may not: then it is told.
inline bool next_group(Core& x, const Code& c, Mask m, const u64* address, std::uint32_t bytes,
                       Group& g, int& bad_lane) {
  const int first = __builtin_ctz(m);
  const Place p = place_of(x, c.space, address[first], first);
  bad_lane = first;
  if (!p.region || address[first] - p.base >= p.size) return false;
  g.region = p.region;
  g.run = false;
  const u64 last = p.size - bytes;  // the highest offset that fits
  if (p.size < bytes) return false;
  if (p.region->kind() == Region::Kind::local) {
    g.mask = 0;
    for (Mask rest = m; rest; rest &= rest - 1) {
      const int l = __builtin_ctz(rest);
      const u64 offset = address[l] - p.base;
      if (offset > last || (offset & (bytes - 1))) continue;
      g.mask |= lane_bit[l];
      g.offset[l] =
          offset + u64{x.warp->index * 32 + static_cast<std::uint32_t>(l)} * x.local_bytes;
    }
    return g.mask & lane_bit[first];
  }
  const u64 base = p.base, step = bytes;
  u64 astray = 0, spread = 0, crooked = 0;
  TILESCOPE_FOR_LANES(l) g.offset[l] = address[l] - base;
  if (m == ~Mask{0} && !p.region->is_heap) {
    const u64 start = g.offset[0];
    for (int l = 0; l < 32; ++l) spread |= g.offset[l] ^ (start + static_cast<u64>(l) * step);
    if (spread == 0 && start <= last && last - start >= 31 * step && (start & (step - 1)) == 0) {
      g.mask = m;
      g.run = true;
      return true;
    }
    for (int l = 0; l < 32; ++l) {
      astray |= static_cast<u64>(g.offset[l] > last);
      crooked |= g.offset[l];
    }
    if (!astray && !(crooked & (bytes - 1))) {
      g.mask = m;
      return true;
    }
  }
  g.mask = 0;
  for (int l = 0; l < 32; ++l) {
    const bool fits = g.offset[l] <= last && !(g.offset[l] & (bytes - 1));
    g.mask |= fits ? lane_bit[l] : 0u;
  }
  g.mask &= m;
  if (p.region->is_heap) g.mask = in_pieces(g, g.mask, bytes);
  return g.mask & lane_bit[first];
}

// Does any byte of these lanes mean nothing? Accesses are aligned, so up to 8 bytes share one byte
// of bits.
inline bool any_undefined(const Group& g, std::uint32_t bytes) {
  const std::uint8_t* bits = g.region->undefined_bits();
  if (!bits) return false;
  std::uint32_t found = 0;
  const std::uint32_t in_byte = bytes >= 8 ? 0xffu : (1u << bytes) - 1;
  for (Mask rest = g.mask; rest; rest &= rest - 1) {
    const u64 offset = g.offset[__builtin_ctz(rest)];
    for (std::uint32_t k = 0; k < bytes; k += 8) {
      found |= static_cast<std::uint32_t>(bits[(offset + k) >> 3] >> (offset & 7)) & in_byte;
    }
  }
  return found != 0;
}

inline bool is_watched(const Code& c, const Region& region) {
  return region.kind() == Region::Kind::shared || c.synchronises || region.watched ||
         region.is_busy();
}

// T lies in memory, R in the register.
template <class T, class R>
inline void fetch(const Group& g, std::uint32_t skip, R* d, bool all) {
  const std::byte* data = g.region->data() + skip;
  if (g.run && std::is_same_v<T, R> && skip == 0) {
    std::memcpy(d, data + g.offset[0], 32 * sizeof(T));
    return;
  }
  if (all) {
    for (int l = 0; l < 32; ++l) {
      T v;
      std::memcpy(&v, data + g.offset[l], sizeof v);
      d[l] = static_cast<R>(v);
    }
    return;
  }
  for (Mask rest = g.mask; rest; rest &= rest - 1) {
    const int l = __builtin_ctz(rest);
    T v;
    std::memcpy(&v, data + g.offset[l], sizeof v);
    d[l] = static_cast<R>(v);
  }
}

// How the 16 lanes of half a warp lie that access so many bytes each, a power of two: side by side,
// at one place, or otherwise.
enum class Form : std::uint8_t { side_by_side, one_place, other };
constexpr u64 half = 16;

// Vectors by name: a loop of so few lanes the compiler would take apart.
template <class A>
[[gnu::always_inline]] inline Form form_of(const A* a, std::uint32_t bytes) {
  typedef A Vector __attribute__((vector_size(32)));
  constexpr std::size_t wide = sizeof(Vector) / sizeof(A);
  const A shift = static_cast<A>(__builtin_ctz(bytes));  // there is no quick product of 64 bits
  Vector start, number, spread = {}, apart = {};
  for (std::size_t l = 0; l < wide; ++l) start[l] = a[0], number[l] = static_cast<A>(l);
  for (std::size_t l = 0; l < half; l += wide, number += static_cast<A>(wide)) {
    Vector at;
    std::memcpy(&at, a + l, sizeof at);
    const Vector away = at - start;
    spread |= away ^ (number << shift);
    apart |= away;
  }
  A any_spread = 0, any_apart = 0;
  for (std::size_t l = 0; l < wide; ++l) any_spread |= spread[l], any_apart |= apart[l];
  return !any_spread ? Form::side_by_side : !any_apart ? Form::one_place : Form::other;
}

// All 32 lanes of an access: their places from where the region begins, by halves.
template <class A>
struct Halves {
  const A* a;
  A base;  // what is to be taken away of each
  std::uint32_t bytes;
  Form form[2];
  // What is asked of both is known here: to read both at once, as soon as they are written one by
  // one, would wait.
  bool other;    // one of them lies otherwise
  bool even;     // both alike, each side by side or at one place
  bool in_rows;  // each side by side
  u64 first[2];  // offset of each half's first lane

  [[gnu::always_inline]] Halves(const A* from, std::uint32_t each) : a(from), base(0), bytes(each) {
    const Form low = form_of(a, bytes), high = form_of(a + half, bytes);
    form[0] = low;
    form[1] = high;
    other = low == Form::other || high == Form::other;
    even = low == high && low != Form::other;
    in_rows = even && low == Form::side_by_side;
  }
  u64 offset(u64 lane) const { return static_cast<A>(a[lane] - base); }
  bool is_other() const { return other; }
  u64 length(int h) const { return form[h] == Form::one_place ? bytes : half * bytes; }

  // Does all of it lie in `size` bytes, at multiples of its width?
  [[gnu::always_inline]] bool fits(u64 size) {
    for (u64 h = 0; h < 2; ++h) first[h] = offset(h * half);
    if (size < half * bytes) return false;
    if (!is_other()) {
      return first[0] <= size - length(0) && first[1] <= size - length(1) &&
             ((first[0] | first[1]) & (bytes - 1)) == 0;
    }
    const auto last = static_cast<A>(size - bytes);
    A crooked = 0;
    bool over = false;
    for (u64 l = 0; l < 32; ++l) {
      const auto at = static_cast<A>(a[l] - base);
      over |= at > last;
      crooked |= at;
    }
    return !over && (crooked & (bytes - 1)) == 0;
  }
  // What there is to gather, where it is even.
  Shadow::EvenRead even_read() const {
    Shadow::EvenRead out;
    out.first = first[0];
    out.step = in_rows ? bytes : 0;
    out.rise = first[1] - first[0];
    out.bytes = bytes;
    out.pieces = out.rise ? 2 : 1;
    for (std::size_t h = 0; h < 2; ++h) {
      out.begin[h] = static_cast<u32>(first[h]);
      out.end[h] = static_cast<u32>(first[h] + (in_rows ? half * bytes : bytes));
    }
    if (is_run()) {
      out.pieces = 1;
      out.end[0] = out.end[1];
    }
    return out;
  }
  // All 32 side by side.
  bool is_run() const { return in_rows && first[1] - first[0] == half * bytes; }
};

// What the lanes load from `data`, where the region begins.
template <class T, class R, class A>
inline void take(Core& x, const Code& c, const Halves<A>& at, const std::byte* data) {
  const u64 bytes = at.bytes;
  u64 offsets[32];  // an element may go where they come from
  if (at.is_other()) {
    for (u64 l = 0; l < 32; ++l) offsets[l] = at.offset(l);
  }
  for (std::uint32_t k = 0; k < c.count; ++k, data += sizeof(T)) {
    const Reference to = x.elements[c.target + k];
    if (to == nothing) continue;
    R* d = lane_array<R>(x, to);
    if (at.is_other()) {
      for (u64 l = 0; l < 32; ++l) {
        T v;
        std::memcpy(&v, data + offsets[l], sizeof v);
        d[l] = static_cast<R>(v);
      }
      continue;
    }
    for (int h = 0; h < 2; ++h, d += half) {
      const std::byte* from = data + at.first[h];
      if (at.form[h] == Form::one_place) {
        T v;
        std::memcpy(&v, from, sizeof v);
        for (u64 l = 0; l < half; ++l) d[l] = static_cast<R>(v);
      } else if (std::is_same_v<T, R> && c.count == 1) {
        std::memcpy(d, from, half * sizeof(T));
      } else {
        for (u64 l = 0; l < half; ++l) {
          T v;
          std::memcpy(&v, from + l * bytes, sizeof v);
          d[l] = static_cast<R>(v);
        }
      }
    }
  }
}

// Is one of `bits` 1 of those of [begin, end)?
inline bool any_set(const std::uint8_t* bits, u64 begin, u64 end) {
  const auto below = [](u64 bit) { return (1u << bit) - 1; };
  u64 first = begin >> 3;
  const u64 last = end >> 3, head = begin & 7, tail = end & 7;
  if (first == last) return bits[first] & below(tail) & ~below(head);
  u64 found = 0;
  if (head) found |= bits[first++] & ~below(head);
  for (; first + 8 <= last; first += 8) {
    u64 eight;
    std::memcpy(&eight, bits + first, sizeof eight);
    found |= eight;
  }
  for (; first < last; ++first) found |= bits[first];
  if (tail) found |= bits[last] & below(tail);
  return found != 0;
}

// A load of all 32 lanes from global memory that nobody watches and all of which is defined. False:
// it is another one, and nothing has been done.
template <class T, class R>
inline bool quick_load(Core& x, const Code& c) {
  Halves<u64> at(lane_array<u64>(x, c.a), static_cast<std::uint32_t>(sizeof(T)) * c.count);
  std::uint32_t& guess = x.last_region_of[x.pc % Core::guesses];
  const u64 address = at.a[0] + c.immediate;
  const Region* r = x.regions + guess;
  if (address - r->base() >= r->size()) {
    r = find_region(x, address);
    if (!r) return false;
    guess = static_cast<std::uint32_t>(r - x.regions);
  }
  at.base = r->base() - c.immediate;
  if (!at.fits(r->size()) || r->undefined_bits() || (x.block->order.on() && is_watched(c, *r))) {
    return false;
  }
  take<T, R>(x, c, at, r->data());
  return true;
}

// The same from the block's own shared memory, watched and with undefined bytes.
template <class T, class R>
inline bool quick_shared_load(Core& x, const Code& c) {
  Halves<u32> at(lane_array<u32>(x, c.a), static_cast<u32>(sizeof(T)) * c.count);
  Region& own = x.block->shared;
  at.base = static_cast<u32>(x.window - static_cast<u32>(c.immediate));
  if (!at.fits(own.size())) return false;
  Group g;
  g.region = &own;
  g.mask = ~Mask{0};
  g.run = at.is_run();
  const bool even = at.even;
  bool watched = x.block->order.on();
  const std::uint8_t* const bits = own.undefined_bits();
  if ((watched && !even) || (bits && at.is_other())) {
    for (u64 l = 0; l < 32; ++l) g.offset[l] = at.offset(l);
  }
  bool undefined = false;
  if (bits) {
    undefined = at.is_other() ? any_undefined(g, at.bytes)
                              : any_set(bits, at.first[0], at.first[0] + at.length(0)) ||
                                    any_set(bits, at.first[1], at.first[1] + at.length(1));
  }
  if (undefined) return false;
  if (watched && even) {
    watched = c.synchronises || !note_quiet_read(x, at.even_read());
    for (u64 l = 0; watched && l < 32; ++l) g.offset[l] = at.offset(l);
  }
  take<T, R>(x, c, at, own.data());
  if (watched) {
    watch_access(x, c, Shadow::Kind::read, own, g.mask, g.offset, at.bytes, g.run, nullptr, true);
  }
  return true;
}

template <class T, class R>
[[gnu::noinline]] Flow load_in_groups(Core& x, const Code& c, Mask m) {
  const std::uint32_t bytes = static_cast<std::uint32_t>(sizeof(T)) * c.count;
  u64 address[32];
  addresses(x, c, address);
  while (m) {
    Group g;
    int bad = 0;
    if (!next_group(x, c, m, address, bytes, g, bad)) {
      return refuse_access(x, c, Access::load, bad, address[bad], bytes);
    }
    const bool all = g.mask == ~Mask{0};
    const bool run = g.run;
    if (c.count != 1) g.run = false;  // side by side lie the vectors, not their elements
    for (std::uint32_t k = 0; k < c.count; ++k) {
      const Reference d = x.elements[c.target + k];
      if (d == nothing) continue;
      fetch<T, R>(g, k * static_cast<std::uint32_t>(sizeof(T)), lane_array<R>(x, d), all);
    }
    if (x.block->order.on() && is_watched(c, *g.region)) {
      watch_access(x, c, Shadow::Kind::read, *g.region, g.mask, g.offset, bytes, run, nullptr,
                   true);
    }
    if (any_undefined(g, bytes)) mark_loaded(x, c, g.mask, *g.region, g.offset);
    m &= ~g.mask;
  }
  return Flow::next;
}

template <class T, class R>
Flow load(Core& x, const Code& c, Mask m) {
  if (m == ~Mask{0} && c.a != nothing) {
    const bool global = c.space == Space::global || c.space == Space::generic;
    if (global && !c.narrow_address && quick_load<T, R>(x, c)) return Flow::next;
    if (c.space == Space::shared && c.narrow_address && quick_shared_load<T, R>(x, c)) {
      return Flow::next;
    }
  }
  return load_in_groups<T, R>(x, c, m);
}

template <class T, class R>
Flow store(Core& x, const Code& c, Mask m) {
  if (!x.warp->late_reads.empty()) count_late_reads(x, m);
  const std::uint32_t bytes = static_cast<std::uint32_t>(sizeof(T)) * c.count;
  u64 address[32];
  addresses(x, c, address);
  alignas(64) std::byte packed[32 * 32];
  LaneData data;
  data.width = bytes;
  if (c.count == 1 && std::is_same_v<T, R>) {
    data.bytes = reinterpret_cast<std::byte*>(lane_array<R>(x, x.elements[c.target]));
  } else {
    data.bytes = packed;
    for (std::uint32_t k = 0; k < c.count; ++k) {
      const R* r = lane_array<R>(x, x.elements[c.target + k]);
      for (std::uint32_t l = 0; l < 32; ++l) {
        const T v = static_cast<T>(r[l]);
        std::memcpy(packed + l * bytes + k * sizeof(T), &v, sizeof v);
      }
    }
  }
  std::uint8_t undefined[32 * 32];
  if (x.warp->undefined_registers) data.undefined = undefined_for_store(x, c, m, undefined);
  const Writer first = Writer::of(x.block->number, x.warp->index * 32, x.pc);
  while (m) {
    Group g;
    int bad = 0;
    if (!next_group(x, c, m, address, bytes, g, bad) || g.region->read_only) {
      return refuse_access(x, c, Access::store, bad, address[bad], bytes);
    }
    if (x.block->order.on() && is_watched(c, *g.region)) {
      watch_access(x, c, Shadow::Kind::write, *g.region, g.mask, g.offset, bytes, g.run,
                   data.undefined ? nullptr : data.bytes, true);
    }
    if (g.run) {
      g.region->write_run(g.offset[0], data, first);
    } else {
      g.region->write_lanes(g.offset, g.mask, data, first);
    }
    m &= ~g.mask;
  }
  return Flow::next;
}

template <class T, class R>
Handler access(const ptx::Instruction& i) {
  return i.op == Op::st ? store<T, R> : load<T, R>;
}

// The memory type T in a register of `bits` bits.
template <class T>
Handler in_register(const ptx::Instruction& i, int bits) {
  if constexpr (sizeof(T) <= 2) {
    if (bits == 16) return access<T, std::uint16_t>(i);
  }
  if constexpr (sizeof(T) <= 4) {
    if (bits == 32) return access<T, std::uint32_t>(i);
  }
  if constexpr (sizeof(T) <= 8) {
    if (bits == 64) return access<T, u64>(i);
  }
  if constexpr (sizeof(T) == 16) {
    if (bits == 128) return access<T, unsigned __int128>(i);
  }
  return nullptr;
}

}  // namespace

Handler memory_handler(const ptx::Program& program, const ptx::Instruction& i) {
  if (i.op != Op::ld && i.op != Op::ldu && i.op != Op::st) return nullptr;
  const ptx::Operand& vector = program.operands_of(i)[i.op == Op::st ? 1 : 0];
  const Type type = i.modifiers.type();
  int bits = ptx::bits_of(type) < 16 ? 16 : ptx::bits_of(type);
  for (std::uint32_t k = 0; k < vector.count; ++k) {
    const ptx::Operand& e = program.elements[vector.index + k];
    if (e.kind != ptx::Operand::Kind::reg) continue;
    const int have = ptx::bits_of(program.registers[e.index].type);
    bits = have < 16 ? 16 : have;
  }
  const bool is_signed = ptx::class_of(type) == ptx::Class::signed_integer;
  switch (ptx::bits_of(type)) {
    case 8:
      return is_signed ? in_register<std::int8_t>(i, bits) : in_register<std::uint8_t>(i, bits);
    case 16:
      return is_signed ? in_register<std::int16_t>(i, bits) : in_register<std::uint16_t>(i, bits);
    case 32:
      return is_signed && bits == 64 ? in_register<std::int32_t>(i, bits)
                                     : in_register<std::uint32_t>(i, bits);
    case 64:
      return in_register<u64>(i, bits);
    case 128:
      return in_register<unsigned __int128>(i, bits);
    default:
      return nullptr;
  }
}

}  // namespace tilescope::sim::TILESCOPE_LANES
