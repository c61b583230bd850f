// Finding and calling the functions of the language; their rows stand in functions_*.cpp.
#include "core/language/functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/language/explain.h"
#include "core/layout/text.h"

namespace tilescope {
namespace language {
namespace {

constexpr std::string_view alone_advice =
    "For a slice T, make_layout(shape(T), stride(T)) is the layout alone.";

Problem wrong_kind(const Function& f, std::size_t i, const Argument& a, std::string_view needs) {
  const std::string hint = advice_for(a.value, needs);
  const Tuple* tuple = std::get_if<Tuple>(&a.value);
  const bool scalar = tuple && tuple->scalar();
  if (needs == "a number" && scalar) needs = "a known one";  // not `?` or `_`
  const bool all = scalar && tuple->leaf[0].kind == Int::Kind::all;
  return {false,
          fmt::format("{}{}: argument {} is {}; it needs {}.{}", f.help.name, f.help.parameters,
                      i + 1, all ? "`_`" : kind_of(a.value), needs, hint),
          a.begin, a.end};
}

// What has a name of its own: A, M, C, X, P and D of Function::kinds.
std::optional<Problem> convert_tiled(const Function& f, std::size_t i, Argument& a) {
  const char kind = f.kinds[i];
  if (const auto* atom = std::get_if<Shared<MmaAtom>>(&a.value)) {
    const Result<TiledMma> one = make_tiled_mma(**atom);
    if (one) a.mma = std::make_shared<const TiledMma>(*one);
  }
  if (const auto* mma = std::get_if<Shared<TiledMma>>(&a.value)) a.mma = *mma;
  if (const auto* copy = std::get_if<Shared<TiledCopy>>(&a.value)) a.copy = *copy;
  if (const auto* atom = std::get_if<Shared<CopyAtom>>(&a.value)) a.copy_atom = *atom;
  if (kind == 'A' && !std::holds_alternative<Shared<MmaAtom>>(a.value)) {
    return wrong_kind(f, i, a, "an MMA atom, such as SM80_16x8x16_F32F16F16F32_TN");
  }
  if (const auto* tile = std::get_if<Shared<TileLayout>>(&a.value)) a.tile = *tile;
  if (kind == 'D' && !a.tile) {
    return wrong_kind(f, i, a, "a TIRx layout, such as S[(128,64):(1@TLane,1@TCol)]");
  }
  if (kind == 'M' && !a.mma) return wrong_kind(f, i, a, "a tiled MMA, as make_tiled_mma gives");
  if (kind == 'C' && !a.copy) return wrong_kind(f, i, a, "a tiled copy, as make_tiled_copy gives");
  if (kind == 'X' && !a.mma && !a.copy) return wrong_kind(f, i, a, "a tiled MMA or a tiled copy");
  if (kind == 'P' && !a.copy_atom) {
    return wrong_kind(f, i, a, "a copy atom, such as UniversalCopy<u128,f16>");
  }
  return std::nullopt;
}

// A slice as the layout that an operation takes, with its offset where the parameter has it.
std::optional<Problem> convert_slice(const Function& f, std::size_t i, const Slice& slice,
                                     Argument& a) {
  const char kind = f.kinds[i];
  a.layout = slice.layout;
  if (kind == 'O' || kind == 'E' || kind == 'H' || kind == 'h') {
    a.origin = slice.offset;
    return std::nullopt;
  }
  if (slice.offset.zero()) return std::nullopt;
  const std::optional<Layout> composed = composed_of(slice);
  if (!composed) {
    return Problem{true,
                   fmt::format("{}: argument {} begins at {}, and only a layout that begins at 0 "
                               "can be used here. {}",
                               f.help.name, i + 1, text(slice.offset), alone_advice),
                   a.begin, a.end};
  }
  a.layout = *composed;
  return std::nullopt;
}

// Step<_1,X,_1> in angle brackets is a projection (CuTe's Step is a tuple of 1s and of X, which is
// its `_`: include/cute/layout.hpp, underscore.hpp).
std::optional<Tuple> projection_of(const Tiler& step) {
  Tuple out;
  for (int i = 0; i < step.rank(); ++i) {
    const Tiler mode = step.mode(i);
    if (!step.by_mode() || !mode.modes.scalar() || (mode.numbers & 1) == 0) return std::nullopt;
    out.push(Tuple(mode.modes.leaf[0].shape));
  }
  return out;
}

std::optional<Problem> convert_one(const Function& f, std::size_t i, Argument& a) {
  const Tuple* tuple = std::get_if<Tuple>(&a.value);
  const Layout* layout = std::get_if<Layout>(&a.value);
  switch (f.kinds[i]) {
    case 'E':
      a.tensor = std::get_if<Tensor>(&a.value);
      if (a.tensor && !a.tensor->alone()) {
        a.layout = a.tensor->layout;
        a.origin = a.tensor->offset;
        return std::nullopt;
      }
      [[fallthrough]];
    case 'L':
    case 'l':
    case 'O':
      if (const Slice* slice = std::get_if<Slice>(&a.value)) {
        return convert_slice(f, i, *slice, a);
      }
      if (layout)
        a.layout = *layout;
      else if (tuple && tuple->scalar() && tuple->leaf[0].kind != Int::Kind::all)
        a.layout = Layout(tuple->leaf[0], 1);
      else
        return wrong_kind(f, i, a, "a layout");
      if (!layout && a.layout.modes.leaves > 0 && a.layout.modes.leaf[0].shape.value < 1) {
        return wrong_kind(f, i, a, "an extent of 1 or more");
      }
      return std::nullopt;
    case 'T':
    case 't':
      if (layout)
        a.tiler = Tiler(*layout);
      else if (const Tiler* tiler = std::get_if<Tiler>(&a.value))
        a.tiler = *tiler;
      else if (tuple && tuple->scalar())
        a.tiler = Tiler::number(tuple->leaf[0]);
      else if (tuple)
        a.tiler = Tiler(*tuple);
      else
        return wrong_kind(f, i, a, "a tiler: a layout, a shape or <...>");
      if (layout && !layout->plain()) return wrong_kind(f, i, a, "a plain layout, without swizzle");
      for (int k = 0; k < a.tiler.modes.leaves; ++k) {
        const Int& extent = a.tiler.modes.leaf[k].shape;
        if (extent.known() && extent.value < 1) return wrong_kind(f, i, a, "extents of 1 or more");
      }
      return std::nullopt;
    case 'S':
    case 's':
      if (!tuple) return wrong_kind(f, i, a, "a tuple of numbers");
      a.tuple = *tuple;
      return std::nullopt;
    case 'J':
    case 'j':
      if (const Tiler* step = std::get_if<Tiler>(&a.value)) {
        const std::optional<Tuple> projection = projection_of(*step);
        if (!projection) return wrong_kind(f, i, a, "1 or X for each mode, such as (1,X,1)");
        a.tuple = *projection;
        return std::nullopt;
      }
      if (!tuple) return wrong_kind(f, i, a, "1 or X for each mode, such as (1,X,1)");
      a.tuple = *tuple;
      return std::nullopt;
    case 'N':
    case 'n':
      if (!tuple || !tuple->scalar() || !tuple->leaf[0].known()) {
        return wrong_kind(f, i, a, "a number");
      }
      a.number = tuple->leaf[0].value;
      return std::nullopt;
    case 'I':
      if (!tuple || !tuple->scalar() || tuple->leaf[0].kind == Int::Kind::all) {
        return wrong_kind(f, i, a, "a number, or `?`");
      }
      a.index = tuple->leaf[0];
      return std::nullopt;
    case 'H':
    case 'h':
    case 'K':
    case 'k':
      if (const Result<Layout> made = tuple ? make_layout(*tuple) : Result<Layout>();
          tuple && made) {
        a.layout = *made;
        return std::nullopt;
      }
      if (const Slice* slice = std::get_if<Slice>(&a.value)) {
        return convert_slice(f, i, *slice, a);
      }
      if (f.kinds[i] != 'K' && f.kinds[i] != 'k') a.tensor = std::get_if<Tensor>(&a.value);
      if (a.tensor && !a.tensor->alone()) {
        a.layout = a.tensor->layout;
        return std::nullopt;
      }
      if (!layout) return wrong_kind(f, i, a, "a layout, or a shape of extents of 1 or more");
      a.layout = *layout;
      return std::nullopt;
    default:
      return convert_tiled(f, i, a);
  }
}

// An operand on one line: what is printed over several has a name.
std::string operand_text(const Argument& a) {
  if (!a.word.empty()) return a.word;
  if (const auto* atom = std::get_if<Shared<MmaAtom>>(&a.value)) {
    return std::string((*atom)->name.view());
  }
  if (const auto* atom = std::get_if<Shared<CopyAtom>>(&a.value)) {
    return std::string((*atom)->name.view());
  }
  if (const auto* mma = std::get_if<Shared<TiledMma>>(&a.value)) {
    return fmt::format("TiledMMA of {}", (*mma)->atom.name.view());
  }
  if (const auto* copy = std::get_if<Shared<TiledCopy>>(&a.value)) {
    return fmt::format("TiledCopy of {}", (*copy)->atom.name.view());
  }
  return text(a.value);
}

std::string operands_text(const Arguments& arguments) {
  std::string out;
  for (const Argument& a : arguments) out += (out.empty() ? "" : ", ") + operand_text(a);
  return out;
}

// The call as a step, and its parts behind it, one level deeper.
void explain_call(const Function& f, const Arguments& arguments, const Answer& result,
                  Derivation& steps) {
  const Value* value = std::get_if<Value>(&result);
  DerivationStep step =
      step_of(std::string(f.help.name), operands_text(arguments), value, sentence_of(result));
  if (value && step.sentence.empty()) step.sentence = std::string(f.help.help) + ".";
  steps.push_back(std::move(step));
  if (f.explain) f.explain(arguments, steps);
}

}  // namespace

std::string sentence_of(const Answer& answer) {
  if (const Refusal* refusal = std::get_if<Refusal>(&answer)) return sentence(*refusal);
  const Reason* reason = std::get_if<Reason>(&answer);
  return reason ? reason->sentence : std::string();
}

std::string advice_for(const Value& value, std::string_view needs) {
  if (std::holds_alternative<Shared<TileLayout>>(value)) {
    return " to_cute(X) is the CuTe layout with the same places.";
  }
  if (needs == "a layout" && std::holds_alternative<Tuple>(value)) {
    return fmt::format(" Did you mean make_layout({})?", text(value));
  }
  const Tensor* tensor = std::get_if<Tensor>(&value);
  if (tensor && !tensor->alone()) return " layout(T) is the layout of a tensor T.";
  return "";
}

Answer from(const Place& origin, Answer answer) {
  const Value* value = std::get_if<Value>(&answer);
  const Layout* layout = value ? std::get_if<Layout>(value) : nullptr;
  const Slice* slice = value ? std::get_if<Slice>(value) : nullptr;
  if (!layout && !slice) return answer;
  Slice out = slice ? *slice : Slice{*layout, {}};
  if (out.layout.swizzle.identity()) {  // no swizzle: an offset in front of the modes is one more
    if (const Refusal r = out.offset.add(out.layout.offset)) return r;
    out.layout.offset = 0;
  }
  if (const Refusal r = out.offset.add(origin)) return r;
  if (!slice && out.offset.zero()) return Value(out.layout);
  return Value(out);
}

std::optional<Layout> composed_of(const Slice& slice) {
  Place offset = slice.offset;
  if (!offset.plain() || !detail::passes_swizzle(offset.offset(), slice.layout)) {
    return std::nullopt;
  }
  if (offset.add(slice.layout.offset)) return std::nullopt;
  Layout out = slice.layout;
  out.offset = offset.offset();
  return out;
}

// The answer of a function that was given slices: what is made of them begins where they do.
static Answer made_of_slices(const Function& f, const Arguments& arguments, Answer answer) {
  const bool of_tensor = f.kinds[0] == 'E' && arguments[0].tensor;
  if (of_tensor) return with_engine(*arguments[0].tensor, std::move(answer));
  const bool sliced = std::any_of(arguments.begin(), arguments.end(), [](const Argument& a) {
    const Slice* slice = std::get_if<Slice>(&a.value);
    return slice && !slice->offset.zero();
  });
  if (!sliced) return answer;
  const Refusal* refusal = std::get_if<Refusal>(&answer);
  using Rule = Refusal::Rule;
  if (refusal && (refusal->rule == Rule::has_swizzle || refusal->rule == Rule::has_offset)) {
    return Reason{
        fmt::format("The slice has an offset, and only a layout that begins at 0 can "
                    "be used here. {}",
                    alone_advice)};
  }
  const bool begins = f.kinds[0] == 'O' || f.kinds[0] == 'E';
  return from(begins ? arguments[0].origin : Place(), std::move(answer));
}

const Function* find_function(std::string_view name) {
  for (const std::span<const Function> table :
       {functions_making(), functions_algebra(), functions_analysis(), functions_tensor(),
        functions_tirx()}) {
    const auto found = std::find_if(table.begin(), table.end(),
                                    [&](const Function& f) { return f.help.name == name; });
    if (found != table.end()) return &*found;
  }
  return nullptr;
}

std::optional<Problem> convert(const Function& f, Arguments& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (std::optional<Problem> problem = convert_one(f, i, arguments[i])) return problem;
  }
  return std::nullopt;
}

// TIRx and CuTe have a few names in common; the first argument says whose operation is meant.
static const Function& meant(const Function& f, const Arguments& arguments) {
  if (arguments.empty() || !std::holds_alternative<Shared<TileLayout>>(arguments[0].value))
    return f;
  for (const Function& tirx : functions_tirx()) {
    if (tirx.help.name == f.help.name) return tirx;
  }
  return f;
}

Evaluated call(const Function& named, Arguments arguments, std::size_t begin, std::size_t end,
               Derivation* steps) {
  const Function& f = meant(named, arguments);
  const std::size_t most = f.kinds.size();
  const auto optional =
      std::count_if(f.kinds.begin(), f.kinds.end(), [](char c) { return c >= 'a' && c <= 'z'; });
  const std::size_t least = most - static_cast<std::size_t>(optional);
  if (arguments.size() < least || arguments.size() > most) {
    return Problem{
        false,
        fmt::format("{}{} was called with {} argument{}.", f.help.name, f.help.parameters,
                    arguments.size(), arguments.size() == 1 ? "" : "s"),
        begin, end};
  }
  if (std::optional<Problem> problem = convert(f, arguments)) return *problem;
  Answer result = made_of_slices(f, arguments, f.call(arguments));
  if (steps) explain_call(f, arguments, result, *steps);
  if (Value* value = std::get_if<Value>(&result)) return std::move(*value);
  const Refusal* refusal = std::get_if<Refusal>(&result);
  const std::size_t operand = refusal ? static_cast<std::size_t>(refusal->operand) : 0;
  if (refusal && arguments.size() > 1 && operand < arguments.size() && refusal->mode >= 0) {
    begin = arguments[operand].begin;
    end = arguments[operand].end;
  }
  return Problem{true, fmt::format("{}: {}", f.help.name, sentence_of(result)), begin, end};
}

}  // namespace language

std::span<const FunctionHelp> functions() {
  static const std::vector<FunctionHelp> all = [] {
    std::vector<FunctionHelp> out;
    for (const std::span<const language::Function> table :
         {language::functions_making(), language::functions_algebra(),
          language::functions_analysis(), language::functions_tensor(),
          language::functions_tirx()}) {
      for (const language::Function& f : table) out.push_back(f.help);
    }
    return out;
  }();
  return all;
}

}  // namespace tilescope
