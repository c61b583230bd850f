// Functions that an entry calls: which they are, how a call passes values, how deep calls nest.
//
// Calls go through memory, as the ABI of PTX has it (7.1): the caller writes .param variables of
// its own, the call copies them into the parameters of the callee, `ret` copies the results back.
// Both lie in frames of the thread's local memory (core/ptx/program.h).
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <unordered_set>

#include "core/ptx/decode.h"
#include "core/ptx/refused.h"
#include "core/ptx/symbols.h"

namespace tilescope::ptx {
namespace {

Builtin builtin_named(std::string_view name) {
  if (name == "vprintf") return Builtin::print;
  if (name == "__assertfail") return Builtin::assertion;
  if (name == "malloc") return Builtin::allocate;
  if (name == "free") return Builtin::release;
  return Builtin::none;
}

// The operand that says what is called: behind the results in ( ), if there are any.
const Written* callee_of(const Statement& s) {
  for (const Written& w : s.operands) {
    if (w.kind != Written::Kind::list) return &w;
  }
  return nullptr;
}

class Reacher {
 public:
  Reacher(const Module& module, std::vector<Error>* all)
      : module_(module), symbols_(module), all_(all) {}

  bool run(const Function& entry) {
    if (!add(entry)) return false;
    for (std::size_t at = 0; at < found_.size(); ++at) {
      part_ = found_[at].function->part;
      for (const Statement& s : found_[at].body.statements) {
        if (!look(s)) return false;
      }
    }
    return true;
  }
  std::vector<Reached> take() {
    return {std::make_move_iterator(found_.begin()), std::make_move_iterator(found_.end())};
  }
  const Error& error() const { return error_; }

 private:
  bool look(const Statement& s) {
    if (s.opcode == "call") {
      const Written* callee = callee_of(s);
      if (callee && !symbols_.function(callee->name, part_) && !indirect_) {
        indirect_ = true;
        if (!add_pointed_to()) return false;
      }
    }
    return mention(s.operands, s);
  }

  bool mention(const std::vector<Written>& operands, const Statement& s) {
    for (const Written& w : operands) {
      if (!w.name.empty() && !name(w.name, part_, s.line)) return false;
      if (!mention(w.elements, s)) return false;
    }
    return true;
  }

  bool name(std::string_view name, std::uint32_t part, std::uint32_t line) {
    const Function* const function = symbols_.function(name, part);
    if (!function || function->entry || seen_.count(function)) return true;
    const Function& f = *function;
    if (f.body_line == 0 && builtin_named(name) == Builtin::none) {
      const std::string_view known = refused_function(name);
      error_ = {ErrorKind::unsupported,
                known.empty()
                    ? fmt::format("{} is called, but only declared here (.extern): run the file "
                                  "that defines it together with this one, `tilescope run {} "
                                  "OTHER.ptx --launch F.toml` (of CUDA's own functions there are "
                                  "vprintf, __assertfail, malloc and free)",
                                  name, module_.part_of(line).name)
                    : fmt::format("{} is called: {}", name, known),
                module_.place(line)};
      if (!all_) return false;
      seen_.insert(function);
      all_->push_back(error_);
      return true;
    }
    return add(f);
  }

  // What tables of functions hold, that an indirect call may find there.
  bool add_pointed_to() {
    for (const Variable& v : module_.variables) {
      for (const Initial& i : v.initial) {
        if (!i.symbol.empty() && !name(i.symbol, v.part, v.line)) return false;
      }
    }
    return true;
  }

  bool add(const Function& f) {
    seen_.insert(&f);
    Reached& r = found_.emplace_back();
    r.function = &f;
    if (f.body_line == 0) {
      r.builtin = builtin_named(f.name);
      r.body.scopes.emplace_back();
      return true;
    }
    Outcome<Body> body = parse_body(module_, f);
    if (!body.ok()) {
      error_ = body.error();
      return false;
    }
    r.body = std::move(*body);
    return true;
  }

  const Module& module_;
  const Symbols symbols_;
  std::uint32_t part_ = 0;  // the file whose body is looked at
  std::unordered_set<const Function*> seen_;
  std::deque<Reached> found_;  // grows while its members are looked at
  bool indirect_ = false;
  std::vector<Error>* all_ = nullptr;
  Error error_;
};

}  // namespace

Outcome<std::vector<Reached>> reach(const Module& module, const Function& entry,
                                    std::vector<Error>* all) {
  Reacher reacher(module, all);
  if (!reacher.run(entry)) return reacher.error();
  return reacher.take();
}

// (a, b): .param variables of the caller; or, of arguments, registers and constants.
bool Decoder::actuals(const Statement& s, const Written& list, bool results,
                      std::vector<Operand>& operands, std::vector<Call::Actual>& out) {
  for (const Written& w : list.elements) {
    Call::Actual actual;
    const Meaning meaning = w.kind == Written::Kind::name ? look_up(w.name, s.scope) : Meaning{};
    if (meaning.kind == Meaning::Kind::memory && meaning.space == Space::param) {
      if (!meaning.in_frame) {
        return fail(s, fmt::format("'{}' is a parameter of the kernel: it cannot be passed on "
                                   "itself, only what is loaded from it",
                                   w.name));
      }
      actual.slot = {static_cast<std::uint32_t>(meaning.address - frame_parameters),
                     static_cast<std::uint32_t>(meaning.bytes)};
      out.push_back(actual);
      continue;
    }
    if (results && w.kind != Written::Kind::sink && meaning.kind != Meaning::Kind::reg) {
      return fail(s, "what a call gives is wanted in .param variables or registers");
    }
    actual.in_frame = false;
    actual.operand = static_cast<std::uint32_t>(operands.size());
    OperandRule rule;
    rule.kind = results ? OperandRule::Kind::write : OperandRule::Kind::read;
    const Type type = meaning.kind == Meaning::Kind::reg
                          ? bits_type(bits_of(program_.registers[meaning.index].type))
                          : Type::b64;
    if (!operand(s, rule, type, w, operands.emplace_back())) return false;
    out.push_back(actual);
  }
  return true;
}

// Do the lists agree with what the function declares?
bool Decoder::fits(const Statement& s, const Call& call) {
  const Routine& r = program_.routines[call.routine];
  const auto differ = [&](std::string_view what, std::size_t wanted, std::size_t given) {
    return fail(s, fmt::format("{} has {} {}{}, but this call gives {}", r.name, wanted, what,
                               wanted == 1 ? "" : "s", given));
  };
  if (call.arguments.size() != r.parameters.size()) {
    return differ("parameter", r.parameters.size(), call.arguments.size());
  }
  if (call.results.size() > r.results.size()) {
    return differ("result", r.results.size(), call.results.size());
  }
  const auto as_large = [&](const std::vector<Call::Actual>& given,
                            const std::vector<Slot>& wanted) {
    for (std::size_t k = 0; k < given.size(); ++k) {
      if (!given[k].in_frame || given[k].slot.bytes == wanted[k].bytes) continue;
      if (wanted[k].bytes == 0) {
        return fail(s, fmt::format("{} takes any number of arguments (...), and such functions are "
                                   "not simulated; one with a fixed list is",
                                   r.name));
      }
      return fail(s, fmt::format("{} passes {} bytes where the call has {}", r.name,
                                 wanted[k].bytes, given[k].slot.bytes));
    }
    return true;
  };
  if (!as_large(call.arguments, r.parameters) || !as_large(call.results, r.results)) return false;
  return true;
}

// call{.uni} {(results),} function {, (arguments)} {, prototype};
bool Decoder::call(const Statement& s, Instruction& out) {
  Call call;
  const Written* results = nullptr;
  const Written* callee = nullptr;
  const Written* arguments = nullptr;
  for (const Written& w : s.operands) {
    const bool list = w.kind == Written::Kind::list;
    if (list && !callee && !results) {
      results = &w;
    } else if (list && callee && !arguments) {
      arguments = &w;
    } else if (!list && !callee) {
      callee = &w;
    } else if (list || look_up(w.name, s.scope).kind != Meaning::Kind::targets) {
      return fail(s, "a call is written (results), function, (arguments), prototype");
    }
  }
  if (!callee || callee->kind != Written::Kind::name) return fail(s, "a call names no function");
  std::vector<Operand> operands(1);
  operands[0].kind = Operand::Kind::call;
  operands[0].index = static_cast<std::uint32_t>(program_.calls.size());
  const Meaning meaning = look_up(callee->name, s.scope);
  if (meaning.kind == Meaning::Kind::function) {
    call.routine = meaning.index;
    const Function& f = *functions_[meaning.index].function;
    if (f.entry) return fail(s, fmt::format("{} is a kernel and cannot be called", f.name));
  } else {
    OperandRule rule;
    rule.kind = OperandRule::Kind::read;
    call.target = static_cast<std::uint32_t>(operands.size());
    if (!operand(s, rule, Type::b64, *callee, operands.emplace_back())) return false;
  }
  if (arguments && !actuals(s, *arguments, false, operands, call.arguments)) return false;
  if (results && !actuals(s, *results, true, operands, call.results)) return false;
  if (call.routine != Call::indirect && !fits(s, call)) return false;
  out.first = static_cast<std::uint32_t>(program_.operands.size());
  out.count = static_cast<std::uint32_t>(operands.size());
  program_.operands.insert(program_.operands.end(), operands.begin(), operands.end());
  program_.calls.push_back(std::move(call));
  return true;
}

namespace {

// Which routines each one calls. An indirect call may go to any whose address is known.
std::vector<std::vector<std::uint32_t>> callees(const Program& program) {
  const std::size_t count = program.routines.size();
  std::vector<std::vector<std::uint32_t>> out(count);
  for (std::uint32_t r = 0; r < count; ++r) {
    const std::uint32_t end = r + 1 < count ? program.routines[r + 1].first
                                            : static_cast<std::uint32_t>(program.code.size());
    for (std::uint32_t pc = program.routines[r].first; pc < end; ++pc) {
      const Instruction& i = program.code[pc];
      if (i.op != Op::call) continue;
      const Call& call = program.calls[program.operands_of(i)[0].index];
      if (call.routine != Call::indirect) {
        out[r].push_back(call.routine);
      } else {
        for (std::uint32_t to = 1; to < count; ++to) out[r].push_back(to);
      }
    }
    std::sort(out[r].begin(), out[r].end());
    out[r].erase(std::unique(out[r].begin(), out[r].end()), out[r].end());
  }
  return out;
}

using Edges = std::vector<std::vector<std::uint32_t>>;

bool leads_to(const Edges& calls, std::uint32_t from, std::uint32_t to) {
  std::vector<bool> seen(calls.size(), false);
  std::vector<std::uint32_t> todo{from};
  while (!todo.empty()) {
    const std::uint32_t at = todo.back();
    todo.pop_back();
    for (std::uint32_t next : calls[at]) {
      if (next == to) return true;
      if (!seen[next]) todo.push_back(next);
      seen[next] = true;
    }
  }
  return false;
}

// The most bytes of frames that are open at once, coming back to a function apart. Depth first,
// without recursion: text decides the depth.
std::uint32_t deepest(const Program& program, const Edges& calls) {
  enum State : std::uint8_t { fresh, open, finished };
  struct Visit {
    std::uint32_t routine;
    std::size_t next;
  };
  std::vector<std::uint32_t> bytes(calls.size(), 0);  // from a routine's frame on
  std::vector<State> state(calls.size(), fresh);
  std::vector<Visit> path{{0, 0}};
  state[0] = open;
  while (!path.empty()) {
    const std::uint32_t routine = path.back().routine;
    if (path.back().next < calls[routine].size()) {
      const std::uint32_t to = calls[routine][path.back().next++];
      if (state[to] == finished) bytes[routine] = std::max(bytes[routine], bytes[to]);
      if (state[to] != fresh) continue;
      state[to] = open;
      path.push_back({to, 0});
      continue;
    }
    // Many functions, each with as much as a thread may have: no 32 bits hold that.
    if (__builtin_add_overflow(bytes[routine], program.routines[routine].frame_bytes,
                               &bytes[routine])) {
      bytes[routine] = ~std::uint32_t{0};
    }
    state[routine] = finished;
    path.pop_back();
    if (path.empty()) break;
    std::uint32_t& caller = bytes[path.back().routine];
    caller = std::max(caller, bytes[routine]);
  }
  return bytes[0];
}

}  // namespace

void measure_stack(Program& program) {
  const Edges calls = callees(program);
  for (std::uint32_t r = 1; r < calls.size(); ++r) {
    program.routines[r].recursive = leads_to(calls, r, r);
    program.recursive = program.recursive || program.routines[r].recursive;
  }
  program.local_bytes = deepest(program, calls);
}

}  // namespace tilescope::ptx
