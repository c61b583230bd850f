#include "tests/sim/record/synthetic_record.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace tilescope::sim {
namespace {

// Instructions by pc; the line of the source is that of this table.
constexpr std::array<const char*, 16> program = {
    "mbarrier.try_wait.parity.shared::cta.b64 %p1, [empty], %r1;",
    "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [a], [map_a], [full];",
    "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [b], [map_b], [full];",
    "bra produce;",
    "mbarrier.try_wait.parity.shared::cta.b64 %p2, [full], %r2;",
    "tcgen05.mma.cta_group::1.kind::f16 [d], da, db, id, p;",
    "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [empty];",
    "bra multiply;",
    "mbarrier.try_wait.parity.shared::cta.b64 %p3, [sums], %r3;",
    "tcgen05.ld.sync.aligned.32x32b.x32.b32 {%r4}, [d];",
    "tcgen05.wait::ld.sync.aligned;",
    "st.shared.v4.b32 [c], {%r4, %r5, %r6, %r7};",
    "bar.sync 1, 128;",
    "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [map_c], [c];",
    "cp.async.bulk.wait_group.read 0;",
    "exit;",
};

constexpr std::uint32_t copy_bytes = 16384;
constexpr std::uint64_t products = 128 * 256 * 16;

class Block {
 public:
  Block(const SyntheticPipeline& pipeline, Recorder& recorder, std::uint64_t block,
        std::uint32_t processor, Cycle start)
      : pipeline_(pipeline),
        recorder_(recorder),
        block_(block),
        processor_(processor),
        random_(pipeline.seed * 0x9e3779b97f4a7c15u + block),
        warps_(2 + pipeline.writers, start),
        copies_(start),
        tensor_(start),
        start_(start) {}

  // Events with causes by place in this list; and when the block has ended.
  std::vector<Event> events;

  Cycle simulate() {
    const std::uint32_t steps = pipeline_.tiles * pipeline_.steps;
    for (std::uint32_t i = 0; i < steps; ++i) {
      produce(i);
      multiply(i);
      if ((i + 1) % pipeline_.steps == 0) write(i / pipeline_.steps);
    }
    return *std::max_element(warps_.begin(), warps_.end());
  }

 private:
  using Index = std::uint32_t;

  // SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
  Cycle draw(Cycle from, Cycle to) {
    std::uint64_t z = random_ += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return from + (z ^ z >> 31) % (to - from);
  }

  TrackId track(Unit unit, std::uint32_t index = 0) {
    return recorder_.track({block_, unit, index, processor_});
  }

  Index add(Event event) {
    if (event.kind != EventKind::operation) event.issue = event.begin;
    events.push_back(event);
    return static_cast<Index>(events.size() - 1);
  }

  // The warp executes so many instructions.
  Index run(std::uint32_t warp, std::uint32_t pc, std::uint32_t until, Cycle cycles) {
    Event event;
    event.track = track(Unit::warp, warp);
    event.kind = EventKind::run;
    event.begin = warps_[warp];
    event.end = warps_[warp] += cycles;
    event.amount = cycles / 2 + 1;
    event.pc = pc;
    event.until = until;
    return add(event);
  }

  // The warp waits until then, should that be later than now.
  void wait(std::uint32_t warp, std::uint32_t pc, Cycle to, Stall stall, Index cause,
            std::uint32_t object = 0, std::uint32_t phase = 0) {
    if (to <= warps_[warp]) return;
    Event event;
    event.track = track(Unit::warp, warp);
    event.kind = EventKind::wait;
    event.begin = warps_[warp];
    event.end = warps_[warp] = to;
    event.pc = pc;
    event.stall = stall;
    event.object = object;
    event.phase = phase;
    event.cause = cause;
    recorder_.counters(pc).stalled[static_cast<std::size_t>(stall)] += event.end - event.begin;
    add(event);
  }

  Index operation(Unit unit, std::uint32_t pc, Cycle issue, Cycle begin, Cycle end,
                  std::uint64_t amount, Index cause) {
    Event event;
    event.track = track(unit);
    event.kind = EventKind::operation;
    event.issue = issue;
    event.begin = begin;
    event.end = end;
    event.amount = amount;
    event.bytes = unit != Unit::tensor && unit != Unit::commit;
    event.pc = pc;
    event.cause = cause;
    return add(event);
  }

  void arrival(Unit unit, std::uint32_t object, std::uint32_t phase, Cycle at, std::uint64_t amount,
               bool bytes, Index cause) {
    Event event;
    event.track = track(unit, object);
    event.kind = EventKind::arrival;
    event.begin = event.end = at;
    event.object = object;
    event.phase = phase;
    event.amount = amount;
    event.bytes = bytes;
    event.cause = cause;
    add(event);
  }

  Index phase(Unit unit, std::uint32_t object, std::uint32_t phase, Cycle begin, Cycle end,
              Index cause) {
    Event event;
    event.track = track(unit, object);
    event.kind = EventKind::phase;
    event.begin = begin;
    event.end = end;
    event.object = object;
    event.phase = phase;
    event.cause = cause;
    return add(event);
  }

  std::uint32_t full(std::uint32_t i) const { return 8 * (i % pipeline_.stages); }
  std::uint32_t empty(std::uint32_t i) const {
    return 8 * (pipeline_.stages + i % pipeline_.stages);
  }
  std::uint32_t sums() const { return 16 * pipeline_.stages; }

  struct Done {
    Cycle at = 0;
    Index event = 0;
  };

  void produce(std::uint32_t i) {
    const std::uint32_t round = i / pipeline_.stages;
    if (round > 0) {
      const Done& free = empty_[i - pipeline_.stages];
      wait(0, 0, free.at, Stall::mbarrier, free.event, empty(i), round - 1);
    }
    const Cycle now = warps_[0];
    const Index issued = run(0, 0, 3, draw(8, 14));
    arrival(Unit::mbarrier, full(i), round, now + 4, 1, false, issued);
    Done last;
    for (std::uint32_t operand = 0; operand < 2; ++operand) {
      const Cycle issue = now + 5 + operand, begin = std::max(copies_, issue);
      copies_ = begin + draw(100, 140);
      const Cycle end = copies_ + draw(400, 700);
      const Index copy =
          operation(Unit::copy_in, 1 + operand, issue, begin, end, copy_bytes, issued);
      arrival(Unit::mbarrier, full(i), round, end, copy_bytes, true, copy);
      if (end >= last.at) last = {end, copy};
    }
    const Cycle before = round ? full_[i - pipeline_.stages].at : start_;
    full_.push_back({last.at, phase(Unit::mbarrier, full(i), round, before, last.at, last.event)});
  }

  void multiply(std::uint32_t i) {
    const std::uint32_t round = i / pipeline_.stages;
    wait(1, 4, full_[i].at, Stall::mbarrier, full_[i].event, full(i), round);
    const Cycle now = warps_[1];
    const Index issued = run(1, 4, 7, draw(10, 20));
    for (std::uint32_t k = 0; k < 4; ++k) {
      const Cycle issue = now + 2 + k, begin = std::max(tensor_, issue);
      tensor_ = begin + draw(60, 70);
      operation(Unit::tensor, 5, issue, begin, tensor_, products, issued);
    }
    const Cycle done = tensor_ + 12;
    const Index commit = operation(Unit::commit, 6, now + 7, tensor_, done, 1, issued);
    arrival(Unit::mbarrier, empty(i), round, done, 1, false, commit);
    const Cycle before = round ? empty_[i - pipeline_.stages].at : start_;
    empty_.push_back({done, phase(Unit::mbarrier, empty(i), round, before, done, commit)});
  }

  void write(std::uint32_t tile) {
    const Done last = empty_.back();
    const Index commit = events[last.event].cause;
    arrival(Unit::mbarrier, sums(), tile, last.at, 1, false, commit);
    const Index ready = phase(Unit::mbarrier, sums(), tile, sums_at_, last.at, commit);
    sums_at_ = last.at;
    Done met;
    for (std::uint32_t w = 2; w < warps_.size(); ++w) {
      wait(w, 8, last.at, Stall::mbarrier, ready, sums(), tile);
      const Index issued = run(w, 8, 10, draw(6, 10));
      const Cycle issue = warps_[w] - 2, end = issue + draw(30, 60);
      const Index load = operation(Unit::tensor_load, 9, issue, issue + 3, end, 4096, issued);
      wait(w, 10, end, Stall::tmem, load);
      const Index stored = run(w, 11, 12, draw(20, 40));
      arrival(Unit::barrier, 1, tile, warps_[w], 32, false, stored);
      if (warps_[w] >= met.at) met = {warps_[w], stored};
    }
    const Index all = phase(Unit::barrier, 1, tile, met_at_, met.at, met.event);
    met_at_ = met.at;
    for (std::uint32_t w = 2; w < warps_.size(); ++w) {
      wait(w, 12, met.at, Stall::barrier, all, 1, tile);
    }
    const Index issued = run(2, 13, 14, 4);
    const Cycle end = warps_[2] + draw(200, 400);
    const Index copy =
        operation(Unit::copy_out, 13, warps_[2] - 1, warps_[2], end, copy_bytes, issued);
    wait(2, 14, end, Stall::group, copy);
    run(2, 14, 15, 2);
  }

  const SyntheticPipeline& pipeline_;
  Recorder& recorder_;
  const std::uint64_t block_;
  const std::uint32_t processor_;
  std::uint64_t random_;
  std::vector<Cycle> warps_;  // until when each has come
  Cycle copies_, tensor_;     // when these units can take the next
  const Cycle start_;
  Cycle sums_at_ = start_, met_at_ = start_;
  std::vector<Done> full_, empty_;  // by step
};

// What is done to a recorder at some time.
struct Action {
  Cycle at;
  std::uint32_t block, event;  // of the wave
  bool closes;                 // an event that was added before
};

void emit(Recorder& recorder, const SyntheticPipeline& pipeline, const std::vector<Block>& wave) {
  std::vector<Action> actions;
  std::vector<std::vector<EventId>> ids(wave.size());
  for (std::uint32_t b = 0; b < wave.size(); ++b) {
    ids[b].resize(wave[b].events.size(), no_event);
    for (std::uint32_t e = 0; e < wave[b].events.size(); ++e) {
      const Event& event = wave[b].events[e];
      const bool opened = pipeline.open_phases && event.kind == EventKind::phase;
      if (opened) actions.push_back({event.begin, b, e, false});
      actions.push_back({event.end, b, e, opened});
    }
  }
  std::stable_sort(actions.begin(), actions.end(),
                   [](const Action& a, const Action& b) { return a.at < b.at; });
  for (const Action& action : actions) {
    Event event = wave[action.block].events[action.event];
    EventId& id = ids[action.block][action.event];
    const EventId cause = event.cause == no_event ? no_event : ids[action.block][event.cause];
    if (action.closes) {
      recorder.change(id, [&](Event& e) {
        e.end = event.end;
        e.cause = cause;
      });
      continue;
    }
    event.cause = cause;
    if (pipeline.open_phases && event.kind == EventKind::phase) {
      event.end = never_ends;
      event.cause = no_event;
    }
    id = recorder.add(event);
  }
}

}  // namespace

void synthesize(Recorder& recorder, const SyntheticPipeline& pipeline) {
  Record about;
  about.kernel = "synthetic";
  about.what = "M = " + std::to_string(128 * pipeline.blocks) + ", N = 256";
  about.launch.entry = "synthetic_pipeline";
  about.launch.grid = {pipeline.blocks, 1, 1};
  about.launch.block = {32 * (2 + pipeline.writers), 1, 1};
  about.launch.cluster = Dim3{pipeline.cluster, 1, 1};
  about.timed = true;
  about.device.processors = pipeline.processors;
  about.device.times.clock = 1.5;
  about.sources = {"synthetic.cu"};
  for (std::uint32_t pc = 0; pc < program.size(); ++pc) {
    about.lines.push_back({program[pc], 100 + pc, 0, 10 + pc / 2});
    if (about.lines.back().text.rfind("tcgen05.mma", 0) == 0)
      about.lines.back().product = ProductType::f16;
  }
  about.blocks_simulated = pipeline.blocks;
  about.resident_blocks = 1;
  about.resident_warps = 2 + pipeline.writers;
  about.limited_by = "shared memory";
  Report report;
  report.weight = Weight::note;
  report.kind = "synthetic";
  report.sentence = "No machine made this record.";
  report.site.kernel = about.launch.entry;
  about.reports = {report};
  recorder.begin(std::move(about));

  std::vector<Cycle> free(pipeline.processors, 100);
  Cycle end = 0;
  for (std::uint32_t first = 0; first < pipeline.blocks; first += pipeline.processors) {
    std::vector<Block> wave;
    const std::uint32_t count = std::min(pipeline.processors, pipeline.blocks - first);
    wave.reserve(count);
    for (std::uint32_t p = 0; p < count; ++p) {
      wave.emplace_back(pipeline, recorder, first + p, p, free[p]);
      free[p] = wave.back().simulate() + 30;
      end = std::max(end, free[p]);
    }
    if (first == 0) {
      Event note;
      note.kind = EventKind::report;
      note.track = recorder.track({0, Unit::warp, 1, 0});
      note.issue = note.begin = note.end = 400;
      note.pc = 4;
      wave.front().events.push_back(note);
    }
    emit(recorder, pipeline, wave);
    for (const Block& block : wave) {
      for (const Event& event : block.events) {
        LineCounters& line = recorder.counters(event.pc);
        if (event.kind == EventKind::run) {
          line.issued += event.amount;
          line.lanes += 32 * event.amount;
        } else if (event.kind == EventKind::operation) {
          const auto length = static_cast<double>(event.end - event.begin);
          const bool tensor = event.pc == 5;
          if (event.bytes) line.global_bytes += event.amount;
          recorder.pipe(tensor ? Pipe::tensor : Pipe::copies).busy += length;
        }
      }
    }
  }
  recorder.pipe(Pipe::tensor).copies = recorder.pipe(Pipe::copies).copies = pipeline.processors;
  recorder.about().end = end;
  recorder.about().seconds = static_cast<double>(end) / 1.5e9;
}

Record synthetic_record(const SyntheticPipeline& pipeline, RecordLimits limits) {
  Recorder recorder(limits);
  synthesize(recorder, pipeline);
  return recorder.take();
}

}  // namespace tilescope::sim
