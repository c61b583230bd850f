// The fourth level: LLVM's structs, which hold only what is not known; and the fifth, what is left
// when values that were put into a struct and taken out again are used directly.
#include <algorithm>
#include <map>
#include <tuple>

#include "core/lower/build.h"

namespace tilescope::lowering {
namespace {

// What a value of CuTe is in LLVM: a struct, or numbers (a coordinate, an int_tuple: as many as are
// not known), or both.
struct Held {
  Use aggregate;
  std::vector<Val> numbers;
};

class Converter {
 public:
  explicit Converter(const Level& before) : before_(before) { out_.level.llvm = true; }

  Build all() {
    for (std::size_t i = 0; i < before_.statements.size(); ++i) {
      out_.from = {static_cast<int>(i)};
      held_.push_back(convert(before_.statements[i]));
    }
    for (const Use& use : before_.outcome) outcome(use);
    return std::move(out_);
  }

 private:
  const Held& of(const Use& use) const { return held_[static_cast<std::size_t>(use.statement)]; }
  const Type& type(const Use& use) const {
    return before_.statements[static_cast<std::size_t>(use.statement)].type;
  }

  void outcome(const Use& use) {
    out_.from = {use.statement};
    const Held& held = of(use);
    if (held.aggregate.statement >= 0) {
      out_.level.outcome.push_back(held.aggregate);
      return;
    }
    // All results of get_leaves and get_scalars.
    for (std::size_t i = 0; i < held.numbers.size(); ++i) {
      out_.level.outcome.push_back(out_.made(held.numbers[i]));
    }
  }

  Use extract(const Use& from, std::vector<int> path) {
    LlvmType type = out_.type(from).llvm;
    for (const int step : path) {
      LlvmType part = type.parts[static_cast<std::size_t>(step)];
      type = std::move(part);
    }
    const Use out = out_.add(Op::extract, of_llvm(std::move(type)), {from});
    out_.last().path = std::move(path);
    return out;
  }
  Use insert(const Use& into, const Use& what, std::vector<int> path) {
    const Type type = out_.type(into);
    const Use out = out_.add(Op::insert, type, {into, what});
    out_.last().path = std::move(path);
    return out;
  }
  Use undef(LlvmType type) { return out_.add(Op::undef, of_llvm(std::move(type))); }

  // Numbers as the struct of a shape or a stride.
  Use packed(const std::vector<Val>& numbers) {
    if (numbers.size() == 1) return out_.made(numbers[0]);
    LlvmType type{LlvmType::Kind::structure, {}};
    type.parts.resize(numbers.size());
    Use out = undef(std::move(type));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      out = insert(out, out_.made(numbers[i]), {static_cast<int>(i)});
    }
    return out;
  }

  std::vector<Val> numbers_of(const Statement& s) const {
    std::vector<Val> out;
    for (const Use& use : s.uses) {
      const std::vector<Val>& numbers = of(use).numbers;
      out.push_back(numbers[static_cast<std::size_t>(
          std::min<std::size_t>(static_cast<std::size_t>(use.result), numbers.size() - 1))]);
    }
    return out;
  }

  // The numbers of a shape, a stride or a layout; those that are known too, or not.
  std::vector<Val> scalars(const Statement& s) {
    const Type& of_what = type(s.uses[0]);
    const Held held = of(s.uses[0]);
    std::vector<Val> out;
    const bool layout = of_what.kind == Type::Kind::layout;
    std::vector<Int> leaves;
    const auto list = [&](const Tuple& t) {
      for (int i = 0; i < t.leaves; ++i) leaves.push_back(t.leaf[i]);
    };
    if (layout) {
      list(of_what.layout.shape());
      list(of_what.layout.stride());
    } else {
      list(of_what.tuple);
    }
    int unknown = 0;
    for (const Int& leaf : leaves) {
      if (leaf.kind != Int::Kind::dynamic) {
        if (!s.only_dynamic && leaf.known()) out.push_back(leaf.value);
        continue;
      }
      const int at = unknown++;
      if (held.aggregate.statement < 0) {
        out.push_back(held.numbers[static_cast<std::size_t>(at)]);
      } else if (layout) {
        out.push_back(extract(held.aggregate, path_of(of_what.layout, at)));
      } else if (unknowns(of_what.tuple) == 1) {
        out.push_back(held.aggregate);
      } else {
        out.push_back(extract(held.aggregate, {at}));
      }
    }
    return out;
  }

  static void counting(const Tuple& coordinate, const Tree<Mode>& modes, std::vector<bool>& out) {
    if (coordinate.scalar()) {
      out.insert(out.end(), static_cast<std::size_t>(modes.leaves),
                 coordinate.leaf[0].kind != Int::Kind::all);
      return;
    }
    for (int m = 0; m < coordinate.rank(); ++m) {
      counting(coordinate.mode(m), modes.mode(m), out);
    }
  }

  Val index_of(const Statement& s) {
    const Type& at = type(s.uses[0]);
    const Layout& layout = type(s.uses[1]).layout;
    const Use aggregate = of(s.uses[1]).aggregate;
    std::vector<Val> digits;
    std::size_t next = 0;
    for (int i = 0; i < at.tuple.leaves; ++i) {
      const Int& leaf = at.tuple.leaf[i];
      if (leaf.kind == Int::Kind::all) continue;
      digits.push_back(leaf.known() ? Val(leaf.value) : of(s.uses[0]).numbers[next++]);
    }
    std::vector<bool> counts;  // the leaves at `_` do not
    std::vector<LeafVals> leaves(static_cast<std::size_t>(layout.leaves()));
    counting(at.tuple, layout.modes, counts);
    int unknown = 0;
    const auto number = [&](const Int& n, std::size_t leaf) -> Val {
      if (n.known()) return n.value;
      const int which = unknown++;
      return counts[leaf] ? Val(extract(aggregate, path_of(layout, which))) : Val(0);
    };
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      leaves[i].shape = number(layout.modes.leaf[i].shape, i);
    }
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      leaves[i].stride = number(layout.modes.leaf[i].stride, i);
    }
    return offset_of(out_, at.tuple, layout.modes, leaves, digits);
  }

  Held convert(const Statement& s) {
    switch (s.op) {
      case Op::argument:
        return {out_.add(Op::argument, of_llvm(llvm_memref(s.type.layout))), {}};
      case Op::tid_x:
      case Op::ctaid_x:
      case Op::ctaid_y:
      case Op::ctaid_z:
        return {{}, {out_.add(s.op, {})}};
      case Op::make_coord:
        return {{}, numbers_of(s)};
      case Op::make_int_tuple:
        if (s.uses.empty()) return {{}, {s.type.tuple.leaf[0].value}};
        return {{}, numbers_of(s)};
      case Op::assume:
        return {{}, numbers_of(s)};
      case Op::get_iter:
        return {extract(of(s.uses[0]).aggregate, {0}), {}};
      case Op::get_layout:
        return {extract(of(s.uses[0]).aggregate, {1}), {}};
      case Op::get_shape:
        return {extract(of(s.uses[0]).aggregate, {0}), {}};
      case Op::get_stride:
        return {extract(of(s.uses[0]).aggregate, {1}), {}};
      case Op::get_leaves:
      case Op::get_scalars:
        return {{}, scalars(s)};
      case Op::make_shape:
      case Op::make_stride:
        return {packed(numbers_of(s)), {}};
      case Op::make_layout: {
        const Use empty = undef(llvm_layout(s.type.layout));
        const Use shaped = insert(empty, of(s.uses[0]).aggregate, {0});
        return {insert(shaped, of(s.uses[1]).aggregate, {1}), {}};
      }
      case Op::crd2idx:
        return {{}, {index_of(s)}};
      case Op::add_offset: {
        const Use iter = of(s.uses[0]).aggregate;
        const Val index = of(s.uses[1]).numbers[0];
        std::vector<Use> uses{iter};
        if (!index.known) uses.push_back(index.use);
        const Type pointer_type = out_.type(iter);
        const Use out = out_.add(Op::address, pointer_type, std::move(uses));
        out_.last().number = index.number;
        return {out, {}};
      }
      case Op::make_view: {
        const Use empty = undef(llvm_memref(s.type.layout));
        const Use placed = insert(empty, of(s.uses[0]).aggregate, {0});
        if (s.uses.size() < 2) return {placed, {}};
        return {insert(placed, of(s.uses[1]).aggregate, {1}), {}};
      }
      case Op::constant:
        return {{}, {s.number}};
      case Op::mul:
      case Op::add:
      case Op::div:
      case Op::rem:
      case Op::ceil_div: {
        const std::vector<Val> in = numbers_of(s);
        switch (s.op) {
          case Op::mul:
            return {{}, {out_.mul(in[0], in[1])}};
          case Op::add:
            return {{}, {out_.sum(in[0], in[1])}};
          case Op::div:
            return {{}, {out_.div(in[0], in[1])}};
          case Op::rem:
            return {{}, {out_.rem(in[0], in[1])}};
          default:
            return {{}, {out_.ceil_div(in[0], in[1])}};
        }
      }
      default:
        return {};  // atoms, tiles: gone with their partition
    }
  }

  const Level& before_;
  Build out_;
  std::vector<Held> held_;
};

class Folder {
 public:
  explicit Folder(const Level& before) : before_(before) { out_.level.llvm = true; }

  Build all() {
    for (std::size_t i = 0; i < before_.statements.size(); ++i) {
      out_.from = {static_cast<int>(i)};
      now_.push_back(fold(before_.statements[i]));
    }
    for (const Use& use : before_.outcome) {
      out_.from = {use.statement};
      take_apart(of(use), {}, out_.type(of(use)));
    }
    return without_dead();
  }

 private:
  using Key = std::tuple<Op, std::vector<std::pair<int, int>>, std::vector<int>, std::int64_t>;

  Use of(const Use& use) const { return now_[static_cast<std::size_t>(use.statement)]; }

  // The same statement once.
  Use unique(const Statement& s, std::vector<Use> uses, std::vector<int> path) {
    std::vector<std::pair<int, int>> operands;
    for (const Use& use : uses) operands.emplace_back(use.statement, use.result);
    const auto [it, fresh] = seen_.try_emplace(Key(s.op, std::move(operands), path, s.number));
    if (!fresh) {
      std::vector<int>& from =
          out_.level.statements[static_cast<std::size_t>(it->second.statement)].from;
      from.insert(from.end(), out_.from.begin(), out_.from.end());
      std::sort(from.begin(), from.end());
      from.erase(std::unique(from.begin(), from.end()), from.end());
      return it->second;
    }
    it->second = out_.add(s.op, s.type, std::move(uses));
    out_.last().number = s.number;
    out_.last().path = std::move(path);
    return it->second;
  }

  // What lies at a path of a value.
  Use resolve(Use value, std::vector<int> path) {
    for (;;) {
      const Statement& s = out_.at(value);
      if (path.empty()) return value;
      if (s.op == Op::extract) {
        std::vector<int> whole = s.path;
        whole.insert(whole.end(), path.begin(), path.end());
        path = std::move(whole);
        value = s.uses[0];
        continue;
      }
      if (s.op != Op::insert) break;
      const std::size_t common = std::min(s.path.size(), path.size());
      if (!std::equal(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(common),
                      s.path.begin())) {
        value = s.uses[0];
        continue;
      }
      if (path.size() < s.path.size()) break;
      path.erase(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(s.path.size()));
      value = s.uses[1];
    }
    Statement extract;
    extract.op = Op::extract;
    LlvmType type = out_.type(value).llvm;
    for (const int step : path) {
      LlvmType part = type.parts[static_cast<std::size_t>(step)];
      type = std::move(part);
    }
    extract.type = of_llvm(std::move(type));
    return unique(extract, {value}, std::move(path));
  }

  Use fold(const Statement& s) {
    if (s.op == Op::extract) return resolve(of(s.uses[0]), s.path);
    std::vector<Use> uses;
    for (const Use& use : s.uses) uses.push_back(of(use));
    return unique(s, std::move(uses), s.path);
  }

  // A struct that is answered as what is in it: loads and stores take the pointer and the numbers.
  void take_apart(const Use& value, const std::vector<int>& path, Type type) {
    if (type.kind != Type::Kind::llvm || type.llvm.kind != LlvmType::Kind::structure) {
      out_.level.outcome.push_back(resolve(value, path));
      return;
    }
    for (std::size_t i = 0; i < type.llvm.parts.size(); ++i) {
      std::vector<int> deeper = path;
      deeper.push_back(static_cast<int>(i));
      take_apart(value, deeper, of_llvm(type.llvm.parts[i]));
    }
  }

  Build without_dead() {
    const std::vector<Statement>& all = out_.level.statements;
    std::vector<bool> alive(all.size());
    if (!all.empty()) alive[0] = true;  // %arg0
    for (const Use& use : out_.level.outcome) alive[static_cast<std::size_t>(use.statement)] = true;
    for (std::size_t i = all.size(); i-- > 0;) {
      if (!alive[i]) continue;
      for (const Use& use : all[i].uses) alive[static_cast<std::size_t>(use.statement)] = true;
    }
    Build out;
    out.level.llvm = true;
    std::vector<int> place(all.size());
    const auto moved = [&](const Use& use) {
      return Use{place[static_cast<std::size_t>(use.statement)], use.result};
    };
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!alive[i]) continue;
      place[i] = static_cast<int>(out.level.statements.size());
      Statement s = all[i];
      for (Use& use : s.uses) use = moved(use);
      out.level.statements.push_back(std::move(s));
    }
    for (const Use& use : out_.level.outcome) out.level.outcome.push_back(moved(use));
    return out;
  }

  const Level& before_;
  Build out_;
  std::vector<Use> now_;
  std::map<Key, Use> seen_;
};

}  // namespace

Outcome<Build> to_llvm(const Lowering&, const Level& before) {
  return Converter(before).all();
}

Build folded(const Level& before) {
  return Folder(before).all();
}

}  // namespace tilescope::lowering
