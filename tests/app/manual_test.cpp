// What the manual says, held against what there is. Its faults and hazards: docs/faults/KIND/ has a
// kernel that shows the kind and the same kernel mended, docs/faults/kinds.tsv says what the
// program answers. Nothing that the simulator can tell is missing there.
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "tests/app/program.h"

namespace tilescope::test {
namespace {

namespace fs = std::filesystem;

const fs::path root = TILESCOPE_SOURCE_DIR;
const fs::path faults = root / "docs/faults";

struct Kind {
  std::string name, weight;
  int exit_code = 0, strict_exit_code = 0;
  std::string why_without_files;
};
void PrintTo(const Kind& kind, std::ostream* out) {
  *out << kind.name;
}

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::vector<Kind> kinds(bool with_files) {
  std::vector<Kind> out;
  std::ifstream file(faults / "kinds.tsv");
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream fields(line);
    Kind kind;
    std::string code, strict_code;
    std::getline(fields, kind.name, '\t');
    std::getline(fields, kind.weight, '\t');
    std::getline(fields, code, '\t');
    std::getline(fields, strict_code, '\t');
    std::getline(fields, kind.why_without_files);
    kind.exit_code = std::stoi(code);
    kind.strict_exit_code = std::stoi(strict_code);
    if (kind.why_without_files.empty() == with_files) out.push_back(kind);
  }
  return out;
}

// Every file below `folder` whose name ends so.
std::vector<fs::path> files_below(const fs::path& folder, const std::string& ending) {
  std::vector<fs::path> out;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.size() >= ending.size() && name.substr(name.size() - ending.size()) == ending) {
      out.push_back(entry.path());
    }
  }
  return out;
}

bool is_kind(const std::string& word) {
  return !word.empty() &&
         word.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
}

// The first string of each call of `name` in the text of a source, where it looks like a kind.
void kinds_told(const std::string& text, const std::string& name, std::set<std::string>& out) {
  for (std::size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
    const std::size_t end = text.find(';', at), quote = text.find('"', at);
    if (quote == text.npos || quote > end) continue;
    const std::size_t closing = text.find('"', quote + 1);
    const std::string word = text.substr(quote + 1, closing - quote - 1);
    if (is_kind(word)) out.insert(word);
  }
}

class Manual : public Program {
 protected:
  Words run_words(const Kind& kind, const std::string& file) {
    const fs::path folder = faults / kind.name;
    return {"run", (folder / file).string(), "--launch", (folder / "launch.toml").string()};
  }
};

class ManualKind : public Manual, public ::testing::WithParamInterface<Kind> {};

TEST_P(ManualKind, IsToldOfTheBrokenKernelAndNotOfTheMendedOne) {
  const Kind& kind = GetParam();
  const Words broken = run_words(kind, "broken.ptx");
  const auto [code, document] = run_json(broken);
  EXPECT_EQ(code, kind.exit_code);
  ASSERT_EQ(document["reports"].size(), 1u) << document.dump(2);
  EXPECT_EQ(document["reports"][0]["kind"], kind.name);
  EXPECT_EQ(document["reports"][0]["weight"], kind.weight);

  Words strict = broken;
  strict.push_back("--strict");
  EXPECT_EQ(run(strict).exit_code, kind.strict_exit_code);

  Words mended = run_words(kind, "mended.ptx");
  mended.push_back("--strict");
  const auto [mended_code, mended_document] = run_json(mended);
  EXPECT_EQ(mended_code, 0) << mended_document.dump(2);
  EXPECT_TRUE(mended_document["reports"].empty()) << mended_document.dump(2);
}

INSTANTIATE_TEST_SUITE_P(Faults, ManualKind, ::testing::ValuesIn(kinds(true)),
                         [](const auto& which) { return which.param.name; });

// What the window has titles for, what the simulator's sources and its tests report.
TEST_F(Manual, HasEveryKindThatIsTold) {
  std::set<std::string> titled, told;
  for (const fs::path& file : files_below(root / "viz", "findings.cpp")) {
    kinds_told(text_of(file), "Finding{", titled);
  }
  EXPECT_GT(titled.size(), 40u) << "the table of titles has moved";
  for (const fs::path& file : files_below(root / "core/sim", ".cpp")) {
    for (const char* call : {"fault(", "fault_at(", "hazard(", "hazard_at(", "note("}) {
      kinds_told(text_of(file), call, told);
    }
  }
  EXPECT_GT(told.size(), 40u) << "the simulator reports in another way";
  for (const fs::path& file : files_below(root / "tests/sim/programs", ".ptx")) {
    std::istringstream lines(text_of(file));
    for (std::string line; std::getline(lines, line);) {
      for (const std::string key :
           {"// expect-fault: ", "// expect-hazard: ", "// expect-note: "}) {
        if (line.rfind(key, 0) != 0) continue;
        told.insert(line.substr(key.size(), line.find_first_of(" |\r", key.size()) - key.size()));
      }
    }
  }
  std::set<std::string> listed;
  for (const bool with_files : {true, false}) {
    for (const Kind& kind : kinds(with_files)) listed.insert(kind.name);
  }
  for (const std::string& name : listed) {
    EXPECT_EQ(titled.count(name), 1u) << name << " has no title in viz/machine/findings.cpp";
  }
  told.insert(titled.begin(), titled.end());
  for (const std::string& name : told) {
    EXPECT_EQ(listed.count(name), 1u)
        << name << " is told, and docs/faults/kinds.tsv does not have it: it wants a folder with "
        << "broken.ptx, mended.ptx and launch.toml, and a section of docs/manual/faults";
  }
}

// A section for each, which shows its kernel.
TEST_F(Manual, ExplainsEveryKind) {
  std::string pages;
  for (const fs::path& page : files_below(root / "docs/manual/faults", ".md")) {
    pages += text_of(page);
  }
  for (const Kind& kind : kinds(true)) {
    EXPECT_TRUE(has(pages, "\n### " + kind.name + "\n")) << kind.name;
    EXPECT_TRUE(has(pages, "\n<!-- kernel " + kind.name + " -->\n")) << kind.name;
  }
  for (const Kind& kind : kinds(false)) EXPECT_TRUE(has(pages, "`" + kind.name + "`")) << kind.name;
}

// The launch file of the manual is one: with its kernel it runs.
// A figure of a device that is not measured by itself, by file and name: "h200 tensor.issue" ->
// SPLIT.
using Marked = std::map<std::string, std::string>;

const std::map<std::string, std::string>& marks() {
  static const std::map<std::string, std::string> all = {
      {"FITTED", "**fitted**"},
      {"SPLIT", "**split**"},
      {"ASSUMED", "**assumed**"},
      {"SAME OPERATION", "**measured on the same operation**"}};
  return all;
}

// As comments of the device files say it, in the line of the figure.
Marked marked_in_files() {
  Marked out;
  for (const char* device : {"a100", "b200", "gb300", "h100", "h200", "rtx5090"}) {
    std::ifstream file(root / "assets/devices" / (std::string(device) + ".toml"));
    std::string table;
    for (std::string line; std::getline(file, line);) {
      if (line[0] == '[') table = line.substr(1, line.find(']') - 1);
      const std::size_t equals = line.find(" = "), comment = line.find("# ");
      if (equals == line.npos || comment == line.npos || equals > comment) continue;
      for (const auto& [mark, words] : marks()) {
        if (line.compare(comment + 2, mark.size(), mark) != 0) continue;
        out[std::string(device) + " " + table + "." + line.substr(0, equals)] = mark;
      }
    }
  }
  return out;
}

// As the manual's table says it: | `issue`, `latency` of `[tensor]` | h200, b200 | **split** of ...
// |
Marked marked_in_manual() {
  Marked out;
  std::ifstream page(root / "docs/manual/timing.md");
  for (std::string line; std::getline(page, line);) {
    std::istringstream cells(line);
    std::string empty, figures, devices, why;
    std::getline(cells, empty, '|');
    std::getline(cells, figures, '|');
    std::getline(cells, devices, '|');
    std::getline(cells, why);
    std::vector<std::string> names;
    std::string table, mark;
    for (std::size_t at = figures.find('`'); at != figures.npos;) {
      const std::size_t end = figures.find('`', at + 1);
      const std::string name = figures.substr(at + 1, end - at - 1);
      if (name[0] == '[') {
        table = name.substr(1, name.size() - 2) + ".";
      } else {
        names.push_back(name);
      }
      at = figures.find('`', end + 1);
    }
    for (const auto& [each, words] : marks()) {
      if (why.rfind(" " + words, 0) == 0) mark = each;
    }
    if (mark.empty()) continue;
    for (const char* device : {"a100", "b200", "gb300", "h100", "h200", "rtx5090"}) {
      if (!has(devices, device)) continue;
      for (const std::string& name : names) out[device + (" " + table) + name] = mark;
    }
  }
  return out;
}

// Where a figure has a name of its own, the manual leaves out the table that it stands in.
TEST_F(Manual, SaysOfEachFigureWhetherItIsFittedAsItsFileDoes) {
  Marked manual = marked_in_manual();
  for (const auto& [figure, mark] : marked_in_files()) {
    const std::size_t blank = figure.find(' '), dot = figure.find('.');
    const std::string brief = figure.substr(0, blank + 1) + figure.substr(dot + 1);
    const auto row = manual.count(figure) ? manual.find(figure) : manual.find(brief);
    ASSERT_NE(row, manual.end()) << figure << " is " << mark
                                 << "; docs/manual/timing.md has no row";
    EXPECT_EQ(row->second, mark) << figure;
    manual.erase(row);
  }
  for (const auto& [figure, mark] : manual) {
    ADD_FAILURE() << "docs/manual/timing.md calls " << figure << " " << mark
                  << ", its file does not";
  }
}

TEST_F(Manual, ItsLaunchFileRuns) {
  const std::string page = text_of(root / "docs/manual/launch-files.md");
  const std::string begin = "```toml title=\"add.toml\"\n";
  const std::size_t at = page.find(begin);
  ASSERT_NE(at, page.npos);
  const std::size_t first = at + begin.size();
  write("add.toml", page.substr(first, page.find("```", first) - first));
  write("A.npy", npy(3, 5, numbers(15, 1)));
  const Ended ended = run({"run", (root / "assets/ptx/elementwise_add.ptx").string(), "--launch",
                           "add.toml", "--strict"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_TRUE(exists("C.npy"));
}

}  // namespace
}  // namespace tilescope::test
