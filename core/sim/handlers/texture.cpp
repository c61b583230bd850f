// tex, txq, suld and sust (PTX ISA 9.7.10, 9.7.11). Code::a holds the handle; of tex and suld
// Code::count registers from Code::target on get the result, and behind these stand the
// coordinates; of sust the coordinates come first.
//
// Linear filtering, measured on an H200: a coordinate less a half is rounded to 1/256 (the 8 bits
// of fraction that CUDA's guide names); of two dimensions with the fractions a and b the last of
// the four weights is a * b rounded to 1/256 (half up), and the others make up the sums a, b and 1.
// All of 2,881 samples in two dimensions and 2,928 in one are within a rounding of that; in three,
// where the products of two and of three fractions are rounded so, 2,836 of 2,853, and the others
// by one unit of a weight. Normalised coordinates are multiplied by the extent; within a rounding
// of an element's edge the chip may take its neighbour.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/numeric/small_float.h"
#include "core/ptx/geometry.h"
#include "core/run/texture.h"
#include "core/sim/checks/undefined.h"
#include "core/sim/lanes/lanes.h"
#include "core/sim/lanes/services.h"
#include "core/sim/lanes/units.h"
#include "core/sim/machine/early.h"
#include "core/sim/machine/model.h"

namespace tilescope::sim {
namespace {

using base::lane_array;
using ptx::Field;
using ptx::Op;
using i64 = std::int64_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

struct BoundTexture {
  const Texture* texture = nullptr;
  Region* region = nullptr;
  u64 begin = 0;  // offset in the region
  // Of what is read: outside the region; bytes that nobody has written; and where it is noted.
  bool beyond = false;
  u32 undefined = 0;  // components
  AccessLog* log = nullptr;
  OrderLog* orders = nullptr;
  bool early = false;
};

// What the handle of a lane stands for; nothing, and it has been reported.
bool find(Core& x, const Code& c, int lane, bool surface, BoundTexture& out) {
  const u64 handle = (c.a == nothing ? 0 : lane_array<u64>(x, c.a)[lane]) + c.immediate;
  const std::vector<Texture>& all = x.machine->textures;
  const u64 number = (handle - texture_base) / texture_step;
  const bool known =
      handle >= texture_base && (handle - texture_base) % texture_step == 0 && number < all.size();
  const auto refuse = [&](const std::string& sentence) {
    x.reports->fault(x, lane, "bad_descriptor", sentence,
                     surface ? "the handle of a surface" : "the handle of a texture",
                     fmt::format("0x{:x}", handle));
    return false;
  };
  const char* const what = surface ? "surface" : "texture";
  if (!known) return refuse(fmt::format("0x{:x} is no {} that the launch has given", handle, what));
  const Texture& t = all[number];
  if (t.surface != surface) {
    return refuse(
        fmt::format("0x{:x} is a {}, and no {}", handle, surface ? "texture" : "surface", what));
  }
  if (t.ended) return refuse(fmt::format("the {} 0x{:x} has been destroyed", what, handle));
  const u64 place = t.place ? t.place : x.machine->buffer(t.buffer).base();
  out.texture = &t;
  out.region = find_region(x, place);
  if (!out.region) {
    return refuse(fmt::format("the memory of the {} 0x{:x}, at 0x{:x}, has been released", what,
                              handle, place));
  }
  out.begin = place - out.region->base() + static_cast<u64>(t.offset);
  if (x.machine->order_log) out.orders = &*x.machine->order_log;
  if (x.machine->access_log) {
    out.log = &*x.machine->access_log;
    out.early = is_early(x);
  }
  return true;
}

bool is_beyond(const BoundTexture& b, u64 offset, u64 bytes) {
  return offset > b.region->size() || b.region->size() - offset < bytes;
}

// For the order between launches (core/sim/order/work_order.h), and for what a proof follows.
void note(const BoundTexture& b, AccessLog::How how, u64 offset, u64 bytes) {
  if (b.orders) {
    b.orders->use_region(b.region->base(), offset, offset + bytes, how == AccessLog::How::write);
  }
  if (!b.log) return;
  const u64 address = b.region->base() + offset;
  b.log->add(how, address, address + bytes, b.early);
}

// It names more elements than its memory has (a driver does not look).
Flow refuse_beyond(Core& x, int lane, const BoundTexture& b) {
  const Texture& t = *b.texture;
  return x.reports->fault(
      x, lane, "out_of_bounds",
      fmt::format("the {} reaches beyond the end of buffer {}, which it lies in",
                  t.surface ? "surface" : "texture", b.region->name()),
      fmt::format("at most {} bytes", b.region->size() - std::min(b.begin, b.region->size())),
      fmt::format("{} of {} bytes", t.surface ? "a surface" : "a texture", t.bytes()));
}

std::string shape_text(u32 dimensions, bool layered, bool cube) {
  return cube ? layered ? "layers of cubes" : "a cube"
              : fmt::format("{}{} dimension{}", layered ? "layers of " : "", dimensions,
                            dimensions == 1 ? "" : "s");
}

// A surface of a cube is one of its faces (CUDA Programming Guide, "Cubemap Surfaces").
bool fits(Core& x, int lane, const Texture& t, const ptx::Geometry& wanted) {
  const bool faces = t.surface && t.cube;
  if (faces ? wanted.layered && wanted.dimensions == 2
            : t.layered == wanted.layered && t.cube == wanted.cube &&
                  (wanted.cube || t.dimensions() == wanted.dimensions)) {
    return true;
  }
  const std::string there =
      faces ? shape_text(2, true, false) : shape_text(t.dimensions(), t.layered, t.cube);
  const std::string asked = shape_text(wanted.dimensions, wanted.layered, wanted.cube);
  x.reports->fault(x, lane, "bad_descriptor",
                   fmt::format("the instruction is for {}, but the launch gives {}", asked, there),
                   there, asked);
  return false;
}

// An element along one dimension, by the address mode; -1: outside, for border, or where there is
// none.
i64 addressed(double at, u32 extent, TextureAddress mode) {
  constexpr double most = 1e15;
  if (extent == 0) return -1;  // all of it is outside
  const auto n = static_cast<i64>(extent);
  const auto i = static_cast<i64>(std::clamp(std::isnan(at) ? 0 : at, -most, most));
  switch (mode) {
    case TextureAddress::wrap:
      return (i % n + n) % n;
    case TextureAddress::mirror: {
      const i64 m = (i % (2 * n) + 2 * n) % (2 * n);
      return m < n ? m : 2 * n - 1 - m;
    }
    case TextureAddress::border:
      return i < 0 || i >= n ? -1 : i;
    default:
      return std::clamp<i64>(i, 0, n - 1);
  }
}

// From a component's bits to 32.
u32 extended(const Texture& t, u32 bits) {
  if (t.kind != TexelKind::signed_number || t.bits == 32) return bits;
  const u32 sign = 1u << (t.bits - 1);
  return (bits ^ sign) - sign;
}

// A component of an element as it lies in memory, extended to 32 bits.
u32 stored(BoundTexture& b, const i64 (&at)[3], u32 component) {
  const Texture& t = *b.texture;
  const u64 rows = static_cast<u64>(at[2]) * (t.height ? t.height : 1) + static_cast<u64>(at[1]);
  const u64 offset = b.begin + rows * t.row_bytes() + static_cast<u64>(at[0]) * t.texel_bytes() +
                     u64{component} * t.bits / 8;
  u32 bits = 0;
  if (is_beyond(b, offset, t.bits / 8)) {
    b.beyond = true;
    return bits;
  }
  std::memcpy(&bits, b.region->data() + offset, t.bits / 8);
  if (b.region->any_undefined(offset, t.bits / 8)) b.undefined |= 1u << component;
  note(b, AccessLog::How::read, offset, t.bits / 8);
  return extended(t, bits);
}

float as_float(const Texture& t, u32 bits) {
  if (t.kind == TexelKind::floating && t.bits == 32) {
    float f;
    std::memcpy(&f, &bits, sizeof f);
    return f;
  }
  if (t.kind == TexelKind::floating) {
    std::byte half[2];
    std::memcpy(half, &bits, sizeof half);
    return static_cast<float>(load_element(DType::f16, half));
  }
  const bool sign = t.kind == TexelKind::signed_number;
  const float most = static_cast<float>((1u << (t.bits - (sign ? 1 : 0))) - 1);
  return sign ? std::max(static_cast<float>(static_cast<std::int32_t>(bits)) / most, -1.0f)
              : static_cast<float>(bits) / most;
}

// The border is of the texture's format (all of it measured on an H200): of integers it has the low
// bits, and what is read as floats from 0 or -1 to 1 lies there and is cut to a multiple of the
// smallest step.
u32 whole_border(const Texture& t, u32 component) {
  u32 bits = 0;
  std::memcpy(&bits, &t.border[component], sizeof bits);
  return extended(t, t.bits < 32 ? bits & ((1u << t.bits) - 1) : bits);
}
float float_border(const Texture& t, u32 component) {
  const float border = t.border[component];
  if (!t.as_float || std::isnan(border)) return border;
  const bool sign = t.kind == TexelKind::signed_number;
  const auto most = static_cast<double>((1u << (t.bits - (sign ? 1 : 0))) - 1);
  const double in_range = std::clamp(static_cast<double>(border), sign ? -1.0 : 0.0, 1.0);
  return static_cast<float>(std::trunc(in_range * most) / most);
}

// The float of a component of an element, or of the border.
float sampled(BoundTexture& b, const i64 (&at)[3], u32 component) {
  if (at[0] < 0 || at[1] < 0 || at[2] < 0) return float_border(*b.texture, component);
  return as_float(*b.texture, stored(b, at, component));
}

// The weights of a filter in 1/256, for the corners 0 to 2^dimensions - 1 (bit k: the upper one
// along dimension k).
void weigh(const double (&fraction)[3], u32 dimensions, double (&weights)[8]) {
  const auto rounded = [](double v) { return std::floor(v + 0.5); };
  const double a = fraction[0], b = fraction[1], c = fraction[2];
  if (dimensions == 1) {
    weights[0] = 256 - a, weights[1] = a;
    return;
  }
  const double ab = rounded(a * b / 256);
  if (dimensions == 2) {
    weights[0] = 256 - a - b + ab, weights[1] = a - ab, weights[2] = b - ab, weights[3] = ab;
    return;
  }
  const double ac = rounded(a * c / 256), bc = rounded(b * c / 256);
  const double abc = rounded(a * b * c / 65536);
  weights[7] = abc, weights[3] = ab - abc, weights[5] = ac - abc, weights[6] = bc - abc;
  weights[1] = a - ab - ac + abc, weights[2] = b - ab - bc + abc, weights[4] = c - ac - bc + abc;
  weights[0] = 256 - a - b - c + ab + ac + bc - abc;
}

// `layer`: which of those of two dimensions, or of one.
void filter(BoundTexture& b, const double (&at)[3], u32 dimensions, i64 layer, float (&out)[4]) {
  const Texture& t = *b.texture;
  const u32 extents[] = {t.width, std::max(t.height, 1u), t.depth};
  // A texture of one dimension is a row of two, sampled at its upper edge: half of it is border;
  // one of layers is not (measured).
  if (dimensions == 1 && !t.layered && t.address[1] == TextureAddress::border) dimensions = 2;
  double fraction[3] = {}, low[3] = {}, weights[8] = {};
  for (u32 k = 0; k < dimensions; ++k) {
    const double fixed = std::floor((at[k] - 0.5) * 256 + 0.5) / 256;
    low[k] = std::floor(fixed);
    fraction[k] = (fixed - low[k]) * 256;
    if (!std::isfinite(fraction[k])) fraction[k] = 0;
  }
  weigh(fraction, dimensions, weights);
  double sum[4] = {};
  for (u32 corner = 0; corner < 1u << dimensions; ++corner) {
    if (weights[corner] == 0) continue;
    i64 where[3] = {0, 0, layer};
    for (u32 k = 0; k < dimensions; ++k) {
      where[k] = addressed(low[k] + (corner >> k & 1), extents[k], t.address[k]);
    }
    for (u32 i = 0; i < t.components; ++i) {
      sum[i] += weights[corner] * static_cast<double>(sampled(b, where, i));
    }
  }
  for (u32 i = 0; i < t.components; ++i) out[i] = static_cast<float>(sum[i] / 256);
}

// A coordinate in elements. Whole numbers (.s32) name elements: their middles.
double coordinate(const Core& x, Reference r, int lane, bool whole, bool normalized, u32 extent) {
  if (whole) return lane_array<std::int32_t>(x, r)[lane] + 0.5;
  const double v = static_cast<double>(lane_array<float>(x, r)[lane]);
  return normalized ? v * extent : v;
}

// Which face of a cube a direction meets, and where on it, from 0 to 1 (CUDA Programming Guide,
// "Cubemap Textures"). Of equal ones the last counts, and what lies beyond a face is that of its
// own address modes (measured on an H200).
u32 face_of(const float (&d)[3], double (&at)[3]) {
  const float x = d[0], y = d[1], z = d[2];
  const float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  u32 face = 0;
  float most = 0, s = 0, t = 0;
  if (az >= ay && az >= ax) {
    face = z < 0 ? 5 : 4, most = az, s = z < 0 ? -x : x, t = -y;
  } else if (ay >= ax) {
    face = y < 0 ? 3 : 2, most = ay, s = x, t = y < 0 ? -z : z;
  } else {
    face = x < 0 ? 1 : 0, most = ax, s = x < 0 ? z : -z, t = -y;
  }
  if (most == 0) most = 1;  // no direction is that of the middle of a face (measured)
  at[0] = (static_cast<double>(s) / static_cast<double>(most) + 1) / 2;
  at[1] = (static_cast<double>(t) / static_cast<double>(most) + 1) / 2;
  return face;
}

Flow fetch(Core& x, const Code& c, Mask m) {
  const ptx::Modifiers& how = x.machine->program().code[x.pc].modifiers;
  const ptx::Geometry geometry = ptx::geometry_of(how);
  const u32 dimensions = geometry.cube ? 2 : geometry.dimensions;
  const bool whole = how.type2() == ptx::Type::s32, floats = how.type() == ptx::Type::f32;
  for (Mask rest = m; rest; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    BoundTexture b;
    if (!find(x, c, lane, false, b) || !fits(x, lane, *b.texture, geometry)) return Flow::fault;
    const Texture& t = *b.texture;
    if (floats != (t.kind == TexelKind::floating || t.as_float)) {
      return x.reports->fault(
          x, lane, "bad_descriptor",
          floats ? "the instruction reads floats, but the texture's elements are integers"
                 : "the instruction reads integers, but the texture's elements are read as floats",
          floats ? "a format of floats, or read = \"normalized\"" : "a format of integers",
          floats ? "integers" : "floats");
    }
    const u32 extents[] = {t.width, t.height, t.depth};
    double at[3] = {};
    i64 nearest[3] = {};
    const u32 first = c.target + c.count + geometry.layered;
    const u32 layer = geometry.layered ? lane_array<u32>(x, x.elements[first - 1])[lane] : 0;
    if (geometry.cube) {
      float direction[3];
      for (u32 k = 0; k < 3; ++k) direction[k] = lane_array<float>(x, x.elements[first + k])[lane];
      const u32 face = face_of(direction, at);
      at[0] *= t.width, at[1] *= t.height;
      for (u32 k = 0; k < 2; ++k) {
        nearest[k] = addressed(std::floor(at[k]), extents[k], t.address[k]);
      }
      nearest[2] = std::min(layer, t.depth / 6 - 1) * 6 + face;
    } else {
      for (u32 k = 0; k < dimensions; ++k) {
        at[k] = coordinate(x, x.elements[first + k], lane, whole, t.normalized, extents[k]);
        nearest[k] = addressed(std::floor(at[k]), extents[k], t.address[k]);
      }
      if (geometry.layered) nearest[2] = std::min(layer, t.depth - 1);
    }
    u32 result[4] = {};  // components that an element lacks are 0 (measured on an H200)
    float values[4] = {};
    const bool outside = nearest[0] < 0 || nearest[1] < 0 || nearest[2] < 0;
    if (floats && t.linear && !whole) {
      filter(b, at, dimensions, nearest[2], values);
    } else if (floats) {
      for (u32 i = 0; i < t.components; ++i) values[i] = sampled(b, nearest, i);
    }
    for (u32 i = 0; i < t.components; ++i) {
      if (floats) {
        std::memcpy(&result[i], &values[i], sizeof result[i]);
      } else {
        result[i] = outside ? whole_border(t, i) : stored(b, nearest, i);
      }
    }
    if (b.beyond) return refuse_beyond(x, lane, b);
    for (u32 e = 0; e < c.count; ++e) {
      const Reference d = x.elements[c.target + e];
      if (d == nothing) continue;
      lane_array<u32>(x, d)[lane] = result[e];
      if (b.undefined >> e & 1) undefine(x, d, sizeof result[e], Mask{1} << lane);
    }
  }
  return Flow::next;
}

Flow query(Core& x, const Code& c, Mask m) {
  const u32 what = x.machine->program().code[x.pc].modifiers[Field::query];
  for (Mask rest = m; rest; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    BoundTexture b;
    if (!find(x, c, lane, false, b)) return Flow::fault;
    const u32 extents[] = {b.texture->width, b.texture->height, b.texture->depth};
    lane_array<u32>(x, c.d)[lane] = extents[what - 1];
  }
  return Flow::next;
}

// ---- surfaces ----

enum Outside : std::uint8_t { trap = 1, clamp, zero };

// Where in the region an access of a surface is: the first coordinate is a byte of a row. `inside`:
// not outside of it, or brought inside.
bool place(Core& x, const Code& c, int lane, const ptx::Modifiers& how, u32 first, u32 bytes,
           BoundTexture& b, u64& offset, bool& inside) {
  const ptx::Geometry geometry = ptx::geometry_of(how);
  if (!find(x, c, lane, true, b) || !fits(x, lane, *b.texture, geometry)) return false;
  const Texture& t = *b.texture;
  i64 at[3] = {};
  inside = true;
  for (u32 k = 0; k < 3; ++k) {
    const bool is_layer = geometry.layered && k == 2;
    if (k >= geometry.dimensions && !is_layer) continue;
    at[k] = is_layer ? i64{lane_array<u32>(x, x.elements[first])[lane]}
                     : lane_array<std::int32_t>(x, x.elements[first + geometry.layered + k])[lane];
    const u32 extent = k == 0 ? t.width * t.texel_bytes() : k == 1 ? t.height : t.depth;
    const i64 last = static_cast<i64>(extent) - (k == 0 ? bytes : 1);
    if (at[k] >= 0 && at[k] <= last) continue;
    inside = false;
    if (how[Field::outside] == Outside::clamp)
      at[k] = std::clamp<i64>(at[k], 0, std::max<i64>(last, 0));
    if (how[Field::outside] != Outside::trap) continue;
    x.reports->fault(
        x, lane, "out_of_bounds",
        fmt::format("the surface is accessed at {} along dimension {}{}, outside of it", at[k], k,
                    k == 0 ? " (in bytes)" : ""),
        fmt::format("from 0 to {}", last), fmt::format("{}", at[k]));
    return false;
  }
  if (at[0] % bytes) {
    x.reports->fault(
        x, lane, "misaligned",
        fmt::format("an access of {} bytes of a surface at byte {} of a row", bytes, at[0]),
        fmt::format("a multiple of {}", bytes), fmt::format("{}", at[0]));
    return false;
  }
  inside = inside || how[Field::outside] == Outside::clamp;
  const u64 rows = static_cast<u64>(at[2]) * (t.height ? t.height : 1) + static_cast<u64>(at[1]);
  offset = b.begin + rows * t.row_bytes() + static_cast<u64>(at[0]);
  return true;
}

u32 register_bytes(u32 element) {
  return std::max(element, 2u);
}

Flow load(Core& x, const Code& c, Mask m) {
  const ptx::Modifiers& how = x.machine->program().code[x.pc].modifiers;
  const u32 width = c.width, bytes = width * c.count;
  for (Mask rest = m; rest; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    BoundTexture b;
    u64 offset = 0;
    bool inside = true;
    if (!place(x, c, lane, how, c.target + c.count, bytes, b, offset, inside)) return Flow::fault;
    if (inside && is_beyond(b, offset, bytes)) return refuse_beyond(x, lane, b);
    if (inside) note(b, AccessLog::How::read, offset, bytes);
    for (u32 e = 0; e < c.count; ++e) {
      const Reference d = x.elements[c.target + e];
      if (d == nothing) continue;
      u64 value = 0;
      const u64 from = offset + u64{e} * width;
      if (inside) std::memcpy(&value, b.region->data() + from, width);
      std::memcpy(x.bank[0] + d + static_cast<u32>(lane) * register_bytes(width), &value,
                  register_bytes(width));
      if (inside && b.region->any_undefined(from, width)) {
        undefine(x, d, static_cast<int>(register_bytes(width)), Mask{1} << lane);
      }
    }
  }
  return Flow::next;
}

Flow save(Core& x, const Code& c, Mask m) {
  const ptx::Modifiers& how = x.machine->program().code[x.pc].modifiers;
  const u32 width = c.width, bytes = width * c.count;
  const u32 coordinates = ptx::geometry_of(how).given;
  for (Mask rest = m; rest; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    BoundTexture b;
    u64 offset = 0;
    bool inside = true;
    if (!place(x, c, lane, how, c.target, bytes, b, offset, inside)) return Flow::fault;
    if (!inside) continue;
    if (is_beyond(b, offset, bytes)) return refuse_beyond(x, lane, b);
    note(b, AccessLog::How::write, offset, bytes);
    const Writer writer =
        Writer::of(x.block->number, x.warp->index * 32 + static_cast<u32>(lane), x.pc);
    for (u32 e = 0; e < c.count; ++e) {
      const Reference r = x.elements[c.target + coordinates + e];
      const std::size_t at = static_cast<u32>(lane) * register_bytes(width);
      const std::byte* from = x.bank[r >> 31] + (r & ~constant_bit) + at;
      const bool hidden =
          !(r & constant_bit) && has_undefined(x, r, static_cast<int>(register_bytes(width)));
      b.region->write(offset + u64{e} * width, from, hidden ? shadow(x, r) + at : nullptr, width,
                      writer);
    }
  }
  return Flow::next;
}

}  // namespace

Handler texture_handler(const ptx::Instruction& i) {
  switch (i.op) {
    case Op::tex:
      return fetch;
    case Op::txq:
      return query;
    case Op::suld:
      return load;
    case Op::sust:
      return save;
    default:
      return nullptr;
  }
}

}  // namespace tilescope::sim
