// Control flow (PTX ISA 9.7.12, 9.7.19).
#include "core/ptx/table/rows.h"

namespace tilescope::ptx {

// One row an opcode, one line a form.
// clang-format off
std::vector<Opcode> control_rows() {
  using U = Unit;
  return {
      {Op::bra, "bra", U::control, {{"uni?", "label"}}, "continues at a label", "9.7.12.3"},
      {Op::brx, "brx", U::control, {{"operation:idx uni?", "a:u32 targets"}},
       "continues at the label with that number in a list", "9.7.12.4"},
      {Op::call, "call", U::control, {{"uni?", "call"}},
       "calls a function of this file, by name or address, or vprintf or __assertfail", "9.7.12.5"},
      {Op::ret, "ret", U::control, {{"uni?", ""}}, "leaves the function; in an entry the same as exit",
       "9.7.12.6"},
      {Op::exit, "exit", U::control, {{"", ""}}, "ends the thread", "9.7.12.7"},
      {Op::trap, "trap", U::control, {{"", ""}}, "stops the whole launch with an error", "9.7.19.4"},
      {Op::brkpt, "brkpt", U::control, {{"", ""}}, "stops for a debugger; without one, as trap",
       "9.7.19.1"},
      {Op::alloca_, "alloca", U::control, {{"type:u32|u64", "d a n?"}},
       "takes memory on the stack, until the function returns or the stack is restored", "9.7.17.3",
       {{"", "sm_52", "7.3", "9.7.17.3"}}},
      {Op::stacksave, "stacksave", U::control, {{"type:u32|u64", "d"}}, "where the stack ends",
       "9.7.17.1",
       {{"", "sm_52", "7.3", "9.7.17.1"}}},
      {Op::stackrestore, "stackrestore", U::control, {{"type:u32|u64", "a"}},
       "lets the stack end where it did", "9.7.17.2",
       {{"", "sm_52", "7.3", "9.7.17.2"}}},
      {Op::pmevent, "pmevent", U::control, {{"", "n"}, {"mask", "n"}},
       "counts events for a profiler: nothing here", "9.7.19.3"},
      {Op::griddepcontrol, "griddepcontrol", U::control,
       {{"operation:launch_dependents|wait", ""}},
       "orders launches that depend on each other: they run one after the other here", "9.7.13.13",
       {{"", "sm_90", "7.8", "9.7.13.13"}}},
      {Op::nanosleep, "nanosleep", U::control, {{"type:u32", "a"}}, "lets others go on for a while",
       "9.7.19.2",
       {{"", "sm_70", "", "9.7.19.2"}}},
  };
}
// clang-format on

}  // namespace tilescope::ptx
