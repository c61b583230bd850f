// Asking a chip: each kernel on it and on the simulator; its answers are kept.
//
// The kernels are run in child processes, since an assembler that is shown every form of the table
// meets text that nobody showed it before: one was seen to crash (CUDA 13.0's, on an H200). What
// crashed it is kept as refused, and the next child goes on behind it.
#pragma once

#include <string>
#include <vector>

namespace tilescope::conformance {

// Writes the vectors of the spellings that contain `part` to `file` and every difference to stdout.
// Answers the exit code: 0 none differs, 1 some do, 2 the file cannot be written, 4 no GPU.
int record(const std::string& file, const std::string& commit, const std::string& part = "");

// The same of those spellings that none of the files in `known` has an answer for.
int record_missing(const std::string& file, const std::string& commit,
                   const std::vector<std::string>& known);

// Prints every lane of the spellings that contain `part`, as the chip answers: to find a rule.
int answers(const std::string& part);

}  // namespace tilescope::conformance
