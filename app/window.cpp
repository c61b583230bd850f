#include "app/window.h"

#include <backends/imgui_impl_opengl3.h>

#include <GL/gl.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "app/lesson_store.h"
#include "viz/commands/commands.h"
#include "viz/commands/script.h"
#include "viz/scene/command_text.h"
#include "viz/session/seek.h"
#include "viz/ui/keys.h"
#include "viz/ui/scale.h"

namespace tilescope {

Outcome<std::unique_ptr<Stage>> Stage::set_up() {
  Outcome<Asset> sans = load_asset("font/DejaVuSans.ttf");
  Outcome<Asset> bold = load_asset("font/DejaVuSans-Bold.ttf");
  Outcome<Asset> mono = load_asset("font/DejaVuSansMono.ttf");
  for (const Outcome<Asset>* font : {&sans, &bold, &mono}) {
    if (!*font) return font->error();
  }
  std::unique_ptr<Stage> stage(new Stage(std::move(*sans), std::move(*bold), std::move(*mono)));
  stage->draws_ = ImGui_ImplOpenGL3_Init("#version 330 core");
  if (!stage->draws_) {
    return Error{ErrorKind::no_device,
                 "The window needs OpenGL 3.3 by libGL.so.1, which is missing here or offers less. "
                 "Debian's libgl1 and libgl1-mesa-dri bring both, without a GPU too.",
                 ""};
  }
  return stage;
}

Stage::Stage(Asset sans, Asset bold, Asset mono)
    : sans_(std::move(sans)), bold_(std::move(bold)), mono_(std::move(mono)) {
  ImGui::CreateContext();
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;  // the window keeps no file of its own
  ui::install_key_map(io);
  fonts_ = ui::add_fonts(*io.Fonts, {sans_.bytes(), bold_.bytes(), mono_.bytes()});
  ui_ = std::make_unique<ui::WindowUi>(fonts_, textures_);
}

Stage::~Stage() {
  ui_.reset();  // its textures go while the context is there
  if (draws_) ImGui_ImplOpenGL3_Shutdown();
  ImGui::DestroyContext();
}

std::optional<Error> Stage::do_to_the_end(std::string_view command) {
  const Outcome<std::string> answer = execute(session_, workshop_, command);
  if (!answer) return answer.error();
  ui::exchange_clipboard(session_, workshop_);  // what is pasted may run something
  // Runs, and what waits for them.
  const auto goes_on = [&] {
    return busy(session_) || session_.course.check || !session_.script.lines.empty();
  };
  if (!goes_on()) return {};
  while (goes_on()) {
    if (session_.edit.building) {
      workshop_.wait_build();
      take_build(session_, workshop_);
    } else if (!busy(session_) && session_.course.check) {
      workshop_.wait_check();
      take_check(session_, workshop_);
    }
    finish_commands(session_, workshop_);
  }
  if (!session_.message.failed) return {};
  // Of a text that does not compile the view shows what is wrong.
  if (session_.edit.failed) return {};
  // A run that ended badly: the result says how.
  const RunResult* result = session_.state.result.get();
  if (result && result->end == RunResult::End::fault) {
    return Error{ErrorKind::fault, session_.message.text,
                 result->reports.empty() ? "" : text(result->reports.back().site)};
  }
  return session_.run_error;  // nothing where elements differ: that is what the view shows
}

std::optional<Error> Stage::wrong_text() const {
  if (!session_.edit.failed) return {};
  return Error{ErrorKind::unsupported, what_is_wrong(*session_.edit.failed),
               session_.edit.failed->file};
}

// A window goes on where its user left the lessons; a picture is of nobody in particular.
void Stage::take_up_progress() {
  Outcome<TakenUp> taken = tilescope::take_up_progress();
  if (taken) {
    session_.progress = std::move(taken->progress);
    news_ = std::move(taken->news);
    workshop_.keep_progress_on_disk();
  } else {
    news_ = fmt::format("{} ({})", taken.error().sentence, taken.error().where);
  }
}

void Stage::tell_news() {
  if (!news_.empty()) session_.message = {news_, true};
}

namespace {

// Commands about a layout have the example. Who opens something, or only says how the window looks,
// begins with an empty one.
bool wants_example(const std::vector<std::string>& lines) {
  constexpr std::string_view opens[] = {"open", "lesson", "course", "compare"};
  constexpr std::string_view looks[] = {"theme", "font", "tour", "palette", "commands", "panel"};
  bool wants = false;
  for (const std::string& line : lines) {
    const auto commands = split_commands(line);
    if (!commands) return false;
    for (const std::string& command : *commands) {
      const std::string_view word = first_word(command).first;
      if (std::find(std::begin(opens), std::end(opens), word) != std::end(opens)) return false;
      wants = wants || std::find(std::begin(looks), std::end(looks), word) == std::end(looks);
    }
  }
  return wants;
}

}  // namespace

std::optional<Error> Stage::begin(const GuiOptions& options) {
  session_.state.dark = options.dark;
  session_.letters_room = ui::percent_with_room(
      {static_cast<float>(options.width), static_cast<float>(options.height)}, density_);
  (void)shelf_of(session_, workshop_);
  if (!options.headless) take_up_progress();
  std::string first = options.open;
  if (first.empty() && wants_example(options.commands)) first = "preset 9x32";
  if (!first.empty()) {
    if (auto error = do_to_the_end("open " + first)) return error;
  }
  session_.past.clear();  // undo begins with what was opened
  for (const std::string& line : options.commands) {
    const auto commands = split_commands(line);
    if (!commands) return commands.error();
    for (const std::string& command : *commands) {
      const auto error = do_to_the_end(command);
      if (!error) continue;
      if (error->kind == ErrorKind::fault) {
        fault_ = error;
        continue;
      }
      // What is refused for a text that does not compile has that as its picture.
      const auto wrong = wrong_text();
      if (!wrong || wrong->sentence != error->sentence) return error;
      tell_news();
      return {};
    }
  }
  tell_news();
  return {};
}

namespace {

// Fills the window's large plain areas by clearing, from top-left display coordinates.
void fill(const std::vector<ui::Backdrop>& backdrops) {
  const ImGuiIO& io = ImGui::GetIO();
  const float sx = io.DisplayFramebufferScale.x, sy = io.DisplayFramebufferScale.y;
  glEnable(GL_SCISSOR_TEST);
  for (const ui::Backdrop& part : backdrops) {
    const Rgba c = part.colour;
    glScissor(static_cast<GLint>(std::lround(part.at.x * sx)),
              static_cast<GLint>(std::lround((io.DisplaySize.y - part.at.y - part.size.y) * sy)),
              static_cast<GLint>(std::lround(part.size.x * sx)),
              static_cast<GLint>(std::lround(part.size.y * sy)));
    glClearColor(c.r / 255.0f, c.g / 255.0f, c.b / 255.0f, 1);
    glClear(GL_COLOR_BUFFER_BIT);
  }
  glDisable(GL_SCISSOR_TEST);
}

}  // namespace

// Letters are drawn anew where their size on the display has changed.
void Stage::fit_letters(float scale) {
  if (scale == fonts_.scale) return;
  ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
  ImGui_ImplOpenGL3_DestroyFontsTexture();
  atlas.Clear();
  fonts_ = ui::add_fonts(atlas, {sans_.bytes(), bold_.bytes(), mono_.bytes()}, scale);
  ImGui_ImplOpenGL3_CreateFontsTexture();
}

bool Stage::frame() {
  ImGuiIO& io = ImGui::GetIO();
  session_.letters_room = ui::percent_with_room(io.DisplaySize, density_);
  ui::scale_display(io, ui::scale_with_room(io, density_, session_.state.settings.font));
  fit_letters(io.DisplayFramebufferScale.x);
  ImGui_ImplOpenGL3_NewFrame();
  ImGui::NewFrame();
  ui_->draw(session_, workshop_);
  ImGui::Render();
  ui::snap_to_pixels(*ImGui::GetDrawData());
  fill(ui_->backdrops());
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  return ui_->perform(session_, workshop_);
}

}  // namespace tilescope
