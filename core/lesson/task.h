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
//
// From the exercise's own numbers:
//
//     number_of(N [, NOUN])        the number N; NOUN is what it counts
//     coordinate_is(C)             the coordinate C, of two numbers or more
//     whether(N)                   yes, where N is not 0
//     choice_of(RIGHT, OTHER...)   one of these words
//
// About memory; SWIZZLE is none, 32B, 64B or 128B, as tensor copies and descriptors name them:
//
//     bank_of(BYTE [, SWIZZLE])    the bank of a byte of shared memory
//     ways_of(L, BYTES [, SWIZZLE])    wavefronts of a warp: lane l moves BYTES bytes at L(l) x
//     BYTES swizzle_for(ROWS, BYTES)     what serves 16 bytes of each of ROWS rows of BYTES bytes
//     soonest sectors_of(L, BYTES)         sectors of global memory that such a warp touches
//     box_for(ROWS, COLUMNS, BYTES, SWIZZLE)   the box, (columns,rows), that brings a tile with the
//                                  fewest tensor copies
//     desc_field(start, BYTE)      a field of a shared memory descriptor, in its units; sbo: the
//     desc_field(sbo, ROWS, COLUMNS, BYTES, SWIZZLE)   stride of 8 rows; advance: of a k-step
//     idesc_of(D, A, B, M, N)      tcgen05's instruction descriptor: idesc_of(f32, f16, f16, 128,
//     256)
//
// About the open kernel's run, CTA 0 of it; BARRIER is named as the views name it:
//
//     bytes_expected(BARRIER, PHASE)   bytes that this phase waits for; phases count from 0
//     arrivals_expected(BARRIER)   arrivals that complete a phase
//     parity_at(BARRIER, CYCLE)    the parity of the phase that runs then
//     stage_read(CYCLE)            the stage that the product under way reads, or none
//     step_read(CYCLE)             its k-step, or none
//     waits_for(WARP, CYCLE)       the barrier that a warp waits for, or none
//     stages_of()                  how many stages the ring has
//     bound_of([WORD...])          what bounds it; may be answered before the run, and is judged
//                                  then. WORDs are those that are offered, all where none is named
//     stuck_barrier() stuck_warp() of a deadlock: a barrier that somebody waits for; one who does
//     stuck_barrier(cause)         the one for which nobody is left: others are waited for because
//                                  of it
//     fault_line()                 the source line of the first fault, else hazard
//     bug_line(FILE)               a line of its source that FILE, the right one, does not have
//
// Judged by a run of their own:
//
//     order_of(NAME)               letters: the pieces of lessons/NAME.ptx in an order that is
//     right,
//                                  run by lessons/NAME.toml
//     faster_than(KERNEL, PERCENT, TRY...)   options with which the kernel takes so much of its
//     time
//                                  at most; TRY are such, and whoever asks is told the first that
//                                  does. Only options that some TRY has are taken, so that less
//                                  work, other types or another chip are no answer
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/error.h"
#include "core/layout/layout.h"
#include "core/lesson/run_facts.h"

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

  std::shared_ptr<const RunFacts> facts;  // null: nothing has run
  Workshop workshop;
};

// Words, orders and options are texts.
using Reply = std::variant<std::int64_t, Tuple, Layout, bool, std::string>;
std::string text(const Reply& answer);

enum class AnswerForm : std::uint8_t {
  number,
  coordinate,
  layout,
  yes_no,
  word,     // a name, with single blanks in it
  order,    // letters, as "b a c"
  options,  // as a command line has them
};
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
  virtual std::string form_words() const { return std::string(words_of(form())); }
  // What is to be put in order, a line each.
  virtual std::vector<std::string> choices() const { return {}; }
  // It may be answered now, and can be judged only when the kernel has run.
  virtual bool predicts() const { return false; }
  // Refused only where there is no answer, as for a run that has not been.
  virtual Outcome<Reply> solution() const = 0;
  // Why it cannot be judged; where a solution has to be looked for, without looking.
  virtual std::optional<Error> problem() const;
  virtual bool accepts(const Reply& answer) const;  // as the solution is, where not said otherwise
  virtual std::string praise(const Reply&) const { return "Right."; }
  virtual std::vector<Slip> slips() const { return {}; }
  virtual std::string explain(const Reply& wrong) const = 0;
};

// "offset_of((4,8):(8,1), (1,5))" as a task. Refused: an unknown name, operands that it does not
// take, expressions without a value.
Outcome<std::unique_ptr<Task>> make_task(std::string_view call, const RunEvidence& evidence);
std::vector<std::string_view> task_names();
// Whether there is an answer only where a kernel has run, or somebody can run one.
bool needs_a_run(std::string_view call);

// An answer as a learner writes it. Refused with a sentence that says what would be one.
Outcome<Reply> read_answer(AnswerForm form, std::string_view text);

}  // namespace tilescope
