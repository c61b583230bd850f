// The instructions of a slice run for one thread, each by its own rule (PTX ISA 9.7.1, 9.7.7), on
// registers of its own width; and sums with numbers put in. Two ways to an address, which must
// meet: where they do not, a sum is not what the instructions compute.
//
// What the slice does not hold is made up from `seed`, the same for both ways: what memory gives,
// which of several values a merge has.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "core/ptx/addresses.h"

namespace tilescope::ptx {

struct ThreadNumbers {
  std::array<std::uint32_t, 3> thread{}, block{}, threads{1, 1, 1}, blocks{1, 1, 1};
  std::map<std::uint64_t, std::uint64_t> parameters;  // by their offset in .param
  std::map<std::uint64_t, std::uint32_t> rounds;      // by a loop's block; 0 where it is not named
  std::uint64_t seed = 0;
};

class SliceRun {
 public:
  SliceRun(Addresses& addresses, ThreadNumbers numbers);

  std::uint64_t address(const Access& access);  // by its instructions
  std::uint64_t coordinate(const Access& access, std::size_t which);
  std::uint64_t written(std::uint32_t at);  // by an instruction
  std::uint64_t value(const Sum& sum);      // of a sum; wraps at 64 bits

 private:
  std::uint64_t of(Defined value);
  std::uint64_t of_merge(std::uint32_t number);
  std::uint64_t computed(std::uint32_t at, std::uint32_t reg);
  std::uint64_t executed(const Instruction& i, std::uint32_t at, std::uint32_t reg);
  std::uint64_t integer(const Instruction& i, std::uint32_t at, std::uint32_t reg);
  std::uint64_t read(std::uint32_t at, std::uint32_t operand);
  std::uint64_t reg(std::uint32_t at, std::uint32_t number);
  std::uint64_t special(Special s) const;
  std::uint64_t made_up(std::uint64_t a, std::uint64_t b) const;
  std::int64_t in_register(std::uint64_t value, std::uint32_t number) const;
  std::uint64_t atom(const Atom& a);

  Addresses& addresses_;
  ThreadNumbers numbers_;
  std::map<std::uint32_t, Special> special_of_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> known_;
  std::map<std::uint32_t, std::uint64_t> merges_;
  int depth_ = 0;
  std::shared_ptr<int> left_;  // earlier rounds that may still be run, of all runs together
};

}  // namespace tilescope::ptx
