// What the simulator multiplies and what the atoms say of it are one thing: the fragments of mma
// agree with the thread/value layouts of core/tensor, element by element.
#include <gtest/gtest.h>

#include "core/sim/matrix/fragments.h"
#include "core/tensor/catalog.h"

namespace tilescope::sim {
namespace {

// An atom numbers an operand's elements down its columns; `columns` of them are across.
void expect_same(const Layout& tv, const Fragment& fragment, int rows, int columns, bool across,
                 std::string_view name) {
  const Layout lanes(tv.modes.mode(0)), values(tv.modes.mode(1));
  const std::int64_t elements = rows * columns / 32;
  for (std::int64_t e = 0; e < elements; ++e) {
    for (std::int64_t lane = 0; lane < 32; ++lane) {
      const std::int64_t at = lanes(lane) + values(e);
      const std::int64_t row = at % rows, column = at / rows;
      const std::int64_t place = across ? column * rows + row : row * columns + column;
      ASSERT_EQ(fragment.layout(e * 32 + lane), place)
          << name << " lane " << lane << " value " << e;
    }
  }
}

TEST(Fragments, AreTheAtomsLayouts) {
  int seen = 0;
  for (const std::string& name : atom_names()) {
    const Outcome<Atom> found = atom_named(name);
    const MmaAtom* atom = found.ok() ? std::get_if<MmaAtom>(&*found) : nullptr;
    if (atom == nullptr || !(atom->thr_id == Layout(32, 1)) || bits_of(atom->a.type) > 64) continue;
    const ProductShape shape{static_cast<int>(atom->extent(0)), static_cast<int>(atom->extent(1)),
                             static_cast<int>(atom->extent(2))};
    const int bits = bits_of(atom->a.type);
    // B is k x n row by row in the simulator, n down and k across in an atom.
    expect_same(atom->a.tv, fragment_of_a(shape, bits), shape.m, shape.k, false, name);
    expect_same(atom->b.tv, fragment_of_b(shape, bits), shape.n, shape.k, true, name);
    expect_same(atom->c.tv, fragment_of_c(shape, bits_of(atom->c.type)), shape.m, shape.n, false,
                name);
    ++seen;
  }
  EXPECT_GT(seen, 60);
}

}  // namespace
}  // namespace tilescope::sim
