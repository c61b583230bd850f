// The window on a display, through GLFW. It sleeps until there is input or a run has news.
#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "app/key_queue.h"
#include "app/window.h"
#include "app/workspace_file.h"
#include "viz/commands/commands.h"
#include "viz/commands/script.h"
#include "viz/session/files.h"
#include "viz/ui/keys.h"

namespace tilescope {
namespace {

// What GLFW said last; its errors have no other way out.
std::string& glfw_words() {
  static std::string words;
  return words;
}

Error no_window(std::string_view what) {
  return {
      ErrorKind::no_device,
      fmt::format("The window cannot be opened: {}. Without a display, `tilescope gui --headless "
                  "--screenshot F.png` makes a picture of it.",
                  what),
      ""};
}

// GLFW and one window with a current context, closed in the right order.
class Display {
 public:
  static Outcome<std::unique_ptr<Display>> open(int width, int height) {
    glfwSetErrorCallback([](int, const char* words) { glfw_words() = words; });
    if (!glfwInit()) return no_window(glfw_words());
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
    // The size is meant in pixels of the usual density: on a display with twice as many to the inch
    // (Xft.dpi, Windows' scale) the window has twice as many, and as much in it.
    glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
    GLFWwindow* window = glfwCreateWindow(width, height, "Tilescope", nullptr, nullptr);
    if (!window) {
      glfwTerminate();
      return no_window(glfw_words());
    }
    glfwMakeContextCurrent(window);
    glfwSwapInterval(1);
    float x = 1, y = 1;
    glfwGetWindowContentScale(window, &x, &y);
    const auto scaled = [](int length, float scale) {
      return static_cast<int>(std::lround(static_cast<float>(length) * scale));
    };
    glfwSetWindowSizeLimits(window, scaled(800, x), scaled(500, y), GLFW_DONT_CARE, GLFW_DONT_CARE);
    return std::unique_ptr<Display>(new Display(window));
  }
  ~Display() {
    glfwDestroyWindow(window_);
    glfwTerminate();
  }
  GLFWwindow* window() const { return window_; }

 private:
  explicit Display(GLFWwindow* window) : window_(window) {}
  GLFWwindow* window_;
};

// Files that are open in another editor too are looked at about once a second; nothing is drawn for
// that. True: there may be something to draw.
bool sleep_a_second(const Stage& stage) {
  constexpr double second = 1, nearly = 0.95;
  const double begun = glfwGetTime();
  glfwWaitEventsTimeout(second);
  return glfwGetTime() - begun < nearly || stage.files_changed();
}

void sleep_until_news(const Stage& stage, bool running) {
  const bool caret = ImGui::GetIO().WantTextInput;  // it blinks
  if (running) {
    glfwWaitEventsTimeout(0.033);  // progress, some thirty times a second
  } else if (caret) {
    glfwWaitEventsTimeout(0.4);
  } else if (stage.watches_files()) {
    while (!sleep_a_second(stage)) {
    }
  } else {
    glfwWaitEvents();
  }
}

}  // namespace

// An empty variable names no display, as X11 and Wayland themselves have it.
bool has_display() {
  const auto named = [](const char* variable) {
    const char* value = std::getenv(variable);
    return value && *value;
  };
  return named("DISPLAY") || named("WAYLAND_DISPLAY");
}

namespace {

// A display with many pixels to the inch says how much larger things should be; some already count
// in larger pixels.
float density_of(GLFWwindow* window) {
  float x = 1, y = 1;
  int width = 1, height = 1, pixels = 1, rows = 1;
  glfwGetWindowContentScale(window, &x, &y);
  glfwGetWindowSize(window, &width, &height);
  glfwGetFramebufferSize(window, &pixels, &rows);
  const float counted = width > 0 && pixels > 0 ? float(pixels) / float(width) : 1;
  return std::max(1.0f, x / counted);
}

}  // namespace

namespace {

// Files that were dropped on the window and are not opened yet.
std::vector<std::string>& dropped_files() {
  static std::vector<std::string> files;
  return files;
}

void take_drops(GLFWwindow* window) {
  glfwSetDropCallback(window, [](GLFWwindow*, int count, const char** paths) {
    dropped_files().assign(paths, paths + count);
  });
}

// True if there were any: they are opened like any command.
bool open_dropped(Stage& stage) {
  const std::vector<std::string> files = std::move(dropped_files());
  dropped_files().clear();
  if (files.empty()) return false;
  (void)start_script(stage.session(), stage.backend(), dropped(files));
  return true;
}

}  // namespace

int open_window(const GuiOptions& options, Terminal& terminal) {
  const auto display = Display::open(options.width, options.height);
  if (!display) return terminal.fail(display.error());
  GLFWwindow* window = (*display)->window();
  const auto stage = Stage::set_up();
  if (!stage) return terminal.fail(stage.error());
  ImGui_ImplGlfw_InitForOpenGL(window, true);
  ui::install_key_map(ImGui::GetIO());
  KeyQueue keys(window);
  take_drops(window);
  Session& session = (*stage)->session();
  WorkspaceFile workspace;
  const bool keeps = options.frames == 0;
  // What was asked for in words is not overlaid by yesterday's view.
  const bool asked = !options.open.empty() || !options.commands.empty();
  if (keeps && asked) workspace.remember(session, (*stage)->backend());
  const std::optional<Error> error = (*stage)->begin(options);
  if (keeps && !asked && !error) {
    workspace.restore(session, (*stage)->backend());
    session.past.clear();
    // What went wrong is read first; the tour waits for another day.
    if (!session.tour_seen && !session.message.failed)
      (void)execute(session, (*stage)->backend(), "tour");
  }
  int frames_due = 3;  // Dear ImGui settles over a few frames
  for (int drawn = 0; !error && !glfwWindowShouldClose(window); ++drawn) {
    if (options.frames > 0 && drawn >= options.frames) break;
    if (frames_due > 0 || options.frames > 0) {
      glfwPollEvents();
    } else {
      const bool told = keeps && workspace.keep(session, (*stage)->backend());
      if (!told)
        sleep_until_news(**stage, session.running || session.playing || session.edit.building ||
                                      session.course.check);
      frames_due = 3;
    }
    const bool keys_left = keys.deliver();
    ImGui_ImplGlfw_NewFrame();
    (*stage)->set_density(density_of(window));
    const bool opened = open_dropped(**stage);
    const bool changed = (*stage)->frame() || opened;
    frames_due = changed || keys_left ? 3 : frames_due - 1;
    glfwSwapBuffers(window);
  }
  if (keeps && !error) (void)workspace.keep(session, (*stage)->backend());
  ImGui_ImplGlfw_Shutdown();
  return error ? terminal.fail(*error) : 0;
}

}  // namespace tilescope
