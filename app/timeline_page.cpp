#include "app/timeline_page.h"

#include <fmt/format.h>
#include <zlib.h>

#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "app/assets.h"
#include "core/record/timeline.h"
#include "viz/paint/markup.h"
#include "viz/timeline/timeline_scene.h"
#include "viz/timeline/timeline_view.h"

namespace tilescope {
namespace {

// Below this, data are text that one can read; above, packed.
constexpr std::size_t most_plain = 32 << 10;

std::string base64_of(const std::vector<Bytef>& bytes) {
  static constexpr char letters[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t there = std::min<std::size_t>(bytes.size() - i, 3);
    std::uint32_t three = 0;
    for (std::size_t k = 0; k < 3; ++k) three = three << 8 | (k < there ? bytes[i + k] : 0u);
    for (std::size_t k = 0; k < 4; ++k) {
      out += k <= there ? letters[three >> (18 - 6 * k) & 63] : '=';
    }
  }
  return out;
}

// As RFC 1950 has it, which browsers call "deflate"; empty: there is no room for it.
std::string packed(const std::string& text) {
  uLongf size = compressBound(static_cast<uLong>(text.size()));
  std::vector<Bytef> bytes(size);
  if (compress2(bytes.data(), &size, reinterpret_cast<const Bytef*>(text.data()),
                static_cast<uLong>(text.size()), 6) != Z_OK) {
    return "";
  }
  bytes.resize(size);
  return base64_of(bytes);
}

// Nothing in it ends the element that holds it.
std::string harmless(const std::string& json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

// The page with each @name@ of the frame once replaced, from left to right.
std::string filled(std::string_view frame,
                   const std::vector<std::pair<std::string_view, std::string>>& parts) {
  std::string out;
  for (const auto& [name, text] : parts) {
    const std::string mark = fmt::format("@{}@", name);
    const std::size_t at = frame.find(mark);
    if (at == frame.npos) continue;  // TILESCOPE_ASSETS has another frame
    out.append(frame.substr(0, at));
    out += text;
    frame.remove_prefix(at + mark.size());
  }
  return out.append(frame);
}

double height_of_page(const TimelineView& view) {
  constexpr double around = 260;  // header, all of the run, axis, legend
  double rows = 0;
  for (const TimelineRow& row : view.rows({})) {
    const bool stripes = row.place.group && !row.open && view.has_stripes(row.place.index);
    const int lanes = row.place.group ? 1 : view.lanes_of(row.place.index);
    rows += stripes ? 34 : lanes > 1 ? 4 + 14 * lanes : timeline_row_height;
  }
  return around + rows;
}

}  // namespace

Outcome<TimelinePage> timeline_page(const sim::Record& record, const std::string& theme,
                                    std::size_t most) {
  if (theme != "auto" && theme != "light" && theme != "dark") {
    return Error{ErrorKind::usage,
                 fmt::format("There is no theme `{}`: light, dark, or auto.", theme), ""};
  }
  const auto frame = load_asset("page/timeline.html");
  if (!frame) return frame.error();
  const auto style = load_asset("page/timeline.css");
  if (!style) return style.error();
  std::string script;
  for (const char* name : {"timeline_model", "timeline_words", "timeline_paint", "timeline_rows",
                           "timeline_draw", "timeline"}) {
    const auto part = load_asset(fmt::format("page/{}.js", name));
    if (!part) return part.error();
    script += part->text();
  }
  // Who asks keeps the record.
  const std::shared_ptr<const sim::Record> held(std::shared_ptr<const sim::Record>(), &record);
  const TimelineView view(held, std::make_shared<sim::Timeline>(record));
  std::string data = harmless(timeline_data(view, most));
  std::string_view kind = "application/json";
  if (data.size() > most_plain) {
    if (std::string small = packed(data); !small.empty()) {
      data = std::move(small);
      kind = "application/octet-stream";
    }
  }
  TimelinePage out;
  out.height = height_of_page(view);
  out.html = filled(frame->text(), {{"title", markup_of(view.title())},
                                    {"style", std::string(style->text())},
                                    {"theme", theme},
                                    {"kind", std::string(kind)},
                                    {"data", std::move(data)},
                                    {"script", std::move(script)}});
  return out;
}

}  // namespace tilescope
