// Tasks that are judged by a run: pieces of a program put in order, options that make a kernel
// faster.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "core/lesson/operands.h"

namespace tilescope {
namespace {

Error nobody_runs() {
  return {ErrorKind::unsupported, "Nothing here can run it.", ""};
}

// --- a program in pieces ------------------------------------------------------------------------

// `//@ a: what it does` begins a piece, `//@ end` what follows them.
struct Pieces {
  std::string before, after;
  std::vector<std::string> says, code;
};

std::optional<Pieces> pieces_of(std::string_view text) {
  constexpr std::string_view kMark = "//@ ";
  Pieces out;
  bool ended = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t mark = line.find(kMark);
    if (mark != line.npos) {
      const std::string_view rest = line.substr(mark + kMark.size());
      if (rest == "end") {
        ended = true;
        continue;
      }
      const std::string wanted = fmt::format("{}: ", static_cast<char>('a' + out.says.size()));
      if (ended || rest.substr(0, 3) != wanted || out.says.size() == 8) return {};
      out.says.emplace_back(rest.substr(3));
      out.code.emplace_back();
      continue;
    }
    std::string& part = ended ? out.after : out.code.empty() ? out.before : out.code.back();
    part += fmt::format("{}\n", line);
  }
  if (!ended || out.says.size() < 2) return {};
  return out;
}

class OrderOf : public Task {
 public:
  OrderOf(Workshop workshop, std::string name)
      : workshop_(std::move(workshop)), name_(std::move(name)) {
    if (!workshop_.file || !workshop_.run_program) {
      problem_ = nobody_runs();
      return;
    }
    const auto ptx = workshop_.file(name_ + ".ptx"), launch = workshop_.file(name_ + ".toml");
    if (!ptx || !launch) {
      problem_ = ptx ? launch.error() : ptx.error();
    } else if (auto pieces = pieces_of(*ptx)) {
      pieces_ = std::move(*pieces);
      launch_ = *launch;
    } else {
      problem_ =
          Error{ErrorKind::unreadable,
                "It has no pieces: `//@ a: what it does` begins one, `//@ end` follows them.",
                name_ + ".ptx"};
    }
  }

  AnswerForm form() const override { return AnswerForm::order; }
  std::vector<std::string> choices() const override {
    std::vector<std::string> out;
    for (std::size_t i = 0; i < pieces_.says.size(); ++i) {
      out.push_back(fmt::format("{}: {}", static_cast<char>('a' + i), pieces_.says[i]));
    }
    return out;
  }
  std::optional<Error> problem() const override { return problem_; }
  // Tried out, one order after another.
  Outcome<Reply> solution() const override {
    if (problem_) return *problem_;
    std::string order;
    for (std::size_t i = 0; i < pieces_.says.size(); ++i) order += static_cast<char>('a' + i);
    if (order.size() > 6)
      return Error{ErrorKind::mismatch, "There are too many orders to try.", ""};
    do {
      if (trial(order).right) return Reply(spaced(order));
    } while (std::next_permutation(order.begin(), order.end()));
    return Error{ErrorKind::mismatch, "No order of these is right.", ""};
  }
  bool accepts(const Reply& answer) const override {
    const std::string order = letters(answer);
    return !problem_ && complete(order) && trial(order).right;
  }
  std::string explain(const Reply& wrong) const override {
    const std::string order = letters(wrong);
    if (!complete(order)) {
      return fmt::format("Each of the {} pieces is there once: {}.", pieces_.says.size(),
                         spaced(all()));
    }
    return in_letters(trial(order).problem, order);
  }

 private:
  // The learner sees letters, and no PTX: a line of it is told as the piece that it is in.
  std::string in_letters(const std::string& sentence, const std::string& order) const {
    constexpr std::string_view kLine = "PTX line ";
    std::string out;
    for (std::size_t at = 0; at < sentence.size();) {
      const std::size_t found = sentence.find(kLine, at);
      const std::size_t begin = found == sentence.npos ? found : found + kLine.size();
      std::size_t end = begin, number = 0;
      while (end < sentence.size() && sentence[end] >= '0' && sentence[end] <= '9') {
        number = 10 * number + static_cast<std::size_t>(sentence[end++] - '0');
      }
      if (found == sentence.npos || end == begin) return out + sentence.substr(at);
      out += sentence.substr(at, found - at) + piece_at(number, order);
      at = end;
    }
    return out;
  }
  std::string piece_at(std::size_t line, const std::string& order) const {
    const auto lines = [](const std::string& code) {
      return static_cast<std::size_t>(std::count(code.begin(), code.end(), '\n'));
    };
    std::size_t end = lines(pieces_.before);
    if (line <= end) return "the code before the pieces";
    for (const char piece : order) {
      end += lines(pieces_.code[static_cast<std::size_t>(piece - 'a')]);
      if (line <= end) return fmt::format("`{}`", piece);
    }
    return "the code after the pieces";
  }
  static std::string letters(const Reply& answer) {
    std::string out;
    for (const char c : text(answer)) {
      if (c != ' ') out += c;
    }
    return out;
  }
  static std::string spaced(const std::string& order) {
    std::string out;
    for (const char c : order) out += fmt::format("{}{}", out.empty() ? "" : " ", c);
    return out;
  }
  std::string all() const {
    std::string out;
    for (std::size_t i = 0; i < pieces_.says.size(); ++i) out += static_cast<char>('a' + i);
    return out;
  }
  bool complete(std::string order) const {
    std::sort(order.begin(), order.end());
    return order == all();
  }
  const Trial& trial(const std::string& order) const {
    const auto found = trials_.find(order);
    if (found != trials_.end()) return found->second;
    std::string program = pieces_.before;
    for (const char piece : order) program += pieces_.code[static_cast<std::size_t>(piece - 'a')];
    const Outcome<Trial> made = workshop_.run_program(program + pieces_.after, launch_);
    return trials_[order] = made ? *made : Trial{false, 0, made.error().sentence};
  }

  Workshop workshop_;
  std::string name_, launch_;
  Pieces pieces_;
  std::optional<Error> problem_;
  mutable std::map<std::string, Trial> trials_;
};

Made make_order_of(Operands& operands) {
  return made<OrderOf>(operands, operands.evidence().workshop, operands.words(0));
}

std::vector<std::string> words_of_line(std::string_view line) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t end = std::min(line.find(' ', at), line.size());
    if (end > at) out.emplace_back(line.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

// "--tile", "--tile and --cluster"
std::string listed(const std::vector<std::string>& words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    out += fmt::format("{}{}", i == 0 ? "" : i + 1 == words.size() ? " and " : ", ", words[i]);
  }
  return out;
}

// --- faster -------------------------------------------------------------------------------------

class FasterThan : public Task {
 public:
  FasterThan(Workshop workshop, std::string kernel, std::int64_t percent,
             std::vector<std::string> tried)
      : workshop_(std::move(workshop)),
        kernel_(std::move(kernel)),
        percent_(percent),
        tried_(std::move(tried)) {}

  AnswerForm form() const override { return AnswerForm::options; }
  std::optional<Error> problem() const override {
    if (!workshop_.run_kernel) return nobody_runs();
    const Trial& plain = trial("");
    if (plain.right && plain.seconds > 0) return {};
    return Error{ErrorKind::mismatch,
                 plain.right ? "A run of this kernel has no time." : plain.problem, ""};
  }
  Outcome<Reply> solution() const override {
    if (const auto no = problem()) return *no;
    for (const std::string& options : tried_) {
      if (reached(trial(options))) return Reply(options);
    }
    return Error{ErrorKind::mismatch, "None of what was tried reaches that.", ""};
  }
  bool accepts(const Reply& answer) const override {
    return stray_word(text(answer)).empty() && reached(trial(text(answer)));
  }
  std::string praise(const Reply& answer) const override {
    return fmt::format("Right: {}.", score(trial(text(answer))));
  }
  std::string explain(const Reply& wrong) const override {
    if (const std::string word = stray_word(text(wrong)); !word.empty()) {
      return fmt::format("`{}` is not asked about here: the same work is to be done faster, by {}.",
                         word, listed(options_of_tries()));
    }
    const Trial& made = trial(text(wrong));
    if (!made.right) return made.problem;
    return fmt::format("The result is right, but {}; wanted are {}% at most.", score(made),
                       percent_);
  }

 private:
  static bool is_option(const std::string& word) { return word.substr(0, 1) == "-"; }
  static std::string name_in(const std::string& option) {
    return option.substr(0, option.find('='));
  }
  std::vector<std::string> options_of_tries() const {
    std::vector<std::string> out;
    for (const std::string& tried : tried_) {
      for (const std::string& word : words_of_line(tried)) {
        const std::string name = name_in(word);
        if (is_option(word) && std::find(out.begin(), out.end(), name) == out.end()) {
          out.push_back(name);
        }
      }
    }
    return out;
  }
  // An option that no try has, or a word that belongs to no option; empty: there is none.
  std::string stray_word(const std::string& options) const {
    const std::vector<std::string> taken = options_of_tries();
    bool value = false;  // one may follow
    for (const std::string& word : words_of_line(options)) {
      if (is_option(word)) {
        const std::string name = name_in(word);
        if (std::find(taken.begin(), taken.end(), name) == taken.end()) return name;
        value = name == word;
      } else if (!std::exchange(value, false)) {
        return word;
      }
    }
    return "";
  }
  const Trial& trial(const std::string& options) const {
    const auto found = trials_.find(options);
    if (found != trials_.end()) return found->second;
    const Outcome<Trial> made =
        workshop_.run_kernel(options.empty() ? kernel_ : fmt::format("{} {}", kernel_, options));
    return trials_[options] = made ? *made : Trial{false, 0, made.error().sentence};
  }
  bool reached(const Trial& made) const {
    return made.right && made.seconds > 0 &&
           100 * made.seconds <= static_cast<double>(percent_) * trial("").seconds;
  }
  std::string score(const Trial& made) const {
    const double plain = trial("").seconds;
    return fmt::format("{:.2f} us, {:.0f}% of the {:.2f} us without", made.seconds * 1e6,
                       100 * made.seconds / plain, plain * 1e6);
  }

  Workshop workshop_;
  std::string kernel_;
  std::int64_t percent_;
  std::vector<std::string> tried_;
  mutable std::map<std::string, Trial> trials_;
};

Made make_faster_than(Operands& operands) {
  const std::int64_t percent = operands.number(1);
  if (!operands.problem() && (percent < 1 || percent > 100)) {
    operands.fail("The time to reach is 1 to 100 percent.");
  }
  std::vector<std::string> tried;
  for (std::size_t i = 2; i < operands.count(); ++i) tried.push_back(operands.words(i));
  return made<FasterThan>(operands, operands.evidence().workshop, operands.words(0), percent,
                          tried);
}

constexpr std::array kRows = {
    TaskRow{"order_of", 1, 1, make_order_of},
    TaskRow{"faster_than", 3, 8, make_faster_than},
};

}  // namespace

std::span<const TaskRow> trial_tasks() {
  return kRows;
}

}  // namespace tilescope
