// Whether sanitizers watch. Under them a test takes twenty times as long, so that it tries fewer
// orders and smaller shapes: they look at the code, which is the same for all of them.
#pragma once

namespace tilescope::test {

#if defined(__SANITIZE_ADDRESS__)  // g++
inline constexpr bool sanitized = true;
#elif defined(__has_feature)  // clang
inline constexpr bool sanitized = __has_feature(address_sanitizer);
#else
inline constexpr bool sanitized = false;
#endif

}  // namespace tilescope::test
