// Copies of one thread: UniversalCopy (ld and st of 8 to 256 bits), cp.async and its zero-filling
// forms, and CuTe's vectorising copies.
//
//     UniversalCopy<u128,f16>               16 bytes at once, in values of f16
//     SM80_CP_ASYNC_CACHEALWAYS<u128,f16>   the same asynchronously, global to shared memory
//
// Source: CuTe, include/cute/atom/copy_traits.hpp, copy_traits_sm80.hpp and
// include/cute/arch/copy_*; PTX ISA 9.7.9.25.3 (cp.async: 4, 8 or 16 bytes; .cg only 16), 9.7.9.8
// (ld: 32 bytes on sm_100).
#include <fmt/format.h>

#include "core/tensor/catalog.h"

namespace tilescope {
namespace {

struct Form {
  std::string_view name;
  const char* source;
  int least, most;  // bits that one instruction may move
  Memory from, to;
};

constexpr Form forms[] = {
    {"UniversalCopy", "cute/arch/copy.hpp, UniversalCopy; PTX ISA ld, st", 8, 256, Memory::gmem,
     Memory::rmem},
    {"SM80_CP_ASYNC_CACHEALWAYS", "cute/atom/copy_traits_sm80.hpp; PTX ISA cp.async.ca", 32, 128,
     Memory::gmem, Memory::smem},
    {"SM80_CP_ASYNC_CACHEGLOBAL", "cute/atom/copy_traits_sm80.hpp; PTX ISA cp.async.cg", 128, 128,
     Memory::gmem, Memory::smem},
    {"SM80_CP_ASYNC_CACHEALWAYS_ZFILL", "cute/atom/copy_traits_sm80.hpp; PTX ISA cp.async.ca", 32,
     128, Memory::gmem, Memory::smem},
    {"SM80_CP_ASYNC_CACHEGLOBAL_ZFILL", "cute/atom/copy_traits_sm80.hpp; PTX ISA cp.async.cg", 128,
     128, Memory::gmem, Memory::smem}};

constexpr Form fixed_256[] = {
    {"SM100_LOAD_256bit_CACHE_NOALLOCATION", "cute/atom/copy_traits_sm100.hpp; PTX ISA ld", 256,
     256, Memory::gmem, Memory::rmem},
    {"SM100_STORE_256bit_CACHE_NOALLOCATION", "cute/atom/copy_traits_sm100.hpp; PTX ISA st", 256,
     256, Memory::rmem, Memory::gmem}};

// One thread, `bits` side by side, whole values of them.
Outcome<Atom> one_thread(const AtomSpelling& s, const Form& form, std::int64_t bits,
                         ElementType value) {
  CopyAtom out;
  out.name = AtomName(s.whole);
  out.source = form.source;
  out.thr_id = Layout(1, 0);
  out.src_bits = make_layout_of(Layout(1, 0), bits == 1 ? Layout(1, 0) : Layout(bits, 1));
  out.dst_bits = out.ref_bits = out.src_bits;
  out.from = form.from;
  out.to = form.to;
  if (bits > 1 && bits % bits_of(value) != 0) {
    return no_atom(s, fmt::format("{} bits are no whole number of {} ({} bits).", bits,
                                  name_of(value), bits_of(value)));
  }
  if (bits == 1) {  // vectorising copies: any number of values, one by one
    out.value = value;
    out.src = out.dst = out.ref = out.src_bits;
    return Atom(out);
  }
  const Result<CopyAtom> atom = with_values(out, value);
  if (!atom) return no_atom(s, "its values cannot be told apart.");
  return Atom(*atom);
}

Outcome<Atom> with_types(const AtomSpelling& s, const Form& form, std::size_t widths) {
  std::vector<ElementType> types;
  for (const std::string_view argument : s.arguments) {
    const std::optional<ElementType> type = element_named(argument);
    if (!type) {
      return no_atom(s, fmt::format("{} is no type; there are {}.", argument, element_names()));
    }
    types.push_back(*type);
  }
  if (types.size() > widths + 1 || types.size() < widths) {
    return no_atom(s, widths == 0 ? "it takes the type of the values, or nothing."
                                  : "it takes what is moved at once, and the type of the values: "
                                    "<u128,f16>.");
  }
  if (widths == 0)
    return one_thread(s, form, form.most, types.empty() ? ElementType::f32 : types[0]);
  const int bits = bits_of(types[0]);
  if (bits < form.least || bits > form.most) {
    return no_atom(s, fmt::format("{} is {} bits, and it moves {}.", name_of(types[0]), bits,
                                  form.least == form.most
                                      ? fmt::format("{} at once", form.most)
                                      : fmt::format("{} to {} at once", form.least, form.most)));
  }
  return one_thread(s, form, bits, types.back());
}

// CuTe's AutoVectorizingCopyWithAssumedAlignment<BITS>: one value in, one value out, as wide as the
// layouts allow when it runs.
AtomAnswer vectorising(const AtomSpelling& s) {
  const bool named = s.base == "AutoVectorizingCopy" || s.base == "DefaultCopy";
  const bool aligned = s.base == "AutoVectorizingCopyWithAssumedAlignment";
  if (!named && !aligned) return std::nullopt;
  const Form form{s.base,
                  "cute/atom/copy_traits.hpp, AutoVectorizingCopyWithAssumedAlignment",
                  1,
                  1,
                  Memory::gmem,
                  Memory::rmem};
  AtomSpelling types = s;
  if (aligned) {
    if (types.arguments.empty()) return no_atom(s, "it takes the alignment in bits: <128>.");
    types.arguments.erase(types.arguments.begin());
  }
  return with_types(types, form, 0);
}

AtomAnswer make(const AtomSpelling& s) {
  if (AtomAnswer answer = vectorising(s)) return answer;
  for (const Form& form : forms) {
    if (form.name == s.base) return with_types(s, form, 1);
  }
  for (const Form& form : fixed_256) {
    if (form.name == s.base) return with_types(s, form, 0);
  }
  return std::nullopt;
}

void list(std::vector<AtomFamily>& out) {
  for (const Form& form : forms) {
    out.push_back(
        {fmt::format("{}<u128,f16>", form.name),
         form.least == form.most
             ? fmt::format("{} bits at once; type of the values", form.most)
             : fmt::format("{} to {} bits at once; type of the values", form.least, form.most)});
  }
  out.push_back({"AutoVectorizingCopy<f16>", "type of the values"});
  for (const Form& form : fixed_256) {
    out.push_back({fmt::format("{}<f32>", form.name), "type of the values"});
  }
}

void list_names(std::vector<std::string>& out) {
  for (const Form& form : forms) out.push_back(std::string(form.name));
  for (const Form& form : fixed_256) out.push_back(std::string(form.name));
  for (const char* name :
       {"AutoVectorizingCopy", "AutoVectorizingCopyWithAssumedAlignment", "DefaultCopy"}) {
    out.push_back(name);
  }
}

}  // namespace

const AtomMaker thread_copies = {make, list, list_names};

}  // namespace tilescope
