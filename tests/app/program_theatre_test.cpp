// `explain handoffs`, and the theatre's page as a browser plays it.
#include <map>
#include <set>
#include <sstream>

#include "tests/app/program.h"

namespace tilescope::test {
namespace {

using nlohmann::json;

class Theatre : public Program {
 protected:
  Theatre() { draws(); }
};

// kernels/blackwell/hgemm_v7.cu: two stages of A and B, 64 elements of K each.
TEST_F(Theatre, HandoffsOfTheWarpSpecialisedProduct) {
  const auto [code, d] =
      run_json({"explain", "handoffs", "hgemm_v7", "--m", "256", "--n", "256", "--k", "512"});
  ASSERT_EQ(code, 0);
  ASSERT_EQ(d["rings"].size(), 1u);
  const json& ring = d["rings"][0];
  EXPECT_EQ(ring["holds"], "A, B");
  ASSERT_EQ(ring["stages"].size(), 2u);
  for (int i = 0; i < 2; ++i) {
    const json& stage = ring["stages"][i];
    EXPECT_EQ(stage["full"], "full[" + std::to_string(i) + "]");
    EXPECT_EQ(stage["free"], "empty[" + std::to_string(i) + "]");
    ASSERT_EQ(stage["uses"].size(), 4u);  // 512 / 64 / 2
    for (int use = 0; use < 4; ++use) {
      const json& u = stage["uses"][use];
      const int step = 2 * use + i, from = 64 * step;
      EXPECT_EQ(u["step"], step);
      EXPECT_EQ(u["bytes"], 32768);  // 2 x 128 x 64 of f16
      EXPECT_EQ(u["phase"], use);
      const std::string k = std::to_string(from) + ":" + std::to_string(from + 64);
      EXPECT_EQ(u["what"], "A [0:128, " + k + "], B [0:128, " + k + "]");
      EXPECT_LT(u["issued"], u["full"]);
      EXPECT_LE(u["full"], u["read_from"]);
      EXPECT_LE(u["read_to"], u["free"]);
      if (use) {
        EXPECT_LE(stage["uses"][use - 1]["free"], u["issued"]);
      }
    }
  }
  ASSERT_EQ(d["accumulators"].size(), 1u);
  EXPECT_EQ(d["accumulators"][0]["complete"], "ready");
  EXPECT_EQ(d["accumulators"][0]["sums"][0]["products"], 32);  // 512 / 16
  EXPECT_EQ(d["accumulators"][0]["sums"][0]["steps"], 8);
  EXPECT_TRUE(d["absent"].empty());
}

// The two dials over the sums have their names beside them, one below the other.
TEST_F(Theatre, NamesOfTheSumsDialsDoNotMeet) {
  const Ended ended = run({"gui", "--headless", "--do",
                           "open hgemm_v7 --m 256 --n 256 --k 256 --grid 1; run; theatre at 4750; "
                           "export theatre.svg",
                           "--screenshot", "a.png"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const std::string svg = read("theatre.svg");
  const auto height = [&](const std::string& name) {
    const std::size_t at = svg.find("\">" + name + "</text>");
    EXPECT_NE(at, svg.npos) << name;
    const std::size_t y = svg.rfind("y=\"", at);
    return at == svg.npos ? 0 : std::stod(svg.substr(y + 3));
  };
  const double letter = 12;
  EXPECT_GT(height("free"), height("ready") + 2 * letter) << "who waits stands below a name";
}

// In a small window each row of a table that is wider is folded into lines: nothing is cut.
TEST_F(Theatre, HandoffsInASmallWindowLoseNothing) {
  const std::string open = "open hgemm_v7 --m 256 --n 256 --k 256; run; select handoffs";
  const auto texts = [&](const std::string& size) {
    const Ended ended =
        run({"gui", "--headless", "--do", open, "--size", size, "--describe", "a.json"});
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    std::string out;
    const auto collect = [&](const auto& self, const json& group) -> void {
      for (const json& text : group.value("texts", json::array())) {
        out += text.get<std::string>() + "\n";
      }
      for (const json& inner : group.value("groups", json::array())) self(self, inner);
    };
    collect(collect, json::parse(read("a.json"))["picture"]);
    return out;
  };
  const std::string wide = texts("2560x1440"), narrow = texts("640x2400");
  EXPECT_FALSE(has(narrow, "\u2026")) << narrow;
  std::istringstream words(wide);
  for (std::string word; words >> word;) EXPECT_TRUE(has(narrow, word)) << word;
}

// 256 tiles on the 148 SMs of a B200: the first CTA has two, one after the other in one
// accumulator.
TEST_F(Theatre, HandoffsOfAPersistentProductTellItsTilesApart) {
  const auto [code, d] =
      run_json({"explain", "handoffs", "hgemm_v8", "--m", "2048", "--n", "2048", "--k", "256"});
  ASSERT_EQ(code, 0);
  ASSERT_EQ(d["accumulators"].size(), 1u);
  const json& a = d["accumulators"][0];
  EXPECT_EQ(a["complete"], "ready");
  EXPECT_EQ(a["drained"], "free");
  ASSERT_EQ(a["sums"].size(), 2u);
  for (const json& sum : a["sums"]) {
    EXPECT_EQ(sum["products"], 16);  // 256 / 16
    EXPECT_EQ(sum["steps"], 4);      // 256 / 64
    ASSERT_EQ(sum["tile"].size(), 4u);
    EXPECT_EQ(sum["tile"][1].get<int>() - sum["tile"][0].get<int>(), 128);
    EXPECT_EQ(sum["tile"][3].get<int>() - sum["tile"][2].get<int>(), 128);
    EXPECT_LE(sum["end"], sum["complete"]);
    EXPECT_LE(sum["complete"], sum["read_from"]);
    EXPECT_LE(sum["read_to"], sum["drained"]);
  }
  EXPECT_NE(a["sums"][0]["tile"], a["sums"][1]["tile"]);
  EXPECT_LE(a["sums"][0]["drained"], a["sums"][1]["begin"]);
}

// A's tile is 64 x 64 and B's 256 x 64 of f16; a wgmma is of a whole warpgroup.
TEST_F(Theatre, HandoffsHaveTheSizesOfCopiesAndAllWarpsOfAProduct) {
  const Ended ended =
      run({"explain", "handoffs", "wgmma_v4", "--m", "256", "--n", "256", "--k", "256"});
  ASSERT_EQ(ended.exit_code, 0);
  EXPECT_TRUE(has(ended.out, "8192 + 32768 bytes")) << ended.out;
  EXPECT_TRUE(has(ended.out, "wgmma.mma_async, warps 4-7")) << ended.out;
}

// Two products of 256 x 256 share B; each is of both CTAs. The last commit of a stage comes closer
// behind the last product than that of the sum, and nobody who reads the sum waits for it.
TEST_F(Theatre, HandoffsOfAPairHaveItsWholeTiles) {
  const auto [code, d] =
      run_json({"explain", "handoffs", "hgemm_v10", "--m", "512", "--n", "512", "--k", "256"});
  ASSERT_EQ(code, 0);
  EXPECT_EQ(d["ctas"], json({0, 1}));
  ASSERT_EQ(d["rings"].size(), 2u);
  EXPECT_EQ(d["rings"][1]["stages"][0]["full"], "full[0] of CTA 0");
  ASSERT_EQ(d["accumulators"].size(), 2u);
  EXPECT_EQ(d["accumulators"][0]["complete"], "ready[0]");
  EXPECT_EQ(d["accumulators"][1]["complete"], "ready[1]");
  EXPECT_EQ(d["accumulators"][0]["sums"][0]["tile"], json({0, 256, 0, 256}));
  EXPECT_EQ(d["accumulators"][1]["sums"][0]["tile"], json({256, 512, 0, 256}));
}

// Two warpgroups share a tile of A, 64 rows each, and take B from two copies, of either CTA.
TEST_F(Theatre, HandoffsOfWarpgroupsTellTheirRowsApart) {
  const auto [code, d] =
      run_json({"explain", "handoffs", "wgmma_v7", "--m", "512", "--n", "512", "--k", "256"});
  ASSERT_EQ(code, 0);
  ASSERT_EQ(d["accumulators"].size(), 4u);
  for (int i = 0; i < 4; ++i) {
    const json& a = d["accumulators"][i];
    EXPECT_EQ(a["in"], "registers");
    EXPECT_EQ(a["cta"], i / 2);
    EXPECT_EQ(a["row"], 4 + 4 * (i % 2));  // its first warp
    EXPECT_EQ(a["sums"][0]["tile"], json({64 * i, 64 * i + 64, 0, 256}));
    EXPECT_EQ(a["sums"][0]["steps"], 4);
  }
}

// Where m is contiguous, K goes down the rows of a copy: the tile is the same.
TEST_F(Theatre, HandoffsOfTransposedOperandsHaveTheSameTiles) {
  json tiles[2];
  for (const int transposed : {0, 1}) {
    Words words = {"run", "dense_gemm", "--m",     "256",       "--n", "256",      "--k",
                   "256", "--tile",     "128x128", "--cluster", "2x2", "--record", "r.tsr"};
    if (transposed) words.insert(words.end(), {"--a-major", "m", "--b-major", "n"});
    const Ended ended = run(words);
    ASSERT_EQ(ended.exit_code, 0) << ended.err;
    const auto [code, d] = run_json({"explain", "handoffs", "r.tsr"});
    ASSERT_EQ(code, 0);
    for (const json& a : d["accumulators"]) tiles[transposed].push_back(a["sums"][0]["tile"]);
    EXPECT_EQ(d["accumulators"][0]["sums"][0]["steps"], 4) << transposed;
  }
  EXPECT_EQ(tiles[0], tiles[1]);
  EXPECT_EQ(tiles[0].size(), 8u);  // two warpgroups of four CTAs
}

TEST_F(Theatre, HandoffsOfARecordAreThoseOfTheRun) {
  const auto direct = run_json({"explain", "handoffs", "wgmma_v4", "--device", "h100"});
  ASSERT_EQ(direct.first, 0);
  ASSERT_EQ(run({"run", "wgmma_v4", "--device", "h100", "--record", "r.tsr"}).exit_code, 0);
  const auto recorded = run_json({"explain", "handoffs", "r.tsr"});
  ASSERT_EQ(recorded.first, 0);
  EXPECT_EQ(recorded.second, direct.second);
  EXPECT_FALSE(recorded.second["rings"].empty());
}

TEST_F(Theatre, HandoffsSaysWhatItCannotDo) {
  EXPECT_EQ(run({"explain", "handoffs", "nosuch"}).exit_code, 2);
  const Ended block = run({"explain", "handoffs", "hgemm_v4", "--block", "9999"});
  EXPECT_EQ(block.exit_code, 2);
  EXPECT_TRUE(has(block.err, "9999")) << block.err;
  const Ended launch = run({"explain", "handoffs", "a.ptx"});
  EXPECT_EQ(launch.exit_code, 2);
  EXPECT_TRUE(has(launch.err, "--launch")) << launch.err;
  EXPECT_EQ(run({"explain", "handoffs", "r.tsr"}).exit_code, 2);
}

TEST_F(Theatre, HandoffsOfTheWindowAreWritten) {
  const std::string opened = "open hgemm_v7 --m 256 --n 256 --k 256; run; ";
  const Ended ended =
      run({"gui", "--headless", "--do", opened + "select handoffs; export h.csv; export h.txt",
           "--describe", "F.json"});
  if (ended.exit_code == 4) SKIP_WHERE_NOTHING_DRAWS(ended.err);
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_TRUE(has(read("h.csv"), "Roles,1,do,"));
  EXPECT_TRUE(has(read("h.txt"), "## Roles"));
  // The timeline's lanes are not here.
  EXPECT_FALSE(has(read("F.json"), "Drag over the lanes"));
  for (const char* view : {"kernel", "theatre", "product"}) {
    const Ended refused =
        run({"gui", "--headless", "--do", opened + "select " + view + "; export x.csv",
             "--describe", "F.json"});
    EXPECT_EQ(refused.exit_code, 2) << view;
    EXPECT_TRUE(has(refused.err, std::string("The ") + view + " view is no table of values"))
        << refused.err;
  }
}

// At the time where it opens, each button leads somewhere.
TEST_F(Theatre, WhatIsOfferedLeadsSomewhere) {
  for (const char* kernel : {"elementwise_add", "hgemm_v7 --m 256 --n 256 --k 256"}) {
    const std::string opened = std::string("open ") + kernel + "; run; select theatre";
    const auto described = [&](const std::string& then) {
      return run({"gui", "--headless", "--do", opened + then, "--describe", "F.json"});
    };
    const Ended ended = described("");
    if (ended.exit_code == 4) SKIP_WHERE_NOTHING_DRAWS(ended.err);
    ASSERT_EQ(ended.exit_code, 0) << ended.err;
    const std::string window = read("F.json");
    EXPECT_TRUE(has(window, "theatre next any"));
    for (const char* step : {"copy", "product", "phase", "load"}) {
      const std::string next = std::string("theatre next ") + step;
      EXPECT_EQ(has(window, "\"" + next + "\""), described("; " + next).exit_code == 0)
          << kernel << ", " << step;
    }
  }
}

TEST_F(Theatre, OnlyTheTheatreIsAFilm) {
  const Ended ended = run({"gui", "--headless", "--open", "preset 9x32", "--do", "export a.html"});
  if (ended.exit_code == 4) SKIP_WHERE_NOTHING_DRAWS(ended.err);
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_TRUE(has(ended.err, "select theatre")) << ended.err;
  EXPECT_TRUE(files().empty());
}

// What a browser paints is taken down letter by letter, and compared with what the page's own data
// say: each tile on its way is painted once, and the further, the longer it has been under way.
TEST_F(Theatre, ThePageIsPlayedByABrowserWithoutANetwork) {
  const Ended made = run({"gui", "--headless", "--open", "hgemm_v7 --m 256 --n 256 --k 256", "--do",
                          "run; select theatre; export page.html"});
  if (made.exit_code == 4) SKIP_WHERE_NOTHING_DRAWS(made.err);
  ASSERT_EQ(made.exit_code, 0) << made.err;
  if (shell("command -v chromium").exit_code != 0) {
    GTEST_SKIP() << "there is no chromium here to play it";
  }
  const std::string asked = R"js(<script>
const seen = [];
const plain = CanvasRenderingContext2D.prototype.fillText;
let frame = null;
CanvasRenderingContext2D.prototype.fillText = function(text, x, y) {
  if (frame) frame.push([text, this.font, x, y]);
  plain.call(this, text, x, y);
};
for (let i = 0; i < tilescope.times.length; ++i) {
  frame = [];
  tilescope.show(i);
  seen.push({time: tilescope.times[i], state: tilescope.states[i], texts: frame});
}
frame = null;
document.body.innerHTML = "";
const out = document.createElement("pre");
out.textContent = "BEGIN" + btoa(unescape(encodeURIComponent(JSON.stringify(seen)))) + "END";
document.body.append(out);
</script>)js";
  std::string page = read("page.html");
  page.insert(page.rfind("</body>"), asked);
  write("asked.html", page);
  const Ended played = shell(
      "chromium --headless --no-sandbox --disable-gpu --no-first-run --user-data-dir=profile "
      "--proxy-server=127.0.0.1:9 --dump-dom file://$PWD/asked.html > dom.txt 2> said.txt; "
      "sed -n 's/.*BEGIN\\(.*\\)END.*/\\1/p' dom.txt | base64 -d > seen.json");
  ASSERT_EQ(played.exit_code, 0) << played.err;
  const json seen = json::parse(read("seen.json"));
  ASSERT_GT(seen.size(), 50u);
  std::size_t tiles = 0, moved = 0;
  std::map<std::string, double> last;  // where a tile on its way was painted before
  for (const json& frame : seen) {
    std::set<std::string> on_the_way;
    for (const json& copy : frame["state"]["copies"]) {
      if (copy["out"].get<bool>() || copy["queued"].get<bool>()) continue;
      const std::string what = copy["what"];
      on_the_way.insert(what.substr(0, what.find(' ')) + " k" +
                        std::to_string(copy["step"].get<int>()));
    }
    for (const std::string& label : on_the_way) {
      // Its place in the stage has its name only when it is there.
      double x = -1;
      int count = 0;
      for (const json& text : frame["texts"]) {
        if (text[0] != label) continue;
        x = text[2];
        ++count;
      }
      EXPECT_EQ(count, 1) << label << " at " << frame["time"];
      ++tiles;
      if (last.count(label)) {
        EXPECT_GT(x, last[label]) << label << " at " << frame["time"];
        ++moved;
      }
      last[label] = x;
    }
  }
  EXPECT_GT(tiles, 40u);
  EXPECT_GT(moved, 30u);
}

}  // namespace
}  // namespace tilescope::test
