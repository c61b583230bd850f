// tcgen05.cp and tcgen05.shift (PTX ISA 9.7.16.9): which bytes of shared memory come to which cells
// of TMEM, by CuTe's atoms; what becomes of packed elements; which row goes where.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>

#include "core/sim/machine/machine.h"
#include "core/sim/tcgen05/copy.h"
#include "core/tensor/catalog.h"

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr u32 columns = 8, untouched = 0xeeeeeeee;

// The words of shared memory: each tells where it lies, and no two halves of one are alike.
u32 word_at(u32 byte) {
  return byte * 0x9e3779b1u ^ 0x5bd1e995u;
}

u64 descriptor(u32 address, u32 leading, u32 stride, u64 swizzle) {
  return u64{address >> 4} | u64{leading >> 4} << 16 | u64{stride >> 4} << 32 | u64{1} << 46 |
         swizzle << 61;
}

std::string program(const std::string& transfer) {
  return R"(
.version 8.6
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in, .param .u64 desc)
{
  .reg .b32 %r<40>;
  .reg .b64 %d<12>;
  .reg .pred %p<6>;
  .shared .align 1024 .b8 tiles[32768];
  .shared .align 8 .b64 done;
  .shared .align 8 .b64 first;
  .shared .align 4 .b32 base;
  ld.param.u64 %d5, [desc];
  mov.u32 %r2, %tid.x;
  setp.lt.u32 %p0, %r2, 32;
  setp.eq.u32 %p1, %r2, 0;
  mov.u32 %r0, base;
  mov.u32 %r20, done;
  mov.u32 %r21, first;
  @%p0 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r0], 32;
  @%p1 mbarrier.init.shared::cta.b64 [%r20], 1;
  @%p1 mbarrier.init.shared::cta.b64 [%r21], 1;
  ld.param.u64 %d0, [in];
  mul.wide.u32 %d1, %r2, 4;
  add.u64 %d0, %d0, %d1;
  mov.u32 %r10, tiles;
  cvt.u64.u32 %d6, %r10;
  shr.u64 %d6, %d6, 4;
  add.u64 %d5, %d5, %d6;
  mad.lo.u32 %r11, %r2, 4, %r10;
  mov.u32 %r12, 0;
FILL:
  ld.global.u32 %r13, [%d0];
  st.shared.b32 [%r11], %r13;
  add.u64 %d0, %d0, 512;
  add.u32 %r11, %r11, 512;
  add.u32 %r12, %r12, 512;
  setp.lt.u32 %p2, %r12, 32768;
  @%p2 bra FILL;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  ld.shared.b32 %r1, [%r0];
  and.b32 %r4, %r2, 96;
  shl.b32 %r4, %r4, 16;
  add.u32 %r4, %r4, %r1;
  mov.b32 %r5, 0xeeeeeeee;
  tcgen05.st.sync.aligned.32x32b.x8.b32 [%r4], {%r5, %r5, %r5, %r5, %r5, %r5, %r5, %r5};
  tcgen05.wait::st.sync.aligned;
  tcgen05.fence::before_thread_sync;
  bar.sync 0;
  tcgen05.fence::after_thread_sync;
  @!%p1 bra WAIT;
)" + transfer +
         R"(
  tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r20];
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r20], 0;
  @!%p3 bra WAIT;
  tcgen05.fence::after_thread_sync;
  tcgen05.ld.sync.aligned.32x32b.x8.b32 {%r30, %r31, %r32, %r33, %r34, %r35, %r36, %r37}, [%r4];
  tcgen05.wait::ld.sync.aligned;
  bar.sync 0;
  @%p0 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 32;
  ld.param.u64 %d0, [out];
  mad.wide.u32 %d1, %r2, 32, %d0;
  st.global.v4.u32 [%d1], {%r30, %r31, %r32, %r33};
  st.global.v4.u32 [%d1+16], {%r34, %r35, %r36, %r37};
  ret;
}
)";
}

// The cells after it, 128 lanes of 8 columns. `desc` is the descriptor of a matrix that begins
// where the tiles do: the kernel adds their address.
std::vector<u32> cells_after(const std::string& transfer, u64 desc, bool lazy = false) {
  Job job;
  job.program = {"transfer", program(transfer)};
  job.launch.block.x = 128;
  job.buffers.push_back({"OUT", DType::u32, {128 * columns}, {}, true});
  job.buffers[0].bytes.resize(128 * columns * 4);
  job.buffers.push_back({"IN", DType::u32, {8192}, {}, false});
  for (u32 at = 0; at < 32768; at += 4) {
    const u32 word = word_at(at);
    job.buffers[1].bytes.insert(job.buffers[1].bytes.end(),
                                reinterpret_cast<const std::byte*>(&word),
                                reinterpret_cast<const std::byte*>(&word) + 4);
  }
  Argument bits;
  bits.bytes.resize(8);
  std::memcpy(bits.bytes.data(), &desc, 8);
  job.arguments = {Argument::pointer(0), Argument::pointer(1), bits};
  Options options;
  options.lazy = lazy;
  Outcome<Machine> machine = Machine::load(job, options);
  EXPECT_TRUE(machine.ok()) << machine.error().sentence;
  if (!machine.ok()) return {};
  EXPECT_EQ(machine->run(~u64{0}), RunState::done);
  for (const Report& r : machine->reports()) {
    EXPECT_EQ(r.weight, Weight::note) << r.sentence;
  }
  std::vector<u32> out(128 * columns);
  std::memcpy(out.data(), machine->buffers()[0].bytes.data(), out.size() * 4);
  return out;
}

// ---- which line goes where ----

struct Form {
  const char* spelling;
  const char* atom;
  u32 lines;      // of the matrix in shared memory
  u32 row_scale;  // rows of CuTe's numbering that are one line
};
constexpr Form forms[] = {
    {"128x256b", "SM100_UTCCP_128dp256bit_1cta", 128, 1},
    {"128x128b", "SM100_UTCCP_128dp128bit_1cta", 128, 1},
    {"4x256b", "SM100_UTCCP_4dp256bit_1cta", 128, 32},
    {"32x128b.warpx4", "SM100_UTCCP_4x32dp128bit_1cta", 32, 1},
    {"64x128b.warpx2::02_13", "SM100_UTCCP_2x64dp128bitlw0213_1cta", 64, 1},
    {"64x128b.warpx2::01_23", "SM100_UTCCP_2x64dp128bitlw0123_1cta", 32, 1},
};

// What CuTe's atom says: each bit of the copy comes from one of the source and goes to one of TMEM.
// `line_at(line, word)`: where that word of the matrix lies in shared memory.
std::vector<u32> by_cute(const Form& form, const std::function<u32(u32, u32)>& line_at) {
  std::vector<u32> out(128 * columns, untouched);
  const Outcome<Atom> found = atom_named(form.atom);
  EXPECT_TRUE(found.ok());
  const CopyAtom& atom = std::get<CopyAtom>(*found);
  const std::int64_t bits = *size(atom.dst_bits);
  const std::int64_t lane_bits = atom.tmem_bits(1);  // rows come first
  for (std::int64_t bit = 0; bit < bits; ++bit) {
    const std::int64_t from = atom.src_bits(bit), to = atom.tmem_bits(atom.dst_bits(bit));
    const std::int64_t bank = 128 * form.lines;  // lines of 128 bits behind the first `lines`
    std::int64_t row = from % form.lines, column_bit = from / form.lines;
    if (std::string(form.spelling).find("01_23") != std::string::npos) {
      row += from / bank * form.lines;
      column_bit = from % bank / form.lines;
    }
    if (column_bit % 32 != 0) continue;
    const std::int64_t lane = to / lane_bits, column = to % lane_bits / 32;
    out[static_cast<std::size_t>(lane * columns + column)] =
        word_at(line_at(static_cast<u32>(row) / form.row_scale, static_cast<u32>(column_bit / 32)));
  }
  return out;
}

std::string copy_text(const std::string& spelling, const std::string& more = "") {
  return "tcgen05.cp.cta_group::1." + spelling + more + " [%r1], %d5;";
}

TEST(Transfer, CopiesAreCutesAtoms) {
  for (const Form& form : forms) {
    SCOPED_TRACE(form.spelling);
    // Without a swizzle: eight lines of 16 bytes side by side, 512 bytes from eight to eight, and
    // the second half of the lines 16384 bytes behind.
    const auto plain = [](u32 line, u32 word) {
      return line % 8 * 16 + line / 8 * 512 + word / 4 * 16384 + word % 4 * 4;
    };
    EXPECT_EQ(cells_after(copy_text(form.spelling), descriptor(0, 16384, 512, 0)),
              by_cute(form, plain));
    // In rows of 128 bytes, of which every 16 bytes are swizzled by the row.
    const auto swizzled = [](u32 line, u32 word) {
      const u32 at = line % 8 * 128 + line / 8 * 1024 + word * 4;
      return at ^ (at >> 7 & 7) << 4;
    };
    EXPECT_EQ(cells_after(copy_text(form.spelling), descriptor(0, 16, 1024, 2), true),
              by_cute(form, swizzled));
  }
}

TEST(Transfer, TheFourRowsMayGoToAnyLaneOfTheWarps) {
  const std::vector<u32> got =
      cells_after("add.u32 %r6, %r1, 0x1f0000;\ntcgen05.cp.cta_group::1.4x256b [%r6], %d5;",
                  descriptor(0, 16384, 512, 0));
  ASSERT_EQ(got.size(), 128u * columns);
  for (u32 lane = 0; lane < 128; ++lane) {
    for (u32 c = 0; c < columns; ++c) {
      const u32 at = lane / 32 * 16 + c / 4 * 16384 + c % 4 * 4;
      EXPECT_EQ(got[lane * columns + c], lane % 32 == 31 ? word_at(at) : untouched) << lane;
    }
  }
}

// ---- packed elements ----

// Element e of 16 that lie packed from byte `at` on.
u32 packed_element(u32 at, u32 e, u32 bits) {
  u32 out = 0;
  for (u32 b = 0; b < bits; ++b) {
    const u32 bit = e * bits + b, byte = at + bit / 8;
    out |= (word_at(byte & ~3u) >> (byte % 4 * 8 + bit % 8) & 1) << b;
  }
  return out;
}

TEST(Transfer, PackedElementsGetAByteEach) {
  for (const u32 bits : {6u, 4u}) {
    const std::string format = bits == 6 ? ".b8x16.b6x16_p32" : ".b8x16.b4x16_p64";
    const std::vector<u32> got =
        cells_after(copy_text("128x256b", format), descriptor(0, 16384, 512, 0));
    ASSERT_EQ(got.size(), 128u * columns);
    for (u32 lane = 0; lane < 128; ++lane) {
      for (u32 e = 0; e < 32; ++e) {
        const u32 at = lane % 8 * 16 + lane / 8 * 512 + e / 16 * 16384;
        const u32 want = packed_element(at, e % 16, bits) << (bits == 4 ? 2 : 0);
        EXPECT_EQ(got[lane * columns + e / 4] >> e % 4 * 8 & 0xff, want) << lane << ' ' << e;
      }
    }
  }
}

// Bytes of padding decide nothing; an element that shares a byte with an undefined one is
// undefined.
TEST(Transfer, UndefinedBytesSpoilTheirElementsOnly) {
  std::byte from[16] = {}, to[16] = {};
  std::uint8_t undefined[16] = {}, after[16] = {};
  undefined[1] = undefined[13] = 1;
  unpack(Packed::six_bits, from, undefined, to, after);
  for (u32 e = 0; e < 16; ++e) EXPECT_EQ(after[e] != 0, e == 1 || e == 2) << e;
  unpack(Packed::four_bits, from, undefined, to, after);
  for (u32 e = 0; e < 16; ++e) EXPECT_EQ(after[e] != 0, e == 2 || e == 3) << e;
}

// ---- shift ----

TEST(Transfer, ShiftMovesTheRowsOfOneWarp) {
  for (const bool lazy : {false, true}) {
    const std::vector<u32> got = cells_after(
        copy_text("128x256b") + "\nadd.u32 %r6, %r1, 0x200000;\n" +
            // cp to shift keeps no order: the commit does
            "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r21];\n"
            "AGAIN: mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r21], 0;\n@!%p4 bra AGAIN;\n"
            "tcgen05.shift.cta_group::1.down [%r6];",
        descriptor(0, 16384, 512, 0), lazy);
    ASSERT_EQ(got.size(), 128u * columns);
    for (u32 lane = 0; lane < 128; ++lane) {
      const u32 from = lane >= 32 && lane < 63 ? lane + 1 : lane;
      for (u32 c = 0; c < columns; ++c) {
        const u32 at = from % 8 * 16 + from / 8 * 512 + c / 4 * 16384 + c % 4 * 4;
        EXPECT_EQ(got[lane * columns + c], word_at(at)) << lane << ' ' << c;
      }
    }
  }
}

}  // namespace
}  // namespace tilescope::sim
