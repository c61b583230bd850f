// The tour: a frame round the part that a step is about, and beside it what there is to know.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viz/session/tour.h"
#include "viz/ui/style.h"
#include "viz/ui/window_ui.h"

namespace tilescope::ui {
namespace {

constexpr float kWidth = 360, kLeastWidth = 240, kPadding = 16, kGap = 12;

struct Area {
  ImVec2 at, size;
};

// As wide as the room beside a high part lets it be, so that it covers nothing of the part.
float width_beside(const Area& part, ImVec2 display) {
  if (part.size.y < display.y / 4) return std::min(kWidth, display.x - 16);
  const float beside = std::max(part.at.x, display.x - part.at.x - part.size.x) - 2 * kGap;
  return beside < kLeastWidth ? kWidth : std::min(kWidth, std::floor(beside));
}

// Beside the part where there is room: right of it, left of it, below it; else inside.
ImVec2 place_beside(const Area& part, ImVec2 size, ImVec2 display) {
  const float top = std::clamp(part.at.y, 8.0f, std::max(8.0f, display.y - size.y - 8));
  if (part.size.y < display.y / 4) {
    const float x = std::clamp(part.at.x, 8.0f, std::max(8.0f, display.x - size.x - 8));
    return {x, part.at.y + part.size.y + kGap};
  }
  if (part.at.x + part.size.x + kGap + size.x <= display.x) {
    return {part.at.x + part.size.x + kGap, top};
  }
  if (part.at.x - kGap - size.x >= 0) return {part.at.x - kGap - size.x, top};
  return {std::round(part.at.x + (part.size.x - size.x) / 2),
          std::round(part.at.y + part.size.y - size.y - 24)};
}

}  // namespace

void WindowUi::draw_tour(const Brush& window_brush, const Session& session) {
  const bool appears = !toured_;
  toured_ = session.tour && !session.overlay.open();
  if (!toured_) return;
  ring_.restart();  // Tab goes round its buttons, Enter does the one that has the frame: Next
  const std::size_t number = *session.tour;
  const TourStep& step = tour_steps()[number];
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  const Part& part = parts_[static_cast<std::size_t>(step.part)];
  ImFont* words = fonts_.words(TextSize::small);
  const float width = width_beside({part.at, part.size}, display);
  const float text_room = width - 2 * kPadding;
  const ImVec2 text = words->CalcTextSizeA(words->FontSize, 1e9f, text_room, step.text.data(),
                                           step.text.data() + step.text.size());
  const ImVec2 size{width, std::ceil(16 + 24 + text.y + 16 + button_height + 16)};
  const ImVec2 at = place_beside({part.at, part.size}, size, display);

  ImGui::SetNextWindowPos(at);
  ImGui::SetNextWindowSize(size);
  ImGui::Begin("tour", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBackground);
  ImGui::PushFont(words);
  Brush brush = window_brush;
  brush.list = ImGui::GetForegroundDrawList();
  brush.list->AddRect({part.at.x + 1, part.at.y + 1},
                      {part.at.x + part.size.x - 1, part.at.y + part.size.y - 1},
                      packed(brush.theme.accent), 4, 0, 2);
  brush.list = ImGui::GetWindowDrawList();
  brush.box(at.x, at.y, size.x, size.y, Role::paper, 8);
  brush.list->AddRect(at, {at.x + size.x, at.y + size.y}, packed(brush.theme.accent), 8);
  brush.text(at.x + kPadding, at.y + 24, fonts_.strong(TextSize::medium), Role::text,
             std::string(step.title));
  brush.list->AddText(words, words->FontSize, {at.x + kPadding, at.y + 40},
                      packed(Role::text, brush.theme), step.text.data(),
                      step.text.data() + step.text.size(), text_room);

  const float y = at.y + size.y - 16 - button_height;
  const std::size_t count = tour_steps().size();
  brush.text(at.x + kPadding, y + button_height / 2, words, Role::quiet,
             fmt::format("{} of {}", number + 1, count));
  const bool last = number + 1 == count;
  float x = at.x + size.x - kPadding;
  const auto from_right = [&](const char* label, const char* command, bool enabled, bool loud) {
    x -= button_width(brush, label);
    if (button(brush, command, label, {x, y}, 0, enabled, loud)) issue(command);
    x -= 8;
  };
  from_right(last ? "Done" : "Next", "tour next", true, true);
  if (appears) ring_.take();
  from_right("Back", "tour back", number > 0, false);
  if (!last) from_right("End", "tour end", true, false);
  ImGui::PopFont();
  ImGui::End();
}

}  // namespace tilescope::ui
