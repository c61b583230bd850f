#include "core/lesson/task.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "core/lesson/operands.h"

namespace tilescope {
namespace {

std::string_view trim(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())))
    text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
    text.remove_suffix(1);
  return text;
}

// Operands between commas that stand in no bracket.
std::vector<std::string> split_operands(std::string_view text) {
  std::vector<std::string> out;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (c == '(' || c == '<' || c == '[') ++depth;
    if (c == ')' || c == '>' || c == ']') --depth;
    if (c != ',' || (depth > 0 && i < text.size())) continue;
    out.emplace_back(trim(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  if (out.size() == 1 && out[0].empty()) out.clear();
  return out;
}

std::array<std::span<const TaskRow>, 8> tables() {
  return {layout_tasks(), algebra_tasks(), tile_tasks(),     run_tasks(),
          plain_tasks(),  memory_tasks(),  pipeline_tasks(), trial_tasks()};
}

const TaskRow* row_named(std::string_view name) {
  for (const auto& table : tables()) {
    for (const TaskRow& row : table) {
      if (row.name == name) return &row;
    }
  }
  return nullptr;
}

// The begin of what was typed, cut between characters of UTF-8.
std::string quoted_begin(std::string_view text) {
  constexpr std::size_t most = 32;
  if (text.size() <= most) return std::string(text);
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return fmt::format("{}...", text.substr(0, end));
}

Error not_read(AnswerForm form, std::string_view text) {
  return {
      ErrorKind::usage,
      fmt::format("`{}` is no answer here: it is {}.", quoted_begin(trim(text)), words_of(form)),
      ""};
}

Outcome<Reply> read_number(std::string_view text) {
  std::string_view digits = trim(text);
  // T5 and V3 are how cells name threads and values.
  if (digits.size() > 1 && std::string_view("TVtv").find(digits[0]) != digits.npos) {
    digits.remove_prefix(1);
  }
  const bool hexadecimal = digits.substr(0, 2) == "0x" || digits.substr(0, 2) == "0X";
  if (hexadecimal) digits.remove_prefix(2);
  std::int64_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, hexadecimal ? 16 : 10);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) {
    return not_read(AnswerForm::number, text);
  }
  return Reply(value);
}

Outcome<Reply> read_yes_no(std::string_view text) {
  std::string word;
  for (const char c : trim(text))
    word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const std::string_view yes : {"yes", "y", "true", "inside"}) {
    if (word == yes) return Reply(true);
  }
  for (const std::string_view no : {"no", "n", "false", "outside"}) {
    if (word == no) return Reply(false);
  }
  return not_read(AnswerForm::yes_no, text);
}

// Letters, whatever stands between them.
Outcome<Reply> read_order(std::string_view text) {
  std::string order;
  for (const char c : text) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isalpha(letter)) {
      order +=
          fmt::format("{}{}", order.empty() ? "" : " ", static_cast<char>(std::tolower(letter)));
    } else if (std::string_view(" ,>-\t").find(c) == std::string_view::npos) {
      return not_read(AnswerForm::order, text);
    }
  }
  if (order.empty()) return not_read(AnswerForm::order, text);
  return Reply(order);
}

// A layout or coordinate is written out: a call would leave the work to the program.
Outcome<Reply> read_expression(AnswerForm form, std::string_view text) {
  const bool calls = std::any_of(text.begin(), text.end(),
                                 [](unsigned char c) { return std::isalpha(c) || c == ';'; });
  if (calls) {
    return Error{ErrorKind::usage,
                 fmt::format("An answer is written out, in numbers: {}.", words_of(form)), ""};
  }
  std::string whole(trim(text));
  if (form == AnswerForm::coordinate && !whole.empty() && whole[0] != '(' &&
      whole.find(',') != whole.npos) {
    whole = fmt::format("({})", whole);
  }
  const Evaluated result = evaluate(whole);
  if (const Problem* problem = std::get_if<Problem>(&result)) {
    return Error{ErrorKind::usage,
                 fmt::format("{} The answer is {}.", problem->sentence, words_of(form)), ""};
  }
  const Value& value = std::get<Value>(result);
  if (form == AnswerForm::layout) {
    const Layout* layout = std::get_if<Layout>(&value);
    if (layout && modest(*layout)) return Reply(*layout);
  } else if (const Tuple* tuple = std::get_if<Tuple>(&value)) {
    const bool known = std::all_of(tuple->leaf.begin(), tuple->leaf.begin() + tuple->leaves,
                                   [](const Int& i) { return i.known() && i.axis.none(); });
    if (known && !tuple->empty()) return Reply(*tuple);
  }
  return not_read(form, text);
}

}  // namespace

std::string text(const Reply& answer) {
  if (const auto* number = std::get_if<std::int64_t>(&answer)) return fmt::format("{}", *number);
  if (const auto* tuple = std::get_if<Tuple>(&answer)) return text(*tuple);
  if (const auto* layout = std::get_if<Layout>(&answer)) return text(*layout);
  if (const auto* word = std::get_if<std::string>(&answer)) return *word;
  return std::get<bool>(answer) ? "yes" : "no";
}

std::string_view words_of(AnswerForm form) {
  switch (form) {
    case AnswerForm::number:
      return "a number, such as 12";
    case AnswerForm::coordinate:
      return "a coordinate, such as (1,2)";
    case AnswerForm::layout:
      return "a layout, such as (4,8):(8,1)";
    case AnswerForm::yes_no:
      return "yes or no";
    case AnswerForm::word:
      return "a word";
    case AnswerForm::order:
      return "letters in order, such as b a c";
    case AnswerForm::options:
      return "options, such as --tile 128x256";
  }
  return "";
}

std::string plain_word(std::string_view text) {
  std::string out;
  for (const char c : trim(text)) {
    const bool blank = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (blank && out.back() == ' ') continue;
    out += blank ? ' ' : c;
  }
  return out;
}

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::optional<Error> Task::problem() const {
  const Outcome<Reply> right = solution();
  if (right) return {};
  return right.error();
}

bool Task::accepts(const Reply& answer) const {
  const Outcome<Reply> right = solution();
  return right && *right == answer;
}

Outcome<std::unique_ptr<Task>> make_task(std::string_view call, const RunEvidence& evidence) {
  call = trim(call);
  const std::size_t open = call.find('(');
  const std::string_view name = trim(call.substr(0, open));
  if (open == call.npos || call.back() != ')') {
    return Error{ErrorKind::unreadable,
                 fmt::format("`{}` is no checker; `offset_of((4,8):(8,1), (1,5))` is.", call), ""};
  }
  const TaskRow* row = row_named(name);
  if (!row) {
    std::string names;
    for (const std::string_view known : task_names()) {
      names += fmt::format("{}{}", names.empty() ? "" : ", ", known);
    }
    return Error{ErrorKind::unknown,
                 fmt::format("There is no checker `{}`; there are {}.", name, names), ""};
  }
  Operands operands(call, split_operands(call.substr(open + 1, call.size() - open - 2)), evidence);
  if (operands.count() < row->least || operands.count() > row->most) {
    return Error{ErrorKind::usage,
                 fmt::format("The checker {} takes {} operand{}, and `{}` has {}.", name,
                             row->least, row->least == 1 ? "" : "s", call, operands.count()),
                 ""};
  }
  return row->make(operands);
}

bool needs_a_run(std::string_view call) {
  const std::string_view name = trim(call.substr(0, call.find('(')));
  for (const auto& table : {run_tasks(), pipeline_tasks(), trial_tasks()}) {
    for (const TaskRow& row : table) {
      if (row.name == name) return true;
    }
  }
  return false;
}

std::vector<std::string_view> task_names() {
  std::vector<std::string_view> names;
  for (const auto& table : tables()) {
    for (const TaskRow& row : table) names.push_back(row.name);
  }
  return names;
}

Outcome<Reply> read_answer(AnswerForm form, std::string_view text) {
  if (trim(text).empty()) {
    return Error{ErrorKind::usage, fmt::format("There is no answer yet; it is {}.", words_of(form)),
                 ""};
  }
  constexpr std::size_t most = 200;  // far more than any answer has
  if (trim(text).size() > most) return not_read(form, text);
  if (form == AnswerForm::number) return read_number(text);
  if (form == AnswerForm::yes_no) return read_yes_no(text);
  if (form == AnswerForm::order) return read_order(text);
  if (form == AnswerForm::word || form == AnswerForm::options) return Reply(plain_word(text));
  return read_expression(form, text);
}

// --- operands -----------------------------------------------------------------------------------

void Operands::fail(std::string sentence) {
  if (problem_) return;
  problem_ = Error{ErrorKind::unreadable,
                   fmt::format("The checker `{}` cannot ask this. {}", call_, sentence), ""};
}

std::optional<Value> Operands::value(std::size_t i) {
  const Evaluated result = evaluate(texts_[i]);
  if (const Value* value = std::get_if<Value>(&result)) return *value;
  fail(std::get<Problem>(result).sentence);
  return {};
}

Layout Operands::layout(std::size_t i) {
  const std::optional<Value> found = value(i);
  if (!found) return {};
  const Layout* layout = std::get_if<Layout>(&*found);
  const ThreadValue* tv = std::get_if<ThreadValue>(&*found);
  if (tv) layout = &tv->layout;
  if (layout && modest(*layout)) return *layout;
  fail(fmt::format("`{}` is no layout of known numbers with at most {} coordinates.", texts_[i],
                   most_counted));
  return {};
}

Tuple Operands::tuple(std::size_t i) {
  const std::optional<Value> found = value(i);
  const Tuple* tuple = found ? std::get_if<Tuple>(&*found) : nullptr;
  bool good = tuple && !tuple->empty();
  for (int k = 0; good && k < tuple->leaves; ++k) {
    good = tuple->leaf[k].known() && tuple->leaf[k].axis.none() && tuple->leaf[k].value >= 0;
  }
  if (good && product(*tuple)) return *tuple;
  fail(fmt::format("`{}` is no shape or coordinate of known numbers.", texts_[i]));
  return {};
}

Tiler Operands::tiler(std::size_t i) {
  const std::optional<Value> found = value(i);
  if (!found) return {};
  if (const auto* tiler = std::get_if<Tiler>(&*found)) return *tiler;
  if (const auto* layout = std::get_if<Layout>(&*found)) return *layout;
  if (const auto* tuple = std::get_if<Tuple>(&*found)) return *tuple;
  fail(fmt::format("`{}` is no tiler.", texts_[i]));
  return {};
}

std::int64_t Operands::number(std::size_t i) {
  const std::optional<Value> found = value(i);
  const Tuple* tuple = found ? std::get_if<Tuple>(&*found) : nullptr;
  if (tuple && tuple->scalar() && tuple->leaf[0].known() && tuple->leaf[0].value >= 0) {
    return tuple->leaf[0].value;
  }
  fail(fmt::format("`{}` is no number from 0 on.", texts_[i]));
  return 0;
}

bool modest(const Layout& layout) {
  constexpr std::int64_t furthest = std::int64_t{1} << 31;
  if (!layout.concrete() || layout.modes.empty() || layout.offset.value > furthest) return false;
  for (int i = 0; i < layout.modes.leaves; ++i) {
    const std::int64_t stride = layout.modes.leaf[i].stride.value;
    if (stride < -furthest || stride > furthest) return false;
  }
  const Result<std::int64_t> count = size(layout);
  return count && *count <= most_counted;
}

std::optional<std::int64_t> index_inside(const Tuple& coordinate, const Tuple& shape) {
  for (int i = 0; i < coordinate.leaves; ++i) {
    if (coordinate.leaf[i].value < 0) return {};
  }
  const Result<std::int64_t> index = crd2index(coordinate, shape), count = product(shape);
  if (!index || !count || *index < 0 || *index >= *count) return {};
  // A number of one mode that runs over its end leads to another coordinate's index.
  const Result<Tuple> back = idx2crd(Int(*index), shape);
  const int rank = coordinate.scalar() ? 1 : coordinate.rank();
  if (rank > 1 && back) {
    for (int m = 0; m < rank; ++m) {
      const Result<std::int64_t> asked = crd2index(coordinate.mode(m), shape.mode(m));
      const Result<std::int64_t> is = crd2index(back->mode(m), shape.mode(m));
      if (!asked || !is || *asked != *is) return {};
    }
  }
  return *index;
}

std::string coordinate_text(std::int64_t index, const Tuple& shape) {
  const Result<Tuple> coordinate = idx2crd(Int(index), shape);
  return coordinate ? text(*coordinate) : fmt::format("{}", index);
}

std::int64_t row_major_index(std::int64_t index, const Tuple& shape) {
  std::vector<std::int64_t> digits;
  for (int i = 0; i < shape.leaves; ++i) {
    const bool last = i + 1 == shape.leaves;
    digits.push_back(last ? index : index % shape.leaf[i].value);
    index /= shape.leaf[i].value;
  }
  std::int64_t out = 0;
  for (int i = 0; i < shape.leaves; ++i) {
    out = out * shape.leaf[i].value + digits[static_cast<std::size_t>(i)];
  }
  return out;
}

std::optional<Tuple> mirrored(const Tuple& coordinate) {
  if (coordinate.leaves != 2 || coordinate.rank() != 2) return {};
  return make_tuple_of(coordinate.leaf[1], coordinate.leaf[0]);
}

}  // namespace tilescope
