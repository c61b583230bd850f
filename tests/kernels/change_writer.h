// How a change of an instruction is written down: for who finds changes (mutator.cpp, and the kinds
// of tests/mutate).
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/kernels/instructions.h"
#include "tests/kernels/mutator.h"

namespace tilescope::test {

class ChangeWriter {
 public:
  explicit ChangeWriter(std::vector<Mutation>& out) : out_(out) {}

  Mutation& add(std::string kind, const Instruction& x, const std::string& what) {
    Mutation m;
    m.kind = std::move(kind);
    m.line = static_cast<std::uint32_t>(x.at + 1);
    m.sentence = fmt::format("PTX line {}: {} {}", m.line, called(x), what);
    out_.push_back(std::move(m));
    return out_.back();
  }
  static void put(Mutation& m, std::size_t at, std::string text) {
    m.edits.emplace_back(static_cast<std::uint32_t>(at), std::move(text));
  }
  // The same instruction with other operands.
  void other(const std::string& kind, const Instruction& x, const std::string& rest,
             const std::string& what, const std::string& before = "") {
    Mutation& m = add(kind + " " + x.name, x, what);
    const std::string text = x.guard + x.opcode + " " + rest;
    put(m, x.at, before.empty() ? "\t" + text : "\t{ " + before + " " + text + " }");
  }

 private:
  std::vector<Mutation>& out_;
};

}  // namespace tilescope::test
