// Tasks about what went on in a run: barriers, stages, waits, what bounds it, why it stands still.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/lesson/operands.h"

namespace tilescope {
namespace {

using Facts = std::shared_ptr<const RunFacts>;

Error not_run() {
  return {ErrorKind::mismatch, "The kernel has not run yet; run it first, with `run`.", ""};
}

const RunFacts::Barrier* barrier_named(const RunFacts& facts, std::string_view name) {
  for (const RunFacts::Barrier& barrier : facts.barriers) {
    if (barrier.name == name) return &barrier;
  }
  return nullptr;
}

Error no_barrier(const RunFacts& facts, std::string_view name) {
  std::string all;
  for (const RunFacts::Barrier& barrier : facts.barriers) {
    all += fmt::format("{}{}", all.empty() ? "" : ", ", barrier.name);
  }
  return {ErrorKind::mismatch,
          fmt::format("The run has no mbarrier `{}`; it has {}.", name, all.empty() ? "none" : all),
          ""};
}

// --- numbers of a barrier -----------------------------------------------------------------------

class OfBarrier : public Task {
 public:
  OfBarrier(Facts facts, std::string name) : facts_(std::move(facts)), name_(std::move(name)) {}
  AnswerForm form() const override { return AnswerForm::number; }
  Outcome<Reply> solution() const override {
    if (!facts_) return not_run();
    const RunFacts::Barrier* barrier = barrier_named(*facts_, name_);
    if (!barrier) return no_barrier(*facts_, name_);
    return number(*barrier);
  }

 protected:
  virtual Outcome<Reply> number(const RunFacts::Barrier& barrier) const = 0;
  Facts facts_;
  std::string name_;
};

class BytesExpected : public OfBarrier {
 public:
  BytesExpected(Facts facts, std::string name, std::size_t phase)
      : OfBarrier(std::move(facts), std::move(name)), phase_(phase) {}
  std::string explain(const Reply& wrong) const override {
    const std::int64_t right = std::get<std::int64_t>(*solution()), n = number_in(wrong);
    if (n == 2 * right) return "That is twice as much. Does it count both CTAs, or both stages?";
    if (2 * n == right) {
      return "That is half of it. Two tiles arrive at this barrier, and an element has more than "
             "one byte.";
    }
    if (n != 0 && right % n == 0) {
      return fmt::format(
          "{} is {} times as much. Count elements times bytes, of every copy that "
          "completes here.",
          name_, right / n);
    }
    return fmt::format(
        "{} does not wait for {} bytes. Add up rows x columns x bytes of an element of the copies "
        "that name it.",
        name_, n);
  }

 private:
  Outcome<Reply> number(const RunFacts::Barrier& barrier) const override {
    if (phase_ >= barrier.bytes.size()) {
      return Error{ErrorKind::mismatch,
                   fmt::format("{} has {} phases in this run.", name_, barrier.bytes.size()), ""};
    }
    return Reply(static_cast<std::int64_t>(barrier.bytes[phase_]));
  }
  std::size_t phase_;
};

class ArrivalsExpected : public OfBarrier {
 public:
  using OfBarrier::OfBarrier;
  std::string explain(const Reply& wrong) const override {
    return fmt::format(
        "Not {}: mbarrier.init says how many arrivals complete a phase. Who arrives at {}, and how "
        "many threads of it?",
        text(wrong), name_);
  }

 private:
  Outcome<Reply> number(const RunFacts::Barrier& barrier) const override {
    return Reply(static_cast<std::int64_t>(barrier.arrivals));
  }
};

Made make_bytes_expected(Operands& operands) {
  const auto phase = static_cast<std::size_t>(operands.number(1));
  return made<BytesExpected>(operands, operands.evidence().facts, operands.words(0), phase);
}
Made make_arrivals_expected(Operands& operands) {
  return made<ArrivalsExpected>(operands, operands.evidence().facts, operands.words(0));
}

// --- a moment -----------------------------------------------------------------------------------

class AtMoment : public Task {
 public:
  AtMoment(Facts facts, std::uint64_t cycle) : facts_(std::move(facts)), cycle_(cycle) {}
  Outcome<Reply> solution() const override {
    if (!facts_) return not_run();
    if (!facts_->at) return Error{ErrorKind::mismatch, "This run has no times.", ""};
    if (cycle_ > facts_->end) {
      return Error{ErrorKind::mismatch, fmt::format("The run ends at cycle {}.", facts_->end), ""};
    }
    return seen(facts_->at(cycle_));
  }

 protected:
  virtual Outcome<Reply> seen(const RunFacts::Moment& moment) const = 0;
  Facts facts_;
  std::uint64_t cycle_;
};

// "none" where no product is under way.
Reply number_or_none(const std::optional<std::int64_t>& number) {
  return number ? Reply(fmt::format("{}", *number)) : Reply(std::string("none"));
}

class Read : public AtMoment {
 public:
  Read(Facts facts, std::uint64_t cycle, bool step)
      : AtMoment(std::move(facts), cycle), step_(step) {}
  AnswerForm form() const override { return AnswerForm::word; }
  std::string form_words() const override { return "a number, such as 1, or none"; }
  std::string explain(const Reply& wrong) const override {
    const RunFacts::Moment now = facts_->at(cycle_);
    if (text(wrong) == "none") return "A product is under way at this time: what does it read?";
    if (!now.stage) return "No product is under way at this time.";
    if (!step_ && text(wrong) == fmt::format("{}", now.step.value_or(-1))) {
      return "That is the k-step. Asked is the stage of shared memory that holds it.";
    }
    if (step_ && text(wrong) == fmt::format("{}", *now.stage)) {
      return "That is the stage. Asked is the k-step that lies in it.";
    }
    return step_ ? fmt::format(
                       "Not {} at cycle {}. The sentence above the theatre says which k-step "
                       "the tensor core multiplies.",
                       text(wrong), cycle_)
                 : fmt::format(
                       "Not {} at cycle {}. The stage that is read has a frame, and an "
                       "arrow leads from it to the tensor core.",
                       text(wrong), cycle_);
  }

 private:
  Outcome<Reply> seen(const RunFacts::Moment& moment) const override {
    return number_or_none(step_ ? moment.step : moment.stage);
  }
  bool step_;
};

Made make_stage_read(Operands& operands) {
  const auto cycle = static_cast<std::uint64_t>(operands.number(0));
  return made<Read>(operands, operands.evidence().facts, cycle, false);
}
Made make_step_read(Operands& operands) {
  const auto cycle = static_cast<std::uint64_t>(operands.number(0));
  return made<Read>(operands, operands.evidence().facts, cycle, true);
}

class WaitsFor : public AtMoment {
 public:
  WaitsFor(Facts facts, std::uint32_t warp, std::uint64_t cycle)
      : AtMoment(std::move(facts), cycle), warp_(warp) {}
  AnswerForm form() const override { return AnswerForm::word; }
  std::string form_words() const override { return "a barrier's name, such as full[1], or none"; }
  bool accepts(const Reply& answer) const override {
    const Outcome<Reply> right = solution();
    return right && lower_case(text(*right)) == lower_case(text(answer));
  }
  std::string explain(const Reply& wrong) const override {
    const std::string given = lower_case(text(wrong));
    if (given == "none") return fmt::format("Warp {} waits for something then.", warp_);
    for (const RunFacts::Moment::Wait& wait : facts_->at(cycle_).waits) {
      if (lower_case(wait.barrier) == given) {
        return fmt::format("Warp {} waits for {}. Asked is warp {}.", wait.warp, wait.barrier,
                           warp_);
      }
    }
    const auto named = [&](const RunFacts::Barrier& each) {
      return lower_case(each.name) == given;
    };
    if (!std::any_of(facts_->barriers.begin(), facts_->barriers.end(), named)) {
      return no_barrier(*facts_, text(wrong)).sentence;
    }
    return fmt::format("At cycle {} nobody waits for {}.", cycle_, text(wrong));
  }

 private:
  Outcome<Reply> seen(const RunFacts::Moment& moment) const override {
    for (const RunFacts::Moment::Wait& wait : moment.waits) {
      if (wait.warp == warp_) return Reply(wait.barrier);
    }
    return Reply(std::string("none"));
  }
  std::uint32_t warp_;
};

Made make_waits_for(Operands& operands) {
  const auto warp = static_cast<std::uint32_t>(operands.number(0));
  const auto cycle = static_cast<std::uint64_t>(operands.number(1));
  return made<WaitsFor>(operands, operands.evidence().facts, warp, cycle);
}

class ParityAt : public AtMoment {
 public:
  ParityAt(Facts facts, std::string name, std::uint64_t cycle)
      : AtMoment(std::move(facts), cycle), name_(std::move(name)) {}
  AnswerForm form() const override { return AnswerForm::number; }
  std::string explain(const Reply& wrong) const override {
    if (number_in(wrong) > 1) {
      return "A parity is 0 or 1: the phase's number, of which only the lowest bit is left.";
    }
    return fmt::format(
        "Count the phases of {} that are complete before cycle {}: the one that "
        "runs has that number, and its lowest bit is the parity.",
        name_, cycle_);
  }

 private:
  Outcome<Reply> seen(const RunFacts::Moment& moment) const override {
    for (const auto& [name, phase] : moment.phases) {
      if (name == name_) return Reply(std::int64_t{phase % 2});
    }
    return no_barrier(*facts_, name_);
  }
  std::string name_;
};

Made make_parity_at(Operands& operands) {
  const auto cycle = static_cast<std::uint64_t>(operands.number(1));
  return made<ParityAt>(operands, operands.evidence().facts, operands.words(0), cycle);
}

// --- the whole run ------------------------------------------------------------------------------

class StagesOf : public Task {
 public:
  explicit StagesOf(Facts facts) : facts_(std::move(facts)) {}
  AnswerForm form() const override { return AnswerForm::number; }
  Outcome<Reply> solution() const override {
    if (!facts_) return not_run();
    return Reply(static_cast<std::int64_t>(facts_->stages));
  }
  std::string explain(const Reply& wrong) const override {
    return fmt::format(
        "Not {}. A stage is a place of shared memory that holds the tiles of one "
        "k-step, and is filled again and again.",
        text(wrong));
  }

 private:
  Facts facts_;
};
Made make_stages_of(Operands& operands) {
  return made<StagesOf>(operands, operands.evidence().facts);
}

// What a verdict may name, and the word that answers it.
struct Bound {
  std::string_view word, in_sentence;
};
constexpr std::array<Bound, 10> kBounds = {{{"launch", "launch overhead"},
                                            {"tensor", "the tensor cores"},
                                            {"shared", "shared memory"},
                                            {"l2", "L2's bandwidth"},
                                            {"memory", "memory bandwidth"},
                                            {"loads", "load latency"},
                                            {"epilogue", "prologue and epilogue"},
                                            {"handover", "the handover between warps"},
                                            {"products", "MMA latency"},
                                            {"latency", "latency"}}};

class BoundOf : public Task {
 public:
  BoundOf(Facts facts, std::string words) : facts_(std::move(facts)), words_(std::move(words)) {}
  AnswerForm form() const override { return AnswerForm::word; }
  std::string form_words() const override { return words_; }
  bool predicts() const override { return !facts_; }
  Outcome<Reply> solution() const override {
    if (!facts_) return not_run();
    for (const Bound& bound : kBounds) {
      if (facts_->bound.find(bound.in_sentence) == 0) return Reply(std::string(bound.word));
    }
    return Error{ErrorKind::mismatch,
                 facts_->bound_says.empty() ? "This run has no times." : facts_->bound_says, ""};
  }
  bool accepts(const Reply& answer) const override {
    const Outcome<Reply> right = solution();
    return right && lower_case(text(answer)) == text(*right);
  }
  std::string praise(const Reply&) const override { return "Right. " + facts_->bound_says; }
  std::string explain(const Reply&) const override { return facts_->bound_says; }

 private:
  Facts facts_;
  std::string words_;  // what a learner is told that an answer may be
};
Made make_bound_of(Operands& operands) {
  if (operands.count() == 0) {
    return made<BoundOf>(operands, operands.evidence().facts,
                         "one of tensor, shared, L2, memory, loads, products, handover, epilogue, "
                         "launch or latency");
  }
  std::string words = "one of ";
  for (std::size_t i = 0; i < operands.count(); ++i) {
    const std::string word = plain_word(operands.words(i));
    const bool known = std::any_of(kBounds.begin(), kBounds.end(), [&](const Bound& bound) {
      return bound.word == lower_case(word);
    });
    if (!known) operands.fail(fmt::format("A run is never said to be bound by `{}`.", word));
    words += fmt::format("{}{}", i == 0 ? "" : i + 1 < operands.count() ? ", " : " or ", word);
  }
  return made<BoundOf>(operands, operands.evidence().facts, words);
}

// --- what went wrong ----------------------------------------------------------------------------

// `cause`: not what is waited for because others wait, but what these wait for at last.
class StuckAt : public Task {
 public:
  StuckAt(Facts facts, bool warp, bool cause = false)
      : facts_(std::move(facts)), warp_(warp), cause_(cause) {}
  AnswerForm form() const override { return warp_ ? AnswerForm::number : AnswerForm::word; }
  std::string form_words() const override {
    return warp_ ? "the number of a warp, such as 4" : "a barrier's name, such as full[1]";
  }
  Outcome<Reply> solution() const override {
    if (!facts_) return not_run();
    for (const RunFacts::Stuck& each : facts_->stuck) {
      if (cause_ && !each.cause) continue;
      if (!warp_) return Reply(each.barrier);
      if (!each.warps.empty()) return Reply(std::int64_t{each.warps.front()});
    }
    return Error{ErrorKind::mismatch, "In this run nobody waits in vain.", ""};
  }
  bool accepts(const Reply& answer) const override {
    if (!facts_) return false;
    return std::any_of(facts_->stuck.begin(), facts_->stuck.end(),
                       [&](const RunFacts::Stuck& each) {
                         if (cause_ && !each.cause) return false;
                         if (!warp_) return lower_case(each.barrier) == lower_case(text(answer));
                         const std::int64_t n = number_in(answer);
                         return std::any_of(each.warps.begin(), each.warps.end(),
                                            [&](std::uint32_t warp) { return warp == n; });
                       });
  }
  std::string explain(const Reply& wrong) const override {
    if (warp_) return fmt::format("Warp {} is not among those that wait for it.", text(wrong));
    for (const RunFacts::Stuck& each : facts_->stuck) {
      if (lower_case(each.barrier) != lower_case(text(wrong))) continue;
      return fmt::format("{} is waited for only because of another one{}.", each.barrier,
                         each.because.empty() ? "" : ": " + each.because);
    }
    return fmt::format("Nobody waits in vain for {}. Follow an arrow from a warp that waits.",
                       text(wrong));
  }

 private:
  Facts facts_;
  bool warp_, cause_;
};
Made make_stuck_barrier(Operands& operands) {
  const bool cause = operands.count() == 1;
  if (cause && operands.words(0) != "cause") {
    operands.fail("It takes nothing, or `cause`: the barrier for which nobody is left.");
  }
  return made<StuckAt>(operands, operands.evidence().facts, false, cause);
}
Made make_stuck_warp(Operands& operands) {
  return made<StuckAt>(operands, operands.evidence().facts, true);
}

class FaultLine : public Task {
 public:
  explicit FaultLine(Facts facts) : facts_(std::move(facts)) {}
  AnswerForm form() const override { return AnswerForm::number; }
  std::string form_words() const override { return "the number of a line, such as 81"; }
  Outcome<Reply> solution() const override {
    if (!facts_) return not_run();
    if (facts_->told_line == 0) {
      return Error{ErrorKind::mismatch, "This run has neither fault nor hazard.", ""};
    }
    return Reply(std::int64_t{facts_->told_line});
  }
  std::string explain(const Reply& wrong) const override {
    return fmt::format("Not line {}. What is told: {}", text(wrong), facts_->told);
  }

 private:
  Facts facts_;
};
Made make_fault_line(Operands& operands) {
  return made<FaultLine>(operands, operands.evidence().facts);
}

// Lines of `is` that `right` does not have: what a longest common subsequence leaves out. Where
// something was taken away, the lines on both sides of the gap; what `right` has before all of it
// or behind it, such as the kernel for another type, is no gap.
std::vector<std::int64_t> changed_lines(const std::vector<std::string>& is,
                                        const std::vector<std::string>& right) {
  const std::size_t n = is.size(), m = right.size();
  std::vector<std::uint16_t> length((n + 1) * (m + 1), 0);
  const auto at = [&](std::size_t i, std::size_t k) -> std::uint16_t& {
    return length[i * (m + 1) + k];
  };
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = m; k-- > 0;) {
      at(i, k) = is[i] == right[k] ? static_cast<std::uint16_t>(at(i + 1, k + 1) + 1)
                                   : std::max(at(i + 1, k), at(i, k + 1));
    }
  }
  std::vector<std::int64_t> out;
  std::size_t i = 0, k = 0;
  while (i < n || k < m) {
    if (i < n && k < m && is[i] == right[k]) {
      ++i, ++k;
    } else if (k >= m || (i < n && at(i + 1, k) >= at(i, k + 1))) {
      out.push_back(static_cast<std::int64_t>(++i));
    } else {
      const bool replaced = !out.empty() && out.back() == static_cast<std::int64_t>(i);
      if (i > 0 && i < n && !replaced) {
        out.push_back(static_cast<std::int64_t>(i));
        out.push_back(static_cast<std::int64_t>(i) + 1);
      }
      ++k;
    }
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::vector<std::string> code_lines(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string line(text.substr(0, end));
    line = line.substr(0, line.find("//"));  // comments do not run
    while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.pop_back();
    out.push_back(std::move(line));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

class BugLine : public Task {
 public:
  BugLine(Facts facts, const Workshop& workshop, std::string right) : facts_(std::move(facts)) {
    if (!facts_) {
      problem_ = not_run();
    } else if (facts_->source.empty() || !workshop.file) {
      problem_ = Error{ErrorKind::mismatch, "The source of this kernel is not known.", ""};
    } else if (const auto text = workshop.file(right); !text) {
      problem_ = text.error();
    } else {
      std::string is;
      for (const std::string& line : facts_->source) is += line + "\n";
      const std::vector<std::string> mine = code_lines(is), other = code_lines(*text);
      if (std::max(mine.size(), other.size()) > 4096) {
        problem_ = Error{ErrorKind::mismatch, "The source has too many lines to compare.", ""};
        return;
      }
      lines_ = changed_lines(mine, other);
      if (lines_.empty()) {
        problem_ = Error{ErrorKind::mismatch, "The source is the same as the right one.", ""};
      }
    }
  }
  AnswerForm form() const override { return AnswerForm::number; }
  std::string form_words() const override { return "the number of a line, such as 81"; }
  Outcome<Reply> solution() const override {
    if (problem_) return *problem_;
    return Reply(lines_.front());
  }
  bool accepts(const Reply& answer) const override {
    return std::find(lines_.begin(), lines_.end(), number_in(answer)) != lines_.end();
  }
  std::string explain(const Reply& wrong) const override {
    const std::int64_t n = number_in(wrong),
                       count = static_cast<std::int64_t>(facts_->source.size());
    if (n < 1 || n > count) return fmt::format("The source has lines 1 to {}.", count);
    const std::string& line = facts_->source[static_cast<std::size_t>(n) - 1];
    return fmt::format("Line {} is as in the right kernel: `{}`.", n,
                       line.substr(std::min(line.find_first_not_of(' '), line.size()), 60));
  }

 private:
  Facts facts_;
  std::vector<std::int64_t> lines_;
  std::optional<Error> problem_;
};
Made make_bug_line(Operands& operands) {
  return made<BugLine>(operands, operands.evidence().facts, operands.evidence().workshop,
                       operands.words(0));
}

constexpr std::array kRows = {
    TaskRow{"bytes_expected", 2, 2, make_bytes_expected},
    TaskRow{"arrivals_expected", 1, 1, make_arrivals_expected},
    TaskRow{"parity_at", 2, 2, make_parity_at},
    TaskRow{"stage_read", 1, 1, make_stage_read},
    TaskRow{"step_read", 1, 1, make_step_read},
    TaskRow{"waits_for", 2, 2, make_waits_for},
    TaskRow{"stages_of", 0, 0, make_stages_of},
    TaskRow{"bound_of", 0, kBounds.size(), make_bound_of},
    TaskRow{"stuck_barrier", 0, 1, make_stuck_barrier},
    TaskRow{"stuck_warp", 0, 0, make_stuck_warp},
    TaskRow{"fault_line", 0, 0, make_fault_line},
    TaskRow{"bug_line", 1, 1, make_bug_line},
};

}  // namespace

std::span<const TaskRow> pipeline_tasks() {
  return kRows;
}

}  // namespace tilescope
