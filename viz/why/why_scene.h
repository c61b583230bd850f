// Why a run took as long as it did, as a picture: how much of the longest chain went to what; the
// chain over time, from unit to unit; the same where something took less, on the same scale; the
// chain as a list, and what can be made shorter by sliders.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "viz/scene/describe.h"
#include "viz/scene/scene.h"
#include "viz/scene/table_scene.h"
#include "viz/why/why_view.h"

namespace tilescope {

// What can be made shorter, in the order of its sliders.
enum class WhyPart : std::uint8_t { copies, products, barriers, latency };
inline constexpr std::array why_parts{WhyPart::copies, WhyPart::products, WhyPart::barriers,
                                      WhyPart::latency};
std::string_view name_of(WhyPart part);  // as `why` takes it: "products"
double& share_of(sim::WhatIf& what, WhyPart part);

struct WhyShown {
  const WhyView& view;
  const WhyAnswer& answer;  // of what is asked now; what changes nothing: the run's
  const Theme& theme;
};

// Where in a picture the sliders are: for drags.
struct WhyFrame {
  std::array<Box, why_parts.size()> sliders;  // from 0 at the left to 1 at the right
  // Of the slider at a point, and the share there.
  std::optional<WhyPart> part_at(Point at) const;
  double share_at(WhyPart part, double x) const;
  double scroll = 0;  // how far the list can be scrolled
};

WhyFrame draw_why(Scene& scene, const WhyShown& shown, Size size, Scroll& scroll);

// "51% copies in, 18% products, 10% from issue to begin"
std::string shares_text(const std::vector<sim::PathStep>& path, std::size_t most);

Json describe_why(const WhyShown& shown);

}  // namespace tilescope
