// The CUDA source and the PTX, with the warps that stand in them and what became of each line.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "core/profile/statistics.h"
#include "viz/machine/access_words.h"
#include "viz/machine/breakpoints.h"
#include "viz/machine/machine_scene.h"
#include "viz/scene/number_words.h"

namespace tilescope {
namespace {

using SourceLine = RunCursor::SourceLine;

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
  std::uint64_t bytes = 0, wavefronts = 0;  // moved at all levels; of shared memory
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
    bytes += c.shared_bytes + c.global_bytes + c.tensor_bytes;
    wavefronts += c.wavefronts;
    for (std::size_t i = 0; i < stalled.size(); ++i) stalled[i] += c.stalled[i];
  }
};

constexpr const char* stalled_words =
    "share of all cycles that warps stalled, and what most of it was for";

class SourceView {
 public:
  explicit SourceView(const MachineShown& shown)
      : shown_(shown), program_(shown.machine().program()), places_(shown.run.places) {
    for (const sim::WarpState& warp : sim::warps_of(shown.machine(), shown.spot.block)) {
      for (const sim::SplitState& split : warp.splits) {
        if (split.pc >= program_.code.size()) continue;
        standing_[split.pc].insert(warp.index);
        if (warp.index != shown.spot.warp) continue;
        if (!pc_ || (split.lanes >> shown.spot.lane & 1)) pc_ = split.pc;
      }
    }
    const auto& asked = shown.spot.line;
    by_hand_ = asked.has_value();
    // A line of the PTX is looked at with the source line that it is of.
    if (asked && asked->file.empty()) {
      for (std::uint32_t pc = 0; pc < program_.code.size(); ++pc) {
        if (program_.code[pc].line == asked->line) asked_pc_ = pc;
      }
    }
    if (asked && !asked->file.empty()) {
      line_ = *asked;
    } else if (!places_.of.empty()) {
      const SourcePlaces::Place place = places_.of[asked_pc_ ? *asked_pc_ : pc_ ? *pc_ : top()];
      if (place.line) line_ = {places_.files[place.file], place.line};
    }
    const auto file = std::find(places_.files.begin(), places_.files.end(), line_.file);
    file_ = static_cast<std::uint32_t>(file - places_.files.begin());
    const auto text = shown.run.sources.find(line_.file);
    if (!line_.file.empty() && text != shown.run.sources.end()) text_ = &text->second;
    add_figures();
  }

  Table source() const {
    Table table;
    table.name = "source";
    const double number = text_width("00000", small_text, Family::mono);
    table.columns = {{"warps", Across::left, Family::mono, 48},
                     {"line", Across::right, Family::mono, number}};
    if (counted_) {
      TableColumn issued{"issued", Across::right, Family::mono, shown_.comparison ? 56.0 : 64.0};
      issued.spared = 1;  // who has no room for both has it for what took the time
      table.columns.push_back(std::move(issued));
      const auto change = [&](std::string title, double width, int spared) {
        TableColumn column{std::move(title), Across::right, Family::mono, width};
        column.spared = spared;
        if (shown_.comparison) table.columns.push_back(std::move(column));
      };
      change("+/-", 56, 3);
      TableColumn stalled{"stalled", Across::right, Family::mono, 64};
      stalled.hint = stalled_words;
      table.columns.push_back(std::move(stalled));
      change("+/- cycles", 72, 2);
      const auto moved = [&](std::string title, double width, int spared) {
        TableColumn column{std::move(title), Across::right, Family::mono, width};
        column.spared = spared;
        table.columns.push_back(std::move(column));
      };
      moved("bytes", 80, 4);
      moved("wavefronts", 80, 5);
    }
    TableColumn code{line_.file, Across::left, Family::mono, 0, true, 1e9, true};
    code.least = 480;
    table.columns.push_back(std::move(code));
    if (!text_) {
      table.when_empty = line_.file.empty()
                             ? "The PTX says of no instruction which line of a source it is of."
                             : fmt::format("{} is not available.", line_.file);
      return table;
    }
    table.count = text_->size();
    if (line_.line && line_.line <= table.count) table.focus = line_.line - 1;
    table.row = [this](std::size_t i) { return source_row(i); };
    return table;
  }

  Table ptx() const {
    Table table;
    table.name = "ptx";
    table.columns = {
        {"warps", Across::left, Family::mono, 48},
        {"line", Across::right, Family::mono, text_width("00000", small_text, Family::mono)},
        {"PTX", Across::left, Family::mono, 0, true, 1e9, true}};
    table.count = program_.code.size();
    table.row = [this](std::size_t pc) { return ptx_row(static_cast<std::uint32_t>(pc)); };
    table.focus = asked_pc_ ? asked_pc_ : pc_;
    if (const auto told = told_pc()) {
      table.focus = told;
      return table;
    }
    for (std::uint32_t pc = 0; by_hand_ && !asked_pc_ && pc < program_.code.size(); ++pc) {
      if (!of_line(pc)) continue;
      table.focus = pc;
      break;
    }
    return table;
  }

  // What the letters in the column of stalls stand for; empty: there is no such column.
  std::string legend() const {
    if (!counted_) return "Steps keep no record: Run counts what each line issued and its stalls.";
    std::set<sim::Stall> all;
    for (const LineFigures& figures : figures_) {
      if (figures.stalls()) all.insert(figures.most());
    }
    return all.empty() ? "" : "stalled: % of all stalls; " + letters_text(all);
  }

 private:
  // Where nobody stands: the topmost line of the kernel's file that has instructions. A kernel that
  // a macro makes of a template begins below its body.
  std::uint32_t top() const {
    std::uint32_t out = 0;
    for (std::uint32_t pc = 1; pc < places_.of.size(); ++pc) {
      const SourcePlaces::Place &place = places_.of[pc], &best = places_.of[out];
      if (place.line && place.file == places_.of[0].file && place.line < best.line) out = pc;
    }
    return out;
  }

  bool of_line(std::uint32_t pc) const {
    return places_.of[pc].line && places_.of[pc].file == file_ && places_.of[pc].line == line_.line;
  }

  bool has_breakpoint(const SourceLine& line) const {
    return std::any_of(
        shown_.breakpoints.begin(), shown_.breakpoints.end(),
        [&](const Breakpoint& b) { return b.at == Breakpoint::At::line && b.line == line; });
  }

  // Who stands there; a point where there is a breakpoint, which a click sets or takes away.
  TableCell gutter(const SourceLine& line, const std::set<std::uint32_t>& who) const {
    const bool stops = has_breakpoint(line);
    TableCell cell{
        (stops ? "\u25cf " : "") + numbers(who), stops ? Ink(Role::text) : Ink(Role::accent), {}};
    cell.command = "break line " + text(line);
    return cell;
  }

  TableRow source_row(std::size_t i) const {
    const auto number = static_cast<std::uint32_t>(i + 1);
    TableRow row;
    row.selected = number == line_.line;
    row.command = fmt::format("look line {}:{}", line_.file, number);
    row.hint = "shows its instructions";
    std::set<std::uint32_t> who;
    for (const auto& [pc, warps] : standing_) {
      const SourcePlaces::Place& place = places_.of[pc];
      if (place.file == file_ && place.line == number) who.insert(warps.begin(), warps.end());
    }
    row.cells = {gutter({line_.file, number}, who), {fmt::format("{}", number), Role::quiet, {}}};
    if (counted_) {
      const LineFigures none, &figures = i < figures_.size() ? figures_[i] : none;
      const std::optional<OfBoth> both = of_both(number);
      const auto add_change = [&](std::uint64_t before, std::uint64_t now) {
        if (shown_.comparison) {
          row.cells.push_back({both ? change(before, now) : "", Role::text, {}});
        }
      };
      const OfBoth seen = both.value_or(OfBoth{});
      row.cells.push_back({figures.issued ? grouped(figures.issued) : "", Role::quiet, {}});
      add_change(seen.before.issued, seen.now.issued);
      row.cells.push_back({stalled_text(figures), Role::text, stall_ink(figures.stalls())});
      row.cells.back().hint = stalled_hint(figures);
      add_change(seen.before.stalls(), seen.now.stalls());
      for (const std::uint64_t count : {figures.bytes, figures.wavefronts}) {
        row.cells.push_back({count ? grouped(count) : "", Role::quiet, {}});
      }
      if (both) row.hint = words_of(*both);
    }
    row.cells.push_back({(*text_)[i], Role::text, paper_of({line_.file, number})});
    row.cells.back().spans = spans_of_line(i);
    return row;
  }

  // A line may begin in a comment that began above it: those before it are read once.
  std::vector<CudaSpan> spans_of_line(std::size_t i) const {
    if (!is_cuda_file(line_.file)) return {};
    for (std::size_t above = in_comment_.size(); above <= i; ++above) {
      bool inside = above > 0 && in_comment_.back();
      (void)cuda_spans((*text_)[above], inside);
      in_comment_.push_back(inside);  // behind it
    }
    bool inside = i > 0 && in_comment_[i - 1];
    return cuda_spans((*text_)[i], inside);
  }

  // Behind a load or store, as a comment, how much each lane moves.
  static std::string with_access(std::string_view text) {
    std::string out = instruction_text(text);
    if (const std::string each = access_words(text); !each.empty()) out += "  // " + each;
    return out;
  }

  TableRow ptx_row(std::uint32_t pc) const {
    const ptx::Instruction& i = program_.code[pc];
    TableRow row;
    row.selected = asked_pc_ ? pc == *asked_pc_ : of_line(pc);
    row.command = fmt::format("look line ptx:{}", i.line);
    row.hint = "shows its line of the source";
    const auto who = standing_.find(pc);
    row.cells = {
        gutter({"", i.line}, who == standing_.end() ? std::set<std::uint32_t>{} : who->second),
        {fmt::format("{}", i.line), Role::quiet, {}},
        {with_access(i.text), pc_ == pc ? Ink(Role::accent) : Ink(Role::text),
         paper_of({"", i.line})}};
    return row;
  }

  // The instruction that a report was told at, where its line is the one looked at.
  std::optional<std::uint32_t> told_pc() const {
    const Report* report = report_looked_at(shown_.run, shown_.spot);
    for (std::uint32_t pc = 0; report && pc < program_.code.size(); ++pc) {
      if (program_.code[pc].line == report->site.ptx_line && of_line(pc)) return pc;
    }
    return {};
  }

  // Red where a report was told, paler where somebody else has a part in it.
  std::optional<Ink> paper_of(const SourceLine& line) const {
    const Report* report = report_looked_at(shown_.run, shown_.spot);
    if (!report) return {};
    const auto is_of = [&](const Site& site) {
      if (line.file.empty()) return site.ptx_line == line.line;
      return (site.caller == line.file && site.caller_line == line.line) ||
             (site.source == line.file && site.source_line == line.line);
    };
    if (is_of(report->site)) return Ink(Role::wrong, 0.22);
    const auto& parties = report->evidence.parties;
    const bool part = std::any_of(parties.begin(), parties.end(),
                                  [&](const Evidence::Party& p) { return is_of(p.site); });
    return part ? std::optional<Ink>(Ink(Role::wrong, 0.1)) : std::nullopt;
  }

  void add_figures() {
    const sim::Record* record = shown_.record;
    counted_ = record && record->counters.size() == program_.code.size();
    if (!counted_ || !text_) return;
    figures_.resize(text_->size());
    for (std::uint32_t pc = 0; pc < program_.code.size(); ++pc) {
      LineFigures figures;
      figures.add(record->counters[pc]);
      stalls_ += figures.stalls();
      const SourcePlaces::Place& place = places_.of[pc];
      if (place.file == file_ && place.line && place.line <= figures_.size()) {
        figures_[place.line - 1].add(record->counters[pc]);
      }
    }
  }

  // What became of a line in this run and in the baseline, where it is in both.
  struct OfBoth {
    LineFigures before, now;
  };
  std::optional<OfBoth> of_both(std::uint32_t line) const {
    if (!shown_.comparison) return {};
    const auto both = shown_.comparison->line_of_both(line_.file, line);
    if (!both) return {};
    OfBoth out;
    if (both->before) out.before.add(both->before->counters);
    if (both->now) out.now.add(both->now->counters);
    return out;
  }

  // "+12", "-1,310"; nothing where both are the same.
  static std::string change(std::uint64_t before, std::uint64_t now) {
    if (before == now) return "";
    return now > before ? "+" + grouped(now - before) : "-" + grouped(before - now);
  }

  // What a pointer is told of a line that both have.
  std::string words_of(const OfBoth& both) const {
    const std::string name = shown_.comparison->name_of_baseline();
    const auto than = [&](std::uint64_t before, std::uint64_t now) {
      return before == now  ? "as in " + name
             : now > before ? fmt::format("{} more than in {}", grouped(now - before), name)
                            : fmt::format("{} fewer than in {}", grouped(before - now), name);
    };
    return fmt::format("issued {} times, {}; stalled {} cycles, {}", grouped(both.now.issued),
                       than(both.before.issued, both.now.issued), grouped(both.now.stalls()),
                       than(both.before.stalls(), both.now.stalls()));
  }

  // "12.3% M": the share of all cycles that warps stalled, and the letter of what for.
  std::string stalled_text(const LineFigures& figures) const {
    const std::uint64_t own = figures.stalls();
    if (!own || !stalls_) return "";
    return fmt::format("{:.1f}% {}",
                       100.0 * static_cast<double>(own) / static_cast<double>(stalls_),
                       sim::letter_of(figures.most()));
  }
  std::string stalled_hint(const LineFigures& figures) const {
    if (!figures.stalls()) return "";
    return fmt::format("{} cycles of warps, most of them for {}", grouped(figures.stalls()),
                       sim::text(sim::WaitKey{figures.most(), sim::Unit::count_}));
  }
  std::optional<Ink> stall_ink(std::uint64_t own) const {
    if (!own || !stalls_) return {};
    const double share = static_cast<double>(own) / static_cast<double>(stalls_);
    return Ink(Role::accent, std::min(0.5, share));
  }

  const MachineShown& shown_;
  const ptx::Program& program_;
  const SourcePlaces& places_;
  Standing standing_;
  std::optional<std::uint32_t> pc_, asked_pc_;  // of the warp looked at; of a line of the PTX
  bool by_hand_ = false;
  SourceLine line_;
  std::uint32_t file_ = 0;
  const std::vector<std::string>* text_ = nullptr;
  bool counted_ = false;
  std::vector<LineFigures> figures_;      // by line of that file
  std::uint64_t stalls_ = 0;              // of all lines
  mutable std::vector<bool> in_comment_;  // behind each line that was read so far
};

}  // namespace

double draw_source(Scene& scene, const MachineShown& shown, const Box& all, Scroll& scroll,
                   Box& ptx_room, double& most_of_ptx) {
  // Beside each other where lines of both have room so, else one above the other: of PTX, whose
  // copies and products have lines of a hundred letters, a narrow column shows beginnings alone.
  constexpr double least = 1500;
  const SourceView view(shown);
  Box room = all;
  if (const std::string legend = view.legend(); shown.legend && !legend.empty()) {
    room.height = std::max(0.0, room.height - letters_height);
    draw_letters(scene, legend, {all.x, room.bottom(), all.width, letters_height});
  }
  const bool beside = room.width >= least;
  // Counters of two runs take the room of the PTX.
  const double share = shown.comparison ? 0.4 : 0.45;
  const double ptx = std::round(beside ? room.width * share : room.height * 0.4);
  const Box source{room.x, room.y, beside ? room.width - ptx : room.width,
                   beside ? room.height : room.height - ptx};
  const double most = draw_table(scene, view.source(), source, scroll);
  Line border;
  border.stroke = {Role::line, 1, false};
  Box rest = room;
  if (beside) {
    border.points = {{source.right() + 0.5, room.y}, {source.right() + 0.5, room.bottom()}};
    rest = {source.right() + 1, room.y, ptx - 1, room.height};
  } else {
    border.points = {{room.x, source.bottom() + 0.5}, {room.right(), source.bottom() + 0.5}};
    rest = {room.x, source.bottom() + 1, room.width, ptx - 1};
  }
  scene.add(border);
  Scroll of_ptx{scroll.beside, scroll.beside_by_hand};
  most_of_ptx = draw_table(scene, view.ptx(), rest, of_ptx);
  scroll.beside = of_ptx.at;
  ptx_room = rest;
  return most;
}

}  // namespace tilescope
