// A kernel that can be run by name, as data: what it computes on what shapes, how it is launched,
// which layouts it is written in, and what its result is compared with.
//
// The commands, the window, the tests and the benchmarks all read this; none of them knows a kernel
// by name. The entries themselves are in kernels/catalog.
//
//     Request --fit--> Fit (sizes, options, variant) --make_job--> Job      what a Device runs
//                                                               \--> reference   what it should
//                                                               give
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
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/run/job.h"
#include "core/run/suppressions.h"

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

// What a kernel takes beside sizes: {"tile", "128x256"}. As words, by name.
using Choices = std::map<std::string, std::string, std::less<>>;

struct OptionParameter {
  std::string name;                 // "a-dtype", of --a-dtype
  std::vector<std::string> values;  // what it may be; none: whatever `objection` lets pass
  std::string form;                 // how help calls the value: "TYPE"
  std::string fallback;             // where nobody says
  std::string help;
  // What is wrong with a value, a sentence.
  std::function<std::optional<std::string>(std::string_view)> objection{};
};

// `update` is an output that the kernel reads first.
enum class TensorRole : std::uint8_t { input, output, update };

struct TensorSpec {
  std::string name;  // "A", also the option --a
  TensorRole role = TensorRole::input;
  std::vector<std::int64_t Sizes::*> shape;  // row-major
  std::string help;
  std::vector<std::int64_t> tile{};  // of an output: Buffer::tile
  std::string type_option{};         // which option chooses its type: "a-dtype"
};

// One compiled form of the kernel.
struct Variant {
  std::string entry;          // its name in the PTX
  std::vector<DType> dtypes;  // of each tensor
  double rtol = 0, atol = 0;  // against the reference
  // Of a kernel that is compiled in more forms than are shipped: the PTX of this one, and what nvcc
  // makes it of. Without an image it is in that of the entry.
  std::string image{};                                         // asset path
  std::vector<std::pair<std::string, std::string>> defines{};  // {"GEMM_A", "f16"}
  Choices only_for{};  // of a kernel without variant_of: the options that choose it
};

struct CatalogEntry;

// A problem that the kernel can do, all of it known. What asks for sizes alone takes it too.
struct Fit {
  Sizes sizes;
  Choices choices{};  // of all options
  Variant variant{};
  std::vector<TensorSpec> tensors{};  // as they are here: shapes, roles, tiles
  operator const Sizes&() const { return sizes; }
};

// A layout that the kernel is written in, in the layout language with the sizes filled in.
struct NamedLayout {
  std::string name, expression, help;
};

// Asked now and then by long work: no, and it gives up.
using KeepOn = std::function<bool()>;
struct Effort {
  KeepOn keep_on{};
  unsigned threads = 1;  // at most
};

// Warps of a CTA that do the same work, in the words of core/profile: "copies in", "MMAs".
struct WarpRole {
  std::vector<std::uint32_t> warps;
  std::string does;
};

struct CatalogEntry {
  std::string name, help;  // help: one line
  std::string ptx;         // asset path: "ptx/elementwise_add.ptx"
  std::string source;      // "kernels/elementwise/elementwise_add.cu"
  std::string target;      // "sm_80": the oldest chip that it runs on
  std::string lesson;      // the lesson that explains it
  // Of a kernel whose warps have roles; those that do nothing besides are left out.
  std::vector<WarpRole> roles{};
  // Hazards that the kernel has on purpose, each with its reason.
  std::vector<Suppression> known{};

  std::vector<SizeParameter> sizes;
  std::vector<OptionParameter> options{};
  std::vector<TensorSpec> tensors;  // in the order of Job::buffers
  std::vector<Variant> variants;    // the first is the default
  // The extent that comes first in the tensors, and that they lack where it is 1 and nobody names
  // it.
  std::int64_t Sizes::*batch = nullptr;

  // Of a kernel with options: what is chosen where nobody says, as far as it depends on what was
  // said; then the variant and the tensors of a fit. The tensors are asked for twice: of the
  // options alone, where sizes are 0, what their extents are; then of all.
  std::function<void(Choices&)> usual{};
  // The options that the values of a variant's defines stand for: the inverse of variant_of.
  std::function<Choices(const std::vector<std::string>&)> choices_of{};
  std::function<Variant(const Fit&)> variant_of{};
  std::function<std::vector<TensorSpec>(const Fit&)> tensors_of{};

  // What the kernel cannot do though each size is within its limits, and each option one that it
  // has; nothing where it can.
  std::function<std::optional<std::string>(const Fit&)> objection;
  // On a chip with so many processors; the entry's name comes from the variant, the shared memory
  // from the PTX.
  std::function<Launch(const Fit&, std::int64_t processors)> launch;
  std::function<std::vector<Argument>(const Fit&)> arguments;
  std::function<std::vector<NamedLayout>(const Fit&, const Variant&)> layouts;
  // The outputs, in the order of the tensors, from the job's inputs.
  std::function<Outcome<std::vector<Buffer>>(const Job&, const Fit&, const Effort&)> reference;
};

constexpr std::int64_t usual_processors = 148;  // of a B200

// What a user asked for; all of it may be left out.
struct Request {
  std::map<std::string, std::int64_t, std::less<>> sizes;  // by parameter name
  std::map<std::string, Buffer, std::less<>> inputs;       // by tensor name; Buffer::name: the file
  Choices choices;                                         // by option name
  // Of the first tensor; of a kernel whose options choose types, of all inputs that they leave
  // open.
  std::optional<DType> dtype;
  std::uint64_t seed = 0;                      // of the inputs that are not given
  std::int64_t processors = usual_processors;  // of the chip that it is launched for
};

// All options, those that are not said as they are then.
Choices completed(const CatalogEntry& entry, Choices said);
// The fewest words that choose the same: "--a-dtype bf16 --tile 64x256". Empty: as it is anyway.
std::string shortest_words(const CatalogEntry& entry, const Choices& choices);

// What elements of a type's name are in memory: of "tf32", which only a tensor core knows, f32.
std::optional<DType> stored_as(std::string_view type);

// Whether the kernel writes it.
inline bool is_written(const TensorSpec& tensor) {
  return tensor.role != TensorRole::input;
}

// Sizes, options and types from the request, the files in it, and the entry's defaults, in this
// order.
Outcome<Fit> fit(const CatalogEntry& entry, const Request& request);

// The job, buffers in the order of the tensors: given inputs, random ones where not given (stream =
// the tensor's place, so that A and B differ), outputs undefined. How much shared memory it is
// launched with and what its mbarriers are called stands in the PTX (core/run/manifest.h).
Outcome<Job> make_job(const CatalogEntry& entry, Request request, std::string ptx);
// The same for a problem that is fitted already.
Job make_job(const CatalogEntry& entry, const Fit& fit, Request request, std::string ptx);

std::vector<std::int64_t> shape_of(const TensorSpec& tensor, const Sizes& sizes);
// "(m, n)"
std::string shape_names(const CatalogEntry& entry, const TensorSpec& tensor);

}  // namespace tilescope
