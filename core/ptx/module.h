// What PTX files declare: a Module, read in one pass that does not enter the bodies.
//
// parse_module() reads directives, variables and the heads of functions, and remembers where each
// body is. parse_body() reads the body of one function, when somebody wants to run it: a file of
// ten megabytes costs its braces, not its instructions. parse_modules() reads several files that
// are linked with each other: a name means what its own file defines, or else what another one
// shows (core/ptx/symbols.h).
//
// All names and texts are views into Module::text, which every Module shares and keeps alive.
// Sections below cite "PTX ISA: Parallel Thread Execution", version 9.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/ptx/types.h"

namespace tilescope::ptx {

// One element of an initialiser: a number's bits, or the address of a symbol plus an offset.
struct Initial {
  std::uint64_t bits = 0;
  std::string_view symbol;
};

// Whom a name of a module is known to (11.6): its own file; all files; all files, unless one of
// them defines it .visible; or it is defined in another file (.extern). Names that only libraries
// would share, .common ones, are linked like weak ones.
enum class Linkage : std::uint8_t { internal, visible, weak, external };

// A variable in memory (5.4), in a module or in a body. `bytes` is 0 for `.extern .shared x[]`,
// whose size is the launch's dynamic shared memory.
struct Variable {
  std::string_view name;
  Space space = Space::global;
  Type type = Type::b8;
  std::uint32_t align = 1;
  std::uint64_t bytes = 0;
  Linkage linkage = Linkage::internal;
  bool managed = false;          // the host may have it, too (5.4.8, .attribute(.managed))
  std::uint32_t part = 0;        // of Module::parts
  std::vector<Initial> initial;  // one an element, from the front; the rest is zero
  std::uint32_t line = 0;
};

// A parameter or result of a kernel or function (7.1). Offsets follow from sizes and alignments in
// order.
struct Parameter {
  std::string_view name;
  Type type = Type::b8;
  std::uint32_t align = 1;
  std::uint32_t bytes = 0;
  std::uint32_t offset = 0;
};

// An .entry or .func with what its directives ask of a launch (11.4). 0 is "not said".
struct Function {
  std::string_view name;
  bool entry = false;
  Linkage linkage = Linkage::internal;
  std::uint32_t part = 0;  // of Module::parts
  std::vector<Parameter> parameters;
  std::uint32_t parameter_bytes = 0;
  std::vector<Parameter> results;                 // of a .func
  bool in_registers = false;                      // a .func with .reg parameters, as before PTX 2.0
  std::array<std::uint32_t, 3> required_block{};  // .reqntid
  std::array<std::uint32_t, 3> maximum_block{};   // .maxntid: only the product binds
  std::array<std::uint32_t, 3> required_cluster{};  // .reqnctapercluster
  std::uint32_t minimum_blocks_per_sm = 0;          // .minnctapersm
  std::uint32_t maximum_registers = 0;              // .maxnreg
  std::uint32_t line = 0;
  std::uint32_t body_at = 0, body_line = 0;  // of the '{'; body_line 0: a declaration only
};

// Another name of a function (11.6.5): `.alias name, of;`.
struct Alias {
  std::string_view name, of;
  std::uint32_t part = 0;
};

// A file, or a text from elsewhere.
struct Source {
  std::string name;  // for "name:line" in messages
  std::string text;
};

// Where one file lies in Module::text, and what its head says.
struct FilePart {
  std::string name;
  std::string_view version, target;
  std::uint32_t begin = 0, end = 0;  // bytes
  std::uint32_t first_line = 1;
  std::uint32_t first_file = 0;  // added to the numbers of its .file and .loc
};

struct Module {
  std::shared_ptr<const std::string> text;  // all files, one after the other
  std::string name;                         // "a.ptx", "a.ptx, b.ptx"
  std::vector<FilePart> parts;              // at least one
  int address_size = 64;
  std::map<std::uint32_t, std::string_view> files;  // .file index "name"
  // Of these names those that the text does not have as they are.
  std::vector<std::shared_ptr<const std::string>> decoded;
  std::vector<Variable> variables;
  std::vector<Function> functions;
  std::vector<Alias> aliases;

  // The entry of that name; else the one whose name contains it; an empty name asks for the only
  // one. An Error (unknown) lists the entries there are.
  Outcome<const Function*> entry(std::string_view wanted) const;

  const FilePart& part_of(std::uint32_t line) const;  // of text
  std::string place(std::uint32_t line) const;        // "b.ptx:12": a line of text in its own file
};

// An operand as it is written (6.4). Registers, variables and labels are all names here.
struct Written {
  enum class Kind : std::uint8_t { name, number, address, vector, list, sink };
  Kind kind = Kind::sink;
  std::string_view name;     // name; base of an address (empty: absolute); "%tid.x" with its suffix
  std::string_view partner;  // of `p|q`
  bool indexed = false;      // name[bits]: an element of an array, or its address
  bool negated = false;      // !p
  bool floating = false;     // the number was written as a float: bits are then those of an f64
  bool single = false;       // ... or 0fXXXXXXXX: bits are those of an f32
  std::uint64_t bits = 0;    // number; an address's byte offset (two's complement), or its index
  std::vector<Written> elements;  // of { } and ( ); what follows the first comma inside [ ]
};

struct Statement {
  enum class Kind : std::uint8_t { label, instruction };
  Kind kind = Kind::instruction;
  std::uint32_t line = 0;
  std::uint32_t scope = 0;
  std::uint32_t file = 0, source_line = 0;  // of the .loc in force (11.5.2); 0: none
  // Where a function of another file was inlined, in the file that everything is inlined into; 0:
  // not.
  std::uint32_t caller_file = 0, caller_line = 0;
  std::string_view text;   // the whole instruction without ';', or the label
  std::string_view guard;  // @guard, without '!'
  bool guard_negated = false;
  std::string_view opcode;                  // up to the first '.'
  std::vector<std::string_view> modifiers;  // without their dots
  std::vector<Written> operands;
};

// Registers declared together: `%r<100>` is one declaration of 100, `p` one of 1.
struct Registers {
  std::string_view name;
  Type type = Type::b32;
  std::uint32_t count = 1;
  bool numbered = false;
  std::uint32_t first = 0;  // number of its first register in the function
};

// A brace of a body. Names are looked up here first, then in the parent.
struct Scope {
  std::int32_t parent = -1;
  std::vector<Registers> registers;
  std::vector<std::uint32_t> variables;  // into Body::variables
};

// What a label before a directive names: the targets of brx.idx (`ts: .branchtargets L1, L2;`)
// or what an indirect call may call (`.calltargets`, `.callprototype`: 11.1).
struct Targets {
  std::string_view name;
  std::uint32_t scope = 0;
  bool branch = false;
  std::vector<std::string_view> labels;  // of .branchtargets
  std::uint32_t line = 0;
};

struct Body {
  std::vector<Scope> scopes;  // [0] is the function's own
  std::vector<Statement> statements;
  std::vector<Variable> variables;
  std::vector<Targets> targets;
  std::uint32_t register_count = 0;
  // Names that the text does not have as one word: "mx.x" of `.reg .v2 .f32 mx`.
  std::vector<std::shared_ptr<const std::string>> made_names;
};

Outcome<Module> parse_module(std::string name, std::string text);
// Refused: a name that two files define, a variable that has another size elsewhere.
Outcome<Module> parse_modules(std::vector<Source> sources);
Outcome<Body> parse_body(const Module& module, const Function& function);

}  // namespace tilescope::ptx
