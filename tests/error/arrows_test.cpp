// The arrows of the design, checked on the sources themselves: which room may include which, what
// core and the web set must not touch, and what lies at the top level.
//
// A room is a folder. To let one know another, or to add one, change the table below: it is the
// design's picture of the house, so think first.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

const fs::path root = TILESCOPE_SOURCE_DIR;

// Whom each room may include besides itself. Inside core: layout <- tensor <- language, sim; ptx <-
// sim; run between them; io on top. viz and kernels meet in app only.
const std::map<std::string, Names> may_know = {
    {"core", {}},  // core/error.h
    {"core/layout", {}},
    {"core/numeric", {"core"}},
    {"core/tensor", {"core", "core/layout", "core/numeric"}},
    {"core/language", {"core", "core/layout", "core/numeric", "core/tensor"}},
    {"core/lower", {"core", "core/layout", "core/tensor", "core/language", "core/ptx"}},
    {"core/lesson", {"core", "core/layout", "core/tensor", "core/language"}},
    {"core/ptx", {"core", "core/numeric"}},
    {"core/run", {"core", "core/layout", "core/numeric", "core/ptx"}},
    {"core/diff", {"core", "core/numeric", "core/run"}},
    {"core/record", {"core", "core/numeric", "core/run"}},
    {"core/profile", {"core", "core/run", "core/record"}},
    {"core/sim",
     {"core", "core/layout", "core/numeric", "core/tensor", "core/ptx", "core/run", "core/record"}},
    {"core/io",
     {"core", "core/layout", "core/numeric", "core/tensor", "core/ptx", "core/run", "core/diff",
      "core/record", "core/profile", "core/sim"}},
    {"kernels/device", {"core/layout", "core/tensor"}},
    {"kernels/elementwise", {"core/layout", "core/tensor", "kernels/device"}},
    {"kernels/lessons", {"core/layout", "core/tensor", "kernels/device"}},
    {"kernels/matmul", {"core/layout", "core/tensor", "kernels/device"}},
    {"kernels/hopper", {"core/layout", "core/tensor", "kernels/device"}},
    {"kernels/blackwell", {"core/layout", "core/tensor", "kernels/device"}},
    {"kernels/reference", {"core", "core/numeric", "core/run"}},
    {"kernels/catalog",
     {"core", "core/layout", "core/numeric", "core/tensor", "core/run", "kernels/reference"}},
    {"kernels/gpu", {"core", "core/numeric", "core/ptx", "core/run"}},
    {"viz/scene", {"core", "core/layout", "core/language", "core/numeric", "core/run"}},
    {"viz/layout",
     {"core", "core/layout", "core/language", "core/numeric", "core/tensor", "viz/scene"}},
    {"viz/lower", {"core", "core/layout", "core/tensor", "core/lower", "viz/scene"}},
    {"viz/course", {"core", "core/lesson", "viz/scene"}},
    {"viz/matrix", {"core", "core/numeric", "core/run", "core/diff", "viz/scene"}},
    {"viz/timeline",
     {"core", "core/numeric", "core/run", "core/record", "core/profile", "viz/scene"}},
    {"viz/theatre",
     {"core", "core/layout", "core/numeric", "core/run", "core/record", "core/profile",
      "viz/scene"}},
    {"viz/why", {"core", "core/numeric", "core/run", "core/record", "core/profile", "viz/scene"}},
    {"viz/product",
     {"core", "core/numeric", "core/ptx", "core/run", "core/record", "core/profile", "core/sim",
      "viz/scene"}},
    {"viz/machine",
     {"core", "core/layout", "core/numeric", "core/tensor", "core/ptx", "core/run", "core/diff",
      "core/record", "core/profile", "core/sim", "viz/scene"}},
    {"viz/session",
     {"core",        "core/layout",  "core/language", "core/lower", "core/lesson", "core/numeric",
      "core/tensor", "core/ptx",     "core/run",      "core/diff",  "core/record", "core/profile",
      "core/sim",    "core/io",      "viz/scene",     "viz/layout", "viz/lower",   "viz/course",
      "viz/matrix",  "viz/timeline", "viz/theatre",   "viz/why",    "viz/product", "viz/machine"}},
    {"viz/commands",
     {"core",         "core/layout",  "core/language", "core/lower",  "core/lesson",
      "core/numeric", "core/tensor",  "core/ptx",      "core/run",    "core/diff",
      "core/record",  "core/profile", "core/sim",      "core/io",     "viz/scene",
      "viz/layout",   "viz/lower",    "viz/course",    "viz/matrix",  "viz/timeline",
      "viz/theatre",  "viz/why",      "viz/product",   "viz/machine", "viz/session"}},
    {"viz/paint", {"core", "core/layout", "core/numeric", "viz/scene"}},
    {"viz/ui",
     {"core", "core/layout", "core/numeric", "core/run", "core/diff", "core/record", "viz/scene",
      "viz/layout", "viz/lower", "viz/course", "viz/matrix", "viz/timeline", "viz/theatre",
      "viz/why", "viz/product", "viz/machine", "viz/session", "viz/commands"}},
    {"assets", {}},
    {"app/cuda", {}},
    {"app/cuda_capture", {"app/cuda"}},
    {"app/python",
     {"app", "core", "core/diff", "core/language", "core/layout", "core/tensor", "core/ptx",
      "core/run", "core/io", "core/record", "core/profile", "core/sim", "core/numeric",
      "kernels/catalog", "viz/machine", "viz/paint"}},
    {"app",
     {"app/cuda_capture",  "app/cuda",        "core",        "core/layout",  "core/language",
      "core/lower",        "core/lower",      "core/lesson", "core/numeric", "core/tensor",
      "core/ptx",          "core/run",        "core/diff",   "core/sim",     "core/io",
      "kernels/reference", "kernels/catalog", "kernels/gpu", "viz/scene",    "viz/layout",
      "viz/lower",         "viz/course",      "viz/matrix",  "viz/timeline", "viz/theatre",
      "viz/why",           "viz/product",     "viz/machine", "viz/session",  "viz/commands",
      "viz/paint",         "viz/ui",          "assets",      "core/record",  "core/profile"}},
};

// Headers of others that a folder and all below it must not include, and why. A name that ends in
// "*" stands for all that begin so.
struct Ban {
  std::string folder;
  Names headers;
  std::string why;
};

const Names files = {"filesystem", "fstream",  "iostream", "cstdio",
                     "stdio.h",    "unistd.h", "fcntl.h"};
const Names threads = {"thread", "mutex", "shared_mutex", "condition_variable", "future"};
const Names cuda = {"cuda*", "nvrtc*", "cute/*", "cutlass/*"};
const Names screen = {"GL/*", "GLES*", "EGL/*", "GLFW/*", "X11/*", "imgui*"};
const Names cairo = {"cairo*", "ft2build.h", "freetype/*"};
const Names too_new = {"format",          "expected",        "ranges",     "coroutine",
                       "source_location", "memory_resource", "stop_token", "generator"};

const std::vector<Ban> bans = {
    {"core", files, "core opens no files and prints nothing: only app does"},
    {"core", threads, "core needs no thread: its caller may have some"},
    {"core", cuda, "core knows no CUDA"},
    {"core", screen, "core draws nothing"},
    {"core", cairo, "core draws nothing"},
    {"app/python", screen, "the Python module has no window"},
    {"viz", files, "viz makes bytes: only app opens files"},
    {"viz", cuda, "viz and kernels do not know each other"},
    {"viz/scene", screen, "a scene is drawn by painters: it knows none"},
    {"viz/scene", cairo, "a scene is drawn by painters: it knows none"},
    {"viz/layout", screen, "a scene is drawn by painters: it knows none"},
    {"viz/layout", cairo, "a scene is drawn by painters: it knows none"},
    {"viz/lower", screen, "a scene is drawn by painters: it knows none"},
    {"viz/lower", cairo, "a scene is drawn by painters: it knows none"},
    {"viz/lower", too_new, "the web's compiler does not have it"},
    {"viz/course", screen, "a scene is drawn by painters: it knows none"},
    {"viz/course", cairo, "a scene is drawn by painters: it knows none"},
    {"viz/matrix", screen, "a scene is drawn by painters: it knows none"},
    {"viz/matrix", cairo, "a scene is drawn by painters: it knows none"},
    {"viz/theatre", screen, "a scene is drawn by painters: it knows none"},
    {"viz/why", screen, "a scene is drawn by painters: it knows none"},
    {"viz/theatre", cairo, "a scene is drawn by painters: it knows none"},
    {"viz/why", cairo, "a scene is drawn by painters: it knows none"},
    {"viz/product", screen, "a scene is drawn by painters: it knows none"},
    {"viz/product", cairo, "a scene is drawn by painters: it knows none"},
    {"viz/timeline", screen, "a scene is drawn by painters: it knows none"},
    {"viz/timeline", cairo, "a scene is drawn by painters: it knows none"},
    {"viz/machine", screen, "a scene is drawn by painters: it knows none"},
    {"viz/machine", cairo, "a scene is drawn by painters: it knows none"},
    {"viz/session", screen, "a scene is drawn by painters: it knows none"},
    {"viz/session", cairo, "a scene is drawn by painters: it knows none"},
    {"viz/commands", screen, "a scene is drawn by painters: it knows none"},
    {"viz/commands", cairo, "a scene is drawn by painters: it knows none"},
    {"viz/paint", screen, "painting needs no window"},
    {"kernels", screen, "viz and kernels do not know each other"},
    {"kernels/catalog", cuda, "the catalog is plain C++"},
    {"kernels/reference", cuda, "a reference is plain C++, apart from what it judges"},
    {"core", too_new, "the web's compiler does not have it"},
    {"viz/scene", too_new, "the web's compiler does not have it"},
    {"viz/layout", too_new, "the web's compiler does not have it"},
    {"viz/course", too_new, "the web's compiler does not have it"},
    {"viz/matrix", too_new, "the web's compiler does not have it"},
    {"viz/theatre", too_new, "the web's compiler does not have it"},
    {"viz/why", too_new, "the web's compiler does not have it"},
    {"viz/product", too_new, "the web's compiler does not have it"},
    {"viz/timeline", too_new, "the web's compiler does not have it"},
    {"viz/machine", too_new, "the web's compiler does not have it"},
    {"viz/session", too_new, "the web's compiler does not have it"},
    {"viz/commands", too_new, "the web's compiler does not have it"},
    {"viz/paint", too_new, "the web's compiler does not have it"},
    {"kernels/catalog", too_new, "the web's compiler does not have it"},
    {"kernels/reference", too_new, "the web's compiler does not have it"},
};

bool matches(const Names& patterns, const std::string& name) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    const bool open = pattern.back() == '*';
    return open ? name.compare(0, pattern.size() - 1, pattern, 0, pattern.size() - 1) == 0
                : name == pattern;
  });
}

struct Include {
  std::string name;
  bool quoted = false;
  int line = 0;
};

// The lines of the form  # include <name>  or  # include "name".
std::vector<Include> includes_of(const fs::path& file) {
  std::vector<Include> found;
  std::ifstream in(file);
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    std::string text;
    for (char c : line) {
      if (c != ' ' && c != '\t') text += c;
    }
    const std::string start = "#include";
    if (text.compare(0, start.size(), start) != 0 || text.size() < start.size() + 3) continue;
    const bool quoted = text[start.size()] == '"';
    const std::size_t end = text.find(quoted ? '"' : '>', start.size() + 1);
    found.push_back({text.substr(start.size() + 1, end - start.size() - 1), quoted, number});
  }
  return found;
}

// Every C++ and CUDA source outside tests, as a path from the root.
std::vector<std::string> sources() {
  const std::set<std::string> kinds = {".h", ".cpp", ".cu", ".cuh"};
  std::vector<std::string> found;
  for (const char* top : {"core", "kernels", "viz", "app", "assets"}) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / top)) {
      if (kinds.count(entry.path().extension().string()) != 0) {
        found.push_back(fs::relative(entry.path(), root).generic_string());
      }
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

// The room that a file lies in: its folder, or for core/sim/lanes/add.h the folder above that is in
// the table. What lies in a folder of core that is not in the table has no room: the folder's name
// is answered.
std::string room_of(const std::string& file) {
  const std::string folder = fs::path(file).parent_path().generic_string();
  for (std::string room = folder; room.find('/') != std::string::npos;
       room = fs::path(room).parent_path().generic_string()) {
    if (may_know.count(room) != 0) return room;
  }
  return folder;
}

bool lies_in(const std::string& file, const std::string& folder) {
  return file.compare(0, folder.size() + 1, folder + "/") == 0;
}

bool has(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

TEST(Arrows, EverySourceLiesInARoomOfTheTable) {
  for (const std::string& file : sources()) {
    EXPECT_EQ(may_know.count(room_of(file)), 1u)
        << file << " lies in " << room_of(file) << ", which is no room of the design";
  }
}

TEST(Arrows, ARoomIncludesOnlyRoomsThatItMayKnow) {
  for (const std::string& file : sources()) {
    const auto room = may_know.find(room_of(file));
    if (room == may_know.end()) continue;  // told by the test above
    for (const Include& include : includes_of(root / file)) {
      if (!include.quoted) continue;
      const std::string other = room_of(include.name);
      EXPECT_TRUE(other == room->first || has(room->second, other))
          << file << ":" << include.line << " includes \"" << include.name << "\": " << room->first
          << " must not know " << (other.empty() ? "it" : other)
          << ". A path is written from the repository's root; what is not ours goes in <>.";
    }
  }
}

TEST(Arrows, NoRoomKnowsItselfThroughOthers) {
  // Rooms leave the picture once all that they know have left: with a circle, some never do.
  std::map<std::string, Names> left = may_know;
  for (bool moved = true; moved;) {
    moved = false;
    for (auto room = left.begin(); room != left.end();) {
      const bool free = std::none_of(room->second.begin(), room->second.end(),
                                     [&](const std::string& other) { return left.count(other); });
      moved = moved || free;
      room = free ? left.erase(room) : std::next(room);
    }
  }
  for (const auto& [room, known] : left) ADD_FAILURE() << room << " stands in a circle of arrows";
}

TEST(Arrows, NoRoomTouchesWhatIsBannedThere) {
  for (const std::string& file : sources()) {
    for (const Include& include : includes_of(root / file)) {
      for (const Ban& ban : bans) {
        EXPECT_FALSE(!include.quoted && lies_in(file, ban.folder) &&
                     matches(ban.headers, include.name))
            << file << ":" << include.line << " includes <" << include.name << ">: " << ban.why;
      }
    }
  }
}

// The layout value goes into CUDA kernels, so what it includes must exist there.
TEST(Arrows, TheLayoutValueNeedsThreeHeadersOfTheLibrary) {
  const std::set<std::string> allowed = {"array", "cstdint", "type_traits"};
  std::vector<std::string> reached = {"core/layout/layout.h", "core/layout/algebra.h"};
  for (std::size_t next = 0; next < reached.size(); ++next) {
    const std::string file = reached[next];
    const std::vector<Include> includes = includes_of(root / file);
    ASSERT_TRUE(fs::exists(root / file)) << file;
    for (const Include& include : includes) {
      if (include.quoted) {
        EXPECT_TRUE(lies_in(include.name, "core/layout")) << file << ":" << include.line;
        if (!has(reached, include.name)) reached.push_back(include.name);
      } else {
        EXPECT_EQ(allowed.count(include.name), 1u)
            << file << ":" << include.line << " includes <" << include.name << ">";
      }
    }
  }
}

TEST(Arrows, TheTopLevelHoldsNothingElse) {
  const std::set<std::string> allowed = {"core",
                                         "kernels",
                                         "viz",
                                         "app",
                                         "tests",
                                         "assets",
                                         "docs",
                                         "CMakeLists.txt",
                                         "CMakePresets.json",
                                         "README.md",
                                         "CONTRIBUTING.md",
                                         "LICENSE",
                                         "pyproject.toml",
                                         "dev"};
  const Names ignored = {".*", "build*", "out", "compile_commands.json"};  // as in .gitignore
  for (const fs::directory_entry& entry : fs::directory_iterator(root)) {
    const std::string name = entry.path().filename().string();
    EXPECT_TRUE(allowed.count(name) == 1 || matches(ignored, name))
        << name << " does not belong at the top level";
  }
}

// What CONTRIBUTING sends people to is there. Names within core/sim stand without it, and what is
// to be put in for NAME, THEME... is left out.
TEST(Contributing, NamesFilesThatExist) {
  std::ifstream file(root / "CONTRIBUTING.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::regex quoted("`([a-z_]+/[a-z0-9_./]+)`");
  int names = 0;
  for (std::sregex_iterator at(text.begin(), text.end(), quoted), end; at != end; ++at) {
    const std::string name = (*at)[1];
    if (name.rfind("build/", 0) == 0) continue;
    EXPECT_TRUE(fs::exists(root / name) || fs::exists(root / "core/sim" / name)) << name;
    ++names;
  }
  EXPECT_GE(names, 60);
}

}  // namespace
