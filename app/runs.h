// A run, from what a user asked for to a job and what its outputs should be. The command line and
// the window both start here: a kernel of the catalog, or PTX with a launch file.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/compiled_files.h"
#include "core/diff/diff.h"
#include "core/error.h"
#include "core/run/catalog_entry.h"
#include "core/run/device_description.h"
#include "core/sim/machine/schedule_text.h"
#include "viz/machine/build.h"

namespace tilescope {

struct RunOptions {
  std::map<std::string, std::int64_t, std::less<>> sizes;  // "m" -> 300
  Choices choices;                                         // "tile" -> "128x256"
  std::map<std::string, std::string, std::less<>> files;   // "A" -> "A.npy"
  std::map<std::string, Buffer, std::less<>> inputs;       // "A" -> itself, in place of a file
  std::string ptx;     // another build of the kernel: a file, or one that the program carries
  std::string source;  // a CUDA file in its place, which `built` was made from
  std::shared_ptr<const Build> built;
  std::string dtype;                           // empty: from the files or the catalog
  std::uint64_t seed = 0;                      // of inputs without a file
  std::int64_t processors = usual_processors;  // of the chip that a kernel is launched for
  std::optional<Dim3> grid;                    // other blocks than the catalog launches
  KeepOn keep_on;  // asked while the kernel is compiled, where this form of it is not shipped
};

// A buffer that is looked at after the run.
struct Output {
  std::size_t buffer = 0;           // index into Job::buffers
  std::optional<std::string> file;  // where it is written
  std::optional<std::string> want;  // the file it is compared with; a catalog kernel: the reference
  Tolerance tolerance;
};

// A variable of the PTX that is looked at after the run: the file that it is compared with.
struct ExpectedVariable {
  std::string name, file;
};

struct PreparedRun {
  std::string kernel;                   // what it is called: the catalog's name or the PTX file's
  const CatalogEntry* entry = nullptr;  // null for PTX with a launch file
  Fit fit;                              // of a catalog kernel
  Job job;
  std::vector<Output> outputs;         // one for a catalog kernel
  std::shared_ptr<const Build> built;  // where its PTX was made from a CUDA file of the user's
  std::vector<std::string> made_of{};  // of a launch file: the files that are read
  std::string device{};                // that a launch file names; empty: none
  std::vector<ExpectedVariable> variables{};
  std::vector<Suppression> known{};  // of a catalog kernel (CatalogEntry::known)
};

// The PTX that the program carries for this kernel: what it is compiled for, what it is made of.
Outcome<std::string> carried_ptx(std::string_view kernel);

// Compiles RunOptions::source for this kernel. A text that does not compile is refused with what is
// wrong in it; `keep_on` as in app/compiler.h.
Outcome<std::shared_ptr<const Build>> build_for(std::string_view kernel, const RunOptions& options,
                                                const KeepOn& keep_on);
// What it is compiled with: the macros of the form that the options ask for.
Outcome<Defines> defines_for(std::string_view kernel, const RunOptions& options);

// --grid: "4", or "2,2" and "2,2,1" where blocks are counted in more than one direction.
Outcome<Dim3> grid_in(std::string_view text);

// The sizes and the variant of a kernel that the options ask for.
Outcome<Fit> fit_for(const CatalogEntry& entry, const RunOptions& options);
// What runs in place of a kernel of the catalog: its own PTX, which is compiled where the program
// does not carry it; or what --ptx or --source names, which must have an entry of that very name.
Outcome<Program> program_of(const CatalogEntry& entry, const Fit& fitted,
                            const RunOptions& options);
// Why the simulator could not run it.
std::optional<Error> not_understood(const Program& program, const std::string& entry);

// Reads the files and the kernel's PTX, and checks that everything fits together.
Outcome<PreparedRun> prepare_run(std::string_view kernel, const RunOptions& options);

// PTX files as one program: the first, and those that define what it only declares.
Outcome<Program> read_program(const std::string& ptx, const std::vector<std::string>& linked);

// The same for a PTX file and its launch file, whose relative paths are relative to it.
// Other PTX files, of the launch file's `link` and of `linked`, define what the first only
// declares.
Outcome<PreparedRun> prepare_launch(const std::string& ptx, const std::string& launch,
                                    const std::vector<std::string>& linked = {});

// What a catalog kernel's output should be; independent of the kernel and of the device.
Outcome<Buffer> expected_output(const PreparedRun& run, const Effort& effort = {});

// What an output's file says that it should be; nothing where none is named.
Outcome<std::optional<Buffer>> wanted_from_file(const PreparedRun& run, const Output& output);
// What an output is compared with: nothing, its file, or the reference of a catalog kernel.
Outcome<std::optional<Buffer>> wanted(const PreparedRun& run, const Output& output);

// How the simulator orders what may happen in any order, and how its tensor cores add
// (core/sim/machine/options.h).
struct Order {
  sim::Schedule schedule;
  bool lazy = false;
  bool first_columns = false;
  bool exact = true;
  DeviceDescription device;           // the chip that is simulated
  bool device_named = false;          // by the user; else it is one that fits the PTX
  sim::Executor* executor = nullptr;  // of sums, or null; lives longer than the run
  // Of its threads those that may run clusters (sim::Options::beside): where nobody looks on.
  std::uint32_t beside = 0;
  bool clocked = false;               // by the device's times, where it has some
  sim::Recorder* recorder = nullptr;  // of what happens, or null; lives longer than the run
  bool warm = false;                  // L2 has what an earlier run left there
  // Where only the time is asked for: the waves of blocks that are simulated (0: all), and whether
  // products are calculated and hazards looked for.
  std::uint64_t waves = 0;
  bool calculates = true;
};

// Does the run multiply matrices, so that it matters how?
bool has_products(const PreparedRun& run);
// What is taken where nobody says: as the chip adds up to 1024^3, which takes seconds; beyond that
// the faster way.
bool exact_by_default(const PreparedRun& run);

sim::Options simulator_options(const Order& order);

// The CPU simulator.
std::unique_ptr<Device> make_simulator(const Order& order = {});

}  // namespace tilescope
