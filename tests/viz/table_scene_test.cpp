// Lines of code in a table: each part in its colour, and still one text.
#include "viz/scene/table_scene.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "viz/scene/describe.h"
#include "viz/scene/table_room.h"

namespace tilescope {
namespace {

Scene drawn(const std::string& line, double width) {
  Table table;
  table.name = "source";
  table.columns = {{"F.cu", Across::left, Family::mono, 0, true, 1e9, true}};
  table.count = 1;
  table.row = [&line](std::size_t) {
    TableRow row;
    row.cells = {{line, Role::text, {}}};
    bool inside = false;
    row.cells[0].spans = cuda_spans(line, inside);
    return row;
  };
  Scene scene;
  Scroll scroll;
  draw_table(scene, table, {0, 0, width, 100}, scroll);
  return scene;
}

std::string first_row(const Scene& scene) {
  return describe(scene)["groups"][0]["groups"].back()["texts"][0];
}

TEST(LinesOfCode, AreReadAsTheyAreWritten) {
  const std::string line = "  if (thread == 0) return \"\u00b5s\";  // the end";
  const Scene scene = drawn(line, 800);
  EXPECT_EQ(first_row(scene), line);
  std::vector<const Text*> parts;
  for (const Item& item : scene.items) {
    const Text* text = std::get_if<Text>(&item);
    if (text && text->text != "F.cu") parts.push_back(text);
  }
  ASSERT_GT(parts.size(), 5u) << "in parts";
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const Text& before = *parts[i - 1];
    EXPECT_NEAR(before.at.x + text_width(before.text, small_text, Family::mono), parts[i]->at.x,
                0.01);
  }
}

// Lines over all columns and headings do not make the first column wide; what has no room is named.
TEST(Columns, AreAsWideAsTheirOwnCells) {
  Table table;
  table.name = "registers";
  table.columns = {{"name", Across::left, Family::mono}, {"value", Across::left, Family::mono}};
  table.columns[1].spared = 1;
  TableRow cells, code;
  cells.cells = {{"%r1", Role::text, {}}, {"7", Role::text, {}}};
  code.code = true;
  code.cells = {{std::string(200, '0'), Role::text, {}}};
  table.rows = {cells, code};
  Scene scene;
  Scroll scroll;
  draw_table(scene, table, {0, 0, 400, 200}, scroll);
  bool seen = false;
  for (const Item& item : scene.items) {
    const Text* text = std::get_if<Text>(&item);
    if (!text || text->text != "7") continue;
    seen = true;
    EXPECT_LT(text->at.x, 100);
  }
  EXPECT_TRUE(seen);
  EXPECT_TRUE(columns_left_out(table, 400).empty());
  EXPECT_EQ(columns_left_out(table, 60), std::vector<std::string>{"value"});
}

// Wherever a line is cut, nothing is drawn twice and no letter in half.
TEST(LinesOfCode, AreCutAtAnyWidth) {
  const std::string line =
      "extern \"C\" __global__ void __launch_bounds__(256) add(const float* a)";
  for (double width = 40; width < 700; width += 3) {
    const std::string shown = first_row(drawn(line, width));
    if (shown == line) continue;
    ASSERT_GE(shown.size(), 3u);
    EXPECT_EQ(shown.substr(shown.size() - 3), "\u2026") << width;
    EXPECT_EQ(shown.substr(0, shown.size() - 3), line.substr(0, shown.size() - 3)) << width;
  }
}

}  // namespace
}  // namespace tilescope
