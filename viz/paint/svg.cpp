#include "viz/paint/svg.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>

#include "viz/paint/small_png.h"

namespace tilescope {
namespace {

constexpr std::size_t most_path_cells = 1 << 16;

void put_escaped(std::string& out, std::string_view text) {
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        if (static_cast<unsigned char>(c) >= 0x20) out += c;  // XML has no other controls
    }
  }
}

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
    put_escaped(out_, scene_.title);
    out_ +=
        "</title>\n<style>text{font:13px 'DejaVu Sans',Verdana,sans-serif}"
        ".m{font-family:'DejaVu Sans Mono',Menlo,Consolas,monospace}"
        ".b{font-weight:bold}.c{text-anchor:middle}.r{text-anchor:end}"
        ".s{shape-rendering:crispEdges}</style>\n";
    for (const Item& item : scene_.items) {
      const Text* text = std::get_if<Text>(&item);
      if (text == nullptr) close_texts();
      std::visit([this](const auto& each) { put(each); }, item);
    }
    close_texts();
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
      put_escaped(out_, hint.text);
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

  // Texts of one style and ink stand in one group, so that a label costs its place and its letters.
  void put(const Text& text) {
    const Rgba ink = resolve(text.ink, scene_.theme);
    if (texts_ == nullptr || texts_->size != text.size || texts_->family != text.family ||
        texts_->weight != text.weight || texts_->across != text.across ||
        !(resolve(texts_->ink, scene_.theme) == ink)) {
      close_texts();
      texts_ = &text;
      out_ += "<g ";
      paint("fill", text.ink);
      out_ += ">\n";
      kind_.clear();
      const auto add = [&](bool yes, const char* name) {
        if (!yes) return;
        kind_ += kind_.empty() ? "" : " ";
        kind_ += name;
      };
      add(text.family == Family::mono, "m");
      add(text.weight == FontWeight::bold, "b");
      add(text.across == Across::centre, "c");
      add(text.across == Across::right, "r");
    }
    out_ += "<text ";
    if (!kind_.empty()) out_.append("class=\"").append(kind_).append("\" ");
    if (text.size != small_text) {
      out_ += "style=\"font-size:";
      put_number(out_, text.size);
      out_ += "px\" ";
    }
    attribute("x", text.at.x);
    out_ += "y=\"";
    put_number(out_, std::round((text.at.y + text.size * cap_height / 2) * 10) / 10);
    out_ += "\">";
    put_escaped(out_, text.text);
    out_ += "</text>\n";
  }

  void close_texts() {
    if (texts_ != nullptr) out_ += "</g>\n";
    texts_ = nullptr;
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

  // One path a colour, of the runs of equal neighbours in a row.
  void put_cells(const Raster& raster) {
    const Image& image = *raster.image;
    const double width = raster.box.width / image.columns;
    const double height = raster.box.height / image.rows;
    std::map<std::uint32_t, std::string> paths;
    const auto key = [](Rgba c) {
      return static_cast<std::uint32_t>(c.r) << 24 | static_cast<std::uint32_t>(c.g) << 16 |
             static_cast<std::uint32_t>(c.b) << 8 | c.a;
    };
    for (int y = 0; y < image.rows; ++y) {
      const Rgba* row = image.rgba.data() + static_cast<std::ptrdiff_t>(y) * image.columns;
      for (int x = 0; x < image.columns;) {
        int end = x + 1;
        while (end < image.columns && row[end] == row[x]) ++end;
        std::string& path = paths[key(row[x])];
        path += 'M';
        put_number(path, raster.box.x + width * x);
        path += ' ';
        put_number(path, raster.box.y + height * y);
        path += 'h';
        put_number(path, width * (end - x));
        path += 'v';
        put_number(path, height);
        path += 'h';
        put_number(path, -width * (end - x));
        path += 'z';
        x = end;
      }
    }
    out_ += "<g class=\"s\">\n";
    for (const auto& [colour, path] : paths) {
      const Rgba c{static_cast<std::uint8_t>(colour >> 24), static_cast<std::uint8_t>(colour >> 16),
                   static_cast<std::uint8_t>(colour >> 8), static_cast<std::uint8_t>(colour)};
      if (c.a == 0) continue;
      out_ += "<path ";
      paint("fill", Ink(c));
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

  void put(const GroupBegin& group) {
    ++open_;
    std::string clip;
    if (group.clip) {
      clip = "clip" + std::to_string(++clips_);
      const Box& b = *group.clip;
      out_ += "<clipPath id=\"" + clip + "\"><rect ";
      attribute("x", b.x);
      attribute("y", b.y);
      attribute("width", std::max(b.width, 0.0));
      attribute("height", std::max(b.height, 0.0));
      out_ += "/></clipPath>\n";
    }
    out_ += "<g";
    if (!group.name.empty()) {
      out_ += " class=\"";
      put_escaped(out_, group.name);
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
  std::string out_, kind_;
  const Text* texts_ = nullptr;
  int open_ = 0, clips_ = 0;
};

}  // namespace

std::string paint_svg(const Scene& scene) {
  return Writer(scene).write();
}

}  // namespace tilescope
