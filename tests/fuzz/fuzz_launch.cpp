// Launch files: any text gets a launch or a sentence with its place, and a launch whose buffers
// need no file becomes a job whose arguments point to buffers that exist. The same text as a device
// file: a chip with room for a block, or a sentence; and as a file of suppressions.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/io/device_file.h"
#include "core/io/launch_file.h"
#include "core/io/suppressions_file.h"

namespace {

using namespace tilescope;

// Whether to make the job: large tensors only slow the fuzzer down.
bool small(const LaunchFile& file) {
  for (const PlannedBuffer& plan : file.buffers) {
    if (!plan.shape || plan.fill == Fill::file || plan.shape->size() > 4) return false;
    for (const std::int64_t extent : *plan.shape) {
      if (extent > 16) return false;
    }
  }
  return file.buffers.size() < 16;
}

void check(const Job& job) {
  for (const Argument& argument : job.arguments) {
    for (const Argument::Address& address : argument.addresses) {
      if (address.buffer >= job.buffers.size()) std::abort();
      if (address.at + 8 > argument.bytes.size()) std::abort();
    }
    for (const Argument::Map& map : argument.maps) {
      if (map.map.buffer >= job.buffers.size()) std::abort();
      if (map.at + map_bytes > argument.bytes.size()) std::abort();
      const Outcome<MapFields> fields = complete(map.map, job.buffers[map.map.buffer], 0);
      if (!fields && fields.error().sentence.empty()) std::abort();
    }
  }
  for (const Buffer& buffer : job.buffers) {
    const auto count = static_cast<std::size_t>(buffer.elements());
    if (buffer.bytes.size() != count * bytes_of(buffer.dtype)) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const Outcome<DeviceDescription> device = parse_device_file(text, "fuzz.toml")) {
    if (device->processors == 0 || device->shared < device->block_shared) std::abort();
  } else if (device.error().sentence.empty()) {
    std::abort();
  }
  if (const Outcome<std::vector<Suppression>> rules = parse_suppressions(text, "fuzz.toml")) {
    for (const Suppression& rule : *rules) {
      if (rule.kind.empty() || rule.reason.empty()) std::abort();
      fits(rule.kind, rule.reason);
    }
  } else if (rules.error().sentence.empty()) {
    std::abort();
  }
  const Outcome<LaunchFile> file = parse_launch_file(text, "fuzz.toml");
  if (!file) {
    const Error& error = file.error();
    if (error.sentence.empty() || !std::string_view(error.where).starts_with("fuzz.toml:")) {
      std::abort();
    }
    return 0;
  }
  if (!small(*file)) return 0;
  const Outcome<Job> job = make_job(*file, {"fuzz.ptx", ""}, {});
  if (job) check(*job);
  return 0;
}
