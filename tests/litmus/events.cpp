#include "tests/litmus/events.h"

#include <fmt/format.h>

namespace tilescope::litmus {
namespace {

using Does = Event::Does;

Scope scope_of(const Instruction& i, Scope otherwise) {
  if (i.has("cta")) return Scope::cta;
  if (i.has("cluster")) return Scope::cluster;
  if (i.has("gpu") || i.has("gl")) return Scope::gpu;
  if (i.has("sys")) return Scope::sys;
  return otherwise;
}

Order order_of(const Instruction& i, Order otherwise) {
  if (i.has("weak")) return Order::weak;
  if (i.has("relaxed")) return Order::relaxed;
  if (i.has("acquire")) return Order::acquire;
  if (i.has("release")) return Order::release;
  if (i.has("acq_rel")) return Order::acq_rel;
  if (i.has("sc")) return Order::sc;
  return otherwise;
}

class Builder {
 public:
  explicit Builder(const Test& test) : test_(test) {
    for (std::size_t v = 0; v < test.variables.size(); ++v) {
      if (test.variables[v].kind == Variable::Kind::mbarrier) continue;
      Event e;
      e.does = Does::write;
      e.variable = static_cast<int>(v);
      e.cta = test.variables[v].cta;
      out_.events.push_back(e);
    }
  }

  Program build() {
    out_.event_of.resize(test_.threads.size());
    for (std::size_t t = 0; t < test_.threads.size(); ++t) {
      thread_ = static_cast<int>(t);
      copies_ = {};
      stores_ = {};
      const auto& code = test_.threads[t].instructions;
      out_.event_of[t].assign(code.size(), -1);
      for (at_ = 0; at_ < static_cast<int>(code.size()); ++at_) {
        const Instruction& i = code[static_cast<std::size_t>(at_)];
        if (!one(i) && out_.mistake.empty()) {
          out_.mistake = fmt::format("{}:{}: {} is not understood, or lacks an operand",
                                     test_.threads[t].name, at_, i.opcode);
        }
      }
    }
    return std::move(out_);
  }

 private:
  struct Copy {  // an asynchronous operation that waits for groups may wait for
    int read = -1, write = -1;
    int group = -1;  // negative: not committed
  };
  struct Groups {
    std::vector<Copy> copies;
    int committed = 0;
  };

  int add(Event e) {
    e.thread = thread_;
    e.instruction = at_;
    if (e.issued_by < 0 || e.does != Does::mbarrier_arrive) {
      e.cta = test_.threads[static_cast<std::size_t>(thread_)].cta;
    }
    out_.events.push_back(std::move(e));
    return static_cast<int>(out_.events.size()) - 1;
  }
  int add(Does does, const Instruction& i, Order order, Scope scope) {
    Event e;
    e.does = does;
    e.order = order;
    e.scope = scope;
    if (const Operand* o = address(i, 0)) e.variable = static_cast<int>(o->value);
    return add(e);
  }
  // The nth operand that is an address.
  static const Operand* address(const Instruction& i, int nth) {
    for (const Operand& o : i.operands) {
      if (o.kind == Operand::Kind::address && nth-- == 0) return &o;
    }
    return nullptr;
  }
  static std::uint32_t last_number(const Instruction& i, std::uint32_t otherwise) {
    const bool there = !i.operands.empty() && i.operands.back().kind == Operand::Kind::number;
    return there ? i.operands.back().value : otherwise;
  }
  void gives(int event) {
    out_.event_of[static_cast<std::size_t>(thread_)][static_cast<std::size_t>(at_)] = event;
  }

  static bool gives_register(const Instruction& i) {
    return !i.operands.empty() && i.operands[0].kind == Operand::Kind::reg;
  }

  bool one(const Instruction& i) {
    if (i.parts.empty()) return false;
    const std::string& head = i.parts[0];
    const bool arithmetic = head == "add" || head == "and" || head == "xor" || head == "mov";
    const bool access =
        (head == "ld" || head == "st" || head == "atom" || head == "red") && !i.has("async");
    if (i.only_if && !arithmetic && !access) return false;
    if ((arithmetic || head == "ld" || head == "atom") && !gives_register(i)) return false;
    // 8.4.2: volatile is relaxed at system scope. Without a qualifier ld and st are weak.
    if (head == "ld" || (head == "st" && !i.has("async"))) {
      if (i.operands.size() != 2 || !address(i, 0)) return false;
      const bool is_volatile = i.has("volatile");
      gives(add(head == "ld" ? Does::read : Does::write, i,
                is_volatile ? Order::relaxed : order_of(i, Order::weak),
                is_volatile ? Scope::sys : scope_of(i, Scope::none)));
      return true;
    }
    // 9.7.13.5: .relaxed and .gpu where nothing is said.
    if ((head == "atom" || head == "red") && !i.has("async")) {
      if (!address(i, 0)) return false;
      const int e = add(Does::update, i, order_of(i, Order::relaxed), scope_of(i, Scope::gpu));
      out_.events[static_cast<std::size_t>(e)].reduction = head == "red";
      gives(e);
      return true;
    }
    if (arithmetic) return i.operands.size() > 1;
    if (head == "fence" || head == "membar") return fence(i);
    if (head == "bar" || (head == "barrier" && !i.has("cluster"))) return barrier(i);
    if (head == "barrier") return cluster_barrier(i);
    if (head == "mbarrier") return mbarrier(i);
    if (head == "cp" || head == "st") return asynchronous(i);
    return false;
  }

  bool fence(const Instruction& i) {
    if (i.is("fence.proxy.async")) {
      Event e;
      e.does = Does::proxy_fence;
      if (i.parts.size() > 3) e.space = i.parts[3];
      add(e);
      return true;
    }
    if (i.is("fence.mbarrier_init")) {
      add(Does::init_fence, i, Order::release, Scope::cluster);
      return true;
    }
    // 9.7.13.4: membar is fence.sc; a fence without .sem is acq_rel.
    const Scope scope = scope_of(i, Scope::none);
    if (scope == Scope::none || i.has("proxy")) return false;
    add(Does::fence, i, i.is("membar") ? Order::sc : order_of(i, Order::acq_rel), scope);
    return true;
  }

  bool barrier(const Instruction& i) {
    if (i.operands.empty()) return false;
    Event e;
    e.does = Does::arrive;
    e.key = static_cast<int>(i.operands[0].value);
    e.count = i.operands.size() > 1 ? i.operands[1].value / 32 : 0;
    add(e);
    if (i.has("arrive")) return e.count > 0;
    e.does = Does::wait;
    add(e);
    return i.has("sync");
  }

  bool cluster_barrier(const Instruction& i) {
    if (i.has("wait")) {
      add(Does::cluster_wait, i, Order::acquire, Scope::cluster);
      return true;
    }
    add(Does::cluster_arrive, i, order_of(i, Order::release), Scope::cluster);
    return i.has("arrive");
  }

  bool mbarrier(const Instruction& i) {
    if (!address(i, 0)) return false;
    Event e;
    e.variable = static_cast<int>(address(i, 0)->value);
    e.scope = scope_of(i, Scope::cta);
    if (i.is("mbarrier.init")) {
      e.does = Does::init;
      e.scope = Scope::none;
      e.count = last_number(i, 1);
      add(e);
      return true;
    }
    if (i.is("mbarrier.expect_tx")) {
      e.does = Does::expect;
      e.order = Order::relaxed;
      e.bytes = last_number(i, 0);
      add(e);
      return true;
    }
    // complete_tx is an arrival that counts for nothing but its bytes, and .relaxed (9.7.13.15.12).
    if (i.is("mbarrier.complete_tx")) {
      e.does = Does::mbarrier_arrive;
      e.order = Order::relaxed;
      e.bytes = -static_cast<std::int64_t>(last_number(i, 0));
      add(e);
      return true;
    }
    if (i.is("mbarrier.arrive") || i.is("mbarrier.arrive_drop")) {
      e.does = Does::mbarrier_arrive;
      e.drops = i.is("mbarrier.arrive_drop");
      e.order = order_of(i, Order::release);
      e.count = i.has("expect_tx") ? 1 : last_number(i, 1);
      if (i.has("expect_tx")) e.bytes = last_number(i, 0);
      add(e);
      return true;
    }
    if (i.is("mbarrier.try_wait.parity") || i.is("mbarrier.test_wait.parity")) {
      e.does = Does::poll;
      add(e);
      e.does = Does::mbarrier_wait;
      e.order = order_of(i, Order::acquire);
      e.key = static_cast<int>(last_number(i, 0));
      add(e);
      return true;
    }
    return false;
  }

  // An operation that goes on beside its thread: reads, writes, then says on an mbarrier that it
  // has. Its parts are ordered with each other, and with nothing that its thread does later
  // (8.9.1.1).
  bool begin(const Instruction& i, bool async_proxy, bool reads, Does writes) {
    const Operand *to = address(i, 0), *from = address(i, 1);
    if (!to || (reads && !from)) return false;
    Event issue;
    issue.does = Does::issue;
    Event e;
    e.issued_by = add(issue);
    e.async_proxy = async_proxy;
    Copy copy;
    if (reads) {
      e.does = Does::read;
      e.variable = static_cast<int>(from->value);
      copy.read = add(e);
    }
    e.does = writes;
    e.variable = static_cast<int>(to->value);
    // 9.7.9.25.4.2: each reduction of cp.reduce.async.bulk is .relaxed.gpu.
    if (writes == Does::update) {
      e.order = Order::relaxed;
      e.scope = Scope::gpu;
      e.reduction = true;
    }
    copy.write = add(e);
    if (reads) out_.after.push_back({copy.read, copy.write});
    gives(copy.write);
    const bool completes = i.has("mbarrier::complete_tx::bytes");
    if (completes) {
      const Operand* on = address(i, reads ? 2 : 1);
      if (!on) return false;
      // complete-tx: .release at .cluster scope, by the generic proxy (9.7.9.25.4.1). By whom is
      // not said; here by the CTA whose mbarrier it is, so that a wait of the default scope .cta
      // sees what another CTA multicasts, as CUTLASS's kernels count on.
      Event c;
      c.does = Does::mbarrier_arrive;
      c.issued_by = e.issued_by;
      c.variable = static_cast<int>(on->value);
      c.cta = test_.variables[on->value].cta;
      c.order = Order::release;
      c.scope = Scope::cluster;
      c.bytes = -static_cast<std::int64_t>(i.parts[0] == "st" ? 4 : bulk_bytes(i));
      out_.after.push_back({copy.write, add(c)});
    } else if (i.has("bulk_group")) {
      stores_.copies.push_back(copy);
    } else {
      copies_.copies.push_back(copy);
    }
    return true;
  }
  static std::uint32_t bulk_bytes(const Instruction& i) {
    for (const Operand& o : i.operands) {
      if (o.kind == Operand::Kind::number) return o.value;
    }
    return 0;
  }

  bool asynchronous(const Instruction& i) {
    if (i.is("cp.async.bulk.commit_group")) return commit(stores_);
    if (i.is("cp.async.bulk.wait_group")) return wait(i, stores_, i.has("read"));
    if (i.is("cp.async.commit_group")) return commit(copies_);
    if (i.is("cp.async.wait_group")) return wait(i, copies_, false);
    if (i.is("cp.async.wait_all")) return commit(copies_) && wait(i, copies_, false);
    if (i.is("cp.async.mbarrier.arrive")) return arrive_behind_copies(i);
    if (i.is("cp.reduce.async.bulk")) return begin(i, true, true, Does::update);
    if (i.is("cp.async.bulk")) return begin(i, true, true, Does::write);
    // cp.async and st.async are weak operations of the generic proxy (9.7.9.25.2 names the bulk
    // copies alone).
    if (i.is("cp.async")) return begin(i, false, true, Does::write);
    if (i.is("st.async")) return begin(i, false, false, Does::write);
    return false;
  }

  static bool commit(Groups& g) {
    for (Copy& c : g.copies) {
      if (c.group < 0) c.group = g.committed;
    }
    ++g.committed;  // it may be empty
    return true;
  }

  // All groups but the last N: of a group that is waited for the writes are made visible to the
  // thread; with .read its sources were read (9.7.9.27.2.2).
  bool wait(const Instruction& i, const Groups& g, bool read_only) {
    Event e;
    e.does = Does::group_wait;
    const int w = add(e);
    const int pending = i.has("wait_all") ? 0 : static_cast<int>(last_number(i, 0));
    for (const Copy& c : g.copies) {
      if (c.group < 0 || c.group >= g.committed - pending) continue;
      out_.after.push_back({read_only ? c.read : c.write, w});
    }
    return true;
  }

  // The arrive-on is ordered behind the thread's earlier cp.async, and behind nothing else
  // (8.9.1.1). That its scope is .cta is the default of mbarrier.arrive.
  bool arrive_behind_copies(const Instruction& i) {
    if (!address(i, 0) || !i.has("noinc")) return false;
    Event issue;
    issue.does = Does::issue;
    Event e;
    e.issued_by = add(issue);
    e.does = Does::mbarrier_arrive;
    e.variable = static_cast<int>(address(i, 0)->value);
    e.cta = test_.threads[static_cast<std::size_t>(thread_)].cta;
    e.order = Order::release;
    e.scope = Scope::cta;
    e.count = 1;
    const int a = add(e);
    for (const Copy& c : copies_.copies) out_.after.push_back({c.write, a});
    return true;
  }

  const Test& test_;
  Program out_;
  int thread_ = 0, at_ = 0;
  Groups copies_, stores_;  // of the thread: cp.async; bulk copies with groups
};

}  // namespace

Program events_of(const Test& test) {
  return Builder(test).build();
}

}  // namespace tilescope::litmus
