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

// Letters of UTF-8, which take a column each: bytes that do not continue one.
static bool begins_letter(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
}
static std::size_t columns(std::string_view line) {
  return static_cast<std::size_t>(std::count_if(line.begin(), line.end(), begins_letter));
}
// `count` letters on from a byte (or back, if negative), but not beyond `limit`.
static std::size_t letters_from(std::string_view text, std::size_t at, int count,
                                std::size_t limit) {
  for (; count < 0 && at > limit; count += begins_letter(text[at])) --at;
  while (at > limit && at < text.size() && !begins_letter(text[at])) --at;
  for (; count > 0 && at < limit; --count) {
    ++at;
    while (at < limit && !begins_letter(text[at])) ++at;
  }
  return at;
}

std::string caret(std::string_view expression, const Problem& problem) {
  std::size_t begin = std::min(problem.begin, expression.size());
  while (begin > 0 && begin < expression.size() && !begins_letter(expression[begin])) --begin;
  const std::size_t newline =
      begin == 0 ? std::string_view::npos : expression.rfind('\n', begin - 1);
  std::size_t line_begin = newline == std::string_view::npos ? 0 : newline + 1;
  std::size_t line_end = std::min(expression.find('\n', begin), expression.size());
  constexpr int widest = 100, before = 40;
  const std::string_view line = expression.substr(line_begin, line_end - line_begin);
  if (columns(line) > widest && columns(line.substr(0, begin - line_begin)) > before) {
    line_begin = letters_from(expression, begin, -before, line_begin);
  }
  line_end = letters_from(expression, line_begin, widest, line_end);
  const std::size_t end = std::clamp(problem.end, begin, std::max(line_end, begin));
  const std::size_t width =
      std::max<std::size_t>(columns(expression.substr(begin, end - begin)), 1);
  return fmt::format("{}\n{}^{}", expression.substr(line_begin, line_end - line_begin),
                     std::string(columns(expression.substr(line_begin, begin - line_begin)), ' '),
                     std::string(width - 1, '~'));
}

std::optional<int> element_bits(const Value& value) {
  if (const Tensor* tensor = std::get_if<Tensor>(&value)) return bits_of(tensor->type);
  if (const auto* atom = std::get_if<Shared<CopyAtom>>(&value)) return bits_of((*atom)->value);
  if (const auto* copy = std::get_if<Shared<TiledCopy>>(&value)) {
    return bits_of((*copy)->atom.value);
  }
  const auto* tile = std::get_if<Shared<TileLayout>>(&value);
  if (!tile || (*tile)->element_bits == 0) return std::nullopt;
  return static_cast<int>((*tile)->element_bits);
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
