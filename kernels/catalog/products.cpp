#include "kernels/catalog/products.h"

#include <fmt/format.h>

#include "kernels/reference/reference.h"

namespace tilescope::products {
namespace {

// The kernels count in int. They round sizes up to whole tiles and look two tiles ahead along K.
constexpr std::int64_t most = (std::int64_t{1} << 31) - 128;

Outcome<std::vector<Buffer>> reference_of(const Job& job, const Fit&, const Effort& effort) {
  Outcome<Buffer> product = reference::gemm(job.buffers[0], job.buffers[1], effort);
  if (!product) return product.error();
  return std::vector<Buffer>{std::move(*product)};
}

}  // namespace

std::int64_t tiles(std::int64_t extent, std::int64_t tile) {
  return (extent + tile - 1) / tile;
}

std::string shape_text(const Sizes& s) {
  return fmt::format("m = {}, n = {}, k = {}", s.m, s.n, s.k);
}

// TMA wants rows to begin on 16 bytes; what lies outside the matrix it reads as zeros.
std::optional<std::string> rows_of_16_bytes(const std::string& name, const Sizes& s) {
  if (s.n % 8 == 0 && s.k % 8 == 0) return std::nullopt;
  return fmt::format(
      "{} copies by tensor maps, whose rows must begin on 16 bytes: any m, and n and k in "
      "multiples of 8. It was asked for {}.",
      name, shape_text(s));
}

std::vector<Argument> arguments(BoxRows boxes, std::initializer_list<std::int64_t> sizes) {
  std::vector<Argument> out;
  std::uint32_t buffer = 0;
  for (const std::uint32_t rows : {boxes.a, boxes.b, boxes.d}) {
    if (rows == 0) {
      out.push_back(Argument::pointer(buffer++));
      continue;
    }
    TensorMap map;
    map.buffer = buffer++;
    map.box = {64, rows};
    map.swizzle = MapSwizzle::bytes128;
    out.push_back(Argument::tensor_map(map));
  }
  for (const std::int64_t size : sizes) {
    out.push_back(Argument::i32(static_cast<std::int32_t>(size)));
  }
  return out;
}

CatalogEntry entry(std::string name, std::string help, std::string folder, std::string target,
                   Sizes fallback) {
  CatalogEntry out;
  out.name = std::move(name);
  out.help = std::move(help);
  out.ptx = fmt::format("ptx/{}.ptx", out.name);
  out.source = fmt::format("kernels/{}/{}.cu", folder, out.name);
  out.target = std::move(target);
  out.sizes = {{"m", &Sizes::m, fallback.m, 1, most, "rows of A and D"},
               {"n", &Sizes::n, fallback.n, 1, most, "rows of B, columns of D"},
               {"k", &Sizes::k, fallback.k, 1, most, "columns of A and B"}};
  out.tensors = {{"A", TensorRole::input, {&Sizes::m, &Sizes::k}, "the left matrix"},
                 {"B", TensorRole::input, {&Sizes::n, &Sizes::k}, "the right matrix, transposed"},
                 {"D", TensorRole::output, {&Sizes::m, &Sizes::n}, "the product"}};
  // Sums of K products in f32, rounded to 16 bits: the tolerances of the course, for bf16 with the
  // three bits fewer that it has.
  const auto variant = [](std::string entry, DType type, double rtol, double atol) {
    return Variant{std::move(entry), {type, type, type}, rtol, atol};
  };
  out.variants = {variant(out.name, DType::f16, 1e-3, 1e-2),
                  variant(out.name + "_bf16", DType::bf16, 8e-3, 8e-2)};
  out.reference = reference_of;
  return out;
}

std::string matrix(std::int64_t rows, std::int64_t columns) {
  return fmt::format("({0},{1}):({1},1)", rows, columns);
}

Suppression narrow_release() {
  Suppression out;
  out.kind = "narrow_scope";
  out.reason =
      "stages are given back by .release.cta, as CUTLASS does: a release to the cluster "
      "takes a fifth more time on an H200";
  out.place = "kernels/hopper/README.md";
  return out;
}

}  // namespace tilescope::products
