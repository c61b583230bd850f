// The tiles of a run that is stopped, on its matrices: which part of A, B and D is in the
// block's shared memory now or is on its way, and which tile of D the block is about.
//
// Of boxes copied by TMA this is exact: the copy says it, also of those that a TMA store has taken.
// The tile of D that the block is about is that of the rows of A and B that the product in flight
// reads, or that came last, where the matrices are D (m, n), A (m, k), B (n, k); else what the
// block has written of D so far. Sums in registers: viz/session/matrices_sums.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "viz/machine/memory_now.h"
#include "viz/matrix/matrices_view.h"

namespace tilescope {

struct Session;

struct MatrixTile {
  std::string matrix;  // the buffer's name
  std::int64_t row = 0, column = 0, rows = 0, columns = 0;
  std::string label;    // "stage 1", "place 1, coming", "block 3"
  std::string command;  // what a click on its label does; empty: nothing
  std::string leads;    // that in words
  Rgba colour;
  // in_flight: its edge is dashed. current: the byte, or the warp, looked at has part in it.
  bool in_flight = false, current = false;
  bool sums = false;   // that registers hold
  bool tinted = true;  // else only its edge is drawn, over values that are its own
};
// Those of the block looked at; none where no machine is stopped.
std::vector<MatrixTile> matrix_tiles(const Session& session);

// Over a picture of the matrices; their labels are targets.
void draw_matrix_tiles(Scene& scene, const MatricesView& view, const MatricesFrame& frame,
                       const std::vector<MatrixTile>& tiles);

// The element of the output, "D [130, 7]", that row and column of a product's accumulator are.
// Exact for one in flight, by the tiles of A and B that it reads; for one that is complete, where
// the block has but one tile of the output to compute. Empty: not known.
std::string output_element(const sim::Machine& machine, const MemoryNow& now,
                           const sim::OperationState* product, std::uint32_t row,
                           std::uint32_t column);

// The bytes of the block's shared memory that hold an element's part of a matrix now, where that is
// one element: {"A in memory", "byte 1024, coming"}. `pointed` as in MatricesView.
Lines element_in_memory(const Session& session, const MatricesView& view, Element element,
                        std::optional<std::size_t> pointed = {});

}  // namespace tilescope
