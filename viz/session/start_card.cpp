#include "viz/session/start_card.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "viz/layout/layout_view.h"
#include "viz/scene/items.h"
#include "viz/scene/number_words.h"
#include "viz/scene/palette.h"
#include "viz/session/layout_study.h"
#include "viz/session/session.h"

namespace tilescope {
namespace {

struct First {
  std::string_view word, command;
};
struct Way {
  std::string_view title, text;
  std::array<First, 3> steps;
};

constexpr std::array ways = {
    Way{"Learn layouts",
        "Write a layout in CuTe's notation above and see which cell lies where, who owns it, "
        "which bank it is in. The lessons begin with coordinates and end with a kernel.",
        {{{"Begin the lessons", "lesson layouts"},
          {"A first layout", "open preset 9x32"},
          {"Threads of a tensor core", "open preset Volta 8x8 quadpair"}}}},
    Way{"Watch a kernel",
        "Run a real kernel on the simulator and see it move: copies in flight, stages, barriers, "
        "tensor core, who waits for whom. Forwards and backwards, without a GPU.",
        {{{"A product on Blackwell", "open hgemm_v7"},
          {"A product on Hopper", "open wgmma_v5"},
          {"An elementwise sum", "open elementwise_add"}}}},
    Way{"Check my kernel",
        "Any PTX with a launch file, or what `tilescope capture -- PROGRAM` wrote: drop the file "
        "here, or name it. A race, a missing wait, a wrong element is told with its line.",
        {{{"Open a file", "palette open"},
          {"All commands", "commands"},
          {"Show me around", "tour"}}}},
};

constexpr double start_edge = 24, start_line = 20, start_row = 36;

// How a way is drawn: its buttons below each other in a column, or beside each other in a row.
struct WayShape {
  bool column = true;
  std::size_t lines = 12;  // of its text, at most
};

double height_of(const Way& way, double width, const WayShape& shape) {
  const std::size_t lines =
      std::min(shape.lines, wrapped(way.text, width - 2 * between, 12).size());
  const double rows = shape.column ? static_cast<double>(way.steps.size()) : 1;
  return 28 + 24 + start_line * static_cast<double>(lines) + 8 + start_row * rows + 6;
}

void draw_way(Scene& scene, const Way& way, const Box& box, const WayShape& shape,
              bool first_of_all) {
  double y = box.y + 28;
  const double width = box.width - 2 * between;
  scene.begin(std::string(way.title));
  scene.add(Rectangle{box, Ink(Role::panel), {Role::line, 1, false}, 6});
  scene.add(
      words({box.x + between, y},
            fitted(std::string(way.title), width, heading_text, Family::sans, FontWeight::bold),
            heading_text, FontWeight::bold));
  y += 28;
  if (shape.lines > 0) {
    for (const std::string& line : wrapped(way.text, width, shape.lines)) {
      scene.add(words({box.x + between, y}, line, Role::quiet));
      y += start_line;
    }
  }
  y = box.bottom() - 6 - start_row * (shape.column ? static_cast<double>(way.steps.size()) : 1);
  const double count = static_cast<double>(way.steps.size());
  const double wide_one = shape.column ? width : (width - 8 * (count - 1)) / count;
  double x = box.x + between;
  for (const First& step : way.steps) {
    const bool main = &step == &way.steps.front(), loud = main && first_of_all;
    const Box button{x, y, wide_one, start_row - 6};
    Rectangle frame{button, loud ? Ink(Role::accent) : Ink(Role::paper), {}, 4};
    if (!loud) frame.stroke = {main ? Ink(Role::accent) : Ink(Role::line), 1, false};
    scene.add(frame);
    scene.add(words(button.centre(),
                    fitted(std::string(step.word), wide_one - 16, small_text, Family::sans),
                    loud ? Role::paper : Role::text, Across::centre));
    scene.targets.push_back({button, std::string(step.command), std::string(step.command)});
    if (shape.column) {
      y += start_row;
    } else {
      x += wide_one + 8;
    }
  }
  scene.end();
}

// A layout's offsets in small, from blue to yellow.
std::shared_ptr<const Image> small_picture(const LayoutView& view) {
  constexpr std::int64_t most = 64;
  const Panel& panel = view.panels().back();
  const std::int64_t rows = std::min(panel.rows, most), columns = std::min(panel.columns, most);
  if (rows < 1 || columns < 1) return nullptr;
  Image image;
  image.rows = static_cast<int>(rows);
  image.columns = static_cast<int>(columns);
  const int number = static_cast<int>(view.panels().size()) - 1;
  std::vector<std::int64_t> offsets;
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) {
      const Cell cell{number, 0, r * panel.rows / rows, c * panel.columns / columns};
      offsets.push_back(view.exists(cell) ? view.offset(cell) : 0);
    }
  }
  const std::int64_t largest =
      std::max<std::int64_t>(1, *std::max_element(offsets.begin(), offsets.end()));
  for (const std::int64_t offset : offsets) {
    image.rgba.push_back(quantity(static_cast<double>(offset) / static_cast<double>(largest)));
  }
  image.version = new_image_version();
  return std::make_shared<const Image>(std::move(image));
}

const std::vector<std::shared_ptr<const Image>>& small_pictures(const Session& session) {
  KernelPage& page = session.page;
  if (page.layouts_of == session.state.kernel) return page.pictures;
  page.layouts_of = session.state.kernel;
  page.pictures.clear();
  for (const KernelCard::OwnLayout& own : session.state.kernel->layouts) {
    const auto view = study_view(own.expression, {});
    page.pictures.push_back(view ? small_picture(*view) : nullptr);
  }
  return page.pictures;
}

}  // namespace

bool shows_start(const Session& session) {
  const ViewState& state = session.state;
  return shows_layout(state.view) && !state.layout && !state.kernel && state.file.empty();
}

void draw_start(Scene& scene, Size size) {
  const double width = std::max(120.0, size.width - 2 * start_edge);
  constexpr double least = 168;
  const bool beside = width >= 3 * least + 2 * between;
  const double each = beside ? std::min(340.0, (width - 2 * between) / 3) : std::min(width, 520.0);
  const double all = beside ? 3 * each + 2 * between : each;
  const bool titled = size.height > 420;
  const double head = titled ? 44 : 0;
  // Words go before buttons do.
  WayShape shape{beside, 12};
  const auto heights = [&] {
    double sum = 0, most = 0;
    for (const Way& way : ways) {
      const double high = height_of(way, each, shape);
      sum += high + 12;
      most = std::max(most, high);
    }
    return std::pair(most, beside ? most : sum - 12);
  };
  while (shape.lines > 0 && heights().second + head + 2 * between > size.height) --shape.lines;
  const auto [high, total] = heights();
  const double x = std::max(start_edge, (size.width - all) / 2);
  double y = std::max(between, (size.height - total - head) / 2 - 20);
  scene.begin("start");
  if (titled) {
    scene.add(
        words({x, y + 10},
              fitted("What brings you here?", width, title_text, Family::sans, FontWeight::bold),
              title_text, FontWeight::bold));
  }
  y += head;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    const double own = beside ? high : height_of(ways[i], each, shape);
    draw_way(scene, ways[i],
             {beside ? x + static_cast<double>(i) * (each + between) : x, y, each, own}, shape,
             i == 0);
    if (!beside) y += own + 12;
  }
  scene.end();
}

void draw_place_in_page(Scene& scene, Size size, double scrolled, double most) {
  if (most <= 0) return;
  const double all = size.height + most;
  const double high = std::max(24.0, size.height * size.height / all);
  const double y = (size.height - high) * scrolled / most;
  scene.add(Rectangle{{size.width - 6, y, 4, high}, Ink(Role::line), {}, 2});
}

bool shows_own_layouts(const Session& session) {
  const ViewState& state = session.state;
  return state.view == ViewName::layout && !state.layout && state.kernel &&
         !state.kernel->layouts.empty();
}

double draw_own_layouts(Scene& scene, const Session& session, Size size, double scrolled) {
  const KernelCard& card = *session.state.kernel;
  const double width = std::max(80.0, size.width - 2 * start_edge);
  double y = start_edge - scrolled;
  draw_title(scene, fmt::format("The layouts of {}", card.name), {start_edge, y + 8});
  y += 42;
  constexpr double picture = 88;
  const double column = width >= 700 ? (width - between_groups) / 2 : width;
  double x = start_edge, low = y;
  scene.begin("layouts");
  const auto& pictures = small_pictures(session);
  for (std::size_t i = 0; i < card.layouts.size(); ++i) {
    const KernelCard::OwnLayout& own = card.layouts[i];
    const Box box{x, y, column, picture + 16};
    scene.add(Rectangle{box, Ink(Role::panel), {Role::line, 1, false}, 6});
    const Box room{x + 8, y + 8, picture, picture};
    if (pictures[i]) scene.add(Raster{room, pictures[i]});
    const double from = room.right() + between, words_room = box.right() - from - 8;
    scene.add(words({from, y + 18},
                    fitted(own.name, words_room, small_text, Family::sans, FontWeight::bold),
                    FontWeight::bold));
    double line = y + 40;
    for (const std::string& each : wrapped(own.help, words_room, 2)) {
      scene.add(words({from, line}, each, Role::quiet));
      line += 18;
    }
    scene.add(words({from, std::max(line, y + 78)},
                    fitted(own.expression, words_room, small_text, Family::mono), Family::mono));
    scene.targets.push_back({box, "open layout " + own.expression, "opens " + own.expression});
    low = box.bottom();
    if (column < width && x == start_edge) {
      x = start_edge + column + between_groups;
    } else {
      x = start_edge;
      y += box.height + 12;
    }
  }
  scene.end();
  return std::max(0.0, low + scrolled + start_edge - size.height);
}

}  // namespace tilescope
