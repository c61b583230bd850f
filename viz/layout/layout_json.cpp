#include "viz/layout/layout_json.h"
#include "core/layout/text.h"

#include <nlohmann/json.hpp>

namespace tilescope {
namespace {

std::string_view kind_name(LayoutView::Kind kind) {
  switch (kind) {
    case LayoutView::Kind::plain:
      return "plain";
    case LayoutView::Kind::divided:
      return "divided";
    case LayoutView::Kind::thread_value:
      return "thread_value";
    case LayoutView::Kind::parts:
      return "parts";
    case LayoutView::Kind::places:
      return "places";
  }
  return "";
}

Json focus_of(const Focus& focus) {
  if (focus.on == Focus::On::nothing) return nullptr;
  Json out = {{"on", name_of(focus.on)}, {"number", focus.number}};
  if (focus.grid >= 0) out["grid"] = focus.grid;
  return out;
}

}  // namespace

Json describe(const CellInfo& info) {
  Json out;
  out["panel"] = info.cell.panel;
  for (const auto& [name, value] : info.lines()) out[name] = value;
  return out;
}

Json describe(const LayoutView& view, const LayoutChoice& choice, const Scene& scene) {
  Json out;
  out["view"] = "layout";
  out["title"] = view.title();
  out["kind"] = kind_name(view.kind());
  out["colour"] = name_of(view.colour(choice));
  Json colours = Json::array();
  for (const ColourBy by : view.colours()) colours.push_back(name_of(by));
  out["colours"] = std::move(colours);
  out["isolate"] = focus_of(choice.isolate);
  Json panels = Json::array();
  for (const Panel& panel : view.panels()) {
    panels.push_back({{"title", panel.title},
                      {"layout", panel.formula},
                      {"rows", panel.rows},
                      {"columns", panel.columns},
                      {"slices", panel.slices}});
    if (panel.slices < panel.all_slices) {
      panels.back()["first slice"] =
          view.slice_name(static_cast<int>(&panel - view.panels().data()), panel.first_slice);
      panels.back()["of slices"] = panel.all_slices;
    }
  }
  out["panels"] = std::move(panels);
  out["notes"] = view.notes();
  const auto cell = [&](const std::optional<Cell>& at) -> Json {
    if (!at || !view.exists(*at)) return nullptr;
    return describe(view.info(*at, choice.element_bytes));
  };
  out["hover"] = cell(choice.hover);
  out["selected"] = cell(choice.selected);
  out["picture"] = describe(scene);
  return out;
}

}  // namespace tilescope
