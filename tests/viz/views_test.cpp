// What every row of the table of views keeps (viz/session/views.h).
#include "viz/session/views.h"

#include <gtest/gtest.h>

#include <set>

#include "viz/session/session.h"

namespace tilescope {
namespace {

TEST(Views, EachHasARowOfItsOwnAndAName) {
  std::set<ViewName> ids;
  std::set<std::string_view> names;
  for (const View* view : views()) {
    EXPECT_TRUE(ids.insert(view->id).second) << view->name << " has two rows";
    EXPECT_TRUE(names.insert(view->name).second) << view->name << " is the name of two";
    EXPECT_EQ(&view_of(view->id), view) << view->name;
    EXPECT_NE(view->draw, nullptr) << view->name << " cannot be drawn";
  }
  // ViewName counts from 0 without a gap, and `compare` is its last.
  EXPECT_EQ(ids.size(), static_cast<std::size_t>(ViewName::compare) + 1) << "a view has no row";
}

// What can be zoomed can be moved, and the other way round; a list is scrolled instead, but for the
// accumulator over the registers.
TEST(Views, WhatIsZoomedIsMoved) {
  for (const View* view : views()) {
    EXPECT_EQ(view->zoom == nullptr, view->pan == nullptr) << view->name;
    EXPECT_FALSE(view->list && view->zoom && view->id != ViewName::registers)
        << view->name << " is a list, and zoomed";
    EXPECT_TRUE(view->look == nullptr || view->viewport) << view->name;
  }
}

// With nothing open each view says what could be here, and the command that brings it.
TEST(Views, AnEmptyOneSaysWhatCouldBeHere) {
  for (const View* view : views()) {
    Session session;
    session.state.view = view->id;
    const auto empty = emptiness(session);
    ASSERT_TRUE(empty) << view->name;
    EXPECT_FALSE(empty->sentence.empty()) << view->name;
    EXPECT_EQ(empty->command.rfind("open ", 0), 0u) << view->name << ": " << empty->command;
    const Picture none = picture(session, {640, 400});
    EXPECT_EQ(none.scene.size.width, 640) << view->name;
    // Where nothing at all is open, the views of a layout offer what to begin with.
    EXPECT_EQ(none.scene.targets.empty(), !shows_layout(view->id)) << view->name;
  }
}

}  // namespace
}  // namespace tilescope
