// A product: where everything is, and what is said above it.
#include "viz/product/product_scene.h"

#include <algorithm>
#include <cmath>

#include "viz/product/product_painter.h"
#include "viz/scene/number_words.h"
#include "viz/scene/stage_items.h"

namespace tilescope {

using sim::ProductUnit;

ProductFrame ProductPainter::paint() {
  images_ = s_.images ? s_.images : &own_;
  make_images();
  frame_.m = p_.m;
  frame_.n = p_.n;
  frame_.k = p_.k;
  draw_head();
  // Parts that there is no room for are left out, and named at the foot.
  std::vector<std::string> out;
  const double width = size_.width - 2 * edge;
  double bottom = size_.height - 8;
  const bool bytes = p_.a_from.matrix || p_.b_from.matrix;
  const bool of_both = p_.a_from.matrix && p_.b_from.matrix;
  const bool strips = !v_.descriptors.empty();
  bool with_number = width >= least_number.width, with_steps = true, with_upper = true;
  // Descriptors stand beside A, B and D; where that is too narrow, below them.
  const std::vector<BitColumn> columns = bit_columns();
  const double one = width / static_cast<double>(std::max<std::size_t>(1, columns.size()));
  bool across = strips && width < beside_bits && one >= least_bits;
  double least_across = 0, most_across = 0;
  for (const BitColumn& each : columns) {
    least_across = std::max(least_across, each.least);
    most_across = std::max(most_across, each.most);
  }
  const auto needed = [&] {
    return (with_number ? least_number.height + 12 : 0.0) + (with_steps ? steps + 8 : 0.0) +
           (across ? least_across + 8 : 0.0) + (with_upper ? least_upper : 0.0);
  };
  const double given = bottom - head - 8 - (across ? row + 4 : 0);  // with a line of what is not
  if (needed() > given) (s_.number_first ? across : with_number) = false;
  if (needed() > given) with_steps = false;
  if (needed() > given) (s_.number_first ? with_number : across) = false;
  if (needed() > given) with_upper = false;
  if (!with_upper) out.emplace_back("A, B and D");
  const double least_bytes = of_both ? 260 : 150, least_owners = 170, least_matrices = 200;
  const bool bits = strips && width >= beside_bits && with_upper;
  const double left = bits ? std::min(430.0, width * 0.32) : 0;
  const bool with_owners = with_upper && width >= least_matrices + least_owners;
  const bool with_bytes =
      with_owners && bytes && width - left >= least_matrices + least_owners + least_bytes;
  if (strips && !bits && !across) out.emplace_back("descriptors");
  if (bytes && !with_bytes) out.emplace_back("shared memory");
  if (!with_owners) out.emplace_back("who has D");
  if (!with_steps) out.emplace_back("the products of this sum");
  if (!with_number) out.emplace_back("how the number came about");
  // One of the two gives way to the other, as is asked.
  std::string instead;
  if (across && !with_number) instead = "number";
  if (with_number && strips && !bits && !across && one >= least_bits) instead = "descriptors";
  if (!out.empty()) bottom -= draw_left_out(out, bottom, instead);
  const double below = bottom - head;
  if (with_number) {
    const double fits = below - (with_steps ? steps + 8 : 0) - (with_upper ? least_upper : 0) - 12 -
                        (across ? most_across + 8 : 0);
    const double high = std::max(below * 0.45, std::min(needed_for_number(), below * 0.52));
    const double most = std::max(least_number.height, std::min(460.0, fits));
    const double number = std::clamp(high, least_number.height, most);
    draw_number({edge, bottom - number, width, number});
    bottom -= number + 8;
  }
  if (with_steps) {
    draw_steps({edge, bottom - steps, width, steps});
    bottom -= steps + 8;
  }
  if (across) {
    const double over = bottom - head - 8 - (with_upper ? least_upper : 0);
    const double high = std::clamp(over, least_across, most_across);
    draw_bits_across(columns, {edge, bottom - high, width, high});
    bottom -= high + 8;
  }
  if (!with_upper) return frame_;
  const Box upper{edge, head + 4, width, bottom - head - 4};
  double x = upper.x;
  const auto column = [&](double share) {
    const Box in{x, upper.y, share - 20, upper.height};
    x += share;
    return in;
  };
  if (bits) draw_bits(column(left));
  const double rest = width - left + 20;
  const double others = with_owners ? with_bytes ? 0.36 : 0.55 : 1;
  draw_matrices(column(rest * others));
  if (with_bytes) draw_bytes(column(rest * 0.36));
  if (with_owners) draw_owners(column(edge + width + 20 - x));
  return frame_;
}

// How high it is.
double ProductPainter::draw_left_out(const std::vector<std::string>& parts, double bottom,
                                     const std::string& instead) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  scene_.begin("left out");
  text = "No room for: " + text + ".";
  if (!instead.empty()) text += fmt::format(" `product show {}` shows this instead.", instead);
  const auto lines = wrapped(text, size_.width - 2 * edge, 2);
  const double high = row * static_cast<double>(lines.size());
  double y = bottom - high + row / 2;
  for (const std::string& each : lines) {
    scene_.add(words({edge, y}, each, Role::quiet));
    y += row;
  }
  scene_.end();
  if (!instead.empty()) {
    scene_.targets.push_back(
        {{edge, bottom - high, size_.width - 2 * edge, high},
         "product show " + instead,
         instead == "number" ? "shows how the number came about" : "shows the descriptors"});
  }
  return high + 4;
}

void ProductPainter::line(Point at, const std::string& text, double width, const Ink& ink,
                          Family family) {
  scene_.add(words(at, fitted(text, width, small_text, family), ink, family));
}

void ProductPainter::heading(const Box& room, const std::string& text, const std::string& more) {
  const std::string fits = fitted(text, room.width, small_text, Family::sans, FontWeight::bold);
  scene_.add(words({room.x, room.y + 8}, fits, FontWeight::bold));
  const double used = text_width(fits, small_text, Family::sans, FontWeight::bold) + 10;
  if (!more.empty() && text_width(more, small_text, Family::sans) <= room.width - used) {
    scene_.add(words({room.x + used, room.y + 8}, more, Role::quiet));
  }
}

void ProductPainter::draw_head() {
  scene_.begin("product");
  const double width = size_.width - 2 * edge;
  std::string sentence = product_sentence(v_);
  // Where the room is narrow, its beginning alone.
  for (const std::string_view end : {", D ", ", here", ": ", ", k-step ", " of "}) {
    if (text_width(sentence, heading_text, Family::sans, FontWeight::bold) <= width) break;
    sentence = sentence.substr(0, sentence.find(end));
  }
  scene_.add(words({edge, 18},
                   fitted(sentence, width, heading_text, Family::sans, FontWeight::bold),
                   heading_text, FontWeight::bold));
  std::string more;  // the instruction, which may be of several lines
  for (const char c : v_.text) {
    const bool blank = c == '\n' || c == '\r' || c == '\t' || c == ' ';
    if (!blank) more += c;
    if (blank && !more.empty() && more.back() != ' ') more += ' ';
  }
  if (!v_.site.empty()) more = v_.site + ":  " + more;
  line({edge, 42}, begin_of(more, width, Family::mono), width, Role::quiet, Family::mono);
  scene_.end();
}

// A box for each product of the sum, with the hue of its step of K.
void ProductPainter::draw_steps(const Box& room) {
  scene_.begin("products of this sum");
  const std::size_t count = v_.sum().size();
  const std::string step = k_step_text(v_);
  heading(room,
          "Product " + counted_text(v_.at, count) + " of this sum" +
              (step.empty() ? "" : ", k-step " + step),
          fmt::format("{}D[{}, {}] after each of them", v_.whole ? "" : "the first are not shown; ",
                      s_.row, s_.column));
  const double least = 26;
  const auto fit = static_cast<std::size_t>(std::max(1.0, room.width / least));
  const std::size_t shown = std::min(count, fit);
  const std::size_t first = std::min(v_.at > shown / 2 ? v_.at - shown / 2 : 0, count - shown);
  const double each = std::min(132.0, room.width / static_cast<double>(shown));
  for (std::size_t i = 0; i < shown; ++i) {
    const std::size_t which = first + i;
    const Box box{room.x + each * static_cast<double>(i), room.y + 20, each - 3, 24};
    const bool now = which == v_.at;
    scene_.add(Rectangle{box,
                         now ? Ink(Role::accent, 0.22) : Ink(Role::panel),
                         {now ? Role::accent : Role::line, now ? 2.0 : 1.0, false},
                         3});
    if (!v_.k_steps.empty()) {
      const Ink hue(step_colour(v_.k_steps[which], s_.theme));
      scene_.add(Rectangle{{box.x + 2, box.bottom() - 4, box.width - 4, 3}, hue, {}, 0});
    }
    const std::string value = number_text(s_.traces[which].after_value);
    const std::string label =
        each > 70 ? fmt::format("{}  {}", which, value) : fmt::format("{}", which);
    scene_.add(words({box.centre().x, box.centre().y},
                     fitted(label, box.width - 2, small_text, Family::mono), Family::mono,
                     Across::centre));
    if (v_.numbers[which] < v_.count) {
      scene_.targets.push_back({box, fmt::format("product {}", v_.numbers[which]),
                                fmt::format("opens product {}: D[{}, {}] is {} behind it",
                                            v_.numbers[which], s_.row, s_.column, value)});
    }
  }
  scene_.end();
}

std::string counted_text(std::size_t number, std::size_t count) {
  return count == 1 ? fmt::format("{}, the only one", number)
                    : fmt::format("{} of 0 to {}", number, count - 1);
}

std::string k_step_text(const ProductView& view) {
  if (view.k_steps.size() <= view.at) return "";
  return counted_text(view.k_steps[view.at], std::size_t{view.last_k_step} + 1);
}

std::string product_sentence(const ProductView& view) {
  const sim::ProductSeen& p = view.seen();
  const std::string whose = p.issue.unit == ProductUnit::warp
                                ? fmt::format("warp {} of CTA {}", p.issue.warp, view.block)
                                : fmt::format("CTA {}", view.block);
  std::string step = k_step_text(view);
  if (!step.empty()) step = ", k-step " + step;
  // A pair multiplies together, and each has half of D's rows.
  const bool pair = p.pair && p.b_from.blocks.size() == 2;
  const std::string by = pair ? fmt::format(" by CTAs {} and {}, here CTA {}'s {} rows",
                                            p.b_from.blocks[0], p.b_from.blocks[1], view.block, p.m)
                              : "";
  return fmt::format("{}, product {} of {}{}: {} x {} x {}{}{}, D {} A B, {} times {} into {}",
                     view.instruction_name(), counted_text(view.number, view.count), whose, step,
                     pair ? 2 * p.m : p.m, p.n, p.k, by, p.sparse ? ", half of A zeros" : "",
                     p.accumulate ? "+=" : "=", a_type(p), b_type(p), d_type(p));
}

std::string place_text(const ProductView& view, const ElementPlace& place) {
  std::string out;
  const auto& p = view.seen();
  if (place.cell) {
    out = fmt::format("TMEM lane {}, column {}", place.cell->lane, place.cell->column);
    if (!place.lane) return out + "; no tcgen05.ld of the record takes it";
    return fmt::format("{}; warp {}'s lane {} loads it into {}", out, *place.warp, *place.lane,
                       place.reg);
  }
  if (!place.lane) return "its place is not known";
  return fmt::format("{} of lane {} of warp {}{}", place.reg, *place.lane, *place.warp,
                     p.issue.unit == ProductUnit::wgmma ? " (registers)" : "");
}

std::optional<ProductSpot> spot_at(const ProductView& view, const ProductFrame& f, Point at) {
  const auto index = [](double from, double size, double x, std::uint32_t count) {
    const auto i = static_cast<std::int64_t>((x - from) / size * count);
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(i, 0, count - 1));
  };
  if (f.d.contains(at)) {
    return ProductSpot{ProductSpot::In::d, false, index(f.d.y, f.d.height, at.y, f.m),
                       index(f.d.x, f.d.width, at.x, f.n)};
  }
  if (f.a.contains(at)) {
    return ProductSpot{ProductSpot::In::a, false, index(f.a.y, f.a.height, at.y, f.m),
                       index(f.a.x, f.a.width, at.x, f.k)};
  }
  if (f.b.contains(at)) {
    return ProductSpot{ProductSpot::In::b, false, index(f.b.x, f.b.width, at.x, f.n),
                       index(f.b.y, f.b.height, at.y, f.k)};
  }
  for (const bool of_a : {true, false}) {
    const ProductFrame::Bytes& bytes = of_a ? f.a_bytes : f.b_bytes;
    if (!bytes.box.contains(at)) continue;
    const std::uint32_t line = index(bytes.box.y, bytes.box.height, at.y, bytes.lines);
    const std::uint32_t piece = index(bytes.box.x, bytes.box.width, at.x, 8);
    const std::uint32_t offset = bytes.first + line * 128 + piece * 16;
    for (const ProductView::Piece& each : view.pieces(of_a)) {
      if (each.offset != offset) continue;
      return ProductSpot{of_a ? ProductSpot::In::a : ProductSpot::In::b, true, each.row, each.k};
    }
  }
  return {};
}

std::string spot_text(const ProductView& view, const ProductSpot& spot) {
  const sim::ProductSeen& p = view.seen();
  if (spot.in == ProductSpot::In::d) {
    const std::uint64_t pattern = p.after[std::size_t{spot.row} * p.n + spot.column];
    return fmt::format("D[{}, {}] = {} ({}): {}", spot.row, spot.column,
                       number_text(value_in(p, pattern)), pattern_text(p, pattern),
                       place_text(view, view.place(spot.row, spot.column)));
  }
  const bool of_a = spot.in == ProductSpot::In::a;
  std::string where;
  for (const ProductView::Piece& piece : view.pieces(of_a)) {
    const auto& o = of_a ? p.a_from : p.b_from;
    const std::uint32_t elements = 16 / sim::width_of(o.stored);
    const std::uint32_t on = spot.row % std::max(1u, o.rows);
    const bool held = o.matrix->k_major ? piece.row == on && spot.column - piece.k < elements
                                        : piece.k == spot.column && on - piece.row < piece.rows;
    if (held) {
      where = fmt::format(", in bytes {} to {} of shared memory", grouped(piece.offset),
                          grouped(piece.offset + 15));
    }
  }
  if (p.sparse) return fmt::format("{} {}{}", of_a ? "A" : "B", spot.row, where);
  return of_a ? fmt::format("A[{}, {}] = {}{}", spot.row, spot.column,
                            number_text(element_of_a(p, spot.row, spot.column)), where)
              : fmt::format("B[{}, {}] = {}{}", spot.column, spot.row,
                            number_text(element_of_b(p, spot.row, spot.column)), where);
}

ProductFrame draw_product(Scene& scene, const ProductShown& shown, Size size) {
  scene.size = size;
  scene.theme = shown.theme;
  return ProductPainter(scene, shown, size).paint();
}

}  // namespace tilescope
