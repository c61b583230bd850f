// A kernel that can be run by name, as data: what it computes on what shapes, how it is launched,
// which layouts it is written in, and what its result is compared with.
//
// The commands, the window, the tests and the benchmarks all read this; none of them knows a kernel
// by name. The entries themselves are in kernels/catalog.
//
//     Request --fit--> Fit (sizes, variant) --make_job--> Job      what a Device runs
//                                                      \--> reference   what it should give
//
// Everything that a request gets wrong is a mismatch or unknown, with a sentence that names both
// sides: the file and the size, or the two files.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/run/job.h"

namespace tilescope {

// The sizes of a problem, named as on the command line. A kernel uses some of them.
struct Sizes {
  std::int64_t m = 0, n = 0, k = 0, l = 0;
};

struct SizeParameter {
  std::string name;  // "m"
  std::int64_t Sizes::*member;
  std::int64_t fallback;     // where neither a file nor the user says
  std::int64_t least, most;  // both included
  std::string help;
};

enum class TensorRole : std::uint8_t { input, output };

struct TensorSpec {
  std::string name;  // "A", also the option --a
  TensorRole role = TensorRole::input;
  std::vector<std::int64_t Sizes::*> shape;  // row-major
  std::string help;
  std::vector<std::int64_t> tile{};  // of an output: Buffer::tile
};

// One compiled form of the kernel.
struct Variant {
  std::string entry;          // its name in the PTX
  std::vector<DType> dtypes;  // of each tensor
  double rtol = 0, atol = 0;  // against the reference
};

// A layout that the kernel is written in, in the layout language with the sizes filled in.
struct NamedLayout {
  std::string name, expression, help;
};

// Asked now and then by long work: no, and it gives up.
using KeepOn = std::function<bool()>;

struct CatalogEntry {
  std::string name, help;  // help: one line
  std::string ptx;         // asset path: "ptx/elementwise_add.ptx"
  std::string source;      // "kernels/elementwise/elementwise_add.cu"
  std::string target;      // "sm_80": the oldest chip that it runs on
  std::string lesson;      // the lesson that explains it

  std::vector<SizeParameter> sizes;
  std::vector<TensorSpec> tensors;  // in the order of Job::buffers
  std::vector<Variant> variants;    // the first is the default

  // What the kernel cannot do though each size is within its limits; nothing where it can.
  std::function<std::optional<std::string>(const Sizes&)> objection;
  // On a chip with so many processors; the entry's name comes from the variant, the shared memory
  // from the PTX.
  std::function<Launch(const Sizes&, std::int64_t processors)> launch;
  std::function<std::vector<Argument>(const Sizes&)> arguments;
  std::function<std::vector<NamedLayout>(const Sizes&, const Variant&)> layouts;
  // The outputs, in the order of the tensors, from the job's inputs.
  std::function<Outcome<std::vector<Buffer>>(const Job&, const KeepOn&)> reference;
};

constexpr std::int64_t usual_processors = 148;  // of a B200

// What a user asked for; all of it may be left out.
struct Request {
  std::map<std::string, std::int64_t, std::less<>> sizes;  // by parameter name
  std::map<std::string, Buffer, std::less<>> inputs;       // by tensor name; Buffer::name: the file
  std::optional<DType> dtype;                              // of the first tensor
  std::uint64_t seed = 0;                                  // of the inputs that are not given
  std::int64_t processors = usual_processors;              // of the chip that it is launched for
};

struct Fit {
  Sizes sizes;
  std::size_t variant = 0;  // index into CatalogEntry::variants
};

// Sizes and types from the request, the files in it, and the entry's defaults, in this order.
Outcome<Fit> fit(const CatalogEntry& entry, const Request& request);

// The job, buffers in the order of the tensors: given inputs, random ones where not given (stream =
// the tensor's place, so that A and B differ), outputs undefined. How much shared memory it is
// launched with and what its mbarriers are called stands in the PTX (core/run/manifest.h).
Outcome<Job> make_job(const CatalogEntry& entry, Request request, std::string ptx);

std::vector<std::int64_t> shape_of(const TensorSpec& tensor, const Sizes& sizes);
// "(m, n)"
std::string shape_names(const CatalogEntry& entry, const TensorSpec& tensor);

}  // namespace tilescope
