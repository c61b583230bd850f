// The device that a CUDA program finds under `tilescope exec`: modules, memory, launches one after
// the other on the simulator, and what came of them. The wire to the program's process is elsewhere
// (app/exec_server.h): nothing here knows of it, so that a test drives it as the program would.
//
// What a call answers is what the driver would: a Result, with its number. After a fault every call
// that works on the device answers the same error, as after one on a chip (CUDA Driver API, "Error
// Handling": the context is unusable from then on).
//
// Launches run when they are made, in the order in which they are made: one of the orders that
// streams allow. Time is the chip's, as the simulator predicts it (app/exec_clock.h).
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/exec_clock.h"
#include "app/exec_endings.h"
#include "app/exec_records.h"
#include "app/exec_samples.h"
#include "app/reports.h"
#include "app/runs.h"
#include "app/terminal.h"
#include "core/error.h"
#include "core/run/job.h"
#include "core/run/texture.h"
#include "core/sim/machine/module.h"
#include "core/sim/memory/device_memory.h"
#include "core/sim/order/work_order.h"

namespace tilescope {

struct ExecOptions {
  Order order;
  bool strict = false;  // a hazard ends it, too
  Telling telling;
  bool quiet = false;              // no line for each launch
  std::optional<std::regex> only;  // kernels that are checked; all others run without
  std::uint64_t first = 0, end = ~std::uint64_t{0};  // launches that are, by their numbers
  std::string chosen;  // both as they were asked for: "--kernel add --launches 3:5"; empty: all
  std::uint64_t most_instructions = 0;  // by warps, of one launch; 0: no limit
  std::string capture;  // a folder that gets one for each checked launch; empty: none
  std::string device;   // as --device names it, for these
  std::string program = "the program";     // whose device it is
  pid_t process = 0;                       // and as which process it runs; 0: not known
  ProfileOptions profile;                  // what is recorded of checked launches
  std::shared_ptr<ExecTimeline> timeline;  // of all programs; null: none
  bool wall_time = false;                  // events tell the host's time
  std::uint64_t samples = 0;               // blocks of a launch that run; 0: all
  std::uint64_t waves = 2;                 // of CTAs of a large launch that are timed; 0: all
  bool estimates = false;                  // how long all would take is all that is asked for
  std::string failing;  // a folder that gets the first checked launch that fails; empty: none
};

class SimulatedDevice {
 public:
  using Handle = std::uint64_t;  // of a module; 0 is none

  // `terminal` lives longer.
  SimulatedDevice(ExecOptions options, Terminal& terminal);

  const DeviceDescription& description() const { return options_.order.device; }
  sim::DeviceMemory& memory() { return memory_; }
  // What every call answers from a fault on; success before.
  DriverResult failed() const { return failed_; }

  // ---- modules ----
  struct Loading {
    DriverResult result = DriverResult::success;
    Handle module = 0;
    std::string sentence;  // where it is refused: for the JIT's log, and for people
  };
  Loading load(Program program);
  DriverResult unload(Handle module);
  // Null: no such module is loaded.
  sim::Module* module(Handle handle);
  // An entry of a module as it runs here; null: it cannot be decoded, as a launch will say.
  const ptx::Program* program(Handle module, const ptx::Function& entry);
  // Why it cannot be.
  std::optional<Error> objection(sim::Module& module, const ptx::Function& entry) const;

  // ---- launches ----
  struct Request {
    Handle module = 0;
    std::string entry;  // exact
    Dim3 grid, block;
    std::optional<Dim3> cluster;
    std::uint32_t dynamic_shared = 0;
    std::vector<std::byte> parameters;
    std::uint64_t stream = 0;
    bool cooperative = false;    // its blocks may wait for each other
    std::uint64_t together = 0;  // CTAs that the chip has room for at once; 0: not known
    bool begins_early = false;   // before the launch before it has ended (griddepcontrol.wait)
  };
  DriverResult launch(const Request& request);
  // What kernels have printed since the last call.
  std::string take_printed() { return std::exchange(printed_, {}); }

  // ---- textures and surfaces: what kernels get as their handles, none of them twice ----
  std::uint64_t add_texture(const Texture& texture);
  // False: there is none, or none any more.
  bool end_texture(std::uint64_t handle);

  // ---- time ----
  ExecClock& clock() { return clock_; }
  // A copy or fill that a stream has done, which takes its time by the rate of what it goes
  // through: the device's memory, read and written, or the link to the host, whose memory is pinned
  // or not.
  enum class Way : std::uint8_t {
    fills,
    within,
    to_device,
    from_device,
    from_pageable,
    to_pageable
  };
  void did(std::uint64_t stream, Way way, std::string what, std::uint64_t bytes);

  // ---- order between streams ----
  // The server tells it of streams, events and waits.
  sim::WorkOrder& order() { return order_; }
  // A stream in which nodes of a graph go; the graph's number.
  void name_lane(std::uint64_t stream, std::int32_t graph) { lanes_[stream] = graph; }
  // A copy or fill of a stream ("a copy to the host") uses [address, address + bytes).
  void use(std::uint64_t stream, std::string what, std::uint64_t address, std::uint64_t bytes,
           bool writes);

  // Memory is allocated or given back in the turn of a stream.
  static constexpr const char *allocation = "cudaMallocAsync", *release = "cudaFreeAsync";
  void change(std::uint64_t stream, const char* what, std::uint64_t address, std::uint64_t bytes);

  // The host gets these bytes: a hazard where a kernel has made one of them of what nobody had
  // written.
  void hand_over(std::uint64_t address, std::uint64_t bytes);
  // Who has allocated a buffer: return addresses, 8 bytes each (app/cuda/callers.h).
  void note_maker(const std::string& buffer, std::string_view callers);
  // A copy, memset or release that the driver refuses, as it tells a program that looks at what it
  // answers: a hazard.
  void call_was_refused(std::string sentence, std::string expected);
  // The host was at memory that a launch or a copy may still have been at.
  struct EarlyHost {
    std::uint64_t address = 0;
    std::string work;         // "add (launch 3)"
    bool work_reads = false;  // no more than that
    bool writes = false;      // the host
    std::string where;        // in the program; empty: not known
  };
  void host_was_early(const EarlyHost& use);
  // What is unknown there (app/exec_samples.h) is now here, too.
  void copied(std::uint64_t to, std::uint64_t from) { samples_.copies(memory_, to, from); }
  // So many bytes, which take with them who made them of nothing.
  void copied(std::uint64_t to, std::uint64_t from, std::uint64_t bytes);

  // ---- what came of it ----
  struct KernelSum {
    std::uint64_t launches = 0, unchecked = 0, instructions = 0;
    double seconds = 0;          // predicted
    std::uint64_t by_waves = 0;  // launches of which some waves were timed
    double least = 0;            // and what those that were not checked take at least
    std::uint64_t faults = 0, hazards = 0, notes = 0;
    std::uint64_t blocks = 0, blocks_run = 0;
    std::uint64_t doubted = 0;  // launches that work on what is unknown
    std::uint64_t waited = 0;   // that may have waited for blocks that were left out
    std::uint64_t undone = 0;   // that wait for the host
    double here = 0;            // seconds that all of it takes on this machine: an estimate
    bool at_least = false;      // that may be more
  };
  const std::map<std::string, KernelSum, std::less<>>& kernels() const { return kernels_; }
  const std::vector<Report>& reports() const { return reports_; }
  std::uint64_t launches() const { return launches_; }
  bool faulted() const { return failed_ != DriverResult::success; }
  bool hazardous() const { return hazardous_; }
  // What the simulator cannot run, although a chip might, and nothing ran since; empty: all ran.
  const std::string& undone() const { return undone_; }
  const ExecRecords& records() const { return records_; }
  // The folder of the launch that failed first, as --capture writes it; empty: there is none.
  const std::string& failing() const { return failing_; }
  // How often each rule of the suppressions was needed.
  const std::vector<std::uint64_t>& silenced() const { return silenced_; }
  // By kernel, with every report once.
  std::string summary() const;

 private:
  // Bytes that a launch has made of what nobody had written.
  struct Undefined {
    std::uint64_t end = 0;
    std::string launch;  // "reduce (launch 3)"
    Site site;
    std::string story;  // where the values came from; empty: not known
  };
  // What is said of a launch besides its reports.
  struct Outline {
    bool checked = true;
    bool doubted = false, waits = false;  // as in KernelSum
    double seconds = 0;                   // predicted
    bool at_least_so_long = false;        // or less than it takes: not checked
    std::uint64_t waves = 0, of = 0;      // of CTAs that were timed, if not all
    std::uint64_t blocks_run = 0, instructions = 0;
    double here = 0;  // seconds, an estimate
    bool at_least = false;
    bool undone = false;  // it waits for the host
  };
  bool is_checked(const std::string& kernel) const;
  // `most`: seconds of this machine; 0: no limit.
  RunState advance(sim::Machine& machine, const std::string& what, double most,
                   std::uint64_t most_instructions);
  void capture(const std::string& folder, const CapturedLaunch& launch);
  // What a launch that is not checked takes at least: for its warps' instructions to be issued.
  double least_of(const sim::Machine& machine, const Launch& how) const;
  void tell(const std::vector<Report>& reports, const Request& request, const Outline& outline);
  std::string samples_text() const;
  // "none of them was looked at"; empty where one was, or all were to be.
  std::string unchosen_text() const;
  std::vector<Report> sifted(const std::vector<Report>& found);
  void keep(const std::vector<Report>& reports);
  // Where the buffers were made that it names.
  std::string makers_of(const Report& report) const;
  void note_made_of_nothing(const sim::Machine& machine);
  void note_undefined(std::uint64_t begin, Undefined what);
  void note_use(std::uint64_t stream, const std::string& what, std::uint64_t address,
                std::uint64_t bytes, bool writes);
  // What a work of a stream has in no order with others: a hazard. `machine`: of a launch.
  std::vector<Report> races(std::uint64_t stream, const std::string& what, std::string_view kernel,
                            sim::AccessLog accesses, const sim::Machine* machine,
                            sim::WorkOrder::Kind sort = sim::WorkOrder::Kind::other);
  // What orders the two works of a race would need, and where they are.
  void say_order(std::uint64_t stream, const sim::WorkOrder::Race& race, Report& report) const;

  ExecOptions options_;
  Terminal& terminal_;
  sim::DeviceMemory memory_;
  std::map<Handle, std::shared_ptr<sim::Module>> modules_;
  Handle next_ = 1;
  std::vector<Texture> textures_;  // all that there ever were
  DriverResult failed_ = DriverResult::success;
  bool hazardous_ = false;
  std::string printed_;
  // Stretches of memory that kernels have written with undefined values, by where they begin.
  std::map<std::uint64_t, Undefined> undefined_;
  sim::WorkOrder order_;
  ExecClock clock_;
  std::map<std::uint64_t, std::int32_t> lanes_;  // streams that are: the graph's number
  std::map<std::string, KernelSum, std::less<>> kernels_;
  std::set<std::string, std::less<>> hangs_on_undefined_;  // kernels of which one was told so
  std::vector<Report> reports_;
  std::map<std::string, std::vector<std::uint64_t>, std::less<>> makers_;  // by buffer
  std::vector<std::uint64_t> silenced_;  // by each rule of the suppressions
  std::uint64_t launches_ = 0;
  ExecRecords records_;
  ExecSamples samples_;
  ExecEstimates estimates_;
  std::string failing_;
  std::string undone_;
};

}  // namespace tilescope
