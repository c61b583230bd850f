// Tasks whose answer follows from the exercise's own numbers: a number of them, a coordinate, or
// one word of a few.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/lesson/operands.h"

namespace tilescope {
namespace {

class NumberOf : public Task {
 public:
  NumberOf(std::int64_t number, std::string noun) : number_(number), noun_(std::move(noun)) {}

  AnswerForm form() const override { return AnswerForm::number; }
  Outcome<Reply> solution() const override { return Reply(number_); }
  std::string explain(const Reply& wrong) const override {
    const std::int64_t n = number_in(wrong);
    if (noun_ == "parity") {
      if (n > 1 || n < 0) return "A parity is 0 or 1: of a phase's number whether it is odd.";
      return fmt::format("Not {}. Which phase is it, counted from 0? Is its number odd?", n);
    }
    if (n == number_ + 1 && is_counted()) {
      return fmt::format("Not {}. The first {} has the number 0.", n, noun_);
    }
    if (noun_.empty()) return fmt::format("Not {}. `hint` leads on.", n);
    return fmt::format("Not {}. Asked is the {}; `hint` leads on.", n, noun_);
  }

 private:
  // What has numbers from 0 on, and is not an amount.
  bool is_counted() const {
    constexpr std::array kNouns = {"stage", "row",  "column", "warp",   "tile",  "entry", "group",
                                   "place", "lane", "step",   "k-step", "phase", "CTA",   "index"};
    return std::find(kNouns.begin(), kNouns.end(), noun_) != kNouns.end();
  }

  std::int64_t number_;
  std::string noun_;
};

Made make_number_of(Operands& operands) {
  std::string noun;
  for (std::size_t i = 1; i < operands.count(); ++i) {
    noun += fmt::format("{}{}", noun.empty() ? "" : ", ", operands.words(i));
  }
  const std::int64_t number = operands.number(0);
  return made<NumberOf>(operands, number, noun);
}

class ChoiceOf : public Task {
 public:
  explicit ChoiceOf(std::vector<std::string> words) : words_(std::move(words)) {}

  AnswerForm form() const override { return AnswerForm::word; }
  std::string form_words() const override { return one_of(words_); }
  Outcome<Reply> solution() const override { return Reply(words_.front()); }
  bool accepts(const Reply& answer) const override {
    return lower_case(text(answer)) == lower_case(words_.front());
  }
  std::string explain(const Reply& wrong) const override {
    const std::string given = text(wrong);
    const bool known = std::any_of(words_.begin(), words_.end(), [&](const std::string& word) {
      return lower_case(word) == lower_case(given);
    });
    if (!known) {
      return fmt::format("`{}` is not among these: the answer is {}.", given, form_words());
    }
    return fmt::format("It is not {}. `hint` leads on.", given);
  }

 private:
  std::vector<std::string> words_;  // the right one first
};

class Whether : public Task {
 public:
  explicit Whether(bool so) : so_(so) {}

  AnswerForm form() const override { return AnswerForm::yes_no; }
  Outcome<Reply> solution() const override { return Reply(so_); }
  std::string explain(const Reply& wrong) const override {
    return fmt::format("Not {}. `hint` leads on.", text(wrong));
  }

 private:
  bool so_;
};

Made make_whether(Operands& operands) {
  return made<Whether>(operands, operands.number(0) != 0);
}

Made make_choice_of(Operands& operands) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < operands.count(); ++i) {
    words.push_back(plain_word(operands.words(i)));
    if (words.back().empty()) operands.fail("A choice has no words.");
  }
  std::vector<std::string> sorted = words;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    operands.fail("Two choices are the same.");
  }
  return made<ChoiceOf>(operands, words);
}

// Of two numbers at least; what is right of a wrong answer is said, so that it is looked at no
// more.
class CoordinateIs : public Task {
 public:
  explicit CoordinateIs(Tuple coordinate) : right_(std::move(coordinate)) {}

  AnswerForm form() const override { return AnswerForm::coordinate; }
  Outcome<Reply> solution() const override { return Reply(right_); }
  std::string explain(const Reply& wrong) const override {
    const Tuple& given = std::get<Tuple>(wrong);
    if (given.leaves != right_.leaves || given.rank() != right_.rank()) {
      return fmt::format("{} has another form: {} numbers in parentheses are asked for.",
                         text(given), right_.leaves);
    }
    if (mirrored(given) == right_) return "Both numbers are right, but exchanged.";
    std::string same;
    for (int i = 0; i < right_.leaves; ++i) {
      if (given.leaf[i].value != right_.leaf[i].value) continue;
      same += fmt::format("{}{}", same.empty() ? "" : " and ", i + 1);
    }
    if (same.empty()) return fmt::format("No number of {} is right yet.", text(given));
    return fmt::format("Number {} of {} is right, the rest is not.", same, text(given));
  }

 private:
  Tuple right_;
};

Made make_coordinate_is(Operands& operands) {
  const Tuple coordinate = operands.tuple(0);
  if (!operands.problem() && (coordinate.scalar() || coordinate.rank() != coordinate.leaves)) {
    operands.fail(fmt::format("`{}` is no flat coordinate.", operands.words(0)));
  }
  return made<CoordinateIs>(operands, coordinate);
}

constexpr std::array kRows = {
    TaskRow{"number_of", 1, 9, make_number_of},
    TaskRow{"coordinate_is", 1, 1, make_coordinate_is},
    TaskRow{"whether", 1, 1, make_whether},
    TaskRow{"choice_of", 2, 9, make_choice_of},
};

}  // namespace

std::string one_of(std::vector<std::string> words) {
  std::sort(words.begin(), words.end());  // where the right one stands says nothing
  std::string out = "one of ";
  for (std::size_t i = 0; i < words.size(); ++i) {
    out += fmt::format("{}{}", i == 0 ? "" : i + 1 == words.size() ? " or " : ", ", words[i]);
  }
  return out;
}

std::span<const TaskRow> plain_tasks() {
  return kRows;
}

}  // namespace tilescope
