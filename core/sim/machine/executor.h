// Someone who calculates while the machine goes on: another thread, where there is one.
//
// The machine hands over work whose outcome it does not need yet, and waits for it before anyone
// looks: products of tensor cores, whose sums nobody sees before they are read from TMEM. What a
// task comes to depends on nothing but what it was given, so results and reports are the same bytes
// with an executor and without.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace tilescope::sim {

class Executor {
 public:
  using Task = std::function<void()>;
  virtual ~Executor() = default;

  // Tasks of a line take place one after the other, in the order in which they came.
  virtual std::size_t new_line() = 0;
  // Answers the task's number, which grows along the line. May wait where much is waiting already.
  virtual std::uint64_t submit(std::size_t line, Task task) = 0;
  // Comes back once that task, and all before it in its line, are done.
  virtual void wait(std::size_t line, std::uint64_t task) = 0;
};

}  // namespace tilescope::sim
