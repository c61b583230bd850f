// A kernel that is open, and what a run of it left behind.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/diff/diff.h"
#include "core/record/record.h"
#include "core/run/job.h"
#include "viz/machine/build.h"

namespace tilescope {

// `--m 300 --a A.npy` as written, names without the dashes.
using KernelOptions = std::map<std::string, std::string>;

// A kernel of the catalog, with the sizes and inputs that the options chose.
struct KernelCard {
  struct Size {
    std::string name;  // the option's name: "m"
    std::int64_t value = 0;
  };
  struct Tensor {
    std::string name;   // "A"
    std::string shape;  // "f32 (256,512)"
    std::string from;   // where its contents come from: "random, seed 0", "A.npy", "the kernel"
    // Contents, where they are known before the run and small enough to show: inputs.
    std::shared_ptr<const Buffer> values;
    std::vector<std::string> axes{};  // which sizes its extents are: "m", "k"; empty: not known
    bool output = false;
    std::vector<std::int64_t> extents{};  // row-major; empty: not known
  };
  struct OwnLayout {
    std::string name;        // "thread layout"
    std::string expression;  // in the layout language, sizes filled in
    std::string help;        // one line
  };
  std::string name, help;
  std::string source;  // "kernels/elementwise/elementwise_add.cu"
  std::string launch;  // "64 blocks of 128 threads"
  std::vector<Size> sizes;
  std::vector<Tensor> tensors;
  std::vector<OwnLayout> layouts;
  bool tensor_memory = false;  // its PTX has tcgen05 instructions
  // How it is launched; a grid of no CTA: not known.
  Dim3 grid{0, 0, 0}, block{0, 0, 0}, cluster;
  std::uint32_t shared = 0;        // bytes of dynamic shared memory
  std::string entry, target;       // in its PTX: "hgemm_v7", "sm_100a"
  std::string lesson;              // the one that explains it; empty: none does
  std::vector<std::int64_t> tile;  // of the output, what one CTA makes at a time; empty: not known
  BarrierNames barriers;
  // What its warps do, where that is said before it runs.
  struct Role {
    std::vector<std::uint32_t> warps;
    std::string does;
  };
  std::vector<Role> roles;
  // Of a kernel that is not the catalog's: its parameters in words, "D, address".
  std::vector<std::string> parameters;
  // What --source names, compiled; null without that option, and until it is compiled.
  std::shared_ptr<const Build> built;
};

struct KernelName {
  std::string name, help;
};

// How far a run is.
struct RunProgress {
  enum class State : std::uint8_t { idle, running, finished };
  State state = State::idle;
  std::uint64_t done = 0, total = 0;  // blocks; a total of 0: the inputs are being made
  std::uint64_t instructions = 0;     // warp instructions
  double seconds = 0;                 // since the first instruction
};

// What a run left behind. Immutable: views, undo steps and exports share it.
struct RunResult {
  enum class End : std::uint8_t { done, fault, cancelled };
  End end = End::done;
  KernelCard kernel;
  KernelOptions options;  // that chose it
  RunProgress progress;
  std::vector<Report> reports;  // faults, hazards, notes; a fault is the last one
  // Inputs, output, reference. For a run that did not finish: as far as it came.
  struct Matrix {
    std::string name;  // "A", "B", "C", "reference"
    std::shared_ptr<const Buffer> values;
  };
  std::vector<Matrix> matrices;
  std::size_t output = 0, reference = 0;      // which of the matrices
  std::uint64_t moment = 0;                   // the machine's position at the end
  std::shared_ptr<const sim::Record> record;  // null where nothing was recorded
  std::vector<std::string> source;            // the lines of the kernel's own file, if available
  std::optional<DiffReport> diff;  // output against reference; only where the run is done
  // The inputs that went into an element of the output: indices into `matrices`. An elementwise
  // kernel's are the elements at the same place.
  std::vector<std::size_t> elementwise_inputs;
  // Who wrote this element of the output last.
  std::function<std::optional<Site>(std::int64_t element)> writer;
};

}  // namespace tilescope
