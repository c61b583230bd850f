#include "app/key_queue.h"

#include <backends/imgui_impl_glfw.h>

#include <algorithm>
#include <vector>

namespace tilescope {

KeyQueue::KeyQueue(GLFWwindow* window) : window_(window) {
  glfwSetWindowUserPointer(window, this);
  glfwSetKeyCallback(window, [](GLFWwindow* w, int key, int scancode, int action, int modifiers) {
    static_cast<KeyQueue*>(glfwGetWindowUserPointer(w))
        ->waiting_.push_back(KeyEvent{key, scancode, action, modifiers});
  });
  glfwSetCharCallback(window, [](GLFWwindow* w, unsigned code) {
    static_cast<KeyQueue*>(glfwGetWindowUserPointer(w))->waiting_.push_back(Character{code});
  });
}

bool KeyQueue::deliver() {
  std::vector<int> changed;
  while (!waiting_.empty()) {
    if (const KeyEvent* event = std::get_if<KeyEvent>(&waiting_.front())) {
      if (std::find(changed.begin(), changed.end(), event->key) != changed.end()) return true;
      // What is released after something was pressed waits too: Ctrl must still be down for the A
      // of Ctrl+A.
      if (event->action == GLFW_RELEASE && !changed.empty()) return true;
      if (event->action != GLFW_REPEAT) changed.push_back(event->key);
      ImGui_ImplGlfw_KeyCallback(window_, event->key, event->scancode, event->action,
                                 event->modifiers);
    } else {
      ImGui_ImplGlfw_CharCallback(window_, std::get<Character>(waiting_.front()).code);
    }
    waiting_.pop_front();
  }
  return false;
}

}  // namespace tilescope
