#include "viz/scene/describe.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/layout/text.h"
#include "viz/scene/cuda_text.h"

namespace tilescope {
namespace {

struct Placed {
  Point at;
  std::string text;
};

// Labels of cells as rows, top to bottom, each from left to right.
Json rows_of(std::vector<Placed> texts) {
  std::stable_sort(texts.begin(), texts.end(), [](const Placed& a, const Placed& b) {
    return a.at.y != b.at.y ? a.at.y < b.at.y : a.at.x < b.at.x;
  });
  Json rows = Json::array();
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (i == 0 || texts[i].at.y != texts[i - 1].at.y) rows.push_back(Json::array());
    rows.back().push_back(texts[i].text);
  }
  return rows;
}

// One text in several colours, from the begin of its group; `at` stands at its end afterwards.
std::string text_of(const Scene& scene, std::size_t& at) {
  std::string out;
  for (; !std::holds_alternative<GroupEnd>(scene.items[at]); ++at) {
    if (const Text* part = std::get_if<Text>(&scene.items[at])) out += part->text;
  }
  return out;
}

// The group whose begin stands before `at`; `at` ends behind its end.
Json group_of(const Scene& scene, std::string name, std::size_t& at) {
  const bool cells = name == "cells";
  std::vector<Placed> labels;
  Json texts = Json::array(), groups = Json::array();
  for (; at < scene.items.size(); ++at) {
    const Item& item = scene.items[at];
    if (std::holds_alternative<GroupEnd>(item)) {
      ++at;
      break;
    }
    if (const Text* text = std::get_if<Text>(&item)) {
      if (cells) {
        labels.push_back({text->at, text->text});
      } else {
        texts.push_back(text->text);
      }
    }
    if (const GroupBegin* begin = std::get_if<GroupBegin>(&item);
        begin && begin->name == code_group) {
      texts.push_back(text_of(scene, at));
    } else if (begin) {
      ++at;
      Json inner = group_of(scene, begin->name, at);
      if (inner.size() > 1) groups.push_back(std::move(inner));
      --at;
    }
  }
  Json out;
  out["name"] = std::move(name);
  if (!labels.empty()) out["rows"] = rows_of(std::move(labels));
  if (!texts.empty()) out["texts"] = std::move(texts);
  if (!groups.empty()) out["groups"] = std::move(groups);
  return out;
}

Json lines_of(const Lines& lines) {
  Json out = Json::object();
  for (const auto& [name, value] : lines) out[name] = value;
  return out;
}

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

Json describe(const Scene& scene) {
  std::size_t at = 0;
  Json out = group_of(scene, scene.title, at);
  Json head;
  head["title"] = scene.title;
  head["theme"] = scene.theme.dark ? "dark" : "light";
  head["size"] = {scene.size.width, scene.size.height};
  head["groups"] = out.contains("groups") ? out["groups"] : Json::array();
  for (const Hint& hint : scene.hints) head["hints"].push_back(hint.text);
  return head;
}

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

Json describe(const DiffView& view, const DiffChoice& choice, const Scene& scene) {
  Json out;
  out["view"] = "diff";
  out["title"] = view.title();
  out["rows"] = view.source().rows();
  out["columns"] = view.source().columns();
  out["wrong"] = view.wrong_count();
  out["measure"] = name_of(view.measured());
  out["totals"] = lines_of(view.totals());
  const auto element = [&](const std::optional<Element>& at) -> Json {
    if (!at) return nullptr;
    return lines_of(view.inspect(*at));
  };
  out["hover"] = element(choice.hover);
  out["selected"] = element(choice.selected);
  out["provenance"] = lines_of(choice.provenance);
  out["picture"] = describe(scene);
  return out;
}

}  // namespace tilescope
