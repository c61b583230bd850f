// The views that can be open, by name.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace tilescope {

// `wavefronts`, `sectors` and `bits` show the open layout too: as memory that a warp meets, and as
// a matrix over GF(2).
enum class ViewName : std::uint8_t {
  layout,
  wavefronts,
  sectors,
  bits,
  matrices,
  diff,
  timeline,  // of a run, from its record
  // Of a run, where its machine stands: those who execute, and what they see.
  source,
  registers,
  barriers,
  memory,
  tmem,
  compare  // with the baseline
};
inline constexpr std::array all_views = {
    ViewName::layout,    ViewName::wavefronts, ViewName::sectors,  ViewName::bits,
    ViewName::matrices,  ViewName::diff,       ViewName::timeline, ViewName::source,
    ViewName::registers, ViewName::barriers,   ViewName::memory,   ViewName::tmem,
    ViewName::compare};
bool shows_layout(ViewName view);
bool shows_machine(ViewName view);
std::string_view name_of(ViewName view);

}  // namespace tilescope
