// Registers of a warp at one time, as far as a record tells: what its lanes have loaded, what they
// store, and what is computed in between; and who wrote what is read from shared memory now. From
// the record's accesses (core/record/warp_access.h) and the text of its instructions. What a
// register's bits are the record does not have: a machine that stands at this time does.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "viz/theatre/theatre_lanes.h"

namespace tilescope {

// A register that an access fills or takes, in all lanes that take part.
struct LaneRegister {
  std::string name;  // "%f1"
  std::uint32_t access = 0;
  std::uint32_t part = 0, parts = 1;  // which of the access's registers
  // `loads`: the access fills it; else it is stored. On its way: not there yet, not taken yet.
  bool loads = false, on_its_way = false;
  // Of what is loaded, the next instruction that reads it; of what is stored, the last before that
  // writes it; where the lines nearby have one: "add.f32 %f3, %f1, %f2".
  std::string instruction;
};

// Of the last accesses of this warp, the latest first; each register once, and no more than `most`.
std::vector<LaneRegister> registers_at(const sim::Record& record, const LaneAccesses& accesses,
                                       std::uint64_t block, std::uint32_t warp, double at,
                                       std::size_t most);
// What a lane has in it: "A [3, 17]", "A [3, 34:36]", "shared byte 512", "lane 3";
// empty: the lane takes no part.
std::string content_text(const sim::Record& record, const LaneRegister& of, std::uint32_t lane);
// From where it comes and when, or where to it goes; one line.
std::string way_text(const sim::Record& record, const LaneRegister& of);

// Names in an operand or several: "%f1", "%f2" of "{%f1, %f2}".
std::vector<std::string_view> names_in(std::string_view operand);
// The operands of an instruction as the PTX has it, behind guard and opcode.
std::vector<std::string_view> operands_in(std::string_view text);

// Words of a CTA's shared memory, 32 banks a row: who wrote each last, and which are read by an
// access.
struct SharedRows {
  struct Word {
    std::uint32_t writer = sim::WarpAccess::none;  // of the record's accesses
    std::uint8_t lane = 0;                         // of the writer
    bool read = false;
  };
  struct Row {
    std::uint32_t number = 0;  // from byte 128 * number on
    bool read = false;         // some word of it
    std::array<Word, 32> words{};
  };
  std::vector<Row> rows;               // ascending; those that are read, or were written lately
  std::vector<std::uint32_t> writers;  // warps that wrote what is read now, ascending
  std::uint32_t unknown = 0;           // words that are read and that no access kept here wrote
};
// Of the words that `access` reads, and of what else was written in the accesses before it that are
// looked at (some thousand).
SharedRows shared_rows(const sim::Record& record, const LaneAccesses& accesses, std::uint64_t block,
                       std::uint32_t access);
// "warps 0-3"; "warp 2"; "warps 0, 2".
std::string warps_in_words(const std::vector<std::uint32_t>& warps);

}  // namespace tilescope
