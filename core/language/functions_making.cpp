// The language's functions that make layouts, ask about them, and go from coordinates to offsets.
#include <fmt/format.h>

#include <array>

#include "core/language/explain.h"
#include "core/language/functions.h"
#include "core/layout/tile_algebra.h"

namespace tilescope::language {
namespace {

using Rule = Refusal::Rule;

constexpr std::int64_t listable = std::int64_t{1} << 20;  // elements that a listing may have

// A number is a place, on an axis or on none, and so is a coordinate.
std::optional<Place> place_in(const Value& value) {
  if (const Place* place = std::get_if<Place>(&value)) return *place;
  const Tuple* tuple = std::get_if<Tuple>(&value);
  if (!tuple || tuple->empty()) return std::nullopt;
  for (int i = 0; i < tuple->leaves; ++i) {
    if (tuple->leaf[i].kind == Int::Kind::all) return std::nullopt;
  }
  if (tuple->scalar()) return Place(tuple->leaf[0]);
  const Result<Place> place = place_at(*tuple);
  return place ? std::optional<Place>(*place) : std::nullopt;
}

// How many elements a listing of L has, if that can be listed.
Result<std::int64_t> listing_size(const Layout& layout) {
  const Refusal r =
      detail::needs_concrete(layout, 0, {.swizzle = true, .axes = true, .negative = true});
  if (r) return r;
  if (layout.modes.empty()) return Refusal{Rule::empty, -1, 0, 0, 0};
  const Result<std::int64_t> n = size(layout);
  if (n && *n > listable) return Refusal{Rule::too_large_to_list, -1, 0, *n, listable};
  return n;
}

// Places as the language answers them: coordinates where all are.
Answer listed(const std::vector<Place>& places) {
  Tuples coordinates;
  for (const Place& place : places) {
    const Result<Tuple> coordinate = coordinate_of(place);
    if (!coordinate) return Value(places);
    coordinates.push_back(*coordinate);
  }
  return Value(std::move(coordinates));
}

Answer indices(const Arguments& a) {
  const Layout& layout = a[0].layout;
  const Result<std::int64_t> n = listing_size(layout);
  if (!n) return n.refusal;
  if (!layout.concrete() || !a[0].origin.plain() || !a[0].origin.known()) {
    std::vector<Place> out;
    for (std::int64_t i = 0; i < *n; ++i) {
      out.push_back(*place_of(Tuple(i), layout));
      if (const Refusal r = out.back().add(a[0].origin)) return r;
    }
    return listed(out);
  }
  const std::int64_t origin = a[0].origin.offset().value;
  Numbers out;
  out.reserve(static_cast<std::size_t>(*n));
  bool fits = true;
  for (std::int64_t i = 0; i < *n; ++i) out.push_back(checked_add(origin, layout(i), fits));
  if (!fits) return Refusal{Rule::overflow, -1, 0, 0, 0};
  return Value(std::move(out));
}

// coordinates(OFFSET, L), where L's axes are numbered also coordinates((3,2), L).
Answer coordinates(const Arguments& a) {
  const Layout& layout = a[1].layout;
  const Result<std::int64_t> n = listing_size(layout);
  if (!n) return n.refusal;
  const std::optional<Place> wanted = place_in(a[0].value);
  if (!wanted) return Refusal{Rule::not_a_sum, -1, 0, 0, 0};
  if (!wanted->known()) return Refusal{Rule::dynamic_leaf, -1, 0, 0, 0};
  const Place& origin = a[1].origin;
  const bool numbers = layout.concrete() && origin.zero();
  Tuples out;
  for (std::int64_t i = 0; i < *n; ++i) {
    Place here = numbers ? Place(Int(layout(i))) : *place_of(Tuple(i), layout);
    if (const Refusal r = here.add(origin)) return r;
    if (*wanted == here) out.push_back(*idx2crd(i, layout.shape()));
  }
  return Value(std::move(out));
}

Answer make_layout_call(const Arguments& a) {
  const Tuple* shape = std::get_if<Tuple>(&a[0].value);
  const Tuple* stride = a.size() == 2 ? std::get_if<Tuple>(&a[1].value) : nullptr;
  if (shape && stride) return answer(make_layout(*shape, *stride));
  if (shape && a.size() == 1) return answer(make_layout(*shape));
  Tree<Mode> modes;  // several layouts, each a mode
  for (const Argument& each : a) {
    const Layout* layout = std::get_if<Layout>(&each.value);
    if (!layout) {
      return Reason{fmt::format(
          "A layout is made of a shape and its strides, two tuples, or of layouts that become its "
          "modes; this is {}.{}",
          kind_of(each.value), advice_for(each.value, "layouts"))};
    }
    if (!layout->plain()) return Refusal{Rule::has_swizzle, -1, 0, 0, 0};
    if (a.size() == 1) return Value(*layout);
    modes.push(layout->modes);
  }
  return answer(detail::built({}, modes));
}

Answer crd2idx_call(const Arguments& a) {
  Result<Place> place = place_of(a[0].tuple, a[1].layout);
  if (!place) return place.refusal;
  if (const Refusal r = place.value.add(a[1].origin)) return r;
  return answer(place);
}

// The layout alone, as CuTe's slice(); slice_and_offset() tells where it begins, too.
Answer slice_call(const Arguments& a) {
  if (a[1].tensor) return answer(slice(a[0].tuple, *a[1].tensor));
  const Result<Slice> part = slice(a[0].tuple, a[1].layout);
  if (!part) return part.refusal;
  if (part->layout.modes.empty()) return Refusal{Rule::empty, -1, 0, 0, 0};
  return Value(part->layout);
}

// What a value is asked about: itself, what it is a part of or where its elements lie. A shape
// stands for its compact layout, so that size((2,3)) and rank((2,(3,4))) are answered too, and so
// does a TIRx layout for its logical shape, unless its strides are meant.
Result<Layout> asked_about(const Value& value) {
  if (const Layout* layout = std::get_if<Layout>(&value)) return *layout;
  if (const Slice* part = std::get_if<Slice>(&value)) return part->layout;
  if (const Tensor* tensor = std::get_if<Tensor>(&value)) return tensor->layout;
  if (const Tuple* shape = std::get_if<Tuple>(&value)) return make_layout(*shape);
  const auto* tile = std::get_if<Shared<TileLayout>>(&value);
  return tile ? make_layout(logical_shape(**tile)) : Refusal{Rule::empty, -1, 0, 0, 0};
}

// f<I,J...>(L): the mode that the numbers behind L lead to, one level each.
template <class Ask>
Answer ask(const Arguments& a, Ask about) {
  Result<Layout> mode = asked_about(a[0].value);
  if (!mode || mode->modes.empty()) {
    const bool tensor = std::holds_alternative<Tensor>(a[0].value);
    return Reason{fmt::format("{} has no modes; a layout, a shape, a slice or a tensor has.",
                              tensor ? text(a[0].value) : std::string(kind_of(a[0].value)))};
  }
  for (std::size_t i = 1; i < a.size() && mode; ++i) mode = get(*mode, a[i].number);
  if (!mode) return mode.refusal;
  return about(*mode);
}

// The same about strides, which a TIRx layout counts in another order.
template <class Ask>
Answer ask_strides(const Arguments& a, Ask about) {
  if (std::holds_alternative<Shared<TileLayout>>(a[0].value)) {
    return Reason{"A TIRx layout's own modes are those of its shard, the last one innermost." +
                  advice_for(a[0].value, "")};
  }
  return ask(a, about);
}

Answer size_call(const Arguments& a) {
  return ask(a, [](const Layout& mode) { return answer(extent(mode)); });
}
Answer cosize_call(const Arguments& a) {
  const auto* tile = std::get_if<Shared<TileLayout>>(&a[0].value);
  if (tile && a.size() == 1) return answer(span(**tile));
  return ask_strides(a, [](const Layout& mode) { return answer(coshape(mode)); });
}
Answer rank_call(const Arguments& a) {
  return ask(a, [](const Layout& mode) { return number(mode.rank()); });
}
Answer depth_call(const Arguments& a) {
  return ask(a, [](const Layout& mode) { return number(mode.depth()); });
}
Answer shape_call(const Arguments& a) {
  return ask(a, [](const Layout& mode) { return Answer(Value(mode.shape())); });
}
Answer stride_call(const Arguments& a) {
  return ask_strides(a, [](const Layout& mode) {
    return mode.plain() ? Answer(Value(mode.stride()))
                        : Answer(Refusal{Rule::has_swizzle, -1, 0, 0, 0});
  });
}
Answer layout_call(const Arguments& a) {
  if (std::holds_alternative<Tuple>(a[0].value)) {
    return Reason{"A tensor, a slice or a layout has one." + advice_for(a[0].value, "a layout")};
  }
  return ask_strides(a, [](const Layout& mode) { return Answer(Value(mode)); });
}
Answer get_call(const Arguments& a) {
  return ask_strides(a, [](const Layout& mode) { return Answer(Value(mode)); });
}

Tuple numbers_behind(const Arguments& a) {
  Tuple out;
  for (std::size_t i = 1; i < a.size(); ++i) out.push(Tuple(a[i].number));
  return out;
}

// append(L), append(L, N), append(L, X), append(L, X, N): a number alone is the rank to reach.
template <Result<Layout> (*once)(const Layout&, const Layout&),
          Result<Layout> (*up_to)(const Layout&, const Layout&, std::int64_t)>
Answer add_modes(const Arguments& a) {
  Layout x(1, 0);
  const Tuple* rank = nullptr;
  for (std::size_t i = 1; i < a.size(); ++i) {
    const Layout* layout = std::get_if<Layout>(&a[i].value);
    const Tuple* tuple = std::get_if<Tuple>(&a[i].value);
    if (layout && i == 1)
      x = *layout;
    else if (tuple && tuple->scalar() && tuple->leaf[0].known() && i + 1 == a.size())
      rank = tuple;
    else
      return Reason{fmt::format("After the layout come another one, a rank, or both; this is {}.{}",
                                kind_of(a[i].value), advice_for(a[i].value, ""))};
  }
  return answer(rank ? up_to(a[0].layout, x, rank->leaf[0].value) : once(a[0].layout, x));
}

Answer idx2crd_call(const Arguments& a) {
  const Layout* layout = std::get_if<Layout>(&a[1].value);
  const Tuple* shape = std::get_if<Tuple>(&a[1].value);
  if (!layout && !shape) {
    return Reason{fmt::format("The coordinates are those of a shape or a layout; this is {}.{}",
                              kind_of(a[1].value), advice_for(a[1].value, ""))};
  }
  return answer(idx2crd(a[0].index, layout ? layout->shape() : *shape));
}

void slice_steps(const Arguments& a, Derivation& steps) {
  explain_slice(a[0].tuple, a[1].layout, steps);
}

const std::array table = {
    Function{{"make_layout", "(SHAPE[, STRIDE])",
              "compact column-major strides, or those given; several layouts become modes"},
             "Vvvvvvvv",
             make_layout_call},
    Function{
        {"make_ordered_layout", "(SHAPE, ORDER)", "compact strides, the smallest order fastest"},
        "SS",
        [](const Arguments& a) { return answer(make_ordered_layout(a[0].tuple, a[1].tuple)); }},
    Function{{"make_identity_layout", "(SHAPE)", "the layout of its own coordinates: (1@0,1@1)"},
             "S",
             [](const Arguments& a) { return answer(make_identity_layout(a[0].tuple)); }},
    Function{{"make_identity_tensor", "(SHAPE)", "make_identity_layout by CuTe's name"},
             "S",
             [](const Arguments& a) { return answer(make_identity_layout(a[0].tuple)); }},
    Function{{"make_layout_like", "(L)", "L's shape with compact strides in the order of L's"},
             "L",
             unary<make_layout_like>},
    Function{{"make_layout_tv", "(THREADS, VALUES)",
              "tiler and thread/value layout of threads raked over values"},
             "LL",
             [](const Arguments& a) { return answer(make_layout_tv(a[0].layout, a[1].layout)); },
             [](const Arguments& a, Derivation& steps) {
               explain_thread_value(a[0].layout, a[1].layout, steps);
             }},
    Function{{"size", "(L[, I...])", "number of coordinates, of mode I"}, "Vnnn", size_call},
    Function{{"cosize", "(L[, I...])", "one more than the largest offset, on each axis"},
             "Vnnn",
             cosize_call},
    Function{{"rank", "(L[, I...])", "number of top-level modes"}, "Vnnn", rank_call},
    Function{
        {"depth", "(L[, I...])", "levels of nesting; 0 for a single number"}, "Vnnn", depth_call},
    Function{{"shape", "(L[, I...])", "the shape alone"}, "Vnnn", shape_call},
    Function{{"stride", "(L[, I...])", "the strides alone"}, "Vnnn", stride_call},
    Function{{"layout", "(T[, I...])", "a tensor's or a slice's layout alone, of mode I"},
             "Vnnn",
             layout_call},
    Function{{"get", "(L, I[, J...])", "mode I as a layout, of that mode J"}, "ENnnn", get_call},
    Function{
        {"take", "(L, BEGIN, END)", "the modes from BEGIN up to, but without, END"},
        "ENN",
        [](const Arguments& a) { return answer(take(a[0].layout, a[1].number, a[2].number)); }},
    Function{{"select", "(L, I[, J...])", "the modes of these numbers, in this order"},
             "ENnnnnnn",
             [](const Arguments& a) { return answer(select(a[0].layout, numbers_behind(a))); }},
    Function{
        {"group", "(L, BEGIN, END)", "the modes from BEGIN up to, but without, END as one mode"},
        "ENN",
        [](const Arguments& a) { return answer(group(a[0].layout, a[1].number, a[2].number)); }},
    Function{{"append", "(L[, X][, RANK])", "X (or 1:0) after the modes, once or up to RANK"},
             "Ovv",
             add_modes<append, append>},
    Function{{"prepend", "(L[, X][, RANK])", "X (or 1:0) before the modes, once or up to RANK"},
             "Ovv",
             add_modes<prepend, prepend>},
    Function{
        {"replace", "(L, I, X)", "X in the place of mode I"},
        "ONL",
        [](const Arguments& a) { return answer(replace(a[0].layout, a[1].number, a[2].layout)); }},
    Function{{"zip", "(A, B)", "((a0,b0),(a1,b1),...)"}, "LL", binary<zip>},
    Function{{"unflatten", "(L, PROFILE)", "flat modes in the nesting of PROFILE"},
             "ES",
             [](const Arguments& a) { return answer(unflatten(a[0].layout, a[1].tuple)); }},
    Function{{"crd2idx", "(COORDINATE, L)", "the offset, or place, of a coordinate"},
             "SE",
             crd2idx_call},
    Function{{"idx2crd", "(INDEX, SHAPE)", "the coordinate of the INDEX-th element"},
             "IV",
             idx2crd_call},
    Function{{"coordinates", "(OFFSET, L)", "every coordinate that maps to an offset"},
             "VE",
             coordinates},
    Function{{"indices", "(L)", "all offsets, in order of the coordinates"}, "E", indices},
    Function{{"slice", "(COORDINATE, L)", "the modes at `_`, as a layout"},
             "SE",
             slice_call,
             slice_steps},
    Function{
        {"slice_and_offset", "(COORDINATE, L)", "the modes at `_`, and the offset of the rest"},
        "SE",
        [](const Arguments& a) {
          if (a[1].tensor) return answer(slice(a[0].tuple, *a[1].tensor));
          return from(a[1].origin, answer(slice(a[0].tuple, a[1].layout)));
        },
        slice_steps},
};

}  // namespace

std::span<const Function> functions_making() {
  return table;
}

bool takes_coordinates(const Value& value) {
  if (const Tensor* tensor = std::get_if<Tensor>(&value)) return !tensor->alone();
  if (const Slice* slice = std::get_if<Slice>(&value)) return !slice->layout.modes.empty();
  return std::holds_alternative<Layout>(value) || std::holds_alternative<Shared<TileLayout>>(value);
}

Answer at(const Value& value, const Tuple& coordinate) {
  if (const auto* tile = std::get_if<Shared<TileLayout>>(&value)) {
    return answer(owners(**tile, coordinate));
  }
  const Tensor* tensor = std::get_if<Tensor>(&value);
  const Slice* part = std::get_if<Slice>(&value);
  const Layout& layout = tensor ? tensor->layout
                         : part ? part->layout
                                : *std::get_if<Layout>(&value);
  for (int i = 0; i < coordinate.leaves; ++i) {
    if (coordinate.leaf[i].kind != Int::Kind::all) continue;
    if (tensor) return answer(slice(coordinate, *tensor));
    return from(part ? part->offset : Place(), answer(slice(coordinate, layout)));
  }
  Result<Place> place = place_of(coordinate, layout);
  const Place origin = tensor ? tensor->offset : part ? part->offset : Place();
  if (!place || origin.zero()) return answer(place);
  if (const Refusal r = place.value.add(origin)) return r;
  return answer(place);
}

std::optional<Tiler> tiler_part(const Value& value) {
  if (const Tiler* tiler = std::get_if<Tiler>(&value)) return *tiler;
  if (const Layout* layout = std::get_if<Layout>(&value)) {
    if (!layout->plain() || layout->modes.empty()) return std::nullopt;
    return Tiler(*layout);
  }
  const Tuple* tuple = std::get_if<Tuple>(&value);
  if (!tuple || tuple->empty()) return std::nullopt;
  if (tuple->scalar()) return Tiler::number(tuple->leaf[0]);
  return Tiler(*tuple);
}

Answer add(const Value& left, const Value& right) {
  if (const Tensor* tensor = std::get_if<Tensor>(&left)) return moved(*tensor, right);
  const auto* tile = std::get_if<Shared<TileLayout>>(&left);
  const auto* other = std::get_if<Shared<TileLayout>>(&right);
  if (tile && other) return shared(add(**tile, **other));
  const std::optional<Place> a = place_in(left), b = place_in(right);
  if (tile && b) return shared(add(**tile, *b));
  if (other && a) return shared(add(**other, *a));
  if (!a || !b) return Refusal{Rule::not_a_sum, -1, static_cast<std::int8_t>(a ? 1 : 0), 0, 0};
  Place sum = *a;
  if (const Refusal r = sum.add(*b)) return r;
  return answer(Result<Place>(sum));
}

}  // namespace tilescope::language
