// One product of tensor cores, opened.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "viz/session/product_session.h"
#include "viz/session/theatre_session.h"
#include "viz/session/view_rows.h"

namespace tilescope {
namespace {

std::optional<Emptiness> no_product(const Session& session) {
  const ViewState& state = session.state;
  const std::string& name = state.kernel->name;
  if (session.running) {
    return Emptiness{
        fmt::format("{} is running. Its products are opened here when it has ended.", name), "",
        ""};
  }
  if (!state.timeline || !state.live) {
    return Emptiness{fmt::format("The products of {} are opened here when it has run: their "
                                 "descriptors' bits, the bytes that they read, and how each "
                                 "number of a sum came about.",
                                 name),
                     "run", "Run"};
  }
  if (!theatre_of(session)) {
    return Emptiness{
        fmt::format("The record of {} has no events of CTA {}: it keeps those of the first CTAs.",
                    name, state.spot.block),
        "look block 0", "Look at CTA 0"};
  }
  const auto index = product_index(session);
  if (index->size() == 0) {
    const bool in_warps = sim::multiplies_in_warps(state.live->stepper.machine().program());
    return in_warps ? Emptiness{fmt::format("Warp {} of CTA {} executed no mma.sync.",
                                            state.spot.warp, state.spot.block),
                                "look warp 0", "Look at warp 0"}
                    : Emptiness{fmt::format("{} has no products of tensor cores: no tcgen05.mma, "
                                            "wgmma.mma_async or mma.sync is in CTA {}.",
                                            name, state.spot.block),
                                "select timeline", "See its timeline"};
  }
  if (product_of(session)) return {};
  return Emptiness{session.product.problem, "product 0", "Open the first product"};
}

void draw_product_view(Session& session, Picture& out, const Drawing& how) {
  const auto view = product_of(session);
  out.product = draw_product(out.scene, product_shown(session, *view), how.size);
}

void point_at_product(const Session& session, const Picture& picture, Point at, Hovered& out) {
  const auto view = picture.product ? product_of(session) : nullptr;
  if (view) out.product = spot_at(*view, *picture.product, at);
}

Json product_view_json(const Session& session, const Picture& picture) {
  Json out = describe(picture.scene);
  const auto view = product_of(session);
  if (view) out["product"] = describe_product(product_shown(session, *view));
  return out;
}

}  // namespace

const View product_view = {
    .id = ViewName::product,
    .name = "product",
    .tab = "Product",
    .empty = no_product,
    .draw = draw_product_view,
    .point = point_at_product,
    .json = product_view_json,
};

}  // namespace tilescope
