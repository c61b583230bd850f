// The third level: slices of layouts and partitions as numbers.
#include <fmt/format.h>

#include "core/layout/text.h"
#include "core/lower/build.h"
#include "core/lower/followed.h"

namespace tilescope::lowering {
namespace {

class Expander {
 public:
  Expander(const Lowering& lowering, const Level& before) : lowering_(lowering), before_(before) {}

  Outcome<Build> all() {
    now_.resize(before_.statements.size());
    for (std::size_t i = 0; i < before_.statements.size(); ++i) {
      out_.from = {static_cast<int>(i)};
      if (const std::optional<Error> error = expand(before_.statements[i], now_[i])) return *error;
    }
    for (const Use& use : before_.outcome) {
      out_.level.outcome.push_back({of(use).statement, use.result});
    }
    return std::move(out_);
  }

 private:
  // What a use has become; of a layout that is all known, nothing.
  Use of(const Use& use) const { return now_[static_cast<std::size_t>(use.statement)]; }
  const Statement& before(const Use& use) const {
    return before_.statements[static_cast<std::size_t>(use.statement)];
  }

  std::optional<Error> expand(const Statement& s, Use& now) {
    switch (s.op) {
      case Op::make_atom:
      case Op::make_tile:
      case Op::make_tiled_copy:
        return std::nullopt;  // lowered with the partition that they are for
      case Op::slice:
        return slice_of(s, now);
      case Op::partition:
        return partition_of(s, now);
      default:
        break;
    }
    Statement copy = s;
    copy.from = out_.from;
    copy.uses.clear();
    for (const Use& use : s.uses) {
      if (of(use).statement >= 0) copy.uses.push_back({of(use).statement, use.result});
    }
    now = out_.add(s.op, s.type, copy.uses);
    out_.last() = std::move(copy);
    return std::nullopt;
  }

  // The unknown numbers of a layout.
  std::vector<Val> scalars(const Use& layout, const Layout& type) {
    const int count = shape_unknowns(type) + stride_unknowns(type);
    std::vector<Val> values;
    if (count == 0) return values;
    const Use all = out_.add(Op::get_scalars, {}, {layout});
    out_.last().only_dynamic = true;
    out_.last().results = count;
    for (int i = 0; i < count; ++i) values.push_back(Use{all.statement, i});
    return values;
  }

  Val of_origin(const Origin& origin, const std::vector<Val>& numbers) {
    if (origin.known) return origin.number;
    const Val& source = numbers[static_cast<std::size_t>(origin.source)];
    return origin.divided ? out_.ceil_div(source, origin.factor) : out_.mul(source, origin.factor);
  }

  // The numbers of a shape or stride that are not known, each assumed to be divisible as its type
  // says.
  std::vector<Use> parts(const Tuple& tuple, const std::vector<Origin>& origins,
                         const std::vector<Val>& numbers) {
    std::vector<Use> out;
    for (int i = 0; i < tuple.leaves; ++i) {
      const Int& leaf = tuple.leaf[i];
      if (leaf.known()) continue;
      const Val value = of_origin(origins[static_cast<std::size_t>(i)], numbers);
      out.push_back(assumed(value, leaf.value).use);
    }
    return out;
  }

  Val assumed(const Val& value, std::int64_t divisible) {
    if (divisible == 1) return value;
    Type type;
    type.divisible = divisible;
    return out_.add(Op::assume, type, {out_.made(value)});
  }

  // Nothing where all of it is known: make_view then takes the pointer alone.
  Use layout_of(const Followed& kept, const std::vector<Val>& numbers) {
    if (all_known(kept.layout)) return {};
    std::vector<Use> extents = parts(kept.layout.shape(), kept.shape, numbers);
    const Use shape = out_.add(Op::make_shape, of_tuple(Type::Kind::shape, kept.layout.shape()),
                               std::move(extents));
    std::vector<Use> steps = parts(kept.layout.stride(), kept.stride, numbers);
    const Use stride = out_.add(Op::make_stride, of_tuple(Type::Kind::stride, kept.layout.stride()),
                                std::move(steps));
    return out_.add(Op::make_layout, of_layout(kept.layout), {shape, stride});
  }

  std::optional<Error> slice_of(const Statement& s, Use& now) {
    const Use layout = of(s.uses[0]);
    const Layout whole = out_.type(layout).layout;
    const Outcome<Followed> kept = follow_slice(before(s.uses[1]).type.tuple, whole);
    if (!kept) return kept.error();
    if (all_known(kept->layout)) return std::nullopt;
    now = layout_of(*kept, scalars(layout, whole));
    return std::nullopt;
  }

  std::optional<Error> partition_of(const Statement& s, Use& now) {
    // The atom, the tile and the tiled copy go down with it.
    const int itself = out_.from[0];
    out_.from = {};
    for (int i = 0; i < itself; ++i) {
      const Op op = before_.statements[static_cast<std::size_t>(i)].op;
      if (op == Op::make_atom || op == Op::make_tile || op == Op::make_tiled_copy) {
        out_.from.push_back(i);
      }
    }
    out_.from.push_back(itself);
    const Use view = of(s.uses[1]), coordinate = of(s.uses[2]);
    const Type whole = out_.type(view);
    const Int thread = out_.type(coordinate).tuple.leaf[0];
    const Outcome<FollowedPartition> followed =
        follow_partition(*lowering_.copy, s.side, thread, whole.layout);
    if (!followed) return followed.error();
    const Use iter = out_.add(Op::get_iter, pointer(whole.align), {view});
    std::vector<Val> numbers;
    if (!all_known(whole.layout)) {
      const Use layout = out_.add(Op::get_layout, of_layout(whole.layout), {view});
      numbers = scalars(layout, whole.layout);
    }
    Val number = thread.value;
    if (!thread.known()) {
      number = out_.add(Op::get_scalars, {}, {coordinate});
      out_.last().only_dynamic = true;
    }
    const Use ptr =
        moved(iter, s.type.align, offset(*followed, numbers, number), followed->offset.offset());
    const Use layout = layout_of(followed->part, numbers);
    std::vector<Use> uses{ptr};
    if (layout.statement >= 0) uses.push_back(layout);
    now = out_.add(Op::make_view, s.type, std::move(uses));
    return std::nullopt;
  }

  Val offset(const FollowedPartition& followed, const std::vector<Val>& numbers,
             const Val& thread) {
    const Followed& threads = followed.threads;
    std::vector<LeafVals> leaves;
    for (std::size_t i = 0; i < threads.stride.size(); ++i) {
      leaves.push_back({threads.shape[i].known ? Val(threads.shape[i].number)
                                               : of_origin(threads.shape[i], numbers),
                        of_origin(threads.stride[i], numbers)});
    }
    return offset_of(out_, Tuple(Int::unknown()), threads.layout.modes, leaves, {thread});
  }

  Use moved(const Use& iter, std::int64_t align, const Val& offset, const Int& type) {
    std::vector<Use> uses;
    if (!type.known()) uses.push_back(assumed(out_.made(offset), type.value).use);
    const Use index =
        out_.add(Op::make_int_tuple, of_tuple(Type::Kind::int_tuple, Tuple(type)), std::move(uses));
    return out_.add(Op::add_offset, pointer(align), {iter, index});
  }

  const Lowering& lowering_;
  const Level& before_;
  Build out_;
  std::vector<Use> now_;
};

}  // namespace

Outcome<Build> arithmetic(const Lowering& lowering, const Level& before) {
  return Expander(lowering, before).all();
}

}  // namespace tilescope::lowering
