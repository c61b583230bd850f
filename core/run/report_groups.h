// Reports as a reader wants them: an unrolled loop tells one mistake at 48 PTX lines, and it is
// one.
//
// The law of groups():
//  - Two reports are of one group where weight, kind, kernel and line are the same. The line is the
//    one that a user wrote: the caller's for inlined code, else the source's, else the PTX line. A
//    report of no line (of a kernel as a whole) is a group of its own.
//  - Reports that have a `pair` are of one group where weight, kind, kernel and pair are the same,
//    whatever their lines: a pipeline whose products and copies are in no order is so at each of
//    its steps.
//  - Every report is in exactly one group, groups are in the order in which their first reports
//    came, and so do reports in a group.
//  - `times` is the sum of the counts of the group's reports. `warps` and `blocks` count each warp
//    and each CTA once, however many reports it is in; a report that does not say its warps has
//    that of its site.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/run/job.h"

namespace tilescope {

struct ReportGroup {
  std::vector<std::size_t> members;  // numbers of reports; the first one is the example
  std::uint64_t places = 0;          // different PTX lines
  std::uint64_t warps = 0, blocks = 0;
  std::uint64_t times = 0;
  std::string pair;  // of its reports
};

std::vector<ReportGroup> groups(const std::vector<Report>& reports);

// "96 times at this line: 12 PTX lines, 8 warps of 2 CTAs", or "96 times tcgen05.mma, then
// tcgen05.cp: 12 PTX lines, 8 warps of 2 CTAs"; empty where it was seen once.
std::string text_of_counts(const ReportGroup& group);

}  // namespace tilescope
