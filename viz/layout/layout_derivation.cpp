#include "viz/layout/layout_derivation.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/layout/text.h"
#include "viz/layout/layout_statements.h"
#include "viz/layout/layout_view.h"

namespace tilescope {
namespace {

constexpr std::size_t most_linked = std::size_t{1} << 18;  // cells that are found by their offset

// What the outermost call was given, read back from the text of its step.
struct Given {
  std::string operation;
  std::vector<Value> operands;
};
std::optional<Given> given_to(const DerivationStep& call) {
  Given out{call.operation, {}};
  std::vector<std::string_view> texts;
  const std::string_view all = call.operands;
  const std::size_t circle = all.find(" o ");
  if (call.operation == "o" && circle != all.npos) {
    texts = {all.substr(0, circle), all.substr(circle + 3)};
  } else {
    texts = split_outside(all, ',');
  }
  Scope scope;
  for (const std::string_view text : texts) {
    const std::optional<Value> value = value_of(scope, text);
    if (!value) return std::nullopt;
    out.operands.push_back(*value);
  }
  return out;
}

std::optional<Tiler> tiler_in(const Value& value) {
  if (const Tiler* tiler = std::get_if<Tiler>(&value)) return *tiler;
  if (const Layout* layout = std::get_if<Layout>(&value)) return Tiler(*layout);
  if (const Tuple* shape = std::get_if<Tuple>(&value)) return Tiler(*shape);
  return std::nullopt;
}

const Layout* concrete_layout(const Value& value) {
  const Layout* layout = std::get_if<Layout>(&value);
  return layout != nullptr && layout->concrete() && !layout->modes.empty() ? layout : nullptr;
}

// The coordinates of `input` that a tiler takes, as a layout of indices.
std::optional<Layout> coordinates_taken(const Layout& input, const Tiler& tiler) {
  const Result<Layout> indices = make_layout(input.shape());
  if (!indices) return std::nullopt;
  const Result<Layout> taken = composition(*indices, tiler);
  return taken ? std::optional<Layout>(*taken) : std::nullopt;
}

// The same step of a division of `keys` instead of the input: what it shows there are elements,
// also where the tiles do not divide the input evenly and an offset beyond it is another element's.
// Only where the algebra takes the same way with both.
std::optional<DerivationStep> step_of_keys(const Given& given, const Tiler& tiler,
                                           const Layout& keys, const Derivation& steps,
                                           std::size_t shown) {
  const Derivation all =
      derivation_of(fmt::format("{}({}, {})", given.operation, text(keys), text(tiler)));
  if (all.size() != steps.size() || !all[shown].layout || !steps[shown].layout) return std::nullopt;
  const DerivationStep &step = steps[shown], &keyed = all[shown];
  const bool same = keyed.operation == step.operation &&
                    keyed.through.has_value() == step.through.has_value() &&
                    keyed.layout->shape() == step.layout->shape();
  return same ? std::optional(keyed) : std::nullopt;
}

// What stands before the result of an operation, besides its steps.
struct Before {
  std::string title, axes;
  Layout layout;
  std::optional<Layout> through;
};

// Of the operations whose result is in the same memory as their input: what they were given.
std::optional<std::vector<Before>> before_result(const Given& given, const Layout& result) {
  const std::vector<Value>& a = given.operands;
  if (a.empty()) return std::nullopt;
  std::vector<Before> out;
  if (const Swizzle* swizzle = std::get_if<Swizzle>(&a[0]);
      swizzle != nullptr && a.size() == 2 && concrete_layout(a[1]) != nullptr) {
    // An element keeps its coordinate and moves to another offset.
    const Result<std::int64_t> reach = cosize(result);
    Layout move(reach ? *reach : 1, 1);
    move.swizzle = *swizzle;
    out.push_back({"Input", "offsets before the swizzle", *concrete_layout(a[1]), move});
    return out;
  }
  const Layout* input = concrete_layout(a[0]);
  if (input == nullptr) return std::nullopt;
  const std::string_view name = given.operation;
  if (name == "composition" || name == "o") {
    if (a.size() != 2) return std::nullopt;
    out.push_back({"Left side", "from coordinates to offsets", *input, {}});
    if (const Layout* right = concrete_layout(a[1])) {
      out.push_back({"Right side", "its values are coordinates of the left", *right, *input});
    } else if (const std::optional<Tiler> tiler = tiler_in(a[1])) {
      const std::optional<Layout> taken = coordinates_taken(*input, *tiler);
      if (taken) out.push_back({"Tiler", "the coordinates that it takes", *taken, *input});
    }
    return out;
  }
  const bool inverse = name == "right_inverse" || name == "left_inverse";
  const bool same = one_of(name, {"coalesce", "filter", "complement", "flatten", "upcast",
                                  "downcast", "select", "group", "take"});
  if (!inverse && !same) return std::nullopt;
  out.push_back({"Input", "", *input, {}});
  return out;
}

}  // namespace

bool only_moves(const std::optional<Layout>& through) {
  return through && through->swizzle.bits > 0 && through->rank() == 1 &&
         through->modes.leaves == 1 && through->modes.leaf[0].stride == 1 && through->offset.is(0);
}

Derivation derivation_of(std::string_view expression) {
  Scope scope;
  Derivation all;
  const std::optional<Evaluated> result = scope.explain(expression, all);
  if (!result || std::holds_alternative<Problem>(*result)) return {};
  // Arguments are evaluated first, so the last call is the outermost. A statement that only names
  // what an earlier one bound is shown as that one's value.
  const std::string_view last = split_outside(expression, ';').back();
  const Bindings bindings = bindings_of(expression);
  const auto bound = bindings.find(last);
  const std::string_view meant = bound == bindings.end() ? last : bound->second;
  if (!call_of(meant) && meant.find(" o ") == meant.npos) return {};
  const auto first = std::find_if(all.rbegin(), all.rend(),
                                  [](const DerivationStep& step) { return step.level == 0; });
  return first == all.rend() ? Derivation{} : Derivation(first.base() - 1, all.end());
}

std::string step_text(const DerivationStep& step) {
  std::string out = step.operation;
  if (!step.operands.empty()) out += " " + step.operands;
  if (!step.result.empty()) out += " = " + step.result;
  return out;
}

void LayoutView::insert_panel(std::size_t at, std::string title, std::string axes,
                              const Layout& layout, const std::optional<Layout>& through) {
  add_panel(std::move(title), axes.empty() ? axes_of(layout) : std::move(axes), layout);
  panels_.back().through = through;
  std::rotate(panels_.begin() + static_cast<std::ptrdiff_t>(at), panels_.end() - 1, panels_.end());
}

std::optional<Error> LayoutView::add_step(std::size_t at, const DerivationStep& step) {
  if (!step.layout || !plain(*step.layout)) return std::nullopt;  // told in words alone
  insert_panel(at, step.operation, step.through ? "coordinates of the input" : "offsets",
               *step.layout, step.through);
  remark(fmt::format("{}: {}", step_text(step), step.sentence));
  return std::nullopt;
}

Outcome<LayoutView> LayoutView::derived(std::string_view expression, const Derivation& steps,
                                        std::size_t shown) {
  if (steps.empty()) return refused("There is no operation whose steps could be shown.");
  const std::optional<Given> given = given_to(steps.front());
  const Layout* result = steps.front().layout ? &*steps.front().layout : nullptr;
  if (!given || result == nullptr || !result->concrete() || result->modes.empty()) {
    return refused("This operation is not given layouts that can be drawn.");
  }
  const DerivationStep* step = shown > 0 && shown < steps.size() ? &steps[shown] : nullptr;
  const std::string_view name = given->operation;
  const Layout* input = given->operands.empty() ? nullptr : concrete_layout(given->operands[0]);
  const auto finished = [&](LayoutView view) -> Outcome<LayoutView> {
    if (step != nullptr) {
      if (auto error = view.add_step(view.panels_.size() - 1, *step)) return *error;
    }
    view.retitle(std::string(split_outside(expression, ';').back()));
    return view;
  };

  if (input != nullptr && (divides(name) || multiplies(name)) && given->operands.size() == 2) {
    const std::optional<Tiler> tiler = tiler_in(given->operands[1]);
    if (!tiler) return refused("This operation is given no tiler that can be drawn.");
    Outcome<LayoutView> view = divides(name) ? divided(*input, *tiler,
                                                       name == "tiled_divide"  ? DivideForm::tiled
                                                       : name == "flat_divide" ? DivideForm::flat
                                                                               : DivideForm::zipped)
                                             : multiplied(name, *input, *tiler);
    if (!view) return view;
    if (multiplies(name)) return finished(std::move(*view));
    if (const std::optional<Layout> taken = coordinates_taken(*input, *tiler)) {
      const Result<Layout> keys = composition(view->panels_[0].keys, *tiler);
      view->insert_panel(1, "Tiler", "the coordinates of the input that tile 0 takes", *taken,
                         *input);
      view->panels_[1].formula = text(*tiler);
      if (keys && *size(*keys) == *size(*taken)) view->panels_[1].keys = *keys;
    }
    const std::optional<DerivationStep> keyed =
        step == nullptr ? std::nullopt
                        : step_of_keys(*given, *tiler, view->panels_[0].keys, steps, shown);
    if (keyed) {
      const std::size_t before = view->panels_.size();
      Outcome<LayoutView> done = finished(std::move(*view));
      if (done && done->panels_.size() > before) {  // else it is told in words alone
        Panel& added = done->panels_[before - 1];
        added.keys = *keyed->layout;
        added.key_through = keyed->through;
      }
      return done;
    }
    // Else a step's cells are found by their offset.
    if (step != nullptr && !view->division_.padded &&
        view->division_.place_of.size() <= most_linked) {
      std::vector<std::pair<std::int64_t, std::int64_t>> elements;
      for (std::size_t e = 0; e < view->division_.place_of.size(); ++e) {
        elements.emplace_back((*input)(static_cast<std::int64_t>(e)), e);
      }
      std::sort(elements.begin(), elements.end());
      view->division_.element_at = std::make_shared<const decltype(elements)>(std::move(elements));
    }
    return finished(std::move(*view));
  }

  const std::optional<std::vector<Before>> before = before_result(*given, *result);
  if (!before) return refused("The grids of this operation cannot be linked.");
  Outcome<LayoutView> view = plain(*result);
  if (!view) return view;
  view->panels_.back().title = "Result";
  if (name == "right_inverse" || name == "left_inverse") {
    view->panels_.back().through = *input;
    view->panels_.back().axes = "from offsets to coordinates of the input";
    view->measure_offsets(*input);
  }
  std::int64_t low = view->lowest_, high = view->highest_;
  for (const Before& each : *before) {
    const Outcome<LayoutView> alone = plain(each.layout);  // for its refusals
    if (!alone) return alone;
    view->insert_panel(view->panels_.size() - 1, each.title, each.axes, each.layout, each.through);
    if (each.through) continue;
    low = std::min(low, alone->lowest_);
    high = std::max(high, alone->highest_);
  }
  view->lowest_ = low;
  view->highest_ = high;
  view->owned_.threads = view->owned_.values = view->division_.tiles = 0;
  return finished(std::move(*view));
}

}  // namespace tilescope
