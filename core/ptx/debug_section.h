// The sections of DWARF in a PTX file, as bytes: `.section .debug_info { .b32 490 .b8 2, ... }`
// (PTX ISA 11.5.3). Where a number names a label, a variable or another section, the bytes hold
// what is added to it, and the name is kept beside them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/ptx/module.h"

namespace tilescope::ptx {

struct DebugSection {
  std::string_view name;  // ".debug_info"
  std::vector<std::uint8_t> bytes;
  std::map<std::size_t, std::string_view> names;   // by the byte where such a number begins
  std::map<std::string_view, std::size_t> labels;  // in the section: what byte they are before
};

constexpr std::size_t most_debug_bytes = std::size_t{64} << 20;

struct DebugSections {
  std::vector<DebugSection> all;
  std::map<std::string_view, std::uint32_t> lines;  // of labels in functions
  std::string wrong;                                // "" or why the reading ended
  const DebugSection* find(std::string_view name) const;
};

// Of one file of a module.
DebugSections debug_sections(const Module& module, std::uint32_t part);

// Reads one, never beyond its end: from then on it has failed and answers zeros.
class DebugReader {
 public:
  DebugReader(const DebugSection& section, std::size_t from, std::size_t end)
      : section_(&section), at_(from), end_(end) {
    if (end_ > section.bytes.size()) end_ = section.bytes.size();
    if (at_ > end_) fail();
  }
  bool failed() const { return failed_; }
  void fail() {
    failed_ = true;
    at_ = end_;
  }
  std::size_t at() const { return at_; }
  std::size_t left() const { return end_ - at_; }
  std::uint64_t fixed(std::size_t bytes);
  // The same, and the name that it is an offset to, if it is.
  std::uint64_t fixed(std::size_t bytes, std::string_view& name);
  std::uint64_t uleb();
  std::int64_t sleb();
  std::string text();  // up to a zero byte
  void skip(std::uint64_t bytes);

 private:
  const DebugSection* section_;
  std::size_t at_, end_;
  bool failed_ = false;
};

}  // namespace tilescope::ptx
