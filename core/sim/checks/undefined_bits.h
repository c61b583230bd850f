// Which bits of an integer result depend on undefined bits of its operands: plain numbers in, plain
// numbers out. A bit that is 1 is undefined; what lies above the result's width means nothing.
//
// No bit that could be either is left out; none that could not is named, but in sums and products,
// where that is so from the lowest one on that could.
#pragma once

#include <array>
#include <cstdint>

namespace tilescope::sim {

// A value, of which the bits of `hidden` are not known.
struct Partly {
  std::uint64_t value = 0, hidden = 0;
};

// and: a zero decides; or: a one.
std::uint64_t hidden_by_and(Partly a, Partly b);
std::uint64_t hidden_by_or(Partly a, Partly b);
// add, sub, neg: `hidden` is that of all operands. They carry upwards.
std::uint64_t hidden_by_sum(std::uint64_t hidden);
// mul.lo
std::uint64_t hidden_by_product(Partly a, Partly b);
// lop3 (PTX ISA 9.7.8.6): bit 4a + 2b + c of the table is the result of bits a, b, c.
std::uint32_t hidden_by_lop3(const std::array<Partly, 3>& of, std::uint32_t table);
// brev, of so many bits
std::uint64_t hidden_by_reversal(std::uint64_t hidden, int width);
// bfe (9.7.1.19): the field of `length` bits at `position`, which are known, and its sign above it.
std::uint64_t hidden_by_field(std::uint64_t hidden, int position, int length, int width,
                              bool is_signed);
// prmt (9.7.9.7), whose selector is known: each of four bytes is one of eight, or its sign.
std::uint32_t hidden_by_permutation(std::uint64_t pair, std::uint64_t selector);
// Of two numbers of so many bits each: all of one in which anything is hidden.
std::uint64_t hidden_by_halves(std::uint64_t hidden, int bits);

}  // namespace tilescope::sim
