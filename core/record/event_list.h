// The events of a record, packed: 40 bytes each instead of 64, so that 512 MiB hold 12 million.
//
// It reads like a vector of Event whose elements are values: `for (const Event& event : events)`,
// `events[i].begin`. What is to change is set(i, event).
//
// Nothing is lost by packing: an event whose numbers are too large for their fields (2^32 cycles
// long, 2^32 bytes) is kept as it is, beside.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <iterator>

#include "core/record/chunks.h"
#include "core/record/event.h"

namespace tilescope::sim {

class EventList {
 public:
  static constexpr std::size_t event_bytes = 40;

  EventList() = default;
  EventList(std::initializer_list<Event> events) {
    for (const Event& event : events) push_back(event);
  }

  std::size_t size() const { return packed_.size(); }
  bool empty() const { return size() == 0; }
  Event operator[](std::size_t i) const { return unpack(packed_[i]); }
  Event front() const { return (*this)[0]; }
  Event back() const { return (*this)[size() - 1]; }
  TrackId track(std::size_t i) const { return packed_[i].track; }
  // Says that [i] will be read soon: events of a track are far apart.
  void prefetch(std::size_t i) const { packed_.prefetch(i); }

  void push_back(const Event& event) { packed_.push_back(pack(event)); }
  void set(std::size_t i, const Event& event) { packed_[i] = pack(event); }
  void set_cause(std::size_t i, EventId cause);
  void release_before(std::size_t i) { packed_.release_before(i); }

  bool operator==(const EventList& other) const;

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Event;
    using difference_type = std::ptrdiff_t;
    using pointer = const Event*;
    using reference = Event;
    Iterator(const EventList* list, std::size_t at) : list_(list), at_(at) {}
    Event operator*() const { return (*list_)[at_]; }
    Iterator& operator++() { return ++at_, *this; }
    bool operator==(const Iterator&) const = default;

   private:
    const EventList* list_;
    std::size_t at_;
  };
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, size()}; }

 private:
  struct Packed {
    std::uint64_t begin : 44;
    std::uint64_t kind : 4, stall : 5;
    std::uint64_t bytes : 1;
    std::uint64_t wide : 1;    // it is wide_[amount]
    std::uint64_t stands : 1;  // until is pc
    std::uint32_t length;      // all ones: it never ends
    std::uint32_t other;       // of a run: until; else: cycles from issue to begin
    std::uint32_t amount, object, phase, pc, track, cause;
  };
  static_assert(sizeof(Packed) == event_bytes);

  Packed pack(const Event& event);
  Event unpack(const Packed& packed) const;

  Chunks<Packed> packed_;
  std::vector<Event> wide_;
};

inline Event EventList::unpack(const Packed& packed) const {
  if (packed.wide) return wide_[packed.amount];
  Event event;
  event.kind = static_cast<EventKind>(packed.kind);
  const bool run = event.kind == EventKind::run || event.kind == EventKind::folded;
  event.begin = packed.begin;
  event.issue = run ? event.begin : event.begin - packed.other;
  event.end = packed.length == ~std::uint32_t{0} ? never_ends : event.begin + packed.length;
  event.amount = packed.amount;
  event.object = packed.object;
  event.phase = packed.phase;
  event.pc = packed.pc;
  event.until = run ? packed.other : packed.stands ? packed.pc : 0;
  event.track = packed.track;
  event.cause = packed.cause;
  event.stall = static_cast<Stall>(packed.stall);
  event.bytes = packed.bytes;
  return event;
}

}  // namespace tilescope::sim
