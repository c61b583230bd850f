// What is told of a fault or a hazard: words for its kind, the report under a view, and the marks
// on those who have a part in it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "viz/machine/machine_scene.h"
#include "viz/scene/view_name.h"

namespace tilescope {

// A kind of finding: its title, and the view that explains it.
struct Finding {
  std::string_view name;
  std::string_view title;
  // Where the places of a report do not say it.
  std::optional<ViewName> view = {};
  // Where somebody waited, but not for this: that wait says more than what they meet in.
  bool by_wait = false;
};
// Null: a kind that is not known, as of a newer record.
const Finding* finding_of(const Report& report);

// The buffer that a place of global memory is in, and its element there.
struct GlobalElement {
  std::size_t buffer = 0;
  std::int64_t row = 0, column = 0;
};
std::optional<GlobalElement> element_at(const Evidence::Place& place, const sim::Machine& machine);

// What has happened, in a few words: "An operation in flight still uses these bytes".
std::string_view title_of(const Report& report);
// "bytes 0 to 31 of shared memory, block 2"; empty where it is of no place.
std::string place_words(const Evidence::Place& place, const sim::Machine& machine);

// Under a view of the machine: what the report that is looked at tells, and those who have a part
// in it, each with the number that marks it in the view. How high it is; 0 where there is none.
double report_height(const LiveRun& run, const RunCursor& spot, double width);
void draw_report(Scene& scene, const LiveRun& run, const RunCursor& spot, const Box& room);

// Marks of those who have a part in it: the first one's red, the others' as text is, dashed where
// it is an operation in flight.
Stroke stroke_of_party(const Evidence& evidence, std::size_t party);
// The number of a party, in the corner of what it marks.
void draw_party_number(Scene& scene, std::size_t party, Point corner);

}  // namespace tilescope
