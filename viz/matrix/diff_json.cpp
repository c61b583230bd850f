#include "viz/matrix/diff_json.h"

#include <nlohmann/json.hpp>

namespace tilescope {

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
