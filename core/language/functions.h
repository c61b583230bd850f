// The functions of the language: a table of name, parameters, help and what they do. The evaluator,
// the help and the window's completion all read it. The rows live with their kind:
// functions_making.cpp, functions_algebra.cpp, functions_analysis.cpp, functions_tensor.cpp,
// functions_tirx.cpp.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "core/language/language.h"

namespace tilescope::language {

// An argument as written, and as what the parameter asks for.
struct Argument {
  Value value;
  std::size_t begin = 0, end = 0;  // its place in the text
  Layout layout;
  Place origin;  // where a slice begins, if `layout` does not say so itself
  Tiler tiler;
  Tuple tuple;
  std::int64_t number = 0;
  Int index;
  Shared<TiledMma> mma;
  Shared<TiledCopy> copy;
  Shared<CopyAtom> copy_atom;
  const Tensor* tensor = nullptr;  // whose layout `layout` is, where it is one
  Shared<TileLayout> tile;
  std::string word;  // as it is written, where the parameter is a name: f16, 128B
};

using Arguments = std::vector<Argument>;

// A refusal in the language's own words: of kinds of values, which the algebra does not know.
struct Reason {
  std::string sentence;
};
using Answer = std::variant<Value, Refusal, Reason>;
std::string sentence_of(const Answer& answer);  // why there is no value; empty where there is one

// What would work instead of a value of this kind, as a sentence after a blank; may be empty.
std::string advice_for(const Value& value, std::string_view needs);

struct Function {
  FunctionHelp help;
  // One letter a parameter, lower case where it may be left out: L layout, T tiler (a layout, a
  // shape, `<...>` or a number), S shape or coordinate, N number, I number that may be unknown, V
  // anything. H a layout, or a shape that is made compact, or a tensor; K the same without a
  // tensor; J a projection, a tuple or CuTe's Step<_1,X,_1>; M a tiled MMA, or an MMA atom, which
  // is one of one atom; C a tiled copy; X one of the two; P a copy atom. D a TIRx layout; W a name.
  //
  // A slice has an offset besides its layout. For L and K it becomes the layout's own, as that of a
  // composed layout, which an operation takes along or refuses. O is a layout, too, but the offset
  // stays apart as Argument::origin, as it does for H; where the first parameter is an O, the
  // layout that is answered begins there. E is an O that a tensor may be, too: what is answered
  // then is a tensor of the same elements.
  std::string_view kinds;
  Answer (*call)(const Arguments&);
  // Tells the parts of the call; where there is none, the call is one step.
  void (*explain)(const Arguments&, Derivation&) = nullptr;
};

const Function* find_function(std::string_view name);

// Turns each argument into what its parameter asks for; the problem of the first that is not it.
std::optional<Problem> convert(const Function& function, Arguments& arguments);

// Calls `function` on the arguments, converting each to what its parameter asks for; [begin, end)
// is the whole call, for the problem that concerns no single argument.
Evaluated call(const Function& function, Arguments arguments, std::size_t begin, std::size_t end,
               Derivation* steps = nullptr);

// A o B as the language means it: swizzle o layout, number o layout, layout o layout or tiler.
Answer compose(const Value& left, const Value& right);
// What begins at `origin` further on: a layout becomes a slice, a slice's offset grows.
Answer from(const Place& origin, Answer answer);
// A slice's layout with the offset as its own, as in 256 o (8,8):(8,1); nothing where the offset
// is on axes.
std::optional<Layout> composed_of(const Slice& slice);
// Whether A(3,5) means something, and what: the offset or place of a coordinate, with `_` a slice,
// of a TIRx layout the owners. A slice's coordinates count from its own beginning.
bool takes_coordinates(const Value& value);
Answer at(const Value& value, const Tuple& coordinate);
// What a value is in angle brackets, <4,2:1>; nothing where it cannot stand there.
std::optional<Tiler> tiler_part(const Value& value);
// A + B: the sum of two places.
Answer add(const Value& left, const Value& right);
// The layout that is answered, of the elements of `whole`: from where the tensor begins.
Answer with_engine(const Tensor& whole, Answer answer);
// `smem<f16> o L`, and `smem<f16> + 64`: the elements of a layout, from an offset on.
Answer tensor_of(const Tensor& place, const Value& layout);
Answer moved(Tensor tensor, const Value& offset);
void explain_compose(const Value& left, const Value& right, const Answer& answer,
                     Derivation& steps);

// In reading order: making, asking, coordinates; the algebra; what can be said of a layout; tiled
// operations, and what a thread has of a tensor; TIRx's layouts.
std::span<const Function> functions_making();
std::span<const Function> functions_algebra();
std::span<const Function> functions_analysis();
std::span<const Function> functions_tensor();
std::span<const Function> functions_tirx();

// --- what the rows are made of ----------------------------------------------------------------

template <class T>
Answer answer(const Result<T>& result) {
  if (!result) return result.refusal;
  return Value(result.value);
}
inline Answer answer(const Result<std::int64_t>& result) {
  if (!result) return result.refusal;
  return Value(Tuple(result.value));
}
inline Answer answer(const Result<Int>& result) {
  if (!result) return result.refusal;
  return Value(Tuple(result.value));
}
// An offset and a coordinate are tuples; any other place is one.
inline Answer answer(const Result<Place>& result) {
  if (!result) return result.refusal;
  if (result->plain()) return Value(Tuple(result->offset()));
  if (const Result<Tuple> coordinate = coordinate_of(*result)) return Value(*coordinate);
  return Value(*result);
}
template <class T>
Answer shared(const Result<T>& result) {
  if (!result) return result.refusal;
  return Value(std::make_shared<const T>(*result));
}
inline Answer number(std::int64_t n) {
  return Value(Tuple(n));
}

template <Result<Layout> (*operation)(const Layout&)>
Answer unary(const Arguments& a) {
  return answer(operation(a[0].layout));
}
template <Result<Layout> (*operation)(const Layout&, const Layout&)>
Answer binary(const Arguments& a) {
  return answer(operation(a[0].layout, a[1].layout));
}
template <Result<Layout> (*operation)(const Layout&, const Tiler&)>
Answer tiled(const Arguments& a) {
  return answer(operation(a[0].layout, a[1].tiler));
}

}  // namespace tilescope::language
