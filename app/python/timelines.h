// A run's timeline and trace, as Run gives them: HTML for a notebook, a file for Perfetto.
#pragma once

#include <nanobind/nanobind.h>

#include "app/python/settings.h"

namespace tilescope::python {

// The class Timeline.
void define_timelines(nb::module_& module);
// Run.timeline(), Run.trace().
void define_timeline_methods(nb::class_<Run>& run);

}  // namespace tilescope::python
