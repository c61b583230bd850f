// Explanations of tiled operations: the tile, the atom's threads and values, the thread's
// coordinate, what the slice keeps.
#include <fmt/format.h>

#include "core/language/account.h"
#include "core/language/explain.h"
#include "core/tensor/fragment.h"
#include "core/tensor/text.h"

namespace tilescope {
namespace {

constexpr char extent_letter[] = {'M', 'N', 'K'};

char letter(OperandName x) {
  return x == OperandName::a ? 'A' : x == OperandName::b ? 'B' : 'C';
}

std::string count_text(const Layout& tv, int mode) {
  const Result<std::int64_t> n = detail::mode_size(tv, mode);
  return n ? fmt::to_string(*n) : "?";
}

// "8 values" or "1 value".
std::string values_text(const Layout& tv) {
  const std::string n = count_text(tv, 1);
  return fmt::format("{} value{}", n, n == "1" ? "" : "s");
}

// What each number of a coordinate moves, with its digits where the mode has several.
void say_moves(const Tuple& at, const Tree<Mode>& modes, Account account) {
  if (!at.scalar()) {
    for (int i = 0; i < at.rank() && i < modes.rank(); ++i) {
      say_moves(at.mode(i), modes.mode(i), account);
    }
    return;
  }
  const Int& number = at.leaf[0];
  const Layout mode(modes);
  if (number.kind == Int::Kind::all || number.is(0)) return;
  const Result<Place> moved = place_of(at, mode);
  const Result<Tuple> digits = idx2crd(number, mode.shape());
  if (!moved || !digits) return;
  account.say(fmt::format("at {}", text(number)), text(mode),
              mode.leaves() == 1
                  ? fmt::format("It moves by {}.", text(*moved))
                  : fmt::format("It is {} there, and moves by {}.", text(*digits), text(*moved)));
}

// What begins where, and by which rule.
std::string beginning_text(const Tuple& kept, const Layout& whole, const Slice& part) {
  Layout plain(whole.modes);
  const Result<Slice> unswizzled = slice(kept, plain);
  if (!unswizzled) return "";
  const std::string sum = text(unswizzled->offset);
  if (whole.swizzle.identity()) return fmt::format("They begin at {}.", sum);
  if (!part.layout.swizzle.identity()) {
    return fmt::format("Of {}, what meets the swizzle stays inside: {}; {} is added after it.", sum,
                       text(part.layout.offset), text(part.offset));
  }
  return fmt::format(
      "{} is swizzled to {}; no two bits that the swizzle XORs are left, so that what "
      "is kept is a plain layout.",
      sum, text(part.offset));
}

void say_slice(const Tuple& kept, const Layout& whole, const Slice& part, Account account) {
  say_moves(kept, whole.modes, account);
  account.say("kept", text(kept), part.layout,
              "`_` keeps its modes. " + beginning_text(kept, whole, part));
}

// What a partition of a tiled MMA tells of itself.
struct MmaTelling : PartitionSilent {
  const TiledMma& mma;
  OperandName x;
  Account account;
  Layout whole;  // as it was told last

  MmaTelling(const TiledMma& m, OperandName name, Account a) : mma(m), x(name), account(a) {}

  std::string extents() const {
    const auto [first, second] = detail::extents_of(x);
    return fmt::format("({},{})", extent_letter[first], extent_letter[second]);
  }
  void tiled(const Layout& layout) {
    const auto [first, second] = detail::extents_of(x);
    const Result<std::int64_t> rows = tile_size(mma, first), columns = tile_size(mma, second);
    if (!rows || !columns) return;
    account.say(
        "tile", fmt::format("{} x {}", *rows, *columns), layout,
        fmt::format("All threads together multiply a tile of {} = ({},{}); each mode of the "
                    "layout becomes (inside the tile, which tile).",
                    extents(), *rows, *columns));
  }
  void cut(const Layout& layout) {
    const auto [first, second] = detail::extents_of(x);
    account.say("atoms", fmt::format("{} x {}", mma.atom.extent(first), mma.atom.extent(second)),
                layout, "Cut into atoms: ((element of the atom), (which atom)).");
  }
  void held(const Layout& layout) {
    const Layout& tv = mma.operand(x).tv;
    account.say(
        "composition", text(tv), layout,
        fmt::format("The atom's Layout{}_TV in place of its elements: {} threads, each with "
                    "{}.",
                    letter(x), count_text(tv, 0), values_text(tv)));
  }
  void dealt(const Layout& layout) {
    const auto [first, second] = detail::extents_of(x);
    whole = layout;
    account.say(
        "deal out",
        fmt::format("{} x {}", count_text(mma.thr_layout_vmnk, first + 1),
                    count_text(mma.thr_layout_vmnk, second + 1)),
        layout,
        fmt::format("The atoms along {} and {} go to the atoms' threads in turn: ((thread of "
                    "the atom, (atom along {}, {})), (value, further atoms)).",
                    extent_letter[first], extent_letter[second], extent_letter[first],
                    extent_letter[second]));
  }
  void thread(const Tuple& vmnk) {
    account.say("thread", text(mma.thr_layout_vmnk),
                fmt::format("Its coordinate (V,M,N,K) is {}: thread {} of its atom, which is atom "
                            "({},{},{}) along (M,N,K).",
                            text(vmnk), text(vmnk.leaf[0]), text(vmnk.leaf[1]), text(vmnk.leaf[2]),
                            text(vmnk.leaf[3])));
  }
  void part(const Tuple& kept, const Slice& slice) { say_slice(kept, whole, slice, account); }
};

// What a partition of a tiled copy tells of itself.
struct CopyTelling : PartitionSilent {
  const TiledCopy& copy;
  Side side;
  Account account;
  Layout whole;

  CopyTelling(const TiledCopy& c, Side s, Account a) : copy(c), side(s), account(a) {}

  void tiled(const Layout& layout) {
    account.say(
        "zipped_divide", text(copy.tiler), layout,
        fmt::format("All threads together copy a tile of {}: ((element of the tile), (which "
                    "tile)).",
                    text(copy.tiler)));
  }
  void held(const Layout& by_thread) {
    const bool source = side == Side::source;
    account.say(source ? "source" : "destination", text(detail::values_of(copy, side)), by_thread,
                fmt::format("The copy's (thread, value) layout, as the atom's {} sees it: (thread, "
                            "(value of an atom, atom)) to the element of the tile.",
                            source ? "source" : "destination"));
  }
  void dealt(const Layout& layout) {
    whole = layout;
    account.say(
        "composition", "", layout,
        "Through it the tile's elements become the layout's offsets: (thread, (value, atom), "
        "(which tile)).");
  }
  void thread(const Tuple& thr) {
    account.say("thread", text(thr), "The thread's number is its coordinate.");
  }
  void part(const Tuple& kept, const Slice& slice) { say_slice(kept, whole, slice, account); }
};

Account top(Derivation& steps) {
  return {steps, 1};
}

void say_atom(const MmaAtom& atom, Account account) {
  const bool ctas = atom.c.memory == Memory::tmem;
  const std::string threads = count_text(atom.a.tv, 0);
  account.say("atom", std::string(atom.name.view()), atom.thr_id,
              fmt::format("One instruction multiplies a tile of {} (M,N,K), by {} {}{}.",
                          text(atom.shape_mnk), threads, ctas ? "CTA" : "thread",
                          threads == "1" ? "" : "s"));
}

}  // namespace

void explain_slice(const Tuple& coordinate, const Layout& layout, Derivation& steps) {
  const Result<Slice> part = slice(coordinate, layout);
  if (part) say_slice(coordinate, layout, *part, top(steps));
}

void explain_tiled_mma(const TiledMma& mma, Derivation& steps) {
  Account account = top(steps);
  say_atom(mma.atom, account);
  account.say(
      "tiled_product", text(mma.atom.thr_id), mma.thr_layout_vmnk,
      fmt::format("The atom's threads, repeated {} x {} x {} times along (M,N,K): (thread of "
                  "the atom, atom along M, N, K) to thread.",
                  count_text(mma.thr_layout_vmnk, 1), count_text(mma.thr_layout_vmnk, 2),
                  count_text(mma.thr_layout_vmnk, 3)));
  for (const int extent : {0, 1, 2}) {
    const Result<std::int64_t> n = tile_size(mma, extent);
    if (!n) return;
    const Tiler asked = mma.permutation.mode(extent);
    const std::int64_t atoms = detail::mode_size(mma.thr_layout_vmnk, extent + 1).value;
    const std::int64_t reach = mma.atom.extent(extent) * atoms;
    std::string sentence = fmt::format("{} atom{} of {} along {}: {}", atoms, atoms == 1 ? "" : "s",
                                       mma.atom.extent(extent), extent_letter[extent], reach);
    if (!asked.keeps_whole() && *n != reach) {
      sentence += fmt::format("; a tile of {} was asked for, so each thread has {} of them", *n,
                              *n / reach > 0 ? *n / reach : 1);
    }
    if (!asked.keeps_whole() && !asked.layout().modes.scalar()) {
      sentence += fmt::format("; {} says in which order", text(asked));
    }
    account.say(fmt::format("tile {}", extent_letter[extent]), fmt::to_string(*n), sentence + ".");
  }
}

void explain_tiled_copy(const TiledCopy& copy, Derivation& steps) {
  Account account = top(steps);
  account.say(
      "atom", std::string(copy.atom.name.view()), copy.atom.ref,
      fmt::format("One instruction moves, by {} thread{}, {} each of {} bits: (thread, "
                  "value) to what is moved.",
                  count_text(copy.atom.ref, 0), count_text(copy.atom.ref, 0) == "1" ? "" : "s",
                  values_text(copy.atom.ref), bits_of(copy.atom.value)));
  account.say("tile", text(copy.tiler), copy.layout_tv,
              fmt::format("{} threads copy a tile of {}, {} each.", count_text(copy.layout_tv, 0),
                          text(copy.tiler), values_text(copy.layout_tv)));
}

void explain_thread(const TiledMma& mma, const Int& thr, Derivation& steps) {
  const Result<Tuple> vmnk = thread_coordinate(mma.thr_layout_vmnk, thr);
  if (vmnk) MmaTelling(mma, OperandName::c, top(steps)).thread(*vmnk);
}

void explain_operand(const TiledMma& mma, OperandName x, Derivation& steps) {
  const auto [first, second] = detail::extents_of(x);
  const Result<std::int64_t> rows = tile_size(mma, first), columns = tile_size(mma, second);
  if (!rows || !columns) return;
  const Result<Layout> tile = make_layout(make_tuple_of(*rows, *columns));
  if (!tile) return;
  Account account = top(steps);
  MmaTelling telling(mma, x, account);
  (void)detail::thrfrg(mma, x, *tile, telling);
  account.call(
      "composition", text(mma.thr_layout_vmnk), layout_tv(mma, x),
      x == OperandName::c
          ? "From the thread's number to its coordinate, and to what it has."
          : fmt::format("The same for every atom along {}, and from the thread's number to "
                        "its coordinate.",
                        x == OperandName::a ? 'N' : 'M'));
}

void explain_side(const TiledCopy& copy, Side side, Derivation& steps) {
  const Result<Layout> tile = make_layout(make_tuple_of(copy.tiler, 1));
  CopyTelling telling(copy, side, top(steps));
  if (tile) (void)detail::tile_to_threads(copy, *tile, detail::values_of(copy, side), telling);
}

void explain_partition(const TiledMma& mma, OperandName x, const Int& thr, const Layout& layout,
                       Derivation& steps) {
  MmaTelling telling(mma, x, top(steps));
  (void)detail::partition(mma, x, thr, layout, telling);
}

void explain_partition(const TiledCopy& copy, Side side, const Int& thr, const Layout& layout,
                       Derivation& steps) {
  CopyTelling telling(copy, side, top(steps));
  (void)detail::partition(copy, side, thr, layout, telling);
}

void explain_fragment(const TiledMma& mma, OperandName x, const Int& thr, const Layout& layout,
                      Derivation& steps) {
  Account account = top(steps);
  const Result<Slice> part = partition(mma, x, thr, layout);
  if (!part) return;
  account.say(fmt::format("partition_{}", letter(x)), text(layout), part->layout,
              "What the thread has of the whole.");
  std::string sentence;
  switch (mma.operand(x).memory) {
    case Memory::smem:
      sentence =
          "It stays in shared memory: each atom is one descriptor (1:0), and the others are "
          "so many 16-byte units apart.";
      break;
    case Memory::tmem:
      sentence = "It is in TMEM: the lane is 65536 times 32 bits, the column one.";
      break;
    default:
      sentence = x == OperandName::c
                     ? "Registers without gaps, in the order of the modes."
                     : "Registers without gaps: the atom's values first, then the order of the "
                       "strides.";
  }
  account.call("fragment", text(part->layout.shape()), fragment(mma, x, thr, layout), sentence);
}

void explain_retile(const TiledCopy& copy, const Layout& fragment, Derivation& steps) {
  Account account = top(steps);
  account.say(
      "atom", text(copy.atom.ref),
      fmt::format("Each thread has {} of a tile of {}, and an atom moves {}.",
                  count_text(copy.layout_tv, 1), text(copy.tiler), values_text(copy.atom.ref)));
  account.call("retile", text(fragment), retile(copy, fragment),
               "The same registers: mode 0 becomes (values of an atom, atoms).");
}

void explain_local_tile(const Layout& layout, const Tiler& tiler, const Tuple& coordinate,
                        const Tuple& projection, Derivation& steps) {
  const Result<Tiler> cut = detail::diced(tiler, projection);
  const Result<Tuple> at = detail::diced(coordinate, projection);
  if (!cut || !at) return;
  Account account = top(steps);
  if (!projection.empty()) {
    account.say(
        "projection", text(projection),
        fmt::format("Where it has a number, modes count: the tile is {}, the coordinate {}.",
                    text(*cut), text(*at)));
  }
  const Result<Layout> tiled = zipped_divide(layout, *cut);
  account.call("zipped_divide", fmt::format("{}, {}", text(layout), text(*cut)), tiled,
               "((element of the tile), (which tile)).");
  if (!tiled) return;
  const Tree<Mode> rest = tiled->modes.mode(1);
  const Tuple kept = make_tuple_of(detail::underscores(tiled->modes.mode(0).rank()),
                                   detail::filled(*at, rest.rank()));
  const Result<Slice> part = slice(kept, *tiled);
  if (part) say_slice(kept, *tiled, *part, account);
}

void explain_local_partition(const Layout& layout, const Layout& threads, const Int& index,
                             const Tuple& projection, Derivation& steps) {
  const Result<Tuple> whole = thread_coordinate(threads, index);
  const Result<Tuple> sizes = detail::sizes_of_modes(threads);
  if (!whole || !sizes) return;
  const Result<Tuple> shape = detail::diced(*sizes, projection),
                      at = detail::diced(*whole, projection);
  if (!shape || !at) return;
  Account account = top(steps);
  account.say(
      "thread", text(threads),
      fmt::format("Thread {} is at {} of {}{}.", text(index), text(*whole), text(*sizes),
                  projection.empty() ? "" : fmt::format(", and {} counts here", text(*at))));
  const Result<Layout> tiled = zipped_divide(layout, Tiler(*shape));
  account.call("zipped_divide", fmt::format("{}, {}", text(layout), text(*shape)), tiled,
               "The threads laid over it again and again: ((which thread), (how often)).");
  if (!tiled) return;
  const Tuple kept = make_tuple_of(*at, detail::underscores(tiled->modes.mode(1).rank()));
  const Result<Slice> part = slice(kept, *tiled);
  if (part) say_slice(kept, *tiled, *part, account);
}

}  // namespace tilescope
