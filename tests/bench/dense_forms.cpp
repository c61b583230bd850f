#include "tests/bench/dense_forms.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "app/variants.h"
#include "kernels/catalog/catalog.h"
#include "kernels/catalog/dense_problem.h"

namespace tilescope::bench {
namespace {

bool number_in(std::string_view word, std::int64_t& value) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc() && end == word.data() + word.size() && value > 0;
}

// "128x256"
bool pair_in(std::string_view text, std::int64_t& m, std::int64_t& n) {
  const std::size_t x = text.find('x');
  if (x == text.npos) return false;
  return number_in(text.substr(0, x), m) && number_in(text.substr(x + 1), n);
}

std::optional<TileRule> rule_in(std::string_view word) {
  if (word == "model") return TileRule{};
  if (word == "best") return TileRule{TileRule::By::best, {}};
  TileRule out{TileRule::By::name, {128, 256, 2, 1}};
  const auto next = [&word] {  // up to a colon
    const std::size_t colon = std::min(word.find(':'), word.size());
    const std::string_view part = word.substr(0, colon);
    word.remove_prefix(colon);
    return part;
  };
  const auto more = [&word] {
    const bool is_more = !word.empty();
    if (is_more) word.remove_prefix(1);
    return is_more;
  };
  if (!pair_in(next(), out.tile.m, out.tile.n)) return {};
  if (more() && !pair_in(next(), out.tile.cluster_m, out.tile.cluster_n)) return {};
  if (more() && !number_in(next(), out.tile.slices)) return {};
  return word.empty() ? std::optional(out) : std::nullopt;
}

// That are not all carried, and may be the fastest.
const DenseTile others[] = {{128, 256, 2, 1}, {128, 256, 1, 1}, {128, 256, 1, 2}, {256, 128, 1, 1},
                            {256, 128, 1, 2}, {128, 192, 2, 1}, {128, 192, 1, 1}, {128, 160, 1, 1},
                            {128, 128, 1, 1}, {128, 128, 2, 1}, {64, 256, 1, 1},  {64, 256, 2, 1},
                            {64, 128, 1, 1},  {64, 64, 1, 1},   {64, 192, 1, 1},  {256, 192, 1, 1},
                            {128, 64, 1, 1}};

bool can_do(const ProductKind& kind, const Sizes& s, const DenseTile& tile) {
  Request request;
  request.sizes = {{"m", s.m}, {"n", s.n}, {"k", s.k}};
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
                   fmt::format("--tile {}: there are model, best, and tiles such as 128x256, with "
                               "a cluster 128x256:2x1, with slices of K 128x256:1x1:4.",
                               word),
                   ""};
    }
    out.push_back(*rule);
    if (comma == text.npos) return out;
    text.remove_prefix(comma + 1);
  }
}

std::string text(const DenseTile& t) {
  const std::string form = fmt::format("{}x{}:{}x{}", t.m, t.n, t.cluster_m, t.cluster_n);
  return t.slices > 1 ? fmt::format("{}:{}", form, t.slices) : form;
}

Choices choices_of(const ProductKind& kind, const DenseTile& t) {
  Choices out = kind.choices();
  out["tile"] = fmt::format("{}x{}", t.m, t.n);
  out["cluster"] = fmt::format("{}x{}", t.cluster_m, t.cluster_n);
  out["split-k"] = fmt::format("{}", t.slices);
  return out;
}

DenseTile tile_of(const Fit& fit) {
  const dense::Problem p = dense::problem_of(fit);
  return {p.a.tile, p.b.tile, p.cluster.m, p.cluster.n, p.slices};
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

std::vector<DenseTile> tiles_to_try(const ProductKind& kind, const Sizes& sizes, bool compiler) {
  constexpr std::int64_t processors = 132;  // for which the model was fitted
  constexpr std::size_t most_sliced = 16;
  std::vector<DenseTile> out = carried_tiles(kind), sliced;
  for (const DenseTile& tile : others) {
    if (compiler && std::find(out.begin(), out.end(), tile) == out.end()) out.push_back(tile);
  }
  const auto cannot = [&](const DenseTile& tile) { return !can_do(kind, sizes, tile); };
  out.erase(std::remove_if(out.begin(), out.end(), cannot), out.end());
  for (DenseTile tile : out) {
    for (tile.slices = 2; tile.slices <= 8; ++tile.slices) {
      if (!cannot(tile)) sliced.push_back(tile);
    }
  }
  const auto width = [](const std::string& type) {
    return static_cast<std::int64_t>(bytes_of(*stored_as(type)));
  };
  const DenseBytes bytes{width(kind.a), width(kind.c)};
  std::stable_sort(sliced.begin(), sliced.end(), [&](const DenseTile& x, const DenseTile& y) {
    return dense_gemm_seconds(x, sizes, bytes, processors) <
           dense_gemm_seconds(y, sizes, bytes, processors);
  });
  sliced.resize(std::min(sliced.size(), most_sliced));
  out.insert(out.end(), sliced.begin(), sliced.end());
  return out;
}

}  // namespace tilescope::bench
