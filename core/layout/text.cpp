#include "core/layout/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

namespace tilescope {
namespace {

// TIRx's thread axes, then its memory axes.
constexpr std::array<std::string_view, 20> named_axes = {
    "m",   "P",   "F",  "Bank",   "TCol",   "TLane", "bx",        "by",        "bz",  "cbx",
    "cby", "cbz", "tx", "warpid", "laneid", "wgid",  "tid_in_wg", "wid_in_wg", "pid", "vid"};
constexpr int first_named = 128;

void append(std::string& out, std::uint8_t count, char c) {
  out.append(count, c);
}

template <class Leaf, class F>
std::string tree_text(const Tree<Leaf>& tree, F leaf_text) {
  if (tree.empty()) return "()";
  std::string out;
  for (int i = 0; i < tree.leaves; ++i) {
    if (i > 0) out += ',';
    append(out, tree.open[i], '(');
    out += leaf_text(tree.leaf[i]);
    append(out, tree.close[i], ')');
  }
  return out;
}

std::string modes_text(const Tree<Mode>& modes) {
  return tree_text(modes, [](const Mode& m) { return text(m.shape); }) + ":" +
         tree_text(modes, [](const Mode& m) { return text(m.stride); });
}

}  // namespace

std::optional<std::uint8_t> axis_named(std::string_view name) {
  for (std::size_t i = 0; i < named_axes.size(); ++i) {
    if (named_axes[i] == name) return static_cast<std::uint8_t>(first_named + i);
  }
  int number = 0;
  if (name.empty() || name.size() > 3) return std::nullopt;
  for (char c : name) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + (c - '0');
  }
  if (number >= first_named - 1) return std::nullopt;
  return static_cast<std::uint8_t>(number + 1);
}

std::string axis_name(std::uint8_t step) {
  if (step < first_named) return fmt::to_string(step - 1);
  const std::size_t index = static_cast<std::size_t>(step - first_named);
  return index < named_axes.size() ? std::string(named_axes[index]) : "?";
}

std::string text(const Int& number) {
  std::string out;
  switch (number.kind) {
    case Int::Kind::all:
      return "_";
    case Int::Kind::dynamic:
      out = number.value == 1 ? "?" : fmt::format("?{{div={}}}", number.value);
      break;
    case Int::Kind::number:
      out = fmt::to_string(number.value);
      break;
  }
  return out + text(number.axis);
}

std::string text(Axis axis) {
  std::string out;
  for (int i = 0; i < axis.steps(); ++i) out += "@" + axis_name(axis.step(i));
  return out;
}

std::string text(const Place& place) {
  if (place.plain()) return text(place.offset());
  if (const Result<Tuple> coordinate = coordinate_of(place)) return text(*coordinate);
  std::string out;
  for (int i = 0; i < place.parts; ++i) {
    const Int& part = place.part[i];
    if (part.is(0)) continue;  // no offset besides the axes
    if (!out.empty() && part.value >= 0) out += '+';
    out += text(part);
  }
  return out;
}

std::string text(const Tuple& tuple) {
  return tree_text(tuple, [](const Int& n) { return text(n); });
}

std::string text(Swizzle swizzle) {
  return fmt::format("Sw<{},{},{}>", static_cast<int>(swizzle.bits), static_cast<int>(swizzle.base),
                     static_cast<int>(swizzle.shift));
}

std::string text(const Layout& layout) {
  const std::string modes = modes_text(layout.modes);
  if (layout.plain()) return modes;
  return text(layout.swizzle) + " o " + text(layout.offset) + " o " + modes;
}

std::string text(const Tiler& tiler) {
  if (!tiler.by_mode()) return tiler.keeps_whole() ? "_" : modes_text(tiler.modes);
  std::string out = "<";
  for (int i = 0; i < tiler.rank(); ++i) {
    const Tiler part = tiler.mode(i);
    const bool extent = part.modes.scalar() && part.modes.leaf[0].stride.is(1);
    if (i > 0) out += ',';
    out += extent ? text(part.modes.leaf[0].shape) : text(part);
  }
  return out + ">";
}

std::string text(const Slice& slice) {
  const std::string layout = slice.layout.modes.empty() ? std::string("():()") : text(slice.layout);
  return fmt::format("{} off {}", layout, text(slice.offset));
}

std::string text(const ThreadValue& tv) {
  return "(" + text(tv.tiler) + "," + text(tv.layout) + ")";
}

std::string_view nearest(std::string_view word, std::span<const std::string_view> known) {
  // Levenshtein distance; near is at most a third of the word, at least 1.
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  std::vector<std::size_t> row;
  for (std::string_view candidate : known) {
    row.resize(candidate.size() + 1);
    for (std::size_t k = 0; k < row.size(); ++k) row[k] = k;
    for (std::size_t i = 1; i <= word.size(); ++i) {
      std::size_t diagonal = row[0];
      row[0] = i;
      for (std::size_t k = 1; k < row.size(); ++k) {
        const std::size_t change = diagonal + (word[i - 1] != candidate[k - 1]);
        diagonal = row[k];
        row[k] = std::min({change, row[k] + 1, row[k - 1] + 1});
      }
    }
    if (row.back() < best_distance) {
      best_distance = row.back();
      best = candidate;
    }
  }
  return best;
}

}  // namespace tilescope
