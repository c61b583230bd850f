#include "core/sim/machine/prove.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/ptx/definitions.h"
#include "core/sim/machine/model.h"
#include "core/sim/machine/schedule_text.h"

namespace tilescope::sim {
namespace {

constexpr std::uint64_t most_searched = 1'000'000;

bool is_bad(const Report& r) {
  return r.weight != Weight::note;
}
// A note of what chips keep and PTX does not promise.
bool is_unpromised(const Report& r) {
  return r.kind == "weak_order" || r.kind == "read_overtaken";
}

bool same_bytes(const std::vector<Buffer>& a, const std::vector<Buffer>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Buffer& x, const Buffer& y) { return x.bytes == y.bytes; });
}

using Step = ptx::Step;

bool waits(const ptx::Instruction& i) {
  const Step step = i.modifiers.step();
  return i.op == ptx::Op::mbarrier && (step == Step::test_wait || step == Step::try_wait);
}

// Does a thread that is told no go straight back and ask again, whatever else is in its registers?
// Followed as far as it is certain: constants, what a predicate that does not hold chooses,
// branches.
class SpinLoop {
 public:
  SpinLoop(const ptx::Program& program, std::uint32_t wait) : p_(program), wait_(wait) {}

  bool is_one() {
    const ptx::Operand* o = p_.operands_of(p_.code[wait_]);
    for (std::uint32_t k = 0; k < p_.code[wait_].count; ++k) {
      if (o[k].written && o[k].index != ptx::no_register) known_[o[k].index] = 0;
    }
    std::uint32_t pc = wait_ + 1;
    for (int steps = 0; steps < 24 && pc < p_.code.size(); ++steps) {
      if (pc == wait_) return true;
      const ptx::Instruction& i = p_.code[pc];
      std::optional<std::uint64_t> holds = 1;
      if (i.guarded) {
        holds = value(i.guard);
        if (holds && i.guard_negated) holds = !*holds;
      }
      if (!holds) return false;
      if (!*holds) {
        ++pc;
      } else if (i.op == ptx::Op::bra) {
        pc = p_.operands_of(i)[0].index;
      } else if (execute(i)) {
        ++pc;
      } else {
        return false;
      }
    }
    return false;
  }

 private:
  std::optional<std::uint64_t> value(std::uint32_t reg) const {
    const auto at = known_.find(reg);
    return at == known_.end() ? std::nullopt : std::optional(at->second);
  }
  std::optional<std::uint64_t> value(const ptx::Operand& o) const {
    if (o.kind == ptx::Operand::Kind::constant) return o.value;
    if (o.kind != ptx::Operand::Kind::reg && o.kind != ptx::Operand::Kind::predicate) return {};
    const auto v = value(o.index);
    return v && o.negated ? std::optional<std::uint64_t>(!*v) : v;
  }
  bool execute(const ptx::Instruction& i) {
    const ptx::Operand* o = p_.operands_of(i);
    std::optional<std::uint64_t> out;
    switch (i.op) {
      case ptx::Op::nanosleep:
        return true;
      case ptx::Op::mov:
        out = value(o[1]);
        break;
      case ptx::Op::selp: {
        const auto by = value(o[3]);
        if (by) out = value(*by ? o[1] : o[2]);
        break;
      }
      case ptx::Op::not_:
        if (ptx::class_of(i.modifiers.type()) != ptx::Class::predicate) return false;
        if (const auto v = value(o[1])) out = !*v;
        break;
      case ptx::Op::setp: {
        if (i.count != 3) return false;
        const auto a = value(o[1]), b = value(o[2]);
        const ptx::Compare how = i.modifiers.compare();
        if (!a || !b) return false;
        if (how == ptx::Compare::eq) out = *a == *b;
        if (how == ptx::Compare::ne) out = *a != *b;
        break;
      }
      default:
        return false;
    }
    if (!out) return false;
    known_[o[0].index] = *out;
    return true;
  }

  const ptx::Program& p_;
  std::uint32_t wait_;
  std::map<std::uint32_t, std::uint64_t> known_;
};

// Is the state that an arrival answers used by something else than a wait? It tells how many had
// not come yet.
bool uses_state(const ptx::Program& program) {
  std::vector<bool> states(program.registers.size(), false);
  for (const ptx::Instruction& i : program.code) {
    if (i.op != ptx::Op::mbarrier || waits(i)) continue;
    ptx::each_written(program, i, [&](std::uint32_t reg) {
      states[reg] = ptx::bits_of(program.registers[reg].type) == 64;
    });
  }
  bool used = false;
  for (const ptx::Instruction& i : program.code) {
    if (waits(i)) continue;
    ptx::each_read(program, i, [&](std::uint32_t reg) { used = used || states[reg]; });
  }
  return used;
}

// What an instruction answers or leaves may be otherwise in another order, though nothing that is
// looked at says so. Empty: it may not.
std::string varies(const ptx::Instruction& i) {
  const ptx::Modifiers& how = i.modifiers;
  if (i.op == ptx::Op::clusterlaunchcontrol && how.has(ptx::Field::launch_step)) {
    return "which CTA cancels which is not tried otherwise: clusterlaunchcontrol";
  }
  if ((i.op == ptx::Op::cp && how.has(ptx::Field::reduction)) ||
      (i.op == ptx::Op::red && how.has(ptx::Field::async))) {
    return "asynchronous reductions come in any order";
  }
  if (i.op == ptx::Op::mbarrier && how.has(ptx::Field::no_complete)) {
    return ".noComplete must not be the last to come";
  }
  if (i.op == ptx::Op::mbarrier && how.step() == Step::inval) {
    return "whether somebody still uses what mbarrier.inval ends is not followed";
  }
  if (i.op == ptx::Op::activemask) return "who is together is not promised: activemask";
  if (i.op == ptx::Op::mbarrier && how.step() == Step::pending_count) {
    return "how many had not arrived hangs on who came first: mbarrier.pending_count";
  }
  return "";
}

}  // namespace

Proof::Proof(Job job, Options options) : job_(std::move(job)), options_(std::move(options)) {
  options_.logs_order = options_.races = true;
  options_.clocked = false;
  options_.recorder = nullptr;
  ways_.push_back(
      {options_.lazy || options_.schedule ? "the order that was asked for" : "the default order",
       options_});
  ways_.push_back({"each wait refused once", options_});
  ways_.back().options.first_waits_fail = true;
  ways_.push_back({"--lazy", options_});
  ways_.back().options.lazy = true;
  for (const std::uint64_t seed : {1, 7}) {  // 7: most waits give up
    ways_.push_back({fmt::format("--schedule {}", seed), options_});
    ways_.back().options.schedule = seed;
  }
}

Outcome<Proof> Proof::begin(Job job, Options options) {
  Proof out(std::move(job), std::move(options));
  Outcome<bool> began = out.begin_next();
  if (!began) return began.error();
  out.look_at_program();
  return out;
}

// What one run says nothing about.
void Proof::look_at_program() {
  const ptx::Program& program = machine_->model().program();
  const auto say = [&](const ptx::Instruction& i, std::string what) {
    reasons_.push_back(fmt::format("{} at {}", what, program.module->place(i.line)));
  };
  for (const ptx::Instruction& i : program.code) {
    const ptx::Operand* o = program.operands_of(i);
    for (std::uint32_t k = 0; k < i.count; ++k) {
      if (o[k].kind != ptx::Operand::Kind::special) continue;
      say(i, fmt::format("it reads {}", name_of(static_cast<ptx::Special>(o[k].index))));
    }
    if (std::string what = varies(i); !what.empty()) say(i, std::move(what));
    if (reasons_.size() == 4) return;
  }
  for (const auto& [special, place] : program.specials) {
    if (special == ptx::Special::smid || special == ptx::Special::warpid) {
      reasons_.push_back(fmt::format("it reads {}", name_of(special)));
    }
  }
  if (uses_state(program)) reasons_.push_back("it uses the state that mbarrier.arrive answers");
  for (const ptx::Routine& r : program.routines) {
    if (r.builtin == ptx::Builtin::print) reasons_.push_back("what it prints comes in any order");
    if (r.builtin == ptx::Builtin::allocate)
      reasons_.push_back("addresses of malloc hang on who asks first");
  }
  for (std::uint32_t pc = 0; pc < program.code.size(); ++pc) {
    const ptx::Instruction& i = program.code[pc];
    if (!waits(i) || SpinLoop(program, pc).is_one()) continue;
    say(i,
        "what it does may hang on whether a phase is complete when it asks, once or so many times");
    break;
  }
}

Outcome<bool> Proof::begin_next() {
  Outcome<Machine> machine = Machine::load(job_, ways_[way_].options);
  if (!machine) return machine.error();
  machine_ = std::move(*machine);
  return true;
}

void Proof::end_run(RunState state) {
  ++runs_;
  const Model& model = machine_->model();
  const OrderLog& log = *model.order_log;
  const std::vector<Report>& reports = machine_->reports();
  if (state == RunState::fault || std::any_of(reports.begin(), reports.end(), is_bad)) {
    failure_ = Failure{ways_[way_].name, reports};
    verdict_ = Verdict::fails;
    return;
  }
  if (way_ == 0) {
    trace_ = log.trace();
    steps_ = log.steps();
    orders_ = log.orders();
    results_ = machine_->buffers();
    for (const std::string& blind : log.blinds()) reasons_.push_back(blind);
    for (const Report& r : reports) {
      if (r.kind == "same_value") {
        reasons_.push_back("several warps write one place, the same value in this order, at " +
                           place_text(r.site));
      }
      if (!is_unpromised(r)) continue;
      std::string reason =
          fmt::format("it relies on an order that chips keep and PTX does not promise ({} at {})",
                      r.kind, place_text(r.site));
      if (reasons_.empty() || reasons_.back() != reason) reasons_.push_back(std::move(reason));
    }
    for (const Reversal& r : log.reversals()) {
      const auto site = [&](const RunStep& s) {
        return model.site_of(Writer::of(s.block, s.warp * 32, s.pc));
      };
      pairs_.push_back({r.kind, site(r.earlier), site(r.later)});
    }
  } else if (log.trace() != trace_ && pairs_.empty()) {
    searches_ = true;
    reasons_.push_back(
        fmt::format("{} its warps did other steps than in the default order",
                    way_ == 1 ? "with each wait refused once" : "with " + ways_[way_].name));
  } else if (!same_bytes(machine_->buffers(), results_)) {
    searches_ = true;
    reasons_.push_back(
        fmt::format("the result is another one {}",
                    way_ == 1 ? "with each wait refused once" : "with " + ways_[way_].name));
  }
  machine_.reset();
  if (++way_ == ways_.size()) conclude();
}

void Proof::conclude() {
  if (pairs_.empty() && reasons_.empty()) {
    verdict_ = Verdict::proved;
    return;
  }
  if (!searches_ && pairs_.empty()) {  // no order fails; what is missing is a promise, or a clock
    verdict_ = Verdict::open;
    return;
  }
  Options options = options_;
  options.logs_order = false;
  Outcome<Machine> machine = Machine::load(job_, options);
  if (machine) search_.emplace(std::move(*machine), SearchLimits{.runs = most_searched});
  if (!machine) verdict_ = Verdict::open;
}

Outcome<Proof::Verdict> Proof::advance(std::uint64_t budget) {
  if (verdict_ != Verdict::running) return verdict_;
  if (search_) {
    const RunState state = search_->advance(budget);
    if (state == RunState::running) return verdict_;
    verdict_ = Verdict::open;
    if (search_->found()) {
      verdict_ = Verdict::fails;
      failure_ =
          Failure{"--schedule " + schedule_text({options_.schedule, search_->found()->holds}),
                  search_->found()->reports};
    }
    return verdict_;
  }
  if (!machine_) {
    Outcome<bool> began = begin_next();
    if (!began) return began.error();
  }
  const RunState state = machine_->run(budget);
  if (state != RunState::running) end_run(state);
  return verdict_;
}

void Proof::stop() {
  if (verdict_ == Verdict::running) verdict_ = Verdict::open;
  if (way_ < ways_.size()) reasons_.push_back("there was no more time");
}

std::string Proof::doing() const {
  if (search_) return fmt::format("schedule {}", search_->progress().tried + 1);
  return way_ < ways_.size() ? ways_[way_].name : "";
}

}  // namespace tilescope::sim
