#include "viz/layout/access_owners.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/layout/text.h"

namespace tilescope {
namespace {

constexpr std::int64_t most_pairs = std::int64_t{1} << 20;

std::int64_t extent_of(const Tuple& shape) {
  const Result<std::int64_t> n = product(shape);
  return n ? *n : 0;
}

// The tile's top-level extents.
std::vector<std::int64_t> extents_of(const Tuple& tile) {
  std::vector<std::int64_t> out;
  for (int i = 0; i < tile.rank(); ++i) out.push_back(extent_of(tile.mode(i)));
  return out;
}

// Compact, with mode 0 fastest or the last mode.
Layout compact(const std::vector<std::int64_t>& extents, bool first_fastest) {
  std::vector<std::int64_t> strides(extents.size());
  std::int64_t step = 1;
  for (std::size_t k = 0; k < extents.size(); ++k) {
    const std::size_t i = first_fastest ? k : extents.size() - 1 - k;
    strides[i] = step;
    step *= extents[i];
  }
  Layout out;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    out.modes.push(Tree<Mode>(Mode{extents[i], strides[i]}));
  }
  return out;
}

// Why nobody can say what lanes of a warp access here; empty where one can.
std::string no_accesses(const LayoutView& view, const Panel& panel) {
  if (view.maps_tensor_memory() || view.thread_mark() != "T") {
    return "The owners in this picture are no lanes of a warp, so it has no banks and sectors; a "
           "thread/value layout such as make_layout_tv((8,4):(4,1), (1,4):(0,1)) has.";
  }
  if (panel.owners->everyone) {
    return fmt::format(
        "{} is read from shared memory by a descriptor, not lane by lane, so it has no wavefronts "
        "of a warp's lanes.",
        panel.title);
  }
  return {};
}

// Where thread t has its value v: the element of the tile, -1 for none.
struct Owned {
  std::int64_t threads = 0, values = 0;
  std::vector<std::int64_t> at;
  std::int64_t of(std::int64_t t, std::int64_t v) const {
    return at[static_cast<std::size_t>(t * values + v)];
  }
};
Owned owned_by(const Owners& owners) {
  Owned out{owners.threads, owners.values, {}};
  out.at.assign(static_cast<std::size_t>(out.threads * out.values), -1);
  for (std::size_t e = 0; e + 1 < owners.begin.size(); ++e) {
    for (const Owner& owner : owners.of(static_cast<std::int64_t>(e))) {
      out.at[static_cast<std::size_t>(owner.thread * out.values + owner.value)] =
          static_cast<std::int64_t>(e);
    }
  }
  return out;
}

// How many neighbouring values every thread finds side by side and aligned: `most`, or half of
// it...
std::int64_t values_together(const Owned& owned, const Layout& memory, std::int64_t most) {
  const auto fits = [&](std::int64_t n) {
    if (owned.values % n != 0) return false;
    for (std::int64_t t = 0; t < owned.threads; ++t) {
      for (std::int64_t v = 0; v < owned.values; v += n) {
        const std::int64_t first = owned.of(t, v);
        const std::int64_t begin = first < 0 ? 0 : memory(first);
        if (first >= 0 && begin % n != 0) return false;
        for (std::int64_t i = 1; i < n; ++i) {
          const std::int64_t element = owned.of(t, v + i);
          if ((element < 0) != (first < 0)) return false;
          if (element >= 0 && memory(element) != begin + i) return false;
        }
      }
    }
    return true;
  };
  while (most > 1 && !fits(most)) most /= 2;
  return most;
}

// What the picture offers: other operands, and the two orders that memory usually has.
void add_ways(const LayoutView& view, const Layout& memory, OwnedAccess& out) {
  for (std::size_t p = 0; p < view.panels().size(); ++p) {
    const Panel& each = view.panels()[p];
    if (!no_accesses(view, each).empty()) continue;
    out.grids.push_back(
        {each.title, fmt::format("access grid {}", p), static_cast<int>(p) == out.grid});
  }
  const Panel& panel = view.panels()[static_cast<std::size_t>(out.grid)];
  const std::vector<std::int64_t> extents = extents_of(panel.tile);
  for (const bool first : {true, false}) {
    const Layout order = compact(extents, first);
    out.memories.push_back({first ? "mode 0 fastest" : "last mode fastest",
                            fmt::format("access through {}", text(order)), order == memory});
  }
}

}  // namespace

int first_accessed(const LayoutView& view) {
  for (std::size_t p = 0; p < view.panels().size(); ++p) {
    if (no_accesses(view, view.panels()[p]).empty()) return static_cast<int>(p);
  }
  return 0;
}

Outcome<Layout> memory_of_tile(const Panel& panel, const std::optional<Layout>& through) {
  const std::vector<std::int64_t> extents = extents_of(panel.tile);
  if (!through) return compact(extents, true);
  const auto unfit = [&](std::string_view why) {
    return refused(fmt::format("{} cannot be the memory of the tile {}: {}; {} could be.",
                               text(*through), text(panel.tile), why,
                               text(compact(extents, false))));
  };
  if (!through->concrete() || through->modes.empty())
    return unfit("not all of its numbers are known");
  std::int64_t all = 1;
  for (const std::int64_t extent : extents) all *= extent;
  const Result<std::int64_t> count = size(*through);
  if (!count || *count != all) {
    return unfit(fmt::format("it has {} elements, the tile has {}", count ? *count : 0, all));
  }
  const bool line = through->rank() == 1;
  bool same = line || through->rank() == static_cast<int>(extents.size());
  for (int i = 0; same && !line && i < through->rank(); ++i) {
    same = *size(*get(*through, i)) == extents[static_cast<std::size_t>(i)];
  }
  if (!same) return unfit("its modes have other extents");
  for (std::int64_t i = 0; i < all; ++i) {
    if ((*through)(i) < 0) return unfit("it leads before the memory's beginning");
  }
  return *through;
}

Outcome<std::shared_ptr<const AccessView>> accesses_of(const LayoutView& view, int grid,
                                                       const std::optional<Layout>& through,
                                                       const AccessChoice& choice) {
  const Panel& panel = view.panels()[static_cast<std::size_t>(grid)];
  if (std::string why = no_accesses(view, panel); !why.empty()) return refused(std::move(why));
  const Owners& owners = *panel.owners;
  if (owners.threads * owners.values > most_pairs) {
    return refused(fmt::format(
        "{} threads with {} values each are more than {} pairs; a warp's accesses are shown of a "
        "tile.",
        owners.threads, owners.values, most_pairs));
  }
  const Outcome<Layout> memory = memory_of_tile(panel, through);
  if (!memory) return memory.error();
  const Owned owned = owned_by(owners);
  const std::int64_t asked = std::max<std::int64_t>(1, choice.width / choice.element_bytes);
  OwnedAccess out;
  out.grid = grid;
  out.together = values_together(owned, *memory, asked);
  out.requests.width = out.together * choice.element_bytes;
  out.requests.lanes = std::min<std::int64_t>(owned.threads, lanes_of_warp);
  for (std::int64_t first = 0; first < owned.threads; first += lanes_of_warp) {
    for (std::int64_t v = 0; v < owned.values; v += out.together) {
      bool any = false;
      const std::size_t begin = out.requests.address.size();
      for (std::int64_t lane = 0; lane < out.requests.lanes; ++lane) {
        const bool there = first + lane < owned.threads;
        const std::int64_t element = there ? owned.of(first + lane, v) : -1;
        any = any || element >= 0;
        out.requests.address.push_back(element < 0 ? no_address
                                                   : (*memory)(element)*choice.element_bytes);
        for (std::int64_t i = 0; i < out.together; ++i) {
          out.elements.push_back(there ? owned.of(first + lane, v + i) : -1);
        }
      }
      if (!any) {  // warps that own nothing take no part
        out.requests.address.resize(begin);
        out.elements.resize(begin * static_cast<std::size_t>(out.together));
        continue;
      }
      out.names.push_back(out.together == 1
                              ? fmt::format("warp {}, value {}", first / lanes_of_warp, v)
                              : fmt::format("warp {}, values {} to {}", first / lanes_of_warp, v,
                                            v + out.together - 1));
    }
  }
  if (out.names.empty()) {
    return refused(fmt::format("No thread of {} has an element of the tile.", panel.formula));
  }
  add_ways(view, *memory, out);
  out.remarks.push_back(through
                            ? fmt::format("Memory: {}, as `access through` says.", text(*memory))
                            : fmt::format("Nothing says where the tile is: it is taken to be {}; "
                                          "`access through LAYOUT` says otherwise.",
                                          text(*memory)));
  if (out.together < asked) {
    out.remarks.push_back(
        fmt::format("{} bytes a lane, not {}: a thread's values are not side by side there.",
                    out.requests.width, choice.width));
  }
  return AccessView::of(std::move(out), *memory, choice);
}

Outcome<BitMatrix> bits_of(const LayoutView& view, int grid, const std::optional<Layout>& through) {
  const Panel& panel = view.panels()[static_cast<std::size_t>(grid)];
  if (!panel.tv) return refused("This picture has no layout from threads and values to elements.");
  Layout layout = *panel.tv;
  if (through) {
    const Outcome<Layout> memory = memory_of_tile(panel, through);
    if (!memory) return memory.error();
    const Result<Layout> both = composition(*memory, layout);
    if (!both) return refused(sentence(both.refusal));
    layout = *both;
  }
  Outcome<BitMatrix> out = bits_of(layout);
  if (!out) return out;
  out->modes = {"thread", "value"};
  out->row_word = through ? "offset" : "element";
  out->about =
      through ? fmt::format("Through the memory {}.", text(*through))
              : fmt::format("Elements of the tile {} are counted mode 0 first.", text(panel.tile));
  return out;
}

}  // namespace tilescope
