// mma.sync of sm_120a: atoms of a warp for 8, 6 and 4 bits, with scale factors and with a sparse A.
//
//     SM120_16x8x32_TN<A,B,C>                    A, B of 8 bits or fewer, each in a byte; C f32 or
//     f16 SM120_16x8x32_TN_VS<A,B,f32,ue8m0,32>      with a scale factor for each 32 elements along
//     K SM120_16x8x64_TN_VS<e2m1,e2m1,f32,SCALE,VS>                  two elements in a byte
//     SM120_SPARSE_16x8x64_TN[_VS]<...>          A 2:4 sparse: its registers hold half of K
//     SM120_SPARSE_16x8x128_TN_VS<...>
//
// A lane's registers are those of the 8-bit mma of sm_80: 32 bits of one row side by side, whatever
// part of K they stand for. Scale factors and metadata lie in registers of their own, and are not
// part of the layouts here. Source: CuTe, include/cute/atom/mma_traits_sm120.hpp and _sparse.hpp,
// and the specialisations in include/cute/arch/mma_sm120.hpp and _sparse.hpp; PTX ISA mma.sync,
// mma.sp (.block_scale).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "core/tensor/catalog.h"
#include "core/tensor/mma_names.h"

namespace tilescope {
namespace {

using E = ElementType;

struct Form {
  std::string_view name;
  std::int64_t k;
  bool sparse, scaled;
  bool four_bits;  // e2m1 alone, two in a byte
};

constexpr std::array<Form, 6> forms = {{{"SM120_16x8x32_TN", 32, false, false, false},
                                        {"SM120_16x8x32_TN_VS", 32, false, true, false},
                                        {"SM120_16x8x64_TN_VS", 64, false, true, true},
                                        {"SM120_SPARSE_16x8x64_TN", 64, true, false, false},
                                        {"SM120_SPARSE_16x8x64_TN_VS", 64, true, true, false},
                                        {"SM120_SPARSE_16x8x128_TN_VS", 128, true, true, true}}};

constexpr E narrow[] = {E::e4m3, E::e5m2, E::e2m3, E::e3m2, E::e2m1};

// Type and VS of legal scale factors: how many elements along K have one together. Of a sparse A
// that counts the zeros too.
std::vector<std::string_view> scales_of(const Form& f) {
  if (!f.four_bits) return {f.sparse ? "ue8m0,64" : "ue8m0,32"};
  if (f.sparse) return {"ue8m0,64", "ue8m0,32", "ue4m3,32"};
  return {"ue8m0,32", "ue8m0,16", "ue4m3,16"};
}

std::string example(const Form& f) {
  const std::string_view in = f.four_bits ? "e2m1" : "e4m3";
  return fmt::format("{}<{},{},f32{}{}>", f.name, in, in, f.scaled ? "," : "",
                     f.scaled ? scales_of(f).front() : "");
}

bool among_narrow(std::optional<E> type, bool four_bits) {
  if (!type) return false;
  if (four_bits) return *type == E::e2m1;
  return std::find(std::begin(narrow), std::end(narrow), *type) != std::end(narrow);
}

std::optional<std::string> problem_of(const AtomSpelling& s, const Form& f) {
  const std::size_t count = f.scaled ? 5 : 3;
  if (s.arguments.size() != count) {
    return fmt::format("it takes {} arguments, {}, and here are {}; {} is one.", count,
                       f.scaled ? "<A,B,C,SCALE,VS>" : "<A,B,C>", s.arguments.size(), example(f));
  }
  for (int i : {0, 1}) {
    if (among_narrow(element_named(s.arguments[i]), f.four_bits)) continue;
    return fmt::format("{} of type {}: legal is {}.", i == 0 ? "A" : "B", s.arguments[i],
                       f.four_bits ? "e2m1" : "e4m3 e5m2 e2m3 e3m2 e2m1");
  }
  const std::optional<E> sum = element_named(s.arguments[2]);
  if (sum != E::f32 && (f.scaled || sum != E::f16)) {
    return fmt::format("C of type {}: legal is {}.", s.arguments[2],
                       f.scaled ? "f32" : "f32 or f16");
  }
  if (!f.scaled) return std::nullopt;
  const std::optional<E> scale = element_named(s.arguments[3]);
  const std::string asked =
      fmt::format("{},{}", scale ? name_of(*scale) : s.arguments[3], s.arguments[4]);
  const std::vector<std::string_view> legal = scales_of(f);
  if (std::find(legal.begin(), legal.end(), asked) != legal.end()) return std::nullopt;
  return fmt::format("scale factors {}: legal are {}.", asked, fmt::join(legal, " or "));
}

AtomAnswer make(const AtomSpelling& s) {
  const auto form =
      std::find_if(forms.begin(), forms.end(), [&](const Form& f) { return f.name == s.base; });
  if (form == forms.end()) return std::nullopt;
  if (const std::optional<std::string> problem = problem_of(s, *form)) return no_atom(s, *problem);
  constexpr std::int64_t m = 16, n = 8;
  const E stored = form->four_bits ? E::u4 : E::u8;
  const int bits = bits_of(stored);
  MmaAtom out;
  out.name = AtomName(s.whole);
  out.source = form->sparse ? "cute/atom/mma_traits_sm120_sparse.hpp; PTX ISA mma.sp"
                            : "cute/atom/mma_traits_sm120.hpp; PTX ISA mma.sync";
  out.shape_mnk = make_tuple_of(m, n, form->k);
  out.thr_id = Layout(32, 1);
  const int in_a = form->sparse ? bits / 2 : bits;
  out.a = {stored, Memory::rmem, Major::k, mma_names::rows_in_registers(m, form->k, in_a)};
  if (form->sparse) out.a.sparsity = 2;
  out.b = {stored, Memory::rmem, Major::k, mma_names::rows_in_registers(n, form->k, bits)};
  out.c = {*element_named(s.arguments[2]), Memory::rmem, Major::none,
           mma_names::rows_in_registers(m, n, 16)};
  return Atom(out);
}

void list(std::vector<AtomFamily>& out) {
  for (const Form& f : forms) {
    const std::string scales =
        f.scaled ? fmt::format("; SCALE,VS {}", fmt::join(scales_of(f), " or ")) : "";
    out.push_back(
        {example(f), fmt::format("{}C {}{}", f.four_bits ? "" : "A, B e4m3 e5m2 e2m3 e3m2 e2m1; ",
                                 f.scaled ? "f32" : "f32 f16", scales)});
  }
}

void list_names(std::vector<std::string>& out) {
  for (const Form& f : forms) out.push_back(std::string(f.name));
}

}  // namespace

const AtomMaker sm120_mmas = {make, list, list_names};

}  // namespace tilescope
