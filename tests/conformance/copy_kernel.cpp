#include "tests/conformance/copy_kernel.h"

#include "tests/conformance/kernel_text.h"

namespace tilescope::conformance {
namespace {

using ptx::Field;
using ptx::Op;
using ptx::Operation;
using ptx::Space;
using ptx::Type;
using u32 = std::uint32_t;

class Copy {
 public:
  explicit Copy(const Spelling& s) : s_(s), t_(s) {}

  // cp.async{.ca,.cg}: 4, 8 or 16 bytes (PTX ISA 9.7.9.25.3.1).
  Kernel few_bytes() {
    const CopyVariant v = copy_variant(t_.variant());
    t_.own_slots();
    t_.fill_slot();
    t_.tell_memory(Type::u64, 4);
    const u32 to = v.bytes * t_.draw(32 / v.bytes), from = v.bytes * t_.draw(32 / v.bytes);
    std::string operands = fmt::format("[%slot+{}], [%memory+{}], {}", to, from, v.bytes);
    switch (v.less) {
      case CopyVariant::Less::no:
        break;
      case CopyVariant::Less::constant:
        operands += fmt::format(", {}", t_.draw(v.bytes + 1));
        break;
      case CopyVariant::Less::number: {
        const std::string less = t_.number(0, 32);
        t_.say("min.u32 {0}, {0}, {1}", less, v.bytes);
        operands += ", " + less;
        break;
      }
      case CopyVariant::Less::ignored:
        operands += ", " + t_.read(Type::pred);
        break;
    }
    if (s_.modifiers.has(Field::hint)) {
      t_.make_policy();
      operands += ", %policy";
    }
    t_.tried(operands);
    t_.say("cp.async.wait_all");
    t_.write_slot();
    return t_.take();
  }

  // Four copies of eight bytes; what of them is complete then is told, and the rest after all are.
  Kernel groups() {
    t_.own_slots();
    t_.fill_slot();
    t_.tell_memory(Type::u64, 4);
    const Operation does = s_.modifiers.operation();
    const auto copy = [&](u32 k) {
      t_.say("cp.async.ca.shared.global [%slot+{}], [%memory+{}], 8", 8 * k, 8 * k);
    };
    const auto tell = [&](u32 from, u32 to) {
      for (u32 k = from; k < to; ++k) {
        t_.say("ld.shared.b64 %long, [%slot+{}]", 8 * k);
        t_.write("%long", Type::u64);
      }
    };
    u32 complete = 4;
    for (u32 k = 0; k < 4; ++k) {
      copy(k);
      if (does == Operation::wait_group) t_.say("cp.async.commit_group");
      // 0: one group; 1: a group each; 2: with empty groups; 3: not all in a group.
      if (does == Operation::commit_group) {
        const u32 v = t_.variant();
        if (v == 0 ? k == 3 : v == 3 ? k == 1 : true) t_.tried("");
        if (v == 2) t_.tried("");
      }
    }
    if (does == Operation::wait_group) {
      t_.tried(fmt::format("{}", t_.variant()));
      complete = t_.variant() < 4 ? 4 - t_.variant() : 0;
    } else if (does == Operation::commit_group) {
      t_.say("cp.async.wait_group 0");
      if (t_.variant() == 3) complete = 2;
    } else {
      t_.tried("");
    }
    tell(0, complete);
    t_.say("cp.async.wait_all");
    tell(complete, 4);
    return t_.take();
  }

  // An mbarrier that is told when a thread's copies are complete: all 128 threads' (9.7.13.15.17).
  Kernel told() {
    const bool counted = s_.modifiers.has(Field::noinc);
    t_.own_slots();
    t_.fill_slot();
    t_.tell_memory(Type::u64, 4);
    const std::string bar = one_barrier(128);
    for (u32 k = 0; k < 2; ++k) {
      t_.say("cp.async.cg.shared.global [%slot+{}], [%memory+{}], 16", 16 * k, 16 * (1 - k));
    }
    t_.tried(bar);
    if (!counted) t_.say("mbarrier.arrive.shared.b64 _, [bar]");
    t_.spin("mbarrier.test_wait.parity.shared.b64 %done, [bar], 0");
    another_slot();
    t_.write_slot();
    return t_.take();
  }

  // Bulk copies into shared memory, of which an mbarrier is told (9.7.9.25.4.1).
  Kernel bulk_to_shared() {
    const bool from_shared = s_.modifiers.space2() == Space::shared;
    const bool spread = s_.modifiers.has(Field::multicast);
    const bool pair = word(s_, Field::space) == "shared::cluster";
    const u32 bytes = t_.variant() % 2 ? 16 : 32, at = t_.variant() % 2 ? 16 : 0;
    begin_pair(pair);
    t_.fill_slot();
    if (from_shared) fill_source();
    if (!from_shared) t_.tell_memory(Type::u64, 4);
    const std::string size = t_.fresh(Type::u32), mask = t_.fresh(Type::b16);
    t_.say("mov.u32 {}, {}", size, bytes);
    // Which of the two blocks a copy goes to: one, the other, both; a thread of each block in turn
    // sends them.
    const u32 to = spread ? t_.variant() / 2 + 1 : 3;
    t_.say("mov.b16 {}, {}", mask, to);
    const std::string gets = t_.fresh(Type::pred), sends = t_.fresh(Type::pred);
    if (spread) {
      t_.say("shr.u32 %word, {}, %rank", to);
      t_.say("and.b32 %word, %word, 1");
      t_.say("setp.eq.u32 {}, %word, 1", gets);
      t_.say("xor.b32 %word, %thread, %rank");
      t_.say("and.b32 %word, %word, 1");
      t_.say("setp.eq.u32 {}, %word, 0", sends);
    } else {
      t_.say("setp.eq.u32 {0}|{1}, {2}, {2}", gets, t_.fresh(Type::pred), size);
    }
    t_.say("@{} mbarrier.arrive.expect_tx.shared.b64 _, [%bar], {}", gets, size);
    t_.say("fence.proxy.async");
    meet(pair);
    std::string operands;
    if (pair && !spread) {
      partner("%slot", "%to");
      partner("%bar", "%tell");
      operands = fmt::format("[%to+{}], ", at);
    } else {
      operands = fmt::format("[%slot+{}], ", at);
    }
    operands += from_shared ? fmt::format("[%slot+{}], ", 4096 + at)
                            : fmt::format("[%memory+{}], ", bytes == 32 ? 0 : 16 - at);
    operands += size + (pair && !spread ? ", [%tell]" : ", [%bar]");
    if (spread) operands += ", " + mask;
    t_.tried(operands + policy(), spread ? "@" + sends : "");
    const std::string over = t_.label();
    t_.say("@!{} bra {}", gets, over);
    wait_for_bar();
    t_.place(over);
    t_.write_slot();
    meet(pair);
    return t_.take();
  }

  // Bulk copies and reductions of shared into global memory, in groups.
  Kernel bulk_to_global() {
    const u32 bytes = t_.variant() % 2 ? 16 : 32, at = t_.variant() % 2 ? 16 : 0;
    t_.own_slots();
    const bool reduces = s_.modifiers.has(Field::reduction);
    const Type type = reduces ? s_.modifiers.type() : Type::u64;
    const u32 width = static_cast<u32>(ptx::bits_of(type)) / 8;
    t_.tell_memory(type, 32 / width);
    for (u32 k = 0; k < 32; k += width) {
      t_.say("st.shared.b{} [%slot+{}], {}", width * 8, k, t_.read(type));
    }
    t_.say("fence.proxy.async.shared::cta");
    t_.say("mov.u32 %word, {}", bytes);
    t_.tried(fmt::format("[%memory+{}], [%slot+{}], %word{}", at, at, policy()));
    t_.say("cp.async.bulk.commit_group");
    t_.say("cp.async.bulk.wait_group 0");
    return t_.take();
  }

  // Two copies out of shared memory in groups of their own. .read waits until they have read: what
  // is stored to the source then goes nowhere.
  Kernel bulk_groups() {
    t_.own_slots();
    t_.fill_slot();
    t_.tell_memory(Type::u64, 4);
    const bool waits = s_.modifiers.operation() == Operation::wait_group;
    t_.say("fence.proxy.async.shared::cta");
    for (u32 k = 0; k < 2; ++k) {
      t_.say("cp.async.bulk.global.shared::cta.bulk_group [%memory+{}], [%slot+{}], 16", 16 * k,
             16 * k);
      waits ? t_.say("cp.async.bulk.commit_group") : t_.tried("");
    }
    if (!waits) {
      t_.say("cp.async.bulk.wait_group 0");
      return t_.take();
    }
    t_.tried(fmt::format("{}", t_.variant()));
    if (s_.modifiers.has(Field::read) && t_.variant() == 0) {
      t_.say("st.shared.b64 [%slot], 0");
      t_.say("st.shared.b64 [%slot+24], 0");
    }
    t_.say("cp.async.bulk.wait_group 0");
    return t_.take();
  }

  Kernel bulk_prefetch() {
    t_.tell_memory(Type::u64, 4);
    t_.say("mov.u32 %word, {}", t_.variant() % 2 ? 16 : 32);
    t_.tried("[%memory], %word" + policy());
    for (u32 at = 0; at < slot_bytes; at += 8) {
      t_.say("ld.global.b64 %long, [%memory+{}]", at);
      t_.write("%long", Type::u64);
    }
    return t_.take();
  }

  // st.async, red.async: into the other block, but for .shared::cta; its mbarrier counts the bytes.
  Kernel told_stores() {
    constexpr bool pair = true;  // of one block alone PTX does not say (9.7.9.12)
    const bool other = word(s_, Field::space) != "shared::cta";
    const Type type = s_.modifiers.type();
    const u32 width = static_cast<u32>(ptx::bits_of(type)) / 8;
    const u32 count = static_cast<u32>(s_.modifiers.vector()), bytes = width * count;
    begin_pair(pair);
    // Of the type, so that its special values meet.
    for (u32 at = 0; at < slot_bytes; at += width) {
      t_.say("st.shared.b{} [%slot+{}], {}", width * 8, at, t_.read(type));
    }
    std::string data;
    for (u32 k = 0; k < count; ++k) data += (k ? ", " : "") + t_.read(type);
    if (count > 1) data = "{" + data + "}";
    t_.say("mbarrier.arrive.expect_tx.shared.b64 _, [%bar], {}", bytes);
    meet(pair);
    const u32 at = bytes * t_.draw(slot_bytes / bytes);
    if (other) {
      partner("%slot", "%to");
      partner("%bar", "%tell");
    } else {
      t_.say("mov.u32 %to, %slot");
      t_.say("mov.u32 %tell, %bar");
    }
    if (s_.modifiers.space() == Space::generic) {
      t_.variable(".reg .b64 %wide, %wide_bar");
      t_.say("cvt.u64.u32 %wide, %to");
      t_.say("cvta.shared::cluster.u64 %wide, %wide");
      t_.say("cvt.u64.u32 %wide_bar, %tell");
      t_.say("cvta.shared::cluster.u64 %wide_bar, %wide_bar");
      t_.tried(fmt::format("[%wide+{}], {}, [%wide_bar]", at, data));
    } else {
      t_.tried(fmt::format("[%to+{}], {}, [%tell]", at, data));
    }
    wait_for_bar();
    t_.write_slot();
    meet(pair);
    return t_.take();
  }

  // What threads have stored is copied by the async proxy behind the fence.
  Kernel proxy_fence() {
    const bool global = s_.modifiers.has(Field::space) && word(s_, Field::space) == "global";
    begin_pair(false);
    t_.fill_slot();
    if (!global) {
      t_.tell_memory(Type::u64, 4);
      t_.tried("");
      t_.say("cp.async.bulk.global.shared::cta.bulk_group [%memory], [%slot], 32");
      t_.say("cp.async.bulk.commit_group");
      t_.say("cp.async.bulk.wait_group 0");
      return t_.take();
    }
    t_.tell_memory(Type::u64, 4);
    t_.say("fence.proxy.async.shared::cta");
    t_.say("mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 32");
    for (u32 at = 0; at < slot_bytes; at += 8) {
      t_.say("st.global.b64 [%memory+{}], {}", at, t_.read(Type::u64));
    }
    t_.tried("");
    t_.say(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%slot], [%memory], "
        "32, [%bar]");
    wait_for_bar();
    t_.write_slot();
    return t_.take();
  }

  // Behind it another block may arrive at the mbarrier.
  Kernel barrier_fence() {
    begin_pair(true);
    meet(true);
    partner("%bar", "%tell");
    partner("%slot", "%to");
    t_.say("st.shared::cluster.b64 [%to], {}", t_.read(Type::u64));
    t_.say("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%tell]");
    t_.spin("mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %done, [%bar], 0");
    t_.say("ld.shared.b64 %long, [%slot]");
    t_.write("%long", Type::u64);
    meet(true);
    return t_.take();
  }

 private:
  // An mbarrier of the block, and how the instruction names it.
  std::string one_barrier(u32 count) {
    t_.variable(".shared .align 8 .b64 bar");
    t_.variable(".reg .b64 %wide_bar");
    const std::string first = t_.fresh(Type::pred);
    t_.say("setp.eq.u32 {}, %thread, 0", first);
    t_.say("@{} mbarrier.init.shared.b64 [bar], {}", first, count);
    t_.say("bar.sync 0");
    if (s_.modifiers.space() != Space::generic) return "[bar]";
    t_.say("mov.u64 %wide_bar, bar");
    t_.say("cvta.shared.u64 %wide_bar, %wide_bar");
    return "[%wide_bar]";
  }

  // The slot that another thread has filled.
  void another_slot() {
    t_.say("mad.lo.u32 %word, %thread, 5, {}", t_.draw(128));
    t_.say("and.b32 %word, %word, 127");
    t_.say("mov.u32 %slot, slots");
    t_.say("mad.lo.u32 %slot, %word, 32, %slot");
  }

  // Slots, and an mbarrier a lane that one arrival completes.
  void begin_pair(bool pair) {
    if (pair) t_.cluster(2);
    t_.variable(".shared .align 128 .b8 slots[8192]");
    t_.say("mov.u32 %slot, slots");
    t_.say("mad.lo.u32 %slot, %thread, 32, %slot");
    t_.variable(".shared .align 8 .b8 bars[1024]");
    t_.variable(".reg .b32 %bar, %to, %tell, %other");
    t_.say("mov.u32 %bar, bars");
    t_.say("mad.lo.u32 %bar, %thread, 8, %bar");
    t_.say("mbarrier.init.shared.b64 [%bar], 1");
    if (s_.modifiers.has(Field::mbarrier_init)) {
      t_.tried("");
    } else {
      t_.say("fence.mbarrier_init.release.cluster");
    }
    if (pair) t_.say("xor.b32 %other, %rank, 1");
  }
  void fill_source() {
    for (u32 at = 0; at < slot_bytes; at += 8) {
      t_.say("st.shared.b64 [%slot+{}], {}", 4096 + at, t_.read(Type::u64));
    }
  }
  void meet(bool pair) {
    if (pair) t_.meet_cluster();
  }
  // The same place in the other block.
  void partner(const char* mine, const char* theirs) {
    t_.say("mapa.shared::cluster.u32 {}, {}, %other", theirs, mine);
  }
  // The bytes may come from another block.
  void wait_for_bar() {
    t_.spin("mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %done, [%bar], 0");
  }
  std::string policy() {
    if (!s_.modifiers.has(Field::hint)) return "";
    t_.make_policy();
    return ", %policy";
  }

  const Spelling& s_;
  KernelText t_;
};

std::optional<Kernel> bulk_kernel_for(const Spelling& s) {
  const ptx::Modifiers& m = s.modifiers;
  if (m.has(Field::tensor) || m.has(Field::cp_mask)) return std::nullopt;
  if (m.has(Field::prefetching)) return Copy(s).bulk_prefetch();
  if (!m.has(Field::completion)) return Copy(s).bulk_groups();
  if (word(s, Field::completion) == "bulk_group") return Copy(s).bulk_to_global();
  return Copy(s).bulk_to_shared();
}

}  // namespace

CopyVariant copy_variant(std::uint32_t constant) {
  return {static_cast<CopyVariant::Less>(constant % 4), 16u >> constant / 4};
}

std::vector<std::uint32_t> copy_variants(const ptx::Modifiers& m) {
  std::vector<std::uint32_t> out = {0};
  if (m.has(Field::tensor) || m.has(Field::prefetching) || m.has(Field::on_mbarrier)) return out;
  const bool groups =
      m.operation() == Operation::commit_group || m.operation() == Operation::wait_group;
  if (m.has(Field::multicast)) return {0, 1, 2, 3, 4, 5};
  if (m.has(Field::bulk))
    return m.operation() == Operation::commit_group ? out : decltype(out){0, 1};
  if (groups) return {0, 1, 2, 3};
  if (m.operation() == Operation::wait_all) return out;
  const bool wide = ptx::words_of(Field::cache)[m[Field::cache] - 1u] == "cg";  // 16 bytes alone
  for (std::uint32_t v = 1; v < (wide ? 4u : 12u); ++v) out.push_back(v);
  return out;
}

std::optional<Kernel> copy_kernel_for(const Spelling& s) {
  const ptx::Modifiers& m = s.modifiers;
  if (!on_this_chip(s, 2)) return std::nullopt;
  if (m.has(Field::mbarrier_init)) return Copy(s).barrier_fence();
  if (s.opcode->op == Op::membar) return std::nullopt;  // ptxas 13 takes no membar.proxy.async
  if (s.opcode->unit == ptx::Unit::barrier) return Copy(s).proxy_fence();
  if (s.opcode->op != Op::cp) {
    // The scope .cluster is of .shared::cluster alone, as ptxas 13 has it.
    const bool own = word(s, Field::space) == "shared::cta";
    if (own && m.has(Field::scope)) return std::nullopt;
    return Copy(s).told_stores();
  }
  if (m.has(Field::bulk)) return bulk_kernel_for(s);
  if (m.has(Field::on_mbarrier)) return Copy(s).told();
  return m.has(Field::cache) ? Copy(s).few_bytes() : Copy(s).groups();
}

}  // namespace tilescope::conformance
