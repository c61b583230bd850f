// What is said of a timeline: an event's numbers, a range's totals, times.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/error.h"
#include "viz/scene/describe.h"
#include "viz/timeline/timeline_scene.h"
#include "viz/timeline/timeline_view.h"

namespace tilescope {

// "1,200 cycles", and as time: "612 ns"; empty where there is no time.
std::string cycles_text(const TimelineView& view, double cycles);
std::string seconds_text(const TimelineView& view, double cycles);
// "1200", "1.2us", "300ns", "0.01ms" in cycles. Refused: no number, or a time where none is known.
Outcome<double> cycles_in(const TimelineView& view, std::string_view text);

// "12,345 cycles: 6.31 us, on NVIDIA B200; 1,024 events".
std::string totals_line(const TimelineView& view);
// "CTA 0 warp 4 (products)": a track for who sees no more of the timeline.
std::string row_name(const TimelineView& view, sim::TrackId track);
// "full[0] (byte 98304)", "mbarrier at byte 16 of shared memory", "barrier 1": `unit` says what.
std::string name_of_barrier(const TimelineView& view, sim::Unit unit, std::uint32_t object);
// The instruction, and where it is in source and PTX.
Lines place_lines(const TimelineView& view, std::uint32_t pc);

// Every number of an event with its name.
Lines inspect(const TimelineView& view, sim::EventId event);
Lines inspect(const TimelineView& view, const sim::Span& span, TimelinePlace place);
// "block 0, products: warp 4: waits for mbarrier 98304 phase 2".
std::string sentence_of(const TimelineView& view, sim::EventId event);
// What brought it about, up to its beginnings, and what it caused: each a click away.
struct TimelineLink {
  std::string label, value, command;
};
// `whose` is before their numbers in commands.
std::vector<TimelineLink> links_of(const TimelineView& view, sim::EventId event,
                                   std::string_view whose = "");
// The causes of an event, nearest first, at most `most`.
std::vector<sim::EventId> causes_of(const TimelineView& view, sim::EventId event,
                                    std::size_t most = 16);
std::vector<sim::EventId> effects_of(const TimelineView& view, sim::EventId event,
                                     std::size_t most = 32);

// What an arrow from a cause to its effect carries, in a few words: "full[1] phase 4",
// "16 KiB to full[1]", "issues". Empty: the arrow says it all.
std::string carried_text(const TimelineView& view, sim::EventId cause, sim::EventId effect);

// The range, and of each row that is shown how much of it which doing took.
Lines totals_of(const TimelineView& view, const TimelineChoice& choice);
// One row's, of the whole run where there is no range.
std::string shares_of(const TimelineView& view, TimelinePlace place, CycleRange range);

Json describe(const TimelineView& view, const TimelineChoice& choice, const TimelineFrame& frame,
              const Scene& scene);

}  // namespace tilescope
