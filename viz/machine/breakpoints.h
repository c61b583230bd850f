// Where a run is to stop when it goes on: at a line, at a phase of an mbarrier, before a write. It
// always stops at a fault.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "viz/machine/live_run.h"

namespace tilescope {

struct Breakpoint {
  enum class At : std::uint8_t { line, mbarrier, byte, element };
  At at = At::line;
  RunCursor::SourceLine line;
  std::optional<std::uint64_t> block;  // only this one's mbarrier; byte: whose, needed
  std::uint32_t offset = 0;            // in shared memory: of the mbarrier, the byte
  std::optional<std::uint64_t> phase;
  std::string buffer;         // element: of which buffer of the job
  std::uint64_t element = 0;  // counted as they are

  friend bool operator==(const Breakpoint&, const Breakpoint&) = default;
};

// As `break` takes it: "line kernels/x.cu:40", "mbarrier 16 phase 3 block 0", "byte 64 block 0",
// "element D 1030".
std::string text(const Breakpoint& breakpoint);
// An mbarrier is named by its byte or as the kernel calls it, a file by its end.
Outcome<Breakpoint> read_breakpoint(std::string_view words, const LiveRun& run);

// All of them as one request to a machine. Refused: a line that no instruction is of, a buffer or
// an element that is not there, more written places than a machine watches. A warp that comes to a
// line stops there once for each time that it comes to the statement, wherever the compiler put
// instructions of other lines between.
Outcome<sim::StopAt> stops_at(const std::vector<Breakpoint>& all, const sim::Machine& machine);

// The breakpoints of a program that was built anew, in it: each line goes where its text is now, an
// mbarrier where the one of its name is. `own`: what the kernel's own file is called now, of which
// the old one was called `was`.
struct BuiltBefore {
  Sources sources;
  BarrierNames barriers;
  std::string was, own;
};
struct CarriedBreakpoints {
  std::vector<Breakpoint> all;
  std::vector<std::string> gone;  // as `break` takes them
};
CarriedBreakpoints carried(const std::vector<Breakpoint>& all, const BuiltBefore& before,
                           const LiveRun& now);

// The line that an instruction belongs to, seen from the kernel's own file: of one that was inlined
// from another, that of the call. Line 0: not known.
RunCursor::SourceLine line_of(const ptx::Program& program, std::uint32_t pc);
// FILE:LINE or ptx:LINE. FILE is the name of one of these files, or the end of it after a slash
// where only one ends so.
std::optional<RunCursor::SourceLine> source_line_in(std::string_view word,
                                                    const std::vector<std::string>& files);
// FILE:"TEXT", the one line of it that has the text, wherever it stands today. Refused: no such
// form, no source of that file, no line or several that have it.
Outcome<RunCursor::SourceLine> source_line_with(std::string_view word, const LiveRun& run);

}  // namespace tilescope
