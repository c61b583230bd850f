// A run with a hazard, or a fault, is told as such wherever one looks: by the window without a
// display, over the kernels of the manual's pages on faults.
#include <algorithm>

#include "tests/app/program.h"

namespace tilescope::test {
namespace {

using nlohmann::json;

class Hazard : public Program {
 protected:
  Hazard() { draws(); }

  // What the window says after these commands.
  json seen(const std::string& kind, const std::vector<std::string>& commands) {
    const std::string at = std::string(TILESCOPE_SOURCE_DIR) + "/docs/faults/" + kind + "/";
    Words words = {
        "gui",        "--headless",
        "--describe", "d.json",
        "--do",       "open \"" + at + "broken.ptx\" --launch \"" + at + "launch.toml\"; run"};
    for (const std::string& each : commands) {
      words.emplace_back("--do");
      words.push_back(each);
    }
    ended = run(words);
    return json::parse(read("d.json"), nullptr, false);
  }
  static bool says(const json& where, const std::string& text) {
    return where.dump().find(text) != std::string::npos;
  }
  Ended ended;
};

TEST_F(Hazard, ItIsSaidBeforeHowTheRunEnded) {
  for (const char* kind : {"tmem_race", "missing_proxy_fence", "wgmma_fence", "shared_race"}) {
    const json d = seen(kind, {});
    ASSERT_EQ(ended.exit_code, 0) << kind << ended.err;
    const std::string message = d["message"]["text"];
    EXPECT_EQ(message.rfind("1 hazard: ", 0), 0u) << kind << ": " << message;
    EXPECT_NE(message.find(" ran to its end."), std::string::npos) << message;
    EXPECT_TRUE(d["message"]["failed"]) << kind;
    EXPECT_EQ(d["view"]["name"], "kernel") << kind << ": no run to be watched as a good one is";
  }
}

TEST_F(Hazard, EveryViewHasAButtonThatLeadsThere) {
  for (const char* view : {"kernel", "theatre", "timeline", "source", "memory"}) {
    const json d = seen("shared_race", {std::string("select ") + view});
    EXPECT_TRUE(says(d["strip"], "1 hazard")) << view << d["strip"].dump();
    EXPECT_TRUE(says(d["strip"], "go report 0")) << view;
  }
  EXPECT_FALSE(says(seen("shared_race", {"open hgemm_v1"})["strip"], "hazard"));
}

TEST_F(Hazard, TheTimelineHasItsFlagAndFindsIt) {
  const json d = seen("shared_race", {"select timeline", "find hazard"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_TRUE(says(d["message"], "hazard: ld reads byte")) << d["message"].dump();
  EXPECT_TRUE(says(d["view"], "\"!\"")) << "the flag";
  seen("shared_race", {"find fault"});
  EXPECT_EQ(ended.exit_code, 2) << "there is none";
  seen("deadlock", {"select timeline", "find fault"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
}

}  // namespace
}  // namespace tilescope::test
