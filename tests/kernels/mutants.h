// Kernels that are right, to be changed (mutator.h), and what becomes of a change; and the fixed
// changes of mutations_test.cpp, which tests/viz opens in the window.
#pragma once

#include <cctype>
#include <cstring>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/sim/machine/machine.h"
#include "tests/kernels/mutator.h"
#include "tests/kernels/shipped.h"
#include "tests/sim/program.h"

namespace tilescope::test {

struct Subject {
  std::string name;
  std::string entry;  // which is changed; empty: the first of its PTX
  Job job;
  std::vector<Expectation> memory;  // what it computes
  std::vector<Suppression> known;   // what is told of it as it is
  std::uint64_t instructions = 0;   // that it takes
  std::shared_ptr<const Mutator> mutator;

  Job changed(const Mutation& m) const {
    Job out = job;
    out.program.ptx = mutator->apply(m);
    return out;
  }
};

// Bit for bit: a change of one product in hundreds is within any tolerance.
inline bool is_right(const Subject& s, const std::vector<Buffer>& buffers) {
  for (const Expectation& e : s.memory) {
    for (const Buffer& b : buffers) {
      if (b.name != e.buffer) continue;
      if (std::memcmp(b.bytes.data(), e.bytes.data(), e.bytes.size()) != 0) return false;
    }
  }
  return true;
}

// Steps of the ladder: so many tiles along K that each stage is filled three times, ragged edges,
// and from step 6 on two tiles of D and more for a CTA.
inline Subject step_of_the_ladder(const std::string& kernel) {
  struct Way {
    Sizes shape;
    std::uint32_t grid = 0;  // blocks; 0: as many as the catalog says
  };
  static const std::map<std::string, Way, std::less<>> ways = {
      {"wgmma_v1", {{128, 256, 192}}},    {"wgmma_v2", {{72, 264, 696}}},
      {"wgmma_v3", {{72, 264, 696}}},     {"wgmma_v4", {{72, 264, 696}}},
      {"wgmma_v5", {{136, 264, 696}}},    {"wgmma_v6", {{136, 264, 696}, 2}},
      {"wgmma_v7", {{264, 264, 696}, 2}}, {"wgmma_v8", {{264, 264, 696}, 2}}};
  const Way& way = ways.find(kernel)->second;
  Subject s;
  s.name = kernel;
  s.job = shipped_job(kernel, way.shape);
  s.known = (*find_kernel(kernel))->known;
  if (way.grid) s.job.launch.grid = {way.grid, 1, 1};
  return s;
}

// With all that is known of it once it has been run.
inline Subject ready(Subject s) {
  s.mutator = std::make_shared<const Mutator>(s.job.program.ptx, s.entry);
  sim::Options fast;
  fast.exact = false;
  auto machine = sim::Machine::load(s.job, fast);
  EXPECT_TRUE(machine.ok()) << s.name;
  EXPECT_EQ(machine->run(~std::uint64_t{0}), RunState::done) << s.name;
  // Other tests say that kernels of the catalog are right; a change must give the same bits.
  const std::vector<Buffer> buffers = machine->buffers();
  if (s.memory.empty()) s.memory.push_back({buffers[2].name, buffers[2].bytes});
  EXPECT_TRUE(is_right(s, buffers)) << s.name;
  s.instructions = machine->instructions();
  return s;
}

// A step of the ladder, or a program of tests/sim/programs.
inline const Subject& subject_named(const std::string& name) {
  static std::map<std::string, Subject> all;
  const auto at = all.find(name);
  if (at != all.end()) return at->second;
  Subject s;
  if (name.rfind("wgmma_v", 0) == 0) {
    s = step_of_the_ladder(name);
  } else {
    SimProgram p = read_program(TILESCOPE_SOURCE_DIR "/tests/sim/programs/" + name + ".ptx");
    EXPECT_EQ(p.mistake, "") << name;
    s.name = name;
    s.job = std::move(p.job);
    s.memory = std::move(p.memory);
  }
  return all.emplace(name, ready(std::move(s))).first->second;
}

// What one order made of a change.
struct Fate {
  RunState state = RunState::done;
  bool right = false;
  std::vector<Report> reports, notes;
  std::vector<Buffer> buffers;
};

// An order that takes much longer than the kernel itself is given up; its state is `running`.
inline Outcome<Fate> fate_of(const Subject& s, const Mutation& m, sim::Options options) {
  options.exact = false;
  auto machine = sim::Machine::load(s.changed(m), options);
  if (!machine) return machine.error();
  Fate run;
  run.state = machine->run(20 * s.instructions + 100'000);
  for (const Report& r : sift(machine->reports(), s.known).kept) {
    (r.weight == Weight::note ? run.notes : run.reports).push_back(r);
  }
  run.buffers = machine->buffers();
  run.right = run.state == RunState::done && is_right(s, run.buffers);
  return run;
}

// ---- the fixed ones ----

// Number `n` of a kind of change, and what must be told of it, in the order with this seed.
struct Planted {
  const char* subject;
  const char* kind;
  std::size_t n;
  std::uint64_t schedule;  // 0: in turns
  bool lazy;
  const char* report;  // weight and kind
  const char* words;   // in the sentence, what was expected or what was found
  // Which line the report or somebody who has a part in it must stand at: "here", the changed one;
  // "next X", the first with instruction X behind it; "last X", one of those just before it; "":
  // the words say which barrier or who waits.
  const char* place;
};

extern const std::vector<Planted> planted_mutations;

// The lines of `place`, in the changed text.
inline std::vector<std::uint32_t> lines_of_place(const Subject& s, const Mutation& m,
                                                 std::string_view place) {
  if (place == "here") return m.also ? std::vector{m.line, m.also} : std::vector{m.line};
  constexpr std::uint32_t near = 60;
  const std::string word(place.substr(5));
  std::vector<std::uint32_t> out;
  std::istringstream text(s.mutator->apply(m));
  std::uint32_t line = 0;
  for (std::string t; std::getline(text, t);) {
    ++line;
    const std::size_t begin = t.find_first_not_of(" \t");
    const bool comment = begin != std::string::npos && t.compare(begin, 2, "//") == 0;
    if (comment || t.find(word) == std::string::npos) continue;
    if (place[0] == 'l' && line < m.line && line + near > m.line) out.push_back(line);
    if (place[0] == 'n' && line > m.line) return {line};
  }
  return out;
}

// At whom it is told, who else has a part in it, or whom its sentence tells of.
inline bool names(const Report& r, std::uint32_t line) {
  if (r.site.ptx_line == line) return true;
  for (const Evidence::Party& party : r.evidence.parties) {
    if (party.site.ptx_line == line) return true;
  }
  const std::string all = r.sentence + " " + r.found + " ",
                    told = "PTX line " + std::to_string(line);
  for (std::size_t at = all.find(told); at != std::string::npos; at = all.find(told, at + 1)) {
    if (!std::isdigit(static_cast<unsigned char>(all[at + told.size()]))) return true;
  }
  return false;
}

// Empty where a run's reports have the one that is expected, at its place; else what they are.
inline std::string told_instead(const Subject& s, const Mutation& m, const Planted& planted,
                                const std::vector<Report>& reports) {
  const std::string place = *planted.place ? planted.place : "here";
  std::string told;
  for (const Report& r : reports) {
    const std::string all = r.sentence + "\n" + r.expected + "\n" + r.found;
    const std::string report = std::string(name_of(r.weight)) + " " + r.kind;
    told += report + " at " + text(r.site) + ": " + all + "\n";
    for (const Evidence::Party& party : r.evidence.parties) {
      told += "  " + std::string(party.does) + " at " + text(party.site) + "\n";
    }
    if (report != planted.report || all.find(planted.words) == std::string::npos) continue;
    if (!*planted.place) return "";
    for (const std::uint32_t line : lines_of_place(s, m, place)) {
      if (names(r, line)) return "";
    }
  }
  return told.empty() ? "nothing" : told;
}

}  // namespace tilescope::test
