// Fitting a job to a program: what the launch may be, where memory lies, what the arguments are.
// A job that does not fit is refused before anything runs, naming both sides.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/ptx/written.h"
#include "core/run/fit_launch.h"
#include "core/sim/async/map_bits.h"
#include "core/sim/checks/undefined.h"
#include "core/sim/checks/unread.h"
#include "core/sim/machine/heap.h"
#include "core/sim/machine/machine.h"
#include "core/sim/machine/model.h"
#include "core/sim/machine/module.h"
#include "core/sim/machine/side_by_side.h"
#include "core/sim/machine/spin_loop.h"
#include "core/sim/memory/device_memory.h"

namespace tilescope::sim {
namespace {

constexpr std::uint64_t most_local = std::uint64_t{8} << 30;  // of all resident CTAs

bool refuse(Error& error, ErrorKind kind, std::string sentence, std::string where) {
  error = {kind, std::move(sentence), std::move(where)};
  return false;
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

// The parameters' bytes, with the addresses of buffers, tensor maps and handles in them.
Outcome<std::vector<std::byte>> parameter_bytes(Model& machine, const DeviceMemory& memory,
                                                const std::vector<std::uint64_t>& addresses,
                                                const std::vector<Argument>& arguments) {
  const ptx::Function& entry = machine.program().entry;
  const std::string where = machine.program().module->place(entry.line);
  if (std::optional<Error> wrong = misfit(entry, arguments, machine.shells.size(), where)) {
    return *wrong;
  }
  std::vector<std::byte> bytes(entry.parameter_bytes);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const ptx::Parameter& p = entry.parameters[i];
    Argument a = arguments[i];
    for (const Argument::Address& at : a.addresses) {
      const std::uint64_t address = addresses[at.buffer] + static_cast<std::uint64_t>(at.offset);
      std::memcpy(a.bytes.data() + at.at, &address, sizeof address);
    }
    for (const Argument::Map& m : a.maps) {
      const Outcome<MapFields> map =
          complete(m.map, machine.shells[m.map.buffer], addresses[m.map.buffer]);
      if (!map.ok()) return Error{map.error().kind, map.error().sentence, where};
      const MapBits bits = encode(*map);
      std::memcpy(a.bytes.data() + m.at, bits.data(), bits.size());
    }
    for (const Argument::Handle& h : a.handles) {
      const Region* const over = memory.find(addresses[h.texture.buffer]);
      if (const auto wrong = objection(h.texture, over ? over->size() : 0)) {
        return Error{ErrorKind::mismatch,
                     fmt::format("A {} over buffer {} is not possible: {}.",
                                 h.texture.surface ? "surface" : "texture",
                                 machine.shells[h.texture.buffer].name, *wrong),
                     where};
      }
      const std::uint64_t handle = texture_base + texture_step * machine.textures.size();
      machine.textures.push_back(h.texture);
      std::memcpy(a.bytes.data() + h.at, &handle, sizeof handle);
    }
    if (!a.bytes.empty()) std::memcpy(bytes.data() + p.offset, a.bytes.data(), a.bytes.size());
  }
  return bytes;
}

// A job's buffers, one after the other, and what is known of them; their addresses.
Outcome<std::vector<std::uint64_t>> place_buffers(Model& machine, DeviceMemory& memory,
                                                  std::vector<Buffer> buffers) {
  // Where all of them will be, for buffers that hold addresses of others.
  std::vector<std::uint64_t> addresses;
  std::uint64_t next = DeviceMemory::first_address;
  const auto size = [](const Buffer& b) {
    return static_cast<std::uint64_t>(b.elements()) * bytes_of(b.dtype);
  };
  for (const Buffer& b : buffers) {
    if (b.address) next = std::max(next, DeviceMemory::behind(b.address, size(b)));
  }
  for (const Buffer& b : buffers) {
    addresses.push_back(b.address ? b.address : next);
    if (!b.address) next = DeviceMemory::behind(next, size(b));
  }
  if (!std::is_sorted(addresses.begin(), addresses.end())) {
    return Error{ErrorKind::mismatch,
                 "buffers that have an address stand first, in the order of their addresses", ""};
  }
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    Buffer& b = buffers[i];
    const auto wanted = static_cast<std::uint64_t>(b.elements()) * bytes_of(b.dtype);
    if (b.undefined && b.bytes.empty()) b.bytes.resize(wanted);
    if (b.bytes.size() != wanted) {
      return Error{ErrorKind::mismatch,
                   fmt::format("buffer {} ({}) should have {} bytes, but has {}", b.name, about(b),
                               wanted, b.bytes.size()),
                   ""};
    }
    for (const Buffer::Pointer& pointer : b.pointers) {
      const std::uint64_t to =
          addresses[pointer.buffer] + static_cast<std::uint64_t>(pointer.offset);
      std::memcpy(b.bytes.data() + pointer.at, &to, sizeof to);
    }
    Region r(Region::Kind::buffer, b.name, addresses[i], std::move(b.bytes));
    r.about = about(b);
    if (b.undefined) r.make_undefined();
    for (const auto& [begin, end] : b.unwritten) r.make_undefined(begin, end - begin);
    if (!memory.place(std::move(r))) {
      return Error{ErrorKind::mismatch,
                   fmt::format("buffer {} (0x{:x} to 0x{:x}) lies where another one does", b.name,
                               addresses[i], addresses[i] + wanted),
                   ""};
    }
    b.bytes.clear();
    machine.shells.push_back(std::move(b));
  }
  return addresses;
}

// What the driver keeps for a kernel (ptx::heap_name), and variables that an entry declares inside
// its body, of which other entries know nothing.
std::optional<Error> place_others(const Model& machine, DeviceMemory& memory) {
  for (const ptx::Placed& placed : machine.program().variables) {
    const ptx::Variable& v = placed.variable;
    const std::string where = machine.program().module->place(v.line);
    if (v.linkage == ptx::Linkage::external) {
      return Error{ErrorKind::unsupported,
                   fmt::format("the variable {} is only declared here (.extern): run the file "
                               "that defines it together with this one, `tilescope run {} "
                               "OTHER.ptx --launch F.toml`",
                               v.name, machine.program().module->part_of(v.line).name),
                   where};
    }
    const Region* const there = memory.find(placed.address, v.bytes);
    if (there && there->base() == placed.address && there->name() == v.name) continue;
    Region region(Region::Kind::variable, std::string(v.name), placed.address,
                  std::vector<std::byte>(v.bytes));
    region.read_only = v.space == ptx::Space::constant;
    if (v.name == ptx::heap_name) begin_heap(region);
    if (memory.place(std::move(region))) continue;
    return Error{
        ErrorKind::unsupported,
        fmt::format("{} declares the variable {} in its body, where another kernel has one "
                    "of its own: declare it in the module",
                    machine.kernel, v.name),
        where};
  }
  return {};
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
void watch_written(Model& machine) {
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
  // By tensor maps: those among the parameters, each at a multiple of 64 bytes.
  const ptx::Function& entry = machine.program().entry;
  for (const ptx::Parameter& p : entry.parameters) {
    const bool is_used =
        written.by_any_map || std::any_of(written.maps.begin(), written.maps.end(), [&](auto at) {
          return at >= p.offset && at < p.offset + p.bytes;
        });
    for (std::uint32_t at = p.offset; is_used && at + map_bytes <= p.offset + p.bytes; at += 8) {
      MapBits bits;
      std::memcpy(bits.data(), parameters.data() + at, bits.size());
      if (const std::optional<MapFields> map = decode_map(bits)) watch_at(map->address);
    }
  }
  for (Region& r : machine.regions) {
    r.watched = (r.watched || written.anywhere) && !r.read_only;
  }
  if (machine.access_log) {
    for (Region& r : machine.regions) r.watched = true;
  }
  machine.regions[0].watched = false;  // the parameters
}

std::unique_ptr<Model> model_for(std::shared_ptr<const Image> image, const Launch& launch,
                                 const Options& options) {
  auto model = std::make_unique<Model>();
  Model& m = *model;
  m.image = std::move(image);
  m.barriers = std::make_shared<const BarrierNames>();
  m.cluster = cluster_of(m.program().entry, launch);
  m.cluster_size = static_cast<std::uint32_t>(m.cluster.count());
  m.kernel = std::string(m.program().entry.name);
  m.launch = launch;
  m.options = options;
  // Its blocks wait for each other: all are there, as a driver has found room for them, whatever
  // registers their PTX seems to need.
  if (launch.cooperative && !options.resident_blocks) {
    m.options.resident_blocks =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(launch.grid.count(), ~std::uint32_t{0}));
  }
  m.draws = Draws(options.schedule);
  m.recording.begin(options.recorder);
  return model;
}

Outcome<std::unique_ptr<Model>> model_for(Module& module, const Launch& launch,
                                          const Options& options) {
  Outcome<const ptx::Function*> entry = module.entry(launch.entry);
  if (!entry.ok()) return entry.error();
  const std::uint64_t cluster = cluster_of(**entry, launch).count();
  Outcome<std::shared_ptr<const Image>> image = module.image(
      **entry, options, static_cast<std::uint32_t>(std::min<std::uint64_t>(cluster, most_cluster)),
      launch.cooperative);
  if (!image.ok()) return image.error();
  return model_for(std::move(*image), launch, options);
}

// The machine has all that it runs on: what it needs besides.
void begin(Model& m, DeviceMemory& memory, std::vector<std::byte> parameters) {
  std::vector<Region> regions = memory.take();
  m.regions.clear();
  m.regions.reserve(regions.size() + 1);
  Region& first = m.regions.emplace_back(Region::Kind::parameters, "parameters",
                                         ptx::parameters_base, std::move(parameters));
  first.read_only = true;
  for (Region& r : regions) {
    if (r.kind() == Region::Kind::variable) m.first_buffer = m.regions.size() + 1;
    m.regions.push_back(std::move(r));
  }
  m.first_buffer = std::max<std::size_t>(m.first_buffer, 1);
  for (std::size_t i = 1; i < m.regions.size(); ++i) {
    m.regions[i].forget();
    m.regions[i].remember_writers(m.program().smallest_store);
  }
  if (m.options.clocked && m.options.times.known()) m.scheduler.start_clock();
  m.recording.begin_record();
  m.dispatcher.begin();
  m.global_watch.begin();
  if (m.options.logs_accesses && m.options.races) m.access_log.emplace();
  watch_written(m);
  if (m.options.logs_order) begin_log(m);
  constexpr std::uint64_t few = 32;
  m.blocks_meet = m.dispatcher.total() > 1 && m.dispatcher.total() <= few && may_meet(m);
  m.unread_waits = unread_waits(m.program());
  m.unread_atomics = unread_atomics(m.program());
}

}  // namespace

Outcome<Machine> Machine::load(Job job, Options options) {
  DeviceMemory memory;
  Outcome<std::shared_ptr<Module>> module =
      Module::load(std::move(job.program), memory, job.variables_at);
  if (!module.ok()) return module.error();
  for (const VariableContents& contents : job.variables) {
    const ptx::Placed* const placed = (*module)->variable(contents.name);
    if (!placed || placed->variable.bytes != contents.bytes.size()) {
      return Error{ErrorKind::mismatch,
                   placed
                       ? fmt::format("the variable {} has {} bytes, but the launch gives it {}",
                                     contents.name, placed->variable.bytes, contents.bytes.size())
                       : fmt::format("the launch gives contents to the variable {}, which the "
                                     "PTX does not define",
                                     contents.name),
                   ""};
    }
    memory.copy_in(placed->address, contents.bytes.data(), contents.bytes.size());
  }
  Outcome<std::unique_ptr<Model>> model = model_for(**module, job.launch, options);
  if (!model.ok()) return model.error();
  Model& m = **model;
  m.barriers = std::make_shared<const BarrierNames>(std::move(job.barriers));
  Error error;
  if (!check_launch(m, error)) return error;
  if (std::optional<Error> wrong = place_others(m, memory)) return *wrong;
  const Outcome<std::vector<std::uint64_t>> addresses =
      place_buffers(m, memory, std::move(job.buffers));
  if (!addresses.ok()) return addresses.error();
  Outcome<std::vector<std::byte>> parameters =
      parameter_bytes(m, memory, *addresses, job.arguments);
  if (!parameters.ok()) return parameters.error();
  begin(m, memory, std::move(*parameters));
  for (std::size_t i = 0; i < m.shells.size(); ++i) {
    if (m.shells[i].tile.empty()) continue;
    if (!watch_tiles(m.shells[i], m.regions[m.first_buffer + i], error)) return error;
  }
  return Machine(std::move(*model));
}

Outcome<Machine> Machine::load(Module& module, DeviceMemory& memory, const Launch& launch,
                               std::vector<std::byte> parameters, Options options) {
  Outcome<std::unique_ptr<Model>> model = model_for(module, launch, options);
  if (!model.ok()) return model.error();
  Model& m = **model;
  m.memory_stays = true;
  m.freed = memory.freed();
  m.outside = memory.outside();
  const ptx::Function& entry = m.program().entry;
  if (parameters.size() != entry.parameter_bytes) {
    return Error{ErrorKind::mismatch,
                 fmt::format("the parameters of {} have {} bytes, but the launch gives {}",
                             m.kernel, entry.parameter_bytes, parameters.size()),
                 m.program().module->place(entry.line)};
  }
  Error error;
  if (!check_launch(m, error)) return error;
  if (std::optional<Error> wrong = place_others(m, memory)) return *wrong;
  for (const Region& r : memory.regions()) {
    if (r.kind() != Region::Kind::buffer) continue;
    Buffer shell;
    shell.name = r.name();
    shell.dtype = DType::u8;
    shell.shape = {static_cast<std::int64_t>(r.size())};
    m.shells.push_back(std::move(shell));
  }
  begin(m, memory, std::move(parameters));
  return Machine(std::move(*model));
}

AccessLog Machine::take_accesses() {
  AccessLog out = std::move(model_->access_log).value_or(AccessLog());
  if (model_->access_log) model_->access_log.emplace();
  return out;
}

void Machine::give_back(DeviceMemory& memory, std::string_view as) {
  if (model_->reports.stored_undefined()) sign_undefined(*model_, as);
  std::vector<Region> regions = std::exchange(model_->regions, {});
  if (regions.empty()) return;
  regions.erase(regions.begin());  // the parameters
  memory.put_back(std::move(regions));
}

}  // namespace tilescope::sim
