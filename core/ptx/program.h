// A decoded entry: a dense list of instructions whose names are resolved, whose registers have
// places, and whose control flow is known. What executes it chooses its own handlers (core/sim).
//
// Registers live in a register file of 32 lanes side by side: a 32-bit register is 32 words, a
// 16-bit one 32 halves, and so on. A register's place is a byte offset into that file; registers
// that are never alive together share a place. Predicates are one 32-bit mask each, in a file of
// their own; predicate 0 is always true and is the guard of unguarded instructions.
//
// A register that may be read before its function writes it is in Routine::undefined_at_start.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/ptx/module.h"
#include "core/ptx/opcodes.h"

namespace tilescope::ptx {

constexpr int lanes = 32;

// Special registers (10). The first group is constant in a thread and read from a place that is
// filled when the warp starts; the others are asked for at every read.
// clang-format off
enum class Special : std::uint8_t {
  tid_x, tid_y, tid_z, ntid_x, ntid_y, ntid_z, ctaid_x, ctaid_y, ctaid_z, nctaid_x, nctaid_y,
  nctaid_z, laneid, warpid, nwarpid, smid, nsmid, gridid, warpsize, lanemask_eq, lanemask_le,
  lanemask_lt, lanemask_ge, lanemask_gt, dynamic_smem_size, total_smem_size, aggr_smem_size,
  reserved_smem_offset_begin, reserved_smem_offset_end, reserved_smem_offset_cap,
  reserved_smem_offset_0, reserved_smem_offset_1,
  clusterid_x, clusterid_y, clusterid_z, nclusterid_x, nclusterid_y, nclusterid_z,
  cluster_ctaid_x, cluster_ctaid_y, cluster_ctaid_z, cluster_nctaid_x, cluster_nctaid_y,
  cluster_nctaid_z, cluster_ctarank, cluster_nctarank, current_graph_exec,
  clock, clock_hi, clock64, globaltimer, globaltimer_lo, globaltimer_hi,
  count_
};
// clang-format on
constexpr bool is_dynamic(Special s) {
  return s >= Special::clock;
}
std::string_view name_of(Special special);  // "%tid.x"
int bits_of(Special special);

struct Operand {
  enum class Kind : std::uint8_t {
    none,       // left out
    sink,       // written and forgotten: `_`
    reg,        // index: the register
    predicate,  // index: the register, whose place is a mask; no_register: always true
    constant,   // value; index: its place among the program's constants
    special,    // index: a dynamic Special
    vector,     // index, count: elements in Program::elements
    address,    // [reg + value]; or [value] with index == no_register
    label,      // index: an instruction
    targets,    // index, value: the first label in Program::elements and how many, of brx.idx
    call,       // index: what is called, in Program::calls
    frame,      // the address of a local variable: register `index` + value; only mov takes it
  };
  Kind kind = Kind::none;
  Type type = Type::none;
  bool written = false;
  bool negated = false;
  bool in_shared = false;  // the value is an address of a variable in shared memory
  std::uint8_t count = 0;
  std::uint32_t index = 0;
  std::uint64_t value = 0;
};
constexpr std::uint32_t no_register = ~0u;

struct Instruction {
  Op op = Op::mov;
  std::uint8_t form = 0;
  Unit unit = Unit::move;
  Modifiers modifiers;
  bool guarded = false, guard_negated = false;
  std::uint32_t guard = no_register;   // a predicate register
  std::uint32_t first = 0, count = 0;  // its operands, in Program::operands
  std::uint32_t line = 0;
  std::uint32_t file = 0, source_line = 0;
  std::uint32_t caller_file = 0, caller_line = 0;  // see Statement
  std::string_view text;
};

struct Register {
  std::string_view name;     // "%r" of "%r<9>"
  std::int32_t number = -1;  // 3 of "%r3"; -1 where the name is whole
  Type type = Type::b32;
  std::uint32_t place = no_register;  // byte offset, or number of the mask; none if never used
  // One of the registers that are one: copies of each other that never live side by side, of the
  // registers that a wgmma uses and those that mov leads to (copies.cpp). None: it is alone.
  std::uint32_t same = no_register;
};

// A straight run of instructions: entered at the top, left at the bottom.
struct Block {
  std::uint32_t first = 0, end = 0;  // instructions [first, end)
  std::vector<std::uint32_t> next;   // blocks
  std::uint32_t rank = 0;            // position in an order in which loops stay together
};

// A variable of the program and where it is: in shared or local memory an offset from the start
// of the block's or thread's memory; otherwise an address that the machine gives (index into
// Program::variables).
struct Placed {
  Variable variable;
  std::uint64_t address = 0;
};

// Where module-scope variables are, so that their addresses are constants of the program: of a
// module by itself from variables_base on, of several in one memory behind each other. Each starts
// on a page of 4096 bytes with a gap of at least as much before the next. What the driver keeps for
// a kernel (heap_name, below) lies from drivers_base on.
constexpr std::uint64_t variables_base = 0x0000'0500'0000'0000;
constexpr std::uint64_t drivers_base = 0x0000'05ff'0000'0000;
constexpr std::uint64_t parameters_base = 0x0000'0400'0000'0000;
constexpr std::uint64_t shared_base = 0x0000'0200'0000'0000;
constexpr std::uint64_t local_base = 0x0000'0300'0000'0000;
constexpr std::uint64_t window_bytes = std::uint64_t{1} << 32;  // of shared, local, parameters
// In a cluster the window of shared memory holds that of all its blocks: the upper 8 bits of the
// offset are the rank of the block in the cluster, as chips are seen to have it (their own
// addresses too; kernels clear those bits to reach the first block's memory, as Cutlass's
// Sm100MmaPeerBitMask).
constexpr std::uint32_t rank_shift = 24;
// Of each block's window the first bytes are the system's from sm_90 on, and its own memory begins
// behind them: measured on an H100, and ptxas 13.0 puts the first variable at 0x400 for sm_90, 100
// and 120, at 0 for sm_75 to 89 (where what the system keeps lies behind the block's own).
// Alignments are counted from there: one of 2048 is at 0x400 too.
constexpr std::uint32_t system_shared = 1024;
// Functions have addresses too, for indirect calls: this, and 16 for each in Module::functions.
constexpr std::uint64_t functions_base = 0x0000'0600'0000'0000;
constexpr std::uint64_t function_step = 16;
// The .param space of an entry holds its parameters. What functions pass to each other is in the
// frames of local memory instead; as .param addresses these begin here.
constexpr std::uint64_t frame_parameters = window_bytes;

// What the driver keeps for a kernel lies in variables that its text does not name: the heap of
// malloc (its size is CUDA's own: cudaLimitMallocHeapSize; behind it a bit for each of its bytes,
// core/sim/machine/heap.h), and what the blocks of a grid meet at
// in grid.sync(), whose address cooperative groups find in %envreg1 (high) and %envreg2 (low).
constexpr std::string_view heap_name = "%heap", grid_workspace_name = "%grid_workspace";
constexpr std::uint64_t heap_bytes = std::uint64_t{8} << 20, grid_workspace_bytes = 256;

// What is at `offset` of a function's frame.
struct Slot {
  std::uint32_t offset = 0, bytes = 0;
};

// Functions that CUDA provides, called by name.
enum class Builtin : std::uint8_t { none, print, assertion, allocate, release };

// A function of the program: the entry, which is [0], and what can be called from it.
//
// A frame is the part of a thread's local memory that one activation uses: local variables,
// parameters and results, and what it passes to those it calls. Frames follow one another as calls
// nest; the entry's begins at 0, the others' where the hidden register `frame` says.
struct Routine {
  std::string_view name;
  const Function* function = nullptr;  // of Program::module
  Builtin builtin = Builtin::none;
  std::uint32_t first = 0;  // instruction
  std::uint32_t frame_bytes = 0;
  std::vector<Slot> parameters, results;
  std::uint32_t frame = no_register;
  std::uint32_t carry = no_register;  // the carry flag CC.CF (9.7.2): a predicate of its own
  std::uint32_t first_register = 0, end_register = 0;
  bool recursive = false;                         // may be called again before it returns
  std::vector<std::uint32_t> undefined_at_start;  // registers
};

// One call instruction (9.7.12.5): what goes into the callee's frame, and what comes back.
struct Call {
  static constexpr std::uint32_t indirect = ~0u;
  std::uint32_t routine = indirect;
  std::uint32_t target = 0;  // operand of the instruction that holds the address, where indirect
  struct Actual {
    bool in_frame = true;  // a .param variable of the caller; else an operand of the instruction
    Slot slot;             // the variable, in the caller's frame
    std::uint32_t operand = 0;  // its number
  };
  std::vector<Actual> arguments, results;
};

struct Program {
  std::shared_ptr<const Module> module;
  Function entry;

  std::vector<Instruction> code;
  std::vector<Operand> operands;
  std::vector<Operand> elements;
  std::vector<Register> registers;
  std::vector<Block> blocks;
  std::vector<std::uint32_t> rank;  // of an instruction: its block's
  std::vector<bool> ends_block;     // of an instruction
  std::vector<Routine> routines;    // [0] is the entry
  std::vector<Call> calls;

  std::vector<Placed> variables;  // global and const
  std::vector<Placed> shared, local;
  int capability = 0;              // of its .target: 90
  std::uint32_t shared_start = 0;  // of a block's own memory in its window: system_shared, or 0
  std::uint32_t shared_bytes = 0;  // static; dynamic memory follows, aligned
  // It asks where the system's shared memory is. Cooperative groups do, for groups of more than a
  // warp: 288 bytes from %reserved_smem_offset_1 on are theirs (cooperative_groups/details/
  // memory.h). Here these lie behind the block's own, wherever the chip's driver has them.
  bool wants_scratch = false;
  std::uint32_t dynamic_shared_align = 16;
  bool wants_dynamic_shared = false;
  std::uint32_t local_bytes = 0;  // of one thread: the frames of the deepest nesting of calls,
                                  // those that come back to a function apart
  bool recursive = false;
  bool allocates = false;  // on the stack, as much as it says at run time: alloca
  // Of its tcgen05 instructions: CTAs that do them together; and the line of the first. 0: none.
  std::uint8_t cta_group = 0;
  std::uint32_t cta_group_line = 0;
  bool copies = false;  // there is a cp.async or another asynchronous copy

  std::uint32_t register_bytes = 0;  // of one warp's register file
  std::uint32_t predicate_count = 1;
  std::vector<std::byte> constants;  // 32 equal lanes each
  // Those constants that are addresses of shared memory, and their bytes: in a cluster each block
  // has its own window of addresses.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> shared_addresses;
  std::vector<std::pair<Special, std::uint32_t>> specials;  // and their places
  std::uint32_t smallest_store = 16;  // bytes: the grain in which writers are remembered

  // "%r3"
  std::string name_of_register(std::uint32_t index) const;
  const Operand* operands_of(const Instruction& i) const { return operands.data() + i.first; }
  // The source file of an instruction's .loc, or empty.
  std::string_view source_file(const Instruction& i) const;
  std::string_view caller_file(const Instruction& i) const;
  std::string_view target() const;  // of the file that the entry is in
  // The routine whose address that is; 0, the entry's number: none.
  std::uint32_t routine_at(std::uint64_t address) const;
};

// Of a function that the module defines or declares.
std::uint64_t address_of(const Module& module, const Function& function);

// The global and constant variables that a module defines, in its order, from `base` on: all of
// them, whatever an entry uses, so that every entry finds them where the others do. An Error
// (unsupported) where they are more than 4 GiB.
Outcome<std::vector<Placed>> place_variables(const Module& module, std::uint64_t base);

// Decodes one entry of a module, whose variables lie from `variables` on: names, forms, operand
// types, control flow, places.
// Errors name the line and show the text: an opcode or a form that is not understood, an operand
// that does not fit, a name that is not declared.
// `meets`: it is for cooperative launches, whose grid may wait for itself; else a grid finds no
// place to do so, as a driver gives none (measured on an H200: cooperative groups then traps).
Outcome<Program> decode(std::shared_ptr<const Module> module, const Function& entry,
                        std::uint64_t variables = variables_base, bool meets = true);

// The same for who only looks: all that decode() would refuse, in the entry and in what it calls,
// and of the program what was understood: instructions and their operands, and what lies in memory.
struct Examined {
  Program program;
  std::vector<Error> refused;
};
Examined examine(std::shared_ptr<const Module> module, const Function& entry);

// The steps of decode() that follow the operands; each fills what its comment says.
void measure_stack(Program& program);    // calls.cpp: recursive, local_bytes
void find_blocks(Program& program);      // flow.cpp: blocks, rank, ends_block
void unite_copies(Program& program);     // copies.cpp: Register::same
void place_registers(Program& program);  // registers.cpp: places, Routine::undefined_at_start

}  // namespace tilescope::ptx
