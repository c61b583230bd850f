#include "tests/litmus/values.h"

#include <algorithm>

namespace tilescope::litmus {
namespace {

using Does = Event::Does;
using Known = std::optional<std::uint32_t>;

// What an atomic operation leaves, of what was there and its operands.
std::uint32_t updated(const Instruction& i, std::uint32_t old, std::uint32_t a, std::uint32_t b) {
  if (i.has("exch")) return a;
  if (i.has("cas")) return old == a ? b : old;
  if (i.has("inc")) return old >= a ? 0 : old + 1;
  if (i.has("and")) return old & a;
  if (i.has("or")) return old | a;
  if (i.has("max")) return std::max(old, a);
  return old + a;
}

class Evaluator {
 public:
  Evaluator(const Test& test, const Program& program, const Choice& choice)
      : test_(test),
        program_(program),
        choice_(choice),
        read_(program.events.size()),
        written_(program.events.size()),
        depends_(static_cast<int>(program.events.size())) {}

  std::optional<Valuation> run() {
    for (std::size_t i = 0; i < program_.events.size(); ++i) {
      const Event& e = program_.events[i];
      if (e.thread < 0) written_[i] = test_.variables[static_cast<std::size_t>(e.variable)].initial;
      if (e.reads() && choice_.executed[i]) depends_.add(choice_.from[i], static_cast<int>(i));
    }
    // A pass brings values at least one read further.
    for (std::size_t pass = 0; pass <= program_.events.size(); ++pass) {
      for (std::size_t t = 0; t < test_.threads.size(); ++t) {
        if (!thread(t)) return {};
      }
    }
    // 8.10.4: reads-from and dependencies of instructions make no circle.
    if (!depends_.acyclic()) return {};
    Valuation out;
    for (const Known& w : written_) out.written.push_back(w.value_or(0));
    for (const auto& registers : registers_) {
      out.registers.emplace_back();
      for (const Known& r : registers) out.registers.back().push_back(r.value_or(0));
    }
    return out;
  }

 private:
  struct Register {
    Known value = 0;
    std::vector<int> reads{};  // that it depends on
  };

  // False: it goes another way than was chosen.
  bool thread(std::size_t t) {
    std::vector<Register> r(16);
    const auto& code = test_.threads[t].instructions;
    for (std::size_t at = 0; at < code.size(); ++at) {
      const Instruction& i = code[at];
      std::vector<int> condition{};
      bool executes = true;
      const int event = program_.event_of[t][at];
      if (i.only_if) {
        const Register& by = r[i.only_if->first];
        condition = by.reads;
        const Known here = by.value;
        executes = here ? *here == i.only_if->second : event < 0 || on(event);
        if (here && event >= 0 && executes != on(event)) return false;
      }
      if (!executes) continue;
      if (event < 0) {
        if (i.operands.size() > 1 && i.operands[0].kind == Operand::Kind::reg)
          arithmetic(i, r, condition);
        continue;
      }
      if (!memory(i, event, r, condition)) return false;
    }
    registers_.resize(std::max(registers_.size(), t + 1));
    registers_[t].clear();
    for (std::uint32_t n = 0; n < test_.threads[t].registers; ++n) {
      registers_[t].push_back(r[n].value);
    }
    return true;
  }

  static Register of(const Operand& o, const std::vector<Register>& r) {
    return o.kind == Operand::Kind::reg ? r[o.value] : Register{o.value};
  }

  static void arithmetic(const Instruction& i, std::vector<Register>& r,
                         const std::vector<int>& condition) {
    const Register a = of(i.operands[1], r);
    const Register b = i.operands.size() > 2 ? of(i.operands[2], r) : Register{};
    Register out;
    out.reads = condition;
    out.reads.insert(out.reads.end(), a.reads.begin(), a.reads.end());
    out.reads.insert(out.reads.end(), b.reads.begin(), b.reads.end());
    out.value.reset();
    if (a.value && b.value) {
      const std::uint32_t x = *a.value, y = *b.value;
      out.value = i.is("add") ? x + y : i.is("and") ? (x & y) : i.is("xor") ? (x ^ y) : x;
    }
    r[i.operands[0].value] = out;
  }

  bool memory(const Instruction& i, int event, std::vector<Register>& r,
              const std::vector<int>& condition) {
    const auto n = static_cast<std::size_t>(event);
    const Event& e = program_.events[n];
    for (const int x : condition) depends_.add(x, event);
    // Of a copy the value is what its read finds.
    if (e.issued_by >= 0) return asynchronous(i, event, r);
    std::vector<Register> operands{};
    for (std::size_t o = 0; o < i.operands.size(); ++o) {
      const bool result = o == 0 && (i.is("ld") || i.is("atom"));
      if (result || i.operands[o].kind == Operand::Kind::address) continue;
      operands.push_back(of(i.operands[o], r));
      for (const int x : operands.back().reads) depends_.add(x, event);
    }
    if (e.reads()) read_[n] = written_[static_cast<std::size_t>(choice_.from[n])];
    if (e.does == Does::write && !operands.empty()) written_[n] = operands[0].value;
    if (e.does == Does::update) {
      const Known a = operands.empty() ? Known{} : operands[0].value;
      const Known b = operands.size() > 1 ? operands[1].value : Known{0};
      if (read_[n] && a && b) {
        written_[n] = updated(i, *read_[n], *a, *b);
        if (i.has("cas") && (*read_[n] == *a) != static_cast<bool>(choice_.written[n]))
          return false;
      }
    }
    if (e.reads() && !e.reduction) r[i.operands[0].value] = {read_[n], {event}};
    return true;
  }

  bool asynchronous(const Instruction& i, int event, const std::vector<Register>& r) {
    const auto n = static_cast<std::size_t>(event);
    if (i.is("st")) {
      const Register value = of(i.operands.at(1), r);
      for (const int x : value.reads) depends_.add(x, event);
      written_[n] = value.value;
      return true;
    }
    const std::size_t source = n - 1;  // its read
    read_[source] = written_[static_cast<std::size_t>(choice_.from[source])];
    depends_.add(static_cast<int>(source), event);
    if (program_.events[n].does != Does::update) {
      written_[n] = read_[source];
      return true;
    }
    read_[n] = written_[static_cast<std::size_t>(choice_.from[n])];
    if (read_[n] && read_[source]) written_[n] = updated(i, *read_[n], *read_[source], 0);
    return true;
  }

  bool on(int event) const { return choice_.executed[static_cast<std::size_t>(event)]; }

  const Test& test_;
  const Program& program_;
  const Choice& choice_;
  std::vector<Known> read_, written_;
  std::vector<std::vector<Known>> registers_{};
  Relation depends_;
};

}  // namespace

std::optional<Valuation> values_of(const Test& test, const Program& program, const Choice& choice) {
  return Evaluator(test, program, choice).run();
}

}  // namespace tilescope::litmus
