#include "tests/sim/pipeline_record.h"

namespace tilescope::test {
namespace {

using namespace tilescope::sim;

constexpr std::uint32_t full = 0x400, empty = 0x410, done = 0x420;  // mbarriers

class Maker {
 public:
  Record record;

  TrackId track(std::uint64_t block, Unit unit, std::uint32_t index = 0) {
    const Track t{block, unit, index, static_cast<std::uint32_t>(block)};
    for (TrackId i = 0; i < record.tracks.size(); ++i) {
      if (record.tracks[i] == t) return i;
    }
    record.tracks.push_back(t);
    return static_cast<TrackId>(record.tracks.size() - 1);
  }
  EventId add(Event e) {
    record.events.push_back(e);
    return static_cast<EventId>(record.events.size() - 1);
  }
  EventId run(TrackId t, Cycle begin, Cycle end, std::uint64_t amount, std::uint32_t pc) {
    Event e;
    e.kind = EventKind::run, e.track = t, e.issue = e.begin = begin, e.end = end;
    e.amount = amount, e.pc = e.until = pc;
    return add(e);
  }
  EventId wait(TrackId t, Cycle begin, Cycle end, Stall stall, std::uint32_t object,
               std::uint32_t phase, EventId cause) {
    Event e;
    e.kind = EventKind::wait, e.track = t, e.issue = e.begin = begin, e.end = end;
    e.stall = stall, e.object = object, e.phase = phase, e.cause = cause, e.pc = 1;
    return add(e);
  }
  EventId operation(TrackId t, Cycle issue, Cycle begin, Cycle end, std::uint64_t amount,
                    bool bytes, std::uint32_t object, std::uint32_t phase, EventId cause) {
    Event e;
    e.kind = EventKind::operation, e.track = t, e.issue = issue, e.begin = begin, e.end = end;
    e.amount = amount, e.bytes = bytes, e.object = object, e.phase = phase, e.cause = cause;
    e.pc = bytes ? 2 : 3;
    return add(e);
  }
  EventId phase(TrackId t, Cycle begin, Cycle end, std::uint32_t number, EventId cause) {
    Event e;
    e.kind = EventKind::phase, e.track = t, e.issue = e.begin = begin, e.end = end;
    e.phase = number, e.cause = cause, e.object = record.tracks[t].index;
    return add(e);
  }
  EventId arrival(TrackId t, Cycle at, EventId cause) {
    Event e;
    e.kind = EventKind::arrival, e.track = t, e.issue = e.begin = e.end = at;
    e.amount = 1, e.cause = cause, e.object = record.tracks[t].index;
    return add(e);
  }

  // From `o` on, 200 cycles.
  void block(std::uint64_t number, Cycle o) {
    const TrackId producer = track(number, Unit::warp, 0), consumer = track(number, Unit::warp, 1);
    const TrackId writers[] = {track(number, Unit::warp, 2), track(number, Unit::warp, 3)};
    const TrackId copies = track(number, Unit::copy_in), tensor = track(number, Unit::tensor);
    const TrackId commits = track(number, Unit::commit), loads = track(number, Unit::tensor_load);
    const TrackId filled = track(number, Unit::mbarrier, full);
    const TrackId freed = track(number, Unit::mbarrier, empty);
    const TrackId ready = track(number, Unit::mbarrier, done);

    // Two copies at once, and the third when the first tile was used.
    const EventId p0 = run(producer, o + 0, o + 10, 10, 2);
    const EventId c0 = operation(copies, o + 4, o + 5, o + 45, 4096, true, full, 0, p0);
    const EventId c1 = operation(copies, o + 8, o + 10, o + 60, 4096, true, full, 1, p0);
    const EventId f0 = phase(filled, o + 0, o + 45, 0, c0);
    const EventId f1 = phase(filled, o + 45, o + 60, 1, c1);

    // Products take 20 cycles each.
    const EventId m0 = run(consumer, o + 0, o + 5, 5, 3);
    wait(consumer, o + 5, o + 47, Stall::mbarrier, full, 0, f0);
    const EventId m1 = run(consumer, o + 47, o + 50, 3, 3);
    operation(tensor, o + 49, o + 50, o + 70, 1000, false, 0, 0, m1);
    const EventId k0 = operation(commits, o + 49, o + 70, o + 72, 0, false, empty, 0, m1);
    const EventId e0 = phase(freed, o + 0, o + 72, 0, arrival(freed, o + 72, k0));
    wait(consumer, o + 50, o + 62, Stall::mbarrier, full, 1, f1);
    const EventId m2 = run(consumer, o + 62, o + 65, 3, 3);
    operation(tensor, o + 64, o + 70, o + 90, 1000, false, 0, 0, m2);
    (void)m0;

    wait(producer, o + 10, o + 74, Stall::mbarrier, empty, 0, e0);
    const EventId p1 = run(producer, o + 74, o + 80, 6, 2);
    const EventId c2 = operation(copies, o + 78, o + 80, o + 120, 4096, true, full, 2, p1);
    const EventId f2 = phase(filled, o + 60, o + 120, 2, c2);
    wait(consumer, o + 65, o + 122, Stall::mbarrier, full, 2, f2);
    const EventId m3 = run(consumer, o + 122, o + 130, 8, 3);
    operation(tensor, o + 124, o + 125, o + 145, 1000, false, 0, 0, m3);
    const EventId k1 = operation(commits, o + 126, o + 145, o + 147, 0, false, done, 0, m3);
    const EventId d0 = phase(ready, o + 0, o + 147, 0, k1);

    for (const TrackId writer : writers) {
      run(writer, o + 0, o + 2, 2, 1);
      wait(writer, o + 2, o + 149, Stall::mbarrier, done, 0, d0);
      const EventId w = run(writer, o + 149, o + 155, 4, 4);
      operation(loads, o + 150, o + 151, o + 171, 2048, true, 0, 0, w);
      wait(writer, o + 155, o + 171, Stall::tmem, 0, 0, no_event);
      run(writer, o + 171, o + 200, 29, 5);
    }
  }
};

}  // namespace

Record pipeline_record() {
  Maker m;
  Record& r = m.record;
  r.kernel = "pipeline";
  r.what = "three \"tiles\"";
  r.launch.entry = "pipeline";
  r.launch.grid = {2, 1, 1};
  r.launch.block = {128, 1, 1};
  r.device.name = "A chip of two";
  r.device.processors = 2;
  r.device.threads = 256;
  r.device.times.clock = 1.7;
  r.device.times.launch = 0.01;
  r.device.times.tensor_f16 = 50;
  r.device.times.shared_bytes = 128;
  r.device.times.memory_bandwidth = 340;
  r.timed = true;
  r.work = 12000;
  r.sources = {"pipeline.cu"};
  r.lines = {{"mbarrier.init.shared.b64 [%r1], 1;", 10, 0, 5},
             {"mbarrier.try_wait.parity.shared.b64 p, [%r1], 0;", 11, 0, 6},
             {"cp.async.bulk.tensor.2d.shared::cluster.global.tile [%r1], [%rd1];", 12, 0, 7},
             {"tcgen05.mma.cta_group::1.kind::f16 [%r2], %rd1, %rd2, %r3, p;", 13, 0, 8},
             {"tcgen05.ld.sync.aligned.32x32b.x32.b32 {%r4}, [%r5];", 14, 0, 9},
             {"st.global.v4.b32 [%rd3], {%r4};", 15, 0, 0}};
  r.lines[3].product = ProductType::f16;
  r.counters.resize(6);
  r.counters[1].issued = 18;
  r.counters[1].stalled[static_cast<std::size_t>(Stall::mbarrier)] = 938;
  r.counters[2].issued = 32, r.counters[2].shared_bytes = r.counters[2].global_bytes = 24576;
  r.counters[2].memory_bytes = 12288;
  r.counters[3].issued = 38, r.counters[3].tensor_bytes = 8192;
  r.counters[4].issued = 16, r.counters[4].stalled[static_cast<std::size_t>(Stall::tmem)] = 64;
  r.counters[4].wavefronts = 12, r.counters[4].ideal_wavefronts = 4;
  r.counters[5].issued = 116, r.counters[5].sectors = 64, r.counters[5].ideal_sectors = 32;
  r.counters[5].stalled[static_cast<std::size_t>(Stall::dependency)] = 62;
  r.end = 340;
  r.seconds = 200e-9;
  r.pipes[static_cast<std::size_t>(Pipe::tensor)] = {120, 2};
  r.pipes[static_cast<std::size_t>(Pipe::memory)] = {34, 1};
  r.resident_blocks = 2, r.resident_warps = 8, r.limited_by = "shared memory";
  m.block(0, 0);
  m.block(1, 100);
  return r;
}

void add_uses(Record& record) {
  record.buffers = {{"A", DType::f16, {16, 48}}, {"D", DType::f32, {128, 32}}};
  std::vector<std::uint32_t> copies(2), products(2);  // of each block, so far
  for (EventId id = 0; id < record.events.size(); ++id) {
    const Event e = record.events[id];
    if (e.kind != EventKind::operation) continue;
    const Track& track = record.tracks[e.track];
    MemoryUse shared, tensor;
    shared.event = tensor.event = id;
    shared.columns = 4096;
    tensor.of = MemoryUse::Of::tensor;
    tensor.rows = 128;
    tensor.columns = 32;
    if (track.unit == Unit::copy_in) {
      const std::uint32_t tile = copies[track.block]++;
      MemoryUse part;
      part.event = id;
      part.of = MemoryUse::Of::global;
      part.rows = 16;
      part.column = tile * 16;
      part.columns = 16;
      record.uses.push_back(part);
      shared.writes = true;
      shared.column = tile % 2 * 4096;
      record.uses.push_back(shared);
    } else if (track.unit == Unit::tensor) {
      shared.column = products[track.block]++ % 2 * 4096;
      shared.operand = MemoryUse::Operand::a;
      record.uses.push_back(shared);
      tensor.writes = true;
      tensor.operand = MemoryUse::Operand::d;
      record.uses.push_back(tensor);
    } else if (track.unit == Unit::tensor_load) {
      record.uses.push_back(tensor);
    }
  }
}

}  // namespace tilescope::test
