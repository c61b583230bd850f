// The keyboard's way to every target: Tab and Shift+Tab go round them in the order in which they
// are drawn, a frame in the accent says where we are, Enter or Space does what a click does.
//
// A widget that can be clicked calls add() right after its item; the frame ends with move(). What
// is over the window calls restart() first, so that only its own targets are reached. Dear
// ImGui's own keyboard navigation is off: it reaches only fields by Tab, and takes the arrows,
// which move the selection here.
#pragma once

#include <imgui.h>

#include <vector>

namespace tilescope::ui {

class FocusRing {
 public:
  struct Target {
    ImGuiID id = 0;
    void* window = nullptr;  // ImGuiWindow
    ImVec2 low, high;
    bool text_field = false;
    int part = 0;
  };

  void begin_frame() { targets_.clear(); }
  void restart() { targets_.clear(); }
  // What is added from here on belongs to this part of the window; parts are numbered in the order
  // in which the keyboard goes through them.
  void part(int number) { part_ = number; }
  // The keyboard goes on by so many parts, to the first target of that one. After the last target.
  void go_on(int parts);
  // The item that was just drawn is a target; true if it is where the keyboard is.
  bool add(bool text_field = false);
  // The keyboard goes to the target that was added last, as if Tab had brought it there.
  void take();
  // After the last one: does what Tab, Enter and Space ask for. True if another frame is due.
  bool move();

  // For tests: what could be clicked in the last frame, and where.
  const std::vector<Target>& targets() const { return targets_; }

 private:
  void go_to(const Target& target);

  std::vector<Target> targets_;
  ImGuiID at_ = 0;
  int part_ = 0;
  bool shown_ = false;  // not while the mouse is used
};

}  // namespace tilescope::ui
