#include "viz/scene/scene.h"

#include <atomic>

namespace tilescope {

std::uint64_t new_image_version() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace tilescope
