// The text of Triton's encodings, as its compiler prints them; what they mean is triton.h's.
//
//     encoding := #ttg.blocked<{field, ...}> | #ttg.linear<{field, ...}>
//     field    := name '=' list                       a list of numbers, or of lists of numbers
#pragma once

#include <map>
#include <optional>
#include <string_view>

#include "core/language/reader.h"
#include "core/language/triton.h"

namespace tilescope::language {

struct Encoding {
  bool blocked = false;                              // else linear
  std::map<std::string_view, triton::Bases> fields;  // as they are
};

// At the `#`. Nothing after a problem.
std::optional<Encoding> read_encoding(Reader& in);
// `shape` empty: what the encoding covers. A sentence where there is no such layout.
triton::Or<ThreadValue> thread_value_of(const Encoding& encoding, const triton::Numbers& shape);

}  // namespace tilescope::language
