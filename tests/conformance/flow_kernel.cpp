#include "tests/conformance/flow_kernel.h"

#include <vector>

#include "tests/conformance/kernel_text.h"

namespace tilescope::conformance {
namespace {

using ptx::Field;
using ptx::Op;
using ptx::Type;
using u32 = std::uint32_t;

constexpr const char* whole_warp = "0xffffffff";

// The lane's state is in %a and %b, each step changes both; %u and %v are a state that all lanes of
// a warp share, for what .uni promises (PTX ISA 9.7.12.3).
class Flow {
 public:
  explicit Flow(const Spelling& s) : s_(s), t_(s), uniform_(s.modifiers.has(Field::uni)) {}

  Kernel branches() {
    begin();
    switch (t_.variant() % 4) {
      case 0:
        graph();
        break;
      case 1:
        loops();
        break;
      case 2:
        t_.variable(".reg .b32 %all");
        t_.say("mov.u32 %all, {}", whole_warp);
        nest(3, "%all");
        break;
      default:
        chain();
    }
    return end();
  }

  // Blocks that go on anywhere; brx.idx chooses among lists in which labels come twice.
  Kernel jumps() {
    begin();
    graph();
    return end();
  }

  // Lanes that end early have told their state; those that are left vote.
  Kernel exits() {
    begin();
    for (u32 i = 0; i < 3; ++i) {
      steps(2);
      const std::string p = condition();
      if (t_.draw(2)) {
        const std::string stay = t_.label();
        t_.say("@!{} bra {}", p, stay);
        tell();
        t_.tried("");
        t_.place(stay);
      } else {
        tell();
        t_.tried("", "@" + p);
      }
      // For all that have not exited (9.7.13.9): who is in the mask but gone is not waited for.
      const std::string q = condition();
      t_.say("vote.sync.ballot.b32 %word, {}, {}", q, whole_warp);
      t_.say("xor.b32 %a, %a, %word");
      t_.say("redux.sync.add.u32 %word, %b, {}", whole_warp);
      t_.say("add.u32 %b, %b, %word");
    }
    count_results();
    return t_.take();
  }

  Kernel calls() {
    make_functions();
    begin();
    steps(1);
    call(0);
    const std::string odd = condition(), other = t_.label(), join = t_.label();
    t_.say("@{} bra {}", odd, other);
    call(1);
    t_.say("bra {}", join);
    t_.place(other);
    steps(1);
    call(t_.draw(2));
    t_.place(join);
    if (t_.variant() % 2) indirect_call();
    return end();
  }

  // Where a thread only waits, or tells others of it.
  Kernel waits(const std::string& operands) {
    begin();
    steps(1);
    t_.tried(operands);
    steps(1);
    return end();
  }

  // A warpgroup that gives registers back, or takes some of them again.
  Kernel register_counts() {
    t_.directive(".maxnreg 128");
    begin();
    steps(2);
    if (s_.text.find(".inc") != std::string::npos) {
      t_.say("setmaxnreg.dec.sync.aligned.u32 40");
      t_.say("bar.sync 0");  // all of the warpgroup have done so (9.7.19.5)
      steps(2);
    }
    t_.tried(fmt::format("{}", t_.variant()));
    steps(2);
    return end();
  }

 private:
  void begin() {
    t_.variable(".reg .b32 %a, %b, %u, %v, %fuel, %t");
    t_.say("mov.b32 %a, {}", t_.read(Type::u32));
    t_.say("mov.b32 %b, {}", t_.read(Type::u32));
    t_.say("shfl.sync.idx.b32 %u, %a, 0, 31, {}", whole_warp);
    t_.say("shfl.sync.idx.b32 %v, %b, 0, 31, {}", whole_warp);
  }

  // The same two results wherever a thread ends.
  void tell() {
    t_.say("st.global.b32 [%out], %a");
    t_.say("st.global.b32 [%out+{}], %b", lanes * 8);
  }
  void count_results() {
    t_.write("%a", Type::u32);
    t_.write("%b", Type::u32);
  }
  Kernel end() {
    t_.say("xor.b32 %a, %a, %u");
    t_.say("add.u32 %b, %b, %v");
    count_results();
    return t_.take();
  }

  std::string constant() { return fmt::format("{:#x}", t_.draw(0x7fffffff) | 1); }

  void step(const char* a, const char* b) {
    switch (t_.draw(4)) {
      case 0:
        t_.say("mad.lo.u32 {0}, {0}, {2}, {1}", a, b, constant());
        break;
      case 1:
        t_.say("xor.b32 {1}, {1}, {0}", a, b);
        t_.say("add.u32 {0}, {0}, {1}", a, constant());
        break;
      case 2:
        t_.say("shf.l.wrap.b32 {0}, {0}, {1}, {2}", a, b, 1 + t_.draw(31));
        t_.say("sub.u32 {1}, {1}, {0}", a, b);
        break;
      default:
        t_.say("mul.hi.u32 %t, {0}, {1}", a, constant());
        t_.say("add.u32 {0}, {0}, %t", b);
    }
  }
  void steps(u32 count) {
    for (u32 i = 0; i < count; ++i) step("%a", "%b");
    if (uniform_) step("%u", "%v");
  }

  // A predicate from a few bits of the state: the warp's where .uni wants it.
  std::string condition() {
    constexpr const char* compare[] = {"lt", "ge", "eq", "ne"};
    const std::string p = t_.fresh(Type::pred), q = t_.fresh(Type::pred);
    const char* from = uniform_ ? (t_.draw(2) ? "%u" : "%v") : (t_.draw(2) ? "%a" : "%b");
    t_.say("bfe.u32 %t, {}, {}, 2", from, t_.draw(30));
    const u32 bound =
        1 + t_.draw(3);  // one draw after the other: compilers differ in the order of arguments
    t_.say("setp.{}.u32 {}|{}, %t, {}", compare[t_.draw(4)], p, q, bound);
    return t_.draw(2) ? p : q;
  }
  std::string guard() {
    const std::string p = condition();
    return (t_.draw(2) ? "@!" : "@") + p;
  }

  void jump(const std::string& label, const std::string& guard = "") { t_.tried(label, guard); }

  // Blocks that may go on at any other, until their fuel is used up: also loops with two entries.
  void graph() {
    constexpr u32 blocks = 7;
    std::vector<std::string> label;
    for (u32 i = 0; i < blocks; ++i) label.push_back(t_.label());
    const std::string done = t_.label(), p = t_.fresh(Type::pred);
    const bool indexed = s_.opcode->op == Op::brx;
    t_.say("mov.u32 %fuel, {}", 20 + t_.draw(20));
    for (u32 i = 0; i < blocks; ++i) {
      t_.place(label[i]);
      t_.say("add.u32 %a, %a, {}", i + 1);  // the way leaves a trace
      steps(1 + t_.draw(2));
      t_.say("sub.u32 %fuel, %fuel, 1");
      t_.say("setp.eq.u32 {}, %fuel, 0", p);
      if (!indexed) {
        jump(done, "@" + p);
        const std::string by = guard();
        jump(label[t_.draw(blocks)], by);
        if (t_.draw(3)) jump(label[t_.draw(blocks)]);
        continue;
      }
      t_.say("@{} bra {}", p, done);
      const std::string list = t_.label();
      std::string targets;
      for (u32 k = 0; k < 8; ++k) targets += (k ? ", " : "") + label[t_.draw(blocks)];
      t_.place(list);
      t_.say(".branchtargets {}", targets);
      t_.say("bfe.u32 %t, {}, {}, 3", uniform_ ? "%u" : "%a", t_.draw(29));
      t_.tried("%t, " + list, t_.draw(2) ? guard() : "");
    }
    t_.place(done);
  }

  // Two loops, of a number of turns that differs from lane to lane, the inner with a way out of
  // both. Behind them all lanes of the warp shuffle and vote.
  void loops() {
    const std::string i = t_.fresh(Type::u32), j = t_.fresh(Type::u32);
    const std::string p = t_.fresh(Type::pred), q = t_.fresh(Type::pred);
    const std::string outer = t_.label(), inner = t_.label(), next = t_.label(), out = t_.label();
    const char* from = uniform_ ? "%u" : "%a";
    t_.say("bfe.u32 {}, {}, {}, 4", i, from, t_.draw(28));
    t_.place(outer);
    t_.say("setp.eq.u32 {}, {}, 0", p, i);
    jump(out, "@" + p);
    steps(1);
    t_.say("bfe.u32 {}, {}, {}, 3", j, from, t_.draw(29));
    t_.place(inner);
    t_.say("setp.eq.u32 {}, {}, 0", q, j);
    jump(next, "@" + q);
    steps(1);
    if (t_.draw(2)) {
      const std::string all = t_.fresh(Type::pred);
      t_.say("bfe.u32 %t, {}, {}, 5", from, t_.draw(27));
      t_.say("setp.eq.u32 {}, %t, 0", all);
      jump(out, "@" + all);
    }
    t_.say("sub.u32 {0}, {0}, 1", j);
    jump(inner);
    t_.place(next);
    t_.say("sub.u32 {0}, {0}, 1", i);
    jump(outer);
    t_.place(out);
    t_.say("shfl.sync.bfly.b32 %word, %a, {}, 31, {}", 1 + t_.draw(31), whole_warp);
    t_.say("xor.b32 %b, %b, %word");
    const std::string r = condition();
    t_.say("vote.sync.ballot.b32 %word, {}, {}", r, whole_warp);
    t_.say("add.u32 %a, %a, %word");
  }

  // Ifs inside ifs, where the lanes of each side know of each other.
  void nest(u32 depth, const std::string& mask) {
    const std::string yes = t_.fresh(Type::u32), no = t_.fresh(Type::u32);
    const std::string p = condition(), other = t_.label(), join = t_.label();
    t_.say("vote.sync.ballot.b32 {}, {}, {}", yes, p, mask);
    t_.say("not.b32 {0}, {1}", no, yes);
    t_.say("and.b32 {0}, {0}, {1}", no, mask);
    jump(other, "@!" + p);
    side(depth, yes);
    jump(join);
    t_.place(other);
    side(depth, no);
    t_.place(join);
    t_.say("redux.sync.xor.b32 %word, %a, {}", mask);
    t_.say("add.u32 %b, %b, %word");
  }

  void side(u32 depth, const std::string& mask) {
    steps(1);
    together(mask);
    if (depth > 1) nest(depth - 1, mask);
  }

  // Votes and sums of the lanes of a mask; and what can be said of activemask (9.7.13.11): the lane
  // itself is active, and no lane that went another way.
  void together(const std::string& mask) {
    const std::string p = condition(), any = t_.fresh(Type::pred), active = t_.fresh(Type::u32);
    t_.say("vote.sync.{}.pred {}, {}, {}", t_.draw(2) ? "any" : "all", any, p, mask);
    t_.say("@{} add.u32 %a, %a, {}", any, constant());
    t_.say("redux.sync.add.u32 %word, %b, {}", mask);
    t_.say("xor.b32 %a, %a, %word");
    t_.say("activemask.b32 {}", active);
    t_.say("mov.u32 %word, %lanemask_eq");
    t_.say("and.b32 %t, {}, %word", active);
    t_.say("setp.eq.u32 {}, %t, 0", any);
    t_.say("@{} add.u32 %a, %a, 1", any);
    t_.say("not.b32 %word, {}", mask);
    t_.say("and.b32 %t, {}, %word", active);
    t_.say("setp.ne.u32 {}, %t, 0", any);
    t_.say("@{} add.u32 %b, %b, 1", any);
  }

  // else-ifs by predicates that are made of each other, and by what selp gives.
  void chain() {
    const std::string join = t_.label();
    std::string before = condition();
    for (u32 i = 0; i < 6; ++i) {
      const std::string next = t_.label(), p = t_.fresh(Type::pred);
      const std::string q = condition();
      constexpr const char* logic[] = {"and", "or", "xor"};
      t_.say("{}.pred {}, {}, {}", logic[t_.draw(3)], p, before, q);
      if (t_.draw(2)) {
        const u32 no = t_.draw(2);
        t_.say("selp.b32 %t, {}, {}, {}", 2 + t_.draw(5), no, p);
        t_.say("setp.gt.u32 {}, %t, 1", p);
      }
      jump(next, "@!" + p);
      steps(2);
      if (t_.draw(3)) jump(join);
      t_.place(next);
      steps(1);
      before = q;
    }
    t_.place(join);
  }

  // f0 and f1 call f2, which calls itself; what they are given lies in a word, eight bytes and an
  // array, as the ABI has it (PTX ISA 7.1).
  void make_functions() {
    const bool tried_call = s_.opcode->op == Op::call;
    const std::string call = tried_call ? s_.text : "call";
    const std::string ret = tried_call ? "ret" : s_.text;
    const auto function = [&](const std::string& name, const std::string& body) {
      return ".func (.param .b32 r) " + name +
             "(.param .b32 x, .param .b64 y, .param .align 8 .b8 z[16])\n{\n"
             "  .reg .b32 a, b, c, d;\n  .reg .b64 w;\n  .reg .pred p, q;\n"
             "  ld.param.b32 a, [x];\n  ld.param.b64 w, [y];\n  mov.b64 {b, c}, w;\n"
             "  ld.param.b32 d, [z+8];\n  add.u32 c, c, d;\n" +
             body + "}\n";
    };
    const auto inner_call = [&](const std::string& name, const std::string& guard) {
      return "  {\n  .param .b32 p0;\n  .param .b64 p1;\n  .param .align 8 .b8 p2[16];\n"
             "  .param .b32 q0;\n  mov.b64 w, {c, a};\n  st.param.b32 [p0], b;\n"
             "  st.param.b64 [p1], w;\n  st.param.b64 [p2], w;\n  st.param.b32 [p2+8], a;\n"
             "  st.param.b32 [p2+12], 7;\n  mov.u32 d, c;\n  " +
             guard + call + " (q0), " + name + ", (p0, p1, p2);\n  ld.param.b32 d, [q0];\n  }\n";
    };
    const auto give = [&](const std::string& guard = "") {
      return "  st.param.b32 [r], a;\n  " + guard + ret + ";\n";
    };
    // Whatever a thread decides by, .uni of a ret or call is true of it: by the block's number.
    const std::string where = uniform_ ? "  mov.u32 d, %ctaid.x;\n" : "  shr.u32 d, a, 5;\n";
    const auto decide = [&](u32 bit) {
      return where + fmt::format("  and.b32 d, d, {};\n  setp.ne.u32 p, d, 0;\n", 1u << bit);
    };
    std::string bodies[3];
    for (u32 i = 0; i < 3; ++i) {
      std::string& body = bodies[i];
      body += fmt::format("  mad.lo.u32 a, a, {}, b;\n  xor.b32 c, c, a;\n", constant());
      body += decide(i) + give("@p ");
      body += fmt::format("  shf.r.wrap.b32 a, a, c, {};\n", 1 + t_.draw(31));
      if (i < 2) {
        body += inner_call("f2", "") + "  add.u32 a, a, d;\n";
        body += decide(3 - i) + "  xor.b32 b, b, a;\n" + give("@!p ") + "  add.u32 a, a, b;\n";
      } else {
        // As deep as its first number says in three bits.
        body +=
            "  and.b32 d, b, 7;\n  setp.eq.u32 q, d, 0;\n  @q bra Bottom;\n"
            "  sub.u32 b, b, 1;\n  and.b32 b, b, 7;\n  mov.u32 d, c;\n  mov.u32 c, b;\n"
            "  add.u32 a, a, d;\n" +
            inner_call("f2", "") + "  xor.b32 a, a, d;\nBottom:\n";
      }
      body += give();
    }
    std::string text;
    for (u32 i = 3; i-- > 0;) {
      text += function(fmt::format("f{}", i), bodies[i]);
      if (i == 2)
        text =
            ".func (.param .b32 r) f2(.param .b32 x, .param .b64 y, .param .align 8 "
            ".b8 z[16]);\n" +
            text;
    }
    t_.module(text + ".global .align 8 .u64 table[2] = {f0, f1};\n");
    t_.variable(".reg .b64 %pair");
  }

  void pass() {
    t_.say("{{\n  .param .b32 p0");
    t_.say(".param .b64 p1");
    t_.say(".param .align 8 .b8 p2[16]");
    t_.say(".param .b32 q0");
    t_.say("mov.b64 %pair, {{%b, %a}}");
    t_.say("st.param.b32 [p0], %a");
    t_.say("st.param.b64 [p1], %pair");
    t_.say("st.param.b64 [p2], %pair");
    t_.say("st.param.b32 [p2+8], %b");
    t_.say("st.param.b32 [p2+12], 1");
  }
  void take_result() {
    t_.say("ld.param.b32 %word, [q0]");
    t_.say("xor.b32 %b, %b, %word;\n  }}\n  add.u32 %a, %a, %word");
  }

  void call(u32 which) {
    pass();
    const std::string operands = fmt::format("(q0), f{}, (p0, p1, p2)", which);
    if (s_.opcode->op == Op::call) {
      t_.tried(operands);
    } else {
      t_.say("call {}", operands);
    }
    take_result();
  }

  // Neighbours call different functions; of .uni blocks do.
  void indirect_call() {
    const std::string which = t_.fresh(Type::u64);
    t_.say("mov.u32 %t, {}", uniform_ ? "%ctaid.x" : "%lane");
    t_.say("and.b32 %t, %t, 1");
    t_.say("mov.u64 {}, table", which);
    t_.say("mad.wide.u32 {0}, %t, 8, {0}", which);
    t_.say("ld.global.u64 {0}, [{0}]", which);
    pass();
    std::string kind = "prototype";
    if (t_.draw(2)) {
      t_.say("targets: .calltargets f0, f1");
      kind = "targets";
    } else {
      t_.say(
          "prototype: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 _, .param "
          ".align 8 .b8 _[16])");
    }
    const std::string operands = fmt::format("(q0), {}, (p0, p1, p2), {}", which, kind);
    if (s_.opcode->op == Op::call) {
      t_.tried(operands);
    } else {
      t_.say("call {}", operands);
    }
    take_result();
  }

  const Spelling& s_;
  KernelText t_;
  bool uniform_;
};

}  // namespace

std::uint32_t flow_variants(ptx::Op op, const ptx::Modifiers& modifiers) {
  const bool uniform = modifiers.has(Field::uni);
  switch (op) {
    case Op::bra:
      return uniform ? 12 : 48;
    case Op::brx:
    case Op::call:
      return uniform ? 8 : 16;
    case Op::ret:
      return uniform ? 4 : 8;
    case Op::exit:
      return 8;
    default:
      return 1;
  }
}

std::optional<Kernel> flow_kernel_for(const Spelling& s) {
  if (!on_this_chip(s, 1)) return std::nullopt;
  switch (s.opcode->op) {
    case Op::bra:
      return Flow(s).branches();
    case Op::brx:
      return Flow(s).jumps();
    case Op::call:
    case Op::ret:
      return Flow(s).calls();
    case Op::exit:
      return Flow(s).exits();
    case Op::nanosleep:
      return Flow(s).waits("100");
    case Op::pmevent:
      return Flow(s).waits(fmt::format("{}", s.constant.value_or(0)));
    case Op::griddepcontrol:
      return Flow(s).waits("");
    case Op::setmaxnreg:
      return Flow(s).register_counts();
    default:
      return std::nullopt;  // trap, brkpt: they end the launch
  }
}

}  // namespace tilescope::conformance
