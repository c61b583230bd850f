#include "core/io/launch_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/io/npy.h"
#include "core/numeric/random.h"

namespace tilescope {
namespace {

Error mismatch(const PlannedBuffer& plan, std::string sentence) {
  return {ErrorKind::mismatch, std::move(sentence), plan.where};
}

// The bytes of a tensor, which may be beyond 64 bits: exact up to 2^53.
double bytes_needed(DType dtype, const std::vector<std::int64_t>& shape) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  double bytes = static_cast<double>(bytes_of(dtype));
  for (const std::int64_t extent : shape) bytes *= static_cast<double>(extent);
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
  for (const PlannedVariable& plan : launch.variables) paths.push_back(plan.file);
  return paths;
}

std::optional<Error> too_large(const LaunchFile& launch,
                               const std::vector<std::uint64_t>& file_bytes) {
  double total = 0, most = 0;
  const PlannedBuffer* largest = nullptr;
  std::size_t next = 0;
  for (const PlannedBuffer& plan : launch.buffers) {
    double bytes = 0;
    if (plan.fill != Fill::file) {
      bytes = bytes_needed(plan.dtype, *plan.shape);
    } else if (next < file_bytes.size()) {
      bytes = static_cast<double>(file_bytes[next++]);
    }
    total += bytes;
    if (!largest || bytes > most) largest = &plan, most = bytes;
  }
  constexpr double limit = static_cast<double>(largest_job_bytes), gib = 1 << 30;
  if (total <= limit) return std::nullopt;
  const std::string of = largest->fill == Fill::file ? largest->file
                                                     : fmt::format("{} {}", name_of(largest->dtype),
                                                                   shape_text(*largest->shape));
  return mismatch(*largest,
                  fmt::format("The buffers need {:.3g} GiB together, the largest, "
                              "[[buffer]] \"{}\" of {}, {:.3g} GiB; up to {} GiB work in "
                              "one run.",
                              total / gib, largest->name, of, most / gib, largest_job_bytes >> 30));
}

Outcome<Job> make_job(const LaunchFile& launch, Program program,
                      const std::vector<std::vector<std::byte>>& files) {
  Job job;
  job.program = std::move(program);
  job.launch = launch.launch;
  job.arguments = launch.arguments;
  job.variables_at = launch.variables_at;
  std::size_t next = 0;
  std::vector<std::uint64_t> sizes;
  for (const std::vector<std::byte>& file : files) sizes.push_back(file.size());
  if (auto error = too_large(launch, sizes)) return *error;
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
    } else {
      buffer = filled(plan);
    }
    buffer.tile = plan.tile;
    buffer.address = plan.address;
    buffer.unwritten = plan.unwritten;
    if (!plan.unwritten.empty() && plan.unwritten.back().second > buffer.bytes.size()) {
      return mismatch(plan,
                      fmt::format("[[buffer]] \"{}\" has {} bytes, but unwritten goes up to "
                                  "byte {}.",
                                  plan.name, buffer.bytes.size(), plan.unwritten.back().second));
    }
    job.buffers.push_back(std::move(buffer));
  }
  for (const PlannedVariable& plan : launch.variables) {
    if (next == files.size()) {
      return Error{
          ErrorKind::mismatch,
          fmt::format("[[variable]] \"{}\" needs the contents of {}, which were not handed "
                      "over.",
                      plan.name, plan.file),
          plan.where};
    }
    Outcome<Buffer> read = read_npy(files[next++], plan.file, DType::u8);
    if (!read) return read.error();
    job.variables.push_back({plan.name, std::move(read->bytes)});
  }
  return job;
}

}  // namespace tilescope
