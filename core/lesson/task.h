// What an exercise asks: a task computes its answer, and says of a wrong one why it is wrong.
//
//     offset_of((4,8):(8,1), (1,5))          "13" is right
//     "9"  -> "You gave each number the stride of the other mode. ..."
//
// Nothing is stored: the answer and every number of an explanation come from the layouts. An
// explanation tells what the wrong answer would be right for, not the right answer.
//
// The tasks, with their operands as layout expressions:
//
//     offset_of(L, C)              the offset of a coordinate
//     coordinate_of(L, OFFSET)     a coordinate that has an offset (any of them)
//     index_of(S, C)               the number of a coordinate, first mode fastest
//     size_of(L)  cosize_of(L)     how many coordinates; one more than the largest offset
//     same_function(E [, NOUN])    a layout that answers as E does; NOUN is what it counts
//     composition_at(A, B, I)      A(B(I))
//     composition_of(A, B)         a layout with R(c) == A(B(c))
//     complement_of(L, N)          what L leaves out of [0, N)
//     divide_mode(A, T, K)         mode K of zipped_divide(A, T): 0 a tile, 1 the tiles
//     tile_of(S, T, C)             the number of the tile that a coordinate of S is in
//     thread_at(TV, S, C)          who holds a place of a tile of shape S, and as which value
//     value_at(TV, S, C)
//     place_of(TV, S, THREAD, VALUE)   where a thread's value is in the tile
//     tiles_for(S, T)              how many tiles of shape T cover S
//     predicate_of(S, C)           whether a coordinate is inside S: yes or no
//     outside_of(S, T, TILE)       how many elements of a tile are outside S
//     wrong_element()              an element of the run's output that is wrong
//     wrong_count()                how many are
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/error.h"
#include "core/layout/layout.h"

namespace tilescope {

// What a run left to be judged, for tasks about one; `done` is false where none was compared.
struct RunEvidence {
  bool done = false;
  std::int64_t rows = 0, columns = 0, wrong = 0;
  std::int64_t first_wrong = -1;  // row-major
  struct Element {
    bool wrong = false;
    std::string got, want;
  };
  std::function<Element(std::int64_t row, std::int64_t column)> at;
};

using Reply = std::variant<std::int64_t, Tuple, Layout, bool>;
std::string text(const Reply& answer);

enum class AnswerForm : std::uint8_t { number, coordinate, layout, yes_no };
// "a number, such as 12": what a learner is told who wrote something else.
std::string_view words_of(AnswerForm form);

class Task {
 public:
  // An answer that one comes to by a slip, and what slipped.
  struct Slip {
    Reply answer;
    std::string sentence;
  };

  virtual ~Task() = default;
  virtual AnswerForm form() const = 0;
  // Refused only where there is no answer, as for a run that has not been.
  virtual Outcome<Reply> solution() const = 0;
  virtual bool accepts(const Reply& answer) const;  // as the solution is, where not said otherwise
  virtual std::vector<Slip> slips() const { return {}; }
  virtual std::string explain(const Reply& wrong) const = 0;
};

// "offset_of((4,8):(8,1), (1,5))" as a task. Refused: an unknown name, operands that it does not
// take, expressions without a value.
Outcome<std::unique_ptr<Task>> make_task(std::string_view call, const RunEvidence& evidence);
std::vector<std::string_view> task_names();

// An answer as a learner writes it. Refused with a sentence that says what would be one.
Outcome<Reply> read_answer(AnswerForm form, std::string_view text);

}  // namespace tilescope
