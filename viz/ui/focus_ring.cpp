#include "viz/ui/focus_ring.h"

#include <imgui_internal.h>

#include <iterator>
#include <map>

#include "viz/ui/keys.h"

namespace tilescope::ui {

bool FocusRing::add(bool text_field) {
  const ImGuiID id = ImGui::GetItemID();
  targets_.push_back({id, ImGui::GetCurrentWindow(), ImGui::GetItemRectMin(),
                      ImGui::GetItemRectMax(), text_field, part_});
  if (ImGui::IsItemActive() && at_ != id) at_ = id;  // clicked
  return shown_ && at_ == id;
}

// A list scrolls so that the target is seen; a field begins to take text.
void FocusRing::go_to(const Target& target) {
  ImGui::ClearActiveID();
  at_ = target.id;
  shown_ = true;
  auto* window = static_cast<ImGuiWindow*>(target.window);
  ImGui::ScrollToBringRectIntoView(window, ImRect(target.low, target.high));
  if (!target.text_field) return;
  ImGuiContext& context = *ImGui::GetCurrentContext();
  ImGui::FocusWindow(window);
  context.NavNextActivateId = target.id;
  context.NavNextActivateFlags = ImGuiActivateFlags_PreferInput;
}

void FocusRing::take() {
  if (targets_.empty()) return;
  ImGui::ClearActiveID();
  at_ = targets_.back().id;
  shown_ = true;
}

void FocusRing::go_on(int parts) {
  std::map<int, const Target*> firsts;
  int here = -1;
  for (const Target& target : targets_) {
    firsts.emplace(target.part, &target);
    if (shown_ && target.id == at_) here = target.part;
  }
  if (firsts.empty()) return;
  // From nowhere the first part is the next one.
  const auto count = static_cast<int>(firsts.size());
  const auto found = firsts.find(here);
  int place = found == firsts.end() ? (parts > 0 ? -1 : count)
                                    : static_cast<int>(std::distance(firsts.begin(), found));
  place = ((place + parts) % count + count) % count;
  go_to(*std::next(firsts.begin(), place)->second);
}

bool FocusRing::move() {
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) shown_ = false;
  if (targets_.empty()) return false;
  const bool forward = pressed({Key::tab}, true), back = pressed({Key::tab, false, true}, true);
  std::size_t at = targets_.size();
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    if (targets_[i].id == at_) at = i;
  }
  if (forward || back) {
    const std::size_t count = targets_.size();
    const std::size_t first = forward ? 0 : count - 1;
    go_to(targets_[at == count ? first : (at + (forward ? 1 : count - 1)) % count]);
    return true;
  }
  const bool does = pressed({Key::enter}) || pressed({Key::space});
  if (!does || !shown_ || at == targets_.size() || targets_[at].text_field) return false;
  ImGui::GetCurrentContext()->NavNextActivateId = at_;
  ImGui::GetCurrentContext()->NavNextActivateFlags = ImGuiActivateFlags_None;
  return true;
}

}  // namespace tilescope::ui
