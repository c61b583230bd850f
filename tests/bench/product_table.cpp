#include "tests/bench/product_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace tilescope::bench {
namespace {

double operations(const Sizes& s) {
  return 2.0 * static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k);
}

// "dense_gemm 128x256:2x1 (model)"
std::string label(const Contender& c) {
  if (c.is_baseline()) return fmt::format("{} ({})", c.kernel, c.form);
  std::string out = c.kernel;
  if (!c.form.empty()) out += " " + c.form;
  if (!c.rule.empty()) out += " (" + c.rule + ")";
  return out;
}

std::string line(const Comparison& all, const Contender& c) {
  if (!c.rightness.right()) return fmt::format("  {:36} WRONG: {}\n", label(c), c.rightness.text());
  const double t = c.median(), ratio = all.ratio(c);
  const auto [least, most] = std::minmax_element(c.seconds.begin(), c.seconds.end());
  std::string out =
      fmt::format("  {:36} {:9.1f} us  ({:.1f} to {:.1f})  {:6.1f} TFLOP/s", label(c), t * 1e6,
                  *least * 1e6, *most * 1e6, operations(all.sizes) / t * 1e-12);
  if (ratio > 0) out += fmt::format("  {:.3f}x", ratio);
  if (const std::string chip = c.chip.text(); !chip.empty()) out += "  " + chip;
  return out + "\n";
}

nlohmann::ordered_json row(const Comparison& all, const Contender& c) {
  const Sizes& s = all.sizes;
  nlohmann::ordered_json out{{"kernel", c.kernel},
                             {"form", c.form},
                             {"rule", c.rule},
                             {"dtype", all.kind.name()},
                             {"a_dtype", all.kind.a},
                             {"b_dtype", all.kind.b},
                             {"c_dtype", all.kind.c},
                             {"m", s.m},
                             {"n", s.n},
                             {"k", s.k},
                             {"sets", all.sets},
                             {"right", c.rightness.right()},
                             {"error_over_bound", c.rightness.worst},
                             {"mean_over_bound", c.rightness.mean}};
  if (!c.rightness.right()) return out;
  out["seconds"] = c.seconds;
  out["tflops"] = operations(s) / c.median() * 1e-12;
  if (const double ratio = all.ratio(c); ratio > 0) out["ratio"] = ratio;
  if (c.chip.samples > 0) out["chip"] = to_json(c.chip);
  return out;
}

}  // namespace

std::string text(const Comparison& all) {
  const Sizes& s = all.sizes;
  std::string out = fmt::format("{} {} x {} x {}, {} sets of matrices\n", all.kind.name(), s.m, s.n,
                                s.k, all.sets);
  for (const Contender& c : all.contenders) out += line(all, c);
  return out;
}

nlohmann::ordered_json to_json(const Comparison& all) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const Contender& c : all.contenders) out.push_back(row(all, c));
  return out;
}

int wrong_in(const Comparison& all) {
  return static_cast<int>(std::count_if(all.contenders.begin(), all.contenders.end(),
                                        [](const Contender& c) { return !c.rightness.right(); }));
}

}  // namespace tilescope::bench
