// The extension of the Python package: tilescope/__init__.py gives its names on.
#include <nanobind/nanobind.h>

#include "app/python/values.h"

NB_MODULE(_tilescope, module) {
  using namespace tilescope::python;
  module.doc() = "Layouts, pictures and the simulator of Tilescope.";
  module.attr("__version__") = TILESCOPE_VERSION;
  define_errors(module);
  define_values(module);
  define_functions(module);
  define_pictures(module);
  define_launches(module);
  define_kernels(module);
}
