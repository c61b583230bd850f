// tilescope gui, and tilescope alone.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "app/gui.h"
#include "app/window_backend.h"
#include "viz/commands/link.h"

namespace tilescope {
namespace {

constexpr int kLeast = 64, kMost = 16384;  // pixels; software OpenGL's largest surface

std::optional<Error> read_size(const std::string& text, GuiOptions& out) {
  int width = 0, height = 0;
  char rest = 0;
  if (std::sscanf(text.c_str(), "%dx%d%c", &width, &height, &rest) != 2 || width < kLeast ||
      height < kLeast || width > kMost || height > kMost) {
    return Error{ErrorKind::usage,
                 fmt::format("--size is WIDTHxHEIGHT in pixels, each from {} to {}, such as "
                             "1600x1000; `{}` is not.",
                             kLeast, kMost, text),
                 ""};
  }
  out.width = width;
  out.height = height;
  return {};
}

int run_gui(GuiOptions options, const std::string& size, const std::string& theme,
            Terminal& terminal) {
  if (auto error = read_size(size, options)) return terminal.fail(*error);
  if (theme != "light" && theme != "dark") {
    return terminal.fail(
        {ErrorKind::usage, fmt::format("There is no theme `{}`: light or dark.", theme), ""});
  }
  options.dark = theme == "dark";
  // Before there is a window: who clicks on a link that leads nowhere sees none flash up.
  if (has_scheme(options.open)) {
    Session beside;
    const AppBackend backend;
    const auto command = command_of_link(beside, backend, options.open);
    if (!command) return terminal.fail(command.error());
  }
  const bool files = !options.screenshot.empty() || !options.describe.empty();
  if (files && !options.headless) {
    return terminal.fail({ErrorKind::usage,
                          "--screenshot and --describe are made without a window: add --headless.",
                          ""});
  }
  return options.headless ? draw_headless(options, terminal) : open_window(options, terminal);
}

}  // namespace

Action define_gui(CommandOptions& app) {
  struct Parsed {
    GuiOptions gui;
    std::string size = "1600x1000", theme = "light";
  };
  const auto parsed = std::make_shared<Parsed>();
  app.add_option("--open", parsed->gui.open,
                 "what is open at first: `layout EXPR`, `preset NAME`, a kernel, or a link "
                 "(tilescope://lesson/layouts/3)")
      .type_name("WHAT");
  app.add_option("--do", parsed->gui.commands,
                 "window commands, separated by `;`; `tilescope list commands`")
      .type_name("COMMANDS")
      .repeated();
  app.add_flag("--headless", parsed->gui.headless, "draw without a display");
  app.add_option("--screenshot", parsed->gui.screenshot, "where the picture of the window goes")
      .type_name("F.png");
  app.add_option("--describe", parsed->gui.describe,
                 "where every shown label and value goes, as JSON")
      .type_name("F.json");
  app.add_option("--size", parsed->size, "size of the window (default 1600x1000)").type_name("WxH");
  app.add_option("--theme", parsed->theme, "default: light").type_name("light|dark");
  app.add_option("--frames", parsed->gui.frames, "draw so many frames and say how long they took")
      .hidden();
  return [parsed](Terminal& terminal) {
    return run_gui(parsed->gui, parsed->size, parsed->theme, terminal);
  };
}

int open_window_or_explain(Terminal& terminal) {
  if (has_display()) return open_window(GuiOptions{}, terminal);
  const std::vector<std::string> commands = {
      "tilescope eval 'zipped_divide((9,(4,8)):(59,(13,1)), <3:3,(2,4):(1,8)>)'",
      "tilescope draw 'preset 9x32' -o tiles.svg", "tilescope run elementwise_add --m 300 --n 200"};
  terminal.print(
      "Tilescope shows how tensors are cut into tiles and how a kernel really runs. There is no "
      "display\nfor its window here; these work without one:\n\n");
  for (const std::string& command : commands) terminal.print("  " + command + "\n");
  if (terminal.json()) terminal.document({{"commands", commands}});
  return 0;
}

}  // namespace tilescope
