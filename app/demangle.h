// C++ names as their source has them.
#pragma once

#include <string>
#include <string_view>

namespace tilescope {

// "_Z3addPfi" -> "add(float*, int)". A name that is not mangled stays as it is.
std::string demangled(std::string_view name);

// The same for a line: without parameters and with template arguments left out where there are
// many, at most `most` characters. "void cutlass::device_kernel<...>".
std::string short_name(std::string_view name, std::size_t most = 60);

// Its own name, for files: "scale" of "void ns::scale<float>(float*, int)".
std::string plain_name(std::string_view name);

// A text with its mangled names made short: for people. Names that are to be typed stay as they
// are.
std::string readable(std::string_view text);

}  // namespace tilescope
