#include "tests/conformance/group_kernel.h"

#include <fmt/format.h>

#include <algorithm>

namespace tilescope::conformance {
namespace {

using ptx::Field;
using ptx::Type;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

// One operand in shared memory (PTX ISA 9.7.15.5.1.2): where its pieces of 16 bytes lie, without
// the swizzle, which only moves them inside its pattern.
struct Placed {
  u64 descriptor = 0;  // without the address
  u32 bytes = 0;
};

constexpr u32 swizzle_bytes[] = {0, 128, 64, 32};  // by the descriptor's code

Placed place(u32 rows, u32 row_bytes, bool transposed, u32 code) {
  if (!transposed && code == 3 && row_bytes > 32) code = 2;  // a row fills the pattern's width
  const u32 width = swizzle_bytes[code];
  u32 leading = 0, stride = 0, bytes = 0;
  if (!transposed) {
    leading = width ? 16 : 128;
    stride = width ? 8 * width : 128 * (row_bytes / 16);
    bytes = rows / 8 * stride;
  } else {
    const u32 lines = row_bytes / 2 / 8, pieces = rows / 8;  // eights of K, and of rows
    if (!width) {
      leading = 128;
      stride = 128 * lines;
      bytes = pieces * stride;
    } else {
      stride = 8 * width;
      leading = stride * lines;
      bytes = (pieces * 16 + width - 1) / width * leading;
    }
  }
  return {u64{leading >> 4} << 16 | u64{stride >> 4} << 32 | u64{code} << 62, bytes};
}

// What fills a word of an operand's memory.
Type word_of(Type element) {
  switch (element) {
    case Type::f16:
      return Type::f16x2;
    case Type::bf16:
      return Type::bf16x2;
    case Type::tf32:
      return Type::tf32;
    case Type::e4m3:
      return Type::e4m3x2;
    case Type::e5m2:
      return Type::e5m2x2;
    default:
      return Type::b32;
  }
}

class Writer {
 public:
  explicit Writer(const Spelling& s)
      : s_(s), drawn_(mix(hash_of(s.key()))), shape_(s.modifiers.group_shape()) {
    kernel_.key = s.key();
  }

  Kernel write() {
    const Type a = s_.modifiers.type2(), b = s_.modifiers.type3();
    const bool sparse = s_.modifiers.has(Field::sparse), wide = bits(a) == 16;
    const bool floats = s_.modifiers.type() != Type::s32;
    const bool a_in_registers = s_.constant.value_or(0) == 1;
    const bool transpose_a = wide && !a_in_registers && draw(2), transpose_b = wide && draw(2);
    const Placed left = place(64, 32, transpose_a, draw(4));
    const Placed right = place(shape_.n, sparse ? 64 : 32, transpose_b, draw(4));
    const u32 begin_b = a_in_registers ? 0 : (left.bytes + 1023) / 1024 * 1024;

    if (!a_in_registers) fill(a, 0, left.bytes);
    fill(b, begin_b, right.bytes);
    const std::string d = accumulators();
    std::string operands = "{" + d + "}, ";
    operands += a_in_registers ? "{" + fragment(a) + "}" : descriptor(left, 0);
    operands += ", " + descriptor(right, begin_b);
    if (sparse) {
      const bool pairs = bits(a) != 8;
      operands += ", " + metadata(a) + fmt::format(", {}", pairs ? draw(2) : 0);
    }
    operands += draw(4) ? ", %adds" : draw(2) ? ", 1" : ", !%adds";
    for (int i = 0; floats && i < 2; ++i) operands += draw(2) ? ", -1" : ", 1";
    if (wide && !a_in_registers) operands += fmt::format(", {:d}", transpose_a);
    if (wide) operands += fmt::format(", {:d}", transpose_b);
    kernel_.ptx = text(operands, begin_b + (right.bytes + 511) / 512 * 512);
    return std::move(kernel_);
  }

 private:
  static int bits(Type type) { return ptx::bits_of(type); }

  u32 draw(u32 count) {
    drawn_ = mix(drawn_);
    return static_cast<u32>(drawn_ >> 33) % count;
  }

  std::string fresh(int width) {
    const std::string name = fmt::format("%x{}", registers_++);
    declared_ += fmt::format("  .reg .b{} {};\n", width, name);
    return name;
  }

  // A register with the next operand of each lane.
  std::string read(Type type, Use use = Use::factor) {
    const std::string name = fresh(std::max(16, bits(type)));
    before_ += fmt::format("  ld.global.b{} {}, [%in+{}];\n", std::max(16, bits(type)), name,
                           kernel_.operands.size() * lanes * 8);
    kernel_.operands.push_back({type, use});
    return name;
  }

  void fill(Type element, u32 begin, u32 size) {
    const Type word = word_of(element);
    const u32 width = static_cast<u32>(bits(word)) / 8;
    for (u32 at = 0; at < size; at += 128 * width) {
      const std::string value = read(word);
      before_ +=
          fmt::format("  mad.lo.u32 %at, %thread, {}, %tiles;\n  st.shared.b{} [%at+{}], {};\n",
                      width, width * 8, begin + at, value);
    }
  }

  std::string accumulators() {
    const Type type = s_.modifiers.type();
    const u32 count = type == Type::f16 ? shape_.n / 4 : shape_.n / 2;
    const Type held = type == Type::f16 ? Type::f16x2 : type;
    std::string out;
    for (u32 i = 0; i < count; ++i) {
      const std::string name = read(held);
      after_ += fmt::format("  st.global.b32 [%out+{}], {};\n", i * lanes * 8, name);
      kernel_.results.push_back(held);
      out += (i ? ", " : "") + name;
    }
    return out;
  }

  std::string fragment(Type element) {
    std::string out;
    for (int i = 0; i < 4; ++i) {
      const Type word = word_of(element);
      std::string name = read(word);
      if (bits(word) == 16) {
        const std::string low = name, high = read(word);
        name = fresh(32);
        before_ += fmt::format("  mov.b32 {}, {{{}, {}}};\n", name, low, high);
      }
      out += (i ? ", " : "") + name;
    }
    return out;
  }

  std::string metadata(Type element) {
    return read(Type::b32, element == Type::tf32 ? Use::one_of_two : Use::two_of_four);
  }

  std::string descriptor(const Placed& matrix, u32 begin) {
    const std::string name = fresh(64);
    before_ += fmt::format(
        "  add.u32 %at, %tiles, {};\n  shr.u32 %at, %at, 4;\n  cvt.u64.u32 {}, %at;\n"
        "  or.b64 {}, {}, {:#018x};\n",
        begin, name, name, name, matrix.descriptor);
    return name;
  }

  std::string text(const std::string& operands, u32 shared) const {
    return ".version 9.0\n.target sm_90a\n.address_size 64\n"
           ".visible .entry conform(.param .u64 in, .param .u64 out, .param .u64 memory)\n{\n"
           "  .reg .b32 %thread, %lane, %at, %tiles;\n  .reg .b64 %in, %out;\n  .reg .pred "
           "%adds;\n" +
           declared_ + fmt::format("  .shared .align 1024 .b8 tiles[{}];\n", shared) +
           "  mov.u32 %thread, %tid.x;\n  mov.u32 %lane, %ctaid.x;\n"
           "  and.b32 %at, %lane, 4;\n  setp.eq.u32 %adds, %at, 0;\n"
           "  mad.lo.u32 %lane, %lane, 128, %thread;\n  mov.u32 %tiles, tiles;\n"
           "  ld.param.u64 %in, [in];\n  mad.wide.u32 %in, %lane, 8, %in;\n"
           "  ld.param.u64 %out, [out];\n  mad.wide.u32 %out, %lane, 8, %out;\n" +
           before_ +
           "  fence.proxy.async.shared::cta;\n  bar.sync 0;\n  wgmma.fence.sync.aligned;\n  " +
           s_.text + " " + operands +
           ";\n  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;\n" + after_ +
           "  ret;\n}\n";
  }

  const Spelling& s_;
  u64 drawn_;
  ptx::GroupShape shape_;
  Kernel kernel_;
  std::string declared_, before_, after_;
  int registers_ = 0;
};

}  // namespace

std::optional<Kernel> group_kernel_for(const Spelling& spelling) {
  if (spelling.modifiers.group_step() != ptx::GroupStep::mma_async) return std::nullopt;
  return Writer(spelling).write();
}

}  // namespace tilescope::conformance
