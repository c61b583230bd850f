// The language: layout expressions in CuTe's notation, in the window, the commands, the tests and
// the lessons.
//
//     A = (8,8):(8,1); zipped_divide(A, <4,4>)        bindings, calls, tilers
//     Sw<3,4,3> o 0 o (8,64):(64,1)                    composition by `o`
//     A(3,_)   slice(((_,_),2), A)                     slicing; A(3,5) is an offset
//     (4,5):(1@0,1@1)   3@TLane+4@TCol                 strides on axes; a place
//     S[(32,16):(1@TLane,1@TCol)] + R[4:32@TLane]      TIRx's layouts
//     (?,?{div=16}):(1,?)                              numbers that are not known
//     smem<f16> o (8,64):(64,1)                        a tensor: memory, type, layout
//     make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN, (2,2))   atoms by CuTe's names, tiled operations
//     #ttg.blocked<{sizePerThread = [1, 4], ...}> on (64,32)   Triton's encodings (triton.h)
//     # a comment, // another; _8 is 8, as CuTe prints static integers
//
// Evaluation never throws; a bad expression answers a Problem with the place it is about.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/layout/algebra.h"
#include "core/layout/tile_layout.h"
#include "core/tensor/tiled_copy.h"

namespace tilescope {

using Numbers = std::vector<std::int64_t>;  // indices(L)
using Tuples = std::vector<Tuple>;          // coordinates(offset, L)
using Places = std::vector<Place>;          // owners(X, element)

// Yes or no with its reason: injective(L)...
struct Verdict {
  bool value = false;
  std::string because;  // a sentence
};

// Named findings in reading order: bank_conflicts(L)...
struct Fact {
  std::string_view name;
  std::variant<std::int64_t, std::string> value;
};
using Facts = std::vector<Fact>;

// Atoms and tiled operations hold several layouts each: values share them, and nobody changes them.
template <class T>
using Shared = std::shared_ptr<const T>;

// A composed layout whose left side is only a swizzle is a Layout; a bare swizzle is a Swizzle.
using Value = std::variant<Tuple, Layout, Tiler, Swizzle, Slice, ThreadValue, Numbers, Tuples,
                           Verdict, Facts, Place, Shared<MmaAtom>, Shared<CopyAtom>,
                           Shared<TiledMma>, Shared<TiledCopy>, Tensor, Places, Shared<TileLayout>>;

std::string text(const Value& value);
std::string_view kind_of(const Value& value);  // "a layout", "a tuple", "a number"...
// How wide an element is, where the value knows: a tensor, a copy, shared memory made for a type.
std::optional<int> element_bits(const Value& value);

// What is wrong with an expression, and where: bytes [begin, end) of the text.
struct Problem {
  bool refused = false;  // well-formed, but without a value: a Refusal's sentence
  std::string sentence;
  std::size_t begin = 0, end = 0;
};

// The line, and under it a caret line that marks the place:
//     complement((4,4):(1,3), 24)
//                ^~~~~~~~~~~
// The tail of a long line is cut around the place.
std::string caret(std::string_view expression, const Problem& problem);

using Evaluated = std::variant<Value, Problem>;

// Why a value is what it is: what each operation did, in the order in which it was done.
struct DerivationStep {
  int level = 0;                 // 0: a call of the expression; deeper: a part of the call after it
  std::string operation;         // "composition", "complement", "leaf 1"...
  std::string operands;          // as text; may be empty
  std::string result;            // as text; empty where the step was refused
  std::string sentence;          // what happened and by which rule
  std::optional<Layout> layout;  // the intermediate layout, for drawing
  // Where that layout's values are coordinates of a layout, such as a tiler's or a complement's of
  // the layout that is divided: this one, which turns them into offsets.
  std::optional<Layout> through;
};
using Derivation = std::vector<DerivationStep>;

// Names bound so far. A binding persists when its expression has a value.
class Scope {
 public:
  // Evaluates statements separated by `;` (or one line each); the answer is the last one's value.
  // Nothing is bound when any of them has a problem. Blank text has no value: nothing is answered.
  std::optional<Evaluated> evaluate(std::string_view expression);
  // The same, and `steps` grows by how each operation came to its answer, or why it has none.
  std::optional<Evaluated> explain(std::string_view expression, Derivation& steps);

  const std::map<std::string, Value, std::less<>>& names() const { return names_; }

 private:
  std::optional<Evaluated> evaluated(std::string_view expression, Derivation* steps);

  std::map<std::string, Value, std::less<>> names_;
};

// One expression in an empty scope.
Evaluated evaluate(std::string_view expression);

// The functions of the language, for help and completion.
struct FunctionHelp {
  std::string_view name;
  std::string_view parameters;  // "(A, B)"
  std::string_view help;        // one line
};
std::span<const FunctionHelp> functions();

}  // namespace tilescope
