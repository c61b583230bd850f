#include "viz/ui/rich_text.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "viz/ui/style.h"

namespace tilescope::ui {
namespace {

// A pen that goes along lines and begins a new one where a piece does not fit.
class Pen {
 public:
  Pen(const Brush& brush, float x, float y, float width, Role role, KnownWords* known)
      : brush_(brush),
        left_(x),
        x_(x),
        top_(y),
        y_(y),
        right_(x + width),
        role_(role),
        known_(known) {}

  void write(const TextSpan& span) {
    const bool code = span.kind == TextSpan::Kind::code;
    ImFont* font = code                                  ? brush_.fonts.code(TextSize::small)
                   : span.kind == TextSpan::Kind::strong ? brush_.fonts.strong(TextSize::small)
                                                         : brush_.fonts.words(TextSize::small);
    // A layout stays in one piece where a line has room for it.
    if (code && text_width(font, span.text) <= right_ - left_) return place(span.text, font, true);
    if (span.term) return place(span.text, font, false, lower(*span.term));
    std::string_view rest = span.text;
    while (!rest.empty()) {
      const std::string_view ends = code ? " ,:;" : " ";
      const std::size_t known = code ? 0 : phrase(rest);
      const std::size_t end = rest.find_first_of(ends, known);
      const std::size_t take = end == rest.npos ? rest.size() : end + 1;
      place(rest.substr(0, take), font, code,
            known > 0 ? std::optional(lower(rest.substr(0, known))) : std::nullopt);
      rest.remove_prefix(take);
    }
  }

  float height() const { return y_ + rich_line - top_; }

 private:
  static std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return out;
  }

  // How long the longest explained term of several words is with which the text begins; 0: none.
  std::size_t phrase(std::string_view text) const {
    if (!known_) return 0;
    std::size_t longest = 0, end = 0;
    constexpr int most_words = 4;
    for (int words = 1; words <= most_words && end < text.size(); ++words) {
      std::size_t word = end;
      while (word < text.size() &&
             (std::isalnum(static_cast<unsigned char>(text[word])) || text[word] == '-')) {
        ++word;
      }
      if (word == end) break;
      if (words > 1 && known_->meanings.count(lower(text.substr(0, word))) > 0) longest = word;
      if (word >= text.size() || text[word] != ' ') break;
      end = word + 1;
    }
    return longest;
  }

  void new_line() {
    x_ = left_;
    y_ += rich_line;
  }

  // A piece, on the next line where this one has no room, and cut where no line has.
  // `term`: what explains it; not set: its own letters say which.
  void place(std::string_view piece, ImFont* font, bool code,
             const std::optional<std::string>& term = {}) {
    const std::size_t inked = piece.find_last_not_of(' ') + 1;
    std::string_view shown = piece.substr(0, inked);
    if (x_ > left_ && x_ + text_width(font, shown) > right_) new_line();
    while (shown.size() > 1 && text_width(font, shown) > right_ - left_) {
      std::size_t fits = 1;
      while (text_width(font, shown.substr(0, fits + 1)) <= right_ - x_) ++fits;
      ink(shown.substr(0, fits), font, code);
      shown.remove_prefix(fits);
      new_line();
    }
    ink(shown, font, code);
    const auto end = std::find_if(shown.rbegin(), shown.rend(), [](char c) {
      return std::isalpha(static_cast<unsigned char>(c)) != 0;
    });
    const auto letters = static_cast<std::size_t>(shown.rend() - end);
    if (!code && known_) {
      explain(shown.substr(0, letters), font, term ? *term : letters_of(shown.substr(0, letters)));
    }
    x_ += text_width(font, shown) + text_width(font, piece.substr(inked));
  }

  void ink(std::string_view text, ImFont* font, bool code) {
    if (text.empty()) return;
    if (code) {  // a quiet ground, so that code is told from words without colour
      const float wide = text_width(font, text);
      brush_.list->AddRectFilled({x_ - 1, y_ + 2}, {x_ + wide + 1, y_ + rich_line - 2},
                                 packed(Ink(Role::text, 0.06), brush_.theme), 2);
    }
    brush_.text(x_, y_ + rich_line / 2, font, role_, std::string(text));
  }

  static std::string letters_of(std::string_view shown) {
    std::string word;
    for (const char c : shown) {
      if (std::isalpha(static_cast<unsigned char>(c)) || c == '-') word += c;
    }
    return lower(word);
  }

  // What the word means, where the pointer or the keyboard is.
  void explain(std::string_view shown, ImFont* font, const std::string& word) {
    const auto found = known_->meanings.find(word);
    if (found == known_->meanings.end()) return;
    const float wide = text_width(font, shown), below = y_ + rich_line - 3;
    const ImVec2 low{x_, y_}, high{x_ + wide, y_ + rich_line};
    bool pointed = ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect(low, high);
    if (known_->seen.insert(found->second).second) {
      for (float dot = x_; dot + 1 < x_ + wide; dot += 4) {
        brush_.box(dot, below, 2, 1, Role::quiet);
      }
      const ImVec2 cursor = ImGui::GetCursorScreenPos();
      ImGui::SetCursorScreenPos(low);
      if (ImGui::InvisibleButton(word.c_str(), {wide, rich_line})) known_->clicked = word;
      if (ImGui::IsItemHovered()) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
      if (focus_frame(brush_, low, high) && !pointed) {
        ImGui::SetNextWindowPos({x_, y_ + rich_line + 4});
        pointed = true;
      }
      ImGui::SetCursorScreenPos(cursor);
    }
    if (!pointed) return;
    brush_.box(x_, below, wide, 1, Role::accent);
    tooltip(brush_, found->second);
  }

  const Brush& brush_;
  float left_, x_, top_, y_, right_;
  Role role_;
  KnownWords* known_;
};

}  // namespace

float rich_text(const Brush& brush, float x, float y, float width,
                const std::vector<TextSpan>& spans, Role role, KnownWords* known) {
  Pen pen(brush, x, y, width, role, known);
  for (const TextSpan& span : spans) pen.write(span);
  return pen.height();
}

}  // namespace tilescope::ui
