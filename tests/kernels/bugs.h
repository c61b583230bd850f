// The planted bugs, for the tests that look at them.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "core/run/job.h"
#include "core/run/suppressions.h"
#include "kernels/catalog/catalog.h"

namespace tilescope::test {

inline const std::filesystem::path bugs_folder = TILESCOPE_SOURCE_DIR "/tests/kernels/bugs";

struct Expected {
  std::string weight, kind, text, place;
  bool is(const Report& r, const std::string& all) const {
    return name_of(r.weight) == weight && r.kind == kind && all.find(text) != std::string::npos &&
           all.find(place) != std::string::npos;
  }
};

struct Bug {
  std::vector<Suppression> known;  // what is told of the kernel without it
  std::string name, kernel;
  std::vector<Expected> expected, by_the_clock;
  bool unseen_by_the_clock = false;
  std::string why;      // a part of a deadlock's cause; empty: not said
  std::string missing;  // the mbarrier that a deadlock comes from; empty: not said
  Request request;
  bool lazy = false;
  std::uint64_t first_seed = 0, last_seed = 0;
  std::uint32_t grid = 0;  // blocks; 0: as many as the catalog says
};

inline std::vector<std::string> fields(const std::string& patch, const std::string& name) {
  std::vector<std::string> out;
  const std::string key = "\n" + name + ": ";
  for (std::size_t at = patch.find(key); at != std::string::npos; at = patch.find(key, at + 1)) {
    const std::size_t begin = at + key.size();
    out.push_back(patch.substr(begin, patch.find('\n', begin) - begin));
  }
  return out;
}

inline std::string text_in(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline Bug bug_of(const std::string& name) {
  const std::string patch = "\n" + text_in(bugs_folder / (name + ".patch"));
  Bug bug;
  bug.name = name;
  std::istringstream run(fields(patch, "run").at(0));
  std::string shape, word;
  run >> bug.kernel >> shape;
  std::replace(shape.begin(), shape.end(), 'x', ' ');
  std::istringstream numbers(shape);
  for (const char* size : {"m", "n", "k"}) numbers >> bug.request.sizes[size];
  while (run >> word) {
    if (word == "lazy") bug.lazy = true;
    if (word == "schedule=1..20") bug.first_seed = 1, bug.last_seed = 20;
    if (word.rfind("grid=", 0) == 0)
      bug.grid = static_cast<std::uint32_t>(std::stoul(word.substr(5)));
  }
  const auto expected = [](const std::string& expect) {
    const std::size_t bar = expect.find(" | "), second = expect.find(" | ", bar + 3);
    Expected one{"", "", expect.substr(bar + 3, second - bar - 3), expect.substr(second + 3)};
    std::istringstream(expect.substr(0, bar)) >> one.weight >> one.kind;
    return one;
  };
  for (const std::string& e : fields(patch, "expect")) bug.expected.push_back(expected(e));
  for (const std::string& e : fields(patch, "clock")) {
    bug.unseen_by_the_clock = e == "nothing";
    if (e != "nothing") bug.by_the_clock.push_back(expected(e));
  }
  for (const std::string& barrier : fields(patch, "missing")) bug.missing = barrier;
  for (const std::string& why : fields(patch, "why")) bug.why = why;
  if (bug.by_the_clock.empty()) bug.by_the_clock = bug.expected;
  return bug;
}

// What `diff -n` says of an old text: "d12 3" deletes three lines from line 12 on, "a14 2" has the
// two lines that follow stand behind line 14.
inline std::string differing(const std::string& old, std::istream& edits) {
  std::istringstream lines(old);
  std::ostringstream out;
  std::string line;
  std::size_t at = 0;  // lines of `old` that have been read
  const auto keep_up_to = [&](std::size_t last) {
    for (; at < last && std::getline(lines, line); ++at) out << line << "\n";
  };
  for (std::string edit; std::getline(edits, edit);) {
    std::size_t from = 0, count = 0;
    std::istringstream(edit.substr(1)) >> from >> count;
    if (edit[0] == 'd') {
      keep_up_to(from - 1);
      for (; count && std::getline(lines, line); --count) ++at;
      continue;
    }
    keep_up_to(from);
    for (; count && std::getline(edits, line); --count) out << line << "\n";
  }
  keep_up_to(~std::size_t{0});
  return out.str();
}

// Empty where the kernel's own PTX is not the one that the differences are of.
inline std::string ptx_of(const Bug& bug) {
  const std::string own = text_in(TILESCOPE_SOURCE_DIR "/assets/ptx/" + bug.kernel + ".ptx");
  std::ifstream edits(bugs_folder / (bug.name + ".diff"));
  std::string first;
  std::getline(edits, first);
  if (first != "of " + std::to_string(own.size()) + " bytes") return "";
  return differing(own, edits);
}

inline Outcome<Job> job_of(const Bug& bug) {
  const auto entry = find_kernel(bug.kernel);
  if (!entry) return entry.error();
  const std::string ptx = ptx_of(bug);
  if (ptx.empty()) {
    return Error{ErrorKind::mismatch, bug.name + ".diff is not of the shipped PTX: run ./dev ptx",
                 ""};
  }
  Outcome<Job> job = make_job(**entry, bug.request, ptx);
  if (job && bug.grid) job->launch.grid = {bug.grid, 1, 1};
  return job;
}

inline std::vector<std::string> all_bugs() {
  std::vector<std::string> out;
  for (const auto& file : std::filesystem::directory_iterator(bugs_folder)) {
    if (file.path().extension() == ".patch") out.push_back(file.path().stem().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace tilescope::test
