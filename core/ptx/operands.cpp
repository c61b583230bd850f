// The operands of an instruction: numbers, names, vectors, addresses and labels, fitted to the
// rules of its form.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "core/ptx/decode.h"
#include "core/ptx/geometry.h"
#include "core/ptx/refused.h"

namespace tilescope::ptx {
namespace {

// Registers hold nothing narrower than 16 bits.
int register_bits(Type type) {
  return std::max(16, bits_of(type));
}

bool is_one_of(const std::vector<std::int32_t>& values, const Operand& o) {
  if (o.kind != Operand::Kind::constant) return false;
  const auto value = static_cast<std::int32_t>(o.value);
  return std::find(values.begin(), values.end(), value) != values.end();
}

// Types whose registers are of that type or of bits, and that no constant has (9.7.4, 9.7.9.21;
// what ptxas 13 takes). Registers of bf16 and of packed types other than f16x2 can only be of bits.
bool is_narrow(Type type) {
  if (type == Type::u16x2 || type == Type::s16x2) return true;
  return class_of(type) == Class::floating && type != Type::f32 && type != Type::f64;
}

// Operand type checking (9.4.1): sizes agree; bits go with everything; signed with unsigned.
bool compatible(Type instruction, Type reg) {
  if (is_narrow(instruction)) {
    return reg == instruction || class_of(reg) == Class::bits;
  }
  const Class a = class_of(instruction), b = class_of(reg);
  if (a == Class::predicate || b == Class::predicate) return a == b;
  if (a == Class::bits || b == Class::bits) return true;
  return (a == Class::floating) == (b == Class::floating);
}

// ld, st and cvt take registers wider than the type (9.4.1, relaxed type checking), cvt of narrow
// types only for f16 and f16x2 (9.7.9.21).
bool takes_wider(Op op, Type type) {
  if (is_narrow(type) && type != Type::f16 && type != Type::f16x2) return false;
  return op == Op::ld || op == Op::ldu || op == Op::st || op == Op::cvt || op == Op::suld ||
         op == Op::sust;
}

std::string registers_text(int count) {
  return fmt::format("{} register{}", count, count == 1 ? "" : "s");
}

std::uint64_t cut_to(int bits, std::uint64_t value) {
  return bits >= 64 ? value : value & ((std::uint64_t{1} << bits) - 1);
}

}  // namespace

Operand Decoder::constant(Type type, std::uint64_t bits, bool in_shared) {
  const int width = register_bits(type);
  bits = cut_to(width, bits);
  auto [entry, added] = constants_.try_emplace({bits, width, in_shared}, 0);
  if (added) {
    const auto bytes = static_cast<std::size_t>(width / 8);
    const std::size_t at = (program_.constants.size() + 63) / 64 * 64;
    entry->second = static_cast<std::uint32_t>(at);
    program_.constants.resize(at + bytes * lanes);
    for (int lane = 0; lane < lanes; ++lane) {
      std::memcpy(&program_.constants[at + static_cast<std::size_t>(lane) * bytes], &bits,
                  std::min(bytes, sizeof bits));
    }
    if (in_shared) {
      program_.shared_addresses.emplace_back(entry->second, static_cast<std::uint32_t>(bytes));
    }
  }
  Operand out;
  out.kind = Operand::Kind::constant;
  out.type = type;
  out.index = entry->second;
  out.value = bits;
  return out;
}

bool Decoder::number(const Statement& s, Type type, const Written& w, Operand& out) {
  const Class kind = class_of(type);
  std::uint64_t bits = w.bits;
  if (kind == Class::predicate) {  // 0 is false, anything else true: the always-true predicate
    out.kind = Operand::Kind::predicate;
    out.type = type;
    out.index = no_register;
    out.negated = w.bits == 0;
    return true;
  }
  if (is_narrow(type)) {
    return fail(s, fmt::format("a constant where an {} register is needed", name_of(type)));
  }
  if (w.floating && kind == Class::floating && bits_of(type) == 32) {
    double wide = 0;
    std::memcpy(&wide, &w.bits, sizeof wide);
    const float narrow = static_cast<float>(wide);
    std::uint32_t narrow_bits = 0;
    std::memcpy(&narrow_bits, &narrow, sizeof narrow);
    bits = narrow_bits;
  } else if (w.single && bits_of(type) == 64 && kind == Class::floating) {
    float narrow = 0;
    std::memcpy(&narrow, &w.bits, sizeof narrow);
    const double wide = static_cast<double>(narrow);
    std::memcpy(&bits, &wide, sizeof wide);
  } else if (kind == Class::floating && !w.floating && !w.single) {
    return fail(s, fmt::format("an integer where an {} constant is needed", name_of(type)));
  } else if ((w.floating || w.single) && kind != Class::floating && kind != Class::bits) {
    return fail(s, fmt::format("a floating-point constant where an {} is needed", name_of(type)));
  }
  out = constant(type, bits);
  return true;
}

bool Decoder::name(const Statement& s, const OperandRule& rule, Type type, const Written& w,
                   Operand& out) {
  const bool written = rule.kind == OperandRule::Kind::write ||
                       rule.kind == OperandRule::Kind::write_predicate ||
                       rule.kind == OperandRule::Kind::write_vector;
  const Meaning meaning = look_up(w.name, s.scope);
  if (w.indexed && meaning.kind != Meaning::Kind::memory) {
    return fail(s, fmt::format("'{}' has an index, but is no variable", w.name));
  }
  switch (meaning.kind) {
    case Meaning::Kind::nothing:
      if (const std::string_view why = refused_register(w.name); !why.empty()) {
        return fail(s, fmt::format("{}: {}", w.name, why));
      }
      return fail(s, fmt::format("'{}' is not declared", w.name));
    case Meaning::Kind::grid_workspace: {
      if (written) return fail(s, fmt::format("'{}' cannot be written", w.name));
      if (bits_of(type) != 32) {
        return fail(s, fmt::format("'{}' has 32 bits, but {} is needed", w.name, name_of(type)));
      }
      const std::uint64_t at = meets_ ? module_names_[0].at(grid_workspace_name).address : 0;
      out = constant(type, meaning.index ? at & 0xffffffff : at >> 32);
      return true;
    }
    case Meaning::Kind::label:
    case Meaning::Kind::targets:
      return fail(s, fmt::format("'{}' is a label, not an operand", w.name));
    case Meaning::Kind::memory:
    case Meaning::Kind::function: {
      if (written) return fail(s, fmt::format("'{}' cannot be written", w.name));
      const int least = meaning.kind == Meaning::Kind::function ? 64 : 32;
      if (class_of(type) == Class::floating || bits_of(type) < least) {
        return fail(s, fmt::format("the address of '{}' does not fit {}", w.name, name_of(type)));
      }
      out = constant(type, meaning.place(w), meaning.space == Space::shared);
      if (!meaning.in_frame || meaning.index == no_register) return true;
      out.kind = Operand::Kind::frame;
      out.index = meaning.index;
      out.value = meaning.place(w);
      return true;
    }
    case Meaning::Kind::special: {
      const auto special = static_cast<Special>(meaning.index);
      if (written) return fail(s, fmt::format("'{}' cannot be written", w.name));
      if (bits_of(special) != bits_of(type)) {
        return fail(s, fmt::format("'{}' has {} bits, but {} is needed", w.name, bits_of(special),
                                   name_of(type)));
      }
      out.type = type;
      if (is_dynamic(special)) {
        if (s.opcode != "mov") return fail(s, fmt::format("'{}' can only be read by mov", w.name));
        out.kind = Operand::Kind::special;
        out.index = meaning.index;
        return true;
      }
      auto [entry, added] = specials_.try_emplace(special, 0);
      if (added) {
        entry->second = static_cast<std::uint32_t>(program_.registers.size());
        program_.registers.push_back(
            {ptx::name_of(special), -1, bits_type(bits_of(special)), no_register});
        program_.specials.emplace_back(special, entry->second);
      }
      out.kind = Operand::Kind::reg;
      out.index = entry->second;
      return true;
    }
    case Meaning::Kind::reg:
      break;
  }
  const Type reg = program_.registers[meaning.index].type;
  const int have = bits_of(reg), want = bits_of(type);
  const bool may_be_wider =
      takes_wider(opcode_named(s.opcode)->op, type) && class_of(reg) != Class::floating;
  // st.bulk's size has 64 bits, or 32 (9.7.9.13).
  const bool size = s.opcode == "st" && want == 64 && have == 32 &&
                    std::find(s.modifiers.begin(), s.modifiers.end(), "bulk") != s.modifiers.end();
  const bool wide_enough = size || (may_be_wider ? have >= want : have == want);
  if (!compatible(type, reg) || (class_of(type) != Class::predicate && !wide_enough)) {
    return fail(s, fmt::format("'{}' is a {} register, but {} is needed", w.name, name_of(reg),
                               name_of(type)));
  }
  out.kind = type == Type::pred ? Operand::Kind::predicate : Operand::Kind::reg;
  out.type = type;
  out.index = meaning.index;
  out.written = written;
  out.negated = w.negated;
  return true;
}

bool Decoder::vector(const Statement& s, const OperandRule& rule, Type type, const Written& w,
                     Operand& out, Type first) {
  const std::vector<Written>& parts = w.elements;
  out.kind = Operand::Kind::vector;
  out.type = type;
  out.count = static_cast<std::uint8_t>(parts.size());
  std::vector<Operand> elements;
  for (const Written& part : parts) {
    if (part.kind == Written::Kind::vector) return fail(s, "a vector inside a vector");
    const Type of = first != Type::none && elements.empty() ? first : type;
    if (!operand(s, rule, of, part, elements.emplace_back())) return false;
  }
  // Handlers take all of a vector's registers to be as wide as each other.
  int width = 0;
  for (const Operand& element : elements) {
    if (element.kind != Operand::Kind::reg) continue;
    const int bits = register_bits(program_.registers[element.index].type);
    if (width && bits != width) return fail(s, "the registers of a vector have different widths");
    width = bits;
  }
  out.index = static_cast<std::uint32_t>(program_.elements.size());
  program_.elements.insert(program_.elements.end(), elements.begin(), elements.end());
  return true;
}

// [reg+8], [variable+8], [parameter+8], [8]
bool Decoder::address(const Statement& s, Space space, const Written& w, Operand& out) {
  if (w.kind != Written::Kind::address && !w.indexed) {
    return fail(s, "an address in [ ] is needed");
  }
  if (!w.elements.empty()) return fail(s, "only one address in [ ] is wanted");
  return place_address(s, space, w, out);
}

bool Decoder::place_address(const Statement& s, Space space, const Written& w, Operand& out) {
  out.kind = Operand::Kind::address;
  out.index = no_register;
  out.value = w.bits;
  out.type = Type::b64;
  if (w.name.empty()) return true;
  const Meaning meaning = look_up(w.name, s.scope);
  if (meaning.kind == Meaning::Kind::reg && !w.indexed) {
    const Type reg = program_.registers[meaning.index].type;
    if (bits_of(reg) != 32 && bits_of(reg) != 64) {
      return fail(
          s, fmt::format("'{}' is a {} register and cannot hold an address", w.name, name_of(reg)));
    }
    out.index = meaning.index;
    out.type = reg;
    return true;
  }
  if (meaning.kind != Meaning::Kind::memory) {
    return fail(s,
                fmt::format("'{}' is not declared as a register, variable or parameter", w.name));
  }
  const bool same =
      space == meaning.space || (space == Space::generic && (meaning.space == Space::global));
  if (!same) {
    return fail(s, fmt::format("'{}' is in .{}, but the instruction accesses .{}", w.name,
                               name_of(meaning.space), name_of(space)));
  }
  out.value = meaning.place(w);
  out.in_shared = meaning.space == Space::shared;
  if (meaning.in_frame) out.index = meaning.index;
  return true;
}

// [map, {coordinates}]: the tensor map's generic address (9.7.9.25.5.2).
bool Decoder::tensor_map(const Statement& s, const Written& w, Operand& out) {
  if (w.kind != Written::Kind::address || w.elements.size() != 1 ||
      w.elements[0].kind != Written::Kind::vector) {
    return fail(s,
                "in brackets a tensor map, or a handle, and coordinates are wanted: [map, {x, y}]");
  }
  return place_address(s, Space::generic, w, out);
}

bool Decoder::coordinates(const Statement& s, const Written& w, const Instruction& i,
                          Operand& out) {
  const std::size_t rank = i.modifiers[Field::dim];
  const std::size_t given = w.elements[0].elements.size();
  if (i.op == Op::tex || i.op == Op::suld || i.op == Op::sust) {
    const Geometry geometry = geometry_of(i.modifiers);
    if (given != geometry.given) {
      return fail(s, fmt::format("of .{} there are {} coordinates, not {}",
                                 words_of(Field::dim)[rank - 1], geometry.given, given));
    }
    OperandRule rule;
    return vector(s, rule, i.op == Op::tex ? i.modifiers.type2() : Type::s32, w.elements[0], out,
                  geometry.layered ? Type::u32 : Type::none);
  }
  const TensorMode mode = i.modifiers.tensor_mode();
  const bool four_rows = mode == TensorMode::gather4 || mode == TensorMode::scatter4;
  if (four_rows && given != 5) {
    return fail(s, fmt::format("a column and four rows are wanted, not {} coordinates", given));
  }
  if (!four_rows && given != rank) {
    return fail(
        s, fmt::format("a tensor of {} dimensions has as many coordinates, not {}", rank, given));
  }
  OperandRule rule;
  return vector(s, rule, Type::s32, w.elements[0], out);
}

// {w, h, d}, 16 bits each: one for each dimension between channels and images; of .im2col::w and
// .im2col::w::128 {wHalo, wOffset} (9.7.9.25.5.2).
bool Decoder::offsets(const Statement& s, const Written& w, const Instruction& i, Operand& out) {
  const std::size_t rank = i.modifiers[Field::dim];
  const TensorMode mode = i.modifiers.tensor_mode();
  if (mode == TensorMode::im2col_w || mode == TensorMode::im2col_w_128) {
    if (w.kind != Written::Kind::vector || w.elements.size() != 2) {
      return fail(s, fmt::format("a copy by .{} has two numbers in braces, {{wHalo, wOffset}}",
                                 words_of(Field::mode)[i.modifiers[Field::mode] - 1u]));
    }
  } else if (w.kind != Written::Kind::vector || w.elements.size() + 2 != rank) {
    return fail(s, fmt::format("an im2col copy from a tensor of {} dimensions has {} offset{} in "
                               "braces",
                               rank, rank - 2, rank == 3 ? "" : "s"));
  }
  OperandRule rule;
  return vector(s, rule, Type::u16, w, out);
}

// brx.idx's list of labels, as it stood behind .branchtargets.
bool Decoder::branch_targets(const Statement& s, const Written& w, Operand& out) {
  const Meaning meaning = w.kind == Written::Kind::name ? look_up(w.name, s.scope) : Meaning{};
  if (meaning.kind != Meaning::Kind::targets || !body().targets[meaning.index].branch) {
    return fail(s, fmt::format("there is no list of .branchtargets '{}' here", w.name));
  }
  const Targets& targets = body().targets[meaning.index];
  out.kind = Operand::Kind::targets;
  out.index = static_cast<std::uint32_t>(program_.elements.size());
  out.value = targets.labels.size();
  for (std::string_view label : targets.labels) {
    const Meaning to = look_up(label, targets.scope);
    if (to.kind != Meaning::Kind::label) {
      return fail(s, fmt::format("there is no label '{}' here", label));
    }
    Operand& element = program_.elements.emplace_back();
    element.kind = Operand::Kind::label;
    element.index = to.index;
  }
  return true;
}

// The address of a variable in a function's frame is where the frame begins plus an offset: a mov
// of it is an addition. Elsewhere compilers do not write it.
bool Decoder::move_frame_address(const Statement& s, Instruction& out) {
  bool found = false;
  for (std::uint32_t k = 0; k < out.count; ++k) {
    found = found || program_.operands[out.first + k].kind == Operand::Kind::frame;
  }
  if (!found) return true;
  if (out.op != Op::mov) {
    return fail(s, "the address of a function's own variable is only taken by a mov");
  }
  const Type type = bits_of(out.modifiers.type()) == 64 ? Type::u64 : Type::u32;
  const Operand from = program_.operands[out.first + 1];
  out.op = Op::add;
  out.unit = Unit::integer;
  out.form = 0;
  out.modifiers = {};
  out.modifiers.set(Field::type, static_cast<std::uint8_t>(type));
  Operand base;
  base.kind = Operand::Kind::reg;
  base.type = type;
  base.index = from.index;
  program_.operands[out.first + 1] = base;
  program_.operands.push_back(constant(type, from.value));
  out.count = 3;
  return true;
}

// cp.async's fourth operand: how much to read, or a predicate that says to read nothing.
bool Decoder::size_or_predicate(const Statement& s, const Written& w, Operand& out) {
  OperandRule rule;
  const Meaning meaning = w.kind == Written::Kind::name ? look_up(w.name, s.scope) : Meaning{};
  const bool predicate =
      meaning.kind == Meaning::Kind::reg && program_.registers[meaning.index].type == Type::pred;
  if (predicate) rule.kind = OperandRule::Kind::read_predicate;
  return operand(s, rule, predicate ? Type::pred : Type::u32, w, out);
}

bool Decoder::label(const Statement& s, const Written& w, Operand& out) {
  const Meaning meaning = w.kind == Written::Kind::name ? look_up(w.name, s.scope) : Meaning{};
  if (meaning.kind != Meaning::Kind::label) {
    return fail(s, fmt::format("there is no label '{}' here", w.name));
  }
  out.kind = Operand::Kind::label;
  out.index = meaning.index;
  return true;
}

bool Decoder::operand(const Statement& s, const OperandRule& rule, Type type, const Written& w,
                      Operand& out) {
  using Kind = OperandRule::Kind;
  const bool written = rule.kind == Kind::write || rule.kind == Kind::write_predicate ||
                       rule.kind == Kind::write_vector;
  switch (w.kind) {
    case Written::Kind::sink:
      if (!written) return fail(s, "'_' where a value is read");
      out.kind = Operand::Kind::sink;
      out.type = type;
      out.written = true;
      return true;
    case Written::Kind::number:
      if (written) return fail(s, "a number where a register is written");
      return number(s, type, w, out);
    case Written::Kind::name:
      if (w.negated && rule.kind != Kind::read_predicate) {
        return fail(s, fmt::format("'!{}' where no predicate is read", w.name));
      }
      return name(s, rule, type, w, out);
    case Written::Kind::address:
      return fail(s, "an address where a register or constant is needed");
    default:
      // CUTLASS writes braces around the metadata and each scale factor of mma, and ptxas takes
      // them there (measured: CUDA 13.0), but around no operand of add.
      if (s.opcode == "mma" && w.kind == Written::Kind::vector && w.elements.size() == 1) {
        return operand(s, rule, type, w.elements[0], out);
      }
      return fail(s, "braces where a single operand is needed");
  }
}

bool Decoder::operands(const Statement& s, const Opcode& row, Instruction& out) {
  using Kind = OperandRule::Kind;
  if (row.op == Op::call) return call(s, out);
  out.first = static_cast<std::uint32_t>(program_.operands.size());
  const std::vector<OperandRule>& rules = operands_of(row, out.form);
  std::size_t wanted = 0;  // operands that must still come
  for (const OperandRule& rule : rules) wanted += !rule.optional;
  // The policy of .L2::cache_hint is the last operand, whatever else is left out before it.
  const bool policy = out.modifiers.has(Field::hint) && s.operands.size() > wanted;
  const auto can_lack = [&](const OperandRule& rule) {
    return rule.optional && !(policy && &rule == &rules.back());
  };
  wanted += policy && rules.back().optional;
  std::vector<Operand> decoded(rules.size());
  std::size_t next = 0;
  for (std::size_t r = 0; r < rules.size(); ++r) {
    const OperandRule& rule = rules[r];
    if (is_hidden(rule)) {
      decoded[r].kind = Operand::Kind::predicate;
      decoded[r].type = Type::pred;
      decoded[r].index = routine().carry;
      decoded[r].written = rule.kind == Kind::write_carry;
      continue;
    }
    if (rule.kind == Kind::coordinates) {
      if (!coordinates(s, s.operands[next - 1], out, decoded[r])) return false;
      continue;
    }
    if (rule.partner) {
      const std::string_view partner = s.operands[next - 1].partner;
      if (partner.empty()) continue;
      Written w;
      w.kind = partner == "_" ? Written::Kind::sink : Written::Kind::name;
      w.name = partner;
      if (!operand(s, rule, rule.type == Type::none ? Type::pred : rule.type, w, decoded[r])) {
        return false;
      }
      continue;
    }
    if (can_lack(rule) && s.operands.size() - next <= wanted) continue;
    wanted -= !can_lack(rule);
    if (next == s.operands.size()) {
      return fail(s, fmt::format("operands are missing, the form is {}", syntax(row, out.form)));
    }
    const Written& w = s.operands[next++];
    const bool has_partner = r + 1 < rules.size() && rules[r + 1].partner;
    if (!w.partner.empty() && !has_partner) {
      return fail(s, fmt::format("'|{}' where one register is needed", w.partner));
    }
    Type type = rule.type;
    if (rule.from == OperandRule::From::type) type = out.modifiers.type();
    if (rule.from == OperandRule::From::type2) type = out.modifiers.type2();
    if (rule.from == OperandRule::From::wide) type = widened(out.modifiers.type());
    bool good = false;
    if (rule.kind == Kind::address) {
      good = address(s, out.modifiers.space(), w, decoded[r]);
    } else if (rule.kind == Kind::second_address) {
      good = address(s, out.modifiers.space2(), w, decoded[r]);
    } else if (rule.kind == Kind::mbarrier_address) {
      good = address(s, Space::shared, w, decoded[r]);
    } else if (rule.kind == Kind::tensor_map) {
      good = tensor_map(s, w, decoded[r]);
    } else if (rule.kind == Kind::offsets) {
      good = offsets(s, w, out, decoded[r]);
    } else if (rule.kind == Kind::size) {
      good = size_or_predicate(s, w, decoded[r]);
    } else if (rule.kind == Kind::label) {
      good = label(s, w, decoded[r]);
    } else if (rule.kind == Kind::targets) {
      good = branch_targets(s, w, decoded[r]);
    } else if (rule.kind == Kind::write_vector || rule.kind == Kind::read_vector) {
      const int said = static_cast<int>(count_of(rule, out.modifiers));
      const int count = said ? said : out.modifiers.vector();
      if (said && w.kind != Written::Kind::vector) {
        return fail(s, fmt::format("{} in braces {} wanted", registers_text(count),
                                   count == 1 ? "is" : "are"));
      }
      Written whole;
      whole.kind = Written::Kind::vector;
      whole.elements = w.kind == Written::Kind::vector ? w.elements : std::vector<Written>{w};
      if (row.op == Op::mov) {
        const int parts = static_cast<int>(whole.elements.size());
        if (w.kind != Written::Kind::vector) {
          good = operand(s, rule, type, w, decoded[r]);
        } else if ((parts != 2 && parts != 4) || bits_type(bits_of(type) / parts) == Type::none) {
          return fail(s, fmt::format("{} does not fall into {} parts", name_of(type), parts));
        } else {
          good = vector(s, rule, bits_type(bits_of(type) / parts), whole, decoded[r]);
        }
      } else if (static_cast<int>(whole.elements.size()) != count) {
        return fail(
            s, fmt::format("{} are wanted, not {}", registers_text(count), whole.elements.size()));
      } else {
        good = vector(s, rule, type, whole, decoded[r]);
      }
    } else {
      good = operand(s, rule, type, w, decoded[r]);
      if (good && rule.kind == Kind::constant && decoded[r].kind != Operand::Kind::constant &&
          decoded[r].kind != Operand::Kind::reg) {
        return fail(s, "a constant is wanted");
      }
      if (good && !rule.values.empty() && !is_one_of(rule.values, decoded[r])) {
        return fail(s, fmt::format("operand {} is to be {}", next, fmt::join(rule.values, " or ")));
      }
    }
    if (!good) return false;
  }
  if (next != s.operands.size()) {
    return fail(s,
                fmt::format("there are too many operands, the form is {}", syntax(row, out.form)));
  }
  program_.operands.insert(program_.operands.end(), decoded.begin(), decoded.end());
  out.count = static_cast<std::uint32_t>(decoded.size());
  return true;
}

}  // namespace tilescope::ptx
