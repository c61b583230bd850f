// From an expression of the language to the view that shows it best.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <map>

#include "core/layout/text.h"
#include "viz/scene/layout_view.h"

namespace tilescope {
namespace {

std::string_view trimmed_blanks(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t' || s.front() == '\n')) {
    s.remove_prefix(1);
  }
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t' || s.back() == '\n')) {
    s.remove_suffix(1);
  }
  return s;
}

// The parts between `separator`s that stand outside all brackets.
std::vector<std::string_view> split_outside(std::string_view s, char separator) {
  std::vector<std::string_view> out;
  int level = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (s[i] == '(' || s[i] == '<' || s[i] == '[' || s[i] == '{') ++level;
    if (s[i] == ')' || s[i] == '>' || s[i] == ']' || s[i] == '}') --level;
    if (s[i] == separator && level == 0) {
      out.push_back(trimmed_blanks(s.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  out.push_back(trimmed_blanks(s.substr(begin)));
  return out;
}

// An expression that ends with a bracketed list: what stands before it, and the list.
struct Call {
  std::string_view callee;
  std::vector<std::string_view> arguments;
};
std::optional<Call> call_of(std::string_view expression) {
  if (expression.empty() || expression.back() != ')') return std::nullopt;
  int level = 0;
  for (std::size_t i = expression.size(); i-- > 0;) {
    level += (expression[i] == ')') - (expression[i] == '(');
    if (level != 0) continue;
    const std::string_view inner = expression.substr(i + 1, expression.size() - i - 2);
    return Call{trimmed_blanks(expression.substr(0, i)), split_outside(inner, ',')};
  }
  return std::nullopt;
}

bool one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
  });
}

bool divides(std::string_view callee) {
  return one_of(callee, {"logical_divide", "zipped_divide", "tiled_divide", "flat_divide"});
}

bool multiplies(std::string_view callee) {
  return one_of(callee, {"logical_product", "zipped_product", "tiled_product", "flat_product",
                         "blocked_product", "raked_product"});
}

LayoutView::DivideForm form_of(std::string_view callee) {
  return callee == "tiled_divide"  ? LayoutView::DivideForm::tiled
         : callee == "flat_divide" ? LayoutView::DivideForm::flat
                                   : LayoutView::DivideForm::zipped;
}

// The statements by the name that each binds.
using Bindings = std::map<std::string_view, std::string_view>;
Bindings bindings_of(std::string_view expression) {
  Bindings out;
  for (const std::string_view statement : split_outside(expression, ';')) {
    const std::size_t equals = statement.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = trimmed_blanks(statement.substr(0, equals));
    if (is_name(name)) out[name] = trimmed_blanks(statement.substr(equals + 1));
  }
  return out;
}

// What an expression takes a part of, and what that part is called.
struct Taking {
  std::string_view from;
  std::string_view title;
};
std::optional<Taking> taking_of(std::string_view expression) {
  const std::optional<Call> call = call_of(expression);
  if (!call) return std::nullopt;
  const std::vector<std::string_view>& a = call->arguments;
  if (call->callee == "local_tile" && a.size() >= 2) return Taking{a[0], "Tile"};
  if (call->callee == "local_partition" && a.size() >= 2) return Taking{a[0], "Of one thread"};
  if (call->callee.substr(0, 10) == "partition_" && a.size() == 3) {
    return Taking{a[2], "Of one thread"};
  }
  // A(3,_): behind a name, or behind brackets.
  const bool applied =
      is_name(call->callee) || (!call->callee.empty() && call->callee.back() == ')');
  if (!applied) return std::nullopt;
  // The tiles of a division are shown in the layout that was divided: the elements are the same.
  const std::optional<Call> divided = call_of(call->callee);
  if (divided && divides(divided->callee)) return Taking{divided->arguments[0], "Tile"};
  return Taking{call->callee, "Slice"};
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

std::optional<Value> value_of(Scope& scope, std::string_view expression) {
  const std::optional<Evaluated> evaluated = scope.evaluate(expression);
  if (!evaluated) return std::nullopt;
  const Value* value = std::get_if<Value>(&*evaluated);
  return value != nullptr ? std::optional<Value>(*value) : std::nullopt;
}

std::optional<Tiler> tiler_of(const Value& value) {
  if (const Tiler* tiler = std::get_if<Tiler>(&value)) return *tiler;
  if (const Layout* layout = std::get_if<Layout>(&value)) return Tiler(*layout);
  if (const Tuple* shape = std::get_if<Tuple>(&value)) return Tiler(*shape);
  return std::nullopt;
}

// A layout with where it begins, of a tensor too, or the compact one of a shape; nothing else.
std::optional<Slice> slice_of(const Value& value) {
  if (const Layout* layout = std::get_if<Layout>(&value)) return Slice{*layout, {}};
  if (const Slice* slice = std::get_if<Slice>(&value)) return *slice;
  const Tensor* tensor = std::get_if<Tensor>(&value);
  if (tensor != nullptr && !tensor->alone()) return Slice{tensor->layout, tensor->offset};
  const Tuple* shape = std::get_if<Tuple>(&value);
  const Result<Layout> compact = shape != nullptr ? make_layout(*shape) : Result<Layout>(Layout());
  return compact && !compact->modes.empty() ? std::optional(Slice{*compact, {}}) : std::nullopt;
}

// A value as a layout with its place in memory; nothing where it is none.
std::optional<Layout> placed(const Value& value) {
  if (const Layout* layout = std::get_if<Layout>(&value)) return *layout;
  const Slice* slice = std::get_if<Slice>(&value);
  const Tensor* tensor = std::get_if<Tensor>(&value);
  const Tuple* number = std::get_if<Tuple>(&value);
  if (tensor != nullptr && !tensor->alone()) {
    return placed(Slice{tensor->layout, tensor->offset});
  }
  Layout out;
  if (slice != nullptr && slice->offset.plain() && slice->offset.known()) {
    out = slice->layout;
    if (out.modes.empty()) out.modes = Tree<Mode>(Mode{1, 0});  // one element
    out.offset = out.offset.value + slice->offset.offset().value;
  } else if (number != nullptr && number->scalar() && number->leaf[0].known()) {
    out = Layout(1, 0);
    out.offset = number->leaf[0];
  } else if (number != nullptr) {  // a shape stands for its compact layout
    const Result<Layout> compact = make_layout(*number);
    if (!compact) return std::nullopt;
    out = *compact;
  } else {
    return std::nullopt;
  }
  return out;
}

// What the coordinates of an operand in tensor memory are called.
std::string letters_of(const std::optional<Call>& call) {
  if (!call) return {};
  if (call->callee == "fragment_A") return "mk";
  return call->callee == "fragment_C" || call->callee.substr(0, 16) == "tmem_accumulator" ? "mn"
                                                                                          : "";
}

// A value that stands in tensor memory: on the axes TLane and TCol, or an operand's fragment there.
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

// All that the statements put into tensor memory, where the last one does: what is taken of a
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

// Which element of a whole a part has: the language takes the same part of a layout of keys, which
// keep the whole's coordinates apart and have room beyond each extent. An offset alone would take
// what lies beyond the whole for another element:
//
//     (10,6):(6,1)  ->  (10,6):(1,2^30)
class Keys {
 public:
  // What shares a stretch of a key: nothing, the leaves of a mode (a tile may run through several
  // of them where they are one behind another), or everything.
  enum class Together : std::uint8_t { nothing, modes, all };

  static std::optional<Keys> of(const Layout& whole, Together together) {
    Keys out;
    out.layout_ = Layout(whole.modes);
    for (int i = 0; i < whole.rank(); ++i) {
      const int leaves = whole.modes.mode(i).leaves;
      for (int k = 0; k < leaves; ++k) {
        const bool new_field =
            together == Together::nothing || (k == 0 && (together == Together::modes || i == 0));
        if (new_field) out.fields_.push_back({});
        out.fields_.back().leaves += 1;
      }
    }
    const int room = 60 / static_cast<int>(out.fields_.size());
    std::int64_t weight = 1;
    int leaf = 0;
    for (std::size_t f = 0; f < out.fields_.size(); ++f) {
      Field& field = out.fields_[f];
      field.shift = room * static_cast<int>(f);
      field.weight = weight;
      std::int64_t step = std::int64_t{1} << field.shift;
      for (const int end = leaf + field.leaves; leaf < end; ++leaf) {
        Mode& mode = out.layout_.modes.leaf[leaf];
        mode.stride = step;
        step *= mode.shape.value;
        field.extent *= mode.shape.value;
        if (field.extent > std::int64_t{1} << (room - 3)) return std::nullopt;
      }
      weight *= field.extent;
    }
    out.mask_ = (std::int64_t{1} << room) - 1;
    return out;
  }

  const Layout& layout() const { return layout_; }

  std::vector<std::int64_t> elements(const Layout& part) const {
    std::vector<std::int64_t> out;
    for (std::int64_t i = 0; i < *size(part); ++i) out.push_back(element(part(i)));
    return out;
  }

 private:
  struct Field {
    int leaves = 0, shift = 0;
    std::int64_t extent = 1, weight = 1;  // weight: of one step, in elements of the whole
  };

  std::int64_t element(std::int64_t key) const {  // -1: beyond the whole
    std::int64_t out = 0;
    for (const Field& field : fields_) {
      const std::int64_t here = key >> field.shift & mask_;
      if (here >= field.extent) return -1;
      out += here * field.weight;
    }
    return out;
  }

  Layout layout_;
  std::vector<Field> fields_;
  std::int64_t mask_ = 0;
};

// The whole, its part, the part of that..., as far as the expression says where each comes from.
class Chain {
 public:
  Chain(const Scope& scope, const Bindings& bindings) : scope_(scope), bindings_(bindings) {
    while (scope_.names().count(name_) > 0) name_ += "_";
  }

  // Empty: the expression is no part of anything that can be drawn.
  std::vector<LayoutView::Part> of(std::string_view expression) {
    std::vector<LayoutView::Part> out;
    steps_.clear();
    if (!follow(expression, out, 0) || out.size() < 2) return {};
    return told_by_elements(out) || !on_axes_ ? out : std::vector<LayoutView::Part>{};
  }

  // The same of a whole whose strides stand on axes: the parts of its elements, counted.
  std::vector<LayoutView::Part> of_coordinates(std::string_view expression) {
    on_axes_ = true;
    std::vector<LayoutView::Part> out = of(expression);
    return whole_ && !whole_->layout.concrete() ? out : std::vector<LayoutView::Part>{};
  }
  const Slice& whole() const { return *whole_; }                          // of_coordinates
  const std::vector<std::string>& formulas() const { return formulas_; }  // one a part

 private:
  bool told_by_elements(std::vector<LayoutView::Part>& out) {
    using Together = Keys::Together;
    for (const Together together : {Together::nothing, Together::modes, Together::all}) {
      const std::optional<Keys> keys = Keys::of(out[0].layout, together);
      if (keys && tell_elements(*keys, out)) return true;
    }
    return false;
  }

  // What stands around the name of what a part is taken of: "local_tile(" and ", <4,4>, (1,0))".
  struct Step {
    std::string before, after;
  };

  bool follow(std::string_view expression, std::vector<LayoutView::Part>& out, int depth) {
    constexpr int most = 8;
    const std::optional<Value> value = value_of(scope_, expression);
    std::optional<Layout> layout = value ? drawn(*value) : std::nullopt;
    if (!layout || !layout->concrete() || depth > most) return false;
    const auto bound = bindings_.find(expression);
    const std::string_view meant = bound == bindings_.end() ? expression : bound->second;
    const std::optional<Taking> taking = taking_of(meant);
    // make_layout(8,8) is no slice of something called make_layout.
    if (!taking || !value_of(scope_, taking->from)) {
      whole_ = slice_of(*value);
      formulas_ = {text(*value)};
      out.push_back({is_name(expression) ? std::string(expression) : "Whole", *layout});
      return !std::holds_alternative<Tuple>(*value) || layout->rank() > 1;
    }
    if (!follow(taking->from, out, depth + 1)) return false;
    const auto begin = static_cast<std::size_t>(taking->from.data() - meant.data());
    steps_.push_back({std::string(meant.substr(0, begin)),
                      std::string(meant.substr(begin + taking->from.size()))});
    formulas_.push_back(text(*value));
    if (on_axes_) layout = taken_of(out.back().layout, steps_.back());
    if (layout) out.push_back({std::string(title_of(*taking, meant)), *layout});
    return layout.has_value();
  }

  // What is drawn of a value: its layout, or one that counts its elements.
  std::optional<Layout> drawn(const Value& value) const {
    if (!on_axes_) return placed(value);
    const std::optional<Slice> slice = slice_of(value);
    if (!slice || !slice->offset.known() || slice->layout.modes.empty()) return std::nullopt;
    const Result<Layout> counted = make_layout(slice->layout.shape());
    return counted ? std::optional(*counted) : std::nullopt;
  }

  // A thread of tcgen05's tiled operations is a CTA.
  std::string_view title_of(const Taking& taking, std::string_view expression) {
    const std::optional<Call> call = call_of(expression);
    if (!call || call->callee.substr(0, 10) != "partition_") return taking.title;
    const std::optional<Value> by = value_of(scope_, call->arguments[0]);
    const auto* mma = by ? std::get_if<Shared<TiledMma>>(&*by) : nullptr;
    const bool ctas = mma != nullptr && (*mma)->atom.c.memory == Memory::tmem;
    return ctas ? "Of one CTA" : taking.title;
  }

  // A step from keys: the answer counts where those do.
  std::optional<Layout> taken_of(Layout from, const Step& step) {
    const std::int64_t begin = from.offset.value;
    from.offset = 0;
    const std::optional<Value> value = value_of(
        scope_, fmt::format("{} = {}; {}{}{}", name_, text(from), step.before, name_, step.after));
    std::optional<Layout> out = value ? placed(*value) : std::nullopt;
    if (!out || !out->concrete()) return std::nullopt;
    out->offset = out->offset.value + begin;
    return out;
  }

  // Answers whether the steps can be taken of the keys.
  bool tell_elements(const Keys& keys, std::vector<LayoutView::Part>& parts) {
    constexpr std::int64_t most = std::int64_t{1} << 22;
    std::vector<std::vector<std::int64_t>> elements;
    Layout at = keys.layout();
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      const std::optional<Layout> next = taken_of(at, steps_[s]);
      const bool same = next && *size(*next) == *size(parts[s + 1].layout);
      if (!same || *size(*next) > most) return false;
      at = *next;
      elements.push_back(keys.elements(at));
    }
    for (std::size_t s = 0; s < steps_.size(); ++s) parts[s + 1].elements = elements[s];
    return true;
  }

  Scope scope_;  // its own: it binds a name
  const Bindings& bindings_;
  std::string name_ = "whole_";
  std::vector<Step> steps_;
  bool on_axes_ = false;
  std::optional<Slice> whole_;
  std::vector<std::string> formulas_;
};

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
  if (view) view->element_bits_ = element_bits(value);
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
  if (const std::vector<Part> chain = Chain(scope, bindings).of(last); !chain.empty()) {
    if (Outcome<LayoutView> view = parts(chain, std::string(last)); view) return view;
  }
  Chain coordinates(scope, bindings);
  if (const std::vector<Part> chain = coordinates.of_coordinates(last); !chain.empty()) {
    Outcome<LayoutView> view = parts(chain, std::string(last));
    Outcome<Places> places =
        places_on_axes(coordinates.whole().layout, coordinates.whole().offset, {});
    if (view && places) {
      for (std::size_t p = 0; p < chain.size(); ++p) {
        view->panels_[p].formula = coordinates.formulas()[p];
      }
      view->show_places(std::move(*places));
      return view;
    }
  }
  return of_value(value, std::string(last));
}

}  // namespace tilescope
