#include "core/language/language.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/language/parser.h"
#include "core/layout/text.h"
#include "core/tensor/text.h"

namespace tilescope {
namespace {

struct Printer {
  std::string operator()(const Numbers& numbers) const {
    return fmt::format("{}", fmt::join(numbers, ","));
  }
  std::string operator()(const Tuples& tuples) const {
    std::string out;
    for (const Tuple& t : tuples) out += (out.empty() ? "" : " ") + text(t);
    return tuples.empty() ? "none" : out;
  }
  std::string operator()(const Places& places) const {
    std::string out;
    for (const Place& p : places) out += (out.empty() ? "" : " ") + text(p);
    return places.empty() ? "none" : out;
  }
  std::string operator()(const Verdict& verdict) const { return verdict.value ? "true" : "false"; }
  std::string operator()(const Facts& facts) const {
    std::string out;
    for (const Fact& fact : facts) {
      out += out.empty() ? "" : ", ";
      out += std::string(fact.name) + " ";
      const std::int64_t* number = std::get_if<std::int64_t>(&fact.value);
      out += number ? fmt::to_string(*number) : *std::get_if<std::string>(&fact.value);
    }
    return out;
  }
  template <class T>
  std::string operator()(const Shared<T>& shared) const {
    return text(*shared);
  }
  template <class T>
  std::string operator()(const T& other) const {
    return text(other);
  }
};

}  // namespace

std::string text(const Value& value) {
  return std::visit(Printer{}, value);
}

std::string_view kind_of(const Value& value) {
  if (const Tuple* tuple = std::get_if<Tuple>(&value)) {
    return tuple->scalar() ? "a number" : "a tuple";
  }
  constexpr std::string_view names[] = {"a tuple",
                                        "a layout",
                                        "a tiler",
                                        "a swizzle",
                                        "a slice with its offset",
                                        "a tiler with its thread/value layout",
                                        "a list of offsets",
                                        "a list of coordinates",
                                        "a yes or no",
                                        "a list of findings",
                                        "a place",
                                        "an MMA atom",
                                        "a copy atom",
                                        "a tiled MMA",
                                        "a tiled copy",
                                        "a tensor",
                                        "a list of places",
                                        "a TIRx layout"};
  return names[value.index()];
}

std::string caret(std::string_view expression, const Problem& problem) {
  const std::size_t begin = std::min(problem.begin, expression.size());
  std::size_t line_begin = 0;
  for (std::size_t i = 0; i < begin; ++i) {
    if (expression[i] == '\n') line_begin = i + 1;
  }
  std::size_t line_end = std::min(expression.find('\n', begin), expression.size());
  constexpr std::size_t widest = 100, before = 40;
  if (line_end - line_begin > widest && begin - line_begin > before) line_begin = begin - before;
  line_end = std::min(line_end, line_begin + widest);
  const std::size_t end = std::clamp(problem.end, begin + 1, std::max(line_end, begin + 1));
  return fmt::format("{}\n{}^{}", expression.substr(line_begin, line_end - line_begin),
                     std::string(begin - line_begin, ' '), std::string(end - begin - 1, '~'));
}

std::optional<Evaluated> Scope::evaluate(std::string_view expression) {
  return evaluated(expression, nullptr);
}

std::optional<Evaluated> Scope::explain(std::string_view expression, Derivation& steps) {
  return evaluated(expression, &steps);
}

std::optional<Evaluated> Scope::evaluated(std::string_view expression, Derivation* steps) {
  language::Names names = names_;
  std::optional<Evaluated> result = language::run(expression, names, steps);
  if (result && std::holds_alternative<Value>(*result)) names_ = std::move(names);
  return result;
}

Evaluated evaluate(std::string_view expression) {
  std::optional<Evaluated> result = Scope().evaluate(expression);
  if (result) return *result;
  return Problem{false, "An empty expression; try (9,(4,8)):(59,(13,1)).", 0, 1};
}

}  // namespace tilescope
