#include "core/io/launch_file.h"

#include <fmt/format.h>

#include "core/io/npy.h"
#include "core/numeric/random.h"

namespace tilescope {
namespace {

Error mismatch(const PlannedBuffer& plan, std::string sentence) {
  return {ErrorKind::mismatch, std::move(sentence), plan.where};
}

// The bytes of a tensor; nothing where they are more than any job may have.
std::optional<std::uint64_t> bytes_needed(DType dtype, const std::vector<std::int64_t>& shape) {
  for (const std::int64_t extent : shape) {
    if (extent == 0) return 0;
  }
  std::uint64_t bytes = bytes_of(dtype);
  for (const std::int64_t extent : shape) {
    if (static_cast<std::uint64_t>(extent) > largest_job_bytes / bytes) return std::nullopt;
    bytes *= static_cast<std::uint64_t>(extent);
  }
  return bytes;
}

Outcome<Buffer> from_file(const PlannedBuffer& plan, const std::vector<std::byte>& bytes) {
  Outcome<Buffer> read = read_npy(bytes, plan.file, plan.dtype);
  if (!read) return read;
  if (plan.shape && *plan.shape != read->shape) {
    return mismatch(
        plan, fmt::format("[[buffer]] \"{}\" has the shape {}, but {} is {}; leave the "
                          "shape out, or give the file's.",
                          plan.name, shape_text(*plan.shape), plan.file, shape_text(read->shape)));
  }
  read->name = plan.name;
  for (const Buffer::Pointer& pointer : plan.pointers) {
    if (read->bytes.size() >= 8 && pointer.at <= read->bytes.size() - 8) continue;
    return mismatch(plan,
                    fmt::format("[[buffer]] \"{}\" has {} bytes, so an address cannot stand at "
                                "byte {}; it has 8.",
                                plan.name, read->bytes.size(), pointer.at));
  }
  read->pointers = plan.pointers;
  return read;
}

Buffer filled(const PlannedBuffer& plan) {
  Buffer buffer{plan.name, plan.dtype, *plan.shape, {}, plan.fill == Fill::poison};
  const auto count = static_cast<std::size_t>(buffer.elements());
  if (plan.fill == Fill::random) {
    buffer.bytes = random_elements(plan.dtype, plan.seed, 0, count);
  } else {
    buffer.bytes.resize(count * bytes_of(plan.dtype));
  }
  buffer.pointers = plan.pointers;
  return buffer;
}

}  // namespace

std::vector<std::string> wanted_files(const LaunchFile& launch) {
  std::vector<std::string> paths;
  for (const PlannedBuffer& plan : launch.buffers) {
    if (plan.fill == Fill::file) paths.push_back(plan.file);
  }
  return paths;
}

Outcome<Job> make_job(const LaunchFile& launch, Program program,
                      const std::vector<std::vector<std::byte>>& files) {
  Job job;
  job.program = std::move(program);
  job.launch = launch.launch;
  job.arguments = launch.arguments;
  std::size_t next = 0;
  std::uint64_t total = 0;
  for (const PlannedBuffer& plan : launch.buffers) {
    Buffer buffer;
    if (plan.fill == Fill::file) {
      if (next == files.size()) {
        return mismatch(plan, fmt::format("[[buffer]] \"{}\" needs the contents of {}, which were "
                                          "not handed over.",
                                          plan.name, plan.file));
      }
      Outcome<Buffer> read = from_file(plan, files[next++]);
      if (!read) return read.error();
      buffer = std::move(*read);
      total += buffer.bytes.size();
    } else {
      const std::optional<std::uint64_t> needed = bytes_needed(plan.dtype, *plan.shape);
      if (!needed || (total += *needed) > largest_job_bytes) {
        return mismatch(plan, fmt::format("With [[buffer]] \"{}\" of {} {} the buffers need more "
                                          "than {} GiB, the limit for one run.",
                                          plan.name, name_of(plan.dtype), shape_text(*plan.shape),
                                          largest_job_bytes >> 30));
      }
      buffer = filled(plan);
    }
    buffer.tile = plan.tile;
    job.buffers.push_back(std::move(buffer));
  }
  return job;
}

}  // namespace tilescope
