#include "core/sim/time/uses.h"

#include <algorithm>
#include <optional>

#include "core/sim/async/shared_tiles.h"
#include "core/sim/machine/copies.h"
#include "core/sim/machine/model.h"
#include "core/sim/matrix/operand.h"
#include "core/sim/tcgen05/copy.h"
#include "core/sim/tcgen05/multiplication.h"
#include "core/sim/wgmma/form.h"
#include "core/sim/wgmma/product.h"

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using Operand = MemoryUse::Operand;

MemoryUse bytes_of(Range span, u32 rank, bool writes, Operand operand = Operand::none) {
  MemoryUse out;
  out.of = MemoryUse::Of::shared;
  out.writes = writes;
  out.operand = operand;
  out.rank = static_cast<std::uint8_t>(rank);
  out.column = span.begin;
  out.columns = span.end - span.begin;
  return out;
}

void add_span(const std::vector<Range>& ranges, u32 rank, bool writes,
              std::vector<MemoryUse>& out) {
  if (ranges.empty()) return;
  Range span = ranges.front();
  for (const Range& r : ranges) {
    span = {std::min(span.begin, r.begin), std::max(span.end, r.end)};
  }
  out.push_back(bytes_of(span, rank, writes));
}

// From the first to the last byte of an operand.
MemoryUse operand_of(const SharedMatrix& matrix, u32 rows, ElementType type, u32 row_bytes,
                     u32 rank, Operand operand) {
  const std::vector<u32> all = pieces(matrix, rows, type, row_bytes);
  if (all.empty()) return bytes_of({}, rank, false, operand);
  const auto [least, most] = std::minmax_element(all.begin(), all.end());
  return bytes_of({*least, *most + 16}, rank, false, operand);
}

void add_cells(const std::vector<CellRange>& cells, u32 rank, bool writes, Operand operand,
               std::vector<MemoryUse>& out) {
  for (const CellRange& range : cells) {
    out.push_back(use_of_cells(range, rank, writes));
    out.back().operand = operand;
  }
}

void add_product(const Block& block, const AsyncOperation& o, std::vector<MemoryUse>& out) {
  Multiplication m;
  if (decode(MultiplicationWords::of(o), m)) return;
  const MmaShape& s = m.product.shape;
  const std::vector<CellRange> a = m.a_range();
  std::vector<CellRange> scales = m.read_range();
  scales.erase(scales.begin(), scales.begin() + static_cast<std::ptrdiff_t>(a.size()));
  for (u32 part = 0; part < (m.pair ? 2u : 1u); ++part) {
    const u32 rank = block.rank ^ part;
    if (m.a_in_tensor_memory) {
      add_cells(a, rank, false, Operand::a, out);
    } else {
      out.push_back(operand_of(m.a, m.a_rows, m.stored(s.a), s.a_row_bytes(), rank, Operand::a));
    }
    out.push_back(operand_of(m.b, m.b_lines(), m.stored(s.b), s.row_bytes(), rank, Operand::b));
    add_cells(scales, rank, false, Operand::scales, out);
    add_cells(m.d_range(), rank, true, Operand::d, out);
  }
}

void add_group_product(const Model& model, const Block& block, const AsyncOperation& o,
                       std::vector<MemoryUse>& out) {
  const GroupForm form = group_form(model.program(), model.program().code[o.pc]);
  const GroupWords words = GroupWords::of(o);
  GroupOperands operands;
  if (decode(form, words, operands)) return;
  const auto as = [](ElementType type) { return type == ElementType::b1 ? ElementType::u8 : type; };
  MemoryUse registers;
  registers.of = MemoryUse::Of::registers;
  registers.rank = static_cast<std::uint8_t>(block.rank);
  registers.row = words.group * 4;
  registers.rows = 4;
  registers.columns = 1;
  if (form.a_in_registers) {
    registers.operand = Operand::a;
    out.push_back(registers);
  } else {
    out.push_back(
        operand_of(operands.a, group_rows, as(form.a), form.a_bytes(), block.rank, Operand::a));
  }
  out.push_back(operand_of(operands.b, form.n, as(form.b), form.b_bytes(), block.rank, Operand::b));
  registers.operand = Operand::d;
  registers.writes = true;
  out.push_back(registers);
}

// A buffer of one dimension that a copy takes for a matrix: its rows are those of the tensor map.
void take_shape(const Region& region, const Box& box, RecordedBuffer& buffer) {
  const u64 width = std::max<u64>(1, tilescope::bytes_of(buffer.dtype));
  const u64 row = box.map.rank > 1 ? box.map.strides[1] : 0;
  if (buffer.shape.size() != 1 || row == 0 || row % width || region.size() % row) return;
  if (box.map.address != region.base()) return;
  buffer.shape = {static_cast<std::int64_t>(region.size() / row),
                  static_cast<std::int64_t>(row / width)};
}

// The part of a buffer that all pieces of it span which it is told, seen as a matrix.
class GlobalPart {
 public:
  GlobalPart(std::size_t buffer, u64 base, const RecordedBuffer& shell)
      : buffer_(buffer),
        base_(base),
        columns_(static_cast<u64>(
            std::max<std::int64_t>(1, shell.shape.empty() ? 1 : shell.shape.back()))),
        width_(std::max<u64>(1, tilescope::bytes_of(shell.dtype))) {}

  std::size_t buffer() const { return buffer_; }
  bool add(u64 begin, u64 end) {
    if (begin < base_) return false;
    const u64 first = (begin - base_) / width_, last = (end - 1 - base_) / width_;
    row_begin_ = std::min(row_begin_, first / columns_);
    row_end_ = std::max(row_end_, last / columns_ + 1);
    const bool one_row = first / columns_ == last / columns_;
    column_begin_ = std::min(column_begin_, one_row ? first % columns_ : 0);
    column_end_ = std::max(column_end_, one_row ? last % columns_ + 1 : columns_);
    return true;
  }
  void tell(bool writes, std::vector<MemoryUse>& out) const {
    if (row_begin_ >= row_end_) return;
    MemoryUse use;
    use.of = MemoryUse::Of::global;
    use.writes = writes;
    use.buffer = static_cast<u32>(buffer_);
    use.row = static_cast<u32>(row_begin_);
    use.rows = static_cast<u32>(row_end_ - row_begin_);
    use.column = static_cast<u32>(column_begin_);
    use.columns = static_cast<u32>(column_end_ - column_begin_);
    out.push_back(use);
  }

 private:
  std::size_t buffer_;
  u64 base_, columns_, width_;
  u64 row_begin_ = ~u64{0}, row_end_ = 0, column_begin_ = ~u64{0}, column_end_ = 0;
};

// The buffer that an address is in.
std::optional<std::size_t> buffer_at(Model& model, u64 address) {
  for (std::size_t i = 0; i < model.shells.size(); ++i) {
    const Region& region = model.buffer(i);
    if (address >= region.base() && address - region.base() < region.size()) return i;
  }
  return {};
}

void add_global(Model& model, const AsyncOperation& o, std::vector<RecordedBuffer>& buffers,
                std::vector<MemoryUse>& out) {
  if (o.work->global == GlobalUse::none || !o.work->pieces) return;
  std::optional<GlobalPart> part;
  o.work->pieces(o, [&](const GlobalRange& piece) {
    if (piece.end <= piece.begin) return true;
    if (!part) {
      const auto buffer = buffer_at(model, piece.begin);
      if (!buffer) return false;
      const Region& region = model.buffer(*buffer);
      if (const auto tile = tile_of(o)) take_shape(region, tile->box, buffers[*buffer]);
      part.emplace(*buffer, region.base(), buffers[*buffer]);
    }
    return part->add(piece.begin, piece.end);
  });
  if (part) part->tell(o.work->global != GlobalUse::reads, out);
}

}  // namespace

MemoryUse use_of_cells(const CellRange& cells, u32 rank, bool writes) {
  MemoryUse out;
  out.of = MemoryUse::Of::tensor;
  out.writes = writes;
  out.rank = static_cast<std::uint8_t>(rank);
  out.row = cells.lane;
  out.rows = cells.lanes;
  out.column = cells.column;
  out.columns = cells.columns;
  return out;
}

std::vector<MemoryUse> uses_by(Model& model, const Block& block, const AsyncOperation& o,
                               std::vector<RecordedBuffer>& buffers) {
  std::vector<MemoryUse> out;
  if (is_group_product(o)) {
    add_group_product(model, block, o, out);
  } else if (is_multiplication(o)) {
    add_product(block, o, out);
  } else {
    add_global(model, o, buffers, out);
    add_span(o.reads, block.rank, false, out);
    add_span(o.writes, block.rank, true, out);
    TensorCells cells;
    if (tensor_cells(o, cells)) {
      add_cells(cells.read, block.rank, false, Operand::none, out);
      add_cells(cells.written, block.rank, true, Operand::none, out);
    }
  }
  for (MemoryUse& use : out) {
    if (use.of != MemoryUse::Of::global) continue;
    use.asked = o.asked;
    use.missed = o.missed;
  }
  return out;
}

std::vector<MemoryUse> uses_by(Model& model, const Block& block, const Copy& copy,
                               const std::vector<RecordedBuffer>& buffers) {
  std::vector<GlobalPart> parts;
  std::vector<Range> written;
  for (u32 rest = copy.mask; rest; rest &= rest - 1) {
    const auto lane = static_cast<std::size_t>(__builtin_ctz(rest));
    const auto target = static_cast<u32>(copy.target[lane]);
    written.push_back({target, target + copy.bytes});
    const u64 from = copy.source[lane];
    if (copy.read[lane] == 0) continue;  // zeros
    const auto buffer = buffer_at(model, from);
    if (!buffer) continue;
    auto part = std::find_if(parts.begin(), parts.end(),
                             [&](const GlobalPart& p) { return p.buffer() == *buffer; });
    if (part == parts.end()) {
      const u64 base = model.buffer(*buffer).base();
      part = parts.insert(parts.end(), GlobalPart(*buffer, base, buffers[*buffer]));
    }
    part->add(from, from + copy.read[lane]);
  }
  std::vector<MemoryUse> out;
  for (const GlobalPart& part : parts) part.tell(false, out);
  std::sort(written.begin(), written.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  for (std::size_t i = 0; i < written.size();) {
    Range span = written[i];
    while (++i < written.size() && written[i].begin <= span.end) {
      span.end = std::max(span.end, written[i].end);
    }
    out.push_back(bytes_of(span, block.rank, true));
  }
  return out;
}

}  // namespace tilescope::sim
