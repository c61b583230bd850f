// What colours mean, at the foot of views: shown where there is room, folded and unfolded by a
// command, and always in files.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/viz/ui_session.h"
#include "viz/commands/describe_window.h"
#include "viz/session/session.h"

namespace tilescope {
namespace {

bool has_legend(const Scene& scene) {
  return std::any_of(scene.items.begin(), scene.items.end(), [](const Item& item) {
    const auto* group = std::get_if<GroupBegin>(&item);
    return group && group->name == "legend";
  });
}

class Legend : public test::SessionTest {
 protected:
  bool shown(Size size) { return has_legend(picture(session, size).scene); }
};

constexpr Size roomy{1000, 700}, small{400, 264};

TEST_F(Legend, IsFoldedWhereThereIsLittleRoom) {
  must("open preset 9x32");
  EXPECT_TRUE(shown(roomy));
  EXPECT_FALSE(shown(small));
  must("legend show");
  EXPECT_TRUE(shown(roomy));
  must("legend hide");
  EXPECT_FALSE(shown(roomy));
  EXPECT_TRUE(has_legend(export_scene(session))) << "files have it always";
  must("undo");
  EXPECT_TRUE(shown(roomy));
  must("legend usual");
  EXPECT_FALSE(shown(small));
}

// A file has a ground below all else: without one a PNG is black.
TEST_F(Legend, AFileStandsOnTheThemesPaper) {
  must("open add --m 7");
  for (const char* theme : {"theme light", "theme dark"}) {
    must(theme);
    const Scene file = export_scene(session);
    const auto* ground = std::get_if<Rectangle>(&file.items.front());
    ASSERT_TRUE(ground && ground->fill) << theme;
    EXPECT_EQ(ground->fill->role, Role::paper);
    EXPECT_EQ(ground->box.width, file.size.width);
    EXPECT_EQ(ground->box.height, file.size.height);
  }
  must("open preset 9x32");
  const Scene grid = export_scene(session);
  std::size_t grounds = 0;
  for (const Item& item : grid.items) {
    const auto* box = std::get_if<Rectangle>(&item);
    grounds +=
        box && box->fill && box->fill->role == Role::paper && box->box.width == grid.size.width;
  }
  EXPECT_EQ(grounds, 1u) << "one that is there already is enough";
}

TEST_F(Legend, TurnsWhatIsSeen) {
  must("open preset 9x32");
  (void)shown(small);
  must("legend turn");
  EXPECT_TRUE(shown(small));
  must("legend turn");
  EXPECT_FALSE(shown(small));
  EXPECT_EQ(settings_lines(session.state.settings), std::vector<std::string>{"legend hide"});
  refused("legend sometimes", "show, hide, turn or usual");
}

TEST_F(Legend, IsDescribedWithTheCommandThatTurnsIt) {
  must("open preset 9x32");
  const Picture seen = picture(session, roomy);
  const Json told = describe(session, backend, seen)["legend"];
  EXPECT_EQ(told["shown"], true);
  EXPECT_EQ(told["command"], "legend hide");
  must("select bits");  // all that it shows is named where it stands
  EXPECT_FALSE(describe(session, backend, picture(session, roomy)).contains("legend"));
}

// Its room is the data's: of every view that offers to fold it.
TEST_F(Legend, LeavesItsRoomToTheData) {
  must("open preset 9x32");
  const double with = picture(session, small).layout->fit_cell;
  must("legend show");
  EXPECT_LE(picture(session, small).layout->fit_cell, with);
}

}  // namespace
}  // namespace tilescope
