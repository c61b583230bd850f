// A window's session without a window, for tests: commands are done one after another, and a run
// that one starts comes to its end before the next.
#pragma once

#include <gtest/gtest.h>

#include <string_view>

#include "tests/viz/ui_backend.h"
#include "viz/commands/commands.h"
#include "viz/commands/script.h"

namespace tilescope::test {

class SessionTest : public ::testing::Test {
 protected:
  // With `slow` a run goes on until the test ends it.
  Outcome<std::string> act(Session& in, std::string_view line) {
    auto answer = execute(in, backend, line);
    const auto works = [&] {
      return (in.running && !backend.slow) || (in.edit.building && !backend.slow_compiler) ||
             (in.course.check && !backend.slow_judge);
    };
    do {
      while (works()) {
        backend.wait();
        backend.wait_build();
        take_build(in, backend);
        if (in.course.check && !backend.slow_judge) backend.wait_check();
        take_check(in, backend);
        take_result(in, backend);
      }
    } while (continue_script(in, backend) && works());
    return answer;
  }
  Outcome<std::string> act(std::string_view line) { return act(session, line); }
  void must(std::string_view line) {
    const auto answer = act(line);
    ASSERT_TRUE(answer.ok()) << line << ": " << answer.error().sentence;
  }
  // The command is refused with a sentence that has these words, and the choices stay.
  void refused(std::string_view line, std::string_view words) {
    const ViewState before = session.state;
    const std::size_t steps = session.past.size();
    const auto answer = act(line);
    ASSERT_FALSE(answer.ok()) << line;
    EXPECT_NE(answer.error().sentence.find(words), std::string::npos) << answer.error().sentence;
    EXPECT_TRUE(session.state == before) << line;
    EXPECT_EQ(session.past.size(), steps);
    EXPECT_TRUE(session.message.failed);
    EXPECT_EQ(session.message.text, answer.error().sentence);
    EXPECT_FALSE(session.running && !backend.slow);
  }

  Session session;
  FakeBackend backend;
};

}  // namespace tilescope::test
