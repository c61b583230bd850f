// The language's functions of TIRx's layouts: owners, shared memory, and to and from CuTe.
#include <array>

#include "core/language/functions.h"
#include "core/tensor/element.h"

namespace tilescope::language {
namespace {

using Rule = Refusal::Rule;

Answer to_cute_call(const Arguments& a) {
  const Result<Slice> made = to_cute(*a[0].tile, a.size() == 2 ? a[1].tuple : Tuple{});
  if (!made) return made.refusal;
  return made->offset.zero() ? Value(made->layout) : Value(*made);
}

Answer to_tirx_call(const Arguments& a) {
  const Slice* slice = std::get_if<Slice>(&a[0].value);
  return shared(to_tirx(slice ? *slice : Slice{a[0].layout, {}}));
}

// 128B: the bytes of a row of the swizzle's atom.
Answer tma_shared_layout_call(const Arguments& a) {
  const std::optional<ElementType> type = element_named(a[0].word);
  if (!type) return Refusal{Rule::unknown_type, -1, 0, 0, 0};
  const std::string& mode = a[1].word;
  const std::int64_t bytes = mode == "32B" ? 32 : mode == "64B" ? 64 : mode == "128B" ? 128 : 0;
  if (bytes == 0) return Refusal{Rule::swizzle_mode, -1, 1, 0, 0};
  return shared(tma_shared_layout(bits_of(*type), bytes, a[2].tuple));
}

const std::array table = {
    Function{{"owners", "(X, ELEMENT)", "all places of an element of a TIRx layout"},
             "DS",
             [](const Arguments& a) { return answer(owners(*a[0].tile, a[1].tuple)); }},
    Function{{"to_cute", "(X[, SHAPE])", "the CuTe layout with the same places, by modes of SHAPE"},
             "Ds",
             to_cute_call},
    Function{{"to_tirx", "(L)", "the TIRx layout with the same places"}, "L", to_tirx_call},
    Function{{"tma_shared_layout", "(TYPE, MODE, SHAPE)",
              "shared memory as TMA fills it, swizzled in rows of 32B, 64B or 128B"},
             "WWS",
             tma_shared_layout_call},
};

}  // namespace

std::span<const Function> functions_tirx() {
  return table;
}

}  // namespace tilescope::language
