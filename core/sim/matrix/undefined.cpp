// Undefined values through the matrices of a warp: an element of D means nothing if an element of
// its row of A, of its column of B, or its own element of C does not.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "core/sim/checks/undefined.h"
#include "core/sim/machine/model.h"
#include "core/sim/matrix/fragments.h"

namespace tilescope::sim {
namespace {

using u64 = std::uint64_t;

// Calls say(place) for each element of a fragment with an undefined byte.
template <class Say>
void for_undefined(Core& x, const Reference* registers, const Fragment& f, Say say) {
  const int width = f.bits == 64 ? 8 : 4, bytes = std::max(1, f.bits / 8);
  for (int r = 0; r < f.registers; ++r) {
    if (!has_undefined(x, registers[r], width)) continue;
    const std::uint8_t* hidden = shadow(x, registers[r]);
    for (int s = 0; s < f.in_register; ++s) {
      for (int l = 0; l < lanes; ++l) {
        bool any = false;
        const int at = l * width + s * f.bits / 8;
        for (int k = 0; k < bytes; ++k) any = any || hidden[at + k];
        if (any) say(f.place[static_cast<std::size_t>((r * f.in_register + s) * lanes + l)]);
      }
    }
  }
}

Flow mma(Core& x, const Code& c, Mask m) {
  const Mma& mma = mma_forms()[c.immediate];
  const int n = mma.shape.n, k = mma.stored(), b_columns = mma.columns_of_b();
  const MmaOperands o(x, c, mma);
  const Reference* d = o.d;
  bool row[32] = {}, column[32] = {}, own[32 * 8] = {};
  for_undefined(x, o.a, mma.a_fragment, [&](int place) { row[place / k] = true; });
  for_undefined(x, o.b, mma.b_fragment, [&](int place) { column[place % b_columns] = true; });
  for_undefined(x, o.c, mma.c_fragment, [&](int place) { own[place] = true; });
  // Scale factors and metadata: any of them may be anybody's.
  for (const Reference r : {c.a, c.b, c.e}) {
    if (r == nothing || !has_undefined(x, r, 4)) continue;
    std::fill(std::begin(row), std::end(row), true);
  }

  const Flow flow = c.run(x, c, m);
  if (flow != Flow::next) return flow;

  const Fragment& f = mma.d_fragment;
  const int width = f.bits == 64 ? 8 : 4, bytes = f.bits / 8;
  for (int r = 0; r < f.registers; ++r) {
    if (d[r] == nothing) continue;
    std::uint8_t* hidden = shadow(x, d[r]);
    for (int s = 0; s < f.in_register; ++s) {
      for (int l = 0; l < lanes; ++l) {
        const int place = f.place[static_cast<std::size_t>((r * f.in_register + s) * lanes + l)];
        const bool undefined = row[place / n] || column[mma.column(place)] || own[place];
        std::memset(hidden + l * width + s * bytes, undefined ? 0xff : 0,
                    static_cast<std::size_t>(bytes));
      }
    }
    recount(x, d[r], width);
  }
  return flow;
}

// The addresses of the rows decide where memory is touched; the others' do not.
Flow row_addresses(Core& x, const Code& c, Mask m, int count) {
  const Reference address = c.a;
  for (const Reference r : {address, c.b}) {  // c.b: wmma's distance between rows
    const int width = r == address && !c.narrow_address ? 8 : 4;
    if (!has_undefined(x, r, width)) continue;
    const std::uint8_t* hidden = shadow(x, r);
    for (int l = 0; l < count; ++l) {
      bool any = false;
      for (int k = 0; k < width; ++k) any = any || hidden[l * width + k];
      if (!any) continue;
      return x.reports->fault(x, l, "undefined_address", "the address of this row is undefined",
                              "a defined address", fmt::format("undefined{}", origin_text(x)));
    }
  }
  return c.run(x, c, m);
}

}  // namespace

Flow run_matrix_carefully(Core& x, const Code& c, Mask m) {
  const ptx::Instruction& i = x.machine->program().code[x.pc];
  if (multiplies(i)) return mma(x, c, m);
  switch (i.op) {
    case ptx::Op::ldmatrix:
    case ptx::Op::stmatrix:
      return row_addresses(x, c, m, 8 * c.count);
    case ptx::Op::wmma:
      return row_addresses(x, c, m, lanes);
    default:
      return c.run(x, c, m);  // movmatrix moves the marks with the values
  }
}

}  // namespace tilescope::sim
