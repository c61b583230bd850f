// What names mean in an entry: registers, labels, variables and where they lie, parameters,
// special registers.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "core/ptx/decode.h"

namespace tilescope::ptx {
namespace {

struct SpecialRow {
  Special special;
  std::string_view name;
  int bits;
};

constexpr SpecialRow special_rows[] = {
    {Special::tid_x, "%tid.x", 32},
    {Special::tid_y, "%tid.y", 32},
    {Special::tid_z, "%tid.z", 32},
    {Special::ntid_x, "%ntid.x", 32},
    {Special::ntid_y, "%ntid.y", 32},
    {Special::ntid_z, "%ntid.z", 32},
    {Special::ctaid_x, "%ctaid.x", 32},
    {Special::ctaid_y, "%ctaid.y", 32},
    {Special::ctaid_z, "%ctaid.z", 32},
    {Special::nctaid_x, "%nctaid.x", 32},
    {Special::nctaid_y, "%nctaid.y", 32},
    {Special::nctaid_z, "%nctaid.z", 32},
    {Special::laneid, "%laneid", 32},
    {Special::warpid, "%warpid", 32},
    {Special::nwarpid, "%nwarpid", 32},
    {Special::smid, "%smid", 32},
    {Special::nsmid, "%nsmid", 32},
    {Special::gridid, "%gridid", 64},
    {Special::warpsize, "WARP_SZ", 32},
    {Special::lanemask_eq, "%lanemask_eq", 32},
    {Special::lanemask_le, "%lanemask_le", 32},
    {Special::lanemask_lt, "%lanemask_lt", 32},
    {Special::lanemask_ge, "%lanemask_ge", 32},
    {Special::lanemask_gt, "%lanemask_gt", 32},
    {Special::dynamic_smem_size, "%dynamic_smem_size", 32},
    {Special::total_smem_size, "%total_smem_size", 32},
    {Special::aggr_smem_size, "%aggr_smem_size", 32},
    {Special::reserved_smem_offset_begin, "%reserved_smem_offset_begin", 32},
    {Special::reserved_smem_offset_end, "%reserved_smem_offset_end", 32},
    {Special::reserved_smem_offset_cap, "%reserved_smem_offset_cap", 32},
    {Special::reserved_smem_offset_0, "%reserved_smem_offset_0", 32},
    {Special::reserved_smem_offset_1, "%reserved_smem_offset_1", 32},
    {Special::clusterid_x, "%clusterid.x", 32},
    {Special::clusterid_y, "%clusterid.y", 32},
    {Special::clusterid_z, "%clusterid.z", 32},
    {Special::nclusterid_x, "%nclusterid.x", 32},
    {Special::nclusterid_y, "%nclusterid.y", 32},
    {Special::nclusterid_z, "%nclusterid.z", 32},
    {Special::cluster_ctaid_x, "%cluster_ctaid.x", 32},
    {Special::cluster_ctaid_y, "%cluster_ctaid.y", 32},
    {Special::cluster_ctaid_z, "%cluster_ctaid.z", 32},
    {Special::cluster_nctaid_x, "%cluster_nctaid.x", 32},
    {Special::cluster_nctaid_y, "%cluster_nctaid.y", 32},
    {Special::cluster_nctaid_z, "%cluster_nctaid.z", 32},
    {Special::cluster_ctarank, "%cluster_ctarank", 32},
    {Special::cluster_nctarank, "%cluster_nctarank", 32},
    {Special::current_graph_exec, "%current_graph_exec", 64},
    {Special::clock, "%clock", 32},
    {Special::clock_hi, "%clock_hi", 32},
    {Special::clock64, "%clock64", 64},
    {Special::globaltimer, "%globaltimer", 64},
    {Special::globaltimer_lo, "%globaltimer_lo", 32},
    {Special::globaltimer_hi, "%globaltimer_hi", 32},
};

constexpr bool in_order() {
  for (std::size_t i = 0; i < std::size(special_rows); ++i) {
    if (static_cast<std::size_t>(special_rows[i].special) != i) return false;
  }
  return std::size(special_rows) == static_cast<std::size_t>(Special::count_);
}
static_assert(in_order(), "the rows stand in the order of the enumeration");

std::uint64_t align_up(std::uint64_t at, std::uint64_t align) {
  return align > 1 ? (at + align - 1) / align * align : at;
}

void mention(const std::vector<Written>& operands, std::unordered_set<std::string_view>& out) {
  for (const Written& w : operands) {
    if (!w.name.empty()) out.insert(w.name);
    mention(w.elements, out);
  }
}

}  // namespace

std::string_view name_of(Special s) {
  return special_rows[static_cast<std::size_t>(s)].name;
}
int bits_of(Special s) {
  return special_rows[static_cast<std::size_t>(s)].bits;
}

// Local variables, parameters of functions, and .param variables that are passed to others.
bool Decoder::place_in_frame(const Variable& variable, Names& names) {
  Routine& r = routine();
  const std::uint64_t offset = align_up(r.frame_bytes, variable.align);
  if (offset + variable.bytes > (1u << 19)) {
    return refuse(variable.line, fmt::format("{} makes more than 512 KiB of local memory for a "
                                             "thread, which no GPU has",
                                             variable.name));
  }
  r.frame_bytes = static_cast<std::uint32_t>(offset + variable.bytes);
  Meaning meaning{Meaning::Kind::memory, r.frame, offset, variable.space, false, true};
  if (variable.space == Space::param) meaning.address += frame_parameters;
  meaning.bytes = variable.bytes;
  meaning.element = static_cast<std::uint32_t>(bits_of(variable.type) / 8);
  names[variable.name] = meaning;
  if (variable.space == Space::local) program_.local.push_back({variable, offset});
  return true;
}

namespace {

// Where the variable after those lies.
std::uint64_t behind(const std::vector<Placed>& variables, std::uint64_t base) {
  constexpr std::uint64_t gap = 4096;
  if (variables.empty()) return base;
  return align_up(variables.back().address + variables.back().variable.bytes + gap, gap);
}

std::string too_large(const Placed& placed, std::uint64_t base) {
  constexpr std::uint64_t most = std::uint64_t{4} << 30;  // of all together
  const std::uint64_t bytes = placed.variable.bytes;
  if (bytes <= most && placed.address + bytes - base <= most) return "";
  return fmt::format(
      "{} of {} bytes makes more than 4 GiB of .global and .const variables, the limit for one run",
      placed.variable.name, bytes);
}

bool is_global(const Variable& v) {
  return v.space == Space::global || v.space == Space::constant;
}

}  // namespace

std::uint64_t address_of(const Module& module, const Function& function) {
  return functions_base +
         static_cast<std::uint64_t>(&function - module.functions.data()) * function_step;
}

std::uint32_t Program::routine_at(std::uint64_t address) const {
  const std::uint64_t distance = address - functions_base;
  if (distance % function_step || distance / function_step >= module->functions.size()) return 0;
  const Function* const function = &module->functions[distance / function_step];
  std::uint32_t r = 1;
  while (r < routines.size() && routines[r].function != function) ++r;
  return r < routines.size() ? r : 0;
}

Outcome<std::vector<Placed>> place_variables(const Module& module, std::uint64_t base) {
  const Symbols symbols(module);
  std::vector<Placed> out;
  std::unordered_set<const Variable*> known;
  for (const Variable& variable : module.variables) {
    const Variable& meant = *symbols.variable(variable.name, variable.part);
    if (!is_global(meant) || meant.linkage == Linkage::external) continue;
    if (!known.insert(&meant).second) continue;
    const Placed placed{meant, behind(out, base)};
    if (std::string wrong = too_large(placed, base); !wrong.empty()) {
      return Error{ErrorKind::unsupported, std::move(wrong), module.place(meant.line)};
    }
    out.push_back(placed);
  }
  return out;
}

// Static shared memory is packed in order of declaration; dynamic shared memory follows it.
bool Decoder::place(const Variable& variable, Names& names) {
  Meaning meaning{Meaning::Kind::memory, no_register, 0, variable.space, false, false};
  meaning.element = static_cast<std::uint32_t>(bits_of(variable.type) / 8);
  Placed placed{variable, 0};
  switch (variable.space) {
    case Space::shared:
      if (variable.bytes == 0) {
        program_.wants_dynamic_shared = true;
        program_.dynamic_shared_align = std::max(program_.dynamic_shared_align, variable.align);
        program_.shared.push_back(placed);  // its address follows when the static ones are placed
        meaning.dynamic = true;
        names[variable.name] = meaning;
        return true;
      }
      placed.address = align_up(program_.shared_bytes, variable.align);
      if (placed.address + variable.bytes > (1u << 20)) {
        return refuse(variable.line, fmt::format("{} makes more than 1 MiB of shared memory, which "
                                                 "no GPU has",
                                                 variable.name));
      }
      program_.shared_bytes = static_cast<std::uint32_t>(placed.address + variable.bytes);
      program_.shared.push_back(placed);
      break;
    case Space::local:
    case Space::param:
      return place_in_frame(variable, names);
    case Space::global:
    case Space::constant: {
      placed.address = behind(program_.variables, variables_);
      if (const std::string wrong = too_large(placed, variables_); !wrong.empty()) {
        return refuse(variable.line, wrong);
      }
      program_.variables.push_back(placed);
      break;
    }
    default:
      return refuse(variable.line, fmt::format("the variable {} is in .{}, which is not supported "
                                               "in an entry",
                                               variable.name, ptx::name_of(variable.space)));
  }
  meaning.address = placed.address;
  names[variable.name] = meaning;
  return true;
}

void Decoder::place_dynamic_shared() {
  const std::uint64_t dynamic = align_up(program_.shared_bytes, program_.dynamic_shared_align);
  for (Placed& p : program_.shared) {
    if (p.variable.bytes == 0) p.address = dynamic;
  }
  const auto move = [&](Names& names) {
    for (auto& [name, meaning] : names) {
      if (meaning.dynamic) meaning.address = dynamic;
    }
  };
  for (Names& names : module_names_) move(names);
  for (FunctionNames& f : names_) {
    for (Names& names : f.scopes) move(names);
  }
}

// The functions that are reached, under the names that each file has for them.
void Decoder::declare_functions(const Symbols& symbols) {
  std::unordered_map<const Function*, std::uint32_t> routine_of;
  for (std::uint32_t r = 0; r < functions_.size(); ++r) {
    Routine& routine = program_.routines.emplace_back();
    routine.function = functions_[r].function;
    routine.name = routine.function->name;
    routine.builtin = functions_[r].builtin;
    routine_of[routine.function] = r;
  }
  for (const Function& f : program_.module->functions) {
    const auto found = routine_of.find(symbols.function(f.name, f.part));
    if (found == routine_of.end()) continue;
    module_names_[f.part][f.name] = {
        Meaning::Kind::function,
        found->second,
        address_of(*program_.module, *program_.routines[found->second].function),
        Space::generic,
        false,
        false};
  }
}

bool Decoder::declare_variables(const Symbols& symbols, const std::vector<Mentioned>& mentioned) {
  Outcome<std::vector<Placed>> globals = place_variables(*program_.module, variables_);
  if (!globals.ok()) {
    if (all_) all_->push_back(globals.error());
    error_ = globals.error();
    return false;
  }
  program_.variables = std::move(*globals);
  std::unordered_map<const Variable*, Meaning> placed;
  for (const Placed& each : program_.variables) {
    Meaning meaning{Meaning::Kind::memory, no_register, each.address,
                    each.variable.space,   false,       false};
    meaning.element = static_cast<std::uint32_t>(bits_of(each.variable.type) / 8);
    placed[symbols.variable(each.variable.name, each.variable.part)] = meaning;
  }
  for (const Variable& variable : program_.module->variables) {
    const Variable& meant = *symbols.variable(variable.name, variable.part);
    // Shared memory that other entries use costs this one nothing; what lies in another file is
    // missed only where it is wanted.
    const bool elsewhere =
        meant.linkage == Linkage::external && meant.bytes > 0;  // and not dynamic shared memory
    if ((meant.space == Space::shared || elsewhere) &&
        !mentioned[variable.part].count(variable.name)) {
      continue;
    }
    Names& names = module_names_[variable.part];
    const auto known = placed.find(&meant);
    if (known != placed.end()) {
      names[variable.name] = known->second;
      continue;
    }
    if (!place(meant, names)) return false;
    placed[&meant] = names[variable.name];
  }
  return true;
}

bool Decoder::declare_module() {
  const Symbols symbols(*program_.module);
  module_names_.resize(program_.module->parts.size());
  std::vector<Mentioned> mentioned(module_names_.size());
  for (const Reached& f : functions_) {
    for (const Statement& s : f.body.statements) {
      mention(s.operands, mentioned[f.function->part]);
    }
  }
  declare_functions(symbols);
  if (!declare_variables(symbols, mentioned)) return false;
  names_.resize(functions_.size());
  const bool allocates = std::any_of(functions_.begin(), functions_.end(), [](const Reached& f) {
    return f.builtin == Builtin::allocate || f.builtin == Builtin::release;
  });
  if (allocates && !place_drivers(heap_name, heap_bytes + heap_bytes / 8)) return false;
  const bool meets = std::any_of(mentioned.begin(), mentioned.end(), [](const auto& names) {
    return names.count("%envreg1") || names.count("%envreg2");
  });
  return !meets || place_drivers(grid_workspace_name, grid_workspace_bytes);
}

// A variable that the text does not declare (core/ptx/program.h).
bool Decoder::place_drivers(std::string_view name, std::uint64_t bytes) {
  Placed placed;
  placed.variable.name = name;
  placed.variable.space = Space::global;
  placed.variable.align = 256;
  placed.variable.bytes = bytes;
  placed.address = name == heap_name ? drivers_base : drivers_base + (heap_bytes << 1);
  program_.variables.push_back(placed);
  module_names_[0][name] = {Meaning::Kind::memory, no_register, placed.address,
                            Space::global,         false,       false};
  return true;
}

bool Decoder::declare_parameters(const std::vector<Parameter>& parameters,
                                 std::vector<Slot>& slots) {
  for (const Parameter& p : parameters) {
    Variable variable;
    variable.name = p.name;
    variable.space = Space::param;
    variable.align = p.align;
    variable.bytes = p.bytes;
    variable.line = functions_[routine_].function->line;
    if (!place_in_frame(variable, names().parameters)) return false;
    slots.push_back({routine().frame_bytes - p.bytes, p.bytes});
  }
  return true;
}

// Parameters, variables and registers of the current function.
bool Decoder::declare_function() {
  const Function& f = *functions_[routine_].function;
  Routine& r = routine();
  r.first_register = static_cast<std::uint32_t>(program_.registers.size());
  if (f.in_registers) {
    return refuse(f.line, fmt::format("{} takes its parameters in registers, which only PTX before "
                                      "2.0 did, and ptxas compiles without an ABI; in .param "
                                      "variables they would work",
                                      f.name));
  }
  if (f.entry) {
    for (const Parameter& p : f.parameters) {
      names().parameters[p.name] = {Meaning::Kind::memory, no_register, p.offset,
                                    Space::param,          false,       false};
    }
  } else {
    r.frame = r.first_register + body().register_count;
    if (!declare_parameters(f.results, r.results) ||
        !declare_parameters(f.parameters, r.parameters)) {
      return false;
    }
  }
  names().scopes.resize(body().scopes.size());
  names().ranges.resize(body().scopes.size());
  for (std::size_t i = 0; i < body().scopes.size(); ++i) {
    for (std::uint32_t v : body().scopes[i].variables) {
      if (!place(body().variables[v], names().scopes[i])) return false;
    }
  }
  declare_registers();
  if (!f.entry) program_.registers.push_back({"%frame", -1, Type::b64, no_register});
  r.carry = static_cast<std::uint32_t>(program_.registers.size());
  program_.registers.push_back({"CC.CF", -1, Type::pred, no_register});
  r.end_register = static_cast<std::uint32_t>(program_.registers.size());
  r.frame_bytes = static_cast<std::uint32_t>(align_up(r.frame_bytes, 16));
  // Some room even where nothing lies in it: else a function without variables could call itself
  // for ever.
  if (!f.entry) r.frame_bytes = std::max(r.frame_bytes, 16u);
  return true;
}

void Decoder::declare_registers() {
  const std::uint32_t base = routine().first_register;
  program_.registers.resize(base + body().register_count);
  for (std::size_t i = 0; i < body().scopes.size(); ++i) {
    for (const Registers& declared : body().scopes[i].registers) {
      const std::uint32_t first = base + declared.first;
      for (std::uint32_t k = 0; k < declared.count; ++k) {
        program_.registers[first + k] = {declared.name,
                                         declared.numbered ? static_cast<std::int32_t>(k) : -1,
                                         declared.type, no_register};
      }
      if (declared.numbered) {
        names().ranges[i][declared.name] = &declared;
      } else {
        names().scopes[i][declared.name] = {Meaning::Kind::reg, first, 0, Space::reg, false, false};
      }
    }
  }
}

// Labels name the instruction that follows; at the end of a body that is an implied `ret`.
bool Decoder::declare_labels() {
  auto pc = static_cast<std::uint32_t>(program_.code.size());
  for (const Statement& s : body().statements) {
    if (s.kind == Statement::Kind::instruction) {
      ++pc;
      continue;
    }
    Meaning& meaning = names().scopes[s.scope][s.text];
    if (meaning.kind != Meaning::Kind::nothing) {
      return refuse(s.line, fmt::format("{} is declared twice in the same braces", s.text));
    }
    meaning = {Meaning::Kind::label, pc, 0, Space::generic, false, false};
  }
  return declare_targets();
}

// Names of .branchtargets and the like; the address is the index into Body::targets.
bool Decoder::declare_targets() {
  for (std::uint32_t t = 0; t < body().targets.size(); ++t) {
    const Targets& targets = body().targets[t];
    Meaning& meaning = names().scopes[targets.scope][targets.name];
    if (meaning.kind != Meaning::Kind::nothing) {
      return refuse(targets.line,
                    fmt::format("{} is declared twice in the same braces", targets.name));
    }
    meaning = {Meaning::Kind::targets, t, 0, Space::generic, false, false};
  }
  return true;
}

// %r12 of `.reg .b32 %r<100>`
Decoder::Meaning Decoder::numbered(std::string_view name, std::uint32_t scope) const {
  std::size_t cut = name.size();
  while (cut > 0 && name[cut - 1] >= '0' && name[cut - 1] <= '9') --cut;
  if (cut == name.size() || name.size() - cut > 8) return {};
  std::uint32_t number = 0;
  for (char c : name.substr(cut)) number = number * 10 + static_cast<std::uint32_t>(c - '0');
  const auto& ranges = names().ranges[scope];
  const auto range = ranges.find(name.substr(0, cut));
  if (range == ranges.end() || number >= range->second->count) return {};
  const std::uint32_t first = program_.routines[routine_].first_register + range->second->first;
  return {Meaning::Kind::reg, first + number, 0, Space::reg, false, false};
}

Decoder::Meaning Decoder::look_up(std::string_view name, std::uint32_t scope) const {
  for (auto s = static_cast<std::int32_t>(scope); s >= 0;
       s = body().scopes[static_cast<std::size_t>(s)].parent) {
    const Names& here = names().scopes[static_cast<std::size_t>(s)];
    if (const auto found = here.find(name); found != here.end()) return found->second;
    const Meaning reg = numbered(name, static_cast<std::uint32_t>(s));
    if (reg.kind != Meaning::Kind::nothing) return reg;
  }
  const Names& parameters = names().parameters;
  if (const auto found = parameters.find(name); found != parameters.end()) return found->second;
  const Names& global = module_names_[functions_[routine_].function->part];
  if (const auto found = global.find(name); found != global.end()) return found->second;
  for (std::uint32_t half : {0u, 1u}) {
    if (name != (half ? "%envreg2" : "%envreg1")) continue;
    return {Meaning::Kind::grid_workspace, half, 0, Space::reg, false, false};
  }
  for (const SpecialRow& row : special_rows) {
    if (row.name == name) {
      return {Meaning::Kind::special,
              static_cast<std::uint32_t>(row.special),
              0,
              Space::reg,
              false,
              false};
    }
  }
  return {};
}

std::string Program::name_of_register(std::uint32_t index) const {
  const Register& r = registers[index];
  return r.number < 0 ? std::string(r.name) : fmt::format("{}{}", r.name, r.number);
}

std::string_view Program::source_file(const Instruction& i) const {
  const auto found = module->files.find(i.file);
  return i.source_line && found != module->files.end() ? found->second : std::string_view{};
}

std::string_view Program::target() const {
  return module->parts[entry.part].target;
}

std::string_view Program::caller_file(const Instruction& i) const {
  const auto found = module->files.find(i.caller_file);
  return i.caller_line && found != module->files.end() ? found->second : std::string_view{};
}

}  // namespace tilescope::ptx
