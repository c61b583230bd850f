// Lowerings by expression, and what the tests read of them.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/lower/check.h"
#include "core/lower/request.h"

namespace tilescope::lowering::testing {

inline Lowering lowered(const std::string& expression, std::int64_t align = 0) {
  const Outcome<Request> request = request_of(expression, align);
  if (!request) {
    ADD_FAILURE() << expression << ": " << request.error().sentence;
    return {};
  }
  Outcome<Lowering> lowering = lower(*request);
  if (!lowering) {
    ADD_FAILURE() << expression << ": " << lowering.error().sentence;
    return {};
  }
  return *lowering;
}

inline std::string why_not(const std::string& expression) {
  const Outcome<Request> request = request_of(expression);
  if (!request) return request.error().sentence;
  const Outcome<Lowering> lowering = lower(*request);
  return lowering ? "" : lowering.error().sentence;
}

inline std::vector<std::string> lines(const Lowering& l, std::size_t level) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < l.levels[level].statements.size(); ++i) {
    out.push_back(text(l, l.levels[level], static_cast<int>(i)));
  }
  return out;
}

inline bool has(const std::vector<std::string>& lines, const std::string& part) {
  for (const std::string& line : lines) {
    if (line.find(part) != std::string::npos) return true;
  }
  return false;
}

// Every level answers what the algebra answers, for every thread.
inline void expect_right(const Lowering& l, const std::string& what) {
  const Outcome<Checked> checked = check(l);
  ASSERT_TRUE(checked) << what << "\n" << checked.error().sentence;
  EXPECT_EQ(checked->levels, 5) << what;
}

}  // namespace tilescope::lowering::testing
