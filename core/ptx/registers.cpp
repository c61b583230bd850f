// Where registers live. Two registers share a place when their lives do not touch; a life is the
// span, in the order of block ranks, from the first to the last position where the register is
// written, read, or live across a block. That is linear scan (Poletto and Sarkar 1999) with spans
// instead of exact lives: a little larger, and sound for lanes that went different ways, since
// each lane has its own storage in every place.
//
// Registers of different functions never share a place: those of a caller keep their values while
// the callee runs. (One that is called again before it returns saves its own:
// core/sim/machine/calls.cpp.)
#include <algorithm>
#include <queue>
#include <unordered_map>

#include "core/ptx/flights.h"
#include "core/ptx/lives.h"
#include "core/ptx/program.h"

namespace tilescope::ptx {
namespace {

struct Reference {
  std::uint32_t reg;
  std::uint32_t pc;
  bool write;
  bool kills;  // a write that happens whenever the instruction is reached
};

struct Span {
  std::uint32_t reg = 0;
  std::uint32_t begin = ~0u, end = 0;
  void cover(std::uint32_t at) {
    begin = std::min(begin, at);
    end = std::max(end, at);
  }
};

bool is_register(const Operand& o) {
  if (o.index == no_register) return false;
  return o.kind == Operand::Kind::reg || o.kind == Operand::Kind::predicate ||
         o.kind == Operand::Kind::address;
}

class Lives {
 public:
  explicit Lives(const Program& program) : program_(program) {
    order();
    collect();
  }

  std::vector<Span> spans() {
    std::vector<Span> out;
    std::size_t i = 0;
    while (i < references_.size()) {
      std::size_t end = i;
      while (end < references_.size() && references_[end].reg == references_[i].reg) ++end;
      out.push_back(is_special(references_[i].reg) ? whole(references_[i].reg) : life(i, end));
      i = end;
    }
    extend_over_flights(out);
    return out;
  }

  // Registers that are read before they are written, each in the routine of this number.
  const std::vector<std::pair<std::size_t, std::uint32_t>>& undefined_at_start() const {
    return undefined_at_start_;
  }

  std::uint32_t position(std::uint32_t pc) const {
    const std::uint32_t b = block_of_[pc];
    return start_[b] + (pc - program_.blocks[b].first);
  }

 private:
  // Positions: instructions numbered in the order of their blocks' ranks.
  void order() {
    const auto& blocks = program_.blocks;
    by_rank_.resize(blocks.size());
    for (std::uint32_t b = 0; b < blocks.size(); ++b) by_rank_[blocks[b].rank] = b;
    start_.resize(blocks.size());
    block_of_.resize(program_.code.size());
    predecessors_.resize(blocks.size());
    std::uint32_t at = 0;
    for (std::uint32_t b : by_rank_) {
      start_[b] = at;
      at += blocks[b].end - blocks[b].first;
      for (std::uint32_t pc = blocks[b].first; pc < blocks[b].end; ++pc) block_of_[pc] = b;
      for (std::uint32_t to : blocks[b].next) predecessors_[to].push_back(b);
    }
    defined_.assign(blocks.size(), no_register);
    live_in_.assign(blocks.size(), no_register);
  }

  void refer(const Operand& o, std::uint32_t pc, bool guarded) {
    if (o.kind == Operand::Kind::vector) {
      for (std::uint32_t e = 0; e < o.count; ++e)
        refer(program_.elements[o.index + e], pc, guarded);
    } else if (is_register(o)) {
      references_.push_back({o.index, pc, o.written, o.written && !guarded});
    }
  }

  // The accumulator of a wgmma is read too.
  void refer_as_read(const Operand& vector, std::uint32_t pc) {
    for (std::uint32_t e = 0; e < vector.count; ++e) {
      references_.push_back({program_.elements[vector.index + e].index, pc, false, false});
    }
  }

  // Registers of a wgmma are in use until it is waited for.
  void extend_over_flights(std::vector<Span>& spans) {
    std::unordered_map<std::uint32_t, Span*> of_register;
    for (Span& span : spans) of_register[span.reg] = &span;
    for (std::uint32_t pc = 0; pc < program_.code.size(); ++pc) {
      if (!is_group_product(program_.code[pc])) continue;
      Span reach;
      for (const Stretch& stretch : flight_of(program_, block_of_, pc)) {
        reach.cover(position(stretch.from));
        reach.cover(position(stretch.to));
      }
      each_in_flight(program_, program_.code[pc], [&](std::uint32_t reg, std::uint32_t) {
        const auto span = of_register.find(reg);
        if (span == of_register.end()) return;
        span->second->cover(reach.begin);
        span->second->cover(reach.end);
      });
    }
  }

  void collect() {
    for (std::uint32_t pc = 0; pc < program_.code.size(); ++pc) {
      const Instruction& i = program_.code[pc];
      if (i.guarded) references_.push_back({i.guard, pc, false, false});
      for (std::uint32_t o = 0; o < i.count; ++o) {
        refer(program_.operands_of(i)[o], pc, i.guarded);
      }
      if (is_group_product(i) && adds_to_registers(program_, i)) {
        refer_as_read(program_.operands_of(i)[0], pc);
      }
    }
    // By register, then position; what an instruction reads comes before what it writes.
    std::stable_sort(references_.begin(), references_.end(),
                     [](const Reference& a, const Reference& b) {
                       if (a.reg != b.reg) return a.reg < b.reg;
                       if (a.pc != b.pc) return a.pc < b.pc;
                       return a.write < b.write;
                     });
  }

  bool is_special(std::uint32_t reg) const {
    for (const auto& [special, place] : program_.specials) {
      if (place == reg) return true;
    }
    return false;
  }
  // A special register is filled before the first instruction, and never written again.
  Span whole(std::uint32_t reg) const {
    return {reg, 0, static_cast<std::uint32_t>(program_.code.size())};
  }

  // The life of the register that references [i, end) are about.
  Span life(std::size_t i, std::size_t end) {
    Span span;
    span.reg = references_[i].reg;
    std::vector<std::uint32_t> exposed;  // blocks that read it before they write it
    std::uint32_t block = no_register;
    bool killed = false;
    for (; i < end; ++i) {
      const Reference& r = references_[i];
      span.cover(position(r.pc));
      if (block_of_[r.pc] != block) {
        block = block_of_[r.pc];
        killed = false;
      }
      if (!r.write && !killed) exposed.push_back(block);
      if (r.kills) {
        killed = true;
        defined_[block] = span.reg;
      }
    }
    while (!exposed.empty()) {
      const std::uint32_t b = exposed.back();
      exposed.pop_back();
      if (live_in_[b] == span.reg) continue;
      live_in_[b] = span.reg;
      span.cover(start_[b]);
      const Routine* r = entered_at(b);
      // The call says where the frame begins.
      if (r && span.reg != r->frame) {
        undefined_at_start_.emplace_back(r - program_.routines.data(), span.reg);
      }
      for (std::uint32_t p : predecessors_[b]) {
        span.cover(start_[p] + (program_.blocks[p].end - program_.blocks[p].first) - 1);
        if (defined_[p] != span.reg) exposed.push_back(p);
      }
    }
    return span;
  }

  // The routine that begins with this block. What CUDA provides has no instructions, and begins
  // where the next does.
  const Routine* entered_at(std::uint32_t block) const {
    const std::uint32_t first = program_.blocks[block].first;
    const auto next =
        std::upper_bound(program_.routines.begin(), program_.routines.end(), first,
                         [](std::uint32_t pc, const Routine& r) { return pc < r.first; });
    const Routine* r = &*std::prev(next);
    return r->first == first ? r : nullptr;
  }

  const Program& program_;
  std::vector<std::pair<std::size_t, std::uint32_t>> undefined_at_start_;
  std::vector<Reference> references_;
  std::vector<std::uint32_t> by_rank_, start_, block_of_;
  std::vector<std::vector<std::uint32_t>> predecessors_;
  std::vector<std::uint32_t> defined_, live_in_;  // of a block: the last register that was so
};

// One pool for each width, so that places never overlap by half.
enum Pool { pool_128, pool_64, pool_32, pool_16, pool_predicate, pool_count };

Pool pool_of(Type type) {
  switch (bits_of(type)) {
    case 1:
      return pool_predicate;
    case 32:
      return pool_32;
    case 64:
      return pool_64;
    case 128:
      return pool_128;
    default:
      return pool_16;
  }
}

}  // namespace

std::vector<Life> lives_of(const Program& program) {
  std::vector<Life> out(program.registers.size());
  for (const Span& s : Lives(program).spans()) out[s.reg] = {s.begin, s.end};
  return out;
}

std::vector<std::uint32_t> positions_of(const Program& program) {
  const Lives lives(program);
  std::vector<std::uint32_t> out;
  for (std::uint32_t pc = 0; pc < program.code.size(); ++pc) out.push_back(lives.position(pc));
  return out;
}

namespace {

// The lives of registers that are one become one life, of the first.
std::vector<Span> unite(const Program& program, std::vector<Span> spans) {
  std::unordered_map<std::uint32_t, std::size_t> known;
  std::vector<Span> out;
  for (Span span : spans) {
    const std::uint32_t same = program.registers[span.reg].same;
    if (same == no_register) {
      out.push_back(span);
      continue;
    }
    span.reg = same;
    const auto [at, fresh] = known.try_emplace(same, out.size());
    if (fresh) {
      out.push_back(span);
    } else {
      out[at->second].cover(span.begin);
      out[at->second].cover(span.end);
    }
  }
  return out;
}

}  // namespace

void place_registers(Program& program) {
  Lives lives(program);
  std::vector<Span> spans = unite(program, lives.spans());
  for (const auto& [routine, reg] : lives.undefined_at_start()) {
    program.routines[routine].undefined_at_start.push_back(reg);
  }
  const auto owner = [&](std::uint32_t reg) {  // the function that declares it; specials: none
    const auto next = std::upper_bound(
        program.routines.begin(), program.routines.end(), reg,
        [](std::uint32_t r, const Routine& routine) { return r < routine.end_register; });
    return next - program.routines.begin();
  };
  std::sort(spans.begin(), spans.end(), [&](const Span& a, const Span& b) {
    if (owner(a.reg) != owner(b.reg)) return owner(a.reg) < owner(b.reg);
    return a.begin != b.begin ? a.begin < b.begin : a.reg < b.reg;
  });
  std::vector<std::uint32_t> free[pool_count];
  std::uint32_t used[pool_count] = {};
  auto current = owner(0);
  using Ending = std::pair<std::uint32_t, std::uint32_t>;  // end, register
  std::priority_queue<Ending, std::vector<Ending>, std::greater<Ending>> alive;
  for (const Span& span : spans) {
    if (owner(span.reg) != current) {
      current = owner(span.reg);
      alive = {};
      for (auto& places : free) places.clear();
    }
    while (!alive.empty() && alive.top().first < span.begin) {
      const Register& gone = program.registers[alive.top().second];
      free[pool_of(gone.type)].push_back(gone.place);
      alive.pop();
    }
    Register& reg = program.registers[span.reg];
    const Pool pool = pool_of(reg.type);
    if (free[pool].empty()) {
      reg.place = used[pool]++;
    } else {
      reg.place = free[pool].back();
      free[pool].pop_back();
    }
    alive.push({span.end, span.reg});
  }
  constexpr std::uint32_t width[] = {16 * lanes, 8 * lanes, 4 * lanes, 2 * lanes};
  std::uint32_t base[pool_count] = {};
  std::uint32_t at = 0;
  for (int pool = pool_128; pool < pool_predicate; ++pool) {
    base[pool] = at;
    at += used[pool] * width[pool];
  }
  program.register_bytes = at;
  program.predicate_count = 1 + used[pool_predicate];
  for (Register& reg : program.registers) {
    if (reg.place == no_register) continue;
    const Pool pool = pool_of(reg.type);
    reg.place = pool == pool_predicate ? 1 + reg.place : base[pool] + reg.place * width[pool];
  }
  for (Register& reg : program.registers) {
    if (reg.same != no_register) reg.place = program.registers[reg.same].place;
  }
}

}  // namespace tilescope::ptx
