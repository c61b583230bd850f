#include "app/capture_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <span>
#include <utility>

#include "app/captures.h"
#include "app/demangle.h"
#include "app/descriptions.h"
#include "app/exec_records.h"
#include "app/moved_memory.h"
#include "core/sim/machine/module.h"
#include "core/sim/memory/device_memory.h"

namespace tilescope {

using Bytes = std::vector<std::byte>;

namespace {

constexpr std::uint32_t no = 1;
constexpr std::uint64_t launch_grain = 256;  // of where buffers begin in a launch file
// Where a launch file has memory, and where that lies which a chip has elsewhere.
constexpr std::uint64_t files_begin = 0x0000'7000'0000'0000, files_end = 0x0000'7fff'ffff'ff00;
constexpr std::uint64_t moved_step = std::uint64_t{1} << 21;

// What a chip is called here, and what of its kind is known: by its name, or else one of the same
// compute capability. Empty: none is, and then what is told is as far as PTX goes.
struct KnownDevice {
  std::string name;
  DeviceDescription description;
};
KnownDevice device_like(std::string_view name, int major, int minor) {
  KnownDevice out;
  for (auto& [own, description] : described_devices()) {
    if (description.major != major || description.minor != minor) continue;
    const std::string_view whole = description.name;  // "NVIDIA H200", also of an NVIDIA GH200
    const bool same = name.find(whole.substr(whole.rfind(' ') + 1)) != std::string_view::npos;
    if (same || out.name.empty()) out = {own, description};
    if (same) break;
  }
  if (out.name.empty()) out.description.major = major, out.description.minor = minor;
  return out;
}

std::string text_of(const std::uint32_t (&d)[3]) {
  return fmt::format("({},{},{})", d[0], d[1], d[2]);
}

Dim3 dim(const std::uint32_t (&d)[3]) {
  return {d[0], d[1], d[2]};
}

std::string size_text(std::uint64_t bytes) {
  if (bytes >= std::uint64_t{1} << 30) return fmt::format("{:.3g} GiB", double(bytes) / (1 << 30));
  if (bytes >= std::uint64_t{1} << 20) return fmt::format("{:.3g} MiB", double(bytes) / (1 << 20));
  if (bytes >= std::uint64_t{1} << 10) return fmt::format("{:.3g} KiB", double(bytes) / (1 << 10));
  return fmt::format("{} bytes", bytes);
}

}  // namespace

void Captures::say_once(const std::string& sentence) {
  if (told_.insert(sentence).second) terminal.say(sentence);
}

struct CaptureCalls::Pending {
  std::size_t captured = 0;  // of Captures::all
  wire::CapturedShape shape;
  Launch how;
  std::string device;
  sim::DeviceMemory memory{largest_job_bytes};
  std::shared_ptr<sim::Module> module;
  std::vector<wire::Parameter> layout;
  Bytes parameters;
  MovedMemory moves;
  std::uint64_t next_moved = files_begin;
  struct Told {  // as the chip has it
    std::uint64_t bytes = 0, at = 0;
  };
  std::map<std::uint64_t, Told> told;
  // Whether some of [address, address + bytes) has been told of.
  bool has(std::uint64_t address, std::uint64_t bytes) const {
    const auto next = told.lower_bound(address + bytes);
    return next != told.begin() && std::prev(next)->first + std::prev(next)->second.bytes > address;
  }
  bool was_given = false;
  std::map<std::uint64_t, Bytes> left;  // of regions that it changed, by where they lie here
};

CaptureCalls::CaptureCalls(std::string program, Captures& captures)
    : program_(std::move(program)), captures_(captures) {
  ++captures.programs;
}
CaptureCalls::~CaptureCalls() = default;

SocketAnswer CaptureCalls::answer(std::uint32_t what, std::string_view operands) {
  using wire::Ask;
  wire::Reader in(operands);
  wire::Writer out;
  bool ok = true;
  switch (static_cast<Ask>(what)) {
    case Ask::hello:
      ok = in.get<std::uint32_t>() == wire::version;
      break;
    case Ask::launch:
      ok = launch(in, out);
      break;
    case Ask::image:
      ok = image(in);
      break;
    case Ask::parameters:
      ok = parameters(in);
      break;
    case Ask::variable:
      ok = variable(in);
      break;
    case Ask::region:
      ok = region(in);
      break;
    case Ask::bytes:
      ok = bytes(in);
      break;
    case Ask::given:
      ok = given();
      break;
    case Ask::left:
      ok = left(in);
      break;
    case Ask::skipped:
      ok = skipped(in);
      break;
    default:
      ok = false;
  }
  return {ok && !in.failed() ? 0 : no, std::move(out.bytes)};
}

const ReadImages& CaptureCalls::program_of(std::uint64_t number, const DeviceDescription& device) {
  const auto known = read_.find(number);
  if (known != read_.end()) return known->second;
  std::vector<std::string_view> images;
  for (const std::string& each : images_.at(number)) images.push_back(each);
  int part = 0;
  ReadImages read = read_images(images, device, [&] {
    return part++ == 0 ? program_ : fmt::format("{}.{}", program_, part);
  });
  return read_.emplace(number, std::move(read)).first->second;
}

bool CaptureCalls::launch(wire::Reader& in, wire::Writer& out) {
  const auto shape = in.get<wire::CapturedShape>();
  const std::string name(in.text());
  const std::string device(in.text());
  if (in.failed()) return false;
  const CaptureOptions& options = captures_.options;
  if (pending_) return false;
  const std::uint64_t number = captures_.launches;
  const bool chosen = number >= options.first && number < options.end &&
                      (!options.only || std::regex_search(name, *options.only) ||
                       std::regex_search(demangled(name), *options.only));
  if (chosen && captures_.all.size() >= options.most) {
    captures_.say_once(
        fmt::format("tilescope: {} launches are captured, and no more: --launches FIRST:END "
                    "chooses others.",
                    options.most));
  }
  if (!chosen || captures_.all.size() >= options.most) {
    ++captures_.launches;
    out.put(wire::Wanted::no);
    return true;
  }
  if (!images_.count(shape.image)) {
    out.put(wire::Wanted::unknown_image);
    return true;
  }
  ++captures_.launches;
  const KnownDevice known = device_like(device, shape.major, shape.minor);
  const ReadImages& images = program_of(shape.image, known.description);
  const auto refuse = [&](std::string_view why) {
    captures_.say_once(fmt::format("tilescope: {} is not captured: {}", name, why));
    out.put(wire::Wanted::no);
    return true;
  };
  if (!images.program) return refuse(images.wrong);
  auto pending = std::make_unique<Pending>();
  Outcome<std::shared_ptr<sim::Module>> module =
      sim::Module::load(*images.program, pending->memory);
  if (!module) return refuse(module.error().sentence);
  const Outcome<const ptx::Function*> entry = (*module)->entry(name);
  if (!entry || (*entry)->name != name) {
    return refuse("the PTX that comes with the program has no such kernel.");
  }
  pending->module = std::move(*module);
  pending->shape = shape;
  pending->device = known.name;
  pending->how.entry = name;
  pending->how.grid = dim(shape.grid);
  pending->how.block = dim(shape.block);
  if (shape.cluster[0]) pending->how.cluster = dim(shape.cluster);
  pending->how.dynamic_shared = shape.dynamic_shared;
  pending->how.cooperative = shape.cooperative != 0;
  pending->captured = captures_.all.size();
  const std::string folder =
      (std::filesystem::path(options.folder) / launch_file_name(number + 1, name)).string();
  captures_.all.push_back({number + 1, name, folder, "", false});
  out.put(wire::Wanted::yes).put(static_cast<std::uint32_t>((*entry)->parameters.size()));
  for (const ptx::Parameter& p : (*entry)->parameters) {
    pending->layout.push_back({p.offset, p.bytes});
    out.put(pending->layout.back());
  }
  out.put((*entry)->parameter_bytes);
  const auto& variables = pending->module->variables();
  out.put(static_cast<std::uint32_t>(variables.size()));
  for (const ptx::Placed& placed : variables) out.put_text(placed.variable.name);
  pending_ = std::move(pending);
  return true;
}

bool CaptureCalls::image(wire::Reader& in) {
  const auto number = in.get<std::uint64_t>();
  const auto count = in.get<std::uint32_t>();
  std::vector<std::string> images;
  for (std::uint32_t i = 0; i < count && !in.failed(); ++i) images.emplace_back(in.text());
  if (in.failed()) return false;
  images_[number] = std::move(images);
  return true;
}

bool CaptureCalls::parameters(wire::Reader& in) {
  const std::string_view bytes = in.text();
  const Outcome<const ptx::Function*> entry =
      pending_ ? pending_->module->entry(pending_->how.entry) : nullptr;
  if (!pending_ || pending_->was_given || !entry || bytes.size() != (*entry)->parameter_bytes) {
    return false;
  }
  const auto* const from = reinterpret_cast<const std::byte*>(bytes.data());
  pending_->parameters.assign(from, from + bytes.size());
  return true;
}

bool CaptureCalls::variable(wire::Reader& in) {
  const std::string_view name = in.text();
  const auto address = in.get<std::uint64_t>(), bytes = in.get<std::uint64_t>();
  if (!pending_ || pending_->was_given || in.failed()) return false;
  const ptx::Placed* const placed = pending_->module->variable(name);
  if (!placed || placed->variable.bytes != bytes || address > ~std::uint64_t{0} - bytes ||
      pending_->has(address, bytes)) {
    return false;
  }
  pending_->told[address] = {bytes, placed->address};
  pending_->moves.add(address, bytes, placed->address);
  return true;
}

// An allocation by the parameter that its address stands in; else it is memory.
bool CaptureCalls::region(wire::Reader& in) {
  const auto address = in.get<std::uint64_t>(), bytes = in.get<std::uint64_t>();
  Pending* const p = pending_.get();
  if (!p || p->was_given || in.failed() || bytes == 0 || bytes > largest_job_bytes ||
      p->memory.used() + bytes > largest_job_bytes || address > ~std::uint64_t{0} - bytes ||
      p->has(address, bytes)) {
    return false;
  }
  std::string name = "memory";
  for (std::size_t i = 0; i < p->layout.size() && name == "memory"; ++i) {
    for (std::uint32_t at = 0; at + 8 <= p->layout[i].bytes; at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, p->parameters.data() + p->layout[i].offset + at, sizeof word);
      if (word - address < bytes) name = fmt::format("param_{}", i);
    }
  }
  // Before an address that is no multiple of 256 zeros stand.
  const std::uint64_t offset = address % launch_grain;
  std::uint64_t begin = address - offset;
  if (begin < files_begin || address + bytes > files_end) {
    begin = p->next_moved + begin % moved_step;
    p->next_moved = (begin + offset + bytes) / moved_step * moved_step + 2 * moved_step;
    p->moves.add(address, bytes, begin + offset);
  }
  p->told[address] = {bytes, begin + offset};
  return p->memory.place(sim::Region(sim::Region::Kind::buffer, std::move(name), begin,
                                     Bytes(static_cast<std::size_t>(offset + bytes))));
}

bool CaptureCalls::bytes(wire::Reader& in) {
  const auto address = in.get<std::uint64_t>();
  const std::string_view text = in.text();
  Pending* const p = pending_.get();
  if (!p || in.failed() || p->told.empty()) return false;
  const auto next = p->told.upper_bound(address);
  if (next == p->told.begin()) return false;
  const auto& [begin, told] = *std::prev(next);
  const std::uint64_t offset = address - begin;
  if (offset > told.bytes || text.size() > told.bytes - offset) return false;
  const auto* from = reinterpret_cast<const std::byte*>(text.data());
  if (!p->was_given) return p->memory.copy_in(told.at + offset, from, text.size());
  Bytes now(from, from + text.size());
  p->moves.apply(now.data(), now.size());
  const sim::Region* const region = p->memory.find(told.at + offset, text.size());
  if (!region) return text.empty();
  const std::uint64_t at = told.at + offset - region->base();
  if (std::memcmp(region->data() + at, now.data(), now.size()) == 0) return true;
  Bytes& left = p->left[region->base()];
  if (left.empty()) left.assign(region->data(), region->data() + region->size());
  std::memcpy(left.data() + at, now.data(), now.size());
  return true;
}

bool CaptureCalls::write(const std::map<std::uint64_t, std::vector<std::byte>>* left) {
  CapturedLaunch captured{*pending_->module, pending_->memory, pending_->how, pending_->parameters,
                          pending_->device};
  captured.left = left;
  const auto error = write_capture(captures_.all[pending_->captured].folder, captured);
  if (error) captures_.terminal.say("tilescope: " + error->sentence);
  return !error;
}

// Before it runs: a launch that never comes back is there, too.
bool CaptureCalls::given() {
  Pending* const p = pending_.get();
  if (!p || p->was_given) return false;
  p->was_given = true;
  p->moves.apply(p->parameters.data(), p->parameters.size());
  if (!p->moves.empty()) {
    for (const auto& [begin, told] : p->told) {
      Bytes bytes(static_cast<std::size_t>(told.bytes));
      p->memory.copy_out(told.at, bytes.data(), told.bytes);
      p->moves.apply(bytes.data(), told.bytes);
      p->memory.copy_in(told.at, bytes.data(), told.bytes);
    }
  }
  return write(nullptr);
}

bool CaptureCalls::left(wire::Reader& in) {
  const auto result = in.get<std::int32_t>();
  const std::string error(in.text());
  if (!pending_ || !pending_->was_given || in.failed()) return false;
  Captures::Captured& captured = captures_.all[pending_->captured];
  captured.came_back = true;
  captured.result = result == 0 ? "" : error;
  if (result == 0 && !write(&pending_->left)) return false;
  if (!captures_.options.quiet) {
    std::uint64_t bytes = 0;
    for (const auto& [begin, told] : pending_->told) bytes += told.bytes;
    std::string line = fmt::format("tilescope: launch {}: {}, grid {}, block {}, {} captured",
                                   captured.number, captured.kernel, text_of(pending_->shape.grid),
                                   text_of(pending_->shape.block), size_text(bytes));
    if (result) line += fmt::format("; it ended with {}, and what it left cannot be read", error);
    captures_.terminal.say(line);
  }
  pending_.reset();
  return true;
}

bool CaptureCalls::skipped(wire::Reader& in) {
  const auto why = in.get<wire::Skipped>();
  const std::string name(in.text()), error(in.text());
  if (in.failed()) return false;
  const std::string kernel = name.empty() ? "A kernel" : name;
  if (pending_) {  // it had been begun
    captures_.all[pending_->captured].dropped = true;
    pending_.reset();
  }
  switch (why) {
    case wire::Skipped::graph:
    case wire::Skipped::recorded:
      captures_.say_once(
          "tilescope: Launches of graphs are not captured: a graph runs as a whole.");
      return true;
    case wire::Skipped::unseen:
      captures_.say_once(
          "tilescope: A launch is not captured: how its kernel was loaded has not been seen.");
      return true;
    case wire::Skipped::device_error:
      captures_.say_once(fmt::format(
          "tilescope: {} is not captured: before it the device answers {}.", kernel, error));
      return true;
    case wire::Skipped::too_large:
      captures_.say_once(
          fmt::format("tilescope: {} is not captured: what it can reach has more than {} GiB, or "
                      "cannot be written.",
                      kernel, largest_job_bytes >> 30));
      return true;
    case wire::Skipped::unreadable:
      captures_.say_once(fmt::format(
          "tilescope: {} is not captured: what it is given cannot be read ({}).", kernel, error));
      return true;
  }
  return false;
}

}  // namespace tilescope
