// The editor in the source view: what is edited and what can be done with it, the text, and what
// the compiler says of it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viz/session/build_scene.h"
#include "viz/ui/style.h"
#include "viz/ui/window_ui.h"

namespace tilescope::ui {
namespace {

constexpr float kHead = 48, kRow = 24, kEdge = 16;

std::vector<CodeMark> marks_of(const EditState& editing, const Build* build) {
  std::vector<CodeMark> out;
  if (!build) return out;
  const std::vector<std::string> lines = lines_of_text(editing.edit.text);
  for (const Complaint& each : build->complaints) {
    const auto line = line_now(*build, each, lines);
    if (!line) continue;
    const bool told = std::any_of(out.begin(), out.end(),
                                  [&](const CodeMark& mark) { return mark.line == *line; });
    if (told) continue;
    const bool warning = each.weight == Complaint::Weight::warning;
    out.push_back(
        {*line, (warning ? "warning: " : "") + each.text, each.weight == Complaint::Weight::error});
  }
  return out;
}

}  // namespace

void WindowUi::draw_edit_head(const Brush& brush, const Session& session, ImVec2 at, float width) {
  const EditState& editing = session.edit;
  brush.line(at.x, at.y + kHead - 1, at.x + width, at.y + kHead - 1);
  const SourceEdit& edit = editing.edit;
  float right = at.x + width - kEdge;
  struct Action {
    const char *words, *command;
    bool enabled, loud;
  };
  for (const Action& each : {Action{"Close", "edit off", true, false},
                             Action{"Rebuild", "rebuild", !editing.building, true},
                             Action{"Save", "save", edit.unsaved(), false},
                             Action{"Check", "course check", !session.course.check, false}}) {
    if (std::string_view(each.words) == "Check" && !edits_exercise(session)) continue;
    right -= button_width(brush, each.words);
    if (button(brush, each.command, each.words, {right, at.y + 8}, 0, each.enabled, each.loud)) {
      issue(each.command);
    }
    right -= 8;
  }
  const float room = right - 8 - (at.x + kEdge);
  ImFont* strong = fonts_.strong(TextSize::small);
  const std::string name = cut_in_the_middle(strong, edit.path, room * 0.6f);
  brush.text(at.x + kEdge, at.y + kHead / 2, strong, Role::text, name);
  const float used = text_width(strong, name) + 16;
  const std::string state = editing.building ? "is being compiled"
                            : edit.unsaved() ? "not saved"
                                             : "saved";
  cut_line(brush, at.x + kEdge + used, at.y + kHead / 2, std::max(0.0f, room - used),
           fonts_.words(TextSize::small), Role::quiet, state);
}

// Each with its place; a click leads there.
void WindowUi::draw_complaints(Brush brush, const Build& build,
                               const std::vector<std::string>& lines, ImVec2 at, ImVec2 size) {
  brush.line(at.x, at.y, at.x + size.x, at.y);
  begin_panel(brush, "complaints", {at.x, at.y + 1}, {size.x, size.y - 1});
  const ImVec2 head = ImGui::GetCursorScreenPos();
  brush.text(head.x + 8, head.y + 12, fonts_.strong(TextSize::small),
             build.compiled() ? Role::text : Role::wrong, heading_of(build));
  ImGui::Dummy({0, kRow});
  int number = 0;
  for (const Complaint& each : build.complaints) {
    ImGui::PushID(number++);
    const auto line = line_now(build, each, lines);
    const std::string words = (each.weight == Complaint::Weight::warning ? "warning, "
                               : each.weight == Complaint::Weight::note  ? "note, "
                                                                         : "") +
                              text(each);
    if (list_row(brush, "complaint", words, words, 0, false) && line) {
      issue(fmt::format("edit line {}", *line));
    }
    ImGui::PopID();
  }
  end_panel();
}

void WindowUi::draw_edit(const Brush& brush, Session& session, const Backend& backend, ImVec2 at,
                         ImVec2 size) {
  EditState& editing = session.edit;
  draw_edit_head(brush, session, at, size.x);
  float height = size.y - kHead;
  const Build* build = complained_of(session);
  if (build) {
    const float rows = 2 + static_cast<float>(std::min<std::size_t>(6, build->complaints.size()));
    const float list = std::min(std::round(height * 0.4f), rows * kRow);
    height -= list;
    draw_complaints(brush, *build, lines_of_text(editing.edit.text), {at.x, at.y + kHead + height},
                    {size.x, list});
  }
  // Opened, reverted, or written by another program.
  if (edited_ != editing.edit.path ||
      (code_.text != editing.edit.text && edit_given_ != editing.edit.text)) {
    code_.takes_keyboard = code_.active || edited_ != editing.edit.path;
    code_.text = edit_given_ = editing.edit.text;
    edited_ = editing.edit.path;
    ++code_.generation;
  }
  if (editing.edit.line) code_.go_to = editing.edit.line;
  editing.edit.line.reset();
  if (code_field(brush, code_, {at.x, at.y + kHead}, {size.x, std::max(1.0f, height)},
                 marks_of(editing, build))) {
    edit_given_ = code_.text;
    type_edit(session, backend, code_.text);
    changed_ = true;
  }
}

}  // namespace tilescope::ui
