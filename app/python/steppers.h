// Going through a run in both directions, and what a CTA's memory held at a time: the machine of
// the window (core/sim/stepping), for Python.
#pragma once

#include <nanobind/nanobind.h>

#include "app/python/settings.h"

namespace tilescope::python {

// The classes Stepper, Where and BlockMemory.
void define_steppers(nb::module_& module);
// Run.step(), Run.memory(), Run.window().
void define_stepping_methods(nb::class_<Run>& run);

}  // namespace tilescope::python
