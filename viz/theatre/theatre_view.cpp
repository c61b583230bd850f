#include "viz/theatre/theatre_view.h"

#include <algorithm>
#include <set>

namespace tilescope {
namespace {

using sim::EventId;
using sim::MemoryUse;

std::vector<EventId> copies_in_of(const sim::Pipeline& pipeline) {
  std::vector<EventId> out;
  for (const sim::RingStage& stage : pipeline.stages) {
    for (const sim::Filling& filling : stage.fillings) {
      out.insert(out.end(), filling.copies.begin(), filling.copies.end());
    }
  }
  return out;
}

void add_once(std::vector<std::uint32_t>& to, std::uint32_t value) {
  if (std::find(to.begin(), to.end(), value) == to.end()) to.push_back(value);
}

}  // namespace

std::string_view name_of(TheatreStep step) {
  static constexpr std::string_view names[] = {"copy", "product", "phase", "load", "any"};
  return names[static_cast<std::size_t>(step)];
}

TheatreView::TheatreView(std::shared_ptr<const sim::Record> record,
                         std::shared_ptr<const sim::Timeline> timeline,
                         const std::vector<sim::Role>& roles, std::uint64_t cluster)
    : record_(std::move(record)),
      timeline_(std::move(timeline)),
      pipeline_(sim::pipeline_of(*timeline_, roles, cluster)) {
  // What threads bring by cp.async once is no ring to look at.
  const bool ring =
      std::any_of(pipeline_.stages.begin(), pipeline_.stages.end(),
                  [](const sim::RingStage& s) { return !s.by_threads || s.fillings.size() > 1; });
  if (!ring && pipeline_.accumulators.empty()) {
    lanes_ = LaneAccesses(*record_, pipeline_.blocks);
  }
  find_moments();
  find_tensors();
  std::set<std::uint32_t> copies;
  for (const sim::EventId id : copies_in_of(pipeline_)) copies.insert(record_->events[id].pc);
  for (const std::uint32_t pc : copies) {
    if (pc >= record_->counters.size()) continue;
    asked_ += record_->counters[pc].global_bytes;
    missed_ += std::min(record_->counters[pc].memory_bytes, record_->counters[pc].global_bytes);
  }
  add_activity_of_lanes();
  add_activity("copies in", copies_in_of(pipeline_));
  add_activity("products", pipeline_.products);
  add_activity("tcgen05.ld", pipeline_.loads);
  add_activity("copies out", pipeline_.copies_out);
}

const sim::CachedBuffer* TheatreView::cached(std::uint32_t buffer) const {
  for (const sim::CachedBuffer& of : record_->cached) {
    if (of.buffer == buffer && !of.since.empty()) return &of;
  }
  return nullptr;
}

void TheatreView::find_moments() {
  const auto add = [&](TheatreStep step, double at) {
    moments_[static_cast<std::size_t>(step)].push_back(at);
    moments_[static_cast<std::size_t>(TheatreStep::any)].push_back(at);
  };
  const auto add_all = [&](TheatreStep step, const std::vector<EventId>& operations) {
    for (const EventId id : operations) {
      add(step, static_cast<double>(record_->events[id].begin));
    }
  };
  add_all(TheatreStep::copy, copies_in_of(pipeline_));
  add_all(TheatreStep::copy, pipeline_.copies_out);
  add_all(TheatreStep::product, pipeline_.products);
  add_all(TheatreStep::load, pipeline_.loads);
  for (const sim::BarrierPhases& barrier : pipeline_.barriers) {
    for (const EventId id : barrier.phases) {
      const sim::Event e = record_->events[id];
      if (e.end != sim::never_ends) add(TheatreStep::phase, static_cast<double>(e.end));
    }
  }
  for (const std::uint32_t i : lanes_.all()) {
    const sim::WarpAccess& access = record_->accesses[i];
    const bool global = access.of == sim::WarpAccess::Of::global;
    const bool copies = access.kind == sim::WarpAccess::Kind::copy;
    const auto at = static_cast<double>(access.begin);
    if (global && access.kind == sim::WarpAccess::Kind::load) {
      add(TheatreStep::load, at);
    } else if (global && copies) {
      add(TheatreStep::copy, at);
    } else {
      moments_[static_cast<std::size_t>(TheatreStep::any)].push_back(at);
    }
  }
  for (std::vector<double>& all : moments_) {
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
  }
  const auto& products = moments_[static_cast<std::size_t>(TheatreStep::product)];
  const auto& any = moments_[static_cast<std::size_t>(TheatreStep::any)];
  opening_ = !products.empty() ? products[products.size() / 2] + 1
             : !any.empty()    ? any[any.size() / 2]
                               : (begin() + end()) / 2;
  // From there on, the first product during which a copy is under way too.
  const std::vector<EventId> copies = copies_in_of(pipeline_);
  for (std::size_t i = products.size() / 2, tried = 0; i < products.size() && tried < 64;
       ++i, ++tried) {
    const double at = products[i] + 1;
    const bool copying = std::any_of(copies.begin(), copies.end(), [&](EventId id) {
      const sim::Event e = record_->events[id];
      return static_cast<double>(e.begin) <= at && at < static_cast<double>(e.end);
    });
    if (!copying) continue;
    opening_ = at;
    break;
  }
}

void TheatreView::find_tensors() {
  for (const sim::RingStage& stage : pipeline_.stages) {
    for (const sim::Filling& filling : stage.fillings) {
      for (const MemoryUse& part : filling.parts) add_once(inputs_, part.buffer);
    }
  }
  for (const EventId id : pipeline_.copies_out) {
    for (const MemoryUse& use : sim::uses_of(record_->uses, id)) {
      if (use.of == MemoryUse::Of::global && use.writes) add_once(outputs_, use.buffer);
    }
  }
  for (const EventId id : pipeline_.products) {
    const sim::Event e = record_->events[id];
    for (const MemoryUse& use : sim::uses_of(record_->uses, id)) {
      pairs_ = pairs_ || pipeline_.blocks[use.rank] != record_->tracks[e.track].block;
    }
  }
  if (!outputs_.empty()) return;
  // Threads write it: the last tensor of the launch that no copy brings.
  for (std::size_t i = record_->buffers.size(); i-- > 0;) {
    const auto buffer = static_cast<std::uint32_t>(i);
    if (std::find(inputs_.begin(), inputs_.end(), buffer) != inputs_.end()) continue;
    const sim::RecordedBuffer& shape = record_->buffers[i];
    const bool fits = std::any_of(
        pipeline_.accumulators.begin(), pipeline_.accumulators.end(), [&](const auto& a) {
          return std::any_of(a.sums.begin(), a.sums.end(), [&](const sim::Accumulation& sum) {
            return sum.tile && sum.tile->row < shape.rows() && sum.tile->column < shape.columns();
          });
        });
    if (!fits || shape.rows() < 2) continue;
    outputs_.push_back(buffer);
    return;
  }
}

void TheatreView::add_activity(std::string name, const std::vector<EventId>& operations) {
  if (operations.empty()) return;
  std::vector<std::pair<double, double>> spans;
  for (const EventId id : operations) {
    const sim::Event e = record_->events[id];
    const double to = e.end == sim::never_ends ? end() : static_cast<double>(e.end);
    spans.emplace_back(static_cast<double>(e.begin), std::max(to, static_cast<double>(e.begin)));
  }
  add_spans(std::move(name), std::move(spans));
}

void TheatreView::add_activity_of_lanes() {
  using Of = sim::WarpAccess::Of;
  using Kind = sim::WarpAccess::Kind;
  const auto add = [&](std::string name, auto is) {
    std::vector<std::pair<double, double>> spans;
    for (const std::uint32_t i : lanes_.all()) {
      const sim::WarpAccess& access = record_->accesses[i];
      if (!is(access)) continue;
      spans.emplace_back(static_cast<double>(access.begin), static_cast<double>(access.end));
    }
    add_spans(std::move(name), std::move(spans));
  };
  add("loads", [](const auto& a) { return a.of == Of::global && a.kind == Kind::load; });
  add("cp.async", [](const auto& a) { return a.of == Of::global && a.kind == Kind::copy; });
  add("shared", [](const auto& a) { return a.of == Of::shared && a.kind != Kind::copy; });
  add("shuffles", [](const auto& a) { return a.of == Of::lanes; });
  add("stores", [](const auto& a) {
    return a.of == Of::global && (a.kind == Kind::store || a.kind == Kind::atomic);
  });
}

void TheatreView::add_spans(std::string name, std::vector<std::pair<double, double>> spans) {
  if (spans.empty()) return;
  TheatreActivity out;
  out.name = std::move(name);
  const double length = std::max(1.0, end()) / TheatreActivity::buckets;
  std::sort(spans.begin(), spans.end());
  double covered = 0;  // what overlaps counts once
  for (auto [from, to] : spans) {
    from = std::max(from, covered);
    if (to <= from) continue;
    covered = to;
    for (auto i = static_cast<std::size_t>(from / length); i < TheatreActivity::buckets; ++i) {
      const double left = static_cast<double>(i) * length;
      if (left >= to) break;
      const double overlap = std::min(to, left + length) - std::max(from, left);
      if (overlap > 0) out.share[i] += static_cast<float>(overlap / length);
    }
  }
  activity_.push_back(std::move(out));
}

std::optional<double> TheatreView::next(TheatreStep step, double at) const {
  const auto& all = moments_[static_cast<std::size_t>(step)];
  const auto found = std::upper_bound(all.begin(), all.end(), at);
  if (found == all.end()) return {};
  return *found;
}

std::optional<double> TheatreView::previous(TheatreStep step, double at) const {
  const auto& all = moments_[static_cast<std::size_t>(step)];
  const auto found = std::lower_bound(all.begin(), all.end(), at);
  if (found == all.begin()) return {};
  return *(found - 1);
}

std::vector<std::uint8_t> TheatreView::ranks_with(std::uint8_t rank) const {
  if (!pairs_) return {rank};
  const auto even = static_cast<std::uint8_t>(rank & ~1u);
  return {even, static_cast<std::uint8_t>(even + 1)};
}

}  // namespace tilescope
