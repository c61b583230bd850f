#include "viz/paint/player.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>

#include "viz/paint/markup.h"

namespace tilescope {
namespace {

void put_number(std::string& out, double value) {
  if (!std::isfinite(value)) value = 0;
  const long long tenths = std::llround(std::clamp(value, -1e9, 1e9) * 10);
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), tenths / 10);
  if (tenths < 0 && tenths > -10) out += '-';
  out.append(digits.data(), static_cast<std::size_t>(end.ptr - digits.data()));
  const long long rest = std::abs(tenths % 10);
  if (rest == 0) return;
  out += '.';
  out += static_cast<char>('0' + rest);
}

// A JSON string that is safe inside <script>.
void put_text(std::string& out, std::string_view text) {
  static const char digits[] = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || c == '<' || c == '>' || c == '&') {
      out += "\\u00";
      out += digits[byte >> 4];
      out += digits[byte & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

std::string hex(Rgba c) {
  static const char digits[] = "0123456789abcdef";
  std::string out = "#";
  for (const std::uint8_t v : {c.r, c.g, c.b}) {
    out += digits[v >> 4];
    out += digits[v & 15];
  }
  if (c.a == 255) return out;
  out += digits[c.a >> 4];
  out += digits[c.a & 15];
  return out;
}

// Items as arrays, the kind first:
//   [0, x, y, w, h, radius, fill, stroke, width, dashed]    a rectangle
//   [1, [x, y, ...], stroke, width, dashed, arrow]          a line
//   [2, [x, y, x, y, ...], stroke, width, dashed]           separate lines
//   [3, x, y, text, pixels, family, bold, across, ink]      text
//   [4, x, y, w, h, columns, rows, "rrggbbaa..."]           a raster
//   [5, x, y, w, h] or [5], and [6]                         a group, clipped or not, and its end
class Encoder {
 public:
  // Of each item its number among the different ones.
  std::string frame(const Scene& scene) {
    std::string out = "[";
    for (const Item& item : scene.items) {
      text_.clear();
      std::visit([&](const auto& each) { put(each, scene.theme); }, item);
      const auto [known, fresh] = numbers_.try_emplace(text_, numbers_.size());
      if (fresh) items_ += (items_.empty() ? "" : ",\n") + text_;
      if (out.size() > 1) out += ',';
      out += std::to_string(known->second);
    }
    return out + "]";
  }
  const std::string& items() const { return items_; }

 private:
  void number(double value) {
    if (text_.back() != '[') text_ += ',';
    put_number(text_, value);
  }
  void ink(const Ink& ink, const Theme& theme) {
    text_ += ',';
    put_text(text_, hex(resolve(ink, theme)));
  }
  void stroke(const Stroke& stroke, const Theme& theme) {
    ink(stroke.ink, theme);
    number(stroke.width);
    number(stroke.dashed ? 1 : 0);
  }
  void box(const Box& box) {
    for (const double v : {box.x, box.y, box.width, box.height}) number(v);
  }
  void points(const std::vector<Point>& all) {
    text_ += ",[";
    for (const Point& p : all) {
      number(p.x);
      number(p.y);
    }
    text_ += ']';
  }

  void put(const Rectangle& r, const Theme& theme) {
    text_ = "[0";
    box(r.box);
    number(r.radius);
    if (r.fill) {
      ink(*r.fill, theme);
    } else {
      text_ += ",0";
    }
    stroke(r.stroke, theme);
    text_ += ']';
  }
  void put(const Line& line, const Theme& theme) {
    text_ = "[1";
    points(line.points);
    stroke(line.stroke, theme);
    number(line.arrow ? 1 : 0);
    text_ += ']';
  }
  void put(const Segments& lines, const Theme& theme) {
    std::vector<Point> all;
    for (const auto& [from, to] : lines.lines) {
      all.push_back(from);
      all.push_back(to);
    }
    text_ = "[2";
    points(all);
    stroke(lines.stroke, theme);
    text_ += ']';
  }
  void put(const Text& text, const Theme& theme) {
    text_ = "[3";
    number(text.at.x);
    number(text.at.y);
    text_ += ',';
    put_text(text_, text.text);
    number(text.size);
    number(text.family == Family::mono ? 1 : 0);
    number(text.weight == FontWeight::bold ? 1 : 0);
    number(static_cast<double>(text.across));
    ink(text.ink, theme);
    text_ += ']';
  }
  void put(const Raster& raster, const Theme&) {
    text_ = "[4";
    box(raster.box);
    number(raster.image->columns);
    number(raster.image->rows);
    std::string pixels;
    for (const Rgba& c : raster.image->rgba) {
      const std::string opaque = hex({c.r, c.g, c.b, 255});
      pixels += opaque.substr(1);
      static const char digits[] = "0123456789abcdef";
      pixels += digits[c.a >> 4];
      pixels += digits[c.a & 15];
    }
    text_ += ',';
    put_text(text_, pixels);
    text_ += ']';
  }
  void put(const GroupBegin& group, const Theme&) {
    text_ = "[5";
    if (group.clip) box(*group.clip);
    text_ += ']';
  }
  void put(const GroupEnd&, const Theme&) { text_ = "[6]"; }

  std::string text_, items_;
  std::map<std::string, std::size_t> numbers_;
};

constexpr std::string_view script = R"js(
"use strict";
const canvas = document.getElementById("stage"), pen = canvas.getContext("2d");
const strip = document.getElementById("time"), button = document.getElementById("play");
const label = document.getElementById("label");
let now = 0, playing = false, last = 0;
const images = new Map();
function image(item) {
  if (images.has(item)) return images.get(item);
  const [, , , , , columns, rows, pixels] = item, of = document.createElement("canvas");
  of.width = columns; of.height = rows;
  const data = new ImageData(columns, rows);
  for (let i = 0; i < data.data.length; ++i) data.data[i] = parseInt(pixels.substr(2 * i, 2), 16);
  of.getContext("2d").putImageData(data, 0, 0);
  images.set(item, of);
  return of;
}
function stroke(ink, width, dashed) {
  pen.strokeStyle = ink; pen.lineWidth = width; pen.setLineDash(dashed ? [4, 3] : []);
  pen.stroke();
}
function paint(item) {
  switch (item[0]) {
    case 0: {
      const [, x, y, w, h, radius, fill, ink, width, dashed] = item;
      pen.beginPath();
      if (radius) pen.roundRect(x, y, w, h, Math.min(radius, w / 2, h / 2)); else pen.rect(x, y, w, h);
      if (fill) { pen.fillStyle = fill; pen.fill(); }
      if (width) stroke(ink, width, dashed);
      break;
    }
    case 1: {
      const [, points, ink, width, dashed, arrow] = item;
      pen.beginPath();
      for (let i = 0; i < points.length; i += 2) pen.lineTo(points[i], points[i + 1]);
      if (width) stroke(ink, width, dashed);
      if (arrow && points.length >= 4) {
        const n = points.length, x = points[n - 2], y = points[n - 1];
        const angle = Math.atan2(y - points[n - 3], x - points[n - 4]), long = 5 + width;
        pen.beginPath();
        pen.moveTo(x, y);
        pen.lineTo(x - long * Math.cos(angle - 0.5), y - long * Math.sin(angle - 0.5));
        pen.lineTo(x - long * Math.cos(angle + 0.5), y - long * Math.sin(angle + 0.5));
        pen.closePath();
        pen.fillStyle = ink; pen.fill();
      }
      break;
    }
    case 2: {
      const [, points, ink, width, dashed] = item;
      pen.beginPath();
      for (let i = 0; i < points.length; i += 4) {
        pen.moveTo(points[i], points[i + 1]);
        pen.lineTo(points[i + 2], points[i + 3]);
      }
      if (width) stroke(ink, width, dashed);
      break;
    }
    case 3: {
      const [, x, y, text, pixels, mono, bold, across, ink] = item;
      pen.font = (bold ? "bold " : "") + pixels + "px " +
                 (mono ? "'DejaVu Sans Mono', monospace" : "'DejaVu Sans', Verdana, sans-serif");
      pen.textAlign = ["left", "center", "right"][across];
      pen.textBaseline = "alphabetic";
      pen.fillStyle = ink;
      pen.fillText(text, x, y + 0.3645 * pixels);
      break;
    }
    case 4: pen.imageSmoothingEnabled = false; pen.drawImage(image(item), item[1], item[2], item[3], item[4]); break;
    case 5:
      pen.save();
      if (item.length > 1) { pen.beginPath(); pen.rect(item[1], item[2], item[3], item[4]); pen.clip(); }
      break;
    case 6: pen.restore(); break;
  }
}
function show(i) {
  now = Math.max(0, Math.min(data.frames.length - 1, Math.round(i)));
  const scale = canvas.width / data.width;
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.fillStyle = data.paper;
  pen.fillRect(0, 0, data.width, data.height);
  for (const number of data.frames[now]) paint(data.items[number]);
  strip.value = now;
  label.textContent = data.labels[now];
}
function fit() {
  const sharp = window.devicePixelRatio || 1;
  const wide = Math.min(document.body.clientWidth - 16, data.width * 1.5);
  canvas.style.width = wide + "px";
  canvas.width = Math.round(wide * sharp);
  canvas.height = Math.round(wide * sharp * data.height / data.width);
  show(now);
}
function play(on) { playing = on; button.textContent = on ? "Pause" : "Play"; if (on) last = 0; }
function tick(at) {
  if (playing) {
    if (!last) last = at;
    const steps = Math.floor((at - last) * data.speed / 1000);
    if (steps > 0) {
      last += steps * 1000 / data.speed;
      show(now + steps >= data.frames.length ? 0 : now + steps);
    }
  }
  requestAnimationFrame(tick);
}
button.onclick = () => play(!playing);
strip.oninput = () => { play(false); show(+strip.value); };
document.onkeydown = (event) => {
  if (event.target === strip) return;
  if (event.key === " ") play(!playing);
  else if (event.key === "ArrowRight") { play(false); show(now + 1); }
  else if (event.key === "ArrowLeft") { play(false); show(now - 1); }
  else return;
  event.preventDefault();
};
window.onresize = fit;
window.tilescope = { times: data.times, states: data.states, show, play, get now() { return now; } };
strip.max = data.frames.length - 1;
fit();
requestAnimationFrame(tick);
)js";

constexpr std::string_view style = R"css(
body { margin: 0; background: PAPER; color: TEXT; font: 13px 'DejaVu Sans', Verdana, sans-serif; }
main { padding: 8px; }
canvas { display: block; }
nav { display: flex; align-items: center; gap: 12px; padding: 8px 16px; }
nav input { flex: 1; accent-color: ACCENT; }
button { font: inherit; color: inherit; background: PANEL; border: 1px solid LINE;
         border-radius: 4px; padding: 4px 16px; }
#label { min-width: 12em; text-align: right; font-variant-numeric: tabular-nums; }
)css";

void replace(std::string& in, std::string_view what, const std::string& by) {
  for (std::size_t at = 0; (at = in.find(what, at)) != std::string::npos; at += by.size()) {
    in.replace(at, what.size(), by);
  }
}

}  // namespace

std::string paint_player(const Film& film) {
  const std::vector<FilmFrame>& frames = film.frames;
  Encoder encoder;
  std::string lists, times, labels, states;
  for (const FilmFrame& frame : frames) {
    const char* comma = lists.empty() ? "" : ",\n";
    lists += comma + encoder.frame(frame.scene);
    times += comma;
    put_number(times, frame.time);
    labels += comma;
    put_text(labels, frame.label);
    states += comma;
    std::string state = frame.state.empty() ? "null" : frame.state;
    replace(state, "<", "\\u003c");  // only strings have one, in JSON
    states += state;
  }
  const Theme theme = frames.empty() ? light_theme() : frames.front().scene.theme;
  const Size size = frames.empty() ? Size{1, 1} : frames.front().scene.size;
  std::string css(style);
  replace(css, "PAPER", hex(theme.paper));
  replace(css, "TEXT", hex(theme.text));
  replace(css, "ACCENT", hex(theme.accent));
  replace(css, "PANEL", hex(theme.panel));
  replace(css, "LINE", hex(theme.line));
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>";
  put_markup(out, film.title);
  out += "</title>\n<style>" + css +
         "</style>\n</head>\n<body>\n<main><canvas id=\"stage\"></canvas></main>\n<nav><button "
         "id=\"play\">Play</button><input id=\"time\" type=\"range\" min=\"0\" value=\"0\" "
         "aria-label=\"time\"><span id=\"label\"></span></nav>\n<script>\nconst data = {\"width\":";
  put_number(out, std::max(1.0, size.width));
  out += ",\"height\":";
  put_number(out, std::max(1.0, size.height));
  out += ",\"speed\":";
  put_number(out, film.frames_a_second);
  out += ",\"unit\":";
  put_text(out, film.unit);
  out += ",\"paper\":";
  put_text(out, hex(theme.paper));
  out += ",\n\"times\":[" + times + "],\n\"labels\":[" + labels + "],\n\"items\":[" +
         encoder.items() + "],\n\"frames\":[" + lists + "],\n\"states\":[" + states + "]};\n";
  out += script;
  out += "</script>\n</body>\n</html>\n";
  return out;
}

}  // namespace tilescope
