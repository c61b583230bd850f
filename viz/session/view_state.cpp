#include "viz/session/view_state.h"

#include <algorithm>

#include "viz/session/files.h"

namespace tilescope {
namespace {

// Does not compile where ViewState has another number of fields than this names. A new one gets its
// row in each_field(), and where a command chooses it a line in viz/commands/rebuild.cpp.
[[maybe_unused]] constexpr std::size_t fields_of(const ViewState& state) {
  [[maybe_unused]] const auto& [view, layout, layout_text, colour, isolate, selected, coordinates,
                                study, kernel, options, result, matrices, compare, diff, file,
                                element, only_wrong, timeline, theatre, why, product,
                                timeline_choice, moment, spot, breakpoints, live, memory, baseline,
                                comparison, baseline_timeline, baseline_rows, beside_baseline,
                                lesson, exercise, dark, settings] = state;
  return 36;
}

constexpr std::size_t rows() {
  std::size_t out = 0;
  each_field([&out](auto...) { ++out; });
  return out;
}
static_assert(rows() == 36, "each_field() has a row for each field of ViewState");

// A view follows from its text and the study; what was chosen by hand and what is usual is the same
// colour.
bool same_layout(const ViewState& a, const ViewState& b) {
  if (!a.layout || !b.layout) return a.layout == b.layout && a.colour == b.colour;
  LayoutChoice of_a, of_b;
  of_a.colour = a.colour;
  of_b.colour = b.colour;
  return a.layout_text == b.layout_text && a.study == b.study &&
         a.layout->colour(of_a) == b.layout->colour(of_b);
}

// A kernel's inputs follow from its options, but for those that files hold: a file may have changed
// since.
bool same_kernel(const ViewState& a, const ViewState& b) {
  if (a.kernel == b.kernel && a.matrices == b.matrices) return true;
  const auto reads = [](const auto& option) { return names_file(option.second); };
  return a.kernel && b.kernel && !a.result && !b.result && a.kernel->name == b.kernel->name &&
         !names_file(a.kernel->name) && std::none_of(a.options.begin(), a.options.end(), reads);
}

// Every other field by itself.
template <class Field>
bool same(const ViewState& a, const ViewState& b, Field ViewState::*field) {
  const void* by_itself = &(a.*field);
  const auto is = [&](const auto& one) { return by_itself == &one; };
  if (is(a.layout_text) || is(a.colour) || is(a.study)) return same_layout(a, b);
  if (is(a.kernel)) return same_kernel(a, b);
  return a.*field == b.*field;
}

}  // namespace

bool operator==(const ViewState& a, const ViewState& b) {
  bool out = true;
  each_field([&](const char*, auto field, Kept kept) {
    out = out && (kept == Kept::follows || same(a, b, field));
  });
  return out;
}

}  // namespace tilescope
