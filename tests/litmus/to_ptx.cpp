#include "tests/litmus/to_ptx.h"

#include <fmt/format.h>

#include <algorithm>

namespace tilescope::litmus {
namespace {

constexpr std::uint32_t apart = 128;  // bytes from variable to variable

class Writer {
 public:
  Writer(const Test& test, bool stress) : test_(test), stress_(stress) {
    for (const Variable& v : test.variables) {
      std::uint32_t& next = v.kind == Variable::Kind::global ? globals_ : shareds_;
      offsets_.push_back(next);
      next += apart;
    }
  }

  Kernel write() {
    head();
    if (stress_) {
      line("mov.u32 %it, 0;");
      label("AGAIN");
    }
    begin();
    if (stress_) meet();
    dispatch();
    for (std::size_t t = 0; t < test_.threads.size(); ++t) thread(t);
    end();
    Kernel out;
    out.ptx = std::move(text_);
    out.lines = std::move(lines_);
    out.ctas = static_cast<std::uint32_t>(test_.ctas());
    out.cluster = static_cast<std::uint32_t>(test_.cluster);
    out.block = 32 * warps();
    out.memory_bytes = globals_;
    out.results = static_cast<std::uint32_t>(test_.observed.size());
    return out;
  }

 private:
  std::uint32_t warps() const { return static_cast<std::uint32_t>(test_.threads_of(0)); }
  void line(std::string_view s) { text_ += fmt::format("  {}\n", s); }
  void label(std::string_view s) { text_ += fmt::format("{}:\n", s); }

  void head() {
    text_ +=
        fmt::format("// {}.litmus\n.version 8.6\n.target sm_90\n.address_size 64\n", test_.name);
    text_ += fmt::format(".visible .entry {}(\n", stress_ ? "stress" : "litmus");
    text_ += "  .param .u64 memory, .param .u64 results";
    if (stress_) {
      text_ +=
          ", .param .u64 counters, .param .u64 scratch,\n  .param .u32 iterations, "
          ".param .u32 instances, .param .u32 seed";
    }
    text_ += ")\n{\n";
    line(".reg .pred %p, %q;");
    line(".reg .u32 %cta, %warp, %lane, %it, %run, %t, %u, %own, %instance, %iterations, %seed;");
    line(".reg .u64 %memory, %results, %counter, %a, %b;");
    for (std::size_t t = 0; t < test_.threads.size(); ++t) {
      const std::uint32_t registers = std::max(1u, test_.threads[t].registers);
      line(fmt::format(".reg .u32 %r{}_<{}>;", t, registers));
      if (test_.variables.empty()) continue;
      line(fmt::format(".reg .u32 %s{}_<{}>;", t, test_.variables.size()));
      line(fmt::format(".reg .u64 %g{}_<{}>;", t, test_.variables.size()));
    }
    if (shareds_) line(fmt::format(".shared .align 128 .b8 shared_memory[{}];", shareds_));
    // One lane of each warp; the others leave.
    line("mov.u32 %t, %tid.x;");
    line("and.b32 %lane, %t, 31;");
    line("shr.u32 %warp, %t, 5;");
    line("setp.ne.u32 %p, %lane, 0;");
    line("@%p exit;");
    line("mov.u32 %cta, %ctaid.x;");
    line("mov.u32 %instance, 0;");
    line("mov.u32 %iterations, 1;");
    line("mov.u32 %it, 0;");
    if (stress_) stress_head();
    if (shareds_) line("mov.u32 %own, shared_memory;");
  }

  void stress_head() {
    line("ld.param.u32 %iterations, [iterations];");
    line("ld.param.u32 %seed, [seed];");
    line(fmt::format("div.u32 %instance, %cta, {};", test_.ctas()));
    line(fmt::format("rem.u32 %cta, %cta, {};", test_.ctas()));
    line("ld.param.u32 %u, [instances];");
    line("setp.lt.u32 %p, %instance, %u;");
    line("@%p bra TEST;");
    traffic();
    label("TEST");
    line("ld.param.u64 %counter, [counters];");
    line("mul.wide.u32 %a, %instance, 4;");
    line("add.u64 %counter, %counter, %a;");
  }

  // Loads and stores all over the scratch buffer.
  void traffic() {
    line("ld.param.u64 %b, [scratch];");
    line("mad.lo.u32 %u, %instance, 7919, %seed;");
    line("shl.b32 %iterations, %iterations, 4;");
    label("TRAFFIC");
    hash();
    line("and.b32 %t, %u, 1048575;");
    line("mul.wide.u32 %a, %t, 4;");
    line("add.u64 %a, %a, %b;");
    line("st.volatile.global.u32 [%a], %u;");
    line("xor.b32 %t, %t, 4096;");
    line("mul.wide.u32 %a, %t, 4;");
    line("add.u64 %a, %a, %b;");
    line("ld.volatile.global.u32 %t, [%a];");
    line("add.u32 %it, %it, 1;");
    line("setp.lt.u32 %p, %it, %iterations;");
    line("@%p bra TRAFFIC;");
    line("exit;");
  }
  void hash() {
    line("mad.lo.u32 %u, %u, 1664525, 1013904223;");
    line("shr.u32 %t, %u, 16;");
    line("xor.b32 %u, %u, %t;");
  }

  // This run's part of both buffers; initial values of this CTA's shared memory.
  void begin() {
    line("mad.lo.u32 %run, %instance, %iterations, %it;");
    line("ld.param.u64 %memory, [memory];");
    line(fmt::format("mul.wide.u32 %a, %run, {};", std::max(globals_, apart)));
    line("add.u64 %memory, %memory, %a;");
    line("ld.param.u64 %results, [results];");
    line(fmt::format("mul.wide.u32 %a, %run, {};", 4 * test_.observed.size()));
    line("add.u64 %results, %results, %a;");
    if (!shareds_) return;
    line("setp.ne.u32 %q, %warp, 0;");
    line("@%q bra READY;");
    for (int c = 0; c < test_.ctas(); ++c) {
      line(fmt::format("setp.ne.u32 %p, %cta, {};", c));
      for (std::size_t v = 0; v < test_.variables.size(); ++v) initial(c, v);
    }
    line("fence.mbarrier_init.release.cluster;");
    line("fence.proxy.async;");
    label("READY");
    barrier();
  }

  void initial(int cta, std::size_t v) {
    const Variable& variable = test_.variables[v];
    if (variable.kind == Variable::Kind::global || variable.cta != cta) return;
    if (variable.kind == Variable::Kind::mbarrier) {
      if (!variable.initial) return;
      line(fmt::format("@!%p mbarrier.init.shared::cta.b64 [shared_memory+{}], {};", offsets_[v],
                       variable.initial));
      return;
    }
    for (std::uint32_t at = 0; at < variable_bytes; at += 4) {
      line(fmt::format("@!%p st.shared::cta.u32 [shared_memory+{}], {};", offsets_[v] + at,
                       variable.initial));
    }
  }

  void barrier() {
    if (test_.cluster > 1) {
      line("barrier.cluster.arrive.release.aligned;");
      line("barrier.cluster.wait.acquire.aligned;");
    } else if (warps() > 1) {
      line("bar.sync 15;");
    }
  }

  // Threads of CTAs that no barrier joins count themselves in, and wait a while for the others;
  // then each one waits for up to some hundred cycles of its own.
  void meet() {
    if (test_.ctas() > test_.cluster) {
      line("red.relaxed.gpu.global.add.u32 [%counter], 1;");
      line("add.u32 %u, %it, 1;");
      line(fmt::format("mul.lo.u32 %u, %u, {};", test_.threads.size()));
      line("mov.u32 %lane, 0;");
      label("MEET");
      line("ld.relaxed.gpu.global.u32 %t, [%counter];");
      line("setp.ge.u32 %p, %t, %u;");
      line("@%p bra MET;");
      line("add.u32 %lane, %lane, 1;");
      line("setp.lt.u32 %p, %lane, 2000;");
      line("@%p bra MEET;");
      label("MET");
    }
    line("mad.lo.u32 %u, %run, 2654435761, %seed;");
    line("mad.lo.u32 %u, %warp, 40503, %u;");
    line("mad.lo.u32 %u, %cta, 69069, %u;");
    hash();
    hash();
    line("and.b32 %lane, %u, 511;");
    line("setp.gt.u32 %p, %u, 2147483647;");  // half of them at once
    line("@%p bra GO;");
    line("mov.u32 %t, %clock;");
    label("DELAY");
    line("mov.u32 %u, %clock;");
    line("sub.u32 %u, %u, %t;");
    line("setp.lt.u32 %p, %u, %lane;");
    line("@%p bra DELAY;");
    label("GO");
  }

  void dispatch() {
    std::vector<std::uint32_t> seen(static_cast<std::size_t>(test_.ctas()));
    for (std::size_t t = 0; t < test_.threads.size(); ++t) {
      const int cta = test_.threads[t].cta;
      line(fmt::format("setp.eq.u32 %p, %cta, {};", cta));
      line(
          fmt::format("setp.eq.and.u32 %p, %warp, {}, %p;", seen[static_cast<std::size_t>(cta)]++));
      line(fmt::format("@%p bra THREAD_{};", test_.threads[t].name));
    }
    line("bra DONE;");
  }

  void addresses(std::size_t t) {
    const Thread& thread = test_.threads[t];
    for (std::size_t v = 0; v < test_.variables.size(); ++v) {
      const Variable& variable = test_.variables[v];
      const bool global = variable.kind == Variable::Kind::global;
      if (global) {
        line(fmt::format("add.u64 %g{}_{}, %memory, {};", t, v, offsets_[v]));
        continue;
      }
      if (variable.cta / test_.cluster != thread.cta / test_.cluster) continue;
      line(fmt::format("add.u32 %s{}_{}, %own, {};", t, v, offsets_[v]));
      line(fmt::format("cvt.u64.u32 %a, %s{}_{};", t, v));
      line(fmt::format("cvta.shared.u64 %g{}_{}, %a;", t, v));
      if (variable.cta == thread.cta) continue;
      const int rank = variable.cta % test_.cluster;
      line(fmt::format("mapa.shared::cluster.u32 %s{0}_{1}, %s{0}_{1}, {2};", t, v, rank));
      line(fmt::format("mapa.u64 %g{0}_{1}, %g{0}_{1}, {2};", t, v, rank));
    }
  }

  void thread(std::size_t t) {
    label("THREAD_" + test_.threads[t].name);
    addresses(t);
    for (std::uint32_t r = 0; r < std::max(1u, test_.threads[t].registers); ++r) {
      line(fmt::format("mov.u32 %r{}_{}, 0;", t, r));
    }
    int n = 0;
    for (const Instruction& i : test_.threads[t].instructions) instruction(t, i, n++);
    for (std::size_t o = 0; o < test_.observed.size(); ++o) {
      if (test_.observed[o].thread != static_cast<int>(t)) continue;
      line(fmt::format("st.global.u32 [%results+{}], %r{}_{};", 4 * o, t, test_.observed[o].index));
    }
    line("bra DONE;");
  }

  std::string operand(std::size_t t, const Instruction& i, const Operand& o) const {
    if (o.kind == Operand::Kind::number) return fmt::format("{}", o.value);
    if (o.kind == Operand::Kind::reg) return fmt::format("%r{}_{}", t, o.value);
    const bool global = test_.variables[o.value].kind == Variable::Kind::global;
    const bool any = (i.is("ld") || i.is("st") || i.is("atom") || i.is("red")) &&
                     i.opcode.find(".shared") == std::string::npos;
    return fmt::format("[%{}{}_{}]", global || any ? 'g' : 's', t, o.value);
  }

  void instruction(std::size_t t, const Instruction& i, int n) {
    std::string operands;
    if (i.is("mbarrier.arrive") || i.is("mbarrier.arrive_drop")) operands = "_";
    const bool waits = i.is("mbarrier.try_wait") || i.is("mbarrier.test_wait");
    if (waits) operands = "%p";
    for (const Operand& o : i.operands) {
      operands += (operands.empty() ? "" : ", ") + operand(t, i, o);
    }
    if (i.only_if) {
      line(fmt::format("setp.eq.u32 %p, %r{}_{}, {};", t, i.only_if->first, i.only_if->second));
    }
    if (waits) label(fmt::format("WAIT_{}_{}", test_.threads[t].name, n));
    lines_[{static_cast<int>(t), n}] =
        1 + static_cast<std::uint32_t>(std::count(text_.begin(), text_.end(), '\n'));
    line(fmt::format("{}{}{}{};", i.only_if ? "@%p " : "", i.opcode, operands.empty() ? "" : " ",
                     operands));
    if (waits) line(fmt::format("@!%p bra WAIT_{}_{};", test_.threads[t].name, n));
  }

  // Shared memory that is observed, once all are done; and whose CTA must not be gone before.
  void end() {
    label("DONE");
    bool observed = false;
    for (const Observed& o : test_.observed) {
      observed =
          observed || (o.thread < 0 && test_.variables[o.index].kind != Variable::Kind::global);
    }
    if (stress_) {
      line("cp.async.wait_all;");
      line("cp.async.bulk.commit_group;");
      line("cp.async.bulk.wait_group 0;");
    }
    if (stress_ || observed || test_.cluster > 1) barrier();
    for (std::size_t o = 0; observed && o < test_.observed.size(); ++o) {
      const Observed& what = test_.observed[o];
      if (what.thread >= 0 || test_.variables[what.index].kind == Variable::Kind::global) continue;
      line(fmt::format("setp.eq.u32 %p, %cta, {};", test_.variables[what.index].cta));
      line("setp.eq.and.u32 %p, %warp, 0, %p;");
      line(fmt::format("@%p ld.shared::cta.u32 %t, [shared_memory+{}];", offsets_[what.index]));
      line(fmt::format("@%p st.global.u32 [%results+{}], %t;", 4 * o));
    }
    if (stress_) {
      again();
    }
    line("exit;");
    text_ += "}\n";
  }

  void again() {
    if (shareds_) line("setp.eq.u32 %q, %warp, 0;");
    for (std::size_t v = 0; v < test_.variables.size(); ++v) {
      const Variable& variable = test_.variables[v];
      if (variable.kind != Variable::Kind::mbarrier) continue;
      line(fmt::format("setp.eq.and.u32 %p, %cta, {}, %q;", variable.cta));
      line(fmt::format("@%p mbarrier.inval.shared::cta.b64 [shared_memory+{}];", offsets_[v]));
    }
    line("add.u32 %it, %it, 1;");
    line("setp.lt.u32 %p, %it, %iterations;");
    line("@%p bra AGAIN;");
  }

  const Test& test_;
  const bool stress_;
  std::vector<std::uint32_t> offsets_{};
  std::uint32_t globals_ = 0, shareds_ = 0;
  std::string text_{};
  std::map<Place, std::uint32_t> lines_{};
};

}  // namespace

Kernel to_ptx(const Test& test) {
  return Writer(test, false).write();
}

Kernel to_stress_ptx(const Test& test) {
  return Writer(test, true).write();
}

std::vector<std::uint32_t> initial_memory(const Test& test) {
  std::vector<std::uint32_t> out;
  for (const Variable& v : test.variables) {
    if (v.kind != Variable::Kind::global) continue;
    out.resize(out.size() + apart / 4);
    std::fill_n(out.end() - apart / 4, variable_bytes / 4, v.initial);
  }
  out.resize(std::max<std::size_t>(out.size(), apart / 4));
  return out;
}

Values outcome_of(const Test& test, const std::uint32_t* memory, const std::uint32_t* results) {
  Values out;
  for (std::size_t o = 0; o < test.observed.size(); ++o) {
    const Observed& what = test.observed[o];
    std::size_t at = 0;
    for (std::uint32_t v = 0; what.thread < 0 && v < what.index; ++v) {
      at += test.variables[v].kind == Variable::Kind::global ? apart / 4 : 0;
    }
    const bool in_memory =
        what.thread < 0 && test.variables[what.index].kind == Variable::Kind::global;
    out.push_back(in_memory ? memory[at] : results[o]);
  }
  return out;
}

}  // namespace tilescope::litmus
