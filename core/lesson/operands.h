// A task's operands as values, and small questions about layouts that several tasks ask.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/language/language.h"
#include "core/layout/text.h"
#include "core/lesson/run_facts.h"
#include "core/lesson/task.h"

namespace tilescope {

using Made = Outcome<std::unique_ptr<Task>>;

// The operands of one call. Asked for one of another kind, the first problem is kept, and what is
// answered then is not to be used.
class Operands {
 public:
  Operands(std::string_view call, std::vector<std::string> texts, RunEvidence evidence)
      : call_(call), texts_(std::move(texts)), evidence_(std::move(evidence)) {}

  std::size_t count() const { return texts_.size(); }
  const std::string& words(std::size_t i) const { return texts_[i]; }
  Layout layout(std::size_t i);
  Tuple tuple(std::size_t i);
  Tiler tiler(std::size_t i);
  std::int64_t number(std::size_t i);
  const RunEvidence& evidence() const { return evidence_; }

  // What a layout operation answers, or its refusal as the problem.
  template <class T>
  T take(const Result<T>& result) {
    if (!result) fail(sentence(result.refusal));
    return result.value;
  }
  void fail(std::string sentence);
  const std::optional<Error>& problem() const { return problem_; }

 private:
  std::optional<Value> value(std::size_t i);
  std::string_view call_;
  std::vector<std::string> texts_;
  RunEvidence evidence_;
  std::optional<Error> problem_;
};

// A task of class T made from operands, where they were what it needs.
template <class T, class... Arguments>
Made made(const Operands& operands, Arguments&&... arguments) {
  if (operands.problem()) return *operands.problem();
  return std::unique_ptr<Task>(std::make_unique<T>(std::forward<Arguments>(arguments)...));
}

struct TaskRow {
  std::string_view name;
  std::size_t least, most;  // operands
  Made (*make)(Operands& operands);
};
std::span<const TaskRow> layout_tasks();
std::span<const TaskRow> algebra_tasks();
std::span<const TaskRow> tile_tasks();
std::span<const TaskRow> run_tasks();
std::span<const TaskRow> plain_tasks();
std::span<const TaskRow> memory_tasks();
std::span<const TaskRow> pipeline_tasks();
std::span<const TaskRow> trial_tasks();

// "one of add, copy or wait", in the order of the alphabet.
std::string one_of(std::vector<std::string> words);
// Without blanks around it, single blanks in it.
std::string plain_word(std::string_view text);
std::string lower_case(std::string text);

// Tasks that count coordinates out stop here.
inline constexpr std::int64_t most_counted = 1 << 16;

inline std::int64_t number_in(const Reply& answer) {
  const std::int64_t* number = std::get_if<std::int64_t>(&answer);
  return number ? *number : 0;
}

// Numbers small enough that sums of their products fit: what a learner writes or reads.
bool modest(const Layout& layout);

// A tuple with every number known, from 0 on and inside `shape`; of whatever form, its index.
std::optional<std::int64_t> index_inside(const Tuple& coordinate, const Tuple& shape);
// The index-th coordinate of a shape as text.
std::string coordinate_text(std::int64_t index, const Tuple& shape);
// The number of a coordinate with the last mode fastest.
std::int64_t row_major_index(std::int64_t index, const Tuple& shape);
// The mirror of a flat coordinate of two numbers: (1,5) -> (5,1). Nothing where there is none.
std::optional<Tuple> mirrored(const Tuple& coordinate);

}  // namespace tilescope
