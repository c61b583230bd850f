#include "core/sim/tcgen05/multiplication.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/sim/checks/around.h"
#include "core/sim/machine/model.h"
#include "core/sim/matrix/product_watch.h"
#include "core/sim/matrix/sparse.h"

namespace tilescope::sim {
namespace {

using u8 = std::uint8_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

std::vector<CellRange> ranges(const Product& product, TensorAddress from, u32 columns) {
  std::vector<CellRange> out;
  for (const MatrixPart& part : product.parts()) {
    out.push_back({part.at.lane - product.d.lane + from.lane, part.rows, from.column,
                   columns ? columns : part.columns});
  }
  return out;
}

Multiplication decoded(const AsyncOperation& o) {
  Multiplication out;
  decode(MultiplicationWords::of(o), out);  // it was right when it was issued
  return out;
}

// "byte 128 of shared memory (A), which nobody had written": the first byte of an operand that is
// undefined.
std::string undefined_byte(const Model& machine, const Block& block, const SharedMatrix& matrix,
                           u32 rows, ElementType type, u32 row_bytes, const char* name) {
  for (const u32 piece : pieces(matrix, rows, type, row_bytes)) {
    const u32 held = bits_of(type) == 4 || bits_of(type) == 6 ? 2u * bits_of(type) : 16u;
    for (u32 at = piece; at < piece + held; ++at) {
      if (block.shared.is_undefined(at))
        return fmt::format("byte {} of shared memory ({}){}", at, name,
                           undefined_text(machine, block.shared, at));
    }
  }
  return "";
}

// Which scale factors are none in a block's TMEM, or are not the same in all quarters of its lanes;
// empty where all are.
std::string wrong_scales(const Block& block, const Multiplication& m) {
  if (!m.product.shape.scale_block) return "";
  for (const ScaleFactors* factors : {&m.a_scales, &m.b_scales}) {
    const OperandBytes read = read_scales(*factors, block.tensor.memory);
    const auto row =
        std::find_if(read.undefined.begin(), read.undefined.end(), [](u8 v) { return v != 0; });
    if (row == read.undefined.end()) continue;
    const bool a = factors == &m.a_scales;
    return fmt::format("the scale factors of {} {} of {}, which {}", a ? "row" : "column",
                       row - read.undefined.begin(), a ? "A" : "B",
                       static_cast<ScaleState>(*row) == ScaleState::undefined
                           ? "nobody had written in all 32-lane quarters of TMEM"
                           : "are not the same in all 32-lane quarters of TMEM");
  }
  return "";
}

// Which row of a sparse A has metadata that are none; empty where all have some.
std::string wrong_metadata(const Block& block, const Multiplication& m) {
  if (!m.product.shape.sparse) return "";
  const std::vector<u8> rows = undefined_rows(m.metadata, block.tensor.memory);
  const auto row = std::find_if(rows.begin(), rows.end(), [](u8 v) { return v != 0; });
  if (row == rows.end()) return "";
  return fmt::format(
      "the metadata of row {} of A in TMEM, which nobody had written, or not alike "
      "in all lanes that hold them",
      row - rows.begin());
}

// "Rest of the values result in undefined behavior" (9.7.16.10.8).
void note_bad_metadata(Model& machine, Block& block, const AsyncOperation& o,
                       const Multiplication& m) {
  const std::optional<BadMetadata> bad = find_bad_metadata(m.metadata, block.tensor.memory);
  if (!bad) return;
  const Block& issuer = *machine.member(block, o.issuer);
  machine.reports.hazard_at(issuer, o.thread, o.pc, "bad_metadata", o.pc, [&] {
    const bool one = m.metadata.sparsity == Sparsity::one_of_two;
    Report r;
    r.sentence = fmt::format(
        "the metadata of row {}, chunk {}, of A are 0b{:04b}: {}", bad->row, bad->chunk, bad->bits,
        one ? "no place of one in two" : "the two stored elements would have the same place");
    r.expected = one ? "0b0100 (the first) or 0b1110 (the second) (PTX ISA 9.7.16.10.8.1)"
                     : "two bits for each of two different places (PTX ISA 9.7.16.10.8.2)";
    r.found = fmt::format("0b{:04b}", bad->bits);
    return r;
  });
}

// For the report of an output that depends on it: what this product reads that nobody has written.
void note_undefined(const Model& machine, Block& block, const AsyncOperation& o,
                    const Multiplication& m) {
  const auto& shape = m.product.shape;
  std::string what = m.a_in_tensor_memory
                         ? "cells of TMEM (A), which nobody had written"
                         : undefined_byte(machine, block, m.a, m.a_rows, m.stored(shape.a),
                                          shape.a_row_bytes(), "A");
  if (what.empty())
    what = undefined_byte(machine, block, m.b, m.b_rows, m.stored(shape.b), shape.row_bytes(), "B");
  if (what.empty()) what = "the other CTA's shared memory, which nobody had written";
  std::string scales = wrong_scales(block, m);
  if (scales.empty()) scales = wrong_metadata(block, m);
  block.tensor.undefined_read =
      fmt::format("; the tcgen05.mma at {} read {}",
                  place_text(machine.site(*machine.member(block, o.issuer), o.thread, o.pc)),
                  scales.empty() ? what : scales);
}

// The same of D, where the product adds to it: its first row tells.
void note_undefined_sum(const Model& machine, Block& block, const AsyncOperation& o,
                        const Multiplication& m) {
  if (!m.product.accumulate || !block.tensor.undefined_read.empty()) return;
  const CellRange d = m.d_range().front();
  if (!block.tensor.memory.any_undefined(d.lane, d.column, d.columns)) return;
  block.tensor.undefined_read = fmt::format(
      "; the tcgen05.mma at {} adds to {} (D), which nobody had written",
      place_text(machine.site(*machine.member(block, o.issuer), o.thread, o.pc)), cells_text(d));
}

void append(OperandBytes& to, const OperandBytes& from) {
  to.bytes.insert(to.bytes.end(), from.bytes.begin(), from.bytes.end());
  to.undefined.insert(to.undefined.end(), from.undefined.begin(), from.undefined.end());
}

// A's rows with the zeros between the elements that are stored.
OperandBytes with_zeros(const Multiplication& m, const Block& block, OperandBytes stored) {
  const std::vector<u8> undefined = undefined_rows(m.metadata, block.tensor.memory);
  OperandBytes out = spread(stored_places(m.metadata, block.tensor.memory),
                            width_of(m.stored(m.product.shape.a)), stored);
  for (std::size_t r = 0; r < undefined.size(); ++r) out.undefined[r] |= undefined[r];
  return out;
}

// A block's part of A, 128 rows of which a pair's product with layout B wants each of 64 twice.
OperandBytes read_a(const Multiplication& m, const Block& block) {
  OperandBytes out =
      m.a_in_tensor_memory
          ? read_operand(m.product, m.a_cells, block.tensor.memory)
          : read_operand(m.a, m.a_rows, m.stored(m.product.shape.a), block.shared.data(),
                         block.shared.undefined_bits(), m.product.shape.a_row_bytes());
  if (m.product.shape.sparse) return with_zeros(m, block, std::move(out));
  if (m.a_in_tensor_memory) return out;
  if (m.product.halves) append(out, OperandBytes(out));
  return out;
}

// Its part of B, from the column on to which it is shifted, with zeros in the columns of the mask.
OperandBytes read_b(const Multiplication& m, const Block& block) {
  OperandBytes out =
      read_operand(m.b, m.b_lines(), m.stored(m.product.shape.b), block.shared.data(),
                   block.shared.undefined_bits(), m.product.shape.row_bytes());
  const auto shift = static_cast<std::ptrdiff_t>(m.zero_columns.shift);
  const u32 row_bytes = m.product.shape.row_bytes();
  out.bytes.erase(out.bytes.begin(), out.bytes.begin() + shift * row_bytes);
  out.undefined.erase(out.undefined.begin(), out.undefined.begin() + shift);
  out.bytes.resize(std::size_t{m.b_rows} * row_bytes);
  out.undefined.resize(m.b_rows);
  for (u32 row = 0; row < m.b_rows; ++row) {
    if (!m.zero_columns.is_zero(row)) continue;
    std::fill_n(&out.bytes[row * row_bytes], row_bytes, std::byte{0});
    out.undefined[row] = 0;
  }
  return out;
}

// Its scale factors: of its rows of A, twice each where those are, then of B's columns.
void append_scales(OperandBytes& to, const Multiplication& m, const Block& block) {
  if (!m.product.shape.scale_block) return;
  const OperandBytes a = read_scales(m.a_scales, block.tensor.memory);
  for (u32 i = 0; i < m.product.shape.m / m.a_scales.rows; ++i) append(to, a);
  append(to, read_scales(m.b_scales, block.tensor.memory));
}

// The blocks whose memories a product uses: its own, or those of the pair, the even one first.
std::vector<Block*> blocks_of(Model& machine, Block& block, const Multiplication& m) {
  if (!m.pair) return {&block};
  return {machine.member(block, block.rank & ~1u), machine.member(block, block.rank | 1)};
}

// Which elements of a sparse A are stored.
void append_places(OperandBytes& to, const Multiplication& m, const Block& block) {
  if (!m.product.shape.sparse) return;
  const StoredPlaces places = stored_places(m.metadata, block.tensor.memory);
  for (const u8 at : places.at) to.bytes.push_back(static_cast<std::byte>(at));
}

// The operands' bytes: A's rows of each block, then B's, then each block's scale factors, then
// which elements of its A are stored.
bool read(Model& machine, Block& block, AsyncOperation& o) {
  const Multiplication m = decoded(o);
  if (!machine.options.calculates) return true;
  const std::vector<Block*> blocks = blocks_of(machine, block, m);
  OperandBytes all;
  for (const Block* at : blocks) append(all, read_a(m, *at));
  for (const Block* at : blocks) append(all, read_b(m, *at));
  for (const Block* at : blocks) append_scales(all, m, *at);
  for (const Block* at : blocks) append_places(all, m, *at);
  if (m.product.shape.sparse) {
    for (Block* at : blocks) note_bad_metadata(machine, *at, o, m);
  }
  o.bytes = std::move(all.bytes);
  o.undefined = std::move(all.undefined);
  if (std::all_of(o.undefined.begin(), o.undefined.end(), [](u8 v) { return v == 0; })) return true;
  for (Block* at : blocks) {
    if (at->tensor.undefined_read.empty()) note_undefined(machine, *at, o, m);
  }
  return true;
}

// .ashift: behind the product the rows of A move one lane down in each 32 lanes of TMEM, of which
// the last keeps its own (CuTeDSL, experimental/primitives, tcgen05_mma: "observed on B200").
void shift_rows(const Multiplication& m, TensorMemory& memory) {
  if (!m.shifts) return;
  const u32 columns = m.product.shape.a_row_bytes() / 4, from = m.a_cells.column;
  for (u32 lane = 0; lane < TensorMemory::lanes; ++lane) {
    if (lane % 32 == 31) continue;
    std::copy_n(memory.row(lane + 1) + from, columns, memory.row(lane) + from);
    for (u32 c = from; c < from + columns; ++c) {
      memory.set_undefined(lane, c, memory.undefined(lane + 1, c));
    }
  }
}

// Nobody asks what the sums are: they count as written.
bool only_write(Model& machine, Block& block, const Multiplication& m) {
  static const std::vector<u8> defined(1024);
  for (Block* at : blocks_of(machine, block, m)) {
    multiply(m.product, nullptr, defined.data(), nullptr, defined.data(), Sums::none,
             at->tensor.memory);
  }
  return true;
}

// What block i of `blocks` multiplies, of what was read.
struct PartOfOperands {
  const std::byte *a = nullptr, *b = nullptr, *a_scales = nullptr, *b_scales = nullptr;
  const u8* stored = nullptr;
  std::vector<u8> a_undefined, b_undefined;  // with those of the scale factors
};
PartOfOperands part_of(const Multiplication& m, const std::vector<std::byte>& bytes,
                       const std::vector<u8>& undefined, std::size_t i, std::size_t blocks) {
  const MmaShape& s = m.product.shape;
  const std::size_t rows = s.m, columns = s.n, b = rows * blocks, scales = b + columns,
                    row_bytes = s.row_bytes();
  PartOfOperands out;
  out.a = bytes.data() + i * rows * row_bytes;
  out.b = bytes.data() + b * row_bytes;
  const u8* from = undefined.data();
  out.a_undefined.assign(from + i * rows, from + (i + 1) * rows);
  out.b_undefined.assign(from + b, from + b + columns);
  if (s.sparse) {
    const std::size_t each = rows * (row_bytes / width_of(m.stored(s.a)) / 2);
    out.stored = reinterpret_cast<const u8*>(bytes.data() + bytes.size() - (blocks - i) * each);
  }
  if (!s.scale_block) return out;
  out.a_scales = bytes.data() + scales * row_bytes + i * (rows + columns) * s.scales();
  out.b_scales = out.a_scales + rows * s.scales();
  from += scales + i * (rows + columns);
  for (std::size_t r = 0; r < rows; ++r) out.a_undefined[r] |= from[r];
  for (std::size_t r = 0; r < columns; ++r) out.b_undefined[r] |= from[rows + r];
  return out;
}

// ---- for who watches products ----

// The parts of D in one block, by its own rows: layout B has each of 64 twice.
std::vector<MatrixPart> own_parts(const Product& product) {
  std::vector<MatrixPart> out = product.parts();
  if (product.halves) out.back().row = 0;
  return out;
}
u32 own_rows(const Product& product) {
  return product.halves ? product.shape.m / 2 : product.shape.m;
}

// D of one block's part, row after row.
std::vector<u64> sums_in(const Product& product, const TensorMemory& memory) {
  const u32 n = product.shape.n, mask = product.shape.d == SumType::f16 ? 0xffff : ~u32{0};
  std::vector<u64> out(std::size_t{own_rows(product)} * n);
  for (const MatrixPart& part : own_parts(product)) {
    for (u32 i = 0; i < part.rows; ++i) {
      const u32* from = memory.row(part.at.lane + i) + part.at.column;
      for (u32 j = 0; j < part.columns; ++j) {
        out[std::size_t{part.row + i} * n + part.column + j] = from[j] & mask;
      }
    }
  }
  return out;
}

// What is known of it before it is added: of the part that is in blocks[i].
std::optional<ProductSeen> watched(Model& machine, const Block& home, const AsyncOperation& o,
                                   const Multiplication& m, const std::vector<Block*>& blocks,
                                   std::size_t i) {
  ProductSeen out;
  out.issue = {ProductUnit::tcgen05,
               blocks[i]->number,
               machine.member(home, o.issuer)->number,
               o.thread / 32,
               o.pc,
               o.number,
               o.times[0],
               o.times[3],
               0};
  if (!machine.options.products->wants(out.issue)) return {};
  const MultiplicationWords w = MultiplicationWords::of(o);
  const Product& p = m.product;
  const MmaShape& s = p.shape;
  out.a_from.bits = w.a;
  out.a_from.blocks = {blocks[i]->number};
  out.a_from.rows = m.a_rows;
  out.a_from.row_bytes = s.a_row_bytes();
  out.a_from.stored = m.stored(s.a);
  if (m.a_in_tensor_memory) {
    out.a_from.cells = m.a_range().front();
  } else {
    out.a_from.matrix = m.a;
  }
  out.b_from.bits = w.b;
  for (const Block* at : blocks) out.b_from.blocks.push_back(at->number);
  out.b_from.rows = m.b_rows;
  out.b_from.row_bytes = s.row_bytes();
  out.b_from.stored = m.stored(s.b);
  out.b_from.matrix = m.b;
  out.instruction = w.instruction;
  out.kind = p.kind;
  out.pair = m.pair;
  out.ws = p.ws;
  out.sparse = s.sparse;
  out.accumulate = p.accumulate;
  out.exact = machine.options.exact;
  out.scale = p.scale;
  if (blocks[i] == &home) out.reads = o.reads;
  out.m = own_rows(p);
  out.n = s.n;
  out.k = s.k;
  std::copy_n(p.disabled, 2, out.disabled);
  for (const MatrixPart& part : own_parts(p)) {
    out.parts.push_back({part.row, part.rows, part.column, part.columns, nullptr, 0});
    out.cells.push_back({part.at.lane, part.rows, part.at.column, part.columns});
  }
  out.before = sums_in(p, blocks[i]->tensor.memory);
  return out;
}

void tell(Model& machine, ProductSeen product, const Product& p, const std::byte* a,
          const std::byte* b, const TensorMemory& memory) {
  const MmaShape& s = p.shape;
  product.sum = sum_of(p);
  product.sum.scales.a = product.sum.scales.b = nullptr;
  product.a.assign(a, a + std::size_t{s.m} * s.row_bytes());
  product.b.assign(b, b + std::size_t{s.n} * s.row_bytes());
  if (s.scale_block) {
    product.a_scales.assign(p.a_scales, p.a_scales + std::size_t{s.m} * s.scales());
    product.b_scales.assign(p.b_scales, p.b_scales + std::size_t{s.n} * s.scales());
  }
  product.after = sums_in(p, memory);
  machine.options.products->seen(std::move(product));
}

bool write(Model& machine, Block& block, AsyncOperation& o) {
  Multiplication m = decoded(o);
  if (!machine.options.calculates) return only_write(machine, block, m);
  const std::vector<Block*> blocks = blocks_of(machine, block, m);
  const auto operands = std::make_shared<const std::vector<std::byte>>(std::move(o.bytes));
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (i == 1) std::copy(std::begin(m.odd_disabled), std::end(m.odd_disabled), m.product.disabled);
    note_undefined_sum(machine, *blocks[i], o, m);
    const PartOfOperands part = part_of(m, *operands, o.undefined, i, blocks.size());
    m.product.a_scales = part.a_scales;
    m.product.b_scales = part.b_scales;
    m.product.stored = part.stored;
    std::optional<ProductSeen> seen;
    if (machine.options.products) seen = watched(machine, block, o, m, blocks, i);
    multiply(m.product, part.a, part.a_undefined.data(), part.b, part.b_undefined.data(),
             machine.options.exact ? Sums::exact : Sums::fast, blocks[i]->tensor.memory,
             machine.options.executor, operands);
    if (seen) tell(machine, std::move(*seen), m.product, part.a, part.b, blocks[i]->tensor.memory);
  }
  for (Block* at : blocks) shift_rows(m, at->tensor.memory);
  o.bytes = {};
  o.undefined = {};
  return true;
}

// Its operands are free: for those who wait for the commit behind it.
bool complete(Model& machine, Block&, AsyncOperation& o) {
  machine.flights.settle(o, o.by, o.by_epoch);
  return true;
}

}  // namespace

const Work multiplication_work{"tcgen05.mma", read, write, complete};
const Work multiplication_guard{"tcgen05.mma"};
const Work commit_work{"tcgen05.commit", nullptr, nullptr, nullptr};

bool is_multiplication(const AsyncOperation& o) {
  return o.work == &multiplication_work || o.work == &multiplication_guard;
}

void MultiplicationWords::pack(AsyncOperation& o) const {
  o.words[0] = d | u64{instruction} << 32;
  o.words[1] = a;
  o.words[2] = b;
  o.words[3] = static_cast<u64>(form.kind) | u64{form.ws} << 8 | u64{a_in_tensor_memory} << 9 |
               u64{accumulate} << 10 | u64{form.pair} << 11 | u64{form.sparse} << 12 |
               u64{shifts} << 13 | u64{scale} << 16 | u64{metadata} << 32;
  std::copy(std::begin(disabled), std::end(disabled), &o.words[4]);
  o.words[8] = zero_columns;
  o.words[9] = a_scales | u64{b_scales} << 32;
  o.words[10] = static_cast<u64>(form.vectors) | u64{form.ultra} << 8;
}

MultiplicationWords MultiplicationWords::of(const AsyncOperation& o) {
  MultiplicationWords out;
  out.d = static_cast<u32>(o.words[0]);
  out.instruction = static_cast<u32>(o.words[0] >> 32);
  out.a = o.words[1];
  out.b = o.words[2];
  out.form.kind = static_cast<MmaKind>(o.words[3] & 0xff);
  out.form.ws = o.words[3] >> 8 & 1;
  out.a_in_tensor_memory = o.words[3] >> 9 & 1;
  out.accumulate = o.words[3] >> 10 & 1;
  out.form.pair = o.words[3] >> 11 & 1;
  out.form.sparse = o.words[3] >> 12 & 1;
  out.shifts = o.words[3] >> 13 & 1;
  out.metadata = static_cast<u32>(o.words[3] >> 32);
  out.scale = static_cast<u8>(o.words[3] >> 16);
  std::copy_n(&o.words[4], 4, out.disabled);
  out.zero_columns = o.words[8];
  out.a_scales = static_cast<u32>(o.words[9]);
  out.b_scales = static_cast<u32>(o.words[9] >> 32);
  out.form.vectors = static_cast<ptx::ScaleVectors>(o.words[10] & 0xff);
  out.form.ultra = o.words[10] >> 8 & 1;
  return out;
}

namespace {

// A block's part of them: of its rows of A, and of all columns of B.
std::optional<DescriptorError> decode_scales(const MultiplicationWords& w, Multiplication& out) {
  const MmaShape& s = out.product.shape;
  if (!s.scale_block) return std::nullopt;
  out.a_scales.rows = out.a_rows;
  out.b_scales.rows = s.n;
  out.a_scales.count = out.b_scales.count = s.scales();
  out.b_scales.halves = out.product.halves;
  // Chunks of 128 rows have so many columns; factors behind the first four are in the next.
  const u32 whole = (s.n + 127) / 128 * 128;
  out.a_scales.chunk = 4;
  out.b_scales.chunk = whole / (out.product.halves ? 64 : 32);
  if (auto error = decode_scale_address(w.a_scales, s.a_scale_id, "A", out.a_scales)) return error;
  return decode_scale_address(w.b_scales, s.b_scale_id, "B", out.b_scales);
}

}  // namespace

std::optional<DescriptorError> decode(const MultiplicationWords& w, Multiplication& out) {
  Product& p = out.product;
  const bool pair = w.form.pair;
  p.kind = w.form.kind;
  p.ws = w.form.ws;
  p.accumulate = w.accumulate;
  p.scale = w.scale;
  p.d = TensorAddress::of(w.d);
  std::copy_n(w.disabled, 2, p.disabled);
  std::copy_n(w.disabled + 2, 2, out.odd_disabled);
  if (auto error = decode(w.instruction, w.form, p.shape)) return error;
  if (auto error = decode_zero_columns(w.zero_columns, p.shape.m, p.shape.n, w.instruction,
                                       out.zero_columns)) {
    return error;
  }
  out.pair = pair;
  out.a_rows = p.shape.m / (pair ? 2 : 1);
  out.b_rows = p.shape.n / (pair ? 2 : 1);
  if (w.form.sparse) {
    if (auto error =
            decode_metadata(w.metadata, p.shape, p.kind, p.ws, pair, out.a_rows, out.metadata)) {
      return error;
    }
  }
  out.shifts = w.shifts;
  if (w.shifts && p.shape.m != 128 && p.shape.m != 256) {
    return DescriptorError{fmt::format("rows of A are shifted (.ashift) with M {}", p.shape.m),
                           "M 128 or 256 (PTX ISA 9.7.16.10.9.1)", fmt::format("M {}", p.shape.m)};
  }
  p.halves = pair && p.shape.m == 128;
  if (pair) p.shape.m = 128;  // lanes of each block
  const bool wide = p.kind == MmaKind::tf32, long_rows = p.shape.k == 96;
  out.a_in_tensor_memory = w.a_in_tensor_memory;
  if (w.a_in_tensor_memory) {
    out.a_cells = TensorAddress::of(static_cast<u32>(w.a));
    if (p.shape.transpose_a) {
      return DescriptorError{
          "A is to be transposed, but it is in TMEM",
          "bit 15 of the instruction descriptor 0 with A in TMEM, whose rows are "
          "lanes (PTX ISA, table 53)",
          "1"};
    }
    if (p.ws && p.shape.m != 128) {
      return DescriptorError{
          fmt::format("where A of {} rows with .ws is in TMEM is not known", p.shape.m),
          "A in shared memory", "A in TMEM"};
    }
  } else if (auto error = decode(w.a, p.shape.transpose_a, wide, out.a, long_rows)) {
    error->sentence += ", of A";
    return error;
  }
  if (auto error = decode(w.b, p.shape.transpose_b, wide, out.b, long_rows)) {
    error->sentence += ", of B";
    return error;
  }
  if (auto error = decode_scales(w, out)) return error;
  const std::vector<CellRange> d = out.d_range();
  if (const CellRange* both = meeting(d, out.a_range())) {
    return DescriptorError{fmt::format("A is in {}, where D is: the sum is written while A is read",
                                       cells_text(*both)),
                           "A and D in cells of their own", "the same cells"};
  }
  if (const CellRange* both = meeting(d, out.read_range())) {
    return DescriptorError{
        fmt::format("{} in {}, where D is: the sum is written while they are read",
                    p.shape.sparse ? "metadata or scale factors are" : "scale factors are",
                    cells_text(*both)),
        "metadata, scale factors and D in cells of their own", "the same cells"};
  }
  return std::nullopt;
}

u32 Multiplication::b_lines() const {
  const u32 lines = b_rows + zero_columns.shift;
  if (b.k_major) return lines;
  const u32 elements = std::min(16u, 128 / static_cast<u32>(bits_of(product.shape.b)));
  return (lines + elements - 1) / elements * elements;  // whole pieces
}

std::vector<CellRange> Multiplication::d_range() const {
  return ranges(product, product.d, 0);
}

std::vector<CellRange> Multiplication::a_range() const {
  if (!a_in_tensor_memory) return {};
  return ranges(product, a_cells, product.shape.a_row_bytes() / 4);
}

std::vector<CellRange> Multiplication::read_range() const {
  std::vector<CellRange> out = a_range();
  if (product.shape.sparse) {
    for (const CellRange& cells : metadata.cells()) out.push_back(cells);
  }
  if (!product.shape.scale_block) return out;
  for (const ScaleFactors* factors : {&a_scales, &b_scales}) {
    for (const CellRange& cells : factors->cells()) out.push_back(cells);
  }
  return out;
}

std::vector<CellRange> Multiplication::written_range() const {
  std::vector<CellRange> out = d_range();
  if (shifts)
    out.push_back({0, TensorMemory::lanes, a_cells.column, product.shape.a_row_bytes() / 4});
  return out;
}

ElementType Multiplication::stored(ElementType type) const {
  return is_packed(product.kind) ? ElementType::u8 : type;
}

bool find_product(const Block& block, const std::vector<CellRange>& cells, bool reads,
                  ProductInFlight& out) {
  const auto meets = [&](const std::vector<CellRange>& others) {
    return std::any_of(others.begin(), others.end(), [&](const CellRange& other) {
      return std::any_of(cells.begin(), cells.end(),
                         [&](const CellRange& c) { return c.meets(other); });
    });
  };
  for (const AsyncOperation& o : block.flight.operations) {
    if (!is_multiplication(o) || o.stage == Stage::complete) continue;
    const Multiplication m = decoded(o);
    out = {o.thread, o.pc, o.issuer, true, &o};
    if (meets(m.written_range())) return true;
    out.writes = false;
    if (!reads && meets(m.read_range())) return true;
  }
  return false;
}

}  // namespace tilescope::sim
