#include "viz/layout/layout_chain.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/layout/text.h"

namespace tilescope {

std::optional<Taking> taking_of(std::string_view expression) {
  const std::optional<Call> call = call_of(expression);
  if (!call) return std::nullopt;
  const std::vector<std::string_view>& a = call->arguments;
  if (call->callee == "local_tile" && a.size() >= 2) return Taking{a[0], "Tile"};
  if (call->callee == "local_partition" && a.size() >= 2) return Taking{a[0], "Of one thread"};
  if (call->callee == "composition" && a.size() == 2) return Taking{a[0], "Composition"};
  if (call->callee.substr(0, 10) == "partition_" && a.size() == 3) {
    return Taking{a[2], "Of one thread"};
  }
  // A(3,_): behind a name, or behind brackets.
  const bool applied =
      is_name(call->callee) || (!call->callee.empty() && call->callee.back() == ')');
  if (!applied) return std::nullopt;
  // The tiles of a division are shown in the layout that was divided: the elements are the same.
  const std::optional<Call> divided = call_of(call->callee);
  if (divided && divides(divided->callee)) return Taking{divided->arguments[0], "Tile"};
  return Taking{call->callee, "Slice"};
}

namespace {

// Which element of a whole a part has: the language takes the same part of a layout of keys, which
// keep the whole's coordinates apart and have room beyond each extent. An offset alone would take
// what lies beyond the whole for another element:
//
//     (10,6):(6,1)  ->  (10,6):(1,2^30)
class Keys {
 public:
  // What shares a stretch of a key: nothing, the leaves of a mode (a tile may run through several
  // of them where they are one behind another), or everything.
  enum class Together : std::uint8_t { nothing, modes, all };

  static std::optional<Keys> of(const Layout& whole, Together together) {
    Keys out;
    out.layout_ = Layout(whole.modes);
    for (int i = 0; i < whole.rank(); ++i) {
      const int leaves = whole.modes.mode(i).leaves;
      for (int k = 0; k < leaves; ++k) {
        const bool new_field =
            together == Together::nothing || (k == 0 && (together == Together::modes || i == 0));
        if (new_field) out.fields_.push_back({});
        out.fields_.back().leaves += 1;
      }
    }
    const int room = 60 / static_cast<int>(out.fields_.size());
    std::int64_t weight = 1;
    int leaf = 0;
    for (std::size_t f = 0; f < out.fields_.size(); ++f) {
      Field& field = out.fields_[f];
      field.shift = room * static_cast<int>(f);
      field.weight = weight;
      std::int64_t step = std::int64_t{1} << field.shift;
      for (const int end = leaf + field.leaves; leaf < end; ++leaf) {
        Mode& mode = out.layout_.modes.leaf[leaf];
        mode.stride = step;
        step *= mode.shape.value;
        field.extent *= mode.shape.value;
        if (field.extent > std::int64_t{1} << (room - 3)) return std::nullopt;
      }
      weight *= field.extent;
    }
    out.mask_ = (std::int64_t{1} << room) - 1;
    return out;
  }

  const Layout& layout() const { return layout_; }

  std::vector<std::int64_t> elements(const Layout& part) const {
    std::vector<std::int64_t> out;
    for (std::int64_t i = 0; i < *size(part); ++i) out.push_back(element(part(i)));
    return out;
  }

 private:
  struct Field {
    int leaves = 0, shift = 0;
    std::int64_t extent = 1, weight = 1;  // weight: of one step, in elements of the whole
  };

  std::int64_t element(std::int64_t key) const {  // -1: beyond the whole
    std::int64_t out = 0;
    for (const Field& field : fields_) {
      const std::int64_t here = key >> field.shift & mask_;
      if (here >= field.extent) return -1;
      out += here * field.weight;
    }
    return out;
  }

  Layout layout_;
  std::vector<Field> fields_;
  std::int64_t mask_ = 0;
};

// The whole, its part, the part of that..., as far as the expression says where each comes from.
class Chain {
 public:
  Chain(const Scope& scope, const Bindings& bindings) : scope_(scope), bindings_(bindings) {
    while (scope_.names().count(name_) > 0) name_ += "_";
  }

  // Empty: the expression is no part of anything that can be drawn.
  std::vector<LayoutView::Part> of(std::string_view expression) {
    std::vector<LayoutView::Part> out;
    steps_.clear();
    if (!follow(expression, out, 0) || out.size() < 2) return {};
    return told_by_elements(out) || !on_axes_ ? out : std::vector<LayoutView::Part>{};
  }

  // The same of a whole whose strides stand on axes: the parts of its elements, counted.
  std::vector<LayoutView::Part> of_coordinates(std::string_view expression) {
    on_axes_ = true;
    std::vector<LayoutView::Part> out = of(expression);
    return whole_ && !whole_->layout.concrete() ? out : std::vector<LayoutView::Part>{};
  }
  const Slice& whole() const { return *whole_; }                          // of_coordinates
  const std::vector<std::string>& formulas() const { return formulas_; }  // one a part

 private:
  bool told_by_elements(std::vector<LayoutView::Part>& out) {
    using Together = Keys::Together;
    for (const Together together : {Together::nothing, Together::modes, Together::all}) {
      const std::optional<Keys> keys = Keys::of(out[0].layout, together);
      if (keys && tell_elements(*keys, out)) return true;
    }
    return false;
  }

  // What stands around the name of what a part is taken of: "local_tile(" and ", <4,4>, (1,0))".
  struct Step {
    std::string before, after;
  };

  bool follow(std::string_view expression, std::vector<LayoutView::Part>& out, int depth) {
    constexpr int most = 8;
    const std::optional<Value> value = value_of(scope_, expression);
    std::optional<Layout> layout = value ? drawn(*value) : std::nullopt;
    if (!layout || !layout->concrete() || depth > most) return false;
    const auto bound = bindings_.find(expression);
    const std::string_view meant = bound == bindings_.end() ? expression : bound->second;
    const std::optional<Taking> taking = taking_of(meant);
    // make_layout(8,8) is no slice of something called make_layout.
    if (!taking || !value_of(scope_, taking->from)) {
      whole_ = slice_of(*value);
      formulas_ = {text(*value)};
      out.push_back({is_name(expression) ? std::string(expression) : "Whole", *layout});
      return !std::holds_alternative<Tuple>(*value) || layout->rank() > 1;
    }
    if (!follow(taking->from, out, depth + 1)) return false;
    const auto begin = static_cast<std::size_t>(taking->from.data() - meant.data());
    steps_.push_back({std::string(meant.substr(0, begin)),
                      std::string(meant.substr(begin + taking->from.size()))});
    formulas_.push_back(text(*value));
    if (on_axes_) layout = taken_of(out.back().layout, steps_.back());
    if (layout) out.push_back({std::string(title_of(*taking, meant)), *layout});
    return layout.has_value();
  }

  // What is drawn of a value: its layout, or one that counts its elements.
  std::optional<Layout> drawn(const Value& value) const {
    if (!on_axes_) return placed(value);
    const std::optional<Slice> slice = slice_of(value);
    if (!slice || !slice->offset.known() || slice->layout.modes.empty()) return std::nullopt;
    const Result<Layout> counted = make_layout(slice->layout.shape());
    return counted ? std::optional(*counted) : std::nullopt;
  }

  // A thread of tcgen05's tiled operations is a CTA.
  std::string_view title_of(const Taking& taking, std::string_view expression) {
    const std::optional<Call> call = call_of(expression);
    if (!call || call->callee.substr(0, 10) != "partition_") return taking.title;
    const std::optional<Value> by = value_of(scope_, call->arguments[0]);
    const auto* mma = by ? std::get_if<Shared<TiledMma>>(&*by) : nullptr;
    const bool ctas = mma != nullptr && (*mma)->atom.c.memory == Memory::tmem;
    return ctas ? "Of one CTA" : taking.title;
  }

  // A step from keys: the answer counts where those do.
  std::optional<Layout> taken_of(Layout from, const Step& step) {
    const std::int64_t begin = from.offset.value;
    from.offset = 0;
    const std::optional<Value> value = value_of(
        scope_, fmt::format("{} = {}; {}{}{}", name_, text(from), step.before, name_, step.after));
    std::optional<Layout> out = value ? placed(*value) : std::nullopt;
    if (!out || !out->concrete()) return std::nullopt;
    out->offset = out->offset.value + begin;
    return out;
  }

  // Answers whether the steps can be taken of the keys.
  bool tell_elements(const Keys& keys, std::vector<LayoutView::Part>& parts) {
    constexpr std::int64_t most = std::int64_t{1} << 22;
    std::vector<std::vector<std::int64_t>> elements;
    Layout at = keys.layout();
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      const std::optional<Layout> next = taken_of(at, steps_[s]);
      const bool same = next && *size(*next) == *size(parts[s + 1].layout);
      if (!same || *size(*next) > most) return false;
      at = *next;
      elements.push_back(keys.elements(at));
    }
    for (std::size_t s = 0; s < steps_.size(); ++s) parts[s + 1].elements = elements[s];
    return true;
  }

  Scope scope_;  // its own: it binds a name
  const Bindings& bindings_;
  std::string name_ = "whole_";
  std::vector<Step> steps_;
  bool on_axes_ = false;
  std::optional<Slice> whole_;
  std::vector<std::string> formulas_;
};

}  // namespace

PartsOfExpression parts_of(const Scope& scope, const Bindings& bindings,
                           std::string_view expression) {
  PartsOfExpression out;
  Chain chain(scope, bindings);
  out.parts = chain.of(expression);
  // A's last mode goes on without bound in a composition, so that what lies beyond A has its offset
  // still: it is shown by itself.
  const bool beyond = std::any_of(out.parts.begin(), out.parts.end(), [](const auto& part) {
    const auto& all = part.elements;
    return part.title == "Composition" && std::find(all.begin(), all.end(), -1) != all.end();
  });
  if (beyond) out.parts.clear();
  if (!out.parts.empty() || beyond) return out;
  out.parts = chain.of_coordinates(expression);
  if (out.parts.empty()) return out;
  out.on_axes = chain.whole();
  out.formulas = chain.formulas();
  return out;
}

}  // namespace tilescope
