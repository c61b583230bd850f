// Every way to write every form of the opcode table, each once: what is tried on a chip.
//
// Modifiers that change what is computed are combined with each other. Those that do not (cache and
// eviction hints, prefetch sizes, orders, scopes) appear one at a time, each with a few of the
// combinations of the others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/ptx/opcodes.h"

namespace tilescope::conformance {

struct Spelling {
  const ptx::Opcode* opcode = nullptr;
  int form = 0;
  ptx::Modifiers modifiers;
  std::string text;                       // "add.rn.ftz.f32"
  std::optional<std::uint32_t> constant;  // an integer constant, or how mov packs
  // "lop3.b32 0x96": what a result is kept under
  std::string key() const;
};

// How it writes a field; empty: it does not.
std::string_view word(const Spelling& spelling, ptx::Field field);

std::vector<Spelling> spellings(const ptx::Opcode& opcode);

}  // namespace tilescope::conformance
