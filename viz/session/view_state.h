// What is open and what was chosen of it, as plain data: undo restores it, share strings and
// workspaces make it again.
//
// Everything that is costly to make (views, cards, results) is immutable and shared, so a copy
// costs small values. each_field() is the table of the fields: whether two states are equal, and
// which fields commands have to make again, follow from it. A field that is not in it does not
// compile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "viz/layout/layout_view.h"
#include "viz/machine/breakpoints.h"
#include "viz/machine/comparison_view.h"
#include "viz/machine/live_run.h"
#include "viz/machine/memory_view.h"
#include "viz/matrix/diff_view.h"
#include "viz/matrix/matrices_view.h"
#include "viz/product/product_scene.h"
#include "viz/scene/view_name.h"
#include "viz/session/backend.h"
#include "viz/session/diff_study.h"
#include "viz/session/layout_study.h"
#include "viz/session/lesson_state.h"
#include "viz/session/settings.h"
#include "viz/theatre/theatre_scene.h"
#include "viz/timeline/timeline_view.h"
#include "viz/why/why_view.h"

namespace tilescope {

// What of the theatre is looked at.
struct TheatreChoice {
  std::optional<double> at;  // cycles; nothing: see theatre_time() in theatre_session.h
  TheatreFollow follow;
  friend bool operator==(const TheatreChoice&, const TheatreChoice&) = default;
};

// Which product of tensor cores is open, and of its D which element.
struct ProductChoice {
  std::optional<std::size_t> number;  // of the CTA; nothing: see product_session.h
  std::uint32_t row = 0, column = 0;
  bool number_first = false;  // product_scene.h
  friend bool operator==(const ProductChoice&, const ProductChoice&) = default;
};

struct ViewState {
  ViewName view = ViewName::layout;

  // The layout view: nothing where none has been opened.
  std::shared_ptr<const LayoutView> layout;
  std::string layout_text;  // the expression, or "preset NAME": what `open` took
  std::optional<ColourBy> colour;
  Focus isolate;
  std::optional<Cell> selected;
  bool coordinates = false;
  LayoutStudy study;

  // The kernel: nothing where none has been opened.
  std::shared_ptr<const KernelCard> kernel;
  KernelOptions options;
  std::shared_ptr<const RunResult> result;
  std::shared_ptr<const MatricesView> matrices;  // inputs, and the output once it is there
  DiffStudy compare;
  std::shared_ptr<const DiffView> diff;  // what of the comparison is shown; null: none
  std::string file;                      // a .npy file instead of a kernel; else empty
  std::optional<Element> element;        // selected
  bool only_wrong = false;

  // The timeline of the run: nothing where there is no record.
  std::shared_ptr<const TimelineView> timeline;
  TheatreChoice theatre;
  sim::WhatIf why;  // what is asked of the run
  ProductChoice product;
  TimelineChoice timeline_choice;  // without what passes: timeline_choice_of(session) adds that
  // Where its machine is to be, and what of it is looked at. The machine itself is no choice: it
  // can be brought there again (viz/session/seek.h).
  std::uint64_t moment = 0;
  RunCursor spot;
  std::vector<Breakpoint> breakpoints;  // in the order in which they were set
  std::shared_ptr<LiveRun> live;
  MemoryChoice memory;  // how its memories are drawn

  // A run that others are compared with; and that comparison, which follows from both. Its
  // timeline is drawn above the run's where that was chosen, with folds and pins of its own.
  std::shared_ptr<const RunResult> baseline;
  std::shared_ptr<const ComparisonView> comparison;
  std::shared_ptr<const TimelineView> baseline_timeline;
  TimelineChoice baseline_rows;
  bool beside_baseline = false;

  LessonPlace lesson;    // which lesson is open, and where in it
  std::string exercise;  // of the course, by name; empty: none was chosen

  bool dark = false;
  WindowSettings settings;

  // By what they mean: a layout that was opened twice is the same.
  friend bool operator==(const ViewState& a, const ViewState& b);
};

// What becomes of a field in a view that goes elsewhere.
enum class Kept : std::uint8_t {
  by_command,  // the lines of viz/commands/rebuild.h make it again
  by_setting,  // it stays the reader's own: workspaces have it, share strings have not
  follows,     // it is made of the others, and says nothing of its own
};

// Calls f(name, &ViewState::field, Kept) for each field, in their order.
template <class F>
constexpr void each_field(F&& f) {
  using S = ViewState;
  f("view", &S::view, Kept::by_command);
  f("layout", &S::layout, Kept::follows);
  f("layout_text", &S::layout_text, Kept::by_command);
  f("colour", &S::colour, Kept::by_command);
  f("isolate", &S::isolate, Kept::by_command);
  f("selected", &S::selected, Kept::by_command);
  f("coordinates", &S::coordinates, Kept::by_command);
  f("study", &S::study, Kept::by_command);
  f("kernel", &S::kernel, Kept::by_command);
  f("options", &S::options, Kept::by_command);
  f("result", &S::result, Kept::by_command);
  f("matrices", &S::matrices, Kept::follows);
  f("compare", &S::compare, Kept::by_command);
  f("diff", &S::diff, Kept::by_command);
  f("file", &S::file, Kept::by_command);
  f("element", &S::element, Kept::by_command);
  f("only_wrong", &S::only_wrong, Kept::by_command);
  f("timeline", &S::timeline, Kept::by_command);
  f("theatre", &S::theatre, Kept::by_command);
  f("why", &S::why, Kept::by_command);
  f("product", &S::product, Kept::by_command);
  f("timeline_choice", &S::timeline_choice, Kept::by_command);
  f("moment", &S::moment, Kept::by_command);
  f("spot", &S::spot, Kept::by_command);
  f("breakpoints", &S::breakpoints, Kept::by_command);
  f("live", &S::live, Kept::follows);
  f("memory", &S::memory, Kept::by_command);
  f("baseline", &S::baseline, Kept::by_command);
  f("comparison", &S::comparison, Kept::follows);
  f("baseline_timeline", &S::baseline_timeline, Kept::follows);
  f("baseline_rows", &S::baseline_rows, Kept::by_command);
  f("beside_baseline", &S::beside_baseline, Kept::by_command);
  f("lesson", &S::lesson, Kept::by_command);
  f("exercise", &S::exercise, Kept::by_command);
  f("dark", &S::dark, Kept::by_command);
  f("settings", &S::settings, Kept::by_setting);
}

}  // namespace tilescope
