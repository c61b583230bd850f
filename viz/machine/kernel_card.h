// A kernel on one page: what it computes, on which tensors, how it is launched, what its warps do,
// the stages of its shared memory, which CTA makes which part of the output, and what can be done
// next. Before a run it says what the catalog or the launch file knows; a run adds how it ended,
// what bounds it, and what its record shows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "viz/machine/run_result.h"
#include "viz/scene/describe.h"
#include "viz/scene/scene.h"

namespace tilescope {

// What a run adds.
struct KernelRun {
  bool right = false, wrong = false;  // neither: nothing was compared, or it was stopped
  std::string sentence;  // "hgemm_v7: all 1,048,576 elements agree with the reference."
  std::string verdict;   // as `--stats` prints it
  std::string time;      // "9.48 us with its launch, 7.82 us without, on NVIDIA B200"
  std::vector<KernelCard::Role> roles;
  std::vector<std::string> stages;  // "A, B: 2 stages of 32 KiB; full[0], free when empty[0] is"
  // Who wrote the output: of each of rows x columns equal parts the CTA that wrote the element in
  // its middle; -1: nobody.
  std::int64_t rows = 0, columns = 0;
  std::vector<std::int64_t> writers;
};

// A button: a command and its word.
struct KernelStep {
  std::string word, command;
};

struct KernelCardShown {
  const KernelCard& card;
  const KernelRun* run = nullptr;  // null: it has not run
  std::vector<KernelStep> steps;   // what can be done next, the first one first of all
};

// Scrolled by so many pixels; answers by how many it can be.
double draw_kernel_card(Scene& scene, const KernelCardShown& shown, Size size, double scrolled);

// Of how many parts the tile map is, down and across: the tiles that the catalog tells, where these
// are not more than a picture has room for; else so many of equal size.
std::pair<std::int64_t, std::int64_t> parts_of_output(const KernelCard& card);
// The first tensor that the kernel writes. Null: none is known.
const KernelCard::Tensor* output_of(const KernelCard& card);

// "0-3, 8"
std::string warps_text(const std::vector<std::uint32_t>& warps);
// "96 KiB", "512 bytes"
std::string bytes_words(std::uint64_t bytes);

}  // namespace tilescope
