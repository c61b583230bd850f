// How an open layout is studied beyond its grid: where we are in its derivation, how wide an
// element is. Part of the session's choices, so every change is a step of undo.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/language/language.h"
#include "viz/layout/access_view.h"
#include "viz/layout/layout_slices.h"
#include "viz/layout/layout_view.h"
#include "viz/lower/lower_scene.h"

namespace tilescope {

struct Session;

// The open layout's lowering with the PTX of a kernel below it.
struct LoweredCode {
  std::string of;  // "elementwise_add", "add.ptx"
  lowering::Lowering lowering;
};

struct LayoutStudy {
  // Steps of the outermost operation, the call itself first; null where there is none.
  std::shared_ptr<const Derivation> derivation;
  std::size_t step = 0;                     // whose grid is shown; 0: the result alone
  std::string beside;                       // what is shown beside the layout; empty: nothing
  int element_bytes = 0;                    // 0: as the value says, else 4
  Walk walk = Walk::down_columns;           // of a warp's lanes
  int access_bytes = 4;                     // that a lane moves
  std::optional<std::int64_t> instruction;  // not set: the worst
  SliceChoice slice;                        // of grids with more than two modes
  int access_grid = -1;                     // whose owners' accesses; -1: the first that has any
  std::string access_through;               // the memory behind coordinates; empty: none is given
  std::optional<LowerSpot> lowered;         // a statement of its lowering that is followed
  int lower_from = 0;                       // the first level of it that is shown
  std::shared_ptr<const LoweredCode> code;  // null: its lowering ends at LLVM

  std::size_t steps() const { return derivation ? derivation->size() - 1 : 0; }
  std::string code_name() const { return code ? code->of : std::string(); }
  // Of the same expression, from which the derivation follows.
  friend bool operator==(const LayoutStudy& a, const LayoutStudy& b) {
    return a.steps() == b.steps() && a.step == b.step && a.beside == b.beside &&
           a.element_bytes == b.element_bytes && a.walk == b.walk &&
           a.access_bytes == b.access_bytes && a.instruction == b.instruction &&
           a.slice == b.slice && a.access_grid == b.access_grid &&
           a.access_through == b.access_through && a.lowered == b.lowered &&
           a.lower_from == b.lower_from && a.code_name() == b.code_name();
  }
};

// An expression as linked grids, with one step of its derivation: LayoutView::derived where its
// grids can be linked, else the step's layout alone, else what of_expression shows.
Outcome<LayoutView> study_view(std::string_view expression, const LayoutStudy& study);

// What is computed of the open layout as memory, kept until the layout or the study changes.
struct AccessCache {
  std::shared_ptr<const LayoutView> of;
  AccessChoice choice;
  int grid = -1;
  std::string through;
  std::optional<Outcome<std::shared_ptr<const AccessView>>> view;
  std::optional<Outcome<SwizzleAdvice>> advice;
  std::optional<Outcome<BitMatrix>> bits;
  std::optional<Result<std::int64_t>> reach;  // after a swizzle every offset is looked at
};
// The first offset that the open layout's result does not reach.
Result<std::int64_t> reach_of(const Session& session);
// Where the open layout's elements are: its result, after the memory that it goes through where
// one is given. Refused: a view that shows owners or places.
Outcome<Layout> memory_of(const Session& session);
// The layout that `access through` gave, as the language reads it.
Outcome<Layout> layout_given(std::string_view expression);
Outcome<std::shared_ptr<const AccessView>> access_of(const Session& session);
Outcome<SwizzleAdvice> advice_for(const Session& session);
Outcome<BitMatrix> bit_matrix_of(const Session& session);

}  // namespace tilescope
