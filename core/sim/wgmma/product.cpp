#include "core/sim/wgmma/product.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "core/sim/checks/around.h"
#include "core/sim/checks/undefined.h"
#include "core/sim/machine/model.h"
#include "core/sim/matrix/operand.h"
#include "core/sim/matrix/product_watch.h"
#include "core/sim/wgmma/sparse.h"

namespace tilescope::sim {
namespace {

using u8 = std::uint8_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

// One of the four warps, with its registers: D's, then A's where it has them.
struct Member {
  Core core;
  const Reference* d = nullptr;
  const Reference* a = nullptr;
};

using Members = std::array<Member, 4>;

Member member(Model& machine, Block& block, const GroupWords& w, u32 i, const GroupForm& form) {
  Member out{machine.core_of(block, block.warps[w.group * 4 + i])};
  const Code& code = out.core.code[w.pc[i]];
  out.d = out.core.elements + code.target;
  out.a = out.d + form.d_registers();
  return out;
}

const u32* lanes_of(const Core& x, Reference r) {
  return reinterpret_cast<const u32*>(x.bank[r >> 31] + (r & ~constant_bit));
}

GroupForm form_of(const Model& machine, const GroupWords& w) {
  return group_form(machine.program(), machine.program().code[w.pc[0]]);
}

// Calls say(row, column, lane, register, byte in it) for each element of a fragment.
template <class Say>
void each_element(const Fragment& f, int columns, Say say) {
  const std::uint16_t* place = f.place.data();
  for (int r = 0; r < f.registers; ++r) {
    for (int shift = 0; shift < 32; shift += f.bits) {
      for (int l = 0; l < lanes; ++l, ++place)
        say(*place / columns, *place % columns, l, r, shift / 8);
    }
  }
}

// A's rows of one warp, out of its registers.
void take_rows(Member& warp, const Fragment& f, u32 row_bytes, u32 first_row, OperandBytes& out) {
  const int bytes = f.bits / 8, columns = static_cast<int>(row_bytes) / bytes;
  const bool hidden = !warp.core.block->undefined.empty();
  each_element(f, columns, [&](int row, int column, int l, int r, int at) {
    const u32 word = lanes_of(warp.core, warp.a[r])[l] >> (8 * at);
    const u32 to =
        (first_row + static_cast<u32>(row)) * row_bytes + static_cast<u32>(column * bytes);
    std::memcpy(&out.bytes[to], &word, static_cast<std::size_t>(bytes));
    if (!hidden || !has_undefined(warp.core, warp.a[r], 4)) return;
    const u8* marks = shadow(warp.core, warp.a[r]) + l * 4 + at;
    for (int k = 0; k < bytes; ++k) out.undefined[first_row + static_cast<u32>(row)] |= marks[k];
  });
}

ElementType bytes_if_bits(ElementType type) {
  return type == ElementType::b1 ? ElementType::u8 : type;
}

OperandBytes read_a(Model& machine, Block& block, const GroupForm& form, const GroupWords& w,
                    const SharedMatrix& matrix) {
  if (!form.a_in_registers) {
    return read_operand(matrix, group_rows, bytes_if_bits(form.a), block.shared.data(),
                        block.shared.undefined_bits(), form.a_bytes());
  }
  block.registers.settle(w.group);
  OperandBytes out;
  out.bytes.resize(std::size_t{group_rows} * form.a_bytes());
  out.undefined.resize(group_rows);
  for (u32 i = 0; i < 4; ++i) {
    Member warp = member(machine, block, w, i, form);
    take_rows(warp, group_a_fragment(form), form.a_bytes(), i * warp_rows, out);
  }
  return out;
}

// The metadata operand of each of the four warps, of .sp, as they issued it.
Metadata metadata_of(const AsyncOperation& o) {
  Metadata out{};
  for (u32 i = 0; i < 4; ++i) {
    out[i] = reinterpret_cast<const u32*>(o.bytes.data()) + i * lanes;
  }
  return out;
}

// The first undefined byte of an operand in shared memory: ": byte 16 of shared memory, which the
// st at ... wrote without a value". Empty: there is none.
std::string undefined_byte(const Model& machine, const Block& block, const SharedMatrix& matrix,
                           u32 rows, ElementType type, u32 row_bytes) {
  for (const u32 piece : pieces(matrix, rows, type, row_bytes)) {
    for (u32 at = piece; at < piece + 16; ++at) {
      if (!block.shared.is_undefined(at)) continue;
      return fmt::format(": byte {} of shared memory{}", at,
                         undefined_text(machine, block.shared, at));
    }
  }
  return "";
}

// For the report of an output that depends on it: the first product that read what nobody had
// written, or what a copy was still to write.
void note_undefined(const Model& machine, Block& block, const AsyncOperation& o,
                    const GroupWords& w) {
  std::string& story = block.tensor.undefined_read;
  const auto row =
      std::find_if(o.undefined.begin(), o.undefined.end(), [](u8 v) { return v != 0; });
  if (!story.empty() || row == o.undefined.end()) return;
  const auto at = static_cast<u32>(row - o.undefined.begin());
  const bool of_a = at < group_rows;
  const GroupForm form = form_of(machine, w);
  GroupOperands operands;
  decode(form, w, operands);  // it was right when it was issued
  const std::string byte = w.is_unwritten(at) || (of_a && form.a_in_registers) ? ""
                           : of_a ? undefined_byte(machine, block, operands.a, group_rows,
                                                   bytes_if_bits(form.a), form.a_bytes())
                                  : undefined_byte(machine, block, operands.b, form.n,
                                                   bytes_if_bits(form.b), form.b_bytes());
  story = fmt::format(
      "; the wgmma.mma_async at {} read row {} of {}, which {}{}",
      place_text(machine.site(block, o.thread, o.pc)), of_a ? at : at - group_rows,
      of_a ? "A" : "B",
      w.is_unwritten(at) ? "a copy in flight was still to write" : "nobody had written", byte);
}

// The operands' bytes: A's rows, then B's. Of .sp A as it is stored and for each of its rows a B of
// its own, where zeros between the stored elements would not do.
bool read(Model& machine, Block& block, AsyncOperation& o) {
  if (!machine.options.calculates) return true;
  const GroupWords w = GroupWords::of(o);
  const GroupForm form = form_of(machine, w);
  GroupOperands operands;
  decode(form, w, operands);  // it was right when it was issued
  OperandBytes a = read_a(machine, block, form, w, operands.a);
  OperandBytes b = read_operand(operands.b, form.n, bytes_if_bits(form.b), block.shared.data(),
                                block.shared.undefined_bits(), form.b_bytes());
  for (u32 row = 0; row < group_rows; ++row) {
    if (w.is_unwritten(row)) a.undefined[row] = 0xff;
  }
  for (u32 row = 0; row < form.n; ++row) {
    if (w.is_unwritten(group_rows + row)) b.undefined[row] = 0xff;
  }
  if (form.sparse) {
    const StoredPlaces places = stored_places(form, metadata_of(o));
    if (!has_specials(form.b, b.bytes.data(), b.bytes.size())) {
      a = spread(places, width_of(form.a), a);
    } else {
      std::vector<std::byte> all;
      for (u32 row = 0; row < group_rows; ++row) {
        const std::vector<std::byte> mine =
            chosen(places.row(row), places.stored, width_of(form.b), form.n, b.bytes.data());
        all.insert(all.end(), mine.begin(), mine.end());
      }
      b.bytes = std::move(all);
    }
  }
  o.bytes = std::move(a.bytes);
  o.bytes.insert(o.bytes.end(), b.bytes.begin(), b.bytes.end());
  o.undefined = std::move(a.undefined);
  o.undefined.insert(o.undefined.end(), b.undefined.begin(), b.undefined.end());
  note_undefined(machine, block, o, w);
  return true;
}

// How the chip adds, of floats.
StepRule rule_of(const GroupForm& form) {
  if (form.d == SumType::s32) return {};
  StepRule rule = step_rule(TensorChip::hopper, format_of(form.a), static_cast<int>(form.k));
  if (form.sparse) rule.block = static_cast<int>(form.k);
  rule.half_accumulator = form.d == SumType::f16;
  return rule;
}

SumOfProducts sum_of(const GroupForm& form) {
  return {group_rows, form.n,        form.k,        form.a,        form.b,
          form.d,     form.saturate, form.negate_a, form.negate_b, rule_of(form)};
}

// Bytes of all of B, and of A as it is stored.
std::size_t whole_b(const GroupForm& form) {
  return std::size_t{form.n} * form.b_bytes();
}
std::size_t stored_a(const GroupForm& form) {
  return std::size_t{group_rows} * form.a_bytes();
}

// Do operands that read() left hold a B for each row of A?
bool is_row_by_row(const GroupForm& form, const std::vector<std::byte>& operands) {
  return form.sparse && operands.size() != 2 * stored_a(form) + whole_b(form);
}

// D += A * B, of operands as read() leaves them.
void add_up(const GroupForm& form, const std::vector<std::byte>& operands, bool exact, u32* sums) {
  SumOfProducts sum = sum_of(form);
  const std::byte* a = operands.data();
  const std::size_t whole = whole_b(form);
  if (!is_row_by_row(form, operands)) {
    return add_products(sum, a, a + operands.size() - whole, exact,
                        {{0, group_rows, 0, form.n, sums, form.n}});
  }
  sum.m = 1;
  sum.k /= 2;
  sum.rule.block /= 2;
  for (u32 row = 0; row < group_rows; ++row) {
    add_products(sum, a + row * form.a_bytes(), a + stored_a(form) + row * (whole / 2), true,
                 {{0, 1, 0, form.n, sums + row * form.n, form.n}});
  }
}

// D of one warp, row after row: out of its registers, and into them.
void gather(const Member& warp, const Fragment& f, u32* out) {
  const u32 mask = f.bits == 32 ? ~u32{0} : 0xffff;
  const std::uint16_t* place = f.place.data();
  for (int r = 0; r < f.registers; ++r) {
    const u32* from = lanes_of(warp.core, warp.d[r]);
    for (int shift = 0; shift < 32; shift += f.bits) {
      for (int l = 0; l < lanes; ++l) out[*place++] = from[l] >> shift & mask;
    }
  }
}

void scatter(Member& warp, const Fragment& f, const u32* from) {
  const std::uint16_t* place = f.place.data();
  for (int r = 0; r < f.registers; ++r) {
    u32 packed[lanes] = {};
    for (int shift = 0; shift < 32; shift += f.bits) {
      for (int l = 0; l < lanes; ++l) packed[l] |= from[*place++] << shift;
    }
    std::memcpy(warp.core.bank[0] + warp.d[r], packed, sizeof packed);
  }
}

// Which elements of D are undefined now: those of an undefined row of A or column of B, and those
// that were and are added to.
void mark(Member& warp, const GroupForm& form, bool accumulate, const u8* rows, const u8* columns) {
  const Fragment& f = group_d_fragment(form);
  const bool any = std::any_of(rows, rows + warp_rows, [](u8 v) { return v != 0; }) ||
                   std::any_of(columns, columns + form.n, [](u8 v) { return v != 0; });
  Block& block = *warp.core.block;
  if (!any && block.undefined.empty()) return;
  const int bytes = f.bits / 8;
  std::vector<u8*> marks(static_cast<std::size_t>(f.registers));
  for (int r = 0; r < f.registers; ++r) {
    if (any || has_undefined(warp.core, warp.d[r], 4))
      marks[static_cast<std::size_t>(r)] = shadow(warp.core, warp.d[r]);
  }
  each_element(f, static_cast<int>(form.n), [&](int row, int column, int l, int r, int at) {
    u8* mine = marks[static_cast<std::size_t>(r)];
    if (!mine) return;
    mine += l * 4 + at;
    bool bad = rows[row] || columns[column];
    for (int k = 0; accumulate && k < bytes; ++k) bad = bad || mine[k];
    std::memset(mine, bad ? 0xff : 0, static_cast<std::size_t>(bytes));
  });
  for (int r = 0; r < f.registers; ++r) {
    if (marks[static_cast<std::size_t>(r)]) recount(warp.core, warp.d[r], 4);
  }
}

// The sums that are not added to in their registers: gathered, added to, and put back.
void add_as_matrix(Members& warps, const GroupForm& form, bool accumulate,
                   const std::vector<std::byte>& operands, bool exact) {
  const Fragment& f = group_d_fragment(form);
  std::vector<u32> sums(std::size_t{group_rows} * form.n);
  for (u32 i = 0; i < 4 && accumulate; ++i) {
    gather(warps[i], f, &sums[std::size_t{i} * warp_rows * form.n]);
  }
  add_up(form, operands, exact, sums.data());
  for (u32 i = 0; i < 4; ++i) scatter(warps[i], f, &sums[std::size_t{i} * warp_rows * form.n]);
}

// Where nobody looks at them for a while, and there is an executor, it is for that to add them.
void add_in_place(Model& machine, Block& block, u32 group, Members& warps, const GroupForm& form,
                  bool accumulate, std::vector<std::byte> operands) {
  std::vector<u32*> registers;
  registers.reserve(std::size_t{4} * form.d_registers());
  for (Member& warp : warps) {
    for (u32 r = 0; r < form.d_registers(); ++r) {
      registers.push_back(reinterpret_cast<u32*>(warp.core.bank[0] + warp.d[r]));
    }
  }
  const SumOfProducts sum = sum_of(form);
  const std::size_t b = operands.size() - whole_b(form);
  const bool exact = machine.options.exact;
  const auto add = [sum, b, accumulate, exact](const std::vector<std::byte>& from,
                                               const std::vector<u32*>& to) {
    for (u32* r : to) {
      if (!accumulate) std::memset(r, 0, lanes * sizeof(u32));
    }
    add_products(sum, from.data(), from.data() + b, exact, to.data());
  };
  if (!machine.options.executor) return add(operands, registers);
  block.registers.calculate(
      machine.options.executor, group,
      [add, from = std::make_shared<const std::vector<std::byte>>(std::move(operands)),
       to = std::move(registers)] { add(*from, to); });
}

// ---- for who watches products ----

// D, row after row.
std::vector<u64> sums_in(const Block& block, u32 group, const Members& warps,
                         const GroupForm& form) {
  block.registers.settle(group);
  std::vector<u32> sums(std::size_t{group_rows} * form.n);
  for (u32 i = 0; i < 4; ++i) {
    gather(warps[i], group_d_fragment(form), &sums[std::size_t{i} * warp_rows * form.n]);
  }
  return {sums.begin(), sums.end()};
}

// What is known of it before it is added.
std::optional<ProductSeen> watched(const Model& machine, const Block& block,
                                   const AsyncOperation& o, const GroupWords& w,
                                   const GroupForm& form, const Members& warps) {
  ProductSeen out;
  out.issue = {ProductUnit::wgmma, block.number, block.number, o.thread / 32, o.pc,
               o.number,           o.times[0],   o.times[3],   w.group};
  if (!machine.options.products->wants(out.issue)) return {};
  GroupOperands operands;
  decode(form, w, operands);
  const auto as = [](ElementType type) { return bytes_if_bits(type); };
  out.a_from = {w.a, {block.number}, group_rows, form.a_bytes(), {}, {}, as(form.a)};
  if (!form.a_in_registers) out.a_from.matrix = operands.a;
  out.b_from = {w.b, {block.number}, form.n, form.b_bytes(), operands.b, {}, as(form.b)};
  out.sparse = form.sparse;
  out.accumulate = w.accumulate;
  out.exact = machine.options.exact;
  out.reads = o.reads;
  out.m = group_rows;
  out.n = form.n;
  out.k = form.k;
  out.sum = sum_of(form);
  out.parts = {{0, group_rows, 0, form.n, nullptr, 0}};
  out.row_by_row = is_row_by_row(form, o.bytes);
  const std::size_t b = o.bytes.size() - whole_b(form);
  const auto middle = o.bytes.begin() + static_cast<std::ptrdiff_t>(b);
  out.a.assign(o.bytes.begin(), middle);
  out.b.assign(middle, o.bytes.end());
  out.before = sums_in(block, w.group, warps, form);
  return out;
}

bool write(Model& machine, Block& block, AsyncOperation& o) {
  const GroupWords w = GroupWords::of(o);
  const GroupForm form = form_of(machine, w);
  Members warps;
  for (u32 i = 0; i < 4; ++i) warps[i] = member(machine, block, w, i, form);
  std::optional<ProductSeen> seen;
  if (machine.options.products && machine.options.calculates) {
    seen = watched(machine, block, o, w, form, warps);
  }
  if (!machine.options.calculates) {
    for (Member& warp : warps) {
      for (u32 r = 0; r < form.d_registers(); ++r) define(warp.core, warp.d[r], 4, ~Mask{0});
    }
    return true;
  }
  for (u32 i = 0; i < 4; ++i) {
    mark(warps[i], form, w.accumulate, o.undefined.data() + i * warp_rows,
         o.undefined.data() + group_rows);
  }
  if (is_row_by_row(form, o.bytes) || !add_in_registers(sum_of(form), machine.options.exact)) {
    block.registers.settle(w.group);
    add_as_matrix(warps, form, w.accumulate, o.bytes, machine.options.exact);
  } else {
    add_in_place(machine, block, w.group, warps, form, w.accumulate, std::move(o.bytes));
  }
  if (seen) {
    seen->after = sums_in(block, w.group, warps, form);
    machine.options.products->seen(std::move(*seen));
  }
  o.bytes = {};
  o.undefined = {};
  return true;
}

// Its operands are free, and who waits for it goes on.
bool complete(Model& machine, Block& block, AsyncOperation& o) {
  const GroupWords w = GroupWords::of(o);
  GroupProduct& product =
      block.warpgroups[w.group].products[w.product - block.warpgroups[w.group].first];
  machine.flights.settle(o, o.by, o.by_epoch);
  product.complete = true;
  for (u32 i = 0; i < 4; ++i) {
    for (Split& s : block.warps[w.group * 4 + i].splits) {
      if (s.wait == Wait::products) s.wait = Wait::none;
    }
  }
  return true;
}

}  // namespace

const Work group_work{"wgmma.mma_async", read, write, complete};

void GroupWords::pack(AsyncOperation& o) const {
  o.words[0] = group | u64{accumulate} << 32;
  o.words[1] = product;
  o.words[2] = a;
  o.words[3] = b;
  o.words[4] = pc[0] | u64{pc[1]} << 32;
  o.words[5] = pc[2] | u64{pc[3]} << 32;
  std::copy(unwritten.begin(), unwritten.end(), &o.words[6]);
}

GroupWords GroupWords::of(const AsyncOperation& o) {
  GroupWords out;
  out.group = static_cast<u32>(o.words[0]);
  out.accumulate = o.words[0] >> 32 & 1;
  out.product = o.words[1];
  out.a = o.words[2];
  out.b = o.words[3];
  for (u32 i = 0; i < 4; ++i) out.pc[i] = static_cast<u32>(o.words[4 + i / 2] >> (i % 2 * 32));
  std::copy_n(&o.words[6], out.unwritten.size(), out.unwritten.begin());
  return out;
}

std::optional<DescriptorError> decode(const GroupForm& form, const GroupWords& w,
                                      GroupOperands& out) {
  if (!form.a_in_registers) {
    if (auto error = decode_wgmma(w.a, form.transpose_a, out.a)) {
      error->sentence += ", of A";
      return error;
    }
  }
  if (auto error = decode_wgmma(w.b, form.transpose_b, out.b)) {
    error->sentence += ", of B";
    return error;
  }
  return std::nullopt;
}

bool is_awaited(const Block& block, const AsyncOperation& o) {
  if (!is_group_product(o)) return false;
  const GroupWords w = GroupWords::of(o);
  for (u32 i = 0; i < 4; ++i) {
    for (const Split& s : block.warps[w.group * 4 + i].splits) {
      if (s.wait == Wait::products && w.product < s.products) return true;
    }
  }
  return false;
}

}  // namespace tilescope::sim
