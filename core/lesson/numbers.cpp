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

// Reads an expression from left to right: sums of products of numbers, names and parentheses.
class Reader {
 public:
  Reader(std::string_view text, const Drawn& names) : text_(text), names_(names) {}

  Outcome<std::int64_t> all() {
    const std::int64_t value = sum();
    blanks();
    if (!problem_ && at_ < text_.size()) {
      fail(fmt::format("`{}` of `{}` is not understood", text_.substr(at_), text_));
    }
    if (problem_) return wrong(*problem_ + "; there are names, numbers, + - * / % and ( ).");
    return value;
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
  std::int64_t fitting(std::int64_t value, bool fits) {
    if (!fits) fail(fmt::format("`{}` does not fit in 64 bits", text_));
    return value;
  }

  std::int64_t sum() {
    std::int64_t value = product();
    for (bool more = true; more && !problem_;) {
      bool fits = true;
      if (takes('+')) {
        value = fitting(checked_add(value, product(), fits), fits);
      } else if (takes('-')) {
        const std::int64_t negative = checked_mul(product(), -1, fits);
        value = fitting(checked_add(value, negative, fits), fits);
      } else {
        more = false;
      }
    }
    return value;
  }

  std::int64_t product() {
    std::int64_t value = factor();
    for (bool more = true; more && !problem_;) {
      bool fits = true;
      if (takes('*')) {
        value = fitting(checked_mul(value, factor(), fits), fits);
      } else if (takes('/')) {
        value = divided(value, factor(), false);
      } else if (takes('%')) {
        value = divided(value, factor(), true);
      } else {
        more = false;
      }
    }
    return value;
  }

  std::int64_t divided(std::int64_t value, std::int64_t by, bool rest) {
    if (by <= 0 || value < 0) {
      fail(fmt::format("`{}` divides {} by {}, and only numbers from 0 on are divided", text_,
                       value, by));
      return 0;
    }
    return rest ? value % by : value / by;
  }

  std::int64_t factor() {
    if (problem_) return 0;
    if (takes('(')) {
      if (++depth_ > kDeepest) fail(fmt::format("`{}` has too many parentheses", text_));
      const std::int64_t value = sum();
      if (!takes(')')) fail(fmt::format("a `)` is missing in `{}`", text_));
      --depth_;
      return value;
    }
    blanks();
    if (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) return number();
    return name();
  }

  std::int64_t number() {
    std::int64_t value = 0;
    bool fits = true;
    for (; at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])); ++at_) {
      value = checked_add(checked_mul(value, 10, fits), text_[at_] - '0', fits);
    }
    return fitting(value, fits);
  }

  std::int64_t name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && std::isalnum(static_cast<unsigned char>(text_[at_]))) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    for (const auto& [known, value] : names_) {
      if (known == word) return value;
    }
    fail(word.empty() ? fmt::format("`{}` ends where a number or a name is due", text_)
                      : fmt::format("there is no number `{}` for `{}`", word, text_));
    return 0;
  }

  std::string_view text_;
  const Drawn& names_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::optional<std::string> problem_;
};

Outcome<std::int64_t> value_of(std::string_view expression, const Drawn& names) {
  return Reader(expression, names).all();
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

}  // namespace tilescope
