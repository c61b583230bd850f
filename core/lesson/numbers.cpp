#include "core/lesson/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "core/layout/int.h"

namespace tilescope {
namespace {

constexpr int kDeepest = 16;  // parentheses

Error wrong(std::string sentence) {
  return {ErrorKind::unreadable, std::move(sentence), ""};
}

// A part of an expression: a number, a name, or an operation on two parts before it.
struct Term {
  char operation = 0;  // 0: none, `+ - * / % ^` else
  std::string name;    // empty: a number
  std::int64_t value = 0;
  std::size_t left = 0, right = 0;
};

// What an operation gives; nothing where it does not fit, or divides what is not divided.
std::optional<std::int64_t> applied(char operation, std::int64_t a, std::int64_t b) {
  bool fits = true;
  std::int64_t out = 0;
  if (operation == '+') out = checked_add(a, b, fits);
  if (operation == '-') out = checked_add(a, checked_mul(b, -1, fits), fits);
  if (operation == '*') out = checked_mul(a, b, fits);
  if (operation == '/' || operation == '%') {
    if (b <= 0 || a < 0) return {};
    out = operation == '/' ? a / b : a % b;
  }
  if (operation == '^') out = a ^ b;
  if (!fits) return {};
  return out;
}

// Reads an expression from left to right: sums of products of numbers, names and parentheses. Each
// function answers the place of its term; the last term is the whole.
class Reader {
 public:
  Reader(std::string_view text, const Drawn& names) : text_(text), names_(names) {}

  Outcome<std::vector<Term>> all() {
    exclusive();
    blanks();
    if (!problem_ && at_ < text_.size()) {
      fail(fmt::format("`{}` of `{}` is not understood", text_.substr(at_), text_));
    }
    if (problem_) return wrong(*problem_ + "; there are names, numbers, + - * / % ^ and ( ).");
    return std::move(terms_);
  }

 private:
  void blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool takes(char c) {
    blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void fail(std::string sentence) {
    if (!problem_) problem_ = std::move(sentence);
  }
  std::size_t put(Term term) {
    terms_.push_back(std::move(term));
    return terms_.size() - 1;
  }

  std::size_t operation(char sign, std::size_t left, std::size_t right) {
    const std::int64_t a = terms_[left].value, b = terms_[right].value;
    const std::optional<std::int64_t> value = problem_ ? 0 : applied(sign, a, b);
    if (!value && (sign == '/' || sign == '%')) {
      fail(fmt::format("`{}` divides {} by {}, and only numbers from 0 on are divided", text_, a,
                       b));
    } else if (!value) {
      fail(fmt::format("`{}` does not fit in 64 bits", text_));
    }
    return put({sign, "", value.value_or(0), left, right});
  }

  // Operations of one rank, from left to right.
  std::size_t chain(std::string_view signs, std::size_t (Reader::*part)()) {
    std::size_t value = (this->*part)();
    for (bool more = true; more && !problem_;) {
      more = false;
      for (const char sign : signs) {
        if (!takes(sign)) continue;
        value = operation(sign, value, (this->*part)());
        more = true;
        break;
      }
    }
    return value;
  }
  std::size_t exclusive() { return chain("^", &Reader::sum); }
  std::size_t sum() { return chain("+-", &Reader::product); }
  std::size_t product() { return chain("*/%", &Reader::factor); }

  std::size_t factor() {
    if (problem_) return put({});
    if (takes('(')) {
      if (++depth_ > kDeepest) fail(fmt::format("`{}` has too many parentheses", text_));
      const std::size_t value = exclusive();
      if (!takes(')')) fail(fmt::format("a `)` is missing in `{}`", text_));
      --depth_;
      return value;
    }
    blanks();
    if (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) return number();
    return name();
  }

  std::size_t number() {
    std::int64_t value = 0;
    bool fits = true;
    for (; at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])); ++at_) {
      value = checked_add(checked_mul(value, 10, fits), text_[at_] - '0', fits);
    }
    if (!fits) fail(fmt::format("`{}` does not fit in 64 bits", text_));
    return put({0, "", value, 0, 0});
  }

  std::size_t name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && std::isalnum(static_cast<unsigned char>(text_[at_]))) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    for (const auto& [known, value] : names_) {
      if (known == word) return put({0, std::string(word), value, 0, 0});
    }
    fail(word.empty() ? fmt::format("`{}` ends where a number or a name is due", text_)
                      : fmt::format("there is no number `{}` for `{}`", word, text_));
    return put({});
  }

  std::string_view text_;
  const Drawn& names_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::vector<Term> terms_;
  std::optional<std::string> problem_;
};

Outcome<std::int64_t> value_of(std::string_view expression, const Drawn& names) {
  const auto terms = Reader(expression, names).all();
  if (!terms) return terms.error();
  return terms->back().value;
}

// The whole anew, where terms[at] has another value.
std::optional<std::int64_t> value_with(const std::vector<Term>& terms, std::size_t at,
                                       std::int64_t value) {
  std::vector<std::int64_t> values;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const Term& term = terms[i];
    std::optional<std::int64_t> out = term.value;
    if (i == at) {
      out = value;
    } else if (term.operation != 0) {
      out = applied(term.operation, values[term.left], values[term.right]);
    }
    if (!out) return {};
    values.push_back(*out);
  }
  return values.back();
}

// What one may make of an operation instead of what it is.
struct Other {
  std::optional<std::int64_t> value;
  std::string sentence;
};

std::vector<Other> others_of(const Term& term, std::int64_t a, std::int64_t b) {
  switch (term.operation) {
    case '+':
      return {{a, fmt::format("where {} is not added", b)},
              {b, fmt::format("where {} is not added", a)},
              {applied('*', a, b), fmt::format("where {} and {} are multiplied, not added", a, b)}};
    case '-':
      return {{a, fmt::format("where {} is not taken away", b)},
              {applied('+', a, b), fmt::format("where {} is added, not taken away", b)}};
    case '*':
      return {{a, fmt::format("without the factor {}", b)},
              {b, fmt::format("without the factor {}", a)},
              {applied('+', a, b), fmt::format("where {} and {} are added, not multiplied", a, b)}};
    case '/':
      return {{a, fmt::format("where {} is not divided by {}", a, b)},
              {a % b != 0 ? std::optional(a / b + 1) : std::nullopt,
               fmt::format("where {} / {} is rounded up", a, b)},
              {a % b, fmt::format("where the rest of {} / {} is taken, not the quotient", a, b)},
              {applied('*', a, b), fmt::format("where {} is multiplied by {}, not divided", a, b)}};
    case '%':
      return {{a, fmt::format("before the rest of {} / {} is taken", a, b)},
              {a / b, fmt::format("where {} is divided by {}, and not the rest is taken", a, b)}};
    case '^':
      return {
          {applied('+', a, b), fmt::format("where {} and {} are added: XOR carries nothing", a, b)},
          {a | b, fmt::format("where {} OR {} is taken: of two ones XOR makes 0", a, b)},
          {a & b, fmt::format("where {} AND {} is taken: of two ones XOR makes 0", a, b)},
          {a, fmt::format("where {} is left as it is", a)},
          {b, fmt::format("where {} is left as it is", b)}};
    default:
      return {};
  }
}

// splitmix64 (Steele, Lea and Flood, 2014): each call the next of a sequence.
std::uint64_t next(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

std::vector<std::string_view> split(std::string_view text, char by) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(by, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// "3..6", "4|8|16", or an expression.
Outcome<std::int64_t> drawn(std::string_view rule, const Drawn& before, std::uint64_t& state) {
  const std::size_t dots = rule.find("..");
  if (dots != std::string_view::npos) {
    const auto low = value_of(rule.substr(0, dots), before);
    const auto high = value_of(rule.substr(dots + 2), before);
    if (!low) return low.error();
    if (!high) return high.error();
    if (*low < 0 || *high < *low) {
      return wrong(
          fmt::format("The range {} to {} of `{}` has no numbers from 0 on.", *low, *high, rule));
    }
    const auto many = static_cast<std::uint64_t>(*high) - static_cast<std::uint64_t>(*low) + 1;
    return *low + static_cast<std::int64_t>(next(state) % many);
  }
  const std::vector<std::string_view> choices = split(rule, '|');
  return value_of(choices[next(state) % choices.size()], before);
}

bool is_name(std::string_view word) {
  if (word.empty() || !std::isalpha(static_cast<unsigned char>(word[0]))) return false;
  for (const char c : word) {
    if (!std::isalnum(static_cast<unsigned char>(c))) return false;
  }
  return true;
}

// Whether the `{` there begins what is known of a layout's `?`: {div=16}, {i64}, {i64 div=16}.
bool opens_unknown(std::string_view text, std::size_t open) {
  const std::string_view inside = text.substr(open + 1);
  if (inside.substr(0, 4) == "div=") return true;
  return open > 0 && text[open - 1] == '?' &&
         (inside.substr(0, 3) == "i64" || inside.substr(0, 3) == "i32");
}

}  // namespace

Outcome<Drawn> draw_numbers(std::string_view rules, std::uint64_t seed) {
  Drawn numbers;
  std::uint64_t state = seed;
  if (without_blanks(rules).empty()) return numbers;
  for (const std::string_view rule : split(rules, ';')) {
    const std::size_t equals = rule.find('=');
    const std::string_view name = without_blanks(rule.substr(0, equals));
    if (equals == std::string_view::npos || !is_name(name)) {
      return wrong(
          fmt::format("`{}` draws no number; a rule is NAME = LOW..HIGH, NAME = 4|8 or "
                      "NAME = EXPRESSION.",
                      without_blanks(rule)));
    }
    const auto value = drawn(without_blanks(rule.substr(equals + 1)), numbers, state);
    if (!value) return value.error();
    numbers.emplace_back(std::string(name), *value);
  }
  return numbers;
}

Outcome<std::string> filled(std::string_view text, const Drawn& numbers) {
  const auto unclosed = [&] { return wrong(fmt::format("A `{{` of `{}` has no `}}`.", text)); };
  std::string out;
  bool unknown = false;  // inside the braces of a layout's `?`
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t brace = text.find_first_of(unknown ? "{}" : "{", at);
    out += text.substr(at, brace == std::string_view::npos ? brace : brace - at);
    if (brace == std::string_view::npos) break;
    const bool closes = text[brace] == '}';
    if (closes || (!unknown && opens_unknown(text, brace))) {
      out += text[brace];
      unknown = !closes;
      at = brace + 1;
      continue;
    }
    const std::size_t close = text.find('}', brace);
    if (close == std::string_view::npos) return unclosed();
    const auto value = value_of(text.substr(brace + 1, close - brace - 1), numbers);
    if (!value) return value.error();
    out += fmt::format("{}", *value);
    at = close + 1;
  }
  if (unknown) return unclosed();
  return out;
}

std::vector<NumberSlip> number_slips(std::string_view expression, const Drawn& numbers) {
  constexpr int most_operations = 6;
  const auto terms = Reader(expression, numbers).all();
  if (!terms) return {};
  const std::int64_t right = terms->back().value;
  const auto operations =
      std::count_if(terms->begin(), terms->end(), [](const Term& t) { return t.operation != 0; });
  if (operations > most_operations) return {};
  std::vector<NumberSlip> out;
  const auto add = [&](std::optional<std::int64_t> number, std::string sentence) {
    if (!number || *number == right) return;
    const bool there = std::any_of(out.begin(), out.end(),
                                   [&](const NumberSlip& each) { return each.number == *number; });
    if (!there) out.push_back({*number, std::move(sentence)});
  };
  // The last operation first: who has come so far has most of it.
  for (std::size_t i = terms->size(); i-- > 0;) {
    const Term& term = (*terms)[i];
    if (term.operation == 0) continue;
    const std::int64_t a = (*terms)[term.left].value, b = (*terms)[term.right].value;
    for (const Other& other : others_of(term, a, b)) {
      if (!other.value) continue;
      const auto number = value_with(*terms, i, *other.value);
      if (number) add(number, fmt::format("{} comes out {}.", *number, other.sentence));
    }
  }
  // Two of the numbers in each other's places.
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    for (std::size_t k = i + 1; k < numbers.size(); ++k) {
      Drawn exchanged = numbers;
      std::swap(exchanged[i].second, exchanged[k].second);
      const auto number = value_of(expression, exchanged);
      if (!number) continue;
      add(*number, fmt::format("{} comes out where {} and {} have changed places.", *number,
                               numbers[i].second, numbers[k].second));
    }
  }
  return out;
}

}  // namespace tilescope
