#include "core/run/modules.h"

#include <utility>

namespace tilescope {

Outcome<ptx::Module> module_of(Program program) {
  std::vector<ptx::Source> sources;
  sources.push_back({std::move(program.name), std::move(program.ptx)});
  for (Program& other : program.linked) {
    sources.push_back({std::move(other.name), std::move(other.ptx)});
  }
  return ptx::parse_modules(std::move(sources));
}

}  // namespace tilescope
