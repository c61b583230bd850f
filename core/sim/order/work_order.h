// What orders the work of a program's streams: launches, copies, fills, each of which is one Work.
//
// Work of one stream is in order. Between streams there is none, but what events, the legacy
// default stream and the host make (CUDA C++ Programming Guide, "Streams", "Events", "Default
// Stream"):
//  - a stream that waits for an event begins behind what the event's stream had been given when it
//    was recorded;
//  - work of the legacy default stream begins behind that of all blocking streams, and theirs
//    behind it;
//  - what the host has waited for is over before it gives out anything more. Threads of the host
//    are taken to know what each other does: a program that does not see to that is not told so;
//  - a launch that may begin early (programmatic stream serialization) has no order with the launch
//    right before it as to what it does before its griddepcontrol.wait, where that one has executed
//    griddepcontrol.launch_dependents (PTX ISA 9.7.13.13, its note). Where it has not, it begins
//    behind all of that, with or without a wait. A launch between that lets the next one begin
//    before it waits itself passes that on. An H200 keeps to it
//    (tests/litmus/chip/early_launch.cu): without launch_dependents none of 100,000 launches read
//    an old word, with it 5,942 of 6,000 did, behind one between that tells and then waits 3,573,
//    behind one that waits first none. Other work between the two has it begin behind that, as any.
// Two Works that are in no order and use the same bytes, of which one writes, are a race.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/sim/order/access_log.h"

namespace tilescope::sim {

class WorkOrder {
 public:
  using Stream = std::uint64_t;  // 0: the legacy default stream
  using Event = std::uint64_t;

  struct Work {
    std::string name;  // "launch 3 (scale)", "a copy to the host"
    Stream stream = 0;
    std::uint64_t number = 0;  // in its stream, from 1
    AccessLog accesses;
  };
  struct Race {
    Work earlier;                // without what it accessed
    AccessLog::Meeting meeting;  // `writes`: the later one
    bool early = false;          // of one stream: the later one had not waited
  };
  enum class Kind : std::uint8_t {
    other,
    launch,
    early_launch,  // what of its accesses is early has no order with a launch right before it
  };

  // Non-blocking streams are in no order with the default stream.
  void add_stream(Stream stream, bool blocking = true);
  // Its work stays known.
  void remove_stream(Stream stream);
  // More than the default stream has been made: only then can there be a race.
  bool has_streams() const { return had_streams_; }
  // There can be one within a stream, too.
  void expect_early_launches() { had_streams_ = true; }

  // The next work of a stream, with what it accesses: with which others it races, the latest first.
  std::vector<Race> add(Stream stream, std::string name, AccessLog accesses,
                        Kind kind = Kind::other);

  void record(Event event, Stream stream);
  void wait(Stream stream, Event event);
  // The host has waited.
  void host_waited_for_stream(Stream stream);
  void host_waited_for_event(Event event);
  void host_waited_for_all();

  // What is kept of accesses, in bytes. Of the oldest work nothing is known any more where that
  // would be more than the limit: forgot() says so.
  static constexpr std::uint64_t most_held = std::uint64_t{1} << 30;
  std::uint64_t held() const { return held_; }
  bool forgot() const { return forgot_; }

 private:
  // How much of each stream's work is over before.
  using Clock = std::map<Stream, std::uint64_t>;
  struct State {
    bool blocking = true;
    Clock clock;  // of what comes next
    // The work right before, where it is a launch; and those before it that a launch may begin
    // beside too, as each launch between has let it before it waited itself.
    std::vector<std::uint64_t> launches;
  };
  static void join(Clock& to, const Clock& from);
  static std::uint64_t at(const Clock& clock, Stream stream);
  State& state(Stream stream);
  void forget_settled();

  std::map<Stream, State> streams_{{0, {}}};
  std::map<Event, Clock> events_;
  Clock host_, all_;         // known to the host; given out so far
  std::vector<Work> works_;  // that something to come may race with
  std::uint64_t held_ = 0;
  bool had_streams_ = false, forgot_ = false;
};

}  // namespace tilescope::sim
