// What the instructions are given: special values of each type, and random ones, as functions of
// (key, operand, lane) alone, so that the same operands are made again wherever they are needed.
//
// Lanes below `special_lanes` get special values: all pairs of the first 32 where an instruction
// has two operands, picks where it has more. The others get random ones: any bits, small numbers,
// and for floats exponents near each other, so that sums cancel and round.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/ptx/types.h"

namespace tilescope::conformance {

constexpr std::uint32_t lanes = 2048, special_lanes = 1024;

// What an operand is for, where its type alone does not say it.
enum class Use : std::uint8_t {
  number,       // a value of its type
  amount,       // a shift, position or length: around the widths, and beyond them
  lane,         // a lane, or a distance between lanes
  clamp,        // shfl's third operand: segments and limits (PTX ISA 9.7.9.6)
  whole_warp,   // a mask of all lanes
  few,          // one of four values, so that lanes agree
  truth,        // a predicate
  factor,       // a number of a matrix: of sums that are seldom infinite or NaN
  finite,       // the same, never infinite or NaN itself
  two_of_four,  // metadata of a sparse matrix: which two of four are there, eight times
  one_of_two,   // which one of two
};

struct Source {
  ptx::Type type = ptx::Type::b32;
  Use use = Use::number;
};

// Operand `index` of `count` of one lane, zero-extended.
std::uint64_t operand(std::string_view key, const std::vector<Source>& sources, std::size_t index,
                      std::uint32_t lane);

// NaNs with payloads, infinities, subnormals, signed zeros, ties, extremes; of packed types too.
const std::vector<std::uint64_t>& specials(ptx::Type type);

std::uint64_t mix(std::uint64_t x);            // a fixed permutation of 64 bits that looks random
std::uint64_t hash_of(std::string_view text);  // FNV-1a

}  // namespace tilescope::conformance
