#include "core/io/launch_objects.h"

#include <algorithm>
#include <array>

namespace tilescope {
namespace {

template <class T>
std::vector<T> numbers(TomlReader& toml, const toml::table& table, std::string_view key,
                       const std::string& what, std::int64_t most, std::int64_t least = 0) {
  std::vector<T> out;
  for (std::int64_t n :
       toml.integers(table, key, what, least, most).value_or(std::vector<std::int64_t>{})) {
    out.push_back(static_cast<T>(n));
  }
  return out;
}

// lower, upper, channels and pixels: all of them, and no box.
void pixels(TomlReader& toml, const toml::table& table, const std::string& what, TensorMap& map) {
  const std::string wide = toml.text(table, "wide", what).value_or("");
  if (wide == "w") {
    map.wide = MapWide::w;
  } else if (wide == "w128") {
    map.wide = MapWide::w128;
  } else if (!wide.empty()) {
    toml.fail(table.get("wide")->source(),
              fmt::format("{} has wide = \"{}\"; w, for .im2col::w, or w128, for .im2col::w::128, "
                          "would work.",
                          what, wide));
  }
  for (const std::string_view key : {"channels", "pixels", "lower", "upper"}) {
    if (table.contains(key) || (key == "pixels" && wide == "w128")) continue;
    toml.fail(table.source(),
              fmt::format("{} is for im2col and has no {}; lower = [-1, -1], upper = [-1, -1], "
                          "channels = 64, pixels = 128 would work for a tensor of 4 dimensions.",
                          what, key));
  }
  if (table.contains("box")) {
    toml.fail(table.get("box")->source(),
              fmt::format("{} has a box, and pixels for im2col; one of them would work.", what));
  }
  const auto number = [&](std::string_view key) {
    return static_cast<std::uint32_t>(toml.integer(table, key, what, 1, most_int32).value_or(1));
  };
  map.channels = number("channels");
  map.pixels = map.wide == MapWide::w128 ? 128 : number("pixels");
  map.lower = numbers<std::int32_t>(toml, table, "lower", what, most_int32, -most_int32);
  map.upper = numbers<std::int32_t>(toml, table, "upper", what, most_int32, -most_int32);
}

// What is said in words: interleave, swizzle, oob.
void words(TomlReader& toml, const toml::table& table, const std::string& what, TensorMap& map) {
  const auto no = [&](std::string_view key, const std::string& found, std::string_view known) {
    toml.fail(table.get(key)->source(),
              fmt::format("{} has the {} \"{}\"; {} would work.", what, key, found, known));
  };
  const std::string interleave = toml.text(table, "interleave", what).value_or("none");
  if (interleave == "16B") {
    map.interleave = MapInterleave::bytes16;
  } else if (interleave == "32B") {
    map.interleave = MapInterleave::bytes32;
  } else if (interleave != "none") {
    no("interleave", interleave, "none, 16B or 32B");
  }
  const std::string swizzle = toml.text(table, "swizzle", what).value_or("none");
  if (const auto known = swizzle_named(swizzle)) {
    map.swizzle = *known;
  } else {
    no("swizzle", swizzle,
       "none, 32B, 64B, 128B, 128B_atom32B, 128B_atom32B_flip8B or 128B_atom64B");
  }
  const std::string oob = toml.text(table, "oob", what).value_or("zero");
  map.nan_fill = oob == "nan";
  if (oob != "zero" && oob != "nan") no("oob", oob, "zero or nan");
}

// address = "wrap", or of each dimension ["wrap", "clamp"].
void address_modes(TomlReader& toml, const toml::table& table, const std::string& of, Texture& t) {
  const toml::node* const given = table.get("address");
  if (!given) return;
  const toml::array* const several = given->as_array();
  bool good = !several || (!several->empty() && several->size() <= t.address.size());
  for (std::size_t k = 0; good && k < t.address.size(); ++k) {
    const toml::node* const one = several ? several->get(std::min(k, several->size() - 1)) : given;
    const auto mode = texture_address_named(one->value_or(std::string_view{}));
    t.address[k] = mode.value_or(t.address[k]);
    good = mode.has_value();
  }
  if (good) return;
  const std::string said = given->value_or(std::string{});
  toml.fail(given->source(),
            fmt::format(
                "{} has {}; wrap, clamp, mirror or border would work, or a list with "
                "one of them for each dimension.",
                of, said.empty() ? "another address than these" : "the address \"" + said + "\""));
}

// border = 1.5, or of each component [1, 0, 0, 1].
void border(TomlReader& toml, const toml::table& table, const std::string& of, Texture& t) {
  std::array<double, 4> values{};
  if (const toml::array* const several = table["border"].as_array()) {
    bool good = several->size() <= values.size();
    for (std::size_t i = 0; good && i < several->size(); ++i) {
      const auto number = several->get(i)->value<double>();
      values[i] = number.value_or(0);
      good = number.has_value();
    }
    if (!good) {
      toml.fail(several->source(),
                fmt::format("border of {} is no list of up to four numbers.", of));
    }
  } else {
    values.fill(toml.number(table, "border", of).value_or(0));
  }
  set_border(t, values);
}

}  // namespace

void only_of_tensor_map(TomlReader& toml, const toml::table& given, const std::string& of) {
  toml.only(given,
            {"buffer", "offset", "dtype", "dims", "strides", "box", "element_strides", "interleave",
             "swizzle", "oob", "size", "lower", "upper", "channels", "pixels", "wide"},
            of);
}

void read_tensor_map(TomlReader& toml, const toml::table& given, const std::string& of,
                     TensorMap& map) {
  map.offset = toml.integer(given, "offset", of, -most_int64, most_int64).value_or(0);
  map.dims = numbers<std::uint64_t>(toml, given, "dims", of, most_int64);
  map.strides = numbers<std::uint64_t>(toml, given, "strides", of, most_int64);
  map.box = numbers<std::uint32_t>(toml, given, "box", of, most_int32);
  map.element_strides = numbers<std::uint32_t>(toml, given, "element_strides", of, most_int32);
  if (given.contains("channels") || given.contains("pixels") || given.contains("lower") ||
      given.contains("upper") || given.contains("wide")) {
    pixels(toml, given, of, map);
  } else if (map.box.empty()) {
    toml.fail(given.source(),
              fmt::format("{} has no box; box = [64, 128] copies 64 elements of the innermost "
                          "dimension by 128 of the next.",
                          of));
  }
  words(toml, given, of, map);
}

void read_texture(TomlReader& toml, const toml::table& given, const std::string& of, Texture& t) {
  if (t.surface) {
    toml.only(given,
              {"buffer", "offset", "width", "height", "depth", "layers", "cube", "pitch", "format"},
              of);
  } else {
    toml.only(given,
              {"buffer", "offset", "width", "height", "depth", "layers", "cube", "pitch", "format",
               "filter", "address", "normalized", "read", "border"},
              of);
  }
  const auto extent = [&](std::string_view name) {
    return static_cast<std::uint32_t>(toml.integer(given, name, of, 0, most_int32).value_or(0));
  };
  t.offset = toml.integer(given, "offset", of, 0, most_int64).value_or(0);
  t.width = extent("width");
  t.height = extent("height");
  t.depth = extent("depth");
  if (given.contains("layers") && given.contains("depth")) {
    toml.fail(given.get("layers")->source(),
              fmt::format("{} has layers and a depth; one of them would work.", of));
    return;
  }
  if (given.contains("layers")) t.layered = true, t.depth = extent("layers");
  t.cube = toml.boolean(given, "cube", of).value_or(false);
  if (t.cube && !t.depth) t.depth = 6;
  t.pitch = extent("pitch");
  const auto word = [&](std::string_view name, std::string_view usual, auto take,
                        std::string_view known) {
    const std::string said = toml.text(given, name, of).value_or(std::string(usual));
    if (take(said)) return;
    toml.fail(given.get(name)->source(),
              fmt::format("{} has the {} \"{}\"; {} would work.", of, name, said, known));
  };
  word(
      "format", "f32x1", [&](std::string_view s) { return read_format(s, t); },
      "f32x1, f16x2, u8x4, s16x1 and the like, of 1, 2 or 4 components,");
  word(
      "filter", "point",
      [&](std::string_view s) { return (t.linear = s == "linear") || s == "point"; },
      "point or linear");
  address_modes(toml, given, of, t);
  word(
      "read", "element",
      [&](std::string_view s) { return (t.as_float = s == "normalized") || s == "element"; },
      "element or normalized");
  t.normalized = toml.boolean(given, "normalized", of).value_or(false);
  border(toml, given, of, t);
}

}  // namespace tilescope
