#include "viz/course/course_scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "viz/scene/items.h"
#include "viz/scene/rich_lines.h"

namespace tilescope {
namespace {

constexpr double kEdge = 24, kLine = 20, kRow = 24, kHead = 40, kButton = 32;
constexpr double kBeside = 640;  // the list stands beside the exercise from this width on
constexpr double kMost = 760;    // of a line to be read

double wide_of(const std::string& text, FontWeight weight = FontWeight::regular) {
  return text_width(text, small_text, Family::sans, weight);
}

void draw_tick(Scene& scene, Point at, const Ink& ink) {
  scene.add(Line{
      {{at.x - 5, at.y}, {at.x - 1.5, at.y + 4}, {at.x + 5, at.y - 4}}, {ink, 2, false}, false});
}

void draw_cross(Scene& scene, Point at, const Ink& ink) {
  scene.add(Line{{{at.x - 4, at.y - 4}, {at.x + 4, at.y + 4}}, {ink, 2, false}, false});
  scene.add(Line{{{at.x - 4, at.y + 4}, {at.x + 4, at.y - 4}}, {ink, 2, false}, false});
}

// Passed: a tick. Begun: a ring with a dot in it. Not yet: a ring.
void draw_standing(Scene& scene, Point at, CourseStanding standing) {
  if (standing == CourseStanding::passed) return draw_tick(scene, at, Role::right);
  const bool begun = standing == CourseStanding::begun;
  const Ink ink = begun ? Ink(Role::accent) : Ink(Role::quiet, 0.6);
  scene.add(Rectangle{{at.x - 5, at.y - 5, 10, 10}, {}, {ink, 1.5, false}, 5});
  if (begun) scene.add(Rectangle{{at.x - 2.5, at.y - 2.5, 5, 5}, ink, {}, 2.5});
}

std::string standing_text(const CourseRow& row) {
  return fmt::format("{}: {} ({})", row.name, row.title, name_of(row.standing));
}

// How many are passed, then a row for each.
double list_height(const CourseShown& shown) {
  return kHead + kRow * static_cast<double>(shown.rows.size()) + between;
}

void draw_list(Scene& scene, const CourseShown& shown, const Box& room, double scrolled) {
  double y = room.y - scrolled;
  const auto passed = std::count_if(shown.rows.begin(), shown.rows.end(), [](const CourseRow& row) {
    return row.standing == CourseStanding::passed;
  });
  scene.begin("exercises", room);
  scene.add(words({room.x + between, y + kHead / 2}, "Write it yourself", FontWeight::bold));
  scene.add(words({room.right() - between, y + kHead / 2},
                  fmt::format("{} of {} passed", passed, shown.rows.size()), Role::quiet,
                  Across::right));
  y += kHead;
  constexpr double name_room = 128, mark_room = 22;
  const double left = room.x + between;
  const double title_room = room.width - 2 * between - mark_room - name_room;
  const bool titled = title_room >= 88;
  for (const CourseRow& row : shown.rows) {
    const Box box{room.x + 8, y, room.width - 16, kRow};
    if (row.current) scene.add(Rectangle{box, Ink(Role::accent, 0.12), {}, 4});
    draw_standing(scene, {left + 6, y + kRow / 2}, row.standing);
    const double from = left + mark_room, middle = y + kRow / 2;
    scene.add(words({from, middle},
                    fitted(row.name, titled ? name_room - 8 : room.right() - between - from,
                           small_text, Family::mono),
                    Family::mono));
    if (titled) {
      scene.add(words({from + name_room, middle}, begin_of(row.title, title_room, Family::sans),
                      row.current ? Role::text : Role::quiet));
    }
    if (const Box seen = box.cut(room); !seen.empty()) {
      scene.targets.push_back({seen, "course " + row.name, standing_text(row)});
    }
    y += kRow;
  }
  scene.end();
}

// Writes down the page, from a height on.
class Writer {
 public:
  Writer(Scene& scene, Box room) : scene_(scene), room_(room), y_(room.y) {}

  double y() const { return y_; }
  void skip(double pixels) { y_ += pixels; }

  void title(const std::string& text) {
    double size = title_text;
    if (text_width(text, size, Family::sans, FontWeight::bold) > room_.width) size = heading_text;
    scene_.add(words({room_.x, y_ + 10},
                     fitted(text, room_.width, size, Family::sans, FontWeight::bold), size,
                     FontWeight::bold));
    y_ += 32;
  }
  void heading(const std::string& text, const std::string& more = "", Role role = Role::quiet) {
    scene_.add(words({room_.x, y_ + 8}, text, FontWeight::bold));
    const double from = wide_of(text, FontWeight::bold) + between;
    if (!more.empty()) {
      scene_.add(words({room_.x + from, y_ + 8},
                       fitted(more, room_.width - from, small_text, Family::sans), role));
    }
    y_ += kLine + 4;
  }
  void paragraph(std::string_view text, const Ink& ink = Role::text, double indent = 0) {
    const bool item = text.substr(0, 2) == "- ";
    if (item) {
      text.remove_prefix(2);
      scene_.add(Rectangle{{room_.x + indent + 4, y_ + 6, 4, 4}, Ink(Role::quiet), {}, 2});
      indent += between;
    }
    y_ += draw_rich(scene_, text, {room_.x + indent, y_ + 8}, room_.width - indent, kLine, ink) +
          (item ? 2 : 6);
  }
  void fact(const std::string& name, const std::string& value, Family family = Family::sans,
            const std::string& command = "") {
    const double from = std::min(104.0, room_.width * 0.35), width = room_.width - from;
    scene_.add(words({room_.x, y_ + 8}, name, Role::quiet));
    const std::string said = fitted(value, width, small_text, family);
    scene_.add(
        words({room_.x + from, y_ + 8}, said, family, command.empty() ? Role::text : Role::accent));
    const Box box{room_.x + from - 4, y_ - 2, text_width(said, small_text, family) + 8, kLine};
    if (!command.empty()) scene_.targets.push_back({box, command, command});
    if (command.empty() && said != value) scene_.hints.push_back({box, value});
    y_ += kLine;
  }
  struct Button {
    std::string word, command;
    bool loud = false, enabled = true;
  };
  void buttons(const std::vector<Button>& all) {
    double x = room_.x;
    for (const Button& each : all) {
      const FontWeight weight = each.loud ? FontWeight::bold : FontWeight::regular;
      const double wide = std::min(room_.width, wide_of(each.word, weight) + 28);
      if (x > room_.x && x + wide > room_.right()) {
        x = room_.x;
        y_ += kButton + 8;
      }
      const Box box{x, y_, wide, kButton};
      Rectangle shape{box, each.loud && each.enabled ? Ink(Role::accent) : Ink(Role::paper), {}, 4};
      if (!each.loud || !each.enabled) shape.stroke = {Role::line, 1, false};
      scene_.add(shape);
      scene_.add(words(box.centre(), fitted(each.word, wide - 16, small_text, Family::sans, weight),
                       weight,
                       !each.enabled ? Role::quiet
                       : each.loud   ? Role::paper
                                     : Role::text,
                       Across::centre));
      if (each.enabled) scene_.targets.push_back({box, each.command, each.command});
      x += wide + 8;
    }
    y_ += kButton + 8;
  }
  // What is told, beside a bar in the colour of what it is.
  void told(const std::vector<std::pair<std::string, Ink>>& lines, Role bar) {
    const double begin = y_;
    y_ += 6;
    for (const auto& [text, ink] : lines) paragraph(text, ink, between);
    scene_.add(Rectangle{{room_.x, begin, 4, y_ - begin}, Ink(bar), {}, 2});
    y_ += 8;
  }
  // A line of the verdict: yes, no, or not asked.
  void answer(const std::string& what, bool asked, bool yes, const std::string& more) {
    const Point mark{room_.x + 6, y_ + 8};
    if (asked && yes) draw_tick(scene_, mark, Role::right);
    if (asked && !yes) draw_cross(scene_, mark, Role::wrong);
    if (!asked) scene_.add(Rectangle{{mark.x - 4, mark.y - 1, 8, 2}, Ink(Role::quiet), {}, 0});
    scene_.add(words({room_.x + 22, y_ + 8}, what, FontWeight::bold));
    scene_.add(words({room_.x + 72, y_ + 8}, asked ? (yes ? "yes" : "no") : "not asked",
                     asked ? (yes ? Role::right : Role::wrong) : Role::quiet));
    const double from = asked ? 112 : 152;
    if (!more.empty()) {
      scene_.add(words({room_.x + from, y_ + 8}, begin_of(more, room_.width - from, Family::sans),
                       Role::quiet));
    }
    y_ += kLine + 2;
  }

 private:
  Scene& scene_;
  Box room_;
  double y_;
};

std::string count_of(std::size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

void write_statement(Scene& scene, Writer& at, const CourseShown& shown) {
  const CourseExercise& e = shown.exercise;
  scene.begin("exercise");
  at.title(e.title);
  for (const CourseRow& row : shown.rows) {
    if (!row.current) continue;
    const std::ptrdiff_t number = &row - shown.rows.data() + 1;
    at.paragraph(fmt::format("`{}`, exercise {} of {}, {}", e.name, number, shown.rows.size(),
                             name_of(row.standing)),
                 Role::quiet);
  }
  at.skip(4);
  for (const std::string& paragraph : e.statement) at.paragraph(paragraph);
  at.skip(8);
  at.fact("judged at", shapes_words(e), Family::mono);
  at.fact("time", fmt::format("at most {}% of what ours is predicted to take", e.percent));
  if (!e.lesson.empty())
    at.fact("explained by", "lesson " + e.lesson, Family::sans, "lesson " + e.lesson);
  scene.end();
}

void write_file(Scene& scene, Writer& at, const CourseShown& shown) {
  const CourseExercise& e = shown.exercise;
  const std::string name = shown.file.empty() ? e.name + ".cu" : shown.file;
  scene.begin("file");
  const std::string state = shown.file.empty() ? "none yet"
                            : !shown.there     ? "is not there any more"
                            : shown.changed    ? "has changed since the last check"
                            : shown.verdict    ? "as it was checked"
                                               : "not checked yet";
  at.heading("Your file", state, shown.changed ? Role::accent : Role::quiet);
  const bool free = shown.checking.empty();
  if (!shown.there) {
    at.paragraph(fmt::format("The kernel without the part that you write comes into `{}`.", name));
    at.buttons({{"Begin", "course start " + e.name, true}});
  } else {
    at.paragraph("`" + name + "`");
    at.buttons({{"Check", "course check", shown.changed || !shown.verdict, free},
                {"Edit it here", "course edit"}});
  }
  if (!free) at.paragraph(shown.checking, Role::accent);
  scene.end();
}

void write_verdict(Scene& scene, Writer& at, const CourseShown& shown) {
  const CourseVerdict& v = *shown.verdict;
  const CourseExercise& e = shown.exercise;
  scene.begin("verdict");
  at.heading("Verdict",
             fmt::format("{}{}", summary(v), shown.changed ? ", of the file as it was then" : ""),
             v.passed() ? Role::right : Role::wrong);
  at.answer("right", true, v.right,
            v.right ? fmt::format("at {}", count_of(e.shapes.size(), "shape")) : "");
  at.answer("safe", v.right, v.safe, v.safe ? "with late copies, and in ten schedules" : "");
  at.answer("fast", v.ours > 0, v.fast, v.ours > 0 ? time_words(v, e) : "");
  at.skip(4);
  if (v.passed()) {
    at.told({{fmt::format("Passed, in {} runs.", v.runs), Role::right}}, Role::right);
    std::vector<Writer::Button> next;
    for (std::size_t i = 0; i + 1 < shown.rows.size(); ++i) {
      const CourseRow& row = shown.rows[i + 1];
      if (shown.rows[i].current) next.push_back({"Next: " + row.name, "course " + row.name, true});
    }
    if (!next.empty()) at.buttons(next);
  } else {
    std::vector<std::pair<std::string, Ink>> lines;
    if (!v.options.empty()) {
      lines.emplace_back(fmt::format("`{} {}`", e.kernel, v.options), Role::quiet);
    }
    lines.emplace_back(v.sentence, Role::wrong);
    if (!v.where.empty()) lines.emplace_back("at " + v.where, Role::quiet);
    if (!v.told.empty()) lines.emplace_back(v.told, Role::text);
    at.told(lines, Role::wrong);
    if (!v.show.empty()) at.buttons({{"Show it", "course show", !shown.changed}});
  }
  scene.end();
}

void write_hints(Scene& scene, Writer& at, const CourseShown& shown) {
  const std::vector<std::string>& all = shown.exercise.hints;
  if (all.empty()) return;
  scene.begin("hints");
  at.heading("Hints", fmt::format("{} of {}", shown.hints, all.size()));
  for (std::size_t i = 0; i < std::min(shown.hints, all.size()); ++i) at.paragraph("- " + all[i]);
  if (shown.hints < all.size()) {
    at.skip(2);
    at.buttons({{shown.hints == 0 ? "A hint" : "Another hint", "course hint"}});
  }
  scene.end();
}

}  // namespace

CourseFrame draw_course(Scene& scene, const CourseShown& shown, Size size, double scrolled,
                        double scrolled_beside) {
  CourseFrame out;
  const bool beside = size.width >= kBeside;
  const double list = beside ? std::clamp(size.width * 0.38, 232.0, 380.0) : size.width;
  const double x = beside ? list + kEdge : between;
  const double width = std::min(kMost, size.width - x - (beside ? kEdge : between));
  const Box page{beside ? list : 0, 0, beside ? size.width - list : size.width, size.height};
  scene.begin("chosen", page);
  Writer at(scene, {x, kEdge - scrolled, std::max(80.0, width), 0});
  write_statement(scene, at, shown);
  at.skip(between);
  write_file(scene, at, shown);
  if (shown.verdict) {
    at.skip(8);
    out.verdict.begin = at.y() + scrolled;
    write_verdict(scene, at, shown);
    out.verdict.end = at.y() + scrolled;
  }
  at.skip(8);
  out.hints.begin = at.y() + scrolled;
  write_hints(scene, at, shown);
  out.hints.end = at.y() + scrolled;
  scene.end();
  double below = at.y() + scrolled + between;
  if (beside) {
    out.beside = {0, 0, list, size.height};
    out.scroll_beside = std::max(0.0, list_height(shown) - size.height);
    scene.add(Line{{{list, 0}, {list, size.height}}, {Role::line, 1, false}, false});
    draw_list(scene, shown, out.beside, scrolled_beside);
  } else {
    const double high = list_height(shown);
    draw_list(scene, shown, {0, below - scrolled, size.width, high}, 0);
    below += high;
  }
  out.scroll = std::max(0.0, below - size.height);
  return out;
}

Json describe_course(const CourseShown& shown) {
  const CourseExercise& e = shown.exercise;
  Json rows = Json::array();
  for (const CourseRow& row : shown.rows) {
    rows.push_back({{"name", row.name}, {"title", row.title}, {"standing", name_of(row.standing)}});
    if (row.current) rows.back()["current"] = true;
  }
  Json out = {{"exercises", std::move(rows)}, {"exercise", e.name},   {"statement", e.statement},
              {"shapes", e.shapes},           {"percent", e.percent}, {"lesson", e.lesson}};
  if (!shown.file.empty()) {
    out["file"] = {{"name", shown.file}, {"there", shown.there}, {"changed", shown.changed}};
  }
  if (!shown.checking.empty()) out["checking"] = shown.checking;
  out["hints"] = Json::array();
  for (std::size_t i = 0; i < std::min(shown.hints, e.hints.size()); ++i) {
    out["hints"].push_back(e.hints[i]);
  }
  if (const CourseVerdict* v = shown.verdict) {
    Json verdict = {{"passed", v->passed()},
                    {"right", v->right},
                    {"safe", v->safe},
                    {"fast", v->fast},
                    {"runs", v->runs}};
    if (v->ours > 0) verdict["time"] = time_words(*v, e);
    if (!v->passed()) {
      verdict["wrong"] = {{"kind", v->kind},   {"options", v->options}, {"sentence", v->sentence},
                          {"where", v->where}, {"told", v->told},       {"show", v->show}};
    }
    out["verdict"] = std::move(verdict);
  }
  return out;
}

}  // namespace tilescope
