// Keys from GLFW to Dear ImGui, at most one change of a key in a frame.
//
// Dear ImGui 1.86 looks at which keys are down once a frame, so a key that goes down and up between
// two frames (a slow frame, a script, a remote desktop) would never be seen. Here the second change
// waits for the next frame. Newer versions have such a queue of their own; this one does no harm.
#pragma once

#include <GLFW/glfw3.h>

#include <deque>
#include <variant>

namespace tilescope {

class KeyQueue {
 public:
  // Takes the window's key and character callbacks; Dear ImGui's own must not be installed for
  // them after this.
  explicit KeyQueue(GLFWwindow* window);

  // Hands on what may be seen in the coming frame; true if something is left for the next.
  bool deliver();

 private:
  struct KeyEvent {
    int key, scancode, action, modifiers;
  };
  struct Character {
    unsigned code;
  };

  GLFWwindow* window_;
  std::deque<std::variant<KeyEvent, Character>> waiting_;
};

}  // namespace tilescope
