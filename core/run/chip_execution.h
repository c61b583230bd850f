// An execution on a real chip. It has a clock; who wrote a byte, and whether anybody did, it cannot
// tell: writer() answers nothing.
#pragma once

#include <optional>

#include "core/run/job.h"

namespace tilescope {

class ChipExecution : public Execution {
 public:
  // How long the kernel took by the chip's own clock; nothing before it has ended.
  virtual std::optional<double> seconds() const = 0;
};

}  // namespace tilescope
