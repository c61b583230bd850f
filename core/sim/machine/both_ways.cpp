#include "core/sim/machine/both_ways.h"

#include <algorithm>

#include "core/sim/machine/model.h"

namespace tilescope::sim {
namespace {

using u64 = std::uint64_t;

constexpr UndefinedPredicates ways[] = {UndefinedPredicates::kept, UndefinedPredicates::inverted,
                                        UndefinedPredicates::set, UndefinedPredicates::clear};
// Behind these each number of lanes of a warp, drawn: of those who count them some ask for one
// number.
constexpr std::size_t fixed_ways = std::size(ways), all_ways = fixed_ways + 31;
constexpr std::size_t most_regions = 64;  // of memory

// Whether predicates decide anything in it, and may hang on what nobody has written in memory of
// its own. Tensor cores' products hang on them in ways of their own.
bool is_for_this(const Model& m) {
  const ptx::Program& program = m.program();
  const bool has_memory = program.shared_bytes || m.launch.dynamic_shared || m.local_bytes() ||
                          !program.routines[0].undefined_at_start.empty();
  const auto any = [&](auto is) {
    return std::any_of(program.code.begin(), program.code.end(), is);
  };
  return has_memory && any([](const ptx::Instruction& i) { return i.guarded; }) &&
         !any([](const ptx::Instruction& i) {
           return i.unit == ptx::Unit::tensor || i.unit == ptx::Unit::warpgroup;
         });
}

// A report that one way has and another one has not says that they differ.
bool is_bad(const Report& r) {
  return r.weight != Weight::note || r.kind == "lanes_store_one_place";
}
bool tells_more(const Model& way, const Model& first) {
  const std::vector<Report>& known = first.reports.all();
  const std::vector<Report>& all = way.reports.all();
  return std::any_of(all.begin(), all.end(), [&](const Report& r) {
    return is_bad(r) && std::none_of(known.begin(), known.end(), [&](const Report& k) {
             return k.kind == r.kind && k.site.ptx_line == r.site.ptx_line;
           });
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
  if (!o.both_ways_bytes || o.undefined_predicates != UndefinedPredicates::followed || o.products ||
      o.waves || !o.calculates || m.stops.asked() || m.compares_stores ||
      m.state != RunState::running || m.position() != 0 || m.dispatcher.started() != 0 ||
      m.regions.size() > most_regions) {
    return false;
  }
  u64 bytes = 0;
  for (const Region& r : m.regions) bytes += r.size();
  return bytes <= o.both_ways_bytes && is_for_this(m);
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

std::unique_ptr<Model> BothWays::from_start(std::size_t way) const {
  auto out = std::make_unique<Model>(*start_);
  out->options.undefined_predicates = way < fixed_ways ? ways[way] : UndefinedPredicates::drawn;
  if (way >= fixed_ways) {
    out->options.true_of_32 = static_cast<std::uint32_t>(way - fixed_ways + 1);
  }
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
}

bool BothWays::is_same() const {
  const Model &first = *first_, &other = *now_;
  return other.printed == first.printed && !tells_more(other, first) && !tells_more(first, other) &&
         std::equal(first.regions.begin(), first.regions.end(), other.regions.begin(),
                    [](const Region& a, const Region& b) { return a.means_same(b); });
}

BothWays::Outcome BothWays::run(u64 budget) {
  while (way_ < all_ways) {
    if (!now_) {
      now_ = from_start(way_);
      now_->clock.reset();
      now_->access_log.reset();
      now_->order_log.reset();
      now_->options.clocked = now_->options.logs_accesses = now_->options.logs_order = false;
    }
    const u64 before = now_->instructions;
    if (now_->scheduler.run(budget) == RunState::running && now_->instructions < most_) {
      return Outcome::running;
    }
    if (now_->state != RunState::done) return Outcome::differ;
    budget -= std::min(budget, now_->instructions - before);
    if (way_++ == 0) {
      first_ = std::move(now_);
    } else if (!is_same()) {
      return Outcome::differ;
    }
    now_.reset();
  }
  if (!last_) {
    last_ = from_start(0);
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
  first_.reset();
  start_.reset();
  begun_ = false;
}

u64 BothWays::bytes() const {
  u64 out = start_ ? start_->bytes() : 0;
  for (const auto* m : {&first_, &now_, &last_}) out += *m ? (*m)->bytes() : 0;
  return out;
}

}  // namespace tilescope::sim
