#include "core/sim/tcgen05/instruction_descriptor.h"

#include <fmt/format.h>

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;

constexpr u32 field(u32 bits, int low, int count) {
  return bits >> low & ((1u << count) - 1);
}

std::optional<DescriptorError> error(u32 bits, std::string_view name, int low, int count,
                                     std::string expected) {
  const std::string where =
      count == 1 ? fmt::format("bit {}", low) : fmt::format("bits {}-{}", low, low + count - 1);
  return DescriptorError{fmt::format("the {} of the instruction descriptor 0x{:08x} ({}) is {}",
                                     name, bits, where, field(bits, low, count)),
                         std::move(expected), fmt::format("{}", field(bits, low, count))};
}

// The types that a kind knows A and B by; nothing where the number has none.
std::optional<ElementType> element(MmaKind kind, u32 code) {
  using T = ElementType;
  switch (kind) {
    case MmaKind::f16:
      if (code < 2) return code == 0 ? T::f16 : T::bf16;
      break;
    case MmaKind::tf32:
      if (code == 2) return T::tf32;
      break;
    case MmaKind::mxf4:
    case MmaKind::mxf4nvf4:
      if (code == 1) return T::e2m1;
      break;
    case MmaKind::f8f6f4:
    case MmaKind::mxf8f6f4: {
      constexpr std::optional<T> types[] = {T::e4m3, T::e5m2, std::nullopt, T::e2m3,
                                            T::e3m2, T::e2m1, std::nullopt, std::nullopt};
      return types[code];
    }
    case MmaKind::i8:
      if (code < 2) return code == 0 ? T::u8 : T::s8;
      break;
    default:
      break;
  }
  return std::nullopt;
}

std::string_view types_of(MmaKind kind) {
  switch (kind) {
    case MmaKind::f16:
      return "0 f16 or 1 bf16";
    case MmaKind::tf32:
      return "2 tf32";
    case MmaKind::mxf4:
    case MmaKind::mxf4nvf4:
      return "1 e2m1";
    case MmaKind::f8f6f4:
    case MmaKind::mxf8f6f4:
      return "0 e4m3, 1 e5m2, 3 e2m3, 4 e3m2 or 5 e2m1";
    default:
      return "0 u8 or 1 s8";
  }
}

bool sum_fits(MmaKind kind, u32 code, ElementType a, ElementType b) {
  if (kind == MmaKind::i8) return code == 2;
  if (code == 1) return true;
  // f16 sums are for f16 and for the narrow types.
  const bool wide = a == ElementType::bf16 || b == ElementType::bf16;
  return code == 0 && kind != MmaKind::tf32 && !wide;
}

bool columns_fit(const MmaForm& form, u32 n) {
  const bool integers = form.kind == MmaKind::i8;
  if (form.pair) return n >= 16 && n <= 256 && n % (integers ? 32 : 16) == 0;
  if (form.ws) return n == 64 || n == 128 || (n == 256 && !form.sparse);
  if (n < 8 || n > 256) return false;
  return !integers || n <= 32 || n % 16 == 0;
}

std::string columns_text(const MmaForm& form) {
  const MmaKind kind = form.kind;
  if (form.pair) {
    return kind == MmaKind::i8 ? "N of 32 to 256 in steps of 32 in two CTAs"
                               : "N of 16 to 256 in steps of 16 in two CTAs";
  }
  if (form.ws && form.sparse) return "N of 64 or 128";
  if (form.ws) return "N of 64, 128 or 256";
  return kind == MmaKind::i8 ? "N of 8, 16, 24, 32, and in steps of 16 to 256"
                             : "N of 8 to 256 in steps of 8";
}

// ---- kinds with scale factors ----

// Elements that share a factor (tables 56 and 57); .block32 is the same as 1X with K 32 and as 2X
// with K 64, .block16 as 4X; and the same with twice as large a K where A is sparse, which has as
// many factors.
u32 scale_block_of(const MmaForm& form) {
  const bool four =
      form.vectors == ptx::ScaleVectors::x4 || form.vectors == ptx::ScaleVectors::block16;
  return (form.kind == MmaKind::mxf4nvf4 && four ? 16 : 32) * (form.sparse ? 2 : 1);
}

// Whether A is sparse the instruction and its descriptor both say.
std::optional<DescriptorError> check_sparsity(u32 bits, const MmaForm& form) {
  if (field(bits, 2, 1) == form.sparse) return std::nullopt;
  return error(bits, "sparsity", 2, 1,
               form.sparse ? "1, as the instruction is .sp" : "0: only .sp is sparse");
}

std::optional<DescriptorError> check_reserved(u32 bits, const MmaForm& form) {
  const MmaKind kind = form.kind;
  const bool ultra = form.ultra && !form.sparse;
  const std::string zero = kind == MmaKind::mxf8f6f4 ? "0 (table 43)" : "0 (table 44)";
  if (field(bits, 0, 2)) return error(bits, "reserved field", 0, 2, zero);
  if (auto wrong = check_sparsity(bits, form)) return wrong;
  for (const int reserved : {3, 6}) {
    if (field(bits, reserved, 1)) return error(bits, "reserved field", reserved, 1, zero);
  }
  if (field(bits, 24, 3)) {
    return error(bits, "reserved field", 24, 3,
                 zero + ": M is 128 or 256, as M >> 7 in bits 27-28");
  }
  if (!field(bits, 31, 1) || (is_packed(kind) && ultra)) return std::nullopt;
  return error(bits, is_packed(kind) ? "K dimension" : "reserved field", 31, 1,
               !is_packed(kind) ? zero
               : form.sparse    ? "0, K 128: with K 96 A is dense (table 39)"
                                : "0, K 64: K 96 is for sm_103a (9.7.16.2.1.1)");
}

// The IDs: bytes of the cells from which factors are taken (9.7.16.10.7.2, 9.7.16.10.7.3).
std::optional<DescriptorError> check_scales(u32 bits, MmaKind kind, const MmaShape& shape) {
  const u32 count = shape.scales();
  for (const int at : {29, 4}) {
    // With K 96 three begin at any byte, six at every other: they run on into the next cell.
    if (field(bits, at, 2) % (count == 3 ? 1 : count == 6 ? 2 : count) == 0) continue;
    return error(bits, at == 4 ? "ID of B's scale factors" : "ID of A's scale factors", at, 2,
                 count != 4 ? fmt::format("0 or 2 with {} factors a row", count)
                            : "0 with four factors a row (.scale_vec::4X)");
  }
  if (field(bits, 23, 1)) return std::nullopt;
  if (kind != MmaKind::mxf4nvf4) {
    return error(bits, "type of the scale factors", 23, 1, "1 ue8m0 (table 57)");
  }
  if (shape.scales() >= 4) return std::nullopt;
  return error(bits, "type of the scale factors", 23, 1,
               "1 ue8m0: 0 ue4m3 is for .scale_vec::4X or .block16 (table 57)");
}

std::optional<DescriptorError> check_transposed(u32 bits, MmaKind kind, const MmaShape& shape,
                                                bool pair) {
  for (const int at : {15, 16}) {
    if (!field(bits, at, 1)) continue;
    const char* name = at == 15 ? "transposition of A" : "transposition of B";
    if (is_packed(kind)) return error(bits, name, at, 1, "0: 4 bits are K-major (table 44)");
    if (bits_of(at == 15 ? shape.a : shape.b) < 8) {
      return error(bits, name, at, 1, "0: elements of 4 and 6 bits are K-major (table 54)");
    }
  }
  const u32 step = pair ? 32 : 16;
  if (!shape.transpose_b || shape.n % step == 0) return std::nullopt;
  return error(bits, "N >> 3", 17, 6,
               fmt::format("N in steps of {} where 8-bit B is transposed (table 52)", step));
}

std::optional<DescriptorError> decode_scaled(u32 bits, const MmaForm& form, MmaShape& out) {
  const MmaKind kind = form.kind;
  const bool pair = form.pair;
  if (auto wrong = check_reserved(bits, form)) return wrong;
  const bool packed = is_packed(kind);
  const std::string types = fmt::format("{} (table {})", types_of(kind), packed ? 44 : 43);
  const std::optional<ElementType> a = element(kind, field(bits, 7, 3)),
                                   b = element(kind, field(bits, 10, packed ? 2 : 3));
  if (!a) return error(bits, "type of A", 7, 3, types);
  if (!b) return error(bits, "type of B", 10, packed ? 2 : 3, types);
  out.m = field(bits, 27, 2) << 7;
  out.n = field(bits, 17, 6) << 3;
  const bool rows_fit = pair ? (out.m == 128 && !form.sparse) || out.m == 256 : out.m == 128;
  if (!rows_fit) {
    return error(bits, "M >> 7", 27, 2,
                 !pair         ? "M of 128 in one CTA with scale factors (table 39)"
                 : form.sparse ? "M of 256 in two CTAs with a sparse A (table 39)"
                               : "M of 128 or 256 in two CTAs (table 39)");
  }
  if (!columns_fit(form, out.n)) {
    return error(bits, "N >> 3", 17, 6, columns_text(form) + " (table 39)");
  }
  out.sparse = form.sparse;
  out.k = field(bits, 31, 1) ? 96 : (packed ? 64 : 32) * (form.sparse ? 2 : 1);
  out.a = *a;
  out.b = *b;
  out.negate_a = field(bits, 13, 1);
  out.negate_b = field(bits, 14, 1);
  out.transpose_a = field(bits, 15, 1);
  out.transpose_b = field(bits, 16, 1);
  out.scale_block = scale_block_of(form);
  out.scale_format = field(bits, 23, 1) ? ScaleFormat::ue8m0 : ScaleFormat::ue4m3;
  out.a_scale_id = field(bits, 29, 2);
  out.b_scale_id = field(bits, 4, 2);
  if (auto wrong = check_transposed(bits, kind, out, pair)) return wrong;
  return check_scales(bits, kind, out);
}

}  // namespace

namespace {

// Of two metadata columns the first or the second, of f16 and tf32; of the others there is one.
std::optional<DescriptorError> check_selector(u32 bits, const MmaForm& form) {
  const u32 selector = field(bits, 0, 2);
  if (!form.sparse && selector) {
    return error(bits, "sparsity selector", 0, 2, "0 without sparsity");
  }
  const bool selects = form.kind == MmaKind::f16 || form.kind == MmaKind::tf32;
  if (!selects && selector) {
    return error(bits, "sparsity selector", 0, 2, "0 (9.7.16.10.8.4.5, 9.7.16.10.8.4.6)");
  }
  if (selector < 2) return std::nullopt;
  return error(bits, "sparsity selector", 0, 2,
               "0 or 1: which columns 2 and 3 select only figures of the PTX ISA say (262 to 265)");
}

}  // namespace

std::optional<DescriptorError> decode(u32 bits, const MmaForm& form, MmaShape& out) {
  const MmaKind kind = form.kind;
  const bool ws = form.ws, pair = form.pair;
  if (is_block_scaled(kind)) return decode_scaled(bits, form, out);
  if (auto wrong = check_sparsity(bits, form)) return wrong;
  if (auto wrong = check_selector(bits, form)) return wrong;
  for (const int reserved : {6, 23, 29}) {
    if (field(bits, reserved, 1)) return error(bits, "reserved field", reserved, 1, "0 (table 42)");
  }
  const bool integers = kind == MmaKind::i8;
  if (field(bits, 3, 1) && !integers) {
    return error(bits, "saturation", 3, 1, "0: only integers saturate (table 42)");
  }
  const std::optional<ElementType> a = element(kind, field(bits, 7, 3)),
                                   b = element(kind, field(bits, 10, 3));
  if (!a) return error(bits, "type of A", 7, 3, fmt::format("{} (table 42)", types_of(kind)));
  if (!b) return error(bits, "type of B", 10, 3, fmt::format("{} (table 42)", types_of(kind)));
  if (!sum_fits(kind, field(bits, 4, 2), *a, *b)) {
    return error(
        bits, "type of D", 4, 2,
        integers ? "2 s32 (table 42)" : "1 f32, or 0 f16 for what is not wider (table 39)");
  }
  for (const int negate : {13, 14}) {
    if (field(bits, negate, 1) && integers) {
      return error(bits, "negation", negate, 1, "0: integers are not negated (table 51)");
    }
  }
  out.m = field(bits, 24, 5) << 4;
  out.n = field(bits, 17, 6) << 3;
  const bool rows_fit =
      pair ? out.m == 128 || out.m == 256 : out.m == 64 || out.m == 128 || (ws && out.m == 32);
  if (!rows_fit) {
    return error(bits, "M >> 4", 24, 5,
                 pair ? "M of 128 or 256 in two CTAs (table 39)"
                 : ws ? "M of 32, 64 or 128 with .ws (table 39)"
                      : "M of 64 or 128 in one CTA (table 39)");
  }
  if (!columns_fit(form, out.n)) {
    return error(bits, "N >> 3", 17, 6, columns_text(form) + " (table 39)");
  }
  if (field(bits, 30, 2) && !ws) {
    return error(bits, "largest shift", 30, 2, "0: it is for .ws (table 42)");
  }
  out.transpose_a = field(bits, 15, 1);
  out.transpose_b = field(bits, 16, 1);
  const bool narrow = kind == MmaKind::f8f6f4 || integers;
  const u32 step = pair ? 32 : 16;
  if (out.transpose_b && narrow && out.n % step) {
    return error(bits, "N >> 3", 17, 6,
                 fmt::format("N in steps of {} where 8-bit B is transposed (table 52)", step));
  }
  out.sparse = form.sparse;
  out.selector = field(bits, 0, 2);
  out.k = (kind == MmaKind::f16 ? 16 : kind == MmaKind::tf32 ? 8 : 32) * (form.sparse ? 2 : 1);
  out.d = integers ? SumType::s32 : field(bits, 4, 2) ? SumType::f32 : SumType::f16;
  out.a = *a;
  out.b = *b;
  out.saturate = field(bits, 3, 1);
  out.negate_a = field(bits, 13, 1);
  out.negate_b = field(bits, 14, 1);
  return std::nullopt;
}

}  // namespace tilescope::sim
