#include "core/sim/machine/module.h"
#include "core/sim/checks/late_reads.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/ptx/symbols.h"
#include "core/run/modules.h"
#include "core/sim/machine/model.h"
#include "core/sim/memory/device_memory.h"

namespace tilescope::sim {
namespace {

// Of a variable, or of a function, as the file of `in` names it.
std::optional<std::uint64_t> address_named(const ptx::Module& module, const ptx::Symbols& symbols,
                                           const std::vector<ptx::Placed>& variables,
                                           std::string_view symbol, const ptx::Variable& in) {
  if (const ptx::Variable* v = symbols.variable(symbol, in.part)) {
    for (const ptx::Placed& placed : variables) {
      if (placed.variable.name == symbol && placed.variable.part == v->part) return placed.address;
    }
  }
  if (const ptx::Function* const function = symbols.function(symbol, in.part)) {
    return ptx::address_of(module, *function);
  }
  return {};
}

// A variable with its initial value; what is not said is zero (PTX ISA 5.4.4).
Outcome<Region> initial(const ptx::Module& module, const ptx::Symbols& symbols,
                        const std::vector<ptx::Placed>& variables, const ptx::Placed& placed) {
  const ptx::Variable& v = placed.variable;
  std::vector<std::byte> bytes(v.bytes);
  const auto width = static_cast<std::size_t>(ptx::bytes_of(v.type));
  for (std::size_t i = 0; i < v.initial.size(); ++i) {
    std::uint64_t value = v.initial[i].bits;
    if (!v.initial[i].symbol.empty()) {
      const std::optional<std::uint64_t> address =
          address_named(module, symbols, variables, v.initial[i].symbol, v);
      if (!address) {
        return Error{ErrorKind::unsupported,
                     fmt::format("{} is initialised with the address of {}, which is neither a "
                                 "variable nor a function",
                                 v.name, v.initial[i].symbol),
                     module.place(v.line)};
      }
      value += *address;
    }
    std::memcpy(bytes.data() + i * width, &value, std::min(width, sizeof value));
  }
  Region region(Region::Kind::variable, std::string(v.name), placed.address, std::move(bytes));
  region.read_only = v.space == ptx::Space::constant;
  return region;
}

// Behind the variables that are there.
std::uint64_t free_base(const DeviceMemory& memory) {
  constexpr std::uint64_t grain = std::uint64_t{1} << 21;
  std::uint64_t base = ptx::variables_base;
  for (const Region& r : memory.regions()) {
    if (r.base() < ptx::variables_base || r.base() >= ptx::drivers_base) continue;
    base = std::max(base, (r.base() + r.size() + grain) / grain * grain);
  }
  return base;
}

}  // namespace

Outcome<std::shared_ptr<Module>> Module::load(tilescope::Program program, DeviceMemory& memory,
                                              std::uint64_t at) {
  Outcome<ptx::Module> text = module_of(std::move(program));
  if (!text.ok()) return text.error();
  auto out = std::make_shared<Module>();
  out->module_ = std::make_shared<const ptx::Module>(std::move(*text));
  out->base_ = at ? at : free_base(memory);
  Outcome<std::vector<ptx::Placed>> variables = ptx::place_variables(*out->module_, out->base_);
  if (!variables.ok()) return variables.error();
  out->variables_ = std::move(*variables);
  const ptx::Symbols symbols(*out->module_);
  std::vector<Region> regions;
  for (const ptx::Placed& placed : out->variables_) {
    Outcome<Region> region = initial(*out->module_, symbols, out->variables_, placed);
    if (!region.ok()) return region.error();
    regions.push_back(std::move(*region));
  }
  for (Region& region : regions) memory.place(std::move(region));
  return out;
}

void Module::unload(DeviceMemory& memory) {
  for (const ptx::Placed& placed : variables_) memory.release(placed.address);
  variables_.clear();
}

std::vector<std::string_view> Module::entries() const {
  std::vector<std::string_view> out;
  for (const ptx::Function& f : module_->functions) {
    if (f.entry) out.push_back(f.name);
  }
  return out;
}

const ptx::Placed* Module::variable(std::string_view name) const {
  for (const ptx::Placed& placed : variables_) {
    if (placed.variable.name == name) return &placed;
  }
  return nullptr;
}

Outcome<std::shared_ptr<const Image>> Module::image(const ptx::Function& entry,
                                                    const Options& options, std::uint32_t cluster,
                                                    bool cooperative) {
  const Key key{&entry, cluster, options.capability >= 90, options.plain_handlers, cooperative};
  std::shared_ptr<const Image>& known = images_[key];
  if (known) return known;
  Outcome<ptx::Program> program = ptx::decode(module_, entry, base_, key.cooperative);
  if (!program.ok()) return program.error();
  // PTX for sm_80 that the driver compiles for an H100 finds its shared memory where one for sm_90
  // does (measured).
  if (key.system_shared) program->shared_start = ptx::system_shared;
  std::vector<Bound> bound;
  for (std::uint32_t rank = 0; rank < cluster; ++rank) {
    Outcome<Bound> one =
        bind(*program, options.plain_handlers, (rank << ptx::rank_shift) + program->shared_start);
    if (!one.ok()) return one.error();
    bound.push_back(std::move(*one));
  }
  std::shared_ptr<const LateReads> late_reads = LateReads::of(*program);
  known = std::make_shared<const Image>(
      Image{std::move(*program), std::move(bound), std::move(late_reads)});
  return known;
}

}  // namespace tilescope::sim
