// PTX that has been loaded: parsed once, each entry decoded and bound to its handlers when it is
// first launched, its variables in a DeviceMemory, where all launches find them.
//
//   Outcome<std::shared_ptr<Module>> module = Module::load({"a.ptx", text}, memory);
//   Outcome<Machine> m = Machine::load(**module, memory, launch, parameters);
//   while (m->run(1'000'000) == RunState::running) {}
//   m->give_back(memory);
//
// A memory belongs to one thread at a time, as its modules do.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/ptx/program.h"
#include "core/run/job.h"
#include "core/sim/machine/options.h"

namespace tilescope::sim {

class DeviceMemory;
struct Image;

class Module {
 public:
  // Reads the PTX, and lays out and fills its variables in `memory`, behind those of the modules
  // that are there, or at `at`, where nothing lies. What it refuses changes nothing.
  static Outcome<std::shared_ptr<Module>> load(tilescope::Program program, DeviceMemory& memory,
                                               std::uint64_t at = 0);
  // Its variables are released.
  void unload(DeviceMemory& memory);

  const ptx::Module& text() const { return *module_; }
  std::vector<std::string_view> entries() const;
  // Exact, or a unique part of the name; an empty name asks for the only one.
  Outcome<const ptx::Function*> entry(std::string_view wanted) const {
    return module_->entry(wanted);
  }
  // A .global or .const variable by its exact name, with its address; null: there is none.
  const ptx::Placed* variable(std::string_view name) const;
  const std::vector<ptx::Placed>& variables() const { return variables_; }
  std::uint64_t variables_at() const { return base_; }

  // An entry as machines with these options run it in clusters of so many CTAs, and whether in a
  // cooperative launch: made when it is first asked for.
  Outcome<std::shared_ptr<const Image>> image(const ptx::Function& entry, const Options& options,
                                              std::uint32_t cluster, bool cooperative = false);

 private:
  std::shared_ptr<const ptx::Module> module_;
  std::uint64_t base_ = 0;  // of the variables
  std::vector<ptx::Placed> variables_;
  struct Key {
    const ptx::Function* entry = nullptr;
    std::uint32_t cluster = 1;
    bool system_shared = false;  // the block's shared memory begins behind the system's
    bool plain = false;          // handlers
    bool cooperative = false;
    auto operator<=>(const Key&) const = default;
  };
  std::map<Key, std::shared_ptr<const Image>> images_;
};

}  // namespace tilescope::sim
