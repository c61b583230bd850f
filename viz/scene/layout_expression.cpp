// From an expression of the language to the view that shows it best.
#include <fmt/format.h>

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

// The arguments of `NAME(...)` where that is the whole of the expression and NAME is a division.
std::optional<std::vector<std::string_view>> division_arguments(std::string_view expression) {
  const std::size_t open = expression.find('(');
  if (open == std::string_view::npos || expression.back() != ')') return std::nullopt;
  const std::string_view name = trimmed_blanks(expression.substr(0, open));
  bool known = false;
  for (const std::string_view divide :
       {"logical_divide", "zipped_divide", "tiled_divide", "flat_divide"}) {
    known = known || name == divide;
  }
  if (!known) return std::nullopt;
  const std::string_view inner = expression.substr(open + 1, expression.size() - open - 2);
  int level = 0;  // the parenthesis that closes the call is the last character
  for (const char c : inner) {
    level += (c == '(') - (c == ')');
    if (level < 0) return std::nullopt;
  }
  return split_outside(inner, ',');
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

}  // namespace

Outcome<LayoutView> LayoutView::of_value(const Value& value, std::string formula) {
  const auto titled = [&](Outcome<LayoutView> view) {
    if (view && !formula.empty()) view->retitle(formula);
    return view;
  };
  if (const Layout* layout = std::get_if<Layout>(&value)) return titled(plain(*layout));
  if (const ThreadValue* tv = std::get_if<ThreadValue>(&value)) {
    return titled(thread_value(tv->layout, tv->tiler));
  }
  if (const Slice* slice = std::get_if<Slice>(&value)) {
    Layout moved = slice->layout;
    moved.offset = moved.offset.value + slice->offset.offset().value;
    if (slice->offset.plain() && slice->offset.known()) return titled(plain(moved));
  }
  return Error{ErrorKind::refused,
               fmt::format("{} is {}; a picture needs a layout, such as (4,8):(1,4), a division of "
                           "one, or make_layout_tv(...).",
                           text(value), kind_of(value)),
               {}};
}

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
  const std::string_view last = split_outside(expression, ';').back();
  if (const auto arguments = division_arguments(last); arguments && arguments->size() == 2) {
    // Bindings of the statements before are in the scope already.
    const std::optional<Value> input = value_of(scope, (*arguments)[0]);
    const std::optional<Value> cut = value_of(scope, (*arguments)[1]);
    const Layout* layout = input ? std::get_if<Layout>(&*input) : nullptr;
    const std::optional<Tiler> tiler = cut ? tiler_of(*cut) : std::nullopt;
    if (layout != nullptr && layout->plain() && tiler) {
      if (Outcome<LayoutView> view = divided(*layout, *tiler); view) {
        view->retitle(std::string(last));
        return view;
      }
    }
  }
  return of_value(std::get<Value>(*evaluated), std::string(last));
}

}  // namespace tilescope
