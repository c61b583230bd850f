// The layout view's model: which grids are shown, and everything about any cell, on demand.
//
// Five kinds of content:
//     plain         one layout; cell (i, j) shows its offset. A product's block and where its
//     copies
//                   begin are before it, and a cell belongs to a copy, its tile
//     divided       input, logical_divide and the form that was asked for side by side; a cell
//                   belongs to a tile
//     parts         a whole and a part of it, a part of that...; what is not taken is faded
//     thread_value  tiles, such as (M, N); a cell says which threads and values own it. One tile,
//     or
//                   several that belong together: a copy's two sides, or A, B and C of a product
//     places        one layout whose strides are on axes; a cell shows its place
// A derivation has what an operation was given before what it answers
// (viz/scene/layout_derivation); grids of coordinates show these, and stand for the elements that
// they lead to.
//
// Grids are drawn as CuTe draws them: mode 0 down, mode 1 to the right, nested modes flattened
// colexicographically with lines between their parts. Rank 1 is one row; modes beyond the second
// are slices side by side.
//
// Colour never means something alone: what it stands for is in the cell too, as a number with its
// mark (T thread, W warp, V value, t tile, b bank), and cells that are the same element again,
// because of a stride of 0 or of strides that overlap, have a tick in their corner.
//
// A LayoutView does not change once made: what a reader chose (colour, hover, isolation) is a
// LayoutChoice, a plain value. No list of cells is kept: offset, tile and owners are computed from
// the layouts in O(1) (owners from one table over the tile), so a million cells cost what is seen.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/language/language.h"
#include "viz/layout/layout_choice.h"
#include "viz/layout/layout_kinds.h"
#include "viz/layout/layout_owners.h"
#include "viz/layout/layout_panel.h"
#include "viz/scene/theme.h"

namespace tilescope {

class LayoutView {
 public:
  enum class Kind : std::uint8_t { plain, divided, thread_value, parts, places };
  // How panels are: wherever there is room, or as a product: A, and B above C to its right, so
  // that a row of A meets a column of B in their element of C.
  enum class Placing : std::uint8_t { free, product };

  // A tile and who owns its elements.
  struct Operand {
    std::string title, axes;
    Layout layout;             // (thread, value) -> element of the tile
    Tuple tile;                // its shape: elements are counted colexicographically
    bool turned = false;       // mode 1 down and mode 0 across, as B is above its product
    bool shared = false;       // read from memory by descriptor, not thread by thread
    ThreadNames threads = {};  // the thread that the layout's i-th is, where that is not i
    std::string remark = {};   // under the picture: what its owners mean
    int element_bits = 0;      // 0: not known
  };

  // Refused (a sentence): unknown numbers or axes, no cells, operands that do not divide, a size
  // beyond 2^62, a tile of more than 2^24 cells.
  static Outcome<LayoutView> plain(const Layout& layout, std::string formula = {});
  enum class DivideForm : std::uint8_t { zipped, tiled, flat };
  static Outcome<LayoutView> divided(const Layout& input, const Tiler& tiler,
                                     DivideForm form = DivideForm::zipped);
  // The same of a layout whose strides are on axes, or that has unknown numbers: cells show
  // places. Of an unknown extent two tiles are drawn.
  static Outcome<LayoutView> divided_places(const Layout& input, const Place& begin,
                                            const Tiler& tiler, DivideForm form);
  // A product by the name of its operation, "blocked_product": the block, where its copies begin,
  // and all of them.
  static Outcome<LayoutView> multiplied(std::string_view operation, const Layout& block,
                                        const Tiler& copies);
  static Outcome<LayoutView> thread_value(const Layout& layout, const Tuple& tile);
  // `thread_mark`: "T", or what else counts as a thread, such as "CTA".
  static Outcome<LayoutView> operands(const std::vector<Operand>& all, Placing placing,
                                      std::string title, std::string thread_mark = "T");
  // A whole, and each part with its offset in the whole's memory. They share the colours, so that
  // an element looks the same in each grid. Partial tiles reach beyond the whole, where an offset
  // may be another element's: `elements` says which element of the whole a part's i-th is, -1 for
  // none. Where any part has none of these, offsets say it.
  struct Part {
    std::string title;
    Layout layout;
    std::vector<std::int64_t> elements = {};
  };
  static Outcome<LayoutView> parts(const std::vector<Part>& chain, std::string title);
  static Outcome<LayoutView> of_atom(const MmaAtom& atom, std::string title);
  static Outcome<LayoutView> of_tiled(const TiledMma& mma, std::string title);
  // One operand alone, or one side of a copy, as layout_C_TV(MMA) and layout_S_TV(COPY) give them.
  static Outcome<LayoutView> of_operand(const TiledMma& mma, OperandName x, std::string title);
  static Outcome<LayoutView> of_operand(const MmaAtom& atom, OperandName x, std::string title);
  static Outcome<LayoutView> of_side(const TiledCopy& copy, Side side, std::string title);
  static Outcome<LayoutView> of_copy(const CopyAtom& atom, std::string title);
  // Which thread's register is in which lane and column of TMEM: tmem_fragment(ATOM).
  static Outcome<LayoutView> of_fragment(const CopyAtom& atom, const Layout& layout,
                                         std::string title);
  static Outcome<LayoutView> of_tiled(const TiledCopy& copy, std::string title);
  // A layout whose strides are on axes: each cell its place, "(3,2)" or "3@TLane+4@TCol".
  // `begin` is added to each; with replicas an element has several places (TIRx's R).
  static Outcome<LayoutView> on_axes(const Layout& layout, std::string title,
                                     const Place& begin = {}, const Layout& replica = {});
  // A layout with unknown numbers: each cell what is known of its offset, "3+2a" where a is an
  // unknown stride. Of an unknown extent the first few are shown.
  static Outcome<LayoutView> with_unknowns(const Layout& layout, std::string title);
  static Outcome<LayoutView> of_tiles(const TileLayout& layout, std::string title);
  // What is in TMEM, in 128 lanes x 512 columns of a CTA, and which warp reaches it.
  struct Region {
    std::string name;          // empty: each of its rectangles has a colour and a name of its own
    Layout lane, column, cta;  // element -> lane, column and CTA; they have one shape
    std::string letters = {};  // of the coordinates in such a name: "mn" for "m 0-15, n 0-63"
    int coordinates = -1;      // modes from this one on make copies; -1: none does
    std::string group = {};    // of a rectangle: what it shares its colour with
  };
  static Outcome<LayoutView> tensor_memory(const std::vector<Region>& regions, std::string title);
  static bool speaks_of_tensor_memory(const Layout& layout);  // by its axes: TLane, TCol, cbx
  static Region region_on_axes(std::string name, const Layout& layout, const Place& begin);
  static std::optional<Region> region_of_tiles(std::string name, const TileLayout& layout);
  static std::optional<Region> region_of_addresses(std::string name, const Layout& layout);
  // What an expression is best seen as: a division as divided, make_layout_tv and a thread/value
  // pair as thread_value, layout_C_TV(MMA) and its like too, atoms and what is tiled with them as
  // their operands, a slice, tile or partition as parts of what it is taken from, a tiler as what
  // it takes, other layouts plain. The error's `where` is the caret picture.
  static Outcome<LayoutView> of_expression(std::string_view expression);
  static Outcome<LayoutView> of_value(const Value& value, std::string formula);
  // The outermost operation of an expression with what it was given: input, operator, the `shown`th
  // step of its derivation, result. Steps are counted from 1; 0 or one without a grid shows none.
  // Refused where the operation is none of those whose grids can be linked (what it was given is no
  // layout, or is too large); `of_expression` shows it then.
  static Outcome<LayoutView> derived(std::string_view expression, const Derivation& steps,
                                     std::size_t shown);

  // Two layouts beside each other: owners beside owners, else offsets beside offsets, a division's
  // by tile. Refused where they show no same kind of thing.
  static Outcome<LayoutView> beside(std::string_view first, std::string_view second);

  Kind kind() const { return kind_; }
  bool shows_places() const { return places_.texts != nullptr; }  // instead of offsets
  Placing placing() const { return placing_; }
  const std::string& thread_mark() const { return owned_.thread_mark; }
  const std::string& title() const { return title_; }
  void retitle(std::string title) { title_ = std::move(title); }
  void remark(std::string note) { notes_.push_back(std::move(note)); }
  const std::vector<Panel>& panels() const { return panels_; }
  std::optional<int> bits_of_element() const { return element_bits_; }  // where the value says
  // Remarks that belong under the picture: elements outside the tile, cells without an owner.
  const std::vector<std::string>& notes() const { return notes_; }

  std::vector<ColourBy> colours() const;  // what this view can be coloured by, best first
  ColourBy colour(const LayoutChoice& choice) const;  // the chosen one, or the best
  // Why this view cannot be coloured so, and what would work; nothing where it can.
  std::optional<Error> cannot_colour(ColourBy by) const;

  std::int64_t tiles() const { return division_.tiles; }  // divided
  std::int64_t threads() const {
    return owned_.threads;
  }  // thread_value, and plain of rank 2 (its rows)
  std::int64_t values() const { return owned_.values; }

  // How many tiles, threads, warps, values or banks there are to tell apart; 0 of a scale.
  std::int64_t categories(ColourBy by) const;

  std::int64_t lowest_offset() const { return lowest_; }
  std::int64_t highest_offset() const { return highest_; }
  std::size_t longest_place() const { return places_.longest; }    // places: in characters
  std::int64_t most_places() const { return places_.most; }        // of one element
  std::int64_t most_owners() const { return owned_.most_owners; }  // of one cell

  std::string slice_name(int panel, std::int64_t slice) const;  // "(_,_,1)"
  bool exists(const Cell& cell) const;
  bool inside(const Cell& cell) const;
  std::int64_t offset(const Cell& cell) const;  // what the grid's layout answers
  // The same element wherever it is: its offset, which of a grid of coordinates is that of the
  // element that they lead to.
  std::int64_t linked(const Cell& cell) const;
  std::int64_t tile(const Cell& cell) const;              // -1: none
  std::span<const Owner> owners(const Cell& cell) const;  // thread_value only; may be empty
  bool taken(const Cell& cell) const;                     // parts: by the next one; true elsewhere
  bool again(const Cell& cell) const;                     // an element that an earlier cell has
  std::int64_t bank(const Cell& cell, int element_bytes) const;
  // What banks are counted of: "bank, elements of 2 bytes", or that this is taken for granted.
  std::string bank_words(int element_bytes) const;
  CellInfo info(const Cell& cell, int element_bytes = 0) const;

  // The set as all grids have it: of an offset that one grid shows, the element's place in memory.
  Focus resolved(Focus focus) const;
  // Whether the cell belongs to the set. A cell with several owners belongs to each one's set.
  bool holds(const Focus& focus, const Cell& cell) const;
  // The sets that hovering a cell lights: its offset (the same element in every grid), and what
  // the colour stands for: its tile, or each owner's thread, warp or value.
  std::vector<Focus> lit_by(const Cell& cell, ColourBy by) const;
  // How many cells of a panel a set has, by counting all of them (for tests and the inspector).
  std::int64_t count(const Focus& focus, int panel) const;

  Rgba colour_of(const Cell& cell, ColourBy by, const Theme& theme, int element_bytes = 0) const;
  // What each owner of a cell counts as, each number once, in the owners' order; empty for none.
  std::vector<std::int64_t> numbers_at(const Cell& cell, ColourBy by) const;
  // The colours of a cell's owners, as its label names them: one for each of `lines`, or,
  // where that is 0, one for each number that differs; the last is grey where there are more. Empty
  // where there is nothing to tell apart.
  std::vector<Rgba> owner_colours(const Cell& cell, const LayoutChoice& choice, const Theme& theme,
                                  int lines) const;
  // What is written before a number that a colour stands for: "T" of T5; empty for an offset.
  std::string_view mark(ColourBy by) const;
  // What is written in a cell: "59", "59" and "t3", "T5" and "V3". As pairs each owner has a line,
  // "T5 V3", and those that do not fit are counted in the last, "+4".
  struct LabelForm {
    int lines = 2;
    bool pairs = false;
  };
  // The mark and the number, "T5", or the name that the number has.
  std::string name(ColourBy by, std::int64_t number) const;
  // TMEM as a map: runs of lanes and columns that hold the same.
  bool maps_tensor_memory() const { return !owned_.value_names.empty(); }
  // The forms that this view's labels can have, the fullest first.
  std::vector<LabelForm> label_forms(const LayoutChoice& choice) const;
  std::vector<std::string> label(const Cell& cell, const LayoutChoice& choice,
                                 LabelForm form) const;
  // All owners of a cell in words, "T5 V3, T7 V3": for where a label has no room for them.
  std::string owner_words(const Cell& cell) const;
  // The same for part of a grid in one pass: every row_step-th row, every column_step-th column.
  struct Window {
    int panel = 0;
    std::int64_t slice = 0, row = 0, column = 0, rows = 0, columns = 0;
    std::int64_t row_step = 1, column_step = 1;

    std::int64_t down() const { return ceil_div(rows, row_step); }
    std::int64_t across() const { return ceil_div(columns, column_step); }
  };
  std::vector<Rgba> colours_of(const Window& window, const LayoutChoice& choice,
                               const Theme& theme) const;
  // The same in two parts: what pointer and isolation do not change, to be kept; and from that the
  // colours with all but what is lit faded, which is quick once something has been lit.
  struct Painted {
    std::vector<std::int64_t> numbers;  // what each cell counts as by its colour
    std::vector<Rgba> colours;
    // Made when something is lit first: the colours faded, and what cells count as by another
    // attribute, where that tells what is lit.
    std::vector<Rgba> faded;
    std::map<ColourBy, std::vector<std::int64_t>> others;
  };
  Painted painted(const Window& window, const LayoutChoice& choice, const Theme& theme) const;
  void lit(Painted& painted, const Window& window, const LayoutChoice& choice, const Theme& theme,
           std::vector<Rgba>& out) const;
  // What each cell counts as: its tile, first owner's thread, warp or value, offset, bank; -1:
  // none.
  std::vector<std::int64_t> numbers_of(const Window& window, ColourBy by, int element_bytes) const;
  // The first cells, row by row, that are at this offset; none that are padding.
  std::vector<Cell> cells_at(const Window& window, std::int64_t offset, std::size_t most) const;
  // Parts: 1 for each cell that a panel's `part` or `last_part` has, 0 for the others.
  std::vector<std::int64_t> members_of(const Window& window, const Panel::Numbers& part) const;

  // What the colours mean: a few swatches, or the ends of a scale.
  struct Legend {
    std::string title;  // "colour: tile"
    struct Entry {
      std::vector<Rgba> colours;  // one, or from left to right those of a ramp
      std::string label;
      Focus focus;  // what the entry stands for
    };
    std::vector<Entry> entries;
    std::int64_t unlisted = 0;    // categories beyond those listed
    std::string lowest, highest;  // of a scale, which is a single entry
  };
  Legend legend(const LayoutChoice& choice, const Theme& theme) const;

 private:
  using OnAxis = LayoutPlaces::OnAxis;

  LayoutView() = default;
  static Outcome<LayoutView> of_evaluated(Scope& scope, std::string_view expression,
                                          const Value& value);
  void add_panel(std::string title, std::string axes, const Layout& layout);
  std::optional<Error> add_operand(const Operand& operand);
  static Outcome<LayoutView> of_rows(const CopyAtom& atom, std::string title);
  static Outcome<LayoutView> of_box(const CopyAtom& atom, const Tuple& box, std::string title);
  static Outcome<LayoutView> of_refresh(const CopyAtom& atom, std::string title);
  static Operand operand_of(const MmaAtom& atom, OperandName x);
  static Result<Operand> operand_of(const TiledMma& mma, OperandName x);
  static Result<Operand> operand_of(const TiledCopy& copy, Side side);
  friend LayoutView sliced(LayoutView view, const struct SliceChoice& choice);
  void turn_panel(int panel, const std::vector<int>& order, std::int64_t at);
  static void measure_grid(Panel& panel);  // rows, columns, slices and the lines between parts
  void measure_offsets(const Layout& layout);
  void mark_overlaps();  // of the last panel, with a note
  void insert_panel(std::size_t at, std::string title, std::string axes, const Layout& layout,
                    const std::optional<Layout>& through);
  std::optional<Error> add_step(std::size_t at, const DerivationStep& step);
  std::optional<Error> divide(const Layout& input, const Tiler& tiler, DivideForm form);
  std::optional<Error> lay_out_keys(const Layout& input, const Tiler& tiler, Layout& keys);

  std::vector<std::string> owner_label(const Cell& cell, ColourBy by, LabelForm form) const;
  std::int64_t index_of(const Cell& cell) const;
  std::int64_t bank_of(std::int64_t offset, int element_bytes) const;
  std::int64_t input_index(std::int64_t key) const;  // -1: padding
  std::int64_t element_of(const Cell& cell) const;   // of the input or the whole; -1: padding
  std::int64_t member_of(const Cell& cell) const;    // parts: what Panel::part has of it
  std::int64_t place_of(const Cell& cell) const;     // divided: index in the zipped form
  std::int64_t block_of(const Cell& cell) const;     // plain: its copy, or outer coordinates
  std::int64_t number_of(const Cell& cell, ColourBy by, int element_bytes) const;
  static std::int64_t number_of_owner(const Owner& owner, ColourBy by);
  // All places of each element of a grid, its own first, by colexicographic index.
  struct Places {
    Layout grid;  // its shape; strides do not matter
    std::string formula;
    std::vector<std::vector<std::string>> texts;
    std::vector<OnAxis> scales;
    std::vector<std::string> notes;
  };
  static Outcome<Places> places_on_axes(const Layout& layout, const Place& begin,
                                        const Layout& replica);
  // `tiler`: what will cut the layout, null for nothing.
  static Outcome<Places> places_with_unknowns(const Layout& layout, const Tiler* tiler);
  static Outcome<LayoutView> of_places(Places places, std::string title);
  void show_places(Places places);
  const OnAxis* axis_of(ColourBy by) const;  // null: not a colour by axis, or no such axis
  // Thread and warp mean the axes laneid, tx and warpid of a layout that has these; else as it is.
  ColourBy meant_by(ColourBy by) const;
  // Offsets and numbers on an axis are a scale between the lowest and the highest of them.
  struct Scale {
    std::int64_t lowest = 0, highest = 0;
  };
  std::optional<Scale> scale_of(ColourBy by) const;
  Rgba paint(std::int64_t number, ColourBy by, const Theme& theme) const;
  std::vector<Focus> lit_now(const LayoutChoice& choice) const;  // empty: everything is

  Kind kind_ = Kind::plain;
  Placing placing_ = Placing::free;
  std::string title_;
  std::vector<Panel> panels_;
  std::vector<std::string> notes_;
  std::int64_t lowest_ = 0, highest_ = 0;  // offsets that are reached
  std::optional<int> element_bits_;        // for banks; none: the value says no type
  // What a kind keeps besides; of the other kinds they are empty.
  LayoutTiles division_;
  LayoutPlaces places_;
  LayoutOwnership owned_;
};

}  // namespace tilescope
