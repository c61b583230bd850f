// wgmma.mma_async, fence, commit_group and wait_group (PTX ISA 9.7.15.5.2, 9.7.15.7).
#include "core/sim/wgmma/handlers.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/sim/checks/evidence.h"
#include "core/sim/lanes/lanes.h"
#include "core/sim/machine/model.h"
#include "core/sim/machine/together.h"
#include "core/sim/matrix/fragments.h"
#include "core/sim/matrix/operand.h"
#include "core/sim/wgmma/product.h"
#include "core/sim/wgmma/sparse.h"

namespace tilescope::sim {
namespace {

using base::lane_array;
using ptx::GroupStep;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr Mask four_warps = 0xf;

GroupWarp& mine(Core& x) {
  return warpgroup_of(x).warps[x.warp->index % 4];
}

const Bound& bound_of(const Core& x) {
  return x.machine->image->bound[x.block->rank];
}

// "%f12"
std::string name_of(const Core& x, const GroupUse& use) {
  return x.machine->program().name_of_register(use.reg);
}

std::string site_text(const Core& x, u32 pc) {
  return text(x.machine->site(*x.block, x.warp->index * 32, pc));
}

// ---- whether registers may be used ----

std::uint32_t shape_key(const GroupForm& form) {
  return form.n | form.k << 16;
}

bool tell_fence(Core& x, u32 other, std::string sentence, const char* expected) {
  x.reports->hazard(x, 0, "wgmma_fence", other, [&] {
    Report r;
    r.sentence = std::move(sentence);
    r.expected = expected;
    r.found = "none";
    return r;
  });
  return false;
}

// What a wgmma.fence has to stand before (9.7.15.7.1): the first product of a warp; one that uses a
// register which the warp touched since the last; one that adds to what a product of another shape
// wrote, or writes what an earlier one reads as A.
bool check_fence(Core& x, const GroupWarp& warp, const GroupForm& form, bool accumulate,
                 const std::vector<GroupUse>& uses) {
  constexpr const char* between = "wgmma.fence between them (PTX ISA 9.7.15.7.1)";
  if (!warp.fenced) {
    return tell_fence(x, x.pc,
                      "this wgmma.mma_async is the first of its warp, and no wgmma.fence comes "
                      "before it",
                      "wgmma.fence before the first wgmma.mma_async (PTX ISA 9.7.15.7.1)");
  }
  for (const GroupUse& use : uses) {
    const GroupWarp::Use& state = warp.uses[use.number];
    if (state.touched && (!use.is_d || accumulate)) {
      return tell_fence(
          x, state.touched_at,
          fmt::format("this wgmma.mma_async {} {}, which the instruction at {} {} since the warp's "
                      "last wgmma.fence",
                      use.is_d ? "adds to" : "reads", name_of(x, use),
                      site_text(x, state.touched_at), state.written ? "wrote" : "read"),
          between);
    }
    if (use.is_d && state.shape && state.shape != shape_key(form)) {
      return tell_fence(
          x, x.pc,
          fmt::format(
              "this wgmma.mma_async of m64n{}k{} uses {}, which one of m64n{}k{} wrote: only "
              "products of the same shape are ordered without a wgmma.fence",
              form.n, form.k, name_of(x, use), state.shape & 0xffff, state.shape >> 16),
          between);
    }
    if (use.is_d && state.as_a > warp.waited && state.as_a > state.as_d) {
      return tell_fence(
          x, x.pc,
          fmt::format("this wgmma.mma_async writes {}, which an earlier one reads as A, "
                      "and the warp has not waited for that",
                      name_of(x, use)),
          "a wgmma.wait_group that covers the earlier one (PTX ISA 9.7.15.7.3)");
    }
  }
  return true;
}

void use_registers(GroupWarp& warp, const GroupForm& form, const std::vector<GroupUse>& uses) {
  for (const GroupUse& use : uses) {
    GroupWarp::Use& state = warp.uses[use.number];
    (use.is_d ? state.as_d : state.as_a) = warp.issued;
    if (use.is_d) state.shape = shape_key(form);
  }
}

// The last product of this warp that uses one of the registers and that it has not waited for; 0:
// none. `which`: the register.
u64 in_use(const GroupWarp& warp, const std::vector<GroupUse>& uses, const GroupUse*& which) {
  u64 last = 0;
  for (const GroupUse& use : uses) {
    const u64 product = warp.uses[use.number].product();
    if (product <= warp.waited || product <= last) continue;
    last = product;
    which = &use;
  }
  return last;
}

void tell_in_use(Core& x, int lane, const char* does, const GroupUse& use, u64 product) {
  const Warpgroup& group = warpgroup_of(x);
  const u32 pc = group.products[product - 1 - group.first].pc[x.warp->index % 4];
  x.reports->hazard(x, lane, "wgmma_in_use", pc, [&] {
    Report r;
    r.sentence = fmt::format(
        "this {} {} {}, which the wgmma.mma_async at {} uses, and the warp has not waited for it",
        ptx::opcode(x.machine->program().code[x.pc].op).name, does, name_of(x, use),
        site_text(x, pc));
    r.expected =
        "wgmma.commit_group and a wgmma.wait_group that covers it before (PTX ISA 9.7.15.7.3)";
    r.found = "a product in flight";
    return r;
  });
}

// A in registers that an earlier product is still to write.
void check_operand(Core& x, const GroupWarp& warp, const std::vector<GroupUse>& uses) {
  for (const GroupUse& use : uses) {
    const u64 product = warp.uses[use.number].as_d;
    if (!use.is_d && product > warp.waited) return tell_in_use(x, 0, "reads", use, product);
  }
}

// A copy between registers. Compilers put them where they like, also between a wgmma.fence and the
// product (nvcc for DeepGEMM, CuTeDSL), and ptxas gives both one register or moves the copy: so it
// counts as when its source was touched.
bool is_copy(const Core& x) {
  const ptx::Instruction& i = x.machine->program().code[x.pc];
  const ptx::Operand* o = x.machine->program().operands_of(i);
  return i.op == ptx::Op::mov && !i.guarded && o[0].kind == ptx::Operand::Kind::reg &&
         o[1].kind == ptx::Operand::Kind::reg;
}

void rename(GroupWarp& warp, const std::vector<GroupUse>& uses) {
  GroupWarp::Use source;
  for (const GroupUse& use : uses) {
    if (!use.written) source = warp.uses[use.number];
  }
  for (const GroupUse& use : uses) {
    GroupWarp::Use& state = warp.uses[use.number];
    if (!use.written) continue;
    state.touched = source.touched;
    state.written = source.written;
    state.touched_at = source.touched_at;
    state.shape = source.shape;
    state.changed_after = source.changed_after;
  }
}

// ---- mma_async ----

bool fault(Core& x, std::string kind, std::string sentence, std::string expected,
           std::string found) {
  x.reports->fault(x, 0, std::move(kind), std::move(sentence), std::move(expected),
                   std::move(found));
  return false;
}

// Four warps, none of which has exited before it came here.
bool is_whole(Core& x, u64 product, const Warpgroup& group) {
  const Block& block = *x.block;
  const u32 first = x.warp->index / 4 * 4;
  const u32 there = std::min<u32>(4, static_cast<u32>(block.warps.size()) - first);
  if (there < 4) {
    return fault(x, "warpgroup",
                 fmt::format("this wgmma.mma_async is executed in a warpgroup of {} warp{}", there,
                             there == 1 ? "" : "s"),
                 "CTAs of a multiple of 128 threads: four warps issue it (PTX ISA 9.7.15.1)",
                 fmt::format("{} threads", block.warps.size() * 32));
  }
  for (u32 i = 0; i < 4; ++i) {
    if (block.warps[first + i].live || group.warps[i].issued > product) continue;
    return fault(
        x, "warpgroup",
        fmt::format("this wgmma.mma_async is for all four warps of the warpgroup, and warp "
                    "{} has exited without it",
                    first + i),
        "the same wgmma instructions in all four warps (PTX ISA 9.7.15.5.2)",
        "a warp that has exited");
  }
  return true;
}

// ".aligned": all four execute the same instruction, and "the contents of a matrix descriptor must
// be same across all the warps in the warpgroup" (9.7.15.5.2). False after a fault: they have other
// registers.
bool compare(Core& x, const GroupProduct& product, const GroupWords& words, const GroupForm& form) {
  const ptx::Program& program = x.machine->program();
  const u32 other = static_cast<u32>(__builtin_ctz(product.arrived));
  const u32 other_warp = x.warp->index / 4 * 4 + other;
  const std::string they =
      fmt::format("warp {} of the warpgroup, at {}", other_warp,
                  text(x.machine->site(*x.block, other_warp * 32, product.pc[other])));
  const auto tell = [&](std::string sentence, std::string expected, std::string found) {
    x.reports->hazard(x, 0, "warpgroup_differs", product.pc[other], [&] {
      Report r;
      r.sentence = std::move(sentence);
      r.expected = std::move(expected);
      r.found = std::move(found);
      return r;
    });
    return true;
  };
  const GroupForm theirs = group_form(program, program.code[product.pc[other]]);
  if (form != theirs) {
    constexpr const char* same = "the same wgmma.mma_async in all four warps (PTX ISA 9.7.15.5.2)";
    const std::string here(program.code[x.pc].text.substr(0, 60));
    std::string sentence = fmt::format("this is not what {} executed: {}", they,
                                       opcode_text(program.code[product.pc[other]].text));
    const bool fits = form.d_registers() == theirs.d_registers() && form.d == theirs.d &&
                      form.a_in_registers == theirs.a_in_registers && form.sparse == theirs.sparse;
    return fits ? tell(std::move(sentence), same, here)
                : fault(x, "warpgroup_differs", std::move(sentence), same, here);
  }
  const auto differ = [&](const char* which, u64 a, u64 b) {
    return tell(fmt::format("the descriptor of {} is 0x{:016x} here and 0x{:016x} in {}", which, a,
                            b, they),
                "the same descriptors in all four warps (PTX ISA 9.7.15.5.2)",
                fmt::format("0x{:016x}", a));
  };
  if (words.a != product.a) return differ("A", words.a, product.a);
  if (words.b != product.b) return differ("B", words.b, product.b);
  if (words.accumulate == product.accumulate) return true;
  return tell(
      fmt::format("scale-d is {} here and {} in {}", words.accumulate, product.accumulate, they),
      "the same scale-d in all four warps (PTX ISA 9.7.15.5.2)",
      fmt::format("{}", words.accumulate));
}

// A descriptor and scale-d are one for all threads (9.7.15.5.2): lane 0's counts here.
void check_lanes(Core& x, const Code& c, const GroupForm& form) {
  const auto differs = [&](const char* which, u32 lane, u64 mine, u64 theirs) {
    x.reports->hazard(x, lane, "warpgroup_differs", x.pc, [&] {
      Report r;
      r.sentence =
          fmt::format("{} is 0x{:x} here and 0x{:x} in lane 0 of the warp", which, theirs, mine);
      r.expected = "the same in all threads of the warpgroup (PTX ISA 9.7.15.5.2)";
      r.found = fmt::format("0x{:x}", theirs);
      return r;
    });
  };
  const auto look_at = [&](const char* which, Reference r) {
    const u64* of = lane_array<u64>(x, r);
    const u64* other = std::find_if(of, of + lanes, [&](u64 v) { return v != of[0]; });
    if (other != of + lanes) differs(which, static_cast<u32>(other - of), of[0], *other);
  };
  if (!form.a_in_registers) look_at("the descriptor of A", c.b);
  look_at("the descriptor of B", c.c);
  const Mask scales = x.predicates[c.r];
  if (scales == 0 || scales == ~Mask{0}) return;
  const Mask unlike = (scales & 1) ? ~scales : scales;
  const u64 first = (scales ^ c.flip) & 1;
  differs("scale-d", static_cast<u32>(__builtin_ctz(unlike)), first, first ^ 1);
}

void check_metadata(Core& x, const GroupForm& form, const u32* metadata) {
  const auto bad = find_bad_chunk(form, metadata);
  if (!bad) return;
  x.reports->hazard(x, 0, "bad_metadata", x.pc, [&] {
    const bool one = form.a == ElementType::tf32;
    Report r;
    r.sentence = fmt::format(
        "the metadata of row {}, columns {} to {} of A are 0b{:04b}: {}",
        x.warp->index % 4 * warp_rows + bad->row, bad->chunk * (one ? 2 : 4),
        bad->chunk * (one ? 2 : 4) + (one ? 1 : 3), bad->bits,
        one ? "no place of one in two" : "the two stored elements would have the same place");
    r.expected = one ? "0b0100 (the first) or 0b1110 (the second) (PTX ISA 9.7.15.6)"
                     : "two bits for each of two different places (PTX ISA 9.7.15.6)";
    r.found = fmt::format("0b{:04b}", bad->bits);
    return r;
  });
}

// The products of the warpgroup at hand, which end one after the other.
Agent products_of(Core& x) {
  return x.block->order.agent(Completer::products, x.warp->index / 4);
}

// An operation has written some of it, and nobody has told this warp.
bool was_copied_unheard(Core& x, const Range& r) {
  if (!x.block->order.on()) return false;
  const Completions& completions = x.machine->completions;
  return x.block->order.shared.any_writer(r.begin, r.end, [&](u64, u64, const Shadow::Touch& by) {
    return by.async && by.operation && !completions.in_flight(by.operation) &&
           !completions.is_seen(by.operation, observer(x));
  });
}

// An operand in shared memory, of `rows` rows; `first`: where they begin in GroupWords::unwritten.
//
// Kernels whose tiles have fewer rows than the instruction let it read what follows, whatever is
// there, and drop what comes of it (DeepGEMM with 32 rows). So rows that a copy writes which nobody
// has waited for are undefined, and only where it writes all of them the product comes too early.
bool find_bytes(Core& x, const SharedMatrix& matrix, u32 rows, ElementType type, u32 row_bytes,
                u32 first, GroupWords& words, std::vector<Range>& out) {
  const ElementType as = type == ElementType::b1 ? ElementType::u8 : type;
  std::vector<Range> all;
  if (!find_pieces(x, 0, *x.block, matrix, pieces(matrix, rows, as, row_bytes),
                   first ? "the descriptor of B" : "the descriptor of A", all)) {
    return false;
  }
  const auto is_written = [&](const Range& r) {
    if (was_copied_unheard(x, r)) return true;
    const auto& operations = x.block->flight.operations;
    return std::any_of(operations.begin(), operations.end(), [&](const AsyncOperation& o) {
      return std::any_of(o.writes.begin(), o.writes.end(),
                         [&](const Range& w) { return w.meets(r); });
    });
  };
  if (std::any_of(all.begin(), all.end(), is_written)) {
    std::vector<bool> late(rows);
    each_piece(matrix, rows, as, row_bytes, [&](u32 row, u32 count, u32 offset) {
      if (!is_written({offset, offset + 16})) return;
      for (u32 r = row; r < row + count; ++r) late[r] = true;
    });
    if (std::find(late.begin(), late.end(), false) != late.end()) {
      all.clear();
      for (u32 r = 0; r < rows; ++r) {
        if (late[r]) words.set_unwritten(first + r);
      }
      std::vector<u32> offsets;
      each_piece(matrix, rows, as, row_bytes, [&](u32, u32, u32 offset) {
        if (!is_written({offset, offset + 16})) offsets.push_back(offset);
      });
      if (!find_pieces(x, 0, *x.block, matrix, offsets, "", all)) return false;
    }
  }
  out.insert(out.end(), all.begin(), all.end());
  return true;
}

// Which tiles the product reads, for those who look at its sums later, when others lie there.
void remember_source(Core& x, const GroupWords& words, const std::vector<Range>& reads,
                     const GroupProduct& product) {
  std::vector<GroupSource>& all = warpgroup_of(x).sources;
  auto own = std::find_if(all.begin(), all.end(),
                          [&](const GroupSource& each) { return each.pc == words.pc[0]; });
  if (own == all.end()) own = all.insert(all.end(), GroupSource{});
  own->pc = words.pc[0];
  own->product = words.product;
  own->a = words.a;
  own->b = words.b;
  own->rows = product.rows;
  own->tiles.clear();
  for (const SharedTile& tile : x.block->tiles.all()) {
    const Range lies{tile.begin(), tile.end()};
    const bool read = !tile.stored && std::any_of(reads.begin(), reads.end(),
                                                  [&](const Range& r) { return r.meets(lies); });
    if (read) own->tiles.push_back(tile);
  }
}

// All four have come: the product begins.
bool begin(Core& x, const GroupForm& form, GroupWords words, const GroupProduct& product) {
  GroupOperands operands;
  if (const auto error = decode(form, words, operands)) {
    return fault(x, "bad_descriptor", error->sentence, error->expected, error->found);
  }
  AsyncOperation o;
  if (!form.a_in_registers &&
      !find_bytes(x, operands.a, group_rows, form.a, form.a_bytes(), 0, words, o.reads)) {
    return false;
  }
  if (!find_bytes(x, operands.b, form.n, form.b, form.b_bytes(), group_rows, words, o.reads)) {
    return false;
  }
  remember_source(x, words, o.reads, product);
  o.work = &group_work;
  constexpr u32 most_threads = 1024;  // of a block
  o.pipe = 1 + x.block->rank * most_threads + words.group * 128;
  o.products = u64{group_rows} * form.n * form.k;
  o.by = products_of(x);
  o.by_epoch = static_cast<u32>(words.product + 1);
  words.pack(o);
  const auto* metadata = reinterpret_cast<const std::byte*>(product.metadata.data());
  o.bytes.assign(metadata, metadata + product.metadata.size() * sizeof(u32));
  return x.machine->flights.issue(x, 0, std::move(o));
}

// The product comes after what any of the four warps did before it issued it. This warp does not.
// PTX promises that of one warp alone; measured on an H200: with no barrier between the threads'
// stores and wgmma_v1's products, or behind them, and one warp 20,000 cycles late at either, 0 of
// 20 runs were wrong, where four warps that multiply by themselves would have read what nobody had
// written yet.
bool begin_behind_all(Core& x, const GroupForm& form, const GroupWords& words,
                      const GroupProduct& product) {
  if (!x.block->order.on()) return begin(x, form, words, product);
  Observer& me = observer(x);
  const Observer alone = me;
  me.acquire(product.view);
  const bool issued = begin(x, form, words, product);
  me = alone;
  return issued;
}

Flow multiply(Core& x, const Code& c, Mask m) {
  const Flow flow = whole_warp(x, m);
  if (flow != Flow::next) return flow;
  const ptx::Program& program = x.machine->program();
  const GroupForm form = group_form(program, program.code[x.pc]);
  Warpgroup& group = warpgroup_of(x);
  const u32 i = x.warp->index % 4;
  GroupWarp& warp = group.warps[i];
  const u64 number = warp.issued;
  if (!is_whole(x, number, group)) return Flow::fault;

  GroupWords words;
  words.group = x.warp->index / 4;
  words.product = number;
  words.a = form.a_in_registers ? 0 : lane_array<u64>(x, c.b)[0];
  words.b = lane_array<u64>(x, c.c)[0];
  words.accumulate = (x.predicates[c.r] ^ c.flip) & 1;
  check_lanes(x, c, form);
  const Touch& touch = bound_of(x).touches[c.immediate];
  const std::vector<GroupUse>& uses = touch.uses;
  if (check_fence(x, warp, form, words.accumulate, uses)) check_operand(x, warp, uses);

  if (number - group.first == group.products.size()) {
    GroupProduct fresh;
    fresh.a = words.a;
    fresh.b = words.b;
    fresh.accumulate = words.accumulate;
    group.products.push_back(fresh);
  }
  GroupProduct& product = group.products[number - group.first];
  if (product.arrived && !compare(x, product, words, form)) return Flow::fault;
  if (form.sparse) {
    product.metadata.resize(4 * lanes);
    std::copy_n(lane_array<u32>(x, c.e), lanes, &product.metadata[i * lanes]);
    check_metadata(x, form, &product.metadata[i * lanes]);
  }
  product.arrived |= 1u << i;
  if (x.block->order.on()) observer(x).release(product.view);
  product.pc[i] = x.pc;
  take_rows(x, touch, product);
  ++warp.issued;
  use_registers(warp, form, uses);
  if (product.arrived != four_warps) return Flow::next;
  words.pc = product.pc;
  words.a = product.a;
  words.b = product.b;
  words.accumulate = product.accumulate;
  return begin_behind_all(x, form, words, product) ? Flow::next : Flow::fault;
}

// ---- fence, commit_group, wait_group ----

Flow fence(Core& x, const Code&, Mask m) {
  const Flow flow = whole_warp(x, m);
  if (flow != Flow::next) return flow;
  GroupWarp& warp = mine(x);
  warp.fenced = true;
  for (GroupWarp::Use& use : warp.uses) {
    use.touched = use.written = false;
    use.shape = 0;
  }
  return Flow::next;
}

Flow commit(Core& x, const Code&, Mask m) {
  const Flow flow = whole_warp(x, m);
  if (flow != Flow::next) return flow;
  GroupWarp& warp = mine(x);
  warp.groups.push_back(warp.issued);
  return Flow::next;
}

// Forgets the products that all four warps are done with.
void forget(Warpgroup& group) {
  u64 end = ~u64{0};
  for (const GroupWarp& warp : group.warps) end = std::min(end, warp.waited);
  while (group.first < end && !group.products.empty() && group.products.front().complete) {
    group.products.pop_front();
    ++group.first;
  }
}

// The warp waits for its products before `end`: what they read is free, for it and for those who
// synchronise with it from now on. A product is complete when all four warps have issued it, so one
// warp's wait covers what all four read.
Flow await(Core& x, Mask m, u64 end) {
  Warpgroup& group = warpgroup_of(x);
  if (!group.are_complete(end)) {
    x.warp->splits[x.split].products = end;
    return wait_here(x, m, Wait::products);
  }
  GroupWarp& warp = mine(x);
  warp.waited = std::max(warp.waited, end);
  while (!warp.groups.empty() && warp.groups.front() <= warp.waited) warp.groups.pop_front();
  if (x.block->order.on() && end > group.first) {
    // They end in order, so the last says it of all.
    observer(x).see(products_of(x), static_cast<u32>(end));
    // It began behind what the four warps had waited for: who waits for it cannot be behind that.
    const View& began = group.products[end - 1 - group.first].view;
    observer(x).come_behind(began.behind);
    hear_completions(*x.block, observer(x), began);
  }
  forget(group);
  return Flow::next;
}

Flow wait_group(Core& x, const Code& c, Mask m) {
  const Flow flow = whole_warp(x, m);
  if (flow != Flow::next) return flow;
  const GroupWarp& warp = mine(x);
  const u64 left = c.immediate;
  if (warp.groups.size() <= left) return Flow::next;
  return await(x, m, warp.groups[warp.groups.size() - 1 - left]);
}

}  // namespace

bool Warpgroup::are_complete(u64 end) const {
  if (end <= first) return true;
  if (end - first > products.size()) return false;
  return std::all_of(products.begin(), products.begin() + static_cast<std::ptrdiff_t>(end - first),
                     [](const GroupProduct& p) { return p.complete; });
}

Warpgroup& warpgroup_of(Core& x) {
  auto& groups = x.block->warpgroups;
  if (groups.empty()) {
    groups.resize((x.block->warps.size() + 3) / 4);
    for (Warpgroup& group : groups) {
      for (GroupWarp& warp : group.warps) {
        warp.uses.resize(bound_of(x).group_registers.size());
        if (x.machine->options.remember_writers) warp.rows.resize(bound_of(x).followed_registers);
      }
    }
  }
  return groups[x.warp->index / 4];
}

namespace {

Flow run_touched(Core& x, const Code& c, Mask m, const Touch& touch) {
  if (!are_followed(x, touch)) return touch.run(x, c, m);
  const std::vector<RowsFrom> from = find_rows(x, c, touch);
  const Flow flow = touch.run(x, c, m);
  put_rows(x, touch, from, m);
  return flow;
}

}  // namespace

Flow touch_group_registers(Core& x, const Code& c, Mask m) {
  const Touch& touch = bound_of(x).touches[bound_of(x).touch_of.at(x.pc)];
  if (touch.uses.empty()) return run_touched(x, c, m, touch);
  x.block->registers.settle(x.warp->index / 4);
  GroupWarp& warp = mine(x);
  const GroupUse* which = nullptr;
  if (const u64 product = in_use(warp, touch.uses, which)) {
    if (warp.told != product) {
      tell_in_use(x, m ? __builtin_ctz(m) : 0, which->written ? "writes" : "reads", *which,
                  product);
    }
    warp.told = product;
    const Flow flow = await(x, m, product);
    if (flow != Flow::next) return flow;
  }
  if (is_copy(x)) {
    rename(warp, touch.uses);
    return run_touched(x, c, m, touch);
  }
  for (const GroupUse& use : touch.uses) {
    GroupWarp::Use& state = warp.uses[use.number];
    state.touched = true;
    state.written = use.written;
    if (use.written) state.changed_after = warp.issued + 1;
    state.touched_at = x.pc;
  }
  return run_touched(x, c, m, touch);
}

bool leave_warpgroups(Model& machine, Block& block) {
  for (u32 g = 0; g < block.warpgroups.size(); ++g) {
    for (const GroupProduct& product : block.warpgroups[g].products) {
      if (product.arrived == four_warps) continue;
      const u32 there = static_cast<u32>(__builtin_ctz(product.arrived));
      const u32 missing = static_cast<u32>(__builtin_ctz(~product.arrived));
      return machine.reports.fault_at(
          block, (g * 4 + there) * 32, product.pc[there], "warpgroup",
          fmt::format("warp {} has exited without this wgmma.mma_async, which warp {} of its "
                      "warpgroup executed",
                      g * 4 + missing, g * 4 + there),
          "the same wgmma instructions in all four warps (PTX ISA 9.7.15.5.2)", "none");
    }
  }
  return true;
}

Handler warpgroup_handler(const ptx::Instruction& i) {
  switch (i.modifiers.group_step()) {
    case GroupStep::mma_async:
      return multiply;
    case GroupStep::fence:
      return fence;
    case GroupStep::commit_group:
      return commit;
    default:
      return wait_group;
  }
}

}  // namespace tilescope::sim
