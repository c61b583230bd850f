// What a device is asked to run, and what it answers: the types that the simulator and the GPU
// share, so that the same program, launch and arguments go to either.
//
// A Job is complete: PTX text, launch, buffers with their contents, arguments. A Device turns it
// into an Execution, which is advanced in steps of the caller's size: no thread, no callback.
// Cancelling is not calling again; progress is a pair of counters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/numeric/dtype.h"
#include "core/run/barrier_names.h"
#include "core/run/tensor_map.h"
#include "core/run/texture.h"
#include "core/run/warp_set.h"

namespace tilescope {

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  std::uint64_t count() const { return std::uint64_t{x} * y * z; }
  bool operator==(const Dim3&) const = default;
};

// PTX text and where it came from.
struct Program {
  std::string name;  // the file's name or the catalog's name of the kernel, for messages
  std::string ptx;
  std::vector<Program> linked{};  // other files that define what this one only declares
};

struct Launch {
  std::string entry;  // exact, or a unique part of it; empty where the PTX has one entry
  Dim3 grid, block;
  std::optional<Dim3> cluster;       // nothing: what the PTX asks for, or 1
  std::uint32_t dynamic_shared = 0;  // bytes
  // Its blocks may wait for each other (CUDA Driver API, cuLaunchCooperativeKernel): all are there
  // at once, and grid.sync() finds where they meet. In a plain launch it traps.
  bool cooperative = false;
};

// A tensor in global memory: dense, row-major (the last index moves fastest), little-endian.
struct Buffer {
  std::string name;
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;
  bool undefined = false;  // poison: reading a byte that the kernel has not written is reported
  // Of an output: what one block computes of it. Each such tile is then to be written, and by one
  // block alone. Empty: nothing is said of who writes what.
  std::vector<std::int64_t> tile{};
  // Elements that are addresses of buffers of the same job, written before the kernel begins.
  struct Pointer {
    std::uint64_t at = 0;      // byte of this buffer; it has 8 from there
    std::uint32_t buffer = 0;  // index into Job::buffers
    std::int64_t offset = 0;   // bytes added to the buffer's address
  };
  std::vector<Pointer> pointers{};
  // Where it has to be: a multiple of 256, as in the run that it was captured from. 0: anywhere.
  std::uint64_t address = 0;
  // Stretches of bytes [begin, end) that nobody has written; with `undefined`, all of them.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> unwritten{};
  std::int64_t elements() const;
};

// What a .global or .const variable of the program holds before the kernel begins, in place of its
// initial value.
struct VariableContents {
  std::string name;
  std::vector<std::byte> bytes;  // as many as the variable has
};

// "(256, 512)", "(7,)", "()": as Python writes a tuple, and .npy files their shape.
std::string shape_text(const std::vector<std::int64_t>& shape);

// One kernel parameter: its bytes, and the places in it that get the address of a buffer, a tensor
// map over one, or the handle of a texture or surface.
struct Argument {
  struct Address {
    std::uint32_t at = 0;      // byte offset inside the parameter
    std::uint32_t buffer = 0;  // index into Job::buffers
    std::int64_t offset = 0;   // bytes added to the buffer's address
  };
  struct Map {
    std::uint32_t at = 0;  // byte offset inside the parameter
    TensorMap map;
  };
  struct Handle {
    std::uint32_t at = 0;  // byte offset inside the parameter
    Texture texture;
  };
  std::vector<std::byte> bytes;
  std::vector<Address> addresses;
  std::vector<Map> maps;
  std::vector<Handle> handles{};

  static Argument pointer(std::uint32_t buffer, std::int64_t offset = 0);
  static Argument tensor_map(TensorMap map, std::uint32_t bytes = map_bytes);
  static Argument handle(const Texture& texture);
  static Argument i32(std::int32_t value);
  static Argument u64(std::uint64_t value);
};

// All buffers of a job together; what asks for more is refused before anything is allocated.
inline constexpr std::uint64_t largest_job_bytes = std::uint64_t{4} << 30;

struct Job {
  Program program;
  Launch launch;
  std::vector<Buffer> buffers;
  std::vector<Argument> arguments;
  BarrierNames barriers{};  // what sentences call its mbarriers
  std::vector<VariableContents> variables{};
  std::uint64_t variables_at = 0;  // where they begin; 0: where those of one module do
};

// Where something happened. Lines are 1-based; 0 is unknown. `source` is the CUDA file named by
// the PTX's .loc, a path inside the repository for our own kernels.
struct Site {
  std::string kernel;
  std::string source;
  std::uint32_t source_line = 0;
  // Where a function of another file was called, in the kernel's own file: inlined, or by a call.
  std::string caller;
  std::uint32_t caller_line = 0;
  std::uint32_t ptx_line = 0;  // of all files together
  std::string ptx_place;       // "b.ptx:12", where there are several
  Dim3 block{0, 0, 0};
  std::uint32_t warp = 0;
  std::uint32_t lane = 0;
};

// "kernels/blackwell/hgemm_v1.cu:51, through kernels/device/mbarrier.h:44 (PTX line 413)"
std::string place_text(const Site& site);
// "elementwise_add, kernels/elementwise/add.cu:42 (PTX line 118), block (3,0,0), warp 2, lane 5"
std::string text(const Site& site);

enum class Weight : std::uint8_t { note, hazard, fault };  // design: the three weights
std::string_view name_of(Weight weight);

// What a report is about, so that pictures can mark it. Its sentences say the same in words; where
// nothing but words are known, all of it is empty.
struct Evidence {
  struct Place {
    enum class Of : std::uint8_t { nothing, shared, global, tensor, mbarrier, barrier };
    Of of = Of::nothing;
    std::uint64_t block = 0;  // whose it is, x + y * grid.x + z * grid.x * grid.y; not of global
    // Bytes of shared memory; addresses; an mbarrier's first byte; a barrier's number.
    std::uint64_t begin = 0, end = 0;
    std::uint32_t lane = 0, lanes = 0, column = 0, columns = 0;  // of TMEM
  };
  // Who has a part in it.
  struct Party {
    std::string does;  // "tcgen05.mma reads"
    Place place;       // what it uses there
    // Of shared memory, where it is more than one stretch: all of them, [begin, end).
    std::vector<std::pair<std::uint64_t, std::uint64_t>> pieces = {};
    Site site = {};
    bool in_flight = false;  // an operation in flight
    double since = -1;       // when it began, as the device's clock has it; negative: not known
  };
  Place place;                 // where they meet
  std::vector<Party> parties;  // the first one: at whom it was told
  // That somebody should have waited for, in the block of `place`: its first byte.
  std::optional<std::uint32_t> mbarrier;
};

struct DeadlockCause;  // core/run/deadlock_cause.h

struct Report {
  Weight weight = Weight::fault;
  std::string kind;      // stable, for --json and tests: "out_of_bounds", "misaligned", ...
  std::string sentence;  // complete, without the site
  std::string expected, found;
  // Of two instructions that nothing orders: their kinds, "tcgen05.mma, then tcgen05.cp", where all
  // such pairs of a kernel are told together (core/run/report_groups.h). Else empty.
  std::string pair = {};
  Site site;
  std::uint64_t count = 1;  // how often at this site
  WarpSet warps = {};       // by whom; empty: only by the site's
  Evidence evidence;
  // Where nobody goes on: why. Null: it is about something else, or read from a file.
  std::shared_ptr<const DeadlockCause> deadlock = {};
};

struct Progress {
  std::uint64_t done = 0, total = 0;  // blocks
  std::uint64_t instructions = 0;     // warp instructions executed so far
};

enum class RunState : std::uint8_t {
  running,  // the budget is used up; call again
  done,     // every block has exited
  stopped,  // at a breakpoint or an event that was asked for; call again to go on
  fault,    // reports() ends with the fault; buffers are as they were at that moment
};

class Execution {
 public:
  virtual ~Execution() = default;
  // Runs for about `budget` warp instructions (a GPU: until done).
  virtual RunState advance(std::uint64_t budget) = 0;
  virtual Progress progress() const = 0;
  virtual const std::vector<Buffer>& buffers() const = 0;
  virtual const std::vector<Report>& reports() const = 0;
  // What the kernel printed so far (printf); empty where the device prints it itself.
  virtual std::string_view printed() const { return {}; }
  // Who wrote this byte of this buffer last; nothing if the kernel did not, or the device cannot
  // tell.
  virtual std::optional<Site> writer(std::size_t buffer, std::size_t byte) const = 0;
};

class Device {
 public:
  virtual ~Device() = default;
  virtual std::string_view name() const = 0;
  virtual Outcome<std::unique_ptr<Execution>> start(Job job) = 0;
};

}  // namespace tilescope
