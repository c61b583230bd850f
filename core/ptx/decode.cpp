#include "core/ptx/decode.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/ptx/modifiers.h"
#include "core/ptx/refused.h"
#include "core/ptx/targets.h"

namespace tilescope::ptx {
namespace {

// An instruction's text on one line, not too long for a sentence.
std::string shown(std::string_view text) {
  std::string out;
  for (char c : text) {
    const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!blank) {
      out += c;
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
    if (out.size() > 120) return out + "...";
  }
  return out;
}

}  // namespace

bool Decoder::refuse(std::uint32_t line, std::string sentence) {
  if (all_) {
    all_->push_back({ErrorKind::unsupported, std::move(sentence), program_.module->place(line)});
    return false;
  }
  if (error_.sentence.empty()) {
    error_ = {ErrorKind::unsupported, std::move(sentence), program_.module->place(line)};
  }
  return false;
}

bool Decoder::fail(const Statement& s, std::string_view what) {
  return refuse(s.line, fmt::format("{}: {}", shown(s.text), what));
}

bool Decoder::guard(const Statement& s, Instruction& out) {
  if (s.guard.empty()) return true;
  const Meaning meaning = look_up(s.guard, s.scope);
  if (meaning.kind != Meaning::Kind::reg || program_.registers[meaning.index].type != Type::pred) {
    return fail(s, fmt::format("the guard '{}' is no predicate register", s.guard));
  }
  out.guarded = true;
  out.guard = meaning.index;
  out.guard_negated = s.guard_negated;
  return true;
}

// Constants never; parameters where they are those of a function, or passed to one.
bool Decoder::can_be_written(const Instruction& i) const {
  const Space space = i.modifiers.space();
  if (space == Space::constant) return false;
  const Operand& at = program_.operands_of(i)[0];
  return space != Space::param || at.index != no_register || at.value >= frame_parameters;
}

// A cache policy comes with .L2::cache_hint, and the other way round.
bool Decoder::hint_fits(const Statement& s, const Instruction& i) {
  const std::vector<OperandRule>& rules = operands_of(opcode(i.op), i.form);
  if (rules.empty() || !rules.back().optional || rules.back().type != Type::b64) return true;
  const bool given = program_.operands_of(i)[i.count - 1].kind != Operand::Kind::none;
  if (given == i.modifiers.has(Field::hint)) return true;
  return fail(s, given ? "a cache policy is given without .L2::cache_hint"
                       : ".L2::cache_hint wants a cache policy as the last operand");
}

// cp.async copies 4, 8 or 16 bytes, past the L1 cache only 16 (9.7.9.25.3.1).
bool Decoder::copy_fits(const Statement& s, const Instruction& i) {
  if (i.modifiers.has(Field::bulk) || i.modifiers.has(Field::on_mbarrier)) {
    return bulk_copy_fits(s, i);
  }
  if (i.modifiers.has(Field::operation)) return true;
  const Operand& size = program_.operands_of(i)[2];
  const bool cached = words_of(Field::cache)[i.modifiers[Field::cache] - 1u] == "ca";
  const bool known = size.kind == Operand::Kind::constant;
  if (known && (size.value == 16 || (cached && (size.value == 4 || size.value == 8)))) {
    program_.copies = true;
    program_.smallest_store = std::min(program_.smallest_store, 4u);
    return true;
  }
  return fail(s, cached ? "cp.async.ca copies 4, 8 or 16 bytes" : "cp.async.cg copies 16 bytes");
}

// Bulk copies are whole 16 bytes, but what a box clips of them ends with any element. Four rows are
// of a matrix, and im2col is of images: 5.5.3.4, 5.5.4, 5.5.5.
bool Decoder::bulk_copy_fits(const Statement& s, const Instruction& i) {
  program_.copies = true;
  program_.smallest_store = std::min(program_.smallest_store, 4u);
  const TensorMode mode = i.modifiers.tensor_mode();
  const std::uint8_t rank = i.modifiers[Field::dim];
  if (mode == TensorMode::none || mode == TensorMode::tile) return true;
  const std::string_view word = words_of(Field::mode)[i.modifiers[Field::mode] - 1u];
  if (mode == TensorMode::gather4 || mode == TensorMode::scatter4) {
    return rank == 2 ||
           fail(s, fmt::format(".{} is for tensors of 2 dimensions, not {}", word, rank));
  }
  return rank >= 3 ||
         fail(s, fmt::format(".{} is for tensors of 3 to 5 dimensions, not {}", word, rank));
}

// 9.7.19.5
bool Decoder::registers_fit(const Statement& s, const Instruction& i) {
  const Operand& count = program_.operands_of(i)[0];
  const bool known = count.kind == Operand::Kind::constant;
  if (known && count.value >= 24 && count.value <= 256 && count.value % 8 == 0) return true;
  return fail(s, "setmaxnreg takes a number of registers from 24 to 256, a multiple of 8");
}

// The scale of D: up to 15, and for two kinds only (9.7.16.10.9.1).
bool Decoder::scale_fits(const Statement& s, const Instruction& i) {
  if (i.modifiers.tensor_step() != TensorStep::mma || i.modifiers.has(Field::ws)) return true;
  const Operand& scale = program_.operands_of(i)[i.count - 1];
  if (scale.kind != Operand::Kind::constant) return true;
  const std::string_view kind = words_of(Field::kind)[i.modifiers[Field::kind] - 1u];
  if (kind != "kind::f16" && kind != "kind::tf32") {
    return fail(s, fmt::format("scale-input-d is for .kind::f16 and .kind::tf32, not .{}", kind));
  }
  if (scale.value <= 15) return true;
  return fail(s, fmt::format("scale-input-d is {}; it may be 0 to 15",
                             static_cast<std::int64_t>(scale.value)));
}

// .sat is only for results that may not hold what is converted (9.7.9.21); cvt.pack takes only
// registers as wide as its types.
bool Decoder::conversion_fits(const Statement& s, const Instruction& i) {
  for (std::uint32_t k = 0; i.modifiers.has(Field::pack) && k < i.count; ++k) {
    const Operand& o = program_.operands_of(i)[k];
    if (o.kind == Operand::Kind::reg && bits_of(program_.registers[o.index].type) != 32) {
      return fail(s, "cvt.pack takes registers of 32 bits");
    }
  }
  const Type to = i.modifiers.type(), from = i.modifiers.type2();
  const auto is_integer = [](Type type) {
    return class_of(type) == Class::signed_integer || class_of(type) == Class::unsigned_integer;
  };
  if (!i.modifiers.has(Field::sat) || !is_integer(to) || !is_integer(from)) return true;
  const bool holds_all = class_of(to) == class_of(from)
                             ? bits_of(to) >= bits_of(from)
                             : class_of(to) == Class::signed_integer && bits_of(to) > bits_of(from);
  if (!holds_all) return true;
  return fail(
      s, fmt::format(".sat has nothing to do where {} holds every {}", name_of(to), name_of(from)));
}

// "All tcgen05 instructions within a kernel must specify the same value for the .cta_group
// qualifier" (9.7.16.7.1); ptxas refuses others.
bool Decoder::group_fits(const Statement& s, const Instruction& i) {
  if (!i.modifiers.has(Field::cta_group)) return true;
  const std::uint8_t group = i.modifiers[Field::cta_group];
  if (program_.cta_group == 0) {
    program_.cta_group = group;
    program_.cta_group_line = s.line;
  }
  return program_.cta_group == group ||
         fail(s, fmt::format("all tcgen05 instructions of a kernel are of one .cta_group, and line "
                             "{} has .cta_group::{}",
                             program_.cta_group_line, program_.cta_group));
}

// What the table's strings cannot say: sizes that vectors may have, stores that count as such.
bool Decoder::special_forms(const Statement& s, Instruction& i) {
  if (!hint_fits(s, i)) return false;
  const int bytes = bytes_of(i.modifiers.type()) * i.modifiers.vector();
  switch (i.op) {
    case Op::clusterlaunchcontrol:  // its response has four words
      program_.copies = true;
      program_.smallest_store = std::min(program_.smallest_store, 4u);
      break;
    case Op::ld:
    case Op::ldu:
    case Op::st:
      program_.copies = program_.copies || i.modifiers.has(Field::async);
      if (bytes > 32) return fail(s, fmt::format("a vector of {} bytes is wider than 32", bytes));
      if (i.modifiers.vector() == 8 && bytes != 32) {  // 9.7.9.8: .v8 is for 32 bits
        return fail(s, "a vector of eight has elements of 32 bits");
      }
      if (i.op == Op::st && !can_be_written(i)) return fail(s, "a kernel cannot write here");
      if (i.modifiers.has(Field::bulk)) {
        program_.smallest_store = std::min(program_.smallest_store, 8u);
        break;
      }
      if (i.op == Op::st) {
        program_.smallest_store = std::min(
            program_.smallest_store, static_cast<std::uint32_t>(bytes_of(i.modifiers.type())));
      }
      break;
    case Op::sust:
      program_.smallest_store = std::min(program_.smallest_store,
                                         static_cast<std::uint32_t>(bytes_of(i.modifiers.type())));
      break;
    case Op::cp:
      return copy_fits(s, i);
    case Op::setmaxnreg:
      return registers_fit(s, i);
    case Op::alloca_: {  // 9.7.17.3
      program_.allocates = true;
      const std::uint64_t align = program_.operands_of(i)[2].value;  // 0: left out
      if (!(align & (align - 1)) && align <= 1u << 23) break;
      return fail(
          s, fmt::format("alloca aligns by {} bytes; a power of 2 up to 2^23 would work", align));
    }
    case Op::tcgen05:  // reads shared memory while threads go on; alloc writes an address there
      program_.copies = true;
      program_.smallest_store = std::min(program_.smallest_store, 4u);
      return group_fits(s, i) && scale_fits(s, i);
    case Op::wmma:
      if (i.modifiers.operation() == Operation::store) {
        program_.smallest_store = std::min(
            program_.smallest_store, static_cast<std::uint32_t>(bytes_of(i.modifiers.type())));
      }
      break;
    case Op::stmatrix:  // each lane writes what its register holds: whole, or by halves
      program_.smallest_store =
          std::min(program_.smallest_store, i.modifiers.shape() == Shape::m16n8 ? 1u
                                            : i.modifiers.has(Field::trans)     ? 2u
                                                                                : 4u);
      break;
    case Op::atom:
    case Op::red:
      program_.copies = program_.copies || i.modifiers.has(Field::async);
      program_.smallest_store = std::min(program_.smallest_store,
                                         static_cast<std::uint32_t>(bytes_of(i.modifiers.type())));
      break;
    case Op::cvt:
      return conversion_fits(s, i);
    case Op::lop3:
      if (i.modifiers.has(Field::logic) &&
          program_.operands_of(i)[1].kind != Operand::Kind::predicate) {
        return fail(s, "a predicate after '|' is needed: it is what the operation is for");
      }
      break;
    case Op::mov: {
      const Operand* o = program_.operands_of(i);
      if (o[0].kind == Operand::Kind::vector && o[1].kind == Operand::Kind::vector) {
        return fail(s, "mov packs or unpacks, not both");
      }
      break;
    }
    default:
      break;
  }
  return true;
}

namespace {

// Products that the ISA does not have, of words that it has for others (9.7.16.10.9).
std::string what_is_missing(const Statement& s) {
  if (s.opcode != "tcgen05") return "";
  const auto has = [&](std::string_view word) {
    return std::find(s.modifiers.begin(), s.modifiers.end(), word) != s.modifiers.end();
  };
  if (has("ashift") && (has("ws") || has("block_scale"))) {
    return "tcgen05.mma with .ws or .block_scale shifts no rows of A (.ashift): PTX ISA "
           "9.7.16.10.9.1 has it for the others, with A in TMEM";
  }
  if (has("ashift") && (has("collector::a::use") || has("collector::a::fill"))) {
    return "\"It is illegal to specify either of .collector::a::use or .collector::a::fill along "
           "with .ashift\" (PTX ISA 9.7.16.10.9.1); .lastuse and .discard would work";
  }
  if (has("ashift") && s.operands.size() > 1 && s.operands[1].kind != Written::Kind::address) {
    return "tcgen05.mma shifts rows of A (.ashift) where A is in TMEM, [a-tmem], not where a "
           "descriptor says that it is in shared memory (PTX ISA 9.7.16.10.9.1)";
  }
  if (has("ws") &&
      (has("block_scale") || has("kind::mxf8f6f4") || has("kind::mxf4") || has("kind::mxf4nvf4"))) {
    return "tcgen05.mma.ws has no scale factors for blocks of elements (PTX ISA 9.7.16.10.9.3); "
           "tcgen05.mma without .ws has";
  }
  return "";
}

// See match().
std::string looks_of(const Statement& s) {
  std::string out;
  for (const Written& w : s.operands) {
    out += w.indexed                          ? 'e'
           : w.kind == Written::Kind::address ? '['
           : w.kind == Written::Kind::vector  ? '{'
                                              : '.';
  }
  return out;
}

// How many of the modifiers some place of a form takes, less what the form wants besides.
int likeness(const Opcode& row, int form, const std::vector<std::string_view>& modifiers) {
  int taken = 0, missing = 0;
  for (const ModifierRule& rule : modifiers_of(row, form)) {
    const std::vector<std::string_view>& words = words_of(rule.field);
    const bool here = std::any_of(modifiers.begin(), modifiers.end(), [&](std::string_view m) {
      return std::any_of(rule.values.begin(), rule.values.end(),
                         [&](std::uint8_t v) { return words[v - 1u] == m; });
    });
    taken += here;
    missing += !here && !rule.optional;
  }
  return 2 * taken - missing;
}

bool takes_word(const Opcode& row, std::string_view word) {
  for (int form = 0; form < static_cast<int>(row.forms.size()); ++form) {
    for (const ModifierRule& rule : modifiers_of(row, form)) {
      for (std::uint8_t v : rule.values) {
        if (words_of(rule.field)[v - 1u] == word) return true;
      }
    }
  }
  return false;
}

}  // namespace

// The words that no form takes, and the forms that are most like it.
std::string Decoder::why_not_a_form(const Statement& s, const Opcode& row) const {
  std::string strange;
  for (std::string_view m : s.modifiers) {
    if (!takes_word(row, m)) strange += fmt::format("{}.{}", strange.empty() ? "" : ", ", m);
  }
  std::vector<int> order(row.forms.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return likeness(row, a, s.modifiers) > likeness(row, b, s.modifiers);
  });
  constexpr std::size_t shown_forms = 3;
  std::string forms;
  for (std::size_t f = 0; f < std::min(shown_forms, order.size()); ++f) {
    forms += (f ? "; " : "") + syntax(row, order[f]);
  }
  const std::size_t more = order.size() - std::min(shown_forms, order.size());
  return fmt::format("this form of '{}' is not known{} ({}: {}{})", s.opcode,
                     strange.empty() ? "" : fmt::format(": none has {}", strange),
                     more ? "the nearest are" : "there are", forms,
                     more ? fmt::format("; and {} more: tilescope list opcodes", more) : "");
}

bool Decoder::instruction(const Statement& s) {
  Instruction out;
  out.line = s.line;
  out.file = s.file;
  out.source_line = s.source_line;
  out.caller_file = s.caller_file;
  out.caller_line = s.caller_line;
  out.text = s.text;
  const Opcode* row = opcode_named(s.opcode);
  if (const Refused* no = refused_instruction(s.opcode, s.modifiers)) {
    return fail(s, fmt::format("{} (PTX ISA {})", no->why, no->section));
  }
  if (!row) return fail(s, fmt::format("the opcode '{}' is not known", s.opcode));
  if (const std::string what = what_is_missing(s); !what.empty()) return fail(s, what);
  const int form = match(*row, s.modifiers, looks_of(s), out.modifiers);
  if (form < 0) {
    // Which N goes with a type its forms do not show.
    const std::string shape = row->op == Op::wgmma ? wrong_group_shape(s.modifiers) : "";
    if (!shape.empty()) return fail(s, shape);
    return fail(s, why_not_a_form(s, *row));
  }
  out.op = row->op;
  out.form = static_cast<std::uint8_t>(form);
  out.unit = row->unit;
  if (out.unit == Unit::integer && class_of(out.modifiers.type()) == Class::floating) {
    out.unit = Unit::floating;
  }
  const FilePart& part = part_of(routine_);
  if (const std::string why =
          missing_on(part.target, part.version, out.op, out.modifiers, s.operands.size());
      !why.empty()) {
    return fail(s, why);
  }
  if (!guard(s, out) || !operands(s, *row, out) || !move_frame_address(s, out) ||
      !special_forms(s, out)) {
    return false;
  }
  program_.code.push_back(out);
  return true;
}

bool Decoder::function(std::size_t number) {
  routine_ = number;
  routine().first = static_cast<std::uint32_t>(program_.code.size());
  if (routine().builtin != Builtin::none) return true;
  if (!declare_labels()) return false;
  for (const Statement& s : body().statements) {
    if (s.kind == Statement::Kind::instruction && !instruction(s) && !all_) return false;
  }
  // Running off the end of a body returns, so it becomes an instruction like any other.
  Instruction last;
  last.op = Op::ret;
  last.unit = Unit::control;
  last.first = static_cast<std::uint32_t>(program_.operands.size());
  last.line = body().statements.empty() ? functions_[number].function->body_line
                                        : body().statements.back().line;
  last.text = "ret";
  program_.code.push_back(last);
  return true;
}

bool Decoder::run() {
  for (const FilePart& part : program_.module->parts) {
    if (const std::string why = missing_target(part.target, part.version); !why.empty()) {
      return refuse(part.first_line, why);
    }
  }
  program_.capability = target_named(program_.target()).value_or(Target{}).capability;
  program_.shared_start = program_.capability >= 90 ? system_shared : 0;
  if (!declare_module()) return false;
  for (routine_ = 0; routine_ < functions_.size(); ++routine_) {
    if (!declare_function()) return false;
  }
  place_dynamic_shared();
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    if (!function(i)) return false;
  }
  return true;
}

Outcome<Program> decode(std::shared_ptr<const Module> module, const Function& entry,
                        std::uint64_t variables, bool meets) {
  Outcome<std::vector<Reached>> functions = reach(*module, entry);
  if (!functions.ok()) return functions.error();
  Program program;
  program.module = std::move(module);
  program.entry = entry;
  Decoder decoder(program, *functions, nullptr, variables, meets);
  if (!decoder.run()) return decoder.error();
  measure_stack(program);
  find_blocks(program);
  unite_copies(program);
  place_registers(program);
  program.wants_scratch = std::any_of(
      program.specials.begin(), program.specials.end(),
      [](const auto& special) { return special.first == Special::reserved_smem_offset_1; });
  return program;
}

Examined examine(std::shared_ptr<const Module> module, const Function& entry) {
  Examined out;
  out.program.module = std::move(module);
  out.program.entry = entry;
  Outcome<std::vector<Reached>> functions = reach(*out.program.module, entry, &out.refused);
  if (!functions.ok()) {
    out.refused.push_back(functions.error());
    return out;
  }
  Decoder(out.program, *functions, &out.refused).run();
  return out;
}

}  // namespace tilescope::ptx
