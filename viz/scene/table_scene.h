// A table in a scene: columns under titles, rows that can be clicked, scrolled by pixels.
//
// Numbers are right, words left; a row may be a heading over those below it. Columns are as wide
// as what is in them, and one takes what is left. Where that is too little, columns that can be
// spared are left out.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "viz/scene/cuda_text.h"
#include "viz/scene/scene.h"

namespace tilescope {

struct TableColumn {
  std::string title;
  Across across = Across::left;
  Family family = Family::sans;
  double width = 0;          // 0: as wide as what is in it
  bool stretches = false;    // takes what is left
  double most = 1e9;         // pixels, where its width is that of what is in it
  bool keeps_begin = false;  // what is too wide is cut at its end, else in the middle
  int spared = 0;         // left out in a narrow room, those of the highest number first; 0: never
  double least = 80;      // pixels, of the one that takes what is left
  std::string hint = {};  // what is in it, in words
};

struct TableCell {
  std::string text;
  Ink ink = Role::text;
  std::optional<Ink> fill;
  std::string command = {};          // a click here, if not the row's
  std::vector<CudaSpan> spans = {};  // of C++: all of the text, each part in its colour
  std::string hint = {};
};

struct TableRow {
  std::vector<TableCell> cells;
  std::string command;  // what a click does; empty: nothing
  std::string hint;     // that in words
  bool selected = false;
  bool heading = false;  // the first cell alone, over what follows
  bool code = false;     // the first cell alone, in letters of one width
};

struct Table {
  std::string name;  // of its group, for --describe: "registers"
  std::vector<TableColumn> columns;
  std::vector<TableRow> rows;
  // Of a long list: how many rows there are, and one of them; those that are seen are asked for.
  // Its columns say their widths.
  std::size_t count = 0;
  std::function<TableRow(std::size_t)> row = {};
  std::optional<std::size_t> focus;  // the row to be seen
  std::string when_empty;            // instead of rows
};

inline constexpr double table_row = 22, table_titles = 28, table_edge = 16;

// Where a table is in its room.
struct Scroll {
  double at = 0;  // pixels above the first row that is seen
  bool by_hand = false;
  double beside = 0;  // the same of a second list beside it
  bool beside_by_hand = false;
};

// Draws the table into `room`; scrolls to the focus where nobody scrolled by hand. Answers how many
// pixels it can be scrolled.
double draw_table(Scene& scene, const Table& table, const Box& room, Scroll& scroll);

}  // namespace tilescope
