// What handlers ask for rarely: sentences about bad accesses, marks of undefined loads, clocks.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "core/sim/checks/origin.h"
#include "core/sim/checks/undefined.h"
#include "core/sim/lanes/services.h"
#include "core/sim/machine/cluster.h"
#include "core/sim/machine/heap.h"
#include "core/sim/machine/model.h"
#include "core/sim/machine/spin_loop.h"

namespace tilescope::sim {

std::string_view opcode_text(std::string_view text) {
  if (!text.empty() && text[0] == '@') {
    const std::size_t blank = text.find_first_of(" \t");
    text = text.substr(std::min(text.size(), text.find_first_not_of(" \t", blank)));
  }
  return text.substr(0, text.find_first_of(" \t\n{["));
}

namespace {

using ptx::Space;
using u64 = std::uint64_t;

std::string described(const Region& r) {
  switch (r.kind()) {
    case Region::Kind::shared:
      return fmt::format("the CTA's shared memory ({} bytes)", r.size());
    case Region::Kind::local:
      return "the thread's local memory";
    case Region::Kind::parameters:
      return fmt::format("the kernel's parameters ({} bytes)", r.size());
    case Region::Kind::variable:
      return fmt::format("the variable {} ({} bytes)", r.name(), r.size());
    case Region::Kind::buffer:
      return fmt::format("buffer {} ({}, {} bytes)", r.name(), r.about, r.size());
  }
  return "";
}

std::string bytes_text(u64 n) {
  return fmt::format("{} byte{}", n, n == 1 ? "" : "s");
}

// Where `bytes` bytes at `offset` lie with respect to `size` bytes of something called `name`;
// offsets below 0 are two's complement.
std::string distance(u64 offset, std::uint32_t bytes, u64 size, const std::string& name,
                     u64 system) {
  const auto below = static_cast<std::int64_t>(offset);
  if (below < 0 && 0 - offset <= system) {
    return fmt::format("{} before the start of {}, among the {} that the system keeps",
                       bytes_text(0 - offset), name, bytes_text(system));
  }
  if (below < 0) return fmt::format("{} before the start of {}", bytes_text(0 - offset), name);
  if (offset < size)
    return fmt::format("{} over the end of {}", bytes_text(offset + bytes - size), name);
  if (offset == size) return fmt::format("directly after the end of {}", name);
  return fmt::format("{} past the end of {}", bytes_text(offset - size), name);
}

struct Where {
  const Region* region = nullptr;
  u64 offset = 0;
  u64 size = 0;  // that the lane may use
};

Where where(const Core& x, Space space, u64 address) {
  const Block& b = *x.block;
  if (space == Space::generic) {
    if (address - ptx::shared_base < ptx::window_bytes)
      return {&b.shared, address - ptx::shared_base - x.window, b.shared.size()};
    if (address - ptx::local_base < ptx::window_bytes)
      return {&b.local, address - ptx::local_base, x.local_bytes};
    if (address - ptx::parameters_base < ptx::window_bytes) {
      return {x.parameters, address - ptx::parameters_base, x.parameters->size()};
    }
    constexpr u64 frames = ptx::parameters_base + ptx::frame_parameters;
    if (address - frames < ptx::window_bytes) return {&b.local, address - frames, x.local_bytes};
  }
  if (space == Space::shared) return {&b.shared, address - x.window, b.shared.size()};
  if (space == Space::local) return {&b.local, address, x.local_bytes};
  if (space == Space::param && address >= ptx::frame_parameters) {
    return {&b.local, address - ptx::frame_parameters, x.local_bytes};
  }
  if (space == Space::param) return {x.parameters, address, x.parameters->size()};
  const Region* r = x.machine->nearest_region(address);
  return r ? Where{r, address - r->base(), r->size()} : Where{};
}

}  // namespace

bool is_memory(const Core& x, Space space, u64 address, std::uint32_t bytes) {
  const Where w = where(x, space, address);
  return w.region && w.offset < w.size && w.size - w.offset >= bytes;
}

Region* find_region(Core& x, u64 address) {
  Region& guess = x.regions[x.last_region];
  if (address - guess.base() < guess.size()) return &guess;
  Region* end = x.regions + x.region_count;
  Region* next = std::upper_bound(x.regions, end, address,
                                  [](u64 a, const Region& r) { return a < r.base(); });
  if (next == x.regions) return nullptr;
  Region* r = next - 1;
  if (address - r->base() >= r->size()) return nullptr;
  x.last_region = static_cast<std::uint32_t>(r - x.regions);
  return r;
}

bool read_generic(Core& x, int lane, u64 address, std::size_t bytes, std::byte* out) {
  const Where w = where(x, Space::generic, address);
  if (!w.region || w.offset >= w.size || w.size - w.offset < bytes) return false;
  u64 offset = w.offset;
  if (w.region == &x.block->local) {
    offset += u64{x.warp->index * 32 + static_cast<std::uint32_t>(lane)} * x.local_bytes;
  }
  std::memcpy(out, w.region->data() + offset, bytes);
  return true;
}

Region* peer_region(Core& x, int lane, u64 address) {
  const u64 rank = address >> ptx::rank_shift;
  const bool other = x.machine->cluster_size > 1 && rank != x.block->rank;
  if (!other || rank >= x.machine->cluster_size ||
      !x.machine->program().code[x.pc].modifiers.reaches_cluster()) {
    return nullptr;
  }
  Block* peer = reach(x, lane, static_cast<std::uint32_t>(rank));
  return peer ? &peer->shared : nullptr;
}

namespace {

// Does an address in shared memory belong to another block of the cluster, by its upper bits?
bool of_another_block(const Core& x, Space space, u64 address) {
  const u64 at = space == Space::generic ? address - ptx::shared_base : address;
  const bool in_window =
      (space == Space::shared || space == Space::generic) && at < ptx::window_bytes;
  return x.machine->cluster_size > 1 && in_window && at >> ptx::rank_shift != x.block->rank;
}

Flow refuse_peer(Core& x, int lane, const std::string& what, u64 address) {
  const u64 rank = (address & 0xffff'ffff) >> ptx::rank_shift;
  const bool known = rank < x.machine->cluster_size;
  return x.reports->fault(
      x, lane, "not_own_memory",
      known ? fmt::format(
                  "{}, which is in the shared memory of CTA {} of the cluster; this instruction "
                  "reaches the executing CTA's ({}) only, or the address is beyond that memory",
                  what, rank, x.block->rank)
            : fmt::format("{}, which would be in the shared memory of CTA {} of a cluster of {}",
                          what, rank, x.machine->cluster_size),
      "an address in the shared memory of the CTA, or an instruction of .shared::cluster with one "
      "in another's",
      fmt::format("0x{:x}", address));
}

}  // namespace

Flow refuse_in_heap(Core& x, int lane, const std::string& what, const Region& heap, u64 offset,
                    std::uint32_t bytes) {
  const PieceNear piece = piece_near(heap, offset, bytes);
  if (!piece.offset) {
    return x.reports->fault(
        x, lane, "out_of_bounds",
        fmt::format("{}, in the heap of malloc, which gave nothing there", what),
        "memory that malloc gave", fmt::format("0x{:x}", heap.base() + offset));
  }
  const u64 from = offset - piece.offset;
  const std::string name = fmt::format("the {} that malloc gave at 0x{:x}", bytes_text(piece.bytes),
                                       heap.base() + piece.offset);
  if (piece.is_given_back && from < piece.bytes) {
    const std::string found = fmt::format("byte {} of {}", from, name);
    return x.reports->fault(x, lane, "out_of_bounds",
                            fmt::format("{}, {}, and free has taken back", what, found),
                            "memory that was not given back", found);
  }
  const std::string found = distance(from, bytes, piece.bytes, name, 0);
  return x.reports->fault(
      x, lane, "out_of_bounds", fmt::format("{}, {}", what, found),
      piece.bytes ? fmt::format("bytes 0 to {} of them", piece.bytes - 1) : "none of them", found);
}

Flow refuse_access(Core& x, const Code& c, Access access, int lane, u64 address,
                   std::uint32_t bytes) {
  if (x.machine->faulted()) return Flow::fault;  // which has been told
  const ptx::Instruction& i = x.machine->program().code[x.pc];
  const char* verb = access == Access::load    ? "reads"
                     : access == Access::store ? "writes"
                                               : "updates";
  const std::string what =
      fmt::format("{} {} {} at 0x{:x}", opcode_text(i.text), verb, bytes_text(bytes), address);
  if (of_another_block(x, c.space, address)) return refuse_peer(x, lane, what, address);
  const Where w = where(x, c.space, address);
  const bool inside = w.region && w.offset < w.size && w.size - w.offset >= bytes;
  if (inside && w.region->is_heap && !is_in_pieces(*w.region, w.offset, bytes)) {
    return refuse_in_heap(x, lane, what, *w.region, w.offset, bytes);
  }
  if (inside && w.region->read_only && access != Access::load) {
    return x.reports->fault(
        x, lane, "read_only",
        fmt::format("{}, which is {}: it cannot be written", what, described(*w.region)),
        "memory that can be written", described(*w.region));
  }
  if (inside) {
    return x.reports->fault(x, lane, "misaligned",
                            fmt::format("{}, byte {} of {}, which is no multiple of {}", what,
                                        w.offset, described(*w.region), bytes),
                            fmt::format("an address that is a multiple of {}", bytes),
                            fmt::format("0x{:x}, {} too far", address, address % bytes));
  }
  const Freed* const freed = x.machine->freed ? freed_at(*x.machine->freed, address) : nullptr;
  if (freed) {
    return x.reports->fault(
        x, lane, "out_of_bounds",
        fmt::format("{}, which is in buffer {}, and that was freed before this launch", what,
                    freed->name),
        "memory that is allocated", fmt::format("0x{:x}", address));
  }
  constexpr u64 far = u64{1} << 32;
  if (!w.region || (w.offset > far && 0 - w.offset > far)) {
    const auto& outside = x.machine->outside;
    if (const std::string owner = outside ? (*outside)(address) : ""; !owner.empty()) {
      return x.reports->fault(x, lane, "out_of_bounds", fmt::format("{}, which is {}", what, owner),
                              "memory of the device (cudaMalloc, cudaMallocManaged), or of the "
                              "host that the device is told of (cudaMallocHost)",
                              fmt::format("0x{:x}", address));
    }
    return x.reports->fault(
        x, lane, "out_of_bounds",
        fmt::format("{}, which is in no buffer{}", what, address < 65536 ? ": a null pointer" : ""),
        "an address in a buffer of the launch", fmt::format("0x{:x}", address));
  }
  const u64 system = w.region == &x.block->shared ? x.machine->program().shared_start : 0;
  const std::string found = distance(w.offset, bytes, w.size, described(*w.region), system);
  return x.reports->fault(
      x, lane, "out_of_bounds", fmt::format("{}, {}", what, found),
      w.size ? fmt::format("bytes 0 to {} of {}", w.size - 1, described(*w.region))
             : fmt::format("none: {}", w.region == &x.block->shared
                                           ? "the kernel declares no shared memory, and the launch "
                                             "gives it no dynamic one"
                                           : described(*w.region)),
      found);
}

bool shared_offset(Core& x, const Code& c, Space space, Access access, int lane, u64 address,
                   std::uint32_t bytes, std::uint32_t align, std::uint32_t& offset) {
  const u64 in_window = space == Space::generic ? address - ptx::shared_base : address;
  const u64 at = in_window - x.window;
  if (space == Space::generic && in_window >= ptx::window_bytes) {
    x.reports->fault(x, lane, "not_shared",
                     fmt::format("the address 0x{:x} is not in shared memory", address),
                     "an address in the CTA's shared memory", fmt::format("0x{:x}", address));
    return false;
  }
  const u64 size = x.block->shared.size();
  offset = static_cast<std::uint32_t>(at);
  if (at < size && size - at >= bytes && at % align == 0) return true;
  Code there = c;
  there.space = space;
  refuse_access(x, there, access, lane, address, at % align ? align : bytes);
  return false;
}

bool cluster_offset(Core& x, const Code& c, Space space, Access access, int lane, u64 address,
                    std::uint32_t bytes, std::uint32_t align, Block*& block,
                    std::uint32_t& offset) {
  block = x.block;
  if (!of_another_block(x, space, address)) {
    return shared_offset(x, c, space, access, lane, address, bytes, align, offset);
  }
  const u64 rank = (address & 0xffff'ffff) >> ptx::rank_shift;
  block = reach(x, lane, static_cast<std::uint32_t>(rank));
  if (!block) return false;
  offset = static_cast<std::uint32_t>(address & ((1u << ptx::rank_shift) - 1)) -
           x.machine->program().shared_start;
  const u64 size = block->shared.size();
  if (offset < size && size - offset >= bytes && offset % align == 0) return true;
  x.reports->fault(
      x, lane, offset % align ? "misaligned" : "out_of_bounds",
      fmt::format(
          "{} at 0x{:x}, byte {} of the shared memory of CTA {} of the cluster, which has {} bytes",
          opcode_text(x.machine->program().code[x.pc].text), address, offset, rank, size),
      fmt::format("{} bytes at a multiple of {}", bytes, align), fmt::format("byte {}", offset));
  return false;
}

void mark_loaded(Core& x, const Code& c, Mask m, const Region& region, const u64* offsets) {
  const ptx::Program& program = x.machine->program();
  const ptx::Instruction& i = program.code[x.pc];
  const ptx::Operand& vector = program.operands_of(i)[0];
  const int element = c.width;
  for (std::uint32_t e = 0; e < c.count; ++e) {
    const Reference d = x.elements[c.target + e];
    if (d == nothing) continue;
    const ptx::Type type = program.registers[program.elements[vector.index + e].index].type;
    const int width = std::max(2, ptx::bytes_of(type));
    std::uint8_t* hidden = shadow(x, d);
    for (Mask rest = m; rest; rest &= rest - 1) {
      const int l = __builtin_ctz(rest);
      std::uint8_t last = 0;
      for (int k = 0; k < element; ++k) {
        const u64 at = offsets[l] + e * static_cast<u64>(element) + static_cast<u64>(k);
        last = region.undefined_bits_at(at);
        hidden[l * width + k] = last;
        if (!last || is_of_memory(x.warp->origin)) continue;
        x.warp->origin = {true, x.pc, static_cast<std::uint32_t>(l), at, region.kind(), 0};
        if (region.kind() == Region::Kind::buffer || region.kind() == Region::Kind::variable) {
          x.warp->origin.region = static_cast<std::uint32_t>(&region - x.regions);
        }
        if (region.kind() == Region::Kind::local && x.local_bytes) {
          x.warp->origin.offset = at % x.local_bytes;
        }
      }
      const bool extends = ptx::class_of(i.modifiers.type()) == ptx::Class::signed_integer;
      const bool sign = extends && last & 0x80;
      for (int k = element; k < width; ++k) hidden[l * width + k] = sign ? 0xff : 0;
    }
    recount(x, d, width);
  }
}

const std::uint8_t* undefined_for_store(Core& x, const Code& c, Mask m, std::uint8_t* room) {
  const ptx::Program& program = x.machine->program();
  const ptx::Operand& vector = program.operands_of(program.code[x.pc])[1];
  const std::size_t element = c.width;
  std::memset(room, 0, 32 * 32);
  bool any = false;
  for (std::uint32_t e = 0; e < c.count; ++e) {
    const ptx::Operand& part = program.elements[vector.index + e];
    for (Mask rest = m & x.unsure; rest; rest &= rest - 1) {
      const auto l = static_cast<std::size_t>(__builtin_ctz(rest));
      std::memset(room + (l * c.count + e) * element, 0xff, element);
      any = true;
    }
    if (part.kind != ptx::Operand::Kind::reg) continue;
    const int width = std::max(2, ptx::bytes_of(program.registers[part.index].type));
    const Reference r = x.elements[c.target + e];
    if (!has_undefined(x, r, width)) continue;
    const std::uint8_t* hidden = shadow(x, r);
    for (Mask rest = m & ~x.unsure; rest; rest &= rest - 1) {
      const auto l = static_cast<std::size_t>(__builtin_ctz(rest));
      for (std::size_t k = 0; k < element; ++k) {
        const std::uint8_t v = hidden[l * static_cast<std::size_t>(width) + k];
        room[(l * c.count + e) * element + k] = v;
        any = any || v;
      }
    }
  }
  if (any) x.reports->note_undefined_store(x);
  return any ? room : nullptr;
}

namespace {

// The block whose shared memory this is: the current one, or another one of the cluster.
Block& owner_of(Core& x, const Region& shared) {
  for (std::uint32_t rank = 0; rank < x.machine->cluster_size; ++rank) {
    Block* block = x.machine->member(*x.block, rank);
    if (&block->shared == &shared) return *block;
  }
  return *x.block;
}

// A place of shared memory among those of global memory: above all addresses.
u64 key_of(const Block& owner, u64 offset) {
  return u64{1} << 63 | owner.number << 32 | offset;
}

// What an access that synchronises tells others, and is told, at `flag` (8.8, "Release and acquire
// patterns"). A write ends what was told there before it; an atomic passes on what reaches it.
void meet_at(Observer& me, Token& flag, u64 place, Shadow::Kind kind, const ptx::Instruction& i,
             Scope scope, Deed by, bool unread) {
  constexpr std::uint8_t acquire = 3, release = 4, acq_rel = 5;  // words of Field::order
  const std::uint8_t order = i.modifiers[ptx::Field::order];
  const bool atomic = kind == Shadow::Kind::atomic;
  // red reads nothing that its thread could act on, and ptxas makes one of an atom whose answer
  // nobody reads.
  if (kind == Shadow::Kind::read || (atomic && !unread)) {
    if (order == acquire || order == acq_rel) {
      me.acquire(flag, scope, by, place);
      me.presume_met();  // one of them may have released what another one acquires
    } else {
      me.acquire_relaxed(flag, scope, by, place);
    }
  }
  if (kind == Shadow::Kind::read) return;
  if (atomic) {
    flag.keep_what_reaches(me.home(), scope);
  } else {
    flag.clear();
  }
  if (order == release || order == acq_rel) {
    me.release_at(flag, scope, by);
  } else {
    me.release_relaxed(flag, scope, by);
  }
}

}  // namespace

namespace {

// Of operations whose order at one place means nothing to anybody a number that those have in
// common which commute: sums and extremes of integers, that answer nothing. 0: it means something.
std::uint32_t alike(const ptx::Instruction& i) {
  const ptx::Class of = ptx::class_of(i.modifiers.type());
  const bool whole = of == ptx::Class::signed_integer || of == ptx::Class::unsigned_integer ||
                     of == ptx::Class::bits;
  if (i.op != ptx::Op::red || !whole) return 0;
  switch (i.modifiers.operation()) {
    case ptx::Operation::add:
    case ptx::Operation::min:
    case ptx::Operation::max:
    case ptx::Operation::and_:
    case ptx::Operation::or_:
    case ptx::Operation::xor_:
      return static_cast<std::uint32_t>(i.modifiers.operation()) << 8 |
             static_cast<std::uint32_t>(i.modifiers.type());
    default:
      return 0;
  }
}

// Who accessed the place before, and could have come later by what PTX promises: that a relaxed
// signal came in between is none. `writes` or reads alone: what reads last stands for what its warp
// read before.
void log_flag(Core& x, u64 place, Shadow::Kind kind, const ptx::Instruction& i,
              std::uint32_t lane) {
  const Observer& me = observer(x);
  FlagAccess now{me.me(),
                 me.epoch(),
                 kind != Shadow::Kind::read,
                 alike(i),
                 x.machine->step_of(*x.block, x.warp->index, x.pc),
                 lane,
                 me.turn()};
  std::vector<FlagAccess>& all = x.machine->flag_accesses[place];
  for (const FlagAccess& a : all) {
    if (!a.writes && !now.writes) continue;
    if (a.adds && a.adds == now.adds) continue;
    if (a.agent == me.me() && !me.is_behind(lane, a.lane, a.turn, a.epoch)) {
      x.machine->order_log->blind("lanes of one warp come to one place of memory in any order");
    }
    if (me.has_seen(a.agent, a.epoch)) continue;
    x.machine->order_log->may_change(Reversal::Kind::memory, a.step, now.step);
  }
  const auto same = [&](const FlagAccess& a) {
    return a.agent == now.agent && (now.writes ? !now.adds || a.adds == now.adds : !a.writes);
  };
  all.erase(std::remove_if(all.begin(), all.end(), same), all.end());
  all.push_back(now);
  if (now.writes) x.machine->order_log->step(x.block->number, x.warp->index, place * 16 + 4);
}

// ---- loops that wait for a flag ----

u64 bytes_at(const std::byte* data, std::uint32_t bytes) {
  u64 out = 0;
  std::memcpy(&out, data, std::min<std::size_t>(bytes, sizeof out));
  return out;
}

// What a register of a lane holds.
std::optional<u64> held_by(const Core& x, int lane, std::uint32_t reg) {
  const ptx::Register& r = x.machine->program().registers[reg];
  if (r.place == ptx::no_register) return std::nullopt;
  if (ptx::class_of(r.type) == ptx::Class::predicate) return x.predicates[r.place] >> lane & 1;
  const auto width = static_cast<std::uint32_t>(std::max(2, ptx::bytes_of(r.type)));
  return bytes_at(x.bank[0] + r.place + static_cast<std::uint32_t>(lane) * width, width);
}

// What is written at a flag, where the program has loops that wait for one.
void log_write(Core& x, u64 address, std::uint32_t bytes, const Region& region, u64 offset,
               const std::byte* value) {
  OrderLog& log = *x.machine->order_log;
  if (log.may_wait.empty()) return;
  const Observer& me = observer(x);
  FlagWrite now{me.me(), me.home(), me.epoch(), address, bytes, value != nullptr, 0, 0};
  if (value) now.value = bytes_at(value, bytes);
  now.before = bytes_at(region.data() + offset, bytes);
  for (u64 at = 0; at < bytes; at += 4) log.flag_writes[address / 4 + at / 4].push_back(now);
}

// The CTAs of a cluster run together. Of others nobody promises that who is waited for ever begins.
bool run_together(Home a, Home b) {
  return includes(Scope::cluster, a, b);
}

// Is the last write at the place the only one that ends the loop, in whatever order it is asked?
// What could be read besides is what was written since the thread was last sure of a value, when it
// began to ask: and what was there before each of these.
bool ends_alone(const Core& x, const std::vector<FlagWrite>& writes, const VectorClock& began,
                u64 found, SpinLoop& loop) {
  const Observer& me = x.block->order.of(x.warp->index);
  const FlagWrite& last = writes.back();
  const auto is_sure = [&](const FlagWrite& w) {
    return w.agent == me.me() || began.of(w.agent) >= w.epoch;
  };
  if (!last.stores || last.value != found || is_sure(last)) return false;
  if (!run_together(last.home, me.home())) return false;
  for (std::size_t k = writes.size(); k-- > 0;) {
    const FlagWrite& w = writes[k];
    if (!w.stores || w.place != last.place || w.bytes != last.bytes) return false;
    if (k + 1 < writes.size() && !loop.goes_round(w.value, found)) return false;
    if (is_sure(w)) return true;
    if (!loop.goes_round(w.before, found)) return false;
  }
  return true;
}

// A read of a flag by a lane. `again`: it goes on asking, and that it asked means nothing; `found`:
// it does not, as it has found what alone ends its loop.
enum class Asked : std::uint8_t { other, again, found };

Asked ask(Core& x, int lane, u64 address, std::uint32_t bytes, const Region& region, u64 offset) {
  OrderLog& log = *x.machine->order_log;
  if (log.may_wait.empty() || !log.may_wait[x.pc]) return Asked::other;
  const Observer& me = observer(x);
  const std::array<u64, 3> who{x.block->number,
                               x.warp->index * 32 + static_cast<std::uint32_t>(lane), x.pc};
  const u64 value = bytes_at(region.data() + offset, bytes);
  SpinLoop loop(x.machine->program(), x.pc,
                [&](std::uint32_t reg) { return held_by(x, lane, reg); });
  // Of whoever leaves the loop no more is asked here than that it does not come back.
  if (loop.goes_round(value, ~value)) {
    log.vain.try_emplace(who, OrderLog::Vain{address, me.sure().seen});
    return Asked::again;
  }
  VectorClock began = me.sure().seen;
  if (const auto vain = log.vain.find(who); vain != log.vain.end()) {
    if (vain->second.place == address) began = std::move(vain->second.seen);
    log.vain.erase(vain);
  }
  for (u64 at = 0; at < bytes; at += 4) {
    const auto writes = log.flag_writes.find(address / 4 + at / 4);
    if (writes == log.flag_writes.end() || writes->second.empty() ||
        writes->second.back().place != address || writes->second.back().bytes != bytes ||
        !ends_alone(x, writes->second, began, value, loop)) {
      return Asked::other;
    }
  }
  return Asked::found;
}

}  // namespace

Observer& observer(Core& x) {
  return x.block->order.of(x.warp->index);
}

Deed deed(const Core& x, int lane) {
  return {static_cast<std::uint32_t>(x.block->number),
          x.warp->index * 32 + static_cast<std::uint32_t>(lane), x.pc};
}

Deed deed(const Core& x, int lane, Mask lanes) {
  Deed out = deed(x, lane);
  if (x.warp->live & ~lanes) out.lanes = lanes;
  return out;
}

Scope scope_of(const ptx::Modifiers& how, Scope otherwise) {
  return how.has(ptx::Field::scope) ? static_cast<Scope>(how[ptx::Field::scope] - 1) : otherwise;
}

namespace {

std::uint8_t element_of(ptx::Type type) {
  const bool packed = type == ptx::Type::f16x2 || type == ptx::Type::bf16x2;
  return static_cast<std::uint8_t>(packed ? 2 : ptx::bytes_of(type));
}

}  // namespace

void watch_access(Core& x, const Code& c, Shadow::Kind kind, Region& region, Mask m,
                  const u64* offsets, std::uint32_t bytes, bool run, const std::byte* values,
                  bool by_lane) {
  const bool shared = region.kind() == Region::Kind::shared;
  Block& owner = shared ? owner_of(x, region) : *x.block;
  MemoryAccess access{kind,    c.synchronises, x.warp->index, x.pc,    m,
                      offsets, bytes,          run,           by_lane, values};
  if (c.synchronises) {
    constexpr std::uint8_t is_volatile = 1;  // word of Field::order
    const ptx::Instruction& i = x.machine->program().code[x.pc];
    // volatile is relaxed.sys (8.4.2), and atom and red are .gpu without a scope (9.7.13.5).
    access.scope = i.modifiers[ptx::Field::order] == is_volatile
                       ? Scope::sys
                       : scope_of(i.modifiers, Scope::gpu);
    access.element = element_of(i.modifiers.type());
    const u64 base = shared ? ptx::shared_base : region.base();
    x.block->tensor.arrive(x.warp->index);
    u64 before = ~u64{0};
    for (Mask rest = m; rest; rest &= rest - 1) {
      const int lane = __builtin_ctz(rest);
      const u64 address = base + offsets[lane];
      // What lanes tell together at one place one of them tells.
      if (address == std::exchange(before, address) && !x.machine->order_log) continue;
      const u64 place = shared ? key_of(owner, offsets[lane]) : address;
      Asked asked = Asked::other;
      const auto log = [&] {
        for (u64 at = 0; at < bytes; at += 4) {
          log_flag(x, place / 4 + at / 4, kind, i, static_cast<std::uint32_t>(lane));
        }
      };
      if (x.machine->order_log) {
        const bool reads = kind == Shadow::Kind::read;
        if (reads) asked = ask(x, lane, place, bytes, region, offsets[lane]);
        if (asked == Asked::other) log();
        if (!reads) {
          const bool one = kind == Shadow::Kind::write && values && c.count == 1;
          log_write(x, place, bytes, region, offsets[lane],
                    one ? values + static_cast<u64>(lane) * bytes : nullptr);
        }
      }
      Token& flag = shared ? owner.order.flags[offsets[lane]] : x.machine->flags[address];
      const Deed by = deed(x, lane, access.mask);
      if (kind != Shadow::Kind::read && by.lanes != ~0u) x.machine->lanes_tell = true;
      meet_at(observer(x), flag, place, kind, i, access.scope, by, x.machine->unread_atomics[x.pc]);
      if (asked == Asked::found) log();  // now it has seen who wrote that
    }
  }
  if (!shared) {
    if (region.is_busy()) x.machine->global_watch.watch_global(x, access, region);
    if (region.watched) watch_region(x, region, access);
    return;
  }
  watch_in(x, owner, access);
}

// One instruction is one tick of the clock; a tick is one nanosecond of the timer.
std::uint64_t dynamic_special(Core& x, ptx::Special special) {
  const u64 now = x.machine->clock_of(x, special);
  switch (special) {
    case ptx::Special::clock_hi:
    case ptx::Special::globaltimer_hi:
      return now >> 32;
    default:
      return now;
  }
}

}  // namespace tilescope::sim
