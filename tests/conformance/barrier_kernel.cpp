#include "tests/conformance/barrier_kernel.h"

#include "tests/conformance/kernel_text.h"

namespace tilescope::conformance {
namespace {

using ptx::Field;
using ptx::Op;
using ptx::Operation;
using ptx::Space;
using ptx::Step;
using ptx::Type;
using u32 = std::uint32_t;

class Meeting {
 public:
  explicit Meeting(const Spelling& s) : s_(s), t_(s) {}

  // What others stored before the barrier: of the whole block, or of two warps of four.
  Kernel block_barrier() {
    t_.own_slots();
    t_.fill_slot();
    const bool arrives = s_.modifiers.operation() == Operation::arrive;
    const bool aligned = s_.opcode->op == Op::bar || s_.modifiers.has(Field::aligned);
    const u32 number = s_.constant.value_or(0);
    if (arrives) {
      half_arrives(number);
    } else {
      const u32 way = t_.draw(3);  // no count, all, or two by two
      if (way == 2) {
        const std::string late = t_.fresh(Type::pred), other = t_.label(), join = t_.label();
        t_.say("setp.ge.u32 {}, %thread, 64", late);
        t_.say("@{} bra {}", late, other);
        t_.tried(fmt::format("{}, 64", number));
        t_.say("bra {}", join);
        t_.place(other);
        t_.tried(fmt::format("{}, 64", number ^ 1));
        t_.place(join);
      } else if (aligned) {
        t_.tried(fmt::format("{}{}", number, way ? ", 128" : ""));
      } else {
        apart(fmt::format("{}{}", number, way ? ", 128" : ""));
      }
      read_another(way == 2 ? 63 : 127);
      t_.write_slot();
    }
    return t_.take();
  }

  Kernel warp_barrier() {
    t_.own_slots();
    t_.fill_slot();
    // Each quarter of a warp for itself, or the whole.
    t_.say("and.b32 %word, %thread, 24");
    const std::string mask = t_.fresh(Type::u32);
    const bool quarters = t_.draw(2);
    t_.say("mov.u32 {}, {}", mask, quarters ? "0xff" : "0xffffffff");
    if (quarters) t_.say("shl.b32 {0}, {0}, %word", mask);
    t_.tried(mask);
    read_another(quarters ? 7 : 31);
    t_.write_slot();
    return t_.take();
  }

  Kernel cluster_barrier() {
    t_.cluster(4);
    t_.own_slots();
    t_.fill_slot();
    const bool waits = s_.modifiers.operation() == Operation::wait;
    const bool relaxed = word(s_, Field::order) == "relaxed";
    if (relaxed) t_.say("fence.acq_rel.cluster");
    if (waits) t_.say("barrier.cluster.arrive");
    t_.tried("");
    if (!waits) t_.say("barrier.cluster.wait");
    const std::string rank = t_.number(0, 4);
    t_.say("mapa.shared::cluster.u32 %slot, %slot, {}", rank);
    for (u32 at = 0; at < slot_bytes; at += 8) {
      t_.say("ld.shared::cluster.b64 %long, [%slot+{}]", at);
      t_.write("%long", Type::u64);
    }
    if (waits) t_.say("barrier.cluster.arrive");
    t_.tried("");
    if (!waits) t_.say("barrier.cluster.wait");
    return t_.take();
  }

  // Message passing from a thread of the first two warps to one of the others: the data are weak,
  // the flag is relaxed. A fence that is for one side alone stands on that side; of those that
  // promise less than this needs, the usual ones stand beside them.
  Kernel fence() {
    t_.own_slots();
    t_.variable(".shared .align 4 .b8 flags[512]");
    t_.variable(".reg .b32 %flag");
    t_.say("mov.u32 %flag, flags");
    t_.say("and.b32 %word, %thread, 63");
    t_.say("mad.lo.u32 %flag, %word, 4, %flag");
    const std::string late = t_.fresh(Type::pred), other = t_.label(), join = t_.label();
    t_.say("setp.ge.u32 {}, %thread, 64", late);
    t_.say("@!{} st.shared.b32 [%flag], 0", late);
    const bool global = t_.draw(2);
    t_.say("bar.sync 0");
    const std::string value = t_.read(Type::u64);
    if (global) t_.tell_memory(Type::u64, 4);
    t_.say("@{} bra {}", late, other);
    t_.say("mov.b64 %long, {}", value);
    t_.say("st.{}.b64 [{}], {}", global ? "global" : "shared", global ? "%memory" : "%slot", value);
    order(true);
    t_.say("st.relaxed.cta.shared.b32 [%flag], 1");
    t_.say("bra {}", join);
    t_.place(other);
    t_.variable(".reg .b32 %seen");
    const std::string again = t_.label();
    t_.place(again);
    t_.say("ld.relaxed.cta.shared.b32 %seen, [%flag]");
    t_.say("setp.eq.u32 %done, %seen, 1");
    t_.say("@!%done bra {}", again);
    order(false);
    t_.say("ld.{}.b64 %long, [{}+-{}]", global ? "global" : "shared", global ? "%memory" : "%slot",
           64 * 32);
    t_.place(join);
    t_.write("%long", Type::u64);
    return t_.take();
  }

 private:
  // Warps 0 and 1 only arrive; 2 and 3 read what these stored.
  void half_arrives(u32 number) {
    const std::string late = t_.fresh(Type::pred), other = t_.label(), join = t_.label();
    t_.say("setp.ge.u32 {}, %thread, 64", late);
    t_.say("@{} bra {}", late, other);
    t_.tried(fmt::format("{}, 128", number));
    t_.say("bra {}", join);
    t_.place(other);
    t_.say("bar.sync {}, 128", number);
    t_.say("sub.u32 %slot, %slot, {}", 64 * 32);
    t_.place(join);
    t_.write_slot();
  }

  // Without .aligned lanes of a warp may come to the same barrier by different instructions.
  void apart(const std::string& operands) {
    const std::string odd = t_.read(Type::pred), other = t_.label(), join = t_.label();
    t_.say("@{} bra {}", odd, other);
    t_.tried(operands);
    t_.say("bra {}", join);
    t_.place(other);
    t_.tried(operands);
    t_.place(join);
  }

  // The slot of another thread of the same 8, 32, 64 or 128.
  void read_another(u32 within) {
    t_.say("mad.lo.u32 %word, %thread, 5, {}", t_.draw(128));
    t_.say("and.b32 %word, %word, {}", within);
    t_.variable(".reg .b32 %group");
    t_.say("and.b32 %group, %thread, {}", 127 & ~within);
    t_.say("or.b32 %word, %word, %group");
    t_.say("mov.u32 %slot, slots");
    t_.say("mad.lo.u32 %slot, %word, 32, %slot");
  }

  void order(bool before) {
    const std::string order(word(s_, Field::order));
    const bool restricted = s_.modifiers.has(Field::restriction) || s_.modifiers.has(Field::proxy);
    const bool one_sided = order == "release" || order == "acquire";
    const bool here = !one_sided || (order == "release") == before;
    if (!here || restricted) t_.say("fence.acq_rel.cta");
    if (!here) return;
    const bool map = word(s_, Field::proxies) == "tensormap::generic" && order == "acquire";
    if (map) {
      t_.module(".global .align 128 .b8 room[128];\n");
      t_.variable(".reg .b64 %map");
      t_.say("mov.u64 %map, room");
    }
    t_.tried(map ? "[%map], 128" : "");
  }

  const Spelling& s_;
  KernelText t_;
};

// An mbarrier of each lane's own, of `count` arrivals, 2 to 9; some of them come at once: `some`, 1
// to count - 1. Instructions on .shared::cluster reach that of the other block of a cluster.
class Mbarrier {
 public:
  explicit Mbarrier(const Spelling& s)
      : s_(s), t_(s), remote_(word(s, Field::space) == "shared::cluster") {}

  Kernel write() {
    if (remote_) t_.cluster(2);
    t_.variable(".shared .align 8 .b8 bars[1024]");
    t_.variable(".reg .b32 %bar, %count, %some, %rest, %bytes, %less");
    t_.variable(".reg .b64 %state, %wide_bar");
    t_.say("mov.u32 %bar, bars");
    t_.say("mad.lo.u32 %bar, %thread, 8, %bar");
    // The same lane of both blocks of a cluster has the same numbers: of the lane in the block.
    t_.say("mov.u32 %count, {}", t_.number(2, 8));
    t_.say("mov.u32 %some, {}", t_.number(0, 8));
    t_.say("mov.u32 %bytes, {}", t_.number(1, 8));
    if (remote_) exchange();
    t_.say("sub.u32 %less, %count, 2");
    t_.say("min.u32 %some, %some, %less");
    t_.say("add.u32 %some, %some, 1");
    t_.say("sub.u32 %rest, %count, %some");
    t_.say("shl.b32 %bytes, %bytes, 4");
    name();
    steps();
    return t_.take();
  }

 private:
  // A lane acts on its partner's mbarrier by the partner's numbers: those of block 0 for both.
  void exchange() {
    t_.variable(".shared .align 16 .b8 numbers[2048]");
    t_.variable(".reg .b32 %mine, %theirs");
    t_.say("mov.u32 %mine, numbers");
    t_.say("mad.lo.u32 %mine, %thread, 16, %mine");
    t_.say("st.shared.v4.b32 [%mine], {{%count, %some, %bytes, %count}}");
    t_.meet_cluster();
    t_.say("mapa.shared::cluster.u32 %theirs, %mine, 0");
    t_.say("ld.shared::cluster.v4.b32 {{%count, %some, %bytes, %less}}, [%theirs]");
  }

  // How the instruction names the mbarrier.
  void name() {
    operand_ = "[%bar]";
    if (remote_) {
      t_.variable(".reg .b32 %there, %other");
      t_.say("xor.b32 %other, %rank, 1");
      t_.say("mapa.shared::cluster.u32 %there, %bar, %other");
      operand_ = "[%there]";
    } else if (s_.modifiers.space() == Space::generic) {
      t_.say("cvt.u64.u32 %wide_bar, %bar");
      t_.say("cvta.shared.u64 %wide_bar, %wide_bar");
      operand_ = "[%wide_bar]";
    }
  }

  void init() {
    t_.say("mbarrier.init.shared.b64 [%bar], %count");
    if (remote_) t_.say("fence.mbarrier_init.release.cluster");
  }
  // What is tried; the other block's lane does the same.
  void tried(const std::string& operands) {
    if (remote_) t_.meet_cluster();
    t_.tried(operands);
    if (remote_) t_.meet_cluster();
  }
  // As above for instructions that give a state; elsewhere there is none (9.7.13.15.13).
  void tried_arrival(const std::string& more) {
    tried((remote_ ? "_, " : "%state, ") + operand_ + more);
    if (!remote_) tell_pending("%state");
  }

  void tell_pending(const char* state) {
    t_.say("mbarrier.pending_count.b64 %word, {}", state);
    t_.write("%word", Type::u32);
  }
  // How many arrivals were pending before one more of them.
  void tell_count() {
    t_.say("mbarrier.arrive.noComplete.shared.b64 %state, [%bar], 1");
    tell_pending("%state");
  }
  void arrive(const char* count) { t_.say("mbarrier.arrive.shared.b64 %state, [%bar], {}", count); }
  void tell_phase(u32 parity) {
    t_.say("mbarrier.test_wait.parity.shared.b64 %done, [%bar], {}", parity);
    t_.write("%done", Type::pred);
  }
  void come(const char* bytes) {
    t_.say("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%bar], {}", bytes);
  }

  void steps() {
    const Step step = s_.modifiers.step();
    const bool drops = step == Step::arrive_drop;
    switch (step) {
      case Step::init:
        t_.tried(operand_ + ", %count");
        tell_phase(0);
        tell_phase(1);
        tell_count();
        break;
      case Step::inval:
        init();
        arrive("1");
        t_.tried(operand_);
        t_.say("add.u32 %count, %count, 3");
        init();
        tell_phase(0);
        tell_count();
        break;
      case Step::expect_tx:
        init();
        tried(operand_ + ", %bytes");
        arrive("%count");
        tell_pending("%state");
        tell_phase(0);
        come("%bytes");
        tell_phase(0);
        break;
      case Step::complete_tx:
        init();
        t_.say("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%bar], %bytes");
        arrive("%count");
        tell_pending("%state");
        tell_phase(0);
        tried(operand_ + ", %bytes");
        tell_phase(0);
        break;
      case Step::arrive:
      case Step::arrive_drop:
        arrivals(drops);
        break;
      case Step::test_wait:
      case Step::try_wait:
        waits();
        break;
      case Step::pending_count:
        init();
        for (const char* count : {"%some", "%rest", "1"}) {
          t_.say("mbarrier.arrive.shared.b64 %state, [%bar], {}", count);
          t_.tried("%word, %state");
          t_.write("%word", Type::u32);
        }
        break;
      default:
        break;
    }
    if (remote_) t_.meet_cluster();
  }

  void arrivals(bool drops) {
    init();
    if (s_.modifiers.has(Field::expects)) {
      tried_arrival(", %bytes");
      t_.say("sub.u32 %rest, %count, 1");
      arrive("%rest");
      tell_phase(0);
      come("%bytes");
    } else if (s_.modifiers.has(Field::no_complete) || t_.draw(2)) {
      tried_arrival(", %some");
      tell_phase(0);
      arrive("%rest");
    } else {
      tried_arrival("");
      t_.say("sub.u32 %rest, %count, 1");
      t_.say("mov.u32 %some, 1");
      arrive("%rest");
    }
    tell_phase(0);
    // The next phase expects as many, or those that did not drop out: one of %rest + 1 less.
    if (drops && s_.modifiers.has(Field::expects)) t_.say("sub.u32 %count, %count, 1");
    if (drops && !s_.modifiers.has(Field::expects)) t_.say("sub.u32 %count, %count, %some");
    arrive("1");
    tell_pending("%state");
    t_.say("setp.eq.u32 %done, %count, 1");  // then that was the last
    t_.write("%done", Type::pred);
    tell_phase(1);
  }

  void waits() {
    const bool parity = s_.modifiers.has(Field::parity);
    const bool limited = s_.modifiers.step() == Step::try_wait && t_.draw(2);
    init();
    arrive("%some");
    tell_pending("%state");
    const auto wait = [&](const std::string& phase) {
      const std::string p = t_.fresh(Type::pred);
      t_.tried(fmt::format("{}, {}, {}{}", p, operand_, phase, limited ? ", 1000" : ""));
      t_.write(p, Type::pred);
    };
    wait(parity ? "0" : "%state");
    if (parity) wait("1");
    t_.say("mbarrier.arrive.shared.b64 _, [%bar], %rest");
    wait(parity ? "0" : "%state");
    arrive("%some");
    tell_pending("%state");
    wait(parity ? "1" : "%state");
    t_.say("mbarrier.arrive.shared.b64 _, [%bar], %rest");
    wait(parity ? "1" : "%state");
  }

  const Spelling& s_;
  KernelText t_;
  bool remote_;
  std::string operand_;
};

}  // namespace

std::optional<Kernel> barrier_kernel_for(const Spelling& s) {
  if (!on_this_chip(s, 2)) return std::nullopt;
  const ptx::Modifiers& m = s.modifiers;
  if (s.opcode->op == Op::mbarrier) {
    // An order and a scope are said together (9.7.13.15.13).
    if (m.has(Field::order) != m.has(Field::scope)) return std::nullopt;
    return Mbarrier(s).write();
  }
  // Each half of a fence is restricted to the memory of its own side (9.7.13.4).
  if (m.has(Field::restriction)) {
    const bool acquires = word(s, Field::order) == "acquire";
    const bool cluster = word(s, Field::restriction) == "sync_restrict::shared::cluster";
    if (acquires != cluster) return std::nullopt;
  }
  if (s.opcode->op == Op::fence || s.opcode->op == Op::membar) return Meeting(s).fence();
  if (m.has(Field::warp)) return Meeting(s).warp_barrier();
  return m.has(Field::cluster) ? Meeting(s).cluster_barrier() : Meeting(s).block_barrier();
}

}  // namespace tilescope::conformance
