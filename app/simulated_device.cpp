#include "app/simulated_device.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include "app/captures.h"
#include "app/cuda/wire.h"
#include "app/demangle.h"
#include "app/exec_waves.h"
#include "app/heartbeat.h"
#include "app/host_places.h"
#include "app/reports.h"
#include "core/run/fit_launch.h"
#include "core/run/report_groups.h"
#include "core/sim/machine/early.h"
#include "core/sim/machine/grid.h"
#include "core/sim/machine/machine.h"
#include "core/sim/machine/textures.h"

namespace tilescope {
namespace {

std::string time_text(double seconds) {
  if (seconds >= 1) return fmt::format("{:.3g} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.4g} ms", seconds * 1e3);
  return fmt::format("{:.4g} us", seconds * 1e6);
}

std::string count_text(std::uint64_t n, std::string_view what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : what.back() == 'h' ? "es" : "s");
}

// "1 fault, 2 hazards"; "no faults, no hazards"
std::string counts_text(std::uint64_t faults, std::uint64_t hazards, std::uint64_t notes) {
  std::string out;
  const auto add = [&](std::uint64_t n, std::string_view what) {
    if (n) out += (out.empty() ? "" : ", ") + count_text(n, what);
  };
  add(faults, "fault");
  add(hazards, "hazard");
  add(notes, "note");
  return out.empty() ? "nothing found" : out;
}

// That are run of a launch to see how long all of it takes, and no longer than so many seconds.
constexpr std::uint64_t estimated_blocks = 64;
constexpr double estimated_seconds = 3;

// That this program has computed: what others do meanwhile is not in it.
double computed() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// "12 s", "3 min", "2 h 10 min"
std::string wait_text(double seconds) {
  if (seconds < 1) return fmt::format("{:.0f} ms", seconds * 1e3);
  if (seconds < 100) return fmt::format("{:.0f} s", seconds);
  const auto minutes = static_cast<std::uint64_t>(seconds / 60 + 0.5);
  if (minutes < 60) return fmt::format("{} min", minutes);
  return fmt::format("{} h {} min", minutes / 60, minutes % 60);
}

std::string file_of_launch(const std::string& folder, std::uint64_t launch,
                           std::string_view kernel) {
  return (std::filesystem::path(folder) / launch_file_name(launch, kernel)).string();
}

struct Found {
  std::uint64_t faults = 0, hazards = 0, notes = 0;
};

Found found(const std::vector<Report>& reports) {
  Found out;
  for (const Report& r : reports) {
    ++(r.weight == Weight::fault    ? out.faults
       : r.weight == Weight::hazard ? out.hazards
                                    : out.notes);
  }
  return out;
}

std::string found_text(const std::vector<Report>& reports) {
  const Found one = found(reports);
  return counts_text(one.faults, one.hazards, one.notes);
}

// A line for each place of a kernel where something was found, however many launches found it.
std::string places_text(const std::vector<Report>& reports, bool verbose) {
  std::string out;
  for (const ReportGroup& group : groups(reports)) {
    const Report& r = reports[group.members.front()];
    if (r.weight == Weight::note && !verbose) continue;
    const std::string place = place_text(r.site), counts = text_of_counts(group);
    out += fmt::format("\n    {}{}{} {}{}{}", place, place.empty() ? "" : ": ", name_of(r.weight),
                       r.kind, counts.empty() ? "" : ", ", counts);
  }
  return out;
}

bool is_same(const Report& a, const Report& b) {
  return a.weight == b.weight && a.kind == b.kind && a.site.kernel == b.site.kernel &&
         a.site.ptx_line == b.site.ptx_line && a.pair == b.pair;
}

}  // namespace

SimulatedDevice::SimulatedDevice(ExecOptions options, Terminal& terminal)
    : options_(std::move(options)),
      terminal_(terminal),
      memory_(largest_job_bytes, wire::device_begin),
      records_(options_.profile, options_.timeline, options_.order.device, options_.program),
      samples_(options_.estimates ? estimated_blocks : options_.samples) {
  memory_.set_outside([process = options_.process, program = options_.program](std::uint64_t at) {
    return host_place(process, program, at);
  });
  options_.order.device_named = true;
  // An order of one's own has no time.
  options_.order.clocked = !options_.order.lazy && options_.order.schedule.is_usual();
}

SimulatedDevice::Loading SimulatedDevice::load(Program program) {
  if (faulted()) return {failed_, 0, ""};
  // A program that may launch early: the launch before it is to be known by then.
  const auto may = [](std::string_view ptx) {
    return ptx.find("griddepcontrol") != std::string_view::npos;
  };
  if (may(program.ptx) || std::any_of(program.linked.begin(), program.linked.end(),
                                      [&](const auto& each) { return may(each.ptx); })) {
    order_.expect_early_launches();
  }
  Outcome<std::shared_ptr<sim::Module>> module = sim::Module::load(std::move(program), memory_);
  if (!module.ok()) {
    const Error& e = module.error();
    return {DriverResult::invalid_ptx, 0,
            e.where.empty() ? e.sentence : e.where + ": " + e.sentence};
  }
  const Handle handle = next_++;
  modules_[handle] = std::move(*module);
  return {DriverResult::success, handle, ""};
}

DriverResult SimulatedDevice::unload(Handle handle) {
  const auto found = modules_.find(handle);
  if (found == modules_.end()) return DriverResult::invalid_handle;
  found->second->unload(memory_);
  modules_.erase(found);
  return DriverResult::success;
}

sim::Module* SimulatedDevice::module(Handle handle) {
  const auto found = modules_.find(handle);
  return found == modules_.end() ? nullptr : found->second.get();
}

const ptx::Program* SimulatedDevice::program(Handle handle, const ptx::Function& entry) {
  sim::Module* const of = module(handle);
  if (!of) return nullptr;
  const auto cluster = static_cast<std::uint32_t>(cluster_of(entry, {}).count());
  const auto image = of->image(entry, simulator_options(options_.order), cluster);
  return image ? &(*image)->program : nullptr;
}

std::optional<Error> SimulatedDevice::objection(sim::Module& module,
                                                const ptx::Function& entry) const {
  const auto cluster = static_cast<std::uint32_t>(cluster_of(entry, {}).count());
  const auto image = module.image(entry, simulator_options(options_.order), cluster);
  return image ? std::nullopt : std::optional(image.error());
}

std::uint64_t SimulatedDevice::add_texture(const Texture& texture) {
  textures_.push_back(texture);
  return texture_base + texture_step * (textures_.size() - 1);
}

bool SimulatedDevice::end_texture(std::uint64_t handle) {
  const Texture* const texture = sim::texture_of(textures_, handle);
  if (!texture || texture->ended) return false;
  textures_[static_cast<std::size_t>(texture - textures_.data())].ended = true;
  return true;
}

// By the name in the PTX or by the one that people read.
bool SimulatedDevice::is_checked(const std::string& kernel) const {
  if (launches_ < options_.first || launches_ >= options_.end) return false;
  return !options_.only || std::regex_search(kernel, *options_.only) ||
         std::regex_search(demangled(kernel), *options_.only);
}

RunState SimulatedDevice::advance(sim::Machine& machine, const std::string& what, double most,
                                  std::uint64_t most_instructions) {
  Pieces pieces;
  const auto begun = std::chrono::steady_clock::now();
  Heartbeat heartbeat(begun);
  for (;;) {
    const std::uint64_t before = machine.progress().instructions;
    const auto from = std::chrono::steady_clock::now();
    const std::uint64_t left = most_instructions - std::min(before, most_instructions);
    const RunState state =
        machine.run(most_instructions ? std::min(pieces.next(), left + 1) : pieces.next());
    const auto now = std::chrono::steady_clock::now();
    const Progress at = machine.progress();
    pieces.took(at.instructions - before, now - from);
    if (state != RunState::running || interrupted()) return state;
    if (most > 0 && std::chrono::duration<double>(now - begun).count() > most) return state;
    if (most_instructions && at.instructions > most_instructions) return state;
    if (const auto line = heartbeat.due(now, at)) {
      terminal_.say(fmt::format("tilescope: {}: {}", what, *line));
    }
    terminal_.progress(what, static_cast<double>(at.done) /
                                 static_cast<double>(std::max<std::uint64_t>(at.total, 1)));
  }
}

void SimulatedDevice::capture(const std::string& folder, const CapturedLaunch& launch) {
  if (const auto error = write_capture(folder, launch)) {
    terminal_.say("tilescope: " + error->sentence);
  }
}

DriverResult SimulatedDevice::launch(const Request& request) {
  if (faulted()) return failed_;
  sim::Module* const from = module(request.module);
  if (!from) return DriverResult::invalid_handle;
  Outline outline;
  outline.checked = is_checked(request.entry);
  const std::uint64_t number = launches_ + 1;
  sim::Options options = simulator_options(options_.order);
  options.races = outline.checked;
  options.clocked = options.clocked && outline.checked;
  options.logs_accesses = order_.has_streams();
  Launch how;
  how.entry = request.entry;
  how.grid = request.grid;
  how.block = request.block;
  how.cluster = request.cluster;
  how.dynamic_shared = request.dynamic_shared;
  how.cooperative = request.cooperative;
  const CapturedLaunch captured{*from,           memory_, how,       request.parameters,
                                options_.device, nullptr, &textures_};
  const Outcome<const ptx::Function*> entry = from->entry(how.entry);
  const bool fits = entry.ok() && request.parameters.size() == (*entry)->parameter_bytes;
  if (outline.checked && !options_.capture.empty() && fits) {
    capture(file_of_launch(options_.capture, number, request.entry), captured);
  }
  ExecSamples::Before known;
  if (fits && (outline.checked || options_.estimates)) {
    known = samples_.begin(captured, request.cooperative, options);
  }
  const ExecEstimates::Shape shape = ExecEstimates::shape_of(how);
  if (known.samples && options_.estimates) outline.here = estimates_.known(shape);
  const bool skips = outline.here > 0;
  // Of some blocks there is no time.
  if (known.samples && !options_.estimates) options.clocked = false;
  if (outline.checked && !skips) options.recorder = records_.begin(how);
  std::optional<sim::DeviceMemory> before;
  if (outline.checked && !options_.failing.empty() && fits) before = memory_;
  const std::string what = fmt::format("launch {}, {}", number, short_name(request.entry, 30));
  std::optional<WaveTime> timed;
  if (fits && !options_.estimates && !known.samples && !request.begins_early) {
    timed = time_of_waves(*from, captured, options, options_.waves, [&](auto& m, auto most) {
      const std::uint64_t own = options_.most_instructions;
      return advance(m, what + ", its time", 0, own ? std::min(own, most) : most);
    });
    if (interrupted()) return failed_ = DriverResult::launch_timeout;
    if (timed) options.clocked = false;
  }
  // What is kept for it costs a launch more than it does, should it do little: that is for the
  // first one of a kernel, those of one that needed it, and where it is nothing.
  constexpr std::uint64_t little = std::uint64_t{1} << 20;
  if (kernels_.count(request.entry) && !hangs_on_undefined_.count(request.entry))
    options.both_ways_bytes = little;
  const double begun = computed();
  Outcome<sim::Machine> machine =
      sim::Machine::load(*from, memory_, how, request.parameters, options);
  if (!machine.ok()) {
    const Error& e = machine.error();
    // "name:12", the name being that of the file that the PTX was made of.
    const std::string line = e.where.substr(e.where.rfind(':') + 1);
    terminal_.say(fmt::format("tilescope: {} was not launched: {}{}", request.entry, e.sentence,
                              line.empty() ? "" : " (PTX line " + line + ")"));
    const bool unsupported = e.kind == ErrorKind::unsupported;
    return unsupported ? DriverResult::not_supported : DriverResult::invalid_value;
  }
  sim::give_textures(*machine, textures_);
  if (request.begins_early) {
    order_.expect_early_launches();
    sim::tell_early(*machine);
  }
  const double loaded = computed();
  RunState state = RunState::running;
  if (!skips) {
    state = advance(*machine, what, options_.estimates ? estimated_seconds : 0,
                    options_.most_instructions);
  }
  terminal_.end_progress();
  const Progress at = machine->progress();
  outline.instructions = machine->instructions();
  if (!known.samples) outline.seconds = timed ? timed->seconds : machine->seconds();
  if (timed) outline.waves = timed->waves, outline.of = timed->all;
  if (!outline.checked && !options_.estimates && options_.order.clocked) {
    outline.seconds = least_of(*machine, how);
    outline.at_least_so_long = outline.seconds > 0;
  }
  printed_ += machine->printed();
  std::vector<Report> reports = machine->reports();
  if (std::any_of(reports.begin(), reports.end(),
                  [](const Report& r) { return r.kind == "undefined_branch"; })) {
    hangs_on_undefined_.insert(request.entry);
  }
  if (state == RunState::done) {
    std::vector<Report> between = races(
        request.stream, fmt::format("{} (launch {})", request.entry, number), request.entry,
        machine->take_accesses(), &*machine,
        request.begins_early ? sim::WorkOrder::Kind::early_launch : sim::WorkOrder::Kind::launch);
    std::move(between.begin(), between.end(), std::back_inserter(reports));
  }
  // What cannot be judged is no fault, and ends nothing.
  const bool stops = options_.estimates && state == RunState::running && !interrupted();
  std::string fault = state == RunState::fault ? reports.back().kind : "";
  // cooperative_groups.h looks whether the grid can meet.
  if (fault == "trap" && !how.cooperative &&
      reports.back().site.source.find("cooperative_groups") != std::string::npos) {
    reports.back().sentence +=
        ": where a grid meets (grid.sync()), the launch has to be a cooperative one";
    reports.back().expected = "cudaLaunchCooperativeKernel, or cudaLaunchAttributeCooperative";
  }
  if (fault == "assert") fmt::print(stderr, "{}\n", assertion_text(reports.back(), how.block));
  outline.waits = known.samples && !known.doubted && may_wait_for_others(fault);
  outline.doubted = known.doubted;
  if (outline.doubted) {
    doubt(reports, "it works on what CTAs that were left out would have written");
  } else {
    if (outline.waits) doubt({&reports.back(), 1}, "it may wait for CTAs that were left out");
    note_made_of_nothing(*machine);
  }
  known.samples = known.samples || stops;
  outline.blocks_run = known.samples ? at.done : how.grid.count();
  samples_.end(known, *machine);
  machine->give_back(memory_, fmt::format("launch {}", number));
  if (!fault.empty() && may_wait_for_host(reports.back(), machine->program(), captured)) {
    undone_ = fmt::format(
        "{} (launch {}) waits for memory that the host can write, in a loop at {}, and was ended: "
        "here the host waits until a launch is over. A chip may end it; Tilescope cannot run it.",
        request.entry, number, place_text(reports.back().site));
    reports.pop_back();
    fault.clear();
    outline.undone = true;
  }
  if (options_.estimates && !skips) {
    const double setup = loaded - begun, run = computed() - loaded;
    const auto all = static_cast<double>(how.grid.count());
    outline.at_least = at.done == 0;
    outline.here = setup + run * (at.done ? all / static_cast<double>(at.done) : 1.0);
    if (known.samples) estimates_.measured(shape, outline.here);
  }
  const double share = request.together ? static_cast<double>(how.grid.count()) /
                                              static_cast<double>(request.together)
                                        : 1;
  const double memory_share = timed ? timed->memory_share : machine->memory_share();
  ExecClock::Work work{ExecClock::Part::chip, {share, memory_share}, outline.seconds};
  if (outline.seconds > 0 && !outline.at_least_so_long && !timed) {
    work.lets_begin_after = machine->lets_begin_after();
    if (request.begins_early) work.waits_after = machine->waits_after();
  }
  const ExecClock::Span span = clock_.work(request.stream, work);
  if (state == RunState::running && !stops) {  // interrupted, or more than it may execute
    failed_ = DriverResult::launch_timeout;
    if (!interrupted()) {
      terminal_.say(
          fmt::format("tilescope: {} wanted to execute more than {} PTX instructions by "
                      "warps (--max-instructions), and was ended.",
                      request.entry, options_.most_instructions));
    }
    return failed_;
  }
  const std::vector<Report> kept = sifted(reports);
  const bool was_hazardous = hazardous_;
  tell(kept, request, outline);
  keep(kept);
  records_.work(
      request.stream, span.begin, span.end, fmt::format("launch {}: {}", number, request.entry),
      fmt::format("\"grid\":\"{}\",\"block\":\"{}\",\"found\":\"{}\"{}", text(request.grid),
                  text(request.block), outline.checked ? found_text(kept) : "not checked",
                  outline.at_least_so_long ? ",\"time\":\"at least\"" : ""));
  if (outline.checked) records_.end(request.entry, number, span.begin, span.end);
  ++launches_;
  if (!fault.empty() && !outline.doubted && !outline.waits) failed_ = result_of(fault);
  if (outline.undone) failed_ = DriverResult::launch_timeout;
  if (options_.strict && hazardous_ && !faulted()) failed_ = DriverResult::launch_failed;
  const bool fails = faulted() || (options_.strict && hazardous_ && !was_hazardous);
  if (before && fails && failing_.empty()) {
    failing_ = file_of_launch(options_.failing, number, request.entry);
    capture(failing_,
            {*from, *before, how, request.parameters, options_.device, nullptr, &textures_});
  }
  return failed_;
}

void SimulatedDevice::tell(const std::vector<Report>& reports, const Request& request,
                           const Outline& outline) {
  KernelSum& sum = kernels_[request.entry];
  const Found one = found(reports);
  const std::uint64_t blocks = request.grid.count();
  ++sum.launches;
  sum.unchecked += !outline.checked;
  sum.instructions += outline.instructions;
  (outline.at_least_so_long ? sum.least : sum.seconds) += outline.seconds;
  sum.by_waves += outline.waves > 0;
  sum.faults += one.faults;
  sum.hazards += one.hazards;
  sum.notes += one.notes;
  sum.blocks += blocks;
  sum.blocks_run += outline.blocks_run;
  sum.doubted += outline.doubted;
  sum.waited += outline.waits;
  sum.undone += outline.undone;
  sum.here += outline.here;
  sum.at_least = sum.at_least || outline.at_least;
  if (options_.quiet) return;
  std::string line = fmt::format("tilescope: launch {}: {}, grid {}, block {}", launches_ + 1,
                                 request.entry, text(request.grid), text(request.block));
  if (request.cluster) line += fmt::format(", clusters {}", text(*request.cluster));
  if (outline.seconds > 0 && !outline.at_least_so_long) {
    line +=
        fmt::format(", {}{} predicted", outline.waves ? "about " : "", time_text(outline.seconds));
    if (outline.waves) line += fmt::format(" ({} of {} waves timed)", outline.waves, outline.of);
  }
  if (options_.estimates) {
    line += fmt::format(", {} {} to simulate", outline.at_least ? "more than" : "about",
                        wait_text(outline.here));
  }
  if (outline.blocks_run < blocks) {
    line += fmt::format(", {} of {} CTAs run", outline.blocks_run, blocks);
  }
  if (outline.undone) {
    line += ", not run to its end";
  } else if (outline.doubted) {
    line += ", not judged: it needs what CTAs that were left out would have done";
  } else {
    line +=
        outline.checked ? ", " + counts_text(one.faults, one.hazards, one.notes) : ", not checked";
  }
  if (outline.at_least_so_long) line += ", at least " + time_text(outline.seconds);
  if (outline.waits) line += ", ended early: it may wait for CTAs that were left out";
  terminal_.say(line);
}

// Each mistake once, with how often it was seen in all launches.
void SimulatedDevice::keep(const std::vector<Report>& reports) {
  std::vector<Report> fresh;
  for (const Report& r : reports) {
    hazardous_ = hazardous_ || r.weight == Weight::hazard;
    const auto known = std::find_if(reports_.begin(), reports_.end(),
                                    [&](const Report& other) { return is_same(r, other); });
    if (known != reports_.end()) {
      known->count += r.count;
      continue;
    }
    fresh.push_back(r);
    fresh.back().evidence = {};
    fresh.back().found += makers_of(r);
    reports_.push_back(fresh.back());
  }
  std::vector<Report> told;
  for (Report& r : fresh) {
    if (options_.telling.verbose || r.weight != Weight::note) told.push_back(std::move(r));
  }
  if (!told.empty()) terminal_.say(text_of_reports(told, options_.telling.verbose));
}

namespace {
const char* verb(std::string_view work, bool writes) {
  if (work == SimulatedDevice::allocation) return "allocates";
  if (work == SimulatedDevice::release) return "gives back";
  return writes ? "writes" : "reads";
}
}  // namespace

std::vector<Report> SimulatedDevice::races(std::uint64_t stream, const std::string& what,
                                           std::string_view kernel, sim::AccessLog accesses,
                                           const sim::Machine* machine, sim::WorkOrder::Kind sort) {
  std::vector<Report> out;
  for (const sim::WorkOrder::Race& race : order_.add(stream, what, std::move(accesses), sort)) {
    const std::uint64_t at = race.meeting.at;
    Report r;
    r.weight = Weight::hazard;
    r.kind = "stream_race";
    std::string place = fmt::format("0x{:x}", at);
    std::size_t index = 0;
    // While a machine runs it has the memory.
    for (const Buffer& shell : machine ? machine->shells() : std::vector<Buffer>()) {
      const sim::Region& region = machine->buffer(index++);
      const std::uint64_t offset = at - region.base();
      if (offset >= region.size()) continue;
      place = fmt::format("byte {} of buffer {}", offset, shell.name);
      if (race.meeting.writes) {
        if (const auto site = machine->writer(index - 1, offset)) r.site = *site;
      }
    }
    if (const sim::Region* region = machine ? nullptr : memory_.find(at)) {
      place = fmt::format("byte {} of buffer {}", at - region->base(), region->name());
    }
    r.site.kernel = kernel;
    r.sentence = fmt::format(
        "{} {} {}{}, and {} {} it, and nothing orders the two: {}", what,
        verb(what, race.meeting.writes), place,
        race.early ? " before it has executed griddepcontrol.wait" : "", race.earlier.name,
        verb(race.earlier.name, race.meeting.other_writes),
        race.early ? "it may begin before that one has ended" : "neither waits for the other");
    say_order(stream, race, r);
    // However often a loop launches them.
    const auto kind = [](std::string_view name) { return name.substr(0, name.find(" (")); };
    r.pair = fmt::format("{}, then {}", kind(race.earlier.name), kind(what));
    out.push_back(std::move(r));
  }
  return out;
}

void SimulatedDevice::say_order(std::uint64_t stream, const sim::WorkOrder::Race& race,
                                Report& report) const {
  const auto lane = lanes_.find(stream), other = lanes_.find(race.earlier.stream);
  const auto name = [&](std::uint64_t of, const auto& at) {
    if (at != lanes_.end()) return fmt::format("graph {}", at->second);
    if (of == 0) return std::string("the default stream");
    if (!wire::is_thread_stream(of)) return fmt::format("stream {}", of);
    return fmt::format("the default stream of thread {}", of - wire::first_thread_stream + 1);
  };
  if (race.early) {
    report.expected =
        "griddepcontrol.wait (cudaGridDependencySynchronize) before the first access to what the "
        "launch before it uses";
    report.found =
        "programmatic stream serialization, and the first launch lets dependents begin "
        "(griddepcontrol.launch_dependents)";
  } else if (lane != lanes_.end() && other != lanes_.end() && lane->second == other->second) {
    report.expected = "an edge of the graph that leads from one to the other";
    report.found = "nodes of one graph without one, either could be first";
  } else {
    report.expected =
        "one stream for both, an event that the later one waits for, or a host that waits";
    report.found = fmt::format("{} and {}, either could be first", name(stream, lane),
                               name(race.earlier.stream, other));
  }
}

void SimulatedDevice::use(std::uint64_t stream, std::string what, std::uint64_t address,
                          std::uint64_t bytes, bool writes) {
  if (writes) samples_.host_writes(memory_, address, bytes);
  note_use(stream, what, address, bytes, writes);
}

void SimulatedDevice::change(std::uint64_t stream, const char* what, std::uint64_t address,
                             std::uint64_t bytes) {
  note_use(stream, what, address, bytes, true);
}

void SimulatedDevice::note_use(std::uint64_t stream, const std::string& what, std::uint64_t address,
                               std::uint64_t bytes, bool writes) {
  if (!order_.has_streams() || bytes == 0) return;
  sim::AccessLog accesses;
  accesses.add(writes ? sim::AccessLog::How::write : sim::AccessLog::How::read, address,
               address + bytes);
  keep(sifted(races(stream, what, "", std::move(accesses), nullptr)));
}

// What no rule silences.
std::vector<Report> SimulatedDevice::sifted(const std::vector<Report>& found) {
  Sifted told = sift(found, options_.telling.rules);
  silenced_.resize(told.counts.size());
  for (std::size_t i = 0; i < told.counts.size(); ++i) silenced_[i] += told.counts[i];
  return std::move(told.kept);
}

// Each SM that has one of its CTAs issues as many as it can.
double SimulatedDevice::least_of(const sim::Machine& machine, const Launch& how) const {
  const DeviceTimes& times = description().times;
  if (!times.known()) return 0;
  const auto sms =
      static_cast<double>(std::min<std::uint64_t>(how.grid.count(), description().processors));
  const double cycles = static_cast<double>(machine.instructions()) / (times.schedulers * sms);
  return times.launch * 1e-6 + cycles / (times.clock * 1e9);
}

void SimulatedDevice::did(std::uint64_t stream, Way way, std::string what, std::uint64_t bytes) {
  const DeviceTimes& times = description().times;
  const bool in = way == Way::to_device || way == Way::from_pageable;
  const bool out = way == Way::from_device || way == Way::to_pageable;
  const bool by_link = in || out;
  const double rate = way == Way::to_device       ? times.host_in
                      : way == Way::from_device   ? times.host_out
                      : way == Way::from_pageable ? times.pageable_in
                      : way == Way::to_pageable   ? times.pageable_out
                      : way == Way::within        ? times.memory_bandwidth / 2
                                                  : times.memory_bandwidth;
  double seconds = 0;
  if (rate > 0 && options_.order.clocked) {
    seconds = static_cast<double>(bytes) / (rate * 1e9);
    if (by_link) seconds += times.host_latency * 1e-6;
  }
  const auto part = in    ? ExecClock::Part::to_device
                    : out ? ExecClock::Part::from_device
                          : ExecClock::Part::chip;
  const ExecClock::Span span = clock_.work(stream, {part, {1, by_link ? 0.0 : 1.0}, seconds});
  records_.work(stream, span.begin, span.end, std::move(what),
                fmt::format("\"bytes\":{}{}", bytes,
                            seconds > 0 ? "" : ",\"time\":\"none: it is not predicted\""));
}

// What was not covered, and what is unknown since.
std::string SimulatedDevice::samples_text() const {
  std::uint64_t blocks = 0, run = 0, doubted = 0, waited = 0;
  double here = 0;
  bool at_least = false;
  for (const auto& [name, sum] : kernels_) {
    blocks += sum.blocks, run += sum.blocks_run, doubted += sum.doubted;
    waited += sum.waited;
    here += sum.here;
    at_least = at_least || sum.at_least;
  }
  std::string out;
  if (options_.estimates) {
    out += fmt::format(
        "\n  all of this takes {} {} to simulate. Launches were ended early, so that "
        "their results mean nothing: a program that goes by them may make others",
        at_least ? "more than" : "about", wait_text(here));
  } else if (run < blocks) {
    out += fmt::format(
        "\n  {} of {} CTAs run: what the others do was not looked at, and what these launches "
        "leave in memory means nothing, nor does what the program makes of it",
        run, blocks);
  }
  if (doubted) {
    out += fmt::format("\n  {} not judged: {} what CTAs that were left out would have done",
                       count_text(doubted, "launch"), doubted == 1 ? "it needs" : "they need");
  }
  if (waited) {
    out += fmt::format("\n  {} ended early: {} may wait for CTAs that were left out",
                       count_text(waited, "launch"), waited == 1 ? "it" : "they");
  }
  return out;
}

std::string SimulatedDevice::unchosen_text() const {
  if (options_.chosen.empty()) return "";
  for (const auto& [name, sum] : kernels_) {
    if (sum.unchecked < sum.launches) return "";
  }
  return fmt::format("\n  nothing was looked at: {} chooses none of these launches",
                     options_.chosen);
}

std::string SimulatedDevice::summary() const {
  std::string out = fmt::format("tilescope: {} of {}", count_text(launches_, "launch"),
                                count_text(kernels_.size(), "kernel"));
  const auto of_kernel = [&](const auto& is_one) {
    std::vector<Report> found;
    std::copy_if(reports_.begin(), reports_.end(), std::back_inserter(found),
                 [&](const Report& r) { return is_one(r.site.kernel); });
    return places_text(found, options_.telling.verbose);
  };
  for (const auto& [name, sum] : kernels_) {
    out += fmt::format("\n  {}: {}", name, count_text(sum.launches, "time"));
    if (sum.seconds > 0) {
      out += fmt::format(", {}{} predicted", sum.by_waves ? "about " : "", time_text(sum.seconds));
    }
    if (sum.here > 0) {
      out += fmt::format(", {} CTAs, {} {} to simulate", sum.blocks,
                         sum.at_least ? "more than" : "about", wait_text(sum.here));
    } else if (sum.blocks_run < sum.blocks) {
      out += fmt::format(", {} of {} CTAs run", sum.blocks_run, sum.blocks);
    }
    // Of what was not checked nothing is known; but a fault is one in any case.
    const bool all_left = sum.unchecked + sum.undone == sum.launches;
    const bool known = !all_left || sum.faults || sum.hazards || sum.notes;
    if (sum.undone) out += fmt::format(", {} not run to its end", sum.undone);
    if (known) out += ", " + counts_text(sum.faults, sum.hazards, sum.notes);
    if (sum.unchecked == sum.launches) {
      out += ", not checked";
    } else if (sum.unchecked) {
      out += fmt::format(" in {}, {} not checked",
                         count_text(sum.launches - sum.unchecked, "launch"), sum.unchecked);
    }
    if (sum.least > 0) out += ", at least " + time_text(sum.least);
    out += of_kernel([&](const std::string& kernel) { return kernel == name; });
  }
  const auto between = std::count_if(reports_.begin(), reports_.end(), [](const Report& r) {
    return r.kind == "stream_race" || r.kind == "undefined_copied" || r.kind == "host_race";
  });
  if (between) {
    out += fmt::format("\n  between launches, and between them and the host: {}",
                       count_text(static_cast<std::uint64_t>(between), "hazard"));
    out += of_kernel([&](const std::string& kernel) { return !kernels_.count(kernel); });
  }
  out += unchosen_text() + samples_text();
  const std::string silenced = text_of_silenced(silenced_, options_.telling.rules);
  return silenced.empty() ? out : out + "\n" + silenced;
}

}  // namespace tilescope
