// The window's state, as plain data: what is open, how it is looked at, what was done before.
//
//     ViewState   what is open and chosen (viz/session/view_state.h); undo restores exactly this
//     Session     that state, its past and future, and what passes: pointer, zoom, messages
//
// Nothing changes ViewState but a command (viz/commands/commands.h). Widgets read the session and
// issue commands; a picture without a window reads the same session.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "viz/layout/layout_scene.h"
#include "viz/machine/breakpoints.h"
#include "viz/machine/comparison_view.h"
#include "viz/machine/live_run.h"
#include "viz/machine/machine_accumulators.h"
#include "viz/machine/memory_view.h"
#include "viz/machine/tensor_view.h"
#include "viz/matrix/diff_histogram.h"
#include "viz/matrix/diff_view.h"
#include "viz/matrix/matrices_view.h"
#include "viz/scene/table_scene.h"
#include "viz/scene/view_name.h"
#include "viz/scene/viewport.h"
#include "viz/session/backend.h"
#include "viz/session/course_state.h"
#include "viz/session/diff_study.h"
#include "viz/session/edit_state.h"
#include "viz/session/editor.h"
#include "viz/session/kernel_page.h"
#include "viz/session/layout_study.h"
#include "viz/session/lesson_state.h"
#include "viz/session/memory_views.h"
#include "viz/session/overlay.h"
#include "viz/session/settings.h"
#include "viz/session/view_state.h"
#include "viz/session/views.h"
#include "viz/timeline/timeline_scene.h"
#include "viz/why/why_scene.h"

namespace tilescope {

// A choice that was made, and how it was before: one step of undo.
struct Step {
  std::string name;  // the command: "colour value"
  ViewState before;
  bool typing = false;                          // steps of one typing join into one
  std::shared_ptr<const TextChange> text = {};  // what it did to the text of the editor
};

// Under the field: what is wrong with the text in it.
struct FieldProblem {
  std::string sentence;
  std::size_t begin = 0, end = 0;  // bytes of the field's text that it is about
};

struct Message {
  std::string text;
  bool failed = false;
  bool good = false;  // a run that is right has ended
};

// Commands that wait for a run to end (viz/commands/script.h).
struct Script {
  std::deque<std::string> lines;
  bool joins = false;  // what they choose belongs to the last step
};

// Makes the comparison of the open result with the baseline, where there are both.
void compare_with_baseline(ViewState& state);

// The machine is on its way: to a place that a command began to look for, or to ViewState::moment.
struct PendingSeek {
  std::string line;        // the command: a step of undo when it is there
  std::uint64_t from = 0;  // ViewState::moment when it began
  bool to_chosen = false;
  std::function<void(sim::Stepper&)> then = {};  // where it leads on from the place it leads to
};

// What is under the pointer, in the view that is open.
struct Hovered {
  std::optional<Cell> cell;            // of the layout
  std::optional<Element> element;      // of the difference or the matrices
  std::optional<std::size_t> matrix;   // whose element that is
  std::optional<std::size_t> bar;      // of the difference's histogram
  std::optional<UnitIdle> idle;        // of the timeline, of the run
  sim::EventId event = sim::no_event;  // of the timeline; and in the baseline's above it
  sim::EventId baseline = sim::no_event;
  std::optional<std::uint32_t> byte;  // of the block's shared memory
  std::optional<RunCursor::Cell> tmem;
  std::optional<ProductSpot> product;

  friend bool operator==(const Hovered&, const Hovered&) = default;
};

// The theatre that is open, made anew where another run or block is looked at, and how it plays.
struct TheatreCache {
  std::shared_ptr<const TimelineView> of;
  std::uint64_t cluster = 0;
  std::shared_ptr<const TheatreView> view;
  bool playing = false, loops = false;
  double speed = 600;  // cycles for a second of the reader's
};

// Why the run took so long, made anew of another run, and what was asked last.
struct WhyCache {
  std::shared_ptr<const TimelineView> of;
  std::shared_ptr<const WhyView> view;
  WhyAnswer answer;
};

// The product that is open, which the machine was brought to once more; made anew where another
// run, CTA or sum is looked at.
struct ProductCache {
  std::shared_ptr<const TimelineView> of;
  std::shared_ptr<const LiveRun> live;
  std::uint64_t block = 0;
  std::uint32_t warp = 0;
  std::shared_ptr<const ProductIndex> index;
  std::shared_ptr<const ProductView> view;
  std::string problem;  // why there is none of this number
  std::optional<std::size_t> number;
  std::uint32_t row = 0, column = 0;
  std::shared_ptr<const std::vector<sim::ElementTrace>> traces;
  ProductImages images;
  bool playing = false;
  double played = 0;  // seconds of the step that is shown
};

struct Session {
  ViewState state;
  std::vector<Step> past, future;

  std::string field;  // the text in the field, as typed
  Editor editor;
  std::optional<FieldProblem> problem;
  Message message;  // the status line: what just happened

  Hovered hovered;                    // under the pointer
  std::optional<sim::Watch> watched;  // that the machine stopped for last: diff_walk.h
  bool legend_shown = true;           // in the last picture
  Viewport layout_viewport, matrices_viewport, diff_viewport;
  TimelineViewport timeline_viewport;
  double baseline_scroll = 0;                  // of the rows of the one above
  std::optional<CycleRange> timeline_dragged;  // while it is dragged
  std::optional<double> timeline_playhead;     // likewise: the moment to go to
  RasterStore layout_rasters, matrices_rasters, diff_rasters, timeline_rasters, baseline_rasters;
  std::map<ViewName, Scroll> scrolls;  // of views that are lists
  mutable MemoryViews memory;

  mutable TheatreCache theatre;
  // The steps of the theatre's cluster, for the timeline; and of which theatre they are.
  std::shared_ptr<const TimelineSteps> timeline_steps;
  std::shared_ptr<const TheatreView> timeline_steps_of;
  mutable WhyCache why;
  mutable ProductCache product;
  mutable AccessCache access;  // no state: what can be computed anew
  Overlay overlay;
  Script script;
  std::string copied;               // what was copied last
  bool copy_due = false;            // and has not reached the clipboard yet
  bool paste_due = false;           // what is on the clipboard goes into the field
  std::optional<std::size_t> tour;  // which step of it is shown
  bool tour_seen = false;
  // What is remembered from one day to the next and is no choice, as lists of lines by name:
  // expressions that were entered, progress in lessons. Workspaces keep them.
  std::map<std::string, std::vector<std::string>> kept;
  std::string atoms;     // whose atoms the outline lists: "SM80"; empty: none's
  bool playing = false;  // the derivation, a step at a time
  double played = 0;     // seconds since the step that is shown

  // What the platform has room for, in percent: smaller windows lay out less than their letters
  // ask.
  int letters_room = WindowSettings::most_font;
  int parts_due = 0;  // by how many parts of the window the keyboard goes on: `part next`

  double pending_zoom = 1;  // by `zoom in` and `zoom out`, applied by the next picture

  std::shared_ptr<const LessonIndex> shelf;  // all lessons, once asked for
  LessonState lesson;                        // answer and hints of the open step: lesson_state()
  CourseState course;                        // exercises: their files, hints, verdicts
  LessonProgress progress;
  bool progress_told = false;  // that it cannot be kept was said, and is still so

  EditState edit;  // a kernel's source, and what the compiler makes of it
  std::optional<PendingSeek> seek;
  bool running = false;                     // a run was started and its result not yet taken
  std::optional<Error> run_error;           // why the last run could not be done at all
  ViewName view_at_run = ViewName::kernel;  // that was open when it was started
  // The machine stands where its run ended, and nobody asked for that: moment_to_see() leads on.
  bool stands_at_end = false;
  mutable KernelPage page;  // no state: what can be read out of the run anew
  // Whether times are told. Pictures for comparison leave them out: they differ from run to run.
  bool show_times = true;

  const Theme& theme() const { return state.dark ? dark_theme() : light_theme(); }
};

// What the layout view is drawn from: choices and pointer together.
LayoutChoice layout_choice(const Session& session);
// The same for the difference. In the window the inspector tells the selected element's provenance;
// a picture that is alone has it beside the element.
DiffChoice diff_choice(const Session& session, bool stands_alone);

// Why there is nothing in the open view.
std::optional<Emptiness> emptiness(const Session& session);

// The view that is open as a scene of this size; empty() views give a scene with only their
// paper. The frame used is kept for hit tests.
struct Picture {
  Scene scene;
  std::optional<Frame> layout;
  std::optional<DiffFrame> diff;
  std::optional<HistogramFrame> histogram;
  std::optional<MatricesFrame> matrices;
  std::optional<TimelineFrame> timeline;
  std::optional<TheatreFrame> theatre;
  std::optional<WhyFrame> why;
  std::optional<ProductFrame> product;
  std::optional<TimelineFrame> timeline_above;  // the baseline's, where it is drawn
  std::optional<MemoryFrame> memory;
  std::optional<TensorFrame> tensor;
  std::optional<AccumulatorFrame> accumulator;  // over the list of registers
  std::optional<double> scroll;                 // of a list: how many pixels it can be scrolled
  Box beside;                                   // a second list, scrolled by itself
  double scroll_beside = 0;
};
Picture picture(Session& session, Size size, double pixel_scale = 1, bool stands_alone = false);

// The view that is open at its natural size, for a file.
Scene export_scene(const Session& session);

// What is under a point of the picture becomes the hover; true if that changed anything.
bool point_at(Session& session, const Picture& picture, std::optional<Point> at);
// Whether what is at a point is zoomed and dragged; else it is a list, which is scrolled.
bool is_zoomed_at(const Picture& picture, Point at);
// Zoom at a point by a factor, and drag, in the view that is open.
void zoom_view(Session& session, const Picture& picture, Point at, double factor);
// `at`: where, of a view whose parts are scrolled each by itself.
void pan_view(Session& session, const Picture& picture, double dx, double dy,
              std::optional<Point> at = {});
// A list is scrolled by notches of a wheel; of two the one under the pointer.
void scroll_view(Session& session, const Picture& picture, double notches,
                 std::optional<Point> at = {});
// Shows all of the view again.
void fit_view(Session& session);

// Forgets pointer, zoom and what was painted: another view has taken their place.
void forget_passing(Session& session);

// Takes the result of a run that has finished since; true if there was one.
bool take_result(Session& session, Backend& backend);

}  // namespace tilescope
