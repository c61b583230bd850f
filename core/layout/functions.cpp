#include "core/layout/functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "core/layout/text.h"

namespace tilescope {
namespace language {
namespace {

using Rule = Refusal::Rule;

constexpr std::int64_t listable = std::int64_t{1} << 20;  // elements that a listing may have

template <class T>
Answer answer(const Result<T>& result) {
  if (!result) return result.refusal;
  return Value(result.value);
}

Answer answer(const Result<std::int64_t>& result) {
  if (!result) return result.refusal;
  return Value(Tuple(result.value));
}

Answer number(std::int64_t n) {
  return Value(Tuple(n));
}

// How many elements a listing of L has, if that can be listed.
Result<std::int64_t> listing_size(const Layout& layout) {
  if (!layout.concrete()) return Refusal{Rule::dynamic_leaf, -1, 0, 0, 0};
  if (layout.modes.empty()) return Refusal{Rule::empty, -1, 0, 0, 0};
  const Result<std::int64_t> n = size(layout);
  if (n && *n > listable) return Refusal{Rule::overflow, -1, 0, *n, listable};
  return n;
}

Answer indices(const Arguments& a) {
  const Result<std::int64_t> n = listing_size(a[0].layout);
  if (!n) return n.refusal;
  Numbers out;
  for (std::int64_t i = 0; i < *n; ++i) out.push_back(a[0].layout(i));
  return Value(std::move(out));
}

Answer coordinates(const Arguments& a) {
  const Layout& layout = a[1].layout;
  const Result<std::int64_t> n = listing_size(layout);
  if (!n) return n.refusal;
  Tuples out;
  for (std::int64_t i = 0; i < *n; ++i) {
    if (layout(i) == a[0].number) out.push_back(*idx2crd(i, layout.shape()));
  }
  return Value(std::move(out));
}

Answer make_layout_call(const Arguments& a) {
  if (a.size() == 2 && std::holds_alternative<Tuple>(a[0].value) &&
      std::holds_alternative<Tuple>(a[1].value)) {
    return answer(make_layout(std::get<Tuple>(a[0].value), std::get<Tuple>(a[1].value)));
  }
  if (a.size() == 1 && std::holds_alternative<Tuple>(a[0].value)) {
    return answer(make_layout(std::get<Tuple>(a[0].value)));
  }
  Tree<Mode> modes;  // several layouts, each a mode
  for (const Argument& each : a) {
    const Layout* layout = std::get_if<Layout>(&each.value);
    if (!layout) return Refusal{Rule::not_congruent, -1, 0, 1, 2};
    if (!layout->plain()) return Refusal{Rule::has_swizzle, -1, 0, 0, 0};
    if (a.size() == 1) return Value(*layout);
    modes.push(layout->modes);
  }
  if (const Refusal r = modes.capacity()) return r;
  return Value(Layout(modes));
}

Answer slice_call(const Arguments& a) {
  const Result<Slice> part = slice(a[0].tuple, a[1].layout);
  if (!part) return part.refusal;
  if (part->layout.modes.empty()) return Refusal{Rule::empty, -1, 0, 0, 0};
  return Value(part->layout);
}

Answer shape_of(const Arguments& a) {
  return Value(a[0].layout.shape());
}
Answer stride_of(const Arguments& a) {
  return Value(a[0].layout.stride());
}

Answer idx2crd_call(const Arguments& a) {
  const Layout* layout = std::get_if<Layout>(&a[1].value);
  const Tuple* shape = std::get_if<Tuple>(&a[1].value);
  if (!layout && !shape) return Refusal{Rule::not_congruent, -1, 1, 1, 1};
  return answer(idx2crd(a[0].number, layout ? layout->shape() : *shape));
}

template <Result<Layout> (*operation)(const Layout&)>
Answer unary(const Arguments& a) {
  return answer(operation(a[0].layout));
}

template <Result<Layout> (*operation)(const Layout&, const Layout&)>
Answer binary(const Arguments& a) {
  return answer(operation(a[0].layout, a[1].layout));
}

template <Result<Layout> (*operation)(const Layout&, const Tiler&)>
Answer tiled(const Arguments& a) {
  return answer(operation(a[0].layout, a[1].tiler));
}

// In reading order: making, asking, coordinates, simplifying, the algebra.
const std::array table = {
    Function{{"make_layout", "(SHAPE[, STRIDE])",
              "compact column-major strides, or those given; several layouts become modes"},
             "Vvvvvvvv",
             make_layout_call},
    Function{
        {"make_ordered_layout", "(SHAPE, ORDER)", "compact strides, the smallest order fastest"},
        "SS",
        [](const Arguments& a) { return answer(make_ordered_layout(a[0].tuple, a[1].tuple)); }},
    Function{{"make_layout_tv", "(THREADS, VALUES)",
              "tiler and thread/value layout of threads raked over values"},
             "LL",
             [](const Arguments& a) { return answer(make_layout_tv(a[0].layout, a[1].layout)); }},
    Function{{"size", "(L)", "number of coordinates"},
             "L",
             [](const Arguments& a) { return answer(size(a[0].layout)); }},
    Function{{"cosize", "(L)", "one more than the largest offset"},
             "L",
             [](const Arguments& a) { return answer(cosize(a[0].layout)); }},
    Function{{"rank", "(L)", "number of top-level modes"},
             "L",
             [](const Arguments& a) { return number(a[0].layout.rank()); }},
    Function{{"depth", "(L)", "levels of nesting; 0 for a single number"},
             "L",
             [](const Arguments& a) { return number(a[0].layout.depth()); }},
    Function{{"shape", "(L)", "the shape alone"}, "L", shape_of},
    Function{{"stride", "(L)", "the strides alone"}, "L", stride_of},
    Function{{"get", "(L, I)", "mode I as a layout"},
             "LN",
             [](const Arguments& a) { return answer(get(a[0].layout, a[1].number)); }},
    Function{{"crd2idx", "(COORDINATE, L)", "the offset of a coordinate"},
             "SL",
             [](const Arguments& a) { return answer(crd2idx(a[0].tuple, a[1].layout)); }},
    Function{{"idx2crd", "(INDEX, SHAPE)", "the coordinate of the INDEX-th element"},
             "NV",
             idx2crd_call},
    Function{{"coordinates", "(OFFSET, L)", "every coordinate that maps to an offset"},
             "NL",
             coordinates},
    Function{{"indices", "(L)", "all offsets, in order of the coordinates"}, "L", indices},
    Function{{"slice", "(COORDINATE, L)", "the modes at `_`, as a layout"}, "SL", slice_call},
    Function{
        {"slice_and_offset", "(COORDINATE, L)", "the modes at `_`, and the offset of the rest"},
        "SL",
        [](const Arguments& a) { return answer(slice(a[0].tuple, a[1].layout)); }},
    Function{{"flatten", "(L)", "the same leaves without nesting"}, "L", unary<flatten>},
    Function{{"coalesce", "(L[, PROFILE])", "the same function with the fewest leaves; by mode"},
             "Ls",
             [](const Arguments& a) {
               return answer(a.size() == 2 ? coalesce(a[0].layout, a[1].tuple)
                                           : coalesce(a[0].layout));
             }},
    Function{{"filter", "(L)", "without modes that do not move, coalesced"}, "L", unary<filter>},
    Function{{"composition", "(A, B)", "R(c) = A(B(c)); by mode for a tiler"},
             "VV",
             [](const Arguments& a) { return compose(a[0].value, a[1].value); }},
    Function{{"complement", "(L[, SIZE])", "what L leaves out of [0, SIZE)"},
             "Ls",
             [](const Arguments& a) {
               return answer(a.size() == 2 ? complement(a[0].layout, a[1].tuple)
                                           : complement(a[0].layout));
             }},
    Function{{"right_inverse", "(L)", "L(R(i)) = i"}, "L", unary<right_inverse>},
    Function{{"left_inverse", "(L)", "R(L(i)) = i"}, "L", unary<left_inverse>},
    Function{{"logical_divide", "(L, TILER)", "(tile, rest), mode by mode for a tiler"},
             "LT",
             tiled<logical_divide>},
    Function{{"zipped_divide", "(L, TILER)", "((tiles), (rests))"}, "LT", tiled<zipped_divide>},
    Function{{"tiled_divide", "(L, TILER)", "((tiles), rest, rest...)"}, "LT", tiled<tiled_divide>},
    Function{
        {"flat_divide", "(L, TILER)", "(tile, tile..., rest, rest...)"}, "LT", tiled<flat_divide>},
    Function{{"logical_product", "(A, B)", "(A, copies of A arranged as B)"},
             "LL",
             binary<logical_product>},
    Function{
        {"zipped_product", "(A, B)", "the same: (A, copies of A)"}, "LL", binary<logical_product>},
    Function{{"tiled_product", "(A, B)", "(A, copies, copies...)"}, "LL", binary<tiled_product>},
    Function{
        {"flat_product", "(A, B)", "(a, a..., copies, copies...)"}, "LL", binary<flat_product>},
    Function{
        {"blocked_product", "(A, B)", "blocks of A, mode by mode"}, "LL", binary<blocked_product>},
    Function{{"raked_product", "(A, B)", "A's elements interleaved, mode by mode"},
             "LL",
             binary<raked_product>},
};

Problem wrong_kind(const Function& f, std::size_t i, const Argument& a, std::string_view needs) {
  std::string hint;
  if (needs == "a layout" && std::holds_alternative<Tuple>(a.value)) {
    hint = fmt::format(" Did you mean make_layout({})?", text(a.value));
  }
  return {false,
          fmt::format("{}{}: argument {} is {}; it needs {}.{}", f.help.name, f.help.parameters,
                      i + 1, kind_of(a.value), needs, hint),
          a.begin, a.end};
}

std::optional<Problem> convert(const Function& f, std::size_t i, Argument& a) {
  const Tuple* tuple = std::get_if<Tuple>(&a.value);
  const Layout* layout = std::get_if<Layout>(&a.value);
  switch (f.kinds[i]) {
    case 'L':
    case 'l':
      if (layout)
        a.layout = *layout;
      else if (tuple && tuple->scalar() && tuple->leaf[0].known())
        a.layout = Layout(tuple->leaf[0], 1);
      else if (const Slice* slice = std::get_if<Slice>(&a.value))
        a.layout = slice->layout;
      else
        return wrong_kind(f, i, a, "a layout");
      if (!layout && a.layout.modes.leaves > 0 && a.layout.modes.leaf[0].shape.value < 1) {
        return wrong_kind(f, i, a, "an extent of 1 or more");
      }
      return std::nullopt;
    case 'T':
    case 't':
      if (layout)
        a.tiler = Tiler(*layout);
      else if (const Tiler* tiler = std::get_if<Tiler>(&a.value))
        a.tiler = *tiler;
      else if (tuple && tuple->scalar())
        a.tiler = Tiler(Layout(tuple->leaf[0], 1));
      else if (tuple)
        a.tiler = Tiler(*tuple);
      else
        return wrong_kind(f, i, a, "a tiler: a layout, a shape or <...>");
      if (layout && !layout->plain()) return wrong_kind(f, i, a, "a plain layout, without swizzle");
      for (int k = 0; k < a.tiler.modes.leaves; ++k) {
        const Int& extent = a.tiler.modes.leaf[k].shape;
        if (extent.known() && extent.value < 1) return wrong_kind(f, i, a, "extents of 1 or more");
      }
      return std::nullopt;
    case 'S':
    case 's':
      if (!tuple) return wrong_kind(f, i, a, "a tuple of numbers");
      a.tuple = *tuple;
      return std::nullopt;
    case 'N':
    case 'n':
      if (!tuple || !tuple->scalar() || !tuple->leaf[0].known()) {
        return wrong_kind(f, i, a, "a number");
      }
      a.number = tuple->leaf[0].value;
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace

const Function* find_function(std::string_view name) {
  const auto* found = std::find_if(table.begin(), table.end(),
                                   [&](const Function& f) { return f.help.name == name; });
  return found == table.end() ? nullptr : &*found;
}

Evaluated call(const Function& f, Arguments arguments, std::size_t begin, std::size_t end) {
  const std::size_t most = f.kinds.size();
  const auto optional =
      std::count_if(f.kinds.begin(), f.kinds.end(), [](char c) { return c >= 'a' && c <= 'z'; });
  const std::size_t least = most - static_cast<std::size_t>(optional);
  if (arguments.size() < least || arguments.size() > most) {
    return Problem{
        false,
        fmt::format("{}{} was called with {} argument{}.", f.help.name, f.help.parameters,
                    arguments.size(), arguments.size() == 1 ? "" : "s"),
        begin, end};
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (std::optional<Problem> problem = convert(f, i, arguments[i])) return *problem;
  }
  Answer result = f.call(arguments);
  if (Value* value = std::get_if<Value>(&result)) return std::move(*value);
  const Refusal& refusal = std::get<Refusal>(result);
  const std::size_t operand = static_cast<std::size_t>(refusal.operand);
  if (arguments.size() > 1 && operand < arguments.size() && refusal.mode >= 0) {
    begin = arguments[operand].begin;
    end = arguments[operand].end;
  }
  return Problem{true, fmt::format("{}: {}", f.help.name, sentence(refusal)), begin, end};
}

Answer compose(const Value& left, const Value& right) {
  const Layout* b = std::get_if<Layout>(&right);
  const Tuple* offset = std::get_if<Tuple>(&left);
  if (const Swizzle* swizzle = std::get_if<Swizzle>(&left)) {
    if (!b) return Refusal{Rule::not_congruent, -1, 1, 1, 1};
    if (!b->swizzle.identity()) return Refusal{Rule::has_swizzle, -1, 1, 0, 0};
    Layout out = *b;
    out.swizzle = *swizzle;
    return Value(out);
  }
  if (offset && offset->scalar() && offset->leaf[0].known() && b) {
    if (!b->plain()) return Refusal{Rule::has_swizzle, -1, 1, 0, 0};
    Layout out = *b;
    out.offset = offset->leaf[0];
    return Value(out);
  }
  const Layout* a = std::get_if<Layout>(&left);
  if (!a) return Refusal{Rule::not_congruent, -1, 0, 1, 1};
  if (b) return answer(composition(*a, *b));
  if (const Tiler* tiler = std::get_if<Tiler>(&right)) return answer(composition(*a, *tiler));
  const Tuple* shape = std::get_if<Tuple>(&right);
  if (!shape || shape->empty()) return Refusal{Rule::not_congruent, -1, 1, 1, 1};
  if (shape->scalar()) return answer(composition(*a, Layout(shape->leaf[0], 1)));
  return answer(composition(*a, Tiler(*shape)));
}

}  // namespace language

std::span<const FunctionHelp> functions() {
  static const std::vector<FunctionHelp> all = [] {
    std::vector<FunctionHelp> out;
    for (const language::Function& f : language::table) out.push_back(f.help);
    return out;
  }();
  return all;
}

std::string_view nearest(std::string_view word, std::span<const std::string_view> known) {
  // Levenshtein distance; near is at most a third of the word, at least 1.
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  std::vector<std::size_t> row;
  for (std::string_view candidate : known) {
    row.resize(candidate.size() + 1);
    for (std::size_t k = 0; k < row.size(); ++k) row[k] = k;
    for (std::size_t i = 1; i <= word.size(); ++i) {
      std::size_t diagonal = row[0];
      row[0] = i;
      for (std::size_t k = 1; k < row.size(); ++k) {
        const std::size_t change = diagonal + (word[i - 1] != candidate[k - 1]);
        diagonal = row[k];
        row[k] = std::min({change, row[k] + 1, row[k - 1] + 1});
      }
    }
    if (row.back() < best_distance) {
      best_distance = row.back();
      best = candidate;
    }
  }
  return best;
}

}  // namespace tilescope
