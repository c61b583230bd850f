// The language's functions of the algebra, and composition by `o`.
#include <fmt/format.h>

#include <array>

#include "core/language/explain.h"
#include "core/language/functions.h"
#include "core/layout/text.h"

namespace tilescope::language {
namespace {

using Rule = Refusal::Rule;

Answer recast(const Arguments& a) {
  return answer(recast_layout(a[0].layout, a[1].number, a[2].number));
}

// Each explanation takes the operands of its row.
template <void (*explain)(const Layout&, Derivation&)>
void of_one(const Arguments& a, Derivation& steps) {
  explain(a[0].layout, steps);
}
template <void (*explain)(const Layout&, const Layout&, Derivation&)>
void of_two(const Arguments& a, Derivation& steps) {
  explain(a[0].layout, a[1].layout, steps);
}
template <void (*explain)(const Layout&, const Tiler&, Derivation&)>
void of_tiler(const Arguments& a, Derivation& steps) {
  explain(a[0].layout, a[1].tiler, steps);
}

Answer coalesce_call(const Arguments& a) {
  return answer(a.size() == 2 ? coalesce(a[0].layout, a[1].tuple) : coalesce(a[0].layout));
}
Answer filter_call(const Arguments& a) {
  return answer(a.size() == 2 ? filter(a[0].layout, a[1].tuple) : filter(a[0].layout));
}
Answer complement_call(const Arguments& a) {
  return answer(a.size() == 2 ? complement(a[0].layout, a[1].tuple) : complement(a[0].layout));
}
void complement_steps(const Arguments& a, Derivation& steps) {
  if (a.size() == 2) return explain_complement(a[0].layout, a[1].tuple, steps);
  const Result<Layout> plain = filter(a[0].layout);
  const Result<Place> reach = plain ? coshape(*plain) : Result<Place>(plain.refusal);
  if (reach && reach->plain()) explain_complement(a[0].layout, Tuple(reach->offset()), steps);
}
Answer tile_to_shape_call(const Arguments& a) {
  return answer(tile_to_shape(a[0].layout, a[1].tuple, a.size() == 3 ? a[2].tuple : Tuple{}));
}
void tile_to_shape_steps(const Arguments& a, Derivation& steps) {
  explain_tile_to_shape(a[0].layout, a[1].tuple, a.size() == 3 ? a[2].tuple : Tuple{}, steps);
}
template <void (*explain)(const Layout&, std::int64_t, Derivation&)>
void of_factor(const Arguments& a, Derivation& steps) {
  if (a[1].number > 0) explain(a[0].layout, a[1].number, steps);
}
Answer composition_call(const Arguments& a) {
  return compose(a[0].value, a[1].value);
}
void composition_steps(const Arguments& a, Derivation& steps) {
  const Layout* left = std::get_if<Layout>(&a[0].value);
  if (const Tensor* tensor = std::get_if<Tensor>(&a[0].value)) left = &tensor->layout;
  if (left && !left->modes.empty()) explain_composition_of(*left, a[1].value, steps);
}

// Elements of two types are converted one by one, as CuTe has it; then there is no vector.
Answer max_common_vector_call(const Arguments& a) {
  const Tensor *from = a[0].tensor, *to = a[1].tensor;
  if (from && to && from->type != to->type) return number(0);
  return answer(max_common_extent(a[0].layout, a[1].layout));
}

const std::array table = {
    Function{{"flatten", "(L)", "the same leaves without nesting"}, "E", unary<flatten>},
    Function{{"coalesce", "(L[, PROFILE])", "the same function with the fewest leaves; by mode"},
             "Es",
             coalesce_call,
             of_one<explain_coalesce>},
    Function{{"filter", "(L[, PROFILE])", "without modes that do not move, coalesced; by mode"},
             "Es",
             filter_call},
    Function{
        {"filter_zeros", "(L)", "modes of stride 0 become one element"}, "E", unary<filter_zeros>},
    Function{{"composition", "(A, B)", "R(c) = A(B(c)); by mode for a tiler"},
             "VV",
             composition_call,
             composition_steps},
    Function{{"complement", "(L[, SIZE])", "what L leaves out of [0, SIZE)"},
             "Ls",
             complement_call,
             complement_steps},
    Function{{"right_inverse", "(L)", "L(R(i)) = i"},
             "L",
             unary<right_inverse>,
             of_one<explain_right_inverse>},
    Function{{"left_inverse", "(L)", "R(L(i)) = i"},
             "L",
             unary<left_inverse>,
             of_one<explain_left_inverse>},
    Function{{"max_common_layout", "(A, B)", "the longest R with A(R(i)) = B(R(i)) = i"},
             "LL",
             binary<max_common_layout>},
    Function{{"max_common_vector", "(A, B)", "how many elements can go from A to B at once"},
             "EE",
             max_common_vector_call},
    Function{
        {"nullspace", "(L)", "the coordinates that have L's first offset"}, "L", unary<nullspace>},
    Function{{"logical_divide", "(L, TILER)", "(tile, rest), mode by mode for a tiler"},
             "ET",
             tiled<logical_divide>,
             of_tiler<explain_divide>},
    Function{{"zipped_divide", "(L, TILER)", "((tiles), (rests))"},
             "ET",
             tiled<zipped_divide>,
             of_tiler<explain_divide>},
    Function{{"tiled_divide", "(L, TILER)", "((tiles), rest, rest...)"},
             "ET",
             tiled<tiled_divide>,
             of_tiler<explain_divide>},
    Function{{"flat_divide", "(L, TILER)", "(tile, tile..., rest, rest...)"},
             "ET",
             tiled<flat_divide>,
             of_tiler<explain_divide>},
    Function{{"logical_product", "(A, TILER)", "(A, copies of A arranged as TILER); by mode"},
             "OT",
             tiled<logical_product>,
             of_tiler<explain_product>},
    Function{{"zipped_product", "(A, TILER)", "((A...), (copies...))"},
             "OT",
             tiled<zipped_product>,
             of_tiler<explain_product>},
    Function{{"tiled_product", "(A, TILER)", "(A, copies, copies...)"},
             "OT",
             tiled<tiled_product>,
             of_tiler<explain_product>},
    Function{{"flat_product", "(A, TILER)", "(a, a..., copies, copies...)"},
             "OT",
             tiled<flat_product>,
             of_tiler<explain_product>},
    Function{{"blocked_product", "(A, B)", "blocks of A, mode by mode"},
             "LL",
             binary<blocked_product>,
             of_two<explain_ranked_product>},
    Function{{"raked_product", "(A, B)", "A's elements interleaved, mode by mode"},
             "LL",
             binary<raked_product>,
             of_two<explain_ranked_product>},
    Function{{"tile_to_shape", "(L, SHAPE[, ORDER])", "copies of L until it has the shape SHAPE"},
             "LSs",
             tile_to_shape_call,
             tile_to_shape_steps},
    Function{{"upcast", "(L, N)", "the same memory in elements N times as wide"},
             "LN",
             [](const Arguments& a) { return answer(upcast(a[0].layout, a[1].number)); },
             of_factor<explain_upcast>},
    Function{{"downcast", "(L, N)", "the same memory in elements 1/N as wide"},
             "LN",
             [](const Arguments& a) { return answer(downcast(a[0].layout, a[1].number)); },
             of_factor<explain_downcast>},
    Function{{"recast_layout", "(L, OLD_BITS, NEW_BITS)", "from elements of one width to another"},
             "LNN",
             recast},
    Function{
        {"recast", "(L, OLD_BITS, NEW_BITS)", "recast_layout by its short name"}, "LNN", recast},
    Function{{"max_alignment", "(L)", "the widest element into which L can be upcast whole"},
             "L",
             [](const Arguments& a) { return answer(max_alignment(a[0].layout)); }},
};

}  // namespace

std::span<const Function> functions_algebra() {
  return table;
}

// A known or unknown number, on no axis.
static bool is_plain_number(const Tuple& t) {
  return t.scalar() && t.leaf[0].kind != Int::Kind::all && t.leaf[0].axis.none();
}

// A swizzle behind a layout is the swizzle of the layout's own coordinates.
static Answer compose_with_bare(const Layout& a, Swizzle b) {
  const Result<std::int64_t> n = size(a);
  if (!n) return n.refusal;
  const Result<Layout> through = composition(a, *composition(b, Layout(*n, 1)));
  if (!through) return through.refusal;
  Layout out = a;
  out.swizzle = through->swizzle;
  return Value(out);
}

static Answer swizzled(Swizzle swizzle, const TileLayout& tile) {
  const Result<Swizzle> both = composition(swizzle, tile.swizzle);
  if (!both) return both.refusal;
  TileLayout out = tile;
  out.swizzle = *both;
  return shared(Result<TileLayout>(out));
}

// What cannot stand on a side of `o`, and what can.
static Answer cannot_compose(const Value& side, bool left) {
  const std::string_view takes = left ? "a layout, a swizzle, an offset or a tensor's place"
                                      : "a layout, a tiler or a swizzle";
  return Reason{fmt::format("The {} side of a composition is {}; it takes {}.{}",
                            left ? "left" : "right", kind_of(side), takes,
                            advice_for(side, takes))};
}

Answer compose(const Value& left, const Value& right) {
  if (const Slice* slice = std::get_if<Slice>(&left)) {
    return from(slice->offset, compose(Value(slice->layout), right));
  }
  const Layout* b = std::get_if<Layout>(&right);
  if (const Tensor* place = std::get_if<Tensor>(&left)) return tensor_of(*place, right);
  const Slice* part = std::get_if<Slice>(&right);
  const Tuple* further = std::get_if<Tuple>(&left);
  if (part && further && is_plain_number(*further) && part->layout.plain()) {
    return from(Place(further->leaf[0]), Value(*part));
  }
  if (const std::optional<Layout> composed = part ? composed_of(*part) : std::nullopt) {
    return compose(left, Value(*composed));
  }
  const Swizzle* bare = std::get_if<Swizzle>(&right);
  const Tuple* offset = std::get_if<Tuple>(&left);
  if (const Swizzle* swizzle = std::get_if<Swizzle>(&left)) {
    if (bare) return answer(composition(*swizzle, *bare));
    if (const auto* tile = std::get_if<Shared<TileLayout>>(&right))
      return swizzled(*swizzle, **tile);
    if (!b) return cannot_compose(right, false);
    return answer(composition(*swizzle, *b));
  }
  if (offset && is_plain_number(*offset) && b) {
    if (!b->plain()) return Refusal{Rule::has_swizzle, -1, 1, 0, 0};
    Layout out = *b;
    out.offset = offset->leaf[0];
    return Value(out);
  }
  const Layout* a = std::get_if<Layout>(&left);
  if (!a) return cannot_compose(left, true);
  if (b) return answer(composition(*a, *b));
  if (bare) return compose_with_bare(*a, *bare);
  if (const Tiler* tiler = std::get_if<Tiler>(&right)) return answer(composition(*a, *tiler));
  const Tuple* shape = std::get_if<Tuple>(&right);
  if (!shape || shape->empty()) return cannot_compose(right, false);
  if (shape->scalar()) return answer(composition(*a, Layout(shape->leaf[0], 1)));
  return answer(composition(*a, Tiler(*shape)));
}

void explain_compose(const Value& left, const Value& right, const Answer& answer,
                     Derivation& steps) {
  DerivationStep step = step_of("o", text(left) + " o " + text(right), std::get_if<Value>(&answer),
                                sentence_of(answer));
  if (step.sentence.empty()) step.sentence = "The right side first: R(c) = A(B(c)).";
  steps.push_back(std::move(step));
  if (const Layout* a = std::get_if<Layout>(&left)) explain_composition_of(*a, right, steps);
}

}  // namespace tilescope::language
