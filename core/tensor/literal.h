// Layouts written in CuTe's notation inside C++: "((4,8),(2,2)):((32,1),(16,8))"_layout.
//
// Only numbers, parentheses and the colon, and only for literals: a literal that is no layout does
// not compile. Expressions that a user types are read by core/language.
#pragma once

#include <cstddef>

#include "core/layout/layout.h"

namespace tilescope {
namespace detail {

struct LiteralReader {
  const char* at;
  const char* end;

  constexpr Tuple tuple() {
    if (at == end || *at != '(') return Tuple(number());
    Tuple out;
    do {
      ++at;
      out.push(tuple());
    } while (at != end && *at == ',');
    must(at != end && *at == ')' ? Result<int>(0) : refuse(Refusal::Rule::empty));
    ++at;
    return out;
  }

  constexpr std::int64_t number() {
    must(at != end && *at >= '0' && *at <= '9' ? Result<int>(0) : refuse(Refusal::Rule::empty));
    std::int64_t value = 0;
    while (at != end && *at >= '0' && *at <= '9') value = value * 10 + (*at++ - '0');
    return value;
  }
};

}  // namespace detail

namespace literals {

constexpr Layout operator""_layout(const char* text, std::size_t length) {
  detail::LiteralReader reader{text, text + length};
  const Tuple shape = reader.tuple();
  must(reader.at != reader.end && *reader.at == ':' ? Result<int>(0)
                                                    : detail::refuse(Refusal::Rule::empty));
  ++reader.at;
  return must(make_layout(shape, reader.tuple()));
}

}  // namespace literals
}  // namespace tilescope
