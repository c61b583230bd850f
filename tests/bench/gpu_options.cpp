#include "tests/bench/gpu_options.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <optional>

namespace tilescope::bench {
namespace {

Error usage(std::string sentence) {
  return {ErrorKind::usage, std::move(sentence), ""};
}

std::optional<std::int64_t> number_in(std::string_view word) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  const bool all = !word.empty() && error == std::errc() && end == word.data() + word.size();
  return all ? std::optional(value) : std::nullopt;
}

std::optional<Sizes> shape_in(std::string_view word) {
  Sizes out;
  for (std::int64_t Sizes::*size : {&Sizes::m, &Sizes::n, &Sizes::k}) {
    const std::size_t x = size == &Sizes::k ? word.size() : word.find('x');
    if (x == word.npos) return {};
    const auto value = number_in(word.substr(0, x));
    if (!value || *value < 1 || *value > 1 << 20) return {};
    out.*size = *value;
    word.remove_prefix(std::min(word.size(), x + 1));
  }
  out.l = 1;
  return out;
}

// What is said of all kinds, whatever their types.
struct Forms {
  bool a_across = false, b_across = false;
  float alpha = 1, beta = 0;
};

struct Reading {
  GpuOptions options;
  Forms forms;
};

using Take = std::function<std::optional<Error>(Reading&, const std::string& value)>;
struct Option {
  const char *name, *value, *help;  // value: how help calls it; empty: it has none
  Take take;
};

template <class T, class Read>
std::optional<Error> put(T& into, Read&& read, const std::string& value) {
  auto got = read(value);
  if (!got) return got.error();
  into = std::move(*got);
  return {};
}

std::optional<Error> count_into(int& into, const char* name, const std::string& value) {
  const auto number = number_in(value);
  if (!number || *number < 1 || *number > 100000) {
    return usage(fmt::format("{} takes a number from 1 on, and `{}` is none.", name, value));
  }
  into = static_cast<int>(*number);
  return {};
}

std::optional<Error> factor_into(float& into, const char* name, const std::string& value,
                                 double most) {
  char* end = nullptr;
  const float number = std::strtof(value.c_str(), &end);
  if (value.empty() || end != value.c_str() + value.size() || !(std::fabs(number) <= most)) {
    return usage(fmt::format("{} takes a number from {} to {}, and `{}` is none.", name, -most,
                             most, value));
  }
  into = number;
  return {};
}

const std::vector<Option>& options() {
  static const std::vector<Option> all = {
      {"--kernels", "PREFIX", "those whose names begin so: wgmma, dense_gemm, elementwise",
       [](Reading& r, const std::string& v) {
         r.options.kernels = v;
         return std::optional<Error>();
       }},
      {"--shapes", "MxNxK,...",
       "default: 2048, 4096 and 8192 in each direction; of --ladder the first two",
       [](Reading& r, const std::string& v) { return put(r.options.shapes, shapes_in, v); }},
      {"--types", "TYPE,...",
       "f16, bf16, tf32, e4m3, e4m3xe5m2; with C's type: e4m3:f32 (default: f16, bf16, e4m3, tf32)",
       [](Reading& r, const std::string& v) { return put(r.options.kinds, product_kinds, v); }},
      {"--tile", "RULE,...",
       "dense_gemm's form: model (default), best, or a tile with cluster and slices, 128x256:2x1:1",
       [](Reading& r, const std::string& v) { return put(r.options.tiles, tile_rules, v); }},
      {"--random-shapes", "N",
       "N shapes from 64 to 8192 in place of --shapes, dense_gemm in f16 unless others are named",
       [](Reading& r, const std::string& v) {
         return count_into(r.options.random_shapes, "--random-shapes", v);
       }},
      {"--seed", "S", "of the random shapes (default: 1)",
       [](Reading& r, const std::string& v) -> std::optional<Error> {
         const auto seed = number_in(v);
         if (!seed || *seed < 0) return usage(fmt::format("--seed takes a number, not `{}`.", v));
         r.options.seed = static_cast<std::uint64_t>(*seed);
         return {};
       }},
      {"--ladder", "",
       "what each rung of the Hopper ladder buys, measured and predicted; without a GPU predicted",
       [](Reading& r, const std::string&) {
         r.options.ladder = true;
         return std::optional<Error>();
       }},
      {"--device", "NAME", "the chip whose description predicts (default: the GPU here, or h100)",
       [](Reading& r, const std::string& v) {
         r.options.device = v;
         return std::optional<Error>();
       }},
      {"--carried", "", "only forms of dense_gemm that the program carries, though nvcc is here",
       [](Reading& r, const std::string&) {
         r.options.carried = true;
         return std::optional<Error>();
       }},
      {"--a-major", "k|m", "which of A's extents is contiguous (dense_gemm alone)",
       [](Reading& r, const std::string& v) -> std::optional<Error> {
         r.forms.a_across = v == "m";
         if (v == "k" || v == "m") return {};
         return usage(fmt::format("--a-major takes k or m, not `{}`.", v));
       }},
      {"--b-major", "k|n", "which of B's extents is contiguous (dense_gemm alone)",
       [](Reading& r, const std::string& v) -> std::optional<Error> {
         r.forms.b_across = v == "n";
         if (v == "k" || v == "n") return {};
         return usage(fmt::format("--b-major takes k or n, not `{}`.", v));
       }},
      {"--alpha", "NUMBER", "factor of the product (dense_gemm alone)",
       [](Reading& r, const std::string& v) {
         return factor_into(r.forms.alpha, "--alpha", v, 16);
       }},
      // Launches follow each other on the same C: with more it would grow for ever.
      {"--beta", "NUMBER", "factor of what C has before (dense_gemm alone)",
       [](Reading& r, const std::string& v) { return factor_into(r.forms.beta, "--beta", v, 1); }},
      {"--rounds", "N",
       "of measuring, each in an order of its own (default: 15, of random shapes 3)",
       [](Reading& r, const std::string& v) {
         return count_into(r.options.rounds, "--rounds", v);
       }},
      {"--json", "FILE", "all numbers",
       [](Reading& r, const std::string& v) {
         r.options.json = v;
         return std::optional<Error>();
       }},
      {"--commit", "TEXT", "said in the file",
       [](Reading& r, const std::string& v) {
         r.options.commit = v;
         return std::optional<Error>();
       }},
  };
  return all;
}

}  // namespace

Outcome<std::vector<Sizes>> shapes_in(std::string_view text) {
  std::vector<Sizes> out;
  for (;;) {
    const std::size_t comma = text.find(',');
    const auto one = shape_in(text.substr(0, comma));
    if (!one) {
      return usage(fmt::format("{} is no shape; 4096x4096x4096 is.", text.substr(0, comma)));
    }
    out.push_back(*one);
    if (comma == text.npos) return out;
    text.remove_prefix(comma + 1);
  }
}

std::string help_text() {
  std::string out = "Kernels of the catalog on the GPU here, products beside cublasLt.\n\n";
  for (const Option& each : options()) {
    out += fmt::format("  {:26} {}\n", fmt::format("{} {}", each.name, each.value), each.help);
  }
  return out;
}

Outcome<GpuOptions> gpu_options(const std::vector<std::string>& words) {
  Reading reading;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--help" || words[i] == "-h") {
      reading.options.help = true;
      continue;
    }
    const Option* known = nullptr;
    for (const Option& each : options()) known = words[i] == each.name ? &each : known;
    if (!known) return usage(fmt::format("{} is not known.\n\n{}", words[i], help_text()));
    const bool alone = known->value[0] == 0;
    if (!alone && i + 1 == words.size())
      return usage(fmt::format("{} wants {}.", words[i], known->value));
    if (auto error = known->take(reading, alone ? "" : words[++i])) return *error;
  }
  GpuOptions out = std::move(reading.options);
  if (out.random_shapes > 0 && !out.shapes.empty()) {
    return usage("--random-shapes draws the shapes that --shapes names: leave one of them out.");
  }
  if (out.random_shapes > 0 && out.kernels.empty()) out.kernels = "dense_gemm";
  if (out.shapes.empty()) {
    for (const std::int64_t n : {2048, 4096, 8192}) {
      if (n < 8192 || !out.ladder) out.shapes.push_back({n, n, n, 1});
    }
  }
  if (out.kinds.empty())
    out.kinds = *product_kinds(out.random_shapes ? "f16" : "f16,bf16,e4m3,tf32");
  for (ProductKind& kind : out.kinds) {
    kind.a_across = reading.forms.a_across;
    kind.b_across = reading.forms.b_across;
    kind.alpha = reading.forms.alpha;
    kind.beta = reading.forms.beta;
  }
  return out;
}

}  // namespace tilescope::bench
