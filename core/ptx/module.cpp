#include "core/ptx/module.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/ptx/cursor.h"
#include "core/ptx/symbols.h"

namespace tilescope::ptx {
namespace {

bool is_linkage(const Token& token, Linkage& out) {
  if (token.is(".visible")) {
    out = Linkage::visible;
  } else if (token.is(".weak") || token.is(".common")) {
    out = Linkage::weak;
  } else if (token.is(".extern")) {
    out = Linkage::external;
  } else {
    return false;
  }
  return true;
}

// Of a function: far beyond what a launch can pass (32,764 bytes, 5.1.6.1) or a call keeps.
constexpr std::uint32_t most_parameter_bytes = 1u << 20;

class ModuleParser {
 public:
  ModuleParser(Module& module, std::uint32_t part)
      : module_(module),
        number_(part),
        part_(module.parts[part]),
        cursor_(module, part, part_.begin, part_.first_line) {}

  bool run() {
    while (cursor_.peek().kind != Token::Kind::end) {
      if (!directive()) return false;
    }
    if (part_.version.empty()) {
      return cursor_.fail_at(part_.first_line, "this is no PTX: there is no .version directive");
    }
    return true;
  }
  const Error& error() const { return cursor_.error(); }

 private:
  bool directive();
  bool variables(Space space);
  bool function(bool entry);
  bool parameters(std::vector<Parameter>& out, Function& function);
  bool parameter(Parameter& out);
  bool wishes(Function& function);
  bool triple(std::array<std::uint32_t, 3>& out);
  bool debug_file();
  bool alias();

  Module& module_;
  std::uint32_t number_;
  FilePart& part_;
  Cursor cursor_;
  Linkage linkage_ = Linkage::internal;  // of what is being declared
};

bool ModuleParser::directive() {
  if (cursor_.accept(';')) return true;
  linkage_ = Linkage::internal;
  while (is_linkage(cursor_.peek(), linkage_)) cursor_.take();
  const Token token = cursor_.peek();
  if (token.kind != Token::Kind::dotted) {
    return cursor_.fail(fmt::format("expected a directive such as .entry or .global, found '{}'",
                                    token.text.substr(0, 40)));
  }
  cursor_.take();
  const std::string_view word = token.text;
  if (word == ".version") {
    part_.version = cursor_.take().text;
    return true;
  }
  if (word == ".target") {
    if (!cursor_.word(part_.target, "a target such as sm_80")) return false;
    std::string_view option;
    while (cursor_.accept(',')) {
      if (!cursor_.word(option, "a target option")) return false;
    }
    return true;
  }
  if (word == ".address_size") {
    std::uint64_t bits = 0;
    if (!cursor_.integer(bits, "an address size")) return false;
    if (bits != 64) {
      return cursor_.fail_at(token.line, fmt::format(".address_size {} is not supported: compile "
                                                     "for 64-bit addresses",
                                                     bits));
    }
    return true;
  }
  if (word == ".global") return variables(Space::global);
  if (word == ".const") return variables(Space::constant);
  if (word == ".shared") return variables(Space::shared);
  if (word == ".entry") return function(true);
  if (word == ".func") return function(false);
  if (word == ".file") return debug_file();
  if (word == ".section") {
    const bool body = cursor_.skip_to('{') && cursor_.skip_braces();
    return body || cursor_.fail_at(token.line, "this .section never ends");
  }
  if (word == ".alias") return alias();
  if (word == ".pragma") {
    return cursor_.skip_to(';') || cursor_.fail_at(token.line, "this .pragma never ends");
  }
  return cursor_.fail_at(token.line, fmt::format("the directive '{}' is not understood", word));
}

bool ModuleParser::variables(Space space) {
  bool further = false;
  do {
    Variable variable;
    variable.space = space;
    variable.linkage = linkage_;
    variable.part = number_;
    if (!(further ? cursor_.further_variable(variable) : cursor_.variable(variable))) return false;
    further = true;
    module_.variables.push_back(std::move(variable));
  } while (cursor_.accept(','));
  return cursor_.expect(';', "after a variable");
}

bool ModuleParser::alias() {
  Alias& out = module_.aliases.emplace_back();
  out.part = number_;
  return cursor_.word(out.name, "the name of a function") &&
         cursor_.expect(',', "between the names of an .alias") &&
         cursor_.word(out.of, "the function that an .alias is") &&
         cursor_.expect(';', "after an .alias");
}

namespace {

// Compilers write a letter that is not ASCII by its bytes: "gr\303\266\303\237e.cu".
std::string decoded_name(std::string_view written) {
  std::string out;
  const auto digit = [&](std::size_t at, char most) {
    return at < written.size() && written[at] >= '0' && written[at] <= most;
  };
  for (std::size_t at = 0; at < written.size(); ++at) {
    const bool is_byte =
        written[at] == '\\' && digit(at + 1, '3') && digit(at + 2, '7') && digit(at + 3, '7');
    if (!is_byte) {
      out += written[at];
      continue;
    }
    out += static_cast<char>((written[at + 1] - '0') * 64 + (written[at + 2] - '0') * 8 +
                             (written[at + 3] - '0'));
    at += 3;
  }
  return out;
}

}  // namespace

// .file 1 "add.cu" [, timestamp, size]
bool ModuleParser::debug_file() {
  std::uint64_t index = 0;
  if (!cursor_.integer(index, "a file number")) return false;
  const Token name = cursor_.peek();
  if (name.kind != Token::Kind::string) return cursor_.fail("expected a file name in quotes");
  cursor_.take();
  std::string_view file = name.text;
  if (std::string decoded = decoded_name(file); decoded != file) {
    file = *module_.decoded.emplace_back(std::make_shared<const std::string>(std::move(decoded)));
  }
  module_.files[part_.first_file + static_cast<std::uint32_t>(index)] = file;
  while (cursor_.accept(',')) {
    std::uint64_t ignored = 0;
    if (!cursor_.integer(ignored, "a number")) return false;
  }
  return true;
}

// .param .u64 .ptr .global .align 1 name   or   .param .align 64 .b8 name[128]
bool ModuleParser::parameter(Parameter& out) {
  std::uint64_t pointer_align = 0;
  if (!cursor_.accept(".param") && !cursor_.accept(".reg")) {
    return cursor_.fail("expected .param in a list of parameters");
  }
  if (cursor_.peek().kind == Token::Kind::dotted && cursor_.peek().text != ".align") {
    out.type = type_named(cursor_.peek().text.substr(1));
    if (out.type == Type::none) {
      return cursor_.fail(
          fmt::format("'{}' is not a type that a parameter can have", cursor_.peek().text));
    }
    cursor_.take();
    out.align = out.bytes = static_cast<std::uint32_t>(bytes_of(out.type));
    if (cursor_.accept(".ptr")) {
      for (std::string_view space : {".global", ".const", ".shared", ".local"}) {
        cursor_.accept(space);
      }
      if (cursor_.accept(".align") && !cursor_.integer(pointer_align, "an alignment")) return false;
    }
    if (!cursor_.word(out.name, "the name of a parameter")) return false;
    if (!cursor_.accept('[')) return true;
    std::uint64_t extent = 0;
    const std::uint32_t line = cursor_.peek().line;
    if (!cursor_.count(extent, "the extent of a parameter", line) ||
        !cursor_.expect(']', "after a parameter's extent")) {
      return false;
    }
    if (extent > 65536) return cursor_.fail_at(line, "a parameter is larger than 65536 elements");
    out.bytes *= static_cast<std::uint32_t>(extent);
    return true;
  }
  Variable variable;
  if (!cursor_.variable(variable)) return false;
  if (variable.bytes > 65536) {
    return cursor_.fail_at(variable.line, "a parameter is larger than 65536 bytes");
  }
  out.name = variable.name;
  out.type = variable.type;
  out.align = variable.align;
  out.bytes = static_cast<std::uint32_t>(variable.bytes);
  return true;
}

bool ModuleParser::parameters(std::vector<Parameter>& out, Function& function) {
  if (!cursor_.accept('(')) return true;
  std::uint32_t bytes = 0;
  while (!cursor_.accept(')')) {
    Parameter parameter;
    const std::uint32_t line = cursor_.peek().line;
    function.in_registers = function.in_registers || cursor_.peek().is(".reg");
    if (!this->parameter(parameter)) return false;
    const std::uint32_t align = parameter.align ? parameter.align : 1;
    parameter.offset = (bytes + align - 1) / align * align;
    bytes = parameter.offset + parameter.bytes;
    if (bytes > most_parameter_bytes) {
      return cursor_.fail_at(
          line, fmt::format("with {} the parameters are larger than 1 MiB", parameter.name));
    }
    if (&out == &function.parameters) function.parameter_bytes = bytes;
    out.push_back(parameter);
    if (!cursor_.accept(',') && !cursor_.peek().is(')')) {
      return cursor_.fail("expected ',' or ')' in a list of parameters");
    }
  }
  return true;
}

// x [, y [, z]]: what is not said is 1
bool ModuleParser::triple(std::array<std::uint32_t, 3>& out) {
  out = {1, 1, 1};
  for (std::uint32_t& extent : out) {
    std::uint64_t value = 0;
    if (!cursor_.integer(value, "a number of threads or CTAs")) return false;
    if (value > std::numeric_limits<std::uint32_t>::max()) return cursor_.fail("this is too large");
    extent = static_cast<std::uint32_t>(value);
    if (!cursor_.accept(',')) break;
  }
  return true;
}

// The directives between a function's head and its body.
bool ModuleParser::wishes(Function& function) {
  while (cursor_.peek().kind == Token::Kind::dotted) {
    const Token token = cursor_.take();
    std::array<std::uint32_t, 3> ignored{};
    std::array<std::uint32_t, 3> one{};
    bool good = true;
    if (token.is(".reqntid")) {
      good = triple(function.required_block);
    } else if (token.is(".maxntid")) {
      good = triple(function.maximum_block);
    } else if (token.is(".reqnctapercluster")) {
      good = triple(function.required_cluster);
    } else if (token.is(".minnctapersm")) {
      good = triple(one);
      function.minimum_blocks_per_sm = one[0];
    } else if (token.is(".maxnreg")) {
      good = triple(one);
      function.maximum_registers = one[0];
    } else if (token.is(".maxclusterrank") || token.is(".maxnctapersm")) {
      good = triple(ignored);
    } else if (token.is(".pragma")) {
      good = cursor_.skip_to(';') ? cursor_.expect(';', "after .pragma")
                                  : cursor_.fail("this .pragma never ends");
    } else if (!token.is(".noreturn") && !token.is(".explicitcluster") &&
               !token.is(".blocksareclusters")) {
      return cursor_.fail_at(token.line, fmt::format("the directive '{}' of {} is not understood",
                                                     token.text, function.name));
    }
    if (!good) return false;
  }
  return true;
}

bool ModuleParser::function(bool entry) {
  Function function;
  function.entry = entry;
  function.linkage = linkage_;
  function.part = number_;
  function.line = cursor_.peek().line;
  if (!entry && !parameters(function.results, function)) return false;
  if (!cursor_.word(function.name, "the name of a function") ||
      !parameters(function.parameters, function) || !wishes(function)) {
    return false;
  }
  if (!cursor_.accept(';')) {
    const Token brace = cursor_.peek();
    if (!brace.is('{')) {
      return cursor_.fail(fmt::format("expected the body of {} in braces", function.name));
    }
    function.body_at = brace.at;
    function.body_line = brace.line;
    if (!cursor_.skip_braces()) {
      return cursor_.fail_at(
          brace.line, fmt::format("the body of {} never ends: a '}}' is missing", function.name));
    }
  }
  module_.functions.push_back(std::move(function));
  return true;
}

std::string entries_of(const Module& module) {
  std::string out;
  for (const Function& f : module.functions) {
    if (f.entry && f.body_line) out += (out.empty() ? "" : ", ") + std::string(f.name);
  }
  return out;
}

}  // namespace

Outcome<const Function*> Module::entry(std::string_view wanted) const {
  std::vector<const Function*> fits;
  for (const Function& f : functions) {
    if (!f.entry || !f.body_line) continue;
    if (!wanted.empty() && f.name == wanted) return &f;
    if (f.name.find(wanted) != std::string_view::npos) fits.push_back(&f);
  }
  // Of C++ a name stands behind its length: add is that of _Z3addPf, and not of _Z4add2Pf.
  std::vector<const Function*> called;
  for (const Function* f : fits) {
    const std::string whole = std::to_string(wanted.size()) + std::string(wanted);
    const std::size_t at = f->name.find(whole);
    const bool longer =
        at != 0 && at != std::string_view::npos && f->name[at - 1] >= '0' && f->name[at - 1] <= '9';
    if (f->name.starts_with("_Z") && at != std::string_view::npos && !longer) called.push_back(f);
  }
  if (called.size() == 1) return called[0];
  if (fits.size() == 1) return fits[0];
  const std::string all = entries_of(*this);
  if (all.empty()) return Error{ErrorKind::unknown, name + " has no entry that could be run", name};
  if (wanted.empty()) {
    return Error{ErrorKind::unknown,
                 fmt::format("{} has several entries, name one of them: {}", name, all), name};
  }
  if (fits.empty()) {
    return Error{ErrorKind::unknown,
                 fmt::format("{} has no entry '{}'; it has: {}", name, wanted, all), name};
  }
  std::string several;
  for (const Function* f : fits) several += (several.empty() ? "" : ", ") + std::string(f->name);
  return Error{ErrorKind::unknown,
               fmt::format("'{}' is a part of several entries of {}: {}", wanted, name, several),
               name};
}

const FilePart& Module::part_of(std::uint32_t line) const {
  std::size_t p = parts.size() - 1;
  while (p > 0 && parts[p].first_line > line) --p;
  return parts[p];
}

std::string Module::place(std::uint32_t line) const {
  const FilePart& part = part_of(line);
  return fmt::format("{}:{}", part.name, line - part.first_line + 1);
}

Outcome<Module> parse_modules(std::vector<Source> sources) {
  Module module;
  std::string text;
  std::uint32_t line = 1;
  for (Source& source : sources) {
    if (text.size() + source.text.size() > std::numeric_limits<std::uint32_t>::max() / 2) {
      return Error{ErrorKind::unsupported, "PTX of more than 2 GiB is not read", source.name};
    }
    FilePart& part = module.parts.emplace_back();
    part.begin = static_cast<std::uint32_t>(text.size());
    part.first_line = line;
    text = text.empty() ? std::move(source.text) : text + source.text;
    if (sources.size() > 1 && !text.ends_with('\n')) text += '\n';
    part.end = static_cast<std::uint32_t>(text.size());
    line += static_cast<std::uint32_t>(
        std::count(text.begin() + part.begin, text.begin() + part.end, '\n'));
    module.name += (module.name.empty() ? "" : ", ") + source.name;
    part.name = std::move(source.name);
  }
  module.text = std::make_shared<const std::string>(std::move(text));
  for (std::uint32_t p = 0; p < module.parts.size(); ++p) {
    if (!module.files.empty()) module.parts[p].first_file = module.files.rbegin()->first + 1;
    ModuleParser parser(module, p);
    if (!parser.run()) return parser.error();
  }
  if (std::optional<Error> wrong = conflict(module)) return *wrong;
  return module;
}

Outcome<Module> parse_module(std::string name, std::string text) {
  std::vector<Source> one;
  one.push_back({std::move(name), std::move(text)});
  return parse_modules(std::move(one));
}

}  // namespace tilescope::ptx
