#include "core/lower/build.h"

#include <fmt/format.h>

#include <set>

namespace tilescope::lowering {

// --- types ------------------------------------------------------------------------------------

Type memref(const Layout& layout, std::int64_t align) {
  Type out;
  out.kind = Type::Kind::memref;
  out.layout = layout;
  out.align = align;
  return out;
}

Type pointer(std::int64_t align) {
  Type out;
  out.kind = Type::Kind::pointer;
  out.align = align;
  return out;
}

Type of_layout(const Layout& layout) {
  Type out;
  out.kind = Type::Kind::layout;
  out.layout = layout;
  return out;
}

Type of_tuple(Type::Kind kind, const Tuple& tuple) {
  Type out;
  out.kind = kind;
  out.tuple = tuple;
  return out;
}

Type of_llvm(LlvmType type) {
  Type out;
  out.kind = Type::Kind::llvm;
  out.llvm = std::move(type);
  return out;
}

int unknowns(const Tuple& tuple) {
  int n = 0;
  for (int i = 0; i < tuple.leaves; ++i) n += tuple.leaf[i].kind == Int::Kind::dynamic;
  return n;
}

int shape_unknowns(const Layout& layout) {
  return unknowns(layout.shape());
}
int stride_unknowns(const Layout& layout) {
  return unknowns(layout.stride());
}
bool all_known(const Layout& layout) {
  return shape_unknowns(layout) + stride_unknowns(layout) == 0;
}

LlvmType llvm_numbers(const Tuple& tuple) {
  const int n = unknowns(tuple);
  if (n == 1) return {};
  LlvmType out{LlvmType::Kind::structure, {}};
  out.parts.resize(static_cast<std::size_t>(n));
  return out;
}

LlvmType llvm_layout(const Layout& layout) {
  return {LlvmType::Kind::structure, {llvm_numbers(layout.shape()), llvm_numbers(layout.stride())}};
}

LlvmType llvm_memref(const Layout& layout) {
  return {LlvmType::Kind::structure, {{LlvmType::Kind::pointer, {}}, llvm_layout(layout)}};
}

std::vector<int> path_of(const Layout& layout, int unknown) {
  const int shapes = shape_unknowns(layout);
  const bool of_shape = unknown < shapes;
  const int count = of_shape ? shapes : stride_unknowns(layout);
  std::vector<int> out{of_shape ? 0 : 1};
  if (count > 1) out.push_back(of_shape ? unknown : unknown - shapes);
  return out;
}

// --- statements -------------------------------------------------------------------------------

Use Build::add(Op op, Type type, std::vector<Use> uses) {
  Statement s;
  s.op = op;
  s.type = std::move(type);
  s.uses = std::move(uses);
  s.from = from;
  level.statements.push_back(std::move(s));
  return {static_cast<int>(level.statements.size()) - 1, 0};
}

Use Build::made(const Val& value) {
  if (!value.known) return value.use;
  const Use out = add(Op::constant, {});
  last().number = value.number;
  return out;
}

Val Build::binary(Op op, const Val& a, const Val& b) {
  const Use x = made(a), y = made(b);
  return add(op, {}, {x, y});
}

Val Build::mul(const Val& a, const Val& b) {
  if (a.known && b.known) return a.number * b.number;
  if (a.is(0) || b.is(0)) return 0;
  if (a.is(1)) return b;
  if (b.is(1)) return a;
  return a.known ? binary(Op::mul, b, a) : binary(Op::mul, a, b);
}

Val Build::sum(const Val& a, const Val& b) {
  if (a.known && b.known) return a.number + b.number;
  if (a.is(0)) return b;
  if (b.is(0)) return a;
  return a.known ? binary(Op::add, b, a) : binary(Op::add, a, b);
}

Val Build::div(const Val& a, const Val& b) {
  if (a.known && b.known) return a.number / b.number;
  if (a.is(0) || b.is(1)) return a;
  return binary(Op::div, a, b);
}

Val Build::rem(const Val& a, const Val& b) {
  if (a.known && b.known) return a.number % b.number;
  if (a.is(0) || b.is(1)) return 0;
  return binary(Op::rem, a, b);
}

Val Build::ceil_div(const Val& a, const Val& b) {
  if (a.known && b.known) return tilescope::ceil_div(a.number, b.number);
  if (a.is(0) || b.is(1)) return a;
  if (!level.llvm) return binary(Op::ceil_div, a, b);
  return div(sum(a, b.number - 1), b);
}

// --- offsets ----------------------------------------------------------------------------------

namespace {

// Of one number over leaves [begin, end).
void split(Build& build, const Val& number, const std::vector<LeafVals>& leaves, int begin, int end,
           Val& total) {
  Val rest = number;
  int last_moving = -1;
  for (int i = begin; i < end; ++i) {
    if (!leaves[static_cast<std::size_t>(i)].stride.is(0)) last_moving = i;
  }
  for (int i = begin; i <= last_moving; ++i) {
    const LeafVals& leaf = leaves[static_cast<std::size_t>(i)];
    const Val whole = rest;
    const bool last = i + 1 == end;
    if (!last && i < last_moving) rest = build.div(whole, leaf.shape);
    if (leaf.stride.is(0)) continue;
    const Val digit = last ? whole : build.rem(whole, leaf.shape);
    total = build.sum(total, build.mul(digit, leaf.stride));
  }
}

void walk(Build& build, const Tuple& coordinate, const Tree<Mode>& modes,
          const std::vector<LeafVals>& leaves, const std::vector<Val>& digits, int& leaf,
          std::size_t& digit, Val& total) {
  if (coordinate.scalar()) {
    if (coordinate.leaf[0].kind != Int::Kind::all) {
      split(build, digits[digit++], leaves, leaf, leaf + modes.leaves, total);
    }
    leaf += modes.leaves;
    return;
  }
  for (int m = 0; m < coordinate.rank(); ++m) {
    walk(build, coordinate.mode(m), modes.mode(m), leaves, digits, leaf, digit, total);
  }
}

}  // namespace

Val offset_of(Build& build, const Tuple& coordinate, const Tree<Mode>& modes,
              const std::vector<LeafVals>& leaves, const std::vector<Val>& digits) {
  Val total = 0;
  int leaf = 0;
  std::size_t digit = 0;
  walk(build, coordinate, modes, leaves, digits, leaf, digit, total);
  return total;
}

// --- names ------------------------------------------------------------------------------------

namespace {

// As CuTe's dialect suggests them; empty for what is only counted.
std::string suggested(const Statement& s) {
  switch (s.op) {
    case Op::argument:
      return "arg0";
    case Op::make_coord:
      return "coord";
    case Op::make_shape:
      return "shape";
    case Op::make_stride:
      return "stride";
    case Op::make_layout:
    case Op::get_layout:
      return "lay";
    case Op::make_int_tuple:
      return "int_tuple";
    case Op::make_atom:
      return "atom";
    case Op::make_tile:
      return "tile";
    case Op::partition:
      return s.side == Side::source ? "src_partitioned" : "dst_partitioned";
    case Op::slice:
      return "slice";
    case Op::get_iter:
      return "iter";
    case Op::crd2idx:
      return "idx";
    case Op::add_offset:
      return "ptr";
    case Op::make_view:
      return "view";
    case Op::assume:
      return "iv";
    case Op::constant:
      return s.number < 0 ? fmt::format("c-{}_i32", -s.number) : fmt::format("c{}_i32", s.number);
    default:
      return {};
  }
}

}  // namespace

void name_all(Level& level) {
  std::set<std::string> taken;
  int conflicts = 0, numbers = 0;
  const auto unique = [&](const std::string& base) {
    std::string name = base;
    while (!taken.insert(name).second) name = fmt::format("{}_{}", base, conflicts++);
    return "%" + name;
  };
  for (Statement& s : level.statements) {
    s.names.clear();
    if (s.op == Op::get_leaves) {
      for (int i = 0; i < s.results; ++i) s.names.push_back(unique(fmt::format("e{}", i)));
      continue;
    }
    const std::string base = level.llvm && s.op != Op::argument ? std::string() : suggested(s);
    s.names.push_back(base.empty() ? fmt::format("%{}", numbers++) : unique(base));
  }
}

}  // namespace tilescope::lowering
