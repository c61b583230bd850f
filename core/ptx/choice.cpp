#include "core/ptx/choice.h"

#include <algorithm>

namespace tilescope::ptx {
namespace {

using Mark = std::vector<char>;

std::uint32_t block_of(const Program& program, std::uint32_t pc) {
  const auto behind =
      std::upper_bound(program.blocks.begin(), program.blocks.end(), pc,
                       [](std::uint32_t at, const Block& b) { return at < b.first; });
  return static_cast<std::uint32_t>(behind - program.blocks.begin()) - 1;
}

// Does a way through the program end in this block?
bool can_end(const Program& program, const Block& block) {
  const Op last = program.code[block.end - 1].op;
  return last == Op::ret || last == Op::exit || last == Op::trap || last == Op::brkpt ||
         block.next.empty();
}

// The blocks that can be reached from those behind `from`, without going through `without`.
Mark reached(const Program& program, std::uint32_t from, std::uint32_t without, bool& ends) {
  Mark seen(program.blocks.size(), 0);
  std::vector<std::uint32_t> waiting{from};
  ends = false;
  while (!waiting.empty()) {
    const std::uint32_t at = waiting.back();
    waiting.pop_back();
    ends = ends || can_end(program, program.blocks[at]);
    for (const std::uint32_t to : program.blocks[at].next) {
      if (to == without || seen[to]) continue;
      seen[to] = 1;
      waiting.push_back(to);
    }
  }
  return seen;
}

// The block that every way from `from` to an end passes first; Choice::none: there is none. Of one
// way to an end, the first block without which there is no other.
std::uint32_t meeting_of(const Program& program, std::uint32_t from) {
  std::vector<std::uint32_t> came(program.blocks.size(), Choice::none), waiting{from};
  std::uint32_t end = Choice::none;
  for (std::size_t k = 0; k < waiting.size() && end == Choice::none; ++k) {
    const std::uint32_t at = waiting[k];
    if (can_end(program, program.blocks[at])) end = at;
    for (const std::uint32_t to : program.blocks[at].next) {
      if (to == from || came[to] != Choice::none) continue;
      came[to] = at;
      waiting.push_back(to);
    }
  }
  std::vector<std::uint32_t> way;  // from the end back
  for (std::uint32_t at = end; at != Choice::none && at != from; at = came[at]) way.push_back(at);
  for (auto at = way.rbegin(); at != way.rend(); ++at) {
    bool ends = false;
    reached(program, from, *at, ends);
    if (!ends) return *at;
  }
  return Choice::none;
}

enum class Does : std::uint8_t { registers, store, act };

Does what_it_does(const Instruction& i) {
  switch (i.unit) {
    case Unit::integer:
    case Unit::floating:
    case Unit::convert:
    case Unit::move:
      return Does::registers;
    case Unit::control:
      return i.op == Op::bra || i.op == Op::nanosleep || i.op == Op::pmevent ? Does::registers
                                                                             : Does::act;
    case Unit::memory:
      break;
    default:
      return Does::act;
  }
  switch (i.op) {
    case Op::ld:
    case Op::ldu:
    case Op::prefetch:
    case Op::prefetchu:
    case Op::createpolicy:
    case Op::isspacep:
    case Op::mapa:
    case Op::getctarank:
      return Does::registers;
    case Op::st: {
      // A strong store is one that other threads wait for or go by.
      const bool plain = !i.modifiers.has(Field::order) && !i.modifiers.has(Field::async) &&
                         !i.modifiers.has(Field::bulk);
      return plain ? Does::store : Does::act;
    }
    default:
      return Does::act;
  }
}

void add_written(const Program& program, const Operand& o, std::vector<std::uint32_t>& out) {
  if (o.kind == Operand::Kind::vector) {
    for (std::uint32_t e = 0; e < o.count; ++e) {
      add_written(program, program.elements[o.index + e], out);
    }
  } else if (o.written && o.index != no_register &&
             (o.kind == Operand::Kind::reg || o.kind == Operand::Kind::predicate)) {
    out.push_back(o.index);
  }
}

void add(const Program& program, std::uint32_t pc, Choice& out) {
  const Instruction& i = program.code[pc];
  const Does does = what_it_does(i);
  if (does == Does::act) out.acts = std::min(out.acts, pc);
  if (does == Does::store) out.stores = std::min(out.stores, pc);
  for (std::uint32_t k = 0; k < i.count; ++k) {
    add_written(program, program.operands_of(i)[k], out.written);
  }
}

}  // namespace

Choice choice_of(const Program& program, std::uint32_t pc) {
  Choice out;
  if (program.code[pc].op != Op::bra) {
    out.meets = pc + 1;
    add(program, pc, out);
    return out;
  }
  const std::uint32_t from = block_of(program, pc), meets = meeting_of(program, from);
  if (meets == Choice::none) return out;
  out.meets = program.blocks[meets].first;
  bool ends = false;
  const Mark between = reached(program, from, meets, ends);
  out.repeats = between[from];
  for (std::uint32_t b = 0; b < program.blocks.size(); ++b) {
    if (!between[b]) continue;
    for (std::uint32_t at = program.blocks[b].first; at < program.blocks[b].end; ++at) {
      add(program, at, out);
    }
  }
  std::sort(out.written.begin(), out.written.end());
  out.written.erase(std::unique(out.written.begin(), out.written.end()), out.written.end());
  return out;
}

}  // namespace tilescope::ptx
