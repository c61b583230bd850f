// What is to be lowered, as text: any text gets a lowering or a sentence, each statement prints,
// and every level answers what the layout algebra answers.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/lower/check.h"
#include "core/lower/request.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tilescope;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Outcome<lowering::Request> request = lowering::request_of(text);
  if (!request) {
    if (request.error().sentence.empty()) std::abort();
    return 0;
  }
  const Outcome<lowering::Lowering> l = lowering::lower(*request);
  if (!l) {
    if (l.error().sentence.empty()) std::abort();
    return 0;
  }
  for (const lowering::Level& level : l->levels) {
    for (std::size_t i = 0; i < level.statements.size(); ++i) {
      if (lowering::text(*l, level, static_cast<int>(i)).empty()) std::abort();
    }
  }
  const Outcome<lowering::Checked> checked = lowering::check(*l);
  // Numbers of 32 bits may be too large together; a disagreement is a mistake.
  if (!checked && checked.error().kind == ErrorKind::mismatch) std::abort();
  return 0;
}
