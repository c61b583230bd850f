// The language's functions that say something of a layout: properties, memory accesses, bits.
#include <fmt/format.h>

#include <array>

#include "core/language/explain.h"
#include "core/language/functions.h"
#include "core/layout/access.h"
#include "core/layout/analysis.h"
#include "core/layout/bits.h"
#include "core/layout/text.h"

namespace tilescope::language {
namespace {

std::string coordinate_text(const Layout& layout, std::int64_t index) {
  return text(*idx2crd(index, layout.shape()));
}

std::string reason(const Layout& layout, const Truth& truth) {
  using Because = Truth::Because;
  const std::string offset = text(place_in_box(layout, truth.offset));
  switch (truth.because) {
    case Because::strides:
      return "Sorted by stride, each mode steps over all that smaller strides reach.";
    case Because::counted:
      return "Every coordinate was looked at.";
    case Because::broadcast:
      return fmt::format("Leaf {} has {} coordinates and stride 0: all of them share an offset.",
                         truth.mode, text(layout.modes.leaf[truth.mode].shape));
    case Because::pigeonhole:
      return fmt::format("{} coordinates share {} offsets.", truth.a, truth.b);
    case Because::shared:
      return fmt::format("Coordinates {} and {} both have offset {}.",
                         coordinate_text(layout, truth.a), coordinate_text(layout, truth.b),
                         offset);
    case Because::hole:
      return fmt::format("No coordinate has offset {}.", offset);
    case Because::step:
      return fmt::format("Coordinate {} has offset {}, which does not follow the one before it.",
                         coordinate_text(layout, truth.a), truth.offset);
  }
  return "";
}

template <Result<Truth> (*property)(const Layout&)>
Answer ask(const Arguments& a) {
  const Result<Truth> truth = property(a[0].layout);
  if (!truth) return truth.refusal;
  return Value(Verdict{truth->value, reason(a[0].layout, *truth)});
}

Answer broadcast_call(const Arguments& a) {
  const Result<Broadcast> found = broadcast(a[0].layout);
  if (!found) return found.refusal;
  return Value(Facts{{"coordinates", found->coordinates},
                     {"offsets", found->offsets},
                     {"least_owners", found->least},
                     {"most_owners", found->most}});
}

Answer vector_call(const Arguments& a) {
  const Result<VectorAccess> found = widest_vector(a[0].layout, a[1].number);
  if (!found) return found.refusal;
  return Value(
      Facts{{"elements", found->elements}, {"bits", found->bits}, {"along", text(found->along)}});
}

// (L, WIDTH[, ELEMENT]): an element is as wide as the access where nothing else is said.
WarpAccess access_of(const Arguments& a, std::size_t width) {
  const std::int64_t bytes = a[width].number;
  return {bytes, a.size() > width + 1 ? a[width + 1].number : bytes};
}

Answer bank_conflicts_call(const Arguments& a) {
  const Result<BankConflicts> found = bank_conflicts(a[0].layout, access_of(a, 1));
  if (!found) return found.refusal;
  return Value(Facts{{"wavefronts", found->wavefronts},
                     {"ideal", found->ideal},
                     {"excess", found->excess()},
                     {"worst_bank", std::int64_t{found->worst_bank}},
                     {"worst_phase", std::int64_t{found->worst_phase}},
                     {"worst_words", found->worst_words}});
}

Answer coalescing_call(const Arguments& a) {
  const Result<Coalescing> found = coalescing(a[0].layout, access_of(a, 1));
  if (!found) return found.refusal;
  return Value(Facts{{"sectors", found->sectors},
                     {"ideal", found->ideal},
                     {"excess", found->excess()},
                     {"lines", found->lines},
                     {"bytes", found->bytes}});
}

// find_swizzle(L, WIDTH, ELEMENT, P...): the patterns are layouts from lanes to coordinates of L.
std::vector<Layout> patterns_of(const Arguments& a) {
  std::vector<Layout> out;
  for (std::size_t i = 3; i < a.size(); ++i) out.push_back(a[i].layout);
  return out;
}
Answer find_swizzle_call(const Arguments& a) {
  const Result<FoundSwizzle> found =
      find_swizzle(a[0].layout, patterns_of(a), {a[1].number, a[2].number});
  if (!found) return found.refusal;
  return Value(found->swizzle);
}
void find_swizzle_steps(const Arguments& a, Derivation& steps) {
  const Result<FoundSwizzle> found =
      find_swizzle(a[0].layout, patterns_of(a), {a[1].number, a[2].number});
  if (!found) return;
  DerivationStep step;
  step.level = 1;
  step.operation = "search";
  step.result = text(found->swizzle);
  step.sentence = fmt::format(
      "{} swizzles tried: {} wavefronts are ideal; {} more without a swizzle, {} more with {}.",
      found->tried, found->ideal, found->before, found->after, text(found->swizzle));
  step.layout = composition(found->swizzle, a[0].layout).value;
  steps.push_back(std::move(step));
}

Answer to_matrix_call(const Arguments& a) {
  return answer(matrix_of(a[0].layout));
}

// The rows of the matrix, the highest bit of the offset first; the columns are coordinate bits,
// bit 0 on the right.
void matrix_steps(const Arguments& a, Derivation& steps) {
  const Result<Tuple> columns = matrix_of(a[0].layout);
  if (!columns) return;
  std::int64_t all = 0;
  for (int j = 0; j < columns->leaves; ++j) all |= columns->leaf[j].value;
  for (int bit = all > 0 ? detail::log2_of(all) : 0; bit >= 0; --bit) {
    DerivationStep step;
    step.level = 1;
    step.operation = fmt::format("offset bit {}", bit);
    std::string from;
    for (int j = columns->leaves - 1; j >= 0; --j) {
      const bool set = (columns->leaf[j].value >> bit) % 2 != 0;
      step.result += set ? '1' : '0';
      if (set) from = fmt::format("{}{}{}", j, from.empty() ? "" : " ^ ", from);
    }
    step.sentence = from.empty() ? "No coordinate bit." : "Coordinate bits " + from + ".";
    steps.push_back(std::move(step));
  }
}

const std::array table = {
    Function{
        {"injective", "(L)", "whether no two coordinates share an offset"}, "L", ask<injective>},
    Function{{"surjective", "(L)", "whether every offset below cosize(L) is reached"},
             "L",
             ask<surjective>},
    Function{{"compact", "(L)", "whether L reaches each offset below size(L) exactly once"},
             "L",
             ask<compact>},
    Function{{"contiguous", "(L)", "whether L(i) = L(0) + i"}, "L", ask<contiguous>},
    Function{{"broadcast", "(L)", "how many coordinates own each offset"}, "L", broadcast_call},
    Function{{"vector", "(L, ELEMENT_BITS)", "the most elements that one access can move"},
             "LN",
             vector_call},
    Function{{"bank_conflicts", "(L, WIDTH[, ELEMENT])",
              "wavefronts in shared memory of lanes that move WIDTH bytes at elements of L"},
             "LNn",
             bank_conflicts_call},
    Function{{"coalescing", "(L, WIDTH[, ELEMENT])",
              "32-byte sectors in global memory of lanes that move WIDTH bytes at elements of L"},
             "LNn",
             coalescing_call},
    Function{{"find_swizzle", "(L, WIDTH, ELEMENT, LANES[, LANES...])",
              "the swizzle of L with the fewest bank conflicts; LANES map lanes to coordinates"},
             "LNNLlll",
             find_swizzle_call,
             find_swizzle_steps},
    Function{{"to_matrix", "(L)", "the offsets of coordinate bits: L as a matrix over GF(2)"},
             "L",
             to_matrix_call,
             matrix_steps},
    Function{{"from_matrix", "(COLUMNS)", "the layout, with a swizzle where needed, of a matrix"},
             "S",
             [](const Arguments& a) { return answer(layout_of_matrix(a[0].tuple)); }},
};

}  // namespace

std::span<const Function> functions_analysis() {
  return table;
}

}  // namespace tilescope::language
