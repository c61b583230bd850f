// Pictures of a warp's accesses: 32 words a row, coloured by lane.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viz/layout/access_view.h"
#include "viz/scene/items.h"
#include "viz/scene/palette.h"

namespace tilescope {
namespace {

constexpr double margin = 24, index_row = 20, most_cell = 28, least_row = 6;
constexpr double choices_row = 32, note_row = 24;
constexpr double low_window = 320;  // below it there is no room for a title

void button_in(Scene& scene, double& x, double y, const std::string& label, std::string command,
               bool current) {
  const double width = text_width(label, small_text, Family::sans) + 2 * inside;
  Rectangle box;
  box.box = {x, y - 12, width, 24};
  box.radius = 4;
  if (current) box.fill = Ink(Role::accent, 0.14);
  box.stroke = {Role::line, 1, false};
  scene.add(box);
  scene.add(words({x + inside, y}, label, small_text, current ? Role::text : Role::quiet));
  scene.targets.push_back({box.box, std::move(command), label});
  x += width + inside;
}

struct Option {
  std::string label, command;
  bool current = false;
};
struct Group {
  std::string title;
  std::vector<Option> options;
  bool begins_row = false;
};

double width_of(const Group& group) {
  double width = text_width(group.title, small_text, Family::sans);
  for (const Option& option : group.options) {
    width += inside + text_width(option.label, small_text, Family::sans) + 2 * inside;
  }
  return width;
}

std::vector<Group> choice_groups(const AccessView& view) {
  const AccessChoice& choice = view.choice();
  std::vector<Group> out;
  if (const OwnedAccess* owned = view.owned()) {
    const auto ways = [&](const char* title, const std::vector<OwnedAccess::Way>& all) {
      if (all.size() < 2) return;
      Group group{title, {}, false};
      for (const OwnedAccess::Way& way : all) {
        group.options.push_back({way.label, way.command, way.current});
      }
      out.push_back(std::move(group));
    };
    ways("accesses of", owned->grids);
    ways("memory", owned->memories);
  } else {
    Group walks{"lanes along", {}, false};
    for (const Walk walk : {Walk::along_rows, Walk::down_columns}) {
      walks.options.push_back({std::string(name_of(walk)), fmt::format("access {}", name_of(walk)),
                               choice.walk == walk});
    }
    out.push_back(std::move(walks));
  }
  Group lane{"bytes a lane", {}, view.owned() != nullptr};
  for (const std::int64_t width : {4, 8, 16}) {
    lane.options.push_back(
        {fmt::format("{}", width), fmt::format("access {}", width), choice.width == width});
  }
  Group element{"bytes an element", {}, false};
  for (const std::int64_t bytes : {1, 2, 4, 8}) {
    element.options.push_back({fmt::format("{}", bytes), fmt::format("element {}", bytes),
                               choice.element_bytes == bytes});
  }
  out.push_back(std::move(lane));
  out.push_back(std::move(element));
  return out;
}

// The instruction that is shown, and the way to its neighbours.
Group instruction_group(const AccessView& view, std::int64_t instruction) {
  const OwnedAccess* owned = view.owned();
  const std::string whose =
      owned != nullptr ? ": " + owned->names[static_cast<std::size_t>(instruction)] : "";
  Group out{fmt::format("instruction {} of {}{}", instruction + 1, view.instructions(), whose),
            {},
            false};
  if (instruction > 0) {
    out.options.push_back(
        {"previous", fmt::format("access instruction {}", instruction - 1), false});
  }
  if (instruction + 1 < view.instructions()) {
    out.options.push_back({"next", fmt::format("access instruction {}", instruction + 1), false});
  }
  return out;
}

// The choices of the view, each a target; and which instruction is shown. A group that has no room
// beside the ones before begins a row. Answers the middle of the last row.
double draw_choices(Scene& scene, const AccessView& view, std::int64_t instruction, double y) {
  double x = margin;
  const auto draw = [&](const Group& group) {
    const bool full = x > margin && x + width_of(group) > scene.size.width - margin;
    if (full || (group.begins_row && x > margin)) {
      x = margin;
      y += choices_row;
    }
    scene.add(words({x, y}, group.title, small_text, Role::quiet));
    x += text_width(group.title, small_text, Family::sans) + inside;
    for (const Option& option : group.options) {
      button_in(scene, x, y, option.label, option.command, option.current);
    }
    x += inside;
  };
  scene.begin("choices");
  for (const Group& group : choice_groups(view)) draw(group);
  scene.end();
  scene.begin("instruction");
  draw(instruction_group(view, instruction));
  scene.end();
  return y;
}

}  // namespace

Scene build_scene(const AccessView& view, bool sectors, std::int64_t instruction,
                  const Theme& theme, Size size) {
  Scene scene;
  scene.size = size;
  scene.theme = theme;
  scene.title = sectors ? "Global memory: sectors that a warp touches"
                        : "Shared memory: wavefronts of a warp";
  Rectangle paper;
  paper.box = {0, 0, size.width, size.height};
  paper.fill = Ink(Role::paper);
  scene.add(paper);
  const bool low = size.height < low_window;
  if (!low) draw_title(scene, scene.title, {margin, margin + title_text / 2});
  const double choices_end = draw_choices(scene, view, instruction, margin + (low ? 12.0 : 56.0));
  const std::vector<AccessView::Row> rows =
      sectors ? view.line_rows(instruction) : view.wavefront_rows(instruction);
  const std::string sentence =
      sectors ? view.sector_sentence(instruction) : view.bank_sentence(instruction);
  double gutter = 0;
  for (const AccessView::Row& row : rows) {
    gutter = std::max(gutter, text_width(row.title, small_text, Family::sans));
  }
  gutter += between;
  const std::vector<std::string> remarks =
      view.owned() != nullptr ? view.owned()->remarks : std::vector<std::string>();
  const double top = choices_end + 40 + index_row, left = margin + gutter;
  const double width = std::min((size.width - left - margin) / 32, most_cell);
  const double room =
      size.height - top - margin - 64 - note_row * static_cast<double>(remarks.size());
  const double height =
      std::clamp(room / static_cast<double>(std::max<std::size_t>(rows.size(), 1)), least_row,
                 std::min(most_cell, std::max(width, 20.0)));
  const auto shown = std::min(rows.size(), static_cast<std::size_t>(std::max(1.0, room / height)));

  scene.begin("columns");
  const bool narrow = width < text_width("31", small_text, Family::mono) + 4;
  for (int j = 0; j < 32; j += narrow ? 4 : 1) {
    const std::string index = sectors ? fmt::format("{}", j * bank_bytes) : fmt::format("{}", j);
    if (sectors && j % 4 != 0) continue;
    scene.add(words({left + width * (j + 0.5), top - index_row / 2}, index, small_text, Role::quiet,
                    Family::mono, FontWeight::regular, Across::centre));
  }
  scene.add(
      words({margin, top - index_row / 2}, sectors ? "line" : "bank", small_text, Role::quiet));
  scene.end();

  scene.begin("words");
  Segments lines;
  lines.stroke = {Role::line, 1, false};
  Segments parts;
  parts.stroke = {Role::text, 1, false};
  const double right = left + width * 32;
  bool numbered = true;  // each lane stands in its words
  for (std::size_t i = 0; i < shown; ++i) {
    const AccessView::Row& row = rows[i];
    const double y = top + height * static_cast<double>(i);
    // Where rows are too low for a title each, a phase has one, or every few lines.
    const bool first_of_part = i == 0 || row.part != rows[i - 1].part;
    const auto every = static_cast<std::size_t>(std::ceil((small_text + 3) / height));
    const bool titled = height >= small_text || (sectors ? i % every == 0 : first_of_part);
    if (titled) {
      const double middle = height >= small_text ? height / 2 : small_text / 2;
      scene.add(words(
          {left - inside, y + middle},
          height >= small_text || sectors ? row.title : row.title.substr(0, row.title.find(',')),
          small_text, Role::quiet, Family::sans, FontWeight::regular, Across::right));
    }
    if (row.phase >= 0) {
      scene.targets.push_back({{margin, y, gutter + width * 32, height},
                               fmt::format("isolate phase {}", row.phase),
                               "show this phase's elements in the grid"});
    }
    for (int s = 0; sectors && s < 4; ++s) {
      if ((row.touched >> s & 1) == 0) continue;
      Rectangle moved;
      moved.box = {left + width * 8 * s, y, width * 8, height};
      moved.fill = Ink(Role::text, 0.1);
      scene.add(moved);
    }
    for (int j = 0; j < 32; ++j) {
      const AccessView::Word& word = row.words[static_cast<std::size_t>(j)];
      if (!word.there) continue;
      const Rgba colour = thread_colour(word.lane, lanes_of_warp, theme.dark);
      Rectangle cell;
      cell.box = {left + width * j, y, width, height};
      cell.fill = Ink(colour);
      scene.add(cell);
      const std::string label =
          word.lanes > 1 ? fmt::format("{}+", word.lane) : fmt::format("{}", word.lane);
      if (height < small_text || text_width(label, small_text, Family::mono) + 2 > width) {
        numbered = false;
        continue;
      }
      scene.add(words(cell.box.centre(), label, small_text, Ink(text_on(colour)), Family::mono,
                      FontWeight::regular, Across::centre));
    }
    const bool part = i > 0 && row.part != rows[i - 1].part;
    (part ? parts : lines).lines.push_back({{left, y}, {right, y}});
  }
  const double bottom = top + height * static_cast<double>(shown);
  for (int j = 0; j <= 32; ++j) {
    const double x = left + width * j;
    (sectors && j % 8 == 0 ? parts : lines).lines.push_back({{x, top}, {x, bottom}});
  }
  lines.lines.push_back({{left, bottom}, {right, bottom}});
  scene.add(std::move(lines));
  if (!parts.lines.empty()) scene.add(std::move(parts));
  scene.end();

  scene.begin("notes");
  double y = bottom + between + inside;
  scene.add(words({margin, y}, fitted(sentence, size.width - 2 * margin, small_text, Family::sans),
                  small_text, Role::text));
  y += 24;
  const std::string about =
      !numbered ? (sectors ? "A colour is the lane whose bytes these are, grey is moved in vain. A "
                             "larger window writes the lanes' numbers."
                           : "A colour is the lane that a bank's word goes to; a larger window "
                             "writes its number.")
      : sectors
          ? "A number is the lane whose bytes these are (5+: lane 5 and others); grey is moved "
            "and not asked for."
          : "A number is the lane that a bank's word goes to; 5+ are several lanes that ask for "
            "the same word.";
  scene.add(words({margin, y}, fitted(about, size.width - 2 * margin, small_text, Family::sans),
                  small_text, Role::quiet));
  for (const std::string& remark : remarks) {
    y += note_row;
    scene.add(words({margin, y}, fitted(remark, size.width - 2 * margin, small_text, Family::sans),
                    small_text, Role::quiet));
  }
  if (shown < rows.size()) {
    scene.add(words({margin, y + 24},
                    fmt::format("{} more rows have room in a higher picture.", rows.size() - shown),
                    small_text, Role::quiet));
    y += note_row;
  }
  scene.end();
  const double from = y + between_groups;
  draw_tile_and_lanes(scene, view, rows,
                      {margin, from, size.width - 2 * margin, size.height - margin - from});
  return scene;
}

namespace {

std::string mode_name(const BitMatrix& matrix, int mode) {
  const auto i = static_cast<std::size_t>(mode);
  return i < matrix.modes.size() ? matrix.modes[i] : fmt::format("mode {}", mode);
}

}  // namespace

Scene build_scene(const BitMatrix& matrix, const std::string& title, const Theme& theme,
                  Size size) {
  Scene scene;
  scene.size = size;
  scene.theme = theme;
  scene.title = title;
  Rectangle paper;
  paper.box = {0, 0, size.width, size.height};
  paper.fill = Ink(Role::paper);
  scene.add(paper);
  // The field says the layout too.
  const bool low = size.height < low_window;
  if (!low) draw_title(scene, title, {margin, margin + title_text / 2});
  const double columns = static_cast<double>(matrix.columns.size());
  const double left = margin + 112, top = margin + (low ? 72 : 120);
  const double cell = std::floor(
      std::clamp(std::min((size.width - left - margin) / columns,
                          (size.height - top - margin - 72) / static_cast<double>(matrix.rows)),
                 8.0, 36.0));
  const std::string what = fmt::format(
      "Bits of {}, across, give bits of the {}, down: each full cell of a row is XORed.",
      matrix.modes.empty() ? "the coordinate" : "thread and value", matrix.row_word);
  scene.add(words({margin, margin + (low ? 8.0 : 56.0)},
                  fitted(what, size.width - 2 * margin, small_text, Family::sans), small_text,
                  Role::quiet));
  scene.begin("columns");
  std::size_t begin = 0;
  for (std::size_t j = 0; j < matrix.columns.size(); ++j) {
    const BitMatrix::Column& column = matrix.columns[j];
    const double x = left + cell * (static_cast<double>(j) + 0.5);
    if (cell >= 14) {
      scene.add(words({x, top - 12}, fmt::format("{}", column.bit), small_text, Role::quiet,
                      Family::mono, FontWeight::regular, Across::centre));
    }
    const bool last = j + 1 == matrix.columns.size() || matrix.columns[j + 1].mode != column.mode;
    if (!last) continue;
    const double from = left + cell * static_cast<double>(begin);
    const double to = left + cell * static_cast<double>(j + 1);
    // "mode 1", or "1" where the columns are narrower than that.
    std::string name = mode_name(matrix, column.mode);
    if (text_width(name, small_text, Family::sans, FontWeight::bold) > to - from) {
      name.erase(0, name.rfind(' ') + 1);
    }
    scene.add(words({(from + to) / 2, top - 34}, std::move(name), small_text, Role::text,
                    Family::sans, FontWeight::bold, Across::centre));
    begin = j + 1;
  }
  scene.end();
  scene.begin("matrix");
  for (int bit = matrix.rows - 1; bit >= 0; --bit) {
    const double y = top + cell * (matrix.rows - 1 - bit);
    if (cell >= 14) {
      scene.add(words({left - inside, y + cell / 2}, fmt::format("{} bit {}", matrix.row_word, bit),
                      small_text, Role::quiet, Family::sans, FontWeight::regular, Across::right));
    }
    for (std::size_t j = 0; j < matrix.columns.size(); ++j) {
      const bool set = (matrix.columns[j].image >> bit & 1) != 0;
      Rectangle box;
      box.box = {left + cell * static_cast<double>(j), y, cell, cell};
      if (set) box.fill = Ink(category(matrix.columns[j].mode, theme.dark));
      box.stroke = {Role::line, 1, false};
      scene.add(box);
      if (cell < 14) continue;
      const Rgba under = set ? category(matrix.columns[j].mode, theme.dark) : theme.paper;
      scene.add(words(box.box.centre(), set ? "1" : "0", small_text,
                      set ? Ink(text_on(under)) : Ink(Role::quiet, 0.5), Family::mono,
                      FontWeight::regular, Across::centre));
    }
  }
  Segments modes;
  modes.stroke = {Role::text, 2, false};
  const double bottom = top + cell * matrix.rows;
  for (std::size_t j = 1; j < matrix.columns.size(); ++j) {
    if (matrix.columns[j].mode == matrix.columns[j - 1].mode) continue;
    const double x = left + cell * static_cast<double>(j);
    modes.lines.push_back({{x, top}, {x, bottom}});
  }
  if (!modes.lines.empty()) scene.add(std::move(modes));
  scene.end();
  int mixed = 0;
  for (int bit = 0; bit < matrix.rows; ++bit) {
    int set = 0;
    for (const BitMatrix::Column& column : matrix.columns) set += (column.image >> bit & 1) != 0;
    mixed += set > 1;
  }
  scene.begin("notes");
  const std::string sum =
      mixed == 0 ? fmt::format("Each {} bit is one coordinate bit, or none: strides alone.",
                               matrix.row_word)
                 : fmt::format("{} {} bit{} the XOR of several coordinate bits: a swizzle.", mixed,
                               matrix.row_word, mixed == 1 ? " is" : "s are");
  scene.add(words({margin, bottom + between + inside},
                  fitted(sum, size.width - 2 * margin, small_text, Family::sans), small_text,
                  Role::text));
  if (!matrix.about.empty()) {
    scene.add(words({margin, bottom + between + inside + note_row},
                    fitted(matrix.about, size.width - 2 * margin, small_text, Family::sans),
                    small_text, Role::quiet));
  }
  scene.end();
  return scene;
}

}  // namespace tilescope
