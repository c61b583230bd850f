// Lines that the window's tests give in random order: each command that chooses is among them, so
// that no choice is forgotten by undo or by a view that goes elsewhere.
#pragma once

#include <random>
#include <string>
#include <vector>

namespace tilescope::test {

inline const std::vector<std::string>& random_lines() {
  static const std::vector<std::string> lines = {
      // What is open.
      "open preset 9x32", "open preset Volta 8x8 quadpair", "open layout (4,8):(8,1)",
      "open layout A = (8,8):(8,1); zipped_divide(A, <4,4>)",
      "open layout zipped_divide((4,8):(8,1), <2,4>)", "open layout (4,4,3):(1,4,16)", "open add",
      "open add --m 6 --n 12", "open values.npy", "run", "baseline", "baseline off",
      "compare hgemm_v8", "lesson layouts", "lesson next", "lesson close", "course loop", "course",
      "select course",
      // A layout.
      "colour offset", "colour thread", "colour bank", "isolate tile 1", "isolate offset 5",
      "isolate thread 2", "label coordinates", "label contents", "beside (9,32):(1,9)",
      "beside nothing", "derive 1", "derive result", "access rows 4", "access columns 16",
      "access through (64,4):(4,1)", "access through (8,8):(8,1)", "access through 64:1",
      "element 2", "element auto", "slice 1", "slice all", "slice rows 1",
      // What is selected in it, and in a matrix.
      "pick 1 1", "pick 3 5", "pick 1 2 1", "pick nothing", "move right", "move down", "zoom in",
      "zoom fit",
      // The view.
      "select diff", "select kernel", "select layout", "select matrices", "select timeline",
      "select theatre", "select why", "select product", "select handoffs", "select banks",
      "select source", "select lower", "lower 2 4", "lower nothing", "lower from LLVM",
      "lower ptx elementwise_add", "lower ptx nothing", "select memory", "select barriers",
      "select registers", "theme dark", "theme light", "back",
      // The comparison.
      "show wrong", "show all", "show relative", "show difference", "show table", "show map",
      "mark 0.5 2", "mark nothing", "wrong next", "wrong first", "diff against reference",
      // A run and where it stands.
      "go 30", "go end", "go start", "step", "step 5", "look block 1 warp 1", "look line ptx:17",
      "look nothing", "break line ptx:17", "break byte 4", "break clear", "memory order physical",
      "memory order logical", "memory colour writer", "tmem colour value", "tmem colour writer",
      "matrices sums thread", "matrices sums value",
      // Its timeline.
      "product 1", "product next", "product element 3 2", "product show number",
      "product show descriptors", "why copies 0.5", "why products 0 latency 50%", "why reset",
      "theatre at 150", "theatre next any", "theatre back copy", "theatre follow warp 1",
      "timeline totals 100 300", "timeline fold block 0", "timeline pin tensor core",
      "timeline arrows on", "timeline colour step", "timeline colour unit", "memory order both",
      "tmem colour step", "timeline range 100 900", "timeline beside on",
      "timeline fold baseline block 0", "pick event 7", "find wait", "find nothing",
      "find mark tma",
      // And back.
      "undo", "redo"};
  return lines;
}

// So many of them in random order. Most need something that is open, so that every third sequence
// begins with two runs that are compared.
inline std::vector<std::string> random_sequence(std::mt19937& random, int count) {
  std::vector<std::string> out;
  if (random() % 3 == 0) {
    out = {"open add", "run", "baseline", "open add --m 6 --n 12", "run", "timeline beside on"};
  }
  for (int i = 0; i < count; ++i) out.push_back(random_lines()[random() % random_lines().size()]);
  return out;
}

}  // namespace tilescope::test
