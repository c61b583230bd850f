// The product of tensor cores that is open in the window's session. Commands are in
// commands_product.cpp.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "viz/product/product_scene.h"
#include "viz/session/panels.h"
#include "viz/session/session.h"

namespace tilescope {

// The products of the CTA that is looked at; of mma.sync those of the warp. Null: there is no
// record, or no machine to bring to them.
std::shared_ptr<const ProductIndex> product_index(const Session& session);
// Which is open: as chosen; else the one selected in the timeline; else the one under way at the
// time that the theatre shows, or where the machine stands; else the first.
std::size_t product_number(const Session& session, const ProductIndex& index);
// That product. Null: there is none, and why is in session.product.problem.
std::shared_ptr<const ProductView> product_of(const Session& session);
// What is drawn. The session has to live as long.
ProductShown product_shown(const Session& session, const ProductView& view);
// The number of the selected event of the timeline, where that is a product of this CTA.
std::optional<std::size_t> selected_product(const Session& session, const ProductIndex& index);

// The next k-step after so many of the reader's seconds; true if the picture changed.
bool play_product(Session& session, double seconds);

void inspect_product(const Session& session, std::vector<InspectorSection>& out);
Strip product_strip(const Session& session);
// The commands that choose the same again.
std::vector<std::string> product_lines(const ViewState& state);

}  // namespace tilescope
