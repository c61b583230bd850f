// What names mean in an entry: registers, labels, variables and where they lie, parameters,
// special registers.
#include <fmt/format.h>

#include <algorithm>
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

// Static shared memory is packed in order of declaration; dynamic shared memory follows it.
bool Decoder::place(const Variable& variable, Names& names) {
  Meaning meaning{Meaning::Kind::memory, 0, 0, variable.space, false};
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
      placed.address = align_up(program_.local_bytes, variable.align);
      if (placed.address + variable.bytes > (1u << 19)) {
        return refuse(variable.line, fmt::format("{} makes more than 512 KiB of local memory for "
                                                 "a thread, which no GPU has",
                                                 variable.name));
      }
      program_.local_bytes = static_cast<std::uint32_t>(placed.address + variable.bytes);
      program_.local.push_back(placed);
      break;
    case Space::global:
    case Space::constant: {
      constexpr std::uint64_t gap = 4096;
      placed.address = program_.variables.empty()
                           ? variables_base
                           : align_up(program_.variables.back().address +
                                          program_.variables.back().variable.bytes + gap,
                                      gap);
      if (variable.bytes > (std::uint64_t{1} << 32)) {
        return refuse(variable.line, fmt::format("{} is larger than 4 GiB", variable.name));
      }
      program_.variables.push_back(placed);
      break;
    }
    default:
      return refuse(variable.line,
                    fmt::format("the variable {} lies in .{}, which is not supported "
                                "in an entry",
                                variable.name, ptx::name_of(variable.space)));
  }
  meaning.address = placed.address;
  names[variable.name] = meaning;
  return true;
}

void Decoder::move_to(std::uint64_t dynamic, Meaning& meaning) {
  if (meaning.dynamic) meaning.address = dynamic;
}

bool Decoder::declare_variables() {
  std::unordered_set<std::string_view> mentioned;
  for (const Statement& s : body_.statements) mention(s.operands, mentioned);
  for (const Variable& variable : program_.module->variables) {
    // Shared memory that other entries use costs this one nothing.
    if (variable.space == Space::shared && !mentioned.count(variable.name)) continue;
    if (!place(variable, module_names_)) return false;
  }
  for (const Parameter& parameter : program_.entry.parameters) {
    module_names_[parameter.name] = {Meaning::Kind::memory, 0, parameter.offset, Space::param,
                                     false};
  }
  scope_names_.resize(body_.scopes.size());
  for (std::size_t i = 0; i < body_.scopes.size(); ++i) {
    for (std::uint32_t v : body_.scopes[i].variables) {
      if (!place(body_.variables[v], scope_names_[i])) return false;
    }
  }
  const std::uint64_t dynamic = align_up(program_.shared_bytes, program_.dynamic_shared_align);
  for (Placed& p : program_.shared) {
    if (p.variable.bytes == 0) p.address = dynamic;
  }
  for (auto& [name, meaning] : module_names_) move_to(dynamic, meaning);
  for (Names& names : scope_names_) {
    for (auto& [name, meaning] : names) move_to(dynamic, meaning);
  }
  return true;
}

void Decoder::declare_registers() {
  program_.registers.resize(body_.register_count);
  ranges_.resize(body_.scopes.size());
  for (std::size_t i = 0; i < body_.scopes.size(); ++i) {
    for (const Registers& declared : body_.scopes[i].registers) {
      for (std::uint32_t k = 0; k < declared.count; ++k) {
        program_.registers[declared.first + k] = {
            declared.name, declared.numbered ? static_cast<std::int32_t>(k) : -1, declared.type,
            no_register};
      }
      if (declared.numbered) {
        ranges_[i][declared.name] = &declared;
      } else {
        scope_names_[i][declared.name] = {Meaning::Kind::reg, declared.first, 0, Space::reg, false};
      }
    }
  }
}

// Labels name the instruction that follows; at the end of a body that is an implied `ret`.
bool Decoder::declare_labels() {
  std::uint32_t pc = 0;
  for (const Statement& s : body_.statements) {
    if (s.kind == Statement::Kind::instruction) {
      ++pc;
      continue;
    }
    Meaning& meaning = scope_names_[s.scope][s.text];
    if (meaning.kind != Meaning::Kind::nothing) {
      return refuse(s.line, fmt::format("{} is declared twice in the same braces", s.text));
    }
    meaning = {Meaning::Kind::label, pc, 0, Space::generic, false};
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
  const auto range = ranges_[scope].find(name.substr(0, cut));
  if (range == ranges_[scope].end() || number >= range->second->count) return {};
  return {Meaning::Kind::reg, range->second->first + number, 0, Space::reg, false};
}

Decoder::Meaning Decoder::look_up(std::string_view name, std::uint32_t scope) const {
  for (auto s = static_cast<std::int32_t>(scope); s >= 0;
       s = body_.scopes[static_cast<std::size_t>(s)].parent) {
    const Names& names = scope_names_[static_cast<std::size_t>(s)];
    if (const auto found = names.find(name); found != names.end()) return found->second;
    const Meaning reg = numbered(name, static_cast<std::uint32_t>(s));
    if (reg.kind != Meaning::Kind::nothing) return reg;
  }
  if (const auto found = module_names_.find(name); found != module_names_.end()) {
    return found->second;
  }
  for (const SpecialRow& row : special_rows) {
    if (row.name == name) {
      return {Meaning::Kind::special, static_cast<std::uint32_t>(row.special), 0, Space::reg,
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

}  // namespace tilescope::ptx
