// What a compiler made of a CUDA file that is in a kernel's place (`open K --source F.cu`), or
// what it says is wrong with it. Immutable: views and undo steps share it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "viz/machine/live_run.h"

namespace tilescope {

// "my.cu(12): error: identifier "y" is undefined"
struct Complaint {
  enum class Weight : std::uint8_t { error, warning, note };
  Weight weight = Weight::error;
  std::string file;        // as the PTX would name it; empty: of no file
  std::uint32_t line = 0;  // 0: of no line
  std::string text;
};
// "my.cu:12: identifier ..."
std::string text(const Complaint& complaint);

struct Build {
  std::string file;  // as the option names it
  std::string name;  // as the PTX names it: "my.cu"
  std::string ptx;   // empty: it does not compile
  Sources sources;   // what was compiled, by the names in the PTX: the file, and headers of its own
  std::vector<std::string>
      files;  // where those are: who changes one of them has something to build
  std::vector<Complaint> complaints;  // errors first, each kind as the compiler said them

  bool compiled() const { return !ptx.empty(); }
  std::size_t errors() const { return count(Complaint::Weight::error); }
  std::size_t count(Complaint::Weight weight) const;
};

// "1 warning, in line 12: variable "y" was declared but never referenced". Of one without: empty.
std::string warnings_of(const Build& build);
// "my.cu does not compile: 2 errors, the first in line 12: ...". Of one that compiles: empty.
std::string what_is_wrong(const Build& build);

// The lines of a text, without their ends.
std::vector<std::string> lines_of_text(std::string_view text);
// With them, so that the text is these joined.
std::vector<std::string> lines_with_ends(std::string_view text);

}  // namespace tilescope
