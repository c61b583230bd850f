#include "viz/theatre/theatre_now.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "core/run/deadlock_cause.h"
#include "viz/theatre/theatre_painter.h"

namespace tilescope {
namespace {

using sim::Cycle;
using sim::Event;
using sim::EventId;
using sim::MemoryUse;

class Look {
 public:
  Look(const TheatreView& view, double at, std::uint8_t rank)
      : view_(view), record_(view.record()), p_(view.pipeline()), ranks_(view.ranks_with(rank)) {
    out_.at = at;
    rank_ = rank;
    const auto fault = std::find_if(record_.reports.begin(), record_.reports.end(),
                                    [](const Report& r) { return r.weight == Weight::fault; });
    if (fault != record_.reports.end()) fault_ = &*fault;
    at_ = static_cast<Cycle>(std::max(0.0, at));
  }

  TheatreNow look() {
    look_at_stages();
    look_at_copies_out();
    look_at_products();
    look_at_sums();
    look_at_barriers();
    look_at_warps();
    out_.sentence = sentence();
    return std::move(out_);
  }

 private:
  Event event(EventId id) const { return record_.events[id]; }
  bool is_shown(std::uint8_t rank) const {
    return std::find(ranks_.begin(), ranks_.end(), rank) != ranks_.end();
  }
  Cycle end_of(const Event& e) const {
    return e.end == sim::never_ends ? static_cast<Cycle>(view_.end()) : e.end;
  }
  double share_of(const Event& e) const {
    const double length = static_cast<double>(end_of(e)) - static_cast<double>(e.begin);
    return length > 0 ? std::clamp((out_.at - static_cast<double>(e.begin)) / length, 0.0, 1.0) : 1;
  }

  void look_at_stages() {
    for (std::size_t i = 0; i < p_.stages.size(); ++i) {
      const sim::RingStage& stage = p_.stages[i];
      TheatreStage now;
      const sim::Filling* f = stage.at(at_);
      // In a stage that is filled anew before it is told to be free, what comes is shown.
      if (f && at_ < f->freed) {
        now.filling = f;
        for (const EventId id : f->copies) {
          const Event e = event(id);
          if (end_of(e) <= at_) now.arrived += e.amount;
        }
        using State = TheatreStage::State;
        now.state = at_ < f->full                                             ? State::coming
                    : f->read_begin == sim::never_ends || at_ < f->read_begin ? State::full
                    : at_ < f->read_end                                       ? State::read
                                                                              : State::used;
        if (now.state == State::coming && is_shown(stage.rank)) add_copies(i, *f);
      }
      out_.stages.push_back(now);
    }
  }

  void add_copies(std::size_t stage, const sim::Filling& filling) {
    for (const EventId id : filling.copies) {
      const Event e = event(id);
      if (e.issue > at_ || end_of(e) <= at_) continue;
      TheatreCopy copy;
      copy.event = id;
      copy.queued = e.begin > at_;
      copy.share = copy.queued ? 0 : share_of(e);
      copy.rank = p_.stages[stage].rank;
      copy.stage = stage;
      copy.step = filling.step;
      for (const MemoryUse& use : sim::uses_of(record_.uses, id)) {
        if (use.of == MemoryUse::Of::global) copy.part = use;
      }
      out_.copies.push_back(copy);
    }
  }

  // Those that may be under way at a time, of operations by their begin: the last `most` that have
  // begun, and those that have been issued and not begun.
  template <class Each>
  void each_in_flight(const std::vector<EventId>& operations, Each each) const {
    constexpr std::ptrdiff_t most = 256;
    const auto after = std::partition_point(operations.begin(), operations.end(),
                                            [&](EventId id) { return event(id).begin <= at_; });
    const auto first = after - std::min(most, after - operations.begin());
    const auto last = after + std::min(most, operations.end() - after);
    for (auto id = first; id != last; ++id) {
      const Event e = event(*id);
      if (e.issue <= at_ && at_ < end_of(e)) each(*id, e);
    }
  }

  std::uint8_t rank_of(const Event& e) const {
    const auto at = std::find(p_.blocks.begin(), p_.blocks.end(), record_.tracks[e.track].block);
    return static_cast<std::uint8_t>(at - p_.blocks.begin());
  }

  void look_at_copies_out() {
    for (const EventId id : p_.copies_out) {
      const Event e = event(id);
      if (e.begin > at_) break;
      if (end_of(e) > at_) continue;
      for (const MemoryUse& use : sim::uses_of(record_.uses, id)) {
        if (use.of == MemoryUse::Of::global && use.writes) out_.written.push_back(use);
      }
    }
    each_in_flight(p_.copies_out, [&](EventId id, const Event& e) {
      TheatreCopy copy;
      copy.event = id;
      copy.out = true;
      copy.queued = e.begin > at_;
      copy.share = copy.queued ? 0 : share_of(e);
      copy.rank = rank_of(e);
      if (!is_shown(copy.rank)) return;
      for (const MemoryUse& use : sim::uses_of(record_.uses, id)) {
        if (use.of == MemoryUse::Of::global) copy.part = use;
      }
      out_.copies.push_back(copy);
    });
  }

  void look_at_products() {
    each_in_flight(p_.products, [&](EventId id, const Event& e) {
      if (!is_shown(rank_of(e))) return;
      if (e.begin > at_) {
        ++out_.queued;
        return;
      }
      TheatreProduct product;
      product.event = id;
      product.share = share_of(e);
      product.rank = rank_of(e);
      for (std::size_t a = 0; a < p_.accumulators.size(); ++a) {
        const sim::Accumulation* sum = p_.accumulators[a].at(e.begin);
        if (!sum) continue;
        const auto at = std::find(sum->products.begin(), sum->products.end(), id);
        if (at == sum->products.end()) continue;
        product.accumulator = a;
        product.number = static_cast<std::size_t>(at - sum->products.begin());
        product.of = sum->products.size();
        product.step = sum->steps[product.number];
        product.steps = sum->last_step + 1;
        product.known_step = knows_steps(*sum);
      }
      for (std::size_t s = 0; s < p_.stages.size(); ++s) {
        const sim::Filling* f = out_.stages[s].filling;
        if (f && std::find(f->readers.begin(), f->readers.end(), id) != f->readers.end()) {
          product.stages.push_back(s);
        }
      }
      out_.products.push_back(std::move(product));
    });
    each_in_flight(p_.loads, [&](EventId id, const Event& e) {
      if (e.begin <= at_ && is_shown(rank_of(e))) out_.loads.push_back(id);
    });
  }

  // A copy brought some of what was multiplied, so that it says which part of K that is.
  bool knows_steps(const sim::Accumulation& sum) const {
    return sum.last_step > 0 ||
           std::any_of(p_.stages.begin(), p_.stages.end(), [&](const sim::RingStage& stage) {
             return std::any_of(stage.fillings.begin(), stage.fillings.end(),
                                [&](const sim::Filling& f) { return f.sum == sum.number; });
           });
  }

  void look_at_sums() {
    for (const sim::Accumulator& accumulator : p_.accumulators) {
      TheatreSum now;
      using State = TheatreSum::State;
      now.sum = accumulator.at(at_);
      if (const sim::Accumulation* sum = now.sum) {
        for (std::size_t i = 0; i < sum->products.size(); ++i) {
          const Event e = event(sum->products[i]);
          if (e.begin <= at_) now.step = sum->steps[i];
          if (end_of(e) <= at_) ++now.done;
          now.under_way = now.under_way || (e.begin <= at_ && at_ < end_of(e));
        }
        now.known_step = knows_steps(*sum);
        std::size_t over = 0;
        for (const EventId id : sum->loads) over += end_of(event(id)) <= at_ ? 1 : 0;
        if (!sum->loads.empty()) {
          now.read = static_cast<double>(over) / static_cast<double>(sum->loads.size());
        }
        const bool all = now.done == sum->products.size();
        now.state = !all                                                           ? State::adding
                    : sum->read_begin != sim::never_ends && at_ >= sum->read_end   ? State::used
                    : sum->read_begin != sim::never_ends && at_ >= sum->read_begin ? State::read
                    : sum->complete != sim::never_ends && at_ >= sum->complete     ? State::complete
                                                                                   : State::added;
        if (now.state == State::used && at_ >= sum->drained) now.state = State::empty;
      }
      out_.sums.push_back(now);
    }
  }

  // What came to a phase that began at `from`, up to a time.
  void count(const sim::BarrierPhases& barrier, std::uint32_t phase, Cycle from, Cycle until,
             std::uint64_t& arrivals, std::uint64_t& bytes) const {
    auto at = std::partition_point(barrier.arrivals.begin(), barrier.arrivals.end(),
                                   [&](EventId id) { return event(id).begin < from; });
    for (; at != barrier.arrivals.end(); ++at) {
      const Event e = event(*at);
      if (e.begin > until || e.phase > phase) break;
      if (e.phase == phase) (e.bytes ? bytes : arrivals) += e.amount;
    }
  }

  void look_at_barriers() {
    for (const sim::BarrierPhases& barrier : p_.barriers) {
      TheatreBarrier now;
      const auto after = std::partition_point(
          barrier.phases.begin(), barrier.phases.end(),
          [&](EventId id) { return event(id).end != sim::never_ends && event(id).end <= at_; });
      const bool first = after == barrier.phases.begin();
      const Cycle since = first ? 0 : event(*(after - 1)).end;
      now.phase = first ? 0 : event(*(after - 1)).phase + 1;
      count(barrier, now.phase, since, at_, now.arrivals, now.bytes);
      now.used = !first || now.arrivals || now.bytes;
      // A complete phase had all that it expected; one that never is expects as much as another.
      if (after != barrier.phases.end()) {
        count(barrier, now.phase, since, event(*after).end, now.arrivals_of, now.bytes_of);
      } else if (!first) {
        const Event whole = event(barrier.phases.front());
        count(barrier, whole.phase, whole.begin, whole.end, now.arrivals_of, now.bytes_of);
      }
      const bool begun = now.arrivals || now.bytes;
      now.over = after == barrier.phases.end() && !begun && !first;
      if (after == barrier.phases.end()) {
        if (const auto* never = never_complete(barrier)) now.arrivals_of = never->count;
      }
      if (now.arrivals_of) now.arrivals_of = std::max(now.arrivals_of, now.arrivals);
      now.bytes_of = begun && now.bytes_of ? std::max(now.bytes_of, now.bytes) : 0;
      out_.barriers.push_back(std::move(now));
    }
  }

  // What a deadlock's cause knows of it: how many arrivals mbarrier.init asked for.
  const DeadlockCause::WaitedFor* never_complete(const sim::BarrierPhases& barrier) const {
    if (!fault_ || !fault_->deadlock || barrier.unit != sim::Unit::mbarrier) return nullptr;
    for (const DeadlockCause::WaitedFor& each : fault_->deadlock->barriers) {
      if (each.of == DeadlockCause::WaitedFor::Of::mbarrier && each.rank == barrier.rank &&
          each.object == barrier.object && each.block == p_.blocks[barrier.rank]) {
        return &each;
      }
    }
    return nullptr;
  }

  std::optional<std::size_t> barrier_of(const Event& wait, std::uint8_t rank) const {
    // Whoever waits for another CTA's mbarrier was caused by a phase on that one's track.
    if (wait.cause != sim::no_event) {
      const sim::TrackId track = event(wait.cause).track;
      for (std::size_t i = 0; i < p_.barriers.size(); ++i) {
        if (p_.barriers[i].track == track) return i;
      }
    }
    const sim::Unit unit =
        wait.stall == sim::Stall::barrier ? sim::Unit::barrier : sim::Unit::mbarrier;
    for (std::size_t i = 0; i < p_.barriers.size(); ++i) {
      const sim::BarrierPhases& b = p_.barriers[i];
      if (b.unit == unit && b.rank == rank && b.object == wait.object) return i;
    }
    return {};
  }

  void look_at_warps() {
    for (std::size_t i = 0; i < p_.warps.size(); ++i) {
      const sim::PipelineWarp& warp = p_.warps[i];
      sim::EventFilter filter;
      filter.track = warp.track;
      filter.kinds = sim::bit(sim::EventKind::run) | sim::bit(sim::EventKind::wait);
      TheatreWarp now;
      const EventId id = view_.timeline().previous(filter, at_ + 1);
      if (id == sim::no_event) {
        out_.warps.push_back(std::move(now));
        continue;
      }
      now.event = event(id);
      const bool over = now.event.end != sim::never_ends && now.event.end <= at_;
      const EventId later = over ? view_.timeline().next(filter, at_) : sim::no_event;
      if (over && later == sim::no_event) {
        look_at_last(i, now);
      } else if (now.event.kind == sim::EventKind::wait && !over) {
        now.state = TheatreWarp::State::waits;
        now.doing = std::string(name_of(now.event.stall));
        if (now.event.stall == sim::Stall::mbarrier || now.event.stall == sim::Stall::barrier) {
          now.barrier = barrier_of(now.event, warp.rank);
        }
        if (now.barrier) {
          out_.barriers[*now.barrier].waiting.push_back(i);
          now.doing = fmt::format("waits for {}, phase {}",
                                  barrier_text(record_, p_.barriers[*now.barrier], warp.rank),
                                  now.event.phase);
        }
      } else {
        now.state = TheatreWarp::State::runs;
        now.doing = "runs";
      }
      out_.warps.push_back(std::move(now));
    }
  }

  // Behind its last event: it has exited, or waits for what never comes, or stood where a fault
  // ended the run.
  void look_at_last(std::size_t warp, TheatreWarp& now) {
    const sim::PipelineWarp& of = p_.warps[warp];
    now.state = TheatreWarp::State::exited;
    now.doing = "has exited";
    if (!fault_) return;
    if (fault_->deadlock) {
      for (const DeadlockCause::Waiting& w : fault_->deadlock->waiting) {
        if (w.warps.rank != of.rank || of.index >= 64 || !(w.warps.mask >> of.index & 1)) continue;
        if (!of_cluster(w.site.block)) continue;
        return wait_for_ever(warp, now, *fault_->deadlock, w);
      }
    }
    if (leaves(now.event.until)) return;
    now.state = TheatreWarp::State::stopped;
    now.doing = "stood here when the run ended";
  }

  bool of_cluster(const Dim3& at) const {
    const Dim3& grid = record_.launch.grid;
    const std::uint64_t block =
        at.x + std::uint64_t{grid.x} * (at.y + std::uint64_t{grid.y} * at.z);
    return std::find(p_.blocks.begin(), p_.blocks.end(), block) != p_.blocks.end();
  }

  // Does the kernel end at this instruction?
  bool leaves(std::uint32_t pc) const {
    if (pc >= record_.lines.size()) return true;  // not known
    const std::string& text = record_.lines[pc].text;
    const auto is = [&](std::string_view word) {
      const std::size_t at = text.find(word);
      return at != std::string::npos && (at == 0 || text[at - 1] == ' ') &&
             (at + word.size() == text.size() || text[at + word.size()] == ';');
    };
    return is("ret") || is("exit");
  }

  void wait_for_ever(std::size_t warp, TheatreWarp& now, const DeadlockCause& cause,
                     const DeadlockCause::Waiting& w) {
    now.state = TheatreWarp::State::waits;
    now.event.kind = sim::EventKind::wait;
    now.event.begin = now.event.issue = now.event.end;
    now.event.end = sim::never_ends;
    now.event.pc = now.event.until = w.pc;
    if (is_shown(p_.warps[warp].rank)) ++out_.stuck;
    if (w.waits_for >= cause.barriers.size()) {
      now.doing = "waits" + w.words;
      return;
    }
    const DeadlockCause::WaitedFor& b = cause.barriers[w.waits_for];
    using Of = DeadlockCause::WaitedFor::Of;
    const sim::Unit unit = b.of == Of::barrier   ? sim::Unit::barrier
                           : b.of == Of::cluster ? sim::Unit::cluster
                                                 : sim::Unit::mbarrier;
    for (std::size_t i = 0; b.of != Of::together && i < p_.barriers.size(); ++i) {
      const sim::BarrierPhases& barrier = p_.barriers[i];
      if (barrier.unit != unit || barrier.rank != b.rank) continue;
      if (barrier.object != b.object && unit != sim::Unit::cluster) continue;
      now.barrier = i;
      out_.barriers[i].waiting.push_back(warp);
      break;
    }
    std::string name = b.name;
    if (b.rank != p_.warps[warp].rank) name += fmt::format(" of CTA {}", b.rank);
    now.doing = b.of == Of::mbarrier   ? fmt::format("waits for {}, phase {}", name, w.phase)
                : b.of == Of::together ? fmt::format("waits for the others at {}", name)
                                       : fmt::format("waits for {}", name);
  }

  std::string stages_text(const std::vector<std::size_t>& stages) const {
    std::string out;
    for (const std::size_t s : stages) {
      const std::string name = stage_name(s);
      if (out.find(name) == std::string::npos) out += (out.empty() ? "" : " and ") + name;
    }
    return out;
  }
  // Its number in its ring.
  std::string stage_name(std::size_t stage) const {
    for (const sim::Ring& ring : p_.rings) {
      const auto at = std::find(ring.stages.begin(), ring.stages.end(), stage);
      if (at == ring.stages.end()) continue;
      return fmt::format("stage {}", at - ring.stages.begin());
    }
    return "";
  }

  // " for warps 4-7", " into columns 0-255": the sums that products of a step are added to.
  std::string sums_text(std::uint32_t step) const {
    std::string out;
    std::vector<std::size_t> told;
    for (const TheatreProduct& each : out_.products) {
      if (each.step != step || each.rank != out_.products.back().rank ||
          std::find(told.begin(), told.end(), each.accumulator) != told.end()) {
        continue;
      }
      const MemoryUse& where = p_.accumulators[each.accumulator].where;
      const bool registers = where.of == MemoryUse::Of::registers;
      const std::uint32_t first = registers ? where.row : where.column;
      const std::uint32_t count = registers ? where.rows : where.columns;
      out += told.empty() ? (registers ? " for warps " : " into columns ") : " and ";
      out += fmt::format("{}-{}", first, first + count - 1);
      told.push_back(each.accumulator);
    }
    return out;
  }

  std::string products_text() const {
    if (out_.products.empty()) return "";
    const TheatreProduct& last = out_.products.back();
    if (!last.known_step) {
      return fmt::format("The tensor core is at product {} of 0 to {}. ", last.number, last.of - 1);
    }
    // Of one CTA, as pictures show it; two warpgroups may be at different steps.
    std::vector<const TheatreProduct*> steps;
    for (auto p = out_.products.rbegin(); p != out_.products.rend(); ++p) {
      const bool told = std::any_of(steps.begin(), steps.end(),
                                    [&](const auto* each) { return each->step == p->step; });
      if (!told && p->rank == last.rank) steps.push_back(&*p);
    }
    std::string out;
    for (const TheatreProduct* each : steps) {
      out += out.empty() ? fmt::format("The tensor core multiplies k-step {} of 0 to {}",
                                       each->step, each->steps - 1)
                         : fmt::format(", and k-step {}", each->step);
      if (steps.size() > 1) out += sums_text(each->step);
      const std::string from = stages_text(each->stages);
      if (!from.empty()) out += ", read from " + from;
    }
    return out + ". ";
  }

  std::string sentence() const {
    std::string out = products_text();
    if (p_.products.empty()) {
      std::vector<std::size_t> read;
      for (std::size_t i = 0; i < out_.stages.size(); ++i) {
        if (out_.stages[i].state == TheatreStage::State::read) read.push_back(i);
      }
      if (!read.empty()) out += fmt::format("Threads read {}. ", stages_text(read));
    }
    std::vector<std::size_t> filled;
    std::vector<std::uint32_t> steps;
    bool leaves = false;
    for (const TheatreCopy& copy : out_.copies) {
      leaves = leaves || copy.out;
      if (!copy.stage) continue;
      if (std::find(filled.begin(), filled.end(), *copy.stage) == filled.end()) {
        filled.push_back(*copy.stage);
      }
      if (std::find(steps.begin(), steps.end(), copy.step) == steps.end()) {
        steps.push_back(copy.step);
      }
    }
    if (!filled.empty()) {
      std::string numbers;
      for (const std::uint32_t step : steps) {
        numbers += fmt::format("{}{}", numbers.empty() ? "" : ", ", step);
      }
      const std::string into = stages_text(filled);
      out += fmt::format("Copies bring k-step{} {} into {}. ", steps.size() == 1 ? "" : "s",
                         numbers, into);
    }
    if (!out_.loads.empty()) out += "Warps read a sum from TMEM. ";
    if (leaves) out += "Copies take the result out. ";
    if (out.empty() && out_.stuck) out = standstill();
    if (out.empty() && view_.moves_by_threads()) {
      out = lanes_at(record_, view_.lanes(),
                     p_.blocks[std::min<std::size_t>(rank_, p_.blocks.size() - 1)], 0, out_.at)
                .sentence;
    }
    if (out.empty()) out = standstill();
    if (!out.empty() && out.back() == ' ') out.pop_back();
    return out;
  }

  // Nothing moves: who waits for what, or who runs.
  std::string standstill() const {
    std::size_t running = 0, there = 0, stopped = 0, absent = 0, shown = 0;
    std::string waits;
    for (std::size_t i = 0; i < out_.warps.size(); ++i) {
      const TheatreWarp& warp = out_.warps[i];
      if (!is_shown(p_.warps[i].rank)) continue;
      ++shown;
      if (warp.state == TheatreWarp::State::absent) ++absent;
      if (warp.state == TheatreWarp::State::runs) ++running;
      if (warp.state == TheatreWarp::State::runs || warp.state == TheatreWarp::State::waits) {
        ++there;
      }
      if (warp.state == TheatreWarp::State::stopped) ++stopped;
      if ((warp.barrier || warp.event.end == sim::never_ends) &&
          warp.state == TheatreWarp::State::waits && waits.empty()) {
        waits = fmt::format("warp {} {}", p_.warps[i].index, warp.doing);
      }
    }
    if (out_.stuck && out_.stuck == there) return fmt::format("Nobody goes on: {}.", waits);
    if (there == 0 && stopped) {
      return fmt::format("A fault ended the run here: {} warp{} had not exited.", stopped,
                         stopped == 1 ? "" : "s");
    }
    if (there == 0) {
      return out_.at < view_.begin() || absent == shown ? "The CTA has not started."
                                                        : "All warps have exited.";
    }
    if (running) {
      return fmt::format("Nothing is in flight: {} warp{} run{}{}.", running,
                         running == 1 ? "" : "s", running == 1 ? "s" : "",
                         waits.empty() ? "" : ", and " + waits);
    }
    return waits.empty() ? "Nothing is in flight: all warps wait."
                         : fmt::format("Nothing is in flight: {}.", waits);
  }

  const TheatreView& view_;
  const sim::Record& record_;
  const sim::Pipeline& p_;
  std::vector<std::uint8_t> ranks_;  // of the CTAs that are shown
  std::uint8_t rank_ = 0;            // of the one that is looked at
  const Report* fault_ = nullptr;    // that ended the run
  Cycle at_ = 0;
  TheatreNow out_;
};

}  // namespace

std::string_view name_of(TheatreSum::State state) {
  static constexpr std::string_view names[] = {"empty",    "adding",     "added",
                                               "complete", "being read", "read"};
  return names[static_cast<std::size_t>(state)];
}

double TheatreBarrier::share() const {
  double sum = 0, parts = 0;
  if (arrivals_of) {
    sum += static_cast<double>(arrivals) / static_cast<double>(arrivals_of);
    ++parts;
  }
  if (bytes_of) {
    sum += static_cast<double>(bytes) / static_cast<double>(bytes_of);
    ++parts;
  }
  return parts > 0 ? sum / parts : 0;
}

TheatreNow theatre_at(const TheatreView& view, double at, std::uint8_t rank) {
  return Look(view, at, rank).look();
}

std::string tile_name(const sim::Record& record, const sim::Filling& f, std::size_t copy) {
  if (copy >= f.parts.size()) return "";
  const auto same = [&](const MemoryUse& part) { return part.buffer == f.parts[copy].buffer; };
  const std::string& name = record.buffers[f.parts[copy].buffer].name;
  const bool alone = std::count_if(f.parts.begin(), f.parts.end(), same) == 1;
  if (alone || f.parts.size() != f.copies.size()) return name;
  const auto here = f.parts.begin() + static_cast<std::ptrdiff_t>(copy);
  const bool digit = !name.empty() && name.back() >= '0' && name.back() <= '9';
  return fmt::format("{}{}{}", name, digit ? "." : "", std::count_if(f.parts.begin(), here, same));
}

std::vector<std::size_t> order_of_tiles(const sim::Filling& filling) {
  std::vector<std::size_t> out(filling.copies.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = i;
  if (filling.parts.size() < out.size()) return out;
  std::stable_sort(out.begin(), out.end(), [&](std::size_t a, std::size_t b) {
    const MemoryUse &x = filling.parts[a], &y = filling.parts[b];
    return std::tie(x.buffer, x.row, x.column) < std::tie(y.buffer, y.row, y.column);
  });
  return out;
}

StageContents contents_of(const TheatreView& view, const TheatreNow& now, std::size_t stage) {
  constexpr std::size_t most = 4;  // tiles side by side; more are one
  const TheatreStage& of = now.stages[stage];
  StageContents out;
  out.state = of.state;
  if (!of.filling) return out;
  const sim::Filling& f = *of.filling;
  const sim::Record& record = view.record();
  out.step = f.step;
  const bool coming = of.state == StageState::coming;
  if (f.copies.empty() || f.copies.size() > most) {
    const auto all = static_cast<double>(std::max<std::uint64_t>(1, f.bytes));
    out.tiles.push_back({"", coming ? static_cast<double>(of.arrived) / all : 1});
    return out;
  }
  for (const std::size_t i : order_of_tiles(f)) {
    StageContents::Tile tile;
    tile.label = tile_name(record, f, i);
    if (coming) {
      const sim::Event e = record.events[f.copies[i]];
      tile.share = e.end != sim::never_ends && static_cast<double>(e.end) <= now.at ? 1 : 0;
      for (const TheatreCopy& copy : now.copies) {
        if (copy.event == f.copies[i]) tile.share = copy.share;
      }
    }
    out.tiles.push_back(std::move(tile));
  }
  return out;
}

}  // namespace tilescope
