// Stages of shared memory: what copies fill, and who reads it.
#include <algorithm>
#include <map>
#include <tuple>

#include "core/profile/pipeline_parts.h"

namespace tilescope::sim::pipeline_parts {
namespace {

using u8 = std::uint8_t;
using u32 = std::uint32_t;

// An mbarrier that a copy of this CTA completes on: its own, or that of another CTA of the
// cluster (a pair's copies arrive at one of them).
std::optional<std::size_t> barrier_of_copy(const Finding& f, u8 rank, u32 offset) {
  if (const auto own = f.out.mbarrier(rank, offset)) return own;
  for (std::size_t i = 0; i < f.out.barriers.size(); ++i) {
    const BarrierPhases& b = f.out.barriers[i];
    if (b.unit == Unit::mbarrier && b.object == offset) return i;
  }
  return {};
}

// Copies, and what they bring, by where it lies: those that are issued first may land behind.
void put_in_order(const Finding& f, Filling& filling, u8 rank) {
  const auto place = [&](EventId id) {
    u32 out = ~u32{0};
    for (const MemoryUse& use : uses_of(f.record.uses, id)) {
      if (use.of != MemoryUse::Of::shared || !use.writes || use.rank != rank) continue;
      out = std::min(out, use.column);
    }
    return out;
  };
  std::vector<EventId>& copies = filling.copies;
  std::stable_sort(copies.begin(), copies.end(),
                   [&](EventId a, EventId b) { return place(a) < place(b); });
  copies.erase(std::unique(copies.begin(), copies.end()), copies.end());
  filling.parts.clear();
  for (const EventId id : copies) {
    for (const MemoryUse& part : uses_of(f.record.uses, id)) {
      if (part.of == MemoryUse::Of::global && !part.writes) filling.parts.push_back(part);
    }
  }
}

// What copies bring for one phase of an mbarrier: bulk copies, and cp.async of which
// cp.async.mbarrier.arrive tells it.
void find_fillings(Finding& f) {
  struct Raw {
    Filling filling;
    std::vector<ByteSpan> spans;
    bool by_threads = false;
  };
  std::map<std::tuple<u8, u32, u32>, Raw> raw;  // rank, mbarrier, phase
  const auto add = [&](EventId id, bool by_threads) {
    const Event e = f.event(id);
    bool counted = false;
    for (const MemoryUse& use : uses_of(f.record.uses, id)) {
      if (use.of != MemoryUse::Of::shared || !use.writes) continue;
      Raw& r = raw[{use.rank, e.object, e.phase}];
      r.spans.push_back({use.column, use.column + use.columns});
      if (by_threads && counted) continue;
      counted = true;
      r.by_threads = by_threads;
      Filling& filling = r.filling;
      filling.issued = std::min(filling.issued, e.issue);
      filling.begin = std::min(filling.begin, e.begin);
      filling.phase = e.phase;
      filling.bytes += e.amount;
      filling.copies.push_back(id);
      for (const MemoryUse& part : uses_of(f.record.uses, id)) {
        if (part.of == MemoryUse::Of::global && !part.writes) add_part(filling, part, by_threads);
      }
    }
  };
  for (const EventId id : f.copies_in) add(id, false);
  for (const EventId id : f.thread_copies) {
    if (!is_group(f.record, f.event(id))) add(id, true);
  }
  for (auto& [key, r] : raw) {
    const u8 rank = std::get<0>(key);
    const u32 offset = std::get<1>(key), phase = std::get<2>(key);
    put_together(r.spans, r.by_threads ? padding : 0);
    if (!r.by_threads) put_in_order(f, r.filling, rank);
    const std::optional<std::size_t> barrier = barrier_of_copy(f, rank, offset);
    if (barrier) {
      for (const EventId id : f.out.barriers[*barrier].phases) {
        const Event e = f.event(id);
        if (e.phase != phase || e.end == never_ends) continue;
        r.filling.full = e.end;
      }
    }
    bool fresh = false;
    RingStage& stage = stage_of(f, rank, r.spans, fresh);
    if (fresh) {
      stage.full = barrier;
      stage.by_threads = r.by_threads;
    }
    stage.fillings.push_back(std::move(r.filling));
  }
}

void find_readers(Finding& f) {
  for (const auto* operations : {&f.out.products, &f.moves, &f.out.copies_out}) {
    for (const EventId id : *operations) {
      const Event e = f.event(id);
      for (const MemoryUse& use : uses_of(f.record.uses, id)) {
        if (use.of != MemoryUse::Of::shared || use.writes) continue;
        for (RingStage& stage : f.out.stages) {
          if (!stage.meets(use)) continue;
          Filling* filling = Finding::filling_for(stage, e.issue);
          if (!filling) continue;
          if (filling->readers.empty() || filling->readers.back() != id) {
            filling->readers.push_back(id);
          }
          filling->read_begin = std::min(filling->read_begin, e.begin);
          filling->read_end = filling->read_end == never_ends
                                  ? f.end_of(e)
                                  : std::max(filling->read_end, f.end_of(e));
        }
      }
    }
  }
}

void find_own_readers(Finding& f) {
  for (RingStage& stage : f.out.stages) {
    Warps fill, read;
    for (const Filling& filling : stage.fillings) {
      for (const EventId id : filling.copies) f.add_issuers(id, fill);
      for (const EventId id : filling.readers) f.add_issuers(id, read);
      for (const u32 load : filling.loads) {
        const Track& track = f.record.tracks[f.record.accesses[load].track];
        read.emplace(track.block, track.index);
      }
    }
    stage.own = !fill.empty() && std::includes(read.begin(), read.end(), fill.begin(), fill.end());
  }
}

// The tensors of which its first use brings parts; of cp.async any use, as it may write zeros where
// a tensor has ended.
std::string held_by(const Finding& f, const RingStage& stage) {
  std::vector<std::string> names;
  for (const Filling& filling : stage.fillings) {
    for (const MemoryUse& part : filling.parts) {
      const std::string& name = f.record.buffers[part.buffer].name;
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    if (!stage.by_threads || !names.empty()) break;
  }
  std::string holds;
  for (const std::string& name : names) holds += (holds.empty() ? "" : ", ") + name;
  return holds;
}

void make_rings(Finding& f) {
  using Key = std::tuple<u8, std::string, u32>;
  std::map<Key, std::vector<std::size_t>> rings;
  std::vector<std::size_t> zeros;
  for (std::size_t i = 0; i < f.out.stages.size(); ++i) {
    const RingStage& stage = f.out.stages[i];
    const std::string holds = held_by(f, stage);
    if (stage.by_threads && holds.empty()) {
      zeros.push_back(i);
    } else {
      rings[{stage.rank, holds, stage.bytes()}].push_back(i);
    }
  }
  // Where nothing but zeros came, it is of the ring whose stages are as large, if there is one.
  for (const std::size_t i : zeros) {
    const RingStage& stage = f.out.stages[i];
    const auto fits = [&](const auto& ring) {
      return std::get<0>(ring.first) == stage.rank && std::get<2>(ring.first) == stage.bytes() &&
             f.out.stages[ring.second.front()].by_threads;
    };
    const auto one = std::find_if(rings.begin(), rings.end(), fits);
    const bool alone = std::count_if(rings.begin(), rings.end(), fits) == 1;
    const Key none{stage.rank, "", stage.bytes()};
    (alone ? one->second : rings[none]).push_back(i);
  }
  for (auto& [key, stages] : rings) std::sort(stages.begin(), stages.end());
  for (auto& [key, stages] : rings) {
    f.out.rings.push_back({std::get<1>(key), std::get<0>(key), std::move(stages)});
  }
  for (const Ring& ring : f.out.rings) {
    std::vector<Filling*> all;
    for (const std::size_t stage : ring.stages) {
      for (Filling& filling : f.out.stages[stage].fillings) all.push_back(&filling);
    }
    std::sort(all.begin(), all.end(),
              [](const Filling* a, const Filling* b) { return a->issued < b->issued; });
    for (std::size_t i = 0; i < all.size(); ++i) all[i]->step = static_cast<u32>(i);
  }
  std::sort(f.out.rings.begin(), f.out.rings.end(),
            [&](const Ring& a, const Ring& b) { return a.stages.front() < b.stages.front(); });
}

}  // namespace

bool is_group(const Record& record, const Event& copy) {
  return copy.pc >= record.lines.size() ||
         record.lines[copy.pc].text.find("mbarrier") == std::string::npos;
}

void put_together(std::vector<ByteSpan>& spans, u32 gap) {
  std::sort(spans.begin(), spans.end(),
            [](const ByteSpan& a, const ByteSpan& b) { return a.begin < b.begin; });
  std::vector<ByteSpan> out;
  for (const ByteSpan& span : spans) {
    if (!out.empty() && span.begin <= out.back().end + gap) {
      out.back().end = std::max(out.back().end, span.end);
    } else {
      out.push_back(span);
    }
  }
  spans = std::move(out);
}

void add_part(Filling& filling, const MemoryUse& part, bool together) {
  const auto same = std::find_if(filling.parts.begin(), filling.parts.end(),
                                 [&](const MemoryUse& p) { return p.buffer == part.buffer; });
  if (!together || same == filling.parts.end()) return filling.parts.push_back(part);
  const u32 rows = std::max(same->row + same->rows, part.row + part.rows);
  const u32 columns = std::max(same->column + same->columns, part.column + part.columns);
  same->row = std::min(same->row, part.row);
  same->rows = rows - same->row;
  same->column = std::min(same->column, part.column);
  same->columns = columns - same->column;
}

RingStage& stage_of(Finding& f, u8 rank, const std::vector<ByteSpan>& spans, bool& fresh) {
  auto stage = std::find_if(f.out.stages.begin(), f.out.stages.end(),
                            [&](const RingStage& s) { return s.rank == rank && s.spans == spans; });
  fresh = stage == f.out.stages.end();
  if (fresh) {
    stage = f.out.stages.insert(f.out.stages.end(), RingStage{});
    stage->rank = rank;
    stage->spans = spans;
  }
  return *stage;
}

void find_stages(Finding& f) {
  find_fillings(f);
  add_groups(f);
  std::sort(f.out.stages.begin(), f.out.stages.end(), [](const RingStage& a, const RingStage& b) {
    return std::pair(a.rank, a.spans.front().begin) < std::pair(b.rank, b.spans.front().begin);
  });
  for (RingStage& stage : f.out.stages) {
    std::sort(stage.fillings.begin(), stage.fillings.end(),
              [](const Filling& a, const Filling& b) { return a.issued < b.issued; });
  }
  find_readers(f);
  add_reads_by_threads(f);
  find_own_readers(f);
  make_rings(f);
}

}  // namespace tilescope::sim::pipeline_parts
