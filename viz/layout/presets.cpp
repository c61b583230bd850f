#include "viz/layout/presets.h"

#include "viz/scene/command_text.h"

#include <fmt/format.h>

#include <array>

namespace tilescope {
namespace {

constexpr std::array<Preset, 3> all{{
    {"9x32", "9 x 32 divided into tiles of 3 x 8", Preset::Kind::divided, "(9,(4,8)):(59,(13,1))",
     "<3:3,(2,4):(1,8)>",
     "A tile takes every third row and two of every eight columns. Logical divide brings its "
     "elements together, zipped divide makes each tile one column."},
    {"Volta 8x8 quadpair", "Owners of a Volta quadpair's accumulator", Preset::Kind::thread_value,
     "((2,2,2),(2,2,2)):((1,16,4),(8,2,32))", "(8,8)",
     "Eight threads hold eight values each of the accumulator."},
    {"elementwise tile", "Owners of elementwise_add's tile", Preset::Kind::thread_value,
     "((32,4),(4,4)):((64,4),(16,1))", "(16,128)",
     "128 threads, 4 x 4 values each: a warp covers four rows, and a lane's four neighbouring "
     "columns are one 128-bit access."},
}};

Outcome<Value> evaluated(std::string_view expression) {
  const Evaluated result = evaluate(expression);
  if (const Problem* problem = std::get_if<Problem>(&result)) {
    return Error{ErrorKind::refused, problem->sentence, caret(expression, *problem)};
  }
  return std::get<Value>(result);
}

Error unusable(const Preset& preset) {
  return {ErrorKind::refused,
          fmt::format("The preset '{}' does not hold what its kind needs.", preset.name),
          std::string(preset.name)};
}

}  // namespace

std::span<const Preset> presets() {
  return all;
}

Outcome<Preset> preset_named(std::string_view name) {
  const Preset* found = nullptr;
  int matches = 0;
  std::string names;
  for (const Preset& preset : all) {
    if (lower(preset.name) == lower(name)) return preset;
    if (!name.empty() && lower(preset.name).find(lower(name)) != std::string::npos) {
      found = &preset;
      ++matches;
    }
    names += names.empty() ? "" : ", ";
    names += fmt::format("'{}'", preset.name);
  }
  if (matches == 1) return *found;
  return Error{ErrorKind::unknown,
               fmt::format("{} preset is called '{}'; there are {}.",
                           matches == 0 ? "No" : "More than one", name, names),
               {}};
}

std::string expression_of(const Preset& preset) {
  switch (preset.kind) {
    case Preset::Kind::plain:
      return std::string(preset.first);
    case Preset::Kind::divided:
      return fmt::format("zipped_divide({}, {})", preset.first, preset.second);
    case Preset::Kind::thread_value:
      break;
  }
  return {};
}

Outcome<LayoutView> open_preset(const Preset& preset) {
  const Outcome<Value> first = evaluated(preset.first);
  if (!first) return first.error();
  const Layout* layout = std::get_if<Layout>(&*first);
  if (layout == nullptr) return unusable(preset);
  Outcome<LayoutView> view = LayoutView::plain(*layout);
  if (preset.kind != Preset::Kind::plain) {
    const Outcome<Value> second = evaluated(preset.second);
    if (!second) return second.error();
    const Tuple* shape = std::get_if<Tuple>(&*second);
    const Tiler* tiler = std::get_if<Tiler>(&*second);
    if (preset.kind == Preset::Kind::divided && tiler != nullptr) {
      view = LayoutView::divided(*layout, *tiler);
    } else if (preset.kind == Preset::Kind::thread_value && shape != nullptr) {
      view = LayoutView::thread_value(*layout, *shape);
    } else {
      return unusable(preset);
    }
  }
  if (view) view->retitle(std::string(preset.title));
  return view;
}

}  // namespace tilescope
