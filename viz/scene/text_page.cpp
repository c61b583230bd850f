#include "viz/scene/text_page.h"

#include <algorithm>

namespace tilescope {
namespace {

std::size_t sign_bytes(std::string_view text, std::size_t at) {
  std::size_t end = at + 1;
  while (end < text.size() && (static_cast<std::uint8_t>(text[end]) & 0xc0) == 0x80) ++end;
  return end - at;
}

// What meets at a sign, and for each the characters of a light or heavy upright line (first index)
// crossing a light or heavy level one (second). A line that goes through keeps its weight, so both
// of its arms weigh the same.
struct Joint {
  bool up, down, left, right;
  std::array<std::array<std::string_view, 2>, 2> characters;
};
constexpr std::array<Joint, 15> joints{{
    {true, true, true, true, {{{"┼", "┿"}, {"╂", "╋"}}}},
    {true, true, false, true, {{{"├", "┝"}, {"┠", "┣"}}}},
    {true, true, true, false, {{{"┤", "┥"}, {"┨", "┫"}}}},
    {false, true, true, true, {{{"┬", "┯"}, {"┰", "┳"}}}},
    {true, false, true, true, {{{"┴", "┷"}, {"┸", "┻"}}}},
    {false, true, false, true, {{{"┌", "┍"}, {"┎", "┏"}}}},
    {false, true, true, false, {{{"┐", "┑"}, {"┒", "┓"}}}},
    {true, false, false, true, {{{"└", "┕"}, {"┖", "┗"}}}},
    {true, false, true, false, {{{"┘", "┙"}, {"┚", "┛"}}}},
    {true, true, false, false, {{{"│", "│"}, {"┃", "┃"}}}},
    {false, false, true, true, {{{"─", "━"}, {"─", "━"}}}},
    {true, false, false, false, {{{"╵", "╵"}, {"╹", "╹"}}}},
    {false, true, false, false, {{{"╷", "╷"}, {"╻", "╻"}}}},
    {false, false, true, false, {{{"╴", "╸"}, {"╴", "╸"}}}},
    {false, false, false, true, {{{"╶", "╺"}, {"╶", "╺"}}}},
}};

}  // namespace

TextPage::Sign& TextPage::at(int row, int column) {
  const std::size_t i = static_cast<std::size_t>(std::max(row, 0));
  const std::size_t j = static_cast<std::size_t>(std::max(column, 0));
  if (rows_.size() <= i) rows_.resize(i + 1);
  if (rows_[i].size() <= j) rows_[i].resize(j + 1);
  return rows_[i][j];
}

void TextPage::write(int row, int column, std::string_view text, const TextStyle& style) {
  for (std::size_t i = 0; i < text.size(); ++column) {
    const std::size_t bytes = sign_bytes(text, i);
    Sign& sign = at(row, column);
    sign.text = text.substr(i, bytes);
    sign.style = style;
    i += bytes;
  }
}

void TextPage::fill(int row, int column, int columns, Rgba paper) {
  for (int j = column; j < column + columns; ++j) at(row, j).style.paper = paper;
}

void TextPage::across(int row, int column, int columns, LineWeight weight) {
  for (int j = column; j <= column + columns; ++j) {
    Sign& sign = at(row, j);
    if (j > column) sign.left = std::max(sign.left, weight);
    if (j < column + columns) sign.right = std::max(sign.right, weight);
  }
}

void TextPage::down(int row, int column, int rows, LineWeight weight) {
  for (int i = row; i <= row + rows; ++i) {
    Sign& sign = at(i, column);
    if (i > row) sign.up = std::max(sign.up, weight);
    if (i < row + rows) sign.down = std::max(sign.down, weight);
  }
}

std::string_view character_of(const TextPage::Sign& sign) {
  if (!sign.text.empty()) return sign.text;
  const auto any = [](LineWeight w) { return w != LineWeight::none; };
  const bool heavy_upright = std::max(sign.up, sign.down) == LineWeight::heavy;
  const bool heavy_level = std::max(sign.left, sign.right) == LineWeight::heavy;
  for (const Joint& joint : joints) {
    if (joint.up == any(sign.up) && joint.down == any(sign.down) && joint.left == any(sign.left) &&
        joint.right == any(sign.right)) {
      return joint.characters[heavy_upright ? 1 : 0][heavy_level ? 1 : 0];
    }
  }
  return " ";
}

int columns_of(std::string_view text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<std::uint8_t>(c) & 0xc0) != 0x80;
  }));
}

}  // namespace tilescope
