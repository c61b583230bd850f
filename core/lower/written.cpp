// The first level, as a program says it, and the second, where a slice is a layout and an offset.
#include <fmt/format.h>

#include <numeric>

#include "core/layout/text.h"
#include "core/lower/build.h"

namespace tilescope::lowering {
namespace {

// What a pointer of `align` bytes is still a multiple of after `offset` elements; 0 where that is
// no more than an element.
std::int64_t align_after(const Tensor& tensor, std::int64_t align, const Int& offset) {
  const std::int64_t element = bits_of(tensor.type) / 8;
  const std::int64_t before = align > element ? align : element;
  const std::int64_t out = offset.zero() ? before : std::gcd(before, offset.value * element);
  return out > element ? out : 0;
}

class Writer {
 public:
  explicit Writer(const Request& request) : request_(request) {}

  Outcome<Build> all() {
    now_ = build_.add(Op::argument, memref(request_.tensor.layout, request_.align));
    for (const Step& step : request_.steps) {
      const Use before = now_;
      if (const std::optional<Error> error = write(step)) return *error;
      if (!step.beside) continue;
      build_.level.outcome.push_back(now_);
      now_ = before;
    }
    build_.level.outcome.push_back(now_);
    return std::move(build_);
  }

 private:
  const Type& type() const { return build_.type(now_); }

  std::optional<Error> write(const Step& step) {
    switch (step.kind) {
      case Step::Kind::slice:
        return slice_of(step);
      case Step::Kind::partition:
        return partition_of(step);
      case Step::Kind::get_iter:
        return wants(Type::Kind::memref, "get_iter", "a tensor",
                     [&] { now_ = build_.add(Op::get_iter, pointer(type().align), {now_}); });
      case Step::Kind::get_layout:
        return wants(Type::Kind::memref, "get_layout", "a tensor", [&] { layout(); });
      case Step::Kind::get_shape:
        layout();
        return wants(Type::Kind::layout, "get_shape", "a layout", [&] {
          now_ =
              build_.add(Op::get_shape, of_tuple(Type::Kind::shape, type().layout.shape()), {now_});
        });
      case Step::Kind::get_stride:
        layout();
        return wants(Type::Kind::layout, "get_stride", "a layout", [&] {
          now_ = build_.add(Op::get_stride, of_tuple(Type::Kind::stride, type().layout.stride()),
                            {now_});
        });
      case Step::Kind::get_leaves:
        return numbers_of(Op::get_leaves, false);
      case Step::Kind::get_scalars:
        return numbers_of(Op::get_scalars, step.only_dynamic);
      case Step::Kind::crd2idx:
        return index_of(step);
    }
    return std::nullopt;
  }

  template <class F>
  std::optional<Error> wants(Type::Kind kind, const char* operation, const char* what, F write) {
    if (type().kind != kind) {
      return refused(
          fmt::format("{} wants {}; here it follows what answers none.", operation, what));
    }
    write();
    return std::nullopt;
  }

  // Of a tensor, its layout; of anything else, itself.
  void layout() {
    if (type().kind != Type::Kind::memref) return;
    if (laid_out_.second.statement < 0 || !(laid_out_.first == now_)) {
      const Use tensor = now_;
      laid_out_ = {tensor, build_.add(Op::get_layout, of_layout(type().layout), {tensor})};
    }
    now_ = laid_out_.second;
  }

  std::optional<Error> numbers_of(Op op, bool only_dynamic) {
    if (op == Op::get_scalars) layout();
    if (op == Op::get_leaves &&
        (type().kind == Type::Kind::memref || type().kind == Type::Kind::layout)) {
      layout();
      now_ = build_.add(Op::get_shape, of_tuple(Type::Kind::shape, type().layout.shape()), {now_});
    }
    const bool of_a_layout = type().kind == Type::Kind::layout;
    const bool of_numbers = type().kind == Type::Kind::shape || type().kind == Type::Kind::stride ||
                            type().kind == Type::Kind::int_tuple;
    if (!of_a_layout && !of_numbers) {
      return refused(fmt::format("{} wants a layout, a shape or a stride.",
                                 op == Op::get_leaves ? "get_leaves" : "get_scalars"));
    }
    const int all = of_a_layout ? 2 * type().layout.leaves() : type().tuple.leaves;
    const int unknown = of_a_layout ? shape_unknowns(type().layout) + stride_unknowns(type().layout)
                                    : unknowns(type().tuple);
    now_ = build_.add(op, {}, {now_});
    build_.last().only_dynamic = only_dynamic;
    build_.last().results = only_dynamic ? unknown : all;
    if (build_.last().results == 0) {
      return refused("get_scalars of what is not known: all of it is known here.");
    }
    return std::nullopt;
  }

  // A block's number for each `?` of a coordinate.
  Outcome<Use> coordinate(const Tuple& at) {
    std::vector<Use> uses;
    for (int i = 0; i < unknowns(at); ++i) {
      if (blocks_ == 3) {
        return refused(
            "A coordinate's `?` is the block's number: x, then y, then z. Here is a fourth `?`.");
      }
      constexpr Op registers[] = {Op::ctaid_x, Op::ctaid_y, Op::ctaid_z};
      uses.push_back(build_.add(registers[blocks_++], {}));
    }
    return build_.add(Op::make_coord, of_tuple(Type::Kind::coord, at), std::move(uses));
  }

  std::optional<Error> slice_of(const Step& step) {
    if (type().kind != Type::Kind::memref) return refused("slice wants a tensor.");
    const Type whole = type();
    const Result<Slice> part = slice(step.coordinate, whole.layout);
    if (!part) return refused(sentence(part.refusal));
    if (part->layout.modes.empty()) {
      return refused(fmt::format("{} keeps nothing: one element is no tensor. Leave a `_`.",
                                 text(step.coordinate)));
    }
    const Outcome<Use> at = coordinate(step.coordinate);
    if (!at) return at.error();
    now_ = build_.add(
        Op::slice,
        memref(part->layout, align_after(request_.tensor, whole.align, part->offset.offset())),
        {now_, *at});
    return std::nullopt;
  }

  std::optional<Error> partition_of(const Step& step) {
    if (type().kind != Type::Kind::memref) return refused("A partition wants a tensor.");
    const Type whole = type();
    const Result<Slice> part = partition(*step.copy, step.side, step.thread, whole.layout);
    if (!part) return refused(sentence(part.refusal));
    std::vector<Use> thread;
    if (!step.thread.known()) thread.push_back(build_.add(Op::tid_x, {}));
    Type atom, tile, copy;
    atom.kind = Type::Kind::atom;
    tile.kind = Type::Kind::tile;
    copy.kind = Type::Kind::tiled_copy;
    const Use the_atom = build_.add(Op::make_atom, atom);
    build_.add(Op::make_tile, tile);
    const Use tiled = build_.add(Op::make_tiled_copy, copy, {the_atom});
    const Use at = build_.add(Op::make_coord, of_tuple(Type::Kind::coord, Tuple(step.thread)),
                              std::move(thread));
    now_ = build_.add(
        Op::partition,
        memref(part->layout, align_after(request_.tensor, whole.align, part->offset.offset())),
        {tiled, now_, at});
    build_.last().side = step.side;
    return std::nullopt;
  }

  std::optional<Error> index_of(const Step& step) {
    layout();
    if (type().kind != Type::Kind::layout) return refused("crd2idx wants a layout.");
    const Result<Slice> part = slice(step.coordinate, type().layout);
    if (!part) return refused(sentence(part.refusal));
    const Outcome<Use> at = coordinate(step.coordinate);
    if (!at) return at.error();
    now_ = build_.add(Op::crd2idx, of_tuple(Type::Kind::int_tuple, Tuple(part->offset.offset())),
                      {*at, now_});
    return std::nullopt;
  }

  const Request& request_;
  Build build_;
  Use now_;
  std::pair<Use, Use> laid_out_;  // a tensor, and its layout where it was asked for
  int blocks_ = 0;
};

}  // namespace

Outcome<Build> written(const Request& request) {
  return Writer(request).all();
}

Outcome<Build> sliced(const Lowering&, const Level& before) {
  Build out;
  std::vector<Use> now(before.statements.size());
  for (std::size_t i = 0; i < before.statements.size(); ++i) {
    const Statement& s = before.statements[i];
    out.from = {static_cast<int>(i)};
    std::vector<Use> uses;
    for (const Use& use : s.uses) {
      uses.push_back({now[static_cast<std::size_t>(use.statement)].statement, use.result});
    }
    if (s.op != Op::slice) {
      now[i] = out.add(s.op, s.type, std::move(uses));
      Statement copy = s;
      copy.uses = out.last().uses;
      copy.from = out.from;
      out.last() = std::move(copy);
      continue;
    }
    const Use tensor = uses[0], at = uses[1];
    const Type whole = out.type(tensor);
    const Result<Slice> part = slice(out.type(at).tuple, whole.layout);
    if (!part) return refused(sentence(part.refusal));
    const Use layout = out.add(Op::get_layout, of_layout(whole.layout), {tensor});
    const Use kept = out.add(Op::slice, of_layout(s.type.layout), {layout, at});
    const Use index = out.add(
        Op::crd2idx, of_tuple(Type::Kind::int_tuple, Tuple(part->offset.offset())), {at, layout});
    const Use iter = out.add(Op::get_iter, pointer(whole.align), {tensor});
    const Use ptr = out.add(Op::add_offset, pointer(s.type.align), {iter, index});
    now[i] = out.add(Op::make_view, s.type, {ptr, kept});
  }
  for (const Use& use : before.outcome) {
    out.level.outcome.push_back(
        {now[static_cast<std::size_t>(use.statement)].statement, use.result});
  }
  return out;
}

}  // namespace tilescope::lowering
