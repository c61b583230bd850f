// The opcode table, put together: its rows are in core/ptx/table, here they get the order of the
// enumeration Op.
#include <algorithm>

#include "core/ptx/table/rows.h"

namespace tilescope::ptx {

const std::vector<Opcode>& opcodes() {
  static const std::vector<Opcode> rows = [] {
    std::vector<Opcode> all;
    for (auto part :
         {arithmetic_rows, bits_rows, moves_rows, memory_rows, texture_rows, control_rows,
          together_rows, matrix_rows, async_rows, tcgen05_rows, wgmma_rows}) {
      for (Opcode& row : part()) all.push_back(std::move(row));
    }
    std::sort(all.begin(), all.end(), [](const Opcode& a, const Opcode& b) { return a.op < b.op; });
    return all;
  }();
  return rows;
}

}  // namespace tilescope::ptx
