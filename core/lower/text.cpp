// Statements and types as the IR of CuTe and of LLVM is printed.
#include "core/layout/text.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/lower/build.h"

namespace tilescope::lowering {
namespace {

// MLIR's name of an element type.
std::string_view element(ElementType type) {
  switch (type) {
    case ElementType::s8:
    case ElementType::u8:
      return "i8";
    case ElementType::s16:
    case ElementType::u16:
      return "i16";
    case ElementType::s32:
    case ElementType::u32:
      return "i32";
    case ElementType::s64:
    case ElementType::u64:
      return "i64";
    case ElementType::u128:
      return "i128";
    case ElementType::u256:
      return "i256";
    case ElementType::e4m3:
      return "f8E4M3FN";
    case ElementType::e5m2:
      return "f8E5M2";
    case ElementType::ue8m0:
      return "f8E8M0FNU";
    default:
      return name_of(type);
  }
}

// LLVM has no type of 8-bit floats: addresses count them as bytes.
std::string_view llvm_element(ElementType type) {
  const std::string_view name = element(type);
  return name.substr(0, 2) == "f8" ? "i8" : name;
}

std::string_view llvm_pointer(Memory memory) {
  return memory == Memory::gmem ? "ptr<1>" : memory == Memory::smem ? "ptr<3>" : "ptr";
}

std::string llvm_text(const Lowering& l, const LlvmType& type, bool inside) {
  switch (type.kind) {
    case LlvmType::Kind::i32:
      return "i32";
    case LlvmType::Kind::pointer:
      return (inside ? "" : "!llvm.") + std::string(llvm_pointer(l.tensor.memory));
    default: {
      std::string parts;
      for (const LlvmType& part : type.parts) {
        parts += (parts.empty() ? "" : ", ") + llvm_text(l, part, true);
      }
      return (inside ? "struct<(" : "!llvm.struct<(") + parts + ")>";
    }
  }
}

std::string aligned(std::int64_t align) {
  return align > 0 ? fmt::format(", align<{}>", align) : std::string();
}

std::string atom_text(const TiledCopy& copy) {
  const std::string_view value = element(copy.atom.value);
  const Result<std::int64_t> bits = size(Layout(copy.atom.src_bits.modes.mode(1)));
  if (copy.atom.name.view().substr(0, 13) != "UniversalCopy" || !bits) {
    return fmt::format("!cute_nvgpu.atom<\"{}\">", copy.atom.name.view());
  }
  return *bits == bits_of(copy.atom.value)
             ? fmt::format("!cute_nvgpu.atom.universal_copy<{}>", value)
             : fmt::format("!cute_nvgpu.atom.universal_copy<{}, {} b>", value, *bits);
}

std::string tile_text(const TiledCopy& copy) {
  std::string modes;
  for (int i = 0; i < copy.tiler.rank(); ++i) {
    modes += (i > 0 ? ";" : "") + tilescope::text(copy.tiler.mode(i)) + ":1";
  }
  return "[" + modes + "]";
}

std::string_view word_of(Type::Kind kind) {
  switch (kind) {
    case Type::Kind::shape:
      return "shape";
    case Type::Kind::stride:
      return "stride";
    case Type::Kind::coord:
      return "coord";
    default:
      return "int_tuple";
  }
}

// The name that the lines above give a type; the type itself where they give none.
std::string named(const Lowering& l, const Type& type) {
  if (type.kind == Type::Kind::tiled_copy) return "!copy_simt";
  if (type.kind != Type::Kind::memref) return text(l, type);
  int number = 0;
  for (const Type& known : l.memrefs) {
    if (known.layout == type.layout && known.align == type.align) {
      return fmt::format("!memref_{}_{}{}", name_of(l.tensor.memory), element(l.tensor.type),
                         number == 0 ? std::string() : fmt::format("_{}", number));
    }
    ++number;
  }
  return text(l, type);
}

class Printer {
 public:
  Printer(const Lowering& l, const Level& level, const Statement& s)
      : l_(l), level_(level), s_(s) {}

  std::string whole() const {
    if (s_.op == Op::argument) return fmt::format("{}: {}", s_.names[0], type_of(s_.type));
    std::string left;
    for (const std::string& name : s_.names) left += (left.empty() ? "" : ", ") + name;
    if (s_.results > 1 && s_.names.size() == 1) left += fmt::format(":{}", s_.results);
    return left + " = " + right();
  }

 private:
  const Statement& at(std::size_t i) const {
    return level_.statements[static_cast<std::size_t>(s_.uses[i].statement)];
  }
  std::string type_of(const Type& type) const { return named(l_, type); }
  std::string type(std::size_t use) const { return type_of(at(use).type); }
  std::string operand(std::size_t i) const {
    const Statement& s = at(i);
    const int result = s_.uses[i].result;
    if (s.names.size() > 1) return s.names[static_cast<std::size_t>(result)];
    return s.results > 1 ? fmt::format("{}#{}", s.names[0], result) : s.names[0];
  }
  std::string operands() const {
    std::string out;
    for (std::size_t i = 0; i < s_.uses.size(); ++i) out += (i > 0 ? ", " : "") + operand(i);
    return out;
  }
  std::string types() const {
    std::string out;
    for (std::size_t i = 0; i < s_.uses.size(); ++i) out += (i > 0 ? ", " : "") + type(i);
    return out;
  }
  std::string path() const {
    std::string out;
    for (const int step : s_.path) out += (out.empty() ? "" : ", ") + fmt::format("{}", step);
    return "[" + out + "]";
  }
  // cute.NAME(operands) : TYPES of the operands
  std::string of(std::string_view name) const {
    return fmt::format("cute.{}({}) : {}", name, operands(), types());
  }
  // cute.NAME(operands) : (TYPES) -> TYPE
  std::string to(std::string_view name) const {
    return fmt::format("cute.{}({}) : ({}) -> {}", name, operands(), types(), type_of(s_.type));
  }
  // cute.NAME(operands) : TYPE of the result
  std::string as(std::string_view name) const {
    return fmt::format("cute.{}({}) : {}", name, operands(), type_of(s_.type));
  }
  std::string computed(std::string_view name, std::string_view in_llvm, bool nsw) const {
    return fmt::format("{} {}, {}{} : i32",
                       level_.llvm ? std::string(in_llvm) : fmt::format("arith.{}", name),
                       operand(0), operand(1), nsw ? " overflow<nsw>" : "");
  }

  std::string right() const {
    switch (s_.op) {
      case Op::tid_x:
        return "nvvm.read.ptx.sreg.tid.x : i32";
      case Op::ctaid_x:
        return "nvvm.read.ptx.sreg.ctaid.x : i32";
      case Op::ctaid_y:
        return "nvvm.read.ptx.sreg.ctaid.y : i32";
      case Op::ctaid_z:
        return "nvvm.read.ptx.sreg.ctaid.z : i32";
      case Op::make_coord:
        return to("make_coord");
      case Op::make_shape:
        return to("make_shape");
      case Op::make_stride:
        return to("make_stride");
      case Op::make_int_tuple:
        return to("make_int_tuple");
      case Op::make_atom:
        return to("make_atom");
      case Op::make_tile:
        return to("make_tile");
      case Op::make_layout:
        return as("make_layout");
      case Op::make_tiled_copy:
        return as("make_tiled_copy");
      case Op::make_view:
        return as("make_view");
      case Op::partition:
        return to(s_.side == Side::source ? "tiled.copy.partition_S" : "tiled.copy.partition_D");
      case Op::slice:
        return of("slice");
      case Op::get_iter:
        return of("get_iter");
      case Op::get_layout:
        return of("get_layout");
      case Op::get_leaves:
        return of("get_leaves");
      case Op::get_shape:
        return to("get_shape");
      case Op::get_stride:
        return to("get_stride");
      case Op::get_scalars:
        return fmt::format("cute.get_scalars({}){} : {}", operands(),
                           s_.only_dynamic ? " <{only_dynamic}>" : "", types());
      case Op::crd2idx:
        return to("crd2idx");
      case Op::add_offset:
        return to("add_offset");
      case Op::assume:
        return to("assume");
      default:
        return plain();
    }
  }

  std::string plain() const {
    switch (s_.op) {
      case Op::constant:
        return level_.llvm ? fmt::format("llvm.mlir.constant({} : i32) : i32", s_.number)
                           : fmt::format("arith.constant {} : i32", s_.number);
      case Op::mul:
        return computed("muli", "llvm.mul", true);
      case Op::add:
        return computed("addi", "llvm.add", true);
      case Op::div:
        return computed("divsi", "llvm.sdiv", false);
      case Op::rem:
        return computed("remsi", "llvm.srem", false);
      case Op::ceil_div:
        return computed("ceildivsi", "", false);
      case Op::undef:
        return "llvm.mlir.undef : " + type_of(s_.type);
      case Op::insert:
        return fmt::format("llvm.insertvalue {}, {}{} : {}", operand(1), operand(0), path(),
                           type_of(s_.type));
      case Op::extract:
        return fmt::format("llvm.extractvalue {}{} : {}", operand(0), path(), type(0));
      case Op::address: {
        const bool indexed = s_.uses.size() > 1;
        return fmt::format("llvm.getelementptr {}[{}] : ({}{}) -> {}, {}", operand(0),
                           indexed ? operand(1) : fmt::format("{}", s_.number), type(0),
                           indexed ? ", i32" : "", type_of(s_.type), llvm_element(l_.tensor.type));
      }
      default:
        return {};
    }
  }

  const Lowering& l_;
  const Level& level_;
  const Statement& s_;
};

// --- formulas ---------------------------------------------------------------------------------

struct Formula {
  const Level& level;

  const Statement& at(const Use& use) const {
    return level.statements[static_cast<std::size_t>(use.statement)];
  }
  bool atom(const Use& use) const {
    const Statement& s = at(use);
    if (s.op == Op::assume || (s.op == Op::get_scalars && of_coordinate(s))) {
      return atom(s.uses[0]);
    }
    if (s.op == Op::make_coord) return s.uses.empty() || atom(s.uses[0]);
    return s.op != Op::mul && s.op != Op::add && s.op != Op::div && s.op != Op::rem;
  }
  bool of_coordinate(const Statement& s) const {
    return at(s.uses[0]).type.kind == Type::Kind::coord && at(s.uses[0]).uses.size() == 1;
  }
  std::string closed(const Use& use) const { return atom(use) ? of(use) : "(" + of(use) + ")"; }
  std::string of(const Use& use) const {
    const Statement& s = at(use);
    switch (s.op) {
      case Op::constant:
        return fmt::format("{}", s.number);
      case Op::tid_x:
        return "tid";
      case Op::ctaid_x:
        return "bid";
      case Op::ctaid_y:
        return "bid.y";
      case Op::ctaid_z:
        return "bid.z";
      case Op::assume:
      case Op::make_int_tuple:
      case Op::make_coord:
        return s.uses.empty() ? tilescope::text(s.type.tuple) : of(s.uses[0]);
      case Op::get_scalars:
        if (of_coordinate(s)) return of(at(s.uses[0]).uses[0]);
        return s.results > 1 ? fmt::format("?{}", use.result) : "?";
      case Op::extract: {
        std::string path;
        for (const int step : s.path) path += (path.empty() ? "" : ",") + fmt::format("{}", step);
        return "[" + path + "]";
      }
      case Op::mul: {
        const bool product = at(s.uses[0]).op == Op::mul;
        return (product ? of(s.uses[0]) : closed(s.uses[0])) + " * " + closed(s.uses[1]);
      }
      case Op::add:
        return of(s.uses[0]) + " + " +
               (at(s.uses[1]).op == Op::add ? closed(s.uses[1]) : of(s.uses[1]));
      case Op::div:
        return closed(s.uses[0]) + " / " + closed(s.uses[1]);
      case Op::rem:
        return closed(s.uses[0]) + " mod " + closed(s.uses[1]);
      case Op::ceil_div:
        return "ceil(" + of(s.uses[0]) + " / " + closed(s.uses[1]) + ")";
      default:
        return s.names.empty() ? "" : s.names[0];
    }
  }
};

}  // namespace

std::string text(const Lowering& l, const Type& type) {
  const std::string_view value = element(l.tensor.type), memory = name_of(l.tensor.memory);
  switch (type.kind) {
    case Type::Kind::i32:
      return type.divisible > 1 ? fmt::format("!cute.i32<divby {}>", type.divisible) : "i32";
    case Type::Kind::pointer:
      return fmt::format("!cute.ptr<{}, {}{}>", value, memory, aligned(type.align));
    case Type::Kind::memref:
      return fmt::format("!cute.memref<{}, {}{}, \"{}\">", value, memory, aligned(type.align),
                         tilescope::text(type.layout));
    case Type::Kind::layout:
      return fmt::format("!cute.layout<\"{}\">", tilescope::text(type.layout));
    case Type::Kind::atom:
      return l.copy ? atom_text(*l.copy) : "";
    case Type::Kind::tile:
      return l.copy ? fmt::format("!cute.tile<\"{}\">", tile_text(*l.copy)) : "";
    case Type::Kind::tiled_copy:
      return l.copy
                 ? fmt::format(
                       "!cute.tiled_copy<{}, layout_copy_tv = <\"{}\">, tiler_mn = <\"{}\">>",
                       atom_text(*l.copy), tilescope::text(l.copy->layout_tv), tile_text(*l.copy))
                 : "";
    case Type::Kind::llvm:
      return llvm_text(l, type.llvm, false);
    default:
      return fmt::format("!cute.{}<\"{}\">", word_of(type.kind), tilescope::text(type.tuple));
  }
}

std::vector<std::string> type_lines(const Lowering& l) {
  std::vector<std::string> out;
  if (l.copy) {
    Type copy;
    copy.kind = Type::Kind::tiled_copy;
    out.push_back("!copy_simt = " + text(l, copy));
  }
  for (const Type& type : l.memrefs) out.push_back(named(l, type) + " = " + text(l, type));
  return out;
}

std::string text(const Lowering& l, const Level& level, int statement) {
  const Statement& s = level.statements[static_cast<std::size_t>(statement)];
  return level.instructions ? s.words : Printer(l, level, s).whole();
}

std::string page(const Lowering& l) {
  std::string out;
  for (const std::string& line : type_lines(l)) out += line + "\n";
  for (const std::string& note : l.notes) out += note + "\n";
  for (const Level& level : l.levels) {
    out += fmt::format("\n{}: {}\n", level.title, level.says);
    for (std::size_t i = 0; i < level.statements.size(); ++i) {
      out += fmt::format("{:>4}  {}\n", i, text(l, level, static_cast<int>(i)));
    }
  }
  return out;
}

std::string formula(const Level& level, const Use& use) {
  return Formula{level}.of(use);
}

}  // namespace tilescope::lowering
