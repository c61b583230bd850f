// From an expression of the language to the view that shows it best.
#include <fmt/format.h>

#include <algorithm>

#include "core/layout/text.h"
#include "viz/layout/layout_chain.h"
#include "viz/layout/layout_statements.h"
#include "viz/layout/layout_view.h"

namespace tilescope {
namespace {

LayoutView::DivideForm form_of(std::string_view callee) {
  return callee == "tiled_divide"  ? LayoutView::DivideForm::tiled
         : callee == "flat_divide" ? LayoutView::DivideForm::flat
                                   : LayoutView::DivideForm::zipped;
}

// slice((_,3), L) answers a layout alone: as (L)(_,3) it stands in what it is taken from. Empty for
// other expressions.
std::string as_standing_slice(std::string_view expression) {
  const std::optional<Call> call = call_of(expression);
  if (!call || call->callee != "slice" || call->arguments.size() != 2) return {};
  std::string_view at = call->arguments[0];
  if (at.size() >= 2 && at.front() == '(' && at.back() == ')') at = at.substr(1, at.size() - 2);
  const std::string_view from = call->arguments[1];
  return is_name(from) ? fmt::format("{}({})", from, at) : fmt::format("({})({})", from, at);
}

Error error_of(const Problem& problem, std::string_view expression) {
  return {ErrorKind::refused, problem.sentence, caret(expression, problem)};
}

std::optional<Tiler> tiler_of(const Value& value) {
  if (const Tiler* tiler = std::get_if<Tiler>(&value)) return *tiler;
  if (const Layout* layout = std::get_if<Layout>(&value)) return Tiler(*layout);
  if (const Tuple* shape = std::get_if<Tuple>(&value)) return Tiler(*shape);
  return std::nullopt;
}

// What the coordinates of an operand in TMEM are called.
std::string letters_of(const std::optional<Call>& call) {
  if (!call) return {};
  if (call->callee == "fragment_A") return "mk";
  return call->callee == "fragment_C" || call->callee.substr(0, 16) == "tmem_accumulator" ? "mn"
                                                                                          : "";
}

// A value that stands in TMEM: on the axes TLane and TCol, or an operand's fragment there.
std::optional<LayoutView::Region> region_of(std::string_view name, std::string_view expression,
                                            const Value& value) {
  const Layout* layout = std::get_if<Layout>(&value);
  const Slice* slice = std::get_if<Slice>(&value);
  if (const auto* tiles = std::get_if<Shared<TileLayout>>(&value)) {
    return LayoutView::region_of_tiles(std::string(name), **tiles);
  }
  const Tensor* tensor = std::get_if<Tensor>(&value);
  const Layout* either = slice != nullptr    ? &slice->layout
                         : tensor != nullptr ? &tensor->layout
                                             : layout;
  if (either == nullptr || either->modes.empty()) return std::nullopt;
  const Place begin = slice != nullptr    ? slice->offset
                      : tensor != nullptr ? tensor->offset
                                          : Place{};
  const std::optional<Call> call = call_of(expression);
  const bool fragment = call && one_of(call->callee, {"fragment_A", "fragment_C"});
  std::optional<LayoutView::Region> out;
  if (LayoutView::speaks_of_tensor_memory(*either)) {
    out = LayoutView::region_on_axes(std::string(name), *either, begin);
  } else if (fragment || (tensor != nullptr && tensor->memory == Memory::tmem && begin.zero())) {
    out = LayoutView::region_of_addresses(std::string(name), *either);
  }
  if (out) out->letters = letters_of(call);
  return out;
}

// layout_C_TV(MMA) and its like, of a tiled operation or an atom: the layout alone does not say
// over which tile it stands, what it was taken from does.
std::optional<Outcome<LayoutView>> owners_in(Scope& scope, std::string_view expression,
                                             std::string title) {
  const std::optional<Call> call = call_of(expression);
  if (!call || call->arguments.empty() || call->arguments.size() > 2) return std::nullopt;
  const std::string_view callee = call->callee;
  const std::optional<Value> from = value_of(scope, call->arguments[0]);
  if (!from) return std::nullopt;
  const auto* mma = std::get_if<Shared<TiledMma>>(&*from);
  const auto* mma_atom = std::get_if<Shared<MmaAtom>>(&*from);
  for (const auto& [name, x] :
       {std::pair{"layout_A_TV", OperandName::a}, std::pair{"layout_B_TV", OperandName::b},
        std::pair{"layout_C_TV", OperandName::c}}) {
    if (call->arguments.size() != 1 || callee != name) continue;
    if (mma != nullptr) return LayoutView::of_operand(**mma, x, title);
    if (mma_atom != nullptr) return LayoutView::of_operand(**mma_atom, x, title);
  }
  const auto* atom = std::get_if<Shared<CopyAtom>>(&*from);
  const std::optional<Value> whole = value_of(scope, expression);
  const Layout* layout = whole ? std::get_if<Layout>(&*whole) : nullptr;
  if (atom != nullptr && layout != nullptr && callee == "tmem_fragment") {
    return LayoutView::of_fragment(**atom, *layout, title);
  }
  if (call->arguments.size() != 1) return std::nullopt;
  const auto* copy = std::get_if<Shared<TiledCopy>>(&*from);
  for (const auto& [name, side] :
       {std::pair{"layout_S_TV", Side::source}, std::pair{"layout_D_TV", Side::destination}}) {
    if (copy != nullptr && callee == name) return LayoutView::of_side(**copy, side, title);
  }
  if (copy == nullptr || callee != "layout_TV") return std::nullopt;
  Outcome<LayoutView> view = LayoutView::thread_value((*copy)->layout_tv, (*copy)->tiler);
  if (view) view->retitle(std::move(title));
  return view;
}

// A partition is a layout without a type; the copy or the product that it is taken by has one.
std::optional<int> bits_of_partition(Scope& scope, std::string_view expression) {
  const std::optional<Call> call = call_of(expression);
  if (!call || call->arguments.empty()) return std::nullopt;
  const std::optional<Value> by = value_of(scope, call->arguments[0]);
  if (!by) return std::nullopt;
  if (const auto* copy = std::get_if<Shared<TiledCopy>>(&*by)) {
    const bool side = one_of(call->callee, {"partition_S", "partition_D"});
    return side ? std::optional<int>(bits_of((*copy)->atom.value)) : std::nullopt;
  }
  const auto* mma = std::get_if<Shared<TiledMma>>(&*by);
  for (const auto& [name, x] :
       {std::pair{"partition_A", OperandName::a}, std::pair{"partition_B", OperandName::b},
        std::pair{"partition_C", OperandName::c}}) {
    if (mma != nullptr && call->callee == name) return bits_of((*mma)->operand(x).type);
  }
  return std::nullopt;
}

// All that the statements put into TMEM, where the last one does: what is taken of a
// binding, and the last value itself.
std::vector<LayoutView::Region> regions_of(Scope& scope, const Bindings& bindings,
                                           std::string_view last) {
  std::vector<LayoutView::Region> out;
  const std::optional<Value> value = value_of(scope, last);
  const auto bound = bindings.find(last);
  const std::string_view meant = bound == bindings.end() ? last : bound->second;
  auto main = value ? region_of(is_name(last) ? last : "", meant, *value) : std::nullopt;
  if (!main) return out;
  for (const auto& [name, expression] : bindings) {
    const std::optional<Value> other = value_of(scope, name);
    // A whole is not one more region of what is taken of it.
    if (name == last || !other || std::holds_alternative<Layout>(*other)) continue;
    if (std::holds_alternative<Tensor>(*other) && !taking_of(expression)) continue;
    if (auto region = region_of(name, expression, *other)) out.push_back(std::move(*region));
  }
  if (out.empty()) main->name.clear();  // alone it needs no name to be told from others
  out.push_back(std::move(*main));
  return out;
}

// A division or a product of a layout: what it was made from says more than its numbers.
std::optional<LayoutView> cut_or_copied(Scope& scope, std::string_view expression) {
  const std::optional<Call> call = call_of(expression);
  const bool divided = call && divides(call->callee), copied = call && multiplies(call->callee);
  if ((!divided && !copied) || call->arguments.size() != 2) return std::nullopt;
  // Bindings of the statements before are in the scope already.
  const std::optional<Value> first = value_of(scope, call->arguments[0]);
  const std::optional<Value> second = value_of(scope, call->arguments[1]);
  const std::optional<Slice> input = first ? slice_of(*first) : std::nullopt;
  const std::optional<Tiler> tiler = second ? tiler_of(*second) : std::nullopt;
  if (!input || !tiler) return std::nullopt;
  Outcome<LayoutView> view = Error{};
  const bool numbers = input->layout.concrete() && input->offset.zero();
  if (copied) {
    if (!numbers) return std::nullopt;
    view = LayoutView::multiplied(call->callee, input->layout, *tiler);
  } else if (numbers) {
    view = LayoutView::divided(input->layout, *tiler, form_of(call->callee));
  } else if (input->offset.known()) {
    view = LayoutView::divided_places(input->layout, input->offset, *tiler, form_of(call->callee));
  }
  if (!view) return std::nullopt;
  view->retitle(std::string(expression));
  return *view;
}

}  // namespace

Outcome<LayoutView> LayoutView::of_expression(std::string_view expression) {
  Scope scope;
  const std::optional<Evaluated> evaluated = scope.evaluate(expression);
  if (!evaluated) {
    return Error{ErrorKind::refused,
                 "There is no expression; (9,(4,8)):(59,(13,1)) would draw a layout.",
                 {}};
  }
  if (const Problem* problem = std::get_if<Problem>(&*evaluated)) {
    return error_of(*problem, expression);
  }
  const Value& value = std::get<Value>(*evaluated);
  Outcome<LayoutView> view = of_evaluated(scope, expression, value);
  if (!view) return view;
  view->element_bits_ = element_bits(value);
  if (!view->element_bits_) {
    const std::string_view last = split_outside(expression, ';').back();
    const Bindings bindings = bindings_of(expression);
    const auto bound = bindings.find(last);
    view->element_bits_ = bits_of_partition(scope, bound == bindings.end() ? last : bound->second);
  }
  return view;
}

Outcome<LayoutView> LayoutView::of_evaluated(Scope& scope, std::string_view expression,
                                             const Value& value) {
  const std::string_view last = split_outside(expression, ';').back();
  if (const std::string standing = as_standing_slice(last); !standing.empty()) {
    const std::optional<Value> where = value_of(scope, standing);
    Outcome<LayoutView> view = where ? of_evaluated(scope, standing, *where) : Error{};
    if (view && view->panels().size() > 1) {
      view->retitle(std::string(last));
      view->remark(fmt::format("slice() answers {}, which counts from where the slice begins.",
                               text(value)));
      return view;
    }
  }
  if (auto view = cut_or_copied(scope, last)) return *view;
  const Bindings bindings = bindings_of(expression);
  const auto bound = bindings.find(last);
  if (auto view =
          owners_in(scope, bound == bindings.end() ? last : bound->second, std::string(last))) {
    if (*view) return *view;
  }
  if (const std::vector<Region> regions = regions_of(scope, bindings, last); !regions.empty()) {
    std::string names;
    for (const Region& region : regions) names += (names.empty() ? "" : ", ") + region.name;
    return tensor_memory(regions, is_name(last) && regions.size() > 1 ? names : std::string(last));
  }
  if (const PartsOfExpression chain = parts_of(scope, bindings, last); !chain.parts.empty()) {
    Outcome<LayoutView> view = parts(chain.parts, std::string(last));
    if (view && !chain.on_axes) return view;
    if (Outcome<Places> places =
            chain.on_axes ? places_on_axes(chain.on_axes->layout, chain.on_axes->offset, {})
                          : Places{};
        view && places) {
      for (std::size_t p = 0; p < chain.parts.size(); ++p) {
        view->panels_[p].formula = chain.formulas[p];
      }
      view->show_places(std::move(*places));
      return view;
    }
  }
  return of_value(value, std::string(last));
}

}  // namespace tilescope
