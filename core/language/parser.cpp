#include "core/language/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/language/explain.h"
#include "core/language/functions.h"
#include "core/language/reader.h"
#include "core/language/triton_syntax.h"
#include "core/layout/text.h"
#include "core/tensor/catalog.h"

namespace tilescope::language {
namespace {

// A recursive-descent evaluator: each rule answers a value; the first problem stops everything.
//
//     program   := statement (';' statement)*
//     statement := [name '='] composed
//     composed  := sum ('o' sum)*                       right to left
//     sum       := layout ('+' layout)*                 places
//     layout    := term [':' term]
//     term      := number | '?' | '_' | '(' list ')' | '<' list '>' | name | call | Sw<B,M,S> |
//                  S[layout] | R[layout] | atom | encoding | memory
//     atom      := word ['<' anything '>']              the catalog reads the arguments
//     encoding  := #ttg.blocked<{field, ...}> ['on' shape] | #ttg.linear<{...}> ['on' shape]
//     memory    := (gmem | smem | rmem | tmem) '<' type '>'
class Evaluator : private Reader {
 public:
  Evaluator(std::string_view text, Names& names, Derivation* steps)
      : Reader(text), names_(names), steps_(steps) {}

  // Nothing where the text is blank.
  std::optional<Evaluated> program() {
    std::optional<Value> last;
    while (!problem_) {
      while (token_.is(';')) next();
      if (token_.kind == Token::Kind::end || problem_) break;
      last = statement();
      if (!problem_ && token_.kind != Token::Kind::end && !token_.is(';')) {
        fail_here("Expected an operator or the end");
      }
    }
    if (problem_) return *problem_;
    if (!last) return std::nullopt;
    return *last;
  }

 private:
  static constexpr int deepest = 64;  // of brackets and calls; a layout itself has 8 levels

  Value take(Answer answer, std::size_t begin, std::size_t end) {
    if (Value* value = std::get_if<Value>(&answer)) return std::move(*value);
    return fail(sentence_of(answer), begin, end, true);
  }

  // --- rules ---
  Value statement() {
    if (token_.kind == Token::Kind::word && lexer_.mark_ahead() == '=') {
      const Token name = token_;
      next();
      next();
      if (find_function(name.text) || name.text == "o" || name.text == "Sw") {
        return fail(fmt::format("`{}` is a name of the language; bind another one.", name.text),
                    name.begin, name.end());
      }
      Value value = composed();
      if (!problem_) names_.insert_or_assign(std::string(name.text), value);
      return value;
    }
    return composed();
  }

  Value composed() {
    std::vector<Argument> chain;
    do {
      if (!chain.empty()) next();
      Argument part;
      part.begin = token_.begin;
      part.value = sum();
      part.end = previous_end_;
      if (problem_) return {};
      chain.push_back(std::move(part));
    } while (token_.kind == Token::Kind::word && token_.text == "o");
    Value value = std::move(chain.back().value);
    for (std::size_t i = chain.size() - 1; i-- > 0 && !problem_;) {
      const Answer answer = compose(chain[i].value, value);
      if (steps_) explain_compose(chain[i].value, value, answer, *steps_);
      value = take(answer, chain[i].begin, chain.back().end);
    }
    return value;
  }

  Value sum() {
    const std::size_t begin = token_.begin;
    Value left = layout();
    while (!problem_ && token_.is('+')) {
      next();
      const Value right = layout();
      if (!problem_) left = take(add(left, right), begin, previous_end_);
    }
    return left;
  }

  Value layout() {
    const std::size_t begin = token_.begin;
    Value left = term();
    if (problem_ || !token_.is(':')) return left;
    next();
    const std::size_t stride_begin = token_.begin;
    Value right = term();
    if (problem_) return {};
    const Tuple* shape = std::get_if<Tuple>(&left);
    const Tuple* stride = std::get_if<Tuple>(&right);
    if (!shape || !stride) {
      return fail(fmt::format("A layout is shape:stride, two tuples of numbers; this side is {}.",
                              kind_of(shape ? right : left)),
                  shape ? stride_begin : begin, shape ? previous_end_ : stride_begin - 1);
    }
    const Result<Layout> made = make_layout(*shape, *stride);
    if (!made) return fail(sentence(made.refusal), begin, previous_end_, true);
    return *made;
  }

  Value term() {
    if (++depth_ > deepest) {
      return fail(fmt::format("Nested deeper than {} brackets.", deepest), token_.begin,
                  token_.end());
    }
    Value value = unnested_term();
    --depth_;
    return value;
  }

  Value unnested_term() {
    if (problem_) return {};
    const Token first = token_;
    if (first.kind == Token::Kind::number || first.is('?') || first.is('-')) return number();
    if (first.is('(')) return applied(parenthesised(), first.begin);
    if (first.is('<')) return tiler();
    if (first.is('#')) return encoding();
    if (first.kind != Token::Kind::word) return fail_here("Expected a layout, a tuple or a number");
    next();
    if (first.text == "_") return Tuple(Int::all());
    if (token_.is('[') && (first.text == "S" || first.text == "R")) {
      return applied(tile_part(first.text == "S"), first.begin);
    }
    const bool printed = first.text == "S" && token_.is('<');  // as CuTe prints it
    if (printed || first.text == "Sw" || first.text == "Swizzle") return swizzle(first);
    if (const auto found = names_.find(first.text); found != names_.end()) {
      return applied(found->second, first.begin);
    }
    if (in_projection_ && first.text == "X") return Tuple(Int::all());  // CuTe: X is `_`
    if (in_projection_ && first.text == "Step" && token_.is('<')) return step();
    if (const Function* function = find_function(first.text)) {
      return applied(call(*function, first), first.begin);
    }
    if (begins_like_an_atom(first.text)) return atom(first);
    if (const std::optional<Memory> memory = memory_named(first.text); memory && token_.is('<')) {
      return place_for_elements(*memory);
    }
    return unknown(first);
  }

  // #ttg.blocked<{sizePerThread = [1, 4], ...}> on (64,32), and #ttg.linear<{...}>
  Value encoding() {
    const std::size_t begin = token_.begin;
    const std::optional<Encoding> read = read_encoding(*this);
    if (!read) return {};
    triton::Numbers shape;
    if (token_.is_word("on")) {
      next();
      const std::size_t from = token_.begin;
      const Value given = term();
      const Tuple* tuple = std::get_if<Tuple>(&given);
      if (problem_) return {};
      if (!tuple)
        return fail("`on` takes the tensor's shape, such as (64,32).", from, previous_end_);
      for (int i = 0; i < tuple->leaves; ++i) {
        if (!tuple->leaf[i].known())
          return fail("A tensor's extents are known numbers.", from, previous_end_);
        shape.push_back(tuple->leaf[i].value);
      }
    }
    const triton::Or<ThreadValue> pairs = thread_value_of(*read, shape);
    if (const std::string* why = std::get_if<std::string>(&pairs)) {
      return fail(*why, begin, previous_end_, true);
    }
    return std::get<ThreadValue>(pairs);
  }

  // smem<f16>: a tensor without a layout, which `o` gives it.
  Value place_for_elements(Memory memory) {
    next();
    const std::optional<ElementType> type = element_named(token_.text);
    if (!type) return fail_here(fmt::format("Expected a type ({})", element_names()));
    next();
    if (!expect('>', "after the type, as in smem<f16>")) return {};
    Tensor out;
    out.memory = memory;
    out.type = *type;
    return out;
  }

  Value atom(const Token& name) {
    int depth = 0;
    while (token_.is('<') || depth > 0) {
      if (token_.kind == Token::Kind::end)
        return fail_here("Expected `>` after an atom's arguments");
      depth += token_.is('<') ? 1 : token_.is('>') ? -1 : 0;
      next();
      if (depth == 0) break;
    }
    const std::string_view whole(name.text.data(), previous_end_ - name.begin);
    const Outcome<Atom> found = atom_named(whole);
    if (!found) return fail(found.error().sentence, name.begin, previous_end_, true);
    if (token_.is('{')) {  // ATOM{}, as C++ makes a value of the type
      next();
      if (!expect('}', "after an atom's `{`")) return {};
    }
    if (const MmaAtom* mma = std::get_if<MmaAtom>(&*found)) {
      return std::make_shared<const MmaAtom>(*mma);
    }
    return std::make_shared<const CopyAtom>(*std::get_if<CopyAtom>(&*found));
  }

  Value unknown(const Token& word) {
    std::vector<std::string_view> known(atom_names().begin(), atom_names().end());
    for (const FunctionHelp& f : functions()) known.push_back(f.name);
    for (const auto& [name, value] : names_) known.push_back(name);
    const std::string_view near = nearest(word.text, known);
    return fail(near.empty()
                    ? fmt::format("`{}` is neither a function nor a name bound before.", word.text)
                    : fmt::format("`{}` is unknown; did you mean `{}`?", word.text, near),
                word.begin, word.end());
  }

  // 16   -3   _8   ?   ?{div=16}   ?{i64 div=16}   and any of them on an axis: 2@1@0   1@TLane
  Value number() {
    const std::size_t begin = token_.begin;
    Int out;
    if (token_.is('?')) {
      next();
      out = Int::unknown();
      if (token_.is('{')) out = divisibility();
    } else {
      const bool negative = token_.is('-');
      if (negative) next();
      out.value = digits();
      if (negative) out.value = -out.value;
    }
    while (!problem_ && token_.is('@')) {
      next();
      const std::optional<std::uint8_t> step = axis_named(token_.text);
      if (!step) return fail_here("Expected an axis: a number below 127 or a name such as TLane");
      if (out.axis.steps() == 4) {
        return fail("An axis has at most four steps.", begin, token_.end());
      }
      out.axis = out.axis.then(*step);
      next();
    }
    return Tuple(out);
  }

  Int divisibility() {
    next();
    if (token_.is_word("i32") || token_.is_word("i64")) {  // the IR's width: all are 64 bits here
      next();
      if (token_.is('}')) {
        next();
        return Int::unknown();
      }
    }
    if (!token_.is_word("div")) fail_here("Expected `div=` in `?{div=16}`");
    next();
    expect('=', "in `?{div=16}`");
    const Token place = token_;
    const std::int64_t divisor = problem_ ? 1 : digits();
    if (divisor < 1) fail("A divisor is 1 or more.", place.begin, place.end());
    expect('}', "after `?{div=`");
    return Int::unknown(divisor);
  }

  // (a,b,...) is a tuple of numbers; (L) with anything else inside is L itself.
  Value parenthesised() {
    next();
    Tuple tuple;
    if (token_.is(')')) {
      next();
      return tuple;
    }
    for (bool first = true;; first = false) {
      const std::size_t begin = token_.begin;
      Value element = composed();
      if (problem_) return {};
      const Tuple* numbers = std::get_if<Tuple>(&element);
      if (!numbers && first && token_.is(')')) {
        next();
        return element;
      }
      if (!numbers || numbers->empty()) {
        return fail(fmt::format("A tuple holds numbers and tuples; this is {}.{}", kind_of(element),
                                std::holds_alternative<Layout>(element)
                                    ? " make_layout(A, B) joins layouts; <A,B> is a tiler."
                                    : ""),
                    begin, previous_end_);
      }
      tuple.push(*numbers);
      if (const Refusal r = tuple.capacity()) {
        return fail(sentence(r), begin, previous_end_, true);
      }
      if (token_.is(',')) {
        next();
        if (!token_.is(')')) continue;
      }
      if (!expect(')', "or `,` in a tuple")) return {};
      return tuple;
    }
  }

  Value tiler() {
    next();
    Tiler out;
    for (;;) {
      const std::size_t begin = token_.begin;
      Value element = layout();
      if (problem_) return {};
      std::optional<Tiler> part = tiler_part(element);
      if (!part) {
        return fail(fmt::format("A tiler holds layouts, numbers, shapes and `_`; this is {}.",
                                kind_of(element)),
                    begin, previous_end_);
      }
      out.push(*part);
      if (const Refusal r = out.modes.capacity()) {
        return fail(sentence(r), begin, previous_end_, true);
      }
      if (token_.is(',')) {
        next();
        continue;
      }
      if (!expect('>', "or `,` in a tiler")) return {};
      return out;
    }
  }

  // S[extents:strides] and R[extents:strides], TIRx's shard and replicas. Extents alone, S[8,4],
  // have compact strides, the last extent fastest.
  Value tile_part(bool shard) {
    next();
    const std::size_t begin = token_.begin;
    Value inside = layout();
    if (problem_) return {};
    if (std::holds_alternative<Tuple>(inside)) inside = compact(std::get<Tuple>(inside), begin);
    if (problem_) return {};
    const Layout* modes = std::get_if<Layout>(&inside);
    if (!modes) {
      return fail(fmt::format("S[...] and R[...] hold extents:strides, such as (128,64):(1@TLane,"
                              "1@TCol); this is {}.",
                              kind_of(inside)),
                  begin, previous_end_);
    }
    const Result<TileLayout> made = shard ? make_shard(*modes) : make_replica(*modes);
    if (!made) return fail(sentence(made.refusal), begin, previous_end_, true);
    if (!expect(']', "after the strides")) return {};
    return std::make_shared<const TileLayout>(*made);
  }

  Value compact(Tuple extents, std::size_t begin) {
    while (!problem_ && token_.is(',')) {
      next();
      const Value more = number();
      if (problem_) return {};
      if (extents.scalar()) extents = make_tuple_of(extents);
      extents.push(std::get<Tuple>(more));
    }
    const Result<Layout> made = make_layout_right(extents);
    if (!made) return fail(sentence(made.refusal), begin, previous_end_, true);
    return *made;
  }

  // Step<_1,X,_1>, and Step<_1,X,_1>{}, as C++ makes a value of the type.
  Value step() {
    Value out = tiler();
    if (problem_ || !token_.is('{')) return out;
    next();
    if (!expect('}', "after `Step<...>{`")) return {};
    return out;
  }

  Value swizzle(const Token& word) {
    std::int64_t field[3] = {};
    if (!expect('<', "after `Sw`, as in Sw<3,4,3>")) return {};
    for (int i = 0; i < 3; ++i) {
      if (i > 0 && !expect(',', "between the numbers of a swizzle")) return {};
      const bool negative = token_.is('-');
      if (negative) next();
      field[i] = digits();
      if (negative) field[i] = -field[i];
    }
    if (!expect('>', "after the three numbers of a swizzle")) return {};
    const Result<Swizzle> made = make_swizzle(field[0], field[1], field[2]);
    if (!made) return fail(sentence(made.refusal), word.begin, previous_end_, true);
    return *made;
  }

  Arguments arguments(std::string_view kinds) {
    Arguments out;
    next();
    while (!problem_ && !token_.is(')')) {
      Argument a;
      a.begin = token_.begin;
      const char kind = out.size() < kinds.size() ? kinds[out.size()] : ' ';
      const bool name = kind == 'W';
      const bool outside = std::exchange(in_projection_, kind == 'J' || kind == 'j');
      if (name)
        a.word = word();
      else
        a.value = composed();
      in_projection_ = outside;
      a.end = previous_end_;
      out.push_back(std::move(a));
      if (problem_ || !token_.is(',')) break;
      next();
    }
    expect(')', "or `,` after an argument");
    return out;
  }

  // A name as it is written, such as 128B: up to the next mark.
  std::string word() {
    std::string out;
    for (; token_.kind == Token::Kind::word || token_.kind == Token::Kind::number; next()) {
      out += token_.text;
    }
    if (out.empty()) fail_here("Expected a name");
    return out;
  }

  Value call(const Function& function, const Token& name) {
    if (!token_.is('(')) {
      return fail(fmt::format("{} is a function: {}{} gives {}.", name.text, name.text,
                              function.help.parameters, function.help.help),
                  name.begin, name.end());
    }
    Arguments given = arguments(function.kinds);
    if (problem_) return {};
    Evaluated result =
        language::call(function, std::move(given), name.begin, previous_end_, steps_);
    if (Value* value = std::get_if<Value>(&result)) return std::move(*value);
    problem_ = std::get<Problem>(std::move(result));
    return {};
  }

  // The steps of A(3,_).
  void tell(const Value& value, const Tuple& where, const Answer& there) {
    const Tensor* tensor = std::get_if<Tensor>(&value);
    const Slice* part = std::get_if<Slice>(&value);
    const Layout* layout = tensor ? &tensor->layout
                           : part ? &part->layout
                                  : std::get_if<Layout>(&value);
    const bool slices = std::any_of(where.leaf.begin(), where.leaf.begin() + where.leaves,
                                    [](const Int& i) { return i.kind == Int::Kind::all; });
    if (!layout || !slices) return;
    DerivationStep step = step_of("slice", text(where) + ", " + text(value),
                                  std::get_if<Value>(&there), sentence_of(there));
    if (step.sentence.empty()) step.sentence = "The modes at `_`, and the offset of the rest.";
    steps_->push_back(std::move(step));
    explain_slice(where, *layout, *steps_);
  }

  Value applied(Value value, std::size_t begin) {
    while (!problem_ && token_.is('(') && takes_coordinates(value)) {
      const Value inside = parenthesised();
      if (problem_) return {};
      const Tuple* coordinate = std::get_if<Tuple>(&inside);
      if (!coordinate) {
        return fail(
            fmt::format("A coordinate is a tuple of numbers and `_`; this is {}.", kind_of(inside)),
            begin, previous_end_);
      }
      const Tuple where = coordinate->unwrapped();
      const Answer there = at(value, where);
      if (steps_) tell(value, where, there);
      value = take(there, begin, previous_end_);
    }
    return value;
  }

  Names& names_;
  int depth_ = 0;
  bool in_projection_ = false;
  Derivation* steps_;
};

}  // namespace

std::optional<Evaluated> run(std::string_view text, Names& names, Derivation* steps) {
  return Evaluator(text, names, steps).program();
}

}  // namespace tilescope::language
