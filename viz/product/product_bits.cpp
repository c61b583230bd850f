// The bits of a product's descriptors: a strip with a colour for each field, and what each says.
#include <algorithm>

#include "viz/product/product_painter.h"

namespace tilescope {
namespace {

bool is_idle(const sim::BitField& f) {
  if (f.value != 0) return false;
  for (const std::string_view name : {"leading stride mode", "sparsity selector", "sparse",
                                      "saturate", "negate A", "negate B", "largest shift of .ws"}) {
    if (f.name == name) return true;
  }
  return false;
}

// A's and B's have the same fields as a rule: one table of both.
bool same_fields(const DescriptorView& a, const DescriptorView& b) {
  return a.width == b.width &&
         std::equal(a.fields.begin(), a.fields.end(), b.fields.begin(), b.fields.end(),
                    [](const auto& f, const auto& g) { return f.name == g.name; });
}

}  // namespace

std::vector<ProductPainter::BitColumn> ProductPainter::bit_columns() const {
  std::vector<BitColumn> out;
  const auto& all = v_.descriptors;
  for (std::size_t i = 0; i < all.size(); ++i) {
    BitColumn column{&all[i], nullptr, 0, 0};
    if (i == 0 && all.size() > 1 && same_fields(all[0], all[1])) column.other = &all[++i];
    const double above = column.other ? 92 : 56;
    const auto told = std::count_if(column.d->fields.begin(), column.d->fields.end(),
                                    [](const sim::BitField& f) { return !is_idle(f); });
    column.most = above + bit_pitch * static_cast<double>(told + 1);
    column.least = above + bit_pitch * 4;
    out.push_back(column);
  }
  return out;
}

void ProductPainter::draw_bits_across(const std::vector<BitColumn>& columns, const Box& room) {
  scene_.begin("bits", Box{room.x - 2, room.y - 2, room.width + 4, room.height + 4});
  const double each = room.width / static_cast<double>(columns.size());
  double x = room.x;
  for (const BitColumn& column : columns) {
    brief_ = true;
    bare_ = column.most > room.height;
    draw_descriptor(*column.d, column.other, {x, room.y, each - 20, room.height});
    x += each;
  }
  scene_.end();
}

void ProductPainter::draw_bits(const Box& room) {
  scene_.begin("bits", Box{room.x - 2, room.y - 2, room.width + 4, room.height + 4});
  const auto& all = v_.descriptors;
  // Where the room is too low for all, fields that are 0 and say nothing are told by their hints
  // alone.
  std::size_t fields = 0;
  for (const DescriptorView& d : all) {
    if (&d == &all[0] || d.width == 32) fields += d.fields.size();
  }
  brief_ = 15.5 * static_cast<double>(fields) + 180 > room.height;
  std::size_t told = 0;
  for (const DescriptorView& d : all) {
    if (&d != &all[0] && d.width != 32) continue;
    told += static_cast<std::size_t>(
        std::count_if(d.fields.begin(), d.fields.end(), [](const auto& f) { return !is_idle(f); }));
  }
  // Lower still, only what is not 0.
  bare_ = 15.5 * static_cast<double>(told) + 180 > room.height;
  double y = room.y;
  std::size_t i = 0;
  while (i < all.size() && y + 60 < room.bottom()) {
    const bool both = i == 0 && all.size() > 1 && same_fields(all[0], all[1]);
    y = draw_descriptor(all[i], both ? &all[1] : nullptr,
                        {room.x, y, room.width, room.bottom() - y}) +
        8;
    i += both ? 2 : 1;
  }
  scene_.end();
}

// The highest bit is at the left, as numbers are written.
void ProductPainter::draw_strip_of_bits(const DescriptorView& d, const Box& room) {
  const double bit = room.width / d.width;
  scene_.add(Rectangle{room, Ink(Role::panel), {Role::line, 1, false}, 0});
  for (std::size_t i = 0; i < d.fields.size(); ++i) {
    const sim::BitField& f = d.fields[i];
    const Rgba colour = field_colour(i);
    const Box box{room.x + bit * (d.width - f.low - f.count), room.y, bit * f.count, room.height};
    scene_.add(Rectangle{box, Ink(mix(s_.theme.paper, colour, 0.4)), {}, 0});
    for (int b = 0; b < f.count; ++b) {
      if (!(f.value >> b & 1)) continue;
      scene_.add(Rectangle{
          {room.x + bit * (d.width - 1 - f.low - b) + 0.5, room.y + 1, bit - 1, room.height - 2},
          Ink(colour),
          {},
          0});
    }
    scene_.hints.push_back(
        {box, fmt::format("bits {}: {} = {}. {}. If it were otherwise: {}.", bits_text(f), f.name,
                          value_text(f), f.meaning, d.otherwise[i])});
  }
}

// The numbers of bits below a strip, each under its bit: 63, 56, 48 ... 0.
void ProductPainter::draw_axis_of_bits(const DescriptorView& d, const Box& strip) {
  const double bit = strip.width / d.width;
  scene_.begin("bit numbers");
  const auto label = [&](int number) {
    const double x = strip.x + bit * (d.width - number - 0.5);
    const std::string text = fmt::format("{}", number);
    const double half = text_width(text, small_text, Family::mono) / 2;
    const double at = std::clamp(x, strip.x + half, strip.right() - half);
    scene_.add(Segments{{{{x, strip.bottom()}, {x, strip.bottom() + 3}}}, {Role::quiet, 1, false}});
    scene_.add(words({at, strip.bottom() + 10}, text, Role::quiet, Family::mono, Across::centre));
  };
  label(d.width - 1);
  for (int number = d.width - 8; number >= 0; number -= 8) label(number);
  scene_.end();
}

Rgba ProductPainter::field_colour(std::size_t i) const {
  return category(static_cast<std::int64_t>(i % 7 + i / 7 * 8), s_.theme.dark);
}

double ProductPainter::draw_descriptor(const DescriptorView& d, const DescriptorView* other,
                                       const Box& room) {
  constexpr double pitch = bit_pitch;
  scene_.begin(other ? "descriptors of A and B" : d.name);
  double y = room.y;
  for (const DescriptorView* each : {&d, other}) {
    if (!each) continue;
    heading({room.x, y, room.width, 20}, each->name,
            fmt::format("0x{:0{}x}", each->bits, each->width / 4));
    const Box strip{room.x, y + 19, room.width, 11};
    draw_strip_of_bits(*each, strip);
    // Two of the same fields have one axis.
    if (each == other || !other) draw_axis_of_bits(*each, strip);
    y += each == other || !other ? 52 : 36;
  }
  y += 4;
  // Where not all fit, those that are 0 are counted below the others: their strip has them.
  std::vector<std::size_t> shown;
  const auto is_zero = [&](std::size_t i) {
    return d.fields[i].value == 0 && (!other || other->fields[i].value == 0);
  };
  for (std::size_t i = 0; i < d.fields.size(); ++i) {
    const bool spared = bare_ || (brief_ && is_idle(d.fields[i]));
    if (!(spared && is_zero(i))) shown.push_back(i);
  }
  const auto fits = static_cast<std::size_t>(std::max(0.0, (room.bottom() - y + 8) / pitch));
  const bool silent = !bare_ && shown.size() <= fits;  // what is idle is in the strip
  if (!silent && shown.size() >= fits) shown.resize(fits > 0 ? fits - 1 : 0);
  for (const std::size_t i : shown) {
    const sim::BitField& f = d.fields[i];
    std::string value = value_text(f), meaning = f.meaning, more = d.otherwise[i];
    if (other && other->fields[i].value != f.value) {
      value += ", " + value_text(other->fields[i]);
      meaning = fmt::format("A: {}; B: {}", f.meaning, other->fields[i].meaning);
    }
    scene_.add(Rectangle{{room.x, y - 5, 8, 10}, Ink(field_colour(i)), {}, 2});
    line({room.x + 13, y}, bits_text(f), 46, Role::quiet, Family::mono);
    line({room.x + 62, y}, f.name, 124, Role::text);
    const double at = room.x + 190;
    line({at, y}, value, 100, Role::text, Family::mono);
    const double after = at + std::max(14.0, text_width(value, small_text, Family::mono)) + 8;
    if (after + 30 < room.right()) {
      scene_.add(
          words({after, y}, begin_of(meaning, room.right() - after, Family::sans), Role::quiet));
    }
    scene_.hints.push_back({{room.x, y - 8, room.width, pitch},
                            fmt::format("{}. If it were otherwise: {}.", meaning, more)});
    y += pitch;
  }
  if (!silent && shown.size() < d.fields.size() && fits > 0) {
    draw_fields_left_out(d, other, shown, {room.x, y, room.width, pitch});
    y += pitch;
  }
  scene_.end();
  return y;
}

void ProductPainter::draw_fields_left_out(const DescriptorView& d, const DescriptorView* other,
                                          const std::vector<std::size_t>& shown, const Box& at) {
  std::string names;
  bool zero = true;
  for (std::size_t i = 0; i < d.fields.size(); ++i) {
    if (std::find(shown.begin(), shown.end(), i) != shown.end()) continue;
    names += (names.empty() ? "" : ", ") + std::string(d.fields[i].name);
    zero = zero && d.fields[i].value == 0 && (!other || other->fields[i].value == 0);
  }
  const std::size_t count = d.fields.size() - shown.size();
  line({at.x + 13, at.y}, fmt::format("and {} more{}", count, zero ? ", all 0" : ""), at.width - 13,
       Role::quiet);
  scene_.hints.push_back({{at.x, at.y - 8, at.width, at.height}, names});
}

}  // namespace tilescope
