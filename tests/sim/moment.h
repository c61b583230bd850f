// All that a machine shows of itself, as one number: two that are the same in it are taken to be
// the same. It is reckoned from what anybody can ask a Machine, and from nothing of stepping.
#pragma once

#include <cstdint>
#include <cstring>

#include "core/sim/machine/machine.h"
#include "core/sim/machine/model.h"

namespace tilescope::test {

class Digest {
 public:
  void add(const void* data, std::size_t bytes) {
    const auto* at = static_cast<const unsigned char*>(data);
    for (; bytes >= 8; bytes -= 8, at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, at, 8);
      add(word);
    }
    for (; bytes; --bytes) add(std::uint64_t{*at++});
  }
  void add(std::uint64_t v) {  // FNV-1a by words, with the upper bits brought down
    value_ = (value_ ^ v) * 0x100000001b3u;
    value_ ^= value_ >> 32;
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325u;
};

inline void add(Digest& d, const sim::Region& r) {
  d.add(r.data(), r.size());
  for (std::uint64_t at = 0; r.undefined_bits() && at < (r.size() + 7) / 8; ++at) {
    d.add(r.undefined_bits()[at]);
  }
  for (std::uint64_t at = 0; at < r.size(); at += r.grain()) d.add(r.writer(at).bits);
  d.add(r.changes());
}

inline void add(Digest& d, const sim::Warp& w) {
  d.add(w.live);
  d.add(w.executed);
  d.add(static_cast<std::uint64_t>(w.current));
  d.add(w.turn_left);
  for (const sim::Split& s : w.splits) {
    d.add(s.pc);
    d.add(s.mask);
    d.add(static_cast<std::uint64_t>(s.wait));
  }
}

inline void add(Digest& d, const sim::Block& b) {
  d.add(b.number);
  d.add(b.ended);
  d.add(b.next_warp);
  d.add(b.warp_turn_left);
  d.add(b.meetings);
  d.add(b.registers.data(), b.registers.size());
  d.add(b.predicates.data(), b.predicates.size() * 4);
  d.add(b.undefined.data(), b.undefined.size());
  for (const sim::Warp& w : b.warps) add(d, w);
  add(d, b.shared);
  add(d, b.local);
  for (std::uint32_t w = 0; b.order.on() && w < b.warps.size(); ++w) {
    d.add(b.order.of(w).epoch());
  }
  for (const sim::Barrier& barrier : b.barriers) d.add(barrier.arrived);
  for (const auto& [offset, m] : b.mbarriers) {
    d.add(offset);
    d.add(m.word);
    d.add(m.phase);
    d.add(m.arrived.size());
  }
  for (const sim::AsyncOperation& o : b.flight.operations) {
    d.add(o.number);
    d.add(static_cast<std::uint64_t>(o.stage));
    d.add(o.due);
    d.add(o.bytes.data(), o.bytes.size());
  }
  for (const sim::Allocation& a : b.tensor.memory.allocations()) {
    for (std::uint32_t lane = 0; lane < sim::TensorMemory::lanes; ++lane) {
      d.add(b.tensor.memory.row(lane) + a.column, a.columns * 4);
    }
  }
  d.add(b.tensor.events);
}

inline std::uint64_t digest(const sim::Machine& m) {
  Digest d;
  d.add(m.instructions());
  d.add(m.position());
  d.add(static_cast<std::uint64_t>(m.state()));
  for (const Report& r : m.reports()) {
    d.add(r.sentence.data(), r.sentence.size());
    d.add(r.count);
  }
  d.add(m.printed().data(), m.printed().size());
  for (const sim::Region& r : m.model().regions) add(d, r);
  for (const sim::Block& b : m.blocks()) add(d, b);
  return d.value();
}

}  // namespace tilescope::test
