// Atoms whose operands lie in registers: UniversalFMA, dp4a, and mma.sync of sm_70 to sm_90.
//
// The names are those of CuTe's traits (include/cute/atom/mma_traits_sm61.hpp to _sm90.hpp); the
// layouts follow from the shapes and types in them.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/tensor/catalog.h"
#include "core/tensor/literal.h"
#include "core/tensor/mma_names.h"

namespace tilescope {
namespace {

using namespace literals;
using mma_names::rows_in_registers;

// All of sm_75 to sm_90; the _SATURATE forms of integers are added to them.
constexpr std::array<std::string_view, 62> warp_names = {
    "SM75_16x8x8_F32F16F16F32_TN",
    "SM75_16x8x8_F16F16F16F16_TN",
    "SM75_8x8x16_S32S8S8S32_TN",
    "SM80_16x8x8_F16F16F16F16_TN",
    "SM80_16x8x16_F16F16F16F16_TN",
    "SM80_16x8x8_F32F16F16F32_TN",
    "SM80_16x8x16_F32F16F16F32_TN",
    "SM80_16x8x8_F32BF16BF16F32_TN",
    "SM80_16x8x16_F32BF16BF16F32_TN",
    "SM80_16x8x4_F32TF32TF32F32_TN",
    "SM80_16x8x8_F32TF32TF32F32_TN",
    "SM80_8x8x4_F64F64F64F64_TN",
    "SM80_8x8x4_C64C64C64C64_TN",
    "SM80_8x8x4_GC64C64C64GC64_TN",
    "SM80_8x8x16_S32S8S8S32_TN",
    "SM80_16x8x16_S32S8S8S32_TN",
    "SM80_16x8x32_S32S8S8S32_TN",
    "SM80_8x8x16_S32S8U8S32_TN",
    "SM80_16x8x16_S32S8U8S32_TN",
    "SM80_16x8x32_S32S8U8S32_TN",
    "SM80_8x8x16_S32U8S8S32_TN",
    "SM80_16x8x16_S32U8S8S32_TN",
    "SM80_16x8x32_S32U8S8S32_TN",
    "SM80_8x8x16_S32U8U8S32_TN",
    "SM80_16x8x16_S32U8U8S32_TN",
    "SM80_16x8x32_S32U8U8S32_TN",
    "SM80_8x8x32_S32S4S4S32_TN",
    "SM80_16x8x32_S32S4S4S32_TN",
    "SM80_16x8x64_S32S4S4S32_TN",
    "SM80_8x8x32_S32S4U4S32_TN",
    "SM80_16x8x32_S32S4U4S32_TN",
    "SM80_16x8x64_S32S4U4S32_TN",
    "SM80_8x8x32_S32U4S4S32_TN",
    "SM80_16x8x32_S32U4S4S32_TN",
    "SM80_16x8x64_S32U4S4S32_TN",
    "SM80_8x8x32_S32U4U4S32_TN",
    "SM80_16x8x32_S32U4U4S32_TN",
    "SM80_16x8x64_S32U4U4S32_TN",
    "SM80_8x8x128_S32U1U1S32_TN_XORPOPC",
    "SM80_16x8x128_S32U1U1S32_TN_XORPOPC",
    "SM80_16x8x256_S32U1U1S32_TN_XORPOPC",
    "SM80_8x8x128_S32U1U1S32_TN_ANDPOPC",
    "SM80_16x8x128_S32U1U1S32_TN_ANDPOPC",
    "SM80_16x8x256_S32U1U1S32_TN_ANDPOPC",
    "SM89_16x8x32_F32E4M3E4M3F32_TN",
    "SM89_16x8x32_F32E4M3E5M2F32_TN",
    "SM89_16x8x32_F32E5M2E4M3F32_TN",
    "SM89_16x8x32_F32E5M2E5M2F32_TN",
    "SM89_16x8x32_F16E4M3E4M3F16_TN",
    "SM89_16x8x32_F16E4M3E5M2F16_TN",
    "SM89_16x8x32_F16E5M2E4M3F16_TN",
    "SM89_16x8x32_F16E5M2E5M2F16_TN",
    "SM90_16x8x4_F64F64F64F64_TN",
    "SM90_16x8x8_F64F64F64F64_TN",
    "SM90_16x8x16_F64F64F64F64_TN",
    "SM90_16x8x4_C64C64C64C64_TN",
    "SM90_16x8x8_C64C64C64C64_TN",
    "SM90_16x8x16_C64C64C64C64_TN",
    "SM61_DP4A",
    "SM61_DP2A",
    "SM100_2x1x1_F32F32F32F32",
    "SM100_1x2x1_F32F32F32F32",
};

constexpr std::array<std::string_view, 8> volta_names = {
    "SM70_8x8x4_F16F16F16F16_TN", "SM70_8x8x4_F16F16F16F16_NT", "SM70_8x8x4_F16F16F16F16_NN",
    "SM70_8x8x4_F16F16F16F16_TT", "SM70_8x8x4_F32F16F16F32_TN", "SM70_8x8x4_F32F16F16F32_NT",
    "SM70_8x8x4_F32F16F16F32_NN", "SM70_8x8x4_F32F16F16F32_TT"};

bool has_saturating_form(std::string_view name) {
  return name.substr(0, 5) == "SM80_" && name.find("_S32") != std::string_view::npos &&
         name.find("U1U1") == std::string_view::npos;
}

const char* source_of(std::string_view name) {
  if (name.substr(0, 4) == "SM61") return "cute/atom/mma_traits_sm61.hpp; PTX ISA dp4a, dp2a";
  if (name.substr(0, 4) == "SM75") return "cute/atom/mma_traits_sm75.hpp; PTX ISA mma.sync";
  if (name.substr(0, 4) == "SM80") return "cute/atom/mma_traits_sm80.hpp; PTX ISA mma.sync";
  if (name.substr(0, 4) == "SM89") return "cute/atom/mma_traits_sm89.hpp; PTX ISA mma.sync";
  return "cute/atom/mma_traits_sm90.hpp; PTX ISA mma.sync";
}

MmaAtom atom_of(std::string_view name, const Tuple& shape) {
  MmaAtom out;
  out.name = name;
  out.source = source_of(name);
  out.shape_mnk = shape;
  return out;
}

// SM80_16x8x16_F32F16F16F32_TN, its shape and types already read.
MmaAtom warp_atom(std::string_view name, const Tuple& shape,
                  const std::vector<ElementType>& types) {
  MmaAtom out = atom_of(name, shape);
  out.thr_id = Layout(32, 1);
  const std::int64_t m = out.extent(0), n = out.extent(1), k = out.extent(2);
  const int bits = bits_of(types[1]);
  out.a = {types[1], Memory::rmem, Major::k, rows_in_registers(m, k, bits)};
  out.b = {types[2], Memory::rmem, Major::k, rows_in_registers(n, k, bits)};
  // Accumulators lie two side by side, as 16-bit operands do, whatever their width.
  out.c = {types[0], Memory::rmem, Major::none, rows_in_registers(m, n, 16)};
  return out;
}

// Volta's mma works on quad-pairs: threads 0..3 and 16..19 of a warp, and so on. PTX ISA 9.7.14.5.1
// (figures for .row and .col, .f16 and .f32).
MmaAtom volta_atom(std::string_view name, const std::vector<ElementType>& types,
                   std::string_view order) {
  constexpr Layout quad_pair = "(4,2):(1,16)"_layout;
  constexpr Layout row = "(8,4):(1,8)"_layout, column = "((4,2),4):((8,4),1)"_layout;
  constexpr Layout c16 = "(8,8):(1,8)"_layout;
  constexpr Layout c32 = "((2,2,2),(2,2,2)):((1,16,4),(8,2,32))"_layout;
  MmaAtom out = atom_of(name, make_tuple_of(8, 8, 4));
  out.source = "cute/atom/mma_traits_sm70.hpp; PTX ISA mma.sync.m8n8k4";
  out.thr_id = quad_pair;
  const bool a_rows = order[0] == 'T', b_rows = order[1] == 'N';
  out.a = {types[1], Memory::rmem, a_rows ? Major::k : Major::mn, a_rows ? row : column};
  out.b = {types[2], Memory::rmem, b_rows ? Major::k : Major::mn, b_rows ? row : column};
  out.c = {types[0], Memory::rmem, Major::none, bits_of(types[0]) == 16 ? c16 : c32};
  return out;
}

// One thread's multiply-add, and dp4a's sum of four products.
MmaAtom thread_atom(std::string_view name, std::int64_t k, ElementType in, ElementType sum) {
  MmaAtom out = atom_of(name, make_tuple_of(1, 1, k));
  out.thr_id = Layout(1, 0);
  const Layout one = make_layout_of(Layout(1, 0), Layout(1, 0));
  const Layout row = make_layout_of(Layout(1, 0), k == 1 ? Layout(1, 0) : Layout(k, 1));
  out.a = {in, Memory::rmem, Major::none, row};
  out.b = {in, Memory::rmem, Major::none, row};
  out.c = {sum, Memory::rmem, Major::none, one};
  return out;
}

// Two rows or two columns of one thread at once: fma.rn.f32x2 (CuTe, mma_traits_sm100.hpp).
MmaAtom pair_atom(std::string_view name, bool rows) {
  MmaAtom out = thread_atom(name, 1, ElementType::f32, ElementType::f32);
  out.source = "cute/atom/mma_traits_sm100.hpp; PTX ISA fma.f32x2";
  const Layout two = make_layout_of(Layout(1, 0), Layout(2, 1));
  out.shape_mnk = rows ? make_tuple_of(2, 1, 1) : make_tuple_of(1, 2, 1);
  (rows ? out.a : out.b).tv = two;
  out.c.tv = two;
  return out;
}

// UniversalFMA<D[,A,B,C]>: the types left out are as the first.
Outcome<Atom> universal(const AtomSpelling& s) {
  std::vector<ElementType> types;
  for (const std::string_view argument : s.arguments) {
    const std::optional<ElementType> type = element_named(argument);
    if (!type) {
      return no_atom(s, fmt::format("{} is no type; there are {}.", argument, element_names()));
    }
    types.push_back(*type);
  }
  if (types.empty() || types.size() > 4) {
    return no_atom(s, "it takes the types of D, A, B and C, or one for all: UniversalFMA<f32>.");
  }
  while (types.size() < 4) types.push_back(types[0]);
  MmaAtom out = thread_atom(s.whole, 1, types[1], types[0]);
  out.b.type = types[2];
  out.source = "cute/arch/mma.hpp, UniversalFMA: fma of one thread";
  return Atom(out);
}

bool known(std::string_view name) {
  constexpr std::string_view saturate = "_SATURATE";
  if (name.size() > saturate.size() && name.substr(name.size() - saturate.size()) == saturate) {
    name.remove_suffix(saturate.size());
    if (!has_saturating_form(name)) return false;
  }
  return std::find(warp_names.begin(), warp_names.end(), name) != warp_names.end();
}

AtomAnswer make(const AtomSpelling& s) {
  if (s.base == "UniversalFMA") return universal(s);
  const std::string_view generation = s.base.substr(0, 4);
  if ((generation == "SM80" || generation == "SM89") && s.base.find("SPARSE") != s.base.npos) {
    return no_atom(
        s,
        "CuTe has no atoms of mma.sp before sm_90; SM90_SPARSE_64x64x32_F32F16F16_SS<K,K> "
        "and SM120_SPARSE_16x8x64_TN<e4m3,e4m3,f32> are sparse ones.");
  }
  const bool volta = std::find(volta_names.begin(), volta_names.end(), s.base) != volta_names.end();
  if (!volta && !known(s.base)) return std::nullopt;
  if (!s.arguments.empty()) return no_atom(s, "this atom has no arguments.");
  if (s.base == "SM61_DP4A") return Atom(thread_atom(s.base, 4, ElementType::s8, ElementType::s32));
  if (s.base == "SM61_DP2A")
    return Atom(thread_atom(s.base, 2, ElementType::s16, ElementType::s32));
  if (s.base == "SM100_2x1x1_F32F32F32F32") return Atom(pair_atom(s.base, true));
  if (s.base == "SM100_1x2x1_F32F32F32F32") return Atom(pair_atom(s.base, false));
  std::string_view rest = s.base.substr(5);
  const std::optional<Tuple> shape = mma_names::take_shape(rest);
  mma_names::take(rest, "_");
  const std::vector<ElementType> types = mma_names::take_types(rest);
  if (!shape || types.size() < 3) return std::nullopt;
  mma_names::take(rest, "_");
  return Atom(volta ? volta_atom(s.base, types, rest) : warp_atom(s.base, *shape, types));
}

void list(std::vector<AtomFamily>& out) {
  out.push_back({"UniversalFMA<f32>", "types of D, A, B, C"});
  for (const std::string_view name : {warp_names[58], warp_names[59]}) {
    out.push_back({std::string(name), ""});
  }
  for (const std::string_view name : volta_names) out.push_back({std::string(name), ""});
  for (const std::string_view name : warp_names) {
    if (name.substr(0, 4) == "SM61") continue;
    out.push_back({std::string(name), has_saturating_form(name) ? "also _SATURATE" : ""});
  }
}

void list_names(std::vector<std::string>& out) {
  out.push_back("UniversalFMA");
  for (const std::string_view name : volta_names) out.push_back(std::string(name));
  for (const std::string_view name : warp_names) {
    out.push_back(std::string(name));
    if (has_saturating_form(name)) out.push_back(std::string(name) + "_SATURATE");
  }
}

}  // namespace

const AtomMaker register_mmas = {make, list, list_names};

}  // namespace tilescope
