#include "viz/paint/tikz.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace tilescope {
namespace {

constexpr std::int64_t most_pixels = 1 << 14;
// A pixel is 3/4 of a PostScript point, which TeX calls bp.
constexpr double points = 0.75;

// TeX's dimensions end at 16383 pt; two decimals are finer than any printer.
double number(double value) {
  if (!std::isfinite(value)) return 0;
  return std::round(std::clamp(value, -16000.0, 16000.0) * 100) / 100;
}

// Signs that mean something to TeX, and those that its fonts lack.
void put_escaped(std::string& out, std::string_view text) {
  static const std::map<std::string_view, std::string_view> words{
      {"\\", "\\textbackslash{}"},
      {"{", "\\{"},
      {"}", "\\}"},
      {"_", "\\_"},
      {"^", "\\textasciicircum{}"},
      {"~", "\\textasciitilde{}"},
      {"#", "\\#"},
      {"$", "\\$"},
      {"%", "\\%"},
      {"&", "\\&"},
      {"<", "\\textless{}"},
      {">", "\\textgreater{}"},
      {"|", "\\textbar{}"},
      {"\"", "\\textquotedbl{}"},
      {"\u00d7", "$\\times$"},
      {"\u2192", "$\\to$"},
      {"\u2193", "$\\downarrow$"},
      {"\u00b7", "$\\cdot$"},
      {"\u2013", "--"},
      {"\u2026", "\\dots{}"},
  };
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i + 1;
    while (end < text.size() && (static_cast<std::uint8_t>(text[end]) & 0xc0) == 0x80) ++end;
    const std::string_view sign = text.substr(i, end - i);
    const auto known = words.find(sign);
    if (known != words.end()) {
      out += known->second;
    } else if (static_cast<std::uint8_t>(sign[0]) >= 0x20) {
      out += sign;
    }
    i = end;
  }
}

// An image of at most most_pixels: where it has more, squares of pixels become their mean.
Image coarse(const Image& fine, int& side) {
  side = 1;
  const auto pixels = [&] {
    return std::int64_t{(fine.columns + side - 1) / side} * ((fine.rows + side - 1) / side);
  };
  while (pixels() > most_pixels) ++side;
  if (side == 1) return fine;
  Image out;
  out.columns = (fine.columns + side - 1) / side;
  out.rows = (fine.rows + side - 1) / side;
  for (int y = 0; y < fine.rows; y += side) {
    for (int x = 0; x < fine.columns; x += side) {
      int r = 0, g = 0, b = 0, n = 0;
      for (int i = y; i < std::min(y + side, fine.rows); ++i) {
        for (int j = x; j < std::min(x + side, fine.columns); ++j, ++n) {
          const Rgba c =
              fine.rgba[static_cast<std::size_t>(i) * static_cast<std::size_t>(fine.columns) +
                        static_cast<std::size_t>(j)];
          r += c.r, g += c.g, b += c.b;
        }
      }
      out.rgba.push_back({static_cast<std::uint8_t>(r / n), static_cast<std::uint8_t>(g / n),
                          static_cast<std::uint8_t>(b / n)});
    }
  }
  return out;
}

// Runs of one colour, each as far down as the rows below repeat it.
struct Run {
  int x = 0, y = 0, width = 1, height = 1;
};
// By colour, as 0xRRGGBB.
std::map<std::uint32_t, std::vector<Run>> runs_of(const Image& image) {
  std::map<std::uint32_t, std::vector<Run>> out;
  const auto at = [&](int x, int y) {
    return image.rgba[static_cast<std::size_t>(y) * static_cast<std::size_t>(image.columns) +
                      static_cast<std::size_t>(x)];
  };
  // By x and width: the colour and number of the runs that the row above, and this one, end.
  std::map<std::pair<int, int>, std::pair<std::uint32_t, std::size_t>> last, now;
  for (int y = 0; y < image.rows; ++y) {
    now.clear();
    for (int x = 0; x < image.columns;) {
      int end = x + 1;
      while (end < image.columns && at(end, y) == at(x, y)) ++end;
      const Rgba c = at(x, y);
      const std::uint32_t colour = static_cast<std::uint32_t>(c.r << 16 | c.g << 8 | c.b);
      const std::pair<int, int> place{x, end - x};
      const auto before = last.find(place);
      std::vector<Run>& all = out[colour];
      if (before != last.end() && before->second.first == colour) {
        ++all[before->second.second].height;
        now[place] = before->second;
      } else {
        now[place] = {colour, all.size()};
        all.push_back({x, y, end - x, 1});
      }
      x = end;
    }
    last = now;
  }
  return out;
}

class Writer {
 public:
  explicit Writer(const Scene& scene) : scene_(scene) {}

  std::string write() {
    for (const Item& item : scene_.items) {
      if (!std::holds_alternative<Text>(item)) close_texts();
      std::visit([this](const auto& each) { put(each); }, item);
    }
    close_texts();
    for (; open_ > 0; --open_) body_ += "\\end{scope}\n";
    return head() + body_ + "\\end{tikzpicture}%\n\\end{document}\n";
  }

 private:
  std::string head() const {
    const double width = number(std::max(scene_.size.width, 1.0) * points);
    const double height = number(std::max(scene_.size.height, 1.0) * points);
    std::string title;
    put_escaped(title, scene_.title);
    std::string out = fmt::format(
        "% {}\n"
        "\\documentclass{{article}}\n"
        "\\usepackage[paperwidth={}bp,paperheight={}bp,margin=0bp]{{geometry}}\n"
        "\\usepackage[T1]{{fontenc}}\n"
        "\\usepackage[utf8]{{inputenc}}\n"
        "\\IfFileExists{{lmodern.sty}}{{\\usepackage{{lmodern}}}}{{}}\n"
        "\\usepackage{{tikz}}\n"
        "\\pagestyle{{empty}}\n"
        // A text at (x, y), its left end, centre or right end there. Each takes no room, so one
        // node holds all that are alike: a node apiece would fill TeX's memory.
        "\\def\\textL#1,#2:#3;{{\\rlap{{\\kern#1bp\\raise-#2bp\\hbox to0pt{{#3\\hss}}}}}}\n"
        "\\def\\textC#1,#2:#3;{{\\rlap{{\\kern#1bp\\raise-#2bp\\hbox to0pt{{\\hss#3\\hss}}}}}}\n"
        "\\def\\textR#1,#2:#3;{{\\rlap{{\\kern#1bp\\raise-#2bp\\hbox to0pt{{\\hss#3}}}}}}\n"
        "\\parindent=0pt \\topskip=0pt \\parskip=0pt\n",
        title, width, height);
    for (const std::string& hex : colours_) {
      out += fmt::format("\\definecolor{{c{0}}}{{HTML}}{{{0}}}\n", hex);
    }
    out += fmt::format(
        "\\begin{{document}}%\n"
        "\\begin{{tikzpicture}}[x={0}bp,y=-{0}bp,inner sep=0bp,outer sep=0bp]\n"
        "\\useasboundingbox (0,0) rectangle ({1},{2});\n"
        "\\clip (0,0) rectangle ({1},{2});\n",
        points, number(scene_.size.width), number(scene_.size.height));
    return out;
  }

  std::string name_of(Rgba c) {
    std::string hex = hex_of(c).substr(1);
    std::transform(hex.begin(), hex.end(), hex.begin(),
                   [](char d) { return d >= 'a' ? static_cast<char>(d - 'a' + 'A') : d; });
    colours_.insert(hex);
    return "c" + hex;
  }

  std::string stroke(const Stroke& s) {
    const Rgba c = resolve(s.ink, scene_.theme);
    std::string out = fmt::format("draw={},line width={}bp", name_of(c), number(s.width * points));
    if (c.a < 255) out += fmt::format(",draw opacity={}", number(c.a / 255.0));
    if (s.dashed) out += fmt::format(",dash pattern=on {}bp off {}bp", 4 * points, 3 * points);
    return out;
  }

  std::string fill(const Ink& ink) {
    const Rgba c = resolve(ink, scene_.theme);
    std::string out = "fill=" + name_of(c);
    if (c.a < 255) out += fmt::format(",fill opacity={}", number(c.a / 255.0));
    return out;
  }

  static std::string point(Point p) { return fmt::format("({},{})", number(p.x), number(p.y)); }

  static std::string box(const Box& b) {
    return point({b.x, b.y}) + " rectangle " + point({b.right(), b.bottom()});
  }

  void put(const Rectangle& r) {
    if (r.box.empty() || (!r.fill && !(r.stroke.width > 0))) return;
    std::string style = r.fill ? fill(*r.fill) : "";
    if (r.stroke.width > 0) style += (style.empty() ? "" : ",") + stroke(r.stroke);
    if (r.radius > 0) style += fmt::format(",rounded corners={}bp", number(r.radius * points));
    body_ += fmt::format("\\path[{}] {};\n", style, box(r.box));
  }

  void put(const Line& line) {
    if (line.points.size() < 2) return;
    std::string path;
    for (const Point& p : line.points) path += (path.empty() ? "" : " -- ") + point(p);
    body_ += fmt::format("\\path[{}{}] {};\n", stroke(line.stroke), line.arrow ? ",->" : "", path);
  }

  void put(const Segments& segments) {
    if (segments.lines.empty()) return;
    body_ += fmt::format("\\path[{}]", stroke(segments.stroke));
    for (const auto& [a, b] : segments.lines) body_ += "\n" + point(a) + "--" + point(b);
    body_ += ";\n";
  }

  void put(const Text& text) {
    const Rgba ink = resolve(text.ink, scene_.theme);
    if (texts_ == nullptr || texts_->size != text.size || texts_->family != text.family ||
        texts_->weight != text.weight || !(resolve(texts_->ink, scene_.theme) == ink)) {
      close_texts();
      texts_ = &text;
      const double size = number(text.size * points);
      body_ += fmt::format(
          "\\node[anchor=base west,text={},font={}{}\\fontsize{{{}bp}}{{{}bp}}\\selectfont] at "
          "(0,0) "
          "{{\\smash{{%\n",
          name_of(ink), text.family == Family::mono ? "\\ttfamily" : "\\sffamily",
          text.weight == FontWeight::bold ? "\\bfseries" : "", size, number(size * line_height));
    }
    const char where = text.across == Across::left     ? 'L'
                       : text.across == Across::centre ? 'C'
                                                       : 'R';
    body_ += fmt::format("\\text{}{},{}:{{", where, number(text.at.x * points),
                         number((text.at.y + text.size * cap_height / 2) * points));
    put_escaped(body_, text.text);
    body_ += "};%\n";
  }

  void close_texts() {
    if (texts_ != nullptr) body_ += "}};\n";
    texts_ = nullptr;
  }

  void put(const Raster& raster) {
    const Image& fine = *raster.image;
    if (fine.columns <= 0 || fine.rows <= 0 || raster.box.empty()) return;
    int side = 1;
    const Image image = coarse(fine, side);
    if (side > 1) {
      body_ += fmt::format("% {} x {} cells, drawn as the means of {} x {} each\n", fine.rows,
                           fine.columns, side, side);
    }
    const double width = raster.box.width / fine.columns * side;
    const double height = raster.box.height / fine.rows * side;
    body_ += "\\begin{scope}\n\\clip " + box(raster.box) + ";\n";
    for (const auto& [colour, runs] : runs_of(image)) {
      body_ += "\\path[" + fill(Ink(rgb(colour))) + "]";
      for (const Run& run : runs) {
        body_ += "\n" + box({raster.box.x + width * run.x, raster.box.y + height * run.y,
                             width * run.width, height * run.height});
      }
      body_ += ";\n";
    }
    body_ += "\\end{scope}\n";
  }

  void put(const GroupBegin& group) {
    ++open_;
    body_ += "\\begin{scope}";
    if (!group.name.empty()) {
      body_ += " % ";
      put_escaped(body_, group.name);
    }
    body_ += '\n';
    if (group.clip) body_ += "\\clip " + box(*group.clip) + ";\n";
  }
  void put(const GroupEnd&) {
    if (open_ == 0) return;
    --open_;
    body_ += "\\end{scope}\n";
  }

  const Scene& scene_;
  std::string body_;
  std::set<std::string> colours_;
  const Text* texts_ = nullptr;  // the first of those alike that are being written
  int open_ = 0;
};

}  // namespace

std::string paint_tikz(const Scene& scene) {
  return Writer(scene).write();
}

}  // namespace tilescope
