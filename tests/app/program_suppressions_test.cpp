// Hazards that somebody has looked at and wants to hear no more of.
#include "tests/app/program.h"

namespace tilescope::test {
namespace {

class Suppressions : public Program {
 protected:
  Words words(std::string kind, Words more) {
    const std::string at = std::string(TILESCOPE_SOURCE_DIR) + "/docs/faults/" + kind + "/";
    Words out = {"run", at + "broken.ptx", "--launch", at + "launch.toml", "--strict"};
    out.insert(out.end(), more.begin(), more.end());
    return out;
  }
  // The rules that a run prints, each with a reason.
  std::string reasoned(const std::string& kind) {
    const Ended printed = run(words(kind, {"--generate-suppressions"}));
    EXPECT_EQ(printed.exit_code, 3);
    std::string rules = printed.out.substr(0, printed.out.find(" on sim"));
    rules = rules.substr(0, rules.rfind('\n') + 1);
    const std::string empty = "reason = \"\"";
    for (std::size_t at; (at = rules.find(empty)) != rules.npos;) {
      rules.replace(at, empty.size(), "reason = \"looked at\"");
    }
    return rules;
  }
};

TEST_F(Suppressions, ARuleThatARunPrintsSilencesIt) {
  for (const char* kind : {"shared_race", "missing_proxy_fence"}) {
    const std::string rules = reasoned(kind);
    EXPECT_TRUE(has(rules, std::string("kind = \"") + kind + '"')) << rules;
    write("known.toml", rules);
    const Ended ended = run(words(kind, {"--suppressions", "known.toml"}));
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    EXPECT_FALSE(has(ended.err, "hazard (")) << ended.err;
    EXPECT_TRUE(has(ended.err, "by known.toml:1:1: looked at")) << ended.err;
    const auto [code, document] = run_json(words(kind, {"--suppressions", "known.toml"}));
    EXPECT_EQ(code, 0);
    EXPECT_TRUE(document["reports"].empty()) << document["reports"].dump();
    EXPECT_EQ(document["suppressed"][0]["reason"], "looked at");
    EXPECT_GE(document["suppressed"][0]["count"], 1);
  }
}

TEST_F(Suppressions, OfOtherKernelsLinesAndKindsSilenceNothing) {
  for (const char* rule :
       {"kind = \"global_race\"", "kind = \"shared_race\"\nkernel = \"other*\"",
        "kind = \"shared_race\"\nptx_line = 1", "kind = \"shared_race\"\nsource = \"x.cu\""}) {
    write("known.toml", std::string("[[suppress]]\nreason = \"r\"\n") + rule + "\n");
    const Ended ended = run(words("shared_race", {"--suppressions", "known.toml"}));
    EXPECT_EQ(ended.exit_code, 3) << rule;
    EXPECT_FALSE(has(ended.err, "silenced")) << ended.err;
  }
}

TEST_F(Suppressions, AFaultIsNeverSilenced) {
  write("all.toml", "[[suppress]]\nkind = \"*\"\nreason = \"all of it\"\n");
  const Ended ended = run(words("deadlock", {"--suppressions", "all.toml"}));
  EXPECT_EQ(ended.exit_code, 3);
  EXPECT_TRUE(has(ended.err, "fault (deadlock)")) << ended.err;
}

TEST_F(Suppressions, ABadFileGetsASentence) {
  const std::pair<const char*, const char*> cases[] = {
      {"[[suppress]]\nreason = \"r\"\n", "has no kind"},
      {"[[suppress]]\nkind = \"shared_race\"\n", "has no reason"},
      {"[[suppress]]\nkind = 5\n", "bad.toml:2"},
      {"[[hush]]\nkind = \"*\"\n", "hush"},
      {"[[suppress]]\nkind = \"*\"\nline = 0\nreason = \"r\"\n", "line"},
  };
  for (const auto& [text, part] : cases) {
    write("bad.toml", text);
    const Ended ended = run(words("shared_race", {"--suppressions", "bad.toml"}));
    EXPECT_EQ(ended.exit_code, 2) << text;
    EXPECT_TRUE(has(ended.err, part)) << ended.err;
  }
  EXPECT_EQ(run(words("shared_race", {"--suppressions", "none.toml"})).exit_code, 2);
}

}  // namespace
}  // namespace tilescope::test
