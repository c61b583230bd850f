#include "viz/session/view_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viz/scene/number_words.h"
#include "viz/scene/text_page.h"
#include "viz/session/views.h"

namespace tilescope {
namespace {

constexpr double kSign = 7.83;     // how wide a character of the mono font is, in pixels
constexpr double kSameLine = 5;    // pixels
constexpr double kEmptyLine = 34;  // pixels without words between two lines

// "0-7", "0, 4, 8, 12"
std::string lanes_words(std::uint32_t lanes) {
  std::vector<int> all;
  for (int lane = 0; lane < lanes_of_warp; ++lane) {
    if (lanes >> lane & 1) all.push_back(lane);
  }
  std::string out;
  for (std::size_t i = 0; i < all.size();) {
    std::size_t end = i;
    while (end + 1 < all.size() && all[end + 1] == all[end] + 1) ++end;
    const std::string run =
        end > i + 1 ? fmt::format("{}-{}", all[i], all[end]) : fmt::format("{}", all[i]);
    out += fmt::format("{}{}", out.empty() ? "" : ", ", run);
    i = end > i + 1 ? end + 1 : i + 1;
  }
  return out;
}

// 32 banks, or 32 words of a line, with the lane that has each; `..`: nobody.
std::string words_row(const AccessView::Row& row) {
  std::string out;
  for (const AccessView::Word& word : row.words) {
    out += !word.there      ? " .."
           : word.lanes > 1 ? fmt::format("{:>2}+", word.lane)
                            : fmt::format(" {:>2}", word.lane);
  }
  return out;
}

std::string access_page(const AccessView& view, std::int64_t instruction, bool sectors) {
  std::string out = fmt::format(
      "{}\n\n", sectors ? view.sector_sentence(instruction) : view.bank_sentence(instruction));
  const auto rows = sectors ? view.line_rows(instruction) : view.wavefront_rows(instruction);
  if (sectors) {
    std::size_t wide = 4;
    for (const AccessView::Row& row : rows) wide = std::max(wide, row.title.size());
    out += fmt::format("{:<{}}  lanes, by sectors of 32 bytes\n", "", wide);
    for (const AccessView::Row& row : rows) {
      out += fmt::format("{:<{}} ", row.title, wide);
      for (std::size_t sector = 0; sector < 4; ++sector) {
        std::uint32_t lanes = 0;
        for (std::size_t i = 0; i < 8; ++i) {
          const AccessView::Word& word = row.words[8 * sector + i];
          if (word.there && word.lane >= 0) lanes |= 1u << word.lane;
        }
        const std::string who = lanes ? lanes_words(lanes) : row.touched >> sector & 1 ? "?" : "-";
        out += fmt::format(" | {:<14}", who);
      }
      out += "|\n";
    }
    return out + "-: not moved\n";
  }
  std::string title;
  for (int bank = 0; bank < 32; ++bank) title += fmt::format(" {:>2}", bank);
  out += fmt::format("banks:\n   {}\n", title);
  std::size_t wavefront = 0;
  std::int64_t phase = -1;
  for (const AccessView::Row& row : rows) {
    if (row.phase != phase) {
      phase = row.phase;
      wavefront = 0;
      out += fmt::format("phase {}\n", phase);
    }
    out += fmt::format("{:>2}:{}\n", wavefront++, words_row(row));
  }
  return out + "A row is a wavefront, with the lane that each bank serves; 5+: lane 5 and others\n";
}

std::string bits_page(const BitMatrix& matrix) {
  std::string out =
      fmt::format("bits of the {} down, of the coordinate across:\n", matrix.row_word);
  std::string title = "    ";
  for (const BitMatrix::Column& column : matrix.columns) {
    title += fmt::format(" {}.{}", column.mode, column.bit);
  }
  out += title + "   (mode.bit)\n";
  for (int bit = matrix.rows; bit-- > 0;) {
    out += fmt::format("{:>3}:", bit);
    for (const BitMatrix::Column& column : matrix.columns) {
      out += fmt::format(" {:>3}", column.image >> bit & 1 ? "1" : ".");
    }
    out += "\n";
  }
  return out;
}

// Where elements are wrong, in at most so many parts.
std::string difference_page(const DiffView& view) {
  constexpr std::int64_t most_rows = 20, most_columns = 64;
  const std::int64_t rows = view.source().rows(), columns = view.source().columns();
  const std::int64_t high = std::max<std::int64_t>(1, (rows + most_rows - 1) / most_rows),
                     wide = std::max<std::int64_t>(1, (columns + most_columns - 1) / most_columns);
  if (view.wrong_count() == 0) return "";
  std::string out;
  for (std::int64_t row = 0; row < rows; row += high) {
    out += fmt::format("{:>6}  ", row);
    for (std::int64_t column = 0; column < columns; column += wide) {
      const bool wrong = !view.wrong_bins(1, row, column, std::min(high, rows - row),
                                          std::min(wide, columns - column), 1)
                              .empty();
      out += wrong ? '#' : '.';
    }
    out += "\n";
  }
  return out + fmt::format("#: a part of {} x {} elements has a wrong one; at the left its row\n",
                           high, wide);
}

// From the level on that the view begins with: the types stand first, then a part a level.
std::string chosen_levels(const Session& session, const std::string& all) {
  const std::size_t types = all.find("\n\n");
  std::size_t from = types;
  for (int level = 0; level < session.state.study.lower_from && from != all.npos; ++level) {
    from = all.find("\n\n", from + 2);
  }
  return from == all.npos ? all : all.substr(0, types) + all.substr(from);
}

struct Word {
  double x = 0, y = 0;
  std::string text;
};

}  // namespace

std::string words_page(const Scene& scene) {
  std::vector<Word> words;
  std::vector<std::optional<Box>> clips;
  for (const Item& item : scene.items) {
    if (const auto* begin = std::get_if<GroupBegin>(&item)) {
      clips.push_back(begin->clip);
    } else if (std::holds_alternative<GroupEnd>(item)) {
      clips.pop_back();
    } else if (const auto* text = std::get_if<Text>(&item)) {
      const double width = text_width(text->text, text->size, text->family, text->weight);
      const double before = text->across == Across::left     ? 0
                            : text->across == Across::centre ? width / 2
                                                             : width;
      const Point at{text->at.x - before, text->at.y};
      const bool shown = at.y > 0 && at.y < scene.size.height &&
                         std::all_of(clips.begin(), clips.end(), [&](const auto& clip) {
                           return !clip || (at.y >= clip->y && at.y <= clip->bottom());
                         });
      if (shown) words.push_back({at.x, at.y, text->text});
    }
  }
  std::stable_sort(words.begin(), words.end(),
                   [](const Word& a, const Word& b) { return a.y < b.y; });
  std::string out;
  double above = words.empty() ? 0 : words.front().y;
  for (std::size_t begin = 0; begin < words.size();) {
    std::size_t end = begin;
    while (end < words.size() && words[end].y - words[begin].y <= kSameLine) ++end;
    if (words[begin].y - above > kEmptyLine) out += "\n";
    above = words[begin].y;
    std::stable_sort(words.begin() + static_cast<std::ptrdiff_t>(begin),
                     words.begin() + static_cast<std::ptrdiff_t>(end),
                     [](const Word& a, const Word& b) { return a.x < b.x; });
    std::string line;
    int used = 0;
    for (; begin < end; ++begin) {
      const int at = std::max(0, static_cast<int>(std::floor(words[begin].x / kSign)) - 2);
      const int gap = used == 0 ? at : std::max(1, at - used);
      line += std::string(static_cast<std::size_t>(gap), ' ') + words[begin].text;
      used += gap + columns_of(words[begin].text);
    }
    out += line + "\n";
  }
  return out;
}

std::string cut_page(const std::string& page, int columns, std::size_t lines, std::size_t& left) {
  std::string out;
  std::size_t count = 0;
  left = 0;
  for (std::size_t begin = 0; begin < page.size();) {
    const std::size_t end = std::min(page.find('\n', begin), page.size());
    std::string line = page.substr(begin, end - begin);
    begin = end + 1;
    while (!line.empty() && line.back() == ' ') line.pop_back();
    if (count++ >= lines) {
      ++left;
      continue;
    }
    if (columns_of(line) > columns) {
      int shown = 0;
      std::size_t at = 0;
      while (at < line.size() && shown < columns - 1) {
        ++at;
        while (at < line.size() && (static_cast<unsigned char>(line[at]) & 0xC0) == 0x80) ++at;
        ++shown;
      }
      line = line.substr(0, at) + "\u2026";
    }
    out += line + "\n";
  }
  return out;
}

std::optional<std::string> view_page(const Session& session, int columns) {
  if (const auto empty = emptiness(session)) return empty->sentence + "\n";
  const View& view = view_of(session.state.view);
  const bool sectors = view.id == ViewName::sectors;
  switch (view.id) {
    case ViewName::wavefronts:
    case ViewName::sectors: {
      const std::shared_ptr<const AccessView> access = *access_of(session);
      const std::int64_t worst = sectors ? access->worst_in_sectors() : access->worst_in_banks();
      const std::int64_t asked = session.state.study.instruction.value_or(worst);
      return access_page(*access, asked < access->instructions() ? asked : worst, sectors);
    }
    case ViewName::bits:
      return bits_page(*bit_matrix_of(session));
    case ViewName::diff:
      return difference_page(*session.state.diff);
    default:
      break;
  }
  if (view.id == ViewName::lower) return chosen_levels(session, view.text(session));
  if (view.text) return view.text(session);
  if (!view.list && view.id != ViewName::product) return {};
  Session quiet;
  quiet.state = session.state;
  return words_page(picture(quiet, {columns * kSign, 900}, 1, true).scene);
}

}  // namespace tilescope
