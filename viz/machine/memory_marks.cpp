// The bytes that a report is about, in the picture of shared memory.
#include <fmt/format.h>

#include <algorithm>

#include "viz/machine/fault_scene.h"
#include "viz/machine/memory_view.h"

namespace tilescope {
namespace {

using u32 = std::uint32_t;
using Place = Evidence::Place;

struct Stretch {
  std::uint64_t begin = 0, end = 0;
};

// What somebody uses of this block's shared memory, in the order of addresses; an mbarrier's eight
// bytes, too.
std::vector<Stretch> stretches(const Evidence::Party& party, std::uint64_t block) {
  const Place& place = party.place;
  const bool here = place.of == Place::Of::shared || place.of == Place::Of::mbarrier;
  if (!here || place.block != block) return {};
  std::vector<Stretch> out = {{place.begin, place.end}};
  for (const auto& piece : party.pieces) out.push_back({piece.first, piece.second});
  std::sort(out.begin(), out.end(),
            [](const Stretch& a, const Stretch& b) { return a.begin < b.begin; });
  // As far as any before it, so that one look at a place answers whether something covers it.
  for (std::size_t i = 1; i < out.size(); ++i) out[i].end = std::max(out[i].end, out[i - 1].end);
  return out;
}

bool meets(const std::vector<Stretch>& all, std::uint64_t begin, std::uint64_t end) {
  const auto behind =
      std::partition_point(all.begin(), all.end(), [&](const Stretch& s) { return s.begin < end; });
  return behind != all.begin() && (behind - 1)->end > begin;
}

// A cell of a card is one of these or none.
struct Cells {
  u32 rows = 0, columns = 0;
  std::vector<bool> marked;
  bool at(std::int64_t row, std::int64_t column) const {
    if (row < 0 || column < 0 || row >= rows || column >= columns) return false;
    return marked[static_cast<std::size_t>(row) * columns + static_cast<std::size_t>(column)];
  }
};

Cells cells_of(const MemoryFrame& frame, const MemoryCard& card, const std::vector<Stretch>& all) {
  Cells out{card.rows, card.columns, std::vector<bool>(std::size_t{card.rows} * card.columns)};
  for (u32 r = 0; r < card.rows; ++r) {
    for (u32 c = 0; c < card.columns; ++c) {
      const auto byte = frame.byte_in(card, r, c * card.cell_bytes);
      out.marked[std::size_t{r} * card.columns + c] =
          byte && meets(all, *byte, *byte + card.cell_bytes);
    }
  }
  return out;
}

// The edges of all that is marked, so far inside it.
Segments outline(const MemoryCard& card, const Cells& cells, double inset, const Stroke& stroke) {
  Segments out;
  out.stroke = stroke;
  for (u32 r = 0; r < cells.rows; ++r) {
    for (u32 c = 0; c < cells.columns; ++c) {
      if (!cells.at(r, c)) continue;
      const bool above = !cells.at(std::int64_t{r} - 1, c), below = !cells.at(r + 1, c);
      const bool left = !cells.at(r, std::int64_t{c} - 1), right = !cells.at(r, c + 1);
      const Box box = card.cell(r, c);
      const double x0 = box.x + (left ? inset : 0), x1 = box.right() - (right ? inset : 0);
      const double y0 = box.y + (above ? inset : 0), y1 = box.bottom() - (below ? inset : 0);
      if (above) out.lines.push_back({{x0, y0}, {x1, y0}});
      if (below) out.lines.push_back({{x0, y1}, {x1, y1}});
      if (left) out.lines.push_back({{x0, y0}, {x0, y1}});
      if (right) out.lines.push_back({{x1, y0}, {x1, y1}});
    }
  }
  return out;
}

// The part of a card that can be seen of what is marked: where its number stands.
std::optional<Point> first_seen(const MemoryCard& card, const Cells& cells) {
  for (u32 r = 0; r < cells.rows; ++r) {
    for (u32 c = 0; c < cells.columns; ++c) {
      if (!cells.at(r, c)) continue;
      const Box box = card.cell(r, c).cut(card.room);
      if (!box.empty()) return Point{box.x, box.y};
    }
  }
  return {};
}

// Where both are: what they get in each other's way for.
void fill_common(Scene& scene, const MemoryCard& card, const Cells& a, const Cells& b) {
  for (u32 r = 0; r < a.rows; ++r) {
    for (u32 c = 0; c < a.columns; ++c) {
      if (!a.at(r, c) || !b.at(r, c)) continue;
      u32 end = c + 1;
      while (end < a.columns && a.at(r, end) && b.at(r, end)) ++end;
      const Box first = card.cell(r, c);
      Rectangle fill;
      fill.box = {first.x, first.y, card.cell_width() * (end - c), first.height};
      fill.fill = Ink(Role::wrong, 0.22);
      scene.add(fill);
      c = end;
    }
  }
}

}  // namespace

std::vector<std::size_t> parties_in(const MemoryPart& part, const Evidence& evidence,
                                    std::uint64_t block) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < evidence.parties.size(); ++i) {
    if (meets(stretches(evidence.parties[i], block), part.begin, part.end)) out.push_back(i);
  }
  return out;
}

void draw_marks(Scene& scene, const MemoryFrame& frame, const MemoryCard& card,
                const Evidence& evidence) {
  std::vector<Cells> all;
  for (const Evidence::Party& party : evidence.parties) {
    all.push_back(cells_of(frame, card, stretches(party, frame.now->block)));
  }
  scene.begin("marks of the report", card.grid.cut(card.room));
  if (all.size() >= 2) fill_common(scene, card, all[0], all[1]);
  for (std::size_t i = all.size(); i-- > 0;) {
    const auto corner = first_seen(card, all[i]);
    if (!corner) continue;
    scene.begin(fmt::format("{}: {}", i + 1, evidence.parties[i].does));
    const double shift = static_cast<double>(i);
    scene.add(outline(card, all[i], 1 + 3 * shift, stroke_of_party(evidence, i)));
    draw_party_number(scene, i, {corner->x + 5 + 20 * shift, corner->y + 5});
    scene.end();
  }
  scene.end();
}

}  // namespace tilescope
