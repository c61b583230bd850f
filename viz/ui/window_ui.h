// The whole window in Dear ImGui: top line, outline, view, inspector, strip, status.
//
// draw() reads the session and puts what the reader did into a list of intents; perform() carries
// them out after the frame. So a frame shows one state, and the state changes only through commands
// and through the few things that are no choices: pointer, zoom, panel widths.
#pragma once

#include <imgui.h>

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "viz/commands/overlay_sheets.h"
#include "viz/session/lesson_panel.h"
#include "viz/session/panels.h"
#include "viz/session/session.h"
#include "viz/ui/code_field.h"
#include "viz/ui/rich_text.h"
#include "viz/ui/scene_painter.h"
#include "viz/ui/widgets.h"

namespace tilescope::ui {

// The widths of panels while their edge is dragged; what they are otherwise is a choice.
struct Dragged {
  static constexpr float no = -1;
  float outline = no, inspector = no;
};

// A part of the display in one colour, under everything else. The platform fills these before it
// renders the frame: clearing costs a software renderer a tenth of what blending a rectangle does.
struct Backdrop {
  ImVec2 at, size;
  Rgba colour;
};

// What was copied goes to the platform's clipboard, and what is pasted comes from there.
void exchange_clipboard(Session& session, Backend& backend);

class WindowUi {
 public:
  WindowUi(const FontSet& fonts, Textures& textures) : fonts_(fonts), painter_(textures) {}

  // One frame over the whole display; between ImGui::NewFrame and ImGui::Render.
  void draw(Session& session, Backend& backend);
  // Carries out what the reader did in the frame; true if anything changed, so that another frame
  // is due.
  bool perform(Session& session, Backend& backend);

  const std::vector<Backdrop>& backdrops() const { return backdrops_; }

  // The view's place on the display and what was painted there, for tests and hit tests.
  ImVec2 view_origin() const { return view_origin_; }
  const Picture& picture() const { return picture_; }
  const FocusRing& ring() const { return ring_; }

 private:
  struct Intent {
    enum class Kind {
      command,
      typed,
      entered,
      palette_typed,
      palette_moved,
      palette_completed,
      palette_entered
    };
    Kind kind = Kind::command;
    std::string text;
    int number = 0;  // palette: how far the choice moves, or which entry was clicked (-1: Enter)
  };

  void issue(std::string command) {
    intents_.push_back({Intent::Kind::command, std::move(command), 0});
  }
  void back(ImVec2 at, ImVec2 size, Rgba colour) { backdrops_.push_back({at, size, colour}); }
  void draw_top(const Brush& brush, Session& session, const Backend& backend, ImVec2 at,
                ImVec2 size);
  void draw_field(const Brush& brush, Session& session, const Backend& backend, ImVec2 at,
                  float width);
  void draw_completions(const Brush& brush, Session& session);
  bool draw_signature(const Brush& brush, ImVec2 at, float width);
  static int edit(ImGuiInputTextCallbackData* data);
  void draw_problem(const Brush& brush, const Session& session, ImVec2 at, float width);
  void draw_outline(Brush brush, const Session& session, const Backend& backend, ImVec2 at,
                    ImVec2 size);
  void draw_inspector(Brush brush, const Session& session, ImVec2 at, ImVec2 size);
  // What is at the right: the inspector, or the lesson that is open (window_lesson.cpp).
  void draw_right(const Brush& brush, const Session& session, ImVec2 at, ImVec2 size);
  void draw_lesson(Brush brush, const Session& session, const LessonPanel& panel, ImVec2 at,
                   ImVec2 size);
  void draw_block(const Brush& brush, const Session& session, const LessonBlock& block,
                  KnownWords& known);
  void draw_picture_of_lesson(const Brush& brush, const Session& session, const LessonBlock& block);
  void draw_question(const Brush& brush, const Session& session, const LessonQuestion& question,
                     KnownWords& known);
  void draw_answer_field(const Brush& brush, const Session& session,
                         const LessonQuestion& question);
  void show_what_was_said(const LessonQuestion& question);
  void draw_exercises_of_lesson(const Brush& brush, const LessonPanel& panel);
  void draw_controls(const Brush& brush, const Session& session, ImVec2 at, float width);
  void draw_sizes(const Brush& brush, const Session& session, ImVec2 at);
  void draw_view(const Brush& brush, Session& session, const Backend& backend, ImVec2 at,
                 ImVec2 size);
  // The editor (window_edit.cpp).
  void draw_edit(const Brush& brush, Session& session, const Backend& backend, ImVec2 at,
                 ImVec2 size);
  void draw_edit_head(const Brush& brush, const Session& session, ImVec2 at, float width);
  void draw_complaints(Brush brush, const Build& build, const std::vector<std::string>& lines,
                       ImVec2 at, ImVec2 size);
  float draw_legend_button(const Brush& brush, const Session& session, ImVec2 end, float room);
  void draw_folded(const Brush& brush, const Choice& choice, ImVec2 at);
  void draw_menu(const Brush& brush);
  void draw_empty(const Brush& brush, const Emptiness& empty, ImVec2 at, ImVec2 size);
  void use_pointer(Session& session, ImVec2 at);
  void drag_range(Session& session, Point pointer, bool held);
  void drag_time(Session& session, Point pointer, Point from, bool held);
  void click(Session& session, Point at);
  void draw_strip(const Brush& brush, const Session& session, const Backend& backend, ImVec2 at,
                  ImVec2 size);
  void draw_status(const Brush& brush, const Session& session, ImVec2 at, ImVec2 size);
  void splitter(const Brush& brush, const char* panel, float x, float top, float height,
                float& dragged, bool shown, float direction);
  void draw_overlay(const Brush& brush, const Session& session, const Backend& backend);
  void draw_palette(Brush brush, const Session& session, const Backend& backend, ImVec2 room);
  void draw_palette_line(const Brush& brush, const Session& session, ImVec2 at, float width);
  void draw_sheet(Brush brush, const Sheet& sheet, ImVec2 room);
  void draw_tour(const Brush& brush, const Session& session);
  void use_shortcuts(const Session& session);

  // Where the parts of the window stood in this frame, by TourStep::Part.
  struct Part {
    ImVec2 at, size;
  };

  // The options of a choice that had no room beside each other, below what is chosen.
  struct Menu {
    Choice choice;
    ImVec2 at;
    bool placed = false;  // in this frame: the choice is still there and folded
    bool drawn = false;
  };

  const FontSet& fonts_;
  ScenePainter painter_;
  Dragged panels_;
  FocusRing ring_;
  std::array<Part, 5> parts_{};
  Picture picture_;
  ImVec2 view_origin_{};
  std::vector<Intent> intents_;
  std::vector<Backdrop> backdrops_;
  std::string field_text_;   // in the field now
  std::string field_shown_;  // the session's text that it was last filled with
  int field_generation_ = 0;
  CodeField code_;                   // the editor's text, of this file
  std::string edited_, edit_given_;  // and the text as the session had it last
  std::optional<Menu> menu_;         // that is open
  std::string atoms_shown_;          // whose atoms the outline listed last
  float problem_x_ = 0;              // where in the field the problem begins
  // What the field offers in this frame, where its list is, and what its keys did.
  Assistance offers_;
  ImVec2 list_at_{};
  std::size_t chosen_ = 0, caret_ = 0;
  int recall_ = 0;                         // -1: back, 1: forward, asked by Up and Down
  std::optional<std::size_t> accept_;      // a completion, asked by Tab
  std::optional<std::size_t> move_caret_;  // after the text was replaced while being typed in
  bool field_active_ = false;
  std::map<std::string, std::string> size_texts_;
  std::string palette_text_;
  int palette_generation_ = 0;
  int sheet_frames_ = 0;  // since the list appeared
  bool palette_active_ = false, palette_caret_to_end_ = false;
  std::size_t palette_chosen_ = 0;  // that was last scrolled to
  std::string answer_text_;         // in the exercise's field, which belongs to this sheet
  std::shared_ptr<const LessonPage> answered_sheet_;
  std::string said_;     // verdict and hints that were shown last
  bool toured_ = false;  // the tour was shown in the last frame
  bool changed_ = false;
  bool dragged_ = false;
  bool ranging_ = false;  // what is dragged is a stretch of the timeline
  bool timing_ = false;   // it is the moment, or what is seen of the run
};

}  // namespace tilescope::ui
