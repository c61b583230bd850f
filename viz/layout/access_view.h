// How a warp meets the memory that a layout describes: an instruction of 32 lanes at a time, in
// shared memory as wavefronts over 32 banks, in global memory as sectors of 128-byte lines; and
// which swizzles would do better.
//
// Of a layout of offsets the lanes of a warp walk along the rows or down the columns of its grid,
// and each moves `width` bytes that are side by side: elements along the mode whose stride is 1. So
// the first instruction reads what a warp reads first, and the others follow until every element is
// read. A thread/value layout says by itself which thread moves what (viz/layout/access_owners.h).
//
// Counting is core/layout/access.h's; here is only how it is shown.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/layout/access.h"
#include "viz/scene/scene.h"

namespace tilescope {

enum class Walk : std::uint8_t { along_rows, down_columns };
std::string_view name_of(Walk walk);  // "rows", "columns"

struct AccessChoice {
  Walk walk = Walk::down_columns;
  std::int64_t width = 4;          // bytes a lane moves: 4, 8 or 16
  std::int64_t element_bytes = 4;  // of what the layout counts
  friend bool operator==(const AccessChoice&, const AccessChoice&) = default;
};

// What a picture of a thread/value layout's accesses says besides: whose they are, and through
// which memory.
struct OwnedAccess {
  WarpRequests requests;
  std::vector<std::string> names;      // of each instruction: "warp 1, values 4 to 7"
  std::int64_t together = 1;           // values that a lane moves in one access
  std::vector<std::int64_t> elements;  // of the tile, by instruction, lane and value; -1: none
  std::vector<std::string> remarks;    // what was assumed: whole sentences
  struct Way {
    std::string label, command;
    bool current = false;
  };
  std::vector<Way> grids, memories;  // to choose from
  int grid = 0;
};

// The lanes of each instruction as coordinates of a layout: mode 0 the lane, mode 1 the
// instruction. Refused (a sentence) where a lane's bytes are not side by side, or lanes do not
// fill whole warps.
Outcome<Layout> lanes_of(const Layout& memory, const AccessChoice& choice);

class AccessView {
 public:
  // Refused: a layout that is not concrete, with more than 2^20 elements, or whose lanes are.
  static Outcome<std::shared_ptr<const AccessView>> of(const Layout& memory,
                                                       const AccessChoice& choice);
  // `memory`: from the tile's elements to offsets.
  static std::shared_ptr<const AccessView> of(OwnedAccess owned, const Layout& memory,
                                              const AccessChoice& choice);

  const Layout& memory() const { return memory_; }
  const AccessChoice& choice() const { return choice_; }
  const OwnedAccess* owned() const { return owned_ ? &*owned_ : nullptr; }  // null: lanes walk
  std::int64_t width() const { return requests_.width; }  // bytes that a lane moves
  std::int64_t instructions() const { return requests_.instructions(); }
  // The first of those that take the most wavefronts (touch the most sectors).
  std::int64_t worst_in_banks() const { return worst_in_banks_; }
  std::int64_t worst_in_sectors() const { return worst_in_sectors_; }
  const BankConflicts& conflicts() const { return conflicts_; }
  const Coalescing& coalesced() const { return coalesced_; }
  const std::vector<ServedPhase>& phases() const { return phases_; }
  const std::vector<TouchedSectors>& sectors() const { return sectors_; }

  // Rows of 32 words of 4 bytes: a wavefront, or a line of global memory.
  struct Word {
    bool there = false;
    int lane = 0;   // the first that asks for it
    int lanes = 0;  // how many do
    std::int64_t address = 0;
  };
  struct Row {
    std::string title;  // "phase 1, wavefront 2", "line at byte 384"
    std::array<Word, 32> words;
    std::int64_t phase = -1;    // of all instructions
    int part = 0;               // rows of one phase, or all: a line is between two parts
    std::uint32_t touched = 0;  // lines: a bit for each of the 4 sectors
  };
  std::vector<Row> wavefront_rows(std::int64_t instruction) const;
  std::vector<Row> line_rows(std::int64_t instruction) const;
  // The offsets that a phase asks for, counted over all instructions, in order; of a thread/value
  // layout the elements of the tile.
  std::vector<std::int64_t> offsets_of(std::int64_t phase) const;
  // What is wrong with an instruction's wavefronts, or that nothing is: a sentence.
  std::string bank_sentence(std::int64_t instruction) const;
  std::string sector_sentence(std::int64_t instruction) const;

 private:
  void count();
  std::int64_t served_phases(std::int64_t instruction) const;

  Layout memory_;
  AccessChoice choice_;
  WarpRequests requests_;
  std::optional<OwnedAccess> owned_;
  BankConflicts conflicts_;
  Coalescing coalesced_;
  std::vector<ServedPhase> phases_;  // in order of instructions
  std::vector<TouchedSectors> sectors_;
  std::int64_t worst_in_banks_ = 0, worst_in_sectors_ = 0;
};

// The swizzles of a layout by what they cost when warps walk along rows and down columns. Refused:
// a layout that has one already (without it, it has not), or that is too large to try them.
struct SwizzleAdvice {
  RankedSwizzles ranked;  // patterns: rows, columns
  // The layout behind one of them, as an expression.
  std::string expression(const RankedSwizzle& which) const;
  Layout plain;
};
Outcome<SwizzleAdvice> advise(const Layout& memory, const AccessChoice& choice);

// The picture: rows of words with their lanes, a heading and a sentence under it. `sectors`: lines
// of global memory; else wavefronts.
Scene build_scene(const AccessView& view, bool sectors, std::int64_t instruction,
                  const Theme& theme, Size size);

// Under it, where there is room: the tile itself, mode 0 down, and in it the elements that the
// rows' lanes ask for, in the lanes' colours.
void draw_tile_and_lanes(Scene& scene, const AccessView& view,
                         const std::vector<AccessView::Row>& rows, const Box& room);

// A layout of a power-of-two size as a matrix over GF(2): columns are the bits of the coordinate,
// rows the bits of the offset; a full cell flips its row's bit. Core's matrix_of computes it.
struct BitMatrix {
  struct Column {
    std::string title;  // "bit 2 of mode 1"
    int mode = 0, bit = 0;
    std::int64_t image = 0;
  };
  std::vector<Column> columns;  // the highest first
  int rows = 0;
  std::vector<std::string> modes = {};  // their names; empty: "mode 0"...
  std::string row_word = "offset";      // whose bits rows are
  std::string about = {};               // what was assumed: whole sentences
};
Outcome<BitMatrix> bits_of(const Layout& layout);
Scene build_scene(const BitMatrix& matrix, const std::string& title, const Theme& theme, Size size);

}  // namespace tilescope
