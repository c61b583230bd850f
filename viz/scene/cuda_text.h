// CUDA C++ as it is read: which letters of a line are keywords, types, comments, text, numbers, or
// for the preprocessor. A reader's help, no parser: what it does not know is plain.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "viz/scene/theme.h"

namespace tilescope {

enum class CudaPart : std::uint8_t { plain, keyword, type, comment, text, number, preprocessor };

// Letters [begin, end) of a line; parts cover all of it, in order.
struct CudaSpan {
  std::size_t begin = 0, end = 0;
  CudaPart part = CudaPart::plain;
};

// The group in a scene whose texts are one line of code: read as one, drawn one after the other.
inline constexpr std::string_view code_group = "code";

// `in_comment`: whether the line begins inside /* */, and then whether the next one does.
std::vector<CudaSpan> cuda_spans(std::string_view line, bool& in_comment);

// What a part is drawn with: of the categories' hues, dark or light enough to be read as text (4.5
// to 1 on paper and panel). Plain text, and comments, in the theme's letters.
Rgba colour_of(CudaPart part, const Theme& theme);

// Whether a file's name says that it is C++: ".cu", ".h" and their like.
bool is_cuda_file(std::string_view name);

}  // namespace tilescope
