// An mma.sync or wmma.mma, told to who watches products (product_watch.h).
#include <cstring>

#include "core/sim/machine/model.h"
#include "core/sim/matrix/fragments.h"
#include "core/sim/matrix/product_watch.h"

namespace tilescope::sim {
namespace {

// The patterns of a matrix of `count` elements out of registers of 32 bits, or of 64.
std::vector<std::uint64_t> patterns(const Core& x, const Reference* registers, const Fragment& f,
                                    int count) {
  std::vector<std::uint64_t> out(static_cast<std::size_t>(count));
  const std::uint16_t* place = f.place.data();
  const std::size_t width = f.bits == 64 ? 8 : 4;
  const std::uint64_t mask = f.bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << f.bits) - 1;
  for (int r = 0; r < f.registers; ++r) {
    if (registers[r] == nothing) {
      place += f.in_register * lanes;
      continue;
    }
    const std::byte* from = x.bank[registers[r] >> 31] + (registers[r] & ~constant_bit);
    for (int shift = 0; shift < static_cast<int>(8 * width); shift += f.bits) {
      for (int l = 0; l < lanes; ++l, ++place) {
        std::uint64_t word = 0;
        std::memcpy(&word, from + static_cast<std::size_t>(l) * width, width);
        out[*place] = word >> shift & mask;
      }
    }
  }
  return out;
}

}  // namespace

bool is_watched(const Core& x) {
  return x.machine->options.products != nullptr;
}

Flow run_watched(Handler run, Core& x, const Code& code, Mask m) {
  ProductWatch& watch = *x.machine->options.products;
  const double now = x.machine->now();
  ProductSeen out;
  out.issue = {ProductUnit::warp,
               x.block->number,
               x.block->number,
               x.warp->index,
               x.pc,
               x.warp->executed,
               now,
               now,
               0};
  if (x.warp->live != ~Mask{0} || !watch.wants(out.issue)) return run(x, code, m);
  const Mma& mma = mma_forms()[code.immediate];
  const MmaOperands o(x, code, mma);
  const auto [rows, columns, depth] = mma.shape;
  out.form = code.immediate;
  out.sparse = mma.sparse;
  out.accumulate = true;
  const int rows_of_a = mma.four ? 32 : rows, columns_of_b = mma.columns_of_b();
  out.m = static_cast<std::uint32_t>(rows_of_a);
  out.n = static_cast<std::uint32_t>(columns);
  out.k = static_cast<std::uint32_t>(depth);
  out.a_patterns = patterns(x, o.a, mma.a_fragment, rows_of_a * mma.stored());
  out.b_patterns = patterns(x, o.b, mma.b_fragment, depth * columns_of_b);
  out.before = patterns(x, o.c, mma.c_fragment, rows_of_a * columns);
  const Flow flow = run(x, code, m);
  if (flow != Flow::next) return flow;
  out.after = patterns(x, o.d, mma.d_fragment, rows_of_a * columns);
  watch.seen(std::move(out));
  return flow;
}

}  // namespace tilescope::sim
