// From an expression to the parts that it takes: a tensor, a tile of it, a thread's part of that...
// Inside viz/scene only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "viz/layout/layout_statements.h"
#include "viz/layout/layout_view.h"

namespace tilescope {

// What an expression takes a part of, and what that part is called.
struct Taking {
  std::string_view from;
  std::string_view title;
};
std::optional<Taking> taking_of(std::string_view expression);

// The whole, its part, the part of that..., as far as the expression says where each comes from.
struct PartsOfExpression {
  std::vector<LayoutView::Part> parts;  // empty: it is no part of anything that can be drawn
  // Where the whole's strides are on axes: the whole, and what each part is. `parts` count its
  // elements then.
  std::optional<Slice> on_axes;
  std::vector<std::string> formulas;
};
PartsOfExpression parts_of(const Scope& scope, const Bindings& bindings,
                           std::string_view expression);

}  // namespace tilescope
