#include "tests/conformance/address_kernel.h"

#include "tests/conformance/kernel_text.h"

namespace tilescope::conformance {
namespace {

using ptx::Field;
using ptx::Op;
using ptx::Operation;
using ptx::Space;
using ptx::Type;
using u32 = std::uint32_t;

std::string space_word(const Spelling& s) {
  return std::string(word(s, Field::space));
}

class Address {
 public:
  explicit Address(const Spelling& s) : s_(s), t_(s), space_(space_word(s)) {}

  Kernel conversion() {
    t_.variable(".reg .b64 %at, %generic, %back, %next");
    place();
    const bool back = s_.modifiers.has(Field::to);
    const bool writable = space_ != "const" && !space_.starts_with("param");
    const std::string offset = t_.number(0, 4);
    t_.say("shl.b32 {0}, {0}, 3", offset);
    const auto to_generic = [&](const char* d, const char* a) {
      back ? t_.say("cvta.{}.u64 {}, {}", space_, d, a) : t_.tried(fmt::format("{}, {}", d, a));
    };
    const auto from_generic = [&](const char* d, const char* a) {
      back ? t_.tried(fmt::format("{}, {}", d, a)) : t_.say("cvta.to.{}.u64 {}, {}", space_, d, a);
    };
    to_generic("%generic", "%at");
    // The distance of two addresses is the same in both; there and back is where it began.
    t_.say("cvt.u64.u32 %long, {}", offset);
    t_.say("add.u64 %at, %at, %long");
    to_generic("%next", "%at");
    t_.say("sub.u64 %generic, %next, %generic");
    t_.write("%generic", Type::u64);
    from_generic("%back", "%next");
    t_.say("sub.u64 %generic, %back, %at");
    t_.write("%generic", Type::u64);
    // The same memory by all of them.
    t_.say("ld.b64 %long, [%next]");
    t_.write("%long", Type::u64);
    if (writable) {
      t_.say("st.b64 [%next], {}", t_.read(Type::u64));
      t_.say("ld.{}.b64 %long, [%back]", space_);
      t_.write("%long", Type::u64);
      t_.say("st.{}.b64 [%back], {}", space_, t_.read(Type::u64));
      t_.say("ld.b64 %long, [%next]");
      t_.write("%long", Type::u64);
    }
    // Parameters may lie among constants (PTX ISA 9.7.9.19 does not say), so these are not asked
    // about each other.
    for (const char* other : {"shared", "shared::cta", "shared::cluster", "local", "global"}) {
      t_.say("isspacep.{} %done, %next", other);
      t_.write("%done", Type::pred);
    }
    if (!writable) {
      t_.say("isspacep.{} %done, %next", space_);
      t_.write("%done", Type::pred);
    }
    return t_.take();
  }

  // Four blocks: what each lane reads by the address lies in the block that it names.
  Kernel cluster_address() {
    t_.cluster(4);
    t_.own_slots();
    t_.fill_slot();
    t_.variable(".reg .b64 %at, %there");
    t_.variable(".reg .b32 %there_word");
    const std::string rank = t_.number(0, 4);
    t_.say("cvt.u64.u32 %at, %slot");
    t_.meet_cluster();
    const bool generic = space_.empty(), wide = s_.modifiers.type() == Type::u64;
    const bool maps = s_.opcode->op == Op::mapa;
    if (generic) t_.say("cvta.shared.u64 %at, %at");
    const std::string there = wide ? "%there" : "%there_word";
    const std::string from = wide ? "%at" : "%slot";
    const std::string operands = fmt::format("{}, {}, {}", there, from, rank);
    const char* said = generic ? "" : ".shared::cluster";
    maps ? t_.tried(operands) : t_.say("mapa{}.{} {}", said, wide ? "u64" : "u32", operands);
    if (maps) {
      t_.say("getctarank{}.{} %word, {}", said, wide ? "u64" : "u32", there);
    } else {
      t_.tried("%word, " + there);
    }
    t_.write("%word", Type::u32);
    for (u32 at = 0; at < slot_bytes; at += 8) {
      t_.say("ld{}.b64 %long, [{}+{}]", said, there, at);
      t_.write("%long", Type::u64);
    }
    t_.meet_cluster();
    return t_.take();
  }

 private:
  // %at: the lane's 32 bytes in the space.
  void place() {
    if (space_ == "const") {
      std::string bytes;
      for (u32 i = 0; i < 4096; ++i) bytes += fmt::format("{}{}", i ? "," : "", mix(i) & 0xFF);
      t_.module(".const .align 32 .b8 slots[4096] = {" + bytes + "};\n");
      t_.say("mov.u64 %at, slots");
      t_.say("mad.wide.u32 %at, %thread, 32, %at");
    } else if (space_.starts_with("param")) {
      t_.parameter(".param .align 16 .b8 slots[32]");
      t_.say("mov.u64 %at, slots");
    } else if (space_ == "global" && t_.draw(2)) {
      t_.tell_memory(Type::u64, 4);
      t_.say("mov.u64 %at, %memory");
    } else if (space_ == "global") {
      t_.module(".global .align 32 .b8 room[65536];\n");
      t_.say("mov.u64 %at, room");
      t_.say("mad.wide.u32 %at, %lane, 32, %at");
      fill("global");
    } else if (space_ == "local") {
      t_.variable(".local .align 32 .b8 slots[32]");
      t_.say("mov.u64 %at, slots");
      fill("local");
    } else {
      t_.own_slots();
      t_.say("cvt.u64.u32 %at, %slot");
      fill("shared");
    }
  }
  void fill(const char* space) {
    for (u32 at = 0; at < slot_bytes; at += 8) {
      t_.say("st.{}.b64 [%at+{}], {}", space, at, t_.read(Type::u64));
    }
  }

  const Spelling& s_;
  KernelText t_;
  std::string space_;
};

class Cache {
 public:
  explicit Cache(const Spelling& s) : s_(s), t_(s), space_(space_word(s)) {}

  // The lane's own bytes, before and behind the hint.
  Kernel around() {
    if (space_ == "local") {
      t_.variable(".local .align 32 .b8 slots[32]");
      for (u32 at = 0; at < slot_bytes; at += 8) {
        t_.say("st.local.b64 [slots+{}], {}", at, t_.read(Type::u64));
      }
      t_.tried("[slots]");
      for (u32 at = 0; at < slot_bytes; at += 8) {
        t_.say("ld.local.b64 %long, [slots+{}]", at);
        t_.write("%long", Type::u64);
      }
      return t_.take();
    }
    t_.tell_memory(Type::u64, 4);
    const bool line = s_.opcode->op == Op::applypriority;  // four lanes' bytes
    t_.variable(".reg .b64 %at");
    t_.say("and.b64 %at, %memory, {}", line ? -128 : -1);
    t_.tried(line ? "[%at], 128" : "[%at]");
    load();
    t_.say("st.global.b64 [%memory+8], {}", t_.read(Type::u64));
    t_.tried(line ? "[%at], 128" : "[%at]");
    load();
    return t_.take();
  }

  // A line of the lane's own, whose bytes mean nothing until they are stored again (9.7.9.17).
  Kernel discarded() {
    t_.module(fmt::format(".global .align 128 .b8 room[{}];\n", lanes * 128));
    t_.variable(".reg .b64 %at");
    t_.say("mov.u64 %at, room");
    t_.say("mad.wide.u32 %at, %lane, 128, %at");
    t_.say("st.global.b64 [%at], {}", t_.read(Type::u64));
    t_.tried("[%at], 128");
    t_.say("st.global.b64 [%at+64], {}", t_.read(Type::u64));
    t_.say("st.global.b64 [%at], {}", t_.read(Type::u64));
    for (const u32 at : {0, 64}) {
      t_.say("ld.global.b64 %long, [%at+{}]", at);
      t_.write("%long", Type::u64);
    }
    return t_.take();
  }

  // A policy's bits are the chip's own; whatever it says, what is stored and loaded by it stays the
  // same.
  Kernel policy() {
    t_.variable(".reg .b64 %policy");
    t_.tell_memory(Type::u64, 4);
    if (s_.modifiers.operation() == Operation::fractional) {
      constexpr const char* fractions[] = {"", ", 1.0", ", 0.5", ", 0.0625"};
      t_.tried(std::string("%policy") + fractions[t_.draw(4)]);
    } else if (s_.modifiers.operation() == Operation::range) {
      t_.say("mov.u32 %word, {}", 4096u << t_.draw(4));
      t_.tried("%policy, [%memory], 4096, %word");
    } else {
      t_.say("createpolicy.fractional.L2::evict_first.b64 %policy");  // not what cvt is given
      t_.say("mov.u64 %long, {:#x}", 0x12F0000000000000u);  // a property of CUDA's own header
      t_.tried("%policy, %long");
    }
    t_.say("ld.global.L2::cache_hint.b64 %long, [%memory], %policy");
    t_.write("%long", Type::u64);
    t_.say("st.global.L2::cache_hint.b64 [%memory+8], %long, %policy");
    t_.say("red.global.add.L2::cache_hint.u64 [%memory+16], %long, %policy");
    load();
    return t_.take();
  }

 private:
  void load() {
    for (u32 at = 0; at < slot_bytes; at += 8) {
      t_.say("ld.global.b64 %long, [%memory+{}]", at);
      t_.write("%long", Type::u64);
    }
  }

  const Spelling& s_;
  KernelText t_;
  std::string space_;
};

}  // namespace

std::optional<Kernel> address_kernel_for(const Spelling& s) {
  if (!on_this_chip(s, 2)) return std::nullopt;
  if (s.opcode->op == Op::cvta) return Address(s).conversion();
  // Generic addresses have 64 bits.
  if (!s.modifiers.has(Field::space) && s.modifiers.type() == Type::u32) return std::nullopt;
  return Address(s).cluster_address();
}

std::optional<Kernel> cache_kernel_for(const Spelling& s) {
  if (!on_this_chip(s, 2)) return std::nullopt;
  if (s.modifiers.has(Field::tensormap)) return std::nullopt;  // its map is the chip's own
  if (s.opcode->op == Op::createpolicy) return Cache(s).policy();
  return s.opcode->op == Op::discard ? Cache(s).discarded() : Cache(s).around();
}

}  // namespace tilescope::conformance
