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

}  // namespace

Json lines_of(const Lines& lines) {
  Json out = Json::object();
  for (const auto& [name, value] : lines) out[name] = value;
  return out;
}

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

}  // namespace tilescope
