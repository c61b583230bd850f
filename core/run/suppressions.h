// Reports that somebody has looked at and wants to hear no more of, as Valgrind's suppressions: a
// rule says which, and why. A fault ends a run and is never silenced.
//
// A rule names a kind of report, and may narrow it to kernels, files and a line; names may have `*`
// for anything and `?` for one character.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/run/job.h"

namespace tilescope {

struct Suppression {
  std::string kind;            // "tcgen05_fence", "*"
  std::string kernel = "*";    // the entry's name in the PTX
  std::string source = "*";    // the file that a user wrote: the caller's of inlined code
  std::uint32_t line = 0;      // of it; 0: any
  std::uint32_t ptx_line = 0;  // 0: any
  std::string reason;
  std::string place;  // of the rule: "triton.toml:3"
};

bool matches(const Suppression& rule, const Report& report);
// Does a text fit a pattern with * and ?
bool fits(std::string_view pattern, std::string_view text);

struct Sifted {
  std::vector<Report> kept;
  std::vector<std::uint64_t> counts;  // of each rule: how often what it silences was seen
};
Sifted sift(const std::vector<Report>& reports, const std::vector<Suppression>& rules);

// "3 reports are silenced by triton.toml:3: Triton emits no tcgen05.fence", a line for each rule
// that was needed; empty where none was.
std::string text_of_silenced(const std::vector<std::uint64_t>& counts,
                             const std::vector<Suppression>& rules);

// A rule for each hazard and note, in the file's form (core/io/suppressions_file.h); those of one
// line, kind and kernel have one. The reason is left to be written.
std::string rules_for(const std::vector<Report>& reports);

}  // namespace tilescope
