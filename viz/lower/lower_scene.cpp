#include "viz/lower/lower_scene.h"

#include <fmt/format.h>

#include <algorithm>

#include "viz/scene/items.h"
#include "viz/scene/palette.h"

namespace tilescope {
namespace {

constexpr double edge = 16, row_height = 20, gap = 36, bar = 3;
constexpr double narrowest = 150, widest = 430, widest_code = 640;
constexpr double headings = 48;  // of a column: title and pass

// The operation, and its types behind " : ".
std::pair<std::string, std::string> parted(const std::string& text) {
  const std::size_t colon = text.find(" : ");
  return {text.substr(0, colon), colon == std::string::npos ? "" : text.substr(colon)};
}

double mono_width(const std::string& text) {
  return text_width(text, small_text, Family::mono);
}

class Painter {
 public:
  Painter(Scene& scene, const lowering::Lowering& l, const LowerShown& shown)
      : scene_(scene), l_(l), followed_(shown.followed), scrolled_(shown.scrolled) {
    choose_levels(shown.first);
    for (std::size_t i = 0; i < l.levels.size(); ++i) {
      std::vector<bool> marked(l.levels[i].statements.size());
      if (followed_) {
        for (const int s :
             lowering::became(l, followed_->level, followed_->statement, static_cast<int>(i))) {
          marked[static_cast<std::size_t>(s)] = true;
        }
      }
      marked_.push_back(std::move(marked));
    }
  }

  LowerFrame paint() {
    const Size size = scene_.size;
    scene_.add(Rectangle{{0, 0, size.width, size.height}, Role::paper, {}, 0});
    draw_title(scene_, "From layouts to instructions", {edge, 24});
    double y = 52;
    scene_.begin("types");
    for (const std::string& line : lowering::type_lines(l_)) {
      scene_.add(words({edge, y}, begin_of(line, size.width - 2 * edge, Family::mono), Role::quiet,
                       Family::mono));
      scene_.hints.push_back({{edge, y - row_height / 2, size.width - 2 * edge, row_height}, line});
      y += row_height;
    }
    if (const std::string formula = lowering::partition_formula(l_); !formula.empty()) {
      y += 4;
      scene_.add(words({edge, y}, "A thread's offset"));
      scene_.add(
          words({edge + text_width("A thread's offset", small_text, Family::sans) + inside, y},
                formula, Family::mono, Role::accent));
      y += row_height;
    }
    for (const std::string& note : l_.notes) {
      y += 4;
      scene_.add(words({edge, y}, begin_of(note, size.width - 2 * edge, Family::sans), Role::text));
      scene_.hints.push_back({{edge, y - row_height / 2, size.width - 2 * edge, row_height}, note});
      y += row_height;
    }
    scene_.end();
    draw_ways(y + 2);
    LowerFrame frame;
    frame.rows.resize(l_.levels.size());
    double x = edge;
    const double top = y + (all_shown() ? 0 : row_height + 6);
    const Box body{0, top + headings, size.width, size.height - top - headings};
    for (std::size_t i = first_; i < end_; ++i) {
      draw_heading(l_.levels[i], {x, top + 14}, widths_[i]);
      std::vector<Box>& rows = frame.rows[i];
      for (std::size_t s = 0; s < l_.levels[i].statements.size(); ++s) {
        rows.push_back({x, body.y + static_cast<double>(s) * row_height - scrolled_, widths_[i],
                        row_height - 2});
      }
      frame.height =
          std::max(frame.height, body.y + static_cast<double>(rows.size()) * row_height + edge);
      x += widths_[i] + gap;
    }
    scene_.begin("levels", body);
    for (std::size_t i = first_ + 1; i < end_; ++i) draw_links(frame, i);
    for (std::size_t i = first_; i < end_; ++i) {
      scene_.begin(std::string(l_.levels[i].title));
      for (std::size_t s = 0; s < frame.rows[i].size(); ++s) {
        const Box seen = frame.rows[i][s].cut(body);
        if (!seen.empty()) draw_row(i, s, frame.rows[i][s], seen);
      }
      scene_.end();
    }
    scene_.end();
    return frame;
  }

  // What each column needs for its operations.
  static std::vector<double> needs(const lowering::Lowering& l) {
    std::vector<double> out;
    for (const lowering::Level& level : l.levels) {
      double width = narrowest;
      for (std::size_t s = 0; s < level.statements.size(); ++s) {
        const std::string text = lowering::text(l, level, static_cast<int>(s));
        // What an instruction comes to is seen as far as it fits.
        const std::string& shown = level.instructions ? text : parted(text).first;
        width = std::max(width, mono_width(shown) + bar + 2 * inside);
      }
      out.push_back(std::min(width, level.instructions ? widest_code : widest));
    }
    return out;
  }

 private:
  bool all_shown() const { return end_ - first_ == l_.levels.size(); }

  // As many from `first` on as have three quarters of the width that they need, or the ones before
  // it too where the last are shown; the room is then shared out.
  void choose_levels(int first) {
    constexpr double enough = 0.75;
    widths_ = needs(l_);
    const std::size_t count = widths_.size();
    const auto fit = [&](std::size_t from, std::size_t to) {
      double all = gap * static_cast<double>(to - from - 1);
      for (std::size_t i = from; i < to; ++i) all += widths_[i] * enough;
      return all <= scene_.size.width - 2 * edge;
    };
    first_ = std::min(static_cast<std::size_t>(std::max(first, 0)), count - 1);
    end_ = first_ + 1;
    while (end_ < count && fit(first_, end_ + 1)) ++end_;
    while (end_ == count && first_ > 0 && fit(first_ - 1, end_)) --first_;
    double all = 0;
    for (std::size_t i = first_; i < end_; ++i) all += widths_[i];
    const double room = scene_.size.width - 2 * edge - gap * static_cast<double>(end_ - first_ - 1);
    for (std::size_t i = first_; i < end_; ++i) widths_[i] *= std::max(0.1, room / all);
  }

  // Where not all levels are shown: their names, each a way to it.
  void draw_ways(double y) {
    if (all_shown()) return;
    scene_.begin("all levels");
    double x = edge;
    for (std::size_t i = 0; i < l_.levels.size(); ++i) {
      const bool here = i >= first_ && i < end_;
      const std::string title(l_.levels[i].title);
      const double width = text_width(title, small_text, Family::sans);
      if (x + width > scene_.size.width - edge) break;
      scene_.add(words({x, y}, title, here ? Role::text : Role::accent));
      if (!here) {
        scene_.targets.push_back({Box{x, y - row_height / 2, width, row_height},
                                  fmt::format("lower from {}", title), "shows this level"});
      }
      x += width + between_groups;
    }
    scene_.end();
  }

  // The operation of the program that a statement of it is for: registers, coordinates, atoms and
  // tiles are there for the slice or the partition after them.
  int operation_of(int statement) const {
    const std::vector<lowering::Statement>& program = l_.levels[0].statements;
    for (std::size_t s = static_cast<std::size_t>(statement); s < program.size(); ++s) {
      switch (program[s].op) {
        case lowering::Op::tid_x:
        case lowering::Op::ctaid_x:
        case lowering::Op::ctaid_y:
        case lowering::Op::ctaid_z:
        case lowering::Op::make_coord:
        case lowering::Op::make_atom:
        case lowering::Op::make_tile:
        case lowering::Op::make_tiled_copy:
          continue;
        default:
          return static_cast<int>(s);
      }
    }
    return statement;
  }

  // One for each operation of the program; the argument's is grey.
  Rgba colour(std::size_t level, std::size_t statement) const {
    if (l_.levels[0].instructions) return mix(scene_.theme.paper, scene_.theme.text, 0.5);
    const std::vector<int> source =
        lowering::became(l_, static_cast<int>(level), static_cast<int>(statement), 0);
    const int of = operation_of(source.empty() ? 0 : source.back());
    if (of == 0) return mix(scene_.theme.paper, scene_.theme.text, 0.5);
    int before = 0;
    for (int s = 1; s < of; ++s) before += operation_of(s) == s;
    return category(before, scene_.theme.dark);
  }
  bool pale(std::size_t level, std::size_t statement) const {
    return followed_ && !marked_[level][statement];
  }

  void draw_heading(const lowering::Level& level, Point at, double width) {
    scene_.add(words(at, fitted(level.title, width, small_text, Family::sans, FontWeight::bold),
                     FontWeight::bold));
    scene_.add(words({at.x, at.y + 18},
                     fitted(level.instructions   ? "the kernel"
                            : level.pass.empty() ? "the program"
                                                 : level.pass,
                            width, small_text, Family::sans),
                     Role::quiet));
    scene_.hints.push_back({{at.x, at.y - 10, width, 38}, std::string(level.says)});
  }

  // Of several sources the last leads to each statement, the others to the first alone: an atom
  // and its tile come down with their partition.
  bool links(std::size_t level, std::size_t statement, int source) const {
    const std::vector<lowering::Statement>& all = l_.levels[level].statements;
    return source == all[statement].from.back() || statement == 0 ||
           all[statement].from != all[statement - 1].from;
  }

  void draw_links(const LowerFrame& frame, std::size_t level) {
    const std::vector<lowering::Statement>& statements = l_.levels[level].statements;
    for (const bool strong : {false, true}) {  // what is followed lies over the rest
      for (std::size_t s = 0; s < statements.size(); ++s) {
        const Box& to = frame.rows[level][s];
        for (const int source : statements[s].from) {
          if (!links(level, s, source)) continue;
          const auto from_row = static_cast<std::size_t>(source);
          const bool marked = followed_ && marked_[level][s] && marked_[level - 1][from_row];
          if (strong != marked) continue;
          const Box& from = frame.rows[level - 1][from_row];
          Ink ink(colour(level, s));
          ink.alpha = marked ? 1 : followed_ ? 0.15 : 0.45;
          const double bend = std::min(10.0, gap / 3);
          scene_.add(Line{{{from.right(), from.centre().y},
                           {from.right() + bend, from.centre().y},
                           {to.x - bend, to.centre().y},
                           {to.x, to.centre().y}},
                          {ink, marked ? 1.5 : 1.0, false},
                          false});
        }
      }
    }
  }

  // The instructions are under it.
  void draw_source_line(std::size_t level, std::size_t s, const Box& box, const Box& seen,
                        const std::string& whole) {
    const bool itself =
        followed_ && *followed_ == LowerSpot{static_cast<int>(level), static_cast<int>(s)};
    if (itself) draw_selection(scene_, box);
    scene_.add(words(
        {box.x + bar + inside, box.centre().y},
        fitted(whole, box.width - bar - 2 * inside, small_text, Family::sans, FontWeight::bold),
        pale(level, s) ? Role::quiet : Role::text, FontWeight::bold));
    scene_.hints.push_back({seen, whole});
    scene_.targets.push_back({seen, itself ? "lower nothing" : fmt::format("lower {} {}", level, s),
                              itself ? "follows it no longer" : "follows it through all levels"});
  }

  void draw_row(std::size_t level, std::size_t s, const Box& box, const Box& seen) {
    const std::string whole = lowering::text(l_, l_.levels[level], static_cast<int>(s));
    const auto [operation, types] = parted(whole);
    const Rgba own = colour(level, s);
    const bool faint = pale(level, s);
    if (l_.levels[level].statements[s].op == lowering::Op::source_line) {
      return draw_source_line(level, s, box, seen, whole);
    }
    scene_.add(Rectangle{box, Ink(mix(scene_.theme.paper, own, faint ? 0.04 : 0.14)), {}, 2});
    Ink edge_ink(own);
    edge_ink.alpha = faint ? 0.25 : 1;
    scene_.add(Rectangle{{box.x, box.y, bar, box.height}, edge_ink, {}, 0});
    const bool itself =
        followed_ && *followed_ == LowerSpot{static_cast<int>(level), static_cast<int>(s)};
    if (itself) draw_selection(scene_, box);
    const double left = box.x + bar + inside, room = box.width - bar - 2 * inside;
    const std::string shown = begin_of(operation, room, Family::mono);
    scene_.add(
        words({left, box.centre().y}, shown, Family::mono, faint ? Role::quiet : Role::text));
    const double used = mono_width(shown);
    if (!types.empty() && shown == operation && room - used > 60) {
      scene_.add(words({left + used, box.centre().y}, begin_of(types, room - used, Family::mono),
                       Family::mono, Role::quiet));
    }
    scene_.hints.push_back({seen, whole});
    scene_.targets.push_back({seen, itself ? "lower nothing" : fmt::format("lower {} {}", level, s),
                              itself ? "follows it no longer" : "follows it through all levels"});
  }

  Scene& scene_;
  const lowering::Lowering& l_;
  std::optional<LowerSpot> followed_;
  double scrolled_ = 0;
  std::size_t first_ = 0, end_ = 0;        // the levels that are shown
  std::vector<double> widths_;             // of all levels' columns
  std::vector<std::vector<bool>> marked_;  // of each level: what is followed
};

}  // namespace

std::optional<LowerSpot> LowerFrame::at(Point point) const {
  for (std::size_t level = 0; level < rows.size(); ++level) {
    for (std::size_t s = 0; s < rows[level].size(); ++s) {
      if (rows[level][s].contains(point)) {
        return LowerSpot{static_cast<int>(level), static_cast<int>(s)};
      }
    }
  }
  return std::nullopt;
}

Size lower_size(const lowering::Lowering& l) {
  double width = 2 * edge;
  std::size_t rows = 0;
  for (const double w : Painter::needs(l)) width += w + gap;
  for (const lowering::Level& level : l.levels) rows = std::max(rows, level.statements.size());
  const double above = 52 + row_height * static_cast<double>(lowering::type_lines(l).size()) +
                       (lowering::partition_formula(l).empty() ? 0 : row_height + 4) +
                       (row_height + 4) * static_cast<double>(l.notes.size()) + headings;
  return {width - gap, above + row_height * static_cast<double>(rows) + edge};
}

LowerFrame draw_lower(Scene& scene, const lowering::Lowering& lowering, const LowerShown& shown) {
  return Painter(scene, lowering, shown).paint();
}

Scene lower_scene(const lowering::Lowering& lowering, std::optional<LowerSpot> followed,
                  const Theme& theme) {
  Scene scene;
  scene.size = lower_size(lowering);
  scene.theme = theme;
  scene.title = "From layouts to instructions";
  (void)draw_lower(scene, lowering, {followed, 0, 0});
  return scene;
}

}  // namespace tilescope
