#include "viz/machine/breakpoints.h"

#include <fmt/format.h>

#include <algorithm>

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
      "shared memory), `element NAME N` (of a buffer), `list`, `remove N` or `clear`.");
}

Error missing(std::string sentence) {
  return {ErrorKind::mismatch, std::move(sentence), ""};
}

// What a block has of shared memory: the program's own, and what the launch adds.
std::uint64_t shared_bytes(const sim::Machine& machine) {
  const auto& program = machine.program();
  const std::uint64_t align = std::max<std::uint32_t>(1, program.dynamic_shared_align);
  const std::uint64_t dynamic = machine.launch().dynamic_shared;
  return dynamic ? (program.shared_bytes + align - 1) / align * align + dynamic
                 : program.shared_bytes;
}

std::optional<Error> wrong_block(std::uint64_t block, const sim::Machine& machine) {
  const std::uint64_t count = machine.launch().grid.count();
  if (block < count) return {};
  return missing(fmt::format("There is no CTA {}: the grid has {}, counted from 0.", block, count));
}

// Nothing of the program lies there.
std::optional<Error> wrong_byte(std::uint64_t byte, std::uint64_t width,
                                const sim::Machine& machine) {
  const std::uint64_t bytes = shared_bytes(machine);
  if (bytes == 0) return missing("This kernel has no shared memory.");
  if (byte < bytes && bytes - byte >= width) return {};
  return missing(
      fmt::format("Byte {} is none of a CTA's shared memory: it has {} bytes, counted from 0.",
                  byte, grouped(bytes)));
}

Error wrong_barrier(std::string_view said, const sim::Machine& machine) {
  std::string all;
  for (const auto& each : machine.barrier_names()) {
    all += (all.empty() ? "" : ", ") + each.second;
  }
  if (all.empty()) {
    return missing(
        fmt::format("There is no mbarrier {}: those of this kernel have no names, and are said by "
                    "their byte of shared memory, `break mbarrier 0`.",
                    said));
  }
  return missing(fmt::format("There is no mbarrier {}: this kernel has {}.", said, all));
}

Error wrong_line(std::string_view said, const SourcePlaces& places) {
  std::string all;
  for (const std::string& file : places.files) all += (all.empty() ? "" : ", ") + file;
  return usage_error(
      fmt::format("`break line {}`: a line is written FILE:N, or ptx:N for the PTX{}{}.", said,
                  all.empty() ? "" : "; the files of this kernel are ", all));
}

// Does a line of the source mean this one? A file may be named by its end.
bool same_line(const RunCursor::SourceLine& asked, const RunCursor::SourceLine& line) {
  if (asked.line != line.line || line.file.size() < asked.file.size()) return false;
  const std::size_t before = line.file.size() - asked.file.size();
  return line.file.compare(before, std::string::npos, asked.file) == 0 &&
         (before == 0 || line.file[before - 1] == '/');
}

bool is_of(const Breakpoint& breakpoint, const ptx::Program& program, std::uint32_t pc) {
  const ptx::Instruction& i = program.code[pc];
  if (breakpoint.line.file.empty()) return i.line == breakpoint.line.line;
  // The line itself, also where it was inlined elsewhere.
  const RunCursor::SourceLine inner{std::string(program.source_file(i)), i.source_line};
  return same_line(breakpoint.line, line_of(program, pc)) || same_line(breakpoint.line, inner);
}

// From which blocks alone the next one in the text is entered: those belong together.
std::vector<bool> only_from_above(const ptx::Program& program) {
  std::vector<std::uint32_t> ways(program.blocks.size(), 0);
  std::vector<bool> falls(program.blocks.size(), false);
  for (std::uint32_t b = 0; b < program.blocks.size(); ++b) {
    for (const std::uint32_t next : program.blocks[b].next) {
      ++ways[next];
      if (program.blocks[next].first == program.blocks[b].end) falls[next] = true;
    }
  }
  std::vector<bool> out(program.code.size(), false);
  for (std::uint32_t b = 0; b < program.blocks.size(); ++b) {
    if (program.blocks[b].first < out.size()) {
      out[program.blocks[b].first] = falls[b] && ways[b] == 1;
    }
  }
  return out;
}

// Where the compiler moved instructions of other lines between those of a line, a warp that comes
// back from them is still at the statement that it came to before: the instructions between are
// counted with the line. What begins as the statement began is another copy of it (of an unrolled
// loop), and is come to anew; so is what is come to by a branch.
void join_runs(const ptx::Program& program, const std::vector<bool>& own, std::uint32_t number,
               std::vector<std::uint32_t>& lines) {
  const std::vector<bool> from_above = only_from_above(program);
  std::vector<bool> enters(own.size(), false);
  for (const ptx::Block& block : program.blocks) {
    if (block.first < enters.size()) enters[block.first] = !from_above[block.first];
  }
  std::optional<std::uint32_t> begin, last;  // of the statement; of its instructions so far
  for (std::uint32_t pc = 0; pc < own.size(); ++pc) {
    if (enters[pc]) begin.reset(), last.reset();
    if (!own[pc]) {
      if (program.ends_block[pc]) begin.reset(), last.reset();
      continue;
    }
    const auto as_begun = [&](const ptx::Instruction& a, const ptx::Instruction& b) {
      return a.op == b.op && a.file == b.file && a.source_line == b.source_line;
    };
    const bool anew = !last || (*last + 1 < pc && as_begun(program.code[*begin], program.code[pc]));
    if (anew) begin = pc;
    for (std::uint32_t i = anew ? pc : *last + 1; i < pc; ++i) {
      if (!lines[i]) lines[i] = number;
    }
    last = pc;
  }
}

std::optional<Error> add_line(const Breakpoint& breakpoint, const ptx::Program& program,
                              std::uint32_t number, std::vector<std::uint32_t>& lines) {
  std::vector<bool> own(lines.size(), false);
  bool any = false;
  for (std::uint32_t pc = 0; pc < lines.size(); ++pc) {
    if (!is_of(breakpoint, program, pc)) continue;
    lines[pc] = number;
    own[pc] = any = true;
  }
  if (any) join_runs(program, own, number, lines);
  if (any) return {};
  return Error{ErrorKind::mismatch,
               fmt::format("No instruction is of {}: the compiler made none of that line.",
                           text(breakpoint.line)),
               ""};
}

std::optional<Error> add_write(const Breakpoint& breakpoint, const sim::Machine& machine,
                               std::vector<sim::Watch>& watches) {
  if (watches.size() == sim::StopAt::most_watches) {
    return missing(
        fmt::format("{} written places are watched, and that is all that a run can: "
                    "`break list` shows them, `break remove N` lets one go.",
                    watches.size()));
  }
  sim::Watch watch;
  if (breakpoint.at == Breakpoint::At::byte) {
    watch.where = sim::Watch::Where::shared;
    watch.block = breakpoint.block.value_or(0);
    watch.begin = breakpoint.offset;
    watch.end = breakpoint.offset + 1;
    watches.push_back(watch);
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
  watches.push_back(watch);
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
    if (!line || words.size() != 2) return wrong_line(words[1], run.places);
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
  const sim::Machine& machine = run.stepper.machine();
  out.at = words[0] == "byte" ? Breakpoint::At::byte : Breakpoint::At::mbarrier;
  const bool barrier = out.at == Breakpoint::At::mbarrier;
  std::optional<std::uint64_t> offset = count_in(words[1]);
  if (barrier) offset = barrier_in(machine.barrier_names(), words[1]);
  if (!offset && barrier) return wrong_barrier(words[1], machine);
  if (!offset || words.size() % 2) return how_to();
  if (auto error = wrong_byte(*offset, barrier ? 8 : 1, machine)) return *error;
  if (barrier && *offset % 8) {
    return missing(
        fmt::format("There is no mbarrier at byte {}: each has 8 bytes, and begins at a "
                    "multiple of 8.",
                    *offset));
  }
  out.offset = static_cast<std::uint32_t>(*offset);
  for (std::size_t i = 2; i < words.size(); i += 2) {
    const auto number = count_in(words[i + 1]);
    if (!number) return how_to();
    if (words[i] == "block") {
      if (auto error = wrong_block(*number, machine)) return *error;
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
        if (const auto error = add_write(each, machine, out.watches)) return *error;
        out.what |= sim::bit(sim::Happening::write);
        break;
    }
  }
  out.lines = std::make_shared<const std::vector<std::uint32_t>>(std::move(lines));
  out.some_lines = true;
  return out;
}

RunCursor::SourceLine line_of(const ptx::Program& program, std::uint32_t pc) {
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

std::optional<RunCursor::SourceLine> source_line_in(std::string_view word,
                                                    const std::vector<std::string>& files) {
  const std::size_t colon = word.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return {};
  const auto number = count_in(word.substr(colon + 1));
  if (!number || *number < 1 || *number > 0xffff'ffffu) return {};
  const std::string_view file = word.substr(0, colon);
  return RunCursor::SourceLine{file == "ptx" ? "" : whole_name(file, files),
                               static_cast<std::uint32_t>(*number)};
}

Outcome<RunCursor::SourceLine> source_line_with(std::string_view word, const LiveRun& run) {
  const std::size_t colon = std::min(word.find(':'), word.size());
  const std::string_view quoted = word.substr(std::min(colon + 1, word.size()));
  const std::string_view text = unquoted(quoted);
  if (colon == 0 || text.empty() || text.size() == quoted.size()) {
    return Error{
        ErrorKind::usage,
        fmt::format("A line is written FILE:LINE, ptx:LINE or FILE:\"TEXT\" with some text "
                    "of it; `{}` is none of these.",
                    word),
        ""};
  }
  const std::string said(word.substr(0, colon));
  const std::string file = said == "ptx" ? "" : whole_name(said, run.places.files);
  const auto source = run.sources.find(file);
  if (source == run.sources.end()) {
    return Error{ErrorKind::unknown, fmt::format("There is no text of {} here to look in.", said),
                 ""};
  }
  std::string lines;
  std::uint32_t first = 0;
  int count = 0;
  for (std::size_t i = 0; i < source->second.size(); ++i) {
    if (source->second[i].find(text) == std::string::npos) continue;
    if (++count == 1) first = static_cast<std::uint32_t>(i + 1);
    if (count <= 4) lines += fmt::format("{}{}", count == 1 ? "" : ", ", i + 1);
  }
  if (count == 1) return RunCursor::SourceLine{file, first};
  return Error{ErrorKind::unknown,
               count == 0 ? fmt::format("No line of {} has `{}`.", said, text)
                          : fmt::format("Lines {}{} of {} have `{}`; more of one says which.",
                                        lines, count > 4 ? ", ..." : "", said, text),
               ""};
}

}  // namespace tilescope
