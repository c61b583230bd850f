// Threads that read stages themselves, by ldmatrix or ld.shared for mma.sync: who takes the place
// of the tensor core, whose products of that kind a record does not have.
#include <fmt/format.h>

#include "viz/scene/items.h"
#include "viz/theatre/theatre_painter.h"

namespace tilescope {

void TheatrePainter::draw_readers(const Box& box, std::uint8_t rank) {
  std::string reads;
  for (std::size_t i = 0; i < p_.stages.size(); ++i) {
    const TheatreStage& now = s_.now.stages[i];
    const auto from = boxes_.find(i);
    if (p_.stages[i].rank != rank || now.state != TheatreStage::State::read || !now.filling ||
        from == boxes_.end()) {
      continue;
    }
    const Rgba colour = step_colour(now.filling->step, s_.theme);
    link({from->second.right(), from->second.centre().y}, {box.x, box.centre().y}, colour);
    reads += fmt::format("{}{}", reads.empty() ? "" : ", ", now.filling->step);
  }
  const bool idle = reads.empty();
  scene_.add(Rectangle{box, Ink(Role::panel), {idle ? Role::line : Role::text, 1, false}, 3});
  const double x = box.centre().x;
  scene_.add(words({x, box.y + 16}, "Threads", Across::centre, FontWeight::bold, Role::text));
  const std::string what = idle ? "idle" : fmt::format("read k{}", reads);
  scene_.add(words({x, box.y + 38}, fitted(what, box.width - 8, small_text, Family::sans),
                   Across::centre, FontWeight::regular, idle ? Role::quiet : Role::text));
  scene_.hints.push_back({box, "threads, by loads from shared memory: " + what});
}

}  // namespace tilescope
