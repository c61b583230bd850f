// tilescope: see how GPU tensors are tiled and how a kernel really runs.
#include <fmt/format.h>

#include <exception>
#include <new>

#include "app/command_line.h"

int main(int argc, char** argv) {
  try {
    return tilescope::run_command_line(argc, argv);
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "tilescope: Not enough memory for what was asked; try smaller sizes.\n");
  } catch (const std::exception& unexpected) {
    fmt::print(stderr, "tilescope: Unexpected: {}. Please report it with the command line.\n",
               unexpected.what());
  }
  return 2;
}
