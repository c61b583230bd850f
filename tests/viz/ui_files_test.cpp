// Files that are opened and dropped, and views that are written as tables.
#include <gtest/gtest.h>

#include "tests/viz/ui_session.h"
#include "viz/commands/rebuild.h"
#include "viz/session/files.h"
#include "viz/session/panels.h"
#include "viz/session/value_table.h"

namespace tilescope {
namespace {

using Words = std::vector<std::string>;

class Files : public test::SessionTest {
 protected:
  ValueTable table() {
    auto made = value_table(session);
    EXPECT_TRUE(made.ok());
    return made ? *made : ValueTable{};
  }
};

TEST_F(Files, AnNpyFileIsShownAsAMatrixAndItsElementsArePicked) {
  must("open 'my data/A.npy'");
  EXPECT_EQ(session.state.view, ViewName::matrices);
  EXPECT_FALSE(session.state.kernel);
  EXPECT_EQ(session.field, "\"my data/A.npy\"");
  EXPECT_EQ(meaning_of_field(session).text, "f32 (5, 7)");
  EXPECT_FALSE(emptiness(session));
  must("pick 1 2");
  bool told = false;
  for (const InspectorSection& section : inspector(session)) {
    for (const auto& [name, value] : section.lines) told = told || value == "18";
  }
  EXPECT_TRUE(told) << "2 * (1 * 7 + 2)";
  EXPECT_EQ(rebuilding(session.state), (Words{"open \"my data/A.npy\"", "pick 1 2"}));
  EXPECT_EQ(strip(session, backend).steps.size(), 1u);
  must("open add");
  EXPECT_TRUE(session.state.file.empty());
  must("undo");
  EXPECT_EQ(session.state.file, "my data/A.npy");
  refused("open nosuch.npy", "cannot be read");
}

TEST_F(Files, AFileThatIsTypedIsOpenedByEnterAndIsNoExpressionMeanwhile) {
  for (const char* text : {"data/A", "data/A.npy", "\"my data/A.npy\""}) {
    type_field(session, backend, text);
    EXPECT_FALSE(session.problem) << text;
  }
  ASSERT_TRUE(enter_field(session, backend).ok()) << session.message.text;
  EXPECT_EQ(session.state.file, "my data/A.npy");
}

TEST_F(Files, PtxAndItsLaunchFileFindEachOther) {
  backend.neighbours = {"k/mm.toml", "k/mm.ptx"};
  EXPECT_EQ(*kernel_of_files(backend, "k/mm.ptx"), "k/mm.ptx --launch k/mm.toml");
  EXPECT_EQ(*kernel_of_files(backend, "k/mm.toml"), "k/mm.ptx --launch k/mm.toml");
  backend.neighbours = {"a.toml", "b.toml"};
  refused("open mm.ptx", "2 are beside it: `open mm.ptx --launch a.toml`");
  backend.neighbours = {};
  refused("open mm.ptx", "mm.ptx");
  backend.texts["mm.ptx"] = backend.texts["mm.toml"] = "there";
  refused("open mm.ptx", "there is none beside it: `open mm.ptx --launch F.toml`");
  refused("open mm.toml", "there is none beside it: `open F.ptx --launch mm.toml`");
}

TEST_F(Files, WhatIsDroppedTogetherIsOpenedTogether) {
  EXPECT_EQ(dropped({"/a b/A.npy"}), (Words{"open \"/a b/A.npy\""}));
  EXPECT_EQ(dropped({"/k.toml", "/k.ptx"}), (Words{"open /k.ptx --launch /k.toml"}));
  EXPECT_EQ(dropped({"/k.toml"}), (Words{"open /k.toml"}));
  EXPECT_EQ(dropped({"/day.json", "/x.npy"}), (Words{"open workspace /day.json", "open /x.npy"}));
  EXPECT_TRUE(dropped({}).empty());
  const Words other = dropped({"/picture.gif"});
  ASSERT_EQ(other.size(), 1u);
  refused(other[0], "picture.gif");
}

TEST_F(Files, ALayoutIsWrittenAsATableOfItsCells) {
  must("open preset 9x32");
  const ValueTable cells = table();
  EXPECT_EQ(cells.rows.size(), 3u * 288 + 24)
      << "three grids of 9 x 32 elements, and the tiler of 3 x 8";
  const auto column = [&](std::string_view name) {
    return static_cast<std::size_t>(std::find(cells.columns.begin(), cells.columns.end(), name) -
                                    cells.columns.begin());
  };
  ASSERT_LT(column("offset"), cells.columns.size());
  for (const auto& row : cells.rows) {
    if (row[0] != "Input" || row[2] != "4" || row[3] != "7") continue;
    EXPECT_EQ(row[column("offset")], "276");
  }
  must("export cells.csv");
  const std::string text = backend.texts["cells.csv"];
  EXPECT_EQ(text.rfind("grid,slice,row,column,coordinate", 0), 0u) << text.substr(0, 80);
  EXPECT_NE(text.find("\"(4,7)\""), std::string::npos) << "commas are quoted";
  EXPECT_EQ(session.message.text, "Wrote cells.csv: 888 rows.");
  must("export cells.txt");
  EXPECT_EQ(backend.texts["cells.txt"], "(9,(4,8)):(59,(13,1))");
}

TEST_F(Files, MatricesAndDifferencesAreTables) {
  backend.wrong = {11};
  must("open add");
  must("run");
  const ValueTable difference = table();
  ASSERT_EQ(difference.rows.size(), 32u);
  EXPECT_EQ(difference.rows[11], (Words{"1", "3", "23", "22", "1", "wrong"}));
  EXPECT_EQ(difference.rows[12], (Words{"1", "4", "24", "24", "0", ""}));
  must("select matrices");
  const ValueTable matrices = table();
  EXPECT_EQ(matrices.columns, (Words{"row", "column", "A", "B", "C", "reference"}));
  EXPECT_EQ(matrices.rows[11], (Words{"1", "3", "11", "11", "23", "22"}));
  must("export all.txt");
  EXPECT_EQ(backend.texts["all.txt"].rfind("row  column   A   B   C  reference\n", 0), 0u)
      << backend.texts["all.txt"].substr(0, 60);
}

TEST_F(Files, WhatIsEmptyOrTooLargeIsNoTable) {
  refused("export a.csv", "No layout is open");
  must("open layout (2048,2048):(2048,1)");
  refused("export a.csv", "4194304 rows");
  EXPECT_TRUE(backend.texts.empty());
}

TEST(Csv, FieldsAreQuotedAsRfc4180Asks) {
  const ValueTable table{{"a", "b"}, {{"1,2", "say \"x\""}, {"", "two\nlines"}, {"alone"}}};
  EXPECT_EQ(csv(table), "a,b\r\n\"1,2\",\"say \"\"x\"\"\"\r\n,\"two\nlines\"\r\nalone,\r\n");
}

}  // namespace
}  // namespace tilescope
