#include "core/language/language.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/language/functions.h"
#include "core/layout/text.h"

namespace tilescope {
namespace {

using language::Argument;
using language::Arguments;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_word(char c) {
  return is_letter(c) || is_digit(c) || c == '_';
}

struct Token {
  enum class Kind { end, number, word, mark } kind = Kind::end;
  std::string_view text;
  std::size_t begin = 0;
  std::size_t end() const { return begin + text.size(); }
  bool is(char mark) const { return kind == Kind::mark && text[0] == mark; }
};

// A recursive-descent evaluator: each rule answers a value; the first problem stops everything.
//
//     program   := statement (';' statement)*
//     statement := [name '='] composed
//     composed  := layout ('o' layout)*                 right to left
//     layout    := term [':' term]
//     term      := number | '?' | '_' | '(' list ')' | '<' list '>' | name | call | Sw<B,M,S>
class Evaluator {
 public:
  using Names = std::map<std::string, Value, std::less<>>;

  // `steps`, where there is one, is told how each operation came to its answer.
  Evaluator(std::string_view text, Names names, Derivation* steps = nullptr)
      : text_(text), names_(std::move(names)), steps_(steps) {
    next();
  }

  // Nothing where the text is blank.
  std::optional<Evaluated> program() {
    std::optional<Value> last;
    while (!problem_) {
      while (token_.is(';')) next();
      if (token_.kind == Token::Kind::end || problem_) break;
      last = statement();
      if (!problem_ && token_.kind != Token::Kind::end && !token_.is(';')) {
        fail_here("Expected an operator or the end");
      }
    }
    if (problem_) return *problem_;
    if (!last) return std::nullopt;
    return *last;
  }

  const Names& names() const { return names_; }

 private:
  static constexpr int deepest = 64;  // of brackets and calls; a layout itself has 8 levels

  // --- tokens ---
  void next() {
    previous_end_ = token_.end();
    skip_blanks_and_comments();
    token_ = {Token::Kind::end, text_.substr(at_, 0), at_};
    if (at_ == text_.size()) return;
    std::size_t end = at_ + 1;
    Token::Kind kind = Token::Kind::mark;
    const bool static_integer = text_[at_] == '_' && end < text_.size() && is_digit(text_[end]);
    if (is_digit(text_[at_]) || static_integer) {
      kind = Token::Kind::number;
      while (end < text_.size() && is_digit(text_[end])) ++end;
    } else if (is_word(text_[at_])) {
      kind = Token::Kind::word;
      while (end < text_.size() && is_word(text_[end])) ++end;
    }
    token_ = {kind, text_.substr(at_, end - at_), at_};
    at_ = end;
  }

  void skip_blanks_and_comments() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#' || text_.substr(at_, 2) == "//") {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        ++at_;
      } else {
        return;
      }
    }
  }

  // --- problems ---
  Value fail(std::string sentence, std::size_t begin, std::size_t end, bool refused = false) {
    if (!problem_)
      problem_ = Problem{refused, std::move(sentence), begin, std::max(end, begin + 1)};
    return {};
  }

  Value fail_here(std::string_view expected) {
    const std::string found = token_.kind == Token::Kind::end
                                  ? std::string("the end of the expression")
                                  : fmt::format("`{}`", token_.text);
    return fail(fmt::format("{}, found {}.", expected, found), token_.begin, token_.end());
  }

  bool expect(char mark, std::string_view context) {
    if (problem_) return false;
    if (!token_.is(mark)) {
      fail_here(fmt::format("Expected `{}` {}", mark, context));
      return false;
    }
    next();
    return true;
  }

  Value take(language::Answer answer, std::size_t begin, std::size_t end) {
    if (Value* value = std::get_if<Value>(&answer)) return std::move(*value);
    return fail(sentence(std::get<Refusal>(answer)), begin, end, true);
  }

  // --- rules ---
  Value statement() {
    if (token_.kind == Token::Kind::word && followed_by_equals()) {
      const Token name = token_;
      next();
      next();
      if (language::find_function(name.text) || name.text == "o" || name.text == "Sw") {
        return fail(fmt::format("`{}` is a name of the language; bind another one.", name.text),
                    name.begin, name.end());
      }
      Value value = composed();
      if (!problem_) names_.insert_or_assign(std::string(name.text), value);
      return value;
    }
    return composed();
  }

  bool followed_by_equals() const {
    std::size_t k = at_;
    while (k < text_.size() && (text_[k] == ' ' || text_[k] == '\t')) ++k;
    return k < text_.size() && text_[k] == '=';
  }

  Value composed() {
    std::vector<Argument> chain;
    do {
      if (!chain.empty()) next();
      Argument part;
      part.begin = token_.begin;
      part.value = layout();
      part.end = previous_end_;
      if (problem_) return {};
      chain.push_back(std::move(part));
    } while (token_.kind == Token::Kind::word && token_.text == "o");
    Value value = std::move(chain.back().value);
    for (std::size_t i = chain.size() - 1; i-- > 0 && !problem_;) {
      const language::Answer answer = language::compose(chain[i].value, value);
      if (steps_) language::explain_compose(chain[i].value, value, answer, *steps_);
      value = take(answer, chain[i].begin, chain.back().end);
    }
    return value;
  }

  Value layout() {
    const std::size_t begin = token_.begin;
    Value left = term();
    if (problem_ || !token_.is(':')) return left;
    next();
    const std::size_t stride_begin = token_.begin;
    Value right = term();
    if (problem_) return {};
    const Tuple* shape = std::get_if<Tuple>(&left);
    const Tuple* stride = std::get_if<Tuple>(&right);
    if (!shape || !stride) {
      return fail(fmt::format("A layout is shape:stride, two tuples of numbers; this side is {}.",
                              kind_of(shape ? right : left)),
                  shape ? stride_begin : begin, shape ? previous_end_ : stride_begin - 1);
    }
    const Result<Layout> made = make_layout(*shape, *stride);
    if (!made) return fail(sentence(made.refusal), begin, previous_end_, true);
    return *made;
  }

  Value term() {
    if (++depth_ > deepest) {
      return fail(fmt::format("Nested deeper than {} brackets.", deepest), token_.begin,
                  token_.end());
    }
    Value value = unnested_term();
    --depth_;
    return value;
  }

  Value unnested_term() {
    if (problem_) return {};
    const Token first = token_;
    if (first.kind == Token::Kind::number || first.is('?') || first.is('-')) return number();
    if (first.is('(')) return applied(parenthesised(), first.begin);
    if (first.is('<')) return tiler();
    if (first.kind != Token::Kind::word) return fail_here("Expected a layout, a tuple or a number");
    next();
    if (first.text == "_") return Tuple(Int::all());
    if (first.text == "Sw" || first.text == "Swizzle") return swizzle(first);
    if (const auto found = names_.find(first.text); found != names_.end()) {
      return applied(found->second, first.begin);
    }
    if (const language::Function* function = language::find_function(first.text)) {
      return applied(call(*function, first), first.begin);
    }
    return unknown(first);
  }

  Value unknown(const Token& word) {
    std::vector<std::string_view> known;
    for (const FunctionHelp& f : functions()) known.push_back(f.name);
    for (const auto& [name, value] : names_) known.push_back(name);
    const std::string_view near = nearest(word.text, known);
    return fail(near.empty()
                    ? fmt::format("`{}` is neither a function nor a name bound before.", word.text)
                    : fmt::format("`{}` is unknown; did you mean `{}`?", word.text, near),
                word.begin, word.end());
  }

  // 16   -3   _8   ?   ?{div=16}   and any of them on an axis: 2@1@0   1@TLane
  Value number() {
    const std::size_t begin = token_.begin;
    Int out;
    if (token_.is('?')) {
      next();
      out = Int::unknown();
      if (token_.is('{')) out = divisibility();
    } else {
      const bool negative = token_.is('-');
      if (negative) next();
      out.value = digits();
      if (negative) out.value = -out.value;
    }
    while (!problem_ && token_.is('@')) {
      next();
      const std::optional<std::uint8_t> step = axis_named(token_.text);
      if (!step) return fail_here("Expected an axis: a number below 127 or a name such as TLane");
      if (out.axis.steps() == 4) {
        return fail("An axis has at most four steps.", begin, token_.end());
      }
      out.axis = out.axis.then(*step);
      next();
    }
    return Tuple(out);
  }

  std::int64_t digits() {
    if (token_.kind != Token::Kind::number) {
      fail_here("Expected a number");
      return 0;
    }
    std::int64_t value = 0;
    bool fits = true;
    for (char c : token_.text) {
      if (c != '_') value = checked_add(checked_mul(value, 10, fits), c - '0', fits);
    }
    if (!fits) fail("This number does not fit in 64 bits.", token_.begin, token_.end());
    next();
    return value;
  }

  Int divisibility() {
    next();
    if (token_.text != "div") fail_here("Expected `div=` in `?{div=16}`");
    next();
    expect('=', "in `?{div=16}`");
    const Token place = token_;
    const std::int64_t divisor = problem_ ? 1 : digits();
    if (divisor < 1) fail("A divisor is 1 or more.", place.begin, place.end());
    expect('}', "after `?{div=`");
    return Int::unknown(divisor);
  }

  // (a,b,...) is a tuple of numbers; (L) with anything else inside is L itself.
  Value parenthesised() {
    next();
    Tuple tuple;
    if (token_.is(')')) {
      next();
      return tuple;
    }
    for (bool first = true;; first = false) {
      const std::size_t begin = token_.begin;
      Value element = composed();
      if (problem_) return {};
      const Tuple* numbers = std::get_if<Tuple>(&element);
      if (!numbers && first && token_.is(')')) {
        next();
        return element;
      }
      if (!numbers || numbers->empty()) {
        return fail(fmt::format("A tuple holds numbers and tuples; this is {}.{}", kind_of(element),
                                std::holds_alternative<Layout>(element)
                                    ? " make_layout(A, B) joins layouts; <A,B> is a tiler."
                                    : ""),
                    begin, previous_end_);
      }
      tuple.push(*numbers);
      if (const Refusal r = tuple.capacity()) {
        return fail(sentence(r), begin, previous_end_, true);
      }
      if (token_.is(',')) {
        next();
        if (!token_.is(')')) continue;
      }
      if (!expect(')', "or `,` in a tuple")) return {};
      return tuple;
    }
  }

  Value tiler() {
    next();
    Tiler out;
    for (;;) {
      const std::size_t begin = token_.begin;
      Value element = layout();
      if (problem_) return {};
      std::optional<Tiler> part = as_tiler(element);
      if (!part) {
        return fail(fmt::format("A tiler holds layouts, numbers, shapes and `_`; this is {}.",
                                kind_of(element)),
                    begin, previous_end_);
      }
      out.push(*part);
      if (const Refusal r = out.modes.capacity()) {
        return fail(sentence(r), begin, previous_end_, true);
      }
      if (token_.is(',')) {
        next();
        continue;
      }
      if (!expect('>', "or `,` in a tiler")) return {};
      return out;
    }
  }

  static std::optional<Tiler> as_tiler(const Value& value) {
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

  Value swizzle(const Token& word) {
    std::int64_t field[3] = {};
    if (!expect('<', "after `Sw`, as in Sw<3,4,3>")) return {};
    for (int i = 0; i < 3; ++i) {
      if (i > 0 && !expect(',', "between the numbers of a swizzle")) return {};
      const bool negative = token_.is('-');
      if (negative) next();
      field[i] = digits();
      if (negative) field[i] = -field[i];
    }
    if (!expect('>', "after the three numbers of a swizzle")) return {};
    const Result<Swizzle> made = make_swizzle(field[0], field[1], field[2]);
    if (!made) return fail(sentence(made.refusal), word.begin, previous_end_, true);
    return *made;
  }

  Arguments arguments() {
    Arguments out;
    next();
    while (!problem_ && !token_.is(')')) {
      Argument a;
      a.begin = token_.begin;
      a.value = composed();
      a.end = previous_end_;
      out.push_back(std::move(a));
      if (problem_ || !token_.is(',')) break;
      next();
    }
    expect(')', "or `,` after an argument");
    return out;
  }

  Value call(const language::Function& function, const Token& name) {
    if (!token_.is('(')) {
      return fail(fmt::format("{} is a function: {}{} gives {}.", name.text, name.text,
                              function.help.parameters, function.help.help),
                  name.begin, name.end());
    }
    Arguments given = arguments();
    if (problem_) return {};
    Evaluated result =
        language::call(function, std::move(given), name.begin, previous_end_, steps_);
    if (Value* value = std::get_if<Value>(&result)) return std::move(*value);
    problem_ = std::get<Problem>(std::move(result));
    return {};
  }

  // A(3,5) is the offset of a coordinate, A(3,_) a slice.
  Value applied(Value value, std::size_t begin) {
    while (!problem_ && token_.is('(') && std::holds_alternative<Layout>(value)) {
      const Layout layout = std::get<Layout>(value);
      Value inside = parenthesised();
      if (problem_) return {};
      const Tuple* coordinate = std::get_if<Tuple>(&inside);
      if (!coordinate) {
        return fail(
            fmt::format("A coordinate is a tuple of numbers and `_`; this is {}.", kind_of(inside)),
            begin, previous_end_);
      }
      const Tuple whole = coordinate->unwrapped();
      bool slices = false;
      for (int i = 0; i < whole.leaves; ++i) {
        slices = slices || whole.leaf[i].kind == Int::Kind::all;
      }
      if (slices) {
        const Result<Slice> part = slice(whole, layout);
        if (!part) return fail(sentence(part.refusal), begin, previous_end_, true);
        value = *part;
      } else {
        const Result<std::int64_t> offset = crd2idx(whole, layout);
        if (!offset) return fail(sentence(offset.refusal), begin, previous_end_, true);
        value = Tuple(*offset);
      }
    }
    return value;
  }

  std::string_view text_;
  Names names_;
  std::size_t at_ = 0, previous_end_ = 0;
  int depth_ = 0;
  Token token_;
  std::optional<Problem> problem_;
  Derivation* steps_;
};

struct Printer {
  std::string operator()(const Numbers& numbers) const {
    return fmt::format("{}", fmt::join(numbers, ","));
  }
  std::string operator()(const Tuples& tuples) const {
    std::string out;
    for (const Tuple& t : tuples) out += (out.empty() ? "" : " ") + text(t);
    return tuples.empty() ? "none" : out;
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
                                        "a list of findings"};
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
  Evaluator evaluator(expression, names_, steps);
  std::optional<Evaluated> result = evaluator.program();
  if (result && std::holds_alternative<Value>(*result)) names_ = evaluator.names();
  return result;
}

Evaluated evaluate(std::string_view expression) {
  std::optional<Evaluated> result = Scope().evaluate(expression);
  if (result) return *result;
  return Problem{false, "An empty expression; try (9,(4,8)):(59,(13,1)).", 0, 1};
}

}  // namespace tilescope
