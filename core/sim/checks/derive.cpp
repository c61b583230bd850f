#include "core/sim/checks/derive.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <tuple>

#include "core/ptx/lives.h"

namespace tilescope::sim {
namespace {

using ptx::Op;
using ptx::Operand;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr int deepest = 48;            // registers that one is computed from, one behind the other
constexpr std::size_t most_code = 96;  // instructions

// Does it do nothing but write registers by what others hold?
bool is_pure(const ptx::Program& program, const ptx::Instruction& i) {
  for (u32 k = 0; k < i.count; ++k) {
    const Operand& o = program.operands_of(i)[k];
    if (o.kind == Operand::Kind::special || o.kind == Operand::Kind::frame) return false;
  }
  switch (i.op) {
    case Op::mapa:
    case Op::elect:
      return true;
    case Op::shfl:
      return i.modifiers.operation() == ptx::Operation::idx;
    case Op::ld:
      return i.modifiers.space() == ptx::Space::param;
    default:
      return i.unit == ptx::Unit::integer || i.unit == ptx::Unit::floating ||
             i.unit == ptx::Unit::convert || i.unit == ptx::Unit::move;
  }
}

bool is_special(const ptx::Program& program, u32 reg) {
  return std::any_of(program.specials.begin(), program.specials.end(),
                     [&](const auto& s) { return s.second == reg; });
}

template <class F>
void each_register(const ptx::Program& program, const Operand& o, F f) {
  if (o.kind == Operand::Kind::vector) {
    for (u32 e = 0; e < o.count; ++e) each_register(program, program.elements[o.index + e], f);
    return;
  }
  const bool one = o.kind == Operand::Kind::reg || o.kind == Operand::Kind::predicate ||
                   o.kind == Operand::Kind::address;
  if (one && o.index != ptx::no_register) f(o.index, o.written && o.kind != Operand::Kind::address);
}

template <class F>
void each_register(const ptx::Program& program, const ptx::Instruction& i, F f) {
  for (u32 k = 0; k < i.count; ++k) each_register(program, program.operands_of(i)[k], f);
}

bool is_predicate(const ptx::Program& program, u32 reg) {
  return program.registers[reg].type == ptx::Type::pred;
}

// "2"; "0 to 31" where lanes have different ones.
std::string values_text(const Derivation::Values& v, Mask lanes) {
  u64 least = ~u64{0}, most = 0;
  for (Mask rest = lanes; rest; rest &= rest - 1) {
    least = std::min(least, v[static_cast<std::size_t>(__builtin_ctz(rest))]);
    most = std::max(most, v[static_cast<std::size_t>(__builtin_ctz(rest))]);
  }
  return least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most);
}

}  // namespace

Derivation::Derivation(Model& machine) : machine_(machine) {
  const ptx::Program& program = machine.program();
  writers_.resize(program.registers.size());
  for (u32 pc = 0; pc < program.code.size(); ++pc) {
    each_register(program, program.code[pc], [&](u32 reg, bool written) {
      if (written) writers_[reg].push_back(pc);
    });
  }
  positions_ = ptx::positions_of(program);
}

// The instruction whose value the register has at `at`; none: more than one could be.
u32 Derivation::writer(u32 reg, u32 at) const {
  const std::vector<u32>& all = writers_[reg];
  const ptx::Program& program = machine_.program();
  for (auto w = all.rbegin(); w != all.rend(); ++w) {
    if (*w >= at) continue;
    // Nothing between that ends a straight run, nothing that is come to from elsewhere.
    const auto block = std::upper_bound(program.blocks.begin(), program.blocks.end(), at,
                                        [](u32 pc, const ptx::Block& b) { return pc < b.first; }) -
                       1;
    if (*w >= block->first && !program.code[*w].guarded) return *w;
    break;
  }
  return all.size() == 1 ? all.front() : none;
}

bool Derivation::add(u32 pc, std::vector<u32>& code, int depth) {
  const ptx::Program& program = machine_.program();
  if (pc == none || depth > deepest || code.size() > most_code) return false;
  if (std::find(code.begin(), code.end(), pc) != code.end()) return true;
  const ptx::Instruction& i = program.code[pc];
  const Bound& bound = machine_.image->bound[0];
  if (i.guarded || !is_pure(program, i) || bound.touch_of.count(pc) || bound.loaded.count(pc)) {
    return false;
  }
  const ptx::Routine& entry = program.routines[0];
  bool all = true;
  each_register(program, i, [&](u32 reg, bool written) {
    if (written || is_special(program, reg)) return;
    const bool own = reg >= entry.first_register && reg < entry.end_register;
    all = all && own && add(writer(reg, pc), code, depth + 1);
  });
  code.push_back(pc);
  return all;
}

const Derivation::Slice& Derivation::slice(u32 writer) {
  const auto [at, fresh] = slices_.try_emplace(writer);
  Slice& out = at->second;
  if (!fresh) return out;
  out.pure = add(writer, out.code, 0);
  std::sort(out.code.begin(), out.code.end(),
            [&](u32 a, u32 b) { return positions_[a] < positions_[b]; });
  return out;
}

Core Derivation::scratch_of(Block& block, Warp& warp) {
  Core x = machine_.core_of(block, warp);
  if (of_ != &warp) {
    of_ = &warp;
    registers_.assign(x.bank[0], x.bank[0] + machine_.register_stride());
    predicates_.assign(x.predicates, x.predicates + machine_.program().predicate_count);
  }
  x.bank[0] = registers_.data();
  x.predicates = predicates_.data();
  return x;
}

// Shuffles and votes by hand: their own handlers wait for lanes that may be gone.
bool Derivation::execute(Core& x, u32 pc) {
  const Code& c = x.code[pc];
  x.pc = pc;
  const auto lanes_of = [&](Reference r) {
    return reinterpret_cast<u32*>(x.bank[r >> 31] + (r & ~constant_bit));
  };
  const Op op = machine_.program().code[pc].op;
  if (op == Op::elect) {
    const u32 threads = static_cast<u32>(machine_.launch.block.count()) - x.warp->index * 32;
    const Mask there = threads >= 32 ? ~Mask{0} : (Mask{1} << threads) - 1;
    const Mask members = lanes_of(c.e)[0] & there;
    if (!members) return false;
    const int leader = __builtin_ctz(members);
    if (c.d != nothing) std::fill_n(lanes_of(c.d), 32, static_cast<u32>(leader));
    if (c.p) x.predicates[c.p] = Mask{1} << leader;
    return true;
  }
  if (op == Op::shfl) {
    std::array<u32, 32> out{};
    for (std::size_t l = 0; l < 32; ++l) {
      if ((lanes_of(c.c)[l] & 0x1f1f) != 0x1f) return false;
      out[l] = lanes_of(c.a)[lanes_of(c.b)[l] & 31];
    }
    std::copy(out.begin(), out.end(), lanes_of(c.d));
    if (c.p) x.predicates[c.p] = ~Mask{0};
    return true;
  }
  return c.run && c.run(x, c, ~Mask{0}) == Flow::next;
}

bool Derivation::run(Block& block, Warp& warp, const Slice& slice) {
  if (!slice.pure) return false;
  Core x = scratch_of(block, warp);
  return std::all_of(slice.code.begin(), slice.code.end(), [&](u32 pc) { return execute(x, pc); });
}

u64 Derivation::lane_value(u32 reg, int lane) const {
  const ptx::Register& r = machine_.program().registers[reg];
  const std::size_t bytes = ptx::bytes_of(r.type);
  u64 out = 0;
  std::memcpy(&out, registers_.data() + r.place + static_cast<std::size_t>(lane) * bytes,
              std::min<std::size_t>(bytes, 8));
  return out;
}

std::optional<Derivation::Values> Derivation::read(Block& block, Warp& warp, u32 reg, u32 at) {
  const ptx::Register& r = machine_.program().registers[reg];
  if (r.place == ptx::no_register || is_predicate(machine_.program(), reg)) return {};
  if (is_special(machine_.program(), reg)) {
    scratch_of(block, warp);
  } else if (!run(block, warp, slice(writer(reg, at)))) {
    return {};
  }
  Values out{};
  for (int l = 0; l < 32; ++l) out[static_cast<std::size_t>(l)] = lane_value(reg, l);
  return out;
}

std::optional<Derivation::Values> Derivation::value(Block& block, Warp& warp,
                                                    const Operand& operand, u32 at) {
  Values out{};
  if (operand.kind == Operand::Kind::constant ||
      (operand.kind == Operand::Kind::address && operand.index == ptx::no_register)) {
    out.fill(operand.value + (operand.in_shared ? scratch_of(block, warp).window : 0));
    return out;
  }
  if (operand.kind != Operand::Kind::reg && operand.kind != Operand::Kind::address) return {};
  const auto found = read(block, warp, operand.index, at);
  if (!found) return {};
  const u64 offset = operand.kind == Operand::Kind::address ? operand.value : 0;
  const bool narrow = ptx::bytes_of(machine_.program().registers[operand.index].type) == 4;
  for (std::size_t l = 0; l < 32; ++l) {
    out[l] = (*found)[l] + offset;
    if (narrow) out[l] = static_cast<u32>(out[l]);
  }
  return out;
}

std::optional<Mask> Derivation::predicate(Block& block, Warp& warp, u32 reg, u32 at) {
  const u32 by = writer(reg, at);
  const auto key = std::tuple(block.rank, warp.index, by, reg);
  if (by == none) return {};
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  std::optional<Mask> out;
  if (run(block, warp, slice(by))) {
    out = predicates_[machine_.program().registers[reg].place];
  }
  return known_[key] = out;
}

std::optional<Mask> Derivation::guard(Block& block, Warp& warp, u32 pc) {
  const ptx::Instruction& i = machine_.program().code[pc];
  if (!i.guarded) return ~Mask{0};
  const auto found = predicate(block, warp, i.guard, pc);
  if (!found) return {};
  return i.guard_negated ? ~*found : *found;
}

// " (%tid.x)" of a register that a special one is moved to.
std::string Derivation::source_of(u32 reg, u32 at) const {
  const ptx::Program& program = machine_.program();
  const u32 by = writer(reg, at);
  if (by == none) return "";
  const ptx::Instruction& i = program.code[by];
  if (i.op != Op::mov || i.count != 2) return "";
  const Operand& from = program.operands_of(i)[1];
  if (from.kind != Operand::Kind::reg || !is_special(program, from.index)) return "";
  return fmt::format(" ({})", program.name_of_register(from.index));
}

std::string Derivation::guard_text(Block& block, Warp& warp, u32 pc, Mask lanes) {
  const ptx::Program& program = machine_.program();
  const ptx::Instruction& i = program.code[pc];
  if (!i.guarded || !lanes) return "";
  const std::string name = program.name_of_register(i.guard);
  const auto holds = predicate(block, warp, i.guard, pc);
  if (!holds) return name;
  const Mask in = *holds & lanes;
  std::string out = fmt::format("{} is {}", name,
                                in == lanes ? "true"
                                : in == 0   ? "false"
                                            : "true in some of the lanes");
  const u32 by = writer(i.guard, pc);
  const ptx::Instruction& made = program.code[by];
  std::string text(made.text);
  std::replace(text.begin(), text.end(), '\t', ' ');
  while (!text.empty() && (text.back() == ';' || text.back() == ' ')) text.pop_back();
  for (std::size_t at; (at = text.find("  ")) != std::string::npos;) text.erase(at, 1);
  out += fmt::format(" ({}, PTX line {}", text, made.line);
  std::vector<u32> shown;
  std::string values;
  each_register(program, made, [&](u32 reg, bool written) {
    if (written || std::count(shown.begin(), shown.end(), reg)) return;
    shown.push_back(reg);
    if (is_predicate(program, reg)) {
      const auto mask = predicate(block, warp, reg, by);
      if (!mask || (*mask & lanes) != (*mask & lanes ? lanes : 0)) return;
      values += fmt::format("{}{} = {}", values.empty() ? "" : ", ", program.name_of_register(reg),
                            *mask & lanes ? "true" : "false");
    } else if (const auto v = read(block, warp, reg, by)) {
      values +=
          fmt::format("{}{}{} = {}", values.empty() ? "" : ", ", program.name_of_register(reg),
                      source_of(reg, by), values_text(*v, lanes));
    }
  });
  return out + (values.empty() ? ")" : ", with " + values + ")");
}

}  // namespace tilescope::sim
