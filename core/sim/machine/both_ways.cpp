#include "core/sim/machine/both_ways.h"

#include <algorithm>

#include "core/sim/machine/model.h"

namespace tilescope::sim {
namespace {

using u64 = std::uint64_t;

constexpr UndefinedPredicates first_way = UndefinedPredicates::kept;
constexpr UndefinedPredicates ways[] = {first_way, UndefinedPredicates::inverted,
                                        UndefinedPredicates::set, UndefinedPredicates::clear,
                                        UndefinedPredicates::drawn};
// Of all buffers of the launch, and how many.
constexpr u64 most_bytes = u64{64} << 20;
constexpr std::size_t most_regions = 64;

// Whether predicates decide anything in it. Tensor cores' products hang on them in ways of their
// own.
bool is_for_this(const ptx::Program& program) {
  const auto any = [&](auto is) {
    return std::any_of(program.code.begin(), program.code.end(), is);
  };
  return any([](const ptx::Instruction& i) { return i.guarded; }) &&
         !any([](const ptx::Instruction& i) {
           return i.unit == ptx::Unit::tensor || i.unit == ptx::Unit::warpgroup;
         });
}

bool is_of_predicate(const Report& r) {
  return r.kind == "undefined_branch" || r.kind == "undefined_store" ||
         r.kind == "undefined_predicate";
}
// What is told of it, or of what it made undefined.
bool accuses(const Report& r) {
  return (r.weight == Weight::hazard && r.kind == "undefined_store") ||
         (r.weight == Weight::fault &&
          (r.kind == "undefined_predicate" || r.kind == "undefined_address" ||
           r.kind == "undefined_operand" || r.kind == "undefined_output"));
}

}  // namespace

bool BothWays::fits(const Model& m) {
  const Options& o = m.options;
  if (!o.both_ways || o.undefined_predicates != UndefinedPredicates::followed || o.products ||
      o.waves || !o.calculates || m.stops.asked() || m.compares_stores ||
      m.state != RunState::running || m.position() != 0 || m.dispatcher.started() != 0 ||
      m.regions.size() > most_regions) {
    return false;
  }
  u64 bytes = 0;
  for (const Region& r : m.regions) bytes += r.size();
  return bytes <= most_bytes && is_for_this(m.program());
}

bool BothWays::asks(const Model& ran) {
  const std::vector<Report>& reports = ran.reports.all();
  if (ran.state == RunState::fault && !accuses(reports.back())) return false;
  return std::any_of(reports.begin(), reports.end(), is_of_predicate) &&
         std::any_of(reports.begin(), reports.end(), accuses);
}

BothWays::BothWays(const Model& start)
    : start_(std::make_unique<Model>(start)), recorder_(start.recording.recorder()) {
  start_->options.beside = 0;
  if (recorder_) record_ = std::make_unique<Recorder>(*recorder_);
}

BothWays::~BothWays() = default;

std::unique_ptr<Model> BothWays::from_start(UndefinedPredicates are) const {
  auto out = std::make_unique<Model>(*start_);
  out->options.undefined_predicates = are;
  return out;
}

void BothWays::begin(const Model& ran) {
  begun_ = true;
  const std::vector<Report>& reports = ran.reports.all();
  cause_ = *std::find_if(reports.begin(), reports.end(), is_of_predicate);
  // A loop that goes round for as long as a predicate says may never end.
  constexpr u64 least = 5'000'000, times = 4;
  const u64 parts = ran.dispatcher.total() / std::max<u64>(1, ran.dispatcher.started());
  most_ = least + times * ran.instructions * std::max<u64>(1, parts);
  for (const UndefinedPredicates way : ways) {
    std::unique_ptr<Model> m = from_start(way);
    m->clock.reset();
    m->access_log.reset();
    m->order_log.reset();
    m->options.races = m->options.clocked = false;
    m->options.logs_accesses = m->options.logs_order = false;
    models_.push_back(std::move(m));
  }
}

bool BothWays::are_same() const {
  const Model& first = *models_.front();
  return std::all_of(models_.begin() + 1, models_.end(), [&](const auto& other) {
    return other->printed == first.printed &&
           std::equal(first.regions.begin(), first.regions.end(), other->regions.begin(),
                      [](const Region& a, const Region& b) { return a.means_same(b); });
  });
}

BothWays::Outcome BothWays::run(u64 budget) {
  for (const auto& m : models_) {
    if (m->state == RunState::done) continue;
    const u64 before = m->instructions;
    if (m->scheduler.run(budget) == RunState::running && m->instructions < most_) {
      return Outcome::running;
    }
    if (m->state != RunState::done) return Outcome::differ;
    budget -= std::min(budget, m->instructions - before);
  }
  if (!last_) {
    if (!are_same()) return Outcome::differ;
    models_.clear();
    last_ = from_start(first_way);
    if (recorder_) {
      *recorder_ = *record_;
      last_->recording.begin(recorder_);
      if (last_->clock) last_->clock->record(recorder_);
    }
  }
  if (last_->scheduler.run(budget) == RunState::running) return Outcome::running;
  Report note = cause_;
  note.weight = Weight::note;
  note.kind = "undefined_branch";
  note.sentence =
      "what is executed depends on an undefined predicate, but nothing that the launch leaves: "
      "with "
      "each such predicate true and with each of them false memory was the same at its end";
  note.count = 1;
  last_->reports.add(std::move(note));
  last_->options.undefined_predicates = UndefinedPredicates::followed;
  if (last_->order_log) last_->order_log->blind("a predicate hangs on something undefined");
  return Outcome::same;
}

void BothWays::take_place(std::unique_ptr<Model>& of) {
  std::swap(of, last_);
  models_.clear();
  start_.reset();
  begun_ = false;
}

u64 BothWays::bytes() const {
  u64 out = start_ ? start_->bytes() : 0;
  for (const auto& m : models_) out += m->bytes();
  return out + (last_ ? last_->bytes() : 0);
}

}  // namespace tilescope::sim
