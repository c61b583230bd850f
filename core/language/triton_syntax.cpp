#include "core/language/triton_syntax.h"

#include <fmt/format.h>

#include <utility>

namespace tilescope::language {
namespace {

using Fields = std::map<std::string_view, triton::Bases>;

triton::Numbers numbers_in_list(Reader& in) {
  triton::Numbers out;
  while (!in.failed() && in.token().kind == Token::Kind::number) {
    out.push_back(in.digits());
    if (out.size() > 8)
      in.fail("A tensor has at most 8 dimensions here.", in.token().begin, in.token().end());
    if (!in.token().is(',')) break;
    in.next();
  }
  return out;
}

// A list of numbers is one basis, a list of lists are several: [1, 4] or [[0, 1], [8, 0]].
triton::Bases lists(Reader& in, std::string_view field) {
  triton::Bases out;
  if (!in.expect('[', "after `=`")) return out;
  const bool nested = in.token().is('[');
  if (!nested) out.push_back(numbers_in_list(in));
  while (nested && !in.failed()) {
    if (!in.expect('[', "before a basis")) return out;
    out.push_back(numbers_in_list(in));
    if (!in.expect(']', "after a basis")) return out;
    if (out.size() > 32)
      in.fail(fmt::format("`{}` has more than 32 bases.", field), in.token().begin,
              in.token().end());
    if (!in.token().is(',')) break;
    in.next();
  }
  in.expect(']', "after a list");
  return out;
}

triton::Or<triton::LinearLayout> blocked_in(const Fields& fields, const triton::Numbers& shape) {
  triton::Blocked out;
  const std::map<std::string_view, triton::Numbers*> known = {
      {"sizePerThread", &out.size_per_thread},
      {"threadsPerWarp", &out.threads_per_warp},
      {"warpsPerCTA", &out.warps_per_cta},
      {"order", &out.order},
      {"CTAsPerCGA", &out.ctas_per_cga},
      {"CTASplitNum", &out.cta_split},
      {"CTAOrder", &out.cta_order}};
  for (const auto& [name, lists] : fields) {
    const auto field = known.find(name);
    if (field == known.end()) {
      return fmt::format(
          "`{}` is no field of a blocked encoding; it has sizePerThread, "
          "threadsPerWarp, warpsPerCTA and order.",
          name);
    }
    if (lists.size() != 1) return fmt::format("`{}` is one list of numbers.", name);
    *field->second = lists[0];
  }
  for (const char* name : {"sizePerThread", "threadsPerWarp", "warpsPerCTA", "order"}) {
    if (fields.count(name) == 0) return fmt::format("A blocked encoding needs `{}`.", name);
  }
  return triton::linear_of(out, shape);
}

triton::Or<triton::LinearLayout> linear_in(const Fields& fields, const triton::Numbers& shape) {
  triton::LinearLayout out;
  for (const auto& [name, bases] : fields) {
    std::size_t input = 0;
    while (input < triton::inputs && triton::input_names[input] != name) ++input;
    if (input == triton::inputs) {
      return fmt::format(
          "`{}` is no input of a linear encoding: register, lane, warp and block "
          "are.",
          name);
    }
    for (const triton::Numbers& basis : bases) {
      if (!basis.empty()) out.bases[input].push_back(basis);  // `block = []`
    }
  }
  return triton::linear_on(std::move(out), shape);
}

}  // namespace

std::optional<Encoding> read_encoding(Reader& in) {
  in.next();
  in.next();  // ttg
  if (!in.expect('.', "in an encoding of Triton's")) return {};
  const Token kind = in.token();
  Encoding out;
  out.blocked = kind.is_word("blocked");
  if (!out.blocked && !kind.is_word("linear")) {
    in.fail(
        "Of Triton's encodings `blocked` and `linear` are read; the compiler prints every "
        "distributed one as `linear` too.",
        kind.begin, kind.end());
    return {};
  }
  in.next();
  if (!in.expect('<', "after the encoding's name") || !in.expect('{', "after `<`")) return {};
  while (!in.failed() && !in.token().is('}')) {
    const Token name = in.token();
    if (name.kind != Token::Kind::word) {
      in.fail_here("Expected a field such as `order`");
      return {};
    }
    in.next();
    if (!in.expect('=', "after a field's name")) return {};
    out.fields[name.text] = lists(in, name.text);
    if (in.failed() || !in.token().is(',')) break;
    in.next();
  }
  if (!in.expect('}', "or `,` after a field") || !in.expect('>', "after `}`")) return {};
  return out;
}

triton::Or<ThreadValue> thread_value_of(const Encoding& encoding, const triton::Numbers& shape) {
  const triton::Or<triton::LinearLayout> found =
      encoding.blocked ? blocked_in(encoding.fields, shape) : linear_in(encoding.fields, shape);
  if (const std::string* why = std::get_if<std::string>(&found)) return *why;
  return triton::thread_value_of(std::get<triton::LinearLayout>(found));
}

}  // namespace tilescope::language
