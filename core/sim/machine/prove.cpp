#include "core/sim/machine/prove.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/ptx/definitions.h"
#include "core/sim/machine/model.h"
#include "core/sim/machine/schedule_text.h"
#include "core/sim/machine/spin_loop.h"

namespace tilescope::sim {
namespace {

constexpr std::uint64_t most_searched = 1'000'000;
constexpr std::uint64_t most_shortened = 2000;  // for one like a seed's

bool is_bad(const Report& r) {
  return r.weight != Weight::note;
}
// A note of what chips keep and PTX does not promise.
bool is_unpromised(const Report& r) {
  return r.kind == "weak_order" || r.kind == "read_overtaken" || r.kind == "exit_in_flight" ||
         r.kind == "pair_not_started";
}

bool same_bytes(const std::vector<Buffer>& a, const std::vector<Buffer>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Buffer& x, const Buffer& y) { return x.bytes == y.bytes; });
}

using Step = ptx::Step;

// Is the state that an arrival answers used by something else than a wait? It tells how many had
// not come yet.
bool uses_state(const ptx::Program& program) {
  std::vector<bool> states(program.registers.size(), false);
  for (const ptx::Instruction& i : program.code) {
    if (i.op != ptx::Op::mbarrier || waits_for_phase(i)) continue;
    ptx::each_written(program, i, [&](std::uint32_t reg) {
      states[reg] = ptx::bits_of(program.registers[reg].type) == 64;
    });
  }
  bool used = false;
  for (const ptx::Instruction& i : program.code) {
    if (waits_for_phase(i)) continue;
    ptx::each_read(program, i, [&](std::uint32_t reg) { used = used || states[reg]; });
  }
  return used;
}

// Does it ask for another cluster's work?
bool asks_for_work(const ptx::Instruction& i) {
  return i.op == ptx::Op::clusterlaunchcontrol &&
         i.modifiers.launch_step() == ptx::LaunchStep::try_cancel;
}

// What an instruction answers or leaves may be otherwise in another order, though nothing that is
// looked at says so. Empty: it may not.
std::string varies(const ptx::Instruction& i) {
  const ptx::Modifiers& how = i.modifiers;
  if (asks_for_work(i)) {
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
  ways_.push_back({"--schedule refuse-waits", options_});
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
  if (std::any_of(program.code.begin(), program.code.end(), asks_for_work)) {
    grants_work_ = true;
    ways_.push_back({"--schedule refuse-grants", options_});
    ways_.back().options.grants_fail = true;
  }
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
    if (!waits_for_phase(i) || SpinLoop(program, pc).goes_round(0, 1)) continue;
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
    if (ways_[way_].options.schedule == options_.schedule) return;
    // The default order does not fail: one between the two says more than a seed.
    const std::string kind = failure_->reports.back().kind;
    machine_.reset();
    verdict_ = Verdict::running;
    search_orders({.runs = most_shortened, .kind = kind});
    return;
  }
  if (way_ == 0) {
    trace_ = log.trace();
    steps_ = log.steps();
    orders_ = log.orders();
    results_ = machine_->buffers();
    for (const std::string& blind : log.blinds()) reasons_.push_back(blind);
    if (std::any_of(model.accesses.begin(), model.accesses.end(),
                    [](const Shadow& s) { return s.has_forgotten(); })) {
      reasons_.push_back("more was done at one place of global memory than is kept of it");
    }
    for (const Report& r : reports) {
      if (r.kind == "same_value") {
        reasons_.push_back("several warps write one place, the same value in this order, at " +
                           place_text(r.site));
      }
      if (r.kind == "lanes_store_one_place") {
        reasons_.push_back("lanes of one warp store different values at one place, at " +
                           place_text(r.site));
      }
      if (!is_unpromised(r)) continue;
      std::string reason =
          fmt::format("it relies on what chips do and PTX does not promise ({} at {})", r.kind,
                      place_text(r.site));
      if (reasons_.empty() || reasons_.back() != reason) reasons_.push_back(std::move(reason));
    }
    for (const Reversal& r : log.reversals()) {
      const auto site = [&](const RunStep& s) {
        return model.site_of(Writer::of(s.block, s.warp * 32, s.pc));
      };
      pairs_.push_back({r.kind, site(r.earlier), site(r.later)});
    }
  } else if (log.trace() != trace_ && pairs_.empty() && !grants_work_) {
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
  search_orders({.runs = most_searched});
}

void Proof::search_orders(SearchLimits limits) {
  Options options = options_;
  options.logs_order = false;
  Outcome<Machine> machine = Machine::load(job_, options);
  if (machine) search_.emplace(std::move(*machine), std::move(limits));
  if (!machine) verdict_ = failure_ ? Verdict::fails : Verdict::open;
}

Outcome<Proof::Verdict> Proof::advance(std::uint64_t budget) {
  if (verdict_ != Verdict::running) return verdict_;
  if (search_) {
    const RunState state = search_->advance(budget);
    // A hazard is as good as a fault, and may come long before one.
    for (const Search::Hazard& h : search_->hazards()) {
      if (search_->found() || failure_ || !is_bad(h.report)) continue;
      failure_ = Failure{"--schedule " + schedule_text({options_.schedule, h.holds}), {h.report}};
      return verdict_ = Verdict::fails;
    }
    if (state == RunState::running) return verdict_;
    verdict_ = failure_ ? Verdict::fails : Verdict::open;
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
  if (verdict_ == Verdict::running) verdict_ = failure_ ? Verdict::fails : Verdict::open;
  if (failure_) return;
  if (way_ < ways_.size()) reasons_.push_back("there was no more time");
}

std::string Proof::doing() const {
  if (search_) return fmt::format("schedule {}", search_->progress().tried + 1);
  return way_ < ways_.size() ? ways_[way_].name : "";
}

}  // namespace tilescope::sim
