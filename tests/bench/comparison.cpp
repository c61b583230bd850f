#include "tests/bench/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <random>

#include "app/compiler.h"
#include "kernels/catalog/catalog.h"

namespace tilescope::bench {
namespace {

using gpu::Result;

constexpr std::size_t workspace_bytes = 64 << 20;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string place_of(const gpu::GpuDevice& device) {
  char id[32] = "";
  const auto ask = device.driver().cuDeviceGetPCIBusId;
  return ask && ask(id, sizeof id, device.chip().device) == Result::success ? id : "";
}

}  // namespace

const Contender* Comparison::baseline() const {
  return !contenders.empty() && contenders.back().is_baseline() ? &contenders.back() : nullptr;
}

double Comparison::ratio(const Contender& contender) const {
  const Contender* const base = baseline();
  if (!base) return 0;
  const std::size_t rounds = std::min(base->seconds.size(), contender.seconds.size());
  std::vector<double> each;
  for (std::size_t r = 0; r < rounds; ++r) each.push_back(base->seconds[r] / contender.seconds[r]);
  return median_of(std::move(each));
}

Comparer::Comparer(gpu::GpuDevice& device, Pace pace, bool compiles, Tell tell)
    : device_(device),
      pace_(pace),
      tell_(std::move(tell)),
      stopwatch_(device),
      compiles_(compiles && find_nvcc().ok()),
      shelf_(device, compiles_) {
  Outcome<gpu::Memory> workspace = device.allocate(workspace_bytes);
  if (workspace) {
    workspace_ = std::move(*workspace);
    auto lt = gpu::CublasLt::open(variable("TILESCOPE_CUBLASLT"));
    if (lt) {
      lt_ = std::move(*lt);
    } else {
      tell_("", lt.error().sentence);
    }
  } else {
    tell_("cublasLt", workspace.error().sentence);
  }
  auto watch = ChipWatch::open(variable("TILESCOPE_NVML"), place_of(device));
  if (watch) {
    watch_ = std::move(*watch);
  } else {
    tell_("", watch.error().sentence);
  }
}

Comparer::~Comparer() = default;

std::string Comparer::baseline_version() const {
  return lt_ ? lt_->version() : "";
}

Outcome<Comparison> Comparer::compare(const Sizes& sizes, const ProductKind& kind,
                                      const std::vector<const CatalogEntry*>& entries,
                                      const std::vector<TileRule>& rules) {
  Comparison out{sizes, kind, 0, {}};
  const Outcome<Matrices> matrices = Matrices::make(device_, kind, sizes);
  if (!matrices) return matrices.error();
  out.sets = matrices->sets();
  for (const CatalogEntry* entry : entries) {
    if (entry->name == "dense_gemm") {
      for (const TileRule& rule : rules) {
        if (auto error = add_dense(out, rule, *matrices)) return *error;
      }
      continue;
    }
    if (!kind.is_plain()) continue;
    Outcome<Contender> contender = shelf_.kernel(*entry, kind, sizes, *matrices);
    if (!contender) continue;  // not of this shape
    out.contenders.push_back(std::move(*contender));
  }
  if (out.contenders.empty()) return out;
  if (auto error = add_baseline(out, *matrices)) return *error;
  if (auto error = check(out, *matrices)) return *error;
  if (auto error = measure(out)) return *error;
  return out;
}

std::optional<Error> Comparer::add_dense(Comparison& c, const TileRule& rule,
                                         const Matrices& matrices) {
  std::vector<std::optional<DenseTile>> tiles;
  if (rule.by == TileRule::By::model) tiles.emplace_back();
  if (rule.by == TileRule::By::name) tiles.emplace_back(rule.tile);
  if (rule.by == TileRule::By::best) {
    for (const DenseTile& tile : tiles_to_try(c.kind, c.sizes, compiles_)) tiles.emplace_back(tile);
  }
  std::vector<Contender> forms;
  for (const auto& tile : tiles) {
    const std::string who = tile ? "dense_gemm " + text(*tile) : "dense_gemm";
    Outcome<Contender> form = shelf_.dense(c.kind, c.sizes, tile, matrices);
    if (!form) {
      tell_(who, form.error().sentence);
    } else if (const Result result = form->enqueue(0); result != Result::success) {
      tell_(who, "It is not launched: " + device_.driver().name_of(result));
    } else {
      forms.push_back(std::move(*form));
    }
  }
  if (tiles.empty()) {
    tell_("dense_gemm",
          "The program carries no form for " + c.kind.name() + ", and none is compiled.");
  }
  if (forms.empty()) return {};
  const Outcome<int> which = fastest(
      matrices.sets(), static_cast<int>(forms.size()),
      [&](int i, std::size_t set) { return forms[static_cast<std::size_t>(i)].enqueue(set); });
  if (!which) return which.error();
  if (*which < 0) return {};
  Contender& best = forms[static_cast<std::size_t>(*which)];
  best.rule = rule.by == TileRule::By::model  ? "model"
              : rule.by == TileRule::By::best ? fmt::format("best of {}", forms.size())
                                              : "as asked";
  c.contenders.push_back(std::move(best));
  return {};
}

Outcome<int> Comparer::fastest(std::size_t sets, int count,
                               const std::function<Result(int which, std::size_t set)>& enqueue) {
  if (count == 1) return 0;
  int best = -1;
  double least = 1e9;
  for (int which = 0; which < count; ++which) {
    const auto launch = [&](std::size_t i) { return enqueue(which, i % sets); };
    double mine = 0;
    for (int again = 0; again < 3; ++again) {
      const Outcome<double> t = stopwatch_.run(launch, pace_.tried, mine);
      if (!t) return t.error();
      if (*t < least) least = *t, best = which;
    }
  }
  return best;
}

std::optional<Error> Comparer::add_baseline(Comparison& c, const Matrices& matrices) {
  if (!lt_) return {};
  if (const auto why = no_baseline(c.kind)) {
    tell_("cublasLt", *why);
    return {};
  }
  const Outcome<int> count = lt_->ask(c.kind, c.sizes, workspace_bytes);
  if (!count) {
    tell_("cublasLt", count.error().sentence);
    return {};
  }
  const auto enqueue = [this, &matrices](int which, std::size_t set) {
    return lt_->enqueue(which, matrices.a(set), matrices.b(set), matrices.c(set), workspace_.get())
               ? Result::success
               : Result::invalid_value;
  };
  std::vector<int> runs;  // some are offered that it then refuses, which costs the GPU nothing
  for (int which = 0; which < *count; ++which) {
    if (enqueue(which, 0) == Result::success) runs.push_back(which);
  }
  if (runs.empty()) {
    tell_("cublasLt", "It refuses each of its own heuristics.");
    return {};
  }
  const Outcome<int> best = fastest(
      matrices.sets(), static_cast<int>(runs.size()),
      [&](int i, std::size_t set) { return enqueue(runs[static_cast<std::size_t>(i)], set); });
  if (!best) return best.error();
  if (*best < 0) return {};
  Contender out;
  out.kernel = "cublasLt";
  out.form = fmt::format("best of {}", runs.size());
  out.enqueue = [enqueue, which = runs[static_cast<std::size_t>(*best)]](std::size_t set) {
    return enqueue(which, set);
  };
  c.contenders.push_back(std::move(out));
  return {};
}

std::optional<Error> Comparer::check(Comparison& c, const Matrices& matrices) {
  const ErrorBound bound = bound_of(c.kind, c.sizes.k);
  std::vector<std::byte> want, got;
  // The baseline first: what the others are compared with, where it is right itself.
  for (auto each = c.contenders.rbegin(); each != c.contenders.rend(); ++each) {
    Result result = matrices.reset();
    if (auto error = stopwatch_.once(
            [&](std::size_t) { return result == Result::success ? each->enqueue(0) : result; })) {
      return Error{error->kind, each->kernel + " " + each->form + ": " + error->sentence, ""};
    }
    result = matrices.read(got);
    if (result != Result::success) {
      return Error{ErrorKind::fault,
                   fmt::format("{} {}: its result cannot be read: {}.", each->kernel, each->form,
                               device_.driver().name_of(result)),
                   ""};
    }
    each->rightness = sampled(got, matrices.host(), bound);
    if (!want.empty()) each->rightness.include(between(got, want, *stored_as(c.kind.c), bound));
    if (each->is_baseline() && each->rightness.right()) want = got;
  }
  return {};
}

std::optional<Error> Comparer::measure(Comparison& c) {
  std::mt19937 draw(1);
  std::vector<std::size_t> order(c.contenders.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (int round = 0; round < pace_.rounds; ++round) {
    std::shuffle(order.begin(), order.end(), draw);
    for (const std::size_t i : order) {
      Contender& contender = c.contenders[i];
      const auto launch = [&](std::size_t n) { return contender.enqueue(n % c.sets); };
      if (auto error = stopwatch_.settle(launch, pace_.settle, contender.each)) return error;
      if (watch_) watch_->begin();
      const Outcome<double> t = stopwatch_.run(launch, pace_.measured, contender.each);
      if (watch_) contender.chip.include(watch_->take());
      if (!t) return t.error();
      contender.seconds.push_back(*t);
    }
  }
  return {};
}

}  // namespace tilescope::bench
