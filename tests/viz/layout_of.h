// The view of an expression, which has to have one.
#pragma once

#include <gtest/gtest.h>

#include <string_view>

#include "viz/layout/layout_view.h"

namespace tilescope {

inline LayoutView view_of(std::string_view expression) {
  Outcome<LayoutView> view = LayoutView::of_expression(expression);
  EXPECT_TRUE(view.ok()) << expression << "\n" << (view.ok() ? "" : view.error().sentence);
  return *view;
}

}  // namespace tilescope
