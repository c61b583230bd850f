#include "core/lower/check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <random>

#include "core/layout/text.h"
#include "core/lower/followed.h"

namespace tilescope::lowering {
namespace {

Tuple filled(const Tuple& tuple, const std::vector<std::int64_t>& numbers, std::size_t first = 0) {
  Tuple out = tuple;
  for (int i = 0; i < out.leaves; ++i) {
    if (out.leaf[i].kind == Int::Kind::dynamic) out.leaf[i] = Int(numbers[first++]);
  }
  return out;
}

// As a machine does it, without an end: levels are compared, and all wrap alike.
std::int64_t wrapped_mul(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}
std::int64_t wrapped_add(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

// layout(index), likewise.
std::int64_t offset_at(const Layout& layout, std::int64_t index) {
  std::int64_t sum = 0;
  for (int i = 0; i < layout.leaves(); ++i) {
    const Mode& m = layout.modes.leaf[i];
    const bool last = i + 1 == layout.leaves();
    sum = wrapped_add(sum, wrapped_mul(last ? index : index % m.shape.value, m.stride.value));
    if (!last) index /= m.shape.value;
  }
  return sum;
}

Error wrong(std::string sentence) {
  return {ErrorKind::mismatch, std::move(sentence), ""};
}

// A value of any level; each statement reads the parts that its kind has.
struct Datum {
  std::int64_t number = 0;         // i32; a pointer's offset
  Layout layout;                   // memref, layout
  Tuple tuple;                     // coord, shape, stride, int_tuple
  std::vector<std::int64_t> many;  // results
  std::vector<Datum> parts;        // of a struct
};

class Machine {
 public:
  // What partitions and slices keep depends on types alone: found once for many runs.
  using Kept = std::map<const Statement*, Followed>;

  Machine(const Lowering& l, const Level& level, const Inputs& inputs, Kept& kept)
      : l_(l), level_(level), inputs_(inputs), kept_(kept) {}

  Outcome<std::vector<std::int64_t>> run() {
    for (const Statement& s : level_.statements) {
      Outcome<Datum> value = level_.llvm ? in_llvm(s) : in_cute(s);
      if (!value) return value.error();
      values_.push_back(std::move(*value));
    }
    std::vector<std::int64_t> out;
    for (const Use& use : level_.outcome) {
      const auto at = static_cast<std::size_t>(use.statement);
      if (level_.llvm) {
        flatten(values_[at], level_.statements[at].type, out);
      } else {
        answer(values_[at], level_.statements[at], out);
      }
    }
    return out;
  }

  // After run().
  std::vector<std::optional<std::int64_t>> scalars() const {
    std::vector<std::optional<std::int64_t>> out;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const Statement& s = level_.statements[i];
      const bool one =
          s.type.kind == Type::Kind::i32 ||
          (s.type.kind == Type::Kind::llvm && s.type.llvm.kind != LlvmType::Kind::structure);
      out.push_back(one && s.results == 1 ? std::optional(values_[i].number) : std::nullopt);
    }
    return out;
  }

 private:
  const Datum& in(const Statement& s, std::size_t i) const {
    return values_[static_cast<std::size_t>(s.uses[i].statement)];
  }
  const Type& type(const Statement& s, std::size_t i) const {
    return level_.statements[static_cast<std::size_t>(s.uses[i].statement)].type;
  }
  std::int64_t number(const Statement& s, std::size_t i) const {
    const Datum& d = in(s, i);
    return d.many.empty() ? d.number : d.many[static_cast<std::size_t>(s.uses[i].result)];
  }
  std::vector<std::int64_t> numbers(const Statement& s) const {
    std::vector<std::int64_t> out;
    for (std::size_t i = 0; i < s.uses.size(); ++i) out.push_back(number(s, i));
    return out;
  }

  static void unknown_of(const Layout& type, const Layout& layout, std::vector<std::int64_t>& out) {
    for (int i = 0; i < type.leaves(); ++i) {
      if (!type.modes.leaf[i].shape.known()) out.push_back(layout.modes.leaf[i].shape.value);
    }
    for (int i = 0; i < type.leaves(); ++i) {
      if (!type.modes.leaf[i].stride.known()) out.push_back(layout.modes.leaf[i].stride.value);
    }
  }
  static void flatten(const Datum& d, const Type& type, std::vector<std::int64_t>& out) {
    if (type.kind != Type::Kind::llvm || type.llvm.kind != LlvmType::Kind::structure) {
      out.push_back(d.number);
      return;
    }
    for (std::size_t i = 0; i < type.llvm.parts.size(); ++i) {
      Type part;
      part.kind = Type::Kind::llvm;
      part.llvm = type.llvm.parts[i];
      flatten(i < d.parts.size() ? d.parts[i] : Datum{}, part, out);
    }
  }
  static void answer(const Datum& d, const Statement& s, std::vector<std::int64_t>& out) {
    switch (s.type.kind) {
      case Type::Kind::memref:
        out.push_back(d.number);
        return unknown_of(s.type.layout, d.layout, out);
      case Type::Kind::layout:
        return unknown_of(s.type.layout, d.layout, out);
      case Type::Kind::pointer:
        return out.push_back(d.number);
      case Type::Kind::int_tuple:
        return out.push_back(d.tuple.leaf[0].value);
      case Type::Kind::shape:
      case Type::Kind::stride:
      case Type::Kind::coord:
        for (int i = 0; i < s.type.tuple.leaves; ++i) {
          if (!s.type.tuple.leaf[i].known()) out.push_back(d.tuple.leaf[i].value);
        }
        return;
      default:
        if (d.many.empty()) return out.push_back(d.number);
        out.insert(out.end(), d.many.begin(), d.many.end());
    }
  }

  // The leaves of a layout or tuple, or those that its type does not know.
  std::vector<std::int64_t> leaves_of(const Statement& s) const {
    const Type& type = level_.statements[static_cast<std::size_t>(s.uses[0].statement)].type;
    const Datum& d = in(s, 0);
    std::vector<Tuple> types, values;
    if (type.kind == Type::Kind::layout) {
      types = {type.layout.shape(), type.layout.stride()};
      values = {d.layout.shape(), d.layout.stride()};
    } else {
      types = {type.tuple};
      values = {d.tuple};
    }
    std::vector<std::int64_t> out;
    for (std::size_t t = 0; t < types.size(); ++t) {
      for (int i = 0; i < types[t].leaves; ++i) {
        const Int::Kind kind = types[t].leaf[i].kind;
        if (kind == Int::Kind::all || (s.only_dynamic && kind == Int::Kind::number)) continue;
        out.push_back(values[t].leaf[i].value);
      }
    }
    return out;
  }

  // A tensor or a layout after a slice or a partition. Its numbers are those of its type, so that
  // modes that happen to run into each other are not joined.
  Datum part(const Statement& s, const Datum& whole, const Followed& kept,
             std::int64_t offset) const {
    std::vector<std::int64_t> before;
    unknown_of(
        level_.statements[static_cast<std::size_t>(s.uses[s.op == Op::partition ? 1 : 0].statement)]
            .type.layout,
        whole.layout, before);
    std::vector<std::int64_t> after;
    for (const std::vector<Origin>* origins : {&kept.shape, &kept.stride}) {
      for (const Origin& o : *origins) {
        if (o.known) continue;
        const std::int64_t source = before[static_cast<std::size_t>(o.source)];
        after.push_back(o.divided ? ceil_div(source, o.factor) : wrapped_mul(source, o.factor));
      }
    }
    Datum out;
    out.layout = lowering::filled(kept.layout, after);
    out.number = wrapped_add(whole.number, offset);
    return out;
  }

  Outcome<Datum> in_cute(const Statement& s) {
    Datum out;
    switch (s.op) {
      case Op::argument:
        out.layout = lowering::filled(s.type.layout, inputs_.unknowns);
        return out;
      case Op::make_coord:
      case Op::make_shape:
      case Op::make_stride:
      case Op::make_int_tuple:
        out.tuple = filled(s.type.tuple, numbers(s));
        return divisible(out.tuple, s.type.tuple);
      case Op::make_layout: {
        const Result<Layout> made = make_layout(in(s, 0).tuple, in(s, 1).tuple);
        if (!made) return wrong(sentence(made.refusal));
        out.layout = *made;
        return out;
      }
      case Op::partition: {
        const Int thread = in(s, 2).tuple.leaf[0];
        const Result<Slice> real = partition(*l_.copy, s.side, thread, in(s, 1).layout);
        if (!real) return refused(sentence(real.refusal));
        if (kept_.count(&s) == 0) {
          const Outcome<FollowedPartition> f =
              follow_partition(*l_.copy, s.side, Int::unknown(), type(s, 1).layout);
          if (!f) return f.error();
          kept_[&s] = f->part;
        }
        return part(s, in(s, 1), kept_[&s], real->offset.offset().value);
      }
      case Op::slice: {
        const Result<Slice> real = slice(in(s, 1).tuple, in(s, 0).layout);
        if (!real) return wrong(sentence(real.refusal));
        if (kept_.count(&s) == 0) {
          const Outcome<Followed> kept = follow_slice(type(s, 1).tuple, type(s, 0).layout);
          if (!kept) return kept.error();
          kept_[&s] = *kept;
        }
        const bool tensor = type(s, 0).kind == Type::Kind::memref;
        return part(s, in(s, 0), kept_[&s], tensor ? real->offset.offset().value : 0);
      }
      case Op::get_iter:
        out.number = in(s, 0).number;
        return out;
      case Op::get_layout:
        out.layout = in(s, 0).layout;
        return out;
      case Op::get_shape:
        out.tuple = in(s, 0).layout.shape();
        return out;
      case Op::get_stride:
        out.tuple = in(s, 0).layout.stride();
        return out;
      case Op::get_leaves:
      case Op::get_scalars:
        out.many = leaves_of(s);
        return out;
      case Op::crd2idx: {
        const Result<Slice> real = slice(in(s, 0).tuple, in(s, 1).layout);
        if (!real) return wrong(sentence(real.refusal));
        out.tuple = Tuple(real->offset.offset().value);
        return divisible(out.tuple, s.type.tuple);
      }
      case Op::add_offset:
        out.number = wrapped_add(in(s, 0).number, in(s, 1).tuple.leaf[0].value);
        return out;
      case Op::make_view:
        out.number = in(s, 0).number;
        out.layout = s.uses.size() > 1 ? in(s, 1).layout : s.type.layout;
        return out;
      case Op::assume:
        out.number = number(s, 0);
        return divisible(Tuple(out.number), Tuple(Int::unknown(s.type.divisible)), std::move(out));
      default:
        return computed(s);
    }
  }

  Outcome<Datum> computed(const Statement& s) {
    Datum out;
    switch (s.op) {
      case Op::tid_x:
        out.number = inputs_.thread;
        return out;
      case Op::ctaid_x:
        out.number = inputs_.block[0];
        return out;
      case Op::ctaid_y:
        out.number = inputs_.block[1];
        return out;
      case Op::ctaid_z:
        out.number = inputs_.block[2];
        return out;
      case Op::constant:
        out.number = s.number;
        return out;
      case Op::mul:
        out.number = wrapped_mul(number(s, 0), number(s, 1));
        return out;
      case Op::add:
        out.number = wrapped_add(number(s, 0), number(s, 1));
        return out;
      case Op::div:
      case Op::rem:
      case Op::ceil_div: {
        const std::int64_t a = number(s, 0), b = number(s, 1);
        if (b == 0) return wrong("A division by 0.");
        out.number = s.op == Op::div ? a / b : s.op == Op::rem ? a % b : ceil_div(a, b);
        return out;
      }
      default:
        return out;  // atoms and tiles are their types
    }
  }

  Outcome<Datum> in_llvm(const Statement& s) {
    Datum out;
    switch (s.op) {
      case Op::argument: {
        const Layout& layout = l_.tensor.layout;
        const std::vector<std::int64_t>& all = inputs_.unknowns;
        const auto shapes = static_cast<std::size_t>(
            std::count_if(layout.modes.leaf.begin(), layout.modes.leaf.begin() + layout.leaves(),
                          [](const Mode& m) { return !m.shape.known(); }));
        out.parts = {Datum{}, Datum{}};
        out.parts[1].parts = {packed(all, 0, shapes), packed(all, shapes, all.size())};
        return out;
      }
      case Op::undef:
        return out;
      case Op::insert: {
        out = in(s, 0);
        Datum* at = &out;
        for (const int step : s.path) {
          if (at->parts.size() <= static_cast<std::size_t>(step)) {
            at->parts.resize(static_cast<std::size_t>(step) + 1);
          }
          at = &at->parts[static_cast<std::size_t>(step)];
        }
        *at = in(s, 1);
        return out;
      }
      case Op::extract: {
        const Datum* at = &in(s, 0);
        for (const int step : s.path) {
          if (at->parts.size() <= static_cast<std::size_t>(step)) {
            return wrong("extractvalue of what nothing was put into.");
          }
          at = &at->parts[static_cast<std::size_t>(step)];
        }
        Datum taken = *at;
        return taken;
      }
      case Op::address:
        out.number = wrapped_add(in(s, 0).number, s.uses.size() > 1 ? number(s, 1) : s.number);
        return out;
      default:
        return computed(s);
    }
  }

  static Datum packed(const std::vector<std::int64_t>& all, std::size_t begin, std::size_t end) {
    Datum out;
    if (end - begin == 1) {
      out.number = all[begin];
      return out;
    }
    for (std::size_t i = begin; i < end; ++i) {
      Datum one;
      one.number = all[i];
      out.parts.push_back(std::move(one));
    }
    return out;
  }

  // `out`, or the tuple alone, where each number is a multiple of what its type says.
  static Outcome<Datum> divisible(const Tuple& numbers, const Tuple& type,
                                  std::optional<Datum> out = std::nullopt) {
    for (int i = 0; i < type.leaves; ++i) {
      const Int& t = type.leaf[i];
      if (t.kind == Int::Kind::dynamic && numbers.leaf[i].value % t.value != 0) {
        return wrong(fmt::format("{} is no multiple of {}.", numbers.leaf[i].value, t.value));
      }
    }
    if (out) return std::move(*out);
    Datum alone;
    alone.tuple = numbers;
    return alone;
  }

  const Lowering& l_;
  const Level& level_;
  const Inputs& inputs_;
  Kept& kept_;
  std::vector<Datum> values_;
};

// --- the check --------------------------------------------------------------------------------

// The tensor that the program's operations have, by the algebra on known numbers alone.
Outcome<Slice> real(const Lowering& l, const Inputs& inputs) {
  Slice now{lowering::filled(l.tensor.layout, inputs.unknowns), Place(0)};
  std::size_t block = 0;
  for (const Step& step : l.steps) {
    Result<Slice> next;
    if (step.kind == Step::Kind::slice) {
      Tuple at = step.coordinate;
      for (int i = 0; i < at.leaves; ++i) {
        if (at.leaf[i].kind == Int::Kind::dynamic) at.leaf[i] = Int(inputs.block[block++]);
      }
      next = slice(at, now.layout);
    } else if (step.kind == Step::Kind::partition) {
      const Int thread = step.thread.known() ? step.thread : Int(inputs.thread);
      next = partition(*step.copy, step.side, thread, now.layout);
    } else {
      return refused("no tensor");
    }
    if (!next) return refused(sentence(next.refusal));
    next.value.offset =
        Place(Int(wrapped_add(next->offset.offset().value, now.offset.offset().value)));
    now = *next;
  }
  return now;
}

constexpr std::int64_t most_elements = 1 << 12;  // compared for one thread

std::optional<Error> compare(const Lowering& l, const Inputs& inputs, Machine::Kept& kept,
                             Checked& sum) {
  std::vector<std::int64_t> first;
  for (std::size_t i = 0; i < l.levels.size(); ++i) {
    const Level& level = l.levels[i];
    if (level.instructions) continue;
    const Outcome<std::vector<std::int64_t>> got = Machine(l, level, inputs, kept).run();
    if (!got) {
      return wrong(fmt::format("{}: thread {}, block {}, numbers {}: {}", level.title,
                               inputs.thread, inputs.block, inputs.unknowns, got.error().sentence));
    }
    if (i == 0) first = *got;
    if (*got != first) {
      return wrong(fmt::format(
          "{} answers {} where {} answers {}: thread {}, block {}, numbers {}.", level.title, *got,
          l.levels[0].title, first, inputs.thread, inputs.block, inputs.unknowns));
    }
  }
  if (l.outcome.kind != Type::Kind::memref) return std::nullopt;
  const Outcome<Slice> should = real(l, inputs);
  if (!should) return should.error();
  const Layout layout =
      lowering::filled(l.outcome.layout, std::vector<std::int64_t>(first.begin() + 1, first.end()));
  const Result<std::int64_t> elements = size(should->layout), ours = size(layout);
  if (!elements || !ours || *elements != *ours) {
    return wrong(
        fmt::format("{} has not as many elements as {}.", text(layout), text(should->layout)));
  }
  for (std::int64_t e = 0; e < std::min(*elements, most_elements); ++e) {
    const std::int64_t a = wrapped_add(first[0], offset_at(layout, e)),
                       b = wrapped_add(should->offset.offset().value, offset_at(should->layout, e));
    if (a != b) {
      return wrong(
          fmt::format("Element {} is at {}, lowered it is at {}: thread {}, block {}, "
                      "numbers {}.",
                      e, b, a, inputs.thread, inputs.block, inputs.unknowns));
    }
    ++sum.elements;
  }
  return std::nullopt;
}

// Extents of a few of their divisor, strides of any multiple. A block may be any: the last extent
// that its number is split over goes on without bound.
Inputs chosen(const Lowering& l, std::mt19937_64& random, bool smallest) {
  const auto number = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  Inputs out;
  const Layout& layout = l.tensor.layout;
  for (int i = 0; i < layout.leaves(); ++i) {
    const Int& n = layout.modes.leaf[i].shape;
    if (!n.known()) out.unknowns.push_back(n.value * (smallest ? 1 : number(1, 300 / n.value + 2)));
  }
  for (int i = 0; i < layout.leaves(); ++i) {
    const Int& n = layout.modes.leaf[i].stride;
    if (!n.known()) out.unknowns.push_back(n.value * (smallest ? 1 : number(1, 1000)));
  }
  for (std::int64_t& b : out.block) b = smallest ? 0 : number(0, 5000);
  return out;
}

}  // namespace

Layout filled(const Layout& layout, const std::vector<std::int64_t>& unknowns) {
  Layout out = layout;
  std::size_t next = 0;
  for (int i = 0; i < out.leaves(); ++i) {
    if (!out.modes.leaf[i].shape.known()) out.modes.leaf[i].shape = Int(unknowns[next++]);
  }
  for (int i = 0; i < out.leaves(); ++i) {
    if (!out.modes.leaf[i].stride.known()) out.modes.leaf[i].stride = Int(unknowns[next++]);
  }
  return out;
}

Outcome<std::vector<std::int64_t>> evaluate(const Lowering& lowering, const Level& level,
                                            const Inputs& inputs) {
  Machine::Kept kept;
  return Machine(lowering, level, inputs, kept).run();
}

Outcome<std::vector<std::optional<std::int64_t>>> values(const Lowering& lowering,
                                                         const Level& level, const Inputs& inputs) {
  Machine::Kept kept;
  Machine machine(lowering, level, inputs, kept);
  const Outcome<std::vector<std::int64_t>> ran = machine.run();
  if (!ran) return ran.error();
  return machine.scalars();
}

Outcome<Checked> check(const Lowering& l) {
  constexpr int choices = 3;
  constexpr std::int64_t most_threads = 1024;
  std::mt19937_64 random(27);
  Checked out;
  for (const Level& level : l.levels) out.levels += !level.instructions;
  out.threads = 1;
  if (l.copy) {
    const Result<std::int64_t> threads = size(Layout(l.copy->layout_tv.modes.mode(0)));
    if (!threads) return refused(sentence(threads.refusal));
    out.threads = std::min(*threads, most_threads);
  }
  Machine::Kept kept;
  for (int choice = 0; choice < choices; ++choice) {
    Inputs inputs = chosen(l, random, choice == 0);
    for (inputs.thread = 0; inputs.thread < out.threads; ++inputs.thread) {
      if (const std::optional<Error> error = compare(l, inputs, kept, out)) return *error;
    }
    ++out.inputs;
  }
  return out;
}

}  // namespace tilescope::lowering
