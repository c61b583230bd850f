#include "viz/layout/layout_statements.h"

#include <algorithm>
#include <cctype>

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

}  // namespace

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

std::optional<Value> value_of(Scope& scope, std::string_view expression) {
  const std::optional<Evaluated> evaluated = scope.evaluate(expression);
  if (!evaluated) return std::nullopt;
  const Value* value = std::get_if<Value>(&*evaluated);
  return value != nullptr ? std::optional<Value>(*value) : std::nullopt;
}

std::optional<Slice> slice_of(const Value& value) {
  if (const Layout* layout = std::get_if<Layout>(&value)) return Slice{*layout, {}};
  if (const Slice* slice = std::get_if<Slice>(&value)) return *slice;
  const Tensor* tensor = std::get_if<Tensor>(&value);
  if (tensor != nullptr && !tensor->alone()) return Slice{tensor->layout, tensor->offset};
  const Tuple* shape = std::get_if<Tuple>(&value);
  const Result<Layout> compact = shape != nullptr ? make_layout(*shape) : Result<Layout>(Layout());
  return compact && !compact->modes.empty() ? std::optional(Slice{*compact, {}}) : std::nullopt;
}

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

}  // namespace tilescope
