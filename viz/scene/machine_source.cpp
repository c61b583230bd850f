// The CUDA source and the PTX, with the warps that stand in them and what became of each line.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "viz/scene/machine_scene.h"
#include "viz/scene/number_words.h"

namespace tilescope {
namespace {

using SourceLine = RunSpot::SourceLine;

// The line that an instruction belongs to seen from the kernel's own file: that of the call where
// it was inlined from another.
SourceLine line_of(const ptx::Program& program, std::uint32_t pc) {
  const ptx::Instruction& i = program.code[pc];
  if (i.caller_line) return {std::string(program.caller_file(i)), i.caller_line};
  return {std::string(program.source_file(i)), i.source_line};
}

// Which warps stand where: "0, 4 to 7".
using Standing = std::map<std::uint32_t, std::set<std::uint32_t>>;
std::string numbers(const std::set<std::uint32_t>& all) {
  std::string out;
  for (auto i = all.begin(); i != all.end();) {
    auto last = i;
    std::uint32_t to = *i;
    while (std::next(last) != all.end() && *std::next(last) == to + 1) ++last, ++to;
    out += out.empty() ? "" : ", ";
    out += to > *i ? fmt::format("{}-{}", *i, to) : fmt::format("{}", *i);
    i = std::next(last);
  }
  return out;
}

struct LineFigures {
  std::uint64_t issued = 0;
  std::array<std::uint64_t, static_cast<std::size_t>(sim::Stall::count_)> stalled{};
  std::uint64_t stalls() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t s : stalled) sum += s;
    return sum;
  }
  sim::Stall most() const {
    const auto found = std::max_element(stalled.begin(), stalled.end());
    return *found ? static_cast<sim::Stall>(found - stalled.begin()) : sim::Stall::none;
  }
  void add(const sim::LineCounters& c) {
    issued += c.issued;
    for (std::size_t i = 0; i < stalled.size(); ++i) stalled[i] += c.stalled[i];
  }
};

class SourceView {
 public:
  explicit SourceView(const MachineShown& shown)
      : shown_(shown), program_(shown.machine().program()) {
    const auto warps = sim::warps_of(shown.machine(), shown.spot.block);
    for (const sim::WarpState& warp : warps) {
      for (const sim::SplitState& split : warp.splits) {
        if (split.pc >= program_.code.size()) continue;
        standing_[split.pc].insert(warp.index);
        const bool looked_at =
            warp.index == shown.spot.warp && (split.lanes >> shown.spot.lane & 1);
        if (looked_at || (warp.index == shown.spot.warp && !pc_)) pc_ = split.pc;
      }
    }
    // What is looked at by hand, else where the warp stands, else the kernel's first line.
    if (shown.spot.line && !shown.spot.line->file.empty()) {
      line_ = *shown.spot.line;
    } else {
      line_ = known_line(pc_.value_or(0));
    }
    add_figures();
  }

  Table source() const {
    Table table;
    table.name = "source";
    table.columns = {{"warps", Across::left, Family::mono, 56},
                     {"line", Across::right, Family::mono},
                     {"issued", Across::right, Family::mono},
                     {"stalled", Across::right, Family::mono},
                     {line_.file, Across::left, Family::mono, 0, true}};
    const auto file = shown_.run.sources.find(line_.file);
    if (file == shown_.run.sources.end()) {
      table.when_empty = line_.file.empty()
                             ? "The PTX says of no instruction which line of a source it is of."
                             : fmt::format("{} is not at hand.", line_.file);
      return table;
    }
    const std::map<std::uint32_t, std::set<std::uint32_t>> here = warps_by_line();
    for (std::size_t i = 0; i < file->second.size(); ++i) {
      const auto number = static_cast<std::uint32_t>(i + 1);
      const bool current = number == line_.line;
      TableRow row;
      row.selected = current;
      row.command = fmt::format("look line {}:{}", line_.file, number);
      row.hint = "shows its instructions";
      const auto who = here.find(number);
      const auto figures = figures_.find({line_.file, number});
      const bool known = figures != figures_.end();
      row.cells = {{who == here.end() ? "" : numbers(who->second), Role::accent, {}},
                   {fmt::format("{}", number), Role::quiet, {}},
                   {known ? grouped(figures->second.issued) : "", Role::quiet, {}},
                   {known ? stalled_text(figures->second) : "", Role::quiet,
                    stall_ink(known ? figures->second.stalls() : 0)},
                   {file->second[i], Role::text, {}}};
      if (current) table.focus = table.rows.size();
      table.rows.push_back(std::move(row));
    }
    return table;
  }

  Table ptx() const {
    Table table;
    table.name = "ptx";
    table.columns = {{"warps", Across::left, Family::mono, 56},
                     {"PTX", Across::right, Family::mono},
                     {"", Across::left, Family::mono, 0, true}};
    for (std::uint32_t pc = 0; pc < program_.code.size(); ++pc) {
      const ptx::Instruction& i = program_.code[pc];
      const bool of_line = !line_.file.empty() && line_of(program_, pc) == line_;
      TableRow row;
      row.selected = shown_.spot.line && shown_.spot.line->file.empty()
                         ? shown_.spot.line->line == i.line
                         : of_line;
      row.command = fmt::format("look line ptx:{}", i.line);
      const auto who = standing_.find(pc);
      const bool here = pc_ == pc;
      row.cells = {{who == standing_.end() ? "" : numbers(who->second), Role::accent, {}},
                   {fmt::format("{}", i.line), Role::quiet, {}},
                   {instruction_text(i.text), here ? Ink(Role::accent) : Ink(Role::text), {}}};
      const bool by_hand = shown_.spot.line.has_value();
      if (by_hand ? row.selected && !table.focus : here) table.focus = table.rows.size();
      table.rows.push_back(std::move(row));
    }
    return table;
  }

 private:
  // Of an instruction without a line, that of the one before.
  SourceLine known_line(std::uint32_t pc) const {
    for (std::uint32_t i = pc + 1; i-- > 0;) {
      SourceLine line = line_of(program_, i);
      if (line.line) return line;
    }
    for (std::uint32_t i = pc; i < program_.code.size(); ++i) {
      SourceLine line = line_of(program_, i);
      if (line.line) return line;
    }
    return {};
  }

  std::map<std::uint32_t, std::set<std::uint32_t>> warps_by_line() const {
    std::map<std::uint32_t, std::set<std::uint32_t>> out;
    for (const auto& [pc, warps] : standing_) {
      const SourceLine line = known_line(pc);
      if (line.file == line_.file) out[line.line].insert(warps.begin(), warps.end());
    }
    return out;
  }

  void add_figures() {
    const sim::Record* record = shown_.record;
    if (!record || record->counters.size() != program_.code.size()) return;
    for (std::uint32_t pc = 0; pc < program_.code.size(); ++pc) {
      const SourceLine line = known_line(pc);
      LineFigures& figures = figures_[{line.file, line.line}];
      figures.add(record->counters[pc]);
      stalls_ += 0;
    }
    for (const auto& [line, figures] : figures_) stalls_ += figures.stalls();
  }

  // "12.3% M": the share of all cycles that warps stalled, and the letter of what for.
  std::string stalled_text(const LineFigures& figures) const {
    const std::uint64_t own = figures.stalls();
    if (!own || !stalls_) return "";
    return fmt::format("{:.1f}% {}",
                       100.0 * static_cast<double>(own) / static_cast<double>(stalls_),
                       sim::letter_of(figures.most()));
  }
  std::optional<Ink> stall_ink(std::uint64_t own) const {
    if (!own || !stalls_) return {};
    const double share = static_cast<double>(own) / static_cast<double>(stalls_);
    return Ink(Role::wrong, std::min(0.5, share));
  }

  const MachineShown& shown_;
  const ptx::Program& program_;
  Standing standing_;
  std::optional<std::uint32_t> pc_;  // of the warp looked at
  SourceLine line_;
  std::map<std::pair<std::string, std::uint32_t>, LineFigures> figures_;
  std::uint64_t stalls_ = 0;
};

}  // namespace

double draw_source(Scene& scene, const MachineShown& shown, const Box& room, Scroll& scroll) {
  const SourceView view(shown);
  const double ptx = std::round(room.width * 0.4);
  const Box left{room.x, room.y, room.width - ptx, room.height};
  const double most = draw_table(scene, view.source(), left, scroll);
  Line between_them;
  between_them.points = {{left.right() + 0.5, room.y}, {left.right() + 0.5, room.bottom()}};
  between_them.stroke = {Role::line, 1, false};
  scene.add(between_them);
  Scroll follows;
  draw_table(scene, view.ptx(), {left.right() + 1, room.y, ptx - 1, room.height}, follows);
  return most;
}

}  // namespace tilescope
