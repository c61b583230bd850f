#include "core/io/record_events.h"

#include <fmt/format.h>

namespace tilescope {
namespace {

using sim::Event;
using sim::EventKind;

enum Differs : std::uint8_t {
  bytes_bit = 1,
  endless = 2,
  amount = 4,
  barrier = 8,  // object and phase
  pc = 16,
  until = 32,
  issue = 64,
  cause = 128,
};

constexpr std::size_t least_bytes = 4;  // of an event

// What the next event of a track is compared with: wrong guesses cost bytes, and nothing else.
struct Expected {
  std::uint64_t end = 0, amount = 0;
  std::uint32_t object = 0, phase = 0, pc = 0;

  void after(const Event& event) {
    end = event.end == sim::never_ends ? event.begin : event.end;
    amount = event.amount;
    object = event.object;
    phase = event.phase;
    pc = event.kind == EventKind::run ? event.until : event.pc;
  }
};

std::uint64_t difference(std::uint64_t a, std::uint64_t b) {
  return zigzag(a - b);
}

}  // namespace

void write_events(ByteWriter& out, const sim::EventList& events, std::size_t tracks) {
  out.varint(events.size());
  std::vector<Expected> expected(tracks);
  std::uint64_t track = 0, id = 0;
  for (const Event& event : events) {
    Expected& before = expected[event.track];
    std::uint8_t differs = 0;
    if (event.bytes) differs |= bytes_bit;
    if (event.end == sim::never_ends) differs |= endless;
    if (event.amount != before.amount) differs |= amount;
    if (event.object != before.object || event.phase != before.phase) differs |= barrier;
    if (event.pc != before.pc) differs |= pc;
    if (event.until != 0) differs |= until;
    if (event.issue != event.begin) differs |= issue;
    if (event.cause != sim::no_event) differs |= cause;
    out.u8(static_cast<std::uint8_t>(static_cast<unsigned>(event.kind) |
                                     static_cast<unsigned>(event.stall) << 3));
    out.u8(differs);
    out.varint(difference(event.track, track));
    out.varint(difference(event.begin, before.end));
    if (!(differs & endless)) out.varint(event.end - event.begin);
    if (differs & issue) out.varint(event.begin - event.issue);
    if (differs & amount) out.varint(event.amount);
    if (differs & barrier) {
      out.varint(event.object);
      out.varint(difference(event.phase, before.phase));
    }
    if (differs & pc) out.varint(difference(event.pc, before.pc));
    if (differs & until) out.varint(difference(event.until, event.pc));
    if (differs & cause) out.varint(difference(id, event.cause));
    before.after(event);
    track = event.track;
    ++id;
  }
}

std::string read_events(ByteReader& in, sim::Record& record) {
  const std::size_t count = in.count(least_bytes);
  std::vector<Expected> expected(record.tracks.size());
  std::uint64_t track = 0;
  for (std::size_t id = 0; id < count && !in.failed(); ++id) {
    Event event;
    const std::uint8_t head = in.u8(), differs = in.u8();
    event.kind = static_cast<EventKind>(head & 7);
    event.stall = static_cast<sim::Stall>(head >> 3);
    if (event.kind > EventKind::folded) return fmt::format("event {} is of no known kind", id);
    if (event.stall >= sim::Stall::count_) return fmt::format("event {} has no known stall", id);
    track += unzigzag(in.varint());
    if (in.failed()) break;
    if (track >= expected.size()) {
      return fmt::format("event {} is on track {}, of {}", id, track, expected.size());
    }
    Expected& before = expected[static_cast<std::size_t>(track)];
    event.track = static_cast<sim::TrackId>(track);
    event.bytes = differs & bytes_bit;
    event.begin = before.end + unzigzag(in.varint());
    event.end = differs & endless ? sim::never_ends : event.begin + in.varint();
    event.issue = differs & issue ? event.begin - in.varint() : event.begin;
    event.amount = differs & amount ? in.varint() : before.amount;
    event.object = before.object;
    event.phase = before.phase;
    if (differs & barrier) {
      event.object = in.number();
      event.phase = before.phase + static_cast<std::uint32_t>(unzigzag(in.varint()));
    }
    event.pc = before.pc;
    if (differs & pc) event.pc += static_cast<std::uint32_t>(unzigzag(in.varint()));
    if (differs & until) {
      event.until = event.pc + static_cast<std::uint32_t>(unzigzag(in.varint()));
    }
    if (differs & cause) {
      const std::uint64_t of = id - unzigzag(in.varint());
      if (in.failed()) break;
      if (of >= count) return fmt::format("event {} is caused by event {}, of {}", id, of, count);
      event.cause = static_cast<sim::EventId>(of);
    }
    // What shows an event looks these up.
    if (event.kind == EventKind::report && event.object >= record.reports.size()) {
      return fmt::format("event {} is report {}, of {}", id, event.object, record.reports.size());
    }
    record.events.push_back(event);
    before.after(event);
  }
  return {};
}

}  // namespace tilescope
