#include "core/sim/checks/conflict.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/sim/checks/evidence.h"
#include "core/sim/machine/model.h"

namespace tilescope::sim {
namespace {

Site site_of(const Model& machine, std::uint32_t block, std::uint32_t thread, std::uint32_t pc) {
  return machine.site_of(Writer::of(block, thread, pc));
}

// The block of the current one's cluster with this number; null: it is of another one.
const Block* in_cluster(const Core& x, std::uint32_t number) {
  for (std::uint32_t rank = 0; rank < x.machine->cluster_size; ++rank) {
    const Block* b = x.machine->member(*x.block, rank);
    if (b && b->number == number) return b;
  }
  return nullptr;
}

std::string block_text(const Dim3& index) {
  return fmt::format("CTA ({},{},{})", index.x, index.y, index.z);
}

// Bytes that a lane accesses by an instruction, as its text says: ".v4.u32" is 16. Of others the
// word that races are kept for.
std::uint32_t bytes_accessed(std::string_view opcode) {
  constexpr std::uint32_t word = 4;
  std::uint32_t elements = 1, bits = 0;
  for (std::size_t at = opcode.find('.'); at != opcode.npos; at = opcode.find('.', at + 1)) {
    const std::string_view part = opcode.substr(at + 1, opcode.find('.', at + 1) - at - 1);
    const auto number = [](std::string_view digits) {
      std::uint32_t out = 0;
      for (const char c : digits) {
        if (c < '0' || c > '9') return 0u;
        out = out * 10 + static_cast<std::uint32_t>(c - '0');
      }
      return out;
    };
    if (part.size() < 2) continue;
    if (part[0] == 'v') elements = std::max(1u, number(part.substr(1)));
    if (std::string_view("busf").find(part[0]) != std::string_view::npos) {
      if (const std::uint32_t own = number(part.substr(1))) bits = own;
    }
  }
  const std::uint32_t bytes = elements * bits / 8;
  return bytes && (bytes & (bytes - 1)) == 0 ? std::max(bytes, word) : word;
}

// How far a scope has to reach from one home to the other.
const char* wide_enough(const Core& x, std::uint32_t other_block) {
  return in_cluster(x, other_block) ? ".cluster" : ".gpu";
}

}  // namespace

std::string_view verb_of(Shadow::Kind kind) {
  switch (kind) {
    case Shadow::Kind::read:
      return "reads";
    case Shadow::Kind::atomic:
      return "updates";
    default:
      return "writes";
  }
}

Conflict conflict_of(const Model& machine, const Observer& who, const Shadow::Touch& other,
                     std::uint64_t offset) {
  Conflict c;
  c.other = other;
  c.offset = offset;
  const Completions& completions = machine.completions;
  Agent agent = other.agent;
  std::uint32_t epoch = other.epoch;
  if (other.operation) {
    c.pending = completions.in_flight(other.operation);
    agent = completions.on(other.operation);
    epoch = completions.epoch(other.operation);
  }
  if (c.pending || epoch == Completions::never) return c;
  c.by = who.doubtful(agent, epoch);
  c.is_likely = who.may_have_seen(agent, epoch);
  return c;
}

std::string byte_text(const Core& x, const Accessed& memory, std::uint64_t offset) {
  if (memory.region) {
    const bool variable = memory.region->kind() == Region::Kind::variable;
    return fmt::format("byte {} of {} {}", offset, variable ? "the variable" : "buffer",
                       memory.region->name());
  }
  return fmt::format("byte {} of {}shared memory", offset,
                     memory.owner == x.block ? "" : fmt::format("CTA {}'s ", memory.owner->rank));
}

Evidence::Place place_of(const Accessed& memory, std::uint64_t begin, std::uint64_t end) {
  if (memory.region) {
    const std::uint64_t base = memory.region->base();
    return place_of(GlobalRange{base + begin, base + end});
  }
  return place_of(*memory.owner,
                  Range{static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)});
}

std::string place_text(const Model& machine, const Shadow::Touch& touch) {
  return place_text(site_of(machine, touch.home.block, touch.thread, touch.pc));
}

std::string who_text(const Core& x, const Shadow::Touch& touch) {
  const std::string warp = fmt::format("warp {}", touch.thread / 32);
  if (touch.home.block == x.block->number) return warp;
  if (const Block* block = in_cluster(x, touch.home.block)) {
    return fmt::format("CTA {} of the cluster", block->rank);
  }
  const Site site = site_of(*x.machine, touch.home.block, touch.thread, touch.pc);
  return fmt::format("{} of {}", warp, block_text(site.block));
}

std::string deed_text(const Core& x, const Deed& by) {
  const Site site = site_of(*x.machine, by.block, by.thread, by.pc);
  const Block* block = in_cluster(x, by.block);
  return fmt::format("the {} of warp {}{} at {}",
                     opcode_text(x.machine->program().code[by.pc].text), by.thread / 32,
                     block == x.block ? ""
                     : block          ? fmt::format(" of CTA {} of the cluster", block->rank)
                                      : " of " + block_text(site.block),
                     place_text(site));
}

const Deed& too_weak(const Doubtful& by) {
  const bool hears = by.why == Doubt::acquire_scope || by.why == Doubt::relaxed_acquire;
  return hears ? by.acquire : by.release;
}

namespace {

bool is_mbarrier(const Core& x, const Deed& by) {
  return x.machine->program().code[by.pc].op == ptx::Op::mbarrier;
}

}  // namespace

std::string weakness(const Core& x, const Doubtful& by) {
  const Deed& deed = too_weak(by);
  const std::string who = deed_text(x, deed);
  const char* const unsaid = is_mbarrier(x, deed) ? " (.cta is the default)" : "";
  switch (by.why) {
    case Doubt::release_scope:
      return fmt::format("{} has a scope that does not include who waits{}", who, unsaid);
    case Doubt::acquire_scope:
      return fmt::format("{} has a scope that does not include {}{}", who, deed_text(x, by.release),
                         unsaid);
    case Doubt::relaxed_release:
      return who + " releases nothing";
    case Doubt::relaxed_acquire:
      return who + " acquires nothing";
    default:
      return who + " passes on what was told too weakly";
  }
}

std::string remedy(const Core& x, const Doubtful& by) {
  const char* const scope = wide_enough(x, by.release.block);
  const auto rule = [&](const char* of_mbarriers) {
    return is_mbarrier(x, too_weak(by)) ? fmt::format("PTX ISA 8.5, {}", of_mbarriers)
                                        : "PTX ISA 8.5";
  };
  switch (by.why) {
    case Doubt::release_scope:
      return fmt::format(".release{} ({})", scope, rule("9.7.13.15.13"));
    case Doubt::acquire_scope:
      return fmt::format(".acquire{} ({})", scope, rule("9.7.13.15.16"));
    case Doubt::relaxed_release:
      return ".release, or a fence before it (PTX ISA 8.8)";
    case Doubt::relaxed_acquire:
      return ".acquire, or a fence behind it (PTX ISA 8.8)";
    default:
      return "a release and an acquire that include each other (PTX ISA 8.7)";
  }
}

std::string gap_text(const Core& x, const Conflict& c) {
  const Block* const home = x.machine->resident(c.other.home.block);
  if (!home) return "";
  const Done done{home, c.other.thread, c.other.pc};
  return (c.pending ? waited_text(*x.machine, done) : "") + gap_text(x, done);
}

// An access is aligned to as many bytes as it has (9.7.9.8, ld).
Evidence::Party earlier(const Core& x, const Accessed& memory, const Conflict& c,
                        std::string_view verb) {
  const Model& machine = *x.machine;
  const std::string_view name = opcode_text(machine.program().code[c.other.pc].text);
  const std::uint64_t bytes = bytes_accessed(name), begin = c.offset / bytes * bytes;
  Evidence::Party out;
  out.does = fmt::format("{} {}", name, verb);
  out.place = place_of(memory, begin, begin + bytes);
  out.site = site_of(machine, c.other.home.block, c.other.thread, c.other.pc);
  out.in_flight = c.pending;
  return out;
}

}  // namespace tilescope::sim
