// The rows of the table of views, each in a file view_NAME.cpp.
#pragma once

#include "viz/session/views.h"

namespace tilescope {

extern const View grid_view, banks_view, sectors_view, bits_view, lower_view;
extern const View course_view;
extern const View kernel_view;
extern const View theatre_view, timeline_view, why_view, handoffs_view, product_view;
extern const View source_view, registers_view, barriers_view, memory_view, tmem_view;
extern const View matrices_view, difference_view;
extern const View compare_view;

}  // namespace tilescope
