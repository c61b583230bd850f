#include "viz/why/why_scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "viz/scene/items.h"
#include "viz/scene/number_words.h"
#include "viz/scene/palette.h"

namespace tilescope {
namespace {

using sim::PathKind;
using sim::PathStep;

// The chain goes from one of these to another.
enum class Lane : std::uint8_t { warps, copies_in, products, moves, copies_out, barriers, count_ };
std::string_view name_of(Lane lane) {
  static constexpr std::string_view names[] = {"warps", "copies in",  "tensor cores",
                                               "TMEM",  "copies out", "barriers"};
  return names[static_cast<std::size_t>(lane)];
}

double share(double part, double all) {
  return all > 0 ? part / all : 0;
}

class Painter {
 public:
  Painter(Scene& scene, const WhyShown& shown, Size size)
      : scene_(scene), s_(shown), size_(size), changed_(shown.answer.what.changes()) {}

  WhyFrame paint(Scroll& scroll) {
    // In a small room it is a page: one under the other, and scrolled whole.
    const bool page = size_.width < 720 || size_.height < 420;
    if (page) scene_.begin("page", Box{0, 0, size_.width, size_.height});
    const double top = page ? -scroll.at : 0;
    const sim::Record& record = s_.view.record();
    const std::string unit = record.timed ? "cycles" : "instructions";
    const std::string title =
        fmt::format("Why {} takes {} {}", record.kernel, count(s_.view.run().end), unit);
    draw_title(scene_,
               fitted(title, size_.width - 2 * edge, heading_text, Family::sans, FontWeight::bold),
               {edge, top + 24});
    if (s_.view.run().path.empty()) {
      scene_.add(
          words({edge, 54}, "The record has no events whose causes are known.", Role::quiet));
      if (page) scene_.end();
      return frame_;
    }
    scale_ = std::max(s_.view.run().end, 1.0);
    if (page) {
      paint_page(top, scroll);
      scene_.end();
      return frame_;
    }
    const double asks = std::min(340.0, size_.width * 0.4);
    right_ = size_.width - asks - between_groups;
    double y = draw_sentence(50);
    draw_asks({size_.width - asks - edge, y + 6, asks, size_.height - y - 14});
    y = draw_shares(y + 6);
    y = draw_chain(y + 8, s_.view.run(), changed_ ? "as it is" : "");
    if (changed_) y = draw_chain(y + 8, s_.answer, text_of(s_.answer.what));
    y = draw_axis(y);
    draw_list({0, y + 12, right_, size_.height - y - 12}, scroll);
    return frame_;
  }

 private:
  static constexpr double edge = 16, label = 104;

  void paint_page(double top, Scroll& scroll) {
    right_ = size_.width - edge;
    double y = draw_sentence(top + 50);
    y = draw_shares(y + 6);
    y = draw_chain(y + 8, s_.view.run(), changed_ ? "as it is" : "");
    if (changed_) y = draw_chain(y + 8, s_.answer, text_of(s_.answer.what));
    y = draw_axis(y);
    y = draw_asks({edge, y + 16, size_.width - 2 * edge, 1e6});
    y = draw_list({0, y + 16, size_.width, 1e6}, scroll);
    frame_.scroll = std::max(0.0, y + edge - top - size_.height);
    scroll.at = std::min(scroll.at, frame_.scroll);
  }

  static std::string count(double cycles) {
    return grouped(static_cast<std::uint64_t>(std::llround(std::max(0.0, cycles))));
  }
  // As the timeline has them: copies orange, those out the darker orange, products blue, TMEM
  // yellow, warps green, barriers purple, loads of the warp's own vermilion.
  Rgba colour(PathKind kind) const {
    const auto of = [&](int i) { return category(i, s_.theme.dark); };
    constexpr int brown = 16;
    switch (kind) {
      case PathKind::copies_in:
        return of(0);
      case PathKind::copies_out:
        return of(brown);
      case PathKind::products:
        return of(4);
      case PathKind::moves:
        return of(3);
      case PathKind::wakes:
        return of(6);
      case PathKind::commit:
        return mix(s_.theme.paper, of(6), 0.55);
      case PathKind::drains:
        return mix(s_.theme.paper, of(brown), 0.5);
      case PathKind::start:
        return mix(s_.theme.paper, s_.theme.text, 0.14);
      case PathKind::memory:
        return of(5);
      case PathKind::queued:
        return mix(s_.theme.paper, s_.theme.text, 0.5);
      case PathKind::runs:
        return of(2);
      default:
        return mix(s_.theme.paper, s_.theme.text, 0.28);
    }
  }

  sim::Event event(const PathStep& step) const { return s_.view.record().events[step.event]; }
  Lane lane_of(const PathStep& step) const {
    switch (step.kind) {
      case PathKind::copies_in:
        return Lane::copies_in;
      case PathKind::copies_out:
        return Lane::copies_out;
      case PathKind::products:
        return Lane::products;
      case PathKind::moves:
        return Lane::moves;
      case PathKind::commit:
      case PathKind::wakes:
        return Lane::barriers;
      case PathKind::queued:
        break;
      default:
        return Lane::warps;
    }
    if (step.event == sim::no_event) return Lane::warps;
    switch (s_.view.record().tracks[event(step).track].unit) {
      case sim::Unit::tensor:
        return Lane::products;
      case sim::Unit::copy_out:
        return Lane::copies_out;
      case sim::Unit::commit:
        return Lane::barriers;
      case sim::Unit::tensor_copy:
      case sim::Unit::tensor_load:
      case sim::Unit::tensor_store:
        return Lane::moves;
      default:
        return Lane::copies_in;
    }
  }
  double x_of(double cycle) const {
    const double room = right_ - edge - label - 64;
    return edge + label + room * cycle / scale_;
  }

  double draw_sentence(double y) {
    for (const std::string& line :
         wrapped(sim::caveat(s_.view.record()), size_.width - 2 * edge, 3)) {
      scene_.add(words({edge, y}, line));
      y += 18;
    }
    const std::string text = fmt::format(
        "The longest chain of causes: {}. What is not on it does not make the run longer.",
        shares_text(s_.view.run().path, 4));
    for (const std::string& line : wrapped(text, size_.width - 2 * edge, 3)) {
      scene_.add(words({edge, y}, line, Role::quiet));
      y += 18;
    }
    return y;
  }

  // A bar of what the time went to, and what each colour is.
  double draw_shares(double y) {
    scene_.begin("shares");
    const auto bar = [&](const WhyAnswer& answer, std::string_view name) {
      if (changed_) {
        scene_.add(words({edge, y + 9},
                         fitted(std::string(name), label - 8, small_text, Family::sans),
                         Role::quiet));
      }
      const auto totals = sim::totals_of(answer.path);
      double at = 0;
      for (const PathKind kind : sim::kinds_of(answer.path)) {
        const auto takes = static_cast<double>(totals[static_cast<std::size_t>(kind)]);
        const Box box{x_of(at), y, x_of(at + takes) - x_of(at), 18};
        scene_.add(Rectangle{box, Ink(colour(kind)), {}, 0});
        scene_.hints.push_back(
            {box, fmt::format("{}: {} of {} cycles, {:.1f}%", name_of(kind), count(takes),
                              count(answer.end), 100 * share(takes, answer.end))});
        at += takes;
      }
      scene_.add(words({x_of(answer.end) + 6, y + 9}, count(answer.end), Family::mono));
      y += 24;
    };
    bar(s_.view.run(), "as it is");
    if (changed_) bar(s_.answer, "then");
    double x = edge;
    const auto totals = sim::totals_of(s_.view.run().path);
    const auto then = sim::totals_of(s_.answer.path);
    y += 8;
    for (const PathKind kind : sim::kinds_of(s_.view.run().path)) {
      const double percent =
          100 *
          share(static_cast<double>(totals[static_cast<std::size_t>(kind)]), s_.view.run().end);
      std::string text = fmt::format("{} {:.1f}%", name_of(kind), percent);
      if (changed_) {
        text += fmt::format(
            ", then {:.1f}%",
            100 * share(static_cast<double>(then[static_cast<std::size_t>(kind)]), s_.answer.end));
      }
      const double width = text_width(text, small_text, Family::sans) + 30;
      if (x + width > right_ && x > edge) {
        x = edge;
        y += 20;
      }
      scene_.add(Rectangle{{x, y - 5, 10, 10}, Ink(colour(kind)), {}, 2});
      scene_.add(words({x + 15, y}, text));
      x += width;
    }
    scene_.end();
    return y + 16;
  }

  // Each step where it is, in the row of who takes the time, and how it leads on.
  double draw_chain(double y, const WhyAnswer& answer, const std::string& name) {
    scene_.begin(answer.what.changes() ? "chain then" : "chain");
    if (!name.empty()) {
      scene_.add(words({edge, y + 8}, name, FontWeight::bold));
      y += 22;
    }
    std::array<bool, static_cast<std::size_t>(Lane::count_)> used{};
    for (const PathStep& step : answer.path) used[static_cast<std::size_t>(lane_of(step))] = true;
    const double row = size_.height < 640 ? 18 : 24;
    std::array<double, static_cast<std::size_t>(Lane::count_)> top{};
    for (std::size_t i = 0; i < used.size(); ++i) {
      if (!used[i]) continue;
      top[i] = y;
      scene_.add(Rectangle{{x_of(0), y, x_of(scale_) - x_of(0), row - 4}, Ink(Role::panel), {}, 0});
      scene_.add(
          words({edge, y + row / 2 - 2}, std::string(name_of(static_cast<Lane>(i))), Role::quiet));
      y += row;
    }
    draw_steps(answer, top, row);
    scene_.end();
    return y;
  }

  void draw_steps(const WhyAnswer& answer,
                  const std::array<double, static_cast<std::size_t>(Lane::count_)>& top,
                  double row) {
    // Where several steps are in a pixel of a row, one is seen.
    std::array<double, static_cast<std::size_t>(Lane::count_)> drawn{};
    double led = -10;
    Segments ways;
    ways.stroke = {Role::text, 1, false};
    std::optional<Lane> before;
    std::vector<Item> letters;
    for (const PathStep& step : answer.path) {
      const Lane lane = lane_of(step);
      const auto i = static_cast<std::size_t>(lane);
      const double from = x_of(static_cast<double>(step.from)),
                   to = x_of(static_cast<double>(step.to));
      if (before && *before != lane && from - led >= 3) {
        const auto b = static_cast<std::size_t>(*before);
        const double up = std::min(top[b], top[i]) + (row - 4) / 2;
        const double down = std::max(top[b], top[i]) + (row - 4) / 2;
        ways.lines.push_back({{from, up}, {from, down}});
        led = from;
      }
      before = lane;
      const Box box{from, top[i], std::max(1.0, to - from), row - 4};
      if (box.right() <= drawn[i]) continue;
      drawn[i] = std::ceil(box.right() - 0.5);
      scene_.add(Rectangle{box, Ink(colour(step.kind)), {}, 0});
      if (to - from < 6) continue;
      const std::string what = words_of(step);
      scene_.hints.push_back({box, what});
      if (!changed_ && step.event != sim::no_event) {
        scene_.targets.push_back(
            {box, fmt::format("pick event {}", step.event), "shows it in the timeline"});
      }
      const std::string text(name_of(step.kind));
      if (text_width(text, small_text, Family::sans) + 8 < to - from) {
        letters.emplace_back(words({(from + to) / 2, top[i] + (row - 4) / 2}, text, Across::centre,
                                   Ink(contrast(colour(step.kind)))));
      }
    }
    scene_.add(std::move(ways));
    for (Item& item : letters) scene_.add(std::move(item));
  }
  Rgba contrast(Rgba fill) const { return text_on(fill); }

  std::string words_of(const PathStep& step) const {
    const sim::PathLine told = sim::lines_of(s_.view.record(), {step}).front();
    std::string out = fmt::format("{} to {}, {}: {}", count(static_cast<double>(step.from)),
                                  count(static_cast<double>(step.to)),
                                  count(static_cast<double>(step.to - step.from)), told.what);
    if (!told.where.empty()) out += ", " + told.where;
    if (!told.line.empty()) out += ", " + told.line;
    return out;
  }

  double draw_axis(double y) {
    const double step = nice(90 * scale_ / (x_of(scale_) - x_of(0)));
    for (double at = 0; at <= scale_; at += step) {
      scene_.add(words({x_of(at), y + 8}, count(at), Across::centre, Family::mono, Role::quiet,
                       small_text));
    }
    return y + 18;
  }
  static double nice(double about) {
    const double ten = std::pow(10, std::floor(std::log10(std::max(about, 1.0))));
    for (const double m : {1.0, 2.0, 5.0}) {
      if (m * ten >= about) return m * ten;
    }
    return 10 * ten;
  }

  // Answers where it ends.
  double draw_asks(const Box& room) {
    scene_.begin("what if");
    double y = room.y + 8;
    scene_.add(words({room.x, y}, "What if", FontWeight::bold));
    if (changed_) {
      scene_.add(words({room.right(), y}, "reset", Across::right, Role::accent));
      const Box back{room.right() - 60, y - 10, 60, 20};
      scene_.targets.push_back({back, "why reset", "nothing changed"});
    }
    y += 24;
    for (const WhyPart part : why_parts) {
      sim::WhatIf what = s_.answer.what;
      const double at = share_of(what, part);
      static constexpr std::string_view names[] = {"copies take", "products take", "barriers take",
                                                   "latency takes"};
      scene_.add(words({room.x, y}, std::string(names[static_cast<std::size_t>(part)])));
      const Box track{room.x + 96, y - 3, std::max(40.0, room.width - 96 - 52), 6};
      scene_.add(Rectangle{track, Ink(Role::line), {}, 3});
      scene_.add(Rectangle{{track.x, track.y, track.width * at, 6}, Ink(Role::accent), {}, 3});
      scene_.add(Rectangle{{track.x + track.width * at - 7, y - 8, 14, 16},
                           Ink(Role::paper),
                           {Role::accent, 2, false},
                           4});
      scene_.add(words({room.right(), y}, at == 0 ? "free" : fmt::format("{:.0f}%", 100 * at),
                       Across::right, Family::mono));
      frame_.sliders[static_cast<std::size_t>(part)] = track;
      scene_.hints.push_back({track.grown(8), "drag: the share of its time"});
      y += 26;
    }
    const double now = s_.view.run().end;
    if (changed_) {
      scene_.add(words({room.x, y + 4},
                       fmt::format("{} cycles, {:.1f}% less", count(s_.answer.end),
                                   100 * share(now - s_.answer.end, now)),
                       FontWeight::bold, heading_text));
      y += 22;
      const std::string then = fmt::format("Then: {}.", shares_text(s_.answer.path, 3));
      for (const std::string& line : wrapped(then, room.width, 2)) {
        scene_.add(words({room.x, y + 4}, line));
        y += 18;
      }
    }
    y += 10;
    for (const WhyView::Usual& one : s_.view.usual()) {
      if (y + 12 > room.bottom()) break;
      const bool chosen = one.answer.what == s_.answer.what;
      scene_.add(words({room.x, y}, one.text, Role::accent,
                       chosen ? FontWeight::bold : FontWeight::regular));
      scene_.add(words({room.right() - 52, y}, count(one.answer.end), Across::right, Family::mono));
      const std::string less = fmt::format("-{:.1f}%", 100 * share(now - one.answer.end, now));
      scene_.add(words({room.right(), y}, less == "-0.0%" ? "same" : less, Across::right,
                       Family::mono, Role::quiet));
      std::string command = "why";
      for (const WhyPart part : why_parts) {
        sim::WhatIf what = one.answer.what;
        command += fmt::format(" {} {:g}", tilescope::name_of(part), share_of(what, part));
      }
      scene_.targets.push_back({{room.x, y - 9, room.width, 18}, command, "asks this"});
      y += 20;
    }
    y += 6;
    for (const std::string& line : wrapped(sim::left_out(), room.width, 16)) {
      if (y + 8 > room.bottom()) break;
      scene_.add(words({room.x, y}, line, Role::quiet));
      y += 16;
    }
    scene_.end();
    return y;
  }

  // As high as its room, or, on a page, as its rows: answers where it ends.
  double draw_list(Box room, Scroll& scroll) {
    if (room.height < table_titles + 2 * table_row) {
      const std::string none = "The chain as a list has no room here: a higher window shows it.";
      if (room.height >= 20) {
        scene_.add(words({edge, room.y + 10},
                         fitted(none, room.width - edge, small_text, Family::sans), Role::quiet));
      }
      return room.bottom();
    }
    const bool page = room.height > 1e5, narrow = room.width < 560;
    Table table;
    table.name = "chain as a list";
    table.columns = {{"from", Across::right, Family::mono, 76},
                     {"takes", Across::right, Family::mono, 68},
                     {"what"}};
    table.columns[2].stretches = true;
    if (!narrow) {
      table.columns.insert(table.columns.end(), {{"where"}, {"line"}});
      table.columns[4].spared = 1;
    } else {
      table.columns[2].title = "what, and where";
    }
    std::size_t inside = 0;
    for (const sim::PathLine& line : s_.view.lines()) {
      if (line.period) {
        TableRow heading;
        heading.heading = true;
        heading.cells = {{times_text(line)}};
        table.rows.push_back(std::move(heading));
        inside = line.period;
      }
      TableRow row;
      row.cells = {{count(static_cast<double>(line.from)), Role::quiet},
                   {count(static_cast<double>(line.takes))},
                   {(line.times > 1 ? "    " : "") + line.what}};
      if (!narrow)
        row.cells.insert(row.cells.end(), {{line.where, Role::quiet}, {line.line, Role::quiet}});
      row.cells[0].fill = Ink(mix(s_.theme.paper, colour(line.kind), 0.45));
      row.cells[0].ink = Role::text;
      if (line.event != sim::no_event) {
        row.command = fmt::format("pick event {}", line.event);
        row.hint = "shows it in the timeline";
      }
      table.rows.push_back(row);
      // Where there is no room beside it, who and which line are told below.
      std::string place = line.where;
      if (!line.line.empty()) place += (place.empty() ? "" : ", ") + line.line;
      if (narrow && !place.empty()) {
        row.cells = {{}, {}, {std::move(place), Role::quiet}};
        table.rows.push_back(std::move(row));
      }
      if (inside > 0) --inside;
    }
    if (!page) {
      frame_.scroll = draw_table(scene_, table, room, scroll);
      return room.bottom();
    }
    Scroll whole;
    room.height = table_titles + static_cast<double>(table.rows.size()) * table_row + 2;
    draw_table(scene_, table, room, whole);
    return room.bottom();
  }

  Scene& scene_;
  const WhyShown& s_;
  Size size_;
  bool changed_ = false;
  double scale_ = 1, right_ = 0;  // cycles; where the chain's room ends
  WhyFrame frame_;
};

}  // namespace

std::string_view name_of(WhyPart part) {
  static constexpr std::string_view names[] = {"copies", "products", "barriers", "latency"};
  return names[static_cast<std::size_t>(part)];
}

double& share_of(sim::WhatIf& what, WhyPart part) {
  switch (part) {
    case WhyPart::copies:
      return what.copies;
    case WhyPart::products:
      return what.products;
    case WhyPart::barriers:
      return what.barriers;
    default:
      return what.latency;
  }
}

std::optional<WhyPart> WhyFrame::part_at(Point at) const {
  for (const WhyPart part : why_parts) {
    const Box& track = sliders[static_cast<std::size_t>(part)];
    if (track.width > 0 && track.grown(9).contains(at)) return part;
  }
  return {};
}

double WhyFrame::share_at(WhyPart part, double x) const {
  const Box& track = sliders[static_cast<std::size_t>(part)];
  const double at = track.width > 0 ? std::clamp((x - track.x) / track.width, 0.0, 1.0) : 1;
  return std::round(100 * at) / 100;
}

WhyFrame draw_why(Scene& scene, const WhyShown& shown, Size size, Scroll& scroll) {
  return Painter(scene, shown, size).paint(scroll);
}

std::string shares_text(const std::vector<PathStep>& path, std::size_t most) {
  const auto totals = sim::totals_of(path);
  double all = 0;
  for (const sim::Cycle total : totals) all += static_cast<double>(total);
  std::string out;
  for (const PathKind kind : sim::kinds_of(path)) {
    if (most-- == 0) break;
    out +=
        fmt::format("{}{:.0f}% {}", out.empty() ? "" : ", ",
                    100 * share(static_cast<double>(totals[static_cast<std::size_t>(kind)]), all),
                    name_of(kind));
  }
  return out;
}

Json describe_why(const WhyShown& shown) {
  const auto answer = [](const WhyAnswer& of) {
    Json shares = Json::object();
    const auto totals = sim::totals_of(of.path);
    for (const PathKind kind : sim::kinds_of(of.path)) {
      shares[std::string(name_of(kind))] = totals[static_cast<std::size_t>(kind)];
    }
    Json out;
    out["end"] = of.end;
    out["cycles"] = std::move(shares);
    out["steps"] = of.path.size();
    return out;
  };
  Json out;
  out["run"] = answer(shown.view.run());
  if (shown.answer.what.changes()) {
    out["what_if"] = text_of(shown.answer.what);
    out["then"] = answer(shown.answer);
  }
  for (const WhyView::Usual& one : shown.view.usual()) {
    out["usual"][one.text] = one.answer.end;
  }
  return out;
}

}  // namespace tilescope
