#include "app/builds.h"

#include <utility>

#include "app/compiler.h"

namespace tilescope {

BackgroundBuild::BackgroundBuild(std::string path, std::string architecture, Defines defines,
                                 Check wrong)
    : Background([path = std::move(path), architecture = std::move(architecture),
                  defines = std::move(defines),
                  wrong = std::move(wrong)](const KeepOn& keep_on) -> Result {
        Outcome<Build> build = compile(path, architecture, defines, keep_on);
        if (!build) return build.error();
        const auto made = std::make_shared<const Build>(std::move(*build));
        if (made->compiled()) {
          if (auto error = wrong(made)) return *error;
        }
        return std::shared_ptr<const Build>(made);
      }) {}

}  // namespace tilescope
