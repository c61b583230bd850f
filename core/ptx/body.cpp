// The body of one function: scopes, registers, variables, labels and instructions as written.
#include <fmt/format.h>

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "core/ptx/cursor.h"
#include "core/ptx/module.h"

namespace tilescope::ptx {
namespace {

constexpr int deepest_scope = 64;
constexpr std::uint32_t most_registers = 1u << 22;

class BodyParser {
 public:
  BodyParser(const Module& module, const Function& function, Body& body)
      : body_(body),
        files_(module.files),
        first_file_(module.parts[function.part].first_file),
        cursor_(module, function.part, function.body_at, function.body_line) {}

  bool run() { return scope(-1); }
  const Error& error() const { return cursor_.error(); }

 private:
  bool scope(std::int32_t parent);
  bool directive(std::uint32_t scope);
  bool registers(std::uint32_t scope);
  void vector_register(std::uint32_t scope, const Registers& whole, std::uint32_t parts);
  void open_vectors(std::uint32_t scope, Written& operand) const;
  bool variables(std::uint32_t scope, Space space);
  bool location();
  bool targets(std::uint32_t scope, std::string_view directive);
  bool instruction(std::uint32_t scope);
  bool operands(std::vector<Written>& out, char close);
  bool operand(Written& out);
  bool address(Written& out);
  bool constant(Written& out);
  bool name(std::string_view& out, std::string_view context);

  Body& body_;
  const std::map<std::uint32_t, std::string_view>& files_;
  std::uint64_t first_file_;
  Cursor cursor_;
  // A place of a .loc, and where it was inlined.
  struct Place {
    std::uint64_t file = 0, line = 0, column = 0;
    auto key() const { return std::make_tuple(file, line, column); }
  };
  bool place(Place& out);
  bool is_of_a_library(const Place& at) const;
  void find_caller(Place from);

  std::uint32_t file_ = 0, source_line_ = 0, caller_file_ = 0, caller_line_ = 0;
  std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>, Place> inlined_at_;
  int depth_ = 0;
  // Vector registers, by scope and name, and the names of their parts.
  std::map<std::pair<std::uint32_t, std::string_view>, std::vector<std::string_view>> vectors_;
};

bool BodyParser::scope(std::int32_t parent) {
  if (++depth_ > deepest_scope) return cursor_.fail("braces are nested more than 64 deep");
  const auto here = static_cast<std::uint32_t>(body_.scopes.size());
  body_.scopes.emplace_back().parent = parent;
  if (!cursor_.expect('{', "at the start of a body")) return false;
  while (!cursor_.accept('}')) {
    const Token token = cursor_.peek();
    if (token.is('{')) {
      if (!scope(static_cast<std::int32_t>(here))) return false;
    } else if (cursor_.accept(';')) {
      continue;
    } else if (token.kind == Token::Kind::dotted) {
      if (!directive(here)) return false;
    } else if (token.kind == Token::Kind::word || token.is('@')) {
      if (!instruction(here)) return false;
    } else {
      return cursor_.fail(fmt::format("expected an instruction, a label or '}}', found {}",
                                      token.kind == Token::Kind::end
                                          ? std::string("the end of the file")
                                          : fmt::format("'{}'", token.text.substr(0, 40))));
    }
  }
  --depth_;
  return true;
}

bool BodyParser::directive(std::uint32_t scope) {
  const Token token = cursor_.take();
  if (token.is(".reg")) return registers(scope);
  if (token.is(".shared")) return variables(scope, Space::shared);
  if (token.is(".local")) return variables(scope, Space::local);
  if (token.is(".global")) return variables(scope, Space::global);
  if (token.is(".const")) return variables(scope, Space::constant);
  if (token.is(".param")) return variables(scope, Space::param);
  if (token.is(".loc")) return location();
  if (token.is(".branchtargets") || token.is(".calltargets") || token.is(".callprototype")) {
    return targets(scope, token.text);
  }
  if (token.is(".pragma")) {
    return cursor_.skip_to(';') || cursor_.fail_at(token.line, "this .pragma never ends");
  }
  return cursor_.fail_at(token.line,
                         fmt::format("the directive '{}' in a body is not understood", token.text));
}

// `.reg .v2 .f32 mx` are two registers, mx.x and mx.y, or mx.r and mx.g (PTX ISA 5.4.2).
void BodyParser::vector_register(std::uint32_t scope, const Registers& whole, std::uint32_t parts) {
  for (const std::string_view letters : {"rgba", "xyzw"}) {  // the latter are what reports say
    std::vector<std::string_view>& names = vectors_[{scope, whole.name}];
    names.clear();
    for (std::uint32_t k = 0; k < parts; ++k) {
      body_.made_names.push_back(
          std::make_shared<const std::string>(fmt::format("{}.{}", whole.name, letters[k])));
      Registers part = whole;
      part.name = *body_.made_names.back();
      part.first += k;
      names.push_back(part.name);
      body_.scopes[scope].registers.push_back(part);
    }
  }
}

// A vector register as an operand is all of its parts: `mx` is {mx.x, mx.y}.
void BodyParser::open_vectors(std::uint32_t scope, Written& operand) const {
  for (Written& element : operand.elements) open_vectors(scope, element);
  if (operand.kind != Written::Kind::name) return;
  for (auto s = static_cast<std::int32_t>(scope); s >= 0;) {
    const Scope& here = body_.scopes[static_cast<std::size_t>(s)];
    const auto vector = vectors_.find({static_cast<std::uint32_t>(s), operand.name});
    if (vector != vectors_.end()) {
      operand = Written{};
      operand.kind = Written::Kind::vector;
      for (const std::string_view name : vector->second) {
        Written& part = operand.elements.emplace_back();
        part.kind = Written::Kind::name;
        part.name = name;
      }
      return;
    }
    for (const Registers& other : here.registers) {
      if (other.name == operand.name) return;
    }
    s = here.parent;
  }
}

// .reg .b32 %r<100>, x;
bool BodyParser::registers(std::uint32_t scope) {
  const std::uint32_t parts = cursor_.accept(".v2") ? 2 : cursor_.accept(".v4") ? 4 : 1;
  const Token token = cursor_.peek();
  const Type type =
      token.kind == Token::Kind::dotted ? type_named(token.text.substr(1)) : Type::none;
  if (type == Type::none) {
    return cursor_.fail(
        fmt::format("'{}' is not a type that a register can have", token.text.substr(0, 40)));
  }
  cursor_.take();
  do {
    Registers declared;
    declared.type = type;
    if (!cursor_.word(declared.name, "the name of a register")) return false;
    if (parts > 1 && cursor_.peek().is('<')) {
      return cursor_.fail("a range of vector registers is not understood");
    }
    if (cursor_.accept('<')) {
      std::uint64_t count = 0;
      if (!cursor_.integer(count, "a number of registers") ||
          !cursor_.expect('>', "after a number of registers")) {
        return false;
      }
      if (count > most_registers) {
        return cursor_.fail(
            fmt::format("{} registers {} are more than 2^22", count, declared.name));
      }
      declared.numbered = true;
      declared.count = static_cast<std::uint32_t>(count);
    }
    declared.first = body_.register_count;
    body_.register_count += declared.count * parts;
    if (body_.register_count > most_registers) {
      return cursor_.fail("a function with more than 2^22 registers is not understood");
    }
    if (parts > 1) {
      vector_register(scope, declared, parts);
    } else {
      body_.scopes[scope].registers.push_back(declared);
    }
  } while (cursor_.accept(','));
  return cursor_.expect(';', "after the declaration of registers");
}

bool BodyParser::variables(std::uint32_t scope, Space space) {
  bool further = false;
  do {
    Variable variable;
    variable.space = space;
    if (!(further ? cursor_.further_variable(variable) : cursor_.variable(variable))) return false;
    further = true;
    body_.scopes[scope].variables.push_back(static_cast<std::uint32_t>(body_.variables.size()));
    body_.variables.push_back(std::move(variable));
  } while (cursor_.accept(','));
  return cursor_.expect(';', "after a variable");
}

bool BodyParser::place(Place& out) {
  if (!cursor_.integer(out.file, "a file number") || !cursor_.integer(out.line, "a line number") ||
      !cursor_.integer(out.column, "a column number")) {
    return false;
  }
  out.file += first_file_;
  return true;
}

// A header of CUDA, CUTLASS, CUB, or a Python package: what its user did not write.
bool BodyParser::is_of_a_library(const Place& at) const {
  const auto found = files_.find(static_cast<std::uint32_t>(at.file));
  if (found == files_.end()) return false;
  const std::string_view file = found->second;
  return file.starts_with("/usr/") || file.find("/include/") != std::string_view::npos ||
         file.find("/site-packages/") != std::string_view::npos ||
         file.find("/dist-packages/") != std::string_view::npos;
}

// An inlined place names where its function was called; that call may stand in an inlined function
// again, of which an earlier .loc says where it was called (11.5.2). The last of them is where
// everything is inlined into. The user's own file is the outermost that is no library's (a kernel
// of CUB calls a user's lambda), or else that of the last place; of it the innermost place is what
// a reader looks for.
void BodyParser::find_caller(Place from) {
  constexpr int deepest = 64;  // a chain that goes round ends here
  std::vector<Place> chain = {from};
  for (int i = 0; i < deepest; ++i) {
    const auto next = inlined_at_.find(chain.back().key());
    if (next == inlined_at_.end()) break;
    chain.push_back(next->second);
  }
  caller_file_ = caller_line_ = 0;
  std::uint64_t own = chain.back().file;
  for (const Place& at : chain) {
    if (!is_of_a_library(at)) own = at.file;
  }
  for (const Place& at : chain) {
    if (at.file != own) continue;
    if (&at == chain.data()) return;
    caller_file_ = static_cast<std::uint32_t>(at.file);
    caller_line_ = static_cast<std::uint32_t>(at.line);
    return;
  }
}

// .loc file line column [, function_name label [+ offset], inlined_at file line column]
bool BodyParser::location() {
  Place here, at;
  std::uint64_t offset = 0;
  if (!place(here)) return false;
  file_ = static_cast<std::uint32_t>(here.file);
  source_line_ = static_cast<std::uint32_t>(here.line);
  while (cursor_.accept(',')) {
    std::string_view what, label;
    if (!cursor_.word(what, "function_name or inlined_at")) return false;
    if (what == "function_name") {
      if (!cursor_.word(label, "a label")) return false;
      if (cursor_.accept('+') && !cursor_.integer(offset, "an offset")) return false;
    } else if (what == "inlined_at") {
      if (!place(at)) return false;
      inlined_at_[here.key()] = at;
    } else {
      return cursor_.fail(fmt::format("'{}' in a .loc is not understood", what));
    }
  }
  find_caller(here);
  return true;
}

// name: .branchtargets L1, L2;   name: .calltargets f, g;   name: .callprototype (..) _ (..);
bool BodyParser::targets(std::uint32_t scope, std::string_view directive) {
  auto& statements = body_.statements;
  if (statements.empty() || statements.back().kind != Statement::Kind::label) {
    return cursor_.fail(fmt::format("{} has no label before it", directive));
  }
  Targets out;
  out.name = statements.back().text;
  out.line = statements.back().line;
  out.scope = scope;
  out.branch = directive == ".branchtargets";
  statements.pop_back();
  if (out.branch) {
    do {
      if (!cursor_.word(out.labels.emplace_back(), "a label in .branchtargets")) return false;
    } while (cursor_.accept(','));
  } else if (!cursor_.skip_to(';')) {
    return cursor_.fail_at(out.line, fmt::format("this {} never ends", directive));
  }
  body_.targets.push_back(std::move(out));
  return cursor_.expect(';', "after the targets");
}

// A register, symbol or label; special registers have a suffix: %tid.x
bool BodyParser::name(std::string_view& out, std::string_view context) {
  const Token word = cursor_.peek();
  if (!cursor_.word(out, context)) return false;
  const Token suffix = cursor_.peek();
  if (suffix.kind == Token::Kind::dotted && suffix.at == word.at + word.text.size()) {
    cursor_.take();
    out = cursor_.source().substr(word.at, word.text.size() + suffix.text.size());
  }
  return true;
}

bool BodyParser::constant(Written& out) {
  out.kind = Written::Kind::number;
  const std::string_view context = "an operand";
  Number literal;
  const Token token = cursor_.peek();
  if (token.is('~') || token.is('(')) return cursor_.integer(out.bits, context);
  if (!cursor_.number(literal, context)) return false;
  out.bits = literal.bits;
  out.floating = literal.floating;
  out.single = literal.single;
  if (literal.floating || literal.single) return true;
  while (cursor_.peek().is('+') || cursor_.peek().is('-') || cursor_.peek().is('*')) {
    const Token sign = cursor_.take();
    std::uint64_t right = 0;
    if (!cursor_.integer(right, context)) return false;
    if (sign.is('*')) {
      out.bits *= right;
    } else {
      out.bits = sign.is('-') ? out.bits - right : out.bits + right;
    }
  }
  return true;
}

// [base], [base+offset], [base, {coordinates}, ...]
bool BodyParser::address(Written& out) {
  out.kind = Written::Kind::address;
  if (cursor_.peek().kind == Token::Kind::word) {
    if (!name(out.name, "an address")) return false;
    if (cursor_.accept('+')) {
      if (!cursor_.integer(out.bits, "an offset")) return false;
    } else if (cursor_.accept('-')) {
      if (!cursor_.integer(out.bits, "an offset")) return false;
      out.bits = 0 - out.bits;
    }
  } else if (!cursor_.integer(out.bits, "an address")) {
    return false;
  }
  if (!cursor_.accept(',')) return cursor_.expect(']', "after an address");
  return operands(out.elements, ']');
}

bool BodyParser::operand(Written& out) {
  if (++depth_ > deepest_scope) return cursor_.fail("operands are nested more than 64 deep");
  bool good = true;
  if (cursor_.accept('[')) {
    good = address(out);
  } else if (cursor_.accept('{')) {
    out.kind = Written::Kind::vector;
    good = operands(out.elements, '}');
  } else if (cursor_.accept('(')) {
    out.kind = Written::Kind::list;
    good = operands(out.elements, ')');
  } else if (cursor_.peek().kind == Token::Kind::word || cursor_.peek().is('!')) {
    out.negated = cursor_.accept('!');
    if (cursor_.accept("_")) {
      out.kind = Written::Kind::sink;
    } else {
      out.kind = Written::Kind::name;
      good = name(out.name, "an operand");
    }
    if (good && cursor_.accept('|')) good = name(out.partner, "a register after '|'");
    if (good && out.kind == Written::Kind::name && cursor_.accept('+')) {
      good = cursor_.integer(out.bits, "an offset after a symbol");
    } else if (good && out.kind == Written::Kind::name && cursor_.accept('[')) {
      out.indexed = true;
      good = cursor_.integer(out.bits, "an index") && cursor_.expect(']', "after an index");
    }
  } else {
    good = constant(out);
  }
  --depth_;
  return good;
}

bool BodyParser::operands(std::vector<Written>& out, char close) {
  if (cursor_.accept(close)) return true;
  do {
    if (!operand(out.emplace_back())) return false;
  } while (cursor_.accept(','));
  return cursor_.expect(close, "after an operand");
}

bool BodyParser::instruction(std::uint32_t scope) {
  Statement statement;
  statement.scope = scope;
  statement.line = cursor_.peek().line;
  statement.file = file_;
  statement.source_line = source_line_;
  statement.caller_file = caller_file_;
  statement.caller_line = caller_line_;
  const std::uint32_t begin = cursor_.peek().at;
  if (cursor_.accept('@')) {
    statement.guard_negated = cursor_.accept('!');
    if (!cursor_.word(statement.guard, "a predicate after '@'")) return false;
  }
  if (!cursor_.word(statement.opcode, "an opcode")) return false;
  if (statement.guard.empty() && cursor_.accept(':')) {
    statement.kind = Statement::Kind::label;
    statement.text = statement.opcode;
    body_.statements.push_back(std::move(statement));
    return true;
  }
  while (cursor_.peek().kind == Token::Kind::dotted) {
    statement.modifiers.push_back(cursor_.take().text.substr(1));
  }
  if (!cursor_.peek().is(';') && !cursor_.peek().is('}')) {
    do {
      if (!operand(statement.operands.emplace_back())) return false;
    } while (cursor_.accept(','));
  }
  if (!vectors_.empty()) {
    for (Written& one : statement.operands) open_vectors(scope, one);
  }
  std::string_view text = cursor_.source().substr(begin, cursor_.peek().at - begin);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\n')) {
    text.remove_suffix(1);
  }
  statement.text = text;
  if (!cursor_.expect(';', "at the end of an instruction")) return false;
  body_.statements.push_back(std::move(statement));
  return true;
}

}  // namespace

Outcome<Body> parse_body(const Module& module, const Function& function) {
  Body body;
  BodyParser parser(module, function, body);
  if (!parser.run()) return parser.error();
  return body;
}

}  // namespace tilescope::ptx
