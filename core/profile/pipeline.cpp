#include "core/profile/pipeline.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/profile/pipeline_parts.h"

namespace tilescope::sim {
namespace {

using u8 = std::uint8_t;
using u32 = std::uint32_t;

template <class Use, class Begins>
const Use* last_begun(const std::vector<Use>& uses, Begins begins, Cycle time) {
  const auto after = std::partition_point(uses.begin(), uses.end(),
                                          [&](const Use& u) { return begins(u) <= time; });
  return after == uses.begin() ? nullptr : &*(after - 1);
}

}  // namespace

const Filling* RingStage::at(Cycle time) const {
  return last_begun(
      fillings, [](const Filling& f) { return f.issued; }, time);
}

u32 RingStage::bytes() const {
  u32 out = 0;
  for (const ByteSpan& span : spans) out += span.end - span.begin;
  return out;
}

bool RingStage::meets(const MemoryUse& use) const {
  return use.of == MemoryUse::Of::shared && use.rank == rank &&
         std::any_of(spans.begin(), spans.end(), [&](const ByteSpan& span) {
           return use.column < span.end && use.column + use.columns > span.begin;
         });
}

std::string spans_text(const std::vector<ByteSpan>& spans) {
  std::string out;
  for (const ByteSpan& span : spans) {
    out += fmt::format("{}{}-{}", out.empty() ? "" : ", ", span.begin, span.end - 1);
  }
  return out;
}

const Accumulation* Accumulator::at(Cycle time) const {
  return last_begun(
      sums, [](const Accumulation& s) { return s.begin; }, time);
}

std::optional<std::size_t> Pipeline::mbarrier(u8 rank, u32 offset) const {
  for (std::size_t i = 0; i < barriers.size(); ++i) {
    const BarrierPhases& b = barriers[i];
    if (b.unit == Unit::mbarrier && b.rank == rank && b.object == offset) return i;
  }
  return {};
}

Pipeline pipeline_of(const Timeline& timeline, const std::vector<Role>& roles,
                     std::uint64_t cluster) {
  pipeline_parts::Finding f{timeline, timeline.record(), {}, {}, {}, {}, {}, {}};
  f.out.cluster = cluster;
  pipeline_parts::find_units(f, roles);
  pipeline_parts::find_stages(f);
  pipeline_parts::find_sums(f);
  pipeline_parts::find_barriers(f);
  return std::move(f.out);
}

std::string full_text(const Record& record, const Pipeline& pipeline, const RingStage& stage) {
  std::string out;
  const auto add = [&](const std::string& what) { out += (out.empty() ? "" : ", ") + what; };
  for (const u32 pc : stage.waits) {
    std::string wait =
        pc < record.lines.size() ? text(record.lines[pc]) : std::string("wait_group");
    const std::size_t from = wait.find("wait_");
    if (from != std::string::npos) wait = wait.substr(from, wait.find(';') - from);
    if (out.find(wait) == std::string::npos) add(wait);
  }
  if (stage.full) add(barrier_text(record, pipeline.barriers[*stage.full], stage.rank));
  return out.empty() ? "none seen" : out;
}

std::string barrier_text(const Record& record, const BarrierPhases& barrier, u8 rank) {
  if (barrier.unit == Unit::cluster) return "the cluster's barrier";
  const std::string name = barrier.unit == Unit::barrier
                               ? fmt::format("bar {}", barrier.object)
                               : barrier_name(record.barriers, barrier.object);
  return barrier.rank == rank ? name : fmt::format("{} of CTA {}", name, barrier.rank);
}

std::string part_text(const Record& record, const MemoryUse& part) {
  const std::string name =
      part.buffer < record.buffers.size() ? record.buffers[part.buffer].name : "";
  return fmt::format("{}[{}:{}, {}:{}]", name.empty() ? "" : name + " ", part.row,
                     part.row + part.rows, part.column, part.column + part.columns);
}

std::string parts_text(const Record& record, const std::vector<MemoryUse>& parts) {
  std::string out;
  for (const MemoryUse& part : parts) {
    out += (out.empty() ? "" : ", ") + part_text(record, part);
  }
  return out;
}

}  // namespace tilescope::sim
