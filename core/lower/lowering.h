// From layouts to instructions: what CuTeDSL's compiler makes of a tensor, its slice and its
// partition, one level after the other, down to LLVM.
//
//     as written       cute.slice, cute.tiled.copy.partition_S
//     slices expanded  a layout and an offset, joined by make_view          (cute-desugar)
//     arithmetic       a thread's offset as products, quotients, remainders (cute-expand-ops)
//     LLVM             structs of what is not known, extractvalue           (convert-to-llvm)
//     folded LLVM      what is left of it                                   (canonicalize, cse)
//     PTX              a kernel's own addresses, where one is given         (core/lower/code.h)
//
// Each level is a list of statements in SSA form; each statement says which statements of the level
// before it came from. Types are as CuTe's IR prints them: `?` for a number that is not known until
// the kernel runs, `?{div=16}` for one that is a multiple of 16. Everything is derived from the
// request by core's algebra; nothing is looked up.
//
// Source of the forms: nvidia-cutlass-dsl 4.8.1, its IR after each pass; tests/lower compares.
// Numbers that are not known are i32 there unless a program asks for i64: here they are i32.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/tensor/tensor.h"
#include "core/tensor/tiled_copy.h"

namespace tilescope::lowering {

// --- what is asked ----------------------------------------------------------------------------

// One operation on what the one before it answered.
struct Step {
  enum class Kind : std::uint8_t {
    slice,        // memref -> memref
    partition,    // memref -> memref: what a thread copies
    get_iter,     // memref -> pointer
    get_layout,   // memref -> layout
    get_shape,    // layout -> shape      (of a memref: of its layout; so below)
    get_stride,   // layout -> stride
    get_leaves,   // shape, stride or layout's shape -> its numbers
    get_scalars,  // layout, shape or stride -> its numbers, or those that are not known
    crd2idx,      // layout -> int_tuple
  };
  Kind kind = Kind::slice;
  Tuple coordinate;               // slice, crd2idx: `?` is the block's number, x, y, z in order
  std::optional<TiledCopy> copy;  // partition
  Side side = Side::source;       // partition
  Int thread = Int::unknown();    // partition: `?` is threadIdx.x
  bool only_dynamic = false;      // get_scalars
  bool beside = false;            // the next step takes what this one took; both are answered
};

struct Request {
  Tensor tensor;           // the kernel's argument %arg0; plain, without axes
  std::int64_t align = 0;  // bytes that its pointer is a multiple of; 0: its element's
  std::vector<Step> steps;
};

// --- what is answered -------------------------------------------------------------------------

enum class Op : std::uint8_t {
  argument,
  tid_x,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  make_coord,
  make_shape,
  make_stride,
  make_layout,
  make_int_tuple,
  make_atom,
  make_tile,
  make_tiled_copy,
  partition,
  slice,
  get_iter,
  get_layout,
  get_shape,
  get_stride,
  get_leaves,
  get_scalars,
  crd2idx,
  add_offset,
  make_view,
  assume,
  constant,
  mul,
  add,
  div,
  rem,
  ceil_div,
  undef,
  insert,
  extract,
  address,      // getelementptr
  source_line,  // of the kernel, above the instructions that it became
  instruction,  // of PTX
};

// A type of LLVM: i32, a pointer, or a struct.
struct LlvmType {
  enum class Kind : std::uint8_t { i32, pointer, structure } kind = Kind::i32;
  std::vector<LlvmType> parts;
};

struct Type {
  enum class Kind : std::uint8_t {
    i32,
    pointer,
    memref,
    layout,
    shape,
    stride,
    coord,
    int_tuple,
    atom,
    tile,
    tiled_copy,
    llvm
  };
  Kind kind = Kind::i32;
  Layout layout;               // memref, layout
  Tuple tuple;                 // shape, stride, coord, int_tuple
  std::int64_t align = 0;      // pointer, memref: bytes
  std::int64_t divisible = 1;  // i32 after assume
  LlvmType llvm;
};

// A result of a statement of the same level.
struct Use {
  int statement = -1;
  int result = 0;
  friend bool operator==(const Use&, const Use&) = default;
};

struct Statement {
  Op op = Op::argument;
  std::vector<std::string> names;  // "%idx"; of get_leaves one for each result
  Type type;                       // of its result
  std::vector<Use> uses;
  std::vector<int> path;      // extract, insert
  std::int64_t number = 0;    // constant; address without an index
  bool only_dynamic = false;  // get_scalars
  Side side = Side::source;   // partition
  int results = 1;
  std::string words;      // source_line, instruction: its text; behind " : " what it comes to
  std::vector<int> from;  // statements of the level before, ascending
};

struct Level {
  std::string_view title;  // "arithmetic"
  std::string_view pass;   // of CuTeDSL's compiler; empty for the first
  std::string_view says;   // what this level does, a sentence
  bool llvm = false;
  bool instructions = false;  // a kernel's PTX: it answers nothing, core/lower/code.h compares it
  std::vector<Statement> statements;
  // What the level answers, as numbers: a pointer's offset in elements, then what is not known of
  // its type, shape before stride. One use, or one for each number.
  std::vector<Use> outcome;
};

struct Lowering {
  Tensor tensor;
  std::int64_t align = 0;
  std::optional<TiledCopy> copy;
  std::vector<Step> steps;
  std::vector<Level> levels;
  Type outcome;                    // the type of what the last step answers
  std::vector<Type> memrefs;       // in the order in which they come, for names
  std::vector<std::string> notes;  // of its code: an address, and whether it is the layout's
};

Outcome<Lowering> lower(const Request& request);

// --- reading it -------------------------------------------------------------------------------

// The lines above the first level: `!memref_gmem_f32 = !cute.memref<f32, gmem, "...">`.
std::vector<std::string> type_lines(const Lowering& lowering);
// A statement as CuTe's IR prints it, without indentation.
std::string text(const Lowering& lowering, const Level& level, int statement);
// A type as it is printed where it has no name of its own.
std::string text(const Lowering& lowering, const Type& type);
// The statements of level `to` that came from `statement` of level `from`, or that it came from
// where `to` is before; itself where they are the same.
std::vector<int> became(const Lowering& lowering, int from, int statement, int to);
// All of it as a page: types, then each level with its statements.
std::string page(const Lowering& lowering);
// What a number is computed from, in one line: (tid mod 32) * 4 + (tid / 32) * (? * 4), where `?`
// has its number after it if there are several: ?0, ?1. Of LLVM a number is its path in the struct.
std::string formula(const Level& level, const Use& use);
// The offset of the last partition in its level of arithmetic; empty where there is none.
std::string partition_formula(const Lowering& lowering);

}  // namespace tilescope::lowering
