// What a litmus test's instructions do to memory, as PTX's memory model sees it (PTX ISA 8.4).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/litmus/reader.h"

namespace tilescope::litmus {

enum class Scope : std::uint8_t { none, cta, cluster, gpu, sys };
enum class Order : std::uint8_t { weak, relaxed, acquire, release, acq_rel, sc };

struct Event {
  enum class Does : std::uint8_t {
    read,
    write,
    update,       // atom, red: reads and writes at once
    fence,        // fence, membar
    proxy_fence,  // fence.proxy.async
    init_fence,   // fence.mbarrier_init
    arrive,       // at a barrier of the CTA; bar.sync is an arrive, then a wait
    wait,         // for it
    cluster_arrive,
    cluster_wait,
    init,             // mbarrier.init
    mbarrier_arrive,  // also complete-tx, and the arrive-on of cp.async.mbarrier.arrive
    expect,           // mbarrier.expect_tx
    poll,             // test_wait, try_wait: the attempts that return False
    mbarrier_wait,    // and the one that returns True
    issue,            // an asynchronous operation begins
    group_wait        // wait_group, wait_all
  };
  Does does = Does::read;
  int thread = -1;      // negative: the write before all threads, W0 (8.2.6)
  int instruction = 0;  // of its thread
  int cta = 0;          // of the thread that performs it
  int variable = -1;    // negative: none
  Order order = Order::weak;
  Scope scope = Scope::none;
  bool async_proxy = false;
  bool reduction = false;  // red: its read is part of no acquire pattern (8.11.1)
  // Asynchronous: not in the program order of its thread (8.9.1.1). Which event issued it.
  int issued_by = -1;
  int key = 0;              // a barrier's number; a wait's parity
  std::uint32_t count = 0;  // arrivals; of a barrier: warps, 0 all
  bool drops = false;       // arrive_drop: the phases behind it expect `count` fewer
  std::int64_t bytes = 0;   // expected; negative: completed
  std::string space;        // of a proxy fence: "", "global", "shared::cta", "shared::cluster"

  bool reads() const { return does == Does::read || does == Does::update; }
  bool writes() const { return does == Does::write || does == Does::update; }
  bool strong() const { return order != Order::weak; }
  bool releases() const {
    return order == Order::release || order == Order::acq_rel || order == Order::sc;
  }
  bool acquires() const {
    return order == Order::acquire || order == Order::acq_rel || order == Order::sc;
  }
};

struct Program {
  std::vector<Event> events;  // those of a thread in program order; W0 of each variable first
  // Orders that are no program order: inside an asynchronous operation, and from it to the wait for
  // its group.
  std::vector<std::pair<int, int>> after;
  // By thread and instruction: the event whose value its result register gets, or that writes
  // memory; -1: none.
  std::vector<std::vector<int>> event_of;
  std::string mistake;  // an instruction that is not understood
};

Program events_of(const Test& test);

}  // namespace tilescope::litmus
