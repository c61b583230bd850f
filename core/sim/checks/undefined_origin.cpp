// Where undefined values come from, in words: in this launch, and from one to the next.
#include <fmt/format.h>

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "core/sim/checks/around.h"
#include "core/sim/checks/origin.h"
#include "core/sim/checks/story.h"
#include "core/sim/checks/undefined.h"
#include "core/sim/machine/machine.h"
#include "core/sim/machine/model.h"

namespace tilescope::sim {
namespace {

// "byte 12 of shared memory"
std::string place_of(const Model& machine, const Origin& o) {
  if (o.region == of_register) {
    const std::optional<std::uint32_t> before = came_from(o);
    const ptx::Program& program = machine.program();
    return fmt::format(
        "{}, which nobody had written{},",
        program.name_of_register(static_cast<std::uint32_t>(o.offset)),
        before ? fmt::format(" behind the {} at PTX line {}",
                             opcode_text(program.code[*before].text), program.code[*before].line)
               : "");
  }
  if (o.in_tensor_memory) {
    return fmt::format("lane {}, column {} of TMEM", o.offset >> 16, o.offset & 0xffff);
  }
  switch (o.kind) {
    case Region::Kind::shared:
      return fmt::format("byte {} of shared memory", o.offset);
    case Region::Kind::local:
      return fmt::format("byte {} of local memory", o.offset);
    default:
      return fmt::format("byte {} of {}", o.offset, machine.regions[o.region].name());
  }
}

// Who left a byte of memory undefined: in this launch, or in one before.
std::string left_text(const Model& machine, const Region& region, std::uint64_t offset) {
  if (const Writer writer = region.writer(offset)) {
    return undefined_text(machine, region, offset) + machine.reports.undefined_story(writer);
  }
  const std::shared_ptr<const std::string> before = region.undefined_by(offset);
  return before ? ", which " + *before : undefined_text(machine, region, offset);
}

}  // namespace

std::string origin_text(const Core& x) {
  const Origin& o = x.warp->origin;
  if (!o.known) return ", which may be read before it is written";
  const std::string text =
      fmt::format("; the last undefined value came from {} at PTX line {}, lane {}",
                  place_of(*x.machine, o), x.machine->program().code[o.pc].line, o.lane);
  if (!is_of_memory(o) || o.in_tensor_memory) return text;
  const Region* at = nullptr;
  if (o.kind == Region::Kind::shared) at = &x.block->shared;
  if (o.kind == Region::Kind::buffer || o.kind == Region::Kind::variable) {
    at = &x.machine->regions[o.region];
  }
  if (!at || o.offset >= at->size() || !at->is_undefined(o.offset)) return text;
  return text + left_text(*x.machine, *at, o.offset);
}

void sign_undefined(Model& machine, std::string_view as) {
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::shared_ptr<const std::string>> told;
  for (Region& r : machine.regions) {
    if (!r.undefined_bits()) continue;
    for (std::uint64_t at = 0; at < r.size(); ++at) {
      while (at < r.size() && at % 8 == 0 && r.undefined_bits()[at / 8] == 0) at += 8;
      if (at >= r.size()) break;
      const Writer writer = r.is_undefined(at) ? r.writer(at) : Writer{};
      if (!writer) continue;
      auto& text = told[{writer.block(), writer.pc()}];
      if (!text) {
        text = std::make_shared<const std::string>(fmt::format(
            "{} ({}) wrote without a value, by the {} at {}{}", as, machine.kernel,
            opcode_text(machine.program().code[writer.pc()].text),
            place_text(machine.site_of(writer)), machine.reports.undefined_story(writer)));
      }
      r.note_undefined(at, 1, text);
    }
  }
}

std::string story_of_undefined(const Machine& machine, std::size_t buffer, std::size_t byte) {
  return machine.model().reports.undefined_story(machine.buffer(buffer).writer(byte));
}

}  // namespace tilescope::sim
