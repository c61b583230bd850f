// Issues bulk copies and copies of boxes of tensors (PTX ISA 9.7.9.25.4, 9.7.9.25.5), and waits for
// groups of them (9.7.9.25.6). What they do when is core/sim/async's matter.
//
// A thread's copy is refused here, before it begins, where an address or a size is wrong.
#include <fmt/format.h>

#include <algorithm>

#include "core/sim/async/copies.h"
#include "core/sim/async/map_bits.h"
#include "core/sim/lanes/lanes.h"
#include "core/sim/lanes/services.h"
#include "core/sim/lanes/units.h"
#include "core/sim/machine/cluster.h"
#include "core/sim/machine/model.h"
#include "core/sim/machine/together.h"

namespace tilescope::sim {
namespace {

using base::lane_array;
using ptx::Field;
using ptx::Space;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr u32 grain = 16;       // bytes: sizes and addresses of bulk copies are multiples of it
constexpr u32 box_grain = 128;  // boxes in shared memory begin at multiples of it
constexpr u32 map_grain = 64;   // tensor maps lie at multiples of it

// The operands of one lane, one after the other, as core/sim/bind/bind.cpp put them down.
class Operands {
 public:
  Operands(const Core& x, const Code& c, int lane)
      : x_(x), next_(x.elements + c.target), lane_(lane) {}

  u64 address() {
    const Reference r = next_[0];
    const u64 offset = u64{next_[2]} | u64{next_[3]} << 32;
    const bool narrow = next_[1];
    next_ += 4;
    if (r == nothing) return offset;
    if (narrow) return static_cast<u32>(lane_array<u32>(x_, r)[lane_] + offset);
    return lane_array<u64>(x_, r)[lane_] + offset;
  }
  u32 number() { return lane_array<u32>(x_, *next_++)[lane_]; }
  std::uint16_t half() { return lane_array<std::uint16_t>(x_, *next_++)[lane_]; }
  void skip() { ++next_; }

 private:
  const Core& x_;
  const Reference* next_;
  int lane_;
};

Code in_space(const Code& c, Space space) {
  Code out = c;
  out.space = space;
  return out;
}

Way way_of(const ptx::Modifiers& how) {
  if (how.has(Field::reduction)) return Way::reduce;
  return how.space2() == Space::global ? Way::load : Way::store;
}

DType dtype_of(ptx::Type type) {
  switch (type) {
    case ptx::Type::s32:
      return DType::i32;
    case ptx::Type::b64:
    case ptx::Type::u64:
      return DType::u64;
    case ptx::Type::s64:
      return DType::i64;
    case ptx::Type::f16:
      return DType::f16;
    case ptx::Type::bf16:
      return DType::bf16;
    case ptx::Type::f32:
      return DType::f32;
    case ptx::Type::f64:
      return DType::f64;
    default:
      return DType::u32;
  }
}

u32 thread_of(const Core& x, int lane) {
  return x.warp->index * 32 + static_cast<u32>(lane);
}

std::vector<u32>& committed(Core& x) {
  std::vector<u32>& groups = x.block->flight.committed;
  if (groups.empty()) groups.resize(x.block->warps.size() * 32);
  return groups;
}

// Where a load goes: bytes of shared memory, and an mbarrier, of the block itself, of another one
// of the cluster, or at the same places of several.
struct Destination {
  u32 shared = 0, mbarrier = 0;
  u32 blocks = 0;      // ranks, a bit each
  u32 arrives_at = 0;  // the rank of the block of the mbarrier, where there is one destination
  bool pairs = false;  // .cta_group::2: the mbarrier may be the other one's of the pair
};

bool in_cluster(const ptx::Modifiers& how) {
  return ptx::words_of(Field::space)[how[Field::space] - 1u] == "shared::cluster";
}

// Of .shared::cta both are the block's own. Else the destination names a block, and the mbarrier is
// to be in the same one (9.7.9.25.4.1), or with .cta_group::2 in the other one of its pair
// (9.7.9.25.5.2).
bool find_destination(Core& x, const Code& c, int lane, const ptx::Modifiers& how, u64 shared,
                      u64 mbarrier, u32 bytes, u32 align, Destination& out) {
  Block *to = x.block, *at = x.block;
  const bool anywhere = in_cluster(how);
  const auto locate = [&](Access access, u64 address, u32 size, u32 multiple, Block*& block,
                          u32& offset) {
    return anywhere
               ? cluster_offset(x, c, Space::shared, access, lane, address, size, multiple, block,
                                offset)
               : shared_offset(x, c, Space::shared, access, lane, address, size, multiple, offset);
  };
  if (!locate(Access::store, shared, bytes, align, to, out.shared) ||
      !locate(Access::atomic, mbarrier, 8, 8, at, out.mbarrier)) {
    return false;
  }
  out.blocks = 1u << to->rank;
  out.arrives_at = at->rank;
  out.pairs = how.has(Field::cta_group) && how[Field::cta_group] == 2;
  if (to->rank == at->rank || (out.pairs && to->rank / 2 == at->rank / 2)) return true;
  x.reports->fault(
      x, lane, "bad_copy",
      fmt::format("the copy goes to CTA {} of the cluster, but its mbarrier is in CTA {}", to->rank,
                  at->rank),
      out.pairs ? "an mbarrier in the same CTA, or in the other one of its pair"
                : "an mbarrier in the same CTA as the destination",
      fmt::format("an mbarrier in CTA {}", at->rank));
  return false;
}

// .multicast::cluster: to the same places in all blocks of a mask (9.7.9.25.5.2).
bool spread(Core& x, int lane, u32 mask, Destination& d) {
  const u32 all = (1u << x.machine->cluster_size) - 1;
  if (mask && (mask & ~all) == 0) {
    d.blocks = mask;
    return true;
  }
  x.reports->fault(x, lane, "bad_mask",
                   fmt::format("the mask 0x{:x} of a multicast names {}", mask,
                               mask ? "CTAs that the cluster does not have" : "no CTA"),
                   fmt::format("some of the bits 0x{:x}", all), fmt::format("0x{:x}", mask));
  return false;
}

// A load, once for each of the blocks that it goes to: each gets its bytes when they come, and its
// mbarrier is told of them.
bool issue_loads(Core& x, int lane, const Destination& d, const AsyncOperation& load, u32 bytes) {
  for (u32 rest = d.blocks; rest; rest &= rest - 1) {
    const auto rank = static_cast<u32>(__builtin_ctz(rest));
    Block* block = reach(x, lane, rank);
    if (!block) return false;
    AsyncOperation o = load;
    o.transactions = bytes;
    o.mbarrier = d.mbarrier;
    // Of a pair, the mbarrier of the even or of the odd block, as the address says.
    const u32 at = d.pairs ? (rank & ~1u) | (d.arrives_at & 1) : rank;
    if (at != rank) o.targets = 1u << at;
    if (!x.machine->flights.issue(x, lane, *block, std::move(o))) return false;
  }
  return true;
}

// The copy goes into the thread's open group.
bool issue_in_group(Core& x, int lane, AsyncOperation o) {
  o.group = committed(x)[thread_of(x, lane)];
  return x.machine->flights.issue(x, lane, std::move(o));
}

// Bytes of global memory that a copy reads or writes.
bool check_global(Core& x, const Code& c, int lane, Way way, u64 address, u64 bytes, u32 align) {
  const Region* region = find_region(x, address);
  const u64 offset = region ? address - region->base() : 0;
  const bool inside = region && region->size() - offset >= bytes;
  if (inside && address % align == 0 && (way == Way::load || !region->read_only)) return true;
  const Access access = way == Way::load    ? Access::load
                        : way == Way::store ? Access::store
                                            : Access::atomic;
  refuse_access(x, in_space(c, Space::global), access, lane, address,
                inside ? align : static_cast<u32>(bytes));
  return false;
}

bool check_size(Core& x, int lane, u32 bytes) {
  if (bytes % grain == 0) return true;
  x.reports->fault(x, lane, "bad_copy",
                   fmt::format("a bulk copy of {} bytes; sizes are multiples of 16", bytes),
                   "a multiple of 16", fmt::format("{}", bytes));
  return false;
}

bool is_between_blocks(const ptx::Modifiers& how) {
  return in_cluster(how) && how.space2() == Space::shared;
}

// From the block's shared memory to another block's (9.7.9.25.4.1: "strictly remote").
bool send_bytes(Core& x, const Code& c, int lane, const ptx::Modifiers& how, u64 to, u64 from,
                Span s, u64 mbarrier) {
  Destination d;
  u32 source = 0;
  if (!shared_offset(x, c, Space::shared, Access::load, lane, from, s.bytes, grain, source) ||
      !find_destination(x, c, lane, how, to, mbarrier, s.bytes, grain, d)) {
    return false;
  }
  if (d.blocks == 1u << x.block->rank) {
    x.reports->fault(x, lane, "bad_copy",
                     "a bulk copy from shared memory to shared memory goes to the CTA itself",
                     "an address in the shared memory of another CTA of the cluster",
                     fmt::format("0x{:x}", to));
    return false;
  }
  s.shared = d.shared;
  s.global = source;
  AsyncOperation o = copy_between_blocks(s);
  o.transactions = s.bytes;
  o.mbarrier = d.mbarrier;
  Block* block = reach(x, lane, static_cast<u32>(__builtin_ctz(d.blocks)));
  return block && x.machine->flights.issue(x, lane, *block, std::move(o), *x.block,
                                           source_between_blocks(s));
}

bool copy_bytes(Core& x, const Code& c, int lane, const ptx::Modifiers& how) {
  const Way way = way_of(how);
  Operands operands(x, c, lane);
  const u64 to = operands.address(), from = operands.address();
  Span s;
  s.bytes = operands.number();
  s.global = way == Way::load ? from : to;
  s.how = how.operation();
  s.dtype = dtype_of(how.type());
  if (how.has(Field::cp_mask)) {
    operands.skip();  // the cache hint
    s.mask = operands.half();
  }
  if (!check_size(x, lane, s.bytes)) return false;
  if (s.bytes == 0) return true;
  if (is_between_blocks(how)) return send_bytes(x, c, lane, how, to, from, s, operands.address());
  if (!check_global(x, c, lane, way, s.global, s.bytes, grain)) return false;
  if (way != Way::load) {
    return shared_offset(x, c, Space::shared, Access::load, lane, from, s.bytes, grain, s.shared) &&
           issue_in_group(x, lane, bulk_copy(way, s));
  }
  Destination d;
  if (!find_destination(x, c, lane, how, to, operands.address(), s.bytes, grain, d) ||
      (how.has(Field::multicast) && !spread(x, lane, operands.half(), d))) {
    return false;
  }
  s.shared = d.shared;
  return issue_loads(x, lane, d, bulk_copy(way, s), s.bytes);
}

// ---- tensors ----

// How an instruction goes through the tensor, and whether the map is for that.
Walk walk_of(const ptx::Modifiers& how) {
  switch (how.tensor_mode()) {
    case ptx::TensorMode::im2col:
    case ptx::TensorMode::im2col_no_offs:
      return Walk::im2col;
    case ptx::TensorMode::im2col_w:
    case ptx::TensorMode::im2col_w_128:
      return Walk::im2col_w;
    case ptx::TensorMode::gather4:
    case ptx::TensorMode::scatter4:
      return Walk::four_rows;
    default:
      return Walk::tile;
  }
}

// What a map must be for its instruction; empty where it is.
std::string unfit(const MapFields& map, const ptx::Modifiers& how) {
  const Walk walk = walk_of(how);
  const u32 rank = how[Field::dim];
  if (map.rank != rank) {
    return fmt::format(
        "the instruction is for tensors of {} dimensions, but the tensor map is of a "
        "tensor of {}",
        rank, map.rank);
  }
  const bool pixels = walk == Walk::im2col || walk == Walk::im2col_w;
  if (pixels != map.pixels.has_value()) {
    return map.pixels ? "the tensor map is for im2col, but the instruction copies a box"
                      : "the instruction copies by im2col, but the tensor map is for boxes";
  }
  const MapWide wide = how.tensor_mode() == ptx::TensorMode::im2col_w       ? MapWide::w
                       : how.tensor_mode() == ptx::TensorMode::im2col_w_128 ? MapWide::w128
                                                                            : MapWide::no;
  if (pixels && map.pixels->wide != wide) {
    return fmt::format("the instruction copies by {}, but the tensor map is for {}", name_of(wide),
                       name_of(map.pixels->wide));
  }
  if (walk == Walk::four_rows && map.interleave != MapInterleave::none) {
    return "four rows are not copied from or to an interleaved tensor (PTX ISA 5.5.3.4)";
  }
  if (walk == Walk::four_rows && map.box[1] != 1) {
    return fmt::format(
        "each of the four rows is a box, but the tensor map's box has {} rows (PTX ISA 5.5.3.4.1)",
        map.box[1]);
  }
  return "";
}

bool read_map(Core& x, int lane, u64 address, const ptx::Modifiers& how, MapFields& out) {
  MapBits bits;
  const auto no = [&](std::string sentence, std::string expected, std::string found) {
    x.reports->fault(x, lane, "bad_tensor_map", std::move(sentence), std::move(expected),
                     std::move(found));
    return false;
  };
  if (address % map_grain || !read_generic(x, lane, address, bits.size(), bits.data())) {
    return no(fmt::format("there is no tensor map at 0x{:x}", address),
              "128 bytes of parameters or global memory, at a multiple of 64",
              fmt::format("0x{:x}", address));
  }
  const Region* region = find_region(x, address);
  const bool undefined = region && region->any_undefined(address - region->base(), tiled_map_bytes);
  const std::optional<MapFields> map = undefined ? std::nullopt : decode_map(bits);
  if (!map) {
    return no(fmt::format("what is at 0x{:x} is no tensor map", address),
              "a tensor map that the host has made, or tensormap.replace, field by field, from 128 "
              "bytes of 0",
              undefined ? "bytes that nobody wrote" : why_no_map(bits));
  }
  if (std::string wrong = unfit(*map, how); !wrong.empty()) {
    return no(std::move(wrong), "a tensor map for this instruction", "another one");
  }
  if (map->swizzle == MapSwizzle::bytes128_atom32_flip) {
    return no(
        "the tensor map has the swizzle 128B_atom32B_flip8B, of which it is not known here "
        "which rows it flips",
        "another swizzle", "128B_atom32B_flip8B");
  }
  x.machine->global_watch.watch_map(x, lane, address);
  out = *map;
  return true;
}

// "The address of the bounding box must be aligned to 16 bytes" (5.5.3.1): along dimension 0 too.
// And where a box is written none of its coordinates is below 0 (9.7.9.25.5.1; an H200 stops at
// one).
bool check_start(Core& x, int lane, Way way, const Box& box) {
  const u32 coordinates = box.walk == Walk::four_rows ? 5 : box.map.rank;
  for (u32 i = 0; i < coordinates && way != Way::load; ++i) {
    if (box.start[i] >= 0) continue;
    x.reports->fault(x, lane, "bad_coordinate",
                     fmt::format("the box that is written begins at {} along dimension {}: only "
                                 "loads may begin before the tensor",
                                 box.start[i], box.walk == Walk::four_rows ? std::min(i, 1u) : i),
                     "0 or more", fmt::format("{}", box.start[i]));
    return false;
  }
  if (box.map.interleave != MapInterleave::none) return true;  // pixels are of 16 or 32 bytes
  const std::int64_t byte = std::int64_t{box.start[0]} * box.map.element_bytes();
  constexpr std::int64_t packed_grain = 128;  // 9.7.9.25.5.1
  if (byte % (box.packed() ? packed_grain : std::int64_t{grain}) == 0) return true;
  if (box.packed()) {
    x.reports->fault(
        x, lane, "misaligned",
        fmt::format("the box begins at element {} of dimension 0; boxes of {} begin at "
                    "multiples of 128 (PTX ISA 9.7.9.25.5.1)",
                    box.start[0], name_of(box.map.packing)),
        "a multiple of 128 elements", fmt::format("{}", box.start[0]));
    return false;
  }
  x.reports->fault(
      x, lane, "misaligned",
      fmt::format("the box begins at element {} of dimension 0, which is byte {}; boxes "
                  "begin at multiples of 16 bytes",
                  box.start[0], byte),
      fmt::format("a multiple of {} elements", grain / box.map.element_bytes()),
      fmt::format("{}", box.start[0]));
  return false;
}

// Elements of 4 bits that are packed on both sides are copied as the bytes that they are in.
bool take_bytes(Core& x, int lane, Box& box) {
  if (box.map.packing != MapPacking::b4x16) return true;
  if (box.start[0] % 2) {
    x.reports->fault(x, lane, "misaligned",
                     fmt::format("the box begins at element {} of dimension 0, in the middle of a "
                                 "byte: elements of b4x16 have 4 bits",
                                 box.start[0]),
                     "a multiple of 32 elements, which are 16 bytes",
                     fmt::format("{}", box.start[0]));
    return false;
  }
  box.start[0] /= 2;
  box.map = in_bytes(box.map);
  return true;
}

// "The first element can lie outside of the Bounding Box in the W-dimension only and only on the
// left side" (5.5.5.1). H and D are where the box is.
bool check_wide(Core& x, int lane, const Box& box) {
  const std::int64_t last =
      static_cast<std::int64_t>(box.map.dims[1]) - 1 + box.map.pixels->upper[0];
  if (box.start[1] <= last) return true;
  x.reports->fault(
      x, lane, "bad_coordinate",
      fmt::format("the copy begins at {} along W, behind the corners of the tensor map",
                  box.start[1]),
      fmt::format("{} or less", last), fmt::format("{}", box.start[1]));
  return false;
}

// "The filter corner location must be within the bounding box"; offsets share 16 bits; and what is
// written "must stay within the tensor boundaries" (5.5.4.1, 9.7.9.25.5.1).
bool check_pixels(Core& x, int lane, Way way, const Box& box) {
  if (box.walk == Walk::im2col_w) return check_wide(x, lane, box);
  if (box.walk != Walk::im2col) return true;
  const u32 named = box.map.interleave == MapInterleave::none ? 0 : 1;  // W is dimension 0
  const auto no = [&](std::string sentence, std::string expected, std::int64_t found) {
    x.reports->fault(x, lane, "bad_coordinate", std::move(sentence), std::move(expected),
                     fmt::format("{}", found));
    return false;
  };
  constexpr u32 most_offset[] = {65535, 255, 31};
  for (u32 d = 1; d + 1 < box.map.rank; ++d) {
    const std::int64_t lower = box.map.pixels->lower[d - 1], start = box.start[d];
    const std::int64_t upper = box.map.pixels->upper[d - 1];
    const std::int64_t last = static_cast<std::int64_t>(box.map.dims[d]) - 1 + upper;
    if (start < lower || start > last) {
      return no(
          fmt::format("the filter begins at {} along dimension {}, outside the corners of the "
                      "tensor map",
                      start, d - named),
          fmt::format("from {} to {}", lower, last), start);
    }
    if (box.offsets[d - 1] > most_offset[box.map.rank - 3]) {
      return no(fmt::format("the offset along dimension {} of a tensor of {} dimensions is {}",
                            d - named, box.map.rank, box.offsets[d - 1]),
                fmt::format("from 0 to {}", most_offset[box.map.rank - 3]), box.offsets[d - 1]);
    }
    if (way != Way::load && (lower < 0 || upper > 0)) {
      return no(
          fmt::format("the corners of dimension {} are {} and {}: pixels that are written are "
                      "in the tensor",
                      d - named, lower, upper),
          "a lower corner of 0 or more and an upper one of 0 or less", lower < 0 ? lower : upper);
    }
  }
  return true;
}

// All rows lie in memory that there is.
bool check_rows(Core& x, const Code& c, int lane, Way way, const Box& box) {
  bool good = true;
  for_rows(box, [&](const BoxRow& row) {
    if (row.first >= row.end) return true;
    good = check_global(x, c, lane, way, row.address, box.map.global_bytes(row.end - row.first), 1);
    return good;
  });
  return good;
}

// Elements behind the end of a row that are written all the same.
void tell_of_tails(Core& x, int lane, const Box& box) {
  for_rows(box, [&](const BoxRow& row) {
    if (row.first >= row.end) return true;
    const u32 inside = (row.end - row.first) * box.map.element_bytes();
    const u32 written = written_bytes(box, row);
    if (written == inside) return true;
    x.reports->hazard(x, lane, "row_tail_written", x.pc, [&] {
      const u64 end = u64{box.map.dims[0]} * box.map.element_bytes();
      Report r;
      r.sentence = fmt::format(
          "this copy writes {} bytes past the end of each row: rows of the tensor are {} elements "
          "of {}, {} bytes, and an H200 writes whole pieces of 16",
          written - inside, box.map.dims[0], name_of(box.map.dtype), end);
      r.expected = "rows of a multiple of 16 bytes, or nothing needed after them";
      r.found = fmt::format("rows of {} bytes", end);
      return r;
    });
    return false;
  });
}

// Of f64 there are sums of bytes side by side (9.7.9.25.4.2), but not of boxes.
bool check_reduction(Core& x, int lane, const Box& box) {
  if (box.map.dtype != DType::f64 && reduction_of(box.how, box.map.dtype)) return true;
  x.reports->fault(
      x, lane, "bad_tensor_map",
      fmt::format("there is no such reduction of elements of {}", name_of(box.map.dtype)),
      "a reduction that the type has (PTX ISA 9.7.9.25.5.3)", std::string(name_of(box.map.dtype)));
  return false;
}

// Of what is packed in global memory only elements of 6 bits are written there, and not summed
// (9.7.9.25.5.1).
bool check_unpacking(Core& x, int lane, Way way, const Box& box) {
  const MapPacking packing = box.map.packing;
  if (packing == MapPacking::b6x16_p32 && way == Way::store) return true;
  x.reports->fault(
      x, lane, "bad_tensor_map",
      packing == MapPacking::b6x16_p32
          ? std::string("elements of b6p2x16 are stored, but not reduced: PTX has no reduction of "
                        "sub-byte types (PTX ISA 9.7.9.25.5.1)")
          : fmt::format("elements of {} are only loaded: nothing writes them to global memory (PTX "
                        "ISA 9.7.9.25.5.1)",
                        name_of(packing)),
      "another type, or a load", std::string(name_of(packing)));
  return false;
}

bool copy_box(Core& x, const Code& c, int lane, const ptx::Modifiers& how) {
  const Way way = way_of(how);
  Operands operands(x, c, lane);
  u64 shared = way == Way::load ? operands.address() : 0;
  const u64 map = operands.address();
  Box box;
  box.how = how.operation();
  box.walk = walk_of(how);
  const u32 coordinates = box.walk == Walk::four_rows ? 5 : how[Field::dim];
  for (u32 i = 0; i < coordinates; ++i) box.start[i] = static_cast<std::int32_t>(operands.number());
  if (way != Way::load) shared = operands.address();
  const u64 mbarrier = way == Way::load ? operands.address() : 0;
  const u32 offsets = box.walk == Walk::im2col_w                     ? 2
                      : how.tensor_mode() == ptx::TensorMode::im2col ? coordinates - 2
                                                                     : 0;
  for (u32 d = 0; d < offsets; ++d) box.offsets[d] = operands.half();
  if (!read_map(x, lane, map, how, box.map) || !take_bytes(x, lane, box)) return false;
  if (way != Way::load && box.packed() && !check_unpacking(x, lane, way, box)) return false;
  if (way == Way::reduce && !check_reduction(x, lane, box)) return false;
  if (!check_start(x, lane, way, box)) return false;
  if (box.map.interleave != MapInterleave::none) box = of_slice(box);
  if (!check_pixels(x, lane, way, box)) return false;
  const u32 bytes = box.shared_bytes();
  if (way != Way::load) {
    if (!shared_offset(x, c, Space::shared, Access::load, lane, shared, bytes, box_grain,
                       box.shared) ||
        !check_rows(x, c, lane, way, box)) {
      return false;
    }
    tell_of_tails(x, lane, box);
    return issue_in_group(x, lane, tensor_copy(way, box));
  }
  Destination d;
  if (!find_destination(x, c, lane, how, shared, mbarrier, bytes, box_grain, d) ||
      (how.has(Field::multicast) && !spread(x, lane, operands.half(), d)) ||
      !check_rows(x, c, lane, way, box)) {
    return false;
  }
  box.shared = d.shared;
  return issue_loads(x, lane, d, tensor_copy(way, box), box.bytes());
}

using CopyOne = bool (*)(Core&, const Code&, int, const ptx::Modifiers&);

template <CopyOne one>
Flow copy(Core& x, const Code& c, Mask m) {
  const ptx::Modifiers& how = x.machine->program().code[x.pc].modifiers;
  for (Mask rest = m; rest; rest &= rest - 1) {
    if (!one(x, c, __builtin_ctz(rest), how)) return Flow::fault;
  }
  return Flow::next;
}

// Caches are not modelled; the map must be one all the same.
Flow prefetch_box(Core& x, const Code& c, Mask m) {
  const ptx::Modifiers& how = x.machine->program().code[x.pc].modifiers;
  for (Mask rest = m; rest; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    MapFields map;
    if (!read_map(x, lane, Operands(x, c, lane).address(), how, map)) return Flow::fault;
  }
  return Flow::next;
}

Flow prefetch_bytes(Core& x, const Code& c, Mask m) {
  for (Mask rest = m; rest; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    Operands operands(x, c, lane);
    const u64 address = operands.address();
    const u32 bytes = operands.number();
    if (!check_size(x, lane, bytes) ||
        !check_global(x, c, lane, Way::load, address, bytes, grain)) {
      return Flow::fault;
    }
  }
  return Flow::next;
}

// ---- groups ----

Flow commit(Core& x, const Code&, Mask m) {
  for (Mask rest = m; rest; rest &= rest - 1) ++committed(x)[thread_of(x, __builtin_ctz(rest))];
  return Flow::next;
}

template <bool reads_only>
Flow wait_group(Core& x, const Code& c, Mask m) {
  bool all = true;
  u32 left = 0;
  for (Mask rest = m; rest; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    left = lane_array<u32>(x, c.a)[lane];
    const u32 groups = committed(x)[thread_of(x, lane)];
    const u32 limit = groups - std::min(groups, left);
    all = x.machine->flights.await_groups(*x.block, thread_of(x, lane), limit, reads_only) && all;
  }
  if (all) return Flow::next;
  Split& s = x.warp->splits[x.split];
  s.groups_left = left;
  s.reads_only = reads_only;
  return wait_here(x, m, Wait::group);
}

}  // namespace

Handler bulk_handler(const ptx::Instruction& i) {
  const ptx::Modifiers& how = i.modifiers;
  if (how.operation() == ptx::Operation::commit_group) return commit;
  if (how.operation() == ptx::Operation::wait_group) {
    return how.has(Field::read) ? wait_group<true> : wait_group<false>;
  }
  if (how.has(Field::prefetching)) return how.has(Field::tensor) ? prefetch_box : prefetch_bytes;
  if (how.has(Field::reduction) && !how.has(Field::tensor) &&
      !reduction_of(how.operation(), dtype_of(how.type()))) {
    return nullptr;
  }
  return how.has(Field::tensor) ? copy<copy_box> : copy<copy_bytes>;
}

}  // namespace tilescope::sim
