// What a CUDA program asks of its device, call by call (app/cuda/wire.h), answered by a
// SimulatedDevice. One of these for each process that asks.
//
// Handles are numbers of one row: none is given out twice, so that one that is used for what it is
// not, or after its end, is refused. Work is done when it is asked for; streams and events keep the
// chip's time of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/cuda/wire.h"
#include "app/program_images.h"
#include "app/simulated_device.h"
#include "app/terminal.h"

namespace tilescope {

// CUfunction_attribute
namespace function_attribute {
enum Attribute : int {
  max_threads = 0,
  shared_size = 1,
  const_size = 2,
  local_size = 3,
  registers = 4,
  ptx_version = 5,
  binary_version = 6,
  cache_mode = 7,
  max_dynamic_shared = 8,
  shared_carveout = 9,
  cluster_must_be_set = 10,
  cluster_x = 11,
  cluster_y = 12,
  cluster_z = 13,
  larger_clusters = 14,
  cluster_scheduling = 15,
  attributes_end = 16,
};
}  // namespace function_attribute

struct CallAnswer {
  DriverResult result = DriverResult::success;
  wire::Writer out;
  int file = -1;  // goes with it; who sends it does not close it
};

// Memory that host and device share: a file of its own, mapped here.
class SharedMemory {
 public:
  struct Extent {
    std::uint64_t begin = 0, end = 0;
  };
  // Null: there is no room.
  static std::unique_ptr<SharedMemory> make(std::uint64_t address, std::uint64_t bytes);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  int file() const { return file_; }
  void set(const std::byte* from);  // all of it
  // What the host has changed goes to the device, and what the device has, to the host.
  void to_device(sim::DeviceMemory& memory) const;
  void to_host(const sim::DeviceMemory& memory) const;
  // Whole pages that the last launch wrote, or to the end of it, as addresses; no more than so
  // many.
  void put_written(const sim::DeviceMemory& memory, std::size_t most,
                   std::vector<Extent>& out) const;

 private:
  SharedMemory() = default;
  // The first pages at or behind this that somebody has touched, up to the next that nobody has.
  Extent pages_from(std::uint64_t at) const;
  int file_ = -1;
  std::byte* bytes_ = nullptr;
  std::uint64_t address_ = 0, size_ = 0;
};

class ExecCalls {
 public:
  // `program`: what sentences call it. `terminal` lives longer.
  ExecCalls(const ExecOptions& options, std::string program, Terminal& terminal);

  CallAnswer answer(wire::Call call, std::string_view operands);

  const SimulatedDevice& device() const { return device_; }
  const std::string& program() const { return program_; }
  // A connection of its process was closed while it ran: what it asked for since is not known.
  bool is_lost() const { return lost_; }

 private:
  using Handler = DriverResult (ExecCalls::*)(wire::Reader& in, CallAnswer& answer);
  struct Row {
    Handler handler = nullptr;
    bool after_faults = false;  // answered as before
  };
  static Row row_of(wire::Call call);

  // Who made it, and with whom it ends; 0: the program.
  using Context = std::uint64_t;
  struct ModuleFacts {
    Context context = 0;
    std::vector<sim::Region> variables;  // of the program's, as they were loaded: each context's
                                         // begin so
  };
  struct Function {
    SimulatedDevice::Handle module = 0;
    const ptx::Function* entry = nullptr;
    std::map<int, int> attributes;  // that were set
    std::uint32_t registers = 0;    // an estimate; 0: nobody has asked
  };
  struct Event {
    std::optional<double> time;  // nothing: not recorded
    double told = 0;             // what it says: that, or the host's (--time wall)
    bool timed = true;           // may be asked for
    Context context = 0;
  };
  struct Stream {
    bool blocking = true;  // works before and behind the default stream
    Context context = 0;
  };
  struct Physical {
    std::uint64_t bytes = 0;
    std::uint32_t handles = 0;           // CUmemAllocationHandleType, as it was asked for
    std::uint32_t uses = 1;              // of its handle
    bool mapped = false;                 // lies somewhere
    std::optional<sim::Region> waiting;  // its bytes, while nobody may access them
  };
  struct Array {
    wire::Array how;
    std::uint64_t address = 0;
    Context context = 0;
  };
  struct Mapping {
    std::uint64_t bytes = 0, memory = 0;
    std::uint32_t access = 0;  // CUmemAccess_flags
  };

  // exec_calls.cpp
  DriverResult hello(wire::Reader& in, CallAnswer& answer);
  DriverResult missing(wire::Reader& in, CallAnswer& answer);
  DriverResult lost(wire::Reader& in, CallAnswer& answer);
  DriverResult context_current(wire::Reader& in, CallAnswer& answer);
  DriverResult context_end(wire::Reader& in, CallAnswer& answer);
  DriverResult synchronize(wire::Reader& in, CallAnswer& answer);
  DriverResult printed(wire::Reader& in, CallAnswer& answer);
  DriverResult host_runs(wire::Reader& in, CallAnswer& answer);
  DriverResult host_early(wire::Reader& in, CallAnswer& answer);
  DriverResult copy_refused(wire::Reader& in, CallAnswer& answer);
  // Of rows of so many bytes one is not on the device: tells it, and is an invalid value.
  DriverResult refuse(std::string_view what, const wire::Rows& rows, std::uint64_t row_bytes);
  DriverResult launch(wire::Reader& in, CallAnswer& answer);
  DriverResult stream_create(wire::Reader& in, CallAnswer& answer);
  DriverResult stream_destroy(wire::Reader& in, CallAnswer& answer);
  DriverResult event_create(wire::Reader& in, CallAnswer& answer);
  DriverResult event_destroy(wire::Reader& in, CallAnswer& answer);
  DriverResult event_record(wire::Reader& in, CallAnswer& answer);
  DriverResult event_wait(wire::Reader& in, CallAnswer& answer);
  DriverResult event_elapsed(wire::Reader& in, CallAnswer& answer);
  DriverResult event_query(wire::Reader& in, CallAnswer& answer);

  // exec_modules.cpp
  DriverResult module_load(wire::Reader& in, CallAnswer& answer);
  DriverResult module_unload(wire::Reader& in, CallAnswer& answer);
  DriverResult link_check(wire::Reader& in, CallAnswer& answer);
  DriverResult module_function(wire::Reader& in, CallAnswer& answer);
  DriverResult module_functions(wire::Reader& in, CallAnswer& answer);
  DriverResult module_variable(wire::Reader& in, CallAnswer& answer);
  DriverResult function_get(wire::Reader& in, CallAnswer& answer);
  DriverResult function_set(wire::Reader& in, CallAnswer& answer);
  DriverResult occupancy(wire::Reader& in, CallAnswer& answer);
  DriverResult clusters(wire::Reader& in, CallAnswer& answer);

  // exec_memory.cpp
  DriverResult allocate(wire::Reader& in, CallAnswer& answer);
  DriverResult allocate_host(wire::Reader& in, CallAnswer& answer);
  DriverResult release(wire::Reader& in, CallAnswer& answer);
  DriverResult find(wire::Reader& in, CallAnswer& answer);
  DriverResult copy_in(wire::Reader& in, CallAnswer& answer);
  DriverResult copy_out(wire::Reader& in, CallAnswer& answer);
  DriverResult copy_within(wire::Reader& in, CallAnswer& answer);
  DriverResult fill(wire::Reader& in, CallAnswer& answer);
  DriverResult value_write(wire::Reader& in, CallAnswer& answer);
  DriverResult value_read(wire::Reader& in, CallAnswer& answer);
  DriverResult value_wait(wire::Reader& in, CallAnswer& answer);
  DriverResult tensor_map(wire::Reader& in, CallAnswer& answer);

  // exec_mappings.cpp
  DriverResult reserve(wire::Reader& in, CallAnswer& answer);
  DriverResult unreserve(wire::Reader& in, CallAnswer& answer);
  DriverResult physical_create(wire::Reader& in, CallAnswer& answer);
  DriverResult physical_release(wire::Reader& in, CallAnswer& answer);
  DriverResult physical_find(wire::Reader& in, CallAnswer& answer);
  DriverResult map(wire::Reader& in, CallAnswer& answer);
  DriverResult unmap(wire::Reader& in, CallAnswer& answer);
  DriverResult access_set(wire::Reader& in, CallAnswer& answer);
  DriverResult access_get(wire::Reader& in, CallAnswer& answer);
  DriverResult retain(wire::Reader& in, CallAnswer& answer);
  std::vector<std::uint64_t> mapped_in(std::uint64_t address, std::uint64_t bytes) const;
  void end_physical(std::uint64_t handle);
  void give_access(std::uint64_t address, std::uint32_t flags);

  // exec_textures.cpp
  DriverResult array_create(wire::Reader& in, CallAnswer& answer);
  DriverResult array_destroy(wire::Reader& in, CallAnswer& answer);
  DriverResult array_find(wire::Reader& in, CallAnswer& answer);
  DriverResult texture_create(wire::Reader& in, CallAnswer& answer);
  DriverResult texture_destroy(wire::Reader& in, CallAnswer& answer);
  DriverResult texture_find(wire::Reader& in, CallAnswer& answer);
  // Where its elements are, how large it is and what they are.
  DriverResult lay_out(const wire::Texture& how, Texture& out);

  // exec_devices.cpp
  DriverResult device_name(wire::Reader& in, CallAnswer& answer);
  DriverResult device_attribute(wire::Reader& in, CallAnswer& answer);
  DriverResult device_memory(wire::Reader& in, CallAnswer& answer);

  // What a driver's compiler objects to in a text that it compiles when it is loaded.
  struct Objection {
    DriverResult result = DriverResult::success;
    std::string sentence;
  };
  Objection look_at(sim::Module& module, bool all);
  ReadImages read(const std::vector<std::string_view>& images);
  // Said once; the answer.
  DriverResult is_missing(const std::string& name);
  // Out of memory, which programs are known not to look at: told once.
  DriverResult no_room(std::uint64_t bytes);
  std::uint64_t new_handle() { return next_++; }
  Function* function(std::uint64_t handle);
  // Whose a stream is: of a default stream the one that is current.
  Context context_of(std::uint64_t stream) const;
  void unload(SimulatedDevice::Handle module);
  // Static shared memory of an entry, bytes; nothing where it cannot be decoded.
  std::uint64_t shared_bytes(const Function& function);
  std::uint64_t largest_cluster(const Function& function) const;  // CTAs
  // What a driver refuses of them; empty: nothing.
  std::string wrong_cluster(const Function& function,
                            const SimulatedDevice::Request& request) const;
  // Of an entry, as core/ptx/pressure.h estimates; 0: it cannot be decoded.
  std::uint32_t registers_of(Function& function);
  // `registers`: of a thread, 0: they are no limit.
  int blocks_of_sm(const Function& function, std::uint64_t threads, std::uint64_t dynamic_shared,
                   std::uint32_t registers);
  // The stream by the handle that a program uses for it; nothing: there is none.
  std::optional<std::uint64_t> stream(std::uint64_t handle);
  // Before work on this stream: the default stream and those that block wait for each other.
  void order(std::uint64_t stream);
  // A copy or fill of a stream uses these bytes: nothing else orders them with other streams' work.
  void use(std::uint64_t stream, const char* what, const wire::Rows& rows, std::uint64_t row_bytes,
           bool writes);
  // The host has waited for all that the stream was given.
  void host_waited(std::uint64_t stream);
  void shared_to_device();
  void shared_to_host();
  // What the last launch wrote of that, where its program does not tell the host itself.
  void put_written(const Function& function, wire::Writer& out);

  SimulatedDevice device_;
  std::string program_;
  Terminal& terminal_;
  bool wall_time_ = false;
  Context context_ = 0;                      // that is current
  std::map<std::uint64_t, Context> owners_;  // of memory, by its address
  std::map<SimulatedDevice::Handle, ModuleFacts> module_facts_;
  std::uint64_t next_ = 0x1000;  // above the streams that always are
  std::map<std::uint64_t, Function> functions_;
  std::map<std::uint64_t, Stream> streams_;
  std::map<std::uint64_t, Event> events_;
  struct Value {
    std::uint64_t event = 0;  // of the order: the last write
    double time = 0;
  };
  std::map<std::uint64_t, Value> values_;  // that streams have written, by address
  std::map<std::uint64_t, std::unique_ptr<SharedMemory>> shared_;  // by address
  std::map<std::uint64_t, std::string> launched_;    // entries of those that wrote there, by number
  std::map<std::uint64_t, std::uint64_t> reserved_;  // bytes, by address
  std::map<std::uint64_t, Physical> physical_;
  std::map<std::uint64_t, Mapping> mapped_;  // by address
  std::map<std::uint64_t, Array> arrays_;
  std::map<std::uint64_t, wire::Texture> textures_;  // and surfaces, by what kernels get
  std::vector<std::string> missed_;                  // names that were told
  bool told_no_room_ = false, lost_ = false;
  int modules_ = 0, allocations_ = 0;
  std::set<std::string> refused_;  // why modules were: said once
};

}  // namespace tilescope
