#include "viz/scene/cuda_text.h"

#include <algorithm>
#include <array>

namespace tilescope {
namespace {

constexpr std::array<std::string_view, 73> keywords = {"__constant__",
                                                       "__device__",
                                                       "__forceinline__",
                                                       "__global__",
                                                       "__grid_constant__",
                                                       "__host__",
                                                       "__launch_bounds__",
                                                       "__managed__",
                                                       "__noinline__",
                                                       "__restrict__",
                                                       "__shared__",
                                                       "alignas",
                                                       "alignof",
                                                       "asm",
                                                       "auto",
                                                       "break",
                                                       "case",
                                                       "catch",
                                                       "class",
                                                       "co_await",
                                                       "co_return",
                                                       "co_yield",
                                                       "concept",
                                                       "const",
                                                       "const_cast",
                                                       "consteval",
                                                       "constexpr",
                                                       "constinit",
                                                       "continue",
                                                       "decltype",
                                                       "default",
                                                       "delete",
                                                       "do",
                                                       "dynamic_cast",
                                                       "else",
                                                       "enum",
                                                       "explicit",
                                                       "extern",
                                                       "false",
                                                       "final",
                                                       "for",
                                                       "friend",
                                                       "goto",
                                                       "if",
                                                       "inline",
                                                       "mutable",
                                                       "namespace",
                                                       "new",
                                                       "noexcept",
                                                       "nullptr",
                                                       "operator",
                                                       "override",
                                                       "private",
                                                       "protected",
                                                       "public",
                                                       "reinterpret_cast",
                                                       "requires",
                                                       "return",
                                                       "sizeof",
                                                       "static",
                                                       "static_assert",
                                                       "static_cast",
                                                       "struct",
                                                       "switch",
                                                       "template",
                                                       "this",
                                                       "throw",
                                                       "true",
                                                       "try",
                                                       "typedef",
                                                       "typename",
                                                       "using",
                                                       "volatile"};
constexpr std::array<std::string_view, 12> more_keywords = {
    "while", "union", "virtual", "typeid", "thread_local", "register",
    "and",   "or",    "not",     "xor",    "__inline__",   "__asm__"};
constexpr std::array<std::string_view, 24> types = {
    "bool",    "char",   "double",   "float", "half",   "half2", "int",         "long",
    "short",   "signed", "unsigned", "void",  "size_t", "dim3",  "wchar_t",     "__half",
    "__half2", "float2", "float4",   "int2",  "int4",   "uint4", "nv_bfloat16", "CUtensorMap"};

template <std::size_t n>
bool is_one_of(const std::array<std::string_view, n>& all, std::string_view word) {
  return std::find(all.begin(), all.end(), word) != all.end();
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

CudaPart part_of_word(std::string_view word) {
  if (is_one_of(keywords, word) || is_one_of(more_keywords, word)) return CudaPart::keyword;
  // std::uint32_t, cuda's __nv_bfloat16, and their like.
  const bool named_so = word.size() > 2 && word.substr(word.size() - 2) == "_t";
  return named_so || is_one_of(types, word) ? CudaPart::type : CudaPart::plain;
}

class CodeLine {
 public:
  CodeLine(std::string_view text, bool& in_comment) : text_(text), in_comment_(in_comment) {}

  std::vector<CudaSpan> read() {
    if (in_comment_) to_end_of_comment();
    const std::size_t first = text_.find_first_not_of(" \t", at_);
    if (at_ == 0 && first != text_.npos && text_[first] == '#') directive(first);
    while (at_ < text_.size()) next();
    return std::move(out_);
  }

 private:
  void take(std::size_t end, CudaPart part) {
    end = std::min(end, text_.size());
    if (end == at_) return;
    if (!out_.empty() && out_.back().part == part) {
      out_.back().end = end;
    } else {
      out_.push_back({at_, end, part});
    }
    at_ = end;
  }
  void to_end_of_comment() {
    const std::size_t end = text_.find("*/", at_);
    in_comment_ = end == text_.npos;
    take(in_comment_ ? text_.size() : end + 2, CudaPart::comment);
  }
  // "#include <x.h>", "#define": the word, and the name that an include has.
  void directive(std::size_t hash) {
    std::size_t end = text_.find_first_not_of(" \t", hash + 1);
    while (end < text_.size() && is_letter(text_[end])) ++end;
    const bool includes = text_.substr(hash, end - hash).find("include") != text_.npos;
    take(end, CudaPart::preprocessor);
    const std::size_t open = text_.find('<', at_);
    if (!includes || open == text_.npos) return;
    take(open, CudaPart::plain);
    const std::size_t close = text_.find('>', at_);
    take(close == text_.npos ? text_.size() : close + 1, CudaPart::text);
  }
  void next() {
    const char c = text_[at_];
    if (text_.compare(at_, 2, "//") == 0) return take(text_.size(), CudaPart::comment);
    if (text_.compare(at_, 2, "/*") == 0) {
      take(at_ + 2, CudaPart::comment);
      return to_end_of_comment();
    }
    if (c == '"' || c == '\'') return quoted(c);
    const bool point = c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]);
    if (is_digit(c) || point) return number();
    if (!is_letter(c)) return take(at_ + 1, CudaPart::plain);
    std::size_t end = at_;
    while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) ++end;
    take(end, part_of_word(text_.substr(at_, end - at_)));
  }
  void quoted(char mark) {
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != mark) end += text_[end] == '\\' ? 2 : 1;
    take(end + 1, CudaPart::text);
  }
  // With digits' separators, exponents and suffixes: 0x1.8p3f, 1'000u.
  void number() {
    std::size_t end = at_;
    for (; end < text_.size(); ++end) {
      const char c = text_[end];
      const bool sign = (c == '+' || c == '-') && end > at_ &&
                        std::string_view("eEpP").find(text_[end - 1]) != text_.npos;
      const bool part = is_letter(c) || is_digit(c) || c == '.' || c == '\'' || sign;
      if (!part) break;
    }
    take(end, CudaPart::number);
  }

  std::string_view text_;
  bool& in_comment_;
  std::size_t at_ = 0;
  std::vector<CudaSpan> out_;
};

}  // namespace

std::vector<CudaSpan> cuda_spans(std::string_view line, bool& in_comment) {
  return CodeLine(line, in_comment).read();
}

// Okabe and Ito's blue, bluish green, vermilion, reddish purple and orange.
Rgba colour_of(CudaPart part, const Theme& theme) {
  switch (part) {
    case CudaPart::plain:
      break;
    case CudaPart::keyword:
      return rgb(theme.dark ? 0x6CB6F0 : 0x005F99);
    case CudaPart::type:
      return rgb(theme.dark ? 0x3CC79B : 0x00684B);
    case CudaPart::comment:
      return theme.quiet;
    case CudaPart::text:
      return rgb(theme.dark ? 0xF0975A : 0xA34400);
    case CudaPart::number:
      return rgb(theme.dark ? 0xDE9CC2 : 0x8F3F6E);
    case CudaPart::preprocessor:
      return rgb(theme.dark ? 0xE6B84C : 0x7A5600);
  }
  return theme.text;
}

bool is_cuda_file(std::string_view name) {
  const std::size_t point = name.rfind('.');
  if (point == name.npos) return false;
  constexpr std::array<std::string_view, 8> ends = {"cu",  "cuh", "h",   "hpp",
                                                    "hxx", "cc",  "cpp", "inl"};
  return is_one_of(ends, name.substr(point + 1));
}

}  // namespace tilescope
