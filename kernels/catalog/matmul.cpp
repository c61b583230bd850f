// C = A * B in f32 without tensor cores (kernels/matmul): as it is first written, and with tiles in
// shared memory. All matrices are row-major, of any size.
#include <fmt/format.h>

#include "kernels/catalog/catalog.h"
#include "kernels/reference/reference.h"

namespace tilescope {
namespace {

constexpr std::int64_t most_elements = (std::int64_t{1} << 31) - 1;  // the kernels count in int
constexpr std::uint32_t naive_columns = 32, naive_rows = 8, tile = 64, depth = 16;
// A grid has up to 65,535 blocks in y (CUDA C++ Programming Guide, Compute Capabilities); these are
// rows.
constexpr std::int64_t most_rows = 65535 * naive_rows;

std::uint32_t parts(std::int64_t extent, std::int64_t part) {
  return static_cast<std::uint32_t>((extent + part - 1) / part);
}

std::optional<std::string> too_many_elements(std::string_view name, const Sizes& s) {
  const auto fits = [](std::int64_t rows, std::int64_t columns) {
    return rows <= most_elements / columns;
  };
  if (fits(s.m, s.k) && fits(s.k, s.n) && fits(s.m, s.n)) return std::nullopt;
  return fmt::format(
      "{} counts elements in 32 bits, so A (m, k), B (k, n) and C (m, n) must have fewer than 2^31 "
      "each, and it was asked for m = {}, n = {}, k = {}.",
      name, s.m, s.n, s.k);
}

// (const float* a, const float* b, float* c, int m, int n, int k)
std::vector<Argument> arguments(const Sizes& s) {
  std::vector<Argument> out = {Argument::pointer(0), Argument::pointer(1), Argument::pointer(2)};
  for (const std::int64_t size : {s.m, s.n, s.k}) {
    out.push_back(Argument::i32(static_cast<std::int32_t>(size)));
  }
  return out;
}

std::vector<NamedLayout> matrices(const Sizes& s) {
  const auto matrix = [](std::int64_t rows, std::int64_t columns) {
    return fmt::format("({0},{1}):({1},1)", rows, columns);
  };
  return {{"A", matrix(s.m, s.k), "A in global memory: row-major, offsets in elements"},
          {"B", matrix(s.k, s.n), "B in global memory: row-major too"},
          {"C", matrix(s.m, s.n), "C in global memory"}};
}

Outcome<std::vector<Buffer>> reference_of(const Job& job, const Fit&, const Effort& effort) {
  Outcome<Buffer> product = reference::matmul(job.buffers[0], job.buffers[1], effort);
  if (!product) return product.error();
  return std::vector<Buffer>{std::move(*product)};
}

CatalogEntry entry_of(std::string name, std::string help) {
  CatalogEntry entry;
  entry.name = name;
  entry.help = std::move(help);
  entry.ptx = fmt::format("ptx/{}.ptx", name);
  entry.source = fmt::format("kernels/matmul/{}.cu", name);
  entry.target = "sm_80";
  entry.sizes = {{"m", &Sizes::m, 96, 1, most_rows, "rows of A and C"},
                 {"n", &Sizes::n, 128, 1, most_elements - tile, "columns of B and C"},
                 {"k", &Sizes::k, 64, 1, most_elements - depth, "columns of A, rows of B"}};
  entry.tensors = {{"A", TensorRole::input, {&Sizes::m, &Sizes::k}, "the left matrix"},
                   {"B", TensorRole::input, {&Sizes::k, &Sizes::n}, "the right matrix"},
                   {"C", TensorRole::output, {&Sizes::m, &Sizes::n}, "the product"}};
  // Sums of K products in f32: what rounding leaves of normal numbers up to some ten thousand
  // products lies far below, what a product too many or too few makes far above.
  entry.variants = {{name, {DType::f32, DType::f32, DType::f32}, 1e-4, 1e-2}};
  entry.objection = [name](const Sizes& s) { return too_many_elements(name, s); };
  entry.arguments = arguments;
  entry.reference = reference_of;
  return entry;
}

}  // namespace

CatalogEntry matmul_naive_entry() {
  CatalogEntry entry = entry_of("matmul_naive", "C = A * B in f32: a thread for each element");
  entry.launch = [](const Sizes& s, std::int64_t) {
    Launch launch;
    launch.grid = {parts(s.n, naive_columns), parts(s.m, naive_rows), 1};
    launch.block = {naive_columns, naive_rows, 1};
    return launch;
  };
  entry.layouts = [](const Sizes& s, const Variant&) { return matrices(s); };
  return entry;
}

CatalogEntry matmul_tiled_entry() {
  CatalogEntry entry = entry_of(
      "matmul_tiled", "C = A * B in f32: tiles in shared memory, 4 x 4 elements for each thread");
  entry.tensors.back().tile = {tile, tile};
  entry.launch = [](const Sizes& s, std::int64_t) {
    Launch launch;
    launch.grid = {parts(s.n, tile), parts(s.m, tile), 1};
    launch.block.x = 256;
    return launch;
  };
  entry.layouts = [](const Sizes& s, const Variant&) {
    std::vector<NamedLayout> out = matrices(s);
    out.push_back({"A's tile", "(64,16):(1,68)",
                   "in shared memory, transposed: a thread's four rows are one access"});
    out.push_back({"B's tile", "(16,64):(64,1)", "in shared memory"});
    out.push_back({"thread layout", "(16,16):(16,1)",
                   "which thread has which 4 x 4 elements of C's tile: by rows"});
    return out;
  };
  return entry;
}

}  // namespace tilescope
