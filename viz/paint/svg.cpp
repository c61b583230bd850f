#include "viz/paint/svg.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <type_traits>

#include "viz/paint/markup.h"
#include "viz/paint/small_png.h"

namespace tilescope {
namespace {

constexpr std::size_t most_path_cells = 1 << 16;

// A coordinate with at most two decimals; what is not a number or far outside is brought back.
void put_number(std::string& out, double value) {
  if (!std::isfinite(value)) value = 0;
  const long long hundredths = std::llround(std::clamp(value, -1e9, 1e9) * 100);
  const long long size = hundredths < 0 ? -hundredths : hundredths;
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), size / 100);
  if (hundredths < 0) out += '-';
  if (size >= 100 || size % 100 == 0) {
    out.append(digits.data(), static_cast<std::size_t>(end.ptr - digits.data()));
  }
  const int cents = static_cast<int>(size % 100);
  if (cents == 0) return;
  out += '.';
  out += static_cast<char>('0' + cents / 10);
  if (cents % 10 != 0) out += static_cast<char>('0' + cents % 10);
}

void put_colour(std::string& out, Rgba c) {
  static const char digits[] = "0123456789abcdef";
  const auto doubled = [](std::uint8_t v) { return v >> 4 == (v & 15); };
  const bool brief = doubled(c.r) && doubled(c.g) && doubled(c.b);
  out += '#';
  for (const std::uint8_t v : {c.r, c.g, c.b}) {
    out += digits[v >> 4];
    if (!brief) out += digits[v & 15];
  }
}

class Writer {
 public:
  explicit Writer(const Scene& scene) : scene_(scene) {}

  std::string write() {
    out_ =
        "<svg xmlns=\"http://www.w3.org/2000/svg\" "
        "xmlns:xlink=\"http://www.w3.org/1999/xlink\" version=\"1.1\" ";
    attribute("width", std::max(scene_.size.width, 1.0));
    attribute("height", std::max(scene_.size.height, 1.0));
    out_ += "viewBox=\"0 0 ";
    put_number(out_, std::max(scene_.size.width, 1.0));
    out_ += ' ';
    put_number(out_, std::max(scene_.size.height, 1.0));
    out_ += "\">\n<title>";
    put_markup(out_, scene_.title);
    out_ +=
        "</title>\n<style>svg{font:13px 'DejaVu Sans',Verdana,sans-serif}"
        ".m{font-family:'DejaVu Sans Mono',Menlo,Consolas,monospace}"
        ".b{font-weight:bold}.c{text-anchor:middle}.r{text-anchor:end}"
        ".s{shape-rendering:crispEdges}</style>\n";
    for (std::size_t i = 0; i < scene_.items.size();) {
      if (std::holds_alternative<Text>(scene_.items[i])) {
        i = put_texts(i);
      } else {
        const auto put_one = [this](const auto& each) {
          if constexpr (!std::is_same_v<decltype(each), const Text&>) put(each);
        };
        std::visit(put_one, scene_.items[i++]);
      }
    }
    for (; open_ > 0; --open_) out_ += "</g>\n";
    put_hints();
    out_ += "</svg>\n";
    return std::move(out_);
  }

 private:
  // Invisible places whose titles a browser shows under the pointer.
  void put_hints() {
    if (scene_.hints.empty()) return;
    out_ += "<g class=\"hints\" fill=\"none\" pointer-events=\"all\">\n";
    for (const Hint& hint : scene_.hints) {
      out_ += "<rect ";
      attribute("x", hint.box.x);
      attribute("y", hint.box.y);
      attribute("width", std::max(hint.box.width, 0.0));
      attribute("height", std::max(hint.box.height, 0.0));
      out_ += "><title>";
      put_markup(out_, hint.text);
      out_ += "</title></rect>\n";
    }
    out_ += "</g>\n";
  }

  void attribute(std::string_view name, double value) {
    out_.append(name).append("=\"");
    put_number(out_, value);
    out_ += "\" ";
  }

  void paint(std::string_view what, const Ink& ink) {
    const Rgba c = resolve(ink, scene_.theme);
    out_.append(what).append("=\"");
    put_colour(out_, c);
    out_ += "\" ";
    if (c.a == 255) return;
    out_.append(what).append("-opacity=\"");
    put_number(out_, c.a / 255.0);
    out_ += "\" ";
  }

  void stroke(const Stroke& s) {
    paint("stroke", s.ink);
    if (s.width != 1) attribute("stroke-width", s.width);
    if (s.dashed) out_ += "stroke-dasharray=\"4 3\" ";
  }

  void put(const Rectangle& r) {
    if (r.box.empty()) return;
    out_ += "<rect ";
    if (r.radius <= 0) out_ += "class=\"s\" ";
    attribute("x", r.box.x);
    attribute("y", r.box.y);
    attribute("width", r.box.width);
    attribute("height", r.box.height);
    if (r.radius > 0) attribute("rx", r.radius);
    if (r.fill) {
      paint("fill", *r.fill);
    } else {
      out_ += "fill=\"none\" ";
    }
    if (r.stroke.width > 0) stroke(r.stroke);
    out_ += "/>\n";
  }

  void put(const Line& line) {
    if (line.points.size() < 2) return;
    out_ += "<path fill=\"none\" ";
    stroke(line.stroke);
    out_ += "d=\"";
    char command = 'M';
    for (const Point& p : line.points) {
      out_ += command;
      put_number(out_, p.x);
      out_ += ' ';
      put_number(out_, p.y);
      command = 'L';
    }
    out_ += "\"/>\n";
    if (line.arrow) put_head(line);
  }

  void put_head(const Line& line) {
    const Point tip = line.points.back(), from = line.points[line.points.size() - 2];
    const double angle = std::atan2(tip.y - from.y, tip.x - from.x), length = 8, half = 0.4;
    out_ += "<path ";
    paint("fill", line.stroke.ink);
    out_ += "d=\"M";
    put_number(out_, tip.x);
    out_ += ' ';
    put_number(out_, tip.y);
    for (const double side : {-half, half}) {
      out_ += 'L';
      put_number(out_, tip.x - length * std::cos(angle + side));
      out_ += ' ';
      put_number(out_, tip.y - length * std::sin(angle + side));
    }
    out_ += "z\"/>\n";
  }

  void put(const Segments& segments) {
    if (segments.lines.empty()) return;
    out_ += "<path class=\"s\" ";
    stroke(segments.stroke);
    out_ += "d=\"";
    for (const auto& [a, b] : segments.lines) {
      out_ += 'M';
      put_number(out_, a.x);
      out_ += ' ';
      put_number(out_, a.y);
      if (a.y == b.y) {
        out_ += 'H';
        put_number(out_, b.x);
      } else if (a.x == b.x) {
        out_ += 'V';
        put_number(out_, b.y);
      } else {
        out_ += 'L';
        put_number(out_, b.x);
        out_ += ' ';
        put_number(out_, b.y);
      }
    }
    out_ += "\"/>\n";
  }

  // Texts of one style and ink stand in one group, and those of a row of cells in one of that row,
  // so that a label costs its place across and its letters.
  std::size_t put_texts(std::size_t begin) {
    const auto text_at = [&](std::size_t i) { return std::get_if<Text>(&scene_.items[i]); };
    const Text& first = *text_at(begin);
    out_ += "<g class=\"";
    out_ += first.family == Family::mono ? "m" : "";
    out_ += first.weight == FontWeight::bold ? " b" : "";
    out_ += first.across == Across::centre ? " c" : first.across == Across::right ? " r" : "";
    out_ += "\" ";
    if (first.size != small_text) {
      out_ += "style=\"font-size:";
      put_number(out_, first.size);
      out_ += "px\" ";
    }
    paint("fill", first.ink);
    out_ += ">\n";
    std::size_t end = begin;
    while (end < scene_.items.size() && text_at(end) != nullptr && alike(*text_at(end), first)) {
      std::size_t row_end = end + 1;
      while (row_end < scene_.items.size() && text_at(row_end) != nullptr &&
             alike(*text_at(row_end), first) &&
             baseline(*text_at(row_end)) == baseline(*text_at(end))) {
        ++row_end;
      }
      put_row(end, row_end);
      end = row_end;
    }
    out_ += "</g>\n";
    return end;
  }

  void put_row(std::size_t begin, std::size_t end) {
    constexpr std::size_t worth_a_group = 3;
    const bool grouped = end - begin >= worth_a_group;
    const auto put_y = [&](const Text& text) { put_number(out_, baseline(text)); };
    const Text& first = std::get<Text>(scene_.items[begin]);
    if (grouped) {
      out_ += "<g transform=\"translate(0 ";
      put_y(first);
      out_ += ")\">";
    }
    for (std::size_t i = begin; i < end; ++i) {
      const Text& text = std::get<Text>(scene_.items[i]);
      out_ += "<text x=\"";
      put_number(out_, text.at.x);
      if (!grouped) {
        out_ += "\" y=\"";
        put_y(text);
      }
      out_ += "\">";
      put_markup(out_, text.text);
      out_ += "</text>";
    }
    out_ += grouped ? "</g>\n" : "\n";
  }

  bool alike(const Text& a, const Text& b) const {
    return a.size == b.size && a.family == b.family && a.weight == b.weight &&
           a.across == b.across && resolve(a.ink, scene_.theme) == resolve(b.ink, scene_.theme);
  }
  static double baseline(const Text& text) {
    return std::round((text.at.y + text.size * cap_height / 2) * 10) / 10;
  }

  void put(const Raster& raster) {
    const Image& image = *raster.image;
    if (image.columns <= 0 || image.rows <= 0 || raster.box.empty()) return;
    const std::size_t cells =
        static_cast<std::size_t>(image.columns) * static_cast<std::size_t>(image.rows);
    if (cells <= most_path_cells) {
      put_cells(raster);
    } else {
      put_image(raster);
    }
  }

  // One path a colour and height, a thick line for each run of equal neighbours in a row. Rows that
  // are equal are one.
  void put_cells(const Raster& raster) {
    const Image& image = *raster.image;
    const double width = raster.box.width / image.columns;
    const double height = raster.box.height / image.rows;
    std::map<std::pair<std::uint32_t, int>, std::string> paths;
    const auto key = [](Rgba c) {
      return static_cast<std::uint32_t>(c.r) << 24 | static_cast<std::uint32_t>(c.g) << 16 |
             static_cast<std::uint32_t>(c.b) << 8 | c.a;
    };
    const auto row_at = [&](int y) {
      return image.rgba.data() + static_cast<std::ptrdiff_t>(y) * image.columns;
    };
    for (int y = 0, high = 1; y < image.rows; y += high) {
      const Rgba* row = row_at(y);
      for (high = 1; y + high < image.rows; ++high) {
        if (!std::equal(row, row + image.columns, row_at(y + high))) break;
      }
      for (int x = 0; x < image.columns;) {
        int end = x + 1;
        while (end < image.columns && row[end] == row[x]) ++end;
        std::string& path = paths[{key(row[x]), high}];
        path += 'M';
        put_number(path, raster.box.x + width * x);
        path += ' ';
        put_number(path, raster.box.y + height * (y + high / 2.0));
        path += 'h';
        put_number(path, width * (end - x));
        x = end;
      }
    }
    out_ += "<g class=\"s\" fill=\"none\">\n";
    for (const auto& [kind, path] : paths) {
      const auto& [colour, high] = kind;
      const Rgba c{static_cast<std::uint8_t>(colour >> 24), static_cast<std::uint8_t>(colour >> 16),
                   static_cast<std::uint8_t>(colour >> 8), static_cast<std::uint8_t>(colour)};
      if (c.a == 0) continue;
      out_ += "<path ";
      paint("stroke", Ink(c));
      attribute("stroke-width", height * high);
      out_.append("d=\"").append(path).append("\"/>\n");
    }
    out_ += "</g>\n";
  }

  void put_image(const Raster& raster) {
    out_ += "<image style=\"image-rendering:pixelated\" preserveAspectRatio=\"none\" ";
    attribute("x", raster.box.x);
    attribute("y", raster.box.y);
    attribute("width", raster.box.width);
    attribute("height", raster.box.height);
    out_ += "xlink:href=\"data:image/png;base64,";
    out_ += base64(small_png(*raster.image));
    out_ += "\"/>\n";
  }

  // Named by what it is: a page that has several pictures in it (notebooks do) finds the first of a
  // name, which is then as good as their own.
  std::string clip_named(const Box& b) {
    std::string name = "clip";
    for (const double n : {b.x, b.y, std::max(b.width, 0.0), std::max(b.height, 0.0)}) {
      name += '_';
      put_number(name, n);
    }
    if (clips_.insert(name).second) {
      out_ += "<clipPath id=\"" + name + "\"><rect ";
      attribute("x", b.x);
      attribute("y", b.y);
      attribute("width", std::max(b.width, 0.0));
      attribute("height", std::max(b.height, 0.0));
      out_ += "/></clipPath>\n";
    }
    return name;
  }

  void put(const GroupBegin& group) {
    ++open_;
    const std::string clip = group.clip ? clip_named(*group.clip) : "";
    out_ += "<g";
    if (!group.name.empty()) {
      out_ += " class=\"";
      put_markup(out_, group.name);
      out_ += '"';
    }
    if (!clip.empty()) out_ += " clip-path=\"url(#" + clip + ")\"";
    out_ += ">\n";
  }
  void put(const GroupEnd&) {
    if (open_ == 0) return;
    --open_;
    out_ += "</g>\n";
  }

  const Scene& scene_;
  std::string out_;
  int open_ = 0;
  std::set<std::string> clips_;  // that are defined
};

}  // namespace

std::string paint_svg(const Scene& scene) {
  return Writer(scene).write();
}

}  // namespace tilescope
