#include "core/sim/machine/machine.h"

#include <algorithm>
#include <utility>

#include "core/sim/machine/both_ways.h"
#include "core/sim/machine/model.h"
#include "core/sim/machine/side_by_side.h"

namespace tilescope::sim {

Model::Model()
    : reports(*this),
      recording(*this),
      watcher(*this),
      flights(*this),
      global_watch(*this),
      dispatcher(*this),
      scheduler(*this) {}

Model::Model(const Model& other)
    : Grid(other),
      draws(other.draws),
      reports(*this, other.reports),
      recording(*this, other.recording),
      watcher(*this),
      flights(*this),
      global_watch(*this, other.global_watch),
      dispatcher(*this, other.dispatcher),
      scheduler(*this, other.scheduler) {}

Core Model::core_of(Block& block, Warp& warp) {
  const ptx::Program& p = program();
  Core x;
  x.bank[0] = block.registers.data() + warp.index * register_stride();
  // Handlers only read this bank.
  const Bound& bound = image->bound[block.rank];
  x.bank[1] = const_cast<std::byte*>(bound.constants.data());
  x.predicates = block.predicates.data() + std::size_t{warp.index} * p.predicate_count;
  x.live = warp.live;
  x.elements = bound.elements.data();
  x.regions = regions.data();
  x.region_count = static_cast<std::uint32_t>(regions.size());
  x.parameters = &regions[0];
  x.local_bytes = local_bytes();
  x.machine = this;
  x.reports = &reports;
  x.block = &block;
  x.warp = &warp;
  x.code = bound.code.data();
  x.window = (block.rank << ptx::rank_shift) + p.shared_start;
  return x;
}

Machine::Machine(std::unique_ptr<Model> model) : model_(std::move(model)) {}
Machine::Machine(const Machine& other) : model_(std::make_unique<Model>(*other.model_)) {}
Machine::Machine(Machine&&) noexcept = default;
Machine& Machine::operator=(const Machine& other) {
  if (this != &other) *this = Machine(other);
  return *this;
}
Machine& Machine::operator=(Machine&&) noexcept = default;
Machine::~Machine() = default;

RunState Machine::run(std::uint64_t budget) {
  if (!both_ways_ && BothWays::fits(*model_)) both_ways_ = std::make_unique<BothWays>(*model_);
  if (!both_ways_ || !both_ways_->begun()) {
    const std::uint64_t before = instructions();
    const RunState state = run_once(budget);
    if (!both_ways_ || state == RunState::running || state == RunState::stopped) return state;
    if (!BothWays::asks(*model_)) {
      both_ways_.reset();
      return state;
    }
    both_ways_->begin(*model_);
    budget -= std::min(budget, instructions() - before);
  }
  const BothWays::Outcome outcome = both_ways_->run(budget);
  if (outcome == BothWays::Outcome::running) return RunState::running;
  if (outcome == BothWays::Outcome::same) {
    both_ways_->take_place(model_);
  } else {
    both_ways_.reset();
  }
  return model_->state;
}

RunState Machine::run_once(std::uint64_t budget) {
  if (!beside_ && SideBySide::fits(*model_)) beside_ = std::make_unique<SideBySide>(*model_);
  if (!beside_) return model_->scheduler.run(budget);
  const SideBySide::Outcome outcome = beside_->run(budget);
  if (outcome == SideBySide::Outcome::running) return RunState::running;
  const bool alone = outcome == SideBySide::Outcome::met || !beside_->leave(*model_);
  beside_.reset();
  if (alone) model_->options.beside = 0;
  return model_->state;
}

RunState Machine::state() const {
  return both_ways_ && both_ways_->begun() ? RunState::running : model_->state;
}

Progress Machine::progress() const {
  if (beside_) return beside_->progress();
  return {model_->dispatcher.finished(), model_->dispatcher.total(), model_->instructions};
}

const std::vector<Report>& Machine::reports() const {
  return model_->reports.all();
}

std::vector<Buffer> Machine::buffers() const {
  return model_->buffers();
}

const std::string& Machine::printed() const {
  return model_->printed;
}

std::uint64_t Machine::instructions() const {
  return beside_ ? beside_->progress().instructions : model_->instructions;
}

std::uint64_t Machine::bytes() const {
  return sizeof(Model) + model_->bytes() + (beside_ ? beside_->bytes() : 0) +
         (both_ways_ ? both_ways_->bytes() : 0);
}

std::size_t Machine::threads() const {
  return model_->threads;
}

// ---- what runs ----

const ptx::Program& Machine::program() const {
  return model_->program();
}

const Launch& Machine::launch() const {
  return model_->launch;
}

const Options& Machine::options() const {
  return model_->options;
}

const BarrierNames& Machine::barrier_names() const {
  return model_->barrier_names();
}

const std::vector<Buffer>& Machine::shells() const {
  return model_->shells;
}

const Region& Machine::buffer(std::size_t index) const {
  return model_->buffer(index);
}

// ---- where it stops ----

void Machine::stop_at(StopAt at) {
  beside_.reset();
  both_ways_.reset();
  model_->watcher.stop_at(std::move(at));
}

Stops& Machine::stops() {
  return model_->stops;
}

const Stops& Machine::stops() const {
  return model_->stops;
}

std::uint64_t Machine::position() const {
  return model_->position();
}

const Executed& Machine::last_executed() const {
  return model_->last;
}

bool Machine::is_behind_instruction() const {
  return model_->is_behind_instruction();
}

// ---- time ----

double Machine::now() const {
  return model_->now();
}

double Machine::end() const {
  return model_->state == RunState::done ? model_->ended : now();
}

bool Machine::all_have_reached(double cycle) const {
  return model_->scheduler.all_have_reached(cycle);
}

double Machine::seconds() const {
  return model_->clock ? model_->clock->seconds() : 0;
}

double Machine::memory_share() const {
  return model_->clock ? model_->clock->memory_share() : 0;
}

namespace {

// Of a launch, in seconds, what is at `cycle` of its clock.
double seconds_at(const Model& model, double cycle) {
  const Clock& clock = *model.clock;
  const double launch = clock.times().launch * 1e-6;
  if (clock.ended_at <= 0) return clock.seconds();
  return launch + (clock.seconds() - launch) * std::min(1.0, cycle / clock.ended_at);
}

}  // namespace

std::optional<double> Machine::lets_begin_after() const {
  const DependentTimes& times = model_->dependents;
  if (!model_->clock || times.blocks_tell != model_->launch.grid.count()) return std::nullopt;
  return seconds_at(*model_, times.tells);
}

double Machine::waits_after() const {
  const DependentTimes& times = model_->dependents;
  const bool waits = times.waits != DependentTimes::never;
  return model_->clock && waits ? seconds_at(*model_, times.waits) : seconds();
}

const DeviceTimes* Machine::times() const {
  return model_->clock ? &model_->clock->times() : nullptr;
}

// ---- blocks ----

const std::vector<Block>& Machine::blocks() const {
  return model_->blocks;
}

const Block* Machine::member(const Block& block, std::uint32_t rank) const {
  return std::as_const(*model_).member(block, rank);
}

std::uint32_t Machine::cluster_size() const {
  return model_->cluster_size;
}

std::uint64_t Machine::wave() const {
  return model_->dispatcher.resident();
}

std::uint64_t Machine::cluster_number(std::uint64_t block) const {
  return model_->cluster_number(block);
}

bool Machine::has_exited(std::uint64_t cluster) const {
  return model_->dispatcher.has_exited(cluster);
}

const Block& Machine::issuer(const Block& block, const AsyncOperation& operation) const {
  return model_->issuer(block, operation);
}

Site Machine::site(const Block& block, std::uint32_t thread, std::uint32_t pc) const {
  return model_->site(block, thread, pc);
}

Site Machine::site_of(Writer writer) const {
  return model_->site_of(writer);
}

std::optional<Site> Machine::writer(std::size_t buffer, std::size_t byte) const {
  return model_->writer(buffer, byte);
}

}  // namespace tilescope::sim
