// Integer expressions as sums of products: what an address is computed from, with shifts and masks
// back to products, quotients and remainders.
//
// A Sum is in one form alone: equal sums are equal member by member. Its atoms are what is not
// taken apart: special registers, parameters, quotients, remainders. All arithmetic is that of
// integers without end: a register is one as long as nothing in it overflows, which is what a
// compiler promises of indices, and what core/ptx/slice_run.h tries.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/ptx/opcodes.h"

namespace tilescope::ptx {

struct Term {
  std::int64_t factor = 0;
  std::vector<std::uint32_t> atoms;  // ascending; none: a number
  friend bool operator==(const Term& a, const Term& b) {
    return a.factor == b.factor && a.atoms == b.atoms;
  }
};

struct Sum {
  std::vector<Term> terms;  // ascending by atoms, no factor 0

  Sum() = default;
  explicit Sum(std::int64_t number) {
    if (number) terms.push_back({number, {}});
  }
  bool zero() const { return terms.empty(); }
  // Its value, where it is a number.
  std::optional<std::int64_t> number() const {
    if (terms.empty()) return 0;
    if (terms.size() == 1 && terms[0].atoms.empty()) return terms[0].factor;
    return std::nullopt;
  }
  // The atom that it is, and nothing more.
  std::optional<std::uint32_t> atom() const {
    if (terms.size() != 1 || terms[0].factor != 1 || terms[0].atoms.size() != 1) return {};
    return terms[0].atoms[0];
  }
  friend bool operator==(const Sum& a, const Sum& b) { return a.terms == b.terms; }
};

// From `low` to `high`, both included; far away means that nothing is known.
struct Bounds {
  static constexpr std::int64_t far = std::int64_t{1} << 62;
  std::int64_t low = -far, high = far;
};

struct Atom {
  enum class Kind : std::uint8_t {
    special,    // number: a Special
    parameter,  // number: its offset in .param; bytes: 8 may be a pointer
    place,      // the address of a parameter; number: its offset
    round,      // how often a loop has come round; number: its block
    quotient,   // of[0] / of[1], towards zero
    remainder,  // what that leaves, with the sign of of[0]
    shifted,    // of[0] / 2^number, downwards
    masked,     // the lower `number` bits of of[0]
    bias,       // 2^number - 1 where of[0] is negative, else 0
    choice,     // of[0] where of[2] and of[3] compare so (number: Compare), else of[1]
    smaller,    // of of[0] and of[1]
    greater,
    both,       // bit by bit: and
    either,     // or
    differing,  // xor
    value,      // what an instruction leaves in a register, not taken apart; number: of a Defined
    merge,      // one of several; number: Definitions::merge
  };
  Kind kind = Kind::special;
  std::uint64_t number = 0;
  std::uint32_t bytes = 0;
  std::vector<Sum> of;
  Bounds bounds;
};

// tid, laneid, warpid: what differs from thread to thread of a block.
bool is_thread(const Atom& atom);

// Atoms, each once, and what is done with sums of them. What grows beyond reason is refused:
// nothing comes back, and whoever asked keeps the register as an atom.
class Sums {
 public:
  static constexpr std::size_t most_terms = 48, most_factors = 5, most_atoms = 4000;

  const Atom& atom(std::uint32_t number) const { return atoms_[number]; }
  std::size_t atoms() const { return atoms_.size(); }
  Sum of(Atom atom);

  std::optional<Sum> add(const Sum& a, const Sum& b, std::int64_t times = 1);  // a + times * b
  std::optional<Sum> multiply(const Sum& a, const Sum& b);
  std::optional<Sum> divide(const Sum& a, const Sum& b);     // towards zero
  std::optional<Sum> remainder(const Sum& a, const Sum& b);  // with the sign of a
  std::optional<Sum> shift_right(const Sum& a, int by);      // downwards
  std::optional<Sum> low_bits(const Sum& a, int bits);
  std::optional<Sum> mask(const Sum& a, std::uint64_t bits, int width);
  // Bits that never meet, so that or, xor and + are the same.
  bool apart(const Sum& a, const Sum& b) const;

  Bounds bounds(const Sum& sum) const;
  // Does the sum, or what its atoms are made of, hold such an atom?
  bool any(const Sum& sum, const std::function<bool(const Atom&)>& wanted) const;
  // With each atom that `instead` knows another sum for replaced, in atoms too.
  std::optional<Sum> with(const Sum& sum,
                          const std::function<std::optional<Sum>(const Atom&)>& instead);

 private:
  std::optional<Sum> scaled(const Sum& a, std::int64_t by) const;
  Sum with_remainders(Sum sum);
  Bounds bounds_of(const Term& term) const;
  std::optional<Sum> rebuilt(const Atom& atom);
  std::optional<Sum> replaced(const Sum& sum,
                              const std::function<std::optional<Sum>(const Atom&)>& instead);

  std::vector<Atom> atoms_;
  bool looks_ = false;  // for remainders: what it builds itself is not looked through
  int depth_ = 0;       // of `with`
};

// A sum as text: "(tid mod 32) * 4 + (tid / 32) * n * 4". `name` says what an atom is called where
// it is a parameter, a round, a value or a merge.
std::string text(const Sums& sums, const Sum& sum,
                 const std::function<std::string(const Atom&)>& name);

}  // namespace tilescope::ptx
