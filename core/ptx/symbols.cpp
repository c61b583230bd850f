#include "core/ptx/symbols.h"

#include <fmt/format.h>

namespace tilescope::ptx {
namespace {

bool is_defined(const Function& f) {
  return f.body_line != 0;
}
bool is_defined(const Variable& v) {
  return v.linkage != Linkage::external;
}

template <class Symbol>
bool is_shown(const Symbol& symbol) {
  return is_defined(symbol) && symbol.linkage != Linkage::internal;
}

// Two that define the same name for all.
template <class Symbol>
std::optional<Error> defined_twice(const Module& module, const std::vector<Symbol>& symbols) {
  std::unordered_map<std::string_view, const Symbol*> strong;
  for (const Symbol& symbol : symbols) {
    if (!is_shown(symbol) || symbol.linkage == Linkage::weak) continue;
    const auto [first, fresh] = strong.try_emplace(symbol.name, &symbol);
    if (fresh || first->second->part == symbol.part) continue;
    return Error{ErrorKind::mismatch,
                 fmt::format("{} is defined here and at {}: of files that run together one may "
                             "define a name, and the others declare it .extern. What a file keeps "
                             "to itself has no .visible before it",
                             symbol.name, module.place(first->second->line)),
                 module.place(symbol.line)};
  }
  return {};
}

}  // namespace

template <class Symbol>
void Symbols::Table<Symbol>::add(const Symbol& symbol, std::size_t parts) {
  own.resize(parts);
  // A definition counts more than a declaration before it.
  const Symbol*& here = own[symbol.part][symbol.name];
  if (!here || is_defined(symbol)) here = &symbol;
  if (!is_shown(symbol)) return;
  const Symbol*& best = shown[symbol.name];
  if (!best || (best->linkage == Linkage::weak && symbol.linkage != Linkage::weak)) best = &symbol;
}

template <class Symbol>
const Symbol* Symbols::Table<Symbol>::find(std::string_view name, std::uint32_t part) const {
  if (part >= own.size()) return nullptr;
  const auto here = own[part].find(name);
  if (here == own[part].end()) return nullptr;
  const Symbol& mine = *here->second;
  if (is_defined(mine) && mine.linkage != Linkage::weak) return &mine;
  const auto elsewhere = shown.find(name);
  return elsewhere == shown.end() ? &mine : elsewhere->second;
}

Symbols::Symbols(const Module& module) {
  for (const Function& f : module.functions) functions_.add(f, module.parts.size());
  for (const Variable& v : module.variables) variables_.add(v, module.parts.size());
  // Of an alias the file has a declaration, which says whom it is shown to.
  for (const Alias& alias : module.aliases) {
    const Function* const declared = functions_.find(alias.name, alias.part);
    const Function* const of = functions_.find(alias.of, alias.part);
    if (!of) continue;
    functions_.own[alias.part][alias.name] = of;
    if (declared && declared->linkage != Linkage::internal) functions_.shown[alias.name] = of;
  }
}

const Function* Symbols::function(std::string_view name, std::uint32_t part) const {
  return functions_.find(name, part);
}

const Variable* Symbols::variable(std::string_view name, std::uint32_t part) const {
  return variables_.find(name, part);
}

std::optional<Error> conflict(const Module& module) {
  if (module.parts.size() == 1) return {};
  if (auto error = defined_twice(module, module.functions)) return error;
  if (auto error = defined_twice(module, module.variables)) return error;
  const Symbols symbols(module);
  for (const Variable& v : module.variables) {
    const Variable& meant = *symbols.variable(v.name, v.part);
    // An array whose size another file knows has none here (5.4.2), nor has dynamic shared memory.
    if (v.bytes == 0 || meant.bytes == 0) continue;
    if (v.bytes == meant.bytes && v.space == meant.space) continue;
    return Error{ErrorKind::mismatch,
                 fmt::format("{} is declared with {} bytes in .{}, and has {} bytes in .{} at {}",
                             v.name, v.bytes, name_of(v.space), meant.bytes, name_of(meant.space),
                             module.place(meant.line)),
                 module.place(v.line)};
  }
  return {};
}

}  // namespace tilescope::ptx
