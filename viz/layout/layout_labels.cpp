// Labels of cells: how large and how full they are set, and their texts.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "viz/layout/layout_panels.h"

namespace tilescope {
namespace {

constexpr std::int64_t most_labels = 1 << 17;
constexpr std::size_t most_hints = 4096;

// The owners of a cell whose label cannot name them all.
void hint_owners(const Drawing& d, const Seen& seen, const Cell& cell, const Setting& setting) {
  const std::size_t all = d.view.owners(cell).size();
  const std::size_t named =
      setting.form.pairs ? static_cast<std::size_t>(setting.form.lines) : std::size_t{1};
  const Panel& panel = d.view.panels()[static_cast<std::size_t>(cell.panel)];
  const bool told = all <= named || (panel.owners && panel.owners->everyone);
  if (told || d.scene.hints.size() >= most_hints) return;
  d.scene.hints.push_back(
      {{seen.x(cell.column), seen.y(cell.row), seen.cell.width, seen.cell.height},
       fmt::format("({},{}): {}", cell.row, cell.column, d.view.owner_words(cell))});
}

// A line of a label that is a mark and a number in every cell: "59", "T5".
struct Numbered {
  std::string_view mark;
  std::vector<std::int64_t> numbers;
};

// The usual labels of large pictures, made in one pass, without a question cell by cell; what they
// say is what view.label() says. Empty where labels are more than that.
std::vector<Numbered> numbered_lines(const Drawing& d, const Seen& seen, const Setting& setting) {
  using Kind = LayoutView::Kind;
  const LayoutView& view = d.view;
  const ColourBy by = view.colour(d.choice);
  const auto line = [&](ColourBy what) {
    return Numbered{view.mark(what),
                    view.numbers_of(window_of(seen), what, d.choice.element_bytes)};
  };
  if (view.panels()[static_cast<std::size_t>(seen.panel)].through) return {};
  if (d.choice.coordinates || view.shows_places() || view.maps_tensor_memory()) return {};
  if (view.kind() == Kind::thread_value) {
    if (view.most_owners() > 1 || view.threads() < 2) return {};
    if (view.panels()[static_cast<std::size_t>(seen.panel)].owners->everyone) return {};
    if (setting.form.lines > 1) return {line(ColourBy::thread), line(ColourBy::value)};
    return {line(by == ColourBy::value ? by : ColourBy::thread)};
  }
  if (view.mark(by).empty()) return {line(ColourBy::offset)};
  if (setting.form.lines == 1) return {line(by)};
  return {line(ColourBy::offset), line(by)};
}

std::string text_of(std::string_view mark, std::int64_t number) {
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  std::string out(mark);
  out.append(digits.data(), static_cast<std::size_t>(end.ptr - digits.data()));
  return out;
}

// The labels of a grid, row by row.
class CellLabels {
 public:
  CellLabels(const Drawing& d, const Seen& seen, const Setting& setting)
      : d_(d),
        seen_(seen),
        setting_(setting),
        numbered_(numbered_lines(d, seen, setting)),
        colours_(d.view.colours_of(window_of(seen), d.choice, d.theme)),
        banded_(setting.form.pairs && splits_cells(d, seen, window_of(seen))),
        lines_(static_cast<std::size_t>(seen.columns)),
        bands_(lines_.size()) {}

  // First the first lines of all labels of a row, then the second: what stands at one height is one
  // run of texts for a painter.
  void put(Labels& out) {
    out.dark.reserve(colours_.size());
    out.light.reserve(colours_.size());
    for (std::int64_t i = 0; i < seen_.rows; ++i) {
      std::size_t most = 0;
      for (std::int64_t j = 0; j < seen_.columns; ++j) most = std::max(most, read(i, j));
      for (std::size_t k = 0; k < most; ++k) {
        for (std::int64_t j = 0; j < seen_.columns; ++j) put_line(i, j, k, out);
      }
    }
  }

 private:
  Cell cell_at(std::int64_t i, std::int64_t j) const {
    return {seen_.panel, seen_.slice, seen_.row + i, seen_.column + j};
  }
  std::size_t index_of(std::int64_t i, std::int64_t j) const {
    return static_cast<std::size_t>(i * seen_.columns + j);
  }

  // What stands in a cell; answers how many lines.
  std::size_t read(std::int64_t i, std::int64_t j) {
    const Cell cell = cell_at(i, j);
    std::vector<std::string>& lines = lines_[static_cast<std::size_t>(j)];
    std::vector<Rgba>& bands = bands_[static_cast<std::size_t>(j)];
    lines.clear();
    if (numbered_.empty()) {
      lines = d_.view.label(cell, d_.choice, setting_.form);
    } else if (d_.view.inside(cell)) {
      read_numbers(index_of(i, j), lines);
    }
    bands.clear();
    if (banded_) bands = d_.view.owner_colours(cell, d_.choice, d_.theme, setting_.form.lines);
    if (d_.view.most_owners() > 1) hint_owners(d_, seen_, cell, setting_);
    return lines.size();
  }

  void read_numbers(std::size_t at, std::vector<std::string>& lines) const {
    const bool nobody = d_.view.kind() == LayoutView::Kind::thread_value;
    for (const Numbered& line : numbered_) {
      if (nobody && line.numbers[at] < 0) {
        lines.assign(1, "\u2013");
        return;
      }
      lines.push_back(text_of(line.mark, line.numbers[at]));
    }
  }

  void put_line(std::int64_t i, std::int64_t j, std::size_t k, Labels& out) {
    std::vector<std::string>& lines = lines_[static_cast<std::size_t>(j)];
    const std::vector<Rgba>& bands = bands_[static_cast<std::size_t>(j)];
    const std::size_t shown = lines.size();
    if (k >= shown) return;
    const double pitch = bands.empty() ? setting_.size * label_pitch
                                       : seen_.cell.height / static_cast<double>(shown);
    const double from_middle = static_cast<double>(k) - static_cast<double>(shown - 1) / 2.0;
    const Point at{seen_.x(seen_.column + j) + seen_.cell.width / 2,
                   seen_.y(seen_.row + i) + seen_.cell.height / 2 + pitch * from_middle};
    out.add(label_text(at, std::move(lines[k]), setting_.size),
            bands.empty() ? colours_[index_of(i, j)] : bands[k]);
  }

  const Drawing& d_;
  const Seen& seen_;
  const Setting& setting_;
  std::vector<Numbered> numbered_;
  std::vector<Rgba> colours_;
  bool banded_ = false;
  std::vector<std::vector<std::string>> lines_;  // of the row being read, by column
  std::vector<std::vector<Rgba>> bands_;         // the colour under each, where owners differ
};

}  // namespace

Setting setting_for(const LayoutView& view, const LayoutChoice& choice, Size cell) {
  for (const LayoutView::LabelForm form : view.label_forms(choice)) {
    const Size label = label_size(view, choice, form);
    for (const double size : {title_text, heading_text, small_text}) {
      const double air = size > small_text ? 1.5 : 1;
      const double width = label.width * size / small_text * air + 4;
      const double height = label.height * size / small_text * air + 1;
      if (width <= cell.width && height <= cell.height) return {size, form};
    }
  }
  return {};
}

bool labels_fit(const LayoutView& view, const LayoutChoice& choice, const Frame& frame) {
  return std::all_of(frame.places.begin(), frame.places.end(), [&](const Frame::Place& place) {
    return setting_for(view, choice, place.cell).size > 0;
  });
}

Text label_text(Point at, std::string text, double size) {
  Text out;
  out.at = at;
  out.text = std::move(text);
  out.size = size;
  out.family = Family::mono;
  out.across = Across::centre;
  return out;
}

void Labels::add(Text text, Rgba under) {
  const Rgba ink = text_on(under);
  text.ink = ink;
  (ink == rgb(0x000000) ? dark : light).push_back(std::move(text));
}

void Labels::into(Scene& scene) {
  scene.items.reserve(scene.items.size() + dark.size() + light.size());
  for (Text& t : dark) scene.add(std::move(t));
  for (Text& t : light) scene.add(std::move(t));
}

Size label_size(const LayoutView& view, const LayoutChoice& choice, LayoutView::LabelForm form) {
  std::size_t longest = 1;
  const auto count = [&](const std::string& s) { longest = std::max(longest, s.size()); };
  const ColourBy by = view.colour(choice);
  const std::string_view thread = view.mark(ColourBy::thread);
  if (choice.coordinates) {
    for (const Panel& p : view.panels()) {
      const Cell last{static_cast<int>(&p - view.panels().data()), p.slices - 1, p.rows - 1,
                      p.columns - 1};
      count(fmt::format("({})", fmt::join(view.info(last).flat, ",")));
    }
  } else if (view.kind() == LayoutView::Kind::places) {
    longest = view.longest_place();
    if (view.most_places() > 1 && form.lines == 1) {
      longest += fmt::format(" +{}", view.most_places() - 1).size();
    }
  } else if (form.pairs) {
    count(fmt::format("{}{} V{}", thread, view.threads() - 1, view.values() - 1));
  } else if (view.kind() == LayoutView::Kind::thread_value) {
    const std::string more =
        view.most_owners() > 1 ? fmt::format("+{}", view.most_owners() - 1) : std::string();
    const bool alone = view.threads() == 1 && view.placing() == LayoutView::Placing::free;
    if (!alone && (form.lines > 1 || by != ColourBy::value)) {
      count(fmt::format("{}{}", thread, view.threads() - 1) + more);
    }
    count(fmt::format("V{}", view.values() - 1));
  } else {
    const std::string_view mark = view.mark(by);
    if (view.shows_places()) {
      longest = form.lines > 1 || mark.empty() ? view.longest_place() : 1;
    } else if (mark.empty() || form.lines > 1) {
      count(fmt::format("{}", view.lowest_offset()));
      count(fmt::format("{}", view.highest_offset()));
    }
    if (!mark.empty()) count(fmt::format("{}{}", mark, view.categories(by) - 1));
  }
  return {text_width(std::string(longest, '0'), small_text, Family::mono),
          small_text * label_pitch * form.lines};
}

void draw_labels(const Drawing& d, const Seen& seen) {
  Labels labels;
  const Setting setting = setting_for(d.view, d.choice, seen.cell);
  if (setting.size > 0 && seen.rows * seen.columns <= most_labels) {
    CellLabels(d, seen, setting).put(labels);
  } else if (setting.size == 0) {
    label_blocks(d, seen, labels);
  }
  d.scene.begin("cells");
  labels.into(d.scene);
  d.scene.end();
}

}  // namespace tilescope
