// Expressions of the language taken apart, to find what a value was made from. Inside viz/scene
// only.
#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "core/language/language.h"

namespace tilescope {

// The parts between `separator`s that are outside all brackets.
std::vector<std::string_view> split_outside(std::string_view s, char separator);

// An expression that ends with a bracketed list: what is before it, and the list.
struct Call {
  std::string_view callee;
  std::vector<std::string_view> arguments;
};
std::optional<Call> call_of(std::string_view expression);

bool one_of(std::string_view word, std::initializer_list<std::string_view> words);
bool is_name(std::string_view text);
bool divides(std::string_view callee);     // logical_divide and the like
bool multiplies(std::string_view callee);  // logical_product and the like

// The statements by the name that each binds.
using Bindings = std::map<std::string_view, std::string_view>;
Bindings bindings_of(std::string_view expression);

std::optional<Value> value_of(Scope& scope, std::string_view expression);
// A layout with where it begins, of a tensor too, or the compact one of a shape; nothing else.
std::optional<Slice> slice_of(const Value& value);
// A value as a layout with its place in memory; nothing where it is none.
std::optional<Layout> placed(const Value& value);

}  // namespace tilescope
