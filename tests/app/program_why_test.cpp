// `explain why`: the longest chain of real runs, and what their graphs answer when they are timed
// again, beside runs on chips that are so.
#include <cmath>
#include <fstream>
#include <map>

#include "tests/app/program.h"

namespace tilescope::test {
namespace {

using nlohmann::json;

class Why : public Program {
 protected:
  // A chip like this one, some of whose figures are others: "tensor.latency".
  void write_chip(const std::string& name, const std::string& like,
                  const std::map<std::string, double>& factors) {
    std::ifstream file(std::string(TILESCOPE_SOURCE_DIR) + "/assets/devices/" + like + ".toml");
    std::string line, section, out;
    std::size_t changed = 0;
    while (std::getline(file, line)) {
      if (line.starts_with('[')) section = line.substr(1, line.find(']') - 1);
      const std::size_t equals = line.find(" = ");
      const auto factor = equals == std::string::npos
                              ? factors.end()
                              : factors.find(section + "." + line.substr(0, equals));
      if (factor != factors.end()) {
        ++changed;
        line = line.substr(0, equals + 3) +
               std::to_string(std::stod(line.substr(equals + 3)) * factor->second);
      }
      out += line + "\n";
    }
    EXPECT_EQ(changed, factors.size());
    write(name, out);
  }
  // When the chain ends.
  static double end_of(const json& d) { return d["path"].back()["to"].get<double>(); }
};

TEST_F(Why, TheChainIsTheWholeRun) {
  for (const Words& kernel :
       {Words{"elementwise_add"}, Words{"hgemm_v1"}, Words{"hgemm_v4", "--k", "256"},
        Words{"hgemm_v10", "--k", "256"}, Words{"wgmma_v7", "--k", "256"}}) {
    Words words{"explain", "why"};
    words.insert(words.end(), kernel.begin(), kernel.end());
    const auto [code, d] = run_json(words);
    ASSERT_EQ(code, 0) << kernel[0];
    double all = 0, at = 0;
    for (const json& step : d["path"]) {
      EXPECT_EQ(step["from"].get<double>(), at) << kernel[0];
      at = step["to"].get<double>();
    }
    for (const json& total : d["totals"]) all += total.get<double>();
    EXPECT_EQ(all, at) << kernel[0];
    // A launch has some cycles behind its last event.
    EXPECT_LE(at, d["end"].get<double>()) << kernel[0];
    EXPECT_GT(at, 0.5 * d["end"].get<double>()) << kernel[0];
    ASSERT_EQ(d["what_if"].size(), 4u);
    for (const json& answer : d["what_if"]) EXPECT_LE(answer["end"].get<double>(), at);
  }
}

// The graph answers from a run on a usual chip; the other side of each comparison is a run on one
// that is so.
TEST_F(Why, WhatIfIsNearARunOnAChipThatIsSo) {
  write_chip("tensor.toml", "b200",
             {{"tensor.f16", 2}, {"tensor.latency", 0.5}, {"memory.shared_bytes", 2}});
  write_chip("waits.toml", "b200",
             {{"waiting.barrier", 0.5},
              {"waiting.barrier_warp", 0.5},
              {"waiting.mbarrier", 0.5},
              {"waiting.arrive", 0.5},
              {"waiting.remote", 0.5},
              {"waiting.cluster", 0.5},
              {"tensor.commit", 0.5}});
  write_chip("free.toml", "h100",
             {{"tensor.f16", 1000}, {"tensor.latency", 0.001}, {"memory.shared_bytes", 100}});
  struct Case {
    Words kernel;
    std::string option, share, chip;
    double within;
  };
  const Case cases[] = {
      {{"hgemm_v4", "--m", "256", "--n", "256", "--k", "1024"}, "--products", "0.5", "tensor", 0.1},
      {{"hgemm_v7", "--m", "256", "--n", "256", "--k", "1024"}, "--products", "0.5", "tensor", 0.1},
      {{"hgemm_v7", "--m", "256", "--n", "256", "--k", "1024"}, "--barriers", "0.5", "waits", 0.05},
      {{"hgemm_v10", "--m", "512", "--n", "512", "--k", "512"}, "--barriers", "0.5", "waits", 0.05},
      // Warps that multiply wait for no stage on a usual chip: they are late for each.
      {{"wgmma_v7", "--m", "512", "--n", "512", "--k", "1024"}, "--products", "0", "free", 0.1},
  };
  for (const Case& c : cases) {
    Words words{"explain", "why"};
    words.insert(words.end(), c.kernel.begin(), c.kernel.end());
    Words graph = words, chip = words;
    graph.insert(graph.end(), {c.option, c.share});
    chip.insert(chip.end(), {"--device", c.chip + ".toml"});
    const auto [code, usual] = run_json(words);
    ASSERT_EQ(code, 0);
    const double told = end_of(run_json(graph).second), run = end_of(run_json(chip).second);
    EXPECT_NEAR(told / run, 1, c.within) << c.kernel[0] << " " << c.option << ": " << run;
    // Nearer than what nothing would have said, by far or where little changes.
    EXPECT_LE(std::abs(told - run), std::max(0.6 * std::abs(end_of(usual) - run), 0.02 * run))
        << c.kernel[0] << " " << c.option << ": " << end_of(usual) << ", " << told << ", " << run;
  }
}

// Each line is what the same form says by itself.
TEST_F(Why, VariantsAreRunAndSorted) {
  const auto [code, d] = run_json(
      {"explain", "why", "dense_gemm", "--variants", "--m", "128", "--n", "256", "--k", "256"});
  ASSERT_EQ(code, 0);
  ASSERT_GT(d["variants"].size(), 8u);
  double last = 0;
  for (const json& each : d["variants"]) {
    EXPECT_GE(each["end"].get<double>(), last);
    last = each["end"].get<double>();
    const std::string form = each["form"];
    EXPECT_TRUE(has(form, "--tile ") && has(form, "--cluster ")) << form;
    EXPECT_FALSE(has(form, "bf16")) << form;  // the same product
  }
  for (const std::size_t i : {std::size_t{0}, d["variants"].size() - 1}) {
    const json& each = d["variants"][i];
    Words words{"explain", "why", "dense_gemm", "--m", "128", "--n", "256", "--k", "256"};
    std::string form = each["form"];
    for (std::size_t end; !form.empty(); form.erase(0, end == form.npos ? end : end + 1)) {
      end = form.find(' ');
      words.push_back(form.substr(0, end));
    }
    EXPECT_EQ(end_of(run_json(words).second), each["end"].get<double>()) << each["form"];
  }
  const auto [ladder_code, ladder] = run_json(
      {"explain", "why", "wgmma_v7", "--variants", "--m", "256", "--n", "256", "--k", "256"});
  ASSERT_EQ(ladder_code, 0);
  EXPECT_EQ(ladder["variants"].size() + ladder["refused"].size(), 9u);
  // Of the sizes that wgmma_v7 has where nobody says, also those whose own are others.
  const auto [usual_code, usual] = run_json({"explain", "why", "wgmma_v7", "--variants"});
  ASSERT_EQ(usual_code, 0);
  const double own = end_of(run_json({"explain", "why", "wgmma_v7"}).second);
  for (const json& each : usual["variants"]) {
    EXPECT_GT(each["end"].get<double>(), 0.3 * own) << each["form"];
  }
  EXPECT_EQ(run({"explain", "why", "matmul_tiled", "--variants"}).exit_code, 2);
}

TEST_F(Why, WhatCannotBeToldIsSaid) {
  const Words kernel{"hgemm_v7", "--m", "256", "--n", "256", "--k", "512"};
  const auto record = [&](const std::string& file, const Words& how) {
    Words words{"run"};
    words.insert(words.end(), kernel.begin(), kernel.end());
    words.insert(words.end(), {"--record", file});
    words.insert(words.end(), how.begin(), how.end());
    EXPECT_EQ(run(words).exit_code, 0) << file;
  };
  record("lazy.tsr", {"--lazy"});
  const Ended lazy = run({"explain", "why", "lazy.tsr"});
  EXPECT_EQ(lazy.exit_code, 2);
  EXPECT_TRUE(has(lazy.err, "has no time")) << lazy.err;
  record("part.tsr", {"--record-time", "2000:4000"});
  const Ended part = run({"explain", "why", "part.tsr"});
  EXPECT_EQ(part.exit_code, 0);
  EXPECT_TRUE(has(part.err, "were not kept one by one")) << part.err;
  record("whole.tsr", {});
  const Ended whole = run({"explain", "why", "whole.tsr"});
  EXPECT_EQ(whole.exit_code, 0);
  EXPECT_EQ(whole.err, "");

  const std::string faults = std::string(TILESCOPE_SOURCE_DIR) + "/docs/faults/";
  const auto broken = [&](const std::string& kind) {
    return Words{faults + kind + "/broken.ptx", "--launch", faults + kind + "/launch.toml"};
  };
  Words assert_words{"explain", "why"}, dead{"run"};
  for (const std::string& word : broken("assert")) assert_words.push_back(word);
  const Ended fault = run(assert_words);
  EXPECT_EQ(fault.exit_code, 3);
  EXPECT_TRUE(has(fault.err, "its time until then")) << fault.err;
  for (const std::string& word : broken("deadlock")) dead.push_back(word);
  dead.insert(dead.end(), {"--record", "dead.tsr"});
  EXPECT_EQ(run(dead).exit_code, 3);
  // The record has what the run itself says.
  Words again{"explain", "why"};
  for (const std::string& word : broken("deadlock")) again.push_back(word);
  const Ended ran = run(again), recorded = run({"explain", "why", "dead.tsr"});
  EXPECT_EQ(recorded.exit_code, 3);
  EXPECT_EQ(recorded.out, ran.out);
  EXPECT_NE(recorded.out, "");
  again.push_back("--json");
  const Ended as_data = run({"explain", "why", "dead.tsr", "--json"});
  EXPECT_EQ(as_data.out, run(again).out);
  const json told = json::parse(as_data.out);
  std::size_t reasons = 0;
  for (const json& barrier : told["deadlock"]["barriers"]) {
    for (const json& source : barrier["sources"]) {
      for (const json& reason : source["not_come"]) {
        EXPECT_TRUE(reason["lanes"].is_number_unsigned()) << reason;
        ++reasons;
      }
    }
  }
  EXPECT_GT(reasons, 0u);
}

TEST_F(Why, ABadShareIsRefusedWithASentence) {
  for (const char* share : {"-0.1", "1.5", "nan"}) {
    const Ended ended = run({"explain", "why", "hgemm_v1", "--copies", share});
    EXPECT_EQ(ended.exit_code, 2) << share;
    EXPECT_TRUE(has(ended.err, "--copies")) << ended.err;
  }
}

}  // namespace
}  // namespace tilescope::test
