#include "viz/machine/tensor_now.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/sim/stepping/find_block.h"
#include "viz/machine/machine_scene.h"
#include "viz/scene/site_words.h"

namespace tilescope {
namespace {

using u32 = std::uint32_t;

std::string who(const sim::Machine& machine, u32 warp, u32 pc, const Site& site) {
  const auto& code = machine.program().code;
  const bool called = site.caller_line != 0;
  const std::string& file = called ? site.caller : site.source;
  const u32 line = called ? site.caller_line : site.source_line;
  std::string out(pc < code.size() ? sim::opcode_text(code[pc].text) : "");
  // "tcgen05.mma.cta_group::1.kind::f16" is a tcgen05.mma.
  const std::size_t first = out.find('.'), second = out.find('.', first + 1);
  if (second != std::string::npos) out.resize(second);
  out += fmt::format(", warp {}", warp);
  if (line) out += fmt::format(", {}:{}", file_name(file), line);
  return out;
}

void add_writers(TensorNow& now, const sim::Machine& machine, const sim::Block& block) {
  auto events = block.tensor.past.touching({{0, TensorNow::lanes, 0, TensorNow::columns}});
  std::sort(events.begin(), events.end(),
            [](const sim::TensorEvent* a, const sim::TensorEvent* b) { return a->at < b->at; });
  for (const sim::TensorEvent* e : events) {
    if (!e->writes) continue;
    const sim::Block* by = e->by_peer ? machine.member(block, block.rank ^ 1) : &block;
    TensorNow::Writer writer;
    writer.warp = e->warp;
    writer.pc = e->pc;
    writer.product = e->product;
    writer.by_peer = e->by_peer;
    writer.cells = e->cells;
    writer.site = machine.site(by ? *by : block, e->warp * 32, e->pc);
    writer.name = who(machine, e->warp, e->pc, writer.site);
    if (e->by_peer) writer.name += " of the peer CTA";
    now.writers.push_back(std::move(writer));
    const auto number =
        static_cast<std::uint16_t>(std::min<std::size_t>(now.writers.size(), 65535));
    for (const sim::CellRange& cells : e->cells) {
      const u32 last_lane = std::min(cells.lane + cells.lanes, TensorNow::lanes);
      const u32 last = std::min(cells.column + cells.columns, TensorNow::columns);
      for (u32 lane = cells.lane; lane < last_lane; ++lane) {
        for (u32 c = cells.column; c < last; ++c) now.written[now.index(lane, c)] = number;
      }
    }
  }
}

}  // namespace

bool TensorNow::owns(u32 column) const {
  return std::any_of(allocations.begin(), allocations.end(), [&](const sim::Allocation& a) {
    return column >= a.column && column < a.column + a.columns;
  });
}

const TensorNow::Writer* TensorNow::writer_of(u32 lane, u32 column) const {
  if (written.empty()) return nullptr;
  const std::uint16_t number = written[index(lane, column)];
  return number ? &writers[number - 1u] : nullptr;
}

double TensorNow::value(u32 lane, u32 column) const {
  float out = 0;
  std::memcpy(&out, &bits[index(lane, column)], sizeof out);
  return static_cast<double>(out);
}

std::shared_ptr<const TensorNow> tensor_now(const sim::Machine& machine, std::uint64_t block) {
  auto now = std::make_shared<TensorNow>();
  now->block = block;
  now->state = state_of_block(machine, block);
  const auto& code = machine.program().code;
  now->has_unit = std::any_of(code.begin(), code.end(), [](const ptx::Instruction& each) {
    return sim::opcode_text(each.text).substr(0, 7) == "tcgen05";
  });
  const sim::Block* b = sim::find_block(machine, block);
  if (!b) return now;
  now->allocations = sim::columns_of(machine, block);
  for (const sim::Allocation& each : now->allocations) {
    const Site site = machine.site(*b, each.thread, each.pc);
    now->allocators.push_back(who(machine, each.thread / 32, each.pc, site));
  }
  if (now->allocations.empty()) return now;
  constexpr std::size_t cells = std::size_t{TensorNow::lanes} * TensorNow::columns;
  now->bits.assign(cells, 0);
  now->undefined.assign(cells, 15);
  now->written.assign(cells, 0);
  const sim::TensorMemory& memory = b->tensor.memory;
  for (const sim::Allocation& each : now->allocations) {
    for (u32 lane = 0; lane < TensorNow::lanes; ++lane) {
      const u32* row = memory.row(lane);
      for (u32 c = each.column; c < each.column + each.columns; ++c) {
        now->bits[now->index(lane, c)] = row[c];
        now->undefined[now->index(lane, c)] = memory.undefined(lane, c);
      }
    }
  }
  for (sim::OperationState& o : sim::operations_of(machine, block)) {
    if (!o.cells.written.empty() || !o.cells.read.empty()) now->operations.push_back(std::move(o));
  }
  add_writers(*now, machine, *b);
  return now;
}

}  // namespace tilescope
