// A page of characters: what a picture is in a terminal or a text file.
//
// Signs are in rows and columns, each with the ink and the paper that it was given. Lines are
// put as lines; where they meet the page finds the box-drawing character that joins them (Unicode
// 15, block U+2500), light or heavy. The page grows as things are put on it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "viz/scene/colour.h"

namespace tilescope {

struct TextStyle {
  std::optional<Rgba> ink, paper;  // not set: the terminal's own
  bool bold = false;
  friend bool operator==(const TextStyle&, const TextStyle&) = default;
};

enum class LineWeight : std::uint8_t { none, light, heavy };

class TextPage {
 public:
  struct Sign {
    std::string text;  // one character as UTF-8; empty: a blank, or a line
    TextStyle style;
    LineWeight up = LineWeight::none, down = LineWeight::none;
    LineWeight left = LineWeight::none, right = LineWeight::none;
  };

  int rows() const { return static_cast<int>(rows_.size()); }
  const std::vector<Sign>& row(int i) const { return rows_[static_cast<std::size_t>(i)]; }

  // One character a column, from (row, column) to the right.
  void write(int row, int column, std::string_view text, const TextStyle& style = {});
  void fill(int row, int column, int columns, Rgba paper);
  // From (row, column) to (row, column + columns), both ends included; the heavier stays.
  void across(int row, int column, int columns, LineWeight weight);
  void down(int row, int column, int rows, LineWeight weight);

 private:
  Sign& at(int row, int column);

  std::vector<std::vector<Sign>> rows_;
};

// The character of a sign: its text, or the lines that meet in it, or a blank.
std::string_view character_of(const TextPage::Sign& sign);
// How many columns a text takes: its characters.
int columns_of(std::string_view text);

}  // namespace tilescope
