#include "core/sim/machine/side_by_side.h"

#include <algorithm>

#include "core/sim/checks/result.h"
#include "core/sim/machine/executor.h"
#include "core/sim/machine/model.h"

namespace tilescope::sim {
namespace {

using u8 = std::uint8_t;
using u64 = std::uint64_t;

// Threads, of which a byte tells which it was.
constexpr u64 most_parts = 128;
// What copies of the memory may take, each of all that the program may write.
constexpr u64 most_bytes = u64{4} << 30;
// Shares of each thread: enough that none waits long for the last.
constexpr u64 shares_each = 16;

bool looks_on(const Model& m) {
  const Options& o = m.options;
  return o.schedule || !o.holds.empty() || o.lazy || o.recorder || o.products || o.logs_order ||
         o.logs_accesses || o.first_waits_fail || !o.races || o.waves || m.clock ||
         m.stops.asked() || m.compares_stores;
}

// Does an instruction of global memory mean something to who runs beside?
bool may_meet(const ptx::Program& program, const ptx::Instruction& i, const Code& c) {
  using ptx::Field;
  using ptx::Op;
  const bool shared = c.space == ptx::Space::shared;
  switch (i.op) {
    case Op::atom:
    case Op::red:
      return !shared;
    case Op::ld:
    case Op::ldu:
    case Op::st:
      return c.synchronises && !shared;
    case Op::tex:
    case Op::suld:
    case Op::sust:
    case Op::tensormap:
    case Op::clusterlaunchcontrol:
    case Op::alloca_:
      return true;
    case Op::cp:
      return i.modifiers.has(Field::reduction);
    default:
      break;
  }
  const ptx::Operand* const operands = program.operands_of(i);
  return std::any_of(operands, operands + i.count,
                     [](const ptx::Operand& o) { return o.kind == ptx::Operand::Kind::special; });
}

// Of one copy of the memory, with what is kept of each of its bytes.
u64 written_bytes(const Model& m) {
  u64 out = 0;
  for (const Region& r : m.regions) out += r.watched ? r.size() * 4 : 0;
  return out;
}

u64 parts_of(const Model& m) {
  const u64 clusters = m.dispatcher.total() / m.cluster_size;
  const u64 room = most_bytes / std::max<u64>(1, written_bytes(m));
  return std::min({u64{m.options.beside} + 1, clusters, room, most_parts});
}

// Has anything become of it that only one thread may tell, or have its clusters met?
bool has_met(const Model& m) {
  const auto meets = [](const Shadow& s) { return s.clusters_meet(); };
  const auto twice = [](const Region& r) { return !r.written_twice().empty(); };
  return m.state == RunState::fault || !m.reports.all().empty() || m.reports.stored_undefined() ||
         !m.printed.empty() || std::any_of(m.accesses.begin(), m.accesses.end(), meets) ||
         std::any_of(m.regions.begin(), m.regions.end(), twice);
}

// Sets who[first, last) to `part`; false where somebody else is there.
bool claim(std::vector<u8>& who, u64 first, u64 last, u8 part) {
  for (u64 at = first; at < last; ++at) {
    if (who[at] && who[at] != part) return false;
    who[at] = part;
  }
  return true;
}

}  // namespace

bool may_meet(const Model& m) {
  const ptx::Program& program = m.program();
  const std::vector<Code>& code = m.image->bound[0].code;
  for (std::size_t pc = 0; pc < program.code.size(); ++pc) {
    if (may_meet(program, program.code[pc], code[pc])) return true;
  }
  const auto& specials = program.specials;
  return std::any_of(specials.begin(), specials.end(),
                     [](const auto& s) { return s.first == ptx::Special::smid; }) ||
         std::any_of(program.variables.begin(), program.variables.end(),
                     [](const ptx::Placed& v) { return v.variable.name == ptx::heap_name; });
}

bool SideBySide::fits(const Model& m) {
  return m.options.beside && m.options.executor && m.state == RunState::running &&
         m.position() == 0 && m.dispatcher.started() == 0 && !looks_on(m) && parts_of(m) > 1 &&
         !may_meet(m);
}

SideBySide::SideBySide(const Model& start) : executor_(start.options.executor) {
  clusters_ = start.dispatcher.total() / start.cluster_size;
  const u64 count = parts_of(start);
  share_ = std::max<u64>(1, clusters_ / (count * shares_each));
  for (u64 k = 0; k < count; ++k) {
    Part& part = parts_.emplace_back();
    part.model = std::make_unique<Model>(start);
    part.model->options.executor = nullptr;
    part.model->options.beside = 0;
    part.model->dispatcher.take(0, 0);
    part.model->state = RunState::done;
    if (k) part.line = start.options.executor->new_line();
  }
}

SideBySide::~SideBySide() = default;

void SideBySide::advance(Part& part, u64 budget) {
  Model& m = *part.model;
  while (budget && !part.met) {
    if (m.state == RunState::done) {
      const u64 first = next_.fetch_add(share_);
      part.over = first >= clusters_;
      if (part.over) return;
      part.first = first;
      m.dispatcher.take(first, std::min(share_, clusters_ - first));
      m.state = RunState::running;
    }
    const u64 before = m.instructions;
    m.scheduler.run(budget);
    budget -= std::min(budget, m.instructions - before);
    part.met = has_met(m);
  }
}

SideBySide::Outcome SideBySide::run(u64 budget) {
  Executor& executor = *executor_;
  const u64 each = std::max<u64>(1, budget / parts_.size());
  std::vector<u64> tasks(parts_.size());
  for (std::size_t k = 1; k < parts_.size(); ++k) {
    if (parts_[k].over) continue;
    tasks[k] = executor.submit(parts_[k].line, [this, k, each] { advance(parts_[k], each); });
  }
  if (!parts_[0].over) advance(parts_[0], each);
  for (std::size_t k = 1; k < parts_.size(); ++k) {
    if (tasks[k]) executor.wait(parts_[k].line, tasks[k]);
  }
  const auto met = [](const Part& p) { return p.met; };
  if (std::any_of(parts_.begin(), parts_.end(), met)) return Outcome::met;
  const auto over = [](const Part& p) { return p.over; };
  return std::all_of(parts_.begin(), parts_.end(), over) ? Outcome::done : Outcome::running;
}

// Has a cluster of one thread written what one of another touched?
bool SideBySide::meet_in(std::size_t region) const {
  const Region& start = parts_[0].model->regions[region];
  std::vector<u8> writer((start.size() + 3) / 4);
  bool apart = true;
  for (std::size_t k = 0; k < parts_.size() && apart; ++k) {
    const auto part = static_cast<u8>(k + 1);
    const Region& written = parts_[k].model->regions[region];
    written.each_written([&](u64 begin, u64 end) {
      apart = apart && !written.any_undefined(begin, end - begin);
      apart = apart && claim(writer, begin / 4, (end + 3) / 4, part);
    });
  }
  for (std::size_t k = 0; k < parts_.size() && apart; ++k) {
    const std::vector<Shadow>& accesses = parts_[k].model->accesses;
    if (region >= accesses.size()) continue;
    accesses[region].each_touched(
        [&](u64 word) { apart = apart && (!writer[word] || writer[word] == k + 1); });
  }
  return !apart;
}

bool SideBySide::meet() const {
  const std::size_t regions = parts_[0].model->regions.size();
  for (std::size_t r = 0; r < regions; ++r) {
    const auto writes = [&](const Part& p) {
      const Region::Stretch written = p.model->regions[r].next_written(0);
      return written.begin < written.end;
    };
    if (std::none_of(parts_.begin(), parts_.end(), writes)) continue;
    // What nobody was to write is not known well enough.
    if (!parts_[0].model->regions[r].watched || meet_in(r)) return true;
  }
  return false;
}

bool SideBySide::leave(Model& model) const {
  if (meet()) return false;
  for (const Part& part : parts_) {
    const Model& m = *part.model;
    for (std::size_t r = 0; r < model.regions.size(); ++r)
      model.regions[r].take_written(m.regions[r]);
    model.instructions += m.instructions;
    model.moments += m.moments;
  }
  const Part& last = *std::max_element(
      parts_.begin(), parts_.end(), [](const Part& a, const Part& b) { return a.first < b.first; });
  model.last = last.model->last;
  model.last.moments = model.moments;
  model.threads = parts_.size();
  model.dispatcher.finish();
  finish_grid(model);
  model.recording.finish_record();
  return true;
}

Progress SideBySide::progress() const {
  Progress out{0, parts_[0].model->dispatcher.total(), 0};
  for (const Part& part : parts_) {
    out.done += part.model->dispatcher.finished();
    out.instructions += part.model->instructions;
  }
  return out;
}

u64 SideBySide::bytes() const {
  u64 out = 0;
  for (const Part& part : parts_) out += part.model->bytes();
  return out;
}

}  // namespace tilescope::sim
