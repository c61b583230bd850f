#include "tests/bench/gpu_products.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <sstream>

#include "assets/embedded.h"
#include "core/numeric/small_float.h"
#include "kernels/catalog/catalog.h"
#include "kernels/gpu/execution.h"
#include "tests/bench/cublas_lt.h"

namespace tilescope {
namespace {

using gpu::GpuDevice;
using gpu::GpuExecution;
using gpu::Result;
using Json = nlohmann::ordered_json;

constexpr double l2_bytes = 60e6;          // of an H200, more than any of its kind
constexpr double settle_seconds = 0.2;     // of the same launches, until the clock has settled
constexpr double measured_seconds = 0.05;  // of a round
constexpr std::size_t workspace = 64 << 20;
constexpr double usual_rate = 5e14;  // to begin with, operations a second

FloatFormat format_of(DType type) {
  return type == DType::bf16 ? format_bf16 : format_f16;
}

// Uniform in [-1, 1]: drawn from 65,536 such numbers.
void fill(Buffer& b, std::uint64_t seed) {
  std::mt19937_64 draw(seed);
  std::vector<std::uint16_t> numbers(65536);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (std::uint16_t& n : numbers) {
    n = static_cast<std::uint16_t>(encode(format_of(b.dtype), uniform(draw)));
  }
  b.bytes.resize(static_cast<std::size_t>(b.elements()) * 2);
  std::uint64_t four = 0;
  for (std::size_t i = 0; i * 2 < b.bytes.size(); ++i, four >>= 16) {
    if (i % 4 == 0) four = draw();
    std::memcpy(&b.bytes[i * 2], &numbers[four & 0xffff], 2);
  }
}

// |a - b| / |b|; NaN where a has one.
double distance(const std::vector<std::byte>& a, const std::vector<std::byte>& b, DType type) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); i += 2) {
    std::uint16_t x = 0, y = 0;
    std::memcpy(&x, &a[i], 2);
    std::memcpy(&y, &b[i], 2);
    const double u = decode(format_of(type), x), v = decode(format_of(type), y);
    difference += (u - v) * (u - v);
    size += v * v;
  }
  return std::sqrt(difference / size);
}

struct Contender {
  std::string name;
  std::function<Result(std::size_t set)> enqueue;
  double error = 0;
  std::vector<double> seconds;  // a launch, of each round
};

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

class Bench {
 public:
  Bench(GpuDevice& device, const ProductsAsked& asked) : device_(device), asked_(asked) {}

  int run() {
    auto lt = gpu::CublasLt::open();
    if (lt) {
      lt_ = std::move(*lt);
    } else {
      fmt::print("{}\n", lt.error().sentence);
    }
    fmt::print("{}, driver for CUDA {}{}; {} rounds, each {} s of launches after {} s to settle\n",
               device_.chip().text(), device_.driver().version_text(),
               lt_ ? fmt::format(", cublasLt {}", lt_->version()) : "", asked_.rounds,
               measured_seconds, settle_seconds);
    for (const Sizes& sizes : shapes()) {
      for (const DType type : {DType::f16, DType::bf16}) shape(sizes, type);
    }
    if (!asked_.json.empty()) write_json();
    return wrong_;
  }

 private:
  std::vector<Sizes> shapes() {
    std::vector<Sizes> out;
    std::istringstream all(asked_.shapes.empty() ? "2048x2048x2048,4096x4096x4096,8192x8192x8192"
                                                 : asked_.shapes);
    for (std::string one; std::getline(all, one, ',');) {
      Sizes s;
      char x = 0;
      std::istringstream numbers(one);
      if (numbers >> s.m >> x >> s.n >> x >> s.k) {
        out.push_back(s);
      } else {
        fmt::print("{} is no shape; 4096x4096x4096 is.\n", one);
        ++wrong_;
      }
    }
    return out;
  }

  bool is_wanted(const CatalogEntry& entry) const {
    const auto& t = entry.tensors;
    return entry.name.rfind(asked_.kernels, 0) == 0 && t.size() == 3 && t[2].name == "D" &&
           !entry.variants.empty() && entry.variants[0].dtypes[0] == DType::f16 &&
           !gpu::unfit(entry.target, device_.chip());
  }

  // Its sets of matrices, each of the same numbers for all kernels.
  bool add(const CatalogEntry& entry, const Sizes& s, DType type) {
    Request request;
    request.sizes = {{"m", s.m}, {"n", s.n}, {"k", s.k}};
    request.dtype = type;
    request.inputs = {{"A", a_[0]}, {"B", b_[0]}};
    request.processors = device_.chip().multiprocessors;
    const auto ptx = asset(entry.ptx);
    const Outcome<Job> job =
        make_job(entry, request, {reinterpret_cast<const char*>(ptx.data()), ptx.size()});
    if (!job) return false;  // not of this shape
    std::vector<std::shared_ptr<GpuExecution>> sets;
    for (std::size_t i = 0; i < a_.size(); ++i) {
      Job mine = *job;
      mine.buffers[0].bytes = a_[i].bytes;
      mine.buffers[1].bytes = b_[i].bytes;
      auto run = device_.prepare(std::move(mine));
      if (!run) return refused(entry.name, run.error().sentence);
      sets.push_back(std::move(*run));
    }
    if (executions_.empty()) executions_ = sets;
    Contender c;
    c.name = entry.name;
    c.enqueue = [sets](std::size_t set) { return sets[set]->enqueue(); };
    if (!device_.seconds_of([&] { return c.enqueue(0); })) return refused(entry.name, "it faults");
    std::vector<std::byte> got;
    sets[0]->read(2, got);
    if (want_.empty()) want_ = got;
    c.error = distance(got, want_, type);
    contenders_.push_back(std::move(c));
    return true;
  }

  bool refused(const std::string& name, const std::string& why) {
    fmt::print("{}: {}\n", name, why);
    ++wrong_;
    return false;
  }

  // cublasLt's fastest heuristic, on the first kernel's matrices; what it gives is what is wanted.
  void add_baseline(const Sizes& s, DType type) {
    if (!lt_ || executions_.empty()) return;
    const auto count = lt_->ask({s.m, s.n, s.k, type, type}, workspace);
    if (!count) {
      refused("cublasLt", count.error().sentence);
      return;
    }
    const auto enqueue = [this](int which, std::size_t set) {
      const GpuExecution& run = *executions_[set];
      return lt_->enqueue(which, run.address(0), run.address(1), run.address(2), space_)
                 ? Result::success
                 : Result::invalid_value;
    };
    int best = -1;
    double least = 1e9;
    for (int h = 0; h < *count; ++h) {
      if (enqueue(h, 0) != Result::success) continue;
      for (int again = 0; again < 3; ++again) {
        const auto t = repeated(launches_of(s, 0.01), [&](std::size_t i) { return enqueue(h, i); });
        if (t && *t < least) least = *t, best = h;
      }
    }
    if (best < 0) return;
    Contender c;
    c.name = fmt::format("cublasLt (best of {})", *count);
    c.enqueue = [enqueue, best](std::size_t set) { return enqueue(best, set); };
    std::vector<std::byte> got;
    if (device_.seconds_of([&] { return c.enqueue(0); }) &&
        executions_[0]->read(2, got) == Result::success) {
      const double error = distance(want_, got, type);
      for (Contender& other : contenders_) other.error = std::max(other.error, error);
    }
    contenders_.push_back(std::move(c));
  }

  static int launches_of(const Sizes& s, double seconds) {
    const double one = 2.0 * static_cast<double>(s.m) * static_cast<double>(s.n) *
                       static_cast<double>(s.k) / usual_rate;
    return std::clamp(static_cast<int>(seconds / std::max(one, 1e-5)), 4, 2000);
  }

  // Seconds a launch, of `launches` in a row, the sets in turn.
  Outcome<double> repeated(int launches, const std::function<Result(std::size_t)>& enqueue) {
    Outcome<double> all = device_.seconds_of([&] {
      Result result = Result::success;
      for (int i = 0; i < launches && result == Result::success; ++i) {
        result = enqueue(static_cast<std::size_t>(i) % a_.size());
      }
      return result;
    });
    if (all) *all /= launches;
    return all;
  }

  void shape(const Sizes& s, DType type) {
    executions_.clear();
    contenders_.clear();
    want_.clear();
    const double bytes = 2.0 * static_cast<double>(s.m * s.k + s.n * s.k + s.m * s.n);
    const auto sets = static_cast<std::size_t>(std::clamp(2 * l2_bytes / bytes + 1, 2.0, 16.0));
    a_.assign(sets, Buffer{"A", type, {s.m, s.k}, {}});
    b_.assign(sets, Buffer{"B", type, {s.n, s.k}, {}});
    for (std::size_t i = 0; i < sets; ++i) fill(a_[i], 2 * i + 1), fill(b_[i], 2 * i + 2);
    for (const CatalogEntry& entry : catalog()) {
      if (is_wanted(entry)) add(entry, s, type);
    }
    if (contenders_.empty()) return;
    gpu::CUdeviceptr space = 0;
    if (device_.driver().cuMemAlloc(&space, workspace) == Result::success) {
      space_ = space;
      add_baseline(s, type);
    }
    std::mt19937 draw(1);
    std::vector<std::size_t> order(contenders_.size());
    std::iota(order.begin(), order.end(), 0u);
    for (int round = 0; round < asked_.rounds; ++round) {
      std::shuffle(order.begin(), order.end(), draw);
      for (const std::size_t i : order) {
        Contender& c = contenders_[i];
        const auto settled = repeated(launches_of(s, settle_seconds), c.enqueue);
        const auto t = repeated(launches_of(s, measured_seconds), c.enqueue);
        if (!settled || !t) {
          refused(c.name, (settled ? t : settled).error().sentence);
          return;
        }
        c.seconds.push_back(*t);
      }
    }
    print(s, type);
    if (space) device_.driver().cuMemFree(space);
  }

  void print(const Sizes& s, DType type) {
    const double operations =
        2.0 * static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k);
    const bool baseline = contenders_.back().name.rfind("cublasLt", 0) == 0;
    const double base = baseline ? median(contenders_.back().seconds) : 0;
    fmt::print("{} {} x {} x {}, {} sets of matrices\n", name_of(type), s.m, s.n, s.k, a_.size());
    for (const Contender& c : contenders_) {
      const double t = median(c.seconds);
      const auto [least, most] = std::minmax_element(c.seconds.begin(), c.seconds.end());
      const bool right = c.error < (type == DType::f16 ? 1e-3 : 5e-3);
      wrong_ += !right;
      Json row{{"kernel", c.name}, {"dtype", name_of(type)}, {"m", s.m}, {"n", s.n},
               {"k", s.k},         {"right", right}};
      if (!right) {
        fmt::print("  {:24} WRONG: off by {:.3g}\n", c.name, c.error);
      } else {
        fmt::print("  {:24} {:9.1f} us  ({:.1f} to {:.1f})  {:6.1f} TFLOP/s{}\n", c.name, t * 1e6,
                   *least * 1e6, *most * 1e6, operations / t * 1e-12,
                   base > 0 ? fmt::format("  {:.3f}x", base / t) : "");
        row["seconds"] = c.seconds;
        row["tflops"] = operations / t * 1e-12;
        if (base > 0) row["ratio"] = base / t;
      }
      rows_.push_back(std::move(row));
    }
    std::fflush(stdout);
  }

  void write_json() const {
    const Json all{{"card", device_.chip().name},
                   {"driver", device_.driver().version_text()},
                   {"cublasLt", lt_ ? Json(lt_->version()) : Json(nullptr)},
                   {"commit", asked_.commit},
                   {"rows", rows_}};
    std::ofstream(asked_.json) << all.dump(1) << "\n";
  }

  GpuDevice& device_;
  const ProductsAsked& asked_;
  std::unique_ptr<gpu::CublasLt> lt_;
  std::vector<Buffer> a_, b_;  // a set each
  std::vector<std::shared_ptr<GpuExecution>> executions_;
  std::vector<Contender> contenders_;
  std::vector<std::byte> want_;
  gpu::CUdeviceptr space_ = 0;
  Json rows_ = Json::array();
  int wrong_ = 0;
};

}  // namespace

int bench_products(GpuDevice& device, const ProductsAsked& asked) {
  return Bench(device, asked).run();
}

}  // namespace tilescope
