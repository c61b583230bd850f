// What the window and a picture of it have in common: a session, its program, and Dear ImGui set up
// with our fonts. The platform (GLFW's window or an off-screen surface) is made before and goes
// after.
#pragma once

#include <imgui.h>

#include <memory>

#include "app/assets.h"
#include "app/gl_textures.h"
#include "app/gui.h"
#include "app/window_backend.h"
#include "core/error.h"
#include "viz/session/session.h"
#include "viz/ui/window_ui.h"

namespace tilescope {

class Stage {
 public:
  // Needs a current OpenGL context.
  static Outcome<std::unique_ptr<Stage>> set_up();
  ~Stage();
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  // Opens what the options ask for and does their commands, each to its end. Nothing where all
  // went well.
  std::optional<Error> begin(const GuiOptions& options);
  // The fault that a run among the commands ended with, if one did: the views show it, and the
  // commands behind it were done.
  const std::optional<Error>& fault() const { return fault_; }
  // Where the commands ended with a text that does not compile, which the view shows: what is
  // wrong.
  std::optional<Error> wrong_text() const;
  // What the user must hear of, though something else was said since: what became of the progress.
  void tell_news();
  // How many of the platform's pixels one of the window's takes at 100 %.
  void set_density(float density) { density_ = density; }
  // Lays out and draws one frame into the current context; the platform has said size and input.
  // True if another frame is due.
  bool frame();

  // Of the files that what is open was made from: whether there are any, and whether one of them is
  // another now than when the window looked last.
  bool watches_files() const {
    return !watched_files(session_).empty() || session_.state.view == ViewName::course;
  }
  bool files_changed() const { return tilescope::files_changed(session_, workshop_); }

  Session& session() { return session_; }
  Backend& backend() { return workshop_; }
  ui::WindowUi& window() { return *ui_; }

 private:
  Stage(Asset sans, Asset bold, Asset mono);
  void fit_letters(float scale);
  void take_up_progress();
  std::optional<Error> do_to_the_end(std::string_view command);

  Asset sans_, bold_, mono_;
  Session session_;
  AppBackend workshop_;
  std::optional<Error> fault_;
  ui::FontSet fonts_;
  std::string news_;
  float density_ = 1;
  GlTextures textures_;
  std::unique_ptr<ui::WindowUi> ui_;
  bool draws_ = false;  // OpenGL is there
};

}  // namespace tilescope
