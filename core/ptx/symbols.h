// What a name of a module means where several files are linked (PTX ISA 11.6): what its own file
// defines; or else, where that only declares it or defines it .weak, what another file shows.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/error.h"
#include "core/ptx/module.h"

namespace tilescope::ptx {

class Symbols {
 public:
  explicit Symbols(const Module& module);

  // In the file `part`. Null: it declares no such name. What nobody defines is its declaration.
  const Function* function(std::string_view name, std::uint32_t part) const;
  const Variable* variable(std::string_view name, std::uint32_t part) const;

 private:
  template <class Symbol>
  struct Table {
    using Names = std::unordered_map<std::string_view, const Symbol*>;
    std::vector<Names> own;  // of each file
    Names shown;             // to all: the .visible one, else the first .weak one

    void add(const Symbol& symbol, std::size_t parts);
    const Symbol* find(std::string_view name, std::uint32_t part) const;
  };
  Table<Function> functions_;
  Table<Variable> variables_;
};

// What could not be linked: two files define a name, or give a variable different sizes.
std::optional<Error> conflict(const Module& module);

}  // namespace tilescope::ptx
