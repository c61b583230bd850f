#include "core/lower/request.h"

#include <fmt/format.h>

#include <map>

#include "core/language/language.h"
#include "core/language/lexer.h"

namespace tilescope::lowering {
namespace {

using language::Token;
using Kind = Step::Kind;

struct Operation {
  std::string_view name;
  Kind kind;
  int arguments;  // the tensor or layout is the last of them
  Side side = Side::source;
};

constexpr Operation operations[] = {{"slice", Kind::slice, 2},
                                    {"partition_S", Kind::partition, 3},
                                    {"partition_D", Kind::partition, 3, Side::destination},
                                    {"crd2idx", Kind::crd2idx, 2},
                                    {"get_iter", Kind::get_iter, 1},
                                    {"get_layout", Kind::get_layout, 1},
                                    {"get_shape", Kind::get_shape, 1},
                                    {"get_stride", Kind::get_stride, 1},
                                    {"get_strides", Kind::get_stride, 1},
                                    {"get_leaves", Kind::get_leaves, 1},
                                    {"get_scalars", Kind::get_scalars, 1}};

const Operation* operation_named(std::string_view name) {
  for (const Operation& o : operations) {
    if (o.name == name) return &o;
  }
  return nullptr;
}

class Parser {
 public:
  Parser(std::string_view text, std::int64_t align) : text_(text) {
    out_.align = align;
    language::Lexer lexer(text);
    for (Token t = lexer.next(); t.kind != Token::Kind::end; t = lexer.next()) tokens_.push_back(t);
  }

  Outcome<Request> program() {
    std::vector<Range> statements = parts(0, tokens_.size(), ';');
    while (!statements.empty() && statements.back().empty()) statements.pop_back();
    if (statements.empty()) return refused("Nothing to lower; try (?,?):(?,1).");
    for (std::size_t i = 0; i + 1 < statements.size(); ++i) {
      if (const std::optional<Error> error = bind(statements[i])) return *error;
    }
    if (const std::optional<Error> error = read(statements.back(), 0)) return *error;
    if (out_.steps.empty()) {
      for (const Kind kind : {Kind::get_iter, Kind::get_shape, Kind::get_stride}) {
        Step step;
        step.kind = kind;
        step.beside = true;
        out_.steps.push_back(step);
      }
      Step scalars;
      scalars.kind = Kind::get_scalars;
      out_.steps.push_back(scalars);
    }
    return std::move(out_);
  }

 private:
  struct Range {
    std::size_t begin = 0, end = 0;  // tokens
    bool empty() const { return begin >= end; }
  };
  static constexpr int deepest = 16;

  std::string_view text(const Range& r) const {
    if (r.empty()) return {};
    const std::size_t begin = tokens_[r.begin].begin;
    return text_.substr(begin, tokens_[r.end - 1].end() - begin);
  }

  // Tokens [begin, end) cut at a mark outside brackets.
  std::vector<Range> parts(std::size_t begin, std::size_t end, char mark) const {
    std::vector<Range> out;
    int depth = 0;
    std::size_t from = begin;
    for (std::size_t i = begin; i < end; ++i) {
      const Token& t = tokens_[i];
      for (const char open : {'(', '<', '[', '{'}) depth += t.is(open);
      for (const char close : {')', '>', ']', '}'}) depth -= t.is(close);
      if (depth != 0 || !t.is(mark)) continue;
      out.push_back({from, i});
      from = i + 1;
    }
    out.push_back({from, end});
    return out;
  }

  // NAME(...) and nothing after it.
  bool is_call(const Range& r) const {
    if (r.end - r.begin < 3 || tokens_[r.begin].kind != Token::Kind::word ||
        !tokens_[r.begin + 1].is('(') || !tokens_[r.end - 1].is(')')) {
      return false;
    }
    int depth = 0;
    for (std::size_t i = r.begin + 1; i < r.end; ++i) {
      depth += tokens_[i].is('(');
      depth -= tokens_[i].is(')');
      if (depth == 0) return i + 1 == r.end;
    }
    return false;
  }

  bool begins_with_operation(const Range& r) const {
    return is_call(r) && operation_named(tokens_[r.begin].text) != nullptr;
  }

  std::optional<Error> bind(const Range& r) {
    if (r.empty()) return std::nullopt;
    if (r.end - r.begin > 2 && tokens_[r.begin].kind == Token::Kind::word &&
        tokens_[r.begin + 1].is('=')) {
      const Range value{r.begin + 2, r.end};
      const std::string name(tokens_[r.begin].text);
      const bool calls = is_call(value) && chains_.count(std::string(tokens_[value.begin].text));
      if (begins_with_operation(value) || calls) {
        chains_[name] = value;
        return std::nullopt;
      }
      chains_.erase(name);
    }
    const Outcome<Value> value = evaluated(r);
    return value ? std::nullopt : std::optional<Error>(value.error());
  }

  Outcome<Value> evaluated(const Range& r) {
    const std::string_view what = text(r);
    const std::optional<Evaluated> result = scope_.evaluate(what);
    if (!result) return refused("An argument is missing.");
    if (const Problem* problem = std::get_if<Problem>(&*result)) {
      return Error{problem->refused ? ErrorKind::refused : ErrorKind::usage,
                   problem->sentence + "\n" + caret(what, *problem), ""};
    }
    return std::get<Value>(*result);
  }

  Outcome<Tuple> tuple(const Range& r, std::string_view what) {
    const Outcome<Value> value = evaluated(r);
    if (!value) return value.error();
    const Tuple* out = std::get_if<Tuple>(&*value);
    if (out) return *out;
    return refused(fmt::format("{} is {}; a {} is a tuple.", text(r), kind_of(*value), what));
  }

  std::optional<Error> read(const Range& r, int depth) {
    if (depth > deepest) {
      return refused(fmt::format("More than {} operations, one in the other.", deepest));
    }
    if (r.empty()) return refused("An argument is missing.");
    if (begins_with_operation(r)) {
      return operation(*operation_named(tokens_[r.begin].text), r, depth);
    }
    const auto chain = chains_.find(std::string(tokens_[r.begin].text));
    if (chain != chains_.end() && r.end - r.begin == 1) return read(chain->second, depth + 1);
    // A(3,_) of a name.
    if (is_call(r) &&
        (chain != chains_.end() || scope_.names().count(std::string(tokens_[r.begin].text)) != 0)) {
      if (const std::optional<Error> error = read({r.begin, r.begin + 1}, depth + 1)) return error;
      Step step;
      const Outcome<Tuple> at = tuple({r.begin + 1, r.end}, "coordinate");
      if (!at) return at.error();
      step.coordinate = *at;
      out_.steps.push_back(step);
      return std::nullopt;
    }
    return tensor(r);
  }

  std::optional<Error> operation(const Operation& o, const Range& r, int depth) {
    std::vector<Range> given = parts(r.begin + 2, r.end - 1, ',');
    Step step;
    step.kind = o.kind;
    step.side = o.side;
    if (o.kind == Kind::get_scalars && given.size() == 2 && text(given[1]) == "only_dynamic") {
      step.only_dynamic = true;
      given.pop_back();
    }
    if (given.size() != static_cast<std::size_t>(o.arguments)) {
      return refused(fmt::format("{} takes {} argument{}; here are {}.", o.name, o.arguments,
                                 o.arguments == 1 ? "" : "s", given.size()));
    }
    if (const std::optional<Error> error = read(given.back(), depth + 1)) return error;
    if (o.kind == Kind::slice || o.kind == Kind::crd2idx) {
      const Outcome<Tuple> at = tuple(given[0], "coordinate");
      if (!at) return at.error();
      step.coordinate = *at;
    }
    if (o.kind == Kind::partition) {
      const Outcome<Value> copy = evaluated(given[0]);
      if (!copy) return copy.error();
      const auto* tiled = std::get_if<Shared<TiledCopy>>(&*copy);
      if (!tiled) {
        return refused(fmt::format("{} wants a tiled copy, as make_tiled_copy gives; this is {}.",
                                   o.name, kind_of(*copy)));
      }
      step.copy = **tiled;
      const Outcome<Tuple> thread = tuple(given[1], "thread");
      if (!thread) return thread.error();
      if (!thread->scalar() || thread->leaf[0].kind == Int::Kind::all) {
        return refused(fmt::format("{} is no thread: a number is, or `?`.", text(given[1])));
      }
      step.thread = thread->leaf[0].known() ? thread->leaf[0] : Int::unknown();
    }
    out_.steps.push_back(std::move(step));
    return std::nullopt;
  }

  std::optional<Error> tensor(const Range& r) {
    const Outcome<Value> value = evaluated(r);
    if (!value) return value.error();
    if (const Tensor* tensor = std::get_if<Tensor>(&*value)) {
      out_.tensor = *tensor;
      if (tensor->offset.zero()) return std::nullopt;
      return refused(
          fmt::format("{} begins at an offset: the pointer of a kernel's argument does "
                      "not.",
                      text(r)));
    }
    if (const Layout* layout = std::get_if<Layout>(&*value)) {
      out_.tensor.layout = *layout;
      return std::nullopt;
    }
    return refused(
        fmt::format("{} is {}; a tensor or a layout can be lowered, and slice, "
                    "partition_S and the like around it.",
                    text(r), kind_of(*value)));
  }

  std::string_view text_;
  std::vector<Token> tokens_;
  Scope scope_;
  std::map<std::string, Range> chains_;  // names of what is lowered
  Request out_;
};

}  // namespace

Outcome<Request> request_of(std::string_view text, std::int64_t align) {
  return Parser(text, align).program();
}

}  // namespace tilescope::lowering
