#include "tests/conformance/matrix_kernel.h"

#include <cstdio>

#include "tests/conformance/kernel_text.h"

namespace tilescope::conformance {
namespace {

using ptx::Field;
using ptx::Operation;
using ptx::Part;
using ptx::Type;
using u32 = std::uint32_t;

struct MatrixShape {
  u32 m = 0, n = 0, k = 0;
};

MatrixShape shape_of(const Spelling& s) {
  MatrixShape out;
  const std::string text(word(s, Field::shape));
  std::sscanf(text.c_str(), "m%un%uk%u", &out.m, &out.n, &out.k);
  return out;
}

// A matrix in memory: its lines are rows or columns.
struct Tile {
  std::string part;
  Type type = Type::none;
  u32 rows = 0, columns = 0;
  bool by_rows = true, global = false, dense = true;
  std::string space;  // as the instruction says it
  u32 begin = 0;      // in the warp's own memory

  u32 width() const { return static_cast<u32>(ptx::bits_of(type)) / 8; }
  u32 line() const { return (by_rows ? columns : rows) * width(); }
  // A line begins at a multiple of the fragment's size, which is 32 bytes at most (PTX ISA
  // 9.7.14.4.3).
  u32 stride() const { return dense ? line() : (line() + 63) / 32 * 32; }
  u32 bytes() const { return stride() * (by_rows ? rows : columns); }
};

// What fills a word of memory.
Type word_of(Type element) {
  switch (element) {
    case Type::f16:
      return Type::f16x2;
    case Type::bf16:
      return Type::bf16x2;
    case Type::s8:
    case Type::u8:
      return Type::b32;
    default:
      return element;
  }
}

class Writer {
 public:
  explicit Writer(const Spelling& s) : s_(s), t_(s), shape_(shape_of(s)) {}

  Kernel write() {
    choose_types();
    choose_tiles();
    t_.variable(".reg .b32 %tiles, %at");
    t_.variable(".reg .b64 %global, %place");
    t_.variable(fmt::format(".shared .align 128 .b8 tiles[{}]", 4 * bytes_));
    t_.module(fmt::format(".global .align 128 .b8 room[{}];\n", lanes / 32 * bytes_));
    t_.say("shr.u32 %at, %thread, 5");
    t_.say("mov.u32 %tiles, tiles");
    t_.say("mad.lo.u32 %tiles, %at, {}, %tiles", bytes_);
    t_.say("shr.u32 %at, %lane, 5");
    t_.say("mov.u64 %global, room");
    t_.say("mad.wide.u32 %global, %at, {}, %global", bytes_);
    t_.variable(".reg .b32 %mine");
    t_.say("and.b32 %mine, %thread, 31");
    for (const Tile* tile : {&a_, &b_, &c_, &d_}) fill(*tile);
    t_.say("bar.warp.sync 0xffffffff");
    const std::string a = load(a_), b = load(b_), c = load(c_), d = registers(d_);
    const std::string operands = fmt::format("{}, {}, {}, {}", d, a, b, c);
    if (s_.modifiers.operation() == Operation::mma) {
      t_.tried(operands);
    } else {
      t_.say("wmma.mma.sync.aligned.{}.{}.{}.{} {}", layout(a_), layout(b_), word(s_, Field::shape),
             types(), operands);
    }
    store(d);
    t_.say("bar.warp.sync 0xffffffff");
    tell();
    return t_.take();
  }

 private:
  // What the instruction does not say of the types is drawn.
  void choose_types() {
    const Type said = s_.modifiers.type();
    const bool multiplies = s_.modifiers.operation() == Operation::mma;
    const bool stores = s_.modifiers.operation() == Operation::store;
    const bool sums = stores || s_.modifiers.part() == Part::c;
    if (multiplies) {
      d_.type = c_.type = said;
      a_.type = s_.modifiers.has(Field::type2) ? s_.modifiers.type2() : Type::f16;
    } else if (sums) {
      d_.type = c_.type = said;
      a_.type = said == Type::s32   ? (t_.draw(2) ? Type::s8 : Type::u8)
                : said == Type::f64 ? Type::f64
                : said == Type::f16 ? Type::f16
                : shape_.k == 8     ? Type::tf32
                                    : (t_.draw(2) ? Type::f16 : Type::bf16);
    } else {
      a_.type = said;
      const bool bytes = said == Type::s8 || said == Type::u8;
      d_.type = c_.type = bytes                             ? Type::s32
                          : said == Type::f64               ? Type::f64
                          : said == Type::f16 && t_.draw(2) ? Type::f16
                                                            : Type::f32;
    }
    b_.type = a_.type;
  }

  void choose_tiles() {
    a_.part = "a", b_.part = "b", c_.part = "c", d_.part = "d";
    a_.rows = c_.rows = d_.rows = shape_.m;
    b_.columns = c_.columns = d_.columns = shape_.n;
    a_.columns = b_.rows = shape_.k;
    for (Tile* tile : {&a_, &b_, &c_, &d_}) {
      tile->by_rows = t_.draw(2) == 0;
      tile->dense = t_.draw(2) == 0;
      tile->global = t_.draw(2) == 0;
      tile->space = tile->global ? ".global" : ".shared";
      if (is_tried(*tile)) {
        tile->by_rows = word(s_, Field::a_layout) == "row";
        const ptx::Space space = s_.modifiers.space();
        if (space == ptx::Space::generic) tile->space = "";
        if (space == ptx::Space::shared) tile->global = false;
        if (space == ptx::Space::global) tile->global = true;
      }
    }
    if (s_.modifiers.operation() == Operation::mma) {
      a_.by_rows = word(s_, Field::a_layout) == "row";
      b_.by_rows = word(s_, Field::b_layout) == "row";
    }
    for (Tile* tile : {&a_, &b_, &c_, &d_}) {
      if (tile->line() % (4 * count_of(*tile)) != 0) tile->dense = false;
      tile->begin = bytes_;
      bytes_ += (tile->bytes() + 255) / 256 * 256;
    }
  }

  bool is_tried(const Tile& tile) const {
    if (s_.modifiers.operation() == Operation::mma) return false;
    return word(s_, Field::part) == tile.part;
  }

  static const char* layout(const Tile& tile) { return tile.by_rows ? "row" : "col"; }

  std::string types() const {
    const std::string sum(ptx::name_of(d_.type)), factor(ptx::name_of(a_.type));
    if (a_.type == Type::f16) return sum + "." + sum;
    return fmt::format("{}.{}.{}.{}", sum, factor, factor, sum);
  }

  // The address of what a tile begins with, of the lane's word `at` bytes on.
  void point(const Tile& tile) {
    if (tile.global) {
      t_.say("add.u64 %place, %global, {}", tile.begin);
      return;
    }
    t_.say("add.u32 %at, %tiles, {}", tile.begin);
    t_.say("cvt.u64.u32 %place, %at");
    if (tile.space.empty()) t_.say("cvta.shared.u64 %place, %place");
  }

  template <class Each>
  void each_word(const Tile& tile, Each each) {
    const Type type = word_of(tile.type);
    const u32 width = static_cast<u32>(ptx::bits_of(type)) / 8;
    t_.say("mad.lo.u32 %at, %mine, {}, {}", width, tile.begin);
    if (tile.global) {
      t_.say("cvt.u64.u32 %place, %at");
      t_.say("add.u64 %place, %global, %place");
    } else {
      t_.say("add.u32 %at, %tiles, %at");
    }
    const char* place = tile.global ? "%place" : "%at";
    const char* space = tile.global ? "global" : "shared";
    // Past the tile's end the next one begins at a multiple of 256 bytes.
    for (u32 at = 0; at < tile.bytes(); at += 32 * width) {
      each(type, width * 8, space, fmt::format("[{}+{}]", place, at));
    }
  }

  void fill(const Tile& tile) {
    // Which NaN of several a sum of f64 is, the ISA does not say.
    const Use use = tile.type == Type::f64 ? Use::finite : Use::factor;
    each_word(tile, [&](Type type, u32 bits, const char* space, const std::string& place) {
      if (tile.part != "d") {
        t_.say("st.{}.b{} {}, {}", space, bits, place, t_.read(type, use));
      } else {
        t_.say("st.{}.b{} {}, 0x5a5a5a5a", space, bits, place);
      }
    });
  }

  void tell() {
    each_word(d_, [&](Type type, u32 bits, const char* space, const std::string& place) {
      const std::string name = t_.fresh(type);
      t_.say("ld.{}.b{} {}, {}", space, bits, name, place);
      t_.write(name, type);
    });
  }

  // How many words a fragment has: each element once, but twice or more often of A and B of f16.
  static u32 count_of(const Tile& tile) {
    const bool factor = tile.part == "a" || tile.part == "b";
    if (factor && tile.type == Type::f16) return 8;
    return tile.rows * tile.columns * tile.width() / 128;
  }

  std::string registers(const Tile& tile) {
    const bool wide = tile.type == Type::f64;
    const u32 count = count_of(tile) / (wide ? 2 : 1);
    std::string out;
    for (u32 i = 0; i < count; ++i) {
      out += (i ? ", " : "") + t_.fresh(wide ? Type::b64 : Type::b32);
    }
    return "{" + out + "}";
  }

  std::string stride(const Tile& tile) {
    if (tile.dense && t_.draw(2)) return "";
    if (t_.draw(2)) return fmt::format(", {}", tile.stride() / tile.width());
    t_.say("mov.u32 %word, {}", tile.stride() / tile.width());
    return ", %word";
  }

  std::string load(const Tile& tile) {
    const std::string out = registers(tile);
    point(tile);
    const std::string operands = fmt::format("{}, [%place]{}", out, stride(tile));
    if (is_tried(tile)) {
      t_.tried(operands);
    } else {
      t_.say("wmma.load.{}.sync.aligned.{}.{}{}.{} {}", tile.part, layout(tile),
             word(s_, Field::shape), tile.space, ptx::name_of(tile.type), operands);
    }
    return out;
  }

  void store(const std::string& d) {
    point(d_);
    const std::string operands = fmt::format("[%place], {}{}", d, stride(d_));
    if (is_tried(d_)) {
      t_.tried(operands);
    } else {
      t_.say("wmma.store.d.sync.aligned.{}.{}{}.{} {}", layout(d_), word(s_, Field::shape),
             d_.space, ptx::name_of(d_.type), operands);
    }
  }

  const Spelling& s_;
  KernelText t_;
  MatrixShape shape_;
  Tile a_, b_, c_, d_;
  u32 bytes_ = 0;
};

}  // namespace

std::optional<Kernel> matrix_kernel_for(const Spelling& spelling) {
  if (!on_this_chip(spelling, 4)) return std::nullopt;
  return Writer(spelling).write();
}

}  // namespace tilescope::conformance
