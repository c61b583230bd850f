// The language of layout expressions: any text gets a value or a sentence, a value prints as text
// that means the same, and explaining it changes nothing.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/language/language.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tilescope;
  const std::string_view expression(reinterpret_cast<const char*>(data), size);
  const Evaluated result = evaluate(expression);
  Derivation steps;
  const std::optional<Evaluated> explained = Scope().explain(expression, steps);
  if (explained && explained->index() != result.index()) std::abort();
  if (const Problem* problem = std::get_if<Problem>(&result)) {
    if (problem->sentence.empty() || caret(expression, *problem).empty()) std::abort();
    return 0;
  }
  const Value& value = std::get<Value>(result);
  const Layout* layout = std::get_if<Layout>(&value);
  if (!layout || layout->modes.empty()) return 0;
  const Evaluated again = evaluate(text(value));
  const Value* same = std::get_if<Value>(&again);
  if (!same || !std::holds_alternative<Layout>(*same) || !(std::get<Layout>(*same) == *layout)) {
    std::abort();
  }
  return 0;
}
