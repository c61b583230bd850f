// How warps meet a layout's memory, as the window tells it: banks, sectors, bits, of layouts of
// offsets and of thread/value layouts.
#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "core/layout/text.h"
#include "tests/viz/ui_session.h"
#include "viz/commands/describe_window.h"
#include "viz/commands/rebuild.h"
#include "viz/session/panels.h"

namespace tilescope {
namespace {

class Access : public test::SessionTest {
 protected:
  const LayoutView& view() const { return *session.state.layout; }
  const AccessView& accesses() { return **access_of(session); }
};

TEST_F(Access, BanksTellWhatAColumnCosts) {
  must("open layout (32,32):(32,1)");
  must("select banks");
  const auto view = access_of(session);
  ASSERT_TRUE(view.ok());
  EXPECT_EQ((*view)->instructions(), 32);
  EXPECT_EQ((*view)->conflicts().excess(), 32 * 31);
  EXPECT_EQ((*view)->wavefront_rows(0).size(), 32u);
  must("access rows");
  EXPECT_EQ((*access_of(session))->conflicts().excess(), 0);
  EXPECT_EQ((*access_of(session))->wavefront_rows(3).size(), 1u);
  refused("access 5", "takes rows");
  refused("access instruction 32", "0 to 31");
  refused("element 3", "1, 2, 4");
}

TEST_F(Access, AnAdvisedSwizzleIsAppliedAndIsWhatItPromised) {
  must("open layout (64,64):(64,1)");
  must("element 2");
  must("access columns 16");
  must("select banks");
  const Outcome<SwizzleAdvice> advice = advice_for(session);
  ASSERT_TRUE(advice.ok());
  const RankedSwizzle best = advice->ranked.all.front();
  EXPECT_EQ(best.excess, 0);
  EXPECT_GT((*access_of(session))->conflicts().excess(), 0);
  std::string command;
  for (const InspectorSection& section : inspector(session)) {
    if (!section.links.empty()) command = section.links.front().command;
  }
  must(command);
  EXPECT_TRUE(session.state.view == ViewName::wavefronts) << "the view stays";
  EXPECT_EQ((*access_of(session))->conflicts().excess(), 0);
}

TEST_F(Access, SectorsTellWhatIsMovedInVain) {
  must("open layout (32,32):(32,1)");
  must("select sectors");
  const auto down = access_of(session);
  EXPECT_EQ((*down)->coalesced().sectors, 32 * 32);
  EXPECT_EQ((*down)->coalesced().ideal, 32 * 4);
  for (const AccessView::Row& row : (*down)->line_rows(0)) {
    int words = 0;
    for (const AccessView::Word& word : row.words) words += word.there;
    EXPECT_EQ(words, 1);
  }
  must("access rows");
  EXPECT_EQ((*access_of(session))->coalesced().excess(), 0);
  EXPECT_EQ((*access_of(session))->line_rows(0).size(), 1u);
  EXPECT_EQ((*access_of(session))->line_rows(0)[0].words[5].lane, 5);
}

TEST_F(Access, BitsAreTheMatrixOfTheLayout) {
  must("open layout Sw<2,0,3> o 0 o (8,8):(8,1)");
  must("select bits");
  const auto matrix = bit_matrix_of(session);
  ASSERT_TRUE(matrix.ok());
  ASSERT_EQ(matrix->columns.size(), 6u);
  for (const BitMatrix::Column& column : matrix->columns) {
    const std::int64_t index = (std::int64_t{1} << column.bit) * (column.mode == 0 ? 1 : 8);
    EXPECT_EQ(column.image, (*memory_of(session))(index));
  }
  must("open layout (9,8):(8,1)");
  const auto empty = emptiness(session);
  ASSERT_TRUE(empty);
  EXPECT_NE(empty->sentence.find("power of two"), std::string::npos) << empty->sentence;
  must(empty->command);
  EXPECT_FALSE(emptiness(session));
}

TEST_F(Access, EveryTargetOfTheMemoryViewsIsACommandThatWorks) {
  must("open layout (64,64):(64,1)");
  for (const char* name : {"banks", "sectors", "bits"}) {
    must(std::string("select ") + name);
    const Picture shown = picture(session, {900, 600});
    for (const Target& target : shown.scene.targets) must(target.command);
    EXPECT_FALSE(describe(session, backend, shown).dump().empty());
  }
  must("open preset Volta");
  for (const char* name : {"banks", "sectors", "bits"}) {
    must(std::string("select ") + name);
    for (const Target& target : picture(session, {900, 600}).scene.targets) must(target.command);
  }
  must("open layout (4,8):(1@tx,1@m)");
  must("select banks");
  ASSERT_TRUE(emptiness(session));
  EXPECT_NE(emptiness(session)->sentence.find("memory"), std::string::npos);
}

TEST_F(Access, BanksAndPhasesAreIsolatedInTheGrid) {
  must("open layout (32,32):(32,1)");
  must("isolate bank 3");
  EXPECT_EQ(view().count(session.state.isolate, 0), 32);
  refused("isolate bank 32", "0 to 31");
  must("access columns 16");
  must("select banks");
  must("isolate phase 1");
  EXPECT_TRUE(session.state.view == ViewName::layout) << "it is seen in the grid";
  // The second phase: lanes 8 to 15, four elements each.
  const LayoutChoice choice = layout_choice(session);
  ASSERT_TRUE(choice.phase);
  ASSERT_EQ(choice.phase->size(), 32u);
  for (const std::int64_t offset : *choice.phase) {
    EXPECT_GE(offset / 32, 8);
    EXPECT_LT(offset / 32, 16);
    EXPECT_LT(offset % 32, 4);
  }
  const LayoutView::Window all{0, 0, 0, 0, 32, 32};
  LayoutChoice plain = choice;
  plain.isolate = {};
  const auto lit = view().colours_of(all, choice, light_theme());
  const auto full = view().colours_of(all, plain, light_theme());
  int kept = 0;
  for (std::size_t i = 0; i < lit.size(); ++i) kept += lit[i] == full[i];
  EXPECT_EQ(kept, 32);
  refused("isolate phase 4000", "There is no phase");
}

// The element, memory behind it and lane are known here from the thread/value layout itself.
TEST_F(Access, ThreadsOfAnAtomAccessWhatTheyOwn) {
  must("open layout SM80_16x8x16_F32F16F16F32_TN");
  must("select banks");
  must("access grid 0");
  must("access 4");
  must("access through (16,16):(16,1)");  // row-major: neighbours along K side by side
  ASSERT_NE(accesses().owned(), nullptr);
  EXPECT_EQ(accesses().owned()->together, 2) << "two halves of f16, from the operand's type";
  EXPECT_EQ(accesses().instructions(), 4) << "8 values, 2 at a time";
  EXPECT_EQ(accesses().owned()->names[3], "warp 0, values 6 to 7");
  const Layout tv = *view().panels()[0].tv, memory(make_layout_of(Layout(16, 16), Layout(16, 1)));
  std::int64_t wavefronts = 0;
  for (std::int64_t k = 0; k < 4; ++k) {
    std::array<std::set<std::int64_t>, 32> words;
    for (std::int64_t lane = 0; lane < 32; ++lane) {
      const std::int64_t word = memory(tv(lane + 32 * 2 * k)) * 2 / 4;
      words[static_cast<std::size_t>(word % 32)].insert(word);
    }
    std::size_t most = 0;
    for (const auto& bank : words) most = std::max(most, bank.size());
    wavefronts += static_cast<std::int64_t>(most);
  }
  EXPECT_EQ(accesses().conflicts().wavefronts, wavefronts);
  must("access through nothing");
  EXPECT_EQ(accesses().owned()->together, 1) << "column-major: K is 32 bytes apart";
  EXPECT_EQ(accesses().width(), 2);
  EXPECT_NE(accesses().owned()->remarks[0].find("Nothing says where"), std::string::npos);
  EXPECT_NE(accesses().owned()->remarks[1].find("2 bytes a lane, not 4"), std::string::npos);
  must("access grid 2");
  EXPECT_EQ(accesses().choice().element_bytes, 4) << "C is f32";
}

TEST_F(Access, AVectorOfValuesIsOneAccess) {
  must("open layout make_layout_tv((64,1):(1,0), (1,4):(0,1))");
  must("select sectors");
  must("access 16 through (64,4):(4,1)");
  EXPECT_EQ(accesses().instructions(), 2) << "one for each of two warps";
  EXPECT_EQ(accesses().width(), 16);
  EXPECT_EQ(accesses().coalesced().excess(), 0);
  must("isolate phase 1");
  const LayoutChoice choice = layout_choice(session);
  ASSERT_TRUE(choice.phase);
  EXPECT_EQ(choice.phase->size(), 8u * 4u) << "a quarter of a warp";
  for (const std::int64_t element : *choice.phase) {
    const std::int64_t thread = element % 64;
    EXPECT_TRUE(thread >= 8 && thread < 16) << element;
  }
  must("undo");
  must("undo");
  EXPECT_EQ(accesses().instructions(), 8) << "4 bytes, a value at a time";
  EXPECT_EQ(accesses().coalesced().excess(), 0) << "rows are neighbours then";
}

// It is said at once, and by the view for as long as it is so.
TEST_F(Access, MemoryThatDoesNotFitIsToldWithOneThatDoes) {
  must("open layout make_layout_tv((32,1):(1,0), (1,4):(0,1))");
  must("select banks");
  for (const auto& [memory, words] :
       {std::pair("(32,8):(8,1)", "256 elements, the tile has 128"),
        std::pair("(4,32):(32,1)", "other extents; (32,4):(4,1) could be"),
        std::pair("(32,4):(-4,1)", "before the memory's begin")}) {
    must("access through " + std::string(memory));
    EXPECT_NE(session.message.text.find(words), std::string::npos) << session.message.text;
    ASSERT_TRUE(emptiness(session)) << memory;
    EXPECT_NE(emptiness(session)->sentence.find(words), std::string::npos);
  }
  refused("access through (32,4):(4,", "");
  refused("access through <4,4>", "no memory");
  refused("access grid 1", "0 to 0");
  refused("access through", "access");
  must("access through 128:1");
  EXPECT_EQ(session.message.text, "Coordinates go through the memory 128:1.");
  EXPECT_EQ(accesses().conflicts().excess(), 0) << "one mode is as good";
}

// Whether accesses are whole another width decides, and it may come later: a view comes back by
// whatever order its commands are said in.
TEST_F(Access, MemoryIsTakenWhereAnotherWidthMakesAccessesWhole) {
  must("open layout (4,2):(2,1)");
  must("select banks");
  must("access 16");
  must("access through (4,2):(2,1)");
  EXPECT_NE(session.message.text.find("no whole accesses of 16 bytes"), std::string::npos)
      << session.message.text;
  ASSERT_TRUE(emptiness(session));
  must("access 4");
  EXPECT_FALSE(emptiness(session));
  EXPECT_EQ(session.state.study.access_through, "(4,2):(2,1)");
}

TEST_F(Access, OwnersThatAreNoLanesHaveNoWavefronts) {
  for (const char* line : {"open layout SM100_MMA_F16BF16_SS<f16,f16,f32,128,256,K,K>",
                           "open layout tmem_accumulator(128,128)"}) {
    must(line);
    must("select banks");
    ASSERT_TRUE(emptiness(session)) << line;
    EXPECT_FALSE(emptiness(session)->sentence.empty());
    must("select layout");
  }
  must("open layout SM90_64x64x16_F32F16F16_SS<K,K>");
  must("select banks");
  ASSERT_FALSE(emptiness(session)) << "C is in registers";
  EXPECT_EQ(accesses().owned()->grid, 2);
  must("access grid 0");
  ASSERT_TRUE(emptiness(session));
  EXPECT_NE(emptiness(session)->sentence.find("descriptor"), std::string::npos);
}

TEST_F(Access, BitsOfThreadsAndValuesGoThroughTheMemory) {
  must("open layout make_layout_tv((8,4):(1,8), (2,2):(1,2))");
  must("select bits");
  auto matrix = bit_matrix_of(session);
  ASSERT_TRUE(matrix.ok()) << matrix.error().sentence;
  EXPECT_EQ(matrix->modes, (std::vector<std::string>{"thread", "value"}));
  EXPECT_EQ(matrix->row_word, "element");
  ASSERT_EQ(matrix->columns.size(), 7u);
  must("access through (16,8):(8,1)");
  matrix = bit_matrix_of(session);
  ASSERT_TRUE(matrix.ok());
  EXPECT_EQ(matrix->row_word, "offset");
  const Layout tv = *view().panels()[0].tv, memory(make_layout_of(Layout(16, 8), Layout(8, 1)));
  for (const BitMatrix::Column& column : matrix->columns) {
    const std::int64_t at = (std::int64_t{1} << column.bit) * (column.mode == 0 ? 1 : 32);
    EXPECT_EQ(column.image, memory(tv(at)));
  }
}

TEST_F(Access, OffsetsOfAPlainLayoutGoThroughAMemoryToo) {
  must("open layout ((4,8),2):((32,1),16)");
  must("select banks");
  must("access through (16,16):(16,1)");
  EXPECT_EQ((*memory_of(session))(1), 2) << "element 32 of the tile is (0,2)";
  must("open layout (8,8):(8,1)");
  EXPECT_TRUE(session.state.study.access_through.empty()) << "another layout, another memory";
}

TEST_F(Access, AShareStringKeepsHowThreadsMeetTheMemory) {
  must("open layout SM80_16x8x16_F32F16F16F32_TN");
  must("access 8 grid 1");
  must("access through Sw<1,3,3> o 0 o (8,16):(16,1)");
  must("access instruction 1");
  must("select banks");
  const auto lines = rebuilding(session.state);
  Session other;
  ASSERT_TRUE(rebuild(other, backend, lines).ok()) << joined(lines);
  EXPECT_TRUE(other.state == session.state);
  EXPECT_EQ(rebuilding(other.state), lines);
}

// What is isolated is the number that a grid shows, and the same element in the others.
TEST_F(Access, AnOffsetOfASwizzlesInputIsThatElementEverywhere) {
  must("open layout Sw<2,0,3> o 0 o (8,8):(8,1)");
  ASSERT_EQ(view().panels().size(), 2u);
  must("isolate offset 17 0");
  EXPECT_NE(session.message.text.find("offset 19 in memory"), std::string::npos);
  const LayoutChoice choice = layout_choice(session);
  for (int panel = 0; panel < 2; ++panel) {
    EXPECT_EQ(view().count(choice.isolate, panel), 1);
    EXPECT_TRUE(view().holds(choice.isolate, {panel, 0, 2, 1}));
  }
  EXPECT_EQ(rebuilding(session.state).back(), "isolate offset 17 0");
  must("isolate offset 19");
  EXPECT_TRUE(view().holds(layout_choice(session).isolate, {0, 0, 2, 1})) << "by its place";
  refused("isolate offset 64 0", "0 to 63");
  refused("isolate offset 3 2", "0 to 1");
  refused("isolate offset 64", "0 to 63");
  refused("isolate offset x", "takes a number");
  must("isolate nothing");
  EXPECT_TRUE(session.state.isolate == Focus{});
}

}  // namespace
}  // namespace tilescope
