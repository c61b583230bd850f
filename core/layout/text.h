// Layouts as text, in CuTe's notation without the underscores of static integers.
//
//     ((3,(2,4)),(3,(2,2))):((177,(13,2)),(59,(26,1)))     Sw<3,3,3> o 0 o (8,64):(64,1)
//     <3:3,(2,4):(1,8)>     1@TLane     ?{div=16}
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/layout/algebra.h"

namespace tilescope {

std::string text(const Int& number);
std::string text(const Tuple& tuple);
std::string text(const Layout& layout);
std::string text(const Tiler& tiler);
std::string text(Swizzle swizzle);
// An offset; (3,2) on numbered axes alone; else its parts: 3@TLane+4@TCol, 3@tid_in_wg+4.
std::string text(const Place& place);
std::string text(const Slice& slice);     // LAYOUT off PLACE
std::string text(const ThreadValue& tv);  // (tiler,layout)

// The sentence of a refusal: the rule, the mode, the numbers, and what would be legal.
std::string sentence(const Refusal& refusal);

// Steps of a named axis (TIRx): "TLane", "tid_in_wg"... and numbers. The code of an axis is one
// byte of Axis::path.
std::optional<std::uint8_t> axis_named(std::string_view name);
std::string axis_name(std::uint8_t step);
std::string text(Axis axis);  // "@TLane", "@1@0"; empty for none

// The known name nearest to a misspelt one; empty where none is near.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

}  // namespace tilescope
