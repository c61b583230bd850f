// Copies to and from TMEM (sm_100a): tcgen05.ld, tcgen05.st and tcgen05.cp.
//
//     SM100_TMEM_LOAD_32dp32b8x       32 lanes, 32 bits a lane at once, 8 times: 8 columns
//     SM100_TMEM_LOAD_16dp256b4x_16b  16-bit elements, each alone in its column (.pack::16b)
//     SM100_TMEM_STORE_16dp64b2x      the same the other way round
//     SM100_UTCCP_128dp256bit_1cta    from shared memory, by one CTA or a pair
//
// The reference side of a load is TMEM: every thread of the warp sees all of it (stride 0)
// and takes its own registers. 16dp32b is .16x32bx2; CuTe lets its two halves lie side by side.
// Source: CuTe, include/cute/atom/copy_traits_sm100.hpp; PTX ISA 9.7.16.8 (ld, st), 9.7.16.9 (cp).
#include <fmt/format.h>

#include <array>

#include "core/tensor/catalog.h"
#include "core/tensor/mma_names.h"

namespace tilescope {
namespace {

constexpr std::int64_t lane_bits = 1 << 21;  // from one lane to the next (CuTe's TMEM::DP_b)

// `lanes` lanes, `width` bits of each at once.
struct Shape {
  std::string_view name;
  std::int64_t lanes, width, most;  // most repetitions
};
constexpr Shape shapes[] = {{"16dp256b", 16, 256, 32},
                            {"16dp128b", 16, 128, 64},
                            {"16dp64b", 16, 64, 128},
                            {"16dp32b", 16, 64, 128},  // .16x32bx2: two halves of 32 bits
                            {"32dp32b", 32, 32, 128}};

Layout group(const Tree<Mode>& modes) {
  return Layout(modes.unwrapped());
}

// (thread, bit of its registers) -> bit, counted along a lane first. `row` is the bits of a lane.
Layout registers(const Shape& s, std::int64_t times) {
  const std::int64_t row = s.width * times;
  Tree<Mode> threads, bits;
  if (s.name == "32dp32b") {
    threads.push(Mode{32, row});
    bits.push(Mode{row, 1});
  } else if (s.name == "16dp32b") {
    threads.push(Mode{16, row});
    threads.push(Mode{2, row / 2});
    bits.push(Mode{row / 2, 1});
  } else if (s.name == "16dp64b") {
    threads.push(Mode{2, 8 * row});
    threads.push(Mode{2, 32});
    threads.push(Mode{8, row});
    bits.push(Mode{32, 1});
    if (times > 1) bits.push(Mode{times, s.width});
  } else {  // eight rows, four threads a row; the other eight rows in further registers
    threads.push(Mode{4, s.width / 4});
    threads.push(Mode{8, row});
    bits.push(Mode{s.width / 4, 1});
    bits.push(Mode{2, 8 * row});
    if (times > 1) bits.push(Mode{times, s.width});
  }
  return make_layout_of(group(threads), group(bits));
}

CopyAtom move(const Shape& s, std::int64_t times, bool load, bool packed) {
  const std::int64_t row = s.width * times;
  const Layout lane = packed ? make_layout_of(Layout(16, 1), Layout(row / 16, 32)) : Layout(row, 1);
  const Layout tmem = make_layout_of(Layout(32, 0), Layout(s.lanes * row, 1));
  CopyAtom out;
  out.source = load ? "cute/atom/copy_traits_sm100.hpp; PTX ISA tcgen05.ld"
                    : "cute/atom/copy_traits_sm100.hpp; PTX ISA tcgen05.st";
  out.thr_id = Layout(32, 1);
  out.src_bits = load ? tmem : registers(s, times);
  out.dst_bits = load ? registers(s, times) : tmem;
  out.ref_bits = tmem;
  out.from = load ? Memory::tmem : Memory::rmem;
  out.to = load ? Memory::rmem : Memory::tmem;
  out.tmem_bits = make_layout_of(lane, Layout(s.lanes, lane_bits));
  return out;
}

struct Spelled {
  const Shape* shape;
  std::int64_t times;
  bool load, packed;
};

// LOAD_16dp256b4x_16b; times is 0 where the number is missing.
std::optional<Spelled> spelled(std::string_view base) {
  Spelled out{};
  if (!mma_names::take(base, "SM100_TMEM_")) return std::nullopt;
  out.load = mma_names::take(base, "LOAD_");
  if (!out.load && !mma_names::take(base, "STORE_")) return std::nullopt;
  for (const Shape& shape : shapes) {
    std::string_view rest = base;
    if (!mma_names::take(rest, shape.name)) continue;
    out.shape = &shape;
    out.times = mma_names::take_number(rest).value_or(0);
    if (!mma_names::take(rest, "x")) return std::nullopt;
    out.packed = mma_names::take(rest, "_16b");
    if (rest.empty()) return out;
  }
  return std::nullopt;
}

// One form of tcgen05.cp, of one CTA; a pair has ThrID 2:1 and the same in both.
struct Refresh {
  std::string_view name;
  Layout src, dst, tmem;
};

const std::array<Refresh, 6>& refreshes() {
  const auto one = [](const Layout& bits) { return make_layout_of(Layout(1, 0), bits); };
  const auto all = [&](std::int64_t bits) { return one(Layout(bits, 1)); };
  const auto rows = [](std::int64_t lanes, std::int64_t bits) {
    return make_layout_of(Layout(lanes, lane_bits), Layout(bits, 1));
  };
  const Layout four = one(make_layout_of(Layout(4, 32), Layout(256, 128)));
  static const std::array<Refresh, 6> out = {{
      {"128dp256bit", all(32768), all(32768), rows(128, 256)},
      {"128dp128bit", all(16384), all(16384), rows(128, 128)},
      // The last four lanes of each quarter, seen as a refresh of all 128 (CuTe's view).
      {"4dp256bit", four, four, rows(128, 256)},
      {"4x32dp128bit", one(make_layout_of(Layout(32, 1), Layout(128, 32), Layout(4, 0))),
       all(16384),
       make_layout_of(Layout(32, lane_bits), Layout(128, 1), Layout(4, 32 * lane_bits))},
      {"2x64dp128bitlw0213", one(make_layout_of(Layout(64, 1), Layout(128, 64), Layout(2, 0))),
       all(16384),
       make_layout_of(Layout(64, lane_bits), Layout(128, 1), Layout(2, 64 * lane_bits))},
      {"2x64dp128bitlw0123",
       one(make_layout_of(Layout(32, 1), Layout(128, 32), Layout(2, 4096), Layout(2, 0))),
       all(16384),
       make_layout_of(Layout(32, lane_bits), Layout(128, 1), Layout(2, 64 * lane_bits),
                      Layout(2, 32 * lane_bits))},
  }};
  return out;
}

Layout with_ctas(const Layout& bits, bool pair) {
  return pair ? make_layout_of(Layout(2, 0), Layout(bits.modes.mode(1))) : bits;
}

std::optional<CopyAtom> refresh(std::string_view base) {
  if (!mma_names::take(base, "SM100_UTCCP_")) return std::nullopt;
  for (const Refresh& r : refreshes()) {
    std::string_view rest = base;
    if (!mma_names::take(rest, r.name)) continue;
    const bool pair = rest == "_2cta";
    if (!pair && rest != "_1cta") continue;
    CopyAtom out;
    out.source = "cute/atom/copy_traits_sm100.hpp; PTX ISA tcgen05.cp";
    out.thr_id = pair ? Layout(2, 1) : Layout(1, 0);
    out.src_bits = with_ctas(r.src, pair);
    out.dst_bits = out.ref_bits = with_ctas(r.dst, pair);
    out.from = Memory::smem;
    out.to = Memory::tmem;
    out.tmem_bits = r.tmem;
    return out;
  }
  return std::nullopt;
}

AtomAnswer make(const AtomSpelling& s) {
  std::optional<CopyAtom> atom = refresh(s.base);
  ElementType value = ElementType::u8;
  if (const std::optional<Spelled> form = spelled(s.base)) {
    const bool power = form->times > 0 && (form->times & (form->times - 1)) == 0;
    if (!power || form->times > form->shape->most) {
      return no_atom(s, fmt::format("it is repeated {} times, and legal are 1, 2, 4 .. {}.",
                                    form->times, form->shape->most));
    }
    atom = move(*form->shape, form->times, form->load, form->packed);
    value = form->packed ? ElementType::f16 : ElementType::f32;
  }
  if (!atom) return std::nullopt;
  if (s.arguments.size() == 1) {
    const std::optional<ElementType> named = element_named(s.arguments[0]);
    if (!named) {
      return no_atom(s,
                     fmt::format("{} is no type; there are {}.", s.arguments[0], element_names()));
    }
    value = *named;
  }
  if (s.arguments.size() > 1) return no_atom(s, "it takes the type of the values, or nothing.");
  atom->name = AtomName(s.whole);
  const Result<CopyAtom> out = with_values(*atom, value);
  if (!out) {
    return no_atom(s, fmt::format("values of {} bits would be torn apart.", bits_of(value)));
  }
  return Atom(*out);
}

template <class F>
void each_name(F f) {
  for (const char* direction : {"LOAD", "STORE"}) {
    for (const Shape& shape : shapes) {
      for (std::int64_t times = 1; times <= shape.most; times *= 2) {
        for (const char* packed : {"", "_16b"}) {
          f(fmt::format("SM100_TMEM_{}_{}{}x{}", direction, shape.name, times, packed));
        }
      }
    }
  }
  for (const Refresh& r : refreshes()) {
    for (const char* ctas : {"_1cta", "_2cta"}) {
      f(fmt::format("SM100_UTCCP_{}{}", r.name, ctas));
    }
  }
}

void list(std::vector<AtomFamily>& out) {
  for (const char* direction : {"LOAD", "STORE"}) {
    for (const Shape& shape : shapes) {
      out.push_back({fmt::format("SM100_TMEM_{}_{}1x", direction, shape.name),
                     fmt::format("1x, 2x, 4x .. {}x; also _16b; type of the values", shape.most)});
    }
  }
  for (const Refresh& r : refreshes()) {
    out.push_back({fmt::format("SM100_UTCCP_{}_1cta", r.name), "_1cta, _2cta; type of the values"});
  }
}

void list_names(std::vector<std::string>& out) {
  each_name([&](const std::string& name) { out.push_back(name); });
}

}  // namespace

const AtomMaker tmem_copies = {make, list, list_names};

}  // namespace tilescope
