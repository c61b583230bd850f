// How a level is written: statement after statement, with arithmetic that folds what it can.
// Inside core/lower.
#pragma once

#include <utility>
#include <vector>

#include "core/lower/lowering.h"

namespace tilescope::lowering {

// A number that is known, or a result.
struct Val {
  bool known = true;
  std::int64_t number = 0;
  Use use;

  Val() = default;
  Val(std::int64_t n) : number(n) {}    // NOLINT: a number is a value
  Val(Use u) : known(false), use(u) {}  // NOLINT: so is a result
  bool is(std::int64_t n) const { return known && number == n; }
};

struct Build {
  Level level;
  std::vector<int> from;  // of the statements that are written now

  Use add(Op op, Type type, std::vector<Use> uses = {});
  Statement& last() { return level.statements.back(); }
  const Statement& at(const Use& use) const {
    return level.statements[static_cast<std::size_t>(use.statement)];
  }
  const Type& type(const Use& use) const { return at(use).type; }

  // A known number as a statement; a result as it is.
  Use made(const Val& value);
  // x * 1, x + 0 and what is known on both sides need no statement; a known number stands right.
  Val mul(const Val& a, const Val& b);
  Val sum(const Val& a, const Val& b);
  Val div(const Val& a, const Val& b);
  Val rem(const Val& a, const Val& b);
  Val ceil_div(const Val& a, const Val& b);

 private:
  Val binary(Op op, const Val& a, const Val& b);
};

// One leaf of a layout with its numbers as values of a level.
struct LeafVals {
  Val shape, stride;
};

// The offset of a coordinate: quotients and remainders of a number over several leaves, the first
// fastest, the last without bound; then the sum of products, in the order of the leaves. `digits`
// has the coordinate's numbers in order, `_` left out.
Val offset_of(Build& build, const Tuple& coordinate, const Tree<Mode>& modes,
              const std::vector<LeafVals>& leaves, const std::vector<Val>& digits);

// --- types ------------------------------------------------------------------------------------

Type memref(const Layout& layout, std::int64_t align);
Type pointer(std::int64_t align);
Type of_layout(const Layout& layout);
Type of_tuple(Type::Kind kind, const Tuple& tuple);
LlvmType llvm_numbers(const Tuple& tuple);   // struct<()>, i32, struct<(i32, i32)>
LlvmType llvm_layout(const Layout& layout);  // struct<(shape, stride)>
LlvmType llvm_memref(const Layout& layout);  // struct<(ptr<1>, layout)>
Type of_llvm(LlvmType type);

int unknowns(const Tuple& tuple);  // numbers that are not known
bool all_known(const Layout& layout);
int shape_unknowns(const Layout& layout);
int stride_unknowns(const Layout& layout);
// Where the i-th unknown number of a layout is inside its struct: shape before stride.
std::vector<int> path_of(const Layout& layout, int unknown);

// The levels, each from the one before.
Outcome<Build> written(const Request& request);
Outcome<Build> sliced(const Lowering& lowering, const Level& before);
Outcome<Build> arithmetic(const Lowering& lowering, const Level& before);
Outcome<Build> to_llvm(const Lowering& lowering, const Level& before);
Build folded(const Level& before);
void name_all(Level& level);

}  // namespace tilescope::lowering
