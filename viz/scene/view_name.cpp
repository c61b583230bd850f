#include "viz/scene/view_name.h"

namespace tilescope {

bool shows_layout(ViewName view) {
  return view == ViewName::layout || view == ViewName::wavefronts || view == ViewName::sectors ||
         view == ViewName::bits;
}

bool shows_machine(ViewName view) {
  return view == ViewName::source || view == ViewName::registers || view == ViewName::barriers ||
         view == ViewName::memory || view == ViewName::tmem;
}

std::string_view name_of(ViewName view) {
  switch (view) {
    case ViewName::layout:
      return "layout";
    case ViewName::wavefronts:
      return "banks";
    case ViewName::sectors:
      return "sectors";
    case ViewName::bits:
      return "bits";
    case ViewName::matrices:
      return "matrices";
    case ViewName::diff:
      return "diff";
    case ViewName::timeline:
      return "timeline";
    case ViewName::source:
      return "source";
    case ViewName::registers:
      return "registers";
    case ViewName::barriers:
      return "barriers";
    case ViewName::memory:
      return "memory";
    case ViewName::tmem:
      return "tmem";
    case ViewName::compare:
      return "compare";
  }
  return "";
}

}  // namespace tilescope
