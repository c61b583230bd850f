// Bulk copies: TMA boxes between global and shared memory, and plain bulk copies.
//
//     SM90_TMA_LOAD<f16,64,128>        a box of 64 x 128 elements, innermost first
//     SM100_TMA_2SM_LOAD<f16,64,128>   each CTA of a pair loads such a box
//     SM90_BULK_COPY_G2S<f32,256>      1024 bytes in a row
//
// One thread moves the whole box: the atom counts its elements, and how they lie in memory is the
// tensor map's. A box has 1 to 5 extents of 1 to 256 elements, its inner row is a multiple of 16
// bytes; a bulk copy moves a multiple of 16 bytes.
// Source: CuTe, include/cute/atom/copy_traits_sm90_tma.hpp and copy_traits_sm100_tma.hpp (there the
// box is a number of bits); PTX ISA 5.5 (tensors) and 9.7.9.27 (cp.async.bulk.tensor).
#include <fmt/format.h>

#include <charconv>

#include "core/tensor/catalog.h"

namespace tilescope {
namespace {

struct Form {
  std::string_view name;
  const char* source;
  Memory from, to;
  bool box;   // a tensor's box, or bytes in a row
  bool pair;  // by each CTA of a pair
};

constexpr Memory gmem = Memory::gmem, smem = Memory::smem;
constexpr const char* load_source =
    "cute/atom/copy_traits_sm90_tma.hpp; PTX ISA cp.async.bulk.tensor";
constexpr const char* pair_source =
    "cute/atom/copy_traits_sm100_tma.hpp; PTX ISA cp.async.bulk.tensor";
constexpr const char* bulk_source = "cute/atom/copy_traits_sm90_tma.hpp; PTX ISA cp.async.bulk";

constexpr Form forms[] = {{"SM90_TMA_LOAD", load_source, gmem, smem, true, false},
                          {"SM90_TMA_LOAD_MULTICAST", load_source, gmem, smem, true, false},
                          {"SM90_TMA_STORE", load_source, smem, gmem, true, false},
                          {"SM90_TMA_REDUCE_ADD", load_source, smem, gmem, true, false},
                          {"SM100_TMA_2SM_LOAD", pair_source, gmem, smem, true, true},
                          {"SM100_TMA_2SM_LOAD_MULTICAST", pair_source, gmem, smem, true, true},
                          {"SM90_BULK_COPY_G2S", bulk_source, gmem, smem, false, false},
                          {"SM90_BULK_COPY_S2G", bulk_source, smem, gmem, false, false}};

constexpr std::int64_t most_extents = 5, most_extent = 256, grain = 128;  // bits

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return out;
}

// The bits of a box, or why it is none.
Outcome<std::int64_t> bits_of_box(const AtomSpelling& s, const Form& form, ElementType type) {
  const std::size_t extents = s.arguments.size() - 1;
  if (extents < 1 || extents > (form.box ? most_extents : 1)) {
    return no_atom(s, form.box ? "it takes a type and 1 to 5 extents of the box: <f16,64,128>."
                               : "it takes a type and the number of elements: <f32,256>.");
  }
  std::int64_t bits = bits_of(type);
  for (std::size_t i = 1; i <= extents; ++i) {
    const std::optional<std::int64_t> extent = number(s.arguments[i]);
    if (!extent || *extent < 1 || *extent > (form.box ? most_extent : std::int64_t{1} << 20)) {
      return no_atom(s, fmt::format("an extent of {}; they are 1 to {}.", s.arguments[i],
                                    form.box ? most_extent : std::int64_t{1} << 20));
    }
    bits *= *extent;
    if (i == 1 && bits % grain != 0) {
      return no_atom(s, fmt::format("a row of {} bytes; rows are multiples of 16.", bits / 8));
    }
  }
  return bits;
}

AtomAnswer make(const AtomSpelling& s) {
  for (const Form& form : forms) {
    if (form.name != s.base) continue;
    const std::optional<ElementType> type =
        s.arguments.empty() ? std::nullopt : element_named(s.arguments[0]);
    if (!type) {
      return no_atom(s, fmt::format("it takes a type and extents: <f16,64,128>; types are {}.",
                                    element_names()));
    }
    const Outcome<std::int64_t> bits = bits_of_box(s, form, *type);
    if (!bits) return bits.error();
    CopyAtom out;
    out.name = AtomName(s.whole);
    out.source = form.source;
    out.thr_id = form.pair ? Layout(2, 1) : Layout(1, 0);
    out.src_bits = make_layout_of(form.pair ? Layout(2, *bits) : Layout(1, 0), Layout(*bits, 1));
    out.dst_bits = out.ref_bits = out.src_bits;
    out.from = form.from;
    out.to = form.to;
    const Result<CopyAtom> atom = with_values(out, *type);
    if (!atom) return no_atom(s, "its elements cannot be told apart.");
    return Atom(*atom);
  }
  return std::nullopt;
}

void list(std::vector<AtomFamily>& out) {
  for (const Form& form : forms) {
    out.push_back({fmt::format("{}<{}>", form.name, form.box ? "f16,64,128" : "f32,256"),
                   form.box ? "type; 1 to 5 extents of the box, innermost first"
                            : "type; number of elements"});
  }
}

void list_names(std::vector<std::string>& out) {
  for (const Form& form : forms) out.push_back(std::string(form.name));
}

}  // namespace

const AtomMaker bulk_copies = {make, list, list_names};

}  // namespace tilescope
