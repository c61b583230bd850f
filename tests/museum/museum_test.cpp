// Small kernels of ours with bugs of public reports: each is named for what it is in every order
// that its row in museum.tsv lists, and nothing is said of the mended one. A row that is `missed`
// says what the simulator cannot see: it fails on the day that it can.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "core/io/launch_file.h"
#include "core/sim/machine/device.h"

namespace tilescope {
namespace {

namespace fs = std::filesystem;

const fs::path museum = TILESCOPE_TESTS_DIR;

struct Exhibit {
  std::string name, weight;
  std::set<std::string>
      told;  // "shared_race@20": one of these is told, and no other kind; empty: missed
  std::set<std::string> orders;  // as order_name says; empty: all
};
void PrintTo(const Exhibit& exhibit, std::ostream* out) {
  *out << exhibit.name;
}

struct Order {
  std::string name;
  std::uint64_t schedule = 0;
  bool lazy = false;
};
const std::vector<Order> orders = {
    {"default", 0, false}, {"1", 1, false}, {"2", 2, false}, {"3", 3, false}, {"lazy", 0, true}};

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::set<std::string> words(const std::string& text) {
  std::istringstream in(text);
  std::set<std::string> out;
  for (std::string word; in >> word;) out.insert(word);
  return out;
}

std::vector<Exhibit> exhibits() {
  std::vector<Exhibit> out;
  std::ifstream file(museum / "museum.tsv");
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream fields(line);
    Exhibit e;
    std::string told, in;
    std::getline(fields, e.name, '\t');
    std::getline(fields, e.weight, '\t');
    std::getline(fields, told, '\t');
    std::getline(fields, in, '\t');
    if (e.weight != "missed") e.told = words(told);
    if (in != "all") e.orders = words(in);
    out.push_back(e);
  }
  return out;
}

struct Told {
  std::string kind, weight, place, sentence;
};

std::vector<Told> run(const fs::path& folder, const std::string& ptx, const Order& order) {
  const Outcome<LaunchFile> launch =
      parse_launch_file(text_of(folder / "launch.toml"), "launch.toml");
  EXPECT_TRUE(launch.ok()) << (launch.ok() ? "" : launch.error().sentence);
  if (!launch.ok()) return {};
  const Outcome<Job> job = make_job(*launch, {ptx, text_of(folder / ptx)}, {});
  EXPECT_TRUE(job.ok()) << (job.ok() ? "" : job.error().sentence);
  if (!job.ok()) return {};
  sim::Options options;
  options.schedule = order.schedule;
  options.lazy = order.lazy;
  Outcome<std::unique_ptr<Execution>> started = sim::SimDevice(options).start(*job);
  EXPECT_TRUE(started.ok()) << (started.ok() ? "" : started.error().sentence);
  if (!started.ok()) return {};
  RunState state = RunState::running;
  for (int i = 0; i < 100 && state == RunState::running; ++i)
    state = (*started)->advance(1'000'000);
  EXPECT_NE(state, RunState::running) << "it does not end";
  std::vector<Told> out;
  for (const Report& r : (*started)->reports()) {
    const char* weight = r.weight == Weight::fault    ? "fault"
                         : r.weight == Weight::hazard ? "hazard"
                                                      : "note";
    out.push_back({r.kind, weight, r.kind + "@" + std::to_string(r.site.ptx_line), r.sentence});
  }
  return out;
}

class Museum : public testing::TestWithParam<Exhibit> {};

TEST_P(Museum, NamesTheBugAndNotTheMendedKernel) {
  const Exhibit& e = GetParam();
  std::set<std::string> kinds;
  for (const std::string& place : e.told) kinds.insert(place.substr(0, place.find('@')));
  for (const Order& order : orders) {
    SCOPED_TRACE("order " + order.name);
    const std::vector<Told> broken = run(museum / e.name, "broken.ptx", order);
    if (e.told.empty()) {
      for (const Told& t : broken) {
        ADD_FAILURE() << t.kind << " is told, but museum.tsv calls it missed: " << t.sentence;
      }
    } else if (e.orders.empty() || e.orders.count(order.name)) {
      EXPECT_TRUE(std::any_of(broken.begin(), broken.end(), [&](const Told& t) {
        return e.told.count(t.place) > 0;
      })) << "it is told at none of the places";
    }
    for (const Told& t : broken) {
      if (!e.told.empty()) {
        EXPECT_EQ(kinds.count(t.kind), 1u) << t.place << ": " << t.sentence;
      }
    }
    const auto of = [&](const char* weight) {
      return std::count_if(broken.begin(), broken.end(),
                           [&](const Told& t) { return t.weight == weight; });
    };
    if (order.name == "default" && !e.told.empty() &&
        e.orders.count("default") == !e.orders.empty()) {
      EXPECT_EQ(of("fault") ? "fault" : of("hazard") ? "hazard" : "note", e.weight);
    }
    for (const Told& t : run(museum / e.name, "mended.ptx", order)) {
      ADD_FAILURE() << "mended.ptx: " << t.weight << " " << t.place << ": " << t.sentence;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Exhibits, Museum, testing::ValuesIn(exhibits()),
                         [](const auto& which) { return which.param.name; });

// Each folder has its row and each row its folder; a story says where the bug was.
TEST(MuseumTable, IsWhatTheFoldersAre) {
  std::set<std::string> rows, folders;
  for (const Exhibit& e : exhibits()) rows.insert(e.name);
  for (const fs::directory_entry& entry : fs::directory_iterator(museum)) {
    if (entry.is_directory()) folders.insert(entry.path().filename().string());
  }
  EXPECT_EQ(rows, folders);
  EXPECT_GE(rows.size(), 25u);
  for (const std::string& name : folders) {
    const std::string story = text_of(museum / name / "story.md");
    EXPECT_EQ(story.rfind("# ", 0), 0u) << name << " has no title";
    EXPECT_NE(story.find("https://github.com/"), story.npos) << name << " does not say where";
    EXPECT_NE(text_of(museum / name / "broken.ptx"), text_of(museum / name / "mended.ptx")) << name;
  }
}

}  // namespace
}  // namespace tilescope
