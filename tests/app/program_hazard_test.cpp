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
    std::string line = "open \"" + at + "broken.ptx\" --launch \"" + at + "launch.toml\"; run";
    for (const std::string& each : commands) line += "; " + each;
    std::filesystem::remove(folder / "d.json");
    ended = run({"gui", "--headless", "--describe", "d.json", "--do", line});
    return exists("d.json") ? json::parse(read("d.json"), nullptr, false) : json();
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
    const std::string message = d["status"];
    EXPECT_EQ(message.rfind("1 hazard: ", 0), 0u) << kind << ": " << message;
    EXPECT_NE(message.find(" ran to its end."), std::string::npos) << message;
    EXPECT_EQ(d["view"], "kernel") << kind << ": no run to be watched as a good one is";
  }
}

TEST_F(Hazard, EveryViewHasAButtonThatLeadsThere) {
  for (const char* view : {"kernel", "theatre", "timeline", "source", "memory"}) {
    const json d = seen("shared_race", {std::string("select ") + view});
    EXPECT_TRUE(says(d["actions"], "1 hazard")) << view << d["actions"].dump();
    EXPECT_TRUE(says(d["actions"], "go report 0")) << view;
  }
  EXPECT_FALSE(says(seen("shared_race", {"open hgemm_v1"})["actions"], "hazard"));
}

TEST_F(Hazard, TheTimelineHasItsFlagAndFindsIt) {
  const json d = seen("shared_race", {"select timeline", "find hazard"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_TRUE(says(d["status"], "hazard: ld reads byte")) << d["status"].dump();
  seen("shared_race", {"find fault"});
  EXPECT_EQ(ended.exit_code, 2) << "there is none";
  EXPECT_TRUE(says(seen("deadlock", {"select timeline", "find fault"})["status"],
                   "Selected CTA 0 warp 1: fault: deadlock"));
}

}  // namespace
}  // namespace tilescope::test
