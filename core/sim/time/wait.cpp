#include "core/sim/time/wait.h"

namespace tilescope::sim {

Stall stall_of(Wait wait) {
  switch (wait) {
    case Wait::none:
      return Stall::none;
    case Wait::barrier:
      return Stall::barrier;
    case Wait::mbarrier:
      return Stall::mbarrier;
    case Wait::group:
      return Stall::group;
    case Wait::products:
      return Stall::products;
    case Wait::columns:
      return Stall::columns;
    case Wait::registers:
      return Stall::registers;
    case Wait::cluster:
      return Stall::cluster;
    case Wait::pair:
      return Stall::pair;
    case Wait::aligned:
    case Wait::others:
      break;
  }
  return Stall::siblings;
}

int for_siblings(Wait wait) {
  switch (wait) {
    case Wait::none:
      return -1;
    case Wait::barrier:
    case Wait::cluster:
      return 1;
    case Wait::others:
    case Wait::aligned:
      return 2;
    default:
      return 0;
  }
}

}  // namespace tilescope::sim
