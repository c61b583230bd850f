// Breakpoints of a kernel that is built anew: they go with the text.
#include <algorithm>

#include "viz/machine/breakpoints.h"
#include "viz/machine/comparison_view.h"

namespace tilescope {
namespace {

using Texts = std::vector<std::string>;

// Where a line of a text is in what that has become; nothing: it is gone.
std::optional<std::uint32_t> line_in(const Texts& before, const Texts& now, std::uint32_t line) {
  if (line < 1 || line > before.size()) return {};
  const std::size_t shorter = std::min(before.size(), now.size());
  std::size_t top = 0, bottom = 0;  // lines that are the same above, and below
  while (top < shorter && before[top] == now[top]) ++top;
  if (line <= top) return line;
  while (bottom < shorter - top &&
         before[before.size() - 1 - bottom] == now[now.size() - 1 - bottom]) {
    ++bottom;
  }
  if (line > before.size() - bottom) {
    return static_cast<std::uint32_t>(line + now.size() - before.size());
  }
  const auto middle = [&](const Texts& of) {
    return Texts(of.begin() + static_cast<std::ptrdiff_t>(top),
                 of.end() - static_cast<std::ptrdiff_t>(bottom));
  };
  for (const DifferentLine& each : different_lines(middle(before), middle(now))) {
    if (!each.before || *each.before + top != line || !each.after) continue;
    return static_cast<std::uint32_t>(*each.after + top);
  }
  return {};
}

std::optional<RunCursor::SourceLine> moved(const RunCursor::SourceLine& line,
                                           const BuiltBefore& before, const LiveRun& now) {
  const auto old = before.sources.find(line.file);
  if (old == before.sources.end()) return line;  // nobody knows what it said
  const std::string& name = line.file == before.was ? before.own : line.file;
  const auto text = now.sources.find(name);
  if (text == now.sources.end()) return {};
  const auto number = line_in(old->second, text->second, line.line);
  if (!number) return {};
  return RunCursor::SourceLine{name, *number};
}

}  // namespace

CarriedBreakpoints carried(const std::vector<Breakpoint>& all, const BuiltBefore& before,
                           const LiveRun& now) {
  CarriedBreakpoints out;
  const sim::Machine& machine = now.stepper.machine();
  for (Breakpoint each : all) {
    const std::string was = text(each);
    bool there = true;
    if (each.at == Breakpoint::At::line) {
      const auto line = moved(each.line, before, now);
      there = line.has_value();
      if (line) each.line = *line;
    } else if (each.at == Breakpoint::At::mbarrier) {
      const auto name = before.barriers.find(each.offset);
      const auto byte = name == before.barriers.end()
                            ? each.offset
                            : barrier_in(machine.barrier_names(), name->second);
      there = byte.has_value();
      if (byte) each.offset = *byte;
    }
    // A line may be there and have become no instruction.
    if (there && stops_at({each}, machine)) {
      out.all.push_back(std::move(each));
    } else {
      out.gone.push_back(was);
    }
  }
  return out;
}

}  // namespace tilescope
