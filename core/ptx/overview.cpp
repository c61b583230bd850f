#include "core/ptx/overview.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "core/ptx/targets.h"

namespace tilescope::ptx {
namespace {

std::string_view copy_family(const Modifiers& m) {
  const bool waits = m.operation() == Operation::commit_group ||
                     m.operation() == Operation::wait_group || m.operation() == Operation::wait_all;
  if (waits && !m.has(Field::reduction)) return m.has(Field::bulk) ? "bulk groups" : "cp.async";
  if (!m.has(Field::bulk)) return "cp.async";
  if (m.has(Field::prefetching)) return m.has(Field::tensor) ? "TMA prefetches" : "bulk prefetches";
  const bool to_shared = m.has(Field::space) && m.space() == Space::shared;
  if (!m.has(Field::tensor)) return m.has(Field::reduction) ? "bulk reductions" : "bulk copies";
  if (m.has(Field::reduction)) return "TMA reductions";
  return to_shared ? "TMA loads" : "TMA stores";
}

// The families in the order in which they are told; "" is what every kernel has.
constexpr std::string_view order[] = {
    "TMA loads",
    "TMA stores",
    "TMA reductions",
    "TMA prefetches",
    "bulk copies",
    "bulk reductions",
    "bulk prefetches",
    "bulk groups",
    "cp.async",
    "st.async",
    "tensor maps",
    "mbarriers",
    "wgmma",
    "tcgen05.mma",
    "tcgen05, others",
    "mma.sync",
    "wmma",
    "ldmatrix",
    "stmatrix",
    "barriers",
    "cluster barriers",
    "fences",
    "warp operations",
    "atomics",
    "setmaxnreg",
    "griddepcontrol",
    "launch control",
    "calls",
};

std::string_view family_of(const Instruction& i) {
  const Modifiers& m = i.modifiers;
  switch (i.op) {
    case Op::cp:
      return m.has(Field::on_mbarrier) ? "mbarriers" : copy_family(m);
    case Op::st:
      return m.has(Field::async) ? "st.async" : "";
    case Op::red:
      return m.has(Field::async) ? "st.async" : "atomics";
    case Op::atom:
      return "atomics";
    case Op::tensormap:
      return "tensor maps";
    case Op::prefetch:
      return m.has(Field::tensormap) ? "tensor maps" : "";
    case Op::mbarrier:
      return "mbarriers";
    case Op::wgmma:
      return "wgmma";
    case Op::tcgen05:
      return m.tensor_step() == TensorStep::mma ? "tcgen05.mma" : "tcgen05, others";
    case Op::mma:
      return "mma.sync";
    case Op::wmma:
      return "wmma";
    case Op::ldmatrix:
    case Op::movmatrix:
      return "ldmatrix";
    case Op::stmatrix:
      return "stmatrix";
    case Op::bar:
    case Op::barrier:
      return m.has(Field::cluster) ? "cluster barriers" : "barriers";
    case Op::membar:
    case Op::fence:
      return "fences";
    case Op::shfl:
    case Op::vote:
    case Op::match:
    case Op::redux:
    case Op::elect:
    case Op::activemask:
      return "warp operations";
    case Op::setmaxnreg:
      return "setmaxnreg";
    case Op::griddepcontrol:
      return "griddepcontrol";
    case Op::clusterlaunchcontrol:
      return "launch control";
    case Op::call:
      return "calls";
    default:
      return "";
  }
}

// Follows what is loaded from parameters to addresses.
class Pointers {
 public:
  explicit Pointers(const Program& program)
      : program_(program), from_(program.registers.size(), -1) {}

  // The offsets in .param that pointers were loaded from, and what is there.
  std::map<std::uint32_t, Type> find() {
    const std::size_t end =
        program_.routines.size() > 1 ? program_.routines[1].first : program_.code.size();
    for (int pass = 0; pass < 2; ++pass) {  // the second for what a loop carries round
      for (std::size_t pc = 0; pc < std::min(end, program_.code.size()); ++pc) {
        look(program_.code[pc]);
      }
    }
    return std::move(found_);
  }

 private:
  static bool hands_on(Op op) {
    switch (op) {
      case Op::add:
      case Op::sub:
      case Op::mad:
      case Op::mov:
      case Op::cvta:
      case Op::selp:
      case Op::and_:
      case Op::or_:
        return true;
      default:
        return false;
    }
  }

  void look(const Instruction& i) {
    const Operand* o = program_.operands_of(i);
    for (std::uint32_t k = 0; k < i.count; ++k) {
      if (o[k].kind != Operand::Kind::address || o[k].index == no_register) continue;
      const bool memory = i.modifiers.space() != Space::param || k > 0;
      if (memory && from_[o[k].index] >= 0) {
        Type& element = found_[static_cast<std::uint32_t>(from_[o[k].index])];
        if (element == Type::none) element = i.modifiers.type();
      }
    }
    if (i.count < 2) return;
    if (i.op == Op::ld && i.modifiers.space() == Space::param) {
      const Operand& at = o[1];
      const bool address = at.kind == Operand::Kind::address && at.index == no_register;
      if (!address || bits_of(i.modifiers.type()) != 64) return;
      for (std::uint32_t e = 0; e < o[0].count; ++e) {
        const Operand& d = program_.elements[o[0].index + e];
        if (d.kind == Operand::Kind::reg) {
          from_[d.index] = static_cast<std::int64_t>(at.value) + 8 * e;
        }
      }
    } else if (hands_on(i.op) && o[0].kind == Operand::Kind::reg) {
      std::int64_t from = -1;
      for (std::uint32_t k = 1; k < i.count && from < 0; ++k) {
        if (o[k].kind == Operand::Kind::reg) from = from_[o[k].index];
      }
      if (from >= 0 || from_[o[0].index] < 0) from_[o[0].index] = from;
    }
  }

  const Program& program_;
  std::vector<std::int64_t> from_;  // of a register: the offset; -1: no parameter
  std::map<std::uint32_t, Type> found_;
};

bool mentions(std::string_view text, std::string_view name);

// Follows the addresses of parameters to copies of tensors, whose maps are there.
class Maps {
 public:
  explicit Maps(const Program& program) : program_(program), at_(program.registers.size(), -1) {}

  // The offsets in .param where tensor maps are.
  std::set<std::uint32_t> find() {
    for (int pass = 0; pass < 2; ++pass) {  // the second for what a loop carries round
      for (const Instruction& i : program_.code) look(i);
    }
    return std::move(found_);
  }

 private:
  bool names_a_parameter(const Instruction& i) const {
    const std::vector<Parameter>& all = program_.entry.parameters;
    return std::any_of(all.begin(), all.end(),
                       [&](const Parameter& p) { return mentions(i.text, p.name); });
  }

  void look(const Instruction& i) {
    const Operand* o = program_.operands_of(i);
    const bool copies = i.op == Op::cp && i.modifiers.has(Field::tensor);
    for (std::uint32_t k = 0; copies && k < i.count; ++k) {
      if (o[k].kind != Operand::Kind::address || o[k].index == no_register) continue;
      if (at_[o[k].index] < 0) continue;
      found_.insert(
          static_cast<std::uint32_t>(at_[o[k].index] + static_cast<std::int64_t>(o[k].value)));
    }
    if (i.count < 2 || o[0].kind != Operand::Kind::reg) return;
    if (i.op != Op::mov && i.op != Op::cvta && i.op != Op::add) return;
    std::int64_t at = -1, more = 0;
    for (std::uint32_t k = 1; k < i.count; ++k) {
      if (o[k].kind == Operand::Kind::reg) at = std::max(at, at_[o[k].index]);
      if (o[k].kind == Operand::Kind::constant) more += static_cast<std::int64_t>(o[k].value);
    }
    if (at < 0 && i.op == Op::mov && names_a_parameter(i)) at = 0;  // the offset is the constant
    if (at >= 0) at_[o[0].index] = at + more;
  }

  const Program& program_;
  std::vector<std::int64_t> at_;  // of a register: the offset whose address it has; -1: none
  std::set<std::uint32_t> found_;
};

bool is_word(char c) {
  return c == '_' || c == '$' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
         (c >= 'A' && c <= 'Z');
}
bool mentions(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find(name); at != std::string_view::npos;
       at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end]))) {
      return true;
    }
  }
  return false;
}

// 128 bytes at a multiple of 64 whose address is used: by copies of tensors there.
bool is_tensor_map(const Program& program, const Parameter& p) {
  if (p.bytes != 128 || p.align < 64) return false;
  return std::any_of(program.code.begin(), program.code.end(), [&](const Instruction& i) {
    const bool loads = i.op == Op::ld && i.modifiers.space() == Space::param;
    return !loads && mentions(i.text, p.name);
  });
}

std::vector<ParameterUse> uses(const Program& program) {
  const std::map<std::uint32_t, Type> pointers = Pointers(program).find();
  const std::set<std::uint32_t> maps = Maps(program).find();
  std::vector<ParameterUse> out;
  for (const Parameter& p : program.entry.parameters) {
    ParameterUse& use = out.emplace_back();
    using Kind = ParameterUse::Kind;
    for (auto at = pointers.lower_bound(p.offset);
         at != pointers.end() && at->first < p.offset + p.bytes; ++at) {
      use.pointers.push_back({at->first - p.offset, at->second});
    }
    for (auto at = maps.lower_bound(p.offset); at != maps.end() && *at + 128 <= p.offset + p.bytes;
         ++at) {
      use.maps.push_back(*at - p.offset);
    }
    if (is_tensor_map(program, p)) {
      use.kind = Kind::tensor_map;
    } else if (p.bytes == 8 && !use.pointers.empty()) {
      use.kind = Kind::pointer;
      use.element = use.pointers[0].element;
    } else if (p.bytes > 8 || bits_of(p.type) != static_cast<int>(p.bytes) * 8) {
      use.kind = Kind::structure;
    }
  }
  return out;
}

}  // namespace

Overview overview_of(const Program& program) {
  Overview out;
  std::map<std::string_view, std::uint32_t> counts;
  std::vector<int> chips = chips_of("sm_75");
  for (const Instruction& i : program.code) {
    const std::string_view family = family_of(i);
    if (!family.empty()) ++counts[family];
    if (i.op == Op::mbarrier && i.modifiers.step() == Step::init) ++out.mbarriers;
    const std::vector<int> with = chips_with(i.op, i.modifiers, i.count);
    std::vector<int> both;
    std::set_intersection(chips.begin(), chips.end(), with.begin(), with.end(),
                          std::back_inserter(both));
    chips = std::move(both);
  }
  out.chips = std::move(chips);
  for (const std::string_view name : order) {
    if (counts[name]) out.families.push_back({name, counts[name]});
  }
  for (const Register& r : program.registers) {
    out.registers += r.name != "%frame" && r.name != "CC.CF" && r.type != Type::pred;
  }
  out.parameters = uses(program);
  return out;
}

}  // namespace tilescope::ptx
