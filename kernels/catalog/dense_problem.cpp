#include "kernels/catalog/dense_problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace tilescope::dense {
namespace {

constexpr std::int64_t processors = 132;     // of an H100 or H200, for which the choice is made
constexpr std::int64_t largest_cluster = 8;  // CTAs of a portable one

std::optional<Pair> pair_of(const std::string& text) {
  if (text == "auto") return std::nullopt;
  const std::size_t x = text.find('x');
  return Pair{std::stoll(text.substr(0, x)), std::stoll(text.substr(x + 1))};
}

void take(Problem& p, const DenseTile& tile) {
  p.cluster = {tile.cluster_m, tile.cluster_n};
  p.slices = tile.slices;
  p.a.tile = tile.m;
  p.b.tile = tile.n;
  // CTAs of a cluster that are side by side share A's rows, those one below the other B's.
  p.a.shares = tile.cluster_n;
  p.b.shares = tile.cluster_m;
}

// What is left open, by the model. `consumers`: auto, cooperative or ping-pong.
void choose(Problem& p, std::optional<Pair> tile, std::optional<Pair> cluster,
            std::optional<std::int64_t> slices, std::string_view consumers) {
  const bool half_sums = p.sums == "f16";
  if (consumers == "ping-pong" && !slices) slices = 1;
  std::vector<DenseTile> all;
  for (const DenseTile& each : shipped_tiles(p)) {
    if (tile && (each.m != tile->m || each.n != tile->n)) continue;
    if (cluster && (each.cluster_m != cluster->m || each.cluster_n != cluster->n)) continue;
    if (each.cluster_m * each.cluster_n * slices.value_or(1) > largest_cluster) continue;
    if (!tile && consumers == "cooperative" && each.m == 64) continue;
    const bool one = fits_one_consumer(each.m, each.n, half_sums);
    if (!tile && consumers == "ping-pong" && !one) continue;
    all.push_back(each);
  }
  if (all.empty()) {
    const bool pair = 2 * slices.value_or(1) <= largest_cluster;
    const Pair t = tile.value_or(Pair{128, 256}), c = cluster.value_or(Pair{pair ? 2 : 1, 1});
    all.push_back({t.m, t.n, c.m, c.n});
  }
  const std::int64_t stages = (p.k * p.a.bytes() + 127) / 128;
  std::vector<DenseTile> candidates;
  for (DenseTile each : all) {
    take(p, each);
    if (all.size() > 1 && (wrong_major(p.a) || wrong_major(p.b))) continue;
    const bool divides = can_slice(each.m, each.n, half_sums);
    const std::int64_t most =
        !slices && !divides ? 1
                            : slices.value_or(std::min(
                                  stages, largest_cluster / (each.cluster_m * each.cluster_n)));
    for (each.slices = slices.value_or(1); each.slices <= most; ++each.slices) {
      candidates.push_back(each);
    }
    if (most < 1) candidates.push_back(each);  // of sizes that are not known
  }
  if (candidates.empty()) candidates = all;
  const Sizes sizes{p.a.rows, p.b.rows, p.k, p.l};
  take(p, choose_dense_tile(candidates, sizes, {p.a.bytes(), p.c_bytes()}, processors));
}

}  // namespace

std::optional<float> number_of(std::string_view text) {
  // No from_chars of floats in libc++ 14.
  char* end = nullptr;
  const std::string copy(text);
  const float value = std::strtof(copy.c_str(), &end);
  const bool all = !copy.empty() && end == copy.c_str() + copy.size();
  return all && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

bool Problem::plain() const {
  const auto odd = [&](const Operand& o) { return (o.across ? o.rows : k) * o.bytes() % 16 != 0; };
  return odd(a) || odd(b) || b.rows * c_bytes() % 16 != 0;
}

std::optional<std::string> wrong_major(const Operand& o) {
  if (!o.across) return std::nullopt;
  const std::string major = o.name == "A" ? "--a-major m" : "--b-major n";
  if (o.bytes() != 2) {
    return fmt::format(
        "The tensor core reads {} with {} only of 16-bit types (PTX ISA 9.7.15.5), and it is {}: "
        "choose f16 or bf16, or k.",
        o.name, major, o.type);
  }
  const std::int64_t chunks = o.tile / 64;
  if (o.tile % 64 != 0) {
    return fmt::format(
        "With {} a tile has whole 64s of {}'s rows, and --tile asks for {}: 64, 128, 192 and 256 "
        "work.",
        major, o.name, o.tile);
  }
  if (chunks % o.shares != 0 && chunks != 1) {
    return fmt::format(
        "With {} the {} CTAs of a cluster that share {} of {}'s rows load whole 64s of them each: "
        "{} work{}, or another --tile.",
        major, o.shares, o.tile, o.name, chunks % 2 == 0 ? "1 or 2 CTAs" : "1 CTA",
        chunks % 2 == 0 ? "" : "s");
  }
  return std::nullopt;
}

std::vector<DenseTile> shipped_tiles(const Problem& p) {
  const bool usual_c = p.c_type == (p.a.type == "tf32" ? "f32"
                                    : p.a.bytes() == 1 ? "f16"
                                                       : p.a.type);
  const bool many = usual_c && p.a.type == p.b.type && p.a.type != "e5m2" && p.sums == "f32" &&
                    !p.a.across && !p.b.across;
  if (!many) return {{128, 256, 2, 1}};
  return {{128, 256, 2, 1}, {128, 256, 1, 1}, {128, 256, 4, 1}, {256, 192, 1, 2}, {256, 144, 2, 1},
          {256, 128, 1, 2}, {128, 224, 2, 1}, {128, 208, 2, 1}, {128, 192, 2, 1}, {128, 192, 4, 1},
          {128, 144, 2, 1}, {128, 128, 2, 1}, {128, 128, 2, 2}, {128, 128, 4, 1}, {128, 128, 2, 4},
          {128, 128, 4, 2}, {128, 128, 1, 1}, {64, 256, 1, 1},  {64, 192, 4, 1},  {64, 192, 4, 2},
          {64, 160, 4, 1},  {64, 128, 2, 1},  {64, 128, 4, 1},  {64, 96, 4, 2},   {64, 64, 1, 1},
          {64, 64, 2, 1},   {64, 64, 2, 2},   {64, 48, 1, 1},   {64, 48, 1, 4},   {64, 48, 2, 2},
          {64, 48, 2, 4}};
}

Problem problem_of(const Fit& fit) {
  const auto word = [&](const char* name) { return fit.choices.find(name)->second; };
  const Sizes& s = fit.sizes;
  Problem p;
  p.a = {0, "A", word("a-dtype"), word("a-major") == "m", s.m};
  p.b = {1, "B", word("b-dtype"), word("b-major") == "n", s.n};
  p.c_type = word("c-dtype");
  p.sums = word("acc-dtype");
  p.k = s.k;
  p.l = s.l;
  p.alpha = *number_of(word("alpha"));
  p.beta = *number_of(word("beta"));
  p.exchanged = word("c-major") == "m";
  std::optional<Pair> tile = pair_of(word("tile")), cluster = pair_of(word("cluster"));
  if (p.exchanged) {
    std::swap(p.a, p.b);
    if (tile) tile = tile->exchanged();
    if (cluster) cluster = cluster->exchanged();
  }
  std::optional<std::int64_t> slices;
  if (word("split-k") != "auto") slices = std::stoll(word("split-k"));
  const std::string consumers = word("consumers");
  choose(p, tile, cluster, slices, consumers);
  const DenseTile chosen{p.a.tile, p.b.tile, p.cluster.m, p.cluster.n, p.slices};
  p.ping_pong =
      consumers == "ping-pong" ||
      (consumers == "auto" && p.slices == 1 &&
       fits_one_consumer(p.a.tile, p.b.tile, p.sums == "f16") &&
       (p.a.tile == 64 || has_rounds(chosen, {p.a.rows, p.b.rows, p.k, p.l}, processors)));
  return p;
}

}  // namespace tilescope::dense
