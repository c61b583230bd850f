#include "tests/sim/random_copy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "tests/sim/draw.h"

namespace tilescope::test {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using Way = RandomCopy::Way;
using Mode = RandomCopy::Mode;

constexpr u32 room = 16384;
constexpr std::byte untouched{0xee};

u32 width_of(const RandomCopy& c) {
  return static_cast<u32>(bytes_of(*c.map.dtype));
}

// ---- drawing ----

void draw_reduction(RandomCopy& c, Draw& draw) {
  // The table of 9.7.9.25.5.3.
  constexpr DType types[] = {DType::u32, DType::i32, DType::u64, DType::i64,
                             DType::f32, DType::f16, DType::bf16};
  c.map.dtype = draw.of(types);
  switch (*c.map.dtype) {
    case DType::u32: {
      constexpr const char* all[] = {"add", "min", "max", "inc", "dec", "and", "or", "xor"};
      c.operation = draw.of(all);
      break;
    }
    case DType::i64: {
      constexpr const char* all[] = {"min", "max"};
      c.operation = draw.of(all);
      break;
    }
    case DType::f32:
      c.operation = "add";
      break;
    case DType::f16:
    case DType::bf16: {
      constexpr const char* all[] = {"add", "min", "max"};
      c.operation = draw.of(all);
      break;
    }
    default: {
      constexpr const char* all[] = {"add", "min", "max", "and", "or", "xor"};
      c.operation = draw.of(all);
    }
  }
}

// The tensor: what is written has no element twice, what is read may.
void draw_tensor(RandomCopy& c, Draw& draw, u32 rank) {
  u64 packed = 0;
  for (u32 d = 0; d < rank; ++d) {
    c.map.dims.push_back(1 + draw(d ? 7 : 90));
    if (d == 0) {
      packed = c.map.dims[0] * width_of(c);
      continue;
    }
    u64 stride = (packed + 15) / 16 * 16 + 16 * u64{draw(3)};
    if (c.way == Way::load && draw(6) == 0) stride = 16 * u64{draw(12)};
    c.map.strides.push_back(stride);
    packed = std::max(packed, stride * c.map.dims[d]);
  }
}

u32 span_of_rows(const RandomCopy& c) {
  const u32 span = span_of(c.map.swizzle);
  return span ? span : 256;
}

// Rows of 16 bytes to the swizzle's span, and no more elements than a box can have.
u32 draw_row(const RandomCopy& c, Draw& draw) {
  const u32 pieces = std::min(span_of_rows(c) / 16, 256 * width_of(c) / 16);
  return 16 * (1 + draw(pieces)) / width_of(c);
}

u32 rows_of(const RandomCopy& c) {
  if (c.mode == Mode::four_rows) return 4;
  if (c.mode == Mode::im2col) return c.map.pixels;
  u32 n = 1;
  for (std::size_t d = 1; d < c.map.box.size(); ++d) {
    n *= (c.map.box[d] + c.map.element_strides[d] - 1) / c.map.element_strides[d];
  }
  return n;
}

void draw_box(RandomCopy& c, Draw& draw, u32 rank) {
  c.map.box.push_back(draw_row(c, draw));
  c.map.element_strides.push_back(1 + (draw(8) == 0 ? draw(8) : 0));  // counts for nothing
  for (u32 d = 1; d < rank; ++d) {
    const u32 most = rank < 3 ? 40 : rank == 3 ? 8 : 3;
    const u32 step = draw(4) == 0 ? 1 + draw(8) : 1;
    c.map.element_strides.push_back(step);
    c.map.box.push_back(std::min(256u, std::max(1u, (1 + draw(most)) * step - draw(step))));
  }
  while (rows_of(c) * 256 > room / 2) {
    u32& longest = *std::max_element(c.map.box.begin() + 1, c.map.box.end());
    longest = (longest + 1) / 2;
  }
}

// Around both ends of each dimension; along the first in steps of 16 bytes.
void draw_start(RandomCopy& c, Draw& draw, u32 rank) {
  const bool before = c.way == Way::load;
  for (u32 d = 0; d < rank; ++d) {
    const auto extent = static_cast<std::int32_t>(c.map.dims[d]);
    const std::int32_t grain = d ? 1 : static_cast<std::int32_t>(16 / width_of(c));
    const std::int32_t least = before ? -static_cast<std::int32_t>(c.map.box[d]) - 1 : 0;
    c.start.push_back(draw.between(least / grain, (extent + 1) / grain) * grain);
  }
}

void draw_tile(RandomCopy& c, Draw& draw) {
  const u32 rank = 1 + draw(5);
  draw_tensor(c, draw, rank);
  draw_box(c, draw, rank);
  draw_start(c, draw, rank);
}

void draw_four_rows(RandomCopy& c, Draw& draw) {
  draw_tensor(c, draw, 2);
  c.map.box = {draw_row(c, draw), 1};
  c.map.element_strides = {1, 1};
  draw_start(c, draw, 2);
  const auto rows = static_cast<std::int32_t>(c.map.dims[1]);
  c.start.resize(1);
  // What is written twice has no order: rows that differ.
  const std::int32_t first = draw.between(c.way == Way::load ? -2 : 0, rows);
  for (std::int32_t r = 0; r < 4; ++r) {
    const std::int32_t any = draw.between(-2, rows + 1);
    c.start.push_back(c.way == Way::load ? any : first + (r * 3) % 4);
  }
}

void draw_im2col(RandomCopy& c, Draw& draw) {
  const u32 rank = 3 + draw(3);
  draw_tensor(c, draw, rank);
  c.map.channels = draw_row(c, draw);
  c.map.pixels = 1 + draw(48);
  c.map.element_strides.push_back(1);
  const auto channels = static_cast<std::int32_t>(c.map.dims[0]);
  const auto grain = static_cast<std::int32_t>(16 / width_of(c));
  const std::int32_t back = c.way == Way::load ? -1 : 0;
  c.start.push_back(draw.between(back, channels / grain) * grain);
  for (u32 d = 1; d + 1 < rank; ++d) {
    const auto extent = static_cast<std::int32_t>(c.map.dims[d]);
    const std::int32_t lower = draw.between(c.way == Way::load ? -3 : 0, extent / 2);
    const std::int32_t upper =
        std::max(draw.between(-2, c.way == Way::load ? 2 : 0), lower - extent + 1);
    c.map.lower.push_back(lower);
    c.map.upper.push_back(upper);
    c.map.element_strides.push_back(1 + (draw(3) == 0 ? draw(4) : 0));
    c.start.push_back(draw.between(lower, extent - 1 + upper));
    c.offsets.push_back(static_cast<std::uint16_t>(draw(4)));
  }
  const auto images = static_cast<std::int32_t>(c.map.dims[rank - 1]);
  c.map.element_strides.push_back(1);
  c.start.push_back(draw.between(c.way == Way::load ? -1 : 0, images));
}

}  // namespace

RandomCopy random_copy(u64 number, Generation generation) {
  constexpr DType types[] = {DType::u8,  DType::u16, DType::u32, DType::i32, DType::u64,
                             DType::i64, DType::f16, DType::f32, DType::f64, DType::bf16};
  constexpr Way ways[] = {Way::load, Way::load, Way::store, Way::reduce};
  const bool blackwell = generation == Generation::blackwell;
  Draw draw(number);
  RandomCopy c;
  c.number = number;
  c.way = draw.of(ways);
  c.map.dtype = draw.of(types);
  if (c.way == Way::reduce) draw_reduction(c, draw);
  c.map.swizzle = static_cast<MapSwizzle>(draw(blackwell ? 7 : 4));
  if (c.map.swizzle == MapSwizzle::bytes128_atom32_flip) c.map.swizzle = MapSwizzle::none;
  c.map.nan_fill = is_float(*c.map.dtype) && draw(2) == 0;
  c.shared = 128 * draw(8);
  const u32 mode = draw(6);
  if (mode == 0) {
    c.mode = Mode::im2col;
    draw_im2col(c, draw);
  } else if (mode == 1 && blackwell && c.way != Way::reduce) {
    c.mode = Mode::four_rows;
    draw_four_rows(c, draw);
  } else {
    draw_tile(c, draw);
  }
  return c;
}

namespace {

bool interleaved(const RandomCopy& c) {
  return c.map.interleave != MapInterleave::none;
}

// W, H, D, slices, N: nothing twice, strides of whole slices.
void draw_slices(RandomCopy& c, Draw& draw, u32 rank) {
  const u32 slice = slice_bytes(c.map.interleave);
  u64 packed = 0;
  for (u32 d = 0; d < rank; ++d) {
    c.map.dims.push_back(1 + draw(d ? 5 : 24));
    if (d > 0) c.map.strides.push_back(packed + slice * u64{draw(3)});
    packed = (d > 0 ? c.map.strides.back() : slice) * c.map.dims[d];
  }
}

void draw_interleaved_box(RandomCopy& c, Draw& draw, u32 rank) {
  const u32 grain = 16 / width_of(c);
  u32 pixels = 1;
  for (u32 d = 0; d < rank; ++d) {
    const bool slices = d + 2 == rank;  // which counts for nothing
    const u32 step = draw(4) == 0 ? 1 + draw(8) : 1;
    const u32 most = slices ? 40 : std::max(1u, std::min(d ? 4u : 8u, 200 / pixels));
    u32 box = std::min(256u, std::max(1u, (1 + draw(most)) * step - draw(step)));
    if (d == 0) box = (box + grain - 1) / grain * grain;
    c.map.box.push_back(box);
    c.map.element_strides.push_back(step);
    if (!slices) pixels *= (box + step - 1) / step;
    const auto extent = static_cast<std::int32_t>(c.map.dims[d]);
    const std::int32_t least = c.way == Way::load ? -static_cast<std::int32_t>(box) - 1 : 0;
    c.start.push_back(draw.between(slices ? std::max(least, -1) : least, extent));
  }
}

void draw_interleaved_pixels(RandomCopy& c, Draw& draw, u32 rank) {
  c.map.channels = 16 / width_of(c) * (1 + draw(4));
  c.map.pixels = 1 + draw(60);
  const std::int32_t out = c.way == Way::load ? 1 : 0;
  for (u32 d = 0; d < rank; ++d) {
    const auto extent = static_cast<std::int32_t>(c.map.dims[d]);
    c.map.element_strides.push_back(d + 2 < rank && draw(3) == 0 ? 1 + draw(4) : 1);
    if (d + 2 >= rank) {
      c.start.push_back(draw.between(-out, extent));
      continue;
    }
    const std::int32_t lower = draw.between(-3 * out, extent / 2);
    const std::int32_t upper = std::max(draw.between(-2, 2 * out), lower - extent + 1);
    c.map.lower.push_back(lower);
    c.map.upper.push_back(upper);
    c.start.push_back(draw.between(lower, extent - 1 + upper));
    c.offsets.push_back(static_cast<std::uint16_t>(draw(4)));
  }
}

}  // namespace

RandomCopy random_interleaved_copy(u64 number) {
  constexpr DType types[] = {DType::u8,  DType::u16, DType::u32, DType::i32, DType::u64,
                             DType::i64, DType::f16, DType::f32, DType::f64, DType::bf16};
  constexpr Way ways[] = {Way::load, Way::load, Way::store, Way::reduce};
  Draw draw(number, 3);
  RandomCopy c;
  c.number = number;
  c.way = draw.of(ways);
  c.map.dtype = draw.of(types);
  if (c.way == Way::reduce) draw_reduction(c, draw);
  c.map.swizzle = static_cast<MapSwizzle>(draw(4));
  c.map.interleave = draw(2) ? MapInterleave::bytes16 : MapInterleave::bytes32;
  c.map.nan_fill = is_float(*c.map.dtype) && draw(2) == 0;
  c.shared = 128 * draw(8);
  const u32 rank = 3 + draw(3);
  draw_slices(c, draw, rank);
  if (draw(3) == 0) {
    c.mode = Mode::im2col;
    draw_interleaved_pixels(c, draw, rank);
  } else {
    draw_interleaved_box(c, draw, rank);
  }
  return c;
}

// ---- the job ----

namespace {

template <class List>
std::string joined(const List& list) {
  std::string out;
  for (const auto& one : list) out += fmt::format("{}{}", out.empty() ? "" : ", ", one);
  return out;
}

std::string instruction(const RandomCopy& c) {
  const std::size_t rank = c.map.dims.size();
  const std::string mode = c.mode == Mode::tile ? ".tile"
                           : c.mode == Mode::im2col
                               ? c.way == Way::load ? ".im2col" : ".im2col_no_offs"
                           : c.way == Way::load ? ".tile::gather4"
                                                : ".tile::scatter4";
  const std::string coordinates = joined(c.start);
  if (c.way == Way::load) {
    const std::string offsets = c.mode == Mode::im2col ? ", {" + joined(c.offsets) + "}" : "";
    return fmt::format(
        "cp.async.bulk.tensor.{}d.shared::cta.global{}.mbarrier::complete_tx::bytes [at], [m, "
        "{{{}}}], "
        "[bar]{};",
        rank, mode, coordinates, offsets);
  }
  if (c.way == Way::store) {
    return fmt::format(
        "cp.async.bulk.tensor.{}d.global.shared::cta{}.bulk_group [m, {{{}}}], [at];", rank, mode,
        coordinates);
  }
  return fmt::format(
      "cp.reduce.async.bulk.tensor.{}d.global.shared::cta.{}{}.bulk_group [m, {{{}}}], [at];", rank,
      c.operation, mode, coordinates);
}

// Along every dimension but that of the slices, of which one is copied.
u32 pixels_of(const RandomCopy& c) {
  if (c.mode == Mode::im2col) return c.map.pixels;
  u32 n = 1;
  for (std::size_t d = 0; d < c.map.box.size(); ++d) {
    const u32 step = c.map.element_strides[d];
    if (d + 2 != c.map.box.size()) n *= (c.map.box[d] + step - 1) / step;
  }
  return n;
}

u32 elements_of_a_row(const RandomCopy& c) {
  return c.mode == Mode::im2col ? c.map.channels : c.map.box[0];
}

// Reads `io` into shared memory, copies, and writes shared memory back. Waits a million times for
// bytes that may be others than are expected, so that the kernel ends all the same.
std::string ptx_of(const RandomCopy& c) {
  const bool loads = c.way == Way::load;
  const u32 bytes = interleaved(c) ? pixels_of(c) * slice_bytes(c.map.interleave)
                                   : rows_of(c) * elements_of_a_row(c) * width_of(c);
  std::string copy =
      loads ? fmt::format("\tmbarrier.arrive.expect_tx.shared.b64 _, [bar], {};\n\t{}\n", bytes,
                          instruction(c))
            : fmt::format(
                  "\t{}\n\tcp.async.bulk.commit_group;\n"
                  "\tcp.async.bulk.wait_group 0;\n\tbra Done;\n",
                  instruction(c));
  const bool newer = c.mode == Mode::four_rows || c.map.swizzle > MapSwizzle::bytes128;
  return fmt::format(R"(.version 8.6
.target {}
.address_size 64
.visible .entry copy(.param .align 64 .b8 map[128], .param .u64 io)
{{
	.reg .pred p, done;
	.reg .b32 t, base, at, v, bar, tries;
	.reg .b64 m, o, to;
	.shared .align 1024 .b8 room[{}];
	.shared .align 8 .b64 full;
	mov.b64 m, map;
	cvta.param.u64 m, m;
	ld.param.u64 o, [io];
	mov.u32 t, %tid.x;
	mov.u32 base, room;
	mov.u32 bar, full;
	shl.b32 at, t, 2;
Fill:
	cvt.u64.u32 to, at;
	add.u64 to, o, to;
	ld.global.u32 v, [to];
	add.u32 t, base, at;
	st.shared.u32 [t], v;
	add.u32 at, at, 512;
	setp.lt.u32 p, at, {};
	@p bra Fill;
	mov.u32 t, %tid.x;
	setp.eq.u32 p, t, 0;
	@p mbarrier.init.shared.b64 [bar], 1;
	fence.proxy.async;
	bar.sync 0;
	add.u32 at, base, {};
	mov.u32 tries, 0;
	@!p bra Wait;
{}Wait:
	{}
	mbarrier.try_wait.parity.shared.b64 done, [bar], 0;
	add.u32 tries, tries, 1;
	setp.gt.u32 p, tries, 1000000;
	or.pred done, done, p;
	@!done bra Wait;
	shl.b32 at, t, 2;
Back:
	cvt.u64.u32 to, at;
	add.u64 to, o, to;
	add.u32 t, base, at;
	ld.shared.u32 v, [t];
	st.global.u32 [to], v;
	add.u32 at, at, 512;
	setp.lt.u32 p, at, {};
	@p bra Back;
Done:
	ret;
}}
)",
                     newer ? "sm_100a" : "sm_90", room, room, c.shared, copy,
                     loads ? "" : "bra Done;", room);
}

// Numbers whose sums, rounded once, are exact in double, and of which none is 0: the sign of a zero
// that is the smaller one is nobody's promise.
void fill(const RandomCopy& c, u32 stream, std::vector<std::byte>& bytes) {
  Draw draw(c.number, stream);
  const u32 width = width_of(c);
  const bool counts = c.operation == "inc" || c.operation == "dec";
  for (std::size_t at = 0; at + width <= bytes.size(); at += width) {
    if (counts) {
      store_element(*c.map.dtype, &bytes[at], draw(5));
    } else if (is_float(*c.map.dtype)) {
      const double value = 0.125 + draw(1 << 10) / 4.0;
      store_element(*c.map.dtype, &bytes[at], draw(2) ? value : -value);
    } else {
      for (u32 k = 0; k < width; ++k) bytes[at + k] = static_cast<std::byte>(draw(256));
    }
  }
}

}  // namespace

Job job_of(const RandomCopy& c) {
  Job job;
  job.program = {"copy.ptx", ptx_of(c)};
  job.launch.block = {128, 1, 1};
  u64 bytes = c.map.dims[0] * (interleaved(c) ? slice_bytes(c.map.interleave) : width_of(c));
  for (std::size_t d = 1; d < c.map.dims.size(); ++d) {
    bytes += (c.map.dims[d] - 1) * c.map.strides[d - 1];
  }
  bytes = (bytes + 15) / 16 * 16 + 64;
  Buffer tensor{"X", DType::u8, {static_cast<std::int64_t>(bytes)}, {}, false};
  tensor.bytes.resize(bytes, untouched);
  fill(c, 1, tensor.bytes);
  Buffer io{"IO", DType::u8, {room}, std::vector<std::byte>(room, untouched), false};
  if (c.way != Way::load) fill(c, 2, io.bytes);
  job.buffers = {std::move(tensor), std::move(io)};
  job.arguments = {Argument::tensor_map(c.map), Argument::pointer(1)};
  return job;
}

// ---- the model ----

namespace {

// The tables of 5.5.7: where the 16 bytes of a line of 128 lie, line by line.
constexpr int table_none[1][8] = {{0, 1, 2, 3, 4, 5, 6, 7}};
constexpr int table_32[2][8] = {{0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 3, 2, 5, 4, 7, 6}};
constexpr int table_64[4][8] = {{0, 1, 2, 3, 4, 5, 6, 7},
                                {1, 0, 3, 2, 5, 4, 7, 6},
                                {2, 3, 0, 1, 6, 7, 4, 5},
                                {3, 2, 1, 0, 7, 6, 5, 4}};
constexpr int table_128[8][8] = {{0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 3, 2, 5, 4, 7, 6},
                                 {2, 3, 0, 1, 6, 7, 4, 5}, {3, 2, 1, 0, 7, 6, 5, 4},
                                 {4, 5, 6, 7, 0, 1, 2, 3}, {5, 4, 7, 6, 1, 0, 3, 2},
                                 {6, 7, 4, 5, 2, 3, 0, 1}, {7, 6, 5, 4, 3, 2, 1, 0}};
constexpr int table_atom_32[4][8] = {{0, 1, 2, 3, 4, 5, 6, 7},
                                     {2, 3, 0, 1, 6, 7, 4, 5},
                                     {4, 5, 6, 7, 0, 1, 2, 3},
                                     {6, 7, 4, 5, 2, 3, 0, 1}};
constexpr int table_atom_64[2][8] = {{0, 1, 2, 3, 4, 5, 6, 7}, {4, 5, 6, 7, 0, 1, 2, 3}};

template <std::size_t lines>
u32 looked_up(const int (&table)[lines][8], u32 at) {
  const u32 line = at / 128, piece = at / 16 % 8;
  return line * 128 + static_cast<u32>(table[line % lines][piece]) * 16 + at % 16;
}

u32 place(MapSwizzle swizzle, u32 at) {
  switch (swizzle) {
    case MapSwizzle::bytes32:
      return looked_up(table_32, at);
    case MapSwizzle::bytes64:
      return looked_up(table_64, at);
    case MapSwizzle::bytes128:
      return looked_up(table_128, at);
    case MapSwizzle::bytes128_atom32:
      return looked_up(table_atom_32, at);
    case MapSwizzle::bytes128_atom64:
      return looked_up(table_atom_64, at);
    default:
      return looked_up(table_none, at);
  }
}

using Coordinates = std::vector<std::int64_t>;

// The coordinates at which rows begin, row after row.
void tile_rows(const RandomCopy& c, std::size_t d, Coordinates at, std::vector<Coordinates>& out) {
  if (d == 0) return out.push_back(std::move(at));
  for (u32 i = 0; i < c.map.box[d]; i += c.map.element_strides[d]) {
    at[d] = c.start[d] + std::int64_t{i};
    tile_rows(c, d - 1, at, out);
  }
}

// Base by base, outermost first: the first time from where the copy begins, then from the corner.
void pixel_rows(const RandomCopy& c, std::size_t d, Coordinates base, bool& first,
                std::vector<Coordinates>& out) {
  if (out.size() == c.map.pixels) return;
  if (d == 0) {
    first = false;
    for (std::size_t k = 0; k < c.offsets.size() && c.way == Way::load; ++k) {
      base[k + 1] += c.offsets[k];
    }
    return out.push_back(std::move(base));
  }
  const bool image = d + 1 == c.map.dims.size();
  const std::int64_t last = image
                                ? c.start[d] + std::int64_t{c.map.pixels}
                                : static_cast<std::int64_t>(c.map.dims[d]) - 1 + c.map.upper[d - 1];
  const std::int64_t from = first || image ? c.start[d] : c.map.lower[d - 1];
  for (std::int64_t at = from; at <= last; at += image ? 1 : c.map.element_strides[d]) {
    base[d] = at;
    pixel_rows(c, d - 1, base, first, out);
  }
}

std::vector<Coordinates> rows(const RandomCopy& c) {
  std::vector<Coordinates> out;
  Coordinates at(c.map.dims.size());
  at[0] = c.start[0];
  if (c.mode == Mode::tile) {
    tile_rows(c, c.map.dims.size() - 1, at, out);
  } else if (c.mode == Mode::im2col) {
    bool first = true;
    pixel_rows(c, c.map.dims.size() - 1, at, first, out);
  } else {
    for (std::size_t r = 1; r < c.start.size(); ++r) out.push_back({c.start[0], c.start[r]});
  }
  return out;
}

// Of an interleaved tensor where each pixel is, in the order of shared memory.
void interleaved_box(const RandomCopy& c, std::size_t d, Coordinates at,
                     std::vector<Coordinates>& out) {
  const u32 count = d + 2 == at.size() ? 1 : c.map.box[d];
  for (u32 i = 0; i < count; i += c.map.element_strides[d]) {
    at[d] = c.start[d] + std::int64_t{i};
    if (d == 0) {
      out.push_back(at);
    } else {
      interleaved_box(c, d - 1, at, out);
    }
  }
}

std::vector<Coordinates> interleaved_pixels(const RandomCopy& c) {
  std::vector<Coordinates> out;
  const std::size_t rank = c.map.dims.size();
  Coordinates base(c.start.begin(), c.start.end());
  if (c.mode == Mode::tile) interleaved_box(c, rank - 1, base, out);
  while (c.mode == Mode::im2col && out.size() < c.map.pixels) {
    out.push_back(base);
    for (std::size_t d = 0; d + 2 < rank && c.way == Way::load; ++d) out.back()[d] += c.offsets[d];
    std::size_t d = 0;
    for (; d + 2 < rank; ++d) {
      base[d] += c.map.element_strides[d];
      if (base[d] < static_cast<std::int64_t>(c.map.dims[d]) + c.map.upper[d]) break;
      base[d] = c.map.lower[d];
    }
    if (d + 2 == rank) ++base[rank - 1];
  }
  return out;
}

template <class T>
T combined(const std::string& how, T old, T b) {
  if (how == "add") return static_cast<T>(old + b);
  if (how == "min") return std::min(old, b);
  if (how == "max") return std::max(old, b);
  return old;
}

template <class T>
T integers(const std::string& how, T old, T b) {
  if (how == "inc") return old >= b ? T{0} : static_cast<T>(old + 1);
  if (how == "dec") return old == 0 || old > b ? b : static_cast<T>(old - 1);
  if (how == "and") return static_cast<T>(old & b);
  if (how == "or") return static_cast<T>(old | b);
  if (how == "xor") return static_cast<T>(old ^ b);
  return combined(how, old, b);
}

template <class T>
void in_place(std::byte* memory, const std::byte* with, const std::string& how) {
  T old, b;
  std::memcpy(&old, memory, sizeof old);
  std::memcpy(&b, with, sizeof b);
  old = integers(how, old, b);
  std::memcpy(memory, &old, sizeof old);
}

void reduce(const RandomCopy& c, std::byte* memory, const std::byte* with) {
  const DType type = *c.map.dtype;
  if (is_float(type)) {  // exact in double, rounded once
    const double old = load_element(type, memory), b = load_element(type, with);
    return store_element(type, memory, combined(c.operation, old, b));
  }
  if (type == DType::u32) return in_place<std::uint32_t>(memory, with, c.operation);
  if (type == DType::u64) return in_place<std::uint64_t>(memory, with, c.operation);
  if (c.operation != "min" && c.operation != "max") {  // signed sums wrap
    if (type == DType::i32) return in_place<std::uint32_t>(memory, with, c.operation);
    return in_place<std::uint64_t>(memory, with, c.operation);
  }
  if (type == DType::i32) return in_place<std::int32_t>(memory, with, c.operation);
  return in_place<std::int64_t>(memory, with, c.operation);
}

}  // namespace

namespace {

// Loads see the elements of the tensor; what an H200 writes ends at a multiple of 16 bytes, if the
// copy begins before the row's end.
std::int64_t row_end(const RandomCopy& c) {
  const auto elements = static_cast<std::int64_t>(c.map.dims[0]);
  if (c.way == Way::load || c.start[0] >= elements) return elements;
  const std::int64_t width = width_of(c);
  return (elements * width + 15) / 16 * 16 / width;
}

}  // namespace

bool writes_behind_rows(const RandomCopy& c) {
  if (interleaved(c)) return false;
  const auto elements = static_cast<std::int64_t>(c.map.dims[0]);
  if (row_end(c) == elements || c.start[0] + std::int64_t{elements_of_a_row(c)} <= elements) {
    return false;
  }
  for (const Coordinates& at : rows(c)) {
    bool reached = true;
    for (std::size_t d = 1; d < at.size(); ++d) {
      reached = reached && at[d] >= 0 && at[d] < static_cast<std::int64_t>(c.map.dims[d]);
    }
    if (reached) return true;
  }
  return false;
}

namespace {

// What becomes of one element: in shared memory, and of the tensor or null where there is none.
void copy_element(const RandomCopy& c, std::byte* shared, std::byte* element) {
  const u32 width = width_of(c);
  if (c.way == Way::load) {
    for (u32 k = 0; k < width; ++k) {
      const std::byte fill =
          c.map.nan_fill ? (k % 2 ? std::byte{0x7f} : std::byte{0xf7}) : std::byte{0};
      shared[k] = element ? element[k] : fill;
    }
  } else if (element && c.way == Way::store) {
    std::copy_n(shared, width, element);
  } else if (element) {
    reduce(c, element, shared);
  }
}

std::vector<std::vector<std::byte>> expected_interleaved(const RandomCopy& c, const Job& job) {
  std::vector<std::byte> tensor = job.buffers[0].bytes, shared = job.buffers[1].bytes;
  const u32 slice = slice_bytes(c.map.interleave), width = width_of(c);
  u32 line = c.shared;
  for (const Coordinates& at : interleaved_pixels(c)) {
    bool inside = true;
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < at.size(); ++d) {
      inside = inside && at[d] >= 0 && at[d] < static_cast<std::int64_t>(c.map.dims[d]);
      offset += at[d] * static_cast<std::int64_t>(d ? c.map.strides[d - 1] : slice);
    }
    for (u32 i = 0; i < slice; i += width) {
      copy_element(c, &shared[place(c.map.swizzle, line + i)],
                   inside ? &tensor[static_cast<std::size_t>(offset + i)] : nullptr);
    }
    line += slice;
  }
  return {tensor, shared};
}

}  // namespace

std::vector<std::vector<std::byte>> expected(const RandomCopy& c, const Job& job) {
  if (interleaved(c)) return expected_interleaved(c, job);
  std::vector<std::byte> tensor = job.buffers[0].bytes, shared = job.buffers[1].bytes;
  const u32 width = width_of(c), length = elements_of_a_row(c), span = span_of(c.map.swizzle);
  const u32 pitch = span ? span : length * width;
  const std::vector<Coordinates> all = rows(c);
  for (u32 r = 0; r < all.size(); ++r) {
    for (u32 i = 0; i < length; ++i) {
      const u32 at = place(c.map.swizzle, c.shared + r * pitch + i * width);
      bool inside = true;
      std::int64_t offset = 0;
      for (std::size_t d = 0; d < c.map.dims.size(); ++d) {
        const std::int64_t k = all[r][d] + (d ? 0 : i);
        const std::int64_t extent = d ? static_cast<std::int64_t>(c.map.dims[d]) : row_end(c);
        inside = inside && k >= 0 && k < extent;
        offset += k * static_cast<std::int64_t>(d ? c.map.strides[d - 1] : width);
      }
      copy_element(c, &shared[at], inside ? &tensor[static_cast<std::size_t>(offset)] : nullptr);
    }
  }
  return {tensor, shared};
}

std::string text(const RandomCopy& c) {
  const TensorMap& m = c.map;
  return fmt::format(
      "{}: {} from shared memory's byte {}, over {} dims [{}] strides [{}] box [{}] steps [{}] "
      "corners [{}] [{}] channels {} pixels {} swizzle {} interleave {}{}",
      c.number, instruction(c), c.shared, name_of(*m.dtype), joined(m.dims), joined(m.strides),
      joined(m.box), joined(m.element_strides), joined(m.lower), joined(m.upper), m.channels,
      m.pixels, name_of(m.swizzle), slice_bytes(m.interleave), m.nan_fill ? ", NaN outside" : "");
}

}  // namespace tilescope::test
