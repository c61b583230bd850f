#include "tests/bench/random_shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

namespace tilescope::bench {
namespace {

struct Group {
  std::string who;
  std::vector<ShapeResult> compared;  // right and with a baseline, the smallest ratio first
  std::size_t shapes = 0, wrong = 0;
  double mean() const {
    double sum = 0;
    for (const ShapeResult& each : compared) sum += std::log(each.ratio);
    return compared.empty() ? 0 : std::exp(sum / static_cast<double>(compared.size()));
  }
};

std::vector<Group> groups_of(const std::vector<ShapeResult>& all) {
  std::vector<Group> out;
  for (const ShapeResult& each : all) {
    auto group =
        std::find_if(out.begin(), out.end(), [&](const Group& g) { return g.who == each.who; });
    if (group == out.end()) group = out.insert(out.end(), Group{each.who, {}, 0, 0});
    ++group->shapes;
    group->wrong += !each.right;
    if (each.right && each.ratio > 0) group->compared.push_back(each);
  }
  for (Group& group : out) {
    std::stable_sort(group.compared.begin(), group.compared.end(),
                     [](const auto& x, const auto& y) { return x.ratio < y.ratio; });
  }
  return out;
}

std::string text(const Sizes& s) {
  return fmt::format("{} x {} x {}", s.m, s.n, s.k);
}

}  // namespace

std::vector<Sizes> random_shapes(int count, std::uint64_t seed, const ProductKind& kind) {
  constexpr double least = 64, most = 8192;
  const std::int64_t step = std::max<std::int64_t>(8, kind.step());
  std::mt19937_64 draw(seed);
  // Not std::uniform_real_distribution: libraries differ in what they make of the same numbers.
  const auto size = [&] {
    const double u = std::ldexp(static_cast<double>(draw() >> 11), -53);
    const double exact = least * std::exp(u * std::log(most / least));
    return static_cast<std::int64_t>(std::lround(exact / static_cast<double>(step))) * step;
  };
  std::vector<Sizes> out;
  for (int i = 0; i < count; ++i) {
    Sizes s;
    s.m = size();
    s.n = size();
    s.k = size();
    s.l = 1;
    out.push_back(s);
  }
  return out;
}

std::string summary(const std::vector<ShapeResult>& all, std::size_t worst) {
  std::string out;
  for (const Group& g : groups_of(all)) {
    out += fmt::format("{}: {} shapes, {}", g.who, g.shapes,
                       g.wrong ? fmt::format("{} WRONG", g.wrong) : "all right");
    if (g.compared.empty()) {
      out += "; nothing to compare with\n";
      continue;
    }
    const ShapeResult& least = g.compared.front();
    out += fmt::format("; geometric mean {:.3f}x of {}, least {:.3f}x at {}\n", g.mean(),
                       g.compared.size(), least.ratio, text(least.sizes));
    out +=
        fmt::format("  {:>7} {:>6} {:>6} {:>6} {:>10}  {}\n", "ratio", "M", "N", "K", "us", "form");
    for (std::size_t i = 0; i < std::min(worst, g.compared.size()); ++i) {
      const ShapeResult& r = g.compared[i];
      out += fmt::format("  {:>6.3f}x {:>6} {:>6} {:>6} {:>10.1f}  {}\n", r.ratio, r.sizes.m,
                         r.sizes.n, r.sizes.k, r.seconds * 1e6, r.form);
    }
  }
  return out;
}

nlohmann::ordered_json to_json(const std::vector<ShapeResult>& all) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const Group& g : groups_of(all)) {
    nlohmann::ordered_json one{{"who", g.who}, {"shapes", g.shapes}, {"wrong", g.wrong}};
    if (!g.compared.empty()) {
      const ShapeResult& least = g.compared.front();
      one["geometric_mean"] = g.mean();
      one["least"] = {{"ratio", least.ratio},
                      {"m", least.sizes.m},
                      {"n", least.sizes.n},
                      {"k", least.sizes.k},
                      {"form", least.form}};
    }
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace tilescope::bench
