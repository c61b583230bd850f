#include "tests/bench/dense_forms.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "app/variants.h"
#include "kernels/catalog/catalog.h"

namespace tilescope::bench {
namespace {

// "128x256"
bool pair_in(std::string_view text, std::int64_t& m, std::int64_t& n) {
  const std::size_t x = text.find('x');
  if (x == text.npos) return false;
  const auto number = [](std::string_view word, std::int64_t& value) {
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    return error == std::errc() && end == word.data() + word.size() && value > 0;
  };
  return number(text.substr(0, x), m) && number(text.substr(x + 1), n);
}

std::optional<TileRule> rule_in(std::string_view word) {
  if (word == "model") return TileRule{};
  if (word == "best") return TileRule{TileRule::By::best, {}};
  TileRule out{TileRule::By::name, {128, 256, 2, 1}};
  const std::size_t colon = word.find(':');
  if (!pair_in(word.substr(0, colon), out.tile.m, out.tile.n)) return {};
  if (colon != word.npos &&
      !pair_in(word.substr(colon + 1), out.tile.cluster_m, out.tile.cluster_n)) {
    return {};
  }
  return out;
}

// As tests/time/h100_dense_gemm.tsv has them.
const DenseTile fitted[] = {{128, 256, 2, 1}, {128, 256, 1, 1}, {128, 256, 1, 2}, {256, 128, 1, 1},
                            {256, 128, 1, 2}, {128, 192, 2, 1}, {128, 192, 1, 1}, {128, 160, 1, 1},
                            {128, 128, 1, 1}, {128, 128, 2, 1}, {64, 256, 1, 1},  {64, 256, 2, 1},
                            {64, 128, 1, 1},  {64, 64, 1, 1},   {64, 192, 1, 1},  {256, 192, 1, 1},
                            {128, 64, 1, 1}};

bool can_do(const ProductKind& kind, const DenseTile& tile) {
  Request request;
  request.choices = choices_of(kind, tile);
  return fit(**find_kernel("dense_gemm"), request).ok();
}

}  // namespace

Outcome<std::vector<TileRule>> tile_rules(std::string_view text) {
  std::vector<TileRule> out;
  for (;;) {
    const std::size_t comma = text.find(',');
    const std::string_view word = text.substr(0, comma);
    const std::optional<TileRule> rule = rule_in(word);
    if (!rule) {
      return Error{ErrorKind::usage,
                   fmt::format("--tile {}: there are model, best, and tiles such as 128x256 or, "
                               "with a cluster, 128x256:2x1.",
                               word),
                   ""};
    }
    out.push_back(*rule);
    if (comma == text.npos) return out;
    text.remove_prefix(comma + 1);
  }
}

std::string text(const DenseTile& t) {
  return fmt::format("{}x{}:{}x{}", t.m, t.n, t.cluster_m, t.cluster_n);
}

Choices choices_of(const ProductKind& kind, const DenseTile& t) {
  Choices out = kind.choices();
  out["tile"] = fmt::format("{}x{}", t.m, t.n);
  out["cluster"] = fmt::format("{}x{}", t.cluster_m, t.cluster_n);
  return out;
}

DenseBytes bytes_of(const ProductKind& kind) {
  const auto width = [](const std::string& type) {
    return static_cast<std::int64_t>(bytes_of(*stored_as(type)));
  };
  return {width(kind.a), width(kind.c)};
}

std::vector<DenseTile> carried_tiles(const ProductKind& kind) {
  const CatalogEntry& entry = **find_kernel("dense_gemm");
  const Choices wanted = kind.choices();
  std::vector<DenseTile> out;
  for (const CarriedVariant& form : carried_variants(entry)) {
    const Choices choices = entry.choices_of(form.values);
    const auto is = [&](const char* name, const std::string& value) {
      const auto found = choices.find(name);
      return found != choices.end() && found->second == value;
    };
    bool same = is("acc-dtype", "f32");
    for (const char* name : {"a-dtype", "b-dtype", "c-dtype", "a-major", "b-major"}) {
      same = same && is(name, wanted.at(name));
    }
    DenseTile tile;
    if (same && pair_in(choices.at("tile"), tile.m, tile.n) &&
        pair_in(choices.at("cluster"), tile.cluster_m, tile.cluster_n)) {
      out.push_back(tile);
    }
  }
  return out;
}

std::vector<DenseTile> tiles_to_choose_from(const ProductKind& kind, bool compiler) {
  std::vector<DenseTile> out = carried_tiles(kind);
  for (const DenseTile& tile : fitted) {
    if (compiler && std::find(out.begin(), out.end(), tile) == out.end() && can_do(kind, tile)) {
      out.push_back(tile);
    }
  }
  return out;
}

}  // namespace tilescope::bench
