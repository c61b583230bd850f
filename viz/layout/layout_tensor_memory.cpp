// Pictures of TMEM: 128 lanes x 512 columns of each CTA, and what stands where in them.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/layout/text.h"
#include "core/tensor/tmem.h"
#include "viz/layout/layout_axes.h"
#include "viz/layout/layout_view.h"

namespace tilescope {
namespace {

using Region = LayoutView::Region;

constexpr std::int64_t lanes = 128, columns = 512;  // of TMEM (PTX ISA, tcgen05)
constexpr std::int64_t quarter = 32;                // lanes that one warp reaches
// A cluster has up to 8 CTAs, and up to 16 where a kernel allows what is not portable (CUDA C
// Programming Guide, Thread Block Clusters).
constexpr std::int64_t most_ctas = 16;
// A name for each is read up to few of them, or more where they are high enough for a line of text.
constexpr std::int64_t few_rectangles = 16, most_rectangles = 128, lanes_of_a_line = 8;
constexpr std::size_t most_notes = 12;

// A leaf of a region whose steps leave a rectangle, and what a step is worth in its mode's
// coordinate.
struct Jump {
  int leaf = 0;
  std::optional<std::size_t> mode;  // none: to a copy
  std::int64_t weight = 1;
};

// A region as rectangles: the leaves of a mode that run on without a jump, down or across, stay
// together; a step of the others leads to another rectangle.
//
//     ((16,4),64):((1@TLane,32@TLane),1@TCol)    m 0-15, n 0-63; m 16-31, n 0-63; ...
class Cutting {
 public:
  explicit Cutting(const Region& region) : region_(region) {
    Tree<Mode> modes = region.lane.modes;
    int coordinates = region.coordinates < 0 ? modes.rank() : region.coordinates;
    if (alone(modes)) modes = modes.mode(0), coordinates = modes.rank();
    int leaf = 0;
    for (int i = 0; i < coordinates; ++i) {
      const int end = leaf + modes.mode(i).leaves;
      add_mode(leaf, end);
      leaf = end;
    }
    for (; region.coordinates >= 0 && leaf < region.lane.modes.leaves; ++leaf) {
      if (extent(leaf) > 1) jumps_.push_back({leaf, std::nullopt, copies_});
      copies_ *= extent(leaf);
    }
  }

  std::int64_t copies() const { return copies_; }

  // In the order of their coordinates. Too many of them stay one region.
  std::vector<Region> rectangles() {
    std::int64_t count = 1;
    for (const Jump& jump : jumps_)
      count = std::min(count * extent(jump.leaf), most_rectangles + 1);
    if (count > (lanes_.reach >= lanes_of_a_line ? most_rectangles : few_rectangles)) {
      run_ = all_;
      jumps_.clear();
      count = 1;
    }
    std::vector<Region> out;
    for (std::int64_t i = 0; i < count; ++i) out.push_back(rectangle(i, count > 1));
    return out;
  }

 private:
  // (V,1,1), an operand's fragment of one instruction: V's own modes are its coordinates.
  static bool alone(const Tree<Mode>& modes) {
    if (modes.rank() < 2 || modes.mode(0).rank() < 2) return false;
    for (int i = modes.mode(0).leaves; i < modes.leaves; ++i) {
      if (!modes.leaf[i].shape.is(1)) return false;
    }
    return true;
  }

  std::int64_t extent(int leaf) const { return region_.lane.modes.leaf[leaf].shape.value; }

  void add_mode(int leaf, int end) {
    std::int64_t run = 1, all = 1;
    bool together = true;
    for (; leaf < end; ++leaf) {
      together = together && runs_on(leaf);
      if (together) run *= extent(leaf);
      if (!together && extent(leaf) > 1) jumps_.push_back({leaf, run_.size(), all});
      all *= extent(leaf);
    }
    run_.push_back(run);
    all_.push_back(all);
  }

  // Whether a leaf's steps go on where the lanes or columns of those before it in its mode end.
  bool runs_on(int leaf) {
    const std::int64_t lane = region_.lane.modes.leaf[leaf].stride.value;
    const std::int64_t column = region_.column.modes.leaf[leaf].stride.value;
    const bool still = lane == 0 && column == 0;
    if (extent(leaf) == 1) return true;
    if (region_.cta.modes.leaf[leaf].stride.value != 0 || (lane != 0 && column != 0)) return false;
    if (still) return true;
    Run& along = lane != 0 ? lanes_ : columns_;
    const Run& across = lane != 0 ? columns_ : lanes_;
    const std::size_t mode = run_.size();
    const bool ours = across.mode != mode && (!along.mode || along.mode == mode);
    if (!ours || lane + column != along.reach) return false;
    along = {mode, along.reach * extent(leaf)};
    return true;
  }

  Region rectangle(std::int64_t index, bool one_of_several) const {
    Region out = region_;
    std::vector<std::int64_t> first(run_.size(), 0);
    std::int64_t copy = 0;
    for (const Jump& jump : jumps_) {
      const std::int64_t step = index % extent(jump.leaf);
      index /= extent(jump.leaf);
      (jump.mode ? first[*jump.mode] : copy) += step * jump.weight;
      for (Layout* each : {&out.lane, &out.column, &out.cta}) {
        Mode& mode = each->modes.leaf[jump.leaf];
        each->offset = each->offset.value + step * mode.stride.value;
        mode = Mode{1, 0};
      }
    }
    out.name = region_.name;
    if (out.name.empty() || (one_of_several && jumps_in_it())) {
      out.name += (out.name.empty() ? "" : ": ") + name_of(first);
    }
    out.group = region_.name.empty() ? name_of(first) : region_.name;
    if (copies_ > 1) out.name += copied() ? fmt::format(", copy {}", copy) : many_copies();
    return out;
  }

  // Whether the jumps lead to other elements, and whether to copies of them.
  bool jumps_in_it() const {
    return std::any_of(jumps_.begin(), jumps_.end(), [](const Jump& j) { return j.mode; });
  }
  bool copied() const {
    return std::any_of(jumps_.begin(), jumps_.end(), [](const Jump& j) { return !j.mode; });
  }
  std::string many_copies() const { return fmt::format(", {} copies", copies_); }

  // "m 0-15, n 0-63", or "(0-15, 0-63)" where the coordinates have no letters of their own.
  std::string name_of(const std::vector<std::int64_t>& first) const {
    const bool lettered = region_.letters.size() == first.size();
    std::string out;
    for (std::size_t i = 0; i < first.size(); ++i) {
      if (i > 0) out += ", ";
      if (lettered) out += fmt::format("{} ", region_.letters[i]);
      out += fmt::format("{}", first[i]);
      if (run_[i] > 1) out += fmt::format("-{}", first[i] + run_[i] - 1);
    }
    return lettered ? out : fmt::format("({})", out);
  }

  // How far the leaves that run on have come, and whose they are.
  struct Run {
    std::optional<std::size_t> mode;
    std::int64_t reach = 1;
  };

  const Region& region_;
  Run lanes_, columns_;
  std::vector<std::int64_t> run_, all_;  // by mode: coordinates of a rectangle, and of all
  std::vector<Jump> jumps_;
  std::int64_t copies_ = 1;
};

// "0 to 15, 32 to 47": where a set has its members.
std::string runs_of(const std::vector<bool>& has) {
  constexpr std::size_t most = 8;
  std::vector<std::string> runs;
  std::size_t lowest = has.size(), highest = 0;
  for (std::size_t i = 0; i < has.size(); ++i) {
    if (!has[i]) continue;
    const std::size_t first = i;
    while (i + 1 < has.size() && has[i + 1]) ++i;
    runs.push_back(first == i ? fmt::format("{}", i) : fmt::format("{} to {}", first, i));
    lowest = std::min(lowest, first), highest = i;
  }
  if (runs.size() <= most) return fmt::format("{}", fmt::join(runs, ", "));
  return fmt::format("{} of {} to {}", std::count(has.begin(), has.end(), true), lowest, highest);
}

// Where a region's rectangles are, all together.
struct Whereabouts {
  std::vector<bool> lane = std::vector<bool>(lanes), column = std::vector<bool>(columns);
  std::vector<bool> cta = std::vector<bool>(most_ctas);
  std::int64_t copies = 1;
};

// What stands in the TMEM of some CTAs, cell by cell.
class Filled {
 public:
  std::optional<Error> add(const Region& region, std::int32_t number, Whereabouts& where) {
    for (std::int64_t i = 0; i < *size(region.lane); ++i) {
      const std::int64_t l = region.lane(i), c = region.column(i), cta = region.cta(i);
      if (l < 0 || l >= lanes || c < 0 || c >= columns) {
        return refused(
            fmt::format("{} reaches lane {}, column {}; TMEM has {} lanes and {} columns.",
                        region.name, l, c, lanes, columns));
      }
      if (cta < 0 || cta >= most_ctas) {
        return refused(fmt::format("{} reaches CTA {}; a cluster has up to {} of them, 0 to {}.",
                                   region.name, cta, most_ctas, most_ctas - 1));
      }
      const std::size_t at = static_cast<std::size_t>(cta);
      where.lane[static_cast<std::size_t>(l)] = true;
      where.column[static_cast<std::size_t>(c)] = true;
      where.cta[at] = true;
      while (cells_.size() <= at) cells_.emplace_back(static_cast<std::size_t>(lanes * columns));
      std::vector<Owner>& cell = cells_[at][static_cast<std::size_t>(l + lanes * c)];
      const Owner owner{static_cast<std::int32_t>(l), number};
      if (std::find(cell.begin(), cell.end(), owner) == cell.end()) cell.push_back(owner);
    }
    return std::nullopt;
  }

  std::size_t ctas() const { return cells_.size(); }
  std::string words(const Whereabouts& where) const {
    std::string out = ctas() > 1 ? fmt::format("CTA {}, ", runs_of(where.cta)) : "";
    out += fmt::format("lanes {}, columns {}", runs_of(where.lane), runs_of(where.column));
    return where.copies > 1 ? fmt::format("{}: {} copies", out, where.copies) : out;
  }

  Owners owners(std::size_t cta, std::size_t regions) const {
    Owners out;
    out.threads = lanes;
    out.values = static_cast<std::int64_t>(regions);
    out.begin.push_back(0);
    for (const std::vector<Owner>& cell : cells_[cta]) {
      out.pairs.insert(out.pairs.end(), cell.begin(), cell.end());
      out.begin.push_back(static_cast<std::uint32_t>(out.pairs.size()));
      out.most = std::max<std::int64_t>(out.most, static_cast<std::int64_t>(cell.size()));
      out.unowned += cell.empty();
    }
    return out;
  }

 private:
  std::vector<std::vector<std::vector<Owner>>> cells_;  // by CTA, then lane + 128 * column
};

}  // namespace

bool LayoutView::speaks_of_tensor_memory(const Layout& layout) {
  const std::vector<Axis> axes = axes_in(layout);
  return all_known(layout) && std::find(axes.begin(), axes.end(), axis_lane) != axes.end() &&
         std::all_of(axes.begin(), axes.end(), [](Axis axis) {
           return axis == axis_lane || axis == axis_column || axis == axis_cta;
         });
}

// Lanes down and columns across, a grid a CTA; the owner of a cell is its lane, whose warp is the
// only one of a warpgroup that may touch it (PTX ISA, tcgen05.ld and .st: access restrictions), and
// the value is the number of the region that holds it.
Outcome<LayoutView> LayoutView::tensor_memory(const std::vector<Region>& regions,
                                              std::string title) {
  LayoutView view;
  view.kind_ = Kind::thread_value;
  view.title_ = std::move(title);
  view.owned_.thread_mark = "L";
  Filled filled;
  std::vector<Whereabouts> where;
  for (const Region& region : regions) {
    Cutting cutting(region);
    const std::size_t known = view.owned_.group_names.size();
    for (const Region& part : cutting.rectangles()) {
      const auto begin = view.owned_.group_names.begin();
      const auto found = std::find(begin + static_cast<std::ptrdiff_t>(known),
                                   view.owned_.group_names.end(), part.group);
      const auto group = static_cast<std::size_t>(found - begin);
      if (found == view.owned_.group_names.end()) {
        view.owned_.group_names.push_back(part.group);
        where.push_back({});
        where.back().copies = cutting.copies();
      }
      const auto number = static_cast<std::int32_t>(view.owned_.value_names.size());
      if (auto error = filled.add(part, number, where[group])) return *error;
      view.owned_.value_names.push_back(part.name);
      view.owned_.group_of_value.push_back(static_cast<int>(group));
    }
  }
  const std::size_t told = where.size() > most_notes ? most_notes - 1 : where.size();
  for (std::size_t g = 0; g < told; ++g) {
    view.notes_.push_back(
        fmt::format("{}: {}.", view.owned_.group_names[g], filled.words(where[g])));
  }
  if (told < where.size()) {
    view.notes_.push_back(
        fmt::format("{} more have their names where they are.", where.size() - told));
  }
  view.notes_.push_back(
      "Warp w of a warpgroup reaches lanes 32 w to 32 w + 31 alone, in all columns.");
  Layout grid;
  grid.modes.push(make_layout_of(Layout(quarter, 1), Layout(lanes / quarter, quarter)).modes);
  grid.modes.push(Tree<Mode>(Mode{columns, lanes}));
  for (std::size_t cta = 0; cta < filled.ctas(); ++cta) {
    view.add_panel(filled.ctas() > 1 ? fmt::format("TMEM of CTA {}", cta) : "TMEM",
                   "lanes down, columns of 32 bits across", grid);
    Panel& panel = view.panels_.back();
    panel.formula = fmt::format("{} lanes x {} columns", lanes, columns);
    Owners owners = filled.owners(cta, view.owned_.value_names.size());
    view.owned_.most_owners = std::max(view.owned_.most_owners, owners.most);
    panel.owners = std::make_shared<const Owners>(std::move(owners));
  }
  view.owned_.threads = lanes;
  view.owned_.values = static_cast<std::int64_t>(view.owned_.value_names.size());
  view.highest_ = lanes * columns - 1;
  return view;
}

// Of one warp: (thread, register) -> lane and column. The lanes and columns that it has are the
// grid, and their owners the threads.
Outcome<LayoutView> LayoutView::of_fragment(const CopyAtom& atom, const Layout& layout,
                                            std::string title) {
  if (layout.rank() != 2 || !speaks_of_tensor_memory(layout)) {
    return refused(fmt::format(
        "{} is no fragment of TMEM; tmem_fragment(SM100_TMEM_LOAD_32dp32b8x) gives one.",
        text(layout)));
  }
  const Result<std::int64_t> down = cosize(along(layout, axis_lane));
  const Result<std::int64_t> across = cosize(along(layout, axis_column));
  if (!down || !across) return refused(sentence(down ? across.refusal : down.refusal));
  Operand one;
  one.title = "TMEM";
  one.axes = "a warp's lanes down, columns of 32 bits across: whose register it is";
  one.tile = make_tuple_of(*down, *across);
  one.layout = Layout(layout.modes);
  for (int i = 0; i < layout.modes.leaves; ++i) {
    const Int& stride = layout.modes.leaf[i].stride;
    const std::int64_t step = stride.axis == axis_column ? *down : 1;
    one.layout.modes.leaf[i].stride = stride.value * step;
  }
  Outcome<LayoutView> view = operands({one}, Placing::free, std::move(title));
  if (!view) return view;
  view->panels_[0].formula = text(layout);
  // .pack::16b and .unpack::16b put the 16-bit values of two columns into one register (PTX ISA,
  // tcgen05.ld and .st), and CuTe's lane is
  // (16,columns) bits then.
  constexpr std::int64_t in_register = 2;
  const bool packed = atom.tmem_bits.modes.mode(0).leaves == 2;
  view->remark(
      "Lanes count from the warp's own quarter: warp w of a warpgroup has lanes 32 w to 32 w + "
      "31.");
  view->remark(packed ? fmt::format("V counts the {} values of a thread, two of 16 bits in each of "
                                    "its {} registers.",
                                    view->values(), view->values() / in_register)
                      : fmt::format("V counts the {} registers of a thread.", view->values()));
  return view;
}

LayoutView::Region LayoutView::region_on_axes(std::string name, const Layout& layout,
                                              const Place& begin) {
  Region out{std::move(name), along(layout, axis_lane), along(layout, axis_column),
             along(layout, axis_cta)};
  out.lane.offset = out.lane.offset.value + begin.on(axis_lane).value;
  out.column.offset = out.column.offset.value + begin.on(axis_column).value;
  out.cta.offset = out.cta.offset.value + begin.on(axis_cta).value;
  return out;
}

// A shard and its replicas as one set of places: what of memory is taken. Nothing where it is not
// TMEM alone.
std::optional<LayoutView::Region> LayoutView::region_of_tiles(std::string name,
                                                              const TileLayout& layout) {
  Layout all;
  for (const Layout* part : {&layout.shard, &layout.replica}) {
    for (int i = 0; i < part->modes.leaves; ++i) {
      all.modes.push(Tree<Mode>(part->modes.leaf[i]));
    }
  }
  const bool fits = !all.modes.capacity() && layout.swizzle.identity();
  if (!fits || all.modes.empty() || !speaks_of_tensor_memory(all)) return std::nullopt;
  Region out = region_on_axes(std::move(name), all, layout.offset);
  out.coordinates = layout.shard.modes.leaves;
  return out;
}

namespace {

// Elements narrower than 32 bits lie side by side in a column, `packed` of them: a leaf that runs
// through columns is cut into the steps that stay in one and those that lead to the next.
//
//     16:1 of f16  ->  (2,8):(1,2)
//
// Nothing where the steps do not fill columns.
std::optional<Tree<Mode>> cut_at_columns(const Tree<Mode>& modes, std::int64_t lane,
                                         std::int64_t packed) {
  Tree<Mode> out;
  out.leaves = 0;
  for (int i = 0; i < modes.leaves; ++i) {
    const std::int64_t extent = modes.leaf[i].shape.value, stride = modes.leaf[i].stride.value;
    const std::int64_t step = stride % lane;
    const bool stays = step != 0 && step % packed != 0;
    const std::int64_t inside = stays ? std::min(extent, packed / step) : extent;
    if (stays && (step < 0 || packed % step != 0 || extent % inside != 0)) return std::nullopt;
    const bool cut = inside < extent;
    if (out.leaves + (cut ? 2 : 1) > max_leaves) return std::nullopt;
    const auto push = [&](Mode mode, int open, int close) {
      out.open[out.leaves] = static_cast<std::uint8_t>(open);
      out.close[out.leaves] = static_cast<std::uint8_t>(close);
      out.leaf[out.leaves++] = mode;
    };
    if (!cut) push(modes.leaf[i], modes.open[i], modes.close[i]);
    if (cut) push(Mode{inside, stride}, modes.open[i] + 1, 0);
    if (cut) push(Mode{extent / inside, stride * inside}, 0, modes.close[i] + 1);
  }
  return out;
}

// (V,M,K), a fragment: V's own modes and the instructions' along each of them are one coordinate,
// ((V0,M),(V1,K)).
Tree<Mode> by_coordinates(const Tree<Mode>& modes) {
  if (modes.rank() != 3 || modes.mode(0).rank() != 2) return modes;
  Tree<Mode> out;
  for (int i = 0; i < 2; ++i) {
    Tree<Mode> one;
    one.push(modes.mode(0).mode(i));
    one.push(modes.mode(i + 1));
    out.push(one);
  }
  return out;
}

}  // namespace

// CuTe's addresses of TMEM: a lane is 2^16 times 32 bits, counted in elements, so that
// elements of half the width have lanes of twice as many (core/tensor/fragment.h).
std::optional<LayoutView::Region> LayoutView::region_of_addresses(std::string name,
                                                                  const Layout& layout) {
  constexpr std::int64_t lane_step = 1 << 16;
  if (!layout.concrete() || !layout.plain()) return std::nullopt;
  std::int64_t least = 0;
  for (int i = 0; i < layout.modes.leaves; ++i) {
    const std::int64_t stride = layout.modes.leaf[i].stride.value;
    if (stride >= lane_step && (least == 0 || stride < least)) least = stride;
  }
  if (least == 0 || least % lane_step != 0) return std::nullopt;
  const std::int64_t packed = least / lane_step;
  if (packed != 1 && packed != 2 && packed != 4) return std::nullopt;
  const std::optional<Tree<Mode>> modes =
      cut_at_columns(by_coordinates(layout.modes), least, packed);
  if (!modes) return std::nullopt;
  Region out{std::move(name), Layout(*modes), Layout(*modes), Layout(*modes)};
  for (int i = 0; i < modes->leaves; ++i) {
    const std::int64_t stride = modes->leaf[i].stride.value, step = stride % least;
    out.lane.modes.leaf[i].stride = stride / least;
    out.column.modes.leaf[i].stride = step % packed == 0 ? step / packed : 0;
    out.cta.modes.leaf[i].stride = 0;
  }
  return out;
}

}  // namespace tilescope
