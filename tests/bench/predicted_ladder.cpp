// Predicted against measured time of the rungs of the Hopper ladder on an H100, at one size. Exit 1
// where a time is off by more than it may, is not the one that docs/manual/timing.md says, or where
// two rungs stand in another order than measured, whose measured rounds do not overlap. What was
// measured, and which rows figures were fitted on: tests/time/h100_ladder.tsv.
//
//     predicted_ladder SIZE PERCENT      2048 or 4096; how far off a time may be
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/catalog/catalog.h"
#include "tests/bench/prediction.h"

namespace tilescope::bench {
namespace {

struct Rung {
  std::string kernel;
  std::int64_t size = 0;
  double median = 0, least = 0, most = 0;  // microseconds
  std::string figure;                      // "fitted:power", or "-"
  double predicted = 0;
};

std::vector<Rung> measured(std::int64_t size) {
  std::vector<Rung> out;
  std::ifstream file(TILESCOPE_SOURCE_DIR "/tests/time/h100_ladder.tsv");
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    Rung rung;
    std::string clock, watts;
    words >> rung.kernel >> rung.size >> rung.median >> rung.least >> rung.most >> clock >> watts >>
        rung.figure;
    if (words && rung.size == size) out.push_back(std::move(rung));
  }
  return out;
}

// Of the row | `wgmma_v1` | measured | predicted | measured | predicted |, at 2048 and 4096.
double said(const Rung& rung) {
  std::ifstream page(TILESCOPE_SOURCE_DIR "/docs/manual/timing.md");
  for (std::string line; std::getline(page, line);) {
    if (line.rfind("| `" + rung.kernel + "` |", 0) != 0) continue;
    std::vector<std::string> cells;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, '|');) cells.push_back(cell);
    const std::size_t column = rung.size == 2048 ? 3 : 5;
    if (cells.size() > column) return std::atof(cells[column].c_str());
  }
  return 0;
}

bool in_order(const std::vector<Rung>& rungs) {
  bool all = true;
  for (const Rung& slow : rungs) {
    for (const Rung& fast : rungs) {
      if (slow.least <= fast.most || slow.predicted > fast.predicted) continue;
      fmt::print("{} is predicted to be no slower than {}\n", slow.kernel, fast.kernel);
      all = false;
    }
  }
  return all;
}

int check(std::int64_t size, double within) {
  const Outcome<DeviceDescription> chip = description_of("h100");
  std::vector<Rung> rungs = measured(size);
  std::vector<PredictionAsked> asked;
  for (const Rung& rung : rungs) asked.push_back({*find_kernel(rung.kernel), {size, size, size}});
  if (!chip || rungs.empty()) {
    fmt::print(stderr, "There is no h100, or nothing measured at {}.\n", size);
    return 2;
  }
  const std::vector<Outcome<double>> times = predictions(asked, *chip);
  bool right = true;
  for (std::size_t i = 0; i < rungs.size(); ++i) {
    Rung& rung = rungs[i];
    if (!times[i]) {
      fmt::print("{}: {}\n", rung.kernel, times[i].error().sentence);
      return 1;
    }
    rung.predicted = *times[i] * 1e6;
    const double off = rung.predicted / rung.median - 1, page = said(rung);
    fmt::print("{:12} {}^3  measured {:6.1f} us  predicted {:6.1f} us  {:+5.1f}%{}\n", rung.kernel,
               size, rung.median, rung.predicted, 100 * off,
               rung.figure == "-" ? "" : "  " + rung.figure);
    const bool near = std::abs(off) <= within;
    if (!near) fmt::print("  that is more than {:.0f}%\n", 100 * within);
    const bool told = page > 0 && std::abs(rung.predicted / page - 1) < 0.005;
    if (!told) fmt::print("  the manual says {}\n", page);
    right = right && near && told;
  }
  return in_order(rungs) && right ? 0 : 1;
}

}  // namespace
}  // namespace tilescope::bench

int main(int count, char** words) {
  if (count == 3) return tilescope::bench::check(std::atoi(words[1]), std::atof(words[2]) / 100);
  fmt::print(stderr, "predicted_ladder SIZE PERCENT\n");
  return 2;
}
