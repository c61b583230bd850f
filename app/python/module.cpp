// The extension of the Python package: tilescope/__init__.py gives its names on.
#include <nanobind/nanobind.h>

#include "app/python/values.h"

NB_MODULE(_tilescope, module) {
  using namespace tilescope::python;
  // What somebody's global variable holds when Python ends is no leak.
  nb::set_leak_warnings(false);
  module.doc() = "Layouts, pictures and the simulator of Tilescope.";
  module.attr("__version__") = TILESCOPE_VERSION;
  define_errors(module);
  define_values(module);
  define_functions(module);
  define_pictures(module);
  define_launches(module);
  define_kernels(module);
  define_devices(module);
}
