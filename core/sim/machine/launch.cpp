// Fitting a job to a program: what the launch may be, where memory lies, what the arguments are.
// A job that does not fit is refused before anything runs, naming both sides.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/ptx/symbols.h"
#include "core/ptx/written.h"
#include "core/run/fit_launch.h"
#include "core/run/modules.h"
#include "core/sim/async/map_bits.h"
#include "core/sim/checks/unread.h"
#include "core/sim/machine/machine.h"
#include "core/sim/machine/model.h"
#include "core/sim/machine/spin_loop.h"

namespace tilescope::sim {
namespace {

// Buffers lie far above everything else, each with at least a megabyte between it and the next, so
// that an address past an end is nearest to the buffer that it came from. cudaMalloc promises 256
// bytes of alignment.
constexpr std::uint64_t buffers_base = 0x0000'7f00'0000'0000;
constexpr std::uint64_t buffer_gap = std::uint64_t{1} << 20;

// Blocks of a cluster: 8 everywhere, 16 where a kernel allows what is not portable (CUDA C++
// Programming Guide, "Thread Block Clusters").
constexpr std::uint64_t most_cluster = 16;
constexpr std::uint64_t most_local = std::uint64_t{8} << 30;  // of all resident CTAs

bool refuse(Error& error, ErrorKind kind, std::string sentence, std::string where) {
  error = {kind, std::move(sentence), std::move(where)};
  return false;
}

// Of a variable, or of a function, as the file of `in` names it. Functions that this entry cannot
// call get addresses all the same, behind those that it can.
std::optional<std::uint64_t> address_of(const ptx::Program& program, const ptx::Symbols& symbols,
                                        std::string_view symbol, const ptx::Variable& in) {
  if (const ptx::Variable* v = symbols.variable(symbol, in.part)) {
    for (const ptx::Placed& placed : program.variables) {
      if (placed.variable.name == symbol && placed.variable.part == v->part) return placed.address;
    }
  }
  const ptx::Function* const function = symbols.function(symbol, in.part);
  if (!function) return {};
  for (std::size_t r = 0; r < program.routines.size(); ++r) {
    if (program.routines[r].function == function) {
      return ptx::functions_base + r * ptx::function_step;
    }
  }
  const auto number = static_cast<std::size_t>(function - program.module->functions.data());
  return ptx::functions_base + (program.routines.size() + number) * ptx::function_step;
}

std::string about(const Buffer& b) {
  std::string out(name_of(b.dtype));
  for (std::size_t i = 0; i < b.shape.size(); ++i) {
    out += fmt::format("{}{}", i ? "x" : " ", b.shape[i]);
  }
  return out;
}

// A kernel that sets its registers (setmaxnreg) has, at its start, as many as it may.
std::string wrong_registers(const ptx::Program& p, const Launch& launch) {
  const std::uint64_t each = registers_at_entry(p), warps = (launch.block.count() + 31) / 32;
  const bool sets = std::any_of(p.code.begin(), p.code.end(),
                                [](const auto& i) { return i.op == ptx::Op::setmaxnreg; });
  if (!sets || warps * 32 * each <= registers_of_processor) return "";
  return fmt::format(
      "{} starts with {} registers a thread, {} for {} threads: an SM has {}; fewer threads, or a "
      "smaller .maxnreg",
      p.entry.name, each, warps * 32 * each, launch.block.count(), registers_of_processor);
}

// The tiles of a buffer of which each is to be one block's.
bool watch_tiles(const Buffer& b, Region& r, Error& error) {
  const bool fits =
      b.tile.size() == b.shape.size() &&
      std::all_of(b.tile.begin(), b.tile.end(), [](auto extent) { return extent > 0; });
  if (!fits) {
    return refuse(error, ErrorKind::mismatch,
                  fmt::format("buffer {} ({}) has tiles of {}: a tile needs an extent above 0 in "
                              "each dimension of the buffer",
                              b.name, about(b), shape_text(b.tile)),
                  "");
  }
  Tiles tiles;
  tiles.element = bytes_of(b.dtype);
  tiles.shape.assign(b.shape.begin(), b.shape.end());
  tiles.tile.assign(b.tile.begin(), b.tile.end());
  r.watch_tiles(std::move(tiles));
  return true;
}

bool check_launch(const Model& machine, Error& error) {
  const ptx::Program& p = machine.program();
  const std::string where = p.module->place(p.entry.line);
  const auto no = [&](std::string sentence) {
    return refuse(error, ErrorKind::mismatch, std::move(sentence), where);
  };
  if (const std::string wrong = wrong_registers(p, machine.launch); !wrong.empty())
    return no(wrong);
  if (const std::optional<Error> wrong = misfit(p.entry, machine.launch, where)) {
    error = *wrong;
    return false;
  }
  if (machine.launch.grid.count() > most_blocks) {
    return no(fmt::format("a grid of {} is too large to simulate: at most {} CTAs",
                          text(machine.launch.grid), most_blocks));
  }
  if (machine.cluster_size > most_cluster) {
    return no(
        fmt::format("{} launches clusters of {}, which are {} CTAs: the chip allows {} at most",
                    machine.kernel, text(machine.cluster), machine.cluster_size, most_cluster));
  }
  if (machine.launch.grid.x % machine.cluster.x || machine.launch.grid.y % machine.cluster.y ||
      machine.launch.grid.z % machine.cluster.z) {
    return no(fmt::format("a grid of {} is no multiple of clusters of {}",
                          text(machine.launch.grid), text(machine.cluster)));
  }
  const std::uint64_t shared = std::uint64_t{p.shared_bytes} + machine.launch.dynamic_shared;
  if (shared > machine.options.shared_limit) {
    return no(
        fmt::format("{} with {} bytes of static and {} of dynamic shared memory needs more than "
                    "the {} that a CTA can have",
                    machine.kernel, p.shared_bytes, machine.launch.dynamic_shared,
                    machine.options.shared_limit));
  }
  const std::uint64_t warps = (machine.launch.block.count() + 31) / 32;
  // As many CTAs are resident as there are SMs, at least.
  const std::uint64_t together =
      std::min<std::uint64_t>(machine.launch.grid.count(), machine.options.processors);
  const double each = static_cast<double>(p.local_bytes) +
                      (p.recursive || p.allocates ? machine.options.stack_bytes : 0);
  const double local = each * 32 * static_cast<double>(warps) * static_cast<double>(together);
  if (local > static_cast<double>(most_local)) {
    return no(
        fmt::format("{} has {:.0f} bytes of local memory for a thread, which is {:.3g} GiB for "
                    "{} CTAs of {} threads at once: up to {} GiB work",
                    machine.kernel, each, local / (1 << 30), together, machine.launch.block.count(),
                    most_local >> 30));
  }
  for (const Hold& h : machine.options.holds) {
    if (h.block < machine.launch.grid.count() && h.warp < warps) continue;
    return refuse(
        error, ErrorKind::usage,
        fmt::format(
            "--schedule {}.{}@{}: {} runs in {} CTA(s) of {} warp(s), and both count from 0",
            h.block, h.warp, h.at, machine.kernel, machine.launch.grid.count(), warps),
        where);
  }
  if (p.code.size() > most_instructions) {
    return no(fmt::format("{} has more than {} instructions", machine.kernel, most_instructions));
  }
  return true;
}

bool place_arguments(Model& machine, const std::vector<Argument>& arguments, Error& error) {
  const ptx::Function& entry = machine.program().entry;
  const std::string where = machine.program().module->place(entry.line);
  if (const std::optional<Error> wrong = misfit(entry, arguments, machine.shells.size(), where)) {
    error = *wrong;
    return false;
  }
  std::vector<std::byte> bytes(entry.parameter_bytes);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const ptx::Parameter& p = entry.parameters[i];
    Argument a = arguments[i];
    for (const Argument::Address& at : a.addresses) {
      const std::uint64_t address = machine.regions[machine.first_buffer + at.buffer].base() +
                                    static_cast<std::uint64_t>(at.offset);
      std::memcpy(a.bytes.data() + at.at, &address, sizeof address);
    }
    for (const Argument::Map& m : a.maps) {
      const Outcome<MapFields> map =
          complete(m.map, machine.shells[m.map.buffer],
                   machine.regions[machine.first_buffer + m.map.buffer].base());
      if (!map.ok()) return refuse(error, map.error().kind, map.error().sentence, where);
      const MapBits bits = encode(*map);
      std::memcpy(a.bytes.data() + m.at, bits.data(), bits.size());
    }
    for (const Argument::Handle& h : a.handles) {
      const Region& over = machine.regions[machine.first_buffer + h.texture.buffer];
      if (const auto wrong = objection(h.texture, over.size())) {
        return refuse(error, ErrorKind::mismatch,
                      fmt::format("A {} over buffer {} is not possible: {}.",
                                  h.texture.surface ? "surface" : "texture",
                                  machine.shells[h.texture.buffer].name, *wrong),
                      where);
      }
      const std::uint64_t handle = texture_base + texture_step * machine.textures.size();
      machine.textures.push_back(h.texture);
      std::memcpy(a.bytes.data() + h.at, &handle, sizeof handle);
    }
    if (!a.bytes.empty()) std::memcpy(bytes.data() + p.offset, a.bytes.data(), a.bytes.size());
  }
  Region parameters(Region::Kind::parameters, "parameters", ptx::parameters_base, std::move(bytes));
  parameters.read_only = true;
  machine.regions[0] = std::move(parameters);
  return true;
}

// Module variables with their initial values; what is not said is zero (PTX ISA 5.4.4).
bool place_variables(Model& machine, Error& error) {
  const ptx::Symbols symbols(*machine.program().module);
  for (const ptx::Placed& placed : machine.program().variables) {
    const ptx::Variable& v = placed.variable;
    const std::string where = machine.program().module->place(v.line);
    if (v.linkage == ptx::Linkage::external) {
      return refuse(error, ErrorKind::unsupported,
                    fmt::format("the variable {} is only declared here (.extern): run the file "
                                "that defines it together with this one, `tilescope run {} "
                                "OTHER.ptx --launch F.toml`",
                                v.name, machine.program().module->part_of(v.line).name),
                    where);
    }
    std::vector<std::byte> bytes(v.bytes);
    const auto width = static_cast<std::size_t>(ptx::bytes_of(v.type));
    for (std::size_t i = 0; i < v.initial.size(); ++i) {
      std::uint64_t value = v.initial[i].bits;
      if (!v.initial[i].symbol.empty()) {
        const std::optional<std::uint64_t> address =
            address_of(machine.program(), symbols, v.initial[i].symbol, v);
        if (!address) {
          return refuse(error, ErrorKind::unsupported,
                        fmt::format("{} is initialised with the address of {}, which is neither a "
                                    "variable nor a function",
                                    v.name, v.initial[i].symbol),
                        where);
        }
        value += *address;
      }
      std::memcpy(bytes.data() + i * width, &value, std::min(width, sizeof value));
    }
    Region r(Region::Kind::variable, std::string(v.name), placed.address, std::move(bytes));
    r.read_only = v.space == ptx::Space::constant;
    r.remember_writers(machine.program().smallest_store);
    machine.regions.push_back(std::move(r));
  }
  return true;
}

bool place_memory(Model& machine, std::vector<Buffer> buffers, Error& error) {
  machine.regions.clear();
  machine.regions.emplace_back();  // the parameters, when the addresses of the buffers are known
  if (!place_variables(machine, error)) return false;
  machine.first_buffer = machine.regions.size();
  // Where all of them will be, for buffers that hold addresses of others.
  std::vector<std::uint64_t> bases;
  std::uint64_t base = buffers_base;
  for (const Buffer& b : buffers) {
    bases.push_back(base);
    const std::uint64_t bytes = static_cast<std::uint64_t>(b.elements()) * bytes_of(b.dtype);
    base = (base + bytes + 2 * buffer_gap - 1) / buffer_gap * buffer_gap;
  }
  for (Buffer& b : buffers) {
    const auto wanted = static_cast<std::uint64_t>(b.elements()) * bytes_of(b.dtype);
    if (b.undefined && b.bytes.empty()) b.bytes.resize(wanted);
    if (b.bytes.size() != wanted) {
      return refuse(error, ErrorKind::mismatch,
                    fmt::format("buffer {} ({}) should have {} bytes, but has {}", b.name, about(b),
                                wanted, b.bytes.size()),
                    "");
    }
    for (const Buffer::Pointer& pointer : b.pointers) {
      const std::uint64_t to = bases[pointer.buffer] + static_cast<std::uint64_t>(pointer.offset);
      std::memcpy(b.bytes.data() + pointer.at, &to, sizeof to);
    }
    Region r(Region::Kind::buffer, b.name, bases[machine.regions.size() - machine.first_buffer],
             std::move(b.bytes));
    r.about = about(b);
    if (b.undefined) r.make_undefined();
    r.remember_writers(machine.program().smallest_store);
    if (!b.tile.empty() && !watch_tiles(b, r, error)) return false;
    machine.regions.push_back(std::move(r));
    b.bytes.clear();
    machine.shells.push_back(std::move(b));
  }
  return true;
}

void begin_log(Model& machine) {
  machine.order_log.emplace();
  const ptx::Program& program = machine.program();
  for (std::uint32_t pc = 0; pc < program.code.size(); ++pc) {
    if (!SpinLoop::may_be_one(program, pc)) continue;
    machine.order_log->may_wait.resize(program.code.size());
    machine.order_log->may_wait[pc] = true;
  }
}

// Whose accesses are followed: of what the program may write.
void watch_written(Model& machine, const std::vector<Argument>& arguments) {
  if (!machine.options.races) return;
  const ptx::WrittenMemory written = ptx::written_memory(machine.program());
  const Region& parameters = machine.regions[0];
  const auto watch_at = [&](std::uint64_t address) {
    if (Region* r = machine.region_of(address)) r->watched = true;
  };
  const auto watch_pointer = [&](std::uint64_t at) {
    std::uint64_t address = 0;
    if (at + sizeof address > parameters.size()) return;
    std::memcpy(&address, parameters.data() + at, sizeof address);
    watch_at(address);
  };
  for (const std::uint64_t at : written.parameters) watch_pointer(at);
  for (const std::uint64_t address : written.addresses) watch_at(address);
  for (std::uint64_t at = 0; written.by_any_parameter && at < parameters.size(); at += 8) {
    watch_pointer(at);
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const ptx::Parameter& p = machine.program().entry.parameters[i];
    const bool is_used =
        written.by_any_map || std::any_of(written.maps.begin(), written.maps.end(), [&](auto at) {
          return at >= p.offset && at < p.offset + p.bytes;
        });
    for (const Argument::Map& m : arguments[i].maps) {
      if (is_used) machine.regions[machine.first_buffer + m.map.buffer].watched = true;
    }
  }
  for (Region& r : machine.regions) {
    r.watched = (r.watched || written.anywhere) && !r.read_only;
  }
  machine.regions[0].watched = false;  // the parameters
}

}  // namespace

Outcome<Machine> Machine::load(Job job, Options options) {
  Outcome<ptx::Module> module = module_of(std::move(job.program));
  if (!module.ok()) return module.error();
  auto shared = std::make_shared<const ptx::Module>(std::move(*module));
  Outcome<const ptx::Function*> entry = shared->entry(job.launch.entry);
  if (!entry.ok()) return entry.error();
  Outcome<ptx::Program> program = ptx::decode(shared, **entry);
  if (!program.ok()) return program.error();
  // PTX for sm_80 that the driver compiles for an H100 finds its shared memory where one for sm_90
  // does (measured).
  if (options.capability >= 90) program->shared_start = ptx::system_shared;
  auto model = std::make_unique<Model>();
  Model& m = *model;
  m.cluster = cluster_of(program->entry, job.launch);
  m.cluster_size = static_cast<std::uint32_t>(m.cluster.count());
  std::vector<Bound> bound;
  for (std::uint32_t rank = 0; rank < std::min<std::uint64_t>(m.cluster_size, most_cluster);
       ++rank) {
    Outcome<Bound> one =
        bind(*program, options.plain_handlers, (rank << ptx::rank_shift) + program->shared_start);
    if (!one.ok()) return one.error();
    bound.push_back(std::move(*one));
  }
  m.image = std::make_shared<const Grid::Image>(
      Grid::Image{std::move(*program), std::move(bound), std::move(job.barriers)});
  m.kernel = std::string(m.program().entry.name);
  m.launch = job.launch;
  m.options = options;
  m.draws = Draws(options.schedule);
  m.recording.begin(options.recorder);
  Error error;
  if (!check_launch(m, error) || !place_memory(m, std::move(job.buffers), error) ||
      !place_arguments(m, job.arguments, error)) {
    return error;
  }
  if (options.clocked && options.times.known()) m.scheduler.start_clock();
  m.recording.begin_record();
  m.dispatcher.begin();
  m.global_watch.begin();
  watch_written(m, job.arguments);
  if (options.logs_order) begin_log(m);
  m.unread_waits = unread_waits(m.program());
  return Machine(std::move(model));
}

}  // namespace tilescope::sim
