#include "viz/session/overlay.h"

namespace tilescope {

std::string_view name_of(Overlay::Kind kind) {
  switch (kind) {
    case Overlay::Kind::none:
      return "none";
    case Overlay::Kind::palette:
      return "palette";
    case Overlay::Kind::commands:
      return "commands";
    case Overlay::Kind::history:
      return "history";
    case Overlay::Kind::words:
      return "words";
  }
  return "";
}

}  // namespace tilescope
