// tcgen05.mma, commit and fence (PTX ISA 9.7.16.10.9, .11, .12).
//
// Each lane that executes an mma issues one: the instruction is a single thread's. Code of an mma:
// a and immediate D's address, b A's descriptor or address, c B's descriptor, e the instruction
// descriptor, r whether it accumulates, width the scale, d the zero-column mask or nothing;
// elements: whether A is in TMEM, the offset of its address, eight masks of lanes (or nothing);
// with .block_scale the register and the offset of each of the two addresses of scale factors, with
// .sp those of the metadata.
#include "core/sim/tcgen05/handlers.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/sim/checks/evidence.h"
#include "core/sim/lanes/lanes.h"
#include "core/sim/lanes/services.h"
#include "core/sim/lanes/units.h"
#include "core/sim/machine/cluster.h"
#include "core/sim/machine/model.h"
#include "core/sim/tcgen05/in_flight.h"
#include "core/sim/tcgen05/multiplication.h"

namespace tilescope::sim {
namespace {

using base::lane_array;
using ptx::Field;
using ptx::TensorStep;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

MultiplicationWords words_of(const Core& x, const Code& c, int lane) {
  const ptx::Modifiers& how = x.machine->program().code[x.pc].modifiers;
  const Reference* more = x.elements + c.target;
  MultiplicationWords w;
  w.form.kind = static_cast<MmaKind>(how[Field::kind]);
  w.form.ws = how.has(Field::ws);
  w.form.pair = is_of_pair(x);
  w.form.sparse = how.has(Field::sparse);
  w.shifts = how.has(Field::ashift);
  w.d = static_cast<u32>(c.immediate) + (c.a == nothing ? 0 : lane_array<u32>(x, c.a)[lane]);
  w.a_in_tensor_memory = more[0];
  w.a = !w.a_in_tensor_memory ? lane_array<u64>(x, c.b)[lane]
                              : more[1] + (c.b == nothing ? 0 : lane_array<u32>(x, c.b)[lane]);
  w.b = lane_array<u64>(x, c.c)[lane];
  w.instruction = lane_array<u32>(x, c.e)[lane];
  w.accumulate = (x.predicates[c.r] ^ c.flip) >> lane & 1;
  w.scale = c.width;
  if (c.d != nothing) w.zero_columns = lane_array<u64>(x, c.d)[lane];
  for (u32 i = 0; i < 8; ++i) {
    if (more[2 + i] == nothing) continue;
    w.disabled[i / 2] |= u64{lane_array<u32>(x, more[2 + i])[lane]} << 32 * (i % 2);
  }
  const auto address = [&](const Reference* at) {
    return at[1] + (at[0] == nothing ? 0 : lane_array<u32>(x, at[0])[lane]);
  };
  const bool scaled = how.has(Field::block_scale);
  if (w.form.sparse) w.metadata = address(more + (scaled ? 14 : 10));
  if (!scaled) return w;
  w.form.vectors = static_cast<ptx::ScaleVectors>(how[Field::scale_vectors]);
  w.form.ultra = x.machine->program().target() == "sm_103a";
  w.a_scales = address(more + 10);
  w.b_scales = address(more + 12);
  return w;
}

bool refuse(Core& x, int lane, const DescriptorError& error) {
  x.reports->fault(x, lane, "bad_descriptor", error.sentence, error.expected, error.found);
  return false;
}

// Bit 12 is reserved where B's type has two bits (table 44). NVIDIA's own example of mxf4nvf4
// (CuTeDSL) gives e2m1 the three of kind mxf8f6f4, 0b101, and its results are right.
void note_reserved_bit(Core& x, int lane, const MultiplicationWords& words) {
  if (!is_packed(words.form.kind) || !(words.instruction >> 12 & 1)) return;
  x.reports->hazard(x, lane, "bad_descriptor", x.pc, [&] {
    Report r;
    r.sentence = fmt::format(
        "the instruction descriptor 0x{:08x} has 1 in bit 12, which is reserved: it is passed over",
        words.instruction);
    r.expected = "0 (table 44)";
    r.found = "1";
    return r;
  });
}

// Where D and A lie in TMEM: from lane 0 on, or 16 where only every other 16 lanes are used, and
// both alike (9.7.16.10.5).
bool check_lanes(Core& x, int lane, const Multiplication& m) {
  const bool half = m.product.shape.m == 64 && !m.product.ws;
  const u32 d = m.product.d.lane;
  if (d != 0 && !(half && d == 16)) {
    x.reports->fault(x, lane, "tmem_lane",
                     fmt::format("D of an mma with M {} begins at lane {}", m.product.shape.m, d),
                     half ? "lane 0 or 16 (PTX ISA 9.7.16.10.5)" : "lane 0 (PTX ISA 9.7.16.10.5)",
                     fmt::format("lane {}", d));
    return false;
  }
  if (m.a_in_tensor_memory && m.a_cells.lane != d) {
    x.reports->fault(x, lane, "tmem_lane",
                     fmt::format("A begins at lane {} of TMEM, D at lane {}", m.a_cells.lane, d),
                     "the same lanes of both (PTX ISA 9.7.16.10.5)",
                     fmt::format("lane {}", m.a_cells.lane));
    return false;
  }
  return true;
}

// Table 39 has N in steps of 8 for both M; CuTe asserts steps of 16 with M 128 (mma_traits_sm100),
// and nobody says why.
void note_columns(Core& x, int lane, const Multiplication& m) {
  const MmaShape& s = m.product.shape;
  if (m.pair || s.m != 128 || s.n % 16 == 0) return;
  x.reports->note(x, lane, "mma_columns", x.pc, [&] {
    Report r;
    r.sentence = fmt::format(
        "this tcgen05.mma has M 128 and N {}, which the PTX ISA lists and CuTe refuses", s.n);
    r.expected = "N in steps of 16 with M 128, to be safe";
    r.found = fmt::format("N {}", s.n);
    return r;
  });
}

// The matrix's bytes of a block's shared memory.
bool find_bytes(Core& x, int lane, const Block& block, const SharedMatrix& matrix, u32 rows,
                ElementType type, u32 row_bytes, std::string_view name, std::vector<Range>& out) {
  return find_pieces(x, lane, block, matrix, pieces(matrix, rows, type, row_bytes),
                     fmt::format("the descriptor of {}", name), out);
}

// This product's D or A and what another one in flight does there.
Evidence of_two_products(const Core& x, int lane, const std::vector<CellRange>& d,
                         const std::vector<CellRange>& a, const AsyncOperation& other) {
  TensorCells theirs;
  tensor_cells(other, theirs);
  const auto between = [&](const std::vector<CellRange>& mine, const char* does,
                           const std::vector<CellRange>& others, const char* did) {
    const CellRange* met = meeting(mine, others);
    const CellRange* with = meeting(others, mine);
    if (!met || !with) return Evidence{};
    return collision(
        lane_at(x, lane, fmt::format("tcgen05.mma {}", does), place_of(*x.block, *met)),
        operation_in(*x.machine, *x.block, other, did, place_of(*x.block, *with)));
  };
  Evidence out = between(d, "writes", theirs.written, "writes");
  if (out.parties.empty()) out = between(d, "writes", theirs.read, "reads");
  if (out.parties.empty()) out = between(a, "reads", theirs.written, "writes");
  return out;
}

// Has this warp synchronised with who issued it, since then? Not followed of the other block of a
// pair.
bool is_met(const Core& x, const AsyncOperation& o) {
  if (o.leader != no_leader) return false;
  if (!x.block->order.on()) return true;
  const BlockOrder& order = x.block->order;
  return order.of(x.warp->index).has_met(order.of(o.thread / 32).me(), o.since);
}

// Another product in flight that has to do with the same cells. With the same accumulator and shape
// they keep their order: those of one thread, and of two that have synchronised (9.7.16.6.3; the
// fences that this wants are asked for with the history of the cells). Products of a pair are in
// flight in both blocks, and use the same cells of both.
bool check_other_products(Core& x, int lane, const Multiplication& m,
                          const std::vector<CellRange>& d) {
  for (const AsyncOperation& o : x.block->flight.operations) {
    if (!is_multiplication(o) || o.stage == Stage::complete) continue;
    Multiplication other;
    decode(MultiplicationWords::of(o), other);
    const bool same = o.pipe == pipe_of(x, lane);
    const bool alike = other.product.d.column == m.product.d.column &&
                       other.product.shape.m == m.product.shape.m &&
                       other.product.shape.n == m.product.shape.n;
    if (alike && (same || is_met(x, o))) continue;
    const auto meet = [](const std::vector<CellRange>& p, const std::vector<CellRange>& q) {
      return std::any_of(p.begin(), p.end(), [&](const CellRange& r) {
        return std::any_of(q.begin(), q.end(), [&](const CellRange& s) { return r.meets(s); });
      });
    };
    if (!meet(d, other.written_range()) && !meet(d, other.read_range()) &&
        !meet(m.read_range(), other.written_range())) {
      continue;
    }
    const Site site = x.machine->site(*x.machine->member(*x.block, o.issuer), o.thread, o.pc);
    if (!same) {
      x.reports->fault(x, lane, "tmem_in_use",
                       fmt::format("this tcgen05.mma uses {}, which the one at {}, of another "
                                   "thread, is still writing or reading",
                                   cells_text(d[0]), text(site)),
                       "a commit of the other thread, and a wait for it", "an mma in flight");
      x.reports->explain(of_two_products(x, lane, d, m.read_range(), o));
      return false;
    }
    x.reports->hazard(x, lane, "mma_order", o.pc, [&] {
      Report r;
      r.sentence = fmt::format(
          "this tcgen05.mma uses {}, as the one at {} does with another accumulator or shape: only "
          "MMAs of the same keep their order",
          cells_text(d[0]), text(site));
      r.expected = "a commit between them, and a wait for it (PTX ISA 9.7.16.6.2)";
      r.found = "an mma in flight";
      r.evidence = of_two_products(x, lane, d, m.read_range(), o);
      return r;
    });
  }
  return true;
}

// What it uses of one block's TMEM is that block's.
bool check_cells(Core& x, int lane, const Block& block, const Multiplication& m) {
  return owns_cells(x, lane, block, m.d_range(), "D of the mma") &&
         owns_cells(x, lane, block, m.a_range(), "A of the mma") &&
         (!m.product.shape.sparse ||
          owns_cells(x, lane, block, m.metadata.cells(), "the metadata of A of the mma")) &&
         owns_cells(x, lane, block, m.a_scales.cells(), "the scale factors of A of the mma") &&
         owns_cells(x, lane, block, m.b_scales.cells(), "the scale factors of B of the mma");
}

// And of its shared memory. A and B lie at the same places in both blocks of a pair.
bool find_operands(Core& x, int lane, const Block& block, const Multiplication& m,
                   std::vector<Range>& out) {
  const MmaShape& s = m.product.shape;
  return (m.a_in_tensor_memory ||
          find_bytes(x, lane, block, m.a, m.a_rows, m.stored(s.a), s.a_row_bytes(), "A", out)) &&
         find_bytes(x, lane, block, m.b, m.b_lines(), m.stored(s.b), s.row_bytes(), "B", out);
}

// "Issue from a single thread from the CTA-Pair would initiate the base operation": of either block
// (9.7.16.5, table 46).
bool issue_with_peer(Core& x, int lane, const Multiplication& m, AsyncOperation o) {
  Block* peer = find_peer(x, lane, "tcgen05.mma");
  if (!peer || !check_cells(x, lane, *peer, m) ||
      !check_peer_tensor_use(x, lane, *peer, TensorUse::product, m.written_range()) ||
      !check_peer_tensor_use(x, lane, *peer, TensorUse::operand, m.read_range())) {
    return false;
  }
  AsyncOperation guard;
  if (!find_operands(x, lane, *peer, m, guard.reads)) return false;
  guard.work = &multiplication_guard;
  guard.pipe = o.pipe;
  guard.words = o.words;
  return x.machine->flights.issue(x, lane, *x.block, std::move(o), *peer, std::move(guard));
}

bool issue_multiplication(Core& x, const Code& c, int lane) {
  const MultiplicationWords words = words_of(x, c, lane);
  Multiplication m;
  if (const auto error = decode(words, m)) return refuse(x, lane, *error);
  note_reserved_bit(x, lane, words);
  if (!check_lanes(x, lane, m)) return false;
  note_columns(x, lane, m);
  if (m.a_in_tensor_memory && !is_packed(words.form.kind) && bits_of(m.product.shape.a) < 8) {
    note_unpacked_bits(x, lane);
  }
  const std::vector<CellRange> d = m.written_range(), a = m.read_range();
  if (!check_cells(x, lane, *x.block, m) || !check_other_products(x, lane, m, d) ||
      !check_tensor_use(x, lane, TensorUse::product, d) ||
      !check_tensor_use(x, lane, TensorUse::operand, a)) {
    return false;
  }
  AsyncOperation o;
  if (!find_operands(x, lane, *x.block, m, o.reads)) return false;
  o.work = &multiplication_work;
  join_pipe(x, lane, o);
  words.pack(o);
  if (!order_behind_others(x, lane, o)) return false;
  if (m.pair) return issue_with_peer(x, lane, m, std::move(o));
  return x.machine->flights.issue(x, lane, std::move(o));
}

Flow multiply(Core& x, const Code& c, Mask m) {
  for (Mask rest = m; rest; rest &= rest - 1) {
    if (!issue_multiplication(x, c, __builtin_ctz(rest))) return Flow::fault;
  }
  return Flow::next;
}

// An mbarrier, of the block or of another one of the cluster. Where no space is said the address is
// generic; compilers also give the shared address widened to 64 bits, so a high half of 0 is taken
// as the window's.
bool locate(Core& x, const Code& c, int lane, Block*& block, u32& offset) {
  u64 address = c.immediate;
  if (c.a != nothing) {
    address += c.narrow_address ? lane_array<u32>(x, c.a)[lane] : lane_array<u64>(x, c.a)[lane];
  }
  if (c.space == ptx::Space::generic && address >= ptx::window_bytes) address -= ptx::shared_base;
  return cluster_offset(x, c, ptx::Space::shared, Access::atomic, lane, address, 8, 8, block,
                        offset);
}

// The blocks that a commit arrives at: that of the address, or with .multicast::cluster those of a
// mask, at the same place in each (9.7.16.12.1).
bool targets_of(Core& x, const Code& c, int lane, const Block& block, u32& targets) {
  targets = 1u << block.rank;
  if (c.b == nothing) return true;
  targets = lane_array<std::uint16_t>(x, c.b)[lane];
  const u32 all = (1u << x.machine->cluster_size) - 1;
  if (targets && (targets & ~all) == 0) return true;
  x.reports->fault(x, lane, "bad_mask",
                   fmt::format("the mask 0x{:x} of a multicast names {}", targets,
                               targets ? "CTAs that the cluster does not have" : "no CTA"),
                   fmt::format("some of the bits 0x{:x}", all), fmt::format("0x{:x}", targets));
  return false;
}

// What this warp has done and seen by now, and what its thread's tcgen05 instructions have.
std::shared_ptr<const Token> seen_by_now(Core& x, int lane, const AsyncOperation& commit) {
  if (!x.block->order.on()) return nullptr;
  Token out;
  observer(x).release(out, Scope::sys, deed(x, lane));
  const auto& pipelined = x.block->tensor.pipelined;
  const auto others = pipelined.find(commit.pipe);
  for (Released& part : out.parts) {
    observer(x).complete(part.view, commit.by, commit.by_epoch);
    if (others != pipelined.end()) part.view.join(others->second);
  }
  return std::make_shared<const Token>(std::move(out));
}

// An arrival once this thread's products are done. It also orders them before what comes behind the
// barrier, as fence::before_thread_sync does (9.7.16.6.4.2). So whoever waits there is behind all
// that this thread had waited for before it issued them: a stage may be filled again whose operands
// other threads wrote or read before they told this one. (Of the arrivals of copies 8.9.1.1 says
// that they establish no such order; commit is not among them.)
Flow commit(Core& x, const Code& c, Mask m) {
  x.block->tensor.arrive(x.warp->index);
  for (Mask rest = m; rest; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    AsyncOperation o;
    Block* block = nullptr;
    if (is_of_pair(x) && !find_peer(x, lane, "tcgen05.commit")) return Flow::fault;
    if (!locate(x, c, lane, block, o.mbarrier) || !targets_of(x, c, lane, *block, o.targets)) {
      return Flow::fault;
    }
    o.work = &commit_work;
    join_pipe(x, lane, o);
    o.arrivals = 1;
    o.seen = seen_by_now(x, lane, o);
    if (!x.machine->flights.issue(x, lane, std::move(o))) return Flow::fault;
  }
  return Flow::next;
}

template <bool after>
Flow fence(Core& x, const Code&, Mask) {
  if (!x.block->order.on()) return Flow::next;
  Observer& me = observer(x);
  TensorOrder& order = x.block->tensor.order[x.warp->index];
  if (after) {
    order.after = me.all_met();
  } else {
    order.fence(me.begin_epoch());
  }
  return Flow::next;
}

}  // namespace

Handler multiplication_handler(TensorStep step) {
  switch (step) {
    case TensorStep::mma:
      return multiply;
    case TensorStep::commit:
      return commit;
    case TensorStep::before_thread_sync:
      return fence<false>;
    default:
      return fence<true>;
  }
}

// Products and commits of a thread keep their order (9.7.16.6.2): a pipe for each thread of the
// cluster.
u32 pipe_of(const Core& x, int lane) {
  constexpr u32 most_threads = 1024;  // of a block
  return 1 + x.block->rank * most_threads + x.warp->index * 32 + static_cast<u32>(lane);
}

void join_pipe(Core& x, int lane, AsyncOperation& o) {
  o.pipe = pipe_of(x, lane);
  if (!x.block->order.on()) return;
  o.by = x.block->order.agent(Completer::tensor_core, o.pipe);
  o.by_epoch = x.block->order.next_epoch();
}

Handler tensor_handler(const ptx::Instruction& i) {
  const TensorStep step = i.modifiers.tensor_step();
  switch (step) {
    case TensorStep::alloc:
    case TensorStep::dealloc:
    case TensorStep::relinquish_alloc_permit:
      return tensor_allocation_handler(step);
    case TensorStep::ld:
    case TensorStep::st:
    case TensorStep::wait_ld:
    case TensorStep::wait_st:
      return tensor_move_handler(i);
    case TensorStep::cp:
    case TensorStep::shift:
      return transfer_handler(step);
    default:
      return multiplication_handler(step);
  }
}

}  // namespace tilescope::sim
