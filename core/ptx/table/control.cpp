// Control flow (PTX ISA 9.7.12, 9.7.19).
#include "core/ptx/table/rows.h"

namespace tilescope::ptx {

// One row an opcode, one line a form.
// clang-format off
std::vector<Opcode> control_rows() {
  using U = Unit;
  return {
      {Op::bra, "bra", U::control, {{"uni?", "label"}}, "goes on at a label", "9.7.12.3"},
      {Op::ret, "ret", U::control, {{"uni?", ""}}, "leaves the function; in an entry the same as exit",
       "9.7.12.6"},
      {Op::exit, "exit", U::control, {{"", ""}}, "ends the thread", "9.7.12.7"},
      {Op::trap, "trap", U::control, {{"", ""}}, "stops the whole launch with an error", "9.7.19.5"},
      {Op::nanosleep, "nanosleep", U::control, {{"type:u32", "a"}}, "lets others go on for a while",
       "9.7.19.2"},
  };
}
// clang-format on

}  // namespace tilescope::ptx
