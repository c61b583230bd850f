#include "viz/session/pipeline_session.h"

#include <fmt/format.h>

#include <algorithm>

#include "viz/session/seek.h"
#include "viz/session/theatre_session.h"

namespace tilescope {
namespace {

class Reader {
 public:
  Reader(const TheatreView& view, double at, std::uint8_t rank)
      : view_(view),
        record_(view.record()),
        p_(view.pipeline()),
        now_(theatre_at(view, at, rank)),
        rank_(rank) {}

  PipelineNow read() const {
    PipelineNow out;
    for (const sim::Ring& ring : p_.rings) {
      if (ring.rank != rank_) continue;
      for (std::size_t i = 0; i < ring.stages.size(); ++i) {
        out.stages.push_back(stage(ring, i));
      }
    }
    for (std::size_t a = 0; a < p_.accumulators.size(); ++a) {
      const sim::MemoryUse& where = p_.accumulators[a].where;
      if (where.of == sim::MemoryUse::Of::tensor && where.rank == rank_) out.sums.push_back(sum(a));
    }
    for (std::size_t b = 0; b < p_.barriers.size(); ++b) {
      const sim::BarrierPhases& of = p_.barriers[b];
      if (of.unit == sim::Unit::mbarrier && of.rank == rank_) out.barriers.push_back(dial(b));
    }
    for (const sim::EventId id : now_.loads) {
      std::optional<std::uint32_t> warp;
      const sim::EventId cause = record_.events[id].cause;
      if (cause < record_.events.size()) {
        const sim::Track& track = record_.tracks[record_.events.track(cause)];
        if (track.unit == sim::Unit::warp) warp = track.index;
      }
      for (const sim::MemoryUse& use : sim::uses_of(record_.uses, id)) {
        if (use.of == sim::MemoryUse::Of::tensor && use.rank == rank_) {
          out.loads.push_back({use, warp});
        }
      }
    }
    std::sort(out.barriers.begin(), out.barriers.end(),
              [](const BarrierDial& a, const BarrierDial& b) { return a.offset < b.offset; });
    return out;
  }

 private:
  BarrierDial dial(std::size_t barrier) const {
    const sim::BarrierPhases& of = p_.barriers[barrier];
    const TheatreBarrier& now = now_.barriers[barrier];
    const std::string name = barrier_text(record_, of, rank_);
    return {of.object, name, dial_of(now), waiting_text(p_, now), dial_text(now, name)};
  }

  StageNow stage(const sim::Ring& ring, std::size_t number) const {
    const std::size_t index = ring.stages[number];
    const sim::RingStage& of = p_.stages[index];
    StageNow out;
    out.of = ring.holds;
    // Where there are several rings a number alone would say too little.
    const auto own = [&](const sim::Ring& each) { return each.rank == rank_; };
    const bool alone = std::count_if(p_.rings.begin(), p_.rings.end(), own) == 1;
    out.name = alone || ring.holds.empty() ? fmt::format("stage {}", number)
                                           : fmt::format("{} {}", ring.holds, number);
    out.contents = contents_of(view_, now_, index);
    out.spans = of.spans;
    // Another CTA's mbarrier is a dial of that one.
    const auto own_one = [&](const std::optional<std::size_t>& barrier) {
      return barrier && p_.barriers[*barrier].rank == rank_;
    };
    if (own_one(of.full)) out.full = dial(*of.full);
    if (own_one(of.free)) out.free = dial(*of.free);
    out.hint = fmt::format("{}, bytes {}: {}", stage_text(view_, index), sim::spans_text(of.spans),
                           name_of(out.contents.state));
    if (const sim::Filling* filling = now_.stages[index].filling) {
      out.hint += fmt::format(", {}; {}", parts_text(record_, filling->parts), life_of(*filling));
    }
    return out;
  }

  SumNow sum(std::size_t accumulator) const {
    const TheatreSum& now = now_.sums[accumulator];
    SumNow out;
    out.where = p_.accumulators[accumulator].where;
    out.state = state_text(now);
    using State = TheatreSum::State;
    if (!now.sum || now.state == State::empty) return out;
    const std::vector<std::uint32_t>& steps = now.sum->steps;
    out.products = now.sum->products.size();
    out.added.assign(steps.begin(),
                     steps.begin() + static_cast<std::ptrdiff_t>(std::min(now.done, steps.size())));
    if (!out.added.empty()) out.step = out.added.back();
    out.read = now.state == State::used;
    if (now.sum->tile) {
      sim::MemoryUse tile = *now.sum->tile;
      if (!view_.outputs().empty()) {
        tile.buffer = view_.outputs().front();
        out.tile = part_text(record_, tile);
      }
    }
    return out;
  }

  const TheatreView& view_;
  const sim::Record& record_;
  const sim::Pipeline& p_;
  TheatreNow now_;
  std::uint8_t rank_;
};

}  // namespace

std::optional<PipelineNow> pipeline_now(const Session& session) {
  const sim::Machine* machine = machine_of(session);
  const auto theatre = machine ? theatre_of(session) : nullptr;
  if (!theatre || !theatre->record().timed) return {};
  const auto& blocks = theatre->pipeline().blocks;
  const auto at = std::find(blocks.begin(), blocks.end(), session.state.spot.block);
  if (at == blocks.end()) return {};
  return Reader(*theatre, time_of(*machine), static_cast<std::uint8_t>(at - blocks.begin())).read();
}

}  // namespace tilescope
