// A compilation in the background: a thread that waits for nvcc, so that the window does not.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/background.h"
#include "app/compiled_files.h"
#include "core/error.h"
#include "viz/machine/build.h"

namespace tilescope {

class BackgroundBuild : public Background<Outcome<std::shared_ptr<const Build>>> {
 public:
  using Result = Outcome<std::shared_ptr<const Build>>;

  // `wrong`: what is wrong with a text that compiles, if anything.
  using Check = std::function<std::optional<Error>(const std::shared_ptr<const Build>&)>;

  BackgroundBuild(std::string path, std::string architecture, Defines defines, Check wrong);
};

}  // namespace tilescope
