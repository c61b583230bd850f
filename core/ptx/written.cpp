#include "core/ptx/written.h"

#include <algorithm>

#include "core/ptx/definitions.h"

namespace tilescope::ptx {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr u64 widest_index = u64{1} << 32;  // buffers and variables lie above

// Where what a register holds may come from. Numbers below widest_index are offsets of parameters,
// others addresses.
struct Origin {
  bool memory = false, any_parameter = false;
  std::vector<u64> from;     // ascending
  std::vector<u64> numbers;  // that it may be: offsets of parameters before cvta.param

  static bool add(std::vector<u64>& to, u64 one) {
    const auto at = std::lower_bound(to.begin(), to.end(), one);
    if (at != to.end() && *at == one) return false;
    to.insert(at, one);
    return true;
  }
  bool join(const Origin& other) {
    bool more = (other.memory && !memory) || (other.any_parameter && !any_parameter);
    memory = memory || other.memory;
    any_parameter = any_parameter || other.any_parameter;
    for (const u64 one : other.from) more = add(from, one) || more;
    for (const u64 one : other.numbers) more = add(numbers, one) || more;
    return more;
  }
};

bool is_in(u64 address, u64 window) {
  return address - window < window_bytes;
}

class Origins {
 public:
  explicit Origins(const Program& program) : p_(program), of_(program.registers.size()) {
    for (bool more = true; more;) {
      more = false;
      for (const Instruction& i : p_.code) more = follow(i) || more;
    }
  }

  Origin of_address(const Operand& o) const {
    if (o.index != no_register) return of_[o.index];
    Origin out;
    add_constant(out, o.value);
    return out;
  }

 private:
  int bits_of(u32 reg) const { return 8 * bytes_of(p_.registers[reg].type); }

  static void add_constant(Origin& out, u64 value) {
    if (value >= widest_index && !is_in(value, shared_base) && !is_in(value, local_base)) {
      Origin::add(out.from, value);
    }
  }

  static bool reads_memory(Op op) {
    switch (op) {
      case Op::ld:
      case Op::ldu:
      case Op::atom:
      case Op::tex:
      case Op::suld:
      case Op::ldmatrix:
      case Op::tcgen05:
      case Op::clusterlaunchcontrol:
        return true;
      default:
        return false;
    }
  }

  // What an instruction reads out of memory.
  Origin loaded(const Instruction& i) const {
    Origin out;
    const Operand* o = p_.operands_of(i);
    const auto address = std::find_if(
        o, o + i.count, [](const Operand& x) { return x.kind == Operand::Kind::address; });
    const bool own = i.op == Op::ld && address != o + i.count &&
                     i.modifiers.space() == Space::param && address->value < frame_parameters;
    if (own && address->index == no_register) {
      Origin::add(out.from, address->value);
      return out;
    }
    const Origin base = address == o + i.count ? Origin{} : of_address(*address);
    const bool parameters =
        own || (base.from.size() == 1 && !base.memory && is_in(base.from[0], parameters_base));
    (parameters ? out.any_parameter : out.memory) = true;
    return out;
  }

  bool follow(const Instruction& i) {
    bool any = false, wide = false;
    each_written(p_, i, [&](u32 reg) {
      any = any || p_.registers[reg].type != Type::pred;
      wide = wide || bits_of(reg) > 32;
    });
    if (!any) return false;
    Origin from;
    if (reads_memory(i.op)) {
      from = loaded(i);
    } else {
      // An index that is widened is no pointer; two halves that are put together may be one.
      const bool whole = wide && i.op != Op::mov;
      each_read(p_, i, [&](u32 reg) {
        if (p_.registers[reg].type == Type::pred) return;
        if (!whole || bits_of(reg) > 32) {
          from.join(of_[reg]);
        } else if (!of_[reg].from.empty()) {  // half of a pointer
          Origin half = of_[reg];
          half.memory = false;
          from.join(half);
        } else if (i.op == Op::cvt) {  // LLVM: mov.b32 %r1, p; cvt.u64.u32 %rd1, %r1; cvta.param
          for (const u64 one : of_[reg].numbers) Origin::add(from.numbers, one);
        }
      });
      if (!wide && i.op != Op::mov) from.numbers.clear();  // no offset of a parameter any more
      const Operand* o = p_.operands_of(i);
      for (u32 k = 0; k < i.count; ++k) {
        if (o[k].kind != Operand::Kind::constant || o[k].in_shared) continue;
        add_constant(from, o[k].value);
        if (i.op == Op::mov && o[k].value < widest_index) {
          Origin::add(from.numbers, o[k].value);
        }
      }
      if (i.op == Op::cvta) {
        const std::vector<u64> numbers = std::move(from.numbers);
        from.numbers.clear();
        for (const u64 one : numbers) {
          if (i.modifiers.space() == Space::param) Origin::add(from.from, parameters_base + one);
        }
      }
    }
    bool more = false;
    u64 step = 0;
    each_written(p_, i, [&](u32 reg) {
      if (p_.registers[reg].type == Type::pred) return;
      if (reads_memory(i.op) && from.from.size() == 1) {  // of a vector, one after the other
        Origin element;
        Origin::add(element.from, from.from[0] + step);
        more = of_[reg].join(element) || more;
        step += static_cast<u64>(bytes_of(i.modifiers.type()));
      } else {
        more = of_[reg].join(from) || more;
      }
    });
    return more;
  }

  const Program& p_;
  std::vector<Origin> of_;
};

bool writes_global(const Instruction& i) {
  const Modifiers& how = i.modifiers;
  switch (i.op) {
    case Op::cp:
      return how.has(Field::bulk) && how.space() == Space::global && !how.has(Field::prefetching);
    case Op::tensormap:
      return true;
    case Op::st:
    case Op::atom:
    case Op::red:
    case Op::wmma:
      return how.space() == Space::generic || how.space() == Space::global;
    default:
      return false;
  }
}

}  // namespace

WrittenMemory written_memory(const Program& program) {
  const Origins origins(program);
  Origin all, maps;
  for (const Instruction& i : program.code) {
    if (!writes_global(i)) continue;
    const bool by_map = i.op == Op::cp && i.modifiers.has(Field::tensor);
    const Operand* o = program.operands_of(i);
    for (u32 k = 0; k < i.count; ++k) {
      if (o[k].kind != Operand::Kind::address) continue;
      (by_map ? maps : all).join(origins.of_address(o[k]));
      if (by_map) break;  // the second is what it reads, in shared memory
    }
  }
  WrittenMemory out;
  out.by_any_map = maps.memory || maps.any_parameter;
  for (const u64 one : maps.from) {
    if (is_in(one, parameters_base)) {
      out.maps.push_back(one - parameters_base);
    } else {
      out.by_any_map = true;
    }
  }
  // A map that lies in memory says where only as the kernel runs, which may have made it.
  const bool made = maps.memory || std::any_of(maps.from.begin(), maps.from.end(), [](u64 one) {
                      return !is_in(one, parameters_base);
                    });
  out.anywhere = all.memory || made;
  out.by_any_parameter = all.any_parameter;
  for (const u64 one : all.from) {
    (one < widest_index ? out.parameters : out.addresses).push_back(one);
  }
  return out;
}

bool tells_system(const Program& program) {
  constexpr std::uint8_t is_volatile = 1, sys = 4;  // words of Field::order and Field::scope
  return std::any_of(program.code.begin(), program.code.end(), [](const Instruction& i) {
    const Modifiers& how = i.modifiers;
    const bool to_system = how[Field::scope] == sys;
    switch (i.op) {
      case Op::membar:
        return how.operation() == Operation::sys;
      case Op::fence:
        return to_system && !how.has(Field::proxy);
      case Op::st:
      case Op::atom:
      case Op::red:
        return how.space() != Space::shared && how.space() != Space::local &&
               (to_system || how[Field::order] == is_volatile);
      default:
        return false;
    }
  });
}

}  // namespace tilescope::ptx
