// A record's timeline as a page: one HTML file with all that it needs, which asks no network, for a
// browser or a notebook. What it looks like is assets/page/; its data are
// viz/timeline/timeline_data.h.
#pragma once

#include <cstddef>
#include <string>

#include "core/error.h"
#include "core/record/record.h"
#include "viz/timeline/timeline_data.h"

namespace tilescope {

struct TimelinePage {
  std::string html;
  double height = 0;  // pixels in which all rows that are open at first are seen
};

// `theme`: light, dark, or auto, that of the notebook or the system. `most`: events; of more, what
// is short is taken together. Refused: another theme, an asset that cannot be read.
Outcome<TimelinePage> timeline_page(const sim::Record& record, const std::string& theme = "auto",
                                    std::size_t most = most_data_events);

}  // namespace tilescope
