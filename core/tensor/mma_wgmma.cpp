// wgmma: atoms of a warpgroup (sm_90a), made from their parameters.
//
//     SM90_64xNxK_DAB_{SS|RS}<MAJOR_A,MAJOR_B>         f16, bf16: operands in shared memory K- or
//                                                       MN-major (A from registers: K only)
//     SM90_64xNxK_DAB_{SS|RS}_TN[_SATURATE]            tf32, f8, s8: K-major only
//     SM90_SPARSE_64xNxK_...                            the same with A 2:4 sparse and K twice as
//     long
//
// K is 32 bytes. N is 8 to 256 in steps of 8; for s8 and u8 8, 16, 24 and from 32 in steps of 16.
// Source: CuTe, include/cute/atom/mma_traits_sm90_gmma.hpp, _ext.hpp and _sparse.hpp (there the
// sparse ones are SM90::GMMA::SPARSE::GMMA_64xNxK_...); PTX ISA 9.7.15.2 (shapes) and 9.7.15.5.1
// (fragments, descriptors).
#include <fmt/format.h>

#include <algorithm>

#include "core/layout/text.h"
#include "core/tensor/catalog.h"
#include "core/tensor/mma_names.h"

namespace tilescope {
namespace {

struct Family {
  std::string_view types;  // DAB
  ElementType d, a, b;
  std::int64_t k;
  bool either_major() const { return bits_of(a) == 16; }
  bool integers() const { return d == ElementType::s32; }
};

using E = ElementType;
constexpr Family families[] = {
    {"F16F16F16", E::f16, E::f16, E::f16, 16},     {"F32F16F16", E::f32, E::f16, E::f16, 16},
    {"F32BF16BF16", E::f32, E::bf16, E::bf16, 16}, {"F32TF32TF32", E::f32, E::tf32, E::tf32, 8},
    {"F16E4M3E4M3", E::f16, E::e4m3, E::e4m3, 32}, {"F16E4M3E5M2", E::f16, E::e4m3, E::e5m2, 32},
    {"F16E5M2E4M3", E::f16, E::e5m2, E::e4m3, 32}, {"F16E5M2E5M2", E::f16, E::e5m2, E::e5m2, 32},
    {"F32E4M3E4M3", E::f32, E::e4m3, E::e4m3, 32}, {"F32E4M3E5M2", E::f32, E::e4m3, E::e5m2, 32},
    {"F32E5M2E4M3", E::f32, E::e5m2, E::e4m3, 32}, {"F32E5M2E5M2", E::f32, E::e5m2, E::e5m2, 32},
    {"S32S8S8", E::s32, E::s8, E::s8, 32},         {"S32S8U8", E::s32, E::s8, E::u8, 32},
    {"S32U8S8", E::s32, E::u8, E::s8, 32},         {"S32U8U8", E::s32, E::u8, E::u8, 32}};

constexpr std::int64_t rows = 64, threads = 128;

bool legal_n(const Family& f, std::int64_t n) {
  if (n < 8 || n > 256 || n % 8 != 0) return false;
  return !f.integers() || n <= 32 || n % 16 == 0;
}

std::string_view legal_n_text(const Family& f) {
  return f.integers() ? "8, 16, 24, 32, 48 .. 256 (from 32 in steps of 16)"
                      : "8, 16 .. 256 (in steps of 8)";
}

// The whole operand, which every thread's instruction reads through one descriptor.
Layout shared(std::int64_t extent, std::int64_t k) {
  return make_layout_of(Layout(threads, 0), make_layout_of(Layout(extent, 1), Layout(k, extent)));
}

// As mma's accumulators of 16 rows, in each of four warps.
Layout accumulator(std::int64_t n) {
  const Layout lanes = make_layout_of(Layout(4, 2 * rows), Layout(8, 1), Layout(4, 16));
  const Layout values = make_layout_of(Layout(2, rows), Layout(2, 8), Layout(n / 8, 8 * rows));
  return make_layout_of(lanes, values);
}

std::optional<Major> major_named(std::string_view name) {
  if (name == "K") return Major::k;
  if (name == "MN") return Major::mn;
  return std::nullopt;
}

// What follows the types in a name.
struct Ending {
  bool a_in_registers = false, tn = false, saturate = false;
  bool sparse = false;  // what stands before the shape
};

constexpr std::string_view dense_prefix = "SM90_64x", sparse_prefix = "SM90_SPARSE_64x";

std::optional<Ending> ending_of(std::string_view rest) {
  Ending out;
  if (!mma_names::take(rest, "_SS")) {
    if (!mma_names::take(rest, "_RS")) return std::nullopt;
    out.a_in_registers = true;
  }
  out.tn = mma_names::take(rest, "_TN");
  out.saturate = mma_names::take(rest, "_SATURATE");
  return rest.empty() ? std::optional(out) : std::nullopt;
}

// The majors that are asked for; K where nothing is written.
Outcome<std::pair<Major, Major>> majors_of(const AtomSpelling& s, const Family& f,
                                           const Ending& ending) {
  std::pair<Major, Major> out{Major::k, Major::k};
  if (s.arguments.size() > 2) {
    return no_atom(s, "it takes two majors at most, of A and of B: <K,K>.");
  }
  for (std::size_t i = 0; i < s.arguments.size(); ++i) {
    const std::optional<Major> major = major_named(s.arguments[i]);
    if (!major) return no_atom(s, fmt::format("{} is no major; K and MN are.", s.arguments[i]));
    (i == 0 ? out.first : out.second) = *major;
  }
  const bool mn = out.first == Major::mn || out.second == Major::mn;
  if (mn && !f.either_major()) {
    return no_atom(s,
                   fmt::format("{} is read K-major only; MN is for f16 and bf16.", name_of(f.a)));
  }
  if (ending.a_in_registers && out.first == Major::mn) {
    return no_atom(s, "A in registers is K-major; MN is for A in shared memory (SS).");
  }
  return out;
}

Outcome<Atom> atom_of(const AtomSpelling& s, const Family& f, std::int64_t n,
                      const Ending& ending) {
  if (f.either_major() == ending.tn) {
    return no_atom(s, f.either_major()
                          ? "the majors of f16 and bf16 are arguments, <K,K>, and not _TN."
                          : "this type is K-major only, and its name ends in _TN.");
  }
  if (ending.saturate && !f.integers()) {
    return no_atom(s, "only integers saturate.");
  }
  if (!legal_n(f, n)) {
    return no_atom(s, fmt::format("N is {}, and legal are {}.", n, legal_n_text(f)));
  }
  const auto majors = majors_of(s, f, ending);
  if (!majors) return majors.error();
  MmaAtom out;
  out.name = AtomName(s.whole);
  const std::int64_t k = ending.sparse ? 2 * f.k : f.k;
  out.source = ending.sparse
                   ? "cute/atom/mma_traits_sm90_gmma_sparse.hpp; PTX ISA wgmma.mma_async.sp"
                   : "cute/atom/mma_traits_sm90_gmma.hpp; PTX ISA wgmma.mma_async";
  out.shape_mnk = make_tuple_of(rows, n, k);
  out.thr_id = Layout(threads, 1);
  if (ending.a_in_registers) {
    out.a = {f.a, Memory::rmem, Major::k,
             mma_names::rows_in_registers(rows, k, ending.sparse ? bits_of(f.a) / 2 : bits_of(f.a),
                                          threads)};
  } else {
    out.a = {f.a, Memory::smem, majors->first, shared(rows, k)};
  }
  if (ending.sparse) out.a.sparsity = 2;
  out.b = {f.b, Memory::smem, majors->second, shared(n, k)};
  out.c = {f.d, Memory::rmem, Major::none, accumulator(n)};
  return Atom(out);
}

AtomAnswer make(const AtomSpelling& s) {
  std::string_view rest = s.base;
  const bool sparse = mma_names::take(rest, sparse_prefix);
  if (!sparse && !mma_names::take(rest, dense_prefix)) return std::nullopt;
  const std::optional<std::int64_t> n = mma_names::take_number(rest);
  if (!n || !mma_names::take(rest, "x")) return std::nullopt;
  const std::optional<std::int64_t> k = mma_names::take_number(rest);
  if (!k || !mma_names::take(rest, "_")) return std::nullopt;
  for (const Family& f : families) {
    std::string_view behind = rest;
    if (!mma_names::take(behind, f.types)) continue;
    std::optional<Ending> ending = ending_of(behind);
    if (!ending) continue;
    ending->sparse = sparse;
    const std::int64_t legal_k = sparse ? 2 * f.k : f.k;
    if (*k != legal_k) {
      return no_atom(s, fmt::format("K is {}, and {} bytes of {} are {}.", *k, sparse ? 64 : 32,
                                    name_of(f.a), legal_k));
    }
    return atom_of(s, f, *n, *ending);
  }
  return std::nullopt;
}

std::string base_name(const Family& f, std::int64_t n, std::string_view where, bool sparse) {
  return fmt::format("{}{}x{}_{}_{}{}", sparse ? sparse_prefix : dense_prefix, n,
                     sparse ? 2 * f.k : f.k, f.types, where, f.either_major() ? "" : "_TN");
}

void list_forms(std::vector<AtomFamily>& out, bool sparse) {
  for (const Family& f : families) {
    for (const std::string_view where : {"SS", "RS"}) {
      std::string varies = fmt::format("N {}", legal_n_text(f));
      std::string example = base_name(f, 64, where, sparse);
      if (f.either_major()) {
        example += where == "SS" ? "<MN,K>" : "<K,K>";
        varies += where == "SS" ? "; majors of A, B: K or MN" : "; major of B: K or MN";
      }
      if (f.integers()) varies += "; also _SATURATE";
      out.push_back({example, varies});
    }
  }
}

void list(std::vector<AtomFamily>& out) {
  for (const bool sparse : {false, true}) list_forms(out, sparse);
}

void names_of(const Family& f, std::string_view where, bool sparse, std::vector<std::string>& out) {
  for (std::int64_t n = 8; n <= 256; n += 8) {
    if (!legal_n(f, n)) continue;
    out.push_back(base_name(f, n, where, sparse));
    if (f.integers()) out.push_back(base_name(f, n, where, sparse) + "_SATURATE");
  }
}

void list_names(std::vector<std::string>& out) {
  for (const bool sparse : {false, true}) {
    for (const Family& f : families) {
      for (const std::string_view where : {"SS", "RS"}) names_of(f, where, sparse, out);
    }
  }
}

}  // namespace

const AtomMaker wgmmas = {make, list, list_names};

}  // namespace tilescope
