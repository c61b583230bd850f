// Pictures of the window without a display, and what they show as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <vector>

#include "app/files.h"
#include "app/offscreen.h"
#include "app/picture_png.h"
#include "app/window.h"
#include "viz/commands/describe_window.h"
#include "viz/session/panels.h"

namespace tilescope {
namespace {

constexpr int kSettle = 3;  // frames until Dear ImGui has laid everything out

void draw_frame(Stage& stage, const GuiOptions& options) {
  ImGuiIO& io = ImGui::GetIO();
  io.DisplaySize = {static_cast<float>(options.width), static_cast<float>(options.height)};
  io.DisplayFramebufferScale = {1, 1};
  io.DeltaTime = 1.0f / 60;
  stage.frame();
}

// How long a frame takes from its begin until its last pixel, over `frames` of them.
void time_frames(Stage& stage, const Offscreen& surface, const GuiOptions& options,
                 Terminal& terminal) {
  std::vector<double> times;
  for (int i = 0; i < options.frames; ++i) {
    // The pointer wanders over the view, so that every frame has something new to light.
    const ImVec2 origin = stage.window().view_origin();
    ImGui::GetIO().MousePos = {origin.x + 100 + static_cast<float>(i % 400),
                               origin.y + 150 + static_cast<float>(i % 300)};
    const auto begun = std::chrono::steady_clock::now();
    draw_frame(stage, options);
    surface.finish();
    times.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begun)
            .count());
  }
  std::sort(times.begin(), times.end());
  terminal.print(
      fmt::format("{} frames of {}x{}: median {:.2f} ms, 99% {:.2f} ms, most {:.2f} ms\n",
                  times.size(), options.width, options.height, times[times.size() / 2],
                  times[times.size() * 99 / 100], times.back()));
}

std::optional<Error> write_results(Stage& stage, const Offscreen& surface,
                                   const GuiOptions& options) {
  if (!options.screenshot.empty()) {
    const auto png = png_of(surface.read());
    if (!png) return png.error();
    if (auto error = write_file(options.screenshot, std::span<const std::byte>(*png))) return error;
  }
  if (options.describe.empty()) return {};
  const auto replace = Json::error_handler_t::replace;
  const std::string json = describe(stage.session(), stage.backend(), stage.window().picture())
                               .dump(1, ' ', false, replace);
  return write_file(options.describe, std::string_view(json + "\n"));
}

}  // namespace

int draw_headless(const GuiOptions& options, Terminal& terminal) {
  const auto surface = Offscreen::open(options.width, options.height);
  if (!surface) return terminal.fail(surface.error());
  const auto stage = Stage::set_up();
  if (!stage) return terminal.fail(stage.error());
  (*stage)->session().show_times = false;
  if (const auto error = (*stage)->begin(options)) return terminal.fail(*error);
  for (int i = 0; i < kSettle; ++i) draw_frame(**stage, options);
  (*surface)->finish();
  if (const auto error = write_results(**stage, **surface, options)) return terminal.fail(*error);
  // The picture shows it, and the exit code says so.
  if (const auto error = (*stage)->wrong_text()) return terminal.fail(*error);
  if (const auto& error = (*stage)->fault()) return terminal.fail(*error);
  if (options.frames > 0) time_frames(**stage, **surface, options, terminal);
  return 0;
}

}  // namespace tilescope
