// Copies of a warp between shared memory and registers, 8x8 matrices at a time: ldmatrix, stmatrix,
// movmatrix and the shuffles that CuTe makes of shfl.
//
//     SM75_U32x4_LDSM_N        four matrices of 16-bit elements; each lane names one row
//     SM75_U16x8_LDSM_T        the same, transposed on the way (.trans)
//     SM90_U32x4_STSM_N<f32>   the value type is f16 where nothing is said
//
// Every lane gives the address of a row of 16 bytes (x1: lanes 0..7, x2: 0..15; the others' rows
// are not used: stride 0), and every lane holds a register of each matrix. A store is its load the
// other way round.
// Source: CuTe, include/cute/atom/copy_traits_sm50.hpp, _sm75.hpp, _sm90.hpp, _sm100.hpp; PTX ISA
// 9.7.14.5.15 to .17 (ldmatrix, stmatrix, movmatrix).
#include <fmt/format.h>

#include "core/tensor/catalog.h"
#include "core/tensor/literal.h"

namespace tilescope {
namespace {

using namespace literals;

// Rows in shared memory, by the number of matrices.
constexpr Layout rows_x1 = "((8,4),128):((128,0),1)"_layout;
constexpr Layout rows_x2 = "((16,2),128):((128,0),1)"_layout;
constexpr Layout rows_x4 = "(32,128):(128,1)"_layout;

// Registers: a lane holds 32 bits of each matrix, in a row; transposed, of a column, 16 bits each.
constexpr Layout registers_x1 = "(32,32):(32,1)"_layout;
constexpr Layout registers_x2 = "(32,(32,2)):(32,(1,1024))"_layout;
constexpr Layout registers_x4 = "(32,(32,4)):(32,(1,1024))"_layout;
constexpr Layout columns_x1 = "((4,8),(16,2)):((256,16),(1,128))"_layout;
constexpr Layout columns_x2 = "((4,8),(16,2,2)):((256,16),(1,128,1024))"_layout;
constexpr Layout columns_x4 = "((4,8),(16,2,4)):((256,16),(1,128,1024))"_layout;

// Bytes transposed (.b8.trans, m16n16): rows in the order in which their addresses are given.
constexpr Layout byte_rows_x1 = "((2,2,4,2),128):((128,1024,256,0),1)"_layout;
constexpr Layout byte_rows_x2 = "((2,2,4,2),128):((128,1024,256,2048),1)"_layout;
constexpr Layout byte_columns_x1 = "((4,8),(8,2,2)):((256,8),(1,128,64))"_layout;
constexpr Layout byte_columns_x2 = "((4,8),(8,2,2,2)):((256,8),(1,128,64,1024))"_layout;
constexpr Layout byte_columns_x4 = "((4,8),(8,2,2,4)):((256,8),(1,128,64,1024))"_layout;

constexpr Layout pair = "(32,64):(64,1)"_layout;
constexpr Layout pair_xor1 = "((2,16),(32,2)):((32,128),(1,64))"_layout;
constexpr Layout pair_xor4 = "((4,2,4),(32,2)):((64,32,512),(1,256))"_layout;

struct Form {
  std::string_view name;
  const Layout &src, &dst;
  Memory from, to;
  ElementType value;  // where nothing is said
};

constexpr Memory smem = Memory::smem, rmem = Memory::rmem;
constexpr ElementType f16 = ElementType::f16, byte = ElementType::e4m3, word = ElementType::u32;

constexpr Form forms[] = {{"SM75_U32x1_LDSM_N", rows_x1, registers_x1, smem, rmem, f16},
                          {"SM75_U32x2_LDSM_N", rows_x2, registers_x2, smem, rmem, f16},
                          {"SM75_U32x4_LDSM_N", rows_x4, registers_x4, smem, rmem, f16},
                          {"SM75_U16x2_LDSM_T", rows_x1, columns_x1, smem, rmem, f16},
                          {"SM75_U16x4_LDSM_T", rows_x2, columns_x2, smem, rmem, f16},
                          {"SM75_U16x8_LDSM_T", rows_x4, columns_x4, smem, rmem, f16},
                          {"SM75_U32x1_MOVM_T", registers_x1, registers_x1, rmem, rmem, f16},
                          {"SM90_U32x1_STSM_N", registers_x1, rows_x1, rmem, smem, f16},
                          {"SM90_U32x2_STSM_N", registers_x2, rows_x2, rmem, smem, f16},
                          {"SM90_U32x4_STSM_N", registers_x4, rows_x4, rmem, smem, f16},
                          {"SM90_U16x2_STSM_T", columns_x1, rows_x1, rmem, smem, f16},
                          {"SM90_U16x4_STSM_T", columns_x2, rows_x2, rmem, smem, f16},
                          {"SM90_U16x8_STSM_T", columns_x4, rows_x4, rmem, smem, f16},
                          {"SM100_U8x8_LDSM_T", byte_rows_x1, byte_columns_x2, smem, rmem, byte},
                          {"SM100_U8x16_LDSM_T", byte_rows_x2, byte_columns_x4, smem, rmem, byte},
                          {"SM100_SU4_DU8x16_x1_LDSM_N", rows_x1, registers_x1, smem, rmem, byte},
                          {"SM100_SU6_DU8x16_x1_LDSM_N", rows_x1, registers_x1, smem, rmem, byte},
                          {"SM100_SU4_DU8x16_x2_LDSM_N", rows_x2, registers_x2, smem, rmem, byte},
                          {"SM100_SU6_DU8x16_x2_LDSM_N", rows_x2, registers_x2, smem, rmem, byte},
                          {"SM100_SU4_DU8x16_x4_LDSM_N", rows_x4, registers_x4, smem, rmem, byte},
                          {"SM100_SU6_DU8x16_x4_LDSM_N", rows_x4, registers_x4, smem, rmem, byte},
                          {"SM100_U8x4_STSM_T", byte_columns_x1, rows_x1, rmem, smem, byte},
                          {"SM100_U8x8_STSM_T", byte_columns_x2, rows_x2, rmem, smem, byte},
                          {"SM100_U8x16_STSM_T", byte_columns_x4, rows_x4, rmem, smem, byte},
                          {"SM50_Shuffle_U32_2x2Trans_XOR1", pair, pair_xor1, rmem, rmem, word},
                          {"SM50_Shuffle_U32_2x2Trans_XOR4", pair, pair_xor4, rmem, rmem, word}};

const char* source_of(std::string_view name) {
  if (name.substr(0, 4) == "SM50") return "cute/atom/copy_traits_sm50.hpp; PTX ISA shfl.sync";
  if (name.find("MOVM") != std::string_view::npos) {
    return "cute/atom/copy_traits_sm75.hpp; PTX ISA movmatrix";
  }
  if (name.substr(0, 4) == "SM75") return "cute/atom/copy_traits_sm75.hpp; PTX ISA ldmatrix";
  if (name.substr(0, 4) == "SM90") return "cute/atom/copy_traits_sm90.hpp; PTX ISA stmatrix";
  return name.find("LDSM") != std::string_view::npos
             ? "cute/atom/copy_traits_sm100.hpp; PTX ISA ldmatrix"
             : "cute/atom/copy_traits_sm100.hpp; PTX ISA stmatrix";
}

AtomAnswer make(const AtomSpelling& s) {
  for (const Form& form : forms) {
    if (form.name != s.base) continue;
    std::optional<ElementType> value = form.value;
    if (s.arguments.size() == 1) value = element_named(s.arguments[0]);
    if (s.arguments.size() > 1 || !value) {
      return no_atom(s, fmt::format("it takes the type of the values, or nothing: <{}>; types are "
                                    "{}.",
                                    name_of(form.value), element_names()));
    }
    CopyAtom out;
    out.name = AtomName(s.whole);
    out.source = source_of(form.name);
    out.thr_id = Layout(32, 1);
    out.src_bits = form.src;
    out.dst_bits = form.dst;
    // The registers' side is what a tiled copy speaks of; between registers it is the source's,
    // and movmatrix's both.
    out.ref_bits = form.to == Memory::rmem && form.from == Memory::smem ? form.dst : form.src;
    out.from = form.from;
    out.to = form.to;
    const Result<CopyAtom> atom = with_values(out, *value);
    if (!atom) {
      return no_atom(
          s, fmt::format("values of {} bits would be torn apart between lanes.", bits_of(*value)));
    }
    return Atom(*atom);
  }
  return std::nullopt;
}

void list(std::vector<AtomFamily>& out) {
  for (const Form& form : forms) out.push_back({std::string(form.name), "type of the values"});
}

void list_names(std::vector<std::string>& out) {
  for (const Form& form : forms) out.push_back(std::string(form.name));
}

}  // namespace

const AtomMaker matrix_copies = {make, list, list_names};

}  // namespace tilescope
