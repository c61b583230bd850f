// Two runs side by side: the baseline and the one that is open. Where the time went in each, line
// by line of the source, and what differs between the sources themselves.
//
// The figures are core/profile/difference.h's; here is how they are shown.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/profile/difference.h"
#include "viz/machine/run_result.h"
#include "viz/scene/table_scene.h"

namespace tilescope {

// A line of either text, or of both.
struct DifferentLine {
  std::optional<std::uint32_t> before, after;  // its number in each, from 1
  std::string text;
};
// The shortest way from one text to the other by taking lines away and putting lines in (the
// longest common subsequence); lines that only one has are where they are missed in the other.
std::vector<DifferentLine> different_lines(const std::vector<std::string>& before,
                                           const std::vector<std::string>& after);

class ComparisonView {
 public:
  // Both have a record.
  ComparisonView(std::shared_ptr<const RunResult> baseline, std::shared_ptr<const RunResult> now);

  const RunResult& baseline() const { return *baseline_; }
  const RunResult& now() const { return *now_; }
  const sim::Difference& difference() const { return difference_; }
  const std::vector<DifferentLine>& source() const { return source_; }
  // What became in each of a line that is the same in both, named as the open kernel has it.
  // Nothing: the baseline does not have the line. Null: it has, and never executed it.
  struct LineOfBoth {
    const sim::LineUse *before = nullptr, *now = nullptr;
  };
  std::optional<LineOfBoth> line_of_both(const std::string& file, std::uint32_t line) const;
  // "hgemm_v7"; "hgemm_v7 --m 512": with its options where both are of one kernel.
  std::string name_of_baseline() const { return named(*baseline_); }
  static std::string with_options(const RunResult& run);

 private:
  std::string named(const RunResult& run) const;

  std::shared_ptr<const RunResult> baseline_, now_;
  sim::Difference difference_;
  std::vector<DifferentLine> source_;
  std::map<std::uint32_t, std::uint32_t> before_;  // by line of the open kernel's own file
  // By file and line: in difference_.a.lines, and in those of b.
  using Uses = std::map<std::pair<std::string, std::uint32_t>, std::size_t>;
  Uses uses_before_, uses_now_;
};

// Figures, and beside or below them the sources' difference, which is scrolled by itself: where it
// is drawn, and how far it can be; a link to both timelines. Answers how far the figures can be.
double draw_comparison(Scene& scene, const ComparisonView& view, const Box& room, Scroll& scroll,
                       bool has_timelines, Box& source, double& most_of_source);

}  // namespace tilescope
