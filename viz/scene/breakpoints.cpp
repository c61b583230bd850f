#include "viz/scene/breakpoints.h"

#include <fmt/format.h>

#include <algorithm>

#include "viz/scene/command_table.h"
#include "viz/scene/command_text.h"
#include "viz/scene/number_words.h"

namespace tilescope {
namespace {

std::optional<std::uint64_t> count_in(std::string_view word) {
  const auto number = number_in(word);
  if (!number || *number < 0) return {};
  return static_cast<std::uint64_t>(*number);
}

Error how_to() {
  return usage_error(
      "`break` takes `line FILE:N`, `mbarrier NAME [phase P] [block B]`, `byte N [block B]` (of "
      "shared memory), `element NAME N` (of a buffer), or `clear`.");
}

// Does a line of the source mean this one? A file may be named by its end.
bool same_line(const RunSpot::SourceLine& asked, const RunSpot::SourceLine& line) {
  if (asked.line != line.line || line.file.size() < asked.file.size()) return false;
  const std::size_t before = line.file.size() - asked.file.size();
  return line.file.compare(before, std::string::npos, asked.file) == 0 &&
         (before == 0 || line.file[before - 1] == '/');
}

bool is_of(const Breakpoint& breakpoint, const ptx::Program& program, std::uint32_t pc) {
  const ptx::Instruction& i = program.code[pc];
  if (breakpoint.line.file.empty()) return i.line == breakpoint.line.line;
  // The line itself, also where it was inlined elsewhere.
  const RunSpot::SourceLine inner{std::string(program.source_file(i)), i.source_line};
  return same_line(breakpoint.line, line_of(program, pc)) || same_line(breakpoint.line, inner);
}

std::optional<Error> add_line(const Breakpoint& breakpoint, const ptx::Program& program,
                              std::uint32_t number, std::vector<std::uint32_t>& lines) {
  bool any = false;
  for (std::uint32_t pc = 0; pc < lines.size(); ++pc) {
    if (!is_of(breakpoint, program, pc)) continue;
    lines[pc] = number;
    any = true;
  }
  if (any) return {};
  return Error{ErrorKind::mismatch,
               fmt::format("No instruction is of {}: the compiler made none of that line.",
                           text(breakpoint.line)),
               ""};
}

std::optional<Error> add_write(const Breakpoint& breakpoint, const sim::Machine& machine,
                               sim::Watch& watch) {
  if (watch.where != sim::Watch::Where::nowhere) {
    return Error{ErrorKind::mismatch,
                 "A run watches one written place at a time: `break clear` lets the other one go.",
                 ""};
  }
  if (breakpoint.at == Breakpoint::At::byte) {
    watch.where = sim::Watch::Where::shared;
    watch.block = breakpoint.block.value_or(0);
    watch.begin = breakpoint.offset;
    watch.end = breakpoint.offset + 1;
    return {};
  }
  const auto& all = machine.shells();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Buffer& b) { return b.name == breakpoint.buffer; });
  if (found == all.end()) {
    std::string names;
    for (const Buffer& b : all) names += (names.empty() ? "" : ", ") + b.name;
    return Error{ErrorKind::unknown,
                 fmt::format("There is no buffer {}; there are {}.", breakpoint.buffer, names), ""};
  }
  if (breakpoint.element >= static_cast<std::uint64_t>(found->elements())) {
    return Error{
        ErrorKind::mismatch,
        fmt::format("{} has {} elements, and {} is none of them.", found->name,
                    grouped(static_cast<std::uint64_t>(found->elements())), breakpoint.element),
        ""};
  }
  const std::uint64_t width = bytes_of(found->dtype);
  watch.where = sim::Watch::Where::global;
  watch.begin = machine.buffer(static_cast<std::size_t>(found - all.begin())).base() +
                breakpoint.element * width;
  watch.end = watch.begin + width;
  return {};
}

}  // namespace

std::string text(const Breakpoint& b) {
  const std::string block = b.block ? fmt::format(" block {}", *b.block) : "";
  switch (b.at) {
    case Breakpoint::At::line:
      return "line " + text(b.line);
    case Breakpoint::At::mbarrier:
      return fmt::format("mbarrier {}{}{}", b.offset,
                         b.phase ? fmt::format(" phase {}", *b.phase) : "", block);
    case Breakpoint::At::byte:
      return fmt::format("byte {}{}", b.offset, block);
    case Breakpoint::At::element:
      break;
  }
  return fmt::format("element {} {}", quoted_word(b.buffer), b.element);
}

Outcome<Breakpoint> read_breakpoint(std::string_view text, const LiveRun& run) {
  const std::vector<std::string> words = split_words(text);
  if (words.size() < 2) return how_to();
  Breakpoint out;
  if (words[0] == "line") {
    const auto line = source_line_in(words[1], run.places.files);
    if (!line || words.size() != 2) return how_to();
    out.line = *line;
    return out;
  }
  if (words[0] == "element") {
    const auto number = words.size() == 3 ? count_in(words[2]) : std::nullopt;
    if (!number) return how_to();
    out.at = Breakpoint::At::element;
    out.buffer = words[1];
    out.element = *number;
    return out;
  }
  if (words[0] != "mbarrier" && words[0] != "byte") return how_to();
  out.at = words[0] == "byte" ? Breakpoint::At::byte : Breakpoint::At::mbarrier;
  std::optional<std::uint64_t> offset = count_in(words[1]);
  if (out.at == Breakpoint::At::mbarrier) {
    offset = barrier_in(run.stepper.machine().barrier_names(), words[1]);
  }
  if (!offset || *offset > 0xff'ffffu || words.size() % 2) return how_to();
  out.offset = static_cast<std::uint32_t>(*offset);
  for (std::size_t i = 2; i < words.size(); i += 2) {
    const auto number = count_in(words[i + 1]);
    if (!number) return how_to();
    if (words[i] == "block") {
      out.block = *number;
    } else if (words[i] == "phase" && out.at == Breakpoint::At::mbarrier) {
      out.phase = *number;
    } else {
      return how_to();
    }
  }
  return out;
}

Outcome<sim::StopAt> stops_at(const std::vector<Breakpoint>& all, const sim::Machine& machine) {
  sim::StopAt out;
  std::vector<std::uint32_t> lines(machine.program().code.size(), 0);
  std::uint32_t number = 0;
  for (const Breakpoint& each : all) {
    switch (each.at) {
      case Breakpoint::At::line:
        if (const auto error = add_line(each, machine.program(), ++number, lines)) return *error;
        out.what |= sim::bit(sim::Happening::line);
        break;
      case Breakpoint::At::mbarrier:
        out.phases.push_back({each.offset, each.block, each.phase});
        out.what |= sim::bit(sim::Happening::phase);
        break;
      case Breakpoint::At::byte:
      case Breakpoint::At::element:
        if (const auto error = add_write(each, machine, out.watch)) return *error;
        out.what |= sim::bit(sim::Happening::write);
        break;
    }
  }
  out.lines = std::make_shared<const std::vector<std::uint32_t>>(std::move(lines));
  out.some_lines = true;
  return out;
}

RunSpot::SourceLine line_of(const ptx::Program& program, std::uint32_t pc) {
  const ptx::Instruction& i = program.code[pc];
  if (i.caller_line) return {std::string(program.caller_file(i)), i.caller_line};
  return {std::string(program.source_file(i)), i.source_line};
}

namespace {

// The one file whose name ends so; else as it was said.
std::string whole_name(std::string_view said, const std::vector<std::string>& files) {
  const std::string end = "/" + std::string(said);
  const std::string* found = nullptr;
  for (const std::string& file : files) {
    if (file == said) return std::string(said);
    if (said.empty() || file.size() < end.size() || !file.ends_with(end)) continue;
    if (found) return std::string(said);
    found = &file;
  }
  return found ? *found : std::string(said);
}

}  // namespace

std::optional<RunSpot::SourceLine> source_line_in(std::string_view word,
                                                  const std::vector<std::string>& files) {
  const std::size_t colon = word.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return {};
  const auto number = count_in(word.substr(colon + 1));
  if (!number || *number < 1 || *number > 0xffff'ffffu) return {};
  const std::string_view file = word.substr(0, colon);
  return RunSpot::SourceLine{file == "ptx" ? "" : whole_name(file, files),
                             static_cast<std::uint32_t>(*number)};
}

}  // namespace tilescope
