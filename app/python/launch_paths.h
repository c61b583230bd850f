// Which files a launch is in, of what ts.run() is given.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

namespace tilescope::python {

struct LaunchPaths {
  std::string ptx, launch;
};

// Is it a path, and no kernel's name? A folder, a .toml or .ptx file, or what has a slash.
bool is_launch_path(const std::string& text);

// Of a folder, of a launch file with or without ptx=, of a PTX file with launch=; the words are
// taken. Refused: what is not there or could be several, and words that are none.
LaunchPaths launch_paths(const std::string& path, nanobind::dict words);

}  // namespace tilescope::python
