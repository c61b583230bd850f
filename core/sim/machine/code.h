// How instructions execute. When a program is loaded every instruction gets a Handler, chosen by
// its opcode, types and operands; from then on nothing looks at text, tables or types.
//
// A handler does all 32 lanes. It finds its registers through a Core, which is the machine as one
// split of one warp sees it. Operands are references: a byte offset into the warp's register file
// or, with the top bit set, into the program's constants (32 equal lanes), so a handler does not
// know whether it reads one or the other.
//
// Only plain data here: handlers are compiled several times for different vector instructions
// (core/sim/lanes), and nothing that is compiled twice may be an inline function of a shared class.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/ptx/program.h"
#include "core/sim/machine/state.h"

namespace tilescope::sim {

struct Core;
struct Code;
class Model;
class Reports;

enum class Flow : std::uint8_t {
  next,   // go on with the next instruction
  moved,  // the split is somewhere else, or another shape: look at it again
  yield,  // this split waits or has ended: choose another
  fault,  // reported; the machine stops
};

using Handler = Flow (*)(Core&, const Code&, Mask);

using Reference = std::uint32_t;
constexpr Reference constant_bit = 0x8000'0000u;
constexpr Reference nothing = 0x7fff'ffffu;  // an operand that is absent or forgotten

struct Code {
  Handler run = nullptr;
  Reference d = nothing;                                         // written
  Reference a = nothing, b = nothing, c = nothing, e = nothing;  // read
  std::uint32_t p = 0, q = 0;                                    // predicates written; 0 is none
  std::uint32_t r = 0;                                           // predicate read (0: true)
  Mask flip = 0;                                                 // all ones where r is negated
  std::uint32_t guard = 0;                                       // predicate that guards (0: true)
  Mask guard_flip = 0;                                           // all ones for @!p
  std::uint32_t target = 0;  // instruction, or list: first of `count` elements
  std::uint8_t count = 0;
  std::uint8_t width = 0;  // bytes of one element in memory
  bool ends_block = false;
  bool notes_lanes = false;  // who comes to it is noted (Warp::visited)
  bool plain = false;        // no guard, no end of a block, nobody noted: the loop may run on
  ptx::Space space = ptx::Space::generic;
  bool narrow_address = false;  // the address register has 32 bits
  bool synchronises = false;    // volatile, relaxed, acquire, release: an access that orders others
  std::uint64_t immediate = 0;  // address offset
};

// What a cvt finds in Code::immediate.
struct Conversion {
  std::uint8_t from_register, to_register;  // bytes
  ptx::Type from, to;
  ptx::Round round;
  bool ftz : 1, sat : 1, relu : 1, satfinite : 1;
};

// What set, slct and setp of f16 and bf16 find in Code::immediate.
struct Comparison {
  ptx::Type from, to;
  ptx::Compare compare;
  ptx::Logic logic;
  bool ftz;
};

struct Core {
  std::byte* bank[2] = {};  // [0] the warp's registers, [1] the program's constants
  std::uint32_t* predicates = nullptr;
  Mask live = 0;  // lanes that matter: a handler with all of them may write all 32
  std::uint32_t pc = 0;
  const Reference* elements = nullptr;  // of vectors: Code::target is the first
  Region* regions = nullptr;            // of the grid, by ascending address
  std::uint32_t region_count = 0;
  std::uint32_t last_region = 0;  // where the last access went: a guess for the next
  static constexpr std::uint32_t guesses = 16;
  std::uint32_t last_region_of[guesses] =
      {};  // and that of an instruction, by the end of its number
  Region* parameters = nullptr;
  std::uint32_t local_bytes = 0;  // of one thread
  std::uint32_t window = 0;       // where the block's shared memory begins among its cluster's
  Model* machine = nullptr;
  Reports* reports = nullptr;  // its own
  Block* block = nullptr;
  Warp* warp = nullptr;
  std::uint32_t split = 0;  // index into warp->splits
  std::uint64_t limit = 0;  // instructions of this turn; 0 ends it after the current one
  const std::uint64_t* executed = nullptr;  // of them, with the current one
  Mask unsure = 0;  // lanes that are here by an undefined predicate, of a warp that has such
  Mask strays = 0;  // lanes whose last shuffle read a lane that did not take part
  const Code* code = nullptr;
};

// A register that some wgmma.mma_async of the program uses, as one instruction uses it.
struct GroupUse {
  std::uint32_t number = 0;  // in Bound::group_registers
  std::uint32_t reg = 0;     // by its own name
  bool is_d = false;         // of a wgmma.mma_async: the accumulator
  bool written = false;      // of others
};
// A register that an instruction writes and that is followed (core/sim/wgmma/rows.h).
struct RowUse {
  static constexpr std::uint32_t none = ~0u;
  std::uint32_t number = 0;   // among those that are
  std::uint32_t element = 0;  // of a load: which element of the vector
  std::uint32_t from = none;  // the one whose lowest element it gets
};
// What an instruction does with such registers, and the handler that it would have without.
struct Touch {
  Handler run = nullptr;
  std::vector<GroupUse> uses;
  std::vector<RowUse> rows;
  // Of a wgmma.mma_async with A in registers: the first two of them, among those followed.
  std::array<std::uint32_t, 2> a_rows{RowUse::none, RowUse::none};
};

// What an instruction uses of what tcgen05.ld have loaded, and the handler that it would have
// without.
struct LoadedUse {
  Handler run = nullptr;
  std::vector<std::uint32_t> loads;  // instructions
};

// The instructions of one program, bound to handlers. Immutable, shared by copies of a Machine.
struct Bound {
  std::vector<Code> code;
  std::vector<Reference> elements;
  std::vector<std::byte> constants;
  // Registers of the program that a wgmma.mma_async uses, one of those that are one; and each
  // instruction that does something with one: a wgmma.mma_async has the number of its touch in
  // Code::immediate.
  std::vector<std::uint32_t> group_registers;
  std::uint32_t followed_registers = 0;  // how many are followed
  std::vector<Touch> touches;
  std::unordered_map<std::uint32_t, std::uint32_t> touch_of;  // by instruction
  std::unordered_map<std::uint32_t, LoadedUse> loaded;        // by instruction
};

// An access of memory by lanes of a warp.
struct MemoryAccess {
  Shadow::Kind kind = Shadow::Kind::read;
  bool strong = false;  // one that synchronises (PTX ISA 8.5)
  std::uint32_t warp = 0, pc = 0;
  std::uint32_t mask = 0;                       // lanes
  const std::uint64_t* offsets = nullptr;       // of each lane
  std::uint32_t bytes = 0;                      // of a lane
  bool run = false;                             // all 32 lanes, side by side
  bool by_lane = false;                         // each lane at a time of its own
  const std::byte* values = nullptr;            // of a store: each lane's `bytes`; null: not known
  Scope scope = Scope::cta;                     // of a strong one
  std::uint32_t operation = Completions::none;  // of a copy by cp.async
  // Bytes of an element of a strong one: of vectors and packed types each is an operation of its
  // own (PTX ISA 8.2.4, 8.2.5).
  std::uint8_t element = 0;
};

// Notes an access of shared memory, and reports what it is unordered with
// (core/sim/checks/hazards.cpp).
void watch(Core& x, const MemoryAccess& access);
// The same of the shared memory of any block of the cluster.
void watch_in(Core& x, Block& owner, const MemoryAccess& access);
// The same of global memory.
void watch_region(Core& x, Region& region, const MemoryAccess& access);
// The same of an operation that lane `lane` is about to issue, and that is in flight in `block`.
void watch_operation(Core& x, int lane, Block& block, AsyncOperation& operation);
// The same of what it is going to read or write of global memory.
void watch_operation(Core& x, int lane, Region& region, AsyncOperation& operation);
// And of the tensor map by which it goes: until it has been waited for, it may still read that.
void watch_map_use(Core& x, int lane, Region& region, std::uint64_t offset,
                   const AsyncOperation& operation);
// Does an operation read bytes of [begin, end) that the async proxy has not been told of?
bool is_untold(const Model& machine, const Block& block, const AsyncOperation& operation,
               std::uint32_t begin, std::uint32_t end);

// The warp at hand among those who see each other's doings; its thread and instruction.
Observer& observer(Core& x);
Deed deed(const Core& x, int lane);
Deed deed(const Core& x, int lane, Mask lanes);  // for these lanes of the warp alone
// Of an instruction: its scope, or what it has without.
Scope scope_of(const ptx::Modifiers& how, Scope otherwise);

// Lanes m exit, and nobody has waited for copies by cp.async that they began
// (core/sim/handlers/copy.cpp).
void watch_exit(Core& x, Mask m);

// Chooses the handlers: the fastest that this processor can run, or the plain ones. An Error names
// the line of an instruction that has none. Variables in shared memory get addresses from `window`
// on: the block's place in its cluster.
Outcome<Bound> bind(const ptx::Program& program, bool plain = false, std::uint32_t window = 0);

}  // namespace tilescope::sim
