// What a machine holds at a moment, as plain values: for views, and for tests of them.
//
// All is read from a Machine that is stopped; nothing here changes it. Blocks are asked for by
// their number, x + y * grid.x + z * grid.x * grid.y, and are there while they are resident; others
// answer nothing. Who wrote a byte of shared memory is known with Options::remember_writers, or
// where copies go through the async proxy; of buffers always.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/ptx/lives.h"
#include "core/sim/async/shared_tiles.h"
#include "core/sim/machine/machine.h"
#include "core/sim/machine/state.h"
#include "core/sim/tcgen05/in_flight.h"

namespace tilescope::sim {

// ---- registers ----

// A register of a warp: what each lane has in it.
struct RegisterValue {
  std::string name;  // "%r3"
  ptx::Type type = ptx::Type::b32;
  // Of a lane: bytes 0 to 7, or the predicate in bit 0; and bytes 8 to 15 of the widest.
  std::array<std::uint64_t, 32> low{}, high{};
  std::array<std::uint16_t, 32> undefined{};  // of a lane: a bit for each byte
  // Its place holds it here; else that of another register, or nothing that is still wanted.
  bool alive = false;
};

// D of a warpgroup's wgmma.mma_async, as its registers hold it.
struct GroupAccumulator {
  std::uint32_t pc = 0;   // a product that writes it: the next one, else the last before
  Site site;              // and its lines, of the warpgroup's first thread
  std::string_view type;  // "f32", "f16", "s32"
  std::uint32_t columns = 0;
  static constexpr std::uint32_t rows = 64;  // 16 of each warp
  bool in_use = false;  // by a product that some warp of the warpgroup has not waited for
  // Of each row of D where in global memory the row of A begins that its last product took for it,
  // and of each column that of B: the address of the first element along K. 0: not known, as it was
  // in shared memory and TMA has not brought it there, it was in registers and nobody has followed
  // it there (core/sim/wgmma/rows.h), or it is outside of its tensor. Empty: the first product of
  // these sums has not written them yet, so that the registers hold what was there before.
  std::vector<std::uint64_t> rows_from, columns_from;
  // In how many splits each of the four warps is. What is held goes by where each lane stands.
  std::array<std::uint32_t, 4> splits{};

  struct Element {
    double value = 0;
    bool undefined = false;
    // The lane stands where the register is still wanted; else other registers may have its place.
    bool held = false;
    bool changed = false;             // another instruction has written it since the last product
    std::uint8_t warp = 0, lane = 0;  // of the warpgroup, of the warp: whose it is
    std::uint16_t reg = 0;            // which of `registers`
    std::uint8_t byte = 0;            // in it
  };
  std::vector<Element> elements;  // row after row
  std::vector<std::string> registers;
  const Element& at(std::uint32_t row, std::uint32_t column) const {
    return elements[std::size_t{row} * columns + column];
  }
};

// Where registers live: made once for a program.
class Registers {
 public:
  explicit Registers(const ptx::Program& program);
  // Those of the split's function that are alive before its next instruction, by their numbers.
  std::vector<RegisterValue> all(const Machine& machine, std::uint64_t block, std::uint32_t warp,
                                 std::size_t split = 0) const;
  // The one of this name in the split's function; nothing: there is none.
  std::optional<RegisterValue> find(const Machine& machine, std::uint64_t block, std::uint32_t warp,
                                    std::string_view name, std::size_t split = 0) const;
  // Those of the warp's warpgroup that one of its lanes still wants where it stands, in the order
  // of the program; products that write the same registers have one. `lane`: the one looked at,
  // before whose next product they are; nothing: that of the split that is at a wgmma.
  std::vector<GroupAccumulator> accumulators(const Machine& machine, std::uint64_t block,
                                             std::uint32_t warp,
                                             std::optional<std::uint32_t> lane = {}) const;

 private:
  std::vector<ptx::Life> lives_;
  std::vector<std::uint32_t> positions_;
};

// ---- warps ----

struct SplitState {
  std::uint32_t pc = 0;  // instruction that it executes next, or waits at
  Mask lanes = 0;
  Wait wait = Wait::none;
  std::string why;          // "bar 0: 32 of 64 threads are there"; empty: it is ready
  std::string_view text;    // of the instruction, as in the PTX
  Site site;                // and its lines
  std::uint32_t depth = 0;  // calls that its first lane is in
};
struct WarpState {
  std::uint32_t index = 0;
  Mask live = 0;               // lanes that have not exited
  std::uint64_t executed = 0;  // instructions
  std::vector<SplitState> splits;
};
std::vector<WarpState> warps_of(const Machine& machine, std::uint64_t block);

// The index of the split that a lane is in, of a warp that has any; the first where the lane has
// exited.
std::size_t split_of_lane(const WarpState& warp, std::uint32_t lane);

// ---- bytes ----

struct ByteState {
  std::byte value{};
  bool undefined = false;
  std::optional<Site> writer;  // who wrote it last
};
// Bytes [begin, begin + count) of a block's shared memory, as many as there are.
std::vector<ByteState> shared_bytes(const Machine& machine, std::uint64_t block,
                                    std::uint64_t begin, std::uint64_t count);

struct ElementState {
  double value = 0;
  bool undefined = false;  // a byte of it
  std::optional<Site> writer;
};
// A tile of a tensor in a block's shared memory.
struct TileState {
  SharedTile tile;
  Site issuer;
  std::uint64_t issuing_block = 0;
  std::optional<std::size_t> buffer;  // that it is a box of: index into the job's
  // Of a copy that is in flight; else it is there, or was taken from there.
  std::optional<Stage> in_flight;
};
// What TMA has brought or taken, then what is in flight; each in the order of issue.
std::vector<TileState> tiles_of(const Machine& machine, std::uint64_t block);

// An element of a buffer, counted as they are; nothing: there is none.
std::optional<ElementState> element(const Machine& machine, std::size_t buffer,
                                    std::uint64_t index);

// A cell of TMEM: 32 bits.
struct CellState {
  std::uint32_t bits = 0;
  std::uint8_t undefined = 0;  // a bit for each byte
  // Who stored to it, or issued the product or copy that did or is to, last.
  std::optional<Site> writer;
};
std::vector<Allocation> columns_of(const Machine& machine, std::uint64_t block);
// Cells [column, column + count) of a lane, as far as the block has allocated them.
std::vector<CellState> cells_of(const Machine& machine, std::uint64_t block, std::uint32_t lane,
                                std::uint32_t column, std::uint32_t count);

// ---- barriers ----

struct MbarrierState {
  std::uint32_t offset = 0;    // in shared memory
  std::string name;            // "the mbarrier at byte 16 of shared memory (full)"
  std::uint64_t phase = 0;     // the current one, which is incomplete
  std::uint32_t pending = 0;   // arrivals that it still waits for
  std::uint32_t expected = 0;  // arrivals of the next phase
  std::int32_t bytes = 0;      // still to come (tx-count)
  std::vector<Attendance> arrived, arrived_before, waiting;  // in this phase; in the last; for it
  std::string story;                                         // who is there and who is missing
};
std::vector<MbarrierState> mbarriers_of(const Machine& machine, std::uint64_t block);

struct BarrierState {
  std::uint32_t number = 0;
  std::uint32_t arrived = 0, expected = 0;  // threads
  std::vector<std::uint32_t> waiting;       // warps, at least some lanes
};
// Those of the 16 at which somebody has arrived.
std::vector<BarrierState> barriers_of(const Machine& machine, std::uint64_t block);

// ---- what is in flight ----

struct OperationState {
  std::string_view name;  // "cp.async.bulk.tensor"
  std::uint64_t number = 0;
  Stage stage = Stage::issued;
  Site issuer;
  std::uint64_t issuing_block = 0;
  std::vector<Range> reads, writes;       // of the block's shared memory
  GlobalRange global;                     // from the first to the last address; empty: none
  TensorCells cells;                      // of TMEM
  std::optional<std::uint32_t> mbarrier;  // that it completes on
  std::string mbarrier_name;              // that in words: "the mbarrier at byte 16 of..."
  std::uint32_t transactions = 0;         // bytes that it completes there
  std::optional<std::uint32_t> group;     // of its thread, by which it is waited for
};
std::vector<OperationState> operations_of(const Machine& machine, std::uint64_t block);

// ---- as text, a line each ----
std::string text(const SplitState& split);
std::string text(const RegisterValue& value, std::uint32_t lane);
std::string text(const MbarrierState& barrier);
std::string text(const BarrierState& barrier);
std::string text(const OperationState& operation);
std::string_view name_of(Stage stage);

}  // namespace tilescope::sim
