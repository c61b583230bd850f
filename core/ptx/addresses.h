// From where a kernel's addresses come: each access to global memory with the instructions that
// compute its address, walked back from the operand to thread and block numbers and parameters, and
// with the sum that they come to.
//
// A register that several writes reach is a merge (core/ptx/definitions.h). Where one goes round a
// loop and grows by what stays the same in it, its value is start + round * step; any other is said
// as what it is: which values it takes, not which of them.
//
// Only the entry is looked at, not what it calls. What comes out of memory, out of another lane or
// of an opcode that is not followed here is an atom of its own.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/ptx/definitions.h"
#include "core/ptx/sums.h"

namespace tilescope::ptx {

struct Access {
  enum class Kind : std::uint8_t { load, store, atomic, copy, bulk, tensor };
  std::uint32_t at = 0;  // the instruction
  Kind kind = Kind::load;
  bool writes = false;               // global memory
  std::uint32_t bytes = 0;           // from the address on; 0: known only when it runs
  std::uint32_t element = 1;         // bytes of one
  std::uint32_t base = no_register;  // the register of its address; none: a number
  std::int64_t offset = 0;           // that the instruction adds
  Sum address;                       // in bytes; of a tensor copy that of its map
  std::vector<Sum> coordinates;      // of a tensor copy, innermost first
  std::vector<Operand> numbers;      // and their operands
  std::vector<std::uint32_t> slice;  // the instructions that compute all of this, ascending
  // The atom of the pointer that the address begins at, as a parameter's offset; none: it has none.
  std::optional<std::uint32_t> pointer;
};

// A value that goes round a loop.
struct Carried {
  std::uint32_t merge = 0;  // Definitions::merge
  std::uint32_t block = 0;  // where the loop begins
  std::vector<Sum> starts;
  std::vector<Sum> nexts;  // what comes round, in terms of itself
  bool even = false;       // start + round * step
  Sum start, step;
};

class Addresses {
 public:
  // `threads`: of a block, x, y, z; 0 where it is not known.
  explicit Addresses(std::shared_ptr<const Program> program,
                     std::array<std::uint32_t, 3> threads = {});

  const Program& program() const { return *program_; }
  const std::vector<Access>& accesses() const { return accesses_; }
  // In the order in which they were found.
  const std::vector<Carried>& carried() const { return carried_; }
  const Sums& sums() const { return sums_; }
  // All instructions of all slices, ascending.
  std::vector<std::uint32_t> slice() const;
  // What an instruction writes, as a sum; nothing for a predicate or what is not followed.
  std::optional<Sum> value(std::uint32_t at);
  // The value that an atom stands for, of kind `value`.
  Defined value_of(const Atom& atom) const { return values_[atom.number]; }
  // What a register holds before an instruction.
  Defined before(std::uint32_t at, std::uint32_t reg) { return definitions_.before(at, reg); }
  const Definitions& definitions() const { return definitions_; }
  // The parameter at an offset of .param: its number, and how far into it.
  std::pair<std::uint32_t, std::uint32_t> parameter_at(std::uint64_t offset) const;
  // The offset in .param that an instruction loads from; none: it loads from elsewhere.
  std::optional<std::uint64_t> parameter_read(std::uint32_t at);

 private:
  Sum sum_of(Defined value);
  Sum computed(std::uint32_t at, std::uint32_t reg);
  std::optional<Sum> followed(std::uint32_t at, std::uint32_t reg);
  std::optional<Sum> moved(const Instruction& i, std::uint32_t at);
  std::optional<Sum> bitwise(const Instruction& i, std::uint32_t at);
  std::optional<Sum> chosen(const Instruction& i, std::uint32_t at);
  std::optional<Sum> loaded(const Instruction& i, std::uint32_t at, std::uint32_t reg);
  Sum operand(std::uint32_t at, std::uint32_t k, bool is_signed = true);
  Sum reg(std::uint32_t at, std::uint32_t number);
  Sum itself(Defined value);
  Bounds bounds_of(Special special) const;
  void look(std::uint32_t at);
  void walk(Access& access);
  void carry();
  bool settle(std::uint32_t merge);
  bool stays(const Sum& sum, std::uint32_t block) const;
  Sum settled(const Sum& sum);

  std::shared_ptr<const Program> program_;
  std::array<std::uint32_t, 3> threads_;
  Definitions definitions_;
  Sums sums_;
  std::vector<Access> accesses_;
  std::vector<Carried> carried_;
  std::vector<Defined> values_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Sum> known_;  // by instruction and register
  std::map<std::uint32_t, std::optional<Sum>> merges_;            // what a merge comes to
  std::map<std::uint32_t, std::uint32_t> special_of_;             // of registers
  int depth_ = 0;
};

}  // namespace tilescope::ptx
