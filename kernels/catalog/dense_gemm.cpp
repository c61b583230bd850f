// Hopper's dense product for any of its types (kernels/hopper/dense_gemm.cu):
//
//     C (l,m,n) = alpha A (l,m,k) B (l,n,k)^T + beta C
//
// An m-major A is (l,k,m) in memory, an n-major B (l,k,n), an m-major C (l,n,m). The kernel knows
// no m-major C: it is given B in A's place and A in B's, C^T = B A^T.
#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "kernels/catalog/catalog.h"
#include "kernels/catalog/dense_problem.h"
#include "kernels/catalog/products.h"
#include "kernels/reference/reference.h"

namespace tilescope {
namespace {

using dense::number_of;
using dense::Operand;
using dense::Problem;
using dense::problem_of;
using products::tiles;

constexpr std::int64_t most = (std::int64_t{1} << 31) - 1024;  // the kernel counts in int
constexpr std::int64_t most_batches = 65535;                   // a grid's blocks in z
constexpr std::int64_t plain_tile = 64;

// ---- Options ------------------------------------------------------------------------------------

std::optional<std::string> no_number(const char* option, std::string_view value) {
  if (number_of(value)) return std::nullopt;
  return fmt::format("--{} takes a number, such as 0.5, and `{}` is none.", option, value);
}

std::vector<OptionParameter> options() {
  const std::vector<std::string> operands = {"f16", "bf16", "tf32", "e4m3", "e5m2"};
  std::vector<std::string> tile = {"auto"};
  const auto extents = {48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 256};
  for (const int m : extents) {
    for (const int n : extents) {
      const bool rows = m == 64 || m == 128 || m == 256, columns = n == 64 || n == 128 || n == 256;
      if (rows || columns) tile.push_back(fmt::format("{}x{}", m, n));
    }
  }
  const auto number = [](const char* name, const char* fallback, const char* help) {
    return OptionParameter{
        name,     {},   "NUMBER",
        fallback, help, [name](std::string_view value) { return no_number(name, value); }};
  };
  return {
      {"a-dtype", operands, "f16|bf16|tf32|e4m3|e5m2", "f16",
       "element type of A (default: of its file, of B)"},
      {"b-dtype", operands, "f16|bf16|tf32|e4m3|e5m2", "f16",
       "element type of B (default: of its file, of A)"},
      {"c-dtype",
       {"f16", "bf16", "f32", "e4m3"},
       "f16|bf16|f32|e4m3",
       "f16",
       "element type of C (default: A's; of tf32 f32, of 8-bit types f16)"},
      {"acc-dtype", {"f32", "f16"}, "f32|f16", "f32", "type of the sums: f16 only of f16 A and B"},
      {"a-major", {"k", "m"}, "k|m", "k", "which of A's extents is contiguous"},
      {"b-major", {"k", "n"}, "k|n", "k", "which of B's extents is contiguous"},
      {"c-major", {"n", "m"}, "n|m", "n", "which of C's extents is contiguous"},
      {"tile", tile, "MxN", "auto", "rows and columns of C of a CTA"},
      {"cluster",
       {"auto", "1x1", "2x1", "1x2", "2x2", "4x1", "1x4", "4x2", "2x4"},
       "MxN",
       "auto",
       "CTAs of a cluster, down and across"},
      {"split-k",
       {"auto", "1", "2", "3", "4", "5", "6", "7", "8"},
       "auto|1..8",
       "auto",
       "slices of K, each a CTA's, of a cluster that adds up what they have summed"},
      {"consumers",
       {"auto", "cooperative", "ping-pong"},
       "auto|cooperative|ping-pong",
       "auto",
       "two consumers share each tile, or have every other one"},
      number("alpha", "1", "factor of the product"),
      number("beta", "0", "factor of what C has before")};
}

// What nobody says, as far as it follows from what is said.
void usual(Choices& choices) {
  const auto follow = [&](const char* name, const char* other) {
    const auto known = choices.find(other);
    if (known != choices.end()) choices.try_emplace(name, known->second);
  };
  follow("b-dtype", "a-dtype");
  follow("a-dtype", "b-dtype");
  if (const auto a = choices.find("a-dtype"); a != choices.end()) {
    const std::string type = a->second;
    choices.try_emplace("c-dtype", type == "tf32" ? "f32" : type[0] == 'e' ? "f16" : type);
  }
}

// ---- What it cannot do --------------------------------------------------------------------------

bool eight_bits(const Operand& o) {
  return o.bytes() == 1;
}

std::optional<std::string> wrong_types(const Problem& p) {
  if (p.a.type != p.b.type && !(eight_bits(p.a) && eight_bits(p.b))) {
    return fmt::format(
        "dense_gemm multiplies A and B of one type, or e4m3 and e5m2 with each other; it was asked "
        "for --{}-dtype {} and --{}-dtype {}.",
        p.exchanged ? "b" : "a", p.a.type, p.exchanged ? "a" : "b", p.b.type);
  }
  if (p.sums == "f16" && p.a.type != "f16") {
    return fmt::format(
        "dense_gemm sums in f16 only where A and B are f16, and they are {}: leave --acc-dtype "
        "out, or choose f32.",
        p.a.type);
  }
  return std::nullopt;
}

std::optional<std::string> wrong_tile(const Problem& p) {
  if (p.a.tile % 128 != 0 && p.a.tile != 64) {
    return fmt::format(
        "dense_gemm's tiles have 64, 128 or 256 {}, which warpgroups share by 64, and --tile asks "
        "for {}; {} may be 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224 or 256.",
        p.exchanged ? "columns of an m-major C" : "rows", p.a.tile,
        p.exchanged ? "its rows" : "its columns");
  }
  if (p.a.tile == 256 && p.b.tile > 192 && p.sums == "f32") {
    return fmt::format(
        "A tile of 256x{0} has {0} sums for each thread of two warpgroups, more than it has "
        "registers: choose 256x192 or 128x256, or with f16 A and B --acc-dtype f16.",
        p.b.tile);
  }
  if (p.b.tile % 32 != 0 && p.sums == "f16") {
    return fmt::format(
        "With --acc-dtype f16 a tile has whole 32s of {}, and --tile asks for {}: 64, 96, 128, "
        "160, 192, 224 and 256 work.",
        p.exchanged ? "rows" : "columns", p.b.tile);
  }
  return std::nullopt;
}

std::optional<std::string> wrong_slices(const Problem& p) {
  if (p.slices == 1) return std::nullopt;
  if (p.plain()) {
    return "Where rows do not begin on 16 bytes, dense_gemm does not divide K: leave --split-k "
           "out.";
  }
  if (p.ctas() * p.slices > 8) {
    return fmt::format(
        "A cluster has up to 8 CTAs, and {} slices of K of {} CTAs each are {}: --split-k up to {} "
        "works, or another --cluster.",
        p.slices, p.ctas(), p.slices * p.ctas(), 8 / p.ctas());
  }
  if (!can_slice(p.a.tile, p.b.tile, p.sums == "f16")) {
    return fmt::format(
        "A warpgroup's share of a tile of {}x{} leaves no registers to add up slices of K with: "
        "leave --split-k out, or choose a smaller --tile.",
        p.exchanged ? p.b.tile : p.a.tile, p.exchanged ? p.a.tile : p.b.tile);
  }
  const std::int64_t stages = tiles(p.k * p.a.bytes(), 128);
  if (p.slices > stages) {
    return fmt::format(
        "With k = {} of {}, K has {} stage{} of 128 bytes, and --split-k asks for {} slices of one "
        "or more: up to {} work.",
        p.k, p.a.type, stages, stages == 1 ? "" : "s", p.slices, stages);
  }
  return std::nullopt;
}

std::optional<std::string> wrong_consumers(const Problem& p, std::string_view asked) {
  if (asked == "cooperative" && p.a.tile == 64 && p.slices == 1) {
    return fmt::format(
        "A tile of 64 {} is multiplied by one warpgroup, and --consumers asks for two that share "
        "it: choose ping-pong, or a tile of 128 or 256.",
        p.exchanged ? "columns of an m-major C" : "rows");
  }
  if (asked != "ping-pong") return std::nullopt;
  if (p.plain() || p.slices > 1) {
    return fmt::format(
        "With {} the consumers of dense_gemm do not take turns: leave --consumers out.",
        p.plain() ? "rows that do not begin on 16 bytes" : "slices of K");
  }
  if (!fits_one_consumer(p.a.tile, p.b.tile, p.sums == "f16")) {
    return fmt::format(
        "In ping-pong one warpgroup has all sums of a tile, and those of {}x{} are more than it "
        "has registers: choose --tile 128x128 or a smaller one, or --consumers cooperative.",
        p.exchanged ? p.b.tile : p.a.tile, p.exchanged ? p.a.tile : p.b.tile);
  }
  return std::nullopt;
}

std::optional<std::string> cannot_do(const Fit& fit) {
  const Problem p = problem_of(fit);
  if (auto wrong = wrong_types(p)) return wrong;
  for (const Operand* o : {&p.a, &p.b}) {
    if (auto wrong = dense::wrong_major(*o)) return wrong;
  }
  if (auto wrong = wrong_tile(p)) return wrong;
  if (auto wrong = wrong_slices(p)) return wrong;
  if (auto wrong = wrong_consumers(p, fit.choices.find("consumers")->second)) return wrong;
  if (p.plain() && tiles(p.b.rows, plain_tile) > 65535) {
    return fmt::format(
        "Where rows do not begin on 16 bytes, dense_gemm multiplies up to {} {} of C; it was asked "
        "for {}.",
        65535 * plain_tile, p.exchanged ? "rows" : "columns", p.b.rows);
  }
  return std::nullopt;
}

// ---- Variants -----------------------------------------------------------------------------------

// Against sums in double. The inputs are about as large as 1, so a sum as the root of K.
//
//   rounding    of C, half a unit and what a sum nearby becomes
//   of sums     8-bit products are added with 13 bits behind the largest one's (seen on Hopper), 32
//               of them at a time, so that errors grow with K; f16 sums are rounded to 10 bits, 16
//               products at a time
void tolerate(const Problem& p, Variant& variant) {
  const double k = static_cast<double>(p.k), size = std::sqrt(k);
  const bool bf16 = p.c_type == "bf16", e4m3 = p.c_type == "e4m3", f32 = p.c_type == "f32";
  variant.rtol = e4m3 ? 0.13 : bf16 ? 8e-3 : f32 ? 1e-4 : 1e-3;
  double of_sums = 1e-2;
  if (eight_bits(p.a)) of_sums = std::max(of_sums, std::ldexp(3 * k, -13));
  if (p.sums == "f16") of_sums = std::max(of_sums, std::ldexp(size, -9) * std::sqrt(k / 16));
  const double rounding = bf16 ? 8e-2 : e4m3 ? 3e-2 : 1e-2;
  variant.atol = std::max(rounding, of_sums * std::fabs(static_cast<double>(p.alpha)));
}

Variant variant_of(const Fit& fit) {
  const Problem p = problem_of(fit);
  Variant out;
  out.entry = p.plain()                        ? "dense_gemm_plain"
              : p.slices > 1                   ? "dense_gemm_slices"
              : p.ping_pong && p.a.tile == 128 ? "dense_gemm_ping_pong"
                                               : "dense_gemm";
  for (const char* type : {"a-dtype", "b-dtype", "c-dtype"}) {
    out.dtypes.push_back(*stored_as(fit.choices.find(type)->second));
  }
  tolerate(p, out);
  const auto number = [](std::int64_t n) { return std::to_string(n); };
  out.defines = {{"GEMM_A", p.a.type},
                 {"GEMM_B", p.b.type},
                 {"GEMM_C", p.c_type},
                 {"GEMM_ACC", p.sums},
                 {"GEMM_TILE_M", number(p.a.tile)},
                 {"GEMM_TILE_N", number(p.b.tile)},
                 {"GEMM_CLUSTER_M", number(p.cluster.m)},
                 {"GEMM_CLUSTER_N", number(p.cluster.n)},
                 {"GEMM_A_MAJOR", p.a.across ? "m" : "k"},
                 {"GEMM_B_MAJOR", p.b.across ? "n" : "k"}};
  out.image = "ptx/dense_gemm/";
  for (const auto& [name, value] : out.defines) out.image += value + "_";
  out.image.back() = '.';
  out.image += "ptx";
  return out;
}

Choices choices_of(const std::vector<std::string>& values) {
  if (values.size() != 10) return {};
  return {{"a-dtype", values[0]},
          {"b-dtype", values[1]},
          {"c-dtype", values[2]},
          {"acc-dtype", values[3]},
          {"tile", values[4] + "x" + values[5]},
          {"cluster", values[6] + "x" + values[7]},
          {"a-major", values[8]},
          {"b-major", values[9]}};
}

std::vector<TensorSpec> tensors_of(const Fit& fit) {
  const auto m = &Sizes::m, n = &Sizes::n, k = &Sizes::k, l = &Sizes::l;
  const Problem p = problem_of(fit);
  const auto chosen = [&](const char* name, const char* value) {
    return fit.choices.find(name)->second == value;
  };
  const auto shape = [&](bool across, std::int64_t Sizes::*rows, std::int64_t Sizes::*columns) {
    using Shape = std::vector<std::int64_t Sizes::*>;
    return across ? Shape{l, columns, rows} : Shape{l, rows, columns};
  };
  const std::int64_t rows = p.plain() ? plain_tile : p.a.tile,
                     columns = p.plain() ? plain_tile : p.b.tile;
  return {{"A",
           TensorRole::input,
           shape(chosen("a-major", "m"), m, k),
           "the left matrix",
           {},
           "a-dtype"},
          {"B",
           TensorRole::input,
           shape(chosen("b-major", "n"), n, k),
           "the right matrix, transposed",
           {},
           "b-dtype"},
          {"C",
           p.beta != 0 ? TensorRole::update : TensorRole::output,
           shape(chosen("c-major", "m"), m, n),
           "the product",
           {1, rows, columns},
           "c-dtype"}};
}

// ---- The launch ---------------------------------------------------------------------------------

Launch launch(const Fit& fit, std::int64_t processors) {
  const Problem p = problem_of(fit);
  const auto count = [](std::int64_t n) { return static_cast<std::uint32_t>(n); };
  Launch out;
  if (p.plain()) {
    out.grid = {count(tiles(p.a.rows, plain_tile)), count(tiles(p.b.rows, plain_tile)), count(p.l)};
    out.block.x = 128;
    return out;
  }
  const std::int64_t all =
      tiles(p.a.rows, p.b.shares * p.a.tile) * tiles(p.b.rows, p.a.shares * p.b.tile) * p.l;
  out.block.x = 384;
  if (p.slices > 1) {
    out.grid.x = count(all * p.ctas() * p.slices);
    out.cluster = Dim3{count(p.ctas() * p.slices), 1, 1};
    return out;
  }
  const std::int64_t room = room_for_clusters(p.ctas(), processors);
  out.grid.x = count(p.ctas() * std::min(room, all));
  if (p.ctas() > 1) out.cluster = Dim3{count(p.ctas()), 1, 1};
  return out;
}

Argument map_of(const Operand& o, const Problem& p) {
  const auto u = [](std::int64_t n) { return static_cast<std::uint64_t>(n); };
  const auto box = [](std::int64_t n) { return static_cast<std::uint32_t>(n); };
  TensorMap map;
  map.buffer = o.buffer;
  map.swizzle = MapSwizzle::bytes128;
  if (o.across) {
    const bool whole = o.tile / 64 % o.shares == 0;  // else each loads a part of K
    map.dims = {u(o.rows), u(p.k), u(p.l)};
    map.box = {64, box(whole ? 64 : 64 / o.shares), 1};
  } else {
    map.dims = {u(p.k), u(o.rows), u(p.l)};
    map.box = {box(128 / o.bytes()), box(o.tile / o.shares), 1};
  }
  return Argument::tensor_map(map);
}

// C's boxes: 64 rows of 128 bytes, or of 64 or 32 where a tile is narrower.
Argument map_of_c(const Problem& p) {
  const std::int64_t widest = 128 / p.c_bytes();
  std::int64_t columns = widest;
  while (columns > p.b.tile) columns /= 2;
  const std::int64_t bytes = columns * p.c_bytes();
  TensorMap map;
  map.buffer = 2;
  map.swizzle = bytes == 128  ? MapSwizzle::bytes128
                : bytes == 64 ? MapSwizzle::bytes64
                              : MapSwizzle::bytes32;
  map.dims = {static_cast<std::uint64_t>(p.b.rows), static_cast<std::uint64_t>(p.a.rows),
              static_cast<std::uint64_t>(p.l)};
  map.box = {static_cast<std::uint32_t>(columns), 64, 1};
  return Argument::tensor_map(map);
}

Argument argument_of(float value) {
  std::int32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return Argument::i32(bits);
}

// dense_gemm, dense_gemm_ping_pong, dense_gemm_slices(map a, map b, map c, c, m, n, k, l, alpha,
// beta) dense_gemm_plain(a, b, c, m, n, k, alpha, beta)
std::vector<Argument> arguments(const Fit& fit) {
  const Problem p = problem_of(fit);
  std::vector<Argument> out;
  if (p.plain()) {
    out = {Argument::pointer(p.a.buffer), Argument::pointer(p.b.buffer)};
  } else {
    out = {map_of(p.a, p), map_of(p.b, p), map_of_c(p)};
  }
  out.push_back(Argument::pointer(2));
  for (const std::int64_t size : {p.a.rows, p.b.rows, p.k}) {
    out.push_back(Argument::i32(static_cast<std::int32_t>(size)));
  }
  if (!p.plain()) out.push_back(Argument::i32(static_cast<std::int32_t>(p.l)));
  out.push_back(argument_of(p.alpha));
  out.push_back(argument_of(p.beta));
  return out;
}

std::vector<NamedLayout> layouts(const Fit& fit, const Variant&) {
  const Problem p = problem_of(fit);
  const Sizes& s = fit.sizes;
  const auto matrix = [&](std::int64_t rows, std::int64_t columns, bool across) {
    return fmt::format("({0},{1},{2}):({3},{4},{5})", rows, columns, s.l, across ? 1 : columns,
                       across ? rows : 1, rows * columns);
  };
  const auto tile = [](const Operand& o) {
    if (o.across) {
      return fmt::format("composition(Sw<3,3,3>, ((64,{}),(8,8)):((1,4096),(64,512)))",
                         o.tile / 64);
    }
    const std::int64_t k = 128 / o.bytes();
    return fmt::format("tile_to_shape(composition(Sw<3,{0},3>, (8,{1}):({1},1)), ({2},{1}))",
                       o.bytes() == 1   ? 4
                       : o.bytes() == 2 ? 3
                                        : 2,
                       k, o.tile);
  };
  const Operand &a = p.exchanged ? p.b : p.a, &b = p.exchanged ? p.a : p.b;
  return {{"A", matrix(s.m, s.k, a.across), "A in global memory: row, column, matrix"},
          {"B", matrix(s.n, s.k, b.across), "B in global memory: N rows of K"},
          {"C", matrix(s.m, s.n, p.exchanged), "C in global memory"},
          {"a_tile", tile(a), "A's tile in shared memory: rows of 128 bytes, swizzled"},
          {"b_tile", tile(b), "B's tile in shared memory"}};
}

Outcome<std::vector<Buffer>> reference_of(const Job& job, const Fit& fit, const Effort& effort) {
  const Problem p = problem_of(fit);
  const Sizes& s = fit.sizes;
  const Operand &a = p.exchanged ? p.b : p.a, &b = p.exchanged ? p.a : p.b;
  reference::DenseProblem problem{
      s.m, s.n, s.k, s.l, a.across, b.across, p.exchanged, a.type == "tf32", p.alpha, p.beta};
  Outcome<Buffer> product =
      reference::dense(job.buffers[0], job.buffers[1], job.buffers[2], problem, effort);
  if (!product) return product.error();
  return std::vector<Buffer>{std::move(*product)};
}

}  // namespace

CatalogEntry dense_gemm_entry() {
  CatalogEntry entry;
  entry.name = "dense_gemm";
  entry.help = "C = alpha A * B^T + beta C on Hopper: types, majors, tiles and clusters by option";
  entry.source = "kernels/hopper/dense_gemm.cu";
  entry.target = "sm_90a";
  entry.sizes = {{"m", &Sizes::m, 512, 1, most, "rows of A and C"},
                 {"n", &Sizes::n, 512, 1, most, "rows of B, columns of C"},
                 {"k", &Sizes::k, 512, 1, most, "columns of A and B"},
                 {"l", &Sizes::l, 1, 1, most_batches, "products; of one, tensors are matrices"}};
  entry.batch = &Sizes::l;
  entry.options = options();
  entry.known = {products::narrow_release()};
  entry.usual = usual;
  entry.choices_of = choices_of;
  entry.tensors_of = tensors_of;
  entry.variant_of = variant_of;
  entry.objection = cannot_do;
  entry.launch = launch;
  entry.arguments = arguments;
  entry.layouts = layouts;
  entry.reference = reference_of;
  // As they are where nobody says anything.
  Fit fallback;
  for (const OptionParameter& each : entry.options) fallback.choices[each.name] = each.fallback;
  for (const SizeParameter& size : entry.sizes) fallback.sizes.*size.member = size.fallback;
  entry.tensors = tensors_of(fallback);
  entry.tensors[2].role = TensorRole::update;  // with a beta
  entry.variants = {variant_of(fallback)};
  entry.ptx = entry.variants.front().image;
  return entry;
}

}  // namespace tilescope
