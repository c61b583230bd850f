// Tasks about a run: what it left is the evidence, and nothing else is asked.
#include <fmt/format.h>

#include <array>

#include "core/lesson/operands.h"

namespace tilescope {
namespace {

Error not_run() {
  return {ErrorKind::mismatch,
          "There is no compared result to look at; run the kernel first, with `run`.", ""};
}

class WrongElement : public Task {
 public:
  explicit WrongElement(RunEvidence evidence) : run_(std::move(evidence)) {}

  AnswerForm form() const override { return AnswerForm::coordinate; }
  Outcome<Reply> solution() const override {
    if (!run_.done) return not_run();
    if (run_.first_wrong < 0) {
      return Error{ErrorKind::mismatch, "No element of this result is wrong.", ""};
    }
    return Reply(
        make_tuple_of(Int(run_.first_wrong / run_.columns), Int(run_.first_wrong % run_.columns)));
  }
  bool accepts(const Reply& answer) const override {
    const auto at = element(answer);
    return at && run_.at(at->first, at->second).wrong;
  }
  std::string explain(const Reply& wrong) const override {
    const auto at = element(wrong);
    if (!at) {
      return fmt::format("{} is no (row,column) of a matrix of {} x {}.", text(wrong), run_.rows,
                         run_.columns);
    }
    const RunEvidence::Element found = run_.at(at->first, at->second);
    return fmt::format("The kernel computed {} correctly: {} came, and {} is wanted.", text(wrong),
                       found.got, found.want);
  }

 private:
  std::optional<std::pair<std::int64_t, std::int64_t>> element(const Reply& answer) const {
    const Tuple* at = std::get_if<Tuple>(&answer);
    if (!run_.done || !run_.at || !at || at->leaves != 2 || at->rank() != 2) return {};
    const std::int64_t row = at->leaf[0].value, column = at->leaf[1].value;
    if (row < 0 || column < 0 || row >= run_.rows || column >= run_.columns) return {};
    return std::pair(row, column);
  }
  RunEvidence run_;
};

class WrongCount : public Task {
 public:
  explicit WrongCount(RunEvidence evidence) : run_(std::move(evidence)) {}

  AnswerForm form() const override { return AnswerForm::number; }
  Outcome<Reply> solution() const override {
    if (!run_.done) return not_run();
    return Reply(run_.wrong);
  }
  std::vector<Slip> slips() const override {
    return {{run_.rows * run_.columns - run_.wrong, "So many are right."},
            {run_.rows * run_.columns, "So many were compared."}};
  }
  std::string explain(const Reply& wrong) const override {
    return fmt::format("Not {}. The strip below tells how many of {} are wrong.", text(wrong),
                       run_.rows * run_.columns);
  }

 private:
  RunEvidence run_;
};

Made make_wrong_element(Operands& operands) {
  return made<WrongElement>(operands, operands.evidence());
}
Made make_wrong_count(Operands& operands) {
  return made<WrongCount>(operands, operands.evidence());
}

constexpr std::array kRows = {
    TaskRow{"wrong_element", 0, 0, make_wrong_element},
    TaskRow{"wrong_count", 0, 0, make_wrong_count},
};

}  // namespace

std::span<const TaskRow> run_tasks() {
  return kRows;
}

}  // namespace tilescope
